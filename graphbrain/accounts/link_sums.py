"""A number that says which pages a page links to: pure functions of arrays.

It is the sum of the hashed ids of these pages, modulo 2^52: a link more or less changes it by one term, and in whatever
order links come and go, the same links have the same number. Other links have the same one by a chance of 2^-52, so
links that were read without a lock, some time ago or amid a change, are known to be right by it without being read
again. Sums of hashes: M. Bellare, D. Micciancio, "A new paradigm for collision-free hashing", EUROCRYPT 1997 (AdHash);
the hash: G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014 (SplitMix).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphbrain.arrays import Ints

__all__ = ["WHOLE", "hashed", "of_links", "of_rows"]

WHOLE = (1 << 52) - 1
"""The greatest sum. A float holds each exactly: accounts are read as floats."""
LINKS_AT_ONCE = 10_000_000
"""Links summed up at once, so that it takes little memory."""


def hashed(ids: Ints) -> Ints:
    """The term of each page, 0 to WHOLE."""
    z = ids.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    terms: Ints = ((z ^ (z >> np.uint64(31))) & np.uint64(WHOLE)).astype(np.int64)
    return terms


def of_links(sources: Ints, targets: Ints, pages: int) -> Ints:
    """The sums of pages 0..pages−1, of links from these pages to the pages of these ids."""
    sums = np.zeros(pages, dtype=np.int64)
    np.add.at(sums, sources, hashed(targets))
    return sums & WHOLE


def of_rows(ids: Ints, offsets: Ints, targets: NDArray[np.int32]) -> Ints:
    """The sums of pages whose links lead to `ids[targets[offsets[i] : offsets[i + 1]]]`: as `of_links`, but quicker."""
    sums = np.zeros(len(offsets) - 1, dtype=np.int64)
    terms, first = hashed(ids), 0
    while first < len(sums):
        last = max(first + 1, int(np.searchsorted(offsets, offsets[first] + LINKS_AT_ONCE, side="right")) - 1)
        # Sums that grow beyond 2^63 begin anew below 0, which is the same modulo 2^52.
        upto = np.concatenate([[0], np.cumsum(terms[targets[offsets[first] : offsets[last]]])])
        sums[first:last] = np.diff(upto[offsets[first : last + 1] - offsets[first]])
        first = last
    return sums & WHOLE
