"""Figures as PNG or SVG files, with matplotlib if it is installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from graphbrain.base.errors import BadInput
from graphbrain.base.numeric.arrays import Floats
from graphbrain.base.runtime import installs

__all__ = ["check", "costs_by_size", "freshness_over_time", "needed", "save", "shares_over_crawl"]

WIDTH, HEIGHT, DPI = 9.0, 5.0, 150
KINDS = (".png", ".svg", ".pdf")
STYLES = ("-", "--", "-.", ":")


def needed() -> None:
    """Raise BadInput if matplotlib is not installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        how = installs.command("plot", "matplotlib")
        raise BadInput(f"A plot needs matplotlib, which is not installed: {how}.") from None


def check(path: Path) -> None:
    """Raise BadInput if a figure cannot be drawn into that file. Call this before the work for the figure."""
    needed()
    if path.suffix not in KINDS:
        raise BadInput(f"A plot is written to a file that ends in {', '.join(KINDS)}, not to {path.name}.")
    if not path.parent.is_dir():
        raise BadInput(f"There is no directory {path.parent} to write the plot to.")


def freshness_over_time(
    path: Path, curves: Mapping[str, Floats], title: str, changes: Sequence[tuple[int, str]] = ()
) -> None:
    """Draw the freshness of each policy by day, smoothed over three days, and mark the days of changes."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import PercentFormatter

    # Draw a line for each policy.
    figure = Figure(figsize=(WIDTH, HEIGHT), dpi=DPI, layout="constrained")
    axes = figure.add_subplot()
    for number, (name, daily) in enumerate(curves.items()):
        axes.plot(np.arange(len(daily)) + 0.5, _smoothed(daily), label=name, **_style(number))
    # Draw a mark for each change.
    low = axes.get_ylim()[0]
    for day, label in changes:
        axes.axvline(day, color="0.6", linewidth=0.8)
        axes.annotate(label, (day, low), xytext=(3, 3), textcoords="offset points", fontsize=8, color="0.35")
    # Label the axes, and add the legend.
    axes.set(title=title, xlabel="day", ylabel="freshness: share of value that is up to date")
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axes.set_xlim(left=0)
    axes.grid(alpha=0.25)
    figure.legend(loc="outside right upper", frameon=False)
    save(figure, path)


def shares_over_crawl(path: Path, curves: Mapping[str, tuple[Floats, Floats]], title: str, points: int = 200) -> None:
    """Draw the shares of PageRank and authority that each order has fetched, by the part of the pages."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import PercentFormatter

    # Draw a plot for each score, with a line for each order.
    figure = Figure(figsize=(2.0 * WIDTH, 1.3 * HEIGHT), dpi=DPI, layout="constrained")
    every = figure.subplots(1, 2, sharey=True)
    for side, (axes, what) in enumerate(zip(every, ("PageRank", "authority"), strict=True)):
        for number, (name, both) in enumerate(curves.items()):
            share = both[side]
            places = np.unique(np.linspace(0, len(share) - 1, points).astype(int))
            label = name if side == 0 else None
            axes.plot((places + 1) / len(share), share[places], label=label, **_style(number, 10))
        axes.set(title=what, xlabel="pages fetched", xlim=(0, 1), ylim=(0, 1))
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        axes.grid(alpha=0.25)
    # Add the titles and the legend.
    every[0].set_ylabel("share that is fetched")
    figure.suptitle(title)
    figure.legend(loc="outside right upper", frameon=False)
    save(figure, path)


def costs_by_size(path: Path, sizes: Sequence[int], costs: Mapping[str, Sequence[float]], allowed: float) -> None:
    """Draw each cost by the number of pages, as a ratio to that of the first size, and the ratio that is allowed."""
    from matplotlib.figure import Figure

    # Draw a line for each cost, and one for the allowed ratio.
    figure = Figure(figsize=(WIDTH, HEIGHT), dpi=DPI, layout="constrained")
    axes = figure.add_subplot()
    for number, (name, ratios) in enumerate(costs.items()):
        axes.plot(sizes, ratios, label=name, marker="o", markersize=3, **_style(number, 10))
    axes.axhline(allowed, color="0.6", linewidth=0.8)
    axes.annotate(f"{allowed:g} times", (sizes[0], allowed), xytext=(3, 3), textcoords="offset points", fontsize=8)
    # Label the axes, and add the legend.
    axes.set(
        title="costs by size", xlabel="pages", ylabel=f"cost of a page, link or call, of that at {sizes[0]:,} pages"
    )
    axes.set_xscale("log")
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes], minor=False)
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.25)
    figure.legend(loc="outside right upper", frameon=False)
    save(figure, path)


def save(figure: Any, path: Path, **more: Any) -> None:
    """Write a figure into a file.

    Raises:
        BadInput: It cannot be written.
    """
    try:
        figure.savefig(path, **more)
    except OSError as error:
        raise BadInput(f"{path} cannot be written ({error.strerror or error}).") from None


def _style(number: int, every: int = 1) -> dict[str, Any]:
    """Return the style of a line. Lines differ without colours, too: their dashes change after `every` lines."""
    style = STYLES[number // every % len(STYLES)] if every > 1 else STYLES[number % len(STYLES)]
    return {"color": f"C{number % 10}", "linestyle": style, "linewidth": 1.6}


def _smoothed(daily: Floats, width: int = 3) -> Floats:
    """Return the mean of each day and its neighbours."""
    if len(daily) < width:
        return daily
    padded = np.pad(daily, width // 2, mode="edge")
    return np.convolve(padded, np.full(width, 1.0 / width), mode="valid")
