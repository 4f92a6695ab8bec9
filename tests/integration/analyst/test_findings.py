"""Findings against webs that are worked out by hand, and against the rows of their own questions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise

import pytest

from graphbrain import Brain, Failed, Fetched, Link
from graphbrain.analyst.findings import ASKED, DEEP, SUMMED
from graphbrain.records import Finding
from tests.conftest import Neo4j, emptied
from tests.integration.analyst.webs import crawl

HOME, GONE, GOOD, OLD, OLDER = (f"http://a.org/{name}" for name in ("", "gone", "good", "old", "older"))
HTML = {"content_type": "text/html", "title": "t"}
GROUPS = {"duplicates", "same-titles"}
"""Questions of which a row is a group of pages: all but the best of them count."""


def authority(brain: Brain, *urls: str) -> float:
    return sum(brain.page(url).authority_score for url in urls)


def inside(brain: Brain) -> float:
    """The authority of all pages inside the scope."""
    return sum(
        page.authority_score
        for page in brain.dump_pages()
        if page.state != "outside" or page.outside_because not in (None, "scope")
    )


def paid(brain: Brain, source: str, target: str) -> float:
    return next(each.cash for each in brain.payments(target, 100).authority_payers if each.url == source)


def by_title(brain: Brain) -> dict[str, Finding]:
    return {each.title: each for each in brain.findings()}


@contextmanager
def small(neo4j: Neo4j, **settings: object) -> Iterator[Brain]:
    """Two pages link to a page that fails; one names a redirect to a redirect to a good page, and that page itself."""
    with emptied(neo4j, delay_seconds=0.0, **settings) as brain:
        brain.seed([HOME])
        brain.report(
            [
                Fetched(HOME, [GONE, GOOD, OLDER], body=b"home", size=5_000, **HTML),
                Fetched(GOOD, [GONE, HOME], body=b"good", size=10, **HTML),
                Failed(GONE, status=404),
                Fetched(OLDER, redirected_to=OLD),
                Fetched(OLD, redirected_to=GOOD),
            ]
        )
        brain.settle()
        assert brain.audit(None).ok
        yield brain


@pytest.mark.parametrize("weight", [1.0, 0.25])
def test_what_each_wastes_is_what_its_pages_hold_or_its_links_pay(neo4j: Neo4j, weight: float) -> None:
    with small(neo4j, intra_host_weight=weight) as brain:
        found, total = by_title(brain), inside(brain)
        broken = found["Links to pages that fail"]
        assert broken.count == 2
        assert broken.share == pytest.approx((paid(brain, HOME, GONE) + paid(brain, GOOD, GONE)) / total)
        failing = found["Pages that fail"]
        assert failing.count == 1 and failing.share == pytest.approx(authority(brain, GONE) / total)
        for title in ("Links that name redirects", "Links to redirects that lead to redirects"):
            assert found[title].count == 1, title
            assert found[title].share == pytest.approx(paid(brain, HOME, GOOD) / total), title
        thin = found["Thin pages"]
        assert thin.count == 1 and thin.share == pytest.approx(authority(brain, GOOD) / total)
        titles = found["Pages with the title of a better one"]
        worse = min(authority(brain, HOME), authority(brain, GOOD))
        assert titles.count == 1 and titles.share == pytest.approx(worse / total)
        assert "Pages that no page links to" not in found, "a seed needs no link"
        shares = [each.share for each in brain.findings()]
        assert shares == sorted(shares, reverse=True)


@pytest.mark.parametrize("again", [True, False])
def test_a_page_that_names_two_redirects_to_a_page_pays_what_its_links_lead_to(neo4j: Neo4j, again: bool) -> None:
    """Links that are reported again, now that their redirects are known, pay the target: once for both."""
    with emptied(neo4j, delay_seconds=0.0) as brain:
        brain.seed([HOME])
        home = Fetched(HOME, [OLD, OLDER, GOOD])
        brain.report([home])
        brain.report([Fetched(OLD, redirected_to=GONE), Fetched(OLDER, redirected_to=GONE), Failed(GONE, status=404)])
        brain.report([home] if again else [])
        brain.settle()
        payees = [GONE] if again else [OLD, OLDER]
        found, share = by_title(brain), sum(paid(brain, HOME, payee) for payee in payees) / inside(brain)
        for title in ("Links that name redirects", "Links to pages that fail"):
            assert found[title].count == 2 and found[title].share == pytest.approx(share), title
        assert "Links to redirects that lead to redirects" not in found


def test_canonicals_far_pages_and_hosts_have_their_price(neo4j: Neo4j) -> None:
    """A chain of five clicks to a page that many link to, a dead host, a slow one, and a canonical that fails."""
    far = [f"http://far.org/{click}" for click in range(6)]
    friends = [f"http://far.org/friend/{number}" for number in range(5)]
    dead, slow = "http://dead.org/", "http://slow.org/"
    with emptied(neo4j, delay_seconds=0.0, response_times=True) as brain:
        brain.seed([far[0]])
        brain.report([Fetched(page, [after], size=5_000) for page, after in pairwise(far[:5])])
        brain.report([Fetched(far[4], [*friends, far[5], dead, slow], size=5_000)])
        brain.report([Fetched(friend, [far[5], far[0]], size=5_000) for friend in friends])
        brain.report([Fetched(far[5], [far[0]], size=5_000, canonical=dead), Fetched(slow, [far[0]], seconds=3.0)])
        brain.report([Failed(dead, error="no answer")])
        brain.settle()
        found, total = by_title(brain), inside(brain)
        mean = total / brain.stats()["pages"]
        valuable = [page.url for page in brain.dump_pages() if (page.clicks or 0) >= 4 and page.authority_score >= mean]
        assert far[5] in valuable
        for title, pages in {
            "Valuable pages far from the seeds": valuable,
            "Hosts most of whose pages fail": [dead],
            "Hosts that answer slowly": [slow],
            "Canonicals that can do harm": [far[5]],
        }.items():
            assert found[title].count == len(pages), title
            assert found[title].share == pytest.approx(authority(brain, *pages) / total), title


def test_the_rows_of_a_finding_are_what_it_counts(neo4j: Neo4j) -> None:
    counts = {kind.title: kind.counts for kind in (*SUMMED.values(), DEEP, *ASKED)}
    with emptied(neo4j, delay_seconds=0.0) as brain:
        crawl(brain)
        brain.report(
            [
                Fetched("http://c.example/", [Link("http://a.example/old", anchor="old"), "http://a.example/private"]),
                Fetched("http://f.example/", ["http://a.example/one"], size=3, content_type="text/html"),
            ]
        )
        found = brain.findings()
        assert len(found) >= 12
        for each in found:
            answer = brain.ask(each.question, limit="all", **each.given)
            column = "pages" if each.question in GROUPS else counts[each.title]
            numbers = answer.column(column) if column else [1] * len(answer.rows)
            less = len(numbers) if each.question in GROUPS else 0
            assert sum(numbers) - less == each.count, each.title
            assert 0 <= each.share <= 1, each.title


def test_all_pages_of_a_group_can_be_had(neo4j: Neo4j) -> None:
    pages = [f"http://a.org/{number}" for number in range(9)]
    with emptied(neo4j, delay_seconds=0.0) as brain:
        brain.seed(pages)
        brain.report([Fetched(page, (), body=b"same", **HTML) for page in pages])
        for question, column in (("duplicates", "urls"), ("same-titles", "such_as")):
            assert len(brain.ask(question).column(column)[0]) < len(pages)
            assert sorted(brain.ask(question, each="all").column(column)[0]) == pages
