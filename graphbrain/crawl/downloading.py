"""A download handler whose requests can be cancelled.

Scrapy cannot cancel a request under way: a spider that closes waits for all of them, up to their timeout. So this
handler of http and https keeps a list of its downloads, and cancels them when the run must end at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.exceptions import DownloadCancelledError, ResponseDataLossError

from graphbrain.crawl.scrapy import PrivateAddress

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

__all__ = ["CUT_OFF", "Downloads", "HttpDownloads"]

CUT_OFF = "dataloss"
"""Scrapy's flag of an answer whose connection was closed before its end."""

PRIVATE = "requests to private addresses (--allow-private)"


class Downloads:
    """The downloads under way in one run."""

    def __init__(self) -> None:
        self._under_way: set[asyncio.Future[Any]] = set()
        self._over = False

    async def done(self, download: Coroutine[Any, Any, Response]) -> Response:
        """Return the answer of a download. Raise DownloadCancelledError if it is cancelled."""
        task = asyncio.ensure_future(download)
        self._under_way.add(task)
        if self._over:
            task.cancel()
        try:
            return await task
        except asyncio.CancelledError:
            raise DownloadCancelledError("the crawl has ended before it was answered") from None
        finally:
            self._under_way.discard(task)

    def let_go(self) -> None:
        """Cancel all downloads under way, and all that begin later."""
        self._over = True
        for task in tuple(self._under_way):
            task.cancel()


class HttpDownloads(HTTP11DownloadHandler):
    """Scrapy's handler of http and https, whose downloads a run can cancel."""

    lazy = True

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._run_of = crawler

    async def download_request(self, request: Request) -> Response:
        """Return the answer of a request. Scrapy calls this."""
        run: Any = self._run_of.spider.run  # type: ignore[union-attr]
        downloads: Downloads = run.downloads
        return await downloads.done(self._checked(run, request))

    async def _checked(self, run: Any, request: Request) -> Response:
        """Return the answer to a request.

        An answer that is cut off is archived here, except in a crawl with a session, where it may show the end of that.

        Raises:
            PrivateAddress: The request must not be sent.
            ResponseDataLossError: The answer is cut off.
        """
        if run.addresses is not None:
            try:
                await run.addresses.check_request(request)
            except PrivateAddress:
                run.watch.leave_out(request.url, PRIVATE)
                raise
        answer = await super().download_request(request)
        if CUT_OFF in answer.flags:
            if run.archive is not None and not run.order.has_session:
                run.archive.keep(request, answer)
            raise ResponseDataLossError("the connection was closed before the answer's end")
        return answer
