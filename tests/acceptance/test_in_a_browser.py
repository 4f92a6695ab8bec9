"""In a real browser: the summary, wide, on a phone, dark; the guide, and all questions, in both forms of Neo4j Browser.

Needs the extra `browser` and a Chromium of the system.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from graphbrain.analyst import guide, summary
from graphbrain.analyst.questions import question, questions
from graphbrain.graph.server import lifecycle
from tests.integration.analyst.webs import crawl, hostile
from tests.plugin import PATIENCE, Neo4j, emptied

pytestmark = pytest.mark.browser
WIDTHS = (1400, 820, 360)


@pytest.fixture(scope="module")
def written(neo4j: Neo4j, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The summary of a small crawl whose pages and servers say what does harm where it is not taken for a text."""
    with emptied(neo4j, delay_seconds=0.0) as brain:
        crawl(brain)
        hostile(brain)
        file = tmp_path_factory.mktemp("summary") / "summary.html"
        file.write_text(summary.page(brain.graph, brain.now()), "utf-8")
    return file


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_it_fits_any_width_and_loads_nothing(written: Path, chromium: Any, width: int, scheme: str) -> None:
    page = chromium.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.set_default_timeout(PATIENCE * 1000)
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
    shoot(page, f"summary-{width}-{scheme}", full_page=True)
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_plot_has_its_table_by_keyboard(written: Path, chromium: Any, scheme: str) -> None:
    page = chromium.new_page(color_scheme=scheme)
    page.set_default_timeout(PATIENCE * 1000)
    page.goto(written.as_uri())
    plots = page.locator("svg").count()
    assert plots == page.locator("details:not([class]) table").count() >= 8
    page.locator("summary").first.focus()
    page.keyboard.press("Enter")
    assert page.locator("details").first.get_attribute("open") is not None
    page.close()


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.nightly)])
def test_axe_finds_nothing(written: Path, chromium: Any, scheme: str) -> None:
    axe = Path(pytest.importorskip("axe_playwright_python", reason="axe-core is not installed").__file__)
    context = chromium.new_context(bypass_csp=True, color_scheme=scheme)
    page = context.new_page()
    page.set_default_timeout(PATIENCE * 1000)
    page.goto(written.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    page.add_script_tag(path=axe.with_name("axe.min.js"))
    found = page.evaluate("axe.run()")["violations"]
    assert not [(each["id"], each["nodes"][0]["html"][:120], each["nodes"][0]["failureSummary"]) for each in found]
    context.close()


# ---------------------------------------------------------------- Neo4j Browser


ANSWERED = "text=/ERROR|Displaying|Started streaming|\\(no changes, no records\\)|Successfully set your parameters/"
"""What a frame of the older interface says once a query, or a line that sets a parameter, has been run."""


@pytest.fixture(scope="module")
def http(neo4j: Neo4j) -> str:
    """Where the local server serves Neo4j Browser."""
    running = None if neo4j.data is None else lifecycle.status(neo4j.data)
    if running is None:
        pytest.skip("the server is not ours: where its Browser is cannot be told")
    return f"http://127.0.0.1:{running.http_port}"


@pytest.fixture(scope="module")
def guided(neo4j: Neo4j, http: str) -> Iterator[guide.GuideServer]:
    """The guide, served to that Browser, on a small crawl of pages that say what does harm."""
    with emptied(neo4j, delay_seconds=0.0) as brain:
        crawl(brain)
        hostile(brain)
    with guide.GuideServer(0, {http, http.replace("127.0.0.1", "localhost")}, guide.files()) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield server
        server.shutdown()


@pytest.mark.nightly
def test_the_guide_leads_through_all_questions(
    neo4j: Neo4j, http: str, guided: guide.GuideServer, chromium: Any
) -> None:
    """Slide by slide; each query is clicked into the editor, run, and answered, the first as a graph."""
    page = chromium.new_page(viewport={"width": 1300, "height": 900})
    page.set_default_timeout(PATIENCE * 1000)
    said: list[str] = []
    page.on("dialog", lambda dialog: said.append(dialog.message))
    page.goto(f"{http}/browser/")
    page.select_option("select", label="bolt://")
    page.fill("[data-testid=boltaddress]", neo4j.uri.removeprefix("bolt://"))
    page.fill("[data-testid=username]", neo4j.user)
    page.fill("[data-testid=password]", neo4j.password)
    page.click("[data-testid=connect]")
    page.wait_for_selector("text=You are connected")
    page.click(".monaco-editor")
    page.keyboard.type(f":play {guided.address}/guide.html")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("text=What is in here")
    run = list[str]()
    while True:
        for place in range(page.locator("[data-testid=carousel] pre.runnable").count()):
            step = page.locator("[data-testid=carousel] pre.runnable").nth(place)
            run.append(step.inner_text().strip())
            step.click()
            page.click("[data-testid=editor-Run]")
            answer = page.locator("[data-testid=frame]").first
            answer.locator(ANSWERED).first.wait_for()
            assert "ERROR" not in answer.inner_text(), answer.inner_text()
            if len(run) == 1:
                answer.locator("svg circle").first.wait_for()
                shoot(page, "guide")
            answer.locator("[title=Close]").click()
        onward = page.locator("[data-testid=nextSlide]")
        if not onward.count():
            break
        onward.first.click()
    shown = [*questions(), *(question(name) for name, _ in guide.PATH)]  # those of the path are in their group, too
    assert len(run) == sum(len(each.steps()) for each in shown) > 50
    assert not said
    page.close()


@pytest.mark.usefixtures("guided")
def test_favourites_are_answered_in_the_new_interface(neo4j: Neo4j, http: str, chromium: Any) -> None:
    page = chromium.new_page(viewport={"width": 1300, "height": 900})
    page.set_default_timeout(PATIENCE * 1000)
    page.goto(f"{http}/browser/preview/")
    page.fill("input[name=hostname]", neo4j.uri.removeprefix("bolt://"))
    page.fill("input[name=username]", neo4j.user)
    page.fill("input[name=password]", neo4j.password)
    page.get_by_role("button", name="Connect", exact=True).click()
    page.wait_for_selector("text=Database information")
    for name, shown in (("states", "frontier"), ("broken-links", "http://a.example/lost")):
        for step in question(name).steps():
            page.locator(".cm-content").first.click()
            page.keyboard.press("Control+A")
            page.keyboard.insert_text(step)
            page.keyboard.press("Control+Enter")
            page.wait_for_function("step => !document.querySelector('.cm-content').innerText.includes(step)", arg=step)
        page.locator(f"text={shown}").first.wait_for()
    shoot(page, "preview")
    page.close()


def shoot(page: Any, name: str, full_page: bool = False) -> None:
    """A picture, where somebody wants to look."""
    if shots := os.environ.get("TEST_GRAPHBRAIN_SCREENSHOTS"):
        page.screenshot(path=f"{shots}/{name}.png", full_page=full_page)
