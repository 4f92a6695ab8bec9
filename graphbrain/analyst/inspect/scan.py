"""Pages and links that meet some criteria, in batches, so that memory stays bounded for any number of them.

A scan reads ranges of internal ids, which is the order of pages in the store. Each batch is read in a separate
transaction, which blocks no writer. It may or may not see what is written during the scan.
Statements: exports/last_id, pages/scan, pages/of_host, pages/best_*, pages/details, pages/get,
pages/path, pages/path_from_seed, links/degrees, links/spelt, links/best_*, links/ends_*, links/payments_*.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any, TypeVar

import numpy as np

from graphbrain.analyst.inspect import pages
from graphbrain.analyst.inspect.pages import View
from graphbrain.base.errors import BadInput, SettingsError, UnknownPage
from graphbrain.base.model import STATES, KnownLink, LinkedPage, Page, Payment, Payments
from graphbrain.base.numeric.methods import UNINDEXED
from graphbrain.base.numeric.rules import Rule
from graphbrain.base.options.pages import PageFilter
from graphbrain.base.urls.masking import masked
from graphbrain.base.urls.patterns import check, compiled, text_of
from graphbrain.content import input_checks
from graphbrain.graph.connection import Graph, Tx, bound, intact
from graphbrain.scores.accounts import algebra
from graphbrain.scores.accounts.algebra import NONE

__all__ = ["Progress", "Wanted", "check_score", "ends", "links", "path", "payments", "wanted_pages"]

T = TypeVar("T")
Progress = Callable[[int, int], None]

SCAN_IDS = 20_000
PAGES_AT_ONCE = 1_000
LINKS_AT_ONCE = 50_000
HOST_PAGES = 200_000
"""The number of pages of a host from which its index is not used, because an index read gives all pages at once."""
ALL = 2**31 - 1
SIDES = ("authority", "hub")
LARGEST = sys.float_info.max
SHOWN_OF_A_PAGE = ("url", "key", "state", "depth", "hub_history", "hub_cash", "authority_history", "authority_cash")


@dataclass(frozen=True, slots=True)
class Wanted:
    """Criteria of pages. A criterion that is None admits every page.

    Attributes:
        text: A part of the URL.
        regex: An expression that is found in the URL.
        by: The score that `least` is for: of a side, or a batch score.
        least: The least score.
    """

    text: str | None = None
    regex: re.Pattern[str] | None = None
    host: str | None = None
    state: str | None = None
    fetched: bool | None = None
    by: str = "authority"
    least: float | None = None

    @classmethod
    def of(
        cls,
        which: PageFilter,
        host: str | None,
        text: str = "",
        by: str = "authority",
        min_score: float | None = None,
    ) -> Wanted:
        """Return the criteria of a filter and of the further arguments of `find`.

        Args:
            which: The filter.
            host: Its host's name in the graph.
            text: A part of the URL.
            by: The score.
            min_score: The least score.

        Raises:
            BadInput: A criterion that no page can ever meet.
        """
        # Check each criterion.
        regex, state = which.regex, which.state
        if state is not None and state not in STATES:
            raise BadInput(f"There is no state {state!r}; there are {', '.join(STATES)}.")
        check_score(by)
        if not isinstance(text, str) or not input_checks.sendable(text):
            raise BadInput(f"text must be text that can be sent, not {text!r:.80}.")
        if min_score is not None and (not isinstance(min_score, int | float) or not abs(min_score) <= LARGEST):
            raise BadInput(f"min_score must be a finite number, not {min_score!r:.80}.")
        try:
            check("regex", text_of([regex or ""]))
        except SettingsError as error:
            raise BadInput(str(error)) from None
        pattern = None if regex is None else compiled("regex", regex)
        least = None if min_score is None else float(min_score)
        return cls(text or None, pattern, host, state, which.fetched, by, least)

    def rank(self) -> int | None:
        """Return the rank of the least score. None if pages with this score can be without a rank."""
        unranked = self.least is None or self.by in UNINDEXED
        rank = NONE if unranked else int(algebra.rank(np.array([self.least], dtype=np.float64))[0])
        return None if rank == NONE else rank

    def params(self) -> dict[str, Any]:
        """Return the parameters of every statement that selects pages. They are without `regex`, which is an expression
        of Python: `spelt` tests it."""
        return {"text": self.text, "host": self.host, "state": self.state, "fetched": self.fetched}

    def least_scores(self) -> dict[str, Any]:
        """Return the least score of each side, and of a batch score, as parameters of statements that use no index."""
        sides = {side: self.least if self.by == side else None for side in SIDES}
        name = self.by if self.by in UNINDEXED and self.least is not None else None
        return {**sides, "name": name, "score": None if name is None else self.least}

    def spelt(self, url: str) -> bool:
        return self.regex is None or self.regex.search(url) is not None

    def fits(self, page: Page) -> bool:
        """Return whether the page meets the criteria now. It may have changed since its id was read."""
        score = page.score(self.by)
        return (
            (self.text is None or self.text in page.url)
            and (self.host is None or page.host == self.host)
            and (self.state is None or page.state == self.state)
            and (self.fetched is None or (page.first_fetched is not None) == self.fetched)
            and (self.least is None or (score is not None and score >= self.least))
            and self.spelt(page.url)
        )


def check_score(by: str, *others: str) -> None:
    """Raise BadInput if `by` is neither the name of a score nor one of the `others`."""
    if by not in (*SIDES, *others, *UNINDEXED):
        names = (*SIDES, *others, *UNINDEXED[:-1])
        raise BadInput(f"A score is {', '.join(names)} or {UNINDEXED[-1]}, not {by!r:.80}.")


def wanted_pages(
    graph: Graph,
    wanted: Wanted,
    progress: Progress,
    at_once: int = PAGES_AT_ONCE,
    view: View | None = None,
    finish: Callable[[list[Page]], list[Page]] = list,
) -> Iterator[Page]:
    """Yield the wanted pages: the best first if their least score has a rank, else in the order of the store.

    Args:
        graph: The brain's graph.
        wanted: The criteria.
        progress: Called with the ids read and the ids in all.
        at_once: Pages of one read.
        view: Computes hub and authority if they are not stored on the pages. Then no statement can select by them.
        finish: Applied to the pages of each read that meet the criteria.
    """
    ranked = view is None and wanted.rank() is not None
    selected = wanted if view is None or wanted.by in UNINDEXED else replace(wanted, least=None)
    for ids in _best(graph, wanted) if ranked else _ids(graph, selected, progress):
        for some in _slices(ids, at_once):
            details = _read_each(graph, "pages/details", pages.page_of, ids=some)
            seen = details if view is None else map(view.page, details)
            yield from finish([page for page in seen if wanted.fits(page)])


def links(graph: Graph, wanted: Wanted, between_hosts: bool, progress: Progress) -> Iterator[KnownLink]:
    """Yield the links of the wanted pages; `between_hosts`: only those to another host."""
    for ids in _ids(graph, wanted, progress):
        degrees = graph.read(bound(Tx.one, "links/degrees", ids=ids), "links/degrees")[0]
        for some in _by_links(degrees):
            for link in _read_each(graph, "links/spelt", _known_links, ids=some, cross=between_hosts):
                yield from link


def _known_links(row: Sequence[Any]) -> list[KnownLink]:
    source_id, source, targets = row
    intact(source, *(target for _, target, *_ in targets))
    return [
        KnownLink(masked(source), masked(target), since, source_id, target_id, *_link_facts(*link_facts))
        for target_id, target, since, *link_facts in targets
    ]


def _link_facts(anchor: str | None, rel: str | None, named: Sequence[Any] | None) -> tuple[Any, ...]:
    """Return the alias that a page names, and the text and the rel of the link in its HTML."""
    return (None, anchor, rel) if named is None else (masked(named[0]), *named[1:])


def _ids(graph: Graph, wanted: Wanted, progress: Progress) -> Iterator[list[int]]:
    """Yield the ids of the wanted pages in ascending order."""
    # Read the pages of one host at once, unless there are too many.
    criteria = wanted.params() | wanted.least_scores()
    if wanted.host is not None:
        seen, rows = graph.anywhere.read(
            lambda tx: tx.one("pages/of_host", limit=HOST_PAGES, **criteria), "pages/of_host"
        )
        if seen < HOST_PAGES:
            yield sorted(page for page, url in rows if wanted.spelt(url))
            return
    # Otherwise scan all pages by ranges of ids.
    last_id = _read(graph, "exports/last_id")
    total = 0 if last_id is None else last_id + 1
    progress(0, total)
    for first in range(0, total, SCAN_IDS):
        last = min(first + SCAN_IDS, total) - 1
        rows = _read(graph, "pages/scan", first=first, last=last, **criteria)
        yield [page for page, url in rows if wanted.spelt(url)]
        progress(last + 1, total)


def _best(graph: Graph, wanted: Wanted) -> Iterator[list[int]]:
    """Yield the ids of the wanted pages, the best first."""
    name = "pages/best_hubs" if wanted.by == "hub" else "pages/best_authorities"
    yield _read(graph, name, rank=wanted.rank(), least=wanted.least, **wanted.params())


def _by_links(degrees: Iterable[tuple[int, int]]) -> Iterator[list[int]]:
    """Yield pages in groups with at most LINKS_AT_ONCE links. A page with more links is a group by itself."""
    some: list[int] = []
    total = 0
    for page, degree in degrees:
        if some and total + degree > LINKS_AT_ONCE:
            yield some
            some, total = [], 0
        if degree:
            some.append(page)
            total += degree
    if some:
        yield some


def ends(graph: Graph, key: str, way: str, limit: int | None, view: View | None = None) -> Iterator[LinkedPage]:
    """Yield the pages that a page links to (`way` "out") or that link to it ("in"), the best first.

    Targets are sorted by authority, sources by hub.
    """
    best, details = f"links/best_{way}", f"links/ends_{way}"
    ids = _read(graph, best, key=key, limit=ALL if limit is None else limit)
    for some in _slices(ids, PAGES_AT_ONCE):
        yield from _read_each(graph, details, partial(_linked, view), key=key, ids=some)


def path(graph: Graph, source: str | None, target: str, view: View | None = None) -> list[LinkedPage]:
    """Return a shortest path by links from one page (key; None: any seed) to another, both included; empty if there is
    none."""
    make = partial(_linked, view)
    if source == target:  # Neo4j's shortestPath refuses equal ends
        return graph.anywhere.read(
            lambda tx: [make((row[0], None)) for row in tx.many("pages/get", key=target)], "pages/get"
        )
    if source is None:
        return _read_each(graph, "pages/path_from_seed", make, target=target)
    return _read_each(graph, "pages/path", make, source=source, target=target)


def payments(graph: Graph, key: str, n: int, intra_host_weight: float) -> Payments:
    """Return the `n` largest payers and payees of a page's two sides. Raise UnknownPage."""

    def work(tx: Tx) -> Payments:
        page = pages.page(tx, key, Rule())
        if page is None:
            raise UnknownPage
        sides = []
        for way, total in (("out", page.hub_score), ("in", page.authority_score)):
            payers, payees = tx.one(f"links/payments_{way}", key=key, limit=n, intra=intra_host_weight)
            intact(*chain.from_iterable((*payers, *payees)))
            sides.append([_payment(url, other, cash, total) for url, other, cash, _ in payers])
            sides.append([_payment(*payee) for payee in payees])
        return Payments(*map(tuple, sides))

    return graph.anywhere.read(work, "links/payments")


def _payment(url: str, key: str, cash: float, score: float) -> Payment:
    return Payment(masked(url), key, cash, cash / score if score > 0 else None)


def _linked(view: View | None, row: Sequence[Any]) -> LinkedPage:
    data, since, *link_facts = row
    intact(*map(data.get, SHOWN_OF_A_PAGE))
    hub = data["hub_history"], data["hub_cash"]
    authority = data["authority_history"], data["authority_cash"]
    return LinkedPage(
        url=masked(data["url"]),
        key=data["key"],
        state=data["state"],
        depth=data["depth"],
        hub_score=sum(hub) if view is None else view.hub(*hub),
        authority_score=sum(authority) if view is None else view.authority(*authority),
        since=since,
        **(dict(zip(("named", "anchor", "rel"), _link_facts(*link_facts), strict=True)) if link_facts else {}),
    )


def _read(graph: Graph, name: str, /, **params: Any) -> Any:
    """Return the only column of the only row of a statement, read in a separate transaction."""
    return graph.anywhere.read(lambda tx: tx.one(name, **params)[0], name)


def _read_each(graph: Graph, name: str, make: Callable[[Sequence[Any]], T], /, **params: Any) -> list[T]:
    """Apply `make` to each item of the only column of the only row. `make` may raise Again."""
    return graph.anywhere.read(lambda tx: [make(item) for item in tx.one(name, **params)[0]], name)


def _slices(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    return (items[start : start + size] for start in range(0, len(items), size))
