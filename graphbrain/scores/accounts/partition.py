"""The partition of a pass over all pages and their neighbours into transactions, as pure functions of arrays.

A transaction locks its pages and all their neighbours. Its cost is the number of locked pages, which is smaller if its
pages share neighbours. Therefore batches follow an order in which neighbours are close, and are as large as the cost
allows. Two transactions that lock the same page wait for each other. Therefore the pages are divided into shards, and a
page that would pay into another shard is deferred until all shards are done. The deferred pages are a shard too.
Meanwhile other workers do pages of the other shards that were reserved for this, far enough from all that it locks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphbrain.base.numeric import csr
from graphbrain.base.numeric.arrays import Floats, Ints
from graphbrain.base.numeric.csr import Places

__all__ = ["Batch", "Cost", "Places", "Shard", "ShardNeighbours", "ShardTurns", "batches", "cut", "plan"]

PIECES = 256
"""The largest number of pieces of which shards are made. More pieces cut finer, but the matrix of the links between
them is dense."""
KEPT = 1.25
"""The amount of work that is reserved to be done beside the deferred pages, as a multiple of these. With more, too much
is left for the end; with less, workers have no work while one of them does the deferred pages."""
LINKS_AT_ONCE = 10_000_000
"""The number of links that are counted at once, which bounds the memory."""


@dataclass(frozen=True, slots=True)
class ShardNeighbours:
    """The links of pages 0..n−1 in both directions.

    Page i links to `targets[offsets[i] : offsets[i + 1]]`, and `sources[back_offsets[i] : back_offsets[i + 1]]` link to
    it.
    """

    offsets: Ints
    targets: Places
    back_offsets: Ints
    sources: Places

    @classmethod
    def of(cls, offsets: Ints, targets: Places) -> ShardNeighbours:
        """Return both directions of the links of each page."""
        return cls(offsets, targets, *csr.transposed(offsets, targets))

    @property
    def degrees(self) -> Ints:
        """Return the number of link ends of each page, out and in."""
        return np.diff(self.offsets) + np.diff(self.back_offsets)

    @property
    def link_sources(self) -> Places:
        """Return the page that each of the `targets` is linked from. It is computed at each call."""
        return np.repeat(np.arange(len(self.offsets) - 1, dtype=np.int32), np.diff(self.offsets))

    def out(self, pages: Ints) -> tuple[Ints, Places]:
        """Return sources and targets of the links of these pages."""
        count = np.diff(self.offsets)[pages]
        return np.repeat(pages, count), self.targets[_runs(self.offsets[pages], count)]

    def into(self, pages: Ints) -> tuple[Places, Ints]:
        """Return sources and targets of the links to these pages."""
        count = np.diff(self.back_offsets)[pages]
        return self.sources[_runs(self.back_offsets[pages], count)], np.repeat(pages, count)


@dataclass(frozen=True, slots=True)
class Cost:
    """The largest cost of a batch, and its terms: a locked page costs 1, a settled one `page` more, a link end
    `end`."""

    most: float
    page: float
    end: float

    def settling(self, ends: Ints) -> Floats:
        """Return the cost of pages with so many link ends each, without that of their locks."""
        return self.page + self.end * ends.astype(np.float64)


@dataclass(frozen=True, slots=True)
class Batch:
    """One transaction: its `pages`, and all pages that it locks with them; both ascending."""

    pages: Ints
    union: Ints


@dataclass(frozen=True, slots=True)
class Shard:
    """Pages to be settled in this order, `after` the shards of these numbers, with which it may share neighbours. It
    shares none with the other shards that may run at the same time."""

    pages: Ints
    after: tuple[int, ...] = ()


class ShardTurns:
    """The choice of the next shard: the first one without a worker that waits for no other shard."""

    def __init__(self, shards: Sequence[Shard]) -> None:
        self._waiting = {number: set(shard.after) for number, shard in enumerate(shards)}

    def take(self) -> int | None:
        """Return the number of the next shard, which the caller works on from now on; None: wait for another worker."""
        number = next((number for number, after in self._waiting.items() if not after), None)
        if number is not None:
            del self._waiting[number]
        return number

    def back(self, number: int) -> None:
        """Return a shard after one batch; further batches follow."""
        self._waiting = dict(sorted([*self._waiting.items(), (number, set[int]())]))

    def through(self, number: int) -> None:
        """Record that this shard is done."""
        for after in self._waiting.values():
            after.discard(number)


def plan(near: ShardNeighbours, order: Ints, cost: Cost, count: int) -> list[Shard]:
    """Return the order as shards for `count` concurrent workers, the most urgent first.

    First come the shards of `cut`, then the pages that it defers because they have neighbours in several shards. One
    worker does these. For the others a part of each shard is reserved, KEPT times as much work for each of them. A
    worker that finishes its shard early continues with the reserved part of it.
    """
    *apart, late = cut(near, order, cost, count)
    covered, touched = _surroundings(near, late)
    work = cost.settling(near.degrees)
    enough = KEPT * (covered.sum() + work[late].sum()) * (count - 1) / count
    first, later = [], []
    for number, shard in enumerate(apart):
        free = np.flatnonzero(~touched[shard])[::-1]
        many = int(np.searchsorted(np.cumsum(1.0 + work[shard[free]]), enough, side="right"))
        kept = np.zeros(len(shard), dtype=np.bool_)
        kept[free[:many]] = True
        first.append(Shard(shard[~kept]))
        later.append(Shard(shard[kept], after=(number,)))
    return [*first, Shard(late, after=tuple(range(count))), *later]


def _surroundings(near: ShardNeighbours, pages: Ints) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return two masks: the pages that these lock (they and their neighbours), and all pages that would lock any of
    those."""
    sources = near.link_sources

    def grown(from_here: NDArray[np.bool_]) -> NDArray[np.bool_]:
        mask = from_here.copy()
        mask[near.targets[from_here[sources]]] = True
        mask[sources[from_here[near.targets]]] = True
        return mask

    late = np.zeros(len(near.offsets) - 1, dtype=np.bool_)
    late[pages] = True
    locked = grown(late)
    return locked, grown(locked)


def cut(near: ShardNeighbours, order: Ints, cost: Cost, count: int) -> list[Ints]:
    """Return the order in `count` shards of similar `cost`, and the deferred pages.

    No page of one shard is a neighbour of a neighbour of another shard's page, or is such a neighbour itself. Each
    shard keeps the order. The last one holds the deferred pages, which may be any.
    """
    # Each page is locked at least once; the exact number is not known yet.
    work = 1.0 + cost.settling(near.degrees)
    sources = near.link_sources
    shard = _cut(sources, near.targets, order, work, count)
    home = _busiest(near, shard, sources, count)
    away = shard != home
    away[sources[shard[sources] != home[near.targets]]] = True
    away[near.targets[shard[near.targets] != home[sources]]] = True
    kept = [order[(shard[order] == number) & ~away[order]] for number in range(count)]
    return [*kept, order[away[order]]]


def _cut(sources: Places, targets: Places, order: Ints, work: Floats, count: int) -> NDArray[np.int8]:
    """Return the shard of each page before any is deferred: shards of similar work with few links between them.

    The order is cut into pieces. The pieces are put into a row in which those that link to each other are close, by the
    second eigenvector of the random walk on them (M. Fiedler, "Algebraic connectivity of graphs", Czech. Math. J. 23,
    1973; as for normalized cuts: J. Shi, J. Malik, PAMI 22, 2000, section 2.1). On cnr-2000 this defers a third fewer
    pages than cutting the order itself, and they lock a quarter less.
    """
    pieces = max(2, min(PIECES, len(order)))
    piece = np.empty(len(order), dtype=np.int32)
    piece[order] = _even(work[order], pieces)
    size = np.bincount(piece, work, pieces).astype(np.float64)
    shard = np.empty(pieces, dtype=np.int8)
    row = np.argsort(_fiedler(_linked(piece, pieces, sources, targets)), kind="stable")
    shard[row] = _even(size[row], count)
    return shard[piece]


def _even(work: Floats, count: int) -> Ints:
    """Return 0..count−1, ascending, as the parts of a row that have similar work."""
    done = np.cumsum(work)
    return np.searchsorted(work.sum() * np.arange(1, count) / count, done, side="left")


def _linked(piece: Places, pieces: int, sources: Places, targets: Places) -> Floats:
    """Return the number of links between each two pieces."""
    links = np.zeros(pieces * pieces, dtype=np.int64)
    for first in range(0, len(targets), LINKS_AT_ONCE):
        part = slice(first, first + LINKS_AT_ONCE)
        links += np.bincount(piece[sources[part]] * pieces + piece[targets[part]], minlength=len(links))
    there = links.reshape(pieces, pieces)
    both_ways: Floats = (there + there.T).astype(np.float64)
    return both_ways


def _fiedler(links: Floats) -> Floats:
    """Return the second eigenvector of the random walk on this symmetric matrix."""
    scale = 1.0 / np.sqrt(links.sum(axis=1) + 1e-9)
    vector: Floats = np.linalg.eigh(links * scale * scale[:, None]).eigenvectors[:, -2] * scale
    return vector


def _busiest(near: ShardNeighbours, shard: NDArray[np.int8], sources: Places, count: int) -> NDArray[np.int8]:
    """Return for each page the shard with most of the pages that would lock it."""
    home = np.zeros(len(shard), dtype=np.int8)
    most = np.zeros(len(shard))
    for number in range(count):
        there = shard == number
        locks = there + np.bincount(near.targets[there[sources]], minlength=len(shard))
        locks += np.bincount(sources[there[near.targets]], minlength=len(shard))
        more = locks > most
        home[more], most[more] = number, locks[more]
    return home


def batches(
    near: ShardNeighbours, order: Ints, cost: Cost, share: Callable[[], float] = lambda: 1.0
) -> Iterator[Batch]:
    """Yield the pages of `order` in batches, each as large as `cost` allows and of at least one page.

    `share` is called before each batch, and returns the usable share of the largest cost.
    """
    at_least = np.cumsum(cost.settling(near.degrees[order]))
    first_seen = np.empty(len(near.offsets) - 1, dtype=np.int64)
    first = 0
    while first < len(order):
        before, most = at_least[first - 1] if first else 0.0, cost.most * share()
        last = max(first + 1, int(np.searchsorted(at_least, before + most, side="right")))
        pages = order[first:last]
        locked, ends = _locked(near, pages)
        # The assignment runs from the end, so a page that occurs several times keeps its first place.
        first_seen[locked[::-1]] = np.arange(len(locked))[::-1]
        new = first_seen[locked] == np.arange(len(locked))
        spent: Floats = np.cumsum(new)[ends - 1] + (at_least[first:last] - before)
        count = max(1, int(np.searchsorted(spent, most, side="right")))
        yield Batch(np.sort(pages[:count]), np.sort(locked[: ends[count - 1]][new[: ends[count - 1]]]))
        first += count


def _locked(near: ShardNeighbours, pages: Ints) -> tuple[Ints, Ints]:
    """Return each page followed by all its neighbours, in one row, and the start of each page in it."""
    out, into = np.diff(near.offsets)[pages], np.diff(near.back_offsets)[pages]
    ends = np.cumsum(1 + out + into)
    row = np.empty(int(ends[-1]), dtype=np.int64)
    begin = ends - (1 + out + into)
    row[begin] = pages
    row[_runs(begin + 1, out)] = near.targets[_runs(near.offsets[pages], out)]
    row[_runs(begin + 1 + out, into)] = near.sources[_runs(near.back_offsets[pages], into)]
    return row, ends


def _runs(begin: Ints, length: Ints) -> Ints:
    """Return begin, begin + 1, … for each `begin`, `length` numbers long, one run after another."""
    before = np.cumsum(length) - length
    runs: Ints = np.repeat(begin - before, length) + np.arange(int(length.sum()))
    return runs
