"""Links appear, disappear and move, and the accounts at both their ends with them: nobody else writes links.

The caller has locked the pages, and read their links under the locks. What the accounts are told is what the database
says that it did, not what was to be done: whatever was read, and however often a link may be there, weights and links
go together. Links that are read under the locks are held against the weights: where they do not go together, the
transaction is run again, so that no account is changed by what was read wrongly.
Statements: links/create, links/delete, links/move, links/out, links/in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from graphbrain.accounts import Accounts
from graphbrain.graph import Again, Tx

__all__ = ["SIDES", "Ends", "Misfit", "create", "delete", "held", "move", "read"]

SIDES = {"hub": "links/out", "authority": "links/in"}
"""Along which links a side of a page pays."""
MISFITS = 3
"""Attempts that a transaction breaks off for weights that do not fit: what is wrong for longer is on the pages, and for
the audit to tell."""
ROUNDING = 1e-6
Ends = list[tuple[int, list[int]]]
"""Pages, each with the pages it links to, or no longer does; no link twice."""


class Misfit(Again):
    """Raised inside a transaction: the weight of a locked page is not that of its links."""


def read(tx: Tx, side: str, pages: Iterable[int]) -> dict[int, list[int]]:
    """Page → those that a side of it pays: hubs those they link to, authorities those that link to them.

    Pages that are gone are missing. Read without a lock: half of a transaction that is being committed may be seen.
    """
    wanted = sorted(set(pages))
    return dict(tx.one(SIDES[side], ids=wanted)[0]) if wanted else {}


def held(tx: Tx, ledger: Accounts, side: str, pages: Iterable[int]) -> dict[int, list[int]]:
    """The same of pages whose accounts are locked, and as they were locked. Raises Misfit."""
    links = read(tx, side, pages)
    if tx.attempt <= MISFITS and links:
        _compare(ledger, side, links)
    return links


def _compare(ledger: Accounts, side: str, links: Mapping[int, Sequence[int]]) -> None:
    """A page is left out where links may differ in weight and it has a neighbour that is not locked."""
    pages = ledger.at(list(links))
    each = np.repeat(np.arange(len(pages)), [len(others) for others in links.values()])
    others = ledger.seek(np.array([other for page in links.values() for other in page], dtype=np.int64))
    unknown = 1.0 if ledger.rule.intra_host_weight == 1.0 else np.nan
    weights = np.where(others >= 0, ledger.weights(pages[each], others), unknown)
    read = np.bincount(each, weights, len(pages))
    known = (ledger.out_weight if side == "hub" else ledger.in_weight)[pages]
    if (np.abs(read - known) > ROUNDING * (1.0 + known)).any():
        raise Misfit("the weight of a page is not that of its links; 'graphbrain audit' tells of which")


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
