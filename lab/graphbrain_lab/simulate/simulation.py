"""Simulation of a crawler that revisits pages: the freshness of its copies under a policy and a budget, without a
server.

All policies see the same history. All pages are fetched at the beginning. Then the budget is spent in equal steps of an
hour or more. A visit shows only whether the page has changed since the last one. Freshness is the share of value whose
copy is up to date. It is measured in the middle of each step, as the mean of the values before and after the visits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from graphbrain.base.errors import BadInput
from graphbrain.base.numeric.arrays import Flags, Floats, Ints
from graphbrain.schedule import optimal_revisits
from graphbrain.schedule.change_rate import Prior
from graphbrain_lab.simulate import policies
from graphbrain_lab.simulate.histories import History
from graphbrain_lab.simulate.policies import RevisitPolicy, Setting

__all__ = ["Budget", "SimulationOutcome", "constrained_optimum", "optimum", "recovery", "run", "share_of"]

MOST_STEPS, VISITS_A_STEP = 24, 10
FEWEST_DAYS, WITHIN = 10, 0.01


@dataclass(frozen=True, slots=True)
class Budget:
    """The visits a day: `daily` from the beginning, and for each of the `changes` (day, visits a day) from that day."""

    daily: float
    changes: tuple[tuple[int, float], ...] = ()

    def on(self, day: int) -> float:
        """Return the visits on that day."""
        return next((daily for start, daily in reversed(self.changes) if day >= start), self.daily)

    def check(self, days: int) -> None:
        """Raise BadInput if a number of visits or a day is impossible."""
        if not all(np.isfinite(each) and each > 0 for each in (self.daily, *(new for _, new in self.changes))):
            raise BadInput("A budget must be a positive number of visits a day.")
        starts = [start for start, _ in self.changes]
        if starts != sorted(set(starts)) or not all(0 < start < days for start in starts):
            raise BadInput(f"The budget can change on days 1 to {days - 1}, once on each, in ascending order.")


@dataclass(frozen=True, slots=True)
class SimulationOutcome:
    """The result of a policy, day by day: the freshness (0 to 1), the visits, and the value of the changes that they
    found.

    Attributes:
        longest: The largest number of days between two visits of a page with value, or from the last one to the end.
        unseen: The number of pages with value that were never visited after the beginning.
        host_most: The largest number of visits of one host in a day.
    """

    policy: str
    freshness: Floats
    visits: Ints
    found: Floats
    longest: float
    unseen: int
    host_most: int


def run(
    history: History,
    name: str,
    budget: Budget,
    *,
    make: Callable[[Setting], RevisitPolicy] | None = None,
    steps: int | None = None,
    host_cap: float | None = None,
    forgetting: float | None = None,
    reserve: float | None = None,
    prior: Prior | None = None,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> SimulationOutcome:
    """Simulate the policy of that `name`, or the one that `make` returns, for the days of the history.

    Args:
        history: The changes of the pages.
        name: The name of a policy, and of the result.
        budget: The visits a day.
        make: Returns another policy for a setting.
        steps: The number of steps a day. By default a step has ten visits, and takes at least an hour.
        host_cap: The largest number of visits a day of one host, spread over the day.
        forgetting: As in `Setting`.
        reserve: As in `Setting`.
        prior: As in `Setting`.
        progress: Is called with the days done and the days in all.
    """
    # Make the policy.
    budget.check(int(history.days))
    given = {"forgetting": forgetting, "reserve": reserve, "prior": prior}
    chosen = {key: one for key, one in given.items() if one is not None}
    setting = Setting(history.value, history.rate, history.host, **chosen)  # type: ignore[arg-type]
    # Choose the steps, and run the days.
    least = min(budget.daily, *(new for _, new in budget.changes)) if budget.changes else budget.daily
    steps = steps or int(np.clip(least / VISITS_A_STEP, 1, MOST_STEPS))
    crawl = _Crawl(history, (make or policies.POLICIES[name])(setting), host_cap, steps)
    for day in range(int(history.days)):
        crawl.day(day, budget.on(day))
        progress(day + 1, int(history.days))
    return crawl.outcome(name)


class _Crawl:
    """The simulation of one policy on one history, day by day."""

    def __init__(self, history: History, policy: RevisitPolicy, host_cap: float | None, steps: int) -> None:
        self.history, self.policy, self.steps = history, policy, steps
        self.share = history.value / history.value.sum()
        self.stale_from = history.next_change(np.arange(history.pages), 0.0)
        self.hosts = int(history.host.max()) + 1
        self.cap = None if host_cap is None else host_cap / steps
        self.daily_cap = np.inf if host_cap is None else host_cap
        self.tokens, self.today = np.zeros(self.hosts), np.zeros(self.hosts, dtype=np.int64)
        self.saved = 0.0
        self.longest = np.zeros(history.pages)
        self.days: list[tuple[float, int, float, int]] = []

    def day(self, day: int, budget: float) -> None:
        """Spend the budget of a day in steps."""
        fresh = value = 0.0
        self.today[:] = 0
        for step in range(self.steps):
            now = day + (step + 0.5) / self.steps
            self.saved += budget / self.steps
            before = self._fresh(now)
            pages, changed = self._visit(now, int(self.saved))
            fresh += (before + self._fresh(now)) / 2.0
            value += float(self.history.value[pages[changed]].sum())
        self.days.append((fresh / self.steps, int(self.today.sum()), value, int(self.today.max())))

    def _fresh(self, now: float) -> float:
        return float(self.share[self.stale_from > now].sum())

    def _visit(self, now: float, count: int) -> tuple[Ints, Flags]:
        # Visits that a step could not make are lost, except for a fraction of one: a crawler cannot use idle time
        # later.
        self.saved -= int(self.saved)
        room = self._room()
        pages = self.policy.choose(now, min(count, self.history.pages), room)
        granted = np.bincount(self.history.host[pages], minlength=self.hosts)
        self.tokens -= granted
        self.today += granted
        changed = self.stale_from[pages] <= now
        self.longest[pages] = np.maximum(self.longest[pages], now - self.policy.last[pages])
        self.policy.seen(now, pages, changed)
        self.stale_from[pages] = self.history.next_change(pages, now)
        return pages, changed

    def _room(self) -> Ints | None:
        """Return the visits that each host accepts in this step: its share of the day, plus at most one that was not
        used before. In a day it accepts at most its cap."""
        if self.cap is None:
            return None
        self.tokens = np.minimum(self.tokens, 1.0) + self.cap
        room: Ints = np.floor(np.minimum(self.tokens, self.daily_cap - self.today) + 1e-9).astype(np.int64)
        return room

    def outcome(self, name: str) -> SimulationOutcome:
        """Return the result of the policy."""
        fresh, visits, values, host_most = zip(*self.days, strict=True)
        valued = self.history.value > 0.0
        longest = np.maximum(self.longest, len(self.days) - self.policy.last)[valued]
        return SimulationOutcome(
            name,
            np.array(fresh),
            np.array(visits, dtype=np.int64),
            np.array(values),
            float(longest.max(initial=0.0)),
            int((self.policy.visits[valued] == 0.0).sum()),
            max(host_most),
        )


def optimum(history: History, budget: float) -> float:
    """Return the best freshness for known rates and equal intervals (`optimal_frequencies`)."""
    best = optimal_revisits.optimal_frequencies(history.value, history.rate, budget)
    return _reached(history, best.frequency)


def constrained_optimum(history: History, budget: float, host_cap: float) -> float:
    """Return the best freshness for known rates and equal intervals, if no host accepts more than `host_cap` visits a
    day."""
    most = np.full(int(history.host.max()) + 1, host_cap)
    best = optimal_revisits.optimal_frequencies_by_host(history.value, history.rate, budget, history.host, most)
    return _reached(history, best.frequency)


def _reached(history: History, frequency: Floats) -> float:
    fresh = optimal_revisits.freshness(history.rate, frequency)
    return float(history.value @ fresh / history.value.sum())


def share_of(outcome: SimulationOutcome, yardstick: SimulationOutcome, days: Sequence[int]) -> float:
    """Return the freshness on these days as a share of the yardstick's."""
    chosen = np.asarray(days, dtype=np.int64)
    return float(outcome.freshness[chosen].mean() / yardstick.freshness[chosen].mean())


def recovery(outcome: SimulationOutcome, yardstick: SimulationOutcome, start: int, end: int) -> int | None:
    """Return the number of days after `start`, when the budget changed, until the share of the yardstick has recovered.

    It has recovered when the mean of three days is at most 1 % below that of the second half of the days before `end`.
    None: there are too few days, or it has not recovered.
    """
    share = outcome.freshness[start:end] / yardstick.freshness[start:end]
    if len(share) < FEWEST_DAYS:
        return None
    settled = share[len(share) // 2 :].mean()
    back = np.convolve(share, np.full(3, 1 / 3), mode="valid") >= settled - WITHIN
    return int(np.argmax(back)) if back.any() else None
