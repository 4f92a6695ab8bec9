"""Fifty forms of redirects, crawled by all crawlers: questions answer what the web was made of."""

from __future__ import annotations

from collections.abc import Callable
from urllib.request import build_opener

import pytest

from graphbrain import Brain, Hint
from graphbrain.analyst.questions import ask
from graphbrain.client import Client
from graphbrain.demo.crawler import FollowedRedirects, TemporaryRedirects, crawl, fetch
from graphbrain.demo.web import through
from tests.acceptance.listening import answering
from tests.acceptance.redirect_web import HOST, Forms, Row
from tests.acceptance.spiders import crawled
from tests.acceptance.test_crawl import crawl as run_crawl
from tests.plugin import Neo4j, emptied
from tests.serving import serving, tokens

Crawler = Callable[[Brain, str, Neo4j], None]


def by_demo(brain: Brain, proxy: str, _neo4j: Neo4j) -> None:
    crawl(brain, handlers=[through(proxy)], patience=5.0)


def by_http(brain: Brain, proxy: str, _neo4j: Neo4j) -> None:
    """A crawler of the service: it fetches as the crawler to copy does, whose loop is for a brain at hand."""
    opener = build_opener(TemporaryRedirects, FollowedRedirects, through(proxy))
    with serving(brain) as address, Client(address, token=tokens(brain)["crawler"]) as client:
        while claims := client.next_urls(50):
            client.report([fetch(opener, claim) for claim in claims])


def by_crawl(_brain: Brain, proxy: str, neo4j: Neo4j) -> None:
    done = run_crawl(neo4j, proxy, "--no-contact", "--delay", "0")
    assert done.returncode == 0, done.stderr[-2_000:]


def by_scrapy(_brain: Brain, proxy: str, neo4j: Neo4j) -> None:
    crawled(neo4j, proxy, f"{HOST}/")


def said(brain: Brain, name: str, *columns: str) -> set[Row]:
    answer = ask(brain.graph, name, limit="all")
    cells = zip(*map(answer.column, columns), strict=True)
    return {tuple(tuple(cell) if isinstance(cell, list) else cell for cell in row) for row in cells}


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("crawler", [by_demo, by_http, by_crawl, by_scrapy])
def test_questions_count_right_across_redirects_whoever_crawls(neo4j: Neo4j, crawler: Crawler, seed: int) -> None:
    web = Forms.drawn(seed, jar=crawler in (by_crawl, by_scrapy))
    with (
        emptied(neo4j, delay_seconds=0.0, allow_hosts="forms.example other.example") as brain,
        answering(lambda url, _sent, cookies: web.answer(url, cookies)) as proxy,
    ):
        brain.seed([f"{HOST}/"])
        brain.hint([Hint(url, kind="sitemap", at=0.0) for url in web.listed])
        crawler(brain, proxy, neo4j)
        brain.tend(None)
        assert brain.audit(None).ok
        pages = {page.url: page for page in brain.dump_pages()}
        asked = {
            "states": {url: page.state for url, page in pages.items()},
            "in_links": {url: page.in_links for url, page in pages.items() if page.state != "alias"},
            "clicks": {url: page.clicks for url, page in pages.items() if page.clicks is not None},
            "broken-links": said(brain, "broken-links", "on", "names"),
            "links-to-redirects": said(brain, "links-to-redirects", "on", "names", "steps", "to", "way"),
            "redirect-chains": said(brain, "redirect-chains", "chain", "circle"),
            "redirects": said(brain, "redirects", "from", "to", "named"),
            "orphans": {url for (url,) in said(brain, "orphans", "url")},
            "sitemap-coverage": said(brain, "sitemap-coverage", "in_sitemap", "redirecting"),
            "sitemap-entries": sum(
                "redirect" in str(row[0]) for row in said(brain, "sitemap-entries", "problem", "url")
            ),
        }
    expected = {
        "states": web.states(),
        "in_links": web.in_links(),
        "clicks": web.clicks(),
        "broken-links": web.broken_links(),
        "links-to-redirects": web.links_to_redirects(),
        "redirect-chains": web.chains(),
        "redirects": web.redirects(),
        "orphans": web.orphans(),
        "sitemap-coverage": {web.coverage()},
        "sitemap-entries": web.coverage()[1],
    }
    for name, wanted in expected.items():
        assert asked[name] == wanted, name
