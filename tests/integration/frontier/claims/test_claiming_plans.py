"""The claiming path on a filled graph: it reads what it hands out, in the order of the index, and no more."""

from __future__ import annotations

import random
import uuid
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import neo4j as driver
import pytest

from graphbrain import Brain, Failed, Fetched, Link
from graphbrain.frontier.claims import tuning
from graphbrain.graph.statements import names, statement
from graphbrain.scores.accounts import exact_ledger
from tests.integration.conftest import HandClock
from tests.integration.examples import params, small_web
from tests.integration.graph.test_contracts import SCANS, operators, planned
from tests.plugin import Neo4j

HOSTS, PAGES, LEASED, FAILED = 250, 4_000, 300, 150
SLOW_STEPS = {"Sort", "Top", "PartialSort", "PartialTop", "Eager", "EagerAggregationBySort"} | SCANS


READS_ALL_OF_AN_INDEX = {"hosts/news": "every host in the index of news has some, so a scan of it is a seek"}


def shapes(brain: Brain, at: dict[str, int]) -> dict[str, list[str]]:
    """Statement → the operators of the plan that is made for it now."""
    found: dict[str, list[str]] = {}
    with raw(brain) as connection:
        for name in (name for name in names() if not name.startswith("schema_")):
            stated = statement(name)
            unknown = replace(stated, text=f"{stated.text} /* {uuid.uuid4()} */")
            plan = planned(connection, unknown, params(name, at)).plan
            assert plan is not None
            # When a property is read, at once or where it is needed, makes no difference.
            found[name] = [step for step in operators(plan) if step != "CacheProperties"]
    return found


def raw(brain: Brain) -> driver.Driver:
    """A connection to the brain's server that takes any Cypher."""
    return driver.GraphDatabase.driver(brain.graph.uri, auth=(brain.graph.user, brain.graph.password))


@pytest.fixture(scope="module")
def small(neo4j: Neo4j) -> tuple[dict[str, int], dict[str, list[str]]]:
    """The ids of a small web, and the plans that are made there."""
    clock = HandClock()
    with neo4j.open(crawl="test", auto_tend=False, clock=clock) as brain:
        brain.clear()
        brain.remake(engine="exact")  # the test before may have left another
        at = small_web(brain, clock.pass_)
        found = shapes(brain, at)
        brain.clear()
    return at, found


class Filled:
    """A graph of thousands of waiting pages in many lanes and queues, and its clock."""

    def __init__(self, neo4j: Neo4j) -> None:
        self.clock = HandClock()
        self.brain: Brain = neo4j.open(crawl="test", auto_tend=False, clock=self.clock)
        self.brain.clear()
        self.brain.remake(delay_seconds=0.0, lease_seconds=1_000.0)
        chance = random.Random(7)
        urls = [f"http://host{n % HOSTS}.org/{n}" for n in range(PAGES)]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(exact_ledger, "ROUNDS", 0)  # so that something waits for pushes
            for start in range(0, PAGES, 100):
                links = [Link(url, chance.random()) for url in urls[start : start + 100]]
                self.brain.report([Fetched(f"http://index.org/{start}", links)])
                self.clock.pass_(1.0)
        held = list(self.brain.next_urls(LEASED))
        self.token, self.held = held[0].token, sorted(claim.key for claim in held)
        self.brain.report([Failed(claim.url, claim, 500) for claim in held[:FAILED]])
        self.brain.change(delay_seconds=60.0)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(tuning, "BULK", 1)  # so that most are left in the shared queue
            patch.setattr(tuning, "CLEARING", 0.0)
            for _ in range(4):  # each takes one page of a host and moves the next ones to the host's queue
                self.brain.next_urls(100)

    def queues(self) -> tuple[int, int]:
        """Pages in the shared queue, and in the hosts' own."""
        with raw(self.brain) as connection, connection.session(database="neo4j") as session:
            rows = session.run("MATCH (p:Page) WHERE p.queue IS NOT NULL RETURN p.queue = '*', count(*)")
            counts = dict(rows.values())
        return counts[True], counts[False]


@pytest.fixture(scope="module")
def filled(neo4j: Neo4j, small: object) -> Iterator[Filled]:  # noqa: ARG001  it needs the graph before
    graph = Filled(neo4j)
    yield graph
    graph.brain.clear()
    graph.brain.close()


def profile(raw: driver.Driver, name: str, **sent: Any) -> tuple[int, int, set[str]]:
    """Database hits, length of the answer, operators: of a run with a plan that was made before."""
    stated = statement(name)
    with raw.session(database="neo4j") as session:
        for _ in range(2):  # the first run also plans, and looks labels up
            result = session.run("PROFILE " + stated.text, stated.arguments(sent))  # type: ignore[arg-type]
            rows = list(result)
            summary = result.consume()
    found = summary.profile
    assert found is not None
    first = rows[0][stated.columns[0]]
    return _hits(found), len(first) if isinstance(first, list) else 1, set(operators(found))


def _hits(plan: dict[str, Any]) -> int:
    return plan.get("dbHits", 0) + sum(_hits(child) for child in plan.get("children", ()))


def test_the_graph_is_filled(filled: Filled) -> None:
    shared, own = filled.queues()
    assert shared > PAGES / 2
    assert own > 500


QUESTIONS: dict[str, dict[str, Any]] = {
    "claims/heads": {"now": 1e12, "limit": 10},
    "claims/lane_heads": {
        "ones": [["host1.org", 1, 2]],
        "limit": 10,
        "wide": [["*", 0, 1 << 40], ["host1.org", 1, 1 << 40]],
        "few": 10,
        "deep": [["*", 0, 1 << 40]],
        "most": 10,
    },
    "claims/ready_hosts": {"now": 1e12, "limit": 10, "most": 8, "budget": 0},
    "claims/ripe_at": {"queues": ["*", "host1.org", "nowhere.org"]},
    "claims/host_heads": {"names": ["host1.org", "host2.org"], "now": 1e12, "per_host": 1},
    "claims/outlook": {"limit": 10},
    "claims/front": {"lanes": [[0, 1e12]], "stretches": [[1, 1 << 40]], "limit": 50, "kept": 2},
    "pages/ids_from": {"after": "8", "limit": 10},
}


@pytest.mark.slow
def test_plans_do_not_depend_on_how_much_there_is(
    small: tuple[dict[str, int], dict[str, list[str]]], filled: Filled
) -> None:
    """So a plan that was made when a crawl began may be kept."""
    at, before = small
    after = shapes(filled.brain, at)
    assert [name for name in before if before[name] != after[name] and name not in READS_ALL_OF_AN_INDEX] == []


@pytest.mark.parametrize("name", sorted(QUESTIONS))
@pytest.mark.usefixtures("filled")
def test_it_neither_sorts_nor_scans(name: str, raw: driver.Driver) -> None:
    _, _, steps = profile(raw, name, **QUESTIONS[name])
    assert not SLOW_STEPS & steps


@pytest.mark.parametrize("name", sorted(QUESTIONS))
@pytest.mark.usefixtures("filled")
def test_its_cost_is_that_of_its_answer(name: str, raw: driver.Driver) -> None:
    hits, length, _ = profile(raw, name, **QUESTIONS[name])
    assert hits <= 15 * max(length, 1) + 40


@pytest.mark.parametrize("name", ["claims/heads", "claims/outlook", "pages/ids_from"])
@pytest.mark.usefixtures("filled")
def test_ten_times_the_answer_costs_at_most_ten_times_as_much(name: str, raw: driver.Driver) -> None:
    ten, length, _ = profile(raw, name, **{**QUESTIONS[name], "limit": 10})
    hundred, more, _ = profile(raw, name, **{**QUESTIONS[name], "limit": 100})
    assert (length, more) == (10, 100)
    assert hundred <= 12 * ten


@pytest.mark.usefixtures("filled")
def test_what_is_to_be_done_is_found_by_seeks_alone(raw: driver.Driver) -> None:
    """It is asked once a second, and by all upkeep; where nothing is to be done it reads next to nothing."""
    stated = statement("upkeep/outstanding")
    sent = {"hour": 0, "beside": 1, "lines": ["link", "sitemap"], "least": -1000, "fewer": 100_000}
    for now, most in ((1e12, 100), (0.0, 0)):
        limits = dict.fromkeys(("overdue", "others", "visits", "pushes"), most)
        with raw.session(database="neo4j") as session:
            for _ in range(2):  # the first run also plans, and looks labels up
                result = session.run("PROFILE " + stated.text, stated.arguments({**sent, **limits, "now": now}))  # type: ignore[arg-type]
                found = defaultdict(list, result.values())
                summary = result.consume()
        plan = summary.profile
        assert plan is not None
        assert not (SLOW_STEPS | {"NodeIndexScan"}) & set(operators(plan))
        assert len(found["lapsed"]) == len(found["due"]) == len(found["authority"]) == most
        assert _hits(plan) <= 15 * sum(map(len, found.values())) + 150


def test_finding_ones_own_claims_reads_only_what_was_tried(raw: driver.Driver, filled: Filled) -> None:
    hits, length, steps = profile(raw, "claims/mine", keys=filled.held, tokens=[filled.token])
    assert length == LEASED - FAILED
    assert hits <= 30 * LEASED
    assert not SLOW_STEPS & steps


def test_heads_come_best_lane_first_and_oldest_first_in_a_lane(raw: driver.Driver, filled: Filled) -> None:
    (rows,) = filled.brain.graph.read(lambda tx: tx.one("claims/heads", now=1e12, limit=2_000), "claims/heads")
    ids = [page for page, _, _ in rows]
    found = raw.execute_query(
        "UNWIND $ids AS i MATCH (p:Page) WHERE id(p) = i RETURN p.lane, p.waiting_since",
        ids=ids,
        database_="neo4j",
    ).records
    places = [tuple(record.values()) for record in found]
    assert len(places) == 2_000
    assert len({lane for lane, _ in places}) > 1
    assert places == sorted(places)
