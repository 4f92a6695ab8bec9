"""The command `graphbrain bench trust`: the visits that find most changes, with and without trust in a sitemap."""

from __future__ import annotations

from functools import partial

import click

from graphbrain.cli.common import as_json

__all__ = ["trust"]

SHARES = (1.0, 0.5, 0.1)
"""The shares of true dates of the generated sitemaps."""


@click.command()
@click.option("--pages", type=click.IntRange(1), default=400, help="Pages of a site (400).")
@click.option("--days", type=click.IntRange(20), default=120, help="Simulated days (120).")
@click.option("--seeds", type=click.IntRange(1), default=3, help="Sites of a kind (3).")
@as_json
def trust(pages: int, days: int, seeds: int, as_json: bool) -> None:
    """Count the visits that find most changes, by trust in sitemaps.

    Sites are generated whose sitemaps have all dates true, half of them, and a tenth. Of each it finds how many visits
    a day find 95 % of the changes: with trust in the dates as it is learned, with the settings' trust, and without
    sitemaps. It needs no server.
    """
    from graphbrain.terminal import show
    from graphbrain_lab.bench import trust as measures

    # Simulate the sites of each share of true dates.
    rows: list[measures.Needed] = []
    with show.task_bar() as bar:
        for share in SHARES:
            rows += measures.needed(pages, days, share, seeds, partial(bar, f"{share:.0%} of the dates true"))
    if as_json:
        show.json_lines(rows)
        return
    # Print one row for each share and each kind of trust.
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
    show.say(f"graphbrain: so many visits find {measures.WANTED:.0%} of the changes before the page changes again.")
