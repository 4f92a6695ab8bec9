"""The sources of claims: the queues of pages, requested pages, tries of sections, aliases, sitemaps and links.

A source reads its candidates without a lock. `taking.take` locks those of all sources at once. Then the source decides
which of them are still due, offers these to the batch, and notes the writes for the others.
Statements: claims/wanted, claims/aliases_due.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from graphbrain.base.model import Kind
from graphbrain.frontier import section_factors, sections
from graphbrain.frontier.claims import candidates, resources, tuning
from graphbrain.frontier.claims.batches import ALIASES, ClaimBatch, Holder
from graphbrain.frontier.claims.candidates import Candidates, Finder
from graphbrain.frontier.claims.sampling import Reach
from graphbrain.frontier.hosts import politeness
from graphbrain.frontier.hosts.resource import ResourceState
from graphbrain.frontier.hosts.state import HostState, PolitenessPolicy
from graphbrain.graph.connection import Clock, Tx
from graphbrain.schedule.lanes import ASKED

__all__ = ["SOURCES", "ClaimRequest", "Lanes", "Source"]


@dataclass(frozen=True, slots=True)
class ClaimRequest:
    """The request of one claiming transaction.

    Attributes:
        places: Source (a name of `SOURCES`) → the most claims from it. The sources are taken in this order; those whose
            pages wait in queues are the last.
        holders: The holders of the claims, in the order in which they get them. There are several if calls are
            combined, and none if pages are only moved.
        clock: The time.
        lease: The length of leases in seconds, from when the pages are locked, so that the wait for locks shortens
            neither the lease nor the delay of a host.
        manners: The politeness of the brain.
        finder: The way in which candidates are found in queues.
        reach: The estimated yields of candidates: not every host is ready.
        spread: Choose the candidates at random among so many times the claims. 1 is the exact order; more keeps callers
            from choosing the same pages.
        most_moves: The most pages that are moved to their hosts' own queues.
        depth: The number of pages that are read in the front of the shared queue, of the source "front".
        robots: Claim the robots.txt of an origin before its pages, where it is not known or has to be read again.
        notes: Return the notes on the claimed pages.
        acting: How pages wait by their sections, if they do.
    """

    places: Mapping[str, int]
    holders: Sequence[Holder]
    clock: Clock
    lease: float
    manners: PolitenessPolicy
    finder: Finder
    reach: Reach
    spread: int = 1
    most_moves: int = 0
    depth: int = 0
    robots: bool = False
    notes: bool = False
    acting: section_factors.Acting | None = None


class Source:
    """The candidates of one kind for one transaction. Its construction reads them without a lock.

    Attributes:
        name: Its name, as in `ClaimRequest.places`.
        kind: The kind of its claims.
        in_queues: Whether its pages wait in queues: those of hosts that are not ready are moved, and its claims come
            before those of other sources in an answer.
        found: The candidates, as they were read.
        since: Page (id) → the time from which it waited when it was read, best first: of `found`, without pages that
            another source has offered.
        keys: The keys of resources, best first.
        rows: The pages that are still due (rows of claims/lock), once they are locked.
        resources: Those of the resources that are in the graph, once they are locked.
        lost: The number of candidates that another caller claimed first.
        overtaken: The number of candidates that are not due any more although no other caller has claimed them: a
            setting, a scope or an interval has changed meanwhile, or they were forgotten.
        put_back: The number of candidates that wait in a later lane now, because their sections have fallen.
    """

    name: ClassVar[str]
    kind: ClassVar[Kind] = "page"
    in_queues: ClassVar[bool] = False

    def __init__(self, offered: Candidates, keys: Sequence[str] = ()) -> None:
        self.found, self.since, self.keys = offered, offered.since, keys
        self.rows: list[Any] = []
        self.resources: list[ResourceState] = []
        self.lost = self.overtaken = self.put_back = 0

    def judge(self, wish: ClaimRequest, locked: Mapping[int, Any]) -> None:
        """Find the candidates that are still due among `locked` pages (id → row of claims/lock), as `rows`.

        Another transaction may have leased and reported a page before this one got the lock; the page then waits for
        its next visit, from a later time. So a page is kept if it is due now and waits from no later time than was
        read, or is wanted at once. Its lane may have changed, because pushes move pages between lanes.
        """
        rows = [locked[page] for page in self.since if page in locked]
        waiting = [row for row in rows if row.queue is not None]
        flags = candidates.are_due(
            wish.finder, [row.lane for row in waiting], [row.waiting_since for row in waiting], wish.clock()
        ).tolist()
        self.rows = [
            row
            for row, is_due in zip(waiting, flags, strict=True)
            if is_due and (row.waiting_since <= self.since[row.id] or row.lane == ASKED)
        ]
        kept = {row.id for row in self.rows}
        self.lost = sum(row.is_leased or row.visited_at > self.since[row.id] for row in rows if row.id not in kept)
        self.overtaken = len(self.since) - len(self.rows) - self.lost

    def offer(self, deal: ClaimBatch) -> None:
        """Offer the due candidates to the batch, and note other writes."""
        deal.judge_pages(self.rows)


class Lanes(Source):
    """The queues of pages, best first."""

    name = "lanes"
    in_queues = True

    def __init__(self, tx: Tx, wish: ClaimRequest) -> None:
        n = wish.places[self.name]
        super().__init__(wish.finder.find(tx, n, wish.clock(), wish.manners, wish.reach, wish.spread))

    def drop_fallen(self, tx: Tx, acting: section_factors.Acting, learned: Mapping[str, int], now: float) -> None:
        """Move pages to later lanes if the worth of their sections has fallen since the pages were read. `learned`:
        host → the number of times that its sections were learned; other hosts have no sections."""
        new = [
            sections.Waiting(row.id, row.url, row.host, row.harvest)
            for row in self.rows
            if row.is_new and row.host in learned
        ]
        fallen = sections.put_back(tx, new, acting, now, learned)
        self.rows = [row for row in self.rows if row.id not in fallen]
        self.put_back = len(fallen)


class Front(Source):
    """The front of the shared queue: at most `most_moves` pages of hosts that are not ready.

    If claims are wanted, it offers pages of ready hosts. Otherwise it offers pages of hosts that are not ready, which
    are only moved. Hosts are read without a lock. Whether a host with an address or a robots.txt is ready is decided
    under its lock. A wrong guess costs only another read.
    """

    name = "front"
    in_queues = True

    def __init__(self, tx: Tx, wish: ClaimRequest) -> None:
        n, most, now = wish.places[self.name], wish.most_moves, wish.clock()
        pages = wish.finder.front(tx, now, wish.depth, min(n, tuning.FRONT_CLAIMS) if n else wish.depth)
        hosts = politeness.read(tx, {name for _, name in pages}, wish.manners, now)
        busy = {name for name, host in hosts.items() if host.polite(now) and not host.may_open(now)}
        unsure = {
            name for name, host in hosts.items() if host.address is not None or host.stored["robots_mark"] is not None
        }
        if n:
            chosen = [page for page, name in pages if name not in busy][: n + most]
        else:
            chosen = [page for page, name in pages if name in busy or name in unsure][:most]
        super().__init__(Candidates({page: since for page, _, since in chosen}))


class Asked(Source):
    """Pages whose immediate fetch was requested. If many pages whose hosts are not ready come first and hide others,
    they are delayed."""

    name = "asked"
    in_queues = True

    def __init__(self, tx: Tx, wish: ClaimRequest) -> None:
        n = wish.places[self.name]
        looked_at = max(tuning.ALIASES_LOOKED_AT, 2 * n)
        rows = tx.records("claims/wanted", now=wish.clock(), limit=looked_at)
        ready = _by_turns((row.id, row.host) for row in rows if row.is_ready and row.waits)[: 2 * n]
        waiting = [row.id for row in rows if row.waits and not row.is_ready]
        nowhere = [row.id for row in rows if not (row.waits or row.retries)]
        self._hiding = _hiding(waiting, ready, n, full=len(rows) == looked_at)
        since = {row.id: row.waiting_since for row in rows}
        super().__init__(Candidates({page: since[page] for page in (*ready, *self._hiding, *nowhere)}))
        self._nowhere: list[int] = []

    def judge(self, wish: ClaimRequest, locked: Mapping[int, Any]) -> None:
        """Find the pages that are still due, and those that wait in no queue."""
        super().judge(wish, locked)
        rows = [locked[page] for page in self.since if page in locked]
        self._nowhere = [row.id for row in rows if row.queue is None and not row.is_leased and not row.retries]
        still = {row.id for row in rows if row.is_asked}
        self._hiding = [page for page in self._hiding if page in still]

    def offer(self, deal: ClaimBatch) -> None:
        """Offer the pages. Drop the request for pages that wait in no queue any more, because a setting or robots.txt
        forbids them."""
        super().offer(deal)
        deal.writes["unwanted"] = [*self._nowhere, *deal.writes["barred"]]
        served = deal.granted.union(deal.writes["barred"])
        deal.writes["asked"] = [[page, _later(deal.now)] for page in self._hiding if page not in served]


class Tries(Source):
    """Pages that were chosen to try sections which are held down."""

    name = "tries"

    def __init__(self, tx: Tx, wish: ClaimRequest) -> None:
        self._chosen = (
            None if wish.acting is None else sections.tries(tx, wish.acting, wish.places[self.name], wish.clock())
        )
        super().__init__(Candidates() if self._chosen is None else Candidates(self._chosen.since))

    def offer(self, deal: ClaimBatch) -> None:
        """Offer the pages, and note when their sections are tried next."""
        super().offer(deal)
        if self._chosen is not None:
            deal.writes["tried"] = self._chosen.after(deal.granted, deal.now)


class Aliases(Source):
    """Aliases and parked pages that are due for a check. They wait in no queue.

    If those of a host that is not ready hide others, some of them are delayed.
    """

    name = "aliases"

    def __init__(self, tx: Tx, wish: ClaimRequest) -> None:
        n, now = wish.places[self.name], wish.clock()
        looked_at = max(tuning.ALIASES_LOOKED_AT, 2 * n)
        rows = tx.records("claims/aliases_due", now=now, limit=looked_at)
        ready = _by_turns((row.id, row.host) for row in rows if row.is_ready)[: 2 * n]
        waiting = [row.id for row in rows if not row.is_ready]
        self._hiding = _hiding(waiting, ready, n, full=len(rows) == looked_at)
        super().__init__(Candidates(dict.fromkeys([*ready, *self._hiding], now)))

    def judge(self, wish: ClaimRequest, locked: Mapping[int, Any]) -> None:
        """Find those that are free, and still due."""
        now = wish.clock()
        rows = [locked[page] for page in self.since if page in locked]
        self.rows = [row for row in rows if not row.is_leased and row.recheck_at is not None and row.recheck_at <= now]

    def offer(self, deal: ClaimBatch) -> None:
        """Offer them, and delay those that hide others."""
        deal.judge_pages(self.rows, queue=ALIASES)
        decided = deal.granted.union(page for page, _ in deal.writes["rechecks"])
        hiding = [row.id for row in self.rows if row.id in self._hiding and row.id not in decided]
        deal.writes["rechecks"] += [[page, _later(deal.now)] for page in hiding]


class _Resources(Source):
    """Resources of one kind that wait in lines."""

    def __init__(self, tx: Tx, wish: ClaimRequest) -> None:
        self._beside_pages = "lanes" in wish.places
        keys = resources.claimable(tx, resources.LINES[self.kind], wish.places[self.name], wish.clock())
        super().__init__(Candidates(), keys)

    def offer(self, deal: ClaimBatch) -> None:
        """Offer the resources that wait. If pages also wait in the queue of their host, resources get only a share of
        its turns: a host is ready for one claim in its delay, and sitemaps would otherwise get all of them."""
        waiting = [one for one in self.resources if one.waits(deal.now)]
        yields = {name for name in {one.host for one in waiting} if _yields_to_pages(deal.hosts[name], deal.now)}
        for one in waiting:
            if not one.is_allowed(deal.hosts[one.host].allows):
                one.put_off(deal.now)
            elif not (self._beside_pages and one.host in yields):
                deal.grants_resource(one)


class Sitemaps(_Resources):
    """Sitemaps that were never read, and sitemaps that must be read again."""

    name, kind = "sitemap", "sitemap"


class Links(_Resources):
    """URLs outside the scope, whose status is asked for."""

    name, kind = "link", "link"


SOURCES: Mapping[str, Any] = {each.name: each for each in (Aliases, Tries, Sitemaps, Links, Asked, Front, Lanes)}
"""The class of each source by its name."""


def _hiding(waiting: Sequence[int], ready: Sequence[int], n: int, *, full: bool) -> list[int]:
    """Return the pages to be delayed, because they may hide others: some of those whose hosts are not ready, if there
    are too few others. `full`: True if there may be further pages after those that were read."""
    return list(waiting[: tuning.ALIASES_PUT_OFF]) if full and len(ready) < n else []


def _later(now: float) -> float:
    return now + random.uniform(0.5, 1.5) * tuning.PUT_OFF


def _by_turns(pages: Iterable[tuple[int, str]]) -> list[int]:
    """Return the first page of each host, then the second of each, and so on."""
    count: Counter[str] = Counter()
    turns = []
    for rank, (page, host) in enumerate(pages):
        turns.append((count[host], rank, page))
        count[host] += 1
    return [page for *_, page in sorted(turns)]


def _yields_to_pages(host: HostState, now: float) -> bool:
    """Return whether pages of a host that wait for its delay come before its resources this time."""
    waits = host.queued and host.ripe_at <= now and host.polite(now)
    return waits and random.random() >= tuning.RESOURCE_SHARE
