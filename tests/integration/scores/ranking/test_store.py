"""`rank` on a live graph: what is written is what networkx says, once, whole, and by whom it belongs to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import neo4j as driver
import networkx
import numpy as np
import pytest

from graphbrain import Brain, Fetched
from graphbrain.base.errors import BadInput, GraphbrainError, UnknownPage
from graphbrain.base.numeric.methods import METHODS, SCORES, method_of
from graphbrain.base.numeric.rules import Rule
from graphbrain.graph import exports
from graphbrain.graph.statements import statement
from graphbrain.schedule import lanes
from graphbrain.scores.ranking import store
from tests.integration.graph.test_contracts import operators, planned
from tests.verbs import rank_if_due, top_of

Ask = Callable[..., list[list[Any]]]
STRICT = {"tolerance": 1e-12}
URLS = [f"http://h{n % 5}.org/{n}" for n in range(60)]


def web(brain: Brain) -> None:
    """Half of the pages fetched, with nine links each; two seeds; some relevance known."""
    dice = np.random.default_rng(5)
    brain.seed([URLS[0], URLS[1]])
    brain.report([Fetched(url, [URLS[n] for n in dice.integers(0, 60, 9)], body_hash="x") for url in URLS[:30]])
    for n in range(0, 60, 7):
        if URLS[n] in {page.url for page in top_of(brain, 100)}:
            brain.set_page(URLS[n], relevance=n / 60)


@pytest.fixture
def ranked(brain: Brain) -> Brain:
    web(brain)
    return brain


def graph(ask: Ask) -> networkx.DiGraph:
    """The graph as the bare driver sees it; host and relevance on its nodes."""
    found = networkx.DiGraph()
    for url, host, relevance in ask("MATCH (p:Page) RETURN p.url, p.host, p.relevance"):
        found.add_node(url, host=host, relevance=0.5 if relevance is None else relevance)
    found.add_edges_from(ask("MATCH (p:Page)-[:LINKS]->(q:Page) RETURN p.url, q.url"))
    return found


def column(ask: Ask, name: str) -> dict[str, float]:
    return dict(ask("MATCH (p:Page) RETURN p.url, p[$name]", name=name))


def agree(ask: Ask, name: str, wanted: dict[str, float], within: float = 1e-9) -> None:
    got = column(ask, name)
    assert got.keys() == wanted.keys()
    assert sum(got.values()) == pytest.approx(1.0, abs=1e-12)
    assert sum(abs(got[url] - wanted[url]) for url in got) < within


def test_pagerank_and_its_kin_are_networkx_s(ranked: Brain, ask: Ask) -> None:
    there = graph(ask)
    relevance = dict(there.nodes(data="relevance"))
    for method, start in (
        ("pagerank", None),
        ("personalised", relevance),
        ("trustrank", {URLS[0]: 1.0, URLS[1]: 1.0}),
    ):
        for damping in (0.85, 0.3):
            ranked.rank(method, damping=damping, **STRICT)
            agree(ask, method, networkx.pagerank(there, damping, start, tol=1e-15, max_iter=5_000))
    ranked.rank("trustrank", trusted=[URLS[7], f"{URLS[8]}#top"])
    agree(ask, "trustrank", networkx.pagerank(there, 0.85, {URLS[7]: 1.0, URLS[8]: 1.0}, tol=1e-15, max_iter=5_000))


def test_hits_is_networkx_s(ranked: Brain, ask: Ask) -> None:
    there = graph(ask)
    hub, authority = networkx.hits(there, tol=1e-14)
    ranked.rank("hits", **STRICT)
    agree(ask, "hits_hub", hub)
    agree(ask, "hits_authority", authority)


def test_content_weighs_the_authorities_of_hits(ranked: Brain, ask: Ask) -> None:
    """h = L·S·a: the same hubs as of a web with links of weight √s, which networkx can do."""
    there = graph(ask)
    for _, target, link in there.edges(data=True):
        link["weight"] = there.nodes[target]["relevance"] ** 0.5
    hub, _ = networkx.hits(there, tol=1e-14)
    done = ranked.rank("hits", content=True, **STRICT)
    assert done.content
    agree(ask, "hits_hub", hub)


def test_opic_and_salsa_are_random_readers(ranked: Brain, ask: Ask) -> None:
    there = graph(ask)
    ranked.rank("opic", **STRICT)
    for url in list(there):
        there.add_edge(url, "virtual")
        there.add_edge("virtual", url)
    whole = networkx.pagerank(there, 1 - 1e-12, tol=1e-13, max_iter=100_000)
    part = sum(score for url, score in whole.items() if url != "virtual")
    agree(ask, "opic", {url: score / part for url, score in whole.items() if url != "virtual"}, 1e-8)

    there = graph(ask)
    ranked.rank("salsa")
    # All pages are of one community, so scores are shares of the links.
    agree(ask, "salsa_hub", {url: there.out_degree(url) / there.number_of_edges() for url in there})
    agree(ask, "salsa_authority", {url: there.in_degree(url) / there.number_of_edges() for url in there})


def test_only_links_between_hosts(ranked: Brain, ask: Ask) -> None:
    there = graph(ask)
    inside = [(a, b) for a, b in there.edges if there.nodes[a]["host"] == there.nodes[b]["host"]]
    done = ranked.rank("pagerank", only_external=True, **STRICT)
    assert inside
    assert done.links == there.number_of_edges() - len(inside)
    there.remove_edges_from(inside)
    agree(ask, "pagerank", networkx.pagerank(there, tol=1e-15, max_iter=5_000))


@pytest.mark.parametrize("method", METHODS)
def test_what_is_written_and_what_is_told_of_it(method: str, ranked: Brain, ask: Ask) -> None:
    seen: list[tuple[str, int, int]] = []
    done = ranked.rank(method, top=3, progress=lambda *told: seen.append(told))
    pages = ask("MATCH (p:Page) RETURN count(p)")[0][0]
    assert (done.pages, done.links) == (pages, ask("MATCH ()-[r:LINKS]->() RETURN count(r)")[0][0])
    assert done.converged
    assert done.complete
    assert tuple(done.best) == METHODS[method]
    for name, best in done.best.items():
        there = column(ask, name)
        assert [score for _, score in best] == sorted(there.values(), reverse=True)[:3]
        assert all(there[url] == score for url, score in best)
    assert seen[-1] == ("writing scores", pages, pages)
    assert {text.split()[0] for text, _, _ in seen} >= {"reading", "turning", "writing"}

    assert ask("MATCH (r:Ranking) RETURN r.method, r.complete, r.pages") == [[method, True, pages]]
    (kept,) = ranked.rankings()
    told = {**done.as_dict(), "best": {}, "seconds": 0.0}  # by the clock of the tests no time has passed
    assert kept.as_dict() == told
    assert ask(
        "MATCH (p:Page) UNWIND keys(p) AS k WITH DISTINCT k WHERE k IN $all RETURN k ORDER BY k",
        all=SCORES,
    ) == [[name] for name in sorted(METHODS[method])]


@pytest.mark.parametrize("engine", ["exact", "classic"])
def test_scores_are_read_back(make_brain: Callable[..., Brain], ask: Ask, engine: str) -> None:
    brain = make_brain(engine=engine)
    web(brain)
    for method in METHODS:
        brain.rank(method)
    brain.seed(["http://late.org/"])
    columns = {name: column(ask, name) for name in SCORES}
    for page in (*brain.dump_pages(), *brain.find("h3."), *top_of(brain, 5, "pagerank"), brain.page(URLS[3])):
        there = {name: columns[name][page.url] for name in SCORES}
        assert page.scores == ({} if "late" in page.url else there)
        assert {name: page.as_dict()[name] for name in SCORES} == there
        assert page.as_dict().keys() == set(brain.page(URLS[0]).as_dict())
        hash(page)
    for name in ("hits_hub", "pagerank"):
        scores_of = columns[name]
        known = sorted((score for score in scores_of.values() if score is not None), reverse=True)
        assert [page.score(name) for page in top_of(brain, 7, by=name)] == known[:7]
        assert len(top_of(brain, 100, by=name)) == len(known), "who has none is not among the best"
        for least in (known[5], 0.0):
            wanted = {url for url, score in scores_of.items() if score is not None and score >= least}
            assert {page.url for page in brain.find(by=name, min_score=least)} == wanted
            at_host = {url for url in wanted if url.startswith("http://h2.org")}
            assert {page.url for page in brain.find(by=name, min_score=least, host="h2.org")} == at_host
    live = replace(brain.page(URLS[3]), clicks=None)  # of a list they are not counted
    assert next(page for page in top_of(brain, 100, by="opic") if page.url == URLS[3]) == live, "as the engine tells it"


@pytest.mark.parametrize("name", SCORES)
def test_a_score_that_no_page_has(ranked: Brain, name: str) -> None:
    """Also when another one has been computed, or this one but not written."""
    method = method_of(name)
    assert name in METHODS[method]
    ranked.rank("opic" if method != "opic" else "salsa")
    ranked.rank(method, write=False)
    for look in (lambda: top_of(ranked, 3, by=name), lambda: ranked.find(by=name, min_score=0.5)):
        with pytest.raises(BadInput, match=rf"^No page has .*{name}.* run 'graphbrain rank {method}' first\.$"):
            look()


def test_the_best_by_a_batch_score_are_kept_in_a_bounded_heap(ranked: Brain, raw: driver.Driver) -> None:
    ranked.rank("pagerank")
    plan = planned(raw, statement("pages/highest"), {"name": "pagerank", "limit": 10}).plan
    assert plan is not None
    assert {"Top", "Sort"} & set(operators(plan)) == {"Top"}


def test_without_writing(ranked: Brain, ask: Ask) -> None:
    done = ranked.rank("pagerank", write=False)
    assert not done.complete
    assert done.finished is None
    assert len(done.best["pagerank"]) == 10
    assert set(column(ask, "pagerank").values()) == {None}
    assert ranked.rankings() == []


def test_an_interruption_does_no_harm_and_is_seen(ranked: Brain, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    ranked.rank("pagerank", damping=0.5)
    before = column(ask, "pagerank")
    for stage in ("reading", "iteration"):

        def stop(text: str, _done: int, _of: int, at: str = stage) -> None:
            if text.startswith(at):
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            ranked.rank("pagerank", progress=stop)
        assert column(ask, "pagerank") == before
        assert ranked.rankings()[0].damping == 0.5

    monkeypatch.setattr(store, "WRITE", 10)
    with pytest.raises(KeyboardInterrupt):
        ranked.rank("pagerank", progress=lambda text, *_: _interrupt_at(text, "writing"))
    after = column(ask, "pagerank")
    assert 0 < sum(after[url] != before[url] for url in after) < len(after)
    (half,) = ranked.rankings()
    assert (half.damping, half.complete, half.finished) == (0.85, False, None)

    whole = ranked.rank("pagerank")
    assert whole.complete
    agree(ask, "pagerank", networkx.pagerank(graph(ask), tol=1e-15, max_iter=5_000), 1e-8)


def _interrupt_at(text: str, at: str) -> None:
    if text.startswith(at):
        raise KeyboardInterrupt


Lanes = dict[str, int]


def marked(brain: Brain, ask: Ask) -> tuple[Any, Any, Lanes]:
    """The scale of scores and how far the pass over all pages is, by the brain, and the lanes of pages."""
    ((scale, after),) = ask("MATCH (b:Brain) RETURN b.value_scale, b.remarking")
    return scale, after, {page.url: page.lane for page in brain.dump_pages()}


def by_the_scores(ranked: Brain, ask: Ask) -> Lanes:
    """The lanes that pages have by their PageRank, as each page says."""
    rule = replace(Rule(), order="optimal", value="pagerank", value_scale=float(len(column(ask, "pagerank"))))
    waiting = [page for page in ranked.dump_pages() if page.state == "frontier"]
    value = np.array([lanes.scored(rule, page.scores["pagerank"]) for page in waiting])
    relevance = np.array([np.nan if page.relevance is None else page.relevance for page in waiting])
    found = lanes.frontier_lane(lanes.weighed(rule, value, relevance, np.ones(len(value))))
    return dict(zip((page.url for page in waiting), found.tolist(), strict=True))


def test_who_has_not_heard_that_the_order_goes_by_the_scores_moves_the_pages(
    ranked: Brain, second: Brain, ask: Ask
) -> None:
    """Also where that is said while they are written."""
    second.change(value="pagerank")
    assert ranked.settings.value != "pagerank"
    ranked.rank("pagerank")
    scale, after, found = marked(ranked, ask)
    wanted = by_the_scores(ranked, ask)
    assert (scale, after) == (len(found), None)
    assert len(set(wanted.values())) > 3
    assert {url: found[url] for url in wanted} == wanted

    ranked.change(value="authority")

    def meanwhile(text: str, *_: object) -> None:
        if text.startswith("writing"):
            second.change(value="pagerank")

    ranked.rank("pagerank", damping=0.1, progress=meanwhile)
    found, wanted = marked(ranked, ask)[2], by_the_scores(ranked, ask)
    assert {url: found[url] for url in wanted} == wanted


def test_pages_change_lanes_even_if_whoever_wrote_the_scores_is_stopped(
    ranked: Brain, second: Brain, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    ranked.change(value="pagerank")

    def stopped() -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(ranked.session, "refresh", stopped)  # the first that is done after the last write
        ranked.rank("pagerank")
    assert marked(second, ask)[1] == ""
    second.tend(0)
    scale, after, found = marked(second, ask)
    wanted = by_the_scores(second, ask)
    assert (scale, after) == (len(found), None)
    assert {url: found[url] for url in wanted} == wanted


def test_an_order_that_goes_by_scores_from_before_has_their_scale(ranked: Brain, ask: Ask) -> None:
    ranked.rank("pagerank")
    ranked.change(value="pagerank")
    scale, _, found = marked(ranked, ask)
    wanted = by_the_scores(ranked, ask)
    assert scale == len(found)
    assert {url: found[url] for url in wanted} == wanted
    ranked.change(value="trustrank")
    assert marked(ranked, ask)[0] == 1.0, "of which there are none yet"


def test_of_two_who_write_the_later_wins(
    ranked: Brain, second: Brain, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "WRITE", 10)
    other: list[Any] = []

    def meanwhile(text: str, *_: object) -> None:
        if text.startswith("writing") and not other:
            other.append(second.rank("pagerank", damping=0.5, **STRICT))

    with pytest.raises(GraphbrainError, match="Another process has begun to write the scores of"):
        ranked.rank("pagerank", progress=meanwhile)
    agree(ask, "pagerank", networkx.pagerank(graph(ask), 0.5, tol=1e-15, max_iter=5_000))
    (kept,) = ranked.rankings()
    assert kept.complete
    assert kept.damping == 0.5


def test_a_web_that_changes_while_it_is_ranked(ranked: Brain, ask: Ask, clock: Any) -> None:
    """Pages come and go after the export; the scores are those of the export, and nobody gets another's."""
    there = graph(ask)

    def meanwhile(text: str, *_: object) -> None:
        if text.startswith("turning"):
            clock.pass_(1.0)
            ranked.forget(URLS[3])
            ranked.report([Fetched("http://new.org/", [f"http://new.org/{n}" for n in range(20)], body_hash="x")])

    ranked.rank("pagerank", progress=meanwhile, **STRICT)
    wanted = networkx.pagerank(there, tol=1e-15, max_iter=5_000)
    got = column(ask, "pagerank")
    assert {url for url, score in got.items() if score is None} == {url for url in got if "new.org" in url}
    assert URLS[3] not in got
    for url, score in got.items():
        assert score is None or score == pytest.approx(wanted[url], abs=1e-10)


def test_a_page_that_got_the_id_of_another_gets_no_score(ranked: Brain, ask: Ask, clock: Any) -> None:
    table = exports.links(ranked.graph)
    started = clock()
    clock.pass_(1.0)
    page, url = ask("MATCH (p:Page) RETURN id(p), p.url LIMIT 1")[0]
    ask("MATCH (p:Page) WHERE id(p) = $page SET p.discovered = $now", page=page, now=clock())  # as if it were new
    facts = {"token": "t", "started": started, "pages": table.pages}
    done = store.write(ranked.graph, "opic", table.ids, {"opic": np.ones(table.pages)}, facts, clock)
    assert done == table.pages - 1
    assert [name for name, score in column(ask, "opic").items() if score is None] == [url]


def test_an_empty_brain(brain: Brain) -> None:
    for method in METHODS:
        if method == "trustrank":
            with pytest.raises(BadInput, match="no seeds"):
                brain.rank(method)
        else:
            done = brain.rank(method)
            assert done.pages == done.links == 0
            assert all(best == () for best in done.best.values())


def test_clear_takes_the_rankings_along(ranked: Brain) -> None:
    ranked.rank("salsa")
    ranked.clear()
    assert ranked.rankings() == []


BAD: list[tuple[str, dict[str, Any], str]] = [
    ("googlerank", {}, "hits, pagerank"),
    ("pagerank", {"damping": 1.0}, "below 1"),
    ("pagerank", {"damping": -0.1}, "from 0"),
    ("pagerank", {"damping": float("nan")}, "from 0"),
    ("pagerank", {"damping": "much"}, "from 0"),
    ("hits", {"damping": 0.85}, "damping is for pagerank"),
    ("pagerank", {"tolerance": 0.0}, "between 0 and 1"),
    ("pagerank", {"tolerance": float("nan")}, "between 0 and 1"),
    ("salsa", {"tolerance": 1e-6}, "exact"),
    ("salsa", {"iterations": 5}, "none"),
    ("hits", {"iterations": 0}, "1 or more"),
    ("pagerank", {"content": True}, "personalised"),
    ("pagerank", {"trusted": [URLS[0]]}, "trustrank"),
    ("trustrank", {"trusted": []}, "name a page"),
    ("trustrank", {"trusted": ["ftp://x/"]}, "http"),
    ("opic", {"top": -1}, "from 0"),
]


def test_bad_input(brain: Brain) -> None:
    for method, options, says in BAD:
        with pytest.raises(BadInput, match=says):
            brain.rank(method, **options)


def test_a_trusted_page_that_is_not_there(ranked: Brain) -> None:
    with pytest.raises(UnknownPage, match="nowhere"):
        ranked.rank("trustrank", trusted=[URLS[0], "http://nowhere.org/"])


# ---------------------------------------------------------------- kept fresh


@pytest.mark.usefixtures("answers_lost")
def test_scores_are_ranked_anew_when_they_are_old_and_by_one_at_a_time(
    ranked: Brain, second: Brain, ask: Ask, clock: Any
) -> None:
    """With the parameters of the last ranking, and from its scores: so after little has changed it takes less."""
    cold = ranked.rank("pagerank", damping=0.7, tolerance=1e-11).iterations
    assert rank_if_due(ranked, "pagerank", 60.0) is None
    clock.pass_(60.0)
    ranked.report([Fetched(URLS[3], [URLS[4], "http://new.org/"])])
    tried: list[object] = []
    done = rank_if_due(
        ranked,
        "pagerank",
        60.0,
        progress=lambda *_: tried.append(rank_if_due(second, "pagerank", 60.0)) if not tried else None,
    )
    assert done is not None and tried == [None]
    assert (done.damping, done.tolerance, done.complete, done.pages) == (0.7, 1e-11, True, 61)
    agree(ask, "pagerank", networkx.pagerank(graph(ask), 0.7, tol=1e-15, max_iter=5_000))
    assert rank_if_due(second, "pagerank", 60.0) is None
    assert "ranking" not in ask("MATCH (b:Brain) RETURN properties(b)")[0][0]
    clock.pass_(60.0)
    again = rank_if_due(second, "pagerank", 60.0)
    assert again is not None and again.iterations < cold / 4
    assert rank_if_due(ranked, "hits", 60.0) is not None


def test_trusted_pages_are_kept(ranked: Brain, ask: Ask, clock: Any) -> None:
    ranked.rank("trustrank", trusted=[URLS[7], URLS[8]])
    clock.pass_(60.0)
    assert rank_if_due(ranked, "trustrank", 60.0) is not None
    agree(ask, "trustrank", networkx.pagerank(graph(ask), 0.85, {URLS[7]: 1.0, URLS[8]: 1.0}, tol=1e-15), 1e-8)


def test_who_dies_while_ranking_is_followed_by_another(ranked: Brain, second: Brain, clock: Any) -> None:
    """Before it writes, after two minutes; amid its writing, after `every` at the latest."""
    for what in ("turning links", "writing scores"):
        clock.pass_(1_000.0)

        def die(text: str, *_: int, at: str = what) -> None:
            if text == at:
                ranked.graph.write(lambda tx: tx.do("brain/note", notes={"ranking": "dead"}), "a dead worker's")
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            rank_if_due(ranked, "pagerank", 60.0, progress=die)
        assert rank_if_due(second, "pagerank", 60.0) is None
        clock.pass_(121.0)
        done = rank_if_due(second, "pagerank", 60.0)
        assert done is not None and done.complete


@pytest.mark.parametrize("every", [0.5, float("nan"), float("inf"), "1h"])
def test_how_often_must_be_a_time(brain: Brain, every: Any) -> None:
    with pytest.raises(BadInput, match="every must be"):
        rank_if_due(brain, "pagerank", every)
    with pytest.raises(BadInput, match="hits, pagerank"):
        rank_if_due(brain, "best")


# ---------------------------------------------------------------- pages that come later


NEW = [f"http://new{n}.org/" for n in range(6)]


def provisional(brain: Brain, *urls: str) -> list[Any]:
    return [brain.page(url).provisional for url in urls]


def test_a_page_found_later_gets_what_those_give_it_that_link_to_it(make_brain: Any, clock: Any) -> None:
    """By one step of PageRank from the scores of its finders, who may have come later themselves."""
    brain: Brain = make_brain(value="pagerank", order="best_first")
    web(brain)
    assert provisional(brain, *URLS[:4]) == [None] * 4
    ranked = brain.rank("pagerank")
    scores = {page.url: ranked.pages * page.scores["pagerank"] for page in top_of(brain, 100, by="pagerank")}
    unread = sum(score for url, score in scores.items() if not brain.page(url).out_links) / ranked.pages
    base = 0.15 + 0.85 * unread  # who comes to a page without links goes anywhere
    clock.pass_(1.0)
    brain.report([Fetched(URLS[3], [NEW[0], NEW[1], URLS[4]])])
    first, *others = provisional(brain, NEW[0], NEW[1], URLS[4])
    assert first == pytest.approx(base + 0.85 * scores[URLS[3]] / 3)
    assert others == [first, None]
    brain.report([Fetched(NEW[0], [NEW[2], NEW[1]]), Fetched(URLS[5], [NEW[1], NEW[3]])])
    by_new, by_known = 0.85 * first / 2, 0.85 * scores[URLS[5]] / 2
    wanted = [first + by_new + by_known, base + by_new, base + by_known]
    assert provisional(brain, *NEW[1:4]) == pytest.approx(wanted)
    clock.pass_(1.0)
    before = provisional(brain, NEW[0], NEW[1])
    brain.report([Fetched(URLS[3], [NEW[0], NEW[1]])])  # no link is new
    assert provisional(brain, NEW[0], NEW[1]) == before
    brain.rank("pagerank")
    assert brain.page(NEW[1]).scores["pagerank"] > 0.0


@pytest.mark.parametrize("method", ["hits", "salsa", "opic"])
def test_what_a_page_found_later_gets_is_of_the_size_of_its_score(make_brain: Any, clock: Any, method: str) -> None:
    """Another link to a page that is linked to already, and one to a new page, from the same hub: the new page counts
    a part of what pages with many such links have, and of what it has once all is ranked."""
    brain: Brain = make_brain(value=method, order="best_first")
    web(brain)
    brain.rank(method)
    clock.pass_(1.0)
    brain.report([Fetched(URLS[40], [*URLS[:8], NEW[0]])])
    (before,) = provisional(brain, NEW[0])
    after = brain.rank(method)
    score = brain.page(NEW[0]).scores[METHODS[method][-1]] * after.pages
    assert before == pytest.approx(score, rel=0.5)


def test_the_order_follows_the_scores(make_brain: Any, clock: Any) -> None:
    """Claims come by PageRank; pages found later take their place among them at once, and the right one once ranked."""
    brain: Brain = make_brain(value="pagerank", order="best_first")
    many = [f"{URLS[0]}{n}" for n in range(12)]
    brain.report([Fetched(url, many[: place + 1]) for place, url in enumerate(URLS[20:32])])
    brain.rank("pagerank")
    (best,) = brain.next_urls(1)
    assert best.url == many[0]
    clock.pass_(1.0)
    brain.report([Fetched(best.url, [NEW[0]], best), Fetched(URLS[31], [*many, NEW[1]])])
    few, one_of_many = provisional(brain, *NEW[:2])
    assert few > 2 * one_of_many
    assert brain.next_urls(1)[0].url == NEW[0]
    clock.pass_(60.0)
    brain.report([Fetched(url, [NEW[2]]) for url in URLS[:20]])
    assert rank_if_due(brain, "pagerank", 60.0) is not None
    claimed = [claim.url for claim in brain.next_urls(100)]
    assert claimed[0] == NEW[2]
    ranked = {page.url: page.scores["pagerank"] for page in top_of(brain, 1000, by="pagerank")}
    worth = [ranked[url] for url in claimed]
    assert all(later < 1.5 * min(worth[: place + 1]) for place, later in enumerate(worth))
