"""The grid of lanes: what is alike shares one, ascending is best first, and a number tells what it was made of."""

from __future__ import annotations

import numpy as np
import pytest

from graphbrain.base.numeric.methods import Factor
from graphbrain.base.numeric.rules import Rule
from graphbrain.schedule import lanes
from graphbrain.schedule.change_rate import expected_value


def some_pages(count: int = 20_000) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    dice = np.random.default_rng(1)
    shape = np.exp(dice.normal(0.0, 1.0, count))
    return dice.pareto(1.1, count) + 0.1, shape, shape / np.exp(dice.normal(-2.3, 1.75, count))


def test_a_number_tells_its_classes() -> None:
    value, shape, scale = some_pages()
    read = lanes.read_lanes(lanes.revisit_lane(value, shape, scale))
    assert not read.frontier.any()
    assert np.abs(np.log2(read.value / value)).max() <= 0.2500001
    assert np.abs(np.log2(read.shape / read.scale / (shape / scale))).max() <= 0.2500001
    edges = np.array([0.0, *lanes.SHAPE_EDGES, np.inf])
    place = np.searchsorted(edges, read.shape, side="right")
    assert ((edges[place - 1] <= shape) & (shape <= edges[place])).all()


def test_pages_of_a_lane_are_worth_about_the_same_at_one_age() -> None:
    value, shape, scale = some_pages()
    lane = lanes.revisit_lane(value, shape, scale)
    for age in (0.5, 10.0, 200.0):
        worth = expected_value(value, shape, scale, age)
        off = np.abs(np.log2(lanes.head_value(lane, np.full(len(lane), age)) / worth))
        assert np.median(off) < 0.25
        assert np.quantile(off, 0.99) < 1.2


def test_ascending_is_best_first() -> None:
    value, shape, scale = some_pages()
    for lane in (lanes.revisit_lane(value, shape, scale), lanes.frontier_lane(value)):
        worth = lanes.head_value(lane, np.full(len(lane), lanes.DISCOVERY))[np.argsort(lane)]
        best_after = np.maximum.accumulate(worth[::-1])[::-1]
        assert (best_after <= worth * np.sqrt(2) * 1.000001).all()


def test_the_lanes_of_the_frontier_stand_together() -> None:
    value, shape, scale = some_pages()
    new, old = (
        lanes.frontier_lane([*value, 0.0, 1e300]),
        lanes.revisit_lane([*value, 1e300], [*shape, 9.0], [*scale, 1]),
    )
    assert lanes.ASKED < new.min() <= new.max() < lanes.FRONTIER_END <= old.min()
    together = {lanes.stretch(lane) for lane in new.tolist()}
    assert together == {(lanes.ASKED + 1, lanes.FRONTIER_END)}
    for lane in (lanes.ASKED, *old[:100].tolist()):
        assert lanes.stretch(lane) == (lane, lane + 1)


def test_fine_lanes_keep_the_order_of_the_values() -> None:
    value = np.sort(np.exp2(np.random.default_rng(1).uniform(-60.0, 60.0, 20_000)))
    lane = lanes.frontier_lane(value)
    assert (np.diff(lane) <= 0).all()
    assert np.abs(np.log2(lanes.read_lanes(lane).value / value)).max() <= 0.5000001 / 4096
    far = value[1:] > 1.0002 * value[:-1]
    assert (np.diff(lane)[far] < 0).all()


def test_a_page_of_the_frontier_moves_when_its_value_has_changed_enough() -> None:
    one, relevance, depth = np.full(1, 3.0), np.full(1, np.nan), np.ones(1)
    stored = lanes.frontier_lane(one)
    for order in ("best_first", "optimal"):
        rule = Rule(order=order)
        for factor, moves in ((1.0, False), (1.04, False), (0.96, False), (1.05, True), (0.95, True), (2.0, True)):
            new = lanes.lane_of(rule, factor * one, relevance, np.ones(1), depth, np.zeros(1, bool), stored)
            assert (new != stored).all() == moves
            assert not moves or (new == lanes.frontier_lane(factor * one)).all()


def test_a_blend_is_a_product_of_powers() -> None:
    known = lanes.PageColumns(
        in_weight=np.array([2.0, -1.0]),
        depth=np.array([3.0, 0.0]),
        path_repeats=np.array([2.0, 0.0]),
        siblings_before=np.array([3.0, 0.0]),
        is_seed=np.zeros(2, dtype=bool),
        relevance=np.full(2, np.nan),
        harvest=np.array([0.5, 1.0]),
    )
    blend = {"flow": Factor(0.5), "in_links": Factor(2.0), "nearness": Factor(0.5), "plain_path": Factor()}
    found = lanes.blended(blend, np.full(2, 7.0), np.array([4.0, 0.0]), np.ones(2), known)
    assert found == pytest.approx([3.0, 1.0])
    assert lanes.blended({"novelty": Factor(0.5)}, np.ones(2), np.ones(2), np.ones(2), known).tolist() == [0.5, 1.0]
    assert lanes.blended({"authority": Factor()}, np.full(2, 7.0), np.ones(2), np.ones(2), known).tolist() == [7.0, 7.0]
    assert lanes.blended({"harvest": Factor(2.0)}, np.ones(2), np.ones(2), np.ones(2), known).tolist() == [0.25, 1.0]


def test_a_factor_is_not_below_its_floor() -> None:
    before = np.array([0.0, 1.0, 3.0, 499.0])
    nothing = np.zeros(4)
    known = lanes.PageColumns(
        nothing, nothing, nothing, before, np.zeros(4, dtype=bool), np.full(4, np.nan), np.ones(4)
    )
    found = lanes.blended({"novelty": Factor(0.5, 0.25)}, np.ones(4), np.ones(4), np.ones(4), known)
    assert found.tolist() == [1.0, 0.5**0.5, 0.5, 0.5]
    found = lanes.blended(
        {"authority": Factor(2.0, 3.0)}, np.array([1.0, 3.0, 4.0, 5.0]), np.ones(4), np.ones(4), known
    )
    assert found.tolist() == [9.0, 9.0, 16.0, 25.0]


def test_a_lanes_oldest_is_its_best() -> None:
    ages = np.linspace(0.0, 500.0, 100)
    lane = lanes.revisit_lane(3.0, 0.8, 12.0)
    assert (np.diff(lanes.head_value(np.full(100, lane), ages)) > 0).all()


def test_unfetched_pages_have_lanes_of_their_own_and_one_value() -> None:
    value = np.array([0.0, 0.5, 1.0, 1.5, 8.0, 1e30])
    lane = lanes.frontier_lane(value)
    assert (np.diff(lane) < 0).all()
    assert lanes.read_lanes(lane).frontier.all()
    assert not set(lane.tolist()) & set(lanes.revisit_lane(value, np.ones(6), np.full(6, 5.0)).tolist())
    assert lanes.head_value(lane[2:3], [0.0]) == pytest.approx(lanes.head_value(lane[2:3], [1e6]))
    assert float(lanes.head_value(lane[3:4], [0.0])[0]) == pytest.approx(30.0, rel=1e-3)
    assert float(lanes.head_value(lane[3:4], [0.0], 10.0)[0]) == pytest.approx(15.0, rel=1e-3)


def test_lanes_are_few_and_fit_in_an_integer_of_the_graph() -> None:
    value, shape, scale = some_pages(200_000)
    lane = lanes.revisit_lane(value, shape, scale)
    assert lane.min() >= 0
    assert lane.max() < 2**26
    assert len(np.unique(lane)) < 5_000
    ends = lanes.revisit_lane([0.0, 1e300, 1e-300], [0.05, 1e9, 1.0], [1e12, 1e-6, 1e300])
    assert ends[0] > lane.max()
    assert ends[1] < 2**26
