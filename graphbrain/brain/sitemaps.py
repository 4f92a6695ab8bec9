"""Finds the sitemaps of hosts, and writes the entries of claimed sitemaps. Entries are written in batches before the
claims end, so that no entry is lost."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from graphbrain.base.errors import BadInput
from graphbrain.base.model import ROBOTS_KEY, Claim, Hint, HintOutcome, kind_of
from graphbrain.base.urls.normalization import host_of
from graphbrain.brain.session import PASS_BATCH, Session
from graphbrain.frontier.claims import sitemaps, tuning
from graphbrain.frontier.claims.resource_reports import Listed, ResourceVisit
from graphbrain.frontier.claims.sitemap_state import Evidence, SitemapState
from graphbrain.frontier.claims.sitemaps import Progress
from graphbrain.frontier.corrections import change_hints
from graphbrain.frontier.corrections.change_hints import Noted, Source
from graphbrain.frontier.policy import Policy
from graphbrain.graph.connection import Tx

__all__ = ["SitemapFinding", "Sitemaps"]


class SitemapFinding:
    """Finds the sitemaps of hosts, once a call of this process has asked for sitemaps.

    A robots.txt names the sitemaps of its host, so a search follows the report of a robots.txt. Another search follows
    a claim of pages of the host: another process may have read its robots.txt, or callers may read none.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._wanted = False
        self._sought: dict[str, float] = {}
        """Host → the time of the last search for its sitemaps."""

    def of_claims(self, claims: Iterable[Claim], robots: bool) -> bool:
        """Search for the sitemaps of the hosts of claimed pages, at most once a minute for each host.

        Args:
            claims: The claims of calls that ask for sitemaps.
            robots: Skip hosts whose robots.txt has not been read.

        Returns:
            True if it searched for any host.
        """
        self._wanted, now = True, self._session.now()
        schemes = {
            claim.host: claim.url.partition(":")[0]
            for claim in claims
            if claim.kind == "page" and not 0.0 <= now - self._sought.get(claim.host, -math.inf) < tuning.SOUGHT
        }
        return self._find(schemes, robots)

    def of_robots(self, keys: Iterable[str]) -> None:
        """Search for the sitemaps of hosts whose robots.txt was just read. `keys`: keys of resources of any kind."""
        origins = (key.removeprefix(ROBOTS_KEY) for key in keys if self._wanted and kind_of(key) == "robots")
        self._find({host_of(origin): origin.partition(":")[0] for origin in origins}, True)

    def forget(self) -> None:
        """Forget the earlier searches, after all hosts were deleted."""
        self._sought.clear()

    def _find(self, schemes: Mapping[str, str], robots: bool) -> bool:
        """Search for the sitemaps of hosts (host → scheme of its pages). Return False if there are no hosts."""
        if not schemes:
            return False
        hosts = self._session.perform("sitemaps/find", _find, schemes, robots)
        if len(self._sought) > tuning.MOST_SOUGHT:
            self._sought.clear()
        self._sought.update(dict.fromkeys(hosts, self._session.now()))
        return True


def _find(tx: Tx, schemes: Mapping[str, str], robots: bool, policy: Policy, now: float) -> set[str]:
    return sitemaps.find(tx, schemes, robots, policy.manners, now)


@dataclass(frozen=True, slots=True)
class _Part:
    """The entries from `start` to `end` of one claimed sitemap. The parts of a batch are written together."""

    state: SitemapState
    listed: Listed
    start: int
    end: int

    @property
    def hints(self) -> Sequence[Hint]:
        """The pages among these entries. The pages of a sitemap are numbered before the sitemaps that it lists."""
        return self.listed.hints[self.start : self.end]

    @property
    def children(self) -> Sequence[str]:
        """The sitemaps among these entries, if the sitemap is an index."""
        pages = len(self.listed.hints)
        return self.listed.sitemaps[max(self.start - pages, 0) : max(self.end - pages, 0)]


class Sitemaps:
    """Writes the entries of sitemaps: pages and other sitemaps."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def write(self, visits: Iterable[ResourceVisit]) -> None:
        """Write the entries of claimed sitemaps while their claims hold: pages as hints, and the sitemaps of an index.

        Small sitemaps share a batch, and a large sitemap has several. Each batch renews all claims. A report of the
        same text continues where another report of it was interrupted.
        """
        texts = {one.key: (one.token, one.listed) for one in visits if one.listed is not None}
        if not texts:
            return
        session, lease = self._session, self._session.settings.lease_seconds
        # Begin, or continue where a report of the same text was interrupted.
        begun = session.perform("sitemaps/begin", sitemaps.begin, texts, lease)
        remaining = {
            key: _Part(each.state, texts[key][1], each.written, texts[key][1].entries) for key, each in begun.items()
        }
        written = {key: part.start for key, part in remaining.items()}
        # After each batch, store the progress. A sitemap whose claim has ended is dropped.
        for batch in _batches(remaining.values()):
            parts = [part for part in batch if part.state.key in written]
            evidence = self._batch(parts)
            written |= {part.state.key: part.end for part in parts}
            done = {key: Progress(texts[key][0], n, evidence.get(key, Evidence())) for key, n in written.items()}
            still_leased = session.perform("sitemaps/go_on", sitemaps.go_on, done, lease)
            written = {key: n for key, n in written.items() if key in still_leased}

    def _batch(self, parts: Sequence[_Part]) -> dict[str, Evidence]:
        """Write one batch of entries. Return the evidence of visits on the dates of these entries, by the key of the
        sitemap."""
        for part in parts:
            if part.children:
                self._session.perform("sitemaps/list_children", sitemaps.list_children, part.state, part.children)
        sources = {part.state.key: self._source(part.state) for part in parts if part.hints}
        for group in _groups([(sources[part.state.key], self._noted(part)) for part in parts if part.hints]):
            self._hint(group)
        return {key: sum(source.evidence.values(), Evidence()) for key, source in sources.items()}

    def _source(self, state: SitemapState) -> Source:
        return Source(state.number, state.fetched, state.trust(self._session.trust))

    def _noted(self, part: _Part) -> dict[str, Noted]:
        """Return the hints of these entries on pages that the sitemap may list, by the key of the page."""
        session, now = self._session, self._session.now()
        by_key: dict[str, list[Noted]] = {}
        for hint in part.hints:
            try:
                noted = change_hints.check(hint, session.rules, now)
            except BadInput:
                continue
            if noted.url is not None and part.state.lists(noted.url):
                by_key.setdefault(noted.key, []).append(noted)
        return {key: change_hints.together(each) for key, each in by_key.items()}

    def _hint(self, group: Mapping[str, tuple[Source, Noted]]) -> None:
        session, done = self._session, dict[str, HintOutcome]()
        sources = {key: source for key, (source, _) in group.items()}
        hints = {key: noted for key, (_, noted) in group.items()}

        def hint(tx: Tx) -> None:
            change_hints.apply(tx, hints, session.trust, session.policy, session.now(), done, sources)

        session.graph.write(hint, "hints")


def _batches(parts: Iterable[_Part]) -> Iterator[list[_Part]]:
    """Yield batches of at most PASS_BATCH entries, which together are these parts."""
    batch: list[_Part] = []
    space = PASS_BATCH
    for part in parts:
        start = part.start
        while start < part.end:
            end = min(start + space, part.end)
            batch.append(_Part(part.state, part.listed, start, end))
            space -= end - start
            start = end
            if not space:
                yield batch
                batch, space = [], PASS_BATCH
    if batch:
        yield batch


def _groups(sourced: Iterable[tuple[Source, Mapping[str, Noted]]]) -> Iterator[dict[str, tuple[Source, Noted]]]:
    """Yield groups of hints of several sitemaps, with at most one hint for each page in a group. Two hints for a page
    in one transaction would be evidence for one of the sitemaps alone."""
    group: dict[str, tuple[Source, Noted]] = {}
    for source, hints in sourced:
        if group.keys() & hints.keys():
            yield group
            group = {}
        group |= {key: (source, noted) for key, noted in hints.items()}
    if group:
        yield group
