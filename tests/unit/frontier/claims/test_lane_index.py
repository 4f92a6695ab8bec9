"""Ranges of lanes: they always cover everything, and whatever is put anywhere is found within a few looks."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graphbrain.frontier.claims.lane_index import END, UNKNOWN, Ranges, Remembered
from graphbrain.schedule.lanes import ASKED, FRONTIER_END

some_lanes = st.sets(st.integers(0, 1 << 25) | st.integers(16_000_000, 16_001_000), max_size=60)


def look(ranges: Ranges, queue: set[int], places: Sequence[int] | None = None, limit: int = 1) -> Ranges:
    """Look into all ranges, or some, of a queue that holds two pages in each of these lanes."""
    at = range(len(ranges)) if places is None else places
    pages = sorted([(lane, since) for lane in queue for since in (1.0, 2.0)])
    heads = [[page for page in pages if a <= page[0] < b][:limit] for a, b in ranges.bounds(at)]
    return ranges.saw(at, heads, limit, limit)


def found(ranges: Ranges) -> set[int]:
    return {lane for lane in ranges.lane if lane >= 0}


def covers(ranges: Ranges) -> bool:
    bounds = ranges.bounds(range(len(ranges)))
    return bounds[0][0] == 0 and bounds[-1][1] == END and all(a[1] == b[0] for a, b in itertools.pairwise(bounds))


@given(some_lanes, some_lanes, st.integers(1, 5))
def test_all_lanes_are_found_within_as_many_looks_as_there_are_and_mostly_far_fewer(
    first: set[int], then: set[int], limit: int
) -> None:
    ranges = Ranges.unknown()
    for queue in (first, then):
        for _ in range(len(queue) + 1):
            ranges = look(ranges, queue, limit=limit)
            assert covers(ranges)
        assert found(ranges) == queue
        assert {since for lane, since in zip(ranges.lane, ranges.since, strict=True) if lane >= 0} <= {1.0}


@given(st.sets(st.integers(0, 1 << 25), max_size=4))
def test_where_there_are_fewer_pages_than_were_asked_for_nothing_is_unknown(queue: set[int]) -> None:
    ranges = look(Ranges.unknown(), queue, limit=9)
    assert found(ranges) == queue
    assert UNKNOWN not in ranges.lane
    assert covers(ranges)


def test_a_crowd_of_lanes_is_found_in_a_few_looks_and_forgotten_in_one() -> None:
    dice = np.random.default_rng(1)
    queue = set((16_000_000 + dice.integers(0, 6_000_000, 300)).tolist())
    ranges, looks = Ranges.unknown(), 0
    while found(ranges) != queue:
        ranges, looks = look(ranges, queue), looks + 1
    assert looks <= 25
    ranges = look(look(ranges, queue), queue)
    assert len(ranges) <= len(queue) + 1
    assert len(look(ranges, set())) == 1


@given(some_lanes.filter(bool), st.integers(1, 9))
def test_with_few_looks_at_a_time_every_lane_is_looked_into_again_and_again(queue: set[int], most: int) -> None:
    ranges = Ranges.unknown()
    for _ in range(80 * len(queue) + 80):
        worth = np.where(np.array(ranges.lane) < 0, -np.inf, 1.0)
        ranges = look(ranges, queue, ranges.choose(worth, most))
        assert covers(ranges)
    assert found(ranges) == queue


def test_in_a_hosts_queue_the_frontier_is_one_range() -> None:
    queue = {*range(FRONTIER_END - 600, FRONTIER_END, 8), 16_000_000, 16_400_000}
    ranges = Ranges.unknown(joined=True)
    for _ in range(4):
        ranges = look(ranges, queue, limit=9)
        assert covers(ranges)
    assert found(ranges) == {FRONTIER_END - 600, 16_000_000, 16_400_000}
    ranges = look(look(ranges, {ASKED, *queue}, limit=2), {ASKED, *queue}, limit=2)
    assert found(ranges) == {ASKED, FRONTIER_END - 600, 16_000_000, 16_400_000}
    ranges = look(look(ranges, queue - {FRONTIER_END - 600}, limit=2), queue - {FRONTIER_END - 600}, limit=2)
    assert found(ranges) == {FRONTIER_END - 592, 16_000_000, 16_400_000}
    assert len(ranges) <= 4


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(1, 40)), max_size=60))
def test_what_is_remembered_of_all_queues_is_bounded(steps: list[tuple[int, int]]) -> None:
    """What was seen last is kept; what was used longest ago is forgotten."""
    known = Remembered(most=100)
    for number, length in steps:
        queue = f"h{number}.example"
        known.of(queue)
        known.update({queue: Ranges(tuple(range(length)), (1,) * length, (0.0,) * length)})
        assert len(known) <= 100
        assert len(known.of(queue)) == length


def test_the_queue_that_was_used_longest_ago_is_forgotten() -> None:
    known = Remembered(most=100)
    forty = Ranges(tuple(range(40)), (1,) * 40, (0.0,) * 40)
    known.update({"a": forty, "b": forty})
    known.of("a")
    known.update({"c": forty})
    assert (len(known.of("a")), len(known.of("c")), len(known.of("b"))) == (40, 40, 1)
