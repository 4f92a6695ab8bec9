"""Corrections by hand, and backfills of all pages. Each changes the graph and its accounts in one transaction.

Statements: pages/*, links/redirects, claims/held, accounts/*.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from graphbrain.base.errors import BadInput, UnknownPage
from graphbrain.frontier import discovery, notes, url_variants
from graphbrain.frontier.claims import leases
from graphbrain.frontier.corrections import aliases, requeue
from graphbrain.frontier.discovery import New
from graphbrain.frontier.hosts import politeness
from graphbrain.frontier.policy import Policy
from graphbrain.frontier.reports import canonicals
from graphbrain.graph.connection import Again, Tx, intact
from graphbrain.scores.accounts import adjacency, ledgers
from graphbrain.scores.accounts.ledgers import Accounts

__all__ = [
    "Seeded",
    "ask",
    "deepen",
    "forget",
    "forget_relevance",
    "link",
    "page",
    "remark",
    "seed",
    "seeded",
    "unlink",
]

UNLINKED_AT_ONCE = 10_000
"""Most links of a page that one transaction removes before the page is deleted."""
DEEPENED_AT_ONCE = 10_000
"""Most pages whose depth one transaction lowers."""
Named = tuple[str, str | None]
"""(key of a page, its URL if the page may be created)."""


@dataclass(frozen=True, slots=True)
class Seeded:
    """A page that has become a seed.

    Attributes:
        page: Its internal id.
        state: Its state.
        outside_because: The reason why it is outside, if it is.
        created: True if this call has created it.
    """

    page: int
    state: str
    outside_because: str | None
    created: bool


def seed(tx: Tx, urls: Mapping[str, str], mark: str, policy: Policy, now: float) -> dict[str, Seeded]:
    """Make pages (key → URL) seeds. Pages that were forgotten for ever are not in the answer.

    `mark`: the token of the call. If several calls make a new page a seed, only the answer of the one that has created
    it counts it.
    """
    # Create missing pages.
    rows, _ = discovery.look(tx, urls)
    existing = {key: page for key, page, *_ in rows}
    missing = [New(key, url, 0, is_seed=True) for key, url in urls.items() if key not in existing]
    id_of = existing | discovery.create(tx, missing, policy.scope, policy.rule, now, mark).ids
    ids = sorted(id_of.values())
    if not ids:
        return {}
    # Give all of them the first amounts of seeds, the depth 0, and plainer addresses.
    ledger = ledgers.lock(tx, ids, policy.rule)
    offers = {page: [urls[key]] for key, page, *_, why in rows if why is not None}
    url_variants.improve(tx, offers, policy, now)
    tx.do("pages/seed", ids=ids)
    ledger.become_seeds(ids)
    discovery.lower(tx, ledger, dict.fromkeys(ids, 0), policy.scope)
    ledger.write(tx, now)
    states = seeded(tx, ids, mark)
    return {key: states[page] for key, page in id_of.items()}


def seeded(tx: Tx, ids: Sequence[int], mark: str) -> dict[int, Seeded]:
    """Return internal id → the present facts of locked seeds."""
    rows = tx.records("pages/seeded", ids=sorted(ids), mark=mark)
    return {row.page: Seeded(*row) for row in rows}


def link(tx: Tx, source: Named, target: Named, policy: Policy, now: float) -> bool:
    """Link one page to another one, or to the goal of that if it is an alias. Return False if the link existed.

    Raises:
        UnknownPage: One of the pages cannot be created.
        BadInput: The source redirects.
    """
    # Find both pages, and create missing ones that have a URL.
    ids = discovery.find(tx, [source[0], target[0]])
    missing = []
    for (key, url), depth in ((source, 0), (target, 1)):
        if key not in ids:
            if url is None:
                raise UnknownPage(f"{key} is not in the graph.")
            missing.append(New(key, url, depth))
    ids |= discovery.create(tx, missing, policy.scope, policy.rule, now).ids
    if source[0] not in ids or target[0] not in ids:
        raise UnknownPage(f"{source[1] or source[0]} or {target[1] or target[0]} was forgotten for ever.")
    # Lock them, and the end of the link: the goal of the target, if it is an alias.
    page, named = ids[source[0]], ids[target[0]]
    end = aliases.goals(tx, [named]).get(named, named)
    ledger = ledgers.lock(tx, {page, end, named}, policy.rule)
    if tx.records("pages/standing", ids=[page])[0].state == "alias" or adjacency.leading(tx, [page]):
        raise BadInput(f"{source[1] or source[0]} redirects, so that it has no links: link the page to which it leads.")
    # Add the link if it is new.
    links = adjacency.read_locked(tx, ledger, "hub", [page])[page]
    before = adjacency.spelling(tx, [page])[page]
    only_by_aliases = before.via - {end} if end == named else before.via
    is_new = end not in links and end != page
    if is_new:
        adjacency.change(tx, ledger, [(page, [end])], [], now)
        links.append(end)
        only_by_aliases |= {end} if end != named else set()
        discovery.lower(tx, ledger, {end: ledger.depth_of(page) + 1}, policy.scope)
    # Note whether the page names the end itself or the alias.
    after = adjacency.Spelling(before.named | ({named} if end != named else set()), only_by_aliases)
    adjacency.respell(tx, ledger, [after.row(page, before, links)])
    _write(tx, ledger, policy, now)
    return is_new


def unlink(tx: Tx, source: str, target: str, policy: Policy, now: float) -> bool:
    """Remove a link, also one to an alias, which ends at the goal of the alias. Return False if there was no link."""
    # Find both pages, the end of the link, and the aliases that the source names.
    ids = discovery.find(tx, [source, target])
    if len(ids) < 2:
        return False
    page, named = ids[source], ids[target]
    end = aliases.goals(tx, [named]).get(named, named)
    spelling = adjacency.spelling(tx, [page]).get(page)
    if spelling is None:  # the page was forgotten since it was found
        return False
    goal_of = aliases.goals(tx, spelling.named)
    # Lock them, and read the links. The LEADS_TO of a page that redirects is no link.
    ledger = ledgers.lock(tx, {page, end, named, *spelling.named}, policy.rule)
    if adjacency.leading(tx, [page]):
        return False
    links, before = adjacency.read_locked(tx, ledger, "hub", [page])[page], adjacency.spelling(tx, [page])[page]
    # Find the aliases that the page names no more, and the link, unless another alias also leads to its end.
    dropped = {named} if end != named else {alias for alias in before.named if goal_of.get(alias) == end}
    remaining = before.named - dropped
    after = adjacency.Spelling(remaining, before.via.intersection(goal_of.get(each, each) for each in remaining))
    only_by_dropped = before.via - after.via
    removed = sorted(e for e in {end, named}.intersection(links) if e == named or e in only_by_dropped)
    # Write.
    adjacency.change(tx, ledger, [], [(page, removed)] if removed else [], now)
    adjacency.respell(tx, ledger, [after.row(page, before, set(links).difference(removed))])
    _write(tx, ledger, policy, now)
    return bool(removed or before.named & dropped)


def forget(tx: Tx, key: str, for_ever: bool, policy: Policy, now: float) -> bool:
    """Remove all links of a page, with their payments, and delete the page.

    Return True if the page has too many links for one transaction: then the call must be repeated.
    """
    # Remove some of the links if there are too many, and all links that follow its canonical.
    ids = discovery.find(tx, [key])
    neighbours: set[int] = set()
    if key in ids:
        page = ids[key]
        by_side = (adjacency.read(tx, side, [page]).get(page, ()) for side in adjacency.SIDES)
        neighbours = set(chain.from_iterable(by_side))
        if len(neighbours) > UNLINKED_AT_ONCE:
            _thin(tx, page, sorted(neighbours)[:UNLINKED_AT_ONCE], policy, now)
            return True
        if canonicals.let_go(tx, page, policy, now):
            return True
    # Forget what is stored by its key.
    if for_ever:
        tx.do("pages/forget_for_ever", key=key, now=now)
    notes.forget(tx, key)
    if key not in ids:
        return False
    # Remove its links. The target of its redirect may be an orphan then.
    targets = [target for _, target in tx.one("links/redirects", ids=[page])[0]]
    ledger = ledgers.lock(tx, {page, *neighbours, *targets}, policy.rule)
    out, into = (adjacency.read_locked(tx, ledger, side, [page])[page] for side in adjacency.SIDES)
    if not ledger.holds([*out, *into]):
        raise Again
    discovery.look_again(tx, targets, now)
    adjacency.change(tx, ledger, [], [(page, out), *((other, [page]) for other in into)], now)
    ledger.bury(page)
    _write(tx, ledger, policy, now)
    # End its lease at its host, and delete it.
    lease = tx.records("claims/held", ids=[page])[0]
    ends: dict[str, politeness.HostEffects] = {}
    leases.end_lease(ends, lease)
    if policy.manners.counting:
        ends[lease.host].spent -= lease.was_fetched
    politeness.conclude(tx, ends, {}, policy.manners, now)
    tx.do("pages/forget", id=page)
    return False


def _thin(tx: Tx, page: int, neighbours: Sequence[int], policy: Policy, now: float) -> None:
    """Remove the links between a page and some of its neighbours."""
    ledger = ledgers.lock(tx, {page, *neighbours}, policy.rule)
    out, into = (
        set(neighbours).intersection(adjacency.read_locked(tx, ledger, side, [page])[page]) for side in adjacency.SIDES
    )
    adjacency.change(tx, ledger, [], [(page, sorted(out)), *((other, [page]) for other in sorted(into))], now)
    _write(tx, ledger, policy, now)


def forget_relevance(tx: Tx, ids: Sequence[int], policy: Policy, now: float) -> int:
    """Remove the relevance of pages. Return the number of pages that had one."""
    ledger = ledgers.of(policy.rule).lock_present(tx, ids, policy.rule)
    with_relevance = ledger.ids[~np.isnan(ledger.relevance)].tolist()
    if with_relevance:
        ledger.take_relevance([[page, None] for page in with_relevance])
        tx.do("pages/relevance", rows=[[page, None] for page in with_relevance])
        ledger.write(tx, now)
    return len(with_relevance)


def page(tx: Tx, key: str, given: Mapping[str, float | None], policy: Policy, now: float) -> None:
    """Set the given ones of the relevance, the payout, and other facts of a page that the schedule uses.

    The relevance changes no account. It changes whether a push is worth it, and the lane.

    Raises:
        UnknownPage: There is no such page.
        BadInput: The engine pays all pages alike.
    """
    # Set what changes the accounts, or their marks.
    ids = _find(tx, key)
    ledger, number = ledgers.lock(tx, ids.values(), policy.rule), ids[key]
    if "relevance" in given:
        ledger.take_relevance([[number, given["relevance"]]])
        tx.do("pages/relevance", rows=[[number, given["relevance"]]])
    if "payout" in given:
        ledger.set_payouts(tx, {number: given["payout"]})
    if given.keys() & {"relevance", "payout"}:
        ledger.write(tx, now)
    # Set what changes the lane.
    if facts := {name: value for name, value in given.items() if name not in ("relevance", "payout")}:
        tx.do("pages/facts", id=number, facts=facts)
        requeue.remark(tx, list(ids.values()), policy, now)


def ask(tx: Tx, urls: Mapping[str, str | None], policy: Policy, now: float) -> set[str]:
    """Request an immediate fetch of pages: key → URL, or None for a page that must exist. Return the keys of those that
    will be fetched."""
    existing = discovery.find(tx, urls)
    missing = [New(key, url, 0) for key, url in urls.items() if key not in existing and url is not None]
    ids = existing | discovery.create(tx, missing, policy.scope, policy.rule, now).ids
    if missing:
        ledgers.lock(tx, ids.values(), policy.rule).write(tx, now)  # the first write of their accounts
    requeued = set(requeue.ask(tx, sorted(ids.values()), policy, now))
    return {key for key, page in ids.items() if page in requeued}


def deepen(tx: Tx, ids: Sequence[int], policy: Policy, now: float) -> None:
    """Lower the depth of pages to which pages with a lower depth link.

    One transaction lowers the depth of at most `DEEPENED_AT_ONCE` pages. Links that are added meanwhile lower the depth
    of their targets themselves.
    """
    # Find, without locks, the targets whose depth is too large.
    out = adjacency.read(tx, "hub", ids)
    depth_of = dict(tx.one("pages/depths", ids=sorted(set(out).union(*out.values())))[0])
    redirects = dict(tx.one("links/redirects", ids=sorted(out))[0])
    too_deep = {page: _too_deep(page, out[page], depth_of, redirects) for page in ids if page in out}
    # Choose as many of them as one transaction can change.
    complete: list[int] = []
    chosen: dict[int, list[int]] = {}
    remaining = DEEPENED_AT_ONCE
    for page, targets in too_deep.items():
        chosen[page] = targets[:remaining]
        remaining -= len(targets)
        if remaining < 0:
            break
        complete.append(page)
    # Lock them, and compute their depths from what holds now. A redirect is no click.
    ledger = ledgers.lock(tx, set(chosen).union(*chosen.values()), policy.rule)
    out = adjacency.read_locked(tx, ledger, "hub", chosen)
    redirects = dict(tx.one("links/redirects", ids=sorted(chosen))[0])
    depths: dict[int, int] = {}
    for page, targets in chosen.items():
        depth = ledger.depth_of(page)
        if depth_of[page] != depth:
            raise Again
        for target in set(targets).intersection(out[page]):
            by_link = depth if redirects.get(page) == target else depth + 1
            depths[target] = min(by_link, depths.get(target, by_link))
    # Write the depths, and remove the marks of pages whose targets are all done.
    ledger.deepened(complete)
    discovery.lower(tx, ledger, depths, policy.scope)
    ledger.write(tx, now)


def _too_deep(page: int, targets: Sequence[int], depths: Mapping[int, int], redirects: Mapping[int, int]) -> list[int]:
    """Return the targets of a page whose depth is larger than the link allows. A redirect is no click."""
    intact(*(depths.get(each) for each in (page, *targets)))
    by_link = {target: depths[page] + (redirects.get(page) != target) for target in targets}
    return [target for target in targets if by_link[target] < depths[target]]


def remark(tx: Tx, ids: Sequence[int], policy: Policy, now: float) -> None:
    """Write all marks of pages again."""
    ledgers.lock(tx, _existing(tx, ids), policy.rule).write(tx, now, all_marks=True)


def _write(tx: Tx, ledger: Accounts, policy: Policy, now: float) -> None:
    """Write accounts whose links have changed. Mark pages that may be orphans now, or no orphans any more."""
    ledger.write(tx, now)
    if policy.orphans != "keep":
        discovery.look_again(tx, ledger.in_links_turned(), now)


def _find(tx: Tx, key: str) -> dict[str, int]:
    ids = discovery.find(tx, [key])
    if key not in ids:
        raise UnknownPage(f"{key} is not in the graph.")
    return ids


def _existing(tx: Tx, ids: Sequence[int]) -> list[int]:
    """Return those of these pages that were not deleted since they were read."""
    return sorted(row.page for row in tx.records("pages/scope", ids=sorted(ids)))
