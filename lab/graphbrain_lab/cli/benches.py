"""`graphbrain bench`: a command for each measure. Those of this module measure a brain and print figures; the others
have a module each."""

from __future__ import annotations

from pathlib import Path

import click

from graphbrain.cli.common import App, Number, as_json, connection, pass_app
from graphbrain_lab.cli import changes, orders, scale, traps, trust, worlds
from graphbrain_lab.cli.common import FILE, print_figures

__all__ = ["COMMANDS", "bench"]

recording = click.argument("file", required=False, type=FILE)
pages = click.option("--pages", type=click.IntRange(1), help="Only so many pages (all).")


@click.group()
def bench() -> None:
    """Measure this machine.

    FILE is a recorded crawl as for 'replay'; without it, a web is generated. Most measures need an empty brain, which
    'graphbrain clear --yes' makes. Compare the figures of one machine only.
    """


@bench.command()
@recording
@pages
@as_json
@connection
@pass_app
def ingest(app: App, file: Path | None, pages: int | None, as_json: bool) -> None:
    """Report a crawl's pages and links.

    Pages are reported in the order of a breadth-first crawl, 200 at a time, and the accounts of both ends of each link
    are settled. The brain must be empty.
    """
    from graphbrain_lab.bench import crawl

    with app.brain(auto_tend=False) as brain:
        print_figures([crawl.ingest(brain, crawl.recording_of(file), pages)], as_json)


@bench.command()
@recording
@pages
@click.option("--workers", type=click.IntRange(1), default=4, help="Worker processes (4).")
@click.option("--seconds", type=Number(0), default=20.0, help="How long, each (20).")
@as_json
@connection
@pass_app
def push(app: App, file: Path | None, pages: int | None, workers: int, seconds: float, as_json: bool) -> None:
    """Push the waiting cash, alone and by workers.

    FILE is ingested first if the brain is empty.
    """
    from graphbrain_lab.bench import crawl

    with app.brain(auto_tend=False) as brain:
        crawl.filled(brain, crawl.recording_of(file), pages)
        print_figures(crawl.push(brain, workers, seconds), as_json)


@bench.command()
@click.option("--pages", type=click.IntRange(1), default=1_000_000, help="Pages that wait (1000000).")
@click.option("--delay", type=Number(0), default=0.0, help="Seconds between two claims of a host (0).")
@as_json
@connection
@pass_app
def claim(app: App, pages: int, delay: float, as_json: bool) -> None:
    """Claim pages while many wait, and while ten times as many do.

    The brain must be empty.
    """
    from graphbrain_lab.bench import crawl

    with app.brain(auto_tend=False) as brain:
        print_figures(crawl.claim(brain, pages, delay=delay), as_json)


@bench.command()
@recording
@pages
@as_json
@connection
@pass_app
def rank(app: App, file: Path | None, pages: int | None, as_json: bool) -> None:
    """Compute batch scores in memory, and write them.

    FILE is ingested first if the brain is empty.
    """
    from graphbrain_lab.bench import crawl, scores

    read = crawl.recording_of(file)
    with app.brain(auto_tend=False) as brain:
        crawl.filled(brain, read, pages)
        print_figures(scores.rank(brain, read), as_json)


@bench.command()
@recording
@pages
@click.option("--workers", type=click.IntRange(0), default=1, help="Processes that report beside it (1).")
@as_json
@connection
@pass_app
def settle(app: App, file: Path | None, pages: int | None, workers: int, as_json: bool) -> None:
    """Settle all accounts from nothing, beside reports.

    The brain must be empty.
    """
    from graphbrain_lab.bench import accounts, crawl

    with app.brain(auto_tend=False) as brain:
        print_figures(accounts.settle(brain, crawl.recording_of(file), pages, workers), as_json)


@bench.command()
@recording
@pages
@as_json
@connection
@pass_app
def grow(app: App, file: Path | None, pages: int | None, as_json: bool) -> None:
    """Follow a growing crawl with the scores, and count the cost.

    The brain must be empty.
    """
    from graphbrain_lab.bench import accounts, crawl

    with app.brain(auto_tend=False) as brain:
        print_figures(accounts.grow(brain, crawl.recording_of(file), pages), as_json)


@bench.command("import")
@recording
@click.option("--pages", type=click.IntRange(1), help="Ingest only so many pages.")
@as_json
@connection
@pass_app
def import_(app: App, file: Path | None, pages: int | None, as_json: bool) -> None:
    """Import a crawl, and compare with its live ingest.

    Without FILE, a web of ten million links is generated. The brain must be empty.
    """
    from graphbrain_lab.bench import crawl

    with app.brain(auto_tend=False) as brain:
        print_figures(crawl.bulk(brain, file, app.data, pages), as_json)


@bench.command()
@recording
@click.option("--days", type=click.IntRange(20), default=365, help="Simulated days (365).")
@as_json
@connection
@pass_app
def revisit(app: App, file: Path | None, days: int, as_json: bool) -> None:
    """Compare the freshness of copies with other policies'.

    The time is simulated, under several budgets of visits. FILE is a table of changes as for 'simulate'; without it,
    changes are invented. The brain must be empty, and the times in it are simulated ones afterwards.
    """
    from graphbrain_lab.bench.revisit import revisit as measure
    from graphbrain_lab.simulate.on_graph import SimulatedClock

    clock = SimulatedClock()
    with app.brain(auto_tend=False, clock=clock) as brain:
        print_figures(measure(brain, clock, file, days), as_json)


@bench.command()
@click.argument("folder", required=False, type=click.Path(file_okay=False, path_type=Path))
@click.option("--pages", type=click.IntRange(1), default=600, help="Pages of the generated web (600).")
@click.option("--redis", metavar="URL", help="Measure scrapy-redis, too, by this Redis.")
@as_json
@connection
@pass_app
def scrapy(app: App, folder: Path | None, pages: int, redis: str | None, as_json: bool) -> None:
    """Crawl by Scrapy alone and by Scrapy with the brain, in turns.

    FOLDER has pages in place of a generated web. It needs Scrapy; --redis needs scrapy-redis, too. The brain must be
    empty.
    """
    from graphbrain_lab.bench import crawl
    from graphbrain_lab.bench.scrapy_pair import scrapy_pair

    with app.brain(auto_tend=False) as brain:
        crawl.empty(brain)
        print_figures([scrapy_pair(brain, folder, pages, app.data, redis)], as_json)


@bench.command()
@click.argument("clients", type=click.IntRange(1, 10_000))
@click.option("--seconds", type=Number(0), default=20.0, help="How long, for each number of pages (20).")
@as_json
@connection
@pass_app
def service(app: App, clients: int, seconds: float, as_json: bool) -> None:
    """Let CLIENTS claim from a service and report to it, at once.

    They claim 1, 5 and 50 pages at a time. The service is started for it. The brain must be empty.
    """
    from graphbrain_lab.bench.service import service as measure

    with app.brain(auto_tend=False) as brain:
        print_figures(measure(brain, clients, seconds), as_json)


@bench.command()
@click.option("--hosts", type=click.IntRange(1), default=10_000, help="Hosts that are met (10000).")
@as_json
@connection
@pass_app
def resources(app: App, hosts: int, as_json: bool) -> None:
    """Claim robots.txt and sitemaps of new and known hosts.

    Calls for all kinds are compared with calls for pages alone. The brain must be empty.
    """
    from graphbrain_lab.bench.resources import resources as measure

    with app.brain(auto_tend=False) as brain:
        print_figures(measure(brain, hosts), as_json)


for _command in (changes.changes, orders.order, scale.scale, traps.traps, trust.trust, worlds.worlds):
    bench.add_command(_command)

COMMANDS = (bench,)
