"""The base of the verbs: the brain, threads to use it in, and the gate at which long polls wait.

`Brain` waits for its database, so each of its verbs runs in a thread. Crawlers and readers have threads of their own: a
dump that reads every page delays no claim.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import time
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager
from functools import partial
from itertools import islice
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from graphbrain.base.errors import GraphbrainError
from graphbrain.base.model import KINDS, OUTCOMES, PAGES, Claims
from graphbrain.base.runtime.fair import Turns
from graphbrain.brain.brain import Brain
from graphbrain.graph.connection import Cancellation
from graphbrain.service.access import Gatekeeper, Grant
from graphbrain.service.console.minutes import Minutes
from graphbrain.service.door import Limits
from graphbrain.service.jobs import Jobs
from graphbrain.service.metrics.meter import Meter
from graphbrain.service.metrics.sampling import Sample, Sampler
from graphbrain.service.refusals import Refusal, body_of, refusal_of
from graphbrain.service.seats import CALLER, Places

__all__ = ["Backend", "Gate", "Threads"]

T = TypeVar("T")
CRAWL_THREADS, LOOK_THREADS = 24, 8
AT_ONCE = 100
"""Items of a stream that are read in a thread at a time."""
LONGEST_NAP = 1.0
"""Seconds after which long polls look again: other processes may have brought pages."""
MOST_AT_ONCE = 64
"""Long polls that ask at a time."""
ERRORS = ("retry", "gone", "slowed")
"""Outcomes of reports that brought no page."""
SAMPLE_EVERY = 5.0
"""The least seconds between two samples of metrics, and between two scans for them: the console shows both."""
CANCEL_AGAIN = 0.5
"""Seconds between two attempts to end the transactions of a question that was cancelled."""


class Threads:
    """A pool of threads with a bounded queue, in which tokens take turns. One token may have half of the queue, and an
    eighth is reserved for operators."""

    def __init__(self, name: str, count: int, queue: int) -> None:
        self._pool = ThreadPoolExecutor(count, thread_name_prefix=f"graphbrain-{name}")
        self._places = Places(count + queue, max(count, (count + queue) // 2), queue // 8, "requests are to be done")
        self._turns: Turns[asyncio.Future[None]] = Turns()
        self._free = count

    async def run(self, work: Callable[..., T], *arguments: Any, **named: Any) -> T:
        """The result of `work`. Raises Refusal where too many wait already."""
        caller = CALLER.get()
        self._places.take(caller)
        try:
            await self._turn(caller.name)
            try:
                return await asyncio.get_running_loop().run_in_executor(self._pool, partial(work, *arguments, **named))
            finally:
                self._free += 1
                self._deal()
        finally:
            self._places.leave(caller)

    async def _turn(self, owner: str) -> None:
        """Wait for a free thread, by turns among owners."""
        turn = asyncio.get_running_loop().create_future()
        self._turns.put(owner, turn)
        self._deal()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._free += 1
                self._deal()
            raise

    def _deal(self) -> None:
        while self._free and self._turns:
            turn = self._turns.take()
            if not turn.done():
                self._free -= 1
                turn.set_result(None)

    def close(self) -> None:
        """Wait until all that is under way has ended."""
        self._pool.shutdown()


class Gate:
    """The place where long polls wait while nothing can be claimed, so that a hundred of them ask the brain no more
    than one.

    Some polls ask at a time. After an empty answer the gate is shut, until the brain expects something to be ready, or
    for a second; a report or another change through this service opens it at once. Then one poll is let in, and where
    there are pages twice as many at a time, and so on. The polls wait in the order in which they came.
    """

    def __init__(self) -> None:
        self._row: deque[asyncio.Future[None]] = deque()
        self._asking, self._most = 0, MOST_AT_ONCE
        self._shut = False
        self._opens: asyncio.TimerHandle | None = None
        self._opened = 0
        self._last_claims: Claims | None = None
        self._empty_at = 0.0

    def empty_since(self, moment: float) -> Claims | None:
        """Return the last answer of the brain when there was nothing, if that was after this moment of
        `time.monotonic`."""
        return self._last_claims if self._last_claims is not None and self._empty_at >= moment else None

    def mark(self) -> int:
        """Return a number for `shut`, which then holds only if nothing has come since."""
        return self._opened

    def shut(self, answer: Claims, seconds: float, mark: int) -> None:
        """Shut the gate for some seconds, after an empty answer, unless something has come since `mark`."""
        self._last_claims, self._empty_at = answer, time.monotonic()
        if mark != self._opened:
            return
        self._shut, self._most = True, 1
        if self._opens is not None:
            self._opens.cancel()
        nap = min(max(seconds, 0.01), LONGEST_NAP)
        self._opens = asyncio.get_running_loop().call_later(nap, self.open)

    def open(self) -> None:
        """Open it: something may be ready."""
        self._opened += 1
        self._shut = False
        if self._opens is not None:
            self._opens.cancel()
            self._opens = None
        self._admit()

    def is_shut(self) -> bool:
        """Return whether an answer was empty just now."""
        return self._shut

    async def enter(self, seconds: float, *, first: bool = False) -> bool:
        """Wait for permission to ask. Return False if there is none after so many seconds. A poll that has permission
        calls `leave` at the end. `first`: the poll has asked before, and goes before the others."""
        # Ask at once, where no other poll waits and the gate is open.
        if not self._row and self._may():
            self._asking += 1
            return True
        if seconds <= 0:
            return False
        # Wait in the row for a turn.
        turn = asyncio.get_running_loop().create_future()
        (self._row.appendleft if first else self._row.append)(turn)
        try:
            self._admit()
            await asyncio.wait({turn}, timeout=seconds)
        except asyncio.CancelledError:
            if turn.done():
                self.leave()
            turn.cancel()
            raise
        if turn.done():
            return True
        self._row.remove(turn)
        return False

    def leave(self, *, served: bool = False) -> None:
        """End the turn of a poll that was let in; `served`: it got something, so more may ask at a time."""
        self._asking -= 1
        if served:
            self._most = min(2 * self._most, MOST_AT_ONCE)
        self._admit()

    def _may(self) -> bool:
        return not self._shut and self._asking < self._most

    def _admit(self) -> None:
        while self._row and self._may():
            turn = self._row.popleft()
            if not turn.done():
                self._asking += 1
                turn.set_result(None)


class Backend:
    """One service's brain, with all that its verbs share."""

    def __init__(self, brain: Brain, limits: Limits) -> None:
        # What verbs use: the brain, its tokens, threads, gates and jobs.
        self.brain, self.limits = brain, limits
        self.keeper = Gatekeeper(brain.graph, brain.now)
        self.crawl = Threads("crawl", CRAWL_THREADS, limits.queue)
        self.look = Threads("look", LOOK_THREADS, limits.queue)
        self._gates: defaultdict[tuple[bool, frozenset[str]], Gate] = defaultdict(Gate)
        """The gates of waiting callers, by two criteria: only pages that were asked for by hand, or all; and the
        kinds."""
        self.jobs = Jobs(brain.now)
        # What watchers read: metrics, minutes and snapshots.
        self.meter = Meter(brain, sampler=Sampler(brain, SAMPLE_EVERY, SAMPLE_EVERY))
        self.minutes = Minutes()
        self.meter.on_sample(self._count)
        self.snapshots: Any = None
        """The snapshots that the console shows; made by `app`, which needs the whole of this."""
        # The places of streams and questions, and what ends them.
        self.stopping = asyncio.Event()
        each = limits.streams_of_one
        self._streams = Places(limits.streams, each, limits.streams // 8, "dumps and finds are under way")
        self._questions = Places(limits.questions, 1, 1, "questions that read every page are being answered")
        self._answering: asyncio.Task[None] | None = None
        self._keys: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def gate_of(self, now_only: bool, kinds: Collection[str] | None) -> Gate:
        """Return the gate of callers that wait for the same claims."""
        wanted = PAGES if kinds is None else frozenset(kind for kind in KINDS if kind in kinds)
        return self._gates[now_only, wanted]

    def wake(self) -> None:
        """Open all gates: something may be ready for any caller that waits."""
        for gate in self._gates.values():
            gate.open()

    def _count(self, sample: Sample) -> None:
        """Put a sample's counters where minutes are made of them."""
        if sample.at is not None and sample.counted is not None:
            reports = dict(zip(OUTCOMES, sample.counted.reports, strict=True))
            self.minutes.add(sample.at, sample.counted.counts[0], sum(reports[outcome] for outcome in ERRORS))

    def stop(self) -> None:
        """End long polls and streams: the service goes down."""
        self.stopping.set()
        self.wake()

    async def answers(self) -> None:
        """Ask the database for something small, once for all who want to know. Raises GraphbrainError."""

        async def ask() -> None:
            graph = self.brain.graph
            await asyncio.to_thread(graph.read, lambda tx: tx.one("brain/clock"), "brain/clock", patient=False)

        if self._answering is None or self._answering.done():
            self._answering = asyncio.create_task(ask())
        await asyncio.shield(self._answering)

    def close(self) -> None:
        """End the threads and the sampling, after all requests have ended."""
        self.meter.close()
        self.crawl.close()
        self.look.close()

    def many(self, count: int, what: str) -> None:
        """Raises Refusal for more items than one request may have."""
        if count > self.limits.items:
            raise Refusal(
                400,
                "TooMany",
                f"At most {self.limits.items:,} {what} in one request, not {count:,}; send parts.",
            )

    @staticmethod
    def own_key(grant: Grant, key: str | None) -> str | None:
        """The idempotency key as the brain knows it: those of two tokens never meet."""
        return None if key is None else hashlib.sha256(f"{grant.name}\n{key}".encode()).hexdigest()

    def alone(self, key: str | None) -> AbstractAsyncContextManager[None]:
        """Return the block in which only one request of this key is answered at a time in this process."""
        return contextlib.nullcontext() if key is None else self._keys.setdefault(key, asyncio.Lock())

    async def answer(self, disconnected: Awaitable[object], work: Callable[[], T], *, heavy: bool) -> T:
        """Return the result of `work`, which reads the graph.

        Its transactions end at the time limit, and when the caller has `disconnected`. `heavy`: it reads every page.
        Raises Cancelled and Refusal.
        """
        # Take a place among the questions that read every page.
        caller = CALLER.get()
        if heavy:
            self._questions.take(caller)
        try:
            # Read in a thread, in transactions that can be ended.
            cancellation = Cancellation(self.limits.question_seconds)

            def within() -> T:
                with self.brain.graph.cancelled_by(cancellation):
                    return work()

            # Wait for the answer, or until it is no longer wanted.
            answering = asyncio.create_task(self.look.run(within))
            ends = [asyncio.ensure_future(disconnected), asyncio.ensure_future(self.stopping.wait())]
            try:
                await asyncio.wait({answering, *ends}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for end in ends:
                    end.cancel()
                await self._end(answering, cancellation)
            return answering.result()
        finally:
            if heavy:
                self._questions.leave(caller)

    async def _end(self, answering: asyncio.Task[Any], cancellation: Cancellation) -> None:
        """Wait for an answer that is no longer wanted. Its thread may be between two transactions, so those that are
        under way are ended until it has stopped."""
        cancellation.cancel()
        while not answering.done():
            with contextlib.suppress(GraphbrainError):
                await asyncio.to_thread(self.brain.graph.terminate, cancellation)
            await asyncio.wait({answering}, timeout=CANCEL_AGAIN)

    async def stream(self, make: Callable[[], Iterator[T]], line: Callable[[T], bytes]) -> AsyncIterator[bytes]:
        """Yield the lines of a verb's iterator, read in parts as the reader proceeds. An error of the request is raised
        at once, before the first line."""
        caller = CALLER.get()
        self._streams.take(caller)
        try:
            items = await self.look.run(make)
            part = await self._part(items)
        except BaseException:
            self._streams.leave(caller)
            raise
        return self._lines(items, part, line, caller)

    async def _part(self, items: Iterator[T]) -> list[T]:
        return await self.look.run(lambda: list(islice(items, AT_ONCE)))

    async def _lines(
        self, items: Iterator[T], part: list[T], line: Callable[[T], bytes], caller: Grant
    ) -> AsyncIterator[bytes]:
        """An error in the middle is the last line: the status was sent long ago."""
        until = time.monotonic() + self.limits.stream_seconds
        try:
            while part:
                yield b"".join(line(item) for item in part)
                if len(part) < AT_ONCE:
                    return
                self._go_on(until)
                part = await self._part(items)
        except GraphbrainError as error:
            yield body_of(refusal_of(error)) + b"\n"
        except Refusal as refusal:
            yield body_of(refusal) + b"\n"
        finally:
            self._streams.leave(caller)

    def _go_on(self, until: float) -> None:
        """Raises Refusal where a stream must end before its end."""
        if self.stopping.is_set():
            raise Refusal(503, "Stopping", "The service stops; this is not all.", try_again=True)
        if time.monotonic() > until:
            seconds = self.limits.stream_seconds
            raise Refusal(503, "TimedOut", f"It took more than {seconds:g} s; this is not all.", try_again=True)
