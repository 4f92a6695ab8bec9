"""A page's text as blocks: which of them are new since the last visit, and which change at every visit.

A block is what a reader takes for one: a paragraph, a list item, a row of a table, a heading. A long one is cut into
sentences. Each is hashed without its dates and numbers; a price is hashed as well, on its own. `cut` gives these hashes
in page order.

What is kept of a page between visits has a bounded size (`LARGEST_SKETCH`), whatever the page's: the sum of the hashes,
which shows exactly whether any block has come or gone; and an invertible Bloom lookup table of them, from which the
hashes that have come and gone can be read as long as they are few (Goodrich, Mitzenmacher, "Invertible Bloom Lookup
Tables", Allerton 2011). So the places are known where text was replaced. A place where it is replaced again at the next
visit is a rotating one: an advertisement, a quotation of the day. Its text no longer counts until it has stayed the
same for `QUIET` visits. A place is the space between two blocks that occur once in the page.

A place where text is only added to what was there, as at the head of a list of news, is no rotating one; nor is one
where nothing but a price changes. Where a rotating place holds more blocks than ever, something was added: that counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from graphbrain.base.errors import BadInput
from graphbrain.schedule.words import EDGE, FACTORS, VERSION, Masked, Words, changes, masked, packed, sizes, unpacked

__all__ = ["LARGEST_SKETCH", "VisitStep", "cut", "hashed", "is_plain", "read", "step"]

Keys = npt.NDArray[np.uint32]

CELLS, TABLES = 24, 4
"""Cells of the lookup table, and into how many of them a hash goes, one in each part of the table."""
MOST_TRIES = 100
MOST_PLACES = 5
WIDEST, MOST_WORDS = 31, 150
"""Blocks and words that a rotating place may hold. All of a page's may hold no more than half of its words."""
QUIET = 4
"""Visits running without a change after which the text of a rotating place counts again."""
REPEATED = 128
"""In a block's number of words: the block occurs again in the page."""
START, END = 0, 2**32 - 1
"""In place of a neighbour: the beginning and the end of the page."""
ROTATES, STILL = 128, 32
"""In a place's state: its text does not count; a visit without a change, up to `QUIET` of them running. The rest is the
largest number of blocks that it has held."""

_HEAD = np.dtype([("total", "<u4"), ("keys", "<u4", CELLS), ("checks", "u1", CELLS)])
_PLACE = np.dtype([("before", "<u4"), ("after", "<u4"), ("content", "<u4"), ("state", "u1")])
_BLOCK = np.dtype([("key", "<u4"), ("words", "u1")])
LIST = ";"
"""The mark of a list of blocks, which what is kept has not."""
LARGEST_SKETCH = len(packed(bytes(_HEAD.itemsize + MOST_PLACES * _PLACE.itemsize)))
"""The most characters of the stored text."""

# ---------------------------------------------------------------------- blocks of a text


def cut(texts: Iterable[str]) -> str | None:
    """The blocks of a page, from their texts in page order; None when there is no word in them."""
    return hashed(masked(Words.of(EDGE.join(texts))))


def hashed(pieces: Masked) -> str | None:
    """The blocks of a page as `cut` gives them, from what `masked` gives."""
    if not len(pieces.begins):
        return None
    keys, lengths = np.add.reduceat(pieces.rows, pieces.begins), np.minimum(pieces.lengths, REPEATED - 1)
    if pieces.prices:
        places = np.array(list(pieces.prices))
        priced = [keys[piece] ^ _hash(prices) for piece, prices in pieces.prices.items()]
        keys, lengths = np.insert(keys, places + 1, priced), np.insert(lengths, places + 1, 0)
    order = np.argsort(keys, kind="stable")
    like = changes(keys[order])
    if len(like) < len(keys):
        times = sizes(like, len(keys))
        lengths[order[np.repeat(times > 1, times)]] |= REPEATED
        # The second of two like blocks has another hash.
        keys[order] += (np.arange(len(keys)) - np.repeat(like, times)).astype(np.uint64) * FACTORS[-1]
    blocks = np.empty(len(keys), dtype=_BLOCK)
    blocks["key"] = np.minimum(np.maximum(keys >> np.uint64(32), START + 1), END - 1)
    blocks["words"] = lengths
    return packed(blocks.tobytes(), LIST)


def read(text: str) -> npt.NDArray[np.void] | None:
    """Return the blocks that `cut` has made, None for those of another version. Raise BadInput for anything else."""
    try:
        version, data = unpacked(text, LIST)
        blocks = np.frombuffer(data, dtype=_BLOCK)
    except ValueError as error:
        raise BadInput(f"blocks must be what graphbrain makes of a body: {error}") from None
    return blocks if version == VERSION else None


def _hash(prices: Sequence[str]) -> np.uint64:
    return np.uint64(int.from_bytes(blake2b(" ".join(prices).encode("utf-8"), digest_size=8).digest()))


# ---------------------------------------------------------------------- what is kept


@dataclass(frozen=True, slots=True)
class _Place:
    """A place where text was replaced: the blocks around it, the sum of its present text, and its state."""

    before: int
    after: int
    content: int
    state: int

    @property
    def rotates(self) -> bool:
        return bool(self.state & ROTATES)

    @property
    def quiet(self) -> int:
        """Visits running without a change."""
        return self.state % ROTATES // STILL

    @property
    def most(self) -> int:
        """The largest number of blocks that it has held."""
        return self.state % STILL


@dataclass(frozen=True, slots=True)
class _Sketch:
    """`total` and the table are of the blocks that count: those in rotating places do not."""

    total: int
    keys: Keys
    checks: npt.NDArray[np.uint8]
    places: tuple[_Place, ...] = ()

    def text(self) -> str:
        head = np.array([(self.total, self.keys, self.checks)], dtype=_HEAD)
        places = np.array([(p.before, p.after, p.content, p.state) for p in self.places], dtype=_PLACE)
        return packed(head.tobytes() + places.tobytes())


def _parsed(text: str) -> _Sketch | None:
    """Return the stored sketch of a visit, or the present one of these blocks; None for any other text."""
    try:
        if LIST in text:
            blocks = read(text)
            return None if blocks is None else _sketched(blocks["key"])
        version, data = unpacked(text)
    except (ValueError, BadInput):
        return None
    if version != VERSION or len(data) < _HEAD.itemsize or (len(data) - _HEAD.itemsize) % _PLACE.itemsize:
        return None
    head = np.frombuffer(data, dtype=_HEAD, count=1)[0]
    places = np.frombuffer(data, dtype=_PLACE, offset=_HEAD.itemsize)
    return _Sketch(int(head["total"]), head["keys"], head["checks"], tuple(_Place(*p) for p in places.tolist()))


def is_plain(kept: str | None) -> bool:
    """Return whether the kept sketch of a page has no places that have changed lately."""
    known = None if kept is None else _parsed(kept)
    return known is not None and not known.places


def _sketched(keys: Keys, places: tuple[_Place, ...] = ()) -> _Sketch:
    table, checks = np.zeros(CELLS, dtype=np.uint32), np.zeros(CELLS, dtype=np.uint8)
    own = _check(keys)
    for cells in _cells(keys):
        np.bitwise_xor.at(table, cells, keys)
        np.bitwise_xor.at(checks, cells, own)
    return _Sketch(_sum(keys), table, checks, places)


def _sum(keys: Keys) -> int:
    return int(keys.sum(dtype=np.uint64)) & 0xFFFFFFFF


def _check(keys: Keys) -> npt.NDArray[np.uint8]:
    """Eight bits of each key that do not follow from its cells."""
    return ((keys.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(56)).astype(np.uint8)


def _cells(keys: Keys) -> list[npt.NDArray[np.int64]]:
    """Return the cells of each key, one in each part of the table."""
    part = CELLS // TABLES
    return [((keys >> np.uint32(8 * n)) & np.uint32(255)).astype(np.int64) % part + n * part for n in range(TABLES)]


def _apart(old: _Sketch, new: _Sketch, present: Keys) -> set[int] | None:
    """The keys of which one of the two sketches holds more; None when there are too many to be read.

    Two keys in the same cells hide each other. Then one that is `present` is tried for one of them.
    """
    table, checks = old.keys ^ new.keys, old.checks ^ new.checks
    differing = _peeled(table, checks)
    if not (table.any() or checks.any()):
        return differing
    fits = np.all([table[cells] != 0 for cells in _cells(present)], axis=0)
    for key in present[fits][:MOST_TRIES]:
        tried, own = table.copy(), checks.copy()
        _toggle(tried, own, np.array([key], dtype=np.uint32))
        more = _peeled(tried, own)
        if not (tried.any() or own.any()):
            return differing ^ more ^ {int(key)}
    return None


def _peeled(table: Keys, checks: npt.NDArray[np.uint8]) -> set[int]:
    """Return the keys that lie alone in a cell, and then those that do without these; they are taken out of the
    table."""
    keys: set[int] = set()
    for _ in range(CELLS):  # bounded: a hash that only seems to be alone may come again
        pure = np.flatnonzero((table != 0) & (_check(table) == checks))
        cells = np.array(_cells(table[pure])) if len(pure) else np.empty((TABLES, 0), dtype=np.int64)
        pure = pure[(cells == pure).any(axis=0)]
        if not len(pure):
            break
        key = table[pure[:1]]
        _toggle(table, checks, key)
        keys ^= {int(key[0])}
    return keys


def _toggle(table: Keys, checks: npt.NDArray[np.uint8], key: Keys) -> None:
    for cell in _cells(key):
        table[cell] ^= key
        checks[cell] ^= _check(key)


# ---------------------------------------------------------------------- from visit to visit


@dataclass(frozen=True, slots=True)
class VisitStep:
    """The result of a visit: whether the page has changed since the last one, None where they cannot be compared; and
    the sketch that is kept of it now."""

    changed: bool | None
    kept: str | None


@lru_cache(maxsize=1024)
def step(old: str | None, new: str) -> VisitStep:
    """Return a visit that found the blocks `new`, after what was kept of the last one, or its blocks; None: nothing
    was. Blocks of another version are compared with nothing, and are not kept.

    Deterministic; remembered, for the verdict and the record ask for the same.
    """
    blocks = read(new)
    known = _parsed(old) if old is not None else None
    if blocks is None:
        return VisitStep(None, old)
    if known is None:
        return VisitStep(None, _sketched(blocks["key"]).text())
    return _Visit(known, blocks["key"].copy(), blocks["words"].copy()).step()


class _Visit:
    """A visit to a page that was visited before."""

    def __init__(self, old: _Sketch, keys: Keys, words: npt.NDArray[np.uint8]) -> None:
        self._old = old
        self._keys = keys
        self._words = words & (REPEATED - 1)
        self._once = (words & REPEATED) == 0
        self._at = {key: index for index, key in enumerate(keys.tolist())}
        self._found = self._located(old.places)

    def step(self) -> VisitStep:
        counts = np.ones(len(self._keys), dtype=bool)
        total = self._old.total
        for place, region in self._found.items():
            counts[region] = False
            total -= 0 if place.rotates else place.content
        changed = _sum(self._keys[counts]) != total & 0xFFFFFFFF
        places = []
        for place, region in self._found.items():
            kept, seen = self._judged(place, region)
            changed |= seen
            places += [] if kept is None else [kept]
        if changed:
            places += self._replaced(places)
        places = sorted(places, key=lambda place: not place.rotates)[:MOST_PLACES]
        return VisitStep(changed, self._sketch(places).text())

    def _located(self, places: Sequence[_Place]) -> dict[_Place, slice]:
        """Return the places that are still there, and what is in them now; no two have a block in common."""
        regions: dict[_Place, slice] = {}
        taken = np.zeros(len(self._keys), dtype=bool)
        for place in places:
            first = 0 if place.before == START else self._at.get(place.before, len(self._keys)) + 1
            end = len(self._keys) if place.after == END else self._at.get(place.after, -1)
            if first <= end <= first + WIDEST and not taken[first:end].any():
                regions[place] = slice(first, end)
                taken[first:end] = True
        return regions

    def _judged(self, place: _Place, region: slice) -> tuple[_Place | None, bool]:
        """Return the new state of a place, and whether its present content is a change that counts."""
        keys = self._keys[region]
        content, held = _sum(keys), self._held(region)
        if content == place.content:
            stays = place.rotates and place.quiet + 1 < QUIET
            return (replace(place, state=place.state + STILL) if stays else None), False
        if not place.rotates and self._is_wide(region):
            return None, True
        now = replace(place, content=content, state=ROTATES + max(held, place.most))
        if place.content and _holds(keys, place.content):
            return (now if place.rotates else None), True
        return now, held > place.most

    def _held(self, region: slice) -> int:
        """Return how many blocks are in a place; a price is none of its own."""
        return int((self._words[region] > 0).sum())

    def _is_wide(self, region: slice) -> bool:
        """Return whether no more than half of the page's words would count if those of this place did not count,
        either."""
        own = int(self._words[region].sum())
        others = sum(int(self._words[there].sum()) for place, there in self._found.items() if place.rotates)
        return own > MOST_WORDS or 2 * (own + others) > int(self._words.sum())

    def _replaced(self, others: Sequence[_Place]) -> list[_Place]:
        """Return the places where text that counted was replaced at this visit, as far as they can be determined."""
        apart = _apart(self._old, self._sketch([anchor for anchor in self._found if anchor.rotates]), self._keys)
        known = {(anchor.before, anchor.after) for anchor in others}
        if apart is None:
            return []
        fresh = np.isin(self._keys, np.array(sorted(apart), dtype=np.uint32))
        if int(fresh.sum()) == len(apart):  # nothing has gone
            return []
        for region in self._found.values():
            fresh[region] = False
        replaced: dict[tuple[int, int], _Place] = {}
        anchors = np.flatnonzero(self._once & ~fresh & (self._words > 0)).tolist()
        for first in np.flatnonzero(fresh & (self._words > 0)).tolist():
            before = max((anchor for anchor in anchors if anchor < first), default=-1)
            after = min((anchor for anchor in anchors if anchor > first), default=len(self._keys))
            region = slice(before + 1, after)
            bounds = (
                START if before < 0 else int(self._keys[before]),
                END if after == len(self._keys) else int(self._keys[after]),
            )
            if after - before - 1 <= WIDEST and not self._is_wide(region) and bounds not in known:
                replaced[bounds] = _Place(*bounds, _sum(self._keys[region]), self._held(region))
        return list(replaced.values())

    def _sketch(self, places: Sequence[_Place]) -> _Sketch:
        counts = np.ones(len(self._keys), dtype=bool)
        for region in self._located([place for place in places if place.rotates]).values():
            counts[region] = False
        return _sketched(self._keys[counts], tuple(places))


def _holds(keys: Keys, content: int) -> bool:
    """Return whether the content that was there is still there, in one piece, beside the new one."""
    sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(keys, dtype=np.uint64)])
    return bool((((sums[None, :] - sums[:, None]) & np.uint64(0xFFFFFFFF)) == np.uint64(content)).any())
