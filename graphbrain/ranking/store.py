"""Batch scores on the pages: where a crawl is trusted to begin, and where the scores are kept.

Each score is a property of its own on the pages; one (:Ranking) for each method keeps how and when it was computed,
and whether all of it is written. Scores are written in batches, so while one method's are written, old and new ones
stand side by side, and after an interruption they stay so: `complete` is then false. Of two who write the same
method's scores the later one wins: the earlier one notices under the lock, and stops.
Who keeps scores fresh holds a right to it, which lapses when he is silent for too long: one at a time.
Where the order goes by a method's scores, the transaction that ends them, or makes it go by them, also says that pages
are to be marked anew, and what scores are multiplied by.
Statements: scores/*, brain/lock, brain/change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from graphbrain.arrays import Floats, Ints
from graphbrain.errors import GraphbrainError
from graphbrain.graph.connection import Graph, Tx, bound
from graphbrain.rules import Rule

__all__ = ["carried", "notes", "release", "seeds", "stored", "take", "write"]

WRITE = 5_000
"""Pages of one transaction."""
BROKEN = 600.0
"""Who has not written all scores by so many seconds after he began to read the links has died, most likely."""


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
    number of `pages` among them, and what follows for pages that come later (`lanes.passed_on`): the `flow`, what of a
    score goes on along links, and the `base`, what a page has that nobody links to, if the mean is 1.
    Raises GraphbrainError when somebody else begins to write the same method's scores meanwhile.
    """
    token, before = facts["token"], facts["started"]
    graph.write(lambda tx: tx.do("scores/begin", method=method, facts=dict(facts)), "scores/begin")
    written = 0
    for first in range(0, len(ids), WRITE):
        part = slice(first, first + WRITE)
        pages, some = ids[part].tolist(), {name: column[part].tolist() for name, column in columns.items()}
        written += graph.write(
            bound(_write, method, token, pages, some, before),
            "scores/write",
        )
        progress(min(first + WRITE, len(ids)), len(ids))
    graph.write(lambda tx: _end(tx, method, token, now()), "scores/end")
    return written


def notes(tx: Tx, method: str) -> dict[str, float]:
    """What the order goes by with scores of this method: what they are multiplied by, so that their mean is 1, what of
    them goes on along links, and what a page has of them that nobody links to."""
    facts: Mapping[str, Any] = next((facts for facts in tx.one("scores/all")[0] if facts["method"] == method), {})
    return {
        "value_scale": float(max(1, facts.get("pages", 1))),
        "value_flow": float(facts.get("flow", 0.0)),
        "value_base": float(facts.get("base", Rule().value_base)),
    }


def take(tx: Tx, method: str, token: str, now: float, until: float, every: float) -> bool:
    """Take the right to keep scores fresh, or hold it longer: only one at a time, and a token that is new only where
    the scores of this method are as old as `every` seconds. Where they were not written to their end, somebody may
    still be at it, but not for long."""
    broken = min(every, BROKEN)
    mine: bool = tx.one("scores/take", method=method, token=token, now=now, until=until, every=every, broken=broken)[0]
    return mine


def release(tx: Tx, token: str) -> None:
    """Let the right go."""
    tx.do("scores/release", token=token)


def _end(tx: Tx, method: str, token: str, now: float) -> None:
    """All is written. If the order goes by it, pages are to be marked anew."""
    stored = tx.one("brain/lock")[0]
    _hold(tx, method, token)
    tx.do("scores/end", method=method, now=now)
    if stored["value"] == method:
        tx.do("brain/change", settings={**notes(tx, method), "remarking": ""})


def _hold(tx: Tx, method: str, token: str) -> None:
    if tx.many("scores/hold", method=method, token=token) != [[True]]:
        raise GraphbrainError(f"Somebody else has begun to write the scores of {method!r}; theirs will stand.")


def _write(tx: Tx, method: str, token: str, ids: list[int], columns: Mapping[str, list[float]], before: float) -> int:
    _hold(tx, method, token)
    written = 0
    for name, values in columns.items():
        written = tx.one("scores/write", name=name, ids=ids, values=values, before=before)[0]
    return written
