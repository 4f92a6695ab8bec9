"""From one engine to the other, as a verb of the brain."""

from __future__ import annotations

from collections.abc import Callable

from graphbrain.accounts import conversion
from graphbrain.brain.backfill import Passing
from graphbrain.errors import BeingConverted, SettingsError
from graphbrain.graph import brain_state
from graphbrain.graph.connection import Tx
from graphbrain.settings import ENGINES

__all__ = ["Converting"]


class Converting(Passing):
    """The verb that changes the engine."""

    def convert_engine(self, engine: str, progress: Callable[[int, int], None] = lambda *_: None) -> bool:
        """Give the brain another engine, `exact` or `classic`: all accounts begin anew; False if it has it already.

        Links, relevance, leases and visits stay. So does the policy of payouts, which is out of use under the classic
        engine and back with the exact one. Reports fail meanwhile with `try_again`. Killed or interrupted, it
        goes on where it stopped when it is run again. `progress` is told how many of how many pages are done.
        """
        if engine not in ENGINES:
            raise SettingsError(f"The engine must be {' or '.join(ENGINES)}, not {engine!r}.")
        self._reread()
        if self.settings.engine == engine:
            conversion.furnish(self.graph)  # whoever converted it may have died between the indexes and a last look
            return False
        while self.settings.engine != conversion.between(engine):
            self.graph.write(lambda tx: conversion.begin(tx, engine, self.policy.rule, self.now()), "engine/begin")
            self._reread()
        while not self._convert(engine, self._wait_for_older("the engine"), progress):
            pass
        self._reread()
        self._repay()
        return True

    @property
    def kept_payout(self) -> str | None:
        """The policy of payouts that comes back with the exact engine; None when it is in use, or uniform."""
        kept: str | None = self._stored.get("exact_payout")
        return kept

    def _convert(self, engine: str, revision: int, progress: Callable[[int, int], None]) -> bool:
        """Go on with the conversion, and end it; False if the settings are not of this revision: it has begun anew."""

        def finish(tx: Tx) -> None:
            conversion.finish(tx, engine, self.policy.rule, self.now())

        conversion.furnish(self.graph)
        try:
            self._reset_all(engine, revision, progress)
            self.graph.write(self._while_converting(engine, revision, finish), "engine/finish")
        except brain_state.BegunAnew:
            return False
        return True

    def _reset_all(self, engine: str, revision: int, progress: Callable[[int, int], None]) -> None:
        total = self.graph.read(lambda tx: tx.one("brain/sizes")[0], "brain/sizes")
        after = self.graph.read(lambda tx: tx.one("brain/read")[0], "brain/read").get("converted_until") or ""
        done = 0
        for ids, last in self._by_key(after):

            def step(tx: Tx, i: list[int] = ids, k: str = last) -> None:
                conversion.reset(tx, engine, i, k, self.policy.rule, self.now())

            self.graph.write(self._while_converting(engine, revision, step), "engine/reset")
            done += len(ids)
            progress(min(done, total), total)

    def _while_converting(self, engine: str, revision: int, work: Callable[[Tx], None]) -> Callable[[Tx], None]:
        """`work`, unless somebody else has finished the conversion, or turned it back; or has even begun another like
        it, of which not all pages are done that were done of this one."""

        def guarded(tx: Tx) -> None:
            if self.settings.engine != conversion.between(engine):
                raise BeingConverted("Somebody else has converted the brain meanwhile; look with 'graphbrain engine'.")
            if self.policy.rule.revision != revision:
                raise brain_state.BegunAnew
            work(tx)

        return guarded
