"""Counters of work, kept in memory and written to the graph at intervals; and the current price of visits."""

from __future__ import annotations

import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from graphbrain.base.model import OUTCOMES, RESOURCE_KINDS, Kind
from graphbrain.graph.connection import Graph

__all__ = ["COUNT_EVERY", "Counters"]

COUNT_EVERY = 5.0
PRICE_MOVES = 0.02
COUNTED = ("pages", "links", "claims", "pushes", "payments")
FRONTIER = ("found", "left")
"""The counts of pages that reports brought into the frontier, and of pages that they took out of it."""
OF_RESOURCES = ("claims", "lapsed")
"""The counts of each kind of resource, beside the counts of its reports."""


class Counters:
    """The counters of one open brain. Thread-safe."""

    def __init__(self, graph: Graph, now: Callable[[], float], worker: str) -> None:
        self._graph, self._now, self._worker = graph, now, worker
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()
        self._written_retries = 0
        self._tending = False
        self._price: float | None = None
        self.written_at = time.monotonic()
        """The time of the last write, by a steady clock."""

    def add(self, **counts: int) -> None:
        """Add to the counts of pages, links, pushes and payments; and of pages that came into the frontier (`found`) or
        left it (`left`)."""
        with self._lock:
            self._counts.update(counts)

    def claimed(self, kinds: Iterable[Kind]) -> None:
        """Count claims of these kinds."""
        with self._lock:
            self._counts.update("claims" if kind == "page" else f"{kind} claims" for kind in kinds)

    def lapsed(self, leases: Mapping[Kind, int]) -> None:
        """Add to the counts of lapsed leases, by kind, and to their sum, the count `lapsed`."""
        with self._lock:
            self._counts["lapsed"] += sum(leases.values())
            self._counts.update({f"{kind} lapsed": leases.get(kind, 0) for kind in RESOURCE_KINDS})

    def answered(self, outcomes: Iterable[str], kind: Kind = "page") -> None:
        """Count reports of a kind with these outcomes (`OUTCOMES`)."""
        with self._lock:
            self._counts.update(f"{kind} reports {outcome}" for outcome in outcomes)

    def paid(self, worths: Sequence[float]) -> None:
        """Record the worths of the visits of a claim. Their moving geometric mean is the price of visits."""
        for worth in worths:
            with self._lock:
                log = math.log(worth)
                self._price = log if self._price is None else self._price + PRICE_MOVES * (log - self._price)

    def write_now_and_then(self, tending: bool = False) -> None:
        """Write the counts if the last write was `COUNT_EVERY` seconds ago, or if this process begins to tend for
        all."""
        with self._lock:
            begins = tending and not self._tending  # other processes should see at once that they need not tend
            if not begins and time.monotonic() - self.written_at < COUNT_EVERY:
                return
            self.written_at, self._tending = time.monotonic(), tending
        self.write(tending)

    def write(self, tending: bool = False) -> None:
        """Write the counts since the last write, if there are any. `tending`: this process tends for all, and the write
        notes it."""
        # Take the counts since the last write out of memory.
        with self._lock:
            counts = [self._counts.pop(name, 0) for name in COUNTED]
            retries = self._graph.counts["retries"] - self._written_retries
            self._written_retries += retries
            reports = self._popped_reports("page")
            lapsed = self._counts.pop("lapsed", 0)
            frontier = [self._counts.pop(name, 0) for name in FRONTIER]
            kinds = {kind: self._popped_resources(kind) for kind in RESOURCE_KINDS}
        resources = any(any(each["reports"]) or each["claims"] for each in kinds.values())
        if not (tending or any(counts) or any(reports) or any(frontier) or lapsed or retries or resources):
            return
        # Add them to the counters of this hour and this worker.
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
                kinds=kinds,
                price=None if self._price is None else math.exp(self._price),
            ),
            "brain/count",
        )

    def _popped_resources(self, kind: Kind) -> dict[str, Any]:
        """Take the counts of a kind out of memory. The caller holds the lock."""
        counts = {name: self._counts.pop(f"{kind} {name}", 0) for name in OF_RESOURCES}
        return {**counts, "reports": self._popped_reports(kind)}

    def _popped_reports(self, kind: Kind) -> list[int]:
        return [self._counts.pop(f"{kind} reports {outcome}", 0) for outcome in OUTCOMES]
