"""Exports of the whole graph as arrays for computations in memory: links, hosts, relevance, payouts, columns.

An export reads ranges of internal ids, each in a transaction of its own, while other transactions run: it is no
snapshot. A process that writes results back must read again under the lock. The memory is 16 bytes a page and 4 bytes a
link for the result, the same again during construction, and some 50 bytes a link of the ranges that are being read. For
100 million links of 10 million pages this is .6 GB, and 1.1 GB during the reading. Statements: exports/*.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from graphbrain.base.numeric.arrays import Floats, Ints
from graphbrain.base.numeric.ids import find
from graphbrain.graph.connection import ID_BITS, LARGEST_ID, Reads, Tx, intact

__all__ = ["LinkTable", "ScoreTerms", "column", "in_ranges", "links", "over_all", "terms", "urls"]

RANGE = 20_000
"""The number of ids in one transaction."""
AT_ONCE = 2
"""The number of ranges that are read at the same time."""
T = TypeVar("T")

Progress = Callable[[int, int], None]
"""Is called with the pages done and the pages in all, as far as known."""


@dataclass(frozen=True, slots=True)
class LinkTable:
    """Pages 0..n−1 and their links, by rows: the targets of page i are `targets[offsets[i] : offsets[i + 1]]`.

    Attributes:
        ids: int64[n]; the internal id of each page, ascending.
        offsets: int64[n + 1].
        targets: int32[links].
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
        """Return the places of ids, and −1 for an id that is not in the table."""
        return find(self.ids, ids)


@dataclass(frozen=True, slots=True)
class ScoreTerms:
    """Columns over the pages of a table: the terms of scores besides the links.

    Attributes:
        hosts: The number of each page's host in the order of their names; −1 for a page that has been deleted since.
        relevance: nan if unknown.
        payout: 1 if a page has none of its own.
    """

    hosts: NDArray[np.int32]
    relevance: Floats
    payout: Floats


def links(graph: Reads, progress: Progress = lambda *_: None, types: Sequence[str] = ()) -> LinkTable:
    """Return all pages and links, with temporary redirects, as accounts count them; or those of some types. Links to
    pages that were created during the reading are left out."""

    def packed(first: int, row: Sequence[Any]) -> _Range:
        return _Range.of(first, *(np.array(numbers, dtype=np.int64) for numbers in row))

    if types:
        return _table(list(over_all(graph, "exports/links_of", packed, progress, types=list(types))))
    return _table(list(over_all(graph, "exports/links", packed, progress)))


def over_all(
    graph: Reads,
    statement: str,
    make: Callable[[int, Sequence[Any]], T],
    progress: Progress = lambda *_: None,
    **params: Any,
) -> Iterator[T]:
    """Yield the results of `make` for each range of all pages.

    `make` gets the first id of the range and the only row of the statement for it (`first`, `last`). It runs in other
    threads, and may raise Again.
    """
    last = graph.read(lambda tx: tx.one("exports/last_id")[0], "exports/last_id")
    total = 0 if last is None else last + 1

    def read(first: int) -> tuple[int, T]:
        def work(tx: Tx) -> T:
            return make(first, tx.one(statement, first=first, last=first + RANGE - 1, **params))

        return first + RANGE, graph.read(work, statement)

    for end, part in _side_by_side(read, range(0, total, RANGE)):
        yield part
        progress(min(end, total), total)


@dataclass(frozen=True, slots=True)
class _Range:
    """Pages by ascending id, the number of links of each, and the ids of the targets, page by page, ascending."""

    ids: Ints
    counts: Ints
    targets: NDArray[np.uint32] | Ints

    @classmethod
    def of(cls, first: int, ids: Ints, pairs: Ints) -> _Range:
        """Return a range from packed pairs, (source - first) · 2^47 + target, in any order. All sources are among the
        pages."""
        pairs.sort()
        counts = np.bincount(find(ids, (pairs >> ID_BITS) + first), minlength=len(ids))
        pairs &= LARGEST_ID
        small = not len(pairs) or int(pairs.max()) < 1 << 32
        return cls(ids, counts, pairs.astype(np.uint32) if small else pairs)


def _table(ranges: list[_Range]) -> LinkTable:
    """Return the ranges as one table. The list is emptied, so that each range is freed as soon as it is copied."""
    ids = np.concatenate([np.empty(0, dtype=np.int64), *(part.ids for part in ranges)])
    counts = np.concatenate([np.zeros(1, dtype=np.int64), *(part.counts for part in ranges)])
    targets = np.empty(int(counts.sum()), dtype=np.int32)
    pages = filled = 0
    ranges.reverse()
    # Take the parts one by one, so that each can be freed.
    while ranges:
        part = ranges.pop()
        places = find(ids, part.targets.astype(np.int64))
        is_page = places >= 0
        # A target that was created after its range was read is in no row: leave that link out.
        if not is_page.all():
            lost = np.repeat(np.arange(len(part.ids)), part.counts)[~is_page]
            counts[1 + pages : 1 + pages + len(part.ids)] -= np.bincount(lost, minlength=len(part.ids))
        pages += len(part.ids)
        targets[filled : filled + int(is_page.sum())] = places[is_page]
        filled += int(is_page.sum())
    return LinkTable(ids, np.cumsum(counts), targets[:filled])


def terms(graph: Reads, table: LinkTable) -> ScoreTerms:
    """Return hosts, relevance and payouts of the pages of a table."""
    numbers: dict[str, int] = {}
    hosts = np.full(table.pages, -1, dtype=np.int32)
    relevance, payout = np.full(table.pages, np.nan), np.ones(table.pages)
    for rows in in_ranges(graph, "exports/terms", table.ids):
        ids = [page for _, pages, _ in rows for page in pages]
        indices = [numbers.setdefault(name, len(numbers)) for name, _, _ in rows]
        hosts[table.at(np.array(ids))] = np.repeat(indices, [len(pages) for _, pages, _ in rows])
        if own := [row for _, _, more in rows for row in more]:
            _fill(table, np.array(own, dtype=np.float64), relevance, payout)
    places = np.empty(len(numbers) + 1, dtype=np.int32)
    places[[numbers[name] for name in sorted(numbers)]] = np.arange(len(numbers))
    places[-1] = -1  # the index −1 of deleted pages refers to this element
    return ScoreTerms(places[hosts], relevance, payout)


def column(graph: Reads, table: LinkTable, name: str) -> Floats:
    """Return a numeric property of the pages of a table, nan for pages without it."""
    values = np.full(table.pages, np.nan)
    for rows in in_ranges(graph, "exports/column", table.ids, name=name):
        read = np.array(rows, dtype=np.float64)
        values[table.at(read[:, 0].astype(np.int64))] = read[:, 1]
    return values


def _fill(table: LinkTable, own: Floats, relevance: Floats, payout: Floats) -> None:
    """Write rows of [id, relevance or −1, payout or −1] to their places."""
    places = table.at(own[:, 0].astype(np.int64))
    for column, read in ((relevance, own[:, 1]), (payout, own[:, 2])):
        column[places[read >= 0.0]] = read[read >= 0.0]


def urls(graph: Reads, ids: Ints) -> dict[int, str]:
    """Return internal id → URL, for those of the pages that exist. It takes some hundred bytes a page."""
    return {page: url for rows in in_ranges(graph, "exports/urls", ids) for page, url in rows}


def in_ranges(graph: Reads, statement: str, ids: Ints, **params: Any) -> Iterator[list[list[Any]]]:
    """Yield the rows of a statement for these pages, range by range. Ranges without rows are skipped."""

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
    """Yield the results of `read` in order: the server reads one range while another is unpacked.

    No more ranges are read ahead, because their rows take much memory before they become arrays.
    """
    with ThreadPoolExecutor(AT_ONCE) as pool:
        going: deque[Future[T]] = deque()
        for first in firsts:
            going.append(pool.submit(read, first))
            if len(going) > AT_ONCE:
                yield going.popleft().result()
        while going:
            yield going.popleft().result()
