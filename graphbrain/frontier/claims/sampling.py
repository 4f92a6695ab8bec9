"""The number of candidates that a call reads, and the spread of several callers over the same list.

Cypher has no SKIP LOCKED: of two callers that read the same head of a queue, the second waits for the first, and finds
its candidates claimed. A single caller takes exactly the head (`times` 1). A caller that loses candidates to others
chooses at random among two, four, … times as many, and returns to 1 step by step when it loses none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

__all__ = ["ClaimShare", "Owed", "Reach", "Spread", "Yield"]

MOST = 8
LOST_TOO_MANY = 0.1
FURTHEST, LEAST_LOOK = 5.0, 40
"""Most candidates that are read for one claim, and least candidates that are read if not all become claims."""
NEARLY_ALL = 0.95
"""A larger share of the candidates counts as all of them."""
SURE = 2.0
"""So many standard deviations fewer claims than expected must still be enough: in 98 of 100 calls they are."""
KEPT = 0.8
"""The weight of the earlier calls when another is added to them."""


class Spread:
    """A process's estimate of the number of callers. Races between threads do no harm."""

    def __init__(self) -> None:
        self.times = 1
        self._quiet = 0

    def saw(self, seen: int, lost: int) -> None:
        """Count `lost` of `seen` candidates that another caller had taken."""
        if seen and lost > LOST_TOO_MANY * seen:
            self.times = min(MOST, self.times * 2)
            self._quiet = 0
        else:
            self._quiet += 1
            if self._quiet >= 20:
                self.times = max(1, self.times // 2)
                self._quiet = 0


class Yield:
    """A process's estimate of the share of candidates of one kind that become claims: not every host is ready. Races
    between threads do no harm."""

    def __init__(self) -> None:
        self._used = self._claims = 1.0

    def saw(self, used: int, claims: int) -> None:
        """Note how many candidates were examined until there were enough claims, and how many claims they made."""
        if used:
            self._used, self._claims = KEPT * self._used + used, KEPT * self._claims + claims

    @property
    def share(self) -> float:
        """The share of the candidates that become claims; 1 if nearly all do."""
        share = max(self._claims / self._used, 1.0 / FURTHEST)
        return 1.0 if share > NEARLY_ALL else share

    def look(self, wanted: int) -> int:
        """Return the number of candidates to read for so many claims."""
        return wanted if self.share == 1.0 else max(LEAST_LOOK, math.ceil(wanted / self.share * 1.2))


class Reach:
    """The estimated yields of candidates in queues of `ready` hosts, and in the `shared` queue."""

    def __init__(self) -> None:
        self.ready, self.shared = Yield(), Yield()

    def enough(self, ready: Sequence[bool], wanted: int) -> int:
        """Return how many of these candidates will most likely be enough for `wanted` claims. `ready`: whether each is
        in the queue of a ready host."""
        share = np.where(np.asarray(ready, dtype=bool), self.ready.share, self.shared.share)
        expected = np.cumsum(share) - SURE * np.sqrt(np.cumsum(share * (1.0 - share)))
        enough = int(np.count_nonzero(np.maximum.accumulate(expected) < wanted - 1e-6)) + 1
        if np.any(share[:enough] < 1.0):
            enough = max(enough, LEAST_LOOK)
        return min(len(share), enough)


class Owed:
    """Shares of the claims of calls that may be too small for whole places: the rest is added to the next call. Races
    between threads do no harm."""

    def __init__(self) -> None:
        self._owed: dict[str, float] = {}

    def places(self, name: str, part: float, n: int) -> int:
        """Return how many of `n` claims are due to a kind that has this part of all claims."""
        places = min(self._owed.get(name, 0.0) + part * n, float(n))
        self._owed[name] = places - int(places)
        return int(places)


class ClaimShare:
    """A limit of the share of all claims that a kind may have while others wait. Races between threads do no harm.

    `part`: the share, which may change. What was not taken is not saved up, but for the places of one call. The places
    of the first call are rounded by `luck` (evenly from 0 to 1), so that processes that make a single call do their
    share too; what it had too much of is owed.
    """

    def __init__(self, part: Callable[[], float], luck: float) -> None:
        self._part = part
        self._credit = 0.0
        self._luck = luck

    def places(self, n: int) -> int:
        """Return how many of the next `n` claims it may have."""
        places = self._credit + self._part() * n + 1e-9
        return max(0, min(n, int(places + self._luck)))

    def took(self, count: int, n: int) -> None:
        """It has `count` so many of its places in a call for `n`. If it had places and found nothing, it is owed
        nothing: no page waits for a share that nothing took."""
        if not count and self.places(n):
            return
        self._luck = 0.0
        part = self._part()
        self._credit = min(self._credit + part * n - count, max(1.0, part * n))
