"""The commands that fill a graph and keep it: seed, hint, work, tend, import."""

from __future__ import annotations

import dataclasses
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from graphbrain.base.errors import BadInput, GraphbrainError
from graphbrain.base.model import Hint, SeedAnswer
from graphbrain.base.numeric.methods import METHODS
from graphbrain.base.work import Tended
from graphbrain.cli import sheets
from graphbrain.cli.common import AddressOption, App, Duration, Number, as_json, brain_command, needing
from graphbrain.terminal import show

if TYPE_CHECKING:
    from graphbrain.brain.workers import WorkerPool
    from graphbrain.content.feeds.reading import Hints

__all__ = ["COMMANDS"]

SEEDS_AT_ONCE = 10_000
HOUR = 3_600.0
TEXT = click.File(encoding="utf-8-sig", errors="replace")
"""A text file in UTF-8, with or without a byte order mark."""
SHOWN = 20
"""The refusals that are printed one by one."""


@brain_command()
@click.argument("urls", nargs=-1, metavar="[URL]...")
@click.option("--file", "source", type=TEXT, help="Read URLs from FILE.")
@click.option("--plain", is_flag=True, help="FILE has one URL a line, whatever it looks like.")
@as_json
def seed(app: App, urls: tuple[str, ...], source: IO[str] | None, plain: bool, as_json: bool) -> int:
    """Name the pages where the crawl begins.

    FILE ('-' is stdin) has one URL a line; or it is CSV or TSV whose first line names a column 'url', JSON lines with
    a 'url', CDX or CDXJ. Blank lines and those that begin with '#' are left out. What is none of these is refused.
    Pages that were given up wait again; those outside the scope are kept, and not fetched.
    Exits 1 when a URL was refused; the others are kept.
    """
    if not urls and source is None:
        raise click.UsageError("Give at least one URL, or --file.")
    from graphbrain.files.seed_files import urls_in

    try:
        wanted = iter([*urls, *urls_in(source or (), plain=plain)])
    except BadInput as error:
        raise BadInput(f"{getattr(source, 'name', 'FILE')} cannot be used: {error}") from None
    done = SeedAnswer(0, 0)
    # Seed in parts, so that a large file needs little memory.
    with app.brain() as brain:
        while part := list(islice(wanted, SEEDS_AT_ONCE)):
            done += brain.seed(part)
    if as_json:
        show.json_lines([done])
    else:
        words = [
            f"{show.counted(done.created, 'page')} created",
            f"{done.known:,} known before",
            f"{len(done.refused):,} refused",
        ]
        words += [f"{done.outside:,} outside the scope"] if done.outside else []
        words += [f"{done.gone:,} given up before that wait again"] if done.gone else []
        show.out(", ".join(words))
        # Name what will not be fetched, and why; remarks up to a number.
        for url, reason in done.refused:
            show.say(f"graphbrain: {url!r} is refused: {reason}.")
        for url, remark in done.remarks[:SHOWN]:
            show.say(f"graphbrain: {url!r}: {remark}.")
        if len(done.remarks) > SHOWN:
            show.say(f"graphbrain: … and so on: {len(done.remarks):,} such remarks.")
    return 1 if done.refused else 0


@brain_command()
@click.argument("sources", nargs=-1, required=True, metavar="FILE|URL|KEY...")
@as_json
def hint(app: App, sources: tuple[str, ...], as_json: bool) -> int:
    """Name pages that have changed.

    FILEs ('-' is stdin) are sitemaps, RSS or Atom feeds, lists of URLs, or JSON lines with 'url', 'at', 'kind'; packed
    by gzip or not. Nothing is fetched: of an index of sitemaps those it lists are printed. A URL, or the key of a page
    that is known, means that this page has changed now. What can be read of a broken file is taken, and the rest is
    named.
    Exits 1 when anything was refused; the rest is kept.
    """
    refused = 0
    with app.brain() as brain:
        for source in sources:
            listed = _hints(source)
            answers = brain.hint(listed.hints)
            wrong = [f"{a.url!r}: {a.reason}" for a in answers if not a.accepted] + list(listed.refused)
            refused += len(wrong)
            if as_json:
                show.json_lines([*answers, *({"sitemap": url} for url in listed.sitemaps)])
            else:
                counts = Counter(answer.outcome or "refused" for answer in answers)
                counts["refused"] = len(wrong)
                _print_hinted(source, sorted(counts.items()), listed.sitemaps)
            # What was not used, each with its reason.
            if listed.sitemaps:
                show.say(
                    f"graphbrain: {source} is an index: fetch its {len(listed.sitemaps):,} sitemaps, and give them."
                )
            for outcome, sentences in (("refused", wrong), ("mended", listed.mended)):
                for sentence in sentences[:SHOWN]:
                    show.say(f"graphbrain: {source}: {outcome}: {sentence}.")
                if len(sentences) > SHOWN:
                    show.say(f"graphbrain: {source}: {outcome}: … and so on, {len(sentences):,} in all.")
    return 1 if refused else 0


def _print_hinted(source: str, counts: Sequence[tuple[str, int]], sitemaps: Sequence[str]) -> None:
    """Print the results of a file of hints, and the sitemaps that it lists."""
    if show.on_terminal():
        show.out(show.sheet([(source, ", ".join(f"{n:,} {name}" for name, n in counts))]), *sitemaps)
    else:
        rows = [*((source, name, n) for name, n in counts), *((source, "sitemap", url) for url in sitemaps)]
        show.out(show.rows_table(("file", "what", "value"), rows))


def _hints(source: str) -> Hints:
    """The hints of a file, or a ping."""
    from graphbrain.base.urls.normalization import is_key
    from graphbrain.content.feeds import reading as hints

    if source.startswith(("http://", "https://")) or (is_key(source) and not Path(source).exists()):
        return hints.Hints((Hint(source),))
    try:
        with click.open_file(source, "rb") as file:
            return hints.read(file.read(hints.LARGEST + 1), source)
    except OSError as error:
        raise BadInput(f"{source} cannot be read: {error.strerror or error}.") from None


@brain_command()
@click.option("--workers", type=click.IntRange(1), default=1, help="Processes (1 unless given).")
@click.option("--batch", type=click.IntRange(1), help="Payments of one transaction (5000).")
@click.option("--seconds", type=Number(0), help="End after so long.")
@click.option("--until-settled", is_flag=True, help="End when no push is worth it any more.")
@click.option("--rank", type=click.Choice(list(METHODS)), multiple=True, help="Keep the scores of 'rank METHOD' fresh.")
@click.option("--every", type=Duration(1.0), metavar="TIME", help="How old they may be: 90s, 30m, 1h, 2d (1h).")
@click.option("--metrics", type=AddressOption(), metavar="[HOST:]PORT", help="Serve metrics for Prometheus there.")
@as_json
def work(
    app: App,
    workers: int,
    batch: int | None,
    seconds: float | None,
    until_settled: bool,
    rank: tuple[str, ...],
    every: float | None,
    metrics: tuple[str, int] | None,
    as_json: bool,
) -> None:
    """Run worker processes that keep the accounts.

    They push cash, sweep lapsed claims and release pages that are due again, for ever.
    Ctrl-C or SIGTERM ends it in order. A worker process that dies is started again.

    'work --rank pagerank --every 1h' also ranks anew whenever the scores are older, beginning with the last ones and
    with the parameters of the last 'graphbrain rank pagerank'; one of all workers at a time. After
    'graphbrain change value=pagerank' these scores order the crawl.

    'work --metrics 9464' serves metrics for Prometheus at http://127.0.0.1:9464/metrics (needs .[metrics]).
    """
    from graphbrain.brain.workers import WorkerPool

    if every is not None and not rank:
        raise click.UsageError("--every is for --rank: name the method whose scores are to be kept fresh.")
    with app.brain(auto_tend=False) as brain:
        pool = WorkerPool.beside(
            brain,
            workers,
            batch=batch,
            until_settled=until_settled,
            rank=rank,
            every=every or HOUR,
            observe=metrics is not None,
        )
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    with nullcontext() if metrics is None else _metrics(app, pool, *metrics), pool:
        _watch(pool, stop, seconds)
    if pool.failed:
        raise GraphbrainError(f"A worker cannot go on: {pool.failed}")
    total = pool.totals
    if until_settled and not stop.is_set() and total.settled:
        # Settle what the last worker has left for a worker that had ended already.
        with app.brain(auto_tend=False) as brain:
            total += brain.tend(None)
    _print_tended(total, as_json)
    ended = "1 worker process" if workers == 1 else f"{workers} worker processes"
    show.say(f"graphbrain: {ended} ended; {pool.restarts} were started again.")


@contextmanager
def _metrics(app: App, pool: WorkerPool, host: str, port: int) -> Iterator[None]:
    """Serve the metrics of the brain and of these workers."""
    with needing("--metrics", "metrics", "prometheus_client"):
        from graphbrain.service.metrics.meter import Meter
        from graphbrain.service.metrics.serving import served
    with (
        app.brain(auto_tend=False, as_it_is=True) as brain,
        Meter(brain, pool) as meter,
        served(meter, host, port) as at,
    ):
        show.say(f"graphbrain: metrics at http://{f'[{host}]' if ':' in host else host}:{at}/metrics.")
        yield


def _watch(pool: WorkerPool, stop: threading.Event, seconds: float | None) -> None:
    """Show the work of the pool until a signal stops it, time is up, or its workers have ended."""
    began = time.monotonic()
    with show.status_line() as status:
        while not stop.is_set() and not pool.join(0):
            if seconds is not None and time.monotonic() - began > seconds:
                return
            done = pool.totals
            status(
                f"{len(pool.pids)} workers: {done.pushes:,} pushes, {done.payments:,} payments, "
                f"{done.swept:,} claims swept"
            )
            stop.wait(0.2)


@brain_command()
@click.argument("urls", nargs=-1, metavar="[URL]...")
@click.option("--seconds", type=Number(0), help="End after so long (until settled).")
@as_json
def tend(app: App, urls: tuple[str, ...], seconds: float | None, as_json: bool) -> None:
    """Keep the accounts until they are settled.

    With URLs, these pages are pushed, as far as more than the setting eps waits on them for each link.
    """
    with app.brain(auto_tend=False) as brain:
        for url in urls:
            brain.page(url)  # raises UnknownPage before any page is pushed
        _print_tended(brain.tend(seconds, pages=list(urls) or None), as_json)


def _print_tended(done: Tended, as_json: bool) -> None:
    names = ("pushes", "payments", "swept", "released", "seconds")
    rows = [(name, getattr(done, name)) for name in names]
    rows.append(("settled", sheets.settled(done.settled, done.error_bound, done.near)))
    show.answer(done, show.sheet(rows, dataclasses.asdict(done)), as_json)


@brain_command("import")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path))
@click.option("--seed", "seeds", multiple=True, metavar="URL|ID", help="Begins here; repeatable.")
@click.option("--fetched/--unfetched", default=False, help="Pages without out-links and record (unfetched).")
@click.option("--batches/--offline", default=None, help="Not, or by Neo4j's import tool (small files are not).")
@click.option("--settle/--no-settle", default=True, help="Spread the cash at the end (yes).")
@as_json
def import_(app: App, files: tuple[Path, ...], as_json: bool, **options: Any) -> None:
    """Fill an empty brain from files.

    FILEs are edge lists ('src dst'), their pages ('id url', 'id crawled url'), both in one file, a hosts graph as of
    CommonCrawl (vertices and edges), or JSON lines as for 'report'; gzipped or not. A page with out-links has been
    fetched; without, the file decides, or --fetched. Lines that cannot be used are counted and left out. For files of
    more than a megabyte the local server is restarted on what Neo4j's import tool has made of them; settings and access
    tokens stay.
    """
    from graphbrain.files.importer import run

    with app.brain(auto_tend=False) as brain, show.share_bar() as bar:
        done = run(brain, files, data=app.data, progress=bar, say=show.say, **options)
    for why in done.first:
        show.say(f"graphbrain: left out: {why}")
    if done.refused > len(done.first):
        show.say(f"graphbrain: … {done.refused:,} left out in all.")
    show.answer(done, sheets.import_sheet, as_json)


COMMANDS = (seed, hint, work, tend, import_)
