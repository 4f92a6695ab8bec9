"""Claims: leases with fencing tokens, taken from the heads of the queues.

A call reads candidates in the order of the index, locks them, looks again and takes what is still free and polite.
What was taken by an attempt whose answer got lost is found again by the call's token. Where pages of hosts that are not
ready fill the front of the shared queue, they move to their hosts' queues by the thousand. A lease that is not renewed
lapses and is swept: the page waits again where it was.
Statements: claims/*, pages/bar, resources/keep_back, sections/fronts.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graphbrain.base.model import Claim, kind_of
from graphbrain.frontier import discovery, section_factors, sections
from graphbrain.frontier.claims import candidates, resources, tuning
from graphbrain.frontier.claims.batches import ALIASES, ClaimBatch, Holder
from graphbrain.frontier.claims.candidates import Candidates, Finder
from graphbrain.frontier.claims.leases import Lease
from graphbrain.frontier.claims.sampling import Reach
from graphbrain.frontier.hosts import health, politeness
from graphbrain.frontier.hosts.addresses import Address
from graphbrain.frontier.hosts.origins import Origin
from graphbrain.frontier.hosts.politeness import HostEffects
from graphbrain.frontier.hosts.state import HostState, PolitenessPolicy, aside_queue, open_queues, retry_queue
from graphbrain.frontier.policy import Policy
from graphbrain.frontier.section_factors import Acting
from graphbrain.frontier.sections import AT_ONCE, Waiting, put_back
from graphbrain.graph.connection import Clock, Tx, intact
from graphbrain.schedule.lanes import ASKED
from graphbrain.schedule.value import DAY

__all__ = [
    "PAGES",
    "ClaimRequest",
    "Holder",
    "Taken",
    "Work",
    "attempt",
    "end_lease",
    "mine",
    "put_back_front",
    "retry",
    "review_queues",
    "take",
    "take_aliases",
    "take_resources",
]


NEW, HARVEST, QUEUE, LANE, SINCE, LEASED, VISITED = range(7, 14)
"""The columns of claims/lock, from the seventh on."""


@dataclass(frozen=True, slots=True)
class ClaimRequest:
    """The request of one claiming transaction: a page for each of these `holders`, the best for the first of them.

    Attributes:
        holders: One after another as they take turns; of several calls, where they are combined.
        clock: The time.
        lease: The length of leases in seconds, from when the pages are locked, so that the wait for locks shortens
            neither the lease nor the delay of a host.
        manners: The politeness of the brain.
        finder: The way in which candidates are found.
        reach: The number of candidates to expect to need, for not every host is ready.
        spread: Choose the candidates at random among so many times `n`. 1 is the exact order; more keeps callers from
            choosing the same pages.
        most_moves: The most pages that are moved to their hosts' own queues.
        front: Read so many pages in the front of the shared queue instead: those of hosts that are ready, for claims;
            and, with `n` 0, those that are in the way, for moves alone. Aliases wait in no queue, so the arguments on
            queues have no effect on them.
        now_only: Read pages that were asked for by hand instead.
        tries: Read pages that were chosen to try sections which are held down instead.
    """

    holders: Sequence[Holder]
    clock: Clock
    lease: float
    manners: PolitenessPolicy
    finder: Finder
    reach: Reach
    spread: int = 1
    most_moves: int = 0
    front: int = 0
    now_only: bool = False
    tries: bool = False
    robots: bool = False
    """claim the robots.txt of an origin before its pages, where it is not known or has to be read again"""
    lines: Sequence[str] = ()
    """claim resources of these lines instead"""
    beside_pages: bool = False
    """of a host in whose queue pages wait, claim these only with the probability of their share"""
    acting: section_factors.Acting | None = None
    """how pages wait by their sections, if they do"""

    @property
    def n(self) -> int:
        """The largest number of pages to claim."""
        return len(self.holders)

    @property
    def puts_back(self) -> bool:
        """True if pages are put back whose sections have fallen. Pages that were chosen by hand, or to try a section,
        are not."""
        return self.acting is not None and not (self.now_only or self.front or self.tries)


@dataclass(frozen=True, slots=True)
class Taken:
    """The result of one transaction.

    Attributes:
        claims: The claims.
        moved: The number of pages that moved to the queues of their hosts.
        lost: The number of candidates that another caller claimed first.
        seen: The number of candidates.
        ready: (candidates examined until there were enough claims, claims among them), of the queues of ready hosts.
        shared: The same of the shared queue.
        worths: The worth of each visit that is not a first one.
        notes: The notes on the claimed pages, by their keys, where a call has asked for them.
    """

    claims: list[Claim] = field(default_factory=list)
    moved: int = 0
    lost: int = 0
    seen: int = 0
    ready: tuple[int, int] = (0, 0)
    shared: tuple[int, int] = (0, 0)
    worths: Sequence[float] = ()
    reviewed: int = 0
    """Hosts that seemed ready, and have nothing to claim now."""
    put_back: int = 0
    """Candidates that wait behind others now, for their sections have fallen since they were found."""
    new: int = 0
    """Claims of pages that were never fetched."""
    overtaken: int = 0
    """Candidates that no longer wait, or not yet again, though no other caller took them: a setting, a scope or an
    interval has changed meanwhile, or they were forgotten."""

    notes: Mapping[str, str] = field(default_factory=dict)

    @property
    def in_vain(self) -> bool:
        """True if another attempt may find more, because candidates have changed their places."""
        return self.moved > 0 or self.lost > 0 or self.reviewed > 0 or self.overtaken > 0 or self.put_back > 0


Work = Callable[[Tx, ClaimRequest, set[str]], Taken]
"""One claiming transaction. The last argument gets the keys of pages before they are leased."""


def mine(tx: Tx, tokens: Collection[str], tried: Iterable[str]) -> list[Claim]:
    """The claims among the keys `tried` that carry one of the tokens, best first; those of resources before pages."""
    tried = set(tried)
    others = resources.mine(tx, tokens, tried)
    rows = tx.one("claims/mine", tokens=sorted(tokens), keys=sorted(tried))[0]
    for row in rows:
        intact(*row[:5], *row[7:])
    rows.sort(key=lambda row: (row[7], row[0]))
    return others + [
        Claim(url, key, token, until, host, depth, etag, modified)
        for _, key, url, host, depth, etag, modified, _, until, token in rows
    ]


def attempt(tx: Tx, work: Work, wish: ClaimRequest, tried: set[str]) -> Taken:
    """Make one attempt at a claiming transaction.

    The answer of an earlier attempt may have been lost after its commit. Then its claims are found by their tokens, and
    nothing else is claimed.

    Args:
        work: The transaction, such as `take`.
        wish: What is wanted, by the settings of now.
        tried: The keys of all pages that earlier attempts for these holders were about to lease. `work` adds its own.
    """
    if tried and (before := mine(tx, {holder.token for holder in wish.holders}, tried)):
        return Taken(before, seen=len(before))
    return work(tx, wish, tried)


def take(tx: Tx, wish: ClaimRequest, tried: set[str]) -> Taken:
    """Claim pages as `wish` has it. The keys of pages are added to `tried` before the pages are leased: if the answer
    is lost, the claims are among them."""
    finder, manners, clock = wish.finder, wish.manners, wish.clock
    hiding: Sequence[int] = ()
    chosen: sections.Tries | None = None
    if wish.now_only:
        options, hiding = _wanted(tx, wish, clock())
    elif wish.tries and wish.acting is not None:
        chosen = sections.tries(tx, wish.acting, wish.n, clock())
        options = Candidates(chosen.since)
    elif wish.front:
        options = _front(tx, wish, clock())
    else:
        options = finder.find(tx, wish.n, clock(), manners, wish.reach, wish.spread)
    waiting, lost, learned = _still_due(tx, options.since, finder, clock, with_sites=wish.puts_back)
    overtaken = len(options.since) - len(waiting) - lost
    fallen = _put_back(tx, wish, waiting, learned, clock())
    waiting = [row for row in waiting if row[0] not in fallen]
    deal, at = _dealt(tx, wish, [(*row[:8], row[QUEUE]) for row in waiting], options.idle, options.untried, tried)
    held = deal.held
    if deal.barred:
        tx.do("pages/bar", ids=deal.barred)
    if deal.kept_back:
        tx.do("resources/keep_back", rows=deal.kept_back)
    granted = {grant[0] for grant in deal.grants}
    if wish.now_only:
        _put_off(tx, deal, granted, options.since, hiding)
    elif chosen is not None:
        sections.tried(tx, chosen, granted, deal.now)
    if wish.acting is not None:
        wish.acting.book.took((row[2], row[3]) for row in waiting if row[NEW] and row[0] in granted)
    # Skip the queue check for hosts that already showed a second eligible page: the next claim sees what is left.
    sure = {name for name in options.more & held.keys() if not held[name].set_aside}
    unsure = (deal.sources - sure).union(options.idle) & held.keys()
    review_queues(tx, finder, [held[name] for name in unsure], deal.now)
    deal.touched |= {name: held[name] for name in unsure}
    _write_hosts(tx, deal, at)
    moved = len(deal.moves) + len(deal.barred) + len(deal.kept_back)
    worths = [options.worth[page] for page, *_ in deal.grants if page in options.worth]
    reviewed = sum(not held[name].queued or held[name].ripe_at > deal.now for name in options.idle if name in held)
    return Taken(
        deal.claims,
        moved,
        lost,
        len(options.since),
        deal.met(ready=True),
        deal.met(ready=False),
        worths,
        reviewed,
        put_back=len(fallen),
        new=sum(row[NEW] for row in waiting if row[0] in granted),
        overtaken=overtaken,
    )


def _still_due(
    tx: Tx, since: Mapping[int, float], finder: Finder, clock: Clock, *, with_sites: bool
) -> tuple[list[list[Any]], int, Mapping[str, int]]:
    """Lock candidates and read them again.

    Return the candidates that are still due, the number of the others that another caller claimed, and, `with_sites`,
    how often the hosts of candidates were learned from.

    `since` has the time from which each candidate waits (id → epoch seconds, best first), read without a lock. Another
    transaction may have leased and reported a page before this one got the lock; the page then waits for its next
    visit, from a later time. So a page is kept if it is due now and waits from no later time than was read, or is
    wanted at once. Its lane may have changed, because pushes move pages between lanes.

    A row: [id, key, url, host, depth, etag, last_modified, was it never fetched, harvest, queue].
    """
    locked, learned = tx.one("claims/lock", ids=sorted(since), sites=with_sites) if since else ([], [])
    waiting = [row for row in locked if row[QUEUE] is not None]
    due = candidates.are_due(finder, [row[LANE] for row in waiting], [row[SINCE] for row in waiting], clock()).tolist()
    kept = {
        row[0]: row[:LANE]
        for row, is_due in zip(waiting, due, strict=True)
        if is_due and (row[SINCE] <= since[row[0]] or row[LANE] == ASKED)
    }
    lost = sum(row[LEASED] or row[VISITED] > since[row[0]] for row in locked if row[0] not in kept)
    return [kept[page] for page in since if page in kept], lost, dict(learned)


def _put_back(
    tx: Tx, wish: ClaimRequest, waiting: Sequence[Sequence[Any]], learned: Mapping[str, int], now: float
) -> set[int]:
    """Put back pages whose sections have fallen since they were found, and return their ids. `learned`: how often their
    hosts were learned from."""
    if wish.acting is None or not wish.puts_back:
        return set()
    new = [sections.Waiting(row[0], row[2], row[3], row[HARVEST]) for row in waiting if row[NEW]]
    return sections.put_back(tx, new, wish.acting, now, learned)


def _wanted(tx: Tx, wish: ClaimRequest, now: float) -> tuple[Candidates, list[int]]:
    """Return candidates among the pages that were requested by hand. Return also those whose hosts are not ready, if so
    many of them come first that they hide others."""
    looked_at = max(tuning.ALIASES_LOOKED_AT, 2 * wish.n)
    rows = tx.one("claims/wanted", now=now, limit=looked_at)[0]
    since = {page: at for page, at, *_ in rows}
    ready = _by_turns([(page, host) for page, _, host, is_ready, waits, _ in rows if is_ready and waits])[: 2 * wish.n]
    waiting = [page for page, _, _, is_ready, waits, _ in rows if waits and not is_ready]
    nowhere = [page for page, *_, waits, retries in rows if not (waits or retries)]
    hiding = waiting[: tuning.ALIASES_PUT_OFF] if len(ready) < wish.n and len(rows) == looked_at else []
    return Candidates({page: since[page] for page in (*ready, *hiding, *nowhere)}), hiding


def _put_off(tx: Tx, deal: ClaimBatch, granted: set[object], looked_at: Iterable[int], hiding: Sequence[int]) -> None:
    """Drop the request for pages that wait in no queue any more, because a setting or robots.txt forbids them. Delay
    those that hide others."""
    if left := [page for page in looked_at if page not in granted]:
        tx.do("claims/unwanted", ids=left)
    gone = granted.union(deal.barred)
    if later := [[page, deal.now + random.uniform(0.5, 1.5) * tuning.PUT_OFF] for page in hiding if page not in gone]:
        tx.do("claims/put_off_wanted", rows=later)


def _dealt(
    tx: Tx,
    wish: ClaimRequest,
    rows: Sequence[Sequence[Any]],
    idle: Sequence[str],
    untried: frozenset[str],
    tried: set[str],
) -> tuple[ClaimBatch, Mapping[str, Address]]:
    """Decide on these locked pages and lease those that are granted. Return the batch and the addresses of its hosts.

    A row: [id, key, url, host, depth, etag, last_modified, was it never fetched, queue]. `tried` gets the keys of what
    is leased.
    """
    origins: dict[str, Origin] | None = None
    if wish.robots and wish.n:
        origins = resources.wanted(tx, [(row[2], row[3]) for row in rows], wish.manners, wish.clock())
    asked = {name for origin in (origins or {}).values() for name in (origin.name, origin.host)}
    held, at = _hosts_of(tx, [row[3] for row in rows], idle, wish.manners, wish.clock(), asked)
    now = wish.clock()
    deal = ClaimBatch(now, wish.holders, wish.lease, wish.most_moves, held, untried, origins)
    deal.count_probes(tx)
    for row in rows:
        deal.grants_page(*row)
    tried.update(claim.key for claim in deal.claims)
    if deal.grants or deal.moves:
        tx.do("claims/take", rows=deal.grants, until=deal.until, moves=deal.moves)
    resources.write(tx, (origins or {}).values(), held, now)
    return deal, at


def _write_hosts(tx: Tx, deal: ClaimBatch, at: Mapping[str, Address]) -> None:
    """Write the changes of the locked hosts and of their addresses."""
    deal.touched |= {name: host for name, host in deal.held.items() if host.newly_counted() or host.righted}
    politeness.write(tx, (deal.touched[name] for name in sorted(deal.touched)), at.values(), deal.now)


def _front(tx: Tx, wish: ClaimRequest, now: float) -> Candidates:
    """Return candidates from the front of the shared queue, at most `most` pages of each host that is not ready.

    Hosts are read without a lock. Whether a host with an address or a robots.txt is ready is decided under its lock. A
    wrong guess costs another read and nothing else: claims and moves are decided under the locks of pages and hosts, by
    the same rules as for other candidates.
    """
    n, most = wish.n, wish.most_moves
    pages = wish.finder.front(tx, now, wish.front, min(n, tuning.FRONT_CLAIMS) if n else wish.front)
    met = politeness.read(tx, {name for _, name in pages}, wish.manners, now)
    busy = {name for name, host in met.items() if host.polite(now) and not host.may_open(now)}
    unsure = {name for name, host in met.items() if host.address is not None or host.stored["robots_mark"] is not None}
    if n:
        chosen = [page for page, name in pages if name not in busy][: n + most]
    else:
        chosen = [page for page, name in pages if name in busy or name in unsure][:most]
    return Candidates({page: since for page, _, since in chosen})


def take_aliases(tx: Tx, wish: ClaimRequest, tried: set[str]) -> Taken:
    """Claim aliases and parked pages that are due for a check, as `take` claims pages. They wait in no queue.

    If those of a host that is not ready hide others, some of them are delayed.
    """
    n, clock = wish.n, wish.clock
    looked_at = max(tuning.ALIASES_LOOKED_AT, 2 * n)
    rows = tx.one("claims/aliases_due", now=clock(), limit=looked_at)[0]
    ready = _by_turns([(page, host) for page, host, is_ready in rows if is_ready])[: 2 * n]
    waiting = [page for page, _, is_ready in rows if not is_ready]
    behind = waiting[: tuning.ALIASES_PUT_OFF] if len(ready) < n and len(rows) == looked_at else []
    places = {page: rank for rank, page in enumerate([*ready, *behind])}
    free = tx.one("claims/aliases_lock", ids=sorted(places), now=clock())[0] if places else []
    free.sort(key=lambda row: places[row[0]])
    deal, at = _dealt(tx, wish, [(*row, ALIASES) for row in free], (), frozenset(), tried)
    granted, now = {grant[0] for grant in deal.grants}, deal.now
    later = [[page, now + DAY] for page in deal.barred] + deal.kept_back
    put_off = granted.union(page for page, _ in later)
    later += [
        [row[0], now + random.uniform(0.5, 1.5) * tuning.PUT_OFF]
        for row in free
        if row[0] in behind and row[0] not in put_off
    ]
    if later:
        tx.do("claims/put_off", rows=later)
    _write_hosts(tx, deal, at)
    return Taken(deal.claims)


def take_resources(tx: Tx, wish: ClaimRequest, tried: set[str]) -> Taken:
    """Claim resources of the queues `wish.lines`, as `take` claims pages."""
    keys = resources.due(tx, wish.lines, wish.n, wish.clock())
    locked = resources.lock(tx, keys)
    waiting = [one for key in keys if (one := locked.get(key)) is not None and one.waits(wish.clock())]
    if not waiting:
        return Taken(seen=len(keys), lost=len(keys))
    names = {one.host for one in waiting}
    held, at = _hosts_of(tx, sorted(names), (), wish.manners, wish.clock(), names)
    deal = ClaimBatch(wish.clock(), wish.holders, wish.lease, 0, held, frozenset())
    deal.count_probes(tx)
    # The host that is asked is ready for one claim in its delay. Without this, sitemaps would have each of them.
    yields = {name for name in names if wish.beside_pages and _yields_to_pages(held[name], deal.now)}
    for one in waiting:
        if not one.is_allowed(held[one.host].allows):
            one.put_off(deal.now)
        elif one.host not in yields and deal.grants_resource(one):
            tried.add(one.key)
    resources.write(tx, waiting, held, deal.now)
    _write_hosts(tx, deal, at)
    return Taken(deal.claims, seen=len(keys), lost=len(keys) - len(waiting))


def _yields_to_pages(host: HostState, now: float) -> bool:
    """Return whether pages of a host that wait for its delay come before its resources this time."""
    waits = host.queued and host.ripe_at <= now and host.polite(now)
    return waits and random.random() >= tuning.RESOURCE_SHARE


def _by_turns(pages: Iterable[tuple[int, str]]) -> list[int]:
    """Return the first page of each host, then the second of each, and so on."""
    count: Counter[str] = Counter()
    turns = []
    for rank, (page, host) in enumerate(pages):
        turns.append((count[host], rank, page))
        count[host] += 1
    return [page for *_, page in sorted(turns)]


def _hosts_of(
    tx: Tx,
    names: Sequence[str],
    idle: Sequence[str],
    manners: PolitenessPolicy,
    now: float,
    asked: Collection[str] = (),
) -> tuple[dict[str, HostState], dict[str, Address]]:
    """Lock the hosts among these that have politeness limits. Return them, and their addresses if these have limits.

    Hosts that may be `asked` for a robots.txt, or whose pages wait for one, are always locked. If the brain has no
    limit for all hosts, hosts are read first, and those without limits stay unlocked: a claim of a host without a delay
    takes no lock. Such a host may be blocked, or get a delay, between this read and the commit. The claim then counts
    as one that was in flight when the block began (`Request.is_news`), and the next claim obeys the block.
    """
    wanted = set(names).union(idle, asked)
    if not manners.ask_all:
        met = politeness.read(tx, wanted, manners, now).values()
        wanted = {h.name for h in met if h.polite(now) or h.has_robots}.union(asked)
    held = politeness.lock(tx, wanted, manners, now) if wanted else {}
    at = politeness.places(tx, held.values(), manners, now)
    politeness.know_budgets(tx, held.values())
    politeness.rules(tx, held.values())
    return held, at


def review_queues(tx: Tx, finder: Finder, hosts: Iterable[HostState], now: float) -> None:
    """Set the states of hosts by the pages in their queues.

    A host with empty queues leaves the ready hosts. A host whose pages are not due yet is not considered before the
    first of them is. The caller has locked the hosts, so that no page is queued meanwhile.
    """
    held = {host.name: host for host in hosts}
    queues = {name: [name, aside_queue(name)][: 1 + held[name].set_aside] for name in sorted(held)}
    ripe = finder.ripe_at(tx, [queue for each in queues.values() for queue in each], now) if queues else {}
    retries = candidates.retries_ripe_at(tx, finder, [name for name in queues if held[name].retrying], now)
    for name in queues:
        host = held[name]
        host.set_aside &= aside_queue(name) in ripe
        host.retrying = name in retries
        moments = [ripe[queue] for queue in open_queues(host) if queue in ripe]
        host.tried_all = not moments
        moments += [retries[name]] if host.retrying else []
        host.queued = bool(moments)
        host.ripe_at = min(moments, default=0.0)


class _Pages:
    """Pages as what is leased (`leases.Leasing`)."""

    name = "claims"

    def has(self, key: str) -> bool:
        return kind_of(key) == "page"

    def found(self, tx: Tx, keys: Iterable[str]) -> list[Lease]:
        return self.locked(tx, [*discovery.find(tx, keys).values()])

    def locked(self, tx: Tx, nodes: Sequence[int]) -> list[Lease]:
        rows = tx.one("claims/held", ids=sorted(set(nodes)))[0]
        return [Lease(row[1], row[3], row[4], (row[6], row[8]), row) for row in rows]

    def hold(self, tx: Tx, leases: Sequence[Lease], until: float) -> None:
        tx.do("claims/renew", ids=[lease.locked[0] for lease in leases], until=until)

    def let_go(self, tx: Tx, leases: Sequence[Lease], policy: Policy, now: float) -> None:
        _let_go(tx, [lease.locked for lease in leases], policy.rule.revisits, policy.manners, now)


PAGES = _Pages()


def _let_go(tx: Tx, rows: list[list[object]], revisits: bool, manners: PolitenessPolicy, now: float) -> None:
    """`revisits`: fetched pages wait, too; else only those that are wanted."""
    if not rows:
        return
    ends: dict[str, HostEffects] = {}
    for row in rows:
        end_lease(ends, row)
    hosts = dict.fromkeys((str(row[2]) for row in rows), now)
    filing = politeness.conclude(tx, ends, hosts, manners, now, {str(row[2]) for row in rows if row[13]})
    # A page that left the frontier or the scope while it was leased goes back to no queue.
    waits = [row[7] == "frontier" or (row[7] == "known" and (revisits or row[9] == ASKED)) for row in rows]
    back = [_queue_of(row, filing) if wait else None for row, wait in zip(rows, waits, strict=True)]
    tx.do("claims/release", rows=[[row[0], queue, row[3]] for row, queue in zip(rows, back, strict=True)])


def _queue_of(row: Sequence[Any], filing: Mapping[str, str]) -> str:
    """Return the queue for a page whose claim ended without a visit: that of retries if its last visit failed."""
    return retry_queue(row[2]) if row[13] else filing[row[2]]


def end_lease(ends: dict[str, HostEffects], row: Sequence[Any]) -> None:
    """Note what the end of a lease without a visit means to the page's host. `row`: of claims/held."""
    end = ends.setdefault(row[2], HostEffects())
    end.claims += bool(row[5])
    end.claims_at.update(row[10:11] if row[10] is not None else ())
    end.spent -= row[11] and not row[12]


def retry(tx: Tx, ids: Sequence[int], manners: PolitenessPolicy, now: float) -> int:
    """Queue the failed pages among these that are due again, and return their number."""
    rows = tx.one("claims/retry", ids=sorted(set(ids)), now=now)[0]
    if rows:
        politeness.file_retries(tx, dict.fromkeys((host for _, host in rows), now), manners, now)
        tx.do("claims/requeue", rows=[[page, retry_queue(host)] for page, host in rows], soonest=health.SOONEST)
    return len(rows)


def put_back_front(tx: Tx, finder: Finder, acting: Acting, now: float) -> int:
    """Put the first pages of the shared queue back whose sections have fallen, and return their number."""
    front = finder.front(tx, now, AT_ONCE, AT_ONCE)
    rows = tx.one("sections/fronts", ids=[page for (page, *_), _ in front])[0] if front else []
    return len(put_back(tx, [Waiting(*row) for row in rows], acting, now))
