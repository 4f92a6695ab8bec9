"""Reported items before any transaction: folded, hashed, given a token, or refused."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from hashlib import blake2b
from typing import Any

import numpy as np
import pytest

from graphbrain import Claim, Failed, Fetched, Link
from graphbrain.base.model import Answer
from graphbrain.base.urls.normalization import USER_LEFT_OUT, Rules, key_of
from graphbrain.frontier.reports.outcomes import Item
from graphbrain.frontier.reports.report_intake import SKEW, Intake

A, B, C = "http://a.org/", "http://b.org/", "http://c.org/"
NOW = 1_000_000.0
RULES = Rules()


def intake(max_links: int = 100) -> Intake:
    return Intake(RULES, max_links, NOW)


def item(report: Any, max_links: int = 100) -> Item:
    checked = intake(max_links).check(report)
    assert isinstance(checked, Item), checked
    return checked


def claim(url: str = A, token: Any = "t" * 32) -> Claim:
    return Claim(url, key_of(url), token, NOW, "a.org", 0)


def test_a_page_is_known_by_its_canonical_url() -> None:
    made = item(Fetched("http://A.org:80/#x"))
    assert (made.url, made.key) == (A, key_of(A))


def test_a_claimed_visit_carries_its_claims_token() -> None:
    made = item(Fetched(A, claim=claim()))
    assert (made.token, made.claimed) == ("t" * 32, True)


def test_an_unclaimed_visit_gets_a_token_of_its_own() -> None:
    one, other = item(Fetched(A)), item(Fetched(A))
    assert one.token != other.token
    assert not one.claimed


@pytest.mark.parametrize("token", [None, "", 7])
def test_a_claim_without_a_token_is_refused(token: object) -> None:
    """Else it would fit a page that nobody holds, whose token is null."""
    assert isinstance(intake().check(Fetched(A, claim=claim(token=token))), Answer)


def test_links_fold_in_page_order() -> None:
    made = item(Fetched(A, [C, B, "http://c.org/#x", Link(B), A]))
    assert [url for url, _ in made.targets.values()] == [C, B]
    assert (made.refused, made.over) == ((), 0)


@pytest.mark.parametrize(
    ("guesses", "held"),
    [((None, 0.3), 0.3), ((0.3, None), 0.3), ((0.2, 0.7, 0.5), 0.7), ((None, 0.0), 0.0), ((1,), 1.0)],
)
def test_of_several_guesses_the_largest_holds(guesses: tuple[Any, ...], held: float) -> None:
    made = item(Fetched(A, [Link(B, guess) for guess in guesses]))
    assert made.targets[key_of(B)] == (B, held)


def test_links_over_the_limit_are_counted_once_each() -> None:
    made = item(Fetched(A, [B, C, "http://d.org/", "http://d.org/#x", "http://e.org/", B]), 2)
    assert [url for url, _ in made.targets.values()] == [B, C]
    assert made.over == 2


def test_links_that_name_a_user_are_taken_without_it_and_counted() -> None:
    made = item(Fetched(A, ["http://u:p@b.org/", Link("http://:@c.org/"), B, "http://a.org/x@y"]))
    assert [url for url, _ in made.targets.values()] == [B, C, "http://a.org/x@y"]
    assert made.users == 2 and not made.refused


def test_a_page_that_is_reported_with_a_user_is_the_one_without() -> None:
    made = item(Fetched("http://u:p@a.org/", [B]))
    assert (made.url, made.key, made.note) == (A, key_of(A), USER_LEFT_OUT)


def test_a_redirect_is_read_as_browsers_read_it() -> None:
    made = item(Fetched(A, redirected_to="\\\\u:p@b.org\\x", status=301))
    assert [url for url, _ in made.targets.values()] == ["http://b.org/x"] and made.users == 1
    made = item(Fetched(A, redirected_to="//u:secret@b..org/", status=301))
    assert "secret" not in made.note and isinstance(made.report, Failed) and "secret" not in made.report.error


def test_a_claim_that_names_a_user_brings_none_back() -> None:
    old = replace(claim(), url="http://u:p@a.org/")
    made = item(Fetched(old.url, [B], claim=old))
    assert (made.url, made.key) == (A, old.key)


def test_a_guess_for_a_kept_link_counts_even_after_the_limit() -> None:
    made = item(Fetched(A, [B, C, "http://d.org/", Link(B, 0.5)]), 2)
    assert made.targets[key_of(B)][1] == 0.5


def test_bad_links_are_refused_with_what_was_written_and_why() -> None:
    made = item(Fetched(A, ["mailto:x", Link(B, 7.0), B]))
    assert [written for written, _ in made.refused] == ["mailto:x", B]
    assert all(reason for _, reason in made.refused)
    assert list(made.targets) == [key_of(B)]


def test_links_may_come_from_a_generator() -> None:
    assert len(item(Fetched(A, (url for url in (B, C)))).targets) == 2  # type: ignore[arg-type]


def test_a_redirect_is_the_only_link() -> None:
    made = item(Fetched(A, [B], redirected_to="http://C.org"))
    assert [url for url, _ in made.targets.values()] == [C]


def test_a_redirect_to_itself_leads_nowhere() -> None:
    made = item(Fetched(A, redirected_to="http://A.org:80/#x"))
    assert isinstance(made.report, Failed)
    assert (made.missing, made.circles, made.spelling) == (False, True, None)
    assert "itself" in made.note


def test_a_redirect_to_another_spelling_of_its_own_url_brings_that() -> None:
    made = item(Fetched("http://a.org/?a=1&b=2", redirected_to="http://a.org/?b=2&a=1"))
    assert isinstance(made.report, Failed)
    assert (made.missing, made.circles, made.spelling) == (False, True, "http://a.org/?b=2&a=1")


def test_a_claimed_page_is_known_by_its_claim() -> None:
    """Whatever the rules make of its URL now: they may have changed, or depend on what they should not."""
    other = replace(claim(), key="0" * 32)
    assert item(Fetched(A, claim=other)).key == other.key
    assert isinstance(intake().check(Fetched(B, claim=other)), Answer)


@pytest.mark.parametrize("key", [None, "", "x", 7])
def test_a_claim_without_a_key_is_refused(key: Any) -> None:
    assert isinstance(intake().check(Fetched(A, claim=replace(claim(), key=key))), Answer)


def test_a_body_is_hashed_and_a_hash_is_taken_as_it_is() -> None:
    assert item(Fetched(A, body=b"x")).seen.body_hash == blake2b(b"x", digest_size=16).hexdigest()
    assert item(Fetched(A, body=b"x", body_hash="mine")).seen.body_hash == "mine"
    assert item(Fetched(A)).seen.body_hash is None


@pytest.mark.parametrize(
    ("at", "taken"),
    [(None, NOW), (NOW - 9.0, NOW - 9.0), (NOW + SKEW, NOW), (0, 0)],
)
def test_a_visit_is_now_or_before(at: float | None, taken: float) -> None:
    assert item(Fetched(A, fetched_at=at)).at == taken
    assert item(Failed(A, fetched_at=at)).at == taken


def test_a_visit_from_the_future_is_refused() -> None:
    answer = intake().check(Fetched(A, fetched_at=NOW + SKEW + 1.0))
    assert isinstance(answer, Answer)
    assert "future" in answer.reason


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int64, Fraction], ids=lambda kind: kind.__name__)
def test_a_number_may_be_numpys(kind: Any) -> None:
    """It becomes one that the database takes."""
    made = item(
        Fetched(A, [Link(B, kind(1))], status=kind(200), relevance=kind(1), fetched_at=kind(7), seconds=kind(2))
    )
    report = made.report
    assert isinstance(report, Fetched)
    assert (report.status, report.relevance, report.seconds, made.at) == (200, 1, 2, 7)
    guess = made.targets[key_of(B)][1]
    assert guess == 1
    numbers = (report.status, report.relevance, report.seconds, made.at, guess)
    assert {type(number) for number in numbers} <= {int, float}
    assert item(Failed(A, status=kind(503), retry_after=kind(9))).report.retry_after == 9  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("told", "wait"),
    [
        *((7, 7.0), ("120", 120.0), (b"120", 120.0), (10**400, 1e9), (float("nan"), None), (-5, None), ("soon", None)),
        *(([], None), ("\ud800", None), ("Mon, 12 Jan 1970 13:47:40 GMT", 60.0)),
    ],
)
def test_a_retry_after_is_seconds_or_a_date_and_nothing_else_is_a_reason_to_refuse(
    told: Any, wait: float | None
) -> None:
    made = intake().check(Failed(A, status=503, retry_after=told))
    assert isinstance(made, Item)
    assert made.retry_after == made.report.retry_after == wait  # type: ignore[union-attr]


@pytest.mark.parametrize("wrong", [np.float32("nan"), np.float32(1.5), np.True_, Decimal("0.5"), "0.5", 1j], ids=repr)
def test_what_is_no_share_is_refused(wrong: Any) -> None:
    answer = intake().check(Fetched(A, relevance=wrong))
    assert isinstance(answer, Answer)
    assert "relevance must be from 0 to 1" in answer.reason


def test_a_page_twice_is_refused_the_second_time() -> None:
    one = intake()
    assert isinstance(one.check(Fetched(A)), Item)
    again = one.check(Failed("http://A.org"))
    assert isinstance(again, Answer)
    assert "twice" in again.reason
    assert isinstance(one.check(Fetched(B)), Item)


def test_a_bad_item_does_not_count_as_the_first_of_two() -> None:
    one = intake()
    assert isinstance(one.check(Fetched(A, relevance=7.0)), Answer)
    assert isinstance(one.check(Fetched(A)), Item)


def test_a_claim_for_another_page_is_refused() -> None:
    answer = intake().check(Fetched(B, claim=claim(A)))
    assert isinstance(answer, Answer)
    assert A in answer.reason


@pytest.mark.parametrize(
    ("report", "replaces"),
    [(Fetched(A), True), (Fetched(A, not_modified=True), False), (Failed(A), False)],
)
def test_only_a_page_that_was_read_says_what_it_links_to(report: Any, replaces: bool) -> None:
    assert item(report).replaces_links() == replaces


@pytest.mark.parametrize("thing", [None, "http://a.org/", {"url": A}, Fetched(None), Fetched("\ud800")], ids=repr)
def test_the_refusal_names_what_was_refused(thing: Any) -> None:
    answer = intake().check(thing)
    assert isinstance(answer, Answer)
    assert not answer.accepted
    assert answer.url.encode("utf-8")
    assert answer.reason


@pytest.mark.parametrize("wrong", [-0.1, 1.1e12, float("nan"), float("inf"), "7", True])
def test_a_value_is_of_any_scale_but_a_number(wrong: object) -> None:
    answer = intake().check(Fetched(A, value=wrong))  # type: ignore[arg-type]
    assert isinstance(answer, Answer)
    assert "value must be from 0 to 1e+12" in answer.reason
    links: list[Any] = [Link(B, value=wrong), Link(C, value=3)]  # type: ignore[arg-type]
    made = item(Fetched(A, links, value=40))
    assert (made.report.value, list(made.values.values())) == (40.0, [3.0])  # type: ignore[union-attr]
    assert [url for url, _ in made.refused] == [B]


def test_of_several_guesses_of_a_value_the_largest_holds() -> None:
    links = [Link(B), Link(B, value=2), Link(B, value=9), B, Link(B, value=3), Link(A, value=5)]
    assert list(item(Fetched(A, links)).values.values()) == [9.0]


@pytest.mark.parametrize(
    ("failed", "kind"),
    [
        (Failed(A), "silent"),
        (Failed(A, fault="silent"), "silent"),
        (Failed(A, fault="not_sent"), "none"),
        (Failed(A, fault="not_understood"), "none"),
        (Failed(A, status=500, fault="silent"), "broken"),
        (Failed(A, status=408), "broken"),
        (Failed(A, status=429, fault="not_sent"), "refused"),
        (Failed(A, status=404), "well"),
    ],
)
def test_the_kind_of_an_attempt_follows_from_its_status_and_without_one_from_its_fault(
    failed: Failed, kind: str
) -> None:
    assert item(failed).kind == kind
