"""The pages that a claim should take: read from the heads of the queues, without a lock, best first.

Under the orders without revisits the index itself has the right order. Under `optimal` the worth of a visit grows with
the age of the page, differently in each lane. So the first page of each lane is read, and more pages of the best lanes.
Each process learns which lanes have pages (`lane_index`).
Statements: claims/heads, claims/host_heads, claims/ripe_at, claims/lane_heads, claims/ready_hosts, claims/front,
claims/retry_heads, claims/samples.
"""

from __future__ import annotations

import heapq
import random
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Protocol, TypeVar

import numpy as np

from graphbrain.base.model import FOR_EVER
from graphbrain.base.numeric.arrays import Flags, Floats, Ints
from graphbrain.frontier.claims import tuning
from graphbrain.frontier.claims.lane_index import END, UNKNOWN, Ranges, Remembered
from graphbrain.frontier.claims.sampling import Owed, Reach
from graphbrain.frontier.hosts import politeness
from graphbrain.frontier.hosts.addresses import FULL_WAIT
from graphbrain.frontier.hosts.health import SOONEST
from graphbrain.frontier.hosts.politeness import earliest
from graphbrain.frontier.hosts.state import SHARED_QUEUE, PolitenessPolicy, aside_queue, is_retrys_turn, retry_queue
from graphbrain.graph.connection import Tx
from graphbrain.schedule.lanes import ASKED, FRONTIER_END, Stretch, is_frontier, stretch
from graphbrain.schedule.value import Schedule

__all__ = ["ByWorth", "Candidates", "Finder", "InOrder", "are_due", "retries_ripe_at"]


Page = tuple[int, int, float]
"""The columns of a page: id, lane, waiting since."""
Head = TypeVar("Head", bound=Sequence[Any])
"""A row that begins with a page's id."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """Candidates, best first, with the time since which each waited when it was read.

    `idle`: hosts without a due page in their queues.
    """

    since: dict[int, float] = field(default_factory=dict)
    idle: Sequence[str] = ()
    worth: dict[int, float] = field(default_factory=dict)
    """Id → worth of a visit, of the pages that were visited before."""
    more: frozenset[str] = frozenset()
    """Hosts in whose queue the read has shown another page that may be visited, besides the candidates."""
    untried: frozenset[str] = frozenset()
    """Hosts in whose queue pages wait whose last visit did not fail."""


@dataclass(frozen=True, slots=True)
class _Offer:
    """A ready host with queues of its own.

    Attributes:
        queues: Its queues that may be read, without that of retries.
        retrying: True if it has a queue of retries.
        since_retry: Claims of the host since the last claim of a retry.
        doubted: True if the last request to the host failed.
    """

    name: str
    queues: Sequence[str]
    retrying: bool
    since_retry: int
    doubted: bool


class Finder(Protocol):
    """The interface of the ways in which candidates are found."""

    def find(self, tx: Tx, n: int, now: float, manners: PolitenessPolicy, reach: Reach, spread: int) -> Candidates:
        """Return candidates for `n` claims: the best, as many as will probably be needed; with `spread` > 1 a random
        choice among the best `n` × `spread`."""

    def ripe_at(self, tx: Tx, queues: Sequence[str], now: float) -> dict[str, float]:
        """Return the time from which a page of each of these queues may be visited, or any time up to `now` if one may
        be visited by then. An empty queue is missing."""

    def due_at(self, lanes: Sequence[int], since: Sequence[float]) -> Floats:
        """Return the times (epoch seconds) from which pages may be visited that wait in these lanes `since`."""

    def soonest(self, tx: Tx, limit: int) -> tuple[list[tuple[float, str]], float]:
        """Return the times at which pages of the shared queue may be visited that are requested or due later.

        Returns:
            ([(time, host)] of the first pages, about `limit` of each lane; the time before which no other page may be
            visited).
        """

    def front(self, tx: Tx, now: float, limit: int, kept: int) -> list[tuple[Page, str]]:
        """Return the first pages of the shared queue that may be visited now, and their hosts, best first; of about
        `limit` pages at most `kept` of each host."""


class InOrder:
    """Best first and breadth first: the index is in the right order."""

    def __init__(self) -> None:
        self._owed = Owed()

    def find(self, tx: Tx, n: int, now: float, manners: PolitenessPolicy, reach: Reach, spread: int) -> Candidates:
        # Read the heads of the shared queue and of the queues of ready hosts.
        shared = tx.one("claims/heads", now=now, limit=max(reach.shared.look(n), n * spread))[0]
        per_host = 1 if manners.delay > 0 else max(1, min(manners.most or 8, 32))
        offers = _ready(tx, now, max(reach.ready.look(n), n * spread), manners)
        names = [queue for offer in offers for queue in offer.queues]
        ready = tx.one("claims/host_heads", names=names, now=now, per_host=per_host + 1)[0] if names else []
        heads_of = dict(ready)
        # Take another page than the first from a host that failed, and add the failed pages whose turn it is.
        untried = _untried(offers, {name for name, heads in ready if heads})
        samples = _samples(tx, [offer.name for offer in offers if offer.doubted and heads_of[offer.name]], END)
        retries = _retries(tx, self, offers, untried, per_host, now)
        own = []
        for offer in offers:
            if offer.name in retries:
                own += retries[offer.name]
            elif offer.name in samples:
                own.append(samples[offer.name])
            else:
                own += [head for queue in offer.queues for head in heads_of[queue][:per_host]]
        # Give ready hosts a fair share of the claims, and choose the others in their order.
        fair = own[: self._owed.places("ready", tuning.FAIR_SHARE, n)] if own else []
        rest = sorted(shared + own[len(fair) :], key=lambda head: head[1])
        chosen = _enough(fair, rest, {head[0] for head in own}, n, reach, spread)
        more = frozenset(name for name, heads in ready if len(heads) > per_host)
        return Candidates(_since(chosen), _idle(offers, untried, retries), more=more, untried=untried)

    def ripe_at(self, tx: Tx, queues: Sequence[str], now: float) -> dict[str, float]:  # noqa: ARG002  any will do
        return {name: float(since) for name, since in tx.one("claims/ripe_at", queues=sorted(queues))[0]}

    def due_at(self, lanes: Sequence[int], since: Sequence[float]) -> Floats:
        return np.where(np.asarray(lanes) == ASKED, np.asarray(since, dtype=np.float64), 0.0)

    def soonest(self, tx: Tx, limit: int) -> tuple[list[tuple[float, str]], float]:
        return _soonest(tx, self, [ASKED], limit)

    def front(self, tx: Tx, now: float, limit: int, kept: int) -> list[tuple[Page, str]]:
        host_of = _front(tx, now, [], (ASKED + 1, END), limit, kept)
        return [(page, host_of[page]) for page in sorted(host_of, key=lambda page: (page[1], page[2], page[0]))]


class ByWorth:
    """The order `optimal`: by the present worth of a visit. All threads of a process share one object."""

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule
        self._ranges = Remembered()
        self._owed = Owed()
        self._deep_lanes = 1

    def find(self, tx: Tx, n: int, now: float, manners: PolitenessPolicy, reach: Reach, spread: int) -> Candidates:
        width = max(reach.shared.look(n), n * spread)
        offers = _ready(tx, now, max(reach.ready.look(n), n * spread), manners)
        names = [queue for offer in offers for queue in offer.queues]
        # Read the best page of each ready host, and the best of the shared queue.
        own, shared, more = self._best(tx, names, width, now)
        # Take another page than the first from a host that failed, and add the failed pages whose turn it is.
        untried = _untried(offers, own)
        samples = _samples(tx, [offer.name for offer in offers if offer.doubted and offer.name in own], FRONTIER_END)
        own |= {name: (page[0], page[1], page[2]) for name, page in samples.items()}
        retries = _retries(tx, self, offers, untried, 1, now)
        own |= {name: (page[0], page[1], page[2]) for name, [page] in retries.items()}
        # Give ready hosts a fair share of the claims, and choose the others by worth.
        fair = [own[name] for name in names if name in own]
        fair = fair[: self._owed.places("ready", tuning.FAIR_SHARE, n)] if fair else []
        first = {page[0] for page in fair}
        rest = _sorted([*shared, *(page for page in own.values() if page[0] not in first)], self.schedule, now)
        ready = {page[0] for page in own.values()}
        chosen = _enough(fair, self._reserved(rest, n), ready, n, reach, spread)
        return Candidates(
            _since(chosen), _idle(offers, untried, retries), self._worth_again(chosen, now), more, untried
        )

    def due_at(self, lanes: Sequence[int], since: Sequence[float]) -> Floats:
        return self.schedule.ripe_at(lanes, since)

    def soonest(self, tx: Tx, limit: int) -> tuple[list[tuple[float, str]], float]:
        ranges = self._ranges.of(SHARED_QUEUE)
        [moments] = self._over([ranges], self.schedule.ripe_at, np.inf)
        first = sorted((at, lane) for lane, at in zip(ranges.lane, moments.tolist(), strict=True) if at < np.inf)
        pages, unseen = _soonest(tx, self, [lane for _, lane in first[: tuning.FRONT_LANES]], limit)
        return pages, min([unseen, *(at for at, _ in first[tuning.FRONT_LANES :])])

    def front(self, tx: Tx, now: float, limit: int, kept: int) -> list[tuple[Page, str]]:
        ranges = self._ranges.of(SHARED_QUEUE)
        worth = self._worth([ranges], now)[0]
        best = [ranges.lane[head] for head in np.argsort(-worth, kind="stable").tolist() if worth[head] > -np.inf]
        again = [lane for lane in dict.fromkeys(best) if lane >= FRONTIER_END][: tuning.FRONT_LANES]
        host_of = _front(tx, now, again, (ASKED + 1, FRONTIER_END), limit, kept)
        return [(page, host_of[page]) for page in _sorted(list(host_of), self.schedule, now)]

    def _worth_again(self, pages: Sequence[Page], now: float) -> dict[int, float]:
        if not pages:
            return {}
        lane, since = _waiting(pages)
        worth = self.schedule.worth(lane, since, now)
        again = ~is_frontier(lane) & np.isfinite(worth) & (worth > 0.0)
        return {page[0]: one for page, one, was in zip(pages, worth.tolist(), again.tolist(), strict=True) if was}

    def ripe_at(self, tx: Tx, queues: Sequence[str], now: float) -> dict[str, float]:
        ranges_of = {queue: self._ranges.of(queue) for queue in sorted(set(queues))}
        moments, ranges_of = self._ripe_among(tx, ranges_of, self._promising(ranges_of, now))
        unseen: dict[str, Sequence[int]] = {
            queue: range(len(each)) for queue, each in ranges_of.items() if not moments.get(queue, np.inf) <= now
        }
        while unseen:
            more, ranges_of = self._ripe_among(tx, ranges_of, unseen)
            moments = earliest(chain(moments.items(), more.items()))
            # Pages that have not been read yet are behind those that were found.
            unseen = {queue: list(ranges_of[queue].never_seen()) for queue in unseen}
            unseen = {queue: at for queue, at in unseen.items() if at and not moments.get(queue, np.inf) <= now}
        return moments

    def _promising(self, ranges_of: Mapping[str, Ranges], now: float) -> dict[str, Sequence[int]]:
        """Return queue → the few ranges in which, by earlier reads, a page may be visited, for queues with many
        lanes."""
        many = {queue: each for queue, each in ranges_of.items() if len(each) > tuning.MANY}
        ripe = zip(many, self._over(many.values(), self.schedule.ripe_at, np.inf), strict=True)
        return {queue: at for queue, each in ripe if (at := np.flatnonzero(each <= now)[: tuning.FEW_RANGES].tolist())}

    def _ripe_among(
        self, tx: Tx, ranges_of: Mapping[str, Ranges], places: Mapping[str, Sequence[int]]
    ) -> tuple[dict[str, float], dict[str, Ranges]]:
        """Return the time from which a page in one of these ranges of each queue may be visited (a queue without any is
        missing), and the ranges as they are now."""
        seen, after, _ = self._look(tx, ranges_of, places, 1)
        queues = [queue for queue, pages in seen.items() for _ in pages]
        each = self.schedule.ripe_at(*_waiting([page for pages in seen.values() for page in pages])).tolist()
        return earliest(zip(queues, each, strict=True)), {**ranges_of, **after}

    @staticmethod
    def _fresh(before: Ranges, after: Ranges) -> bool:
        """Return whether unknown lanes were found, and there may be more behind them. All lanes of the frontier count
        as one."""
        new = set(after.lane).difference(before.lane)
        if not new or UNKNOWN not in after.lane:
            return False
        return not {stretch(lane) for lane in new} <= {stretch(lane) for lane in before.lane}

    def _look(
        self,
        tx: Tx,
        ranges_of: Mapping[str, Ranges],
        places: Mapping[str, Sequence[int]],
        limit: int,
        deep: Iterable[Stretch] = (),
        most: int = 0,
    ) -> tuple[dict[str, list[Page]], dict[str, Ranges], list[Page]]:
        """Look into ranges of queues, and remember what was seen: the first pages of each, up to `limit` where the last
        lane is known, and the ranges as they are now; and the first `most` pages of some stretches of the shared queue.

        `ranges_of`: the ranges that the places are of; another thread may know others meanwhile.
        """
        # The end of a range is known if the last read found a page in its last lane, and none before.
        sure = {queue: [ranges_of[queue].lane[index] >= 0 for index in at] for queue, at in places.items()}
        reads: dict[bool, list[list[Any]]] = {True: [], False: []}
        for queue, at in places.items():
            for ends_known, bounds in zip(sure[queue], ranges_of[queue].bounds(at), strict=True):
                reads[ends_known].append([queue, *bounds])
        first, few, many = map(iter, _lane_heads(tx, reads[True], limit, reads[False], deep, most))
        seen: dict[str, list[Page]] = {}
        after: dict[str, Ranges] = {}
        for queue, at in places.items():
            heads = [next(first if ends_known else few) for ends_known in sure[queue]]
            after[queue] = ranges_of[queue].saw(at, [[page[1:] for page in each] for each in heads], limit, tuning.FEW)
            seen[queue] = _pages(heads)
        self._ranges.update(after)
        return seen, after, _pages(many)

    def _worth(self, queues: Iterable[Ranges], now: float) -> list[Floats]:
        """Return, of each of these queues, the worth of the page at the head of each range; −∞ where there is none."""
        return self._over(queues, lambda lane, since: self.schedule.worth(lane, since, now), -np.inf)

    @staticmethod
    def _over(queues: Iterable[Ranges], of: Callable[[Ints, Floats], Floats], empty: float) -> list[Floats]:
        """Return the values of a function of lane and time for the heads of all ranges of each queue."""
        parts = list(queues)
        if not parts:
            return []
        lane = np.fromiter(chain.from_iterable(part.lane for part in parts), np.int64)
        since = np.fromiter(chain.from_iterable(part.since for part in parts), np.float64)
        values = np.where(lane < 0, empty, of(np.maximum(lane, 0), since))
        return np.split(values, np.cumsum([len(part) for part in parts])[:-1])

    def _best(
        self, tx: Tx, names: Sequence[str], width: int, now: float
    ) -> tuple[dict[str, Page], list[Page], frozenset[str]]:
        """Return (host → the best page of its queue, the best pages of the shared queue, the hosts whose queues have
        another page), of pages that may be visited now."""
        ranges_of = {name: self._ranges.of(name) for name in (*names, SHARED_QUEUE)}
        worth = dict(zip(ranges_of, self._worth(ranges_of.values(), now), strict=True))
        looks = {
            name: each.choose(worth[name], tuning.SHARED_LOOKS if name == SHARED_QUEUE else tuning.HOST_LOOKS)
            for name, each in ranges_of.items()
        }
        promising = list(_stretches(ranges_of[SHARED_QUEUE].lane, worth[SHARED_QUEUE]))[: self._deep_lanes]
        seen, after, deep = self._look(tx, ranges_of, looks, 2, promising, width)
        heads = seen.pop(SHARED_QUEUE)
        if self._fresh(ranges_of[SHARED_QUEUE], after[SHARED_QUEUE]):
            heads = self._heads_of_shared(tx, now)
        best, more = self._first_of(seen, now)
        return best, self._best_of_shared(tx, heads, deep, promising, width, now), more

    def _first_of(self, seen: Mapping[str, Sequence[Page]], now: float) -> tuple[dict[str, Page], frozenset[str]]:
        """Return the best visitable page of each queue among those that were read; and the queues that have another."""
        queued = [(name, page) for name, pages in seen.items() for page in pages]
        best: dict[str, Page] = {}
        more: set[str] = set()
        for position in _ripe([page for _, page in queued], self.schedule, now):
            name, page = queued[position]
            if name in best:
                more.add(name)
            else:
                best[name] = page
        return best, frozenset(more)

    def _heads_of_shared(self, tx: Tx, now: float) -> list[Page]:
        """Return the first pages of the lanes of the shared queue, looked for until nothing new turns up."""
        for _ in range(tuning.MOST_ROUNDS):
            before = self._ranges.of(SHARED_QUEUE)
            looks = before.choose(self._worth([before], now)[0], tuning.SHARED_LOOKS)
            seen, after, _ = self._look(tx, {SHARED_QUEUE: before}, {SHARED_QUEUE: looks}, 2)
            if not self._fresh(before, after[SHARED_QUEUE]):
                break
        return seen[SHARED_QUEUE]

    def _best_of_shared(
        self, tx: Tx, heads: Sequence[Page], deep: Sequence[Page], read: Iterable[Stretch], width: int, now: float
    ) -> list[Page]:
        """Return the best pages of the shared queue, as many as may be wanted: of the best lanes more than the first
        two.

        `deep`: the first `width` pages of the stretches that seemed best, which were `read`.
        """
        pages, done, wanted = _sorted([*heads, *deep], self.schedule, now), set(read), 0
        stretches = _stretches([page[1] for page in heads], self.schedule.worth(*_waiting(heads), now))
        for many, limit in ((tuning.DEEP_LANES, width), (width, min(width, tuning.DEEPER))):
            # Find the worth of the last of the `width` best pages. A lane whose first page is worth less has none of
            # them.
            bar = self.schedule.worth(*_waiting(pages[width - 1 : width]), now).max(initial=-np.inf)
            better = [each for each, worth in stretches.items() if worth > bar]
            wanted = max(wanted, len(better))
            if more := [each for each in better if each not in done][:many]:
                _, _, rows = _lane_heads(tx, (), 0, (), more, limit)
                pages = _sorted([*pages, *_pages(rows)], self.schedule, now)
                done.update(more)
        self._deep_lanes = max(1, min(tuning.DEEP_LANES, wanted))
        return pages

    def _reserved(self, pages: list[Page], n: int) -> list[Page]:
        """Return the same pages, with the reserves of the frontier and of the longest waiting at the front."""
        if not pages:
            return pages
        new_ones = self._owed.places("frontier", self.schedule.frontier_reserve, n)
        oldest = self._owed.places("oldest", self.schedule.oldest_reserve, n)
        frontier = is_frontier([page[1] for page in pages])
        chosen = [page for page, new in zip(pages, frontier.tolist(), strict=True) if new][:new_ones]
        chosen += heapq.nsmallest(oldest, pages, key=lambda page: (page[2], page[0]))
        first = dict.fromkeys(chosen)
        return [*first, *(page for page in pages if page not in first)]


def _lane_heads(
    tx: Tx, ones: Sequence[Any], limit: int, wide: Sequence[Any], stretches: Iterable[Stretch], most: int
) -> list[list[list[Any]]]:
    """Return the first pages of ranges [queue, first lane, the lane after the last]: `limit` of each in `ones`, `FEW`
    of each in `wide`, and `most` of each of some stretches of lanes of the shared queue."""
    deep = [[SHARED_QUEUE, *each] for each in stretches]
    if not (ones or wide or deep):
        return [[], [], []]
    return tx.one("claims/lane_heads", ones=ones, limit=limit, wide=wide, few=tuning.FEW, deep=deep, most=most)


def _front(tx: Tx, now: float, lanes: Sequence[int], wide: Stretch, limit: int, kept: int) -> dict[Page, str]:
    """Return the first pages of the shared queue that are wanted at once, of those in these lanes and in a wide
    stretch."""
    single = [[lane, now] for lane in (ASKED, *lanes)]
    rows = tx.one("claims/front", lanes=single, stretches=[list(wide)], limit=limit, kept=kept)[0]
    return {(page, lane, since): host for host, heads in rows for page, lane, since in heads}


def _stretches(lanes: Sequence[int], worth: Floats) -> dict[Stretch, float]:
    """Return the stretches of lanes in which pages may be visited now, the best first, and what the best of each is
    worth.

    `lanes`, `worth`: of pages that were seen, −∞ for those that may not be visited yet.
    """
    values = worth.tolist()
    best: dict[Stretch, float] = {}
    for position in np.argsort(-worth, kind="stable").tolist():
        if values[position] > -np.inf:
            best.setdefault(stretch(lanes[position]), values[position])
    return best


def _pages(rows: Iterable[Iterable[Any]]) -> list[Page]:
    return [(page, lane, since) for row in rows for page, lane, since in row]


def _ready(tx: Tx, now: float, most: int, manners: PolitenessPolicy) -> list[_Offer]:
    """Return hosts with their own queues that may be visited, the longest ready first. They include as many ill hosts
    as may be probed now."""
    rows, waiting = tx.one(
        "claims/ready_hosts", now=now, limit=most, most=min(most, tuning.PLACES), budget=manners.budget
    )
    if waiting:
        rows = [*rows, *waiting[: politeness.probe_places(tx, now, len(waiting))]]
    rows = sorted(rows)[:most]
    return [
        _Offer(
            name,
            [name, aside_queue(name)] if room else [name],
            retrying,
            since_retry,
            failing > 0 and manners.dead_after > 0,
        )
        for _, name, room, retrying, since_retry, failing in rows
    ]


def retries_ripe_at(tx: Tx, finder: Finder, names: Sequence[str], now: float) -> dict[str, float]:
    """Return host → the time from which a page of its queue of retries may be visited, of the hosts that have such a
    queue."""
    ripe_at = {}
    for name, heads in _retry_heads(tx, names, FOR_EVER, tuning.RETRIES_DEEP).items():
        # Skip pages that failed in a visit before they were due: they are not due yet.
        due_at = finder.due_at([head[1] for head in heads], [head[2] for head in heads]).tolist()
        moments = [max(at, head[3] + SOONEST) for head, at in zip(heads, due_at, strict=True)]
        if len(heads) == tuning.RETRIES_DEEP:  # a page after these may be due sooner
            moments.append(max(now, heads[-1][3] + SOONEST) + FULL_WAIT)
        ripe_at[name] = min(moments)
    return ripe_at


def are_due(finder: Finder, lanes: Sequence[int], since: Sequence[float], now: float) -> Flags:
    """Return whether pages of these lanes that wait `since` may be visited now.

    A millisecond less than the least wait is enough, since times are sums of floats.
    """
    return np.asarray(finder.due_at(lanes, since) <= now + tuning.TICK)


def _soonest(tx: Tx, finder: Finder, lanes: Sequence[int], limit: int) -> tuple[list[tuple[float, str]], float]:
    """`Finder.soonest`, of some lanes."""
    rows = tx.one("claims/front", lanes=[[lane, FOR_EVER] for lane in lanes], stretches=[], limit=limit, kept=limit)[0]
    pages = [(lane, since, host) for host, heads in rows for _, lane, since in heads]
    moments = finder.due_at([lane for lane, *_ in pages], [since for _, since, _ in pages]).tolist()
    last: dict[int, float] = {}
    count = Counter(lane for lane, *_ in pages)
    for (lane, *_), at in zip(pages, moments, strict=True):
        last[lane] = max(at, last.get(lane, 0.0))
    unseen = min((at for lane, at in last.items() if count[lane] >= limit), default=FOR_EVER)
    return [(at, host) for at, (*_, host) in zip(moments, pages, strict=True)], unseen


def _due_pages(finder: Finder, heads: Sequence[list[Any]], now: float) -> list[list[Any]]:
    """Return those of these pages [id, lane, waiting_since, …] that may be visited now."""
    flags = are_due(finder, [head[1] for head in heads], [head[2] for head in heads], now).tolist()
    return [head for head, is_due in zip(heads, flags, strict=True) if is_due]


def _retry_heads(tx: Tx, names: Iterable[str], before: float, limit: int) -> dict[str, list[list[Any]]]:
    """Return host → the first pages [id, lane, waiting_since, untried_since] of its queue of retries, for hosts with
    pages that were tried before a time."""
    queues = [retry_queue(name) for name in names]
    return dict(tx.one("claims/retry_heads", queues=queues, before=before, limit=limit)[0]) if queues else {}


def _retries(
    tx: Tx, finder: Finder, offers: Sequence[_Offer], untried: Container[str], per_host: int, now: float
) -> dict[str, list[list[Any]]]:
    """Return host → failed pages that are due and whose turn it is: one page, if others wait in the host's queue."""
    turns = [offer for offer in offers if offer.retrying and (offer.name not in untried or _retries_next(offer))]
    # Take one page of a host that failed the last time.
    one = {offer.name for offer in turns if offer.name in untried or offer.doubted}
    chosen: dict[str, list[list[Any]]] = {}
    names = [offer.name for offer in turns]
    for limit in (max(per_host, tuning.RETRIES_READ), tuning.RETRIES_DEEP):
        if not names:
            break
        heads_by_host = _retry_heads(tx, names, now - SOONEST, limit)
        due_heads = {
            name: [head[:3] for head in _due_pages(finder, heads, now)] for name, heads in heads_by_host.items()
        }
        chosen |= {name: pages[: 1 if name in one else per_host] for name, pages in due_heads.items() if pages}
        names = [name for name, heads in heads_by_host.items() if not due_heads[name] and len(heads) == limit]
    return chosen


def _retries_next(offer: _Offer) -> bool:
    # A host that failed the last time gets a request for a page that did not fail.
    return is_retrys_turn(offer.since_retry) and not offer.doubted


def _untried(offers: Iterable[_Offer], with_pages: Container[str]) -> frozenset[str]:
    """Return the hosts with a page in a queue other than that of retries."""
    return frozenset(offer.name for offer in offers if any(queue in with_pages for queue in offer.queues))


def _samples(tx: Tx, names: Iterable[str], end: int) -> dict[str, list[Any]]:
    """Return host → a page [id, lane, waiting_since] of its queue other than the first: a random one, or the last."""
    rows = [[name, random.choice((1.0, random.random()))] for name in names]
    return dict(tx.one("claims/samples", rows=rows, end=end)[0]) if rows else {}


def _enough(
    fair: Sequence[Head], rest: Sequence[Head], ready: Container[int], n: int, reach: Reach, spread: int
) -> list[Head]:
    """Return the `fair`, and of `rest`, best first, as many as it may take for `n` claims beside them; if callers
    spread, at random among the best `n` × `spread`. `ready`: ids of pages of ready hosts, as the fair are."""
    both = reach.enough([head[0] in ready for head in chain(fair, rest)], n)
    wanted = max(0, both - len(fair))
    among = rest[: max(wanted, n * spread)]
    if spread == 1 or len(among) <= wanted:
        return [*fair, *rest[:wanted]]
    return [*fair, *(among[position] for position in sorted(random.sample(range(len(among)), wanted)))]


def _since(chosen: Iterable[Sequence[Any]]) -> dict[int, float]:
    """Return id → the time since which it waits, in the order of the pages.

    A page that moved between the reads is in two queues. It has its first place in the order, and the earlier time,
    which is the safe one.
    """
    since: dict[int, float] = {}
    for page, _, waits in chosen:
        since[page] = min(waits, since.get(page, waits))
    return since


def _idle(offers: Sequence[_Offer], untried: Container[str], retries: Container[str]) -> list[str]:
    """Return the hosts in whose queues no page was found."""
    return [offer.name for offer in offers if offer.name not in untried and offer.name not in retries]


def _sorted(pages: Sequence[Page], schedule: Schedule, now: float) -> list[Page]:
    """Return the pages that may be visited now, by worth, then by lane, then the oldest first."""
    distinct = list(dict.fromkeys(pages))
    return [distinct[position] for position in _ripe(distinct, schedule, now)]


def _waiting(pages: Sequence[Page]) -> tuple[Ints, Floats]:
    """Return the pages' lanes, and the times since which the pages wait."""
    return np.array([page[1] for page in pages], dtype=np.int64), np.array([page[2] for page in pages])


def _ripe(pages: Sequence[Page], schedule: Schedule, now: float) -> list[int]:
    """Return the indices of the pages that may be visited now, in the order of `_sorted`."""
    if not pages:
        return []
    lane, since = _waiting(pages)
    worth = schedule.worth(lane, since, now)
    order = np.lexsort((since, lane, -worth))
    places: list[int] = order[worth[order] > -np.inf].tolist()
    return places
