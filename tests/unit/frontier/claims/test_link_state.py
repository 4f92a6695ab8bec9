"""Checks of links without a graph: how a URL is asked, and when its link is broken."""

from __future__ import annotations

import random

import pytest

from graphbrain.base.model import kind_of
from graphbrain.frontier.claims.link_state import AGAIN, HEAD, LINE, TRIES, LinkState, key_of
from graphbrain.frontier.hosts.resource import MOST_REDIRECTS, Said, queue_key

NOW = 1_700_000_000.0
URL = "https://b.org/page"
FOUND, GONE, FAILS = Said("found"), Said("gone"), Said("fails")


ANSWERS = [(FOUND, 200), (GONE, 404), (FAILS, 503), (FAILS, None), (FAILS, 405), (FAILS, 501)]


def link() -> LinkState:
    """A check that was just asked for."""
    state = LinkState(key_of(URL), URL, "b.org")
    assert state.ask(NOW, NOW)
    return state


def test_its_key_is_no_page_s() -> None:
    assert kind_of(key_of(URL)) == "link" and link().home == URL


def test_it_is_asked_by_head_and_then_by_get() -> None:
    state = link()
    assert state.method == HEAD and state.waits_in() == queue_key(LINE, "b.org")
    assert state.hear(FAILS, 405, NOW) == "retry"
    assert (state.method, state.due_at, state.failures) == (None, NOW, None)
    assert state.hear(GONE, 405, NOW) == "gone", "a GET that is not allowed is a broken link"
    assert state.broken and state.method == HEAD, "the next check begins anew"


@pytest.mark.parametrize("by_head", [None, *range(400, 600)])
def test_an_error_to_head_is_no_evidence_but_of_a_host_that_refuses_for_now(by_head: int | None) -> None:
    """The GET decides, and is asked for once."""
    if by_head in (429, 503):
        state = link()
        assert state.hear(FAILS, by_head, NOW) == "retry" and state.method == HEAD and state.failures == 1
        return
    for said, status, outcome in ((FOUND, 200, "new"), (GONE, 404, "gone"), (FAILS, 500, "retry")):
        state = link()
        assert state.hear(FAILS, by_head, NOW) == "retry" and state.method is None and not state.failures
        assert state.hear(said, status, NOW) == outcome and state.method == HEAD


@pytest.mark.parametrize("status", [404, 410, 403])
def test_a_missing_page_breaks_the_link_at_once(status: int) -> None:
    state = link()
    assert state.hear(GONE, status, NOW) == "retry" and not state.broken
    assert state.hear(GONE, status, NOW) == "gone"
    assert state.broken and state.waits_in() is None
    assert not state.ask(NOW - 1.0, NOW + 1.0), "it was checked lately"
    assert state.ask(NOW + 1.0, NOW + 2.0)
    assert state.hear(FOUND, 200, NOW + 3.0) == "new" and not state.broken
    assert state.ask(NOW + 3.0, NOW + 4.0) and state.hear(FOUND, 200, NOW + 5.0) == "same"


def test_a_silent_one_is_tried_again_and_keeps_no_crawl_waiting() -> None:
    state, now = link(), NOW
    for attempt in range(1, TRIES):
        assert state.hear(FAILS, None, now) == state.hear(FAILS, None, now) == "retry"
        assert state.due_at is not None and state.due_at > now and not state.broken
        assert state.waits_in() == queue_key(AGAIN, "b.org"), attempt
        now = state.due_at
    assert state.hear(FAILS, None, now) == "retry"
    assert state.hear(FAILS, None, now) == "gone" and state.broken and state.due_at is None


def test_redirects_are_followed_and_end() -> None:
    state = link()
    for step in range(MOST_REDIRECTS):
        there = Said("leads", url=f"https://h{step}.org/", host=f"h{step}.org")
        assert state.hear(there, 301, NOW) == "alias"
        assert (state.url, state.host, state.method) == (f"https://h{step}.org/", f"h{step}.org", HEAD)
    assert state.hear(Said("leads", url=URL, host="b.org"), 301, NOW) == "gone"
    assert state.broken and (state.url, state.host, state.redirects) == (URL, "b.org", None)


def test_whatever_is_answered_it_waits_or_is_over() -> None:
    for seed in range(200):
        dice, state, now = random.Random(seed), link(), NOW
        for _ in range(30):
            if state.due_at is None:
                assert state.waits_in() is None and state.url == URL and state.method == HEAD
                assert (state.broken or state.fetched or state.fault) and state.ask(now, now)
            assert state.waits_in() == queue_key(AGAIN if state.failures else LINE, state.host)
            now = max(now, state.due_at) + dice.random()
            if dice.random() < 0.1:
                state.put_off(now)
                continue
            said, status = dice.choice([*ANSWERS, (Said("leads", url="https://c.org/", host="c.org"), 302)])
            state.hear(said, status, now)
            assert (state.redirects or 0) <= MOST_REDIRECTS and (state.failures or 0) <= TRIES


def test_it_knows_where_redirects_led_the_last_check() -> None:
    state, leads = link(), Said("leads", url="https://c.org/", host="c.org")
    assert state.hear(leads, 302, NOW) == "alias" and state.hear(leads, 301, NOW) == "alias"
    assert state.hear(FOUND, 200, NOW) == "new"
    assert (state.led_to, state.led_steps, state.led_status, state.status) == ("https://c.org/", 2, 302, 200)
    assert state.ask(NOW + 1.0, NOW + 1.0) and state.hear(FOUND, 200, NOW) == "same"
    assert (state.led_to, state.led_steps, state.led_status) == (None, None, None)
