"""The command `graphbrain bench trust`: the visits that find most changes, with and without trust in a sitemap."""

from __future__ import annotations

from functools import partial

__all__ = ["OPTIONS", "run"]

OPTIONS = frozenset({"--pages", "--days", "--seeds"})
SHARES = (1.0, 0.5, 0.1)
"""The shares of true dates of the generated sitemaps."""


def run(as_json: bool, *, pages: int = 400, days: int = 120, seed_count: int = 3) -> int:
    """Measure generated sites of so many pages, for so many days."""
    from graphbrain.bench import trust
    from graphbrain.terminal import show

    rows: list[trust.Needed] = []
    with show.task_bar() as bar:
        for share in SHARES:
            rows += trust.needed(pages, days, share, seed_count, partial(bar, f"{share:.0%} of the dates true"))
    if as_json:
        show.json_lines(rows)
        return 0
    show.out(
        show.rows_table(
            ("true dates", "trust", "visits a day, % of the pages", "believed true"),
            [
                (
                    show.Cell(row.true_dates, f"{row.true_dates:.0%}"),
                    row.trust,
                    show.Cell(100 * row.visits, f"{100 * row.visits:.1f}"),
                    show.Cell(row.believed, f"{row.believed:.0%}"),
                )
                for row in rows
            ],
        )
    )
    show.say(f"graphbrain: so many visits find {trust.WANTED:.0%} of the changes before the page changes again.")
    return 0
