"""The limits of hosts and addresses. They are stored on the (:Host) and (:Address) nodes, so all workers keep them.

A host grants one claim per `delay` seconds, and at most `most` claims at the same time. Its delay is the largest of the
delay that was set for it (or for all hosts), its Crawl-delay, and a multiple of its response time. An answer 429 or 503
halves its rate, which recovers by successes, and blocks the host for a while. Answers to requests that were under way
together are one event, and count once. After some events of failure in a row the host is ill: it is only probed, one
page at a time, at growing intervals (see `health`). With a budget, only so many of its pages are fetched for the first
time. Pages whose last visit failed wait in a separate queue, the longest untried first. They get a tenth of the claims
of their host while other pages wait in its queue.

A page that would be claimed while its host is not ready moves to the host's own queue, once. Claims find hosts with a
queue by `ready_at`. With a budget, pages that were never fetched wait in a second queue, which is used only while the
budget has room. Pages enter and leave the queues of a host, and a queue begins and ends, only under the lock of the
host. Hosts are locked after pages, in the order of their names, and before addresses. A host without any limit is never
written, and only changed properties of other hosts are written.
Statements: addresses/write, hosts/*, brain/lock.
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
"""The largest share of all open claims that may be probes of ill hosts. One probe is always allowed."""
MOST_WAITING = 1_000
"""Most ill hosts that are counted of those that wait to be probed."""
NOTHING_COUNTED: Mapping[str, Any] = {"counts_budgets": None, "all_count_budgets": None, "reviewing_hosts": None}
"""The properties of the brain of an empty graph."""
WOKEN = 8
"""The number of hosts that are read at a full address in addition to those that it has room for: some are not ready."""


@dataclass(slots=True)
class HostEffects:
    """The effects of one transaction's visits and ended claims on one host.

    Attributes:
        claims: The number of ended claims that the host had counted.
        spent: The number of further pages of the budget that are used. Such a host is locked, so that a count of its
            pages misses none.
        claims_at: Address → the number of ended claims that it had counted.
        successes: Token of a claim → the number of pages that were fetched.
        failures: The requests that were refused, broken or silent.
        well_at: The end of the last well attempt.
        well_asked_at: The earliest possible beginning of the last well attempt.
        spared_at: The last failure of those pages that are well now and had failed while their host was ill.
        inconclusive: True if there was an attempt that shows nothing about the host.
        unasked: True if there was an answer to a request without a claim.
        seconds: The duration of the last fetch.
        address: The IP address at which the crawler reached the host.
        differences: (URL, differences) of second visits of its pages, see `graphbrain.schedule.section_noise`.
    """

    claims: int = 0
    spent: int = 0
    claims_at: Counter[str] = field(default_factory=Counter)
    successes: Counter[str] = field(default_factory=Counter)
    failures: list[HostRequest] = field(default_factory=list)
    well_at: float | None = None
    well_asked_at: float = 0.0
    spared_at: float | None = None
    inconclusive: bool = False
    unasked: bool = False
    seconds: float | None = None
    address: str | None = None
    differences: list[tuple[str, VisitStep]] = field(default_factory=list)

    def well(self, asked_at: float, ended_at: float) -> None:
        """Add a well attempt. `asked_at`: the earliest possible time of its request."""
        self.well_at = max(self.well_at or 0.0, ended_at)
        self.well_asked_at = max(self.well_asked_at, asked_at)

    def certain(self, manners: PolitenessPolicy) -> bool:
        """Return whether the host must be locked without regard to its properties."""
        timed = self.seconds is not None and manners.response_times > 0
        return bool(self.claims or self.spent or self.failures or self.differences or timed)

    def matters(self, host: HostState) -> bool:
        """Return whether these effects change a host that was read without a lock."""
        has_moved = self.address is not None and host.moves_to(self.address)
        if self.well_at is not None and (host.failing > 0 or host.is_evidence(self.spared_at)):
            return True
        return has_moved or (bool(self.successes) and (host.errors > 0 or host.pace < 1.0))


_WELL = (None,) * len(FAILING_COLUMNS)


def read(
    tx: Tx, names: Iterable[str], manners: PolitenessPolicy, now: float | None = None, statement: str = "hosts/read"
) -> dict[str, HostState]:
    """Read hosts, without a lock unless the `statement` is hosts/lock. Return name → host, with corrected times if
    `now` is given."""
    wanted = sorted(set(names))
    hosts: dict[str, HostState] = {}
    for *values, values_of_failing in tx.one(statement, names=wanted)[0] if wanted else ():
        stored = dict(zip((*COLUMNS, *FAILING_COLUMNS), (*values, *(values_of_failing or _WELL)), strict=True))
        hosts[stored["name"]] = HostState(stored, manners).at(now)
    return hosts


def lock(tx: Tx, names: Iterable[str], manners: PolitenessPolicy, now: float | None = None) -> dict[str, HostState]:
    """Lock hosts in the order of their names, and `read` them. No page may be locked after this.

    Raises Again if a host was deleted.
    """
    wanted = set(names)
    hosts = read(tx, wanted, manners, now, "hosts/lock")
    if len(hosts) != len(wanted):
        raise Again
    return hosts


def places(tx: Tx, hosts: Iterable[HostState], manners: PolitenessPolicy, now: float) -> dict[str, Address]:
    """Lock the groups and addresses of locked hosts if these have limits. Return name → address. No host may be locked
    after this."""
    sharing = [host for host in hosts if host.shares_limits]
    if not sharing:
        return {}
    names = {host.address for host in sharing if host.address is not None}
    locked = addresses.lock(tx, names, manners, now)
    for host in sharing:
        host.address_state = locked[host.address or ""]
    return locked


def origins(texts: Mapping[str, tuple[str | None, str | None]]) -> list[str] | None:
    """Return the robots.txt of single schemes among those of a host (`HostState.robots`), as the node stores them."""
    return [f"{scheme} {mark or NO_TEXT} {agent or ''}" for scheme, (mark, agent) in texts.items() if scheme] or None


def rules(tx: Tx, hosts: Iterable[HostState]) -> None:
    """Set the parsed robots.txt of hosts."""
    # Find the texts that this process has parsed.
    with_robots = [host for host in hosts if host.has_robots]
    marks_of = {host.name: host.robots() for host in with_robots}
    marks = {mark for marks in marks_of.values() for mark, _ in marks.values() if mark is not None}
    rules_of = {mark: robots.remembered(mark) for mark in marks}
    unknown = {mark for mark, rules in rules_of.items() if rules is None}
    # Read and parse the others.
    missing = sorted(name for name, marks in marks_of.items() if any(mark in unknown for mark, _ in marks.values()))
    for name, *texts in tx.one("hosts/robots", names=missing)[0] if missing else ():
        for scheme, text in zip(KEPT, texts, strict=True):
            mark, _ = marks_of[name].get(scheme, (None, None))
            if mark is not None and text is not None:
                rules_of[mark] = robots.parsed(text)
    # Set them.
    for host in with_robots:
        host.rules = {
            scheme: (rules_of[mark] if mark is not None else None, agent or host.manners.agent)
            for scheme, (mark, agent) in marks_of[host.name].items()
        }


def know_budgets(tx: Tx, hosts: Iterable[HostState]) -> None:
    """Count the pages of locked hosts for which the used part of the budget is not known yet."""
    uncounted = [host for host in hosts if host.budget > 0 and host.budget_used is None]
    if uncounted:
        counts = dict(tx.one("hosts/fetched", names=sorted(host.name for host in uncounted))[0])
        for host in uncounted:
            host.budget_used = counts[host.name]


def write(tx: Tx, hosts: Iterable[HostState], reached: Iterable[Address], now: float) -> None:
    """Write the changed properties of locked hosts and addresses."""
    rows = [[host.name, changes] for host in hosts if (changes := host.changes(now))]
    if rows:
        tx.do("hosts/write", rows=rows)
    address_rows = [[each.name, changes] for each in reached if (changes := each.changes())]
    if address_rows:
        tx.do("addresses/write", rows=address_rows)


def conclude(
    tx: Tx,
    ends: Mapping[str, HostEffects],
    filing: Mapping[str, float],
    manners: PolitenessPolicy,
    now: float,
    retrying: Iterable[str] = (),
) -> Mapping[str, str]:
    """Apply visits and ended claims to their hosts. Return host → queue for the pages of the hosts in `filing`.

    These are the last locks of the transaction: the queue of a host neither begins nor ends until the commit.

    Args:
        tx: The transaction.
        ends: Host → the effects of visits and ended claims.
        filing: Host → the time from which on the first of its pages may be visited. A host that rests does so until
            then.
        manners: The limits of hosts.
        now: Epoch seconds.
        retrying: Hosts in whose queues of retries a page is put.
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
    """Do the same as `conclude`, and also return the hosts that were locked for it, by name.

    A host that an answer may not change is read without a lock, so the report of a well host takes no lock. If such a
    host fails between this read and the commit, the answer counts as one before the failure.

    Args:
        retrying: Returns, for the locked hosts, those in whose queues of retries a page is put. They must be hosts of
            failed requests, or be in `involved`.
        involved: Hosts to be locked in any case.
    """
    changing = _changing(tx, ends, filing.keys(), involved, manners, now)
    # Find the hosts that wait for room at the addresses of ended claims.
    ended_at: Counter[str] = sum((end.claims_at for end in ends.values()), Counter())
    waiting = _waiting(tx, ended_at, now) if ended_at and manners.shares_most else set()
    # Lock hosts, then addresses.
    locked = lock(tx, changing | waiting, manners, now) if changing or waiting else {}
    reached = {*ended_at, *(end.address for end in ends.values() if end.address is not None and manners.by_address)}
    by_name = addresses.lock(tx, reached, manners, now) if reached else {}
    # Apply the effects, and note the pages that wait.
    for name in sorted(locked.keys() & ends.keys()):
        _end(locked[name], ends[name], now)
    for name in sorted(locked.keys() & filing.keys()):
        if locked[name].queued:
            locked[name].file(filing[name])
    for name in retrying(locked):
        locked[name].file_retry(now)
    # Give the room at addresses to waiting hosts, and write.
    if ended_at:
        _leave(by_name, ended_at, [locked[name] for name in waiting], now)
    if locked or by_name:
        write(tx, (locked[name] for name in sorted(locked)), by_name.values(), now)
    with_queue = {host.name for host in locked.values() if host.queued}
    return {name: name if name in with_queue else SHARED_QUEUE for name in filing}, locked


def _changing(
    tx: Tx,
    ends: Mapping[str, HostEffects],
    filed: Iterable[str],
    involved: Iterable[str],
    manners: PolitenessPolicy,
    now: float,
) -> set[str]:
    """Return the hosts that `conclude_and_hold` changes, and `involved`. Read the uncertain ones without a lock."""
    certain = {name for name, end in ends.items() if end.certain(manners)}.union(involved)
    uncertain = {
        name
        for name, end in ends.items()
        if end.successes or end.unasked or end.well_at is not None or (end.address and manners.by_address)
    }
    present = read(tx, uncertain.union(filed) - certain, manners, now)
    changed = {name for name, host in present.items() if host.queued or (name in ends and ends[name].matters(host))}
    return certain | changed


def _waiting(tx: Tx, ended_at: Mapping[str, int], now: float) -> set[str]:
    """Return hosts that may wait for room at the addresses of ended claims."""
    return set(tx.one("hosts/at_addresses", names=sorted(ended_at), now=now, limit=max(ended_at.values()) + WOKEN)[0])


def _end(host: HostState, end: HostEffects, now: float) -> None:
    """Apply the effects of a transaction to a locked host."""
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
    if end.address is not None and host.moves_to(end.address):
        host.address = end.address


def _attend(host: HostState, end: HostEffects, now: float) -> None:
    """Apply the attempts of a transaction to the health of a host, in the order of their times."""
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
    """End claims at addresses. At an address that was full, as many waiting hosts get their turn next."""
    for name in sorted(ended_at):
        address, free = by_name[name], ended_at[name]
        was_full = address.full()
        address.in_flight = max(0, address.in_flight - ended_at[name])
        line = [host for host in waiting if host.address == name and host.turn_at > now] if was_full else []
        for host in sorted(line, key=lambda host: (host.turn_at, host.name)):
            if free and host.ready(now):
                host.turn_at = max(0.0, address.next_at)
                free -= 1


def probes(tx: Tx, now: float) -> tuple[int, int, int]:
    """Return (open claims of ill hosts, all open claims, ill hosts that wait to be probed), as numbers.

    No other transaction counts them until this one ends.
    """
    tx.one("brain/lock")
    return _probes(tx, now)


def _probes(tx: Tx, now: float) -> tuple[int, int, int]:
    probing, out, waiting = tx.one("hosts/probes", now=now, most=MOST_WAITING)
    return int(probing), int(out), int(waiting)


def may_probe(probing: int, out: int) -> bool:
    """Return whether one more probe is allowed, if `probing` of all `out` open claims are of ill hosts."""
    return probing + 1 <= max(1, int(PROBES * (out + 1)))


def probe_places(tx: Tx, now: float, most: int) -> int:
    """Return the number of further probes that are allowed now, up to `most`, by a read without a lock."""
    probing, out, _ = _probes(tx, now)
    free = 0
    while free < most and may_probe(probing + free, out + free):
        free += 1
    return free


def crowded(tx: Tx, hosts: Iterable[HostState], now: float) -> bool:
    """Return whether as many probes are under way as are allowed, by a read without a lock. False if none of these
    hosts needs a probe."""
    return any(host.needs_probe() for host in hosts) and not may_probe(*_probes(tx, now)[:2])


def queues(tx: Tx, filing: Mapping[str, float], manners: PolitenessPolicy, now: float) -> Mapping[str, str]:
    """Return host → the queue in which its pages wait, under the locks of the hosts with a queue of their own.

    `filing`: host → the time from which on the first of these pages may be visited.
    """
    return conclude(tx, {}, filing, manners, now)


def file_retries(tx: Tx, filing: Mapping[str, float], manners: PolitenessPolicy, now: float) -> None:
    """Lock hosts, and note that pages whose last visit failed wait in their queues of retries.

    `filing`: host → the time from which on the first of these pages may be visited.
    """
    locked = lock(tx, set(filing), manners, now)
    for name, host in locked.items():
        host.file_retry(filing[name])
    write(tx, (locked[name] for name in sorted(locked)), (), now)


def earliest(moments: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Return name → the earliest of its times, for (name, time) of hosts or queues."""
    first: dict[str, float] = {}
    for name, moment in moments:
        first[name] = min(moment, first.get(name, moment))
    return first
