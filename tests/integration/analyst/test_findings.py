"""Findings against a web that is worked out by hand."""

from __future__ import annotations

import pytest

from graphbrain import Brain, Failed, Fetched
from tests.conftest import Neo4j, emptied

HOME, GONE, GOOD, OLD, OLDER = (f"http://a.org/{name}" for name in ("", "gone", "good", "old", "older"))


def authority(brain: Brain, url: str) -> float:
    return brain.page(url).authority_score


def paid(brain: Brain, source: str, target: str) -> float:
    return next(each.cash for each in brain.payments(target, 100).authority_payers if each.url == source)


def test_what_each_wastes_is_what_its_pages_hold_or_its_links_pay(neo4j: Neo4j) -> None:
    """Two pages link to a page that fails; one names a redirect to a redirect to a good page."""
    with emptied(neo4j, delay_seconds=0.0, intra_host_weight=1.0) as brain:
        brain.seed([HOME])
        html = {"content_type": "text/html", "title": "t"}
        brain.report(
            [
                Fetched(HOME, [GONE, GOOD, OLDER], body=b"home", size=5_000, **html),
                Fetched(GOOD, [GONE, HOME], body=b"good", size=10, **html),
                Failed(GONE, status=404),
                Fetched(OLDER, redirected_to=OLD),
                Fetched(OLD, redirected_to=GOOD),
            ]
        )
        brain.settle()
        found = {each.title: each for each in brain.findings()}
        assert brain.audit(None).ok
        total = sum(page.authority_score for page in brain.dump_pages())
        broken = found["Links to pages that fail"]
        assert broken.count == 2 and broken.share == pytest.approx(
            (paid(brain, HOME, GONE) + paid(brain, GOOD, GONE)) / total, rel=1e-3
        )
        failing = found["Pages that fail"]
        assert failing.count == 1 and failing.share == pytest.approx(authority(brain, GONE) / total)
        for title in ("Links that name redirects", "Links to redirects that lead to redirects"):
            assert found[title].count == 1, title
            assert 0 < found[title].share <= broken.share
        thin = found["Thin pages"]
        assert thin.count == 1 and thin.share == pytest.approx(authority(brain, GOOD) / total)
        titles = found["Pages with the title of a better one"]
        worse = min(authority(brain, HOME), authority(brain, GOOD))
        assert titles.count == 1 and titles.share == pytest.approx(worse / total)
        assert "Pages that no page links to" not in found, "a seed needs no link"
        for each in found.values():
            assert brain.ask(each.question, **each.given).rows, each.title
        shares = [each.share for each in brain.findings()]
        assert shares == sorted(shares, reverse=True)
