"""The expected yield of a fetch in a section: a posterior that backs off to the section's parents.

A visit brought an amount of new text, which counts as 0 to 1. The mean of a section is that of its visits and of
`STRENGTH` imagined ones, which brought what its parent expects; the parent of all is the crawl. So a section without
visits is worth what its parent is (hierarchical shrinkage; Gelman et al., "Bayesian Data Analysis", chapter 5, with a
fixed strength). A section counts by the upper bound of its posterior, so that few visits take little from it (Lai and
Robbins, "Asymptotically efficient adaptive allocation rules", 1985), and by steps of two, so that pages seldom move.
"""

from __future__ import annotations

import math

__all__ = [
    "HALF",
    "LEAST",
    "PRIOR",
    "STRENGTH",
    "factor_of",
    "posterior",
    "settled_factor",
    "upper",
    "yield_of",
    "yield_of_links",
]

HALF = 5.0
"""The amount of new text, in shingles, that counts as one half."""

PRIOR = 0.8
"""The yield of a fetch on a host of which nothing is known."""
STRENGTH = 2.0
"""The weight of a section's parent, in visits."""
STEPS = 6
LEAST = 2.0**-STEPS
"""The lowest factor of a section."""
FREE_LINKS = 3.0
"""Links that a page without a text may have to known pages, as to its parent and the home page."""
UNSEEN = 0.1
"""The least that a page counts as of which no text was reported."""
SPREAD = 0.5
"""The upper bound of a posterior is so many standard deviations above its mean."""
ENOUGH = 0.5
"""A section whose pages are expected to bring as much counts in full: lists of what is new elsewhere bring no more."""


def yield_of(amount: float) -> float:
    """Return what an amount of new text counts as, 0 to 1: next to nothing for the few shingles of a date or a counter,
    and about the same from a sentence on."""
    return float(amount**3 / (amount**3 + HALF**3))


def yield_of_links(new: int, links: int) -> float:
    """Return what a page without a text counts as, 0 to 1, of so many links with so many to pages that were not
    known. It is bounded from below: a page that names nothing new may still have a text."""
    return max(UNSEEN, (new + FREE_LINKS) / (links + FREE_LINKS))


def posterior(brought: float, visits: float, parent: float) -> float:
    """Return the expected share, 0 to 1: `visits` visits brought `brought` in sum, and the parent expects `parent`."""
    return (brought + STRENGTH * parent) / (visits + STRENGTH)


def upper(mean: float, visits: float) -> float:
    """Return the upper bound, 0 to 1, of what a section of so many visits is expected to bring."""
    return min(1.0, mean + SPREAD * math.sqrt(max(0.0, mean * (1.0 - mean)) / (visits + STRENGTH + 1.0)))


def factor_of(mean: float) -> float:
    """Return the factor of a section that is expected to bring `mean` (0 to 1): a power of two from `LEAST` to 1, about
    the square of the mean's part of `ENOUGH`."""
    if mean >= ENOUGH:
        return 1.0
    return 2.0 ** -min(STEPS, math.floor(2.0 * math.log2(ENOUGH / max(mean, LEAST * LEAST))))


def settled_factor(
    mean: float, visits: float, before: tuple[float, float] | None, count: float | None = None
) -> tuple[float, float]:
    """Return (factor, number at its last change) of a section of which `visits` visits are evidence. `before`: the same
    as it was. It changes at most once while the number doubles: `count`, by default `visits`."""
    wanted, number = factor_of(upper(mean, visits)), visits if count is None else count
    if before is None:
        return wanted, number
    factor, changed_at = before
    if wanted == factor or number < 2.0 * changed_at:
        return factor, changed_at
    return wanted, number
