"""The settling pass: it brings all accounts to their fixed point at once. Pushes would take much longer.

The links are exported, and the fixed point is found in memory while other transactions run. It is written by pushes
with a prescribed goal, batch by batch. A transaction locks a batch of pages and all their neighbours, and reads again
the links that may differ from the export (`base.numeric.ids`). The amount that each page has paid becomes Z* =
keep·s*/d, its cash moves to its history, and each neighbour is paid w·(Z* − Z). A page may be paid after it has paid
all that its goal s* gives. Such a payment moves to its history at once: cash that is 0 stays 0, and is not written. So
the invariant of `algebra` holds at every commit, whatever changes in the meantime and wherever the pass is killed.
Pushes do the pages that were created or changed since the export.

Pages are settled in shards that run concurrently and share no neighbours. Then the pages between the shards are
settled, one batch after another, and beside them the pages that were reserved for this time (`partition`).

Between the batches most pages wait for neighbours that are not settled yet. To mark them for pushes and to unmark them
again would cost more than the whole pass. So a settled page loses its marks, and at the end the pages that still need a
mark get it. Until then the brain is marked as `settling`. A process that finds this mark after the time of the pass
begins a new pass. A batch of the old pass then writes nothing. Statements: links/packed_out,
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
lock each page less often. A waiting transaction waits for several of them one after another: in all, about two and a
half times as long."""
CAREFUL = 100
"""The number of transactions without a wait that must follow one with a wait, before transactions may be long."""
FIRST_SHARE, LEAST_SHARE = 1 / 20, 1 / 80
AT_ONCE = 2
"""The number of shards whose transactions run at the same time. While the process computes for one, the server works on
the other."""
CLOSE, STEADY = 1 / 2, 1 / 4
"""Shares of the error bound: for the cash of sides that are skipped, and for the remaining error of the iteration."""
LEAST_ALPHA = 0.01
"""A smaller α counts as this value, because with α = 0 there is no error bound."""
BYTES_PER_LINK, BYTES_PER_WEIGHED_LINK, BYTES_PER_PAGE = 18, 43, 120
"""The memory that a pass takes at its peak, in bytes for each link and each page."""
SMALLEST, SHARE, USUAL_EPS = 5_000, 0.2, 0.03
"""At `USUAL_EPS`, a pass is cheaper than pushes if at least `SMALLEST` sides wait, and `SHARE` sides for each page."""


@dataclass(frozen=True, slots=True)
class Goal:
    """The goal of a pass.

    Attributes:
        table: The exported links.
        near: The exported links in both directions.
        sums: The number that identifies the links of each page (`sums_of_rows`).
        hub: The hub score of each page at the fixed point.
        authority: The authority score of each page there.
        shards: The pages in the order in which they are settled: by host, then by discovery.
    """

    table: LinkTable
    near: ShardNeighbours
    sums: Ints
    hub: Floats
    authority: Floats
    shards: list[Shard]
    rounds: int
    residual: float
    close: float = 0.0
    """A side is skipped if at most this share of its score waits."""
    cost: Cost = field(default_factory=lambda: COST)
    blind: bool = False
    """True if the links are not known, only the scores. Each batch then reads the links of its pages."""

    @classmethod
    def without_links(
        cls, ids: Ints, hub: Floats, authority: Floats, links: int, close: float, rounds: int = 0, residual: float = 0.0
    ) -> Goal:
        """Return a goal for which the links are not known.

        Args:
            ids: Internal ids of pages, ascending.
            hub: The score of each hub side at the fixed point.
            authority: The score of each authority side.
            links: The number of links of all pages, which makes batches as large as those of other goals.
            close: As in `Goal`.
            rounds: As in `Goal`.
            residual: As in `Goal`.
        """
        none, offsets = np.empty(0, dtype=np.int32), np.zeros(len(ids) + 1, dtype=np.int64)
        each = (1.0 + COST.end) * 2.0 * links / max(1, len(ids))
        return cls(
            LinkTable(ids, offsets, none),
            ShardNeighbours(offsets, none, offsets, none),
            np.full(len(ids), -1, dtype=np.int64),  # no page has this sum
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
    """The result of one batch.

    Attributes:
        pages: The number of its pages.
        sides: The number of sides that it brought to their goals.
        payments: The number of payments.
        left: The number of pages that pushes must do.
        at: The time after the locks, by a monotonic clock.
        touched: Ids of the pages that it locked.
        waits: True for each of these that needed a mark then.
        awaited: True if another transaction waited for locks at its end.
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
    """Return the sum of the two steps of a batch that was too large. Each of its pages may need a mark: the pass checks
    this at its end."""
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
    """Raised inside a transaction: another process has begun a new pass, because this one was silent for too long."""


class Pace:
    """The size of batches, as a share of `COST`. It follows the time that transactions take on this machine.

    Several threads may use it without a lock: a lost update does no harm.
    """

    def __init__(self) -> None:
        self._share = FIRST_SHARE
        self._careful = 0

    def share(self) -> float:
        return self._share

    def took(self, seconds: float, awaited: bool) -> None:
        """Adapt the share after a transaction. `awaited`: another one has waited for its locks.

        The share falls at once. It rises in steps, because the next pages may cost more. The steps are larger while
        transactions are short.
        """
        self._careful = CAREFUL if awaited else max(0, self._careful - 1)
        longest = HELD_SECONDS if self._careful else ALONE_SECONDS
        most = 2.0 if seconds < HELD_SECONDS / 2 else 1.25
        factor = min(most, max(0.25, longest / max(seconds, 1e-3)))
        self._share = min(1.0, max(LEAST_SHARE, self._share * factor))


class Sum:
    """The sum of all batches, and for each page of the table whether it needed a mark when it was locked last."""

    def __init__(self, table: LinkTable) -> None:
        self.pages = self.sides = self.payments = self.left = 0
        self._table = table
        self._at = np.zeros(table.pages)
        self._waits = np.zeros(table.pages, dtype=bool)
        self._not_exported: set[int] = set()

    def add(self, step: SettlingStep) -> None:
        """Add a batch. Batches may come in any order: for each page, the batch that locked it last gives the values."""
        self.pages += step.pages
        self.sides += step.sides
        self.payments += step.payments
        self.left += step.left
        places = self._table.at(step.touched)
        self._not_exported.update(step.touched[places < 0].tolist())
        is_page = places >= 0
        places, waits = places[is_page], step.waits[is_page]
        later = step.at > self._at[places]
        self._at[places[later]] = step.at
        self._waits[places[later]] = waits[later]

    def unmarked(self) -> list[int]:
        """Return the ids of the pages that may lack a mark that they need."""
        return sorted([*self._table.ids[self._waits].tolist(), *self._not_exported])


def worth_it(tx: Tx, eps: float) -> bool:
    """Return True if a settling pass is cheaper than pushes until no side has more than `eps` to pay per link.

    Each time that cash circulates, it shrinks by the same factor. So pushes for a smaller `eps` let it circulate more
    often.
    """
    rounds = max(1.0, math.log(eps) / math.log(USUAL_EPS))
    smallest = int(SMALLEST / rounds)
    if tx.one("cash/marked", least=NONE, limit=smallest)[0] < smallest:
        return False
    enough = max(smallest, int(SHARE / rounds * tx.one("brain/sizes")[0]))
    return bool(tx.one("cash/marked", least=NONE, limit=enough)[0] >= enough)


def waiting_share(rule: Rule, tolerance: float) -> float:
    """Return the total of cash that may wait for this error bound, as a share of the sum of all scores."""
    return max(rule.alpha, LEAST_ALPHA) * tolerance


def bytes_for(pages: int, links: int, rule: Rule) -> int:
    """Return the bytes of memory that a pass over these numbers of pages and links takes at its peak."""
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
    # Read links and terms from the server. Meanwhile a thread does the work that needs no server and no fixed point.
    with ThreadPoolExecutor(1) as beside:
        beside.submit(import_module, "scipy.sparse")
        table = exports.links(graph, lambda done, of: progress("export", done, of))
        both_ways = beside.submit(ShardNeighbours.of, table.offsets, table.targets)
        terms = exports.terms(graph, table)
        near = both_ways.result()
        shards = beside.submit(partition.plan, near, np.argsort(terms.hosts, kind="stable"), COST, AT_ONCE)
        # Solve for the fixed point.
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

    After the locks are taken, the brain must still have the `token` of the pass. A process that begins a new pass after
    that locks these pages later, and so sees whether they need a mark.

    Args:
        tx: The transaction.
        goal: The goal of the pass.
        batch: The pages and their neighbours.
        rule: The settings.
        token: Identifies the pass.
        again: True if the export is outdated for this batch. The neighbours are then read.

    Raises:
        Overtaken: Another pass has begun.
    """
    # Lock the pages and their neighbours, and find the links of the pages.
    ids = goal.table.ids[batch.pages]
    union = _union_now(tx, ids) if again else goal.table.ids[batch.union]
    ledger = Ledger.lock(tx, union.tolist(), rule)
    at = time.monotonic()
    if tx.one("brain/read")[0].get("settling") != token:
        raise Overtaken
    places = ledger.seek(ids)
    goals = _Goals(goal, ledger)
    out, into, complete = _links(tx, ledger, goals, places[places >= 0])
    # Bring the pages whose links are all known to their goals.
    step = SettlingStep(len(ids), left=len(ids) - len(complete), at=at)
    hubs = _spend(ledger, "hub", complete, goals.hub, *out, step, goal.close)
    authorities = _spend(ledger, "authority", complete, goals.authority, *into[::-1], step, goal.close)
    if step.sides:
        ledger.absorb("hub", goals.hub)
        ledger.absorb("authority", goals.authority)
        marks = ledger.write_settled(tx, hubs, authorities)
    else:
        marks = ledger.marks_before
    # Note which of the locked pages need a mark. After a pass that died, a page may need one that it does not have.
    step.touched = ledger.ids
    step.waits = (marks.hub_priority != NONE) | (marks.authority_priority != NONE)
    step.awaited = tx.one("brain/awaited")[0]
    return step


class _Goals:
    """The data of the export for the pages of a ledger.

    Attributes:
        places: Their places in the export, below 0 for pages that are not in it.
        hub: Their goals, nan for pages that are not in the export.
        authority: The same of the other side.
        sure: True for each page whose present links are known to be those of the export.
    """

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

    Links of the export are used if they are known to be right. Others are read. Links from one of the pages to another
    are read once. If the sum of a page's known links is its weight, it has no others.
    """
    near, ids, sure = goals.goal.near, goals.goal.table.ids, goals.sure

    def exported(sources: Ints | Places, targets: Ints | Places) -> Links:
        return ledger.seek(ids[sources]), ledger.seek(ids[targets])

    # Find the links of the pages. Take them from the export where it is right, and read the others.
    mine = np.zeros(len(ledger.ids), dtype=np.bool_)
    mine[pages] = True
    read = _read(tx, "links/packed_out", ledger, pages[~sure[pages]])
    out = _joined(exported(*near.out(goals.places[pages[sure[pages]]])), read)
    complete = mine.copy()
    complete[out[0][out[1] < 0]] = False
    # Find the links to the pages. Those from pages that are right in the export, and from each other, are known; read
    # the rest.
    into = exported(*near.into(goals.places[pages]))
    into = _joined(_where(into, (into[0] >= 0) & sure[into[0]]), _where(read, (read[1] >= 0) & mine[read[1]]))
    weight = np.bincount(into[1], ledger.weights(*into), len(complete))
    lacking = pages[weight[pages] != ledger.in_weight[pages]]
    read_into = _read(tx, "links/packed_in", ledger, lacking)
    complete[read_into[1][read_into[0] < 0]] = False
    mine[lacking] = False  # `links/packed_in` has just read all links to these pages
    return _where(out, out[1] >= 0), _joined(_where(into, mine[into[1]]), read_into), pages[complete[pages]]


def _joined(some: Links, others: Links) -> Links:
    return np.concatenate([some[0], others[0]]), np.concatenate([some[1], others[1]])


def _where(links: Links, which: NDArray[np.bool_]) -> Links:
    return links[0][which], links[1][which]


def _read(tx: Tx, statement: str, ledger: Ledger, pages: Ints) -> Links:
    """Read the links of places. Return their sources and targets as places, −1 for an end that is not locked."""
    if not len(pages):
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    sources, targets = adjacency.packed(tx, statement, ledger.ids[pages])
    return ledger.seek(sources), ledger.seek(targets)


def _spend(
    ledger: Ledger, side: str, pages: Ints, goals: Floats, payers: Ints, payees: Ints, step: SettlingStep, close: float
) -> Ints:
    """Bring one side of these places to its goal, and pay the neighbours.

    Returns:
        The places that were not at their goal, because they would pay more than the share `close` of their score.
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
    """Return the stored accounts of the pages of a table. Cash of the classic engine is without the offset."""
    columns = np.full((4, table.pages), np.nan)
    for rows in exports.in_ranges(graph, "exports/accounts", table.ids):
        read = np.array(rows, dtype=np.float64)
        columns[:, table.at(read[:, 0].astype(np.int64))] = read[:, 1:].T
    return Exported(*columns)
