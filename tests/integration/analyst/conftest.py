"""Brains that go by the server's clock: questions ask it, too."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from graphbrain import Brain
from tests.plugin import Neo4j, emptied


@pytest.fixture
def brain(neo4j: Neo4j) -> Iterator[Brain]:
    """An empty brain without delays that does not tend by itself."""
    with emptied(neo4j, delay_seconds=0.0) as brain:
        yield brain
