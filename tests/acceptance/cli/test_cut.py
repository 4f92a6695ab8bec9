"""Transactions whose outcome is unknown: every call, cut at each of its messages and at its commits, is done once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from graphbrain import Brain, Failed, Fetched
from tests.acceptance.proxy import Cutter
from tests.plugin import Neo4j
from tests.verbs import neighbours

A, B, C, D = (f"http://{name}.example/" for name in "abcd")


@pytest.fixture(scope="module")
def cutter(neo4j: Neo4j) -> Iterator[Cutter]:
    address = urlsplit(neo4j.uri)
    with Cutter(address.hostname or "127.0.0.1", address.port or 7687) as cutter:
        yield cutter


@pytest.fixture
def cut_brain(neo4j: Neo4j, cutter: Cutter) -> Iterator[Brain]:
    """The same brain as the fixture `brain`, which comes first and empties it, through the proxy."""
    cutter.disarm()
    with Brain.open(
        uri=f"bolt://127.0.0.1:{cutter.port}",
        user=neo4j.user,
        password=neo4j.password,
        auto_tend=False,
        limit_seconds=20,
    ) as through:
        yield through


def _seeded(brain: Brain) -> Any:
    brain.clear()
    brain.seed([A, B])
    return None


def _claimed(brain: Brain) -> Any:
    _seeded(brain)
    return sorted(brain.next_urls(2), key=lambda claim: claim.url)


def _linked(brain: Brain) -> Any:
    claims = _claimed(brain)
    brain.report([Fetched(A, [B, C], claims[0], body_hash="1"), Fetched(B, [A, C, D], claims[1], body_hash="1")])
    return claims


def _limited(brain: Brain) -> Any:
    """Claims that are counted by their hosts."""
    _seeded(brain)
    brain.set_host("a.example", delay=0.0, in_flight=3)
    return sorted(brain.next_urls(2), key=lambda claim: claim.url)


def _reported(brain: Brain, claims: Any) -> Any:
    return [
        (answer.accepted, answer.outcome)
        for answer in brain.report(
            [
                Fetched(claims[0].url, [C, D], claims[0], body_hash="1", relevance=0.9),
                Failed(claims[1].url, claims[1], 500),
            ]
        )
    ]


def _unclaimed(brain: Brain, _: Any) -> Any:
    time.sleep(0.03)  # the two brains' clocks may differ by a few ms, and an earlier visit would be refused
    return [answer.accepted for answer in brain.report([Fetched(C, [A], body_hash="2"), Fetched(A, [B])])]


def _next(brain: Brain, _: Any) -> Any:
    return sorted(claim.url for claim in brain.next_urls(2))


CASES: dict[str, tuple[Callable[[Brain], Any], Callable[[Brain, Any], Any]]] = {
    "seed": (_seeded, lambda brain, _: (brain.seed([B, C]), None)[1]),
    "next_urls": (_seeded, _next),
    "next_urls counted": (lambda brain: (_seeded(brain), brain.set_host("a.example", in_flight=1))[0], _next),
    "report": (_claimed, _reported),
    "report counted": (_limited, _reported),
    "report unclaimed": (_linked, _unclaimed),
    "renew": (_claimed, lambda brain, claims: [held is not None for held in brain.renew(claims)]),
    "give_back": (_limited, lambda brain, claims: brain.give_back(claims)),
    "push": (_linked, lambda brain, _: (brain.tend(pages=[A, B]), None)[1]),
    "link": (_linked, lambda brain, _: brain.link(C, D)),
    "unlink": (_linked, lambda brain, _: brain.unlink(A, B)),
    "forget": (_linked, lambda brain, _: brain.forget(B, for_ever=True)),
    "set_page": (_linked, lambda brain, _: brain.set_page(A, relevance=0.9, payout=3.0, value=2.0)),
    "set_host": (_linked, lambda brain, _: brain.set_host("a.example", delay=5.0, in_flight=2)),
}


def _state(brain: Brain) -> Any:
    """Everything that must be the same, however often it was tried; no times, no tokens."""
    pages = {}
    for url in (A, B, C, D):
        try:
            page = brain.page(url)
        except Exception:  # noqa: BLE001  # a forgotten page has no state
            pages[url] = None
            continue
        pages[url] = (
            page.state,
            page.queue,
            page.worker is not None,
            page.visits,
            page.errors,
            page.relevance,
            page.payout,
            round(page.hub_score, 9),
            round(page.authority_score, 9),
            round(page.hub_cash, 9),
            round(page.authority_cash, 9),
            neighbours(brain, url),
        )
    stats = brain.stats()
    return pages, stats["leased"], stats["retries"], stats["links"]


LANDING = ("next_urls counted", "report", "give_back")
"""What a landing cuts at each message; it loses the answers of the commits of all."""


@pytest.mark.long
@pytest.mark.parametrize(
    "case", [case if case in LANDING else pytest.param(case, marks=pytest.mark.nightly) for case in CASES]
)
def test_cut_at_each_message(case: str, brain: Brain, cut_brain: Brain, cutter: Cutter) -> None:
    """The request of every other message is lost, and the answer of those between; of commits, see below, both."""
    prepare, act = CASES[case]
    wanted_answer, wanted = act(brain, prepare(brain)), _state(brain)
    for message in range(1, 200):
        given = prepare(brain)
        cutter.arm(message, ("answer", "request")[message % 2])
        answer = act(cut_brain, given)
        cutter.disarm()
        assert answer == wanted_answer, f"cut at message {message}"
        assert _state(brain) == wanted, f"cut at message {message}"
        if not cutter.cuts:
            assert message > 1, "nothing was ever cut"
            assert brain.audit(None).ok
            return
    pytest.fail("the call never ran through")


@pytest.mark.long
@pytest.mark.parametrize("lost", ["answer", pytest.param("request", marks=pytest.mark.nightly)])
@pytest.mark.parametrize("case", CASES)
def test_cut_at_commit(case: str, lost: str, brain: Brain, cut_brain: Brain, cutter: Cutter) -> None:
    prepare, act = CASES[case]
    wanted_answer, wanted = act(brain, prepare(brain)), _state(brain)
    given = prepare(brain)
    cutter.arm_commit(lost)
    answer = act(cut_brain, given)
    cutter.disarm()
    assert cutter.cuts == 1, "no commit was cut"
    assert answer == wanted_answer
    assert _state(brain) == wanted
    assert brain.audit(None).ok
