"""Pushes of the classic engine: the sides of highest cash first, by any number of workers.

A batch takes the pages and sides with the most cash, locks them and their neighbours in one order, lets one after the
other spend all the cash that it has by then, pays from the virtual page, and writes. A side that another worker has
emptied in the meantime is skipped. A side with more neighbours than a push may have gives all its cash to the virtual
page. Large offsets are moved into the stored cash in steps, and pushes can run between these. Pushing has no end; it
rests when the total cash was spent `passes` times over since the graph last changed. Statements: classic/*,
exports/last_id.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from graphbrain.base.numeric.methods import FORWARD
from graphbrain.base.numeric.rules import Rule
from graphbrain.graph.connection import Again, Tx
from graphbrain.scores.accounts import adjacency, pushes
from graphbrain.scores.accounts.classic_algebra import Turn, Virtual
from graphbrain.scores.accounts.classic_ledger import ClassicLedger, read_virtual
from graphbrain.scores.accounts.pushes import Pushed

__all__ = ["ChosenSide", "candidates", "named", "spend"]

SIDES = ("hub", "authority")
LARGEST_OFFSET = 1000.0
"""In units of the mean cash of a side. Every factor of ten costs a digit of the cash."""
REBASE_IDS = 5_000
UNTOUCHED = 1e-9
"""Stored cash falls only by spending. A smaller fall is no spending."""


@dataclass(frozen=True, slots=True)
class ChosenSide:
    """One side of one page as it was chosen: its stored cash (−inf: push it in any case), and the pages that it can
    pay."""

    side: str
    page: int
    stored: float
    links: int = 0


@dataclass(frozen=True, slots=True)
class Rebase:
    """One step of the pass that moves the offsets into the stored cash, from this id on."""

    first: int


Batch = list[ChosenSide] | Rebase | pushes.Batch


def candidates(
    tx: Tx, waiting: Mapping[str, list[pushes.Candidate]], wanted: pushes.Wanted, rule: Rule
) -> Batch | None:
    """Return the sides of highest cash.

    With a spread of 1 these are the very highest, with more a random part of them. Now and then the batch is of a
    forward account. Among equals the page of higher id comes first, and its hub before its authority.

    Args:
        tx: The transaction in which they are read.
        waiting: Forward account → the first candidates, the best first.
        wanted: The batch.
        rule: The rule of the accounts.

    Returns:
        None if the brain has settled; an empty list if the virtual page holds all cash.
    """
    virtual = read_virtual(tx)
    if virtual.rebasing or max(virtual.hub_offset, virtual.authority_offset) > LARGEST_OFFSET:
        return Rebase(virtual.rebased)
    settled = virtual.settled(rule.classic)
    forward = pushes.forward_candidates(waiting, wanted, rule)
    if settled or pushes.comes_first(forward):
        return pushes.within(forward, wanted)
    sides = [seen for side in SIDES for seen in _highest(tx, side, virtual, wanted.rows)]
    sides.sort(key=lambda pair: (pair[0], pair[1].page, pair[1].side == "hub"), reverse=True)
    chosen = [seen for cash, seen in sides[: wanted.rows] if cash > 0.0]
    if wanted.spread > 1 and chosen:
        places = sorted(random.sample(range(len(chosen)), max(1, len(chosen) // wanted.spread)))
        chosen = [chosen[index] for index in places]
    return _within(chosen, wanted.most, rule.max_payees)


def _highest(tx: Tx, side: str, virtual: Virtual, limit: int) -> list[tuple[float, ChosenSide]]:
    """Return (real cash, side) of the sides with the most stored cash."""
    rows = tx.records(f"classic/{side}_candidates", limit=limit)
    ids = np.array([row.page for row in rows], dtype=np.int64)
    offsets = virtual.hub_offsets(ids) if side == "hub" else virtual.authority_offsets(ids)
    return [
        (stored + offset, ChosenSide(side, page, stored, links))
        for (page, stored, links), offset in zip(rows, offsets.tolist(), strict=True)
    ]


def _within(seen: Sequence[ChosenSide], most: int, max_payees: int) -> list[ChosenSide]:
    """Return the first sides, at least one, until their payments reach `most`."""
    chosen: list[ChosenSide] = []
    payments = 0
    for one in seen:
        more = one.links if one.links <= max_payees else 0
        if chosen and payments + more > most:
            break
        chosen.append(one)
        payments += more
    return chosen


def named(ids: Sequence[int]) -> list[Batch]:
    """Return all sides of these pages, whatever their cash."""
    cash: list[Batch] = [[ChosenSide(side, page, -np.inf) for side in SIDES for page in ids]]
    return [*cash, *({name: list(ids)} for name in FORWARD)] if ids else []


def spend(tx: Tx, batch: Batch, rule: Rule, now: float) -> Pushed:
    """Let those of these sides spend that no other worker has emptied since they were chosen."""
    if isinstance(batch, Rebase):
        return _rebase(tx, batch.first, rule, now)
    if isinstance(batch, dict):
        return pushes.spend(tx, batch, rule, now)
    before = _neighbours(batch, rule, partial(adjacency.payees, tx, rule=rule))
    union = {page for links in before.values() for page, payees in links.items() for page in (page, *payees)}
    # A page that was deleted since then has no links either, and a page of the batch has had its turn.
    ledger = ClassicLedger.lock_present(tx, union, rule)
    # Only data that is read under the lock counts: a reader can see half of a transaction that is being committed.
    links = _neighbours(batch, rule, partial(adjacency.locked_payees, tx, ledger))
    there = [seen for seen in batch if ledger.holds([seen.page, *links[seen.side].get(seen.page, ())])]
    stored = {side: ledger.stored[side][ledger.at([s.page for s in there])].tolist() for side in SIDES}
    go = [seen for index, seen in enumerate(there) if stored[seen.side][index] >= seen.stored - UNTOUCHED]
    if batch and not go:
        return Pushed(lost=len(batch))
    ledger.open(tx, now)
    turns = [_turn(ledger, seen, links[seen.side][seen.page]) for seen in go]
    did = ledger.spend(turns)
    ledger.write(tx, now)
    payments = sum(len(turn.payees) for turn, spent in zip(turns, did, strict=True) if spent)
    return Pushed(sum(did), payments, len(there) - len(go))


def _neighbours(
    batch: Sequence[ChosenSide], rule: Rule, read: Callable[[str, list[int]], Mapping[int, list[int]]]
) -> Mapping[str, dict[int, list[int]]]:
    """Return side → page → the pages that it pays, without links of weight 0; no pages if these are too many."""
    links: dict[str, dict[int, list[int]]] = {}
    for side in SIDES:
        fits = {seen.page: rule.weightless or seen.links <= rule.max_payees for seen in batch if seen.side == side}
        few = [page for page, few in fits.items() if few]
        many = [page for page, few in fits.items() if not few]
        payees_of = read(side, few)
        links[side] = {page: payees if len(payees) <= rule.max_payees else [] for page, payees in payees_of.items()}
        links[side] |= {page: [] for page in many}
    return links


def _turn(ledger: ClassicLedger, seen: ChosenSide, payees: Sequence[int]) -> Turn:
    payer = int(ledger.at([seen.page])[0])
    places = ledger.at(payees)
    own = np.full(len(places), payer)
    hub = seen.side == "hub"
    weights = ledger.weights(own, places)
    return Turn(hub, payer, places, weights)


def _rebase(tx: Tx, first: int, rule: Rule, now: float) -> Pushed:
    """Move the offsets into the stored cash of the next pages, unless another worker did so."""
    ids = tx.one("classic/ids_in", first=first, limit=REBASE_IDS)[0]
    ledger = ClassicLedger.lock(tx, ids, rule)
    virtual = ledger.open(tx, now)
    if virtual.rebased != first:
        return Pushed(lost=1)
    # The creator of a page holds the virtual page's lock, so there are no new pages from here on.
    if tx.one("classic/ids_in", first=first, limit=REBASE_IDS)[0] != ids:
        raise Again
    if not virtual.rebasing:
        virtual.hub_base, virtual.authority_base = virtual.hub_offset, virtual.authority_offset
    virtual.rebased = first + REBASE_IDS
    if not ids and (tx.one("exports/last_id")[0] or 0) < virtual.rebased:
        virtual.end_rebasing()
    ledger.write_rebased(tx)
    return Pushed()
