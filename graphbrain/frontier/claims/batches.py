"""The decisions on the candidates of one claiming transaction, under the locks of pages, of robots.txt and of hosts.

A page is granted if its host lets it; otherwise it moves to the queue where it must wait, or stays. For a caller that
asks for robots.txt, too, that of its origin is granted first where it is not known, or is to be read anew.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from graphbrain.base.model import Claim
from graphbrain.frontier.claims import resources
from graphbrain.frontier.hosts import politeness
from graphbrain.frontier.hosts.addresses import FULL_WAIT
from graphbrain.frontier.hosts.origins import GRACE, Origin
from graphbrain.frontier.hosts.resource import ResourceState
from graphbrain.frontier.hosts.state import SHARED_QUEUE, HostState, aside_queue, retry_queue
from graphbrain.graph.connection import Again, Tx
from graphbrain.schedule.value import DAY

__all__ = ["ALIASES", "ClaimBatch", "Holder"]

ALIASES = ""
"""The queue of aliases: none."""
LONGEST_HOLD = DAY
"""Seconds for which pages of a host wait for its robots.txt at most, until it is looked at again."""


@dataclass(frozen=True, slots=True)
class Holder:
    """The holder of a claim: the token of the call, which its claims carry, and the name of the worker."""

    token: str
    worker: str


@dataclass(slots=True)
class ClaimBatch:
    """The decisions on the candidates of one transaction. `sources`: hosts one of whose queues may be empty now."""

    now: float
    holders: Sequence[Holder]
    lease: float
    most_moves: int
    held: dict[str, HostState]
    untried: frozenset[str]
    """hosts in whose queues pages wait that have not failed"""
    origins: dict[str, Origin] | None = None
    """The robots.txt that are to be read before pages, locked; None: the callers do not ask for them."""
    claims: list[Claim] = field(default_factory=list)
    """one for each holder in turn: of pages, and of robots.txt"""
    kept_back: list[list[object]] = field(default_factory=list)
    """pages that wait for a robots.txt, and until when"""
    tally: Counter[tuple[bool, bool]] = field(default_factory=Counter)
    """(from a host's own queue, granted) → candidates met before there were enough claims"""
    sources: set[str] = field(default_factory=set)
    grants: list[list[object]] = field(default_factory=list)
    moves: list[list[object]] = field(default_factory=list)
    barred: list[int] = field(default_factory=list)
    probes: int = 0
    """claims out of ill hosts"""
    out: int = 0
    """claims out, where that is asked"""
    waiting: int = 0
    """ill hosts that wait for such a claim, where that is asked"""
    touched: dict[str, HostState] = field(default_factory=dict)

    @property
    def until(self) -> float:
        """The time at which the claims lapse."""
        return self.now + self.lease

    @property
    def most(self) -> int:
        """Claims that are made at most."""
        return len(self.holders)

    @property
    def full(self) -> bool:
        """True if the batch has as many claims as are wanted."""
        return len(self.claims) == self.most

    def grants_page(
        self,
        page: int,
        key: str,
        url: str,
        name: str,
        depth: int,
        etag: str | None,
        modified: str | None,
        new: bool,
        queue: str,
    ) -> None:
        """Grant a page, if its host lets it; else it moves to where it must wait, or stays. `new`: never fetched."""
        full = self.full
        granted = self._judges(page, url, name, queue, new)
        self.tally[queue != SHARED_QUEUE, granted] += not full
        if granted:
            self._claim(url, key, name, depth, etag, modified)

    def _claim(
        self,
        url: str,
        key: str,
        host: str,
        depth: int = 0,
        etag: str | None = None,
        modified: str | None = None,
        method: Literal["HEAD"] | None = None,
    ) -> None:
        token = self.holders[len(self.claims)].token
        self.claims.append(Claim(url, key, token, self.until, host, depth, etag, modified, method))

    def grants_resource(self, one: ResourceState) -> bool:
        """Grant a resource that waits, if its host may be asked; its lease is written with it."""
        host = self.held[one.host]
        if self.full or not host.ready(self.now) or self._puts_off(host):
            return False
        host.grant(self.now, first=False)
        self.touched[host.name] = host
        self._take(one, host)
        return True

    def _take(self, one: ResourceState, asked: HostState) -> None:
        """Lease a resource of a host that has granted it."""
        holder, address = self.holders[len(self.claims)], asked.address_state
        one.take(holder.token, holder.worker, self.until, None if address is None else address.name)
        self._claim(one.url, one.key, one.host, 0, one.etag, one.last_modified, one.method)

    def met(self, *, ready: bool) -> tuple[int, int]:
        """Return how many candidates of this kind were met before there were enough claims, and how many claims they
        made."""
        claims = self.tally[ready, True]
        return self.tally[ready, False] + claims, claims

    def _judges(self, page: int, url: str, name: str, queue: str, new: bool) -> bool:
        host = self.held.get(name)
        if self.origins is not None and self._waits_for_robots(page, host, url, name, queue, new):
            return False
        if host is not None and not host.allows(url):
            self._bar(page, host, queue)
        elif host is None or not host.polite(self.now):
            return self._grant(page, [None, None, None])
        elif new and not host.has_room():
            self._set_aside(page, host, queue)
        elif host.ready(self.now) and not self._yields(host, queue) and not self._puts_off(host):
            return self._grant_politely(page, host, queue, new)
        else:
            self._hold_back(page, host, queue, new)
        return False

    def count_probes(self, tx: Tx) -> None:
        """Count the claims of ill hosts that are out, where one of such a host might be granted."""
        if self.most and any(host.ill() and host.ready(self.now) for host in self.held.values()):
            self.probes, self.out, self.waiting = politeness.probes(tx, self.now)

    def _yields(self, host: HostState, queue: str) -> bool:
        """Return whether the page waits in the queue of retries and its host's other pages come first."""
        return queue == retry_queue(host.name) and host.name in self.untried and not host.retries_next()

    def _puts_off(self, host: HostState) -> bool:
        """Return whether the host is ill and has to wait, because enough claims of ill hosts are under way. If so, put
        it off."""
        if not host.ill() or self.full:
            return False
        if not politeness.may_probe(self.probes, self.out + len(self.claims)):
            host.put_off(self.now, self.waiting)
            self.touched[host.name] = host
            return True
        self.probes += 1
        return False

    def _grant(self, page: int, counted: list[object]) -> bool:
        if self.full:
            return False
        holder = self.holders[len(self.claims)]
        self.grants.append([page, *counted, holder.token, holder.worker])
        return True

    def _grant_politely(self, page: int, host: HostState, queue: str, new: bool) -> bool:
        if self.full:
            return False
        charged = host.grant(self.now, new, retry=queue == retry_queue(host.name))
        self.touched[host.name] = host
        if queue != SHARED_QUEUE or host.set_aside:
            self.sources.add(host.name)
        return self._grant(
            page, [True, host.address_state.name if host.address_state is not None else None, charged or None]
        )

    def _waits_for_robots(self, page: int, host: HostState | None, url: str, name: str, queue: str, new: bool) -> bool:
        """Return whether the page has to wait for its host's robots.txt, which is then claimed first.

        If there are rules, however old, the page waits a minute at most for new ones.
        """
        scheme = url.partition(":")[0]
        if host is None or (new and not host.has_room()) or not host.wants_robots(scheme, self.now):
            return False
        known, until = host.knows_robots(scheme), None
        if host.robots_hold <= self.now:
            origin = (self.origins or {}).get(resources.origin_of(url, name))
            if origin is None:
                raise Again("its robots.txt has become due meanwhile")
            until = self._robots_until(origin, host, known)
            if until is not None and not known:
                return self._wait_until(until, origin, page, host, queue, new)
        if known and host.robots_hold <= self.now:
            return False
        if not self.full:
            self._hold_back(page, host, queue, new)
        return True

    def _robots_until(self, origin: Origin, host: HostState, known: bool) -> float | None:
        """Grant a robots.txt if the host that serves it is ready, and return the time until which pages wait for it.

        Return None if it waits for its own host (`host`) or for room among the claims. `known`: there are rules, old
        ones included.
        """
        if (until := origin.held_until(self.now, self.lease)) is not None:
            return max(until, self.now + 1.0)
        if (until := origin.tries_at(self.now)) > self.now:
            return until
        asked = self.held.get(origin.host)
        if asked is None:
            raise Again("its robots.txt leads elsewhere meanwhile")
        if not asked.may_ask(self.now):
            opens = self.now + FULL_WAIT if asked.full() else max(asked.asked_from(), self.now + 1.0)
            return None if asked is host else opens
        if self.full or self._puts_off(asked):
            return None
        return self._grant_robots(origin, asked, host, known)

    def _grant_robots(self, origin: Origin, asked: HostState, host: HostState, known: bool) -> float:
        """Lease a robots.txt, and return the end of the lease. `asked`: the host that serves it; `host`: that of the
        origin."""
        asked.grant(self.now, first=False)
        self._take(origin, asked)
        times = host.times.get(origin.scheme)
        if known and times is not None and not times.hold(self.now) and origin.failing_since is None:
            host.hold_for_robots(min(self.until, self.now + GRACE), self.now)
        self.touched |= {asked.name: asked, host.name: host}
        return self.until

    def _wait_until(self, until: float, origin: Origin, page: int, host: HostState, queue: str, new: bool) -> bool:
        """Let all pages of a host without rules wait. Return True: the page waits.

        If there are rules for its other scheme, they wait for a minute. After that, or if the robots.txt has failed,
        the page waits alone.
        """
        others = host.knows_other_robots(origin.scheme)
        if queue == ALIASES or (others and (host.robots_hold or origin.failing_since is not None)):
            self.kept_back.append([page, until])
            if queue not in (SHARED_QUEUE, ALIASES):
                self.sources.add(host.name)
        if not others:
            host.hold_for_robots(min(until, self.now + LONGEST_HOLD), self.now)
        elif not (host.robots_hold or origin.failing_since is not None):
            host.hold_for_robots(min(until, self.now + GRACE), self.now)
        self.touched[host.name] = host
        if host.robots_hold > self.now:
            self._hold_back(page, host, queue, new)
        return True

    def _bar(self, page: int, host: HostState, queue: str) -> None:
        """Take a page out of its queue that robots.txt forbids."""
        self.barred.append(page)
        if queue != SHARED_QUEUE:
            self.sources.add(host.name)

    def _set_aside(self, page: int, host: HostState, queue: str) -> None:
        """Move a page aside for which the budget of its host has no room."""
        if (
            queue == host.name
        ):  # queued before there was a budget: a host with many of these must not come first each time
            host.turn_at = self.now
        if queue != aside_queue(host.name):
            self._move(page, host, aside=True)
        if queue != SHARED_QUEUE:
            self.sources.add(host.name)

    def _hold_back(self, page: int, host: HostState, queue: str, new: bool) -> None:
        """Let a page wait in the queue of its host, which is not ready."""
        if host.wait(self.now):
            self.touched[host.name] = host
        if queue == SHARED_QUEUE and self._move(page, host, aside=new and host.budget > 0):
            host.file(self.now)

    def _move(self, page: int, host: HostState, aside: bool) -> bool:
        """Move a page to a queue of its host, unless enough pages have moved."""
        if len(self.moves) == self.most_moves:
            return False
        self.moves.append([page, aside_queue(host.name) if aside else host.name])
        host.set_aside |= aside
        self.touched[host.name] = host
        return True
