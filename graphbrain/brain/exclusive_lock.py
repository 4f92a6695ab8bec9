"""The exclusive right of one process to something. It lapses when the process has not renewed it in time."""

from __future__ import annotations

import uuid
from collections.abc import Callable

from graphbrain.graph.connection import Graph, Tx

__all__ = ["Hold"]


class Hold:
    """One process's right, kept for as long as its work goes on.

    `take`: the transaction that takes it, or holds it longer, for a token, from a time until another; False when
    another process has it, or there is nothing to do. `seconds`: a process that has not renewed it for so long is dead.
    """

    def __init__(
        self,
        graph: Graph,
        now: Callable[[], float],
        seconds: float,
        take: Callable[[Tx, str, float, float], bool],
        name: str,
    ) -> None:
        self.token = uuid.uuid4().hex
        self._graph, self._now, self._seconds, self._take, self._name = graph, now, seconds, take, name
        self._until = 0.0

    def take(self) -> bool:
        """Take it, or hold it longer. False when another process has it, or there is nothing to do."""
        now = self._now()
        self._until = now + self._seconds
        return self._write(now)

    def keep(self) -> bool:
        """Hold it longer if that is needed. False when it was lost."""
        return self._now() < self._until - self._seconds / 2 or self.take()

    def lapse(self) -> None:
        """Give it up after its work has failed half-way: another process may have it at once."""
        now = self._now()
        self._until = now - 1.0
        self._write(now)

    def _write(self, now: float) -> bool:
        until = self._until
        return self._graph.write(lambda tx: self._take(tx, self.token, now, until), self._name)
