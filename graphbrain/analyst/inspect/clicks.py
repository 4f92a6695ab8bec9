"""Click depth: the least number of clicks that lead from a seed to a page, by links alone.

A click follows a link, or the old address of a page that its HTML names. A redirect is no click. The frontier's own
`depth` differs: a page from a sitemap has one, and a depth never rises when links disappear.
Statements: clicks/*.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphbrain.base.numeric.arrays import Ints
from graphbrain.frontier import discovery
from graphbrain.graph import exports
from graphbrain.graph.connection import Graph, Tx
from graphbrain.graph.exports import LinkTable

__all__ = ["Clicks", "clicks", "fewest", "of_page"]

NONE = -1
MOST = 1_000
"""Clicks: of a page that is farther away none are known."""


@dataclass(frozen=True, slots=True)
class Clicks:
    """Clicks from a seed to each page of a table. `clicks`: int64[pages], −1 where no links lead."""

    table: LinkTable
    clicks: Ints

    def at(self, ids: Ints) -> Ints:
        """Return the clicks to the pages of these internal ids; −1 for an unknown page, and where no links lead."""
        places = self.table.at(ids)
        return np.where(places >= 0, self.clicks[places], NONE) if len(self.clicks) else np.full(len(ids), NONE)

    def of(self, page: int) -> int | None:
        """Return the clicks to one page; None where no links lead."""
        clicks = int(self.at(np.array([page], dtype=np.int64))[0])
        return None if clicks == NONE else clicks


@dataclass(slots=True)
class _Ways:
    """Places in a table: seeds; pairs of a page and an alias that it names; pages that redirect, for good or for now;
    pairs of one of these and the page to which it leads."""

    seeds: list[int]
    named: list[tuple[int, int]]
    aliases: list[int]
    led: list[tuple[int, int]]


def of_page(tx: Tx, key: str) -> int | None:
    """Return the clicks from a seed to the page of this key; None where no links lead."""
    here = set(discovery.find(tx, [key]).values())
    seen: set[int] = set()
    for clicks in range(MOST):
        before: set[int] = set()
        while here := here - seen:  # redirects, at the same level
            seen |= here
            seeds, redirecting, clicking = tx.one("clicks/behind", ids=sorted(here))
            if seeds:
                return clicks
            here = set(redirecting)
            before |= set(clicking)
        here = before
    return None


def clicks(graph: Graph, table: LinkTable | None = None) -> Clicks:
    """Return the clicks to all pages. Read every page, and every link unless `table` has them."""
    table = exports.links(graph.anywhere) if table is None else table
    ways = _Ways([], [], [], [])
    for rows in exports.over_all(graph.anywhere, "clicks/ways", lambda _, row: row[0]):
        for page, is_seed, named, led, is_alias in rows:
            ways.seeds += [page] if is_seed else []
            ways.named += [(page, alias) for alias in named]
            ways.led += [(page, goal) for goal in led]
            ways.aliases += [page] if is_alias else []
    seeds, aliases = (_places(table, np.array(ids, dtype=np.int64)) for ids in (ways.seeds, ways.aliases))
    named, led = (_pairs(table, pairs) for pairs in (ways.named, ways.led))
    return Clicks(table, fewest(table, seeds, named, aliases, led))


def fewest(table: LinkTable, seeds: Ints, named: Ints, aliases: Ints, led: Ints) -> Ints:
    """Return the least number of clicks to each place of a table, by breadth-first search. Time is linear in links.

    Args:
        table: Pages and links.
        seeds: Places of seeds.
        named: int64[n, 2] of places: a page, and an alias that it names.
        aliases: Places of pages that redirect, for good or for now. Their links cost no click.
        led: int64[n, 2] of places: one of these, and the page to which it leads.

    Returns:
        int64[pages]; −1 where no links lead.
    """
    clicks = np.full(table.pages, NONE, dtype=np.int64)
    is_alias = np.zeros(table.pages, dtype=bool)
    is_alias[aliases] = True
    spelt, goals = _Rows.of(named, table.pages), _Rows.of(led, table.pages)
    here, level = np.unique(seeds), 0
    while len(here):
        here = here[clicks[here] == NONE]
        clicks[here] = level
        wave = here
        while len(wave := wave[is_alias[wave]]):  # redirects, at the same level
            beyond = np.unique(np.concatenate([_targets(table, wave), goals.of_all(wave), spelt.of_all(wave)]))
            wave = beyond[clicks[beyond] == NONE]
            clicks[wave] = level
            here = np.concatenate([here, wave])
        clicked = here[~is_alias[here]]
        here = np.unique(np.concatenate([_targets(table, clicked), spelt.of_all(clicked)]))
        level += 1
    return clicks


@dataclass(frozen=True, slots=True)
class _Rows:
    """Pairs by their first place: the second places of place i are `ends[starts[i] : starts[i + 1]]`."""

    starts: Ints
    ends: Ints

    @classmethod
    def of(cls, pairs: Ints, count: int) -> _Rows:
        order = np.argsort(pairs[:, 0], kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(pairs[:, 0], minlength=count))]).astype(np.int64)
        return cls(starts, pairs[order, 1])

    def of_all(self, places: Ints) -> Ints:
        return self.ends[_spread(self.starts, places)]


def _targets(table: LinkTable, places: Ints) -> Ints:
    targets: Ints = table.targets[_spread(table.offsets, places)].astype(np.int64)
    return targets


def _spread(starts: Ints, places: Ints) -> Ints:
    """Return all positions of the rows of these places."""
    counts = starts[places + 1] - starts[places]
    ends = np.cumsum(counts)
    positions: Ints = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(starts[places] - (ends - counts), counts)
    return positions


def _places(table: LinkTable, ids: Ints) -> Ints:
    places = table.at(ids)
    return places[places >= 0]


def _pairs(table: LinkTable, pairs: list[tuple[int, int]]) -> Ints:
    ids = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    places = np.column_stack([table.at(ids[:, 0]), table.at(ids[:, 1])]) if len(ids) else ids
    return places[(places >= 0).all(axis=1)] if len(places) else places
