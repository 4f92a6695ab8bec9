"""The throughput of one service for many small crawlers, which repeatedly claim some pages and report them.

The service is a separate process, as in use. The clients are coroutines of this process with a socket each, so that
they cost little. The results are pages per second, the latency of claims and reports, and the CPU time of the service.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import re
import subprocess
import sys
import time
import uuid
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from graphbrain.base.errors import GraphbrainError
from graphbrain.brain.brain import Brain
from graphbrain.service import access
from graphbrain_lab.bench.crawl import empty, fill

__all__ = ["SIZES", "Caller", "service"]

SIZES = (1, 5, 50)
"""The numbers of pages that a client claims at a time. Each is measured in turn."""
LINKS, LINKED = 3, 1_000_000
WAITING, WARM_UP = 60_000, 5.0
CLAIMED, REPORTED = "next_urls", "report"
SERVING = re.compile(r"serving .* on http://[\d.]+:(\d+)")


@dataclass
class _Counted:
    """The observations of the clients: (time, latency) of each answer by verb, and (time, number) of reported pages."""

    took: dict[str, list[tuple[float, float]]] = field(default_factory=lambda: defaultdict(list))
    pages: list[tuple[float, int]] = field(default_factory=list)


def service(
    brain: Brain,
    clients: int,
    seconds: float = 20.0,
    sizes: Sequence[int] = SIZES,
    command: Sequence[str] = (sys.executable, "-P", "-m", "graphbrain"),
) -> list[dict[str, Any]]:
    """Measure a service on this brain, which must be empty, with concurrent clients.

    Each client claims `n` pages and reports them with three links a page.

    Args:
        brain: The brain.
        clients: The number of clients.
        seconds: The measured time, after a warm-up.
        sizes: The values of `n`.
        command: The graphbrain program that starts the service.

    Raises:
        BadInput: The brain has pages.
        GraphbrainError: The service does not start.
    """
    # Give the clients a token.
    empty(brain)
    brain.remake(delay_seconds=0.0)
    name = f"bench-{uuid.uuid4().hex[:8]}"
    token = access.make(brain.graph, name, "crawler", brain.now(), 86_400.0)
    figures = []
    try:
        # Measure each size on a fresh service.
        for n in sizes:
            fill(brain, WAITING)
            with _serving(brain, command) as (process, port):
                counted = _Counted()
                cpu = asyncio.run(_crawl(port, token, clients, n, seconds, counted, process.pid))
            figures.append({"measure": "service", "clients": clients, "n": n, **_figures(counted, seconds, cpu)})
    finally:
        access.revoke(brain.graph, name, brain.now())
    return figures


@contextlib.contextmanager
def _serving(brain: Brain, command: Sequence[str]) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Run a service of this brain, and yield its process and port."""
    # Start the service.
    graph = brain.graph
    settings = {"URI": graph.uri, "USER": graph.user, "PASSWORD": graph.password, "DATABASE": graph.database}
    process = subprocess.Popen(
        [*command, "serve", "--port", "0", "--rate", "0", "--quiet"],
        env={**os.environ, **{f"GRAPHBRAIN_{key}": value for key, value in settings.items()}},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        # Wait for its port.
        said = []
        for line in process.stderr or ():
            said.append(line.strip())
            if found := SERVING.search(line):
                yield process, int(found[1])
                return
        raise GraphbrainError(f"The service did not start: {' '.join(said)[-300:]}")
    finally:
        process.terminate()
        process.communicate()


async def _crawl(
    port: int, token: str, clients: int, n: int, seconds: float, counted: _Counted, pid: int
) -> float | None:
    """Let the clients crawl. Return the CPU seconds of the service in the measured time, if the system reports them."""
    # Count the CPU time of the service after the warm-up.
    begins = time.monotonic() + WARM_UP
    ends = begins + seconds
    numbers = itertools.count()
    crawling = [asyncio.create_task(_client(port, token, n, ends, counted, numbers)) for _ in range(clients)]
    await asyncio.sleep(WARM_UP)
    before = _cpu(pid)
    await asyncio.sleep(seconds)
    after = _cpu(pid)
    await asyncio.gather(*crawling)
    # Keep the observations of the measured time.
    for all_ in counted.took.values():
        all_[:] = [each for each in all_ if begins <= each[0] < ends]
    counted.pages = [each for each in counted.pages if begins <= each[0] < ends]
    return None if before is None or after is None else after - before


class Caller:
    """One connection to a service, for one request after another. It costs its process little."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, token: str) -> None:
        self._reader, self._writer, self._token = reader, writer, token

    @classmethod
    async def connected(cls, port: int, token: str) -> Caller:
        """Connect to a service on this machine.

        Raises:
            OSError: Nothing listens on the port.
        """
        return cls(*await asyncio.open_connection("127.0.0.1", port), token)

    async def post(self, verb: str, body: Mapping[str, Any], key: str) -> tuple[int, Any]:
        """Send a request and return the status and the JSON of the answer.

        Raises:
            OSError: The connection broke.
            asyncio.IncompleteReadError: The service closed the connection before the answer was complete.
        """
        text = json.dumps(body).encode()
        head = f"POST /v1/{verb} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        head += f"Authorization: Bearer {self._token}\r\nIdempotency-Key: {key}\r\n"
        self._writer.write(f"{head}Content-Length: {len(text)}\r\n\r\n".encode() + text)
        answered = await self._reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", answered.lower())
        found = await self._reader.readexactly(int(length[1]) if length else 0)
        return int(answered[9:12]), json.loads(found)

    def close(self) -> None:
        """Release the socket; a request that is under way stays without an answer."""
        self._writer.close()


async def _client(port: int, token: str, n: int, ends: float, counted: _Counted, numbers: Iterator[int]) -> None:
    caller = await Caller.connected(port, token)

    # Each call is timed.
    async def ask(verb: str, body: Mapping[str, Any]) -> Any:
        began = time.monotonic()
        status, found = await caller.post(verb, body, uuid.uuid4().hex)
        if status != 200:
            raise GraphbrainError(f"The service has answered {json.dumps(found)[:200]}")
        counted.took[verb].append((time.monotonic(), time.monotonic() - began))
        return found

    # Claim and report until the end.
    while time.monotonic() < ends:
        claims = (await ask(CLAIMED, {"n": n}))["claims"]
        reports = [
            {"url": claim["url"], "claim": claim, "status": 200, "links": [_link(next(numbers)) for _ in range(LINKS)]}
            for claim in claims
        ]
        if reports:
            answers = (await ask(REPORTED, {"reports": reports}))["answers"]
            counted.pages.append((time.monotonic(), sum(answer["accepted"] for answer in answers)))
        else:
            await asyncio.sleep(0.1)
    caller.close()


def _link(number: int) -> str:
    """Return the URL of a link: to one of a million pages, in no order."""
    return f"http://s{number % 2_200}.bench.example/n{number * 7_919 % LINKED}"


def _figures(counted: _Counted, seconds: float, cpu: float | None) -> dict[str, Any]:
    took = {verb: 1000.0 * np.array([each for _, each in all_]) for verb, all_ in counted.took.items()}
    requests = sum(map(len, took.values()))
    figures: dict[str, Any] = {
        "seconds": seconds,
        "pages_per_second": round(sum(pages for _, pages in counted.pages) / seconds, 1),
        "requests_per_second": round(requests / seconds, 1),
    }
    for verb, all_ in sorted(took.items()):
        for part in (50, 99):
            figures[f"{verb}_ms_p{part}"] = round(float(np.percentile(all_, part)), 1) if len(all_) else None
    figures["service_cpu_share"] = None if cpu is None else round(cpu / seconds, 3)
    figures["service_cpu_ms_per_request"] = None if cpu is None or not requests else round(1000.0 * cpu / requests, 2)
    return figures


def _cpu(pid: int) -> float | None:
    """Return the CPU seconds that a process has used, if the system reports them."""
    with contextlib.suppress(OSError):
        facts = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(facts[11]) + int(facts[12])) / os.sysconf("SC_CLK_TCK")
    return None
