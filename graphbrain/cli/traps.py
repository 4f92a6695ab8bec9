"""`graphbrain bench traps`: what share of a crawl's fetches is worth it on generated sites with traps."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from graphbrain.cli.common import App
from graphbrain.errors import GraphbrainError

if TYPE_CHECKING:
    from graphbrain.bench.traps import Row, TrapCrawl, TrapTrial

__all__ = ["OPTIONS", "OWN_OPTIONS", "run"]

OWN_OPTIONS = frozenset({"--shape", "--seeds", "--processes", "--judge"})
OPTIONS = OWN_OPTIONS | {"--seed", "--order", "--value", "--pages", "--yes"}
SEEDS, PAGES = 5, 900
ORDERS, PROCESSES = ("optimal", "best_first"), (1, 4)


def run(
    app: App,
    as_json: bool,
    *,
    shapes: Sequence[str] = (),
    seeds: Sequence[str] = (),
    seed_count: int | None = None,
    order: str | None = None,
    values: Sequence[str] = (),
    processes: Sequence[int] = PROCESSES,
    pages: int = PAGES,
    judge: bool = False,
    yes: bool = False,
) -> int:
    """Measure them; 130 when it was interrupted, and where it judges 1 when any is not good enough."""
    from graphbrain.bench import traps
    from graphbrain.ingest.replay import stoppable
    from graphbrain.terminal import show

    asked = _trials(shapes, _seeds(seeds, seed_count), order, values, processes, pages)
    stop, done = threading.Event(), list[traps.TrapCrawl]()
    with app.brain(auto_tend=False, as_it_is=True) as brain:
        if (count := brain.stats()["pages"]) and not yes:
            raise GraphbrainError(f"The brain holds {show.counted(count, 'page')}; --yes lets 'traps' delete them.")
        with stoppable(stop), show.task_bar() as bar:
            for crawled in traps.run(asked, brain, app.arguments(), progress=bar, stop=stop.is_set):
                done.append(crawled)
                if as_json:
                    show.json_lines([_crawl_figures(crawled)])
        brain.clear()
    rows = traps.rows(done)
    if as_json:
        show.json_lines(row.figures() for row in rows)
    elif rows:
        _tell(rows)
    judged = [row.good for row in rows if row.good is not None]
    show.say(
        f"graphbrain: {show.counted(len(done), 'crawl')}; {judged.count(True)} of {len(judged)} lines that something "
        f"is asked of are good enough: {traps.ASKED}."
    )
    if stop.is_set():
        show.say(f"graphbrain: interrupted before {len(asked) - len(done)} of {show.counted(len(asked), 'crawl')}.")
        return 130
    return 1 if judge and False in judged else 0


def _seeds(seeds: Sequence[str], count: int | None) -> list[int]:
    if wrong := [seed for seed in seeds if not seed.isdecimal()]:
        raise click.UsageError(f"--seed: of a site it is a whole number, not {wrong[0]!r:.80}.")
    first = [int(seed) for seed in dict.fromkeys(seeds)]
    if len(first) > 1 and count:
        raise click.UsageError("--seeds counts on from one --seed.")
    if len(first) > 1:
        return first
    begin = first[0] if first else 1
    return list(range(begin, begin + (count or (1 if first else SEEDS))))


def _trials(
    shapes: Sequence[str],
    seeds: Sequence[int],
    order: str | None,
    values: Sequence[str],
    processes: Sequence[int],
    pages: int,
) -> list[TrapTrial]:
    """The crawls that are asked for, seed by seed, so that an interrupted run has something of each shape; before one
    by a value with harvest on a look-alike, the one without."""
    from graphbrain.bench import traps
    from graphbrain.settings import Settings

    values = list(dict.fromkeys(values)) or [Settings.names()["value"]]
    orders = [order] if order else ORDERS
    for value in values:
        Settings(value=value).checked()
    wanted = (
        traps.TrapTrial(shape.name, seed, pages, each, value, number)
        for seed in seeds
        for shape in traps.chosen(shapes)
        for each in orders
        for value in values
        for number in dict.fromkeys(processes)
    )
    pairs = ((traps.without_harvest(trial), trial) for trial in wanted)
    return list(dict.fromkeys(trial for pair in pairs for trial in pair if trial is not None))


def _crawl_figures(crawled: TrapCrawl) -> dict[str, Any]:
    trial = crawled.trial
    return {
        "measure": "crawl",
        **{name: getattr(trial, name) for name in ("shape", "seed", "order", "value", "processes")},
        **{name: getattr(crawled, name) for name in ("wanted", "fetched", "real", "own", "waited")},
        "seconds": round(crawled.seconds, 2),
    }


def _tell(rows: Sequence[Row]) -> None:
    from graphbrain.terminal import show
    from graphbrain.terminal.show import Cell

    def number(value: float) -> Cell:
        return Cell(value, f"{value:.3f}")

    table = []
    for row in rows:
        figures, ratios = row.figures(), row.ratios
        against = [number(sum(ratios) / len(ratios)), number(min(ratios))] if ratios else [Cell(None, "")] * 2
        good = {None: "", True: "yes", False: "no"}[row.good]
        waited = str(min(figures["waited"])) if row.trap else ""
        table.append(
            [
                *(row.shape, row.order, row.processes, number(figures["mean"]), number(figures["least"]), waited),
                *(*against, good, row.value),
            ]
        )
    head = ("shape", "order", "processes", "mean", "least", "traps", "of base", "least of", "good", "value")
    show.out(show.rows_table(head, table))
