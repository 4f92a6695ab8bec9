"""The brain of a web crawler, kept in a Neo4j graph."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from graphbrain.errors import GraphbrainError

if TYPE_CHECKING:
    from graphbrain.base.model import Answer, Claim, Claims, Failed, Fetched, Hint, Link, Page, Resource, Seen
    from graphbrain.brain.brain import Brain
    from graphbrain.service.client.asynchronous import AsyncClient
    from graphbrain.service.client.synchronous import Client

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


_OF_MODEL = frozenset({"Answer", "Claim", "Claims", "Failed", "Fetched", "Hint", "Link", "Page", "Resource", "Seen"})


def __getattr__(name: str) -> Any:
    """Import a name on first use: the driver and numpy take most of a second to load, and the values a tenth of one."""
    if name in _OF_MODEL:
        value = getattr(importlib.import_module("graphbrain.base.model"), name)
    elif name == "Brain":
        value = importlib.import_module("graphbrain.brain.brain").Brain
    elif name in ("Client", "AsyncClient"):
        value = _client(name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(globals().keys() | set(__all__))


def _client(name: str) -> Any:
    try:
        from graphbrain.service.client import asynchronous, synchronous
    except ImportError as error:
        raise GraphbrainError(
            f"The client needs more ({error.name}): pip install '.[client]' in graphbrain's checkout."
        ) from None
    return synchronous.Client if name == "Client" else asynchronous.AsyncClient
