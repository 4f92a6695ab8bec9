"""The error bound of the live scores, in words.

Statements: brain/read, brain/sizes, audit/waiting.
"""

from __future__ import annotations

from graphbrain.graph.connection import Graph, Tx

__all__ = ["moving"]

SETTLED = 0.02
"""The error bound up to which nothing is to be known beside the scores."""
MOST_PAGES = 500_000
"""Pages of a graph above which the bound is not asked for: every page is read for it."""


def moving(graph: Graph) -> str:
    """Return what is to be known of the live scores beside their values; empty where they have settled.

    It is empty, too, where no bound is known: under the classic engine, and in graphs that are too large.
    """

    def read(tx: Tx) -> float | None:
        stored = tx.one("brain/read")[0] or {}
        alpha = float(stored.get("alpha", 0.15))
        if stored.get("engine") == "classic" or not alpha or tx.one("brain/sizes")[0] > MOST_PAGES:
            return None
        total, _, waits = tx.one("audit/waiting", alpha=alpha)
        return waits / (alpha * total) if total else None

    bound = graph.read(read, "audit/waiting")
    if bound is None or bound <= SETTLED:
        return ""
    return f"scores are still moving, at most {100 * bound:.0f} % off in sum; `graphbrain tend` finishes them"
