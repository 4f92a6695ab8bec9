"""Looking at the graph: why a score, links, paths, finds and dumps, against a web drawn by hand and real crawls."""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import networkx
import pytest

from graphbrain import Brain, Failed, Fetched, Hint, Link, Page
from graphbrain.analyst.inspect import scan
from graphbrain.base.errors import BadInput, UnknownPage
from graphbrain.base.numeric.methods import SCORES
from graphbrain.base.urls.normalization import key_of, spell
from graphbrain.cli.sheets import next_visit
from tests.integration.conftest import START, HandClock
from tests.recordings import Recordings, links_of, web_of
from tests.verbs import neighbours, top_of

MakeBrain = Callable[..., Brain]

A, B, C, D = "http://a.org/", "http://b.org/", "http://c.org/", "http://d.org/x"
STRANGER = "http://stranger.org/"


@pytest.fixture
def drawn(brain: Brain, clock: HandClock) -> Brain:
    """The seed A links to B and C; a second later B to C, and D, which nobody links to, to A. All cash is pushed."""
    brain.seed([A])
    brain.report([Fetched(A, [B, C])])
    clock.pass_(1.0)
    brain.report([Fetched(B, [C]), Fetched(D, [A])])
    brain.tend(None)
    return brain


def few_ids(drawn: Brain) -> int:
    """So many ids at a time that a pass over all takes some ranges, however high ids are on this server."""
    return max(drawn.page(url).id for url in (A, B, C, D)) // 5 + 1


# ---------------------------------------------------------------- when it is visited next


def test_a_page_says_when_it_is_visited_next_and_why(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(allow_hosts="*.org", lease_seconds=600.0)

    def said(url: str) -> str:
        return ": ".join(next_visit(brain.page(url), clock()))

    brain.seed([A, B, C])
    assert said(A).startswith("its first, in its turn")
    claims = {claim.url: claim for claim in brain.next_urls(3)}
    assert said(A).endswith(f"{brain.settings.worker} fetches it")
    clock.pass_(601.0)
    assert "fetches it" not in said(A)
    brain.report([Fetched(A, ["http://other.com/"], claims[A]), Failed(B, claims[B], 500)])
    assert said("http://other.com/") == "none: it is outside the scope"
    assert "its last visit failed" in said(B)
    brain.report([Fetched(C, redirected_to=A)])
    assert "it redirects, and is looked at again then" in said(C)
    brain.set_page(A, interval=7_200.0)
    assert "it comes once in 0.08" in said(A) and "by its interval" in said(A)
    clock.pass_(9_000.0)
    assert said(A).startswith("now, in its turn")
    brain.park(A)
    assert "it was given up" in said(A)


# ---------------------------------------------------------------- why a score


def random_web(brain: Brain, pages: int = 40) -> list[str]:
    """Pages of five hosts that link at random, and whose cash has been pushed."""
    dice = random.Random(7)
    urls = [f"http://h{n % 5}.org/{n}" for n in range(pages)]
    brain.report([Fetched(url, dice.sample(urls, dice.randrange(12))) for url in urls])
    brain.set_page(urls[3], payout=4.0)
    brain.tend(None)
    return urls


@pytest.mark.parametrize("weight", [1.0, 0.25])
def test_payout_and_payers_make_the_score(make_brain: MakeBrain, weight: float) -> None:
    brain = make_brain(intra_host_weight=weight)
    for url in random_web(brain):
        page, paid = brain.page(url), brain.payments(url, 100)
        payout = 1.0 if page.payout is None else page.payout
        assert len(paid.hub_payers) == len(paid.hub_payees) == page.out_links
        assert len(paid.authority_payers) == len(paid.authority_payees) == page.in_links
        for score, payers in ((page.hub_score, paid.hub_payers), (page.authority_score, paid.authority_payers)):
            assert payout + sum(each.cash for each in payers) == pytest.approx(score, rel=1e-12)
            assert all(each.share == pytest.approx(each.cash / score) for each in payers)


def test_what_a_payee_gets_is_what_its_payer_gives(make_brain: MakeBrain) -> None:
    brain = make_brain(intra_host_weight=0.5)
    paid = {url: brain.payments(url, 100) for url in random_web(brain)}
    given = {(url, each.url): each for url in paid for each in paid[url].hub_payees}
    taken = {(each.url, url): each for url in paid for each in paid[url].authority_payers}
    assert len(given) > 100
    assert {pair: (each.cash, each.share) for pair, each in given.items()} == {
        pair: (each.cash, each.share) for pair, each in taken.items()
    }
    back = {(url, each.url): each.cash for url in paid for each in paid[url].authority_payees}
    assert back == {(each.url, url): each.cash for url in paid for each in paid[url].hub_payers}


def test_the_largest_come_first_and_no_more_than_asked(make_brain: MakeBrain) -> None:
    brain = make_brain(intra_host_weight=0.5)
    for url in random_web(brain):
        whole, some = brain.payments(url, 100), brain.payments(key_of(url), 3)
        for all_of_them, few in zip(whole.as_dict().values(), some.as_dict().values(), strict=True):
            assert few == all_of_them[:3]
            assert [each["cash"] for each in all_of_them] == sorted((e["cash"] for e in all_of_them), reverse=True)
        payees = [(-each.cash, -(each.share or 0)) for each in whole.authority_payees]
        assert payees == sorted(payees), "of those who get the same, those who live on it come first"


def test_a_page_without_links_has_no_payers(brain: Brain) -> None:
    brain.seed([A])
    assert not any(brain.payments(A).as_dict().values())


# ---------------------------------------------------------------- links


def test_links_go_both_ways_with_their_day(drawn: Brain) -> None:
    page = drawn.page(C)
    assert [(link.url, link.since) for link in drawn.links(A)] == [(C, START), (B, START)], "the best authority first"
    (first, second) = drawn.links(C, "in")
    assert {(link.url, link.since) for link in (first, second)} == {(A, START), (B, START + 1)}
    assert first.hub_score >= second.hub_score
    (found,) = drawn.links(key_of(B))
    assert found.as_dict() == {
        **{name: getattr(page, name) for name in ("url", "key", "state", "depth", "hub_score", "authority_score")},
        "since": START + 1,
        **dict.fromkeys(("named", "anchor", "rel")),
    }


def test_no_more_links_than_asked(drawn: Brain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "PAGES_AT_ONCE", 1)
    assert [link.url for link in drawn.links(A, "out", 1)] == [C]
    assert not list(drawn.links(A, "out", 0))
    assert len(list(drawn.links(C, "in"))) == 2


# ---------------------------------------------------------------- paths


def test_a_path_has_both_ends_and_the_days_of_its_links(drawn: Brain) -> None:
    steps = drawn.path(D, key_of(C))
    assert [(step.url, step.since) for step in steps] == [(D, None), (A, START + 1), (C, START)]
    assert drawn.path(C, D) == []
    assert [step.url for step in drawn.path(B, B)] == [B]


def test_a_path_with_one_end_comes_from_a_seed(drawn: Brain) -> None:
    assert [step.url for step in drawn.path(C)] == [A, C]
    assert [step.url for step in drawn.path(A)] == [A]
    assert drawn.path(D) == []


def test_shortest_paths_are_as_long_as_networkx_says(brain: Brain) -> None:
    urls = random_web(brain, 60)
    brain.seed(urls[:2])
    web = networkx.DiGraph([(url, link.url) for url in urls for link in brain.links(url)])
    for a, b in zip(urls[5:], urls[7:], strict=False):
        steps = [step.url for step in brain.path(a, b)]
        assert all(web.has_edge(*pair) for pair in pairwise(steps))
        assert len(steps) == (networkx.shortest_path_length(web, a, b) + 1 if networkx.has_path(web, a, b) else 0)
        from_seed = [networkx.shortest_path_length(web, s, b) for s in urls[:2] if networkx.has_path(web, s, b)]
        assert len(brain.path(b)) == min(from_seed, default=-1) + 1


# ---------------------------------------------------------------- finds


def urls_of(found: Any) -> list[str]:
    return [page.url for page in found]


@pytest.mark.parametrize(
    ("text", "criteria", "found"),
    [
        ("org", {}, [A, B, C, D]),
        ("a.", {}, [A]),
        ("", {"host": "d.org"}, [D]),
        ("", {"host": "D.org", "fetched": False}, []),
        ("x", {"host": "a.org"}, []),
        ("", {"regex": r"/[bc]\.|x$"}, [B, C, D]),
        ("d.", {"regex": r"/[bc]\.|x$"}, [D]),
        ("", {"state": "known"}, [A, B, D]),
        ("", {"state": "gone"}, []),
        ("", {"fetched": False}, [C]),
        ("", {"fetched": True, "state": "frontier"}, []),
        ("", {"min_score": 2.05, "by": "hub"}, [A]),
        ("", {"min_score": 2.05, "by": "hub", "host": "b.org"}, []),
        ("", {"min_score": 100.0}, []),
    ],
    ids=str,
)
def test_pages_are_found_by_all_that_is_given(
    drawn: Brain, monkeypatch: pytest.MonkeyPatch, text: str, criteria: dict[str, Any], found: list[str]
) -> None:
    assert set(urls_of(drawn.find(text, **criteria))) == set(found)
    monkeypatch.setattr(scan, "SCAN_IDS", few_ids(drawn))
    monkeypatch.setattr(scan, "HOST_PAGES", 1)
    assert sorted(urls_of(drawn.find(text, **criteria))) == sorted(found), "in small ranges, without the host's index"


def test_from_a_rank_on_the_best_come_first(brain: Brain) -> None:
    hubs = [f"http://hub{n}.org/" for n in range(120)]
    brain.report([Fetched(url, [A, B, *([C] if n < 80 else ()), D]) for n, url in enumerate(hubs)])
    brain.tend(None)
    everything = {page.url: page for page in brain.find("org")}
    best = sorted((page.authority_score for page in everything.values() if page.authority_score >= 33), reverse=True)
    assert len(best) == 4
    assert [page.authority_score for page in brain.find(min_score=33)] == best
    assert urls_of(brain.find("c.", min_score=33)) == [C]
    assert urls_of(brain.find(regex="x", min_score=33)) == [D]
    least = everything[C].authority_score
    assert len(urls_of(brain.find(min_score=least))) == 4, "the least score itself is in"
    assert not list(brain.find(min_score=33, by="hub"))
    assert len(list(brain.find(min_score=33, limit=2))) == 2
    for n in (3, 4, 6):  # by the index while it has as many, else by all pages
        scores = [page.authority_score for page in top_of(brain, n)]
        assert scores == sorted((page.authority_score for page in everything.values()), reverse=True)[:n]


def test_a_find_ends_when_it_has_enough(brain: Brain) -> None:
    brain.seed([f"http://a.org/{n}" for n in range(30)])
    read: list[str] = []
    with brain.graph.trace(lambda *seen: read.append(seen[0])):
        assert len(list(brain.find("a.org", limit=3))) == 3
    assert read.count("pages/details") == 1


# ---------------------------------------------------------------- dumps


@pytest.mark.parametrize("small", [False, True])
def test_a_dump_has_every_page_and_link(drawn: Brain, monkeypatch: pytest.MonkeyPatch, small: bool) -> None:
    links = {(A, B, START), (A, C, START), (B, C, START + 1), (D, A, START + 1)}
    if small:
        monkeypatch.setattr(scan, "SCAN_IDS", few_ids(drawn))
        monkeypatch.setattr(scan, "LINKS_AT_ONCE", 1)
    done: list[tuple[int, int]] = []
    pages = list(drawn.dump_pages(progress=lambda *seen: done.append(seen)))
    assert sorted(urls_of(pages)) == [A, B, C, D]
    assert all(page == drawn.page(page.url) for page in pages)
    assert done[-1][0] == done[-1][1] > max(page.id for page in pages)
    dumped = list(drawn.dump_links())
    assert len(dumped) == 4
    assert {(link.source, link.target, link.since) for link in dumped} == links
    by_id = {page.id: page.url for page in pages}
    assert all((by_id[d.source_id], by_id[d.target_id]) == (d.source, d.target) for d in dumped)


def test_no_column_of_a_dump_is_empty_whatever_happens(make_brain: MakeBrain, clock: HandClock) -> None:
    rules = {"deny_hosts": "out.org", "weights": "leaf7 .5"}
    brain = make_brain(orphans="park", alpha=0.01, revisit_seconds=3_600.0, keep_live_pagerank=True, **rules)
    leaves = [f"http://leaf{n}.org/" for n in range(45)]
    brain.seed([A])
    brain.report([Fetched(A, [*leaves, B, C, "http://out.org/"])])
    brain.report([Fetched(leaf, [A, B]) for leaf in leaves])
    brain.report([Fetched(D, redirected_to=B), Fetched(B, ["http://orphan.org/"])])
    brain.report([Fetched(B, [], fetched_at=clock.pass_(60.0))])
    brain.set_page(A, relevance=0.75)
    brain.set_page(A, value=2.0)
    brain.set_page(A, payout=2.0)
    brain.hint([leaves[0]])
    for _ in range(3):
        clock.pass_(86_400.0)
        claims = brain.next_urls(30)
        brain.report([Fetched(c.url, [A, B] if c.url != A else leaves, c, body=str(clock()).encode()) for c in claims])
    kept = {"etag": "1", "last_modified": "today", "content_type": "text/html", "seconds": 0.5, "size": 7}
    facts = {
        "title": "Owls",
        "canonical": A,
        "canonicals": [f"head {A}", f"body {B}"],
        "noindex": True,
        "language": "en",
    }
    facts |= {"nofollow": True, "password_field": True, "words": 9, "descriptions": ["Of owls"], "h1": ["Owls"]}
    facts |= {"titles": ["head Owls", "body Owl"], "hreflang": [f"de {B}"], "structured": ["json-ld Product"]}
    facts |= {"requisites": ["image http://a.org/owl.png An owl"]}
    brain.report([Fetched(A, leaves, body=b"<p>Owls", fetched_at=clock.pass_(1.0), **kept, **facts)])
    brain.hint([Hint(leaves[0], kind="sitemap")])
    brain.report([Failed(leaves[1], status=500, error="no", fetched_at=clock.pass_(1.0))])
    brain.report([Fetched(D, redirected_to=B, fetched_at=clock.pass_(1.0))])
    brain.report([Fetched(leaves[2], status=302, led_to=[A], fetched_at=clock.pass_(1.0))])
    brain.set_page(B, interval=600.0)
    brain.next_urls(1)
    brain.tend(None)
    brain.seed(["http://c.org/waits"])
    rows = [page.as_dict() for page in brain.dump_pages()]
    assert {tuple(row) for row in rows} == {Page.columns()}
    assert {name for name in Page.columns() if all(row[name] is None for row in rows)} == {*SCORES, "provisional"}


def test_a_dump_can_be_of_some_pages(drawn: Brain) -> None:
    assert urls_of(drawn.dump_pages(host="b.org")) == [B]
    assert urls_of(drawn.dump_pages(fetched=False)) == [C]
    assert urls_of(drawn.dump_pages(state="known", regex="[ab].org")) == [A, B]
    drawn.report([Fetched(A, ["http://a.org/1", B])])
    assert {link.target for link in drawn.dump_links(host="a.org")} == {"http://a.org/1", B}
    assert [link.target for link in drawn.dump_links(host="a.org", between_hosts=True)] == [B]
    assert not list(drawn.dump_links(fetched=False))


def test_an_empty_brain_has_nothing_to_show(brain: Brain) -> None:
    assert not [*brain.dump_pages(), *brain.dump_links(), *brain.find("a"), *brain.find(min_score=33), *top_of(brain)]


@pytest.mark.data
def test_a_dump_of_a_recorded_crawl_is_that_crawl(brain: Brain, data_dir: Recordings) -> None:
    web = web_of(data_dir / "gr0.California.gz")
    reports = [Fetched(spell(web.urls[page]), links_of(web, page)) for page in range(0, web.pages, 20)]
    for start in range(0, len(reports), 200):
        brain.report(reports[start : start + 200])
    wanted = {(page.url, link) for page in reports for link in page.links if link != page.url}
    assert {(link.source, link.target) for link in brain.dump_links()} == wanted
    assert set(urls_of(brain.dump_pages())) == {page.url for page in reports} | {b for _, b in wanted}


# ---------------------------------------------------------------- names of pages


def test_a_page_is_named_by_url_or_key_everywhere(brain: Brain) -> None:
    brain.report([Fetched(A, [B])])
    a, b = key_of(A), key_of(B)
    assert brain.page(a) == brain.page(A)
    assert neighbours(brain, a) == ([B], [])
    brain.link(b, a)
    brain.link(a, C)
    assert neighbours(brain, A) == ([B, C], [B])
    brain.unlink(b, A)
    brain.set_page(b, relevance=0.75)
    brain.set_page(b, payout=2.0)
    assert (brain.page(B).relevance, brain.page(B).payout) == (0.75, 2.0)
    assert brain.tend(pages=[b]).pushes == 1
    brain.set_page(b, value=3.0)
    brain.set_page(b, rate=0.5)
    brain.set_page(b, interval=86_400.0)
    page = brain.page(B)
    assert (page.value, page.rate, page.interval) == (3.0, pytest.approx(0.5), 1.0)
    assert brain.note({b: "seen"}) == {}
    assert brain.notes([B, b]) == {b: "seen"}
    assert brain.payments(a) == brain.payments(A)
    assert [link.url for link in brain.links(b, "in")] == [A]
    assert [step.url for step in brain.path(a, b)] == [A, B]
    assert [answer.outcome for answer in brain.hint([b])] == ["noted"]
    assert brain.crawl_now([b]) == [True]
    (claim,) = brain.next_urls(1)
    assert claim.key == b
    brain.report([Failed(B, claim, 404)])
    assert (brain.retry(b), brain.page(B).errors) == (1, 0)
    brain.rank("trustrank", trusted=[a], damping=0.0)
    assert brain.page(A).scores == {"trustrank": 1.0}
    brain.forget(b)
    with pytest.raises(UnknownPage):
        brain.page(B)


NAMED: dict[str, dict[str, float]] = {  # verbs that take a page, with what else they want
    "set_page": {"value": 2.0},
    "retry": {},
    "park": {},
}


def test_every_verb_that_takes_a_page_is_tried_with_a_key() -> None:
    """Those named here and in the two tests beside: no verb with a page among its arguments is left out."""
    tried = " ".join(
        inspect.getsource(test)
        for test in (test_a_page_is_named_by_url_or_key_everywhere, test_a_page_that_is_not_there)
    )
    for name, verb in inspect.getmembers(Brain, inspect.isfunction):
        takes = {"url", "urls", "source", "hints", "texts", "pages", "trusted"} & set(
            inspect.signature(verb).parameters
        )
        if takes and not name.startswith("_") and name != "seed":
            assert name in NAMED or f'"{name}"' in tried or f".{name}(" in tried, name


@pytest.mark.parametrize("verb", NAMED)
def test_a_key_that_no_page_has_is_refused(brain: Brain, verb: str) -> None:
    with pytest.raises(UnknownPage, match="not in the graph"):
        getattr(brain, verb)(key_of(STRANGER), **NAMED[verb])
    assert brain.stats()["pages"] == 0


def test_a_link_cannot_make_a_page_of_a_key(brain: Brain) -> None:
    brain.seed([A])
    with pytest.raises(UnknownPage, match=key_of(B)):
        brain.link(A, key_of(B))
    with pytest.raises(BadInput, match="itself"):
        brain.link(A, key_of(A))
    assert brain.stats()["pages"] == 1


@pytest.mark.parametrize("verb", ["page", "payments", "links", "path"])
def test_a_page_that_is_not_there(brain: Brain, verb: str) -> None:
    for name in (STRANGER, key_of(STRANGER)):
        with pytest.raises(UnknownPage, match="is not in the graph"):
            getattr(brain, verb)(name)
    for nonsense in ("stranger", key_of(STRANGER)[1:], 5):
        with pytest.raises(BadInput, match="names no page"):
            getattr(brain, verb)(nonsense)


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda brain: brain.find(regex="("), "regular expression"),
        (lambda brain: brain.dump_pages(regex="["), "regular expression"),
        (lambda brain: brain.find(regex="(a+)+$"), "longer than 50 ms"),
        (lambda brain: brain.find(state="new"), "frontier, known"),
        (lambda brain: brain.dump_links(state="new"), "frontier, known"),
        (lambda brain: brain.find(by="age"), "authority, hub, cash, hits_hub, .* or value, not 'age'"),
        (lambda brain: top_of(brain, by="hits"), "authority, hub, cash, hits_hub, .* or value, not 'hits'"),
        (lambda brain: top_of(brain, -1), "whole number"),
        (lambda brain: brain.find(min_score=float("nan")), "min_score"),
        (lambda brain: brain.find(min_score=float("inf")), "min_score"),
        (lambda brain: brain.find(min_score=-float("inf"), by="hub"), "min_score"),
        (lambda brain: brain.find(min_score=10**400), "min_score"),
        (lambda brain: brain.find(min_score="high"), "min_score"),
        (lambda brain: brain.find("a", limit=-1), "whole number"),
        (lambda brain: brain.links(A, "up"), "'out' or 'in'"),
        (lambda brain: brain.links(A, limit=True), "whole number"),
        (lambda brain: brain.payments(A, -1), "whole number"),
    ],
)
def test_nonsense_is_refused_before_anything_is_read(drawn: Brain, ask: Callable[[Brain], object], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        ask(drawn)


def test_a_pace_of_less_than_an_hour_says_so(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(delay_seconds=0.0, order="best_first")
    brain.session.counters.written_at = float("inf")  # counters are written when the test says so
    assert (brain.stats()["pace"]["visits"], brain.stats()["pace"]["seconds"]) == (0, 0.0)
    clock.at = (clock.at // 3600 + 1) * 3600 + 1800.0  # half past
    began = clock.at

    def visit(count: int) -> None:
        for _ in range(count):
            brain.report([Fetched(f"http://p.org/{clock.at}", [A])])
            clock.pass_(1.0)
        brain.session.counters.write()

    def pace() -> tuple[float, int, float, bool]:
        found = brain.stats()["pace"]
        assert found["links_an_hour"] == found["visits_an_hour"]
        return found["visits_an_hour"], found["visits"], found["seconds"], found["so_far"]

    visit(1)
    clock.pass_(99.0)
    assert pace() == (pytest.approx(3600 / 99.0), 1, 99.0, True), "since it was first counted"
    visit(9)
    clock.at = began + 600.0
    assert pace() == (pytest.approx(10 * 3600 / 599.0), 10, 599.0, True)
    clock.at = began + 2400.0
    visit(10)
    clock.at = began + 3000.0
    assert pace() == (pytest.approx(20 * 3600 / 2999.0), 20, 2999.0, True), "of the last hour it had half"
    clock.at = began + 5000.0
    assert pace() == (pytest.approx(20 * 3600 / 4999.0), 20, 4999.0, False), "more than an hour, though none was whole"
    visit(5)
    clock.at = began + 1800.0 + 3600.0 + 60.0
    assert pace() == (15.0, 15, 3600.0, False), "the last full hour"


def test_leases_that_have_lapsed_are_not_held(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(delay_seconds=0.0, lease_seconds=60.0)
    brain.seed([A, B, C])
    brain.next_urls(2)
    clock.pass_(30.0)
    brain.next_urls(1)
    clock.pass_(30.0)
    stats = brain.stats()
    assert (stats["leased"], stats["lapsed"], stats["waiting"]) == (1, 2, 0)
    brain.tend()
    stats = brain.stats()
    assert (stats["leased"], stats["lapsed"], stats["waiting"]) == (1, 0, 2)


# ---------------------------------------------------------------- by what the crawler says of pages


@pytest.mark.usefixtures("answers_lost")
@pytest.mark.parametrize("engine", ["exact", "classic"])
def test_pages_are_listed_by_relevance_and_by_value(make_brain: Any, engine: str) -> None:
    """Those of which it is known, the best first; of equals always the same ones."""
    brain: Brain = make_brain(engine=engine)
    names = [f"http://h.org/{n}" for n in range(6)]
    for by in ("relevance", "value"):
        with pytest.raises(BadInput, match=f"No page has a {by} yet; it comes with reports .* or by set_page"):
            top_of(brain, 3, by=by)
    links = [Link(names[1], relevance=0.9), Link(names[2], relevance=0.1), Link(names[3], value=70.0), names[4]]
    brain.report([Fetched(names[0], links, relevance=0.5, value=3.5)])
    assert [page.url for page in top_of(brain, 10, by="relevance")] == [names[1], names[0], names[2]]
    assert [(page.url, page.value) for page in top_of(brain, 1, by="value")] == [(names[3], 70.0)]
    assert {page.url for page in brain.find(by="relevance", min_score=0.5)} == {names[0], names[1]}
    assert top_of(brain, 0, by="relevance") == []
