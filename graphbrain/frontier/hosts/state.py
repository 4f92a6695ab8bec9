"""A host as one transaction sees it: its properties, when it may be asked, and the effects of attempts on it.

`politeness` reads, locks and writes these states; this module has what needs no graph. The model of health is that of
`health`.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from graphbrain.base.model import FOR_EVER
from graphbrain.base.runtime.tokens import made_at
from graphbrain.base.urls.hostnames import USUAL_PORT
from graphbrain.frontier.hosts import clock_ahead, health
from graphbrain.frontier.hosts.addresses import FULL_WAIT, Address
from graphbrain.frontier.hosts.origins import Times, as_texts, times_of
from graphbrain.frontier.hosts.politeness_policy import PolitenessPolicy
from graphbrain.frontier.hosts.robots import Robots
from graphbrain.schedule.blocks import VisitStep
from graphbrain.schedule.section_noise import HostNoise

__all__ = [
    "COLUMNS",
    "FAILING_COLUMNS",
    "KEPT",
    "LONGEST_BLOCK",
    "NO_TEXT",
    "SHARED_QUEUE",
    "HostRequest",
    "HostState",
    "PolitenessPolicy",
    "aside_queue",
    "is_retrys_turn",
    "open_queues",
    "retry_queue",
]

SHARED_QUEUE = "*"
NO_TEXT = "-"
"""The value in place of the fingerprint of a robots.txt where there is none."""
KEPT: Mapping[str, str] = {"": "robots", "http": "robots_http", "https": "robots_https"}
"""Scheme → the property that holds the text for it; empty: for both."""
FIRST_BLOCK, LONGEST_OWN_BLOCK = 60.0, 6 * 3_600.0
"""Seconds of a host's back-off after its first 429 or 503 without a Retry-After, doubled at each; and at most."""
SHORT_BLOCK, LATELY = 10.0, 60.0
"""The first block of a host that answered another page well no longer ago than `LATELY`: it may be the page alone."""
LEAST_SHARED_PACE = 1 / 8
"""Refusals between well answers slow a host down no further than this."""
WELL_EVERY = 30.0
"""Seconds after which a well host that is locked anyway notes again that it is well."""
RETRY_EVERY = 10
"""While other pages wait in a host's queue, one in so many of its claims may be of a page that failed before."""
LONGEST_BLOCK = 30 * 86_400.0
"""The most seconds for which a host can be blocked by hand, unless for ever."""
SLOWED_FROM = 0.05
"""Seconds between two claims from which a host without any delay is slowed down."""
TICK = 0.001
"""The resolution of the times in tokens: a millisecond."""
SLOWEST = 2.0**-20
LEAST_PUT_OFF, LOOKS = 30.0, 4.0
"""Seconds after which an ill host that waits for a place is looked at again at the earliest, before chance shortens
them, and how many of all these may be looked at in a second: each time costs a lock."""
RECOVERY = 1 / 50
"""The part of the full rate that each success gives back to a host that was slowed down."""


def aside_queue(host: str) -> str:
    """Return the queue in which pages of a host with a budget wait to be fetched for the first time; no host's name has
    a space."""
    return f"{host} (budget)"


def retry_queue(host: str) -> str:
    """Return the queue in which pages of a host wait whose last visit failed; no host's name has a space."""
    return f"{host} (retry)"


def is_retrys_turn(since_retry: int) -> bool:
    """Return whether the next claim is that of a page which failed before, after `since_retry` claims of other
    pages."""
    return since_retry >= RETRY_EVERY - 1


def open_queues(host: HostState) -> list[str]:
    """The queues of its own, but for that of retries, from which pages of a host can be claimed now."""
    return [host.name, aside_queue(host.name)] if host.set_aside and host.has_room() else [host.name]


# The columns of hosts/read and hosts/lock, in their order; and those of a host that has failed since it last answered
# well.
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
    "robots_origins",
    "well_at",
    "retrying",
    "since_retry",
    "tried_all",
    "ripe_at",
    "blocked_at",
    "recovered_at",
    "robots_times",
    "robots_hold",
    "robots_held_at",
    "noise",
)
FAILING_COLUMNS = (
    "unanswered",
    "unanswered_at",
    "probe_at",
    "probing",
    "failing",
    "failing_at",
    "failing_since",
    "illness",
    "place_since",
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
    "failing": 0,
    "failing_at": 0.0,
    "failing_since": 0.0,
    "illness": None,
    "place_since": 0.0,
    "well_at": 0.0,
    "retrying": False,
    "since_retry": 0,
    "tried_all": False,
    "ripe_at": 0.0,
    "blocked_at": 0.0,
    "recovered_at": 0.0,
    "robots_hold": 0.0,
    "robots_held_at": 0.0,
    "noise": None,
}


@dataclass(frozen=True, slots=True)
class HostRequest:
    """One request that failed.

    Attributes:
        at: The time at which its page was claimed; or, if it was not `claimed`, at which it was fetched.
        seconds: The wait that the host asked for, if it did.
        kind: The kind of the attempt, see `health`.
        ended: The time of the request, as far as the crawler reports it.
        failed_before: The time at which the same page failed the last time, if it has not been fetched since.
        known_ill: Whether the page was to blame for that.
    """

    at: float
    claimed: bool
    seconds: float | None = None
    kind: health.Kind = "silent"
    ended: float = math.inf
    failed_before: float | None = None
    known_ill: bool = False

    def is_news(self, event: float, over: float) -> bool:
        """Return whether it belongs to none but a new event. It does not if the page was claimed before the last
        `event`: both were under way together. Of an unclaimed request that is not known: until the event is `over` it
        is part of it."""
        return self.at > event and (self.claimed or self.at > over)


@dataclass(slots=True)
class HostState:
    """One host as it was read, and as the transaction changes it: its properties, with their values when absent.

    Only `write` names the properties again. `at`: its address, when it was locked with the host.
    """

    stored: Mapping[str, Any] = field(repr=False)
    manners: PolitenessPolicy
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
    """the time of the next probe"""
    failing: int = field(init=False)
    """events of failure in a row, without a well attempt in between"""
    failing_at: float = field(init=False)
    """when the last of these was"""
    failing_since: float = field(init=False)
    """the first of these, without the time in which no request was made; 0 where the last attempt was well"""
    illness: str | None = field(init=False)
    """the kind of the last of these"""
    well_at: float = field(init=False)
    """when it answered a page well; of a host that is well, some time ago"""
    retrying: bool = field(init=False)
    """do pages wait whose last visit failed?"""
    since_retry: int = field(init=False)
    """claims of other pages since one of those was claimed, while there are any"""
    tried_all: bool = field(init=False)
    """are those all that wait in its queues?"""
    ripe_at: float = field(init=False)
    """Before this none of the pages in its queues may be visited; 0 where it is not known, or has passed."""
    blocked_at: float = field(init=False)
    """when it answered that for which it is blocked; 0 where it is blocked by hand, or is not"""
    recovered_at: float = field(init=False)
    """when a page was well that had failed while the host was ill: no failure before that speaks of its page"""
    robots_hold: float = field(init=False)
    """until when none of its pages is claimed, because a robots.txt of it is to be read and is not known"""
    robots_held_at: float = field(init=False)
    """the time of that decision"""
    noise: str | None = field(init=False)
    """of its sections, as `HostNoise` writes it"""
    times: dict[str, Times] = field(init=False)
    """Scheme → when its robots.txt was read, where it was claimed or set"""
    address_state: Address | None = None
    rules: Mapping[str, tuple[Robots | None, str]] = field(default_factory=dict)
    """Scheme → the robots.txt that holds for its pages, and for whom it is read; empty: for those of the others."""
    place_since: float = field(init=False)
    """since when a probe is due for which there was no place, because as many ill hosts as may be were being probed: of
    itself, or of the ill host that has its robots.txt"""
    waits_for_place: bool = field(init=False)
    """is there such a probe?"""
    look_at: float = 0.0
    """when a host that waits for a place is looked at in its turn among all hosts, whatever comes"""
    righted: bool = False  # it had times of a clock that was ahead
    given: dict[str, Any] = field(default_factory=dict)
    """properties that were set, and are not written yet"""

    def __post_init__(self) -> None:
        self.name = self.stored["name"]
        self.in_flight = self.stored["in_flight"] or 0
        self.queued = bool(self.stored["queued"] or self.stored["resting"])
        self.waits_for_place = self.stored["probing"] is False
        for name, absent in _CHANGING.items():
            value = self.stored[name]
            setattr(self, name, absent if value is None else value)
        self.times = times_of(self.stored["robots_times"]) if self.stored["robots_times"] else {}

    @property
    def delay(self) -> float:
        """Return seconds between two claims."""
        own, manners = self.stored["delay"], self.manners
        own_delay = max(self.stored["robots_delay"] or 0.0, manners.response_times * self.response_seconds)
        steady = max(manners.delay if own is None else own, min(own_delay, manners.longest))
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
        """Return whether claims of this host must be counted and spaced."""
        return (
            self.delay > 0
            or self.most > 0
            or self.queued
            or self.doubted()
            or self.blocked_until > now
            or self.robots_hold > now
            or self.budget > 0
            or (self.manners.by_address and self.address is not None)
        )

    def has_room(self) -> bool:
        """Return whether its budget admits one more first visit."""
        return self.budget == 0 or (self.budget_used or 0) < self.budget

    def ready(self, now: float) -> bool:
        """Return whether one of its pages may be claimed now."""
        return self._ready_alone(now) and self.address_ready(now)

    def _ready_alone(self, now: float) -> bool:
        return self.opens_at() <= now and not self.full()

    def opens_at(self) -> float:
        """Return when one of its pages can be had, as far as it does not depend on claims that are out or on its
        address."""
        return max(self.asked_from(), self.robots_hold)

    def asked_from(self) -> float:
        """Return when it can be asked again, even for a robots.txt; as far as `opens_at` knows."""
        return max(self.next_at, self.blocked_until, self.probe_at if self.ill() else 0.0)

    def address_ready(self, now: float) -> bool:
        """Return whether its address may be asked now, as far as it is known."""
        return self.address_state is None or self.address_state.ready(now)

    def may_ask(self, now: float) -> bool:
        """Return whether the host may get a request now, for a page or a robots.txt."""
        return self.asked_from() <= now and not self.full() and self.address_ready(now)

    def full(self) -> bool:
        """Return whether it may be asked now, for a page or for a robots.txt."""
        return self.full_with(self.in_flight)

    def full_with(self, claims: int) -> bool:
        """Return whether as many of its claims are under way as are allowed: one, if it is ill or did not answer the
        last time."""
        return 0 < (1 if self.ill() or self.suspected() else self.most) <= claims

    def may_open(self, now: float) -> bool:
        """Return whether `claims` claims under way would be as many as are allowed."""
        return self._ready_alone(now) and self.turn_at <= now and self.has_room()

    def may_open_at(self, now: float) -> float:
        """Return when one of its pages may be claimed, as far as that is known; for ever where it takes a report."""
        if not self.polite(now) or self.may_open(now):
            return now
        return FOR_EVER if self.full() or not self.has_room() else max(self.opens_at(), self.turn_at)

    def suspected(self) -> bool:
        """Return whether its last attempt brought no answer."""
        return self.unanswered > 0 and self.manners.dead_after > 0

    def doubted(self) -> bool:
        """Return whether its last attempt failed in any way, so that it is not known to be well."""
        return self.failing > 0 and self.manners.dead_after > 0

    def ill(self) -> bool:
        """Return whether it failed so often in a row that it is only probed."""
        return 0 < self.manners.dead_after <= self.failing

    def failing_for(self, now: float) -> float:
        """Seconds since the first failure of the stretch that goes on; 0 where there is none."""
        return max(0.0, now - self.failing_since) if self.failing else 0.0

    def patience(self, now: float) -> float:
        """Seconds between two probes, while it is ill."""
        return health.probe_wait(self.failing_for(now), tried_all=self.tried_all)

    def abandoned(self, now: float) -> bool:
        """Return whether it has failed for so long that no crawl waits for it."""
        return self.doubted() and self.failing_for(now) >= health.ABANDONED_AFTER

    def shut_for_long(self, now: float) -> bool:
        """Return whether its pages wait for a robots.txt that has failed for so long that no crawl waits for it.

        Another host may serve it, by a redirect, so that this one does not count as failing. The wait after a failure
        grows with the time for which it has failed.
        """
        longest = self.robots_hold - self.robots_held_at
        return self.robots_hold > now and longest >= health.probe_wait(health.ABANDONED_AFTER)

    def well_since(self, moment: float | None) -> bool:
        """Return whether a page that was claimed after this moment was answered well."""
        return moment is not None and self.well_at > moment

    def retries_next(self) -> bool:
        """Return whether a page that failed before comes next, though others wait in the host's queue."""
        return is_retrys_turn(self.since_retry)

    def put_right(self, now: float | None) -> Self:
        """The same host, with what a clock wrote that was ahead put right, where `now` is known."""
        if now is not None:
            patience = self.patience(now) if self.failing else 0.0
            self.righted = clock_ahead.put_host_right(self, patience, now)
            if clock_ahead.is_ahead(self.robots_held_at, now):
                self.robots_hold = clock_ahead.reckoned(self.robots_hold, self.robots_held_at, now)
                self.robots_held_at, self.righted = now, True
        return self

    def allows(self, url: str) -> bool:
        """Return whether its robots.txt allows this page."""
        text, agent = self._rules_of(url.partition(":")[0])
        return text is None or text.allows(url, agent)

    @property
    def has_robots(self) -> bool:
        """True if there is a robots.txt of the host, or of one of its schemes."""
        return self.stored["robots_mark"] is not None or self.stored["robots_origins"] is not None

    def knows_robots(self, scheme: str) -> bool:
        """Return whether the rules for its pages of a scheme are known, even if they allow everything."""
        texts = self.robots()
        return scheme in self.times or scheme in texts or "" in texts

    def knows_other_robots(self, scheme: str) -> bool:
        """Return whether the rules for its pages of the other scheme are known."""
        return any(each != scheme and self.knows_robots(each) for each in USUAL_PORT)

    def wants_robots(self, scheme: str, now: float) -> bool:
        """Return whether its robots.txt for a scheme is to be read before another of its pages is claimed."""
        times = self.times.get(scheme)
        return times is None or times.are_due(now)

    def hold_for_robots(self, until: float, now: float) -> None:
        """Hand none of its pages out until then, unless its robots.txt is reported before."""
        self.robots_hold, self.robots_held_at = until, now

    def end_robots_hold(self) -> None:
        """Its pages wait for no robots.txt any more."""
        self.robots_hold = self.robots_held_at = 0.0
        if not self.ill():
            self._leave_line()

    def crawl_delay(self) -> float:
        """The longest Crawl-delay of those that its pages are asked by; 0 where there is none."""
        rules = (self._rules_of(scheme) for scheme in USUAL_PORT)
        return max(text.delay(agent) if text is not None else 0.0 for text, agent in rules)

    def allows_all(self) -> bool:
        """Return whether its robots.txt forbid no page."""
        rules = (self._rules_of(scheme) for scheme in USUAL_PORT)
        return all(text is None or text.allows_all(agent) for text, agent in rules)

    def _rules_of(self, scheme: str) -> tuple[Robots | None, str]:
        return self.rules.get(scheme) or self.rules.get("") or (None, "")

    def robots(self) -> dict[str, tuple[str | None, str | None]]:
        """Return scheme → fingerprint of its robots.txt (None: it has none), and the agent whose rules hold, where one
        was set; empty: for both, where one has none of its own."""
        mark, agent = self.stored["robots_mark"], self.stored["robots_agent"]
        texts = dict[str, tuple[str | None, str | None]]() if mark is None else {"": (mark, agent)}
        for each in self.stored["robots_origins"] or ():
            scheme, mark, agent = each.split(" ", 2)
            texts[scheme] = (None if mark == NO_TEXT else mark, agent or None)
        return texts

    def ready_at(self, now: float) -> float | None:
        """Return when its queues should be looked at next; None when it has none."""
        if not self.queued:
            return None
        at = max(self.opens_at(), self.turn_at, self.ripe_at)
        if self.waits_for_place:  # it is found by `place_since`
            at = max(at, self.look_at or self.stored["ready_at"] or 0.0)
        return max(at, now + FULL_WAIT) if self.full() else at

    def resting(self, now: float) -> bool:
        """Return whether the host is abandoned, or all pages in its queues were visited too recently."""
        rests = self.ripe_at > max(self.opens_at(), self.turn_at) and not self.retrying  # a crawl waits for retries
        return self.queued and (self.abandoned(now) or rests)

    def grant(self, now: float, first: bool, *, retry: bool = False) -> bool:
        """Count the claim of a page of the host, and return whether it uses the budget of first visits.

        `first`: the page was never fetched. `retry`: it waited in the queue of retries.
        """
        self.next_at = now + self.delay
        self.in_flight += 1
        self.turn_at = 0.0
        self._leave_line()
        if self.retrying:
            self.since_retry = 0 if retry else min(self.since_retry + 1, RETRY_EVERY)
        if self.address_state is not None:
            self.address_state.grant(now)
        if not first or self.budget_used is None:
            return False
        self.budget_used += 1
        return True

    def wait(self, now: float) -> bool:
        """It cannot be asked now; if only its address keeps it waiting, it gets a turn. True when it got one."""
        if (
            self.address_state is None
            or self.turn_at > now
            or not self._ready_alone(now)
            or self.address_state.ready(now)
        ):
            return False
        self.turn_at = self.address_state.turn(now)
        return True

    def learn_noise(self, compared: Iterable[tuple[str, VisitStep]]) -> None:
        """Take up what second visits of its pages (URL, differences) show of its sections."""
        noise = HostNoise.read(self.noise)
        for url, differences in compared:
            noise = noise.after(url, differences)
        self.noise = noise.text()

    def refund(self, pages: int) -> None:
        """Change the number of used pages of the budget. Pages that are set aside are queued when there is room."""
        if self.budget_used is not None:
            self.budget_used = max(0, self.budget_used + pages)
        self.reopen()

    def reopen(self) -> None:
        """Pages that were set aside are offered if there is room."""
        if self.set_aside and self.has_room():
            self.file(0.0)

    def file(self, ripe_at: float) -> None:
        """A page that may be visited from then on waits in its queue: it is to be looked for by then."""
        if self.tried_all and self.ill():  # there is a page that may be well
            self.probe_at = min(self.probe_at, self.failing_at + health.probe_wait(self.failing_for(self.failing_at)))
        self.queued, self.tried_all = True, False
        self.ripe_at = min(self.ripe_at, ripe_at)

    def file_retry(self, ripe_at: float) -> None:
        """A page whose last visit failed, and that may be visited from then on, waits in the queue of those."""
        if not self.retrying:
            self.retrying, self.since_retry = True, 0
        self.queued, self.ripe_at = True, min(self.ripe_at, ripe_at)

    def is_evidence(self, failed_at: float | None) -> bool:
        """Return whether a failure of a page at that moment shows something about the page. None: it did not fail."""
        return failed_at is not None and failed_at > self.recovered_at

    def is_own_fault(self, request: HostRequest) -> bool:
        """Return whether the page of this failed request is to blame.

        It is if it was to blame before, or if it has failed before and others were well since.
        """
        failed_at = request.failed_before
        return request.known_ill or (self.is_evidence(failed_at) and self.well_since(failed_at))

    def slow_down(self, complaints: Sequence[HostRequest], now: float) -> None:
        """Block it after a 429 or 503 for as long as it asked (without a Retry-After: doubling), and halve its rate;
        but only once for requests that were under way together.

        A page that alone is to blame slows nothing down, and gives back what its first refusal took. A Retry-After is
        obeyed, page or host being to blame.
        """
        # Slow down once for all complaints of requests that were under way together.
        doubtful = [each for each in complaints if not self.is_own_fault(each)]
        if any(each.is_news(self.slowed_at, self.blocked_until) for each in doubtful):
            self.errors += 1
            self._halve_pace()
            self.slowed_at = now
            self.next_at = max(self.next_at, now + self.delay)
        elif self.pace < 1.0:
            confirmed = sum(each.kind == "refused" for each in complaints) - len(doubtful)
            self.pace = min(1.0, self.pace * 2.0**confirmed)
        # Block it for as long as it asked, or for a time that doubles.
        own = self._own_block(now)
        for each in complaints:
            if each.seconds is not None:
                until = now + min(each.seconds, self.manners.longest_block)
            elif each in doubtful:
                until = self.slowed_at + own
            else:
                continue
            if until > self.blocked_until:
                self.blocked_until, self.blocked_at = until, now

    def _own_block(self, now: float) -> float:
        """Return the seconds for which it is blocked where it names none: doubled in the course of a stretch.

        While it may have pages that have not been tried, it is not doubled, and grows no faster than the waits between
        probes: a few pages that always refuse would keep the others waiting for hours.
        """
        began = self._stretch_from(now)
        first = SHORT_BLOCK if 0.0 < began - LATELY <= self.well_at else FIRST_BLOCK
        doubled = int(math.log2((now - began) / first + 1.0))
        # The stretch may have begun with other failures: these asked for no quiet.
        block = float(min(first * 2 ** min(doubled, max(0, self.errors - 1)), LONGEST_OWN_BLOCK))
        return block if self.tried_all else min(block, max(first, health.probe_wait(now - began)))

    def _stretch_from(self, now: float) -> float:
        """Return the beginning of the stretch of failures to which a request belongs that fails now."""
        return health.counted_from(self.failing_since, self.failing_at, now) if self.failing else now

    def _halve_pace(self) -> None:
        """Halve the host's rate, but not below `LEAST_SHARED_PACE` if it answered well since it was slowed down last.

        The rate of an ill host stays. Such a host gets probes alone and refuses them all, which shows nothing about
        the rate that it can serve.
        """
        if self.ill():
            return
        least = min(self.pace, LEAST_SHARED_PACE) if self.well_at > self.slowed_at else SLOWEST
        self.pace = max(self.pace / 2, least)

    def lift_block(self) -> None:
        """End the host's block and forget its complaints."""
        self.errors, self.blocked_until, self.blocked_at = 0, 0.0, 0.0

    def forgive(self, successes: Mapping[str, int], now: float) -> None:
        """Raise the host's rate by the number of well answers to each token's claims.

        Answers do not count while the host is blocked, nor those to claims from before it was slowed down.
        """
        if self.blocked_until <= now and (self.errors or self.pace < 1.0):
            since = sum(n for token, n in successes.items() if (made_at(token) or now) > self.slowed_at)
            if since:
                self.lift_block()
                self.pace = min(1.0, self.pace + since * RECOVERY)

    def fail(self, requests: Sequence[HostRequest], now: float) -> None:
        """Requests failed, none of them by the fault of their pages alone: once for what was under way together."""
        # It may be asked again at once: what is claimed at the moment of an event, as far as tokens show, came after
        # it, unless this is still that moment.
        event = self.failing_at - (TICK if now > self.failing_at else 0.0)
        news = [each for each in requests if each.is_news(event, self.failing_at + health.FIRST_PROBE)]
        if not news:
            return
        kind = news[-1].kind
        self.failing_since = now if self._speaks_again(kind) else self._stretch_from(now)
        self.failing += 1
        self.failing_at = now
        self.illness = kind
        if self.illness == "silent" and self.manners.dead_after > 0:
            self.unanswered, self.unanswered_at = self.unanswered + 1, now
        else:
            self.answered()
        if self.ill():
            self.probe_at = now + self.patience(now)
            self._leave_line()

    def _speaks_again(self, kind: health.Kind) -> bool:
        """Return whether a failure of this kind ends a silence, since the host has answered."""
        return kind != "silent" and 0 < self.manners.dead_after <= self.unanswered

    def answered(self) -> None:
        """It gave some answer: it is not silent."""
        self.unanswered, self.unanswered_at = 0, 0.0

    def recover(self, asked_at: float) -> None:
        """It answered a page well that was asked for at `asked_at` at the earliest.

        That is the moment of which the answer is evidence: what failed after it, while the host still worked on the
        answer, is not shown by it to fail alone.
        """
        if self.failing or asked_at - self.well_at >= WELL_EVERY:
            self.well_at = max(self.well_at, asked_at)
        self.forget_failures()

    def clear_pages(self, now: float) -> None:
        """A page that had failed while the host was ill is well: it was the host, so what failed before now shows
        nothing of its page."""
        self.recovered_at = now

    def forget_failures(self) -> None:
        """Nothing is held against it any more."""
        self.answered()
        self.failing, self.failing_at, self.failing_since, self.illness, self.probe_at = 0, 0.0, 0.0, None, 0.0
        self._leave_line()

    def probed_in_vain(self, now: float) -> None:
        """Make the next probe due soon, after one without a result."""
        if self.ill():
            self.probe_at = max(self.probe_at, now + health.FIRST_PROBE)

    def put_off(self, now: float, waiting: int) -> None:
        """Queue an ill host for a probe, because the largest number of ill hosts is being probed already.

        The host whose probe has been due for the longest is probed next (`candidates`). The host is also looked at
        again at a time of its own, in case it cannot be claimed then. That time grows with the number of `waiting`
        hosts.
        """
        if not self.place_since:
            self.place_since = min(self.probe_at or now, now)
        self.waits_for_place = True
        self.look_at = now + max((waiting + 1) / LOOKS, LEAST_PUT_OFF) * random.uniform(0.5, 1.0)

    def wait_with(self, other: HostState) -> None:
        """Queue the host for the probe of an ill one that has its robots.txt and was put off."""
        self.waits_for_place, self.place_since, self.look_at = True, other.place_since, other.look_at

    def needs_probe(self) -> bool:
        """Return whether it, or the host that has its robots.txt, is ill: then it needs a place among those that are
        probed."""
        return self.ill() or self.waits_for_place

    def _leave_line(self) -> None:
        """Remove the host from the queue for a probe."""
        self.waits_for_place, self.place_since = False, 0.0

    def answered_in(self, seconds: float, now: float) -> None:
        """The last fetch took so long: the next one waits a multiple of it, counted from now."""
        self.response_seconds = round(seconds, 1)
        self.next_at = max(self.next_at, now + min(self.manners.response_times * seconds, self.manners.longest))

    def newly_counted(self) -> bool:
        """Return whether this transaction has counted the used part of its budget."""
        return self.stored["budget_used"] is None and self.budget_used is not None

    def _probing(self) -> bool | None:
        """True: it is ill, and a page of it is out; False: it waits for a place among those of ill hosts."""
        if self.ill() and self.in_flight > 0:
            return True
        return False if self.waits_for_place and self.queued else None

    def changes(self, now: float) -> dict[str, Any]:
        """Return the properties that have changed, for the write."""
        rests = self.resting(now)
        if self.waits_for_place and max(self.opens_at(), self.turn_at, self.ripe_at) > now:
            self._leave_line()  # it could not use a place now; it comes back to where it was in the line, by its probe
        if self.ripe_at <= now:
            self.ripe_at = 0.0
        after: dict[str, Any] = {
            "queued": (self.queued and not rests) or None,
            "resting": rests or None,
            "ready_at": self.ready_at(now),
            "probing": self._probing(),
            "robots_times": as_texts(self.times),
        }
        changed = self.given | {name: value for name, value in after.items() if value != self.stored[name]}
        for name, absent in _CHANGING.items():
            value = getattr(self, name)
            if value == absent:
                value = None
            if value != self.stored[name]:
                changed[name] = value
        if self.in_flight != (self.stored["in_flight"] or 0):
            changed["in_flight"] = self.in_flight
        return changed
