"""What cannot be used is refused by item, with a reason; the rest of the batch is recorded."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from graphbrain import Brain, Failed, Fetched, Link
from graphbrain.base.errors import BadInput, UnknownPage
from tests.integration.conftest import START
from tests.verbs import neighbours, top_of

A, B, GOOD = "http://a.org/", "http://b.org/", "http://good.org/"
NAN, INF = float("nan"), float("inf")

BAD_VISITS: list[Any] = [
    Fetched("ftp://a.org/"),
    Fetched("http://"),
    Fetched("http://?path"),
    Fetched("no url at all"),
    Fetched(""),
    Fetched("http://a.org/\x00"),
    Fetched("http://a.org/" + "x" * 8200),
    Fetched(None),  # type: ignore[arg-type]
    Fetched(["http://a.org/"]),  # type: ignore[arg-type]
    Fetched(b"http://a.org/"),  # type: ignore[arg-type]
    Fetched(A, relevance=NAN),
    Fetched(A, relevance=INF),
    Fetched(A, relevance=-0.1),
    Fetched(A, relevance=1.1),
    Fetched(A, relevance="high"),  # type: ignore[arg-type]
    Fetched(A, status="200"),  # type: ignore[arg-type]
    Fetched(A, status=10**30),
    Fetched(A, status=10**400),
    Fetched(A, status=-1),
    Fetched(A, fetched_at=NAN),
    Fetched(A, fetched_at=START + 3600.0),
    Fetched(A, fetched_at="now"),  # type: ignore[arg-type]
    Fetched(A, body="text"),  # type: ignore[arg-type]
    Fetched(A, body_hash=object()),  # type: ignore[arg-type]
    Fetched(A, etag=object()),  # type: ignore[arg-type]
    Fetched(A, etag="\ud800"),
    Fetched(A, last_modified="\ud800"),
    Fetched(A, links=None),  # type: ignore[arg-type]
    Fetched(A, links=7),  # type: ignore[arg-type]
    Fetched(A, redirected_to=["x"]),  # type: ignore[arg-type]
    Fetched(A, claim={"key": "x"}),  # type: ignore[arg-type]
    Failed(A, status=10**30),
    Failed(A, error=5),  # type: ignore[arg-type]
    Failed(A, error="\ud800"),
    "http://a.org/",
    None,
    {"url": A},
]


@pytest.mark.parametrize("name", ["x" * 1_000_000, "\ud800", "a\nb", 7, ["me"]], ids=lambda name: repr(name)[:20])
def test_a_worker_is_a_name(brain: Brain, name: Any) -> None:
    brain.seed([A])
    with pytest.raises(BadInput, match="worker must be a name"):
        brain.next_urls(1, worker=name)
    (claim,) = brain.next_urls(1, worker="me")
    assert brain.page(A).worker == "me"
    wrong = dataclasses.replace(claim, key=[1], token={})  # type: ignore[arg-type]
    kept = brain.renew([wrong, claim, None])  # type: ignore[list-item]
    assert [bool(one) for one in kept] == [False, True, False]
    assert brain.give_back([wrong, claim]) == [False, True]


def test_a_claim_cannot_be_held_for_ever(brain: Brain) -> None:
    brain.seed([A])
    for wait in (NAN, "long", True):
        with pytest.raises(BadInput, match="wait must be in seconds"):
            brain.next_urls(1, wait=wait)  # type: ignore[arg-type]
    (claim,) = brain.next_urls(1)
    for seconds in (NAN, INF, -1.0, 1e9, "long"):
        with pytest.raises(BadInput, match="held for 0 to 604800 seconds"):
            brain.renew([claim], seconds)  # type: ignore[arg-type]
    assert brain.page(A).lease_until == claim.until


@pytest.mark.parametrize("bad", BAD_VISITS, ids=lambda bad: repr(bad)[:60])
def test_a_bad_visit_is_refused_and_the_rest_is_recorded(brain: Brain, bad: Any) -> None:
    before, answer, after = brain.report([Fetched(B), bad, Fetched(GOOD, [B])])
    assert (before.accepted, answer.accepted, after.accepted) == (True, False, True)
    assert answer.reason
    assert "\n" not in answer.reason
    assert brain.stats()["pages"] == 2


BAD_LINKS: list[Any] = [
    "javascript:alert(1)",
    "",
    "/relative",
    "http://x.org/\x07",
    "http://x.org:99999/",
    Link("ftp://x.org/"),
    Link("http://x.org/", NAN),
    Link("http://x.org/", 2.0),
    Link("http://x.org/", "much"),  # type: ignore[arg-type]
    None,
    7,
    ["http://x.org/"],
]


@pytest.mark.parametrize("bad", BAD_LINKS, ids=lambda bad: repr(bad)[:60])
def test_a_bad_link_is_refused_and_the_visit_is_recorded(brain: Brain, bad: Any) -> None:
    (answer,) = brain.report([Fetched(A, [B, bad, GOOD])])
    assert answer.accepted
    assert len(answer.links_refused) == 1
    assert answer.links_refused[0][1]
    assert neighbours(brain, A) == ([B, GOOD], [])


@pytest.mark.parametrize("truth", [True, False])
def test_truth_is_no_relevance(brain: Brain, truth: bool) -> None:
    """A boolean in the graph would break every sum over accounts from then on."""
    (whole,) = brain.report([Fetched(A, relevance=truth)])
    (link,) = brain.report([Fetched(B, [Link(GOOD, truth)])])
    assert not whole.accepted
    assert [url for url, _ in link.links_refused] == [GOOD]


def test_a_bad_item_does_not_shut_out_a_good_one_for_the_same_page(brain: Brain) -> None:
    bad, good = brain.report([Fetched(A, relevance=5.0), Fetched(A)])
    assert (bad.accepted, good.accepted) == (False, True)


def test_a_clock_a_little_ahead_is_forgiven(brain: Brain) -> None:
    (answer,) = brain.report([Fetched(A, fetched_at=START + 30.0)])
    assert answer.accepted
    assert brain.page(A).fetched == START


def test_an_empty_report_is_no_error(brain: Brain) -> None:
    assert brain.report([]) == []


@pytest.mark.parametrize("n", [0, -1, 10_001, 2.5, "many"])
def test_next_urls_takes_a_sensible_number(brain: Brain, n: Any) -> None:
    with pytest.raises(BadInput):
        brain.next_urls(n)


@pytest.mark.parametrize("value", [NAN, INF, -0.1, 1.1, "high", True])
def test_a_relevance_is_a_share(brain: Brain, value: Any) -> None:
    brain.seed([A])
    with pytest.raises(BadInput):
        brain.set_page(A, relevance=value)
    assert brain.page(A).relevance is None


@pytest.mark.parametrize("value", [NAN, INF, -0.1, "much", True])
def test_a_payout_is_cash(brain: Brain, value: Any) -> None:
    brain.seed([A])
    with pytest.raises(BadInput):
        brain.set_page(A, payout=value)
    assert brain.page(A).payout is None


@pytest.mark.parametrize(
    "wrong",
    [{"delay": NAN}, {"delay": -1.0}, {"in_flight": -1}, {"in_flight": 1.5}, {"budget": -1}, {"budget": True}],
    ids=str,
)
def test_a_hosts_manners_are_numbers(brain: Brain, wrong: dict[str, Any]) -> None:
    brain.seed([A])
    with pytest.raises(BadInput):
        brain.set_host("a.org", **wrong)


def test_a_host_nobody_has_met(brain: Brain) -> None:
    with pytest.raises(BadInput, match=r"nowhere\.org"):
        brain.host("nowhere.org")
    brain.set_host("nowhere.org", delay=1.0)
    assert brain.host("nowhere.org").delay == 1.0


@pytest.mark.parametrize(
    "ask",
    [
        lambda brain: brain.page(A),
        lambda brain: brain.page("0" * 32),
        lambda brain: neighbours(brain, A),
        lambda brain: brain.set_page(A, relevance=0.5),
        lambda brain: brain.set_page(A, payout=2.0),
    ],
)
def test_a_page_nobody_has_met(brain: Brain, ask: Any) -> None:
    with pytest.raises(UnknownPage):
        ask(brain)


def test_top_is_by_hub_or_authority(brain: Brain) -> None:
    with pytest.raises(BadInput):
        top_of(brain, 3, by="fame")
