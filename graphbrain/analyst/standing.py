"""Columns over all pages: scores, times of visits, failures.

Memory: some 60 bytes a page. Statements: looks/marks, looks/standing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphbrain.base.model import SCOPE
from graphbrain.base.numeric.arrays import Floats, Ints
from graphbrain.graph import exports
from graphbrain.graph.connection import Graph

__all__ = ["Progress", "Standing", "StandingColumns", "marks", "standing"]

Progress = Callable[[int, int], None]

WHOLE = 8
"""Number of columns that every page has, unless it is just being deleted."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Columns over all pages: see cypher/analyst/looks/standing.cypher.

    Attributes:
        host: The place of each page's host in `hosts`.
        inside: The page is inside the scope.
        copies: Number of fetched pages whose bytes an earlier page has, too.
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


@dataclass(frozen=True, slots=True)
class StandingColumns:
    """Columns over all pages: a part of those of `Standing`."""

    ids: Ints
    authority: Floats
    visited: NDArray[np.bool_]
    failing: NDArray[np.bool_]
    inside: NDArray[np.bool_]


def standing(graph: Graph, progress: Progress = lambda *_: None) -> Standing:
    """Return all pages, read range by range in transactions of their own."""
    places: dict[str, int] = {}
    states: list[str] = []
    numbers: list[Floats] = []
    bodies: dict[str, int] = {}
    for rows in exports.over_all(graph.anywhere, "looks/standing", _whole, progress):
        states += [row[2] for row in rows]
        for row in rows:
            if row[-1] is not None and row[2] == "known":
                bodies[row[-1]] = bodies.get(row[-1], 0) + 1
        columns = [
            (row[0], places.setdefault(row[1], len(places)), *row[3:WHOLE], _holds(row[2], row[-2])) for row in rows
        ]
        numbers.append(np.array(columns, dtype=np.float64).reshape(-1, 8))
    table = np.concatenate([np.empty((0, 8)), *numbers]).T
    ids, host = (table[column].astype(np.int64) for column in (0, 1))
    visited, failing, inside = (table[column] > 0 for column in (5, 6, 7))
    copies = sum(count - 1 for count in bodies.values())
    authority, hub, fetched = table[2:5]
    return Standing(ids, host, list(places), states, authority, hub, fetched, visited, failing, inside, copies)


def _holds(state: str, outside_because: str | None) -> bool:
    """Return whether a page is inside the scope. One that its robots.txt forbids is inside."""
    return state != "outside" or outside_because != SCOPE


def _whole(_: int, row: Sequence[Any]) -> list[list[Any]]:
    """Return the pages of a range that are not just being deleted."""
    return [page for page in row[0] if None not in page[:WHOLE]]


def marks(graph: Graph) -> StandingColumns:
    """Return the columns that counts by click need, in a third of the time of `standing`."""
    parts = [
        np.empty((2, 0)),
        *exports.over_all(graph.anywhere, "looks/marks", lambda _, row: np.array(row, dtype=np.float64)),
    ]
    packed, authority = np.concatenate(parts, axis=1)
    pages = packed.astype(np.int64)
    return StandingColumns(pages >> 3, authority, *((pages >> bit & 1).astype(bool) for bit in range(3)))
