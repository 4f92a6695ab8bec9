"""The console in a real browser: all views, wide and on a phone, dark; hostile pages; actions; who may not.

Needs the extra `browser` and a Chromium of the system.
"""

from __future__ import annotations

import contextlib
import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from graphbrain import Brain
from graphbrain.base.errors import UnknownPage
from graphbrain.schedule import lanes
from graphbrain.service import access
from tests.acceptance.test_in_a_browser import shoot
from tests.integration.analyst.webs import EVIL, A, C, crawl, hostile
from tests.plugin import PATIENCE, Neo4j, emptied, eventually
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
    page.locator("#main p", has_text="Being read.").first.wait_for(state="detached")


@pytest.mark.parametrize(
    ("width", "scheme"),
    [
        (1280, "light"),
        (400, "dark"),
        *(pytest.param(*each, marks=pytest.mark.nightly) for each in [(1280, "dark"), (400, "light")]),
    ],
)
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

    def figures() -> dict[str, str]:
        names, values = (page.locator(f".figures {tag}").all_inner_texts() for tag in ("dt", "dd"))
        return dict(zip(names, values, strict=True))

    assert figures()["being fetched"] == str(stats["leased"]) == "2"
    eventually(lambda: f"{stats['waiting']:,} wait in all" in figures()["wait for a first visit"], "the count of pages")
    assert figures()["pages"].split("\n") == [
        f"{stats['pages']:,}", f"{stats['outside_pages']:,} more outside the scope"
    ]  # fmt: skip
    for name, value in (("failed", stats["retries"]), ("hosts", stats["hosts"]), ("links", stats["links"])):
        assert figures()[name].split("\n")[0] == f"{value:,}", name
    states = page.locator("section.card", has=page.get_by_role("heading", name="Pages by state")).locator("tbody tr")
    shown = {row.split("\t")[0]: row.split("\t")[1] for row in states.all_inner_texts()}
    assert shown == {state: f"{pages:,}" for state, pages in stats["states"].items()}
    view(page, "findings")
    page.wait_for_selector("#main table")
    found = {each.title: each for each in brain.findings()}
    titles = page.locator("tbody tr td:first-child").all_inner_texts()
    assert titles == list(found)
    view(page, "hosts")
    page.wait_for_selector("#main table")
    assert page.locator("tbody tr").count() == len(list(brain.hosts())) >= stats["hosts"]
    assert page.locator("nav a", has_text="Act").count() == 0, "an analyst looks"
    assert wrong == []
    page.context.close()


def test_numbers_have_no_exponent_and_keep_their_zeros(chromium: Any, url: str, given: dict[str, str]) -> None:
    page, _ = signed_in(chromium, url, given["analyst"])
    written = page.evaluate(
        """async () => { const as = await import("/console/format.js");
        const scores = [1000.2, 12344, 0.25, 1e-10].map(as.score);
        return [...scores, as.short(843.7), as.short(12.5)]; }"""
    )
    assert written == ["1,000", "12,340", "0.25", "1.0e-10", "844", "12.5"]
    page.context.close()


def test_a_host_that_stays_on_the_screen_is_counted_again(
    chromium: Any, url: str, brain: Brain, given: dict[str, str]
) -> None:
    page, wrong = signed_in(chromium, url, given["analyst"])
    page.clock.install()
    view(page, "host")
    card = page.locator("section.card", has=page.get_by_role("heading", name="Pages by state"))

    def waiting() -> str:
        row = card.locator("tbody tr", has_text="frontier").first
        return row.locator("td").nth(1).inner_text() if row.count() else "0"

    before = int(waiting())
    brain.seed([f"{A}/seeded-while-it-is-watched"])
    eventually(lambda: page.clock.fast_forward(10_000) or int(waiting()) == before + 1, "the new count")
    brain.forget(f"{A}/seeded-while-it-is-watched")
    assert wrong == []
    page.context.close()


@dataclass(frozen=True)
class Action:
    """An action: its view and fields, the words that ask and those that say it is done, and a test that it is."""

    title: str
    view: str
    fields: dict[str, str]
    will: str
    said: str
    is_done: Callable[[Brain], bool]


B, NEW = "b.example", f"{A}/hidden"


def is_gone(brain: Brain) -> bool:
    with contextlib.suppress(UnknownPage):
        return brain.page(NEW) is None
    return True


def is_set(brain: Brain) -> bool:
    brain.stats()  # it reads the settings again
    return brain.settings.delay_seconds == 2.5


ACTIONS = [
    Action("Block a host", f"host={B}", {"hours": "3"}, f"No page of {B} can be claimed for 3 hours.",
           f"{B} is blocked.", lambda brain: brain.host(B).blocked_until is not None),
    Action("Unblock a host", f"host={B}", {}, f"Pages of {B} can be claimed again",
           f"{B} is not blocked.", lambda brain: brain.host(B).blocked_until is None),
    Action("Delay of a host", f"host={B}", {"delay": "7"}, f"Claims of {B} are 7 s apart at least.",
           f"The delay of {B} is set.", lambda brain: brain.host(B).own_delay == 7.0),
    Action("Budget of a host", f"host={B}", {"budget": "5"}, f"At most 5 pages of {B} are fetched for the first time.",
           f"The budget of {B} is set.", lambda brain: brain.host(B).own_budget == 5),
    Action("Park", f"url={NEW}", {}, "1 page will not be fetched until",
           "Parked now: 1 of 1.", lambda brain: brain.page(NEW).state == "parked"),
    Action("Retry", f"url={NEW}", {}, "1 page that failed, redirect or were given up wait again",
           "Wait again: 1.", lambda brain: brain.page(NEW).state == "frontier"),
    Action("Crawl now", f"url={NEW}", {}, "1 page will be fetched before all others",
           "Will be fetched: 1 of 1.", lambda brain: brain.page(NEW).lane == lanes.ASKED),
    Action("Forget", f"url={NEW}", {}, "This cannot be undone.",
           f"{NEW} is deleted, with", is_gone),
    Action("Pause", "", {}, "No page can be claimed until",
           "The crawl is paused.", lambda brain: brain.stats()["paused"] is not None),
    Action("Resume", "", {}, "Pages can be claimed again.",
           "The crawl goes on.", lambda brain: brain.stats()["paused"] is None),
    Action("Change a setting", "", {"name": "delay_seconds", "value": "2.5"}, "delay_seconds changes from 0 to 2.5",
           "delay_seconds is 2.5 now.", is_set),
]  # fmt: skip


def test_each_action_says_what_will_happen_and_asks(
    chromium: Any, url: str, brain: Brain, given: dict[str, str]
) -> None:
    page, wrong = signed_in(chromium, url, given["operator"])
    try:
        for each in ACTIONS:
            page.evaluate(f"location.hash = '#/act?{each.view}'")
            card = page.locator("section.card", has=page.get_by_role("heading", name=each.title, exact=True))
            for name, value in each.fields.items():
                field = card.locator(f"[name={name}]")
                if field.evaluate("field => field.tagName") == "SELECT":
                    field.select_option(value)
                else:
                    field.fill(value)
            was_done = each.is_done(brain)
            card.get_by_role("button").click()
            assert each.will in page.locator("dialog").inner_text(), each.title
            shoot(page, f"console-asks-{each.title.lower().replace(' ', '-')}")
            page.keyboard.press("Escape")
            card.get_by_text("Nothing was done.").wait_for()
            assert each.is_done(brain) == was_done, f"{each.title} was not confirmed"
            card.get_by_role("button").click()
            page.locator("dialog").get_by_role("button", name=each.title).click()
            card.get_by_text(each.said).wait_for()
            assert each.is_done(brain) and not was_done, each.title
        card.locator("[name=value]").fill("soon")
        card.get_by_role("button").click()
        card.get_by_text("Not done: delay_seconds is a number, not soon.").wait_for()
        assert card.locator("option[value=delay_seconds]").text_content() == "delay_seconds (2.5)", "the new value"
        assert "crawl" not in card.locator("option").evaluate_all("options => options.map(each => each.value)")
        assert wrong == []
    finally:
        page.context.close()
        brain.resume()
        brain.change(delay_seconds=0.0)
        brain.set_host(B, delay=None, budget=None)


def test_an_action_that_is_refused_says_so(chromium: Any, url: str, given: dict[str, str]) -> None:
    page, _ = signed_in(chromium, url, given["operator"])
    page.evaluate("location.hash = '#/act?host=nowhere.example'")
    card = page.locator("section.card", has=page.get_by_role("heading", name="Unblock a host", exact=True))
    card.get_by_role("button").click()
    page.locator("dialog").get_by_role("button", name="Unblock a host").click()
    card.get_by_text("Not done:").wait_for()
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


def test_an_analyst_may_not_act_even_by_address(chromium: Any, url: str, brain: Brain, given: dict[str, str]) -> None:
    page, wrong = signed_in(chromium, url, given["analyst"])
    page.evaluate("location.hash = '#/act?host=b.example'")
    page.get_by_text("Only an operator's token may act.").wait_for()
    refused = page.evaluate(
        """async (token) => (await fetch("/v1/block", {method: "POST", body: '{"host": "b.example", "seconds": null}',
        headers: {Authorization: `Bearer ${token}`, "Content-Type": "application/json"}})).status""",
        given["analyst"],
    )
    assert refused == 403 and brain.host("b.example").blocked_until is None
    assert [each for each in wrong if "403" not in each] == []
    page.context.close()


def test_a_crawlers_token_is_refused(chromium: Any, url: str, given: dict[str, str]) -> None:
    page = chromium.new_page()
    page.set_default_timeout(PATIENCE * 1000)
    page.goto(f"{url}/console#token={given['crawler']}")
    page.get_by_text("A crawler's token cannot look").wait_for()
    assert page.evaluate("sessionStorage.length") == 0
    page.close()


def test_a_page_has_its_history_and_its_twins(chromium: Any, url: str, given: dict[str, str]) -> None:
    page, wrong = signed_in(chromium, url, given["analyst"])
    page.evaluate(f"location.hash = '#/page?url=' + encodeURIComponent({A + '/list?x=1'!r})")
    page.get_by_role("heading", name="Twins").wait_for()
    card = page.locator("section.card", has=page.get_by_role("heading", name="Twins"))
    assert card.locator("tbody tr").all_inner_texts() == [f"{A}/list?x=2\tbytes"]
    page.evaluate(f"location.hash = '#/page?url=' + encodeURIComponent({A + '/lost'!r})")
    page.get_by_text("failed: 410").wait_for()
    page.get_by_text("fetched for the first time").wait_for()
    assert wrong == []
    page.context.close()


def test_a_page_that_is_not_there_is_reported_once(chromium: Any, url: str, given: dict[str, str]) -> None:
    page, _ = signed_in(chromium, url, given["analyst"])
    page.clock.install()
    page.evaluate(f"location.hash = '#/page?url=' + encodeURIComponent({A + '/never-met'!r})")
    words = page.get_by_role("alert")
    words.wait_for()
    words.evaluate("element => { element.dataset.seen = 'yes'; }")
    page.clock.fast_forward(10_000)
    page.wait_for_timeout(1_000)
    assert words.get_attribute("data-seen") == "yes", "it is read out once"
    assert page.inner_text("body").count("is not in the graph") == 1
    page.context.close()


@pytest.mark.parametrize("width", [1280, 400])
def test_the_pages_of_a_group_come_first_below_each_other(
    chromium: Any, url: str, given: dict[str, str], width: int
) -> None:
    page, wrong = signed_in(chromium, url, given["analyst"], viewport={"width": width, "height": 900})
    page.evaluate("location.hash = '#/finding?title=Copies&question=duplicates'")
    page.wait_for_selector("#main table")
    first = page.locator("tbody td").first
    assert first.get_attribute("data-title") == "urls"
    boxes = [link.bounding_box() for link in first.locator("a").all()]
    assert len(boxes) == 2 and boxes[0]["x"] == boxes[1]["x"] and boxes[0]["y"] < boxes[1]["y"]
    assert wrong == []
    page.context.close()


def test_all_rows_of_a_finding_are_a_file_of_csv(chromium: Any, url: str, brain: Brain, given: dict[str, str]) -> None:
    page, wrong = signed_in(chromium, url, given["analyst"])
    for each in brain.findings():
        view(page, "findings")
        page.get_by_role("link", name=each.title, exact=True).click()
        page.wait_for_selector("#main table")
        with page.expect_download() as coming:
            page.get_by_role("button", name="CSV of all rows").click()
        rows = list(csv.reader(coming.value.path().open(encoding="utf-8", newline="")))
        answer = brain.ask(each.question, limit="all", **each.given)
        assert rows[0] == list(answer.columns) and len(rows) == len(answer.rows) + 1, each.title
    assert wrong == []
    page.context.close()


def test_a_frame_of_another_page_stays_empty(chromium: Any, url: str, tmp_path: Path) -> None:
    outer = tmp_path / "outer.html"
    outer.write_text(f'<iframe src="{url}/console"></iframe>', "utf-8")
    page = chromium.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.goto(outer.as_uri())
    eventually(lambda: any("frame-ancestors" in each or "X-Frame-Options" in each for each in said), "the refusal")
    assert all("graphbrain" not in frame.title() for frame in page.frames)
    page.close()


def test_a_foreign_name_and_a_frame_get_nothing(url: str) -> None:
    assert httpx.get(f"{url}/console", headers={"Host": "evil.example"}).status_code == 421
    answer = httpx.get(f"{url}/console")
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    assert httpx.get(f"{url}/console/nothing.js").status_code in (401, 404)
