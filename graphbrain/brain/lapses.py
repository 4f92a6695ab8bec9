"""The end of lapsed leases, and of the waits of failed pages: such pages wait in a queue again."""

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
    """Ends lapsed leases and the waits of failed pages. Thread-safe."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def end(self, work: Outstanding) -> tuple[int, int]:
        """End the lapsed leases that `work` names, and let its failed pages wait in a queue again. A lease or a page
        that has changed meanwhile is skipped. Return the number of leases and the number of pages."""
        session = self._session
        lapsed: Counter[Kind] = Counter()
        for leasing, nodes in zip(LEASED, work.lapsed, strict=True):
            if nodes:
                lapsed += session.perform(f"{leasing.name}/sweep", partial(_sweep, leasing), nodes)
        if lapsed:
            session.counters.lapsed(lapsed)
        retries = session.perform("claims/retry", _retry, work.retries) if work.retries else 0
        return lapsed.total(), retries


def _sweep(leasing: Leasing, tx: Tx, nodes: Sequence[Any], policy: Policy, now: float) -> Counter[Kind]:
    return leases.sweep(tx, leasing, nodes, policy, now)


def _retry(tx: Tx, ids: Sequence[int], policy: Policy, now: float) -> int:
    return leases.retry(tx, ids, policy.manners, now)
