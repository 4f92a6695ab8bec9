"""Pushes of cash: the most urgent, or those of pages that somebody names."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import astuple, replace
from typing import Any

from graphbrain.accounts import pushes
from graphbrain.accounts.pushes import Pushed
from graphbrain.brain.session import Session
from graphbrain.errors import GraphTooSmall
from graphbrain.frontier import discovery
from graphbrain.frontier.sampling import Spread
from graphbrain.rules import Rule

__all__ = ["Pushing"]


class Pushing:
    """Spends batches of cash. `made`: how many pushes this process has made so."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._spread = Spread()
        self._most_payees = sys.maxsize
        self.made = 0

    def push(self, batch: int) -> tuple[Pushed, bool]:
        """Push the most urgent sides, up to so many payments; and whether there was nothing left to push."""
        session, times, rule = self._session, self._spread.times, self._session.policy.rule
        work = session.graph.read(lambda tx: session.engine.cash.candidates(tx, batch, times, rule), "cash/candidates")
        if work is None:
            return Pushed(), True
        pushed = self._spend(work)
        self._spread.saw(pushed.pushes + pushed.lost, pushed.lost)
        return pushed, False

    def push_named(self, keys: Sequence[str]) -> list[Pushed]:
        """Push both sides of the pages with these keys, as far as they are there."""
        ids = sorted(self._session.graph.read(lambda tx: discovery.find(tx, keys), "pages/find").values())
        return [self._spend(work) for work in self._session.engine.cash.named(ids)]

    def _spend(self, work: Any) -> Pushed:
        session = self._session
        try:
            pushed = session.graph.write(
                lambda tx: session.engine.cash.spend(tx, work, self._rule(), session.now()), "cash/push"
            )
        except GraphTooSmall:
            if not session.engine.settles:  # the classic engine's batches are of payments
                raise
            parts = pushes.halves(work)
            if len(parts) == 1:  # a side is pushed whole, or not at all
                many = session.graph.read(lambda tx: pushes.payees(tx, work), "cash/push")
                self._most_payees = min(self._most_payees, max(1, many - 1))
                return self._spend(work)
            done = [self._spend(part) for part in parts]
            return Pushed(*(sum(each) for each in zip(*map(astuple, done), strict=True)))
        self.made += pushed.pushes
        session.counters.add(pushes=pushed.pushes, payments=pushed.payments)
        return pushed

    def _rule(self) -> Rule:
        """The rule, but that no side is pushed for which the server was found to have too little memory."""
        rule = self._session.policy.rule
        return rule if rule.max_payees <= self._most_payees else replace(rule, max_payees=self._most_payees)
