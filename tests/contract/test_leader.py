"""Where a cluster is read: what claims, reports, sweeps, settings and the clock follow from is read at the leader.

A follower may lag behind. A statement that it may answer has the line `reads any` in its header, and is sent there by
`Graph.anywhere` alone, which refuses all others. That the transactions of each verb go to the leader is seen on two
members: tests/acceptance/test_cluster.py.
"""

from __future__ import annotations

import ast

import pytest

from graphbrain.graph import connection
from graphbrain.graph.connection import Access, Attempts, Tx
from graphbrain.graph.statements import names, statement
from tests.contract.rooms import folder
from tests.contract.source import modules, tree
from tests.contract.test_rooms import PLACE, room
from tests.contract.test_statements import _named

ANY = {name for name in names() if statement(name).reads == "any"}
ANALYSTS = {"analyst.computed", "analyst.findings", "analyst.questions", "analyst.standing", "analyst.summary"}
ANALYSTS |= {"analyst.indexability", "analyst.inspect.clicks", "analyst.inspect.scan", "graph.connection"}
"""Modules that may read at a follower, and why: they show something to people, and nothing is written by it. The
connection ends a question on the member that answers it."""
ALSO_NAME = {
    "brain.links": {"exports/last_id"},
    "graph.exports": {
        "exports/column",
        "exports/last_id",
        "exports/links",
        "exports/links_of",
        "exports/terms",
        "exports/urls",
    },
    "analyst.inspect.pages": {"pages/get"},
    "schedule.priors": {"exports/last_id"},
    "analyst.frames": {"exports/last_id"},
    "analyst.inspect.figures": {"exports/last_id"},
    "analyst.inspect.sections": {"sections/pages"},
    "scores.accounts.classic_pushes": {"exports/last_id"},
}
"""Modules that send statements of analysts, though at the leader (`graph.exports`: where it is given)."""
VERBS = {
    "brain.claim",
    "brain.report",
    "brain.lapses",
    "brain.session",
    "brain.edit",
    "brain.open",
    "brain.exclusive_lock",
}
VERBS |= {
    "brain.outstanding",
    "brain.upkeep",
    "brain.backfill",
    "brain.settle",
    "brain.push",
    "brain.counters",
    "graph.schema",
}
VERBS |= {"brain.outstanding", "graph.brain_state", "graph.clock"}
"""Modules of claims, reports, sweeps, settings and the clock, besides the folders below."""
ROOMS = {"frontier", "frontier.hosts", "scores.accounts"}
PUSHES = "scores.accounts.classic_pushes"
"""The module of these rooms that sends such a statement, under its locks in a transaction that writes."""
CLOCK = {"brain/clock", "brain/read", "brain/lock", "brain/note", "brain/change", "brain/transactions"}


def test_some_statements_may_be_read_anywhere() -> None:
    assert len(ANY) > 30
    assert all(statement(name).mode == "read" for name in ANY)
    assert not ANY & CLOCK


def test_no_verb_sends_a_statement_that_a_follower_may_answer() -> None:
    verbs = VERBS | {module for module in modules() if folder(module) in ROOMS and module != PUSHES}
    assert modules().keys() >= VERBS
    assert {module: found for module in verbs if (found := ANY & _named(module))} == {}


def test_those_that_send_one_are_known() -> None:
    found = {module: ANY & _named(module) for module in modules() if PLACE[room(module)] <= PLACE["brain"]}
    assert {module: some for module, some in found.items() if some and module not in ANALYSTS} == ALSO_NAME


def test_only_analysts_read_anywhere() -> None:
    found = {
        module
        for module in modules()
        for node in ast.walk(tree(module))
        if isinstance(node, ast.Attribute) and node.attr == "anywhere"
    }
    assert found == ANALYSTS


def test_only_the_connection_opens_sessions() -> None:
    """No other module asks the driver for a session, or chooses where it reads."""
    opens = {"session", "execute_query", "execute_read", "execute_write"}
    found = {
        module
        for module in modules()
        for node in ast.walk(tree(module))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in opens
        if "driver" in ast.unparse(node.func.value)
    }
    assert found == {"graph.connection", "graph.server.lifecycle"}  # the latter asks whether its own server answers


class _Nowhere:
    """A transaction that must not be reached."""

    def run(self, *_: object) -> None:
        raise AssertionError("it was sent")


@pytest.mark.parametrize(
    ("access", "name"),
    [
        (Access.ANYWHERE, "brain/clock"),
        (Access.ANYWHERE, "brain/read"),
        (Access.ANYWHERE, "upkeep/outstanding"),
        (Access.ANYWHERE, "brain/note"),
        (Access.READ, "brain/note"),
    ],
)
def test_a_transaction_refuses_what_must_not_be_read_there(access: Access, name: str) -> None:
    tx = Tx(_Nowhere(), None, connection.Counter(), Attempts(set(), connection.Counter()), access=access)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"must be read at the leader|only reads"):
        tx.many(name)
