"""What all verbs of a brain stand on: its graph, settings and policy, its clock, and the counters of what was done."""

from __future__ import annotations

import math
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from graphbrain import border
from graphbrain.brain import engines
from graphbrain.brain.engines import Engine
from graphbrain.errors import BadInput, UnknownPage
from graphbrain.frontier.candidates import ByWorth, Finder, InOrder
from graphbrain.frontier.sampling import Reach, Share, Spread
from graphbrain.frontier.validate import unreadable
from graphbrain.frontier.verdicts import Policy
from graphbrain.graph import brain_state
from graphbrain.graph.connection import Clock, Graph, Tx
from graphbrain.hostnames import named
from graphbrain.hosts.politeness import Manners
from graphbrain.model import OUTCOMES
from graphbrain.rules import Rule
from graphbrain.schedule.fingerprints import Change
from graphbrain.schedule.priors import read_priors
from graphbrain.schedule.value import Estimator, Schedule
from graphbrain.scope import Scope
from graphbrain.settings import Settings
from graphbrain.url import RULES_VERSION, Rules, is_key
from graphbrain.url_v1 import old_keys

__all__ = ["PASS_BATCH", "Core", "whole"]

COUNT_EVERY = 5.0
PRICE_MOVES = 0.02
CLOSED = -1
"""The revision of nobody: meanwhile no rule is good for writing accounts."""
PASS_BATCH = 1_000
ALIAS_SHARE = 0.05
"""Aliases that are looked at again take this part of all claims, or what nothing else can have."""


class Core:
    """One open brain. Its verbs stand on the shelf above, by what they are for; `Brain` has them all."""

    def __init__(
        self,
        graph: Graph,
        settings: Settings,
        stored: Mapping[str, Any],
        clock: Clock,
        estimator: Estimator | None = None,
    ) -> None:
        self.graph = graph
        self.settings = settings
        self._clock = clock
        self._estimator = estimator
        self._finder: Finder = InOrder()
        self._rules = Rules(settings.canonical, hash_bang=settings.hash_bang)
        self._old_keys = old_keys(settings.canonical)
        self._refresh(settings, stored)
        graph.on_outdated = self._overtaken
        self._spread = {"claims": Spread(), "cash": Spread()}
        self._reach = Reach()
        self._clogged = False
        """Do pages of hosts that are not ready stand in the way of others?"""
        self._aliases = Share(ALIAS_SHARE, random.random())
        self._no_alias_at = -math.inf
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._counted_at = self._swept_at = time.monotonic()
        self._tending = False
        self._tended_by_others = (0.0, False)
        self._owed = 0.0
        self._most_payees = sys.maxsize
        self._pushes_made = 0
        self._bound_looked: tuple[float, float, list[int]] = (-math.inf, 0.0, [])
        """When, by a steady clock; how long it took; and how much there was by then, and this process had pushed."""
        self._price: float | None = None

    def _refresh(self, settings: Settings, stored: Mapping[str, Any]) -> None:
        """Take up the settings, and what else stands on the brain."""
        self.settings, self._stored = settings, stored
        self._closed = brain_state.closed(stored) or stored.get("url_rules", RULES_VERSION) != RULES_VERSION
        self._scaled_for: int = stored.get("payout_pages", 0)
        self._settling_until = float(stored.get("settling_until", 0.0))
        rule = Rule.of(stored)
        if self._closed:
            rule = replace(rule, revision=CLOSED)
        self.policy = Policy(
            rule,
            replace(Scope.of(settings), old_keys=self._old_keys if self._was_moved else None),
            Manners.of(settings, stored),
            settings.max_errors,
            self._schedule_of(settings),
            Change(settings.change, settings.change_bits, settings.detector),
            settings.orphans,
        )
        if not rule.revisits:
            self._finder = InOrder()
        elif isinstance(self._finder, ByWorth):
            self._finder.schedule = self.policy.schedule  # what it knows of the lanes stays true
        else:
            self._finder = ByWorth(self.policy.schedule)

    def _schedule_of(self, settings: Settings) -> Schedule:
        return Schedule.of(settings, *read_priors(self._stored), self._estimator)

    @property
    def _was_moved(self) -> bool:
        """Was the brain made by older URL rules? Then something may still be found only by the keys of those."""
        return self._stored.get("moved_from") is not None

    def _old_key(self, url: str) -> str | None:
        """The key that a page named by its URL had by older rules; None where the brain knows no such keys."""
        return self._old_keys(url) if self._was_moved and not is_key(url) else None

    @property
    def engine(self) -> Engine:
        """How the accounts are kept. Raises BeingConverted while the brain is between two engines."""
        return engines.of(self.policy.rule)

    def _by_key(self, after: str = "") -> Iterator[tuple[list[int], str]]:
        """The ids of all pages in the order of their keys, in batches, each with its last key; from a key on."""
        while True:
            ids, last = self.graph.read(
                lambda tx, a=after: tx.one("pages/ids_from", after=a, limit=PASS_BATCH),  # type: ignore[misc]
                "pages/ids_from",
            )
            if not ids:
                return
            yield ids, last
            after = last

    def _in_parts(self, ids: Sequence[int], step: Callable[[Tx, Sequence[int], Policy, float], object]) -> None:
        """Run a step over these pages, in batches."""
        for start in range(0, len(ids), PASS_BATCH):
            part = ids[start : start + PASS_BATCH]
            self.graph.write(
                lambda tx, i=part: step(tx, i, self.policy, self.now()),  # type: ignore[misc]
                step.__name__,
            )

    def now(self) -> float:
        """Epoch seconds by the server's clock."""
        return self._clock()

    def _reread(self) -> None:
        """Take up what others have changed on the brain, and the server's time."""
        self.graph.keep_time()
        self._take_up(self.graph.read(lambda tx: tx.one("brain/read")[0], "brain/read"))

    def _take_up(self, stored: Mapping[str, Any] | None) -> None:
        """Go on with what stands on the brain now."""
        if stored is not None:
            fresh = self.settings.standing(stored)
            if fresh != self.settings or stored != self._stored:
                self._refresh(fresh, stored)

    def _overtaken(self) -> None:
        """What to do when a transaction has found the settings changed."""
        self._reread()

    def _count_now_and_then(self, tending: bool = False) -> None:
        with self._lock:
            first = tending and not self._tending  # the others should know at once that they need not tend
            if not first and time.monotonic() - self._counted_at < COUNT_EVERY:
                return
            self._counted_at, self._tending = time.monotonic(), tending
        self._write_counts(tending)

    def _paid(self, worths: Sequence[float]) -> None:
        """Note what the visits of a claim were worth: the moving mean is the price at which pages come back."""
        for worth in worths:
            with self._lock:
                log = math.log(worth)
                self._price = log if self._price is None else self._price + PRICE_MOVES * (log - self._price)

    def _write_counts(self, tending: bool = False) -> None:
        with self._lock:
            names = ("pages", "links", "claims", "pushes", "payments")
            counts = [self._counts.pop(name, 0) for name in names]
            reports = [self._counts.pop(f"reports {outcome}", 0) for outcome in OUTCOMES]
            lapsed = self._counts.pop("lapsed", 0)
            retries = self.graph.counts["retries"] - self._counts["retries counted"]
            self._counts["retries counted"] += retries
        if not tending and not any(counts) and not any(reports) and not lapsed and not retries:
            return
        now = self.now()
        self.graph.write(
            lambda tx: tx.do(
                "brain/count",
                hour=int(now // 3600),
                worker=self.settings.worker,
                now=now,
                tending=tending,
                counts=[*counts, retries],
                reports=reports,
                lapsed=lapsed,
                price=None if self._price is None else math.exp(self._price),
            ),
            "brain/count",
        )

    def _correct(self, work: Callable[[Tx, float], Any], name: str) -> Any:
        """What `work` answers. It may be run again after an attempt that nobody knows the end of."""
        return self.graph.write(lambda tx: work(tx, self.now()), name)

    def _correct_once(self, work: Callable[[Tx, float], bool], name: str) -> bool:
        """Whether `work` has done anything, in any of its attempts: in the last one it may find it done."""
        done: list[bool] = []
        self._correct(lambda tx, now: done.append(work(tx, now)), name)
        return any(done)

    def _page(self, url: str) -> tuple[str, str]:
        """The canonical URL and the key of a page. Raises BadInput, too, for what the user's own step raises."""
        try:
            return self._rules.page(url)
        except Exception as error:
            if isinstance(error, BadInput):
                raise
            raise BadInput(unreadable(error)) from None

    def _key(self, url: str) -> str:
        """The key of a page named by its URL or its key. Raises BadInput for what is neither."""
        if is_key(url):
            return url
        try:
            return self._page(url)[1]
        except BadInput as error:
            raise BadInput(f"{border.shown(url)!r:.80} names no page ({error}); give its URL or its key.") from None

    def _host(self, host: object) -> str:
        """The name that the graph has for a host that somebody names. Raises BadInput."""
        try:
            found = named(host)
        except BadInput as error:
            raise BadInput(f"{host!r:.80} names no host ({error}); name it as in 'www.example.org'.") from None
        if found.literal == found.name:
            return found.name
        # A port that is usual for one scheme is none for the other: there may be such a host.
        rows = self.graph.read(lambda tx: tx.one("hosts/view", name=found.literal)[0], "hosts/view")
        return found.literal if rows else found.name

    def _host_or_none(self, host: str | None) -> str | None:
        return None if host is None else self._host(host)

    def _known(self, url: str) -> str:
        """The key of a page that is in the graph, named by URL or key. Raises UnknownPage."""
        key = self._key(url)
        if not self.graph.read(lambda tx: tx.one("pages/find", keys=[key])[0], "pages/find"):
            raise UnknownPage(f"{url} is not in the graph.")
        return key


def whole(value: object) -> bool:
    """Is it a whole number?"""
    return isinstance(value, int) and not isinstance(value, bool)
