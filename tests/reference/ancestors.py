"""The classic engine in plain Python, one dictionary a side: written from the ancestors' description, slow and obvious.

It shares no line with graphbrain. `Ancestors.update` is one pass of theirs: the sides of highest cash, each spending
what it has when its turn comes, and then the virtual page. `random_opic` is what their text begins with: one score, and
pages in random order.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

__all__ = ["T1", "T4", "TOY", "Ancestors", "random_opic"]

TOY = {1: (2,), 2: (4,), 3: (1, 2, 4), 4: ()}
T1 = {1: (2, 3), 2: (4,), 3: (4,), 4: ()}
T4 = {0: (1, 2, 3, 4), 1: (0, 2), 2: (0, 3), 3: (0, 4), 4: (0, 1)}
VIRTUAL = None


@dataclass
class Ancestors:
    """A web (page → successors) and its accounts; the virtual page is the page None."""

    web: dict[int, tuple[int, ...]]
    relevance: dict[int, float] = field(default_factory=dict)
    window: float = 0.0
    time: float = 0.0

    def __post_init__(self) -> None:
        pages = [*self.web, VIRTUAL]
        self.cash = {(side, page): 1.0 for side in "ha" for page in pages}
        self.history = dict.fromkeys(self.cash, 0.0)
        self.last = dict.fromkeys(self.cash, 0.0)

    def hub(self, page: int) -> None:
        """cash/(d+1) to each successor's authority and to the virtual page."""
        cash, targets = self.cash["h", page], self.web[page]
        for target in (*targets, VIRTUAL):
            self.cash["a", target] += cash / (len(targets) + 1)
        self._remember("h", page)
        self.time += cash

    def authority(self, page: int) -> None:
        """cash·q/d to each predecessor's hub, the rest to the virtual page."""
        cash = self.cash["a", page]
        sources = [source for source, targets in self.web.items() if page in targets]
        r, d = self.relevance.get(page, 0.5), len(sources)
        q = 0.0 if r == 0.0 or not d else d / (d + (1 - r) / r)
        for source in sources:
            self.cash["h", source] += cash * q / d
        self.cash["h", VIRTUAL] += cash * (1 - q)
        self._remember("a", page)
        self.time += cash

    def virtual(self) -> None:
        """Everything it has, to all alike; its hub cash to their authority, its authority cash to their hub."""
        for side, other in ("ah", "ha"):
            for page in self.web:
                self.cash[other, page] += self.cash[side, VIRTUAL] / len(self.web)
        for side in "ha":
            self._remember(side, VIRTUAL)

    def _remember(self, side: str, page: int | None) -> None:
        at, cash = (side, page), self.cash[side, page]
        passed = self.time - self.last[at]
        if not self.window:
            self.history[at] += cash
        elif passed < self.window:
            self.history[at] = self.history[at] * (1 - passed / self.window) + cash
        else:
            self.history[at] = cash * self.window / passed
        self.cash[at], self.last[at] = 0.0, self.time

    def order(self) -> list[tuple[float, int, str]]:
        """All sides, the highest cash first; of equals (to nine digits) the higher page, its hub first."""
        sides = [(round(self.cash[side, page], 9), page, side) for side in "ha" for page in self.web]
        return sorted(sides, reverse=True)

    def update(self) -> list[tuple[float, int, str]]:
        """One pass over every side."""
        order = self.order()
        for _, page, side in order:
            (self.hub if side == "h" else self.authority)(page)
        self.virtual()
        return order

    def scores(self, side: str) -> list[float]:
        """Shares of the pages' histories."""
        total = sum(self.history[side, page] for page in self.web)
        return [self.history[side, page] / total for page in sorted(self.web)]


def random_opic(web: dict[int, tuple[int, ...]], steps: int, dice: random.Random) -> list[float]:
    """Each page's share of the history after so many steps of plain OPIC.

    The virtual page is a page like others, which links to all and is linked by all; each begins with a cash of 1. At
    each step one of them is drawn, and what it has goes to those it links to in equal parts.
    """
    links: dict[int | None, list[int | None]] = {page: [*targets, VIRTUAL] for page, targets in web.items()}
    links[VIRTUAL] = list(web)
    cash, history = dict.fromkeys(links, 1.0), dict.fromkeys(links, 0.0)
    pages = list(links)
    for _ in range(steps):
        page = dice.choice(pages)
        spent, cash[page] = cash[page], 0.0
        history[page] += spent
        for target in links[page]:
            cash[target] += spent / len(links[page])
    total = sum(history[page] for page in web)
    return [history[page] / total for page in sorted(web)]
