"""Change rates learned from visits: each formula against quadrature or chance, and the estimators against truth."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from graphbrain.schedule import change_rate
from graphbrain.schedule.change_rate import PRIOR, Prior, after_visit, expected_value, fit_prior, fit_priors
from graphbrain.schedule.optimal_revisits import ripeness

SHAPES = [0.05, 0.4, 0.999999, 1.0, 1.000001, 2.5, 40.0]


def one(shape: float, scale: float, elapsed: float, changed: bool, **more: object) -> tuple[float, float]:
    a, b = after_visit(np.array([shape]), np.array([scale]), np.array([elapsed]), np.array([changed]), **more)  # type: ignore[arg-type]
    return float(a[0]), float(b[0])


def mean_over(shape: float, scale: float, of: object, weight: object = lambda _: 1.0) -> float:
    """∫ of(λ)·weight(λ) dGamma(λ) / ∫ weight dGamma, over quantiles, where even a shape of .05 is smooth enough."""
    prior = stats.gamma(shape, scale=1 / scale)
    edges = prior.ppf([1e-100, 1e-12, 1e-6, 1e-3, 0.1, 0.5, 0.9, 0.999, 1 - 1e-12])

    def integral(f: object) -> float:
        return sum(
            quad(lambda x: f(np.exp(x)) * prior.pdf(np.exp(x)) * np.exp(x), np.log(low), np.log(high), limit=200)[0]
            for low, high in itertools.pairwise(edges)
        )  # type: ignore[operator]

    return integral(lambda rate: of(rate) * weight(rate)) / integral(weight)  # type: ignore[operator]


@pytest.mark.parametrize("shape", SHAPES[1:])
@pytest.mark.parametrize("age", [0.01, 1.0, 50.0])
def test_the_expected_value_is_the_mean_over_the_belief(shape: float, age: float) -> None:
    scale = 3.0
    seen = mean_over(shape, scale, lambda rate: (2.0 / rate + 0.7) * float(ripeness(rate * age)))
    assert float(expected_value(2.0, shape, scale, age, 0.7)) == pytest.approx(seen, rel=1e-6)


def test_the_chance_of_a_change_is_the_mean_over_the_belief() -> None:
    for shape, scale, age in ((0.5, 5.0, 3.0), (4.0, 2.0, 0.1), (30.0, 300.0, 20.0)):
        belief = stats.gamma(shape, scale=1.0 / scale)
        mean = quad(lambda rate, belief=belief, age=age: (1.0 - np.exp(-rate * age)) * belief.pdf(rate), 0, np.inf)[0]
        assert float(change_rate.chance_of_change(shape, scale, age)) == pytest.approx(mean, rel=1e-5)
    assert float(change_rate.chance_of_change(1.0, 1.0, 0.0)) == 0.0


def test_the_expected_value_by_chance() -> None:
    dice = np.random.default_rng(1)
    rates = dice.gamma(0.6, 1 / 2.0, 400_000)
    drawn = (1.5 / rates) * ripeness(rates * 4.0)
    error = drawn.std() / np.sqrt(len(drawn))
    assert float(expected_value(1.5, 0.6, 2.0, 4.0)) == pytest.approx(drawn.mean(), abs=4 * error)


def test_the_expected_value_with_certainty_is_the_crawl_value() -> None:
    rate, age = 0.3, np.array([0.0, 0.1, 5.0, 100.0])
    assert expected_value(2.0, 1e7, 1e7 / rate, age) == pytest.approx(2.0 / rate * ripeness(rate * age), rel=1e-4)


def test_a_page_of_which_little_is_known_is_worth_ever_more() -> None:
    ages = np.geomspace(1e-3, 1e9, 60)
    for shape in SHAPES:
        assert (np.diff(expected_value(1.0, shape, 2.0, ages)) >= -1e-15).all()
    assert float(expected_value(1.0, 1.0, 2.0, 1e9)) > 30.0
    assert float(expected_value(1.0, 3.0, 2.0, 1e9)) == pytest.approx(1.0, rel=1e-6)  # the cap b/(a − 1)


@pytest.mark.parametrize("shape", [0.4, 1.0, 2.5, 40.0])
@pytest.mark.parametrize("elapsed", [0.01, 2.0, 300.0])
def test_a_change_leaves_the_moments_of_the_posterior(shape: float, elapsed: float) -> None:
    a, b = one(shape, 3.0, elapsed, True, forgetting=1.0)

    def chance(rate: float) -> float:
        return -float(np.expm1(-rate * elapsed))

    first = mean_over(shape, 3.0, lambda rate: rate, chance)
    second = mean_over(shape, 3.0, lambda rate: rate**2, chance)
    assert a / b == pytest.approx(first, rel=1e-5)
    assert a / b**2 == pytest.approx(second - first**2, rel=1e-4)


def test_no_change_is_exact_and_time_that_has_not_passed_tells_nothing() -> None:
    assert one(0.7, 3.0, 5.0, False, forgetting=1.0) == (0.7, 8.0)
    assert one(0.7, 3.0, 0.0, False, forgetting=1.0) == (0.7, 3.0)
    assert one(0.7, 3.0, 0.0, True, forgetting=1.0) == pytest.approx((1.7, 3.0), rel=1e-6)


def test_what_was_learned_fades_towards_the_prior() -> None:
    a, b = one(100.0, 10.0, 0.0, False)
    assert (a, b) == pytest.approx((0.5 + 0.98 * 99.5, 5.0 + 0.98 * 5.0))
    shape, scale = 100.0, 10.0
    for _ in range(1500):
        shape, scale = one(shape, scale, 0.0, False)
    assert (shape, scale) == pytest.approx((PRIOR.shape, PRIOR.scale))


def test_it_stays_a_belief_whatever_is_seen() -> None:
    dice = np.random.default_rng(3)
    shape, scale = np.full(2000, 0.5), np.full(2000, 5.0)
    for _ in range(300):
        elapsed = 10.0 ** dice.uniform(-7, 4, 2000)
        shape, scale = after_visit(shape, scale, elapsed, dice.random(2000) < np.linspace(0, 1, 2000))
        assert np.isfinite(shape).all()
        assert np.isfinite(scale).all()
        assert (shape >= 0.05).all()
        assert (scale > 0).all()


def test_it_learns_the_rate_of_a_page() -> None:
    dice = np.random.default_rng(4)
    rate = 0.8
    shape, scale = np.full(500, 0.5), np.full(500, 5.0)
    for _ in range(300):
        elapsed = dice.exponential(1.5, 500)
        shape, scale = after_visit(shape, scale, elapsed, dice.random(500) < -np.expm1(-rate * elapsed), forgetting=1.0)
    spread = np.sqrt(shape) / scale
    assert (shape / scale).mean() == pytest.approx(rate, rel=0.04)
    assert np.mean(np.abs(shape / scale - rate) < 2 * spread) == pytest.approx(0.95, abs=0.04)


def test_the_prior_is_found_from_first_revisits() -> None:
    dice = np.random.default_rng(5)
    rates = dice.gamma(0.65, 1 / 2.7, 20_000)
    elapsed = dice.exponential(4.0, 20_000)
    found = fit_prior(elapsed, dice.random(20_000) < -np.expm1(-rates * elapsed))
    assert found.shape == pytest.approx(0.65, rel=0.2)
    assert found.rate == pytest.approx(0.65 / 2.7, rel=0.1)


def test_a_prior_from_nothing_or_from_one_kind_of_answer_is_a_prior() -> None:
    nothing = fit_prior([], [])
    assert (nothing.shape, nothing.scale) == pytest.approx((PRIOR.shape, PRIOR.scale), rel=1e-3)
    never, always = fit_prior([1.0] * 200, [False] * 200), fit_prior([1.0] * 200, [True] * 200)
    assert never.rate < 0.02 < 1.0 < always.rate
    with pytest.raises(ValueError, match="positive"):
        Prior(0.0, 1.0)


def test_hosts_with_enough_visits_get_a_prior_of_their_own() -> None:
    dice = np.random.default_rng(6)
    group = np.repeat([7, 8, 9], [600, 600, 20])
    rates = dice.gamma(2.0, 1.0, len(group)) * np.where(group == 7, 1.0, 0.01)
    elapsed = dice.exponential(3.0, len(group))
    crawl, own = fit_priors(group, elapsed, dice.random(len(group)) < -np.expm1(-rates * elapsed))
    assert set(own) == {7, 8}
    assert own[8].rate < crawl.rate < own[7].rate
    assert own[7].rate == pytest.approx(2.0, rel=0.25)
    assert 0.01 < own[8].rate < 0.04


# ---------------------------------------------------------------- the estimators of others


def test_the_seeds_naive_estimator() -> None:
    """Their `Simple`, as measured: before any refresh the default, at 10 unchanged 0, at 20 changed 1/20."""
    assert float(change_rate.naive_rate(0, 0.0, default=0.25)) == 0.25
    assert float(change_rate.naive_rate(0, 10.0)) == 0.0
    assert float(change_rate.naive_rate(1, 20.0)) == pytest.approx(1 / 20)


def test_equal_intervals_by_hand() -> None:
    assert float(change_rate.bias_corrected_rate(4, 4, 2.0)) == pytest.approx(np.log(9) / 2)
    assert float(change_rate.large_numbers_rate(9, 3, 18.0)) == pytest.approx(0.5 * 3.5 / 6.5)


def test_the_interval_estimator_solves_its_equation() -> None:
    dice = np.random.default_rng(7)
    elapsed, changed = dice.exponential(2.0, (50, 24)), dice.random((50, 24)) < 0.5
    elapsed[:, 20:] = 0.0
    rate = change_rate.interval_rate(elapsed, changed)
    for page in range(50):
        t, found = elapsed[page, :20], changed[page, :20]
        assert (t[found] / np.expm1(rate[page] * t[found])).sum() == pytest.approx(t[~found].sum(), rel=1e-9)


def test_the_interval_estimator_at_equal_intervals_has_a_closed_form() -> None:
    """ln(1 + U/S)/I, as crawl-frontier's documentation has it: U of the visits found a change, and S did not."""
    changed = np.arange(10) < np.arange(11)[:, None]
    rate = change_rate.interval_rate(np.full((11, 10), 2.0), changed)
    found = np.arange(10)
    assert rate[:10] == pytest.approx(np.log1p(found / (10 - found)) / 2.0, rel=1e-9)
    assert rate[10] == np.inf
    smoothed = change_rate.interval_rate(np.full((11, 10), 2.0), changed, pseudo=0.5)
    assert np.isfinite(smoothed).all()
    assert (smoothed > 0).all()


def test_how_far_each_is_from_the_truth() -> None:
    """Thirty visits at regular or random intervals of about one change: the naive one misses changes."""
    dice = np.random.default_rng(8)
    pages, visits, rate = 4000, 30, 0.5
    regular, wild = np.full((pages, visits), 2.0), dice.exponential(2.0, (pages, visits))
    for elapsed in (regular, wild):
        changed = dice.random((pages, visits)) < -np.expm1(-rate * elapsed)
        found, days = changed.sum(axis=1), elapsed.sum(axis=1)
        naive = change_rate.naive_rate(found, days).mean()
        assert naive < 0.7 * rate
        assert change_rate.interval_rate(elapsed, changed).mean() == pytest.approx(rate, rel=0.1)
        shape, scale = np.full(pages, 0.5), np.full(pages, 1.0)
        for visit in range(visits):
            shape, scale = after_visit(
                shape, scale, elapsed[:, visit], changed[:, visit], Prior(0.5, 1.0), forgetting=1.0
            )
        assert (shape / scale).mean() == pytest.approx(rate, rel=0.1)
        if elapsed is regular:
            assert change_rate.bias_corrected_rate(visits, found, 2.0).mean() == pytest.approx(rate, rel=0.01)
        else:
            assert change_rate.large_numbers_rate(visits, found, days).mean() == pytest.approx(rate, rel=0.1)
            assert change_rate.bias_corrected_rate(visits, found, days / visits).mean() < 0.9 * rate


@pytest.mark.parametrize(
    ("estimate", "given", "says"),
    [
        (change_rate.naive_rate, (-1, 3.0), "changes must be at least 0"),
        (change_rate.naive_rate, (1, float("nan")), "observed must be at least 0"),
        (change_rate.bias_corrected_rate, (3, 4, 1.0), "more changes than visits"),
        (change_rate.bias_corrected_rate, (3, 1, -1.0), "interval must be at least 0"),
        (change_rate.large_numbers_rate, ([3, 2], [1, 3], 9.0), "more changes than visits"),
        (change_rate.interval_rate, ([[1.0, -2.0]], [[True, False]]), "elapsed must be at least 0"),
    ],
)
def test_counts_and_times_that_cannot_be(estimate: Any, given: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        estimate(*given)
