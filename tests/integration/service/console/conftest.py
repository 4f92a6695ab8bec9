"""A brain with the small crawl that questions are tested on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from graphbrain import Brain
from tests.integration.analyst.webs import crawl
from tests.plugin import Neo4j, emptied


@pytest.fixture
def crawled(neo4j: Neo4j) -> Iterator[Brain]:
    with emptied(neo4j, delay_seconds=0.0) as brain:
        crawl(brain)
        yield brain
