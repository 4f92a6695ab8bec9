"""Pages that redirect visitors without a cookie to another URL, which sets the cookie and redirects back.

The brain has recorded a visit of such a page before the redirect back, so the page must be claimed once more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from graphbrain import Answer, Brain, Fetched
from graphbrain.crawl.scrapy import Report, ScrapyVisit

__all__ = ["Returns"]

MOST_LED = 100_000
"""Most pages with a redirect that are remembered."""
TAKEN = -1
"""The value in `_led` of a page that is claimed again: no second time."""


class Returns:
    """The pages of a run that have redirected, and those of them to which a later redirect leads back."""

    def __init__(self) -> None:
        self.cookies: Counter[str] = Counter()
        """Host → the number of its answers that have set cookies."""
        self._led: dict[str, int] = {}
        """Page that has redirected → the number of its host's answers with cookies before its own; or `TAKEN`."""
        self._wanted: list[str] = []
        """Pages that are to be claimed again."""
        self._first = set[str]()
        """Pages that were claimed again, and that no content has come from yet."""

    def note(self, visit: ScrapyVisit, result: Fetched) -> None:
        """Note the redirect of a page. The thread of the event loop calls this."""
        if visit.response is None or result.redirected_to is None:
            return
        # Claim the target again if it has redirected before, and its host has set a cookie since.
        host, target = visit.claim.host, result.redirected_to
        cookies_before = self._led.get(target, TAKEN)
        if TAKEN < cookies_before < self.cookies[host]:
            self._led[target] = TAKEN
            self._wanted.append(target)
        # Remember the page, for a redirect that leads back to it.
        if len(self._led) < MOST_LED:
            self._led.setdefault(result.url, self.cookies[host] - ("Set-Cookie" in visit.response.headers))

    def claim_again(self, brain: Brain) -> None:
        """Ask the brain for the pages to which a redirect has led back. The thread that writes calls this."""
        wanted, self._wanted = self._wanted, []
        if wanted:
            self._first.update(wanted)
            brain.crawl_now(wanted)

    def as_new(self, reports: Sequence[Report], answers: Sequence[Answer]) -> Sequence[Answer]:
        """Return the answers, with the outcome `new` for the first content of a page that was claimed again."""
        if not self._first:
            return answers
        changed = []
        for report, answer in zip(reports, answers, strict=True):
            has_content = isinstance(report, Fetched) and report.redirected_to is None
            if has_content and report.url in self._first and answer.outcome in ("same", "changed"):
                self._first.discard(report.url)
                answer = replace(answer, outcome="new")
            changed.append(answer)
        return changed
