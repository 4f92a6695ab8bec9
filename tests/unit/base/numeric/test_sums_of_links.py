"""What tells one list of links from another."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphbrain.base.numeric import ids as places
from graphbrain.base.numeric.arrays import Ints
from graphbrain.base.numeric.ids import WHOLE, hashed, sums_of_links, sums_of_rows

IDS = st.lists(st.integers(0, 2**40), max_size=20, unique=True)


def total(ids: list[int]) -> int:
    return int(sums_of_links(np.zeros(len(ids), dtype=np.int64), np.array(ids, dtype=np.int64), 1)[0])


@given(IDS, st.randoms())
def test_the_order_in_which_links_come_does_not_matter(ids: list[int], dice: object) -> None:
    mixed = list(ids)
    dice.shuffle(mixed)  # type: ignore[attr-defined]
    assert total(mixed) == total(ids) == sum(int(term) for term in hashed(np.array(ids, dtype=np.int64))) & WHOLE


@given(IDS, IDS)
def test_other_links_have_another_sum(some: list[int], others: list[int]) -> None:
    assert (total(some) == total(others)) == (set(some) == set(others))


def test_ids_that_add_up_to_the_same_do_not() -> None:
    """Ids follow each other, so that a sum of the ids themselves would be the same for many."""
    pairs = [total([1_000 + a, 2_000 - a]) for a in range(400)]
    assert len(set(pairs)) == len(pairs)


def test_the_hash_is_the_published_one() -> None:
    """The first outputs of SplitMix64 seeded with 0 and with its increment (Vigna's reference code)."""
    first = np.array([0, 0x9E3779B97F4A7C15 - 2**64], dtype=np.int64)
    assert hashed(first).tolist() == [0xE220A8397B1DCDAF & WHOLE, 0x6E789E6AA1B965F4 & WHOLE]


@pytest.mark.parametrize("at_once", [1, 7, 10_000])
def test_rows_have_the_sums_of_their_links(monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    monkeypatch.setattr(places, "LINKS_AT_ONCE", at_once)
    dice = np.random.default_rng(5)
    counts = dice.integers(0, 9, 50)
    counts[[0, 20, 49]] = 0
    offsets: Ints = np.concatenate([[0], np.cumsum(counts)])
    targets = dice.integers(0, 50, offsets[-1]).astype(np.int32)
    ids = np.sort(dice.choice(10**12, 50, replace=False))
    sums = sums_of_rows(ids, offsets, targets)
    assert sums.tolist() == sums_of_links(np.repeat(np.arange(50), counts), ids[targets], 50).tolist()
    assert sums[[0, 20, 49]].tolist() == [0, 0, 0]


def test_no_pages_have_no_sums() -> None:
    none = np.empty(0, dtype=np.int64)
    assert sums_of_rows(none, np.zeros(1, dtype=np.int64), none.astype(np.int32)).tolist() == []
