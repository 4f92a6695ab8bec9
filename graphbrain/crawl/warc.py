"""WARC files of a crawl: written, rotated, indexed, and mended after a kill.

ISO 28500:2017 (WARC 1.1), with each record in a gzip member of its own. A file that is being written has the suffix
`.open` and a lock. The two records of an exchange are one write at its end, so after a kill at most the last member is
torn. `mend` cuts that one off and finishes the file. A finished file has a CDXJ index beside it. `captures.sqlite` in
the same folder records the captures, so that a payload which was written once is a revisit record from then on, in any
file and by any process. A 304 is a revisit record, too, of the last payload of its URL. Its block is empty, because
readers show the headers of a revisit record in place of the page's: those of the 304 are a metadata record.
"""

from __future__ import annotations

import base64
import fcntl
import hashlib
import json
import os
import re
import socket
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import astuple, dataclass, replace
from datetime import datetime
from http.client import responses as reasons
from io import BytesIO, FileIO
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote_from_bytes, unquote_to_bytes, urlsplit

from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import BufferWARCWriter

__all__ = ["Archive", "Exchange", "Mended", "cdxj_key", "digest_of", "mend", "seeds_of", "whole_members"]

OPEN = ".open"
CAPTURES = "captures.sqlite"
LEVEL = 6
"""The level of gzip: warcio's own 9 takes three times as long for 1 % less."""
CHUNK = 1 << 16
NOT_MODIFIED = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
Headers = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its answer.

    Attributes:
        sent, got: The headers. Each letter of their texts is the byte of this number (Latin-1).
        body: The payload as received, with its content coding.
        at: The time at which it was received (UTC).
        truncated: The reason why the body is not whole, a word of WARC-Truncated; empty if it is.
    """

    url: str
    method: str
    sent: Headers
    request_body: bytes
    status: int
    protocol: str
    got: Headers
    body: bytes
    at: datetime
    ip: str | None = None
    truncated: str = ""

    def header(self, name: str) -> str | None:
        """Return the first value of a header of the answer."""
        return next((value for key, value in self.got if key.lower() == name), None)


class _Head(StatusAndHeaders):  # type: ignore[misc]  # warcio has no types
    """The head of a message, of which warcio itself rewrites what is not ASCII."""

    def compute_headers_buffer(self, header_filter: Any = None) -> None:
        self.headers_buff = self.to_bytes(header_filter, "latin-1")


def digest_of(payload: bytes) -> str:
    """Return the digest of a payload in the form of WARC files: SHA-1 in base 32."""
    return "sha1:" + base64.b32encode(hashlib.sha1(payload, usedforsecurity=False).digest()).decode("ascii")


class Archive:
    """A folder of WARC files, written by one thread of each process. Methods raise OSError if it cannot be written."""

    def __init__(
        self, folder: Path, info: Mapping[str, str], most: int = 1_000_000_000, seeds: Iterable[str] = ()
    ) -> None:
        """Open the archive. `info`: fields of the warcinfo record of each file. `most`: bytes from which a file is
        finished. `seeds`: the URLs at which its crawl begins, in addition to those of earlier runs."""
        folder.mkdir(parents=True, exist_ok=True)
        self._folder, self._info, self._most = folder, info, most
        with _as_os_error():
            self._captures, self._index = _Captures(folder), _Index()
            self._captures.add_seeds(seeds)
        self._writer = BufferWARCWriter(gzip=False, warc_version="WARC/1.1")
        self._file: FileIO | None = None
        self._end = 0
        """The bytes of the file that are whole records."""
        self._serial = 0
        self.records = 0

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def write(self, exchange: Exchange) -> None:
        """Write the response, or a revisit record in its place, and the request."""
        with _as_os_error():
            self._write(exchange)

    def holds(self, url: str, etag: str | None, modified: str | None) -> bool:
        """Return whether the last payload of a URL is of the answer with this ETag and Last-Modified (None: not asked
        for), so that a 304 can be written as a revisit record of it."""
        with _as_os_error():
            before = self._captures.of_url(url)
        return before is not None and etag in (None, before.etag) and modified in (None, before.modified)

    def close(self) -> None:
        """Finish the file that is being written."""
        try:
            with _as_os_error():
                self._finish()
        finally:
            self._captures.close()
            self._index.close()

    def _write(self, exchange: Exchange) -> None:
        if self._file is None or self._end >= self._most:
            self._begin(exchange.at)
        date = exchange.at.strftime("%Y-%m-%dT%H:%M:%SZ")  # whole seconds, as indexes have: wabac.js compares them
        given = {"WARC-Date": date} | ({"WARC-IP-Address": exchange.ip} if exchange.ip else {})
        response, origin = self._response(exchange, given)
        beside = {**given, "WARC-Concurrent-To": response.rec_headers.get_header("WARC-Record-ID")}
        path = urlsplit(exchange.url)
        target = (path.path or "/") + (f"?{path.query}" if path.query else "")
        request = _Head(f"{exchange.method} {target} HTTP/1.1", [*exchange.sent], is_http_request=True)
        others = [
            self._writer.create_warc_record(
                exchange.url,
                "request",
                payload=BytesIO(exchange.request_body),
                http_headers=request,
                warc_headers_dict=beside,
            )
        ]
        if response.rec_type == "revisit" and response.http_headers is None:
            others.append(
                self._writer.create_warc_record(
                    exchange.url, "metadata", payload=BytesIO(_fields(exchange)), warc_headers_dict=beside
                )
            )
        offset, length = self._put(response, *others)
        self._index.add(_cdxj(response, length, offset, self._name.removesuffix(OPEN)))
        if origin is not None:
            self._captures.add(exchange.url, origin)

    def _response(self, exchange: Exchange, given: dict[str, str]) -> tuple[Any, _Payload | None]:
        """Return the record of an answer, and the payload that is from now on the last one of its URL."""
        head = _Head(
            f"{exchange.status} {reasons.get(exchange.status, '')}".strip(), [*exchange.got], exchange.protocol
        )
        etag, modified = exchange.header("etag"), exchange.header("last-modified")
        # A 304 refers to the last payload of this URL.
        if exchange.status == 304 and (before := self._captures.of_url(exchange.url)) is not None:
            record = self._revisit(exchange.url, before, None, given)
            record.rec_headers.replace_header("WARC-Profile", NOT_MODIFIED)
            return record, replace(before, etag=etag or before.etag, modified=modified or before.modified)
        # Errors and answers that were cut off are kept as they came.
        if exchange.status != 200 or not exchange.body or exchange.truncated:
            given = given | ({"WARC-Truncated": exchange.truncated} if exchange.truncated else {})
            return self._full(exchange, head, given), None
        # A payload that is in the archive already is referred to.
        digest = digest_of(exchange.body)
        if (earlier := self._captures.of_digest(digest)) is not None:
            payload = _Payload(digest, *earlier, etag, modified)
            return self._revisit(exchange.url, payload, head, given), payload
        return self._full(exchange, head, given), _Payload(digest, exchange.url, given["WARC-Date"], etag, modified)

    def _full(self, exchange: Exchange, head: _Head, given: dict[str, str]) -> Any:
        return self._writer.create_warc_record(
            exchange.url, "response", payload=BytesIO(exchange.body), http_headers=head, warc_headers_dict=given
        )

    def _revisit(self, url: str, payload: _Payload, head: _Head | None, given: dict[str, str]) -> Any:
        """Return a revisit record of a payload. Without a head its block is empty."""
        return self._writer.create_revisit_record(
            url, payload.digest, payload.url, payload.date, head, warc_headers_dict=given
        )

    def _put(self, *records: Any) -> tuple[int, int]:
        """Write records at once, each as a member. Return the offset and the length of the first. If not all can be
        written, none is."""
        assert self._file is not None
        members = [self._packed(record) for record in records]
        rest, offset = memoryview(b"".join(members)), self._end
        try:
            self._file.seek(offset)
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError:
            with suppress(OSError):
                self._file.truncate(offset)
            raise
        self._end = self._file.tell()
        self.records += len(records)
        return offset, len(members[0])

    def _packed(self, record: Any) -> bytes:
        """Return a record as a gzip member."""
        self._writer.out = BytesIO()
        self._writer.write_record(record)
        packer = zlib.compressobj(LEVEL, zlib.DEFLATED, zlib.MAX_WBITS + 16)
        return packer.compress(self._writer.out.getvalue()) + packer.flush()

    def _begin(self, at: datetime) -> None:
        """Begin a new file, with a name in the customary form: prefix, time, number, process and host."""
        self._finish()
        stamp, host = at.strftime("%Y%m%d%H%M%S%f")[:17], socket.gethostname().split(".")[0]
        while self._file is None:
            self._name = f"graphbrain-{stamp}-{self._serial:05d}-{os.getpid()}-{host}.warc.gz{OPEN}"
            self._serial += 1
            if (self._folder / self._name.removesuffix(OPEN)).exists():
                continue  # it would be replaced when this one is finished
            stream = (self._folder / self._name).open("xb", buffering=0)
            fcntl.flock(stream, fcntl.LOCK_EX)
            # Another process may have taken it for one that a killed process has left, before it was locked.
            if _is_at(stream, self._folder / self._name):
                self._file, self._end = stream, 0
            else:
                stream.close()
        self._put(self._writer.create_warcinfo_record(self._name.removesuffix(OPEN), dict(self._info)))

    def _finish(self) -> None:
        if self._file is None:
            return
        with self._file as file:
            self._file = None
            file.truncate(self._end)
            _finished(self._folder / self._name, self._index)


class _Index:
    """The lines of the index of one file, in a temporary file of SQLite: a file has up to a million."""

    def __init__(self) -> None:
        self._sql = sqlite3.connect("")
        self._sql.execute("CREATE TABLE line (text TEXT)")

    def add(self, line: str) -> None:
        self._sql.execute("INSERT INTO line VALUES (?)", (line,))

    def write(self, file: Path) -> None:
        """Write the lines in their order, and begin anew."""
        try:
            with file.open("w", encoding="utf-8") as out:
                out.writelines(f"{line}\n" for (line,) in self._sql.execute("SELECT text FROM line ORDER BY text"))
        finally:
            self._sql.execute("DELETE FROM line")

    def close(self) -> None:
        self._sql.close()


def _finished(file: Path, index: _Index) -> None:
    """Write the index of a file, and give it its final name."""
    name = file.name.removesuffix(OPEN)
    index.write(file.with_name(name.removesuffix(".warc.gz") + ".cdxj"))
    file.rename(file.with_name(name))


def _is_at(opened: IO[bytes], path: Path) -> bool:
    """Return whether an open file still has this path."""
    try:
        return os.path.samestat(os.fstat(opened.fileno()), path.stat())
    except FileNotFoundError:
        return False


@contextmanager
def _as_os_error() -> Iterator[None]:
    """Raise an error of SQLite, such as a full disk, as OSError."""
    try:
        yield
    except sqlite3.Error as error:
        raise OSError(str(error)) from error


@dataclass(frozen=True, slots=True)
class _Payload:
    """The last payload of a URL: where it was written first, and the headers by which the URL's next request asks for
    what is newer."""

    digest: str
    url: str
    date: str
    etag: str | None
    modified: str | None


class _Captures:
    """The captures by payload and by URL: the first of each payload, the last payload of each URL."""

    def __init__(self, folder: Path) -> None:
        self._sql = sqlite3.connect(folder / CAPTURES, timeout=60.0, isolation_level=None)
        # The file may be lost with the machine: then payloads are written once more.
        self._sql.execute("PRAGMA journal_mode = WAL")
        self._sql.execute("PRAGMA synchronous = OFF")
        self._sql.execute("CREATE TABLE IF NOT EXISTS payload (digest TEXT PRIMARY KEY, url TEXT, date TEXT)")
        # Before it there was a table `page`, which lacked most captures: those URLs are asked for in full once.
        self._sql.execute("DROP TABLE IF EXISTS page")
        self._sql.execute(
            "CREATE TABLE IF NOT EXISTS last"
            " (url TEXT PRIMARY KEY, digest TEXT, origin TEXT, date TEXT, etag TEXT, modified TEXT)"
        )
        self._sql.execute("CREATE TABLE IF NOT EXISTS seed (url TEXT PRIMARY KEY)")

    def add_seeds(self, urls: Iterable[str]) -> None:
        """Record the URLs at which a crawl begins."""
        self._sql.executemany("INSERT OR IGNORE INTO seed VALUES (?)", ((url,) for url in urls))

    def add(self, url: str, payload: _Payload) -> None:
        """Record a capture of a URL with this payload."""
        self._sql.execute("INSERT OR IGNORE INTO payload VALUES (?, ?, ?)", (payload.digest, payload.url, payload.date))
        self._sql.execute("INSERT OR REPLACE INTO last VALUES (?, ?, ?, ?, ?, ?)", (url, *astuple(payload)))

    def of_digest(self, digest: str) -> tuple[str, str] | None:
        """Return URL and date of the record that has this payload."""
        record: tuple[str, str] | None = self._sql.execute(
            "SELECT url, date FROM payload WHERE digest = ?", (digest,)
        ).fetchone()
        return record

    def of_url(self, url: str) -> _Payload | None:
        """Return the last payload of a URL."""
        row = self._sql.execute(
            "SELECT digest, origin, date, etag, modified FROM last WHERE url = ?", (url,)
        ).fetchone()
        return None if row is None else _Payload(*row)

    def close(self) -> None:
        self._sql.close()


def seeds_of(folder: Path) -> frozenset[str]:
    """Return the URLs at which the crawls of an archive began; none where they are not known."""
    if not (folder / CAPTURES).exists():
        return frozenset()
    with suppress(sqlite3.Error), closing(sqlite3.connect(folder / CAPTURES, timeout=60.0)) as sql:
        return frozenset(url for (url,) in sql.execute("SELECT url FROM seed"))
    return frozenset()


# ---------------------------------------------------------------- after a kill


@dataclass(frozen=True, slots=True)
class Mended:
    """A file that a killed process had left.

    Attributes:
        file: The finished file. One without a whole record is removed.
        records: Its whole records.
        cut: The bytes of a torn record that were cut off.
    """

    file: Path
    records: int
    cut: int


def mend(folder: Path) -> list[Mended]:
    """Finish the files that killed processes have left, and return them.

    A torn last record is cut off. Files that are being written are skipped.
    """
    done = []
    for file in sorted(folder.glob(f"*.warc.gz{OPEN}")):
        with suppress(FileNotFoundError), file.open("r+b") as opened:
            try:
                fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            if _is_at(opened, file):
                done.append(_mended(file, opened))
    return done


def _mended(file: Path, opened: IO[bytes]) -> Mended:
    """Cut a torn record off a file that this process has locked, and finish it."""
    size = os.fstat(opened.fileno()).st_size
    whole, records = whole_members(opened)
    name = file.name.removesuffix(OPEN)
    if records:
        opened.truncate(whole)
        opened.seek(0)
        index = _Index()
        for line in _indexed(opened, name):
            index.add(line)
        _finished(file, index)
        index.close()
    else:
        file.unlink()
    return Mended(file.with_name(name), records, size - whole)


def whole_members(file: IO[bytes]) -> tuple[int, int]:
    """Return the number of bytes at the beginning of a file that are whole gzip members, and the number of these."""
    file.seek(0)
    whole = read = members = 0
    packed = b""
    unpacker = zlib.decompressobj(zlib.MAX_WBITS + 16)
    while True:
        if not packed:
            packed = file.read(CHUNK)
            read += len(packed)
            if not packed:
                return whole, members
        try:
            # A member that does not unpack was not written whole.
            unpacker.decompress(packed)
        except zlib.error:
            return whole, members
        packed = unpacker.unused_data
        if unpacker.eof:
            whole, members = read - len(packed), members + 1
            unpacker = zlib.decompressobj(zlib.MAX_WBITS + 16)


def _indexed(file: IO[bytes], name: str) -> Iterator[str]:
    """Yield the lines of a file's index."""
    records = ArchiveIterator(file)
    for record in records:
        offset = records.get_record_offset()
        if record.rec_type in ("response", "revisit"):
            records.read_to_end()
            yield _cdxj(record, records.get_record_length(), offset, name)


# ---------------------------------------------------------------- the index


_SESSIONS_IN_PATH = (
    re.compile(rb"^(.*/)(?:\((?:[a-z]\([0-9a-z]{24}\))+\)/)([^?]+\.aspx.*)$", re.IGNORECASE),
    re.compile(rb"^(.*/)(?:\([0-9a-z]{24}\)/)([^?]+\.aspx.*)$", re.IGNORECASE),
)
_SESSIONS_IN_QUERY = tuple(
    re.compile(rb"^(.*)(?:" + one + rb")(?:&(.*))?$", re.IGNORECASE)
    for one in (
        *(rb"jsessionid=[0-9a-z]{32}", rb"phpsessid=[0-9a-z]{32}", rb"sid=[0-9a-z]{32}"),
        *(rb"aspsessionid[a-z]{8}=[a-z]{24}", rb"cfid=[^&]+&cftoken=[^&]+"),
    )
)
"""The session ids that the Internet Archive's form leaves out."""
_WWW = re.compile(r"^www\d*\.")
_UNESCAPED = "!\"$&'()*+,-./:;<=>?@[\\]^_`{|}~"


def _fields(exchange: Exchange) -> bytes:
    """Return the head of an answer as the fields of a record."""
    lines = [f"http-status-line: {exchange.protocol} {exchange.status} {reasons.get(exchange.status, '')}".strip()]
    return "".join(f"{line}\r\n" for line in (*lines, *(f"{name}: {value}" for name, value in exchange.got))).encode(
        "latin-1"
    )


def _cdxj(record: Any, length: int, offset: int, name: str) -> str:
    """Return the line of a response or a revisit record, as cdxj-indexer writes it."""
    headers, http = record.rec_headers, record.http_headers
    url, date = headers.get_header("WARC-Target-URI"), headers.get_header("WARC-Date")
    kind = None if http is None else http.get_header("Content-Type")
    fields = {
        "url": url,
        "mime": "warc/revisit" if record.rec_type == "revisit" else kind and re.split(r"[;\s]", kind, maxsplit=1)[0],
        "status": None if http is None else http.get_statuscode(),
        "digest": headers.get_header("WARC-Payload-Digest"),
    }
    fields = {key: value for key, value in fields.items() if value is not None}
    fields |= {"length": str(length), "offset": str(offset), "filename": name}
    stamp = "".join(c for c in date[:19] if c.isdigit())
    return f"{cdxj_key(url)} {stamp} {json.dumps(fields)}"


def cdxj_key(url: str) -> str:
    """Return the key of a URL in an index, the Internet Archive's SURT: its host reversed, then path and query in lower
    case, without escapes that are not needed and without session ids, with the query sorted."""
    parts = urlsplit(url)
    host = ",".join(reversed(_WWW.sub("", (parts.hostname or "").strip(".")).split(".")))
    port = f":{parts.port}" if parts.port and parts.port != {"http": 80, "https": 443}.get(parts.scheme) else ""
    path = _escaped(_collapsed(_unescaped(parts.path))).lower()
    for session in _SESSIONS_IN_PATH:
        path = session.sub(rb"\1\2", path)
    path = path[:-1] if len(path) > 1 and path.endswith(b"/") else path
    query = _escaped(_unescaped(parts.query))
    for session in _SESSIONS_IN_QUERY:
        query = session.sub(lambda session_id: session_id[1] + (session_id[2] or b""), query)
    pairs = sorted(tuple(pair.split(b"=", 1)) for pair in query.lower().split(b"&"))
    asks = b"&".join(b"=".join(pair) for pair in pairs)
    return f"{host}{port}){path.decode()}" + (f"?{asks.decode()}" if asks else "")


def _unescaped(text: str) -> bytes:
    """Return a text without escapes, of escapes neither."""
    before, plain = b"", text.encode()
    while before != plain:
        before, plain = plain, unquote_to_bytes(plain)
    return plain


def _escaped(text: bytes) -> bytes:
    return quote_from_bytes(text, safe=_UNESCAPED).encode("ascii")


def _collapsed(path: bytes) -> bytes:
    """Return a path without dots and without empty parts, except for the last."""
    kept: list[bytes] = []
    for part in path.split(b"/")[1:]:
        if part == b".." and kept:
            kept.pop()
        elif part != b".":
            kept.append(part)
    return b"/" + b"".join(part + b"/" for part in kept[:-1] if part) + (kept[-1] if kept else b"")
