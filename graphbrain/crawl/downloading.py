"""The downloads of a run, which can be let go before they are answered.

Scrapy has no way to end a request under way: a spider that is closed waits for all of them, up to their timeout. So the
handler of http and https keeps its downloads, and cancels them when the run is to end now.
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
    """The downloads under way of one run, of all its handlers."""

    def __init__(self) -> None:
        self._under_way: set[asyncio.Future[Any]] = set()
        self._over = False

    async def done(self, download: Coroutine[Any, Any, Response]) -> Response:
        """Return the answer of a download. Raise DownloadCancelledError if it is let go."""
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
        """Cancel all downloads, and those that begin later."""
        self._over = True
        for task in tuple(self._under_way):
            task.cancel()


class HttpDownloads(HTTP11DownloadHandler):
    """Scrapy's handler of http and https, whose downloads belong to a run."""

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
        """Return the answer of a request that goes to a public address, or where the user has sent it.

        One that is cut off is no answer, and is archived here: raise ResponseDataLossError. With a session it is not:
        it may be the answer with which the session has ended.
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
