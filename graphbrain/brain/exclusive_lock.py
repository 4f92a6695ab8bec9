"""The exclusive right of one process to a task. It lapses when the process has not renewed it in time."""

from __future__ import annotations

import uuid
from collections.abc import Callable

from graphbrain.graph.connection import Graph, Tx

__all__ = ["Hold"]


class Hold:
    """The exclusive right of one process, which it renews while it works.

    Args:
        graph: The connection to the database.
        now: The clock, in epoch seconds.
        seconds: The right lapses this many seconds after it was last renewed.
        take: A transaction that takes or renews the right, from (tx, token, now, until). It returns False if another
            process has the right, or if there is nothing to do.
        name: The name of the transaction.
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
        """Take or renew the right. Return False if another process has it, or if there is nothing to do."""
        now = self._now()
        self._until = now + self._seconds
        return self._write(now)

    def keep(self) -> bool:
        """Renew the right if half of its time has passed. Return False if the right was lost."""
        return self._now() < self._until - self._seconds / 2 or self.take()

    def lapse(self) -> None:
        """Give up the right after a failure, so that another process may take it at once."""
        now = self._now()
        self._until = now - 1.0
        self._write(now)

    def _write(self, now: float) -> bool:
        until = self._until
        return self._graph.write(lambda tx: self._take(tx, self.token, now, until), self._name)
