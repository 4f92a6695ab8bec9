"""Pages whose references are rewritten lead to files alone, and are else as they were."""

from __future__ import annotations

import time
from urllib.parse import urldefrag

import pytest

from graphbrain.crawl.rewriting import Rewriter

URL, BASE = "http://a.example/d/page", "http://a.example/d/"
THERE = {f"http://a.example/{name}" for name in ("", "d/x", "d/s.css", "d/i.png", "d/j.png", "d/?a=1&copy=2")} | {URL}


def local(url: str, target: str) -> str | None:
    assert url == URL and urldefrag(target)[1] == ""
    return f"L{target.removeprefix('http://a.example')}" if target in THERE else None


REWRITER = Rewriter(local)
ASIDE = "<!-- <img src=i.png> --><textarea><img src=i.png></textarea>"


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ('<a href="x#top">', '<a href="L/d/x#top">'),
        ("<A HREF=x >t</a>", '<A href="L/d/x" >t</a>'),
        ("<a href='/away'>", '<a href="http://a.example/away">'),
        ("<a href=mailto:a@b>", '<a href="mailto:a@b">'),
        ('<a href="page#here">', '<a href="L/d/page#here">'),
        ("<a href='?a=1&copy=2'>", '<a href="L/d/?a=1&amp;copy=2">'),
        ('<a href="&#120;">', '<a href="L/d/x">'),
        ('<img src=i.png alt="a > b" srcset="i.png 1x, no.png 2x">', None),
        ("<img src=http://cdn.example/x.png>", '<img src="about:invalid">'),
        ("<img src=data:image/png;base64,x>", "<img src=data:image/png;base64,x>"),
        ('<base href="http://other.example/"><p>', "<p>"),
        ("<meta charset=latin-1><meta http-equiv=Content-Security-Policy content=x><p>", "<p>"),
        ("<meta http-equiv=refresh content='0;url=http://b.example/'>", ""),
        ("<meta http-equiv=refresh content='5; URL=x'>", "<meta http-equiv=refresh content=\"5; url=L/d/x\">"),
        ("<meta name=description content='0; url=x'>", "<meta name=description content='0; url=x'>"),
        ("<link rel=preconnect href=//cdn.example><link rel=dns-prefetch href=//b.example>", ""),
        ('<link rel=stylesheet href=s.css integrity="sha" crossorigin>', '<link rel=stylesheet href="L/d/s.css"  >'),
        ("<link rel=canonical href=/away>", '<link rel=canonical href="http://a.example/away">'),
        ("<style>p{background:url(i.png)}</style><p style=\"background:url('no.png')\">", None),
        ("<script>var a = '<img src=i.png>'</script><img src=i.png>", None),
        (ASIDE, ASIDE),
        ("<svg><use href=i.png#a /><use href='#b'/><image xlink:href=no.png></svg>", None),
        ("text <b>no reference</b> &amp; <p class='a'>", "text <b>no reference</b> &amp; <p class='a'>"),
        ("<a href=x", "<a href=x"),
    ],
)  # fmt: skip
def test_tags_with_references_are_written_anew(text: str, new: str | None) -> None:
    made = REWRITER.markup(text, URL, BASE)
    if new is not None:
        assert made == new
    assert "cdn.example" not in made and "no.png" not in made


def test_attributes_of_every_form() -> None:
    made = REWRITER.markup(
        '<img src=i.png alt="a > b" srcset="i.png 1x, no.png 2x">'
        "<style>p{background:url(i.png)}</style><p style=\"background:url('j.png')\">"
        "<script>var a = '<img src=i.png>'</script>"
        "<svg><use href=i.png#a /><use href='#b'/></svg>",
        URL, BASE,
    )  # fmt: skip
    assert made == (
        '<img src="L/d/i.png" alt="a > b" srcset="L/d/i.png 1x, about:invalid 2x">'
        '<style>p{background:url("L/d/i.png")}</style><p style="background:url(&quot;L/d/j.png&quot;)">'
        "<script>var a = '<img src=i.png>'</script>"
        "<svg><use href=\"L/d/i.png#a\" /><use href='#b'/></svg>"
    )


@pytest.mark.parametrize("before", ["", "<!DOCTYPE html>", "<!-- a --> \n<!DOCTYPE html>\n", '<?xml version="1.0"?>'])
def test_the_policy_is_in_the_head(before: str) -> None:
    for rest in ("<html><p>", "text before <p>", "<p>"):
        made = REWRITER.page(before + rest, URL, BASE)
        assert made.startswith(f'{before}<meta http-equiv="Content-Security-Policy"') and made.endswith(rest)
        assert "script-src 'none'" in made
    assert "script-src 'none'" not in Rewriter(local, scripts=True).page("<p>", URL, BASE)


@pytest.mark.parametrize("piece", ["<a ", '<a ="', "<!--", "</", "<a b=c ", "<style>", "&a", "<a href='&amp", "=", '"'])
def test_long_texts_take_no_longer_than_their_length(piece: str) -> None:
    began = time.process_time()
    REWRITER.page(piece * 100_000, URL, BASE)
    REWRITER.page(piece * 50_000 + '">', URL, BASE)
    assert time.process_time() - began < 10
