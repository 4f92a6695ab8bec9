"""How long things took, by name, as histograms: what a process has observed, and the sum of what several have.

Everything is kept as numbers in plain lists and dicts, so that a worker process tells it as a line of JSON, and whoever
has started it adds it up.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Iterable, Mapping

__all__ = ["BOUNDS", "Timings", "Told", "added"]

BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""The upper bounds of the classes, in seconds; one more class has what took longer."""
Told = Mapping[str, list[float]]
"""Name → how many of each class, those that took longer than all bounds, and the seconds of all together."""


class Timings:
    """A histogram of seconds for each name. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: dict[str, list[float]] = {}

    def saw(self, name: str, seconds: float) -> None:
        """Something of this name took so many seconds."""
        place = bisect_left(BOUNDS, seconds)
        with self._lock:
            seen = self._seen.get(name)
            if seen is None:
                seen = self._seen[name] = [0] * (len(BOUNDS) + 1) + [0.0]
            seen[place] += 1
            seen[-1] += seconds

    def told(self) -> dict[str, list[float]]:
        """What was seen so far, a copy."""
        with self._lock:
            return {name: list(seen) for name, seen in self._seen.items()}


def added(parts: Iterable[Told]) -> dict[str, list[float]]:
    """What several have seen, together."""
    total: dict[str, list[float]] = {}
    for part in parts:
        for name, seen in part.items():
            total[name] = [a + b for a, b in zip(total[name], seen, strict=True)] if name in total else list(seen)
    return total
