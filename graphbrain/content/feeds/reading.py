"""Hints from files: sitemaps, feeds (RSS, Atom), lists of URLs and JSON lines. Nothing is fetched here.

A sitemap gives the last change of a page as a time or as a date. A date counts from its beginning, and may mean any
time of the day. An entry without either means only that the page exists, and its time is 0. The same holds for its
alternates, the page in other languages. A file that declares entities is refused, because they can expand without
limit. Feeds need feedparser (`pip install 'graphbrain-crawler[hints]'`).
Formats: sitemaps.org, "Sitemaps XML format", 0.9; RFC 4287; W3C NOTE-datetime.
"""

from __future__ import annotations

import calendar
import io
import math
import re
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import mktime_tz, parsedate_tz
from typing import Any
from xml.parsers import expat

from graphbrain.base.errors import BadInput, SettingsError
from graphbrain.base.model import Hint
from graphbrain.base.runtime import installs
from graphbrain.base.urls.normalization import resolved
from graphbrain.content.feeds import repair
from graphbrain.content.wire import json_object

__all__ = ["LARGEST", "Hints", "moment", "read", "read_feed", "read_lines", "read_sitemap"]

LARGEST = 50 * 1024 * 1024
"""Bytes of one file, unpacked: the limit of sitemaps.org."""
GZIP = b"\x1f\x8b"
MOST_PACKED = 3
"""The most times that a file may be packed: some servers pack a packed file again."""
NAMED = 1000
"""Faults of a file that are listed one by one."""
EXTENSIONS = ("http://www.google.com/schemas/sitemap-", "https://www.google.com/schemas/sitemap-")
"""Images, videos and news in a sitemap have addresses of their own."""
DAY = 86_400.0
_DATE = re.compile(r"(?P<year>\d{4})(?:[-/](?P<month>\d\d?)(?:[-/](?P<day>\d\d?))?)?")
_TIME = re.compile(
    r"(?P<year>\d{4})[-/](?P<month>\d\d?)[-/](?P<day>\d\d?)"
    r"(?:[Tt]|\s+)(?P<hour>\d\d?):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,](?P<part>\d+))?)?"
    r"\s*(?:[Zz]|UTC|GMT)?(?:(?P<sign>[-+])(?P<hours>\d\d):?(?P<minutes>\d\d)?)?"
)
_NAMED_MONTH = re.compile(r"\d[\s-]*[A-Za-z]{3}|[A-Za-z]{3}[a-z]*\s+\d")
_NO_URL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\ufffd<>]")
_DECLARATION = re.compile(r"^<\?xml[^>]*>", re.IGNORECASE)
_MISSING = f"Feeds are read with a package that is not installed: {installs.command('hints', 'feedparser')}."


@dataclass(frozen=True, slots=True)
class Hints:
    """The content of a file.

    Attributes:
        hints: The pages that the file names.
        sitemaps: The sitemaps that an index of sitemaps lists. The caller fetches them.
        refused: The entries that could not be read, each with its place.
        mended: The faults of entries that were read, each with its place.
    """

    hints: tuple[Hint, ...] = ()
    sitemaps: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    mended: tuple[str, ...] = ()

    def at(self, url: str) -> Hints:
        """Return the content of a file that was fetched from this URL: relative addresses are resolved against it."""
        whole = (
            replace(hint, url=_whole(url, hint.url)) if hint.url[:4].lower() != "http" else hint for hint in self.hints
        )
        return replace(self, hints=tuple(whole))


def _whole(base: str, reference: str) -> str:
    """Return the address that a reference means; the reference itself if it is no URL."""
    try:
        return resolved(base, reference)
    except BadInput:
        return reference


@dataclass
class _Content:
    """The content that has been read so far."""

    hints: list[Hint] = field(default_factory=list)
    sitemaps: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    mended: list[str] = field(default_factory=list)

    def as_hints(self) -> Hints:
        """Return the content, with at most `NAMED` faults of each kind and the number of the others."""
        refused, mended = (
            (*what[:NAMED], *([f"and {len(what) - NAMED:,} more"] if len(what) > NAMED else []))
            for what in (self.refused, self.mended)
        )
        return Hints(tuple(self.hints), tuple(self.sitemaps), refused, mended)

    def address(self, where: str, label: str) -> bool:
        """Return True if the text can be a URL. Otherwise add it to the refused entries."""
        if not where:
            self.refused.append(f"{label}: an entry without an address")
        elif bad := _NO_URL.search(where):
            self.refused.append(f"{label}: {where[:200]!r} holds {bad[0]!r}, which no URL has")
        else:
            return True
        return False

    def moment(self, when: str, label: str) -> tuple[float, float]:
        """Return the time, as `moment` reads it. Add a time that cannot be read to the faults."""
        at, within = moment(when)
        if not (at or within) and when.strip():
            self.mended.append(f"{label}: {when.strip()[:80]!r} is no date; it counts that the page is there")
        return at, within


def read(data: bytes | str, name: str = "it") -> Hints:
    """Return the hints of a sitemap, an index of sitemaps, a feed, a list of URLs, or JSON lines, packed or not.

    A broken file is read as far as possible (see `repair`). Its other entries are in `refused`.

    Args:
        name: The name of the file in errors.

    Raises:
        BadInput: The file is of no such kind, has no entry that can be read, is larger than `LARGEST`, or declares
            entities.
        SettingsError: The package for feeds is missing.
    """
    content = _Content()
    text = _text(data, name, content)
    if text.lstrip().startswith("{"):
        return _lines(text.splitlines(), content)
    kind = repair.kind_of(text)
    if kind is None:
        if re.search(r"^\s*(?:https?://|\{)", text, re.MULTILINE | re.IGNORECASE) and not text.lstrip().startswith("<"):
            return _lines(text.splitlines(), content)
        raise BadInput(f"{name} is no sitemap, no feed, no list of URLs, and no JSON lines.")
    return (_sitemap if kind.is_sitemap else _feed)(text, kind, name, content)


def read_sitemap(data: bytes | str, name: str = "the sitemap") -> Hints:
    """Return the pages of a sitemap, or the sitemaps of an index. Raise the errors of `read`."""
    content = _Content()
    text = _text(data, name, content)
    kind = repair.kind_of(text)
    if kind is None or not kind.is_sitemap:
        raise BadInput(f"{name} is no sitemap.")
    return _sitemap(text, kind, name, content)


def read_feed(data: bytes | str, name: str = "the feed") -> Hints:
    """Return the entries of an RSS or Atom feed. Raise as `read`."""
    content = _Content()
    text = _text(data, name, content)
    kind = repair.kind_of(text)
    if kind is None or kind.is_sitemap:
        raise BadInput(f"{name} is no feed.")
    return _feed(text, kind, name, content)


def _text(data: bytes | str, name: str, content: _Content) -> str:
    """Return the text of a file: unpacked as often as it was packed, and decoded."""
    if isinstance(data, str):
        raw = data.encode("utf-8", "replace")
    else:
        raw = data
        for _ in range(MOST_PACKED):
            if raw.startswith(GZIP):
                raw = _unpack(raw, name, content)
    if len(raw) > LARGEST:
        raise BadInput(f"{name} is larger than {LARGEST >> 20} MB, the limit of sitemaps; split it.")
    text, wrong = repair.decode(raw)
    if wrong:
        content.mended.append(wrong)
    return text.lstrip()


def _unpack(raw: bytes, name: str, content: _Content) -> bytes:
    """Return the unpacked bytes, at most a few more than `LARGEST`. A file that was cut off is unpacked up to the cut.

    Raises:
        BadInput: The file is damaged. After a wrong bit, gzip returns thousands of addresses that were not packed.
    """
    parts: list[bytes] = []
    size = 0
    while raw.startswith(GZIP) and size <= LARGEST:
        packed = zlib.decompressobj(wbits=31)
        try:
            parts.append(packed.decompress(raw, LARGEST + 1 - size))
        except zlib.error as error:
            raise BadInput(f"{name} is a damaged gzip file ({error}): its content cannot be trusted.") from None
        size += len(parts[-1])
        # A file that was cut off is read as far as it goes.
        if not packed.eof and size <= LARGEST:
            if not size:
                raise BadInput(f"{name} is a gzip file that was cut off before its first byte of text.")
            content.refused.append(f"the gzip file is cut off; the first {size:,} bytes of what it holds were read")
            break
        # Several members may follow each other, with zeros between.
        raw = packed.unused_data.lstrip(b"\0")
    return b"".join(parts)


class _Damaged(Exception):
    """A fault of a file that is well-formed XML: its tags are in the wrong places."""


class _Pages:
    """The parser of the entries of a sitemap. Faults name the line of an entry, or in a mended file its address."""

    def __init__(self, text: str, content: _Content, *, mended: bool) -> None:
        self._content, self._mended = content, mended
        self._depth, self._entry = 0, 0
        self._name = self._space = ""
        self._fields: dict[str, str] = {}
        self._words: list[str] | None = None
        self._others: dict[str, None] = {}
        self._parser = parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        parser.CharacterDataHandler = self._characters
        parser.Parse(text, True)
        # An alternate that is also an entry needs no second hint.
        listed = {hint.url for hint in content.hints}
        content.hints += [Hint(url, 0.0, "sitemap") for url in self._others if url not in listed]

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        space, _, name = tag.rpartition(" ")
        name = name.lower()
        if not self._entry and name in ("url", "sitemap"):
            self._entry, self._name, self._space, self._fields = self._depth, name, space, {}
        elif self._entry and self._depth == self._entry + 1:
            if name in ("loc", "lastmod"):
                self._words = []
            elif name == "link" and attributes.get("rel", "").strip().lower() == "alternate":
                self._others.setdefault(attributes.get("href", "").strip())

    def _characters(self, data: str) -> None:
        if self._words is not None:
            self._words.append(data)

    def _end(self, tag: str) -> None:
        space, _, name = tag.rpartition(" ")
        if self._words is not None and self._depth == self._entry + 1:
            # An element of another namespace counts if the entry's own is missing, because sites misspell namespaces.
            # Only an image's or a video's element is never the entry's.
            own = space == self._space
            if own or (name.lower() not in self._fields and not space.startswith(EXTENSIONS)):
                self._fields[name.lower()] = "".join(self._words).strip()
            self._words = None
        elif self._entry == self._depth:
            self._take(f"line {self._parser.CurrentLineNumber}")
            self._entry = 0
        self._depth -= 1

    def _take(self, label: str) -> None:
        where = self._fields.get("loc", "")
        if "<" in where and not self._mended:
            raise _Damaged("a section of text does not end where it should")
        label = f"the entry {where[:200]!r}" if self._mended else label
        if not self._content.address(where, label):
            return
        if self._name == "sitemap":
            self._content.sitemaps.append(where)
        else:
            at, within = self._content.moment(self._fields.get("lastmod", ""), label)
            self._content.hints.append(Hint(where, at, "sitemap", within))


def _sitemap(text: str, kind: repair.Kind, name: str, content: _Content) -> Hints:
    # Read the file as it is. The trial keeps its own lists: a damaged file is read again, mended.
    fault = _xml(text, name)
    if fault is None:
        trial = replace(content, hints=[], sitemaps=[], refused=[*content.refused], mended=[*content.mended])
        try:
            _Pages(text, trial, mended=False)
            return trial.as_hints()
        except _Damaged as damage:
            fault = str(damage)
    _Pages(_mended(text, kind, fault, content), content, mended=True)
    if not content.hints and not content.sitemaps:
        raise BadInput(f"{name} is not XML, and nothing in it can be read ({fault}).")
    return content.as_hints()


def _xml(text: str, name: str) -> str | None:
    """Return the first fault of a text that is no XML, else None. Raise BadInput if it declares entities."""
    fault = repair.fault_of(text)
    if fault is not None and repair.declares_entities(text):
        raise BadInput(f"{name} declares entities, which no sitemap or feed needs; it is not read.")
    return fault


def _mended(text: str, kind: repair.Kind, fault: str, content: _Content) -> str:
    mended = repair.mend(text, kind)
    content.mended.append(f"it is not XML ({fault}), and was read entry by entry")
    content.mended += mended.partly
    content.refused += mended.refused
    return mended.text


def moment(text: str) -> tuple[float, float]:
    """Return a date or time (UTC, unless it names a zone) in epoch seconds, and its length in seconds.

    The length of a time is 0. A text that is neither gives (0, 0). The forms are all of W3C NOTE-datetime, those of RFC
    822, and some more that sitemaps contain.
    """
    text = text.strip()
    try:
        # Read a day, a month or a year.
        if date := _DATE.fullmatch(text):
            year, month, day = (int(date[part] or 0) for part in ("year", "month", "day"))
            start = datetime(year, month or 1, day or 1, tzinfo=UTC).timestamp()
            return max(0.0, start), DAY * (1 if day else 31 if month else 366)
        if time := _TIME.fullmatch(text):
            return max(0.0, _numeric_time(time)), 0.0
        # Read a date of a mail or of HTTP, and all other forms that Python reads.
        if _NAMED_MONTH.search(text) and (parts := parsedate_tz(text)):
            return max(0.0, float(mktime_tz(parts))), 0.0
        time_of_day = datetime.fromisoformat(text)
        return max(0.0, (time_of_day if time_of_day.tzinfo else time_of_day.replace(tzinfo=UTC)).timestamp()), 0.0
    except (ValueError, OverflowError):
        return 0.0, 0.0


def _numeric_time(time: re.Match[str]) -> float:
    """Return a match of `_TIME` in epoch seconds. Raise ValueError for an hour or an offset out of range."""
    hour, minute = int(time["hour"]), int(time["minute"])
    second = float(f"{time['second'] or 0}.{time['part'] or 0}")
    offset_hours, offset_minutes = int(time["hours"] or 0), int(time["minutes"] or 0)
    if hour > 24 or minute > 59 or second >= 61 or offset_hours > 23 or offset_minutes > 59:
        raise ValueError("no time of day")
    midnight = datetime(int(time["year"]), int(time["month"]), int(time["day"]), tzinfo=UTC).timestamp()
    offset = (offset_hours * 3600 + offset_minutes * 60) * (-1 if time["sign"] == "-" else 1)
    return midnight + hour * 3600 + minute * 60 + second - offset


def _feed(text: str, kind: repair.Kind, name: str, content: _Content) -> Hints:
    try:
        import feedparser
    except ImportError:
        raise SettingsError(_MISSING) from None
    fault = _xml(text, name)
    if fault is not None:
        text = _mended(text, kind, fault, content)

    def parsed(text: str) -> Any:
        raw = b'<?xml version="1.0" encoding="utf-8"?>' + _DECLARATION.sub("", text).encode("utf-8", "replace")
        # feedparser fetches a text that is a URL; it never fetches a file object.
        return feedparser.parse(io.BytesIO(raw), sanitize_html=False, resolve_relative_uris=False)

    # Parse it, and once more with the usual namespaces if its own hide all entries.
    feed = parsed(text)
    if not feed.entries and (other := parsed(repair.mend(text, kind, own_root=False).text)).entries:
        content.mended.append("its root, or its namespace, is not that of a feed")
        feed = other
    if not feed.entries and (fault or not feed.version):
        raise BadInput(f"{name} is neither a sitemap nor a feed{f' ({fault})' if fault else ''}.")
    for number, entry in enumerate(feed.entries, 1):
        label = f"entry {number}"
        link = entry.get("link") or ""
        if content.address(link, label):
            at, within = _when(entry, label, content)
            content.hints.append(Hint(link, at, "feed", within))
    return content.as_hints()


def _when(entry: Any, label: str, content: _Content) -> tuple[float, float]:
    """Return the time at which an entry was updated, else published, and its length in seconds; (0, 0) for neither."""
    # feedparser's own look-up replaces a missing time by the other one, and warns. That of dict does not.
    for what in ("updated", "published"):
        if time := dict.get(entry, f"{what}_parsed"):
            try:
                return float(max(0, calendar.timegm(time))), 0.0
            except (ValueError, OverflowError):
                continue
    return content.moment(dict.get(entry, "updated") or dict.get(entry, "published") or "", label)


def read_lines(lines: Iterable[str]) -> Hints:
    """Return the hints of lines. A line is a URL of a page that exists, or a JSON object with 'url' and optionally 'at'
    (epoch seconds, or a date or time), 'kind' and 'within' (seconds)."""
    return _lines(lines, _Content())


def _lines(lines: Iterable[str], content: _Content) -> Hints:
    for number, line in enumerate(lines, 1):
        line = line.strip()
        if line.lower().startswith(("http://", "https://")):
            if content.address(line, f"line {number}"):
                content.hints.append(Hint(line, 0.0, "sitemap"))
        elif line.startswith(("{", "[")):
            try:
                content.hints.append(_from_line(line))
            except BadInput as error:
                content.refused.append(f"line {number}: {str(error).rstrip('.')}")
        elif line and not line.startswith("#"):
            content.refused.append(f"line {number}: {line[:200]!r} is neither an http or https URL nor a JSON object")
    return content.as_hints()


def _from_line(line: str) -> Hint:
    item = json_object(line)
    if not isinstance(item.get("url"), str):
        raise BadInput("each line must be a JSON object with a 'url'")
    if unknown := sorted(set(item) - {"url", "at", "kind", "within"}):
        raise BadInput(f"unknown field {unknown[0]!r}")
    at, within = item.get("at"), item.get("within", 0.0)
    if isinstance(at, str):
        at, span = moment(at)
        within = within or span
        if not at:
            raise BadInput(f"'at' is no date or time: {item['at']!r:.80}")
    if isinstance(at, float) and not math.isfinite(at):
        raise BadInput(f"'at' is no time: {at}")
    return Hint(item["url"], at, item.get("kind", "ping"), within)
