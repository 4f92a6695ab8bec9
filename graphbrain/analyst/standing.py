"""All pages as columns: how much they matter, when they were fetched, whether they fail.

Memory: some 60 bytes a page. Statements: exports/last_id, looks/standing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphbrain.arrays import Floats, Ints
from graphbrain.graph.connection import Graph, Tx, bound
from graphbrain.model import SCOPE

__all__ = ["Progress", "Standing", "standing"]

Progress = Callable[[int, int], None]

RANGE = 20_000
WHOLE = 8
"""Columns that every page has which is not just being deleted."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Columns over all pages: see cypher/analyst/looks/standing.cypher.

    `host`: its place in `hosts`. `inside`: the scope holds it. `copies`: fetched pages whose
    bytes another one has.
    """

    ids: Ints
    host: Ints
    hosts: list[str]
    state: list[str]
    authority: Floats
    hub: Floats
    fetched: Floats
    visited: NDArray[np.bool_]
    failing: NDArray[np.bool_]
    inside: NDArray[np.bool_]
    copies: int


def standing(graph: Graph, progress: Progress = lambda *_: None) -> Standing:
    """All pages, read range by range in transactions of their own."""
    last = graph.read(lambda tx: tx.one("exports/last_id")[0], "exports/last_id")
    total = 0 if last is None else last + 1
    places: dict[str, int] = {}
    states: list[str] = []
    numbers: list[Floats] = []
    bodies: dict[str, int] = {}
    for first in range(0, total, RANGE):
        rows = [row for row in graph.read(bound(_range, first), "looks/standing") if None not in row[:WHOLE]]
        states += [row[2] for row in rows]
        for row in rows:
            if row[-1] is not None and row[2] == "known":
                bodies[row[-1]] = bodies.get(row[-1], 0) + 1
        columns = [
            (row[0], places.setdefault(row[1], len(places)), *row[3:WHOLE], _holds(row[2], row[-2])) for row in rows
        ]
        numbers.append(np.array(columns, dtype=np.float64).reshape(-1, 8))
        progress(min(first + RANGE, total), total)
    table = np.concatenate([np.empty((0, 8)), *numbers]).T
    ids, host = (table[place].astype(np.int64) for place in (0, 1))
    visited, failing, inside = (table[place] > 0 for place in (5, 6, 7))
    copies = sum(count - 1 for count in bodies.values())
    authority, hub, fetched = table[2:5]
    return Standing(ids, host, list(places), states, authority, hub, fetched, visited, failing, inside, copies)


def _holds(state: str, outside_because: str | None) -> bool:
    """Does the scope hold a page? One that its robots.txt forbids is inside."""
    return state != "outside" or (outside_because or SCOPE) != SCOPE


def _range(tx: Tx, first: int) -> list[list[Any]]:
    rows: list[list[Any]] = tx.one("looks/standing", first=first, last=first + RANGE - 1)[0]
    return rows
