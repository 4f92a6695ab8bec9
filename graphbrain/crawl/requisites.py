"""A fetcher of the requisites of pages (styles, scripts, images, fonts) for the archive.

Requisites are not pages of the graph. `requisites.sqlite` beside the WARC files has their queue, and for each host the
time of the next request. Processes of one crawl share the file, and fetch the requisites that a killed process did not
fetch. Each requisite is fetched once. A host gets one such request in the brain's `delay_seconds`, in addition to the
requests for its pages. robots.txt is obeyed as for pages.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from scrapy import Request
from scrapy.http import HtmlResponse, Response, TextResponse
from scrapy.utils.asyncio import create_looping_call
from scrapy.utils.defer import deferred_from_coro

from graphbrain import Answer, Brain, Fetched
from graphbrain.base.errors import BadInput
from graphbrain.base.urls.normalization import address, host_of
from graphbrain.crawl.references import ELEMENTS, in_css, of_element
from graphbrain.crawl.scrapy import Document, Report, ScrapyVisit

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

__all__ = ["Requisites", "requisites_of"]

AT_ONCE = 8
"""Most requisites that one process fetches at the same time."""
LOOK = 0.1
"""Seconds between two checks for requisites that may be fetched."""
HELD = 300.0
"""Seconds for which a requisite is reserved. After them another process may fetch it."""


def requisites_of(response: Response) -> list[str]:
    """Return the URLs of the requisites of a page or of a style sheet, each once, in document order."""
    if not isinstance(response, TextResponse):
        return []
    kind = (response.headers.get("Content-Type") or b"").decode("latin-1").partition(";")[0].strip().lower()
    references: Iterator[tuple[str, str]]
    if isinstance(response, HtmlResponse):
        references = _in_html(response)
    elif kind == "text/css":
        references = ((response.url, reference.text) for reference in in_css(response.text))
    else:
        return []
    # Resolve the references, and leave out those that are no address.
    urls: dict[str, None] = {}
    for base, reference in references:
        with suppress(BadInput, ValueError):
            url = urljoin(base, reference.strip())
            if url.startswith(("http://", "https://")):
                urls[address(url)] = None
    return [*urls]


def _in_html(response: HtmlResponse) -> Iterator[tuple[str, str]]:
    """Yield the references of a page, each with the base of its document."""
    for node, document in Document.of(response).elements(*ELEMENTS, "style"):
        lists = [in_css(node.text or "")] if node.tag == "style" else [each for _, each in of_element(node)]
        yield from ((document.base, reference.text) for references in lists for reference in references)
    for node, document in Document.of(response).elements():
        if style := node.get("style"):
            yield from ((document.base, reference.text) for reference in in_css(style))


class Requisites:
    """A sink that fetches the requisites of pages. Only the thread of the event loop may call its methods."""

    def __init__(self, folder: Path) -> None:
        self._sql = sqlite3.connect(
            folder / "requisites.sqlite", timeout=60.0, isolation_level=None, check_same_thread=False
        )
        for statement in (
            "PRAGMA journal_mode = WAL",
            "PRAGMA synchronous = OFF",
            "CREATE TABLE IF NOT EXISTS requisite"
            " (url TEXT PRIMARY KEY, host TEXT, taken REAL DEFAULT 0, done INTEGER DEFAULT 0)",
            "CREATE INDEX IF NOT EXISTS waiting ON requisite (host, taken) WHERE done = 0",
            "CREATE TABLE IF NOT EXISTS host (name TEXT PRIMARY KEY, next REAL DEFAULT 0)",
        ):
            self._sql.execute(statement)
        self._crawler: Crawler | None = None
        self._fail: Callable[[str], None] | None = None
        self._looks: Any = None
        self._delay = 1.0
        self._active = 0
        self._stopped = False
        self.fetched = self.failed = 0

    def __enter__(self) -> Requisites:
        return self

    def __exit__(self, *_: object) -> None:
        self._sql.close()

    # ---------------------------------------------------------------- a sink of the run

    def recover(self, brain: Brain) -> int:
        """Read the brain's delay between two requests."""
        self._delay = brain.settings.delay_seconds
        return 0

    def finished(self, visit: ScrapyVisit, report: Fetched) -> None:
        """Queue the requisites of a page."""
        if visit.response is not None and not report.not_modified and 200 <= visit.response.status < 300:
            self._add(visit.response)

    def fetched_by_page(self, url: str) -> None:
        """Note that a rendered page has fetched a URL, so that it is not fetched again."""
        with suppress(BadInput):
            self._sql.execute(
                "INSERT OR REPLACE INTO requisite (url, host, done) VALUES (?, ?, 1)", (address(url), host_of(url))
            )

    def before(self, reports: Sequence[Report]) -> None:
        """Do nothing: reports do not matter for requisites."""

    def after(self, reports: Sequence[Report], answers: Sequence[Answer]) -> None:
        """Do nothing: answers do not matter for requisites."""

    def busy(self) -> bool:
        """Return whether a requisite waits or is being fetched. After `stop`: whether this process is fetching one."""
        if self._stopped or self._active:
            return self._active > 0
        with self._failing():
            return self._sql.execute("SELECT 1 FROM requisite WHERE done = 0 LIMIT 1").fetchone() is not None
        return False

    # ---------------------------------------------------------------- fetching

    def start(self, crawler: Crawler, fail: Callable[[str], None]) -> None:
        """Begin to fetch requisites. `fail` is called with a reason if the run cannot continue."""
        self._crawler, self._fail = crawler, fail
        self._looks = create_looping_call(self._look)
        self._looks.start(LOOK, now=False)

    def stop(self) -> None:
        """Send no more requests. A later run fetches the requisites that wait."""
        self._stopped = True
        if self._looks is not None and self._looks.running:
            self._looks.stop()

    def _add(self, response: Response) -> None:
        urls = requisites_of(response)
        if not urls:
            return
        self._sql.execute("BEGIN IMMEDIATE")
        for url in urls:
            self._sql.execute("INSERT OR IGNORE INTO requisite (url, host) VALUES (?, ?)", (url, host_of(url)))
            self._sql.execute("INSERT OR IGNORE INTO host (name) VALUES (?)", (host_of(url),))
        self._sql.execute("COMMIT")

    def _look(self) -> None:
        """Send all requests that may be sent now."""
        with self._failing():
            while not self._stopped and self._active < AT_ONCE and (url := self._take()):
                self._active += 1
                deferred_from_coro(self._fetch(url))

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """End the run, with the reason, if the queue raises an error within the block."""
        try:
            yield
        except sqlite3.Error as error:
            self.stop()
            if self._fail is not None:
                self._fail(f"requisites.sqlite cannot be written ({error}); make room, and go on.")

    def _take(self) -> str | None:
        """Reserve a requisite whose host may get a request now, and return its URL; None if there is none."""
        now = time.time()
        self._sql.execute("BEGIN IMMEDIATE")
        try:
            # Find a host whose delay is over, and one of its requisites.
            row = self._sql.execute(
                "SELECT r.url, r.host FROM host h JOIN requisite r ON r.rowid = (SELECT rowid FROM requisite"
                " WHERE host = h.name AND done = 0 AND taken < ? LIMIT 1) WHERE h.next <= ? LIMIT 1",
                (now - HELD, now),
            ).fetchone()
            if row is None:
                return None
            # Reserve it, and begin the next delay of the host.
            url, host = row
            self._sql.execute("UPDATE requisite SET taken = ? WHERE url = ?", (now, url))
            self._sql.execute("UPDATE host SET next = ? WHERE name = ?", (now + self._delay, host))
            return str(url)
        finally:
            self._sql.execute("COMMIT")

    async def _fetch(self, url: str) -> None:
        """Fetch one requisite, without a retry. The middleware of the archive writes the answer."""
        try:
            assert self._crawler is not None and self._crawler.engine is not None
            response = await self._crawler.engine.download_async(Request(url, dont_filter=True))
            self.fetched += response.status < 400
            self.failed += response.status >= 400
            if response.status == 200 and not isinstance(response, HtmlResponse):
                self._add(response)
        except Exception:  # noqa: BLE001  # robots.txt, no answer, an answer that is too long
            self.failed += 1
        finally:
            self._active -= 1
            with self._failing():
                self._sql.execute("UPDATE requisite SET done = 1 WHERE url = ?", (url,))
