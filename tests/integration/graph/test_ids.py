"""What graphbrain takes for granted about Neo4j, asked of the server it runs on."""

from __future__ import annotations

import threading

import neo4j as driver

from graphbrain import Brain, Fetched
from tests.integration.conftest import kept_out, lock_awaited
from tests.plugin import PATIENCE, eventually

A, B = "http://a.org/", "http://b.org/"


def id_of(tx: driver.Transaction, url: str) -> int:
    record = tx.run("MATCH (p:Page {url: $url}) RETURN id(p) AS i", url=url).single(strict=True)
    return int(record["i"])


def test_the_id_of_a_deleted_node_is_not_given_away_while_a_reader_is_open(brain: Brain, raw: driver.Driver) -> None:
    """The ledger relies on it: a missing id says that the page is gone, and nothing else has it."""
    brain.seed([A])
    with raw.session(database="neo4j") as session, session.begin_transaction() as reader:
        old = id_of(reader, A)
        brain.forget(A)
        brain.seed([f"http://new.org/{n}" for n in range(200)])
        found = reader.run("MATCH (p) WHERE id(p) = $i RETURN p", i=old).values()
        reader.rollback()
    assert found == []


def test_a_label_that_is_there_set_again_locks(brain: Brain, raw: driver.Driver) -> None:
    """`SET p:Page` writes nothing, and still keeps other writers out: how pages are locked."""
    brain.seed([A])
    with raw.session(database="neo4j") as session, session.begin_transaction() as tx:
        tx.run("MATCH (p:Page {url: $url}) SET p:Page", url=A).consume()
        assert kept_out(raw, tx, "MATCH (p:Page {url: $url}) REMOVE p.nothing SET p:Page", url=A)


def test_reads_see_what_others_have_committed_since(brain: Brain, raw: driver.Driver) -> None:
    """Read committed, not a snapshot: what counts is what is read under the lock."""
    brain.seed([A])
    with raw.session(database="neo4j") as session, session.begin_transaction() as tx:
        count = "MATCH (p:Page) RETURN count(p) AS n"
        assert tx.run(count).single(strict=True)["n"] == 1
        brain.seed([B])
        assert tx.run(count).single(strict=True)["n"] == 2
        tx.rollback()


def test_a_page_that_is_locked_makes_a_report_wait_not_fail(brain: Brain, raw: driver.Driver) -> None:
    brain.seed([A])
    answers: list[bool] = []
    with raw.session(database="neo4j") as session, session.begin_transaction() as tx:
        tx.run("MATCH (p:Page {url: $url}) SET p:Page", url=A).consume()
        thread = threading.Thread(target=lambda: answers.extend(a.accepted for a in brain.report([Fetched(A, [B])])))
        thread.start()
        eventually(lambda: lock_awaited(raw), "the report that waits")
        assert not answers
        tx.rollback()
    thread.join(PATIENCE)
    assert answers == [True]
