"""Limits by address: hosts that one server serves share its delay and its limit. They are kept on the (:Address) node.

A crawler that reports the address at which it reached a host makes the host share the limits of addresses; without such
a limit nothing is read, locked or written here. A host that must wait gets a turn of its own, one `delay` after the
last turn that was given, so that the hosts of a busy address do not all come at once and hide the others. Addresses are
locked after hosts, in the order of their names. Statements: addresses/*.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from graphbrain.frontier.hosts import clock_ahead
from graphbrain.graph.connection import Tx

__all__ = ["FULL_WAIT", "Address", "lock", "write"]

FULL_WAIT = 60.0
"""Seconds after which a host or address that is full is looked at again even if nothing was reported."""


@dataclass(slots=True)
class Address:
    """One address as it was locked, and as the transaction changes it. Times in epoch seconds, 0 where there is none.

    `next_at`: when it may be asked again; `turns_until`: when the next turn that can be given out begins.
    """

    name: str
    delay: float
    most: int
    next_at: float
    in_flight: int
    turns_until: float
    _stored: tuple[float, int, float] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._stored = (self.next_at, self.in_flight, self.turns_until)

    def full(self) -> bool:
        """Return whether as many claims of its hosts are under way as are allowed."""
        return 0 < self.most <= self.in_flight

    def ready(self, now: float) -> bool:
        """Return whether a page of one of its hosts may be claimed now."""
        return self.next_at <= now and not self.full()

    def grant(self, now: float) -> None:
        """A page of one of its hosts is claimed."""
        self.next_at = now + self.delay
        self.in_flight += 1

    def turn(self, now: float) -> float:
        """Return when a host that is not let in now should come again.

        One that is early by less than half a delay comes as soon as the address is ready: it is its turn, and only the
        grant before came a little late. Any other goes to the end of the line, so that few come at the same time.
        """
        if self.full():
            return now + FULL_WAIT
        if self.next_at - now < self.delay / 2:
            return self.next_at
        turn = max(self.turns_until, self.next_at)
        self.turns_until = turn + self.delay
        return turn

    def put_right(self, now: float) -> None:
        """Put right the times of a clock that was ahead: the last claim of one of its hosts counts as now, and turns
        are given anew."""
        if clock_ahead.is_ahead(self.next_at - self.delay, now):
            self.next_at = now + self.delay
            self.turns_until = min(self.turns_until, self.next_at)

    def changes(self) -> dict[str, object]:
        """Return the properties that have changed, for the write."""
        names, now = ("next_at", "in_flight", "turns_until"), (self.next_at, self.in_flight, self.turns_until)
        return {name: new for name, new, old in zip(names, now, self._stored, strict=True) if new != old}


def lock(tx: Tx, names: Iterable[str], delay: float, most: int, now: float | None = None) -> dict[str, Address]:
    """Lock addresses in the order of their names, and make those that are new; with their times put right, where `now`
    is given.

    No page and no host may be locked after this.
    """
    wanted = sorted(set(names))
    if not wanted:
        return {}
    locked = {
        name: Address(name, delay, most, next_at, in_flight, turns_until)
        for name, next_at, in_flight, turns_until in tx.one("addresses/lock", names=wanted)[0]
    }
    if now is not None:
        for address in locked.values():
            address.put_right(now)
    return locked


def write(tx: Tx, addresses: Iterable[Address]) -> None:
    """Write what has changed of locked addresses."""
    rows = [[each.name, changes] for each in addresses if (changes := each.changes())]
    if rows:
        tx.do("addresses/write", rows=rows)
