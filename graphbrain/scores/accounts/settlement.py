"""The settling pass: it brings all accounts to their fixed point at once, where pushes would take much longer.

The links are exported, and the fixed point is found in memory while other transactions run. It is written by pushes
with a prescribed goal. A batch of pages and all their neighbours are locked. Links that may differ from the export, by
`base.numeric.ids`, are read again. The amount that each page has paid becomes Z* = keep·s*/d, its cash moves to its
history, and each neighbour is paid w·(Z* − Z). A page may be paid after it has paid all that its goal s* gives; this
payment moves to its history at once, so cash that is 0 stays 0 and need not be written. So the invariant of `algebra`
holds at every commit, whatever changes in the meantime and wherever the pass is killed. Pages that were created or
changed since the export are left to pushes.

Pages are settled in shards that run concurrently and share no neighbours. Then follow, one batch after another, the
pages between the shards, and beside them others that were reserved for this (`partition`).

Between the batches most pages wait for neighbours that are not settled yet. To mark them for pushes and to unmark them
again would cost more than all the rest. So a settled page loses its marks, and at the end the pages that still need one
get it. Until then the brain is marked as `settling`, and a process that finds this mark after the pass's time is over
begins a new pass. A batch of the old pass that writes so late writes nothing. Statements: links/packed_out,
links/packed_in, accounts/*, cash/marked, exports/accounts, brain/sizes, brain/read, brain/awaited.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib import import_module

import numpy as np
from numpy.typing import NDArray

from graphbrain.base.numeric.arrays import Floats, Ints
from graphbrain.base.numeric.ids import sums_of_rows
from graphbrain.base.numeric.rules import Rule
from graphbrain.graph import exports
from graphbrain.graph.connection import Graph, Tx
from graphbrain.graph.exports import LinkTable, ScoreTerms
from graphbrain.scores.accounts import adjacency, partition, solve
from graphbrain.scores.accounts.algebra import NONE, Sides
from graphbrain.scores.accounts.exact_ledger import Ledger
from graphbrain.scores.accounts.partition import Batch, Cost, Places, Shard, ShardNeighbours
from graphbrain.scores.accounts.solve import System

__all__ = [
    "AT_ONCE",
    "CLOSE",
    "STEADY",
    "Exported",
    "Goal",
    "Overtaken",
    "Pace",
    "SettlingStep",
    "Sum",
    "batches",
    "bytes_for",
    "exported",
    "find_goal",
    "settle",
    "system",
    "together",
    "waiting_share",
    "worth_it",
]

Links = tuple[Ints, Ints]
"""Sources and targets, as places in a ledger; −1 for one that is not locked."""
COST = Cost(most=60_000.0, page=1.0, end=0.04)
"""The largest cost of one transaction. The unit is a locked page: 10 to 50 µs."""
HELD_SECONDS, ALONE_SECONDS = 0.28, 1.0
"""Seconds that a transaction should take while others wait for its locks, and while none waits. Longer transactions
lock each page less often. A waiting transaction waits for several of them one after another, for some two and a half
times as long in all."""
CAREFUL = 100
"""After a transaction for which another one waited, this number without a wait must follow before transactions may be
long."""
FIRST_SHARE, LEAST_SHARE = 1 / 20, 1 / 80
AT_ONCE = 2
"""Transactions of shards that run at the same time: while the process computes for one, the server works on the
other."""
CLOSE, STEADY = 1 / 2, 1 / 4
"""Shares of the error bound: the cash of sides that are skipped, and the remaining error of the iteration."""
LEAST_ALPHA = 0.01
"""A smaller α counts as this value, because with α = 0 there is no error bound."""
BYTES_PER_LINK, BYTES_PER_WEIGHED_LINK, BYTES_PER_PAGE = 18, 43, 120
"""Memory of the process that a pass takes at its peak, in bytes."""
SMALLEST, SHARE, USUAL_EPS = 5_000, 0.2, 0.03
"""From this number of waiting sides on, and this number for each page, a pass is cheaper than pushes at this eps."""


@dataclass(frozen=True, slots=True)
class Goal:
    """The goal of a pass: the exported links in both directions with their sums, both scores of each page at the fixed
    point, and the shards in which pages are settled: near to their neighbours, by host, then by discovery."""

    table: LinkTable
    near: ShardNeighbours
    sums: Ints
    hub: Floats
    authority: Floats
    shards: list[Shard]
    rounds: int
    residual: float
    close: float = 0.0
    """A side that waits for at most this share of its score is skipped."""
    cost: Cost = field(default_factory=lambda: COST)
    blind: bool = False
    """True if the scores come without the links: each batch reads those of its pages."""

    @classmethod
    def without_links(
        cls, ids: Ints, hub: Floats, authority: Floats, links: int, close: float, rounds: int = 0, residual: float = 0.0
    ) -> Goal:
        """Return a goal whose links are not known.

        Args:
            ids: Internal ids of pages, ascending.
            hub: The score of each hub side at the fixed point.
            authority: The score of each authority side.
            links: The number of links of all pages, which makes batches as large as those of other goals.
            close: As of the goal.
            rounds: As of the goal.
            residual: As of the goal.
        """
        none, offsets = np.empty(0, dtype=np.int32), np.zeros(len(ids) + 1, dtype=np.int64)
        each = (1.0 + COST.end) * 2.0 * links / max(1, len(ids))
        return cls(
            LinkTable(ids, offsets, none),
            ShardNeighbours(offsets, none, offsets, none),
            np.full(len(ids), -1, dtype=np.int64),  # a sum that no page has
            hub,
            authority,
            [Shard(np.arange(len(ids)))],
            rounds,
            residual,
            close,
            Cost(COST.most, COST.page + each, COST.end),
            blind=True,
        )


@dataclass(slots=True)
class SettlingStep:
    """The result of one batch: pages of it, sides brought to their goal, payments made, pages left to pushes.

    Attributes:
        touched: Ids of the pages that it had locked at the moment `at`, of a steady clock.
        waits: Which of them then needed a mark.
        awaited: True if another transaction was waiting for locks at its end.
    """

    pages: int = 0
    sides: int = 0
    payments: int = 0
    left: int = 0
    at: float = 0.0
    touched: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    waits: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, dtype=bool))
    awaited: bool = False


def together(first: SettlingStep, second: SettlingStep) -> SettlingStep:
    """Return the sum of the steps of one batch that was too large. The pass checks at its end which pages need a
    mark."""
    touched = np.concatenate([first.touched, second.touched])
    return SettlingStep(
        first.pages + second.pages,
        first.sides + second.sides,
        first.payments + second.payments,
        first.left + second.left,
        second.at,
        touched,
        np.ones(len(touched), dtype=bool),
        second.awaited,
    )


class Overtaken(Exception):
    """Raised inside a transaction: the pass was silent for so long that another process has begun a new one."""


class Pace:
    """The size of batches for which they take the intended time on this machine beside its other work: a share of COST.

    Races on it do no harm.
    """

    def __init__(self) -> None:
        self._share = FIRST_SHARE
        self._careful = 0

    def share(self) -> float:
        return self._share

    def took(self, seconds: float, awaited: bool) -> None:
        """Adapt the share after a transaction; `awaited`: another one has waited for its locks.

        The share falls at once and rises in steps, because the next pages may cost more. The steps are larger while
        transactions are short.
        """
        self._careful = CAREFUL if awaited else max(0, self._careful - 1)
        longest = HELD_SECONDS if self._careful else ALONE_SECONDS
        most = 2.0 if seconds < HELD_SECONDS / 2 else 1.25
        factor = min(most, max(0.25, longest / max(seconds, 1e-3)))
        self._share = min(1.0, max(LEAST_SHARE, self._share * factor))


class Sum:
    """The sum of all batches, and the known marks of each page of the table."""

    def __init__(self, table: LinkTable) -> None:
        self.pages = self.sides = self.payments = self.left = 0
        self._table = table
        self._at = np.zeros(table.pages)
        self._waits = np.zeros(table.pages, dtype=bool)
        self._strangers: set[int] = set()

    def add(self, step: SettlingStep) -> None:
        """Add another batch, in any order. For each page the batch that locked it last knows its marks."""
        self.pages += step.pages
        self.sides += step.sides
        self.payments += step.payments
        self.left += step.left
        places = self._table.at(step.touched)
        self._strangers.update(step.touched[places < 0].tolist())
        is_page = places >= 0
        places, waits = places[is_page], step.waits[is_page]
        later = step.at > self._at[places]
        self._at[places[later]] = step.at
        self._waits[places[later]] = waits[later]

    def unmarked(self) -> list[int]:
        """Return the ids of the pages that may lack a mark that they need."""
        return sorted([*self._table.ids[self._waits].tolist(), *self._strangers])


def worth_it(tx: Tx, eps: float) -> bool:
    """Return True if a settling pass is cheaper than pushes until no side has more than `eps` to pay per link.

    The smaller the remainder, the more often cash circulates before it is reached, each time less of it by the same
    factor.
    """
    rounds = max(1.0, math.log(eps) / math.log(USUAL_EPS))
    smallest = int(SMALLEST / rounds)
    if tx.one("cash/marked", least=NONE, limit=smallest)[0] < smallest:
        return False
    enough = max(smallest, int(SHARE / rounds * tx.one("brain/sizes")[0]))
    return bool(tx.one("cash/marked", least=NONE, limit=enough)[0] >= enough)


def waiting_share(rule: Rule, tolerance: float) -> float:
    """Return the amount that may wait in all, as a share of the sum of all scores, for this error bound."""
    return max(rule.alpha, LEAST_ALPHA) * tolerance


def bytes_for(pages: int, links: int, rule: Rule) -> int:
    """Return the bytes of memory that a pass over so many pages and links takes at its peak."""
    return pages * BYTES_PER_PAGE + links * (
        BYTES_PER_LINK if rule.intra_host_weight == 1.0 else BYTES_PER_WEIGHED_LINK
    )


def find_goal(graph: Graph, rule: Rule, tolerance: float, progress: Callable[[str, int, int], None]) -> Goal:
    """Export the links and find the fixed point.

    Args:
        graph: The connection.
        rule: The settings.
        tolerance: The error bound that the pass is to leave.
        progress: Is called with the name of a step, its progress and its total.
    """
    with ThreadPoolExecutor(1) as beside:  # tasks that need no server while it works, and that need no fixed point
        beside.submit(import_module, "scipy.sparse")
        table = exports.links(graph, lambda done, of: progress("export", done, of))
        both_ways = beside.submit(ShardNeighbours.of, table.offsets, table.targets)
        terms = exports.terms(graph, table)
        near = both_ways.result()
        shards = beside.submit(partition.plan, near, np.argsort(terms.hosts, kind="stable"), COST, AT_ONCE)
        allowed = waiting_share(rule, tolerance)
        fixed_point = system(table, terms, rule, near).solve(
            tolerance=STEADY * allowed, progress=lambda rounds, _: progress("solve", rounds, 0)
        )
    sums = sums_of_rows(table.ids, table.offsets, table.targets)
    return Goal(
        table,
        near,
        sums,
        fixed_point.hub,
        fixed_point.authority,
        shards.result(),
        fixed_point.rounds,
        fixed_point.residual,
        CLOSE * allowed,
    )


def system(table: LinkTable, terms: ScoreTerms, rule: Rule, near: ShardNeighbours | None = None) -> System:
    """Return the linear system of an export. `near` holds its links in both directions, if known."""
    return System.of(
        table.offsets,
        table.targets,
        alpha=rule.alpha,
        relevance=terms.relevance,
        payout=terms.payout,
        weights=solve.link_weights(table.offsets, table.targets, terms.hosts, rule.intra_host_weight),
        back=(near.back_offsets, near.sources) if near else None,
    )


def batches(goal: Goal, shard: Shard, pace: Pace) -> Iterator[Batch]:
    """Yield the transactions of a shard one after another."""
    return partition.batches(goal.near, shard.pages, goal.cost, pace.share)


def settle(tx: Tx, goal: Goal, batch: Batch, rule: Rule, token: str, again: bool = False) -> SettlingStep:
    """Bring these pages to their goal.

    After the locks are taken, the `token` of the pass must still be on the brain. Then a process that begins a new pass
    comes to these pages later, and so sees whether they need a mark.

    Args:
        tx: The transaction.
        goal: The goal of the pass.
        batch: The pages and their neighbours.
        rule: The settings.
        token: Identifies the pass.
        again: True if the export was found outdated for this batch.

    Raises:
        Overtaken: Another pass has begun.
    """
    ids = goal.table.ids[batch.pages]
    union = _union_now(tx, ids) if again else goal.table.ids[batch.union]
    ledger = Ledger.lock(tx, union.tolist(), rule)
    at = time.monotonic()
    if tx.one("brain/read")[0].get("settling") != token:
        raise Overtaken
    mine = ledger.seek(ids)
    goals = _Goals(goal, ledger)
    out, into, whole = _links(tx, ledger, goals, mine[mine >= 0])
    step = SettlingStep(len(ids), left=len(ids) - len(whole), at=at)
    hubs = _spend(ledger, "hub", whole, goals.hub, *out, step, goal.close)
    authorities = _spend(ledger, "authority", whole, goals.authority, *into[::-1], step, goal.close)
    if step.sides:
        ledger.absorb("hub", goals.hub)
        ledger.absorb("authority", goals.authority)
        marks = ledger.write_settled(tx, hubs, authorities)
    else:  # marks may still be missing after a pass that died
        marks = ledger.marks_before
    step.touched = ledger.ids
    step.waits = (marks.hub_priority != NONE) | (marks.authority_priority != NONE)
    step.awaited = tx.one("brain/awaited")[0]
    return step


class _Goals:
    """The data of the export for some pages: their places in it, their goals (nan for pages that are not in it), and
    the pages whose present links are known to be those of the export (`sure`)."""

    def __init__(self, goal: Goal, ledger: Ledger) -> None:
        self.goal = goal
        self.places = places = goal.table.at(ledger.ids)
        self.hub: Floats = np.where(places >= 0, goal.hub[places], np.nan)
        self.authority: Floats = np.where(places >= 0, goal.authority[places], np.nan)
        self.sure: NDArray[np.bool_] = (places >= 0) & (ledger.links_sum == goal.sums[places])


def _union_now(tx: Tx, ids: Ints) -> Ints:
    """Return the ids of these pages and of their neighbours as they are now, without deleted pages."""
    union: set[int] = set()
    for side in adjacency.SIDES:
        for page, neighbours in adjacency.read(tx, side, ids.tolist()).items():
            union.add(page)
            union.update(neighbours)
    return np.array(sorted(union), dtype=np.int64)


def _links(tx: Tx, ledger: Ledger, goals: _Goals, pages: Ints) -> tuple[Links, Links, Ints]:
    """Return the links of these locked pages, the links to them, and the pages whose neighbours are all locked.

    A page with an unknown neighbour is left to pushes. Links of the export are used if they are known to be right.
    Links from one of the pages to another are read once. If the known links make up a page's weight, there are no
    others.
    """
    near, ids, sure = goals.goal.near, goals.goal.table.ids, goals.sure

    def exported(sources: Ints | Places, targets: Ints | Places) -> Links:
        return ledger.seek(ids[sources]), ledger.seek(ids[targets])

    mine = np.zeros(len(ledger.ids), dtype=np.bool_)
    mine[pages] = True
    read = _read(tx, "links/packed_out", ledger, pages[~sure[pages]])
    out = _joined(exported(*near.out(goals.places[pages[sure[pages]]])), read)
    whole = mine.copy()
    whole[out[0][out[1] < 0]] = False

    into = exported(*near.into(goals.places[pages]))
    into = _joined(_where(into, (into[0] >= 0) & sure[into[0]]), _where(read, (read[1] >= 0) & mine[read[1]]))
    weight = np.bincount(into[1], ledger.weights(*into), len(whole))
    more = pages[weight[pages] != ledger.in_weight[pages]]
    others = _read(tx, "links/packed_in", ledger, more)
    whole[others[1][others[0] < 0]] = False
    mine[more] = False  # all links to these have been read
    return _where(out, out[1] >= 0), _joined(_where(into, mine[into[1]]), others), pages[whole[pages]]


def _joined(some: Links, others: Links) -> Links:
    return np.concatenate([some[0], others[0]]), np.concatenate([some[1], others[1]])


def _where(links: Links, which: NDArray[np.bool_]) -> Links:
    return links[0][which], links[1][which]


def _read(tx: Tx, statement: str, ledger: Ledger, pages: Ints) -> Links:
    """Return sources and targets of the links of places, as places; −1 for an end that is not locked."""
    if not len(pages):
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    sources, targets = adjacency.packed(tx, statement, ledger.ids[pages])
    return ledger.seek(sources), ledger.seek(targets)


def _spend(
    ledger: Ledger, side: str, pages: Ints, goals: Floats, payers: Ints, payees: Ints, step: SettlingStep, close: float
) -> Ints:
    """Bring one side of these places to its goal, and pay the neighbours.

    Returns:
        The places at which that was needed: those that would pay more than a `close` share of their score.
    """
    chosen = pages[ledger.off(side, pages, goals[pages], close)]
    if not len(chosen):
        return chosen
    spends = np.zeros(len(goals), dtype=np.bool_)
    spends[chosen] = True
    pays = spends[payers]
    ledger.prescribe(side, chosen, goals[chosen], payers[pays], payees[pays])
    step.sides += len(chosen)
    step.payments += int(pays.sum())
    return chosen


@dataclass(frozen=True)
class Exported(Sides):
    """The sides of the pages of a table, read while other transactions run. A deleted page has nan."""

    hub_history: Floats
    hub_cash: Floats
    authority_history: Floats
    authority_cash: Floats


def exported(graph: Graph, table: LinkTable) -> Exported:
    """Return the stored accounts of the pages of a table: the classic engine's cash is without its offset."""
    columns = np.full((4, table.pages), np.nan)
    for rows in exports.in_ranges(graph, "exports/accounts", table.ids):
        read = np.array(rows, dtype=np.float64)
        columns[:, table.at(read[:, 0].astype(np.int64))] = read[:, 1:].T
    return Exported(*columns)
