"""Writing the entries of claimed sitemaps: in batches, before the claim ends, so that no entry is lost."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from graphbrain.brain.session import PASS_BATCH, Session
from graphbrain.claims import sitemaps
from graphbrain.claims.resource_reports import Listed, ResourceVisit
from graphbrain.claims.sitemap_state import Evidence, SitemapState, Trust
from graphbrain.corrections import change_hints
from graphbrain.corrections.change_hints import Noted, Source
from graphbrain.errors import BadInput
from graphbrain.model import Hint, HintOutcome

__all__ = ["Sitemaps"]


class Sitemaps:
    """Records the pages and the sitemaps that a sitemap lists."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def write(self, one: ResourceVisit) -> None:
        """Write the entries of a claimed sitemap, as far as its claim holds: pages as hints, and sitemaps of an index.

        The claim is held longer with each batch. A report of the same text goes on where another one was interrupted.
        """
        listed = one.listed
        if listed is None:
            return
        session, lease = self._session, self._session.settings.lease_seconds
        begun = session.perform("sitemaps/begin", sitemaps.begin, one, listed, lease)
        if begun is None:
            return
        total = len(listed.hints) + len(listed.sitemaps)
        for start in range(begun.written, total, PASS_BATCH):
            end = min(start + PASS_BATCH, total)
            evidence = self._batch(begun.state, listed, start, end)
            if not session.perform("sitemaps/go_on", sitemaps.go_on, one, end, evidence, lease):
                return

    def _batch(self, state: SitemapState, listed: Listed, start: int, end: int) -> Evidence:
        """Write some entries, and return what visits have shown of the dates of these."""
        pages = len(listed.hints)
        if children := listed.sitemaps[max(start - pages, 0) : max(end - pages, 0)]:
            self._session.perform("sitemaps/list_children", sitemaps.list_children, state, children)
        hints = listed.hints[start : min(end, pages)]
        return self._hint(state, hints) if hints else Evidence()

    def _hint(self, state: SitemapState, hints: Sequence[Hint]) -> Evidence:
        session, now = self._session, self._session.now()
        settings = session.settings
        trust = state.trust(Trust(settings.hint_recall, settings.hint_false))
        by_key: dict[str, list[Noted]] = {}
        for hint in hints:
            try:
                noted = change_hints.check(hint, session.rules, now)
            except BadInput:
                continue
            if noted.url is not None and state.lists(noted.url):
                by_key.setdefault(noted.key, []).append(noted)
        part = {key: change_hints.together(each) for key, each in by_key.items()}
        source = Source(state.number, state.fetched)
        if part:
            done: dict[str, HintOutcome] = {}
            apply = partial(change_hints.apply, hints=part, trust=trust, done=done, source=source)
            session.graph.write(lambda tx: apply(tx, policy=session.policy, now=session.now()), "hints")
        return sum(source.evidence.values(), Evidence())
