"""Visits that contradict themselves or what is known, and crawlers whose code or clock is wrong: the page survives."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from http import HTTPStatus
from typing import Any

import numpy as np
import pytest

from graphbrain import Brain, Claim, Failed, Fetched, Link
from graphbrain.base.errors import GraphbrainError
from graphbrain.base.model import Seen, Unusable
from graphbrain.base.settings import Settings
from graphbrain.schedule import lanes
from graphbrain.schedule.change_rate import PRIOR
from graphbrain.schedule.value import Schedule
from tests.integration.conftest import START, HandClock
from tests.plugin import Neo4j
from tests.verbs import neighbours

MakeBrain = Callable[..., Brain]
A, B, C, D = (f"http://{name}.org/" for name in "abcd")


def claimed(brain: Brain, clock: HandClock, url: str = A) -> Claim:
    """The page, claimed now, whatever it waits for."""
    clock.pass_(100_000.0)
    brain.tend(0.0)
    brain.crawl_now([url])
    for _ in range(5):  # up to a fifth of the pages may be left to the next call
        for claim in brain.next_urls(100):
            if claim.url == url:
                return claim
    raise AssertionError(brain.page(url))


def known(brain: Brain, url: str = A) -> None:
    brain.report([Fetched(url, [B, C], body=b"<p>one two three", etag='"x"', last_modified="then")])


def links(brain: Brain, url: str = A) -> list[str]:
    return neighbours(brain, url)[0]


# ---------------------------------------------------------------- without content no link is gone


EMPTY: tuple[dict[str, Any], ...] = (
    {"status": 304},
    {"status": 304, "links": [D]},
    {"status": 204},
    {"status": 205, "body": b""},
    {"status": 206, "body": b"<p>one"},
    {"status": 202},
    {"body": b""},
    {"changed": False},
    {"status": 500},
    {"status": 404},
    {"status": 429},
    {"status": 301},
    {"status": 302},
    {"status": 307, "redirected_to": "javascript:x"},
    {"status": 301, "redirected_to": A},
    {"status": 999},
    {"status": 101},
    {"not_modified": True, "status": 503},
)


@pytest.mark.parametrize("under_a_claim", [True, False])
def test_a_visit_without_content_deletes_no_links(brain: Brain, clock: HandClock, under_a_claim: bool) -> None:
    for number, visit in enumerate(EMPTY):
        url = f"http://{number}.org/"
        known(brain, url)
        claim = claimed(brain, clock, url) if under_a_claim else None
        clock.pass_(1.0)
        itself = {"redirected_to": url} if visit.get("redirected_to") == A else {}
        (answer,) = brain.report([Fetched(url, **{"claim": claim, **visit, **itself})])
        assert answer.accepted, answer.reason
        assert links(brain, url) == [B, C], visit
        page = brain.page(url)
        assert (page.lease_until, page.state) == (None, "known")
        good = visit.get("status", 200) in (200, 202, 204, 205, 206, 304)
        assert good == (answer.outcome not in ("retry", "slowed")), visit


def test_a_page_whose_links_are_gone_loses_them(brain: Brain, clock: HandClock) -> None:
    for visit in ({}, {"body": b"<p>one"}, {"body_hash": "x"}, {"status": 203}, {"changed": True}):
        brain.report([Fetched(A, [B, C], fetched_at=clock.pass_(1.0))])
        brain.report([Fetched(A, **{"fetched_at": clock.pass_(1.0), **visit})])  # type: ignore[arg-type]
        assert links(brain) == [], visit


@pytest.mark.parametrize("status", [206, 404, 503, 302])
def test_links_of_what_is_no_whole_page_are_added(brain: Brain, clock: HandClock, status: int) -> None:
    """The spider that reads error pages loses nothing; nor does the page."""
    known(brain)
    (answer,) = brain.report([Fetched(A, [D, B], claimed(brain, clock), status)])
    assert answer.accepted
    assert sorted(links(brain)) == [B, C, D]


def test_a_temporary_redirect_that_was_not_followed_leads_on(brain: Brain, clock: HandClock) -> None:
    brain.seed([A])
    (answer,) = brain.report([Fetched(A, claim=claimed(brain, clock), status=302, redirected_to=B)])
    page = brain.page(A)
    assert (answer.outcome, page.state, page.redirects_to, page.led_to, links(brain)) == ("new", "known", None, [B], [])
    assert brain.page(B).state == "frontier"


def test_an_error_in_a_page_is_the_failure_it_would_have_been(make_brain: MakeBrain, clock: HandClock) -> None:
    """Of two pages that answer alike, one reported as fetched."""
    for status in (404, 410, 500, 503, 429, 301, 302, 418, 100, 999):
        brain = make_brain(max_errors=2)
        brain.seed([A, B])
        for _ in range(2):
            clock.pass_(400_000.0)
            brain.tend(0.0)
            one, other = sorted(brain.next_urls(2), key=lambda claim: claim.url)
            answers = brain.report([Fetched(A, claim=one, status=status), Failed(B, other, status)])
            assert answers[0].outcome == answers[1].outcome
            pages = [brain.page(url) for url in (A, B)]
            same = [(p.state, p.errors, p.status, p.error, p.fetched, p.not_before is None) for p in pages]
            assert same[0] == same[1]


# ---------------------------------------------------------------- not modified, and never fetched


def test_not_modified_though_never_fetched_comes_again_without_validators(
    make_brain: MakeBrain, clock: HandClock
) -> None:
    brain = make_brain(max_errors=2)
    brain.seed([A])
    waits: list[float] = []
    for _ in range(5):  # more than max_errors: it is no fault of the page
        claim = claimed(brain, clock)
        assert (claim.etag, claim.last_modified) == (None, None)
        (answer,) = brain.report([Fetched(A, claim=claim, status=304, etag='"x"')])
        page = brain.page(A)
        assert (answer.accepted, answer.outcome, page.state) == (True, "retry", "frontier")
        assert "never fetched" in answer.reason
        assert (page.first_fetched, page.etag, page.lease_until) == (None, None, None)
        assert page.not_before is not None
        waits.append(page.not_before - clock())
    assert waits[0] >= 45.0
    # A page that is asked for by hand while it is held back begins anew; one that is due does not.
    assert waits[1] > 2 * waits[0], "no loop"
    (answer,) = brain.report([Fetched(A, [B], claimed(brain, clock), body=b"x")])
    assert (answer.outcome, brain.page(A).errors) == ("new", 0)


@pytest.mark.parametrize("state", ["alias", "gone"])
def test_what_has_lost_its_links_is_asked_for_in_full(make_brain: MakeBrain, clock: HandClock, state: str) -> None:
    """Were it sent its old ETag, it would be as it was, and have no links for ever."""
    brain = make_brain(max_errors=1)
    known(brain)
    clock.pass_(1.0)
    brain.report([Fetched(A, status=301, redirected_to=D, etag='"y"') if state == "alias" else Failed(A, status=404)])
    page = brain.page(A)
    assert (page.state, page.etag, page.last_modified) == (state, None, None)
    clock.pass_(1.0)
    (answer,) = brain.report([Fetched(A, status=304)])
    assert (answer.outcome, brain.page(A).state) == ("retry", state)
    clock.pass_(1.0)
    (answer,) = brain.report([Fetched(A, [B, C], body=b"x")])
    assert (brain.page(A).state, brain.page(A).redirects_to, links(brain)) == ("known", None, [B, C])


# ---------------------------------------------------------------- what is refused ends its claim


def test_a_refused_visit_of_a_live_claim_is_a_failure_of_the_page(brain: Brain, clock: HandClock) -> None:
    brain.seed([A])
    for errors in (1, 2):
        claim = claimed(brain, clock)
        (answer,) = brain.report([Fetched(A, [B], claim, relevance=7.0)])
        page = brain.page(A)
        assert (answer.accepted, answer.outcome) == (False, None)
        assert "relevance" in answer.reason
        assert (page.errors, page.lease_until, page.state) == (errors, None, "frontier")
        assert "relevance" in (page.error or "")
        assert page.not_before is not None
        assert page.not_before > clock()
        assert not brain.next_urls(1)


def test_it_is_none_when_the_page_is_reported_rightly_beside_it(brain: Brain, clock: HandClock) -> None:
    brain.seed([A])
    claim = claimed(brain, clock)
    bad, good, twice = brain.report([Fetched(A, claim=claim, status=7), Fetched(A, [B], claim), Failed(A, claim)])
    assert (bad.accepted, good.accepted, twice.accepted) == (False, True, False)
    assert (brain.page(A).errors, links(brain)) == (0, [B])


def test_nor_does_a_claim_that_was_lost_harm_the_page(brain: Brain, clock: HandClock) -> None:
    brain.seed([A])
    claim = claimed(brain, clock)
    brain.give_back([claim])
    (answer,) = brain.report([Fetched(A, claim=claim, relevance=7.0)])
    assert not answer.accepted
    assert "relevance" in answer.reason
    assert brain.page(A).errors == 0
    again = claimed(brain, clock)
    brain.report([Fetched(A, claim=dataclasses.replace(again, token="f" * 32), relevance=7.0)])
    assert brain.page(A).lease_until is not None


def test_a_line_that_cannot_be_read_ends_its_claim(brain: Brain, clock: HandClock) -> None:
    brain.seed([A])
    (answer,) = brain.report([Unusable("", claimed(brain, clock), "line 1: no JSON")])
    assert (answer.accepted, answer.reason) == (False, "line 1: no JSON")
    assert brain.page(A).error == "refused: line 1: no JSON"


class Odd:
    """An object of the caller's own that raises when it is looked at."""

    def __repr__(self) -> str:
        raise ZeroDivisionError

    __str__ = __hash__ = __repr__  # type: ignore[assignment]


class OddLink:
    @property
    def url(self) -> str:
        raise KeyError("url")


def broken() -> Iterator[str]:
    yield B
    raise OSError("the page\nended")


ODD: list[Any] = [
    *(None, True, False, 0, -1, 1, 7, 10**30, 10**400, 0.5, -0.0, 1e308, 5e-324, float("nan"), float("inf")),
    *("", "x", "a\0b", "\ud800", "a\nb", "x" * 1_000_000, "😀", B, b"x", bytearray(b"y"), memoryview(b"z")),
    *([], [1], [None, B], (), {}, {"url": B}, {B}, 1j, Fraction(1, 3), np.float64("nan"), np.int64(5), np.True_),
    *(HTTPStatus.OK, HTTPStatus.SERVICE_UNAVAILABLE, 304, 404, 302, 206, Odd(), [Odd()], OddLink(), [OddLink(), B]),
    *([Link(B, 7)], [Link(None)], [Link(B, Odd())]),  # type: ignore[arg-type]
]


def test_no_odd_value_costs_anything_but_its_own_item(brain: Brain, clock: HandClock) -> None:
    """In every field, under a claim and without, beside good items: those are taken, and every claim ends."""
    dice, refused = random.Random(29), set[str]()
    fields = {kind: [f.name for f in dataclasses.fields(kind) if f.name != "claim"] for kind in (Fetched, Failed)}
    for turn in range(40):
        clock.pass_(1.0)
        urls = [f"http://h{turn}.org/{n}" for n in range(8)]
        brain.seed(urls)
        held = {claim.url: claim for claim in brain.next_urls(200)}
        assert refused.isdisjoint(held), "what was refused does not come again at once"
        items: list[Any] = [Fetched(urls[0], [urls[1]], held[urls[0]]), Failed(urls[1], held[urls[1]], 500)]
        for url in urls[2:]:
            kind = dice.choice([Fetched, Failed])
            odd = {name: dice.choice(ODD) for name in dice.sample(fields[kind], dice.choice([1, 1, 2, 4]))}
            claim = held[url] if dice.random() < 0.8 else None
            items.append(kind(**{"url": url, "claim": claim, **odd}))
        items += [dice.choice(ODD), Fetched(B, broken()), Fetched(f"http://good.org/{turn}", [B])]  # type: ignore[arg-type]
        order = list(range(len(items)))
        dice.shuffle(order)
        answers = dict(zip(order, brain.report([items[n] for n in order]), strict=True))
        assert all(answers[n].accepted for n in (0, 1, len(items) - 1)), turn
        assert all(a.accepted or (a.reason and "\n" not in a.reason) for a in answers.values())
        for n, item in enumerate(items):
            claim = getattr(item, "claim", None)
            assert claim is None or brain.page(claim.url).lease_until is None, (n, answers[n])
            if claim is not None and not answers[n].accepted:
                refused.add(claim.url)
        brain.give_back(held.values())
    assert len(refused) > 20


# ---------------------------------------------------------------- the user's own functions


@pytest.mark.usefixtures("brain")
def test_a_detector_that_fails_harms_one_item(neo4j: Neo4j, clock: HandClock) -> None:
    def detector(old: Seen, _: Seen) -> bool:
        if old.etag == "bad":
            raise KeyError("x")
        return np.array([True, False]) if old.etag == "odd" else True  # type: ignore[return-value]

    with neo4j.open(crawl="test", auto_tend=False, clock=clock, detector=detector) as own:
        own.report([Fetched(url, body=b"1", etag=etag) for url, etag in ((A, "bad"), (B, "odd"), (C, "good"))])
        clock.pass_(90_000.0)
        a, b, c = own.report([Fetched(url, body=b"1") for url in (A, B, C)])
        assert [answer.outcome for answer in (a, b, c)] == ["same", "same", "changed"]
        assert "detector failed (KeyError: 'x')" in a.reason
        assert "detector failed (ValueError" in b.reason
        assert c.reason == ""


@pytest.mark.usefixtures("brain")
def test_an_estimator_that_fails_harms_one_page(neo4j: Neo4j, clock: HandClock) -> None:
    def estimator(shape: Any, scale: Any, days: Any, changed: Any) -> Any:
        if changed.any():
            raise ValueError("no")
        shape[:], scale[:] = -1.0, -1.0  # nobody's but its own
        return (2.0, 4.0) if len(days) > 2 else ([2.0] * len(days), [4.0] * len(days))

    with neo4j.open(crawl="test", auto_tend=False, clock=clock, estimator=estimator) as own:
        own.report([Fetched(url, body=b"1") for url in (A, B, C)])
        clock.pass_(90_000.0)
        own.report([Fetched(A, body=b"1"), Fetched(B, body=b"2"), Fetched(C, body=b"1")])
        assert (own.page(A).rate, own.page(C).rate) == (0.5, 0.5)
        assert (own.page(B).rate or 0.0) > 0.0
        assert own.page(B).rate != 0.5


def test_an_estimator_may_say_anything() -> None:
    settings = Settings()
    dice = np.random.default_rng(29)
    odd = np.array([0.0, -1.0, np.nan, np.inf, 1e308, 5e-324, 1e200, 1e-200, 1.0])
    for _ in range(50):
        said = dice.choice(odd, (2, 5))
        schedule = Schedule.of(settings, PRIOR, {}, lambda *_, told=said: tuple(told))
        known, days, changed = np.ones(5), np.full(5, 3.0), np.zeros(5, dtype=bool)
        with np.errstate(all="raise", under="ignore"):
            shape, scale = schedule.after_visit(["a.org"] * 5, known, known, days, changed, known)
            lane = lanes.revisit_lane(known, shape, scale)
            assert np.isfinite(schedule.worth(lane, START - 9e6, START)).all()
        assert (np.isfinite(shape) & (shape > 0) & np.isfinite(scale) & (scale > 0)).all()


@pytest.mark.parametrize("what", ["raises", "returns nothing", "returns bytes", "changes its mind"])
def test_a_canonical_step_that_fails_harms_one_item(neo4j: Neo4j, brain: Brain, clock: HandClock, what: str) -> None:
    calls = iter(range(1_000))

    def canonical(url: str) -> Any:
        if "bad" not in url:
            return url
        results = {"returns nothing": None, "returns bytes": url.encode(), "changes its mind": f"{url}{next(calls)}"}
        return results[what] if what in results else {}["x"]

    bad = "http://bad.org/"
    with neo4j.open(crawl="test", auto_tend=False, clock=clock, canonical=canonical) as own:
        assert own.seed([A, bad, B]).created >= 2
        answers = own.report([Fetched(A, [bad, C]), Fetched(bad, [A]), Fetched(D, redirected_to=bad), Fetched(B)])
        assert (answers[0].accepted, answers[3].accepted) == (True, True)
        assert C in links(own)
        assert len(own.hint([A, bad, B])) == 3
        assert own.crawl_now([A, bad])[0]
        own.note({bad: "x", A: "y"})
        for ask in (own.page, own.links):
            try:
                ask(bad)
            except GraphbrainError as error:
                assert str(error)
    assert brain.page(A).state == "known"


# ---------------------------------------------------------------- clocks


def test_the_time_of_a_claim_is_kept(brain: Brain, clock: HandClock) -> None:
    brain.seed([A])
    assert brain.page(A).claimed is None
    claim = claimed(brain, clock)
    at = clock()
    assert claim.claimed == pytest.approx(at, abs=0.001)
    clock.pass_(100.0)
    brain.renew([claim])
    assert brain.page(A).claimed == pytest.approx(at, abs=0.001)
    brain.report([Fetched(A, claim=claim)])
    assert brain.page(A).claimed is None


@pytest.mark.parametrize("kind", [Fetched, Failed])
def test_a_crawler_whose_clock_is_wrong_does_no_harm(brain: Brain, clock: HandClock, kind: Any) -> None:
    for number, off in enumerate((-1e9, -90_000.0, -5.0, 0.0, 5.0, 59.0, 61.0, 90_000.0, 1e9)):
        url = f"http://{number}.org/"
        brain.seed([url])
        brain.report([Fetched(url, [B], claimed(brain, clock, url), body=b"1")])
        claim = claimed(brain, clock, url)
        began = clock()
        clock.pass_(10.0)
        (answer,) = brain.report([kind(url, claim=claim, fetched_at=max(0.0, clock() + off))])
        page = brain.page(url)
        assert answer.accepted, answer.reason
        assert page.lease_until is None
        at = page.fetched if kind is Fetched else page.failed
        assert at == pytest.approx(min(max(began, clock() + off), clock()), abs=0.001), off


def test_an_unclaimed_visit_of_no_time_at_all_teaches_nothing(brain: Brain, clock: HandClock) -> None:
    """A clock that was not set says 1970: what lies between that and now is no time without a change."""
    brain.report([Fetched(A, body=b"1", fetched_at=0.0)])
    clock.pass_(90_000.0)
    brain.report([Fetched(A, body=b"1")])
    assert brain.page(A).rate is None
    clock.pass_(90_000.0)
    brain.report([Fetched(A, body=b"1")])
    assert (brain.page(A).rate or 0.0) > 0.0
    (answer,) = brain.report([Fetched(A, fetched_at=START + 10**9)])
    assert not answer.accepted
