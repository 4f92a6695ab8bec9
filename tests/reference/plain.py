"""A third opinion: OPIC-HITS with signed cash in plain Python, for webs of a handful of pages.

Dictionaries and loops, a method for each rule of docs/explanation/scores.md, slow and plain. Between any two calls
the invariant holds:
for each side of each page, history + cash = payout + Σ over its neighbours of weight · paid.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

__all__ = ["AUTHORITY", "HUB", "Plain", "Side"]

HUB, AUTHORITY = "hub", "authority"
_OTHER = {HUB: AUTHORITY, AUTHORITY: HUB}


@dataclass
class Side:
    """One side of one page."""

    history: float
    cash: float = 0.0
    paid: float = 0.0

    @property
    def score(self) -> float:
        """What the side is worth."""
        return self.history + self.cash


@dataclass
class Plain:
    """A web and its accounts. `links`: (source, target) → weight."""

    alpha: float = 0.15
    sides: dict[tuple[str, int], Side] = field(default_factory=dict)
    links: dict[tuple[int, int], float] = field(default_factory=dict)
    relevance: dict[int, float] = field(default_factory=dict)
    payout: dict[int, float] = field(default_factory=dict)

    def add(self, page: int) -> None:
        """A new page: its payout is its history, and it holds nothing else."""
        if (HUB, page) not in self.sides:
            self.payout[page] = 1.0
            self.sides[HUB, page] = Side(1.0)
            self.sides[AUTHORITY, page] = Side(1.0)

    def link(self, source: int, target: int, weight: float = 1.0) -> None:
        """A link appears: each end is paid what the other's links have got already."""
        self.add(source)
        self.add(target)
        self.links[source, target] = weight
        self._settle_link(source, target, weight)

    def unlink(self, source: int, target: int) -> None:
        """A link disappears: each end pays back."""
        self._settle_link(source, target, -self.links.pop((source, target)))

    def _settle_link(self, source: int, target: int, weight: float) -> None:
        hub, authority = self.sides[HUB, source], self.sides[AUTHORITY, target]
        hub.cash += weight * authority.paid
        authority.cash += weight * hub.paid

    def forget(self, page: int) -> None:
        """A page goes: its links first."""
        for source, target in [pair for pair in self.links if page in pair]:
            self.unlink(source, target)
        del self.sides[HUB, page], self.sides[AUTHORITY, page], self.payout[page]
        self.relevance.pop(page, None)

    def set_payout(self, page: int, payout: float) -> None:
        """The virtual page pays more or less."""
        for side in (HUB, AUTHORITY):
            self.sides[side, page].cash += payout - self.payout[page]
        self.payout[page] = payout

    def neighbours(self, side: str, page: int) -> dict[int, float]:
        """Whom this side pays: page → weight of the link."""
        if side == HUB:
            return {q: w for (p, q), w in self.links.items() if p == page}
        return {p: w for (p, q), w in self.links.items() if q == page}

    def keep(self, side: str, page: int) -> float:
        """The share of the cash that goes on."""
        d = sum(self.neighbours(side, page).values())
        if d == 0:
            return 0.0
        if side == HUB:
            return min(d / (d + 1), 1 - self.alpha)
        r = min(max(self.relevance.get(page, 0.5), 0.001), 0.999)
        return min(d / (d + (1 - r) / r), 1 - self.alpha)

    def push(self, side: str, page: int) -> None:
        """Spend: the neighbours' other sides get what makes each unit of link weight equal."""
        payees = self.neighbours(side, page)
        if not payees:
            return
        own = self.sides[side, page]
        own.history += own.cash
        own.cash = 0.0
        goal = self.keep(side, page) * own.history / sum(payees.values())
        for payee, weight in payees.items():
            self.sides[_OTHER[side], payee].cash += weight * (goal - own.paid)
        own.paid = goal

    def waiting(self, side: str, page: int) -> float:
        """What a push would pay."""
        own = self.sides[side, page]
        d = sum(self.neighbours(side, page).values())
        return self.keep(side, page) * own.score - d * own.paid

    def settle(self, least: float) -> None:
        """Push until no side has more than `least` waiting."""
        for _ in range(100_000):
            worst = max(self.sides, key=lambda key: abs(self.waiting(*key)))
            if abs(self.waiting(*worst)) <= least:
                return
            self.push(*worst)
        raise AssertionError("it does not settle")

    def imbalance(self) -> float:
        """By how much the worst account breaks the invariant."""
        worst = 0.0
        for (side, page), own in self.sides.items():
            due = math.fsum(
                w * self.sides[_OTHER[side], other].paid for other, w in self.neighbours(side, page).items()
            )
            worst = max(worst, abs(own.score - self.payout[page] - due))
        return worst
