"""Visits of pages with so many links that one transaction cannot hold them: most of the links come and go before it.

Each of these transactions writes some of the links, under the same locks and with the same repairs as a report. It
judges the visit anew, and writes nothing if its links do not count. The rest is recorded with the visit. If this is
stopped in between, the page has some of its new links and some of its old ones, its accounts are right, and the next
visit does the rest.
Statements: visits/read, pages/relevance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from graphbrain.frontier import discovery
from graphbrain.frontier.policy import Policy
from graphbrain.frontier.reports import relink, report
from graphbrain.frontier.reports.outcomes import Item, Verdict, Visit, judge
from graphbrain.graph.connection import Again, Tx
from graphbrain.schedule.section_noise import FEW_VISITS
from graphbrain.scores.accounts import adjacency, ledgers
from graphbrain.scores.accounts.ledgers import Accounts

__all__ = ["AT_ONCE", "add", "missing", "parts", "remove"]

AT_ONCE = 10_000
"""Links that one transaction adds or removes."""


def missing(tx: Tx, item: Item, policy: Policy) -> list[str]:
    """Keys of the links that a visit brings and that are not there, as far as can be seen without a lock."""
    ids, goals = _ends(tx, item)
    page = ids.get(item.key)
    if page is None:
        return list(item.targets)
    verdict = _judged(tx, item, page, policy)
    if verdict is None or not verdict.links:
        return []
    there = {page, *adjacency.read(tx, "hub", [page]).get(page, ())}
    return [key for key in verdict.targets if goals.get(key) not in there]


def parts(item: Item, keys: Sequence[str]) -> Iterator[list[str]]:
    """Keys of links that a visit brings, as many together as one transaction adds: by their number and their bytes."""
    part: list[str] = []
    size = 0
    for key in keys:
        more = len(item.targets[key][0])
        if part and (len(part) == AT_ONCE or size + more > report.BYTES_OF_ONE):
            yield part
            part, size = [], 0
        part.append(key)
        size += more
    if part:
        yield part


def add(tx: Tx, item: Item, keys: Sequence[str], policy: Policy, now: float) -> None:
    """Add those of the links of a visit that have these keys."""
    # Create the pages that these links name.
    part = replace(item, targets={key: item.targets[key] for key in keys}, completeness="some")
    named = report.discover(tx, [part], policy, now)
    page = named.ids.get(item.key)
    if page is None:
        return
    # Lock all pages, and judge the visit again: its claim may have ended meanwhile.
    ledger = ledgers.lock(tx, {*named.ids.values(), *named.goals.values()}, policy.rule, named.created)
    verdict = _judged(tx, item, page, policy)
    if verdict is not None and verdict.links and not verdict.vanished:
        some = [replace(verdict, item=replace(verdict.item, targets=part.targets, completeness="some"))]
        reported = [relink.reported_links(each, named) for each in some]
        relink.lower(tx, some, reported, named, ledger, policy)
        _, new_ends = adjacency.replace(tx, ledger, reported, now)
        discovery.hurry(tx, named.parked & new_ends, now)
        if guesses := report.guess(some, named.goals, ledger):
            tx.do("pages/relevance", rows=guesses)
    _write(tx, ledger, named.created, policy, now)


def remove(tx: Tx, item: Item, policy: Policy, now: float) -> int:
    """Remove some links that the page of a visit no longer has. Return their number."""
    ids, goals = _ends(tx, item)
    page = ids.get(item.key)
    verdict = _judged(tx, item, page, policy) if page is not None else None
    if page is None or verdict is None or not verdict.unlinks:
        return 0
    # Find some links that the report does not have.
    kept = {goals[key] for key in verdict.targets if key in goals}
    lost = sorted(set(adjacency.read(tx, "hub", [page]).get(page, ())) - kept)[:AT_ONCE]
    if not lost:
        return 0
    # Lock their ends, and judge the visit again: its claim may have ended meanwhile.
    ledger = ledgers.lock(tx, {page, *lost}, policy.rule)
    now_judged = _judged(tx, item, page, policy)
    if now_judged is None or (now_judged.unlinks, now_judged.vanished) != (True, verdict.vanished):
        raise Again
    removed = sorted(set(adjacency.read_locked(tx, ledger, "hub", [page])[page]).intersection(lost))
    adjacency.change(tx, ledger, [], [(page, removed)] if removed else [], now)
    _write(tx, ledger, (), policy, now)
    return len(removed)


def _ends(tx: Tx, item: Item) -> tuple[dict[str, int], dict[str, int]]:
    """Key → id of the page and of those it links to, and of the pages that these lead to, as far as they are there."""
    looked, _ = discovery.look(tx, {item.key, *item.targets})
    ids = {key: page for key, page, *_ in looked}
    return ids, discovery.goals(tx, ids, {key for key, _, _, alias, *_ in looked if alias})


def _judged(tx: Tx, item: Item, page: int, policy: Policy) -> Verdict | None:
    """Return the verdict on the visit by the present state; None: its page is gone."""
    rows = tx.one("visits/read", ids=[page], few=FEW_VISITS)[0]
    return judge(item, Visit(*rows[0]), policy) if rows else None


def _write(tx: Tx, ledger: Accounts, created: Sequence[int], policy: Policy, now: float) -> None:
    ledger.write(tx, now)
    if policy.orphans != "keep":
        discovery.look_again(tx, set(ledger.in_links_turned()).difference(created), now)
