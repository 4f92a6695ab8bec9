"""Every statement on a live server: it plans, its columns are those declared, it may run twice if it says so."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import neo4j as driver
import pytest

from graphbrain import Brain
from graphbrain.graph.statements import Statement, names, statement
from tests.integration.conftest import HandClock, crowd, kept_out, pass_by
from tests.integration.examples import params, small_web
from tests.plugin import Neo4j

NAMES = names()
SCANS = {"AllNodesScan", "NodeByLabelScan", "UnionNodeByLabelsScan", "IntersectionNodeByLabelsScan"}

# Statements that may read all nodes, or all of a label, and why.
MAY_SCAN = {
    "access/list": "a handful of tokens, for people",
    "brain/carried": "one node, that an import has left, when a brain is made",
    "brain/kept_tokens": "a handful of tokens, once in an import",
    "looks/copies": "a summary reads every page, when a person asks for it",
    "looks/indexing": "a summary reads every page, when a person asks for it",
    "looks/link_findings": "a summary reads every page, when a person asks for it",
    "looks/page_findings": "a summary reads every page, when a person asks for it",
    "looks/same_titles": "a summary reads every page, when a person asks for it",
    "looks/waiting": "an answer that only a whole crawl gives, when a person asks for it",
    "asked/forget": "callers' keys, which are forgotten when their leases are over; some an hour",
    "figures/hosts": "a sample of all hosts, once a minute at most",
    "figures/hosts_inside": "a number about all hosts, where a person asks for it, or in a sample",
    "audit/addresses": "addresses in flight have no index of their own",
    "audit/budgets": "hosts that count have no index of their own",
    "audit/forward": "sums over every page",
    "audit/waiting": "sums over every account",
    "audit/counts": "counts every page, to hold it against the indexes",
    "audit/hosts": "hosts in flight have no index of their own",
    "brain/adopt": "a label that one node has, for a moment",
    "brain/clear_links": "deletes everything; where there are few nodes it may begin with them",
    "brain/clear_nodes": "deletes everything",
    "brain/imported": "a label that one node has, for a moment",
    "brain/occupied": "any node but the brain's own, of a database that should have none; stops at the first",
    "brain/states": "for people: counts every page",
    "figures/left": "once, at the end of a crawl by one command",
    "visits/firsts": "a part of all pages, by ids, to learn from",
    "pages/all_authorities": "for webs so small that ranks name too few",
    "pages/all_hubs": "for webs so small that ranks name too few",
    "pages/highest": "batch scores have no index, and are asked for by people",
    "exports/last_id": "the highest id of all",
    "scores/all": "one node a method: a handful",
    "scores/begin": "one node a method: a handful",
    "scores/end": "one node a method: a handful",
    "scores/hold": "one node a method: a handful",
    "scores/seeds": "before an export of everything",
    "scores/take": "one node a method: a handful",
    "scores/some": "batch scores have no index; stops at the first page",
    "pages/shares": "sums over every page, when payouts are scaled anew",
    "classic/all_authorities": "for webs so small that ranks name too few, and scores that count cash",
    "classic/all_hubs": "for webs so small that ranks name too few, and scores that count cash",
    "classic/authority_candidates": "under the exact engine, where its index is not: it is never asked there",
    "classic/counts": "counts every page, to hold it against the indexes",
    "classic/hub_candidates": "under the exact engine, where its index is not: it is never asked there",
    "classic/sums": "sums over every account",
    "brain/step": "schema steps: a handful",
    "brain/steps": "schema steps: a handful",
}


@pytest.fixture(scope="module")
def web(neo4j: Neo4j) -> Iterator[dict[str, int]]:
    """The small web of the examples, for reading, and for writing in transactions that are rolled back."""
    clock = HandClock()
    with neo4j.open(crawl="test", auto_tend=False, clock=clock) as brain:
        brain.clear()
        brain.remake(delay_seconds=0.0)
        yield small_web(brain, clock.pass_)
        brain.clear()


def operators(plan: dict[str, Any]) -> Iterator[str]:
    """The operators of a plan, without the `@neo4j` that says which database."""
    yield plan["operatorType"].split("@")[0]
    for child in plan.get("children", ()):
        yield from operators(child)


def offenders(statements: Iterable[str], check: Callable[[str], None]) -> dict[str, str]:
    """Those of which a check does not hold, and what was wrong."""
    found: dict[str, str] = {}
    for name in statements:
        try:
            check(name)
        except (AssertionError, driver.exceptions.Neo4jError) as error:
            found[name] = f"{error}"
    return found


def planned(raw: driver.Driver, stated: Statement, sent: dict[str, Any]) -> driver.ResultSummary:
    with raw.session(database="neo4j") as session, session.begin_transaction() as tx:
        summary = tx.run("EXPLAIN " + stated.text, stated.arguments(sent)).consume()  # type: ignore[arg-type]
        tx.rollback()
    return summary


def test_the_examples_are_the_params_declared(web: dict[str, int]) -> None:
    def check(name: str) -> None:
        assert set(params(name, web)) == set(statement(name).params)

    assert offenders(NAMES, check) == {}


@pytest.mark.slow
def test_it_plans_without_reading_everything(raw: driver.Driver, web: dict[str, int]) -> None:
    def check(name: str) -> None:
        plan = planned(raw, statement(name), params(name, web)).plan
        assert plan is not None
        scans = SCANS & set(operators(plan))
        assert not scans or name in MAY_SCAN

    assert offenders(NAMES, check) == {}


def test_no_leave_to_scan_is_left_over(raw: driver.Driver, web: dict[str, int]) -> None:
    def check(name: str) -> None:
        plan = planned(raw, statement(name), params(name, web)).plan
        assert plan is not None
        assert SCANS & set(operators(plan))

    assert offenders(sorted(MAY_SCAN.keys() - {"brain/clear_links"}), check) == {}


def test_rows_and_columns_are_those_declared(raw: driver.Driver, web: dict[str, int]) -> None:
    def check(name: str) -> None:
        stated = statement(name)
        with raw.session(database="neo4j") as session, session.begin_transaction() as tx:
            result = tx.run(stated.text, stated.arguments(params(name, web)))  # type: ignore[arg-type]
            keys, rows = result.keys(), len(list(result))
            tx.rollback()
        assert tuple(keys) == stated.columns
        if stated.rows != "many":
            assert rows == (1 if stated.rows == "one" else 0)

    assert offenders([name for name in NAMES if not name.startswith("schema_")], check) == {}


def test_one_row_comes_of_nothing_too(raw: driver.Driver, web: dict[str, int]) -> None:
    """Empty lists, keys of nobody: a caller that counts on the one row is not let down."""

    def check(name: str) -> None:
        empty: dict[type, Any] = {list: [], str: "nobody", int: 0, float: 0.0}
        sent = {key: empty.get(type(value), value) for key, value in params(name, web).items()}
        with raw.session(database="neo4j") as session, session.begin_transaction() as tx:
            assert len(list(tx.run(statement(name).text, statement(name).arguments(sent)))) == 1  # type: ignore[arg-type]
            tx.rollback()

    assert offenders([name for name in NAMES if statement(name).rows == "one"], check) == {}


def test_a_reader_runs_where_writing_is_forbidden(raw: driver.Driver, web: dict[str, int]) -> None:
    def check(name: str) -> None:
        with raw.session(database="neo4j", default_access_mode=driver.READ_ACCESS) as session:
            session.run(statement(name).text, statement(name).arguments(params(name, web))).consume()  # type: ignore[arg-type]

    assert offenders([name for name in NAMES if statement(name).mode == "read"], check) == {}


def snapshot(tx: driver.Transaction) -> dict[Any, Any]:
    """Everything that stands in the graph, but for the brain's revision: one more does no harm."""
    nodes = tx.run("MATCH (n) RETURN id(n), labels(n), properties(n)").values()
    links = tx.run("MATCH (a)-[r]->(b) RETURN id(a), type(r), id(b), properties(r)").values()
    found: dict[Any, Any] = {
        (page, *labels): {name: v for name, v in properties.items() if name != "revision"}
        for page, labels, properties in nodes
    }
    for start, kind, end, properties in links:
        found.setdefault((start, kind, end), []).append(properties)
    return found


SAFE_WRITERS = [
    name
    for name in NAMES
    if statement(name).mode == "write" and statement(name).retry.startswith("safe") and not name.startswith("schema_")
]


def test_twice_is_as_good_as_once_where_the_header_says_so(raw: driver.Driver, web: dict[str, int]) -> None:
    def check(name: str) -> None:
        stated, sent = statement(name), params(name, web)
        with raw.session(database="neo4j") as session, session.begin_transaction() as tx:
            tx.run(stated.text, stated.arguments(sent)).consume()  # type: ignore[arg-type]
            once = snapshot(tx)
            tx.run(stated.text, stated.arguments(sent)).consume()  # type: ignore[arg-type]
            twice = snapshot(tx)
            tx.rollback()
        assert twice == once

    assert offenders(SAFE_WRITERS, check) == {}


LOCKERS = [n for n in SAFE_WRITERS if "writes nothing" in statement(n).retry]


def test_a_lock_writes_nothing(raw: driver.Driver, web: dict[str, int]) -> None:
    def check(name: str) -> None:
        with raw.session(database="neo4j") as session, session.begin_transaction() as tx:
            before = snapshot(tx)
            tx.run(statement(name).text, statement(name).arguments(params(name, web))).consume()  # type: ignore[arg-type]
            assert snapshot(tx) == before
            tx.rollback()

    assert offenders(LOCKERS, check) == {}


def test_a_lock_keeps_others_out(raw: driver.Driver, web: dict[str, int]) -> None:
    def check(name: str) -> None:
        sent = params(name, web)
        if name.startswith("hosts/"):
            write, wanted = "MATCH (h:Host {name: $x}) SET h:Host", sent["names"][0]
        elif name.startswith("brain/") or name == "classic/lock_virtual":
            write, wanted = "MATCH (b:Brain {key: $x}) SET b:Brain", "brain"
        elif name == "resources/lock":
            write, wanted = "MATCH (r:Resource {key: $x}) SET r:Resource", sent["keys"][0]
        else:
            write, wanted = "MATCH (p:Page) WHERE id(p) = $x SET p:Page", sent["ids"][0]
        with raw.session(database="neo4j") as session, session.begin_transaction() as tx:
            tx.run(statement(name).text, statement(name).arguments(sent)).consume()  # type: ignore[arg-type]
            assert kept_out(raw, tx, write, x=wanted)

    assert offenders(LOCKERS, check) == {}


def below(plan: dict[str, Any], kind: str) -> Iterator[dict[str, Any]]:
    """The parts of a plan that feed its operators of a kind."""
    for child in plan.get("children", ()):
        if plan["operatorType"].startswith(kind):
            yield child
        yield from below(child, kind)


def too_soon(plan: dict[str, Any]) -> list[str]:
    """What a plan reads of nodes before it locks them: whatever feeds SetLabels may only find them."""
    found = [part for fed in below(plan, "SetLabels") for part in operators(fed)]
    return [part for part in found if part in {"CacheProperties", "Projection"}]


SET_LABELS = [name for name in NAMES if re.search(r"\bSET \w+:[A-Z]", statement(name).text)]


@pytest.mark.slow
def test_no_plan_reads_a_node_before_it_locks_it(raw: driver.Driver, web: dict[str, int]) -> None:
    """One plan in eight did, of those made while pages came and went, and then accounts were spent twice."""
    assert {"accounts/lock", "claims/lock", "hosts/lock", "brain/lock"} < set(SET_LABELS)
    with crowd(partial(pass_by, raw)):
        for _ in range(8):
            raw.execute_query("CALL db.clearQueryCaches()")
            plans = {name: planned(raw, statement(name), params(name, web)).plan for name in SET_LABELS}
            assert {name: too_soon(plan) for name, plan in plans.items() if plan} == {name: [] for name in plans}


def test_a_plan_that_reads_too_soon_is_known() -> None:
    """As the planner made it, where a node was read by the name by which it was locked."""
    plan: dict[str, Any] = {"operatorType": "ProduceResults@neo4j"}
    last = plan
    for name in ("EagerAggregation", "Projection", "SetLabels", "CacheProperties", "Eager", "Filter", "NodeByIdSeek"):
        last["children"] = [{"operatorType": f"{name}@neo4j"}]
        last = last["children"][0]
    assert too_soon(plan) == ["CacheProperties"]


@pytest.mark.usefixtures("brain")
def test_the_schema_is_safe_to_apply_again(raw: driver.Driver) -> None:
    before = raw.execute_query("SHOW INDEXES YIELD name RETURN name ORDER BY name").records
    for name in names("schema_"):
        with raw.session(database="neo4j") as session:
            session.run(statement(name).text).consume()  # type: ignore[arg-type]
    assert raw.execute_query("SHOW INDEXES YIELD name RETURN name ORDER BY name").records == before


def test_a_transaction_says_which_statement_it_is_in(brain: Brain, ask: Callable[..., list[list[object]]]) -> None:
    def work(tx: Any) -> list[list[object]]:
        tx.do("brain/read")
        return ask("SHOW TRANSACTIONS YIELD metaData RETURN metaData")

    assert [{"app": "graphbrain", "work": "a test"}] in brain.graph.read(work, "a test")
