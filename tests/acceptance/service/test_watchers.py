"""Watchers of the console: a hundred cost the database, and the writing of answers, what one does."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from graphbrain import Brain
from graphbrain.service import watching
from graphbrain.service.access import READ_AHEAD
from graphbrain.service.app import Terms
from graphbrain.service.console import hosts
from graphbrain.service.door import Limits
from tests.integration.analyst.webs import crawl
from tests.plugin import Neo4j, emptied, eventually
from tests.serving import serving

VIEWS = ("overview", "hosts?text=example&by=frontier")
WATCHERS = 100
TOKENS = "access/list"
"""The tokens are read once a second at most, however many requests there are."""


@pytest.fixture(scope="module")
def brain(neo4j: Neo4j) -> Iterator[Brain]:
    with emptied(neo4j, delay_seconds=0.0) as brain:
        crawl(brain)
        yield brain


def test_a_hundred_watchers_cost_what_one_does(
    brain: Brain, given: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "EVERY", dict.fromkeys(watching.EVERY, 1e9))
    written: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    write, part = watching._body, hosts.part

    def counted_write(*values: Any) -> bytes:
        written["bodies"] += 1
        return write(*values)

    def counted_part(*values: Any) -> Any:
        written["tables"] += 1
        return part(*values)

    monkeypatch.setattr(watching, "_body", counted_write)
    monkeypatch.setattr(hosts, "part", counted_part)
    headers = {"Authorization": f"Bearer {given['analyst']}"}
    terms = Terms(limits=Limits(rate=0.0))
    with serving(brain, terms) as url, httpx.Client(base_url=f"{url}/v1/watch/", headers=headers, timeout=60) as http:

        def poll(view: str, tag: str = "") -> httpx.Response:
            return http.get(view, headers={"If-None-Match": tag})

        def settled(view: str) -> bool:
            told = poll(view).json()
            return told["data"] is not None and not told["making"]

        for view in VIEWS:
            eventually(lambda view=view: settled(view), f"the snapshot of {view}")
        written.clear()
        began = time.monotonic()
        with brain.graph.trace(lambda name, *_: asked.update([name])):
            for view in VIEWS:
                for _ in range(WATCHERS):
                    first = poll(view)
                    again = poll(view, first.headers["etag"])
                    assert (first.status_code, again.status_code, again.content) == (200, 304, b""), view
        seconds = time.monotonic() - began
        # Samples of metrics are read by the clock, whether there is a watcher or not.
        assert not [name for name in asked if name.startswith(("analyst/", "hosts/", "watching/"))]
        assert asked[TOKENS] <= 1 + seconds / READ_AHEAD
        assert not written, "each answer is written once"
