"""The door: tokens that were read too long ago let nobody in, and those that are known hold while the graph is away."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import httpx
import pytest

from graphbrain.base.errors import GraphUnavailable
from graphbrain.service import access, door
from graphbrain.service.access import Gatekeeper, Grant, digest_of
from graphbrain.service.door import Door, Limits

TOKEN = "gbt_" + "x" * 43
GOOD = [Grant("ann", "crawler", 0.0, None, None, digest_of(TOKEN))]


class Graph:
    """What is read of the graph's tokens: counts the reads, takes as long as it is told, and may be away."""

    def __init__(self) -> None:
        self.grants: list[Grant] = GOOD
        self.reads, self.away = 0, False
        self.goes_on = threading.Event()
        self.goes_on.set()

    def read(self, *_: object, **__: object) -> list[Grant]:
        found = self.grants
        self.reads += 1
        assert self.goes_on.wait(20)
        if self.away:
            raise GraphUnavailable("Neo4j does not answer.")
        return found


@pytest.fixture
def graph(monkeypatch: pytest.MonkeyPatch) -> Graph:
    graph = Graph()
    monkeypatch.setattr(access, "grants", graph.read)
    monkeypatch.setattr(access, "LOOK_AGAIN", 0.05)
    monkeypatch.setattr(door, "HOLDS", 0.6)
    monkeypatch.setattr(door, "READ_AHEAD", 0.2)
    monkeypatch.setattr(door, "LOOK_SECONDS", 1.0)
    return graph


def entered(graph: Any) -> httpx.AsyncClient:
    """Somebody with the token at the door of a service that has read the tokens just now."""

    async def behind(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    keeper = Gatekeeper(graph, time.time)
    keeper.read()
    app: Any = Door(behind, keeper=keeper, limits=Limits(), names=["service"], roles={})
    headers = {"Authorization": f"Bearer {TOKEN}"}
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://service", headers=headers)


async def status(http: httpx.AsyncClient) -> int:
    return (await http.get("/v1/now")).status_code


def test_whoever_comes_in_the_middle_of_a_read_waits_for_it_too(graph: Graph) -> None:
    async def run() -> list[int]:
        async with entered(graph) as http:
            graph.grants = []
            await asyncio.sleep(0.7)
            graph.goes_on.clear()
            first = asyncio.create_task(status(http))
            await asyncio.sleep(0.1)
            second = asyncio.create_task(status(http))
            await asyncio.sleep(0.1)
            assert not first.done() and not second.done() and graph.reads == 2
            graph.goes_on.set()
            return [await first, await second]

    assert asyncio.run(run()) == [401, 401]


def test_a_read_that_began_too_long_ago_is_not_enough(graph: Graph) -> None:
    async def run() -> int:
        async with entered(graph) as http:
            await asyncio.sleep(0.3)
            graph.goes_on.clear()
            assert await status(http) == 200, "what is known is young: it is read again behind the request"
            await asyncio.sleep(0.1)
            graph.grants = []
            await asyncio.sleep(0.8)
            waits = asyncio.create_task(status(http))
            await asyncio.sleep(0)
            graph.goes_on.set()
            return await waits

    assert asyncio.run(run()) == 401
    assert graph.reads == 3


def test_steady_requests_do_not_wait(graph: Graph) -> None:
    async def run() -> float:
        longest = 0.0
        async with entered(graph) as http:
            until = time.monotonic() + 1.0
            while (began := time.monotonic()) < until:
                graph.goes_on.clear()
                assert await status(http) == 200
                longest = max(longest, time.monotonic() - began)
                graph.goes_on.set()
                await asyncio.sleep(0.05)
        return longest

    assert asyncio.run(run()) < 0.5, "no read is waited for"
    assert graph.reads >= 3


def test_known_tokens_hold_while_the_graph_is_away_or_does_not_answer(graph: Graph) -> None:
    async def run() -> list[int]:
        async with entered(graph) as http:
            graph.away = True
            await asyncio.sleep(0.7)
            found = [await status(http)]
            graph.goes_on.clear()
            began = time.monotonic()
            found.append(await status(http))
            assert 0.9 < time.monotonic() - began < 3
            graph.goes_on.set()
            # Nobody knows whether one that was made meanwhile is good.
            found.append((await http.get("/v1/now", headers={"Authorization": "Bearer gbt_new"})).status_code)
            return found

    assert asyncio.run(run()) == [200, 200, 503]
