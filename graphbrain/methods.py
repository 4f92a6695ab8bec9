"""The methods of batch scores, and the names under which pages carry their scores."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import chain

from graphbrain.errors import BadInput

__all__ = ["CASH", "LIVE", "METHODS", "OWN", "SCORES", "UNINDEXED", "checked_method", "method_of", "powers"]

LIVE = ("authority", "flow", "in_links", "nearness", "novelty", "plain_path")
"""Scores that follow each report, of which the value of new pages may be a product."""
FACTOR = re.compile(r"([a-z_]+)(?:\^(\d*\.?\d+))?")
MOST_POWER = 10.0

METHODS: Mapping[str, tuple[str, ...]] = {
    "hits": ("hits_hub", "hits_authority"),
    "pagerank": ("pagerank",),
    "personalised": ("personalised",),
    "trustrank": ("trustrank",),
    "salsa": ("salsa_hub", "salsa_authority"),
    "opic": ("opic",),
}
"""Each method of `rank`, and the properties of pages that keep its scores; of two the authority is the last."""
SCORES = tuple(chain.from_iterable(METHODS.values()))
"""All those properties."""
OWN = ("relevance", "value")
"""What the crawler says of pages: they are listed by it in the same way."""
CASH = "cash"
"""What waits on both sides of a page: pages are listed by it, and nothing else goes by it."""
UNINDEXED = (*SCORES, "flow", *OWN)
"""What pages are listed by only by reading them all."""


def checked_method(method: str) -> str:
    """A method of `rank`. Raises BadInput where there is no such one."""
    if method not in METHODS:
        *most, last = METHODS
        raise BadInput(f"rank is by {', '.join(most)} or {last}, not {method!r:.80}.")
    return method


def method_of(score: str) -> str:
    """The method that writes a score of this name."""
    return next(method for method, names in METHODS.items() if score in names)


@lru_cache(64)
def powers(value: str) -> Mapping[str, float] | None:
    """Score → power, of a value that is a product of live scores, as in `flow^.8 authority^.2`; None for any other."""
    found: dict[str, float] = {}
    for factor in value.split():
        read = FACTOR.fullmatch(factor)
        if read is None or read[1] not in LIVE or read[1] in found:
            return None
        found[read[1]] = 1.0 if read[2] is None else float(read[2])
        if not 0.0 < found[read[1]] <= MOST_POWER:
            return None
    return found or None
