"""How a brain is opened: what is asked before it can be used."""

from __future__ import annotations

import neo4j as driver
import pytest

from graphbrain import Brain
from graphbrain.graph.connection import CLOCK_PROBES, Tx
from tests.plugin import Neo4j


def test_a_brain_is_opened_in_two_transactions(brain: Brain, neo4j: Neo4j, monkeypatch: pytest.MonkeyPatch) -> None:
    """One asks the clock, several times; the other reads the steps of the schema, and the brain."""
    assert brain.stats()["pages"] == 0
    sent: list[str] = []
    commit, many = driver.Transaction.commit, Tx.many

    def counted(self: Tx, name: str, /, **given: object) -> list[list[object]]:
        sent.append(name)
        return many(self, name, **given)

    def committed(tx: driver.Transaction) -> None:
        sent.append("COMMIT")
        commit(tx)

    monkeypatch.setattr(Tx, "many", counted)
    monkeypatch.setattr(driver.Transaction, "commit", committed)
    neo4j.open(crawl="test", auto_tend=False).close()
    assert sent == [*["brain/clock"] * CLOCK_PROBES, "COMMIT", "brain/steps", "brain/read", "COMMIT"]
