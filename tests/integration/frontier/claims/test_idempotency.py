"""Claims by a caller's key: asked again, the same claims, whatever was killed, and no others."""

from __future__ import annotations

from collections.abc import Callable

import neo4j
import pytest

from graphbrain import Brain, Fetched
from graphbrain.base.errors import BadInput
from graphbrain.brain import claim
from graphbrain.frontier.claims.idempotency import KEPT
from tests.integration.conftest import HandClock, lose_an_answer

Ask = Callable[..., list[list[object]]]


@pytest.fixture
def many(brain: Brain) -> Brain:
    brain.seed([f"http://h{number}.org/" for number in range(30)])
    return brain


def test_asked_again_it_is_the_same_claims(many: Brain, second: Brain) -> None:
    first = many.next_urls(10, key="a")
    for brain in (many, second):
        again = brain.next_urls(10, key="a")
        assert {claim.token for claim in again} == {claim.token for claim in first}
        assert sorted(again, key=lambda claim: claim.key) == sorted(first, key=lambda claim: claim.key)
    others = second.next_urls(10, key="b")
    assert not {claim.key for claim in others} & {claim.key for claim in first}
    assert len(others) == len(first) == 10


def test_a_key_by_which_nothing_was_had_may_be_used_again(brain: Brain, ask: Ask) -> None:
    assert not brain.next_urls(3, key="a")
    assert ask("MATCH (a:Asked) RETURN count(a)") == [[0]]
    brain.seed(["http://a.org/"])
    assert len(brain.next_urls(3, key="a")) == len(brain.next_urls(3, key="a", wait=5.0)) == 1


@pytest.mark.usefixtures("answers_lost")
def test_what_was_reported_or_has_lapsed_is_not_handed_out_again(many: Brain, clock: HandClock) -> None:
    first = many.next_urls(5, key="a")
    many.report([Fetched(claim.url, claim=claim) for claim in first[:2]])
    many.give_back(first[2:3])
    again = many.next_urls(5, key="a")
    assert [claim.key for claim in again] == [claim.key for claim in first[3:]]
    assert again.repeated and not first.repeated
    clock.pass_(many.settings.lease_seconds + 1)
    over = many.next_urls(5, key="a", wait=5.0)
    assert list(over) == [] and over.repeated and not over.finished
    # A crawler that ends where nothing is to come goes on.
    assert over.next_ready is not None and over.next_unfailed is not None
    assert len(many.next_urls(5, key="b")) == 5


def test_an_attempt_whose_commit_nobody_knows_the_end_of(many: Brain, monkeypatch: pytest.MonkeyPatch) -> None:
    """The transaction is committed, and the answer is lost: within the call, and with the whole call."""
    commit, lost = neo4j.Transaction.commit, lose_an_answer(monkeypatch)
    first = many.next_urls(7, key="a")
    assert len(first) == 7 and not lost
    monkeypatch.undo()
    again = many.next_urls(7, key="a")
    assert again.repeated and [claim.key for claim in again] == [claim.key for claim in first], "each once, in order"

    def die(tx: neo4j.Transaction) -> None:
        commit(tx)
        raise BadInput("as if it had been killed here")

    monkeypatch.setattr(neo4j.Transaction, "commit", die)
    with pytest.raises(BadInput):
        many.next_urls(7, key="b")
    monkeypatch.undo()
    again = many.next_urls(7, key="b")
    assert len(again) == 7 and len({claim.key for claim in again}) == 7
    assert not {claim.key for claim in again} & {claim.key for claim in first}


def test_whoever_asked_before_leases_no_more_once_it_was_told_again(many: Brain, second: Brain) -> None:
    """A call in several transactions, in the middle of which somebody asks again: nothing is leased for nobody."""
    told: list[list[str]] = []
    take, left = many.graph.write, [True]

    def part(work: Callable[..., object], name: str, **how: bool) -> object:
        if name == "claims/take" and left and told == []:
            taken = take(work, name, **how)
            taken.claims  # noqa: B018  # the first transaction is over
            left.pop()
            told.append([claim.key for claim in second.next_urls(10, key="a")])
            return taken
        return take(work, name, **how)

    many.graph.write = part  # type: ignore[method-assign,assignment]
    found = many.next_urls(30, key="a")
    held = [claim.key for claim in second.next_urls(10, key="a")]
    assert set(held) == set(told[0])
    assert {claim.key for claim in found} == set(held)


def test_keys_are_forgotten_long_after_their_leases(
    many: Brain, clock: HandClock, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    many.next_urls(2, key="a")
    clock.pass_(many.settings.lease_seconds + KEPT + 1)
    monkeypatch.setattr(claim, "LOOK_EVERY", -1.0)
    monkeypatch.setattr(claim, "FORGET_EVERY", -1.0)
    many.next_urls(2, key="b")
    assert ask("MATCH (a:Asked) RETURN a.key") == [["b"]]


@pytest.mark.parametrize("key", ["", "x" * 201, "a\nb", 5])
def test_a_key_is_a_name(brain: Brain, key: object) -> None:
    with pytest.raises(BadInput, match="key must be a name"):
        brain.next_urls(1, key=key)  # type: ignore[arg-type]
