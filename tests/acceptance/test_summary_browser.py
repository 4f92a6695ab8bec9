"""The summary in a real browser: wide, on a phone, dark; nothing loaded, nothing run, nothing that axe-core objects to.

Needs the extra `browser` and a Chromium of the system.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from graphbrain.analyst import summary
from tests.conftest import Neo4j, emptied
from tests.integration.analyst.webs import crawl, hostile

pytestmark = pytest.mark.browser
WIDTHS = (1400, 820, 360)
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.fixture(scope="module")
def written(neo4j: Neo4j, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The summary of a small crawl whose pages and servers say what does harm where it is not taken for a text."""
    with emptied(neo4j, delay_seconds=0.0) as brain:
        crawl(brain)
        hostile(brain)
        file = tmp_path_factory.mktemp("summary") / "summary.html"
        file.write_text(summary.page(brain.graph, brain.now()), "utf-8")
    return file


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A headless browser."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("there is no Chromium")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_it_fits_any_width_and_loads_nothing(written: Path, chromium: Any, width: int, scheme: str) -> None:
    page = chromium.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: said.append(dialog.message))
    page.on("console", lambda message: said.append(message.text))
    page.goto(written.as_uri())
    assert asked == [written.as_uri()] and said == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("document.querySelectorAll('script, iframe, img, [onclick], [onerror]').length") == 0
    links = page.evaluate("[...document.links].map(link => link.protocol)")
    assert set(links) <= {"http:", "https:", "file:"}  # the last are those within the page
    if shots := os.environ.get("TEST_GRAPHBRAIN_SCREENSHOTS"):
        page.screenshot(path=f"{shots}/summary-{width}-{scheme}.png", full_page=True)
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_plot_has_its_table_by_keyboard(written: Path, chromium: Any, scheme: str) -> None:
    page = chromium.new_page(color_scheme=scheme)
    page.goto(written.as_uri())
    plots = page.locator("svg").count()
    assert plots == page.locator("details table").count() >= 8
    page.locator("summary").first.focus()
    page.keyboard.press("Enter")
    assert page.locator("details").first.get_attribute("open") is not None
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(written: Path, chromium: Any, scheme: str) -> None:
    axe = Path(pytest.importorskip("axe_playwright_python", reason="axe-core is not installed").__file__)
    context = chromium.new_context(bypass_csp=True, color_scheme=scheme)
    page = context.new_page()
    page.goto(written.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    page.add_script_tag(path=axe.with_name("axe.min.js"))
    found = page.evaluate("axe.run()")["violations"]
    assert not [(each["id"], each["nodes"][0]["html"][:120], each["nodes"][0]["failureSummary"]) for each in found]
    context.close()
