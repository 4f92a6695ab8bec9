"""OPIC-HITS with signed cash: the algebra, as pure functions of arrays.

Each page has two sides. Hub cash is paid forward to the authority side of the successors, authority cash is paid back
to the hub side of the predecessors. The virtual page pays every page its payout π and takes the cash that is not kept.
A side has cash e, history H, paid Z (the amount that each unit of link weight has received so far) and weight d. Every
function here keeps this invariant for each side of each page:

    H + e = π + Σ_neighbours w·Z_neighbour

So an account can be recomputed from its neighbours alone, and the sums of held and paid cash are equal. The score is s
= H + e. At the fixed point s = π + Σ w·keep·s/d over the neighbours, a linear system.

OPIC: Abiteboul, Preda, Cobena, "Adaptive on-line page importance computation", WWW 2003, section 3. Hub and authority
cash: Pedro Lopez-Adeva's OPIC-HITS (crawl-frontier, 2015). Exact repair, as in forward push on changing graphs: Zhang,
Lofgren, Goel, arXiv 1603.07796, section 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from graphbrain.base.numeric.arrays import Floats, Ints
from graphbrain.base.numeric.rules import LEAST_FORWARD, Rule, clip_relevance
from graphbrain.base.urls.hostnames import HostList

__all__ = [
    "FIRST_RANK",
    "NONE",
    "Sides",
    "forward_priority",
    "keep_authority",
    "keep_hub",
    "payout",
    "priority",
    "rank",
    "residual",
    "target_hosts",
]


NONE = np.iinfo(np.int64).min
"""Represents null in arrays of ranks and priorities."""

FIRST_RANK = 20
"""The least rank, that of the score 32. On cnr-2000 one page in two hundred has a rank. With a least score of 8 it
would be one in twenty, and one in three before the scores have settled, so that most index entries were removed
again."""


class Sides:
    """The two sides of pages, as columns.

    The score of a side is the sum of all that it has received. The classic engine computes another one from the same
    accounts.
    """

    hub_history: Floats
    hub_cash: Floats
    authority_history: Floats
    authority_cash: Floats

    @property
    def hub_score(self) -> Floats:
        """Return the scores of the hub sides."""
        return self.hub_history + self.hub_cash

    @property
    def authority_score(self) -> Floats:
        """Return the scores of the authority sides."""
        return self.authority_history + self.authority_cash


@lru_cache(8)
def target_hosts(text: str) -> HostList:
    """Return the hosts that the setting `target_hosts` names."""
    return HostList.of(text)


def payout(
    rule: Rule,
    relevance: Floats,
    fetched: NDArray[np.bool_],
    seed: NDArray[np.bool_],
    hosts: Sequence[str] | NDArray[np.object_] = (),
) -> Floats:
    """Return the payouts of pages by the rule's policy.

    A class gets one share for each of its pages, and other pages get none. The classes are: fetched, unfetched, seeds,
    pages on a target host or below it, pages with at least the target's relevance (unknown counts as ½). By relevance a
    page gets as many shares as its clipped relevance. The classes are the root's cash in K. Krugler, "Fixing the OPIC
    algorithm in Nutch", 2006; seeds: Gyöngyi, Garcia-Molina, Pedersen, "Combating web spam with TrustRank", VLDB 2004;
    relevance: Haveliwala, "Topic-sensitive PageRank", WWW 2002.

    Args:
        rule: The policy, its parameters and the scale of payouts.
        relevance: 0 to 1 for each page, or nan.
        fetched: True for each page that was fetched.
        seed: True for each seed.
        hosts: The host of each page, if the rule `knows_hosts`.
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
    """Return the share of hub cash that passes along the links: min(d/(d+1), 1−α), and 0 without links.

    A weight below 0 is a fault that an audit reports. It counts as no links, so the fault does not spread.
    """
    d = np.maximum(weight, 0.0)
    return np.minimum(d / (d + 1.0), 1.0 - alpha)


def keep_authority(weight: Floats, relevance: Floats, alpha: float) -> Floats:
    """Return the share of authority cash that passes back: min(d/(d + (1−r)/r), 1−α), and 0 without links.

    The virtual page acts as a further parent of weight (1−r)/r. `relevance` r is 0 to 1, or nan for ½.
    """
    r, d = clip_relevance(relevance), np.maximum(weight, 0.0)
    return np.minimum(d / (d + (1.0 - r) / r), 1.0 - alpha)


def residual(keep: Floats, score: Floats, weight: Floats, paid: Floats) -> Floats:
    """Return the amount that a push would pay: keep·(H+e) − d·Z.

    Σ|residual| / (α·Σ score) bounds the L1 error of the scores.
    """
    return keep * score - weight * paid


def priority(waiting: Floats, weight: Floats, eps: float) -> Ints:
    """Return the bucket floor(½·log2 x) of x = |residual|/(d+1), and NONE if x ≤ eps or there are no links.

    Finer buckets do not settle sooner, because pushes in any order of urgency do about the same work. They cost more
    index writes, because a page moves whenever it is paid.
    """
    each = np.abs(waiting) / (np.maximum(weight, 0.0) + 1.0)
    return _floor_log2(each, 0.5, (each > eps) & (weight > 0.0))


def forward_priority(pending: Floats, weight: Floats, paid: Floats, eps: float) -> Ints:
    """Return the priority of a forward account, in buckets as of `priority`.

    `pending` is the amount that a page should have passed on. The result is NONE if at most the share `eps` of
    `pending` is missing, so pages with little are as exact as pages with much. It is also NONE if at most LEAST_FORWARD
    is missing: on a circle of links without a source, flow shrinks by the same factor at each push, and pushes would
    never end.
    """
    missing = pending - weight * paid
    worth = np.abs(missing) > np.maximum(eps * np.abs(pending), LEAST_FORWARD)
    return _floor_log2(np.abs(missing) / (np.maximum(weight, 0.0) + 1.0), 0.5, worth & (weight > 0.0))


def rank(score: Floats) -> Ints:
    """Return floor(4·log2 score), and NONE below FIRST_RANK.

    Most pages are near their payout. An index entry of such a page moves with every payment, and costs more than it
    saves.
    """
    ranks = _floor_log2(score, 4.0, score > 0.0)
    return np.where(ranks >= FIRST_RANK, ranks, NONE)


def _floor_log2(x: Floats, times: float, where: NDArray[np.bool_]) -> Ints:
    logs = np.log2(x, out=np.zeros(x.shape), where=where)
    return np.where(where, np.floor(times * logs), NONE).astype(np.int64)
