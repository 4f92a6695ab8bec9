"""`graphbrain mirror`, by a browser that opens it from the disk: no request leaves it, no link of the crawl is broken.

The site has references of each kind, to itself and to hosts that must not be asked.
"""

from __future__ import annotations

import gzip
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from graphbrain.crawl.warc import Archive, Exchange
from tests.plugin import PATIENCE

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360f8cfc000000301010018dd8db00000000049454e44ae426082"
)
HTML, CSS, IMAGE = "text/html; charset=utf-8", "text/css", "image/png"
SEED = "http://a.example/"
AWAY = "http://away.example/"
START = f"""<!DOCTYPE html><html><head><title>Start</title><base href="/deep/"><link rel=stylesheet href="s.css?v=1"
integrity="sha256-x" crossorigin><link rel=preconnect href="{AWAY}"><link rel="dns-prefetch" href="{AWAY}">
<link rel=icon href="/i.png"><link rel=prefetch href="{AWAY}p"><meta http-equiv=refresh content="1;url={AWAY}">
<script src="{AWAY}x.js"></script><script>location = "{AWAY}"; new Image().src = "{AWAY}i";</script>
<style>@import "{AWAY}a.css"; p {{ background: url("i.png") }}</style></head><body background="{AWAY}b.png">
<p style="background: image-set('i.png' 1x, '{AWAY}2.png' 2x)"><img id=one src="i.png"
srcset="big,1.png 2x, {AWAY}x 3x">
<img src="{AWAY}gone.png"><picture><source srcset="{AWAY}s.png 1x"><img src="i.png"></picture>
<svg width=9 height=9><image href="{AWAY}svg.png"/><use href="{AWAY}u.svg#a"/></svg>
<iframe srcdoc="<a href=x&#63;q=1>in</a><img src={AWAY}frame.png>"></iframe><iframe src="{AWAY}page"></iframe>
<video poster="{AWAY}poster.png" src="{AWAY}v.mp4" autoplay></video><object data="{AWAY}o"></object>
<embed src="{AWAY}e"><a href="x?q=1">x</a><a href="../UP">up</a><a href="../up/">low</a><a href="/moved">moved</a>
<a href="%2e%2e%2fout">out</a><a href="caf%C3%A9#part">café</a><a href="/con">device</a><a href="{AWAY}">away</a>
<a href="#top" ping="{AWAY}">top</a>"""
PAGE = "<title>{0}</title><h1>{0}</h1><a href='/'>home</a><img src='/deep/i.png'>"
SITE: dict[str, tuple[int, str, bytes, str]] = {
    SEED: (200, HTML, gzip.compress(START.encode()), ""),
    f"{SEED}deep/s.css?v=1": (200, CSS, b'@import "more"; h1 { background: url(http://away.example/z.png) }', ""),
    f"{SEED}deep/more": (200, CSS, b"h1 { background: url('i.png') }", ""),
    f"{SEED}moved": (301, HTML, b"", "/deep/x?q=1"),
    f"{SEED}gone": (404, HTML, b"<p>gone", ""),
    **{f"{SEED}{name}": (200, IMAGE, PNG, "") for name in ("i.png", "deep/i.png", "deep/big,1.png")},
    **{
        f"{SEED}{name}": (200, HTML, PAGE.format(name).encode(), "")
        for name in ("deep/x?q=1", "UP", "up/", "up", "deep/%2e%2e%2fout", "deep/caf%C3%A9", "con", "deep/" + "l" * 250)
    },
}


@pytest.fixture(scope="module")
def mirrored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The mirror of the site, made by the command."""
    folder = tmp_path_factory.mktemp("mirror")
    with Archive(folder / "warc", {}, seeds=[SEED]) as archive:
        for n, (url, (status, kind, body, location)) in enumerate(SITE.items()):
            got = [("Content-Type", kind), ("Location", location)][: 2 if location else 1]
            got += [("Content-Encoding", "gzip")] if body[:2] == b"\x1f\x8b" else []
            at = datetime(2026, 11, 27, tzinfo=UTC) + timedelta(seconds=n)
            archive.write(Exchange(url, "GET", [], b"", status, "HTTP/1.1", got, body, at))
    words = ["mirror", str(folder / "warc"), str(folder / "out")]
    ran = subprocess.run(
        [sys.executable, "-m", "graphbrain", *words], capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert ran.returncode == 0, ran
    again = subprocess.run([sys.executable, "-m", "graphbrain", *words], capture_output=True, text=True, check=False)
    assert again.returncode == 1 and "is not empty" in again.stderr and "Traceback" not in again.stderr, again
    return folder / "out"


@pytest.mark.nightly
@pytest.mark.browser
def test_no_request_of_a_mirror_leaves_the_disk_and_no_link_is_broken(chromium: Any, mirrored: Path) -> None:
    opened, links, failed = look(chromium, mirrored)
    assert not [url for url in opened if not url.startswith(("file:", "data:", "about:"))], opened
    assert not failed, failed
    good = [url for url, (status, *_) in SITE.items() if status == 200]
    files = {path for path in mirrored.rglob("*") if path.is_file()}
    assert len(files) == len(good) + 1
    broken = [link for link in links if link.startswith("file:") and path_of(link) not in files]
    assert not broken, broken
    pages = {path for path in files if path.suffix == ".html"} - {mirrored / "index.html"}
    assert {path_of(link) for link in links if link.startswith("file:")} == pages
    assert {link for link in links if not link.startswith("file:")} == {AWAY, f"{SEED}deep/"}


def look(chromium: Any, folder: Path) -> tuple[set[str], set[str], list[str]]:
    """Open each page. Return the URLs that were asked for, those of links, and what failed."""
    asked, links, failed = set[str](), set[str](), list[str]()
    for file in sorted(folder.rglob("*.html")):
        page = chromium.new_page()
        page.on("request", on(lambda request: asked.add(request.url)))
        page.on("requestfailed", on(lambda request: failed.append(request.url)))
        page.goto(file.as_uri())
        page.wait_for_timeout(1_500 if "Start" in page.title() else 50)
        assert page.url == file.as_uri()
        for frame in page.frames:
            links |= set(frame.evaluate("[...document.querySelectorAll('a')].map(a => a.href.split('#')[0])"))
        if page.title() == "Start":
            shown = "document.querySelector('#one').naturalWidth"
            assert page.evaluate(shown) == 1 and page.evaluate("document.styleSheets.length") == 2
            image = "getComputedStyle(document.querySelector('p')).backgroundImage"
            assert "deep/i.png" in page.evaluate(image)
        page.close()
    return asked, links, [url for url in failed if not url.startswith("about:")]


def on(act: Callable[[Any], Any]) -> Callable[[Any], None]:
    """Return a listener, which must return nothing."""

    def listen(event: Any) -> None:
        act(event)

    return listen


def path_of(url: str) -> Path:
    return Path(unquote(urlsplit(url).path))
