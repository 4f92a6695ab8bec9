"""Conditional requests (RFC 9110, section 13), sent only if each output has the content to which a 304 refers.

The brain remembers the ETag and the Last-Modified of a page's last visit. If that visit did not write to the archive or
to the file of lines, they have other content of the page, or none. After a 304 they would lack it.
"""

from __future__ import annotations

from scrapy import Request

from graphbrain.crawl.scrapy import header
from graphbrain.crawl.spider import RunMiddleware

__all__ = ["Conditions"]

CONDITIONS = ("If-None-Match", "If-Modified-Since")


class Conditions(RunMiddleware):
    """A downloader middleware that requests a page in full if an output lacks its content."""

    PLACE = 540

    def process_request(self, request: Request) -> None:
        """Remove the conditions from a request if an output lacks the content. Scrapy calls this with each request."""
        etag, modified = (header(request.headers.get(name)) for name in CONDITIONS)
        if (etag or modified) and not self._have_content(request, etag, modified):
            for name in CONDITIONS:
                request.headers.pop(name, None)

    def _have_content(self, request: Request, etag: str | None, modified: str | None) -> bool:
        """Return whether all outputs have the content to which a 304 would refer."""
        run, visit = self.run, self.run.visit_of(request)
        if visit is None or visit.claim.kind == "link":
            return True  # it goes to no output
        if run.archive is not None and not run.archive.holds(request, etag, modified):
            return False
        if visit.claim.kind != "page":
            return True
        if run.renderer is not None:
            return False  # scripts may change a page whose document has not changed
        return run.lines is None or run.lines.holds(visit.claim.url, etag, modified)
