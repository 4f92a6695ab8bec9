"""WARC files of a crawl: written, rotated, indexed, and mended after a kill.

ISO 28500:2017 (WARC 1.1), with each record in a gzip member of its own. A file that is being written has the suffix
`.open` and a lock. A record is one write of one member, so after a kill at most the last member is torn. `mend` cuts
that one off and finishes the file. A finished file has a CDXJ index beside it. `captures.sqlite` in the same folder
records the captures, so that a payload which was written once is a revisit record from then on, in any file and by any
process.
"""

from __future__ import annotations

import base64
import fcntl
import hashlib
import json
import os
import socket
import sqlite3
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from http.client import responses as reasons
from io import BytesIO
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import BufferWARCWriter

__all__ = ["Archive", "Exchange", "cdxj_key", "digest_of", "mend", "whole_length"]

OPEN = ".open"
LEVEL = 6
"""The level of gzip: warcio's own 9 takes three times as long for 1 % less."""
CHUNK = 1 << 16
NOT_MODIFIED = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
Headers = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its answer.

    Attributes:
        body: The payload as received, with its content coding.
        at: The time at which it was received (UTC).
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


def digest_of(payload: bytes) -> str:
    """Return the digest of a payload in the form of WARC files: SHA-1 in base 32."""
    return "sha1:" + base64.b32encode(hashlib.sha1(payload, usedforsecurity=False).digest()).decode("ascii")


class Archive:
    """A folder of WARC files, written by one thread of each process. Methods raise OSError if it cannot be written."""

    def __init__(self, folder: Path, info: Mapping[str, str], most: int = 1_000_000_000) -> None:
        """Open the archive. `info`: fields of the warcinfo record of each file. `most`: bytes from which a file is
        finished."""
        folder.mkdir(parents=True, exist_ok=True)
        self._folder, self._info, self._most = folder, info, most
        self._known = _Captures(folder)
        self._writer = BufferWARCWriter(gzip=False, warc_version="WARC/1.1")
        self._file: IO[bytes] | None = None
        self._index: list[str] = []
        self._serial = 0
        self.records = 0

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def write(self, made: Exchange) -> None:
        """Write the response, or a revisit record in its place, and the request."""
        if self._file is None or self._file.tell() >= self._most:
            self._begin(made.at)
        date = made.at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        digest = digest_of(made.body)
        head = StatusAndHeaders(f"{made.status} {reasons.get(made.status, '')}".strip(), [*made.got], made.protocol)
        given = {"WARC-Date": date} | ({"WARC-IP-Address": made.ip} if made.ip else {})
        response, fresh = self._response(made, head, digest, given)
        path = urlsplit(made.url)
        target = (path.path or "/") + (f"?{path.query}" if path.query else "")
        asked = StatusAndHeaders(f"{made.method} {target} HTTP/1.1", [*made.sent], is_http_request=True)
        request = self._writer.create_warc_record(
            made.url, "request", payload=BytesIO(made.request_body), http_headers=asked,
            warc_headers_dict={**given, "WARC-Concurrent-To": response.rec_headers.get_header("WARC-Record-ID")},
        )  # fmt: skip
        offset, length = self._put(response)
        self._put(request)
        name = self._name.removesuffix(OPEN)
        kind = "warc/revisit" if response.rec_type == "revisit" else _mime(made.got)
        at = response.rec_headers.get_header("WARC-Payload-Digest") or digest
        self._index.append(_cdxj(made.url, date, kind, made.status, at, length, offset, name))
        if fresh:
            self._known.add(made.url, digest, date)

    def close(self) -> None:
        """Finish the file that is being written."""
        self._finish()
        self._known.close()

    def _response(self, made: Exchange, head: StatusAndHeaders, digest: str, given: dict[str, str]) -> tuple[Any, bool]:
        """Return the record of an answer, and whether its payload is written for the first time."""
        if made.status == 304 and (before := self._known.of_url(made.url)) is not None:
            record = self._writer.create_revisit_record(
                made.url, before[0], made.url, before[1], head, warc_headers_dict=given
            )
            record.rec_headers.replace_header("WARC-Profile", NOT_MODIFIED)
            return record, False
        if made.status == 200 and made.body and (known := self._known.of_digest(digest)) is not None:
            return self._writer.create_revisit_record(
                made.url, digest, known[0], known[1], head, warc_headers_dict=given
            ), False
        record = self._writer.create_warc_record(
            made.url, "response", payload=BytesIO(made.body), http_headers=head, warc_headers_dict=given
        )
        return record, made.status == 200 and bool(made.body)

    def _put(self, record: Any) -> tuple[int, int]:
        """Write a record as one member, at once. Return its offset and its length."""
        assert self._file is not None
        self._writer.out = BytesIO()
        self._writer.write_record(record)
        packer = zlib.compressobj(LEVEL, zlib.DEFLATED, zlib.MAX_WBITS + 16)
        member = packer.compress(self._writer.out.getvalue()) + packer.flush()
        offset = self._file.tell()
        self._file.write(member)
        self._file.flush()
        self.records += 1
        return offset, len(member)

    def _begin(self, at: datetime) -> None:
        """Begin a new file, with a name in the customary form: prefix, time, number, process and host."""
        self._finish()
        stamp, host = at.strftime("%Y%m%d%H%M%S%f")[:17], socket.gethostname().split(".")[0]
        self._name = f"graphbrain-{stamp}-{self._serial:05d}-{os.getpid()}-{host}.warc.gz{OPEN}"
        self._serial += 1
        self._file = (self._folder / self._name).open("xb")
        fcntl.flock(self._file, fcntl.LOCK_EX)
        self._put(self._writer.create_warcinfo_record(self._name.removesuffix(OPEN), dict(self._info)))

    def _finish(self) -> None:
        if self._file is None:
            return
        _finished(self._folder / self._name, self._index)
        self._file.close()
        self._file, self._index = None, []


def _finished(file: Path, index: list[str]) -> None:
    """Write the index of a file, and give it its final name."""
    name = file.name.removesuffix(OPEN)
    beside = file.with_name(name.removesuffix(".warc.gz") + ".cdxj")
    beside.write_text("".join(f"{line}\n" for line in sorted(index)), encoding="utf-8")
    file.rename(file.with_name(name))


class _Captures:
    """The captures by payload and by URL: the first of each payload, the last of each URL."""

    def __init__(self, folder: Path) -> None:
        self._sql = sqlite3.connect(folder / "captures.sqlite", timeout=60.0, isolation_level=None)
        # The file may be lost with the machine: then payloads are written once more.
        self._sql.execute("PRAGMA journal_mode = WAL")
        self._sql.execute("PRAGMA synchronous = OFF")
        self._sql.execute("CREATE TABLE IF NOT EXISTS payload (digest TEXT PRIMARY KEY, url TEXT, date TEXT)")
        self._sql.execute("CREATE TABLE IF NOT EXISTS page (url TEXT PRIMARY KEY, digest TEXT, date TEXT)")

    def add(self, url: str, digest: str, date: str) -> None:
        self._sql.execute("INSERT OR IGNORE INTO payload VALUES (?, ?, ?)", (digest, url, date))
        self._sql.execute("INSERT OR REPLACE INTO page VALUES (?, ?, ?)", (url, digest, date))

    def of_digest(self, digest: str) -> tuple[str, str] | None:
        """Return URL and date of the record that has this payload."""
        record: tuple[str, str] | None = self._sql.execute(
            "SELECT url, date FROM payload WHERE digest = ?", (digest,)
        ).fetchone()
        return record

    def of_url(self, url: str) -> tuple[str, str] | None:
        """Return digest and date of the last capture of a URL."""
        capture: tuple[str, str] | None = self._sql.execute(
            "SELECT digest, date FROM page WHERE url = ?", (url,)
        ).fetchone()
        return capture

    def close(self) -> None:
        self._sql.close()


# ---------------------------------------------------------------- after a kill


def mend(folder: Path) -> list[Path]:
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
            opened.truncate(whole_length(opened))
            opened.seek(0)
            index = list(_indexed(opened, file.name.removesuffix(OPEN)))
            _finished(file, index)
            done.append(file.with_name(file.name.removesuffix(OPEN)))
    return done


def whole_length(file: IO[bytes]) -> int:
    """Return the number of bytes of a file that are whole gzip members."""
    file.seek(0)
    whole = read = 0
    packed = b""
    unpacker = zlib.decompressobj(zlib.MAX_WBITS + 16)
    while True:
        if not packed:
            packed = file.read(CHUNK)
            read += len(packed)
            if not packed:
                return whole
        try:
            unpacker.decompress(packed)
        except zlib.error:
            return whole
        packed = unpacker.unused_data
        if unpacker.eof:
            whole = read - len(packed)
            unpacker = zlib.decompressobj(zlib.MAX_WBITS + 16)


def _indexed(file: IO[bytes], name: str) -> Iterator[str]:
    """Yield the lines of a file's index."""
    records = ArchiveIterator(file)
    for record in records:
        offset = records.get_record_offset()
        if record.rec_type not in ("response", "revisit"):
            continue
        headers, http = record.rec_headers, record.http_headers
        records.read_to_end()
        kind = "warc/revisit" if record.rec_type == "revisit" else _mime(http.headers)
        digest = headers.get_header("WARC-Payload-Digest")
        url, date = headers.get_header("WARC-Target-URI"), headers.get_header("WARC-Date")
        yield _cdxj(url, date, kind, int(http.get_statuscode()), digest, records.get_record_length(), offset, name)


def _mime(headers: Headers) -> str:
    kind = next((value for name, value in headers if name.lower() == "content-type"), "")
    return kind.partition(";")[0].strip().lower() or "unk"


def _cdxj(url: str, date: str, mime: str, status: int, digest: str, length: int, offset: int, name: str) -> str:
    stamp = "".join(c for c in date[:19] if c.isdigit())
    fields = {"url": url, "mime": mime, "status": str(status), "digest": digest}
    fields |= {"length": str(length), "offset": str(offset), "filename": name}
    return f"{cdxj_key(url)} {stamp} {json.dumps(fields)}"


def cdxj_key(url: str) -> str:
    """Return the key of a URL in an index: its host reversed, then path and query in lower case, with the query sorted.

    The form is the Internet Archive's SURT, except that session ids stay.
    """
    parts = urlsplit(url)
    host = (parts.hostname or "").lower()
    labels = host.split(".")
    if labels[0].startswith("www") and labels[0][3:].isdigit() | (labels[0] == "www"):
        labels = labels[1:]
    address = host.replace(".", "").isdigit() or ":" in host
    name = host if address else ",".join(reversed(labels))
    port = f":{parts.port}" if parts.port and parts.port != {"http": 80, "https": 443}.get(parts.scheme) else ""
    query = "&".join(sorted(parts.query.lower().split("&"))) if parts.query else ""
    path = parts.path.lower()
    path = path.rstrip("/") or "/"
    return f"{name}{port}){path}" + (f"?{query}" if query else "")
