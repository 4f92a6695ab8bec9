"""The exact optimal visit rate of each page for known values and change rates: crawl-frontier's `Optimal`.

A page of value w changes λ times a day (Poisson) and is visited f times a day, at equal intervals τ = 1/f. There are
two aims, each a sum over the pages, under the budget Σ f = R:

    freshness   w·F, F = (f/λ)(1 − e^(−λ/f)): the share of the time for which the copy is up to date. Cho,
                Garcia-Molina, "Effective page refresh policies for Web crawlers", TODS 28(4), 2003, section 3
    changes     w·f·(1 − e^(−λ/f)): changed pages found, as in crawl-frontier's documentation, "Optimal revisiting
                algorithm" (Lopez-Adeva, 2015)

Both aims have a solution of the same form. The marginal value of a visit, which is the crawl value of a page τ days
after its last visit, is

    V(τ) = cap·g(λτ),   g(x) = 1 − (1 + x)e^(−x),   cap = w/λ (freshness) or w (changes); w/λ + u for both at once

The optimum visits every page whenever V = μ, the same price for all pages, and never visits pages whose cap is at most
μ. Since g(x) = y has the solution x = −1 − W₋₁(−(1−y)/e), with Lambert's W, only μ is unknown. Azar, Horvitz, Lubetzky,
Peres, Shahaf, "Tractable near-optimal policies for crawling", PNAS 115(32), 2018, have the same price rule for visits
at random moments. Any unit of time can be used, the same for λ, f and the budget; this module uses days.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import gammainc

from graphbrain.base.numeric.arrays import Floats, Ints

__all__ = [
    "Objective",
    "Optimum",
    "caps",
    "captured",
    "freshness",
    "optimal_frequencies",
    "optimal_frequencies_by_host",
    "optimal_seeds_g",
    "ripe_at",
    "ripeness",
]

Objective = Literal["freshness", "changes"]

BINS = 4096
"""The number of classes of cap from which the first guess of the price is computed."""
SMALL = 0.05
"""The largest s for which the series alone gives the inverse of g. There g is so flat that Halley's steps would lose
the last digits."""
SERIES = (1.0, 1 / 3, 11 / 72, 43 / 540, 769 / 17280, 221 / 8505, 680863 / 43545600, 1963 / 204120)
"""x = Σ cₖ·s^k with s = √(2y): −1 − W₋₁ around its branch point (Corless et al., 1996, equation 4.22)."""


@dataclass(frozen=True, slots=True)
class Optimum:
    """The visits a day of each page, and the price μ: the value of the least valuable visit that is made. A page that
    is never visited has a cap of at most μ."""

    frequency: Floats
    price: float


def ripeness(x: ArrayLike) -> Floats:
    """Return g(x) = 1 − (1 + x)e^(−x), 0 at 0 and 1 at infinity: the distribution function of Gamma(2, 1)."""
    return np.asarray(gammainc(2.0, np.asarray(x, dtype=np.float64)), dtype=np.float64)


def ripe_at(y: ArrayLike) -> Floats:
    """Return the x with g(x) = y; infinite for y ≥ 1, 0 for y ≤ 0. The relative error is about 1e-13.

    The result is −1 − W₋₁(−(1−y)/e), found by Halley's steps. scipy's `lambertw` computes complex numbers, takes three
    times as long, and loses half of the digits near y = 0.
    """
    target = np.asarray(y, dtype=np.float64)
    is_inside = (target > 0.0) & (target < 1.0)
    z = np.where(is_inside, target, 0.5)
    s = np.sqrt(2.0 * z)
    x = _series(s)
    is_large = s > SMALL
    if is_large.any():
        x[is_large] = _halley(z[is_large], x[is_large])
    return np.where(is_inside, x, np.where(target >= 1.0, np.inf, 0.0))


def _series(s: Floats) -> Floats:
    x = np.zeros_like(s)
    for coefficient in reversed(SERIES):
        x = (x + coefficient) * s
    return x


def _halley(y: Floats, start: Floats) -> Floats:
    """Return the root of 1 − (1 + x)e^(−x) − y by Halley's method. It begins at `start`, the sum of the series, or for
    y ≥ .6 at the iterated logarithm."""
    logs = -np.log1p(-y)
    x = np.where(y < 0.6, start, logs + np.log1p(logs + np.log1p(logs)))
    for _ in range(3):
        decay = np.exp(-x)
        step = ((1.0 - y) - (1.0 + x) * decay) / (x * decay)
        x = x - step / (1.0 - step * (1.0 - x) / (2.0 * x))
    return x


def optimal_seeds_g(x: ArrayLike) -> Floats:
    """Return crawl-frontier's function g on (−1, 0): 1/u with (1 + u)e^(−u) = 1 + x. It is f/λ for a page of cap 1 at
    the price −x.

    crawl-frontier computes it by a fixed-point iteration and a table; this function uses Lambert's W.
    """
    with np.errstate(divide="ignore"):
        return 1.0 / ripe_at(-np.asarray(x, dtype=np.float64))


def freshness(rate: ArrayLike, frequency: ArrayLike) -> Floats:
    """Return the share of the time for which a copy is up to date, (f/λ)(1 − e^(−λ/f)): 1 for λ = 0, 0 for f = 0 < λ.

    Cho, Garcia-Molina, TODS 28(4), section 3.

    Args:
        rate: λ, changes a day.
        frequency: f, visits a day, at equal intervals.
    """
    changes, visits = np.broadcast_arrays(np.asarray(rate, np.float64), np.asarray(frequency, np.float64))
    is_changing, is_visited = changes > 0.0, visits > 0.0
    x = np.divide(changes, visits, out=np.zeros(changes.shape), where=is_changing & is_visited)
    share = np.divide(-np.expm1(-x), x, out=np.ones(changes.shape), where=x > 0.0)
    return np.where(is_changing & ~is_visited, 0.0, share)


def captured(rate: ArrayLike, frequency: ArrayLike) -> Floats:
    """Return the changed pages found a day, f(1 − e^(−λ/f)): the aim of crawl-frontier for a page of value 1."""
    return np.asarray(rate, np.float64) * freshness(rate, frequency)


def caps(
    value: ArrayLike, rate: ArrayLike, objective: Objective = "freshness", change_value: ArrayLike = 0.0
) -> Floats:
    """Return the largest possible value of a visit: w/λ + u, or w + u for the aim `changes`, and 0 for a rate of 0."""
    w, changes, u = np.broadcast_arrays(*(np.asarray(each, np.float64) for each in (value, rate, change_value)))
    for name, numbers in (("value", w), ("rate", changes), ("change value", u)):
        if not np.isfinite(numbers).all() or (numbers < 0.0).any():
            raise ValueError(f"Each {name} must be a number of at least 0.")
    if objective == "changes":
        return np.where(changes > 0.0, w + u, 0.0)
    if objective != "freshness":
        raise ValueError(f"The objective is freshness or changes, not {objective!r}.")
    with np.errstate(over="ignore"):
        most = np.divide(w, changes, out=np.zeros(w.shape), where=changes > 0.0)
    return np.where(np.isfinite(most) & (changes > 0.0), most + u, 0.0)


def optimal_frequencies(
    value: ArrayLike,
    rate: ArrayLike,
    budget: float,
    objective: Objective = "freshness",
    *,
    change_value: ArrayLike = 0.0,
    clusters: int | None = None,
) -> Optimum:
    """Return the visits a day of each page with the greatest sum of the objective, where Σ frequency = `budget`.

    Without `clusters` the result is exact up to rounding: BINS classes give a first guess of the price, and Brent's
    method finds the price from it. A million pages take about five seconds.

    Args:
        value: w of each page, at least 0.
        rate: λ of each page, changes a day, at least 0.
        budget: R, visits a day.
        objective: The aim, freshness or changes.
        change_value: u, the value of a change by itself.
        clusters: Treat pages of similar cap as one, in this number of classes of equal log width. (crawl-frontier
            clusters values in equal steps, which puts nearly all pages into one class.) The budget is still kept
            exactly.

    Raises:
        ValueError: An argument is no number.
    """
    rates = np.asarray(rate, dtype=np.float64)
    cap = caps(value, rates, objective, change_value)
    rates = np.broadcast_to(rates, cap.shape)
    _check_budget(budget)
    frequency = np.zeros(cap.shape)
    is_worthwhile = cap > 0.0
    if not is_worthwhile.any() or budget == 0.0:
        return Optimum(frequency, float(cap.max(initial=0.0)))
    # Find the price μ, the same for all pages, at which their frequencies use up the budget.
    some_rates, some_caps = rates[is_worthwhile], cap[is_worthwhile]
    if clusters is not None:
        page_class, class_rates, class_caps = _classes(some_rates, some_caps, clusters)
        price = _price(lambda mu: _demand(class_rates, class_caps, mu), budget, class_caps.max())
        some_caps = class_caps[page_class]
    else:
        price = _exact_price(some_rates, some_caps, budget)
    # Convert the price into frequencies.
    frequency[is_worthwhile] = _spent(some_rates, some_caps, price, budget)
    return Optimum(frequency, price)


def _spent(rate: Floats, cap: Floats, price: float, budget: float) -> Floats:
    """Return the frequencies at that price. The pages at the margin, whose cap is about the price, share the part of
    the budget that the others do not use.

    In floats, the crawl value of a page visited less than once in 37 changes equals its cap, so the price does not
    determine its frequency. Such pages have the same λτ, so they share the rest in proportion to their rates.
    """
    is_marginal = np.abs(cap - price) <= 1e-12 * price
    frequency = np.where(is_marginal, 0.0, _frequencies(rate, cap, price))
    if is_marginal.any():
        rest = max(budget - frequency.sum(), 0.0)
        frequency[is_marginal] = rate[is_marginal] * rest / rate[is_marginal].sum()
    return frequency


def _check_budget(budget: float) -> None:
    if not np.isfinite(budget) or budget < 0.0:
        raise ValueError("The budget must be a number of visits a day of at least 0.")


def _frequencies(rate: Floats, cap: Floats, price: float | Floats) -> Floats:
    """Return the visits a day of each page at that price: 1/τ with cap·g(λτ) = μ."""
    x = ripe_at(price / cap)
    return np.divide(rate, x, out=np.zeros(rate.shape), where=x > 0.0)


def _demand(rate: Floats, cap: Floats, price: float) -> float:
    is_visited = cap > price
    return float(_frequencies(rate[is_visited], cap[is_visited], price).sum())


def _classes(rate: Floats, cap: Floats, count: int) -> tuple[Ints, Floats, Floats]:
    """Return classes of similar cap on a logarithmic grid: the class of each page, and for each class the sum of the
    rates and the geometric mean of the caps, weighted by rate.

    Pages of one cap are visited at one λτ. So the sum of their frequencies is the frequency of a page whose rate is the
    sum of their rates.
    """
    logs = np.log(cap)
    low, width = logs.min(), max(float(np.ptp(logs)), 1e-9) / count
    page_class = np.minimum(((logs - low) / width).astype(np.int64), count - 1)
    rates = np.bincount(page_class, rate, minlength=count).astype(np.float64)
    sums = np.bincount(page_class, rate * logs, minlength=count)
    # Number the classes anew without the empty ones.
    has_pages = rates > 0.0
    number = np.cumsum(has_pages) - 1
    mean_caps = np.exp(sums[has_pages] / rates[has_pages]).astype(np.float64)
    return number[page_class].astype(np.int64), rates[has_pages], mean_caps


def _exact_price(rate: Floats, cap: Floats, budget: float) -> float:
    if len(cap) <= BINS:
        return _price(lambda mu: _demand(rate, cap, mu), budget, float(cap.max()))
    _, class_rates, class_caps = _classes(rate, cap, BINS)
    guess = _price(lambda mu: _demand(class_rates, class_caps, mu), budget, float(class_caps.max()))
    return _price(lambda mu: _demand(rate, cap, mu), budget, guess, step=1e-4)


def _price(demand: Callable[[float], float], budget: float, start: float, step: float = 3.0) -> float:
    """Return the price at which `demand`, a decreasing function, equals the budget. Growing steps of log μ from `start`
    bracket it; Brent's method finds it."""

    def surplus(log: float) -> float:
        return demand(float(np.exp(log))) / budget - 1.0

    low = high = float(np.log(start))
    if surplus(low) < 0.0:
        while surplus(low := low - step) < 0.0:
            high, step = low, step * 4.0
    else:
        while surplus(high := high + step) > 0.0:
            low, step = high, step * 4.0
    return float(np.exp(brentq(surplus, low, high, xtol=1e-13, rtol=1e-13)))


def optimal_frequencies_by_host(
    value: ArrayLike, rate: ArrayLike, budget: float, host: Ints, most: Floats, objective: Objective = "freshness"
) -> Optimum:
    """Return the result of `optimal_frequencies` under the condition that host h has at most `most[h]` visits a day.

    Each host has its own price, at which its pages demand exactly `most[h]` visits. A page is visited at the higher of
    this price and the common price. Kolobov, Peres, Lubetzky, Horvitz, "Optimal freshness crawl under politeness
    constraints", SIGIR 2019. The returned price is the common one. If every host has the most visits that it may have,
    less than the budget is spent.

    Args:
        value: w of each page, at least 0.
        rate: λ of each page, changes a day, at least 0.
        budget: R, visits a day.
        host: The number of each page's host, from 0.
        most: The most visits a day of each host.
        objective: The aim, freshness or changes.

    Raises:
        ValueError: An argument is no number.
    """
    rates = np.asarray(rate, dtype=np.float64)
    cap = caps(value, rates, objective)
    _check_budget(budget)
    frequency = np.zeros(cap.shape)
    is_worthwhile = cap > 0.0
    if not is_worthwhile.any() or budget == 0.0:
        return Optimum(frequency, float(cap.max(initial=0.0)))
    # Find the price of each host, at which it has the most visits that it may have.
    some_rates, some_caps, some_hosts = rates[is_worthwhile], cap[is_worthwhile], np.asarray(host)[is_worthwhile]
    host_prices = _host_prices(some_rates, some_caps, some_hosts, np.asarray(most, dtype=np.float64))[some_hosts]

    def visits(price: float) -> Floats:
        return _frequencies(some_rates, some_caps, np.maximum(price, host_prices))

    # The limits of the hosts alone may keep the sum within the budget.
    unlimited = visits(0.0)
    if unlimited.sum() <= budget:
        frequency[is_worthwhile] = unlimited
        return Optimum(frequency, 0.0)
    # Find the common price at which the visits use up the budget.
    price = _price(lambda mu: float(visits(mu).sum()), budget, float(some_caps.max()))
    frequency[is_worthwhile] = visits(price)
    return Optimum(frequency, price)


def _host_prices(rate: Floats, cap: Floats, host: Ints, most: Floats) -> Floats:
    """Return the price at which each host's pages demand `most[h]` visits a day, by bisection on all hosts at once."""
    low = np.full(len(most), np.log(cap.min()) - 80.0)
    high = np.full(len(most), np.log(cap.max()))
    for _ in range(60):
        middle = (low + high) / 2.0
        demand = np.bincount(host, _frequencies(rate, cap, np.exp(middle)[host]), minlength=len(most))
        low, high = np.where(demand > most, middle, low), np.where(demand > most, high, middle)
    return np.asarray(np.exp(high), dtype=np.float64)
