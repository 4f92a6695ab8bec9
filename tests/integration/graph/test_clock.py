"""The server's clock, measured over a connection."""

from __future__ import annotations

import logging

import pytest

from graphbrain import Brain
from graphbrain.graph import connection
from graphbrain.graph.clock import steady


def test_a_connection_says_that_the_clock_of_the_server_was_set(
    brain: Brain, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    graph = brain.graph
    really = graph.now()
    with caplog.at_level(logging.WARNING, "graphbrain"):
        offset = graph.now() - steady()
        monkeypatch.setattr(connection, "_ask_clock", lambda _: (offset - 3_600.0, None))
        monkeypatch.setattr(graph, "_measured_at", 1e-9)
        graph.keep_time()
    assert "was set back by 3600 s" in caplog.text
    assert really - graph.now() > 3_500.0
