"""Both clients send a request for lines when the first line is asked for, and not at the call."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator

import pytest

from graphbrain import AsyncClient, Client
from graphbrain.base.errors import ServiceUnavailable


@pytest.fixture
def nobody() -> Iterator[str]:
    """The URL of a port that is bound, so that no other process gets it, and on which no service listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


@pytest.mark.parametrize("verb", ["find", "dump_pages", "dump_links", "hosts"])
def test_the_client_that_waits(nobody: str, verb: str) -> None:
    with Client(nobody, "token", limit_seconds=0.1) as client:
        lines = getattr(client, verb)()
        with pytest.raises(ServiceUnavailable):
            next(lines)


@pytest.mark.parametrize("verb", ["find", "dump_pages", "dump_links", "hosts"])
def test_the_client_for_event_loops(nobody: str, verb: str) -> None:
    async def ask() -> None:
        async with AsyncClient(nobody, "token", limit_seconds=0.1) as client:
            lines = getattr(client, verb)()
            with pytest.raises(ServiceUnavailable):
                await anext(lines)

    asyncio.run(ask())
