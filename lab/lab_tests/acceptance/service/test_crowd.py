"""A crowd of crawlers on two services for some time, one of which is killed again and again, while Neo4j is stopped and
started: by a ledger of the crawlers nothing is lost or doubled, and the other service keeps its memory.

    TEST_GRAPHBRAIN_CROWD_SECONDS=600 pytest -s -m long tests/acceptance/service/test_crowd.py
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from graphbrain import Brain
from graphbrain.graph.server import lifecycle
from graphbrain_lab.bench import chaos
from lab_tests.acceptance.service.crowd import links_of, page_of, url_of
from tests.acceptance.service.test_killed import Service, ended, free_port
from tests.plugin import MEMORY_MB, Neo4j, emptied, eventually
from tests.serving import tokens

SECONDS = float(os.environ.get("TEST_GRAPHBRAIN_CROWD_SECONDS", "40"))
CRAWLERS, SEEDS = 200, 2_000
ACKNOWLEDGED = '["acknowledged"'
STRIKES = max(4, int(SECONDS / 45))
"""The one in the middle stops Neo4j; the others kill a service."""
AWAY = min(20.0, SECONDS / 10)
"""Seconds for which Neo4j is not there, and the time of its start."""
LEASE, REVISIT = 60.0, max(3.0, SECONDS / 10)
FLAT_AFTER = 300.0
"""Seconds after which a service has all that it remembers."""
GROWS, LARGER = 20 * 2**20, 150 * 2**20
"""Bytes by which a service may grow after that, and in all."""


@pytest.mark.long
@pytest.mark.timeout(int(SECONDS) + 1_200)
def test_a_crowd_loses_and_doubles_nothing_and_the_service_stays_as_small(neo4j: Neo4j, tmp_path: Path) -> None:
    if neo4j.data is None:
        pytest.skip("the tests run on a server that they have not started")
    settings = {"delay_seconds": 0.0, "lease_seconds": LEASE, "order": "optimal", "revisit_seconds": REVISIT}
    with emptied(neo4j, **settings) as brain, contextlib.ExitStack() as open_:
        brain.seed(map(url_of, range(SEEDS)))
        strikes = Strikes(neo4j, [free_port(), free_port()])
        open_.callback(strikes.end)
        ledger = tmp_path / "ledger.jsonl"
        order = {"ports": strikes.ports, "token": tokens(brain, "crawler")["crawler"], "ledger": str(ledger)}
        crowd = subprocess.Popen(
            [sys.executable, "-m", "lab_tests.acceptance.service.crowd", json.dumps(order | {"crawlers": CRAWLERS})],
            cwd=Path(__file__).parents[3],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        open_.enter_context(ended(crowd))
        eventually(lambda: ledger.exists() and ledger.read_text().count(ACKNOWLEDGED) >= CRAWLERS, "work", crowd)
        strikes.strike(crowd)
        seen = crowd.communicate(timeout=900)[0]
        assert crowd.returncode == 0
        strikes.end()
        print(f"\n{seen}{strikes.told()}")
        strikes.judge()
        judge(brain, ledger)


class Strikes:
    """Two services: one is killed and started again, the other is watched; and the server of both, which is stopped."""

    def __init__(self, neo4j: Neo4j, ports: list[int]) -> None:
        self._neo4j, self.ports = neo4j, ports
        self._watched, self._killed = (Service(neo4j, port, "--quiet", "--rate", "0") for port in ports)
        self._said: list[str] = []
        self._memory: list[tuple[float, int]] = []
        self._done: list[str] = []
        self._began = 0.0

    def strike(self, crowd: subprocess.Popen[str]) -> None:
        """Kill and stop, while the crowd crawls, for `SECONDS`."""
        self._began = time.monotonic()
        for number in range(STRIKES):
            self._watch((number + 1) / (STRIKES + 1), crowd)
            if number == STRIKES // 2:
                self._stop_neo4j()
            else:
                self._kill()
        self._watch(1.0, crowd)

    def _watch(self, share: float, crowd: subprocess.Popen[str]) -> None:
        process = psutil.Process(self._watched.process.pid)
        while True:
            passed = time.monotonic() - self._began
            self._memory.append((passed, process.memory_info().rss))
            assert crowd.poll() is None, "the crowd has ended by itself"
            if passed >= share * SECONDS:
                return
            time.sleep(min(1.0, share * SECONDS - passed))

    def _kill(self) -> None:
        self._said += self._killed.end()
        self._killed = Service(self._neo4j, self.ports[1], "--quiet", "--rate", "0")
        self._note("killed")

    def _stop_neo4j(self) -> None:
        assert self._neo4j.data is not None
        lifecycle.stop(self._neo4j.data)
        time.sleep(AWAY)
        lifecycle.start(self._neo4j.data, version=self._neo4j.version, memory=MEMORY_MB // 2)
        self._note("Neo4j stopped")

    def _note(self, what: str) -> None:
        self._done.append(f"{what} {time.monotonic() - self._began:.0f} s")

    def end(self) -> None:
        """End both services."""
        for service in (self._watched, self._killed):
            self._said += service.end()

    def told(self) -> str:
        """What was done, and the memory of the watched service at some times."""
        at = [0.0, *(each for each in (60.0, 120.0, FLAT_AFTER) if each < SECONDS), SECONDS]
        memory = {f"{each:.0f} s": f"{self._last(each) >> 20} MB" for each in at}
        return f"{self._done}\nmemory {memory}, most {max(rss for _, rss in self._memory) >> 20} MB"

    def _last(self, passed: float) -> int:
        """The memory that was last seen by then."""
        return next((rss for at, rss in reversed(self._memory) if at <= passed), self._memory[0][1])

    def judge(self) -> None:
        """The watched service has not grown, and neither has said that something was wrong."""
        assert not any("Traceback" in line for line in self._said), "".join(self._said)[:3_000]
        most = max(rss for _, rss in self._memory)
        assert most - self._memory[0][1] < LARGER
        late = [rss for at, rss in self._memory if at >= FLAT_AFTER]
        assert not late or max(late) - self._last(FLAT_AFTER) < GROWS, self.told()


def judge(brain: Brain, ledger: Path) -> None:
    """Compare the ledger with the graph."""
    lives = defaultdict[int, list[dict[str, Any]]](list)
    done, refused, doubtful = Counter[int](), Counter[str](), Counter[int]()
    late = set[int]()
    for what, at, page, token, more in _entries(ledger):
        until = {"until": more[0], "granted": more[0] - LEASE} if what == "claimed" else {}
        lives[page].append({"what": what, "token": token, "at": at, **until})
        if what == "acknowledged":
            done[page] += 1
        elif what == "refused":
            refused[more[1]] += 1
            late.add(page)
            doubtful[page] += more[0] > 1  # it may have counted when it was sent first, without an answer
    claims = sum(entry["what"] == "claimed" for life in lives.values() for entry in life)
    again = sum(number > 1 for number in done.values())
    print(
        f"{claims} claims of {len(lives)} pages, {done.total()} reports acknowledged, {again} pages more than once, "
        f"{refused.total()} refused {dict(refused)}, {doubtful.total()} of them sent more than once"
    )
    assert done.total() > CRAWLERS
    held = [found for page, life in lives.items() for found in chaos.overlaps(url_of(page), life)]
    assert not held, held[:5]
    undue = [found for page, life in lives.items() for found in chaos.undue(url_of(page), life, REVISIT)]
    assert not undue, undue[:5]
    _compare(brain, done, doubtful, late)


def _entries(ledger: Path) -> Iterator[tuple[str, float, int, str, list[Any]]]:
    """What was done with one page, when, which, by which token, and more."""
    for line in ledger.open(encoding="utf-8"):
        what, at, pages = json.loads(line)
        for page, token, *more in pages:
            yield what, at, page, token, more


def _read(brain: Brain) -> tuple[dict[int, int], set[tuple[int, int]]]:
    """Return the visits of all pages, and all links, of one moment.

    Neo4j may still commit what a killed service has sent.
    """
    while True:
        visits = {page_of(page.url): page.visits for page in brain.dump_pages()}
        stored = {(page_of(link.source), page_of(link.target)) for link in brain.dump_links()}
        if visits == {page_of(page.url): page.visits for page in brain.dump_pages()}:
            return visits, stored


def _compare(brain: Brain, done: Counter[int], doubtful: Counter[int], late: set[int]) -> None:
    """Each acknowledged report counts once, with its links, and there is no page that none of them brought.

    `late`: the pages of refused reports. The brain takes the links of a report that comes after its lease, if the page
    was never fetched: such pages may have links without a visit.
    """
    visits, stored = _read(brain)
    off = {page: (done[page], visits.get(page, 0)) for page in visits.keys() | done.keys()}
    off = {page: (own, known) for page, (own, known) in off.items() if not own <= known <= own + doubtful[page]}
    assert not off, f"acknowledged and counted: {dict(list(off.items())[:5])}"
    visited = {page for page, number in visits.items() if number}
    linking = visited | (late & {page for page, _ in stored})
    links = {(page, link) for page in linking for link in links_of(page)}
    assert stored == links, f"{len(links - stored)} links are lost, {len(stored - links)} nobody has reported"
    assert visits.keys() == set(range(SEEDS)) | {link for _, link in links}
    brain.tend(None)
    audit = brain.audit(None)
    assert audit.ok, audit.findings[:5]
