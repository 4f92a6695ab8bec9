"""The service is killed again and again, with claims out and reports half sent: nothing is lost, nothing doubled."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from graphbrain import Brain
from graphbrain.service.serve import GRACE
from tests.acceptance.proxy import Cutter
from tests.acceptance.service.crawler import PAGES, links_of, url_of
from tests.plugin import Neo4j, emptied
from tests.serving import bearer, tokens

CRAWLERS = 3
KILLS = 2
LEASE = 600.0
"""Longer than the test: a page comes back only if a claim of it was lost."""


def command(neo4j: Neo4j, *arguments: str) -> tuple[list[str], dict[str, str]]:
    """A command of graphbrain on the test's brain, and its environment."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("GRAPHBRAIN_")}
    env |= {"GRAPHBRAIN_URI": neo4j.uri, "GRAPHBRAIN_USER": neo4j.user, "GRAPHBRAIN_PASSWORD": neo4j.password}
    return [sys.executable, "-m", "graphbrain", *arguments], {**env, "GRAPHBRAIN_CRAWL": "test"}


def start(neo4j: Neo4j, port: int, *options: str) -> subprocess.Popen[str]:
    """A service as its own process, once it answers."""
    line, env = command(neo4j, "serve", "--port", str(port), *options)
    process = subprocess.Popen(line, env=env, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    said = ""
    while "serving" not in said:  # a start that takes long says first what it waits for
        said = process.stderr.readline()
        assert "serving" in said or "waiting for" in said, said
    return process


@contextmanager
def ended(*processes: subprocess.Popen[Any]) -> Iterator[None]:
    """However the block is left, these have ended then."""
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()
            for pipe in filter(None, (process.stdout, process.stderr)):
                pipe.close()


class Service:
    """A service as its own process, whose output is read: it never waits for a reader."""

    def __init__(self, neo4j: Neo4j, port: int, *options: str) -> None:
        self.process = start(neo4j, port, *options)
        self._said: list[str] = []
        self._reader = threading.Thread(target=lambda: self._said.extend(self.process.stderr or ()))
        self._reader.start()

    def end(self) -> list[str]:
        """Kill it, if it has not ended, and return the lines that it wrote after its start."""
        self.process.kill()
        self.process.wait()
        self._reader.join()
        if self.process.stderr is not None:
            self.process.stderr.close()
        said, self._said = self._said, []
        return said


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def crawl(url: str, token: str, ledger: Path) -> subprocess.Popen[bytes]:
    order = json.dumps({"url": url, "token": token, "ledger": str(ledger)})
    root = Path(__file__).parents[3]
    return subprocess.Popen([sys.executable, "-m", "tests.acceptance.service.crawler", order], cwd=root)


def test_nothing_is_lost_or_doubled_however_often_it_is_killed(neo4j: Neo4j, tmp_path: Path) -> None:
    with emptied(neo4j, delay_seconds=0.0, lease_seconds=LEASE, order="best_first") as brain:
        brain.seed([url_of(0)])
        token, port, dice = tokens(brain, "crawler")["crawler"], free_port(), random.Random(7)
        service = start(neo4j, port, "--quiet", "--rate", "0")
        gang = [crawl(f"http://127.0.0.1:{port}", token, tmp_path / f"{n}.jsonl") for n in range(CRAWLERS)]
        with ended(*gang):
            for _ in range(KILLS):
                _await_more(tmp_path)
                time.sleep(dice.uniform(0.0, 0.3))
                with ended(service):
                    service.send_signal(signal.SIGKILL)
                service = start(neo4j, port, "--quiet", "--rate", "0")
            with ended(service):
                assert [process.wait(300) for process in gang] == [0] * CRAWLERS
        _judge(brain, [json.loads(line) for n in range(CRAWLERS) for line in _lines(tmp_path / f"{n}.jsonl")])


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def _await_more(folder: Path) -> None:
    """Until some more reports were acknowledged, or the crawl is over."""

    def count() -> int:
        return sum(path.read_text().count('"acknowledged"') for path in folder.glob("*.jsonl"))

    before, until = count(), time.monotonic() + 60
    while count() < min(before + 15, PAGES) and time.monotonic() < until:
        time.sleep(0.02)


def _judge(brain: Brain, ledger: list[dict[str, Any]]) -> None:
    asked = {entry["key"] for entry in ledger if entry["what"] == "asked"}
    handed = [entry for entry in ledger if entry["what"] == "handed"]
    assert asked == {entry["key"] for entry in handed}, "each request was answered in the end"
    pages = Counter(key for entry in handed for key, _ in entry["claims"])
    assert len(pages) == PAGES and set(pages.values()) == {1}, "each page was handed out, and once"
    assert not [entry for entry in ledger if entry["what"] == "refused"]
    told = Counter(entry["url"] for entry in ledger if entry["what"] == "acknowledged")
    assert told == Counter({url_of(page): 1 for page in range(PAGES)})
    stored = {page.url: page for page in brain.dump_pages()}
    assert {url: page.visits for url, page in stored.items()} == dict.fromkeys(told, 1), "each counts once"
    assert brain.stats()["leased"] == 0
    links = {(link.source, link.target) for link in brain.dump_links()}
    assert links == {(url_of(p), to) for p in range(PAGES) for to in links_of(p) if to != url_of(p)}
    brain.tend(None)
    audit = brain.audit(None)
    assert audit.ok, audit.findings


def test_it_stops_in_order(neo4j: Neo4j) -> None:
    """What is in flight is answered, long polls end at once, nothing is handed out to nobody, and it exits with 0."""
    with emptied(neo4j, delay_seconds=0.0) as brain:
        given, port = tokens(brain), free_port()
        for number in (signal.SIGTERM, signal.SIGINT):
            service = start(neo4j, port)
            with ended(service), httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as http:
                brain.seed([f"http://stops.org/{number}"])
                claims = http.post("/v1/next_urls", json={}, headers=bearer(given["crawler"])).json()["claims"]
                assert len(claims) == 1
                wait = subprocess.Popen(
                    [sys.executable, "-c", _POLL, f"http://127.0.0.1:{port}", given["crawler"]],
                    stdout=subprocess.PIPE,
                    text=True,
                )
                with ended(wait):
                    assert wait.stdout is not None and wait.stdout.readline() == "asking\n"
                    time.sleep(1.0)
                    service.send_signal(number)
                    assert json.loads(wait.stdout.readline())["claims"] == []
                assert service.wait(60) == 0
                assert service.stderr is not None and "the service has stopped" in service.stderr.read()
            assert brain.report([_visit(claims[0])])[0].accepted


@pytest.mark.long
def test_it_stops_in_order_under_load(neo4j: Neo4j) -> None:
    """With many crawlers at work it ends within the time that docs/reference/http.md says, and what it had let in is
    answered: no claim is out that nobody was told of."""
    crawlers, told, statuses = 60, set[str](), Counter[int]()
    with emptied(neo4j, delay_seconds=0.0) as brain:
        brain.seed([f"http://h{number % 50}.org/{number}" for number in range(4_000)])
        given, port = tokens(brain), free_port()
        service = start(neo4j, port, "--quiet", "--rate", "0")

        async def crawl(http: httpx.AsyncClient) -> None:
            with contextlib.suppress(httpx.TransportError):  # it takes no connection any more, or ends an idle one
                while True:
                    answer = await http.post("/v1/next_urls", json={"n": 5})
                    statuses[answer.status_code] += 1
                    claims = answer.json().get("claims", [])
                    told.update(claim["token"] for claim in claims)
                    reports = [{"url": claim["url"], "claim": claim} for claim in claims]
                    statuses[(await http.post("/v1/report", json={"reports": reports})).status_code] += 1

        async def crawl_and_stop() -> float:
            limits = httpx.Limits(max_connections=crawlers)
            bearing = {"headers": bearer(given["crawler"]), "timeout": 60.0, "limits": limits}
            async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", **bearing) as http:
                crawling = [asyncio.create_task(crawl(http)) for _ in range(crawlers)]
                while statuses[200] < 2 * crawlers:
                    await asyncio.sleep(0.05)
                service.send_signal(signal.SIGTERM)
                began = time.monotonic()
                assert await asyncio.to_thread(service.wait, 60) == 0
                took = time.monotonic() - began
                await asyncio.gather(*crawling)
                return took

        with ended(service):
            took = asyncio.run(crawl_and_stop())
        print(f"\nstopped within {took:.1f} s; {dict(statuses)}")
        assert took < 30.0 and set(statuses) <= {200, 503}, statuses
        leased = brain.graph.read(lambda tx: tx.ask("test", LEASED, {})[1], "test")
        assert took > GRACE or {token for (token,) in leased} <= told


LEASED = "MATCH (page:Page) WHERE page.lease IS NOT NULL RETURN page.lease"


def test_it_does_not_wait_long_for_a_neo4j_that_is_away(neo4j: Neo4j) -> None:
    """Told to stop, it lets go of what waits for the database; told twice, it answers at once that it stops."""
    for times, kind in ((1, "GraphUnavailable"), (2, "Stopping")):
        at = urlsplit(neo4j.uri)
        with emptied(neo4j) as brain, Cutter(at.hostname or "", at.port or 7687) as proxy:
            given, port = tokens(brain), free_port()
            service = start(replace(neo4j, uri=f"bolt://127.0.0.1:{proxy.port}"), port)
            with ended(service), ThreadPoolExecutor(1) as pool:
                bearing = {"headers": bearer(given["analyst"]), "timeout": 60}
                assert httpx.get(f"http://127.0.0.1:{port}/v1/stats", **bearing).status_code == 200
                proxy.leave()
                answer = pool.submit(httpx.get, f"http://127.0.0.1:{port}/v1/stats", **bearing)
                time.sleep(1.0)
                began = time.monotonic()
                for _ in range(times):
                    service.send_signal(signal.SIGINT)
                    time.sleep(0.5)
                told = answer.result()
                assert (told.status_code, told.json()["error"]["type"]) == (503, kind)
                assert service.wait(60) == 0
                assert time.monotonic() - began < 15.0  # PATIENCE alone is 20


_POLL = """
import sys, httpx
print("asking", flush=True)
headers = {"Authorization": f"Bearer {sys.argv[2]}"}
print(httpx.post(f"{sys.argv[1]}/v1/next_urls", json={"wait": 50}, headers=headers, timeout=90).text, flush=True)
"""


def _visit(claim: dict[str, Any]) -> Any:
    from graphbrain.content.wire import report_from_dict

    return report_from_dict({"url": claim["url"], "claim": claim})
