"""Histograms of durations by name: those of one process, and the sum of several.

All values are numbers in plain lists and dicts. So a worker process can report them as a line of JSON, and the process
that started it can add them up.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Iterable, Mapping

__all__ = ["BOUNDS", "Observations", "Timings", "added"]

BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""The upper bounds of the classes, in seconds. One more class has all longer durations."""
Observations = Mapping[str, list[float]]
"""Name → the number of durations in each class, followed by the sum of all seconds."""


class Timings:
    """A histogram of seconds for each name. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: dict[str, list[float]] = {}

    def saw(self, name: str, seconds: float) -> None:
        """Add a duration to the histogram of a name."""
        bucket = bisect_left(BOUNDS, seconds)
        with self._lock:
            seen = self._seen.get(name)
            if seen is None:
                seen = self._seen[name] = [0] * (len(BOUNDS) + 1) + [0.0]
            seen[bucket] += 1
            seen[-1] += seconds

    def observations(self) -> dict[str, list[float]]:
        """Return a copy of all observations so far."""
        with self._lock:
            return {name: list(seen) for name, seen in self._seen.items()}


def added(parts: Iterable[Observations]) -> dict[str, list[float]]:
    """Return the sum of the observations of several processes."""
    total: dict[str, list[float]] = {}
    for part in parts:
        for name, seen in part.items():
            total[name] = [a + b for a, b in zip(total[name], seen, strict=True)] if name in total else list(seen)
    return total
