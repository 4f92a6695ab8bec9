"""How far several callers spread over the same list, so as not to race for its head.

Cypher has no SKIP LOCKED: two callers that read the same head wait for each other, and the second finds it taken.
One caller alone takes the head exactly (`times` 1). Who loses candidates to others chooses at random among two,
four, … times as many, and comes back step by step when nothing is lost any more.
"""

from __future__ import annotations

__all__ = ["Spread"]

MOST = 8
LOST_TOO_MANY = 0.1


class Spread:
    """One process's guess of how many callers there are. Races on it do no harm."""

    def __init__(self) -> None:
        self.times = 1
        self._quiet = 0

    def saw(self, seen: int, lost: int) -> None:
        """`lost` of `seen` candidates had been taken by somebody else."""
        if seen and lost > LOST_TOO_MANY * seen:
            self.times = min(MOST, self.times * 2)
            self._quiet = 0
        else:
            self._quiet += 1
            if self._quiet >= 20:
                self.times = max(1, self.times // 2)
                self._quiet = 0
