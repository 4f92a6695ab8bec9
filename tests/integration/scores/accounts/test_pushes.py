"""Pushes on a live graph: they settle, conserve, and obey eps and max_payees."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from graphbrain import Brain, Fetched
from graphbrain.base.errors import GraphTooSmall
from graphbrain.base.numeric.rules import Rule
from graphbrain.brain import push
from graphbrain.graph.connection import Tx
from graphbrain.scores.accounts import pushes
from tests.integration.conftest import HandClock, sound
from tests.verbs import top_of

MakeBrain = Callable[..., Brain]
pytestmark = pytest.mark.usefixtures("unspent")

A, B, C = "http://a.org/", "http://b.org/", "http://c.org/"
MANY = [f"http://leaf.org/{n}" for n in range(20)]


def test_without_damping_a_score_is_degree_plus_one(make_brain: MakeBrain) -> None:
    brain = make_brain(alpha=0.0, eps=1e-9)
    web = {A: [B, C], B: [C], C: [A], "http://d.org/": [A, B, C]}
    brain.report([Fetched(url, links) for url, links in web.items()])
    assert brain.tend(None).settled
    for url, links in web.items():
        page = brain.page(url)
        into = sum(url in others for others in web.values())
        assert page.hub_score == pytest.approx(len(links) + 1, rel=1e-5)
        assert page.authority_score == pytest.approx(into + 1, rel=1e-5)


def test_tending_settles_and_then_has_nothing_to_do(brain: Brain) -> None:
    brain.report([Fetched(A, MANY), Fetched(B, MANY[:5])])
    first, second = brain.tend(None), brain.tend(None)
    assert first.pushes > 0
    assert first.settled
    assert (second.pushes, second.settled) == (0, True)


def test_a_smaller_eps_brings_the_error_down(make_brain: MakeBrain) -> None:
    bounds = []
    for eps in (0.3, 0.003):
        brain = make_brain(eps=eps)
        brain.report([Fetched(A, MANY), Fetched(B, [A, *MANY[:9]]), Fetched(MANY[0], [A, B])])
        brain.tend(None, passes=False)
        bounds.append(brain.stats()["error_bound"])
    assert bounds[1] < bounds[0] / 5


def test_no_budget_no_push(brain: Brain) -> None:
    brain.report([Fetched(A, MANY)])
    done = brain.tend(-1.0)
    assert (done.pushes, done.settled) == (0, False)


def test_tending_stops_when_it_is_told_to(brain: Brain) -> None:
    brain.report([Fetched(A, MANY)])
    assert brain.tend(None, stop=lambda: True).pushes == 0


def test_named_pages_are_pushed_and_no_others(brain: Brain) -> None:
    brain.report([Fetched(A, MANY[:3]), Fetched(B, MANY[3:6])])
    done = brain.tend(pages=[A])
    assert done.pushes == 1
    assert (brain.page(A).hub_paid > 0, brain.page(B).hub_paid) == (True, 0.0)


def test_small_batches_push_everything_too(brain: Brain) -> None:
    brain.report([Fetched(A, MANY), Fetched(B, [A, *MANY[:9]])])
    assert brain.tend(None, batch=1).settled


def test_a_side_with_too_many_neighbours_is_parked(make_brain: MakeBrain) -> None:
    brain = make_brain(max_payees=10)
    brain.report([Fetched(A, MANY), Fetched(B, MANY[:5])])
    assert brain.tend(None, passes=False).settled
    assert (brain.page(A).hub_paid, brain.page(B).hub_paid > 0) == (0.0, True)
    sound(brain)


def test_a_parked_side_is_pushed_when_it_may_have_more_neighbours(make_brain: MakeBrain) -> None:
    brain = make_brain(max_payees=10)
    brain.report([Fetched(A, MANY)])
    brain.tend(None, passes=False)
    brain.change(max_payees=100)
    assert brain.tend(None, passes=False).pushes > 0
    assert brain.page(A).hub_paid > 0


@pytest.mark.parametrize("intra_host_weight", [1.0, 0.25, 0.0])
@pytest.mark.parametrize("way", ["unlink", "forget", "report"])
def test_a_parked_side_is_pushed_when_it_has_fewer_neighbours(
    make_brain: MakeBrain, clock: HandClock, way: str, intra_host_weight: float
) -> None:
    """Its mark was taken, though its accounts say that it needs one: they may say the very same with one link less."""
    brain = make_brain(max_payees=10, intra_host_weight=intra_host_weight)
    brain.report([Fetched(A, MANY[:11])])
    brain.tend(None, passes=False)
    assert brain.page(A).hub_paid == 0.0
    clock.pass_(1.0)
    if way == "unlink":
        brain.unlink(A, MANY[0])
    elif way == "forget":
        brain.forget(MANY[0])
    else:
        brain.report([Fetched(A, MANY[1:11])])
    sound(brain)
    brain.tend(None, passes=False)
    assert brain.page(A).hub_paid > 0.0


def test_what_is_too_much_for_the_servers_memory_is_pushed_in_parts(
    brain: Brain, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch is halved until it fits; a side that does not fit alone is left for a while, and keeps its place."""
    spend, tried = pushes.spend, list[int]()
    monkeypatch.setattr(push, "MANY", 15)

    def small(tx: Tx, batch: pushes.Batch, rule: Rule, now: float) -> pushes.Pushed:
        tried.append(sum(map(len, batch.values())))
        if tried[-1] > 2 or pushes.payees(tx, batch) > 15:
            raise GraphTooSmall("Neo4j has too little memory")
        return spend(tx, batch, rule, now)

    monkeypatch.setattr(pushes, "spend", small)
    brain.report([Fetched(A, MANY), *(Fetched(f"http://hub.org/{n}", MANY[n : n + 3]) for n in range(9))])
    assert brain.tend(None, passes=False).settled
    assert max(tried) > 2
    assert brain.page(A).hub_paid == 0.0
    assert all(brain.page(f"http://hub.org/{n}").hub_paid > 0.0 for n in range(9))
    sound(brain)
    clock.pass_(push.LEFT_FOR / 2)
    tried.clear()
    assert brain.tend(None, passes=False).settled and not tried
    monkeypatch.setattr(pushes, "spend", spend)
    clock.pass_(push.LEFT_FOR)
    brain.tend(None, passes=False)
    assert brain.page(A).hub_paid > 0.0


def test_a_server_without_any_memory_left_is_told_of(brain: Brain, monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left(*_: object) -> pushes.Pushed:
        raise GraphTooSmall("Neo4j has too little memory")

    monkeypatch.setattr(pushes, "spend", none_left)
    brain.report([Fetched(A, MANY)])
    with pytest.raises(GraphTooSmall):
        brain.tend(None, passes=False)
    sound(brain)


def test_top_is_by_score(brain: Brain) -> None:
    brain.report([Fetched(url, [A, B]) for url in MANY] + [Fetched(C, [B, *MANY[:4]])])
    brain.tend(None)
    assert [page.url for page in top_of(brain, 2)] == [B, A]
    assert top_of(brain, 1, by="hub")[0].url == C
    scores = [page.authority_score for page in top_of(brain, 10)]
    assert scores == sorted(scores, reverse=True)


def test_stats_count_what_there_is(brain: Brain) -> None:
    brain.change(deny_hosts="out.example")
    brain.seed([A, B])
    (claim,) = brain.next_urls(1)
    brain.report([Fetched(claim.url, [*MANY, "http://out.example/"], claim)])
    brain.next_urls(2)
    stats = brain.stats()
    assert (stats["pages"], stats["outside_pages"], stats["links"], stats["hosts"]) == (22, 1, 21, 3)
    assert brain.scan_figures()[0].hosts == 3
    assert (stats["waiting"], stats["leased"]) == (20, 2)  # one of them to be fetched again
    assert stats["states"] == {"frontier": 21, "known": 1, "outside": 1}
    assert (stats["done"]["pages"], stats["done"]["links"], stats["done"]["claims"]) == (1, 21, 3)


def test_the_audit_of_a_sample_looks_at_so_many(brain: Brain) -> None:
    brain.report([Fetched(A, MANY)])
    assert brain.audit(5).figures["accounts_checked"] >= 10
    assert brain.audit(None).figures["accounts_checked"] == 42


SPOILT = {
    "a cash": ("MATCH (p:Page {url: $a}) SET p.hub_cash = p.hub_cash + 0.01", "holds"),
    "a weight": ("MATCH (p:Page {url: $a}) SET p.out_weight = p.out_weight + 1", "out_weight"),
    "a lost link": (
        "MATCH (:Page {url: $a})-[r:LINKS]->() WITH r LIMIT 1 DELETE r",
        "links weigh",
    ),
    "a double link": (
        "MATCH (p:Page {url: $a})-[r:LINKS]->(q) WITH p, q LIMIT 1 CREATE (p)-[:LINKS]->(q)",
        "double",
    ),
    "a lane": ("MATCH (p:Page {state: 'frontier'}) WITH p LIMIT 1 SET p.lane = 3", "lane"),
    "a priority": ("MATCH (p:Page {url: $a}) SET p.hub_priority = 5", "hub_priority"),
    "a rank": ("MATCH (p:Page {url: $a}) SET p.hub_rank = 50", "hub_rank"),
    "half a lease": ("MATCH (p:Page {url: $a}) SET p.lease = 'x'", "half a lease"),
    "a gone page that waits": ("MATCH (p:Page {url: $a}) SET p.state = 'gone'", "waits in queue"),
    "a page that waits nowhere": (
        "MATCH (p:Page {state: 'frontier'}) WITH p LIMIT 1 SET p.queue = null",
        "in the frontier but",
    ),
    "a queue not served": (
        "MATCH (p:Page {state: 'frontier'}) WITH p LIMIT 1 SET p.queue = p.host",
        "not served",
    ),
    "a host that counts wrongly": (
        "MATCH (h:Host) WITH h LIMIT 1 SET h.in_flight = 2",
        "in flight",
    ),
}


@pytest.mark.parametrize("what", sorted(SPOILT))
def test_the_audit_finds(brain: Brain, ask: Callable[..., list[list[object]]], what: str) -> None:
    brain.report([Fetched(A, MANY[:3])])
    brain.tend(None)
    sound(brain)
    spoil, finding = SPOILT[what]
    ask(spoil, a=A)
    found = brain.audit(None)
    brain.clear()
    assert not found.ok
    assert any(finding in sentence for sentence in found.findings), found.findings
