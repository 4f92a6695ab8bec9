"""Pages and errors by the minute, for the last hour: a ring in memory, which begins with its process.

The graph counts by the hour. Nodes for minutes would be sixty times as many, each worker would write one more node in
each report's transaction, and another transaction would have to delete them. The ring costs nothing, and is lost when
the service restarts. The service adds samples of the graph's counters. A minute has the counts from its first sample to
the first sample of the next minute.
"""

from __future__ import annotations

from collections import deque
from itertools import pairwise

__all__ = ["MINUTES", "Minutes"]

MINUTES = 60


class Minutes:
    """A ring with the counters at the beginning of each of the last minutes, and the latest ones."""

    def __init__(self) -> None:
        self._begun: deque[tuple[int, int, int]] = deque(maxlen=MINUTES + 1)
        self._now: tuple[int, int, int] | None = None

    def add(self, at: float, pages: int, errors: int) -> None:
        """Add the counters of a time in epoch seconds. Smaller counters than before mean that the brain was cleared:
        the ring begins anew."""
        minute = int(at // 60)
        if self._now is not None and (pages < self._now[1] or errors < self._now[2]):
            self._begun.clear()
        self._now = (minute, pages, errors)
        if not self._begun or minute > self._begun[-1][0]:
            self._begun.append(self._now)

    def rows(self) -> list[tuple[float, int, int]]:
        """Return a row for each minute: its beginning in epoch seconds, the pages reported in it, and the failed ones.

        The last minute is not over. The pages of a minute without a sample are in the row of the minute before it.
        """
        if self._now is None:
            return []
        marks = [*self._begun, self._now]
        oldest = self._now[0] - MINUTES
        return [
            (one[0] * 60.0, other[1] - one[1], other[2] - one[2]) for one, other in pairwise(marks) if one[0] > oldest
        ]
