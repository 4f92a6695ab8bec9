"""A reader of the captures in WARC files, which makes the same responses of them as the crawler got.

A temporary file of SQLite has each capture with the record of its payload. The payload of a revisit record is found by
the record that it names, or by its digest. The need of memory does not grow with the files.
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
"""Most bytes of a payload, packed or unpacked. Larger ones are left out."""
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
    """An answer with a payload that was recorded at some time.

    Attributes:
        url: The address that was requested.
        date: The time of the record, in the form of WARC files.
        digest: The digest of the payload.
        status: The status of the answer.
        kind: The media type, in lower case, without parameters.
        location: The Location of a redirect; else empty.
        file: The number of the file that has the payload.
        offset: The offset of the record with the payload, in bytes.
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
    """An index of the captures in WARC files. Use it as a context manager.

    Raises:
        BadInput: A file is no WARC file, or is broken off.
    """

    def __init__(self, files: Sequence[Path]) -> None:
        self._files = files
        self._sql = sqlite3.connect("", isolation_level=None)
        for statement in ("PRAGMA journal_mode = OFF", *_TABLES, "BEGIN"):
            self._sql.execute(statement)
        # Unpack bodies by Scrapy's own middleware, because it has a limit of their size.
        run = Crawler(Spider, {"DOWNLOAD_MAXSIZE": MOST_BYTES, "DOWNLOAD_WARNSIZE": 0})
        run.stats = DummyStatsCollector(run)
        self._unpacking = HttpCompressionMiddleware(crawler=run)
        # Index all records, then find the payload of each revisit record, by the best evidence first.
        for number, file in enumerate(files):
            self._index(number, file)
        by_record, by_digest = "p.url = capture.origin AND p.date = capture.origin_date", "p.digest = capture.digest"
        for condition in (f"{by_record} AND {by_digest}", by_digest, by_record):
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
        """Yield the first capture of each payload of each URL, in order of time."""
        yield from self._found("min", "GROUP BY c.url, p.digest ORDER BY extreme")

    def last(self) -> Iterator[Capture]:
        """Yield the last good capture of each URL, then the last redirect of each URL without a good capture."""
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
        """Return the unpacked answer of a capture, as a page if it is one; None if it is too large."""
        # Read the record.
        headers: dict[str, list[bytes]] = {}
        with self._files[capture.file].open("rb") as file:
            file.seek(capture.offset)
            record = next(iter(ArchiveIterator(file)))
            body = record.raw_stream.read(MOST_BYTES + 1)
            for name, value in record.http_headers.headers:
                headers.setdefault(name, []).append(value.encode("latin-1", "replace"))
        if len(body) > MOST_BYTES:
            return None
        # Unpack the body. One that cannot be unpacked stays as it is: its label may be false.
        packed = true_coding(Response(capture.url, capture.status, headers, body))
        try:
            answer = self._unpacking.process_response(Request(capture.url), packed)
        except IgnoreRequest:
            return None  # the unpacked body is too large
        except Exception:  # noqa: BLE001  # each way of packing raises its own errors
            answer = packed
        assert isinstance(answer, Response)
        # Make a response of the class that Scrapy would choose.
        kind = responsetypes.from_args(headers=answer.headers, url=answer.url, body=answer.body)
        return as_page(answer.replace(cls=kind))

    def _found(self, extreme: str, rest: str) -> Iterator[Capture]:
        """Yield the first (min) or the last (max) capture of each group.

        SQLite takes the other columns of a group from the row with the minimum or the maximum.
        """
        rows = self._sql.execute(
            "SELECT c.url, c.date, p.digest, p.status, p.kind, p.location, p.file, p.offset,"
            f" {extreme}(c.date || printf(' %015d', c.id)) AS extreme"
            f" FROM capture c JOIN payload p ON p.id = c.payload {rest}"
        )
        yield from (Capture(*row[:-1]) for row in rows)

    def _index(self, number: int, file: Path) -> None:
        try:
            with file.open("rb") as opened:
                # Refuse a file that ends within a record.
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
        """Index a record of an answer. `number`: that of its file."""
        get = record.rec_headers.get_header
        url, date, digest = get("WARC-Target-URI"), get("WARC-Date"), get("WARC-Payload-Digest") or ""
        # Skip answers without a whole payload, and records that are not of the web.
        if get("WARC-Truncated") or not (url or "").startswith(("http://", "https://")):
            return
        with suppress(BadInput):
            url = address(url)
        # Add the payload of a response. That of a revisit record is found later, by the record that it names.
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
        # Add the capture.
        self._sql.execute(
            "INSERT INTO capture (url, date, payload, digest, origin, origin_date) VALUES (?, ?, ?, ?, ?, ?)",
            (url, date, payload, digest, *origin),
        )


def title_of(response: HtmlResponse) -> str:
    """Return the title of a page; empty if it has none, or cannot be read."""
    facts = PageFacts(response.url)
    with suppress(Exception):  # a page that cannot be read has no title
        Document.of(response).state(facts)
    return str(facts.arguments().get("title") or "")
