"""Politeness: durable, on the (:Host) node, shared by all workers.

A host grants one claim per `delay` seconds and at most `most` at once; a host that answered 429 or 503 is blocked
for a while. A waiting page that is met while its host is not ready moves, once, to the host's own queue; hosts that
have a queue are found by `ready_at`. Pages enter and leave a host's queue, and a queue begins and ends, only under
the host's lock; hosts are locked after pages, in the order of their names. A host with neither delay nor limit is
never written.
Statements: hosts/*.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from graphbrain.graph import Again, Tx

__all__ = [
    "LONGEST_BLOCK",
    "SHARED_QUEUE",
    "Host",
    "Manners",
    "finish",
    "lock",
    "queues",
    "read",
    "set_manners",
    "slow",
    "write",
]

SHARED_QUEUE = "*"
FULL_WAIT = 60.0
"""Seconds after which a host that is full is looked at again even if nobody has reported."""
FIRST_BLOCK, LONGEST_BLOCK = 60.0, 30 * 86_400.0
"""Seconds a host is left alone after its first 429/503 without a Retry-After, doubled at each; and at most."""


@dataclass(frozen=True, slots=True)
class Manners:
    """What the brain asks of hosts that have nothing of their own: seconds between claims, most in flight (0: any)."""

    delay: float
    most: int


@dataclass(slots=True)
class Host:
    """One host as it was locked, and as the transaction changes it."""

    name: str
    delay: float
    most: int
    queued: bool
    blocked_until: float
    next_at: float
    in_flight: int
    errors: int
    ripe_at: float = 0.0
    """Before this none of the pages in its queue may be visited; 0 where that was not looked at."""

    def polite(self, now: float) -> bool:
        """Must claims of this host be counted and spaced?"""
        return self.delay > 0 or self.most > 0 or self.queued or self.blocked_until > now

    def ready(self, now: float) -> bool:
        """May one of its pages be claimed now?"""
        return self.next_at <= now and self.blocked_until <= now and not self.full()

    def full(self) -> bool:
        return 0 < self.most <= self.in_flight

    def ready_at(self, now: float) -> float | None:
        """When its queue should be looked at next; None when it has no queue."""
        if not self.queued:
            return None
        at = max(self.next_at, self.blocked_until, self.ripe_at)
        return max(at, now + FULL_WAIT) if self.full() else at

    def resting(self) -> bool:
        """Does its queue wait for pages that were visited too lately, and for nothing else?"""
        return self.queued and self.ripe_at > max(self.next_at, self.blocked_until)

    def grant(self, now: float) -> None:
        self.next_at = now + self.delay
        self.in_flight += 1


def _hosts(tx: Tx, statement: str, names: Iterable[str], manners: Manners) -> dict[str, Host]:
    wanted = sorted(set(names))
    if not wanted:
        return {}
    return {
        name: Host(
            name,
            manners.delay if delay is None else delay,
            manners.most if most is None else most,
            queued,
            blocked,
            next_at,
            in_flight,
            errors,
        )
        for name, delay, most, queued, blocked, next_at, in_flight, errors in tx.one(statement, names=wanted)[0]
    }


def read(tx: Tx, names: Iterable[str], manners: Manners) -> dict[str, Host]:
    """Hosts as they are now, without a lock."""
    return _hosts(tx, "hosts/read", names, manners)


def lock(tx: Tx, names: Iterable[str], manners: Manners) -> dict[str, Host]:
    """Lock hosts, in the order of their names. No page may be locked after this. Raises Again if one is gone."""
    wanted = set(names)
    hosts = _hosts(tx, "hosts/lock", wanted, manners)
    if len(hosts) != len(wanted):
        raise Again
    return hosts


def write(tx: Tx, hosts: Iterable[Host], now: float) -> None:
    """Write locked hosts back."""
    rows = [
        [h.name, h.next_at, h.in_flight, (h.queued and not h.resting()) or None, h.ready_at(now), h.resting() or None]
        for h in hosts
    ]
    if rows:
        tx.do("hosts/write", rows=rows)


def finish(tx: Tx, counted: Iterable[str], filing: Iterable[str], manners: Manners, now: float) -> Mapping[str, str]:
    """End claims that were counted (one name each), and say in which queue pages of the hosts `filing` wait.

    The transaction's last locks: a host's queue neither begins nor ends until it commits.
    """
    ended = Counter(counted)
    names = set(filing)
    queued = {h.name for h in read(tx, names - set(ended), manners).values() if h.queued}
    hosts = lock(tx, queued | set(ended), manners) if queued or ended else {}
    for name, count in ended.items():
        hosts[name].in_flight = max(0, hosts[name].in_flight - count)
    # A host that rested until its pages are ripe has got another one now.
    write(tx, (hosts[name] for name in sorted(hosts)), now)
    own = {h.name for h in hosts.values() if h.queued}
    return {name: name if name in own else SHARED_QUEUE for name in names}


def slow(tx: Tx, asked: Mapping[str, float | None], polite: Iterable[str], manners: Manners, now: float) -> None:
    """Block the hosts that answered 429/503 for as long as they asked (None: doubling); forgive those that did not."""
    forgiven = {h.name for h in read(tx, set(polite) - set(asked), manners).values() if h.errors}
    hosts = lock(tx, set(asked) | forgiven, manners) if asked or forgiven else {}
    rows: list[list[str | float | int | None]] = []
    for name in sorted(asked):
        host, seconds = hosts[name], asked[name]
        if seconds is None:
            seconds = FIRST_BLOCK * 2 ** min(host.errors, 20)
        host.blocked_until = max(host.blocked_until, now + min(seconds, LONGEST_BLOCK))
        host.errors += 1
        rows.append([name, host.blocked_until, host.errors])
    rows += [[name, None, None] for name in sorted(forgiven) if hosts[name].blocked_until <= now]
    if rows:
        tx.do("hosts/slow", rows=rows)
    write(tx, (hosts[name] for name in sorted(asked)), now)


def set_manners(
    tx: Tx, name: str, delay: float | None, most: int | None, blocked_for: float | None, manners: Manners, now: float
) -> None:
    """Set one host's own delay, limit and block; None means the brain's (and no block)."""
    host = lock(tx, [name], manners)[name]
    tx.do("hosts/manners", name=name, delay=delay, most=most)
    until = now + blocked_for if blocked_for else None
    tx.do("hosts/slow", rows=[[name, until, None]])
    host.delay = manners.delay if delay is None else delay
    host.most = manners.most if most is None else most
    host.blocked_until = until or 0.0
    host.next_at = min(host.next_at, now + host.delay)
    write(tx, [host], now)


def queues(tx: Tx, names: Iterable[str], manners: Manners, now: float) -> Mapping[str, str]:
    """In which queue pages of these hosts wait, decided under the lock of those that have one of their own."""
    return finish(tx, (), names, manners, now)
