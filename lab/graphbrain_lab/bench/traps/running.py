"""Crawls of generated sites by processes that share a brain, and the share of their fetches that brought real pages.

A crawl fetches a third as many pages as the site has real ones, in batches of ten, without delay, by the calls of a
crawler, in simulated time. It runs in separate processes, each of which builds the site from its seed.
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
"""Simulated seconds from one turn to the next: the time of ten fetches by two processes on a quiet machine."""
PART = 3
"""The number of real pages per fetch: a crawl of a site with n real pages ends after n / PART fetches."""
EMPTY = 20
"""A crawl also ends after this number of empty calls in a row."""
FEWEST = 60
"""The least number of real pages of a site."""
Met = tuple[str, bool, Sequence[str]]
"""A fetched page: its URL, whether it is real, and the URLs of the made-up pages that it names, in normal form."""


@dataclass(frozen=True, slots=True)
class TrapTrial:
    """The arguments of one crawl: the site, the order, the value, and the number of processes."""

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
        wanted: The number of fetches after which it ends.
        fetched: The number of fetches.
        real: The number of different real pages that were fetched.
        own: The number of these that are in the part that looks like a trap.
        waited: The largest number of known and unfetched trap pages at any time.
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
        """Return the share of the fetches that brought a real page."""
        return self.real / self.fetched if self.fetched else 0.0


@dataclass(slots=True)
class _Known:
    """The pages of a site that a crawl has found."""

    real: set[str] = field(default_factory=set)
    traps: set[str] = field(default_factory=set)
    fetched_traps: set[str] = field(default_factory=set)

    def add(self, url: str, real: bool, traps: Sequence[str]) -> int:
        """Add a fetched page and the made-up pages that it names. Return the number of trap pages that wait."""
        (self.real if real else self.fetched_traps).add(url)
        self.traps.update(traps)
        return len(self.traps - self.fetched_traps)


class TrapCrew:
    """Processes that crawl, and a thread for each that orders its turns. They end with the block."""

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
            with suppress(OSError):  # the process has died, with an order that it did not read
                member.stdin.close()  # type: ignore[union-attr]  # which ends it
            with member:
                pass  # the end of the block waits for the process

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
    """Empty the brain, and crawl a site with it. Return None if `stop` returned True.

    Args:
        trial: The arguments of the crawl.
        brain: The brain.
        crew: The processes.
        connect: The arguments of `Brain.open` for the same brain.
        number: A number that no other crawl of the crew has.
        progress: Is called with the fetches done and the fetches in all.
        stop: Ends the crawl.

    Raises:
        SettingsError: The value is invalid.
    """
    # Prepare the brain and the site.
    began, site = time.monotonic(), site_of(trial.shape, trial.seed, trial.pages)
    brain.clear()
    brain.remake(delay_seconds=0.0, order=trial.order, value=trial.value)
    brain.seed([site.start])
    order = {"connect": dict(connect), "crawl": number, "shape": trial.shape, "seed": trial.seed, "pages": trial.pages}
    done, known = TrapCrawl(trial, len(site.nodes) // PART), _Known()
    clock = SimulatedClock(brain.now())
    ordered, empty, turns = 0, 0, dict[Future[list[Met]], int]()
    while not stop():
        # Order a turn from each idle process, and collect the results.
        while len(turns) < trial.processes and ordered < done.wanted and empty < EMPTY:
            count = min(BATCH, done.wanted - ordered)
            turns[crew.turn({**order, "count": count, "at": clock()})] = count
            clock.at += TURN
            ordered += count
        if not turns:
            break
        for future in wait(turns, return_when=FIRST_COMPLETED).done:
            met, count = future.result(), turns.pop(future)
            ordered -= count - len(met)
            empty = 0 if met else empty + 1
            done.fetched += len(met)
            done.waited = max([done.waited, *(known.add(*each) for each in met)])
        progress(done.fetched, done.wanted)
    wait(turns)
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
    """Yield the crawls one after another until `stop` returns True. Raise BadInput for a site of fewer than `FEWEST`
    pages."""
    # Refuse sites that are too small.
    if not trials:
        return
    if (fewest := min(trial.pages for trial in trials)) < FEWEST:
        raise BadInput(f"A site has at least {FEWEST} real pages, not {fewest}.")
    # All crawls use the same processes.
    with TrapCrew(max(trial.processes for trial in trials)) as crew:
        for number, trial in enumerate(trials):
            name = f"{trial.shape}, seed {trial.seed} ({number + 1} of {len(trials)})"

            def on_progress(done: int, of: int, name: str = name) -> None:
                progress(name, done, of)

            done = crawl(trial, brain, crew, connect, number=number, progress=on_progress, stop=stop)
            if done is None:
                return
            yield done
