"""Pages whose links count for another page of their host, which they name as their canonical.

With `canonical_links = follow`, `canonical_key` of a page is the key of the other page of its host that its canonical
names, by its last visit. Where that page was fetched, is neither missing nor an alias, and does not name the first one
in turn, a `CANONICAL` relation leads there, and links end there, as those to an alias end where it leads. Visits mark
pages for which this has changed. Upkeep looks at the marked pages, writes the relations, and then moves links, both in
bounded steps. A relation is a function of the pages at both its ends, and it is written under their locks. Statements:
canonicals/*, links/led_to.
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
"""Pages whose relations one transaction writes."""
NOWHERE = -1


def note(tx: Tx, verdicts: Sequence[Verdict], policy: Policy) -> set[int]:
    """Note the canonicals that visited pages name. Return the pages whose relations have to be checked."""
    if policy.key_of is None:
        return set()
    kept = [v for v in verdicts if v.keep]
    pages = [v.visit.page for v in kept if isinstance(v.item.report, Fetched) and not v.item.report.not_modified]
    turned = {v.visit.page for v in kept if visits.turns(v)}.union(_write_keys(tx, pages, policy))
    return _off(tx, [[v.visit.page, v.visit.page in turned] for v in kept])


def still(tx: Tx, named: Named, policy: Policy) -> None:
    """Raises Again where pages that a batch names lead elsewhere than they did before they were locked."""
    if policy.key_of is None:
        return
    led = dict(tx.one("links/led_to", ids=sorted(named.ids.values()))[0])
    if any(named.goals[key] != led.get(page, page) for key, page in named.ids.items()):
        raise Again("a page leads elsewhere meanwhile")


def note_again(tx: Tx, ids: Sequence[int], policy: Policy, now: float) -> None:
    """Note what locked pages name by the settings and the URL rules of now, and have them looked at where this
    changes anything."""
    changed = _write_keys(tx, ids, policy)
    look_again(tx, _off(tx, [[page, page in changed] for page in ids]), now)


def differing(tx: Tx, ids: Sequence[int], naming: bool = False, limit: int = 1) -> list[tuple[int, int, int]]:
    """Return (page, the one that its links should count for, the one that they do, −1 for itself) of those of these
    pages of which the two differ. `naming`: also of pages that name these, up to the limit for each."""
    rows = tx.records("canonicals/off", rows=[[page, naming] for page in ids], limit=limit) if ids else []
    return [(row.page, row.wanted, row.has) for row in rows]


def unsettled(tx: Tx, ids: Iterable[int]) -> list[int]:
    """Return those of these pages whose relations are to be written, or those of pages that name them."""
    return sorted(_off(tx, [[page, True] for page in ids]))


def settle(tx: Tx, page: int, policy: Policy, now: float) -> bool:
    """Write the relation of a page, and those of some pages that name it, as they should be.

    Return whether one had to be changed. The pages are marked, so that their links move afterwards.
    """
    locked = {page, *_ends(differing(tx, [page], True, SETTLED_AT_ONCE))}
    ledgers.of(policy.rule).lock_present(tx, locked, policy.rule)
    changes = differing(tx, [page], True, SETTLED_AT_ONCE)
    sure = [(own, wanted) for own, wanted, has in changes if {own, wanted, has} <= locked | {NOWHERE}]
    if sure:
        tx.do("canonicals/write", rows=[list(row) for row in sure])
        look_again(tx, {own for own, _ in sure}, now)
    return bool(changes)


def let_go(tx: Tx, page: int, policy: Policy, now: float) -> bool:
    """Let the links of some pages count for themselves that count for this page, which will be forgotten.

    Return whether there were as many as one transaction takes, so that there may be more.
    """
    behind: list[int] = tx.one("canonicals/behind", id=page, limit=SETTLED_AT_ONCE)[0]
    if behind:
        ledger = ledgers.of(policy.rule).lock_present(tx, {page, *behind}, policy.rule)
        present = sorted(set(ledger.ids.tolist()) - {page})
        tx.do("canonicals/write", rows=[[each, NOWHERE] for each in present])
        look_again(tx, present, now)
    return len(behind) == SETTLED_AT_ONCE


def _write_keys(tx: Tx, ids: Sequence[int], policy: Policy) -> set[int]:
    """Bring `canonical_key` of locked pages in line with their properties. Return the pages for which it has
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
    """The key of the other page of its host that a page names."""
    if policy.key_of is None or canonical is None or host_of(canonical) != host:
        return None
    key = policy.key_of(canonical)
    return None if key == own else key


def _off(tx: Tx, rows: Sequence[Sequence[object]]) -> set[int]:
    return {row.given for row in tx.records("canonicals/off", rows=list(rows), limit=1)} if rows else set()


def _ends(changes: Iterable[tuple[int, int, int]]) -> set[int]:
    return {page for change in changes for page in change if page != NOWHERE}
