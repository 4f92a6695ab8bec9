"""The replay of a recorded crawl through the public client, with the calls of a crawler.

The replay calls `next_urls`, looks up the recorded links of each page and calls `report`, until the brain reports that
the crawl is finished. Every page that the seeds reach has then been reported once. Then the accounts are settled. After
an interruption, the next run continues at the same place, because the whole state is in the graph.

A page that was only recorded as the target of a link answers as a page without links. A 404 would be tried again for
days, and would lower the page's relevance, which is not recorded.
"""

from __future__ import annotations

import dataclasses
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from graphbrain.base.errors import BadInput, UnknownPage
from graphbrain.base.model import Answer, Claim, Claims, Fetched
from graphbrain.base.runtime.memory import peak_bytes
from graphbrain.brain.workers import WorkerPool, to_stderr
from graphbrain_lab.recording import Recording

if TYPE_CHECKING:
    from graphbrain.brain.brain import Brain

__all__ = ["ReplayProgress", "ReplayResult", "replay", "stoppable"]

PATIENCE = 600.0
"""The longest wait for the next page, in seconds."""
LOOKED_UP = 20
"""The number of seeds that are looked up in a brain with pages. If the brain has one of them, the replay continues."""


@dataclass(frozen=True, slots=True)
class ReplayProgress:
    """The state of a replay: its phase, `pages` of `total` reported, and `links` reported."""

    phase: Literal["crawl", "settle"]
    pages: int
    total: int
    links: int


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """The result of a replay, and its speed.

    Attributes:
        complete: True if no page was left to fetch.
        pages: Pages reported and accepted in this run.
        links: Their links, as recorded.
        known_pages: Pages in the graph at the end.
        known_links: Links in the graph at the end.
        refused: Reports and seeds that were refused.
        links_refused: Links that were refused, or beyond the limit of a page.
        pushes: Pushes of all processes during the replay.
        payments: Payments of all processes during the replay.
        retries: Repeated transactions of all processes during the replay.
        seconds: Seconds in all.
        ingest_seconds: Seconds from the seeds to the last report.
        claim_seconds: The part of `ingest_seconds` in `next_urls`.
        report_seconds: The part of `ingest_seconds` in `report`.
        settle_seconds: Seconds after the last report.
        links_per_second: Links per second of `ingest_seconds`.
        pages_per_second: Pages per second of `ingest_seconds`.
        claims_per_second: Claims per second of `claim_seconds`.
        payments_per_second: Payments per second of `seconds`.
        next_ms: Median and 99th percentile, in ms, of one `next_urls` in the first and in the last tenth of the pages.
        client_memory: The peak of this process in bytes.
        server_memory: The memory of the server at the end, in bytes; None if not known.
        server_disk: The disk space of the server in bytes; None if not known.
    """

    recording: str
    complete: bool
    settled: bool
    error_bound: float | None
    near: bool
    interrupted: bool
    pages: int
    links: int
    known_pages: int
    known_links: int
    refused: int
    links_refused: int
    pushes: int
    payments: int
    retries: int
    workers: int
    batch: int
    seconds: float
    ingest_seconds: float
    claim_seconds: float
    report_seconds: float
    settle_seconds: float
    links_per_second: float
    pages_per_second: float
    claims_per_second: float
    payments_per_second: float
    next_ms: dict[str, float]
    client_memory: int
    server_memory: int | None
    server_disk: int | None

    def as_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)


def replay(
    brain: Brain,
    recording: Recording,
    *,
    seeds: Sequence[int] | None = None,
    workers: int = 0,
    batch: int = 200,
    limit: int | None = None,
    settle: bool = True,
    progress: Callable[[ReplayProgress], None] = lambda _: None,
    say: Callable[[str], None] = to_stderr,
    data: Path | None = None,
    stop: threading.Event | None = None,
    reported: Callable[[Sequence[int]], None] = lambda _: None,
) -> ReplayResult:
    """Crawl `recording` with `brain` until nothing is left or `limit` pages are reported; then settle.

    The brain keeps its settings (order, delay, eps, …). Ctrl-C ends the replay after the present batch: claims without
    a report are given back, and the result has `interrupted`.

    Args:
        brain: An empty brain, or one with a part of this crawl.
        recording: The crawl.
        seeds: Page numbers; None for `recording.seeds()`.
        workers: Number of processes that tend beside it.
        batch: Pages claimed and reported at a time.
        limit: Pages reported at most.
        settle: Settle the accounts at the end.
        progress: Called with the state after each batch.
        say: Called with messages for the user.
        data: The local server's directory, for its memory and disk.
        stop: Ends the replay when it is set. The caller then handles Ctrl-C.
        reported: Called with the page numbers of each batch after its report.

    Raises:
        BadInput: The brain has another crawl, or a claim is of a page that is not in the recording.
    """
    # Ctrl-C sets the event of the run, unless the caller handles it.
    run = _Run(brain, recording, batch, limit, progress, say, stop or threading.Event(), reported)
    with nullcontext() if stop else stoppable(run.stop), WorkerPool.beside(brain, workers) as pool:
        stats, begin = brain.stats(), list(recording.seeds() if seeds is None else seeds)
        before = _counts(stats)
        # Run the phases, and note their times.
        if sum(stats["states"].values()):
            run.check(begin)
        run.mark("began")
        run.seed(begin)
        run.mark("seeded")
        run.crawl()
        run.mark("crawled")
        if settle:
            run.settle()
        run.mark("settled")
        if pool.failed:
            say(f"The workers could not work: {pool.failed}")
    return _result(run, workers, before, data)


def _result(run: _Run, workers: int, before: dict[str, int], data: Path | None) -> ReplayResult:
    # Read the counters at the end.
    stats = run.brain.stats()
    after = _counts(stats)
    memory, disk = _server_size(run.brain.settings.uri, data)
    ingest, seconds = run.between("seeded", "crawled"), run.between("began", "settled")
    payments = after["payments"] - before["payments"]
    # Put the figures together.
    return ReplayResult(
        recording=run.recording.name,
        complete=run.complete,
        settled=run.settled,
        error_bound=run.error_bound,
        near=run.near,
        interrupted=run.stop.is_set(),
        pages=run.pages,
        links=run.links,
        known_pages=sum(stats["states"].values()),
        known_links=stats["links"],
        refused=run.refused,
        links_refused=run.links_refused,
        pushes=after["pushes"] - before["pushes"],
        payments=payments,
        retries=after["retries"] - before["retries"],
        workers=workers,
        batch=run.batch,
        seconds=seconds,
        ingest_seconds=ingest,
        claim_seconds=run.claim_seconds,
        report_seconds=run.report_seconds,
        settle_seconds=run.between("crawled", "settled"),
        links_per_second=_rate(run.links, ingest),
        pages_per_second=_rate(run.pages, ingest),
        claims_per_second=_rate(run.claimed, run.claim_seconds),
        payments_per_second=_rate(payments, seconds),
        next_ms=_tenths(run.calls),
        client_memory=peak_bytes(),
        server_memory=memory,
        server_disk=disk,
    )


@dataclass
class _Run:
    brain: Brain
    recording: Recording
    batch: int
    limit: int | None
    progress: Callable[[ReplayProgress], None]
    say: Callable[[str], None]
    stop: threading.Event
    reported: Callable[[Sequence[int]], None]
    complete: bool = False
    settled: bool = False
    error_bound: float | None = None
    near: bool = True
    total: int = 0
    pages: int = 0
    links: int = 0
    claimed: int = 0
    refused: int = 0
    links_refused: int = 0
    claim_seconds: float = 0.0
    report_seconds: float = 0.0
    calls: list[tuple[int, float]] = field(default_factory=list)  # pages claimed before, seconds
    marks: dict[str, float] = field(default_factory=dict)

    def mark(self, name: str) -> None:
        self.marks[name] = time.perf_counter()

    def between(self, first: str, second: str) -> float:
        return self.marks[second] - self.marks[first]

    def check(self, seeds: Sequence[int]) -> None:
        """Raise BadInput if a brain with pages has another crawl."""
        if not any(self._is_known(page) for page in seeds[:LOOKED_UP]):
            raise BadInput(
                f"The brain holds another crawl than {self.recording.name}: replay into an empty brain "
                "('graphbrain clear')."
            )

    def _is_known(self, page: int) -> bool:
        with suppress(UnknownPage):
            return bool(self.brain.page(self.recording.urls[page]))
        return False

    def seed(self, pages: Sequence[int]) -> None:
        """Seed the brain with these pages. It ignores seeds that it has already."""
        answer = self.brain.seed([self.recording.urls[page] for page in pages])
        self.refused += len(answer.refused)
        for url, reason in answer.refused[:1]:
            self.say(f"The seed {url} is refused: {reason}.")
        left = int(self.recording.reachable(pages).sum()) - _fetched(self.brain.stats())
        self.total = max(left if self.limit is None else min(left, self.limit), 0)

    def crawl(self) -> None:
        """Claim, look up and report, until no page is left, the limit is reached, or the run is stopped."""
        waiting = False
        self.progress(ReplayProgress("crawl", 0, self.total, 0))
        while not self.stop.is_set() and (self.limit is None or self.pages < self.limit):
            claims = self.next(wait=0.5 if waiting else 0.0)
            waiting = not claims
            if claims:
                self.report(claims)
            elif claims.finished:
                self.complete = True
                return
            elif claims.next_ready is not None and claims.next_ready > self.brain.now() + PATIENCE:
                self.say("The pages that are left are not due for more than ten minutes.")
                return

    def next(self, wait: float) -> Claims:
        want = self.batch if self.limit is None else min(self.batch, self.limit - self.pages)
        began = time.perf_counter()
        claims = self.brain.next_urls(want, wait=wait)
        passed = time.perf_counter() - began
        if claims:
            self.calls.append((self.claimed, passed))
            self.claim_seconds += passed
            self.claimed += len(claims)
        return claims

    def report(self, claims: Claims) -> None:
        """Report the recorded links of the claimed pages. Give the claims back if that fails."""
        try:
            items = [self.fetched(claim) for claim in claims]
            if self.stop.is_set():
                self.brain.give_back(claims)
                return
            began = time.perf_counter()
            answers = self.brain.report(items)
            self.report_seconds += time.perf_counter() - began
        except BaseException:
            with suppress(Exception):  # the first error is raised
                self.brain.give_back(claims)
            raise
        # Count what was accepted, and publish the progress.
        for item, answer in zip(items, answers, strict=True):
            self.count(item, answer)
        taken = [item.url for item, answer in zip(items, answers, strict=True) if answer.accepted]
        self.reported([self.recording.index[url] for url in taken])
        self.progress(ReplayProgress("crawl", self.pages, self.total, self.links))

    def fetched(self, claim: Claim) -> Fetched:
        """Return the report of a crawler that fetched this page. Its body is the same at each visit."""
        page = self.recording.index.get(claim.url)
        if page is None:
            raise BadInput(
                f"The brain returned a claim of {claim.url}, which is not in {self.recording.name}: "
                "replay into an empty brain (`graphbrain clear --yes` empties this one)."
            )
        links = self.recording.links_of(page)
        return Fetched(claim.url, links, claim, body_hash=f"recorded-{self.recording.ids[page]}")

    def count(self, item: Fetched, answer: Answer) -> None:
        if not answer.accepted:
            if not self.refused:
                self.say(f"The report of {item.url} is refused: {answer.reason}.")
            self.refused += 1
            return
        self.pages += 1
        self.links += len(item.links)
        self.links_refused += len(answer.links_refused) + answer.links_over

    def settle(self) -> None:
        """Tend until no push is worth it, or the run is stopped."""
        self.progress(ReplayProgress("settle", self.pages, self.total, self.links))
        self.brain.settle(if_cheaper=True, stop=self.stop.is_set)
        while not self.stop.is_set() and not self.settled:
            self.progress(ReplayProgress("settle", self.pages, self.total, self.links))
            self.settled = self.brain.tend(1.0, stop=self.stop.is_set).settled
        if self.settled:
            done = self.brain.tend(None, stop=self.stop.is_set)
            self.settled, self.error_bound, self.near = done.settled, done.error_bound, done.near


@contextmanager
def stoppable(stop: threading.Event) -> Iterator[None]:
    """Let the first Ctrl-C in the block set `stop`. A second one interrupts at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def once(*_: object) -> None:
        stop.set()
        signal.signal(signal.SIGINT, before)

    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, once)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


_COUNTED = ("pushes", "payments", "retries")


def _counts(stats: dict[str, Any]) -> dict[str, int]:
    """Return the counters of all workers. Those of a worker process are complete after its end."""
    return {name: int(stats["done"][name]) for name in _COUNTED}


def _fetched(stats: dict[str, Any]) -> int:
    """Return the number of pages that have been fetched."""
    return sum(int(stats["states"].get(state, 0)) for state in ("known", "alias", "gone"))


def _rate(number: int, seconds: float) -> float:
    return number / seconds if seconds > 0 else 0.0


def _tenths(calls: Sequence[tuple[int, float]]) -> dict[str, float]:
    """Return the median and the 99th percentile, in ms, of the calls in the first and last tenth of the pages."""
    import numpy as np

    if not calls:
        return {}
    last = calls[-1][0]
    first_tenth = [seconds for at, seconds in calls if at <= last / 10]
    last_tenth = [seconds for at, seconds in calls if at >= last * 9 / 10]
    return {
        f"{name}_p{share}": float(np.percentile(tenth, share)) * 1000
        for name, tenth in (("first", first_tenth), ("last", last_tenth))
        for share in (50, 99)
    }


def _server_size(uri: str, data: Path | None) -> tuple[int | None, int | None]:
    """Return the resident memory and the disk space of the local server in bytes, if its address is `uri`."""
    from graphbrain.graph.server import lifecycle

    server = lifecycle.find(data)
    if server is None or (uri and server.uri != uri):
        return None, None
    status = lifecycle.status(data)
    return status.memory, status.disk
