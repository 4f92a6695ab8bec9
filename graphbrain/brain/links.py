"""Checks of links that leave the scope, at the request of an operator."""

from __future__ import annotations

from graphbrain.analyst.inspect.scan import SCAN_IDS
from graphbrain.base.errors import BadInput
from graphbrain.base.model import number
from graphbrain.base.numeric.bounds import Bounds
from graphbrain.base.options.verbs import OPERATORS, verb
from graphbrain.brain.session import PASS_BATCH
from graphbrain.brain.topic import Topic
from graphbrain.frontier.claims import links

__all__ = ["LinkChecks"]

DAY = 86_400.0


class LinkChecks(Topic):
    """The verb that asks for the status of URLs outside the scope."""

    @verb(OPERATORS, wakes=True, days={"bounds": Bounds(0), "example": 7.0})
    def check_links(self, days: float = 7.0) -> int:
        """Ask for the status of the URLs outside the scope to which pages link.

        Callers of `next_urls` that name the kind `link` claim these checks. A URL that cannot be had appears in the
        question `broken-links`. No page is made of it.

        Args:
            days: Leave out URLs that were checked within so many days.

        Returns:
            The number of URLs that wait to be checked since now.
        """
        if not (number(days) and days >= 0):
            raise BadInput(f"days must be a number from 0 on, not {days!r:.80}.")
        session = self._session
        before, count = session.now() - days * DAY, 0
        # Read the links of all pages, range by range of their ids.
        last = session.graph.read(lambda tx: tx.one("exports/last_id")[0], "exports/last_id")
        for first in range(0, 0 if last is None else last + 1, SCAN_IDS):
            count += self._range(first, min(first + SCAN_IDS - 1, last), before)
        return count

    def _range(self, first: int, last: int, before: float) -> int:
        """Ask for checks of the URLs to which the pages of these ids link, unless they were checked after `before`.
        Return the number of URLs."""
        session = self._session
        urls = session.graph.read(lambda tx: links.outside(tx, first, last), "resources/outside")
        count = 0
        for start in range(0, len(urls), PASS_BATCH):
            count += session.perform("links/ask", links.ask, urls[start : start + PASS_BATCH], before)
        return count
