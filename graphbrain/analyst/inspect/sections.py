"""Sections for users: the sections of a host with the counts of their pages, and the section of a page.

Statements: sections/pages.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from graphbrain.base.model import Page
from graphbrain.base.records import PageSection, Section
from graphbrain.frontier.section_factors import Book
from graphbrain.graph.connection import Tx
from graphbrain.schedule.sections.copies import COPY
from graphbrain.schedule.sections.harvest import LEAST
from graphbrain.schedule.sections.site import MOST_VISITS, Sections
from graphbrain.schedule.sections.site import ActingSection as Acting
from graphbrain.schedule.sections.tree import Leaf

__all__ = ["Census", "faults", "of_page", "view"]

_COUNTS = ("pages", "fetched", "waiting", "failing", "copies")


class Census:
    """Pages of one host, counted by its sections."""

    def __init__(self, sections: Sections) -> None:
        self._sections = sections
        self.authority: defaultdict[str, float] = defaultdict(float)
        """Pattern of a section → the authority of all its pages."""
        self.answering: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
        """Pattern of a section → what each of its pages brought that answers without a redirect, and its authority."""
        self._counts: dict[str, Counter[str]] = {}
        self._examples: dict[str, tuple[bool, str]] = {}

    def add(self, rows: Iterable[Sequence[Any]]) -> None:
        """Count these pages: the rows of sections/pages."""
        for url, state, learned, echo, failing, brought, queued, authority, led in rows:
            pattern = self._pattern(url, echo=echo if learned else None)
            fetched = learned and state != "alias"
            count = self._counts.setdefault(pattern, Counter())
            count["pages"] += 1
            self.authority[pattern] += authority
            answers = state == "known" and brought is not None and not (failing or led)
            if answers:
                self.answering[pattern].append((brought, authority))
            count["fetched"] += fetched
            count["waiting"] += queued and state == "frontier" and not failing
            count["failing"] += failing
            count["copies"] += answers and brought < COPY
            if pattern not in self._examples or (fetched and not self._examples[pattern][0]):
                self._examples[pattern] = fetched, url

    def _pattern(self, url: str, *, echo: bool | None) -> str:
        """Return the pattern of the section of a page. `echo`: the stored value of a fetched page, else None."""
        if isinstance(self._sections.tree.root, Leaf):  # a host with one section
            return self._sections.tree.root.pattern
        return self._sections.of(url, echo=echo).leaf.pattern

    def sections(self) -> list[Section]:
        """Return all sections of the host, those with the most pages first."""
        sections = [self._seen(self._sections.acting(leaf)) for leaf in self._sections.tree.leaves()]
        return sorted(sections, key=lambda section: (-section.pages, section.pattern))

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
    """Return the sections of a host, those with the most pages first. This reads all its pages."""
    census = Census(book.of(tx, [host], fresh=True)[host])
    census.add(tx.many("sections/pages", host=host))
    return census.sections()


ROUNDED = 1e-4
"""The tolerance of sums, which are stored with six decimals."""


def faults(text: str) -> Iterator[str]:
    """Yield the faults in the sections of a host. Sums that fade cannot be recomputed, but have bounds.

    A visit brings 0 to 1, and counts 0 to 1. At most `MOST_VISITS` are remembered. Factors are powers of two.
    """
    # Read the sections.
    try:
        sections = Sections.read(text)
    except ValueError as error:
        yield f"what was learned cannot be read ({error})"
        return
    # Sums must be within their bounds.
    leaves = list(sections.tree.leaves())
    for leaf in leaves:
        if not (-ROUNDED <= leaf.brought <= leaf.visits + ROUNDED and 0.0 <= leaf.mean <= 1.0):
            yield f"{leaf.visits} visits of {leaf.pattern!r} brought {leaf.brought}, and {leaf.mean} is expected"
    if (visits := sum(leaf.visits for leaf in leaves)) > MOST_VISITS + ROUNDED:
        yield f"{visits} visits are remembered, {MOST_VISITS} at most should be"
    # Factors must be powers of two.
    factors = [section.factor for section in sections.by_pattern.values()]
    factors += [factor for holding in sections.copies.rules.values() for factor, _ in holding.values()]
    for factor in factors:
        if not (LEAST <= factor <= 1.0 and math.log2(factor).is_integer()):
            yield f"a section counts by the factor {factor}"


def of_page(tx: Tx, page: Page, book: Book, *, counts: bool) -> PageSection:
    """Return the section of a page. `counts`: True if the order uses the factors of sections."""
    # The stored `echo` is from the page's first visit. Computed anew, a fetched page would be an echo of itself.
    echo = page.echo if page.first_fetched is not None else None
    section = book.of(tx, [page.host], fresh=True)[page.host].of(page.url, echo=echo)
    leaf = section.leaf
    return PageSection(leaf.pattern, leaf.mean, leaf.parent, leaf.brought, leaf.visits, section.factor, counts)
