"""A forecast of a crawl without a brain: its scope, the effect of robots.txt, and the time that a polite crawl takes.

It fetches the robots.txt of each start host, the start pages, and at most `MOST_SITEMAPS` sitemaps of a host: those
that robots.txt names, or else the one at the usual place.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Any
from urllib import request as web
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request

from scrapy.http import HtmlResponse

from graphbrain.base.errors import BadInput
from graphbrain.base.settings import Settings
from graphbrain.base.urls.normalization import address, host_of
from graphbrain.content.feeds import reading
from graphbrain.content.scope import Scope
from graphbrain.crawl.closing import seconds_of
from graphbrain.crawl.order import CrawlOrder, hosts_named, shared
from graphbrain.crawl.scrapy import PrivateAddress, PrivateAddresses, links_of
from graphbrain.frontier.hosts.robots import Robots, parsed, product, readable

__all__ = ["DryRunSite", "looked_at", "rows"]

MOST_SITEMAPS = 20
TIMEOUT = 20.0
LARGEST = 8 << 20
GZIP = 16 + zlib.MAX_WBITS
"""The window bits by which zlib reads gzip."""


@dataclass
class DryRunSite:
    """The findings about one start host.

    Attributes:
        origin: The scheme, host and port.
        robots: The size of its robots.txt and its Crawl-delay, in words.
        delay: Seconds between two pages.
        inside: URLs in scope that may be fetched, of those that start pages and sitemaps name.
        forbidden: URLs in scope that robots.txt forbids.
        outside: URLs outside the scope.
        sitemaps: The number of sitemaps that were read.
        troubles: Messages on requests that failed.
    """

    origin: str
    robots: str = ""
    delay: float = 0.0
    inside: set[str] = field(default_factory=set)
    forbidden: set[str] = field(default_factory=set)
    outside: set[str] = field(default_factory=set)
    sitemaps: int = 0
    troubles: list[str] = field(default_factory=list)


def looked_at(order: CrawlOrder, agent: str, progress: Callable[[str], None] = lambda _: None) -> list[DryRunSite]:
    """Examine each start host in turn. Wait a second between two requests, or the seconds of --delay."""
    settings = Settings.read(environ={}, **shared(order))
    scope, pause = Scope.of(settings), settings.delay_seconds
    sites: dict[str, DryRunSite] = {}
    addresses = PrivateAddresses(hosts_named(order, settings), web.getproxies().values())
    look = _Look(agent, pause, _client(None if order.allow_private else addresses), progress)
    for url in order.bare_urls():
        parts = urlsplit(url)
        origin = f"{parts.scheme}://{parts.netloc}"
        if origin not in sites:
            sites[origin] = look.site(origin, settings, scope)
        look.page(sites[origin], url, scope)
    return list(sites.values())


class _Look:
    """A client that fetches one URL after another, with a pause in between."""

    def __init__(self, agent: str, pause: float, client: web.OpenerDirector, progress: Callable[[str], None]) -> None:
        self._agent, self._pause, self._client, self._progress = agent, pause, client, progress
        self._rules: dict[str, Robots | None] = {}
        self._next = 0.0

    def site(self, origin: str, settings: Settings, scope: Scope) -> DryRunSite:
        """Return the findings in a host's robots.txt and sitemaps."""
        site = DryRunSite(origin, delay=settings.delay_seconds)
        status, body = self._get(f"{origin}/robots.txt", site)
        self._rules[origin] = parsed(readable(body)) if status == 200 else None
        site.robots = f"{len(body):,} bytes" if status == 200 else "none" if status else "not had"
        rules = self._rules[origin]
        if rules is not None:
            crawl_delay = rules.delay(product(self._agent))
            if crawl_delay:
                site.delay = min(max(site.delay, crawl_delay), max(settings.longest_delay_seconds, site.delay))
                site.robots += f", Crawl-delay {crawl_delay:g} s"
        # Read the sitemaps that robots.txt names, or the one at the usual place, which may be missing.
        lines = body.decode("utf-8", "replace").splitlines() if status == 200 else []
        urls = [line.partition(":")[2].strip() for line in lines if line.lower().startswith("sitemap:")]
        self._sitemaps(site, urls or [f"{origin}/sitemap.xml"], scope, may_be_missing=not urls)
        return site

    def _sitemaps(self, site: DryRunSite, urls: list[str], scope: Scope, *, may_be_missing: bool) -> None:
        waiting, read = list(urls), set[str]()
        while waiting and len(read) < MOST_SITEMAPS:
            url = waiting.pop(0)
            if url in read:
                continue
            read.add(url)
            status, body = self._get(url, None if may_be_missing else site)
            if status != 200:
                continue
            # Sort its pages, and read the sitemaps that it lists.
            with suppress(BadInput):
                listed = reading.read(body, url).at(url)
                site.sitemaps += 1
                waiting += listed.sitemaps
                self._sort(site, (hint.url for hint in listed.hints), scope)
        if waiting:
            site.troubles.append(f"{len(waiting):,} more sitemaps were not read")

    def page(self, site: DryRunSite, url: str, scope: Scope) -> None:
        """Add a start page and its links to the findings."""
        self._sort(site, [url], scope)
        if url in site.forbidden:
            site.troubles.append(f"robots.txt forbids {url}")
            return
        status, body = self._get(url, site)
        if status == 200:
            with suppress(ValueError, AttributeError):
                self._sort(site, links_of(HtmlResponse(url, body=body)), scope)
        elif status:
            site.troubles.append(f"{url} answers {status}")

    def _sort(self, site: DryRunSite, urls: Iterable[str], scope: Scope) -> None:
        """Add URLs to those inside, forbidden or outside."""
        for url in urls:
            with suppress(BadInput):
                page = address(url)
                rules = self._rules.get(site.origin) if page.startswith(f"{site.origin}/") else None
                if not scope.holds(page, host_of(page), 0):
                    site.outside.add(page)
                elif rules is not None and not rules.allows(page, product(self._agent)):
                    site.forbidden.add(page)
                else:
                    site.inside.add(page)

    def _get(self, url: str, site: DryRunSite | None) -> tuple[int, bytes]:
        """Return (status, body) of an answer; the status is 0 without an answer. `site` gets a message on a failure."""
        # Keep the pause between two requests.
        time.sleep(max(0.0, self._next - time.monotonic()))
        self._progress(url)
        # Fetch the URL.
        try:
            with self._client.open(Request(url, headers={"User-Agent": self._agent}), timeout=TIMEOUT) as answer:
                body = answer.read(LARGEST)
                if answer.headers.get("Content-Encoding", "").lower() == "gzip":
                    body = zlib.decompressobj(GZIP).decompress(body, LARGEST)
                return answer.status, body
        except HTTPError as error:
            return error.code, b""
        except (OSError, HTTPException, ValueError, zlib.error, PrivateAddress) as error:
            if site is not None:
                site.troubles.append(f"{url}: {getattr(error, 'reason', None) or error}")
            return 0, b""
        finally:
            self._next = time.monotonic() + self._pause


def _client(addresses: PrivateAddresses | None) -> web.OpenerDirector:
    """Return a client of HTTP alone that checks the host of each request, and the address of each connection."""

    class Http(HTTPConnection):
        def connect(self) -> None:
            super().connect()
            if addresses is not None:
                addresses.check_connection(self.host, self.sock.getpeername()[0])

    class Https(HTTPSConnection, Http):
        """Its TLS begins after the check."""

    class Handler(web.HTTPSHandler, web.HTTPHandler):
        def http_request(self, request: Request) -> Request:
            if addresses is not None:
                addresses.check_spelling(urlsplit(request.full_url).hostname or "")
            return super().http_request(request)

        https_request = http_request

        def http_open(self, request: Request) -> HTTPResponse:
            return self.do_open(Http, request)

        def https_open(self, request: Request) -> HTTPResponse:
            return self.do_open(Https, request)

    client = web.OpenerDirector()
    steps = (web.HTTPDefaultErrorHandler, web.HTTPRedirectHandler, web.HTTPErrorProcessor, web.UnknownHandler)
    for handler in (web.ProxyHandler(), Handler(), *(step() for step in steps)):
        client.add_handler(handler)
    return client


def rows(sites: Iterable[DryRunSite]) -> list[tuple[str, Any]]:
    """Return the findings, as names and values."""
    lines: list[tuple[str, Any]] = []
    for site in sites:
        count = len(site.inside)
        lines += [
            ("site", site.origin),
            ("robots.txt", site.robots),
            ("in scope", f"{count:,} pages known from the start pages and {site.sitemaps:,} sitemaps; more may follow"),
            ("forbidden", f"{len(site.forbidden):,} pages by robots.txt"),
            ("outside", f"{len(site.outside):,} pages"),
            ("time", f"{seconds_of(count * site.delay)} for those, with {site.delay:g} s between two"),
        ]
        lines += [("trouble", trouble) for trouble in site.troubles]
    return lines
