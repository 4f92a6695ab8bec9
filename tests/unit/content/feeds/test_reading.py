"""Sitemaps, feeds and JSON lines as hints; what is broken or hostile is refused in a sentence."""

from __future__ import annotations

import gzip
import time
from xml.sax.saxutils import escape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphbrain import Hint
from graphbrain.base.errors import BadInput
from graphbrain.content.feeds.reading import LARGEST, moment, read, read_feed, read_lines, read_sitemap
from graphbrain.content.feeds.repair import fault_of

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
        ("2023-11-14T22:13Z", (1.7e9 - 20, 0.0)),
        ("2023-11-14T22:13:20.45+01:00", (1.7e9 - 3600 + 0.45, 0.0)),
        ("2023-11-14T24:00:00Z", (1_700_006_400.0, 0.0)),
        ("2016-12-31T23:59:60Z", (1_483_228_800.0, 0.0)),
        ("2023-11-14t22:13:20z", (1.7e9, 0.0)),
        ("2023-11-14 22:13:20 +0200", (1.7e9 - 7200, 0.0)),
        ("2023-11-14 22:13:20 UTC", (1.7e9, 0.0)),
        ("2023/11/14", (1_699_920_000.0, DAY)),
        ("Tue, 14 Nov 2023 22:13:20 GMT", (1.7e9, 0.0)),
        ("14 Nov 2023 23:13:20 +0100", (1.7e9, 0.0)),
        ("2023-11-14T25:13:20Z", (0.0, 0.0)),
        ("2023-11-14T22:61:20Z", (0.0, 0.0)),
        ("monday 14", (0.0, 0.0)),
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


JUNK = ("<", ">", "&", "&&", ";", '"', "'", "=", "<!--", "-->", "<![CDATA[", "]]>", "<?", "?>", "<!DOCTYPE", "</url>")
JUNK += ("<url>", "<item>", "</item>", "</entry>", "<loc>", "</loc>", "</urlset>", "&eacute;", "&nbsp;", "&#0;", "\x00")
JUNK += ("\x07", "\ufffe", "\n", "x:y", "<x:y>", "<br>", "]]", "é", "</", "/>", "<b a=1>", "Warning: <b>no</b>")
SHAPES = {
    "plain": (
        "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>",
        "</urlset>",
        "<url>{}</url>",
        "<loc>{}</loc>",
    ),
    "bare": ("<urlset>", "</urlset>", "\n <url>\n  <lastmod>2023</lastmod>{}</url>", "<loc>{}</loc>\n"),
    "prefix": ("<s:urlset xmlns:s='u'>", "</s:urlset>", "<s:url>{}</s:url>", "<s:loc><![CDATA[{}]]></s:loc>"),
    "index": ("<sitemapindex>", "</sitemapindex>", "<sitemap>{}</sitemap>", "<loc>{}</loc>"),
    "rss": (
        "<rss version='2.0'><channel><link>http://h.org/</link>",
        "</channel></rss>",
        "<item><description><![CDATA[<b>&c]]></description>{}</item>",
        "<link>{}</link>",
    ),
    "atom": ("<feed xmlns='http://www.w3.org/2005/Atom'>", "</feed>", "<entry>{}</entry>", "<link href='{}'/>"),
}


@settings(max_examples=500, deadline=None)
@given(data=st.data())
def test_damage_at_one_place_costs_the_entries_it_touches(data: st.DataObject) -> None:
    start, end, entry, address = SHAPES[data.draw(st.sampled_from(sorted(SHAPES)))]
    urls = [f"http://h.org/?p={n}&q=é" for n in range(data.draw(st.integers(2, 5)))]
    marked = ["<![CDATA[" in address] * len(urls)
    entries = [
        entry.format(address.format(url if raw else escape(url)))
        + data.draw(st.sampled_from(["", "\n", "<!-- - <url> -->"]))
        for url, raw in zip(urls, marked, strict=True)
    ]
    text = "<?xml version='1.0' encoding='utf-8'?>" + start + "".join(entries) + end
    at = data.draw(st.integers(0, len(text)))
    until = min(len(text), at + data.draw(st.sampled_from([0, 0, 1, 2, 9, 40])))
    broken = text[:at] + data.draw(st.sampled_from(("", *JUNK))) + text[until:]
    if data.draw(st.booleans()):
        broken = text[:at]  # cut off
        until = len(text)
    expected, place = [], text.index(start) + len(start)
    for url, part in zip(urls, entries, strict=True):
        if until <= place or at >= place + len(part):
            expected.append(url)
        place += len(part)
    try:
        found = read(broken.encode("utf-8", "replace"), "FILE")
    except BadInput:
        assert not expected, broken
        return
    got = [*(hint.url for hint in found.hints), *found.sitemaps]
    assert [url for url in got if url in expected] == expected, broken
    if len(got) < len(urls) and fault_of(broken) is not None:
        assert found.refused or found.mended, broken


def test_a_faulty_file_says_what_was_left_out_and_where() -> None:
    parts = [f"<url><loc>http://a.org/?a={n}&b=2</loc></url>\n" for n in range(5)]
    parts[2] = "<url><loc>http://a.org/<b></url>\n"
    parts[3] = "<url><loc>http://a.org/3</loc><lastmod>soon</lastmod><p></url>\n"
    found = read("<urlset>\n" + "".join(parts) + "</urlset>")
    assert [hint.url for hint in found.hints] == [f"http://a.org/?a={n}&b=2" for n in (0, 1)] + [
        "http://a.org/3",
        "http://a.org/?a=4&b=2",
    ]
    assert found.refused == ("line 4: an entry is broken",)
    assert found.mended[1:] == (
        "line 5: an entry is broken; its address was read",
        "the entry 'http://a.org/3': 'soon' is no date; it counts that the page is there",
    )
    assert "not XML" in found.mended[0]


@pytest.mark.parametrize(
    "feed",
    [
        ATOM.replace(b"2005/Atom", b"2005/Atoom"),
        ATOM.replace(b"http://www", b"https://www"),
        ATOM.replace(b" xmlns=", b" xml:base='http://a.org/' xmlns='x' y=").replace(b"http://a.org/1", b"1"),
        b"<a:feed xmlns:a='x'><a:entry><a:link href='http://a.org/1'/><a:updated>2023-11-14T22:13:20Z</a:updated>"
        b"</a:entry></a:feed>",
        RSS.replace(b"<rss", b"<rss xmlns='http://x.org/'").replace(b"<item><link>http://a.org/2</link></item>", b""),
    ],
)
def test_feeds_of_wrong_namespaces(feed: bytes) -> None:
    assert read(feed).hints == (Hint("http://a.org/1", 1.7e9, "feed"),)


def test_alternates_are_read_once() -> None:
    link = "<x:link rel='alternate' hreflang='{}' href='http://a.org/{}'/>"
    links = "".join(link.format(name, name) for name in ("en", "de", "fr"))
    entries = "".join(f"<url><loc>http://a.org/{name}</loc>{links}</url>" for name in ("en", "de"))
    found = read(f"<urlset xmlns:x='http://www.w3.org/1999/xhtml'>{entries}</urlset>")
    assert [hint.url for hint in found.hints] == ["http://a.org/en", "http://a.org/de", "http://a.org/fr"]


def test_a_list_of_urls() -> None:
    for data in (
        "http://a.org/1\r\n\r\n# x\r\nhttps://a.org/2 \r\nno\r\n",
        "\ufeffhttp://a.org/1\n\n\nhttps://a.org/2\nno",
    ):
        for raw in (data.encode(), gzip.compress(data.encode()), data.encode("utf-16")):
            found = read(raw)
            assert found.hints == (Hint("http://a.org/1", 0.0, "sitemap"), Hint("https://a.org/2", 0.0, "sitemap"))
            assert len(found.refused) == 1
            assert found.refused[0].startswith("line 5")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-be", "windows-1251", "koi8-r", "iso-8859-5", "UTF8"])
def test_encodings(encoding: str) -> None:
    text = f"<?xml version='1.0' encoding='{encoding}'?><urlset><url><loc>http://a.org/\u0444</loc></url></urlset>"
    assert [hint.url for hint in read(text.encode(encoding)).hints] == ["http://a.org/\u0444"]
    wrong = text.replace(encoding, "no-such").encode()
    assert [hint.url for hint in read(wrong).hints] == ["http://a.org/\u0444"]
    assert "no-such" in read(wrong).mended[0]


def test_of_a_gzip_file_that_is_cut_off_the_beginning_is_read() -> None:
    sitemap = "".join(f"<url><loc>http://a.org/{n * n}</loc></url>\n" for n in range(20_000))
    packed = gzip.compress(f"<urlset>{sitemap}</urlset>".encode())
    whole = [hint.url for hint in read(packed).hints]
    assert len(whole) == 20_000
    found = read(packed[: len(packed) // 2])
    urls = [hint.url for hint in found.hints]
    assert 5_000 < len(urls) < 20_000
    assert urls == whole[: len(urls)]
    assert "gzip file is cut off" in found.refused[0]
    for broken in (packed[:9_000] + b"x" + packed[9_001:], packed[:-8] + bytes(8)):
        with pytest.raises(BadInput, match="damaged gzip"):
            read(broken)


def test_a_large_file_in_which_everything_is_wrong_takes_seconds() -> None:
    entries = "".join(f"<url><loc>http://a.org/?a={n}&b=1</loc><p></url>" for n in range(50_000))
    began = time.thread_time()
    found = read("<urlset>" + entries)
    assert len(found.hints) == 50_000
    assert len(found.mended) == 1_001
    for hostile in ("<!--" * 200_000, "<![CDATA[" * 200_000, "<url " * 200_000, "<loc a='" * 200_000, "&" * 1_000_000):
        assert read("<urlset><url><loc>http://a.org/</loc></url>" + hostile).hints
    assert time.thread_time() - began < 60.0


@pytest.mark.parametrize(
    "data",
    [
        b"<urlset><url></urlset>",
        BOMB + b"<urlset><url><loc>&b;</loc></url></urlset>",
        BOMB + RSS,
        b"<html><body>not found</body></html>",
        b"<rss",
        b"not found",
        b"",
        b"\x89PNG\r\n",
        gzip.compress(SITEMAP, mtime=0)[:20],
        gzip.compress(b"<urlset>" + b" " * LARGEST, mtime=0),
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
