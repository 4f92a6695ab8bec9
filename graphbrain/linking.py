"""Links appear, disappear and move, and the accounts at both their ends with them: nobody else writes links.

The caller has locked the pages, and read their links under the locks. What the accounts are told is what the database
says that it did, not what was to be done: whatever was read, and however often a link may be there, weights and links
go together. Links that are read under the locks are held against the weights, and weights that are written against
the links there are then: where they do not go together, the transaction is run again (`graph.Misfit`), so that no
account is changed by what was read wrongly.
Statements: links/create, links/delete, links/move, links/reroute, links/out, links/in.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from graphbrain.accounts import Accounts
from graphbrain.graph import Again, Tx
from graphbrain.opichits import Ints

__all__ = ["SIDES", "Ends", "create", "delete", "held", "move", "packed", "read", "reroute"]

SIDES = {"hub": "links/out", "authority": "links/in"}
"""Along which links a side of a page pays."""
Ends = list[tuple[int, list[int]]]
"""Pages, each with the pages it links to, or no longer does; no link twice."""


def read(tx: Tx, side: str, pages: Iterable[int]) -> dict[int, list[int]]:
    """Page → those that a side of it pays: hubs those they link to, authorities those that link to them.

    Pages that are gone are missing. Read without a lock: half of a transaction that is being committed may be seen.
    """
    wanted = sorted(set(pages))
    return dict(tx.one(SIDES[side], ids=wanted)[0]) if wanted else {}


def packed(tx: Tx, statement: str, pages: Ints) -> tuple[Ints, Ints]:
    """Ids of the sources and the targets of links that are sent packed: those of these pages, or those to them."""
    links = np.array(tx.one(statement, ids=pages.tolist())[0], dtype=np.int64)
    return links >> 32, links & 0xFFFFFFFF


def held(tx: Tx, ledger: Accounts, side: str, pages: Iterable[int]) -> dict[int, list[int]]:
    """The same of pages whose accounts are locked, and as they were locked. Raises Misfit."""
    links = read(tx, side, pages)
    ledger.compare(tx, side, links)
    return links


def create(tx: Tx, ledger: Accounts, ends: Ends, now: float) -> None:
    """Link pages that are not linked. Raises Again when one of them is not there."""
    sources = [page for page, others in ends for _ in others]
    if not sources:
        return
    if tx.one("links/create", rows=ends, now=now)[0] != len(sources):
        raise Again("a page was deleted while it was linked")
    ledger.relink(sources, [other for _, others in ends for other in others], 1)


def delete(tx: Tx, ledger: Accounts, ends: Ends) -> None:
    """Unlink pages."""
    gone = tx.one("links/delete", rows=ends)[0] if ends else []
    ledger.relink([source for source, _ in gone], [target for _, target in gone], -1)


def move(tx: Tx, ledger: Accounts, sources: Sequence[int], old: int, new: int) -> None:
    """Let the links of these pages to `old` end at `new`, to which none of them links."""
    moved = tx.one("links/move", sources=list(sources), old=old, new=new)[0] if sources else []
    ledger.relink(moved, [old] * len(moved), -1)
    ledger.relink(moved, [new] * len(moved), 1)


def reroute(tx: Tx, ledger: Accounts, rows: Sequence[Sequence[int]]) -> None:
    """Let links (source, target, new source, new target) begin and end elsewhere, where no such link is."""
    moved = tx.one("links/reroute", rows=sorted(rows))[0] if rows else []
    ledger.relink([row[0] for row in moved], [row[1] for row in moved], -1)
    ledger.relink([row[2] for row in moved], [row[3] for row in moved], 1)
