"""The correction of times that were written while the server's clock was ahead.

The server's clock can be ahead for a while, and then be set back. The times that it wrote in between are in the future.
There are two rules. An event in the future counts as now, because nothing can have happened later. A time that was
computed from such an event is computed again from now. A time that was set by hand, such as a block or the place of a
page in lane 0, is no event and stays.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from graphbrain.base.runtime.tokens import made_at

__all__ = ["EVENTS", "HISTORIES", "SLACK", "Spans", "event", "is_ahead", "of_page", "put_host_right", "reckoned"]

SLACK = 5.0
"""Seconds by which a time may be in the future without a correction: the clocks of two processes differ a little, and
the time comes soon."""
EVENTS = (
    *("discovered", "first_fetched", "fetched", "changed", "failed", "failing_since", "untried_since", "hurried_at"),
    *("look_again", "alias_since", "in_sitemap", "hinted", "hint_noted", "hint_after", "unlearned"),
    *("try_at", "wanted_at"),
)
"""The events of a page."""
HISTORIES = ("change_times", "state_times", "failure_times")
"""The properties of a page that are lists of events."""
SHORTEST_WAIT = 60.0
"""The least number of seconds for which a failed page waits (`frontier.hosts.health.FIRST_WAIT`)."""
ASKED = 0
"""The lane of pages that must be fetched at once (`schedule.lanes.ASKED`)."""


def is_ahead(at: float | None, now: float) -> bool:
    """Return whether the recorded time of an event is in the future."""
    return at is not None and at > now + SLACK


def event(at: float, now: float) -> float:
    """Return the time of an event in epoch seconds: `now` if the recorded time is later."""
    return now if is_ahead(at, now) else at


def reckoned(moment: float, since: float | None, now: float) -> float:
    """Return the corrected time that was computed from an event: if the event is ahead, it is computed from now.

    Args:
        moment: The time.
        since: The time of the event.
        now: Epoch seconds.
    """
    return moment - (since - now) if since is not None and is_ahead(since, now) else moment


class _Host(Protocol):
    """The times of a host (`frontier.hosts.state.HostState`)."""

    next_at: float
    blocked_until: float
    probe_at: float
    slowed_at: float
    unanswered_at: float
    failing_at: float
    failing_since: float
    well_at: float
    blocked_at: float
    recovered_at: float
    place_since: float

    @property
    def delay(self) -> float: ...


_EVENTS = (
    "slowed_at",
    "unanswered_at",
    "failing_at",
    "failing_since",
    "well_at",
    "blocked_at",
    "recovered_at",
    "place_since",
)
"""The events of a host."""


def put_host_right(host: _Host, patience: float, now: float) -> bool:
    """Correct the times of a host that a clock wrote while it was ahead. Return whether there were any.

    A host does not store the time of its last claim or of a deferred probe. But a wait after a claim is not longer than
    the present delay, and a wait for a probe is not longer than `patience`. A block that was set by hand stays.
    """
    # Most hosts have no time in the future, and their delay need not be computed.
    events = [getattr(host, name) for name in _EVENTS]
    if max(host.next_at, host.probe_at, *events) <= now + SLACK:
        return False
    before = (host.next_at, host.blocked_until, host.probe_at, *events)
    if max(host.next_at - host.delay, host.probe_at - patience, *events) <= now + SLACK:
        return False
    # Correct the times of waits, then those of events.
    if is_ahead(host.next_at - host.delay, now):
        host.next_at = now + host.delay
    host.probe_at = min(reckoned(host.probe_at, host.failing_at, now), now + patience)
    host.blocked_until = reckoned(host.blocked_until, host.blocked_at, now)
    for name in _EVENTS:
        setattr(host, name, event(getattr(host, name), now))
    return before != (host.next_at, host.blocked_until, host.probe_at, *(getattr(host, name) for name in _EVENTS))


@dataclass(frozen=True, slots=True)
class Spans:
    """Lengths of waits by the settings, in seconds.

    Attributes:
        lease: The length of a lease.
        park_after: The time for which a page must have failed before it is parked.
    """

    lease: float
    park_after: float


def of_page(page: Mapping[str, Any], now: float, spans: Spans) -> dict[str, Any]:
    """Return the corrected properties of a page that a clock wrote while it was ahead; empty if there are none.

    The end of a lease is at most the length of a lease from now. It is not computed from the token of the lease, whose
    time stays ahead: each call would make it shorter. The waits of a failing page depend on the time for which it has
    failed, which such a clock makes too long. They are at most the waits of a page that fails now, and a page that was
    parked too early waits again.

    Args:
        page: Its properties `fetched`, `failed`, `first_fetched`, `changed`, `waiting_since`, `lane`, `not_before`,
            `recheck_at`, `lease`, `lease_until`, `look_again`, `failing_since`, `untried_since`, `hurried_at`, `state`,
            `fault`, `parked_because`, `last_lease`, and the others of `EVENTS` and `HISTORIES`; None for one that it
            lacks. A request that was never sent has no time of its own: the token of its claim has it.
        now: Epoch seconds.
        spans: The lengths of waits by the settings.
    """
    fetched, failed = page["fetched"], page["failed"]
    # Correct the events.
    right: dict[str, Any] = {name: None if page[name] is None else event(page[name], now) for name in EVENTS}
    right |= {name: [event(at, now) for at in page[name]] for name in HISTORIES if page[name] is not None}
    # Correct the times that were computed from events.
    since, latest = page["waiting_since"], max(fetched or 0.0, failed or 0.0)
    if since is not None:
        right["waiting_since"] = reckoned(since, fetched, now) if page["lane"] == ASKED else event(since, now)
    for name, origin in (("not_before", failed), ("recheck_at", latest)):
        right[name] = None if page[name] is None else reckoned(page[name], origin, now)
    # Limit the lease, and the waits of a failing page.
    claimed_at = None if page["lease"] is None else made_at(page["lease"])
    if page["lease_until"] is not None and is_ahead(claimed_at, now):
        right["lease_until"] = min(page["lease_until"], now + spans.lease)
    tried_at = None if page["last_lease"] is None else made_at(page["last_lease"])
    if (is_ahead(failed, now) or is_ahead(tried_at, now)) and page["fault"] not in (None, "missing", "nowhere"):
        right |= _of_failing(page, right, now, spans)
    return {name: at for name, at in right.items() if at != page[name]}


def _of_failing(page: Mapping[str, Any], right: Mapping[str, Any], now: float, spans: Spans) -> dict[str, Any]:
    """Return the corrected waits of a page whose last visit failed at a time that was ahead. `right`: its corrected
    times."""
    failing = now - (right["failing_since"] or now)
    latest = now + max(failing, SHORTEST_WAIT)
    if page["state"] == "parked" and page["parked_because"] is None and failing < spans.park_after:
        state = "frontier" if page["first_fetched"] is None else "known"
        return {"state": state, "not_before": latest, "recheck_at": None}
    if right["not_before"] is not None:
        return {"not_before": min(right["not_before"], latest)}
    return {}
