"""A service on a brain, over real HTTP on loopback, in a thread of the test's process."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import httpx
import uvicorn

from graphbrain import AsyncClient, Brain
from graphbrain.service import access
from graphbrain.service.access import Role
from graphbrain.service.app import Application, Terms
from graphbrain.service.serve import ListenAddress, configured

ROLES = ("crawler", "analyst", "operator")
# A server that has just started plans each statement anew: on a busy machine that takes longer than the 5 s for which
# httpx waits by default.
for _phase in ("connect", "read", "write", "pool"):
    setattr(inspect.signature(httpx.get).parameters["timeout"].default, _phase, 60.0)


@contextlib.contextmanager
def serving(brain: Brain, terms: Terms | None = None) -> Iterator[str]:
    """The address of a service on this brain, until the end of the block."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        server = uvicorn.Server(configured(Application(brain, terms), ListenAddress()))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            until = time.monotonic() + 60
            while not server.started:
                assert thread.is_alive() and time.monotonic() < until, "the service does not start"
                time.sleep(0.01)
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(60)


def tokens(brain: Brain, *roles: Role) -> dict[str, str]:
    """A new token for each role, by it; those of older tests are gone."""
    for grant in access.grants(brain.graph):
        access.revoke(brain.graph, grant.name, brain.now())
    return {role: access.make(brain.graph, role, role, brain.now()) for role in roles or ROLES}


class Waiting:
    """An `AsyncClient` whose coroutines are waited for, so that the same test can use it."""

    def __init__(self, *given: Any, **named: Any) -> None:
        self._client = AsyncClient(*given, **named)
        self._loop = asyncio.new_event_loop()

    def __getattr__(self, verb: str) -> Callable[..., Any]:
        called = getattr(self._client, verb)

        def run(*given: Any, **named: Any) -> Any:
            found = called(*given, **named)
            if hasattr(found, "__aiter__"):
                return self._each(found)
            return self._loop.run_until_complete(found)

        return run

    def _each(self, found: Any) -> Iterator[Any]:
        try:
            while True:
                try:
                    yield self._loop.run_until_complete(anext(found))
                except StopAsyncIteration:
                    return
        finally:
            self._loop.run_until_complete(found.aclose())

    def __enter__(self) -> Waiting:
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.run_until_complete(self._client.close())
        self._loop.close()


def bearer(token: str) -> Mapping[str, str]:
    """The header that says who asks."""
    return {"Authorization": f"Bearer {token}"}
