"""OPIC-HITS of 2015 as pure functions of arrays: each side spends all its cash, with a virtual page and a window.

Each page has two sides with cash, and a history of the cash that it has spent. Hub cash passes forward to the authority
of the successors, authority cash passes back to the hub of the predecessors. The virtual page takes the cash that is
not passed on, and pays all pages in equal parts. Each page brings 1 + 1 cash, and so does the virtual page, so the
total of N pages is always 2·(N + 1). Two offsets hold the amount that the virtual page has paid to every page: real
cash = stored cash + offset.

OPIC: Abiteboul, Preda, Cobena, "Adaptive on-line page importance computation", WWW 2003, sections 3 and 4 (the window).
Hub and authority cash, relevance and the offsets: Pedro Lopez-Adeva and Shane Evans, crawl-frontier, 2015.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from graphbrain.base.numeric.arrays import Floats, Ints
from graphbrain.base.numeric.rules import ClassicOptions, total_cash

__all__ = [
    "Books",
    "Side",
    "Turn",
    "Virtual",
    "authority_share",
    "history",
    "hub_share",
    "spend",
]


@dataclass(slots=True)
class Virtual:
    """The virtual page, and the values that all pages share. It has a hub and an authority side, as any page has.

    Attributes:
        pages: The number of pages.
        hub_offset: The amount that the virtual page has paid the hub side of each page so far.
        authority_offset: The amount that it has paid the authority side of each page so far.
        hub_total: The sum of the hub histories of all pages.
        authority_total: The sum of the authority histories of all pages.
        hub_held: The hub cash of all pages.
        spent: The cash spent by all pages so far.
        stirred: The value of `spent` at the last change of the graph.
        clock: The cash spent, or seconds.
        rebased: During a rebasing pass, pages with smaller ids have the bases in their stored cash.
        hub_base: The part of the hub offset that the pass moves into stored cash.
        authority_base: The same part of the authority offset.
    """

    pages: int = 0
    hub_cash: float = 1.0
    authority_cash: float = 1.0
    hub_history: float = 0.0
    authority_history: float = 0.0
    updated: float = 0.0
    hub_offset: float = 0.0
    authority_offset: float = 0.0
    hub_total: float = 0.0
    authority_total: float = 0.0
    spent: float = 0.0
    stirred: float = 0.0
    clock: float = 0.0
    rebased: int = 0
    hub_base: float = 0.0
    authority_base: float = 0.0
    hub_held: float = 0.0

    @property
    def authority_held(self) -> float:
        """Return the authority cash of all pages."""
        return total_cash(self.pages) - self.hub_held - self.hub_cash - self.authority_cash

    def pay(self, options: ClassicOptions) -> None:
        """Pay all pages in equal parts by raising the offsets. A page with negative cash keeps its part until the cash
        is 0."""
        if self.pages <= 0:
            return
        length, passed = options.length(self.pages), max(0.0, self.clock - self.updated)
        hub, authority = max(0.0, self.hub_cash), max(0.0, self.authority_cash)
        # Authority cash of the virtual page passes to the hub side, and the reverse, as with any page.
        before = self.hub_offset, self.authority_offset
        self.hub_offset += authority / self.pages
        self.authority_offset += hub / self.pages
        self.hub_history = float(history(self.hub_history, hub, passed, length))
        self.authority_history = float(history(self.authority_history, authority, passed, length))
        # Subtract exactly the rise of the offsets, so that rounding loses no cash.
        self.hub_held += self.pages * (self.hub_offset - before[0])
        self.authority_cash -= self.pages * (self.hub_offset - before[0])
        self.hub_cash -= self.pages * (self.authority_offset - before[1])
        self.updated = self.clock

    @property
    def rebasing(self) -> bool:
        """Return True while a pass moves parts of the offsets into the stored cash."""
        return self.rebased > 0

    def end_rebasing(self) -> None:
        """Remove the bases from the offsets, after all pages have them in their stored cash."""
        self.hub_offset -= self.hub_base
        self.authority_offset -= self.authority_base
        self.rebased, self.hub_base, self.authority_base = 0, 0.0, 0.0

    def settled(self, options: ClassicOptions) -> bool:
        """Return True if the total cash has been spent `passes` times since the last change of the graph."""
        return not self.pages or self.spent - self.stirred >= options.passes * total_cash(self.pages)

    def hub_offsets(self, ids: Ints) -> Floats:
        """Return the amounts to add to the stored hub cash of each page."""
        return self.hub_offset - np.where(ids < self.rebased, self.hub_base, 0.0)

    def authority_offsets(self, ids: Ints) -> Floats:
        """Return the amounts to add to the stored authority cash of each page."""
        return self.authority_offset - np.where(ids < self.rebased, self.authority_base, 0.0)


@dataclass(slots=True)
class Side:
    """One side of some pages, in real cash. `share`: the part of the cash that passes along links. `weight`: the sum of
    the weights of these links."""

    cash: Floats
    history: Floats
    updated: Floats
    weight: Floats
    share: Floats


@dataclass(slots=True)
class Books:
    """The two sides of some pages."""

    hub: Side
    authority: Side


@dataclass(slots=True)
class Turn:
    """One side of one page that is to spend: the places of its neighbours and the weights of the links to them."""

    hub: bool
    place: int
    payees: Ints
    weights: Floats = field(default_factory=lambda: np.ones(0))


def history(before: Floats | float, cash: Floats | float, passed: Floats | float, window: float) -> Floats | float:
    """Return the history after a side spends `cash`, with `passed` units of the clock since the last time.

    The result is H·(1 − Δ/T) + c within the window T, and c·T/Δ beyond it: the interpolated cash of a window (WWW 2003,
    section 4). A clock that ran backwards counts as unchanged.
    """
    if not np.isfinite(window):
        return before + cash
    part = np.maximum(passed, 0.0) / window
    return np.where(part < 1.0, before * (1.0 - part) + cash, cash / np.maximum(part, 1.0))


def hub_share(weight: Floats, root_share: float) -> Floats:
    """Return the share of hub cash that passes along the links: d/(d+1), at most 1 − root_share, and 0
    without links."""
    d = np.maximum(weight, 0.0)
    return np.minimum(d / (d + 1.0), 1.0 - root_share)


def authority_share(weight: Floats, relevance: Floats, rule: str, root_share: float) -> Floats:
    """Return the share of authority cash that passes back along the links, by relevance r (nan: ½).

    With the rule `rational` it is d/(d + (1−r)/r): relevance 0 passes nothing back, 1 passes all. With `polynomial` it
    is the formula of crawl-frontier, 2r·((2d/(d+1))·(1−r) + r − ½). Both agree at r = 0, ½ and 1. The polynomial
    exceeds 1 between them for d ≥ 4; the virtual page then pays the difference. For d < 1/3, which only weights below 1
    cause, it is below 0 near r = 0. The share is then 0, because a page cannot owe.
    """
    r = np.where(np.isnan(relevance), 0.5, np.clip(relevance, 0.0, 1.0))
    if rule == "polynomial":
        share = np.maximum(2.0 * r * ((2.0 * weight / (weight + 1.0)) * (1.0 - r) + (r - 0.5)), 0.0)
    else:
        share = np.divide(weight * r, weight * r + 1.0 - r, out=np.zeros(r.shape), where=weight * r > 0.0)
    share = np.where(weight > 0.0, share, 0.0)
    return np.minimum(share, 1.0 - root_share) if root_share > 0.0 else share


def spend(books: Books, turns: Sequence[Turn], virtual: Virtual, options: ClassicOptions) -> list[bool]:
    """Let sides spend all their cash one after the other, and return for each whether it had cash.

    A later side also spends the cash that it gets from earlier ones. `books` and `virtual` are changed in place. The
    virtual page only receives. The caller then calls `Virtual.pay`.
    """
    window = options.length(virtual.pages)
    by_cash = options.window_unit == "cash"
    had_cash = []
    for turn in turns:
        own, other = (books.hub, books.authority) if turn.hub else (books.authority, books.hub)
        place, cash = turn.place, float(own.cash[turn.place])
        had_cash.append(cash > 0.0)
        if cash <= 0.0:
            continue
        # Pay the share of its links to the payees, by weight. The rest is for the virtual page.
        own.cash[place] = 0.0
        to_links = 0.0
        if len(turn.payees) and own.weight[place] > 0.0:
            to_links = cash * float(own.share[place])
            other.cash[turn.payees] += to_links / float(own.weight[place]) * turn.weights
        # Add the cash to its history, which fades by the window.
        before = float(own.history[place])
        after = float(history(before, cash, virtual.clock - float(own.updated[place]), window))
        own.history[place] = after
        own.updated[place] = virtual.clock
        # Update the virtual page.
        if turn.hub:
            virtual.authority_cash += cash - to_links
            virtual.hub_total += after - before
        else:
            virtual.hub_cash += cash - to_links
            virtual.authority_total += after - before
        virtual.spent += cash
        if by_cash:
            virtual.clock += cash
    return had_cash
