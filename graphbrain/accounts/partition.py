"""How a pass over all pages and their neighbours is cut into transactions: pure functions of arrays.

A transaction locks its pages and all their neighbours. What it costs is the pages it locks, which are the fewer the
more of its pages' neighbours they share; so batches follow an order in which neighbours are near to each other, and
are as large as what they lock allows. Two transactions that lock the same page wait for each other; so the pages are
cut into shards, and a page that would pay into another shard is put off until all shards are through. What is put off
is a shard, too: beside it are done pages of the others that were kept for that, far enough from all it locks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphbrain import csr
from graphbrain.arrays import Floats, Ints
from graphbrain.csr import Places

__all__ = ["Batch", "Cost", "Neighbours", "Places", "Shard", "Turns", "batches", "cut", "plan"]

PIECES = 256
"""Shards are made of at most so many pieces. More cut finer, but the matrix of the links between them is dense."""
KEPT = 1.25
"""How much work is kept back to be done beside what was put off, as a multiple of that. With more, too much is left for
the end; with less, workers run out of work while one of them does what was put off."""
LINKS_AT_ONCE = 10_000_000
"""Links counted at once, so that it takes little memory."""


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The links of pages 0..n−1 both ways: page i links to `targets[offsets[i] : offsets[i + 1]]`, and
    `sources[back_offsets[i] : back_offsets[i + 1]]` link to it."""

    offsets: Ints
    targets: Places
    back_offsets: Ints
    sources: Places

    @classmethod
    def of(cls, offsets: Ints, targets: Places) -> Neighbours:
        """From the links of each page."""
        return cls(offsets, targets, *csr.transposed(offsets, targets))

    @property
    def degrees(self) -> Ints:
        """Link ends of each page, out and in."""
        return np.diff(self.offsets) + np.diff(self.back_offsets)

    @property
    def link_sources(self) -> Places:
        """The page that each of the `targets` is linked from; made anew each time."""
        return np.repeat(np.arange(len(self.offsets) - 1, dtype=np.int32), np.diff(self.offsets))

    def out(self, pages: Ints) -> tuple[Ints, Places]:
        """Sources and targets of the links of these pages."""
        count = np.diff(self.offsets)[pages]
        return np.repeat(pages, count), self.targets[_runs(self.offsets[pages], count)]

    def into(self, pages: Ints) -> tuple[Places, Ints]:
        """Sources and targets of the links to these pages."""
        count = np.diff(self.back_offsets)[pages]
        return self.sources[_runs(self.back_offsets[pages], count)], np.repeat(pages, count)


@dataclass(frozen=True, slots=True)
class Cost:
    """What a batch may cost, and what things cost: a page that is locked 1, one that is settled `page` more, the end of
    a link `end`."""

    most: float
    page: float
    end: float

    def settling(self, ends: Ints) -> Floats:
        """Of pages with so many ends of links each, but for what they lock."""
        return self.page + self.end * ends.astype(np.float64)


@dataclass(frozen=True, slots=True)
class Batch:
    """`pages` and, with them, all their neighbours: both ascending."""

    pages: Ints
    union: Ints


@dataclass(frozen=True, slots=True)
class Shard:
    """Pages to be settled in this order, `after` the shards of these numbers, with which it may share neighbours. With
    all others that may be under way at the same time it shares none."""

    pages: Ints
    after: tuple[int, ...] = ()


class Turns:
    """Which shard is next: the first that nobody works on and that waits for no other shard."""

    def __init__(self, shards: Sequence[Shard]) -> None:
        self._waiting = {number: set(shard.after) for number, shard in enumerate(shards)}

    def take(self) -> int | None:
        """The number of the next shard, which the caller works on from now on; None: wait until another is back."""
        number = next((number for number, after in self._waiting.items() if not after), None)
        if number is not None:
            del self._waiting[number]
        return number

    def back(self, number: int) -> None:
        """A batch of this shard is done, and another is to come."""
        self._waiting = dict(sorted([*self._waiting.items(), (number, set[int]())]))

    def through(self, number: int) -> None:
        """This shard is through."""
        for after in self._waiting.values():
            after.discard(number)


def plan(near: Neighbours, order: Ints, cost: Cost, count: int) -> list[Shard]:
    """The order as shards for `count` workers side by side, the most urgent first.

    First come the shards that `cut` makes, then the pages that it puts off because they have neighbours in several
    shards. One worker does these; for the others a part of each shard is kept back, KEPT times as much work for each of
    them. A worker that has finished its shard early goes on with what was kept back of it.
    """
    *apart, late = cut(near, order, cost, count)
    taken, touched = _surroundings(near, late)
    work = cost.settling(near.degrees)
    enough = KEPT * (taken.sum() + work[late].sum()) * (count - 1) / count
    first, later = [], []
    for number, shard in enumerate(apart):
        free = np.flatnonzero(~touched[shard])[::-1]
        many = int(np.searchsorted(np.cumsum(1.0 + work[shard[free]]), enough, side="right"))
        kept = np.zeros(len(shard), dtype=np.bool_)
        kept[free[:many]] = True
        first.append(Shard(shard[~kept]))
        later.append(Shard(shard[kept], after=(number,)))
    return [*first, Shard(late, after=tuple(range(count))), *later]


def _surroundings(near: Neighbours, pages: Ints) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Two masks: the pages that these lock, which are they and their neighbours; and all pages that would lock any of
    those."""
    sources = near.link_sources

    def grown(from_here: NDArray[np.bool_]) -> NDArray[np.bool_]:
        found = from_here.copy()
        found[near.targets[from_here[sources]]] = True
        found[sources[from_here[near.targets]]] = True
        return found

    late = np.zeros(len(near.offsets) - 1, dtype=np.bool_)
    late[pages] = True
    locked = grown(late)
    return locked, grown(locked)


def cut(near: Neighbours, order: Ints, cost: Cost, count: int) -> list[Ints]:
    """The order cut into `count` shards of like `cost`, and what is put off: no page of one shard is, or is a neighbour
    of, any neighbour of another shard's page. Each keeps the order; the last is what is put off, and may hold anything.
    """
    # Each page is locked at least once; how often is not known yet.
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
    """The shard of each page, before any is put off: all shards have like work, and few links from one to another.

    The order is cut into pieces, and these are put in a row in which those that link to each other are close: by the
    second eigenvector of the random walk on them (M. Fiedler, "Algebraic connectivity of graphs", Czech. Math. J. 23,
    1973; as for normalized cuts: J. Shi, J. Malik, PAMI 22, 2000, section 2.1). On cnr-2000 a third fewer pages are put
    off than where the order itself is cut, and they lock a quarter less.
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
    """0..count−1, ascending: a row cut into so many parts of like work."""
    done = np.cumsum(work)
    return np.searchsorted(work.sum() * np.arange(1, count) / count, done, side="left")


def _linked(piece: Places, pieces: int, sources: Places, targets: Places) -> Floats:
    """How many links there are between each two pieces."""
    links = np.zeros(pieces * pieces, dtype=np.int64)
    for first in range(0, len(targets), LINKS_AT_ONCE):
        part = slice(first, first + LINKS_AT_ONCE)
        links += np.bincount(piece[sources[part]] * pieces + piece[targets[part]], minlength=len(links))
    there = links.reshape(pieces, pieces)
    found: Floats = (there + there.T).astype(np.float64)
    return found


def _fiedler(links: Floats) -> Floats:
    """The second eigenvector of the random walk on this symmetric matrix."""
    scale = 1.0 / np.sqrt(links.sum(axis=1) + 1e-9)
    found: Floats = np.linalg.eigh(links * scale * scale[:, None]).eigenvectors[:, -2] * scale
    return found


def _busiest(near: Neighbours, shard: NDArray[np.int8], sources: Places, count: int) -> NDArray[np.int8]:
    """Of each page, the shard with most of the pages that would lock it."""
    home = np.zeros(len(shard), dtype=np.int8)
    most = np.zeros(len(shard))
    for number in range(count):
        there = shard == number
        locks = there + np.bincount(near.targets[there[sources]], minlength=len(shard))
        locks += np.bincount(sources[there[near.targets]], minlength=len(shard))
        more = locks > most
        home[more], most[more] = number, locks[more]
    return home


def batches(near: Neighbours, order: Ints, cost: Cost, share: Callable[[], float] = lambda: 1.0) -> Iterator[Batch]:
    """The pages of `order` in batches, each as large as `cost` allows, but of one page at least.

    `share`: asked before each batch, how much it may cost of the most that is allowed.
    """
    at_least = np.cumsum(cost.settling(near.degrees[order]))
    first_seen = np.empty(len(near.offsets) - 1, dtype=np.int64)
    first = 0
    while first < len(order):
        before, most = at_least[first - 1] if first else 0.0, cost.most * share()
        last = max(first + 1, int(np.searchsorted(at_least, before + most, side="right")))
        pages = order[first:last]
        locked, ends = _locked(near, pages)
        # Written from the end: of a page that occurs several times, its first place stays.
        first_seen[locked[::-1]] = np.arange(len(locked))[::-1]
        new = first_seen[locked] == np.arange(len(locked))
        spent: Floats = np.cumsum(new)[ends - 1] + (at_least[first:last] - before)
        count = max(1, int(np.searchsorted(spent, most, side="right")))
        yield Batch(np.sort(pages[:count]), np.sort(locked[: ends[count - 1]][new[: ends[count - 1]]]))
        first += count


def _locked(near: Neighbours, pages: Ints) -> tuple[Ints, Ints]:
    """Each page followed by all its neighbours, in one row; and where the next page begins."""
    out, into = np.diff(near.offsets)[pages], np.diff(near.back_offsets)[pages]
    ends = np.cumsum(1 + out + into)
    row = np.empty(int(ends[-1]), dtype=np.int64)
    begin = ends - (1 + out + into)
    row[begin] = pages
    row[_runs(begin + 1, out)] = near.targets[_runs(near.offsets[pages], out)]
    row[_runs(begin + 1 + out, into)] = near.sources[_runs(near.back_offsets[pages], into)]
    return row, ends


def _runs(begin: Ints, length: Ints) -> Ints:
    """begin, begin + 1, … of each, `length` numbers long, one after another."""
    before = np.cumsum(length) - length
    runs: Ints = np.repeat(begin - before, length) + np.arange(int(length.sum()))
    return runs
