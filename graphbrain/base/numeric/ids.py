"""Internal ids of pages in arrays: their indices in an ascending list, and a checksum of the links of a page.

The checksum of a page's links is the sum of the hashed ids of their targets, modulo 2^52. A new or removed link changes
it by one term, so it does not depend on the order in which links come and go. Different links have the same checksum
with a probability of 2^-52. So links that were read without a lock can be checked without reading them again. Sums of
hashes: M. Bellare, D. Micciancio, "A new paradigm for collision-free hashing", EUROCRYPT 1997
(AdHash). The hash: G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014
(SplitMix).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphbrain.base.numeric.arrays import Ints

__all__ = ["WHOLE", "find", "hashed", "sums_of_links", "sums_of_rows"]

DENSE = 32
"""A table with an entry for each number between the first and the last id is faster than a search if it has at most so
many entries for each wanted id. This is the usual case, because the database numbers pages nearly without gaps."""
WHOLE = (1 << 52) - 1
"""The greatest checksum. A float represents each checksum exactly, and accounts are read as floats."""
LINKS_AT_ONCE = 10_000_000
"""The number of links that are summed at the same time. It limits the memory."""


def find(ids: Ints, wanted: Ints) -> Ints:
    """Return the index of each wanted id in `ids`, which are ascending; −1 for one that is missing."""
    if not len(ids):
        return np.full(len(wanted), -1, dtype=np.int64)
    # Search, if a table would be too large.
    first, span = int(ids[0]), int(ids[-1]) - int(ids[0]) + 1
    if span > DENSE * len(wanted):
        positions = np.minimum(np.searchsorted(ids, wanted), len(ids) - 1)
        return np.where(ids[positions] == wanted, positions, -1)
    # Look the ids up in a table, whose last entry is for ids outside it.
    table = np.full(span + 1, -1, dtype=np.int64)
    table[ids - first] = np.arange(len(ids))
    entries = wanted - first
    entries[(entries < 0) | (entries >= span)] = span
    return table[entries]


def hashed(ids: Ints) -> Ints:
    """Return the hash of each id, 0 to WHOLE, by SplitMix."""
    z = ids.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    terms: Ints = ((z ^ (z >> np.uint64(31))) & np.uint64(WHOLE)).astype(np.int64)
    return terms


def sums_of_links(sources: Ints, targets: Ints, pages: int) -> Ints:
    """Return the checksum of the links of each page.

    Args:
        sources: int64[links]; the page of each link, 0..pages−1.
        targets: int64[links]; the internal id of its target.
        pages: The number of pages.
    """
    sums = np.zeros(pages, dtype=np.int64)
    np.add.at(sums, sources, hashed(targets))
    return sums & WHOLE


def sums_of_rows(ids: Ints, offsets: Ints, targets: NDArray[np.int32]) -> Ints:
    """Return the checksums of the pages of a table, where page i links to `ids[targets[offsets[i] : offsets[i + 1]]]`.

    The function is faster than `sums_of_links`.
    """
    sums = np.zeros(len(offsets) - 1, dtype=np.int64)
    hashes, first = hashed(ids), 0
    while first < len(sums):
        last = max(first + 1, int(np.searchsorted(offsets, offsets[first] + LINKS_AT_ONCE, side="right")) - 1)
        # Subtract running totals. Totals beyond 2^63 overflow to negative numbers, which are equal modulo 2^52.
        totals = np.concatenate([[0], np.cumsum(hashes[targets[offsets[first] : offsets[last]]])])
        sums[first:last] = np.diff(totals[offsets[first : last + 1] - offsets[first]])
        first = last
    return sums & WHOLE
