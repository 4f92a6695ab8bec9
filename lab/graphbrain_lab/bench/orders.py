"""Orders of a crawl, simulated in memory on a recorded web: the sequence of fetched pages, and the pages known at each
moment.

A page is known once a page that links to it is fetched. The next page is the known page of the highest value, by the
links of the pages fetched so far. Values are computed anew after each percent of the pages (or when all known pages are
fetched), iterated from the last ones until a round changes less than `ROUND_CHANGE` of their sum. Of equal values the
page that was found first comes first. Memory: 40 bytes a link and 150 bytes a page.

Sources: breadth first, back-link count and PageRank of the known graph: Cho, Garcia-Molina, Page, "Efficient crawling
through URL ordering", WWW 1998, section 3; OPIC: Abiteboul, Preda, Cobena, WWW 2003, section 3; the omniscient order:
Baeza-Yates et al., "Crawling a country", WWW 2005, section 4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from graphbrain.base.numeric.arrays import Flags, Floats, Ints
from graphbrain.base.numeric.rules import DAMPING, SEED_FLOW
from graphbrain.base.urls.normalization import path_repeats
from graphbrain.brain.session import PASS_BATCH
from graphbrain.schedule import lanes, novelty
from graphbrain.scores.accounts import algebra

if TYPE_CHECKING:
    from graphbrain.base.numeric.methods import Factor
    from graphbrain_lab.recording import Recording

__all__ = ["BenchOrder", "BenchWeb", "Crawl", "crawled", "orders"]

STEPS = 100
"""The number of computations of values in a crawl."""
ROUND_CHANGE = 1e-3
EXACT = 1e-10
MOST_ROUNDS = 10_000
ALPHA = 0.15
REACH = (0.99, 0.85)
"""The shares that pages pass on in the order by reach."""


@dataclass(frozen=True)
class BenchWeb:
    """The part of a recorded web that is reached from some pages. Its pages are numbered anew.

    Attributes:
        pages: The recording's numbers, ascending.
        offsets: int64[n + 1].
        targets: The distinct links without self-links, by rows.
        seeds: The pages where the crawl begins.
        path_repeats: For each page, the steps of its path and the names of its arguments that occurred in it before.
        folders: A number for the folder of each page.
        listed: Pages that a sitemap names, in its order, before any is fetched.
    """

    pages: Ints
    offsets: Ints
    targets: np.ndarray
    seeds: Ints
    path_repeats: Floats
    folders: Ints
    listed: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @classmethod
    def of(cls, recording: Recording, seeds: Sequence[int]) -> BenchWeb:
        """Return the recording's pages that links reach from `seeds`, and these seeds, as a web."""
        # Number the reached pages, and their links.
        reached = recording.reachable(seeds)
        number = np.cumsum(reached) - 1
        sources, targets = recording.distinct
        kept = reached[sources]  # the targets of a reached page are reached
        counts = np.bincount(number[sources[kept]], minlength=int(reached.sum()))
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        ends = number[targets[kept]].astype(np.int32)
        # Compute the columns of pages.
        pages, begins = np.flatnonzero(reached), number[np.unique(np.asarray(seeds, dtype=np.int64))]
        urls = [recording.urls[page] for page in pages.tolist()]
        repeats = np.array([float(path_repeats(url)) for url in urls])
        return cls(pages, offsets, ends, begins, repeats, novelty.numbered(urls))

    def __len__(self) -> int:
        return len(self.pages)

    @property
    def links(self) -> int:
        """Return the number of links."""
        return len(self.targets)

    @property
    def out(self) -> Floats:
        """Return the number of links of each page."""
        return np.diff(self.offsets).astype(np.float64)

    def whole(self) -> Crawl:
        """Return the crawl that has fetched all pages."""
        crawl = Crawl(self)
        crawl.fetch(np.arange(len(self), dtype=np.int64))
        return crawl


class Crawl:
    """A crawl in progress: the fetched pages, their order, and the pages known by them."""

    def __init__(self, web: BenchWeb) -> None:
        # The state of each page: at first no page is fetched or known.
        size = len(web)
        self.web = web
        self.out = web.out
        self.fetched: Flags = np.zeros(size, dtype=bool)
        self.known: Flags = np.zeros(size, dtype=bool)
        self.found: Floats = np.full(size, np.inf)
        """The number of each page in the order in which pages became known."""
        self.seeds: Flags = np.zeros(size, dtype=bool)
        self.in_links: Floats = np.zeros(size)
        self.depth: Floats = np.full(size, np.inf)
        """Clicks from a seed, by the depths that pages had when they were fetched."""
        self.siblings_before: Floats = np.zeros(size)
        """For each page: the first page that linked to it named this number of new pages of its folder earlier."""
        # The links of fetched pages as compressed sparse rows, in the order of the fetches.
        self._order: Ints = np.zeros(size, dtype=np.int64)
        self._rows = np.zeros(size + 1, dtype=np.int32 if web.links < 2**31 else np.int64)
        self._ends = np.zeros(web.links, dtype=np.int32)
        self._ones = np.ones(web.links)
        self.count = self._links = self._found = 0
        # At first only the seeds and the pages of the sitemaps are known.
        self.seeds[web.seeds] = True
        self.depth[web.seeds] = 0.0
        self._meet(web.seeds, web.seeds)
        self._add_listed(web.listed)

    @property
    def order(self) -> Ints:
        """Return the pages in the order in which they were fetched."""
        return self._order[: self.count]

    def frontier(self) -> Ints:
        """Return the pages that are known and not fetched."""
        return np.flatnonzero(self.known & ~self.fetched)

    def fetch(self, pages: Ints) -> None:
        """Fetch pages in this order."""
        first, counts = self.web.offsets[pages], np.diff(self.web.offsets)[pages]
        ends = self.web.targets[_spans(first, counts)]
        here, there = self._links, self._links + len(ends)
        self._ends[here:there] = ends
        self._rows[self.count + 1 : self.count + 1 + len(pages)] = here + np.cumsum(counts)
        self._order[self.count : self.count + len(pages)] = pages
        self._links, self.count = there, self.count + len(pages)
        self.in_links += np.bincount(ends, minlength=len(self.web))
        np.minimum.at(self.depth, ends, np.repeat(self.depth[pages] + 1.0, counts))
        self.known[pages] = self.fetched[pages] = True
        self._meet(ends, np.repeat(pages, counts))

    def _meet(self, pages: np.ndarray, finders: np.ndarray) -> None:
        """Make these pages known, each by the first page that names it."""
        unknown = ~self.known[pages]
        new, first = np.unique(pages[unknown], return_index=True)
        order = np.argsort(first, kind="stable")
        new, brought = new[order], finders[unknown][first[order]]
        self.known[new] = True
        self.siblings_before[new] = novelty.siblings_before(brought, self.web.folders[new])
        self.found[new] = self._found + np.arange(len(new))
        self._found += len(new)

    def _add_listed(self, pages: Ints) -> None:
        """Make these pages known from the beginning: for each transaction of hints, the list is the finder."""
        fresh = pages[~self.known[pages]]
        self._meet(fresh, np.arange(len(fresh)) // PASS_BATCH)
        self.depth[fresh] = 1.0

    def along(self, values: Floats) -> Floats:
        """Return for each page the sum of `values` over the fetched pages that link to it. `values` are in the order of
        fetching."""
        return np.asarray(self._matrix().T @ values)

    def back(self, values: Floats) -> Floats:
        """Return for each fetched page, in the order of fetching, the sum of the values of its targets."""
        return np.asarray(self._matrix() @ values)

    def _matrix(self) -> Any:
        """Return the links of the fetched pages by rows, in the order of fetching."""
        from scipy.sparse import csr_array

        parts: Any = (self._ones[: self._links], self._ends[: self._links], self._rows[: self.count + 1])
        return csr_array(parts, shape=(self.count, len(self.web)))

    def since(self, count: int) -> tuple[Ints, np.ndarray]:
        """Return the pages that were fetched after the first `count`, and their links in a row."""
        return self._order[count : self.count], self._ends[self._rows[count] : self._links]


class Value(Protocol):
    """The value of pages for an order. Each crawl needs a separate instance."""

    def __call__(self, crawl: Crawl) -> Floats:
        """Return the value of each page by the known graph. The values of unknown pages are undefined."""


@dataclass
class Fixed:
    """Values that are known beforehand."""

    values: Floats

    def __call__(self, crawl: Crawl) -> Floats:  # noqa: ARG002
        return self.values


class First:
    """Breadth first: the page that was found first has the highest value."""

    def __call__(self, crawl: Crawl) -> Floats:
        return -crawl.found


class BackLinks:
    """The number of known links to a page."""

    def __call__(self, crawl: Crawl) -> Floats:
        return crawl.in_links


@dataclass
class PageRank:
    """PageRank of the known graph. A page that is not fetched, or has no links, gives its share to all known pages."""

    damping: float = DAMPING
    change: float = ROUND_CHANGE
    values: Floats | None = None

    def __call__(self, crawl: Crawl) -> Floats:
        known = crawl.known / crawl.known.sum()
        values = known if self.values is None else np.where((self.values == 0.0) & crawl.known, known, self.values)
        values = values / values.sum()
        rows = crawl.order
        share = self.damping * _over(crawl.out[rows])

        def round_of(before: Floats) -> Floats:
            after = crawl.along(before[rows] * share)
            return np.asarray(after + known * (1.0 - after.sum()))

        self.values = _settled(round_of, values, self.change)
        return self.values


@dataclass
class ForwardOrder:
    """A forward account of a brain that pushes pass on.

    A seed begins with `seed`, any other known page with `other`. A fetched page passes on the share `damping` of its
    amount. If only seeds begin with an amount, this is PageRank personalised to them. If all pages begin with the same
    amount, it is PageRank of the known graph, without the restart.
    """

    damping: float
    seed: float = 1.0
    other: float = 0.0
    values: Floats | None = None

    def __call__(self, crawl: Crawl) -> Floats:
        rows, paid = crawl.order, np.where(crawl.seeds, self.seed, self.other * crawl.known)
        share = self.damping * _over(crawl.out[rows])
        values = paid if self.values is None else np.maximum(self.values, paid)
        self.values = _settled(lambda before: paid + crawl.along(before[rows] * share), values, ROUND_CHANGE)
        return self.values


@dataclass
class OnePass:
    """OPIC of 2003, where each page spends once: a fetched page gives its amount to the pages it links to.

    `seed` and `first` are the first amounts of a seed and of any other page. `passed` is the share that a page passes
    on.
    """

    seed: float = 1.0
    first: float = 0.0
    passed: float = 1.0
    values: Floats | None = None
    spent: int = 0

    def __call__(self, crawl: Crawl) -> Floats:
        if self.values is None:
            self.values = np.where(crawl.seeds, self.seed, self.first)
        pages, ends = crawl.since(self.spent)
        if len(pages):
            counts = crawl.out[pages].astype(np.int64)
            each = np.repeat(self.passed * self.values[pages] * _over(crawl.out[pages]), counts)
            self.values = self.values + np.bincount(ends, each, len(self.values))
            self.spent = crawl.count
        return self.values


@dataclass
class Authority:
    """The authority score of the exact engine at its fixed point for the known links, relevance unknown."""

    alpha: float = ALPHA
    change: float = ROUND_CHANGE
    values: Floats | None = None

    def __call__(self, crawl: Crawl) -> Floats:
        rows, paid = crawl.order, crawl.known.astype(np.float64)
        values = paid if self.values is None else np.where((self.values == 0.0) & crawl.known, 1.0, self.values)
        out, unknown = crawl.out[rows], np.full(len(paid), np.nan)
        forward = algebra.keep_hub(out, self.alpha) * _over(out)
        backward = algebra.keep_authority(crawl.in_links, unknown, self.alpha) * _over(crawl.in_links)
        # Only fetched pages have links, so the hubs of others pass nothing on.
        self.values = _settled(
            lambda before: paid + crawl.along(forward * (1.0 + crawl.back(backward * before))), values, self.change
        )
        return self.values


@dataclass
class Blend:
    """The value of new pages in a brain whose setting `value` is a product of powers of scores. `reach` is the value of
    the setting `reach`."""

    factors: Mapping[str, Factor]
    reach: float = 0.0
    authority: Value = field(default_factory=Authority)
    flow: Value = field(init=False)
    live_pagerank: Value = field(default_factory=lambda: ForwardOrder(DAMPING, 1.0, 1.0))

    def __post_init__(self) -> None:
        once = OnePass(seed=SEED_FLOW, passed=1.0 - ALPHA)
        self.flow = ForwardOrder(self.reach, SEED_FLOW) if self.reach else once

    def __call__(self, crawl: Crawl) -> Floats:
        unnamed = np.ones(len(crawl.web))
        authority = self.authority(crawl) if "authority" in self.factors else unnamed
        flow = self.flow(crawl) if "flow" in self.factors else unnamed
        live_pagerank = self.live_pagerank(crawl) if "live_pagerank" in self.factors else unnamed
        known = lanes.PageColumns(
            crawl.in_links,
            crawl.depth,
            crawl.web.path_repeats,
            crawl.siblings_before,
            crawl.seeds,
            np.full(len(flow), np.nan),
            unnamed,
        )
        return lanes.blended(self.factors, authority, flow, live_pagerank, known)


@dataclass(frozen=True)
class BenchOrder:
    """An order and its name. `make` returns a value for one crawl. `in_lanes` returns the lane of each value; None: the
    exact values order the pages."""

    name: str
    make: Callable[[], Value]
    in_lanes: Callable[[Floats], Ints] | None = None


def orders(final: Floats, blends: Mapping[str, Mapping[str, Factor]], reach: float = 0.0) -> list[BenchOrder]:
    """Return the reference orders, and the orders of a brain: exact, and in its lanes.

    Args:
        final: The values of the omniscient order, which comes first.
        blends: Name → the factors of a value.
        reach: The brain's setting `reach`.
    """
    reference = [
        BenchOrder("omniscient", lambda: Fixed(final)),
        BenchOrder("breadth first", First),
        BenchOrder("back-link count", BackLinks),
        BenchOrder(f"PageRank, d {DAMPING:g}", PageRank),
        BenchOrder("OPIC of 2003", OnePass),
        *(BenchOrder(f"reach, d {d:g}", partial(ForwardOrder, d)) for d in REACH),
    ]
    live: list[BenchOrder] = []
    for name, factors in blends.items():
        make: Callable[[], Value] = partial(Blend, factors, reach)
        live += [BenchOrder(name, make), BenchOrder(f"{name}, in lanes", make, lanes.frontier_lane)]
    return [*reference, *live]


def crawled(
    web: BenchWeb,
    order: BenchOrder,
    progress: Callable[[int, int], None] = lambda *_: None,
    stop: Callable[[], bool] = lambda: False,
) -> Ints:
    """Return the pages of a web in the sequence in which this order fetches them, until `stop` returns True."""
    crawl, value = Crawl(web), order.make()
    step = max(1, round(len(web) / STEPS))
    while len(waiting := crawl.frontier()) and not stop():
        worth = value(crawl)[waiting]
        place = -worth if order.in_lanes is None else order.in_lanes(worth)
        crawl.fetch(waiting[np.lexsort((crawl.found[waiting], place))[:step]])
        progress(crawl.count, len(web))
    return crawl.order


def _spans(first: Ints, counts: Ints) -> Ints:
    """Return first[0], first[0] + 1, … (counts[0] of them), first[1], …"""
    begins = np.cumsum(counts) - counts
    return np.repeat(first - begins, counts) + np.arange(int(counts.sum()))


def _over(counts: Floats) -> Floats:
    """Return 1/x for each x, and 0 for an x of 0."""
    return np.divide(1.0, counts, out=np.zeros(len(counts)), where=counts > 0.0)


def _settled(round_of: Callable[[Floats], Floats], values: Floats, change: float) -> Floats:
    """Return the values after rounds. They end when one changes the values by at most the share `change` of their
    sum."""
    for _ in range(MOST_ROUNDS):
        before, values = values, round_of(values)
        if np.abs(values - before).sum() <= change * values.sum():
            break
    return values
