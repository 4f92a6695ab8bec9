"""Corrections by hand: each leaves every account as its neighbours say it should be."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

from graphbrain import Brain, Fetched
from graphbrain.base.errors import BadInput, UnknownPage
from graphbrain.base.numeric import ids
from graphbrain.frontier import discovery
from graphbrain.graph.connection import Tx
from tests.integration.conftest import HandClock, sound
from tests.serving import tokens
from tests.verbs import neighbours

MakeBrain = Callable[..., Brain]
Ask = Callable[..., list[list[object]]]

A, B, C, D = "http://a.org/", "http://b.org/", "http://c.org/", "http://d.org/"


@pytest.fixture
def ring(brain: Brain) -> Brain:
    """A → B → C → A and A → C, with cash that has moved."""
    brain.report([Fetched(A, [B, C]), Fetched(B, [C]), Fetched(C, [A])])
    brain.tend(None)
    return brain


def test_a_link_by_hand(ring: Brain) -> None:
    ring.link(B, A)
    sound(ring)
    assert neighbours(ring, B) == ([A, C], [A])
    assert ring.page(A).in_weight == 2.0


def test_a_link_that_is_there_stays(ring: Brain) -> None:
    before = ring.page(A)
    ring.link(A, B)
    assert ring.page(A) == before


def test_a_link_creates_both_its_ends(brain: Brain) -> None:
    brain.link(A, B)
    assert (brain.page(A).depth, brain.page(B).depth) == (0, 1)
    assert len(brain.next_urls(9)) == 2


def test_a_link_to_itself_is_refused(brain: Brain) -> None:
    with pytest.raises(BadInput, match="itself"):
        brain.link(A, "http://A.org/#x")


def test_corrections_say_what_they_did(ring: Brain) -> None:
    assert ring.link(B, A) is True
    assert ring.link(B, A) is False
    assert ring.unlink(B, A) is True
    assert ring.unlink(B, A) is False
    assert ring.unlink(A, D) is False
    assert ring.forget(C) == 3, "A and B link to it, and it to A"
    assert ring.forget(C) is None
    assert ring.forget(D, for_ever=True) is None
    ring.report([Fetched(B, redirected_to=A)])
    ring.report([Fetched(C, [B])])
    assert ring.unlink(C, B) is True, "by the name of an alias"
    assert ring.unlink(C, A) is False
    sound(ring)


def test_unlinking_what_somebody_forgets_meanwhile(ring: Brain, second: Brain, monkeypatch: pytest.MonkeyPatch) -> None:
    find, left = discovery.find, [True]

    def found(tx: Tx, keys: Iterable[str]) -> dict[str, int]:
        ids = find(tx, keys)
        if left:
            left.pop()
            second.forget(A)
        return ids

    monkeypatch.setattr(discovery, "find", found)
    assert ring.unlink(A, B) is False and not left
    sound(ring)


def test_a_correction_that_is_run_again_has_been_done_all_the_same(
    ring: Brain, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its first attempt was committed, and nobody has heard of it."""
    write = ring.graph.write
    monkeypatch.setattr(ring.graph, "write", lambda work, name: (write(work, name), write(work, name))[1])
    assert ring.link(B, A) is True
    assert ring.unlink(B, A) is True
    assert ring.forget(C) == 3


def test_unlinking_gives_back_what_the_link_has_paid(ring: Brain) -> None:
    ring.unlink(A, C)
    sound(ring)
    assert neighbours(ring, A) == ([B], [C])
    assert (ring.page(A).out_weight, ring.page(C).in_weight) == (1.0, 1.0)


def test_link_and_unlink_is_as_if_nothing_had_been(ring: Brain) -> None:
    before = [ring.page(url) for url in (A, B, C)]
    ring.link(C, B)
    ring.unlink(C, B)
    for page, now in zip(before, (ring.page(url) for url in (A, B, C)), strict=True):
        assert now.hub_score == pytest.approx(page.hub_score, abs=1e-12)
        assert now.authority_score == pytest.approx(page.authority_score, abs=1e-12)


@pytest.mark.parametrize("pair", [(C, B), (A, D), (D, "http://e.org/")])
def test_unlinking_what_is_not_linked_does_nothing(ring: Brain, pair: tuple[str, str]) -> None:
    ring.unlink(*pair)
    assert ring.stats()["links"] == 4


def test_a_forgotten_page_leaves_its_neighbours_as_if_it_had_never_been(ring: Brain) -> None:
    ring.forget(C)
    sound(ring)
    with pytest.raises(UnknownPage):
        ring.page(C)
    assert neighbours(ring, A) == ([B], [])
    ring.forget(B)
    assert ring.page(A).hub_score == pytest.approx(1.0, abs=1e-12)
    assert ring.page(A).authority_score == pytest.approx(1.0, abs=1e-12)


def test_forgetting_what_is_not_known_does_nothing(ring: Brain) -> None:
    ring.forget(D)
    assert ring.stats()["pages"] == 3


def test_a_forgotten_page_can_come_back(ring: Brain) -> None:
    ring.forget(C)
    ring.seed([C])
    assert ring.page(C).in_links == 0


@pytest.mark.parametrize("how", ["seed", "link", "report"])
def test_a_page_forgotten_for_ever_does_not_come_back(ring: Brain, clock: HandClock, how: str) -> None:
    ring.forget(C, for_ever=True)
    clock.pass_(1.0)
    if how == "seed":
        assert ring.seed([C]).created == 0
    elif how == "link":
        with pytest.raises(UnknownPage, match="for ever"):
            ring.link(A, C)
    else:
        ring.report([Fetched(A, [B, C])])
        assert neighbours(ring, A) == ([B], [])
        assert not ring.report([Fetched(C)])[0].accepted
    with pytest.raises(UnknownPage):
        ring.page(C)


def test_forgetting_for_ever_what_is_not_known_keeps_it_out(brain: Brain) -> None:
    brain.forget(A, for_ever=True)
    assert brain.seed([A, B]).created == 1


def test_an_alias_can_be_forgotten_and_its_target_too(brain: Brain) -> None:
    brain.report([Fetched(A, redirected_to=B), Fetched(C, redirected_to=B)])
    brain.forget(A)
    sound(brain)
    brain.forget(B)
    assert brain.page(C).redirects_to is None


def test_a_page_can_be_named_by_its_key(ring: Brain) -> None:
    key = ring.page(C).key
    assert ring.page(key).url == C
    ring.forget(key)
    with pytest.raises(UnknownPage):
        ring.page(C)


@pytest.mark.parametrize("value", [0.0, 0.3, 1.0, None])
def test_relevance_changes_no_account(ring: Brain, value: float | None) -> None:
    before = ring.page(C)
    ring.set_page(C, relevance=value)
    after = ring.page(C)
    assert after.relevance == value
    assert (after.hub_score, after.authority_score) == (before.hub_score, before.authority_score)


def test_relevance_changes_what_goes_back_at_the_next_push(ring: Brain) -> None:
    """An authority of no relevance keeps its cash from its predecessors' hubs."""
    before = ring.page(B).hub_score
    ring.set_page(C, relevance=0.0)
    ring.tend(None)
    assert ring.page(B).hub_score < before - 0.1


@pytest.mark.parametrize("value", [0.0, 0.5, 3.0])
def test_a_payout_goes_to_both_sides(ring: Brain, value: float) -> None:
    before = ring.page(B)
    ring.set_page(B, payout=value)
    after = ring.page(B)
    assert after.payout == value
    assert after.hub_score == pytest.approx(before.hub_score + value - 1.0)
    assert after.authority_score == pytest.approx(before.authority_score + value - 1.0)
    sound(ring)
    ring.set_page(B, payout=None)
    assert ring.page(B).hub_score == pytest.approx(before.hub_score)


def test_clear_leaves_the_brain_with_its_tokens_and_nothing_else(ring: Brain, ask: Ask) -> None:
    tokens(ring, "crawler")
    ring.forget(A, for_ever=True)
    ring.tend(0, for_everybody=True)
    ring.clear()
    labels = ask("MATCH (n) UNWIND labels(n) AS l RETURN DISTINCT l ORDER BY l")
    assert labels == [["AccessToken"], ["Brain"], ["SchemaStep"]]
    assert ring.seed([A]).created == 1


# ---------------------------------------------------------------- passes over all pages


def test_a_change_of_eps_marks_every_page_anew(make_brain: MakeBrain) -> None:
    brain = make_brain(eps=0.5)
    brain.report([Fetched(A, [B, C]), Fetched(B, [C]), Fetched(C, [A])])
    brain.tend(None, passes=False)
    coarse = brain.stats()["error_bound"]
    brain.change(eps=1e-6)
    sound(brain)
    assert brain.tend(None, passes=False).pushes > 0
    assert brain.stats()["error_bound"] < coarse / 100


def test_a_change_of_order_marks_every_waiting_page_anew(ring: Brain) -> None:
    ring.report([Fetched(D, ["http://e.org/"])])
    ring.change(order="breadth_first")
    sound(ring)
    assert ring.page("http://e.org/").lane == 1 + ring.page("http://e.org/").depth == 2


def test_a_change_of_the_scope_moves_pages_in_and_out(ring: Brain) -> None:
    ring.seed([D])
    ring.change(deny_hosts="d.org")
    assert (ring.page(D).state, ring.page(D).queue) == ("outside", None)
    assert ring.page(C).state == "known"
    sound(ring)
    ring.change(deny_hosts="")
    assert [claim.url for claim in ring.next_urls(9)] == [D]


# ---------------------------------------------------------------- everything at once


@pytest.mark.parametrize("settings", [{}, {"intra_host_weight": 0.0}, {"alpha": 0.0}], ids=str)
def test_random_churn_leaves_every_account_right(
    make_brain: MakeBrain, clock: HandClock, settings: dict[str, Any]
) -> None:
    brain = make_brain(eps=0.01, **settings)
    chance = random.Random(3)
    urls = [f"http://{'ab'[n % 2]}.org/{n}" for n in range(14)]
    for step in range(60):
        clock.pass_(1.0)
        one, two = chance.sample(urls, 2)
        what = chance.randrange(7)
        if what == 0:
            brain.link(one, two)
        elif what == 1:
            brain.unlink(one, two)
        elif what == 2 and step % 3 == 0:
            brain.forget(one)
        elif what == 3 and brain.seed([one]):
            brain.set_page(one, relevance=chance.choice([0.0, 0.4, 1.0, None]))
        elif what == 4 and brain.seed([one]):
            brain.set_page(one, payout=chance.choice([0.0, 2.5, None]))
        elif what == 5:
            brain.tend(0.02)
        else:
            brain.report([Fetched(one, chance.sample(urls, 5)), Fetched(two, [one])])
        if step % 20 == 19:
            sound(brain)


@pytest.mark.usefixtures("unspent")
@pytest.mark.parametrize("what", ["unlink", "forget", "report"])
@pytest.mark.parametrize("engine", ["exact", "classic"])
def test_weights_go_by_the_links_that_were_deleted(
    make_brain: MakeBrain, ask: Ask, clock: HandClock, engine: str, what: str
) -> None:
    """Even where a link is there twice, which nobody who goes through graphbrain can bring about."""
    brain = make_brain(engine=engine)
    brain.report([Fetched(A, [B, C])])
    [[linked]] = ask("MATCH (q:Page {url: $b}) RETURN id(q)", b=B)
    ask(
        "MATCH (p:Page {url: $a})-[:LINKS]->(q:Page {url: $b}) CREATE (p)-[:LINKS]->(q) "
        "SET p.out_weight = p.out_weight + 1, q.in_weight = q.in_weight + 1, "
        "p.links_sum = (p.links_sum + $term) % ($whole + 1)",
        a=A,
        b=B,
        term=int(ids.hashed(np.array([linked]))[0]),
        whole=ids.WHOLE,
    )
    clock.pass_(1.0)
    {
        "unlink": lambda: brain.unlink(A, B),
        "forget": lambda: brain.forget(B),
        "report": lambda: brain.report([Fetched(A, [C])]),
    }[what]()
    sound(brain)
    assert brain.page(A).out_weight == 1.0
    assert what == "forget" or brain.page(B).in_weight == 0.0


@pytest.fixture
def misled(make_brain: MakeBrain, ask: Ask, clock: HandClock, engine: str) -> Brain:
    """A links to B and C, a second ago, and its weight says that it has one link."""
    brain = make_brain(engine=engine)
    brain.report([Fetched(A, [B, C])])
    clock.pass_(1.0)
    ask("MATCH (p:Page {url: $a}) SET p.out_weight = 1.0", a=A)
    return brain


WHAT = {
    "link": lambda brain: brain.link(A, D),
    "unlink": lambda brain: brain.unlink(A, B),
    "forget": lambda brain: brain.forget(A),
    "report": lambda brain: brain.report([Fetched(A, [C])]),
}


@pytest.mark.parametrize("what", WHAT)
@pytest.mark.parametrize("engine", ["exact", "classic"])
def test_a_weight_that_does_not_fit_is_read_again(misled: Brain, ask: Ask, what: str) -> None:
    """Here it is wrong in the graph until the transaction is run for the second time."""

    def mend(statement: str, _rows: int, _milliseconds: float) -> None:
        if statement == "pages/find" and misled.graph.counts["retries Misfit"] == 1:
            ask("MATCH (p:Page {url: $a}) SET p.out_weight = 2.0", a=A)

    with misled.graph.trace(mend):
        WHAT[what](misled)
    assert misled.graph.counts["retries Misfit"] == 1
    sound(misled)


@pytest.mark.usefixtures("unspent")
@pytest.mark.parametrize("what", [*WHAT, "push"])
@pytest.mark.parametrize("engine", ["exact", "classic"])
def test_a_weight_that_stays_wrong_stops_nobody(misled: Brain, what: str) -> None:
    """Whoever meets it first tries three times, and then it is known; the audit tells of it."""
    assert any(A in finding for finding in misled.audit(None).findings)
    (WHAT | {"push": lambda brain: brain.tend(None)})[what](misled)
    assert misled.graph.counts["retries Misfit"] == 3
    assert misled.graph.counts["lasting misfits"] == 1
    misled.link(B, A)
    misled.tend(None)
    assert misled.graph.counts["retries Misfit"] == 3
    misled.clear()
