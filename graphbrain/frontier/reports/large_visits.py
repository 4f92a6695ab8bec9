"""Visits of pages with more links than one transaction can hold: other transactions write most of the links before it.

Each of these transactions adds or removes some of the links, with the same locks and repairs of accounts as a report.
It judges the visit again, and writes nothing if the links of the visit do not count. The transaction that records the
visit writes the other links. If the process stops in between, the page has some new links and some old links, its
accounts are right, and the next visit writes the others.
Statements: visits/read, pages/relevance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from graphbrain.frontier import discovery
from graphbrain.frontier.policy import Policy
from graphbrain.frontier.reports import relink, report
from graphbrain.frontier.reports.outcomes import Item, Verdict, Visit, judge
from graphbrain.graph.connection import Again, Tx
from graphbrain.schedule.section_noise import FEW_VISITS
from graphbrain.scores.accounts import adjacency, ledgers
from graphbrain.scores.accounts.ledgers import Accounts

__all__ = ["AT_ONCE", "write_most"]

AT_ONCE = 10_000
"""The most links that one transaction adds or removes."""


def write_most(perform: Callable[..., Any], item: Item) -> None:
    """Add the links of a visit that its page does not have, and remove most of those that it no longer has.

    `perform`: runs a function in a transaction (`Session.perform`).
    """
    for keys in _parts(item, perform("report", _missing, item)):
        perform("report", _add, item, keys)
    while perform("report", _remove, item):
        pass


def _missing(tx: Tx, item: Item, policy: Policy, _now: float) -> list[str]:
    """Return the keys of the links that a visit reports and its page does not have, from a read without locks."""
    ids, goals = _ends(tx, item)
    page = ids.get(item.key)
    if page is None:
        return list(item.targets)
    verdict = _judged(tx, item, page, policy)
    if verdict is None or not verdict.links:
        return []
    present = {page, *adjacency.read(tx, "hub", [page]).get(page, ())}
    return [key for key in verdict.targets if goals.get(key) not in present]


def _parts(item: Item, keys: Sequence[str]) -> Iterator[list[str]]:
    """Yield these keys of links in parts. One transaction can add a part: its number of links and the bytes of their
    URLs are bounded."""
    part: list[str] = []
    size = 0
    for key in keys:
        length = len(item.targets[key][0])
        if part and (len(part) == AT_ONCE or size + length > report.BYTES_OF_ONE):
            yield part
            part, size = [], 0
        part.append(key)
        size += length
    if part:
        yield part


def _add(tx: Tx, item: Item, keys: Sequence[str], policy: Policy, now: float) -> None:
    """Add the links of a visit that have these keys."""
    # Create the pages that these links name.
    part = replace(item, targets={key: item.targets[key] for key in keys}, completeness="some")
    named = report.discover(tx, [part], policy, now)
    page = named.ids.get(item.key)
    if page is None:
        return
    # Lock all pages, and judge the visit again: its claim may have ended meanwhile.
    ledger = ledgers.lock(tx, {*named.ids.values(), *named.goals.values()}, policy.rule, named.created)
    verdict = _judged(tx, item, page, policy)
    # Add the links, with the depths and guesses that follow from them.
    if verdict is not None and verdict.links and not verdict.vanished:
        partial = [replace(verdict, item=replace(verdict.item, targets=part.targets, completeness="some"))]
        reported = [relink.reported_links(each, named) for each in partial]
        relink.lower(tx, partial, reported, named, ledger, policy)
        _, new_ends = adjacency.replace(tx, ledger, reported, now)
        discovery.hurry(tx, named.parked & new_ends, now)
        if guesses := report.guess(partial, named.goals, ledger):
            tx.do("pages/relevance", rows=guesses)
    _write(tx, ledger, named.created, policy, now)


def _remove(tx: Tx, item: Item, policy: Policy, now: float) -> int:
    """Remove some links that the page of a visit no longer has. Return the number of removed links."""
    ids, goals = _ends(tx, item)
    page = ids.get(item.key)
    verdict = _judged(tx, item, page, policy) if page is not None else None
    if page is None or verdict is None or not verdict.unlinks:
        return 0
    # Find some links that the report does not have.
    reported = {goals[key] for key in verdict.targets if key in goals}
    unreported = sorted(set(adjacency.read(tx, "hub", [page]).get(page, ())) - reported)[:AT_ONCE]
    if not unreported:
        return 0
    # Lock their ends, and judge the visit again: its claim may have ended meanwhile.
    ledger = ledgers.lock(tx, {page, *unreported}, policy.rule)
    second = _judged(tx, item, page, policy)
    if second is None or (second.unlinks, second.vanished) != (True, verdict.vanished):
        raise Again
    # Remove those that the page still has.
    removed = sorted(set(adjacency.read_locked(tx, ledger, "hub", [page])[page]).intersection(unreported))
    adjacency.change(tx, ledger, [], [(page, removed)] if removed else [], now)
    _write(tx, ledger, (), policy, now)
    return len(removed)


def _ends(tx: Tx, item: Item) -> tuple[dict[str, int], dict[str, int]]:
    """Return key → id of the page and of its link targets, and key → id of the pages where these lead. Unknown pages
    are missing."""
    looked, _ = discovery.look(tx, {item.key, *item.targets})
    ids = {each.key: each.page for each in looked}
    return ids, discovery.goals(tx, ids, {each.key for each in looked if each.is_alias})


def _judged(tx: Tx, item: Item, page: int, policy: Policy) -> Verdict | None:
    """Return the verdict on the visit by the present state of its page; None if the page was deleted."""
    rows = tx.one("visits/read", ids=[page], few=FEW_VISITS)[0]
    return judge(item, Visit(*rows[0]), policy) if rows else None


def _write(tx: Tx, ledger: Accounts, created: Sequence[int], policy: Policy, now: float) -> None:
    ledger.write(tx, now)
    if policy.orphans != "keep":
        discovery.look_again(tx, set(ledger.in_links_turned()).difference(created), now)
