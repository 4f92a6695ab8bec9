"""Checks of links that leave the scope, asked for by hand."""

from __future__ import annotations

from graphbrain.analyst.inspect.scan import SCAN_IDS
from graphbrain.base.errors import BadInput
from graphbrain.base.options.checks import LinkCheckOptions
from graphbrain.base.options.declare import options_of
from graphbrain.brain.session import PASS_BATCH, Session
from graphbrain.frontier.claims import links

__all__ = ["LinkChecks"]

DAY = 86_400.0


class LinkChecks:
    """The verb that asks for the status of URLs outside the scope."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def check(self, days: float) -> int:
        """Ask for checks, as `Brain.check_links` describes."""
        if not options_of(LinkCheckOptions)["days"].fits(days):
            raise BadInput(f"days must be a number from 0 on, not {days!r:.80}.")
        session = self._session
        before, asked = session.now() - days * DAY, 0
        last = session.graph.read(lambda tx: tx.one("exports/last_id")[0], "exports/last_id")
        for first in range(0, 0 if last is None else last + 1, SCAN_IDS):
            asked += self._range(first, min(first + SCAN_IDS - 1, last), before)
        return asked

    def _range(self, first: int, last: int, before: float) -> int:
        session = self._session
        urls = session.graph.read(lambda tx: links.outside(tx, first, last), "resources/outside")
        asked = 0
        for start in range(0, len(urls), PASS_BATCH):
            asked += session.perform("links/ask", links.ask, urls[start : start + PASS_BATCH], before)
        return asked
