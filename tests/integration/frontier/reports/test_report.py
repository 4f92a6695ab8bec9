"""What a report does to a page: outcomes, links by difference, tokens, failures."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest

from graphbrain import Brain, Claim, Failed, Fetched
from tests.integration.conftest import START, HandClock, lose_an_answer, sound
from tests.verbs import neighbours

MakeBrain = Callable[..., Brain]

A, B, C, D = "http://a.org/", "http://b.org/", "http://c.org/", "http://d.org/"
DAY = 86_400.0


def claim_of(brain: Brain, url: str) -> Claim:
    """A claim for one page, seeded for it."""
    brain.seed([url])
    (claim,) = brain.next_urls(1)
    assert claim.url == url
    return claim


# ---------------------------------------------------------------- outcomes


def test_a_first_visit_is_new(brain: Brain) -> None:
    (answer,) = brain.report(
        [Fetched(A, claim=claim_of(brain, A), body=b"x", etag="E", last_modified="L", relevance=0.7)]
    )
    page = brain.page(A)
    assert (answer.accepted, answer.outcome) == (True, "new")
    assert (page.state, page.status, page.visits, page.changes) == ("known", 200, 1, 0)
    assert (page.fetched, page.first_fetched, page.changed) == (START, START, START)
    assert (page.etag, page.last_modified, page.relevance) == ("E", "L", 0.7)
    assert (page.lease_until, page.queue, page.waiting_since) == (None, "*", START)


@pytest.mark.parametrize(
    ("second", "outcome", "changes"),
    [
        ({"body": b"other"}, "changed", 1),
        ({"body": b"first"}, "same", 0),
        ({}, "same", 0),
        ({"not_modified": True}, "same", 0),
        ({"body_hash": "mine"}, "changed", 1),
    ],
    ids=str,
)
def test_a_later_visit_compares_bodies(
    brain: Brain, clock: HandClock, second: dict[str, object], outcome: str, changes: int
) -> None:
    brain.report([Fetched(A, body=b"first")])
    clock.pass_(DAY)
    (answer,) = brain.report([Fetched(A, **second)])  # type: ignore[arg-type]
    page = brain.page(A)
    assert (answer.outcome, page.visits, page.changes) == (outcome, 2, changes)
    assert (page.fetched, page.first_fetched) == (START + DAY, START)
    assert page.changed == (START + DAY if changes else START)


def test_a_body_that_comes_back_is_a_change_each_time(brain: Brain, clock: HandClock) -> None:
    outcomes = []
    for body in (b"1", b"2", b"1", b"1"):
        clock.pass_(1.0)
        outcomes.append(brain.report([Fetched(A, body=body)])[0].outcome)
    assert outcomes == ["new", "changed", "changed", "same"]


def test_not_modified_keeps_links_and_hash(brain: Brain, clock: HandClock) -> None:
    brain.report([Fetched(A, [B, C], body=b"1")])
    before = brain.page(A).body_hash
    clock.pass_(1.0)
    brain.report([Fetched(A, not_modified=True)])
    page = brain.page(A)
    assert (page.status, page.body_hash, page.out_links) == (304, before, 2)


def test_a_redirect_makes_an_alias_and_hands_its_value_on(brain: Brain) -> None:
    (answer,) = brain.report([Fetched(A, redirected_to=B)])
    page = brain.page(A)
    assert (answer.outcome, page.state, page.redirects_to) == ("alias", "alias", B)
    assert neighbours(brain, A) == ([], [])
    assert [claim.url for claim in brain.next_urls(9)] == [B]


def test_an_alias_that_points_elsewhere_points_there_only(brain: Brain, clock: HandClock) -> None:
    brain.report([Fetched(A, redirected_to=B)])
    clock.pass_(1.0)
    brain.report([Fetched(A, redirected_to=C)])
    assert brain.page(A).redirects_to == C
    assert neighbours(brain, A) == ([], [])


def test_an_alias_that_is_a_page_again_redirects_no_more(brain: Brain, clock: HandClock) -> None:
    brain.report([Fetched(A, redirected_to=B)])
    clock.pass_(1.0)
    brain.report([Fetched(A, [C])])
    page = brain.page(A)
    assert (page.state, page.redirects_to) == ("known", None)
    assert neighbours(brain, A) == ([C], [])


# ---------------------------------------------------------------- links by difference


def test_links_are_replaced_by_what_the_page_says_now(brain: Brain, clock: HandClock) -> None:
    brain.report([Fetched(A, [B, C])])
    brain.tend(None)
    clock.pass_(1.0)
    (answer,) = brain.report([Fetched(A, [C, D])])
    assert answer.links == 2
    assert neighbours(brain, A) == ([C, D], [])
    assert (brain.page(B).in_weight, brain.page(B).state) == (0.0, "frontier")


def test_accounts_are_repaired_when_links_go(brain: Brain, clock: HandClock) -> None:
    """After all links have gone each page is worth its payout again, whatever was paid meanwhile."""
    brain.report([Fetched(A, [B, C]), Fetched(B, [A, C]), Fetched(C, [A])])
    brain.tend(None)
    assert brain.page(A).authority_score > 1.5
    clock.pass_(1.0)
    brain.report([Fetched(A), Fetched(B), Fetched(C)])
    for url in (A, B, C):
        page = brain.page(url)
        assert page.hub_score == pytest.approx(1.0, abs=1e-9)
        assert page.authority_score == pytest.approx(1.0, abs=1e-9)


def test_the_same_links_again_change_nothing(brain: Brain, clock: HandClock) -> None:
    brain.report([Fetched(A, [B, C])])
    brain.tend(None)
    before = [brain.page(url) for url in (B, C)]
    clock.pass_(1.0)
    brain.report([Fetched(A, [C, B])])
    assert [brain.page(url) for url in (B, C)] == before


def test_a_batch_that_links_in_circles_is_sound(brain: Brain, clock: HandClock) -> None:
    urls = [f"http://ring.org/{n}" for n in range(30)]
    for shift in (1, 2, 5):
        clock.pass_(1.0)
        brain.report([Fetched(url, [urls[(n + shift) % 30], urls[n - 1]]) for n, url in enumerate(urls)])
        brain.tend(0.05)
        sound(brain)
    assert brain.stats()["links"] == 60


# ---------------------------------------------------------------- who may report


def test_an_unclaimed_visit_is_taken_and_leaves_the_lease_alone(brain: Brain) -> None:
    claim = claim_of(brain, A)
    (answer,) = brain.report([Fetched(A, [B], body=b"1")])
    assert (answer.accepted, answer.outcome) == (True, "new")
    assert brain.page(A).lease_until == claim.until
    (answer,) = brain.report([Fetched(A, [B], claim, body=b"1")])
    assert (answer.accepted, answer.outcome) == (True, "same")
    assert brain.page(A).lease_until is None


def test_an_unclaimed_visit_takes_the_page_out_of_the_frontier(brain: Brain) -> None:
    brain.seed([A])
    brain.report([Fetched(A)])
    assert not brain.next_urls(1)


def test_an_old_unclaimed_visit_is_refused(brain: Brain, clock: HandClock) -> None:
    clock.pass_(100.0)
    brain.report([Fetched(A, [B])])
    (answer,) = brain.report([Fetched(A, [C], fetched_at=START + 50.0)])
    assert (answer.accepted, answer.reason) == (False, "a later visit is known")
    assert neighbours(brain, A) == ([B], [])


def test_an_unclaimed_failure_of_a_held_page_is_refused(brain: Brain) -> None:
    claim = claim_of(brain, A)
    (answer,) = brain.report([Failed(A, status=500)])
    assert not answer.accepted
    assert brain.page(A).lease_until == claim.until


def test_a_report_under_a_lapsed_lease_is_refused_but_its_discoveries_stay(brain: Brain, clock: HandClock) -> None:
    claim = claim_of(brain, A)
    clock.pass_(1_000.0)
    assert brain.tend(0).swept == 1
    (answer,) = brain.report([Fetched(A, [B], claim, body=b"1", relevance=0.9)])
    page = brain.page(A)
    assert not answer.accepted
    assert "lapsed" in answer.reason
    assert (page.state, page.visits, page.body_hash, page.relevance) == ("frontier", 0, None, None)
    assert neighbours(brain, A) == ([B], [])
    assert {claim.url for claim in brain.next_urls(9)} == {A, B}


def test_a_lease_that_has_lapsed_but_was_not_swept_is_still_good(brain: Brain, clock: HandClock) -> None:
    claim = claim_of(brain, A)
    clock.pass_(1_000.0)
    (answer,) = brain.report([Fetched(A, [], claim)])
    assert answer.accepted


def test_a_report_under_anothers_lease_is_refused(brain: Brain, clock: HandClock) -> None:
    late = claim_of(brain, A)
    clock.pass_(1_000.0)
    brain.tend(0)
    (now,) = brain.next_urls(1)
    first, second = (brain.report([Fetched(A, [], claim)])[0] for claim in (late, now))
    assert (first.accepted, second.accepted) == (False, True)


def test_links_of_a_refused_visit_to_a_known_page_are_not_taken(brain: Brain, clock: HandClock) -> None:
    claim = claim_of(brain, A)
    brain.report([Fetched(A, [B])])
    clock.pass_(1_000.0)
    brain.tend(0)
    brain.report([Fetched(A, [C], claim)])
    assert neighbours(brain, A) == ([B], [])
    assert brain.page(C).in_links == 0


def test_the_same_report_again_gets_the_same_answer_and_does_nothing(brain: Brain, clock: HandClock) -> None:
    visit = Fetched(A, [B], claim_of(brain, A), body=b"1")
    first = brain.report([visit])
    clock.pass_(1.0)
    before = brain.page(A)
    assert brain.report([visit]) == first
    assert brain.page(A) == before


def test_a_visit_told_again_with_other_links_makes_no_pages_and_counts_once(brain: Brain) -> None:
    brain.seed([A])
    (claim,) = brain.next_urls(1)
    first = brain.report([Fetched(A, [B], claim)])
    before = brain.stats()
    assert brain.report([Fetched(A, [B, C, "http://d.org/"], claim)])[0].accepted and first[0].accepted
    after = brain.stats()
    assert (after["pages"], after["links"], after["done"]) == (before["pages"], before["links"], before["done"])
    brain.seed([C])
    (other,) = brain.next_urls(1)
    # Beside one of its kind a visit that is new counts.
    brain.report([Fetched(A, [C], claim), Fetched(other.url, [A, B], other)])
    assert brain.stats()["done"]["pages"] == before["done"]["pages"] + 1
    sound(brain)


def test_a_visit_whose_answer_was_lost_on_the_way_counts(brain: Brain, monkeypatch: pytest.MonkeyPatch) -> None:
    brain.seed([A])
    (claim,) = brain.next_urls(1)
    lost = lose_an_answer(monkeypatch)
    assert brain.report([Fetched(A, [B], claim)])[0].accepted and not lost
    monkeypatch.undo()
    assert (brain.stats()["done"]["pages"], brain.stats()["done"]["links"]) == (1, 1)


def test_the_same_failure_again_is_not_counted_twice(brain: Brain, clock: HandClock) -> None:
    visit = Failed(A, claim_of(brain, A), status=500)
    first = brain.report([visit])
    clock.pass_(1.0)
    assert brain.report([visit]) == first
    assert brain.page(A).errors == 1


def test_a_claim_for_another_page_is_refused(brain: Brain) -> None:
    claim = claim_of(brain, A)
    (answer,) = brain.report([Fetched(B, [], claim)])
    assert not answer.accepted
    assert A in answer.reason


def test_a_claim_that_was_given_back_is_refused(brain: Brain) -> None:
    claim = claim_of(brain, A)
    brain.give_back([claim])
    (answer,) = brain.report([Fetched(A, [B], claim)])
    assert not answer.accepted
    assert "given back" in answer.reason


def test_a_page_twice_in_a_batch_counts_once(brain: Brain) -> None:
    first, second = brain.report([Fetched(A, [B]), Fetched("http://A.org", [C])])
    assert (first.accepted, second.accepted) == (True, False)
    assert "twice" in second.reason
    assert neighbours(brain, A) == ([B], [])


def test_a_forgotten_page_is_refused_and_its_discoveries_stay(brain: Brain) -> None:
    claim = claim_of(brain, A)
    brain.forget(A)
    (answer,) = brain.report([Fetched(A, [B], claim)])
    assert (answer.accepted, answer.reason) == (False, "the page was forgotten")
    assert brain.page(B).state == "frontier"


def test_answers_come_in_the_order_of_the_items(brain: Brain) -> None:
    urls = [f"http://a.org/{n}" for n in range(450)]  # three transactions
    answers = brain.report([Fetched(url) for url in urls])
    assert [answer.url for answer in answers] == urls
    assert brain.stats()["pages"] == 450


# ---------------------------------------------------------------- failures


def fail(brain: Brain, clock: HandClock, **how: object) -> tuple[str | None, float | None]:
    """Claim A when its time has come, fail it; the outcome and the seconds until its next time."""
    due = brain.page(A).not_before
    clock.at = max(clock.at, due or 0.0)
    brain.tend(0)
    (claim,) = brain.next_urls(1)
    (answer,) = brain.report([Failed(A, claim, **how)])  # type: ignore[arg-type]
    again = brain.page(A).not_before
    return answer.outcome, None if again is None else again - clock.at


def test_a_missing_page_is_tried_again_over_days_and_then_gone(brain: Brain, clock: HandClock) -> None:
    brain.seed([A])
    tries = [fail(brain, clock, status=404) for _ in range(5)]
    assert tries == [
        ("retry", DAY),
        ("retry", 4 * DAY),
        ("retry", 16 * DAY),
        ("retry", 64 * DAY),
        ("gone", None),
    ]
    assert brain.page(A).state == "gone"
    assert brain.next_urls(1).finished


def test_a_broken_page_is_tried_again_over_days_and_then_parked(brain: Brain, clock: HandClock) -> None:
    brain.seed([A])
    tries, began = [fail(brain, clock, status=500)], clock.at
    while tries[-1][0] != "gone":
        brain.report([Fetched("http://a.org/well", fetched_at=clock.pass_(1.0))])  # it is no fault of its host
        clock.pass_((tries[-1][1] or 0.0) + 1.0)
        tries.append(fail(brain, clock, status=500))
    assert 10 < len(tries) < 20
    assert 3 * DAY <= clock.at - began < 8 * DAY
    pauses = [pause or 0.0 for _, pause in tries[:-1]]
    assert all(pause >= 0.75 * 60.0 for pause in pauses)
    assert all(after < 3.5 * before for before, after in pairwise(pauses))
    assert brain.page(A).state == "parked"


def test_no_answer_at_all_is_tried_again(brain: Brain, clock: HandClock) -> None:
    brain.seed([A])
    outcome, pause = fail(brain, clock, error="time-out")
    assert (outcome, brain.page(A).status) == ("retry", None)
    assert pause is not None


def test_max_errors_is_a_setting(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(max_errors=1)
    brain.seed([A])
    assert fail(brain, clock, status=410) == ("gone", None)


def test_a_failed_page_does_not_wait_until_its_time_has_come(brain: Brain, clock: HandClock) -> None:
    brain.seed([A])
    _, pause = fail(brain, clock, status=404)
    clock.pass_((pause or 0) - 1.0)
    assert brain.tend(0).released == 0
    answer = brain.next_urls(1)
    assert (len(answer), answer.finished, answer.next_ready) == (0, False, clock.at + 1.0)
    clock.pass_(1.0)
    assert brain.tend(0).released == 1
    assert [claim.url for claim in brain.next_urls(1)] == [A]


def test_a_success_forgives_failures(brain: Brain, clock: HandClock) -> None:
    brain.seed([A])
    fail(brain, clock, status=500)
    clock.pass_(DAY)
    brain.tend(0)
    brain.report([Fetched(A, [], brain.next_urls(1)[0])])
    page = brain.page(A)
    assert (page.errors, page.not_before, page.state) == (0, None, "known")


def test_an_unclaimed_success_ends_the_retries(brain: Brain, clock: HandClock) -> None:
    brain.seed([A])
    fail(brain, clock, status=500)
    clock.pass_(1.0)
    brain.report([Fetched(A)])
    clock.pass_(DAY - 1.0)
    brain.tend(0)
    assert brain.next_urls(1).finished


def test_a_failure_leaves_links_and_scores_alone(brain: Brain, clock: HandClock) -> None:
    brain.report([Fetched(A, [B]), Fetched(B, [A])])
    brain.tend(None)
    before = brain.page(A)
    clock.pass_(1.0)
    brain.report([Failed(A, status=500)])
    after = brain.page(A)
    assert (after.state, after.errors, after.status) == ("known", 1, 500)
    assert (after.hub_score, after.out_links, after.fetched) == (
        before.hub_score,
        before.out_links,
        before.fetched,
    )


@pytest.mark.parametrize("status", [429, 503])
def test_a_host_that_asks_for_quiet_gets_it_and_the_page_is_not_blamed(
    brain: Brain, clock: HandClock, status: int
) -> None:
    brain.seed([A, "http://a.org/2", B])
    held = {claim.url: claim for claim in brain.next_urls(1)}
    url, claim = next(iter(held.items()))
    host = claim.host
    (answer,) = brain.report([Failed(url, claim, status, retry_after=120.0)])
    assert (answer.outcome, brain.page(url).errors) == ("slowed", 0)
    assert host not in {claim.host for claim in brain.next_urls(10)}
    clock.pass_(121.0)
    assert host in {claim.host for claim in brain.next_urls(10)}


def test_without_a_retry_after_the_quiet_doubles(brain: Brain, clock: HandClock) -> None:
    brain.seed([A])
    for quiet in (60.0, 120.0, 240.0):
        (claim,) = brain.next_urls(1)
        brain.report([Failed(A, claim, 503)])
        assert not brain.next_urls(1)
        clock.pass_(quiet - 1.0)
        assert not brain.next_urls(1)
        clock.pass_(1.0)


def test_a_page_that_was_refused_waits_by_itself(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(order="best_first")
    brain.report([Fetched(A, ["http://a.org/2"])])
    clock.pass_(1.0)
    brain.report([Failed(A, status=429), Failed("http://a.org/2", status=429)])
    assert (brain.page(A).queue, brain.page(A).not_before) == (None, None)
    refused = brain.page("http://a.org/2")
    assert refused.queue is None
    assert clock.at + 60.0 <= (refused.not_before or 0.0) <= clock.at + 75.0
