"""A brain in figures for monitoring. `quick` reads no page. `scanned` reads every page, in parts.

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

    `held`: kind of claims other than pages → its leases that have not lapsed. A kind without leases may be missing.
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
    """Counts of one kind of claims, over all workers. `reports` is in the order of `OUTCOMES`."""

    claims: int
    lapsed: int
    reports: tuple[int, ...]

    def __add__(self, other: KindCounts) -> KindCounts:
        return KindCounts(self.claims + other.claims, self.lapsed + other.lapsed, _sums(self.reports, other.reports))


@dataclass(frozen=True, slots=True)
class Counted:
    """The counters of workers.

    Attributes:
        counts: In the order of COUNTS. `lapsed` counts leases of all kinds, the others only pages.
        reports: Reports of pages, in the order of `OUTCOMES`.
        resources: Kind of claims other than pages → its counts.
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
        """Return the counts of each kind, pages first."""
        named = dict(zip(COUNTS, self.counts, strict=True))
        lapsed = named["lapsed"] - sum(counts.lapsed for counts in self.resources.values())
        return {"page": KindCounts(named["claims"], lapsed, self.reports), **self.resources}


@dataclass(slots=True)
class Scanned:
    """Figures for which every page and host is read.

    Attributes:
        fresh: Expected share of fetched pages that still equal their last copy, by the pages' change rates. None
            without fetched pages.
        age: Mean seconds since these were fetched; None without fetched pages.
        first_visits: Pages of the frontier that wait for a first visit, or are claimed for it. Failed ones do not
            count. ready: Waiting pages in the queue of all hosts, or in that of a host that may be asked now. The queue
            of all
            hosts may contain pages of hosts that may not be asked: a claim moves them to the host's queue.
        hosts: Hosts that have a page inside the scope.
        outside: Pages outside the scope; `states` counts them, too.
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
    outside: int = 0
    blocked: int = 0
    slowed: int = 0
    silent: int = 0


class ScanStopped(Exception):
    """Raised by `scanned` if its `stop` returns True."""


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
    """Return the figures for which every page and host is read, in parts. Raise ScanStopped if `stop` returns True
    between two parts."""
    sums = Scanned()
    copies, fresh, age = 0, 0.0, 0.0
    last_id = graph.read(lambda tx: tx.one("exports/last_id")[0], "exports/last_id", patient=False)
    # Add up the pages by ranges of ids. A row has the pages of one state.
    for first in range(0, 0 if last_id is None else last_id + 1, IDS_AT_ONCE):
        if stop():
            raise ScanStopped
        span = {"first": first, "last": min(first + IDS_AT_ONCE - 1, last_id)}
        belief = {"shape": prior.shape, "scale": prior.scale}
        read = bound(Tx.records, "figures/pages", **span, **belief, now=now)
        for row in graph.read(read, "figures/pages", patient=False):
            if row.state is None:  # the page was deleted while it was read
                continue
            sums.states[row.state] = sums.states.get(row.state, 0) + row.pages
            sums.outside += row.beyond
            sums.waiting += row.waiting
            sums.first_visits += row.pages - row.retries if row.state == "frontier" else 0
            sums.ready += row.shared
            sums.retries += row.retries
            sums.hub_cash += row.hub
            sums.authority_cash += row.authority
            copies, fresh, age = copies + row.copies, fresh + row.fresh, age + row.age
    if copies:
        sums.fresh, sums.age = fresh / copies, age / copies
    # Count hosts.
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
