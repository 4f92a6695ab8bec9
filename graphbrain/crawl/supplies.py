"""A client that sends the requests of rendered pages by Scrapy, because the browser itself has no network.

So robots.txt, the user agent, the proxy, the limit of a body, the user's cookies and headers, and the archive are the
same as for all other requests. A page gets scripts and data (`SUPPLIED`) by GET, from hosts of the scope and from those
that the order names. All other requests are refused. Answers are kept for `KEPT` seconds, because the pages of a site
share their scripts.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response

from graphbrain.base.errors import BadInput
from graphbrain.base.urls.normalization import host_of, resolved
from graphbrain.content.report_semantics import PERMANENT, TEMPORARY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from playwright.async_api import Request as Wish
    from scrapy.crawler import Crawler

    from graphbrain.crawl.requisites import Requisites
    from graphbrain.crawl.watching import CrawlWatch

__all__ = ["SUPPLIED", "Kept", "Supplies", "headers_of"]

SUPPLIED = frozenset({"script", "xhr", "fetch"})
"""The kinds of resources that pages get, by Playwright's names."""
KEPT = 300.0
"""Seconds for which an answer is kept."""
MOST_KEPT = 64 << 20
"""Most bytes of all answers that are kept."""
LASTING = frozenset({200, 404, 410})
"""The statuses of answers that are kept."""
REDIRECTS = PERMANENT | TEMPORARY
MOST_REDIRECTS = 5
OF_CONNECTION = frozenset(
    {"host", "connection", "content-length", "accept-encoding", "cookie", "user-agent", "upgrade-insecure-requests"}
)
"""Headers of the browser that Scrapy sets itself."""
OTHER_HOSTS = "scripts and data of other hosts (--render-from)"
FORBIDDEN = "scripts and data that robots.txt forbids"
METHODS = "requests of pages that are no GET"


class Supplies:
    """A client for the requests of rendered pages. Only the thread of the event loop uses it.

    Args:
        crawler: The crawler that sends the requests.
        watch: The counters of the run, which count refused requests.
        reaches: Returns whether a URL's host is in the scope.
        hosts: Hosts outside the scope that may be requested, too.
        requisites: The queue of requisites, which need not fetch again what a page has fetched.
    """

    def __init__(
        self,
        crawler: Crawler,
        watch: CrawlWatch,
        reaches: Callable[[str], bool],
        hosts: Iterable[str] = (),
        requisites: Requisites | None = None,
    ) -> None:
        self._crawler, self._watch, self._reaches = crawler, watch, reaches
        self._hosts, self._requisites = frozenset(hosts), requisites
        self._kept = Kept()
        self._under_way: dict[tuple[str, str], asyncio.Task[Response | None]] = {}

    async def get(self, wish: Wish) -> Response | None:
        """Return the answer to a request of a page; None if it is refused, or has no answer."""
        if wish.resource_type not in SUPPLIED:
            return None
        if wish.method != "GET":
            self._watch.leave_out(wish.url, METHODS)
            return None
        url, headers = wish.url.partition("#")[0], headers_of(await wish.all_headers())
        # Fetch the URL, and follow redirects here, because the host of each step must be allowed.
        for _ in range(MOST_REDIRECTS + 1):
            if not self._may(url):
                self._watch.leave_out(url, OTHER_HOSTS)
                return None
            answer = await self._once(url, headers)
            target = "" if answer is None else _value(answer, "Location")
            if answer is None or answer.status not in REDIRECTS or not target:
                return answer
            try:
                url = resolved(url, target)
            except BadInput:
                return None
        return None

    def _may(self, url: str) -> bool:
        """Return whether pages may request a URL of this host."""
        return self._reaches(url) or (urlsplit(url).scheme in ("http", "https") and host_of(url) in self._hosts)

    async def _once(self, url: str, headers: Mapping[str, str]) -> Response | None:
        """Return the answer to a URL: one that is kept, one that another page has requested, or a new one."""
        key = url, headers.get("accept", "")
        if (answer := self._kept.get(key)) is not None:
            return answer
        if "authorization" in headers:
            return await self._fetch(url, headers)
        # Fetch the URL once for all pages that request it at the same time.
        if (fetch := self._under_way.get(key)) is None:
            fetch = self._under_way[key] = asyncio.ensure_future(self._fetch(url, headers))
            fetch.add_done_callback(lambda _: self._under_way.pop(key, None))
        answer = await asyncio.shield(fetch)
        if answer is not None:
            self._kept.put(key, answer)
        return answer

    async def _fetch(self, url: str, headers: Mapping[str, str]) -> Response | None:
        meta = {"dont_redirect": True, "dont_retry": True, "handle_httpstatus_all": True}
        try:
            assert self._crawler.engine is not None
            answer = await self._crawler.engine.download_async(
                Request(url, headers=dict(headers), meta=meta, dont_filter=True)
            )
        except IgnoreRequest:
            self._watch.leave_out(url, FORBIDDEN)
            return None
        except Exception:  # noqa: BLE001  # no answer, or one that is too long: the page's script handles it
            return None
        if self._requisites is not None:
            self._requisites.fetched_by_page(url)
        return answer


class Kept:
    """A cache of answers. They expire after `KEPT` seconds, and the oldest are removed when they are too large."""

    def __init__(self) -> None:
        self._answers: OrderedDict[tuple[str, str], tuple[Response, float]] = OrderedDict()
        self._bytes = 0

    def get(self, key: tuple[str, str]) -> Response | None:
        """Return the answer of a key; None if there is none, or if it has expired."""
        answer, until = self._answers.get(key, (None, 0.0))
        return None if time.monotonic() > until else answer

    def put(self, key: tuple[str, str], answer: Response) -> None:
        """Keep an answer if its status is in `LASTING` and its Cache-Control allows it."""
        directives = _value(answer, "Cache-Control").lower()
        if (
            answer.status not in LASTING
            or "no-store" in directives
            or "no-cache" in directives
            or len(answer.body) > MOST_KEPT
        ):
            return
        if key in self._answers:
            self._bytes -= len(self._answers.pop(key)[0].body)
        self._answers[key] = answer, time.monotonic() + KEPT
        self._bytes += len(answer.body)
        while self._bytes > MOST_KEPT:
            _, (oldest, _) = self._answers.popitem(last=False)
            self._bytes -= len(oldest.body)


def headers_of(given: Mapping[str, str]) -> dict[str, str]:
    """Return the headers of a page's request, without those of the connection and of the browser itself."""
    return {
        name.lower(): value
        for name, value in given.items()
        if name.lower() not in OF_CONNECTION and not name.lower().startswith(("sec-", ":"))
    }


def _value(answer: Response, name: str) -> str:
    return (answer.headers.get(name) or b"").decode("latin-1")
