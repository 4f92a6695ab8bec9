"""The settling pass: all accounts brought to their fixed point at once, where pushes would take much longer.

The links are exported and the fixed point is found in memory, beside whatever else runs. It is written by pushes with
a prescribed goal: a batch of pages and all their neighbours are locked, the links are read again, each page's history
becomes s* and what it has paid Z*, its cash takes the difference, and each neighbour is paid w·(Z* − Z). So the
invariant of `opichits` holds at every commit, whatever changes meanwhile and wherever the pass is killed; pages that
came or changed since the export are left to pushes.

Between the batches most pages wait for neighbours that are not settled yet. Marking them for pushes and unmarking
them again would cost more than all the rest, so a page that is settled loses its marks, and at the end those that
need one after all get it. Until then the brain is marked as `settling`, and whoever finds it so after the pass's time
is over begins a new one.
Statements: links/out, links/in, accounts/*, cash/marked, brain/sizes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphbrain import exports, fixedpoint
from graphbrain.exports import Accounts, LinkTable
from graphbrain.fixedpoint import FixedPoint
from graphbrain.graph import Graph, Tx
from graphbrain.ledger import Ledger
from graphbrain.opichits import NONE, Floats, Ints, Rule

__all__ = ["AT_ONCE", "Goal", "Step", "Tally", "batches", "find_goal", "fixed_point", "settle", "worth_it"]

BATCH_PAGES, BATCH_LINKS = 8_000, 80_000
"""Pages and link ends of one transaction: larger ones touch a page less often, but others wait for their locks."""
AT_ONCE = 2
"""Transactions under way at the same time: while one computes, the server has the other to do."""
CLOSE = 1e-3
"""A side within this share of eps from its goal, per link, is left as it is."""
SMALLEST, SHARE = 5_000, 0.2
"""From so many waiting sides on, and so many for each page, a pass is cheaper than pushes."""


@dataclass(frozen=True, slots=True)
class Goal:
    """Where all is to be: the exported links, forward and backward, both scores of each page at the fixed point, and
    the order of the pages in which neighbours are near to each other: by host, then by discovery."""

    table: LinkTable
    back_offsets: Ints
    back_sources: Ints
    hub: Floats
    authority: Floats
    order: Ints
    rounds: int
    residual: float


@dataclass(slots=True)
class Step:
    """What one batch has done: sides brought to their goal, payments made, pages left to pushes. `touched`: ids of the
    pages it had locked at the moment `at`, of a steady clock; `waits`: which of them then needed a mark."""

    sides: int = 0
    payments: int = 0
    left: int = 0
    at: float = 0.0
    touched: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    waits: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, dtype=bool))


class Tally:
    """The sum of all batches, and what is known of the marks of each page of the table."""

    def __init__(self, table: LinkTable) -> None:
        self.sides = self.payments = self.left = 0
        self._table = table
        self._at = np.zeros(table.pages)
        self._waits = np.zeros(table.pages, dtype=bool)
        self._strangers: set[int] = set()

    def add(self, step: Step) -> None:
        """Another batch, in any order: of each page the batch that locked it last is right about its marks."""
        self.sides += step.sides
        self.payments += step.payments
        self.left += step.left
        places = self._table.at(step.touched)
        self._strangers.update(step.touched[places < 0].tolist())
        known = places >= 0
        places, waits = places[known], step.waits[known]
        later = step.at > self._at[places]
        self._at[places[later]] = step.at
        self._waits[places[later]] = waits[later]

    def unmarked(self) -> list[int]:
        """Ids of the pages that may lack a mark they need."""
        return sorted([*self._table.ids[self._waits].tolist(), *self._strangers])


def worth_it(tx: Tx) -> bool:
    """Is a settling pass cheaper than pushing what waits?"""
    if tx.one("cash/marked", least=NONE, limit=SMALLEST)[0] < SMALLEST:
        return False
    enough = max(SMALLEST, int(SHARE * tx.one("brain/sizes")[0]))
    return bool(tx.one("cash/marked", least=NONE, limit=enough)[0] >= enough)


def find_goal(graph: Graph, rule: Rule, tolerance: float, progress: Callable[[str, int, int], None]) -> Goal:
    """Export the links and find the fixed point. `progress`: what it does, how far it is, and of how much."""
    table = exports.links(graph, lambda done, of: progress("export", done, of))
    known = exports.accounts(graph, table)
    hosts = exports.hosts(graph, table)
    weights = None
    if rule.intra_host_weight != 1.0:
        inside = np.repeat(hosts, np.diff(table.offsets)) == hosts[table.targets]
        weights = np.where(inside, rule.intra_host_weight, 1.0)
    found = fixed_point(
        table,
        known,
        rule,
        weights=weights,
        start=known.hub_score,
        tolerance=tolerance,
        progress=lambda rounds, _: progress("solve", rounds, 0),
    )
    by_target = np.argsort(table.targets, kind="stable")
    sources = np.repeat(np.arange(table.pages), np.diff(table.offsets))[by_target]
    back = np.concatenate([[0], np.cumsum(np.bincount(table.targets, minlength=table.pages))])
    order = np.argsort(hosts, kind="stable")
    return Goal(table, back, sources, found.hub, found.authority, order, found.rounds, found.residual)


def fixed_point(table: LinkTable, known: Accounts, rule: Rule, **more: Any) -> FixedPoint:
    """The fixed point of what was exported; `more` as for `fixedpoint.solve`."""
    return fixedpoint.solve(
        table.offsets, table.targets, alpha=rule.alpha, relevance=known.relevance, payout=known.payouts, **more
    )


def batches(goal: Goal) -> list[Ints]:
    """The places of the pages of each batch, so ordered that those under way at the same time are far apart."""
    ends = np.cumsum((np.diff(goal.table.offsets) + np.diff(goal.back_offsets))[goal.order])
    found: list[Ints] = []
    first = 0
    while first < goal.table.pages:
        before = ends[first - 1] if first else 0
        end = int(np.searchsorted(ends, before + BATCH_LINKS, side="right"))
        end = max(first + 1, min(end, first + BATCH_PAGES))
        found.append(np.sort(goal.order[first:end]))
        first = end
    stride = -(-len(found) // AT_ONCE)
    return [found[number] for start in range(stride) for number in range(start, len(found), stride)]


def settle(tx: Tx, goal: Goal, batch: Ints, rule: Rule, now: float, again: bool = False) -> Step:
    """Bring the pages at these places to their goal. `again`: after the export was found outdated."""
    ids = goal.table.ids[batch]
    union = _union_now(tx, ids) if again else _union_exported(goal, batch)
    ledger = Ledger.lock(tx, union.tolist(), rule)
    at = time.monotonic()
    here = np.isin(ids, ledger.ids)
    out = _links(tx, "links/out", ids[here], ledger)
    into = _links(tx, "links/in", ids[here], ledger)
    # A page that has a neighbour nobody knew of is left to pushes.
    whole = [page for page in ids[here].tolist() if page in out and page in into]
    step = Step(left=len(ids) - len(whole), at=at)
    places = ledger.at(whole)
    goals = goal.table.at(np.array(whole, dtype=np.int64))
    hubs = _spend(ledger, "hub", places, goal.hub[goals], [out[page] for page in whole], step)
    authorities = _spend(ledger, "authority", places, goal.authority[goals], [into[page] for page in whole], step)
    if step.sides:
        marks = ledger.write(tx, now, unmark=(hubs, authorities))
        step.touched = ledger.ids
        step.waits = (marks.hub_priority != NONE) | (marks.authority_priority != NONE)
    return step


def _union_exported(goal: Goal, batch: Ints) -> Ints:
    """Ids of the pages of a batch and of their neighbours, as they were exported."""
    table = goal.table
    ahead = [table.targets[table.offsets[i] : table.offsets[i + 1]] for i in batch.tolist()]
    behind = [goal.back_sources[goal.back_offsets[i] : goal.back_offsets[i + 1]] for i in batch.tolist()]
    places: Ints = np.unique(np.concatenate([batch, *ahead, *behind]))
    return table.ids[places]


def _union_now(tx: Tx, ids: Ints) -> Ints:
    """Ids of these pages and of their neighbours, as they are now; pages that have gone are missing."""
    found: set[int] = set()
    for statement in ("links/out", "links/in"):
        for page, neighbours in tx.one(statement, ids=ids.tolist())[0]:
            found.add(page)
            found.update(neighbours)
    return np.array(sorted(found), dtype=np.int64)


def _links(tx: Tx, statement: str, ids: Ints, ledger: Ledger) -> dict[int, list[int]]:
    """Page → its neighbours under the lock, of the pages all whose neighbours are locked."""
    rows = tx.one(statement, ids=ids.tolist())[0]
    return {page: neighbours for page, neighbours in rows if ledger.holds(neighbours)}


def _spend(ledger: Ledger, side: str, places: Ints, goals: Floats, neighbours: Sequence[list[int]], step: Step) -> Ints:
    """Bring one side of these places to its goal, and pay the neighbours; the places where that was needed."""
    counts = np.array([len(each) for each in neighbours], dtype=np.int64)
    go = (counts > 0) & ledger.off(side, places, goals, CLOSE * ledger.rule.eps)
    chosen = places[go]
    if not len(chosen):
        return chosen
    payers = np.repeat(chosen, counts[go])
    payees = ledger.at(np.concatenate([each for each, wanted in zip(neighbours, go, strict=True) if wanted]))
    ledger.prescribe(side, chosen, goals[go], payers, payees)
    step.sides += len(chosen)
    step.payments += len(payees)
    return chosen
