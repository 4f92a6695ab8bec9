"""Pages that wait again because their lease has lapsed, or because their failure is old enough for another try."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any

from graphbrain.brain import outstanding
from graphbrain.brain.outstanding import Outstanding
from graphbrain.brain.session import Session
from graphbrain.claims import idempotency, leases, resources, taking
from graphbrain.claims.leases import Leasing
from graphbrain.frontier.policy import Policy
from graphbrain.graph.connection import Tx
from graphbrain.model import Kind

__all__ = ["LEASED", "Leases"]

LEASED: tuple[Leasing, ...] = (taking.PAGES, resources.RESOURCES)
"""The kinds of things that a claim leases: pages, and resources."""
LOOK_EVERY, FORGET_EVERY = 1.0, 60.0


class Leases:
    """Ends leases and waits that have lapsed. Thread-safe."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._lock = threading.Lock()
        self._looked_at = self._forgot_at = session.now()

    def end(self, found: Outstanding) -> tuple[int, int]:
        """End the leases that were found lapsed, and let the failed pages that were found due wait again, as far as
        they still are. Return how many of each."""
        session = self._session
        swept: Counter[Kind] = Counter()
        for leasing, nodes in zip(LEASED, found.lapsed, strict=True):
            if nodes:
                swept += session.perform(f"{leasing.name}/sweep", partial(_sweep, leasing), nodes)
        session.counters.lapsed(swept)
        released = session.perform("claims/retry", _retry, found.due) if found.due else 0
        return swept.total(), released

    def look_now_and_then(self, by_key: bool = False) -> None:
        """Do it, and take up what other processes have changed on the brain, at most once a second; forget expired
        keys at most once a minute, where callers claim `by_key`.

        The intervals are measured by the brain's clock, so that a simulated crawl sweeps as often as a real one. A
        clock that was set back counts as an interval that has passed.
        """
        now = self._session.now()
        with self._lock:
            if abs(now - self._looked_at) < LOOK_EVERY:
                return
            self._looked_at = now
            forget = by_key and abs(now - self._forgot_at) > FORGET_EVERY
            self._forgot_at = now if forget else self._forgot_at
        if forget:
            self._session.perform("asked/forget", _forget)
        self.end(outstanding.for_claims(self._session))


def _sweep(leasing: Leasing, tx: Tx, nodes: Sequence[Any], policy: Policy, now: float) -> Counter[Kind]:
    return leases.sweep(tx, leasing, nodes, policy, now)


def _retry(tx: Tx, ids: Sequence[int], policy: Policy, now: float) -> int:
    return taking.retry(tx, ids, policy.manners, now)


def _forget(tx: Tx, _policy: Policy, now: float) -> int:
    return idempotency.forget(tx, now)
