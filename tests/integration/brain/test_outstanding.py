"""The one question what is to be done, and what claims and upkeep make of the answer."""

from __future__ import annotations

import pytest

from graphbrain import Brain, Failed, Fetched
from graphbrain.base.urls.normalization import key_of
from graphbrain.brain import outstanding
from graphbrain.scores.accounts import exact_ledger
from graphbrain.scores.accounts.pushes import Wanted
from tests.integration.conftest import HandClock, statements_sent
from tests.plugin import Neo4j

A, B, C = "http://a.org/", "http://b.org/", "http://c.org/"
QUESTION = ["upkeep/outstanding", "COMMIT"]


def test_upkeep_with_nothing_to_do_is_one_transaction(brain: Brain, monkeypatch: pytest.MonkeyPatch) -> None:
    brain.seed([A])
    brain.report([Fetched(A, [B, C])])
    brain.tend(None)
    sent = statements_sent(monkeypatch)
    assert brain.tend(0.5).settled
    assert sent == QUESTION


def test_a_call_that_finds_nothing_is_two_transactions(brain: Brain, monkeypatch: pytest.MonkeyPatch) -> None:
    """One looks for pages, one for what comes next; once a second there is the question besides."""
    brain.seed([A])
    assert len(brain.next_urls(1)) == 1
    kinds = ("page", "robots", "sitemap", "link")
    sent = statements_sent(monkeypatch)
    assert not brain.next_urls(1, kinds=kinds)
    assert sent.count("COMMIT") == 2 and "upkeep/outstanding" not in sent


def test_each_kind_of_work_is_found(
    brain: Brain, neo4j: Neo4j, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Upkeep is asked for all of it; a claim leaves what is upkeep's."""
    monkeypatch.setattr(exact_ledger, "ROUNDS", 0)  # so that something waits for pushes
    brain.seed([A, B])
    held = {claim.url: claim for claim in brain.next_urls(2)}
    brain.report([Failed(A, held[A], 500), Fetched("http://d.org/", redirected_to=A)])
    brain.report([Fetched(C, [f"http://c.org/{n}" for n in range(20)])])
    clock.pass_(86_400.0)
    with neo4j.open(crawl="test", auto_tend=False, clock=clock) as worker:
        worker.session.counters.write(tending=True)
    ids = {
        row[0]: row[1]
        for row in brain.graph.read(lambda tx: tx.one("pages/find", keys=[key_of(A), key_of(B)])[0], "a test")
    }
    found = outstanding.for_upkeep(brain.session, Wanted(1_000))
    assert found.tended and found.lapsed == ([ids[key_of(B)]], []) and list(found.retries) == [ids[key_of(A)]]
    assert found.push is not None and found.unlearned and not found.beside
    claimed = outstanding.for_claims(brain.session)
    assert claimed.lapsed == found.lapsed and claimed.retries == found.retries and claimed.beside == {"aliases"}
    assert claimed.push is None and not claimed.unlearned
    assert brain.tend(None).swept == 1


def test_no_report_is_followed_by_upkeep_while_a_worker_tends(
    neo4j: Neo4j, brain: Brain, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    brain.seed([A])
    with neo4j.open(crawl="test", auto_tend=True, clock=clock) as own:
        own.session.counters.write(tending=True)
        own._upkeep._owed = 5.0
        sent = statements_sent(monkeypatch)
        own._upkeep.after_report(1.0)
        assert sent == QUESTION
        own._upkeep.after_report(1.0)
        assert sent == QUESTION, "it is remembered for some seconds"
