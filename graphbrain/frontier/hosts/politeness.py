"""Politeness: durable, on the (:Host) node, shared by all workers.

A host grants one claim per `delay` seconds and at most `most` at once. Its delay is the largest of what was set for
it (or for all), its Crawl-delay, and a multiple of its response time. Answers of 429 or 503 halve its rate, which
recovers by successes, and block it for a while: once for all requests that were under way together, for these are one
event. After some events of any failure in a row, without a well answer in between, the host is ill: it is only probed,
a page at a time, at growing intervals (see `health`). With a budget, only so many of its pages are fetched for the
first time. Pages whose last visit failed wait in a queue of their own, the longest untried first, and get a tenth of
the claims of their host while other pages wait in its queue.
A waiting page that is met while its host is not ready moves, once, to the host's own queue; hosts that have a queue
are found by `ready_at`. Where there is a budget, pages that were never fetched wait in a second queue, which is looked
at only while there is room. Pages enter and leave a host's queues, and a queue begins and ends, only under the host's
lock; hosts are locked after pages, in the order of their names, and before addresses. A host that nothing is asked of
is never written, and of the others only what has changed.
Statements: hosts/*, brain/lock.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graphbrain.frontier.hosts import addresses, robots
from graphbrain.frontier.hosts.addresses import Address
from graphbrain.frontier.hosts.state import (
    COLUMNS,
    FAILING_COLUMNS,
    KEPT,
    NO_TEXT,
    SHARED_QUEUE,
    HostRequest,
    HostState,
    PolitenessPolicy,
)
from graphbrain.graph.connection import Again, Tx
from graphbrain.schedule.blocks import VisitStep

__all__ = [
    "NOTHING_COUNTED",
    "HostEffects",
    "conclude",
    "conclude_and_hold",
    "crowded",
    "earliest",
    "file_retries",
    "know_budgets",
    "lock",
    "may_probe",
    "origins",
    "places",
    "probes",
    "queues",
    "read",
    "rules",
    "write",
]

PROBES = 0.1
"""At most this part of the claims that are out are of ill hosts; but one always may be."""
MOST_WAITING = 1_000
"""Ill hosts that wait for a place are counted up to so many."""
NOTHING_COUNTED: Mapping[str, Any] = {"counts_budgets": None, "all_count_budgets": None, "reviewing_hosts": None}
"""The properties of the brain of an empty graph."""
WOKEN = 8
"""So many more of the hosts that wait at a full address are looked at than there is room for: some are not ready."""


@dataclass(slots=True)
class HostEffects:
    """The effects of one transaction's visits and ended claims on one host."""

    claims: int = 0
    """claims that were counted, and end"""
    spent: int = 0
    """pages more of the budget that are used; such a host is locked, so that a count of its pages misses none"""
    claims_at: Counter[str] = field(default_factory=Counter)
    """the addresses at which the ended claims were counted"""
    successes: Counter[str] = field(default_factory=Counter)
    """pages that were fetched, by the token of their claims"""
    failures: list[HostRequest] = field(default_factory=list)
    """refused, broken and silent ones"""
    well_at: float | None = None
    """when the last well attempt ended"""
    well_asked_at: float = 0.0
    """when the last well attempt was made, at the earliest"""
    spared_at: float | None = None
    """when pages that were well now had failed the last time, of those that failed by their host's fault alone"""
    inconclusive: bool = False
    """whether there was an attempt that shows nothing about the host"""
    unasked: bool = False
    """whether there was an answer to a request without a claim"""
    seconds: float | None = None
    """how long the last fetch took"""
    address: str | None = None
    """where the crawler reached it"""
    differences: list[tuple[str, VisitStep]] = field(default_factory=list)
    """of second visits of its pages, by URL: see `graphbrain.schedule.section_noise`"""

    def well(self, asked_at: float, ended_at: float) -> None:
        """An attempt was well that was made at `asked_at` at the earliest, and ended at `ended_at`."""
        self.well_at = max(self.well_at or 0.0, ended_at)
        self.well_asked_at = max(self.well_asked_at, asked_at)

    def certain(self, manners: PolitenessPolicy) -> bool:
        """Return whether the host must be locked, whatever its properties are."""
        timed = self.seconds is not None and manners.response_times > 0
        return bool(self.claims or self.spent or self.failures or self.differences or timed)

    def matters(self, host: HostState) -> bool:
        """Return whether these effects change the host, as it was read."""
        moved = self.address not in (None, host.address) and host.manners.by_address
        if self.well_at is not None and (host.failing > 0 or host.is_evidence(self.spared_at)):
            return True
        return moved or (bool(self.successes) and (host.errors > 0 or host.pace < 1.0))


_WELL = (None,) * len(FAILING_COLUMNS)


def read(tx: Tx, names: Iterable[str], manners: PolitenessPolicy, now: float | None = None) -> dict[str, HostState]:
    """Hosts as they are now, without a lock; their times are put right, where `now` is given."""
    return _hosts(tx, "hosts/read", names, manners, now)


def _hosts(
    tx: Tx, statement: str, names: Iterable[str], manners: PolitenessPolicy, now: float | None
) -> dict[str, HostState]:
    wanted = sorted(set(names))
    hosts: dict[str, HostState] = {}
    for *values, failing in tx.one(statement, names=wanted)[0] if wanted else ():
        stored = dict(zip((*COLUMNS, *FAILING_COLUMNS), (*values, *(failing or _WELL)), strict=True))
        hosts[stored["name"]] = HostState(stored, manners).put_right(now)
    return hosts


def lock(tx: Tx, names: Iterable[str], manners: PolitenessPolicy, now: float | None = None) -> dict[str, HostState]:
    """Lock hosts, by name, and `read` them. No page may be locked after this. Raises Again if one is gone."""
    wanted = set(names)
    hosts = _hosts(tx, "hosts/lock", wanted, manners, now)
    if len(hosts) != len(wanted):
        raise Again
    return hosts


def places(tx: Tx, hosts: Iterable[HostState], manners: PolitenessPolicy, now: float) -> dict[str, Address]:
    """Lock the addresses of locked hosts, if they have limits. No host may be locked after this."""
    if not manners.by_address:
        return {}
    addressed = [host for host in hosts if host.address is not None]
    names = {host.address for host in addressed if host.address is not None}
    locked = addresses.lock(tx, names, manners.address_delay, manners.address_most, now)
    for host in addressed:
        host.address_state = locked[host.address or ""]
    return locked


def origins(texts: Mapping[str, tuple[str | None, str | None]]) -> list[str] | None:
    """Return the part of `Host.robots` that is kept by scheme, in the form in which a host stores it."""
    return [f"{scheme} {mark or NO_TEXT} {agent or ''}" for scheme, (mark, agent) in texts.items() if scheme] or None


def rules(tx: Tx, hosts: Iterable[HostState]) -> None:
    """Give locked hosts their robots.txt, parsed; texts that this process does not know are read."""
    kept = {host.name: (host, host.robots()) for host in hosts if host.has_robots}
    marks = {mark for _, each in kept.values() for mark, _ in each.values() if mark is not None}
    rules_of = {mark: robots.remembered(mark) for mark in marks}
    missing = sorted(
        name for name, (_, each) in kept.items() if any(m and rules_of[m] is None for m, _ in each.values())
    )
    # Read and parse the texts that this process has not met.
    for name, *texts in tx.one("hosts/robots", names=missing)[0] if missing else ():
        for scheme, text in zip(KEPT, texts, strict=True):
            mark, _ = kept[name][1].get(scheme, (None, None))
            if mark is not None and text is not None:
                rules_of[mark] = robots.parsed(text)
    for host, each in kept.values():
        host.rules = {
            scheme: (rules_of[mark] if mark is not None else None, agent or host.manners.agent)
            for scheme, (mark, agent) in each.items()
        }


def know_budgets(tx: Tx, hosts: Iterable[HostState]) -> None:
    """Count the used part of the budget of locked hosts for which it is not known yet."""
    new = [host for host in hosts if host.budget > 0 and host.budget_used is None]
    if new:
        counts = dict(tx.one("hosts/fetched", names=sorted(host.name for host in new))[0])
        for host in new:
            host.budget_used = counts[host.name]


def write(tx: Tx, hosts: Iterable[HostState], reached: Iterable[Address], now: float) -> None:
    """Write what has changed of locked hosts and addresses."""
    rows = [[host.name, changes] for host in hosts if (changes := host.changes(now))]
    if rows:
        tx.do("hosts/write", rows=rows)
    addresses.write(tx, reached)


def conclude(
    tx: Tx,
    ends: Mapping[str, HostEffects],
    filing: Mapping[str, float],
    manners: PolitenessPolicy,
    now: float,
    retrying: Iterable[str] = (),
) -> Mapping[str, str]:
    """Apply visits and ended claims to their hosts, and return the queues in which pages of the hosts `filing` wait.

    `filing`: host → from when on the first of those pages may be visited: a host that rests does so until then.
    `retrying`: hosts in whose queues of retries a page is put. The transaction's last locks: a host's queue neither
    begins nor ends until it commits.
    """
    names = set(retrying)
    return conclude_and_hold(tx, ends, filing, manners, now, lambda _: names, names)[0]


def conclude_and_hold(
    tx: Tx,
    ends: Mapping[str, HostEffects],
    filing: Mapping[str, float],
    manners: PolitenessPolicy,
    now: float,
    retrying: Callable[[Mapping[str, HostState]], Iterable[str]] = lambda _: (),
    involved: Iterable[str] = (),
) -> tuple[Mapping[str, str], Mapping[str, HostState]]:
    """`conclude`, and the hosts that had to be locked for it, as they are now.

    `retrying` names, by the hosts as they are then, those in whose queues of retries a page is put; they are among
    those of failed requests, or `involved`.

    A host for which an answer may be no news is read without a lock: one that is well costs a report none. Where it
    fails between this read and this commit, the answer counts as before that: it could as well have been.
    """
    # Find the hosts whose state may change. Only these are locked.
    names = filing.keys()
    certain = {name for name, end in ends.items() if end.certain(manners)}.union(involved)
    doubtful = {
        name
        for name, end in ends.items()
        if end.successes or end.unasked or end.well_at is not None or (end.address and manners.by_address)
    }
    unsure = read(tx, (names | doubtful) - certain, manners, now)
    wanted = {name for name, host in unsure.items() if host.queued or (name in ends and ends[name].matters(host))}
    # A claim that ended makes room at its address, for which other hosts may wait.
    ended_at: Counter[str] = sum((end.claims_at for end in ends.values()), Counter())
    waiting = _waiting(tx, ended_at, now) if ended_at and manners.address_most else set()
    # Lock hosts, then addresses.
    locked = lock(tx, certain | wanted | waiting, manners, now) if certain or wanted or waiting else {}
    reached = {*ended_at, *(end.address for end in ends.values() if end.address is not None and manners.by_address)}
    by_name = addresses.lock(tx, reached, manners.address_delay, manners.address_most, now) if reached else {}
    # Apply what came of the requests, and file the pages that wait now.
    for name in sorted(locked.keys() & ends.keys()):
        _end(locked[name], ends[name], now)
    for name in sorted(locked.keys() & names):
        if locked[name].queued:
            locked[name].file(filing[name])
    for name in retrying(locked):
        locked[name].file_retry(now)
    if ended_at:
        _leave(by_name, ended_at, [locked[name] for name in waiting], now)
    if locked or by_name:
        write(tx, (locked[name] for name in sorted(locked)), by_name.values(), now)
    own = {host.name for host in locked.values() if host.queued}
    return {name: name if name in own else SHARED_QUEUE for name in names}, locked


def _waiting(tx: Tx, ended_at: Mapping[str, int], now: float) -> set[str]:
    """Hosts that may wait for room at the addresses that claims leave."""
    return set(tx.one("hosts/at_addresses", names=sorted(ended_at), now=now, limit=max(ended_at.values()) + WOKEN)[0])


def _end(host: HostState, end: HostEffects, now: float) -> None:
    host.in_flight = max(0, host.in_flight - end.claims)
    if end.spent:
        host.refund(end.spent)
    if end.differences:
        host.learn_noise(end.differences)
    complaints = [each for each in end.failures if each.kind == "refused"]
    if complaints:
        host.slow_down(complaints, now)
    _attend(host, end, now)
    if not complaints and end.successes:
        host.forgive(end.successes, now)
    if end.seconds is not None and host.manners.response_times > 0:
        host.answered_in(end.seconds, now)
    if end.address is not None and host.manners.by_address:
        host.address = end.address


def _attend(host: HostState, end: HostEffects, now: float) -> None:
    """Apply the attempts of a transaction to the health of a host, in the order in which they were made."""
    if host.is_evidence(end.spared_at):
        host.clear_pages(now)
    blamed = [each for each in end.failures if not host.is_own_fault(each)]
    if end.well_at is not None and end.well_at >= host.failing_at:
        host.recover(end.well_asked_at)
        blamed = [each for each in blamed if each.ended > (end.well_at or 0.0)]
    if blamed:
        host.fail(blamed, now)
    elif end.failures or end.inconclusive:
        host.probed_in_vain(now)


def _leave(
    by_name: Mapping[str, Address], ended_at: Mapping[str, int], waiting: Sequence[HostState], now: float
) -> None:
    """Claims leave these addresses; where one was full, as many hosts that wait there come next."""
    for name in sorted(ended_at):
        address, free = by_name[name], ended_at[name]
        full = address.full()
        address.in_flight = max(0, address.in_flight - ended_at[name])
        line = [host for host in waiting if host.address == name and host.turn_at > now] if full else []
        for host in sorted(line, key=lambda host: (host.turn_at, host.name)):
            if free and host.ready(now):
                host.turn_at = max(0.0, address.next_at)
                free -= 1


def probes(tx: Tx, now: float) -> tuple[int, int, int]:
    """Return the claims of ill hosts that are out, all claims that are out, and the number of ill hosts that wait.

    Until this transaction ends, no other counts.
    """
    tx.one("brain/lock")
    return _probes(tx, now)


def _probes(tx: Tx, now: float) -> tuple[int, int, int]:
    probing, out, waiting = tx.one("hosts/probes", now=now, most=MOST_WAITING)
    return int(probing), int(out), int(waiting)


def may_probe(probing: int, out: int) -> bool:
    """Return whether one more claim of an ill host is allowed, when `probing` of all `out` claims are of ill hosts."""
    return probing + 1 <= max(1, int(PROBES * (out + 1)))


def probe_places(tx: Tx, now: float, most: int) -> int:
    """Return how many more claims of ill hosts may go out now, up to `most`, as far as is known without a lock."""
    probing, out, _ = _probes(tx, now)
    free = 0
    while free < most and may_probe(probing + free, out + free):
        free += 1
    return free


def crowded(tx: Tx, hosts: Iterable[HostState], now: float) -> bool:
    """Return whether as many claims of ill hosts are under way as are allowed, by a read without a lock; False if none
    needs a probe."""
    return any(host.needs_probe() for host in hosts) and not may_probe(*_probes(tx, now)[:2])


def queues(tx: Tx, filing: Mapping[str, float], manners: PolitenessPolicy, now: float) -> Mapping[str, str]:
    """Return the queues in which pages of these hosts wait, decided under the locks of those that have their own.

    `filing`: host → from when on the first of those pages may be visited.
    """
    return conclude(tx, {}, filing, manners, now)


def file_retries(tx: Tx, filing: Mapping[str, float], manners: PolitenessPolicy, now: float) -> None:
    """Put the pages of these hosts whose last visit failed into the queues of retries. Lock the hosts.

    `filing`: host → the time from which the first of these pages may be visited.
    """
    locked = lock(tx, set(filing), manners, now)
    for name, host in locked.items():
        host.file_retry(filing[name])
    write(tx, (locked[name] for name in sorted(locked)), (), now)


def earliest(moments: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Name (of a host or queue) → the earliest of its moments."""
    first: dict[str, float] = {}
    for name, moment in moments:
        first[name] = min(moment, first.get(name, moment))
    return first
