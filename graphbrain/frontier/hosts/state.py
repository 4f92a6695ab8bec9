"""The state of a host in one transaction: its properties, the times of its next claims, and the effects of attempts.

`politeness` reads, locks and writes these states; this module needs no graph. The model of health is that of `health`.
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
"""The text that replaces the fingerprint of a robots.txt if there is none."""
KEPT: Mapping[str, str] = {"": "robots", "http": "robots_http", "https": "robots_https"}
"""Scheme → the property with its robots.txt. Empty: the text for all schemes without their own."""
FIRST_BLOCK, LONGEST_OWN_BLOCK = 60.0, 6 * 3_600.0
"""Seconds of a host's back-off after its first answer 429 or 503 without a Retry-After, and the most seconds. Each
further such answer doubles it."""
SHORT_BLOCK, LATELY = 10.0, 60.0
"""Seconds of the first back-off of a host that answered another page well in the last `LATELY` seconds: perhaps it
refuses only the page."""
LEAST_SHARED_PACE = 1 / 8
"""The least share of its full rate to which refusals slow a host that also answers well."""
WELL_EVERY = 30.0
"""Seconds after which a locked host that is well writes the time again."""
RETRY_EVERY = 10
"""While other pages wait in a host's queue, one in so many of its claims may be of a page that failed before."""
LONGEST_BLOCK = 30 * 86_400.0
"""The most seconds of a block by hand, unless it lasts until it is lifted."""
SLOWED_FROM = 0.05
"""The delay in seconds that back-off divides by the pace, for a host without any delay."""
TICK = 0.001
"""The resolution of the times in tokens: a millisecond."""
SLOWEST = 2.0**-20
"""The least share of its full rate to which refusals slow a host."""
LEAST_PUT_OFF, LOOKS = 30.0, 4.0
"""Least seconds after which an ill host that waits to be probed is looked at again, and most of these hosts that are
looked at in a second: each look takes a lock. Chance shortens the seconds."""
RECOVERY = 1 / 50
"""The share of the full rate that each success restores."""


def aside_queue(host: str) -> str:
    """Return the queue of a host's pages that wait for room in its budget. It differs from all hosts' names by a
    space."""
    return f"{host} (budget)"


def retry_queue(host: str) -> str:
    """Return the queue of a host's pages whose last visit failed. It differs from all hosts' names by a space."""
    return f"{host} (retry)"


def is_retrys_turn(since_retry: int) -> bool:
    """Return whether the next claim is of a page that failed before, after `since_retry` claims of other pages."""
    return since_retry >= RETRY_EVERY - 1


def open_queues(host: HostState) -> list[str]:
    """Return the host's own queues, except that of retries, from which pages can be claimed now."""
    return [host.name, aside_queue(host.name)] if host.set_aside and host.has_room() else [host.name]


# The columns of hosts/read and hosts/lock, in their order. The second tuple has those of hosts that are failing.
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
# Property of a host that claims and visits change → its value if the node lacks it.
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
        at: The time at which its page was claimed, or at which it was fetched without a claim.
        claimed: True if its page was claimed.
        seconds: The wait that the host asked for, if any.
        kind: The kind of the attempt, see `health`.
        ended: The end of the request, if the crawler reports it.
        failed_before: The time at which the same page failed the last time, if it has not been fetched since.
        known_ill: True if the page was to blame for that failure.
    """

    at: float
    claimed: bool
    seconds: float | None = None
    kind: health.Kind = "silent"
    ended: float = math.inf
    failed_before: float | None = None
    known_ill: bool = False

    def is_news(self, event: float, over: float) -> bool:
        """Return whether it is a new event, and not a part of the last one.

        A page that was claimed before the last event is a part of it, because both were under way together. A request
        without a claim is a part of it until the event is over, because its beginning is not known.

        Args:
            event: The time of the last event.
            over: The time at which that event is over.
        """
        return self.at > event and (self.claimed or self.at > over)


@dataclass(slots=True)
class HostState:
    """One host as it was read, and as the transaction changes it.

    Times are in epoch seconds; 0 if there is none.

    Attributes:
        stored: The properties as they were read.
        manners: The limits of hosts without their own.
        slowed_at: The time at which its rate was halved last.
        unanswered: The number of events in a row without any answer.
        unanswered_at: The time of the last of these events.
        probe_at: The time of the next probe.
        failing: The number of events of failure in a row, without a well attempt in between.
        failing_at: The time of the last of these events.
        failing_since: The time of the first of them, later by the times without any request.
        illness: The kind of the last of them.
        well_at: The time of the last well answer. It is not written at each well answer of a well host.
        retrying: True if pages wait whose last visit failed.
        since_retry: The number of claims of other pages since one of these was claimed.
        tried_all: True if no other pages wait in its queues.
        ripe_at: The time before which no page in its queues may be visited; 0 if it is not known, or has passed.
        blocked_at: The time of the answer because of which it is blocked; 0 for a block by hand.
        recovered_at: The time at which a page was well that had failed while the host was ill. Failures before it do
            not count against pages.
        robots_hold: The time until which no page is claimed, because a robots.txt must be read first.
        robots_held_at: The time of that decision.
        noise: The differences of second visits in its sections, as `HostNoise` writes them.
        times: Scheme → the times at which its robots.txt was read and must be read again.
        address: The name under which it shares limits: that of its group, else its IP address.
        address_state: Its group or its address, if that was locked with the host.
        rules: Scheme → (robots.txt for its pages, agent by whose rules it is read). Empty scheme: for all others.
        place_since: The time since which a probe is due and must wait, because as many ill hosts as are allowed are
            being probed. The probe may be of the ill host that has its robots.txt.
        waits_for_place: True if there is such a probe.
        look_at: The latest time at which a host that waits to be probed is looked at again.
        righted: True if it had times of a clock that was ahead.
        shut_until: The time at which its hours begin; 0 within them, and if the time is not known.
        given: Properties that were set, and are not written yet.
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
    unanswered: int = field(init=False)
    unanswered_at: float = field(init=False)
    probe_at: float = field(init=False)
    failing: int = field(init=False)
    failing_at: float = field(init=False)
    failing_since: float = field(init=False)
    illness: str | None = field(init=False)
    well_at: float = field(init=False)
    retrying: bool = field(init=False)
    since_retry: int = field(init=False)
    tried_all: bool = field(init=False)
    ripe_at: float = field(init=False)
    blocked_at: float = field(init=False)
    recovered_at: float = field(init=False)
    robots_hold: float = field(init=False)
    robots_held_at: float = field(init=False)
    noise: str | None = field(init=False)
    times: dict[str, Times] = field(init=False)
    address_state: Address | None = None
    rules: Mapping[str, tuple[Robots | None, str]] = field(default_factory=dict)
    place_since: float = field(init=False)
    waits_for_place: bool = field(init=False)
    look_at: float = 0.0
    righted: bool = False
    shut_until: float = 0.0
    given: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.name = self.stored["name"]
        self.in_flight = self.stored["in_flight"] or 0
        self.queued = bool(self.stored["queued"] or self.stored["resting"])
        self.waits_for_place = self.stored["probing"] is False
        for name, absent in _CHANGING.items():
            value = self.stored[name]
            setattr(self, name, absent if value is None else value)
        if self.address is not None or self.manners.groups.rules:
            self.address = self.manners.shared_name(self.name, self.address)
        self.times = times_of(self.stored["robots_times"]) if self.stored["robots_times"] else {}

    @property
    def delay(self) -> float:
        """The seconds between two claims."""
        own, manners = self.stored["delay"], self.manners
        own_delay = max(self.stored["robots_delay"] or 0.0, manners.response_times * self.response_seconds)
        steady = max(manners.delay if own is None else own, min(own_delay, manners.longest))
        if self.pace >= 1.0:
            return float(steady)
        return max(steady, min((steady or SLOWED_FROM) / self.pace, manners.longest))

    @property
    def most(self) -> int:
        """The most open claims; 0 is no limit."""
        own: int | None = self.stored["most_in_flight"]
        return self.manners.most if own is None else own

    @property
    def budget(self) -> int:
        """The most pages that are fetched for the first time; 0 is no limit."""
        own: int | None = self.stored["budget"]
        return self.manners.budget if own is None else own

    def polite(self, now: float) -> bool:
        """Return whether the claims of this host must be counted and spaced in time."""
        return (
            self.delay > 0
            or self.most > 0
            or self.queued
            or self.doubted()
            or self.blocked_until > now
            or self.robots_hold > now
            or self.budget > 0
            or self.shut_until > now
            or self.shares_limits
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
        """Return the time from which on a page can be claimed, without regard to open claims and to its address."""
        return max(self.asked_from(), self.robots_hold)

    def asked_from(self) -> float:
        """Return the time from which on it may get a request, also for a robots.txt. The limits are as in
        `opens_at`."""
        return max(self.next_at, self.blocked_until, self.shut_until, self.probe_at if self.ill() else 0.0)

    def address_ready(self, now: float) -> bool:
        """Return whether its address may get a request now. It is ready if the address was not locked."""
        return self.address_state is None or self.address_state.ready(now)

    def may_ask(self, now: float) -> bool:
        """Return whether the host may get a request now, for a page or for a robots.txt."""
        return self.asked_from() <= now and not self.full() and self.address_ready(now)

    def full(self, claims: int | None = None) -> bool:
        """Return whether it has as many open claims as are allowed: one if it is ill, or if its last attempt brought no
        answer. `claims`: their number; None: `in_flight`."""
        is_suspect = self.ill() or (self.unanswered > 0 and self.manners.dead_after > 0)
        return 0 < (1 if is_suspect else self.most) <= (self.in_flight if claims is None else claims)

    def may_open(self, now: float) -> bool:
        """Return whether one of its pages may be claimed now, without regard to its address."""
        return self._ready_alone(now) and self.turn_at <= now and self.has_room()

    def may_open_at(self, now: float) -> float:
        """Return the time from which on a page may be claimed; `FOR_EVER` if a report must come first."""
        if not self.polite(now) or self.may_open(now):
            return now
        return FOR_EVER if self.full() or not self.has_room() else max(self.opens_at(), self.turn_at)

    def doubted(self) -> bool:
        """Return whether its last attempt failed in any way."""
        return self.failing > 0 and self.manners.dead_after > 0

    def ill(self) -> bool:
        """Return whether it failed so often in a row that it is only probed."""
        return 0 < self.manners.dead_after <= self.failing

    def failing_for(self, now: float) -> float:
        """Return the seconds since the beginning of the present stretch of failures; 0 if there is none."""
        return max(0.0, now - self.failing_since) if self.failing else 0.0

    def patience(self, now: float) -> float:
        """Return the seconds between two probes while it is ill."""
        return health.probe_wait(self.failing_for(now), tried_all=self.tried_all)

    def abandoned(self, now: float) -> bool:
        """Return whether it has failed for so long that no crawl waits for it."""
        return self.doubted() and self.failing_for(now) >= health.ABANDONED_AFTER

    def shut_for_long(self, now: float) -> bool:
        """Return whether its pages wait for a robots.txt that has failed for so long that no crawl waits for it.

        The host itself may not count as failing, because another host may serve its robots.txt after a redirect. The
        length of the wait shows the time of the failures, with which it grows.
        """
        wait = self.robots_hold - self.robots_held_at
        return self.robots_hold > now and wait >= health.probe_wait(health.ABANDONED_AFTER)

    def well_since(self, moment: float | None) -> bool:
        """Return whether it answered well to a page that was claimed after this time. False for None."""
        return moment is not None and self.well_at > moment

    def retries_next(self) -> bool:
        """Return whether the next claim is of a page that failed before, although others wait in the host's queue."""
        return is_retrys_turn(self.since_retry)

    def at(self, now: float | None) -> Self:
        """Find whether its hours are over, and correct the times of a clock that was ahead, if `now` is given. Return
        the host itself."""
        if now is not None:
            opens = self.manners.opens(self.name, now) if self.manners.hours.rules else now
            self.shut_until = opens if opens > now else 0.0
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
        """True if the host, or one of its schemes, has a robots.txt."""
        return self.stored["robots_mark"] is not None or self.stored["robots_origins"] is not None

    def knows_robots(self, scheme: str) -> bool:
        """Return whether the rules for its pages of a scheme are known, also if there is no robots.txt."""
        texts = self.robots()
        return scheme in self.times or scheme in texts or "" in texts

    def knows_other_robots(self, scheme: str) -> bool:
        """Return whether the rules for its pages of the other scheme are known."""
        return any(each != scheme and self.knows_robots(each) for each in USUAL_PORT)

    def wants_robots(self, scheme: str, now: float) -> bool:
        """Return whether its robots.txt for a scheme must be read before the next page is claimed."""
        times = self.times.get(scheme)
        return times is None or times.are_due(now)

    def hold_for_robots(self, until: float, now: float) -> None:
        """Let no page be claimed until a time, unless its robots.txt is reported before."""
        self.robots_hold, self.robots_held_at = until, now

    def end_robots_hold(self) -> None:
        """End the wait of its pages for a robots.txt."""
        self.robots_hold = self.robots_held_at = 0.0
        if not self.ill():
            self._leave_line()

    def crawl_delay(self) -> float:
        """Return the longest Crawl-delay in the robots.txt of its schemes; 0 without any."""
        rules = (self._rules_of(scheme) for scheme in USUAL_PORT)
        return max(text.delay(agent) if text is not None else 0.0 for text, agent in rules)

    def allows_all(self) -> bool:
        """Return whether the robots.txt of its schemes forbid no page."""
        rules = (self._rules_of(scheme) for scheme in USUAL_PORT)
        return all(text is None or text.allows_all(agent) for text, agent in rules)

    def _rules_of(self, scheme: str) -> tuple[Robots | None, str]:
        return self.rules.get(scheme) or self.rules.get("") or (None, "")

    def robots(self) -> dict[str, tuple[str | None, str | None]]:
        """Return scheme → (fingerprint of its robots.txt, agent by whose rules it is read).

        The fingerprint is None if there is no robots.txt. The agent is None for that of the brain. The empty scheme is
        for all schemes without their own text.
        """
        mark, agent = self.stored["robots_mark"], self.stored["robots_agent"]
        texts = dict[str, tuple[str | None, str | None]]() if mark is None else {"": (mark, agent)}
        for each in self.stored["robots_origins"] or ():
            scheme, mark, agent = each.split(" ", 2)
            texts[scheme] = (None if mark == NO_TEXT else mark, agent or None)
        return texts

    def ready_at(self, now: float) -> float | None:
        """Return the time at which claims look at its queues next; None if it has none."""
        if not self.queued:
            return None
        at = max(self.opens_at(), self.turn_at, self.ripe_at)
        if self.waits_for_place:  # claims find it by `place_since` before that
            at = max(at, self.look_at or self.stored["ready_at"] or 0.0)
        return max(at, now + FULL_WAIT) if self.full() else at

    def resting(self, now: float) -> bool:
        """Return whether the host is abandoned, or all pages in its queues were visited too recently."""
        rests = self.ripe_at > max(self.opens_at(), self.turn_at) and not self.retrying  # a crawl waits for retries
        return self.queued and (self.abandoned(now) or rests)

    def grant(self, now: float, first: bool, *, retry: bool = False) -> bool:
        """Count the claim of a page of the host. Return whether it uses the budget.

        `first`: True if the page was never fetched. `retry`: True if it waited in the queue of retries.
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
        """Give the host a turn at its address if it waits only for that. Return True if it got one."""
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
        """Add (URL, differences) of second visits of its pages to the noise of its sections."""
        noise = HostNoise.read(self.noise)
        for url, differences in compared:
            noise = noise.after(url, differences)
        self.noise = noise.text()

    def refund(self, pages: int) -> None:
        """Change the number of used pages of the budget. If it has room now, queue the pages that wait for it."""
        if self.budget_used is not None:
            self.budget_used = max(0, self.budget_used + pages)
        self.reopen()

    def reopen(self) -> None:
        """Queue the pages that wait for room in the budget, if there is room."""
        if self.set_aside and self.has_room():
            self.file(0.0)

    def file(self, ripe_at: float) -> None:
        """Note that a page waits in its queue, and the time from which on it may be visited."""
        if self.tried_all and self.ill():  # a page that was not tried yet may be well
            self.probe_at = min(self.probe_at, self.failing_at + health.probe_wait(self.failing_for(self.failing_at)))
        self.queued, self.tried_all = True, False
        self.ripe_at = min(self.ripe_at, ripe_at)

    def file_retry(self, ripe_at: float) -> None:
        """Note that a page waits in its queue of retries, and the time from which on it may be visited."""
        if not self.retrying:
            self.retrying, self.since_retry = True, 0
        self.queued, self.ripe_at = True, min(self.ripe_at, ripe_at)

    def is_evidence(self, failed_at: float | None) -> bool:
        """Return whether a failure of a page at a time counts against the page. None: it did not fail."""
        return failed_at is not None and failed_at > self.recovered_at

    def is_own_fault(self, request: HostRequest) -> bool:
        """Return whether the page of a failed request is to blame.

        It is if it was to blame before, or if it failed before and the host has answered well to another page since.
        """
        failed_at = request.failed_before
        return request.known_ill or (self.is_evidence(failed_at) and self.well_since(failed_at))

    def slow_down(self, complaints: Sequence[HostRequest], now: float) -> None:
        """Halve the rate of the host, and block it, after answers 429 or 503.

        Requests that were under way together halve it once. The block lasts as long as the Retry-After; without one,
        its length doubles. A page that itself is to blame does not slow the host down, and restores the rate that its
        first refusal took. Its Retry-After is obeyed, too.
        """
        # Halve the rate once for a new event, or restore it if only pages are to blame.
        doubtful = [each for each in complaints if not self.is_own_fault(each)]
        if any(each.is_news(self.slowed_at, self.blocked_until) for each in doubtful):
            self.errors += 1
            self._halve_pace()
            self.slowed_at = now
            self.next_at = max(self.next_at, now + self.delay)
        elif self.pace < 1.0:
            by_pages = sum(each.kind == "refused" for each in complaints) - len(doubtful)
            self.pace = min(1.0, self.pace * 2.0**by_pages)
        # Block the host for as long as it asked, or for a time that doubles.
        own_block = self._own_block(now)
        for each in complaints:
            if each.seconds is not None:
                until = now + min(each.seconds, self.manners.longest_block)
            elif each in doubtful:
                until = self.slowed_at + own_block
            else:
                continue
            if until > self.blocked_until:
                self.blocked_until, self.blocked_at = until, now

    def _own_block(self, now: float) -> float:
        """Return the seconds of a block without a Retry-After. They double in the course of a stretch of failures.

        While the host may have pages that were not tried yet, they grow no faster than the waits between probes:
        otherwise a few pages that always refuse would delay the others for hours.
        """
        began = self._stretch_from(now)
        first = SHORT_BLOCK if 0.0 < began - LATELY <= self.well_at else FIRST_BLOCK
        doublings = int(math.log2((now - began) / first + 1.0))
        # Count no more doublings than refusals: the stretch may have begun with other failures.
        block = float(min(first * 2 ** min(doublings, max(0, self.errors - 1)), LONGEST_OWN_BLOCK))
        return block if self.tried_all else min(block, max(first, health.probe_wait(now - began)))

    def _stretch_from(self, now: float) -> float:
        """Return the beginning of the stretch of failures that a failure now belongs to."""
        return health.counted_from(self.failing_since, self.failing_at, now) if self.failing else now

    def _halve_pace(self) -> None:
        """Halve the host's rate, but not below `LEAST_SHARED_PACE` if it answered well since it was slowed down last.

        The rate of an ill host stays. It gets only probes, and that it refuses them shows nothing about the rate that
        it can serve.
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
        """Count failed requests for which pages are not to blame. Those that were under way together count once."""
        # Find those that are a new event. A claim may have the same millisecond as the last event: it counts as later,
        # except within that millisecond.
        event = self.failing_at - (TICK if now > self.failing_at else 0.0)
        news = [each for each in requests if each.is_news(event, self.failing_at + health.FIRST_PROBE)]
        if not news:
            return
        # Continue the stretch of failures, or begin one.
        kind = news[-1].kind
        self.failing_since = now if self._speaks_again(kind) else self._stretch_from(now)
        self.failing += 1
        self.failing_at = now
        self.illness = kind
        if self.illness == "silent" and self.manners.dead_after > 0:
            self.unanswered, self.unanswered_at = self.unanswered + 1, now
        else:
            self.answered()
        # Wait longer before each probe of an ill host.
        if self.ill():
            self.probe_at = now + self.patience(now)
            self._leave_line()

    def _speaks_again(self, kind: health.Kind) -> bool:
        """Return whether a failure of this kind is an answer that ends a silence of the host."""
        return kind != "silent" and 0 < self.manners.dead_after <= self.unanswered

    def answered(self) -> None:
        """Note that it gave an answer, and is not silent."""
        self.unanswered, self.unanswered_at = 0, 0.0

    def recover(self, asked_at: float) -> None:
        """Note a well answer to a page. `asked_at`: the earliest possible time of its request.

        The host is known to be well at that time, and not at the later time of the answer: pages that failed in between
        may have failed because of the host.
        """
        if self.failing or asked_at - self.well_at >= WELL_EVERY:
            self.well_at = max(self.well_at, asked_at)
        self.forget_failures()

    def clear_pages(self, now: float) -> None:
        """Note that a page is well which had failed while the host was ill. So earlier failures do not count against
        pages."""
        self.recovered_at = now

    def forget_failures(self) -> None:
        """End the stretch of failures."""
        self.answered()
        self.failing, self.failing_at, self.failing_since, self.illness, self.probe_at = 0, 0.0, 0.0, None, 0.0
        self._leave_line()

    def probed_in_vain(self, now: float) -> None:
        """Make the next probe due soon, after one without a result."""
        if self.ill():
            self.probe_at = max(self.probe_at, now + health.FIRST_PROBE)

    def put_off(self, now: float, waiting: int) -> None:
        """Let an ill host wait for its probe, because as many ill hosts as are allowed are being probed.

        The host whose probe has been due for the longest is probed next (`candidates`). In case it cannot be claimed
        then, it is also looked at again at `look_at`. That time grows with the number of `waiting` hosts.
        """
        if not self.place_since:
            self.place_since = min(self.probe_at or now, now)
        self.waits_for_place = True
        self.look_at = now + max((waiting + 1) / LOOKS, LEAST_PUT_OFF) * random.uniform(0.5, 1.0)

    def wait_with(self, other: HostState) -> None:
        """Let the host wait for the probe of another, ill host that has its robots.txt."""
        self.waits_for_place, self.place_since, self.look_at = True, other.place_since, other.look_at

    def needs_probe(self) -> bool:
        """Return whether the host's next claim is a probe. It is if this host, or the one that has its robots.txt, is
        ill."""
        return self.ill() or self.waits_for_place

    def _leave_line(self) -> None:
        """End its wait for a probe."""
        self.waits_for_place, self.place_since = False, 0.0

    def answered_in(self, seconds: float, now: float) -> None:
        """Note the duration of the last fetch. The next claim waits for a multiple of it, from now on."""
        self.response_seconds = round(seconds, 1)
        self.next_at = max(self.next_at, now + min(self.manners.response_times * seconds, self.manners.longest))

    @property
    def shares_limits(self) -> bool:
        """True if it shares limits with the other hosts of its group, or at its address."""
        return self.address is not None and any(self.manners.limits_of(self.address))

    def moves_to(self, address: str) -> bool:
        """Return whether it shares the limits of this IP address from now on. It does not if it is in a group."""
        return self.manners.by_address and self.manners.shared_name(self.name, address) != self.address

    def newly_counted(self) -> bool:
        """Return whether this transaction has counted the used part of its budget."""
        return self.stored["budget_used"] is None and self.budget_used is not None

    def changes(self, now: float) -> dict[str, Any]:
        """Return the changed properties, for the write."""
        # Drop times that have passed. A host that could not use a probe now starts to wait for one again later.
        rests = self.resting(now)
        if self.waits_for_place and max(self.opens_at(), self.turn_at, self.ripe_at) > now:
            self._leave_line()
        if self.ripe_at <= now:
            self.ripe_at = 0.0
        # Compare the properties that follow from others, and those that are kept as they are. `probing` is False for a
        # host that waits for a probe.
        is_probed = self.ill() and self.in_flight > 0
        computed: dict[str, Any] = {
            "queued": (self.queued and not rests) or None,
            "resting": rests or None,
            "ready_at": self.ready_at(now),
            "probing": True if is_probed else False if self.waits_for_place and self.queued else None,
            "robots_times": as_texts(self.times) if self.times else None,
        }
        changed = self.given | {name: value for name, value in computed.items() if value != self.stored[name]}
        for name, absent in _CHANGING.items():
            value = getattr(self, name)
            if value == absent:
                value = None
            if value != self.stored[name]:
                changed[name] = value
        if self.in_flight != (self.stored["in_flight"] or 0):
            changed["in_flight"] = self.in_flight
        return changed
