"""Expected copies: waiting pages that are expected to equal a fetched page, and the reason.

The expectation is computed on request, from the last visits in the host's stored evidence and from their pages.
Statements: sections/evidence.
"""

from __future__ import annotations

from collections.abc import Iterable

from graphbrain.base.model import Page
from graphbrain.base.records import ExpectedCopy
from graphbrain.frontier.expected import KeyOf, contents, expectations
from graphbrain.graph.connection import Tx
from graphbrain.schedule.sections.copies import Equal, Expectations
from graphbrain.schedule.sections.site import Sections, Site

__all__ = ["KeyOf", "Lessons", "lessons", "of_page"]

_WHY = {
    "argument": "the argument ?{word}",
    "step": "the step /{word}",
    "swap": "the step /{word} in place of /{other}",
    "token": "a step with letters and digits, as of a session",
    "repeats": "steps of the path that occur twice or are empty",
    "case": "upper and lower case",
    "index": "a last step as index.html",
    "slash": "a slash at the end",
    "scheme": "http in place of https",
    "www": "www. before the host",
}


class Lessons:
    """The rules about copies that follow from the visits of one host."""

    def __init__(self, sections: Sections, expectations: Expectations, key_of: KeyOf) -> None:
        self._sections, self._expectations, self._key_of = sections, expectations, key_of

    @property
    def says_nothing(self) -> bool:
        """Return whether no page is expected to equal another."""
        return self._expectations.says_nothing

    def expected(self, tx: Tx, urls: Iterable[str]) -> dict[str, ExpectedCopy]:
        """Return the expected copies among these waiting pages, by their URLs."""
        # Find the plainer pages that each of them may equal.
        candidates = {
            url: equals
            for url in urls
            if (equals := self._expectations.candidates(url, self._sections.of(url).leaf.pattern))
        }
        # Read the candidates that are not known to be fetched: they may not exist.
        unsure = {equal.url for equals in candidates.values() for equal, fetched in equals if not fetched}
        page_of = contents(tx, unsure, self._key_of)
        # Expect each page to equal its first candidate that exists and is another page.
        expected: dict[str, ExpectedCopy] = {}
        for url, equals in candidates.items():
            own = self._key_of(url)
            for equal, fetched in equals:
                page = page_of.get(equal.url)
                if fetched or (page is not None and not page.alias and page.key != own):
                    expected[url] = _expected(equal, self._factor(url))
                    break
        return expected

    def _factor(self, url: str) -> float:
        return self._sections.copies.factor(url, self._sections.of(url).leaf.pattern)


def lessons(tx: Tx, host: str, key_of: KeyOf) -> Lessons | None:
    """Return the rules about copies of a host; None if nothing was learned about it."""
    rows = tx.many("sections/evidence", host=host)
    if not rows:
        return None
    site = Site.read(*rows[0])
    return Lessons(site.sections, expectations(tx, site, key_of), key_of)


def of_page(tx: Tx, page: Page, key_of: KeyOf) -> ExpectedCopy | None:
    """Return the page that an unfetched page is expected to equal. None if the page was fetched, or equals none."""
    if page.state != "frontier" or page.first_fetched is not None:
        return None
    learned = lessons(tx, page.host, key_of)
    return None if learned is None else learned.expected(tx, [page.url]).get(page.url)


def _expected(equal: Equal, factor: float) -> ExpectedCopy:
    differ = _WHY[equal.rule.what].format(word=equal.rule.word, other=equal.rule.other)
    because = f"of {equal.compared:,} pages that differ from another by {differ} alone, {equal.equal:,} equal it"
    return ExpectedCopy(equal.url, str(equal.rule), equal.compared, equal.equal, equal.expected, because, factor)
