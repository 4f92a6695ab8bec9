"""The claims and reports of resources, which are no pages: robots.txt (`frontier.hosts.origins`), sitemaps
(`sitemap_state`), and the status of URLs outside the scope (`link_state`).

A caller that claims robots.txt gets the robots.txt of an origin before its first page. Other resources wait in queues.
There is one queue for each line and host. One line of a kind is for resources that a crawl waits for, such as sitemaps
that were never read, and another one for those that are read again. A queue stores the time at which its first resource
can be claimed.
The claim of a resource is a lease with a fencing token. It counts for the delay, the address and the limit of the host
that gets the request, and its result is evidence on the health of that host.
Resources are locked after pages and before hosts, by key. The properties of a host about its robots.txt, and the queues
of its resources, are written under the host's lock.
Statements: resources/*, pages/hosts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from graphbrain.base.model import Answer, Claim, Kind, Outcome, kind_of
from graphbrain.base.records import HostResource
from graphbrain.base.runtime import tokens
from graphbrain.base.urls.normalization import host_of
from graphbrain.frontier.claims import link_state, sitemap_state
from graphbrain.frontier.claims.leases import Lease
from graphbrain.frontier.claims.link_state import LinkState
from graphbrain.frontier.claims.resource_reports import ResourceVisit, visited
from graphbrain.frontier.claims.sitemap_state import SitemapState, Trust
from graphbrain.frontier.hosts import admin, health, origins, politeness
from graphbrain.frontier.hosts.addresses import FULL_WAIT
from graphbrain.frontier.hosts.origins import Origin, Times
from graphbrain.frontier.hosts.politeness import HostEffects
from graphbrain.frontier.hosts.resource import MOST_REDIRECTS, ResourceState, queue_key
from graphbrain.frontier.hosts.state import HostRequest, HostState, PolitenessPolicy
from graphbrain.frontier.policy import RETURNED, Policy
from graphbrain.graph.connection import Tx, intact

__all__ = [
    "LINES",
    "RESOURCES",
    "ResourceVisit",
    "behind",
    "claimable",
    "create",
    "lock",
    "mine",
    "of_host",
    "origin_of",
    "outlook",
    "put_right",
    "record",
    "review",
    "visited",
    "waiting",
    "wanted",
    "write",
]

STATES: Mapping[Kind, type[ResourceState]] = {"robots": Origin, "sitemap": SitemapState, "link": LinkState}
"""Kind → the class of its state."""
LINES: Mapping[Kind, tuple[str, str]] = {
    "sitemap": (sitemap_state.LINE, sitemap_state.AGAIN),
    "link": (link_state.LINE, link_state.AGAIN),
}
"""Kind → the lines in which it waits: the first one for resources that a crawl waits for, the second one for those that
are read again."""
OF_ONE_HOST = 20
"""Most resources of one host that one transaction reads."""
MOST_SHOWN = 100
"""Most sitemaps of a host that are shown."""
GONE = "the lease lapsed, or another worker holds it"
GIVEN_BACK = "the claim was given back or had lapsed"


# ---------------------------------------------------------------- claims


def origin_of(url: str, host: str) -> str:
    """Return the key of the robots.txt for a page."""
    return origins.key_of(url.partition(":")[0], host)


def wanted(tx: Tx, pages: Iterable[tuple[str, str]], manners: PolitenessPolicy, now: float) -> list[str]:
    """Create the robots.txt that must be read before these pages (URL, host), and return their keys.

    Hosts are read without a lock.
    """
    host_of_url = dict(pages)
    hosts = politeness.read(tx, set(host_of_url.values()), manners, now)
    rows = {}
    for url, name in host_of_url.items():
        scheme, host = url.partition(":")[0], hosts.get(name)
        if host is not None and host.robots_hold <= now and host.wants_robots(scheme, now):
            key = origins.key_of(scheme, name)
            rows[key] = [key, kind_of(key), f"{scheme}://{name}/robots.txt", name]
    if rows:
        tx.do("resources/create", rows=[rows[key] for key in sorted(rows)], now=now)
    return list(rows)


def behind(tx: Tx, names: Iterable[str], now: float) -> dict[str, str]:
    """Return host → the other host that serves its robots.txt after a redirect, if nothing else delays it."""
    keys = sorted(origins.key_of(scheme, name) for name in names for scheme in ("http", "https"))
    rows = tx.one("resources/behind", keys=keys, now=now)[0] if keys else []
    return {key.partition("://")[2]: host for key, host in rows}


def create(tx: Tx, urls: Mapping[str, str], now: float) -> None:
    """Create the resources of these keys and URLs that are not in the graph, and their hosts."""
    rows = [[key, kind_of(key), urls[key], host_of(urls[key])] for key in sorted(urls)]
    if rows:
        tx.do("pages/hosts", names=sorted({row[3] for row in rows}), now=now)
        tx.do("resources/create", rows=rows, now=now)


def lock(tx: Tx, keys: Iterable[str]) -> dict[str, ResourceState]:
    """Lock those of these resources that exist, and return them by key. No page may be locked after this."""
    names = sorted(set(keys))
    rows = tx.one("resources/lock", keys=names)[0] if names else []
    return {row["key"]: STATES[kind_of(row["key"])].stored(row) for row in rows}


def write(
    tx: Tx, locked: Iterable[ResourceState], hosts: Mapping[str, HostState], now: float, *, ended: bool = False
) -> None:
    """Write the changed properties of locked resources and of their queues.

    `hosts`: the locked hosts of the queues. `ended`: True if their claims have ended, so that their hosts may be ready
    for resources of other kinds, too.
    """
    locked = list(locked)
    rows = [[one.key, changes] for one in locked if (changes := one.changes())]
    if rows:
        tx.do("resources/write", rows=rows)
    queues = {queue for one in locked for queue in one.queues()}
    if ended:
        names = {name for one in locked for name in (one.host, one.concerns)}
        queues |= {queue_key(line, name) for lines in LINES.values() for line in lines for name in names}
    review(tx, queues, hosts, now)


def put_right(tx: Tx, keys: Iterable[str], manners: PolitenessPolicy, lease: float, now: float) -> None:
    """Correct the times of resources, and of their queues, of a clock that was ahead. `lease`: the length of a lease in
    seconds."""
    locked = list(lock(tx, keys).values())
    for one in locked:
        one.put_right(now, lease)
    names = {name for one in locked for name in (one.host, one.concerns)}
    hosts = politeness.lock(tx, names, manners, now) if names else {}
    write(tx, locked, hosts, now, ended=True)


def review(tx: Tx, queues: Iterable[str], hosts: Mapping[str, HostState], now: float) -> None:
    """Write for each of these queues when its first resource can be claimed. `hosts` has their locked hosts by name."""
    rows = []
    for queue in sorted(set(queues)):
        line, _, name = queue.rpartition(" ")
        rows.append([queue, line, name, _opens(hosts[name], now)])
    if rows:
        tx.do("resources/review", rows=rows)


def _opens(host: HostState, now: float) -> float:
    """Return the time from which on a host may get a request for a resource, if it is known."""
    crowded = host.full() or host.waits_for_place or not host.address_ready(now)
    return max(host.opens_at(), now + FULL_WAIT if crowded else 0.0)


def mine(tx: Tx, tokens_of: Collection[str], tried: Iterable[str]) -> list[Claim]:
    """Return the claims among the keys `tried` that carry one of the tokens. Keys of pages are skipped."""
    keys = sorted(key for key in tried if kind_of(key) != "page")
    rows = tx.one("resources/mine", keys=keys, tokens=sorted(tokens_of))[0] if keys else []
    for row in rows:
        intact(*row[:5])
    return [
        Claim(url, key, token, until, host, 0, etag, modified, method)
        for key, url, host, until, token, etag, modified, method in sorted(rows, key=lambda row: row[0])
    ]


def outlook(tx: Tx, kinds: Collection[Kind], limit: int) -> list[list[Any]]:
    """Return the leases of resources of these kinds that lapse first: [time, host, token, true]."""
    rows: list[list[Any]] = tx.one("resources/outlook", kinds=sorted(kinds), limit=limit)[0]
    return rows


def waiting(tx: Tx, lines: Sequence[str], limit: int) -> dict[str, list[list[Any]]]:
    """Return line → the times from which its first resources can be claimed: [time, host], the soonest first."""
    rows: dict[str, list[list[Any]]] = {line: [] for line in lines}
    for line, at, host in tx.one("resources/next", lines=list(lines), limit=limit)[0] if lines else ():
        rows[line].append([at, host])
    return rows


def of_host(tx: Tx, name: str, first: Trust) -> tuple[HostResource, ...]:
    """Return the robots.txt of a host, and its sitemaps. `first`: the trust in dates without evidence."""
    keys = [origins.key_of(scheme, name) for scheme in ("http", "https")]
    rows = tx.one("resources/of_host", name=name, keys=keys, limit=MOST_SHOWN)[0]
    return tuple(_view(STATES[kind_of(row["key"])].stored(row), first) for row in rows)


def claimable(tx: Tx, lines: Sequence[str], n: int, now: float) -> list[str]:
    """Return the keys of resources that may be claimed now, read without a lock: the first of each host, then the
    second of each, and so on."""
    if not lines or not n:
        return []
    rows = tx.one("resources/due", lines=list(lines), now=now, limit=2 * n, each=min(n, OF_ONE_HOST))[0]
    turns: Counter[str] = Counter()
    placed = []
    for rank, (key, host) in enumerate(rows):
        turns[host] += 1
        placed.append((turns[host], rank, key))
    return [key for *_, key in sorted(placed)]


def _view(state: ResourceState, first: Trust) -> HostResource:
    stage = "failing" if state.failing_since is not None else "new" if state.fetched is None else "read"
    if isinstance(state, Origin):
        renewal = None if state.fetched is None else Times.read(state.fetched).renew_at
        return HostResource("robots", state.home, stage, state.fetched, state.due_at or renewal)
    assert isinstance(state, SitemapState)
    shown = state.trust(first).true if state.evidence.dated else None
    return HostResource(
        "sitemap",
        state.home,
        "dead" if state.dead_at is not None else stage,
        state.fetched,
        state.due_at,
        state.entries,
        shown,
        state.fault,
    )


# ---------------------------------------------------------------- the end and the renewal of claims


class _Resources:
    """The `Leasing` of nodes with the label Resource."""

    name = "resources"

    def has(self, key: str) -> bool:
        return kind_of(key) != "page"

    def found(self, tx: Tx, keys: Iterable[str]) -> list[Lease]:
        return self.locked(tx, [*keys])

    def locked(self, tx: Tx, nodes: Sequence[str]) -> list[Lease]:
        return [
            Lease(one.key, one.lease, one.lease_until, (one.last_lease, one.last_outcome), one)
            for one in lock(tx, nodes).values()
        ]

    def hold(self, tx: Tx, leases: Sequence[Lease], until: float) -> None:
        for lease in leases:
            lease.locked.lease_until = until
        write(tx, [lease.locked for lease in leases], {}, 0.0)  # a leased resource waits in no queue

    def let_go(self, tx: Tx, leases: Sequence[Lease], policy: Policy, now: float) -> None:
        _let_go(tx, [lease.locked for lease in leases], policy.manners, now)


RESOURCES = _Resources()


def _let_go(tx: Tx, locked: Sequence[ResourceState], manners: PolitenessPolicy, now: float) -> None:
    """End leases without an answer. The resources may be claimed again at once, and pages do not wait for them."""
    if not locked:
        return
    ends: dict[str, HostEffects] = {}
    for one in locked:
        _end(ends, one)
        one.let_go(RETURNED)
    hosts = _concluded(tx, {one.concerns for one in locked}, ends, manners, now)
    for one in locked:
        if isinstance(one, Origin):
            hosts[one.name].end_robots_hold()
    politeness.write(tx, (hosts[name] for name in sorted(hosts)), (), now)
    write(tx, locked, hosts, now, ended=True)


def _end(ends: dict[str, HostEffects], one: ResourceState) -> HostEffects:
    """Return the effect of a claim's end on its host, with this claim added."""
    end = ends.setdefault(one.host, HostEffects())
    end.claims += bool(one.counted)
    end.claims_at.update(() if one.counted_at is None else (one.counted_at,))
    return end


def _concluded(
    tx: Tx, names: Iterable[str], ends: Mapping[str, HostEffects], manners: PolitenessPolicy, now: float
) -> dict[str, HostState]:
    """Conclude claims at the hosts that got the requests. Return these hosts and the others that are named, locked."""
    involved = {*names, *ends}
    politeness.conclude_and_hold(tx, ends, {}, manners, now, involved=involved)
    return politeness.lock(tx, involved, manners, now)


# ---------------------------------------------------------------- reports


def record(
    tx: Tx, reported: Sequence[ResourceVisit], policy: Policy, now: float
) -> tuple[dict[str, Answer], frozenset[str]]:
    """Record reports of resources, each resource at most once.

    Returns:
        (key → answer, the keys of reports that an earlier call had recorded and that get the same answer).
    """
    locked = lock(tx, [one.key for one in reported])
    done: dict[str, Answer] = {}
    again: set[str] = set()
    live: list[tuple[ResourceVisit, ResourceState]] = []
    # Accept the report of the holder of the lease. Repeated reports get the earlier answer, all others a refusal.
    for one in reported:
        state = locked.get(one.key)
        if state is not None and state.lease == one.token:
            live.append((one, state))
        else:
            done[one.key], is_again = _told_again(one, state)
            # A later attempt finds what an earlier attempt has recorded.
            if is_again and tx.attempts.number == 1:
                again.add(one.key)
    if not live:
        return done, frozenset(again)
    # Create the hosts to which redirects lead.
    if targets := {one.answer.host for one, _ in live if one.answer.what == "leads"}:
        tx.do("pages/hosts", names=sorted(targets), now=now)
    # Collect the effects on the hosts that got the requests. Hosts are locked last.
    ends: dict[str, HostEffects] = {}
    # Apply each answer by the kind of the resource, and end the lease.
    for one, state in live:
        _attempted(_end(ends, state), one, state)
    hosts = _concluded(tx, targets.union(state.concerns for _, state in live), ends, policy.manners, now)
    for one, state in live:
        outcome = _follow(tx, one, state, hosts, policy.manners, now)
        state.let_go(outcome)
        done[one.key] = _answer(one, outcome)
    named = {state.name for _, state in live if isinstance(state, Origin)}
    politeness.write(tx, (hosts[name] for name in sorted(named)), (), now)
    write(tx, [state for _, state in live], hosts, now, ended=True)
    return done, frozenset(again)


def _told_again(one: ResourceVisit, state: ResourceState | None) -> tuple[Answer, bool]:
    """Return (the answer to a report whose claim has ended, whether this report has ended it): a repeated report gets
    the same answer."""
    if state is None or state.last_lease != one.token:
        return Answer(one.url, False, GONE), False
    if state.last_outcome == RETURNED:
        return Answer(one.url, False, GIVEN_BACK), False
    stated: Outcome | None = state.last_outcome  # type: ignore[assignment]  # written by `record`
    return _answer(one, stated), True


def _answer(one: ResourceVisit, outcome: Outcome | None) -> Answer:
    return Answer(one.url, False, one.refusal) if one.refusal else Answer(one.url, True, one.note, outcome)


def _attempted(end: HostEffects, one: ResourceVisit, origin: ResourceState) -> None:
    """Add an attempt to the effects on its host."""
    at = tokens.asked_at(one.token, one.at)
    if one.kind == "well":
        end.well(at, one.at)
        end.successes.update([one.token])
    elif one.kind == "none":
        end.inconclusive = True
    else:
        failed = origin.failed if origin.failing_since is not None else None
        end.failures.append(
            HostRequest(
                at, tokens.made_at(one.token) is not None, one.retry_after, one.kind, one.at, failed_before=failed
            )
        )
    end.seconds = one.seconds if one.seconds is not None else end.seconds
    end.address = one.address or end.address


def _follow(
    tx: Tx,
    one: ResourceVisit,
    state: ResourceState,
    hosts: Mapping[str, HostState],
    manners: PolitenessPolicy,
    now: float,
) -> Outcome:
    """Apply an answer to the resource's state, and return the outcome."""
    if isinstance(state, Origin):
        return _follow_origin(tx, one, state, hosts[state.name], manners, now)
    outcome = _follow_link(one, state, now) if isinstance(state, LinkState) else _follow_sitemap(one, state, now)
    return "slowed" if outcome == "retry" and one.kind == "refused" else outcome


def _follow_sitemap(one: ResourceVisit, state: ResourceState, now: float) -> Outcome:
    """Apply an answer to a sitemap, and return the outcome."""
    assert isinstance(state, SitemapState)
    outcome = state.hear(one.answer, now)
    if outcome in ("new", "changed", "same"):
        state.entries = state.entries if one.listed is None else one.listed.entries
        state.is_index = state.is_index if one.listed is None else bool(one.listed.sitemaps) or None
        if one.answer.what == "lists":
            state.etag, state.last_modified = one.etag, one.last_modified
    elif outcome != "alias":
        state.fault = one.refusal or one.note
    return outcome


def _follow_link(one: ResourceVisit, state: LinkState, now: float) -> Outcome:
    """Apply an answer to the check of a link, and return the outcome."""
    outcome = state.hear(one.answer, one.status, now)
    if outcome != "alias":
        state.error = _error_of(one)
        state.fault = None if one.answer.what == "found" else _fault_of(one)
    return outcome


def _error_of(one: ResourceVisit) -> str | None:
    """Return the error of a link that could not be fetched, in words."""
    if one.answer.what == "leads":
        return f"more than {MOST_REDIRECTS} redirects in a row"
    return one.refusal or one.error or None


def _fault_of(one: ResourceVisit) -> health.PageFault:
    """Return the fault of a link that could not be fetched, in the words for pages."""
    if one.refusal:
        return "bad_report"
    if one.answer.what == "gone" and one.status is not None:
        return "missing" if one.status >= 400 else "nowhere"
    return health.page_fault(one.kind, one.status, one.fault)


def _follow_origin(
    tx: Tx, one: ResourceVisit, origin: Origin, host: HostState, manners: PolitenessPolicy, now: float
) -> Outcome:
    """Apply an answer to the origin and its host, which is locked; the caller writes the host. Return the outcome."""
    had_rules, first = host.knows_robots(origin.scheme), origin.scheme not in host.times
    rules = origin.hear(one.answer, now, had_rules=had_rules, unreachable=manners.robots_unreachable)
    host.end_robots_hold()
    if rules is not None:
        changed = admin.take_robots(tx, host, rules.text, origin.scheme, now)
        if origin.due_at is not None:  # it still fails, and is tried again before these rules would be renewed
            host.times[origin.scheme] = Times(now, origin.due_at)
        return "new" if first else "changed" if changed else "same"
    if origin.due_at is not None and had_rules:
        read_at = host.times.get(origin.scheme, Times(now, now)).at
        host.times[origin.scheme] = Times(read_at, origin.due_at)
    elif origin.due_at is not None and not host.knows_other_robots(origin.scheme):
        host.hold_for_robots(origin.due_at, now)
    if one.answer.what == "leads":
        return "alias"
    return "slowed" if one.kind == "refused" else "retry"
