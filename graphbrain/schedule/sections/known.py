"""The text of a host's pages so far: a bounded sample of their shingles, which shows how much of a page is new.

Of all shingles those are kept whose hashes are below a limit, which falls as they become more than `MOST`: a uniform
sample of the host's text, in which the same shingles of any page are found again (distinct sampling; Gibbons, VLDB
2001). Of each it is counted how many pages of each kind had it; a kind is what pages with like URLs have in common, of
which `KINDS` are distinguished. Shingles that a share of the pages of most kinds has are the host's template, and do
not count. So a list of products that all lists show is none, as the other pages lack it. Counts are halved when they
are full, so that what has left the site is forgotten.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from zlib import crc32

import numpy as np
import numpy.typing as npt

from graphbrain.base.numeric.arrays import Flags, Floats
from graphbrain.schedule.sections.shapes import Shape, shape_of
from graphbrain.schedule.words import VERSION, packed, unpacked

__all__ = ["FULL_SAMPLE", "LARGEST", "HostSample", "NewShare", "kind_of"]

Keys = npt.NDArray[np.uint32]
Counts = npt.NDArray[np.uint8]

MOST = 16_384
KINDS = 8
FEW_PAGES = 3
"""A kind of which fewer pages were seen has no part in finding the template."""
COMMON, MOST_KINDS = 0.3, 0.6
"""A shingle is of the template where this part of the pages has it, in this part of the kinds."""
COMMON_ALONE = 0.6
"""The same where pages of one kind alone were seen."""
MOST_PAGES = 0.9
FULL = 255
FULL_SAMPLE = 3.0
"""A page of which so many shingles outside the template are in the sample counts in full."""
FIRST_PAGES = 4
"""The first pages of a host, of which only the added text counts: the text that they share may be its template."""
WHOLE = 32
"""Bits of a hash. The hashes below 2^b are of `level` b; a sample of level b holds those and no others."""
_HEAD = np.dtype([("level", "<u4"), ("count", "<u4"), ("covering", "<u4", (KINDS, WHOLE + 1))])
LARGEST = (_HEAD.itemsize + MOST * (4 + KINDS)) * 3 // 2
"""The most characters of the stored text."""


@dataclass(frozen=True, slots=True)
class NewShare:
    """The share of a page that was new to its host, 0 to 1, outside the template; and the weight of that, 0 to 1."""

    new: float
    weight: float


def kind_of(url: str) -> int:
    """Return a number below `KINDS`, the same for URLs that are much alike."""
    shape = shape_of(url)
    return crc32(" ".join(sorted(_words(shape))).encode("utf-8", "surrogatepass")) % KINDS


def _words(shape: Shape) -> list[str]:
    """Return the names of the arguments, the first step of the path, and whether there is one behind it."""
    return [str(test) for test in shape.tests if test.what == "argument" or (test.what, test.place) == ("steps", 1)] + [
        test.word for test in shape.tests if (test.what, test.place) == ("step", 0) and "." not in test.word
    ]


class HostSample:
    """The sample of a host. Not thread-safe.

    `level`: of the sample. `covering[k, b]`: how many pages of kind k were read in whose sketches all shingles of level
    b are that they have: a long page's sketch is a smaller part of it.
    """

    def __init__(self, level: int, keys: Keys, counts: Counts, covering: npt.NDArray[np.int64]) -> None:
        self._level, self._keys, self._counts, self._covering = level, keys, counts, covering

    @classmethod
    def nothing(cls) -> HostSample:
        """Return the state of a host of which no page was read."""
        keys, counts = np.empty(0, dtype=np.uint32), np.empty((0, KINDS), dtype=np.uint8)
        return cls(WHOLE, keys, counts, np.zeros((KINDS, WHOLE + 1), dtype=np.int64))

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
        head = np.frombuffer(raw, dtype=_HEAD, count=1)[0]
        count = int(head["count"])
        if count > MOST or len(raw) != _HEAD.itemsize + count * (4 + KINDS):
            raise ValueError("not a sample of shingles")
        if version != VERSION:
            return cls.nothing()
        keys = np.frombuffer(raw, dtype="<u4", offset=_HEAD.itemsize, count=count)
        counts = np.frombuffer(raw, dtype=np.uint8, offset=_HEAD.itemsize + 4 * count)
        covering = head["covering"].astype(np.int64)
        return cls(int(head["level"]), keys.astype(np.uint32), counts.reshape(count, KINDS).copy(), covering)

    def text(self) -> str:
        """Return the stored form, of at most `LARGEST` characters: the version of the shingles, and the sample."""
        head = np.array([(self._level, len(self._keys), self._covering)], dtype=_HEAD)
        raw = head.tobytes() + self._keys.astype("<u4").tobytes() + self._counts.tobytes()
        return packed(zlib.compress(raw, 1))

    @property
    def pages(self) -> int:
        """The number of pages that were read, as far as they are remembered."""
        return int(self._covering[:, 0].sum())

    def share(self, keys: Keys, count: int) -> NewShare:
        """Return the share that is new of a page that has `count` shingles, of which these `keys` are the smallest
        hashes."""
        level = min(self._level_of(keys, count), self._level_of_most())
        sampled = _below(keys, level)
        places, there = self._places(sampled)
        template = self._is_template(places) & there
        seen, new = float((there & ~template).sum()), float((~there).sum())
        if self.pages < FIRST_PAGES:
            return NewShare(1.0, min(1.0, new / FULL_SAMPLE))
        if not new + seen:
            # A page of which next to nothing is in the sample shows nothing by having no new shingle there.
            return NewShare(0.0, 1.0 if len(sampled) >= 4 * FULL_SAMPLE else 0.0)
        return NewShare(new / (new + seen), min(1.0, (new + seen) / FULL_SAMPLE))

    def add(self, keys: Keys, count: int, kind: int) -> None:
        """A page of this kind was read."""
        level = self._level_of(keys, count)
        sampled = _below(keys, level)
        places, there = self._places(sampled)
        if self._covering[kind, 0] >= FULL:
            self._counts[:, kind] //= 2
            self._covering[kind] //= 2
        self._counts[places[there], kind] += 1
        self._covering[kind, : level + 1] += 1
        fresh = sampled[~there]
        if len(fresh):
            counts = np.zeros((len(fresh), KINDS), dtype=np.uint8)
            counts[:, kind] = 1
            order = np.argsort(np.concatenate([self._keys, fresh]), kind="stable")
            self._keys = np.concatenate([self._keys, fresh])[order]
            self._counts = np.concatenate([self._counts, counts])[order]
        while len(self._keys) > MOST:
            self._level -= 1
            kept = len(_below(self._keys, self._level))
            self._keys, self._counts = self._keys[:kept], self._counts[:kept]

    def _level_of(self, keys: Keys, count: int) -> int:
        """Return the highest level at which the sample has all of a page's shingles, and so has its sketch."""
        whole = len(keys) == count
        return self._level if whole else min(self._level, max(0, int(keys[-1]).bit_length() - 1))

    def _level_of_most(self) -> int:
        """Return the highest level at which most pages were read whole: above it, what was met before may look new."""
        covering = self._covering.sum(axis=0)
        return int(np.flatnonzero(covering >= MOST_PAGES * covering[0])[-1])

    def _places(self, keys: Keys) -> tuple[npt.NDArray[np.int64], Flags]:
        """Return the places of these keys in the sample, and a flag for each key: it is there."""
        if not len(self._keys):
            return np.zeros(len(keys), dtype=np.int64), np.zeros(len(keys), dtype=bool)
        places = np.searchsorted(self._keys, keys).astype(np.int64)
        places[places == len(self._keys)] = 0
        return places, np.asarray(self._keys[places] == keys)

    def _is_template(self, places: npt.NDArray[np.int64]) -> Flags:
        """Return a flag for each of these places of the sample: its text belongs to the template."""
        if not len(places) or not len(self._keys):
            return np.zeros(len(places), dtype=bool)
        # The level of a hash is the least in which it is.
        levels = np.ceil(np.log2(self._keys[places].astype(np.float64) + 1.0)).astype(np.int64)
        covering = self._covering[:, levels].T
        shares: Floats = self._counts[places] / np.maximum(covering, 1)
        tells = covering >= FEW_PAGES
        of_kinds = ((shares >= COMMON) & tells).sum(axis=1) >= MOST_KINDS * tells.sum(axis=1)
        of_all = self._counts[places].sum(axis=1) >= COMMON_ALONE * covering.sum(axis=1)
        return np.asarray(np.where(tells.sum(axis=1) >= 2, of_kinds, of_all))


def _below(keys: Keys, level: int) -> Keys:
    """Return those of these ascending keys that are of this level."""
    return keys if level == WHOLE else keys[: int(np.searchsorted(keys, np.uint32(1 << level)))]
