"""`graphbrain bench order`: how much of a web's importance a crawl has fetched when, as a table, JSON and a picture."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphbrain.cli.common import App
from graphbrain.errors import BadInput

if TYPE_CHECKING:
    from graphbrain.bench.order import Curve

__all__ = ["OPTIONS", "run"]

OPTIONS = frozenset(
    {
        *("--workers", "--delay", "--nodes", "--seed", "--value", "--reach", "--sitemap", "--live", "--batch"),
        *("--pushes-per-page", "--hosts", "--plot"),
    }
)

ALWAYS = ("authority", "flow")
"""Values whose orders are simulated beside those that the brain crawls by."""


def run(
    app: App,
    file: Path,
    as_json: bool,
    *,
    nodes: Path | None = None,
    seeds: Sequence[str] = (),
    values: Sequence[str] = (),
    live: bool = True,
    reach: float = 0.0,
    sitemap: bool = False,
    hosts: int | None = None,
    plot: Path | None = None,
    **how: Any,
) -> int:
    """Measure the orders; 130 when it was interrupted."""
    from graphbrain import show
    from graphbrain.bench import order, plots
    from graphbrain.ingest.recording import read
    from graphbrain.ingest.replay import stoppable
    from graphbrain.methods import factors
    from graphbrain.settings import Settings

    values = list(dict.fromkeys(values or [Settings.names()["value"]]))
    for value in values:
        if factors(value) is None:
            raise BadInput(f"'order' takes products of live scores, as in 'flow^.5 authority^.5', not {value!r:.80}.")
    Settings(reach=reach).checked()
    if plot is not None:
        plots.check(plot)
    recording = read(file, nodes=nodes)
    begin = [recording.find(seed) for seed in seeds] or recording.seeds()
    web = order.web_of(recording, begin, sitemap)
    show.say(f"{recording.name}: {len(web):,} of {recording.pages:,} pages and {web.links:,} links are reached.")
    stop = threading.Event()
    with stoppable(stop), show.task_bar() as bar:
        curves, shares = order.simulated(web, list(dict.fromkeys([*ALWAYS, *values])), reach, bar, stop.is_set)
        if live and not stop.is_set():
            crawled = recording if hosts is None else order.spread_over(recording, hosts)
            with app.brain(auto_tend=False) as brain:
                for number, value in enumerate(values):
                    if number:
                        brain.clear()
                    driven = order.Live(reach=reach, **how)
                    curves.append(order.live(brain, crawled, web, shares, value, driven, bar, stop))
                    if stop.is_set():
                        break
    if curves:
        _tell(curves, as_json)
        if plot is not None:
            order.draw(curves, f"{recording.name}: {len(web):,} pages from {show.counted(len(begin), 'seed')}", plot)
            show.say(f"Drawn: {plot}")
    if stop.is_set():
        show.say("graphbrain: interrupted; a live crawl's figures are of what it had fetched by then.")
        return 130
    return 0


def _tell(curves: Sequence[Curve], as_json: bool) -> None:
    from graphbrain import show
    from graphbrain.bench.order import AT
    from graphbrain.show import Cell

    best = curves[0].area
    rows = [curve.row(best) for curve in curves]
    if as_json:
        show.json_lines(rows)
        return
    head = ("area", "of best", "auth.", *(f"{100 * part:g}%" for part in AT), "order")
    table = [
        [
            *(Cell(row[name], f"{row[name]:.3f}") for name in ("area", "of_omniscient", "authority_area")),
            *(Cell(share, f"{share:.3f}") for share in row["at"].values()),
            row["order"],
        ]
        for row in rows
    ]
    show.out(show.rows_table(head, table))
