"""OPIC-HITS with signed cash: the whole algebra, as pure functions of arrays.

Each page has two sides. Hub cash is paid forward to the successors' authority side, authority cash is paid back to
the predecessors' hub side; the virtual page pays every page its payout π and takes what is not kept. A side has
cash e, history H, paid Z (what each unit of link weight has received so far) and weight d. The invariant that every
function here keeps, for each side of each page, is

    H + e = π + Σ_neighbours w·Z_neighbour

so an account can be recomputed from its neighbours alone, and in sum held = paid. The score is s = H + e; at the
fixed point s = π + Σ w·keep·s/d over the neighbours, a linear system.
OPIC: Abiteboul, Preda, Cobena, "Adaptive on-line page importance computation", WWW 2003, section 3; hub and authority
cash after Pedro Lopez-Adeva's OPIC-HITS (crawl-frontier, 2015); exact repair as in forward push on changing graphs:
Zhang, Lofgren, Goel, arXiv 1603.07796, section 3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphbrain.classic import Options
from graphbrain.hostnames import HostList

__all__ = [
    "FIRST_RANK",
    "NONE",
    "Rule",
    "clip_relevance",
    "keep_authority",
    "keep_hub",
    "payout",
    "priority",
    "rank",
    "residual",
    "target_hosts",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NONE = np.iinfo(np.int64).min
"""Stands for null in arrays of ranks and priorities."""

LEAST_RELEVANCE, MOST_RELEVANCE = 1e-3, 1 - 1e-3
FIRST_RANK = 20
"""Scores from 32 on have a rank. On cnr-2000 they are one page in two hundred; from 8 on it was one in twenty, and one
in three before they had settled, so that most had to be taken out of the index again."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What all workers of one brain must agree on. `eps`: cash per link below which a push is not worth it.

    `value`: what a page is worth to the order; `value_by_relevance`: relevance counts, too; `value_scale`: what a batch
    score is multiplied by for it; `value_flow`: what of it goes on along links (`lanes.passed_on`), `value_base`: what
    a page has of it that nobody links to. `payout`: who is paid for being there, of equal or unequal shares, each worth
    `payout_scale`, so that the mean over all pages is 1. `repaying`: not all pages are paid by it yet; `remarking`:
    marks, states and queues of some are still those of other settings. `revision`: of the brain's settings this was
    made from; accounts are never written by an outdated rule.
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
        names = (*accounts, *targets, *values, "order", "revision")
        given = {name: brain[name] for name in names if name in brain}
        engine = brain.get("engine", "exact")
        given |= {name: brain.get(name) is not None for name in ("repaying", "remarking")}
        given["weight_before"] = brain.get("weight_before")
        return cls(**given, engine=engine, classic=Options.of(brain))

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


def clip_relevance(relevance: Floats) -> Floats:
    """Relevance in [.001, .999]; unknown (nan) counts as ½."""
    return np.clip(np.where(np.isnan(relevance), 0.5, relevance), LEAST_RELEVANCE, MOST_RELEVANCE)


@lru_cache(8)
def target_hosts(text: str) -> HostList:
    """The hosts that the setting `target_hosts` names."""
    return HostList.of(text, lenient=True)


def payout(
    rule: Rule,
    relevance: Floats,
    fetched: NDArray[np.bool_],
    seed: NDArray[np.bool_],
    hosts: Sequence[str] | NDArray[np.object_] = (),
) -> Floats:
    """What the virtual page pays pages by the rule's policy. `hosts`: of the pages, where the rule `knows_hosts`.

    One share for each page that is in the class (was fetched, or not; is a seed; is on a target host or below it; has
    at least the target's relevance, unknown counting as ½), none for the others; or as many shares as the page's
    clipped relevance. The classes are the root's cash in K. Krugler, "Fixing the OPIC algorithm in Nutch", 2006; seeds:
    Gyöngyi, Garcia-Molina, Pedersen, "Combating web spam with TrustRank", VLDB 2004; relevance: Haveliwala,
    "Topic-sensitive PageRank", WWW 2002.
    """
    if rule.payout == "hosts":
        holds = target_hosts(rule.target_hosts).holds
        return rule.payout_scale * np.array([holds(host) for host in hosts], dtype=np.float64)
    shares: dict[str, Floats | NDArray[np.bool_]] = {
        "uniform": np.ones(len(relevance)),
        "unfetched": ~fetched,
        "fetched": fetched,
        "target": np.where(np.isnan(relevance), 0.5, relevance) >= rule.target_relevance,
        "relevance": clip_relevance(relevance),
        "trusted": seed,
    }
    return rule.payout_scale * shares[rule.payout].astype(np.float64)


def keep_hub(weight: Floats, alpha: float) -> Floats:
    """The share of hub cash that goes on along the links: min(d/(d+1), 1−α), 0 without links.

    A weight below 0, which is a fault that an audit tells of, counts as no links, so that it stays with its page.
    """
    d = np.maximum(weight, 0.0)
    return np.minimum(d / (d + 1.0), 1.0 - alpha)


def keep_authority(weight: Floats, relevance: Floats, alpha: float) -> Floats:
    """The share of authority cash that goes back: min(d/(d + (1−r)/r), 1−α), 0 without links.

    The virtual page is an extra parent of weight (1−r)/r. `relevance` is 0..1 or nan.
    """
    r, d = clip_relevance(relevance), np.maximum(weight, 0.0)
    return np.minimum(d / (d + (1.0 - r) / r), 1.0 - alpha)


def residual(keep: Floats, score: Floats, weight: Floats, paid: Floats) -> Floats:
    """What a push would pay: keep·(H+e) − d·Z. Σ|residual| / (α·Σ score) bounds the L1 error of the scores."""
    return keep * score - weight * paid


def priority(waiting: Floats, weight: Floats, eps: float) -> Ints:
    """The whole-number bucket floor(½·log2 x) of x = |residual|/(d+1), NONE where x ≤ eps or there are no links.

    Finer buckets do not settle sooner (pushing in any order of urgency does about the same work), but cost more
    index writes: a page moves whenever it is paid.
    """
    per_link = np.abs(waiting) / (np.maximum(weight, 0.0) + 1.0)
    worth = (per_link > eps) & (weight > 0.0)
    return _floor_log2(per_link, 0.5, worth)


def rank(score: Floats) -> Ints:
    """floor(4·log2 score), NONE below FIRST_RANK: most pages are near their payout, and an index entry of each that
    moves with every payment costs more than it serves."""
    ranks = _floor_log2(score, 4.0, score > 0.0)
    return np.where(ranks >= FIRST_RANK, ranks, NONE)


def _floor_log2(x: Floats, times: float, where: NDArray[np.bool_]) -> Ints:
    logs = np.log2(x, out=np.zeros(x.shape), where=where)
    return np.where(where, np.floor(times * logs), NONE).astype(np.int64)
