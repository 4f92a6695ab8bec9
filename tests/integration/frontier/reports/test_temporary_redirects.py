"""Redirects for now: one LEADS_TO and no links. Redirects of both kinds that come, go and turn around.

The random test keeps a model of the web beside the graph: plain dictionaries, from which links, clicks and scores
follow by their definitions.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest
from scipy.sparse import coo_array, eye_array
from scipy.sparse.linalg import spsolve

from graphbrain import Brain, Failed, Fetched
from graphbrain.analyst.inspect.clicks import clicks, of_page
from graphbrain.base.errors import BadInput
from graphbrain.base.urls.normalization import spell
from graphbrain.frontier import discovery
from graphbrain.graph.connection import bound
from tests.integration.conftest import HandClock, sound
from tests.recordings import folders, links_of, web_of
from tests.reference.linear import Web, solve, worst_error

MakeBrain = Callable[..., Brain]
Ask = Callable[..., list[list[object]]]
A, B, C, D, P, Q = (f"http://{name}.org/" for name in "abcdpq")
WEBS = ("sqlite", "octave", "ts_Cars", "postgres_own")
"""Webs that were recorded elsewhere, beside hollins."""
EDGES = "MATCH (p:Page)-[r:LINKS|LEADS_TO]->(q:Page) RETURN p.url, type(r), r.status, q.url"


def visit(brain: Brain, clock: HandClock, url: str, *links: str, **facts: object) -> None:
    clock.pass_(1.0)
    (answer,) = brain.report([Fetched(url, links, **facts)])  # type: ignore[arg-type]
    assert answer.accepted, answer.reason


def edges(ask: Ask) -> set[tuple[object, ...]]:
    return {tuple(row) for row in ask(EDGES)}


@pytest.mark.parametrize("status", [302, 303, 307])
@pytest.mark.parametrize("followed", [True, False])
def test_it_leads_to_its_target_and_has_no_links(
    brain: Brain, clock: HandClock, ask: Ask, status: int, followed: bool
) -> None:
    visit(brain, clock, P, A)
    leads = {"led_to": [B, C], "title": "of C", "relevance": 0.9} if followed else {"redirected_to": B}
    visit(brain, clock, A, *((C, D) if followed else ()), status=status, **leads)
    assert edges(ask) == {(P, "LINKS", None, A), (A, "LEADS_TO", status, B)}
    page = brain.page(A)
    assert (page.state, page.out_links, page.in_links, page.title, page.relevance) == ("known", 0, 1, None, None)
    assert (brain.page(B).in_links, brain.page(B).state, brain.page(B).depth) == (0, "frontier", page.depth)
    assert brain.page(B).authority_score > 1.0, "for scores it is a link"
    sound(brain)


def test_a_page_that_answers_itself_again(brain: Brain, clock: HandClock, ask: Ask) -> None:
    visit(brain, clock, A, B, C, body=b"x")
    for leads in (B, D):
        visit(brain, clock, A, status=302, redirected_to=leads)
        assert edges(ask) == {(A, "LEADS_TO", 302, leads)}
    for failed in (Failed(A, status=503), Fetched(A, [C], status=500)):
        clock.pass_(1.0)
        brain.report([failed])
        assert edges(ask) == {(A, "LEADS_TO", 302, D)}
    visit(brain, clock, A, body=b"")  # an answer without a page, that does not redirect
    assert edges(ask) == set()
    visit(brain, clock, A, status=307, redirected_to=B)
    visit(brain, clock, A, B, C, body=b"y")
    assert edges(ask) == {(A, "LINKS", None, B), (A, "LINKS", None, C)}
    visit(brain, clock, A, status=302, redirected_to=B)
    visit(brain, clock, A, redirected_to=B)
    assert edges(ask) == set()
    assert brain.page(A).redirects_to == B
    sound(brain)


def test_a_visit_that_came_back_to_its_own_page_has_brought_it(brain: Brain, clock: HandClock, ask: Ask) -> None:
    visit(brain, clock, A, B, status=302, led_to=[C, A])
    assert edges(ask) == {(A, "LINKS", None, B)}


def test_it_follows_its_target_that_redirects_for_good(brain: Brain, clock: HandClock, ask: Ask) -> None:
    visit(brain, clock, A, status=303, redirected_to=B)
    visit(brain, clock, B, redirected_to=C)
    brain.tend(None)
    assert edges(ask) == {(A, "LEADS_TO", 303, C)}
    visit(brain, clock, B, redirected_to=A)  # a circle
    brain.tend(None)
    assert edges(ask) == set()
    visit(brain, clock, B, D)
    brain.tend(None)
    assert edges(ask) == {(A, "LEADS_TO", 303, B), (B, "LINKS", None, D)}
    sound(brain)


def test_the_target_of_a_seed_is_a_seed_as_long_as_it_leads_there(brain: Brain, clock: HandClock) -> None:
    brain.seed([A])
    visit(brain, clock, A, status=302, redirected_to=B)
    assert (brain.page(B).is_seed, brain.page(B).depth) == (True, 0)
    visit(brain, clock, A, C)
    brain.tend(None)
    assert not brain.page(B).is_seed
    sound(brain)


@pytest.mark.parametrize("status", [301, 302])
def test_a_page_that_only_a_redirect_reaches_is_no_orphan(make_brain: MakeBrain, clock: HandClock, status: int) -> None:
    brain = make_brain(orphans="park")
    brain.seed([P])
    visit(brain, clock, P, A)
    visit(brain, clock, A, status=status, redirected_to=B)
    brain.tend(None)
    assert brain.page(B).state == "frontier"
    visit(brain, clock, A, status=status, redirected_to=C)
    brain.tend(None)
    assert (brain.page(B).state, brain.page(C).state) == ("parked", "frontier")
    visit(brain, clock, A, status=status, redirected_to=B)
    brain.tend(None)
    assert (brain.page(B).state, brain.page(C).state) == ("frontier", "parked")
    sound(brain)


@pytest.mark.parametrize("status", [301, 302])
def test_no_link_is_added_to_a_page_that_redirects(brain: Brain, clock: HandClock, status: int) -> None:
    visit(brain, clock, A, status=status, redirected_to=B)
    with pytest.raises(BadInput, match="redirects, so that it has no links"):
        brain.link(A, C)
    assert not brain.unlink(A, B)
    sound(brain)


# ------------------------------------------------------------------------------------------ random redirects

URLS = [f"http://h{number % 3}.org/{number}" for number in range(14)]
SEED = URLS[0]


@dataclass
class Model:
    """The last visit of each page: the URLs that it links to, or where it redirects, for good or for now."""

    links: dict[str, set[str]] = field(default_factory=dict)
    moved: dict[str, str] = field(default_factory=dict)
    led: dict[str, tuple[int, str]] = field(default_factory=dict)
    known: set[str] = field(default_factory=set)

    def visited(
        self, url: str, links: set[str] = frozenset(), moved: str = "", led: tuple[int, str] | None = None
    ) -> None:  # type: ignore[assignment]
        for kind in (self.links, self.moved, self.led):
            kind.pop(url, None)  # type: ignore[attr-defined]
        self.links |= {url: links - {url}} if links else {}
        self.moved |= {url: moved} if moved else {}
        self.led |= {url: led} if led else {}
        self.known |= {url, *links, *([moved] if moved else []), *([led[1]] if led else [])}

    def goal(self, url: str) -> str:
        """Where links to a page end: where it leads for good, itself if that is nowhere."""
        at, seen = url, {url}
        while at in self.moved:
            at = self.moved[at]
            if at in seen:
                return url
            seen.add(at)
        return at

    def edges(self) -> set[tuple[object, ...]]:
        links = {(page, "LINKS", None, self.goal(end)) for page, ends in self.links.items() for end in ends}
        led = {(page, "LEADS_TO", status, self.goal(end)) for page, (status, end) in self.led.items()}
        return {edge for edge in links | led if edge[0] != edge[3]}

    def clicks(self) -> dict[str, int]:
        near, queue = {SEED: 0}, deque([SEED])
        while queue:
            page = queue.popleft()
            on = self.moved.get(page) or self.led.get(page, (0, None))[1]
            for end, cost in [(on, 0)] if on else [(end, 1) for end in self.links.get(page, ())]:
                if near[page] + cost < near.get(end, 99):
                    near[end] = near[page] + cost
                    (queue.append if cost else queue.appendleft)(end)
        return near


def step(brain: Brain, model: Model, dice: random.Random) -> None:
    url, target, status = dice.choice(URLS[1:]), dice.choice(URLS), dice.choice([302, 303, 307])
    links = set(dice.sample(URLS, 4))
    kind = dice.random()
    if kind < 0.4:
        brain.report([Fetched(url, sorted(links), body=repr(links).encode())])
        model.visited(url, links)
    elif kind < 0.6 and target != url:
        brain.report([Fetched(url, status=301, redirected_to=target)])
        model.visited(url, moved=target)
    elif kind < 0.75 and target != url:
        brain.report([Fetched(url, status=status, redirected_to=target)])
        model.visited(url, led=(status, target))
    elif kind < 0.9 and target != url:
        brain.report([Fetched(url, sorted(links), status=status, led_to=[target, "http://else.org/"])])
        model.visited(url, led=(status, target))
    elif kind < 0.95:
        brain.report([Failed(url, status=503)])
        model.known.add(url)
    else:
        brain.report([Failed(url, status=404)])
        model.visited(url)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("engine", ["exact", "classic"])
def test_redirects_that_come_go_and_turn_around(
    make_brain: MakeBrain, clock: HandClock, ask: Ask, engine: str, seed: int
) -> None:
    brain = make_brain(
        engine=engine, max_errors=1, keep_live_pagerank=True, settled_bound=1e-9, orphans="park" if seed % 2 else "keep"
    )
    dice, model = random.Random(seed), Model()
    brain.seed([SEED])
    clock.pass_(1.0)
    brain.report([Fetched(SEED, URLS[1:6], body=b"seed")])
    model.visited(SEED, set(URLS[1:6]))
    for _ in range(4):
        for _ in range(15):
            clock.pass_(10.0)
            step(brain, model, dice)
            if dice.random() < 0.3:
                brain.tend(0.05)
        brain.tend(None)
        assert edges(ask) == model.edges()
        sound(brain)
        _clicks_are_right(brain, model)
    if engine == "exact":
        _scores_are_right(brain, model)


def _clicks_are_right(brain: Brain, model: Model) -> None:
    wanted, near = model.clicks(), clicks(brain.graph)
    for url in model.known:
        page = brain.page(url)
        ids = brain.graph.read(bound(discovery.find, [page.key]), "pages/find")
        assert near.of(ids[page.key]) == wanted.get(url), url
        assert brain.graph.read(bound(of_page, page.key), "clicks/behind") == wanted.get(url), url


def _scores_are_right(brain: Brain, model: Model) -> None:
    """Live scores against the solution of their equations on the graph of the model, by scipy."""
    brain.settle(tolerance=1e-12)
    by_url = {page.url: page for page in brain.dump_pages()}
    pages = [by_url[url] for url in sorted(model.known)]
    place = {page.url: number for number, page in enumerate(pages)}
    pairs = np.array([(place[edge[0]], place[edge[3]]) for edge in model.edges()]).reshape(-1, 2)  # type: ignore[index]
    relevance = np.array([np.nan if page.relevance is None else page.relevance for page in pages])
    web = Web(len(pages), pairs[:, 0], pairs[:, 1], relevance, np.ones(len(pages)), np.ones(len(pairs)))
    hub, authority = solve(web, brain.settings.alpha)
    assert worst_error(np.array([page.hub_score for page in pages]), hub) < 1e-7
    assert worst_error(np.array([page.authority_score for page in pages]), authority) < 1e-7
    kept = 0.85 / np.bincount(pairs[:, 0], minlength=len(pages))[pairs[:, 0]]
    spread = coo_array((kept, (pairs[:, 1], pairs[:, 0])), shape=(len(pages), len(pages)))
    rank = spsolve((eye_array(len(pages)) - spread).tocsc(), np.ones(len(pages)))
    assert worst_error(np.array([page.live_pagerank for page in pages]), rank) < 1e-7
    brain.rank("pagerank", tolerance=1e-12)
    batch = np.array([page.scores["pagerank"] for page in sorted(brain.dump_pages(), key=lambda page: page.url)])
    assert worst_error(batch / batch.sum(), rank / rank.sum()) < 1e-7


RECORDED = folders().get("real")
SMALLEST = "octave"
LARGER = ["hollins.dat", *(f"webs/{web}.edges.tsv" for web in WEBS if web != SMALLEST)]


@pytest.mark.long
@pytest.mark.skipif(RECORDED is None, reason="no recorded webs: set TEST_GRAPHBRAIN_DATA")
@pytest.mark.parametrize(
    "name",
    [f"webs/{SMALLEST}.edges.tsv", *(pytest.param(name, marks=pytest.mark.nightly) for name in LARGER)],
)
def test_scores_of_recorded_webs_with_redirects_are_the_solution(
    make_brain: MakeBrain, clock: HandClock, ask: Ask, name: str
) -> None:
    """Of the pages of a recorded web, some redirect for good and some for now, each to another page: five of a host
    that led to one would be taken for a wall, whatever their queries."""
    assert RECORDED is not None
    web, dice, model = web_of(RECORDED / f"{name}.gz"), random.Random(name), Model()
    brain = make_brain(keep_live_pagerank=True, settled_bound=1e-9, max_links=100_000)
    urls = [spell(url) for url in web.urls]
    model.known |= {*urls}
    ends = sorted({url.partition("?")[0] for url in urls} & model.known)
    dice.shuffle(ends)
    reports = []
    for number, url in enumerate(urls):
        kind = dice.random()
        if kind < 0.2 and ends and (target := ends.pop()) != url:
            status = dice.choice([301, 308] if kind < 0.1 else [302, 303, 307])
            reports.append(Fetched(url, status=status, redirected_to=target))
            model.visited(url, **({"moved": target} if kind < 0.1 else {"led": (status, target)}))  # type: ignore[arg-type]
        else:
            links = links_of(web, number)
            reports.append(Fetched(url, links, body=url.encode()))
            model.visited(url, set(links))
    dice.shuffle(reports)
    for first in range(0, len(reports), 200):
        clock.pass_(10.0)
        assert all(answer.accepted for answer in brain.report(reports[first : first + 200]))
    brain.tend(None)
    assert edges(ask) == model.edges()
    _scores_are_right(brain, model)
    assert brain.audit(1_000).ok
