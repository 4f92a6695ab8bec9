"""How a pass is cut into transactions: everything once, nothing unlocked that is needed, lanes that share nothing."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from graphbrain import settling
from graphbrain.batching import Cost, Neighbours, batches, lanes, stages
from graphbrain.opichits import Ints
from graphbrain.settling import Pace


def web(seed: int, pages: int = 300, links: int = 900, near: int = 12) -> Neighbours:
    """Most links are near; some lead to a few pages that everybody links to; some pages have none."""
    dice = np.random.default_rng(seed)
    sources = dice.integers(0, pages, links)
    targets = np.clip(sources + dice.integers(-near, near + 1, links), 0, pages - 1)
    targets[dice.random(links) < 0.05] = pages // 2
    pairs = np.unique(np.stack([sources, targets], axis=1)[sources != targets], axis=0)
    offsets = np.searchsorted(pairs[:, 0], np.arange(pages + 1))
    return Neighbours.of(offsets, pairs[:, 1].astype(np.int32))


def around(near: Neighbours, page: int) -> set[int]:
    """A page and its neighbours, looked up one by one."""
    out = near.targets[near.offsets[page] : near.offsets[page + 1]].tolist()
    into = near.sources[near.back_offsets[page] : near.back_offsets[page + 1]].tolist()
    return {page, *out, *into}


@pytest.mark.parametrize("seed", range(5))
def test_links_both_ways_are_the_same_links(seed: int) -> None:
    near = web(seed)
    for page in range(300):
        for target in near.targets[near.offsets[page] : near.offsets[page + 1]].tolist():
            assert page in near.sources[near.back_offsets[target] : near.back_offsets[target + 1]]
    assert len(near.sources) == len(near.targets)
    assert near.degrees.sum() == 2 * len(near.targets)


@pytest.mark.parametrize("seed", range(5))
def test_batches_hold_every_page_once_and_lock_exactly_its_neighbours(seed: int) -> None:
    near, cost = web(seed), Cost(40.0, 1.0, 0.1)
    order = np.random.default_rng(seed).permutation(300)
    made = list(batches(near, order, cost))
    assert sorted(np.concatenate([batch.pages for batch in made]).tolist()) == list(range(300))
    for batch in made:
        assert batch.union.tolist() == sorted(set().union(*(around(near, page) for page in batch.pages.tolist())))
        spent = len(batch.union) + len(batch.pages) + 0.1 * near.degrees[batch.pages].sum()
        assert spent <= 40.0 or len(batch.pages) == 1


def test_a_batch_is_as_large_as_its_cost_allows() -> None:
    near = web(1)
    made = list(batches(near, np.arange(300), Cost(40.0, 1.0, 0.1)))
    for batch, after in pairwise(made):
        page = int(after.pages[0])
        union = {*batch.union.tolist(), *around(near, page)}
        pages = [*batch.pages.tolist(), page]
        assert len(union) + len(pages) + 0.1 * near.degrees[pages].sum() > 40.0 - 1e-9


def test_the_share_is_asked_before_each_batch() -> None:
    near, shares = web(1), iter([1.0, 0.25, 1.0] + [0.5] * 300)
    made = list(batches(near, np.arange(300), Cost(40.0, 1.0, 0.1), lambda: next(shares)))
    assert sorted(np.concatenate([batch.pages for batch in made]).tolist()) == list(range(300))
    spent = [len(b.union) + len(b.pages) + 0.1 * near.degrees[b.pages].sum() for b in made]
    assert 20.0 < spent[0] <= 40.0
    assert spent[1] <= 10.0 or len(made[1].pages) == 1
    assert all(one <= 20.0 or len(batch.pages) == 1 for one, batch in zip(spent[3:], made[3:], strict=True))


@pytest.mark.parametrize(("awaited", "seconds"), [(True, settling.HELD_SECONDS), (False, settling.ALONE_SECONDS)])
@pytest.mark.parametrize("microseconds", [1.0, 10.0, 50.0, 1_000.0])
def test_transactions_come_to_last_as_long_as_they_should(microseconds: float, awaited: bool, seconds: float) -> None:
    pace, whole = Pace(), settling.COST.most * microseconds / 1e6
    for _ in range(30):
        pace.took(pace.share() * whole, awaited)
    assert pace.share() == pytest.approx(min(1.0, max(settling.LEAST_SHARE, seconds / whole)))


def test_after_one_that_somebody_waited_for_transactions_stay_short_for_a_while() -> None:
    pace, whole = Pace(), 10.0

    def lasts(rounds: int) -> float:
        for _ in range(rounds):
            pace.took(pace.share() * whole, awaited=False)
        return pace.share() * whole

    assert lasts(30) == pytest.approx(settling.ALONE_SECONDS)
    pace.took(pace.share() * whole, awaited=True)
    assert lasts(settling.CAREFUL // 2) == pytest.approx(settling.HELD_SECONDS)
    assert lasts(settling.CAREFUL) == pytest.approx(settling.ALONE_SECONDS)


def test_a_batch_that_took_too_long_makes_the_next_one_shorter_at_once_and_quick_ones_longer_by_steps() -> None:
    pace = Pace()
    first = pace.share()
    pace.took(settling.HELD_SECONDS * 3, awaited=True)
    assert pace.share() == pytest.approx(first / 3)
    pace.took(settling.HELD_SECONDS * 0.6, awaited=False)
    assert pace.share() == pytest.approx(first / 3 * 1.25)
    pace.took(settling.HELD_SECONDS * 0.4, awaited=False)
    assert pace.share() == pytest.approx(first / 3 * 1.25 * 2.0), "by larger steps while they are short in any case"


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("seed", range(5))
def test_lanes_share_nothing_and_leave_nothing_out(seed: int, count: int) -> None:
    near = web(seed)
    *apart, between = lanes(near, np.arange(300), settling.COST, count)
    assert len(apart) == count
    assert sorted(np.concatenate([*apart, between]).tolist()) == list(range(300))
    locked = [set().union(*(around(near, page) for page in lane.tolist())) for lane in apart]
    for number, one in enumerate(locked):
        assert all(one.isdisjoint(other) for other in locked[number + 1 :])
    assert all(len(lane) for lane in apart), "near links leave something to be done side by side"
    assert bool(len(between)) == (count > 1), "the page that everybody links to is put off, or its linkers are"


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("seed", range(5))
def test_the_lanes_of_each_stage_share_nothing(seed: int, count: int) -> None:
    near = web(seed, near=3)
    made = stages(near, np.arange(300), settling.COST, count)
    assert sorted(np.concatenate([lane for stage in made for lane in stage]).tolist()) == list(range(300))
    for stage in made:
        assert len(stage) == count
        locked = [set().union(*(around(near, page) for page in lane.tolist())) for lane in stage]
        for number, one in enumerate(locked):
            assert all(one.isdisjoint(other) for other in locked[number + 1 :])


@pytest.mark.parametrize("seed", range(5))
def test_beside_what_was_put_off_there_is_as_much_to_do_for_the_other_lane(seed: int) -> None:
    near = web(seed, pages=3_000, links=9_000, near=3)
    (_, _), (late, beside) = stages(near, np.arange(3_000), Cost(1_000.0, 4.0, 0.1), 2)

    def work(pages: Ints) -> float:
        locked = set().union(*(around(near, page) for page in pages.tolist()))
        return len(locked) + 4.0 * len(pages) + 0.1 * float(near.degrees[pages].sum())

    assert len(late)
    assert 0.8 <= work(beside) / work(late) <= 1.25, "neighbours that only a batch locks are not counted beforehand"


def test_what_is_kept_for_later_leaves_each_lane_its_order() -> None:
    near, order = web(3, near=3), np.random.default_rng(3).permutation(300)
    place = np.argsort(order)
    first, (_, beside) = stages(near, order, settling.COST, 2)
    lanes_of = np.zeros(300, dtype=int)
    for number, lane in enumerate(lanes(near, order, settling.COST, 2)[:-1]):
        lanes_of[lane] = number
    for lane in [*first, *(beside[lanes_of[beside] == number] for number in (0, 1))]:
        assert (np.diff(place[lane]) > 0).all()


def test_an_empty_web_has_no_batches() -> None:
    near = Neighbours.of(np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int32))
    order = np.empty(0, dtype=np.int64)
    assert [lane.tolist() for lane in lanes(near, order, settling.COST, 2)] == [[], [], []]
    assert [[lane.tolist() for lane in stage] for stage in stages(near, order, settling.COST, 2)] == [
        [[], []],
        [[], []],
    ]
    assert list(batches(near, order, Cost(10.0, 1.0, 0.1))) == []
