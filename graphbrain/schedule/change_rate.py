"""The change rates of pages, learned from visits that only show whether a page has changed since the last one.

The belief on a page's change rate λ (changes a day) is Gamma(a, b): a is the **shape**, about how many changes it rests
on, b the **scale** in days, about how long a time; the mean is a/b. After a visit the belief is brought back to a Gamma
of the same mean and variance (assumed-density filtering); before it, what was learned fades a little towards the prior,
since rates drift. What a visit is worth is then the mean of the crawl value over the belief (`expected_value`), in
closed form: an uncertain page is worth a look by itself, and needs no rule of exploration.

The estimators that others use are below, for comparison: Cho, Garcia-Molina, "Estimating frequency of change", ACM TOIT
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
"""The part of the evidence that is kept at each visit. Lower where changes come in bursts (.95 on recorded policy
pages)."""
LEAST_SHAPE, MOST_SHAPE = 0.05, 50.0
LEAST_SCALE, MOST_SCALE = 1e-6, 1e6
LEAST_VALUE = 1e-9
ENOUGH = 50
"""First re-visits from which a host or a kind of page gets a prior of its own."""


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
        """The mean of a page of value 1: changes a day."""
        return self.shape / self.scale

    def scale_of(self, value: ArrayLike) -> Floats:
        """The scale of pages of these values, in days."""
        return _scale_of(self.scale, self.slope, value)


PRIOR = Prior(0.5, 5.0)
"""The prior for an unknown crawl: a change in ten days on the average, with a rate from one an hour to one a year."""


def first_belief(priors: Sequence[Prior], value: Floats) -> tuple[Floats, Floats]:
    """(shape, scale) of pages that were visited once, by the prior and the value of each."""
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
    """The belief after a visit that came `elapsed` days after the last: (shape, scale) by page.

    `prior`: of all the pages, which depends on their `value`, or shape and scale of each.

    Unchanged: Gamma(a, b + t), exactly. Changed: the posterior is a difference of two Gammas with mean and second
    moment

        m₁ = (a/b)(1 − p·r)/(1 − p),   m₂ = (a(a+1)/b²)(1 − p·r²)/(1 − p),   r = b/(b + t),  p = r^a

    and is replaced by the Gamma with these moments. With no time elapsed a change counts as one whole change.
    """
    first_shape, first_scale = (prior.shape, prior.scale_of(value)) if isinstance(prior, Prior) else prior
    a = first_shape + forgetting * (shape - first_shape)
    b = first_scale + forgetting * (scale - first_scale)
    log_ratio = np.log1p(np.maximum(elapsed, 1e-9 * b) / b)
    seen = -np.expm1(-a * log_ratio)
    mean = a / b * -np.expm1(-(a + 1.0) * log_ratio) / seen
    square = a * (a + 1.0) / b**2 * -np.expm1(-(a + 2.0) * log_ratio) / seen
    variance = np.maximum(square - mean**2, 1e-12 * mean**2)
    new_shape = np.where(changed, mean**2 / variance, a)
    new_scale = np.where(changed, mean / variance, b + np.maximum(elapsed, 0.0))
    return np.maximum(new_shape, LEAST_SHAPE), np.maximum(new_scale, LEAST_SCALE)


def chance_of_change(shape: ArrayLike, scale: ArrayLike, age: ArrayLike) -> Floats:
    """Return the chance that a page has changed that was not seen for τ = `age` days, 1 − (b/(b + τ))^a.

    It is the mean of 1 − exp(−λτ) over λ ~ Gamma(a, b).
    """
    b = np.asarray(scale, dtype=np.float64)
    chances: Floats = -np.expm1(np.asarray(shape) * (np.log(b) - np.log(b + np.asarray(age))))
    return chances


def expected_value(
    value: ArrayLike, shape: ArrayLike, scale: ArrayLike, age: ArrayLike, change_value: ArrayLike = 0.0
) -> Floats:
    """The mean of the crawl value (w/λ + u)·g(λτ) over λ ~ Gamma(a, b), for a page not seen for τ = `age` days:

        w·{ b/(a−1)·[1 − r^(a−1)] − τ·r^a }  +  u·{ 1 − r^a − a·τ·b^a/(b + τ)^(a+1) },   r = b/(b + τ)

    For a ≤ 1 it grows with τ without end, so a page of which little is known is looked at again sooner or later.
    With `value` 0 and `change_value` w it is the crawl value of the seeds' aim.
    """
    w, a, b, tau, u = (np.asarray(each, dtype=np.float64) for each in (value, shape, scale, age, change_value))
    tau = np.maximum(tau, 0.0)
    log_ratio = np.log1p(tau / b)
    still = np.exp(-a * log_ratio)
    fresh = b * log_ratio * _damped((a - 1.0) * log_ratio) - tau * still
    caught = 1.0 - still - a * tau / (b + tau) * still
    return np.maximum(w * fresh + u * caught, 0.0)


def _damped(z: Floats) -> Floats:
    """(1 − e^(−z))/z, 1 at z = 0."""
    safe = np.where(np.abs(z) < 1e-12, 1.0, z)
    damped: Floats = -np.expm1(-safe) / safe
    return np.where(np.abs(z) < 1e-12, 1.0, damped)


def fit_prior(elapsed: ArrayLike, changed: ArrayLike, around: Prior = PRIOR, value: ArrayLike | None = None) -> Prior:
    """The prior that makes first re-visits likeliest (empirical Bayes), `elapsed` days after the first visits.

    P(unchanged after t) = (b/(b + t))^a, with b = scale·w^slope; without `value` the slope stays that of `around`. The
    most valuable pages are visited first, so where value and rate go together a prior without slope would be theirs,
    not the crawl's. One visit of each page shows the mean rate well and the spread badly, and equal intervals do not
    separate them at all; so the fit leans, with the weight of about one observation, on `around`.
    """
    from scipy.optimize import minimize  # takes half a second, and few processes fit

    t, has_changed = np.asarray(elapsed, dtype=np.float64), np.asarray(changed, dtype=bool)
    logs = np.log(np.maximum(np.ones(t.shape) if value is None else np.asarray(value, dtype=np.float64), LEAST_VALUE))
    start = np.array([np.log(around.shape), np.log(around.scale), around.slope])
    free = 2 if value is None else 3
    spread = np.array([2.0, 2.0, 1.0])[:free]

    def unlikely(point: Floats) -> float:
        slope = point[2] if free == 3 else around.slope
        exponent = np.exp(point[0]) * np.log1p(t * np.exp(-point[1] - slope * logs))
        likelihood = np.log(-np.expm1(-np.maximum(exponent[has_changed], 1e-300))).sum() - exponent[~has_changed].sum()
        # Not to the last digit, which depends on the processor: the search uses the smaller value.
        return float(f"{0.5 * (((point - start[:free]) / spread) ** 2).sum() - likelihood:.11g}")

    with np.errstate(over="ignore"):
        best = minimize(
            unlikely, start[:free], method="Nelder-Mead", options={"xatol": 1e-4, "fatol": 1e-6, "maxiter": 2000}
        ).x
    shape, scale = np.clip(np.exp(best[:2]), (LEAST_SHAPE, LEAST_SCALE), (MOST_SHAPE, MOST_SCALE))
    return Prior(float(shape), float(scale), float(best[2]) if free == 3 else around.slope)


def fit_priors(
    group: Ints,
    elapsed: Floats,
    changed: Flags,
    around: Prior = PRIOR,
    value: Floats | None = None,
    enough: int = ENOUGH,
) -> tuple[Prior, dict[int, Prior]]:
    """The crawl's prior, and one of its own, leaning on it, for each group with `enough` first re-visits.

    `group`: a number for each observation's host, or kind of page.
    """
    crawl = fit_prior(elapsed, changed, around, value)
    names, counts = np.unique(group, return_counts=True)
    own = {}
    for one in names[counts >= enough]:
        inside = group == one
        own[int(one)] = fit_prior(elapsed[inside], changed[inside], crawl, None if value is None else value[inside])
    return crawl, own


# ---------------------------------------------------------------------- what others estimate


def naive_rate(changes: ArrayLike, observed: ArrayLike, default: float = 0.0) -> Floats:
    """X/T: changes found in `observed` days; `default` when no time was observed. crawl-frontier's `Simple`.

    Too low, the more so the rarer the visits: at most one change is found by each (TOIT 2003, section 4.1). Raises
    ValueError for a number below 0, or none.
    """
    changed, time = _checked(changes=changes, observed=observed)
    rate: Floats = np.divide(changed, time, out=np.full(changed.shape, default), where=time > 0.0)
    return rate


def bias_corrected_rate(visits: ArrayLike, changes: ArrayLike, interval: ArrayLike) -> Floats:
    """−ln((n − X + ½)/(n + ½))/I for visits at equal intervals I: the likeliest rate, its bias taken away (TOIT 2003,
    section 5.1).

    `visits`: n, those that could find a change; `changes`: X of them did. Raises ValueError for a number below 0, or
    none, and for more changes than visits.
    """
    n, changed, days = _checked(visits=visits, changes=changes, interval=interval)
    return np.asarray(-np.log((n - changed + 0.5) / (n + 0.5)) / days)


def large_numbers_rate(visits: ArrayLike, changes: ArrayLike, observed: ArrayLike) -> Floats:
    """p·X/(n − X) with p = n/T visits a day, half a visit added to both counts: where it tends is right for visits
    at random moments. `observed`: T, the days from the first to the last. Avrachenkov, Patil, Thoppe, arXiv 2004.02167,
    section 3, the estimator from the law of large numbers. Raises ValueError, as `bias_corrected_rate`."""
    n, changed, days = _checked(visits=visits, changes=changes, observed=observed)
    return np.asarray(n / days * (changed + 0.5) / (n - changed + 0.5))


def _checked(**given: ArrayLike) -> list[Floats]:
    """Return the arguments as arrays of one form. Raise ValueError for a number below 0, for none, and for more changes
    than visits."""
    arrays = np.broadcast_arrays(*(np.asarray(each, dtype=np.float64) for each in given.values()))
    for name, numbers in zip(given, arrays, strict=True):
        if not np.isfinite(numbers).all() or (numbers < 0.0).any():
            raise ValueError(f"Each number of {name} must be at least 0.")
    named = dict(zip(given, arrays, strict=True))
    if "visits" in named and (named["changes"] > named["visits"]).any():
        raise ValueError("No page can have more changes than visits.")
    return list(arrays)


def interval_rate(elapsed: ArrayLike, changed: ArrayLike, pseudo: float = 0.0) -> Floats:
    """The likeliest rate for visits at any intervals: the λ with Σ_changed t/(e^(λt) − 1) = Σ_same t.

    `elapsed`, `changed`: pages × visits, 0 days where a page has fewer visits. `pseudo` > 0 adds one changed and one
    unchanged interval of that length, against 0 (no change was found) and infinity (nothing else was). Of TOIT 2003,
    section 5.2, and crawl-frontier's documentation; pseudo intervals as in Kolobov et al., NeurIPS 2019. Raises
    ValueError for a time below 0, or none.
    """
    t = np.atleast_2d(_checked(elapsed=elapsed, pseudo=pseudo)[0])
    has_changed = np.atleast_2d(np.asarray(changed, dtype=bool)) & (t > 0.0)
    same = np.where(has_changed, 0.0, t).sum(axis=1) + pseudo
    moved = np.where(has_changed, t, 0.0)
    if pseudo > 0.0:
        moved = np.column_stack([moved, np.full(len(moved), pseudo)])
    low, high = np.full(len(t), -40.0), np.full(len(t), 40.0)
    for _ in range(60):
        middle = (low + high) / 2.0
        grown = np.minimum(moved * np.exp(middle)[:, None], 700.0)
        sums = np.divide(moved, np.expm1(grown), out=np.zeros_like(moved), where=grown > 0.0).sum(axis=1)
        low, high = np.where(sums > same, middle, low), np.where(sums > same, high, middle)
    rate = np.exp((low + high) / 2.0)
    never, always = moved.sum(axis=1) == 0.0, (same == 0.0) & (moved.sum(axis=1) > 0.0)
    return np.where(never, 0.0, np.where(always, np.inf, rate))
