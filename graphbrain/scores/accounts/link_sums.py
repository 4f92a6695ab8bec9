"""A number that identifies the set of pages to which a page links, as pure functions of arrays.

It is the sum of the hashed ids of these pages, modulo 2^52. A new or removed link changes it by one term, and the same
links have the same number in whatever order they come and go. Other links have the same number with a probability of
2^-52. So links that were read without a lock, earlier or during a change, can be checked without being read again. Sums
of hashes: M. Bellare, D. Micciancio, "A new paradigm for collision-free hashing", EUROCRYPT 1997 (AdHash). The hash: G.
Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014 (SplitMix).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphbrain.base.numeric.arrays import Ints

__all__ = ["WHOLE", "hashed", "of_links", "of_rows"]

WHOLE = (1 << 52) - 1
"""The greatest sum. A float holds each sum exactly, and accounts are read as floats."""
LINKS_AT_ONCE = 10_000_000
"""The number of links that are summed at once, which bounds the memory."""


def hashed(ids: Ints) -> Ints:
    """Return the term of each page, 0 to WHOLE."""
    z = ids.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    terms: Ints = ((z ^ (z >> np.uint64(31))) & np.uint64(WHOLE)).astype(np.int64)
    return terms


def of_links(sources: Ints, targets: Ints, pages: int) -> Ints:
    """Return the sums of pages 0..pages−1, for links from these pages to the pages of these ids."""
    sums = np.zeros(pages, dtype=np.int64)
    np.add.at(sums, sources, hashed(targets))
    return sums & WHOLE


def of_rows(ids: Ints, offsets: Ints, targets: NDArray[np.int32]) -> Ints:
    """Return the sums of pages whose links lead to `ids[targets[offsets[i] : offsets[i + 1]]]`: as `of_links`, but
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
