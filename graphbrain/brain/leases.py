"""Pages that wait again because their lease has lapsed, or because their failure is old enough for another try."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from graphbrain.brain.session import PASS_BATCH, Session
from graphbrain.claims import idempotency, leases, resources, taking
from graphbrain.claims.leases import Leasing
from graphbrain.frontier.policy import Policy
from graphbrain.graph.connection import Tx
from graphbrain.model import Kind

__all__ = ["LEASED", "Leases"]

LEASED: tuple[Leasing, ...] = (taking.PAGES, resources.RESOURCES)
"""The kinds of things that a claim leases: pages, and resources."""
SWEEP_EVERY, FORGET_EVERY = 1.0, 60.0
T = TypeVar("T")
Done = TypeVar("Done", int, Counter[Kind])


class Leases:
    """Ends leases and waits that have lapsed. Thread-safe."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._lock = threading.Lock()
        self._swept_at = self._forgot_at = session.now()

    def sweep(self) -> int:
        """End lapsed leases. Return their number."""
        swept: Counter[Kind] = Counter()
        for leasing in LEASED:
            for done in self._in_batches(leasing.lapsed, partial(_sweep, leasing), f"{leasing.name}/sweep"):
                swept += done
        self._session.counters.lapsed(swept)
        return swept.total()

    def release_due(self) -> int:
        """Let failed pages wait again when their time has come. Return their number."""

        def retry(tx: Tx, ids: Sequence[int], policy: Policy, now: float) -> int:
            return taking.retry(tx, ids, policy.manners, now)

        return sum(self._in_batches(taking.due, retry, "claims/retry"))

    def _in_batches(
        self,
        look: Callable[[Tx, float, int], list[T]],
        act: Callable[[Tx, Sequence[T], Policy, float], Done],
        name: str,
    ) -> Iterator[Done]:
        """Yield what `act` has done with each batch, until there are no more or nothing was done."""
        session = self._session
        while ids := session.graph.read(lambda tx: look(tx, session.now(), PASS_BATCH), name):
            done = session.perform(name, act, ids)
            yield done
            if not done or len(ids) < PASS_BATCH:
                break

    def look_now_and_then(self, by_key: bool = False) -> None:
        """Do both, and take up what other processes have changed on the brain, at most once a second; forget expired
        keys at most once a minute, where callers claim `by_key`.

        The intervals are measured by the brain's clock, so that a simulated crawl sweeps as often as a real one. A
        clock that was set back counts as an interval that has passed.
        """
        now = self._session.now()
        with self._lock:
            if abs(now - self._swept_at) < SWEEP_EVERY:
                return
            self._swept_at = now
            forget = by_key and abs(now - self._forgot_at) > FORGET_EVERY
            self._forgot_at = now if forget else self._forgot_at
        if forget:
            self._session.perform("asked/forget", _forget)
        self._session.graph.keep_time()
        lapsed, due, stored = self._session.graph.read(self._news, "claims/lapsed")
        if lapsed:
            self.sweep()
        if due:
            self.release_due()
        self._session.take_up(stored)

    def _news(self, tx: Tx) -> tuple[bool, bool, Mapping[str, Any] | None]:
        """Return whether leases have lapsed, whether failed pages are due, and the stored properties of the brain."""
        now = self._session.now()
        lapsed = any(leasing.lapsed(tx, now, 1) for leasing in LEASED)
        return lapsed, bool(taking.due(tx, now, 1)), tx.one("brain/read")[0]


def _sweep(leasing: Leasing, tx: Tx, nodes: Sequence[Any], policy: Policy, now: float) -> Counter[Kind]:
    return leases.sweep(tx, leasing, nodes, policy, now)


def _forget(tx: Tx, _policy: Policy, now: float) -> int:
    return idempotency.forget(tx, now)
