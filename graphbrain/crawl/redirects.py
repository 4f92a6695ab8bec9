"""Redirects of claimed pages, none of which this process follows: the target is a page with a claim of its own.

So scope, robots.txt, delay and order hold for it, and it is fetched once, whatever leads to it. The exception is a site
that redirects visitors without a cookie to the same URL, which is asked for again at once, and once. For one that leads
back over another URL see `returns`.
"""

from __future__ import annotations

from scrapy import Request
from scrapy.http import Response
from scrapy.utils.httpobj import urlparse_cached

from graphbrain.base.errors import BadInput
from graphbrain.base.urls.normalization import address, resolved
from graphbrain.content.report_semantics import PERMANENT, TEMPORARY
from graphbrain.crawl.scrapy import CLAIM, location
from graphbrain.crawl.spider import RunMiddleware

__all__ = ["Redirects"]

AGAIN = "graphbrain_again"
"""Marks a request that was made of an answer of the same URL."""


class Redirects(RunMiddleware):
    """A downloader middleware by which a redirect of a claimed page is an answer."""

    PLACE = 690
    """Behind the cookies (700), which are taken first, and before Scrapy follows redirects (600)."""

    def process_request(self, request: Request) -> None:
        """Let Scrapy follow no redirect of a page. It calls this with each request."""
        if CLAIM in request.meta:
            request.meta["dont_redirect"] = True

    def process_response(self, request: Request, response: Response) -> Request | Response:
        """Return a request for the same URL where the answer has a new cookie and leads there. Scrapy calls this with
        each answer."""
        if CLAIM not in request.meta or "Set-Cookie" not in response.headers:
            return response
        self.run.returns.cookies[_host(request)] += 1
        if request.meta.get(AGAIN) or _target(response) != address(request.url):
            return response
        again = request.replace(dont_filter=True, meta={**request.meta, AGAIN: True})
        again.headers.pop("Cookie", None)  # the next one is made of the new cookies
        return again


def _host(request: Request) -> str:
    return urlparse_cached(request).netloc


def _target(response: Response) -> str:
    """Return the address to which an answer leads; empty if it leads nowhere."""
    target = location(response) if response.status in PERMANENT | TEMPORARY else None
    try:
        return address(resolved(response.url, target)) if target else ""
    except BadInput:
        return ""
