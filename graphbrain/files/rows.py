"""The pages of a harvest as rows of properties, with the values that they would have after live reports.

Only the cash differs, because reports spend some of it. Here all accounts are at their fixed point, which is found in
memory before anything is written: H = s, Z = keep·s/d and e = 0. Without settling, nothing has been spent: H = 1 and e
= Z = 0, which keeps the invariant with any links. Weights, depths, ranks, lanes and priorities follow by the functions
that live reports use. Seeds are the pages where a crawl would begin: the pages without in-links and, of each part that
these do not reach, its first page.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from graphbrain.base.model import SCOPE
from graphbrain.base.numeric import csr
from graphbrain.base.numeric.arrays import Flags, Floats, Ints, Numbers
from graphbrain.base.numeric.rules import Forward, Rule
from graphbrain.base.urls.normalization import Rules, host_of, name_of, path_repeats, surplus
from graphbrain.content.scope import Scope
from graphbrain.files.harvest import Harvest
from graphbrain.frontier.hosts.state import SHARED_QUEUE
from graphbrain.frontier.policy import Policy
from graphbrain.schedule import lanes, novelty
from graphbrain.schedule.value import DAY
from graphbrain.scores.accounts import algebra, solve
from graphbrain.scores.accounts.algebra import NONE
from graphbrain.scores.accounts.solve import FixedPoint, System

__all__ = ["COLUMNS", "Bulk", "depths", "starts"]

BLOCK_LINKS = 1 << 20
FORWARD_ROUNDS, FORWARD_CHANGE = 100, 1e-3
"""The largest number of rounds in which forward accounts are passed on, and the relative change of the last round."""
NO_DETAILS = (None, None, None)
"""Body hash, ETag and Last-Modified of a page without these."""

COLUMNS: tuple[tuple[str, str], ...] = (
    ("key", "string"),
    ("url", "string"),
    ("host", "string"),
    ("name", "string"),
    ("depth", "long"),
    ("is_seed", "boolean"),
    ("state", "string"),
    ("queue", "string"),
    ("lane", "long"),
    ("waiting_since", "double"),
    ("discovered", "double"),
    ("relevance", "double"),
    ("out_weight", "double"),
    ("in_weight", "double"),
    ("hub_priority", "long"),
    ("authority_priority", "long"),
    ("hub_rank", "long"),
    ("authority_rank", "long"),
    ("hub_history", "double"),
    ("hub_cash", "double"),
    ("hub_paid", "double"),
    ("authority_history", "double"),
    ("authority_cash", "double"),
    ("authority_paid", "double"),
    ("status", "long"),
    ("fetched", "double"),
    ("visits", "long"),
    ("first_fetched", "double"),
    ("changed", "double"),
    ("last_lease", "string"),
    ("last_outcome", "string"),
    ("body_hash", "string"),
    ("etag", "string"),
    ("last_modified", "string"),
    ("outside_because", "string"),
    ("url_surplus", "long"),
    ("value", "double"),
    ("flow", "double"),
    ("flow_paid", "double"),
    ("path_repeats", "long"),
    ("siblings_before", "long"),
    ("flow_priority", "long"),
    ("live_pagerank", "double"),
    ("live_pagerank_paid", "double"),
    ("live_pagerank_priority", "long"),
    ("url_weight", "double"),
)
"""Name and type of each property of a page, in the order of its row."""


def starts(offsets: Ints, targets: Numbers, reached: Flags) -> list[int]:
    """Return the fewest pages from which links lead to every page outside `reached`, ascending.

    All pages that a page of `reached` links to are in `reached`, too. The result has the pages without in-links, and
    the first page of each other strongly connected part that no other part links to.
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    # Begin with the pages without in-links. The pages that these do not reach are in cycles of links, or behind cycles.
    size = len(offsets) - 1
    has_in_links = np.zeros(size, bool)
    has_in_links[targets] = True
    first = np.flatnonzero(~has_in_links & ~reached)
    cyclic = np.flatnonzero(~(reached | (depths(offsets, targets, first) >= 0)))
    if not len(cyclic):
        return first.tolist()
    # Collect the links between the pages that are not reached. No other page links to them.
    position = np.full(size, -1, np.int32)
    position[cyclic] = np.arange(len(cyclic), dtype=np.int32)
    inner = np.empty(int((offsets[cyclic + 1] - offsets[cyclic]).sum()), np.int32)
    degrees, filled = np.zeros(len(cyclic) + 1, np.int64), 0
    for sources, ends in _inner_links(offsets, targets, cyclic, position):
        inner[filled : filled + len(ends)] = ends
        degrees[1:] += np.bincount(sources, minlength=len(cyclic))
        filled += len(ends)
    # Find their strongly connected parts. scipy ignores the values of the matrix. Zeros of the type that scipy uses
    # need no copy, and take no memory. Links must be distinct, as they are here: scipy's search does not end on a
    # matrix of floats that has a link twice in a row.
    rows = (np.zeros(filled), inner[:filled], csr.narrow(np.cumsum(degrees)))
    parts, part = connected_components(csr_matrix(rows, shape=(len(cyclic), len(cyclic))), connection="strong")
    # Take the first page of each part that no other part links to.
    unlinked = np.ones(parts, bool)
    for sources, ends in _inner_links(offsets, targets, cyclic, position):
        unlinked[part[ends[part[sources] != part[ends]]]] = False
    lowest = np.full(parts, len(cyclic), np.int64)
    np.minimum.at(lowest, part, np.arange(len(cyclic)))
    return sorted([*first.tolist(), *cyclic[lowest[unlinked]].tolist()])


def depths(offsets: Ints, targets: Numbers, roots: Sequence[int] | Ints) -> npt.NDArray[np.int32]:
    """Return the least number of clicks from the pages `roots` to each page; −1 for a page that they do not lead to."""
    depth = np.full(len(offsets) - 1, -1, np.int32)
    level = np.unique(np.asarray(roots, np.int64))
    clicks = 0
    while len(level):
        depth[level] = clicks
        clicks += 1
        unseen = [np.unique(ends[depth[ends] < 0]) for _, ends in _links_of(offsets, targets, level)]
        level = np.unique(np.concatenate(unseen)) if unseen else level[:0]
    return depth


def _links_of(offsets: Ints, targets: Numbers, pages: Ints) -> Iterator[tuple[Ints, Numbers]]:
    """Yield sources and targets of the links of these pages, for some pages at a time."""
    counts = offsets[pages + 1] - offsets[pages]
    blocks = np.cumsum(counts) // BLOCK_LINKS
    for part, many in zip(*(np.split(a, np.flatnonzero(np.diff(blocks)) + 1) for a in (pages, counts)), strict=True):
        before = np.concatenate([[0], np.cumsum(many)[:-1]])
        at = np.repeat(offsets[part] - before, many) + np.arange(int(many.sum()))
        yield np.repeat(part, many), targets[at]


def _inner_links(offsets: Ints, targets: Numbers, pages: Ints, position: Numbers) -> Iterator[tuple[Numbers, Numbers]]:
    """Yield sources and targets of the links between these pages, as places in `pages`, for some pages at a time."""
    for sources, ends in _links_of(offsets, targets, pages):
        inner = position[ends] >= 0
        yield position[sources[inner]], position[ends[inner]]


@dataclass(frozen=True)
class ImportRun:
    """The values that all rows of an import share: its time in epoch seconds, and the token of its visits."""

    now: float
    token: str


@dataclass(frozen=True)
class _Forward:
    """A forward account of all pages.

    Attributes:
        written: The amount to write to each page; nan for none.
        has: The amount that each page has received.
        paid: The amount paid for each unit of link weight; nan if nothing was paid.
        priority: The priority of a push of each page.
    """

    written: Floats
    has: Floats
    paid: Floats
    priority: Ints

    def columns(self, part: slice) -> list[Sequence[Any]]:
        """Return the columns of these pages, in the form of `Bulk.columns`."""
        return [_or_unknown(self.written[part]), _or_unknown(self.paid[part]), _or_none(self.priority[part])]


class Bulk:
    """A harvest with all values that follow from it under a brain's policy, and its rows.

    Args:
        harvest: The pages and links.
        policy: The brain's policy.
        run: Time and token of the import.
        rules: The brain's URL rules.
        seeds: Page numbers. None: those that `starts` returns. The depth of a page that the given seeds do not reach is
            counted from the pages that `starts` adds, which are then no seeds.
        tolerance: The tolerance of the scores with which the accounts begin, as of `System.solve`. None: nothing is
            spent.
        progress: Called with the number of rounds of the solution.
    """

    def __init__(
        self,
        harvest: Harvest,
        policy: Policy,
        run: ImportRun,
        rules: Rules,
        seeds: Sequence[int] | None = None,
        *,
        tolerance: float | None = None,
        progress: Callable[[int], None] = lambda _: None,
    ) -> None:
        self.harvest, self.run, self._key = harvest, run, rules.key
        # Hosts, seeds and depths follow from the links.
        self.hosts, self.host = _hosts(harvest.urls)
        given = [] if seeds is None else list(seeds)
        reached = depths(harvest.offsets, harvest.targets, given) >= 0
        roots = starts(harvest.offsets, harvest.targets, reached)
        self.seeds = frozenset(roots if seeds is None else given)
        self.depth = depths(harvest.offsets, harvest.targets, [*given, *roots])
        self._depth = self.depth.astype(np.float64)
        self.out_weight, self.in_weight = _weights(harvest, self.host, policy.rule.intra_host_weight)
        self._columns = self._knowledge()
        self._inside = self._in_scope(policy.scope)
        self._weight = np.array([policy.rule.weights.product(url) for url in harvest.urls], dtype=np.float64)
        # Compute the accounts, and the amounts of forward accounts.
        self.accounts = (
            _unspent(harvest.pages)
            if tolerance is None
            else _settled(harvest, self.host, policy.rule, tolerance, progress)
        )
        self._forwards = {
            forward.name: self._first_forward(forward, policy.rule, tolerance is not None)
            for forward in policy.rule.forwards
        }
        # Lanes, marks and queues follow from the accounts.
        self._value = self._first_value(policy.rule)
        if policy.rule.value == "own" and harvest.values:
            self._value[list(harvest.values)] = list(harvest.values.values())
        self._mark(policy)
        self._schedule(policy)
        self.frontier = 0
        """The number of pages that wait to be fetched, among the rows that `columns` has returned so far."""

    def _first_forward(self, forward: Forward, rule: Rule, spent: bool) -> _Forward:
        """Return a forward account as it is after the import. `spent`: pages with links have passed their amounts
        on."""
        size, first = self.harvest.pages, forward.first(self._columns.is_seed)
        spent &= forward.kept
        passes = (self.out_weight > 0.0) & (spent or forward.pushed)
        has, paid = self._passed_on(forward, rule, first) if spent else (first, np.zeros(size))
        priority = np.full(size, NONE)
        if forward.pushed:
            payouts = np.where(passes, forward.share * has, 0.0)
            priority = algebra.forward_priority(payouts, self.out_weight, paid, forward.eps)
        unwritten = has == forward.other if forward.other == 0.0 or not forward.kept else np.zeros(size, dtype=bool)
        is_paid = passes if spent or forward.by_reading else np.zeros(size, dtype=bool)
        return _Forward(np.where(unwritten, np.nan, has), has, np.where(is_paid, paid, np.nan), priority)

    def _passed_on(self, forward: Forward, rule: Rule, first: Floats) -> tuple[Floats, Floats]:
        """Return the amount of each page, and the amount for each unit of its link weight.

        The amounts are those of a crawl in which all pages with links pass on their amounts again and again. The amount
        of a page is exactly its first amount and what its in-links have paid.
        """
        harvest, size = self.harvest, self.harvest.pages
        spends, has = self.out_weight > 0.0, first
        for _ in range(FORWARD_ROUNDS):
            paid = np.divide(forward.share * has, self.out_weight, out=np.zeros(size), where=spends)
            before, has = has, first.copy()
            for sources, ends in _links_of(harvest.offsets, harvest.targets, np.arange(size)):
                inside = self.host[sources] == self.host[ends]
                weight = np.where(inside, rule.intra_host_weight, 1.0)
                has += np.bincount(ends, weight * paid[sources], minlength=size)
            if np.abs(has - before).sum() <= FORWARD_CHANGE * has.sum():
                break
        return has, paid

    def _first_value(self, rule: Rule) -> Floats:
        """Return the values by which the order sorts pages, before their relevance counts."""
        accounts, harvest = self.accounts, self.harvest
        score = accounts.hub if rule.value == "hub" else accounts.authority
        if rule.blend is None:
            return lanes.first_value(rule, score, self._columns)
        flow, live_pagerank = (self._forwards[forward.name].has for forward in rule.forwards)
        return np.where(harvest.fetched, score, lanes.blended(rule.blend, score, flow, live_pagerank, self._columns))

    def _knowledge(self) -> lanes.PageColumns:
        """Return the columns that the order uses in addition to the accounts."""
        repeats = np.array([float(path_repeats(url)) for url in self.harvest.urls])
        is_seed = np.zeros(self.harvest.pages, dtype=bool)
        is_seed[list(self.seeds)] = True
        before = np.where(is_seed, 0.0, self._siblings_before())
        return lanes.PageColumns(
            self.in_weight, self._depth, repeats, before, is_seed, self.harvest.relevance, np.ones(self.harvest.pages)
        )

    def _siblings_before(self) -> Floats:
        """Return `siblings_before` of each page, as if the first page in the harvest that links to it had discovered
        it."""
        # Find for each page the first link to it.
        harvest, size = self.harvest, self.harvest.pages
        finder, position = np.full(size, -1, dtype=np.int64), np.zeros(size, dtype=np.int64)
        done = 0
        for sources, ends in _links_of(harvest.offsets, harvest.targets, np.arange(size)):
            pages, first = np.unique(ends, return_index=True)
            new = finder[pages] < 0
            finder[pages[new]], position[pages[new]] = sources[first[new]], done + first[new]
            done += len(ends)
        # Count the siblings in the order of discovery.
        discovered = np.flatnonzero(finder >= 0)
        discovered = discovered[np.argsort(position[discovered])]
        before = np.zeros(size)
        before[discovered] = novelty.siblings_before(finder[discovered], novelty.numbered(harvest.urls)[discovered])
        return before

    def _in_scope(self, scope: Scope) -> Flags:
        if scope.boundless:
            return np.ones(self.harvest.pages, bool)
        places = zip(self.harvest.urls, self.host.tolist(), self.depth.tolist(), strict=True)
        return np.array([scope.holds(url, self.hosts[host], depth) for url, host, depth in places], bool)

    def _mark(self, policy: Policy) -> None:
        """Set priorities, ranks and first lanes, in the form of `exact_ledger.AccountMarks`."""
        # Priorities follow from the cash that waits, ranks from the scores.
        rule, accounts, relevance = policy.rule, self.accounts, self.harvest.relevance
        keep = algebra.keep_hub(self.out_weight, rule.alpha)
        hub = algebra.residual(keep, accounts.hub, self.out_weight, accounts.hub_paid)
        keep = algebra.keep_authority(self.in_weight, relevance, rule.alpha)
        authority = algebra.residual(keep, accounts.authority, self.in_weight, accounts.authority_paid)
        self.hub_priority = algebra.priority(hub, self.out_weight, rule.eps)
        self.authority_priority = algebra.priority(authority, self.in_weight, rule.eps)
        self.hub_rank, self.authority_rank = algebra.rank(accounts.hub), algebra.rank(accounts.authority)
        # A fetched page that does not wait again keeps its last lane, from before its relevance was known.
        fetched = self.harvest.fetched
        guessed = relevance if rule.revisits else np.where(fetched, np.nan, relevance)
        new = np.zeros(self.harvest.pages, bool)
        self.lane = lanes.lane_of(rule, self._value, guessed, self._weight, self._depth, new)

    def _schedule(self, policy: Policy) -> None:
        """Set the lanes of fetched pages, and the time since which pages wait: in a lane, or for the end of an
        interval."""
        harvest, rule, schedule = self.harvest, policy.rule, policy.schedule
        is_page = harvest.fetched & self._inside
        self.fetched_at = np.where(harvest.fetched, np.where(np.isnan(harvest.at), self.run.now, harvest.at), np.nan)
        # Find the revisit intervals of pages and of patterns of URLs.
        days = np.full(harvest.pages, np.nan)
        if schedule.intervals:
            intervals = [schedule.interval_of(harvest.urls[page]) for page in np.flatnonzero(is_page).tolist()]
            days[is_page] = [np.nan if each is None else each for each in intervals]
        fixed = ~np.isnan(days)
        # Unfetched pages inside the scope wait. Fetched ones wait if the order has revisits.
        self._waits = ~harvest.fetched & self._inside
        self.since = np.full(harvest.pages, self.run.now)
        if rule.revisits:
            value = lanes.weighed(rule, self._value, harvest.relevance, self._weight)
            belief = schedule.first_belief([self.hosts[number] for number in self.host.tolist()], value)
            self.lane = np.where(is_page, lanes.revisit_lane(value, *belief), self.lane)
            self._waits |= is_page
            self.since[is_page] = self.fetched_at[is_page]
        # A page with an interval waits for its end, whatever its value.
        self.lane[fixed] = lanes.ASKED
        self._waits |= fixed
        self.since[fixed] = self.fetched_at[fixed] + days[fixed] * DAY

    def outside(self) -> int:
        """Return the number of pages out of the scope."""
        return int((~self._inside).sum())

    def rows(self, start: int, stop: int) -> list[list[Any]]:
        """Return the rows of the pages from `start` to before `stop`, in the order of COLUMNS. A missing property is
        None."""
        return [list(row) for row in zip(*self.columns(start, stop), strict=True)]

    def _details(self, start: int, is_fetched: Sequence[bool]) -> list[Sequence[Any]]:
        """Return the details of the fetched pages from `start` on. Few pages have any, so they are a dictionary."""
        details = self.harvest.details
        return [details.get(page, NO_DETAILS) if was else NO_DETAILS for page, was in enumerate(is_fetched, start)]

    def columns(self, start: int, stop: int) -> list[Sequence[Any]]:
        """Return the values of `rows`, column by column."""
        # Read the data that several columns need.
        harvest, accounts, now = self.harvest, self.accounts, self.run.now
        part = slice(start, min(stop, harvest.pages))
        urls, at = harvest.urls[part], self.fetched_at[part]
        inside, fetched = self._inside[part], ~np.isnan(at)
        self.frontier += int((inside & ~fetched).sum())
        is_fetched, when = fetched.tolist(), _or_unknown(at)
        details = self._details(start, is_fetched)

        # Most properties of a visit are the same for all fetched pages.
        def all_(value: Any) -> list[Any]:
            return [value] * len(urls)

        def of_fetched(value: Any) -> list[Any]:
            return [value if was else None for was in is_fetched]

        return [  # in the order of COLUMNS
            [self._key(url) for url in urls],
            urls,
            [self.hosts[number] for number in self.host[part].tolist()],
            [name_of(url) for url in urls],
            self.depth[part].tolist(),
            [True if page in self.seeds else None for page in range(part.start, part.stop)],
            np.where(inside, np.where(fetched, "known", "frontier"), "outside").tolist(),
            [SHARED_QUEUE if waits else None for waits in self._waits[part].tolist()],
            _or_none(self.lane[part]),
            self.since[part].tolist(),
            all_(now),
            _or_unknown(harvest.relevance[part]),
            self.out_weight[part].tolist(),
            self.in_weight[part].tolist(),
            _or_none(self.hub_priority[part]),
            _or_none(self.authority_priority[part]),
            _or_none(self.hub_rank[part]),
            _or_none(self.authority_rank[part]),
            accounts.hub[part].tolist(),
            all_(0.0),
            accounts.hub_paid[part].tolist(),
            accounts.authority[part].tolist(),
            all_(0.0),
            accounts.authority_paid[part].tolist(),
            [status if was else None for status, was in zip(harvest.status[part].tolist(), is_fetched, strict=True)],
            when,
            of_fetched(1),
            when,
            when,
            of_fetched(self.run.token),
            of_fetched("new"),
            *([each[column] for each in details] for column in range(len(NO_DETAILS))),
            [None if is_inside else SCOPE for is_inside in inside.tolist()],
            [surplus(url) or None for url in urls],
            [harvest.values.get(page) for page in range(part.start, part.stop)],
            *self._forwards["flow"].columns(part)[:2],
            [int(repeats) or None for repeats in self._columns.path_repeats[part].tolist()],
            [int(before) or None for before in self._columns.siblings_before[part].tolist()],
            self._forwards["flow"].columns(part)[2],
            *self._forwards["live_pagerank"].columns(part),
            [None if weight == 1.0 else weight for weight in self._weight[part].tolist()],
        ]


def _unspent(pages: int) -> FixedPoint:
    """Return accounts of which nothing was spent. They have the form of a fixed point, but are none."""
    return FixedPoint(np.ones(pages), np.ones(pages), np.zeros(pages), np.zeros(pages), 0, math.inf)


def _settled(
    harvest: Harvest, host: Numbers, rule: Rule, tolerance: float, progress: Callable[[int], None]
) -> FixedPoint:
    """Return the accounts at their fixed point."""
    system = System.of(
        harvest.offsets,
        harvest.targets,
        alpha=rule.alpha,
        relevance=harvest.relevance,
        payout=np.ones(harvest.pages),
        weights=solve.link_weights(harvest.offsets, harvest.targets, host, rule.intra_host_weight),
    )
    return system.solve(tolerance=tolerance, progress=lambda rounds, _: progress(rounds))


def _hosts(urls: Sequence[str]) -> tuple[list[str], Numbers]:
    """Return the hosts, and for each page the place of its host in them."""
    numbers: dict[str, int] = {}
    host = np.empty(len(urls), np.int32)
    for page, url in enumerate(urls):
        host[page] = numbers.setdefault(host_of(url), len(numbers))
    return list(numbers), host


def _weights(harvest: Harvest, host: Numbers, intra: float) -> tuple[Floats, Floats]:
    """Return the sums of the weights of each page's out-links and in-links."""
    size = harvest.pages
    out = np.diff(harvest.offsets).astype(np.float64)
    into = np.zeros(size)
    for start in range(0, harvest.links, BLOCK_LINKS):
        into += np.bincount(harvest.targets[start : start + BLOCK_LINKS], minlength=size)
    if intra != 1.0:
        for sources, ends in _links_of(harvest.offsets, harvest.targets, np.arange(size)):
            inside = host[sources] == host[ends]
            out -= (1.0 - intra) * np.bincount(sources[inside], minlength=size)
            into -= (1.0 - intra) * np.bincount(ends[inside], minlength=size)
    return out, into


def _or_none(values: Ints) -> list[int | None]:
    return [None if value == NONE else value for value in values.tolist()]


def _or_unknown(values: Floats) -> list[float | None]:
    return [None if value != value else value for value in values.tolist()]
