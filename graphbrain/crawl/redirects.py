"""Redirects of claimed pages. This process does not follow them: the target becomes a page, which is claimed itself.

So scope, robots.txt, delay and order hold for the target, and it is fetched once although several pages redirect to it.
A site may set a cookie and redirect to the same URL: see `scrapy.repairs.CookieWalls`. `returns` handles sites that
redirect back over another URL.
"""

from __future__ import annotations

from scrapy import Request
from scrapy.http import Response
from scrapy.utils.httpobj import urlparse_cached

from graphbrain.crawl.scrapy import CLAIM
from graphbrain.crawl.spider import RunMiddleware

__all__ = ["Redirects"]


class Redirects(RunMiddleware):
    """A downloader middleware that keeps Scrapy from following the redirects of claimed pages."""

    PLACE = 690
    """After the cookies of an answer are stored (700), before `CookieWalls` repeats a request (685), and before Scrapy
    follows redirects (600)."""

    def process_request(self, request: Request) -> None:
        """Mark the request of a page, so that Scrapy follows no redirect. Scrapy calls this with each request."""
        if CLAIM in request.meta:
            request.meta["dont_redirect"] = True

    def process_response(self, request: Request, response: Response) -> Response:
        """Count the answers of a host that set cookies. Scrapy calls this with each answer."""
        if CLAIM in request.meta and "Set-Cookie" in response.headers:
            self.run.returns.cookies[urlparse_cached(request).netloc] += 1
        return response
