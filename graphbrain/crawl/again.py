"""The end of a crawl that does not revisit its pages.

A page is due again `revisit_seconds` after its visit. A crawl that takes longer claims its own pages again, mixed with
those that it has not fetched yet. It is over when no page waits for its first visit, or when no first visit was
reported for `health.crawl_patience`: then the remaining pages wait for ill hosts. A page whose visits have failed does
not keep the crawl running.

Statements: figures/again, figures/left.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from graphbrain import Answer, Brain, Fetched
from graphbrain.crawl.scrapy import Report, ScrapyVisit
from graphbrain.crawl.watching import CrawlWatch, has_content, rest_after
from graphbrain.frontier.hosts.health import crawl_patience
from graphbrain.graph.connection import Tx, bound

__all__ = ["Again"]

LEAST_REST = 10.0
"""The least seconds between two counts of the pages that wait for their first visit."""


class Again:
    """A sink that finds the pages which this run fetches again.

    The thread that writes uses it. Any thread may call `over`.

    Args:
        watch: The counters of the run; `again` counts these visits.
        clock: Monotonic seconds.
    """

    def __init__(self, watch: CrawlWatch, clock: Callable[[], float] = time.monotonic) -> None:
        self._watch, self._clock = watch, clock
        self._brain: Brain | None = None
        self._since = 0.0
        self._began = self._last_first = clock()
        self._look_at = self._began + LEAST_REST
        self._refetched = self._all_fetched = False

    def recover(self, brain: Brain) -> int:
        """Note when the run begins, by the brain's clock."""
        self._brain, self._since = brain, brain.now()
        self._began = self._last_first = self._clock()
        return 0

    def finished(self, visit: ScrapyVisit, report: Fetched) -> None:
        """Do nothing: `before` looks the page up with others."""

    def before(self, reports: Sequence[Report]) -> None:
        """Count the pages that this run has fetched before. There is none before `revisit_seconds` have passed."""
        brain = self._brain
        if brain is None or brain.now() - self._since < brain.settings.revisit_seconds:
            self._last_first = self._clock()
            return
        keys = sorted({report.claim.key for report in reports if report.claim is not None})
        query = bound(Tx.one, "figures/again", keys=keys, since=self._since)
        again = set(brain.graph.read(query, "figures/again")[0])
        if len(again) < len(keys):
            self._last_first, self._all_fetched = self._clock(), False
        # The counters count only pages with a content.
        contents = {each.claim.key for each in reports if each.claim is not None and has_content(each)}
        self._watch.again += len(again & contents)
        self._refetched = self._refetched or bool(again)

    def after(self, reports: Sequence[Report], answers: Sequence[Answer]) -> None:  # noqa: ARG002
        """Check whether a page waits for its first visit, with a rest after each check (`rest_after`)."""
        began = self._clock()
        if self._refetched and self._brain is not None and began >= self._look_at:
            rows = self._brain.graph.read(bound(Tx.many, "figures/left"), "figures/left")
            self._all_fetched = all(because for because, _ in rows)
            ended = self._clock()
            self._look_at = ended + rest_after(ended - began, LEAST_REST)

    def over(self) -> bool:
        """Return whether only pages are left that this run had fetched before."""
        patience = crawl_patience(self._last_first - self._began)
        return self._refetched and (self._all_fetched or self._clock() > self._last_first + patience)
