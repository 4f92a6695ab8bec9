"""The base of all verbs of a brain: its graph, settings and policy, its clock, and the counters of its work."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeVar, TypeVarTuple

from graphbrain.base.errors import GraphUnavailable
from graphbrain.base.numeric.rules import Rule
from graphbrain.base.settings import Settings, parts_in
from graphbrain.base.urls.normalization import Rules
from graphbrain.base.urls.url_rules import check_new
from graphbrain.brain import engines
from graphbrain.brain.counters import Counters
from graphbrain.brain.engines import AccountEngine
from graphbrain.content.scope import Scope
from graphbrain.frontier.claims.candidates import ByWorth, Finder, InOrder
from graphbrain.frontier.claims.sitemap_state import Trust
from graphbrain.frontier.corrections import put_right
from graphbrain.frontier.hosts import clock_ahead
from graphbrain.frontier.hosts.state import PolitenessPolicy
from graphbrain.frontier.policy import Policy
from graphbrain.frontier.section_factors import Acting, Book
from graphbrain.graph import brain_state
from graphbrain.graph.connection import Clock, Graph, Tx, bound
from graphbrain.schedule.fingerprints import ChangeTest
from graphbrain.schedule.priors import read_priors
from graphbrain.schedule.value import Estimator, Schedule

__all__ = ["PASS_BATCH", "Session", "whole"]

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

CLOSED = -1
"""A revision that no brain has. A rule with it cannot write accounts."""
PASS_BATCH = 1_000
OLDER_PAUSE = 0.02
SEEN_EVERY = 60.0
"""Seconds between two records of the time on the brain."""
log = logging.getLogger(__name__)


class Session:
    """One open brain, as this process knows it.

    Attributes:
        settings: The settings now in force.
        policy: Their consequences.
        stored: The properties of the brain as they were last read.
        rules: The URL rules.
        finder: The way in which candidates are found.
        closed: True if no process may write accounts now.
    """

    settings: Settings
    policy: Policy
    stored: Mapping[str, Any]
    closed: bool

    def __init__(
        self,
        graph: Graph,
        settings: Settings,
        stored: Mapping[str, Any],
        clock: Clock,
        estimator: Estimator | None = None,
    ) -> None:
        self.graph = graph
        self.now = clock
        """Returns epoch seconds by the server's clock."""
        self._keeps_time = clock == graph.now  # False for the clock of a test
        self._estimator = estimator
        self.counters = Counters(graph, self.now, settings.worker)
        self.finder: Finder = InOrder()
        self.rules = Rules(settings.canonical, hash_bang=settings.hash_bang)
        self.book = Book(self.now)
        self.tended_until = 0.0
        """The time (by `time.monotonic`) until which this process relies on a worker that tends for all."""
        self._go_by(settings, stored)

    def _go_by(self, settings: Settings, stored: Mapping[str, Any]) -> None:
        """Use these settings, and these properties of the brain, from now on."""
        self.settings, self.stored = settings, stored
        self.closed = brain_state.closed(stored)
        rule = Rule.of(stored)
        if self.closed:
            rule = replace(rule, revision=CLOSED)
        self.policy = Policy(
            rule,
            Scope.of(settings),
            PolitenessPolicy.of(settings, stored),
            settings.max_errors,
            self.schedule_of(settings),
            ChangeTest(
                settings.change,
                settings.change_bits,
                settings.detector,
                above=settings.change_probability,
                sketches=settings.sections_per_host > 0,
                counted=frozenset(parts_in(settings.change_in)),
            ),
            settings.orphans,
            settings.park_after_seconds,
            settings.sections_per_host,
            Acting(self.book, rule, self._key_of) if rule.harvests else None,
            self._key_of if settings.canonical_links == "follow" else None,
        )
        if not rule.revisits:
            self.finder = InOrder()
        elif isinstance(self.finder, ByWorth):
            self.finder.schedule = self.policy.schedule  # the finder keeps its estimates of the lanes
        else:
            self.finder = ByWorth(self.policy.schedule)

    def _key_of(self, url: str) -> str | None:
        """Return the key of the page that a URL names; None if it names no page."""
        try:
            return self.rules.page(url)[1]
        except Exception:  # noqa: BLE001  # the user's canonical may raise any error
            return None

    def schedule_of(self, settings: Settings) -> Schedule:
        """Return the schedule of revisits by these settings. Raises SettingsError."""
        return Schedule.of(settings, *read_priors(self.stored), self._estimator)

    def changed(self, given: Mapping[str, Any]) -> Settings:
        """Return the present settings with these changes. Raises SettingsError if they are not possible."""
        settings = replace(self.settings, **given).checked()
        Scope.of_new(settings, given)
        check_new(given)
        self.schedule_of(settings)
        return settings

    @property
    def engine(self) -> AccountEngine:
        """The engine that keeps the accounts. Raises BeingConverted while the brain is between two engines."""
        return engines.of(self.policy.rule)

    @property
    def trust(self) -> Trust:
        """The trust in hints that no visit has tested, by the settings."""
        return Trust(self.settings.hint_recall, self.settings.hint_false)

    @property
    def paused(self) -> bool:
        """True if claims were paused when the settings were last read."""
        return self.stored.get("paused") is not None

    @property
    def settling_until(self) -> float:
        """The time at which the settling pass lapses, as it was last read (epoch seconds); 0 if there is no pass."""
        return float(self.stored.get("settling_until", 0.0))

    # ------------------------------------------------------------ what others have changed

    def refresh(self) -> None:
        """Read the changes of other processes on the brain, and the server's time."""
        self.graph.keep_time()
        self.take_up(self.graph.read(lambda tx: tx.one("brain/read")[0], "brain/read"))

    def take_up(self, stored: Mapping[str, Any] | None) -> None:
        """Use these properties, which were just read from the brain. None is ignored."""
        if stored is not None:
            if stored != self.stored:
                self._go_by(self.settings.with_stored(stored), stored)
            self.graph.keep_time()  # another server may be the leader now
            self._watch_clock()

    def _watch_clock(self) -> None:
        """Follow the time of the brain, and record it once a minute. If the recorded time is later than now, the clock
        was ahead then, and the times that it wrote are corrected."""
        if self._keeps_time and self.graph.time.agree(self.stored) is not None and not self.closed:
            self.graph.write(self._record_time, "brain/note")
        now, seen = self.now(), float(self.stored.get("clock_seen") or 0.0)
        if clock_ahead.is_ahead(seen, now):
            log.warning(
                "The clock of Neo4j at %s was %.0f s ahead; times that it wrote are put right.",
                self.graph.uri,
                seen - now,
            )
            self.put_clock_right(anew=True)
        elif now > seen + SEEN_EVERY and not self.closed:
            self.graph.write(self._record_time, "brain/note")

    def _record_time(self, tx: Tx) -> None:
        """Write the brain's time, and its difference from the leader's clock."""
        stored = tx.one("brain/lock")[0]
        shift = self.graph.time.shift(stored, tx.server) if self._keeps_time else {}
        seen = max(self.now(), float(stored.get("clock_seen") or 0.0)) if shift else self.now()
        tx.do("brain/note", notes={"clock_seen": seen, **shift})

    def put_clock_right(self, anew: bool = False) -> None:
        """Let upkeep search hosts and pages for times that a clock wrote while it was ahead. A search that is under way
        continues, or begins `anew`."""

        def begin(tx: Tx, _policy: Policy, now: float) -> None:
            stored = tx.one("brain/lock")[0]
            if anew or stored.get("putting_right") is None:
                tx.do("brain/note", notes=put_right.begun(stored, now))

        self.perform("brain/note", begin)
        stored = self.graph.read(lambda tx: tx.one("brain/read")[0], "brain/read")
        self._go_by(self.settings.with_stored(stored), stored)

    def wait_for_older(
        self, name: str, notice: str = "the change is noted, and 'graphbrain tend' will finish it"
    ) -> int:
        """Wait until all transactions have ended that may use earlier properties of the brain.

        Such a transaction may have created pages and links that a pass cannot see until it commits.

        Args:
            name: The name of the change, for the error.
            notice: The consequence for the change if a transaction does not end, for the error.

        Returns:
            The revision of the settings that this session last read. All later transactions use it or a newer one.

        Raises:
            GraphUnavailable: A transaction does not end.
        """
        revision = int(self.stored["revision"])
        deadline = time.monotonic() + self.graph.limit_seconds
        older = self._running()
        while older := older & self._running():
            if time.monotonic() > deadline:
                raise GraphUnavailable(f"A transaction that began before the change of {name} does not end; {notice}.")
            time.sleep(OLDER_PAUSE)
        return revision

    def _running(self) -> set[str]:
        """Return the ids of the transactions of graphbrain that run now, as the leader reports them."""
        return set(self.graph.write(lambda tx: tx.one("brain/transactions")[0], "brain/transactions"))

    # ------------------------------------------------------------ transactions by the policy

    def perform(self, name: str, work: Callable[[Tx, *Ts, Policy, float], T], *args: *Ts) -> T:
        """Run `work` in a write transaction called `name`, and return its result.

        `work` gets the policy and the time of the attempt. It may run again after an attempt whose end is not known.
        """
        return self.graph.write(lambda tx: work(tx, *args, self.policy, self.now()), name)

    def perform_once(self, name: str, work: Callable[[Tx, *Ts, Policy, float], bool], *args: *Ts) -> bool:
        """Run `work` as `perform` does. Return whether any attempt has changed anything: a later attempt may find the
        change of an earlier one."""
        results: list[bool] = []

        def record_result(tx: Tx, policy: Policy, now: float) -> None:
            results.append(work(tx, *args, policy, now))

        self.perform(name, record_result)
        return any(results)

    def exhaust(self, name: str, work: Callable[[Tx, *Ts, Policy, float], object], *args: *Ts) -> None:
        """Run `work` in one transaction after another until it returns 0 or False."""
        while self.perform(name, work, *args):
            pass

    def by_key(self, after: str = "") -> Iterator[tuple[list[int], str]]:
        """Yield the ids of all pages with keys after `after`, in the order of keys, in batches; each batch with its
        last key."""
        while True:
            ids, last = self.graph.read(
                bound(Tx.one, "pages/ids_from", after=after, limit=PASS_BATCH), "pages/ids_from"
            )
            if not ids:
                return
            yield ids, last
            after = last


def whole(value: object) -> bool:
    """Return whether a value is a whole number."""
    return isinstance(value, int) and not isinstance(value, bool)
