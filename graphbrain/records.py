"""Reads recorded crawls from files.

Four formats, plain or gzipped, told apart by what is in the file, not by its name:

    header `pages links 1`, then `id url`, then `src dst`       as Massey's hollins.dat
    `n id url` and `e src dst`                                  as Kleinberg's query graphs
    `src dst [count]`, tab or space, `#` comments               edge list; URLs are generated
    the same with a node file `id<TAB>crawled 1/0<TAB>url`      as numpy-doc

Numbers are parsed by numpy (3.2 M links in a second); only when it refuses is the text searched,
line by line, for the one that is wrong, and BadInput names it.
"""

from __future__ import annotations

import gzip
import io
import warnings
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from graphbrain.errors import BadInput
from graphbrain.recording import Ints, Raw, Recording, as_text, built, generated_url, is_id

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
            return cls(path.name, gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
        except (EOFError, zlib.error, gzip.BadGzipFile):
            raise BadInput(f"{path} is a damaged or shortened gzip file.") from None
        except OSError as error:
            raise BadInput(f"{path} cannot be read ({error.strerror or error}).") from None

    def head(self, count: int) -> list[bytes]:
        """The first lines that are neither blank nor a comment."""
        found: list[bytes] = []
        for line in io.BytesIO(self.text):
            if line.strip() and not line.startswith(b"#"):
                found.append(line)
                if len(found) == count:
                    break
        return found

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
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", DeprecationWarning)
                warnings.filterwarnings("ignore", message=".*no data.*", category=UserWarning)
                table = np.loadtxt(io.BytesIO(text), dtype=np.int64, ndmin=2)
        except (ValueError, DeprecationWarning, OverflowError):
            raise self.wrong(self._malformed(start, columns), wanted) from None
        if table.size and (table.shape[1] not in columns or table.min() < 0):
            raise self.wrong(self._malformed(start, columns), wanted)
        return table if table.size else np.empty((0, columns[0]), np.int64)

    def _malformed(self, start: int, columns: tuple[int, ...]) -> int:
        """The first line that is not of numbers, or not as wide as the first one."""
        for number, line in enumerate(self.text.split(b"\n")[start - 1 :], start):
            parts = line.split(b"#", 1)[0].split()
            if not parts:
                continue
            if len(parts) not in columns or not all(is_id(part) for part in parts):
                return number
            columns = (len(parts),)
        return start


def _kind_of(lines: _Lines) -> str:
    """Which format a file is in, by its first two lines: `gr0`, `hollins` or `edges`."""
    head = [line.split(None, 2) for line in lines.head(2)]
    if not head:
        raise BadInput(f"{lines.name} is empty.")
    first, second = head[0], head[1] if len(head) > 1 else []
    if first[0] in (b"n", b"e"):
        return "gr0"
    if len(first) == 3 and first[0].isdigit() and b"://" in first[2]:
        raise BadInput(f"{lines.name} is a node file; give the file of its links.")
    if len(first) == 3 and len(second) > 1 and b":" in second[1]:
        return "hollins"
    return "edges"


def _read_hollins(lines: _Lines) -> Raw:
    """Header `pages links 1`, then `id url`, then `src dst`."""
    rows = lines.text.split(b"\n")
    header = rows[0].split()
    if len(header) != 3 or not all(is_id(part) for part in header):
        raise lines.wrong(1, "a header 'pages links 1'")
    pages, links = int(header[0]), int(header[1])
    if pages + 1 > len(rows):
        raise BadInput(f"{lines.name} announces {pages} pages and ends before the last of them.")
    ids: list[int] = []
    urls: list[str] = []
    for number, row in enumerate(rows[1 : pages + 1], 2):
        parts = row.split(None, 1)
        if len(parts) != 2 or not is_id(parts[0]) or is_id(parts[1].strip()):
            raise lines.wrong(number, "'id url'")
        ids.append(int(parts[0]))
        urls.append(as_text(parts[1]))
    table = lines.integers(pages + 2, (2,), "'src dst'")
    if len(table) != links:
        raise BadInput(f"{lines.name} announces {links} links and holds {len(table)}.")
    return Raw(
        table,
        np.array(ids, np.int64),
        urls,
        edge_at=lambda row: f"line {lines.line_of(row, pages + 2)}",
        page_at=lambda row: f"line {row + 2}",
    )


def _read_gr0(lines: _Lines) -> Raw:
    """Lines `n id url` and `e src dst`, in any order."""
    ids: list[int] = []
    urls: list[str] = []
    edges: list[tuple[int, int]] = []
    page_lines: list[int] = []
    edge_lines: list[int] = []
    for number, line in enumerate(lines.text.split(b"\n"), 1):
        parts = line.split(None, 2)
        if not parts:
            continue
        if len(parts) == 3 and parts[0] == b"n" and is_id(parts[1]):
            ids.append(int(parts[1]))
            urls.append(as_text(parts[2]))
            page_lines.append(number)
        elif len(parts) == 3 and parts[0] == b"e" and is_id(parts[1]) and is_id(parts[2].strip()):
            edges.append((int(parts[1]), int(parts[2])))
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
    for number, line in enumerate(nodes.text.split(b"\n"), 1):
        parts = line.split(None, 2)
        if not parts or parts[0].startswith(b"#"):
            continue
        if len(parts) != 3 or not is_id(parts[0]) or parts[1] not in (b"0", b"1"):
            raise nodes.wrong(number, "'id<TAB>crawled 1 or 0<TAB>url'")
        ids.append(int(parts[0]))
        crawled.append(parts[1] == b"1")
        urls.append(as_text(parts[2]))
    raw.ids, raw.urls, raw.crawled = np.array(ids, np.int64), urls, np.array(crawled, bool)
    raw.page_at = lambda row: f"{nodes.name}, line {nodes.line_of(row)}"
    return raw
