"""Pushes of cash and of forward accounts, in batches, by any number of workers.

A batch takes the sides with the highest waiting cash per link, locks them and their neighbours in one order, spends and
pays in memory by `algebra`, and writes. Pages whose links changed between the read of the links and the lock are left
to the next batch. Statements: cash/*.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from graphbrain.base.numeric.arrays import Ints
from graphbrain.base.numeric.rules import Rule
from graphbrain.graph.connection import Tx
from graphbrain.scores.accounts import adjacency, ledgers
from graphbrain.scores.accounts.algebra import NONE
from graphbrain.scores.accounts.ledgers import Accounts

__all__ = [
    "NO_LIMIT",
    "Batch",
    "Candidate",
    "Pushed",
    "Wanted",
    "bring",
    "candidates",
    "comes_first",
    "forward_candidates",
    "halves",
    "named",
    "payees",
    "push",
    "spend",
]

ALONG = {"hub": "hub", "authority": "authority", "flow": "hub", "live_pagerank": "hub"}
"""The side along whose links each account pays: forward accounts take the way of hub cash."""

NO_LIMIT = 1_000_000_000
"""More links than any side has. Neo4j 5.26 counts links in 32 bits."""
LINKS_OF_A_SIDE = 5
"""A batch takes at most one side for this number of payments, because a page with few links costs more for itself."""


@dataclass(frozen=True, slots=True)
class Pushed:
    """The result of one batch: sides pushed, payments made, candidates that others had pushed first."""

    pushes: int = 0
    payments: int = 0
    lost: int = 0


Candidate = tuple[int, int, int]
"""(page id, priority, number of links)"""
Batch = tuple[str, list[int]]
"""The side to push, and the pages."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A batch that is wanted.

    Attributes:
        most: The largest number of payments.
        spread: 1 for the sides that are most worth a push, more for a random part of so many times as many.
        fewer: Only sides of fewer links.
    """

    most: int
    spread: int = 1
    fewer: int = NO_LIMIT

    @property
    def rows(self) -> int:
        """The number of candidates to read of each account."""
        return max(1, self.most // LINKS_OF_A_SIDE) * self.spread


def candidates(_tx: Tx, waiting: Mapping[str, list[Candidate]], wanted: Wanted, rule: Rule) -> Batch | None:
    """Return the next sides to push.

    Args:
        _tx: Other engines read with it.
        waiting: Account → the first candidates, the best first.
        wanted: The batch.
        rule: The rule of the accounts.

    Returns:
        None if nothing is worth a push.
    """
    sides = {side: waiting[side] for side in ("hub", "authority")}
    side = max(sides, key=lambda name: sides[name][0][1] if sides[name] else NONE)
    cash = _chosen(side, sides[side], wanted)
    forward = forward_candidates(waiting, wanted, rule)
    return forward if cash is None or comes_first(forward) else cash


def forward_candidates(waiting: Mapping[str, list[Candidate]], wanted: Wanted, rule: Rule) -> Batch | None:
    """Return the same as `candidates` for one forward account; of several that wait, a random one."""
    names = [forward.name for forward in rule.forwards if forward.pushed]
    for name in random.sample(names, len(names)):
        if (chosen := _chosen(name, waiting[name], wanted)) is not None:
            return chosen
    return None


def comes_first(forward: Batch | None) -> bool:
    """Return True if this batch is pushed before cash, which is every other time, at random.

    Flow is measured against that of seeds, and cash against that of all pages, so neither is known to be more urgent.
    """
    return forward is not None and random.random() < 0.5


def _chosen(side: str, rows: list[Candidate], wanted: Wanted) -> Batch | None:
    if wanted.spread > 1 and rows:
        rows = random.sample(rows, max(1, len(rows) // wanted.spread))
    return (side, _within(rows, wanted.most)) if rows else None


def named(ids: Sequence[int]) -> list[Batch]:
    """Return all sides of these pages, whatever waits on them."""
    return [(side, list(ids)) for side in ALONG] if ids else []


def halves(batch: Batch) -> list[Batch]:
    """Return the same work in two parts, or in one if it has one page."""
    side, pages = batch
    middle = (len(pages) + 1) // 2
    return [(side, part) for part in (pages[:middle], pages[middle:]) if part]


def payees(tx: Tx, batch: Batch) -> int:
    """Return the largest number of neighbours that a side of the batch has."""
    side, pages = batch
    return max((len(ends) for ends in adjacency.read(tx, ALONG[side], pages).values()), default=0)


def spend(tx: Tx, batch: Batch, rule: Rule, now: float) -> Pushed:
    """Push the sides of one batch."""
    side, pages = batch
    return push(tx, side, pages, rule, now)


def _within(rows: Sequence[Candidate], most: int) -> list[int]:
    """Return the first pages, at least one, until their payments reach `most`."""
    chosen: list[int] = []
    payments = 0
    for page, _, links in rows:
        if chosen and payments + links > most:
            break
        chosen.append(page)
        payments += links
    return chosen


def push(tx: Tx, side: str, pages: Sequence[int], rule: Rule, now: float) -> Pushed:
    """Push one side of these pages, if it is still worth it."""
    if any(forward.name == side and not forward.pushed for forward in rule.forwards):
        return Pushed()
    ledger, links = _held(tx, side, pages, rule)
    if ledger is None:
        return Pushed(lost=len(pages))
    return _spend(tx, side, links, ledger, now)


def bring(tx: Tx, name: str, goals: Mapping[int, float], rule: Rule, now: float) -> Pushed:
    """Let pages (id → score) pass on the amount of a forward account that is due for these scores.

    Pages with more links than a push may pay along are skipped.
    """
    if any(forward.name == name and not forward.settles for forward in rule.forwards):
        return Pushed()
    ledger, links = _held(tx, name, list(goals), rule)
    if ledger is None:
        return Pushed(lost=len(goals))
    few = [page for page, ends in sorted(links.items()) if 0 < len(ends) <= rule.max_payees and ledger.holds(ends)]
    if not few:
        return Pushed(lost=len(goals))
    places = ledger.at(few)
    payers = np.repeat(places, [len(links[page]) for page in few])
    payees = ledger.at(np.concatenate([links[page] for page in few]))
    ledger.bring(name, places, np.array([goals[page] for page in few]), payers, payees)
    ledger.write(tx, now)
    return Pushed(len(places), len(payees), len(goals) - len(places))


def _held(tx: Tx, side: str, pages: Sequence[int], rule: Rule) -> tuple[Accounts | None, dict[int, list[int]]]:
    """Lock these pages and those that a side of them pays, and return the ledger and page → the pages it pays.

    The ledger is None if none of the pages exists.
    """
    before = adjacency.payees(tx, ALONG[side], pages, rule)
    # A page that may not be pushed needs no neighbours: it is parked.
    union = set(before).union(*(ends for ends in before.values() if len(ends) <= rule.max_payees))
    if not union:
        return None, {}
    ledger = ledgers.lock(tx, union, rule)
    # Only data that is read under the lock counts: a reader can see half of a transaction that is being committed.
    return ledger, adjacency.held_payees(tx, ledger, ALONG[side], before)


def _spend(tx: Tx, side: str, links: dict[int, list[int]], ledger: Accounts, now: float) -> Pushed:
    ids = np.array(sorted(links), dtype=np.int64)
    places = ledger.at(ids)
    waiting = ledger.urgency(side)
    counts = np.array([len(links[page]) for page in ids.tolist()])
    worth = (waiting[places] != NONE) & (counts > 0)
    too_many = worth & (counts > ledger.rule.max_payees)
    if (parked := too_many | ~worth).any():
        ledger.park(side, ids[parked])
    # A page that got a link after its neighbours were locked waits for the next batch.
    go = worth & ~too_many & np.array([ledger.holds(links[page]) for page in ids.tolist()])
    chosen = places[go]
    payers = np.repeat(chosen, counts[go])
    payees: Ints = ledger.at([end for page in ids[go].tolist() for end in links[page]])
    ledger.push(side, chosen, payers, payees)
    ledger.write(tx, now)
    return Pushed(len(chosen), len(payees), int((~worth).sum()))
