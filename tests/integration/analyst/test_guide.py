"""The guide has every question and every property, in both forms, and is read by Browser's pages alone."""

from __future__ import annotations

import re
import threading
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields
from html.parser import HTMLParser

import pytest

from graphbrain import Brain
from graphbrain.analyst import guide
from graphbrain.analyst.dictionary import HOST, HOUR, PAGE, RESOURCE
from graphbrain.analyst.questions import question, questions
from graphbrain.frontier.claims.link_state import LinkState
from graphbrain.frontier.claims.sitemap_state import SitemapState
from graphbrain.frontier.hosts.origins import Origin
from graphbrain.graph.statements import property_names
from tests.integration.analyst.webs import crawl

ORIGIN = "http://127.0.0.1:7474"


class Runnable(HTMLParser):
    """What stands in the blocks that can be run."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "pre" and "runnable" in (dict(attrs).get("class") or ""):
            self.inside = True
            self.found.append("")

    def handle_endtag(self, tag: str) -> None:
        self.inside = self.inside and tag != "pre"

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.found[-1] += data


def test_both_forms_have_every_question_as_it_is_run() -> None:
    given = guide.files()
    html, adoc = given["guide.html"][1], given["guide.adoc"][1]
    parser = Runnable()
    parser.feed(html)
    wanted = Counter(step for each in questions() for step in each.steps())
    wanted += Counter(step for name, _ in guide.PATH for step in question(name).steps())
    assert Counter(parser.found) == wanted and all(expected for _, expected in guide.PATH)
    assert set(re.findall(r"^\[source,cypher\]\n----\n(.*?)\n----$", adoc, re.MULTILINE | re.DOTALL)) == set(
        parser.found
    )
    for each in questions():
        assert each.title in adoc and (not each.cypher or f"favourites/{each.name}.cypher" in given), each.name
    assert "<script" not in html and "Only read." in html and "Only read." in adoc


def test_the_dictionary_is_the_codes(brain: Brain) -> None:
    """What stands on nodes after a crawl is explained, and nothing is that no statement names."""
    crawl(brain)
    brain.seed(["http://unread.org/"])
    assert "robots" in {claim.kind for claim in brain.next_urls(3, kinds=("page", "robots"))}
    for label, table in (("Page", PAGE), ("Host", HOST), ("Resource", RESOURCE), ("Hour", HOUR)):
        text = f"MATCH (n:{label}) UNWIND keys(n) AS name RETURN collect(DISTINCT name)"
        names = brain.graph.read(lambda tx, t=text: tx.ask("keys", t, {})[1][0][0], "keys")
        assert set(names) <= set(table), label
    scores = {name for name, (_, meaning) in PAGE.items() if meaning.startswith("batch score")}
    resources = {each.name for kind in (Origin, SitemapState, LinkState) for each in fields(kind)}  # written as maps
    assert (set(PAGE) | set(HOST) | set(RESOURCE) | set(HOUR)) - scores - resources <= set(property_names())


@pytest.fixture
def served() -> Iterator[guide.GuideServer]:
    with guide.GuideServer(0, [ORIGIN], guide.files()) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_only_browsers_pages_may_read_it(served: guide.GuideServer) -> None:
    assert served.server_address[0] == "127.0.0.1"
    base = f"http://127.0.0.1:{served.server_address[1]}"
    for origin, allowed in ((ORIGIN, ORIGIN), ("http://evil.example", None), (None, None)):
        for method in ("GET", "HEAD", "OPTIONS"):
            headers = {"Origin": origin} if origin else {}
            asked = urllib.request.Request(f"{base}/guide.html", headers=headers, method=method)
            with urllib.request.urlopen(asked, timeout=10) as answer:
                assert answer.headers["Access-Control-Allow-Origin"] == allowed
    for path in ("/", "/../pyproject.toml", "/guide.html/x"):
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(base + path, timeout=10)
        assert refused.value.code == 404
        refused.value.close()
