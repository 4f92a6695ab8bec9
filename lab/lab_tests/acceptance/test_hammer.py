"""Nothing is lost or doubled while processes, and once the server, are killed. `graphbrain hammer` runs it longer."""

from __future__ import annotations

import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from click.testing import CliRunner, Result

from graphbrain import Brain
from graphbrain.base.errors import GraphbrainError
from graphbrain.base.model import Fetched
from graphbrain.base.settings import ENGINES
from graphbrain.cli.app import cli
from graphbrain.frontier import discovery
from graphbrain.graph.connection import Tx
from graphbrain.scores.accounts import ledgers
from graphbrain_lab.bench import chaos
from tests.plugin import PATIENCE, Neo4j
from tests.witness import Witness


@pytest.fixture
def connect(neo4j: Neo4j) -> dict[str, Any]:
    """For as long as a busy machine takes to start a server everybody waits for it."""
    return {"uri": neo4j.uri, "user": neo4j.user, "password": neo4j.password, "limit_seconds": PATIENCE}


@pytest.mark.long
@pytest.mark.usefixtures("brain")
@pytest.mark.parametrize(("delay", "reach"), [(0.0, 0.85), pytest.param(0.02, 0.0, marks=pytest.mark.nightly)])
def test_processes_are_killed(connect: dict[str, Any], delay: float, reach: float) -> None:
    verdict = chaos.hammer(connect, seconds=6, pages=300, kill_every=1.0, delay=delay, reach=reach)
    assert not verdict.findings, "\n".join(verdict.findings)
    assert verdict.figures["kills"] >= 3
    assert verdict.figures["acknowledged"] > 50
    assert verdict.figures["robots"] > 0


@pytest.mark.long
@pytest.mark.nightly
@pytest.mark.usefixtures("brain")
def test_processes_of_a_classic_brain_are_killed(connect: dict[str, Any]) -> None:
    """Total cash 2(N + 1), whatever was cut off."""
    verdict = chaos.hammer(connect, seconds=6, pages=300, kill_every=1.0, engine="classic")
    assert not verdict.findings, "\n".join(verdict.findings)
    assert verdict.figures["kills"] >= 3
    assert verdict.figures["gap"] < 1e-9


@pytest.mark.long
@pytest.mark.usefixtures("brain")
@pytest.mark.nightly
@pytest.mark.parametrize("engine", ENGINES)
def test_processes_are_killed_that_learn_of_sections(connect: dict[str, Any], neo4j: Neo4j, engine: str) -> None:
    value = "live_pagerank plain_path novelty>.1^.1 harvest^2"
    verdict = chaos.hammer(connect, seconds=6, pages=600, kill_every=1.0, engine=engine, value=value)
    assert not verdict.findings, "\n".join(verdict.findings)
    assert verdict.figures["kills"] >= 3
    with neo4j.open(auto_tend=False, as_it_is=True) as brain:
        told_apart = [n for n in range(chaos.HOSTS) if len(brain.sections(f"h{n}.hammer.example")) > 1]
        assert told_apart, "nothing was learned"


@pytest.mark.long
@pytest.mark.usefixtures("brain")
@pytest.mark.parametrize("engine", ["exact", pytest.param("classic", marks=pytest.mark.nightly)])
def test_the_server_is_killed(connect: dict[str, Any], neo4j: Neo4j, engine: str) -> None:
    if neo4j.data is None:
        pytest.skip("THE SERVER IS NOT OURS TO KILL: unset TEST_GRAPHBRAIN_URI to test it")
    blow, blows = chaos.kill_local_server(neo4j.data), list[float]()

    def strike() -> None:
        blow()
        blows.append(time.monotonic())

    verdict = chaos.hammer(connect, seconds=6, pages=300, kill_every=1.5, engine=engine, strike_server=strike)
    assert not verdict.findings, "\n".join(verdict.findings)
    assert len(blows) == 1
    assert verdict.figures["acknowledged"] > 50
    assert verdict.figures["gap"] < 1e-9


@pytest.mark.long
@pytest.mark.nightly
def test_the_command(connect: dict[str, Any], brain: Brain) -> None:
    """It asks before it deletes, refuses what cannot be set, and tells what it has found."""
    own = {f"GRAPHBRAIN_{name.upper()}": str(value) for name, value in connect.items()}

    def run(*words: str) -> Result:
        words = ("hammer", "--pages", "30", "--minutes", "0.03", "--kill-every", "0.5", *words)
        return CliRunner().invoke(cli, list(words), env=own)

    brain.seed(["http://a.org/"])
    assert "holds 1 pages; --yes lets" in str(run().exception)
    assert "reach must be from 0 to .99" in str(run("--yes", "--reach", "1").exception)
    for engine in ENGINES:
        done = run("--yes", "--reach", "0.85", "--engine", engine, "--json")
        told = json.loads(done.stdout)
        assert (done.exit_code, told["ok"], told["findings"]) == (0, True, [])
        assert told["acknowledged"] > 5


def hot(
    open_brain: Callable[[], Brain], *, seconds: float, threads: int = 8, pages: int = 25, least: int = 0
) -> chaos.ChaosVerdict:
    """Threads that link, unlink, forget, report and push on a handful of pages; then the audit of every account.

    `least`: where a slow machine has not linked and forgotten pages so often in `seconds`, they go on until it has, up
    to five times as long.
    """
    started = time.monotonic()
    errors: list[str] = []
    done: Counter[str] = Counter()

    def goes_on() -> bool:
        spent = time.monotonic() - started
        return spent < seconds or (spent < 5 * seconds and min(done["link"], done["forget"]) < least)

    def live(number: int) -> None:
        dice = random.Random(number)
        try:
            with open_brain() as brain:
                while goes_on():
                    done[_anything(brain, dice, pages)] += 1
        except GraphbrainError as error:
            errors.append(f"{type(error).__name__}: {error}")

    workers = [threading.Thread(target=live, args=(number,)) for number in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    with open_brain() as brain:
        brain.tend(None)
        audit = brain.audit(None)
        return chaos.ChaosVerdict([*errors, *audit.findings], {**done, **audit.figures})


def _anything(brain: Brain, dice: random.Random, pages: int) -> str:
    a, b = chaos.url_of(dice.randrange(pages)), chaos.url_of(dice.randrange(pages))
    what = dice.choice(["link", "link", "link", "unlink", "forget", "relevance", "payout", "report", "push", "push"])
    with suppress(GraphbrainError if what in ("relevance", "payout") else ()):  # type: ignore[arg-type]
        if what == "link" and a != b:
            brain.link(a, b)
        elif what == "unlink":
            brain.unlink(a, b)
        elif what == "forget":
            brain.forget(a)
        elif what == "relevance":
            brain.set_page(a, relevance=dice.choice([None, 0.0, dice.random(), 1.0]))
        elif what == "payout":
            brain.set_page(a, payout=dice.choice([None, 0.0, 5.0]))
        elif what == "report":
            targets = [chaos.url_of(dice.randrange(pages)) for _ in range(dice.randrange(8))]
            brain.report([Fetched(a, targets, body_hash="x")])
        elif what == "push":
            brain.tend(0.05, batch=dice.choice([5, 100]))
    return what


@pytest.mark.long
@pytest.mark.parametrize(("engine", "seconds"), [("exact", 6), ("classic", 4)])
def test_threads_on_a_small_hot_graph(neo4j: Neo4j, brain: Brain, engine: str, seconds: float) -> None:
    brain.remake(delay_seconds=0.0, engine=engine)
    with Witness().watching() as witness:
        try:
            verdict = hot(lambda: neo4j.open(auto_tend=False), seconds=seconds, threads=8, least=3)
        finally:
            assert not witness.findings, witness.findings[0]
    assert witness.looked > 5
    assert not verdict.findings, "\n".join(verdict.findings)
    assert min(verdict.figures["link"], verdict.figures["forget"]) >= 3


def test_the_witness_sees_a_wrong_weight(brain: Brain) -> None:
    """The weight of one page is written as if it had a link more."""
    brain.link("http://a.example/1", "http://a.example/2")

    def wrong(tx: Tx) -> None:
        page = discovery.find(tx, [brain.page("http://a.example/1").key]).popitem()[1]
        ledger = ledgers.lock(tx, [page], brain.policy.rule)
        ledger.out_weight += 1.0
        ledger.write(tx, brain.now())

    with Witness().watching() as witness:
        brain.unlink("http://a.example/1", "http://a.example/2")
        assert witness.findings == []
        brain.graph.write(wrong, "wrong")
    assert len(witness.findings) == 1
    assert "links/write" in witness.findings[0]


def test_the_judge_sees_a_host_asked_early() -> None:
    grants = [{"what": "claimed", "url": f"http://a.org/{at}", "granted": at} for at in (2.0, 1.0, 1.4)]
    assert not chaos.early(grants, 0.4)
    assert len(chaos.early(grants, 0.5)) == 1
    grants[2]["url"] = "http://b.org/"
    assert not chaos.early(grants, 0.9)


def test_the_judge_sees_a_page_held_twice() -> None:
    life = [
        {"what": "claimed", "url": "u", "token": "a", "at": 1.0, "granted": 1.0, "until": 4.0},
        {"what": "claimed", "url": "u", "token": "b", "at": 2.0, "granted": 2.0, "until": 5.0},
    ]
    assert chaos.overlaps("u", life)
    ended = {"what": "ending", "url": "u", "token": "a", "at": 1.5}
    assert not chaos.overlaps("u", [life[0], ended, life[1]])


def test_the_judge_sees_a_page_visited_before_it_is_due() -> None:
    first, again = (
        {"what": "claimed", "url": "u", "token": token, "at": at, "granted": at, "until": at + 3.0}
        for token, at in (("a", 1.0), ("b", 1.6))
    )
    ended = {"what": "ending", "url": "u", "token": "a", "at": 1.5}
    visited = {"what": "acknowledged", "url": "u", "token": "a", "at": 1.7}
    assert len(chaos.undue("u", [first, ended, again, visited])) == 1
    assert not chaos.undue("u", [first, ended, again]), "it was given back"
    assert not chaos.undue("u", [first, ended, again, visited], revisit=0.05)
    again["granted"] = 1.5 + chaos.REVISIT
    assert not chaos.undue("u", [first, ended, visited, again])
