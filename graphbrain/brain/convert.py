"""The verb that converts a brain from one engine to the other."""

from __future__ import annotations

from collections.abc import Callable

from graphbrain.base.errors import BeingConverted
from graphbrain.base.options.verbs import OPERATORS, verb
from graphbrain.base.settings import ENGINES, checked_engine
from graphbrain.brain.topic import Topic
from graphbrain.graph import brain_state
from graphbrain.graph.connection import Tx, bound
from graphbrain.scores.accounts import conversion

__all__ = ["Converting"]


class Converting(Topic):
    """The verb that gives the brain another engine."""

    @verb(OPERATORS, long=True, engine={"words": ENGINES, "by_room": True, "example": "exact"})
    def convert_engine(self, engine: str, progress: Callable[[int, int], None] = lambda *_: None) -> bool:
        """Give the brain another engine, `exact` or `classic`. All accounts begin anew. False if it has it already.

        Links, relevance, leases and visits stay. The policy of payouts stays, too, out of use under the classic engine
        and back with the exact one. Reports fail meanwhile with `try_again`. Killed or interrupted, the conversion
        continues where it stopped when it is run again. `progress` is called with the number of finished pages, and of
        all.
        """
        checked_engine(engine)
        session = self._session
        session.refresh()
        # The process that converted the brain may have died before it created all indexes.
        if session.settings.engine == engine:
            conversion.furnish(session.graph)
            return False
        # Mark the brain as being converted; from now on no process writes accounts.
        while session.settings.engine != conversion.between(engine):
            session.graph.write(
                lambda tx: conversion.begin(tx, engine, session.policy.rule, session.now()), "engine/begin"
            )
            session.refresh()
        # Reset the accounts of all pages, and begin again if the settings change meanwhile.
        while not self._convert(engine, session.wait_for_older("the engine"), progress):
            pass
        session.refresh()
        self._backfill.repay()
        return True

    @property
    def kept_payout(self) -> str | None:
        """The policy of payouts that the exact engine will use again; None if the policy is in use now, or uniform."""
        policy: str | None = self._session.stored.get("exact_payout")
        return policy

    def _convert(self, engine: str, revision: int, progress: Callable[[int, int], None]) -> bool:
        """Continue the conversion to its end. Return False if the settings have another revision, so that the
        conversion has begun again."""

        def finish(tx: Tx) -> None:
            conversion.finish(tx, engine, self._session.policy.rule, self._session.now())

        conversion.furnish(self._session.graph)
        try:
            self._reset_all(engine, revision, progress)
            self._session.graph.write(self._while_converting(engine, revision, finish), "engine/finish")
        except brain_state.BegunAnew:
            return False
        return True

    def _reset_all(self, engine: str, revision: int, progress: Callable[[int, int], None]) -> None:
        total = self._session.graph.read(lambda tx: tx.one("brain/sizes")[0], "brain/sizes")
        after = self._session.graph.read(lambda tx: tx.one("brain/read")[0], "brain/read").get("converted_until") or ""
        done = 0
        for ids, last in self._session.by_key(after):
            step = bound(self._reset, engine, ids, last)
            self._session.graph.write(self._while_converting(engine, revision, step), "engine/reset")
            done += len(ids)
            progress(min(done, total), total)

    def _reset(self, tx: Tx, engine: str, ids: list[int], last: str) -> None:
        conversion.reset(tx, engine, ids, last, self._session.policy.rule, self._session.now())

    def _while_converting(self, engine: str, revision: int, work: Callable[[Tx], None]) -> Callable[[Tx], None]:
        """Return `work` with a guard. It does nothing if the brain has the engine already: another process has finished
        the conversion, or the answer of the last step was lost. It raises BeingConverted if another process has
        reverted the conversion, and BegunAnew if another process has begun a new one, for which all pages must be reset
        again."""

        def guarded(tx: Tx) -> None:
            if self._session.settings.engine == engine:
                return
            if self._session.settings.engine != conversion.between(engine):
                raise BeingConverted("Another process has converted the brain: look with 'graphbrain engine'.")
            if self._session.policy.rule.revision != revision:
                raise brain_state.BegunAnew
            work(tx)

        return guarded
