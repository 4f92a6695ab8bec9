"""What a page needs to be shown is found, and is taken once, by whichever process, no sooner than its host allows."""

from __future__ import annotations

import sqlite3
from collections import Counter
from pathlib import Path

from scrapy.http import HtmlResponse, Response, TextResponse

from graphbrain.crawl.requisites import HELD, Requisites, requisites_of

PAGE = """<base href="/d/"><link rel="alternate" href="no"><link rel="Stylesheet" href="s.css">
<link rel=icon href=/i.ico>
<script src=//cdn.example/x.js></script><img src="a b.png" srcset="small.png 1x, large.png 2x"><a href="page">p</a>
<style>@import "more.css"; /* url(never.png) */ p { background: url('bg.png') }</style>
<img src="data:image/png;base64,x">
<p style="background:url(inline.png)"><video poster=poster.jpg src="v.mp4"></video><img src="http://[bad/">"""


def styles(*names: str) -> Response:
    body = " ".join(f"p {{ src: url({name}) }}" for name in names).encode()
    return TextResponse("http://a.example/css/s.css", body=body, headers={"Content-Type": "text/css"})


def test_the_requisites_of_a_page_and_of_a_style_sheet() -> None:
    found = requisites_of(HtmlResponse("http://a.example/x", body=PAGE.encode(), encoding="utf-8"))
    names = ["s.css", "small.png", "large.png", "more.css", "bg.png", "inline.png", "poster.jpg", "v.mp4", "a%20b.png"]
    here = {f"http://a.example/d/{name}" for name in names}
    assert set(found) == here | {"http://a.example/i.ico", "http://cdn.example/x.js"}
    assert requisites_of(styles("../f.woff", "../f.woff")) == ["http://a.example/f.woff"]
    assert requisites_of(Response("http://a.example/x", body=b"url(a.png)")) == []


def test_every_kind_of_requisite_is_found() -> None:
    body = """<link rel=preload as=image imagesrcset="a,1.png 1x, a2.png 2x" href="a.png"><link rel=stylesheet>
    <link rel=apple-touch-icon-precomposed href=t.png><link rel=alternate href=no1 imagesrcset="no2 1x">
    <svg><use href="s.svg#x"/><use xlink:href="s2.svg#x"/><use href="#no3"/><image href="i.png"/></svg>
    <body background=bg.png><p style="background: image-set('set.png' 1x, url(\\75 rl.png) 2x)">
    <img src="" srcset="data:image/png;base64,iVBORw0KGgo= 2w, c.png 100w 50h, no4 1x 2x"><a srcset="no5 1x">"""
    found = requisites_of(HtmlResponse("http://a.example/", body=body.encode(), encoding="utf-8"))
    names = ["a,1.png", "a2.png", "a.png", "t.png", "s.svg", "s2.svg", "i.png", "bg.png", "set.png", "url.png", "c.png"]
    assert set(found) == {f"http://a.example/{name}" for name in names}


def test_each_is_taken_once_and_a_host_at_its_pace(tmp_path: Path) -> None:
    """Two processes that share a folder."""
    with Requisites(tmp_path) as one, Requisites(tmp_path) as other:
        one._delay = other._delay = 3_600.0
        one._add(styles(*(f"http://h{n}.example/{k}" for n in range(5) for k in range(3))))
        other._add(styles("http://h0.example/0"))
        taken = [url for each in (one, other) * 5 if (url := each._take())]
        assert len(taken) == len(set(taken)) == 5, "one of each host in an hour"
        assert Counter(url.split("/")[2] for url in taken) == Counter(f"h{n}.example" for n in range(5))
        assert one.busy() and other.busy()
        with sqlite3.connect(tmp_path / "requisites.sqlite") as sql:
            sql.execute("UPDATE host SET next = 0")
        more = [url for each in (one, other) * 10 if (url := each._take())]
        assert len(more) == 5 and not set(more) & set(taken)


def test_what_a_killed_process_has_taken_is_taken_again(tmp_path: Path) -> None:
    with Requisites(tmp_path) as killed:
        killed._delay = 0.0
        killed._add(styles("http://a.example/1"))
        assert killed._take()
    with Requisites(tmp_path) as later:
        later._delay = 0.0
        assert later.busy() and later._take() is None
        with sqlite3.connect(tmp_path / "requisites.sqlite") as sql:
            sql.execute("UPDATE requisite SET taken = taken - ?", (HELD + 1,))
        assert later._take() == "http://a.example/1"
