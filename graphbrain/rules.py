"""What all workers of one brain must agree on, as it stands on the (:Brain), in the form that the algebra takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from graphbrain.arrays import Flags, Floats
from graphbrain.methods import Factor, factors

__all__ = [
    "DAMPING",
    "FLOW_EPS",
    "LEAST_FORWARD",
    "LIVE_PAGERANK_EPS",
    "NO_FLOW",
    "SEED_FLOW",
    "Forward",
    "Options",
    "Rule",
    "clip_relevance",
    "known_flow",
    "total_cash",
]


@dataclass(frozen=True, slots=True)
class Options:
    """What the ancestors left open; the settings of the same names say what each means."""

    window: float = 8.0
    window_unit: str = "cash"
    score: str = "history"
    root_share: float = 0.0
    relevance_rule: str = "rational"
    new_history: str = "zero"
    first_cash: str = "pages"
    passes: float = 16.0

    @classmethod
    def of(cls, brain: Mapping[str, Any]) -> Options:
        """The options by what stands on the (:Brain)."""
        return cls(**{option.name: brain[option.name] for option in fields(cls) if option.name in brain})

    def clock(self, now: float, before: float = 0.0) -> float:
        """What the clock says now that said `before`: in seconds, by the server's clock; pushes turn one of cash."""
        return max(before, now) if self.window_unit == "seconds" else before

    def length(self, pages: float) -> float:
        """The window in units of the clock: cash spent, or seconds; infinite when there is none."""
        if not self.window:
            return np.inf
        return self.window * total_cash(pages) if self.window_unit == "cash" else self.window


def total_cash(pages: float) -> float:
    """All cash there is: 1 + 1 for each page, and for the virtual page."""
    return 2.0 * (pages + 1.0)


LEAST_RELEVANCE, MOST_RELEVANCE = 1e-3, 1 - 1e-3
SEED_FLOW = 10_000.0
"""The flow that a seed begins with; other pages begin with none. So a web that a server makes up, however large, has
only what flows into it."""
LEAST_FORWARD = 1e-6
"""What a page counts as having of its flow that has less: far behind in a web without an end."""
FLOW_EPS = 0.05
"""With `reach`: a page is pushed when more than this share of what it should have passed on is missing."""
DAMPING, LIVE_PAGERANK_EPS = 0.85, 0.3
"""What a page passes on of its live PageRank; and, as `FLOW_EPS`, when it is pushed. With .05 sites whose pages all
link to each other want ten pushes for each page that is read; with .3 it is one for several."""
NO_FLOW = 1.0
"""What a page counts as having that has none: no seed leads to it, so nothing is known of it."""


@dataclass(frozen=True, slots=True)
class Forward:
    """An account that pages pass on along their links, one number a page, and how it is kept.

    A page has what it begins with and, of each link to it, weight × what each unit of its source's link weight has got
    so far. So it can be recomputed anywhere, at every commit.
    `name`: the property that holds it; `paid` and `mark` name the others. `seed`, `other`: what a seed begins with, and
    any other page. `share`: what a page passes on of what it has. `again`: what a page gets later is passed on, too, by
    pushes, where more than a share `eps` of what it should have passed on is missing; else only when it is read.
    `by_reading`: only pages that were read, as no aliases, pass it on; else all pages with links. `kept`: is it passed
    on at all?
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
        """The property that holds what each unit of weight of a page's links has got."""
        return f"{self.name}_paid"

    @property
    def mark(self) -> str:
        """The property by which pages wait for a push."""
        return f"{self.name}_priority"

    @property
    def pushed(self) -> bool:
        """Do pushes pass it on?"""
        return self.kept and self.again

    @property
    def settles(self) -> bool:
        """Can it be brought to its fixed point at once? Of others it matters which pages were read."""
        return self.pushed and not self.by_reading and self.seed == self.other

    def first(self, is_seed: Flags) -> Floats:
        """What pages have that no link has brought any."""
        return np.where(is_seed, self.seed, self.other)


@dataclass(frozen=True, slots=True)
class Rule:
    """What all workers of one brain must agree on. `eps`: cash per link below which a push is not worth it.

    `value`: what a page is worth to the order, or a product of scores that new pages are worth;
    `value_by_relevance`: relevance counts, too; `value_scale`: what a batch
    score is multiplied by for it; `value_flow`: what of it goes on along links (`lanes.passed_on`), `value_base`: what
    a page has of it that nobody links to. `reach`: the share of its flow that a page passes on, and passes on again
    when it gets more; 0: once, when it is read. `keep_live_pagerank`: it is kept, even where `value` does not name it.
    `payout`: who is paid for being there, of equal or unequal shares,
    each worth `payout_scale`, so that the mean over all pages is 1. `repaying`: not all pages are paid by it yet;
    `remarking`: marks, states and queues of some are still those of other settings. `revision`: of the brain's settings
    this was made from; accounts are never written by an outdated rule.
    `weight_before`: of links inside hosts that have not been weighed anew yet.
    `engine` says whose accounts they are; what it is besides `exact` or `classic` says that they are being converted.
    `classic`: what only the classic engine asks.
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
    classic: Options = field(default_factory=Options)

    @classmethod
    def of(cls, brain: Mapping[str, Any]) -> Rule:
        """The rule by what stands on the (:Brain)."""
        accounts = ("alpha", "eps", "intra_host_weight", "max_payees", "payout", "payout_scale")
        targets = ("target_relevance", "target_hosts")
        values = ("value", "value_by_relevance", "value_scale", "value_flow", "value_base")
        names = (*accounts, *targets, *values, "reach", "keep_live_pagerank", "order", "revision")
        given = {name: brain[name] for name in names if name in brain}
        engine = brain.get("engine", "exact")
        given |= {name: brain.get(name) is not None for name in ("repaying", "remarking")}
        given["weight_before"] = brain.get("weight_before")
        return cls(**given, engine=engine, classic=Options.of(brain))

    @property
    def blend(self) -> Mapping[str, Factor] | None:
        """The factors of what new pages are worth, by live score; None where they are worth what all are."""
        return None if self.value in ("authority", "hub") else factors(self.value)

    @property
    def harvests(self) -> bool:
        """Do new pages wait by what their sections are expected to bring?"""
        return self.order != "breadth_first" and "harvest" in (self.blend or ())

    @property
    def standing_value(self) -> str:
        """What pages that were fetched are worth: authority, hub, or what a property says."""
        return "authority" if self.blend else self.value

    @property
    def flow(self) -> Forward:
        """The cash of OPIC as of 2003, where each page spends when it is read; with `reach` whenever it gets more."""
        again = self.reach > 0.0
        kept = again or "flow" in (self.blend or ())
        return Forward("flow", SEED_FLOW, 0.0, self.reach or 1.0 - self.alpha, again, FLOW_EPS, True, kept)

    @property
    def live_pagerank(self) -> Forward:
        """PageRank of the known graph, without its restart and what pages without links give all: these multiply all
        scores by one factor."""
        kept = self.keep_live_pagerank or "live_pagerank" in (self.blend or ())
        return Forward("live_pagerank", 1.0, 1.0, DAMPING, True, LIVE_PAGERANK_EPS, False, kept)

    @property
    def forwards(self) -> tuple[Forward, ...]:
        """All of them. Those that are not kept are still right: links that come and go take their part along."""
        return self.flow, self.live_pagerank

    @property
    def revisits(self) -> bool:
        """Do fetched pages wait to be fetched again?"""
        return self.order == "optimal"

    @property
    def weightless(self) -> bool:
        """May links inside a host weigh nothing? Then a side without weight may have links."""
        return 0.0 in (self.intra_host_weight, self.weight_before)

    @property
    def knows_hosts(self) -> bool:
        """Do accounts follow from the hosts of pages, too?"""
        return self.intra_host_weight != 1.0 or self.payout == "hosts"

    @property
    def bends_payouts(self) -> bool:
        """May pages be paid something else than 1 or what was set for them by hand?"""
        return self.payout != "uniform" or self.repaying


def known_flow(flow: Floats) -> Floats:
    """What pages with this flow count as having."""
    return np.where(flow > 0.0, np.maximum(flow, LEAST_FORWARD), NO_FLOW)


def clip_relevance(relevance: Floats) -> Floats:
    """Relevance in [.001, .999]; unknown (nan) counts as ½."""
    return np.clip(np.where(np.isnan(relevance), 0.5, relevance), LEAST_RELEVANCE, MOST_RELEVANCE)
