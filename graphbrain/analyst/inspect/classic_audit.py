"""The checks of a classic brain's accounts: the total cash, no side in debt, a clock that never went back.

A classic account cannot be recomputed from its neighbours, but the sums show that nothing was lost. No page may have
negative cash, or a side that spent later than the clock. Marks must follow from the accounts: the lane of a waiting
page lies between the lane of history + cash and that of the history alone.
Statements: classic/sums, classic/counts, audit/counts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphbrain.analyst.inspect.audit import TOLERANCE, Tally
from graphbrain.base.numeric.rules import Rule, total_cash
from graphbrain.graph.connection import Tx
from graphbrain.scores.accounts import algebra
from graphbrain.scores.accounts.algebra import NONE
from graphbrain.scores.accounts.classic_ledger import ClassicLedger, read_virtual
from graphbrain.scores.accounts.ledger import Accounts

__all__ = ["Classic"]


class Classic:
    """The checks of the classic engine: no cash is made or lost."""

    def sums(self, tx: Tx, _rule: Rule) -> list[Any]:
        """Return the virtual page, and the sums over all pages."""
        virtual = read_virtual(tx)
        return [virtual, tx.one("classic/sums", rebased=virtual.rebased)]

    def compare(self, rows: list[Any], ledger: Accounts, tx: Tx, tally: Tally) -> None:
        """Check cash, clock and marks of locked pages."""
        assert isinstance(ledger, ClassicLedger)
        # Compute the real cash of each side, and the best and the worst lane in which a page may wait.
        virtual = read_virtual(tx)
        cash = {
            "hub": ledger.hub_cash + virtual.hub_offsets(ledger.ids),
            "authority": ledger.authority_cash + virtual.authority_offsets(ledger.ids),
        }
        slack = TOLERANCE * max(1.0, abs(virtual.hub_offset), abs(virtual.authority_offset))
        blend = ledger.rule.blend is not None
        ends = (ledger.authority_history + np.maximum(cash["authority"], 0.0), ledger.authority_history)
        best, worst = (ledger.lanes(ledger.valued(end) if blend else end) for end in ends)
        for row, index in zip(rows, ledger.at([row.id for row in rows]).tolist(), strict=True):
            # Check each side: it has no debt, it last spent in the past, and its rank follows from its history.
            url = row.url
            for side in ("hub", "authority"):
                holdings = float(cash[side][index])
                tally.worst = max(tally.worst, -holdings)
                if not holdings >= -slack:
                    tally.found("accounts", f"{url} holds {holdings!r} on its {side} side.")
                updated = float(getattr(ledger, f"{side}_updated")[index])
                if updated > virtual.clock:
                    tally.found(
                        "clock", f"{url} spent its {side} cash at {updated!r}, the clock is at {virtual.clock!r}."
                    )
                history = getattr(ledger, f"{side}_history")[index : index + 1]
                _rank(row, side, history, tally)
            if ledger.newborn[index] != 0.0:
                tally.found("accounts", f"{url} never got its first cash.")
            # The last bit of a float may change a lane by one.
            judged = ledger.rule.standing_value == "authority" and not row.was_fetched
            if judged and not int(best[index]) - 1 <= row.lane <= int(worst[index]) + 1:
                tally.found("marks", f"{url} has lane {row.lane}, not {best[index]} to {worst[index]}.")

    def whole(self, sums: list[Any], _rule: Rule, quiet: bool, tally: Tally) -> dict[str, Any]:
        """Check that the total cash is 2(N + 1), and that the totals on the virtual page are those of its pages."""
        # Turn stored cash into real cash. `apart`: the pages that a rebasing pass has done.
        virtual, (pages, hub, authority, hub_history, authority_history, apart) = sums
        hub += pages * virtual.hub_offset - apart * virtual.hub_base
        authority += pages * virtual.authority_offset - apart * virtual.authority_base
        holdings = hub + authority + virtual.hub_cash + virtual.authority_cash
        expected = total_cash(pages)
        # Compare the totals. Sums of stored cash lose precision by the factor by which the offsets exceed the cash.
        scale = max(expected, pages * max(abs(virtual.hub_offset), abs(virtual.authority_offset)))
        gap = abs(holdings - expected) / scale
        if quiet and gap > TOLERANCE:
            tally.found("total cash", f"All cash is {holdings!r}, but 2 · ({pages} + 1) was given.")
        if quiet and virtual.pages != pages:
            tally.found("total cash", f"The virtual page counts {virtual.pages} pages, there are {pages}.")
        for name, total, summed in (
            ("hub histories", virtual.hub_total, hub_history),
            ("authority histories", virtual.authority_total, authority_history),
            ("hub cash", virtual.hub_held, hub),
        ):
            if quiet and abs(total - summed) > TOLERANCE * max(scale, abs(summed)):
                tally.found("totals", f"The {name} of all pages are {summed!r}, their total is {total!r}.")
        figures = {"total_cash": holdings, "should_be": expected, "gap": gap, "virtual_hub_cash": virtual.hub_cash}
        figures |= {"virtual_authority_cash": virtual.authority_cash, "clock": virtual.clock}
        return figures | {"hub_offset": virtual.hub_offset, "authority_offset": virtual.authority_offset}

    def counts(self, tx: Tx) -> list[list[int]]:
        """Return counts of queues, leases, retries, priorities, ranks, and cash."""
        pages, indexes = tx.one("audit/counts")
        more_pages, more_indexes = tx.one("classic/counts")
        return [pages + more_pages, indexes + more_indexes]


def _rank(row: Any, side: str, history: Any, tally: Tally) -> None:
    wanted, stored = int(algebra.rank(history)[0]), getattr(row, f"{side}_rank")
    if stored != (None if wanted == NONE else wanted):
        tally.found("marks", f"{row.url} has {side}_rank {stored}, not {wanted}.")
    if getattr(row, f"{side}_priority") is not None:
        tally.found("marks", f"{row.url} has a {side}_priority, which the exact engine uses.")
