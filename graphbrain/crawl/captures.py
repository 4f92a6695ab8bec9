"""The captures of WARC files, and the answers that they hold, read again as the crawler reads them.

An index in a temporary file of SQLite has each capture with the record of its payload: revisit records lead to it by
the record that they name, or by their digest. The memory that this takes does not grow with the files.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.http import HtmlResponse, Response
from scrapy.responsetypes import responsetypes
from scrapy.statscollectors import DummyStatsCollector
from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed

from graphbrain.base.errors import BadInput
from graphbrain.base.urls.normalization import address
from graphbrain.content.pagefacts import PageFacts
from graphbrain.crawl.scrapy import Document, as_page, true_coding
from graphbrain.crawl.warc import whole_members

__all__ = ["Capture", "Captures", "title_of", "warcs_in"]

MOST_BYTES = 64 << 20
"""Bytes of a payload, packed or unpacked, beyond which it is left out."""
_TABLES = (
    "CREATE TABLE payload (id INTEGER PRIMARY KEY, url TEXT, date TEXT, digest TEXT, file INTEGER, offset INTEGER,"
    " status INTEGER, kind TEXT, location TEXT)",
    "CREATE INDEX by_record ON payload (url, date)",
    "CREATE INDEX by_digest ON payload (digest)",
    "CREATE TABLE capture (id INTEGER PRIMARY KEY, url TEXT, date TEXT, payload INTEGER, digest TEXT, origin TEXT,"
    " origin_date TEXT)",
    "CREATE INDEX by_url ON capture (url, date)",
)


@dataclass(frozen=True, slots=True)
class Capture:
    """An answer at a time, of those with a payload.

    Attributes:
        url: The address that was asked for.
        date: The time of the record, as WARC files have it.
        digest: The digest of the payload.
        kind: The media type, in lower case, without parameters.
        location: The Location of a redirect; else empty.
    """

    url: str
    date: str
    digest: str
    status: int
    kind: str
    location: str
    file: int
    offset: int


def warcs_in(paths: Iterable[Path]) -> list[Path]:
    """Return the finished WARC files among paths and in the folders among them. Raise BadInput if there is none."""
    files = [
        file
        for path in paths
        for file in (sorted(path.rglob("*.warc")) + sorted(path.rglob("*.warc.gz")) if path.is_dir() else [path])
    ]
    if not files:
        raise BadInput("No file there ends in .warc.gz or .warc: name WARC files, or their directory.")
    for file in files:
        if not file.is_file():
            raise BadInput(f"{file} is no file: name WARC files, or their directory.")
    return files


class Captures:
    """The captures of files. Use it as a context manager.

    Raises:
        BadInput: A file is no WARC file, or is broken off.
    """

    def __init__(self, files: Sequence[Path]) -> None:
        self._files = files
        self._sql = sqlite3.connect("", isolation_level=None)
        for statement in ("PRAGMA journal_mode = OFF", *_TABLES, "BEGIN"):
            self._sql.execute(statement)
        # Scrapy's own middleware unpacks bodies, within its limit.
        run = Crawler(Spider, {"DOWNLOAD_MAXSIZE": MOST_BYTES, "DOWNLOAD_WARNSIZE": 0})
        run.stats = DummyStatsCollector(run)
        self._unpacking = HttpCompressionMiddleware(crawler=run)
        # Index all records, then give each revisit the payload that it refers to.
        for number, file in enumerate(files):
            self._index(number, file)
        of_record, of_digest = "p.url = capture.origin AND p.date = capture.origin_date", "p.digest = capture.digest"
        for condition in (f"{of_record} AND {of_digest}", of_digest, of_record):
            self._sql.execute(
                f"UPDATE capture SET payload = (SELECT p.id FROM payload p WHERE {condition} LIMIT 1)"
                " WHERE payload IS NULL"
            )
        self._sql.execute("COMMIT")

    def __enter__(self) -> Captures:
        return self

    def __exit__(self, *_: object) -> None:
        self._sql.close()

    def changes(self) -> Iterator[Capture]:
        """Yield the first capture of each payload of each URL, by time."""
        yield from self._found("min", "GROUP BY c.url, p.digest ORDER BY extreme")

    def last(self) -> Iterator[Capture]:
        """Yield the last good capture of each URL, and the last redirect of those that have none, by URL."""
        yield from self._found("max", "WHERE p.status = 200 GROUP BY c.url")
        yield from self._found(
            "max",
            "WHERE p.location > '' AND NOT EXISTS (SELECT 1 FROM capture d JOIN payload q ON q.id = d.payload"
            " WHERE d.url = c.url AND q.status = 200) GROUP BY c.url",
        )

    def lost(self) -> int:
        """Return the number of captures whose payload is in no file."""
        return int(self._sql.execute("SELECT count(*) FROM capture WHERE payload IS NULL").fetchone()[0])

    def response(self, capture: Capture) -> Response | None:
        """Return the answer of a capture, unpacked, as a page if it is one; None if it is too large."""
        with self._files[capture.file].open("rb") as file:
            file.seek(capture.offset)
            record = next(iter(ArchiveIterator(file)))
            body = record.raw_stream.read(MOST_BYTES + 1)
            headers = [(name, value.encode("latin-1", "replace")) for name, value in record.http_headers.headers]
        if len(body) > MOST_BYTES:
            return None
        several: dict[str, list[bytes]] = {}
        for name, value in headers:
            several.setdefault(name, []).append(value)
        raw = true_coding(Response(capture.url, capture.status, several, body))
        try:
            answer = self._unpacking.process_response(Request(capture.url), raw)
        except IgnoreRequest:
            return None  # it is too large when it is unpacked
        except Exception:  # noqa: BLE001  # what a site labels as packed may be anything
            answer = raw
        assert isinstance(answer, Response)
        kind = responsetypes.from_args(headers=answer.headers, url=answer.url, body=answer.body)
        return as_page(answer.replace(cls=kind))

    def _found(self, extreme: str, rest: str) -> Iterator[Capture]:
        """Yield the first (min) or the last (max) row of each group: SQLite takes all columns from the row of an
        extreme."""
        rows = self._sql.execute(
            "SELECT c.url, c.date, p.digest, p.status, p.kind, p.location, p.file, p.offset,"
            f" {extreme}(c.date || printf(' %015d', c.id)) AS extreme"
            f" FROM capture c JOIN payload p ON p.id = c.payload {rest}"
        )
        yield from (Capture(*row[:-1]) for row in rows)

    def _index(self, number: int, file: Path) -> None:
        try:
            with file.open("rb") as opened:
                # A file that ends within a record was broken off.
                if file.suffix == ".gz" and (whole := whole_members(opened)[0]) < file.stat().st_size:
                    raise EOFError(f"it is broken off after {whole:,} bytes")
                opened.seek(0)
                kinds, records = set[str](), ArchiveIterator(opened)
                for record in records:
                    kinds.add(record.rec_type)
                    if record.rec_type in ("response", "revisit"):
                        self._add(number, records.get_record_offset(), record)
            if not kinds:
                raise EOFError("it has no record")
        except (ArchiveLoadFailed, EOFError) as error:
            raise BadInput(f"{file} is no whole WARC file ({error}).") from None
        except OSError as error:
            raise BadInput(f"{file} cannot be read ({error.strerror or error}).") from None

    def _add(self, number: int, offset: int, record: Any) -> None:
        get = record.rec_headers.get_header
        url, date, digest = get("WARC-Target-URI"), get("WARC-Date"), get("WARC-Payload-Digest") or ""
        # A payload that is not whole is no capture.
        if get("WARC-Truncated") or not (url or "").startswith(("http://", "https://")):
            return
        with suppress(BadInput):
            url = address(url)
        # A response has a payload of its own; a revisit has that of an earlier one.
        payload, origin = None, (get("WARC-Refers-To-Target-URI"), get("WARC-Refers-To-Date"))
        if record.rec_type == "response" and record.http_headers is not None:
            http = record.http_headers
            kind = http.get_header("Content-Type", "").partition(";")[0].strip().lower()
            status, location = http.get_statuscode(), ""
            if status in ("301", "302", "303", "307", "308"):
                location = http.get_header("Location", "").encode("latin-1", "replace").decode("utf-8", "replace")
            payload = self._sql.execute(
                "INSERT INTO payload (url, date, digest, file, offset, status, kind, location)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (get("WARC-Target-URI"), date, digest, number, offset, status, kind, location),
            ).lastrowid
        self._sql.execute(
            "INSERT INTO capture (url, date, payload, digest, origin, origin_date) VALUES (?, ?, ?, ?, ?, ?)",
            (url, date, payload, digest, *origin),
        )


def title_of(response: HtmlResponse) -> str:
    """Return the title of a page; empty where it has none, or cannot be read."""
    facts = PageFacts(response.url)
    with suppress(Exception):  # what cannot be read has no title
        Document.of(response).state(facts)
    return str(facts.arguments().get("title") or "")
