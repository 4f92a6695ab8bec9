"""Permanent redirects: value goes where they lead; chains, circles, dead ends, and pages that are pages again."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from graphbrain import Brain, Failed, Fetched
from tests.integration.conftest import HandClock, sound
from tests.verbs import neighbours

MakeBrain = Callable[..., Brain]

A, B, C, D, P, Q = (f"http://{name}.org/" for name in "abcdpq")
ORDER = (A, B, C, D, P, Q)


def moved(brain: Brain, clock: HandClock, *redirects: tuple[str, str]) -> None:
    for source, target in redirects:
        clock.pass_(1.0)
        assert brain.report([Fetched(source, redirected_to=target)])[0].outcome == "alias"
    brain.tend(None)


def out(brain: Brain, url: str) -> list[str]:
    return neighbours(brain, url)[0]


def test_links_to_an_alias_count_for_its_target(brain: Brain, clock: HandClock) -> None:
    brain.report([Fetched(P, [A]), Fetched(Q, [A, B])])
    since = {page.url: page.since for page in brain.links(P)}[A]
    moved(brain, clock, (A, B))
    assert out(brain, P) == out(brain, Q) == [B]
    assert neighbours(brain, A) == ([], [])
    assert next(brain.links(P)).since == since
    assert brain.page(B).authority_score > 2.0 > brain.page(A).authority_score


def test_a_page_that_still_links_to_the_alias_costs_no_write(brain: Brain, clock: HandClock) -> None:
    brain.report([Fetched(P, [A, B, C]), Fetched(B), Fetched(C)])
    moved(brain, clock, (A, B))
    brain.report([Fetched(P, [C, A])])  # its flow goes to two pages now
    before = [brain.page(url) for url in (A, B, C)]
    clock.pass_(1.0)
    (answer,) = brain.report([Fetched(P, [C, A])])
    assert answer.accepted
    assert out(brain, P) == [B, C]
    assert [brain.page(url) for url in (A, B, C)] == before


def test_chains_are_followed_and_circles_are_not(brain: Brain, clock: HandClock) -> None:
    brain.report([Fetched(P, [A])])
    moved(brain, clock, (A, B), (B, C))
    assert out(brain, P) == [C]
    assert brain.page(A).redirects_to == B
    moved(brain, clock, (C, A))  # now nobody knows where the page is
    clock.pass_(1.0)
    brain.report([Fetched(Q, [A])])
    brain.tend(None)
    assert out(brain, Q) == [A]
    clock.pass_(1.0)
    brain.report([Fetched(C, [D], body=b"x")])
    clock.pass_(1.0)
    brain.report([Fetched(Q, [A, B])])
    assert out(brain, Q) == [C]
    assert brain.page(C).redirects_to is None
    brain.tend(None)
    assert out(brain, P) == [C]


def test_a_link_to_ones_own_alias_is_a_link_to_oneself(brain: Brain, clock: HandClock) -> None:
    brain.report([Fetched(B, [A, C])])
    moved(brain, clock, (A, B))
    assert out(brain, B) == [C]
    clock.pass_(1.0)
    brain.report([Fetched(B, [A, C, D])])
    assert out(brain, B) == [C, D]


def test_an_alias_that_is_a_page_again_has_changed(brain: Brain, clock: HandClock) -> None:
    brain.report([Fetched(A, body=b"x"), Fetched(P, [A])])
    moved(brain, clock, (A, B))
    clock.pass_(1.0)
    (answer,) = brain.report([Fetched(A, [C], body=b"x")])
    assert answer.outcome == "changed"
    clock.pass_(1.0)
    brain.report([Fetched(P, [A])])
    assert out(brain, P) == [A]


@pytest.mark.parametrize("target", ["mailto:me@a.org", "http://", "ftp://a.org/", A, "http://A.org:80/#y"])
def test_a_redirect_that_leads_nowhere_is_a_page_that_is_not_there(brain: Brain, target: str) -> None:
    """Refused, its claim would lapse and be handed out for ever."""
    brain.seed([A])
    (claim,) = brain.next_urls(1)
    (answer,) = brain.report([Fetched(A, claim=claim, redirected_to=target, status=301)])
    assert (answer.accepted, answer.outcome) == (True, "retry")
    assert "redirects to" in answer.reason
    page = brain.page(A)
    assert (page.state, page.status, page.errors, page.lease_until) == ("frontier", 301, 1, None)


def test_a_redirect_out_of_the_scope(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(allow_hosts="a.org p.org")
    brain.report([Fetched(P, [A])])
    moved(brain, clock, (A, B))
    assert (brain.page(A).state, brain.page(B).state) == ("alias", "outside")
    assert brain.next_urls(9).finished


def test_a_redirect_to_a_page_forgotten_for_ever(brain: Brain, clock: HandClock) -> None:
    brain.seed([B])
    brain.forget(B, for_ever=True)
    brain.report([Fetched(P, [A])])
    moved(brain, clock, (A, B))
    assert (brain.page(A).state, brain.page(A).redirects_to, out(brain, P)) == ("alias", None, [A])


def test_an_alias_that_is_gone_leads_nowhere(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(max_errors=1)
    moved(brain, clock, (A, B))
    clock.pass_(1.0)
    brain.report([Failed(A, status=410)])
    assert (brain.page(A).state, brain.page(A).redirects_to) == ("gone", None)


def test_more_links_than_one_step_moves(brain: Brain, clock: HandClock) -> None:
    sources = [f"http://many.org/{n}" for n in range(250)]
    brain.report([Fetched(url, [A] if n % 3 else [A, B]) for n, url in enumerate(sources)])
    moved(brain, clock, (A, B))
    assert (brain.page(A).in_links, brain.page(B).in_links) == (0, 250)
    sound(brain)


def test_random_redirects_and_links_keep_the_accounts(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(orphans="park", intra_host_weight=0.0)
    dice = random.Random(7)
    urls = [f"http://h{n % 3}.org/{n}" for n in range(12)]
    for _ in range(40):
        clock.pass_(10.0)
        url, some = dice.choice(urls), dice.sample(urls, 4)
        visit = Fetched(url, redirected_to=some[0]) if dice.random() < 0.4 else Fetched(url, some)
        brain.report([visit, Failed(next(u for u in urls if u != url), status=dice.choice([404, 500]))])
        if dice.random() < 0.3:
            brain.tend(0.05)
        if dice.random() < 0.1:
            brain.forget(dice.choice(urls))
    brain.tend(None)
    sound(brain)
