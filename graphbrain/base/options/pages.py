"""The pages that a caller selects, and the values of a page that can be set, each with its range."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from graphbrain.base.numeric.bounds import Bounds

__all__ = ["MOST_BEST", "PAGE_VALUES", "PageFilter"]

MOST_BEST = 10_000
"""The most pages that are put in order by a score."""
PAGE_VALUES: Mapping[str, Bounds] = {
    "value": Bounds(0, 1e12),
    "rate": Bounds(1e-6, 1e6),
    "interval": Bounds(1, 1e9),
    "relevance": Bounds(0, 1),
    "payout": Bounds(0, 1e9, below=True),
}


@dataclass(frozen=True, slots=True)
class PageFilter:
    """The pages that fit all that is given; None fits every page."""

    regex: str | None = None
    host: str | None = None
    state: str | None = None
    fetched: bool | None = None
