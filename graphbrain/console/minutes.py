"""Pages and errors by the minute, for the last hour: a ring in memory, that begins with its process.

The graph counts by the hour. Whoever has samples of its counters hands them in; a minute has what was counted from its
first sample to that of the next one.
"""

from __future__ import annotations

from collections import deque
from itertools import pairwise

__all__ = ["MINUTES", "Minutes"]

MINUTES = 60


class Minutes:
    """The counters at the beginning of each of the last minutes, and now."""

    def __init__(self) -> None:
        self._begun: deque[tuple[int, int, int]] = deque(maxlen=MINUTES + 1)
        self._now: tuple[int, int, int] | None = None

    def add(self, at: float, pages: int, errors: int) -> None:
        """The counters as they are at this time, in epoch seconds. Those that went back begin anew: the brain was
        cleared."""
        minute = int(at // 60)
        if self._now is not None and (pages < self._now[1] or errors < self._now[2]):
            self._begun.clear()
        self._now = (minute, pages, errors)
        if not self._begun or minute > self._begun[-1][0]:
            self._begun.append(self._now)

    def rows(self) -> list[tuple[float, int, int]]:
        """Of each minute: when it began, in epoch seconds, the pages reported in it, and those of them that failed.

        The last one is not over. A minute without a sample has its share in the one before it, and is left out.
        """
        if self._now is None:
            return []
        marks = [*self._begun, self._now]
        oldest = self._now[0] - MINUTES
        return [
            (one[0] * 60.0, other[1] - one[1], other[2] - one[2]) for one, other in pairwise(marks) if one[0] > oldest
        ]
