"""`graphbrain bench order`: how much of a web's importance a crawl has fetched when, as a table, JSON and a picture."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphbrain.base.errors import BadInput
from graphbrain.cli.common import App, Number, as_json, connection, pass_app
from graphbrain_lab.cli.common import FILE

if TYPE_CHECKING:
    from graphbrain.terminal.show import Cell
    from graphbrain_lab.bench.many import Measured
    from graphbrain_lab.bench.order import Curve
    from graphbrain_lab.recording import Recording

__all__ = ["order"]

ALWAYS = ("authority", "flow")
"""Values whose orders are simulated beside those that the brain crawls by."""


@click.command()
@click.argument("file", type=FILE)
@click.option("--nodes", type=FILE, help="The node file of an edge list.")
@click.option("--seed", "seeds", multiple=True, metavar="URL|ID", help="Begin here; repeatable.")
@click.option("--value", "values", multiple=True, metavar="VALUE", help="As the setting; repeatable.")
@click.option("--reach", type=Number(0), default=0.0, metavar="SHARE", help="As the setting (0).")
@click.option("--sitemap", is_flag=True, help="A sitemap names all pages at the beginning.")
@click.option("--live/--no-live", default=True, help="Crawl with the brain, too, or only in memory (--live).")
@click.option("--batch", type=click.IntRange(1), help="Pages claimed at a time (1 % of all).")
@click.option("--delay", type=Number(0), help="Seconds between two claims of a host (0).")
@click.option("--workers", type=click.IntRange(0), help="Worker processes (1).")
@click.option("--pushes-per-page", type=Number(0), help="Make so many pushes for each page, and no others.")
@click.option("--hosts", type=click.IntRange(1), help="Spread the pages over so many hosts.")
@click.option("--seeds-each", type=click.IntRange(1), help="Crawls of each recording of a directory (2).")
@click.option("--own", is_flag=True, help="Only the pages that were crawled.")
@click.option("--plot", type=FILE, metavar="FILE", help="Draw the curves: .png, .svg.")
@as_json
@connection
@pass_app
def order(
    app: App,
    /,
    file: Path,
    nodes: Path | None,
    seeds: Sequence[str],
    values: Sequence[str],
    reach: float,
    sitemap: bool,
    live: bool,
    hosts: int | None,
    plot: Path | None,
    seeds_each: int | None,
    own: bool,
    as_json: bool,
    **driven: Any,
) -> int:
    """Measure how early a crawl fetches what matters.

    FILE is a recorded crawl as for 'replay'. Printed is which share of PageRank and authority a crawl has fetched
    when: by orders that are simulated in memory, and by the brain, which must be empty, once for each --value. FILE
    may be a directory of recordings: each is crawled from --seeds-each pages, and of each order the mean share of the
    omniscient area is printed, the least, and on how many webs it is at least as good as others; webs of fewer than
    500 pages do not count. Ctrl-C ends it with what is measured by then.
    """
    from graphbrain.base.numeric.methods import factors
    from graphbrain.base.settings import Settings
    from graphbrain.terminal import show
    from graphbrain_lab.bench import many, plots
    from graphbrain_lab.bench import order as measures
    from graphbrain_lab.recording import read

    # Check the options.
    how = {name: value for name, value in driven.items() if value is not None}
    values = list(dict.fromkeys(values or [Settings.names()["value"]]))
    for value in values:
        if factors(value) is None:
            raise BadInput(f"'order' takes products of live scores, as in 'flow^.5 authority^.5', not {value!r:.80}.")
    Settings(reach=reach).checked()
    if plot is not None:
        plots.check(plot)
    # A directory is measured web by web.
    measure = _Measuring(app, values, live, reach, sitemap, hosts, how)
    if file.is_dir():
        if nodes is not None or seeds or plot is not None:
            raise BadInput("--nodes, --seed and --plot are for one recording, not for a directory of them.")
        return _many(measure, many.recordings(file, own, _passed_over), seeds_each or 2, as_json)
    if seeds_each is not None:
        raise BadInput("--seeds-each is for a directory of recordings; begin one at the pages that --seed names.")
    # A single recording has curves, and maybe a plot.
    recording = read(file, nodes=nodes)
    recording = many.restricted(recording) if own else recording
    begin = [recording.find(seed) for seed in seeds] or recording.seeds()
    with measure:
        curves = measure.curves(recording, begin)
    if curves:
        _print(curves, as_json)
        if plot is not None:
            title = f"{recording.name}: {len(curves[0].pagerank):,} pages from {show.counted(len(begin), 'seed')}"
            measures.draw(curves, title, plot)
            show.say(f"Drawn: {plot}")
    return measure.ended()


@dataclass
class _Measuring:
    """The measurement of webs one after another, with a bar, until it is interrupted."""

    app: App
    values: Sequence[str]
    live: bool
    reach: float
    sitemap: bool
    hosts: int | None
    how: Mapping[str, Any]
    stop: threading.Event = field(default_factory=threading.Event)
    used: bool = False
    """True once a brain has been filled: it is cleared before the next crawl."""

    def __enter__(self) -> None:
        from graphbrain.terminal import show
        from graphbrain_lab.replay import stoppable

        self._stack = ExitStack()
        self._stack.enter_context(stoppable(self.stop))
        self._bar = self._stack.enter_context(show.task_bar())

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def curves(self, recording: Recording, begin: Sequence[int]) -> list[Curve]:
        """Return the curves of all orders on the pages that `begin` reaches. That of the omniscient order comes
        first."""
        # Simulate the orders in memory.
        from graphbrain.terminal import show
        from graphbrain_lab.bench import order

        web = order.web_of(recording, begin, self.sitemap)
        show.say(f"{recording.name}: {len(web):,} of {recording.pages:,} pages and {web.links:,} links are reached.")
        names = list(dict.fromkeys([*ALWAYS, *self.values]))
        curves, shares = order.simulated(web, names, self.reach, self._bar, self.stop.is_set)
        # Crawl with the brain, once for each value.
        if self.live and not self.stop.is_set():
            crawled = recording if self.hosts is None else order.spread_over(recording, self.hosts)
            with self.app.brain(auto_tend=False) as brain:
                for value in self.values:
                    if self.used:
                        brain.clear()
                    self.used = True
                    driven = order.Live(reach=self.reach, **self.how)
                    curves.append(order.live(brain, crawled, web, shares, value, driven, self._bar, self.stop))
                    if self.stop.is_set():
                        break
        return curves

    def ended(self) -> int:
        """Return the exit code: 130 after an interruption, else 0."""
        from graphbrain.terminal import show

        if self.stop.is_set():
            show.say("graphbrain: interrupted; a live crawl's figures are of what it had fetched by then.")
            return 130
        return 0


def _many(measure: _Measuring, recordings: Iterator[Recording], seeds_each: int, as_json: bool) -> int:
    """Measure many recordings, and print the result of each order over all of them. Return the exit code."""
    from graphbrain.terminal import show
    from graphbrain_lab.bench import many
    from graphbrain_lab.bench.order import web_of

    # Measure each recording from several pages.
    done: list[many.Measured] = []
    with measure:
        for recording in recordings:
            for seed in many.begin(recording, seeds_each):
                curves = measure.curves(recording, [seed])
                if measure.stop.is_set():
                    break
                web = web_of(recording, [seed])
                done.append(many.Measured(recording.name, recording.urls[seed], len(web), web.links, curves))
                if as_json:
                    show.json_lines([many.web_row(done[-1])])
            if measure.stop.is_set():
                break
    # Print the results over all of them.
    small = [crawl for crawl in done if crawl.pages < many.COUNTED]
    if small:
        names = ", ".join(dict.fromkeys(crawl.recording for crawl in small))
        show.say(f"Not counted, for fewer than {many.COUNTED} pages are reached: {names}.")
    rows = many.summary(done)
    if as_json:
        show.json_lines(rows)
    else:
        _print_many(done, rows)
    return measure.ended()


def _print_many(crawls: Sequence[Measured], rows: Sequence[Mapping[str, Any]]) -> None:
    from graphbrain.terminal import show
    from graphbrain.terminal.show import Cell
    from graphbrain_lab.bench.many import COUNTED, EARLY, REFERENCES

    # Print one row for each order of each crawl.
    each = [
        [Cell(share, f"{share:.3f}"), name, crawl.pages, *_from(crawl, COUNTED)]
        for crawl in crawls
        for name, share in crawl.shares.items()
    ]
    show.out(show.rows_table(("share", "order", "pages", "counted", "recording", "seed"), each))
    if not rows:
        show.say("No web counts, so there is no mean.")
        return
    # Print one row for each order over all crawls, compared with the reference orders.
    references = [reference for reference in REFERENCES if reference in rows[0]["wins"]]
    head = ("mean", "from", "to", "least", *(f"≥ {name}" for name in references), *(f"{p:.0%}" for p in EARLY), "order")
    table = [
        [
            *(Cell(row[name], f"{row[name]:.3f}") for name in ("mean", "low", "high", "least")),
            *(Cell(row["wins"][name], f"{row['wins'][name]}/{row['webs']}") for name in references),
            *(_gained(row["early"][f"{part:g}"]) for part in EARLY),
            row["order"],
        ]
        for row in rows
    ]
    show.out(show.rows_table(head, table))


def _from(crawl: Measured, least: int) -> tuple[str, str, str]:
    return ("yes" if crawl.pages >= least else "no", crawl.recording, crawl.seed)


def _gained(early: Mapping[str, float] | None) -> Cell:
    """Return the gain of an order over OPIC: its mean, and its least."""
    from graphbrain.terminal.show import Cell

    return Cell(None, "") if early is None else Cell(early["mean"], f"{early['mean']:+.3f} ({early['least']:+.3f})")


def _passed_over(path: Path, why: str) -> None:
    from graphbrain.terminal import show

    show.say(f"{path.name} is passed over: {why}")


def _print(curves: Sequence[Curve], as_json: bool) -> None:
    from graphbrain.terminal import show
    from graphbrain.terminal.show import Cell
    from graphbrain_lab.bench.order import AT

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
