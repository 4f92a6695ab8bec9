"""The right to something that one process at a time does: it lapses when whoever has it is not heard of."""

from __future__ import annotations

import uuid
from collections.abc import Callable

from graphbrain.graph.connection import Graph, Tx

__all__ = ["Hold"]


class Hold:
    """One process's right, kept for as long as what it is about goes on.

    `take`: the transaction that takes it, or holds it longer, for a token, at a time, until another; False when
    somebody else has it, or there is nothing to do. `seconds`: who has not been heard of for so long is dead.
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
        """Take it, or hold it longer; False when somebody else has it, or there is nothing to do."""
        now = self._now()
        self._until = now + self._seconds
        return self._write(now)

    def keep(self) -> bool:
        """Hold it longer if that is needed; False when it was lost."""
        return self._now() < self._until - self._seconds / 2 or self.take()

    def lapse(self) -> None:
        """What it is about has failed half-way: somebody else may have it at once."""
        now = self._now()
        self._until = now - 1.0
        self._write(now)

    def _write(self, now: float) -> bool:
        until = self._until
        return self._graph.write(lambda tx: self._take(tx, self.token, now, until), self._name)
