"""Exports of the whole graph as arrays for computations in memory: links, hosts, relevance, payouts, columns.

An export reads ranges of internal ids, each in its own transaction, while other transactions run: it is no snapshot. A
process that writes results back must read again under the lock. The result takes 16 bytes of memory a page and 4 bytes
a link. Its construction takes as much again, and some 50 bytes for each link of the ranges that are being read. For 100
million links of 10 million pages the result takes .6 GB, and the construction 1.1 GB. Statements: exports/*.
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
"""Is called with (number of pages that were read, number of all pages as far as it is known)."""


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
        """Return the indices of internal ids in the table, and −1 for an id that is not in it."""
        return find(self.ids, ids)


@dataclass(frozen=True, slots=True)
class ScoreTerms:
    """The properties of the pages of a table from which scores are computed besides the links.

    Attributes:
        hosts: int32[pages]; the number of each page's host, in the order of the hosts' names. −1 for a page that has
            been deleted since.
        relevance: float64[pages]; nan if it is not known.
        payout: float64[pages]; 1 for a page without a payout of its own.
    """

    hosts: NDArray[np.int32]
    relevance: Floats
    payout: Floats


def links(graph: Reads, progress: Progress = lambda *_: None, types: Sequence[str] = ()) -> LinkTable:
    """Return all pages and their links.

    The links are those that accounts count, including temporary redirects, or only those of some `types`. Links to
    pages that were created during the export are left out.
    """

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
    """Yield the result of `make` for each range of pages, in order.

    Args:
        graph: The connection.
        statement: The name of the statement that reads a range; its parameters `first` and `last` are ids.
        make: Is called with the first id of a range and the only row of the statement, in other threads. It may raise
            Again.
        progress: Is called after each range.
        params: The other parameters of the statement.
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
    """The pages of a range and their links.

    Attributes:
        ids: The internal ids of the pages, ascending.
        counts: The number of links of each page.
        targets: The internal ids of the targets of all links, page by page, ascending.
    """

    ids: Ints
    counts: Ints
    targets: NDArray[np.uint32] | Ints

    @classmethod
    def of(cls, first: int, ids: Ints, pairs: Ints) -> _Range:
        """Return a range from the ids of its pages and its links, packed as (source − first) · 2^47 + target.

        The links may have any order. Each source must be one of the pages.
        """
        pairs.sort()
        counts = np.bincount(find(ids, (pairs >> ID_BITS) + first), minlength=len(ids))
        pairs &= LARGEST_ID
        small = not len(pairs) or int(pairs.max()) < 1 << 32
        return cls(ids, counts, pairs.astype(np.uint32) if small else pairs)


def _table(ranges: list[_Range]) -> LinkTable:
    """Return the ranges as one table. This empties the list, so that each range is freed as soon as it is copied."""
    ids = np.concatenate([np.empty(0, dtype=np.int64), *(part.ids for part in ranges)])
    counts = np.concatenate([np.zeros(1, dtype=np.int64), *(part.counts for part in ranges)])
    targets = np.empty(int(counts.sum()), dtype=np.int32)
    copied_pages = copied_links = 0
    ranges.reverse()
    while ranges:
        part = ranges.pop()
        indices = find(ids, part.targets.astype(np.int64))
        is_page = indices >= 0
        # Leave links out whose target was created after the range of the target was read.
        if not is_page.all():
            sources = np.repeat(np.arange(len(part.ids)), part.counts)[~is_page]
            first = 1 + copied_pages
            counts[first : first + len(part.ids)] -= np.bincount(sources, minlength=len(part.ids))
        # Copy the others.
        copied_pages += len(part.ids)
        targets[copied_links : copied_links + int(is_page.sum())] = indices[is_page]
        copied_links += int(is_page.sum())
    return LinkTable(ids, np.cumsum(counts), targets[:copied_links])


def terms(graph: Reads, table: LinkTable) -> ScoreTerms:
    """Return hosts, relevance and payouts of the pages of a table."""
    numbers: dict[str, int] = {}  # host → its number, in the order in which the hosts are read
    hosts = np.full(table.pages, -1, dtype=np.int32)
    relevance, payout = np.full(table.pages, np.nan), np.ones(table.pages)
    for rows in in_ranges(graph, "exports/terms", table.ids):
        ids = [page for _, pages, _ in rows for page in pages]
        numbers_of_rows = [numbers.setdefault(name, len(numbers)) for name, _, _ in rows]
        hosts[table.at(np.array(ids))] = np.repeat(numbers_of_rows, [len(pages) for _, pages, _ in rows])
        if values := [row for _, _, rows_of_pages in rows for row in rows_of_pages]:
            _fill(table, np.array(values, dtype=np.float64), relevance, payout)
    # Number the hosts by the order of their names.
    by_name = np.empty(len(numbers) + 1, dtype=np.int32)
    by_name[[numbers[name] for name in sorted(numbers)]] = np.arange(len(numbers))
    by_name[-1] = -1  # the index −1 of deleted pages refers to this element
    return ScoreTerms(by_name[hosts], relevance, payout)


def column(graph: Reads, table: LinkTable, name: str) -> Floats:
    """Return a numeric property of the pages of a table, nan for pages without it."""
    values = np.full(table.pages, np.nan)
    for rows in in_ranges(graph, "exports/column", table.ids, name=name):
        ids, numbers = np.array(rows, dtype=np.float64).T
        values[table.at(ids.astype(np.int64))] = numbers
    return values


def _fill(table: LinkTable, rows: Floats, relevance: Floats, payout: Floats) -> None:
    """Write rows of [id, relevance or −1, payout or −1] into the two columns."""
    ids, relevances, payouts = rows.T
    indices = table.at(ids.astype(np.int64))
    for column, values in ((relevance, relevances), (payout, payouts)):
        column[indices[values >= 0.0]] = values[values >= 0.0]


def urls(graph: Reads, ids: Ints) -> dict[int, str]:
    """Return internal id → URL of the pages that exist. The result takes some hundred bytes of memory a page."""
    return {page: url for rows in in_ranges(graph, "exports/urls", ids) for page, url in rows}


def in_ranges(graph: Reads, statement: str, ids: Ints, **params: Any) -> Iterator[list[list[Any]]]:
    """Yield the rows of a statement for the pages with these ids, range by range. Ranges without rows are skipped."""

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
    """Yield the results of `read` in order. The server reads one range while this process unpacks another one.

    No more ranges are read in advance, because their rows take much memory before they become arrays.
    """
    with ThreadPoolExecutor(AT_ONCE) as pool:
        results: deque[Future[T]] = deque()
        for first in firsts:
            results.append(pool.submit(read, first))
            if len(results) > AT_ONCE:
                yield results.popleft().result()
        while results:
            yield results.popleft().result()
