"""A page's text as blocks: where it has changed since the last visit, and how probable it is that this is no noise.

A block is what a reader takes for one: a paragraph, a list item, a row of a table, a heading. A long one is cut into
sentences. `cut` gives the hashes of each, in page order. All that is written counts, numbers and signs as well as
words, in its order; white space does not.

What is kept of a page between visits has a bounded size (`LARGEST_SKETCH`), whatever the page's: the hashes of its
blocks, in page order; in a page of many blocks, those of groups of neighbours. Which blocks end a group is for their
own hashes to say, so an edit moves no other group. The two rows of hashes of two visits are aligned; where they differ
is a place, which its neighbours locate in later visits.

Of a place is kept how often it was visited and how often it differed. Both are observations of the probability that it
differs although nothing has happened, whose prior is a Beta distribution, and the mean of the posterior is how probable
noise is: an advertisement, a quotation of the day, a banner that comes and goes. The prior depends on what differs
(`PRIORS`). What a place has held lately is kept, too: content that comes back there is more probably noise.

A place where text is only added to what was there, as at the head of a list of news, does not differ in this sense: it
is another place each time. Where a place holds more blocks than ever, something was added: that counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from graphbrain.base.errors import BadInput
from graphbrain.schedule.words import EDGE, FACTORS, Outlines, Words, mixed, outlined, packed, pieces, unpacked

__all__ = ["LARGEST_SKETCH", "VERSION", "VisitStep", "cut", "hashed", "is_plain", "read", "step"]

Rows = npt.NDArray[np.void]
Places = npt.NDArray[np.int64]

VERSION = 3
"""The version of blocks and of what is kept of them. Those of two versions are not compared."""
SINGLE, GROUPS, MOST = 96, 64, 112
"""Blocks of a page that are kept singly; into how many groups those of a longer page go; and what both may grow to."""
LARGEST_LEVEL = 20
LONGEST_ROW = 500
"""Blocks and groups that are compared; where more have changed, it is another page."""
MOST_PLACES = 8
NEAR, LIST_SIZE = 2, 3
"""Blocks between two differing parts that are one place, where neither is known, or what is has the size of a list."""
YOUNG = 3
"""Differences after which a place is known in its full length."""
MOST_MOVING = 0.75
"""Of a page's words: where more have changed, it is another page."""
PRIORS = {"token": (9.0, 1.0), "value": (0.2, 5.0), "text": (0.5, 1.0)}
"""The prior observations of noise and of content in a place, by what differs there: only tokens and times to the
second; one value, which is words behind the same first word, an amount, or `SHORT` words at most; or anything else."""
SHORT = 3
RETURNS = 3.0
"""By how much more probable noise is where content comes back, that has come and gone before."""
FORGOTTEN = 0.125
"""The share of visits at which it differed, below which a place is one as others are."""
MOST_SEEN = 30

_BLOCK = np.dtype([("exact", "<u4"), ("bare", "u1"), ("loose", "u1"), ("label", "u1"), ("kind", "u1")])
_TOKEN, _AMOUNT, _LENGTH = 128, 64, 63
"""In a block's kind: it has a token, an amount; and the number of its words."""
_ENTRY = np.dtype([("exact", "<u2"), ("bare", "u1"), ("loose", "u1"), ("label", "u1")])
_PLACE = np.dtype(
    [
        *((name, "u1") for name in ("first", "size", "moved", "values", "seen", "most")),
        *((name, "<u2") for name in ("old", "older")),
    ]
)
LIST = ";"
"""The mark of a list of blocks, which what is kept has not."""
LARGEST_SKETCH = len(packed(bytes(2 + MOST_PLACES * _PLACE.itemsize + MOST * _ENTRY.itemsize)))
"""The most characters of the stored text."""

# ---------------------------------------------------------------------- blocks of a text


def cut(texts: Iterable[str]) -> str | None:
    """The blocks of a page, from their texts in page order; None when there is no word in them."""
    words = Words.of(EDGE.join(texts))
    bounds = pieces(words)
    return hashed(outlined(words, bounds), bounds) if len(words.hashes) else None


def hashed(found: Outlines, bounds: npt.NDArray[np.int64]) -> str:
    """The blocks of a page as `cut` gives them, from its pieces and what is in them."""
    blocks = np.empty(len(found.exact), dtype=_BLOCK)
    blocks["exact"] = found.exact >> np.uint64(32)
    for name, hashes in (("bare", found.without_tokens), ("loose", found.without_numbers), ("label", found.first)):
        blocks[name] = mixed(hashes) >> np.uint64(56)
    blocks["kind"] = np.minimum(bounds[1:] - bounds[:-1], _LENGTH) + _TOKEN * found.tokens + _AMOUNT * found.amounts
    return packed(blocks.tobytes(), LIST, VERSION)


def read(text: str) -> Rows | None:
    """Return the blocks that `cut` has made, None for those of another version. Raise BadInput for anything else."""
    try:
        version, data = unpacked(text, LIST)
        if LIST not in text:
            raise ValueError("it has no version")
        return np.frombuffer(data, dtype=_BLOCK) if version == VERSION else None
    except ValueError as error:
        raise BadInput(f"blocks must be what graphbrain makes of a body: {error}") from None


# ---------------------------------------------------------------------- what is kept


class _Place(NamedTuple):
    """A place that has differed.

    `first`, `size`: its first entry, and how many it has. `moved`, `values`, `seen`: how often it has differed, how
    often of these by a value, of how many visits. `most`: the most entries that it has held, 0 for a group that has
    differed once: the place is somewhere in it. `old`, `older`: hashes of what it held before.
    """

    first: int
    size: int
    moved: int
    values: int
    seen: int
    most: int
    old: int
    older: int

    @property
    def end(self) -> int:
        return self.first + self.size

    def noise(self, kind: str) -> float:
        """Return the probability that a difference of this kind is noise here. Where only a value has ever differed,
        other differences are no more probable, and the other way round."""
        kind = "text" if kind == "value" and self.values < self.moved else kind
        noise, content = PRIORS[kind]
        moved = self.moved - (self.values if kind == "text" else 0)
        return (noise + moved) / (noise + content + self.seen)

    def counted(self, moved: bool, value: bool = False) -> _Place:
        """Return the place after another visit. Of very many visits the latest weigh most."""
        by = 2 if self.seen >= MOST_SEEN else 1
        return self._replace(moved=self.moved // by + moved, values=self.values // by + value, seen=self.seen // by + 1)


NOWHERE = _Place(0, 0, 0, 0, 0, 0, 0, 0)
"""A place that has never differed."""


@dataclass(frozen=True, slots=True)
class _Sketch:
    """`level`: the binary logarithm of the number of blocks in a group, about."""

    level: int
    entries: Rows
    places: tuple[_Place, ...] = ()

    def text(self) -> str:
        places = np.array([tuple(place) for place in self.places], dtype=_PLACE)
        head = bytes((self.level, len(self.places)))
        return packed(head + places.tobytes() + self.entries.tobytes(), version=VERSION)

    def content(self, first: int, end: int) -> int:
        """Return a hash of a part, 0 for an empty one."""
        numbers = self.entries["exact"][first:end].astype(np.uint64)
        return (
            int((mixed(numbers + np.uint64(1)) * FACTORS[: end - first]).sum() >> np.uint64(48)) if end > first else 0
        )


def _parsed(text: str) -> _Sketch | None:
    """Return the stored sketch of a visit, or the present one of these blocks; None for any other text."""
    try:
        if LIST in text:
            blocks = read(text)
            return None if blocks is None else _first(blocks)
        version, data = unpacked(text)
        if version != VERSION:
            return None
        places = np.frombuffer(data, dtype=_PLACE, offset=2, count=data[1])
        entries = np.frombuffer(data, dtype=_ENTRY, offset=2 + places.nbytes)
    except (ValueError, IndexError, BadInput):
        return None
    return _Sketch(data[0], entries, tuple(_Place(*place) for place in places.tolist()))


def is_plain(kept: str | None) -> bool:
    """Return whether the kept sketch of a page has no places that have changed lately."""
    known = None if kept is None else _parsed(kept)
    return known is not None and not known.places


def _first(blocks: Rows) -> _Sketch:
    """Return the sketch of a page that is not compared with anything."""
    level = 0
    while level < LARGEST_LEVEL and len(_groups(blocks, level)) > (GROUPS if level else SINGLE):
        level += 1
    return _Sketch(level, _entries(blocks, _groups(blocks, level)[:MOST]))


def _groups(blocks: Rows, level: int) -> Places:
    """Return the first blocks of the groups of this level: their own hashes choose them, so an edit moves no other."""
    opens = (blocks["exact"] & np.uint32((1 << level) - 1)) == 0
    opens[:1] = True
    return np.flatnonzero(opens)


def _entries(blocks: Rows, begins: Places) -> Rows:
    """Return the hashes of parts of a page that begin with these blocks."""
    entries = np.empty(len(begins), dtype=_ENTRY)
    inside = np.arange(len(blocks)) - np.repeat(begins, np.diff(begins, append=len(blocks)))
    ordered = mixed(blocks["exact"].astype(np.uint64)) * FACTORS.take(inside & 255)
    entries["exact"] = np.add.reduceat(ordered, begins) >> np.uint64(48)
    for name in ("bare", "loose", "label"):
        entries[name] = np.add.reduceat(blocks[name], begins, dtype=np.uint8)
    return entries


# ---------------------------------------------------------------------- from visit to visit


@dataclass(frozen=True, slots=True)
class VisitStep:
    """The result of a visit: how probable it is that the page has changed since the last one, None where they cannot be
    compared; the sketch that is kept of it now; and where it is that it differs most probably: the blocks, or groups of
    them, as (first, number before, number now)."""

    probability: float | None
    kept: str | None
    where: tuple[int, int, int] | None = None


@lru_cache(maxsize=1024)
def step(old: str | None, new: str) -> VisitStep:
    """Return a visit that found the blocks `new`, after what was kept of the last one, or its blocks; None: nothing
    was. Blocks of another version are compared with nothing, and are not kept.

    Deterministic; remembered, for the verdict and the record ask for the same.
    """
    blocks = read(new)
    if blocks is None:
        return VisitStep(None, old)
    known = _parsed(old) if old is not None else None
    if known is None:
        return VisitStep(None, _first(blocks).text())
    return _Visit(known, blocks).step()


@dataclass(slots=True)
class _Region:
    """A part in which two rows differ: of the old one, and of the new one; the known places in it; and what differs."""

    first: int
    end: int
    now: int
    now_end: int
    places: list[_Place]
    kinds: set[str]

    @property
    def kind(self) -> str:
        return next(iter(self.kinds)) if len(self.kinds) == 1 else "text"

    @property
    def low(self) -> int:
        return min([self.first, *(place.first for place in self.places)])

    @property
    def high(self) -> int:
        return max([self.end, *(place.end for place in self.places)])

    def joins(self, later: _Region) -> bool:
        """Return whether this part and a later one are one place."""
        small = any(part.places and part.high - part.low < LIST_SIZE for part in (self, later))
        shared = any(place in self.places for place in later.places)
        return shared or later.first < self.high or (later.low - self.high <= NEAR and not small)

    def joined(self, later: _Region) -> _Region:
        places = self.places + [place for place in later.places if place not in self.places]
        return _Region(self.first, later.end, self.now, later.now_end, places, self.kinds | later.kinds)


class _Visit:
    """A visit to a page that was visited before."""

    def __init__(self, old: _Sketch, blocks: Rows) -> None:
        self._old = old
        self._blocks = blocks
        self._groups = _groups(blocks, old.level)[:MOST]
        self._begins = self._row()
        self._new = _Sketch(old.level, _entries(blocks, self._begins))
        self._words = np.add.reduceat(blocks["kind"] & _LENGTH, self._begins, dtype=np.int64)
        self._moved = np.full(len(old.entries), -1)
        """the new place of each old entry that is still there"""

    def _row(self) -> Places:
        """Return the first blocks of what is compared: of the groups that are still there, and of each single block of
        the others."""
        known = set(self._old.entries.tolist())
        changed = [entry not in known for entry in _entries(self._blocks, self._groups).tolist()]
        opens = np.repeat(changed, np.diff(self._groups, append=len(self._blocks)))
        opens[self._groups] = True
        return np.flatnonzero(opens)

    def step(self) -> VisitStep:
        regions = self._regions() if len(self._begins) <= LONGEST_ROW else None
        words = [int(self._words[region.now : region.now_end].sum()) for region in regions or ()]
        if regions is None or sum(words) > MOST_MOVING * self._words.sum():
            return VisitStep(1.0, _first(self._blocks).text(), (0, len(self._blocks), len(self._blocks)))
        met = {place for region in regions for place in (*region.places, self._group_of(region))}
        places = [stays for place in self._old.places if place not in met and (stays := self._still(place))]
        probability, where = 0.0, None
        for region in regions:
            place, likely = self._judged(region)
            places.append(place)
            if likely > probability:
                first = int(self._begins[region.now]) if region.now < len(self._begins) else len(self._blocks)
                probability, where = likely, (first, region.end - region.first, region.now_end - region.now)
        return VisitStep(probability, self._kept(places).text(), where)

    def _kept(self, places: list[_Place]) -> _Sketch:
        """Return what is kept: single blocks in and beside the most probable of these places, and groups elsewhere."""
        places = sorted(places, key=lambda place: -place.moved / place.seen)[:MOST_PLACES]
        while True:
            near = np.zeros(len(self._begins) + 1, dtype=bool)
            for place in places:
                near[max(place.first - 1, 0) : place.end + 1] = True
            groups = self._groups.searchsorted(self._begins, "right") - 1
            kept = np.isin(groups, groups[near[:-1]])
            kept[np.isin(self._begins, self._groups)] = True
            if kept.sum() <= MOST or not places:
                break
            places.pop()
        if kept.sum() > MOST:
            return _first(self._blocks)
        index = np.concatenate([[0], np.cumsum(kept)])
        moved = [place._replace(first=int(index[place.first])) for place in places]
        return _Sketch(self._old.level, self._new.entries[kept] if kept.all() else self._parts(kept), tuple(moved))

    def _parts(self, kept: npt.NDArray[np.bool_]) -> Rows:
        return _entries(self._blocks, self._begins[kept])

    def _regions(self) -> list[_Region]:
        regions: list[_Region] = []
        for first, end, now, now_end in self._spans():
            places = [place for place in self._old.places if place.most and _touches(place, first, end, now_end - now)]
            region = _Region(first, end, now, now_end, places, {self._kind(first, end, now, now_end)})
            while regions and regions[-1].joins(region):
                region = regions.pop().joined(region)
            regions.append(region)
        return regions

    def _group_of(self, region: _Region) -> _Place | None:
        """Return the group that has differed once, and in which text is replaced again."""
        groups = [place for place in self._old.places if not place.most] if region.now < region.now_end else []
        return next((place for place in groups if max(place.first, region.first) < min(place.end, region.end)), None)

    def _spans(self) -> Iterator[tuple[int, int, int, int]]:
        """Yield the parts that differ, and note where the others are now."""
        old, new = self._old.entries.tolist(), self._new.entries.tolist()
        same = 0
        while same < min(len(old), len(new)) and old[same] == new[same]:
            same += 1
        tail = 0
        while tail < min(len(old), len(new)) - same and old[-1 - tail] == new[-1 - tail]:
            tail += 1
        middle = SequenceMatcher(None, old[same : len(old) - tail], new[same : len(new) - tail], autojunk=False)
        self._moved[:same] = np.arange(same)
        self._moved[len(old) - tail :] = np.arange(len(new) - tail, len(new))
        for what, first, end, now, now_end in middle.get_opcodes():
            if what == "equal":
                self._moved[same + first : same + end] = np.arange(same + now, same + now_end)
            else:
                yield same + first, same + end, same + now, same + now_end

    def _kind(self, first: int, end: int, now: int, now_end: int) -> str:
        """Return what differs, as of `PRIORS`. What is said of a group of blocks is the sum of what is said of each."""
        if first == end or now == now_end:
            return "text"
        old, new = self._old.entries[first:end], self._new.entries[now:now_end]
        last = self._begins[now_end] if now_end < len(self._begins) else len(self._blocks)
        kinds = self._blocks["kind"][self._begins[now] : last]

        def alike(name: str) -> bool:
            return int(old[name].sum(dtype=np.uint8)) == int(new[name].sum(dtype=np.uint8))

        if alike("bare") and (kinds & _TOKEN).any():
            return "token"
        if alike("loose"):
            return "value" if (kinds & _AMOUNT).any() else "text"
        short = len(old) == len(kinds) == 1 and (kinds[0] & _LENGTH) <= SHORT
        return "value" if alike("label") or short else "text"

    def _still(self, place: _Place) -> _Place | None:
        """Return a place that does not differ, where it is now; None where it is forgotten."""
        if place.size:
            first = int(self._moved[place.first])
        else:
            first = int(self._moved[place.first - 1]) + 1 if place.first else 0
        lost = first < 0 or (place.first > 0 and not place.size and not first)
        place = place.counted(False)
        return None if lost or place.moved < FORGOTTEN * place.seen else place._replace(first=first)

    def _judged(self, region: _Region) -> tuple[_Place, float]:
        """Return the place that a region is, after this visit, and the probability that it has changed."""
        known, group = region.places, None if region.places else self._group_of(region)
        first, end = region.low, region.high
        now, now_end = region.now - (region.first - first), region.now_end + (end - region.end)
        best = max(known, key=lambda place: place.moved, default=group or NOWHERE)
        noise = best.noise(region.kind)
        if best.moved > 1 and self._new.content(now, now_end) in (best.old, best.older):
            noise = RETURNS * noise / (1 + (RETURNS - 1) * noise)
        size = sum(place.size for place in known)
        most = max([end - first, *(place.most for place in known)])
        beyond = end - first - size > (size // 2 if best.moved <= YOUNG else 0)
        if known and (now_end - now > most or beyond):
            noise = min(noise, NOWHERE.noise("text"))
        single = not self._old.level or any(
            place.first - 1 <= first and end <= place.end + 1 for place in self._old.places
        )
        most = max(most, now_end - now) if single or now_end - now == 1 else 0
        was, kept = self._old.content(first, end), best.counted(True, region.kind == "value")
        return kept._replace(first=now, size=now_end - now, most=most, old=was, older=best.old), 1 - noise


def _touches(place: _Place, first: int, end: int, size: int) -> bool:
    """Return whether a place differs where an old part has become a new one of this size."""
    if place.size:
        return (first < place.end and end > place.first) or place.first < first == end < place.end
    return first <= place.first <= end and size > end - first
