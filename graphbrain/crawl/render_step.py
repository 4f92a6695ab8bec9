"""The step of Scrapy's downloader in which pages of the scope are rendered by `browser`, and nothing else is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.async_api import Error as BrowserError
from scrapy import Request
from scrapy.exceptions import IgnoreRequest
from scrapy.http import HtmlResponse, Response

from graphbrain.crawl.browser import LOADING, first_line
from graphbrain.crawl.spider import RunMiddleware

if TYPE_CHECKING:
    from graphbrain.crawl.scrapy import ScrapyVisit

__all__ = ["Rendering"]


class Rendering(RunMiddleware):
    """A downloader middleware that renders the pages of the scope, and nothing else."""

    PLACE = 540
    """Nearer to the engine than all that decodes a body or follows a redirect."""

    async def process_response(self, request: Request, response: Response) -> Response:
        """Return the page after its scripts. Scrapy calls this with each answer."""
        visit, run = self._visit(request), self.run
        # Only pages of the crawl's scope are rendered.
        if visit is None or run.renderer is None or not isinstance(response, HtmlResponse):
            return response
        if not 200 <= response.status < 300 or not response.body or not run.reaches(response.url):
            return response
        try:
            page, wanted = await run.renderer.rendered(response)
        except OSError as error:
            # Without a browser the crawl ends; a page whose scripts hang fails alone.
            if not isinstance(error, TimeoutError):
                run.failure = f"{error}; name another browser by --browser, or crawl without --render."
                visit.broken_off = True
                return response
            visit.error = f"its scripts did not end within {LOADING:.0f} seconds"
        except BrowserError as error:
            visit.error = f"it cannot be rendered: {first_line(error)}"
        else:
            visit.links |= dict.fromkeys(wanted, (None, None))
            return page
        raise IgnoreRequest(visit.error)

    def _visit(self, request: Request) -> ScrapyVisit | None:
        """Return the visit of a page that this request belongs to."""
        visit = self.run.visit_of(request)
        return visit if visit is not None and visit.claim.kind == "page" else None
