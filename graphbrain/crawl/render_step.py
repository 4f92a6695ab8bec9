"""A middleware of Scrapy's downloader that lets `browser` render the pages of the scope."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.async_api import Error as BrowserError
from scrapy import Request
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response

from graphbrain.crawl.browser import LOADING, first_line
from graphbrain.crawl.spider import RunMiddleware

if TYPE_CHECKING:
    from graphbrain.crawl.scrapy import ScrapyVisit

__all__ = ["Rendering"]


class Rendering(RunMiddleware):
    """A downloader middleware that renders the pages of the scope, and no other answers."""

    PLACE = 540
    """Nearer to the engine than all middlewares that decode a body or follow a redirect."""

    async def process_response(self, request: Request, response: Response) -> Response:
        """Return a page as it is after its scripts, or raise IgnoreRequest. Scrapy calls this with each answer."""
        visit, run = self._visit(request), self.run
        if visit is None or run.renderer is None or not run.renders(response):
            return response
        # Render the page. If the browser cannot be started, the crawl ends; if scripts hang, only their page fails.
        try:
            page, wanted = await run.renderer.once(request, response)
        except OSError as error:
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
        """Return the visit of a page that a request belongs to, if any."""
        visit = self.run.visit_of(request)
        return visit if visit is not None and visit.claim.kind == "page" else None
