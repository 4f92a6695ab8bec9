"""A writer of WARC files (ISO 28500:2017, WARC 1.1), which rotates, indexes and, after a kill, mends them.

Each record is a gzip member. A file that is being written has the suffix `.open` and a lock. All records of an exchange
are appended by one write, so after a kill at most the last member is torn: `mend` cuts it off and finishes the file. A
finished file has a CDXJ index beside it.

`captures.sqlite` in the same folder has the captures of all files. A payload that is in a file already becomes a
revisit record. An answer 304 also becomes a revisit record, of the last payload of its URL. The block of that record is
empty, and a metadata record has the headers of the 304: readers would show them in place of the headers of the page.
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
        sent: The headers of the request, decoded as Latin-1.
        got: The headers of the answer, decoded as Latin-1.
        body: The payload as received, with its content coding.
        at: The time at which it was received (UTC).
        truncated: The reason why the body is not whole, as a value of WARC-Truncated; empty if it is whole.
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
    """The head of an HTTP message with its bytes unchanged: warcio itself escapes letters beyond ASCII."""

    def compute_headers_buffer(self, header_filter: Any = None) -> None:
        self.headers_buff = self.to_bytes(header_filter, "latin-1")


def digest_of(payload: bytes) -> str:
    """Return the digest of a payload in the form of WARC files: SHA-1 in base 32."""
    return "sha1:" + base64.b32encode(hashlib.sha1(payload, usedforsecurity=False).digest()).decode("ascii")


class Archive:
    """A folder of WARC files, which one thread of each process writes. Methods raise OSError if they cannot write.

    Args:
        folder: The folder.
        info: The fields of the warcinfo record of each file.
        most: The number of bytes at which a file is finished and another one begun.
        seeds: The URLs at which the crawl begins. Those of earlier runs are kept.
    """

    def __init__(
        self, folder: Path, info: Mapping[str, str], most: int = 1_000_000_000, seeds: Iterable[str] = ()
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder, self._info, self._most = folder, info, most
        with _as_os_error():
            self._captures, self._index = _Captures(folder), _Index()
            self._captures.add_seeds(seeds)
        self._writer = BufferWARCWriter(gzip=False, warc_version="WARC/1.1")
        self._file: FileIO | None = None
        self._end = 0
        """The number of bytes of whole records in the file."""
        self._serial = 0
        self.records = 0

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def write(self, exchange: Exchange) -> None:
        """Write an exchange: the record of its answer, which may be a revisit record, and the record of its request."""
        with _as_os_error():
            self._write(exchange)

    def holds(self, url: str, etag: str | None, modified: str | None) -> bool:
        """Return whether the last payload of a URL came with this ETag and Last-Modified: a 304 can refer to it.

        None for a header that the request does not send.
        """
        with _as_os_error():
            last = self._captures.of_url(url)
        return last is not None and etag in (None, last.etag) and modified in (None, last.modified)

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
        # Make the record of the answer, then those that refer to it.
        date = exchange.at.strftime("%Y-%m-%dT%H:%M:%SZ")  # whole seconds, as indexes have: wabac.js compares them
        fields = {"WARC-Date": date} | ({"WARC-IP-Address": exchange.ip} if exchange.ip else {})
        response, payload = self._response(exchange, fields)
        fields = {**fields, "WARC-Concurrent-To": response.rec_headers.get_header("WARC-Record-ID")}
        others = [self._request(exchange, fields)]
        if response.rec_type == "revisit" and response.http_headers is None:
            others.append(
                self._writer.create_warc_record(
                    exchange.url, "metadata", payload=BytesIO(_fields(exchange)), warc_headers_dict=fields
                )
            )
        # Append the records to the file, and note the capture.
        offset, length = self._put(response, *others)
        self._index.add(_cdxj(response, length, offset, self._name.removesuffix(OPEN)))
        if payload is not None:
            self._captures.add(exchange.url, payload)

    def _response(self, exchange: Exchange, fields: dict[str, str]) -> tuple[Any, _Payload | None]:
        """Return the record of an answer, and the payload that becomes the last one of its URL, if any.

        `fields`: the headers of the record.
        """
        head = _Head(
            f"{exchange.status} {reasons.get(exchange.status, '')}".strip(), [*exchange.got], exchange.protocol
        )
        etag, modified = exchange.header("etag"), exchange.header("last-modified")
        # A 304 refers to the last payload of the URL.
        if exchange.status == 304 and (last := self._captures.of_url(exchange.url)) is not None:
            record = self._revisit(exchange.url, last, None, fields)
            record.rec_headers.replace_header("WARC-Profile", NOT_MODIFIED)
            return record, replace(last, etag=etag or last.etag, modified=modified or last.modified)
        # Write errors and truncated answers in full.
        if exchange.status != 200 or not exchange.body or exchange.truncated:
            fields = fields | ({"WARC-Truncated": exchange.truncated} if exchange.truncated else {})
            return self._full(exchange, head, fields), None
        # Refer to the payload if it is in the archive already.
        digest = digest_of(exchange.body)
        if (origin := self._captures.of_digest(digest)) is not None:
            url, date = origin
            payload = _Payload(digest, url, date, etag, modified)
            return self._revisit(exchange.url, payload, head, fields), payload
        return self._full(exchange, head, fields), _Payload(digest, exchange.url, fields["WARC-Date"], etag, modified)

    def _full(self, exchange: Exchange, head: _Head, fields: dict[str, str]) -> Any:
        return self._writer.create_warc_record(
            exchange.url, "response", payload=BytesIO(exchange.body), http_headers=head, warc_headers_dict=fields
        )

    def _revisit(self, url: str, payload: _Payload, head: _Head | None, fields: dict[str, str]) -> Any:
        """Return a revisit record of a payload. Without a head its block is empty."""
        return self._writer.create_revisit_record(
            url, payload.digest, payload.url, payload.date, head, warc_headers_dict=fields
        )

    def _request(self, exchange: Exchange, fields: dict[str, str]) -> Any:
        """Return the record of a request."""
        parts = urlsplit(exchange.url)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        head = _Head(f"{exchange.method} {target} HTTP/1.1", [*exchange.sent], is_http_request=True)
        return self._writer.create_warc_record(
            exchange.url,
            "request",
            payload=BytesIO(exchange.request_body),
            http_headers=head,
            warc_headers_dict=fields,
        )

    def _put(self, *records: Any) -> tuple[int, int]:
        """Append records, each as a gzip member. After an error none of them is in the file.

        Returns:
            (offset, length) of the first member, in bytes.
        """
        assert self._file is not None
        members = [self._packed(record) for record in records]
        unwritten, offset = memoryview(b"".join(members)), self._end
        try:
            self._file.seek(offset)
            while unwritten:
                unwritten = unwritten[self._file.write(unwritten) :]
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
                continue  # a finished file has this name, and must not be replaced
            stream = (self._folder / self._name).open("xb", buffering=0)
            fcntl.flock(stream, fcntl.LOCK_EX)
            # Before the lock, `mend` of another process may have taken the file for that of a killed process.
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
    """The lines of the index of one WARC file, up to a million, in a temporary file of SQLite."""

    def __init__(self) -> None:
        self._sql = sqlite3.connect("")
        self._sql.execute("CREATE TABLE line (text TEXT)")

    def add(self, line: str) -> None:
        self._sql.execute("INSERT INTO line VALUES (?)", (line,))

    def write(self, file: Path) -> None:
        """Write the lines in sorted order, and empty the index."""
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
    """Return whether an open file is still the one at a path."""
    try:
        return os.path.samestat(os.fstat(opened.fileno()), path.stat())
    except FileNotFoundError:
        return False


@contextmanager
def _as_os_error() -> Iterator[None]:
    """Raise OSError for an error of SQLite within the block, such as a full disk."""
    try:
        yield
    except sqlite3.Error as error:
        raise OSError(str(error)) from error


@dataclass(frozen=True, slots=True)
class _Payload:
    """The last payload of a URL.

    Attributes:
        digest: The digest.
        url: The URL of the record that has the payload itself.
        date: The time of that record.
        etag: The ETag of the last answer of the URL.
        modified: The Last-Modified of that answer.
    """

    digest: str
    url: str
    date: str
    etag: str | None
    modified: str | None


class _Captures:
    """The first record of each payload, and the last payload of each URL, in a file of SQLite."""

    def __init__(self, folder: Path) -> None:
        self._sql = sqlite3.connect(folder / CAPTURES, timeout=60.0, isolation_level=None)
        # Do not wait for the disk: if the machine fails and the file is lost, payloads are written once more.
        self._sql.execute("PRAGMA journal_mode = WAL")
        self._sql.execute("PRAGMA synchronous = OFF")
        self._sql.execute("CREATE TABLE IF NOT EXISTS payload (digest TEXT PRIMARY KEY, url TEXT, date TEXT)")
        # Drop the table of older versions, which lacked most captures. Its URLs are requested in full once.
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
        """Return (URL, date) of the record that has this payload itself; None if there is none."""
        record: tuple[str, str] | None = self._sql.execute(
            "SELECT url, date FROM payload WHERE digest = ?", (digest,)
        ).fetchone()
        return record

    def of_url(self, url: str) -> _Payload | None:
        """Return the last payload of a URL, if any."""
        row = self._sql.execute(
            "SELECT digest, origin, date, etag, modified FROM last WHERE url = ?", (url,)
        ).fetchone()
        return None if row is None else _Payload(*row)

    def close(self) -> None:
        self._sql.close()


def seeds_of(folder: Path) -> frozenset[str]:
    """Return the URLs at which the crawls of an archive began; none if they are not known."""
    if not (folder / CAPTURES).exists():
        return frozenset()
    with suppress(sqlite3.Error), closing(sqlite3.connect(folder / CAPTURES, timeout=60.0)) as sql:
        return frozenset(url for (url,) in sql.execute("SELECT url FROM seed"))
    return frozenset()


# ---------------------------------------------------------------- after a kill


@dataclass(frozen=True, slots=True)
class Mended:
    """A file of a killed process that was finished.

    Attributes:
        file: The finished file. A file without a whole record was removed.
        records: The number of its whole records.
        cut: The number of bytes of a torn record that were cut off.
    """

    file: Path
    records: int
    cut: int


def mend(folder: Path) -> list[Mended]:
    """Finish the files of killed processes, and return them. Cut torn last records off. Skip files in use."""
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
    """Return (bytes, number) of the whole gzip members at the beginning of a file."""
    file.seek(0)
    whole_bytes = bytes_read = members = 0
    packed = b""
    unpacker = zlib.decompressobj(zlib.MAX_WBITS + 16)
    while True:
        # Read more when the last chunk is used up.
        if not packed:
            packed = file.read(CHUNK)
            bytes_read += len(packed)
            if not packed:
                return whole_bytes, members
        # Unpack it. A member that does not unpack was not written whole.
        try:
            unpacker.decompress(packed)
        except zlib.error:
            return whole_bytes, members
        # Count the member at its end.
        packed = unpacker.unused_data
        if unpacker.eof:
            whole_bytes, members = bytes_read - len(packed), members + 1
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
"""The session ids that the Internet Archive's keys leave out: `URLRegexTransformer` of webarchive-commons."""
_WWW = re.compile(r"^www\d*\.")
_UNESCAPED = "!\"$&'()*+,-./:;<=>?@[\\]^_`{|}~"


def _fields(exchange: Exchange) -> bytes:
    """Return the head of an answer as the block of a metadata record."""
    lines = [f"http-status-line: {exchange.protocol} {exchange.status} {reasons.get(exchange.status, '')}".strip()]
    return "".join(f"{line}\r\n" for line in (*lines, *(f"{name}: {value}" for name, value in exchange.got))).encode(
        "latin-1"
    )


def _cdxj(record: Any, length: int, offset: int, name: str) -> str:
    """Return the line of a response or a revisit record in an index, as cdxj-indexer writes it."""
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
    """Return the key of a URL in an index: the Internet Archive's SURT.

    It has the labels of the host in reverse order, then the path and the sorted query in lower case, without needless
    escapes and without session ids. The rules are those of webarchive-commons (Apache License 2.0), of which `surt`
    (AGPL 3, comes only with the extra `wacz`) is a port. The IIPC's description of CDXJ names SURT, but not its rules.
    The first version of this code was written after its author had read `surt`, not from the specification alone.
    Tests compare the keys with those of cdxj-indexer.
    """
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
    query = b"&".join(b"=".join(pair) for pair in pairs)
    return f"{host}{port}){path.decode()}" + (f"?{query.decode()}" if query else "")


def _unescaped(text: str) -> bytes:
    """Return a text without escapes, also without those that were escaped themselves."""
    before, plain = b"", text.encode()
    while before != plain:
        before, plain = plain, unquote_to_bytes(plain)
    return plain


def _escaped(text: bytes) -> bytes:
    return quote_from_bytes(text, safe=_UNESCAPED).encode("ascii")


def _collapsed(path: bytes) -> bytes:
    """Return a path without the parts `.` and `..`, and without empty parts except the last one."""
    parts: list[bytes] = []
    for part in path.split(b"/")[1:]:
        if part == b".." and parts:
            parts.pop()
        elif part != b".":
            parts.append(part)
    return b"/" + b"".join(part + b"/" for part in parts[:-1] if part) + (parts[-1] if parts else b"")
