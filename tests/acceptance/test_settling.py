"""A settling pass that is killed, or whose server is, in the middle of its writing: the accounts are right as they are.

PROGRAM runs in a process of its own: it changes the links of some pages, makes a settling pass, and so on for ever, and
says on its standard output what the pass is doing.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphbrain import Brain, Fetched
from graphbrain.graph.server import lifecycle
from graphbrain.scores.accounts import exact_ledger, settlement
from graphbrain.scores.accounts.partition import Cost
from tests.integration.conftest import Going, crowd, sound
from tests.plugin import PATIENCE, Neo4j, eventually
from tests.reference.exported import export
from tests.reference.linear import solve, worst_error

ROOT = Path(__file__).resolve().parents[2]
PAGES, HOSTS = 1_000, 40
SMALL = Cost(200.0, 1.0, 0.1)
"""Many batches of these pages."""
LATER = 1_000.0
"""Seconds after which a pass that says no more counts as dead, and some."""

PROGRAM = """
import random, sys
from graphbrain import Brain
from graphbrain.scores.accounts import exact_ledger, settlement
from tests.acceptance.test_settling import SMALL, changes
settlement.COST, exact_ledger.ROUNDS = SMALL, 0
uri, user, password, seed = sys.stdin.read().split("\\n")[:4]
dice = random.Random(int(seed))
def told(what, done, of):
    print(what, done, of, flush=True)
with Brain.open(uri=uri, user=user, password=password, crawl="test", auto_tend=False) as brain:
    while True:
        brain.report(changes(dice, 100))
        print("begins 0 0", flush=True)
        brain.settle(progress=told)
        print("ended 0 0", flush=True)
"""


def url(page: int) -> str:
    return f"http://h{page % HOSTS}.example/{page}"


def changes(dice: random.Random, pages: int) -> list[Fetched]:
    """Visits of so many pages, with other links than before."""
    return [
        Fetched(url(page), [url(int(PAGES * dice.random() ** 2)) for _ in range(dice.randrange(1, 10))])
        for page in dice.sample(range(PAGES), pages)
    ]


class Pass:
    """The program, as somebody who reads what it says sees it; it is killed in the end, however that comes."""

    def __init__(self, neo4j: Neo4j, seed: int) -> None:
        kept = {k: v for k, v in os.environ.items() if not k.startswith("GRAPHBRAIN_")}
        self._process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**kept, "PYTHONPATH": str(ROOT)},
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(f"{neo4j.uri}\n{neo4j.user}\n{neo4j.password}\n{seed}\n")
        self._process.stdin.close()
        self._said = self._process.stdout
        self.last = ""
        """what it said last"""

    def until(self, what: str, times: int = 1) -> None:
        """Read on until it has said so often that it does this."""
        while times:
            self.last = self._said.readline()
            assert self.last, "it has ended by itself"
            times -= self.last.startswith(what)

    def kill(self) -> str:
        """SIGKILL; what it had said last by then."""
        self._process.send_signal(signal.SIGKILL)
        whole = [line for line in self._said if line.endswith("\n")]
        last = (whole or [self.last])[-1]
        assert self._process.wait(PATIENCE) == -signal.SIGKILL
        self._said.close()
        return last

    def end(self) -> None:
        if self._process.poll() is None:
            self.kill()


@pytest.fixture
def filled(brain: Brain, monkeypatch: pytest.MonkeyPatch) -> Brain:
    """All pages, most of them fetched; no cash was moved."""
    monkeypatch.setattr(exact_ledger, "ROUNDS", 0)
    brain.seed(map(url, range(PAGES)))
    brain.report(changes(random.Random(1), PAGES * 3 // 4))
    return brain


@pytest.fixture
def later(neo4j: Neo4j, filled: Brain) -> Iterator[Brain]:  # noqa: ARG001
    """Somebody who comes when a pass that has died counts as dead."""
    with neo4j.open(crawl="test", auto_tend=False, clock=lambda: time.time() + LATER) as brain:
        yield brain


def is_settled(neo4j: Neo4j) -> None:
    """All scores are the solution of the linear system, but for what a pass leaves as too little."""
    found = export(neo4j)
    hub, authority = solve(found.web)
    assert max(worst_error(found.hub, hub), worst_error(found.authority, authority)) < 1e-3


@pytest.mark.long
def test_a_pass_is_killed_in_the_middle_again_and_again(neo4j: Neo4j, filled: Brain, later: Brain) -> None:
    """kill -9 as it begins and as it writes, while another reports and pushes: sound after each, and whoever settles
    next does it."""
    dice, gate, done = random.Random(2), threading.Lock(), [0, 0]

    def others(going: Going) -> None:
        chance = random.Random(3)
        while going():
            with gate:
                done[0] += sum(answer.accepted for answer in filled.report(changes(chance, 10)))
                done[1] += filled.tend(pages=[url(chance.randrange(PAGES)) for _ in range(20)]).pushes
                filled.unlink(url(chance.randrange(PAGES)), url(chance.randrange(PAGES)))
            time.sleep(0.001)

    ends: list[str] = []
    with crowd(others):
        for number, stage in enumerate(("write", "begins", "write")):
            killed = Pass(neo4j, number)
            try:
                killed.until(stage, dice.randrange(1, 8) if stage == "write" else 1)
                time.sleep(dice.random() * 0.05)
                ends.append(killed.kill())
            finally:
                killed.end()
            with gate:
                sound(filled)
                assert later.settle().left == 0
                is_settled(neo4j)
    assert min(done) > 30
    assert any(map(amid_writing, ends)), ends


def amid_writing(said: str) -> bool:
    """Had it written some of the pages, and not all?"""
    what, done, of = said.split()
    return what == "write" and 0 < int(done) < int(of)


def restarted(data: Path) -> None:
    """The server of a directory, killed and started again."""
    running = lifecycle.find(data)
    assert running is not None
    os.kill(running.pid, signal.SIGKILL)
    eventually(lambda: lifecycle.find(data) is None, "the server's end")
    lifecycle.start(data)


@pytest.mark.long
def test_the_server_is_killed_in_the_middle_of_a_pass(
    neo4j: Neo4j, filled: Brain, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch is under way when the server dies: the pass waits, goes on, and ends; nothing is lost on the way."""
    if neo4j.data is None:
        pytest.skip("THE SERVER IS NOT OURS TO KILL: unset TEST_GRAPHBRAIN_URI to test it")
    monkeypatch.setattr(settlement, "COST", SMALL)
    filled.graph.limit_seconds = PATIENCE  # for as long as a busy machine takes to start it
    struck = list[int]()

    def strike(what: str, done: int, of: int) -> None:
        if what == "write" and 3 * done > of and not struck:
            struck.append(done)
            restarted(neo4j.data)
            found = filled.audit(None)
            assert found.ok, found.findings
            assert found.figures["settling"]

    made = filled.settle(progress=strike)
    assert 0 < struck[0] < PAGES
    assert (made.pages, made.left) == (PAGES, 0)
    sound(filled)
    is_settled(neo4j)
