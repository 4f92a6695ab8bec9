"""The partition of a pass over all pages and their neighbours into transactions, as pure functions of arrays.

A transaction locks its pages and all their neighbours. Its cost is the number of locked pages, which is smaller if its
pages share neighbours. Therefore batches follow an order in which neighbours are close, and are as large as the cost
allows. Two transactions that lock the same page wait for each other. Therefore the pages are divided into shards, and a
page that would pay into another shard is deferred until all shards are done. The deferred pages are a shard, too. While
one worker does it, the others do pages that each shard has reserved for this time. The reserved pages share no
neighbour with the deferred ones.
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
"""The largest number of pieces. Shards are made of pieces. More pieces give better shards, but the matrix of the links
between them is dense."""
KEPT = 1.25
"""The reserved work of each worker, as a multiple of the work of the deferred pages. With more, too much is left for
the end. With less, workers have no work while one of them does the deferred pages."""
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
        """Return the number of links of each page in both directions."""
        return np.diff(self.offsets) + np.diff(self.back_offsets)

    @property
    def link_sources(self) -> Places:
        """Return the source of each link, in the order of `targets`. It is computed at each call."""
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
    """The largest cost of a batch, and the terms of the cost. A locked page costs 1, a settled page `page` more, and
    each end of a link `end`."""

    most: float
    page: float
    end: float

    def settling(self, ends: Ints) -> Floats:
        """Return the cost of pages with these numbers of links, without that of their locks."""
        return self.page + self.end * ends.astype(np.float64)


@dataclass(frozen=True, slots=True)
class Batch:
    """The pages of one transaction, in ascending order. It settles `pages`, and locks the `union` of these and their
    neighbours."""

    pages: Ints
    union: Ints


@dataclass(frozen=True, slots=True)
class Shard:
    """Pages to be settled in this order.

    Attributes:
        after: The numbers of the shards that must be done before, because they may share neighbours with this one. It
            shares none with the other shards that may run at the same time.
    """

    pages: Ints
    after: tuple[int, ...] = ()


class ShardTurns:
    """The choice of the next shard: the first one that has no worker and waits for no other shard."""

    def __init__(self, shards: Sequence[Shard]) -> None:
        self._waiting = {number: set(shard.after) for number, shard in enumerate(shards)}

    def take(self) -> int | None:
        """Return the number of the next shard for the caller to work on. None: the caller must wait for another
        worker."""
        number = next((number for number, after in self._waiting.items() if not after), None)
        if number is not None:
            del self._waiting[number]
        return number

    def back(self, number: int) -> None:
        """Give a shard back after one batch of it, because it has further batches."""
        self._waiting = dict(sorted([*self._waiting.items(), (number, set[int]())]))

    def through(self, number: int) -> None:
        """Record that this shard is done."""
        for after in self._waiting.values():
            after.discard(number)


def plan(near: ShardNeighbours, order: Ints, cost: Cost, count: int) -> list[Shard]:
    """Return the order as shards for `count` concurrent workers, the most urgent first.

    First come the shards of `cut`, then the pages that it defers because they have neighbours in several shards. One
    worker does these. For the others a part of each shard is reserved: `KEPT` times as much work for each worker. A
    worker that finishes its shard early continues with the reserved part of it.
    """
    # Compute how much work to reserve in each shard.
    *apart, deferred = cut(near, order, cost, count)
    locked, near_locked = _surroundings(near, deferred)
    work = cost.settling(near.degrees)
    enough = KEPT * (locked.sum() + work[deferred].sum()) * (count - 1) / count
    # Reserve the last pages of each shard that have no neighbour among the locked ones.
    first, later = [], []
    for number, shard in enumerate(apart):
        free = np.flatnonzero(~near_locked[shard])[::-1]
        many = int(np.searchsorted(np.cumsum(1.0 + work[shard[free]]), enough, side="right"))
        reserved = np.zeros(len(shard), dtype=np.bool_)
        reserved[free[:many]] = True
        first.append(Shard(shard[~reserved]))
        later.append(Shard(shard[reserved], after=(number,)))
    return [*first, Shard(deferred, after=tuple(range(count))), *later]


def _surroundings(near: ShardNeighbours, pages: Ints) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return two masks: these pages with their neighbours, which a transaction on them locks, and all of those with
    their neighbours."""
    sources = near.link_sources

    def with_neighbours(some: NDArray[np.bool_]) -> NDArray[np.bool_]:
        mask = some.copy()
        mask[near.targets[some[sources]]] = True
        mask[sources[some[near.targets]]] = True
        return mask

    chosen = np.zeros(len(near.offsets) - 1, dtype=np.bool_)
    chosen[pages] = True
    locked = with_neighbours(chosen)
    return locked, with_neighbours(locked)


def cut(near: ShardNeighbours, order: Ints, cost: Cost, count: int) -> list[Ints]:
    """Return the order in `count` shards of similar `cost`, followed by the deferred pages.

    Pages of different shards are no neighbours, and have no neighbour in common. Each shard keeps the order. The
    deferred pages may have any neighbours.
    """
    # Each page is locked at least once; the exact number is not known yet.
    work = 1.0 + cost.settling(near.degrees)
    sources = near.link_sources
    shard = _cut(sources, near.targets, order, work, count)
    # Only the pages of its home may lock a page: defer pages that are in another shard, or would lock such a page.
    home = _busiest(near, shard, sources, count)
    deferred = shard != home
    deferred[sources[shard[sources] != home[near.targets]]] = True
    deferred[near.targets[shard[near.targets] != home[sources]]] = True
    kept = [order[(shard[order] == number) & ~deferred[order]] for number in range(count)]
    return [*kept, order[deferred[order]]]


def _cut(sources: Places, targets: Places, order: Ints, work: Floats, count: int) -> NDArray[np.int8]:
    """Return the shard of each page before pages are deferred. The shards have similar work and few links between them.

    The order is cut into pieces. The pieces are sorted so that those that link to each other are close, by the second
    eigenvector of the random walk on them (M. Fiedler, "Algebraic connectivity of graphs", Czech. Math. J. 23, 1973; as
    for normalized cuts: J. Shi, J. Malik, PAMI 22, 2000, section 2.1). On cnr-2000 this defers a third fewer pages than
    cuts of the order itself, and they lock a quarter fewer pages.
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
    """Return the number 0..count−1 of the part that each element belongs to, if a row is cut into parts of similar
    work."""
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
    """Return for each page the shard that has the most of the page and its neighbours. These pages would lock it."""
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
    # The running sum of the costs of settling is a lower bound of the costs of batches.
    at_least = np.cumsum(cost.settling(near.degrees[order]))
    first_seen = np.empty(len(near.offsets) - 1, dtype=np.int64)
    first = 0
    while first < len(order):
        # Lock as many pages as the lower bound allows.
        before, most = at_least[first - 1] if first else 0.0, cost.most * share()
        last = max(first + 1, int(np.searchsorted(at_least, before + most, side="right")))
        pages = order[first:last]
        locked, ends = _locked(near, pages)
        # Count each locked page once, and end the batch where the full cost is too large. The assignment runs from the
        # end, so that a page that occurs several times keeps its first place.
        first_seen[locked[::-1]] = np.arange(len(locked))[::-1]
        new = first_seen[locked] == np.arange(len(locked))
        spent: Floats = np.cumsum(new)[ends - 1] + (at_least[first:last] - before)
        count = max(1, int(np.searchsorted(spent, most, side="right")))
        yield Batch(np.sort(pages[:count]), np.sort(locked[: ends[count - 1]][new[: ends[count - 1]]]))
        first += count


def _locked(near: ShardNeighbours, pages: Ints) -> tuple[Ints, Ints]:
    """Return each page followed by all its neighbours, in one row, and the end of each of these groups in the row."""
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
