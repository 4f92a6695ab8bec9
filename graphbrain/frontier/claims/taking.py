"""Claims: leases with fencing tokens, taken from all sources in one transaction.

`take` reads the candidates of the sources without a lock, in the order of their indexes. It locks all of them, reads
them again, and claims those that are still free and whose hosts are ready. If the answer of a commit is lost, the next
attempt finds its claims by the token of the call. If pages of hosts that are not ready fill the front of the shared
queue, they move to the queues of their hosts by the thousand. If a lease is not renewed, it lapses, and a sweep lets
the page wait again in the queue in which it was. Statements: claims/*, sections/fronts.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from graphbrain.base.model import Claim
from graphbrain.frontier import notes
from graphbrain.frontier.claims import candidates, resources
from graphbrain.frontier.claims.batches import ClaimBatch
from graphbrain.frontier.claims.candidates import Finder
from graphbrain.frontier.claims.sources import SOURCES, ClaimRequest, Lanes, Source
from graphbrain.frontier.hosts import politeness
from graphbrain.frontier.hosts.addresses import Address
from graphbrain.frontier.hosts.origins import Origin
from graphbrain.frontier.hosts.resource import ResourceState
from graphbrain.frontier.hosts.state import HostState, PolitenessPolicy, aside_queue, open_queues
from graphbrain.frontier.section_factors import Acting
from graphbrain.frontier.sections import AT_ONCE, Waiting, put_back
from graphbrain.graph.connection import Tx, intact
from graphbrain.graph.statements import statement

__all__ = [
    "Taken",
    "mine",
    "put_back_front",
    "review_queues",
    "take",
]


@dataclass(slots=True)
class Taken:
    """The result of one transaction.

    Attributes:
        claims: The claims from the queues of pages, and of pages that were asked for.
        beside: The claims from all other sources.
        by_source: The number of claims of each source.
        moved: The number of pages that moved to the queues of their hosts.
        lost: The number of candidates that another caller claimed first.
        seen: The number of candidates from the queues of pages.
        ready: (number of candidates that were examined until there were enough claims, number of claims among them),
            for the queues of ready hosts.
        shared: The same numbers for the shared queue.
        worths: The worth of each revisit.
        reviewed: Hosts that seemed ready, and have nothing to claim now.
        put_back: The number of candidates that wait in a later lane now, because their sections have fallen.
        overtaken: The number of candidates that are not due any more although no other caller has claimed them.
        notes: Key of a page → its note, if the request wants notes; of pages that were not claimed, too.
    """

    claims: list[Claim] = field(default_factory=list)
    beside: list[Claim] = field(default_factory=list)
    by_source: Counter[str] = field(default_factory=Counter)
    moved: int = 0
    lost: int = 0
    seen: int = 0
    ready: tuple[int, int] = (0, 0)
    shared: tuple[int, int] = (0, 0)
    worths: Sequence[float] = ()
    reviewed: int = 0
    put_back: int = 0
    overtaken: int = 0
    notes: Mapping[str, str] = field(default_factory=dict)

    @property
    def in_vain(self) -> bool:
        """True if another attempt may find more, because candidates have moved."""
        return self.moved > 0 or self.lost > 0 or self.reviewed > 0 or self.overtaken > 0 or self.put_back > 0


def mine(tx: Tx, tokens: Collection[str], tried: Iterable[str]) -> list[Claim]:
    """Return the claims among the keys `tried` that carry one of the tokens: those of resources, then pages, best
    first."""
    tried = set(tried)
    rows = tx.records("claims/mine", tokens=sorted(tokens), keys=sorted(tried))
    for row in rows:
        intact(row.id, row.key, row.url, row.host, row.depth, row.lane, row.lease_until, row.token)
    rows.sort(key=lambda row: (row.lane, row.id))
    return resources.mine(tx, tokens, tried) + [
        Claim(row.url, row.key, row.token, row.lease_until, row.host, row.depth, row.etag, row.last_modified)
        for row in rows
    ]


def take(tx: Tx, wish: ClaimRequest, tried: set[str]) -> Taken:
    """Claim from the sources of `wish`, at most as many from each as it has places.

    Args:
        wish: The request, by the present settings.
        tried: The keys of all pages and resources that earlier attempts for these holders were about to lease. The keys
            of this attempt are added.
    """
    # If the answer to the commit of an earlier attempt was lost, find its claims by their tokens, and claim no others.
    if tried and (earlier_claims := mine(tx, {holder.token for holder in wish.holders}, tried)):
        notes_on = notes.on_claims(tx, earlier_claims) if wish.notes else {}
        return Taken(earlier_claims, seen=len(earlier_claims), notes=notes_on)
    # Lock the candidates of all sources, and their hosts.
    sources: list[Source] = [SOURCES[name](tx, wish) for name in wish.places]
    notes_on = _lock_pages(tx, wish, sources)
    locked = _lock_resources(tx, wish, sources)
    deal, addresses = _batch(tx, wish, sources, locked)
    # Grant the claims source by source, and write them.
    result = Taken(notes=notes_on)
    for source in sources:
        before = len(deal.claims)
        deal.open(wish.places[source.name], source.kind, wish.most_moves if source.in_queues else 0)
        source.offer(deal)
        (result.claims if source.in_queues else result.beside).extend(deal.claims[before:])
        result.by_source[source.name] = len(deal.claims) - before
    tried.update(claim.key for claim in deal.claims)
    _write(tx, wish, deal, sources, locked, addresses)
    return _result(result, deal, sources)


def _lock_pages(tx: Tx, wish: ClaimRequest, sources: Sequence[Source]) -> dict[str, str]:
    """Lock the pages of all sources, and let each source find which of its pages are still due. A page that several
    sources offer stays with the first. Return the notes on the pages, if the request wants notes."""
    offered: set[int] = set()
    for source in sources:
        source.since = {page: at for page, at in source.since.items() if page not in offered}
        offered.update(source.since)
    lanes = next((source for source in sources if isinstance(source, Lanes)), None)
    sites = wish.acting is not None and lanes is not None
    rows, learned, notes_on = (
        tx.one("claims/lock", ids=sorted(offered), sites=sites, notes=wish.notes) if offered else ([], [], [])
    )
    record = statement("claims/lock").record
    locked = {row[0]: record(*row) for row in rows}
    for source in sources:
        source.judge(wish, locked)
    if wish.acting is not None and lanes is not None and learned:
        lanes.drop_fallen(tx, wish.acting, dict(learned), wish.clock())
    return dict(notes_on)


def _lock_resources(tx: Tx, wish: ClaimRequest, sources: Sequence[Source]) -> dict[str, ResourceState]:
    """Lock the resources of all sources, and the robots.txt that must be read before pages; return them by key."""
    pages = [(row.url, row.host) for source in sources for row in source.rows] if wish.robots and wish.holders else []
    origins = resources.wanted(tx, pages, wish.manners, wish.clock()) if pages else ()
    keys = [*origins, *(key for source in sources for key in source.keys)]
    locked = resources.lock(tx, keys) if keys else {}
    for source in sources:
        source.resources = [locked[key] for key in source.keys if key in locked]
    return locked


def _batch(
    tx: Tx, wish: ClaimRequest, sources: Sequence[Source], locked: Mapping[str, ResourceState]
) -> tuple[ClaimBatch, Mapping[str, Address]]:
    """Lock the hosts of all due candidates. Return (the batch that decides, the addresses of the hosts)."""
    origins = {key: one for key, one in locked.items() if isinstance(one, Origin)}
    servers = {name for one in locked.values() for name in (one.concerns, one.host)}
    names = {row.host for source in sources for row in source.rows}.union(*(source.found.idle for source in sources))
    hosts, addresses = _hosts_of(tx, names, wish.manners, wish.clock(), servers)
    untried = frozenset[str]().union(*(source.found.untried for source in sources))
    robots = origins if wish.robots and wish.holders else None
    deal = ClaimBatch(wish.clock(), deque(wish.holders), wish.lease, hosts, untried, robots)
    # Count the claims of ill hosts that are out, if such a host might get one.
    if deal.holders and any(host.ill() and host.ready(deal.now) for host in hosts.values()):
        deal.probes, deal.out, deal.waiting = politeness.probes(tx, deal.now)
    return deal, addresses


def _write(
    tx: Tx,
    wish: ClaimRequest,
    deal: ClaimBatch,
    sources: Sequence[Source],
    locked: Mapping[str, ResourceState],
    addresses: Mapping[str, Address],
) -> None:
    """Write the decisions of the batch to pages, resources and hosts, in this order."""
    if any(deal.writes.values()):
        tx.do("claims/take", until=deal.until, **deal.writes)
    if locked:
        resources.write(tx, locked.values(), deal.hosts, deal.now)
    if wish.acting is not None:
        wish.acting.book.took(deal.new)
    # Skip the queue check for hosts that already showed a second eligible page. The next claim reads the rest.
    more = frozenset[str]().union(*(source.found.more for source in sources))
    sure = {name for name in more & deal.hosts.keys() if not deal.hosts[name].set_aside}
    unsure = (deal.drained - sure).union(*(source.found.idle for source in sources)) & deal.hosts.keys()
    if unsure:
        review_queues(tx, wish.finder, [deal.hosts[name] for name in unsure], deal.now)
    deal.touched |= {name: deal.hosts[name] for name in unsure}
    # A host whose hours have ended since it was written must not seem ready again and again.
    deal.touched |= {
        name: host
        for name, host in deal.hosts.items()
        if host.newly_counted() or host.righted or host.shut_until > deal.now
    }
    politeness.write(tx, (deal.touched[name] for name in sorted(deal.touched)), addresses.values(), deal.now)


def _result(result: Taken, deal: ClaimBatch, sources: Sequence[Source]) -> Taken:
    """Return the result of the transaction, with its figures."""
    result.moved = sum(len(deal.writes[name]) for name in ("moves", "barred", "kept_back"))
    result.ready, result.shared = deal.examined(ready=True), deal.examined(ready=False)
    for source in sources:
        result.lost += source.lost
        result.overtaken += source.overtaken
        result.put_back += source.put_back
        result.reviewed += sum(
            not deal.hosts[name].queued or deal.hosts[name].ripe_at > deal.now
            for name in source.found.idle
            if name in deal.hosts
        )
        if isinstance(source, Lanes):
            result.seen = len(source.since)
            result.worths = [worth for page, worth in source.found.worth.items() if page in deal.granted]
    return result


def _hosts_of(
    tx: Tx, names: Collection[str], manners: PolitenessPolicy, now: float, servers: Collection[str]
) -> tuple[dict[str, HostState], dict[str, Address]]:
    """Lock the hosts among these that have politeness limits. Return them, and their addresses if these have limits.

    The `servers` may be asked for a resource, or pages wait for their robots.txt: they are always locked. If the brain
    has no limit for all hosts, hosts are read first, and those without limits stay unlocked: a claim of a host without
    a delay takes no lock. Such a host may be blocked, or get a delay, between this read and the commit. The claim then
    counts as one that was in flight when the block began (`Request.is_news`), and the next claim obeys the block.
    """
    wanted = {*names, *servers}
    if not manners.ask_all:
        hosts = politeness.read(tx, wanted, manners, now).values()
        wanted = {h.name for h in hosts if h.polite(now) or h.has_robots}.union(servers)
    if not wanted:
        return {}, {}
    locked = politeness.lock(tx, wanted, manners, now)
    addresses = politeness.places(tx, locked.values(), manners, now)
    politeness.know_budgets(tx, locked.values())
    politeness.rules(tx, locked.values())
    return locked, addresses


def review_queues(tx: Tx, finder: Finder, hosts: Iterable[HostState], now: float) -> None:
    """Set the states of hosts by the pages in their queues.

    A host with empty queues leaves the ready hosts. A host whose pages are not due yet is not considered before the
    first of them is. The caller has locked the hosts, so that no page is queued meanwhile.
    """
    host_of = {host.name: host for host in hosts}
    queues = {name: [name, aside_queue(name)][: 1 + host_of[name].set_aside] for name in sorted(host_of)}
    ripe = finder.ripe_at(tx, [queue for each in queues.values() for queue in each], now) if queues else {}
    retries = candidates.retries_ripe_at(tx, finder, [name for name in queues if host_of[name].retrying], now)
    for name in queues:
        host = host_of[name]
        host.set_aside &= aside_queue(name) in ripe
        host.retrying = name in retries
        moments = [ripe[queue] for queue in open_queues(host) if queue in ripe]
        host.tried_all = not moments
        moments += [retries[name]] if host.retrying else []
        host.queued = bool(moments)
        host.ripe_at = min(moments, default=0.0)


def put_back_front(tx: Tx, finder: Finder, acting: Acting, now: float) -> int:
    """Move those of the first pages of the shared queue to later lanes whose sections have fallen. Return their
    number."""
    front = finder.front(tx, now, AT_ONCE, AT_ONCE)
    rows = tx.one("sections/fronts", ids=[page for (page, *_), _ in front])[0] if front else []
    return len(put_back(tx, [Waiting(*row) for row in rows], acting, now))
