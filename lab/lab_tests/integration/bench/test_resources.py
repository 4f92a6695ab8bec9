"""`bench resources`: a small run of each of its measures."""

from __future__ import annotations

import pytest

from graphbrain.base.errors import BadInput
from graphbrain_lab.bench import resources
from tests.plugin import Neo4j, emptied


def test_each_measure_of_a_few_hosts(neo4j: Neo4j, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"KNOWN": 6, "PAGES_EACH": 20, "NEW_HOSTS": 2, "WARM_UP": 1}.items():
        monkeypatch.setattr(resources, name, value)
    with emptied(neo4j) as brain:
        met, one, alone, every, ratio = resources.resources(brain, hosts=8, calls=2)
        assert met["hosts"] == met["claims"]["robots"] == 8 and met["next_ms_p50"] > 0
        assert one["hosts"] == 2 and one["met_ms_p50"] > 0
        assert ratio["next_ms_p50"] == pytest.approx(every["next_ms_p50"] / alone["next_ms_p50"], abs=0.01)
        done = brain.stats()["done"]
        assert done["robots_claims"] >= 6 + 2 and done["sitemap_claims"] >= 6 + 2
        with pytest.raises(BadInput, match="empty"):
            resources.resources(brain)
