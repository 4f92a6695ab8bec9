"""Reads recorded crawls from files.

Four formats, plain or gzipped, told apart by what is in the file, not by its name:

    header `pages links 1`, then `id url`, then `src dst`       as Massey's hollins.dat
    `n id url` and `e src dst`                                  as Kleinberg's query graphs
    `src dst [count]`, tab or space, `#` comments               edge list; URLs are generated
    the same with a node file `id<TAB>crawled 1/0<TAB>url`      as numpy-doc

Blank lines and comments, lines that begin with '#', may stand anywhere, and comments behind links. Numbers are parsed
by numpy (3.2 M links in a second); only when it refuses is the text searched,
line by line, for the one that is wrong, and BadInput names it.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from graphbrain.arrays import Ints
from graphbrain.errors import BadInput
from graphbrain.ingest import formats
from graphbrain.ingest.formats import as_text, filled, ids_of, is_id
from graphbrain.ingest.recording import Raw, Recording, built, generated_url

__all__ = ["Recording", "generated_url", "read"]


def read(path: Path | str, *, nodes: Path | str | None = None) -> Recording:
    """The recording in the file `path`.

    `nodes`: the node file of an edge list; when it is not given, `X.nodes.Y` beside `X.edges.Y` is
    taken if it is there. Raises BadInput, with the file and the line, for what cannot be read.
    """
    path = Path(path)
    lines = _Lines.of(path)
    kind = _kind_of(lines)
    if kind == "edges":
        other = _sibling(path) if nodes is None else Path(nodes)
        return built(_read_edges(lines, None if other is None else _Lines.of(other)), path.name)
    if nodes is not None:
        raise BadInput(f"{path.name} names its own pages; it takes no node file.")
    return built(_read_gr0(lines) if kind == "gr0" else _read_hollins(lines), path.name)


def _sibling(path: Path) -> Path | None:
    other = path.with_name(path.name.replace(".edges.", ".nodes."))
    return other if other != path and other.exists() else None


@dataclass(frozen=True)
class _Lines:
    """The text of a file, and how to name one of its lines in a message."""

    name: str
    text: bytes

    @classmethod
    def of(cls, path: Path) -> _Lines:
        try:
            data = path.read_bytes()
            text = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
            return cls(path.name, text.removeprefix(formats.BOM))
        except (EOFError, zlib.error, gzip.BadGzipFile):
            raise BadInput(f"{path} is a damaged or shortened gzip file.") from None
        except OSError as error:
            raise BadInput(f"{path} cannot be read ({error.strerror or error}).") from None

    def filled(self) -> Iterator[tuple[int, bytes]]:
        """The lines that are neither blank nor a comment, each after its number."""
        return ((number, line) for number, line in enumerate(io.BytesIO(self.text), 1) if filled(line))

    def rest(self, line: int) -> bytes:
        """The text from line `line` (from 1) on."""
        place = 0
        for _ in range(line - 1):
            place = self.text.find(b"\n", place) + 1
            if not place:
                return b""
        return self.text[place:]

    def wrong(self, line: int, wanted: str) -> BadInput:
        """The error for a malformed line."""
        text = self.text.split(b"\n")[line - 1].decode("utf-8", "replace").strip()
        shown = text if len(text) <= 60 else text[:59] + "…"
        return BadInput(f"{self.name}, line {line}: expected {wanted}, found {shown!r}.")

    def line_of(self, row: int, start: int = 1) -> int:
        """The number of the `row`th (from 0) filled line, looking from line `start` on."""
        for number, line in enumerate(self.text.split(b"\n")[start - 1 :], start):
            if line.split(b"#", 1)[0].strip():
                if not row:
                    return number
                row -= 1
        return start

    def integers(self, start: int, columns: tuple[int, ...], wanted: str) -> Ints:
        """The table of whole numbers from line `start` on, which has one of these widths."""
        text = self.rest(start)
        table = formats.table(text)
        if table is None or table.shape[1] not in columns:
            raise self.wrong(self._malformed(start, columns), wanted)
        return table

    def _malformed(self, start: int, columns: tuple[int, ...]) -> int:
        """The first line that is not of numbers, or not as wide as the first one."""
        for number, line in enumerate(self.text.split(b"\n")[start - 1 :], start):
            ids = ids_of(line)
            if ids == []:
                continue
            if ids is None or len(ids) not in columns:
                return number
            columns = (len(ids),)
        return start


def _kind_of(lines: _Lines) -> str:
    """Which format a file is in, by its first two lines: `gr0`, `hollins` or `edges`."""
    head = [line for _, line in islice(lines.filled(), 2)]
    if not head:
        raise BadInput(f"{lines.name} is empty.")
    kind = formats.kind_of(head[0], head[-1])
    if kind == "nodes":
        raise BadInput(f"{lines.name} is a node file; give the file of its links.")
    return kind if kind in ("gr0", "hollins") else "edges"


def _read_hollins(lines: _Lines) -> Raw:
    """Header `pages links 1`, then `id url`, then `src dst`."""
    rows = lines.filled()
    last, header = next(rows)
    pages, links = (ids_of(header) or [])[:2]
    ids: list[int] = []
    urls: list[str] = []
    page_lines: list[int] = []
    for last, row in islice(rows, pages):
        parts = row.split(None, 1)
        if len(parts) != 2 or not is_id(parts[0]) or is_id(parts[1].strip()):
            raise lines.wrong(last, "'id url'")
        ids.append(int(parts[0]))
        urls.append(as_text(parts[1]))
        page_lines.append(last)
    if len(ids) < pages:
        raise BadInput(f"{lines.name} announces {pages} pages and ends before the last of them.")
    table = lines.integers(last + 1, (2,), "'src dst'")
    if len(table) != links:
        raise BadInput(f"{lines.name} announces {links} links and holds {len(table)}.")
    return Raw(
        table,
        np.array(ids, np.int64),
        urls,
        edge_at=lambda row: f"line {lines.line_of(row, last + 1)}",
        page_at=lambda row: f"line {page_lines[row]}",
    )


def _read_gr0(lines: _Lines) -> Raw:
    """Lines `n id url` and `e src dst`, in any order."""
    ids: list[int] = []
    urls: list[str] = []
    edges: list[list[int]] = []
    page_lines: list[int] = []
    edge_lines: list[int] = []
    for number, line in lines.filled():
        parts = line.split(None, 2)
        ends = ids_of(line.split(None, 1)[-1]) or []
        if len(parts) == 3 and parts[0] == b"n" and is_id(parts[1]):
            ids.append(int(parts[1]))
            urls.append(as_text(parts[2]))
            page_lines.append(number)
        elif parts[0] == b"e" and len(ends) == 2:
            edges.append(ends)
            edge_lines.append(number)
        else:
            raise lines.wrong(number, "'n id url' or 'e src dst'")
    return Raw(
        np.array(edges, np.int64).reshape(-1, 2),
        np.array(ids, np.int64),
        urls,
        edge_at=lambda row: f"line {edge_lines[row]}",
        page_at=lambda row: f"line {page_lines[row]}",
    )


def _read_edges(lines: _Lines, nodes: _Lines | None) -> Raw:
    """`src dst` or `src dst count`; the count is dropped: a brain folds a page's repeated links."""
    table = lines.integers(1, (2, 3), "'src dst' or 'src dst count'")
    raw = Raw(table[:, :2], edge_at=lambda row: f"line {lines.line_of(row)}")
    if nodes is None:
        return raw
    ids: list[int] = []
    urls: list[str] = []
    crawled: list[bool] = []
    lines_of: list[int] = []
    for number, line in nodes.filled():
        parts = line.split(None, 2)
        if len(parts) != 3 or not is_id(parts[0]) or parts[1] not in (b"0", b"1"):
            raise nodes.wrong(number, "'id<TAB>crawled 1 or 0<TAB>url'")
        ids.append(int(parts[0]))
        crawled.append(parts[1] == b"1")
        lines_of.append(number)
        urls.append(as_text(parts[2]))
    raw.ids, raw.urls, raw.crawled = np.array(ids, np.int64), urls, np.array(crawled, bool)
    raw.page_at = lambda row: f"{nodes.name}, line {lines_of[row]}"
    return raw
