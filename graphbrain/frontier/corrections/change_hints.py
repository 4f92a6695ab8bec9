"""Hints that pages have changed, or are there: by sitemaps, feeds and pings.

A hint counts once: when it is newer than the page's last hint and its last visit. It moves the page back in the queue
by `beta` days, as if it had not been seen for so much longer; nothing else changes, so a false hint costs a visit at
most, and none when the page is worth little. Of a change rate λ the share `recall` is hinted at, and there are
`false` hints that nothing came of for each change: then unhinted changes come at α = (1−recall)·λ, hints at
γ = (recall+false)·λ, false ones at ν = false·λ, and β = ln(γ/ν)/α. Where fetched pages are not fetched again, or
have an interval of their own, and on pages that are not fetched yet, a hint is only noted. A page that was given up is
looked at once for a hint.
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
from graphbrain.schedule import change_rate, lanes, novelty
from graphbrain.schedule.value import DAY
from graphbrain.scores.accounts import ledgers
from graphbrain.scores.accounts.ledgers import Accounts

__all__ = ["Noted", "Source", "Trust", "answers", "apply", "beta", "check", "together"]

LATEST = 253_402_300_800.0 + DAY
"""The year 10000. What lies beyond is counted in milliseconds; what only lies ahead counts as now."""
LONGEST = 366 * DAY
MOST_DAYS = 3650.0
KINDS = ("sitemap", "feed", "ping")


@dataclass(frozen=True, slots=True)
class Noted:
    """One hint, checked: the page has changed between `at` and `until`, by the hint.

    `url` is absent where the key names the page. `name`: the page's name in the answer. `note`: a remark on the URL.
    `listed`: whether a sitemap names the page.
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
    """Return several hints at one page as one: the first of the newest counts, and a URL if one of them has it."""
    newest = max(hints, key=lambda noted: noted.at)
    url = next((noted.url for noted in hints if noted.url is not None), None)
    return replace(newest, url=url, listed=any(noted.listed for noted in hints))


def answers(hints: Sequence[Noted], outcome: HintOutcome | None) -> list[Hinted]:
    """The answers to several hints at one page: what came of it goes to the one that counts; None: there is no page."""
    counts = together(hints)
    if outcome is None:
        reason = "no page has this key: give its URL" if counts.url is None else "the page was forgotten for ever"
        return [Hinted(noted.name, False, reason) for noted in hints]
    first = [noted.at for noted in hints].index(counts.at)
    return [Hinted(noted.name, True, noted.note, outcome if n == first else "old") for n, noted in enumerate(hints)]


def beta(rate: float, trust: Trust) -> float:
    """Return the days by which a hint makes a page older that changes `rate` times a day."""
    if rate <= 0.0:
        return MOST_DAYS
    return min(math.log((trust.recall + trust.false) / trust.false) / ((1.0 - trust.recall) * rate), MOST_DAYS)


def check(hint: Hint | str, rules: Rules, now: float) -> Noted:
    """The hint ready to be applied; a bare URL or key is a ping. Raises BadInput with what is wrong."""
    bare = isinstance(hint, str)
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
    return Noted(key, url, at, until, hint.kind, (url or key) if bare else hint.url, note, hint.kind == "sitemap")


def _within(name: str, value: object, most: float, wanted: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
        raise BadInput(f"{name} must be in seconds, 0 or more, and {wanted}, not {value!r:.80}")
    return float(value)


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """The sitemap that hints are from: its number, when it was read before (None: never), and the trust in its dates.

    `evidence`: what visits to its pages have shown since then, by key; it is filled before the commit.
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
    """Apply hints, one for each key; what came of each. Pages forgotten for ever, or named by a key that no page has,
    are not in it.

    `done` gets it before it is committed: if the answer is lost, the next attempt finds its own hint on the page.
    `sources`: the claimed sitemap that gives a hint, by key; `trust` is for the others.
    """
    ids, created, ledger = _locked(tx, hints, policy, now)
    rows = _read(tx, ledger, policy, now)
    outcomes: dict[str, HintOutcome] = {}
    noted: list[list[object]] = []
    moved: dict[int, float] = {}
    ripe_at: list[tuple[str, float]] = []
    freed: list[int] = []
    heard: list[int] = []
    for key, page in ids.items():
        hint, source, (row, (shape, scale)) = hints[key], sources.get(key), rows[page]
        if source is not None and hint.at and (shown := _shown(row, (shape, scale), source)) is not None:
            source.evidence.setdefault(key, shown)
            heard.append(page)
        outcome: HintOutcome = "new" if key in created else "noted"
        if row.hinted == hint.at and key in done:
            outcomes[key] = done[key]
            continue
        if (row.hinted is not None and hint.at <= row.hinted) or (
            row.fetched is not None and hint.until <= row.fetched
        ):
            outcomes[key] = "old"
            continue
        if row.state == "known" and policy.rule.revisits and row.lane != lanes.ASKED:
            outcome = "moved"
            days = beta(shape / scale, trust if source is None else source.trust)
            moved[page] = row.waiting_since - days * DAY
            ripe_at.append((row.host, float(policy.schedule.ripe_at(row.lane, moved[page]))))
        if row.parked_because is not None:
            freed.append(page)
        elif row.state in ("parked", "gone") and discovery.hurry(tx, [page], now, gone=True):
            outcome = "moved"
        of_source = [source.number, now, row.fetched] if source is not None and hint.at and row.fetched else [None] * 3
        noted.append([page, hint.at, hint.kind, *of_source])
        outcomes[key] = done[key] = outcome
    if heard:
        tx.do("pages/hint_heard", ids=heard)
    _write(tx, noted, moved, freed, now)
    if listed := [page for key, page in ids.items() if hints[key].listed]:  # even if the hint is no news
        tx.do("facts/sitemaps", ids=listed, now=now)
    if created:
        ledger.write(tx, now)
    if ripe_at:
        politeness.queues(tx, politeness.earliest(ripe_at), policy.manners, now)
    return outcomes


def _locked(
    tx: Tx, hints: Mapping[str, Noted], policy: Policy, now: float
) -> tuple[dict[str, int], Collection[str], Accounts]:
    """Create the pages that are missing, lock all, and improve their addresses. Return key → id, the keys of those that
    were created, and their accounts."""
    looked, _ = discovery.look(tx, hints)
    ids = {key: page for key, page, *_ in looked}
    new = sections.with_factors(tx, _new(hints, ids), policy.acting)
    created = discovery.create(tx, new, policy.scope, policy.rule, now).ids
    ids |= created
    ledger = ledgers.lock(tx, ids.values(), policy.rule)
    offers = {page: [url] for key, page, *_, why in looked if why is not None and (url := hints[key].url) is not None}
    url_variants.improve(tx, offers, policy.scope, policy.manners, policy.rule.revisits, now)
    return ids, created, ledger


def _shown(row: _Known, belief: _Belief, source: Source) -> Evidence | None:
    """Return the evidence of a page that the sitemap lists with a date, since it was read before; None: nothing.

    The page has the number of the sitemap whose date was the last that was news, and when that was noted.
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
    """The pages to be made of hints: one click away from the host's root, which is where such lists begin, and never
    seeds. A sitemap counts as the page that brings them: it names thousands of one folder, and if each were as new as
    the first, they would all come before most of what the site itself links to."""
    siblings = novelty.counting()
    return [
        New(key, hint.url, 1, siblings_before=siblings(hint.url))
        for key, hint in hints.items()
        if key not in existing and hint.url is not None
    ]


_Known = Any
"""The facts of a page that a hint needs, as pages/hints returns them."""
_Belief = tuple[float, float]
"""The shape and the scale (days) of the belief on a page's rate."""


def _read(tx: Tx, ledger: Accounts, policy: Policy, now: float) -> dict[int, tuple[_Known, _Belief]]:
    """Page → what is known of it, and believed of its rate."""
    rows = tx.records("pages/hints", ids=ledger.ids.tolist())
    value = ledger.weighed(tx, now)[ledger.at([row.page for row in rows])]
    first = zip(*policy.schedule.first_belief([row.host for row in rows], value), strict=True)
    return {
        row.page: (row, (row.rate_shape, row.rate_scale) if row.rate_shape and row.rate_scale else prior)
        for row, prior in zip(rows, first, strict=True)
    }


def _write(
    tx: Tx, noted: Sequence[Sequence[object]], moved: Mapping[int, float], freed: Sequence[int], now: float
) -> None:
    if noted:
        tx.do("pages/hinted", rows=noted)
    if moved:
        tx.do("pages/move_back", rows=[[page, since] for page, since in moved.items()])
    discovery.look_again(tx, freed, now)  # a page that is hinted at is no orphan
