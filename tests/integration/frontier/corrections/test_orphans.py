"""Errors by kind, pages given up and tried again by hand, and orphans."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from graphbrain import Brain, Failed, Fetched, Hint
from graphbrain.base.errors import BadInput, UnknownPage
from tests.integration.conftest import START, Going, HandClock, crowd, sound

MakeBrain = Callable[..., Brain]

A, B, C, D = "http://a.org/", "http://b.org/", "http://c.org/", "http://d.org/"
MINUTE, DAY = 60.0, 86_400.0


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("status", "least", "most"),
    [
        *((status, DAY, DAY) for status in (400, 401, 403, 404, 410, 418, 451)),
        *((status, 0.75 * MINUTE, 1.25 * MINUTE) for status in (408, 421, 423, 425, 500, 502, 504, None)),
    ],
)
def test_a_missing_page_waits_days_and_a_broken_one_minutes(
    brain: Brain, status: int | None, least: float, most: float
) -> None:
    (answer,) = brain.report([Failed(A, status=status, error="e")])
    waits = (brain.page(A).not_before or 0.0) - START
    assert answer.outcome == "retry"
    assert least <= waits <= most


@pytest.mark.parametrize("status", [404, 500])
def test_no_number_of_errors_is_too_large(make_brain: MakeBrain, ask: Callable[..., object], status: int) -> None:
    brain = make_brain(max_errors=1_000_000)
    brain.seed([A])
    ask("MATCH (p:Page) SET p.errors = 5000")
    brain.report([Failed(A, status=status)])
    page = brain.page(A)
    assert page.errors == 5001
    assert (page.not_before or 0.0) - START <= (180 * DAY if status == 404 else 7 * DAY)


def given_up(brain: Brain, clock: HandClock, url: str, status: int) -> None:
    """The page fails, and others of its host do not, until it is given up."""
    while brain.page(url).state not in ("gone", "parked"):
        clock.pass_(DAY)
        brain.report([Failed(url, status=status)])
        clock.pass_(1.0)
        if status == 500:
            brain.report([Fetched(f"{url}well")])
    if status == 500:
        brain.forget(f"{url}well")


def test_links_go_when_a_page_is_gone_and_not_before(brain: Brain, clock: HandClock) -> None:
    brain.report([Fetched(A, [B, C]), Fetched(D, [A])])
    for number in range(4):
        clock.pass_(1.0)
        brain.report([Failed(A, status=404)])
        assert brain.page(A).out_links == 2, number
    given_up(brain, clock, A, 404)
    page = brain.page(A)
    assert (page.state, page.relevance, page.out_links, page.in_links) == ("gone", 0.001, 0, 1)


def test_a_page_that_is_there_again_is_not_irrelevant(brain: Brain, clock: HandClock) -> None:
    brain.report([Fetched(A, [B], relevance=0.9)])
    given_up(brain, clock, A, 404)
    clock.pass_(1.0)
    brain.report([Fetched(A, [B])])
    page = brain.page(A)
    assert (page.state, page.relevance, page.errors, page.out_links) == ("known", None, 0, 1)


# ---------------------------------------------------------------- by hand


@pytest.mark.parametrize("status", [404, 500])
def test_pages_given_up_wait_again_by_hand(brain: Brain, clock: HandClock, status: int) -> None:
    brain.seed([A])
    given_up(brain, clock, A, status)
    assert brain.next_urls(1).finished
    assert brain.retry(A) == 1
    page = brain.page(A)
    assert (page.state, page.errors, page.not_before, page.relevance) == ("frontier", 0, None, None)
    assert [claim.url for claim in brain.next_urls(9)] == [A]
    assert brain.retry(A) == 0


def test_retry_by_host_and_state(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(max_errors=2, order="best_first")
    brain.report([Failed(A, status=500), Failed(B, status=500), Failed(C, status=404), Fetched(D)])
    given_up(brain, clock, A, 500)
    given_up(brain, clock, C, 404)
    assert brain.retry(host="a.org", state="gone") == 0
    assert brain.retry(host="a.org") == 1
    assert brain.retry(state="gone") == 1
    assert brain.retry(state="frontier") == 1
    assert {claim.url for claim in brain.next_urls(9)} == {A, B, C}


@pytest.mark.parametrize("order", ["optimal", "best_first"])
def test_a_fetched_page_can_be_tried_again(make_brain: MakeBrain, clock: HandClock, order: str) -> None:
    brain = make_brain(order=order)
    brain.report([Fetched(A, [B])])
    given_up(brain, clock, A, 410)
    brain.retry(A)
    claims = brain.next_urls(9)
    assert {claim.url for claim in claims} == {A, B}
    (claim,) = (claim for claim in claims if claim.url == A)
    assert brain.report([Fetched(A, [C], claim)])[0].accepted
    assert brain.page(A).state == "known"


def test_a_page_out_of_the_scope_is_not_let_in_by_hand(brain: Brain, clock: HandClock) -> None:
    brain.seed([A])
    given_up(brain, clock, A, 404)
    brain.change(deny_hosts="a.org")
    assert brain.retry(A) == 1
    assert brain.page(A).state == "outside"


def test_retry_wants_to_be_told_which(brain: Brain) -> None:
    with pytest.raises(BadInput):
        brain.retry()
    with pytest.raises(BadInput):
        brain.retry(A, host="a.org")
    with pytest.raises(BadInput):
        brain.retry(state="lost")
    with pytest.raises(UnknownPage):
        brain.retry(A)


# ---------------------------------------------------------------- orphans


def orphaned(brain: Brain, clock: HandClock) -> None:
    """A linked to B and C, and to B no more."""
    brain.seed([A])
    brain.report([Fetched(A, [B, C])])
    clock.pass_(1.0)
    brain.report([Fetched(A, [C])])
    brain.tend(None)


@pytest.mark.parametrize(("orphans", "state"), [("keep", "frontier"), ("park", "parked"), ("forget", None)])
def test_what_becomes_of_an_orphan(make_brain: MakeBrain, clock: HandClock, orphans: str, state: str | None) -> None:
    brain = make_brain(orphans=orphans, order="best_first")
    orphaned(brain, clock)
    found = [page.state for page in brain.find("b.org")]
    assert found == ([state] if state else [])
    if state == "parked":
        assert brain.page(B).parked_because == "orphan"
    assert {claim.url for claim in brain.next_urls(9)} == ({B, C} if orphans == "keep" else {C})


def test_a_known_page_that_is_an_orphan_is_not_fetched_again(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(orphans="park", order="optimal")
    brain.report([Fetched(A, [B])])
    (claim,) = (claim for claim in brain.next_urls(9) if claim.url == B)
    brain.report([Fetched(B, (), claim)])
    clock.pass_(DAY)
    brain.unlink(A, B)
    brain.tend(None)
    assert (brain.page(B).state, brain.page(B).queue) == ("parked", None)
    brain.link(A, B)
    brain.tend(None)
    assert (brain.page(B).state, brain.page(B).queue) == ("known", "*")


@pytest.mark.parametrize("how", ["report", "link", "hint", "setting", "retry", "visit"])
def test_an_orphan_comes_back(make_brain: MakeBrain, clock: HandClock, how: str) -> None:
    brain = make_brain(orphans="park")
    orphaned(brain, clock)
    clock.pass_(1.0)
    if how == "report":
        brain.report([Fetched(D, [B])])
    elif how == "link":
        brain.link(C, B)
    elif how == "hint":
        brain.hint([Hint(B)])
    elif how == "setting":
        brain.change(orphans="keep")
    elif how == "retry":
        assert brain.retry(B) == 1
    else:
        brain.report([Fetched(B)])
    brain.tend(None)
    page = brain.page(B)
    assert (page.state, page.parked_because) == ("known" if how == "visit" else "frontier", None)


def test_who_is_no_orphan(make_brain: MakeBrain, clock: HandClock) -> None:
    """Seeds, what a crawler reported unasked, what a hint has named, aliases."""
    brain = make_brain(orphans="forget")
    alias = "http://alias.org/"
    brain.seed([A, B])
    brain.hint([C])
    brain.report([Fetched(D), Fetched(alias, redirected_to=D)])
    clock.pass_(1.0)
    brain.report([Fetched(A, [B, C, D, alias])])
    clock.pass_(1.0)
    brain.report([Fetched(A)])
    brain.tend(None)
    assert all(brain.page(url).state for url in (B, C, D, alias))


def test_an_orphan_that_is_held_waits_for_its_end(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(orphans="park", lease_seconds=100.0)
    brain.seed([A])
    brain.report([Fetched(A, [B])])
    (claim,) = brain.next_urls(1)
    assert claim.url == B
    clock.pass_(1.0)
    brain.report([Fetched(A)])
    brain.tend(None)
    assert brain.report([Fetched(B, claim=claim)])[0].accepted
    assert brain.page(B).state == "known"
    clock.pass_(200.0)
    brain.tend(None)
    assert brain.page(B).state == "parked"


def test_an_orphans_own_links_go_with_it(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(orphans="forget")
    brain.seed([A])
    brain.report([Fetched(A, [B])])
    brain.report([Fetched(B, [C], brain.next_urls(1)[0])])
    clock.pass_(1.0)
    brain.unlink(A, B)
    brain.tend(None)
    assert [page.url for page in brain.find()] == [A]


def test_the_setting_reaches_orphans_that_were_there_before(brain: Brain, clock: HandClock) -> None:
    orphaned(brain, clock)
    brain.change(orphans="park")
    brain.tend(None)
    assert (brain.page(A).state, brain.page(B).state) == ("known", "parked")


# ---------------------------------------------------------------- the scope, on a running crawl


def test_the_scope_changes_while_others_crawl(brain: Brain, second: Brain, clock: HandClock) -> None:
    """Workers claim, fail, redirect and give back; when a change has returned nothing outside is handed out."""
    brain.change(orphans="park", max_errors=2)
    urls = [f"http://h{n % 4}.org/{n}" for n in range(60)]
    brain.seed(urls[:8])

    def crawl(going: Going) -> None:
        turn = 0
        while going():
            claims = second.next_urls(8)
            clock.pass_(5.0)
            for claim in claims:
                turn += 1
                links = [urls[(turn * 7 + n) % 60] for n in range(5)]
                if turn % 5 == 0:
                    second.give_back([claim])
                elif turn % 5 == 1:
                    second.report([Failed(claim.url, claim, 404 if turn % 2 else 500)])
                elif turn % 5 == 2:
                    second.report([Fetched(claim.url, claim=claim, redirected_to=links[0])])
                else:
                    second.report([Fetched(claim.url, links, claim, body=str(turn).encode())])
            if not claims:
                second.seed(urls)
                second.retry(state="gone")
            second.tend(0.01)

    with crowd(crawl):
        for turn in range(4):
            brain.change(deny_hosts=f"h{turn}.org", allow_urls="" if turn % 2 else "[02468]$")
            held = brain.next_urls(10)
            assert all(brain.policy.scope.holds(claim.url, claim.host, claim.depth) for claim in held)
            brain.give_back(held)
    sound(brain)
    for page in brain.dump_pages():
        if page.queue is not None:
            assert brain.policy.scope.holds(page.url, page.host, page.depth), page
