"""`graphbrain bench scale`: the costs of one server by the number of pages, as a table, JSON and a plot."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from graphbrain.cli.common import App, as_json, connection, pass_app

if TYPE_CHECKING:
    from graphbrain_lab.bench.scale import Sized

__all__ = ["scale"]


@click.command()
@click.option(
    "--size",
    "sizes",
    multiple=True,
    type=click.IntRange(1),
    help="Pages of a web; repeatable (1, 3, 10 million).",
)
@click.option("--memory", type=click.IntRange(1), metavar="MB", help="Of each server (half of the machine's).")
@click.option("--plot", type=click.Path(path_type=Path), metavar="FILE", help="Draw the costs: .png, .svg.")
@as_json
@connection
@pass_app
def scale(app: App, sizes: Sequence[int], memory: int | None, plot: Path | None, as_json: bool) -> None:
    """Measure what one server costs by the number of pages.

    Of each --size it generates a web of ten links a page, starts a server of its own beside the local server's
    directory (--data), and measures import, settling, ingest, claims at a delay of 0 and 1 s, questions, dump, disk
    and memory. It names the costs that are beyond 1.3 times those of the smallest size, and removes the server.
    """
    from graphbrain.graph.server import lifecycle
    from graphbrain.terminal import show
    from graphbrain_lab.bench import plots
    from graphbrain_lab.bench import scale as measures

    if plot is not None:
        plots.check(plot)
    # Measure each size; JSON rows are printed as soon as they exist.
    measured: list[Sized] = []
    with show.task_bar() as bar:
        for sized in measures.run(sizes or measures.SIZES, app.data or lifecycle.default_data_dir(), memory, bar):
            measured.append(sized)
            # Compare every size with the smallest.
            if as_json:
                show.json_lines([sized.figures()])
    if as_json:
        for sized in measured[1:]:
            over = measures.beyond(measured[0], sized)
            facts = {"pages": sized.pages, "against": measured[0].pages, "allowed": measures.ALLOWED, "beyond": over}
            show.json_lines([{"measure": "scale: compared", **facts}])
    else:
        _print(measured)
    if plot is not None:
        costs = {name: [sized.costs[name] / measured[0].costs[name] for sized in measured] for name in measures.UNITS}
        plots.costs_by_size(plot, [sized.pages for sized in measured], costs, measures.ALLOWED)
        show.say(f"Drawn: {plot}")


def _print(measured: Sequence[Sized]) -> None:
    from graphbrain.terminal import show
    from graphbrain.terminal.show import Cell
    from graphbrain_lab.bench import scale as measures

    # Print one row for each cost, with a column for each size.
    first = measured[0]
    rows: list[list[object]] = []
    for name, unit in measures.UNITS.items():
        values = [Cell(sized.costs[name], f"{sized.costs[name]:.4g}") for sized in measured]
        rows.append([name, *values, unit])
    show.out(show.rows_table(("cost", *(f"{sized.pages:,} pages" for sized in measured), "unit"), rows))
    # Print the steps and the memory of each size.
    for sized in measured:
        steps = ", ".join(f"{name} {seconds:,.1f} s" for name, seconds in sized.seconds.items())
        show.say(
            f"{sized.pages:,} pages, {sized.links:,} links: {steps}; disk {sized.disk_mb:,.0f} MB, server "
            f"{sized.server_mb:,.0f} MB with {sized.memory_mb:,} MB given, this process {sized.process_mb:,.0f} MB."
        )
    # Print the costs that grow more than allowed.
    for sized in measured[1:]:
        over = measures.beyond(first, sized)
        words = ", ".join(f"{name} {times:.2f} times" for name, times in over.items())
        show.say(
            f"At {sized.pages:,} pages "
            + (
                f"beyond {measures.ALLOWED} times the cost at {first.pages:,}: {words}."
                if over
                else f"every cost stays within {measures.ALLOWED} times that at {first.pages:,}."
            )
        )
