"""What is read of a page is what browsers without scripts find: pages are drawn by a seed, with each reference in a
place of which it is known whether it counts."""

from __future__ import annotations

import gzip
import random
import re
import tracemalloc
from collections.abc import Callable
from urllib.parse import quote, urljoin

import pytest
from scrapy.http import HtmlResponse, Response, TextResponse, XmlResponse
from scrapy.utils.response import get_base_url

from graphbrain.content.pagefacts import PageFacts
from graphbrain.crawl.requisites import requisites_of
from graphbrain.crawl.scrapy import documents
from graphbrain.crawl.scrapy.documents import Document, as_page, asks_for_password, links_of, media_type, true_coding

URL = "http://a.example/deep/page"
HIDDEN: dict[str, Callable[[str], str]] = {
    "comment": lambda html: f"<!-- {html} -->",
    "template": lambda html: f"<template><div>{html}</div></template>",
    "nested template": lambda html: f"<template><p><template>{html}</template></p></template>",
    "script": lambda html: f"<script>var s = `{html}`;</script>",
    "style": lambda html: f"<style>a:after{{content:`{html}`}}</style>",
    "textarea": lambda html: f"<textarea>{html}</textarea>",
}
SHOWN: dict[str, Callable[[str], str]] = {
    "plain": lambda html: html,
    "noscript": lambda html: f"<noscript>{html}</noscript>",
    "noframes": lambda html: f"<noframes>{html}</noframes>",
    "srcdoc": lambda html: (
        f'<iframe src="/hidden-src" srcdoc="{html.replace("&", "&amp;").replace(chr(34), "&quot;")}">x</iframe>'
    ),
    "deep": lambda html: f"<div><ul><li>{html}</ul></div>",
}
BASES = ("/root/", "sub/", "//b.example/x/", "/a&amp;b/", "http://[", "?q=1", "https://c.example")


def drawn(dice: random.Random) -> tuple[str, str, set[str], set[str]]:
    """Return a page, its base, the names of links that count, and those of links that do not."""
    shown, hidden, parts = set[str](), set[str](), list[str]()
    for number in range(dice.randrange(1, 9)):
        places, names, mark = dice.choice([(SHOWN, shown, "yes"), (HIDDEN, hidden, "no")])
        name = f"{mark}-{number}"
        names.add(name)
        parts.append(dice.choice([*places.values()])(f'<a href="{name}">text</a>'))
    first = dice.choice(BASES)
    base = f"<base target=x><base href='{first}'>" if dice.random() < 0.3 else f"<BASE HREF='{first}'>"
    wrong = dice.choice([*HIDDEN.values()])("<base href='/wrong/'>")
    parts.insert(dice.randrange(len(parts) + 1), base + "<base href='/second/'>")
    parts.insert(0, wrong)
    filler = f"<style>{'p{color:red}' * dice.choice([0, 700])}</style>"
    try:
        joined = urljoin(URL, first.replace("&amp;", "&"))
    except ValueError:
        joined = URL
    return f"<html><head><title>t</title>{filler}</head><body>{''.join(parts)}", joined, shown, hidden


@pytest.mark.parametrize("seed", range(60))
def test_links_and_requisites_have_the_base_of_the_page_and_none_of_a_template(seed: int) -> None:
    html, base, shown, _ = drawn(random.Random(seed))
    response = HtmlResponse(URL, body=html.encode(), encoding="utf-8")
    assert set(links_of(response)) == {urljoin(base, name) for name in shown}, html
    images = html.replace("<a href=", "<img src=").replace("</a>", "")
    found = requisites_of(HtmlResponse(URL, body=images.encode(), encoding="utf-8"))
    assert set(found) == {urljoin(base, name) for name in shown if "[" not in base}, images
    assert get_base_url(as_page(response)) == base == Document.of(response).base


CHARSETS = {
    "windows-1251": "привет мир",
    "gb2312": "洪水",
    "shift_jis": "日本ソ",
    "euc-kr": "한국",
    "utf-8": "müller",
    "big5": "中文",
    "windows-1252": "naïve",
    "utf-16": "müller",
}


@pytest.mark.parametrize("seed", range(40))
def test_a_query_is_written_in_the_charset_of_its_page_and_a_path_in_utf_8(seed: int) -> None:
    dice = random.Random(seed)
    charset = dice.choice([*CHARSETS])
    word = "".join(dice.choices(CHARSETS[charset].replace(" ", ""), k=3))
    html = f'<a href="/{word}?a={word}&b=1#{word}">x</a>'
    body = html.encode(charset)
    response = HtmlResponse(URL, headers={"Content-Type": f"text/html; charset={charset}"}, body=body)
    sent = word.encode("utf-8" if charset == "utf-16" else charset)
    assert [*links_of(response)] == [f"http://a.example/{word}?a={quote(sent, '')}&b=1"]


def test_a_letter_that_the_charset_lacks_is_written_as_in_html() -> None:
    body = '<a href="?q=&#27946;">x</a>'.encode("windows-1251")
    response = HtmlResponse(URL, headers={"Content-Type": "text/html; charset=windows-1251"}, body=body)
    assert [*links_of(response)] == [f"{URL}?q={quote('&#27946;', '')}"]


TYPES = ("text/html", "text/html; charset=utf-8", "application/xml", "text/xml", "application/xhtml+xml", "text/plain")
TYPES += ("*/*", "application/rss+xml", "image/png")


@pytest.mark.parametrize("seed", range(60))
def test_what_a_browser_shows_as_a_page_is_one(seed: int) -> None:
    """XHTML under any type of XML, and HTML under a type that is there twice, in one header or in two."""
    dice = random.Random(seed)
    types = dice.choices(TYPES, k=dice.randrange(1, 4))
    lead = "".join(dice.choices(["<!-- <html> -->", "<?x y?>", "\n", "<!DOCTYPE html>"], k=dice.randrange(3)))
    xhtml = dice.random() < 0.6
    root = f'{dice.choice(["<html xmlns", "<h:html xmlns:h"])}="http://www.w3.org/1999/xhtml">' if xhtml else "<rss>"
    body = f'<?xml version="1.0"?>{lead}{root}<body><a href="/x">x</a></body>'.encode()
    given = {"Content-Type": types if dice.random() < 0.5 else [", ".join(types)]}
    kind = dice.choice([TextResponse, XmlResponse])
    page = as_page(kind(URL, headers=given, body=body))
    named = [one for one in types if one != "*/*"][-1:] or types[-1:]
    essence = named[0].partition(";")[0]
    assert media_type([", ".join(types)]) == named[0]
    assert isinstance(page, HtmlResponse) == (essence == "text/html" or (xhtml and essence.endswith("xml")))


def test_xhtml_without_a_type_is_a_page() -> None:
    root = b'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml">'
    assert isinstance(as_page(XmlResponse(URL, body=root)), HtmlResponse)
    assert not isinstance(as_page(XmlResponse(URL, body=b'<?xml version="1.0"?><rss>')), HtmlResponse)


@pytest.mark.parametrize("prefix", ["", "h:", "x-1:"])
@pytest.mark.parametrize("kind", ["application/xhtml+xml", "text/xml, application/xml; charset=utf-8", ""])
def test_xhtml_is_read_as_xml(prefix: str, kind: str) -> None:
    """Names may have a prefix, elements may be empty, and other namespaces have no links."""
    body = """<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml" xml:lang="de"><head>
        <title>A&nbsp;B</title><script src="s.js"/><base href="/b/"/>
        <meta name="robots" content="nofollow"/></head><body>
        <a href="one?a=1&amp;b=2">Eins</a><![CDATA[<a href="no">]]><n:a xmlns:n="urn:n" href="no"/>
        <input type="password"/></body></html>"""
    body = re.sub(r"(</?)(?!n:)(?=\w)", rf"\1{prefix}", body.replace("xmlns=", f"xmlns{prefix and ':' + prefix[:-1]}="))
    page = as_page(XmlResponse(URL, headers={"Content-Type": kind} if kind else {}, body=body.encode()))
    assert isinstance(page, HtmlResponse) and asks_for_password(page)
    assert links_of(page) == {f"{urljoin(URL, '/b/one')}?a=1&b=2": ("Eins", "")}
    facts = PageFacts(URL)
    Document.of(page).state(facts)
    stated = facts.arguments()
    assert (stated["title"], stated["language"], stated["nofollow"]) == ("A B", "de", True)
    assert stated["requisites"] == (f"script {urljoin(URL, '/b/s.js')}",)


@pytest.mark.parametrize("label", ["gzip", "x-gzip", "GZIP", "br, gzip"])
def test_a_plain_body_that_is_labelled_gzip_is_read(label: str) -> None:
    for body in (b"<p>plain", gzip.compress(b"<p>packed"), b""):
        seen = true_coding(Response(URL, headers={"Content-Encoding": label}, body=body))
        kept = b",".join(seen.headers.getlist("Content-Encoding")).decode()
        assert kept == (("br" if "br" in label else "") if body == b"<p>plain" else label)


def test_a_large_page_is_read_up_to_a_number_of_elements(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page of eight times as many elements takes no more memory than one that is read whole."""
    monkeypatch.setattr(documents, "LARGE", 10_000)
    monkeypatch.setattr(documents, "MOST_ELEMENTS", 5_000)

    def read(many: int) -> tuple[int, int]:
        body = "".join(f"<a href=/{n}>é</a>" for n in range(many)).encode()
        response = HtmlResponse(URL, headers={"Content-Type": "text/html; charset=utf-8"}, body=body)
        tracemalloc.start()
        links = len(links_of(response))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return links, peak

    (whole, small), (cut, large) = read(4_000), read(64_000)
    assert whole == 4_000 and 5_000 <= cut < 10_000 and large < 3 * small


def test_a_large_page_is_read_as_a_small_one(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(20):
        html, *_ = drawn(random.Random(seed))
        body = (html + "é" * 500).encode()
        small = links_of(HtmlResponse(URL, body=body, encoding="utf-8"))
        with monkeypatch.context() as patched:
            patched.setattr(documents, "LARGE", 10)
            patched.setattr(documents, "PIECE", 7)
            assert links_of(HtmlResponse(URL, body=body, encoding="utf-8")) == small
