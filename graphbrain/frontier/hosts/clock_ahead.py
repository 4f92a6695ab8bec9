"""Times that were written while the server's clock was ahead: one rule for all of them.

The server's clock can be ahead for a while, and then be set back. The times that it wrote in between are in the future.
An event in the future counts as now, because nothing can have happened later. A moment that was computed from such an
event is computed anew: it comes as long after now as it would have come after the event. A time that was set by hand,
such as a block or a page's place in lane 0, is no event and stays.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from graphbrain.base.runtime.tokens import made_at

__all__ = ["EVENTS", "HISTORIES", "SLACK", "Spans", "event", "is_ahead", "of_page", "put_host_right", "reckoned"]

SLACK = 5.0
"""Seconds that a time may be in the future without being ahead: the clocks of two processes differ a little, and so
small an error is over soon."""
EVENTS = (
    *("discovered", "first_fetched", "fetched", "changed", "failed", "failing_since", "untried_since", "hurried_at"),
    *("look_again", "alias_since", "in_sitemap", "hinted", "hint_noted", "hint_after", "unlearned"),
    *("try_at", "wanted_at"),
)
"""The events of a page."""
HISTORIES = ("change_times", "state_times", "failure_times")
"""Lists of events of a page."""
SHORTEST_WAIT = 60.0
"""The least number of seconds for which a failed page waits (`frontier.hosts.health.FIRST_WAIT`)."""
ASKED = 0
"""The lane of pages that are wanted at once (`schedule.lanes.ASKED`)."""


def is_ahead(at: float | None, now: float) -> bool:
    """Return True if an event is in the future."""
    return at is not None and at > now + SLACK


def event(at: float, now: float) -> float:
    """Return the time of an event in epoch seconds: `now` if the recorded time is later."""
    return now if is_ahead(at, now) else at


def reckoned(moment: float, since: float | None, now: float) -> float:
    """Return a moment that was computed from an event: as long after the event as before, or after now if the event is
    ahead."""
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
    """Correct the times of a host that were written by a clock that was ahead. Return True if there were any.

    A claim has no time of its own on a host, and neither has a deferred probe. But no wait that was computed from them
    is longer than the present delay, or `patience`. A block that was set by hand stays.
    """
    events = [getattr(host, name) for name in _EVENTS]
    if max(host.next_at, host.probe_at, *events) <= now + SLACK:  # true of most hosts: this needs no delay
        return False
    before = (host.next_at, host.blocked_until, host.probe_at, *events)
    if max(host.next_at - host.delay, host.probe_at - patience, *events) <= now + SLACK:
        return False
    if is_ahead(host.next_at - host.delay, now):
        host.next_at = now + host.delay
    host.probe_at = min(reckoned(host.probe_at, host.failing_at, now), now + patience)
    host.blocked_until = reckoned(host.blocked_until, host.blocked_at, now)
    for name in _EVENTS:
        setattr(host, name, event(getattr(host, name), now))
    return before != (host.next_at, host.blocked_until, host.probe_at, *(getattr(host, name) for name in _EVENTS))


@dataclass(frozen=True, slots=True)
class Spans:
    """Seconds by the settings: the length of a lease, and the time for which a page must have failed before it is
    parked."""

    lease: float
    park_after: float


def of_page(page: Mapping[str, Any], now: float, spans: Spans) -> dict[str, Any]:
    """Return the properties of a page to be changed because they were written by a clock that was ahead, or an empty
    map.

    The token of a lease still holds a time that is ahead. Therefore the end of the lease is not computed from it, which
    would shorten it at every call; it is at most a lease from now. The waits of a failing page depend on how long it
    has failed, which such a clock makes too long. They are at most the waits of now, and a page that was parked too
    early waits again.

    Args:
        page: Its properties `fetched`, `failed`, `first_fetched`, `changed`, `waiting_since`, `lane`, `not_before`,
            `recheck_at`, `lease`, `lease_until`, `look_again`, `failing_since`, `untried_since`, `hurried_at`, `state`,
            `fault`, `parked_because`, `last_lease`, and the others of `EVENTS` and `HISTORIES`; None for one that it
            lacks. A request that was never sent has no time of its own: the token of its claim has it.
        now: Epoch seconds.
        spans: The lengths of waits by the settings.
    """
    fetched, failed, lease = page["fetched"], page["failed"], page["lease"]
    claimed = None if lease is None else made_at(lease)
    right: dict[str, Any] = {name: None if page[name] is None else event(page[name], now) for name in EVENTS}
    right |= {name: [event(at, now) for at in page[name]] for name in HISTORIES if page[name] is not None}
    since, latest = page["waiting_since"], max(fetched or 0.0, failed or 0.0)
    if since is not None:
        right["waiting_since"] = reckoned(since, fetched, now) if page["lane"] == ASKED else event(since, now)
    for name, origin in (("not_before", failed), ("recheck_at", latest)):
        right[name] = None if page[name] is None else reckoned(page[name], origin, now)
    if page["lease_until"] is not None and is_ahead(claimed, now):
        right["lease_until"] = min(page["lease_until"], now + spans.lease)
    tried = None if page["last_lease"] is None else made_at(page["last_lease"])
    if (is_ahead(failed, now) or is_ahead(tried, now)) and page["fault"] not in (None, "missing", "nowhere"):
        right |= _of_failing(page, right, now, spans)
    return {name: at for name, at in right.items() if at != page[name]}


def _of_failing(page: Mapping[str, Any], right: Mapping[str, Any], now: float, spans: Spans) -> dict[str, Any]:
    """Return the waits of a page whose last visit failed at a time that was ahead. `right` has its corrected times."""
    failing = now - (right["failing_since"] or now)
    latest = now + max(failing, SHORTEST_WAIT)
    if page["state"] == "parked" and page["parked_because"] is None and failing < spans.park_after:
        state = "frontier" if page["first_fetched"] is None else "known"
        return {"state": state, "not_before": latest, "recheck_at": None}
    if right["not_before"] is not None:
        return {"not_before": min(right["not_before"], latest)}
    return {}
