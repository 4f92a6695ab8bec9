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

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from graphbrain.arrays import Floats, Ints
from graphbrain.hostnames import HostList
from graphbrain.rules import LEAST_FORWARD, Rule, clip_relevance

__all__ = [
    "FIRST_RANK",
    "NONE",
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
"""Stands for null in arrays of ranks and priorities."""

FIRST_RANK = 20
"""Scores from 32 on have a rank. On cnr-2000 they are one page in two hundred; from 8 on it was one in twenty, and one
in three before they had settled, so that most had to be taken out of the index again."""


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
    return _bucket(waiting, weight, _per_link(waiting, weight) > eps)


def forward_priority(due: Floats, weight: Floats, paid: Floats, eps: float) -> Ints:
    """As `priority`, of an account that goes forward. `due`: what a page should have passed on in all.

    NONE where at most a share `eps` of that is missing: so pages of little are as exact as those of much. NONE also
    where at most LEAST_FORWARD is missing: on a circle of links that nothing leads to any more, flow shrinks by the
    same factor at each push, and without that pushes would have no end.
    """
    missing = due - weight * paid
    return _bucket(missing, weight, np.abs(missing) > np.maximum(eps * np.abs(due), LEAST_FORWARD))


def _per_link(waiting: Floats, weight: Floats) -> Floats:
    return np.asarray(np.abs(waiting) / (np.maximum(weight, 0.0) + 1.0))


def _bucket(waiting: Floats, weight: Floats, worth: NDArray[np.bool_]) -> Ints:
    """The priority of sides that are `worth` a push and have links; NONE of the others."""
    return _floor_log2(_per_link(waiting, weight), 0.5, worth & (weight > 0.0))


def rank(score: Floats) -> Ints:
    """floor(4·log2 score), NONE below FIRST_RANK: most pages are near their payout, and an index entry of each that
    moves with every payment costs more than it serves."""
    ranks = _floor_log2(score, 4.0, score > 0.0)
    return np.where(ranks >= FIRST_RANK, ranks, NONE)


def _floor_log2(x: Floats, times: float, where: NDArray[np.bool_]) -> Ints:
    logs = np.log2(x, out=np.zeros(x.shape), where=where)
    return np.where(where, np.floor(times * logs), NONE).astype(np.int64)
