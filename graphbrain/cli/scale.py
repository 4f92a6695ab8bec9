"""`graphbrain bench scale`: the costs of one server by the number of pages, as a table, JSON and a plot."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from graphbrain.cli.common import App

if TYPE_CHECKING:
    from graphbrain.bench.scale import Sized

__all__ = ["OPTIONS", "run"]

OPTIONS = frozenset({"--size", "--memory", "--plot"})


def run(
    app: App, as_json: bool, *, sizes: Sequence[int] = (), memory: int | None = None, plot: Path | None = None
) -> int:
    """Measure the sizes, print each as soon as it is measured if JSON is wanted, and draw the costs."""
    from graphbrain.bench import plots, scale
    from graphbrain.server import lifecycle
    from graphbrain.terminal import show

    if plot is not None:
        plots.check(plot)
    measured: list[Sized] = []
    with show.task_bar() as bar:
        for sized in scale.run(sizes or scale.SIZES, app.data or lifecycle.default_data_dir(), memory, bar):
            measured.append(sized)
            if as_json:
                show.json_lines([sized.figures()])
    if as_json:
        for sized in measured[1:]:
            over = scale.beyond(measured[0], sized)
            facts = {"pages": sized.pages, "against": measured[0].pages, "allowed": scale.ALLOWED, "beyond": over}
            show.json_lines([{"measure": "scale: compared", **facts}])
    else:
        _print(measured)
    if plot is not None:
        costs = {name: [sized.costs[name] / measured[0].costs[name] for sized in measured] for name in scale.UNITS}
        plots.costs_by_size(plot, [sized.pages for sized in measured], costs, scale.ALLOWED)
        show.say(f"Drawn: {plot}")
    return 0


def _print(measured: Sequence[Sized]) -> None:
    from graphbrain.bench import scale
    from graphbrain.terminal import show
    from graphbrain.terminal.show import Cell

    first = measured[0]
    rows: list[list[object]] = []
    for name, unit in scale.UNITS.items():
        values = [Cell(sized.costs[name], f"{sized.costs[name]:.4g}") for sized in measured]
        rows.append([name, *values, unit])
    show.out(show.rows_table(("cost", *(f"{sized.pages:,} pages" for sized in measured), "unit"), rows))
    for sized in measured:
        steps = ", ".join(f"{name} {seconds:,.1f} s" for name, seconds in sized.seconds.items())
        show.say(
            f"{sized.pages:,} pages, {sized.links:,} links: {steps}; disk {sized.disk_mb:,.0f} MB, server "
            f"{sized.server_mb:,.0f} MB with {sized.memory_mb:,} MB given, this process {sized.process_mb:,.0f} MB."
        )
    for sized in measured[1:]:
        over = scale.beyond(first, sized)
        words = ", ".join(f"{name} {times:.2f} times" for name, times in over.items())
        show.say(
            f"At {sized.pages:,} pages "
            + (
                f"beyond {scale.ALLOWED} times the cost at {first.pages:,}: {words}."
                if over
                else f"every cost stays within {scale.ALLOWED} times that at {first.pages:,}."
            )
        )
