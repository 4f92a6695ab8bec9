"""The places of ids in an ascending list of them: a pure function of arrays."""

from __future__ import annotations

import numpy as np

from graphbrain.base.numeric.arrays import Ints

__all__ = ["find"]

DENSE = 32
"""A table of all ids between the first and the last is faster than a search while there are at most this many ids for
each one wanted. The database numbers pages nearly without gaps, so this is the usual case."""


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
