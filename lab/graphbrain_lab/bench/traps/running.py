"""Crawls of generated sites by one process or several that share a brain, and what share of their fetches was worth it.

A crawl fetches as many pages as a third of the site's real ones, in batches of ten, without delay, by the calls that a
crawler makes, in simulated time. It runs in processes of its own, each of which builds the site by its seed.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field
from queue import SimpleQueue
from subprocess import Popen
from typing import Any

from graphbrain.base.errors import BadInput, GraphbrainError
from graphbrain.brain.brain import Brain
from graphbrain.brain.workers import send_order, spawned
from graphbrain_lab.bench.traps.shapes import SHAPES, TrapShape, site_of
from graphbrain_lab.simulate.on_graph import SimulatedClock

__all__ = ["BATCH", "PART", "Met", "TrapCrawl", "TrapCrew", "TrapTrial", "crawl", "run"]

BATCH = 10
TURN = 0.2
"""Simulated seconds from one turn to the next: as long as ten fetches take by two processes on a quiet machine."""
PART = 3
"""The number of real pages per fetch: a crawl of a site with n real pages ends after n / PART fetches."""
EMPTY = 20
"""The number of empty calls in a row after which a crawl ends, too."""
FEWEST = 60
"""The least number of real pages of a site."""
Met = tuple[str, bool, Sequence[str]]
"""A page that was fetched: its URL, whether it is real, and the made-up pages that it names; in normal form."""


@dataclass(frozen=True, slots=True)
class TrapTrial:
    """One crawl: of which site, under which order and value, by how many processes."""

    shape: str
    seed: int
    pages: int
    order: str
    value: str
    processes: int

    @property
    def kind(self) -> TrapShape:
        return SHAPES[self.shape]


@dataclass(slots=True)
class TrapCrawl:
    """The result of a crawl.

    Attributes:
        fetched: All pages.
        real: Different real pages.
        own: The real pages of the part which looks like a trap.
        waited: The largest number of trap pages that were known and not fetched at once.
    """

    trial: TrapTrial
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


@dataclass(slots=True)
class _Known:
    """The pages of a site that a crawl has found."""

    real: set[str] = field(default_factory=set)
    traps: set[str] = field(default_factory=set)
    fetched_traps: set[str] = field(default_factory=set)

    def add(self, url: str, real: bool, traps: Sequence[str]) -> int:
        """Add a fetched page and the made-up pages that it names. Return how many of these wait."""
        (self.real if real else self.fetched_traps).add(url)
        self.traps.update(traps)
        return len(self.traps - self.fetched_traps)


class TrapCrew:
    """Processes that crawl, from the beginning to the end of a block, and a thread for each that asks it for turns."""

    def __init__(self, processes: int) -> None:
        self.members = [spawned("graphbrain_lab.bench.traps.member") for _ in range(processes)]
        self._idle = SimpleQueue[Popen[str]]()
        self._threads = ThreadPoolExecutor(processes)
        for member in self.members:
            self._idle.put(member)

    def __enter__(self) -> TrapCrew:
        return self

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown(cancel_futures=True)
        for member in self.members:
            with suppress(OSError):  # it has died, with an order that it did not read
                member.stdin.close()  # type: ignore[union-attr]  # which ends it
            with member:
                pass  # waits

    def turn(self, order: Mapping[str, Any]) -> Future[list[Met]]:
        """Have the next free process take a turn. Raises GraphbrainError, in the future, where it cannot."""
        return self._threads.submit(self._ask, order)

    def _ask(self, order: Mapping[str, Any]) -> list[Met]:
        member = self._idle.get()
        try:
            send_order(member, order)
            line = member.stdout.readline()  # type: ignore[union-attr]
        finally:
            self._idle.put(member)
        if not line:
            raise GraphbrainError("A process that crawled has died: see whether the machine is out of memory.")
        answer = json.loads(line)
        if "error" in answer:
            raise GraphbrainError(answer["error"])
        return [(url, real, traps) for url, real, traps in answer["met"]]


def crawl(
    trial: TrapTrial,
    brain: Brain,
    crew: TrapCrew,
    connect: Mapping[str, Any],
    *,
    number: int = 0,
    progress: Callable[[int, int], None] = lambda *_: None,
    stop: Callable[[], bool] = lambda: False,
) -> TrapCrawl | None:
    """Crawl a site with a brain that is emptied before; None where it was stopped. `connect`: what `Brain.open` takes
    to open the same brain. `number`: a new one for each crawl of a crew. Raises SettingsError for a value that is
    none."""
    began, site = time.monotonic(), site_of(trial.shape, trial.seed, trial.pages)
    brain.clear()
    brain.remake(delay_seconds=0.0, order=trial.order, value=trial.value)
    brain.seed([site.start])
    order = {"connect": dict(connect), "crawl": number, "shape": trial.shape, "seed": trial.seed, "pages": trial.pages}
    done, known = TrapCrawl(trial, len(site.nodes) // PART), _Known()
    clock = SimulatedClock(brain.now())
    asked, empty, out = 0, 0, dict[Future[list[Met]], int]()
    while not stop():
        while len(out) < trial.processes and asked < done.wanted and empty < EMPTY:
            count = min(BATCH, done.wanted - asked)
            out[crew.turn({**order, "count": count, "at": clock()})] = count
            clock.at += TURN
            asked += count
        if not out:
            break
        for future in wait(out, return_when=FIRST_COMPLETED).done:
            met, count = future.result(), out.pop(future)
            asked -= count - len(met)
            empty = 0 if met else empty + 1
            done.fetched += len(met)
            done.waited = max([done.waited, *(known.add(*each) for each in met)])
        progress(done.fetched, done.wanted)
    wait(out)
    done.real, done.own = len(known.real), len(known.real & site.own)
    done.seconds = time.monotonic() - began
    return None if stop() else done


def run(
    trials: Sequence[TrapTrial],
    brain: Brain,
    connect: Mapping[str, Any],
    *,
    progress: Callable[[str, int, int], None] = lambda *_: None,
    stop: Callable[[], bool] = lambda: False,
) -> Iterator[TrapCrawl]:
    """The crawls one after another, until it is stopped. Raises BadInput for a site of fewer than `FEWEST` pages."""
    if not trials:
        return
    if (fewest := min(trial.pages for trial in trials)) < FEWEST:
        raise BadInput(f"A site has at least {FEWEST} real pages, not {fewest}.")
    with TrapCrew(max(trial.processes for trial in trials)) as crew:
        for number, trial in enumerate(trials):
            name = f"{trial.shape}, seed {trial.seed} ({number + 1} of {len(trials)})"

            def says(done: int, of: int, name: str = name) -> None:
                progress(name, done, of)

            done = crawl(trial, brain, crew, connect, number=number, progress=says, stop=stop)
            if done is None:
                return
            yield done
