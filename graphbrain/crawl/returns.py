"""Pages that a site hides behind a detour for visitors without a cookie.

Such a page leads elsewhere, and from there back to itself, with a cookie that was set on the way. It has been visited
by then, so the brain claims it again, once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from graphbrain import Answer, Brain, Fetched
from graphbrain.crawl.scrapy import Report, ScrapyVisit

__all__ = ["Returns"]

MOST_LED = 100_000
"""Pages with a redirect that are remembered."""
TAKEN = -1


class Returns:
    """The pages of a run that have led elsewhere, and those of them to which a later redirect leads back."""

    def __init__(self) -> None:
        self.cookies: Counter[str] = Counter()
        """Number of answers of each host that have set cookies."""
        self._led: dict[str, int] = {}
        """Page that has led elsewhere → the answers with cookies before it was asked for; `TAKEN`: it was returned."""
        self._wanted: list[str] = []
        self._first = set[str]()
        """Pages of which no content has come yet."""

    def note(self, visit: ScrapyVisit, result: Fetched) -> None:
        """Note a redirect. The event loop's thread calls this."""
        if visit.response is None or result.redirected_to is None:
            return
        host, target = visit.claim.host, result.redirected_to
        before = self._led.get(target, TAKEN)
        if TAKEN < before < self.cookies[host]:
            self._led[target] = TAKEN
            self._wanted.append(target)
        if len(self._led) < MOST_LED:
            self._led.setdefault(result.url, self.cookies[host] - ("Set-Cookie" in visit.response.headers))

    def claim_again(self, brain: Brain) -> None:
        """Let the brain claim the pages to which a redirect has led back. The thread that writes calls this."""
        wanted, self._wanted = self._wanted, []
        if wanted:
            self._first.update(wanted)
            brain.crawl_now(wanted)

    def as_new(self, reports: Sequence[Report], answers: Sequence[Answer]) -> Sequence[Answer]:
        """Return the answers, in which a page is new whose first content has come after its detour."""
        if not self._first:
            return answers
        given = []
        for report, answer in zip(reports, answers, strict=True):
            first = isinstance(report, Fetched) and report.redirected_to is None and report.url in self._first
            if first and answer.outcome in ("same", "changed"):
                self._first.discard(report.url)
            given.append(replace(answer, outcome="new") if first and answer.outcome in ("same", "changed") else answer)
        return given
