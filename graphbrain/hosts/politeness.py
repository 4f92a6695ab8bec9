"""Politeness: durable, on the (:Host) node, shared by all workers.

A host grants one claim per `delay` seconds and at most `most` at once. Its delay is the largest of what was set for
it (or for all), its Crawl-delay, and a multiple of its response time. Answers of 429 or 503 halve its rate, which
recovers by successes, and block it for a while: once for all requests that were under way together, for these are one
event. So are requests without any answer; after some such events in a row the host is dead, and only probed, a page at
a time, at growing intervals. With a budget, only so many of its pages are fetched for the first time.
A waiting page that is met while its host is not ready moves, once, to the host's own queue; hosts that have a queue
are found by `ready_at`. Where there is a budget, pages that were never fetched wait in a second queue, which is looked
at only while there is room. Pages enter and leave a host's queues, and a queue begins and ends, only under the host's
lock; hosts are locked after pages, in the order of their names, and before addresses. A host that nothing is asked of
is never written, and of the others only what has changed.
Statements: hosts/*, brain/lock.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from graphbrain import ahead
from graphbrain.graph.connection import Again, Tx
from graphbrain.hostnames import USUAL_PORT
from graphbrain.hosts import addresses, robots
from graphbrain.hosts.addresses import FULL_WAIT, Address
from graphbrain.hosts.robots import Robots
from graphbrain.model import FOR_EVER
from graphbrain.settings import Settings
from graphbrain.tokens import made_at

__all__ = [
    "KEPT",
    "LONGEST_BLOCK",
    "NOTHING_COUNTED",
    "SHARED_QUEUE",
    "Ends",
    "HostState",
    "Manners",
    "Request",
    "aside_queue",
    "conclude",
    "conclude_and_hold",
    "earliest",
    "know_budgets",
    "lock",
    "open_queues",
    "origins",
    "places",
    "probes",
    "queues",
    "read",
    "rules",
    "write",
]

SHARED_QUEUE = "*"
NO_TEXT = "-"
"""Stands for the fingerprint of a robots.txt where there is none."""
KEPT: Mapping[str, str] = {"": "robots", "http": "robots_http", "https": "robots_https"}
"""Scheme → the property that holds the text for it; empty: for both."""
FIRST_BLOCK, LONGEST_OWN_BLOCK = 60.0, 6 * 3_600.0
"""Seconds a host is left alone after its first 429/503 without a Retry-After, doubled at each; and at most."""
LONGEST_BLOCK = 30 * 86_400.0
"""Seconds for which a host can be left alone by hand, unless for ever."""
SLOWED_FROM = 0.05
"""Seconds between two claims from which a host without any delay is slowed down."""
FIRST_PROBE, LONGEST_PROBE = 60.0, 86_400.0
"""Seconds between two looks whether a host answers again: the first ones, doubled at each; and at most."""
TICK = 0.001
"""Tokens tell their time in milliseconds."""
PROBES = 0.1
"""At most this part of the claims that are out are of hosts that do not answer; but one always may be."""
LOST = 6
"""A host that did not answer so many probes in a row, for an hour, keeps no crawl from being finished."""
SLOWEST = 2.0**-20
NOTHING_COUNTED: Mapping[str, Any] = {"counts_budgets": None, "all_count_budgets": None, "reviewing_hosts": None}
"""What stands on the brain of an empty graph."""
RECOVERY = 1 / 50
"""What each success gives back of the full rate to a host that was slowed down."""
WOKEN = 8
"""So many more of the hosts that wait at a full address are looked at than there is room for: some are not ready."""


def aside_queue(host: str) -> str:
    """Where pages of a host with a budget wait to be fetched for the first time; no host's name has a space."""
    return f"{host} (budget)"


def open_queues(host: HostState) -> list[str]:
    """The queues of its own from which pages of a host can be claimed now."""
    return [host.name, aside_queue(host.name)] if host.set_aside and host.has_room() else [host.name]


@dataclass(frozen=True, slots=True)
class Manners:
    """What the brain asks of hosts that have nothing of their own, and of addresses; 0 is none, everywhere.

    `delay`: seconds between claims; `most`: claims at once; `budget`: pages fetched for the first time;
    `response_times`: delay in multiples of the time the last fetch took; `longest`: seconds that Crawl-delay, response
    times and slowing down make at most; `agent`: whose rules of a robots.txt hold; `counting`: have budgets ever been
    used here? From then on every first visit is counted where there is a budget. `longest_block`: seconds for which a
    Retry-After is obeyed; `dead_after`: times without any answer after which a host is only probed.
    """

    delay: float = 0.0
    most: int = 0
    budget: int = 0
    response_times: float = 0.0
    longest: float = 300.0
    address_delay: float = 0.0
    address_most: int = 0
    agent: str = "*"
    counting: bool = False
    longest_block: float = 86_400.0
    dead_after: int = 0

    @classmethod
    def of(cls, settings: Settings, stored: Mapping[str, Any]) -> Manners:
        """From the brain's settings, and what else stands on it."""
        return cls(
            settings.delay_seconds,
            settings.in_flight,
            settings.pages_per_host,
            settings.response_times,
            settings.longest_delay_seconds,
            settings.address_delay_seconds,
            settings.address_in_flight,
            settings.user_agent,
            settings.pages_per_host > 0 or bool(stored.get("counts_budgets")),
            settings.longest_block_seconds,
            settings.dead_after,
        )

    @property
    def by_address(self) -> bool:
        """Do hosts that share an address share a limit?"""
        return self.address_delay > 0 or self.address_most > 0

    @property
    def ask_all(self) -> bool:
        """Is something asked of every host?"""
        return self.delay > 0 or self.most > 0 or self.budget > 0 or self.by_address


# What hosts/read and hosts/lock say of a host, in their order.
COLUMNS = (
    "name",
    "delay",
    "most_in_flight",
    "budget",
    "queued",
    "resting",
    "ready_at",
    "blocked_until",
    "next_at",
    "in_flight",
    "errors",
    "pace",
    "response_seconds",
    "budget_used",
    "set_aside",
    "address",
    "turn_at",
    "robots_mark",
    "robots_agent",
    "robots_delay",
    "robots_news",
    "slowed_at",
    "unanswered",
    "unanswered_at",
    "probe_at",
    "probing",
    "robots_origins",
)
# Properties of a host that claims and visits change, and what each is when it is not there.
_CHANGING: Mapping[str, Any] = {
    "blocked_until": 0.0,
    "next_at": 0.0,
    "errors": 0,
    "pace": 1.0,
    "response_seconds": 0.0,
    "budget_used": None,
    "set_aside": False,
    "address": None,
    "turn_at": 0.0,
    "slowed_at": 0.0,
    "unanswered": 0,
    "unanswered_at": 0.0,
    "probe_at": 0.0,
}


@dataclass(frozen=True, slots=True)
class Request:
    """One that went wrong. `at`: when its page was claimed; or, if nobody had (not `claimed`), when it was fetched.
    `seconds`: for how long the host asked to be left alone, if it said so."""

    at: float
    claimed: bool
    seconds: float | None = None

    def is_news(self, event: float, over: float) -> bool:
        """Does it belong to none but a new event? Not if the page was handed out before the last `event`: both were
        under way together. Of what nobody has claimed that is not known: until the event is `over` it is part of it."""
        return self.at > event and (self.claimed or self.at > over)


@dataclass(slots=True)
class HostState:
    """One host as it was read, and as the transaction changes it: its properties, with what they are when absent.

    Only `write` is told the names of the properties again. `at`: its address, when it was locked with the host.
    """

    stored: Mapping[str, Any] = field(repr=False)
    manners: Manners
    name: str = field(init=False)
    queued: bool = field(init=False)
    blocked_until: float = field(init=False)
    next_at: float = field(init=False)
    in_flight: int = field(init=False)
    errors: int = field(init=False)
    pace: float = field(init=False)
    response_seconds: float = field(init=False)
    budget_used: int | None = field(init=False)
    set_aside: bool = field(init=False)
    address: str | None = field(init=False)
    turn_at: float = field(init=False)
    slowed_at: float = field(init=False)
    """when it was slowed down last"""
    unanswered: int = field(init=False)
    """events without any answer in a row"""
    unanswered_at: float = field(init=False)
    """when the last of these was"""
    probe_at: float = field(init=False)
    """when it is looked whether it answers again"""
    at: Address | None = None
    rules: Mapping[str, tuple[Robots | None, str]] = field(default_factory=dict)
    """Scheme → the robots.txt that holds for its pages, and for whom it is read; empty: for those of the others."""
    ripe_at: float = field(init=False)
    """Before this none of the pages in its queues may be visited; 0 where nobody has looked since they changed."""
    righted: bool = False  # it had times of a clock that was ahead

    def __post_init__(self) -> None:
        self.name = self.stored["name"]
        self.in_flight = self.stored["in_flight"] or 0
        self.queued = bool(self.stored["queued"] or self.stored["resting"])
        for name, absent in _CHANGING.items():
            value = self.stored[name]
            setattr(self, name, absent if value is None else value)
        self.ripe_at = self.stored["ready_at"] if self.stored["resting"] and not self.lost() else 0.0

    def put_right(self, now: float | None) -> Self:
        """The same host, with what a clock wrote that was ahead put right, where `now` is known."""
        self.righted = ahead.put_host_right(self, self._patience(), LONGEST_OWN_BLOCK, now)
        return self

    @property
    def delay(self) -> float:
        """Seconds between two claims."""
        own, manners = self.stored["delay"], self.manners
        asked = max(self.stored["robots_delay"] or 0.0, manners.response_times * self.response_seconds)
        steady = max(manners.delay if own is None else own, min(asked, manners.longest))
        if self.pace >= 1.0:
            return float(steady)
        return max(steady, min((steady or SLOWED_FROM) / self.pace, manners.longest))

    @property
    def most(self) -> int:
        """Claims at once; 0 is no limit."""
        own: int | None = self.stored["most_in_flight"]
        return self.manners.most if own is None else own

    @property
    def budget(self) -> int:
        """Pages fetched for the first time; 0 is no limit."""
        own: int | None = self.stored["budget"]
        return self.manners.budget if own is None else own

    def polite(self, now: float) -> bool:
        """Must claims of this host be counted and spaced?"""
        return (
            self.delay > 0
            or self.most > 0
            or self.queued
            or self.suspected()
            or self.blocked_until > now
            or self.budget > 0
            or (self.manners.by_address and self.address is not None)
        )

    def has_room(self) -> bool:
        """May another page be fetched for the first time?"""
        return self.budget == 0 or (self.budget_used or 0) < self.budget

    def ready(self, now: float) -> bool:
        """May one of its pages be claimed now?"""
        return self._ready_alone(now) and (self.at is None or self.at.ready(now))

    def _ready_alone(self, now: float) -> bool:
        return self.opens_at() <= now and not self.full()

    def opens_at(self) -> float:
        """When it can be asked again, as far as it does not depend on claims that are out or on its address."""
        return max(self.next_at, self.blocked_until, self.probe_at if self.dead() else 0.0)

    def full(self) -> bool:
        """Are as many of its claims out as may be? Of a host that did not answer the last time it is one."""
        return 0 < (1 if self.suspected() else self.most) <= self.in_flight

    def may_open(self, now: float) -> bool:
        """May one of its pages be claimed now, as far as it is known without its address's lock?"""
        return self._ready_alone(now) and self.turn_at <= now and self.has_room()

    def may_open_at(self, now: float) -> float:
        """When one of its pages may be claimed, as far as that is known; for ever where it takes somebody's report."""
        if not self.polite(now) or self.may_open(now):
            return now
        return FOR_EVER if self.full() or not self.has_room() else max(self.opens_at(), self.turn_at)

    def suspected(self) -> bool:
        """Did it give no answer the last time?"""
        return self.unanswered > 0 and self.manners.dead_after > 0

    def dead(self) -> bool:
        """Did it give none so often that it is only probed?"""
        return 0 < self.manners.dead_after <= self.unanswered

    def was_dead(self) -> bool:
        """Was it, when the transaction read it?"""
        return 0 < self.manners.dead_after <= (self.stored["unanswered"] or 0)

    def lost(self) -> bool:
        """Has it been dead for so long that nobody waits for it?"""
        return self.dead() and self.unanswered >= self.manners.dead_after + LOST

    def allows(self, url: str) -> bool:
        """Does its robots.txt let this page be fetched?"""
        text, agent = self._rules_of(url.partition(":")[0])
        return text is None or text.allows(url, agent)

    @property
    def has_robots(self) -> bool:
        """Was a robots.txt set for it, or for one of its schemes?"""
        return self.stored["robots_mark"] is not None or self.stored["robots_origins"] is not None

    def crawl_delay(self) -> float:
        """The longest Crawl-delay of those that its pages are asked by; 0 where there is none."""
        told = (self._rules_of(scheme) for scheme in USUAL_PORT)
        return max(text.delay(agent) if text is not None else 0.0 for text, agent in told)

    def _rules_of(self, scheme: str) -> tuple[Robots | None, str]:
        return self.rules.get(scheme) or self.rules.get("") or (None, "")

    def robots(self) -> dict[str, tuple[str | None, str | None]]:
        """Scheme → fingerprint of what was set as its robots.txt (None: it has none), and whose rules hold, where that
        was said; empty: for both, where one has none of its own."""
        mark, agent = self.stored["robots_mark"], self.stored["robots_agent"]
        told = dict[str, tuple[str | None, str | None]]() if mark is None else {"": (mark, agent)}
        for each in self.stored["robots_origins"] or ():
            scheme, mark, agent = each.split(" ", 2)
            told[scheme] = (None if mark == NO_TEXT else mark, agent or None)
        return told

    def ready_at(self, now: float) -> float | None:
        """When its queues should be looked at next; None when it has none."""
        if not self.queued:
            return None
        at = max(self.opens_at(), self.turn_at, self.ripe_at)
        return max(at, now + FULL_WAIT) if self.full() else at

    def resting(self) -> bool:
        """Do its queues wait for pages that were visited too lately, and for nothing else? Or for a lost host?"""
        return self.queued and (self.lost() or self.ripe_at > max(self.opens_at(), self.turn_at))

    def grant(self, now: float, first: bool) -> bool:
        """One of its pages is claimed; is it counted among those that the budget allows to be fetched `first`?"""
        self.next_at = now + self.delay
        self.in_flight += 1
        self.turn_at = 0.0
        if self.at is not None:
            self.at.grant(now)
        if not first or self.budget_used is None:
            return False
        self.budget_used += 1
        return True

    def wait(self, now: float) -> bool:
        """It cannot be asked now; if only its address keeps it waiting, it gets a turn. True when it got one."""
        if self.at is None or self.turn_at > now or not self._ready_alone(now) or self.at.ready(now):
            return False
        self.turn_at = self.at.turn(now)
        return True

    def refund(self, pages: int) -> None:
        """So many pages more (or less) of its budget are used; those set aside are offered when there is room."""
        if self.budget_used is not None:
            self.budget_used = max(0, self.budget_used + pages)
        self.reopen()

    def reopen(self) -> None:
        """Pages that were set aside are offered if there is room."""
        if self.set_aside and self.has_room():
            self.file(0.0)

    def file(self, ripe_at: float) -> None:
        """A page that may be visited from then on waits in its queue: it is to be looked for by then."""
        self.queued = True
        self.ripe_at = min(self.ripe_at, ripe_at)

    def slow_down(self, complaints: Sequence[Request], now: float) -> None:
        """It answered 429 or 503: block it for as long as it asked (where it did not say: doubling), and halve its
        rate; but only once for what was under way together."""
        if any(each.is_news(self.slowed_at, self.blocked_until) for each in complaints):
            self.errors += 1
            self.pace = max(self.pace / 2, SLOWEST)
            self.slowed_at = now
            self.next_at = max(self.next_at, now + self.delay)
        own = min(FIRST_BLOCK * 2 ** min(max(self.errors - 1, 0), 20), LONGEST_OWN_BLOCK)
        for each in complaints:
            until = (
                self.slowed_at + own if each.seconds is None else now + min(each.seconds, self.manners.longest_block)
            )
            self.blocked_until = max(self.blocked_until, until)

    def forgive(self, successes: Mapping[str, int], now: float) -> None:
        """It answered as it should, so many times to claims with each token: its rate recovers, unless it is blocked
        still, or the pages were handed out before it was slowed down."""
        if self.blocked_until <= now and (self.errors or self.pace < 1.0):
            since = sum(n for token, n in successes.items() if (made_at(token) or now) > self.slowed_at)
            if since:
                self.errors, self.blocked_until = 0, 0.0
                self.pace = min(1.0, self.pace + since * RECOVERY)

    def fall_silent(self, requests: Sequence[Request], now: float) -> None:
        """It gave no answer: once for what was under way together. Each time after some makes the next probe later."""
        if self.manners.dead_after <= 0:
            return
        # It may be asked again at once: what is claimed at the moment of an event, as far as tokens tell, came after
        # it, unless this is still that moment.
        event = self.unanswered_at - (TICK if now > self.unanswered_at else 0.0)
        if any(each.is_news(event, self.unanswered_at + FIRST_PROBE) for each in requests):
            self.unanswered += 1
            self.unanswered_at = now
            if self.dead():
                self.probe_at = now + self._patience()

    def _patience(self) -> float:
        return float(min(FIRST_PROBE * 2 ** min(self.unanswered - self.manners.dead_after, 20), LONGEST_PROBE))

    def answered(self) -> None:
        """It gave some answer: it is alive."""
        self.unanswered, self.unanswered_at, self.probe_at = 0, 0.0, 0.0

    def put_off(self, now: float) -> None:
        """It is dead, and as many such hosts as may be are being probed: others come first for a while."""
        self.probe_at = now + max(FIRST_PROBE, self._patience() / 2) * random.uniform(0.5, 1.0)

    def answered_in(self, seconds: float, now: float) -> None:
        """The last fetch took so long: the next one waits a multiple of it, counted from now."""
        self.response_seconds = round(seconds, 1)
        self.next_at = max(self.next_at, now + min(self.manners.response_times * seconds, self.manners.longest))

    def newly_counted(self) -> bool:
        """Has this transaction counted what it has used of its budget?"""
        return self.stored["budget_used"] is None and self.budget_used is not None

    def changes(self, now: float) -> dict[str, Any]:
        """What is to be written."""
        rests = self.resting()
        after = {
            "queued": (self.queued and not rests) or None,
            "resting": rests or None,
            "ready_at": self.ready_at(now),
            "probing": (self.dead() and self.in_flight > 0) or None,
        }
        for name, absent in _CHANGING.items():
            value = getattr(self, name)
            after[name] = None if value == absent else value
        changed = {name: value for name, value in after.items() if value != self.stored[name]}
        if self.in_flight != (self.stored["in_flight"] or 0):
            changed["in_flight"] = self.in_flight
        return changed


@dataclass(slots=True)
class Ends:
    """What the visits and the ended claims of one transaction mean to one host."""

    claims: int = 0
    """claims that were counted, and end"""
    spent: int = 0
    """pages more of the budget that are used; such a host is locked, so that whoever counts its pages misses none"""
    at: Counter[str] = field(default_factory=Counter)
    """the addresses at which the ended claims were counted"""
    successes: Counter[str] = field(default_factory=Counter)
    """pages that were fetched, by the token of their claims"""
    complaints: list[Request] = field(default_factory=list)
    """429 and 503"""
    vain: list[Request] = field(default_factory=list)
    """without any answer"""
    answered: bool = False
    unasked: bool = False
    """was there an answer to a request that nobody had claimed?"""
    seconds: float | None = None
    """how long the last fetch took"""
    address: str | None = None
    """where the crawler reached it"""

    def certain(self, manners: Manners) -> bool:
        """Must the host be locked, whatever stands on it?"""
        timed = self.seconds is not None and manners.response_times > 0
        vain = self.vain and manners.dead_after > 0
        return bool(self.claims or self.spent or self.complaints or timed or vain)

    def matters(self, host: HostState) -> bool:
        """Does it change the host, as it was read?"""
        told = host.manners.by_address and self.address not in (None, host.address)
        if self.answered and host.unanswered > 0:
            return True
        return told or (bool(self.successes) and (host.errors > 0 or host.pace < 1.0))


def _hosts(tx: Tx, statement: str, names: Iterable[str], manners: Manners, now: float | None) -> dict[str, HostState]:
    wanted = sorted(set(names))
    rows = tx.one(statement, names=wanted)[0] if wanted else []
    found = (dict(zip(COLUMNS, row, strict=True)) for row in rows)
    return {stored["name"]: HostState(stored, manners).put_right(now) for stored in found}


def read(tx: Tx, names: Iterable[str], manners: Manners, now: float | None = None) -> dict[str, HostState]:
    """Hosts as they are now, without a lock; their times are put right, where `now` is given."""
    return _hosts(tx, "hosts/read", names, manners, now)


def lock(tx: Tx, names: Iterable[str], manners: Manners, now: float | None = None) -> dict[str, HostState]:
    """Lock hosts, by name, and `read` them. No page may be locked after this. Raises Again if one is gone."""
    wanted = set(names)
    hosts = _hosts(tx, "hosts/lock", wanted, manners, now)
    if len(hosts) != len(wanted):
        raise Again
    return hosts


def places(tx: Tx, hosts: Iterable[HostState], manners: Manners, now: float) -> dict[str, Address]:
    """Lock the addresses of locked hosts, if they have limits. No host may be locked after this."""
    if not manners.by_address:
        return {}
    held = [host for host in hosts if host.address is not None]
    names = {host.address for host in held if host.address is not None}
    found = addresses.lock(tx, names, manners.address_delay, manners.address_most, now)
    for host in held:
        host.at = found[host.address or ""]
    return found


def origins(told: Mapping[str, tuple[str | None, str | None]]) -> list[str] | None:
    """What of `Host.robots` is kept by scheme, as it stands on a host."""
    return [f"{scheme} {mark or NO_TEXT} {agent or ''}" for scheme, (mark, agent) in told.items() if scheme] or None


def rules(tx: Tx, hosts: Iterable[HostState]) -> None:
    """Give locked hosts their robots.txt, parsed; texts that this process does not know are read."""
    told = {host.name: (host, host.robots()) for host in hosts if host.has_robots}
    marks = {mark for _, each in told.values() for mark, _ in each.values() if mark is not None}
    known = {mark: robots.remembered(mark) for mark in marks}
    missing = sorted(name for name, (_, each) in told.items() if any(m and known[m] is None for m, _ in each.values()))
    for name, *texts in tx.one("hosts/robots", names=missing)[0] if missing else ():
        for scheme, text in zip(KEPT, texts, strict=True):
            mark, _ = told[name][1].get(scheme, (None, None))
            if mark is not None and text is not None:
                known[mark] = robots.parsed(text)
    for host, each in told.values():
        host.rules = {
            scheme: (known[mark] if mark is not None else None, agent or host.manners.agent)
            for scheme, (mark, agent) in each.items()
        }


def know_budgets(tx: Tx, hosts: Iterable[HostState]) -> None:
    """Count what locked hosts have used of a budget that is new to them."""
    new = [host for host in hosts if host.budget > 0 and host.budget_used is None]
    if new:
        counts = dict(tx.one("hosts/fetched", names=sorted(host.name for host in new))[0])
        for host in new:
            host.budget_used = counts[host.name]


def write(tx: Tx, hosts: Iterable[HostState], at: Iterable[Address], now: float) -> None:
    """Write what has changed of locked hosts and addresses."""
    rows = [[host.name, changes] for host in hosts if (changes := host.changes(now))]
    if rows:
        tx.do("hosts/write", rows=rows)
    addresses.write(tx, at)


def conclude(
    tx: Tx, ends: Mapping[str, Ends], filing: Mapping[str, float], manners: Manners, now: float
) -> Mapping[str, str]:
    """Tell hosts what visits and ended claims mean to them, and say in which queue pages of the hosts `filing` wait.

    `filing`: host → from when on the first of those pages may be visited: a host that rests does so until then.
    The transaction's last locks: a host's queue neither begins nor ends until it commits.
    """
    return conclude_and_hold(tx, ends, filing, manners, now)[0]


def conclude_and_hold(
    tx: Tx, ends: Mapping[str, Ends], filing: Mapping[str, float], manners: Manners, now: float
) -> tuple[Mapping[str, str], Mapping[str, HostState]]:
    """`conclude`, and the hosts that had to be locked for it, as they are now.

    A host for which an answer may be no news is read without a lock: one that is well costs a report none. Where it
    falls silent between this read and this commit, the answer counts as before that: it could as well have been.
    """
    names = filing.keys()
    certain = {name for name, end in ends.items() if end.certain(manners)}
    doubtful = {
        name for name, end in ends.items() if end.successes or end.unasked or (manners.by_address and end.address)
    }
    unsure = read(tx, (names | doubtful) - certain, manners, now)
    wanted = {name for name, host in unsure.items() if host.queued or (name in ends and ends[name].matters(host))}
    left: Counter[str] = sum((end.at for end in ends.values()), Counter())
    waiting = _waiting(tx, left, manners, now)
    held = lock(tx, certain | wanted | waiting, manners, now) if certain or wanted or waiting else {}
    told = {end.address for end in ends.values() if end.address is not None} if manners.by_address else set()
    at = addresses.lock(tx, {*left, *told}, manners.address_delay, manners.address_most, now)
    for name in sorted(held.keys() & ends.keys()):
        _end(held[name], ends[name], now)
    for name in sorted(held.keys() & names):
        if held[name].queued:
            held[name].file(filing[name])
    _leave(at, left, [held[name] for name in waiting], now)
    write(tx, (held[name] for name in sorted(held)), at.values(), now)
    own = {host.name for host in held.values() if host.queued}
    return {name: name if name in own else SHARED_QUEUE for name in names}, held


def _waiting(tx: Tx, left: Mapping[str, int], manners: Manners, now: float) -> set[str]:
    """Hosts that may wait for room at the addresses that claims leave."""
    if not left or not manners.address_most:
        return set()
    return set(tx.one("hosts/at_addresses", names=sorted(left), now=now, limit=max(left.values()) + WOKEN)[0])


def _end(host: HostState, end: Ends, now: float) -> None:
    host.in_flight = max(0, host.in_flight - end.claims)
    if end.spent:
        host.refund(end.spent)
    if end.answered:
        host.answered()
    elif end.vain:
        host.fall_silent(end.vain, now)
    if end.complaints:
        host.slow_down(end.complaints, now)
    elif end.successes:
        host.forgive(end.successes, now)
    if end.seconds is not None and host.manners.response_times > 0:
        host.answered_in(end.seconds, now)
    if end.address is not None and host.manners.by_address:
        host.address = end.address


def _leave(at: Mapping[str, Address], left: Mapping[str, int], waiting: Sequence[HostState], now: float) -> None:
    """Claims leave these addresses; where one was full, as many hosts that wait there come next."""
    for name in sorted(left):
        place, free = at[name], left[name]
        full = place.full()
        place.in_flight = max(0, place.in_flight - left[name])
        line = [host for host in waiting if host.address == name and host.turn_at > now] if full else []
        for host in sorted(line, key=lambda host: (host.turn_at, host.name)):
            if free and host.ready(now):
                host.turn_at = max(0.0, place.next_at)
                free -= 1


def probes(tx: Tx) -> tuple[int, int]:
    """Claims that are out of hosts that do not answer, and of all; until this transaction ends nobody else counts."""
    tx.one("brain/lock")
    dead, out = tx.one("hosts/probes")
    return int(dead), int(out)


def queues(tx: Tx, filing: Mapping[str, float], manners: Manners, now: float) -> Mapping[str, str]:
    """In which queue pages of these hosts wait, decided under the lock of those that have one of their own.

    `filing`: host → from when on the first of those pages may be visited.
    """
    return conclude(tx, {}, filing, manners, now)


def earliest(moments: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Name (of a host or queue) → the earliest of its moments."""
    first: dict[str, float] = {}
    for name, moment in moments:
        first[name] = min(moment, first.get(name, moment))
    return first
