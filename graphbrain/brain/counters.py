"""What was done, counted in memory and written to the graph now and then; and the going price of visits."""

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
"""Pages that reports brought into the frontier, and took out of it."""


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
        """When they were written last, by a steady clock."""

    def add(self, **counts: int) -> None:
        """So many more pages, links, claims, lapsed leases, pushes, payments; pages that came into the frontier
        (`found`) and that left it."""
        with self._lock:
            self._counts.update(counts)

    def answered(self, outcomes: Iterable[str]) -> None:
        """Reports with these outcomes (`OUTCOMES`)."""
        with self._lock:
            self._counts.update(f"reports {outcome}" for outcome in outcomes)

    def paid(self, worths: Sequence[float]) -> None:
        """Note what the visits of a claim were worth: the moving mean is the price at which pages come back."""
        for worth in worths:
            with self._lock:
                log = math.log(worth)
                self._price = log if self._price is None else self._price + PRICE_MOVES * (log - self._price)

    def write_now_and_then(self, tending: bool = False) -> None:
        """Write them if that was some seconds ago, or if we begin to tend for everybody."""
        with self._lock:
            first = tending and not self._tending  # the others should know at once that they need not tend
            if not first and time.monotonic() - self.written_at < COUNT_EVERY:
                return
            self.written_at, self._tending = time.monotonic(), tending
        self.write(tending)

    def write(self, tending: bool = False) -> None:
        """Write what has been counted since the last time, if anything; `tending`: we tend for everybody."""
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
