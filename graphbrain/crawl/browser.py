"""A renderer of pages: Scrapy fetches the document, and a headless Chromium runs its scripts.

The browser has no network. It gets the document that Scrapy has fetched, and `supplies` sends the requests of the
scripts. So a page is requested once, its status, headers and redirects are those of the site, and an archive gets the
traffic and not the rendered page. The rendered document replaces the body of the response. If a script opens another
page, that page becomes a link.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from playwright.async_api import Error as BrowserError
from playwright.async_api import async_playwright
from scrapy import Request
from scrapy.http import HtmlResponse, Response

from graphbrain.base.errors import SettingsError

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Page, Playwright, Route, WebSocketRoute
    from playwright.async_api import Request as Wish

    from graphbrain.crawl.supplies import Supplies

__all__ = ["LOADING", "NAMES", "Renderer", "browser_at", "first_line", "is_sandboxed", "rendered_from"]

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
"""The names of programs that are searched on the PATH, in this order."""
TABS = 4
"""Most pages that are rendered at the same time."""
LOADING = 30.0
"""Seconds that the scripts of a page may run. After them the page has failed."""
QUIET = 10.0
"""Seconds to wait until a page makes no more requests. After them the document is taken as it is."""
CLOSING = 5.0
"""Seconds to wait for a tab to close. After them its browser is closed."""
ENDING = 2.0
"""Seconds to wait for the end of a browser after one of its calls has failed."""
MOST_WISHES = 200
"""Most requests of one page that are sent."""
WITHHELD = frozenset({"content-encoding", "content-length", "transfer-encoding", "content-disposition", "set-cookie"})
"""Headers that the browser does not get: bodies are decoded already, and Scrapy keeps the cookies."""
VALIDATORS = ("ETag", "Last-Modified")
"""Headers that belong to the document before its scripts."""
OFFLINE = (
    "--no-proxy-server",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
)
"""Arguments that keep the browser from reaching any host."""


def browser_at(given: Path | None) -> str:
    """Return the path of the browser: the given one, or one of `NAMES` on the PATH.

    Raises:
        SettingsError: There is none.
    """
    if given is not None:
        if (program := shutil.which(str(given))) is None:
            raise SettingsError(f"--browser {given} is no program: give the path of Chromium or Chrome.")
        return program
    for name in NAMES:
        if program := shutil.which(name):
            return program
    raise SettingsError(
        "--render needs Chromium or Chrome, and finds neither on the PATH: install one (Debian: apt install chromium), "
        "or give its path by --browser."
    )


def is_sandboxed() -> bool:
    """Return whether the browser can use its sandbox: root cannot."""
    return getattr(os, "geteuid", lambda: 1)() != 0


class _Running(NamedTuple):
    """A browser process, and an event that is set at its end."""

    browser: Browser
    ended: asyncio.Event


class _BrowserEnded(BrowserError):
    """An error for a browser that ended while it rendered a page."""


class Renderer:
    """The browser of a run. Only the thread of the event loop uses it."""

    def __init__(self, program: str, agent: str) -> None:
        self._program, self._agent = program, agent
        self._supplies: Supplies | None = None
        self._tabs = asyncio.Semaphore(TABS)
        self._waits_alone = asyncio.Lock()
        """The lock of the one page that may wait for all tabs."""
        self._starting = asyncio.Lock()
        self._rendered = WeakKeyDictionary[Request, asyncio.Future[tuple[HtmlResponse, list[str]]]]()
        self._playwright: Playwright | None = None
        self._running: _Running | None = None

    def start(self, supplies: Supplies) -> None:
        """Set the client for requests of pages. The browser starts with the first page."""
        self._supplies = supplies

    async def once(self, request: Request, response: HtmlResponse) -> tuple[HtmlResponse, list[str]]:
        """Render the answer to a request, as `rendered` does. A second call has the result of the first."""
        if request not in self._rendered:
            self._rendered[request] = asyncio.ensure_future(self.rendered(response))
        return await self._rendered[request]

    async def rendered(self, response: HtmlResponse) -> tuple[HtmlResponse, list[str]]:
        """Render a page. If the browser ends meanwhile, try once more while no other page is rendered.

        Returns:
            (the response with the document after its scripts, the URLs of pages that the scripts wanted to open).

        Raises:
            BrowserError, TimeoutError: The page cannot be rendered.
            OSError: The browser cannot be started.
        """
        try:
            return await self._in_a_tab(response, alone=False)
        except _BrowserEnded:  # another page may have caused it
            return await self._in_a_tab(response, alone=True)

    async def _in_a_tab(self, response: HtmlResponse, *, alone: bool) -> tuple[HtmlResponse, list[str]]:
        """Render a page once. `alone`: wait until no other page is rendered. Raises _BrowserEnded."""
        assert self._supplies is not None
        async with self._room(alone=alone):
            browser, ended = await self._launched()
            visit = _Visited(response, self._supplies)
            try:
                text = await self._text(browser, ended, visit)
            except (BrowserError, TimeoutError) as error:
                if isinstance(error, BrowserError):  # calls fail some time before the event of the end is set
                    with suppress(TimeoutError):
                        await asyncio.wait_for(ended.wait(), ENDING)
                if not ended.is_set():
                    raise
                raise _BrowserEnded(str(error) or "the browser ended") from error
        return rendered_from(response, text), [*visit.wanted]

    @asynccontextmanager
    async def _room(self, *, alone: bool) -> AsyncIterator[None]:
        """Reserve one tab until the block ends, or all tabs if `alone`."""
        busy = 0
        async with self._waits_alone if alone else nullcontext():
            try:
                while busy < (TABS if alone else 1):
                    await self._tabs.acquire()
                    busy += 1
                yield
            finally:
                for _ in range(busy):
                    self._tabs.release()

    async def _text(self, browser: Browser, ended: asyncio.Event, visit: _Visited) -> str:
        """Return the document after its scripts. Raise TimeoutError if they run too long, or if the browser ends.

        A call to a browser that has ended never returns. So this waits for the event of the end, too.
        """
        context = await browser.new_context(accept_downloads=False, service_workers="block", user_agent=self._agent)
        work, end = asyncio.ensure_future(visit.text(context)), asyncio.ensure_future(ended.wait())
        try:
            await asyncio.wait({work, end}, timeout=LOADING, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                return work.result()
            raise TimeoutError
        finally:
            for task in (work, end):
                task.cancel()
            await asyncio.gather(work, end, return_exceptions=True)
            if not ended.is_set():
                await self._put_away(browser, context)

    async def close(self) -> None:
        """Close the browser and its driver."""
        playwright, running = self._playwright, self._running
        self._playwright = self._running = None
        with suppress(BrowserError, TimeoutError):
            if running is not None and not running.ended.is_set():
                running.ended.set()
                await asyncio.wait_for(running.browser.close(), CLOSING)
        with suppress(BrowserError, TimeoutError):
            if playwright is not None:
                await asyncio.wait_for(playwright.stop(), CLOSING)

    async def _launched(self) -> _Running:
        """Return the browser. Start it if it does not run. Raise OSError if it cannot be started."""
        async with self._starting:
            if self._running is None or self._running.ended.is_set():
                await self.close()
                try:
                    self._playwright = await async_playwright().start()
                    browser = await self._playwright.chromium.launch(
                        executable_path=self._program,
                        chromium_sandbox=is_sandboxed(),
                        args=list(OFFLINE),
                        # `ScrapyRun` handles the signals, and closes the browser after the pages under way.
                        handle_sigint=False,
                        handle_sigterm=False,
                        handle_sighup=False,
                    )
                except BrowserError as error:
                    raise OSError(f"{self._program} cannot be started ({first_line(error)})") from None
                ended = asyncio.Event()
                browser.on("disconnected", lambda _: ended.set())
                self._running = _Running(browser, ended)
            return self._running

    async def _put_away(self, browser: Browser, context: BrowserContext) -> None:
        """Close a tab. If an endless script keeps it open, close the browser: the next page starts another one."""
        try:
            await asyncio.wait_for(context.close(), CLOSING)
        except TimeoutError:
            if self._running is not None and self._running.browser is browser:
                await self.close()
        except BrowserError:
            pass  # the tab is closed, or the browser has crashed


class _Visited:
    """One page in a tab."""

    def __init__(self, response: HtmlResponse, supplies: Supplies) -> None:
        self._response, self._supplies = response, supplies
        self._page: Page | None = None
        self._served = False
        self._wishes = 0
        self.wanted: dict[str, None] = {}
        """The URLs of pages that scripts wanted to open, in order."""

    async def text(self, context: BrowserContext) -> str:
        """Return the document after its scripts."""
        await context.route("**/*", self._answer)
        await context.route_web_socket("**/*", _refuse)
        self._page = page = await context.new_page()
        await page.goto(self._response.url, wait_until="commit", timeout=LOADING * 1_000)
        with suppress(BrowserError):  # some pages never stop making requests
            await page.wait_for_load_state("networkidle", timeout=QUIET * 1_000)
        return await page.content()

    async def _answer(self, route: Route, wish: Wish) -> None:
        """Answer a request of the page."""
        with suppress(BrowserError):  # the tab was closed
            if wish.is_navigation_request():
                await self._navigate(route, wish)
            elif (
                wish.resource_type == "stylesheet"
            ):  # scripts wait for it, but it changes no link: an empty one will do
                await route.fulfill(status=200, content_type="text/css", body="")
            else:
                await self._supply(route, wish)

    async def _navigate(self, route: Route, wish: Wish) -> None:
        assert self._page is not None
        if wish.frame != self._page.main_frame:
            await route.abort("blockedbyclient")
        elif self._served:
            self.wanted[wish.url] = None
            await route.abort("aborted")  # after any other error the browser would show its own error page
        else:
            self._served = True
            await route.fulfill(
                status=self._response.status, headers=_headers(self._response), body=self._response.body
            )

    async def _supply(self, route: Route, wish: Wish) -> None:
        self._wishes += 1
        answer = await self._supplies.get(wish) if self._wishes <= MOST_WISHES else None
        if answer is None:
            await route.abort("blockedbyclient")
        else:
            await route.fulfill(status=answer.status, headers=_headers(answer), body=answer.body)


def rendered_from(response: HtmlResponse, text: str) -> HtmlResponse:
    """Return a response whose body is the rendered document, in the same encoding and without its validators."""
    changed: Any = response.replace(
        body=text.encode(response.encoding, "xmlcharrefreplace"), flags=[*response.flags, "rendered"]
    )
    for name in VALIDATORS:
        changed.headers.pop(name, None)
    page: HtmlResponse = changed
    return page


def _headers(response: Response) -> dict[str, str]:
    """Return the headers of an answer for the browser."""
    names = {name: name.decode("latin-1").lower() for name in response.headers}
    return {
        text: ", ".join(value.decode("latin-1") for value in response.headers.getlist(name))
        for name, text in names.items()
        if text not in WITHHELD
    }


def _refuse(socket: WebSocketRoute) -> None:
    """Connect no WebSocket: one that is routed and not connected reaches no server."""


def first_line(error: Exception) -> str:
    """Return the first line of an error of the browser. The other lines are its log."""
    return str(error).strip().split("\n", 1)[0][:200]
