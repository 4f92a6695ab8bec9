"""Looking: one page, the best pages, neighbours, figures, the audit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphbrain import audit as audits
from graphbrain import pages
from graphbrain.audit import Audit
from graphbrain.core import Core
from graphbrain.errors import BadInput, UnknownPage
from graphbrain.model import Page

__all__ = ["Looking"]


class Looking(Core):
    """The verbs that change nothing."""

    def page(self, url: str) -> Page:
        """Everything about one page, named by URL or key. Raises UnknownPage."""
        found = self.graph.read(lambda tx: pages.page(tx, self._key(url)), "pages/get")
        if found is None:
            raise UnknownPage(f"{url} is not in the graph.")
        return found

    def top(self, n: int = 10, by: str = "authority") -> list[Page]:
        """The `n` pages of highest authority (or hub) score, best first."""
        names = {"authority": "authorities", "hub": "hubs"}
        if by not in names:
            raise BadInput(f"top is by authority or hub, not {by!r}.")
        name = f"pages/top_{names[by]}"
        rows = self.graph.read(lambda tx: tx.many(name, limit=n), name)
        if len(rows) < n:
            name = f"pages/all_{names[by]}"
            rows = self.graph.read(lambda tx: tx.many(name, limit=n), name)
        return [pages.page_of(row) for row in rows]

    def neighbours(self, url: str) -> tuple[list[str], list[str]]:
        """The URLs a page links to, and those that link to it. Raises UnknownPage."""
        rows = self.graph.read(lambda tx: tx.many("pages/neighbours", key=self._key(url)), "pages/neighbours")
        if not rows:
            raise UnknownPage(f"{url} is not in the graph.")
        return sorted(rows[0][0]), sorted(rows[0][1])

    def stats(self) -> dict[str, Any]:
        """How much there is, in which state, and what was done. Reads every page: for people, not for loops."""
        self._write_counts()
        sizes = self.graph.read(lambda tx: tx.one("brain/sizes"), "brain/sizes")
        states = self.graph.read(lambda tx: tx.many("brain/states"), "brain/states")
        totals = self.graph.read(lambda tx: tx.one("brain/totals"), "brain/totals")
        waiting = self.graph.read(lambda tx: audits.waiting(tx, self.policy.rule), "audit/waiting")
        return {
            "crawl": self.settings.crawl,
            **dict(zip(("pages", "links", "hosts"), sizes, strict=True)),
            "waiting": sum(row[2] for row in states),
            "leased": sum(row[3] for row in states),
            "retries": sum(row[4] for row in states),
            "states": {row[0]: row[1] for row in states},
            "error_bound": waiting,
            "done": dict(zip(("pages", "links", "claims", "pushes", "payments", "retries"), totals, strict=True)),
            "client": dict(self.graph.counts),
        }

    def audit(self, sample: int | None = 1000, progress: Callable[[int, int], None] = lambda *_: None) -> Audit:
        """Recompute accounts from their neighbours and check leases, queues and marks; `sample` None: every page."""
        return audits.run(self.graph, lambda: self.policy, sample, progress, self.now)
