"""A page's text as blocks: where it has changed since the last visit, and how probable it is that this is no noise.

A block is what a reader takes for one: a paragraph, a list item, a row of a table, a heading. A long one is cut into
sentences. `cut` gives the hashes of each, in page order. All that is written counts, numbers and signs as well as
words, in its order; white space does not.

What is kept of a page between visits has a bounded size (`LARGEST_SKETCH`), whatever the page's: the hashes of its
blocks, in page order; in a page of many blocks, those of groups of neighbours, of ever smaller ones where it has
differed. The hashes of the blocks themselves choose where a group begins, so an edit moves no other group. The rows of
hashes of two visits are aligned; where they differ is a place, which its neighbours locate in later visits.

Of a place is kept how often it was visited and how often it differed. Both are observations of the probability that it
differs although nothing has happened, whose prior is a Beta distribution, and the mean of the posterior is how probable
noise is: an advertisement, a quotation of the day, a banner that comes and goes. The prior depends on what differs
(`PRIORS`). What a place has held lately is kept, too: content that comes back there is more probably noise.

A place where text is only added to what was there, as at the head of a list of news, does not differ in this sense: it
is another place each time. Where a place holds more blocks than ever, something was added: that counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from difflib import SequenceMatcher
from functools import lru_cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from graphbrain.base.errors import BadInput
from graphbrain.schedule.words import EDGE, FACTORS, Outlines, Words, mixed, outlined, packed, pieces, unpacked

__all__ = ["LARGEST_SKETCH", "VERSION", "Difference", "VisitStep", "cut", "hashed", "is_plain", "read", "step"]

Rows = npt.NDArray[np.void]
Places = npt.NDArray[np.int64]

VERSION = 3
"""The version of blocks and of what is kept of them. Those of two versions are not compared."""
SINGLE, GROUPS, MOST = 96, 64, 112
"""Blocks of a page that are kept singly; into how many groups those of a longer page go; and what both may grow to."""
LARGEST_LEVEL, FINER = 20, 2
"""The largest level of groups, of which one of level n has 2ⁿ blocks, about; and how many levels below are those into
which one is cut."""
LONGEST_ROW = 500
"""Blocks and groups that are compared; where more have changed, it is another page."""
MOST_PLACES = 8
NEAR, LIST_SIZE = 2, 3
"""Blocks between two differing parts that are one place, where neither is known, or what is has the size of a list."""
FEW = 4
"""Into so many parts a group that has differed is cut at least."""
YOUNG = 3
"""Differences after which a place is known in its full length."""
MOST_MOVING = 0.75
"""The share of a page's words that may differ: where more do, it is another page."""
PRIORS = {"token": (9.0, 1.0), "value": (0.2, 5.0), "number": (0.5, 1.0), "text": (0.5, 1.0)}
"""The prior observations of noise and of content in a place, by what differs there: only tokens and times to the
second; one value, which is `LONGEST_VALUE` words at most with the same first one, an amount, or `SHORT` words at most;
only numbers and dates; or anything else."""
POOLED = {"number": (0.2, 5.0), "text": (0.5, 2.0)}
"""The priors where a section is known: that the numbers of all its pages change at once is more probable than that
their text does. Values are judged on each page alone: prices of a shop change together."""
MOST_MARKS = 12
"""Marks of a group that differs."""
SHORT, LONGEST_VALUE = 3, 12
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


def hashed(outlines: Outlines, bounds: npt.NDArray[np.int64]) -> str:
    """The blocks of a page as `cut` gives them, from its pieces and what is in them."""
    blocks = np.empty(len(outlines.exact), dtype=_BLOCK)
    blocks["exact"] = outlines.exact >> np.uint64(32)
    for name, hashes in (
        ("bare", outlines.without_tokens),
        ("loose", outlines.without_numbers),
        ("label", outlines.first),
    ):
        blocks[name] = mixed(hashes) >> np.uint64(56)
    blocks["kind"] = (
        np.minimum(bounds[1:] - bounds[:-1], _LENGTH) + _TOKEN * outlines.tokens + _AMOUNT * outlines.amounts
    )
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


@dataclass(frozen=True, slots=True)
class _Place:
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
        moved = self.moved - (0 if kind in ("value", "token") else self.values)
        return (noise + moved) / (noise + content + self.seen)

    def counted(self, moved: bool, value: bool = False) -> _Place:
        """Return the place after another visit. Of very many visits the latest weigh most."""
        by = 2 if self.seen >= MOST_SEEN else 1
        return replace(self, moved=self.moved // by + moved, values=self.values // by + value, seen=self.seen // by + 1)


NOWHERE = _Place(0, 0, 0, 0, 0, 0, 0, 0)
"""A place that has never differed."""


@dataclass(frozen=True, slots=True)
class _Sketch:
    """`level`: the binary logarithm of the number of blocks in a group, about."""

    level: int
    entries: Rows
    places: tuple[_Place, ...] = ()

    def text(self) -> str:
        places = np.array([astuple(spot) for spot in self.places], dtype=_PLACE)
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
    return _Sketch(data[0], entries, tuple(_Place(*spot) for spot in places.tolist()))


def is_plain(kept: str | None) -> bool:
    """Return whether the kept sketch of a page has no places that have changed lately."""
    parsed = None if kept is None else _parsed(kept)
    return parsed is not None and not parsed.places


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
    """Return the hashes of parts of a page that begin with these blocks. The last bit shows a single block."""
    entries = np.empty(len(begins), dtype=_ENTRY)
    inside = np.arange(len(blocks)) - np.repeat(begins, np.diff(begins, append=len(blocks)))
    ordered = mixed(blocks["exact"].astype(np.uint64)) * FACTORS.take(inside & 255)
    single = np.diff(begins, append=len(blocks)) == 1
    entries["exact"] = (np.add.reduceat(ordered, begins) >> np.uint64(48)) & np.uint64(0xFFFE) | single
    for name in ("bare", "loose", "label"):
        entries[name] = np.add.reduceat(blocks[name], begins, dtype=np.uint8)
    return entries


# ---------------------------------------------------------------------- from visit to visit


@dataclass(frozen=True, slots=True)
class Difference:
    """A place where two visits differ: how probable it is that it has changed; of one that is new on its page, and may
    be known of other pages, the prior observations of noise and of content; how many blocks it has (0: somewhere in a
    group); and marks, by which the same place of the template is found on other pages: of the blocks beside it, or of
    some in its group."""

    probability: float
    prior: tuple[float, float] | None
    size: int
    marks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class VisitStep:
    """The result of a visit: how probable it is that the page has changed since the last one, None where they cannot be
    compared; the sketch that is kept of it now; where it is that it differs most probably: the blocks, or groups of
    them, as (first, number before, number now); and all differences, none where it is another page."""

    probability: float | None
    kept: str | None
    where: tuple[int, int, int] | None = None
    differences: tuple[Difference, ...] = ()


@lru_cache(maxsize=1024)
def step(old: str | None, new: str) -> VisitStep:
    """Return a visit that found the blocks `new`, after what was kept of the last one, or its blocks; None: nothing
    was. Blocks of another version are compared with nothing, and are not kept.

    Deterministic; remembered, for the verdict and the record ask for the same.
    """
    blocks = read(new)
    if blocks is None:
        return VisitStep(None, old)
    parsed = _parsed(old) if old is not None else None
    if parsed is None:
        return VisitStep(None, _first(blocks).text())
    return _Visit(parsed, blocks).step()


@dataclass(slots=True)
class _Region:
    """A part in which two rows differ: of the old one, and of the new one; the known places in it; what differs; and
    the parts of the new one that were joined."""

    first: int
    end: int
    now: int
    now_end: int
    places: list[_Place]
    kinds: set[str]
    parts: list[tuple[int, int]]

    @property
    def kind(self) -> str:
        return next(iter(self.kinds)) if len(self.kinds) == 1 else "text"

    @property
    def low(self) -> int:
        return min([self.first, *(spot.first for spot in self.places)])

    @property
    def high(self) -> int:
        return max([self.end, *(spot.end for spot in self.places)])

    def joins(self, later: _Region) -> bool:
        """Return whether this part and a later one are one place."""
        small = any(part.places and part.high - part.low < LIST_SIZE for part in (self, later))
        shared = any(spot in self.places for spot in later.places)
        return shared or later.first < self.high or (later.low - self.high <= NEAR and not small)

    def joined(self, later: _Region) -> _Region:
        places = self.places + [spot for spot in later.places if spot not in self.places]
        kinds, parts = self.kinds | later.kinds, self.parts + later.parts
        return _Region(self.first, later.end, self.now, later.now_end, places, kinds, parts)


class _Visit:
    """A visit to a page that was visited before."""

    def __init__(self, old: _Sketch, blocks: Rows) -> None:
        self._old = old
        self._blocks = blocks
        self._begins = self._row()
        self._new = _Sketch(old.level, _entries(blocks, self._begins))
        self._words = np.add.reduceat(blocks["kind"] & _LENGTH, self._begins, dtype=np.int64)
        self._moved = np.full(len(old.entries), -1)
        """the new place of each old entry that is still there"""

    def _row(self) -> Places:
        """Return the first blocks of what is compared: of the groups that are still there; and of the others ever
        smaller groups, and at last single blocks."""
        entries = set(self._old.entries.tolist())
        return self._split(lambda begins: [e not in entries for e in _entries(self._blocks, begins).tolist()])

    def _split(self, which: Callable[[Places], Sequence[bool] | npt.NDArray[Any]]) -> Places:
        """Return the first blocks of groups, of which `which` are cut into smaller ones, and these again."""
        level = self._old.level
        begins = _groups(self._blocks, level)[:MOST]
        while level:
            level = max(level - FINER, 0)
            cut = np.repeat(np.array(which(begins), dtype=bool), np.diff(begins, append=len(self._blocks)))
            smaller = _groups(self._blocks, level)
            begins = np.union1d(begins, smaller[cut[smaller]])
        return begins

    def step(self) -> VisitStep:
        regions = self._regions() if len(self._begins) <= LONGEST_ROW else None
        words = [int(self._words[region.now : region.now_end].sum()) for region in regions or ()]
        if regions is None or sum(words) > MOST_MOVING * self._words.sum():
            return VisitStep(1.0, _first(self._blocks).text(), (0, len(self._blocks), len(self._blocks)))
        visited = {spot for region in regions for spot in (*region.places, self._group_of(region))}
        places = [stays for spot in self._old.places if spot not in visited and (stays := self._still(spot))]
        probability, where, differences = 0.0, None, list[Difference]()
        for region in regions:
            spot, likely = self._judged(region)
            places.append(spot)
            differences += self._differences(region, likely)
            if likely > probability:
                first = int(self._begins[region.now]) if region.now < len(self._begins) else len(self._blocks)
                probability, where = likely, (first, region.end - region.first, region.now_end - region.now)
        return VisitStep(probability, self._kept(places).text(), where, tuple(differences))

    def _differences(self, region: _Region, likely: float) -> Iterator[Difference]:
        """Yield the differences of a region: of groups that are joined each by itself, for no more is known of one
        because another is near."""
        exact, bounds = self._blocks["exact"].astype(np.uint64), np.append(self._begins, len(self._blocks))
        prior = None if region.places else POOLED.get(region.kind)
        if _single(self._old.entries[region.first : region.end]):
            first, end = int(bounds[region.now]), int(bounds[region.now_end])
            sides = [exact[first - 1] if first else 0, exact[end] if end < len(exact) else 0]
            marks, size = np.array(sides, dtype=np.uint64) * FACTORS[:2], max(region.end - region.first, end - first)
            yield Difference(likely, prior, size, _marks(marks))
            return
        for now, now_end in region.parts:
            amounts = (self._blocks["kind"][bounds[now] : bounds[now_end]] & _AMOUNT).any()
            prior = None if amounts and region.kind == "number" else prior
            hashes = np.sort(mixed(exact[bounds[now] : bounds[now_end]] * FACTORS[2]))
            yield Difference(likely, prior, 0, _marks(hashes[:MOST_MARKS]))

    def _kept(self, places: list[_Place]) -> _Sketch:
        """Return what is kept: single blocks in and beside those places that differ most, and groups elsewhere."""
        places = sorted(places, key=lambda spot: -spot.moved / spot.seen)[:MOST_PLACES]
        bounds = np.append(self._begins, len(self._blocks))
        few = LONGEST_ROW
        while True:
            begins = self._split(partial(_near, self._blocks, bounds, places, few))
            if len(begins) <= MOST or not places:
                break
            if few > FEW:
                few //= 2
            else:
                places.pop()
        if len(begins) > MOST:
            return _first(self._blocks)
        moved = []
        for spot in places:
            first = int(begins.searchsorted(bounds[spot.first], "right")) - (spot.first < len(self._begins))
            end = int(begins.searchsorted(bounds[spot.end]))
            moved.append(replace(spot, first=first, size=max(end - first, 0)))
        return _Sketch(self._old.level, _entries(self._blocks, begins), tuple(moved))

    def _regions(self) -> list[_Region]:
        regions: list[_Region] = []
        for first, end, now, now_end in self._spans():
            places = [spot for spot in self._old.places if spot.most and _touches(spot, first, end, now_end - now)]
            kinds = {self._kind(first, end, now, now_end)}
            region = _Region(first, end, now, now_end, places, kinds, [(now, now_end)])
            while regions and regions[-1].joins(region):
                region = regions.pop().joined(region)
            regions.append(region)
        return regions

    def _group_of(self, region: _Region) -> _Place | None:
        """Return the group that has differed once, and in which text is replaced or removed."""
        groups = [spot for spot in self._old.places if not spot.most]
        return next((spot for spot in groups if max(spot.first, region.first) < min(spot.end, region.end)), None)

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
        """Return what differs, as of `PRIORS`. The hashes of a group are the sums of those of its blocks."""
        if first == end or now == now_end:
            return "text"
        old, new = self._old.entries[first:end], self._new.entries[now:now_end]
        last = self._begins[now_end] if now_end < len(self._begins) else len(self._blocks)
        kinds = self._blocks["kind"][self._begins[now] : last]

        def alike(name: str) -> bool:
            return int(old[name].sum(dtype=np.uint8)) == int(new[name].sum(dtype=np.uint8))

        if alike("bare") and (kinds & _TOKEN).any():
            return "token"
        if not _single(old):
            return "number" if alike("loose") else "value" if alike("label") else "text"
        if not len(old) == len(new) == len(kinds):
            return "text"
        amounts = (old["loose"] == new["loose"]) & ((kinds & _AMOUNT) > 0)
        named = (old["label"] == new["label"]) & (old["loose"] != new["loose"]) & (kinds & _LENGTH <= LONGEST_VALUE)
        short = len(kinds) == 1 and (kinds[0] & _LENGTH) <= SHORT and old["loose"][0] != new["loose"][0]
        numbers = (old["loose"] == new["loose"]).all()
        return "value" if (amounts | named).all() or short else "number" if numbers else "text"

    def _still(self, spot: _Place) -> _Place | None:
        """Return a place that does not differ, where it is now; None where it is lost or forgotten."""
        before = int(self._moved[spot.first - 1]) if spot.first else -1
        first = int(self._moved[spot.first]) if spot.size else before + 1
        end = int(self._moved[spot.end - 1]) + 1 if spot.size else first
        lost = first < 0 or end < first or (not spot.size and spot.first > 0 and before < 0)
        spot = replace(spot.counted(False), first=first, size=end - first)
        return None if lost or spot.moved < FORGOTTEN * spot.seen else spot

    def _judged(self, region: _Region) -> tuple[_Place, float]:
        """Return the place that a region is, after this visit, and the probability that it has changed."""
        places = region.places
        group = None if places or region.kind == "value" else self._group_of(region)
        first, end = region.low, region.high
        now, now_end = region.now - (region.first - first), region.now_end + (end - region.end)
        best = max(places, key=lambda spot: spot.moved, default=group or NOWHERE)
        noise = best.noise(region.kind)
        if best.moved - best.values > 1 and self._new.content(now, now_end) in (best.old, best.older):
            noise = RETURNS * noise / (1 + (RETURNS - 1) * noise)
        size = sum(spot.size for spot in places)
        most = max([end - first, *(spot.most for spot in places)])
        beyond = end - first - size > (size // 2 if best.moved <= YOUNG else 0)
        if places and (now_end - now > most or beyond):
            noise = min(noise, NOWHERE.noise("text"))
        if not places and not _single(self._old.entries[first:end]):
            noise, most = min(noise, NOWHERE.noise(region.kind)), 0
        else:
            most = max(most, now_end - now)
        was, kept = self._old.content(first, end), best.counted(True, region.kind == "value")
        return replace(kept, first=now, size=now_end - now, most=most, old=was, older=best.old), 1 - noise


def _marks(hashes: npt.NDArray[np.uint64]) -> tuple[int, ...]:
    return tuple((mixed(hashes) >> np.uint64(48)).tolist())


def _single(entries: Rows) -> bool:
    """Return whether these are single blocks."""
    return bool((entries["exact"] & 1).all())


def _near(blocks: Rows, bounds: Places, places: Sequence[_Place], few: int, begins: Places) -> npt.NDArray[Any]:
    """Return which groups with these first blocks are cut: those in and beside a place, and until they are `few` where
    it is known to be somewhere in them."""
    near = np.zeros(len(blocks), dtype=bool)
    for spot in places:
        first, end = bounds[spot.first], bounds[spot.end]
        if spot.most:
            near[max(first - 1, 0) : end + 1] = True
        elif spot.moved > 1 or begins.searchsorted(end) - begins.searchsorted(first) < few:
            near[first:end] = True
    cut = np.logical_or.reduceat(near, begins)
    like = _entries(blocks, begins)
    return cut | np.isin(like, like[cut])  # of two like groups none is known while the other is cut


def _touches(spot: _Place, first: int, end: int, size: int) -> bool:
    """Return whether a place differs where an old part has become a new one of this size."""
    if spot.size:
        return (first < spot.end and end > spot.first) or spot.first < first == end < spot.end
    return first <= spot.first <= end and size > end - first
