"""Crawls of generated sites by one process or several that share a brain, and what share of their fetches was worth it.

A crawl fetches as many pages as a third of the site's real ones, in batches of ten, without delay, by the calls that a
crawler makes. It runs in processes of its own, each of which builds the site by its seed.
"""

from __future__ import annotations

import multiprocessing
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from graphbrain.bench.traps.reader import visit
from graphbrain.bench.traps.shapes import SHAPES, Shape, site_of
from graphbrain.bench.traps.site import Site
from graphbrain.brain.brain import Brain
from graphbrain.errors import BadInput
from graphbrain.model import Fetched, Link
from graphbrain.url import normal

__all__ = ["BATCH", "PART", "Crawled", "Trial", "crawl", "crew", "run"]

BATCH = 10
PART = 3
"""A crawl ends after one fetch for so many real pages."""
EMPTY = 20
"""It ends, too, when so many calls in a row have brought nothing."""
PAUSE = 0.05
FEWEST = 60
"""Real pages of a site at the least."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One crawl: of which site, under which order and value, by how many processes."""

    shape: str
    seed: int
    pages: int
    order: str
    value: str
    processes: int

    @property
    def kind(self) -> Shape:
        """What site it is."""
        return SHAPES[self.shape]


@dataclass(slots=True)
class Crawled:
    """What a crawl has fetched.

    `real`: different real pages; `own`: those of them that are of the part which looks like a trap; `waited`: the most
    trap pages that were known and not fetched at once.
    """

    trial: Trial
    wanted: int
    fetched: int = 0
    real: int = 0
    own: int = 0
    waited: int = 0
    seconds: float = 0.0

    @property
    def share(self) -> float:
        """The part of the fetches that brought a real page."""
        return self.real / self.fetched if self.fetched else 0.0


@dataclass(frozen=True, slots=True)
class _Job:
    """What a process of the crew is to work on. `number`: a new one for each crawl, for which the brain is opened anew."""

    number: int
    connect: Mapping[str, Any]
    trial: Trial


@dataclass(frozen=True, slots=True)
class _Met:
    """A page that was fetched, and the pages that it names, which were made up; all in normal form."""

    url: str
    real: bool
    traps: Sequence[str]


@dataclass(slots=True)
class _Known:
    """What a crawl has come to know of a site."""

    real: set[str] = field(default_factory=set)
    traps: set[str] = field(default_factory=set)
    fetched_traps: set[str] = field(default_factory=set)

    def add(self, met: _Met) -> int:
        """Take in a page that was fetched; how many trap pages wait."""
        (self.real if met.real else self.fetched_traps).add(met.url)
        self.traps.update(met.traps)
        return len(self.traps - self.fetched_traps)


# ------------------------------------------------------------ in the processes of the crew

_brains: dict[int, Brain] = {}


def _quiet() -> None:
    """Ctrl-C is for the process that has started this one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@lru_cache(1)
def _site(shape: str, seed: int, pages: int) -> Site:
    return site_of(shape, seed, pages)


def _brain(job: _Job) -> Brain:
    if job.number not in _brains:
        while _brains:
            _brains.popitem()[1].close()
        _brains[job.number] = Brain.open(**job.connect, as_it_is=True)
    return _brains[job.number]


def _turn(job: _Job, count: int) -> list[_Met]:
    """Claim so many pages, and report them."""
    site, brain = _site(job.trial.shape, job.trial.seed, job.trial.pages), _brain(job)
    reports = [visit(site, claim) for claim in brain.next_urls(count, wait=PAUSE)]
    brain.report(reports)
    return [
        _Met(report.url, report.url in site.nodes, _traps(site, report) if isinstance(report, Fetched) else ())
        for report in reports
    ]


def _traps(site: Site, report: Fetched) -> list[str]:
    urls = {normal(link.url if isinstance(link, Link) else link) for link in report.links}
    return sorted(urls - site.nodes.keys())


# ------------------------------------------------------------ in the process that measures


@contextmanager
def crew(processes: int) -> Iterator[ProcessPoolExecutor]:
    """So many processes that crawl, until the end of the block."""
    fresh = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(processes, mp_context=fresh, initializer=_quiet)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def crawl(
    trial: Trial,
    brain: Brain,
    pool: ProcessPoolExecutor,
    connect: Mapping[str, Any],
    *,
    number: int = 0,
    progress: Callable[[int, int], None] = lambda *_: None,
    stop: Callable[[], bool] = lambda: False,
) -> Crawled | None:
    """Crawl a site with a brain that is emptied before; None where it was stopped. `connect`: what `Brain.open` takes to
    open the same brain. Raises BadInput for a site of fewer than `FEWEST` pages, SettingsError for a value that is
    none."""
    if trial.pages < FEWEST:
        raise BadInput(f"A site has at least {FEWEST} real pages, not {trial.pages}.")
    began, site = time.monotonic(), site_of(trial.shape, trial.seed, trial.pages)
    brain.clear()
    brain.remake(delay_seconds=0.0, order=trial.order, value=trial.value)
    brain.seed([site.start])
    done, known, job = Crawled(trial, len(site.nodes) // PART), _Known(), _Job(number, connect, trial)
    asked, empty, out = 0, 0, dict[Future[list[_Met]], int]()
    while not stop():
        while len(out) < trial.processes and asked < done.wanted and empty < EMPTY:
            count = min(BATCH, done.wanted - asked)
            out[pool.submit(_turn, job, count)] = count
            asked += count
        if not out:
            break
        for future in wait(out, return_when=FIRST_COMPLETED).done:
            met, count = future.result(), out.pop(future)
            asked -= count - len(met)
            empty = 0 if met else empty + 1
            done.fetched += len(met)
            for each in met:
                done.waited = max(done.waited, known.add(each))
        progress(done.fetched, done.wanted)
    wait(out)
    done.real, done.own = len(known.real), len(known.real & site.own)
    done.seconds = time.monotonic() - began
    return None if stop() else done


def run(
    trials: Sequence[Trial],
    brain: Brain,
    connect: Mapping[str, Any],
    *,
    progress: Callable[[str, int, int], None] = lambda *_: None,
    stop: Callable[[], bool] = lambda: False,
) -> Iterator[Crawled]:
    """The crawls one after another, until it is stopped."""
    if not trials:
        return
    with crew(max(trial.processes for trial in trials)) as pool:
        for number, trial in enumerate(trials):
            name = f"{trial.shape}, seed {trial.seed} ({number + 1} of {len(trials)})"

            def says(done: int, of: int, name: str = name) -> None:
                progress(name, done, of)

            done = crawl(trial, brain, pool, connect, number=number, progress=says, stop=stop)
            if done is None:
                return
            yield done
