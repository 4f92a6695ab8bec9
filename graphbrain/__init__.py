"""The brain of a web crawler, kept in a Neo4j graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphbrain.errors import GraphbrainError
from graphbrain.model import Answer, Claim, Claims, Failed, Fetched, Hint, Link, Page, Seen

if TYPE_CHECKING:
    from graphbrain.brain.brain import Brain

__version__ = "0.1.0"
__all__ = ["Answer", "Brain", "Claim", "Claims", "Failed", "Fetched", "GraphbrainError", "Hint", "Link", "Page", "Seen"]


def __getattr__(name: str) -> Any:
    """`Brain`, imported when it is asked for: the driver and numpy take most of a second to load."""
    if name == "Brain":
        from graphbrain.brain.brain import Brain

        return Brain
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
