"""Pages that were asked for by hand, claimed alone; pages that are parked by hand."""

from __future__ import annotations

import random

import pytest

from graphbrain import Brain, Failed, Fetched
from graphbrain.base.errors import BadInput, UnknownPage
from graphbrain.frontier.claims import tuning
from tests.integration.conftest import HandClock

A, B, C, OTHER = "http://a.org/", "http://a.org/b", "http://c.org/", "http://other.org/"


def test_only_what_was_asked_for_is_claimed_until_it_was_visited(brain: Brain, clock: HandClock) -> None:
    brain.change(delay_seconds=1.0)
    brain.seed([f"http://h{number}.org/" for number in range(20)])
    assert list(none := brain.next_urls(5, now_only=True)) == [] and none.finished and not brain.next_urls(1).finished
    assert brain.crawl_now([A, B, C]) == [True] * 3
    first = brain.next_urls(5, now_only=True)
    assert {claim.host for claim in first} == {"a.org", "c.org"} and not first.finished
    assert brain.next_urls(5, now_only=True).next_because == "host"
    clock.pass_(1.0)
    second = brain.next_urls(5, now_only=True)
    assert {claim.url for claim in (*first, *second)} == {A, B, C}
    held = brain.next_urls(5, now_only=True)
    assert not held.finished and held.next_because == "lease" and held.next_ready == first[0].until
    brain.report([Fetched(first[0].url, claim=first[0]), Failed(first[1].url, claim=first[1], status=500)])
    brain.give_back(second)
    clock.pass_(1.0)
    again = brain.next_urls(5, now_only=True)
    assert [claim.url for claim in again] == [claim.url for claim in second]
    brain.report([Fetched(again[0].url, claim=again[0])])
    assert brain.next_urls(5, now_only=True).finished
    assert brain.next_urls(5), "the others wait still"


def test_a_host_that_wants_to_be_asked_later_is_asked_for_still(brain: Brain, clock: HandClock) -> None:
    brain.crawl_now([A])
    claim = brain.next_urls(1, now_only=True)[0]
    assert brain.report([Failed(A, claim=claim, status=429, retry_after=30.0)])[0].outcome == "slowed"
    later = brain.next_urls(1, now_only=True)
    assert not later.finished and later.next_because == "retry" and later.next_ready is not None
    clock.pass_(later.next_ready - clock() + 0.01)
    assert [claim.url for claim in brain.next_urls(1, now_only=True)] == [A]


def test_a_page_that_cannot_be_had_any_more_is_asked_for_no_more(brain: Brain) -> None:
    brain.crawl_now([A, C, OTHER])
    brain.change(deny_hosts="a.org")
    brain.set_robots("c.org", "User-agent: *\nDisallow: /")
    brain.park(OTHER)
    assert list(brain.next_urls(5, now_only=True)) == []
    assert brain.next_urls(5, now_only=True).finished


def test_many_pages_of_one_host_hide_no_other(brain: Brain, clock: HandClock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "ALIASES_LOOKED_AT", 10)
    brain.change(delay_seconds=60.0)
    brain.crawl_now([f"http://a.org/{number}" for number in range(40)])
    clock.pass_(30.0)
    brain.crawl_now([C, OTHER])
    found = set()
    for _ in range(20):
        found |= {claim.host for claim in brain.next_urls(3, now_only=True)}
        clock.pass_(0.5)
    assert found == {"a.org", "c.org", "other.org"}


def test_whatever_happens_the_mark_says_what_is_asked_for(brain: Brain, clock: HandClock) -> None:
    """Drawn lives: a page is asked for from the call on until a visit of it is recorded."""
    draw = random.Random(45)
    brain.change(delay_seconds=0.0, revisit_seconds=60.0)
    urls = [f"http://h{number % 3}.org/{number}" for number in range(9)]
    brain.seed(urls)
    asked: set[str] = set()
    out: dict[str, object] = {}
    for _ in range(60):
        clock.pass_(draw.choice((0.1, 5.0, 400.0)))
        match draw.randrange(4):
            case 0:
                wanted = draw.sample(urls, 2)
                asked |= {url for url, will in zip(wanted, brain.crawl_now(wanted), strict=True) if will}
            case 1:
                claims = brain.next_urls(draw.randint(1, 3), now_only=True)
                assert {claim.url for claim in claims} <= asked
                out |= {claim.url: claim for claim in claims}
            case 2:
                out |= {claim.url: claim for claim in brain.next_urls(1)}
            case _ if out:
                url, claim = out.popitem()
                if draw.random() < 0.3:
                    brain.give_back([claim])
                elif brain.report([Fetched(url, claim=claim)])[0].accepted:
                    asked.discard(url)
    clock.pass_(1_000.0)
    left = {claim.url for claim in brain.next_urls(20, now_only=True)}
    assert left == asked and brain.next_urls(20, now_only=True).finished == (not asked)


def test_a_page_that_is_parked_by_hand_waits_for_retry(brain: Brain) -> None:
    brain.seed([A, B, C])
    brain.report([Failed(B, status=500)])
    held = brain.next_urls(1)[0]
    free = [url for url in (A, B, C) if url != held.url]
    assert brain.park(*free, held.url) == [True, True, False]
    assert brain.page(B).parked_because == "by hand" and brain.page(B).recheck_at is None
    assert list(brain.next_urls(5)) == []
    assert brain.park(B) == [True]
    assert brain.retry(*free) == 2
    assert {claim.url for claim in brain.next_urls(5)} == set(free)
    with pytest.raises(UnknownPage):
        brain.park("http://nobody.org/")


def test_the_relevance_of_all_pages_is_forgotten(brain: Brain) -> None:
    brain.report([Fetched(A, [B, C], relevance=0.9)])
    brain.set_page(C, relevance=0.1)
    assert brain.forget_relevance() == 2 and brain.forget_relevance() == 0
    assert {page.relevance for page in brain.find()} == {None}
    assert brain.audit().ok


def test_a_host_has_manners_before_its_first_page(brain: Brain, clock: HandClock) -> None:
    brain.set_host("late.org", delay=30.0)
    brain.block("later.org", 60.0)
    with pytest.raises(BadInput):
        brain.set_host("not a host", delay=1.0)
    brain.seed(["http://late.org/1", "http://late.org/2", "http://later.org/"])
    assert [claim.host for claim in brain.next_urls(5)] == ["late.org"]
    assert [claim.host for claim in brain.next_urls(5)] == []
    clock.pass_(31.0)
    assert [claim.host for claim in brain.next_urls(5)] == ["late.org"]


def test_why_there_is_nothing_now_and_when_there_will_be(brain: Brain, clock: HandClock) -> None:
    brain.change(delay_seconds=5.0, revisit_seconds=3_600.0)
    brain.seed([A, B])
    claim = brain.next_urls(1)[0]
    assert brain.next_urls(1).next_because == "host"
    brain.report([Fetched(claim.url, claim=claim)])
    clock.pass_(6.0)
    last = brain.next_urls(1)[0]
    assert brain.next_urls(1).next_because == "lease"
    brain.report([Failed(last.url, claim=last, status=500)])
    assert brain.next_urls(1).next_because == "retry"
    assert brain.park(last.url) == [True]
    over = brain.next_urls(1)
    assert over.finished and over.next_because == "revisit" and over.next_ready == pytest.approx(claim.claimed + 3_600)
    assert "revisit_seconds" in over.why(brain.stats())
