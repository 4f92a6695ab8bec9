"""A dry run is not led where the crawl would not go, and no answer makes it fail."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from graphbrain.crawl import dryrun
from graphbrain.crawl.order import CrawlOrder

BOMB = gzip.compress(b"User-agent: *\nDisallow: /secret\n" + b"#" * (dryrun.LARGEST * 4))


class Site(BaseHTTPRequestHandler):
    """It has a gzip bomb as its robots.txt, and leads to the host localhost in all ways."""

    asked: list[str]

    def do_GET(self) -> None:
        host = self.headers["Host"]
        self.asked.append(f"{host.partition(':')[0]}{self.path}")
        body = BOMB if self.path == "/robots.txt" else b"no gzip" if self.path == "/torn" else b""
        self.send_response(302 if self.path == "/away" else 200)
        self.send_header("Location", f"http://localhost:{host.partition(':')[2]}/latest/meta-data")
        self.send_header("Content-Encoding", "gzip" if body else "identity")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture
def port() -> Iterator[int]:
    Site.asked = []
    with ThreadingHTTPServer(("127.0.0.1", 0), Site) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


def look(port: int, path: str, *, allow_private: bool = False) -> str:
    """The troubles of a dry run from this path."""
    order = CrawlOrder((f"http://127.0.0.1:{port}{path}",), delay=0.01, allow_private=allow_private)
    (site,) = dryrun.looked_at(order, "bot")
    assert site.robots == f"{dryrun.LARGEST:,} bytes"
    return " ".join(site.troubles)


@pytest.mark.parametrize("allow_private", [False, True])
def test_a_redirect_to_a_private_host_is_followed_only_if_that_is_allowed(port: int, *, allow_private: bool) -> None:
    troubles = look(port, "/away", allow_private=allow_private)
    assert ("--allow-private" in troubles) != allow_private
    assert ("localhost/latest/meta-data" in Site.asked) == allow_private


def test_an_answer_that_cannot_be_unpacked_is_a_trouble(port: int) -> None:
    assert "incorrect header" in look(port, "/torn")


@pytest.mark.parametrize(
    "url", ["http://localhost:{}/", "http://2130706434:{}/", "http://1.1.1.257:{}/", "file:///etc/passwd", "ftp://a/"]
)
def test_a_sitemap_elsewhere_is_not_read(port: int, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"Sitemap: {url.format(port)}\n".encode()
    monkeypatch.setitem(globals(), "BOMB", gzip.compress(text + b"#" * (dryrun.LARGEST * 2)))
    assert url.format(port) in look(port, "/")
    assert not [url for url in Site.asked if not url.startswith("127.0.0.1/")]
