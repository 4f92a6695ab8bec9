"""The known-rates optimum, against the oracle tables, scipy's Lambert W, and solutions found another way."""

from __future__ import annotations

import time

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.special import lambertw

from graphbrain.schedule import optimal_revisits
from graphbrain.schedule.optimal_revisits import optimal_frequencies, optimal_frequencies_by_host, ripe_at, ripeness

VALUE, RATE = np.array([1.0, 5.0]), np.array([5.0, 1.0])
# mean budget, price, frequencies, mean captured value, the same if both are visited alike
# (derived independently from crawl-frontier's documentation, example w = (1, 5), λ = (5, 1))
TABLE = [
    (0.1, 4.797862, 0.0, 0.2, 0.993262, 0.599977),
    (0.25, 2.969971, 0.0, 0.5, 2.161662, 1.477105),
    (0.5, 1.321206, 0.0, 1.0, 3.160603, 2.661639),
    (1.0, 0.988057, 0.777171, 1.222829, 4.191208, 4.153865),
    (2.0, 0.625282, 2.359449, 1.640551, 5.819777, 5.770523),
    (8.0, 0.079863, 10.746318, 5.253682, 8.550990, 8.418032),
]
G_TABLE = {
    -0.999999: 0.059921787,
    -0.99: 0.150639796,
    -0.9: 0.257087903,
    -0.75: 0.371383487,
    -0.5: 0.595824347,
    -0.25: 1.040280966,
    -0.1: 1.880365122,
    -0.05: 2.814035763,
    -0.01: 6.731525351,
    -0.001: 22.025452813,
    -1e-4: 70.376752548,
    -1e-6: 706.773388898,
}


def some_pages(count: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    dice = np.random.default_rng(seed)
    return dice.pareto(1.1, count) + 1.0, np.exp(dice.normal(np.log(0.1), 1.75, count))


@pytest.mark.parametrize(("mean", "price", "first", "second", "value", "uniform"), TABLE)
def test_the_seeds_example(
    mean: float, price: float, first: float, second: float, value: float, uniform: float
) -> None:
    best = optimal_frequencies(VALUE, RATE, 2 * mean, "changes")
    assert best.price == pytest.approx(price, abs=2e-6)
    assert best.frequency == pytest.approx([first, second], abs=2e-6)
    assert VALUE @ optimal_revisits.captured(RATE, best.frequency) == pytest.approx(value * 1.0, abs=2e-6)
    assert VALUE @ optimal_revisits.captured(RATE, mean) == pytest.approx(uniform, abs=2e-6)


def test_where_the_seeds_first_page_enters_and_overtakes() -> None:
    assert optimal_frequencies(VALUE, RATE, 2 * 0.606509, "changes").frequency[0] == 0.0
    assert optimal_frequencies(VALUE, RATE, 2 * 0.607, "changes").frequency[0] > 0.0
    alike = optimal_frequencies(VALUE, RATE, 2 * 1.305565, "changes").frequency
    assert alike[0] == pytest.approx(alike[1], rel=1e-5)


@pytest.mark.parametrize(
    ("mean", "wanted", "value"),
    [
        (0.02, (0.005482, 0.085925, 0.008593, 0.0, 0.0), 0.051256),
        (0.1, (0.013335, 0.442423, 0.044242, 0.0, 0.0), 0.171071),
    ],
)
def test_the_five_pages(mean: float, wanted: tuple[float, ...], value: float) -> None:
    values, rates = np.array([0.9, 0.5, 0.5, 0.1, 0.02]), np.array([0.01, 0.5, 0.05, 0.2, 1.0])
    best = optimal_frequencies(values, rates, 5 * mean, "changes")
    assert best.frequency == pytest.approx(wanted, abs=1e-6)
    assert values @ optimal_revisits.captured(rates, best.frequency) == pytest.approx(value, abs=1e-6)
    if mean == 0.02:
        assert best.price == pytest.approx(0.489872, abs=1e-6)


def test_the_seeds_function_g() -> None:
    assert optimal_revisits.optimal_seeds_g(list(G_TABLE)) == pytest.approx(
        list(G_TABLE.values()), rel=1e-12, abs=6e-10
    )


def test_ripeness_is_the_integral_of_x_exp_minus_x() -> None:
    for x in (1e-3, 0.5, 1.7, 6.0, 40.0):
        assert float(ripeness(x)) == pytest.approx(quad(lambda t: t * np.exp(-t), 0.0, x)[0], rel=1e-9)


def test_its_inverse_is_lamberts_w_and_undoes_it() -> None:
    y = np.concatenate([np.geomspace(1e-18, 0.5, 400), 1.0 - np.geomspace(1e-15, 0.5, 400)])
    assert ripeness(ripe_at(y)) == pytest.approx(y, rel=1e-12)
    far = y > 1e-6  # below it scipy's W loses digits at its branch point
    exact = -1.0 - np.real(lambertw(-(1.0 - y[far]) / np.e, -1))
    assert ripe_at(y[far]) == pytest.approx(exact, rel=1e-9)
    assert ripe_at([-1.0, 0.0, 1.0, 2.0]).tolist() == [0.0, 0.0, np.inf, np.inf]


@pytest.mark.parametrize("objective", ["freshness", "changes"])
@pytest.mark.parametrize("budget", [0.5, 5.0, 50.0])
def test_no_other_way_to_spend_the_budget_is_better(objective: optimal_revisits.Objective, budget: float) -> None:
    value, rate = some_pages(6, 3)
    gain = optimal_revisits.freshness if objective == "freshness" else optimal_revisits.captured

    def lost(frequency: np.ndarray) -> float:
        return -float(value @ gain(rate, np.maximum(frequency, 1e-12)))

    best = optimal_frequencies(value, rate, budget, objective)
    tried = minimize(
        lost,
        np.full(6, budget / 6),
        bounds=[(0.0, budget)] * 6,
        constraints={"type": "eq", "fun": lambda f: f.sum() - budget},
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-13},
    )
    assert lost(best.frequency) <= tried.fun + 1e-9
    assert lost(best.frequency) == pytest.approx(tried.fun, rel=1e-4)


def test_all_visited_pages_are_worth_the_price_and_no_other_is() -> None:
    value, rate = some_pages(20_000)
    best = optimal_frequencies(value, rate, 2_000.0, change_value=0.3)
    assert best.frequency.sum() == pytest.approx(2_000.0, rel=1e-11)
    seen = best.frequency > 0
    worth = (value / rate + 0.3) * ripeness(np.where(seen, rate / np.where(seen, best.frequency, 1.0), np.inf))
    assert worth[seen] == pytest.approx(best.price, rel=1e-9)
    assert 0 < (~seen).sum() < 20_000
    assert (worth[~seen] <= best.price).all()


def test_a_change_worth_something_by_itself_brings_fast_pages_back() -> None:
    value, rate = np.array([1.0, 1.0]), np.array([0.1, 100.0])
    assert optimal_frequencies(value, rate, 0.1).frequency[1] == 0.0
    assert optimal_frequencies(value, rate, 0.1, change_value=20.0).frequency[1] > 0.0


def test_a_million_pages_in_a_second_of_work() -> None:
    value, rate = some_pages(1_000_000)
    began = time.process_time()
    best = optimal_frequencies(value, rate, 100_000.0)
    took = time.process_time() - began
    assert best.frequency.sum() == pytest.approx(100_000.0, rel=1e-10)
    assert took < 6.0, f"{took:.2f} s"  # .6 s of CPU on a quiet core


def test_clusters_on_a_log_grid_lose_little_and_keep_the_budget() -> None:
    value, rate = some_pages(50_000)
    best = optimal_frequencies(value, rate, 5_000.0)
    goal = value @ optimal_revisits.freshness(rate, best.frequency)
    reached = []
    for clusters in (3, 10, 100, 1000):
        near = optimal_frequencies(value, rate, 5_000.0, clusters=clusters)
        assert near.frequency.sum() == pytest.approx(5_000.0, rel=1e-9)
        reached.append(value @ optimal_revisits.freshness(rate, near.frequency) / goal)
    assert reached == sorted(reached)
    assert reached[0] < 0.97
    assert reached[2] > 0.999
    assert reached[3] > 0.99999


def test_freshness_is_the_time_up_to_date() -> None:
    dice = np.random.default_rng(5)
    rate, interval = 0.7, 2.0
    fresh = np.minimum(dice.exponential(1 / rate, 200_000), interval).mean() / interval
    assert float(optimal_revisits.freshness(rate, 1 / interval)) == pytest.approx(fresh, rel=0.01)
    assert optimal_revisits.freshness([0.0, 0.0, 2.0], [0.0, 3.0, 0.0]).tolist() == [1.0, 1.0, 0.0]
    assert optimal_revisits.captured(2.0, 1e9) == pytest.approx(2.0)


def test_what_cannot_change_or_has_no_value_is_left_alone() -> None:
    best = optimal_frequencies([1.0, 0.0, 1.0], [0.0, 1.0, 1.0], 3.0)
    assert best.frequency == pytest.approx([0.0, 0.0, 3.0])
    assert optimal_frequencies([1.0], [1.0], 0.0).frequency.tolist() == [0.0]
    assert optimal_frequencies([], [], 5.0).frequency.tolist() == []
    assert optimal_frequencies([1.0, 1.0], [0.0, 0.0], 5.0).frequency.tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("value", "rate", "budget", "objective"),
    [
        ([-1.0], [1.0], 1.0, "freshness"),
        ([1.0], [np.nan], 1.0, "freshness"),
        ([1.0], [1.0], -1.0, "freshness"),
        ([1.0], [1.0], np.inf, "freshness"),
        ([1.0], [1.0], 1.0, "fame"),
    ],
)
def test_what_is_no_number_is_refused(value: list[float], rate: list[float], budget: float, objective: str) -> None:
    with pytest.raises(ValueError, match=r"must be|is freshness"):
        optimal_frequencies(value, rate, budget, objective)  # type: ignore[arg-type]


def test_a_host_takes_no_more_than_it_may_and_the_rest_goes_to_others() -> None:
    value, rate = some_pages(3_000, 4)
    host = np.minimum(np.random.default_rng(2).zipf(1.4, 3_000) - 1, 50)
    most = np.full(51, 40.0)
    best = optimal_frequencies_by_host(value, rate, 300.0, host, most)
    visits = np.bincount(host, best.frequency, minlength=51)
    assert visits.sum() == pytest.approx(300.0, rel=1e-9)
    assert visits.max() == pytest.approx(40.0, rel=1e-9)
    free = visits[host] < 39.999
    # On hosts that are not full nothing but the common price counts: the same as an optimum of them alone.
    alone = optimal_frequencies(value[free], rate[free], best.frequency[free].sum())
    assert best.frequency[free] == pytest.approx(alone.frequency, abs=1e-8)
    # And inside a full one the same, with its own price.
    full = host == int(np.argmax(visits))
    inside = optimal_frequencies(value[full], rate[full], 40.0)
    assert best.frequency[full] == pytest.approx(inside.frequency, abs=1e-6)
    assert inside.price > best.price


def test_caps_that_do_not_bind_change_nothing_and_full_hosts_leave_budget_over() -> None:
    value, rate = some_pages(500, 6)
    host = np.arange(500) % 5
    loose = optimal_frequencies_by_host(value, rate, 50.0, host, np.full(5, 1e6))
    assert loose.frequency == pytest.approx(optimal_frequencies(value, rate, 50.0).frequency, rel=1e-9)
    tight = optimal_frequencies_by_host(value, rate, 50.0, host, np.full(5, 2.0))
    assert np.bincount(host, tight.frequency) == pytest.approx(np.full(5, 2.0), rel=1e-9)
