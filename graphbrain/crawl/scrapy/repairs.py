"""Downloader middlewares that repair answers: a false label gzip, and what browsers show as a page."""

from __future__ import annotations

from scrapy import Request
from scrapy.http import Response

from graphbrain.crawl.scrapy.documents import as_page, true_coding

__all__ = ["Pages", "TrueCodings"]


class TrueCodings:
    """Takes the label gzip from a body that is not packed."""

    def process_response(self, request: Request, response: Response) -> Response:  # noqa: ARG002  # Scrapy names it
        """Called by Scrapy with every answer."""
        return true_coding(response)


class Pages:
    """Makes a page of each answer that browsers show as one, with the base that they find in it."""

    def process_response(self, request: Request, response: Response) -> Response:  # noqa: ARG002  # Scrapy names it
        """Called by Scrapy with every answer."""
        return as_page(response)
