"""A batch of visits, recorded in one transaction.

In this order: the visited pages and their links are looked up and the missing ones created (by key), everything
that will be read or written is locked (by id) together with its accounts, leases and last visits are judged, the
difference of the links is written and the accounts at both ends repaired, cash is pushed where all who are paid are
locked anyway, the visits are recorded and the leases end, and last the hosts are settled (by name). Every decision is
taken from locked state, and an item that was recorded by an attempt whose answer got lost is recognised by its token.
Statements: pages/*, links/*, visits/*, accounts/*.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from graphbrain import accounts, hosts, lanes, linking, pages, spellings
from graphbrain.accounts import Accounts
from graphbrain.fingerprints import Change
from graphbrain.graph import Again, Tx, intact
from graphbrain.hosts import Ends, Host, Manners, Request
from graphbrain.model import FOR_EVER, Answer, Failed, Fetched, Outcome, Seen
from graphbrain.opichits import LEAST_RELEVANCE, Rule
from graphbrain.pages import New
from graphbrain.schedule import DAY, Schedule
from graphbrain.scope import Scope
from graphbrain.tokens import made_at
from graphbrain.url import cleaner, host_of

__all__ = ["Item", "Policy", "Recorded", "record"]

MINUTE, HOUR = 60.0, 3_600.0
LONGEST_ALIAS = 180 * DAY
"""An alias is looked at again after as long as it has been one, and a day; but after so long at the latest."""
PASSING = frozenset({408, 421, 423, 425})
"""Client errors that say nothing of the page: request time-out, misdirected, locked, too early (RFC 9110, 4918, 8470).
They are tried again like server errors."""
SLOWED = frozenset({429, 503})
NOT_MODIFIED = 304
EARLIEST = 631_152_000.0
"""The year 1990. A visit before is none that a rate of change could be learned from."""
NEVER_FETCHED = "not modified, but never fetched"
FIRST_REFUSAL = MINUTE
"""Seconds for which a page waits after its first 429 or 503, doubled at each, up to a day."""
BY_BODY, NOTHING_SEEN = Change("body"), Seen()


@dataclass(frozen=True, slots=True)
class Policy:
    """What a report obeys."""

    rule: Rule
    scope: Scope
    manners: Manners
    max_errors: int
    schedule: Schedule = field(default_factory=Schedule)
    change: Change = BY_BODY
    orphans: str = "keep"


@dataclass(slots=True)
class Item:
    """One reported visit, checked: addressed, hashed, with a token made before any transaction."""

    report: Fetched | Failed
    key: str
    url: str
    token: str
    at: float
    seen: Seen = NOTHING_SEEN
    address: str | None = None
    """where the host was reached, in its usual spelling"""
    targets: dict[str, tuple[str, float | None]] = field(default_factory=dict)
    """key → (address, guess of relevance) of each distinct out-link, in page order, without the page itself"""
    refused: tuple[tuple[str, str], ...] = ()
    over: int = 0
    note: str = ""
    """what the answer says beside the outcome"""
    spelling: str | None = None
    """the other spelling of its own URL that the page redirects to"""
    circles: bool = False
    """does it redirect to itself, in this spelling or another?"""
    told: str = "all"
    """which of the page's links `targets` are: all, some, so that others stay, or none"""
    refusal: str = ""
    """why what was reported was refused: what is recorded instead is that its page has failed"""

    @property
    def claimed(self) -> bool:
        return self.report.claim is not None

    @property
    def missing(self) -> bool:
        """Did the server say that there is no such page, or lead nowhere with a redirect?"""
        report = self.report
        return (
            isinstance(report, Failed)
            and 300 <= (report.status or 0) < 500
            and report.status not in PASSING | SLOWED | {NOT_MODIFIED}
            and not self.circles
        )

    @property
    def slowed(self) -> bool:
        """Did the host ask to be left alone?"""
        return isinstance(self.report, Failed) and self.report.status in SLOWED

    @property
    def retry_after(self) -> float | None:
        """Seconds that the server asked to wait: of a header, intake has read them."""
        wait = self.report.retry_after if isinstance(self.report, Failed) else None
        return None if isinstance(wait, str) else wait

    @property
    def vain(self) -> bool:
        """Was there no answer at all?"""
        return isinstance(self.report, Failed) and self.report.status is None and not self.refusal

    def request(self) -> Request:
        """The request that the visit made, to be held against what else was under way."""
        claimed_at = made_at(self.token) if self.claimed else None
        return Request(self.at if claimed_at is None else claimed_at, claimed_at is not None, self.retry_after)

    def touches_links(self) -> bool:
        """Can recording this visit add or remove links?"""
        return self.replaces_links() or self.adds_links() or self.missing

    @property
    def leads_on(self) -> bool:
        """Is it a redirect for good?"""
        return isinstance(self.report, Fetched) and self.report.redirected_to is not None

    def replaces_links(self) -> bool:
        """Does this visit say what the page links to?"""
        return isinstance(self.report, Fetched) and self.told == "all"

    def adds_links(self) -> bool:
        """Does it name links of the page, and leave open whether there are others?"""
        return self.told == "some" and bool(self.targets)


@dataclass(slots=True)
class _Visit:
    """What is known of a page's last visits, under the lock."""

    page: int
    url: str
    state: str
    host: str
    lease: str | None
    counted: bool
    last_lease: str | None
    last_outcome: str | None
    fetched: float | None
    first_fetched: float | None
    visits: int
    changes: int
    errors: int
    changed: float | None
    body_hash: str | None
    text_hash: str | None
    simhash: int | None
    etag: str | None
    last_modified: str | None
    counted_at: str | None
    charged: bool
    refusals: int
    respelt: int
    """for how many rounds in a row it took the spelling that its server redirects to"""
    is_seed: bool
    alias_since: float | None
    names_aliases: bool

    @property
    def seen(self) -> Seen:
        """The content as it was when it last changed; ETag and Last-Modified of the last visit."""
        return Seen(self.body_hash, self.text_hash, self.simhash, self.etag, self.last_modified, self.changed)


@dataclass(slots=True)
class _Verdict:
    """What becomes of one item. `keep`: the visit is recorded; `links`: its links are taken. `hollow`: the page was
    said to be as it was, and nobody has had it. `change`: what has told whether it has changed."""

    item: Item
    visit: _Visit
    keep: bool
    links: bool
    answer: Answer
    hollow: bool = False
    change: Change = BY_BODY

    @property
    def vanished(self) -> bool:
        """Is there no such page any more?"""
        return self.answer.outcome == "gone" and self.item.missing

    @property
    def targets(self) -> Mapping[str, tuple[str, float | None]]:
        """What its page links to, as far as the visit tells."""
        return {} if self.vanished else self.item.targets

    @property
    def unlinks(self) -> bool:
        """Are links gone that were not told?"""
        return self.keep and (self.item.replaces_links() or self.vanished)

    @property
    def own(self) -> bool:
        """Is the page held under this visit's token, or by nobody?"""
        return self.visit.lease in (None, self.item.token)


@dataclass(frozen=True, slots=True)
class Recorded:
    """What one transaction did: an answer for each item, in their order; pushes of cash, and the payments of these."""

    answers: list[Answer]
    pushes: int
    payments: int


def record(tx: Tx, items: Sequence[Item], policy: Policy, now: float) -> Recorded:
    """Record these visits, each page at most once."""
    ids, made, linked, redirecting, unsure = _discover(tx, items, policy, now)
    goals = pages.goals(tx, ids, redirecting)
    present = [item for item in items if item.key in ids]
    sources = [ids[item.key] for item in present]
    # Most pages are visited for the first time and have no links yet.
    known = linking.read_spelt(tx, [ids[item.key] for item in present if item.key in linked and item.touches_links()])
    wanted = {goals[key] for item in present for key in item.targets if key in goals}
    if redirecting or unsure:
        wanted.update(ids[key] for item in present for key in item.targets if key in ids)
    ledger = accounts.lock(tx, wanted.union(sources, made, *known.values()), policy.rule)
    if made:
        # They were created with the weight of the links they are about to get.
        ledger.in_weight[ledger.at(tx.one("pages/unlinked", ids=made)[0])] = 0.0
    visits = {row[0]: _Visit(*row) for row in tx.one("visits/read", ids=sorted(sources))[0]}
    verdicts = [_judge(item, visits[ids[item.key]], policy) for item in present]
    led = _Led(ids, goals, redirecting)
    links = _relink(tx, verdicts, led, ledger, policy, now)
    turned = _redirect(tx, verdicts, led, ledger, policy, now)
    offers = _offers(items, unsure, policy.scope)
    spellings.improve(tx, offers, policy.scope, policy.manners, policy.rule.revisits, now)
    _give_relevance(tx, verdicts, goals, ledger)
    _note_first(verdicts, ledger)
    pushes, payments = ledger.spend_among(links)
    plan = _learn(tx, verdicts, ledger, policy)
    ledger.write(tx, now)
    if policy.orphans != "keep":
        turned |= set(ledger.in_links_turned()).difference(made)
    pages.look_again(tx, turned, now)
    _write_visits(tx, verdicts, plan, policy, now)
    answers = {verdict.item.key: verdict.answer for verdict in verdicts}
    told = [_told_of(item, answers.get(item.key)) for item in items]
    return Recorded(told, pushes, payments)


def _discover(
    tx: Tx, items: Sequence[Item], policy: Policy, now: float
) -> tuple[dict[str, int], list[int], set[str], set[str], dict[str, tuple[int, str]]]:
    """Key → id of all pages named in the batch; the ids among them that had to be created; keys that have links;
    keys of aliases; and key → (id, why) of pages whose addresses may get better.

    The missing pages are created, as deep as their best finder says.
    """
    named = {key for item in items for key in item.targets}.union(item.key for item in items)
    found = pages.look(tx, named)
    ids = {key: page for key, page, *_ in found}
    linked = {key for key, _, weight, *_ in found if weight > 0}
    redirecting = {key for key, _, _, alias, _ in found if alias}
    unsure = {key: (page, why) for key, page, _, _, why in found if why is not None}
    missing = named.difference(ids)
    if not missing:
        return ids, [], linked, redirecting, unsure
    # A claimed page has a depth of its own; an unclaimed one that nobody knew is where the crawl begins.
    depths = dict(tx.one("pages/depths", ids=sorted({ids[i.key] for i in items if i.key in ids}))[0])
    intact(*depths.values())
    new: dict[str, New] = {}
    visited = {item.key: item.url for item in items}
    for item in items:
        depth = depths.get(ids.get(item.key, -1), 0)
        beyond = depth if item.leads_on else depth + 1  # a redirect is no click
        if item.key in missing and not item.claimed:
            new[item.key] = replace(new.get(item.key, New(item.key, item.url, 0)), depth=0)
        for key, (url, guess) in item.targets.items():
            if key in missing:
                known = new.get(key)
                deep = beyond if known is None else min(known.depth, beyond)
                weight = 1.0 if known is None else known.in_weight + 1.0
                spelt = visited.get(key) or (url if known is None else cleaner(known.url, url))
                new[key] = New(key, spelt, deep, relevance=_larger(guess, known), in_weight=weight)
    made = pages.create(tx, new.values(), policy.scope, policy.rule, now)
    return ids | made, sorted(made.values()), linked, redirecting, unsure


def _offers(items: Sequence[Item], unsure: Mapping[str, tuple[int, str]], scope: Scope) -> dict[int, dict[str, None]]:
    """Id → the spellings that links and unclaimed visits bring of pages whose addresses may get better."""
    offers: dict[int, dict[str, None]] = {}
    if unsure:
        for item in items:
            met = [(key, item.targets[key][0]) for key in unsure.keys() & item.targets.keys()]
            if item.key in unsure and not item.claimed:
                met.append((item.key, item.url))
            for key, url in met:
                page, why = unsure[key]
                if spellings.may_improve(why, url, scope):
                    offers.setdefault(page, {})[url] = None
    return offers


def _larger(guess: float | None, known: New | None) -> float | None:
    before = known.relevance if known is not None else None
    if guess is None or before is None:
        return before if guess is None else guess
    return max(guess, before)


def _told_of(item: Item, answer: Answer | None) -> Answer:
    """What the caller is told: that a visit was refused, whatever was recorded instead."""
    if item.refusal:
        return _refuse(item, item.refusal)
    return answer or _refuse(item, "the page was forgotten")


def _refuse(item: Item, reason: str) -> Answer:
    return Answer(item.report.url, False, reason, links_refused=item.refused, links_over=item.over)


def _judge(item: Item, visit: _Visit, policy: Policy) -> _Verdict:
    """Accept or refuse one visit by its lease, and find its outcome."""
    claim = item.report.claim
    if visit.last_lease == item.token and visit.lease != item.token:
        if visit.last_outcome == "returned":
            return _refused(item, visit, "the claim was given back or had lapsed")
        return _Verdict(item, visit, False, False, _accepted(item, visit.last_outcome))
    if claim is not None and visit.lease != item.token:
        return _refused(item, visit, "the lease lapsed, or somebody else holds the page")
    if claim is None and visit.fetched is not None and visit.fetched >= item.at:
        return _refused(item, visit, "a later visit is known")
    hollow = _is_hollow(item, visit)
    if hollow:
        item = _unfetched(item)
    if claim is None and visit.lease is not None and isinstance(item.report, Failed):
        return _refused(item, visit, "somebody holds the page and will report it")
    outcome, change = _outcome(item, visit, policy) if not hollow else ("retry", policy.change)
    verdict = _Verdict(item, visit, True, False, _accepted(item, outcome), hollow, change)
    if change.failure:
        verdict.answer = replace(verdict.answer, reason=change.failure)
    verdict.links = item.replaces_links() or item.adds_links() or verdict.vanished
    return verdict


def _is_hollow(item: Item, visit: _Visit) -> bool:
    """Is the page said to be as it was, though there is nothing that it was?"""
    said = isinstance(item.report, Fetched) and item.report.not_modified
    return said and (visit.first_fetched is None or visit.state in ("alias", "gone"))


def _unfetched(item: Item) -> Item:
    """The visit as a failure: the page is asked for again, and then in full."""
    report = item.report
    failed = Failed(
        report.url, report.claim, NOT_MODIFIED, NEVER_FETCHED, seconds=report.seconds, address=report.address
    )
    return replace(item, report=failed, note=f"{NEVER_FETCHED}: it will be asked for in full")


def _refused(item: Item, visit: _Visit, reason: str) -> _Verdict:
    """Refused; but links of a page that was never fetched are news that nobody else has brought."""
    links = item.replaces_links() and visit.first_fetched is None and visit.state in ("frontier", "outside")
    return _Verdict(item, visit, False, links and bool(item.targets), _refuse(item, reason))


def _accepted(item: Item, outcome: str | None) -> Answer:
    stated: Outcome | None = outcome  # type: ignore[assignment]  # written by _outcome, read back from the page
    links = len(item.targets) if isinstance(item.report, Fetched) else 0
    return Answer(item.report.url, True, item.note, stated, links, links_refused=item.refused, links_over=item.over)


def _outcome(item: Item, visit: _Visit, policy: Policy) -> tuple[Outcome, Change]:
    """And what has told whether the page has changed: not the user's detector when that fails."""
    report, change = item.report, policy.change
    if isinstance(report, Failed):
        if item.slowed:
            return "slowed", change
        if _respells(item, visit):
            return "retry", change
        return "gone" if visit.errors + 1 >= policy.max_errors else "retry", change
    if report.redirected_to is not None:
        return "alias", change
    if visit.first_fetched is None:
        return "new", change
    if report.not_modified:
        return "same", change
    if report.changed is not None:
        return "changed" if report.changed else "same", change
    if visit.state == "alias":
        return "changed", change
    if item.told == "some":  # what came was not the page
        return "same", change
    differs, change = change.judge(visit.seen, item.seen)
    return "changed" if differs else "same", change


@dataclass(frozen=True, slots=True)
class _Led:
    """Key → id of each page that a batch names, and of the page it leads to: another one if it is an alias."""

    ids: dict[str, int]
    goals: dict[str, int]
    redirecting: set[str]
    """keys of aliases, some of which lead nowhere"""

    def aliases(self, keys: Iterable[str]) -> set[int]:
        """Those among these pages that lead to another."""
        if not self.redirecting:
            return set()
        return {self.ids[key] for key in self.redirecting.intersection(keys) if self.goals[key] != self.ids[key]}


def _relink(
    tx: Tx,
    verdicts: Sequence[_Verdict],
    led: _Led,
    ledger: Accounts,
    policy: Policy,
    now: float,
) -> dict[int, list[int]]:
    """Write the difference between the links that are known and those that were reported; depths follow. All links
    that these pages have now: page → those it links to.

    A link to an alias is one to the page that it leads to.
    """
    taking = [v for v in verdicts if v.links]
    links: dict[int, list[int]] = {}
    if not taking:
        return links
    weights = ledger.out_weight[ledger.at([v.visit.page for v in taking])]
    old = linking.held(tx, ledger, "hub", (v.visit.page for v, w in zip(taking, weights, strict=True) if w > 0))
    named = {v.visit.page: led.aliases(v.targets) for v in taking}
    spelt = linking.spelling(tx, (v.visit.page for v in taking if v.visit.names_aliases or named[v.visit.page]))
    made: linking.Ends = []
    gone: linking.Ends = []
    names: list[list[object] | None] = []
    depths: dict[int, int] = {}
    for verdict in taking:
        page = verdict.visit.page
        before = set(old.get(page, ()))
        if not ledger.holds(before):
            raise Again
        after = list(dict.fromkeys(led.goals[key] for key in verdict.targets if key in led.goals))
        if page in after:  # by way of an alias of itself
            after.remove(page)
        new = [target for target in after if target not in before]
        if new:
            made.append((page, new))
        if verdict.unlinks and (lost := before.difference(after)):
            gone.append((page, sorted(lost)))
        links[page] = after if verdict.unlinks else [*before, *new]
        if page in spelt:
            now_named = _spelling(verdict, led, named[page], spelt[page], new)
            names.append(now_named.row(page, spelt[page], links[page]))
        depth = int(ledger.depth[ledger.at([page])[0]])
        _offer(depths, depth if verdict.item.leads_on else depth + 1, after)
    linking.create(tx, ledger, made, now)
    linking.delete(tx, ledger, gone)
    linking.respell(tx, ledger, names)
    pages.lower(tx, ledger, depths, policy.scope)
    return links


def _spelling(
    verdict: _Verdict, led: _Led, named: set[int], before: linking.Spelling, new: Iterable[int]
) -> linking.Spelling:
    """What the page names after this visit; one that was refused only adds links."""
    own = {led.goals[key] for key in verdict.targets if key in led.goals and led.ids[key] not in named}
    via = {led.goals[key] for key in verdict.targets if key in led.goals and led.ids[key] in named} - own
    if verdict.unlinks:
        return linking.Spelling(frozenset(named), frozenset(via))
    return linking.Spelling(before.named | named, (before.via - own) | via.intersection(new))


def _redirect(
    tx: Tx, verdicts: Sequence[_Verdict], led: _Led, ledger: Accounts, policy: Policy, now: float
) -> set[int]:
    """Write which pages are aliases of which, and are so no more; those whose in-links are to be looked at for it."""
    leading: dict[int, int] = {}
    seeds: set[tuple[int, int]] = set()
    aliases: list[_Verdict] = []
    for verdict in verdicts:
        if verdict.answer.outcome == "alias" and verdict.answer.accepted:
            target = next((led.ids[key] for key in verdict.item.targets if key in led.ids), None)
            verdict.answer = replace(verdict.answer, reason=_whither(verdict, target, ledger, policy))
            if verdict.keep:
                aliases.append(verdict)
                if target is not None:
                    leading[verdict.visit.page] = target
                if verdict.visit.is_seed:
                    ends = {led.ids[key] for key in verdict.item.targets if key in led.ids}
                    ends |= {led.goals[key] for key in verdict.item.targets if key in led.goals}
                    seeds |= {(verdict.visit.page, end) for end in ends if end != verdict.visit.page}
    failing = [v for v in verdicts if v.keep and v.visit.state == "alias" and v.answer.outcome in ("retry", "slowed")]
    was = {v.visit.page for v in verdicts if v.keep and v.visit.state == "alias"}
    again = was.difference(v.visit.page for v in (*aliases, *failing))
    before = dict(tx.one("links/redirects", ids=sorted(was & leading.keys()))[0]) if was & leading.keys() else {}
    if leading:
        tx.do("links/alias", rows=[[page, target] for page, target in leading.items()])
    if aliases or failing:
        tx.do("visits/alias", rows=[_alias_row(v, ledger, policy, now) for v in (*aliases, *failing)])
    if again:
        tx.do("links/unalias", ids=sorted(again))
    if seeds:
        tx.do("links/seeds", rows=[list(pair) for pair in sorted(seeds)])
        made = sorted({end for _, end in seeds})
        ledger.is_seed[ledger.at(made)] = True
        pages.lower(tx, ledger, dict.fromkeys(made, 0), policy.scope)
    linked = {page for page in leading if ledger.in_weight[ledger.at([page])[0]] > 0.0}
    return linked | again | {page for page, target in before.items() if leading[page] != target}


def _whither(verdict: _Verdict, target: int | None, ledger: Accounts, policy: Policy) -> str:
    """What the answer says of where an alias leads, if that is no page of the crawl."""
    url = next((url for url, _ in verdict.item.targets.values()), "")
    if target is None:
        return f"redirects to {url[:200]}, which was forgotten for ever" if url else verdict.item.note
    depth = int(ledger.depth[ledger.at([target])[0]])
    if policy.scope.holds(url, host_of(url), depth):
        return verdict.item.note
    return f"redirects to {url[:200]}, which is outside the scope"


def _alias_row(verdict: _Verdict, ledger: Accounts, policy: Policy, now: float) -> list[object]:
    """Since when the page is an alias, and when it is looked at again: after a day, two, four, … while it stays one.

    One outside the scope is not looked at.
    """
    visit, item = verdict.visit, verdict.item
    since = visit.alias_since if visit.state == "alias" and visit.alias_since is not None else item.at
    if verdict.answer.outcome == "alias":
        after = min(DAY + max(0.0, now - since), LONGEST_ALIAS)
    else:
        after = max(_pause(visit.errors + 1, item.missing), HOUR)
    inside = policy.scope.holds(visit.url, visit.host, int(ledger.depth[ledger.at([visit.page])[0]]))
    return [visit.page, since, now + after if inside else None]


def _offer(depths: dict[int, int], depth: int, targets: Iterable[int]) -> None:
    for target in targets:
        if depth < depths.get(target, depth + 1):
            depths[target] = depth


def _give_relevance(tx: Tx, verdicts: Sequence[_Verdict], goals: dict[str, int], ledger: Accounts) -> None:
    """Fetched pages get the relevance that was reported, gone ones the least, unfetched targets the largest guess."""
    rows = [[v.visit.page, *_relevance(v)] for v in verdicts if v.keep and _relevance(v)]
    if rows:
        tx.do("pages/relevance", rows=rows)
        ledger.relevance[ledger.at([row[0] for row in rows])] = [np.nan if row[1] is None else row[1] for row in rows]
    fetched = {v.visit.page for v in verdicts if v.keep}
    guesses: dict[int, float] = {}
    for verdict in verdicts:
        for key, (_, guess) in verdict.item.targets.items() if verdict.links else ():
            if guess is not None and key in goals and goals[key] not in fetched:
                guesses[goals[key]] = max(guess, guesses.get(goals[key], 0.0))
    known = ledger.relevance[ledger.at(list(guesses))] if guesses else ()
    better = [[page, guess] for (page, guess), now in zip(guesses.items(), known, strict=True) if not guess <= now]
    if better:
        took = tx.one("pages/guess", rows=better)[0]
        ledger.relevance[ledger.at([row[0] for row in took])] = [row[1] for row in took]


def _note_first(verdicts: Sequence[_Verdict], ledger: Accounts) -> None:
    """Pages that come for the first time are no longer unfetched: payouts may go by that."""
    first = [v for v in verdicts if v.keep and v.visit.first_fetched is None and isinstance(v.item.report, Fetched)]
    if first:
        ledger.first_fetched[ledger.at([v.visit.page for v in first])] = [v.item.at for v in first]


@dataclass(slots=True)
class _Plan:
    """What is next for pages that were fetched: since when each waits that does, and from when on it may be visited;
    and which are outside."""

    since: dict[int, float] = field(default_factory=dict)
    ripe_at: dict[int, float] = field(default_factory=dict)
    outside: set[int] = field(default_factory=set)


def _learn(tx: Tx, verdicts: Sequence[_Verdict], ledger: Accounts, policy: Policy) -> _Plan:
    """What visits tell of rates of change, and where their pages wait to be fetched again.

    In a lane by value and by what is believed; or, with an interval, wanted at once from its end on.
    """
    seen = [v for v in verdicts if v.keep and isinstance(v.item.report, Fetched)]
    places = dict(zip((v.visit.page for v in seen), ledger.at([v.visit.page for v in seen]).tolist(), strict=True))
    known = {row[0]: row[1:] for row in tx.one("visits/beliefs", ids=sorted(places))[0]} if seen else {}
    value = ledger.weighed()
    beliefs = _believe(tx, seen, known, {page: float(value[place]) for page, place in places.items()}, policy)
    plan, by_worth = _Plan(), []
    for verdict in seen:
        page, place = verdict.visit.page, places[verdict.visit.page]
        interval = known[page][2] or policy.schedule.interval_of(verdict.visit.url)
        if not policy.scope.holds(verdict.visit.url, verdict.visit.host, int(ledger.depth[place])):
            plan.outside.add(page)
        elif verdict.answer.outcome != "alias" and interval:
            ledger.lane[place] = lanes.ASKED
            plan.since[page] = verdict.item.at + interval * DAY
        elif verdict.answer.outcome != "alias" and policy.rule.revisits:
            by_worth.append(page)
            plan.since[page] = verdict.item.at
        if page not in plan.since and ledger.lane[place] == lanes.ASKED:
            ledger.lane[place] = lanes.best_first(value[place])
    if by_worth:
        at, (shape, scale) = [places[page] for page in by_worth], np.array([beliefs[page] for page in by_worth]).T
        ledger.lane[at] = lanes.revisit_lane(value[at], shape, scale)
    ripe_at = policy.schedule.ripe_at(ledger.lane[[places[page] for page in plan.since]], list(plan.since.values()))
    plan.ripe_at = dict(zip(plan.since, ripe_at.tolist(), strict=True))
    return plan


def _believe(
    tx: Tx,
    seen: Sequence[_Verdict],
    known: Mapping[int, Sequence[float | None]],
    value: Mapping[int, float],
    policy: Policy,
) -> dict[int, tuple[float, float]]:
    """Page → (shape, scale) of what is believed of its rate after this visit, written where it is news."""
    if not seen:
        return {}
    schedule = policy.schedule
    ids = np.array([v.visit.page for v in seen])
    names, values = [v.visit.host for v in seen], np.array([value[page] for page in ids.tolist()])
    stored = np.array([known[page][:2] for page in ids.tolist()], dtype=np.float64)
    days = np.array([np.nan if v.visit.fetched is None else (v.item.at - v.visit.fetched) / DAY for v in seen])
    changed = np.array([v.answer.outcome == "changed" for v in seen])
    told = np.array([_told(v) for v in seen]) & (days > 0.0)
    before = np.isnan(stored[:, 0])
    first = np.column_stack(schedule.first_belief(names, values))
    belief = np.where(before[:, None], first, stored)
    if told.any():
        hosts_told = [name for name, tells in zip(names, told.tolist(), strict=True) if tells]
        shape, scale = schedule.after_visit(
            hosts_told, stored[told, 0], stored[told, 1], days[told], changed[told], values[told]
        )
        belief[told] = np.column_stack([shape, scale])
        rows = zip(ids[told].tolist(), shape.tolist(), scale.tolist(), strict=True)
        tx.do("visits/believe", rows=[list(row) for row in rows])
    if (news := told & before).any():
        facts = zip(ids[news].tolist(), days[news].tolist(), changed[news].tolist(), strict=True)
        tx.do("visits/first_again", rows=[[page, after, found or None] for page, after, found in facts])
    return {page: (shape, scale) for page, (shape, scale) in zip(ids.tolist(), belief.tolist(), strict=True)}


def _told(verdict: _Verdict) -> bool:
    """Does the visit tell whether the page has changed since the last one?

    Not when that is said to have been before there was a web: the time between them is a slip of some clock.
    """
    report, visit = verdict.item.report, verdict.visit
    if visit.first_fetched is None or not isinstance(report, Fetched) or verdict.answer.outcome == "alias":
        return False
    if (visit.fetched or 0.0) < EARLIEST:
        return False
    compared = verdict.item.told != "some" and verdict.change.compares(visit.seen, verdict.item.seen)
    return report.not_modified or report.changed is not None or visit.state == "alias" or compared


def _relevance(verdict: _Verdict) -> tuple[float | None, ...]:
    """The relevance that a visit gives its page; nothing if it leaves it as it is.

    A page that was gone and is there again was not irrelevant: nothing is known of it.
    """
    report = verdict.item.report
    if isinstance(report, Failed):
        gone = verdict.answer.outcome == "gone" and verdict.item.missing
        return (LEAST_RELEVANCE,) if gone else ()
    return (report.relevance,) if report.relevance is not None or verdict.visit.state == "gone" else ()


def _write_visits(tx: Tx, verdicts: Sequence[_Verdict], plan: _Plan, policy: Policy, now: float) -> None:
    """Record the visits that count, end their leases, settle their hosts: the transaction's last locks."""
    kept = [v for v in verdicts if v.keep]
    fetched = [v for v in kept if isinstance(v.item.report, Fetched)]
    failed = [v for v in kept if isinstance(v.item.report, Failed)]
    _write_fetched(tx, fetched, plan)
    coming = [v for v in fetched if v.visit.page in plan.since and v.own]
    ripe_at = hosts.earliest((v.visit.host, plan.ripe_at.get(v.visit.page, now)) for v in coming)
    filing, held = hosts.conclude(tx, _ends(kept, policy.manners), ripe_at, policy.manners, now)
    if coming:
        rows = [[v.visit.page, filing[v.visit.host], plan.since[v.visit.page]] for v in coming]
        tx.do("visits/waits", rows=rows)
    if failed:
        tx.do("visits/failed", rows=[_failed_row(v, held, policy, now) for v in failed])
    moved = [(v, v.item.spelling) for v in failed if v.item.spelling is not None and _respells(v.item, v.visit)]
    if moved:
        rows = [spellings.row_of(v.visit.page, url, v.visit.respelt + 1) for v, url in moved]
        tx.do("pages/respell", rows=rows, now=now)
    # Whose links are gone, or never came, is asked for in full the next time.
    full = [v.visit for v in failed if v.hollow or v.vanished]
    if bare := [[visit.page, None, None] for visit in full if (visit.etag, visit.last_modified) != (None, None)]:
        tx.do("visits/validators", rows=bare)


def _ends(kept: Sequence[_Verdict], manners: Manners) -> dict[str, Ends]:
    """What visits mean to their hosts."""
    ends: dict[str, Ends] = {}
    for verdict in kept:
        visit, report, own = verdict.visit, verdict.item.report, verdict.own
        end = ends.setdefault(visit.host, Ends())
        first = isinstance(report, Fetched) and visit.first_fetched is None
        if own and visit.counted:
            end.claims += 1
            end.at.update([] if visit.counted_at is None else [visit.counted_at])
            end.successes.update([verdict.item.token] if isinstance(report, Fetched) else ())
        # A claim is charged with its page's first visit when it is handed out, and keeps the charge if one came of it.
        if own and visit.charged and visit.first_fetched is None and not first:
            end.spent -= 1
        elif first and not visit.charged and manners.counting:
            end.spent += 1
        if verdict.answer.outcome == "slowed":
            end.complaints.append(verdict.item.request())
        if verdict.item.vain:
            end.vain.append(verdict.item.request())
        elif not verdict.item.refusal:
            end.answered = True
            end.unasked |= not verdict.item.claimed
        end.seconds = report.seconds if report.seconds is not None else end.seconds
        end.address = verdict.item.address or end.address
    return ends


def _write_fetched(tx: Tx, fetched: Sequence[_Verdict], plan: _Plan) -> None:
    """Each property costs: what most visits leave as it is has a statement of its own."""
    content = [row for v in fetched if (row := _content_row(v)) is not None]
    validators = [row for v in fetched if (row := _validators_row(v)) is not None]
    busy = [v.visit.page for v in fetched if v.own and _is_busy(v.visit)]
    for statement, rows in (
        ("visits/fetched", [_fetched_row(v, plan) for v in fetched if v.own]),
        ("visits/touched", [_fetched_row(v, plan) for v in fetched if not v.own]),
        ("visits/content", content),
        ("visits/validators", validators),
    ):
        if rows:
            tx.do(statement, rows=rows)
    if busy:
        tx.do("visits/cleared", ids=busy)


def _is_busy(visit: _Visit) -> bool:
    """Does it stand in a queue, a count, or the order of retries, or has left other traces that go with a visit?"""
    return visit.lease is None or visit.counted or visit.errors > 0 or visit.refusals > 0 or visit.respelt > 0


def _respells(item: Item, visit: _Visit) -> bool:
    """Does the page take the spelling that its server redirects to? Not for ever: it may bounce between two."""
    return item.spelling is not None and item.spelling != visit.url and visit.respelt < spellings.MOST_ROUNDS


def _fetched_row(verdict: _Verdict, plan: _Plan) -> list[object]:
    item, visit, report = verdict.item, verdict.visit, verdict.item.report
    assert isinstance(report, Fetched)
    outcome = verdict.answer.outcome
    state = "outside" if visit.page in plan.outside else "known"
    state = "alias" if outcome == "alias" else state
    status = 304 if report.not_modified else report.status
    return [visit.page, state, status, item.at, visit.visits + 1, item.token, outcome]


def _content_row(verdict: _Verdict) -> list[object] | None:
    """None when the visit found what was known before.

    The hashes are those of the page as it was when it last changed, so that small steps add up to a change; what it
    did not have then is filled in.
    """
    item, visit, outcome = verdict.item, verdict.visit, verdict.answer.outcome
    old, new = visit.seen, item.seen
    if outcome not in ("new", "changed"):
        new = Seen(old.body_hash or new.body_hash, old.text_hash or new.text_hash, _either(old.simhash, new.simhash))
    known = (visit.first_fetched is not None, old.body_hash, old.text_hash, old.simhash)
    if outcome != "changed" and known == (True, new.body_hash, new.text_hash, new.simhash):
        return None
    changed = item.at if outcome in ("new", "changed") else visit.changed
    changes = visit.changes + (outcome == "changed")
    first = visit.first_fetched or item.at
    return [visit.page, first, changed, changes or None, new.body_hash, new.text_hash, new.simhash]


def _either(one: int | None, other: int | None) -> int | None:
    return other if one is None else one


def _validators_row(verdict: _Verdict) -> list[object] | None:
    """What to send along next time; a 304 need not name what stays as it is."""
    report, visit = verdict.item.report, verdict.visit
    assert isinstance(report, Fetched)
    etag, modified = report.etag, report.last_modified
    if verdict.answer.outcome == "alias":
        etag = modified = None  # of the redirect, not of a page: its links would be missed
    elif report.not_modified:
        etag, modified = etag or visit.etag, modified or visit.last_modified
    if (etag, modified) == (visit.etag, visit.last_modified):
        return None
    return [visit.page, etag, modified]


def _comes_back(verdict: _Verdict, policy: Policy) -> bool:
    """Does the page wait again after it could not be fetched? One that was fetched before, if it did before."""
    again = verdict.item.claimed or policy.rule.revisits
    return verdict.visit.state == "frontier" or (verdict.visit.state == "known" and again)


def _failed_row(verdict: _Verdict, held: Mapping[str, Host], policy: Policy, now: float) -> list[object]:
    """State and retry time of a page whose fetch failed (scheduling-and-importance A8).

    One is not blamed where its host asked to be left alone, or has been dead before.
    """
    item, visit = verdict.item, verdict.visit
    report = item.report
    assert isinstance(report, Failed)
    slowed = verdict.answer.outcome == "slowed"
    in_vain = item.vain and visit.host in held and held[visit.host].was_dead()
    if in_vain:
        verdict.answer = replace(verdict.answer, outcome="retry")
    respells = _respells(item, visit)
    errors = visit.errors + (not slowed and not in_vain and not respells)
    refusals = visit.refusals + slowed
    state, not_before, queue, outcome = visit.state, None, None, verdict.answer.outcome
    if outcome == "gone":
        state = "gone" if item.missing else "parked"
    elif _comes_back(verdict, policy):
        asked = now + min(item.retry_after or 0.0, policy.manners.longest_block)
        if respells:
            queue = hosts.SHARED_QUEUE  # with everybody: it may have got another host
        elif slowed:
            blocked_until = held[visit.host].blocked_until
            # Where a host is left alone until somebody says otherwise, the page will wait in its queue.
            until = asked if blocked_until >= FOR_EVER else max(asked, blocked_until)
            # The others of its host go first from when it is ready again; where there are none, no time is lost.
            since = until if held[visit.host].queued else now
            not_before = max(until, since + _patience(refusals))
        else:
            not_before = max(asked, now + _pause(max(errors, 1), item.missing))
    error = (report.error or (f"HTTP {report.status}" if report.status else "no answer"))[:200]
    return [
        visit.page, state, report.status, error, item.at, errors, not_before, queue, item.token, outcome,
        refusals or None,
    ]  # fmt: skip


def _patience(refusals: int) -> float:
    """Seconds for which a page waits that was refused so often in a row, and lets the others of its host go first."""
    return float(min(FIRST_REFUSAL * 2 ** min(refusals - 1, 20), DAY))


def _pause(errors: int, missing: bool) -> float:
    """Seconds to wait after so many failures in a row: days for a missing page, minutes for a broken one."""
    times = min(errors - 1, 30)
    if missing:
        return min(DAY * 4.0**times, 180 * DAY)
    return min(5 * MINUTE * 2.0**times * random.uniform(0.5, 1.5), 7 * DAY)
