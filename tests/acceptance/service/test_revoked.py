"""What is under way when a token is revoked: it ends, too."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import httpx
import pytest

from graphbrain import Brain
from graphbrain.service import access
from graphbrain.service.access import HOLDS
from graphbrain.service.app import Terms
from tests.plugin import Neo4j, emptied
from tests.serving import bearer, serving

PAGES, AT_ONCE = 12_000, 2_000


@pytest.fixture(scope="module")
def brain(neo4j: Neo4j) -> Iterator[Brain]:
    with emptied(neo4j, delay_seconds=0.0) as brain:
        yield brain


@pytest.fixture(scope="module")
def url(brain: Brain) -> Iterator[str]:
    with serving(brain, Terms()) as url:
        yield url


def test_a_long_poll_ends_without_claims(brain: Brain, url: str) -> None:
    token = access.make(brain.graph, "waits", "crawler", brain.now())
    told: list[httpx.Response] = []

    def wait() -> None:
        body = {"n": 5, "wait": 60.0}
        told.append(httpx.post(f"{url}/v1/next_urls", headers=bearer(token), json=body, timeout=90.0))

    brain.seed(["https://wait.example/"])
    (held,) = brain.next_urls(5)
    thread = threading.Thread(target=wait)
    thread.start()
    thread.join(2 * HOLDS)
    assert thread.is_alive(), "it waits as long as its token is good"
    access.revoke(brain.graph, "waits", brain.now())
    thread.join(30.0)
    assert not thread.is_alive()
    assert told[0].json()["claims"] == []
    assert brain.give_back([held]) == [True]


@pytest.mark.long
def test_a_dump_breaks_off(brain: Brain, url: str) -> None:
    for first in range(0, PAGES, AT_ONCE):
        brain.seed(
            [f"https://dump.example/{'a-path-that-makes-lines-long/' * 40}{n}" for n in range(first, first + AT_ONCE)]
        )
    token = access.make(brain.graph, "dumps", "analyst", brain.now())
    with httpx.stream("GET", f"{url}/v1/dump_pages", headers=bearer(token), timeout=60.0) as answer:
        assert answer.status_code == 200
        lines = answer.iter_lines()
        next(lines)
        access.revoke(brain.graph, "dumps", brain.now())
        time.sleep(2 * HOLDS + 2.0)  # a reader who is slow: most of the pages fit into no buffer
        with pytest.raises(httpx.RemoteProtocolError):
            assert sum(1 for _ in lines) < PAGES - 1
