"""Reader of files of recorded crawls, plain or gzipped. The format follows from a file's content, not from its name:

    `src dst [count]`                                        links by id
    `id crawled url`, `id url`                               pages by id
    `id reversed.host.name`                                  hosts, as CommonCrawl's vertices: pages http://host.name/
    header `pages links 1`, then `id url`, then `src dst`    as Massey's hollins.dat
    `n id url` and `e src dst`                               as Kleinberg's query graphs
    a JSON object a line                                     visits; `harvest` parses the lines

A `Taker` receives the content. That of `harvest` turns it into the form of a brain, and counts bad lines. That of
`recording` in the laboratory keeps it as recorded, and refuses a file with a bad line. A file is read in blocks of
whole lines. numpy parses the numbers, and only a block that numpy refuses is read line by line. `formats` defines
comments and blank lines.
"""

from __future__ import annotations

import gzip
import zlib
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from graphbrain.base.errors import BadInput
from graphbrain.base.numeric.arrays import Ints
from graphbrain.files import formats
from graphbrain.files.formats import WIDTHS, RecordedPage, filled

__all__ = ["Progress", "ReadMeter", "Source", "Taker", "line_of_link", "read"]

BLOCK_BYTES = 1 << 24
LINES_LOOKED_AT = 20
"""The number of lines by which the kind of a file is recognized. The first may be a title, or a bad line."""
Progress = Callable[[int, int], None]
"""Called with the bytes read and the bytes in all, as stored on the disk."""


class Taker(Protocol):
    """The receiver of a file's content."""

    strict: bool
    """True if all links of a file must have the same form: with a count, or without."""

    def header(self, pages: int, links: int) -> None:
        """Receive the sizes that the header of the file names."""

    def links(self, table: Ints) -> None:
        """Receive some links in their order, as rows of two ids."""

    def page(self, source: Source, number: int, page: RecordedPage) -> None:
        """Receive the page of line `number`. Raise BadInput for a bad page: its line is then refused."""

    def refuse(self, source: Source, number: int, line: bytes, why: str) -> None:
        """Receive the bad line `number`, and the reason `why` it is bad."""


class ReadMeter:
    """The number of bytes read from all files, passed on to a progress callback."""

    def __init__(self, total: int = 0, progress: Progress = lambda *_: None) -> None:
        self._total, self._done, self._progress = total, 0, progress

    def file(self, at: int) -> None:
        """Report the bytes read from the current file."""
        self._progress(min(self._done + at, self._total), self._total)

    def end(self, size: int) -> None:
        self._done += size
        self.file(0)


@dataclass
class Source:
    """One file: its path, its kind (as of `formats.kind_of`), and its size on the disk in bytes."""

    path: Path
    kind: str
    size: int

    @classmethod
    def of(cls, path: Path, kind: str | None = None) -> Source:
        """Return the file at `path` with its kind. `kind` is the default if the content shows no kind.

        Raises:
            BadInput: The file is empty, cannot be read, or has no kind.
        """
        source = cls(path, "", 0)
        _, block = next(source.blocks(lambda _: None, 1 << 16), (0, b""))
        head = list(islice(filter(filled, block.splitlines()), LINES_LOOKED_AT))
        if not head:
            raise BadInput(f"{path} is empty.")
        source.kind, source.size = _kind(head) or kind or "", path.stat().st_size
        if not source.kind:
            text = b" ".join(head[0].split()).decode("utf-8", "replace")
            raise BadInput(
                f"{path} begins with {text[:60]!r}, which is no line of a link file ('src dst'), a page file ('id url')"
                " or of JSON."
            )
        return source

    def beside(self, *names: str) -> list[Path]:
        """Return the existing files whose names have one of these words in place of `edges`."""
        others = [self.path.with_name(self.path.name.replace("edges", name)) for name in names]
        return [other for other in others if other != self.path and other.exists()]

    def blocks(self, at: Callable[[int], None], most: int = BLOCK_BYTES) -> Iterator[tuple[int, bytes]]:
        """Yield blocks of whole lines, each with the number of its first line. Call `at` with the position in the file,
        in bytes."""
        number, rest, first = 1, b"", True
        try:
            with self.path.open("rb") as raw:
                # The first bytes show whether it is gzipped, whatever its name.
                packed = raw.read(2) == b"\x1f\x8b"
                raw.seek(0)
                file: Any = gzip.GzipFile(fileobj=raw) if packed else raw
                while data := file.read(most):
                    at(raw.tell())
                    data, first = data.removeprefix(formats.BOM) if first else data, False
                    # Cut after the last whole line.
                    cut = data.rfind(b"\n") + 1
                    block, rest = (rest + data[:cut], data[cut:]) if cut else (b"", rest + data)
                    if block:
                        yield number, block
                        number += block.count(b"\n")
        except (EOFError, zlib.error, gzip.BadGzipFile):
            raise BadInput(f"{self.path} is a damaged or shortened gzip file.") from None
        except OSError as error:
            raise BadInput(f"{self.path} cannot be read ({error.strerror or error}).") from None
        if rest:
            yield number, rest


def _kind(head: Sequence[bytes]) -> str:
    """Return the kind of the first line that shows one; empty if none does."""
    return next((kind for line, after in pairwise([*head, b""]) if (kind := formats.kind_of(line, after))), "")


def read(source: Source, taker: Taker, meter: ReadMeter) -> None:
    """Pass the content of a file of pages and links by number to `taker`. Raise BadInput if the file cannot be read."""
    widths = WIDTHS.get(source.kind, ())
    headed = source.kind != "hollins"
    for number, block in source.blocks(meter.file):
        if not headed:
            number, block, headed = _without_header(source, taker, number, block)
        # Parse the whole block as numbers. If that fails, parse it line by line.
        table = formats.table(block) if widths and source.kind != "gr0" else None
        if table is None or table.shape[1] not in widths:
            table = _by_line(source, taker, number, block, widths)
        elif taker.strict and len(table):
            widths = table.shape[1:]
        table = table[:, :2]
        # Small ids take half the memory.
        small = not table.size or table.max() < 2**31
        taker.links(table.astype(np.int32) if small else table)
    meter.end(source.size)


def _without_header(source: Source, taker: Taker, number: int, block: bytes) -> tuple[int, bytes, bool]:
    """Return the part of a block after the header, the number of its first line, and whether the block has the
    header."""
    at = 0
    for line in block.split(b"\n"):
        at += len(line) + 1
        if formats.is_header(line):
            taker.header(*(formats.ids_of(line) or ())[:2])
            return number + 1, block[at:], True
        if filled(line):
            taker.refuse(source, number, line, formats.NO_LINE)
        number += 1
    return number, b"", False


def _by_line(source: Source, taker: Taker, number: int, block: bytes, widths: Sequence[int]) -> Ints:
    """Read a block line by line, and return its links."""
    links = array("q")
    for at, line in enumerate(block.split(b"\n"), number):
        if not filled(line):
            continue
        entry, why = formats.entry(source.kind, line), formats.NO_LINE
        # Pass on a page, collect a link, or refuse the line with the reason.
        if isinstance(entry, RecordedPage):
            try:
                taker.page(source, at, entry)
                continue
            except BadInput as error:
                why = str(error).rstrip(".")
        elif entry is not None and len(entry) in widths:
            links.extend(entry[:2])
            widths = (len(entry),) if taker.strict else widths
            continue
        taker.refuse(source, at, line, why)
    return np.array(links, np.int64).reshape(-1, 2)


def line_of_link(source: Source, row: int) -> int:
    """Return the number of the line that contains link number `row` (from 0)."""
    for number, block in source.blocks(lambda _: None):
        for at, line in enumerate(block.split(b"\n"), number):
            if filled(line) and isinstance(formats.entry(source.kind, line), list):
                if not row:
                    return at
                row -= 1
    raise IndexError(row)
