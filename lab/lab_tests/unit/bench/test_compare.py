"""Distances between lists of scores, against values worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from graphbrain_lab.bench.compare import compare, shares, top_overlap


def test_equal_shares_are_no_distance_whatever_their_unit() -> None:
    scores = np.array([1.0, 2.0, 5.0])
    same = compare(scores * 7, scores)
    assert (same.l1, same.l2, same.largest, same.median_relative) == pytest.approx((0, 0, 0, 0))
    assert (same.top, same.tau) == (1.0, 1.0)


def test_a_distance_worked_out_by_hand() -> None:
    off = compare(np.array([2.0, 1.0, 1.0]), np.array([1.0, 1.0, 2.0]))
    assert off.l1 == pytest.approx(0.5)
    assert off.l2 == pytest.approx(np.sqrt(0.125))
    assert off.largest == pytest.approx(0.25)
    assert off.median_relative == pytest.approx(0.5)
    # pairs: (0,1) ours down, theirs tied; (0,2) down against up; (1,2) ours tied
    assert off.tau == pytest.approx(-1 / 2)


def test_the_top_counts_any_page_that_ties_with_its_edge() -> None:
    reference = np.array([5.0, 3.0, 3.0, 3.0, 1.0])
    assert top_overlap(np.array([9.0, 0.0, 0.0, 8.0, 7.0]), reference, 2) == 1.0
    assert top_overlap(np.array([9.0, 0.0, 0.0, 7.0, 8.0]), reference, 2) == 0.5


def test_rounding_errors_do_not_count_in_ranks() -> None:
    goal = np.repeat([1.0, 2.0], 50)
    noise = goal * (1 + 1e-13 * np.random.default_rng(1).standard_normal(100))
    assert compare(noise, goal).tau == 1.0


def test_nothing_at_all() -> None:
    assert shares(np.zeros(3)).tolist() == [0.0, 0.0, 0.0]
    assert compare(np.ones(4), np.ones(4)).tau == 1.0
