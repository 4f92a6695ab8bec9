"""Batch scores on the pages: where a crawl is trusted to begin, and where the scores are kept.

Each score is a property of its own on the pages; one (:Ranking) for each method keeps how and when it was computed,
and whether all of it is written. Scores are written in batches, so while one method's are written, old and new ones
stand side by side, and after an interruption they stay so: `complete` is then false. Of two who write the same
method's scores the later one wins: the earlier one notices under the lock, and stops.
Where the order goes by a method's scores, the transaction that ends them, or makes it go by them, also says that pages
are to be marked anew, and what scores are multiplied by.
Statements: scores/*, brain/lock, brain/change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from graphbrain.errors import GraphbrainError
from graphbrain.graph import Graph, Tx
from graphbrain.opichits import Floats, Ints

__all__ = ["carried", "scale", "seeds", "stored", "write"]

WRITE = 5_000
"""Pages of one transaction."""


def seeds(graph: Graph) -> list[int]:
    """The internal ids of the pages where the crawl began."""
    found: list[int] = graph.read(lambda tx: tx.one("scores/seeds")[0], "scores/seeds")
    return found


def stored(graph: Graph) -> list[dict[str, Any]]:
    """What the (:Ranking)s say, the latest first."""
    found: list[dict[str, Any]] = graph.read(lambda tx: tx.one("scores/all")[0], "scores/all")
    return found


def carried(graph: Graph, name: str) -> bool:
    """Does any page carry a score of this name?"""
    some: bool = graph.read(lambda tx: tx.one("scores/some", name=name)[0], "scores/some")
    return some


def write(
    graph: Graph,
    method: str,
    ids: Ints,
    columns: Mapping[str, Floats],
    facts: Mapping[str, Any],
    now: Callable[[], float],
    progress: Callable[[int, int], None] = lambda *_: None,
) -> int:
    """Write columns of scores over the pages `ids` (ascending); how many pages have them.

    `facts`: what is kept with them: `started`, when the pages were read, `token`, of whoever writes, and figures, the
    number of `pages` among them.
    Raises GraphbrainError when somebody else begins to write the same method's scores meanwhile.
    """
    token, before = facts["token"], facts["started"]
    graph.write(lambda tx: tx.do("scores/begin", method=method, facts=dict(facts)), "scores/begin")
    written = 0
    for first in range(0, len(ids), WRITE):
        part = slice(first, first + WRITE)
        pages, some = ids[part].tolist(), {name: column[part].tolist() for name, column in columns.items()}
        written += graph.write(
            lambda tx, p=pages, s=some: _write(tx, method, token, p, s, before),  # type: ignore[misc]
            "scores/write",
        )
        progress(min(first + WRITE, len(ids)), len(ids))
    graph.write(lambda tx: _end(tx, method, token, now()), "scores/end")
    return written


def scale(tx: Tx, method: str) -> float:
    """What scores of this method are multiplied by for the order, so that their mean is 1; 1 where none are written."""
    pages = [facts["pages"] for facts in tx.one("scores/all")[0] if facts["method"] == method]
    return float(max([1, *pages]))


def _end(tx: Tx, method: str, token: str, now: float) -> None:
    """All is written. If the order goes by it, pages are to be marked anew."""
    stored = tx.one("brain/lock")[0]
    _hold(tx, method, token)
    tx.do("scores/end", method=method, now=now)
    if stored["value"] == method:
        tx.do("brain/change", settings={"value_scale": scale(tx, method), "remarking": ""})


def _hold(tx: Tx, method: str, token: str) -> None:
    if tx.many("scores/hold", method=method, token=token) != [[True]]:
        raise GraphbrainError(f"Somebody else has begun to write the scores of {method!r}; theirs will stand.")


def _write(tx: Tx, method: str, token: str, ids: list[int], columns: Mapping[str, list[float]], before: float) -> int:
    _hold(tx, method, token)
    written = 0
    for name, values in columns.items():
        written = tx.one("scores/write", name=name, ids=ids, values=values, before=before)[0]
    return written
