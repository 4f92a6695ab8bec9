"""Near duplicates by bands of bits are those that comparing all with all would find."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from graphbrain.analyst.computed import groups_of


def by_all_pairs(words: list[int], bits: int) -> list[int]:
    """The group of each: the first of all that are linked by few bits."""
    group = list(range(len(words)))
    for one, other in itertools.combinations(range(len(words)), 2):
        if (words[one] ^ words[other]).bit_count() <= bits:
            low, high = sorted((group[one], group[other]))
            group = [low if each == high else each for each in group]
    return group


def same_partition(found: list[int], wanted: list[int]) -> bool:
    """Do two numberings put the same together?"""
    return len(set(zip(found, wanted, strict=True))) == len(set(found)) == len(set(wanted))


near = st.builds(
    lambda base, flips: sum(1 << flip for flip in flips) ^ base,
    st.sampled_from([0, 2**64 - 1, 0x0123456789ABCDEF]),
    st.sets(st.integers(0, 63), max_size=8),
)


@settings(max_examples=150)
@given(st.lists(near | st.integers(0, 2**64 - 1), max_size=25), st.integers(0, 7))
def test_bands_find_what_all_pairs_find(words: list[int], bits: int) -> None:
    found = groups_of(np.array(words, dtype=np.uint64), bits)
    assert same_partition(found.tolist(), by_all_pairs(words, bits))


def test_many_hashes_take_time_for_each_and_no_more() -> None:
    """A hundred thousand that differ in their last bits only, all in one bucket of most tables."""
    dice = np.random.default_rng(1)
    words = dice.integers(0, 2**63, 100_000, dtype=np.uint64)
    words[:50_000] = np.uint64(7) << np.uint64(40) | dice.integers(0, 2**20, 50_000, dtype=np.uint64)
    twins = words.copy()
    twins ^= np.uint64(1) << dice.integers(0, 64, len(words), dtype=np.uint64)
    labels = groups_of(np.concatenate([words, twins]), 3)
    alone = slice(50_000, 100_000)
    assert (labels[alone] == labels[100_000:][alone]).all()
    assert len(set(labels[alone].tolist())) == 50_000
