"""Leases of whatever is claimed: hold them longer, give them back, and end those that have lapsed.

Pages (`frontier.claims.taking`) and resources (`frontier.claims.resources`) each have a `Leasing`, which locks its
nodes and writes them. The steps are the same for both, and are here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from graphbrain.base.model import Kind, kind_of
from graphbrain.frontier.policy import RETURNED, Policy
from graphbrain.graph.connection import Tx

__all__ = ["Lease", "Leasing", "release", "renew", "sweep"]


@dataclass(frozen=True, slots=True)
class Lease:
    """A locked page or resource and its lease.

    `token`, `until`: of the claim that holds it; None where there is none. `last`: the token of the claim before, and
    its outcome. `locked`: the page or resource, as its `Leasing` has locked it.
    """

    key: str
    token: str | None
    until: float | None
    last: tuple[str | None, str | None]
    locked: Any


class Leasing(Protocol):
    """One label whose nodes are leased."""

    name: str
    """The first part of the names of its transactions, before `/sweep`."""

    def has(self, key: str) -> bool:
        """Return True for the keys of its nodes."""

    def found(self, tx: Tx, keys: Iterable[str]) -> list[Lease]:
        """Lock those of these keys that are in the graph, in the order of locks."""

    def locked(self, tx: Tx, nodes: Sequence[Any]) -> list[Lease]:
        """Lock the nodes of these ids, in the order of locks."""

    def hold(self, tx: Tx, leases: Sequence[Lease], until: float) -> None:
        """Write that these leases end then."""

    def let_go(self, tx: Tx, leases: Sequence[Lease], policy: Policy, now: float) -> None:
        """End these leases without a report."""


def renew(tx: Tx, leasing: Leasing, held: Mapping[str, str], until: float) -> set[str]:
    """Hold the claims `key → token` until then, and return the keys that are still held."""
    mine = [lease for lease in leasing.found(tx, held) if lease.token == held[lease.key]]
    leasing.hold(tx, mine, until)
    return {lease.key for lease in mine}


def release(tx: Tx, leasing: Leasing, held: Mapping[str, str], policy: Policy, now: float) -> set[str]:
    """Give the claims `key → token` back, and return the keys that were held, or that this token gave back before."""
    leases = leasing.found(tx, held)
    mine = [lease for lease in leases if lease.token == held[lease.key]]
    before = {lease.key for lease in leases if lease.token is None and lease.last == (held[lease.key], RETURNED)}
    leasing.let_go(tx, mine, policy, now)
    return before | {lease.key for lease in mine}


def sweep(tx: Tx, leasing: Leasing, nodes: Sequence[Any], policy: Policy, now: float) -> Counter[Kind]:
    """End the leases among these nodes that have lapsed, and return their number by kind."""
    over = [lease for lease in leasing.locked(tx, nodes) if lease.until is not None and lease.until <= now]
    leasing.let_go(tx, over, policy, now)
    return Counter(kind_of(lease.key) for lease in over)
