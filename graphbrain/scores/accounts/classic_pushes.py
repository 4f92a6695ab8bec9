"""Pushes of the classic engine: the sides of highest cash first, by any number of workers.

A batch takes the sides with the most cash, and locks their pages and neighbours in one order. One side after the other
spends all the cash that it has by then. Then the virtual page pays, and the batch is written. A side that another
worker has emptied in the meantime is skipped. A side with more neighbours than a push may have gives all its cash to
the virtual page. Large offsets are moved into the stored cash in steps, and pushes can run between these. Pushes would
never end. They rest after the total cash was spent `passes` times since the last change of the graph. Statements:
classic/*, exports/last_id.
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
"""The largest offset, in units of the mean cash of a side. Every factor of ten costs a digit of the cash."""
REBASE_IDS = 5_000
UNTOUCHED = 1e-9
"""A side has spent if its stored cash has fallen by more than this. A smaller fall is rounding."""


@dataclass(frozen=True, slots=True)
class ChosenSide:
    """One side of one page, at the time of its choice.

    Attributes:
        stored: Its stored cash. −inf: it is pushed in any case.
        links: The number of pages that it can pay.
    """

    side: str
    page: int
    stored: float
    links: int = 0


@dataclass(frozen=True, slots=True)
class Rebase:
    """One step of the pass that moves the offsets into the stored cash. It begins with the id `first`."""

    first: int


Batch = list[ChosenSide] | Rebase | pushes.Batch


def candidates(
    tx: Tx, waiting: Mapping[str, list[pushes.Candidate]], wanted: pushes.Wanted, rule: Rule
) -> Batch | None:
    """Return the sides of highest cash: all of them, or with a spread above 1 a random part.

    Some batches are of a forward account instead, and one that moves the offsets comes before all others. Of equal
    cash, the page of higher id comes first, and its hub before its authority.

    Args:
        tx: The transaction in which they are read.
        waiting: Forward account → the first candidates, the best first.
        wanted: The batch.
        rule: The rule of the accounts.

    Returns:
        None if the brain has settled; an empty list if the virtual page holds all cash.
    """
    # Batches of other kinds come first.
    virtual = read_virtual(tx)
    if virtual.rebasing or max(virtual.hub_offset, virtual.authority_offset) > LARGEST_OFFSET:
        return Rebase(virtual.rebased)
    settled = virtual.settled(rule.classic)
    forward = pushes.forward_candidates(waiting, wanted, rule)
    if settled or pushes.comes_first(forward):
        return pushes.within(forward, wanted)
    # Choose among the sides with the most cash.
    sides = [pair for side in SIDES for pair in _highest(tx, side, virtual, wanted.rows)]
    sides.sort(key=lambda pair: (pair[0], pair[1].page, pair[1].side == "hub"), reverse=True)
    chosen = [side for cash, side in sides[: wanted.rows] if cash > 0.0]
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


def _within(sides: Sequence[ChosenSide], most: int, max_payees: int) -> list[ChosenSide]:
    """Return the first sides, at least one, with at most `most` payments."""
    chosen: list[ChosenSide] = []
    payments = 0
    for side in sides:
        more = side.links if side.links <= max_payees else 0
        if chosen and payments + more > most:
            break
        chosen.append(side)
        payments += more
    return chosen


def named(ids: Sequence[int]) -> list[Batch]:
    """Return batches with all sides of these pages, whatever their cash."""
    cash: list[Batch] = [[ChosenSide(side, page, -np.inf) for side in SIDES for page in ids]]
    return [*cash, *({name: list(ids)} for name in FORWARD)] if ids else []


def spend(tx: Tx, batch: Batch, rule: Rule, now: float) -> Pushed:
    """Let the sides of a batch spend, except those that other workers have emptied since they were chosen."""
    if isinstance(batch, Rebase):
        return _rebase(tx, batch.first, rule, now)
    if isinstance(batch, dict):
        return pushes.spend(tx, batch, rule, now)
    # Lock the pages and their neighbours. Pages that were deleted in the meantime are skipped.
    before = _neighbours(batch, rule, partial(adjacency.payees, tx, rule=rule))
    union = {page for links in before.values() for payer, payees in links.items() for page in (payer, *payees)}
    ledger = ClassicLedger.lock_present(tx, union, rule)
    # Read the links again: a read without locks can see half of a transaction that is being committed.
    links = _neighbours(batch, rule, partial(adjacency.locked_payees, tx, ledger))
    locked = [chosen for chosen in batch if ledger.holds([chosen.page, *links[chosen.side].get(chosen.page, ())])]
    places = ledger.at([chosen.page for chosen in locked]).tolist()
    full = [
        chosen
        for chosen, place in zip(locked, places, strict=True)
        if ledger.stored[chosen.side][place] >= chosen.stored - UNTOUCHED
    ]
    if batch and not full:
        return Pushed(lost=len(batch))
    # Spend and write.
    ledger.open(tx, now)
    turns = [_turn(ledger, chosen, links[chosen.side][chosen.page]) for chosen in full]
    had_cash = ledger.spend(turns)
    ledger.write(tx, now)
    payments = sum(len(turn.payees) for turn, spent in zip(turns, had_cash, strict=True) if spent)
    return Pushed(sum(had_cash), payments, len(locked) - len(full))


def _neighbours(
    batch: Sequence[ChosenSide], rule: Rule, read: Callable[[str, list[int]], Mapping[int, list[int]]]
) -> Mapping[str, dict[int, list[int]]]:
    """Return side → page → the pages that it pays, without links of weight 0. A page with too many has none."""
    links: dict[str, dict[int, list[int]]] = {}
    for side in SIDES:
        # Read no links of pages that certainly have too many. If links can weigh 0, only a read gives the number.
        fits = {each.page: rule.weightless or each.links <= rule.max_payees for each in batch if each.side == side}
        payees_of = read(side, [page for page, few in fits.items() if few])
        links[side] = {page: payees if len(payees) <= rule.max_payees else [] for page, payees in payees_of.items()}
        links[side] |= {page: [] for page, few in fits.items() if not few}
    return links


def _turn(ledger: ClassicLedger, chosen: ChosenSide, payees: Sequence[int]) -> Turn:
    payer = int(ledger.at([chosen.page])[0])
    places = ledger.at(payees)
    weights = ledger.weights(np.full(len(places), payer), places)
    return Turn(chosen.side == "hub", payer, places, weights)


def _rebase(tx: Tx, first: int, rule: Rule, now: float) -> Pushed:
    """Move the offsets into the stored cash of the next pages, unless another worker did so."""
    ids = tx.one("classic/ids_in", first=first, limit=REBASE_IDS)[0]
    ledger = ClassicLedger.lock(tx, ids, rule)
    virtual = ledger.open(tx, now)
    if virtual.rebased != first:
        return Pushed(lost=1)
    # The creator of a page locks the virtual page, so that no page can be new from here on.
    if tx.one("classic/ids_in", first=first, limit=REBASE_IDS)[0] != ids:
        raise Again
    if not virtual.rebasing:
        virtual.hub_base, virtual.authority_base = virtual.hub_offset, virtual.authority_offset
    virtual.rebased = first + REBASE_IDS
    if not ids and (tx.one("exports/last_id")[0] or 0) < virtual.rebased:
        virtual.end_rebasing()
    ledger.write_rebased(tx)
    return Pushed()
