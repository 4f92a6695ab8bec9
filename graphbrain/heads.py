"""The pages that a claim should take: read from the heads of the queues, without a lock, best first.

Under the orders that never come back the index itself is in the right order. Under `optimal` what a page is worth
grows with its age, lane by lane: the first page of each lane is read, and of the best lanes more; which lanes there
are each process finds out for itself (`ranges`).
Statements: claims/heads, claims/host_heads, claims/ripe_at, claims/lane_heads, claims/ready_hosts.
"""

from __future__ import annotations

import random
import threading
from collections import OrderedDict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from graphbrain.graph import Tx
from graphbrain.hosts import SHARED_QUEUE, Manners, aside_queue
from graphbrain.lanes import read_lanes
from graphbrain.opichits import Floats, Ints
from graphbrain.ranges import EMPTY, END, Ranges
from graphbrain.schedule import Schedule

__all__ = ["ByWorth", "Finder", "Found", "InOrder"]

FAIR_SHARE = 4
"""One in so many places of a batch goes to the host that has been ready longest, whatever the value of its page:
without it, hosts of poor pages would fill the list of ready hosts and hide the others."""
SHARED_LOOKS, HOST_LOOKS = 512, 8
"""Ranges that are looked into at most, of the shared queue and of each host's own."""
DEEP_LANES, DEEPER = 8, 16
"""So many of the best lanes are read as deep as the batch, those that may still have a page for it so deep."""
MOST_ROUNDS = 32
SAMPLE, FEW = 4, 32
"""So many pages of a queue are read, and then so many, before its ranges are looked into: most queues are short, or
begin with a page that may be visited."""
HOSTS_KNOWN = 20_000

Page = tuple[int, int, float]
"""(id, lane, waiting since)"""


@dataclass(frozen=True, slots=True)
class Found:
    """Candidates and their places in the order; hosts whose queue seemed to hold nothing for now."""

    order: dict[int, tuple[float, int]] = field(default_factory=dict)
    idle: Sequence[str] = ()
    worth: dict[int, float] = field(default_factory=dict)
    """What a visit is worth of those that were visited before."""


class Finder(Protocol):
    """How candidates are found."""

    def find(self, tx: Tx, n: int, look: int, now: float, manners: Manners, spread: int) -> Found:
        """Candidates for `n` claims: the best `look`, or as many at random among the best `n` × `spread`."""

    def ripe_at(self, tx: Tx, queues: Sequence[str], now: float) -> dict[str, float]:
        """From when on a page of each of these queues may be visited, or any moment up to `now` where one may be by
        then; a queue that holds none is missing."""


class InOrder:
    """Best first and breadth first: the index is in the right order."""

    def find(self, tx: Tx, n: int, look: int, now: float, manners: Manners, spread: int) -> Found:
        width = max(look, n * spread)
        shared = tx.one("claims/heads", now=now, limit=width)[0]
        per_host = 1 if manners.delay > 0 else max(1, min(manners.most or 8, 32))
        offers = _ready(tx, now, width, manners)
        names = [queue for queues in offers.values() for queue in queues]
        ready = tx.one("claims/host_heads", names=names, now=now, per_host=per_host)[0] if names else []
        own = [head for _, heads in ready for head in heads]
        fair = own[: max(1, n // FAIR_SHARE)] if own else []
        rest = sorted(shared + own[len(fair) :], key=lambda head: head[1])[: max(0, width - len(fair))]
        if spread > 1 and len(rest) > look:
            rest = sorted(random.sample(rest, look), key=lambda head: head[1])
        order: dict[int, tuple[float, int]] = {page: (-1.0, place) for place, (page, _) in enumerate(fair)}
        for place, (page, lane) in enumerate(rest):
            order.setdefault(page, (lane, place))
        return Found(order, _idle(offers, {name for name, heads in ready if heads}))

    def ripe_at(self, tx: Tx, queues: Sequence[str], now: float) -> dict[str, float]:  # noqa: ARG002  any will do
        return {name: float(since) for name, since in tx.one("claims/ripe_at", queues=sorted(queues))[0]}


class ByWorth:
    """The order `optimal`: by what a visit is worth now. One of it serves all threads of a process."""

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule
        self._lock = threading.Lock()
        self._known: OrderedDict[str, Ranges] = OrderedDict()
        self._due = {"frontier": 0.0, "oldest": 0.0}
        self._deep_lanes = 1

    def find(self, tx: Tx, n: int, look: int, now: float, manners: Manners, spread: int) -> Found:
        width = max(look, n * spread)
        offers = _ready(tx, now, width, manners)
        names = [queue for queues in offers.values() for queue in queues]
        own, shared = self._best(tx, names, width, now)
        fair = [own[name] for name in names if name in own][: max(1, n // FAIR_SHARE)]
        first = {page[0] for page in fair}
        rest = _sorted([*shared, *(page for page in own.values() if page[0] not in first)], self.schedule, now)
        rest = self._reserved(rest, n)[: max(0, width - len(fair))]
        if spread > 1 and len(rest) > look:
            rest = [rest[place] for place in sorted(random.sample(range(len(rest)), look))]
        order = {page[0]: (-1.0, place) for place, page in enumerate(fair)}
        for place, page in enumerate(rest):
            order.setdefault(page[0], (0.0, place))
        return Found(order, _idle(offers, own), self._worth_again([*fair, *rest], now))

    def _worth_again(self, pages: Sequence[Page], now: float) -> dict[int, float]:
        if not pages:
            return {}
        lane, since = _waiting(pages)
        worth = self.schedule.worth(lane, since, now)
        again = ~read_lanes(lane).frontier & np.isfinite(worth) & (worth > 0.0)
        return {page[0]: one for page, one, was in zip(pages, worth.tolist(), again.tolist(), strict=True) if was}

    def ripe_at(self, tx: Tx, queues: Sequence[str], now: float) -> dict[str, float]:
        moments: dict[str, float] = {}
        unsure: Sequence[str] = sorted(set(queues))
        for few in (SAMPLE, FEW):
            first = self._first(tx, unsure, few)
            moments |= self._ripe_among(first)
            unsure = [queue for queue, pages in first.items() if len(pages) == few and moments[queue] > now]
        return moments | self._ripe_by_ranges(tx, unsure)

    @staticmethod
    def _first(tx: Tx, queues: Sequence[str], limit: int) -> dict[str, list[Page]]:
        """The first pages of queues."""
        rows = _lane_heads(tx, [[queue, 0, END] for queue in queues], limit)
        return dict(zip(queues, rows, strict=True))

    def _ripe_among(self, found: Mapping[str, Sequence[Page]]) -> dict[str, float]:
        """From when on one of these pages of each queue may be visited; a queue without any is missing."""
        queues = [queue for queue, pages in found.items() for _ in pages]
        each = self.schedule.ripe_at(*_waiting([page for pages in found.values() for page in pages])).tolist()
        moments: dict[str, float] = {}
        for queue, moment in zip(queues, each, strict=True):
            moments[queue] = min(moment, moments.get(queue, moment))
        return moments

    def _ripe_by_ranges(self, tx: Tx, queues: Sequence[str]) -> dict[str, float]:
        left = {queue: self._ranges(queue) for queue in queues}
        whole: dict[str, Ranges] = {}
        while left:
            _, after, _ = self._look(tx, left, {queue: np.arange(len(known)) for queue, known in left.items()})
            # Where new lanes were found, something may stand behind them.
            fresh = {queue for queue, known in left.items() if self._fresh(known, after[queue])}
            whole |= {queue: known for queue, known in after.items() if queue not in fresh}
            left = {queue: known for queue, known in after.items() if queue in fresh}
        moments = self._over(whole.values(), self.schedule.ripe_at, np.inf)
        first = zip(whole, (float(each.min(initial=np.inf)) for each in moments), strict=True)
        return {queue: moment for queue, moment in first if moment < np.inf}

    @staticmethod
    def _fresh(before: Ranges, after: Ranges) -> bool:
        """Were lanes found that nobody knew of?"""
        return bool(np.setdiff1d(after.lane, before.lane).size)

    def _ranges(self, queue: str) -> Ranges:
        with self._lock:
            known = self._known.get(queue)
            if known is None:
                known = Ranges.unknown()
                self._known[queue] = known
                while len(self._known) > HOSTS_KNOWN:
                    self._known.popitem(last=False)
            self._known.move_to_end(queue)
            return known

    def _look(
        self,
        tx: Tx,
        known: Mapping[str, Ranges],
        places: Mapping[str, Ints],
        deep: Sequence[int] = (),
        most: int = 1,
    ) -> tuple[dict[str, list[Page]], dict[str, Ranges], list[Page]]:
        """Look into ranges of queues, and remember what was seen: the first pages, and the ranges as they are now;
        and the first `most` pages of some lanes of the shared queue.

        `known`: the ranges that the places are of; another thread may know others meanwhile.
        """
        wanted = [[queue, *bound] for queue, at in places.items() for bound in known[queue].bounds(at)]
        found = _lane_heads(tx, wanted, 1, [[SHARED_QUEUE, lane, lane + 1] for lane in deep], most)
        rows, more = iter(found[: len(wanted)]), found[len(wanted) :]
        seen: dict[str, list[Page]] = {}
        after: dict[str, Ranges] = {}
        for queue, at in places.items():
            heads = [next(rows) for _ in at]
            lane = np.array([head[0][1] if head else EMPTY for head in heads], dtype=np.int64)
            since = np.array([head[0][2] if head else 0.0 for head in heads])
            after[queue] = known[queue].saw(at, lane, since)
            seen[queue] = [(head[0][0], head[0][1], head[0][2]) for head in heads if head]
        with self._lock:
            self._known |= after
        return seen, after, _pages(more)

    def _worth(self, known: Iterable[Ranges], now: float) -> list[Floats]:
        """What the page at the head of each range is worth, −∞ where there is none: of each of these queues."""
        return self._over(known, lambda lane, since: self.schedule.worth(lane, since, now), -np.inf)

    @staticmethod
    def _over(known: Iterable[Ranges], of: Callable[[Ints, Floats], Floats], empty: float) -> list[Floats]:
        """A function of lane and time, over the heads of all ranges of all these queues at once."""
        parts = list(known)
        if not parts:
            return []
        lane = np.concatenate([part.lane for part in parts])
        since = np.concatenate([part.since for part in parts])
        found = np.where(lane < 0, empty, of(np.maximum(lane, 0), since))
        return np.split(found, np.cumsum([len(part) for part in parts])[:-1])

    def _best(self, tx: Tx, names: Sequence[str], width: int, now: float) -> tuple[dict[str, Page], list[Page]]:
        """The best page of each of these hosts' queues that may be visited now, and the best of the shared queue."""
        known = {name: self._ranges(name) for name in (*names, SHARED_QUEUE)}
        worth = dict(zip(known, self._worth(known.values(), now), strict=True))
        looks = {
            name: each.choose(worth[name], SHARED_LOOKS if name == SHARED_QUEUE else HOST_LOOKS)
            for name, each in known.items()
        }
        promising = np.argsort(-worth[SHARED_QUEUE], kind="stable")[: self._deep_lanes]
        lanes = known[SHARED_QUEUE].lane[promising[worth[SHARED_QUEUE][promising] > -np.inf]].tolist()
        seen, after, deep = self._look(tx, known, looks, lanes, width)
        heads = seen.pop(SHARED_QUEUE)
        if self._fresh(known[SHARED_QUEUE], after[SHARED_QUEUE]):
            heads = self._heads_of_shared(tx, now)
        return self._first_of(seen, now), self._best_of_shared(tx, heads, deep, lanes, width, now)

    def _first_of(self, seen: Mapping[str, Sequence[Page]], now: float) -> dict[str, Page]:
        """Of each queue the best of the pages that were seen and may be visited now."""
        found = [(name, page) for name, pages in seen.items() for page in pages]
        best: dict[str, Page] = {}
        for place in _ripe([page for _, page in found], self.schedule, now):
            best.setdefault(*found[place])
        return best

    def _heads_of_shared(self, tx: Tx, now: float) -> list[Page]:
        """The first pages of the lanes of the shared queue, looked for until nothing new turns up."""
        for _ in range(MOST_ROUNDS):
            before = self._ranges(SHARED_QUEUE)
            looks = before.choose(self._worth([before], now)[0], SHARED_LOOKS)
            seen, after, _ = self._look(tx, {SHARED_QUEUE: before}, {SHARED_QUEUE: looks})
            if not self._fresh(before, after[SHARED_QUEUE]):
                break
        return seen[SHARED_QUEUE]

    def _best_of_shared(
        self, tx: Tx, heads: Sequence[Page], deep: Sequence[Page], lanes: Sequence[int], width: int, now: float
    ) -> list[Page]:
        """The best pages of the shared queue, as many as may be wanted: of the best lanes more than the first.

        `deep`: the first `width` pages of the `lanes` that seemed best.
        """
        pages, read, wanted = _sorted([*heads, *deep], self.schedule, now), set(lanes), 0
        worth = self._worth_of(heads, now).tolist()
        for many, limit in ((DEEP_LANES, width), (width, min(width, DEEPER))):
            # What the last of the `width` best is worth: lanes whose first page is worth less have nothing for it.
            bar = self._worth_of(pages[width - 1 : width], now).max(initial=-np.inf)
            better = [head for head, one in zip(heads, worth, strict=True) if one > bar]
            wanted = max(wanted, len(better))
            more = [head for head in _sorted(better, self.schedule, now) if head[1] not in read][:many]
            if more:
                rows = _lane_heads(tx, [[SHARED_QUEUE, lane, lane + 1] for _, lane, _ in more], limit)
                pages = _sorted([*pages, *_pages(rows)], self.schedule, now)
                read.update(lane for _, lane, _ in more)
        self._deep_lanes = max(1, min(DEEP_LANES, wanted))
        return pages

    def _worth_of(self, pages: Sequence[Page], now: float) -> Floats:
        return self.schedule.worth(*_waiting(pages), now)

    def _reserved(self, pages: list[Page], n: int) -> list[Page]:
        """The same pages, with the reserves of the frontier and of the longest waiting at the front.

        A reserve that a call of few pages cannot give is owed to the next.
        """
        if not pages:
            return pages
        with self._lock:
            for name, part in (("frontier", self.schedule.frontier_reserve), ("oldest", self.schedule.oldest_reserve)):
                self._due[name] = min(self._due[name] + part * n, float(n))
            due = {name: int(owed) for name, owed in self._due.items()}
            for name, owed in due.items():
                self._due[name] -= owed
        frontier = read_lanes(np.array([page[1] for page in pages])).frontier
        chosen = [page for page, new in zip(pages, frontier.tolist(), strict=True) if new][: due["frontier"]]
        chosen += sorted(pages, key=lambda page: (page[2], page[0]))[: due["oldest"]]
        first = dict.fromkeys(chosen)
        return [*first, *(page for page in pages if page not in first)]


def _lane_heads(tx: Tx, ranges: Sequence[Any], limit: int, deep: Sequence[Any] = (), most: int = 1) -> list[list[Any]]:
    """The first `limit` pages in each of these ranges, then the first `most` in each of the deep ones."""
    if not ranges and not deep:
        return []
    rows: list[list[Any]] = tx.one("claims/lane_heads", ranges=ranges, limit=limit, deep=deep, most=most)[0]
    return rows


def _pages(rows: Iterable[Iterable[Any]]) -> list[Page]:
    return [(page, lane, since) for row in rows for page, lane, since in row]


def _ready(tx: Tx, now: float, most: int, manners: Manners) -> dict[str, list[str]]:
    """Hosts with queues of their own that may be visited, the longest ready first, and which of these are open."""
    rows = sorted(tx.one("claims/ready_hosts", now=now, limit=most, budget=manners.budget)[0])[:most]
    return {name: [name, aside_queue(name)] if room else [name] for _, name, room in rows}


def _idle(offers: Mapping[str, Sequence[str]], found: Container[str]) -> list[str]:
    """Hosts in none of whose queues a page was found."""
    return [name for name, queues in offers.items() if not any(queue in found for queue in queues)]


def _sorted(pages: Sequence[Page], schedule: Schedule, now: float) -> list[Page]:
    """Those that may be visited now, the one worth most first; among equals by lane, then the oldest."""
    distinct = list(dict.fromkeys(pages))
    return [distinct[place] for place in _ripe(distinct, schedule, now)]


def _waiting(pages: Sequence[Page]) -> tuple[Ints, Floats]:
    """The lanes of pages, and since when they wait."""
    return np.array([page[1] for page in pages], dtype=np.int64), np.array([page[2] for page in pages])


def _ripe(pages: Sequence[Page], schedule: Schedule, now: float) -> list[int]:
    """The places of those that may be visited now, in that order."""
    if not pages:
        return []
    lane, since = _waiting(pages)
    worth = schedule.worth(lane, since, now)
    order = np.lexsort((since, lane, -worth))
    places: list[int] = order[worth[order] > -np.inf].tolist()
    return places
