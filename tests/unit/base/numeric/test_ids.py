"""Where ids stand: the same by a table as by a search, whatever is asked for."""

from __future__ import annotations

import numpy as np
import pytest

from graphbrain.base.numeric.ids import DENSE, find


def one_by_one(ids: list[int], wanted: list[int]) -> list[int]:
    return [ids.index(page) if page in ids else -1 for page in wanted]


@pytest.mark.parametrize("gap", [1, 2, DENSE, 10 * DENSE])
@pytest.mark.parametrize("seed", range(5))
def test_ids_are_found_where_they_stand_and_others_are_not(seed: int, gap: int) -> None:
    dice = np.random.default_rng(seed)
    ids = np.unique(dice.integers(1_000, 1_000 + 50 * gap, 50))
    wanted = np.concatenate([dice.permutation(ids), dice.integers(0, 3_000 + 50 * gap, 60), ids[:5]])
    assert find(ids, wanted).tolist() == one_by_one(ids.tolist(), wanted.tolist())
    assert find(ids, wanted[:1]).tolist() == [int(np.flatnonzero(ids == wanted[0])[0])]


def test_far_ids_and_none_at_all() -> None:
    huge = np.array([3, 1 << 40], dtype=np.int64)
    assert find(huge, np.array([1 << 40, 3, 4, -1, 1 << 62])).tolist() == [1, 0, -1, -1, -1]
    assert find(np.array([7]), np.array([1 << 62, -(1 << 62), 7, 8, 6])).tolist() == [-1, -1, 0, -1, -1]
    nothing = np.empty(0, dtype=np.int64)
    assert find(nothing, np.array([1, 2])).tolist() == [-1, -1]
    assert find(huge, nothing).tolist() == []
