"""The two sides of a page, hub and authority, and their scores: the sum of all that a side has received.

Statements: exports/accounts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from graphbrain.base.numeric.arrays import Floats
from graphbrain.graph import exports
from graphbrain.graph.connection import Graph
from graphbrain.graph.exports import LinkTable

__all__ = ["Exported", "Sides", "exported", "score"]

S = TypeVar("S", float, Floats)


def score(history: S, cash: S) -> S:
    """Return the exact engine's score of a side; the classic engine computes another score from the same accounts."""
    return history + cash


class Sides:
    """The two sides of pages, as columns."""

    hub_history: Floats
    hub_cash: Floats
    authority_history: Floats
    authority_cash: Floats

    @property
    def hub_score(self) -> Floats:
        """Return the `score` of the hub sides."""
        return score(self.hub_history, self.hub_cash)

    @property
    def authority_score(self) -> Floats:
        """Return the `score` of the authority sides."""
        return score(self.authority_history, self.authority_cash)


@dataclass(frozen=True)
class Exported(Sides):
    """The sides of the pages of a table, read while other transactions run. A deleted page has nan."""

    hub_history: Floats
    hub_cash: Floats
    authority_history: Floats
    authority_cash: Floats


def exported(graph: Graph, table: LinkTable) -> Exported:
    """Return the stored accounts of the pages of a table: the classic engine's cash is without its offset."""
    columns = np.full((4, table.pages), np.nan)
    for rows in exports.in_ranges(graph, "exports/accounts", table.ids):
        read = np.array(rows, dtype=np.float64)
        columns[:, table.at(read[:, 0].astype(np.int64))] = read[:, 1:].T
    return Exported(*columns)
