"""Rendering: the browser's path, its options, and what becomes of a response."""

from __future__ import annotations

import asyncio
import shutil
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest
from playwright.async_api import Error as BrowserError
from scrapy.exceptions import IgnoreRequest
from scrapy.http import HtmlResponse, Request, Response

from graphbrain.base.errors import SettingsError
from graphbrain.cli.crawling import crawl
from graphbrain.crawl import browser, supplies
from graphbrain.crawl.browser import browser_at, rendered_from
from graphbrain.crawl.config import options_in
from graphbrain.crawl.order import as_given
from graphbrain.crawl.supplies import Kept, Supplies, headers_of

URL = "http://a.example/"
CHROMIUM = next(filter(None, map(shutil.which, browser.NAMES)), None)


def program(folder: Path, name: str) -> Path:
    file = folder / name
    file.write_text("#!/bin/sh\n")
    file.chmod(0o755)
    return file


def test_the_browser_is_the_given_one_or_one_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SettingsError, match="needs Chromium or Chrome"):
        browser_at(None)
    with pytest.raises(SettingsError, match=r"--browser .*none is no program"):
        browser_at(tmp_path / "none")
    chrome = program(tmp_path, "google-chrome")
    assert browser_at(None) == str(chrome)
    chromium = program(tmp_path, "chromium")
    assert browser_at(None) == str(chromium) and browser_at(chrome) == str(chrome)
    (tmp_path / "text").write_text("")
    with pytest.raises(SettingsError, match="no program"):
        browser_at(tmp_path / "text")


def test_the_options_of_a_browser_need_render(tmp_path: Path) -> None:
    for options in ({"browser": Path("chromium")}, {"render_from": ("cdn.example",)}):
        with pytest.raises(SettingsError, match="for --render"):
            as_given(options)
        assert as_given({**options, "render": True}).render
    file = tmp_path / "crawl.toml"
    file.write_text('render = true\nbrowser = "chromium"\nrender-from = ["cdn.example"]\n')
    found = options_in(file, {str(each.name) for each in crawl.params})
    assert found == {"render": True, "browser": "chromium", "render_from": ["cdn.example"]}


def test_a_rendered_page_keeps_its_status_headers_and_encoding() -> None:
    """The validators are the document's alone."""
    given = {"Content-Type": "text/html; charset=iso-8859-1", "ETag": '"1"', "Last-Modified": "x", "X-A": "b"}
    response = HtmlResponse(URL, 203, headers=given, body="<p>é</p>".encode("latin-1"))
    page = rendered_from(response, "<p>é ☃</p>")
    assert page.body == b"<p>\xe9 &#9731;</p>" and page.css("p::text").get() == "é ☃" and page.status == 203
    assert {name.decode() for name in page.headers} == {"Content-Type", "X-A"}
    assert response.headers["ETag"] == b'"1"'


def test_headers_of_the_browser_and_its_connection_stay_there() -> None:
    given = {"Accept": "a", "X-Requested-With": "b", "Cookie": "c", "User-Agent": "d", "sec-ch-ua": "e", ":path": "/"}
    assert headers_of(given) == {"accept": "a", "x-requested-with": "b"}


def test_answers_are_kept_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest make room; what must not be kept is not, nor an error of the server."""
    monkeypatch.setattr(supplies, "MOST_KEPT", 10)
    kept, now = Kept(), [0.0]
    monkeypatch.setattr(supplies.time, "monotonic", lambda: now[0])
    for name in "abc":
        kept.put((name, ""), Response(URL, body=b"1234"))
    assert [kept.get((name, "")) is not None for name in "abc"] == [False, True, True]
    for status, headers in ((200, {"Cache-Control": "No-Store"}), (503, {}), (302, {})):
        kept.put(("d", ""), Response(URL, status, headers=headers))
        assert kept.get(("d", "")) is None
    kept.put(("c", ""), Response(URL, body=b"123456"))
    assert kept.get(("b", "")) is not None
    now[0] = supplies.KEPT + 1
    assert kept.get(("b", "")) is None


class Scrapy:
    """An engine that notes what is asked for."""

    def __init__(self, answers: dict[str, Response | Exception]) -> None:
        self.answers, self.asked = answers, list[str]()

    async def download_async(self, request: Request) -> Response:
        self.asked.append(request.url)
        await asyncio.sleep(0)
        answer = self.answers[request.url]
        if isinstance(answer, Exception):
            raise answer
        return answer


def wish(url: str, kind: str = "script", method: str = "GET") -> Any:
    async def all_headers() -> dict[str, str]:
        return {"accept": "*/*"}

    return SimpleNamespace(url=url, resource_type=kind, method=method, all_headers=all_headers)


def test_pages_get_scripts_and_data_of_hosts_that_are_named() -> None:
    """A redirect is followed where the host may be asked; pages that ask for the same at once share the answer."""
    place = {"Location": "http://out.example/x.js"}
    engine = Scrapy(
        {
            f"{URL}a.js": Response(f"{URL}a.js", body=b"1"),
            f"{URL}b.js": Response(f"{URL}b.js", 302, headers={"Location": "/a.js"}),
            f"{URL}out.js": Response(f"{URL}out.js", 302, headers=place),
            f"{URL}no.js": IgnoreRequest(),
            "http://cdn.example/c.js": Response("http://cdn.example/c.js", body=b"2"),
        }
    )
    left: list[tuple[str, str]] = []
    watch: Any = SimpleNamespace(leave_out=lambda url, why: left.append((url, why)))
    crawler: Any = SimpleNamespace(engine=engine)

    async def all_of(*wishes: Any) -> list[bytes | None]:
        found = await asyncio.gather(*(supply.get(each) for each in wishes))
        return [None if each is None else each.body for each in found]

    supply = Supplies(crawler, watch, lambda url: url.startswith(URL), ["cdn.example"])
    both = asyncio.run(all_of(wish(f"{URL}a.js"), wish(f"{URL}a.js#x"), wish("http://cdn.example/c.js", "fetch")))
    assert both == [b"1", b"1", b"2"] and sorted(engine.asked) == ["http://a.example/a.js", "http://cdn.example/c.js"]
    engine.asked.clear()
    refused = asyncio.run(
        all_of(
            wish(f"{URL}b.js"),
            wish(f"{URL}out.js"),
            wish(f"{URL}no.js"),
            wish(f"{URL}a.js", method="POST"),
            wish(f"{URL}i.png", "image"),
            wish("file:///etc/passwd", "fetch"),
        )
    )
    assert refused == [b"1", None, None, None, None, None]
    assert engine.asked == [f"{URL}b.js", f"{URL}out.js", f"{URL}no.js"]  # a.js is kept
    assert set(left) == {
        (place["Location"], supplies.OTHER_HOSTS),
        ("file:///etc/passwd", supplies.OTHER_HOSTS),
        (f"{URL}no.js", supplies.FORBIDDEN),
        (f"{URL}a.js", supplies.METHODS),
    }


def test_root_has_no_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    for user, has in ((0, False), (1_000, True)):
        monkeypatch.setattr(browser.os, "geteuid", lambda user=user: user)
        assert browser.is_sandboxed() is has


class Slow:
    """Supplies that answer after some seconds, and have nothing."""

    async def get(self, wish: Any) -> None:  # noqa: ARG002  # as Supplies
        await asyncio.sleep(2.0)


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")
def test_a_page_whose_scripts_do_not_end_fails_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """After some seconds; the next one is rendered."""
    pages = [b"<body><script>for (;;);</script>", b"<body><script>document.body.append('written')</script>"]

    async def rendered() -> list[Any]:
        renderer, found = browser.Renderer(browser_at(None), "graphbrain"), list[Any]()
        renderer.start(Slow())  # type: ignore[arg-type]
        for body, seconds in zip(pages, (2.0, browser.LOADING), strict=True):
            monkeypatch.setattr(browser, "LOADING", seconds)
            response = HtmlResponse(URL, headers={"Content-Type": "text/html"}, body=body)
            found += await asyncio.gather(renderer.rendered(response), return_exceptions=True)
        await renderer.close()
        return found

    endless, (good, _) = asyncio.run(rendered())
    assert isinstance(endless, TimeoutError) and b"written" in good.body


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")
def test_a_browser_that_ends_takes_no_page_along() -> None:
    """As the browser ends where a tab does not close. A page alone has itself to blame."""
    script = "fetch('/data').catch(() => { document.getElementById('text').textContent = 'written' })"
    body = f"<html><body><p id=text>plain</p><script>{script}</script></body></html>".encode()
    before = set(psutil.Process().children(recursive=True))

    async def rendered(kills: int, pages: int) -> list[Any]:
        renderer = browser.Renderer(browser_at(None), "graphbrain")
        renderer.start(Slow())  # type: ignore[arg-type]
        answers = [
            HtmlResponse(f"http://other{number}.example/", headers={"Content-Type": "text/html"}, body=body)
            for number in range(pages)
        ]
        working = asyncio.gather(*map(renderer.rendered, answers), return_exceptions=True)
        for _ in range(kills):
            while renderer._running is None or not renderer._running.browser.contexts:
                await asyncio.sleep(0.1)
            await asyncio.sleep(0.5)
            running = renderer._running
            for process in set(psutil.Process().children(recursive=True)) - before:
                with suppress(psutil.Error):
                    if "--headless" in process.cmdline():
                        process.kill()
            await running.ended.wait()
        found = await working
        await renderer.close()
        return list(found)

    pages = asyncio.run(rendered(kills=1, pages=3))
    assert [b"written" in response.body for response, _ in pages] == [True] * 3
    (failed,) = asyncio.run(rendered(kills=2, pages=1))
    assert isinstance(failed, BrowserError)
