"""The state of the check of a link: the method and the time of its next request, and whether the link is broken.

The URL outside the scope is requested by HEAD. After an error, or without an answer, it is requested once by GET, which
decides: many hosts answer HEAD with an error for pages that exist. Each redirect is followed by another claim. After a
4xx the link is broken. After other failures the URL is tried again, and the link is broken after `TRIES` failures in a
row. Then the URL waits until another check is requested.
This module needs no graph.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from graphbrain.base.model import LINK_KEY
from graphbrain.frontier.hosts.resource import ResourceState, Said, queue_key

__all__ = ["AGAIN", "HEAD", "LINE", "TRIES", "LinkState", "head_refused", "key_of"]

LINE, AGAIN = "link", "link again"
"""The lines in which links wait: those whose check was requested, and those that have failed since."""
HEAD: Literal["HEAD"] = "HEAD"
_FOR_NOW = (429, 503)
"""Statuses by which a host refuses all requests for a while."""
TRIES = 3
"""A link is broken after so many failures in a row."""
FIRST_RETRY, GROWTH = 3_600.0, 4.0
"""Seconds until a URL that could not be had is tried again, and the factor of each further wait."""


def key_of(url: str) -> str:
    """Return the key of the check of a link. It differs from all keys of pages."""
    return f"{LINK_KEY}{url}"


def head_refused(method: str | None, status: int | None) -> bool:
    """Return whether a HEAD got an error, or no answer: that is no evidence on the link."""
    return method == HEAD and (status is None or (status >= 400 and status not in _FOR_NOW))


@dataclass(slots=True, eq=False)
class LinkState(ResourceState):
    """The status of one URL outside the scope.

    `status`, `fault`, `error`: of the last answer, as a page has them. `failures`: in a row. `broken`: the last check
    has found that it cannot be had. `led_to`, `led_steps`, `led_status`: where redirects led the last check, how many
    there were, and the status of the first.
    """

    status: int | None = None
    fault: str | None = None
    error: str | None = None
    failures: int | None = None
    broken: bool | None = None
    led_to: str | None = None
    led_steps: int | None = None
    led_status: int | None = None

    def waits_in(self) -> str | None:
        """Return the queue in which it waits now. A crawl waits for a check, and not for a URL that has failed."""
        if self.lease is not None or self.due_at is None:
            return None
        return queue_key(AGAIN if self.failures else LINE, self.host)

    def ask(self, before: float, now: float) -> bool:
        """Let it be checked now, unless it waits already, or was checked later than `before`. Return whether it will
        be checked."""
        checked = max((at for at in (self.fetched, self.failed) if at is not None), default=None)
        if self.lease is not None or self.due_at is not None or (checked is not None and checked > before):
            return False
        self.due_at, self.method, self.failures, self.failing_since = now, HEAD, None, None
        return True

    def put_off(self, now: float) -> None:
        """End the check without a status: a robots.txt forbids it."""
        self.go_home()
        self.method = HEAD
        self.due_at, self.failed, self.broken = None, now, None
        self.status, self.fault, self.error = None, "forbidden", "robots.txt forbids it"

    def hear(
        self, answer: Said, status: int | None, now: float
    ) -> Literal["new", "changed", "same", "alias", "retry", "gone"]:
        """Apply an answer, and return the outcome."""
        # Follow a redirect by another HEAD, and an error after HEAD by a GET.
        if self.follow(answer):
            self.due_at, self.method = now, HEAD
            self.led_status = status if self.redirects == 1 else self.led_status
            return "alias"
        if head_refused(self.method, status):
            self.due_at, self.method = now, None
            return "retry"
        self.led_to, self.led_steps = (self.url, self.redirects) if self.redirects else (None, None)
        self.led_status = self.led_status if self.redirects else None
        self.go_home()
        self.method = HEAD
        before, self.status = self.status, status
        # The link works. It is checked again on request.
        if answer.what == "found":
            outcome: Literal["new", "changed", "same"] = (
                "new" if self.fetched is None else "changed" if self.broken or status != before else "same"
            )
            self.fetched, self.failed, self.failing_since, self.failures = now, None, None, None
            self.due_at = self.broken = None
            return outcome
        # The request has failed. It is tried again a few times, and then the link is broken.
        self.failed, self.failures = now, (self.failures or 0) + 1
        self.failing_since = now if self.failing_since is None else min(self.failing_since, now)
        if answer.what == "fails" and self.failures < TRIES:
            self.due_at = now + self.wait()
            return "retry"
        self.due_at, self.broken = None, True
        return "gone"

    def wait(self) -> float:
        """Return the seconds after its last failure until it is tried again."""
        return FIRST_RETRY * GROWTH ** (self.failures - 1) if self.failures else 0.0
