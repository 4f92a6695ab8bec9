"""Hints: pages are made, moved back once each, and nothing else is touched."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from graphbrain import Brain, Fetched, Hint
from graphbrain.base.urls.normalization import key_of
from graphbrain.brain.discover import applying
from graphbrain.frontier.corrections.change_hints import Trust, beta
from tests.integration.conftest import START, HandClock, sound

MakeBrain = Callable[..., Brain]

A, B, C = "http://a.org/", "http://b.org/", "http://c.org/"
DAY = 86_400.0


def said(brain: Brain, *hints: Hint | str) -> list[str | None]:
    return [answer.outcome for answer in brain.hint(hints)]


def waiting(brain: Brain, ask: Callable[..., Any], shape: float | None = None, scale: float | None = None) -> None:
    """Let A be fetched, and have a belief on its rate."""
    brain.report([Fetched(A)])
    ask("MATCH (p:Page {url: $url}) SET p.rate_shape = $shape, p.rate_scale = $scale", url=A, shape=shape, scale=scale)


def test_an_unknown_page_is_made_and_is_no_seed(make_brain: MakeBrain) -> None:
    brain = make_brain(deny_hosts="b.org", max_depth=1)
    assert said(brain, Hint(A, 0.0, "sitemap"), B) == ["new", "new"]
    page = brain.page(A)
    assert (page.state, page.depth, page.is_seed, page.hinted, page.discovered) == ("frontier", 1, False, None, START)
    assert brain.page(B).state == "outside"
    assert [claim.url for claim in brain.next_urls(9)] == [A]


def test_of_the_new_pages_of_a_folder_that_a_list_names_the_first_come_first(
    brain: Brain, ask: Callable[..., Any]
) -> None:
    """A sitemap of thousands of pages does not go before what the site links to."""
    brain.report([Fetched(A, [B, f"{A}shop/4", f"{A}about"])])
    listed = [f"{A}shop/{n}" for n in range(40)]
    brain.hint([Hint(url, 0.0, "sitemap") for url in [*listed, f"{A}news/1"]])
    brain.hint([f"{A}shop/40"])
    before = dict(ask("MATCH (p:Page) WHERE p.siblings_before IS NOT NULL RETURN p.url, p.siblings_before"))
    assert before == {f"{A}shop/{n}": n - (n > 4) for n in range(1, 40) if n != 4}
    first = [claim.url for claim in brain.next_urls(8)]
    assert {B, f"{A}about", f"{A}shop/4", f"{A}shop/0", f"{A}news/1", f"{A}shop/40"} <= set(first)
    sound(brain)


@pytest.mark.parametrize(("shape", "scale", "rate"), [(2.0, 10.0, 0.2), (None, None, 0.1)])
def test_a_fetched_page_moves_back_by_beta(
    brain: Brain, clock: HandClock, ask: Callable[..., Any], shape: float | None, scale: float | None, rate: float
) -> None:
    waiting(brain, ask, shape, scale)
    clock.pass_(DAY)
    assert said(brain, Hint(A, clock.at - 60.0, "feed")) == ["moved"]
    page = brain.page(A)
    expected = math.log((0.7 + 0.3) / 0.3) / (0.3 * rate)
    assert page.waiting_since == pytest.approx(START - expected * DAY)
    assert (page.fetched, page.hinted) == (START, clock.at - 60.0)


def test_each_hint_counts_once(brain: Brain, clock: HandClock, ask: Callable[..., Any]) -> None:
    waiting(brain, ask)
    clock.pass_(DAY)
    older, old = Hint(A, START - 1.0), Hint(A, clock.at - 60.0)
    assert said(brain, older, old) == ["old", "moved"]
    since = brain.page(A).waiting_since
    assert said(brain, old, older) == ["old", "old"]
    assert said(brain, Hint(A, START + 1.0)) == ["old"]
    assert brain.page(A).waiting_since == since
    assert said(brain, A) == ["moved"]
    assert brain.page(A).waiting_since < since


def test_a_day_may_mean_any_time_of_it(brain: Brain, clock: HandClock, ask: Callable[..., Any]) -> None:
    waiting(brain, ask)
    clock.pass_(3600.0)
    midnight = START - START % DAY
    assert said(brain, Hint(A, midnight, "sitemap")) == ["old"]
    assert said(brain, Hint(A, midnight, "sitemap", DAY)) == ["moved"]
    assert said(brain, Hint(A, midnight, "sitemap", DAY)) == ["old"]


@pytest.mark.parametrize("how", ["order", "interval"])
def test_where_nothing_is_to_be_moved_a_hint_is_only_noted(make_brain: MakeBrain, clock: HandClock, how: str) -> None:
    brain = make_brain(order="best_first") if how == "order" else make_brain(order="optimal", intervals="org 2592000")
    brain.report([Fetched(A)])
    brain.seed([B])
    clock.pass_(DAY)
    before = (brain.page(A).waiting_since, brain.page(B).waiting_since)
    assert said(brain, A, B) == ["noted", "noted"]
    assert (brain.page(A).waiting_since, brain.page(B).waiting_since) == before


def test_an_answer_that_is_lost_is_found_again(brain: Brain, clock: HandClock, ask: Callable[..., Any]) -> None:
    waiting(brain, ask)
    clock.pass_(DAY)
    from graphbrain.frontier.corrections import change_hints

    noted = {hint.key: hint for hint in (change_hints.check(url, brain.session.rules, clock.at) for url in (A, B))}
    work = applying(brain.session, noted)
    first = brain.graph.write(work, "hints")
    since = brain.page(A).waiting_since
    assert brain.graph.write(work, "hints") == first
    assert sorted(first.values()) == ["moved", "new"]
    assert brain.page(A).waiting_since == since


@pytest.mark.parametrize(
    "bad",
    [
        Hint("ftp://a.org/"),
        Hint(A, float("nan")),
        Hint(A, float("inf")),
        Hint(A, -1.0),
        Hint(A, START * 1000),  # milliseconds
        Hint(A, "yesterday"),  # type: ignore[arg-type]
        Hint(A, True),
        Hint(A, kind="rumour"),  # type: ignore[arg-type]
        Hint(A, within=float("nan")),
        Hint(A, within=1e9),
        Hint(None),  # type: ignore[arg-type]
        7,
    ],
    ids=repr,
)
def test_a_bad_hint_is_refused_by_item(brain: Brain, bad: Any) -> None:
    good, wrong = brain.hint([B, bad])
    assert (good.outcome, wrong.accepted, wrong.outcome) == ("new", False, None)
    assert wrong.reason


def test_a_time_that_is_ahead_counts_as_now(brain: Brain, clock: HandClock) -> None:
    (answer,) = brain.hint([Hint(A, START + 400 * DAY, "sitemap")])
    page = brain.page(A)
    assert page is not None
    assert (answer.outcome, page.hinted) == ("new", clock.at)


def test_a_page_forgotten_for_ever_stays_so(brain: Brain) -> None:
    brain.forget(A, for_ever=True)
    (answer,) = brain.hint([A])
    assert (answer.accepted, answer.reason) == (False, "the page was forgotten for ever")


def test_a_hint_may_name_a_page_by_its_key(brain: Brain, clock: HandClock) -> None:
    brain.report([Fetched(A)])
    clock.pass_(DAY)
    assert said(brain, key_of(A), A, Hint(key_of(A), START + 1.0)) == ["moved", "old", "old"]
    unknown, known, older = brain.hint([key_of(B), B, Hint(key_of(C), START)])
    assert (unknown.outcome, known.outcome) == ("new", "old"), "a URL in the same call will do"
    assert (older.accepted, older.outcome) == (False, None)
    assert "no page has this key" in older.reason
    refused = brain.hint([key_of(C), Hint(key_of(C), START), C.replace("http", "ftp")])
    assert [(answer.accepted, answer.outcome) for answer in refused] == [(False, None)] * 3
    assert brain.stats()["pages"] == 2


def test_beta_is_longer_the_more_a_hint_is_worth() -> None:
    assert beta(0.1, Trust(0.7, 0.01)) > beta(0.1, Trust(0.7, 0.3)) > beta(0.1, Trust(0.3, 1.0)) > 0.0
    assert beta(0.1, Trust(0.0, 0.3)) == 0.0
    assert beta(10.0, Trust()) == pytest.approx(beta(0.1, Trust()) / 100)
    assert beta(0.0, Trust()) == beta(1e-30, Trust()) == 3650.0
