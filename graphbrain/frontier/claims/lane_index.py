"""A learned index of the lanes of a queue that have pages.

One read of the index of waiting pages finds the first page between two lane numbers, and no other. So the numbers are
cut into ranges, and each read is of one range. If a page is found in lane l, its range ends with l, and the lanes after
l become another range. Ranges without pages are joined, and joined with the next range that has pages. Together the
ranges always cover all numbers. So a page that another process puts into any lane is found at once, or when the pages
before it in its range have their own ranges. If only the best page is wanted, the lanes of the frontier are one range,
because its first page is the best one. The ranges are kept in memory and are not stored.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from graphbrain.base.numeric.arrays import Floats
from graphbrain.schedule.lanes import FRONTIER_END, stretch

__all__ = ["EMPTY", "END", "UNKNOWN", "Ranges", "Remembered"]

END = 1 << 40
"""A number beyond all lanes."""
EMPTY, UNKNOWN = -1, -2
NEAR, FAR = 1 << 9, 1 << 16
"""The distance between the lanes of one value and those of the next, and between those of one promise and the next."""
WIDENING = (1, 2, 4, 8, 16, 32, 64)
MOST = 4_000
MOST_OF_ALL = 400_000
"""Most ranges of all queues that a process keeps in memory: some 50 MB."""

Heads = Sequence[tuple[int, float]]
"""(lane, waiting since) of the first pages in a range, in the order of the index."""


@dataclass(slots=True)
class Ranges:
    """The ranges of one queue, ascending: range i goes from `first[i]` to the next one's first.

    Attributes:
        first: The first lane of each range. Tuples are small: most queues have a handful of ranges, and a call reads
            the ranges of a hundred queues.
        lane: The lane of the range's first page, as last read, which is the last lane of the range. EMPTY: there was no
            page. UNKNOWN: it was never read.
        since: The time since which that page waited.
        turn: The range at which the next look begins.
        joined: The lanes of the frontier are always one range.
    """

    first: tuple[int, ...]
    lane: tuple[int, ...]
    since: tuple[float, ...]
    turn: int = 0
    joined: bool = False

    @classmethod
    def unknown(cls, joined: bool = False) -> Ranges:
        """Return the ranges of a queue that was not read yet."""
        return cls((0,), (UNKNOWN,), (0.0,), joined=joined)

    def __len__(self) -> int:
        return len(self.first)

    def _ends(self) -> tuple[int, ...]:
        """Return the exclusive upper ends of the lanes of each range."""
        return (*self.first[1:], END)

    def bounds(self, places: Iterable[int]) -> list[list[int]]:
        """Return [first, end) of the ranges at these places."""
        ends = self._ends()
        return [[self.first[index], ends[index]] for index in places]

    def choose(self, worth: Floats, most: int) -> Sequence[int]:
        """Return the indices of up to `most` ranges to read.

        Three quarters are those of the most worth. The others were never read, or are the next in turn, so that each
        range is read at some time. `worth`: of the first page of each range, by the last read.
        """
        if len(self) <= most:
            return range(len(self))
        quarter = max(1, most // 4)
        around = set(islice(self.never_seen(), quarter))
        if turns := [(self.turn + step) % len(self) for step in range(quarter - len(around))]:
            self.turn = (turns[-1] + 1) % len(self)
            around.update(turns)
        best = np.argsort(-worth, kind="stable")[: most - len(around)].tolist()
        return sorted(around.union(best))

    def never_seen(self) -> Iterator[int]:
        """Yield the indices of the ranges that were never read."""
        return (index for index, lane in enumerate(self.lane) if lane == UNKNOWN)

    def saw(self, places: Sequence[int], heads_read: Sequence[Heads], limit: int, few: int) -> Ranges:
        """Return the ranges after a read of those with the indices `places`.

        `heads_read`: the first pages that were found in each: at most `limit` if its end was known, else `few`.
        """
        lane, since = list(self.lane), list(self.since)
        for index, heads in zip(places, heads_read, strict=True):
            lane[index], since[index] = heads[0] if heads else (EMPTY, 0.0)
        if tuple(lane) == self.lane:  # the first pages have the same lanes: the ranges stay
            return Ranges(self.first, self.lane, tuple(since), self.turn, self.joined)
        seen = dict(zip(places, heads_read, strict=True))
        rows: list[tuple[int, int, float]] = []
        for index, (start, end, before) in enumerate(zip(self.first, self._ends(), self.lane, strict=True)):
            if lane[index] < 0 or index not in seen:
                _add(rows, start, lane[index], since[index])
            else:
                _add_cut(rows, start, end, seen[index], limit if before >= 0 else few, before >= 0, self.joined)
        if len(rows) > MOST:
            del rows[MOST:]
            rows[-1] = (rows[-1][0], UNKNOWN, 0.0)
        first, lanes, times = zip(*rows, strict=True)
        return Ranges(first, lanes, times, min(self.turn, len(rows) - 1), self.joined)


class Remembered:
    """A cache of the ranges of queues, for all threads of a process, with at most `most` ranges of all queues.

    A queue that was removed from the cache is learned again. No page is lost by that.
    """

    def __init__(self, most: int = MOST_OF_ALL) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._ranges: OrderedDict[str, Ranges] = OrderedDict()
        self._count = 0

    def __len__(self) -> int:
        """Return the number of ranges, of all queues together."""
        return self._count

    def of(self, queue: str) -> Ranges:
        """Return the ranges of a queue: one range if it is not in the cache."""
        with self._lock:
            ranges = self._ranges.get(queue)
            if ranges is None:
                return self._keep(queue, Ranges.unknown(joined=True))
            self._ranges.move_to_end(queue)
            return ranges

    def update(self, seen: Mapping[str, Ranges]) -> None:
        """Remember the ranges of these queues as they are now."""
        with self._lock:
            for queue, ranges in seen.items():
                self._keep(queue, ranges)

    def _keep(self, queue: str, ranges: Ranges) -> Ranges:
        before = self._ranges.pop(queue, None)
        self._count += len(ranges) - (0 if before is None else len(before))
        self._ranges[queue] = ranges
        while self._count > self._most and len(self._ranges) > 1:
            self._count -= len(self._ranges.popitem(last=False)[1])
        return ranges


def _add_cut(
    rows: list[tuple[int, int, float]], start: int, end: int, heads: Heads, limit: int, end_known: bool, joined: bool
) -> None:
    """Cut a range in which pages were found: after each of their lanes, and in the lanes after them, which may have
    more pages. If its last lane was known, they hardly have."""
    for lane, since in heads:
        if lane >= start:  # the first one in its lane
            _add(rows, start, lane, since)
            start = stretch(lane)[1] if joined else lane + 1
    if start < end and len(heads) < limit:
        _add(rows, start, EMPTY, 0.0)
    elif start < end:
        for cut in [start] if end_known or (joined and start <= FRONTIER_END) else _cuts(start, end):
            _add(rows, cut, UNKNOWN, 0.0)


def _cuts(start: int, end: int) -> list[int]:
    """Return the lanes at which to cut the range after a page that was found. Close to the page, where further pages
    are expected, the cuts are dense."""
    near, far = -(-start // NEAR) * NEAR, -(-start // FAR) * FAR
    cuts = {start, near, far, *(near + NEAR * step for step in WIDENING), *(far + FAR * step for step in WIDENING)}
    return sorted(cut for cut in cuts if start <= cut < end)


def _add(rows: list[tuple[int, int, float]], first: int, lane: int, since: float) -> None:
    """Add a range. If it and the one before it are empty, make one of both."""
    if lane != UNKNOWN and rows and rows[-1][1] == EMPTY:
        first = rows.pop()[0]
    rows.append((first, lane, since))
