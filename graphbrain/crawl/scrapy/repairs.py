"""Downloader middlewares that repair answers: a false label gzip, and pages that Scrapy does not take for HTML."""

from __future__ import annotations

from scrapy import Request
from scrapy.http import Response

from graphbrain.crawl.scrapy.documents import as_page, true_coding

__all__ = ["Pages", "TrueCodings"]


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
