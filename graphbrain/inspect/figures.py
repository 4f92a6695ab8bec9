"""A brain in figures for monitoring: `quick` costs next to nothing; `scanned` reads every page, in parts.

Statements: figures/*, exports/last_id.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from graphbrain.graph.connection import Graph, Tx, bound
from graphbrain.schedule.change_rate import Prior

__all__ = ["COUNTS", "Counted", "Quick", "ScanStopped", "Scanned", "counted", "quick", "scanned"]

IDS_AT_ONCE = 20_000
COUNTS = ("visits", "links", "claims", "pushes", "payments", "retries", "lapsed", "found", "left")
"""The counters of workers, in the order of figures/counted."""


@dataclass(frozen=True, slots=True)
class Quick:
    """Counts that the database keeps: see cypher/inspect/figures/quick.cypher."""

    pages: int
    links: int
    hosts: int
    leases: int
    lapsed: int
    tending: int
    active: int


@dataclass(frozen=True, slots=True)
class Counted:
    """The counters of workers: `counts` in the order of COUNTS, `reports` in that of their outcomes."""

    counts: tuple[int, ...]
    reports: tuple[int, ...]

    def __add__(self, other: Counted) -> Counted:
        return Counted(
            tuple(a + b for a, b in zip(self.counts, other.counts, strict=True)),
            tuple(a + b for a, b in zip(self.reports, other.reports, strict=True)),
        )


@dataclass(slots=True)
class Scanned:
    """Figures for which every page and host is read.

    Attributes:
        fresh: Expected share of copies that still equal their pages, by the pages' change rates; None without copies.
        age: Mean seconds since the copies were fetched; None without copies.
        ready: Waiting pages in the queue of all hosts, or in that of a host that may be asked now. The first may
            include
            pages of hosts that may not be asked: a claim moves them to the host's own queue.
    """

    states: dict[str, int] = field(default_factory=dict)
    waiting: int = 0
    ready: int = 0
    retries: int = 0
    hub_cash: float = 0.0
    authority_cash: float = 0.0
    fresh: float | None = None
    age: float | None = None
    blocked: int = 0
    slowed: int = 0
    silent: int = 0


class ScanStopped(Exception):
    """Raised by `scanned` if it is stopped half way."""


def quick(graph: Graph, now: float) -> Quick:
    """Return the figures for which no page is read."""
    return Quick(
        *graph.read(lambda tx: tx.one("figures/quick", now=now, hour=int(now // 3600)), "figures/quick", patient=False)
    )


def counted(graph: Graph, first: int, last: int) -> Counted:
    """Return the counters of these hours since the epoch, both ends included."""
    counts, reports = graph.read(
        lambda tx: tx.one("figures/counted", first=first, last=last), "figures/counted", patient=False
    )
    return Counted(tuple(counts), tuple(reports))


def scanned(graph: Graph, now: float, prior: Prior, dead_after: int, stop: Callable[[], bool]) -> Scanned:
    """Return the figures for which every page and host is read, in parts. Call `stop` between them. Raise
    ScanStopped."""
    found = Scanned()
    copies, fresh, age = 0, 0.0, 0.0
    last_id = graph.read(lambda tx: tx.one("exports/last_id")[0], "exports/last_id", patient=False)
    for first in range(0, 0 if last_id is None else last_id + 1, IDS_AT_ONCE):
        if stop():
            raise ScanStopped
        rows = graph.read(
            bound(
                Tx.many,
                "figures/pages",
                first=first,
                last=min(first + IDS_AT_ONCE - 1, last_id),
                now=now,
                shape=prior.shape,
                scale=prior.scale,
            ),
            "figures/pages",
            patient=False,
        )
        for state, pages, waiting, shared, retries, hub, authority, of_copies, of_fresh, of_age in rows:
            if state is None:  # it was deleted while it was read
                continue
            found.states[state] = found.states.get(state, 0) + pages
            found.waiting += waiting
            found.ready += shared
            found.retries += retries
            found.hub_cash += hub
            found.authority_cash += authority
            copies, fresh, age = copies + of_copies, fresh + of_fresh, age + of_age
    if copies:
        found.fresh, found.age = fresh / copies, age / copies
    if stop():
        raise ScanStopped
    found.blocked, found.slowed, found.silent, ready = graph.read(
        lambda tx: tx.one("figures/hosts", now=now, dead=dead_after), "figures/hosts", patient=False
    )
    found.ready += ready
    return found
