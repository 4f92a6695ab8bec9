"""Findings against webs that are worked out by hand, and against the rows of their own questions."""

from __future__ import annotations

import random
import string
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import pytest

from graphbrain import Brain, Failed, Fetched, Hint, Link, Resource
from graphbrain.analyst.findings import ASKED, DEEP, NEAR, ORPHANS, POOR, SITEMAPS, SUMMED, UNFIT
from graphbrain.base.records import Finding
from tests.integration.analyst.webs import MISSING, crawl
from tests.plugin import Neo4j, emptied

HOME, GONE, GOOD, OLD, OLDER = (f"http://a.org/{name}" for name in ("", "gone", "good", "old", "older"))
HTML = {"content_type": "text/html", "title": "t"}
KINDS = (*SUMMED.values(), DEEP, NEAR, ORPHANS, UNFIT, SITEMAPS, POOR, *ASKED)
GROUPS = {"duplicates", "near-duplicates", "same-titles"}
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
                Fetched(HOME, [GONE, GOOD, OLDER], body=b"home", size=5_000, words=100, **HTML),
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
            if each.question == "sections":  # those of its pages that fail or redirect are other faults
                assert 0 < each.count <= sum(answer.column("pages"))
                continue
            numbers = answer.column("pages") if each.question in GROUPS else [1] * len(answer.rows)
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


# ------------------------------------------------------------------ a web whose sums are worked out by hand

WEB: dict[str, list[str]] = {
    "a/": ["a/one", "a/two", "a/three", "a/gone", "a/sale"],
    "a/one": ["a/", "a/gone", "a/old", "a/hidden", "a/copy", "a/copied", "a/canon"],
    "a/two": ["a/", "a/private", "a/for-now", "a/thin", "a/untitled", "a/soft"],
    "a/three": ["a/", "a/steps/2", "a/secure", "slow/", "dead/", "trap/0", "outside/lost"],
    "a/steps/2": ["a/steps/3"],
    "a/steps/3": ["a/steps/4"],
    "a/good": ["a/tea/1", "a/tea/2", "a/near/1", "a/near/2", "a/copied"],
    "a/soft": ["a/tea/1", "a/near/1"],
    "a/orphan": ["a/steps/4"],
    "slow/": ["a/"],
    "trap/0": ["trap/1"],
    **{f"trap/{order}": [f"trap/{order + 1}", "a/steps/4"] for order in range(1, 6)},
    "trap/6": ["a/steps/4"],
}
"""The links of pages. a/sale redirects to a/offer, and that, like a/old, to a/good."""
LINKLESS = (
    "secure",
    "hidden",
    "copy",
    "copied",
    "canon",
    "thin",
    "untitled",
    "steps/4",
    "tea/1",
    "tea/2",
    "near/1",
    "near/2",
)
OWN, INSIDE, ACROSS = 36, 38, 10
"""Pages inside the scope, links inside hosts (a/for-now leads to a/good, aliases have none), and links between hosts
inside the scope."""
COSTS: dict[str, tuple[int, int, int, int, int]] = {
    "Pages that fail": (2, 2, 2, 1, 0),  # a/gone of / and one; dead/ of three
    "Links to pages that fail": (4, 0, 2, 1, 1),  # those, and outside/lost of three
    "Links that name redirects": (2, 0, 2, 0, 0),  # / names sale, one names old: both pay a/good
    "Links to redirects that lead to redirects": (1, 0, 1, 0, 0),  # sale
    "Pages that lead elsewhere for now": (1, 1, 1, 0, 0),  # a/for-now of two
    "Copies of other pages": (1, 1, 1, 0, 0),  # a/copy of one; a/copied has two links
    "Pages with nearly the text of a better one": (2, 2, 2, 0, 0),  # a/copy of one, a/near/2 of good
    "Linked pages that robots.txt forbids": (1, 1, 1, 0, 0),  # a/private of two
    "Pages that ask not to be found": (1, 1, 1, 0, 0),  # a/hidden of one
    "Pages with the title of a better one": (1, 1, 1, 0, 0),  # a/tea/2 of good; a/tea/1 has two links
    "Thin pages": (2, 2, 2, 0, 0),  # a/thin, and a/soft by its words, of two
    "Pages that search engines cannot index": (16, 16, 13, 1, 0),  # a/private, a/hidden, a/canon, a/soft of one or two,
    # a/gone of / and one, dead/ of three, a/for-now of two, three aliases, trap/1 to trap/6
    "Faults of sitemaps": (17, 17, 25, 7, 0),  # all others of a.org but a/orphan, which is listed
    "Pages without a description": (1, 1, 1, 0, 0),  # a/copy of one
    "Pages without a heading": (1, 1, 1, 0, 0),  # a/hidden of one
    "Slow pages": (1, 1, 0, 1, 0),  # slow/ of three
    "Pages with images without alternative text": (1, 1, 1, 0, 0),  # a/thin of two
    "Pages of https that load files by http": (1, 1, 1, 0, 0),  # a/secure of three
    "Pages with JSON-LD that cannot be parsed": (1, 1, 1, 0, 0),  # a/tea/2 of good
    "Versions in other languages that are of no use": (1, 1, 2, 0, 0),  # a/near/1 of good and soft
    "Pages with several canonicals, or one in the body": (1, 1, 1, 0, 0),  # a/untitled of two
    "Pages that no page links to": (1, 1, 0, 0, 0),  # a/orphan
    "Pages without a title": (1, 1, 1, 0, 0),  # a/untitled of two
    "Valuable pages far from the seeds": (1, 1, 2, 6, 0),  # a/steps/4 of steps/3 and orphan, and of trap/1 to trap/6
    "Canonicals that can do harm": (1, 1, 1, 0, 0),  # a/canon of one
    "Pages that look like the host's own 404": (1, 1, 1, 0, 0),  # a/soft of two
    "Hosts most of whose pages fail": (1, 1, 0, 1, 0),  # dead/ of three
    "Hosts that answer slowly": (1, 1, 0, 1, 0),  # slow/ of three
    "Pages of sections that bring little new": (6, 6, 6, 0, 0),  # trap/1 to trap/6 of the page before; trap/0 was new
}
"""Of each finding: its count; the pages, links inside hosts, links between hosts and links out of the scope of its sum.

No page has more links on a side than 19, so that an alpha of .05 binds nowhere: each link pays its weight, and a page
has an authority of 1 and the weights of the links to it (docs/explanation/scores.md).
"""


def url_of(name: str) -> str:
    host, _, path = name.partition("/")
    return f"{'https' if name == 'a/secure' else 'http'}://{host}.org/{path}"


def text_of(name: str) -> str:
    """Return 120 words that no other page has."""
    dice = random.Random(name)
    return " ".join("".join(dice.choices(string.ascii_lowercase, k=7)) for _ in range(120))


def fetched(name: str, text: str | None = None, **facts: Any) -> Fetched:
    body = f"<!doctype html><p>{text_of(name) if text is None else text}".encode()
    links = [url_of(link) for link in WEB.get(name, ())]
    said = {"body": body, "title": name, "size": 5_000, "content_type": "text/html"}
    return Fetched(url_of(name), links, **{**said, **facts})


def plant(brain: Brain) -> None:
    """Report the web, with a fault of each kind."""
    near = text_of("near").split()
    told = {
        "a/copy": {"text": text_of("copied"), "descriptions": ()},
        "a/secure": {"requisites": ["script http://a.org/s.js"]},
        "a/copied": {"text": text_of("copied")},
        "a/near/1": {"text": " ".join(near), "hreflang": [f"xx {url_of('a/near/1')}"]},
        "a/near/2": {"text": " ".join([*near[:3], "other", *near[4:]])},
        "a/hidden": {"noindex": True, "h1": ()},
        "a/canon": {"canonical": url_of("a/gone")},
        "a/thin": {"size": 10, "requisites": ["image http://a.org/x.png"]},
        "a/untitled": {"title": None, "canonicals": ["head x", "header y"]},
        "a/soft": {"text": MISSING},
        "a/tea/1": {"title": "Tea"},
        "a/tea/2": {"title": "Tea", "structured": ["invalid json-ld"]},
        "slow/": {"seconds": 3.0},
        **{f"trap/{order}": {"canonical": url_of("trap/0")} for order in range(1, 7)},
    }
    brain.seed([url_of("a/")])
    brain.set_robots("a.org", "User-agent: *\nDisallow: /private")
    brain.hint([Hint(url_of("a/orphan"), kind="sitemap")])
    names = [*WEB, *(f"a/{path}" for path in LINKLESS)]
    answers = brain.report(
        [
            *(fetched(name, **told.get(name, {})) for name in names),
            Fetched(url_of("a/for-now"), status=302, led_to=(url_of("a/good"),)),
            Fetched(url_of("a/sale"), redirected_to=url_of("a/offer")),
            Fetched(url_of("a/offer"), redirected_to=url_of("a/good")),
            Fetched(url_of("a/old"), redirected_to=url_of("a/good")),
            Failed(url_of("a/gone"), status=404, body=f"<!doctype html><p>{MISSING}".encode()),
            Failed(url_of("dead/"), error="no answer"),
        ]
    )
    assert all(answer.accepted for answer in answers), answers
    assert brain.check_links() == 1
    for _ in range(2):  # by HEAD and by GET
        (check,) = brain.next_urls(9, kinds=("page", "link"))
        brain.report([Resource(check.url, check, 404)])
    brain.tend(None)
    if brain.settings.engine == "exact":
        brain.settle()


@pytest.mark.parametrize("weight", [1.0, 0.25])
def test_each_finding_costs_what_is_worked_out_by_hand(neo4j: Neo4j, weight: float) -> None:
    settings = {"intra_host_weight": weight, "alpha": 0.05, "response_times": True, "deny_hosts": "outside.org"}
    with emptied(neo4j, delay_seconds=0.0, **settings) as brain:
        plant(brain)
        assert brain.audit(None).ok
        total = OWN + INSIDE * weight + ACROSS
        assert inside(brain) == pytest.approx(total)
        found = by_title(brain)
        assert found.keys() == COSTS.keys() == {kind.title for kind in KINDS}
        for title, (count, own, within, between, leaving) in COSTS.items():
            share = (own + within * weight + between + leaving) / (total + leaving)
            assert found[title].count == count, title
            assert found[title].share == pytest.approx(share, rel=1e-5), title
        # So do the rows: dead/ and outside/lost are linked from another host.
        assert brain.ask("broken-links").column("paid") == pytest.approx([1.0, 1.0, weight, weight], rel=1e-5)
        assert brain.ask("links-to-redirects").column("paid") == pytest.approx([weight, weight], rel=1e-5)


def test_pages_that_have_left_the_scope_cost_nothing(neo4j: Neo4j) -> None:
    """All of a.org leaves the scope, but for its three aliases. Its links still pay."""
    with emptied(neo4j, delay_seconds=0.0, alpha=0.05, response_times=True, deny_hosts="outside.org") as brain:
        plant(brain)
        brain.change(deny_hosts="outside.org a.org")
        brain.tend(None)
        brain.settle()
        # dead/, slow/ and trap/0 to trap/6 have one link each.
        total = 3 + 9 * 2
        assert inside(brain) == pytest.approx(total)
        paid_out = {
            "Links to pages that fail": (4, 3),  # one to dead/, two to a/gone, one to outside/lost
            "Links that name redirects": (2, 2),
            "Links to redirects that lead to redirects": (1, 1),
        }
        held = {
            "Pages that fail": 2,  # dead/
            "Pages that search engines cannot index": 17,  # dead/, trap/1 to trap/6, and the aliases
            "Hosts most of whose pages fail": 2,
            "Hosts that answer slowly": 2,
            "Slow pages": 2,
            "Pages of sections that bring little new": 12,
            "Valuable pages far from the seeds": 10,  # trap/2 to trap/6: the mean is 1.75 now
        }
        found = by_title(brain)
        assert "Pages that no page links to" not in found, "who links to pages outside is not known"
        assert brain.ask("orphans").rows == []
        for title, each in found.items():
            paid, leaving = paid_out.get(title, (held.get(title, 0), 0))
            assert each.share == pytest.approx(paid / (total + leaving), rel=1e-5), title


def test_links_out_of_the_scope_waste_no_more_than_all(brain: Brain) -> None:
    lost = [f"http://outside.org/{number}" for number in range(20)]
    brain.change(deny_hosts="outside.org")
    brain.seed([HOME])
    brain.report([Fetched(HOME, lost)])
    assert brain.check_links() == len(lost)
    for _ in range(2):  # by HEAD and by GET
        brain.report([Resource(claim.url, claim, 404) for claim in brain.next_urls(99, kinds=("page", "link"))])
    brain.settle()
    broken = by_title(brain)["Links to pages that fail"]
    out = sum(paid(brain, HOME, page) for page in lost)
    assert broken.count == len(lost) and out > authority(brain, HOME) == pytest.approx(1.0)
    assert broken.share == pytest.approx(out / (1.0 + out))


def test_the_classic_engine_counts_findings_without_a_share(neo4j: Neo4j) -> None:
    with emptied(neo4j, delay_seconds=0.0, engine="classic", response_times=True, deny_hosts="outside.org") as brain:
        plant(brain)
        found = brain.findings()
        assert {each.title: each.count for each in found} == {title: numbers[0] for title, numbers in COSTS.items()}
        assert {each.share for each in found} == {None}
        counts = [each.count for each in found[:-1]]
        assert counts == sorted(counts, reverse=True)
        assert found[-1].question == "sections", "the estimate is the last one"
        assert "it is not known here" in brain.summary()
