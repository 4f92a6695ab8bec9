"""A recorded crawl in memory: pages and links, as numpy arrays in CSR form.

Pages are numbered from 0 in ascending order of their recorded ids. Links are in page order, as recorded, with
self-links and duplicates. `distinct` has the part that a brain keeps. Every recorded page stays a separate page: a page
with an unusable URL gets a substitute, so that counts are right. scipy computes properties of the graph (the fewest
seeds, the reached pages) in well under a second.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from graphbrain.base.errors import BadInput
from graphbrain.base.numeric.arrays import Flags, Ints, Numbers
from graphbrain.base.urls.normalization import spell
from graphbrain.files import reader
from graphbrain.files.formats import RecordedPage
from graphbrain.files.harvest import generated_url
from graphbrain.files.reader import ReadMeter, Source

__all__ = ["Recording", "read"]

WANTED = {
    "edges": "'src dst' or 'src dst count'",
    "gr0": "'n id url' or 'e src dst'",
    "nodes": "'id<TAB>crawled 1 or 0<TAB>url'",
}


@dataclass(frozen=True)
class Recording:
    """A recorded crawl.

    Attributes:
        name: Name of its file.
        ids: The recorded id of each page, ascending.
        urls: The canonical URL of each page, all different.
        offsets: Page i links to `targets[offsets[i]:offsets[i+1]]`, as recorded.
        targets: Page numbers.
        crawled: False for a page that was only the target of a link when the crawl was recorded. Its links are not
            known.
        stand_ins: The number of pages whose recorded URL could not be used. A URL that names no page is replaced by
            `generated_url`. One with the canonical URL of an earlier page gets `recorded=<id>` added to its query.
        doubles: The number of substitutes for pages with the URL of another page.
    """

    name: str
    ids: Ints
    urls: Sequence[str]
    offsets: Ints
    targets: Numbers
    crawled: Flags
    stand_ins: int = 0
    doubles: int = 0

    @classmethod
    def of(
        cls,
        sources: npt.ArrayLike,
        targets: npt.ArrayLike,
        *,
        pages: int | None = None,
        urls: Sequence[str] | None = None,
        name: str = "links",
    ) -> Recording:
        """Return a recording made from two equally long lists of recorded ids.

        Args:
            sources: The id of each link's page.
            targets: The id of the page that each link leads to.
            pages: The ids are 0 to pages − 1, with and without links. None: only ids that occur are pages.
            urls: One for each page, in the order of ids.
            name: Name of the recording in messages.

        Raises:
            BadInput: A negative id, or one beyond `pages`.
        """
        edges = np.stack([np.asarray(sources, np.int64), np.asarray(targets, np.int64)], axis=1)
        ids = np.arange(pages, dtype=np.int64) if pages is not None else None
        return _built(_Raw(edges, ids=ids, urls=urls), name)

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"Recording({self.name!r}, {self.pages} pages, {self.links} links)"

    @property
    def pages(self) -> int:
        """Return the number of recorded pages, fetched or not."""
        return len(self.ids)

    @property
    def links(self) -> int:
        """Return the number of recorded links, with self-links and duplicates."""
        return len(self.targets)

    @cached_property
    def index(self) -> dict[str, int]:
        """Return canonical URL → page number."""
        return {url: number for number, url in enumerate(self.urls)}

    @cached_property
    def sources(self) -> Numbers:
        """Return the source of each link, in the order of `targets`."""
        return np.repeat(np.arange(self.pages, dtype=np.int32), np.diff(self.offsets))

    @cached_property
    def distinct(self) -> tuple[Numbers, Numbers]:
        """Return (sources, targets) of the distinct links without self-links, ascending."""
        keep = self.sources != self.targets
        size = max(self.pages, 1)
        codes = np.sort(self.sources[keep].astype(np.int64) * size + self.targets[keep])
        codes = codes[np.diff(codes, prepend=-1) != 0]
        first, second = np.divmod(codes, size)
        return first.astype(np.int32), second.astype(np.int32)

    def links_of(self, page: int) -> list[str]:
        """Return the URLs that a page links to, as recorded, with self-links and duplicates."""
        urls = self.urls
        return [urls[t] for t in self.targets[self.offsets[page] : self.offsets[page + 1]].tolist()]

    def find(self, what: str | int) -> int:
        """Return the number of the page with this URL (in any spelling) or this recorded id.

        Raises:
            BadInput: There is no such page.
        """
        text = str(what).strip()
        if text.isdecimal():
            number = int(np.searchsorted(self.ids, min(int(text), 2**63 - 1)))
            if number < self.pages and self.ids[number] == int(text):
                return number
            raise BadInput(f"{self.name} has no page with the id {text}.")
        try:
            return self.index[spell(text)]
        except KeyError:
            raise BadInput(f"{self.name} has no page with the URL {text}.") from None

    def seeds(self) -> list[int]:
        """Return the fewest pages that reach every page, ascending.

        They are the pages without in-links (self-links do not count) and the first page of each cycle that no other
        part links to.
        """
        from scipy.sparse.csgraph import connected_components

        if not self.pages:
            return []
        parts, part = connected_components(self._matrix(), directed=True, connection="strong")
        # Take the first page of each part that no other part links to.
        linked = np.zeros(parts, bool)
        first, second = part[self.sources], part[self.targets]
        linked[second[first != second]] = True
        lowest = np.full(parts, self.pages, np.int64)
        np.minimum.at(lowest, part, np.arange(self.pages, dtype=np.int64))
        return sorted(int(page) for page in lowest[~linked])

    def reachable(self, seeds: Iterable[int]) -> Flags:
        """Return a mask of the pages `seeds` and all pages that these reach."""
        from scipy.sparse.csgraph import breadth_first_order

        roots = np.unique(np.fromiter(seeds, np.int64))
        matrix = self._matrix(roots)
        order = breadth_first_order(matrix, self.pages, return_predecessors=False)
        reached = np.zeros(self.pages + 1, bool)
        reached[order] = True
        return reached[:-1]

    def _matrix(self, roots: Ints | None = None) -> Any:
        """Return the links as a scipy matrix. With `roots`, its last row is an additional page that links to these."""
        from scipy.sparse import csr_matrix

        offsets, targets, size = self.offsets, self.targets, self.pages
        if roots is not None:
            offsets = np.append(offsets, len(targets) + len(roots))
            targets = np.concatenate([targets, roots.astype(np.int32)])
            size += 1
        return csr_matrix((np.ones(len(targets), np.int8), targets, offsets), shape=(size, size))


def read(path: Path | str, *, nodes: Path | str | None = None) -> Recording:
    """Return the recording in the file `path`, in one of the formats of `reader` except JSON lines and hosts.

    Args:
        path: The file of links.
        nodes: The node file of an edge list. None: `X.nodes.Y` beside `X.edges.Y`, if it exists.

    Raises:
        BadInput: A file cannot be read. The message names the file and the line.
    """
    # Find the file of pages.
    source = Source.of(Path(path), "edges")
    if source.kind == "nodes":
        raise BadInput(f"{source.path.name} is a node file; give the file of its links.")
    if source.kind in ("json", "hosts"):
        source.kind = "edges"
    beside = [] if nodes is None else [Path(nodes)]
    if source.kind == "edges" and nodes is None and ".edges." in source.path.name:
        beside = source.beside("nodes")
    elif source.kind != "edges" and beside:
        raise BadInput(f"{source.path.name} names its own pages; it takes no node file.")
    # Read it before the links.
    content = _Content()
    for path in beside:
        other = Source.of(path, "nodes")
        other.kind = "nodes"
        reader.read(other, content, ReadMeter())
    reader.read(source, content, ReadMeter())
    return _built(content.raw(source, beside), source.path.name)


class _Content:
    """The content of a file, line by line. The first line of another kind is an error."""

    strict = True

    def __init__(self) -> None:
        self._chunks: list[Ints] = []
        self._ids = array("q")
        self._urls: list[str] = []
        self._crawled = bytearray()
        self._lines = array("q")
        self._announced: tuple[int, int] | None = None

    def header(self, pages: int, links: int) -> None:
        self._announced = pages, links

    def links(self, table: Ints) -> None:
        self._chunks.append(table)

    def page(self, source: Source, number: int, page: RecordedPage) -> None:
        """Add a page. Raise BadInput if the header names fewer pages, or a line of a node file has no mark for fetched
        pages."""
        if (source.kind == "nodes" and page.crawled is None) or (
            self._announced is not None and len(self._ids) == self._announced[0]
        ):
            raise BadInput
        self._ids.append(page.id)
        self._urls.append(page.url)
        self._crawled.append(page.crawled is not False)
        self._lines.append(number)

    def refuse(self, source: Source, number: int, line: bytes, why: str) -> None:  # noqa: ARG002
        """Raise BadInput, because a line is malformed."""
        text = line.decode("utf-8", "replace").strip()
        shown = text if len(text) <= 60 else text[:59] + "…"
        raise BadInput(f"{source.path.name}, line {number}: expected {self._wanted(source)}, found {shown!r}.")

    def _wanted(self, source: Source) -> str:
        if source.kind != "hollins":
            return WANTED[source.kind]
        if self._announced is None:
            return "the header 'pages links 1'"
        return "'id url'" if len(self._ids) < self._announced[0] else "'src dst'"

    def raw(self, source: Source, nodes: Sequence[Path]) -> _Raw:
        """Return the content. Raise BadInput if its size is not that of the header."""
        edges = np.concatenate([np.empty((0, 2), np.int64), *self._chunks])
        self._chunks.clear()
        if self._announced is not None:
            pages, links = self._announced
            if len(self._ids) < pages:
                raise BadInput(f"{source.path.name} announces {pages} pages and ends before the last of them.")
            if len(edges) != links:
                raise BadInput(f"{source.path.name} announces {links} links and holds {len(edges)}.")
        raw = _Raw(edges, edge_at=lambda row: f"line {reader.line_of_link(source, row)}")
        if nodes or source.kind != "edges":
            raw.ids, raw.urls = np.array(self._ids, np.int64), self._urls
            raw.crawled = np.frombuffer(bytes(self._crawled), np.uint8).astype(bool)
            before = f"{nodes[0].name}, " if nodes else ""
            raw.page_at = lambda row: f"{before}line {self._lines[row]}"
        return raw


@dataclass
class _Raw:
    """The content of a file by recorded ids. `edge_at` and `page_at` return the place of a link or a page for
    messages."""

    edges: Ints
    ids: Ints | None = None
    urls: Sequence[str] | None = None
    crawled: Flags | None = None
    edge_at: Callable[[int], str] = "link {}".format
    page_at: Callable[[int], str] = "page {}".format


def _built(raw: _Raw, name: str) -> Recording:
    """Return the recording of a file's content: pages in order of their ids, links in CSR form.

    Raises:
        BadInput: Negative or repeated ids, or links to pages that are not recorded.
    """
    if raw.edges.size and raw.edges.min() < 0:
        raise BadInput(f"{name}: recorded ids are whole numbers from 0 on.")
    # Sort the links by page.
    ids, edges = _numbered(raw, name)
    size = len(ids)
    sources, targets = edges[:, 0], edges[:, 1].astype(np.int32)
    if len(sources) and (np.diff(sources) < 0).any():
        order = np.argsort(sources, kind="stable")
        sources, targets = sources[order], targets[order]
    offsets = np.zeros(size + 1, np.int64)
    np.cumsum(np.bincount(sources, minlength=size), out=offsets[1:])
    # Take the other columns in the order of ids.
    by_id = np.arange(size) if raw.ids is None else np.argsort(raw.ids, kind="stable")
    crawled = np.ones(size, bool) if raw.crawled is None else raw.crawled[by_id]
    stand_ins = doubles = 0
    if raw.urls is None:
        urls = [generated_url(identity) for identity in ids.tolist()]
    elif len(raw.urls) != size:
        raise BadInput(f"{name}: {len(raw.urls)} URLs are given for {size} pages.")
    else:
        urls, stand_ins, doubles = _spelt([raw.urls[i] for i in by_id.tolist()], ids.tolist())
    return Recording(name, ids, urls, offsets, np.ascontiguousarray(targets), crawled, stand_ins, doubles)


def _numbered(raw: _Raw, name: str) -> tuple[Ints, Ints]:
    """Return the ids of pages, ascending, and the links by page numbers in place of ids."""
    # Without a list of pages, the ids of links are the pages.
    if raw.ids is None:
        ids = np.sort(raw.edges, axis=None)
        ids = ids[np.diff(ids, prepend=-1) != 0]
        return ids, np.searchsorted(ids, raw.edges)
    # Otherwise both ends of a link must be listed pages.
    ids = np.sort(raw.ids)
    twice = ids[1:][ids[1:] == ids[:-1]]
    if len(twice):
        row = int(np.flatnonzero(raw.ids == twice[0])[1])
        raise BadInput(f"{name}, {raw.page_at(row)}: the page {twice[0]} occurs twice.")
    if not len(ids):
        if len(raw.edges):
            raise BadInput(f"{name}: there are links and no pages.")
        return ids, raw.edges
    numbers = np.minimum(np.searchsorted(ids, raw.edges), len(ids) - 1)
    missing = np.argwhere(ids[numbers] != raw.edges)
    if len(missing):
        row, side = (int(i) for i in missing[0])
        raise BadInput(f"{name}, {raw.edge_at(row)}: there is no page {raw.edges[row, side]}.")
    return ids, numbers


def _spelt(recorded: Sequence[str], ids: Sequence[int]) -> tuple[list[str], int, int]:
    """Return the canonical URLs or substitutes (see `Recording`), the number of substitutes, and of `doubles`."""
    # Spell the URLs. The first page with a URL keeps it.
    urls: list[str | None] = []
    used: set[str] = set()
    doubles = 0
    for text in recorded:
        url = _spell_or_none(text)
        doubles += url in used
        urls.append(None if url in used else url)
        if url is not None:
            used.add(url)
    # Give the others a substitute that is not in use.
    stand_ins = 0
    for number, url in enumerate(urls):
        if url is None:
            stand_ins += 1
            urls[number] = stand_in = _stand_in(recorded[number], ids[number], used)
            used.add(stand_in)
    return [url for url in urls if url is not None], stand_ins, doubles


def _spell_or_none(text: str) -> str | None:
    try:
        return spell(text)
    except BadInput:
        return None


def _stand_in(recorded: str, identity: int, used: set[str]) -> str:
    base = _spell_or_none(recorded)
    url = generated_url(identity)
    if base is not None:
        url = _spell_or_none(f"{base}{'&' if '?' in base else '?'}recorded={identity}") or url
    while url in used:
        url = spell(f"{url}-")
    return url
