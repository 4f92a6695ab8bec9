"""Links appear, disappear and move, and the accounts at both their ends with them: nobody else writes links.

The caller has locked the pages, and read their links under the locks. What the accounts are told is what the database
says that it did, not what was to be done: whatever was read, and however often a link may be there, weights and links
go together.
Statements: links/create, links/delete, links/move.
"""

from __future__ import annotations

from collections.abc import Sequence

from graphbrain.accounts import Accounts
from graphbrain.graph import Again, Tx

__all__ = ["Ends", "create", "delete", "move"]

Ends = list[tuple[int, list[int]]]
"""Pages, each with the pages it links to, or no longer does; no link twice."""


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
