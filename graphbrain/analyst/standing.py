"""Columns over all pages: scores, times of visits, failures.

Memory: some 60 bytes a page. Statements: looks/marks, looks/standing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphbrain.base.model import SCOPE
from graphbrain.base.numeric.arrays import Floats, Ints
from graphbrain.graph import exports
from graphbrain.graph.connection import Graph

__all__ = ["Progress", "Standing", "StandingColumns", "Standings", "marks", "standing"]

Progress = Callable[[int, int], None]

WHOLE = 9
"""The number of columns that every page has, unless a transaction is deleting it."""


@dataclass(frozen=True, slots=True)
class Standings:
    """The numbers of pages by what they are, as docs/reference/data-model.md has them.

    Attributes:
        waiting: Pages that were not fetched yet.
        forbidden: Pages inside the scope that robots.txt forbids.
        outside: Pages outside the scope. The others are inside.
    """

    answering: int
    redirecting: int
    failing: int
    waiting: int
    forbidden: int
    outside: int


@dataclass(frozen=True, slots=True)
class Standing:
    """Columns over all pages: see cypher/analyst/looks/standing.cypher.

    Attributes:
        host: The place of each page's host in `hosts`.
        led: True for pages that lead elsewhere for now.
        inside: True for pages inside the scope.
        copies: The number of pages that answer with the same bytes as another one, without one page of each group.
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
    led: NDArray[np.bool_]
    inside: NDArray[np.bool_]
    copies: int

    def in_states(self, *states: str) -> NDArray[np.bool_]:
        """Return a mask of the pages in one of these states."""
        return np.array([state in states for state in self.state], dtype=bool)

    def counts(self) -> Standings:
        """Return how many pages inside the scope answer, redirect, fail and so on."""
        answered = ~self.failing

        def count(mask: NDArray[np.bool_]) -> int:
            return int((mask & self.inside).sum())

        return Standings(
            answering=count(self.in_states("known") & ~self.led & answered),
            redirecting=count((self.in_states("alias") | (self.in_states("known") & self.led)) & answered),
            failing=count(self.in_states("gone", "parked") | (~self.in_states("outside") & self.failing)),
            waiting=count(self.in_states("frontier") & answered),
            forbidden=count(self.in_states("outside")),
            outside=int((~self.inside).sum()),
        )


@dataclass(frozen=True, slots=True)
class StandingColumns:
    """Some of the columns of `Standing`."""

    ids: Ints
    authority: Floats
    visited: NDArray[np.bool_]
    failing: NDArray[np.bool_]
    inside: NDArray[np.bool_]


def standing(graph: Graph, progress: Progress = lambda *_: None) -> Standing:
    """Return all pages. Each range of ids is read in a separate transaction."""
    # Read the ranges: texts as lists and counts, numbers as rows of arrays.
    numbers_of: dict[str, int] = {}
    states: list[str] = []
    numbers: list[Floats] = []
    bodies: Counter[str] = Counter()
    for rows in exports.over_all(graph.anywhere, "looks/standing", _whole, progress):
        some: list[tuple[float, ...]] = []
        for page, host, state, authority, hub, fetched, visited, failing, led, outside_because, body_hash in rows:
            states.append(state)
            if body_hash is not None and state == "known" and not failing:
                bodies[body_hash] += 1
            inside = _inside(state, outside_because)
            number = numbers_of.setdefault(host, len(numbers_of))
            some.append((page, number, authority, hub, fetched, visited, failing, led, inside))
        numbers.append(np.array(some, dtype=np.float64).reshape(-1, 9))
    # Make columns of them.
    table = np.concatenate([np.empty((0, 9)), *numbers]).T
    ids, hosts = table[0].astype(np.int64), table[1].astype(np.int64)
    authorities, hubs, fetches = table[2:5]
    visits, failures, leads, insides = table[5:9] > 0
    copies = sum(count - 1 for count in bodies.values())
    return Standing(
        ids, hosts, list(numbers_of), states, authorities, hubs, fetches, visits, failures, leads, insides, copies
    )


def _inside(state: str, outside_because: str | None) -> bool:
    """Return whether a page is inside the scope. A page that its robots.txt forbids is inside."""
    return state != "outside" or outside_because != SCOPE


def _whole(_: int, row: Sequence[Any]) -> list[list[Any]]:
    """Return the pages of a range, without those that a transaction is deleting."""
    return [page for page in row[0] if None not in page[:WHOLE]]


def marks(graph: Graph) -> StandingColumns:
    """Return the columns that counts by clicks need. This takes a third of the time of `standing`."""
    parts = [
        np.empty((2, 0)),
        *exports.over_all(graph.anywhere, "looks/marks", lambda _, row: np.array(row, dtype=np.float64)),
    ]
    packed, authority = np.concatenate(parts, axis=1)
    pages = packed.astype(np.int64)
    return StandingColumns(pages >> 3, authority, *((pages >> bit & 1).astype(bool) for bit in range(3)))
