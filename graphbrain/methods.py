"""The methods of batch scores, and the names under which pages carry their scores."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain

__all__ = ["METHODS", "OWN", "SCORES", "UNINDEXED", "method_of"]

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
UNINDEXED = (*SCORES, *OWN)
"""What pages are listed by only by reading them all."""


def method_of(score: str) -> str:
    """The method that writes a score of this name."""
    return next(method for method, names in METHODS.items() if score in names)
