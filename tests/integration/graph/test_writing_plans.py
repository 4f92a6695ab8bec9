"""Statements that write by blocks: planned once, whatever the sizes of their blocks, and they collect no rows."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from typing import Any

import neo4j as driver
import pytest

from graphbrain.graph.statements import names, statement
from tests.integration.conftest import HandClock
from tests.integration.examples import params, small_web
from tests.integration.graph.test_contracts import operators, planned
from tests.plugin import Neo4j

BY_BLOCKS = [
    name
    for name in names()
    if statement(name).mode == "write" and len(re.findall(r"\bCALL \(\) \{", statement(name).text)) > 4
]
CALLS = 1_000


@pytest.fixture(scope="module")
def web(neo4j: Neo4j) -> Iterator[dict[str, int]]:
    """The small web of the examples."""
    clock = HandClock()
    with neo4j.open(crawl="test", auto_tend=False, clock=clock) as brain:
        brain.clear()
        brain.remake(delay_seconds=0.0)
        yield small_web(brain, clock.pass_)
        brain.clear()


def test_these_are_the_statements_in_blocks() -> None:
    assert BY_BLOCKS == ["accounts/write", "claims/take", "classic/write", "visits/write"]


@pytest.mark.parametrize("name", BY_BLOCKS)
def test_rows_are_written_as_they_come(raw: driver.Driver, web: dict[str, int], name: str) -> None:
    """A block that had the name of a property would be taken for a read of it."""
    plan = planned(raw, statement(name), params(name, web)).plan
    assert plan is not None
    found = set(operators(plan))
    assert {"SetProperty", "SetProperties"} & found
    assert "Eager" not in found


def plans_kept(session: driver.Session) -> int:
    """Empty the cache of plans, and return the number that were in it."""
    record = session.run("CALL db.clearQueryCaches()").single(strict=True)
    return int((re.findall(r"\d+", record[0]) or ["0"])[0])


def sized(example: Any, many: int) -> Any:
    """A block like this one of so many rows: of columns if it has some, else of rows or ids."""
    if isinstance(example[0], list) and isinstance(example[0][0], int):
        return [(column * many)[:many] for column in example]
    return (example * many)[:many]


def plans_for(raw: driver.Driver, name: str, web: dict[str, int], sizes: Sequence[int]) -> int:
    """Send a statement CALLS times, with some blocks of these sizes, and return the number of plans it needed."""
    stated, example, dice = statement(name), params(name, web), random.Random(7)
    rest = {key: value for key, value in example.items() if key not in stated.lists}
    with raw.session(database="neo4j") as session:
        plans_kept(session)
        with session.begin_transaction() as tx:
            for _ in range(CALLS):
                some = dice.sample(sorted(stated.lists), 3)
                blocks = {each: sized(example[each], dice.choice(sizes)) for each in some}
                tx.run(stated.text, stated.arguments(blocks | rest)).consume()  # type: ignore[arg-type]
            tx.rollback()
        return plans_kept(session)


@pytest.mark.long
@pytest.mark.parametrize("name", BY_BLOCKS)
def test_blocks_of_mixed_sizes_need_no_more_plans(raw: driver.Driver, web: dict[str, int], name: str) -> None:
    """Neo4j plans a statement again after some executions, whatever its parameters: also for blocks of one row."""
    assert plans_for(raw, name, web, [1, 2, 9, 30, 120]) == plans_for(raw, name, web, [1]) < 5


def test_each_order_of_magnitude_of_a_list_needs_a_plan(raw: driver.Driver) -> None:
    """The count of the cache shows what a list that is a parameter by itself costs."""
    with raw.session(database="neo4j") as session:
        plans_kept(session)
        for many in (1, 5, 50, 500):
            session.run("UNWIND $rows AS row RETURN count(row)", rows=[0] * many).consume()
        assert plans_kept(session) == 4
