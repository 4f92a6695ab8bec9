"""Corrections by hand, and backfills of all pages: each repairs the accounts in the transaction that changes the graph.

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
"""Links of a page that one transaction removes before the page is deleted."""
DEEPENED_AT_ONCE = 10_000
Named = tuple[str, str | None]
"""A page's key and, where it may have to be created, its URL."""


@dataclass(frozen=True, slots=True)
class Seeded:
    """A page that has become a seed: its state, why it is outside, and whether this call has created it."""

    page: int
    state: str
    outside_because: str | None
    created: bool


def seed(tx: Tx, urls: Mapping[str, str], mark: str, policy: Policy, now: float) -> dict[str, Seeded]:
    """Make these pages (key → URL) seeds; those that were forgotten for ever are not in the answer.

    `mark`: the call's token. Of several calls that meet at a page one has created it, and only its answer counts it.
    """
    # Create the pages that are missing.
    looked, _ = discovery.look(tx, urls)
    existing = {key: page for key, page, *_ in looked}
    fresh = [New(key, url, 0, is_seed=True) for key, url in urls.items() if key not in existing]
    there = existing | discovery.create(tx, fresh, policy.scope, policy.rule, now, mark).ids
    ids = sorted(there.values())
    if not ids:
        return {}
    # Make all of them seeds: first amounts, depth 0, plainer URLs.
    ledger = ledgers.lock(tx, ids, policy.rule)
    offers = {page: [urls[key]] for key, page, *_, why in looked if why is not None}
    url_variants.improve(tx, offers, policy.scope, policy.manners, policy.rule.revisits, now)
    tx.do("pages/seed", ids=ids)
    ledger.become_seeds(ids)
    discovery.lower(tx, ledger, dict.fromkeys(ids, 0), policy.scope)
    ledger.write(tx, now)
    states = seeded(tx, ids, mark)
    return {key: states[page] for key, page in there.items()}


def seeded(tx: Tx, ids: Sequence[int], mark: str) -> dict[int, Seeded]:
    """Page → what it is now, of locked seeds."""
    rows = tx.records("pages/seeded", ids=sorted(ids), mark=mark)
    return {row.page: Seeded(*row) for row in rows}


def link(tx: Tx, source: Named, target: Named, policy: Policy, now: float) -> bool:
    """Link one page to another, or to where that leads if it is an alias; False if it was there. Raises UnknownPage
    when one cannot be created, and BadInput when the source redirects."""
    # Find both pages, and create those that are missing and have a URL.
    ids = discovery.find(tx, [source[0], target[0]])
    fresh = []
    for (key, url), depth in ((source, 0), (target, 1)):
        if key not in ids:
            if url is None:
                raise UnknownPage(f"{key} is not in the graph.")
            fresh.append(New(key, url, depth))
    ids |= discovery.create(tx, fresh, policy.scope, policy.rule, now).ids
    if source[0] not in ids or target[0] not in ids:
        raise UnknownPage(f"{source[1] or source[0]} or {target[1] or target[0]} was forgotten for ever.")
    # The link ends where the target leads if that is an alias.
    a, named = ids[source[0]], ids[target[0]]
    b = aliases.goals(tx, [named]).get(named, named)
    ledger = ledgers.lock(tx, {a, b, named}, policy.rule)
    if tx.records("pages/standing", ids=[a])[0].state == "alias" or adjacency.leading(tx, [a]):
        raise BadInput(f"{source[1] or source[0]} redirects, so that it has no links: link the page to which it leads.")
    # Add the link if it is new, and note by which URL the source names it.
    links = adjacency.read_locked(tx, ledger, "hub", [a])[a]
    before = adjacency.spelling(tx, [a])[a]
    own = before.via - {b} if b == named else before.via
    fresh_link = b not in links and b != a
    if fresh_link:
        adjacency.change(tx, ledger, [(a, [b])], [], now)
        links.append(b)
        own |= {b} if b != named else set()
        discovery.lower(tx, ledger, {b: ledger.depth_of(a) + 1}, policy.scope)
    after = adjacency.Spelling(before.named | ({named} if b != named else set()), own)
    adjacency.respell(tx, ledger, [after.row(a, before, links)])
    _write(tx, ledger, policy, now)
    return fresh_link


def unlink(tx: Tx, source: str, target: str, policy: Policy, now: float) -> bool:
    """Remove a link, if it is there: also one that ends elsewhere because the target is an alias. False if it was
    not."""
    ids = discovery.find(tx, [source, target])
    if len(ids) < 2:
        return False
    a, named = ids[source], ids[target]
    b = aliases.goals(tx, [named]).get(named, named)
    spelt = adjacency.spelling(tx, [a]).get(a)
    if spelt is None:  # it was forgotten since it was found
        return False
    named_pages = spelt.named
    led = aliases.goals(tx, named_pages)
    ledger = ledgers.lock(tx, {a, b, named, *named_pages}, policy.rule)
    if adjacency.leading(tx, [a]):  # its one LEADS_TO is no link
        return False
    links, before = adjacency.read_locked(tx, ledger, "hub", [a])[a], adjacency.spelling(tx, [a])[a]
    lost = {named} if b != named else {each for each in before.named if led.get(each) == b}
    remaining = before.named - lost
    after = adjacency.Spelling(remaining, before.via.intersection(led.get(each, each) for each in remaining))
    removed = sorted(e for e in {b, named}.intersection(links) if e == named or e in before.via - after.via)
    adjacency.change(tx, ledger, [], [(a, removed)] if removed else [], now)
    adjacency.respell(tx, ledger, [after.row(a, before, set(links).difference(removed))])
    _write(tx, ledger, policy, now)
    return bool(removed or before.named & lost)


def forget(tx: Tx, key: str, for_ever: bool, policy: Policy, now: float) -> bool:
    """Unlink a page from all others, repairing both ends, and delete it. True: it has so many links that only some of
    them are gone, and the call must be repeated."""
    ids = discovery.find(tx, [key])
    near: set[int] = set()
    if key in ids:
        page = ids[key]
        near = set(chain.from_iterable(adjacency.read(tx, side, [page]).get(page, ()) for side in adjacency.SIDES))
        if len(near) > UNLINKED_AT_ONCE:
            _thin(tx, page, sorted(near)[:UNLINKED_AT_ONCE], policy, now)
            return True
        if canonicals.let_go(tx, page, policy, now):
            return True
    if for_ever:
        tx.do("pages/forget_for_ever", key=key, now=now)
    notes.forget(tx, key)
    if key not in ids:
        return False
    led = [target for _, target in tx.one("links/redirects", ids=[page])[0]]
    ledger = ledgers.lock(tx, {page, *near, *led}, policy.rule)
    out, into = (adjacency.read_locked(tx, ledger, side, [page])[page] for side in adjacency.SIDES)
    if not ledger.holds([*out, *into]):
        raise Again
    discovery.look_again(tx, led, now)  # it may be an orphan now
    adjacency.change(tx, ledger, [], [(page, out), *((other, [page]) for other in into)], now)
    ledger.bury(page)
    _write(tx, ledger, policy, now)
    lease = tx.records("claims/held", ids=[page])[0]
    ends: dict[str, politeness.HostEffects] = {}
    leases.end_lease(ends, lease)
    if policy.manners.counting:
        ends[lease.host].spent -= lease.was_fetched
    politeness.conclude(tx, ends, {}, policy.manners, now)
    tx.do("pages/forget", id=page)
    return False


def _thin(tx: Tx, page: int, near: Sequence[int], policy: Policy, now: float) -> None:
    """Remove the links between a page and these."""
    ledger = ledgers.lock(tx, {page, *near}, policy.rule)
    out, into = (
        set(near).intersection(adjacency.read_locked(tx, ledger, side, [page])[page]) for side in adjacency.SIDES
    )
    adjacency.change(tx, ledger, [], [(page, sorted(out)), *((other, [page]) for other in sorted(into))], now)
    _write(tx, ledger, policy, now)


def forget_relevance(tx: Tx, ids: Sequence[int], policy: Policy, now: float) -> int:
    """Nothing is known of the relevance of these pages any more; of how many something was."""
    ledger = ledgers.of(policy.rule).lock_present(tx, ids, policy.rule)
    with_relevance = ledger.ids[~np.isnan(ledger.relevance)].tolist()
    if with_relevance:
        ledger.take_relevance([[page, None] for page in with_relevance])
        tx.do("pages/relevance", rows=[[page, None] for page in with_relevance])
        ledger.write(tx, now)
    return len(with_relevance)


def page(tx: Tx, key: str, given: Mapping[str, float | None], policy: Policy, now: float) -> None:
    """Set the relevance, the payout and facts that the schedule uses of a page, as far as they are given.

    The relevance changes no account, only what is worth a push, and the lane.

    Raises:
        UnknownPage: There is no such page.
        BadInput: The engine pays all pages alike.
    """
    ids = _find(tx, key)
    ledger, number = ledgers.lock(tx, ids.values(), policy.rule), ids[key]
    if "relevance" in given:
        ledger.take_relevance([[number, given["relevance"]]])
        tx.do("pages/relevance", rows=[[number, given["relevance"]]])
    if "payout" in given:
        ledger.set_payouts(tx, {number: given["payout"]})
    if given.keys() & {"relevance", "payout"}:
        ledger.write(tx, now)
    if facts := {name: value for name, value in given.items() if name not in ("relevance", "payout")}:
        tx.do("pages/facts", id=number, facts=facts)
        requeue.remark(tx, list(ids.values()), policy, now)


def ask(tx: Tx, urls: Mapping[str, str | None], policy: Policy, now: float) -> set[str]:
    """Request an immediate fetch of pages (key → URL; None: the page must be known). Return the keys of those that will
    be fetched."""
    ids_of = discovery.find(tx, urls)
    fresh = [New(key, url, 0) for key, url in urls.items() if key not in ids_of and url is not None]
    ids = ids_of | discovery.create(tx, fresh, policy.scope, policy.rule, now).ids
    if fresh:
        ledgers.lock(tx, ids.values(), policy.rule).write(tx, now)  # the first write of their accounts
    requeued = set(requeue.ask(tx, sorted(ids.values()), policy, now))
    return {key for key, page in ids.items() if page in requeued}


def deepen(tx: Tx, ids: Sequence[int], policy: Policy, now: float) -> None:
    """Pass the lower depth of pages on to those they link to: of as many pages as one transaction can, and of one with
    too many links to some of those.

    Links that come meanwhile bring the depth themselves.
    """
    out = adjacency.read(tx, "hub", ids)
    depth_of = dict(tx.one("pages/depths", ids=sorted(set(out).union(*out.values())))[0])
    redirects = dict(tx.one("links/redirects", ids=sorted(out))[0])  # no click lies between these
    behind = {page: _behind(page, out[page], depth_of, redirects) for page in ids if page in out}
    deeper: list[int] = []
    chosen: dict[int, list[int]] = {}
    remaining = DEEPENED_AT_ONCE
    for page, targets in behind.items():
        chosen[page] = targets[:remaining]
        remaining -= len(targets)
        if remaining < 0:
            break
        deeper.append(page)
    ledger = ledgers.lock(tx, set(chosen).union(*chosen.values()), policy.rule)
    out = adjacency.read_locked(tx, ledger, "hub", chosen)
    redirects = dict(tx.one("links/redirects", ids=sorted(chosen))[0])
    depths: dict[int, int] = {}
    for page, targets in chosen.items():
        depth = ledger.depth_of(page)
        if depth_of[page] != depth:
            raise Again
        for target in set(targets).intersection(out[page]):
            beyond = depth if redirects.get(page) == target else depth + 1
            depths[target] = min(beyond, depths.get(target, beyond))
    ledger.deepened(deeper)
    discovery.lower(tx, ledger, depths, policy.scope)
    ledger.write(tx, now)


def _behind(page: int, targets: Sequence[int], depths: Mapping[int, int], redirects: Mapping[int, int]) -> list[int]:
    """Return the linked pages that become less deep by the link."""
    intact(*(depths.get(each) for each in (page, *targets)))
    beyond = {target: depths[page] + (redirects.get(page) != target) for target in targets}
    return [target for target in targets if beyond[target] < depths[target]]


def remark(tx: Tx, ids: Sequence[int], policy: Policy, now: float) -> None:
    """Write every mark of pages anew."""
    ledgers.lock(tx, _still(tx, ids), policy.rule).write(tx, now, all_marks=True)


def _write(tx: Tx, ledger: Accounts, policy: Policy, now: float) -> None:
    """Write accounts whose links have changed; pages that may be orphans now, or none any more, are to be looked at."""
    ledger.write(tx, now)
    if policy.orphans != "keep":
        discovery.look_again(tx, ledger.in_links_turned(), now)


def _find(tx: Tx, key: str) -> dict[str, int]:
    ids = discovery.find(tx, [key])
    if key not in ids:
        raise UnknownPage(f"{key} is not in the graph.")
    return ids


def _still(tx: Tx, ids: Sequence[int]) -> list[int]:
    """Return those of these pages that were not deleted since they were read."""
    return sorted(row.page for row in tx.records("pages/scope", ids=sorted(ids)))
