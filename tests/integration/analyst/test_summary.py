"""The summary of a crawl that is known by hand: its figures are right, and what the web says is only ever text."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from graphbrain import Brain
from graphbrain.analyst import summary
from tests.integration.analyst.webs import crawl, hostile

VOID = {"meta", "br"}


class Checked(HTMLParser):
    """Elements as they open and close; the texts of cells; where links lead."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.attributes: set[str] = set()
        self.links: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links += [value or "" for name, value in attrs if name == "href"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_a_summary_tells_what_is_there(brain: Brain) -> None:
    crawl(brain)
    steps: list[tuple[int, int]] = []
    html = summary.page(brain.graph, brain.now(), progress=lambda done, total: steps.append((done, total)))
    checked = Checked()
    checked.feed(html)
    assert not checked.open and steps and steps[-1][0] == steps[-1][1]
    stats = brain.stats()
    figures = dict(re.findall(r"<dt>([^<]+)</dt><dd>([^<]+)</dd>", html))
    assert figures == {
        "pages": "17",
        "answer": "9",
        "redirect": "2",
        "fail": "3",
        "not fetched yet": "2",
        "forbidden by robots.txt": "1",
        "hosts": "5",
        "links": f"{stats['links']}",
        "copies of other pages": "1",
        "pages outside the scope": "1",
    }
    assert (stats["pages"], stats["outside_pages"], stats["hosts"]) == (17, 1, 5), "the same in all places"
    assert html.count("<svg") == html.count("<details>") >= 10
    for words in ("Gini coefficient", "a.example", "HTTP 404", "Hosts and the links between them"):
        assert words in html
    assert "http://a.example/broken" in checked.links


def test_what_the_web_says_is_only_text(brain: Brain) -> None:
    crawl(brain)
    hostile(brain)
    html = summary.page(brain.graph, brain.now())
    checked = Checked()
    checked.feed(html)
    assert not checked.seen & {"script", "img", "iframe", "object", "form"}
    assert not {name for name in checked.attributes if name.startswith("on")}
    assert all(re.match(r"https?://|#", link) for link in checked.links)
    assert "\u202e" not in html and "\x1b" not in html
    assert "alert(2)" in "".join(checked.text)
    assert "default-src 'none'" in html and not {"src", "srcset", "style"} & checked.attributes
    assert set(re.findall(r"url\([^)]*\)", html)) <= {f"url(#{name}-hatch)" for name in ("days", "depths", "failed")}


def test_a_brain_without_pages_has_a_summary(brain: Brain) -> None:
    checked = Checked()
    checked.feed(summary.page(brain.graph, brain.now(), since=brain.now() - 86_400))
    assert not checked.open and "Nothing." in checked.text
