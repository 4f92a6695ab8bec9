"""The distance of two lists of scores: error norms, agreement at the top, rank correlation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import kendalltau

from graphbrain.base.numeric.arrays import Floats

__all__ = ["Distance", "compare", "shares", "top_overlap"]

DIGITS = 9
"""Scores that agree to this number of digits are equal in ranks, because their difference is rounding."""


@dataclass(frozen=True, slots=True)
class Distance:
    """The distance of scores from a reference, both as shares of their sum, so that engines with different units
    compare.

    Attributes:
        l1: Σ|s − g|, from 0 to 2.
        l2: The Euclidean norm.
        largest: The largest difference.
        median_relative: The median of |s − g|/g over the pages.
        p99_relative: The 99th percentile of it.
        top: The share of the best 1 % (at least ten pages) that is among the reference's.
        tau: Kendall's τ-b.
    """

    l1: float
    l2: float
    largest: float
    median_relative: float
    p99_relative: float
    top: float
    tau: float


def shares(scores: Floats) -> Floats:
    """Return scores as shares of their sum; all 0 if the sum is 0."""
    total = scores.sum()
    return scores / total if total > 0 else np.zeros(len(scores))


def compare(scores: Floats, reference: Floats) -> Distance:
    """Return the distance of `scores` from the `reference`, page by page.

    Raises:
        ValueError: There is no page.
    """
    ours, goal = shares(scores), shares(reference)
    off = np.abs(ours - goal)
    relative = off[goal > 0] / goal[goal > 0]
    first = max(10, len(goal) // 100)
    return Distance(
        float(off.sum()),
        float(np.sqrt((off**2).sum())),
        float(off.max()),
        float(np.median(relative)),
        float(np.quantile(relative, 0.99)),
        top_overlap(ours, goal, min(first, len(goal))),
        _tau(ours, goal),
    )


def top_overlap(scores: Floats, reference: Floats, first: int) -> float:
    """Return the share of the best `first` pages that is as good as the reference's best. Ties at the edge count for
    any."""
    best = np.argsort(-scores, kind="stable")[:first]
    edge = np.partition(reference, len(reference) - first)[len(reference) - first]
    return float(np.mean(reference[best] >= edge * (1 - 10.0**-DIGITS)))


def _tau(a: Floats, b: Floats) -> float:
    """Return τ-b, 1 if both lists are all ties."""
    found = float(kendalltau(_rounded(a), _rounded(b)).statistic)
    return 1.0 if np.isnan(found) else found


def _rounded(scores: Floats) -> Floats:
    unit = scores.max() * 10.0**-DIGITS
    return np.round(scores / unit) if unit > 0 else scores
