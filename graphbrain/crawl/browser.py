"""Pages as a browser has them after their scripts: Scrapy fetches the document, a headless Chromium runs it.

The browser has no network: it gets the document that Scrapy has fetched, and `supplies` carries out what the scripts
ask for. So a page is requested once, its status, headers and redirects are those of the site, and an archive has the
traffic and no rendered page. The rendered document takes the place of the response's body. A script that goes to
another page does not get there: the page that it wanted is a link.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from playwright.async_api import Error as BrowserError
from playwright.async_api import async_playwright
from scrapy.http import HtmlResponse, Response

from graphbrain.base.errors import SettingsError

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Page, Playwright, Route, WebSocketRoute
    from playwright.async_api import Request as Wish

    from graphbrain.crawl.supplies import Supplies

__all__ = ["LOADING", "NAMES", "Renderer", "browser_at", "first_line", "is_sandboxed", "rendered_from"]

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
"""The programs on the PATH that are looked for, the first first."""
TABS = 4
"""Pages that are rendered at the same time."""
LOADING = 30.0
"""Seconds that the scripts of a page may compute; then it has failed."""
QUIET = 10.0
"""Seconds for which the end of a page's requests is waited for; then it is taken as it is."""
CLOSING = 5.0
"""Seconds after which a tab that does not close takes its browser down."""
ENDING = 2.0
"""Seconds for which the end of a browser is waited for after one of its calls has failed."""
MOST_WISHES = 200
"""Requests of one page that are carried out."""
WITHHELD = frozenset({"content-encoding", "content-length", "transfer-encoding", "content-disposition", "set-cookie"})
"""Headers that the browser is not given: bodies are decoded, and cookies are Scrapy's."""
VALIDATORS = ("ETag", "Last-Modified")
"""Headers that belong to the document and not to what scripts make of it."""
OFFLINE = (
    "--no-proxy-server",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
)
"""Arguments by which the browser reaches no host by itself."""


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
    """A browser, and the event of its end."""

    browser: Browser
    ended: asyncio.Event


class _BrowserEnded(BrowserError):
    """The browser ended while it rendered a page."""


class Renderer:
    """The browser of a run. Belongs to the thread of the event loop."""

    def __init__(self, program: str, agent: str) -> None:
        self._program, self._agent = program, agent
        self._supplies: Supplies | None = None
        self._tabs = asyncio.Semaphore(TABS)
        self._waits_alone = asyncio.Lock()
        """Held by the one page that may wait for all tabs."""
        self._starting = asyncio.Lock()
        self._playwright: Playwright | None = None
        self._running: _Running | None = None

    def start(self, supplies: Supplies) -> None:
        """Take over the supplies of pages. The browser starts with the first page."""
        self._supplies = supplies

    async def rendered(self, response: HtmlResponse) -> tuple[HtmlResponse, list[str]]:
        """Return the response with the document after its scripts, and the pages to which the scripts wanted to go.

        Raises:
            BrowserError, TimeoutError: The page cannot be rendered.
            OSError: The browser cannot be started.
        """
        try:
            return await self._in_a_tab(response, alone=False)
        except _BrowserEnded:  # it crashed, or another page took it down: a page alone has itself to blame
            return await self._in_a_tab(response, alone=True)

    async def _in_a_tab(self, response: HtmlResponse, *, alone: bool) -> tuple[HtmlResponse, list[str]]:
        """Render a page once. `alone`: while no other page is rendered. Raises _BrowserEnded if its browser ended."""
        assert self._supplies is not None
        async with self._room(alone=alone):
            browser, ended = await self._launched()
            visit = _Visited(response, self._supplies)
            try:
                text = await self._text(browser, ended, visit)
            except (BrowserError, TimeoutError) as error:
                if isinstance(error, BrowserError):  # calls fail some time before the end of their browser is known
                    with suppress(TimeoutError):
                        await asyncio.wait_for(ended.wait(), ENDING)
                if not ended.is_set():
                    raise
                raise _BrowserEnded(str(error) or "the browser ended") from error
        return rendered_from(response, text), [*visit.wanted]

    @asynccontextmanager
    async def _room(self, *, alone: bool) -> AsyncIterator[None]:
        """Hold one tab, or all of them."""
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
        """Return the document after its scripts. What waits for a browser that has ended waits for ever, so the end is
        waited for, too."""
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
        """Close the browser, and end its driver."""
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
        """Return the browser, started if it is not there yet or has ended, and the event of its end."""
        async with self._starting:
            if self._running is None or self._running.ended.is_set():
                await self.close()
                try:
                    self._playwright = await async_playwright().start()
                    browser = await self._playwright.chromium.launch(
                        executable_path=self._program,
                        chromium_sandbox=is_sandboxed(),
                        args=list(OFFLINE),
                        # Scrapy's run has the signals: it ends the browser after the pages that are on their way.
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
        """Close a tab. One with an endless script may not close: then all of the browser ends, and is started anew."""
        try:
            await asyncio.wait_for(context.close(), CLOSING)
        except TimeoutError:
            if self._running is not None and self._running.browser is browser:
                await self.close()
        except BrowserError:
            pass  # it was closed, or its browser has crashed


class _Visited:
    """One page in a tab."""

    def __init__(self, response: HtmlResponse, supplies: Supplies) -> None:
        self._response, self._supplies = response, supplies
        self._page: Page | None = None
        self._served = False
        self._wishes = 0
        self.wanted: dict[str, None] = {}
        """The pages to which scripts wanted to go."""

    async def text(self, context: BrowserContext) -> str:
        """Return the document after its scripts."""
        await context.route("**/*", self._answer)
        await context.route_web_socket("**/*", _refuse)
        self._page = page = await context.new_page()
        await page.goto(self._response.url, wait_until="commit", timeout=LOADING * 1_000)
        with suppress(BrowserError):  # a page that asks for ever is taken as it is
            await page.wait_for_load_state("networkidle", timeout=QUIET * 1_000)
        return await page.content()

    async def _answer(self, route: Route, wish: Wish) -> None:
        """Answer a request of the page."""
        with suppress(BrowserError):  # the tab was closed
            if wish.is_navigation_request():
                await self._navigate(route, wish)
            elif wish.resource_type == "stylesheet":  # scripts wait for it, and its contents change no link
                await route.fulfill(status=200, content_type="text/css", body="")
            else:
                await self._supply(route, wish)

    async def _navigate(self, route: Route, wish: Wish) -> None:
        assert self._page is not None
        if wish.frame != self._page.main_frame:
            await route.abort("blockedbyclient")
        elif self._served:
            self.wanted[wish.url] = None
            await route.abort("aborted")  # any other error would put a page of its own in the place of this one
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
    """Return the response with this document. Its encoding stays, and its validators are left out."""
    changed: Any = response.replace(
        body=text.encode(response.encoding, "xmlcharrefreplace"), flags=[*response.flags, "rendered"]
    )
    for name in VALIDATORS:
        changed.headers.pop(name, None)
    page: HtmlResponse = changed
    return page


def _headers(response: Response) -> dict[str, str]:
    """Return the headers of an answer that the browser gets."""
    names = {name: name.decode("latin-1").lower() for name in response.headers}
    return {
        text: ", ".join(value.decode("latin-1") for value in response.headers.getlist(name))
        for name, text in names.items()
        if text not in WITHHELD
    }


def _refuse(socket: WebSocketRoute) -> None:
    """Let a page have no WebSocket: one that is routed and not connected reaches no server."""


def first_line(error: Exception) -> str:
    """Return the first line of an error of the browser: the others are its log."""
    return str(error).strip().split("\n", 1)[0][:200]
