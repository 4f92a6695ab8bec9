"""Pushes of cash: the most urgent ones, or those of pages that a caller names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from graphbrain.base.errors import GraphTooSmall
from graphbrain.brain import engines
from graphbrain.brain.engines import AccountEngine
from graphbrain.brain.outstanding import Batch
from graphbrain.brain.session import Session
from graphbrain.frontier import discovery
from graphbrain.frontier.claims.sampling import Spread
from graphbrain.graph.connection import Tx
from graphbrain.scores.accounts import pushes
from graphbrain.scores.accounts.pushes import Pushed, Wanted

__all__ = ["Pushing"]

MANY = 1_000
"""A side with fewer payees fits in the server's memory unless other processes use all of it."""
LEFT_FOR = 300.0
"""Seconds for which sides that did not fit in the server's memory are not pushed. Other uses of the memory may have
ended then."""


class Pushing:
    """Pushes batches of cash. `pushes`: the number of pushes that this process has made."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._spread = Spread()
        self._too_many, self._until = pushes.NO_LIMIT, -math.inf
        """The least number of links of a side that did not fit in the server's memory. It holds until `_until`."""
        self.pushes = 0

    def wanted(self, payments: int) -> Wanted:
        """Return the request for a batch of at most `payments` payments."""
        return Wanted(payments, self._spread.times, self._fewer())

    def push(self, batch: Batch) -> Pushed:
        """Push the sides of a batch that still have enough cash to push."""
        pushed = self._spend(batch.engine, batch.work)
        self._spread.saw(pushed.pushes + pushed.lost, pushed.lost)
        return pushed

    def push_named(self, keys: Sequence[str]) -> list[Pushed]:
        """Push all sides of the pages with these keys. Unknown keys are skipped."""
        ids = sorted(self._session.graph.read(lambda tx: discovery.find(tx, keys), "pages/find").values())
        engine = self._session.engine
        return [self._spend(engine, work) for work in engine.cash.named(ids)]

    def _spend(self, engine: AccountEngine, work: Any) -> Pushed:
        """Spend a batch that an engine has chosen. Spend nothing if the brain was converted to another engine."""
        session = self._session

        def spend(tx: Tx) -> Pushed:
            rule = session.policy.rule
            return engine.cash.spend(tx, work, rule, session.now()) if engines.of(rule) is engine else Pushed()

        try:
            pushed = session.graph.write(spend, "cash/push")
        except GraphTooSmall:
            if not engine.settles:  # batches of the classic engine cannot be halved
                raise
            # Push the halves of the batch. A single side that does not fit is skipped for some minutes.
            parts = pushes.halves(work)
            if len(parts) == 1:
                links = session.graph.read(lambda tx: pushes.payees(tx, work), "cash/push")
                if links < MANY:
                    raise
                self._too_many, self._until = min(self._fewer(), links), session.now() + LEFT_FOR
                return Pushed()
            return sum((self._spend(engine, part) for part in parts), Pushed())
        self.pushes += pushed.pushes
        session.counters.add(pushes=pushed.pushes, payments=pushed.payments)
        return pushed

    def _fewer(self) -> int:
        """Return the number of links below which a side may be chosen now."""
        return self._too_many if self._session.now() < self._until else pushes.NO_LIMIT
