"""The state of a sitemap: the time of its next read, the URLs that it may list, and the trust in its dates.

A sitemap is read again by its own change rate. If it cannot be fetched, it is tried again at growing intervals, and is
dead after 30 days and at least 8 failures. The URLs that a sitemap may list follow sitemaps.org, "Sitemap file
location" and "Sitemaps & Cross Submits". They are those of hosts whose robots.txt names it, or names an index that
lists it. Otherwise they are those of its own host in its own folder and below.

The dates of a sitemap are compared with later visits. A page with a true date has changed. A page with an untrue date
has changed by chance, with the probability p that follows from its change rate. So of n visits after dates, n q + (1 -
q) P are expected to find a change, where q is the share of true dates and P the sum of the p. The method of moments
gives q = (changes - P)/(n - P). `hint_recall` and `hint_false` are the prior, with the weight of `PRIOR` visits. A
visit has the weight 1 - p, because one that would have found a change in any case shows little. So a sitemap whose
dates are always today's gets no credit for changes that visits would have found without it. This module needs no graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from hashlib import blake2b
from typing import Literal
from urllib.parse import urlsplit

import numpy as np

from graphbrain.base.model import SITEMAP_KEY
from graphbrain.base.urls.normalization import host_of
from graphbrain.frontier.hosts import clock_ahead
from graphbrain.frontier.hosts.resource import ResourceState, Said, queue_key
from graphbrain.schedule import change_rate
from graphbrain.schedule.change_rate import Prior

__all__ = [
    "AGAIN",
    "DEEPEST",
    "LINE",
    "MOST_OF_HOST",
    "Evidence",
    "SitemapState",
    "Trust",
    "guess_of",
    "key_of",
    "trust_from",
    "weigh",
]

LINE, AGAIN = "sitemap", "sitemap again"
"""The lines in which sitemaps wait: those that were never read, and those that were."""
DEEPEST = 3
"""The most indexes above a sitemap that is read. Sitemaps that are listed deeper are not read."""
MOST_OF_HOST = 50_000
"""The most sitemaps of one host."""
HOUR, DAY = 3_600.0, 86_400.0
SOONEST, LATEST = HOUR, 30 * DAY
"""The least and the most seconds between two reads of a sitemap."""
CHANGES = Prior(0.5, 0.5)
"""The prior of the changes a day of a sitemap that was read once: one a day."""
FIRST_RETRY, LONGEST_RETRY = HOUR, 14 * DAY
DEAD_AFTER, DEAD_FAILURES = 30 * DAY, 8
"""A sitemap is dead once it has failed for so many seconds, and so often."""
PRIOR = 5.0
"""The weight of the settings, as a number of changes or of visits after dates."""
FADES = 0.98
"""The factor of the weight of earlier evidence at each read."""
MOST_RECALL, LEAST_TRUE, MOST_TRUE = 0.99, 1e-4, 0.999
"""Bounds of what is learned, so that a hint has a finite weight."""


@dataclass(frozen=True, slots=True)
class Trust:
    """The reliability of hints. `recall`: the share of changes that hints report. `false`: the number of false hints
    for each change."""

    recall: float = 0.7
    false: float = 0.3

    @property
    def true(self) -> float:
        """The share of the hints that are about a change."""
        return self.recall / (self.recall + self.false)


@dataclass(frozen=True, slots=True)
class Evidence:
    """Visits to pages that a sitemap lists.

    `dated`: first visits after a date; `dated_changes`: those of them that found a change; `by_chance`: how many of
    them were expected to find one had there been no date; `missed`: visits that found a change without a date.
    """

    dated: float = 0.0
    dated_changes: float = 0.0
    by_chance: float = 0.0
    missed: float = 0.0

    def __add__(self, other: Evidence) -> Evidence:
        return Evidence(
            self.dated + other.dated,
            self.dated_changes + other.dated_changes,
            self.by_chance + other.by_chance,
            self.missed + other.missed,
        )

    def faded(self) -> Evidence:
        """Return the same with less weight."""
        return Evidence(*(FADES * getattr(self, name) for name in EVIDENCE))


EVIDENCE = tuple(each.name for each in fields(Evidence))
"""The names of the parts of the evidence, which are properties of the sitemap's node, too."""


def weigh(changed: bool, chance: float) -> Evidence:
    """Return the evidence of the first visit after a date.

    Args:
        changed: The visit found a change.
        chance: The probability that the page had changed by then, had there been no date.
    """
    return Evidence(1.0, float(changed), chance)


def trust_from(evidence: Evidence, first: Trust) -> Trust:
    """Return the trust in dates by this evidence. `first`: the trust without evidence."""
    shown = PRIOR * first.true + evidence.dated_changes - evidence.by_chance
    true = min(max(shown / (PRIOR + evidence.dated - evidence.by_chance), LEAST_TRUE), MOST_TRUE)
    announced, missed = true * evidence.dated, evidence.missed + (1.0 - true) * evidence.by_chance
    recall = min((PRIOR * first.recall + announced) / (PRIOR + announced + missed), MOST_RECALL)
    return Trust(recall, recall * (1.0 - true) / true)


def key_of(url: str) -> str:
    """Return the key of a sitemap. It differs from all keys of pages."""
    return f"{SITEMAP_KEY}{url}"


def guess_of(scheme: str, host: str) -> str:
    """Return the usual URL of a sitemap, for an origin whose robots.txt names none."""
    return f"{scheme}://{host}/sitemap.xml"


@dataclass(slots=True, eq=False)
class SitemapState(ResourceState):
    """One sitemap, or an index of them.

    `named_by`: hosts whose robots.txt names it, or an index that lists it. `parent`: the key of the first index that
    listed it; `depth`: how many indexes are above it. `guessed`: no robots.txt names it; it is where most are.
    `failures`: in a row. `dead_at`: since when it is asked for no more. `fault`: why it could not be read. `mark`: the
    fingerprint of its entries; `entries`: how many pages or sitemaps it lists. `rate_shape`, `rate_scale` (days): what
    is believed of its rate of change. `dated`, `dated_changes`, `by_chance`, `missed`: see `Evidence`. `writing`,
    `written`: of the text with this fingerprint so many entries are written already. `counted_in`: its host counts it
    among its sitemaps.
    """

    named_by: list[str] | None = None
    parent: str | None = None
    depth: int | None = None
    guessed: bool | None = None
    failures: int | None = None
    dead_at: float | None = None
    fault: str | None = None
    mark: str | None = None
    entries: int | None = None
    is_index: bool | None = None
    reads: int | None = None
    rate_shape: float | None = None
    rate_scale: float | None = None
    dated: float | None = None
    dated_changes: float | None = None
    by_chance: float | None = None
    missed: float | None = None
    counted_in: bool | None = None
    writing: str | None = None
    written: int | None = None

    EVENTS = (*ResourceState.EVENTS, "dead_at")

    @property
    def number(self) -> int:
        """Its number. Its pages store it until they are visited after one of its dates."""
        return int.from_bytes(blake2b(self.key.encode(), digest_size=8).digest(), signed=True)

    def is_allowed(self, allows: Callable[[str], bool]) -> bool:
        """Return whether it may be fetched: a robots.txt names it, or that of the host allows it."""
        return self.host in (self.named_by or ()) or allows(self.url)

    def waits_in(self) -> str | None:
        """Return the queue in which it waits now."""
        if self.lease is not None or self.dead_at is not None or self.due_at is None:
            return None
        tried = self.fetched is not None or self.failing_since is not None
        return queue_key(AGAIN if tried else LINE, self.host)

    def put_right(self, now: float, lease: float) -> None:
        """Correct the times that were written by a clock that was ahead, and what is believed of its rate of change.

        The belief rests on no more days than have passed since the sitemap was discovered. Otherwise the days that such
        a clock skipped would count as days without a change.
        """
        if self.rate_scale is not None and clock_ahead.is_ahead(self.fetched, now):
            age = now - clock_ahead.event(self.discovered or now, now)
            self.rate_scale = min(self.rate_scale, CHANGES.scale + age / DAY)
        super(SitemapState, self).put_right(now, lease)

    def counts(self) -> bool:
        """Return True, once, if it is new and its host must count it."""
        if self.counted_in is not None:
            return False
        self.counted_in = True
        return True

    def lists(self, url: str) -> bool:
        """Return whether it may list a URL of a page or of a sitemap."""
        if host_of(url) in (self.named_by or ()):
            return True
        own = urlsplit(self.home)
        folder = own.path.rpartition("/")[0] + "/"
        return host_of(url) == host_of(self.home) and (urlsplit(url).path or "/").startswith(folder)

    def name(self, hosts: Iterable[str], now: float) -> None:
        """Note hosts whose robots.txt names it, or names an index that lists it. If it was dead, it is tried again."""
        before = self.named_by or []
        after = sorted({*before, *hosts})
        if after != before:
            self.named_by = after
            self._revive(now)
        if self.due_at is None and self.dead_at is None and self.lease is None and self.fetched is None:
            self.due_at = now

    def unname(self, host: str, now: float) -> None:
        """Note that the robots.txt of a host does not name it any more. If nothing names it, it is dead."""
        self.named_by = [name for name in self.named_by or () if name != host] or None
        if self.named_by is None and self.parent is None and not self.guessed:
            self.dead_at = self.dead_at or now

    def _revive(self, now: float) -> None:
        if self.dead_at is not None:
            self.dead_at, self.failures, self.failing_since, self.due_at = None, None, None, now

    def trust(self, first: Trust) -> Trust:
        """Return the trust in its dates. `first`: the trust without evidence."""
        return trust_from(self.evidence, first)

    @property
    def evidence(self) -> Evidence:
        """The evidence of the visits so far, older ones with less weight."""
        return Evidence(*((getattr(self, name) or 0.0) for name in EVIDENCE))

    def learn(self, evidence: Evidence) -> None:
        """Add the evidence of the visits since it was read last."""
        self._set_evidence(self.evidence + evidence)

    def _set_evidence(self, evidence: Evidence) -> None:
        for name in EVIDENCE:
            setattr(self, name, getattr(evidence, name))

    def begin(self, mark: str, until: float) -> int:
        """Begin to write the entries of a text, or continue, and renew the claim. Return the number of written
        entries."""
        if self.writing != mark:
            self.writing, self.written = mark, 0
        self.lease_until = max(self.lease_until or 0.0, until)
        return self.written or 0

    def hear(self, answer: Said, now: float) -> Literal["new", "changed", "same", "alias", "retry", "gone"]:
        """Apply an answer, and return the outcome."""
        if self.follow(answer):
            self.due_at = now
            return "alias"
        self.go_home()
        if answer.what in ("lists", "same"):
            return self._read(None if answer.what == "same" else answer.text, now)
        self.failures, self.failed = (self.failures or 0) + 1, now
        self.failing_since = now if self.failing_since is None else min(self.failing_since, now)
        over = now - self.failing_since >= DEAD_AFTER and self.failures >= DEAD_FAILURES
        if over or (self.guessed and answer.what == "gone" and self.fetched is None):
            self.dead_at, self.due_at = now, None
            return "gone"
        self.due_at = now + self.wait()
        return "retry"

    def wait(self) -> float:
        """Return the seconds after its last answer until it is read again."""
        if self.failures:
            return min(FIRST_RETRY * 2.0 ** min(self.failures - 1, 20), LONGEST_RETRY)
        if self.rate_shape is None or self.rate_scale is None:
            return 0.0
        return min(max(DAY * self.rate_scale / self.rate_shape / 2.0, SOONEST), LATEST)

    def _read(self, mark: str | None, now: float) -> Literal["new", "changed", "same"]:
        """Note that it was read, and return the outcome. `mark`: the fingerprint of its entries; None if unchanged."""
        first, changed = self.fetched is None, mark is not None and mark != self.mark
        # Learn how often it changes, from the second read on.
        if self.rate_shape is None or self.rate_scale is None:
            self.rate_shape, self.rate_scale = CHANGES.shape, CHANGES.scale
        if self.fetched is not None:
            shape, scale = change_rate.after_visit(
                np.array([self.rate_shape]),
                np.array([self.rate_scale]),
                np.array([max(0.0, now - self.fetched) / DAY]),
                np.array([changed]),
                CHANGES,
            )
            self.rate_shape, self.rate_scale = float(shape[0]), float(scale[0])
            self._set_evidence(self.evidence.faded())
        # Remove the failures.
        self.mark = mark or self.mark
        self.fetched, self.reads = now, (self.reads or 0) + 1
        self.failed = self.failing_since = self.failures = self.fault = self.writing = self.written = None
        self.due_at = now + self.wait()
        return "new" if first else "changed" if changed else "same"
