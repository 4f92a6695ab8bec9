"""Pushes of cash and of forward accounts, in batches, by any number of workers.

A batch takes the sides with the highest waiting cash per link, of all accounts together. It locks them and their
neighbours in one order, spends and pays in memory by `algebra`, one account after the other, and writes. A page whose
links changed between the read of the links and the lock waits for the next batch. Statements: cash/*.
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
"""Account → the side along whose links it pays. Forward accounts pay along the same links as hub cash."""

NO_LIMIT = 1_000_000_000
"""More links than any side has. Neo4j 5.26 counts links in 32 bits."""
LINKS_OF_A_SIDE = 5
"""The payments of a batch for each side that it may have. Pages with few links cost more than their payments."""


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
"""Account → the pages that pay from it."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The size and the choice of the next batch.

    Attributes:
        most: The largest number of payments.
        spread: 1 to choose the sides that are most worth a push. With n, n times as many candidates are read, and a
            random n-th of them is chosen.
        fewer: Choose only sides with fewer links than this.
    """

    most: int
    spread: int = 1
    fewer: int = NO_LIMIT

    @property
    def rows(self) -> int:
        """Return the number of candidates to read of each account."""
        return max(1, self.most // LINKS_OF_A_SIDE) * self.spread


def candidates(_tx: Tx, waiting: Mapping[str, list[Candidate]], wanted: Wanted, rule: Rule) -> Batch | None:
    """Return the next sides to push.

    Args:
        _tx: The transaction, which only the classic engine needs.
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
    """Return True if these candidates are pushed before those of cash: with probability ½.

    The priority of flow is relative to the flow of seeds, that of cash to the cash of all pages. They cannot be
    compared.
    """
    return bool(forward) and random.random() < 0.5


def _some(
    waiting: Mapping[str, list[Candidate]], accounts: Iterable[str], wanted: Wanted
) -> list[tuple[str, Candidate]]:
    """Return (account, candidate) of these accounts; with a spread, a random part of them."""
    some: list[tuple[str, Candidate]] = []
    for account in accounts:
        rows = waiting[account]
        if wanted.spread > 1 and rows:
            rows = random.sample(rows, max(1, len(rows) // wanted.spread))
        some += [(account, row) for row in rows]
    return some


def within(chosen: Iterable[tuple[str, Candidate]], wanted: Wanted) -> Batch | None:
    """Return the batch of the first candidates, at least one, with at most `wanted.most` payments."""
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
    """Return a batch with all sides of these pages, whatever their priorities."""
    return [{account: list(ids)} for account in ALONG] if ids else []


def halves(batch: Batch) -> list[Batch]:
    """Return the batch in two halves; a batch of one page stays whole."""
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
    # Choose the pages with few links, whose ends are all locked.
    links = links_of[name]
    pages = [page for page, ends in sorted(links.items()) if 0 < len(ends) <= rule.max_payees and ledger.holds(ends)]
    if not pages:
        return Pushed(lost=len(goals))
    # Let them pay along all their links.
    places = ledger.at(pages)
    payers = np.repeat(places, [len(links[page]) for page in pages])
    payees = ledger.at(np.concatenate([links[page] for page in pages]))
    ledger.bring(name, places, np.array([goals[page] for page in pages]), payers, payees)
    ledger.write(tx, now)
    return Pushed(len(places), len(payees), len(goals) - len(places))


def _lock_payees(tx: Tx, batch: Batch, rule: Rule) -> tuple[Accounts | None, dict[str, dict[int, list[int]]]]:
    """Lock the pages of a batch and those that they pay, and return the ledger and account → page → the pages it pays.

    The ledger is None if none of the pages exists.
    """
    before = _links(batch, lambda side, pages: adjacency.payees(tx, side, pages, rule))
    # A page with too many neighbours is parked, not pushed: its neighbours need no lock.
    union = {
        page
        for links in before.values()
        for payer, ends in links.items()
        for page in (payer, *(ends if len(ends) <= rule.max_payees else ()))
    }
    if not union:
        return None, {}
    ledger = ledgers.lock(tx, union, rule)
    # Read the links again: a read without locks can see half of a transaction that is being committed.
    existing = {account: [page for page in pages if page in before[account]] for account, pages in batch.items()}
    return ledger, _links(existing, lambda side, pages: adjacency.locked_payees(tx, ledger, side, pages))


def _links(batch: Batch, read: Callable[[str, set[int]], dict[int, list[int]]]) -> dict[str, dict[int, list[int]]]:
    """Return account → page → the pages that it pays. The links of a side are read once for all its accounts."""
    sides = {
        side: {page for account, pages in batch.items() if ALONG[account] == side for page in pages}
        for side in adjacency.SIDES
    }
    links = {side: read(side, pages) if pages else {} for side, pages in sides.items()}
    return {account: links[ALONG[account]] for account in batch}


def _spend(account: str, links: Mapping[int, list[int]], ledger: Accounts) -> Pushed:
    """Push one account of these pages (page → the pages it pays). Park the pages that are not worth a push, and those
    with too many neighbours."""
    ids = np.array(sorted(links), dtype=np.int64)
    # Park pages that no push is for.
    places = ledger.at(ids)
    counts = np.array([len(links[page]) for page in ids.tolist()], dtype=np.int64)
    worth = (ledger.urgency(account)[places] != NONE) & (counts > 0)
    too_many = worth & (counts > ledger.rule.max_payees)
    if (parked := too_many | ~worth).any():
        ledger.park(account, ids[parked])
    # Push the others. A page that got a link after its neighbours were locked waits for the next batch.
    pays = worth & ~too_many & np.array([ledger.holds(links[page]) for page in ids.tolist()], dtype=bool)
    payers = places[pays]
    payees = ledger.at([end for page in ids[pays].tolist() for end in links[page]])
    ledger.push(account, payers, np.repeat(payers, counts[pays]), payees)
    return Pushed(len(payers), len(payees), int((~worth).sum()))
