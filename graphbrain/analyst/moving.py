"""The error bound of the live scores, in words.

Statements: brain/read, brain/sizes, audit/waiting.
"""

from __future__ import annotations

from graphbrain.graph.connection import Graph, Tx

__all__ = ["moving"]

SETTLED = 0.02
"""The largest error bound of scores that count as settled."""
MOST_PAGES = 500_000
"""The largest graph, in pages, for which the bound is computed. The computation reads every page."""


def moving(graph: Graph) -> str:
    """Return a note that live scores have not settled, with their error bound. It is empty if they have settled.

    It is also empty if no bound is known: under the classic engine, and for graphs that are too large.
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
