"""Click depth: the least number of clicks that lead from a seed to a page, by links alone.

A click follows a link, also one that names an alias. A redirect is no click. The property `depth` differs: a page from
a sitemap has a depth, and a depth does not rise when links disappear.
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
"""The largest number of clicks of one page. For a page that is farther away, the clicks are not known."""


@dataclass(frozen=True, slots=True)
class Clicks:
    """Clicks from a seed to each page of a table. `clicks`: int64[pages], −1 for a page that no links lead to."""

    table: LinkTable
    clicks: Ints

    def at(self, ids: Ints) -> Ints:
        """Return the clicks to the pages of these internal ids; −1 for an unknown page, or one that no links lead
        to."""
        places = self.table.at(ids)
        return np.where(places >= 0, self.clicks[places], NONE) if len(self.clicks) else np.full(len(ids), NONE)

    def of(self, page: int) -> int | None:
        """Return the clicks to one page; None if no links lead to it."""
        clicks = int(self.at(np.array([page], dtype=np.int64))[0])
        return None if clicks == NONE else clicks


def of_page(tx: Tx, key: str) -> int | None:
    """Return the clicks from a seed to the page of this key; None if no links lead to it.

    The search goes backwards from the page, one click further at each level, until it meets a seed.
    """
    level = set(discovery.find(tx, [key]).values())
    seen: set[int] = set()
    for clicks in range(MOST):
        previous: set[int] = set()
        # Pages that redirect to a page are at the level of that page.
        while level := level - seen:
            seen |= level
            seeds, redirecting, linking = tx.one("clicks/behind", ids=sorted(level))
            if seeds:
                return clicks
            level = set(redirecting)
            previous |= set(linking)
        level = previous
    return None


def clicks(graph: Graph, table: LinkTable | None = None) -> Clicks:
    """Return the clicks to all pages. This reads every page, and every link unless `table` has them."""
    table = exports.links(graph.anywhere) if table is None else table
    # Read by id what the table of links does not have: seeds, redirecting pages, and pairs of a page and its alias or
    # target.
    seeds: list[int] = []
    redirecting: list[int] = []
    aliases: list[tuple[int, int]] = []
    targets: list[tuple[int, int]] = []
    for rows in exports.over_all(graph.anywhere, "clicks/ways", lambda _, row: row[0]):
        for page, is_seed, named, leads_to, redirects in rows:
            seeds += [page] if is_seed else []
            redirecting += [page] if redirects else []
            aliases += [(page, alias) for alias in named]
            targets += [(page, target) for target in leads_to]
    # Replace ids by places in the table, and find the fewest clicks.
    return Clicks(
        table,
        fewest(
            table, _places(table, seeds), _pairs(table, aliases), _places(table, redirecting), _pairs(table, targets)
        ),
    )


def fewest(table: LinkTable, seeds: Ints, named: Ints, aliases: Ints, led: Ints) -> Ints:
    """Return the least number of clicks to each place of a table, by breadth-first search. Time is linear in links.

    Args:
        table: Pages and links.
        seeds: Places of seeds.
        named: int64[n, 2] of places: a page, and an alias that it names.
        aliases: Places of pages that redirect, for good or for now. Their links cost no click.
        led: int64[n, 2] of places: a page that redirects, and the page to which it leads.

    Returns:
        int64[pages]; −1 for a page that no links lead to.
    """
    # At first only the seeds have a number of clicks, which is 0.
    clicks = np.full(table.pages, NONE, dtype=np.int64)
    is_alias = np.zeros(table.pages, dtype=bool)
    is_alias[aliases] = True
    spelt, goals = _Rows.of(named, table.pages), _Rows.of(led, table.pages)
    here, level = np.unique(seeds), 0
    while len(here):
        # These pages get the level, and so do the pages to which they redirect.
        here = here[clicks[here] == NONE]
        clicks[here] = level
        wave = here
        while len(wave := wave[is_alias[wave]]):
            beyond = np.unique(np.concatenate([_targets(table, wave), goals.of_all(wave), spelt.of_all(wave)]))
            wave = beyond[clicks[beyond] == NONE]
            clicks[wave] = level
            here = np.concatenate([here, wave])
        # One click leads from all others to the next level.
        others = here[~is_alias[here]]
        here = np.unique(np.concatenate([_targets(table, others), spelt.of_all(others)]))
        level += 1
    return clicks


@dataclass(frozen=True, slots=True)
class _Rows:
    """Pairs of places as rows: the pairs of place i have the second places `ends[starts[i] : starts[i + 1]]`."""

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
    """Return the positions of all elements in the rows of these places."""
    counts = starts[places + 1] - starts[places]
    ends = np.cumsum(counts)
    positions: Ints = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(starts[places] - (ends - counts), counts)
    return positions


def _places(table: LinkTable, ids: list[int]) -> Ints:
    places = table.at(np.array(ids, dtype=np.int64))
    return places[places >= 0]


def _pairs(table: LinkTable, pairs: list[tuple[int, int]]) -> Ints:
    ids = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    places = np.column_stack([table.at(ids[:, 0]), table.at(ids[:, 1])]) if len(ids) else ids
    return places[(places >= 0).all(axis=1)] if len(places) else places
