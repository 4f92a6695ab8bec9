"""The verb that gives a brain made by older URL rules today's keys and addresses.

No other process writes accounts while the brain moves: processes of the version that made it wait as for an import, and
give up after their time limit; newer ones do not open it. At the end one transaction opens the brain to processes with
today's rules. It stays closed to the older ones (`brain_state.MOVED`). Statements: brain/change, brain/note,
brain/lock, exports/last_id, hosts/after, rekey/*.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from graphbrain.brain.backfill import Backfill, Progress
from graphbrain.brain.session import Session
from graphbrain.corrections import rekey as moving
from graphbrain.corrections.rekey import Addresses, Rekeyed
from graphbrain.errors import SettingsError
from graphbrain.frontier.policy import Policy
from graphbrain.graph import brain_state
from graphbrain.graph.connection import Tx, bound
from graphbrain.numeric.rules import Rule
from graphbrain.urls.earlier_rules import VERSIONS
from graphbrain.urls.normalization import RULES_VERSION

__all__ = ["Rekeying"]

T = TypeVar("T")
HOSTS_AT_ONCE = 2_000


class Rekeying:
    """The verb that moves a brain to today's URL rules."""

    def __init__(self, session: Session, backfill: Backfill) -> None:
        self._session, self._backfill = session, backfill

    def rekey(self, progress: Progress = lambda *_: None) -> Rekeyed:
        """Move the brain, as `Brain.rekey` describes."""
        self._session.refresh()
        if self._session.stored.get("url_rules") == RULES_VERSION:
            return Rekeyed()
        self._refuse_to_rekey()
        if self._session.stored.get("reweighing") is not None:
            self._backfill.reweigh()
        made_by, settings = int(self._session.stored["url_rules"]), self._session.settings
        addresses = Addresses(made_by, self._session.rules, settings.canonical, settings.hash_bang)
        done = Rekeyed()
        while self._session.stored.get("url_rules") != RULES_VERSION:
            revision = self._close_for_rekeying()
            try:
                for more in self._rekey(addresses, revision, progress):
                    done += more
            except brain_state.BegunAnew:
                pass
            self._session.refresh()
        return done

    def _refuse_to_rekey(self) -> None:
        """Raise SettingsError for a brain that cannot be moved, or not now."""
        if self._session.stored.get("url_rules") not in VERSIONS:
            raise SettingsError("The brain's pages are keyed by URL rules that this graphbrain does not know.")
        if self._session.settings.engine.startswith("to_"):
            raise SettingsError(
                "The brain is being converted to another engine: end that with the version that made it, then move it."
            )
        importing = self._session.stored.get("importing") not in (None, brain_state.MOVED)
        if importing and self._session.stored.get("rekeying") is None:
            raise SettingsError(
                "Files are being imported into this brain, or that was broken off: move it when that is over, or empty "
                "it first, with the version that made it."
            )

    def _close_for_rekeying(self) -> int:
        """Let no other process write accounts, and wait until none does. Return the revision of the settings that then
        hold."""

        def close(tx: Tx) -> None:
            stored = tx.one("brain/lock")[0]
            moves = brain_state.moves(stored) and stored.get("rekeying_to") == RULES_VERSION
            if stored.get("url_rules") == RULES_VERSION or moves:
                return
            # A settling pass that runs now would write scores of the graph before the move.
            fresh = {"importing": self._session.now(), "settling": None, "settling_until": None}
            tx.do("brain/change", settings={**_begun(stored), **fresh})

        self._session.graph.write(close, "move/begin")
        self._session.refresh()
        return self._session.wait_for_older("the URL rules", left="nothing is moved yet: try again")

    def _rekey(self, addresses: Addresses, revision: int, progress: Progress) -> Iterator[Rekeyed]:
        """Continue the move to its end, and yield the results of each transaction. Raises BegunAnew."""
        if self._session.stored.get("url_rules") == RULES_VERSION:
            return
        renamed = self._renamed_hosts()
        self._guarded(revision, lambda tx, _: moving.rename_hosts(tx, renamed, self._session.now()), "rekey/hosts")
        last = self._session.graph.read(lambda tx: tx.one("exports/last_id")[0], "exports/last_id")
        ends = 0 if last is None else int(last) + 1
        total = self._session.graph.read(lambda tx: tx.one("brain/sizes")[0], "brain/sizes")

        def step(tx: Tx, policy: Policy) -> tuple[int, Rekeyed]:
            stored = tx.one("brain/read")[0]
            at, merging = int(stored.get("rekeying") or 0), stored.get("rekey_merging") or []
            if merging:
                return at, moving.merge(tx, merging, addresses, policy, self._session.now())
            if at < ends:
                return at, moving.advance(tx, at, ends - 1, addresses, policy, self._session.now())
            return -1, Rekeyed()

        while (step_done := self._guarded(revision, step, "rekey"))[0] >= 0:
            at, more = step_done
            progress(round(total * min(1.0, (at + moving.PAGES_AT_ONCE) / ends)), total)
            yield more
        yield Rekeyed(hosts=self._drop_hosts(revision, sorted(renamed)))
        self._guarded(revision, lambda tx, _: _end(tx, self._session.now()), "move/end")

    def _renamed_hosts(self) -> dict[str, str]:
        """Return the hosts that are spelt in another way today: old name → new."""
        renamed: dict[str, str] = {}
        names = [""]
        while names:
            names = self._session.graph.read(
                bound(Tx.one, "hosts/after", after=names[-1], limit=HOSTS_AT_ONCE), "hosts/after"
            )[0]
            for name in names:
                now = moving.name_now(name)
                if now not in (None, name):
                    renamed[name] = str(now)
        return renamed

    def _drop_hosts(self, revision: int, names: list[str]) -> int:
        """Delete hosts whose pages have all gone to other spellings of them. Return their number."""
        gone = 0
        for start in range(0, len(names), HOSTS_AT_ONCE):
            gone += self._guarded(revision, partial(_drop, names[start : start + HOSTS_AT_ONCE]), "rekey/hosts")
        return gone

    def _guarded(self, revision: int, work: Callable[[Tx, Policy], T], name: str) -> T:
        """Run `work` while the brain is locked and moves, by the settings of this revision. Raises BegunAnew."""

        def guarded(tx: Tx) -> T:
            stored = brain_state.stored(tx, revision)
            if not brain_state.moves(stored):
                raise brain_state.BegunAnew
            return work(tx, replace(self._session.policy, rule=Rule.of(stored)))

        return self._session.graph.write(guarded, name)


def _drop(names: list[str], tx: Tx, _policy: Policy) -> int:
    gone: int = tx.one("rekey/left_hosts", names=names)[0]
    return gone


def _begun(stored: Mapping[str, Any]) -> dict[str, object]:
    """Return the progress of a move to these rules that was broken off; a move to rules in between begins anew."""
    if stored.get("rekeying") is not None and stored.get("rekeying_to") == RULES_VERSION:
        return {"rekeying": stored["rekeying"]}
    return {"rekeying": 0, "rekey_merging": None, "rekeying_to": RULES_VERSION}


def _end(tx: Tx, now: float) -> None:
    """Open the brain to processes with today's rules. The caller has locked it."""
    stored = tx.one("brain/read")[0]
    over = {"rekeying": None, "rekey_merging": None, "rekeying_to": None, "importing": brain_state.MOVED}
    moved = {"moved_from": min(stored.get("moved_from") or RULES_VERSION, stored["url_rules"]), "moved_at": now}
    if stored.get("moved_at") is not None:
        moved.setdefault("moved_first_at", stored.get("moved_first_at") or stored["moved_at"])
    tx.do("brain/change", settings={**over, **moved, "url_rules": RULES_VERSION, "remarking": ""})
