"""The worth of a visit and its time: the settings of the order `optimal`, and what is believed of rates before and
after.

A page that was never fetched is worth w·K whenever it is; one that was, its expected crawl value (beliefs); lanes keep
pages of like value and belief together, so all that is asked here is asked by lane and age. Times are in days.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphbrain.base.errors import SettingsError
from graphbrain.base.numeric.arrays import Flags, Floats
from graphbrain.base.settings import Settings
from graphbrain.schedule import change_rate, lanes
from graphbrain.schedule.change_rate import PRIOR, Prior

__all__ = ["DAY", "Estimator", "Schedule"]

log = logging.getLogger(__name__)

DAY = 86_400.0
NEVER = 1e9
EXTREME = 1e12
"""Beliefs beyond it are cut: they add nothing, and their products overflow."""
LONGEST = 36_500.0
Estimator = Callable[[Floats, Floats, Floats, Flags], tuple[Floats, Floats]]
"""(shape, scale, days since the last visit, changed) → (shape, scale) of pages: what is believed after a visit."""


@dataclass(frozen=True)
class Schedule:
    """The settings of the order `optimal`, and the priors learned so far.

    `discovery`: K, in days. `freshness`, `change`: what being up to date, and finding a change, is worth. `least`: days
    before which no page is visited again. `intervals`: days between visits of pages in whose URL a pattern is found.
    """

    discovery: float = lanes.DISCOVERY
    freshness: float = 1.0
    change: float = 0.0
    least: float = 1.0
    frontier_reserve: float = 0.05
    oldest_reserve: float = 0.01
    forgetting: float = change_rate.FORGETTING
    intervals: tuple[tuple[re.Pattern[str], float], ...] = ()
    prior: Prior = PRIOR
    priors: Mapping[str, Prior] = field(default_factory=dict)
    estimator: Estimator | None = field(default=None, compare=False)

    @classmethod
    def of(
        cls, settings: Settings, prior: Prior, priors: Mapping[str, Prior], estimator: Estimator | None = None
    ) -> Schedule:
        """Return the schedule by the settings. Raise SettingsError for intervals that cannot be read."""
        return cls(
            settings.discovery_days,
            settings.freshness_value,
            settings.change_value,
            settings.revisit_seconds / DAY,
            settings.frontier_reserve,
            settings.oldest_reserve,
            settings.forgetting,
            _intervals(settings.intervals),
            prior,
            priors,
            estimator,
        )

    def worth(self, lane: ArrayLike, since: ArrayLike, now: float) -> Floats:
        """Return the worth of a visit of the pages in these lanes that wait `since` (epoch seconds); −inf: not yet."""
        age = (now - np.asarray(since, dtype=np.float64)) / DAY
        value = lanes.head_value(lane, age, self.discovery, self.freshness, self.change)
        return np.where(self.are_due(lane, since, now), value, -np.inf)

    def are_due(self, lane: ArrayLike, since: ArrayLike, now: float) -> Flags:
        """Return whether pages of these lanes that wait `since` (epoch seconds) may be visited now.

        A millisecond less than the least wait is enough, since times are sums of floats.
        """
        return np.asarray(self.ripe_at(lane, since) <= now + 1e-3)

    def ripe_at(self, lane: ArrayLike, since: ArrayLike) -> Floats:
        """Return the times (epoch seconds) from which pages of these lanes that wait `since` may be visited. Pages that
        were never fetched may be visited at any time, whichever clock wrote `since`."""
        numbers = np.asarray(lane, dtype=np.int64)
        at = np.asarray(since, dtype=np.float64)
        first = lanes.is_frontier(numbers)
        return np.where(first, np.minimum(at, 0.0), np.where(numbers == lanes.ASKED, at, at + self.least * DAY))

    def first_belief(self, hosts: Sequence[str], value: Floats) -> tuple[Floats, Floats]:
        """Return (shape, scale) of pages of these hosts that were visited once."""
        return change_rate.first_belief([self.priors.get(host, self.prior) for host in hosts], value)

    def after_visit(
        self, hosts: Sequence[str], shape: Floats, scale: Floats, days: Floats, changed: Flags, value: Floats
    ) -> tuple[Floats, Floats]:
        """Return (shape, scale) of pages after a visit `days` after their last; nan before it: it is their first
        re-visit."""
        prior_shape, prior_scale = self.first_belief(hosts, value)
        before = np.where(np.isnan(shape), prior_shape, shape), np.where(np.isnan(scale), prior_scale, scale)
        if self.estimator is not None:
            own = _estimated(self.estimator, *before, days, changed)
            return _sane(*own, before)
        return change_rate.after_visit(*before, days, changed, (prior_shape, prior_scale), self.forgetting)

    def comes_back(self, value: Floats, shape: Floats, scale: Floats, price: float) -> Floats:
        """Days from a visit to the next of pages of these values and beliefs, where visits worth `price` are made.

        nan where it is not worth so much in a hundred years.
        """

        def enough(age: Floats) -> Flags:
            seen = change_rate.expected_value(self.freshness * value, shape, scale, age, self.change * value)
            return np.asarray(seen >= price)

        low, high = np.full(len(value), self.least), np.full(len(value), LONGEST)
        never = ~enough(high)
        # A page's days are not to depend on what others are asked for with it.
        while (apart := high - low > 1e-4 * high).any():
            middle = (low + high) / 2.0
            good = enough(middle)
            high = np.where(apart & good, middle, high)
            low = np.where(apart & ~good, middle, low)
        return np.where(never, np.nan, high)

    def interval_of(self, url: str) -> float | None:
        """Return the days between the visits of this page by a pattern; of several the first."""
        return next((days for pattern, days in self.intervals if pattern.search(url)), None)


def _estimated(
    estimator: Estimator, shape: Floats, scale: Floats, days: Floats, changed: Flags
) -> tuple[Floats, Floats]:
    """Return the estimates of the crawler's own estimator; nan for the pages of which it raises, or returns nothing
    that fits."""
    try:
        answer = estimator(shape.copy(), scale.copy(), days.copy(), changed.copy())
        own_shape, own_scale = (np.asarray(each, dtype=np.float64) for each in answer)
        if own_shape.shape == own_scale.shape == shape.shape:
            return own_shape, own_scale
    except Exception as error:  # noqa: BLE001  # the caller's own
        log.warning("The estimator failed (%s: %s).", type(error).__name__, error)
    if len(shape) <= 1:
        return np.full(shape.shape, np.nan), np.full(shape.shape, np.nan)
    rows = [slice(i, i + 1) for i in range(len(shape))]
    each = [_estimated(estimator, shape[row], scale[row], days[row], changed[row]) for row in rows]
    return np.concatenate([one for one, _ in each]), np.concatenate([other for _, other in each])


def _sane(shape: Floats, scale: Floats, before: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """Return the estimates of the crawler's own estimator that are valid beliefs, and the belief before for the
    others."""
    good: NDArray[np.bool_] = np.isfinite(shape) & np.isfinite(scale) & (shape > 0.0) & (scale > 0.0)
    shape, scale = np.clip(shape, 1.0 / EXTREME, EXTREME), np.clip(scale, 1.0 / EXTREME, EXTREME)
    return np.where(good, shape, before[0]), np.where(good, scale, before[1])


def _intervals(text: str) -> tuple[tuple[re.Pattern[str], float], ...]:
    """`PATTERN SECONDS`, one a line or separated by semicolons."""
    intervals = []
    for part in re.split(r"[\n;]", text):
        if not part.strip():
            continue
        pattern, _, seconds = part.strip().rpartition(" ")
        try:
            days = float(seconds) / DAY
            if not pattern or not 1.0 / DAY <= days <= NEVER:
                raise ValueError
            intervals.append((re.compile(pattern.strip()), days))
        except (ValueError, re.error):
            raise SettingsError(
                f"intervals must be a regular expression and seconds, like '/news/ 3600', not {part.strip()!r}."
            ) from None
    return tuple(intervals)
