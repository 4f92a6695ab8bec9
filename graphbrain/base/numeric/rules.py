"""The settings of the accounts, on which all workers of a brain must agree, as they are stored on the (:Brain)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from graphbrain.base.numeric.arrays import Flags, Floats
from graphbrain.base.numeric.methods import DAMPING, Factor, factors
from graphbrain.base.urls.url_rules import NO_RULES, UrlRules, url_rules

__all__ = [
    "DAMPING",
    "FLOW_EPS",
    "LEAST_FORWARD",
    "LIVE_PAGERANK_EPS",
    "NO_FLOW",
    "SEED_FLOW",
    "ClassicOptions",
    "Forward",
    "Rule",
    "clip_relevance",
    "known_flow",
    "total_cash",
]


@dataclass(frozen=True, slots=True)
class ClassicOptions:
    """The options of the classic engine. The settings of the same names describe them."""

    window: float = 8.0
    window_unit: str = "cash"
    score: str = "history"
    root_share: float = 0.0
    relevance_rule: str = "rational"
    new_history: str = "zero"
    first_cash: str = "pages"
    passes: float = 16.0

    @classmethod
    def of(cls, brain: Mapping[str, Any]) -> ClassicOptions:
        """Return the options of the (:Brain) with these properties."""
        return cls(**{option.name: brain[option.name] for option in fields(cls) if option.name in brain})

    def clock(self, now: float, before: float = 0.0) -> float:
        """Return the present value of a side's clock that was at `before`.

        It is the server's time in seconds if the window is measured in seconds. A clock of cash does not advance here:
        pushes advance it.
        """
        return max(before, now) if self.window_unit == "seconds" else before

    def length(self, pages: float) -> float:
        """Return the length of the window in units of the clock (spent cash, or seconds); infinite without a window."""
        if not self.window:
            return np.inf
        return self.window * total_cash(pages) if self.window_unit == "cash" else self.window


def total_cash(pages: float) -> float:
    """Return the sum of all cash: 1 for each side of each page and of the virtual page."""
    return 2.0 * (pages + 1.0)


LEAST_RELEVANCE, MOST_RELEVANCE = 1e-3, 1 - 1e-3
SEED_FLOW = 10_000.0
"""The flow with which a seed begins. Other pages begin without flow. So the pages of a trap, however many a server
makes, share only the flow that links bring into it."""
LEAST_FORWARD = 1e-6
"""The least flow of a page with flow: pages deep in a trap would have even less."""
FLOW_EPS = 0.05
"""With `reach`: a page is pushed if more than this share of the amount that it should have passed on is missing."""
LIVE_PAGERANK_EPS = 0.3
"""The same for live PageRank: a page is pushed if more than this share of the amount that it should have passed on is
missing. With .05, sites whose pages all link to each other need ten pushes for each page that is read; with .3 they
need one push for several pages."""
NO_FLOW = 1.0
"""The flow that counts for a page without flow: no path leads from a seed to it, so its flow is not known."""


@dataclass(frozen=True, slots=True)
class Forward:
    """An account that pages pass on along their links, one number a page, and the way in which it is kept.

    A page has its first amount and, for each link to it, weight × the amount that each unit of its source's link weight
    has got so far. So it can be recomputed anywhere, at every commit.

    Attributes:
        name: The property that holds it; `paid` and `mark` name the others.
        seed: The first amount of a seed.
        other: The first amount of any other page.
        share: The share of its amount that a page passes on.
        again: True if pushes also pass on what a page receives later, when more than the share `eps` of the amount that
            it should have passed on is missing. False if a page passes it on only when it is read.
        eps: That share.
        by_reading: True if only pages that were read, and are no aliases, pass it on; False if all pages with links do.
        kept: True if it is passed on at all.
    """

    name: str
    seed: float
    other: float
    share: float
    again: bool
    eps: float
    by_reading: bool
    kept: bool

    @property
    def paid(self) -> str:
        """The property with the amount that each unit of weight of a page's links has received."""
        return f"{self.name}_paid"

    @property
    def mark(self) -> str:
        """The property by which pages wait for a push."""
        return f"{self.name}_priority"

    @property
    def pushed(self) -> bool:
        """True if pushes pass it on."""
        return self.kept and self.again

    @property
    def settles(self) -> bool:
        """True if a settling pass can compute it. Other accounts depend on which pages were read."""
        return self.pushed and not self.by_reading and self.seed == self.other

    def first(self, is_seed: Flags) -> Floats:
        """Return the first amounts of pages, without those that links bring."""
        return np.where(is_seed, self.seed, self.other)


@dataclass(frozen=True, slots=True)
class Rule:
    """The settings on which all workers of one brain must agree.

    Attributes:
        eps: The cash per link below which a push is not worth it.
        value: The value of a page for the order, or a product of scores that is the value of new pages.
        value_by_relevance: True if the value is also multiplied by relevance.
        value_scale: The factor of a batch score in the value.
        value_flow: The share of a batch score that passes along links (`lanes.passed_on`).
        value_base: The batch score of a page without in-links.
        reach: The share of its flow that a page passes on, and passes on again when it gets more; 0: once, when it is
            read.
        keep_live_pagerank: True if it is kept even if `value` does not name it.
        payout: The policy of payouts: equal or unequal shares, each worth `payout_scale`, so that the mean over all
            pages is 1.
        repaying: True while some pages are not paid by the policy yet.
        remarking: True while marks, states and queues of some pages follow older settings.
        revision: The revision of the brain's settings from which this was made. Accounts are never written by an
            outdated rule.
        weight_before: The weight of links inside hosts that have not been weighed anew yet.
        engine: The engine of the accounts. Values other than `exact` and `classic` mean that they are being converted.
        classic: The options of the classic engine.
        weights: The factors of the worth of pages whose URLs match patterns.
    """

    alpha: float = 0.15
    eps: float = 0.03
    intra_host_weight: float = 1.0
    max_payees: int = 100_000
    order: str = "best_first"
    value: str = "authority"
    value_by_relevance: bool = True
    value_scale: float = 1.0
    value_flow: float = 0.0
    value_base: float = 0.15
    reach: float = 0.0
    keep_live_pagerank: bool = False
    payout: str = "uniform"
    target_relevance: float = 0.7
    target_hosts: str = ""
    payout_scale: float = 1.0
    repaying: bool = False
    remarking: bool = False
    weight_before: float | None = None
    revision: int = 0
    engine: str = "exact"
    classic: ClassicOptions = field(default_factory=ClassicOptions)
    weights: UrlRules = NO_RULES

    @classmethod
    def of(cls, brain: Mapping[str, Any]) -> Rule:
        """Return the rule of the (:Brain) with these properties."""
        accounts = ("alpha", "eps", "intra_host_weight", "max_payees", "payout", "payout_scale")
        targets = ("target_relevance", "target_hosts")
        values = ("value", "value_by_relevance", "value_scale", "value_flow", "value_base")
        names = (*accounts, *targets, *values, "reach", "keep_live_pagerank", "order", "revision")
        settings = {name: brain[name] for name in names if name in brain}
        engine = brain.get("engine", "exact")
        settings |= {name: brain.get(name) is not None for name in ("repaying", "remarking")}
        settings["weight_before"] = brain.get("weight_before")
        weights = url_rules("weights", brain.get("weights", ""))
        return cls(**settings, engine=engine, classic=ClassicOptions.of(brain), weights=weights)

    @property
    def blend(self) -> Mapping[str, Factor] | None:
        """Live score → its factor in the value of new pages; None if new pages have the same value as fetched ones."""
        return None if self.value in ("authority", "hub") else factors(self.value)

    @property
    def harvests(self) -> bool:
        """True if the order of new pages depends on the expected harvest of their sections."""
        return self.order != "breadth_first" and "harvest" in (self.blend or ())

    @property
    def standing_value(self) -> str:
        """The name of the value of fetched pages: authority, hub, or a property."""
        return "authority" if self.blend else self.value

    @property
    def flow(self) -> Forward:
        """The account of flow: the cash of OPIC of 2003. A page spends it when it is read, and with `reach` also
        later."""
        again = self.reach > 0.0
        kept = again or "flow" in (self.blend or ())
        return Forward("flow", SEED_FLOW, 0.0, self.reach or 1.0 - self.alpha, again, FLOW_EPS, True, kept)

    @property
    def live_pagerank(self) -> Forward:
        """The account of live PageRank.

        It leaves out the restart, and the payments to all pages by pages without links. Both would only multiply all
        scores by one factor.
        """
        kept = self.keep_live_pagerank or "live_pagerank" in (self.blend or ())
        return Forward("live_pagerank", 1.0, 1.0, DAMPING, True, LIVE_PAGERANK_EPS, False, kept)

    @property
    def forwards(self) -> tuple[Forward, ...]:
        """All forward accounts, also those that are not kept: they remain right, because new and removed links change
        them by their part."""
        return self.flow, self.live_pagerank

    @property
    def revisits(self) -> bool:
        """True if fetched pages wait to be fetched again."""
        return self.order == "optimal"

    @property
    def weightless(self) -> bool:
        """True if links inside a host may have the weight 0. A side with links may then have the weight 0."""
        return 0.0 in (self.intra_host_weight, self.weight_before)

    @property
    def knows_hosts(self) -> bool:
        """True if accounts also depend on the hosts of pages."""
        return self.intra_host_weight != 1.0 or self.payout == "hosts"

    @property
    def bends_payouts(self) -> bool:
        """True if the policy may pay pages other amounts than 1, besides those set by hand."""
        return self.payout != "uniform" or self.repaying


def known_flow(flow: Floats) -> Floats:
    """Return the flow by which pages are valued: at least `LEAST_FORWARD`, and `NO_FLOW` for pages without flow."""
    return np.where(flow > 0.0, np.maximum(flow, LEAST_FORWARD), NO_FLOW)


def clip_relevance(relevance: Floats) -> Floats:
    """Return relevance within [.001, .999]; unknown (nan) counts as ½."""
    return np.clip(np.where(np.isnan(relevance), 0.5, relevance), LEAST_RELEVANCE, MOST_RELEVANCE)
