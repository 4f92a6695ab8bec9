"""Discovery: creates one (:Page) node for each new URL, lowers depths, and marks pages for upkeep.

A page is created with the first account of its engine. A transaction that creates pages also locks and writes their
accounts. The depth of a page is the least number of clicks from a seed: it is lowered when a shorter path is found, and
never raised. The pages that it links to get their new depths later, in small steps (`deepen`). Statements: pages/*,
links/led_to.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple

import numpy as np

from graphbrain.base.model import ROBOTS
from graphbrain.base.numeric.rules import SEED_FLOW, Rule
from graphbrain.base.urls.normalization import folder, host_of, name_of, path_repeats, surplus
from graphbrain.content.scope import Scope
from graphbrain.frontier.hosts import health
from graphbrain.frontier.hosts.state import SHARED_QUEUE
from graphbrain.graph.connection import Tx, intact
from graphbrain.schedule import lanes
from graphbrain.schedule.lanes import PageColumns
from graphbrain.scores.accounts import algebra, ledgers
from graphbrain.scores.accounts.ledgers import Accounts

__all__ = [
    "Last",
    "Looked",
    "Made",
    "New",
    "create",
    "find",
    "goals",
    "hurry",
    "look",
    "look_again",
    "lower",
    "sibling_counter",
]


APART = 1e-6
"""Seconds by which a page waits longer than the next page that the same transaction creates. Floats of today's times
can represent it."""


@dataclass(slots=True)
class New:
    """A page that may have to be created."""

    key: str
    url: str
    depth: int
    is_seed: bool = False
    relevance: float | None = None
    in_weight: float = 0.0
    """The weight of the links that the same transaction will write to it, so that the page is written once."""
    siblings_before: int = 0
    """The number of new pages of its folder that the same page, or the same list of hints, names before it."""
    harvest: float = 1.0
    """The factor of its section."""


@dataclass(frozen=True, slots=True)
class Made:
    """Pages that were created: key → internal id, and the number of them that wait for their first visit."""

    ids: dict[str, int]
    waiting: int


class Looked(NamedTuple):
    """A page that exists. `unsure`: the reason why it may take a better address; None for no reason."""

    key: str
    page: int
    out_weight: float
    is_alias: bool
    is_parked: bool
    unsure: str | None


Last = tuple[int, str | None, str | None]
"""The last visit of a page: (depth of the page, token of the visit, outcome)."""


def find(tx: Tx, keys: Iterable[str]) -> dict[str, int]:
    """Return key → internal id of the pages with these keys. Unknown keys are missing."""
    return {each.key: each.page for each in look(tx, keys)[0]}


def look(tx: Tx, keys: Iterable[str], visited: Iterable[str] = ()) -> tuple[list[Looked], dict[int, Last]]:
    """Return the pages with these keys that exist, and id → last visit of the `visited` ones.

    Raises Again if another transaction is deleting one of them.
    """
    wanted = sorted(set(keys))
    rows, last = tx.one("pages/find", keys=wanted, visited=sorted(set(visited))) if wanted else ([], [])
    looked = [Looked(*row) for row in rows]
    intact(*(fact for each in looked for fact in (each.out_weight, each.is_alias)), *(depth for _, depth, *_ in last))
    return looked, {page: (depth, token, outcome) for page, depth, token, outcome in last}


def goals(tx: Tx, ids: Mapping[str, int], aliases: Collection[str]) -> dict[str, int]:
    """Return key → id of the page at which links to each page end: the page itself, or the target of an alias.
    `aliases`: the keys of the aliases."""
    if not aliases:
        return dict(ids)
    led = dict(tx.one("links/led_to", ids=sorted(ids[key] for key in aliases))[0])
    return {key: led.get(page, page) for key, page in ids.items()}


def sibling_counter() -> Callable[[str], int]:
    """Return a counter for the new pages that one page names. The caller passes the URL of each new page in order; the
    counter returns how many earlier URLs had the same folder."""
    counters: defaultdict[str, Iterator[int]] = defaultdict(count)
    return lambda url: next(counters[folder(url)])


def look_again(tx: Tx, ids: Iterable[int], at: float | None) -> None:
    """Mark locked pages, so that upkeep checks their in-links at that time; None removes the mark. An alias may have
    in-links that must move, or a page may have lost its last in-link."""
    if wanted := sorted(ids):
        tx.do("pages/look_again", ids=wanted, at=at)


def hurry(tx: Tx, ids: Iterable[int], now: float, *, gone: bool = False) -> set[int]:
    """Queue locked pages that were parked after failures, and with `gone` also pages that are gone. Return the queued
    pages.

    A parked page is queued so once in each of its waits, and a gone page once in three days.
    """
    wanted = sorted(set(ids))
    if not wanted:
        return set()
    return set(tx.one("pages/hurry", ids=wanted, now=now, gone=gone, gone_wait=health.FIRST_LOOK)[0])


def create(tx: Tx, pages: Iterable[New], scope: Scope, rule: Rule, now: float, mark: str | None = None) -> Made:
    """Create pages and their hosts. Pages that were forgotten for ever are not created.

    Of pages of equal value, the first ones in `pages` are claimed first, as links at the top of a page are. `mark`: a
    token that the pages store as the token of their last lease, so that their creator can be recognised later.
    """
    # Of pages of equal value, the first ones wait a moment longer.
    in_order = list(pages)
    since = {page.key: now - APART * position for position, page in enumerate(reversed(in_order))}
    wanted = sorted(in_order, key=lambda page: page.key)
    if not wanted:
        return Made({}, 0)
    # Compute first payouts, values and lanes of all pages at once.
    kind, hosts, page_columns = ledgers.of(rule), [host_of(page.url) for page in wanted], _columns_of(wanted)
    unfetched = np.zeros(len(wanted), dtype=bool)
    payouts = algebra.payout(rule, page_columns.relevance, unfetched, page_columns.is_seed, hosts)
    value = lanes.first_value(rule, payouts if kind.keeps_payouts else np.ones(len(wanted)), page_columns)
    weight = np.array([rule.weights.product(page.url) for page in wanted])
    lane = lanes.lane_of(rule, value, page_columns.relevance, weight, page_columns.depth, unfetched)
    columns = (hosts, payouts.tolist(), page_columns.path_repeats.tolist(), lane.tolist(), weight.tolist())
    first_live_pagerank = rule.live_pagerank.other if rule.live_pagerank.kept else None
    # Create the pages, in the order of keys.
    rows = [
        [
            page.key,
            page.url,
            host,
            name_of(page.url),
            page.depth,
            page.is_seed,
            "frontier" if scope.holds(page.url, host, page.depth) else "outside",
            lane,
            page.relevance,
            page.in_weight,
            None if payout == 1.0 else payout,
            payout if kind.keeps_payouts else 0.0,
            surplus(page.url) or None,
            since[page.key],
            int(repeated) or None,
            SEED_FLOW if page.is_seed else None,
            page.siblings_before or None,
            first_live_pagerank,
            None if page.harvest == 1.0 else page.harvest,
            None if factor == 1.0 else factor,
        ]
        for page, host, payout, repeated, lane, factor in zip(wanted, *columns, strict=True)
    ]
    created = dict(
        tx.one("pages/create", rows=rows, hosts=sorted(set(hosts)), account=kind.first, mark=mark, now=now)[0]
    )
    return Made(created, sum(row[0] in created and row[6] == "frontier" for row in rows))


def _columns_of(pages: Sequence[New]) -> PageColumns:
    return PageColumns(
        in_weight=np.array([page.in_weight for page in pages]),
        depth=np.array([float(page.depth) for page in pages]),
        path_repeats=np.array([float(path_repeats(page.url)) for page in pages]),
        siblings_before=np.array([float(page.siblings_before) for page in pages]),
        is_seed=np.array([page.is_seed for page in pages]),
        relevance=np.array([np.nan if page.relevance is None else page.relevance for page in pages]),
        harvest=np.array([page.harvest for page in pages]),
    )


def lower(
    tx: Tx, ledger: Accounts, depths: Mapping[int, int], scope: Scope, linking: Collection[int] = frozenset()
) -> None:
    """Lower the depths of locked pages (id → new depth), and queue pages that come into the scope by it.

    `linking`: pages whose out-links this transaction will write; the targets of these links must get new depths, too.
    """
    lowered = ledger.lower(depths, linking)
    if lowered and scope.max_depth:
        _let_in(tx, {page: depths[page] for page in lowered}, scope)


def _let_in(tx: Tx, depths: Mapping[int, int], scope: Scope) -> None:
    """Let pages outside the scope wait in the shared queue, if their new depths are in the scope. Claims sort them by
    host. A leased page is queued when its claim ends."""
    rows = [
        [row.page, "frontier", None if row.busy else SHARED_QUEUE, None]
        for row in tx.records("pages/scope", ids=sorted(depths))
        if row.state == "outside" and row.outside_because != ROBOTS and not row.fetched
        if scope.holds(row.url, row.host, depths[row.page])
    ]
    if rows:
        tx.do("pages/state", rows=rows)
