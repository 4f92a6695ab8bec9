"""The demo's web: the same for the same seed, every kind of page and link, served as a proxy."""

from __future__ import annotations

import gzip
import http.client
import threading
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from socketserver import BaseRequestHandler, ThreadingTCPServer
from urllib.error import HTTPError
from urllib.parse import urljoin, urlsplit
from urllib.request import OpenerDirector, ProxyHandler, Request, build_opener

import pytest

from graphbrain.base.errors import BadInput
from graphbrain.base.model import Claim, Failed, Fetched
from graphbrain.base.urls.normalization import spell
from graphbrain.demo.crawler import HtmlPage, TemporaryRedirects, fetch
from graphbrain.demo.pages import FEWEST, ODD_LINKS, SEEDS, build, render
from graphbrain.demo.web import Web
from tests.plugin import PATIENCE

Fetch = Callable[..., Fetched | Failed]


@pytest.fixture
def web() -> Iterator[Web]:
    with Web(seed=3, pages=200) as served:
        yield served


@pytest.fixture
def opener(web: Web) -> OpenerDirector:
    return build_opener(web.handler())


def status_of(opener: OpenerDirector, url: str, **headers: str) -> tuple[int, dict[str, str]]:
    """Status and headers of one GET, whatever they are."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        with opener.open(Request(url, headers=named), timeout=5) as response:
            return response.status, dict(response.headers)
    except HTTPError as error:
        with error:
            return error.code, dict(error.headers)


def targets(url: str, hrefs: tuple[str, ...]) -> set[str]:
    """The canonical URLs that a page links to, itself and nonsense left out."""
    found = set()
    for href in hrefs:
        try:
            found.add(spell(urljoin(url, href)))
        except (BadInput, ValueError):
            continue
    return found - {url}


def one(web: Web, kind: str, **more: object) -> str:
    """The URL of some page of this kind."""
    return next(
        url
        for url, page in web.pages.items()
        if page.kind == kind and all(getattr(page, name) == value for name, value in more.items())
    )


def test_same_seed_same_web_and_another_seed_another() -> None:
    first, again, other = build(7, 300), build(7, 300), build(8, 300)
    assert first == again
    assert [render(page) for page in first.values()] == [render(page) for page in again.values()]
    assert first != other


@pytest.mark.parametrize("count", [FEWEST, 121, 257, 400, 1500])
def test_as_many_pages_as_asked_and_all_can_be_reached(count: int) -> None:
    pages = build(1, count)
    assert len(pages) == count
    seen, todo = set(SEEDS), list(SEEDS)
    while todo:
        url = todo.pop()
        page = pages.get(url)
        if page is None:
            continue  # a dead link
        assert page.kind != "moved" or page.target
        found = targets(url, page.links) | ({urljoin(url, page.target)} if page.target else set())
        todo += found - seen
        seen |= found
    assert set(pages) <= seen
    assert len({urlsplit(url).netloc for url in pages}) == 8


def test_too_few_pages_is_a_clear_error() -> None:
    with pytest.raises(BadInput, match=f"at least {FEWEST} pages, not 10"):
        Web(pages=10)


def test_hubs_and_authorities_stand_out() -> None:
    pages = build(1, 400)
    out = {url: targets(url, page.links) for url, page in pages.items()}
    into = Counter(target for found in out.values() for target in found)
    hubs = sorted(out, key=lambda url: len(out[url]), reverse=True)[:6]
    assert all(url.startswith("http://links.example/") for url in hubs)
    best = [url for url, _ in into.most_common(5)]
    assert all("/guide/" in url for url in best)
    degrees = sorted(into.values(), reverse=True)
    assert degrees[0] > 30 and degrees[len(degrees) // 2] <= 3  # a few have most of the links


def test_every_kind_of_link_is_there() -> None:
    pages = build(1, 400)
    hrefs = [(url, href) for url, page in pages.items() for href in page.links]
    assert any(href.startswith("http://") for _, href in hrefs)
    assert any(href.startswith("//") for _, href in hrefs)
    assert any(href.startswith("/") and not href.startswith("//") for _, href in hrefs)
    assert any(href.startswith("../") for _, href in hrefs)
    assert any("utm_source=" in href for _, href in hrefs)
    assert any("#" in href and not href.startswith("#") for _, href in hrefs)
    assert any(len(set(page.links)) < len(page.links) for page in pages.values())
    assert any(urljoin(url, href).split("#")[0] == url for url, href in hrefs)
    odd = pages["http://links.example/odd"].links
    assert odd == ODD_LINKS
    assert max(map(len, odd)) > 8192
    for start in ("mailto:", "javascript:", "ftp://", "http://["):
        assert any(href.startswith(start) for href in odd)
    assert "http://" in odd and "" in odd


def test_every_kind_of_page_is_there() -> None:
    pages = build(1, 400).values()
    kinds = Counter(page.kind for page in pages)
    assert set(kinds) == {"page", "moved", "found", "flaky", "busy"}
    assert {page.fails for page in pages if page.kind == "flaky"} == {1, 2}
    assert {page.validator for page in pages} == {"", "etag", "date"}
    assert 5 < sum(page.changing for page in pages) < 30


def test_page_is_readable_html(web: Web, opener: OpenerDirector) -> None:
    with opener.open("http://birds.example/guide/owl", timeout=5) as response:
        text = response.read().decode()
        assert response.headers.get_content_type() == "text/html"
    assert text.startswith("<!doctype html>")
    assert "<title>The owl guide</title>" in text
    assert "heron" in text
    assert text.count("<a href=") == len(web.pages["http://birds.example/guide/owl"].links)


def test_missing_pages_and_hosts(opener: OpenerDirector) -> None:
    assert status_of(opener, "http://birds.example/nothing")[0] == 404
    assert status_of(opener, "http://vanished.example/")[0] == 502


@pytest.mark.parametrize("fails", [1, 2])
def test_flaky_page_recovers(web: Web, opener: OpenerDirector, fails: int) -> None:
    url = one(web, "flaky", fails=fails)
    assert [status_of(opener, url)[0] for _ in range(fails + 2)] == [500] * fails + [200, 200]


def test_busy_page_asks_for_patience_once(web: Web, opener: OpenerDirector) -> None:
    url = one(web, "busy")
    status, headers = status_of(opener, url)
    assert (status, headers["Retry-After"]) == (503, "2")
    assert status_of(opener, url)[0] == 200


def test_redirects(web: Web, opener: OpenerDirector) -> None:
    moved, found = one(web, "moved"), one(web, "found")
    with opener.open(moved, timeout=5) as response:
        assert response.url == urljoin(moved, web.pages[moved].target)
    with opener.open(found, timeout=5) as response:
        assert response.url == urljoin(found, web.pages[found].target)
    assert [visit.status for visit in web.visits] == [301, 200, 302, 200]


def test_pages_change_or_stay(web: Web, opener: OpenerDirector) -> None:
    changing, staying = one(web, "page", changing=True), one(web, "page", changing=False)
    bodies = [opener.open(url, timeout=5).read() for url in (changing, changing, staying, staying)]
    assert bodies[0] != bodies[1]
    assert bodies[2] == bodies[3]


@pytest.mark.parametrize(
    ("validator", "stamp", "condition"),
    [("etag", "ETag", "If_None_Match"), ("date", "Last-Modified", "If_Modified_Since")],
)
def test_not_modified(web: Web, opener: OpenerDirector, validator: str, stamp: str, condition: str) -> None:
    url = one(web, "page", validator=validator, changing=False)
    status, headers = status_of(opener, url)
    assert status == 200
    assert status_of(opener, url, **{condition: headers[stamp]})[0] == 304
    assert status_of(opener, url, **{condition: "another"})[0] == 200


def test_host_header_keep_alive_and_what_only_tracks(web: Web) -> None:
    port = int(web.proxy.split(":")[1])
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        for path in ("/", "/?utm_source=x", "/about#top"):
            connection.request("GET", path, headers={"Host": "birds.example:80"})
            response = connection.getresponse()
            assert (response.status, response.version) == (200, 11)
            assert response.read()
        connection.request("GET", "/", headers={"Host": ""})
        assert connection.getresponse().status == 400
    finally:
        connection.close()
    assert web.asked == {"http://birds.example/": 2, "http://birds.example/about": 1}


def test_visits_are_counted_with_times_from_many_threads(web: Web, opener: OpenerDirector) -> None:
    urls = [url for url, page in web.pages.items() if page.kind == "page"][:40]
    began = time.monotonic()
    threads = [threading.Thread(target=status_of, args=(opener, url)) for url in urls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert web.asked == dict.fromkeys(urls, 1)
    assert {visit.url for visit in web.visits} == set(urls)
    assert all(began <= visit.when <= time.monotonic() for visit in web.visits)


def test_environment_cannot_divert_the_crawler(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "*")
    assert status_of(build_opener(web.handler()), "http://birds.example/")[0] == 200


def test_stopped_web_has_no_address() -> None:
    web = Web(pages=FEWEST)
    with web:
        assert web.start() == int(web.proxy.split(":")[1])
    with pytest.raises(RuntimeError, match="not being served"):
        _ = web.proxy


# ---------------------------------------------------------------- what the crawler makes of it


def claim_on(url: str, etag: str | None = None, modified: str | None = None) -> Claim:
    return Claim(url, "k" * 32, "t", 0.0, urlsplit(url).netloc, 0, etag, modified)


@pytest.fixture
def fetched(web: Web) -> Fetch:
    opener = build_opener(TemporaryRedirects, web.handler())
    return lambda *args: fetch(opener, claim_on(*args))


def test_fetched_page_has_its_links_absolute(web: Web, fetched: Fetch) -> None:
    url = "http://birds.example/guide/owl"
    result = fetched(url)
    assert isinstance(result, Fetched)
    assert [link.url for link in result.links] == [urljoin(url, href) for href in web.pages[url].links]
    assert result.body and result.status == 200 and result.claim == claim_on(url)


@pytest.mark.parametrize("validator", ["etag", "date"])
def test_conditions_bring_not_modified(web: Web, fetched: Fetch, validator: str) -> None:
    url = one(web, "page", validator=validator, changing=False)
    first = fetched(url)
    assert isinstance(first, Fetched)
    again = fetched(url, first.etag, first.last_modified)
    assert isinstance(again, Fetched)
    assert (again.status, again.not_modified, again.links) == (304, True, ())
    assert (again.etag, again.last_modified) == (first.etag, first.last_modified)


def test_only_temporary_redirects_are_followed(web: Web, fetched: Fetch) -> None:
    moved, found = one(web, "moved"), one(web, "found")
    result = fetched(moved)
    assert isinstance(result, Fetched)
    assert result.redirected_to == urljoin(moved, web.pages[moved].target)
    result = fetched(found)
    assert isinstance(result, Fetched)
    assert (result.url, result.status, result.redirected_to) == (found, 200, None)
    assert {link.url for link in result.links} == {"http://birds.example/guide/owl"}


@pytest.mark.parametrize("status", [403, 429, 500, 503])
def test_a_date_in_retry_after_is_read_by_the_servers_clock(status: int) -> None:
    class Late(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response_only(status)
            self.send_header("Date", "Wed, 21 Oct 2026 07:27:00 GMT")
            self.send_header("Retry-After", "Wed, 21 Oct 2026 07:28:00 GMT")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    with HTTPServer(("127.0.0.1", 0), Late) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        result = fetch(build_opener(TemporaryRedirects), claim_on(f"http://127.0.0.1:{server.server_port}/"))
        thread.join()
    assert isinstance(result, Failed)
    assert (result.status, result.retry_after) == (status, 60.0)


def test_failures_say_what_happened(web: Web, fetched: Fetch) -> None:
    busy = fetched(one(web, "busy"))
    assert isinstance(busy, Failed)
    assert (busy.status, busy.retry_after) == (503, 2.0)
    missing = fetched("http://birds.example/nothing")
    assert isinstance(missing, Failed)
    assert (missing.status, missing.retry_after) == (404, None)
    web.stop()
    away = fetched("http://birds.example/")
    assert isinstance(away, Failed)
    assert away.status is None and "refused" in away.error


def test_broken_page_gives_the_links_before_the_break(fetched: Fetch) -> None:
    result = fetched("http://links.example/odd")
    assert isinstance(result, Fetched)
    urls = [link.url for link in result.links]
    assert "http://birds.example/" in urls
    assert "http://[broken/" in urls  # the brain refuses it, with the reason


@pytest.mark.parametrize(
    ("html", "links"),
    [
        (b"", []),
        (b"<a href=b>", ["http://h.example/a/b"]),
        (b"<base href='//g.example/x/'><a href=b><area href=/c>", ["http://g.example/x/b", "http://g.example/c"]),
        (b"<a name=x><a href><a href=''><link href=s><a href=' b '>", ["http://h.example/a/b"]),
        (b"<a href='b'><![bogus[ <a href=c>", ["http://h.example/a/b"]),
        (b"\xff<a href=\xe9>", ["http://h.example/a/\ufffd"]),
        (b"<a href='&amp;b'><!-- <a href=c> --><script>'<a href=d>'</script>", ["http://h.example/a/&b"]),
        (b"<a href='b", []),
        (b"<a href='?a=1&region=2&copy=3&amp;x=4'>", ["http://h.example/a/?a=1&region=2&copy=3&x=4"]),
        (b"<a href=first href=second>", ["http://h.example/a/first"]),
        (b"<title><a href=b></title><textarea><a href=c></textarea><template><a href=d></template>", []),
        (b"<div>" * 20_000 + b"<a href=b>", ["http://h.example/a/b"]),
    ],
)
def test_links_of(html: bytes, links: list[str]) -> None:
    assert HtmlPage("http://h.example/a/").read(html, "text/html; charset=utf-8").links == links


@pytest.mark.parametrize(
    ("html", "header"),
    [
        ("<meta charset=iso-8859-2><a href=\u0159>".encode("iso-8859-2"), "text/html"),
        ("<a href=\u0159>".encode("utf-16"), "text/html"),
        ("<a href=\u0159>".encode("utf-16-le"), "text/html; charset=utf-16le"),
        ("<meta charset=iso-8859-1><a href=\u0159>".encode(), "text/html; charset=utf-8"),
        ("<a href=\u0159>".encode(), None),
    ],
)
def test_a_page_is_read_in_its_encoding(html: bytes, header: str | None) -> None:
    assert HtmlPage("http://h.example/").read(html, header).links == ["http://h.example/\u0159"]


@pytest.mark.parametrize("start", ["<a ", "<a x=1 ", "<!--", "<a href='", "<![", "</", "&", "<table><b>", "<"])
def test_no_page_takes_long(start: str) -> None:
    began = time.thread_time()
    HtmlPage("http://h.example/").read((start * (400_000 // len(start))).encode(), "text/html")
    assert time.thread_time() - began < 2.0


@pytest.mark.parametrize(
    ("packed", "pack", "fault"),
    [("gzip", gzip.compress, None), ("deflate", zlib.compress, None), ("br", bytes, "not_understood"),
     ("gzip", bytes, "not_understood")],
)  # fmt: skip
def test_what_is_packed_unasked_is_unpacked(packed: str, pack: Callable[[bytes], bytes], fault: str | None) -> None:
    body = pack(b"<a href=/b>" + b"x" * 100_000)
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: {packed}\r\nContent-Length: {len(body)}"

    class Packed(BaseRequestHandler):
        def handle(self) -> None:
            self.request.recv(65_536)
            self.request.sendall(head.encode() + b"\r\n\r\n" + body)

    with ThreadingTCPServer(("127.0.0.1", 0), Packed) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}/"
        found = fetch(build_opener(TemporaryRedirects), Claim(url, "", "", 0.0, "", 0))
        server.shutdown()
    assert getattr(found, "fault", None) == fault and found.seconds is not None
    if isinstance(found, Fetched):
        assert [link.url for link in found.links] == [f"{url}b"] and found.size == 100_011


def test_unknown_charset_is_read_as_latin_1() -> None:
    assert HtmlPage("http://h.example/").read(b"<a href=\xe9>", "text/html; charset=no-such").links == [
        "http://h.example/é"
    ]


def test_a_page_says_what_it_is_and_links_what_they_are() -> None:
    html = """<html lang=en><head><title>Tea &amp; more</title><link rel="alternate canonical" href="/tea">
    <meta name=Robots content="NOINDEX, follow"></head><body><a href=/b rel=nofollow>the <b>leaf</b></a>
    <svg><title>x</title></svg><a href=/c><img alt="a cat"></a></body></html>"""
    page = HtmlPage("http://h.example/").read(html.encode(), "text/html; charset=utf-8")
    wanted = {"title": "Tea & more", "canonical": "http://h.example/tea", "language": "en", "noindex": True}
    wanted |= {"descriptions": (), "h1": ()}
    assert page.facts.arguments() == wanted
    assert list(zip(page.links, page.anchors, page.rels, strict=True)) == [
        ("http://h.example/b", "the leaf", "nofollow"),
        ("http://h.example/c", "a cat", None),
    ]
    assert HtmlPage("http://h.example/").read(b"<title>", "text/html; charset=utf-8").facts.arguments() == {
        "descriptions": (),
        "h1": (),
    }


ODD_ANSWERS = [
    (b"GARBAGE\r\n\r\n", "not_understood"),
    (b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 150 + b"\r\n", "not_understood"),
    (b"HTTP/1.1 200 OK\r\nX: " + b"y" * 70_000 + b"\r\n\r\n", "not_understood"),
    (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "not_understood"),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf and no end", None),
    (b"HTTP/1.1 302 Found\r\nLocation: http://a b/\r\n\r\n", "not_sent"),
    (b"", "silent"),
]


@contextmanager
def raw(answer: bytes) -> Iterator[str]:
    """The URL of a server that sends these bytes to each request."""

    class Raw(BaseRequestHandler):
        def handle(self) -> None:
            self.request.recv(65_536)
            self.request.sendall(answer)

    with ThreadingTCPServer(("127.0.0.1", 0), Raw) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        host, port = server.server_address[:2]
        yield f"http://{host!s}:{port}/"
        server.shutdown()


@pytest.mark.parametrize(("answer", "fault"), ODD_ANSWERS, ids=lambda what: repr(what)[:30])
def test_what_cannot_be_read_is_no_silence(answer: bytes, fault: str | None) -> None:
    with raw(answer) as url:
        result = fetch(build_opener(ProxyHandler({}), TemporaryRedirects), claim_on(url))
    assert getattr(result, "fault", None) == fault, result


def test_a_stream_without_end_is_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphbrain.demo.crawler.TIMEOUT", 0.2)
    over = threading.Event()

    class Stalls(BaseRequestHandler):
        def handle(self) -> None:
            self.request.recv(65_536)
            self.request.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: x\n\n")
            over.wait(PATIENCE)

    with ThreadingTCPServer(("127.0.0.1", 0), Stalls) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}/"
        result = fetch(build_opener(ProxyHandler({}), TemporaryRedirects), claim_on(url))
        over.set()
        server.shutdown()
    assert isinstance(result, Failed) and (result.status, result.fault) == (None, "not_understood")


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/", "http://no-such-host.invalid/"])
def test_no_answer_is_silence(url: str) -> None:
    result = fetch(build_opener(ProxyHandler({}), TemporaryRedirects), claim_on(url))
    assert isinstance(result, Failed) and result.fault == "silent"


RESOURCES = [
    (b"200 OK\r\nETag: W1\r\nLocation: /elsewhere\r\n\r\nSitemap: /s.xml", (200, b"Sitemap: /s.xml", None, "W1")),
    (b"200 OK\r\nContent-Encoding: gzip\r\n\r\n" + gzip.compress(b"# none"), (200, b"# none", None, None)),
    (b"302 Found\r\nLocation: /rules.txt\r\n\r\nit is there", (302, None, "/rules.txt", None)),
    (b"301 Moved\r\nLocation: mailto:x@a.example\r\n\r\n", (301, None, "mailto:x@a.example", None)),
    (b"304 Not Modified\r\nETag: W1\r\n\r\n", (304, None, None, "W1")),
]


@pytest.mark.parametrize(("answer", "found"), RESOURCES, ids=lambda what: repr(what)[:30])
@pytest.mark.parametrize("kind", ["robots", "sitemap"])
def test_a_robots_txt_or_sitemap_is_reported_as_it_came(
    answer: bytes, found: tuple[int, bytes | None, str | None, str | None], kind: str
) -> None:
    """No redirect is followed, since its target is the next claim."""
    with raw(b"HTTP/1.1 " + answer) as url:
        claim = Claim(url, f"{kind}:{url}", "t", 0.0, urlsplit(url).netloc, 0, "W1")
        result = fetch(build_opener(ProxyHandler({}), TemporaryRedirects), claim)
    assert isinstance(result, Fetched) and result.claim == claim and result.seconds is not None
    assert (result.status, result.body, result.redirected_to, result.etag) == found


@pytest.mark.parametrize("kind", ["robots", "sitemap"])
def test_a_robots_txt_or_sitemap_that_fails_is_a_failure(kind: str) -> None:
    with raw(b"HTTP/1.1 503 Busy\r\nRetry-After: 7\r\n\r\n") as url:
        claim = Claim(url, f"{kind}:{url}", "t", 0.0, urlsplit(url).netloc, 0)
        result = fetch(build_opener(ProxyHandler({}), TemporaryRedirects), claim)
    assert isinstance(result, Failed) and (result.status, result.retry_after) == (503, 7.0)


def test_what_urllib_cannot_ask_for_was_not_sent() -> None:
    for url in ("http://a.example/\x7f", "http://a.example:port/", "http://" + "a" * 70 + ".example/"):
        result = fetch(build_opener(ProxyHandler({}), TemporaryRedirects), claim_on(url))
        assert isinstance(result, Failed) and result.fault == "not_sent", (url, result)
