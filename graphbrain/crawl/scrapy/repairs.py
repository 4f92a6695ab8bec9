"""Downloader middlewares that repair answers: a false label gzip, pages that Scrapy does not take for HTML, and pages
that a site sends only with a cookie that its first answer sets."""

from __future__ import annotations

from scrapy import Request
from scrapy.http import Response

from graphbrain.base.errors import BadInput
from graphbrain.base.urls.normalization import address, resolved
from graphbrain.content.report_semantics import PERMANENT, TEMPORARY
from graphbrain.crawl.scrapy.documents import as_page, true_coding
from graphbrain.crawl.scrapy.requests import AGAIN, CLAIM
from graphbrain.crawl.scrapy.visits import location

__all__ = ["CookieWalls", "Pages", "TrueCodings"]


class TrueCodings:
    """A middleware that removes the label gzip from answers whose body is not packed."""

    def process_response(self, request: Request, response: Response) -> Response:  # noqa: ARG002  # Scrapy names it
        """Return the repaired answer. Scrapy calls this with every answer."""
        return true_coding(response)


class Pages:
    """A middleware that makes an HtmlResponse of each answer that browsers show as a page, with the base they find."""

    def process_response(self, request: Request, response: Response) -> Response:  # noqa: ARG002  # Scrapy names it
        """Return the answer as a page. Scrapy calls this with every answer."""
        return as_page(response)


class CookieWalls:
    """Asks for a claimed page again, once, whose answer leads to the same URL with a new cookie."""

    PLACE = 685
    """Behind the cookies (700), which are taken first, and before Scrapy follows redirects (600)."""

    def process_response(self, request: Request, response: Response) -> Request | Response:
        """Called by Scrapy with every answer."""
        if CLAIM not in request.meta or AGAIN in request.meta or "Set-Cookie" not in response.headers:
            return response
        if _target(response) != address(request.url):
            return response
        again = request.replace(dont_filter=True, meta={**request.meta, AGAIN: True})
        again.headers.pop("Cookie", None)  # the next one is made of the new cookies
        return again


def _target(response: Response) -> str:
    """Return the address to which an answer leads; empty if it leads nowhere."""
    target = location(response) if response.status in PERMANENT | TEMPORARY else None
    try:
        return address(resolved(response.url, target)) if target else ""
    except BadInput:
        return ""
