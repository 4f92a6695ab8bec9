"""The state of a locked resource: the URL that its next claim fetches, its lease, and its last answers.

A resource is claimed and reported like a page, but is no page. `origins` has the state of a robots.txt,
`frontier.claims.sitemap_state` that of a sitemap, and `frontier.claims.link_state` that of the check of a link. A
resource waits in a queue for its kind and host. A robots.txt waits in no queue.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self

from graphbrain.base.runtime.tokens import made_at
from graphbrain.base.urls.normalization import host_of
from graphbrain.frontier.hosts import clock_ahead

__all__ = ["MOST_REDIRECTS", "ResourceState", "Said", "queue_key"]

DAY = 86_400.0
MOST_REDIRECTS = 5
"""Most redirects in a row that are followed, each by another claim (for robots.txt: RFC 9309, section 2.3.1.2)."""


@dataclass(frozen=True, slots=True)
class Said:
    """The meaning of an answer.

    Attributes:
        what: `leads` (a redirect), `fails` (it cannot be fetched now), `gone` (a 4xx), `same` (a 304), `rules` (a
            robots.txt), `lists` (a sitemap) or `found` (a link).
        text: The text of a robots.txt, None if all is allowed; or the fingerprint of a sitemap's entries.
        url: The target of a redirect.
        host: The host of the target.
    """

    what: Literal["rules", "lists", "same", "leads", "fails", "gone", "found"]
    text: str | None = None
    url: str = ""
    host: str = ""


def queue_key(line: str, host: str) -> str:
    """Return the key of the queue in which resources of a host wait. `line`: `kind`, or `kind again`."""
    return f"{line} {host}"


@dataclass(slots=True, eq=False)
class ResourceState:
    """One locked resource. Times are in epoch seconds; None for never.

    Attributes:
        key: The key.
        url: The URL that the next claim fetches.
        host: The host of that URL.
        redirects: The number of redirects that have led there.
        fetched: The time at which it was read last.
        failed: The time of the last failure since then.
        failing_since: The time of the first failure since then.
        due_at: The time from which on it may be claimed.
        lease: The token of its claim.
        counted: True if its host counts the claim.
        counted_at: The address that counts the claim.
        queue: The queue in which it waits.
        method: The method of the next request; None is GET.
    """

    key: str
    url: str
    host: str
    redirects: int | None = None
    fetched: float | None = None
    failed: float | None = None
    failing_since: float | None = None
    due_at: float | None = None
    lease: str | None = None
    lease_until: float | None = None
    worker: str | None = None
    counted: bool | None = None
    counted_at: str | None = None
    last_lease: str | None = None
    last_outcome: str | None = None
    queue: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    method: Literal["HEAD"] | None = None
    discovered: float | None = None
    _before: dict[str, Any] = field(init=False, repr=False)

    EVENTS: ClassVar[tuple[str, ...]] = ("discovered", "fetched", "failed", "failing_since")

    def __post_init__(self) -> None:
        self._before = self._now()

    @classmethod
    def stored(cls, properties: Mapping[str, Any]) -> Self:
        """Return the resource with the properties of its node."""
        return cls(**{name: properties.get(name) for name in ("key", *_stored(cls))})  # type: ignore[arg-type]

    def _now(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _stored(type(self))}

    def changes(self) -> dict[str, Any]:
        """Return the changed properties, for the write."""
        self.queue = self.waits_in()
        return {name: value for name, value in self._now().items() if value != self._before[name]}

    def queues(self) -> set[str]:
        """Return the queue that it was in, and the one that it is in after `changes`."""
        return {queue for queue in (self._before["queue"], self.queue) if queue is not None}

    @property
    def home(self) -> str:
        """Its URL before any redirect: the key without the kind."""
        return self.key.partition(":")[2]

    @property
    def concerns(self) -> str:
        """The host of that URL."""
        return host_of(self.home)

    def go_home(self) -> None:
        """Let the next claim fetch its own URL, and not the target of a redirect."""
        self.url, self.host, self.redirects = self.home, self.concerns, None

    def waits_in(self) -> str | None:
        """Return the queue in which it waits now; None if it is claimed, or waits in no queue."""
        return None

    def waits(self, now: float) -> bool:
        """Return whether it can be claimed now, without regard to its host."""
        return self.queue is not None and self.lease is None and self.due_at is not None and self.due_at <= now

    def is_allowed(self, allows: Callable[[str], bool]) -> bool:
        """Return whether it may be fetched. `allows`: the robots.txt of the host of its next request."""
        return allows(self.url)

    def put_off(self, now: float) -> None:
        """Let it wait for a day, because a robots.txt forbids it."""
        self.due_at = now + DAY

    def held_until(self, now: float, lease: float) -> float | None:
        """Return the end of its lease; None if it is not claimed.

        A lease of a clock that was ahead ends within `lease` seconds.
        """
        if self.lease is None or self.lease_until is None:
            return None
        if clock_ahead.is_ahead(made_at(self.lease), now):
            self.lease_until = min(self.lease_until, now + lease)
        return self.lease_until

    def wait(self) -> float | None:
        """Return the seconds for which it waits after its last answer; None if they do not follow from its state."""
        return None

    def put_right(self, now: float, lease: float) -> None:
        """Correct the times of a clock that was ahead (`clock_ahead`).

        The time at which it is due follows from its last answer. It is due at once if it was redirected.
        """
        self.held_until(now, lease)
        answered = max(self.fetched or 0.0, self.failed or 0.0)
        if self.due_at is not None:
            self.due_at = clock_ahead.reckoned(self.due_at, answered, now)
            wait = 0.0 if self.redirects else self.wait()
            if wait is not None:
                self.due_at = min(self.due_at, max(now, clock_ahead.event(answered, now) + wait))
        for name in self.EVENTS:
            if (at := getattr(self, name)) is not None:
                setattr(self, name, clock_ahead.event(at, now))

    def take(self, token: str, worker: str, until: float, address: str | None) -> None:
        """Note a claim, which its host counts, and the address if there is one."""
        self.lease, self.worker, self.lease_until = token, worker, until
        self.counted, self.counted_at = True, address

    def let_go(self, outcome: str) -> None:
        """End the claim, with this outcome."""
        self.last_lease, self.last_outcome = self.lease, outcome
        self.lease = self.lease_until = self.worker = self.counted = self.counted_at = None

    def follow(self, answer: Said) -> bool:
        """Follow a redirect, unless there were too many in a row. Return whether it is followed."""
        if answer.what != "leads" or (self.redirects or 0) >= MOST_REDIRECTS:
            return False
        self.url, self.host, self.redirects, self.due_at = answer.url, answer.host, (self.redirects or 0) + 1, None
        return True


def _stored(kind: type[ResourceState]) -> tuple[str, ...]:
    """Return the names of the properties of a kind of resources, without the key."""
    if kind not in _NAMES:
        _NAMES[kind] = tuple(each.name for each in dataclasses.fields(kind) if each.init and each.name != "key")
    return _NAMES[kind]


_NAMES: dict[type[ResourceState], tuple[str, ...]] = {}
