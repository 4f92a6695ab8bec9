"""`graphbrain bench changes`: which edits of pages are seen, and what is called an edit that is none."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from graphbrain.cli.common import as_json

if TYPE_CHECKING:
    from graphbrain_lab.bench.changes import ChangeFigures

__all__ = ["changes"]


@click.command()
@click.argument("directory", required=False, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--pages", type=click.IntRange(1), default=None, help="Only so many pages (all).")
@click.option("--other", type=click.Path(exists=True, file_okay=False, path_type=Path), help="Another release.")
@click.option("--seeds", type=int, nargs=2, help="In place of DIRECTORY: pages drawn from seeds, FIRST up to END.")
@as_json
def changes(
    directory: Path | None, pages: int | None, other: Path | None, seeds: tuple[int, int] | None, as_json: bool
) -> None:
    """Count which edits of pages are seen as changes.

    The HTML pages of DIRECTORY are edited by rule. Each value of the setting 'change' is tried: which edits it sees,
    and how often it sees one where only noise differs. It needs no server. --other has the same pages of another
    release. --seeds draws pages, edits and noise.
    """
    from graphbrain.terminal import show
    from graphbrain_lab.bench.changes import drawn, measure

    if (directory is None) == (seeds is None):
        raise click.UsageError("Give a directory of HTML pages, or --seeds FIRST END.")
    with show.task_bar() as bar:
        if seeds is not None:
            figures = drawn(range(*seeds), lambda done, of: bar("pages", done, of))
        elif directory is not None:
            figures = measure(directory, other, pages or 0, lambda done, of: bar("pages", done, of))
    if as_json:
        show.json_lines(figures.rows())
    else:
        _print(figures)


def _print(figures: ChangeFigures) -> None:
    from graphbrain.terminal import show
    from graphbrain.terminal.show import Cell
    from graphbrain_lab.bench.changes import CLASSES, METHODS

    # Print one row for each kind of change and each class of length, with a column for each method.
    deeds = sorted({what for _, what, _ in figures.scores})
    rows: list[list[object]] = []
    for what in deeds:
        for length, (first, _) in enumerate(CLASSES):
            scores = [figures.scores.get((method, what, length)) for method in METHODS]
            if any(scores):
                asked = max(score.asked for score in scores if score)
                shares = [Cell(score.share, f"{score.share:.3f}") if score else None for score in scores]
                rows.append([what, first, asked, *shares])
    show.out(show.rows_table(("share called changed", "words from", "visits", *METHODS), rows))
    times = ", ".join(f"{name} {value:.2f} ms" for name, value in figures.milliseconds.items())
    took = f"CPU a page: {times}. " if times else ""
    host = f", of a host's sections {figures.largest_of_host}" if figures.largest_of_host else ""
    show.say(f"{took}Kept of a page's blocks: at most {figures.largest} characters{host}.")
