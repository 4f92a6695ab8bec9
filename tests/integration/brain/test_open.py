"""How a brain is opened: what is asked before it can be used."""

from __future__ import annotations

import pytest

from graphbrain import Brain
from graphbrain.graph.connection import CLOCK_PROBES
from tests.integration.conftest import statements_sent
from tests.plugin import Neo4j


def test_a_brain_is_opened_in_two_transactions(brain: Brain, neo4j: Neo4j, monkeypatch: pytest.MonkeyPatch) -> None:
    """One asks the clock, several times; the other reads the steps of the schema, and the brain."""
    assert brain.stats()["pages"] == 0
    sent = statements_sent(monkeypatch)
    neo4j.open(crawl="test", auto_tend=False).close()
    assert sent == [*["brain/clock"] * CLOCK_PROBES, "COMMIT", "brain/steps", "brain/read", "COMMIT"]
