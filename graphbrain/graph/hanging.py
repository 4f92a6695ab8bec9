"""A watch over calls that hang past every limit of their own."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

__all__ = ["Watch"]

D = TypeVar("D")


class Watch(Generic[D]):
    """A thread that drops the driver of calls that hang past every limit of their own."""

    def __init__(self, drop: Callable[[D], None]) -> None:
        self._drop = drop
        self._calls: dict[int, tuple[float, D, bool]] = {}
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self._next = 0
        self._longest = float("inf")

    @contextlib.contextmanager
    def over(self, driver: D, seconds: float, *, slow: bool = False) -> Iterator[None]:
        """Within the block, a call runs on this driver, which is dropped after so many seconds. `hurry` does not
        limit a slow one."""
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
        """Let no call last longer than this from now on, but for slow ones."""
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
