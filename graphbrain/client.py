"""The clients of a service, by the short name that users import. `graphbrain.service.client` has the code."""

from graphbrain.service.client.asynchronous import AsyncClient
from graphbrain.service.client.synchronous import Client

__all__ = ["AsyncClient", "Client"]
