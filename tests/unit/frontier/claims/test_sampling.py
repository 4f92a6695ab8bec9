"""How wide callers spread over one list: wider when they collide, back when all is quiet; how far they look."""

from __future__ import annotations

import random

import numpy as np

from graphbrain.frontier.claims.sampling import FURTHEST, LEAST_LOOK, MOST, ClaimShare, Owed, Reach, Spread, Yield


def test_alone_it_takes_the_head() -> None:
    spread = Spread()
    for _ in range(100):
        spread.saw(10, 0)
    assert spread.times == 1


def test_collisions_double_it_up_to_a_limit() -> None:
    spread = Spread()
    seen = []
    for _ in range(5):
        spread.saw(10, 5)
        seen.append(spread.times)
    assert seen == [2, 4, 8, MOST, MOST]


def test_a_few_collisions_are_borne() -> None:
    spread = Spread()
    spread.saw(100, 10)
    assert spread.times == 1
    spread.saw(100, 11)
    assert spread.times == 2


def test_an_empty_list_says_nothing_of_others() -> None:
    spread = Spread()
    spread.saw(0, 0)
    assert spread.times == 1


def test_quiet_brings_it_back_step_by_step() -> None:
    spread = Spread()
    spread.saw(10, 10)
    spread.saw(10, 10)
    seen = []
    for _ in range(60):
        spread.saw(10, 0)
        seen.append(spread.times)
    assert (seen[18], seen[19], seen[38], seen[39], seen[59]) == (4, 2, 2, 1, 1)


def test_a_collision_starts_the_quiet_anew() -> None:
    spread = Spread()
    spread.saw(10, 10)
    for _ in range(19):
        spread.saw(10, 0)
    spread.saw(10, 10)
    for _ in range(19):
        spread.saw(10, 0)
    assert spread.times == 4


# ---------------------------------------------------------------- how far to look


def test_where_every_candidate_makes_a_claim_it_looks_at_no_more() -> None:
    reach = Yield()
    for _ in range(10):
        reach.saw(100, 100)
    assert [reach.look(n) for n in (1, 100)] == [1, 100]


def test_where_one_in_three_does_it_looks_at_more_than_three_times_as_many() -> None:
    reach = Yield()
    for _ in range(20):
        reach.saw(300, 100)
    assert 300 < reach.look(100) <= 400
    assert reach.look(1) == LEAST_LOOK


def test_it_looks_no_further_than_is_worth_it_and_comes_back() -> None:
    reach = Yield()
    for _ in range(20):
        reach.saw(100, 0)
    assert reach.look(100) <= 100 * FURTHEST * 1.2 + 1
    for _ in range(40):
        reach.saw(100, 100)
    assert reach.look(100) == 100


def test_what_saw_no_candidates_of_a_kind_has_learned_nothing_of_it() -> None:
    reach = Yield()
    for _ in range(20):
        reach.saw(300, 100)
    before = reach.share
    for _ in range(1000):
        reach.saw(0, 0)
    assert reach.share == before


# ---------------------------------------------------------------- how many are enough


def test_of_candidates_that_all_make_claims_as_many_as_wanted_are_enough() -> None:
    assert [Reach().enough([ready] * 300, n) for ready in (True, False) for n in (1, 100, 300)] == [1, 100, 300] * 2


def test_of_few_candidates_all_are_taken() -> None:
    assert Reach().enough([True] * 30, 100) == 30
    assert Reach().enough([], 100) == 0


def test_so_many_are_taken_that_they_nearly_always_suffice() -> None:
    reach, dice = Reach(), np.random.default_rng(5)
    for _ in range(30):
        reach.shared.saw(1000, 400)
    ready = dice.random(600) < 0.3
    taken = reach.enough(ready.tolist(), 100)
    made = (dice.random((20_000, taken)) < np.where(ready[:taken], 1.0, 0.4)).sum(axis=1)
    assert 0.96 < np.mean(made >= 100) < 0.995


def test_where_not_every_candidate_makes_a_claim_no_fewer_are_taken_than_are_looked_at() -> None:
    reach = Reach()
    reach.ready.saw(10, 0)
    assert reach.enough([True] * 100, 1) == LEAST_LOOK
    assert reach.enough([False] * 100, 1) == 1


# ---------------------------------------------------------------- what is owed


def test_small_calls_give_a_part_of_all_places_in_the_long_run() -> None:
    owed = Owed()
    assert [owed.places("ready", 0.25, 1) for _ in range(8)] == [0, 0, 0, 1, 0, 0, 0, 1]
    assert [owed.places("frontier", 0.05, 10) for _ in range(4)] == [0, 1, 0, 1]
    assert owed.places("oldest", 0.25, 100) == 25


def test_no_more_is_owed_than_a_call_can_give() -> None:
    owed = Owed()
    assert owed.places("all", 1.0, 3) == 3
    assert owed.places("all", 5.0, 3) == 3
    assert owed.places("all", 0.0, 3) == 0


def test_a_share_is_given_to_processes_that_make_one_call_too() -> None:
    dice = random.Random(1)
    for n in (1, 3, 10, 50):
        given = sum(ClaimShare(lambda: 0.05, dice.random()).places(n) for _ in range(2_000))
        assert abs(given - 100 * n) < 30 * n**0.5 + 5
    share, given = ClaimShare(lambda: 0.05, 0.99), 0
    for call in range(1, 101):
        places = share.places(10)
        given += places
        share.took(places, 10)
        assert given <= call * 0.5 + 1
    assert given == 50
