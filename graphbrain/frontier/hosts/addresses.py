"""Limits that hosts share: those of a group, or else of their IP address, which the (:Address) node stores.

A host shares the limits of the group that the setting `groups` names for it. Without a group it shares those of an
address, after a crawler has reported that it reached the host there. Without a setting of such limits nothing is read,
locked or written here. A host that must wait gets a turn, one `delay` after the last turn that was given, so that the
hosts of a busy address do not all become ready at once, before other hosts. Addresses are locked after hosts, in the
order of their names. Statement: addresses/lock.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from graphbrain.frontier.hosts import clock_ahead
from graphbrain.frontier.hosts.politeness_policy import PolitenessPolicy
from graphbrain.graph.connection import Tx

__all__ = ["FULL_WAIT", "Address", "lock"]

FULL_WAIT = 60.0
"""Seconds after which a full host or address is looked at again even without a report."""


@dataclass(slots=True)
class Address:
    """One locked address or group, as the transaction changes it. Times are in epoch seconds; 0 if there is none.

    Attributes:
        name: The IP address, or the name of the group.
        delay: Seconds between two claims.
        most: Most open claims; 0 is no limit.
        next_at: The time of the next claim.
        in_flight: The number of open claims.
        turns_until: The time of the next turn that can be given to a host.
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
        """Return whether its hosts have as many open claims as are allowed."""
        return 0 < self.most <= self.in_flight

    def ready(self, now: float) -> bool:
        """Return whether a page of one of its hosts may be claimed now."""
        return self.next_at <= now and not self.full()

    def grant(self, now: float) -> None:
        """Count the claim of a page of one of its hosts."""
        self.next_at = now + self.delay
        self.in_flight += 1

    def turn(self, now: float) -> float:
        """Return the time at which a host that cannot be claimed now gets its turn.

        If less than half a delay is missing, it is the time at which the address is ready: the host has its turn, and
        only the claim before it was a little late. Otherwise the host gets a turn after all others, so that few hosts
        become ready at the same time.
        """
        if self.full():
            return now + FULL_WAIT
        if self.next_at - now < self.delay / 2:
            return self.next_at
        turn = max(self.turns_until, self.next_at)
        self.turns_until = turn + self.delay
        return turn

    def put_right(self, now: float) -> None:
        """Correct the times of a clock that was ahead: the last claim counts as now, and new turns begin then."""
        if clock_ahead.is_ahead(self.next_at - self.delay, now):
            self.next_at = now + self.delay
            self.turns_until = min(self.turns_until, self.next_at)

    def changes(self) -> dict[str, object]:
        """Return the changed properties, for the write."""
        names, now = ("next_at", "in_flight", "turns_until"), (self.next_at, self.in_flight, self.turns_until)
        return {name: new for name, new, old in zip(names, now, self._stored, strict=True) if new != old}


def lock(tx: Tx, names: Iterable[str], manners: PolitenessPolicy, now: float | None = None) -> dict[str, Address]:
    """Lock addresses and groups in the order of their names, and create new ones. Return name → address.

    Their times are corrected if `now` is given. No page and no host may be locked after this.
    """
    wanted = sorted(set(names))
    if not wanted:
        return {}
    locked = {
        name: Address(name, *manners.limits_of(name), next_at, in_flight, turns_until)
        for name, next_at, in_flight, turns_until in tx.one("addresses/lock", names=wanted)[0]
    }
    if now is not None:
        for address in locked.values():
            address.put_right(now)
    return locked
