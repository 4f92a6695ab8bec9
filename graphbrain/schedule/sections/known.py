"""The text of a host's pages so far: a bounded sample of their shingles, which shows how much new text a page has.

Of all shingles those are kept whose hashes are below a limit, which falls as they become more than `MOST`: a uniform
sample of the host's text, in which the same shingles of any page are found again (distinct sampling; Gibbons, VLDB
2001). What is new is an amount, so the template of the host, which was met before, adds nothing to it and takes nothing
from it. A text that was met only as a small part of larger pages counts once more, for the page that it is of: lists
show the texts of what they name. Each time it needs a smaller page, so copies bring nothing. A page none of whose
sampled shingles is new is evidence as far as the sample would have shown a text of its own.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from graphbrain.base.numeric.arrays import Flags
from graphbrain.schedule.sections.harvest import HALF, yield_of
from graphbrain.schedule.shingles import VERSION, packed
from graphbrain.schedule.words import unpacked

__all__ = ["LARGEST", "MOST", "HostSample", "Yield"]

Keys = npt.NDArray[np.uint32]
Sizes = npt.NDArray[np.uint16]

MOST = 32_768
MOST_PAGES = 0.9
SMALLER = 4
"""A page that has so many times fewer shingles than all that have shown a text brings it anew."""
LARGEST_SIZE = 2**16 - 1
WHOLE = 32
"""Bits of a hash. The hashes below 2^b are of `level` b; a sample of level b holds those and no others."""
_HEAD = np.dtype([("level", "<u4"), ("count", "<u4"), ("covering", "<u4", (WHOLE + 1,))])
LARGEST = (_HEAD.itemsize + MOST * 6) * 3 // 2
"""The most characters of the stored text."""


@dataclass(frozen=True, slots=True)
class Yield:
    """The yield of a page, 0 to 1, and its weight as evidence, 0 to 1."""

    brought: float
    weight: float


class HostSample:
    """The sample of a host. Not thread-safe.

    `level`: of the sample. `covering[b]`: how many pages were read in whose sketches all shingles of level b are that
    they have: a long page's sketch is a smaller part of it. `sizes`: of each key, how many shingles the smallest page
    has that had it.
    """

    def __init__(self, level: int, keys: Keys, sizes: Sizes, covering: npt.NDArray[np.int64]) -> None:
        self._level, self._keys, self._sizes, self._covering = level, keys, sizes, covering

    @classmethod
    def nothing(cls) -> HostSample:
        """Return the state of a host of which no page was read."""
        keys, sizes = np.empty(0, dtype=np.uint32), np.empty(0, dtype=np.uint16)
        return cls(WHOLE, keys, sizes, np.zeros(WHOLE + 1, dtype=np.int64))

    @classmethod
    def read(cls, text: str) -> HostSample:
        """Return what `text` has written; nothing if its shingles are of another version. Raise ValueError for anything
        else."""
        try:
            version, data = unpacked(text)
            raw = zlib.decompress(data)
        except (zlib.error, ValueError) as error:
            raise ValueError(f"not a sample of shingles: {error}") from None
        if len(raw) < _HEAD.itemsize:
            raise ValueError("not a sample of shingles")
        if version != VERSION:
            return cls.nothing()
        head = np.frombuffer(raw, dtype=_HEAD, count=1)[0]
        count = int(head["count"])
        if count > MOST or len(raw) != _HEAD.itemsize + count * 6:
            raise ValueError("not a sample of shingles")
        keys = np.frombuffer(raw, dtype="<u4", offset=_HEAD.itemsize, count=count).astype(np.uint32)
        sizes = np.frombuffer(raw, dtype="<u2", offset=_HEAD.itemsize + 4 * count).astype(np.uint16)
        return cls(int(head["level"]), keys, sizes, head["covering"].astype(np.int64))

    def text(self) -> str:
        """Return the stored form, of at most `LARGEST` characters: the version of the shingles, and the sample."""
        head = np.array([(self._level, len(self._keys), self._covering)], dtype=_HEAD)
        raw = head.tobytes() + self._keys.astype("<u4").tobytes() + self._sizes.astype("<u2").tobytes()
        return packed(zlib.compress(raw, 1))

    @property
    def pages(self) -> int:
        """The number of pages that were read."""
        return int(self._covering[0])

    def brought(self, keys: Keys, count: int) -> Yield:
        """Return what a page brings that has `count` shingles, of which these `keys` are the smallest hashes."""
        level = min(self._level_of(keys, count), self._level_of_most())
        sampled = _below(keys, level)
        places, there = self._places(sampled)
        new = len(sampled) - int((self._sizes[places[there]] < SMALLER * count).sum())
        part = 2.0 ** (level - WHOLE)
        shown = 1.0 - (1.0 - part) ** (2.0 * HALF)
        return Yield(yield_of(new / part), 1.0 if new else shown)

    def add(self, keys: Keys, count: int) -> None:
        """Add the text of a page that was read."""
        level = self._level_of(keys, count)
        sampled = _below(keys, level)
        places, there = self._places(sampled)
        self._covering[: level + 1] += 1
        size = np.uint16(min(count, LARGEST_SIZE))
        self._sizes[places[there]] = np.minimum(self._sizes[places[there]], size)
        fresh = sampled[~there]
        at = np.searchsorted(self._keys, fresh)
        self._keys, self._sizes = np.insert(self._keys, at, fresh), np.insert(self._sizes, at, size)
        while len(self._keys) > MOST:
            self._level -= 1
            self._keys = _below(self._keys, self._level)
            self._sizes = self._sizes[: len(self._keys)]

    def _level_of(self, keys: Keys, count: int) -> int:
        """Return the highest level at which the sample has all of a page's shingles, and so has its sketch."""
        whole = len(keys) == count
        return self._level if whole else min(self._level, max(0, int(keys[-1]).bit_length() - 1))

    def _level_of_most(self) -> int:
        """Return the highest level at which most pages were read whole: above it, what was met before may look new."""
        return int(np.flatnonzero(self._covering >= MOST_PAGES * self._covering[0])[-1])

    def _places(self, keys: Keys) -> tuple[npt.NDArray[np.int64], Flags]:
        """Return the places of these keys in the sample, and a flag for each key: it is there."""
        if not len(self._keys):
            return np.zeros(len(keys), dtype=np.int64), np.zeros(len(keys), dtype=bool)
        places = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return places, np.asarray(self._keys[places] == keys)


def _below(keys: Keys, level: int) -> Keys:
    """Return those of these ascending keys that are of this level."""
    return keys if level == WHOLE else keys[: int(np.searchsorted(keys, np.uint32(1 << level)))]
