"""The methods of batch scores, the properties of pages that have the scores, and products of live scores."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from graphbrain.base.errors import BadInput

__all__ = [
    "CASH",
    "DAMPING",
    "FORWARD",
    "ITERATIONS",
    "LIVE",
    "METHODS",
    "ORDERS",
    "OWN",
    "SCORES",
    "SETTLED_TO",
    "TOLERANCE",
    "UNINDEXED",
    "Factor",
    "checked_method",
    "factors",
    "method_of",
    "without",
]

LIVE = ("authority", "flow", "harvest", "in_links", "live_pagerank", "nearness", "novelty", "plain_path")
FORWARD = ("flow", "live_pagerank")
"""The scores that each report keeps up to date. The value of new pages may be a product of those in `LIVE`. Pages pass
those in `FORWARD` on along their links."""
_NUMBER = r"\d*\.?\d+"
FACTOR = re.compile(
    rf"(?:(?P<times>{_NUMBER})\*)?(?P<score>[a-z_]+)(?:>(?P<floor>{_NUMBER}))?(?:\^(?P<power>{_NUMBER}))?"
)
MOST_POWER, MOST_FLOOR, MOST_TIMES = 10.0, 1e6, 1e6
AT_MOST_ONE = ("harvest", "nearness", "novelty", "plain_path")
"""The live scores that are at most 1. With a floor of 1 they would be the same for all pages."""

DAMPING, TOLERANCE, ITERATIONS = 0.85, 1e-9, 10_000
"""Defaults of a ranking: the probability of following a link, the acceptable error (L1), the most iterations."""
SETTLED_TO = 1e-7
"""The default of the error bound after a settling pass."""

METHODS: Mapping[str, tuple[str, ...]] = {
    "hits": ("hits_hub", "hits_authority"),
    "pagerank": ("pagerank",),
    "personalised": ("personalised",),
    "trustrank": ("trustrank",),
    "salsa": ("salsa_hub", "salsa_authority"),
    "opic": ("opic",),
}
"""Method of `rank` → the properties of pages that have its scores. If there are two, the last is the authority."""
SCORES = tuple(chain.from_iterable(METHODS.values()))
"""All properties that have batch scores."""
OWN = ("relevance", "value")
"""The values of pages that the crawler states. Lists of pages may be sorted by them as by scores."""
ORDERS = ("optimal", "best_first", "breadth_first")
"""The orders of a crawl: the values of the setting `order`."""
CASH = "cash"
"""The cash of both sides of a page. Only lists of pages are sorted by it."""
UNINDEXED = (*SCORES, *FORWARD, *OWN)
"""Scores without an index: a list by one of them reads all pages."""


def checked_method(method: str) -> str:
    """Return a method of `rank`.

    Raises:
        BadInput: There is no such method.
    """
    if method not in METHODS:
        *most, last = METHODS
        raise BadInput(f"rank is by {', '.join(most)} or {last}, not {method!r:.80}.")
    return method


def method_of(score: str) -> str:
    """Return the method that writes a score of this name."""
    return next(method for method, names in METHODS.items() if score in names)


class Factor(NamedTuple):
    """The factor of a live score in a product: `times` · max(score, `floor`) ** `power`."""

    power: float = 1.0
    floor: float = 0.0
    times: float = 1.0


@lru_cache(64)
def factors(value: str) -> Mapping[str, Factor] | None:
    """Return live score → factor for a value that is a product of powers of live scores; None for any other value.

    Each power may have a floor and a multiplier, as in `2*authority^.8 novelty>.25^.2`.
    """
    by_score: dict[str, Factor] = {}
    for text in value.split():
        # Read a factor.
        match = FACTOR.fullmatch(text)
        if match is None:
            return None
        score, floor = match["score"], float(match["floor"] or 0.0)
        times, power = float(match["times"] or 1.0), float(match["power"] or 1.0)
        # Check that each score occurs once, and that the numbers are possible.
        if score not in LIVE or score in by_score:
            return None
        if not (0.0 < power <= MOST_POWER and 0.0 < times <= MOST_TIMES and floor <= MOST_FLOOR):
            return None
        if (match["floor"] is not None and floor == 0.0) or (score in AT_MOST_ONE and floor >= 1.0):
            return None
        by_score[score] = Factor(power, floor, times)
    return by_score or None


def without(value: str, score: str) -> str:
    """Return a product of live scores without the factor of one score; empty if no factor is left."""
    matches = ((text, FACTOR.fullmatch(text)) for text in value.split())
    return " ".join(text for text, match in matches if match is None or match["score"] != score)
