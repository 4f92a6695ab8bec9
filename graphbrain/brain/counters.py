"""Counts of what was done, kept in memory and written to the graph at intervals; and the current price of visits."""

from __future__ import annotations

import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from graphbrain.graph.connection import Graph
from graphbrain.model import OUTCOMES

__all__ = ["COUNT_EVERY", "Counters"]

COUNT_EVERY = 5.0
PRICE_MOVES = 0.02
COUNTED = ("pages", "links", "claims", "pushes", "payments")
FRONTIER = ("found", "left")
"""Counts of the pages that reports brought into the frontier, and took out of it."""


class Counters:
    """The counters of one open brain. Thread-safe."""

    def __init__(self, graph: Graph, now: Callable[[], float], worker: str) -> None:
        self._graph, self._now, self._worker = graph, now, worker
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()
        self._retries_told = 0
        self._tending = False
        self._price: float | None = None
        self.written_at = time.monotonic()
        """The time of the last write, by a steady clock."""

    def add(self, **counts: int) -> None:
        """Add to the counts of pages, links, claims, lapsed leases, pushes, payments; of pages that came into the
        frontier (`found`) and that left it."""
        with self._lock:
            self._counts.update(counts)

    def answered(self, outcomes: Iterable[str]) -> None:
        """Count reports with these outcomes (`OUTCOMES`)."""
        with self._lock:
            self._counts.update(f"reports {outcome}" for outcome in outcomes)

    def paid(self, worths: Sequence[float]) -> None:
        """Record the worths of the visits of a claim: their moving mean is the price at which pages come back."""
        for worth in worths:
            with self._lock:
                log = math.log(worth)
                self._price = log if self._price is None else self._price + PRICE_MOVES * (log - self._price)

    def write_now_and_then(self, tending: bool = False) -> None:
        """Write them if the last write was some seconds ago, or if this process begins to tend for all."""
        with self._lock:
            first = tending and not self._tending  # the others should know at once that they need not tend
            if not first and time.monotonic() - self.written_at < COUNT_EVERY:
                return
            self.written_at, self._tending = time.monotonic(), tending
        self.write(tending)

    def write(self, tending: bool = False) -> None:
        """Write the counts since the last write, if there are any; `tending`: this process tends for all."""
        with self._lock:
            counts = [self._counts.pop(name, 0) for name in COUNTED]
            retries = self._graph.counts["retries"] - self._retries_told
            self._retries_told += retries
            reports = [self._counts.pop(f"reports {outcome}", 0) for outcome in OUTCOMES]
            lapsed = self._counts.pop("lapsed", 0)
            frontier = [self._counts.pop(name, 0) for name in FRONTIER]
        if not (tending or any(counts) or any(reports) or any(frontier) or lapsed or retries):
            return
        now = self._now()
        self._graph.write(
            lambda tx: tx.do(
                "brain/count",
                hour=int(now // 3600),
                worker=self._worker,
                now=now,
                tending=tending,
                counts=[*counts, retries],
                reports=reports,
                lapsed=lapsed,
                frontier=frontier,
                price=None if self._price is None else math.exp(self._price),
            ),
            "brain/count",
        )
