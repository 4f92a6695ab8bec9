"""The state of the robots.txt of one origin, which is claimed like a page, by RFC 9309, section 2.3.

An origin is *read* after the first answer that decides which pages may be fetched: a text, or that there is none. Its
rules are renewed after 20 hours and hold for 24 (section 2.4). An origin is *failing* while its robots.txt cannot be
fetched. Its old rules hold then. Without old rules, no page of the origin is fetched until the robots.txt is tried
again.
`resources` reads, locks and writes these states; this module needs no graph.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from graphbrain.base.model import ROBOTS_KEY
from graphbrain.frontier.hosts import clock_ahead, health
from graphbrain.frontier.hosts.resource import ResourceState, Said

__all__ = ["GRACE", "HOLDS", "RENEWED", "Origin", "Times", "key_of", "times_of"]

RENEWED, HOLDS = 20 * 3_600.0, 24 * 3_600.0
"""Seconds after which rules are read again, and seconds for which they hold (RFC 9309, section 2.4)."""
GRACE = 60.0
"""Seconds for which pages wait for the renewal of rules that no longer hold. After them the old rules are used."""

PAGES_FIRST = 2.0
"""The factor by which the waits of a failing robots.txt are longer than those of an ill host, if pages of the host are
claimed meanwhile. So a page is fetched between two attempts, and may show that the host is well."""


def key_of(scheme: str, host: str) -> str:
    """Return the key of the robots.txt of an origin. It differs from all keys of pages."""
    return f"{ROBOTS_KEY}{scheme}://{host}"


@dataclass(frozen=True, slots=True)
class Times:
    """The times of the rules of an origin, in epoch seconds.

    Attributes:
        at: The time at which they were read.
        renew_at: The time from which on they are to be read again.
    """

    at: float
    renew_at: float

    @classmethod
    def read(cls, at: float) -> Self:
        """Return the times of rules that were read at this moment."""
        return cls(at, at + RENEWED)

    def are_due(self, now: float) -> bool:
        """Return whether the robots.txt must be read again: also if the times are of a clock that was ahead."""
        return now >= self.renew_at or clock_ahead.is_ahead(self.at, now)

    def hold(self, now: float) -> bool:
        """Return whether the rules still hold and need not be read again."""
        return not clock_ahead.is_ahead(self.at, now) and now < self.at + HOLDS


def times_of(texts: Sequence[str] | None) -> dict[str, Times]:
    """Return scheme → times, from the property of a host."""
    by_scheme = {}
    for text in texts or ():
        scheme, at, renew_at = text.split(" ")
        by_scheme[scheme] = Times(float(at), float(renew_at))
    return by_scheme


def as_texts(times: Mapping[str, Times]) -> list[str] | None:
    """Return times as a property of a host; None without any."""
    return [f"{scheme} {each.at!r} {each.renew_at!r}" for scheme, each in sorted(times.items())] or None


@dataclass(slots=True, eq=False)
class Origin(ResourceState):
    """The robots.txt of one origin. `fetched` is the time at which its rules were read last."""

    @property
    def scheme(self) -> str:
        """The scheme of the origin."""
        return self.key.removeprefix(ROBOTS_KEY).partition("://")[0]

    @property
    def name(self) -> str:
        """The host of the origin, whose pages the rules are for."""
        return self.key.partition("://")[2]

    @property
    def concerns(self) -> str:
        return self.name

    @property
    def home(self) -> str:
        """The URL of its robots.txt, before any redirect."""
        return f"{self.scheme}://{self.name}/robots.txt"

    def tries_at(self, now: float) -> float:
        """Return the time at which it may be claimed: that of the next attempt after a failure, else `now`."""
        if self.due_at is None or clock_ahead.is_ahead(self.failed, now):
            return now
        return max(now, self.due_at)

    def hear(self, answer: Said, now: float, *, had_rules: bool, unreachable: float) -> Said | None:
        """Apply an answer. Return the rules that follow from it, or None.

        Args:
            answer: The meaning of the answer.
            now: Epoch seconds.
            had_rules: True if its host has rules of it.
            unreachable: The seconds of failures without any rules after which all pages are allowed.
        """
        if self.follow(answer):
            return None
        self.go_home()
        if answer.what != "fails":
            self.fetched, self.failed, self.failing_since, self.due_at = now, None, None, None
            return answer if answer.what == "rules" else Said("rules")
        # Wait longer after each failure.
        since = self._failing_from(now)
        failed, self.failed = self.failed or now, now
        self.failing_since = since
        stretch = now - health.counted_from(since, min(failed, now), now)
        given_up = not had_rules and now - since >= unreachable
        pages_go_on = had_rules or given_up
        self.due_at = now + health.probe_wait(stretch, tried_all=pages_go_on) * (PAGES_FIRST if pages_go_on else 1.0)
        return Said("rules") if given_up else None

    def _failing_from(self, now: float) -> float:
        """Return the time since which it has failed, if it fails now."""
        return now if self.failing_since is None else clock_ahead.event(self.failing_since, now)
