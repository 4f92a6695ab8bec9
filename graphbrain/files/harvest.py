"""Recorded crawls, read from files into arrays in the form of a brain: the input of `graphbrain import`.

Pages are numbered in the order of their first occurrence. URLs are addresses. Links are distinct, without self-links,
and at most the first `max_links` of a page. Bad lines are counted and left out, and the first few are named. JSON lines
are read, too, in the form of `graphbrain report`, where `fetched` and `hash` are short for `fetched_at` and
`body_hash`. Memory: some 25 bytes a link while links are sorted, and 100 bytes plus the URL a page. JSON lines need
some 150 bytes more for each page.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from graphbrain.base.errors import BadInput
from graphbrain.base.model import Answer, Fetched, Report
from graphbrain.base.numeric.arrays import Flags, Floats, Ints, Numbers
from graphbrain.base.urls.normalization import Rules, names_user
from graphbrain.content.wire import json_object, report_from_dict
from graphbrain.files import reader
from graphbrain.files.formats import RecordedPage
from graphbrain.files.reader import Progress, ReadMeter, Source
from graphbrain.frontier.reports.outcomes import Item
from graphbrain.frontier.reports.report_intake import Intake

__all__ = ["PAGES_PER_HOST", "Harvest", "TextBuffer", "generated_url", "read"]


BLOCK_LINKS = 1 << 22
NAMED = 5
PAGES_PER_HOST = 100


def generated_url(identity: int) -> str:
    """Return the URL for the id of a page that was recorded without URL. It is canonical, and 100 ids share a host.

    Crawls are recorded in the order of their URLs, so that most neighbouring ids did share a host.
    """
    return f"http://host-{identity // PAGES_PER_HOST:04d}.example/page-{identity}"


class TextBuffer(Sequence[str]):
    """Many texts in one buffer. It takes a fraction of the memory of a list."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._data = bytearray()
        self._ends = array("q")
        for text in texts:
            self.append(text)

    def append(self, text: str) -> None:
        """Add a text at the end."""
        self._data += text.encode()
        self._ends.append(len(self._data))

    def __len__(self) -> int:
        return len(self._ends)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if not 0 <= index < len(self._ends):
            raise IndexError(index)
        begin = self._ends[index - 1] if index else 0
        return self._data[begin : self._ends[index]].decode()


class _Generated(Sequence[str]):
    """The URLs of pages that were recorded without URLs (`generated_url`)."""

    def __init__(self, ids: Ints) -> None:
        self._ids = ids

    def __len__(self) -> int:
        return len(self._ids)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        if isinstance(index, slice):
            return [generated_url(i) for i in self._ids[index].tolist()]
        return generated_url(int(self._ids[index]))


@dataclass
class LeftOut:
    """The part of the input that could not be used.

    Attributes:
        refused: Number of lines, URLs and links.
        first: The first few of them, in words.
        over: Number of links beyond `max_links`.
        users: Number of URLs whose user and password were removed.
    """

    refused: int = 0
    first: list[str] = field(default_factory=list)
    over: int = 0
    users: int = 0

    def refuse(self, why: str, times: int = 1) -> None:
        """Count parts that were left out. Keep the reason if it is one of the first."""
        self.refused += times
        if len(self.first) < NAMED:
            self.first.append(why)


@dataclass
class Harvest:
    """Pages and links, ready to be written.

    Attributes:
        urls: Addresses, all of different pages.
        offsets: Page i links to `targets[offsets[i]:offsets[i+1]]`.
        targets: Page numbers.
        fetched: False for pages of the frontier.
        at: Epoch seconds of the visit; nan if not recorded.
        status: HTTP status of the visit.
        relevance: 0 to 1; nan if not known.
        details: Page number → (body_hash, etag, last_modified), for pages that have one of these.
        later: Visits other than a page's first success (failures, redirects, second visits), in their order. They are
            reported after everything else is written.
        ids: The recorded id of each page; None if pages have none.
        merged: Ids that were recorded with the URL of an earlier page, and for each the number of that page.
        values: Page number → the crawler's own value of the page, if known.
    """

    name: str
    urls: Sequence[str]
    offsets: Ints
    targets: Numbers
    fetched: Flags
    at: Floats
    status: npt.NDArray[np.int16]
    relevance: Floats
    details: dict[int, tuple[str | None, str | None, str | None]]
    later: list[Report]
    ids: Ints | None
    left_out: LeftOut
    merged: tuple[Ints, Numbers] = field(default_factory=lambda: (np.empty(0, np.int64), np.empty(0, np.int32)))
    values: dict[int, float] = field(default_factory=dict)

    @property
    def pages(self) -> int:
        return len(self.urls)

    @property
    def links(self) -> int:
        return len(self.targets)

    def find(self, what: str, rules: Rules) -> int:
        """Return the number of the page with this URL (in any spelling) or recorded id. Raise BadInput if there is
        none."""
        if what.isdecimal() and self.ids is not None:
            merged_ids, page = self.merged
            numbers = np.concatenate([np.flatnonzero(self.ids == int(what)), page[merged_ids == int(what)]])
        else:
            key = rules.page(what)[1]
            numbers = np.array([number for number, other in enumerate(self.urls) if rules.key(other) == key])
        if not len(numbers):
            raise BadInput(f"{self.name} has no page {what}.")
        return int(numbers[0])


def read(
    files: Sequence[Path | str],
    *,
    rules: Rules,
    max_links: int,
    now: float,
    fetched: bool = False,
    progress: Progress = lambda *_: None,
) -> Harvest:
    """Return the harvest of all these files together.

    If the only file is an edge list, the node file beside it with `nodes` or `vertices` in its name is read, too.

    Args:
        files: Paths of files in the formats of `reader`, plain or gzipped.
        rules: The brain's URL rules.
        max_links: Links kept of one page.
        now: Epoch seconds, for visits without a time.
        fetched: Count pages without out-links and without a recorded visit as fetched, too.
        progress: Called with the bytes read and the bytes in all.

    Raises:
        BadInput: A file cannot be opened, the files have no page, or they mix pages by id and pages by URL.
    """
    # Find the files, and their kinds.
    sources = [Source.of(Path(file)) for file in files]
    if [source.kind for source in sources] == ["edges"]:
        beside = sources[0].beside("nodes", "vertices")
        sources = [*(Source.of(path) for path in beside[:1]), *sources]
    kinds = {source.kind for source in sources}
    if "json" in kinds and len(kinds) > 1:
        raise BadInput("JSON lines name pages by URL and the other files by number; import one or the other.")
    meter = ReadMeter(sum(source.size for source in sources), progress)
    visits = _Visits(rules, max_links, now) if "json" in kinds else _Graph(rules, max_links, fetched)
    # Read files of pages before edge lists: links can only be checked with all pages.
    for source in sorted(sources, key=lambda source: source.kind == "edges"):
        visits.take(source, meter)
    harvest = visits.harvest(" + ".join(source.path.name for source in sources))
    if not harvest.pages:
        names = ", ".join(str(source.path) for source in sources)
        why = f" ({harvest.left_out.first[0]})" if harvest.left_out.first else ""
        raise BadInput(f"Nothing in {names} can be imported{why}.")
    return harvest


# ---------------------------------------------------------------- pages by id


class _Graph:
    """Pages and links by recorded ids."""

    strict = False

    def __init__(self, rules: Rules, max_links: int, fetched: bool) -> None:
        self._page = rules.page
        self._max_links = max_links
        self._fetched = fetched
        self._left_out = LeftOut()
        self._chunks: list[Ints] = []
        self._ids = array("q")
        self._urls = TextBuffer()
        self._keys = bytearray()
        self._crawled = bytearray()

    def take(self, source: Source, meter: ReadMeter) -> None:
        reader.read(source, self, meter)

    def header(self, pages: int, links: int) -> None:
        """Ignore the announced sizes: the file may have been cut."""

    def links(self, table: Ints) -> None:
        """Add links, as rows of two ids."""
        self._chunks.append(table)

    def page(self, source: Source, number: int, page: RecordedPage) -> None:  # noqa: ARG002
        """Add a page. Raise BadInput if its URL cannot be used."""
        url, key = self._page(page.url)
        self._left_out.users += names_user(page.url)
        self._ids.append(page.id)
        self._urls.append(url)
        self._keys += bytes.fromhex(key)
        self._crawled.append(2 if page.crawled is None else page.crawled)

    def refuse(self, source: Source, number: int, line: bytes, why: str) -> None:
        """Count and name a line that cannot be used."""
        shown = line.decode("utf-8", "replace").strip()
        self._left_out.refuse(f"{source.path.name}, line {number}: {why}: {shown[:60]!r}")

    def harvest(self, name: str) -> Harvest:
        """Return all pages and links, with pages by number."""
        # Number the pages: those of the files, or without any the ids of all links.
        if len(self._ids):
            ids, numbers = self._pages()
            urls: Sequence[str] = self._urls
            crawled = np.frombuffer(bytes(self._crawled), np.uint8)
        else:
            ids = _present(self._chunks)
            numbers, urls = np.arange(len(ids), dtype=np.int32), _Generated(ids)
            crawled = np.full(len(ids), 2, np.uint8)
        self._renumber(ids, numbers)
        # A page is fetched if it has links. Links to itself are not kept, but prove that it was fetched.
        selves = np.unique(
            np.concatenate([chunk[chunk[:, 0] == chunk[:, 1], 0] for chunk in self._chunks] or [ids[:0]])
        )
        offsets, targets = _distinct(self._chunks, len(urls), self._max_links, self._left_out)
        fetched = np.diff(offsets) > 0
        fetched[selves] = True
        visited = (crawled == 1) | ((crawled == 2) & self._fetched)
        fetched[numbers[visited & (numbers >= 0)]] = True
        # Of pages with the same URL keep the first, and remember the ids of the others.
        size = len(urls)
        kept = np.unique(numbers[numbers >= 0])
        merged = (numbers >= 0) & (numbers != np.arange(size))
        harvest = Harvest(
            name,
            urls,
            offsets,
            targets,
            fetched,
            np.full(size, np.nan),
            np.full(size, 200, np.int16),
            np.full(size, np.nan),
            {},
            [],
            ids,
            self._left_out,
            (ids[merged], numbers[merged]),
        )
        return harvest if len(kept) == size else _only(harvest, kept)

    def _pages(self) -> tuple[Ints, Numbers]:
        """Return the recorded ids, and the number of the page for each: that of an earlier page with the same URL, or
        −1 for a repeated id."""
        # Sort the pages by the keys of their URLs.
        ids = np.array(self._ids, np.int64)
        size = len(ids)
        numbers = np.arange(size, dtype=np.int32)
        words = np.frombuffer(bytes(self._keys), ">u8").reshape(-1, 2).astype(np.uint64)
        order = np.lexsort((words[:, 1], words[:, 0]))
        same = (words[order][1:] == words[order][:-1]).all(axis=1)
        # The sort is stable, so that of equal keys the page that was recorded first comes first.
        leads = np.maximum.accumulate(np.where(np.concatenate([[True], ~same]), np.arange(size), 0))
        numbers[order] = order[leads]
        # Refuse repeated ids.
        by_id = np.argsort(ids, kind="stable")
        twice = by_id[1:][ids[by_id][1:] == ids[by_id][:-1]]
        if len(twice):
            self._left_out.refuse(f"the page {ids[twice[0]]} occurs twice", len(twice))
            numbers[twice] = -1
        return ids, numbers

    def _renumber(self, ids: Ints, numbers: Numbers) -> None:
        """Replace ids by page numbers in all links. Leave out the links of pages that are not recorded."""
        order = np.argsort(ids, kind="stable")
        order = order[numbers[order] >= 0]
        sorted_ids, number_of = ids[order], numbers[order]
        for index, chunk in enumerate(self._chunks):
            at = np.minimum(np.searchsorted(sorted_ids, chunk), max(len(sorted_ids) - 1, 0))
            good = (sorted_ids[at] == chunk).all(axis=1) if len(sorted_ids) else np.zeros(len(chunk), bool)
            if not good.all():
                bad = chunk[~good]
                missing = bad[0][~np.isin(bad[0], sorted_ids)][0]
                source, target = bad[0].tolist()
                self._left_out.refuse(f"the link {source} → {target}: there is no page {missing}", len(bad))
            self._chunks[index] = number_of[at[good]]


def _only(harvest: Harvest, kept: Numbers) -> Harvest:
    """Reduce a harvest to the pages `kept`. The other pages have no links."""
    renumbered = np.zeros(harvest.pages, np.int32)
    renumbered[kept] = np.arange(len(kept), dtype=np.int32)
    degrees = np.diff(harvest.offsets)[kept]
    harvest.offsets = np.concatenate([[0], np.cumsum(degrees)])
    harvest.targets = renumbered[harvest.targets]
    harvest.urls = TextBuffer(harvest.urls[i] for i in kept.tolist())
    merged_ids, page = harvest.merged
    harvest.merged = merged_ids, renumbered[page]
    for name in ("fetched", "at", "status", "relevance", "ids"):
        setattr(harvest, name, getattr(harvest, name)[kept])
    return harvest


def _present(chunks: Sequence[Ints]) -> Ints:
    """Return the ids that occur in links, ascending."""
    most = max((int(chunk.max()) for chunk in chunks if chunk.size), default=-1)
    if most < 4 * sum(chunk.size for chunk in chunks):
        seen = np.zeros(most + 1, bool)
        for chunk in chunks:
            seen[chunk.ravel()] = True
        return np.flatnonzero(seen).astype(np.int64)
    return np.unique(np.concatenate([np.unique(chunk) for chunk in chunks] or [np.empty(0, np.int64)]))


def _distinct(chunks: list[Ints], size: int, most: int, left_out: LeftOut) -> tuple[Ints, Numbers]:
    """Return the distinct links without self-links as offsets and targets (CSR), at most `most` of a page. `chunks` is
    emptied."""
    # Count the links of each page.
    degrees = np.zeros(size, np.int64)
    for chunk in chunks:
        degrees += np.bincount(chunk[:, 0], minlength=size)
    # Write each link as one number, so that a sort puts equal links together.
    trimmed = _first_links(chunks, degrees > most, most, left_out)
    codes = np.empty(sum(map(len, chunks)) + len(trimmed), np.int64)
    filled = 0
    for chunk in [*_drained(chunks), trimmed]:
        links = chunk[chunk[:, 0] != chunk[:, 1]].astype(np.int64)
        codes[filled : filled + len(links)] = links[:, 0] * size + links[:, 1]
        filled += len(links)
    codes = codes[:filled]
    codes.sort()
    # Remove numbers that equal the one before, in place.
    kept, last = 0, -1
    for start in range(0, filled, BLOCK_LINKS):
        part = codes[start : start + BLOCK_LINKS]
        part = part[np.diff(part, prepend=last) != 0]
        if len(part):
            last = int(part[-1])
        codes[kept : kept + len(part)] = part
        kept += len(part)
    # Split the numbers into offsets and targets.
    targets = np.empty(kept, np.int32)
    degrees[:] = 0
    for start in range(0, kept, BLOCK_LINKS):
        first, second = np.divmod(codes[start : min(start + BLOCK_LINKS, kept)], max(size, 1))
        targets[start : start + len(second)] = second
        degrees += np.bincount(first, minlength=size)
    return np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64), targets


def _drained(chunks: list[Ints]) -> Iterator[Ints]:
    """Yield the chunks from first to last. Each is freed after its use."""
    chunks.reverse()
    while chunks:
        yield chunks.pop()


def _first_links(chunks: list[Ints], heavy: Flags, most: int, left_out: LeftOut) -> Ints:
    """Remove the links of `heavy` pages from `chunks`. Return the first `most` of each, in recorded order.

    `heavy`: a mask of the pages that may have more links.
    """
    if not heavy.any():
        return np.empty((0, 2), np.int32)
    # Sort the links of these pages by source.
    parts = [chunk[heavy[chunk[:, 0]]] for chunk in chunks]
    chunks[:] = [chunk[~heavy[chunk[:, 0]]] for chunk in chunks]
    links = np.concatenate(parts)
    links = links[links[:, 0] != links[:, 1]]
    links = links[np.argsort(links[:, 0], kind="stable")]
    # Keep the first distinct targets of each.
    kept: list[Ints] = []
    for part in np.split(links, np.flatnonzero(np.diff(links[:, 0])) + 1):
        first = np.sort(np.unique(part[:, 1], return_index=True)[1])
        left_out.over += max(0, len(first) - most)
        kept.append(part[first[:most]])
    return np.concatenate(kept)


# ---------------------------------------------------------------- pages by URL


class _Visits:
    """JSON lines. Each is a visit in the form of a crawler's report, and is checked like one."""

    def __init__(self, rules: Rules, max_links: int, now: float) -> None:
        self._rules, self._max_links, self._now = rules, max_links, now
        self._left_out = LeftOut()
        self._numbers: dict[bytes, int] = {}
        self._urls = TextBuffer()
        self._fetched = bytearray()
        self._at, self._relevance, self._status = array("d"), array("d"), array("h")
        self._links = array("i")
        self._details: dict[int, tuple[str | None, str | None, str | None]] = {}
        self._later: list[Report] = []
        self._values: dict[int, float] = {}

    def take(self, source: Source, meter: ReadMeter) -> None:
        for number, block in source.blocks(meter.file):
            for at, line in enumerate(block.split(b"\n"), number):
                if not line.strip():
                    continue
                try:
                    self._visit(_report(line))
                except BadInput as error:
                    self._left_out.refuse(f"{source.path.name}, line {at}: {str(error).rstrip('.')}")
        meter.end(source.size)

    def _visit(self, report: Report) -> None:
        # A failure, a redirect or a part of a page is reported afterwards.
        item = Intake(self._rules, self._max_links, self._now).check(report)
        if isinstance(item, Answer):
            raise BadInput(f"{item.url}: {item.reason}")
        given, report = report, item.report
        if not isinstance(report, Fetched) or item.completeness != "all" or item.led_by or not _first_visit(report):
            self._later.append(given)
            return
        # The first success of a page is imported. Its later visits are reported afterwards.
        page = self._number(item.key, item.url)
        self._left_out.users += given.claim is None and names_user(given.url)
        if self._fetched[page]:
            self._later.append(given)
            return
        self._take_links(page, item)
        self._fetched[page] = True
        self._at[page], self._status[page] = item.at, report.status
        # Keep the other values of the report.
        if report.relevance is not None:
            self._relevance[page] = report.relevance
        if report.value is not None:
            self._values[page] = report.value
        details = (item.seen.body_hash, report.etag, report.last_modified)
        if details != (None, None, None):
            self._details[page] = details

    def _take_links(self, page: int, item: Item) -> None:
        for url, why in item.refused:
            self._left_out.refuse(f"the link {url}: {why}")
        self._left_out.over += item.over
        self._left_out.users += item.users
        for key, (url, guess) in item.targets.items():
            target = self._number(key, url)
            self._links.extend((page, target))
            # As with a report, the largest guess counts until the page is fetched.
            if guess is not None and not self._fetched[target] and not guess <= self._relevance[target]:
                self._relevance[target] = guess
            value = item.values.get(key)
            if value is not None and not self._fetched[target] and value > self._values.get(target, -1.0):
                self._values[target] = value

    def _number(self, key: str, url: str) -> int:
        number = self._numbers.setdefault(bytes.fromhex(key), len(self._urls))
        if number == len(self._urls):
            self._urls.append(url)
            self._fetched.append(False)
            self._at.append(float("nan"))
            self._relevance.append(float("nan"))
            self._status.append(200)
        return number

    def harvest(self, name: str) -> Harvest:
        self._numbers.clear()
        size = len(self._urls)
        links: Any = np.array(self._links, np.int32).reshape(-1, 2)
        offsets, targets = _distinct([links], size, self._max_links, self._left_out)
        return Harvest(
            name,
            self._urls,
            offsets,
            targets,
            np.frombuffer(self._fetched, np.uint8).astype(bool),
            np.array(self._at),
            np.array(self._status, np.int16),
            np.array(self._relevance),
            self._details,
            self._later,
            None,
            self._left_out,
            values=self._values,
        )


_SHORT = {"fetched": "fetched_at", "hash": "body_hash"}


def _report(line: bytes) -> Report:
    """Return the report in a line. Raise BadInput if the line has none."""
    data = {_SHORT.get(name, name): value for name, value in json_object(line).items()}
    data.pop("claim", None)  # a claim of another brain
    return report_from_dict(data)


def _first_visit(report: Fetched) -> bool:
    """Return whether the report can be imported as a page's first visit, if no earlier line is about the page."""
    texts = (report.body_hash, report.etag, report.last_modified)
    odd = any(text is not None and not text.isprintable() for text in texts)
    return not odd and report.redirected_to is None and not report.not_modified
