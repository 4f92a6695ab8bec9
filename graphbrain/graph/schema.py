"""The database's constraints and indexes, numbered and applied once each; and whose database it is.

Each file of `cypher/graph/schema/` is applied once, indexes before constraints, and remembered with its checksum. A
database with steps that this version does not know was written by a newer graphbrain; one with nodes but no brain
belongs to somebody else. Both are refused before anything is written.
An import of files leaves the brain's node labelled Imported; whoever comes first applies the schema and makes it
a brain.
Statements: schema/*, brain/steps, brain/step, brain/occupied, brain/await_indexes, brain/imported, brain/adopt,
brain/carried,
brain/restore_tokens, brain/tokens.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphbrain.errors import SchemaMismatch
from graphbrain.graph.connection import Graph, Tx
from graphbrain.graph.statements import link_types, names, property_names, statement

__all__ = ["PAGE_CHAIN", "Step", "adopt", "apply", "check", "imported", "pending", "steps"]

PAGE_CHAIN = (
    *("last_lease", "url_surplus", "path_repeats", "siblings_before", "harvest", "flow", "live_pagerank"),
    *("key", "url", "name", "host", "outside_because", "state", "discovered", "waiting_since", "relevance", "payout"),
    *("out_weight", "in_weight", "is_seed", "depth", "authority_priority", "queue", "lane"),
    *("hub_cash", "authority_cash", "hub_history", "hub_paid", "authority_history", "authority_paid"),
)
"""The properties a page is made with, in the order in which the database is to put them into its chain of records.

It takes those of a new node by their names' numbers, modulo 64, and each record it makes goes before the others; there
is room for two floats in one. So the accounts, which every push and every report read and write, stand first, in three
records, or in four where the first of them finds room in one that is there.
"""


@dataclass(frozen=True, slots=True)
class Step:
    """One schema file."""

    number: int
    name: str
    checksum: str


def steps() -> tuple[Step, ...]:
    """The schema this version wants, in order."""
    return tuple(
        Step(
            int(name.removeprefix("schema/")[:3]),
            name.removeprefix("schema/"),
            hashlib.sha256(statement(name).text.encode()).hexdigest()[:16],
        )
        for name in names("schema/")
    )


def applied(graph: Graph) -> dict[int, Step]:
    """What was applied to this database."""
    rows = graph.read(lambda tx: tx.many("brain/steps"), "brain/steps")
    return {number: Step(number, name, checksum) for number, name, checksum in rows}


def check(graph: Graph) -> None:
    """Raise SchemaMismatch when the database is newer than this graphbrain, or was made by an altered one."""
    wanted = {step.number: step for step in steps()}
    for number, step in applied(graph).items():
        if number not in wanted:
            raise SchemaMismatch(
                f"The database was written by a newer graphbrain (schema step {step.name}); upgrade graphbrain-crawler."
            )
        if step != wanted[number]:
            raise SchemaMismatch(
                f"Schema step {step.name} of the database is not this graphbrain's {wanted[number].name}; "
                "use the version that made it, or another database."
            )


def pending(graph: Graph) -> tuple[Step, ...]:
    """The steps that have still to be applied."""
    done = applied(graph)
    return tuple(step for step in steps() if step.number not in done)


def refuse_foreign(graph: Graph) -> None:
    """Raise SchemaMismatch when the database holds nodes but no brain."""
    rows = graph.read(lambda tx: tx.many("brain/occupied"), "brain/occupied")
    if rows:
        labels = ":".join(rows[0][0]) or "unlabelled"
        raise SchemaMismatch(
            f"The database {graph.database!r} at {graph.uri} holds other data ({labels} nodes); "
            "give graphbrain an empty one."
        )


def imported(graph: Graph) -> bool:
    """Has an import replaced this database, and nobody made a brain of it yet?"""
    waits: bool = graph.read(lambda tx: tx.one("brain/imported")[0], "brain/imported")
    return waits


def adopt(graph: Graph, now: float) -> Mapping[str, Any]:
    """Apply the schema to an imported database, then make it a brain; its properties. Two processes may do it.

    Neo4j's tool has numbered the names of a page's properties, as `PAGE_CHAIN` would have it, so others can come later.
    """
    apply(graph, now, names_first=False)
    return graph.write(_adopt, "brain/adopt")


def _adopt(tx: Tx) -> Mapping[str, Any]:
    """Make the brain, with the access tokens that were carried over; its properties."""
    carried = tx.one("brain/carried")[0]
    if carried is not None and (rows := json.loads(carried)):
        tx.do("brain/restore_tokens", rows=rows)
    brain: Mapping[str, Any] = tx.one("brain/adopt")[0]
    return brain


def apply(graph: Graph, now: float, names_first: bool = True) -> tuple[Step, ...]:
    """Apply what is missing; the steps applied. Two processes may do it at the same time.

    `names_first`: properties are numbered in the order that is wanted, before indexes number those they are on.
    """
    missing = pending(graph)
    if missing:
        if names_first:
            graph.write(_number_names, "brain/tokens")
        # Indexes that forbid nothing are filled in the background, while what has to be unique is looked through.
        graph.write(lambda tx: _make(tx, missing, unique=False), "schema")
        if not names_first:
            graph.write(_number_names, "brain/tokens")
        graph.write(lambda tx: _make(tx, missing, unique=True), "schema")
        rows = [[step.number, step.name, step.checksum] for step in missing]
        graph.write(lambda tx: tx.do("brain/step", rows=rows, now=now), "brain/step")
        graph.read(lambda tx: tx.do("brain/await_indexes"), "brain/await_indexes")
    return missing


def _number_names(tx: Tx) -> None:
    properties = [*PAGE_CHAIN, *sorted(set(property_names()).difference(PAGE_CHAIN))]
    tx.do("brain/tokens", properties=properties, types=link_types())


def _make(tx: Tx, missing: Sequence[Step], unique: bool) -> None:
    """Make those of these that are constraints (`unique`), or those that are not; the last first, for the first steps
    are about pages, of which there may be many: what is quickly done is done while other indexes are filled."""
    for step in reversed(missing):
        name = f"schema/{step.name}"
        if unique == ("CONSTRAINT" in statement(name).text):
            tx.do(name)
