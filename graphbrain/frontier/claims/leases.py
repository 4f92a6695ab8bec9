"""Leases of pages and resources: their renewal, their return, and the end of lapsed ones.

Pages (below) and resources (`frontier.claims.resources`) each have a `Leasing`, which locks their nodes and writes
them. The steps are the same for both. A page whose lease ends without a visit waits again in the queue in which it was.
Statements: claims/held, claims/renew, claims/release, claims/retry, claims/requeue.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from graphbrain.base.model import Kind, kind_of
from graphbrain.frontier import discovery
from graphbrain.frontier.hosts import health, politeness
from graphbrain.frontier.hosts.politeness import HostEffects
from graphbrain.frontier.hosts.state import PolitenessPolicy, retry_queue
from graphbrain.frontier.policy import RETURNED, Policy
from graphbrain.graph.connection import Tx
from graphbrain.schedule.lanes import ASKED

__all__ = ["PAGES", "Lease", "Leasing", "end_lease", "release", "renew", "retry", "sweep"]


@dataclass(frozen=True, slots=True)
class Lease:
    """A locked page or resource and its lease.

    `token`, `until`: those of its claim; None without a claim. `last`: the token of the claim before, and its outcome.
    `locked`: the page or resource, as its `Leasing` has locked it.
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


def renew(tx: Tx, leasing: Leasing, token_of: Mapping[str, str], until: float) -> set[str]:
    """Renew claims (key → token) until a time. Return the keys whose leases had not ended."""
    mine = [lease for lease in leasing.found(tx, token_of) if lease.token == token_of[lease.key]]
    leasing.hold(tx, mine, until)
    return {lease.key for lease in mine}


def release(tx: Tx, leasing: Leasing, token_of: Mapping[str, str], policy: Policy, now: float) -> set[str]:
    """Give claims (key → token) back. Return the keys that were claimed by this token, or that it gave back before."""
    leases = leasing.found(tx, token_of)
    mine = [lease for lease in leases if lease.token == token_of[lease.key]]
    before = {lease.key for lease in leases if lease.token is None and lease.last == (token_of[lease.key], RETURNED)}
    leasing.let_go(tx, mine, policy, now)
    return before | {lease.key for lease in mine}


def sweep(tx: Tx, leasing: Leasing, nodes: Sequence[Any], policy: Policy, now: float) -> Counter[Kind]:
    """End the leases among these nodes that have lapsed, and return their number by kind."""
    over = [lease for lease in leasing.locked(tx, nodes) if lease.until is not None and lease.until <= now]
    leasing.let_go(tx, over, policy, now)
    return Counter(kind_of(lease.key) for lease in over)


# ---------------------------------------------------------------------- pages


class _Pages:
    """The `Leasing` of nodes with the label Page."""

    name = "claims"

    def has(self, key: str) -> bool:
        return kind_of(key) == "page"

    def found(self, tx: Tx, keys: Iterable[str]) -> list[Lease]:
        return self.locked(tx, [*discovery.find(tx, keys).values()])

    def locked(self, tx: Tx, nodes: Sequence[int]) -> list[Lease]:
        rows = tx.records("claims/held", ids=sorted(set(nodes)))
        return [Lease(row.key, row.lease, row.lease_until, (row.last_lease, row.last_outcome), row) for row in rows]

    def hold(self, tx: Tx, leases: Sequence[Lease], until: float) -> None:
        tx.do("claims/renew", ids=[lease.locked.id for lease in leases], until=until)

    def let_go(self, tx: Tx, leases: Sequence[Lease], policy: Policy, now: float) -> None:
        _let_go(tx, [lease.locked for lease in leases], policy.rule.revisits, policy.manners, now)


PAGES = _Pages()


def _let_go(tx: Tx, rows: list[Any], revisits: bool, manners: PolitenessPolicy, now: float) -> None:
    """End leases without a visit. `revisits`: True if fetched pages wait for a next visit; otherwise only those wait
    whose immediate fetch was requested."""
    if not rows:
        return
    ends: dict[str, HostEffects] = {}
    for row in rows:
        end_lease(ends, row)
    hosts = dict.fromkeys((row.host for row in rows), now)
    filing = politeness.conclude(tx, ends, hosts, manners, now, {row.host for row in rows if row.is_failing})
    released = []
    for row in rows:
        # A page that left the frontier or the scope while it was leased goes back to no queue.
        waits = row.state == "frontier" or (row.state == "known" and (revisits or row.lane == ASKED))
        queue = retry_queue(row.host) if row.is_failing else filing[row.host]
        released.append([row.id, queue if waits else None, row.lease])
    tx.do("claims/release", rows=released)


def end_lease(ends: dict[str, HostEffects], row: Any) -> None:
    """Add the end of a lease without a visit to the effects on the page's host. `row`: a record of claims/held."""
    end = ends.setdefault(row.host, HostEffects())
    end.claims += row.counted
    if row.counted_at is not None:
        end.claims_at.update([row.counted_at])
    end.spent -= row.charged and not row.was_fetched


def retry(tx: Tx, ids: Sequence[int], manners: PolitenessPolicy, now: float) -> int:
    """Queue the failed pages among these that are due again, and return their number."""
    rows = tx.one("claims/retry", ids=sorted(set(ids)), now=now)[0]
    if rows:
        politeness.file_retries(tx, dict.fromkeys((host for _, host in rows), now), manners, now)
        tx.do("claims/requeue", rows=[[page, retry_queue(host)] for page, host in rows], soonest=health.SOONEST)
    return len(rows)
