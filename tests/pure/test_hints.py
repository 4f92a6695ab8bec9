"""Sitemaps, feeds and JSON lines as hints; what is broken or hostile is refused in a sentence."""

from __future__ import annotations

import gzip

import pytest

from graphbrain import Hint
from graphbrain.errors import BadInput
from graphbrain.hints import LARGEST, moment, read, read_feed, read_lines, read_sitemap

DAY = 86_400.0
SITEMAP = b"""<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:i="http://www.google.com/schemas/sitemap-image/1.1">
<url><loc> http://a.org/1?x=1&amp;y=2 </loc><lastmod>2023-11-14T22:13:20+00:00</lastmod>
<i:image><i:loc>no</i:loc></i:image></url>
<url><loc>http://a.org/2</loc><lastmod>2023-11-14</lastmod></url>
<url><loc>http://a.org/3</loc></url><url><lastmod>2023-11-14</lastmod></url></urlset>"""
INDEX = b"<sitemapindex><sitemap><loc>http://a.org/s.xml.gz</loc></sitemap></sitemapindex>"
RSS = b"""<rss version="2.0"><channel><link>http://a.org/</link>
<item><link>http://a.org/1</link><pubDate>Tue, 14 Nov 2023 22:13:20 GMT</pubDate></item>
<item><link>http://a.org/2</link></item></channel></rss>"""
ATOM = b"""<feed xmlns="http://www.w3.org/2005/Atom"><link href="http://a.org/"/>
<entry><link rel="alternate" href="http://a.org/1"/><updated>2023-11-14T22:13:20Z</updated></entry></feed>"""
BOMB = b"""<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>"""


def test_a_sitemap() -> None:
    assert read(SITEMAP).hints == (
        Hint("http://a.org/1?x=1&y=2", 1_700_000_000.0, "sitemap"),
        Hint("http://a.org/2", 1_700_000_000.0 - 1_700_000_000.0 % DAY, "sitemap", DAY),
        Hint("http://a.org/3", 0.0, "sitemap"),
    )
    assert read(gzip.compress(SITEMAP)) == read(SITEMAP) == read_sitemap(SITEMAP.decode())


def test_an_index_of_sitemaps() -> None:
    assert (read(INDEX).sitemaps, read(INDEX).hints) == (("http://a.org/s.xml.gz",), ())


def test_feeds() -> None:
    assert read(RSS).hints == (Hint("http://a.org/1", 1.7e9, "feed"), Hint("http://a.org/2", 0.0, "feed"))
    assert read(ATOM).hints == (Hint("http://a.org/1", 1.7e9, "feed"),)
    assert read_feed(RSS[:-40]).hints == read(RSS).hints[:1] + read_feed(RSS[:-40]).hints[1:]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2023-11-14T22:13:20Z", (1.7e9, 0.0)),
        ("2023-11-15T00:13:20+02:00", (1.7e9, 0.0)),
        ("2023-11-14T22:13:20.000", (1.7e9, 0.0)),
        ("2023-11", (1_698_796_800.0, 31 * DAY)),
        ("2023", (1_672_531_200.0, 366 * DAY)),
        ("2023-13-01", (0.0, 0.0)),
        ("yesterday", (0.0, 0.0)),
        ("", (0.0, 0.0)),
        ("0000", (0.0, 0.0)),
        ("1960-01-01", (0.0, DAY)),
        ("9999-12-31T23:59:59-23:59", (253402387139.0, 0.0)),
    ],
)
def test_dates(text: str, expected: tuple[float, float]) -> None:
    assert moment(text) == expected


def test_json_lines() -> None:
    found = read(
        b'{"url": "http://a.org/", "at": "2023-11-14"}\n\n'
        b'{"url": "http://b.org/"}\n{"url": 7}\n{"x\n{"url": "x", "y": 1}'
    )
    assert found.hints[0].within == DAY
    assert found.hints[1] == Hint("http://b.org/")
    assert [line.split(":")[0] for line in found.refused] == ["line 4", "line 5", "line 6"]
    assert read(b'\xef\xbb\xbf{"url": "http://b.org/"}').hints == (Hint("http://b.org/"),)
    assert read_lines(["[" * 100_000]).refused[0].startswith("line 1: Not JSON")
    assert len(read_lines(['{"url": "x", "at": NaN}', '{"url": "x", "at": "never"}']).refused) == 2


@pytest.mark.parametrize(
    "data",
    [
        SITEMAP[:-30],
        SITEMAP.replace(b"UTF-8", b"no-such"),
        b"<urlset><url></urlset>",
        BOMB + b"<urlset><url><loc>&b;</loc></url></urlset>",
        BOMB + RSS,
        b"<html><body>not found</body></html>",
        b"<rss",
        b"not found",
        b"",
        b"\x89PNG\r\n",
        gzip.compress(SITEMAP)[:-20],
        gzip.compress(b"<urlset>" + b" " * LARGEST),
        b"<urlset>" + b" " * LARGEST,
    ],
    ids=lambda data: repr(data[:30]) + str(len(data)),
)
def test_what_is_broken_or_hostile_is_refused_in_a_sentence(data: bytes) -> None:
    with pytest.raises(BadInput) as refused:
        read(data, "FILE")
    assert str(refused.value).startswith("FILE ")
    assert str(refused.value).endswith(".")
    assert "\n" not in str(refused.value)
