"""What pages say of themselves, in the forms that they say it in."""

from __future__ import annotations

import random
import string
from html.parser import HTMLParser
from typing import Any

import pytest

from graphbrain.content.pagefacts import PageFacts, canonical_in, forbids, refresh_in

URL = "http://a.example/dir/page"


class Parser(HTMLParser):
    def __init__(self, facts: PageFacts) -> None:
        super().__init__()
        self.facts = facts

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.facts.start(tag, dict(attrs))

    def handle_endtag(self, tag: str) -> None:
        self.facts.end(tag)

    def handle_data(self, data: str) -> None:
        self.facts.data(data)


def read(html: str, agent: str = "graphbrain", **headers: str) -> PageFacts:
    facts = PageFacts(URL, {name.replace("_", "-"): [value] for name, value in headers.items()}, agent)
    parser = Parser(facts)
    parser.feed(html)
    parser.close()
    return facts


def meta(content: str, name: str = "robots") -> str:
    return f'<meta name="{name}" content="{content}">'


@pytest.mark.parametrize(
    ("html", "noindex"),
    [
        (meta("noindex"), True),
        (meta("NoIndex, Follow"), True),
        ('<META NAME="ROBOTS" CONTENT="NONE">', True),
        (meta(" noindex ,nofollow"), True),
        (meta("max-image-preview:none"), False),
        (meta("max-snippet:-1, max-image-preview:none, index"), False),
        (meta("unavailable_after: 25 Jun 2010 15:00:00 PST, none"), True),
        (meta("index") + meta("noindex"), True),
        (meta("noindex") + meta("index, follow"), True),
        (meta("noindex", "googlebot"), False),
        (meta("noindex", "GraphBrain"), True),
        (meta("nosnippet, noimageindex, noarchive"), False),
        ("<meta name=description content=noindex>", False),
        ("<template>" + meta("noindex") + "</template>", False),
    ],
)
def test_noindex_of_metas(html: str, noindex: bool) -> None:
    assert read(html).arguments().get("noindex", False) is noindex


@pytest.mark.parametrize(
    ("value", "noindex"),
    [
        ("noindex", True),
        ("NONE", True),
        ("nofollow, noindex", True),
        ("googlebot: noindex", False),
        ("googlebot: nofollow, otherbot: noindex, nofollow", False),
        ("graphbrain: noindex", True),
        ("googlebot: nofollow, GraphBrain: none", True),
        ("*: noindex", True),
        ("max-image-preview:none", False),
        ("unavailable_after: Wed, 25 Jun 2025 15:00:00 GMT", False),
        ("unavailable_after: Wed, 25 Jun 2025 15:00:00 GMT, noindex", True),
        ("all", False),
        ("", False),
    ],
)
def test_noindex_of_headers(value: str, noindex: bool) -> None:
    assert read("", x_robots_tag=value).arguments().get("noindex", False) is noindex


def test_any_of_several_headers_forbids() -> None:
    assert forbids("noindex", ["nofollow", "noindex"], [""]) and not forbids("noindex", [], [""])


@pytest.mark.parametrize(
    ("html", "canonical"),
    [
        ('<link rel="canonical" href="/c">', "http://a.example/c"),
        ('<link rel="Canonical" href=c>', "http://a.example/dir/c"),
        ('<link rel="alternate  CANONICAL" href="http://b.example/">', "http://b.example/"),
        ('<link rel=canonical href="/one"><link rel=canonical href="/two">', "http://a.example/one"),
        ('<base href="/other/"><link rel=canonical href=c>', "http://a.example/other/c"),
        ('<link rel=canonical href=c><base href="/other/">', "http://a.example/other/c"),
        ("<link rel=canonical href=''><link rel=canonical href=/c>", "http://a.example/c"),
        ('<link rel="canonical-not" href="/c">', None),
        ("<link rel=canonical>", None),
    ],
)
def test_canonical_of_links(html: str, canonical: str | None) -> None:
    assert read(html).arguments().get("canonical") == canonical


A, B = "http://a.example/a", "http://a.example/b"


@pytest.mark.parametrize(
    ("html", "header", "canonical", "stated"),
    [
        ("<link rel=canonical href=/a>", "</a>; rel=canonical", A, ()),
        ("<link rel=canonical href=/a><link rel=canonical href=/a>", "", A, ()),
        ("<link rel=canonical href=/a><link rel=canonical href=/b>", "", A, (f"head {A}", f"head {B}")),
        ("<link rel=canonical href=/a>", "</b>; rel=canonical", A, (f"head {A}", f"header {B}")),
        ("", "</a>; rel=canonical, </b>; rel=canonical", A, (f"header {A}", f"header {B}")),
        ("<title>T</title><body><link rel=canonical href=/a>", "", None, (f"body {A}",)),
        ("<title>T</title><p>text<link rel=canonical href=/a>", "", None, (f"body {A}",)),
        ("<img src=x><link rel=canonical href=/a>", "", None, (f"body {A}",)),
        ("<link rel=canonical href=/a></head><body><link rel=canonical href=/b>", "", A, (f"head {A}", f"body {B}")),
        ("<script></script><noscript><p></noscript><link rel=canonical href=/a>", "", A, ()),
        ("<svg></svg><link rel=canonical href=/a>", "", None, (f"body {A}",)),
        ("<link rel=canonical href=/a><link rel=canonical href='http://['>", "", A, ()),
    ],
)
def test_canonicals_that_contradict_each_other(
    html: str, header: str, canonical: str | None, stated: tuple[str, ...]
) -> None:
    facts = read(html, link=header).arguments()
    assert (facts.get("canonical"), facts.get("canonicals", ())) == (canonical, stated)


@pytest.mark.parametrize(
    ("html", "header", "nofollow"),
    [
        (meta("nofollow"), "", True),
        (meta("none"), "", True),
        (meta("noindex"), "", False),
        ("", "nofollow", True),
        ("", "otherbot: nofollow", False),
        (meta("index, NOFOLLOW", "graphbrain"), "", True),
        ("<body>" + meta("nofollow"), "", True),
    ],
)
def test_nofollow_of_a_whole_page(html: str, header: str, nofollow: bool) -> None:
    assert read(html, x_robots_tag=header).arguments().get("nofollow", False) is nofollow


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ('<http://b.example/x>; rel="canonical"', ["http://b.example/x"]),
        ("<c>; rel=Canonical", ["c"]),
        ('<a>; rel="next", <c>; title="x, y; rel=no"; rel="prev canonical"', ["c"]),
        ('<a,b>; rel=canonical; rel=next, <d>;rel="canonical"', ["a,b", "d"]),
        ("<a>; rel=next", []),
        (", ,<c>;; rel=canonical; ,", ["c"]),
        ('<c>; anchor="/other"; rel=canonical, <d>; anchor=""; rel=canonical', ["d"]),
        ("c; rel=canonical", []),
        ("", []),
    ],
)
def test_canonical_of_headers(value: str, found: list[str]) -> None:
    assert list(canonical_in([value])) == found


def test_the_header_of_a_page_is_read_against_its_url_and_its_html_goes_before() -> None:
    header = "<c>; rel=canonical"
    assert read("<base href=/other/>", link=header).arguments()["canonical"] == "http://a.example/dir/c"
    assert read("<link rel=canonical href=/own>", link=header).arguments()["canonical"] == "http://a.example/own"


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<title> A\n title </title>", "A title"),
        ("<svg><title>drawn</title></svg><title>told</title>", "told"),
        ("<title>told</title><svg><title>drawn</title></svg>", "told"),
        ("<svg><title>drawn</title></svg>", None),
        ("<title>one</title><title>two</title>", "one"),
        ("<title>&lt;b&gt; &amp; c</title>", "<b> & c"),
        ("<title></title><title>late</title>", None),
        ("<p>none</p>", None),
    ],
)
def test_title(html: str, title: str | None) -> None:
    assert read(html).arguments().get("title") == title


def test_language_is_that_of_the_document() -> None:
    assert read('<html lang="de-AT"><p lang=fr>').arguments()["language"] == "de-AT"


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("0; url=/next", (0.0, "/next")),
        ("0;URL='/next'", (0.0, "/next")),
        ('5 , Url = "/next" more', (5.0, "/next")),
        ("0 /next", (0.0, "/next")),
        ("0.7; url=/next", (0.0, "/next")),
        (".5;/next", (0.0, "/next")),
        ("30", (30.0, "")),
        ("soon; url=/next", None),
        ("0x; url=/next", None),
        ("", None),
    ],
)
def test_refresh(content: str, found: tuple[float, str] | None) -> None:
    assert refresh_in(content) == found


def test_where_a_refresh_leads() -> None:
    assert read("<meta http-equiv=Refresh content='0; url=next'>").refresh() == (0.0, "http://a.example/dir/next")
    assert read("", refresh="3; url=/x").refresh() == (3.0, "http://a.example/x")
    for none in ("<meta http-equiv=refresh content=30>", "<meta http-equiv=refresh content='0;url=javascript:x()'>"):
        assert read(none).refresh() is None
    assert read("<noscript><meta http-equiv=refresh content='0;url=/x'></noscript>").refresh() is None


def test_nothing_that_a_page_says_raises_or_takes_long() -> None:
    rng = random.Random(46)
    pieces = [
        *string.printable,
        "noindex",
        "<a>",
        ";rel=",
        '"',
        "\\",
        "canonical",
        "url=",
        "0;",
        ":",
        ",",
        "http://[",
        "é",
    ]
    for _ in range(2_000):
        text = "".join(rng.choices(pieces, k=rng.randint(0, 40)))
        facts: Any = read(
            f"<meta name=robots content='{text}'><link rel=canonical href='{text}'>", link=text, refresh=text
        )
        facts.arguments()
        facts.refresh()
    for text in (
        "<a>;" * 50_000,
        "<a>" + ";x" * 50_000,
        '<a>;rel="' + "\\" * 100_000,
        "0" * 100_000 + "x",
        "," * 100_000,
    ):
        assert list(canonical_in([text])) == [] and not forbids("noindex", [text], [""])
        refresh_in(text)


@pytest.mark.parametrize(
    ("html", "header", "stated"),
    [
        ("<p>text", "", {"descriptions": (), "h1": ()}),
        ("<meta name=Description content=' A\n b '><meta name=description>", "", {"descriptions": ("A b",)}),
        ("<meta name=description content=a>" * 7, "", {"descriptions": ("a",) * 5}),
        ("<h1>The <b>head</b>ing</h1><h1></h1><h1>two</h1>", "", {"h1": ("The heading", "two")}),
        ("<h1>a <svg><title>drawn</title></svg></h1><noscript><h1>b</h1></noscript>", "", {"h1": ("a",)}),
        ("<title>one</title><title>two</title>", "", {"titles": ("head one", "head two")}),
        ("<p><title>late</title>", "", {"titles": ("body late",), "title": "late"}),
        ("<title>one</title>", "", {"title": "one"}),
        (
            "<link rel=alternate hreflang=de href=/de><link rel=alternate href=/feed><link rel=alternate hreflang=fr>",
            "</en>; rel=alternate; hreflang=en, </x>; rel=next; hreflang=x",
            {"hreflang": ("de http://a.example/de", "en http://a.example/en")},
        ),
        ("<p><link rel=alternate hreflang=de href=/de>", "", {}),
        (
            "<img src=i.png alt=' A  cat'><img src=/j.png alt><img src=k.png><img><img src='data:x' data-src=/l#f>",
            "",
            {
                "requisites": (
                    "image http://a.example/dir/i.png A cat",
                    "image http://a.example/j.png ",
                    "image http://a.example/dir/k.png",
                    "image http://a.example/l",
                )
            },
        ),
        (
            "<link rel=stylesheet href=/s.css><script src=/s.js></script><form action='http://b.example/f'>"
            "<video src=v.mp4></video><noscript><img src=n.png></noscript><script>text()</script>",
            "",
            {
                "requisites": (
                    "style http://a.example/s.css",
                    "script http://a.example/s.js",
                    "form http://b.example/f",
                    "media http://a.example/dir/v.mp4",
                )
            },
        ),
        (
            '<script type="application/ld+json">{"@graph": [{"@type": ["Product", "Thing"], "a": {"@type": "Offer"}}]}'
            "</script><div itemscope itemtype='https://schema.org/Event'><p typeof='schema:Person'>",
            "",
            {"structured": ("json-ld Product", "json-ld Thing", "json-ld Offer", "microdata Event", "rdfa Person")},
        ),
        ('<script type="application/ld+json; x=y">{"a": </script>', "", {"structured": ("invalid json-ld",)}),
        ('<script type="application/ld+json"> </script>', "", {}),
    ],
)
def test_what_else_a_page_states(html: str, header: str, stated: dict[str, Any]) -> None:
    found = read(html, link=header).arguments()
    assert found.items() >= stated.items()
    assert not {"requisites", "structured", "hreflang", "titles"} & found.keys() - stated.keys()


def test_what_a_page_states_is_bounded() -> None:
    many = "".join(f"<img src=/{number}><script src=/{number}></script>" for number in range(1_000))
    types = "".join(f"<p itemtype='http://schema.org/T{number}'>" for number in range(100))
    deep = f'<script type="application/ld+json">{"[" * 50_000}</script>'
    found = read(f"{many}{types}{deep}<img src={'x' * 2_000}><img src=y alt={'a' * 500}>").arguments()
    assert len(found["requisites"]) == 400 and len(found["structured"]) == 20
    assert read(f"<img src=/y alt='{'a ' * 500}'>").arguments()["requisites"] == (
        f"image http://a.example/y {('a ' * 50)}",
    )
    versions = "".join(f"<link rel=alternate hreflang=de href=/{number}>" for number in range(500))
    assert len(read(versions).arguments()["hreflang"]) == 100


def test_a_page_that_is_no_html_has_unknown_texts() -> None:
    assert PageFacts(URL).arguments() == {}
