"""Policies of revisiting for the simulator: the choice of the next pages, and the learning from each visit.

All policies except round robin, proportional and Nutch's rule visit the page of the highest crawl value. `optimal`
knows the true rates; `lanes` is graphbrain's own (beliefs, and lanes of similar pages); `gamma` is the same with an
exact sort of all pages; the others put the rate of an estimator into the same crawl value. No policy knows the history.
"""

from __future__ import annotations

import heapq
from bisect import insort
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from graphbrain.base.numeric.arrays import Flags, Floats, Ints
from graphbrain.schedule import change_rate, lanes
from graphbrain.schedule.change_rate import PRIOR, Prior
from graphbrain.schedule.optimal_revisits import ripeness

__all__ = ["DEFAULT", "POLICIES", "RevisitPolicy", "Setting", "alike", "best"]

CERTAIN = 1e6
"""The shape of a belief that is nearly certain."""
FITS_AT = (200, 800, 3200, 12_800)
"""The numbers of first re-visits after which the prior is fitted again."""
REMEMBERED = 24
BUFFER = 8
SHARED = -1
KEPT_BITS = 30


@dataclass(frozen=True, slots=True)
class Setting:
    """The data of the pages that a policy gets.

    Attributes:
        rate: The true rates, which only `optimal` and `known-lanes` may use.
        prior: The first belief. None: it is fitted to the first re-visits of the crawl.
        reserve: The share of the visits for the page whose last visit is the oldest, whatever its value.
    """

    value: Floats
    rate: Floats
    host: Ints
    forgetting: float = change_rate.FORGETTING
    prior: Prior | None = None
    reserve: float = 0.01


class RevisitPolicy:
    """A policy that visits the pages of the highest value (`worth`), as far as their hosts have room."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.pages = len(setting.value)
        self.last = np.zeros(self.pages)
        self.visits, self.changes = np.zeros(self.pages), np.zeros(self.pages)

    def worth(self, now: float) -> Floats:
        """Return the value of a visit of each page now; −inf for none."""
        raise NotImplementedError

    def choose(self, now: float, count: int, room: Ints | None) -> Ints:
        """Return up to `count` pages to visit now. `room`: the visits that each host still accepts; None: any
        number."""
        worth = self.worth(now)
        if room is None:
            return best(worth, count)
        order = best(worth, self.pages)
        return order[_nth_of_host(self.setting.host[order]) < room[self.setting.host[order]]][:count]

    def seen(self, now: float, pages: Ints, changed: Flags) -> None:
        """Record that the pages were visited, and whether they had changed since their last visit."""
        elapsed = now - self.last[pages]
        self.visits[pages] += 1.0
        self.changes[pages] += changed
        self.last[pages] = now
        self.learn(pages, elapsed, changed)

    def learn(self, pages: Ints, elapsed: Floats, changed: Flags) -> None:
        """Learn from visits. The base class only counts them."""


def best(worth: Floats, count: int) -> Ints:
    """Return the places of the `count` largest values above −inf, the largest first. Of equals the first comes first.

    The result is the same on every machine. numpy's partition and its order of equals depend on the processor, and so
    do the last digits of its logarithms. Numbers that differ only in these digits count as equal.
    """
    worth = alike(worth)
    if 0 < count < len(worth):
        least = np.partition(worth, len(worth) - count)[len(worth) - count]
        some = np.flatnonzero(worth >= least)
    else:
        some = np.arange(len(worth))[: max(count, 0) and None]
    some = some[worth[some] > -np.inf]
    return some[np.argsort(-worth[some], kind="stable")][:count]


def alike(numbers: Floats) -> Floats:
    """Return numbers rounded to some nine digits. Differences between processors disappear."""
    parts, exponents = np.frexp(numbers)
    rounded: Floats = np.ldexp(np.rint(np.ldexp(parts, KEPT_BITS)), exponents - KEPT_BITS)
    return np.where(np.isfinite(numbers), rounded, numbers)


def _nth_of_host(host: Ints) -> Ints:
    """Return the number of pages of the same host before each page."""
    order = np.argsort(host, kind="stable")
    ordered = host[order]
    first = np.searchsorted(ordered, ordered)
    nth = np.empty(len(host), dtype=np.int64)
    nth[order] = np.arange(len(host)) - first
    return nth


class _Due(RevisitPolicy):
    """A policy of visits in the order of `last + interval`, the longest overdue first."""

    interval: Floats

    def worth(self, now: float) -> Floats:
        return now - self.last - self.interval


class RoundRobin(_Due):
    """A policy that visits the page whose last visit is the oldest."""

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self.interval = np.zeros(self.pages)


class Proportional(RevisitPolicy):
    """A policy that visits a page in proportion to its value."""

    def worth(self, now: float) -> Floats:
        return (now - self.last) * self.setting.value


class Nutch(_Due):
    """Nutch's adaptive rule: the interval grows by .4 of itself without a change, and shrinks by .2 with one."""

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self.interval = np.full(self.pages, 30.0)

    def learn(self, pages: Ints, elapsed: Floats, changed: Flags) -> None:  # noqa: ARG002
        self.interval[pages] = np.clip(self.interval[pages] * np.where(changed, 0.8, 1.4), 1 / 1440, 365.0)


class KnownRates(RevisitPolicy):
    """A policy that visits the page of the highest crawl value, by its true rate. Subclasses estimate the rate."""

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self.rate = setting.rate.copy()

    def worth(self, now: float) -> Floats:
        moving = (self.rate > 0.0) & (self.setting.value > 0.0)
        cap = np.divide(self.setting.value, self.rate, out=np.zeros(self.pages), where=moving)
        return np.where(moving, cap * ripeness(self.rate * (now - self.last)), -np.inf)


class Estimated(KnownRates):
    """A policy by crawl values, with rates that an estimator derives from counts. Until the first re-visit the rate is
    that of `PRIOR`."""

    def __init__(
        self, setting: Setting, estimate: Callable[[Floats, Floats, Floats], Floats], floor: float = 0.0
    ) -> None:
        super().__init__(setting)
        self.rate[:] = PRIOR.rate
        self._estimate, self._floor = estimate, floor

    def learn(self, pages: Ints, elapsed: Floats, changed: Flags) -> None:  # noqa: ARG002
        visits, changes, observed = self.visits[pages], self.changes[pages], np.maximum(self.last[pages], 1e-9)
        self.rate[pages] = np.maximum(self._estimate(visits, changes, observed), self._floor / observed)


class Intervals(KnownRates):
    """A policy by crawl values, with the likeliest rate for each page's last 24 intervals and Kolobov's pseudo
    intervals of half a day."""

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self.rate[:] = PRIOR.rate
        self._elapsed = np.zeros((self.pages, REMEMBERED))
        self._changed = np.zeros((self.pages, REMEMBERED), dtype=bool)

    def learn(self, pages: Ints, elapsed: Floats, changed: Flags) -> None:
        column = ((self.visits[pages] - 1) % REMEMBERED).astype(np.int64)
        self._elapsed[pages, column], self._changed[pages, column] = elapsed, changed
        self.rate[pages] = change_rate.interval_rate(self._elapsed[pages], self._changed[pages], pseudo=0.5)


class Gamma(RevisitPolicy):
    """A policy with beliefs about rates. It visits the page of the highest expected crawl value, by an exact sort."""

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self.prior = setting.prior or PRIOR
        self.shape, self.scale = np.full(self.pages, self.prior.shape), self.prior.scale_of(setting.value)
        self._first: list[tuple[Floats, Flags, Floats]] = []
        self._fits = list(FITS_AT) if setting.prior is None else []

    def worth(self, now: float) -> Floats:
        return self._expected(np.arange(self.pages), now)

    def _expected(self, pages: Ints, now: float) -> Floats:
        age = now - self.last[pages]
        return change_rate.expected_value(self.setting.value[pages], self.shape[pages], self.scale[pages], age)

    def learn(self, pages: Ints, elapsed: Floats, changed: Flags) -> None:
        value = self.setting.value[pages]
        self.shape[pages], self.scale[pages] = change_rate.after_visit(
            self.shape[pages], self.scale[pages], elapsed, changed, self.prior, self.setting.forgetting, value
        )
        if self._fits:
            self._remember(self.visits[pages] == 1.0, elapsed, changed, value)

    def _remember(self, first: Flags, elapsed: Floats, changed: Flags, value: Floats) -> None:
        """Keep the first re-visits, and fit the prior to them when there are enough."""
        self._first.append((elapsed[first], changed[first], value[first]))
        if sum(len(days) for days, *_ in self._first) < self._fits[0]:
            return
        self._fits.pop(0)
        days, has_changed, values = (np.concatenate(column) for column in zip(*self._first, strict=True))
        self.prior = change_rate.fit_prior(days, has_changed, PRIOR, values)
        fresh = self.visits == 0.0
        self.shape[fresh], self.scale[fresh] = self.prior.shape, self.prior.scale_of(self.setting.value[fresh])
        self.believed_anew(np.flatnonzero(fresh))

    def believed_anew(self, pages: Ints) -> None:
        """Compute the belief on these pages again, because the prior has changed."""


class GammaMean(Gamma):
    """A policy with the beliefs of `Gamma` that uses their mean as the rate."""

    def worth(self, now: float) -> Floats:
        rate = self.shape / self.scale
        return self.setting.value / rate * ripeness(rate * (now - self.last))


class LaneByLane(Gamma):
    """The policy of graphbrain: beliefs and lanes. The heads of lanes are merged by the value of a page of that lane
    and age.

    A page whose turn comes while its host has no room moves to the queue of its host. The lanes of that queue take part
    while the host has room. A share of the visits (`reserve`) is for the oldest head of all.
    """

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._lanes: dict[tuple[int, int], list[tuple[float, int]]] = {}
        self._key: list[tuple[int, int]] = [(SHARED, 0)] * self.pages
        self._queued: set[int] = set()
        self._reserved = 0.0
        self._wait(np.arange(self.pages))

    def _wait(self, pages: Ints) -> None:
        """Put pages into their lanes."""
        classes = lanes.revisit_lane(self.setting.value[pages], self.shape[pages], self.scale[pages])
        for page, lane in zip(pages.tolist(), classes.tolist(), strict=True):
            host = int(self.setting.host[page])
            self._enter(page, (host if host in self._queued else SHARED, lane))

    def _enter(self, page: int, key: tuple[int, int]) -> None:
        self._key[page] = key
        insort(self._lanes.setdefault(key, []), (float(self.last[page]), page))

    def _leave(self, key: tuple[int, int], count: int) -> None:
        lane = self._lanes[key]
        del lane[:count]
        if not lane:
            del self._lanes[key]

    def learn(self, pages: Ints, elapsed: Floats, changed: Flags) -> None:
        super().learn(pages, elapsed, changed)
        self._wait(pages)

    def believed_anew(self, pages: Ints) -> None:
        for page in pages.tolist():
            row = (float(self.last[page]), page)
            lane = self._lanes.get(self._key[page], [])
            if row in lane:  # the pages that are visited now are in no lane
                lane.remove(row)
        self._lanes = {key: lane for key, lane in self._lanes.items() if lane}
        self._wait(pages)

    def choose(self, now: float, count: int, room: Ints | None) -> Ints:
        remaining = None if room is None else room.copy()
        chosen: list[int] = []
        self._reserved += count * self.setting.reserve
        while self._reserved >= 1.0 and len(chosen) < count:
            self._reserved -= 1.0
            self._take_oldest(chosen, remaining)
        self._merge(now, count, chosen, remaining)
        return np.array(chosen, dtype=np.int64)

    def _take_oldest(self, chosen: list[int], remaining: Ints | None) -> None:
        open_heads = [
            (lane[0], key)
            for key, lane in self._lanes.items()
            if remaining is None or remaining[self.setting.host[lane[0][1]]] > 0
        ]
        if open_heads:
            (_, page), key = min(open_heads)
            self._leave(key, 1)
            self._grant(page, chosen, remaining)

    def _grant(self, page: int, chosen: list[int], remaining: Ints | None) -> None:
        chosen.append(page)
        if remaining is not None:
            remaining[self.setting.host[page]] -= 1

    def _merge(self, now: float, count: int, chosen: list[int], remaining: Ints | None) -> None:
        """Choose pages by taking the best head of all lanes again and again. Lanes are read in buffers, like rows of an
        index."""
        # Begin with the heads of all lanes.
        keys = [key for key in self._lanes if remaining is None or key[0] == SHARED or remaining[key[0]] > 0]
        taken = dict.fromkeys(keys, 0)
        heads = self._buffers(keys, 0, now)
        heapq.heapify(heads)
        while heads and len(chosen) < count:
            # Take the best head, or move it to its host's queue.
            _, key, worth, row = heads[0]
            page = self._lanes[key][row][1]
            host = int(self.setting.host[page])
            if remaining is not None and remaining[host] <= 0:
                if key[0] != SHARED:
                    heapq.heappop(heads)  # the host is full, and its queue waits
                    continue
                self._queued.add(host)
                self._enter(page, (host, key[1]))
            else:
                self._grant(page, chosen, remaining)
            # Go on with the next row of that lane.
            taken[key] = row + 1
            if row + 1 == len(self._lanes[key]):
                heapq.heappop(heads)
                continue
            if (row + 1) % BUFFER == 0:
                heapq.heapreplace(heads, self._buffers([key], row + 1, now)[0])
            else:
                heapq.heapreplace(heads, (-worth[(row + 1) % BUFFER], key, worth, row + 1))
        # Remove what was taken.
        for key, number in taken.items():
            if number:
                self._leave(key, number)

    def _buffers(
        self, keys: list[tuple[int, int]], start: int, now: float
    ) -> list[tuple[float, tuple[int, int], list[float], int]]:
        """Return a buffer of the next rows of each lane: the value of the first (negated), the lane, all values, and
        the place of the first."""
        rows = [[last for last, _ in self._lanes[key][start : start + BUFFER]] for key in keys]
        lane = np.array([key[1] for key, row in zip(keys, rows, strict=True) for _ in row], dtype=np.int64)
        worth = alike(lanes.head_value(lane, now - np.array([last for row in rows for last in row]))).tolist()
        buffers, at = [], 0
        for key, row in zip(keys, rows, strict=True):
            buffers.append((-worth[at], key, worth[at : at + len(row)], start))
            at += len(row)
        return buffers


class KnownLanes(LaneByLane):
    """A policy of lanes with the true rates, which shows the cost of the grid alone."""

    def __init__(self, setting: Setting) -> None:
        self._certain = CERTAIN / np.maximum(setting.rate, 1e-9)
        super().__init__(setting)

    def _wait(self, pages: Ints) -> None:
        self.shape[pages], self.scale[pages] = CERTAIN, self._certain[pages]
        super()._wait(pages)


POLICIES: dict[str, Callable[[Setting], RevisitPolicy]] = {
    "optimal": KnownRates,
    "known-lanes": KnownLanes,
    "lanes": LaneByLane,
    "gamma": Gamma,
    "gamma-mean": GammaMean,
    "interval": Intervals,
    "equal-interval": lambda s: Estimated(s, lambda n, x, t: change_rate.bias_corrected_rate(n, x, t / n), floor=0.5),
    "large-numbers": lambda s: Estimated(s, change_rate.large_numbers_rate),
    "naive-floor": lambda s: Estimated(s, lambda _, x, t: change_rate.naive_rate(x, t), floor=0.5),
    "naive": lambda s: Estimated(s, lambda _, x, t: change_rate.naive_rate(x, t)),
    "nutch": Nutch,
    "proportional": Proportional,
    "round-robin": RoundRobin,
}
DEFAULT = ("optimal", "lanes", "naive", "nutch", "proportional", "round-robin")
