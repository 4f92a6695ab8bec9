"""Pages that wait again because their lease has lapsed, or because their failure is old enough for another try."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any

from graphbrain.base.model import Kind
from graphbrain.brain.outstanding import Outstanding
from graphbrain.brain.session import Session
from graphbrain.frontier.claims import leases, resources
from graphbrain.frontier.claims.leases import Leasing
from graphbrain.frontier.policy import Policy
from graphbrain.graph.connection import Tx

__all__ = ["LEASED", "Lapses"]

LEASED: tuple[Leasing, ...] = (leases.PAGES, resources.RESOURCES)
"""The kinds of things that a claim leases: pages, and resources."""


class Lapses:
    """Ends leases and waits that are over. Thread-safe."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def end(self, work: Outstanding) -> tuple[int, int]:
        """End the leases that were found lapsed, and let the failed pages that were found due wait again, as far as
        they still are. Return how many of each."""
        session = self._session
        swept: Counter[Kind] = Counter()
        for leasing, nodes in zip(LEASED, work.lapsed, strict=True):
            if nodes:
                swept += session.perform(f"{leasing.name}/sweep", partial(_sweep, leasing), nodes)
        if swept:
            session.counters.lapsed(swept)
        released = session.perform("claims/retry", _retry, work.retries) if work.retries else 0
        return swept.total(), released


def _sweep(leasing: Leasing, tx: Tx, nodes: Sequence[Any], policy: Policy, now: float) -> Counter[Kind]:
    return leases.sweep(tx, leasing, nodes, policy, now)


def _retry(tx: Tx, ids: Sequence[int], policy: Policy, now: float) -> int:
    return leases.retry(tx, ids, policy.manners, now)
