"""Sections as people see them: those of a host, counted, and the one that a page is in.

Statements: sections/pages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from graphbrain.frontier.sections import Book
from graphbrain.graph.connection import Tx
from graphbrain.model import Page
from graphbrain.records import PageSection, Section
from graphbrain.sections.copies import COPY
from graphbrain.sections.site import Section as Acting
from graphbrain.sections.site import Sections
from graphbrain.sections.tree import Leaf

__all__ = ["Census", "of_page", "view"]

_COUNTS = ("pages", "fetched", "waiting", "failing", "copies")


class Census:
    """Pages of one host, counted by its sections."""

    def __init__(self, sections: Sections) -> None:
        self._sections = sections
        self._counts: dict[str, Counter[str]] = {}
        self._examples: dict[str, tuple[bool, str]] = {}

    def add(self, rows: Iterable[Sequence[Any]]) -> None:
        """Count these pages: the rows of sections/pages."""
        for url, state, learned, echo, failing, brought, queued in rows:
            pattern = self._pattern(url, echo=echo if learned else None)
            fetched = learned and state != "alias"
            count = self._counts.setdefault(pattern, Counter())
            count["pages"] += 1
            count["fetched"] += fetched
            count["waiting"] += queued and state == "frontier"
            count["failing"] += failing
            count["copies"] += brought is not None and brought < COPY
            if pattern not in self._examples or (fetched and not self._examples[pattern][0]):
                self._examples[pattern] = fetched, url

    def _pattern(self, url: str, *, echo: bool | None) -> str:
        """The section of a page; `echo` of one that was fetched, which is no echo of itself."""
        if isinstance(self._sections.tree.root, Leaf):  # the URL need not be read
            return self._sections.tree.root.pattern
        return self._sections.of(url, echo=echo).leaf.pattern

    def sections(self) -> list[Section]:
        """All sections of the host, those with the most pages first."""
        found = [self._seen(self._sections.acting(leaf)) for leaf in self._sections.tree.leaves()]
        return sorted(found, key=lambda section: (-section.pages, section.pattern))

    def _seen(self, section: Acting) -> Section:
        leaf = section.leaf
        count = self._counts.get(leaf.pattern, Counter())
        return Section(
            leaf.pattern,
            **{name: count[name] for name in _COUNTS},
            harvest=leaf.mean,
            around=leaf.parent,
            visits=leaf.visits,
            factor=section.factor,
            example=self._examples.get(leaf.pattern, (False, None))[1],
        )


def view(tx: Tx, host: str, book: Book) -> list[Section]:
    """The sections of a host, those with the most pages first, counted by reading all its pages."""
    census = Census(book.of(tx, [host], fresh=True)[host])
    census.add(tx.many("sections/pages", host=host))
    return census.sections()


def of_page(tx: Tx, page: Page, book: Book, *, counts: bool) -> PageSection:
    """The section that a page is in. `counts`: do new pages count by their sections?"""
    # A page is no echo of itself.
    echo = page.echo if page.first_fetched is not None else None
    section = book.of(tx, [page.host], fresh=True)[page.host].of(page.url, echo=echo)
    leaf = section.leaf
    return PageSection(leaf.pattern, leaf.mean, leaf.parent, leaf.brought, leaf.visits, section.factor, counts)
