"""Requests for what is newer, made only where each output has what an answer 304 refers to.

The brain remembers the ETag and the Last-Modified of a page's last visit. An archive or a file of lines that is newer
than this visit, or that was not written by it, has other content, or none: then a 304 would leave the page out.
"""

from __future__ import annotations

from scrapy import Request

from graphbrain.crawl.scrapy import header
from graphbrain.crawl.spider import RunMiddleware

__all__ = ["Conditions"]

CONDITIONS = ("If-None-Match", "If-Modified-Since")


class Conditions(RunMiddleware):
    """A downloader middleware that asks for a page in full where an output lacks it."""

    PLACE = 540

    def process_request(self, request: Request) -> None:
        """Take the conditions off a request, unless a 304 is an answer to it. Scrapy calls this with each request."""
        etag, modified = (header(request.headers.get(name)) for name in CONDITIONS)
        if (etag or modified) and not self._answers(request, etag, modified):
            for name in CONDITIONS:
                request.headers.pop(name, None)

    def _answers(self, request: Request, etag: str | None, modified: str | None) -> bool:
        """Return whether a 304 is of use to all outputs."""
        run, visit = self.run, self.run.visit_of(request)
        if visit is None or visit.claim.kind == "link":
            return True  # neither is archived as a part of the site, nor has a line
        if run.archive is not None and not run.archive.holds(request, etag, modified):
            return False
        if visit.claim.kind != "page":
            return True
        if run.renderer is not None:
            return False  # that its document is as before is no news of what scripts make of it
        return run.lines is None or run.lines.holds(visit.claim.url, etag, modified)
