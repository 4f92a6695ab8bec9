"""Redirects of claimed pages. This process does not follow them: the target becomes a page, which is claimed itself.

So scope, robots.txt, delay and order hold for the target, and it is fetched once although several pages redirect to it.
One redirect is followed: a site may set a cookie and redirect to the same URL. That URL is requested again at once, one
time. `returns` handles sites that redirect back over another URL.
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
"""The key in the meta of a request that repeats another one, with a new cookie."""


class Redirects(RunMiddleware):
    """A downloader middleware that keeps Scrapy from following the redirects of claimed pages."""

    PLACE = 690
    """After the cookies of an answer are stored (700), and before Scrapy follows redirects (600)."""

    def process_request(self, request: Request) -> None:
        """Mark the request of a page, so that Scrapy follows no redirect. Scrapy calls this with each request."""
        if CLAIM in request.meta:
            request.meta["dont_redirect"] = True

    def process_response(self, request: Request, response: Response) -> Request | Response:
        """Return the answer, or a new request if the answer sets a cookie and redirects to the same URL. Scrapy calls
        this with each answer."""
        if CLAIM not in request.meta or "Set-Cookie" not in response.headers:
            return response
        self.run.returns.cookies[_host(request)] += 1
        if request.meta.get(AGAIN) or _target(response) != address(request.url):
            return response
        repeated = request.replace(dont_filter=True, meta={**request.meta, AGAIN: True})
        repeated.headers.pop("Cookie", None)  # Scrapy adds the new cookies
        return repeated


def _host(request: Request) -> str:
    return urlparse_cached(request).netloc


def _target(response: Response) -> str:
    """Return the address to which an answer redirects; empty if it does not, or if the target is no address."""
    target = location(response) if response.status in PERMANENT | TEMPORARY else None
    try:
        return address(resolved(response.url, target)) if target else ""
    except BadInput:
        return ""
