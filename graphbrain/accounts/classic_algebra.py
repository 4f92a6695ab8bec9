"""OPIC-HITS as its authors ran it: cash that is spent whole, a virtual page, a window; pure functions of arrays.

Each page has two sides with cash and a history of the cash it has spent. Hub cash goes forward to the successors'
authority, authority cash goes back to the predecessors' hub; the virtual page takes what is not passed on and pays
all pages alike. A page brings 1 + 1 cash with it, the virtual page too, so the total of N pages is 2·(N + 1) for
ever. What the virtual page has paid to everybody stands in two offsets: real cash = stored cash + offset.
OPIC: Abiteboul, Preda, Cobena, "Adaptive on-line page importance computation", WWW 2003, sections 3 and 4 (the
window); hub and authority cash, relevance and the offsets: Pedro Lopez-Adeva and Shane Evans, crawl-frontier, 2015.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from graphbrain.arrays import Floats, Ints
from graphbrain.rules import Options, total_cash

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
    """The virtual page and what goes for all pages; `hub` and `authority` name its sides as those of any page.

    `offset`: what it has paid each page so far. `total`: sum of all pages' histories. `hub_held`: the hub cash of all
    pages. `spent`: cash spent by all
    pages so far; `stirred`: what that was when the graph last changed. `clock`: cash spent, or seconds.
    `rebased`, `hub_base`, `authority_base`: pages with smaller ids have these parts of the offsets in their stored
    cash already (a pass that is under way).
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
        """The authority cash of all pages."""
        return total_cash(self.pages) - self.hub_held - self.hub_cash - self.authority_cash

    def pay(self, options: Options) -> None:
        """Pay all pages alike, by raising the offsets. One that owes keeps what it gets until it is even."""
        if self.pages <= 0:
            return
        length, passed = options.length(self.pages), max(0.0, self.clock - self.updated)
        hub, authority = max(0.0, self.hub_cash), max(0.0, self.authority_cash)
        # Authority cash of the virtual page goes to the hubs' side, and the other way round, as with any page.
        before = self.hub_offset, self.authority_offset
        self.hub_offset += authority / self.pages
        self.authority_offset += hub / self.pages
        self.hub_history = float(history(self.hub_history, hub, passed, length))
        self.authority_history = float(history(self.authority_history, authority, passed, length))
        # What was paid is what the offsets have risen by, to the last bit.
        self.hub_held += self.pages * (self.hub_offset - before[0])
        self.authority_cash -= self.pages * (self.hub_offset - before[0])
        self.hub_cash -= self.pages * (self.authority_offset - before[1])
        self.updated = self.clock

    @property
    def rebasing(self) -> bool:
        """Is the pass under way that puts parts of the offsets into the stored cash?"""
        return self.rebased > 0

    def end_rebasing(self) -> None:
        """All pages have the bases in their stored cash: the offsets need them no more."""
        self.hub_offset -= self.hub_base
        self.authority_offset -= self.authority_base
        self.rebased, self.hub_base, self.authority_base = 0, 0.0, 0.0

    def settled(self, options: Options) -> bool:
        """Has the total cash been spent `passes` times over since the graph last changed?"""
        return not self.pages or self.spent - self.stirred >= options.passes * total_cash(self.pages)

    def hub_offsets(self, ids: Ints) -> Floats:
        """What must be added to each page's stored hub cash."""
        return self.hub_offset - np.where(ids < self.rebased, self.hub_base, 0.0)

    def authority_offsets(self, ids: Ints) -> Floats:
        """What must be added to each page's stored authority cash."""
        return self.authority_offset - np.where(ids < self.rebased, self.authority_base, 0.0)


@dataclass(slots=True)
class Side:
    """One side of some pages, real cash; `share` of the cash goes on along links, `weight` is their sum."""

    cash: Floats
    history: Floats
    updated: Floats
    weight: Floats
    share: Floats


@dataclass(slots=True)
class Books:
    """Both sides of some pages."""

    hub: Side
    authority: Side


@dataclass(slots=True)
class Turn:
    """One side of one page that is to spend: places of its neighbours and the weights of the links to them."""

    hub: bool
    place: int
    payees: Ints
    weights: Floats = field(default_factory=lambda: np.ones(0))


def history(before: Floats | float, cash: Floats | float, passed: Floats | float, window: float) -> Floats | float:
    """The history after spending `cash`, `passed` units of the clock after the last time.

    H·(1 − Δ/T) + c within the window T, c·T/Δ beyond it: the cash of a window, interpolated (WWW 2003, section 4).
    A clock that went back counts as standing.
    """
    if not np.isfinite(window):
        return before + cash
    part = np.maximum(passed, 0.0) / window
    return np.where(part < 1.0, before * (1.0 - part) + cash, cash / np.maximum(part, 1.0))


def hub_share(weight: Floats, root_share: float) -> Floats:
    """The share of hub cash that goes on along the links: d/(d+1), at most 1 − root_share; none without links."""
    d = np.maximum(weight, 0.0)
    return np.minimum(d / (d + 1.0), 1.0 - root_share)


def authority_share(weight: Floats, relevance: Floats, rule: str, root_share: float) -> Floats:
    """The share of authority cash that goes back along the links, by relevance (nan: ½).

    `rational`: d/(d + (1−r)/r), so that 0 gives nothing back, 1 all. `polynomial`: the ancestors'
    2r·((2d/(d+1))·(1−r) + r − ½), which is the same at 0, ½ and 1, and between exceeds 1 for d ≥ 4: the virtual page
    then pays. For d < 1/3, which only weights below 1 make, it falls below 0 near r = 0: nothing goes back then, since
    a page cannot owe.
    """
    r = np.where(np.isnan(relevance), 0.5, np.clip(relevance, 0.0, 1.0))
    if rule == "polynomial":
        share = np.maximum(2.0 * r * ((2.0 * weight / (weight + 1.0)) * (1.0 - r) + (r - 0.5)), 0.0)
    else:
        share = np.divide(weight * r, weight * r + 1.0 - r, out=np.zeros(r.shape), where=weight * r > 0.0)
    share = np.where(weight > 0.0, share, 0.0)
    return np.minimum(share, 1.0 - root_share) if root_share > 0.0 else share


def spend(books: Books, turns: Sequence[Turn], virtual: Virtual, options: Options) -> list[bool]:
    """Let sides spend all their cash, one after the other: each spends also what it got in this row.

    Changes `books` and `virtual` in place (the virtual page only receives; `Virtual.pay` comes after); says of each
    turn whether there was anything to spend.
    """
    window = options.length(virtual.pages)
    by_cash = options.window_unit == "cash"
    did = []
    for turn in turns:
        own, other = (books.hub, books.authority) if turn.hub else (books.authority, books.hub)
        place, cash = turn.place, float(own.cash[turn.place])
        did.append(cash > 0.0)
        if cash <= 0.0:
            continue
        own.cash[place] = 0.0
        gone = 0.0
        if len(turn.payees) and own.weight[place] > 0.0:
            gone = cash * float(own.share[place])
            other.cash[turn.payees] += gone / float(own.weight[place]) * turn.weights
        before = float(own.history[place])
        after = float(history(before, cash, virtual.clock - float(own.updated[place]), window))
        own.history[place] = after
        own.updated[place] = virtual.clock
        if turn.hub:
            virtual.authority_cash += cash - gone
            virtual.hub_total += after - before
        else:
            virtual.hub_cash += cash - gone
            virtual.authority_total += after - before
        virtual.spent += cash
        if by_cash:
            virtual.clock += cash
    return did
