"""Pages of a classic brain for users: cash with its offset, scores as shares of all pages' histories.

Statements: classic/top_*, classic/all_*.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from graphbrain.analyst.inspect import pages
from graphbrain.base.model import Page
from graphbrain.base.numeric.methods import CASH, UNINDEXED
from graphbrain.base.numeric.rules import Rule
from graphbrain.graph.connection import Tx
from graphbrain.scores.accounts.algebra import FIRST_RANK
from graphbrain.scores.accounts.classic_algebra import Virtual
from graphbrain.scores.accounts.classic_ledger import read_virtual

__all__ = ["Shares", "error_bound", "page", "top", "view"]

TOP = {
    "authority": ("classic/top_authorities", "classic/all_authorities"),
    "hub": ("classic/top_hubs", "classic/all_hubs"),
}
"""Side → the statements for the best pages: among those with a rank, and among all."""


@dataclass(frozen=True, slots=True)
class Shares:
    """Scores as shares in the histories of all pages, or in their histories and cash. The totals are those of the
    virtual page at one moment."""

    virtual: Virtual
    cash_counts: bool

    def page(self, stored: Page) -> Page:
        """Return the page with its real cash and its shares."""
        ids = np.array([stored.id], dtype=np.int64)
        hub_offset = float(self.virtual.hub_offsets(ids)[0])
        authority_offset = float(self.virtual.authority_offsets(ids)[0])
        hub_cash, authority_cash = stored.hub_cash + hub_offset, stored.authority_cash + authority_offset
        return replace(
            stored,
            hub_cash=hub_cash,
            authority_cash=authority_cash,
            hub_score=self._hub(stored.hub_history, hub_cash),
            authority_score=self._authority(stored.authority_history, authority_cash),
        )

    def hub(self, history: float, cash: float) -> float:
        """Return the score of a hub side, a share of all scores. `cash` is the stored cash."""
        return self._hub(history, cash + self.virtual.hub_offset)

    def authority(self, history: float, cash: float) -> float:
        """Return the score of an authority side, a share of all scores. `cash` is the stored cash."""
        return self._authority(history, cash + self.virtual.authority_offset)

    def _hub(self, history: float, cash: float) -> float:
        return self._share(history, cash, self.virtual.hub_total, self.virtual.hub_held)

    def _authority(self, history: float, cash: float) -> float:
        return self._share(history, cash, self.virtual.authority_total, self.virtual.authority_held)

    def _share(self, history: float, cash: float, spent: float, total: float) -> float:
        if self.cash_counts:
            return (history + cash) / (spent + total)
        return history / spent if spent else 0.0


def view(tx: Tx, rule: Rule) -> Shares:
    """Return the computation of the scores that the settings choose, by the present virtual page."""
    return Shares(read_virtual(tx), rule.classic.score != "history")


def page(tx: Tx, key: str, rule: Rule) -> Page | None:
    """Return one page with all its properties; None if there is no such page."""
    shares, stored = view(tx, rule), pages.page(tx, key, rule)
    return shares.page(stored) if stored else None


def top(tx: Tx, n: int, by: str, rule: Rule) -> list[Page]:
    """Return the `n` pages with the highest score `by` hub, authority, or a score without an index, the best first."""
    shares = view(tx, rule)
    if by in (CASH, *UNINDEXED):
        return [shares.page(page) for page in pages.highest(tx, n, by)]
    # Ranks follow from the history, and do not help if cash counts.
    ranked, every = TOP[by]
    rows = [] if shares.cash_counts else tx.many(ranked, first=FIRST_RANK, limit=n)
    if len(rows) < n:
        rows = tx.many(every, limit=n, cash=1.0 if shares.cash_counts else 0.0)
    return [shares.page(pages.page_of(row)) for row in rows]


def error_bound(_tx: Tx, _rule: Rule) -> float | None:
    """Return None: nothing bounds the error of the classic engine's scores."""
    return None
