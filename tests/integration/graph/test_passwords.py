"""Wrong passwords: a process that has one leaves the server alone, and who has the right one waits out the others."""

from __future__ import annotations

from typing import Any

import pytest

from graphbrain.base.errors import GraphRefused, GraphUnavailable
from graphbrain.graph import connection
from graphbrain.graph.connection import Graph
from tests.plugin import Neo4j


def opened(neo4j: Neo4j, password: str) -> Graph:
    return Graph(neo4j.uri, neo4j.user, password, "neo4j", 60.0)


def test_a_password_that_was_refused_rests(neo4j: Neo4j, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, attempts = opened(neo4j, "wrong"), list[str]()
    attempt = Graph._attempt

    def counted(self: Graph, *given: Any) -> Any:
        attempts.append("one")
        return attempt(self, *given)

    monkeypatch.setattr(Graph, "_attempt", counted)
    for _ in range(3):
        with pytest.raises(GraphRefused, match="GRAPHBRAIN_PASSWORD"):
            graph.connect()
    assert attempts == ["one"]
    monkeypatch.setattr(connection, "REST", 0.0)
    graph._barred_until = 0.0  # its rest is over
    with pytest.raises(GraphRefused):
        graph.connect()
    assert len(attempts) == 2
    graph.close()


def test_who_is_kept_out_by_others_is_told_so_and_waits(neo4j: Neo4j) -> None:
    tried: list[Exception] = []
    while not tried or not isinstance(tried[-1], GraphUnavailable):
        other = opened(neo4j, f"wrong {len(tried)}")
        with pytest.raises((GraphRefused, GraphUnavailable)) as raised:
            other.connect()
        tried.append(raised.value)
        other.close()
        assert len(tried) < 20
    graph = opened(neo4j, neo4j.password)
    with pytest.raises(GraphUnavailable, match="a program has tried wrong passwords"):
        graph.connect()
    assert graph.read(lambda tx: tx.one("brain/clock"), "brain/clock")
    graph.close()
