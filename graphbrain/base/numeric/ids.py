"""Ids of pages in arrays: their places in an ascending list, and a number that identifies the pages a page links to.

The number is the sum of the hashed ids of these pages, modulo 2^52. A new or removed link changes it by one term, and
the same links have the same number in whatever order they come and go. Other links have the same number with a
probability of 2^-52. So links that were read without a lock, earlier or during a change, can be checked without being
read again. Sums of hashes: M. Bellare, D. Micciancio, "A new paradigm for collision-free hashing", EUROCRYPT 1997
(AdHash). The hash: G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014
(SplitMix).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphbrain.base.numeric.arrays import Ints

__all__ = ["WHOLE", "find", "hashed", "sums_of_links", "sums_of_rows"]

DENSE = 32
"""A table of all ids between the first and the last is faster than a search while there are at most this many ids for
each one wanted. The database numbers pages nearly without gaps, so this is the usual case."""
WHOLE = (1 << 52) - 1
"""The greatest sum. A float holds each sum exactly, and accounts are read as floats."""
LINKS_AT_ONCE = 10_000_000
"""The number of links that are summed at once, which bounds the memory."""


def find(ids: Ints, wanted: Ints) -> Ints:
    """Return the place of each of `wanted` in `ids`, which are ascending; −1 for one that is missing."""
    if not len(ids):
        return np.full(len(wanted), -1, dtype=np.int64)
    first, span = int(ids[0]), int(ids[-1]) - int(ids[0]) + 1
    if span > DENSE * len(wanted):
        positions = np.minimum(np.searchsorted(ids, wanted), len(ids) - 1)
        return np.where(ids[positions] == wanted, positions, -1)
    table = np.full(span + 1, -1, dtype=np.int64)
    table[ids - first] = np.arange(len(ids))
    off = wanted - first
    off[(off < 0) | (off >= span)] = span  # an empty place
    return table[off]


def hashed(ids: Ints) -> Ints:
    """Return the term of each page, 0 to WHOLE."""
    z = ids.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    terms: Ints = ((z ^ (z >> np.uint64(31))) & np.uint64(WHOLE)).astype(np.int64)
    return terms


def sums_of_links(sources: Ints, targets: Ints, pages: int) -> Ints:
    """Return the sums of pages 0..pages−1, for links from these pages to the pages of these ids."""
    sums = np.zeros(pages, dtype=np.int64)
    np.add.at(sums, sources, hashed(targets))
    return sums & WHOLE


def sums_of_rows(ids: Ints, offsets: Ints, targets: NDArray[np.int32]) -> Ints:
    """Return the sums of pages whose links lead to `ids[targets[offsets[i] : offsets[i + 1]]]`: as `sums_of_links`, but
    faster."""
    sums = np.zeros(len(offsets) - 1, dtype=np.int64)
    terms, first = hashed(ids), 0
    while first < len(sums):
        last = max(first + 1, int(np.searchsorted(offsets, offsets[first] + LINKS_AT_ONCE, side="right")) - 1)
        # Sums beyond 2^63 overflow to negative numbers, which are the same modulo 2^52.
        upto = np.concatenate([[0], np.cumsum(terms[targets[offsets[first] : offsets[last]]])])
        sums[first:last] = np.diff(upto[offsets[first : last + 1] - offsets[first]])
        first = last
    return sums & WHOLE
