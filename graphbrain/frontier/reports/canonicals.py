"""Canonicals: links to a page count for another page of its host that the page names as its canonical.

With `canonical_links = follow`, a page stores in `canonical_key` the key of the other page of its host that its
canonical named at its last visit. If that page was fetched, is neither missing nor an alias, and does not name the
first page in turn, a `CANONICAL` relation leads from the first page to it, and links to the first page end there, as
links to an alias end at its target. Visits mark pages for which this has changed. Upkeep writes the relations of marked
pages, and then moves links, both in bounded steps. A relation depends only on the pages at its ends, and is written
under their locks. Statements: canonicals/*, links/led_to.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from graphbrain.base.model import Fetched
from graphbrain.base.urls.normalization import host_of
from graphbrain.frontier.discovery import look_again
from graphbrain.frontier.policy import Policy
from graphbrain.frontier.reports import visits
from graphbrain.frontier.reports.outcomes import Verdict
from graphbrain.frontier.reports.relink import Named
from graphbrain.graph.connection import Again, Tx
from graphbrain.scores.accounts import ledgers

__all__ = ["differing", "let_go", "note", "note_again", "settle", "still", "unsettled"]

SETTLED_AT_ONCE = 200
"""The most pages whose relations one transaction writes."""
NOWHERE = -1


def note(tx: Tx, verdicts: Sequence[Verdict], policy: Policy) -> set[int]:
    """Store the canonicals that visited pages name. Return the pages whose relations must be corrected."""
    if policy.key_of is None:
        return set()
    accepted = [v for v in verdicts if v.keep]
    pages = [v.visit.page for v in accepted if isinstance(v.item.report, Fetched) and not v.item.report.not_modified]
    changed = {v.visit.page for v in accepted if visits.turns(v)}.union(_write_keys(tx, pages, policy))
    return _off(tx, [[v.visit.page, v.visit.page in changed] for v in accepted])


def still(tx: Tx, named: Named, policy: Policy) -> None:
    """Raise Again if a page that a batch names leads to another page than before it was locked."""
    if policy.key_of is None:
        return
    led = dict(tx.one("links/led_to", ids=sorted(named.ids.values()))[0])
    if any(named.goals[key] != led.get(page, page) for key, page in named.ids.items()):
        raise Again("a page leads elsewhere meanwhile")


def note_again(tx: Tx, ids: Sequence[int], policy: Policy, now: float) -> None:
    """Store the canonical keys of locked pages by the present settings and URL rules, and mark the pages whose
    relations must be corrected."""
    changed = _write_keys(tx, ids, policy)
    look_again(tx, _off(tx, [[page, page in changed] for page in ids]), now)


def differing(tx: Tx, ids: Sequence[int], naming: bool = False, limit: int = 1) -> list[tuple[int, int, int]]:
    """Return (page, page that its relation should lead to, page that it leads to) for pages where the two differ; −1
    for no relation. `naming`: also for pages that name these pages, at most `limit` for each."""
    rows = tx.records("canonicals/off", rows=[[page, naming] for page in ids], limit=limit) if ids else []
    return [(row.page, row.wanted, row.has) for row in rows]


def unsettled(tx: Tx, ids: Iterable[int]) -> list[int]:
    """Return the pages among these whose relations must be corrected, or those of pages that name them."""
    return sorted(_off(tx, [[page, True] for page in ids]))


def settle(tx: Tx, page: int, policy: Policy, now: float) -> bool:
    """Correct the relation of a page, and the relations of some pages that name it.

    Return True if a relation was wrong. Corrected pages are marked, so that upkeep moves their links.
    """
    locked = {page, *_ends(differing(tx, [page], True, SETTLED_AT_ONCE))}
    ledgers.of(policy.rule).lock_present(tx, locked, policy.rule)
    # Read again under the locks, and write only relations whose ends are all locked.
    changes = differing(tx, [page], True, SETTLED_AT_ONCE)
    corrections = [(own, wanted) for own, wanted, has in changes if {own, wanted, has} <= locked | {NOWHERE}]
    if corrections:
        tx.do("canonicals/write", rows=[list(row) for row in corrections])
        look_again(tx, {own for own, _ in corrections}, now)
    return bool(changes)


def let_go(tx: Tx, page: int, policy: Policy, now: float) -> bool:
    """Remove the relations that lead to this page, which will be forgotten, from some pages.

    Return True if there were as many as one transaction takes, so that there may be more.
    """
    behind: list[int] = tx.one("canonicals/behind", id=page, limit=SETTLED_AT_ONCE)[0]
    if behind:
        ledger = ledgers.of(policy.rule).lock_present(tx, {page, *behind}, policy.rule)
        present = sorted(set(ledger.ids.tolist()) - {page})
        tx.do("canonicals/write", rows=[[each, NOWHERE] for each in present])
        look_again(tx, present, now)
    return len(behind) == SETTLED_AT_ONCE


def _write_keys(tx: Tx, ids: Sequence[int], policy: Policy) -> set[int]:
    """Write `canonical_key` of locked pages, as it follows from their properties. Return the pages for which it has
    changed."""
    named = tx.one("canonicals/named", ids=list(ids))[0] if ids else []
    rows = [
        [page, wanted]
        for page, key, host, canonical, before in named
        if (wanted := _key_named(key, host, canonical, policy)) != before
    ]
    if rows:
        tx.do("canonicals/note", rows=rows)
    return {page for page, _ in rows}


def _key_named(own: str, host: str, canonical: str | None, policy: Policy) -> str | None:
    """Return the key of the other page of its host that a page names as its canonical; None for no such page."""
    if policy.key_of is None or canonical is None or host_of(canonical) != host:
        return None
    key = policy.key_of(canonical)
    return None if key == own else key


def _off(tx: Tx, rows: Sequence[Sequence[object]]) -> set[int]:
    return {row.given for row in tx.records("canonicals/off", rows=list(rows), limit=1)} if rows else set()


def _ends(changes: Iterable[tuple[int, int, int]]) -> set[int]:
    return {page for change in changes for page in change if page != NOWHERE}
