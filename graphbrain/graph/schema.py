"""The constraints and indexes of the database, in numbered steps, and the check that the database is a brain.

A step is a folder, `cypher/graph/schema_001` and so on, with a file for each index and constraint. It is applied once,
indexes before constraints, and a checksum of its statements is stored. A later change of the schema is a new step. A
database with unknown steps was written by a newer graphbrain. One with nodes but without a brain belongs to another
program. Both are refused before anything is written. After an import of files the brain's node has the label Imported:
the first process that opens the database applies the schema and makes it a brain. Statements: brain/steps, brain/step,
brain/occupied, brain/indexes_left, brain/left_index, brain/working_on, brain/drop_index, brain/imported, brain/adopt,
brain/carried, brain/restore_tokens, brain/tokens.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphbrain.base.errors import SchemaMismatch
from graphbrain.graph.connection import Graph, Tx, bound
from graphbrain.graph.statements import link_types, names, property_names, statement

__all__ = [
    "PAGE_CHAIN",
    "SchemaStep",
    "Steps",
    "adopt",
    "applied",
    "apply",
    "await_indexes",
    "check",
    "imported",
    "pending",
    "steps",
]

PAGE_CHAIN = (
    *("last_lease", "url_surplus", "path_repeats", "siblings_before", "harvest", "flow", "live_pagerank"),
    *("key", "url", "name", "host", "outside_because", "state", "discovered", "waiting_since", "relevance", "payout"),
    *("out_weight", "in_weight", "is_seed", "depth", "authority_priority", "queue", "lane"),
    *("hub_cash", "authority_cash", "hub_history", "hub_paid", "authority_history", "authority_paid"),
)
"""The properties of a new page, in the order of the numbers that their names get.

By these numbers the database chooses the order of the properties in the records of a node. It takes the properties of a
new node by number, modulo 64, and puts each new record before the others. A record has room for two floats. In this
order the accounts, which every push and report reads and writes, are in the first three records, or in four if the
first of them fits into an existing one.
"""

STEP = "schema_"
"""The name of a step's folder, before its number of three digits."""
PAUSE = 0.2
"""Seconds between two checks of the indexes that the database is filling."""


@dataclass(frozen=True, slots=True)
class SchemaStep:
    """One step of the schema: its number, and the checksum of its statements."""

    number: int
    checksum: str

    @property
    def statements(self) -> tuple[str, ...]:
        """The names of its statements."""
        return names(f"{STEP}{self.number:03}/")


Steps = Mapping[int, SchemaStep]
"""The steps that were applied to a database, by number."""


def steps() -> tuple[SchemaStep, ...]:
    """Return the schema of this version, in order."""
    texts: dict[int, str] = {}
    for name in names(STEP):
        number = int(name.removeprefix(STEP).partition("/")[0])
        texts[number] = texts.get(number, "") + statement(name).text
    return tuple(SchemaStep(each, hashlib.sha256(text.encode()).hexdigest()[:16]) for each, text in texts.items())


def applied(tx: Tx) -> Steps:
    """Return the steps that were applied to this database, by number."""
    return {number: SchemaStep(number, checksum) for number, checksum in tx.many("brain/steps")}


def check(done: Steps) -> None:
    """Compare the steps that were applied to a database with those of this version.

    Raises:
        SchemaMismatch: A newer version wrote the database, or a step differs.
    """
    wanted = {step.number: step for step in steps()}
    for number, step in done.items():
        if number not in wanted:
            raise SchemaMismatch(
                f"The database was written by a newer graphbrain (schema step {number}); upgrade graphbrain-crawler."
            )
        if step != wanted[number]:
            raise SchemaMismatch(
                f"Schema step {number} of the database is not this graphbrain's; use the version that made it, or "
                "another database."
            )


def pending(done: Steps) -> tuple[SchemaStep, ...]:
    """Return the steps that must be applied."""
    return tuple(step for step in steps() if step.number not in done)


def refuse_foreign(graph: Graph) -> None:
    """Check that a database without a brain is empty.

    Raises:
        SchemaMismatch: It has nodes, so it belongs to another program.
    """
    rows = graph.read(lambda tx: tx.many("brain/occupied"), "brain/occupied")
    if rows:
        labels = ":".join(rows[0][0]) or "unlabelled"
        raise SchemaMismatch(
            f"The database {graph.database!r} at {graph.uri} holds other data ({labels} nodes); "
            "give graphbrain an empty one."
        )


def imported(tx: Tx) -> bool:
    """Return whether an import has replaced this database, and no process has made it a brain yet."""
    waits: bool = tx.one("brain/imported")[0]
    return waits


def adopt(graph: Graph, now: float) -> Mapping[str, Any]:
    """Apply the schema to an imported database, make it a brain, and return its properties.

    Two processes may call this at the same time. Neo4j's import tool has numbered the names of a page's properties in
    the order of `PAGE_CHAIN`, so the other names can get their numbers later.
    """
    apply(graph, now, names_first=False)
    return graph.write(_adopt, "brain/adopt")


def _adopt(tx: Tx) -> Mapping[str, Any]:
    """Make the brain, restore the access tokens that the old database had, and return the brain's properties."""
    carried = tx.one("brain/carried")[0]
    if carried is not None and (rows := json.loads(carried)):
        tx.do("brain/restore_tokens", rows=rows)
    brain: Mapping[str, Any] = tx.one("brain/adopt")[0]
    return brain


def apply(graph: Graph, now: float, names_first: bool = True) -> tuple[SchemaStep, ...]:
    """Apply the missing steps and return them. Two processes may call this at the same time.

    Args:
        graph: The connection.
        now: Epoch seconds.
        names_first: Number the names of properties before indexes are made, because these number their own.
    """
    missing = pending(graph.read(applied, "brain/steps"))
    if missing:
        if names_first:
            graph.write(_number_names, "brain/tokens")
        # Make the indexes first: the database fills them in the background, while constraints scan for duplicates.
        statements = [name for step in missing for name in step.statements]
        _make(graph, statements, unique=False)
        if not names_first:
            graph.write(_number_names, "brain/tokens")
        _make(graph, statements, unique=True)
        rows = [[step.number, step.checksum] for step in missing]
        graph.write(lambda tx: tx.do("brain/step", rows=rows, now=now), "brain/step")
        await_indexes(graph)
    return missing


def await_indexes(graph: Graph) -> None:
    """Wait until all indexes are filled. The time grows with the graph.

    Raises:
        SchemaMismatch: Neo4j could not fill one.
    """
    while unfinished := graph.read(lambda tx: tx.one("brain/indexes_left")[0], "brain/indexes_left"):
        if failed := [name for name, state in unfinished if state == "FAILED"]:
            raise SchemaMismatch(
                f"Neo4j could not fill the index {failed[0]}; drop it, and open the brain again: "
                "'graphbrain server logs' prints the reason."
            )
        time.sleep(PAUSE)


def _number_names(tx: Tx) -> None:
    properties = [*PAGE_CHAIN, *sorted(set(property_names()).difference(PAGE_CHAIN))]
    tx.do("brain/tokens", properties=properties, types=link_types())


def _make(graph: Graph, statements: Sequence[str], unique: bool) -> None:
    """Run the statements that make constraints (`unique`), or those that make indexes, each in its own transaction.

    A transaction that makes an index locks the label of the index for all other processes until it ends. One
    transaction for all statements held the lock on pages for minutes on a busy machine, and other processes that opened
    the new brain gave up. With one transaction for each statement, a process waits for at most one of them, and skips
    those that another process has run. The time of a statement grows with the number of pages.
    """
    for name in statements:
        if unique == _is_constraint(name):
            while not graph.write(bound(_run, name), name, slow=True):
                pass  # this attempt has only removed the index of an interrupted one


def _is_constraint(name: str) -> bool:
    return "CONSTRAINT" in statement(name).text


def _run(tx: Tx, name: str) -> bool:
    """Run a statement of the schema, and return True. If an interrupted constraint has left its index, only remove that
    index, and return False.

    Neo4j makes and fills the index of a constraint in a transaction before that of the constraint. If the server ends
    the latter, the index may stay without a constraint, and Neo4j refuses the constraint as long as it exists
    (github.com/neo4j/neo4j/issues/13208). The index is removed unless another transaction is making the constraint. The
    removal needs its own transaction: if a transaction that drops an index and makes it again is rolled back, the index
    is broken (issue 13539).
    """
    rule = name.partition("/")[2]
    if _is_constraint(name) and _alone(tx, name) and tx.many("brain/left_index", name=rule):
        tx.do("brain/drop_index", name=rule)
        return False
    tx.do(name)
    return True


def _alone(tx: Tx, name: str) -> bool:
    """Return whether no other transaction runs this statement."""
    return bool(tx.one("brain/working_on", work=name)[0] == 1)
