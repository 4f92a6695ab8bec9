"""A mirror of WARC files: the last good version of each page and file, which a browser opens from the disk.

Links, images and styles lead to the files of the mirror. A link to a page that the mirror lacks leads to the web. All
names are those of `filenames`, below an empty folder, so no other file is written or replaced. The user limits the
bytes that are written, because packed files may be much larger when they are unpacked.
"""

from __future__ import annotations

import posixpath
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote, urljoin

from scrapy.http import HtmlResponse, Response, TextResponse

from graphbrain.base.errors import BadInput, GraphbrainError
from graphbrain.base.urls.normalization import address
from graphbrain.crawl.captures import Capture, Captures, title_of, warcs_in
from graphbrain.crawl.filenames import FileNames
from graphbrain.crawl.rewriting import Rewriter
from graphbrain.crawl.scrapy import Document
from graphbrain.crawl.warc import seeds_of

__all__ = ["MOST", "Mirrored", "mirror"]

MOST = 10_000_000_000
"""Default of the most bytes that are written."""
INDEX = "index.html"
ON_A_PAGE = 2_000
"""Most pages that one page of the index lists."""
MOST_REDIRECTS = 10


@dataclass(frozen=True, slots=True)
class Mirrored:
    """The figures of a mirror that was written.

    Attributes:
        pages: The number of pages.
        files: The number of files, including pages, without the index.
        lost: The number of records that refer to a payload which is in no file.
        too_large: The URLs of files that are empty, because their content exceeds the limit of a file.
    """

    pages: int
    files: int
    lost: int
    too_large: Sequence[str]


def mirror(warcs: Iterable[Path], folder: Path, most: int = MOST, *, scripts: bool = False) -> Mirrored:
    """Write a mirror of WARC files, or of those in folders, into a new or an empty folder.

    Args:
        warcs: WARC files, and folders of such files.
        folder: The folder of the mirror.
        most: Most bytes that may be written.
        scripts: Let scripts of pages run. They may lead a page to the web.

    Raises:
        BadInput: A WARC file is broken, or the folder is not empty.
        GraphbrainError: The mirror is larger than `most`, or cannot be written.
    """
    # Find the files and the start pages, and check the folder.
    warcs = [*warcs]
    files, seeds = warcs_in(warcs), frozenset[str]().union(*(seeds_of(path) for path in warcs if path.is_dir()))
    if folder.is_symlink() or (folder.exists() and not (folder.is_dir() and not any(folder.iterdir()))):
        raise BadInput(f"{folder} is not empty: name a directory that is empty, or none yet.")
    # Write the mirror, with the names of its files in a temporary file of SQLite.
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with Captures(files) as captures, closing(sqlite3.connect("", isolation_level=None)) as sql:
            sql.execute("PRAGMA journal_mode = OFF")
            return _Mirror(captures, sql, folder, most, scripts).write(seeds)
    except OSError as error:
        raise GraphbrainError(
            f"{folder} cannot be written ({error.strerror or error}): make room, and name an empty directory."
        ) from None


class _Mirror:
    def __init__(self, captures: Captures, sql: sqlite3.Connection, folder: Path, most: int, scripts: bool) -> None:
        self._captures, self._sql, self._folder, self._room = captures, sql, folder, most
        self._names = FileNames(sql)
        self._names.reserve(INDEX)
        self._rewriter = Rewriter(self._between, scripts=scripts)
        sql.execute("CREATE TABLE page (url TEXT, name TEXT, title TEXT, date TEXT, is_seed INTEGER)")

    def write(self, seeds: frozenset[str]) -> Mirrored:
        """Write all files and the index."""
        # Choose all names first, because pages refer to each other.
        self._name_all()
        files, too_large = 0, []
        for capture in self._captures.last():
            if capture.status != 200:
                continue
            name, response = self._names.of(capture.url), self._captures.response(capture)
            assert name is not None
            # Write an empty file for a body that is too large, so that links to it are not broken.
            if response is None:
                too_large.append(capture.url)
            self._write(name, b"" if response is None else self._content(response))
            files += 1
            if isinstance(response, HtmlResponse):
                page = capture.url, name, title_of(response), capture.date, capture.url in seeds
                self._sql.execute("INSERT INTO page VALUES (?, ?, ?, ?, ?)", page)
        pages = self._write_index()
        return Mirrored(pages, files, self._captures.lost(), too_large)

    def _name_all(self) -> None:
        """Give names to all files. A URL that redirects shares the name of its target."""
        targets: dict[str, str] = {}
        for capture in self._captures.last():
            if capture.status == 200:
                self._names.give(capture.url, capture.kind)
            else:
                targets[capture.url] = _target(capture)
        for url in targets:
            target = url
            for _ in range(MOST_REDIRECTS):
                target = targets.get(target, target)
            if (name := self._names.of(target)) is not None:
                self._names.share(url, name)

    def _content(self, response: Response) -> bytes:
        """Return the content of a file, with references to other files of the mirror."""
        url = response.url
        kind = (response.headers.get("Content-Type") or b"").decode("latin-1").partition(";")[0].strip().lower()
        if not isinstance(response, TextResponse):
            return response.body
        text = response.text.removeprefix("\ufeff")
        if isinstance(response, HtmlResponse):
            text = self._rewriter.page(text, url, _base(response))
        elif kind == "text/css":
            text = self._rewriter.styles(text, url, url)
        elif kind == "image/svg+xml":
            text = self._rewriter.markup(text, url, url)
        else:
            return response.body
        return f"\ufeff{text}".encode("utf-8", "replace")  # the mark overrides a charset that the text names

    def _between(self, url: str, target: str) -> str | None:
        """Return the relative reference from the file of one URL to that of another; None if there is no such file."""
        with suppress(BadInput):
            there, here = self._names.of(address(target)), self._names.of(url)
            if there is not None and here is not None:
                return quote(posixpath.relpath(there, posixpath.dirname(here) or "."))
        return None

    # ---------------------------------------------------------------- files

    def _write(self, name: str, content: bytes) -> None:
        with self._opened(name) as file:
            self._room -= len(content)
            if self._room < 0:
                raise GraphbrainError(
                    f"The mirror is larger than --size allows: {self._folder} has a part of it. Remove that, and give "
                    "a larger --size."
                )
            file.write(content)

    def _opened(self, name: str) -> BinaryIO:
        path = self._folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("xb")

    def _write_index(self) -> int:
        """Write the list of pages, the start pages first. Return the number of pages."""
        (number,) = self._sql.execute("SELECT count(*) FROM page").fetchone()
        rows = self._sql.execute("SELECT title, name, url, date FROM page ORDER BY is_seed DESC, url")
        for part in range(max(1, -(-number // ON_A_PAGE))):
            name = INDEX if not part else f"index-{part + 1}.html"
            more = f"index-{part + 2}.html" if (part + 1) * ON_A_PAGE < number else ""
            if part:
                self._names.reserve(name)
            self._write(name, "".join(_list(rows.fetchmany(ON_A_PAGE), number, more)).encode("utf-8", "replace"))
        return int(number)


def _list(rows: Iterable[tuple[str, str, str, str]], number: int, more: str) -> Iterator[str]:
    """Yield the parts of a page of the index. `more`: the name of the next page, or empty."""
    yield (
        '<!DOCTYPE html><meta charset="utf-8">'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'">'
        f"<title>Mirror</title><h1>{number:,} pages</h1><ul>\n"
    )
    for title, name, url, date in rows:
        yield f'<li><a href="{escape(quote(name))}">{escape(title or url)}</a> {escape(url)}, {escape(date[:10])}\n'
    yield f'</ul><p><a href="{more}">More</a>' if more else "</ul>"


def _target(capture: Capture) -> str:
    """Return the address to which a redirect leads; its own address if the target is no address."""
    with suppress(BadInput, ValueError):
        return address(urljoin(capture.url, capture.location))
    return capture.url


def _base(response: HtmlResponse) -> str:
    try:
        return Document.of(response).base
    except Exception:  # noqa: BLE001  # a page that cannot be parsed has the base of its URL
        return response.url
