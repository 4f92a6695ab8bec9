"""The plot of a precision experiment: sorted exact scores, and the live ones in the same order and sorted.

Rows: hub and authority. Columns: the live scores; those after more rounds on the frozen graph; the top of the first.
The line of the exact scores and the line of the live ones sorted by themselves compare the distributions. The dots are
the live scores in the order of the exact ones, and show pages that are not at their place.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from graphbrain.base.numeric.arrays import Floats
from graphbrain_lab.bench import plots
from graphbrain_lab.bench.precision import PrecisionRun

__all__ = ["draw"]

TOP = 0.01
"""The part of the pages that the zoom shows, at least TOP_PAGES of them."""
TOP_PAGES = 50
RED, BLUE = "#b2182b", "#2166ac"


def draw(run: PrecisionRun, path: Path) -> list[Path]:
    """Draw a run as `path`.png and `path`.svg.

    Raises:
        BadInput: matplotlib is missing, or the files cannot be written.
    """
    plots.needed()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    # The title names the last live point.
    figure: Any = Figure(figsize=(13, 7.5), layout="constrained")
    FigureCanvasAgg(figure)
    last = run.points[0]
    for point in run.points:
        last = point if point.rounds is None else last
    rounds = max((point.rounds or 0 for point in run.points), default=0)
    figure.suptitle(f"{run.trial.name}: {last.pages:,} pages, {last.fetched:,} of them fetched, {last.links:,} links")
    # Draw a row of plots for each side.
    axes = figure.subplots(2, 3)
    for row, side in enumerate(("hub", "authority")):
        exact = run.exact[side]
        order = np.argsort(exact, kind="stable")
        first = max(0, len(exact) - max(TOP_PAGES, int(len(exact) * TOP)))
        for column, (title, scores, start) in enumerate(
            (
                (f"live, {run.when}", run.live[side], 0),
                (f"frozen graph, {rounds} rounds from nothing", run.more[side], 0),
                (f"live, the best {len(exact) - first:,} pages", run.live[side], first),
            )
        ):
            _curves(axes[row][column], exact[order], scores[order], start)
            axes[row][column].set_title(title, fontsize=10)
            axes[row][column].set_xlabel("pages, by exact score")
        axes[row][0].set_ylabel(f"{side} score (share of all)")
    axes[0][0].legend(loc="upper left", fontsize=9)
    return [_save(figure, path, kind) for kind in ("png", "svg")]


def _curves(axis: Any, exact: Floats, scores: Floats, start: int) -> None:
    from matplotlib.ticker import MaxNLocator, StrMethodFormatter

    places = np.arange(start, len(exact))
    axis.plot(places, scores[start:], ".", color=BLUE, markersize=2.5, alpha=0.5, label="live", rasterized=True)
    axis.plot(places, np.sort(scores)[start:], "-", color=BLUE, linewidth=1.2, label="live, sorted by itself")
    axis.plot(places, exact[start:], "-", color=RED, linewidth=1.2, label="exact")
    positive = np.concatenate([exact[start:], scores[start:]])
    if (positive > 0).all() and positive.max() > 50 * positive.min():
        axis.set_yscale("log")
    axis.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    axis.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axis.grid(visible=True, alpha=0.25)


def _save(figure: Any, path: Path, kind: str) -> Path:
    target = path.with_name(f"{path.name}.{kind}")
    plots.save(figure, target, dpi=140)
    return target
