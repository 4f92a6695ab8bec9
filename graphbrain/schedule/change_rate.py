"""The change rates of pages, learned from visits that only show whether a page has changed since the last one.

The belief on a page's change rate λ (changes a day) is Gamma(a, b). The **shape** a is about the number of changes that
the belief rests on; the **scale** b, in days, is about the time that it rests on; the mean is a/b. A visit first moves
the belief a little towards the prior, since rates drift. Then it replaces the posterior by the Gamma of the same mean
and variance (assumed-density filtering). The worth of a visit is the mean of the crawl value over the belief
(`expected_value`), in closed form. A visit of a page of uncertain rate has a high worth, so no rule of exploration is
needed.

The estimators that others use follow, for comparison: Cho, Garcia-Molina, "Estimating frequency of change", ACM TOIT
3(3), 2003 (section 4: the naive one and its bias; 5.1: the improved one for equal intervals; 5.2: unequal ones), and
crawl-frontier's documentation, "Optimal revisiting algorithm". Times are in days and rates in changes a day.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from graphbrain.base.numeric.arrays import Flags, Floats, Ints

__all__ = [
    "FORGETTING",
    "PRIOR",
    "Prior",
    "after_visit",
    "bias_corrected_rate",
    "chance_of_change",
    "expected_value",
    "first_belief",
    "fit_prior",
    "fit_priors",
    "interval_rate",
    "large_numbers_rate",
    "naive_rate",
]


FORGETTING = 0.98
"""The share of the evidence that remains after each visit. A lower share fits changes that come in bursts (.95 on
recorded policy pages)."""
LEAST_SHAPE, MOST_SHAPE = 0.05, 50.0
LEAST_SCALE, MOST_SCALE = 1e-6, 1e6
LEAST_VALUE = 1e-9
ENOUGH = 50
"""The least number of first re-visits for a prior of one host or one kind of page."""


@dataclass(frozen=True, slots=True)
class Prior:
    """The belief on a page before it was ever visited twice: Gamma(`shape`, `scale`·w^`slope`), w its value.

    `scale`: in days, of a page of value 1. `slope`: below 0 where valuable pages change more often, as they mostly do.
    Raises ValueError unless shape and scale are above 0.
    """

    shape: float
    scale: float
    slope: float = 0.0

    def __post_init__(self) -> None:
        if not (np.isfinite(self.shape) and np.isfinite(self.scale) and min(self.shape, self.scale) > 0.0):
            raise ValueError("A prior's shape and scale must be positive numbers.")

    @property
    def rate(self) -> float:
        """The mean rate of a page of value 1, in changes a day."""
        return self.shape / self.scale

    def scale_of(self, value: ArrayLike) -> Floats:
        """The scale of pages of these values, in days."""
        return _scale_of(self.scale, self.slope, value)


PRIOR = Prior(0.5, 5.0)
"""The prior of a crawl without first re-visits: one change in ten days on average, and rates from one an hour to one a
year."""


def first_belief(priors: Sequence[Prior], value: Floats) -> tuple[Floats, Floats]:
    """Return the belief (shape, scale) on pages that were visited once, from the prior and the value of each page."""
    rows = [(prior.shape, prior.scale, prior.slope) for prior in priors]
    shape, scale, slope = np.array(rows, dtype=np.float64).reshape(-1, 3).T
    return shape.copy(), _scale_of(scale, slope, value)


def _scale_of(scale: float | Floats, slope: float | Floats, value: ArrayLike) -> Floats:
    return np.clip(scale * np.maximum(value, LEAST_VALUE) ** slope, LEAST_SCALE, MOST_SCALE)


def after_visit(
    shape: Floats,
    scale: Floats,
    elapsed: Floats,
    changed: Flags,
    prior: Prior | tuple[Floats, Floats] = PRIOR,
    forgetting: float = FORGETTING,
    value: ArrayLike = 1.0,
) -> tuple[Floats, Floats]:
    """Return the belief (shape, scale) on each page after a visit that came `elapsed` days after the one before.

    `prior`: one prior for all pages, evaluated at their `value`; or the prior shape and scale of each page.

    An unchanged page has the belief Gamma(a, b + t), exactly. For a changed page the posterior is a difference of two
    Gammas with mean and second moment

        m₁ = (a/b)(1 − p·r)/(1 − p),   m₂ = (a(a+1)/b²)(1 − p·r²)/(1 − p),   r = b/(b + t),  p = r^a

    and is replaced by the Gamma with these moments. If no time has elapsed, the change counts as one whole change.
    """
    # Move the belief towards the prior.
    first_shape, first_scale = (prior.shape, prior.scale_of(value)) if isinstance(prior, Prior) else prior
    a = first_shape + forgetting * (shape - first_shape)
    b = first_scale + forgetting * (scale - first_scale)
    # The moments of the posterior of a changed page.
    log_ratio = np.log1p(np.maximum(elapsed, 1e-9 * b) / b)
    chance = -np.expm1(-a * log_ratio)
    mean = a / b * -np.expm1(-(a + 1.0) * log_ratio) / chance
    square = a * (a + 1.0) / b**2 * -np.expm1(-(a + 2.0) * log_ratio) / chance
    variance = np.maximum(square - mean**2, 1e-12 * mean**2)
    # The Gamma of these moments for a changed page, and the exact posterior for an unchanged one.
    new_shape = np.where(changed, mean**2 / variance, a)
    new_scale = np.where(changed, mean / variance, b + np.maximum(elapsed, 0.0))
    return np.maximum(new_shape, LEAST_SHAPE), np.maximum(new_scale, LEAST_SCALE)


def chance_of_change(shape: ArrayLike, scale: ArrayLike, age: ArrayLike) -> Floats:
    """Return the chance that a page has changed in the τ = `age` days since its last visit, 1 − (b/(b + τ))^a.

    It is the mean of 1 − exp(−λτ) over λ ~ Gamma(a, b).
    """
    b = np.asarray(scale, dtype=np.float64)
    chances: Floats = -np.expm1(np.asarray(shape) * (np.log(b) - np.log(b + np.asarray(age))))
    return chances


def expected_value(
    value: ArrayLike, shape: ArrayLike, scale: ArrayLike, age: ArrayLike, change_value: ArrayLike = 0.0
) -> Floats:
    """Return the mean of the crawl value (w/λ + u)·g(λτ) over λ ~ Gamma(a, b), τ = `age` days after the last visit:

        w·{ b/(a−1)·[1 − r^(a−1)] − τ·r^a }  +  u·{ 1 − r^a − a·τ·b^a/(b + τ)^(a+1) },   r = b/(b + τ)

    For a ≤ 1 it grows with τ without bound, so a page of uncertain rate is visited again at some time. With `value` 0
    and `change_value` w it is the crawl value if only found changes count, as in crawl-frontier.
    """
    w, a, b, tau, u = (np.asarray(each, dtype=np.float64) for each in (value, shape, scale, age, change_value))
    tau = np.maximum(tau, 0.0)
    log_ratio = np.log1p(tau / b)
    no_change = np.exp(-a * log_ratio)
    # (1 − e^(−z))/z is 1 at z = 0.
    z = (a - 1.0) * log_ratio
    is_zero = np.abs(z) < 1e-12
    damped = np.where(is_zero, 1.0, -np.expm1(-z) / np.where(is_zero, 1.0, z))
    freshness_gain = b * log_ratio * damped - tau * no_change
    change_gain = 1.0 - no_change - a * tau / (b + tau) * no_change
    return np.maximum(w * freshness_gain + u * change_gain, 0.0)


def fit_prior(elapsed: ArrayLike, changed: ArrayLike, around: Prior = PRIOR, value: ArrayLike | None = None) -> Prior:
    """Return the prior with the greatest likelihood of first re-visits (empirical Bayes), `elapsed` days after the
    first visits.

    P(unchanged after t) = (b/(b + t))^a, with b = scale·w^slope; without `value` the slope of `around` is kept. The
    crawl visits the most valuable pages first. If value and rate are correlated, a prior without slope would fit these
    pages and not the crawl. One re-visit of each page shows the mean rate well and the spread badly, and equal
    intervals cannot separate the two. So the fit is drawn towards `around`, with the weight of about one observation.
    """
    from scipy.optimize import minimize  # the import takes half a second, and few processes fit priors

    t, has_changed = np.asarray(elapsed, dtype=np.float64), np.asarray(changed, dtype=bool)
    logs = np.log(np.maximum(np.ones(t.shape) if value is None else np.asarray(value, dtype=np.float64), LEAST_VALUE))
    # A point of the search is (log shape, log scale, slope); without values the slope is fixed.
    dimensions = 2 if value is None else 3
    start = np.array([np.log(around.shape), np.log(around.scale), around.slope])
    spread = np.array([2.0, 2.0, 1.0])[:dimensions]

    def negative_log_posterior(point: Floats) -> float:
        slope = point[2] if dimensions == 3 else around.slope
        exponent = np.exp(point[0]) * np.log1p(t * np.exp(-point[1] - slope * logs))
        likelihood = np.log(-np.expm1(-np.maximum(exponent[has_changed], 1e-300))).sum() - exponent[~has_changed].sum()
        # Round the value: its last digits depend on the processor, and the search compares values.
        return float(f"{0.5 * (((point - start[:dimensions]) / spread) ** 2).sum() - likelihood:.11g}")

    first = start[:dimensions]
    with np.errstate(over="ignore"):
        best = minimize(
            negative_log_posterior, first, method="Nelder-Mead", options={"xatol": 1e-4, "fatol": 1e-6, "maxiter": 2000}
        ).x
    shape, scale = np.clip(np.exp(best[:2]), (LEAST_SHAPE, LEAST_SCALE), (MOST_SHAPE, MOST_SCALE))
    return Prior(float(shape), float(scale), float(best[2]) if dimensions == 3 else around.slope)


def fit_priors(
    group: Ints,
    elapsed: Floats,
    changed: Flags,
    around: Prior = PRIOR,
    value: Floats | None = None,
    enough: int = ENOUGH,
) -> tuple[Prior, dict[int, Prior]]:
    """Return the crawl's prior, and a prior for each group with `enough` first re-visits. The fit of a group is drawn
    towards the crawl's prior.

    `group`: the number of each observation's host, or of its kind of page.
    """
    crawl = fit_prior(elapsed, changed, around, value)
    numbers, counts = np.unique(group, return_counts=True)
    priors = {}
    for number in numbers[counts >= enough]:
        inside = group == number
        of_group = None if value is None else value[inside]
        priors[int(number)] = fit_prior(elapsed[inside], changed[inside], crawl, of_group)
    return crawl, priors


# ---------------------------------------------------------------------- what others estimate


def naive_rate(changes: ArrayLike, observed: ArrayLike, default: float = 0.0) -> Floats:
    """Return X/T, the changes found in `observed` days; `default` when no time was observed. crawl-frontier's `Simple`.

    The estimate is too low, most of all for rare visits, since one visit finds at most one change (TOIT 2003, section
    4.1). Raises ValueError for a number below 0, or a value that is no number.
    """
    changed, time = _checked(changes=changes, observed=observed)
    rate: Floats = np.divide(changed, time, out=np.full(changed.shape, default), where=time > 0.0)
    return rate


def bias_corrected_rate(visits: ArrayLike, changes: ArrayLike, interval: ArrayLike) -> Floats:
    """Return −ln((n − X + ½)/(n + ½))/I for visits at equal intervals I: the likeliest rate, corrected for its bias
    (TOIT 2003, section 5.1).

    `visits`: n, the visits that could find a change. `changes`: X, the visits that found one. Raises ValueError for a
    number below 0, for a value that is no number, and for more changes than visits.
    """
    n, changed, days = _checked(visits=visits, changes=changes, interval=interval)
    return np.asarray(-np.log((n - changed + 0.5) / (n + 0.5)) / days)


def large_numbers_rate(visits: ArrayLike, changes: ArrayLike, observed: ArrayLike) -> Floats:
    """Return p·X/(n − X) with p = n/T visits a day; half a visit is added to both counts.

    The estimate converges to the true rate if the visits come at random moments. `observed`: T, the days from the first
    visit to the last. Avrachenkov, Patil, Thoppe, arXiv 2004.02167, section 3, the estimator from the law of large
    numbers. Raises ValueError as `bias_corrected_rate` does.
    """
    n, changed, days = _checked(visits=visits, changes=changes, observed=observed)
    return np.asarray(n / days * (changed + 0.5) / (n - changed + 0.5))


def _checked(**given: ArrayLike) -> list[Floats]:
    """Return the arguments as arrays of one form. Raise ValueError for a number below 0, for a value that is no number,
    and for more changes than visits."""
    arrays = np.broadcast_arrays(*(np.asarray(each, dtype=np.float64) for each in given.values()))
    for name, numbers in zip(given, arrays, strict=True):
        if not np.isfinite(numbers).all() or (numbers < 0.0).any():
            raise ValueError(f"Each number of {name} must be at least 0.")
    named = dict(zip(given, arrays, strict=True))
    if "visits" in named and (named["changes"] > named["visits"]).any():
        raise ValueError("No page can have more changes than visits.")
    return list(arrays)


def interval_rate(elapsed: ArrayLike, changed: ArrayLike, pseudo: float = 0.0) -> Floats:
    """Return the likeliest rate for visits at any intervals: the λ with Σ_changed t/(e^(λt) − 1) = Σ_same t.

    `elapsed`, `changed`: pages × visits, 0 days where a page has fewer visits. `pseudo` > 0 adds one changed and one
    unchanged interval of that length. Without them the rate is 0 if no visit found a change, and infinite if each did.
    TOIT 2003, section 5.2, and crawl-frontier's documentation; pseudo intervals as in Kolobov et al., NeurIPS 2019.
    Raises ValueError for a time below 0, or one that is no number.
    """
    t = np.atleast_2d(_checked(elapsed=elapsed, pseudo=pseudo)[0])
    has_changed = np.atleast_2d(np.asarray(changed, dtype=bool)) & (t > 0.0)
    # The unchanged time of each page, and its changed intervals.
    same_time = np.where(has_changed, 0.0, t).sum(axis=1) + pseudo
    intervals = np.where(has_changed, t, 0.0)
    if pseudo > 0.0:
        intervals = np.column_stack([intervals, np.full(len(intervals), pseudo)])
    # Bisect the logarithm of the rate of all pages at once.
    low, high = np.full(len(t), -40.0), np.full(len(t), 40.0)
    for _ in range(60):
        middle = (low + high) / 2.0
        exponents = np.minimum(intervals * np.exp(middle)[:, None], 700.0)
        terms = np.divide(intervals, np.expm1(exponents), out=np.zeros_like(intervals), where=exponents > 0.0)
        is_low = terms.sum(axis=1) > same_time
        low, high = np.where(is_low, middle, low), np.where(is_low, high, middle)
    rate = np.exp((low + high) / 2.0)
    is_never = intervals.sum(axis=1) == 0.0
    is_always = (same_time == 0.0) & (intervals.sum(axis=1) > 0.0)
    return np.where(is_never, 0.0, np.where(is_always, np.inf, rate))
