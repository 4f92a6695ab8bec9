"""The expected yield of a fetch in a section: a posterior mean that backs off to the section's parents.

A visit brought a share between 0 and 1. The mean of a section is that of its visits and of `STRENGTH` imagined ones,
which brought what its parent expects; the parent of all is the crawl. So a section without visits is worth what its
parent is (hierarchical shrinkage; Gelman et al., "Bayesian Data Analysis", chapter 5, with a fixed strength). What a
section is expected to bring acts by steps of two, so that pages seldom move.
"""

from __future__ import annotations

import math

__all__ = ["LEAST", "PRIOR", "STRENGTH", "factor_of", "posterior", "settled_factor"]

PRIOR = 0.8
"""The yield of a fetch on a host of which nothing is known."""
STRENGTH = 2.0
"""The weight of a section's parent, in visits."""
STEPS = 6
LEAST = 2.0**-STEPS
"""The lowest factor of a section."""
ENOUGH = 0.5
"""A section whose pages are expected to bring as much counts in full: lists of what is new elsewhere bring no more."""


def posterior(brought: float, visits: float, parent: float) -> float:
    """Return the expected share, 0 to 1: `visits` visits brought `brought` in sum, and the parent expects `parent`."""
    return (brought + STRENGTH * parent) / (visits + STRENGTH)


def factor_of(mean: float) -> float:
    """Return the factor of a section that is expected to bring `mean` (0 to 1): a power of two from `LEAST` to 1, about
    the square of the mean's part of `ENOUGH`."""
    if mean >= ENOUGH:
        return 1.0
    return 2.0 ** -min(STEPS, math.floor(2.0 * math.log2(ENOUGH / max(mean, LEAST * LEAST))))


def settled_factor(mean: float, visits: float, before: tuple[float, float] | None) -> tuple[float, float]:
    """Return (factor, visits at its last change) of a section; `before`: the same as it was. It changes at most once
    while the visits double."""
    wanted = factor_of(mean)
    if before is None:
        return wanted, visits
    factor, changed_at = before
    if wanted == factor or visits < 2.0 * changed_at:
        return factor, changed_at
    return wanted, visits
