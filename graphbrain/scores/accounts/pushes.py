"""Pushes of cash and of forward accounts, in batches, by any number of workers.

A batch takes the sides with the highest waiting cash per link, of all accounts together, locks them and their
neighbours in one order, spends and pays in memory by `algebra`, one account after the other, and writes. Pages whose
links changed between the read of the links and the lock are left to the next batch. Statements: cash/*.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

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
    "spend",
    "within",
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

    def __add__(self, other: Pushed) -> Pushed:
        return Pushed(self.pushes + other.pushes, self.payments + other.payments, self.lost + other.lost)


Candidate = tuple[int, int, int]
"""(page id, priority, number of links)"""
Batch = dict[str, list[int]]
"""The pages to push, by the account that pays."""


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
    cash = sorted(_some(waiting, ("hub", "authority"), wanted), key=lambda each: each[1][1], reverse=True)
    forward = forward_candidates(waiting, wanted, rule)
    return within([*forward, *cash] if comes_first(forward) else [*cash, *forward], wanted)


def forward_candidates(
    waiting: Mapping[str, list[Candidate]], wanted: Wanted, rule: Rule
) -> list[tuple[str, Candidate]]:
    """Return the candidates of the forward accounts, account by account in a random order."""
    names = [forward.name for forward in rule.forwards if forward.pushed]
    return _some(waiting, random.sample(names, len(names)), wanted)


def comes_first(forward: Sequence[object]) -> bool:
    """Return True if these are pushed before cash, which is every other time, at random.

    Flow is measured against that of seeds, and cash against that of all pages, so neither is known to be more urgent.
    """
    return bool(forward) and random.random() < 0.5


def _some(
    waiting: Mapping[str, list[Candidate]], accounts: Iterable[str], wanted: Wanted
) -> list[tuple[str, Candidate]]:
    """Return (account, candidate) of these accounts, a random part of them if the batch is to be spread."""
    some: list[tuple[str, Candidate]] = []
    for account in accounts:
        rows = waiting[account]
        if wanted.spread > 1 and rows:
            rows = random.sample(rows, max(1, len(rows) // wanted.spread))
        some += [(account, row) for row in rows]
    return some


def within(chosen: Iterable[tuple[str, Candidate]], wanted: Wanted) -> Batch | None:
    """Return the batch of the first of these, at least one, until their payments reach `wanted.most`."""
    pages: list[tuple[str, int]] = []
    payments = 0
    for account, (page, _, links) in chosen:
        if pages and payments + links > wanted.most:
            break
        pages.append((account, page))
        payments += links
    return _batch(pages) if pages else None


def _batch(pages: Iterable[tuple[str, int]]) -> Batch:
    batch: Batch = {}
    for account, page in pages:
        batch.setdefault(account, []).append(page)
    return batch


def named(ids: Sequence[int]) -> list[Batch]:
    """Return all sides of these pages, whatever waits on them."""
    return [{account: list(ids)} for account in ALONG] if ids else []


def halves(batch: Batch) -> list[Batch]:
    """Return the same work in two parts, or in one if it has one page."""
    pages = [(account, page) for account, some in batch.items() for page in some]
    middle = (len(pages) + 1) // 2
    return [_batch(part) for part in (pages[:middle], pages[middle:]) if part]


def payees(tx: Tx, batch: Batch) -> int:
    """Return the largest number of neighbours that a side of the batch has."""
    links = _links(batch, lambda side, pages: adjacency.read(tx, side, pages))
    return max((len(ends) for each in links.values() for ends in each.values()), default=0)


def spend(tx: Tx, batch: Batch, rule: Rule, now: float) -> Pushed:
    """Push the sides of one batch that are still worth it, one account after the other."""
    unpushed = {forward.name for forward in rule.forwards if not forward.pushed}
    batch = {account: pages for account, pages in batch.items() if account not in unpushed}
    ledger, links = _lock_payees(tx, batch, rule)
    if ledger is None:
        return Pushed(lost=sum(map(len, batch.values())))
    done = Pushed()
    for account, pages in batch.items():
        done += _spend(account, {page: links[account][page] for page in pages if page in links[account]}, ledger)
    ledger.write(tx, now)
    return done


def bring(tx: Tx, name: str, goals: Mapping[int, float], rule: Rule, now: float) -> Pushed:
    """Let pages (id → score) pass on the amount of a forward account that is due for these scores.

    Pages with more links than a push may pay along are skipped.
    """
    if any(forward.name == name and not forward.settles for forward in rule.forwards):
        return Pushed()
    ledger, links_of = _lock_payees(tx, {name: list(goals)}, rule)
    if ledger is None:
        return Pushed(lost=len(goals))
    links = links_of[name]
    few = [page for page, ends in sorted(links.items()) if 0 < len(ends) <= rule.max_payees and ledger.holds(ends)]
    if not few:
        return Pushed(lost=len(goals))
    places = ledger.at(few)
    payers = np.repeat(places, [len(links[page]) for page in few])
    payees = ledger.at(np.concatenate([links[page] for page in few]))
    ledger.bring(name, places, np.array([goals[page] for page in few]), payers, payees)
    ledger.write(tx, now)
    return Pushed(len(places), len(payees), len(goals) - len(places))


def _lock_payees(tx: Tx, batch: Batch, rule: Rule) -> tuple[Accounts | None, dict[str, dict[int, list[int]]]]:
    """Lock the pages of a batch and those that they pay, and return the ledger and account → page → the pages it pays.

    The ledger is None if none of the pages exists.
    """
    before = _links(batch, lambda side, pages: adjacency.payees(tx, side, pages, rule))
    # A page that may not be pushed needs no neighbours: it is parked.
    union = {
        page
        for links in before.values()
        for payer, ends in links.items()
        for page in (payer, *(ends if len(ends) <= rule.max_payees else ()))
    }
    if not union:
        return None, {}
    ledger = ledgers.lock(tx, union, rule)
    # Only data that is read under the lock counts: a reader can see half of a transaction that is being committed.
    there = {account: [page for page in pages if page in before[account]] for account, pages in batch.items()}
    return ledger, _links(there, lambda side, pages: adjacency.locked_payees(tx, ledger, side, pages))


def _links(batch: Batch, read: Callable[[str, set[int]], dict[int, list[int]]]) -> dict[str, dict[int, list[int]]]:
    """Return account → page → the pages that it pays. The links of a side are read once for all its accounts."""
    sides = {
        side: {page for account, pages in batch.items() if ALONG[account] == side for page in pages}
        for side in adjacency.SIDES
    }
    links = {side: read(side, pages) if pages else {} for side, pages in sides.items()}
    return {account: links[ALONG[account]] for account in batch}


def _spend(account: str, links: Mapping[int, list[int]], ledger: Accounts) -> Pushed:
    """Push one account of these pages (page → the pages it pays), and park those that pushes are to leave."""
    ids = np.array(sorted(links), dtype=np.int64)
    places = ledger.at(ids)
    counts = np.array([len(links[page]) for page in ids.tolist()], dtype=np.int64)
    worth = (ledger.urgency(account)[places] != NONE) & (counts > 0)
    too_many = worth & (counts > ledger.rule.max_payees)
    if (parked := too_many | ~worth).any():
        ledger.park(account, ids[parked])
    # A page that got a link after its neighbours were locked waits for the next batch.
    go = worth & ~too_many & np.array([ledger.holds(links[page]) for page in ids.tolist()], dtype=bool)
    chosen = places[go]
    payees = ledger.at([end for page in ids[go].tolist() for end in links[page]])
    ledger.push(account, chosen, np.repeat(chosen, counts[go]), payees)
    return Pushed(len(chosen), len(payees), int((~worth).sum()))
