"""What reports spend on their own: cash between pages that they have locked anyway, and none of anybody else's."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest

from graphbrain import Brain, Fetched, Link
from graphbrain.scores.accounts import exact_ledger
from tests.integration.conftest import HandClock, sound
from tests.plugin import Neo4j
from tests.reference.exported import export
from tests.reference.linear import solve, worst_error

MakeBrain = Callable[..., Brain]
A, B, C, D = (f"http://{letter}.org/" for letter in "abcd")
RING = [f"http://{'even' if n % 2 == 0 else 'odd'}.org/{n}" for n in range(12)]


def payments(brain: Brain) -> int:
    done: int = brain.stats()["done"]["payments"]
    return done


@pytest.mark.parametrize(
    "web",
    [{A: [B]}, {A: [B], B: [A]}, {A: [B, C, D], B: [A, C], C: [D]}, {A: RING, B: RING[:5], RING[0]: [A, B]}],
    ids=len,
)
def test_pages_that_are_all_new_leave_nothing_to_push(brain: Brain, web: dict[str, list[str]]) -> None:
    brain.report([Fetched(url, links) for url, links in web.items()])
    made = payments(brain)
    assert made >= sum(map(len, web.values()))
    sound(brain)
    bound = brain.stats()["error_bound"]
    assert 0.0 < bound < 0.5
    done = brain.tend(None, passes=False)
    assert (done.pushes, done.settled) == (0, True)
    assert payments(brain) == made


def test_a_page_with_other_links_waits_for_a_push(make_brain: MakeBrain) -> None:
    """C is linked to by A, whom the report of B does not lock: it is paid by B, and pays nobody."""
    brain = make_brain(eps=0.001)
    brain.report([Fetched(A, [Link(C, 0.9)])])
    before = {url: brain.page(url) for url in (A, C)}
    brain.report([Fetched(B, [C, D])])
    after = {url: brain.page(url) for url in (A, B, C, D)}
    assert after[A] == before[A]
    assert after[C].authority_paid == before[C].authority_paid
    # New to C is what it pays to every page that links to it, and B's payment.
    assert after[C].authority_score == pytest.approx(before[C].authority_score + after[B].hub_paid, abs=1e-14)
    assert after[B].hub_paid > 0.0 and after[D].authority_paid > 0.0
    sound(brain)
    assert brain.tend(None, passes=False).pushes > 0
    assert brain.page(C).authority_paid != after[C].authority_paid
    sound(brain)


def test_a_page_that_is_read_again_spends_what_came_meanwhile(brain: Brain, clock: HandClock) -> None:
    """A's links are all known when it is visited again, those that stay as well."""
    brain.report([Fetched(A, [B, C])])
    before = brain.page(A)
    brain.set_page(A, payout=5.0)
    assert brain.page(A).hub_cash == pytest.approx(before.hub_cash + 4.0)
    clock.pass_(1.0)
    brain.report([Fetched(A, [C, D])])
    after = brain.page(A)
    assert after.hub_cash == pytest.approx(0.0, abs=0.1)
    assert after.hub_paid > 2.0 * before.hub_paid
    assert brain.page(B).authority_score == 1.0
    sound(brain)


def test_a_refused_visit_of_a_known_page_spends_nothing(brain: Brain, clock: HandClock) -> None:
    brain.report([Fetched(A, [B])])
    before, made = brain.page(A), payments(brain)
    clock.pass_(-5.0)
    assert not brain.report([Fetched(A, [B, C])])[0].accepted
    assert brain.page(A) == before
    assert payments(brain) == made


def test_a_page_with_too_many_links_spends_nothing(make_brain: MakeBrain) -> None:
    brain = make_brain(max_payees=3)
    brain.report([Fetched(A, [B, C, D, RING[0]]), Fetched(B, [A])])
    assert brain.page(A).hub_paid == 0.0
    assert brain.page(B).hub_paid > 0.0
    sound(brain)


def test_the_classic_engine_leaves_cash_where_it_is(make_brain: MakeBrain) -> None:
    brain = make_brain(engine="classic")
    brain.report([Fetched(A, [B, C])])
    assert (brain.page(A).hub_cash, brain.page(A).hub_history) == (1.0, 0.0)
    assert payments(brain) == 0


@pytest.mark.parametrize(
    "settings",
    [{}, {"intra_host_weight": 0.0}, {"payout": "fetched"}, {"payout": "relevance"}, {"eps": 1e-9}],
    ids=str,
)
def test_it_all_adds_up_and_ends_where_pushes_end(
    make_brain: MakeBrain, neo4j: Neo4j, clock: HandClock, settings: dict[str, object]
) -> None:
    """Pages come in batches of any size, are seen again with other links, are forgotten."""
    brain, dice = make_brain(**settings), random.Random(5)
    for step in range(30):
        clock.pass_(1.0)
        chosen = dice.sample(RING, dice.randrange(1, 6))
        brain.report([Fetched(url, dice.sample(RING, dice.randrange(5)), relevance=dice.random()) for url in chosen])
        if step % 7 == 6:
            brain.forget(chosen[0])
        if step % 10 == 9:
            sound(brain)
    assert payments(brain) > 100
    brain.settle(tolerance=1e-12)
    found = export(neo4j, brain.settings.intra_host_weight)
    hub, authority = solve(found.web, brain.settings.alpha)
    assert max(worst_error(found.hub, hub), worst_error(found.authority, authority)) < 1e-6
    sound(brain)


def test_less_is_left_to_pushes_and_less_is_written(
    make_brain: MakeBrain, monkeypatch: pytest.MonkeyPatch, clock: HandClock
) -> None:
    """A crawl in which most pages that are found are new, tended after each report."""
    dice, urls = np.random.default_rng(2), [f"http://h{n % 7}.org/{n}" for n in range(600)]
    web = [
        [urls[5 * n + k] for k in range(1, 6)] + [urls[int(m)] for m in dice.integers(0, 5 * n + 1, 3)]
        for n in range(100)
    ]
    left, written = [], []
    for rounds in (0, exact_ledger.ROUNDS):
        monkeypatch.setattr(exact_ledger, "ROUNDS", rounds)
        brain = make_brain()
        before = brain.graph.counts["properties written"]
        pushes = 0
        with brain.graph.trace(lambda *_: None):
            for start in range(0, 100, 10):
                clock.pass_(1.0)
                brain.report([Fetched(urls[n], web[n]) for n in range(start, start + 10)])
                pushes += brain.tend(None, passes=False).pushes
        sound(brain)
        left.append(pushes)
        written.append(brain.graph.counts["properties written"] - before)
    assert left[1] < left[0] / 2
    assert written[1] < written[0]
