"""A web with planted faults, crawled by both crawlers, twice: the graph knows of each page what it says of itself."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from graphbrain import Brain
from graphbrain.analyst.questions import ask
from graphbrain.demo.crawler import crawl
from graphbrain.demo.web import through
from tests.acceptance.planted_web import (
    COPIED,
    COPIES,
    FACTS,
    GONE,
    HOST,
    LEADING,
    LOST,
    SLOW,
    SLOWNESS,
    Planted,
    planted,
)
from tests.acceptance.spiders import crawled
from tests.plugin import Neo4j, emptied
from tests.verbs import neighbours


def by_demo(brain: Brain, web: Planted, _neo4j: Neo4j) -> None:
    crawl(brain, handlers=[through(web.proxy)], patience=5.0)


def by_scrapy(_brain: Brain, web: Planted, neo4j: Neo4j) -> None:
    crawled(neo4j, web.proxy, f"{HOST}/")


def copies_found(brain: Brain, question: str) -> set[frozenset[str]]:
    """The groups that a question finds, of which a page is on the host of copies."""
    groups = {frozenset(urls) for urls in ask(brain.graph, question, limit="all").column("urls")}
    return {group for group in groups if any(url.startswith(COPIES) for url in group)}


@pytest.mark.long
@pytest.mark.parametrize("crawler", [pytest.param(by_demo, marks=pytest.mark.nightly), by_scrapy])
def test_what_pages_say_is_known_whoever_crawls(neo4j: Neo4j, crawler: Callable[[Brain, Planted, Neo4j], None]) -> None:
    with (
        emptied(neo4j, delay_seconds=0.0, allow_hosts="planted.example slow.example copies.example") as brain,
        planted() as web,
    ):
        brain.seed([f"{HOST}/"])
        crawler(brain, web, neo4j)
        pages = {page.url: page for page in brain.dump_pages()}
        wrong = {
            (url, name): (getattr(pages[url], name), wanted)
            for url, facts in FACTS.items()
            for name, wanted in facts.items()
            if getattr(pages[url], name) != wanted
        }
        # The crawler to copy obeys; what a spider of one's own follows is its author's affair.
        asked = [pages[f"{HOST}/robots/{name}"] for name in ("nofollow", "nofollow-header")]
        assert [page.out_links for page in asked] == ([0, 0] if crawler is by_demo else [1, 1])
        assert not wrong
        assert {url for url, page in pages.items() if page.state == "frontier"} == {
            f"{HOST}/{path}" for path in (*GONE, *LOST)
        }
        broken = ask(brain.graph, "broken-links")
        said = dict(zip(broken.column("names"), broken.column("text"), strict=True))
        assert said == {f"{HOST}/{path}": f"to /{path}" for path in (*GONE, *LOST, *LEADING)}
        timed = ask(brain.graph, "slow-hosts")
        host, seconds = timed.columns.index("host"), timed.columns.index("seconds")
        assert timed.rows[0][host] == SLOW.removeprefix("http://") and timed.rows[0][seconds] >= SLOWNESS
        for question, groups in COPIED.items():
            assert copies_found(brain, question) == groups, question
        refresh = neighbours(brain, f"{HOST}/refresh")[0]
        assert f"{HOST}/final" in refresh, "a refresh is a link"
        # In the second phase a page is away, in the third it is back.
        for phase in (2, 1):
            web.phase = phase
            brain.retry(f"{HOST}/flickers")
            brain.crawl_now([f"{HOST}/flickers"])
            crawler(brain, web, neo4j)
        told = ask(brain.graph, "flickering-pages")
        assert [(row[told.columns.index("states")], row[-1]) for row in told.rows] == [
            ("known, failing, known", f"{HOST}/flickers")
        ]
