"""A page's text as blocks: where it has changed since the last visit, and the probability that a difference is noise.

A block is a paragraph, a list item, a row of a table or a heading. A long block is cut into sentences. `cut` returns
the hashes of the blocks, in page order. Words, numbers and signs count, in their order; white space does not.

The sketch of a page is what the graph stores between visits. Its size is bounded (`LARGEST_SKETCH`) for pages of any
length. It has the hashes of the blocks, in page order. In a page of many blocks it has the hashes of groups of
neighbours; a group in which the page has differed is divided into smaller groups. The hashes of the blocks themselves
choose where a group begins, so an edit moves no other group. A visit aligns the stored row of hashes with the new row.
A part in which the rows differ is a place. The neighbours of a place locate it in later visits.

The sketch stores for each place the number of visits and the number of differences. Both are observations of the
probability that the place differs although the page has not changed. The prior of this probability is a Beta
distribution that depends on what differs (`PRIORS`), and the mean of the posterior is the probability of noise: an
advertisement, a quotation of the day, a banner that comes and goes. The sketch also stores hashes of the recent content
of a place: content that comes back there is more probably noise.

A place to which text is only added, as the head of a list of news, is a new place at each visit and does not count as a
place that differs often. If a place holds more blocks than ever before, text was added, and that counts as a change.
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
"""The version of blocks and sketches. Two versions are not compared."""
SINGLE, GROUPS, MOST = 96, 64, 112
"""The most blocks of a page whose sketch has single blocks; the most groups in the first sketch of a longer page; and
the most entries of any sketch."""
LARGEST_LEVEL, FINER = 20, 2
"""The largest level of groups, where a group of level n has about 2ⁿ blocks; and the number of levels between a group
and the groups into which it is divided."""
LONGEST_ROW = 500
"""The most entries of a row that is compared. A longer row has so many changes that it counts as a different page."""
MOST_PLACES = 8
NEAR, LIST_SIZE = 2, 3
"""The most entries between two differing parts that count as one place; and the least entries of a known place that
joins a near part. A smaller known place stays separate."""
FEW = 4
"""The least number of parts into which a group that has differed is divided."""
YOUNG = 3
"""The number of differences after which the full length of a place is known."""
MOST_MOVING = 0.75
"""The largest share of a page's words that may differ. Beyond it, the visit found a different page."""
PRIORS = {"token": (9.0, 1.0), "value": (0.2, 5.0), "number": (0.5, 1.0), "text": (0.5, 1.0)}
"""The prior observations of noise and of content in a place, by the kind of difference. `token`: only tokens and times
to the second differ. `value`: an amount, at most `SHORT` words, or at most `LONGEST_VALUE` words with the same first
word. `number`: only numbers and dates differ. `text`: anything else."""
POOLED = {"number": (1.0, 3.0), "text": (1.0, 20.0)}
"""Kind of difference → the Beta prior of how often content differs on the other pages of a section. The numbers of all
pages change at once more often than their texts. Values have no such prior, since all prices of a shop may change
together."""
MOST_MARKS = 12
"""The most marks of a group that differs."""
SHORT, LONGEST_VALUE = 3, 12
RETURNS = 3.0
"""The factor by which noise is more probable if content comes back that was in the place before."""
FORGOTTEN = 0.125
"""A place that differed in a smaller share of its visits is no longer stored."""
MOST_SEEN = 30
"""The most visits of a place; beyond it, its counts are halved."""

_BLOCK = np.dtype([("exact", "<u4"), ("bare", "u1"), ("loose", "u1"), ("label", "u1"), ("kind", "u1")])
_TOKEN, _AMOUNT, _LENGTH = 128, 64, 63
"""The bits of a block's kind: it has a token; it has an amount; and the number of its words, at most 63."""
_ENTRY = np.dtype([("exact", "<u2"), ("bare", "u1"), ("loose", "u1"), ("label", "u1")])
_PLACE = np.dtype(
    [
        *((name, "u1") for name in ("first", "size", "moved", "values", "seen", "most")),
        *((name, "<u2") for name in ("old", "older")),
    ]
)
LIST = ";"
"""The mark in the text of a list of blocks. The text of a sketch has the usual mark."""
LARGEST_SKETCH = len(packed(bytes(2 + MOST_PLACES * _PLACE.itemsize + MOST * _ENTRY.itemsize)))
"""The most characters of the stored text."""

# ---------------------------------------------------------------------- blocks of a text


def cut(texts: Iterable[str]) -> str | None:
    """Return the blocks of a page, from their texts in page order; None when the texts have no words."""
    words = Words.of(EDGE.join(texts))
    bounds = pieces(words)
    return hashed(outlined(words, bounds), bounds) if len(words.hashes) else None


def hashed(outlines: Outlines, bounds: npt.NDArray[np.int64]) -> str:
    """Return the blocks of a page as `cut` does, from the bounds and the outlines of its pieces."""
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
    """Return the blocks that `cut` has written; None for blocks of another version. Raise BadInput for any other
    text."""
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

    Attributes:
        first, size: The number of its first entry, and its number of entries.
        moved: The number of visits at which it differed.
        values: The number of visits at which it differed by a value.
        seen: The number of visits.
        most: The most entries that it has held. 0 for a group that has differed once: the place is in the group.
        old, older: The hashes of its last content, and of the content before that.
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
        """Return the probability that a difference of this kind is noise in this place. Differences of values are no
        evidence that the rest of the place is noise."""
        kind = "text" if kind == "value" and self.values < self.moved else kind
        noise, content = PRIORS[kind]
        moved = self.moved - (0 if kind in ("value", "token") else self.values)
        return (noise + moved) / (noise + content + self.seen)

    def counted(self, moved: bool, value: bool = False) -> _Place:
        """Return the place after another visit. `moved`: it differed; `value`: by a value. After many visits all counts
        are halved, so that recent visits weigh most."""
        divisor = 2 if self.seen >= MOST_SEEN else 1
        return replace(
            self,
            moved=self.moved // divisor + moved,
            values=self.values // divisor + value,
            seen=self.seen // divisor + 1,
        )


NOWHERE = _Place(0, 0, 0, 0, 0, 0, 0, 0)
"""A place that has never differed."""


@dataclass(frozen=True, slots=True)
class _Sketch:
    """The sketch of a page.

    Attributes:
        level: About the binary logarithm of the number of blocks in a group; 0 for single blocks.
        entries: The hashes of the groups or blocks, in page order.
        places: The places that have differed.
    """

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
    """Return the sketch from its stored text, or the first sketch of a list of blocks; None for any other text."""
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
    """Return whether a stored sketch has no places. False for None."""
    parsed = None if kept is None else _parsed(kept)
    return parsed is not None and not parsed.places


def _first(blocks: Rows) -> _Sketch:
    """Return the first sketch of a page with these blocks: it has no places."""
    level = 0
    while level < LARGEST_LEVEL and len(_groups(blocks, level)) > (GROUPS if level else SINGLE):
        level += 1
    return _Sketch(level, _entries(blocks, _groups(blocks, level)[:MOST]))


def _groups(blocks: Rows, level: int) -> Places:
    """Return the first blocks of the groups of this level. A block's own hash decides whether a group begins with it,
    so an edit moves no other group."""
    opens = (blocks["exact"] & np.uint32((1 << level) - 1)) == 0
    opens[:1] = True
    return np.flatnonzero(opens)


def _entries(blocks: Rows, begins: Places) -> Rows:
    """Return the hashes of the groups that begin with these blocks. The last bit of a hash shows a single block."""
    entries = np.empty(len(begins), dtype=_ENTRY)
    place = np.arange(len(blocks)) - np.repeat(begins, np.diff(begins, append=len(blocks)))
    ordered = mixed(blocks["exact"].astype(np.uint64)) * FACTORS.take(place & 255)
    is_single = np.diff(begins, append=len(blocks)) == 1
    entries["exact"] = (np.add.reduceat(ordered, begins) >> np.uint64(48)) & np.uint64(0xFFFE) | is_single
    for name in ("bare", "loose", "label"):
        entries[name] = np.add.reduceat(blocks[name], begins, dtype=np.uint8)
    return entries


# ---------------------------------------------------------------------- from visit to visit


@dataclass(frozen=True, slots=True)
class Difference:
    """A place where two visits differ.

    Attributes:
        probability: The probability that the difference is a change.
        content: The Beta prior of how often content differs there on other pages of the section (`POOLED`); None if
            other pages are no evidence.
        size: The number of blocks; 0 if the difference is in a group.
        marks: Hashes that identify the same place of the template on other pages: hashes of the blocks beside it, or of
            some blocks of its group.
    """

    probability: float
    content: tuple[float, float] | None
    size: int
    marks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class VisitStep:
    """The result of a visit.

    Attributes:
        probability: The probability that the page has changed since the last visit; None if the two visits cannot be
            compared.
        kept: The text of the sketch after the visit.
        where: The most probable change, as (first entry, number of entries before, number of entries now).
        differences: All differences; empty if the visit found a different page.
    """

    probability: float | None
    kept: str | None
    where: tuple[int, int, int] | None = None
    differences: tuple[Difference, ...] = ()


@lru_cache(maxsize=1024)
def step(old: str | None, new: str) -> VisitStep:
    """Return the result of a visit that found the blocks `new`. Blocks of another version are not compared and not
    stored.

    The result is cached, since the verdict and the record of a visit both need it.

    Args:
        old: The stored sketch, or the blocks, of the last visit; None if there are none.
        new: The blocks of this visit, as `cut` writes them.
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
    """A part in which two rows differ.

    Attributes:
        first, end: The part of the old row.
        now, now_end: The part of the new row.
        places: The known places in it.
        parts: The parts of the new row that were joined into this one, each with the kind of its difference (a key of
            `PRIORS`).
    """

    first: int
    end: int
    now: int
    now_end: int
    places: list[_Place]
    parts: list[tuple[int, int, str]]

    @property
    def kind(self) -> str:
        kinds = {kind for _, _, kind in self.parts}
        return kinds.pop() if len(kinds) == 1 else "text"

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
        return _Region(self.first, later.end, self.now, later.now_end, places, self.parts + later.parts)


class _Visit:
    """A visit to a page that was visited before."""

    def __init__(self, old: _Sketch, blocks: Rows) -> None:
        self._old = old
        self._blocks = blocks
        self._begins = self._row()
        self._new = _Sketch(old.level, _entries(blocks, self._begins))
        self._words = np.add.reduceat(blocks["kind"] & _LENGTH, self._begins, dtype=np.int64)
        self._moved = np.full(len(old.entries), -1)
        """The place of each old entry in the new row; −1 if it is not there."""

    def _row(self) -> Places:
        """Return the first blocks of the entries of the new row. Groups that the old row has stay whole. Other groups
        are divided again and again, down to single blocks."""
        entries = set(self._old.entries.tolist())
        return self._split(lambda begins: [e not in entries for e in _entries(self._blocks, begins).tolist()])

    def _split(self, which: Callable[[Places], Sequence[bool] | npt.NDArray[Any]]) -> Places:
        """Return the first blocks of groups. `which` returns a flag for each group: True if it is divided. It is asked
        again for the smaller groups."""
        level = self._old.level
        begins = _groups(self._blocks, level)[:MOST]
        while level:
            level = max(level - FINER, 0)
            cut = np.repeat(np.array(which(begins), dtype=bool), np.diff(begins, append=len(self._blocks)))
            smaller = _groups(self._blocks, level)
            begins = np.union1d(begins, smaller[cut[smaller]])
        return begins

    def step(self) -> VisitStep:
        # If most of the words differ, the visit found a different page.
        regions = self._regions() if len(self._begins) <= LONGEST_ROW else None
        words = [int(self._words[region.now : region.now_end].sum()) for region in regions or ()]
        if regions is None or sum(words) > MOST_MOVING * self._words.sum():
            return VisitStep(1.0, _first(self._blocks).text(), (0, len(self._blocks), len(self._blocks)))
        # Count the visit for the known places that do not differ.
        differing = {spot for region in regions for spot in (*region.places, self._group_of(region))}
        places = [stays for spot in self._old.places if spot not in differing and (stays := self._still(spot))]
        # Judge each region; the most probable change decides.
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
        """Yield the differences of a region. Single blocks are one difference; each group is a difference by itself,
        since a near group shows nothing about it. `likely`: the probability that the region has changed."""
        exact, bounds = self._blocks["exact"].astype(np.uint64), np.append(self._begins, len(self._blocks))

        def sides(first: int, end: int) -> npt.NDArray[np.uint64]:
            """Return the hashes of the blocks before and behind a part."""
            both = [exact[first - 1] if first else 0, exact[end] if end < len(exact) else 0]
            return np.array(both, dtype=np.uint64)

        # The blocks on both sides identify a place of single blocks.
        if _single(self._old.entries[region.first : region.end]):
            first, end = int(bounds[region.now]), int(bounds[region.now_end])
            size = max(region.end - region.first, end - first)
            marks = _marks(sides(first, end) * FACTORS[:2])
            yield Difference(likely, POOLED.get(region.kind), size, marks)
            # A value beside noise is a difference of its own until the place is known.
            if not region.places and any(kind == "value" for _, _, kind in region.parts):
                yield Difference(1 - NOWHERE.noise("value"), None, 0, ())
            return
        # Some of its blocks identify a group, too. A difference at its end is beside the next group.
        for now, now_end, kind in region.parts:
            first, end = int(bounds[now]), int(bounds[now_end])
            has_amount = (self._blocks["kind"][first:end] & _AMOUNT).any()
            chosen = np.sort(mixed(exact[first:end] * FACTORS[2]))[:MOST_MARKS]
            marks = _marks(np.append(chosen, mixed(sides(first, end) * FACTORS[2])))
            yield Difference(likely, None if has_amount and kind == "number" else POOLED.get(kind), 0, marks)

    def _kept(self, places: list[_Place]) -> _Sketch:
        """Return the sketch after the visit: single blocks in and beside the places that differ most often, and groups
        elsewhere."""
        places = sorted(places, key=lambda spot: -spot.moved / spot.seen)[:MOST_PLACES]
        bounds = np.append(self._begins, len(self._blocks))
        # Divide fewer groups, and then drop places, until the sketch fits.
        parts = LONGEST_ROW
        while True:
            begins = self._split(partial(_near, self._blocks, bounds, places, parts))
            if len(begins) <= MOST or not places:
                break
            if parts > FEW:
                parts //= 2
            else:
                places.pop()
        if len(begins) > MOST:
            return _first(self._blocks)
        # Number the places by the entries of the new sketch.
        numbered = []
        for spot in places:
            first = int(begins.searchsorted(bounds[spot.first], "right")) - (spot.first < len(self._begins))
            end = int(begins.searchsorted(bounds[spot.end]))
            numbered.append(replace(spot, first=first, size=max(end - first, 0)))
        return _Sketch(self._old.level, _entries(self._blocks, begins), tuple(numbered))

    def _regions(self) -> list[_Region]:
        regions: list[_Region] = []
        for first, end, now, now_end in self._spans():
            places = [spot for spot in self._old.places if spot.most and _touches(spot, first, end, now_end - now)]
            kind = self._kind(first, end, now, now_end)
            region = _Region(first, end, now, now_end, places, [(now, now_end, kind)])
            while regions and regions[-1].joins(region):
                region = regions.pop().joined(region)
            regions.append(region)
        return regions

    def _group_of(self, region: _Region) -> _Place | None:
        """Return the group that has differed once and that overlaps the region in the old row; None for no such
        group."""
        groups = [spot for spot in self._old.places if not spot.most]
        return next((spot for spot in groups if max(spot.first, region.first) < min(spot.end, region.end)), None)

    def _spans(self) -> Iterator[tuple[int, int, int, int]]:
        """Yield the parts that differ as (first, end) of the old row and (first, end) of the new row. Note the new
        places of all other entries in `_moved`."""
        # Skip the equal entries at the beginning and at the end, which is faster than the matcher.
        old, new = self._old.entries.tolist(), self._new.entries.tolist()
        head = 0
        while head < min(len(old), len(new)) and old[head] == new[head]:
            head += 1
        tail = 0
        while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
            tail += 1
        self._moved[:head] = np.arange(head)
        self._moved[len(old) - tail :] = np.arange(len(new) - tail, len(new))
        # Align the entries between them.
        middle = SequenceMatcher(None, old[head : len(old) - tail], new[head : len(new) - tail], autojunk=False)
        for what, first, end, now, now_end in middle.get_opcodes():
            if what == "equal":
                self._moved[head + first : head + end] = np.arange(head + now, head + now_end)
            else:
                yield head + first, head + end, head + now, head + now_end

    def _kind(self, first: int, end: int, now: int, now_end: int) -> str:
        """Return the kind of a difference, a key of `PRIORS`. The hashes of a group are the sums of the hashes of its
        blocks."""
        if first == end or now == now_end:
            return "text"
        old, new = self._old.entries[first:end], self._new.entries[now:now_end]
        last = self._begins[now_end] if now_end < len(self._begins) else len(self._blocks)
        kinds = self._blocks["kind"][self._begins[now] : last]

        def alike(name: str) -> bool:
            return int(old[name].sum(dtype=np.uint8)) == int(new[name].sum(dtype=np.uint8))

        # The sums of hashes decide for tokens, and for groups.
        if alike("bare") and (kinds & _TOKEN).any():
            return "token"
        if not _single(old):
            return "number" if alike("loose") else "value" if alike("label") else "text"
        # Single blocks are compared pair by pair.
        if not len(old) == len(new) == len(kinds):
            return "text"
        has_equal_words = old["loose"] == new["loose"]
        is_amount = has_equal_words & ((kinds & _AMOUNT) > 0)
        is_labelled = (old["label"] == new["label"]) & ~has_equal_words & (kinds & _LENGTH <= LONGEST_VALUE)
        is_short = len(kinds) == 1 and (kinds[0] & _LENGTH) <= SHORT and not has_equal_words[0]
        if (is_amount | is_labelled).all() or is_short:
            return "value"
        return "number" if has_equal_words.all() else "text"

    def _still(self, spot: _Place) -> _Place | None:
        """Return a place that does not differ, with its number in the new row; None if it is not found there, or
        differs too rarely to be stored."""
        before = int(self._moved[spot.first - 1]) if spot.first else -1
        first = int(self._moved[spot.first]) if spot.size else before + 1
        end = int(self._moved[spot.end - 1]) + 1 if spot.size else first
        is_lost = first < 0 or end < first or (not spot.size and spot.first > 0 and before < 0)
        spot = replace(spot.counted(False), first=first, size=end - first)
        return None if is_lost or spot.moved < FORGOTTEN * spot.seen else spot

    def _judged(self, region: _Region) -> tuple[_Place, float]:
        """Return the place of a region after this visit, and the probability that it has changed."""
        places = region.places
        group = None if places or region.kind == "value" else self._group_of(region)
        # The place with the most differences gives the probability of noise.
        first, end = region.low, region.high
        now, now_end = region.now - (region.first - first), region.now_end + (end - region.end)
        best = max(places, key=lambda spot: spot.moved, default=group or NOWHERE)
        noise = best.noise(region.kind)
        # Content that comes back is more probably noise.
        if best.moved - best.values > 1 and self._new.content(now, now_end) in (best.old, best.older):
            noise = RETURNS * noise / (1 + (RETURNS - 1) * noise)
        # A region that is larger than its places ever were holds something new.
        size = sum(spot.size for spot in places)
        most = max([end - first, *(spot.most for spot in places)])
        is_beyond = end - first - size > (size // 2 if best.moved <= YOUNG else 0)
        if places and (now_end - now > most or is_beyond):
            noise = min(noise, NOWHERE.noise("text"))
        # In a group, the place is not known yet.
        if not places and not _single(self._old.entries[first:end]):
            noise, most = min(noise, NOWHERE.noise(region.kind)), 0
        else:
            most = max(most, now_end - now)
        old_content, place = self._old.content(first, end), best.counted(True, region.kind == "value")
        return replace(place, first=now, size=now_end - now, most=most, old=old_content, older=best.old), 1 - noise


def _marks(hashes: npt.NDArray[np.uint64]) -> tuple[int, ...]:
    return tuple((mixed(hashes) >> np.uint64(48)).tolist())


def _single(entries: Rows) -> bool:
    """Return whether all of these entries are single blocks."""
    return bool((entries["exact"] & 1).all())


def _near(blocks: Rows, bounds: Places, places: Sequence[_Place], parts: int, begins: Places) -> npt.NDArray[Any]:
    """Return a flag for each group with these first blocks: True if it is divided.

    Groups in and beside a place are divided. A group that contains a place which is not located yet is divided until
    it has `parts` parts.
    """
    is_near = np.zeros(len(blocks), dtype=bool)
    for spot in places:
        first, end = bounds[spot.first], bounds[spot.end]
        if spot.most:
            is_near[max(first - 1, 0) : end + 1] = True
        elif spot.moved > 1 or begins.searchsorted(end) - begins.searchsorted(first) < parts:
            is_near[first:end] = True
    is_divided = np.logical_or.reduceat(is_near, begins)
    entries = _entries(blocks, begins)
    # Divide equal groups alike: the alignment could mistake one for the other.
    return is_divided | np.isin(entries, entries[is_divided])


def _touches(spot: _Place, first: int, end: int, size: int) -> bool:
    """Return whether a difference touches a place. `first`, `end`: the part of the old row; `size`: the number of new
    entries in its place."""
    if spot.size:
        return (first < spot.end and end > spot.first) or spot.first < first == end < spot.end
    return first <= spot.first <= end and size > end - first
