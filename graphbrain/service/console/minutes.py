"""Pages and errors by the minute, for the last hour: a ring in memory, which begins with its process.

The graph counts by the hour. Nodes for minutes would be sixty times as many, each worker would write one more node in
each report's transaction, and another transaction would have to delete them. The ring costs nothing, and is lost when
the service restarts. The service adds samples of the graph's counters. A minute has the counts from its first sample to
the first sample of the next minute.
"""

from __future__ import annotations

from collections import deque
from itertools import pairwise
from typing import NamedTuple

__all__ = ["MINUTES", "Minutes"]

MINUTES = 60


class Counters(NamedTuple):
    """The counters of the graph at a minute since the epoch."""

    minute: int
    pages: int
    errors: int


class Minutes:
    """A ring with the counters at the beginning of each of the last minutes, and the latest ones."""

    def __init__(self) -> None:
        self._begun: deque[Counters] = deque(maxlen=MINUTES + 1)
        self._now: Counters | None = None

    def add(self, at: float, pages: int, errors: int) -> None:
        """Add the counters of a time in epoch seconds. Smaller counters than before mean that the brain was cleared:
        the ring begins anew."""
        minute = int(at // 60)
        if self._now is not None and (pages < self._now.pages or errors < self._now.errors):
            self._begun.clear()
        self._now = Counters(minute, pages, errors)
        if not self._begun or minute > self._begun[-1].minute:
            self._begun.append(self._now)

    def rows(self) -> list[tuple[float, int, int]]:
        """Return a row for each minute: its beginning in epoch seconds, the pages reported in it, and the failed ones.

        The last minute is not over. The pages of a minute without a sample are in the row of the minute before it.
        """
        if self._now is None:
            return []
        marks = [*self._begun, self._now]
        oldest = self._now.minute - MINUTES
        return [
            (begun.minute * 60.0, after.pages - begun.pages, after.errors - begun.errors)
            for begun, after in pairwise(marks)
            if begun.minute > oldest
        ]
