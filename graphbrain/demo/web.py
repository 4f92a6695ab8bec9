"""The demo's web, served over real HTTP on loopback by one threading server.

Its `.example` hosts (pages.py) have no DNS, so the server is the crawler's HTTP *proxy*. It accepts `GET
http://birds.example/ HTTP/1.1`, and plain requests by their Host header. It answers with temporary errors, redirects
and 304s as its pages define, and records the time of each request to each host, so that a test can check the crawler's
politeness.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.message import Message
from email.utils import format_datetime
from hashlib import blake2b
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit
from urllib.request import ProxyHandler, Request

from graphbrain.demo.pages import SEEDS, WebPage, build, render

__all__ = ["DemoVisit", "Web", "WebPage", "through"]

Answer = tuple[int, dict[str, str], bytes]
Headers = Mapping[str, str] | Message

BEFORE = datetime(2025, 1, 1, 12, tzinfo=UTC)  # the last modification of the youngest page
LONGEST_HOLD = 30.0  # seconds
HTML = {"Content-Type": "text/html; charset=utf-8"}


@dataclass(frozen=True, slots=True)
class DemoVisit:
    """One request: its time (`time.monotonic`), host and URL, and the answer's status."""

    when: float
    host: str
    url: str
    status: int


class Web:
    """The generated web and its server: `with Web() as web: ... web.proxy ...`.

    Attributes:
        pages: The pages by URL.
        seeds: The URLs to start from.
        visits: Every request so far, in order.
        asked: The number of requests of each URL.
        robots: Host → its robots.txt; other hosts have none.
    """

    def __init__(self, *, seed: int = 1, pages: int = 400) -> None:
        self.pages: dict[str, WebPage] = build(seed, pages)
        self.seeds = SEEDS
        self.hosts = frozenset(urlsplit(url).netloc for url in self.pages)
        self.visits: list[DemoVisit] = []
        self.asked: Counter[str] = Counter()
        self.robots: dict[str, str] = {}
        self._going = threading.Event()
        self._going.set()
        self._lock = threading.Lock()
        self._server: _Server | None = None

    def start(self, port: int = 0) -> int:
        """Serve on 127.0.0.1 until `stop`. Return the port: `port`, or a free one if that is 0."""
        if self._server is None:
            self._server = _Server(self, port)
            threading.Thread(target=self._server.serve_forever, args=(0.05,), name="demo web", daemon=True).start()
        return int(self._server.server_address[1])

    def stop(self) -> None:
        """Stop the server. The visits are kept."""
        server, self._server = self._server, None
        if server is not None:
            server.shutdown()
            server.server_close()

    def __enter__(self) -> Web:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    @property
    def proxy(self) -> str:
        """Return `host:port` of the running server."""
        if self._server is None:
            raise RuntimeError("The web is not being served; call start() first.")
        return f"127.0.0.1:{self._server.server_address[1]}"

    def handler(self) -> ProxyHandler:
        """Return a handler through which urllib reaches these hosts. It ignores http_proxy and no_proxy."""
        return through(self.proxy)

    @contextmanager
    def held_up(self) -> Iterator[None]:
        """Delay all answers until the end of the block."""
        self._going.clear()
        try:
            yield
        finally:
            self._going.set()

    def answer(self, url: str, headers: Headers) -> Answer:
        """Return status, headers and body for one GET of `url`, and record it as a visit."""
        when, url = time.monotonic(), _address(url)
        self._going.wait(LONGEST_HOLD)
        with self._lock:
            self.asked[url] += 1
            nth = self.asked[url]
        status, more, body = self._respond(url, nth, headers)
        with self._lock:
            self.visits.append(DemoVisit(when, urlsplit(url).netloc, url, status))
        return status, HTML | more, body

    def _respond(self, url: str, nth: int, headers: Headers) -> Answer:
        # Answer for robots.txt and for addresses without a page.
        page, parts = self.pages.get(url), urlsplit(url)
        if parts.path == "/robots.txt" and (text := self.robots.get(parts.netloc)) is not None:
            return 200, {"Content-Type": "text/plain"}, text.encode()
        if page is None:
            if parts.netloc in self.hosts:
                return _message(404, "There is no such page")
            return _message(502, "There is no such host")
        # Redirects, and pages that fail at their first visits, answer without their content.
        if page.kind in ("moved", "found"):
            code = 301 if page.kind == "moved" else 302
            return _message(code, "It is elsewhere", {"Location": page.target})
        if page.kind == "flaky" and nth <= page.fails:
            return _message(500, "Something broke")
        if page.kind == "busy" and nth <= page.fails:
            return _message(503, "Too many visitors", {"Retry-After": "2"})
        # A page that is still the visitor's copy is not sent.
        body = render(page, nth)
        stamps = _stamps(page, body)
        for stamp, condition in (("ETag", "If-None-Match"), ("Last-Modified", "If-Modified-Since")):
            if stamp in stamps and headers.get(condition) == stamps[stamp]:
                return 304, stamps, b""
        return 200, stamps, body


def through(proxy: str) -> ProxyHandler:
    """Return a handler through which urllib reaches the hosts of a web that is served at `host:port`."""
    return Through(proxy)


class Through(ProxyHandler):
    """A ProxyHandler that ignores environment variables."""

    def __init__(self, address: str) -> None:
        super().__init__({"http": f"http://{address}"})
        self.address = address

    def proxy_open(self, req: Request, proxy: str, type: str) -> None:  # noqa: ARG002
        """Send every request to the web's server."""
        req.set_proxy(self.address, "http")


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, web: Web, port: int) -> None:
        self.web = web
        super().__init__(("127.0.0.1", port), _Handler)

    def handle_error(self, *_: Any) -> None:
        """Ignore a visitor that closes the connection in the middle."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    timeout = 10.0
    server: _Server

    def do_GET(self) -> None:
        """Answer one request, by its absolute target or by its Host header."""
        # A proxy request names the whole URL, a direct one only the path.
        url = self.path
        if "://" not in url.split("?")[0]:
            url = f"http://{self.headers.get('Host', '')}{url}"
        try:
            status, headers, body = self.server.web.answer(url, self.headers)
        except ValueError:
            self.send_error(400)
            return
        # A 304 has no body and no length.
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if status != 304:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, *_: Any) -> None:
        """Write no log of the requests."""


def _address(url: str) -> str:
    """Return the key of `Web.pages` for a requested URL: no port 80, no fragment, no tracking arguments."""
    parts = urlsplit(url)
    if parts.scheme != "http" or not parts.hostname:
        raise ValueError("not the URL of a page")
    query = urlencode([item for item in parse_qsl(parts.query) if not item[0].startswith("utm_")])
    return urlunsplit(("http", parts.hostname, parts.path or "/", query, ""))


def _message(status: int, text: str, headers: Mapping[str, str] | None = None) -> Answer:
    body = f"<!doctype html><title>{status}</title><p>{text}.</p>\n"
    return status, dict(headers or {}), body.encode()


def _stamps(page: WebPage, body: bytes) -> dict[str, str]:
    if page.validator == "etag":
        return {"ETag": f'"{blake2b(body, digest_size=8).hexdigest()}"'}
    if page.validator == "date":
        days = blake2b(page.url.encode(), digest_size=1).digest()[0]
        return {"Last-Modified": format_datetime(BEFORE - timedelta(days=days), usegmt=True)}
    return {}
