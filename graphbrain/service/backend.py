"""What stands behind the verbs: the brain, threads to use it in, and the gate at which long polls wait.

`Brain` waits for its database, so each of its verbs runs in a thread. Crawlers and those who look have threads of their
own: a dump that reads every page holds no claim up.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
import time
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from graphbrain.brain.brain import Brain
from graphbrain.errors import GraphbrainError
from graphbrain.metrics.meter import Meter
from graphbrain.model import Claims
from graphbrain.service.access import Gatekeeper, Grant
from graphbrain.service.door import Limits
from graphbrain.service.jobs import Jobs
from graphbrain.service.refusals import Refusal, body_of, refusal_of

__all__ = ["Backend", "Gate", "Threads"]

T = TypeVar("T")
CRAWL_THREADS, LOOK_THREADS = 24, 8
AT_ONCE = 100
"""Items of a stream that are read in a thread at a time."""
LONGEST_NAP = 1.0
"""Seconds after which long polls look again: other processes may have brought pages."""


class Threads:
    """Some threads and a queue before them, which ends."""

    def __init__(self, name: str, count: int, queue: int) -> None:
        self._pool = ThreadPoolExecutor(count, thread_name_prefix=f"graphbrain-{name}")
        self._most, self._under_way = count + queue, 0

    async def run(self, work: Callable[..., T], *arguments: Any, **named: Any) -> T:
        """The result of `work`. Raises Refusal where too many wait already."""
        if self._under_way >= self._most:
            raise Refusal(503, "Busy", "The service has too much to do; try again.", try_again=True)
        self._under_way += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, partial(work, *arguments, **named))
        finally:
            self._under_way -= 1

    def close(self) -> None:
        """Wait until all that is under way has ended."""
        self._pool.shutdown()


class Gate:
    """Where long polls wait while nothing can be claimed, so that a hundred of them ask the brain no more than one.

    They stand in a row: whoever has the `turn` waits for the gate, and asks. It is shut when somebody was handed
    nothing, until the brain says that something will be ready, or for a second; what this service itself is told opens
    it at once. `told`: what was answered the last time that there was nothing.
    """

    def __init__(self) -> None:
        self._shut_until = -math.inf
        self._opened = asyncio.Event()
        self.turn = asyncio.Lock()
        self.told = Claims(())

    def shut(self, seconds: float) -> None:
        """Nothing can be claimed for so long."""
        self._shut_until = time.monotonic() + min(max(seconds, 0.01), LONGEST_NAP)
        self._opened.clear()

    def open(self) -> None:
        """Something may be ready."""
        self._shut_until = -math.inf
        self._opened.set()

    def is_shut(self) -> bool:
        """Was somebody handed nothing just now?"""
        return time.monotonic() < self._shut_until

    async def pass_(self, seconds: float) -> None:
        """Wait until it is open, for so long at most."""
        left = min(seconds, self._shut_until - time.monotonic())
        if left <= 0:
            return
        try:
            await asyncio.wait_for(self._opened.wait(), left)
        except TimeoutError:
            return


class Backend:
    """One service's brain, with all that its verbs share."""

    def __init__(self, brain: Brain, limits: Limits) -> None:
        self.brain, self.limits = brain, limits
        self.keeper = Gatekeeper(brain.graph, brain.now)
        self.crawl = Threads("crawl", CRAWL_THREADS, limits.queue)
        self.look = Threads("look", LOOK_THREADS, limits.queue)
        self.gate = Gate()
        self.jobs = Jobs(brain.now)
        self.meter = Meter(brain)
        self.stopping = asyncio.Event()
        self._streams = 0
        self._keys: dict[str, tuple[asyncio.Lock, int]] = {}

    def stop(self) -> None:
        """End long polls and streams: the service goes down."""
        self.stopping.set()
        self.gate.open()

    async def answers(self) -> None:
        """Ask the database for something small. Raises GraphbrainError."""
        await asyncio.to_thread(self.brain.graph.read, lambda tx: tx.one("brain/clock"), "brain/clock", patient=False)

    def close(self) -> None:
        """Let everything go, once nothing is under way."""
        self.meter.close()
        self.crawl.close()
        self.look.close()

    def many(self, count: int, what: str) -> None:
        """Raises Refusal for more items than one request may have."""
        if count > self.limits.items:
            raise Refusal(
                413,
                "TooLarge",
                f"At most {self.limits.items:,} {what} in one request, not {count:,}; send parts.",
            )

    @staticmethod
    def own_key(grant: Grant, key: str | None) -> str | None:
        """The idempotency key as the brain knows it: those of two tokens never meet."""
        return None if key is None else hashlib.sha256(f"{grant.name}\n{key}".encode()).hexdigest()

    @asynccontextmanager
    async def alone(self, key: str | None) -> AsyncIterator[None]:
        """Within the block nobody else here answers a request of this key."""
        if key is None:
            yield
            return
        lock, waiting = self._keys.get(key, (asyncio.Lock(), 0))
        self._keys[key] = (lock, waiting + 1)
        try:
            async with lock:
                yield
        finally:
            lock, waiting = self._keys.pop(key)
            if waiting > 1:
                self._keys[key] = (lock, waiting - 1)

    async def stream(self, make: Callable[[], Iterator[T]], line: Callable[[T], bytes]) -> AsyncIterator[bytes]:
        """The lines of what a verb hands out, read in parts as they are asked for. What is wrong with the request is
        raised at once, before the first line."""
        if self._streams >= self.limits.streams:
            busy = f"{self.limits.streams} dumps and finds are under way; try again."
            raise Refusal(503, "Busy", busy, try_again=True)
        self._streams += 1
        try:
            items = await self.look.run(make)
            part = await self._part(items)
        except BaseException:
            self._streams -= 1
            raise
        return self._lines(items, part, line)

    async def _part(self, items: Iterator[T]) -> list[T]:
        return await self.look.run(lambda: list(islice(items, AT_ONCE)))

    async def _lines(self, items: Iterator[T], part: list[T], line: Callable[[T], bytes]) -> AsyncIterator[bytes]:
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
            self._streams -= 1

    def _go_on(self, until: float) -> None:
        """Raises Refusal where a stream must end before its end."""
        if self.stopping.is_set():
            raise Refusal(503, "Stopping", "The service stops; this is not all.", try_again=True)
        if time.monotonic() > until:
            seconds = self.limits.stream_seconds
            raise Refusal(503, "TimedOut", f"It took more than {seconds:g} s; this is not all.", try_again=True)
