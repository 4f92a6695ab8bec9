"""Storage of batch scores on the pages, and the pages where a crawl begins.

Each score is a property of the pages. One (:Ranking) for each method records the time and the arguments of its
computation, and whether all scores are written. Scores are written in batches. During the writing, and after an
interruption, old and new scores of a method exist side by side, and `complete` is false. If two processes write the
scores of one method, the later one wins: the earlier one sees this under the lock and stops.

One process at a time has the right to keep scores fresh. The right lapses if its holder is silent for too long. If the
order uses a method's scores, all pages need new lanes when the scores are complete, or when the order begins to use
them. The same transaction records that backfill (`remarking`), and stores the factor by which scores are multiplied.
Statements: scores/*, brain/lock, brain/change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from graphbrain.base.errors import GraphbrainError
from graphbrain.base.numeric.arrays import Floats, Ints
from graphbrain.base.numeric.rules import Rule
from graphbrain.graph.connection import Graph, Tx, bound

__all__ = ["carried", "notes", "release", "seeds", "stored", "take", "write", "write_parts"]

WRITE = 5_000
"""The number of pages in one transaction."""
BROKEN = 600.0
"""Seconds from the read of the links until an unfinished writer is taken for dead."""


def seeds(graph: Graph) -> list[int]:
    """Return the internal ids of the seeds."""
    ids: list[int] = graph.read(lambda tx: tx.one("scores/seeds")[0], "scores/seeds")
    return ids


def stored(graph: Graph) -> list[dict[str, Any]]:
    """Return the properties of each (:Ranking), the latest first."""
    scores: list[dict[str, Any]] = graph.read(lambda tx: tx.one("scores/all")[0], "scores/all")
    return scores


def carried(graph: Graph, name: str) -> bool:
    """Return True if any page carries a score of this name."""
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
    """Write columns of scores to pages, and return the number of pages that have them.

    Args:
        graph: The connection.
        method: The method of the (:Ranking).
        ids: Internal ids of the pages, ascending.
        columns: For each property, one score for each of `ids`.
        facts: Properties of the (:Ranking): `started`, the epoch seconds at which the pages were read; the `token` of
            the writer; figures such as the number of `pages`. `lanes.passed_on` computes the scores of pages found
            later from two of them: `flow`, the share of a score that passes along links, and `base`, the score of a
            page without in-links if the mean is 1.
        now: Returns the epoch seconds.
        progress: Is called with the pages done and the pages in all.

    Raises:
        GraphbrainError: Another process began to write scores of the same method.
    """

    def parts() -> Iterator[tuple[Ints, Mapping[str, Floats]]]:
        for first in range(0, len(ids), WRITE):
            part = slice(first, first + WRITE)
            yield ids[part], {name: column[part] for name, column in columns.items()}

    return write_parts(graph, method, parts(), len(ids), facts, now, progress)


def write_parts(
    graph: Graph,
    method: str,
    parts: Iterable[tuple[Ints, Mapping[str, Floats]]],
    pages: int,
    facts: Mapping[str, Any],
    now: Callable[[], float],
    progress: Callable[[int, int], None] = lambda *_: None,
) -> int:
    """Write columns of scores part by part, each in one transaction; otherwise as `write`.

    Args:
        graph: The connection.
        method: The method of the (:Ranking).
        parts: Internal ids of some pages, ascending, and their columns.
        pages: The number of pages in all parts, for `progress`.
        facts: Properties of the (:Ranking).
        now: Returns the epoch seconds.
        progress: Is called with the pages done and the pages in all.
    """
    token, before = facts["token"], facts["started"]
    graph.write(lambda tx: tx.do("scores/begin", method=method, facts=dict(facts)), "scores/begin")
    written = done = 0
    for ids, columns in parts:
        some = {name: column.tolist() for name, column in columns.items()}
        written += graph.write(bound(_write, method, token, ids.tolist(), some, before), "scores/write")
        done += len(ids)
        progress(done, pages)
    graph.write(lambda tx: _end(tx, method, token, now()), "scores/end")
    return written


def notes(tx: Tx, method: str) -> dict[str, float]:
    """Return the factors that the order uses with this method's scores.

    They are the factor that makes the mean 1, the share of a score that passes along links, and the score of a page
    without in-links.
    """
    facts: Mapping[str, Any] = next((facts for facts in tx.one("scores/all")[0] if facts["method"] == method), {})
    return {
        "value_scale": float(max(1, facts.get("pages", 1))),
        "value_flow": float(facts.get("flow", 0.0)),
        "value_base": float(facts.get("base", Rule().value_base)),
    }


def take(tx: Tx, method: str, token: str, now: float, until: float, every: float) -> bool:
    """Take the right to keep scores fresh, or extend it.

    One process has it at a time. A new token gets it only if this method's scores are at least `every` seconds old, or
    are incomplete and were begun so long ago that their writer is taken for dead (`BROKEN`).
    """
    broken = min(every, BROKEN)
    mine: bool = tx.one("scores/take", method=method, token=token, now=now, until=until, every=every, broken=broken)[0]
    return mine


def release(tx: Tx, token: str) -> None:
    """Give up the right to keep scores fresh."""
    tx.do("scores/release", token=token)


def _end(tx: Tx, method: str, token: str, now: float) -> None:
    """Mark the ranking as complete. If the order uses it, also begin the backfill that gives all pages new lanes."""
    stored = tx.one("brain/lock")[0]
    _hold(tx, method, token)
    tx.do("scores/end", method=method, now=now)
    if stored["value"] == method:
        tx.do("brain/change", settings={**notes(tx, method), "remarking": ""})


def _hold(tx: Tx, method: str, token: str) -> None:
    """Lock the (:Ranking). Raise GraphbrainError if another writer has begun."""
    if tx.many("scores/hold", method=method, token=token) != [[True]]:
        raise GraphbrainError(f"Another process has begun to write the scores of {method!r}; its scores will be kept.")


def _write(tx: Tx, method: str, token: str, ids: list[int], columns: Mapping[str, list[float]], before: float) -> int:
    _hold(tx, method, token)
    written = 0
    for name, values in columns.items():
        written = tx.one("scores/write", name=name, ids=ids, values=values, before=before)[0]
    return written
