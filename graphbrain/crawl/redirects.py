"""Redirects of claimed pages, none of which this process follows: the target is a page with a claim of its own.

So scope, robots.txt, delay and order hold for it, and it is fetched once, whatever leads to it. The exception is a site
that redirects visitors without a cookie to the same URL: see `scrapy.repairs.CookieWalls`. For one that leads back over
another URL see `returns`.
"""

from __future__ import annotations

from scrapy import Request
from scrapy.http import Response
from scrapy.utils.httpobj import urlparse_cached

from graphbrain.crawl.scrapy import CLAIM
from graphbrain.crawl.spider import RunMiddleware

__all__ = ["Redirects"]


class Redirects(RunMiddleware):
    """A downloader middleware by which a redirect of a claimed page is an answer."""

    PLACE = 690
    """Behind the cookies (700), and before a request is made again for one (685) and Scrapy follows redirects (600)."""

    def process_request(self, request: Request) -> None:
        """Let Scrapy follow no redirect of a page. It calls this with each request."""
        if CLAIM in request.meta:
            request.meta["dont_redirect"] = True

    def process_response(self, request: Request, response: Response) -> Response:
        """Count the answers of a host that set cookies. Scrapy calls this with each answer."""
        if CLAIM in request.meta and "Set-Cookie" in response.headers:
            self.run.returns.cookies[urlparse_cached(request).netloc] += 1
        return response
