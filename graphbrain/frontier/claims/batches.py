"""The decisions on the candidates of one claiming transaction, under the locks of pages, of robots.txt and of hosts.

A page is granted if its host is ready. Otherwise it moves to the queue in which it must wait, or stays. For a caller
that also claims robots.txt, the robots.txt of a page's origin is granted first if it is not known, or must be read
again.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from graphbrain.base.model import PAGES, Claim, Kind, kind_of
from graphbrain.frontier.claims import resources
from graphbrain.frontier.hosts import politeness
from graphbrain.frontier.hosts.addresses import FULL_WAIT
from graphbrain.frontier.hosts.origins import GRACE, Origin
from graphbrain.frontier.hosts.resource import ResourceState
from graphbrain.frontier.hosts.state import SHARED_QUEUE, HostState, aside_queue, retry_queue
from graphbrain.graph.connection import Again
from graphbrain.schedule.value import DAY

__all__ = ["ALIASES", "ClaimBatch", "Holder"]

ALIASES = ""
"""The queue of aliases: none."""
LONGEST_HOLD = DAY
"""Most seconds for which pages of a host wait for its robots.txt, before claims look at the host again."""
WRITTEN = ("leases", "moves", "barred", "kept_back", "rechecks", "unwanted", "asked", "tried")
"""The lists of claims/take."""


@dataclass(frozen=True, slots=True)
class Holder:
    """The holder of a claim: the token of the call, which its claims carry, the name of the worker, and the kinds of
    claims that the call asks for."""

    token: str
    worker: str
    kinds: frozenset[Kind] = PAGES


@dataclass(slots=True)
class ClaimBatch:
    """The decisions on the candidates of one transaction, source by source.

    Attributes:
        now: The time.
        holders: The callers that still want claims, in the order in which they get them.
        lease: The length of the leases in seconds.
        held: The locked hosts by name.
        untried: Hosts in whose queues pages wait that have not failed.
        origins: The locked robots.txt that must be read before pages; None if the callers do not claim robots.txt.
        room: The number of claims that the source may still have.
        moves_left: The number of pages that may still be moved for the source.
        claims: The claims, in the order in which they were granted.
        tally: (from a host's own queue, granted) → candidates met before there were enough claims, of the last source.
        drained: Hosts one of whose queues may be empty now.
        new: The granted pages (URL, host) that were never fetched.
        touched: The hosts that have changed.
    """

    now: float
    holders: deque[Holder]
    lease: float
    hosts: dict[str, HostState]
    untried: frozenset[str]
    origins: dict[str, Origin] | None = None
    room: int = 0
    moves_left: int = 0
    claims: list[Claim] = field(default_factory=list)
    tally: Counter[tuple[bool, bool]] = field(default_factory=Counter)
    drained: set[str] = field(default_factory=set)
    new: list[tuple[str, str]] = field(default_factory=list)
    touched: dict[str, HostState] = field(default_factory=dict)
    granted: set[int] = field(default_factory=set)
    """the ids of leased pages"""
    writes: dict[str, list[Any]] = field(default_factory=lambda: {name: [] for name in WRITTEN})
    """what is written of pages: the lists of claims/take"""
    probes: int = 0
    """The number of open claims of ill hosts; 0 if no such host might get a claim."""
    out: int = 0
    """The number of all open claims, counted with them."""
    waiting: int = 0
    """The number of ill hosts that wait for a claim, counted with them."""

    @property
    def until(self) -> float:
        """The time at which the claims lapse."""
        return self.now + self.lease

    def open(self, places: int, kind: Kind = "page", most_moves: int = 0) -> None:
        """Begin with the candidates of a source, which may have `places` claims of this kind."""
        self.room = min(places, sum(kind in holder.kinds for holder in self.holders))
        self.moves_left = most_moves
        self.tally.clear()

    def judge_pages(self, rows: Iterable[Any], *, queue: str | None = None) -> None:
        """Grant locked pages (rows of claims/lock, best first) whose hosts are ready. Move the others to the queues in
        which they must wait. `queue`: the queue of all of them; None: each has its own."""
        for row in rows:
            full = not self.room
            waits_in = row.queue if queue is None else queue
            granted = self._judges(row, waits_in)
            self.tally[waits_in != SHARED_QUEUE, granted] += not full
            if granted and row.is_new and waits_in != ALIASES:
                self.new.append((row.url, row.host))

    def _claim(self, kind: Kind, *claimed: Any) -> Holder:
        """Make a claim for the next holder that asks for this kind, and return the holder. `claimed`: the fields of
        `Claim`, without token and end."""
        holder = next(holder for holder in self.holders if kind in holder.kinds)
        self.holders.remove(holder)
        self.room -= 1
        url, key, *more = claimed
        self.claims.append(Claim(url, key, holder.token, self.until, *more))
        return holder

    def grants_resource(self, one: ResourceState) -> bool:
        """Grant a resource that waits, if its host may be asked; its lease is written with it."""
        host = self.hosts[one.host]
        if not self.room or not host.ready(self.now) or self._puts_off(host):
            return False
        self._take(one, host)
        return True

    def _take(self, one: ResourceState, server: HostState) -> None:
        """Lease a resource; `server`: the host that serves it."""
        server.grant(self.now, first=False)
        self.touched[server.name] = server
        address = server.address_state
        holder = self._claim(kind_of(one.key), one.url, one.key, one.host, 0, one.etag, one.last_modified, one.method)
        one.take(holder.token, holder.worker, self.until, None if address is None else address.name)

    def examined(self, *, ready: bool) -> tuple[int, int]:
        """Return (number of candidates of this kind that were examined until there were enough claims, number of claims
        among them)."""
        claims = self.tally[ready, True]
        return self.tally[ready, False] + claims, claims

    def _judges(self, row: Any, queue: str) -> bool:
        host = self.hosts.get(row.host)
        if self.origins is not None and self._waits_for_robots(row, host, queue):
            return False
        if host is not None and host.rules and not host.allows(row.url):
            self._bar(row, queue)
        elif host is None or not host.polite(self.now):
            return self._grant(row, None, None, None)
        elif row.is_new and not host.has_room():
            self._set_aside(row, host, queue)
        elif host.ready(self.now) and not self._yields(host, queue) and not self._puts_off(host):
            return self._grant_politely(row, host, queue)
        else:
            self._hold_back(row, host, queue)
        return False

    def _yields(self, host: HostState, queue: str) -> bool:
        """Return whether the page waits in the queue of retries and its host's other pages come first."""
        return queue == retry_queue(host.name) and host.name in self.untried and not host.retries_next()

    def _puts_off(self, host: HostState) -> bool:
        """Return whether the host is ill and has to wait, because enough claims of ill hosts are under way. If so, put
        it off."""
        if not host.ill() or not self.room:
            return False
        if not politeness.may_probe(self.probes, self.out + len(self.claims)):
            host.put_off(self.now, self.waiting)
            self.touched[host.name] = host
            return True
        self.probes += 1
        return False

    def _grant(self, row: Any, counted: bool | None, counted_at: str | None, charged: bool | None) -> bool:
        if not self.room:
            return False
        holder = self._claim("page", row.url, row.key, row.host, row.depth, row.etag, row.last_modified)
        self.writes["leases"].append([row.id, counted, counted_at, charged, holder.token, holder.worker])
        self.granted.add(row.id)
        return True

    def _grant_politely(self, row: Any, host: HostState, queue: str) -> bool:
        if not self.room:
            return False
        charged = host.grant(self.now, row.is_new, retry=queue == retry_queue(host.name))
        self.touched[host.name] = host
        if queue != ALIASES and (queue != SHARED_QUEUE or host.set_aside):
            self.drained.add(host.name)
        address = host.address_state
        return self._grant(row, True, None if address is None else address.name, charged or None)

    def _waits_for_robots(self, row: Any, host: HostState | None, queue: str) -> bool:
        """Return whether the page has to wait for its host's robots.txt, which is then claimed first.

        If there are rules, however old, the page waits a minute at most for new ones.
        """
        scheme = row.url.partition(":")[0]
        if host is None or (row.is_new and not host.has_room()) or not host.wants_robots(scheme, self.now):
            return False
        has_rules, until = host.knows_robots(scheme), None
        # Grant the robots.txt, or find the time until which it cannot be fetched.
        if host.robots_hold <= self.now:
            origin = (self.origins or {}).get(resources.origin_of(row.url, row.host))
            if origin is None:
                raise Again("its robots.txt has become due meanwhile")
            until = self._robots_until(origin, host, has_rules)
            if until is not None and not has_rules:
                return self._wait_until(until, origin, row, host, queue)
        # After the minute of the hold, old rules are used while new ones are fetched.
        if has_rules and host.robots_hold <= self.now:
            return False
        if self.room:
            self._hold_back(row, host, queue)
        return True

    def _robots_until(self, origin: Origin, host: HostState, has_rules: bool) -> float | None:
        """Grant a robots.txt if the host that serves it is ready, and return the time until which pages wait for it.

        Return None if it waits for its own host (`host`), for room among the claims, or for a place to probe the ill
        host that serves it: then the pages' host waits for that place, too. `has_rules`: there are rules, old ones
        included.
        """
        # Wait if it is claimed, or until it is tried again after a failure.
        if (until := origin.held_until(self.now, self.lease)) is not None:
            return max(until, self.now + 1.0)
        if (until := origin.tries_at(self.now)) > self.now:
            return until
        # Check the host that serves it, which may be another one after a redirect.
        server = self.hosts.get(origin.host)
        if server is None:
            raise Again("its robots.txt leads elsewhere meanwhile")
        if not server.may_ask(self.now):
            opens = self.now + FULL_WAIT if server.full() else max(server.asked_from(), self.now + 1.0)
            return None if server is host else opens
        if not self.room:
            return None
        # An ill host is probed only if there is a place for it.
        if self._puts_off(server):
            if server is not host and not has_rules:
                host.wait_with(server)
                self.touched[host.name] = host
            return None
        return self._grant_robots(origin, server, host, has_rules)

    def _grant_robots(self, origin: Origin, server: HostState, host: HostState, has_rules: bool) -> float:
        """Lease a robots.txt, and return the end of the lease. `server`: the host that serves it; `host`: that of the
        origin."""
        self._take(origin, server)
        times = host.times.get(origin.scheme)
        if has_rules and times is not None and not times.hold(self.now) and origin.failing_since is None:
            host.hold_for_robots(min(self.until, self.now + GRACE), self.now)
        self.touched[host.name] = host
        return self.until

    def _wait_until(self, until: float, origin: Origin, row: Any, host: HostState, queue: str) -> bool:
        """Let all pages of a host without rules wait. Return True: the page waits.

        If there are rules for its other scheme, they wait for a minute. After that, or if the robots.txt has failed,
        the page waits alone.
        """
        others = host.knows_other_robots(origin.scheme)
        if queue == ALIASES or (others and (host.robots_hold or origin.failing_since is not None)):
            self._leaves(row, queue, "rechecks" if queue == ALIASES else "kept_back", [row.id, until])
        if not others:
            host.hold_for_robots(min(until, self.now + LONGEST_HOLD), self.now)
        elif not (host.robots_hold or origin.failing_since is not None):
            host.hold_for_robots(min(until, self.now + GRACE), self.now)
        self.touched[host.name] = host
        if host.robots_hold > self.now:
            self._hold_back(row, host, queue)
        return True

    def _bar(self, row: Any, queue: str) -> None:
        """Remove a page from its queue because robots.txt forbids it. An alias is looked at again later."""
        if queue == ALIASES:
            self.writes["rechecks"].append([row.id, self.now + DAY])
        else:
            self._leaves(row, queue, "barred", row.id)

    def _leaves(self, row: Any, queue: str, name: str, written: Any) -> None:
        """Note what is `written` of a page that leaves its queue."""
        self.writes[name].append(written)
        if queue not in (SHARED_QUEUE, ALIASES):
            self.drained.add(row.host)

    def _set_aside(self, row: Any, host: HostState, queue: str) -> None:
        """Move a page to the queue of those that wait for room in the budget of their host."""
        if queue == host.name:
            # It was queued before there was a budget. A host with many of these must not come first each time.
            host.turn_at = self.now
        if queue != aside_queue(host.name):
            self._move(row, host, aside=True)
        if queue not in (SHARED_QUEUE, ALIASES):
            self.drained.add(host.name)

    def _hold_back(self, row: Any, host: HostState, queue: str) -> None:
        """Let a page wait in the queue of its host, which is not ready."""
        if host.wait(self.now):
            self.touched[host.name] = host
        if queue == SHARED_QUEUE and self._move(row, host, aside=row.is_new and host.budget > 0):
            host.file(self.now)

    def _move(self, row: Any, host: HostState, aside: bool) -> bool:
        """Move a page to a queue of its host, unless enough pages have moved."""
        if not self.moves_left:
            return False
        self.moves_left -= 1
        self.writes["moves"].append([row.id, aside_queue(host.name) if aside else host.name])
        host.set_aside |= aside
        self.touched[host.name] = host
        return True
