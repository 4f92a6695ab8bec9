"""A service that is attacked for some time, with others who use it: they are answered, and soon."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import httpx
import psutil
import pytest

from tests.acceptance.service.test_killed import Service, ended, free_port
from tests.plugin import Neo4j, emptied
from tests.serving import bearer, tokens

SECONDS = float(os.environ.get("TEST_GRAPHBRAIN_ATTACK_SECONDS", "20"))
ATTACKERS, PAGES, HOSTS = 40, 20_000, 5_000
SOON, LATE_SHARE = 1.0, 0.001
"""So many of the answers may take longer than that: the machine has other things to do."""
LARGER = 300 * 2**20
"""Bytes by which the service may have grown, wherever it is."""


@pytest.mark.long
@pytest.mark.nightly
@pytest.mark.timeout(int(SECONDS) + 600)
def test_attackers_keep_nobody_from_being_answered(neo4j: Neo4j) -> None:
    with emptied(neo4j, delay_seconds=0.0) as brain, contextlib.ExitStack() as open_:
        given, port = tokens(brain), free_port()
        brain.seed(f"http://host-{page % HOSTS}.example/{page}" for page in range(PAGES))
        service = Service(neo4j, port, "--quiet", "--rate", "0")
        open_.callback(service.end)
        order = {"port": port, "token": given["analyst"], "seed": 44, "attackers": ATTACKERS}
        attackers = subprocess.Popen(
            [sys.executable, "-m", "tests.acceptance.service.attacker", json.dumps(order)],
            cwd=Path(__file__).parents[3],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        open_.enter_context(ended(attackers))
        http = open_.enter_context(httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60))
        process, until = psutil.Process(service.process.pid), time.monotonic() + SECONDS
        began_with, most = process.memory_info().rss, 0
        waits: dict[str, list[float]] = {}
        statuses: Counter[str] = Counter()

        def ask(what: str, method: str, path: str, role: str | None = None, body: object = None) -> httpx.Response:
            began = time.monotonic()
            answer = http.request(method, path, json=body, headers=bearer(given[role]) if role else {})
            waits.setdefault(what, []).append(time.monotonic() - began)
            statuses[f"{what} {answer.status_code}"] += 1
            return answer

        while time.monotonic() < until:
            with httpx.Client(base_url=http.base_url, timeout=60) as anew:  # by a connection of its own
                began = time.monotonic()
                statuses[f"healthz {anew.get('/healthz').status_code}"] += 1
                waits.setdefault("healthz", []).append(time.monotonic() - began)
            ask("now", "GET", "/v1/now", "operator")
            ask("find", "GET", "/v1/find?limit=1", "operator")
            claims = ask("next_urls", "POST", "/v1/next_urls", "crawler", {"n": 2}).json().get("claims", [])
            reports = [{"url": claim["url"], "claim": claim, "links": []} for claim in claims]
            ask("report", "POST", "/v1/report", "crawler", {"reports": reports})
            most = max(most, process.memory_info().rss)
            time.sleep(0.05)
        told = json.loads(attackers.communicate(timeout=120)[0])
        service.process.terminate()
        assert service.process.wait(60) == 0
        said = service.end()
    figures = {what: (len(all_), round(max(all_), 3)) for what, all_ in waits.items()}
    print(f"\n{told['done']}\n{figures}\n{dict(statuses)}\nMB: {began_with >> 20} {most >> 20}")
    assert not any("Traceback" in line for line in said), "".join(said)[:3_000]
    assert not told["failed"] and {"endless", "nonsense"} <= set(told["done"])
    assert {status.rsplit(" ", 1)[1] for status in statuses} == {"200"}
    late = sum(wait > SOON for wait in waits["healthz"])
    assert late <= LATE_SHARE * len(waits["healthz"]), figures
    assert most - began_with < LARGER
