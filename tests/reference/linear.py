"""A second opinion on importance: the fixed point of OPIC-HITS as one sparse linear system.

Written from the equations in docs/explanation/scores.md alone; it shares no line with graphbrain, which never
imports it.
With d_out and d_in the sums of link weights, the two sides of every page

    hub(p)       = payout(p) + Σ over successors q    w(p→q) · keep_auth(q) · auth(q) / d_in(q)
    authority(q) = payout(q) + Σ over predecessors p  w(p→q) · keep_hub(p) · hub(p) / d_out(p)

are 2N equations in 2N unknowns, solved directly (SuperLU): nothing iterates, so nothing can stop
too early.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array, eye_array
from scipy.sparse.linalg import spsolve

__all__ = ["Web", "intra_host_weights", "keeps", "payouts", "solve", "worst_error"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Web:
    """Pages 0..n-1 and the distinct links `sources[i]` → `targets[i]` between different pages.

    `relevance`: 0..1, nan for unknown. `payout`: what the virtual page pays. `weights`: of the
    links. Whatever is left out is ½, 1 and 1.
    """

    pages: int
    sources: Ints
    targets: Ints
    relevance: Floats = field(default_factory=lambda: np.empty(0))
    payout: Floats = field(default_factory=lambda: np.empty(0))
    weights: Floats = field(default_factory=lambda: np.empty(0))

    def __post_init__(self) -> None:
        for name, size, usual in (
            ("relevance", self.pages, np.nan),
            ("payout", self.pages, 1.0),
            ("weights", len(self.sources), 1.0),
        ):
            if not len(getattr(self, name)):
                object.__setattr__(self, name, np.full(size, usual))
            assert len(getattr(self, name)) == size, name

    @classmethod
    def of(
        cls,
        links: Mapping[int, Sequence[int]],
        *,
        pages: int | None = None,
        relevance: Mapping[int, float] | None = None,
        payout: Mapping[int, float] | None = None,
        weights: Mapping[tuple[int, int], float] | None = None,
    ) -> Web:
        """A small web written down by hand: page → the pages it links to."""
        pairs = [(page, target) for page, targets in links.items() for target in targets]
        size = 1 + max((max(pair) for pair in pairs), default=-1) if pages is None else pages
        told = np.full(size, np.nan)
        paid = np.ones(size)
        for page, value in (relevance or {}).items():
            told[page] = value
        for page, value in (payout or {}).items():
            paid[page] = value
        table = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        heavy = np.array([(weights or {}).get(pair, 1.0) for pair in pairs], dtype=np.float64)
        return cls(size, table[:, 0], table[:, 1], told, paid, heavy)

    @property
    def out_weight(self) -> Floats:
        """The sum of the weights of each page's links."""
        return np.bincount(self.sources, self.weights, minlength=self.pages)

    @property
    def in_weight(self) -> Floats:
        """The sum of the weights of the links to each page."""
        return np.bincount(self.targets, self.weights, minlength=self.pages)


def intra_host_weights(hosts: Sequence[str], sources: Ints, targets: Ints, weight: float) -> Floats:
    """`weight` for links inside a host, 1 for the others."""
    names = np.array(hosts, dtype=object)
    return np.where(names[sources] == names[targets], weight, 1.0)


def payouts(
    policy: str,
    relevance: Floats,
    fetched: Ints,
    seeds: Ints,
    target: float,
    scale: float | None = None,
    on_target: Ints | None = None,
) -> Floats:
    """What the virtual page pays each page by a policy; `scale` None: such that the mean is 1 (if any is paid).

    `on_target`: is a page on a target host?
    """
    n = len(relevance)
    r = np.where(np.isnan(relevance), 0.5, relevance)
    shares = np.zeros(n)
    for page in range(n):
        if policy == "uniform":
            shares[page] = 1
        elif policy == "fetched" or policy == "unfetched":
            shares[page] = bool(fetched[page]) == (policy == "fetched")
        elif policy == "target":
            shares[page] = r[page] >= target
        elif policy == "relevance":
            shares[page] = min(max(r[page], 0.001), 0.999)
        elif policy == "hosts":
            shares[page] = on_target is not None and bool(on_target[page])
        else:
            assert policy == "trusted"
            shares[page] = bool(seeds[page])
    if scale is None:
        scale = n / shares.sum() if shares.any() else 1.0
    return shares * scale


def keeps(web: Web, alpha: float) -> tuple[Floats, Floats]:
    """(hub, authority): the share of its cash that each side passes on."""
    r = np.where(np.isnan(web.relevance), 0.5, web.relevance)
    r = np.minimum(np.maximum(r, 0.001), 0.999)
    out, into = web.out_weight, web.in_weight
    hub = np.minimum(out / (out + 1), 1 - alpha)
    authority = np.minimum(into / (into + (1 - r) / r), 1 - alpha)
    return hub, authority


def solve(web: Web, alpha: float = 0.15) -> tuple[Floats, Floats]:
    """(hub scores, authority scores) of every page."""
    n = web.pages
    keep_hub, keep_authority = keeps(web, alpha)
    out, into = web.out_weight, web.in_weight
    # What one unit of score on a side is worth to a neighbour, per unit of link weight.
    forward = np.divide(keep_hub, out, out=np.zeros(n), where=out > 0)
    back = np.divide(keep_authority, into, out=np.zeros(n), where=into > 0)
    # Unknowns 0..n-1 are hub scores, n..2n-1 authority scores.
    rows = np.concatenate([web.sources, n + web.targets])
    columns = np.concatenate([n + web.targets, web.sources])
    shares = np.concatenate([web.weights * back[web.targets], web.weights * forward[web.sources]])
    paid = coo_array((shares, (rows, columns)), shape=(2 * n, 2 * n))
    scores = spsolve((eye_array(2 * n) - paid).tocsc(), np.concatenate([web.payout, web.payout]))
    return scores[:n], scores[n:]


def worst_error(found: npt.ArrayLike, wanted: npt.ArrayLike) -> float:
    """The largest relative error among scores."""
    a, b = np.asarray(found, np.float64), np.asarray(wanted, np.float64)
    return float(np.max(np.abs(a - b) / np.abs(b), initial=0.0))
