"""A resource as one transaction has locked it: what a claim fetches, its lease, and what happened to it.

A resource is claimed and reported as a page is, and is no page. `origins` has the robots.txt of an origin;
`frontier.claims.sitemap_state` has a sitemap, and `frontier.claims.link_state` the check of a link. A resource waits in
a queue of its kind and host, or, as a robots.txt, in none.
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
"""Redirects in a row that are followed, each as a claim of its own (RFC 9309, section 2.3.1.2, of robots.txt)."""


@dataclass(frozen=True, slots=True)
class Said:
    """The meaning of an answer.

    `what`: `leads`, to another URL (`url`, of `host`); `fails`, not to be had now; `gone`, a 4xx; `same`, a 304;
    `rules`, of a robots.txt, with its `text` or None for "all is allowed"; `lists`, of a sitemap, with the fingerprint
    of its entries as `text`; `found`, of a link.
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
    """One locked resource; times in epoch seconds, None for never.

    `url`, `host`: what the next claim fetches, and the host of that; `redirects`: how many have led there. `fetched`:
    when it was read last; `failed`, `failing_since`: the last failure since then, and the first. `due_at`: not claimed
    before. `counted`, `counted_at`: is the claim counted by its host, and by which address? `queue`: where it waits.
    `method`: how the next claim asks; None: by GET.
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
        """Return it as its node has it."""
        return cls(**{name: properties.get(name) for name in ("key", *_stored(cls))})  # type: ignore[arg-type]

    def _now(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _stored(type(self))}

    def changes(self) -> dict[str, Any]:
        """Return what is to be written."""
        self.queue = self.waits_in()
        return {name: value for name, value in self._now().items() if value != self._before[name]}

    def queues(self) -> set[str]:
        """Return the queues that it has left or entered, once `changes` has been called, or whose first it may be."""
        return {queue for queue in (self._before["queue"], self.queue) if queue is not None}

    @property
    def home(self) -> str:
        """Its URL, before any redirect: its key without the kind."""
        return self.key.partition(":")[2]

    @property
    def concerns(self) -> str:
        """The host in whose queue it waits once it is not redirected any more, or for whose pages it holds."""
        return host_of(self.home)

    def go_home(self) -> None:
        """Let the next claim fetch its own URL: redirects are not followed any more."""
        self.url, self.host, self.redirects = self.home, self.concerns, None

    def waits_in(self) -> str | None:
        """Return the queue in which it waits now; None while it is held, or if it waits in none."""
        return None

    def waits(self, now: float) -> bool:
        """Return True if it can be claimed now, as far as it depends on itself."""
        return self.queue is not None and self.lease is None and self.due_at is not None and self.due_at <= now

    def is_allowed(self, allows: Callable[[str], bool]) -> bool:
        """Return True if it may be fetched. `allows`: by the robots.txt of the host that is asked."""
        return allows(self.url)

    def put_off(self, now: float) -> None:
        """Put it off for a day: a robots.txt forbids it."""
        self.due_at = now + DAY

    def held_until(self, now: float, lease: float) -> float | None:
        """Return until when a claim holds it; None if none does.

        A lease that was written by a clock that was ahead ends within `lease` seconds.
        """
        if self.lease is None or self.lease_until is None:
            return None
        if clock_ahead.is_ahead(made_at(self.lease), now):
            self.lease_until = min(self.lease_until, now + lease)
        return self.lease_until

    def wait(self) -> float | None:
        """Return the seconds after its last answer for which it waits, as far as they follow from its state alone."""
        return None

    def put_right(self, now: float, lease: float) -> None:
        """Correct the times that were written by a clock that was ahead (`clock_ahead`).

        The moment when it is due follows from its last answer. It has no event of its own where the resource was asked
        for, or redirected: then it is due at once.
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
        """Write a claim, which its host counts, and the address if there is one."""
        self.lease, self.worker, self.lease_until = token, worker, until
        self.counted, self.counted_at = True, address

    def let_go(self, outcome: str) -> None:
        """End the claim, with this outcome."""
        self.last_lease, self.last_outcome = self.lease, outcome
        self.lease = self.lease_until = self.worker = self.counted = self.counted_at = None

    def follow(self, answer: Said) -> bool:
        """Follow a redirect, unless there were too many in a row; return True if it is followed."""
        if answer.what != "leads" or (self.redirects or 0) >= MOST_REDIRECTS:
            return False
        self.url, self.host, self.redirects, self.due_at = answer.url, answer.host, (self.redirects or 0) + 1, None
        return True


def _stored(kind: type[ResourceState]) -> tuple[str, ...]:
    """Return the properties of its node, but for the key."""
    if kind not in _NAMES:
        _NAMES[kind] = tuple(each.name for each in dataclasses.fields(kind) if each.init and each.name != "key")
    return _NAMES[kind]


_NAMES: dict[type[ResourceState], tuple[str, ...]] = {}
