"""A watch over calls of the driver that hang although the driver has limits of time."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

__all__ = ["Watch"]

D = TypeVar("D")


class Watch(Generic[D]):
    """A thread that finds calls which last longer than their limit. It calls `drop` with the driver of such a call."""

    def __init__(self, drop: Callable[[D], None]) -> None:
        self._drop = drop
        self._calls: dict[int, tuple[float, D, bool]] = {}
        """Number of a call → (its deadline, its driver, whether it is slow)."""
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self._next = 0
        self._longest = float("inf")

    @contextlib.contextmanager
    def over(self, driver: D, seconds: float, *, slow: bool = False) -> Iterator[None]:
        """Watch a call until the block ends. Drop its driver after `seconds`. `hurry` does not limit a slow call."""
        with self._lock:
            self._next += 1
            call = self._next
            self._calls[call] = (time.monotonic() + (seconds if slow else min(seconds, self._longest)), driver, slow)
            if self._thread is None:
                self._thread = threading.Thread(target=self._look, name="graphbrain-watch", daemon=True)
                self._thread.start()
        try:
            yield
        finally:
            with self._lock:
                self._calls.pop(call, None)

    def hurry(self, seconds: float) -> None:
        """Limit all calls to these seconds from now on, except slow ones."""
        with self._lock:
            self._longest, latest = min(self._longest, seconds), time.monotonic() + seconds
            self._calls = {
                call: (end if slow else min(end, latest), driver, slow)
                for call, (end, driver, slow) in self._calls.items()
            }

    def _look(self) -> None:
        while not self._stopped.wait(1.0):
            now = time.monotonic()
            with self._lock:
                late = {driver for deadline, driver, _ in self._calls.values() if deadline < now}
                self._calls = {number: call for number, call in self._calls.items() if call[1] not in late}
            for driver in late:
                self._drop(driver)

    def stop(self) -> None:
        """End the thread that watches."""
        self._stopped.set()
