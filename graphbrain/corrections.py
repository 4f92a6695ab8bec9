"""Corrections by hand, and passes over all pages: each repairs the accounts in the transaction that changes the graph.

Statements: pages/*, claims/held, accounts/*.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

from graphbrain import accounts, claims, hosts, linking, notes, ordering, pages, spellings
from graphbrain.accounts import Accounts
from graphbrain.errors import UnknownPage
from graphbrain.graph import Again, Tx
from graphbrain.pages import New
from graphbrain.report import Policy

__all__ = ["ask", "deepen", "fact", "forget", "link", "payout", "relevance", "remark", "seed", "unlink"]

Named = tuple[str, str | None]
"""A page's key and, where it may have to be created, its URL."""


def seed(tx: Tx, urls: Mapping[str, str], policy: Policy, now: float) -> int:
    """Make these pages (key → URL) seeds; how many had to be created."""
    found = pages.look(tx, urls)
    known = {key: page for key, page, *_ in found}
    fresh = [New(key, url, 0, is_seed=True) for key, url in urls.items() if key not in known]
    made = pages.create(tx, fresh, policy.scope, policy.rule, now)
    ids = sorted({*known.values(), *made.values()})
    if ids:
        ledger = accounts.lock(tx, ids, policy.rule)
        offers = {page: [urls[key]] for key, page, *_, why in found if why is not None}
        spellings.improve(tx, offers, policy.scope, policy.manners, policy.rule.revisits, now)
        tx.do("pages/seed", ids=ids)
        ledger.is_seed[:] = True
        pages.lower(tx, ledger, dict.fromkeys(ids, 0), policy.scope)
        ledger.write(tx, now)
    return len(made)


def link(tx: Tx, source: Named, target: Named, policy: Policy, now: float) -> None:
    """Link one page to another. Raises UnknownPage when one cannot be created."""
    ids = pages.find(tx, [source[0], target[0]])
    fresh = []
    for (key, url), depth in ((source, 0), (target, 1)):
        if key not in ids:
            if url is None:
                raise UnknownPage(f"{key} is not in the graph.")
            fresh.append(New(key, url, depth))
    ids |= pages.create(tx, fresh, policy.scope, policy.rule, now)
    if source[0] not in ids or target[0] not in ids:
        raise UnknownPage(f"{source[1] or source[0]} or {target[1] or target[0]} was forgotten for ever.")
    a, b = ids[source[0]], ids[target[0]]
    ledger = accounts.lock(tx, [a, b], policy.rule)
    if b in linking.held(tx, ledger, "hub", [a])[a]:
        return
    linking.create(tx, ledger, [(a, [b])], now)
    depth = int(ledger.depth[ledger.at([a])[0]]) + 1
    pages.lower(tx, ledger, {b: depth}, policy.scope)
    _write(tx, ledger, policy, now)


def unlink(tx: Tx, source: str, target: str, policy: Policy, now: float) -> None:
    """Remove a link, if it is there."""
    ids = pages.find(tx, [source, target])
    if len(ids) < 2:
        return
    a, b = ids[source], ids[target]
    ledger = accounts.lock(tx, [a, b], policy.rule)
    if b not in linking.held(tx, ledger, "hub", [a])[a]:
        return
    linking.delete(tx, ledger, [(a, [b])])
    _write(tx, ledger, policy, now)


def forget(tx: Tx, key: str, for_ever: bool, policy: Policy, now: float) -> None:
    """Unlink a page from everybody, repairing both ends, and delete it."""
    if for_ever:
        tx.do("pages/forget_for_ever", key=key, now=now)
    notes.forget(tx, key)
    ids = pages.find(tx, [key])
    if key not in ids:
        return
    page = ids[key]
    near = (linking.read(tx, side, [page]).get(page, ()) for side in linking.SIDES)
    ledger = accounts.lock(tx, {page, *chain.from_iterable(near)}, policy.rule)
    out, into = (linking.held(tx, ledger, side, [page])[page] for side in linking.SIDES)
    if not ledger.holds([*out, *into]):
        raise Again
    linking.delete(tx, ledger, [(page, out), *((other, [page]) for other in into)])
    ledger.bury(page)
    _write(tx, ledger, policy, now)
    held = tx.one("claims/held", ids=[page])[0][0]
    ends: dict[str, hosts.Ends] = {}
    claims.end_lease(ends, held)
    if policy.manners.counting:
        ends[held[2]].spent -= held[12]
    hosts.settle(tx, ends, {}, policy.manners, now)
    tx.do("pages/forget", id=page)


def relevance(tx: Tx, key: str, value: float | None, policy: Policy, now: float) -> None:
    """Set a page's relevance: no account changes, only what is worth a push, and its lane."""
    ids = _known(tx, key)
    ledger = accounts.lock(tx, ids.values(), policy.rule)
    ledger.relevance[:] = float("nan") if value is None else value
    tx.do("pages/relevance", rows=[[ids[key], value]])
    ledger.write(tx, now)


def payout(tx: Tx, key: str, value: float | None, policy: Policy, now: float) -> None:
    """Set a page's own payout, or pay it as the rule says. Raises BadInput when the engine pays all pages alike."""
    ids = _known(tx, key)
    ledger = accounts.lock(tx, ids.values(), policy.rule)
    ledger.set_payout(tx, value)
    ledger.write(tx, now)


def fact(tx: Tx, key: str, facts: Mapping[str, float | None], policy: Policy, now: float) -> None:
    """Set what the schedule goes by of a page, and let it wait where that says. Raises UnknownPage."""
    ids = _known(tx, key)
    accounts.lock(tx, ids.values(), policy.rule)
    tx.do("pages/facts", id=ids[key], facts=facts)
    ordering.remark(tx, list(ids.values()), policy, now)


def ask(tx: Tx, urls: Mapping[str, str | None], policy: Policy, now: float) -> set[str]:
    """Let pages (key → URL, None: it must be known) be fetched at once; the keys of those that will be."""
    known = pages.find(tx, urls)
    fresh = [New(key, url, 0) for key, url in urls.items() if key not in known and url is not None]
    ids = known | pages.create(tx, fresh, policy.scope, policy.rule, now)
    if fresh:
        accounts.lock(tx, ids.values(), policy.rule).write(tx, now)  # the first write of their accounts
    asked = set(ordering.ask(tx, sorted(ids.values()), policy, now))
    return {key for key, page in ids.items() if page in asked}


def deepen(tx: Tx, ids: Sequence[int], policy: Policy, now: float) -> None:
    """Pass the lower depth of pages on to those they link to."""
    out = linking.read(tx, "hub", ids)
    ledger = accounts.lock(tx, {*out, *(b for targets in out.values() for b in targets)}, policy.rule)
    out = linking.held(tx, ledger, "hub", out)
    depths: dict[int, int] = {}
    for page, targets in out.items():
        if not ledger.holds(targets):
            raise Again
        depth = int(ledger.depth[ledger.at([page])[0]]) + 1
        for target in targets:
            depths[target] = min(depth, depths.get(target, depth))
    tx.do("pages/deepen", rows=[[page, int(ledger.depth[ledger.at([page])[0]]), False] for page in out])
    pages.lower(tx, ledger, depths, policy.scope)
    ledger.write(tx, now)


def remark(tx: Tx, ids: Sequence[int], policy: Policy, now: float) -> None:
    """Write every mark of pages anew."""
    accounts.lock(tx, _still(tx, ids), policy.rule).write(tx, now, all_marks=True)


def _write(tx: Tx, ledger: Accounts, policy: Policy, now: float) -> None:
    """Write accounts whose links have changed; pages that may be orphans now, or none any more, are to be looked at."""
    ledger.write(tx, now)
    if policy.orphans != "keep":
        pages.look_again(tx, ledger.in_links_turned(), now)


def _known(tx: Tx, key: str) -> dict[str, int]:
    ids = pages.find(tx, [key])
    if key not in ids:
        raise UnknownPage("The page is not in the graph.")
    return ids


def _still(tx: Tx, ids: Sequence[int]) -> list[int]:
    """Those of these pages that have not been deleted since they were read."""
    return sorted(row[0] for row in tx.one("pages/scope", ids=sorted(ids))[0])
