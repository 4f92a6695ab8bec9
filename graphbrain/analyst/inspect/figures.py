"""A brain in figures for monitoring: `quick` costs next to nothing; `scanned` reads every page, in parts.

Statements: figures/*, exports/last_id.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from graphbrain.base.model import OUTCOMES, RESOURCE_KINDS, Kind
from graphbrain.graph.connection import Graph, Tx, bound
from graphbrain.schedule.change_rate import Prior

__all__ = [
    "COUNTS",
    "Counted",
    "KindCounts",
    "Quick",
    "ScanStopped",
    "Scanned",
    "counted",
    "hosts_inside",
    "quick",
    "scanned",
]

IDS_AT_ONCE = 20_000
COUNTS = ("visits", "links", "claims", "pushes", "payments", "retries", "lapsed", "found", "left")
"""The counters of workers, in the order of figures/counted."""


@dataclass(frozen=True, slots=True)
class Quick:
    """Counts that the database keeps: see cypher/analyst/figures/quick.cypher.

    `held`: kind of claims that are no pages → leases that have not lapsed; a kind without any may be missing.
    """

    held: Mapping[Kind, int]
    pages: int
    links: int
    leases: int
    lapsed: int
    tending: int
    active: int


@dataclass(frozen=True, slots=True)
class KindCounts:
    """Counts of one kind of claims, over all workers; `reports` in the order of their outcomes."""

    claims: int
    lapsed: int
    reports: tuple[int, ...]

    def __add__(self, other: KindCounts) -> KindCounts:
        return KindCounts(self.claims + other.claims, self.lapsed + other.lapsed, _sums(self.reports, other.reports))


@dataclass(frozen=True, slots=True)
class Counted:
    """The counters of workers.

    Attributes:
        counts: In the order of COUNTS. `lapsed` has the leases of all kinds, the others have pages alone.
        reports: Reports of pages, in the order of their outcomes.
        resources: Kind of claims that are no pages → its counts.
    """

    counts: tuple[int, ...]
    reports: tuple[int, ...]
    resources: Mapping[Kind, KindCounts]

    def __add__(self, other: Counted) -> Counted:
        return Counted(
            _sums(self.counts, other.counts),
            _sums(self.reports, other.reports),
            {kind: counts + other.resources[kind] for kind, counts in self.resources.items()},
        )

    @property
    def by_kind(self) -> dict[Kind, KindCounts]:
        """The counts of each kind, pages first."""
        named = dict(zip(COUNTS, self.counts, strict=True))
        lapsed = named["lapsed"] - sum(counts.lapsed for counts in self.resources.values())
        return {"page": KindCounts(named["claims"], lapsed, self.reports), **self.resources}


@dataclass(slots=True)
class Scanned:
    """Figures for which every page and host is read.

    Attributes:
        fresh: Expected share of copies that still equal their pages, by the pages' change rates; None without copies.
        age: Mean seconds since the copies were fetched; None without copies.
        first_visits: Pages of the frontier that wait for a first visit, or are held for it; not those that have failed.
        ready: Waiting pages in the queue of all hosts, or in that of a host that may be asked now. The first may
            include pages of hosts that may not be asked: a claim moves them to the host's own queue.
        hosts: Hosts that have a page inside the scope.
    """

    states: dict[str, int] = field(default_factory=dict)
    waiting: int = 0
    first_visits: int = 0
    ready: int = 0
    retries: int = 0
    hub_cash: float = 0.0
    authority_cash: float = 0.0
    fresh: float | None = None
    age: float | None = None
    hosts: int = 0
    blocked: int = 0
    slowed: int = 0
    silent: int = 0


class ScanStopped(Exception):
    """Raised by `scanned` if it is stopped half way."""


def quick(graph: Graph, now: float) -> Quick:
    """Return the figures for which no page is read."""
    leases, *counts = graph.read(
        lambda tx: tx.one("figures/quick", now=now, hour=int(now // 3600)), "figures/quick", patient=False
    )
    return Quick(dict(leases), *counts)


def counted(graph: Graph, first: int, last: int) -> Counted:
    """Return the counters of these hours since the epoch, both ends included."""

    def look(tx: Tx) -> Counted:
        counts, reports = tx.one("figures/counted", first=first, last=last)
        of_kinds = {"kinds": RESOURCE_KINDS, "outcomes": len(OUTCOMES)}
        (rows,) = tx.one("figures/counted_of_kinds", first=first, last=last, **of_kinds)
        kinds = {
            kind: KindCounts(claims, lapsed, tuple(by_outcome))
            for kind, (claims, lapsed, by_outcome) in zip(RESOURCE_KINDS, rows, strict=True)
        }
        return Counted(tuple(counts), tuple(reports), kinds)

    return graph.read(look, "figures/counted", patient=False)


def scanned(graph: Graph, now: float, prior: Prior, dead_after: int, stop: Callable[[], bool]) -> Scanned:
    """Return the figures for which every page and host is read, in parts. Call `stop` between them. Raise
    ScanStopped."""
    sums = Scanned()
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
            sums.states[state] = sums.states.get(state, 0) + pages
            sums.waiting += waiting
            sums.first_visits += pages - retries if state == "frontier" else 0
            sums.ready += shared
            sums.retries += retries
            sums.hub_cash += hub
            sums.authority_cash += authority
            copies, fresh, age = copies + of_copies, fresh + of_fresh, age + of_age
    if copies:
        sums.fresh, sums.age = fresh / copies, age / copies
    if stop():
        raise ScanStopped
    sums.blocked, sums.slowed, sums.silent, ready = graph.read(
        lambda tx: tx.one("figures/hosts", now=now, dead=dead_after), "figures/hosts", patient=False
    )
    sums.ready += ready
    sums.hosts = graph.read(hosts_inside, "figures/hosts_inside", patient=False)
    return sums


def hosts_inside(tx: Tx) -> int:
    """Return the number of hosts that have a page inside the scope."""
    count: int = tx.one("figures/hosts_inside")[0]
    return count


def _sums(first: Iterable[int], second: Iterable[int]) -> tuple[int, ...]:
    return tuple(a + b for a, b in zip(first, second, strict=True))
