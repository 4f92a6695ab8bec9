"""The ledger of the exact engine: signed cash, which changes by `algebra` when links change.

Statements: accounts/*.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from graphbrain.base.numeric.arrays import Floats, Ints
from graphbrain.base.numeric.rules import Rule
from graphbrain.graph.connection import Tx
from graphbrain.scores.accounts import algebra
from graphbrain.scores.accounts.algebra import NONE
from graphbrain.scores.accounts.ledger import Accounts, Blocks

__all__ = ["AccountMarks", "Ledger"]

ROUNDS = 8
"""The largest number of rounds of pushes, in one transaction, between pages that pay each other."""

_COLUMNS = (
    "hub_history",
    "hub_cash",
    "hub_paid",
    "out_weight",
    "authority_history",
    "authority_cash",
    "authority_paid",
    "in_weight",
    "relevance",
    "depth",
    "first_fetched",
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


class AccountMarks:
    """The marks that follow from accounts: ranks, priorities and lanes."""

    def __init__(self, ledger: Ledger) -> None:
        hub, authority = ledger.hub_score, ledger.authority_score
        self.hub_rank = algebra.rank(hub)
        self.authority_rank = algebra.rank(authority)
        self.hub_priority, self.authority_priority = ledger.urgency("hub"), ledger.urgency("authority")
        self._ledger = ledger

    @property
    def lane(self) -> Ints:
        """Return the lanes that follow from the accounts at the time of the call."""
        return self._ledger.lanes()


class Ledger(Accounts):
    """The ledger of the exact engine. Cash can be negative: a link that disappears takes back what it has paid."""

    engine = "exact"
    keeps_payouts = True
    columns = _COLUMNS
    locking = "accounts/lock"
    writing = "accounts/write"
    first: ClassVar[Mapping[str, float]] = {
        "hub_history": 1.0,
        "hub_cash": 0.0,
        "hub_paid": 0.0,
        "authority_history": 1.0,
        "authority_cash": 0.0,
        "authority_paid": 0.0,
    }

    hub_paid: Floats
    authority_paid: Floats

    def __init__(self, rows: list[list[Any]], rule: Rule, unlinked: Sequence[int] = ()) -> None:
        super().__init__(rows, rule, unlinked)
        self.payout: Floats = np.ones(len(rows))
        self.own_payout: Floats = np.full(len(rows), np.nan)
        self._pays = False
        self.marks_before = AccountMarks(self)

    def read_payouts(self, tx: Tx) -> None:
        """Read the payouts of the pages. `write` will pay the difference to the payouts due."""
        rows = tx.one("accounts/payouts", ids=self.ids.tolist())[0]
        table = np.array(rows, dtype=np.float64).reshape(len(rows), 3)
        self.payout, own = table[:, 1].copy(), table[:, 2]
        self.own_payout = np.where(own < 0.0, np.nan, own)
        self._own_before = self.own_payout.copy()
        self._pays = True

    def due_payout(self) -> Floats:
        """Return the payout due to each page: the payout that was set by hand, or without one the rule's."""
        by_rule = algebra.payout(self.rule, self.relevance, self.first_fetched >= 0.0, self.is_seed, self.hosts)
        return np.where(np.isnan(self.own_payout), by_rule, self.own_payout)

    def set_payouts(self, tx: Tx, payouts: Mapping[int, float | None]) -> None:
        """Set payouts by hand (id → payout, None: the rule's). `write` pays the difference to the cash of both
        sides."""
        if not payouts:
            return
        if not self._pays:
            self.read_payouts(tx)
        amounts = [np.nan if value is None else value for value in payouts.values()]
        self.own_payout[self.at(list(payouts))] = amounts

    def waiting(self, side: str) -> Floats:
        """Return the amounts that a push of this side of each page would pay."""
        keep, score, weight, paid = self._side(side)
        return algebra.residual(keep, score, weight, paid)

    def _weigh(self, a: Ints, b: Ints, w: Floats) -> None:
        """Change weights. Each end receives the amount that the other end's links have got, or gives it back."""
        np.add.at(self.hub_cash, a, w * self.authority_paid[b])
        np.add.at(self.authority_cash, b, w * self.hub_paid[a])
        np.add.at(self.out_weight, a, w)
        np.add.at(self.in_weight, b, w)

    def bury(self, page: int) -> None:
        """Remove a page. Nothing is to do: without links, its account has only its payout."""

    def urgency(self, side: str) -> Ints:
        """Return the priorities of a side: the hub, the authority, or a forward account."""
        if side not in ("hub", "authority"):
            return super().urgency(side)
        keep, score, weight, paid = self._side(side)
        return algebra.priority(algebra.residual(keep, score, weight, paid), weight, self.rule.eps)

    def push(self, side: str, pages: Ints, payers: Ints, payees: Ints) -> None:
        """Push a side: the hub, the authority, or a forward account."""
        if side not in ("hub", "authority"):
            super().push(side, pages, payers, payees)
            return
        score = self.hub_score if side == "hub" else self.authority_score
        self.prescribe(side, pages, score[pages], payers, payees)

    def spend_among(self, links: Mapping[int, Sequence[int]]) -> tuple[int, int]:
        """Push between new pages and the pages that name them until little cash waits between them.

        The pages are locked and written in any case. A later push would have to lock them again.
        """
        sources = self.at([page for page, others in links.items() for _ in others])
        targets = self.at([other for others in links.values() for other in others])
        if not len(sources):
            return 0, 0
        weights = self.weights(sources, targets)
        ends = {"hub": (sources, targets), "authority": (targets, sources)}
        whole = {side: self._whole(side, payers, weights) for side, (payers, _) in ends.items()}
        pushes = payments = 0
        for _ in range(ROUNDS):
            before = pushes
            # Push the pages whose waiting cash is worth it.
            for side, (payers, payees) in ends.items():
                keep, score, weight, paid = self._side(side)
                waiting = algebra.residual(keep, score, weight, paid)
                worth = whole[side] & (algebra.priority(waiting, weight, self.rule.eps) != NONE)
                if not worth.any():
                    continue
                chosen, pays = np.flatnonzero(worth), worth[payers]
                self.prescribe(side, chosen, score[chosen], payers[pays], payees[pays])
                pushes += len(chosen)
                payments += int(pays.sum())
            if pushes == before:
                break
        return pushes, payments

    def _whole(self, side: str, payers: Ints, weights: Floats) -> NDArray[np.bool_]:
        """Return a mask of the places whose links on this side are all among these, and are few enough for a push.

        `weights[i]` is the weight of the link of `payers[i]`. Weights are whole multiples of 1/1024: their sums are
        exact.
        """
        weight = self.out_weight if side == "hub" else self.in_weight
        count, seen = np.bincount(payers, minlength=len(weight)), np.bincount(payers, weights, len(weight))
        whole: NDArray[np.bool_] = (seen == weight) & (count <= self.rule.max_payees)
        return whole

    def off(self, side: str, places: Ints, goals: Floats, share: float) -> NDArray[np.bool_]:
        """Return a mask of the places at which a push for these goals would pay more than this share of the goal."""
        keep, _, weight, paid = self._side(side)
        waiting = np.abs(keep[places] * goals - weight[places] * paid[places])
        return (waiting > share * goals) & (weight[places] > 0.0)

    def prescribe(self, side: str, pages: Ints, goals: Floats, payers: Ints, payees: Ints) -> None:
        """Spend as if the scores of the places `pages` were the `goals`.

        H becomes the goal, e takes the difference, Z becomes keep·H/d, and the links `payers[i]` – `payees[i]` (all
        links of `pages`) pay the step of Z. A push is the case in which the goal is the page's score: H += e, e = 0.
        """
        # Bring the account of each page to its goal.
        history = getattr(self, f"{side}_history")
        cash = getattr(self, f"{side}_cash")
        keep, _, weight, paid = self._side(side)
        cash[pages] = (history[pages] + cash[pages]) - goals
        history[pages] = goals
        new = keep[pages] * goals / weight[pages]
        step = np.zeros(len(history))
        step[pages] = new - paid[pages]
        paid[pages] = new
        # Pay the other side along the links.
        other = self.authority_cash if side == "hub" else self.hub_cash
        sources, targets = (payers, payees) if side == "hub" else (payees, payers)
        np.add.at(other, payees, self.weights(sources, targets) * step[payers])

    def _side(self, side: str) -> tuple[Floats, Floats, Floats, Floats]:
        """Return keep, score, weight and paid of one side."""
        if side == "hub":
            keep = algebra.keep_hub(self.out_weight, self.rule.alpha)
            return keep, self.hub_score, self.out_weight, self.hub_paid
        keep = algebra.keep_authority(self.in_weight, self.relevance, self.rule.alpha)
        return keep, self.authority_score, self.in_weight, self.authority_paid

    def absorb(self, side: str, goals: Floats) -> None:
        """Move the cash of one side to its history for pages that have already paid all that these goals give.

        `goals` has a score for every place, nan for none.
        """
        history, cash = getattr(self, f"{side}_history"), getattr(self, f"{side}_cash")
        keep, _, weight, paid = self._side(side)
        due = np.divide(keep * goals, weight, out=np.zeros(len(paid)), where=weight > 0.0)
        settled = (weight > 0.0) & (paid == due)
        history[settled] += cash[settled]
        cash[settled] = 0.0

    def write(self, tx: Tx, now: float, all_marks: bool = False) -> AccountMarks:
        """Write the differences from the locked state and the marks that follow. Return the marks."""
        # Write the accounts of sides that have spent, and of sides that only received.
        payouts = self._pay() if self._pays else []
        marks, hub = AccountMarks(self), self._changed("hub_history", "hub_paid")
        authority = self._changed("authority_history", "authority_paid")
        blocks = {
            "hubs_spent": self._block(hub, "hub_cash", "hub_history", "hub_paid"),
            "hubs_received": self._block(self._changed("hub_cash") & ~hub, "hub_cash"),
            "authorities_spent": self._block(authority, "authority_history", "authority_paid", "authority_cash"),
            "authorities_received": self._block(self._changed("authority_cash") & ~authority, "authority_cash"),
            "payouts": payouts,
        }
        # Write the marks.
        for side, weight in (("hub", "out_weight"), ("authority", "in_weight")):
            mark, before = getattr(marks, f"{side}_priority"), getattr(self.marks_before, f"{side}_priority")
            blocks[f"{side}_priorities"] = self._mark(side, mark, before, all_marks, weight)
        self._send(tx, blocks | self._rank_blocks(marks, all_marks) | self._link_blocks(all_marks), now=now)
        return marks

    def write_settled(self, tx: Tx, hubs: Ints, authorities: Ints) -> AccountMarks:
        """Write the changes of a settling pass. Return the marks that follow from the accounts.

        The pass itself writes new priorities at its end. Until then the settled sides (places `hubs` and `authorities`)
        lose their priority, and no side gets one. The time of the settling is a property of the brain, not of pages.
        """
        # Find what has changed since the pages were locked.
        payouts = self._pay() if self._pays else []
        marks, received = AccountMarks(self), self._changed("authority_cash")
        hub, authority = np.zeros((2, len(self.ids)), dtype=np.bool_)
        hub[hubs], authority[authorities] = True, True
        hubs_own = ("hub_history", "hub_paid")
        authorities_own = ("authority_history", "authority_paid", "authority_cash")
        # Each block has the columns of one group of pages.
        blocks = {
            "settled": self._block(hub & authority, *hubs_own, *authorities_own),
            "hubs_settled": self._block(hub & ~authority, *hubs_own),
            "authorities_settled": self._block(authority & ~hub, *authorities_own),
            "hubs_received": self._block(self._changed("hub_cash"), "hub_cash"),
            "authorities_received": self._block(received & ~authority, "authority_cash"),
            "payouts": payouts,
        }
        # Other sides keep their priority, or lose it if they need no push.
        for side, sides, settled in (("hub", "hubs", hub), ("authority", "authorities", authority)):
            new, before = getattr(marks, f"{side}_priority"), getattr(self.marks_before, f"{side}_priority")
            absorbed = self._changed(f"{side}_history") & ~settled
            blocks[f"{sides}_absorbed"] = self._block(absorbed, f"{side}_history")
            blocks[f"{side}_priorities"] = self._block((new == NONE) & (before != NONE) & ~settled, new)
        self._send(tx, blocks | self._rank_blocks(marks, False), now=0.0)
        return marks

    def _rank_blocks(self, marks: AccountMarks, all_marks: bool) -> Blocks:
        """Return the blocks of ranks, lanes and factors of sections."""
        before = self.marks_before
        return self._place_blocks(all_marks) | {
            "hub_ranks": self._mark(None, marks.hub_rank, before.hub_rank, all_marks),
            "authority_ranks": self._mark(None, marks.authority_rank, before.authority_rank, all_marks),
        }

    def _pay(self) -> list[list[Any]]:
        """Pay both sides the difference between the payout due and the payout paid. Return the block of payouts."""
        payout = self.due_payout()
        self.hub_cash += payout - self.payout
        self.authority_cash += payout - self.payout
        # Write payouts that have changed, or that an operator has set or reset.
        by_hand, was_by_hand = ~np.isnan(self.own_payout), ~np.isnan(self._own_before)
        changed = (payout != self.payout) | (by_hand != was_by_hand) | (by_hand & (payout != self._own_before))
        self.payout = payout
        return self._block(changed, np.where(payout == 1.0, np.nan, payout), np.where(by_hand, payout, np.nan))
