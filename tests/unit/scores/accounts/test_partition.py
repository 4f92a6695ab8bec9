"""How a pass is cut into transactions: everything once, nothing unlocked that is needed, shards that share nothing."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from graphbrain.scores.accounts import settlement
from graphbrain.scores.accounts.partition import KEPT, Cost, Shard, ShardNeighbours, ShardTurns, batches, cut, plan
from graphbrain.scores.accounts.settlement import Pace


def web(seed: int, pages: int = 300, links: int = 900, near: int = 12) -> ShardNeighbours:
    """Most links are near; some lead to a few pages that everybody links to; some pages have none."""
    dice = np.random.default_rng(seed)
    sources = dice.integers(0, pages, links)
    targets = np.clip(sources + dice.integers(-near, near + 1, links), 0, pages - 1)
    targets[dice.random(links) < 0.05] = pages // 2
    pairs = np.unique(np.stack([sources, targets], axis=1)[sources != targets], axis=0)
    offsets = np.searchsorted(pairs[:, 0], np.arange(pages + 1))
    return ShardNeighbours.of(offsets, pairs[:, 1].astype(np.int32))


def around(near: ShardNeighbours, page: int) -> set[int]:
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


@pytest.mark.parametrize(("awaited", "seconds"), [(True, settlement.HELD_SECONDS), (False, settlement.ALONE_SECONDS)])
@pytest.mark.parametrize("microseconds", [1.0, 10.0, 50.0, 1_000.0])
def test_transactions_come_to_last_as_long_as_they_should(microseconds: float, awaited: bool, seconds: float) -> None:
    pace, whole = Pace(), settlement.COST.most * microseconds / 1e6
    for _ in range(30):
        pace.took(pace.share() * whole, awaited)
    assert pace.share() == pytest.approx(min(1.0, max(settlement.LEAST_SHARE, seconds / whole)))


def test_after_one_that_somebody_waited_for_transactions_stay_short_for_a_while() -> None:
    pace, whole = Pace(), 10.0

    def lasts(rounds: int) -> float:
        for _ in range(rounds):
            pace.took(pace.share() * whole, awaited=False)
        return pace.share() * whole

    assert lasts(30) == pytest.approx(settlement.ALONE_SECONDS)
    pace.took(pace.share() * whole, awaited=True)
    assert lasts(settlement.CAREFUL // 2) == pytest.approx(settlement.HELD_SECONDS)
    assert lasts(settlement.CAREFUL) == pytest.approx(settlement.ALONE_SECONDS)


def test_a_batch_that_took_too_long_makes_the_next_one_shorter_at_once_and_quick_ones_longer_by_steps() -> None:
    pace = Pace()
    first = pace.share()
    pace.took(settlement.HELD_SECONDS * 3, awaited=True)
    assert pace.share() == pytest.approx(first / 3)
    pace.took(settlement.HELD_SECONDS * 0.6, awaited=False)
    assert pace.share() == pytest.approx(first / 3 * 1.25)
    pace.took(settlement.HELD_SECONDS * 0.4, awaited=False)
    assert pace.share() == pytest.approx(first / 3 * 1.25 * 2.0), "by larger steps while they are short in any case"


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("seed", range(2))
def test_lanes_share_nothing_and_leave_nothing_out(seed: int, count: int) -> None:
    near = web(seed)
    *apart, between = cut(near, np.arange(300), settlement.COST, count)
    assert len(apart) == count
    assert sorted(np.concatenate([*apart, between]).tolist()) == list(range(300))
    locked = [set().union(*(around(near, page) for page in shard.tolist())) for shard in apart]
    for number, one in enumerate(locked):
        assert all(one.isdisjoint(other) for other in locked[number + 1 :])
    assert all(len(shard) for shard in apart), "near links leave something to be done side by side"
    assert bool(len(between)) == (count > 1), "the page that everybody links to is put off, or its linkers are"


def before(made: list[Shard], number: int) -> set[int]:
    """All shards that are through when this one begins."""
    return set(made[number].after).union(*(before(made, each) for each in made[number].after))


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("seed", range(2))
def test_lanes_that_may_be_under_way_at_the_same_time_share_nothing(seed: int, count: int) -> None:
    near = web(seed, near=3)
    made = plan(near, np.arange(300), settlement.COST, count)
    assert sorted(np.concatenate([shard.pages for shard in made]).tolist()) == list(range(300))
    locked = [set().union(*(around(near, page) for page in shard.pages.tolist())) for shard in made]
    for one in range(len(made)):
        for other in range(one):
            if one not in before(made, other) and other not in before(made, one):
                assert locked[one].isdisjoint(locked[other])


@pytest.mark.parametrize("seed", range(5))
def test_beside_what_was_put_off_there_is_enough_to_do_for_the_other_lane(seed: int) -> None:
    near = web(seed, pages=3_000, links=9_000, near=3)
    *_, late, one, other = plan(near, np.arange(3_000), Cost(1_000.0, 4.0, 0.1), 2)

    def work(*shards: Shard) -> float:
        pages = np.concatenate([shard.pages for shard in shards])
        locked = set().union(*(around(near, page) for page in pages.tolist()))
        return len(locked) + 4.0 * len(pages) + 0.1 * float(near.degrees[pages].sum())

    assert len(late.pages)
    # Neighbours that only a batch locks are not counted beforehand.
    assert 0.8 * KEPT <= work(one, other) / work(late) <= 1.25 * KEPT


def test_what_is_kept_for_later_leaves_each_lane_its_order() -> None:
    near, order = web(3, near=3), np.random.default_rng(3).permutation(300)
    place = np.argsort(order)
    *made, late = cut(near, order, settlement.COST, 2)
    first, second, put_off, *kept = plan(near, order, settlement.COST, 2)
    assert put_off.pages.tolist() == late.tolist()
    for shard, now, later in zip(made, (first, second), kept, strict=True):
        assert sorted([*now.pages, *later.pages]) == sorted(shard)
        assert (np.diff(place[now.pages]) > 0).all()
        assert (np.diff(place[later.pages]) > 0).all()


@pytest.mark.parametrize("seed", range(6))
def test_turns_let_nobody_begin_too_early_and_leave_nothing_undone(seed: int) -> None:
    """Some at work, each with a batch of some shard, which they finish in any order."""
    dice = np.random.default_rng(seed)
    near = web(seed, near=3)
    made = plan(near, np.arange(300), settlement.COST, 2)
    turns, left, going, through = ShardTurns(made), dice.integers(0, 5, len(made)), list[int](), set[int]()
    while len(through) < len(made):
        while len(going) < 2 and (number := turns.take()) is not None:
            assert set(made[number].after) <= through
            ready = set(range(number)) - set(going) - through
            assert not any(set(made[each].after) <= through for each in ready), "the most urgent first"
            going.append(number)
        assert going, "there is always something to do"
        number = going.pop(int(dice.integers(len(going))))
        if left[number]:
            left[number] -= 1
            turns.back(number)
        else:
            through.add(number)
            turns.through(number)
    assert not left.any()
    assert turns.take() is None


def test_an_empty_web_has_no_batches() -> None:
    near = ShardNeighbours.of(np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int32))
    order = np.empty(0, dtype=np.int64)
    assert [shard.tolist() for shard in cut(near, order, settlement.COST, 2)] == [[], [], []]
    assert [shard.pages.tolist() for shard in plan(near, order, settlement.COST, 2)] == [[], [], [], [], []]
    assert list(batches(near, order, Cost(10.0, 1.0, 0.1))) == []


def test_links_of_some_pages_are_found_both_ways() -> None:
    near, some = web(4), np.array([7, 3, 150])
    sources, targets = near.out(some)
    assert sorted(zip(sources.tolist(), targets.tolist(), strict=True)) == sorted(
        (page, target) for page in some.tolist() for target in near.targets[near.offsets[page] : near.offsets[page + 1]]
    )
    sources, targets = near.into(some)
    every = zip(near.link_sources.tolist(), near.targets.tolist(), strict=True)
    assert sorted(zip(sources.tolist(), targets.tolist(), strict=True)) == sorted(
        (source, target) for source, target in every if target in some
    )
