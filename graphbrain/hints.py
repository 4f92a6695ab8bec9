"""Hints out of files: sitemaps, feeds (RSS, Atom) and JSON lines. Nothing is fetched here.

A sitemap says when a page was last changed, by a time or by a date; a date counts from its beginning, and may mean
all of it. An entry without either says only that the page is there: its time is 0. Needs `pip install
'graphbrain-crawler[hints]'`: defusedxml, for files of strangers may hold entity bombs, and feedparser.
Formats: sitemaps.org, "Sitemaps XML format", 0.9; RFC 4287; W3C NOTE-datetime.
"""

from __future__ import annotations

import calendar
import gzip
import io
import math
import re
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from graphbrain import installs
from graphbrain.errors import BadInput, SettingsError
from graphbrain.model import Hint
from graphbrain.wire import json_object

__all__ = ["LARGEST", "Hints", "moment", "read", "read_feed", "read_lines", "read_sitemap"]

LARGEST = 50 * 1024 * 1024
"""Bytes of one file, unpacked: the limit of sitemaps.org."""
DAY = 86_400.0
_DATE = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?")
_MISSING = (
    "Sitemaps and feeds are read with two packages that are not installed: "
    f"{installs.command('hints', 'defusedxml', 'feedparser')}."
)


@dataclass(frozen=True, slots=True)
class Hints:
    """What a file says: hints; the sitemaps that an index of them lists, to be fetched and read; refused lines."""

    hints: tuple[Hint, ...] = ()
    sitemaps: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()


def read(data: bytes | str, name: str = "it") -> Hints:
    """The hints of a sitemap, an index of sitemaps, a feed, or JSON lines, packed by gzip or not.

    `name`: how errors call it. Raises BadInput, in a sentence, for what is none of these, is broken, is larger than
    LARGEST, or declares entities; SettingsError when a package is missing.
    """
    raw = _unpack(data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data, name)
    begin = raw[:4096].removeprefix(b"\xef\xbb\xbf").lstrip()
    if begin.startswith(b"{"):
        return read_lines(raw.decode("utf-8-sig", "replace").splitlines())
    if not begin.startswith(b"<") and b"\x00" not in begin:
        raise BadInput(f"{name} is no sitemap, no feed, and no JSON lines.")
    if re.search(rb"<(?:\w+:)?(?:urlset|sitemapindex)\b", begin.replace(b"\x00", b"")):
        return read_sitemap(raw, name)
    return read_feed(raw, name)


def _unpack(raw: bytes, name: str) -> bytes:
    if raw.startswith(b"\x1f\x8b"):
        try:
            with gzip.open(io.BytesIO(raw)) as file:
                raw = file.read(LARGEST + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise BadInput(f"{name} cannot be unpacked ({error}).") from None
    if len(raw) > LARGEST:
        raise BadInput(f"{name} is larger than {LARGEST >> 20} MB, the limit of sitemaps; split it.")
    return raw


def read_sitemap(data: bytes | str, name: str = "the sitemap") -> Hints:
    """The pages of a sitemap, or the sitemaps of an index. Raises as `read`."""
    try:
        from defusedxml.common import DefusedXmlException
        from defusedxml.ElementTree import ParseError, iterparse
    except ImportError:
        raise SettingsError(_MISSING) from None
    raw = _unpack(data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data, name)
    hints: list[Hint] = []
    sitemaps: list[str] = []
    try:
        root = None
        for event, element in iterparse(io.BytesIO(raw), ("start", "end")):
            root = element if root is None else root
            space, _, tag = element.tag.rpartition("}")
            if event == "start" or tag not in ("url", "sitemap"):
                continue
            where, when = (_child(element, space, part) for part in ("loc", "lastmod"))
            if where and tag == "sitemap":
                sitemaps.append(where)
            elif where:
                at, within = moment(when)
                hints.append(Hint(where, at, "sitemap", within))
            root.clear()
    except DefusedXmlException:
        raise BadInput(f"{name} declares entities, which no sitemap needs; it is not read.") from None
    except (ParseError, ValueError, LookupError) as error:
        raise BadInput(f"{name} is not XML ({error}).") from None
    return Hints(tuple(hints), tuple(sitemaps))


def _child(element: Any, space: str, tag: str) -> str:
    return (element.findtext(f"{space}}}{tag}" if space else tag) or "").strip()


def moment(text: str) -> tuple[float, float]:
    """A W3C date or time (UTC, unless it says) in epoch seconds, and how many seconds long it is; (0, 0) for others."""
    text = text.strip()
    try:
        if date := _DATE.fullmatch(text):
            year, month, day = (int(part) if part else None for part in date.groups())
            assert year is not None
            start = datetime(year, month or 1, day or 1, tzinfo=UTC).timestamp()
            return max(0.0, start), DAY * (1 if day else 31 if month else 366)
        found = datetime.fromisoformat(text)
        return max(0.0, (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()), 0.0
    except (ValueError, OverflowError):
        return 0.0, 0.0


def read_feed(data: bytes | str, name: str = "the feed") -> Hints:
    """The entries of an RSS or Atom feed. What is broken behind the first entries is left out. Raises as `read`."""
    try:
        import feedparser
    except ImportError:
        raise SettingsError(_MISSING) from None
    raw = _unpack(data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data, name)
    if re.search(rb"<!ENTITY", raw.replace(b"\x00", b""), re.IGNORECASE):
        raise BadInput(f"{name} declares entities, which no feed needs; it is not read.")
    # From a file object, for the address of a feed would be fetched.
    feed = feedparser.parse(io.BytesIO(raw), sanitize_html=False, resolve_relative_uris=False)
    if not feed.entries and (feed.bozo or not feed.version):
        why = f" ({feed.bozo_exception})" if feed.bozo else ""
        raise BadInput(f"{name} is neither a sitemap nor a feed{why}.")
    hints = [Hint(link, _epoch(entry), "feed") for entry in feed.entries if (link := entry.get("link"))]
    return Hints(tuple(hints))


def _epoch(entry: Any) -> float:
    """When an entry was updated, else published; 0 if it does not say."""
    # Asked for by its own name, feedparser would answer with the other one, and a warning.
    time = dict.get(entry, "updated_parsed") or dict.get(entry, "published_parsed")
    try:
        return float(max(0, calendar.timegm(time))) if time else 0.0
    except (ValueError, OverflowError):
        return 0.0


def read_lines(lines: Iterable[str]) -> Hints:
    """Hints from JSON lines: 'url', and if they are known 'at' (epoch seconds, or a date or time), 'kind', 'within'."""
    hints: list[Hint] = []
    refused: list[str] = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                hints.append(_from_line(line))
            except BadInput as error:
                refused.append(f"line {number}: {error}")
    return Hints(tuple(hints), (), tuple(refused))


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
