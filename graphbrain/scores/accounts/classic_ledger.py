"""The accounts of the pages that one transaction has locked, under the classic engine.

Stored cash is relative to the offsets. The offsets and the rest of the virtual page are properties of the (:Brain).
Every writer of accounts locks the (:Brain) after all pages and before hosts. So a writer that has the lock knows the
offsets, and it keeps the lock only while it writes. A change, creation or deletion of cash also changes the virtual
page in the same transaction, so that the total cash is 2·(N + 1) at every commit. A new page is marked until its
creator writes its first cash in the same transaction. A change of links changes no cash, only the shares of later
spending. Statements: classic/*, accounts/*.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from graphbrain.base.errors import BadInput
from graphbrain.base.numeric.arrays import Floats, Ints
from graphbrain.base.numeric.rules import Rule
from graphbrain.graph.connection import Outdated, Tx
from graphbrain.scores.accounts import algebra, classic_algebra
from graphbrain.scores.accounts.classic_algebra import Books, Side, Turn, Virtual
from graphbrain.scores.accounts.ledger import Accounts, Blocks

__all__ = ["ClassicLedger", "read_virtual", "virtual_properties"]

NEWBORN = 1.0


def virtual_properties(virtual: Virtual) -> dict[str, float]:
    """Return the virtual page as properties of the (:Brain)."""
    return {f"virtual_{name}": value for name, value in asdict(virtual).items()}


def _virtual(properties: Mapping[str, Any]) -> Virtual:
    """Return the virtual page from these properties.

    Raises:
        Outdated: The brain has no virtual page, because it is being converted to the other engine.
    """
    if properties["virtual_pages"] is None:
        raise Outdated
    return Virtual(**{name.removeprefix("virtual_"): value for name, value in properties.items()})


def read_virtual(tx: Tx) -> Virtual:
    """Return the present virtual page without a lock."""
    return _virtual(tx.one("classic/read_virtual")[0])


class ClassicLedger(Accounts):
    """The ledger of the classic engine. Its arrays have stored cash until the call of `open`, and real cash from then
    on."""

    engine = "classic"
    keeps_payouts = False
    columns = (
        "hub_history",
        "hub_cash",
        "hub_updated",
        "out_weight",
        "authority_history",
        "authority_cash",
        "authority_updated",
        "in_weight",
        "relevance",
        "depth",
        "first_fetched",
        "newborn",
        "lane",
        "is_seed",
        "path_repeats",
        "siblings_before",
        "harvest",
        "url_weight",
        "flow",
        "flow_paid",
        "live_pagerank",
        "live_pagerank_paid",
        "links_sum",
    )
    locking = "classic/lock"
    writing = "classic/write"
    first: ClassVar[Mapping[str, float]] = {
        "hub_history": 0.0,
        "hub_cash": 0.0,
        "hub_paid": NEWBORN,
        "authority_history": 0.0,
        "authority_cash": 0.0,
        "authority_paid": 0.0,
    }

    hub_updated: Floats
    authority_updated: Floats
    newborn: Floats

    def __init__(self, rows: list[list[Any]], rule: Rule, unlinked: Sequence[int] = ()) -> None:
        super().__init__(rows, rule, unlinked)
        self.stored = {side: getattr(self, f"{side}_cash").copy() for side in ("hub", "authority")}
        self.virtual = Virtual()
        self._open = False
        self._buried: list[int] = []
        self._offsets: dict[str, Floats] = {}

    def open(self, tx: Tx, now: float) -> Virtual:
        """Lock the virtual page, which is the last lock on accounts. Turn stored cash into real cash, and give new
        pages theirs."""
        if self._open:
            return self.virtual
        self._open = True
        self.virtual = virtual = _virtual(tx.one("classic/lock_virtual")[0])
        virtual.clock = self.rule.classic.clock(now, virtual.clock)
        self._offsets = {"hub": virtual.hub_offsets(self.ids), "authority": virtual.authority_offsets(self.ids)}
        self.hub_cash += self._offsets["hub"]
        self.authority_cash += self._offsets["authority"]
        self._before |= {"hub_cash": self.hub_cash.copy(), "authority_cash": self.authority_cash.copy()}
        self._bear()
        return virtual

    def _bear(self) -> None:
        """Give new pages 1 + 1 cash, and a history of 0 or the mean one."""
        born, virtual, options = self._born(), self.virtual, self.rule.classic
        if not (count := int(born.sum())):
            return
        if options.new_history == "mean" and virtual.pages:
            self.hub_history[born] = virtual.hub_total / virtual.pages
            self.authority_history[born] = virtual.authority_total / virtual.pages
            virtual.hub_total += float(self.hub_history[born].sum())
            virtual.authority_total += float(self.authority_history[born].sum())
        on_pages = options.first_cash == "pages"
        self._before["hub_cash"][born] = self._before["authority_cash"][born] = 0.0
        self.hub_cash[born] = self.authority_cash[born] = 1.0 if on_pages else 0.0
        if not on_pages:
            virtual.hub_cash += count
            virtual.authority_cash += count
        virtual.pages += count

    def _born(self) -> NDArray[np.bool_]:
        born: NDArray[np.bool_] = self.newborn == NEWBORN
        return born

    def _weigh(self, a: Ints, b: Ints, w: Floats) -> None:
        """Change the weights. Cash stays the same: only later spending follows the new weights."""
        np.add.at(self.out_weight, a, w)
        np.add.at(self.in_weight, b, w)

    def bury(self, page: int) -> None:
        """Remove a page with the 1 + 1 cash that it brought. The virtual page takes the rest of its cash, or pays what
        is missing."""
        self._buried.append(page)

    def set_payouts(self, _tx: Tx, _payouts: Mapping[int, float | None]) -> None:
        """Raise BadInput: the virtual page pays all pages in equal parts."""
        raise BadInput(
            "The classic engine pays all pages alike; convert the brain with 'graphbrain engine exact' first."
        )

    def spend(self, turns: Sequence[Turn]) -> list[bool]:
        """Let sides spend one after the other, and then the virtual page. Return for each side whether it had cash.

        The caller has called `open`.
        """
        options, root_share = self.rule.classic, self.rule.classic.root_share
        hub_share = classic_algebra.hub_share(self.out_weight, root_share)
        authority_share = classic_algebra.authority_share(
            self.in_weight, self.relevance, options.relevance_rule, root_share
        )
        books = Books(
            Side(self.hub_cash, self.hub_history, self.hub_updated, self.out_weight, hub_share),
            Side(self.authority_cash, self.authority_history, self.authority_updated, self.in_weight, authority_share),
        )
        had_cash = classic_algebra.spend(books, turns, self.virtual, options)
        self.virtual.pay(options)
        return had_cash

    def write(self, tx: Tx, now: float, all_marks: bool = False) -> None:
        """Write as in any ledger. The virtual page is locked only if cash, lanes or all marks are written."""
        # The graph has changed if a page is new or deleted, or a weight or a relevance is different.
        graph_changed = bool(self._buried or self._born().any()) or bool(
            self._changed("out_weight", "in_weight").any()
            or not np.array_equal(self.relevance, self._before["relevance"], equal_nan=True)
        )
        blocks = self._link_blocks(all_marks)
        # Then cash, ranks and lanes are written with the virtual page.
        if graph_changed or self._moves() or all_marks or self._open:
            self.open(tx, now)
            self.virtual.hub_held += float((self.hub_cash - self._before["hub_cash"]).sum())
            self._bury()
            if graph_changed:
                self.virtual.stirred = self.virtual.spent
            blocks |= self._cash_blocks() | self._rank_blocks(all_marks) | self._place_blocks(all_marks)
            blocks["virtual"] = [list(astuple(self.virtual))]
        self._send(tx, blocks, clock=self.virtual.clock)

    def _moves(self) -> bool:
        """Return True if the lane of a page, or its value for the order, may have changed for reasons other than
        cash."""
        if self._waits_anew:
            return True
        changed = self._changed("depth") & (self.rule.order == "breadth_first")
        for forward in self.forwards:
            if forward.name in (self.rule.blend or ()):
                changed |= self._changed(forward.name)
        return bool((changed & (self.first_fetched < 0.0)).any())

    def write_rebased(self, tx: Tx) -> None:
        """Write the cash of all these pages relative to the present offsets of the virtual page."""
        everywhere = np.ones(len(self.ids), dtype=bool)
        hub = self.hub_cash - self.virtual.hub_offsets(self.ids)
        authority = self.authority_cash - self.virtual.authority_offsets(self.ids)
        blocks: Blocks = {
            "hubs_received": self._block(everywhere, hub),
            "authorities_received": self._block(everywhere, authority),
            "virtual": [list(astuple(self.virtual))],
        }
        self._send(tx, blocks, clock=self.virtual.clock)

    def _bury(self) -> None:
        virtual = self.virtual
        for buried in self.at(self._buried).tolist():
            virtual.authority_cash += float(self.hub_cash[buried]) - 1.0
            virtual.hub_cash += float(self.authority_cash[buried]) - 1.0
            virtual.hub_held -= float(self.hub_cash[buried])
            virtual.hub_total -= float(self.hub_history[buried])
            virtual.authority_total -= float(self.authority_history[buried])
            virtual.pages -= 1

    def _cash_blocks(self) -> Blocks:
        """Return the blocks of cash and histories: of new pages, of sides that have spent, and of sides that only
        received."""
        born = self._born()
        cash = {side: getattr(self, f"{side}_cash") - self._offsets[side] for side in ("hub", "authority")}
        blocks = {"born": self._block(born, *cash.values(), "hub_history", "authority_history")}
        for side, sides in (("hub", "hubs"), ("authority", "authorities")):
            history, updated = f"{side}_history", f"{side}_updated"
            spent = self._changed(history, updated) & ~born
            received = self._changed(f"{side}_cash") & ~spent & ~born
            blocks[f"{sides}_spent"] = self._block(spent, cash[side], history, updated)
            blocks[f"{sides}_received"] = self._block(received, cash[side])
        return blocks

    def _rank_blocks(self, all_marks: bool) -> Blocks:
        """Return the blocks of ranks, which follow from the histories and change only with pushes.

        Lanes follow from history + cash. The cash of all pages rises with the offset, without a write, but the lane of
        a page is that of its value at the last lock. So the lane may be slightly too low, and is never too high.
        """
        blocks = {}
        for side in ("hub", "authority"):
            history = f"{side}_history"
            rank, before = algebra.rank(getattr(self, history)), algebra.rank(self._before[history])
            blocks[f"{side}_ranks"] = self._mark(None, rank, before, all_marks)
        return blocks
