"""The brain of a web crawler, kept in a Neo4j graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphbrain.errors import GraphbrainError
from graphbrain.model import Answer, Claim, Claims, Failed, Fetched, Hint, Link, Page, Resource, Seen

if TYPE_CHECKING:
    from graphbrain.brain.brain import Brain
    from graphbrain.client.asynchronous import AsyncClient
    from graphbrain.client.synchronous import Client

__version__ = "0.1.0"
__all__ = [
    "Answer",
    "AsyncClient",
    "Brain",
    "Claim",
    "Claims",
    "Client",
    "Failed",
    "Fetched",
    "GraphbrainError",
    "Hint",
    "Link",
    "Page",
    "Resource",
    "Seen",
]


def __getattr__(name: str) -> Any:
    """Import `Brain` and the clients on first use: the driver and numpy take most of a second to load."""
    if name == "Brain":
        from graphbrain.brain.brain import Brain

        return Brain
    if name in ("Client", "AsyncClient"):
        return _client(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _client(name: str) -> Any:
    try:
        from graphbrain.client import asynchronous, synchronous
    except ImportError as error:
        raise GraphbrainError(
            f"The client needs more ({error.name}): pip install '.[client]' in graphbrain's checkout."
        ) from None
    return synchronous.Client if name == "Client" else asynchronous.AsyncClient
