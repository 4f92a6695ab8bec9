"""The outlook if there is nothing to claim now: when the next page can be claimed, and whether a crawl is finished.

Statements: claims/outlook, claims/wanted_outlook, brain/sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal

from graphbrain.base.model import FOR_EVER, PAGES, Because, Kind
from graphbrain.base.runtime.tokens import made_at
from graphbrain.frontier.claims import resources
from graphbrain.frontier.claims.candidates import Finder
from graphbrain.frontier.hosts import clock_ahead, politeness
from graphbrain.frontier.hosts.addresses import FULL_WAIT
from graphbrain.frontier.hosts.state import SHARED_QUEUE, HostState, PolitenessPolicy
from graphbrain.graph.connection import Tx

__all__ = ["PAUSED", "Beside", "ClaimOutlook", "of_wanted", "outlook"]

Beside = Literal["aliases", "tries", "sitemap", "link"]
"""A source of claims (`sources.SOURCES`) other than the queues of pages."""
FEW, MANY, FURTHEST = 32, 500, 20_000
"""Numbers of pages that are read to find the time of the next claim: at first, at most, and most of the shared
queue."""
SOON = 0.1
"""Seconds until another look if no time is known."""


@dataclass(frozen=True, slots=True)
class ClaimOutlook:
    """The outlook of a call.

    Attributes:
        next_ready: The next time at which something can be claimed; None for never.
        finished: True if only revisits are left.
        overdue: True if leases have lapsed, or failed pages are due, and no process has handled them yet.
        next_unfailed: The next time without regard to pages that have failed and to hosts that rest.
        is_ahead: True if the next pages have times of a clock that was ahead.
        because: The reason why nothing can be claimed before `next_ready`.
        paused: True if claims are paused.
        beside: The other sources than the queues of pages that seem to have something now.
    """

    next_ready: float | None
    finished: bool
    overdue: bool = False
    next_unfailed: float | None = None
    is_ahead: bool = False
    because: Because | None = None
    paused: bool = False
    beside: frozenset[Beside] = frozenset()


PAUSED = ClaimOutlook(None, False, paused=True)
"""The outlook of a paused brain: nothing can be claimed before `resume`."""


def of_wanted(tx: Tx, manners: PolitenessPolicy, now: float) -> ClaimOutlook:
    """Return the outlook for a caller that claims only requested pages. It is finished when all were visited."""
    rows = tx.one("claims/wanted_outlook", limit=MANY)[0]
    hosts = politeness.read(tx, {host for host, *_ in rows}, manners, now)
    moments: list[tuple[float, Because]] = []
    for name, waits, lapses, again in rows:
        host = hosts.get(name)
        if waits:
            opens = now if host is None else host.may_open_at(now)
            moments.append((max(opens, now + SOON), _of_host(host)))
        elif lapses is not None:
            moments.append((max(lapses, now + SOON), "lease"))
        elif again is not None:
            moments.append((max(again, now + SOON), "retry"))
    if len(rows) == MANY:
        moments.append((now + 1.0, "host"))  # what is behind may be ready sooner
    first, because = min(moments, default=(None, None))
    overdue = any(at is not None and at <= now for _, _, lapses, again in rows for at in (lapses, again))
    return ClaimOutlook(first, not moments, overdue, next_unfailed=first, because=because)


def outlook(
    tx: Tx, finder: Finder, manners: PolitenessPolicy, now: float, kinds: Collection[Kind] = PAGES
) -> ClaimOutlook:
    """Return when something can be claimed next, and whether the crawl is finished.

    A page whose lease lapses, or whose wait after a failure ends, is ready when its host is. A host with as many open
    claims as are allowed is ready when the first of their leases lapses.

    A look consists of several reads, between which other workers claim and report. A page may be reported, with links
    to new pages, after the read of the waiting pages and before the read of the leases: then neither read shows it. So
    a crawl counts as finished only if a second look agrees and no page was created during it. Otherwise the caller must
    ask again soon. `kinds`: the kinds that the caller claims. A crawl is not finished while a resource of one of them
    is claimed, or was never claimed.
    """
    seen = _look(tx, finder, manners, now, kinds)
    if not seen.finished:
        return seen
    pages = tx.one("brain/sizes")[0]
    seen = _look(tx, finder, manners, now, kinds)
    if seen.finished and tx.one("brain/sizes")[0] != pages:
        return ClaimOutlook(now + SOON, False, next_unfailed=now + SOON)
    return seen


@dataclass(slots=True)
class _Kinds:
    """The result of claims/outlook: the first of each kind, and their hosts."""

    failures: list[list[Any]]
    queued: list[list[Any]]
    rested: list[list[Any]]
    looks: list[list[Any]]
    leases: list[list[Any]]
    waiting: list[list[Any]]
    first_asks: list[list[Any]]
    """when resources that were never read can be claimed"""
    later_asks: list[list[Any]]
    """when resources that were read before can be claimed again"""
    beside: frozenset[Beside]
    """The sources beside the queues of pages that have something, as far as hosts allow it."""
    hosts: Mapping[str, HostState]
    behind: Mapping[str, str]
    """Host → the full host that has its robots.txt: it is ready when a claim of that host ends"""
    unseen: float
    """Pages that were not read come later than this, by the written times. Only the first of each kind are read."""
    whole: bool
    """True if these have all failures and queues."""

    @classmethod
    def read(cls, tx: Tx, limit: int, manners: PolitenessPolicy, now: float, wanted: Collection[Kind]) -> _Kinds:
        """Read up to `limit` of each kind."""
        kinds = list(tx.one("claims/outlook", limit=limit))
        if others := set(wanted) - PAGES:
            kinds[-1] = sorted([*kinds[-1], *resources.outlook(tx, others, limit)], key=lambda row: row[0])[:limit]
        kinds_of = {kind: resources.LINES[kind] for kind in sorted(others & resources.LINES.keys())}
        resources_of = resources.waiting(tx, [line for lines in kinds_of.values() for line in lines], limit)
        first_asks = _soonest((resources_of[first] for first, _ in kinds_of.values()), limit)
        later_asks = _soonest((resources_of[later] for _, later in kinds_of.values()), limit)
        beside: set[Beside] = {
            kind  # type: ignore[misc]  # a robots.txt waits in no line
            for kind, lines in kinds_of.items()
            if any(at <= now for line in lines for at, _ in resources_of[line][:1])
        }
        beside |= {"aliases"} if any(at <= now for at, _ in kinds[3][:1]) else set()
        asks = (first_asks, later_asks)
        hosts = politeness.read(tx, {name for rows in (*kinds, *asks) for _, name, *_ in rows}, manners, now)
        behind = _behind(tx, hosts, manners, now) if "robots" in others else {}
        *soonest, waiting, leases = kinds  # who waits for a place does so until there is one
        unseen = min((rows[-1][0] for rows in (*soonest, leases, *asks) if len(rows) == limit), default=FOR_EVER)
        whole = max(len(kinds[0]), len(kinds[1]), len(first_asks)) < limit
        failures, queued, rested, looks = soonest
        # A page that was never fetched waits for room in a full budget, whenever it is due.
        full = {name for name, host in hosts.items() if not host.has_room()}
        retries = [row for row in failures if not (row[3] and row[1] in full)]
        return cls(
            retries, queued, rested, looks, leases, waiting, first_asks, later_asks,
            frozenset(beside), hosts, behind, unseen, whole,
        )  # fmt: skip

    def go_on(self, now: float) -> bool:
        """Return whether a crawl must wait for one of these. It does not wait for a host that has failed for hours, or
        whose robots.txt has."""
        abandoned = {name for name, host in self.hosts.items() if host.abandoned(now) or host.shut_for_long(now)}
        failures = any(name not in abandoned for _, name, *_ in self.failures)
        pages = any(at < FOR_EVER and name not in abandoned for at, name in self.queued)
        return bool(self.leases) or failures or pages or any(name not in abandoned for _, name in self.first_asks)

    def moments(self, now: float, crowded: bool) -> tuple[tuple[float, Because], float, float]:
        """Return three times: of the first of all, with the reason why not before; of the first page or resource that
        waits for a host which needs no probe; and of the first lease to lapse. `crowded`: as many ill hosts are probed
        as may be. The others wait until a probe is reported, or lapses."""
        probed = {name for name, host in self.hosts.items() if host.needs_probe()}
        none = set[str]()
        put_off = probed if crowded else none

        # Return the first moment of some rows, without those of some hosts.
        def first(rows: list[list[Any]], when: Callable[..., float], without: set[str]) -> float:
            moments = (when(at, self.hosts.get(name), now) for at, name, *_ in rows if name not in without)
            return min(moments, default=FOR_EVER)

        lapses = first(self._freeing(), _lapses, none)
        queued = [row for row in self.queued if row[1] not in self.behind]
        # Find when the first of each kind can be claimed, and the reason.
        kinds: tuple[tuple[float, Because], ...] = (
            (first(self.failures, _comes_due, put_off), "retry"),
            (first(queued, _opens, probed), "host"),
            (first(self.rested, _opens, probed), "revisit"),
            (
                min(first(rows, _opens, put_off | (self.hosts.keys() - probed)) for rows in (queued, self.rested)),
                "probe",
            ),
            (first(self.waiting, _has_place, put_off | (self.hosts.keys() - probed)), "probe"),
            (first(self.looks, _looked_at, put_off), "look"),
            (first(self.first_asks, _claimable_at, put_off), "host"),
            (first(self.later_asks, _claimable_at, put_off), "revisit"),
            (lapses, "lease"),
        )
        # Find the first that needs no probe.
        well = min(
            first(queued, _opens, probed),
            *(first(rows, _claimable_at, probed) for rows in (self.first_asks, self.later_asks)),
        )
        return min(kinds, key=lambda kind: kind[0]), well, lapses

    def _freeing(self) -> list[list[Any]]:
        """Return those of the leases after whose end something can be claimed.

        That is the page itself, another page of a host that was full, or the robots.txt of another host that this host
        serves. A lease is left out if its host has too many others.
        """
        out = {name: host.in_flight for name, host in self.hosts.items()}
        awaited = set(self.behind.values())
        freeing = []
        for row in self.leases:
            _, name, _, waits_again = row
            host = self.hosts.get(name)
            if host is None:
                freeing += [row] if waits_again else []
                continue
            out[name] -= 1
            if (waits_again or ((host.queued or name in awaited) and host.full())) and not host.full(out[name]):
                freeing.append(row)
        return freeing

    def are_ahead(self, now: float) -> bool:
        """Return whether they have times of a clock that was ahead. The index has the written time of the next look at
        a host, and the host has the corrected time."""
        events = [*(failed for _, _, failed, _ in self.failures), *(made_at(token) for _, _, token, _ in self.leases)]
        righted = {name for name, host in self.hosts.items() if host.righted}
        return any(clock_ahead.is_ahead(at, now) for at in events) or any(
            clock_ahead.is_ahead(at, now) and name in righted for at, name in chain(self.queued, self.rested)
        )


def _look(tx: Tx, finder: Finder, manners: PolitenessPolicy, now: float, wanted: Collection[Kind]) -> ClaimOutlook:
    """Make one look. Leases are read last: a page that is claimed during the look moves from the waiting pages to the
    leases."""
    shared, waits = _shared_from(tx, finder, manners, now)
    if shared is not None and shared <= now:
        beside = _Kinds.read(tx, FEW, manners, now, wanted).beside
        return ClaimOutlook(now, False, next_unfailed=now, beside=beside)
    from_shared = FOR_EVER if shared is None else shared
    of_shared: Because = "host" if waits else "revisit"
    # Read more of each kind until no unread page can come before the first one.
    for limit in (FEW, MANY, FURTHEST):
        kinds = _Kinds.read(tx, limit, manners, now, wanted)
        going_on = waits or kinds.go_on(now)
        (first, because), well, lapses = kinds.moments(now, politeness.crowded(tx, kinds.hosts.values(), now))
        first, because = min((first, because), (from_shared, of_shared), key=lambda kind: kind[0])
        if first <= kinds.unseen and (going_on or kinds.whole):
            break
    first = min(first, max(kinds.unseen, now + SOON))
    overdue = any(rows[0][0] <= now for rows in (kinds.leases, kinds.failures) if rows)
    unfailed = min(lapses, well, from_shared)
    return ClaimOutlook(
        _moment(first),
        not going_on,
        overdue,
        _moment(unfailed),
        kinds.are_ahead(now),
        None if first >= FOR_EVER else because,
        beside=kinds.beside,
    )


def _behind(tx: Tx, hosts: Mapping[str, HostState], manners: PolitenessPolicy, now: float) -> dict[str, str]:
    """Return host → the full host that has its robots.txt, of these hosts that wait for theirs. A look at it each
    minute finds when that host has room again (`batches`); no time is known."""
    server_of = resources.behind(tx, (name for name, host in hosts.items() if host.robots_hold > now), now)
    if not server_of:
        return {}
    states = {**hosts, **politeness.read(tx, set(server_of.values()) - hosts.keys(), manners, now)}
    return {name: other for name, other in server_of.items() if other in states and states[other].full()}


def _soonest(parts: Iterable[list[list[Any]]], limit: int) -> list[list[Any]]:
    return sorted(chain.from_iterable(parts), key=lambda row: row[0])[:limit]


def _of_host(host: HostState | None) -> Because:
    """Return the reason why its host keeps a page waiting."""
    return "probe" if host is not None and host.needs_probe() else "host"


def _moment(at: float) -> float | None:
    return None if at >= FOR_EVER else at


def _lapses(at: float, host: HostState | None, now: float) -> float:  # noqa: ARG001  as its neighbours
    return at if host is None else max(at, host.opens_at())


def _comes_due(at: float, host: HostState | None, now: float) -> float:  # noqa: ARG001  as its neighbours
    if host is not None and host.full():
        return FOR_EVER
    return at if host is None else max(at, host.opens_at())


def _looked_at(at: float, host: HostState | None, now: float) -> float:
    """Return the time at which an alias is looked at. If it could be claimed now, this call was just refused it, for an
    unknown time."""
    moment = _comes_due(at, host, now)
    return moment if moment > now else now + FULL_WAIT


def _claimable_at(at: float, host: HostState | None, now: float) -> float:
    """Return the time at which a resource can be claimed. If that is now, this call was just refused it: try again
    soon."""
    return max(_comes_due(at, host, now), now + SOON)


def _opens(at: float, host: HostState | None, now: float) -> float:
    if host is None or host.full():
        return FOR_EVER
    own = host.ready_at(now)
    return at if own is None else own


def _has_place(at: float, host: HostState | None, now: float) -> float:  # noqa: ARG001  as its neighbours
    """Return the time for an ill host that may be probed, although this call could not claim it."""
    return FOR_EVER if host is None or host.full() else max(host.opens_at(), host.turn_at, host.ripe_at, now + SOON)


def _shared_from(tx: Tx, finder: Finder, manners: PolitenessPolicy, now: float) -> tuple[float | None, bool]:
    """Return when something in the shared queue can be claimed (None: never), and whether a page waits there that may
    be visited now."""
    for depth in (FEW, FURTHEST):
        pages = finder.front(tx, now, depth, 1)
        if not pages:
            return _shared_later(tx, finder, manners, now), False
        states = politeness.read(tx, {name for _, name in pages}, manners, now)
        moments = [now if name not in states else states[name].may_open_at(now) for _, name in pages]
        if min(moments) <= now:
            return now, True
    return min(moments), True


def _shared_later(tx: Tx, finder: Finder, manners: PolitenessPolicy, now: float) -> float | None:
    """Return when something can be claimed in the shared queue if no page may be visited there now; None: never."""
    later = finder.ripe_at(tx, [SHARED_QUEUE], now).get(SHARED_QUEUE)
    if later is None or later <= now:
        return later if later is None else now + SOON
    # Find the first page that can be claimed by the known times of pages and hosts: a host may be ready later.
    pages, unseen = finder.soonest(tx, FEW)
    states = politeness.read(tx, {name for _, name in pages}, manners, now)
    moments = [max(at, states[name].may_open_at(now) if name in states else now) for at, name in pages]
    return max(min([unseen, *moments]), later, now + SOON)
