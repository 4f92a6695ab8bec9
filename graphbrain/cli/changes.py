"""`graphbrain bench changes`: which edits of pages are seen, and what is called an edit that is none."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphbrain.bench.changes import ChangeFigures

__all__ = ["run"]


def run(directory: Path, as_json: bool, *, other: Path | None = None, pages: int = 0) -> int:
    """Measure the methods of finding changes on the pages of a directory, all or so many."""
    from graphbrain.bench import changes
    from graphbrain.terminal import show

    with show.task_bar() as bar:
        figures = changes.measure(directory, other, pages, lambda done, of: bar("pages", done, of))
    if as_json:
        show.json_lines(figures.rows())
    else:
        _tell(figures)
    return 0


def _tell(figures: ChangeFigures) -> None:
    from graphbrain.bench.changes import CLASSES, METHODS
    from graphbrain.terminal import show
    from graphbrain.terminal.show import Cell

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
    show.say(f"CPU a page: {times}. Kept of a page's blocks: at most {figures.largest} characters.")
