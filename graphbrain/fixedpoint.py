"""Where all pushes lead: the scores at which no cash is left to spread, by iteration in memory.

With s = (hub, authority), π the payouts and keep as in `opichits`, the fixed point is the linear system

    hub(i)       = π(i) + Σ_{i→j} w(i→j) · keep_authority(j) · authority(j) / in_weight(j)
    authority(j) = π(j) + Σ_{i→j} w(i→j) · keep_hub(i) · hub(i) / out_weight(i)

solved by substituting one half into the other (Gauss-Seidel): both keeps are at most 1−α, so each round shrinks the
error by (1−α)² or more. Without a floor (α = 0) they are below 1 all the same, for d/(d+1) is, but it can take long.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from graphbrain import opichits
from graphbrain.opichits import Floats, Ints

__all__ = ["FixedPoint", "solve"]

MOST_ROUNDS = 10_000


@dataclass(frozen=True, slots=True)
class FixedPoint:
    """Scores and paid shares Z = keep·s/d of both sides, by page; rounds made, and the last relative change (L1)."""

    hub: Floats
    authority: Floats
    hub_paid: Floats
    authority_paid: Floats
    rounds: int
    residual: float


def solve(
    offsets: Ints,
    targets: NDArray[np.int32],
    *,
    alpha: float,
    relevance: Floats,
    payout: Floats,
    weights: Floats | None = None,
    start: Floats | None = None,
    tolerance: float = 1e-9,
    progress: Callable[[int, float], None] = lambda *_: None,
) -> FixedPoint:
    """The fixed point of n pages whose links are rows (`targets[offsets[i] : offsets[i + 1]]`).

    `relevance`: 0..1 or nan; `payout`: of each page; `weights`: of the links, all 1 when None; `start`: hub scores
    to begin with, to save rounds. Ends when a round changes the scores by less than `tolerance` of their sum.
    """
    pages = len(offsets) - 1
    data = np.ones(len(targets)) if weights is None else weights
    forward = csr_array((data, targets, offsets), shape=(pages, pages))
    backward = forward.T.tocsr()
    out_weight: Floats = np.asarray(forward.sum(axis=1)).ravel()
    in_weight: Floats = np.asarray(backward.sum(axis=1)).ravel()
    hub_share = _share(opichits.keep_hub(out_weight, alpha), out_weight)
    authority_share = _share(opichits.keep_authority(in_weight, relevance, alpha), in_weight)
    hub = payout.copy() if start is None else np.where(np.isfinite(start), start, payout)
    authority = payout.copy()
    residual = 1.0
    for rounds in range(1, MOST_ROUNDS + 1):
        authority = payout + backward @ (hub_share * hub)
        new = payout + forward @ (authority_share * authority)
        residual = float(np.abs(new - hub).sum() / max(np.abs(new).sum(), 1e-300)) if pages else 0.0
        hub = new
        progress(rounds, residual)
        if residual <= tolerance:
            break
    authority = payout + backward @ (hub_share * hub)
    return FixedPoint(hub, authority, hub_share * hub, authority_share * authority, rounds, residual)


def _share(keep: Floats, weight: Floats) -> Floats:
    """keep/d: what each unit of link weight gets of a score; 0 without links."""
    return np.divide(keep, weight, out=np.zeros(len(weight)), where=weight > 0.0)
