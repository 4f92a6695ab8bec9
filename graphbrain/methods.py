"""The methods of batch scores, and the names under which pages carry their scores."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from graphbrain.errors import BadInput

__all__ = [
    "CASH",
    "FORWARD",
    "LIVE",
    "METHODS",
    "OWN",
    "SCORES",
    "UNINDEXED",
    "Factor",
    "checked_method",
    "factors",
    "method_of",
    "without",
]

LIVE = ("authority", "flow", "harvest", "in_links", "live_pagerank", "nearness", "novelty", "plain_path")
FORWARD = ("flow", "live_pagerank")
"""Scores that follow each report, of which the value of new pages may be a product; and those of them that pages pass
on along their links."""
_NUMBER = r"(\d*\.?\d+)"
FACTOR = re.compile(rf"(?:{_NUMBER}\*)?([a-z_]+)(?:>{_NUMBER})?(?:\^{_NUMBER})?")
MOST_POWER, MOST_FLOOR, MOST_TIMES = 10.0, 1e6, 1e6
AT_MOST_ONE = ("harvest", "nearness", "novelty", "plain_path")
"""Live scores that are at most 1: a floor of 1 would make all pages alike."""

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
UNINDEXED = (*SCORES, *FORWARD, *OWN)
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


class Factor(NamedTuple):
    """How a live score counts in a product: `times` · max(score, `floor`) ** `power`."""

    power: float = 1.0
    floor: float = 0.0
    times: float = 1.0


@lru_cache(64)
def factors(value: str) -> Mapping[str, Factor] | None:
    """Live score → how it counts, of a value that is a product of powers of live scores, each with or without a floor
    and a number that multiplies it, as in `2*authority^.8 novelty>.25^.2`; None for any other."""
    found: dict[str, Factor] = {}
    for text in value.split():
        read = FACTOR.fullmatch(text)
        if read is None:
            return None
        name, times, floor, power = read[2], float(read[1] or 1.0), float(read[3] or 0.0), float(read[4] or 1.0)
        if name not in LIVE or name in found:
            return None
        if not (0.0 < power <= MOST_POWER and 0.0 < times <= MOST_TIMES and floor <= MOST_FLOOR):
            return None
        if (read[3] is not None and floor == 0.0) or (name in AT_MOST_ONE and floor >= 1.0):
            return None
        found[name] = Factor(power, floor, times)
    return found or None


def without(value: str, score: str) -> str:
    """A value that is a product of live scores, without the factor of one of them; "" where nothing is left."""
    read = ((text, FACTOR.fullmatch(text)) for text in value.split())
    return " ".join(text for text, factor in read if factor is None or factor[2] != score)
