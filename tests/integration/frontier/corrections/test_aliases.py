"""Aliases that are pages again: an evening of redirects leaves nothing behind."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from graphbrain import Brain, Claim, Failed, Fetched
from graphbrain.base.errors import UnknownPage
from graphbrain.frontier.corrections.aliases import MOVED_AT_ONCE
from tests.integration.conftest import HandClock, sound
from tests.verbs import neighbours

MakeBrain = Callable[..., Brain]
HOUR, DAY = 3_600.0, 86_400.0
ORDERS = ("optimal", "best_first", "breadth_first")

A, B, C, D, P, Q = (f"http://{name}.org/" for name in "abcdpq")


@dataclass
class Web:
    """Pages and their links, some of which redirect for a while. Links lead from a root to every page."""

    dice: random.Random
    links: dict[str, list[str]] = field(default_factory=dict)
    moved: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        urls = [f"http://h{n % 3}.org/{n}" for n in range(12)]
        self.links = {url: self.dice.sample(urls, self.dice.randrange(4)) for url in urls}
        for n, url in enumerate(urls[1:], 1):
            self.links[self.dice.choice(urls[:n])].append(url)

    def begin(self) -> None:
        """Some pages, or all, redirect to others, to a page that says why, or out of the scope."""
        urls = list(self.links)
        if self.dice.random() < 0.5:
            self.moved = dict.fromkeys(urls, "http://h0.org/maintenance")
        else:
            elsewhere = [*urls, "http://h1.org/login", "http://outside.com/"]
            some = self.dice.sample(urls, self.dice.randrange(1, len(urls)))
            self.moved = {url: to for url in some if (to := self.dice.choice(elsewhere)) != url}

    def answer(self, url: str, claim: Claim | None = None) -> Fetched | Failed:
        if url in self.moved:
            return Fetched(url, (), claim, 301, redirected_to=self.moved[url])
        return Fetched(url, self.links.get(url, []), claim, body=url.encode())

    def crawl(self, brain: Brain, n: int) -> None:
        while claims := list(brain.next_urls(n)):
            brain.report([self.answer(claim.url, claim) for claim in claims])
            if len(claims) < n:
                break


@pytest.mark.long
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.nightly)])
def test_three_days_after_an_evening_of_redirects_all_is_well(
    make_brain: MakeBrain, clock: HandClock, order: str, seed: int
) -> None:
    dice = random.Random(seed)
    brain = make_brain(order=order, allow_hosts="h0.org h1.org h2.org", intra_host_weight=dice.choice([1.0, 0.0]))
    web = Web(dice)
    root = next(iter(web.links))
    brain.seed([root])
    for episode in range(2):
        if dice.random() < 0.7:
            web.crawl(brain, dice.randrange(1, 9))
            brain.tend(None)
        web.begin()
        for _ in range(3):  # an evening
            clock.pass_(HOUR)
            brain.crawl_now(dice.sample(sorted(web.links), 4))
            lost = list(brain.next_urls(dice.randrange(1, 4)))
            if dice.random() < 0.5:
                brain.give_back(lost)
            web.crawl(brain, dice.randrange(1, 9))
            if dice.random() < 0.5:
                brain.tend(None)
        web.moved.clear()
        for _ in range(9):
            clock.pass_(8.0 * HOUR)
            brain.tend(0.05)
            web.crawl(brain, dice.randrange(1, 9))
        brain.tend(None)
        told = f"order {order}, seed {seed}, episode {episode}"
        assert {url: brain.page(url).state for url in web.links} == dict.fromkeys(web.links, "known"), told
        for url, links in web.links.items():
            assert set(neighbours(brain, url)[0]) == set(links).difference([url]), f"{told}, {url}"
        assert [page.url for page in brain.find() if page.is_seed] == [root], told
        assert brain.page(root).depth == 0
        sound(brain)


def made_aliases(brain: Brain, clock: HandClock, *redirects: tuple[str, str]) -> None:
    for source, target in redirects:
        clock.pass_(1.0)
        assert brain.report([Fetched(source, redirected_to=target)])[0].outcome == "alias"
    brain.tend(None)


def test_an_alias_is_looked_at_after_a_day_two_four_and_so_on(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(order="best_first")
    brain.report([Fetched(B, body=b"b")])
    made_aliases(brain, clock, (A, B))
    after: list[float] = []
    while len(after) < 11:
        answer = brain.next_urls(1)
        if len(answer) == 0:
            assert answer.finished
            assert answer.next_ready is not None
            after.append(round((answer.next_ready - clock()) / DAY, 2))
            clock.pass_(answer.next_ready - clock())
            continue
        assert [claim.url for claim in answer] == [A]
        brain.report([Fetched(A, claim=answer[0], redirected_to=B)])
    assert after == [1, 2, 4, 8, 16, 32, 64, 128, 180, 180, 180]


@pytest.mark.parametrize(("n", "calls"), [(1, 60), (7, 40), (40, 10)])
def test_aliases_have_a_twentieth_of_the_claims(brain: Brain, clock: HandClock, n: int, calls: int) -> None:
    aliases = {f"http://old.org/{i}" for i in range(60)}
    brain.report([Fetched(url, redirected_to=B) for url in aliases])
    brain.seed([f"http://new.org/{i}" for i in range(420)])
    clock.pass_(2 * DAY)
    met = total = 0
    for _ in range(calls):
        claims = list(brain.next_urls(n))
        assert len(claims) == n
        brain.report([Fetched(c.url, claim=c, redirected_to=B if c.url in aliases else None) for c in claims])
        met, total = met + len(aliases.intersection(c.url for c in claims)), total + n
        assert met <= total / 20 + 1
    assert met >= total / 20 - 1
    while claims := list(brain.next_urls(50)):  # what nothing else can have
        met += len(aliases.intersection(c.url for c in claims))
        brain.report([Fetched(c.url, claim=c, redirected_to=B if c.url in aliases else None) for c in claims])
    assert met == 60


def test_a_claimed_alias_that_lapses_or_comes_back_is_due(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(order="best_first")
    made_aliases(brain, clock, (A, B))
    [held] = brain.next_urls(1)
    brain.report([Fetched(B, claim=held)])
    clock.pass_(DAY)
    for end in ("given back", "lapsed", "failed", "slowed"):
        [held] = brain.next_urls(2)
        assert (held.url, list(brain.next_urls(2))) == (A, [])
        if end == "given back":
            assert brain.give_back([held]) == [True]
        elif end == "lapsed":
            clock.pass_(brain.settings.lease_seconds + 2.0)
            brain.tend(0.0)
        else:
            brain.report([Failed(A, held, 500 if end == "failed" else 503)])
            assert list(brain.next_urls(2)) == []
            clock.pass_(DAY if end == "failed" else 3 * DAY)  # it waits for as long as it has failed
        assert brain.page(A).state == "alias"
    [held] = brain.next_urls(2)
    brain.report([Fetched(A, claim=held, body=b"a")])
    assert brain.page(A).state == "known"


def test_aliases_obey_delay_robots_and_scope(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(order="best_first", delay_seconds=10.0, deny_hosts="never.org")
    one, two, barred = "http://h.org/1", "http://h.org/2", "http://r.org/x"
    brain.report([Fetched(url, redirected_to=B) for url in (one, two, barred, "http://never.org/")])
    brain.report([Fetched(B, body=b"b")])
    brain.set_robots("r.org", "User-agent: *\nDisallow: /x")
    brain.tend(None)
    clock.pass_(DAY + 1.0)
    first = list(brain.next_urls(9))
    assert len(first) == 1
    assert list(brain.next_urls(9)) == []
    clock.pass_(10.0)
    second = list(brain.next_urls(9))
    assert len(second) == 1
    assert {claim.url for claim in first + second} == {one, two}
    brain.report([Fetched(claim.url, claim=claim) for claim in first + second])
    assert (brain.page(barred).state, brain.page("http://never.org/").state) == ("alias", "alias")
    brain.change(deny_hosts="")
    clock.pass_(DAY)
    assert [claim.url for claim in brain.next_urls(9)] == ["http://never.org/"]


def test_due_aliases_of_a_host_that_is_not_ready_hide_no_others(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(order="best_first")
    brain.report([Fetched(B, body=b"b")])
    brain.report([Fetched(f"http://slow.org/{n}", redirected_to=B) for n in range(300)])
    clock.pass_(1.0)
    made_aliases(brain, clock, (A, B))
    brain.block("slow.org", 30 * DAY)
    clock.pass_(DAY + 1.0)
    got = [claim.url for _ in range(10) for claim in brain.next_urls(5)]
    assert got == [A]


@pytest.mark.parametrize("engine", ["exact", "classic"])
def test_links_come_back_when_a_chain_breaks(make_brain: MakeBrain, clock: HandClock, engine: str) -> None:
    """In its middle, at its beginning, and at its end, also where a page links to the goal besides."""
    brain = make_brain(engine=engine)
    brain.report([Fetched(P, [A]), Fetched(Q, [A, C])])
    made_aliases(brain, clock, (A, B), (B, C))
    assert (neighbours(brain, P)[0], neighbours(brain, Q)[0]) == ([C], [C])
    clock.pass_(1.0)
    brain.report([Fetched(B, [D], body=b"b")])
    brain.tend(None)
    assert (neighbours(brain, P)[0], sorted(neighbours(brain, Q)[0])) == ([B], [B, C])
    made_aliases(brain, clock, (A, D))
    assert (neighbours(brain, P)[0], sorted(neighbours(brain, Q)[0])) == ([D], [C, D])
    clock.pass_(1.0)
    brain.report([Fetched(A, body=b"a")])
    brain.tend(None)
    assert (neighbours(brain, P)[0], sorted(neighbours(brain, Q)[0])) == ([A], [A, C])
    assert brain.page(A).redirects_to is None


def test_a_link_of_the_goals_own_comes_back(brain: Brain, clock: HandClock) -> None:
    brain.report([Fetched(B, [A, C])])
    made_aliases(brain, clock, (A, B))
    assert neighbours(brain, B)[0] == [C]
    clock.pass_(1.0)
    brain.report([Fetched(A, body=b"a")])
    brain.tend(None)
    assert sorted(neighbours(brain, B)[0]) == [A, C]


def test_more_links_come_back_than_one_step_moves(brain: Brain, clock: HandClock) -> None:
    sources = [f"http://many.org/{n}" for n in range(MOVED_AT_ONCE + 50)]
    brain.report([Fetched(url, [A] if n % 3 else [A, B]) for n, url in enumerate(sources)])
    made_aliases(brain, clock, (A, B))
    assert (brain.page(A).in_links, brain.page(B).in_links) == (0, len(sources))
    clock.pass_(1.0)
    brain.report([Fetched(A, body=b"a")])
    brain.tend(None)
    assert (brain.page(A).in_links, brain.page(B).in_links) == (len(sources), -(-len(sources) // 3))


@pytest.mark.parametrize("how", ["retry", "retry host", "retry state", "seed", "now", "forget the target"])
@pytest.mark.parametrize("order", ORDERS)
def test_an_alias_can_be_let_wait(make_brain: MakeBrain, clock: HandClock, how: str, order: str) -> None:
    brain = make_brain(order=order)
    brain.report([Fetched(P, [A]), Fetched(B, body=b"b")])
    made_aliases(brain, clock, (A, B))
    if how == "retry":
        assert brain.retry(A) == 1
    elif how == "retry host":
        assert brain.retry(host="a.org") == 1
    elif how == "retry state":
        assert brain.retry(host="a.org", state="alias") == 1
    elif how == "seed":
        brain.seed([A])
    elif how == "now":
        assert brain.crawl_now([A]) == [True]
    else:
        brain.forget(B)
    assert (brain.page(A).state, brain.page(A).redirects_to) == ("known", None)
    brain.tend(None)
    assert neighbours(brain, P)[0] == [A]
    assert [claim.url for claim in brain.next_urls(1)] == [A]


def test_many_aliases_are_freed_when_their_target_is_forgotten(brain: Brain, clock: HandClock) -> None:
    aliases = [f"http://old.org/{n}" for n in range(MOVED_AT_ONCE + 20)]
    brain.report([Fetched(url, redirected_to=B) for url in aliases])
    clock.pass_(1.0)
    brain.forget(B, for_ever=True)
    assert brain.stats()["states"] == {"known": len(aliases)}
    assert len(brain.next_urls(500)) == len(aliases)
    with pytest.raises(UnknownPage):
        brain.retry(B)


def test_a_link_by_hand_to_an_alias_leads_to_its_target(brain: Brain, clock: HandClock) -> None:
    brain.report([Fetched(P, [B]), Fetched(Q), Fetched(B, body=b"b")])
    made_aliases(brain, clock, (A, B))
    brain.link(P, A)
    brain.link(Q, A)
    brain.link(B, A)
    assert (neighbours(brain, P)[0], neighbours(brain, Q)[0], neighbours(brain, B)[0]) == ([B], [B], [])
    brain.unlink(B, A)
    clock.pass_(1.0)
    brain.report([Fetched(A, body=b"a")])
    brain.tend(None)
    assert (sorted(neighbours(brain, P)[0]), neighbours(brain, Q)[0], neighbours(brain, B)[0]) == ([A, B], [A], [])


@pytest.mark.parametrize("named", [A, B])
def test_a_link_to_an_alias_is_removed_by_either_name(brain: Brain, clock: HandClock, named: str) -> None:
    brain.report([Fetched(P, [A, C]), Fetched(B, body=b"b")])
    made_aliases(brain, clock, (A, B))
    brain.unlink(P, named)
    assert neighbours(brain, P)[0] == [C]
    clock.pass_(1.0)
    brain.report([Fetched(A, body=b"a")])
    brain.tend(None)
    assert neighbours(brain, P)[0] == [C]


def test_a_redirect_passes_on_that_it_is_a_seed_and_costs_no_depth(brain: Brain, clock: HandClock) -> None:
    brain.seed([A])
    made_aliases(brain, clock, (A, B), (B, C))
    clock.pass_(1.0)
    brain.report([Fetched(C, [P], body=b"c")])
    assert [(brain.page(url).is_seed, brain.page(url).depth) for url in (B, C, P)] == [(True, 0), (True, 0), (False, 1)]
    [claim] = [claim for claim in brain.next_urls(9) if claim.url == P]
    brain.report([Fetched(P, claim=claim, redirected_to=Q)])
    assert (brain.page(Q).is_seed, brain.page(Q).depth) == (False, 1)


def test_a_page_that_a_seed_no_longer_leads_to_is_no_seed_for_it(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(payout="trusted")
    brain.seed([A, D])
    made_aliases(brain, clock, (A, B), (B, C), (A, D))  # now B leads to C, and A to D, which was a seed before
    assert {page.url for page in brain.find() if page.is_seed} == {A, D}
    made_aliases(brain, clock, (A, B))
    assert {page.url for page in brain.find() if page.is_seed} == {A, B, C, D}
    brain.seed([C])
    clock.pass_(1.0)
    brain.report([Fetched(A, body=b"a")])
    brain.tend(None)
    assert {page.url for page in brain.find() if page.is_seed} == {A, C, D}


def test_a_lower_depth_is_passed_on_through_a_redirect(brain: Brain, clock: HandClock) -> None:
    brain.seed([D])
    brain.report([Fetched(D, [P]), Fetched(P, claim=None)])
    [claim] = [claim for claim in brain.next_urls(9) if claim.url == P] or [None]
    assert claim is None or claim.depth == 0
    brain.seed(["http://s.org/"])
    brain.report([Fetched("http://s.org/", ["http://s.org/1"])])
    for near, far in (("1", "2"), ("2", "3")):
        found = {c.url: c for c in brain.next_urls(9)}
        brain.report([Fetched(f"http://s.org/{near}", [f"http://s.org/{far}"], found[f"http://s.org/{near}"])])
    found = {c.url: c for c in brain.next_urls(9)}
    brain.report([Fetched("http://s.org/3", claim=found["http://s.org/3"], redirected_to="http://s.org/4")])
    assert brain.page("http://s.org/4").depth == brain.page("http://s.org/3").depth == 3
    clock.pass_(1.0)
    brain.report([Fetched("http://s.org/", ["http://s.org/1", "http://s.org/2"])])
    brain.tend(None)
    assert brain.page("http://s.org/4").depth == brain.page("http://s.org/3").depth == 2


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("/new", "http://a.org/new"),
        ("new", "http://a.org/x/new"),
        ("../up", "http://a.org/up"),
        ("//b.org/y", "http://b.org/y"),
        ("?q=1", "http://a.org/x/y?q=1"),
        (" /new ", "http://a.org/new"),
        ("https://a.org/x/y", "https://a.org/x/y"),
    ],
)
def test_a_location_is_seen_from_its_page(brain: Brain, location: str, target: str) -> None:
    (answer,) = brain.report([Fetched("http://a.org/x/y", redirected_to=location)])
    assert (answer.outcome, brain.page("http://a.org/x/y").redirects_to) == ("alias", target)


@pytest.mark.parametrize("location", ["", "#top", "http://[", "y"])
def test_a_location_that_leads_nowhere(brain: Brain, location: str) -> None:
    brain.seed(["http://a.org/x/y"])
    [claim] = brain.next_urls(1)
    (answer,) = brain.report([Fetched("http://a.org/x/y", claim=claim, redirected_to=location)])
    assert (answer.outcome, "redirects to" in answer.reason) == ("retry", True)


def test_an_answer_says_where_an_alias_leads_that_leads_to_no_page_of_the_crawl(
    make_brain: MakeBrain, clock: HandClock
) -> None:
    brain = make_brain(allow_hosts="a.org b.org p.org")
    brain.seed([A, P, Q])
    brain.forget("http://b.org/x", for_ever=True)
    claims = {claim.url: claim for claim in brain.next_urls(5)}
    visits = [
        Fetched(A, claim=claims[A], redirected_to=D),
        Fetched(P, claim=claims[P], redirected_to="http://b.org/x"),
    ]
    for _ in range(2):  # an answer that got lost is the same
        away, forgotten = brain.report(visits)
        assert (away.outcome, "outside the scope" in away.reason, D in away.reason) == ("alias", True, True)
        assert (forgotten.outcome, "forgotten for ever" in forgotten.reason) == ("alias", True)
    (inside,) = brain.report([Fetched(B, redirected_to="http://b.org/y")])
    assert (inside.outcome, inside.reason) == ("alias", "")
    assert brain.stats()["aliases_outside"] == 1
    clock.pass_(DAY + 1.0)
    assert {A, P} <= {claim.url for claim in brain.next_urls(9)}
