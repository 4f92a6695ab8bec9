"""Pages that change without a visit: the last link to them is gone, or they are let wait again by hand.

A page that loses its last in-link, or gets one again, carries a mark (`look_again`), and so does an alias that is
linked to. Workers look at marked pages, in transactions of their own, under the locks under which links are written,
and act on those that are still so. Links to an alias move to the page it leads to, and back (`aliases`). A page without
in-links is parked or forgotten, by the setting `orphans`, and comes back when it is linked to again. Pages where the
crawl begins (seeds, and pages that a crawler reported unasked: depth 0), pages that a hint has named, and aliases are
never orphans. Statements: pages/standing, pages/park, pages/pardon, pages/state, pages/relevance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graphbrain.frontier import discovery
from graphbrain.frontier.corrections import aliases, edits, requeue
from graphbrain.frontier.policy import Policy
from graphbrain.graph.connection import Tx
from graphbrain.scores.accounts import ledgers
from graphbrain.scores.accounts.ledgers import Accounts

__all__ = ["ORPHAN", "forget", "judge", "park", "retry", "seed"]

ORPHAN, BY_HAND = "orphan", "by hand"
"""The reasons for which a page is parked, beside its failures."""
GIVEN_UP = ("parked", "gone", "alias")
"""Pages that wait again when they are seeded."""


_Standing = Any
"""A locked page, as pages/standing returns it."""


def _read(tx: Tx, ledger: Accounts) -> list[tuple[_Standing, int]]:
    """Locked pages, each with its place in the ledger."""
    rows = tx.records("pages/standing", ids=ledger.ids.tolist())
    return list(zip(rows, ledger.at([row.page for row in rows]).tolist(), strict=True))


def judge(tx: Tx, ids: Sequence[int], policy: Policy, now: float) -> list[str]:
    """Park orphans among these pages, and let those in again that are none. Return the keys of those to be forgotten. A
    page that a worker holds is looked at again when its lease has ended."""
    ledger = ledgers.of(policy.rule).lock_present(tx, ids, policy.rule)
    parked: list[_Standing] = []
    back: list[_Standing] = []
    seen: list[int] = []
    forgotten: list[str] = []
    for row, index in _read(tx, ledger):
        orphan = _is_orphan(row, ledger, index)
        if orphan and policy.orphans != "keep" and row.lease_until is not None:
            discovery.look_again(tx, [row.page], max(row.lease_until, now + 1.0))
        elif orphan and policy.orphans == "forget":
            forgotten.append(row.key)
        elif orphan and policy.orphans == "park" and row.state in ("frontier", "known"):
            parked.append(row)
        elif row.state == "parked" and row.parked_because == ORPHAN and (not orphan or policy.orphans == "keep"):
            back.append(row)
        elif not row.leads:  # the mark of one that does goes when its links have moved
            seen.append(row.page)
    discovery.look_again(tx, seen, None)
    rows = [[row.page, "parked", ORPHAN] for row in parked] + [[row.page, "outside", None] for row in back]
    if rows:
        tx.do("pages/park", rows=rows)
    _let_in(tx, back, policy, now)
    return forgotten


def _let_in(tx: Tx, rows: Sequence[_Standing], policy: Policy, now: float) -> None:
    """Let pages that were put outside wait again, if the settings let them in. The last locks are hosts'."""
    if rows:
        requeue.remark(tx, [row.page for row in rows], policy, now)


def _is_orphan(row: _Standing, ledger: Accounts, index: int) -> bool:
    return not (row.linked or ledger.depth[index] == 0 or row.hinted or row.state == "alias")


def forget(tx: Tx, key: str, policy: Policy, now: float) -> bool:
    """Forget a page if it is still an orphan that no worker holds; otherwise its mark stays, and it is judged anew.
    True: the call must be repeated, as in `edits.forget`."""
    ids = discovery.find(tx, [key])
    ledger = ledgers.of(policy.rule).lock_present(tx, ids.values(), policy.rule)
    for row, index in _read(tx, ledger):
        if _is_orphan(row, ledger, index) and row.lease_until is None:
            return edits.forget(tx, key, False, policy, now)
    return False


def park(tx: Tx, ids: Sequence[int], policy: Policy, now: float) -> list[int]:  # noqa: ARG001  as its neighbours
    """Give up pages that wait, or that were given up for another reason. Return their ids. Pages that are held,
    redirect, or are outside stay as they are."""
    ledger = ledgers.of(policy.rule).lock_present(tx, ids, policy.rule)
    chosen = [
        row.page
        for row, _ in _read(tx, ledger)
        if row.lease_until is None and row.state in ("frontier", "known", "parked", "gone")
    ]
    if chosen:
        tx.do("pages/pardon", ids=chosen)
        tx.do("pages/park", rows=[[page, "parked", BY_HAND] for page in chosen])
    return chosen


def retry(tx: Tx, ids: Sequence[int], policy: Policy, now: float) -> int:
    """Let parked and gone pages, aliases, and those that have failed, wait at once as if they had never failed. Return
    their number. A page that was fetched before is claimed once, before all others: by its lane it might be worth
    nothing yet."""
    ledger = ledgers.of(policy.rule).lock_present(tx, ids, policy.rule)
    rows = _read(tx, ledger)
    freed = aliases.free(tx, [row.page for row, _ in rows if row.state == "alias"], policy, now)
    chosen = [row for row, _ in rows if row.lease_until is None and _failed(row)]
    if not chosen:
        return freed
    if finished := [[row.page, None] for row in chosen if row.state == "gone"]:
        tx.do("pages/relevance", rows=finished)  # the least relevance was set because the page was gone
    tx.do("pages/pardon", ids=[row.page for row in chosen])
    tx.do("pages/state", rows=[[row.page, "outside", None, None] for row in chosen])
    _let_in(tx, chosen, policy, now)
    requeue.ask(tx, [row.page for row in chosen if row.fetched], policy, now)
    return freed + len(chosen)


def seed(
    tx: Tx, urls: Mapping[str, str], mark: str, policy: Policy, now: float
) -> dict[str, tuple[edits.Seeded, edits.Seeded]]:
    """Make these pages (key → URL) seeds, and let those wait again that were given up: who names them wants them. Of
    each what it was and what it is; those that were forgotten for ever are not in the answer."""
    before = edits.seed(tx, urls, mark, policy, now)
    after = {}
    if again := [seed.page for seed in before.values() if seed.state in GIVEN_UP]:
        retry(tx, again, policy, now)
        after = edits.seeded(tx, again, mark)
    return {key: (seed, after.get(seed.page, seed)) for key, seed in before.items()}


def _failed(row: _Standing) -> bool:
    return row.state in (("parked", "gone") if row.not_before is None else ("parked", "gone", "frontier", "known"))
