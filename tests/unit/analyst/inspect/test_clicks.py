"""Clicks by breadth-first search are those that a plain search finds, on graphs with redirects of all shapes."""

from __future__ import annotations

import random
from collections import deque

import numpy as np
import pytest

from graphbrain.analyst.inspect.clicks import fewest
from graphbrain.graph.exports import LinkTable


def plain(count: int, ways: list[tuple[int, int, int]], seeds: list[int]) -> list[int]:
    """The least cost from any seed to each place, by steps of cost 0 or 1; −1 where there is no way."""
    best = [count + 1] * count
    waiting = deque((seed, 0) for seed in seeds)
    while waiting:
        place, cost = waiting.popleft()
        if cost >= best[place]:
            continue
        best[place] = cost
        for begin, end, step in ways:
            if begin == place:
                (waiting.append if step else waiting.appendleft)((end, cost + step))
    return [-1 if cost > count else cost for cost in best]


@pytest.mark.parametrize("turn", range(60))
def test_clicks_are_those_of_a_plain_search(turn: int) -> None:
    rng = random.Random(turn)
    count = rng.randint(0, 25)
    places = range(count)
    aliases = {place for place in places if rng.random() < 0.3}
    links = sorted(
        {(rng.choice(places), rng.choice(places)) for _ in range(rng.randint(0, 2 * count))} if count else ()
    )
    pages = sorted(set(places) - aliases)
    named = [(rng.choice(pages), rng.choice(sorted(aliases))) for _ in range(count // 3) if pages and aliases]
    led = [(alias, rng.choice(places)) for alias in aliases]
    seeds = rng.sample(places, min(count, rng.randint(0, 3)))
    ids = np.arange(count) * 7 + 3
    offsets = np.concatenate([[0], np.cumsum(np.bincount([a for a, _ in links], minlength=count))]).astype(np.int64)
    table = LinkTable(ids, offsets, np.array([b for _, b in links], dtype=np.int32))
    pairs = [np.array(some, dtype=np.int64).reshape(-1, 2) for some in (named, led)]
    found = fewest(
        table, np.array(seeds, dtype=np.int64), pairs[0], np.array(sorted(aliases), dtype=np.int64), pairs[1]
    )
    ways = [(a, b, int(a not in aliases)) for a, b in (*links, *named)] + [(a, b, 0) for a, b in led]
    assert found.tolist() == plain(count, ways, seeds)
