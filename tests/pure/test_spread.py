"""How wide callers spread over one list: wider when they collide, back when all is quiet."""

from __future__ import annotations

from graphbrain.spread import FURTHEST, LEAST_LOOK, MOST, Reach, Spread


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
    reach = Reach()
    for _ in range(10):
        reach.saw(100, 100)
    assert [reach.look(n) for n in (1, 100)] == [1, 100]


def test_where_one_in_three_does_it_looks_at_more_than_three_times_as_many() -> None:
    reach = Reach()
    for _ in range(20):
        reach.saw(300, 100)
    assert 300 < reach.look(100) <= 400
    assert reach.look(1) == LEAST_LOOK


def test_it_looks_no_further_than_is_worth_it_and_comes_back() -> None:
    reach = Reach()
    for _ in range(20):
        reach.saw(100, 0)
    assert reach.look(100) <= 100 * FURTHEST * 1.2 + 1
    for _ in range(40):
        reach.saw(100, 100)
    assert reach.look(100) == 100
