"""Pages whose last in-link was removed, and pages that are parked or retried by hand.

A page that loses its last in-link, or gets one again, gets a mark (`look_again`), and so does an alias that is linked
to. Workers check marked pages in separate transactions, under the locks of a write of links, and act on those to which
this still applies. Links to an alias move to the page to which it leads, and back (`aliases`). A page without in-links
is parked or forgotten, by the setting `orphans`, and waits again when another page links to it. Pages with depth 0
(seeds, and pages that a crawler reported without a claim), pages that a hint has named, and aliases are never orphans.
Statements: pages/standing, pages/park, pages/pardon, pages/state, pages/relevance.
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
"""The reasons for which a page is parked, besides its failures."""
GIVEN_UP = ("parked", "gone", "alias")
"""The states of pages that wait again when they are seeded."""


_Standing = Any
"""A record of pages/standing: a locked page."""


def _read(tx: Tx, ledger: Accounts) -> list[tuple[_Standing, int]]:
    """Return (record, index in the ledger) of each locked page."""
    rows = tx.records("pages/standing", ids=ledger.ids.tolist())
    return list(zip(rows, ledger.at([row.page for row in rows]).tolist(), strict=True))


def judge(tx: Tx, ids: Sequence[int], policy: Policy, now: float) -> list[str]:
    """Park the orphans among pages, and let pages wait again that are no orphans any more.

    Return the keys of the orphans that must be forgotten. A claimed page is checked again after its lease has ended.
    """
    # Sort the pages by what happens to them.
    ledger = ledgers.of(policy.rule).lock_present(tx, ids, policy.rule)
    to_park: list[_Standing] = []
    to_return: list[_Standing] = []
    to_unmark: list[int] = []
    to_forget: list[str] = []
    for row, index in _read(tx, ledger):
        is_orphan = _is_orphan(row, ledger, index)
        if is_orphan and policy.orphans != "keep" and row.lease_until is not None:
            discovery.look_again(tx, [row.page], max(row.lease_until, now + 1.0))
        elif is_orphan and policy.orphans == "forget":
            to_forget.append(row.key)
        elif is_orphan and policy.orphans == "park" and row.state in ("frontier", "known"):
            to_park.append(row)
        elif row.state == "parked" and row.parked_because == ORPHAN and (not is_orphan or policy.orphans == "keep"):
            to_return.append(row)
        elif not row.leads:  # a page that leads elsewhere loses its mark when its links have moved
            to_unmark.append(row.page)
    # Write their states, and find the queues of those that wait again.
    discovery.look_again(tx, to_unmark, None)
    rows = [[row.page, "parked", ORPHAN] for row in to_park] + [[row.page, "outside", None] for row in to_return]
    if rows:
        tx.do("pages/park", rows=rows)
    _let_in(tx, to_return, policy, now)
    return to_forget


def _let_in(tx: Tx, rows: Sequence[_Standing], policy: Policy, now: float) -> None:
    """Let pages with the state `outside` wait again if the settings allow it. The last locks are those of hosts."""
    if rows:
        requeue.remark(tx, [row.page for row in rows], policy, now)


def _is_orphan(row: _Standing, ledger: Accounts, index: int) -> bool:
    return not (row.linked or ledger.depth[index] == 0 or row.hinted or row.state == "alias")


def forget(tx: Tx, key: str, policy: Policy, now: float) -> bool:
    """Forget a page if it is still an orphan and not claimed. Otherwise its mark stays, and it is checked again.

    Return True if the call must be repeated, as in `edits.forget`.
    """
    ids = discovery.find(tx, [key])
    ledger = ledgers.of(policy.rule).lock_present(tx, ids.values(), policy.rule)
    for row, index in _read(tx, ledger):
        if _is_orphan(row, ledger, index) and row.lease_until is None:
            return edits.forget(tx, key, False, policy, now)
    return False


def park(tx: Tx, ids: Sequence[int], policy: Policy, now: float) -> list[int]:  # noqa: ARG001  as its neighbours
    """Park pages by hand that wait, or that were given up for another reason. Return their ids. Pages that are claimed,
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
    """Let parked and gone pages, aliases, and failed pages wait now as if they had never failed. Return their number.

    A page that was fetched before is claimed once before all others, because in its lane it might not be worth a visit.
    """
    ledger = ledgers.of(policy.rule).lock_present(tx, ids, policy.rule)
    rows = _read(tx, ledger)
    freed_aliases = aliases.free(tx, [row.page for row, _ in rows if row.state == "alias"], policy, now)
    chosen = [row for row, _ in rows if row.lease_until is None and _failed(row)]
    if not chosen:
        return freed_aliases
    # Remove the relevance of gone pages, which was set to the least when they were given up.
    if without_relevance := [[row.page, None] for row in chosen if row.state == "gone"]:
        tx.do("pages/relevance", rows=without_relevance)
    # Remove the failures, and let the pages wait.
    tx.do("pages/pardon", ids=[row.page for row in chosen])
    tx.do("pages/state", rows=[[row.page, "outside", None, None] for row in chosen])
    _let_in(tx, chosen, policy, now)
    requeue.ask(tx, [row.page for row in chosen if row.fetched], policy, now)
    return freed_aliases + len(chosen)


def seed(
    tx: Tx, urls: Mapping[str, str], mark: str, policy: Policy, now: float
) -> dict[str, tuple[edits.Seeded, edits.Seeded]]:
    """Make pages (key → URL) seeds, and let those wait again that were given up.

    Return key → (the page before, the page after). Pages that were forgotten for ever are left out.
    """
    before = edits.seed(tx, urls, mark, policy, now)
    after = {}
    if given_up := [seed.page for seed in before.values() if seed.state in GIVEN_UP]:
        retry(tx, given_up, policy, now)
        after = edits.seeded(tx, given_up, mark)
    return {key: (seed, after.get(seed.page, seed)) for key, seed in before.items()}


def _failed(row: _Standing) -> bool:
    return row.state in (("parked", "gone") if row.not_before is None else ("parked", "gone", "frontier", "known"))
