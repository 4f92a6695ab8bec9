"""The console in a real browser: all views, wide and on a phone, dark; hostile pages; actions; who may not.

Needs the extra `browser` and a Chromium of the system.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from graphbrain import Brain
from graphbrain.service import access
from tests.acceptance.test_in_a_browser import shoot
from tests.conftest import PATIENCE, Neo4j, emptied
from tests.integration.analyst.webs import EVIL, A, C, crawl, hostile
from tests.serving import serving

pytestmark = pytest.mark.browser
CONTENT = "#main .card, #main table, #main dl"
VIEWS = {
    "overview": "#/overview",
    "now": "#/now",
    "hosts": "#/hosts",
    "host": "#/host?name=a.example",
    "page": "#/page?url=http%3A%2F%2Fc.example%2F",
    "findings": "#/findings",
    "finding": "#/finding?title=Links&question=broken-links",
    "act": "#/act",
}


@pytest.fixture(scope="module")
def brain(neo4j: Neo4j) -> Iterator[Brain]:
    with emptied(neo4j, delay_seconds=0.0) as brain:
        crawl(brain)
        hostile(brain)
        assert brain.next_urls(2, worker=f"worker {EVIL}")
        yield brain


@pytest.fixture(scope="module")
def url(brain: Brain, given: dict[str, str]) -> Iterator[str]:
    assert given
    with serving(brain) as url:
        yield url


def signed_in(browser: Any, url: str, token: str, **options: Any) -> tuple[Any, list[str]]:
    """A page of the console, and all that went wrong in it."""
    page = browser.new_context(**options).new_page()
    page.set_default_timeout(PATIENCE * 1000)
    wrong: list[str] = []
    page.on("dialog", lambda dialog: wrong.append(dialog.message))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: wrong.append(message.text))
    page.on("request", lambda sent: None if sent.url.startswith((url, "blob:")) else wrong.append(sent.url))
    page.goto(f"{url}/console#token={token}")
    page.wait_for_selector(CONTENT)
    return page, wrong


def view(page: Any, name: str) -> None:
    page.evaluate(f"location.hash = {VIEWS[name]!r}")
    page.wait_for_selector(CONTENT)


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (400, "dark")])
def test_every_view_fits_says_hostile_words_and_runs_none(
    chromium: Any, url: str, given: dict[str, str], width: int, scheme: str
) -> None:
    size = {"width": width, "height": 900}
    page, wrong = signed_in(chromium, url, given["operator"], viewport=size, color_scheme=scheme)
    assert given["operator"] not in page.evaluate("location.href")
    axe = Path(pytest.importorskip("axe_playwright_python", reason="axe-core is not installed").__file__)
    for name in VIEWS:
        view(page, name)
        page.wait_for_timeout(300)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        assert page.locator("#main script, iframe, img, [onerror], [onclick]").count() == 0
        shoot(page, f"console-{name}-{width}-{scheme}", full_page=True)
        if name == "now":
            assert "onerror=alert(1)" in page.inner_text("#main") and "\\u202e" in page.inner_text("#main")
        page.evaluate(axe.with_name("axe.min.js").read_text("utf-8"))
        found = page.evaluate("axe.run()")["violations"]
        assert not [(name, each["id"], each["nodes"][0]["html"][:120]) for each in found]
    assert wrong == []
    page.context.close()


def test_numbers_are_those_of_the_graph(chromium: Any, url: str, brain: Brain, given: dict[str, str]) -> None:
    page, wrong = signed_in(chromium, url, given["analyst"])
    stats = brain.stats()
    figures = dict(zip(*(page.locator(f".figures {tag}").all_inner_texts() for tag in ("dt", "dd")), strict=True))
    assert figures["pages"].split("\n")[0] == f"{stats['pages']:,}"
    assert figures["claims out"].split("\n")[0] == str(stats["leased"]) == "2"
    view(page, "findings")
    page.wait_for_selector("#main table")
    found = {each.title: each for each in brain.findings()}
    titles = page.locator("tbody tr td:first-child").all_inner_texts()
    assert titles == list(found)
    view(page, "hosts")
    page.wait_for_selector("#main table")
    assert page.locator("tbody tr").count() == stats["hosts"]
    assert page.locator("nav a", has_text="Act").count() == 0, "an analyst looks"
    assert wrong == []
    page.context.close()


def test_an_operator_is_asked_before_a_host_is_blocked(
    chromium: Any, url: str, brain: Brain, given: dict[str, str]
) -> None:
    page, wrong = signed_in(chromium, url, given["operator"])
    page.evaluate("location.hash = '#/act?host=b.example'")
    card = page.locator("section.card", has=page.get_by_role("heading", name="Block a host", exact=True))
    card.get_by_role("button").click()
    assert "b.example" in page.locator("dialog").inner_text()
    page.keyboard.press("Escape")
    card.get_by_text("Nothing was done.").wait_for()
    assert brain.host("b.example").blocked_until is None
    card.get_by_role("button").click()
    page.locator("dialog").get_by_role("button", name="Block a host").click()
    card.get_by_text("b.example is left alone.").wait_for()
    assert brain.host("b.example").blocked_until is not None
    other = page.locator("section.card", has=page.get_by_role("heading", name="Unblock a host", exact=True))
    other.get_by_role("button").click()
    page.locator("dialog").get_by_role("button", name="Unblock a host").click()
    other.get_by_text("b.example is asked again.").wait_for()
    assert brain.host("b.example").blocked_until is None and wrong == []
    page.context.close()


def test_nobody_looks_without_a_good_token(chromium: Any, url: str, brain: Brain) -> None:
    page = chromium.new_page()
    page.set_default_timeout(PATIENCE * 1000)
    page.goto(f"{url}/console")
    page.get_by_label("Token").fill("gbt_wrong")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_text("The token is not known, or was revoked.").wait_for()
    token = access.make(brain.graph, "leaves", "analyst", brain.now())
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_selector(".figures")
    access.revoke(brain.graph, "leaves", brain.now())
    page.get_by_role("heading", name="Sign in").wait_for()
    assert page.evaluate("sessionStorage.length") == 0
    assert C not in page.content() and A not in page.content()
    page.close()


def test_a_foreign_name_and_a_frame_get_nothing(url: str) -> None:
    assert httpx.get(f"{url}/console", headers={"Host": "evil.example"}).status_code == 421
    answer = httpx.get(f"{url}/console")
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    assert httpx.get(f"{url}/console/nothing.js").status_code in (401, 404)
