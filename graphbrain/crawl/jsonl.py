"""A writer of the pages of a crawl as JSON lines.

A line is written after its visit was reported, because the brain's answer is a part of it. Before the report a journal
beside the file gets the same lines without answers. If a process is killed between its report and its lines, the next
process writes them from the journal, after it has asked the brain which visits were recorded. So no recorded visit
lacks its line.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from scrapy.http import HtmlResponse

from graphbrain import Answer, Brain, Claim, Fetched
from graphbrain.base.errors import BadInput, GraphbrainError, UnknownPage
from graphbrain.crawl.gone import first_missed, is_missing
from graphbrain.crawl.scrapy import Report, ScrapyVisit, header
from graphbrain.crawl.spider import NOT_FOLLOWED
from graphbrain.schedule.fingerprints import visible_text

__all__ = ["PageLines"]

NEWS = ("new", "changed", "gone")
"""The outcomes for which a crawl that revisits its pages writes a line. It also writes pages that the file lacks."""
FACTS = (
    *("title", "language", "canonical", "noindex", "nofollow", "content_type", "size", "seconds", "relevance"),
    *("etag", "last_modified", "descriptions", "h1", "words", "hreflang", "structured"),
)
"""The fields of a report that its line has, if they are known."""
TEXT = b', "text": '
"""The beginning of the last field of a line. The text is not parsed when lines are read."""
READ_BACK = 8 << 20
"""Bytes at the end of the file in which the lines of the journal are searched."""


class PageLines:
    """The JSON lines file of a crawl, which one process at a time writes.

    Use it as a context manager, from the thread that writes. Any thread may call `finished`.
    """

    def __init__(self, file: Path, *, text: bool = False, news: bool = False) -> None:
        """Open the file, lock it, and read its lines.

        Args:
            file: Its path.
            text: Each line has the visible text.
            news: Write only pages that are new, changed or gone.

        Raises:
            BadInput: The file cannot be written, or another process writes it.
        """
        self._path, self._text, self._news = file, text, news
        self._journal = file.with_name(f"{file.name}.journal")
        self._read: dict[tuple[str, str], dict[str, Any]] = {}
        """Visit → the fields of its line that come from the answer, until the visit is reported."""
        self._contents = _Contents(text)
        self.written = 0
        # Repair the file if a process was killed while it wrote a line.
        try:
            self._out: IO[bytes] = file.open("a+b")
            fcntl.flock(self._out, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _cut_torn_line(self._out)
            self._contents.read(file)
        except BlockingIOError:
            raise BadInput(f"Another crawl writes {file}: name a file of its own for each.") from None
        except OSError as error:
            raise BadInput(f"{file} cannot be written ({error.strerror or error}).") from None

    def __enter__(self) -> PageLines:
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file. Remove the journal if it is empty."""
        self._contents.close()
        with suppress(OSError):  # lines that could not be written are still in the journal
            self._out.close()
        with suppress(OSError):
            if not self._journal.stat().st_size:
                self._journal.unlink()

    def recover(self, brain: Brain) -> int:
        """Write the lines of recorded visits that are only in the journal of a killed process.

        Return the number of lines in the journal.
        """
        entries = list(_entries(self._journal))
        if entries:
            written = _marks_at_end(self._out)
            missing = [line for line in entries if _of(line) not in written and _complete(brain, line)]
            self._write([line for line in missing if self._wanted(line)])
        self._journal.unlink(missing_ok=True)
        return len(entries)

    def finished(self, visit: ScrapyVisit, report: Fetched) -> None:
        """Keep the number of links, and the text, of a page until its visit is reported."""
        response = visit.response
        if response is None or report.claim is None or report.not_modified:
            return
        fields = self._read[_mark(report.claim)] = {}
        if isinstance(response, HtmlResponse) and NOT_FOLLOWED not in response.flags:
            fields["links"] = len(report.links)
        if self._text:
            fields["text"] = visible_text(response.body, header(response.headers.get("Content-Type")))

    def holds(self, url: str, etag: str | None, modified: str | None) -> bool:
        """Return whether the last content of a page in the file came with this ETag and Last-Modified.

        None for a header that the request does not send.
        """
        return self._contents.has(url, etag, modified)

    def before(self, reports: Sequence[Report]) -> None:
        """Write visits to the journal, before they are reported."""
        lines = [self._line(report) for report in reports]
        with _writing(self._journal), self._journal.open("ab") as file:
            file.write(b"".join(_encoded(line) for line in lines))

    def after(self, reports: Sequence[Report], answers: Sequence[Answer]) -> None:
        """Write the lines of reported visits, and empty the journal."""
        lines = []
        for report, answer in zip(reports, answers, strict=True):
            line = {**self._line(report), **_outcome(answer.outcome, answer.changed_in)}
            if report.claim is not None:
                self._read.pop(_mark(report.claim), None)
            if answer.accepted and self._wanted(line):
                lines.append(line)
        self._write(lines)
        with suppress(FileNotFoundError):
            os.truncate(self._journal, 0)

    def _wanted(self, line: Mapping[str, Any]) -> bool:
        return not self._news or line["outcome"] in NEWS or self._contents.lacks(line)

    def _write(self, lines: Sequence[Mapping[str, Any]]) -> None:
        with _writing(self._path):
            self._out.write(b"".join(_encoded(line) for line in lines))
            self._out.flush()
        for line in lines:
            self._contents.add(line)
        self.written += len(lines)

    def _line(self, report: Report) -> dict[str, Any]:
        claim = report.claim
        line: dict[str, Any] = {"url": report.url, "status": report.status, "outcome": None}
        line |= {"depth": None if claim is None else claim.depth}
        if isinstance(report, Fetched):
            line |= {name: getattr(report, name) for name in FACTS if getattr(report, name) not in (None, ())}
            line |= {"redirected_to": report.redirected_to} if report.redirected_to else {}
            line |= {"led_to": list(report.led_to)} if report.led_to else {}
        else:
            line |= {"error": report.error or None, "fault": report.fault}
        if claim is not None:
            line |= {"claimed": claim.claimed, "token": claim.token}
            line |= self._read.get(_mark(claim), {})
        return line


class _Contents:
    """The last content of each page in the lines of a file, as digests in a temporary file of SQLite.

    A line has content if it is of a full answer and, in a file with texts, if it has the text.
    """

    def __init__(self, text: bool) -> None:
        self._text, self._here = text, False
        """`_here`: True when all lines of earlier processes are read, so that others are of this process."""
        self._sql = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._sql.execute("PRAGMA journal_mode = OFF")
        self._sql.execute(
            "CREATE TABLE content (url TEXT PRIMARY KEY, etag TEXT, modified TEXT, mark BLOB, here INTEGER)"
        )

    def read(self, file: Path) -> None:
        """Add the lines of earlier processes. Lines that are not as this module writes them are skipped."""
        self._sql.execute("BEGIN")
        with file.open("rb") as lines:
            for encoded in lines:
                with suppress(ValueError, LookupError, TypeError):
                    head, key, text = encoded.partition(TEXT)
                    line = json.loads(head + b"}" if key else encoded)
                    self.add(line | {"text": text.rstrip().removesuffix(b"}")} if key else line)
        self._sql.execute("COMMIT")
        self._here = True

    def add(self, line: Mapping[str, Any]) -> None:
        """Add a line that was written."""
        etag, modified = line.get("etag"), line.get("last_modified")
        if self._has_content(line):
            self._sql.execute(
                "INSERT OR REPLACE INTO content VALUES (?, ?, ?, ?, ?)",
                (line["url"], etag, modified, _mark_of_content(line), self._here),
            )
        elif line["status"] == 304:
            self._sql.execute(
                "UPDATE content SET etag = coalesce(?, etag), modified = coalesce(?, modified) WHERE url = ?",
                (etag, modified, line["url"]),
            )

    def has(self, url: str, etag: str | None, modified: str | None) -> bool:
        """Return whether the last content of a page came with these headers. None: with any."""
        row = self._sql.execute("SELECT etag, modified FROM content WHERE url = ?", (url,)).fetchone()
        if row is None:
            return False
        last_etag, last_modified = row
        return etag in (None, last_etag) and modified in (None, last_modified)

    def lacks(self, line: Mapping[str, Any]) -> bool:
        """Return whether the file lacks the content of a line.

        It does if it has no line of the page, or if the page has changed since the last line of an earlier process.
        """
        if not self._has_content(line):
            return False
        row = self._sql.execute("SELECT mark, here FROM content WHERE url = ?", (line["url"],)).fetchone()
        if row is None:
            return True
        mark, is_of_this_process = row
        return not is_of_this_process and mark != _mark_of_content(line)

    def close(self) -> None:
        self._sql.close()

    def _has_content(self, line: Mapping[str, Any]) -> bool:
        full = 200 <= (line["status"] or 0) < 300 and "error" not in line and "redirected_to" not in line
        return full and (not self._text or "text" in line)


def _mark_of_content(line: Mapping[str, Any]) -> bytes:
    """Return a digest of the content of a line. Its text may be bytes: the JSON of a line in the file."""
    text = line.get("text")
    encoded = text if isinstance(text, bytes) else json.dumps(text, ensure_ascii=False).encode("utf-8", "replace")
    facts = json.dumps([line.get("title"), line.get("size")])
    return hashlib.blake2b(facts.encode() + encoded, digest_size=8).digest()


@contextmanager
def _writing(file: Path) -> Iterator[None]:
    """Raise GraphbrainError, with the remedy, for an error of writing within the block."""
    try:
        yield
    except OSError as error:
        raise GraphbrainError(
            f"{file} cannot be written ({error.strerror or error}): make room, and run the same command again, which "
            "writes the lines that are missing."
        ) from None


def _encoded(line: Mapping[str, Any]) -> bytes:
    return json.dumps(line, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def _entries(file: Path) -> Iterator[dict[str, Any]]:
    """Yield the last whole line of each visit in a journal. A visit with a torn line was not reported."""
    with suppress(FileNotFoundError):
        by_visit: dict[tuple[str, str], dict[str, Any]] = {}
        for text in file.read_bytes().split(b"\n")[:-1]:
            with suppress(ValueError):
                line = json.loads(text)
                if line.get("token"):
                    by_visit[_of(line)] = line
        yield from by_visit.values()


def _complete(brain: Brain, line: dict[str, Any]) -> bool:
    """Return whether the brain has recorded the visit of a line. If so, write its outcome into the line."""
    try:
        page = brain.page(line["url"])
    except (UnknownPage, BadInput):
        return False
    since = line.get("claimed") or 0.0
    if line.get("redirected_to"):
        line["outcome"] = "alias"
        return page.state == "alias"
    if "error" in line:
        missed = is_missing(line["status"]) and bool(first_missed(brain, [page.key]))
        line["outcome"] = "gone" if missed or page.state in ("gone", "parked") else "retry"
        return (page.failed or 0.0) >= since
    changed = (page.changed or 0.0) >= since
    line |= _outcome("new" if page.visits <= 1 else "changed" if changed else "same", page.changed_in or ())
    return (page.fetched or 0.0) >= since


def _outcome(outcome: str | None, changed_in: Sequence[str]) -> dict[str, Any]:
    """Return the fields of a line for an outcome; of a changed page, with the parts in which it has changed."""
    return {"outcome": outcome} | ({"changed_in": list(changed_in)} if outcome == "changed" else {})


def _cut_torn_line(file: IO[bytes]) -> None:
    """Cut off the torn last line of a killed process."""
    end = size = file.seek(0, os.SEEK_END)
    while end > 0:
        start = max(0, end - 65_536)
        file.seek(start)
        newline = file.read(end - start).rfind(b"\n")
        if newline >= 0:
            end = start + newline + 1
            break
        end = start
    if end < size:
        file.truncate(end)
    file.seek(0, os.SEEK_END)


def _mark(claim: Claim) -> tuple[str, str]:
    """Return what identifies a visit: URL and token. Claims that were made together share their token."""
    return claim.url, claim.token


def _of(line: Mapping[str, Any]) -> tuple[str, str]:
    """Return URL and token of the visit of a line."""
    return line["url"], line.get("token", "")


def _marks_at_end(file: IO[bytes]) -> set[tuple[str, str]]:
    """Return URL and token of the visits in the last lines of a file."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - READ_BACK))
    marks = set()
    for text in file.read().split(b"\n"):
        with suppress(ValueError, LookupError):
            marks.add(_of(json.loads(text)))
    file.seek(0, os.SEEK_END)
    return marks
