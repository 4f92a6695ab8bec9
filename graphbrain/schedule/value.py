"""The worth of a visit and its time: the settings of the order `optimal`, and the beliefs on change rates.

The first visit of a page is worth w·K at any time. A revisit is worth the expected crawl value of the page, by the
belief on its change rate. A lane holds pages of like value and belief, so a lane and an age determine the worth of a
visit. Times are in days.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphbrain.base.numeric.arrays import Flags, Floats
from graphbrain.base.settings import Settings
from graphbrain.base.urls.url_rules import NO_RULES, UrlRules, url_rules
from graphbrain.schedule import change_rate, lanes
from graphbrain.schedule.change_rate import PRIOR, Prior

__all__ = ["DAY", "Estimator", "Schedule"]

log = logging.getLogger(__name__)

DAY = 86_400.0
EXTREME = 1e12
"""The largest shape and scale of a belief. Larger ones have no effect, and their products overflow."""
LONGEST = 36_500.0
Estimator = Callable[[Floats, Floats, Floats, Flags], tuple[Floats, Floats]]
"""(shape, scale, days since the last visit, changed) → (shape, scale): the beliefs on pages before and after it."""


@dataclass(frozen=True)
class Schedule:
    """The settings of the order `optimal`, and the priors learned so far.

    Attributes:
        discovery: K, in days.
        freshness, change: The worth of a page of value 1 that is up to date, and of a change that a visit finds.
        least: The least number of days between two visits of a page.
        intervals: Rules with the seconds between visits of pages whose URLs match.
    """

    discovery: float = lanes.DISCOVERY
    freshness: float = 1.0
    change: float = 0.0
    least: float = 1.0
    frontier_reserve: float = 0.05
    oldest_reserve: float = 0.01
    forgetting: float = change_rate.FORGETTING
    intervals: UrlRules = NO_RULES
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
            url_rules("intervals", settings.intervals),
            prior,
            priors,
            estimator,
        )

    def worth(self, lane: ArrayLike, since: ArrayLike, now: float) -> Floats:
        """Return the worth of a visit to pages of these lanes that wait `since` (epoch seconds); −inf for a page that
        is not yet due."""
        age = (now - np.asarray(since, dtype=np.float64)) / DAY
        value = lanes.head_value(lane, age, self.discovery, self.freshness, self.change)
        # A page is due a millisecond early, since times are sums of floats.
        return np.where(self.ripe_at(lane, since) <= now + 1e-3, value, -np.inf)

    def ripe_at(self, lane: ArrayLike, since: ArrayLike) -> Floats:
        """Return the times (epoch seconds) from which pages of these lanes that wait `since` are due. Pages that were
        never fetched are due at any time, whichever clock wrote `since`."""
        numbers = np.asarray(lane, dtype=np.int64)
        start = np.asarray(since, dtype=np.float64)
        is_first = lanes.is_frontier(numbers)
        return np.where(
            is_first, np.minimum(start, 0.0), np.where(numbers == lanes.ASKED, start, start + self.least * DAY)
        )

    def first_belief(self, hosts: Sequence[str], value: Floats) -> tuple[Floats, Floats]:
        """Return the belief (shape, scale) on pages of these hosts that were visited once."""
        return change_rate.first_belief([self.priors.get(host, self.prior) for host in hosts], value)

    def after_visit(
        self, hosts: Sequence[str], shape: Floats, scale: Floats, days: Floats, changed: Flags, value: Floats
    ) -> tuple[Floats, Floats]:
        """Return the belief (shape, scale) on pages after a revisit. `shape`, `scale`: the belief before it; nan if
        this is the first revisit. `days`: the time since the visit before."""
        prior_shape, prior_scale = self.first_belief(hosts, value)
        before = np.where(np.isnan(shape), prior_shape, shape), np.where(np.isnan(scale), prior_scale, scale)
        if self.estimator is not None:
            estimates = _estimated(self.estimator, *before, days, changed)
            return _sane(*estimates, before)
        return change_rate.after_visit(*before, days, changed, (prior_shape, prior_scale), self.forgetting)

    def comes_back(self, value: Floats, shape: Floats, scale: Floats, price: float) -> Floats:
        """Return the days from one visit to the next for pages of these values and beliefs, if the crawl makes every
        visit that is worth `price`; nan for a page whose visit is not worth `price` within a hundred years."""

        def is_worth(age: Floats) -> Flags:
            worth = change_rate.expected_value(self.freshness * value, shape, scale, age, self.change * value)
            return np.asarray(worth >= price)

        low, high = np.full(len(value), self.least), np.full(len(value), LONGEST)
        is_never = ~is_worth(high)
        # Bisect each page to its own accuracy, so that its result does not depend on the other pages of the call.
        while (is_open := high - low > 1e-4 * high).any():
            middle = (low + high) / 2.0
            is_enough = is_worth(middle)
            high = np.where(is_open & is_enough, middle, high)
            low = np.where(is_open & ~is_enough, middle, low)
        return np.where(is_never, np.nan, high)

    def interval_of(self, url: str) -> float | None:
        """Return the days of the first interval whose pattern this URL contains; None if there is none."""
        seconds = self.intervals.first(url) if self.intervals.rules else None
        return None if seconds is None else seconds / DAY


def _estimated(
    estimator: Estimator, shape: Floats, scale: Floats, days: Floats, changed: Flags
) -> tuple[Floats, Floats]:
    """Return the estimates of the user's estimator; nan for pages for which it raises, or returns arrays of another
    form."""
    try:
        answer = estimator(shape.copy(), scale.copy(), days.copy(), changed.copy())
        own_shape, own_scale = (np.asarray(each, dtype=np.float64) for each in answer)
        if own_shape.shape == own_scale.shape == shape.shape:
            return own_shape, own_scale
    except Exception as error:  # noqa: BLE001  # the estimator is the user's code
        log.warning("The estimator failed (%s: %s).", type(error).__name__, error)
    # Ask again for each page alone, so that one page does not spoil the estimates of the others.
    if len(shape) <= 1:
        return np.full(shape.shape, np.nan), np.full(shape.shape, np.nan)
    rows = [slice(i, i + 1) for i in range(len(shape))]
    each = [_estimated(estimator, shape[row], scale[row], days[row], changed[row]) for row in rows]
    return np.concatenate([one for one, _ in each]), np.concatenate([other for _, other in each])


def _sane(shape: Floats, scale: Floats, before: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """Return the estimates of the user's estimator. An estimate that is no valid belief is replaced by the belief
    before the visit."""
    is_valid: NDArray[np.bool_] = np.isfinite(shape) & np.isfinite(scale) & (shape > 0.0) & (scale > 0.0)
    shape, scale = np.clip(shape, 1.0 / EXTREME, EXTREME), np.clip(scale, 1.0 / EXTREME, EXTREME)
    return np.where(is_valid, shape, before[0]), np.where(is_valid, scale, before[1])
