"""How far several callers spread over the same list, so as not to race for its head.

Cypher has no SKIP LOCKED: two callers that read the same head wait for each other, and the second finds it taken.
One caller alone takes the head exactly (`times` 1). Who loses candidates to others chooses at random among two,
four, … times as many, and comes back step by step when nothing is lost any more.
"""

from __future__ import annotations

import math

__all__ = ["Reach", "Spread"]

MOST = 8
LOST_TOO_MANY = 0.1
FURTHEST, LEAST_LOOK = 5.0, 40
"""Most candidates looked at for a claim; fewest looked at where not every one makes a claim."""
KEPT = 0.8
"""What the last calls count for when another is added to them."""


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


class Reach:
    """One process's guess of how many candidates it takes to find a claim, for not every host is ready. Races on it do
    no harm."""

    def __init__(self) -> None:
        self._used = self._claims = 1.0

    def saw(self, used: int, claims: int) -> None:
        """So many candidates were met before there were so many claims."""
        self._used, self._claims = KEPT * self._used + used, KEPT * self._claims + claims

    def look(self, wanted: int) -> int:
        """At how many candidates to look for so many claims."""
        times = min(self._used / max(self._claims, 1.0), FURTHEST)
        return wanted if times < 1.05 else max(LEAST_LOOK, math.ceil(wanted * times * 1.2))
