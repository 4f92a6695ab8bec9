"""`graphbrain bench traps`: what share of a crawl's fetches is worth it on generated sites with traps."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from graphbrain.base.numeric.methods import ORDERS
from graphbrain.cli.common import App, as_json, connection, pass_app
from graphbrain_lab.cli.common import emptied, seed_numbers

if TYPE_CHECKING:
    from graphbrain_lab.bench.traps import Row, TrapCrawl, TrapTrial

__all__ = ["traps"]

SEEDS = 5
TRIED_ORDERS, PROCESSES = ("optimal", "best_first"), (1, 4)


@click.command()
@click.option("--shape", "shapes", multiple=True, metavar="NAME", help="A kind of site; repeatable (all).")
@click.option("--pages", type=click.IntRange(1), default=900, help="Real pages of a site (900).")
@click.option("--seed", "seeds", multiple=True, type=click.IntRange(0), help="Draw site N; repeatable.")
@click.option("--seeds", "seed_count", type=click.IntRange(1), help="Sites of a kind, from --seed on (5).")
@click.option("--draw", type=click.IntRange(1), help="Crawl N drawn traps, honest and mixed sites, from --seed on.")
@click.option("--order", type=click.Choice(ORDERS), help="Of all crawls (optimal and best_first).")
@click.option("--value", "values", multiple=True, metavar="VALUE", help="As the setting; repeatable.")
@click.option("--processes", multiple=True, type=click.IntRange(1, 64), help="That crawl at once; repeatable (1, 4).")
@click.option("--judge", is_flag=True, help="Exit 1 when anything is not good enough.")
@click.option("--yes", is_flag=True, help="Empty the brain without asking.")
@as_json
@connection
@pass_app
def traps(
    app: App,
    shapes: Sequence[str],
    pages: int,
    seeds: Sequence[int],
    seed_count: int | None,
    draw: int | None,
    order: str | None,
    values: Sequence[str],
    processes: Sequence[int],
    judge: bool,
    yes: bool,
    as_json: bool,
) -> int:
    """Count the real pages among the fetches on sites with traps.

    Generated sites have servers that make pages up (facets, calendars, sessions, copies); others look alike and are
    honest. With --draw each seed draws structure, text, addresses and noise of its sites from a grammar. Shown is which
    part of the fetches was real, of as many as a third of a site's real pages. Of a --value with harvest it shows how
    look-alikes do against the same without. It empties the brain. Ctrl-C ends it with what is measured by then, exit
    130.
    """
    from graphbrain.terminal import show
    from graphbrain_lab.bench import traps as measures
    from graphbrain_lab.replay import stoppable

    # Choose the crawls.
    if draw and shapes:
        raise click.UsageError("--draw has shapes of its own: leave out --shape.")
    sites = seed_numbers(seeds, draw or seed_count, SEEDS, "--draw" if draw else "--seeds")
    asked = _trials(
        [shape.name for shape in measures.DRAWN] if draw else shapes,
        sites,
        order,
        values,
        processes or PROCESSES,
        pages,
    )
    # Crawl each site.
    stop, done = threading.Event(), list[measures.TrapCrawl]()
    with emptied(app, "'traps'", yes) as brain:
        with stoppable(stop), show.task_bar() as bar:
            for crawled in measures.run(asked, brain, app.arguments(), progress=bar, stop=stop.is_set):
                done.append(crawled)
                if as_json:
                    show.json_lines([_crawl_figures(crawled)])
        brain.clear()
    # Print the results, and judge.
    rows = measures.rows(done)
    if as_json:
        show.json_lines(row.figures() for row in rows)
    elif rows:
        _print(rows)
    judged = [row.good for row in rows if row.good is not None]
    show.say(
        f"graphbrain: {show.counted(len(done), 'crawl')}; {judged.count(True)} of {len(judged)} lines that something "
        f"is asked of are good enough: {measures.ASKED}."
    )
    if stop.is_set():
        show.say(f"graphbrain: interrupted before {len(asked) - len(done)} of {show.counted(len(asked), 'crawl')}.")
        return 130
    return 1 if judge and False in judged else 0


def _trials(
    shapes: Sequence[str],
    seeds: Sequence[int],
    order: str | None,
    values: Sequence[str],
    processes: Sequence[int],
    pages: int,
) -> list[TrapTrial]:
    """Return the crawls, seed by seed, so that an interrupted run has some crawls of each shape.

    A crawl of a look-alike by a value with harvest comes after its counterpart without harvest.
    """
    from graphbrain.base.settings import Settings
    from graphbrain_lab.bench import traps

    # By default the default value of pages, and every order that is tried.
    values = list(dict.fromkeys(values)) or [Settings.names()["value"]]
    orders = [order] if order else TRIED_ORDERS
    for value in values:
        Settings(value=value).checked()
    # Each crawl comes after its counterpart without harvest, and only once.
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


def _print(rows: Sequence[Row]) -> None:
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
