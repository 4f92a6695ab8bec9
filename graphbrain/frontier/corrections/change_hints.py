"""Hints that pages have changed, or exist: from sitemaps, feeds and pings.

A hint counts once, if it is newer than the page's last hint and its last visit. The page is then due as if its last
visit had been β days earlier. Nothing else changes, so a false hint costs at most one visit, and none if the page is
not worth one. β follows from the change rate λ of the page: hints report the share `recall` of its changes, and there
are `false` false hints for each change. So changes without a hint come at α = (1−recall)·λ, hints at
γ = (recall+false)·λ, false hints at ν = false·λ, and β = ln(γ/ν)/α.

A hint is only noted on a page that is not fetched yet, that has a fixed interval, or if the order visits no page again.
A page that was given up is visited once because of a hint.
Statements: pages/hints, pages/hinted, pages/hint_heard, pages/move_back, facts/sitemaps.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from graphbrain.base.errors import BadInput
from graphbrain.base.model import Hint, Hinted, HintOutcome
from graphbrain.base.urls.normalization import USER_LEFT_OUT, Rules, is_key, names_user
from graphbrain.frontier import discovery, sections, url_variants
from graphbrain.frontier.claims.sitemap_state import Evidence, Trust, weigh
from graphbrain.frontier.discovery import New
from graphbrain.frontier.hosts import politeness
from graphbrain.frontier.policy import Policy
from graphbrain.graph.connection import Tx
from graphbrain.schedule import change_rate, lanes
from graphbrain.schedule.value import DAY
from graphbrain.scores.accounts import ledgers
from graphbrain.scores.accounts.ledgers import Accounts

__all__ = ["Noted", "Source", "Trust", "answers", "apply", "beta", "check", "together"]

LATEST = 253_402_300_800.0 + DAY
"""The year 10000. A later time is refused, because it is probably in milliseconds; any other time in the future counts
as now."""
LONGEST = 366 * DAY
MOST_DAYS = 3650.0
KINDS = ("sitemap", "feed", "ping")


@dataclass(frozen=True, slots=True)
class Noted:
    """One checked hint.

    Attributes:
        key: The key of the page.
        url: Its URL; None if the hint has only the key.
        at: The earliest time of the change, in epoch seconds.
        until: The latest time of the change.
        kind: The kind of the source.
        name: The URL or key of the page for the answer.
        note: A remark on the URL.
        listed: True if a sitemap names the page.
    """

    key: str
    url: str | None
    at: float
    until: float
    kind: str
    name: str
    note: str = ""
    listed: bool = False


def together(hints: Sequence[Noted]) -> Noted:
    """Return one hint for several hints on one page: the first of the newest, with a URL if any of them has one."""
    newest = max(hints, key=lambda noted: noted.at)
    url = next((noted.url for noted in hints if noted.url is not None), None)
    return replace(newest, url=url, listed=any(noted.listed for noted in hints))


def answers(hints: Sequence[Noted], outcome: HintOutcome | None) -> list[Hinted]:
    """Return the answers to several hints on one page. The outcome is that of the hint that counts; the others are old.

    `outcome`: None if there is no page.
    """
    newest = together(hints)
    if outcome is None:
        reason = "no page has this key: give its URL" if newest.url is None else "the page was forgotten for ever"
        return [Hinted(noted.name, False, reason) for noted in hints]
    first = [noted.at for noted in hints].index(newest.at)
    return [Hinted(noted.name, True, noted.note, outcome if n == first else "old") for n, noted in enumerate(hints)]


def beta(rate: float, trust: Trust) -> float:
    """Return the days β by which a hint raises the age of a page with this change rate (changes a day)."""
    if rate <= 0.0:
        return MOST_DAYS
    return min(math.log((trust.recall + trust.false) / trust.false) / ((1.0 - trust.recall) * rate), MOST_DAYS)


def check(hint: Hint | str, rules: Rules, now: float) -> Noted:
    """Return a checked hint. A bare URL or key is a ping. Raises BadInput."""
    is_bare = isinstance(hint, str)
    if isinstance(hint, str):
        hint = Hint(hint)
    if not isinstance(hint, Hint):
        raise BadInput(f"a hint is a Hint, a URL or a key, not {type(hint).__name__}")
    named = hint.url if isinstance(hint.url, str) else str(hint.url)[:200]
    url, key = (None, named) if is_key(named) else rules.page(named)
    if hint.kind not in KINDS:
        raise BadInput(f"the kind of a hint is {', '.join(KINDS)}, not {hint.kind!r:.80}")
    at = now if hint.at is None else min(now, _within("at", hint.at, LATEST, "before the year 10000"))
    until = at + _within("within", hint.within, LONGEST, "at most a year")
    note = USER_LEFT_OUT if names_user(named) else ""
    name = (url or key) if is_bare else hint.url
    return Noted(key, url, at, until, hint.kind, name, note, listed=hint.kind == "sitemap")


def _within(name: str, value: object, most: float, wanted: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
        raise BadInput(f"{name} must be in seconds, 0 or more, and {wanted}, not {value!r:.80}")
    return float(value)


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """The sitemap that hints are from.

    Attributes:
        number: Its number on its pages.
        read_at: The time at which it was read before; None if it was not.
        trust: The trust in its dates.
        evidence: Key of a page → what visits have shown about its date since then. `apply` fills it before the commit.
    """

    number: int
    read_at: float | None
    trust: Trust
    evidence: dict[str, Evidence] = field(default_factory=dict)


NO_SOURCES: Mapping[str, Source] = MappingProxyType({})


def apply(
    tx: Tx,
    hints: Mapping[str, Noted],
    trust: Trust,
    policy: Policy,
    now: float,
    done: dict[str, HintOutcome],
    sources: Mapping[str, Source] = NO_SOURCES,
) -> dict[str, HintOutcome]:
    """Apply hints, one for each key.

    Args:
        tx: The transaction.
        hints: Key of a page → the hint.
        trust: The trust in hints without a source.
        policy: The policy of the crawl.
        now: Epoch seconds.
        done: Gets the outcomes before the commit. If the answer of the commit is lost, the next attempt finds its own
            hint on the page, and the outcome here.
        sources: Key of a page → the claimed sitemap that gives its hint.

    Returns:
        Key → outcome. Pages that were forgotten for ever, and keys of no page, are left out.
    """
    ids, created, ledger = _locked(tx, hints, policy, now)
    pages = _read(tx, ledger, policy, now)
    outcomes: dict[str, HintOutcome] = {}
    changes = _Changes()
    for key, page in ids.items():
        hint, source, (row, belief) = hints[key], sources.get(key), pages[page]
        # Count what visits have shown about the date of the sitemap.
        if source is not None and hint.at and (shown := _shown(row, belief, source)) is not None:
            source.evidence.setdefault(key, shown)
            changes.heard.append(page)
        # Skip a hint that an earlier attempt has applied, and one that is no news.
        if row.hinted == hint.at and key in done:
            outcomes[key] = done[key]
            continue
        if _is_old(hint, row):
            outcomes[key] = "old"
            continue
        # Make the page due sooner, or note the hint.
        outcome: HintOutcome = "new" if key in created else "noted"
        if row.state == "known" and policy.rule.revisits and row.lane != lanes.ASKED:
            outcome = "moved"
            shape, scale = belief
            days = beta(shape / scale, trust if source is None else source.trust)
            changes.waiting_since[page] = row.waiting_since - days * DAY
            ripe_at = float(policy.schedule.ripe_at(row.lane, changes.waiting_since[page]))
            changes.ripe_at.append((row.host, ripe_at))
        if row.parked_because is not None:
            changes.no_orphans.append(page)
        elif row.state in ("parked", "gone") and discovery.hurry(tx, [page], now, gone=True):
            outcome = "moved"
        of_source = [source.number, now, row.fetched] if source is not None and hint.at and row.fetched else [None] * 3
        changes.noted.append([page, hint.at, hint.kind, *of_source])
        outcomes[key] = done[key] = outcome
    # Write the pages, then lock their hosts.
    changes.listed = [page for key, page in ids.items() if hints[key].listed]
    _write(tx, changes, now)
    if created:
        ledger.write(tx, now)
    if changes.ripe_at:
        politeness.queues(tx, politeness.earliest(changes.ripe_at), policy.manners, now)
    return outcomes


@dataclass(slots=True)
class _Changes:
    """The changes of pages that hints make.

    Attributes:
        noted: Rows of pages/hinted.
        waiting_since: Page → the earlier time since which it waits.
        ripe_at: (host, time from which on its page may be visited).
        no_orphans: Parked pages, which are no orphans because of the hint.
        heard: Pages that have shown something about the date of a sitemap.
        listed: Pages that a sitemap names, also if the hint is no news.
    """

    noted: list[list[object]] = field(default_factory=list)
    waiting_since: dict[int, float] = field(default_factory=dict)
    ripe_at: list[tuple[str, float]] = field(default_factory=list)
    no_orphans: list[int] = field(default_factory=list)
    heard: list[int] = field(default_factory=list)
    listed: list[int] = field(default_factory=list)


def _is_old(hint: Noted, row: _Known) -> bool:
    """Return whether the last hint, or the last visit, of a page is as new as a hint."""
    if row.hinted is not None and hint.at <= row.hinted:
        return True
    return row.fetched is not None and hint.until <= row.fetched


def _locked(
    tx: Tx, hints: Mapping[str, Noted], policy: Policy, now: float
) -> tuple[dict[str, int], Collection[str], Accounts]:
    """Create missing pages, lock all, and improve their addresses.

    Returns:
        (key → id of each page, the keys of created pages, the accounts of all pages).
    """
    existing, _ = discovery.look(tx, hints)
    ids = {key: page for key, page, *_ in existing}
    new = sections.with_factors(tx, _new(hints, ids), policy.acting)
    created = discovery.create(tx, new, policy.scope, policy.rule, now).ids
    ids |= created
    ledger = ledgers.lock(tx, ids.values(), policy.rule)
    offers = {page: [url] for key, page, *_, why in existing if why is not None and (url := hints[key].url) is not None}
    url_variants.improve(tx, offers, policy, now)
    return ids, created, ledger


def _shown(row: _Known, belief: _Belief, source: Source) -> Evidence | None:
    """Return what visits of a page have shown about its date in a sitemap since the sitemap was read; None for nothing.

    The page stores the number of the sitemap with the last date that was news, and the time at which it was noted.
    """
    if row.fetched is None or row.visits < 2:
        return None
    changed = row.changed or 0.0
    if row.hint_number == source.number and row.hint_noted is not None:
        if row.fetched <= row.hint_noted:
            return None
        days = max(0.0, row.fetched - (row.hint_after or row.hint_noted)) / DAY
        chance = float(change_rate.chance_of_change(*belief, days))
        return weigh(changed > row.hint_noted, chance)
    if source.read_at is not None and row.hint_number is None and changed > source.read_at:
        return Evidence(missed=1.0)
    return None


def _new(hints: Mapping[str, Noted], existing: Collection[str]) -> list[New]:
    """Return the pages that hints create. They are no seeds, and have the depth 1, as if the root of the host linked to
    them.

    For their novelty, the sitemap counts as the page that has brought them: it names thousands of pages of one folder.
    If all had the novelty of the first, they would come before most pages to which the site links.
    """
    siblings = discovery.sibling_counter()
    return [
        New(key, hint.url, 1, siblings_before=siblings(hint.url))
        for key, hint in hints.items()
        if key not in existing and hint.url is not None
    ]


_Known = Any
"""A record of pages/hints: the facts of a page that a hint needs."""
_Belief = tuple[float, float]
"""(shape, scale in days) of the belief about a page's change rate."""


def _read(tx: Tx, ledger: Accounts, policy: Policy, now: float) -> dict[int, tuple[_Known, _Belief]]:
    """Return page → (its facts, the belief about its change rate: its own, or else the prior of its host)."""
    rows = tx.records("pages/hints", ids=ledger.ids.tolist())
    value = ledger.weighed(tx, now)[ledger.at([row.page for row in rows])]
    priors = zip(*policy.schedule.first_belief([row.host for row in rows], value), strict=True)
    return {
        row.page: (row, (row.rate_shape, row.rate_scale) if row.rate_shape and row.rate_scale else prior)
        for row, prior in zip(rows, priors, strict=True)
    }


def _write(tx: Tx, changes: _Changes, now: float) -> None:
    if changes.heard:
        tx.do("pages/hint_heard", ids=changes.heard)
    if changes.noted:
        tx.do("pages/hinted", rows=changes.noted)
    if changes.waiting_since:
        tx.do("pages/move_back", rows=[[page, since] for page, since in changes.waiting_since.items()])
    discovery.look_again(tx, changes.no_orphans, now)
    if changes.listed:
        tx.do("facts/sitemaps", ids=changes.listed, now=now)
