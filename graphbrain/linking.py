"""Links appear, disappear and move, and the accounts at both their ends with them: nobody else writes links.

The caller has locked the pages and read their links under the locks. What the database then did is held against what
the accounts are told: where the two differ, what was read was not what is there, and the transaction must not commit.
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
    """Link pages that are not linked."""
    sources, targets = _pairs(ends)
    if sources:
        _hold("links/create", tx.one("links/create", rows=ends, now=now)[0], len(sources))
        ledger.relink(sources, targets, 1)


def delete(tx: Tx, ledger: Accounts, ends: Ends) -> None:
    """Unlink pages that are linked."""
    sources, targets = _pairs(ends)
    if sources:
        _hold("links/delete", tx.one("links/delete", rows=ends)[0], len(sources))
        ledger.relink(sources, targets, -1)


def move(tx: Tx, ledger: Accounts, sources: Sequence[int], old: int, new: int) -> None:
    """Let links of these pages to `old` end at `new`, which none of them links to."""
    if sources:
        _hold("links/move", tx.one("links/move", sources=list(sources), old=old, new=new)[0], len(sources))
        ledger.relink(sources, [old] * len(sources), -1)
        ledger.relink(sources, [new] * len(sources), 1)


def _hold(name: str, done: int, told: int) -> None:
    if done != told:
        raise Again(f"{name} was to write {told} links and found {done}")


def _pairs(ends: Ends) -> tuple[list[int], list[int]]:
    sources = [page for page, others in ends for _ in others]
    return sources, [other for _, others in ends for other in others]
