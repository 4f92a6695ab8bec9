"""The whole graph as arrays, for what is computed in memory: links, hosts, relevance, payouts, and columns.

Read in ranges of internal ids, each range in a transaction of its own, beside whatever else runs: an export is no
snapshot. Who writes back what follows from it must look again under the lock. Memory: 16 bytes a page and 4 bytes a
link; while it is made as much again, and what the ranges that are being read take as they come, some 50 bytes a link of
these. 100 million links of 10 million pages are .6 GB, and 1.1 GB while they are read.
Statements: exports/*.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from graphbrain.arrays import Floats, Ints
from graphbrain.graph.connection import ID_BITS, LARGEST_ID, Graph, Tx, intact
from graphbrain.places import find

__all__ = ["LinkTable", "Terms", "column", "in_ranges", "links", "over_all", "terms", "urls"]

RANGE = 20_000
"""Ids of one transaction."""
AT_ONCE = 2
"""Ranges read at the same time."""
T = TypeVar("T")

Progress = Callable[[int, int], None]
"""(pages done, pages in all, as far as is known)"""


@dataclass(frozen=True, slots=True)
class LinkTable:
    """Pages 0..n−1 and their links, by rows: the targets of page i are `targets[offsets[i] : offsets[i + 1]]`.

    `ids`: the internal id of each page, ascending. `offsets`: int64[n + 1]. `targets`: int32[links].
    """

    ids: Ints
    offsets: Ints
    targets: NDArray[np.int32]

    @property
    def pages(self) -> int:
        return len(self.ids)

    @property
    def links(self) -> int:
        return len(self.targets)

    def at(self, ids: Ints) -> Ints:
        """The places of ids; −1 for one that is not in the table."""
        return find(self.ids, ids)


@dataclass(frozen=True, slots=True)
class Terms:
    """Columns over the pages of a table, of what scores follow from besides the links.

    `hosts`: the number of each page's host, by the order of their names, −1 for a page that has gone meanwhile.
    `relevance`: nan where it is not known. `payout`: 1 where a page has none of its own.
    """

    hosts: NDArray[np.int32]
    relevance: Floats
    payout: Floats


def links(graph: Graph, progress: Progress = lambda *_: None) -> LinkTable:
    """All pages and links. Links to pages that came while it was read are left out."""

    def packed(first: int, row: Sequence[Any]) -> _Range:
        return _Range.of(first, *(np.array(numbers, dtype=np.int64) for numbers in row))

    return _table(list(over_all(graph, "exports/links", packed, progress)))


def over_all(
    graph: Graph, statement: str, make: Callable[[int, Sequence[Any]], T], progress: Progress = lambda *_: None
) -> Iterator[T]:
    """What `make` makes of the first id of each range of all pages, and of the only row of a statement of that range
    (`first`, `last`). It is called in other threads, and may raise Again."""
    last = graph.read(lambda tx: tx.one("exports/last_id")[0], "exports/last_id")
    total = 0 if last is None else last + 1

    def read(first: int) -> tuple[int, T]:
        def work(tx: Tx) -> T:
            return make(first, tx.one(statement, first=first, last=first + RANGE - 1))

        return first + RANGE, graph.read(work, statement)

    for end, part in _side_by_side(read, range(0, total, RANGE)):
        yield part
        progress(min(end, total), total)


@dataclass(frozen=True, slots=True)
class _Range:
    """Pages by their ids, ascending, how many links each has, and the ids of the targets, page by page, ascending."""

    ids: Ints
    counts: Ints
    targets: NDArray[np.uint32] | Ints

    @classmethod
    def of(cls, first: int, ids: Ints, pairs: Ints) -> _Range:
        """From packed pairs, (source - first) · 2^47 + target, in any order; all sources are among the pages."""
        pairs.sort()
        counts = np.bincount(find(ids, (pairs >> ID_BITS) + first), minlength=len(ids))
        pairs &= LARGEST_ID
        small = not len(pairs) or int(pairs.max()) < 1 << 32
        return cls(ids, counts, pairs.astype(np.uint32) if small else pairs)


def _table(ranges: list[_Range]) -> LinkTable:
    """The ranges as one table. Each is let go as soon as it is in: `ranges` is used up."""
    ids = np.concatenate([np.empty(0, dtype=np.int64), *(part.ids for part in ranges)])
    counts = np.concatenate([np.zeros(1, dtype=np.int64), *(part.counts for part in ranges)])
    targets = np.empty(int(counts.sum()), dtype=np.int32)
    pages = filled = 0
    ranges.reverse()
    while ranges:
        part = ranges.pop()
        places = find(ids, part.targets.astype(np.int64))
        known = places >= 0
        if not known.all():
            lost = np.repeat(np.arange(len(part.ids)), part.counts)[~known]
            counts[1 + pages : 1 + pages + len(part.ids)] -= np.bincount(lost, minlength=len(part.ids))
        pages += len(part.ids)
        targets[filled : filled + int(known.sum())] = places[known]
        filled += int(known.sum())
    return LinkTable(ids, np.cumsum(counts), targets[:filled])


def terms(graph: Graph, table: LinkTable) -> Terms:
    """Hosts, relevance and payouts of the pages of a table."""
    numbers: dict[str, int] = {}
    hosts = np.full(table.pages, -1, dtype=np.int32)
    relevance, payout = np.full(table.pages, np.nan), np.ones(table.pages)
    for rows in in_ranges(graph, "exports/terms", table.ids):
        ids = [page for _, pages, _ in rows for page in pages]
        known = [numbers.setdefault(name, len(numbers)) for name, _, _ in rows]
        hosts[table.at(np.array(ids))] = np.repeat(known, [len(pages) for _, pages, _ in rows])
        if own := [row for _, _, more in rows for row in more]:
            _fill(table, np.array(own, dtype=np.float64), relevance, payout)
    places = np.empty(len(numbers) + 1, dtype=np.int32)
    places[[numbers[name] for name in sorted(numbers)]] = np.arange(len(numbers))
    places[-1] = -1  # what a page that has gone is numbered by
    return Terms(places[hosts], relevance, payout)


def column(graph: Graph, table: LinkTable, name: str) -> Floats:
    """A property of the pages of a table that is a number; nan where they have none."""
    values = np.full(table.pages, np.nan)
    for rows in in_ranges(graph, "exports/column", table.ids, name=name):
        read = np.array(rows, dtype=np.float64)
        values[table.at(read[:, 0].astype(np.int64))] = read[:, 1]
    return values


def _fill(table: LinkTable, own: Floats, relevance: Floats, payout: Floats) -> None:
    """Into their places what pages have of their own: rows of [id, relevance or −1, payout or −1]."""
    places = table.at(own[:, 0].astype(np.int64))
    for column, read in ((relevance, own[:, 1]), (payout, own[:, 2])):
        column[places[read >= 0.0]] = read[read >= 0.0]


def urls(graph: Graph, ids: Ints) -> dict[int, str]:
    """Internal id → URL, of those of the pages that are there. Some hundred bytes a page."""
    return {page: url for rows in in_ranges(graph, "exports/urls", ids) for page, url in rows}


def in_ranges(graph: Graph, statement: str, ids: Ints, **params: Any) -> Iterator[list[list[Any]]]:
    """What a statement says of these pages, range by range; ranges of which nothing is left are passed over."""

    def read(first: int) -> list[list[Any]]:
        part = ids[first : first + RANGE].tolist()

        def work(tx: Tx) -> list[list[Any]]:
            rows: list[list[Any]] = tx.one(statement, ids=part, **params)[0]
            for row in rows:
                intact(*row)
            return rows

        return graph.read(work, statement)

    yield from filter(None, _side_by_side(read, range(0, len(ids), RANGE)))


def _side_by_side(read: Callable[[int], T], firsts: Iterable[int]) -> Iterator[T]:
    """What `read` makes of each range, in order: the server reads one while another is unpacked.

    No more are read ahead, for what they become before they are arrays takes much room.
    """
    with ThreadPoolExecutor(AT_ONCE) as pool:
        going: deque[Future[T]] = deque()
        for first in firsts:
            going.append(pool.submit(read, first))
            if len(going) > AT_ONCE:
                yield going.popleft().result()
        while going:
            yield going.popleft().result()
