"""The methods of batch scores, and the properties of pages that hold their scores."""

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
"""Scores that follow each report and that the value of new pages may be a product of. The second tuple has those that
pages pass on along their links."""
_NUMBER = r"(\d*\.?\d+)"
FACTOR = re.compile(rf"(?:{_NUMBER}\*)?([a-z_]+)(?:>{_NUMBER})?(?:\^{_NUMBER})?")
MOST_POWER, MOST_FLOOR, MOST_TIMES = 10.0, 1e6, 1e6
AT_MOST_ONE = ("harvest", "nearness", "novelty", "plain_path")
"""Live scores that are at most 1: a floor of 1 would make all pages alike."""

DAMPING, TOLERANCE, ITERATIONS = 0.85, 1e-9, 10_000
"""Defaults of a ranking: the probability of following a link, the acceptable error (L1), the most iterations."""
SETTLED_TO = 1e-7
"""The error bound that a settling pass leaves by default."""

METHODS: Mapping[str, tuple[str, ...]] = {
    "hits": ("hits_hub", "hits_authority"),
    "pagerank": ("pagerank",),
    "personalised": ("personalised",),
    "trustrank": ("trustrank",),
    "salsa": ("salsa_hub", "salsa_authority"),
    "opic": ("opic",),
}
"""Each method of `rank`, and the properties of pages that hold its scores; of two the authority is the last."""
SCORES = tuple(chain.from_iterable(METHODS.values()))
"""All properties that hold batch scores."""
OWN = ("relevance", "value")
"""Values of pages that the crawler states. Pages are listed by them in the same way."""
ORDERS = ("optimal", "best_first", "breadth_first")
"""The orders of a crawl: the values of the setting `order`."""
CASH = "cash"
"""The waiting cash of both sides of a page. Pages are listed by it, and nothing else uses it."""
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
    """Return live score → factor for a value that is a product of powers of live scores, and None for any other.

    Each power may have a floor and a multiplier, as in `2*authority^.8 novelty>.25^.2`.
    """
    by_score: dict[str, Factor] = {}
    for text in value.split():
        read = FACTOR.fullmatch(text)
        if read is None:
            return None
        name, times, floor, power = read[2], float(read[1] or 1.0), float(read[3] or 0.0), float(read[4] or 1.0)
        if name not in LIVE or name in by_score:
            return None
        if not (0.0 < power <= MOST_POWER and 0.0 < times <= MOST_TIMES and floor <= MOST_FLOOR):
            return None
        if (read[3] is not None and floor == 0.0) or (name in AT_MOST_ONE and floor >= 1.0):
            return None
        by_score[name] = Factor(power, floor, times)
    return by_score or None


def without(value: str, score: str) -> str:
    """Return a product of live scores without the factor of one of them, or "" if nothing is left."""
    read = ((text, FACTOR.fullmatch(text)) for text in value.split())
    return " ".join(text for text, factor in read if factor is None or factor[2] != score)
