"""A batch of visits, recorded in one transaction.

`record` has these steps. It looks up the pages that the batch names, and creates the missing ones (by key). It locks
all pages that it will read or write (by id), together with their accounts. It judges each visit by the lease and the
last visit of its page. It writes the links, repairs the accounts at both ends, and pushes cash if all payees are locked
anyway. It computes beliefs and lanes from the pages' new worth. Last, it locks and changes the hosts (by name), and
writes the properties that depend on them. Every decision is made from locked state. If an earlier attempt recorded an
item and its answer was lost, the token identifies the item. Statements: pages/*, visits/read, accounts/*,
links/degrees.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress

from graphbrain.base.model import Answer, Failed, Fetched
from graphbrain.base.numeric.rules import LEAST_RELEVANCE, Rule
from graphbrain.base.urls.normalization import cleaner
from graphbrain.content.scope import Scope
from graphbrain.frontier import discovery, sections, url_variants
from graphbrain.frontier.discovery import New
from graphbrain.frontier.policy import RETURNED, Policy
from graphbrain.frontier.reports import canonicals, facts, relink, visits, walls
from graphbrain.frontier.reports.outcomes import Item, Verdict, Visit, judge, told_of
from graphbrain.frontier.reports.relink import Named
from graphbrain.graph.connection import Tx
from graphbrain.schedule.section_noise import FEW_VISITS, HostNoise
from graphbrain.scores.accounts import adjacency, ledgers
from graphbrain.scores.accounts.ledgers import Accounts

__all__ = [
    "BYTES_OF_ALL",
    "BYTES_OF_ONE",
    "MOST_OF_ALL",
    "MOST_OF_ONE",
    "Heavy",
    "Recorded",
    "discover",
    "guess",
    "record",
]

MOST_OF_ONE, MOST_OF_ALL = 20_000, 40_000
"""The most links, reported and known together, of one page and of all pages of a batch in a transaction. Each takes up
to 7 kB of the server's memory until the commit."""
BYTES_OF_ONE, BYTES_OF_ALL = 2 << 20, 4 << 20
"""The most bytes of the reported links' URLs, of one page and of all: a URL of a new page takes about ten times its
length."""


class Heavy(Exception):
    """The links of a batch are too many for one transaction, or their URLs are too long. Nothing is written yet.

    `links`: the key of each page → its number of reported and known links.
    """

    def __init__(self, links: Mapping[str, int]) -> None:
        super().__init__()
        self.links = links


Done = tuple[str, Answer, bool]
"""The result of a visit: the key of its page, the answer, and True if an earlier report had recorded the visit."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """The results of one transaction.

    Attributes:
        results: The result of each item, in their order.
        counts: The numbers of pushes of cash (`pushes`) and of their payments, of created pages that wait for their
            first visit (`found`), and of pages that left the frontier: they were fetched, redirect, are missing or were
            given up (`left`).
    """

    results: list[Done]
    counts: Mapping[str, int]


def record(tx: Tx, items: Sequence[Item], heavy: bool, policy: Policy, now: float) -> Recorded:
    """Record these visits, each page at most once. Raises Heavy for too many links, unless they may be `heavy`."""
    # Find and lock all pages.
    if any(item.leads_to is not None for item in items):
        items = walls.behind(tx, items)
    named = discover(tx, items, policy, now, heavy=heavy)
    ledger = _lock(tx, items, named, policy.rule)
    if policy.key_of is not None:
        canonicals.still(tx, named, policy)

    # Judge the visits, and write redirects, depths, addresses and the values of pages and link targets.
    verdicts = _judged(tx, items, named, policy)
    relinked = relink.record(tx, verdicts, named, ledger, policy, now)
    verdicts = relinked.verdicts
    if named.unsure and (offers := _offers(items, named.unsure, policy.scope)):
        url_variants.improve(tx, offers, policy, now)
    relevance = _give_relevance(verdicts, named.goals, ledger)
    values = _give_values(tx, verdicts, named.goals, ledger)
    first = [v for v in verdicts if v.keep and v.visit.first_fetched is None and isinstance(v.item.report, Fetched)]
    ledger.note_first_fetch({v.visit.page: v.item.at for v in first})

    # Write the links, repair the accounts at their ends, and push cash if all payees are locked anyway.
    links, new_ends = adjacency.replace(tx, ledger, relinked.links, now)
    if any(v.item.link_facts for v in verdicts):
        facts.write_links(tx, verdicts, named)
    if parked := named.parked & (new_ends | relinked.reached):
        discovery.hurry(tx, parked.difference(v.visit.page for v in verdicts if v.keep), now)
    pushable = {page: ends for page, ends in links.items() if len(ends) <= MOST_OF_ONE}
    ledger.pass_on(pushable, (v.visit.page for v in verdicts if v.answer.outcome == "alias"))
    pushes, payments = ledger.spend_among(pushable)

    # Write the visits, and mark pages whose in-links upkeep must check.
    given = {"aliases": relinked.aliases, "relevances": relevance, "values": values}
    written = visits.record(tx, verdicts, named.created_keys, ledger, policy, now, **given)
    marked = relinked.to_look_at(ledger) if relinked.leading or relinked.astray else set()
    if policy.orphans != "keep":
        turned = set(ledger.in_links_turned()).union(relinked.reached, relinked.abandoned)
        marked |= turned.difference(named.created)
    if policy.key_of is not None:
        marked |= canonicals.note(tx, written.verdicts, policy)
    if marked:
        discovery.look_again(tx, marked, now)
    # Answer the items in their order. A later attempt finds visits that an earlier attempt has recorded.
    answers = {verdict.item.key: verdict.answer for verdict in written.verdicts}
    again = {v.item.key for v in written.verdicts if v.answer.accepted and not v.keep and tx.attempts.number == 1}
    results = [(item.key, told_of(item, answers.get(item.key)), item.key in again) for item in items]
    counts = {"pushes": pushes, "payments": payments, "found": named.found, "left": written.departures}
    return Recorded(results, counts)


def discover(tx: Tx, items: Sequence[Item], policy: Policy, now: float, *, heavy: bool = True) -> Named:
    """Return the pages that a batch names. Missing pages are created, one click deeper than the best page that links to
    them. Raises Heavy if the links are too many, unless the visits may be `heavy`."""
    # Look up the pages.
    keys = {key for item in items for key in item.targets}.union(item.key for item in items)
    looked, last_visits = discovery.look(tx, keys, [item.key for item in items])
    if not heavy:
        _weigh(tx, items, looked, policy.rule)
    # Create the missing pages.
    ids = {each.key: each.page for each in looked}
    created = _create(tx, items, keys.difference(ids), ids, last_visits, policy, now)
    redirecting = {each.key for each in looked if each.is_alias}
    return Named(
        ids=ids | created.ids,
        goals=discovery.goals(tx, ids | created.ids, redirecting),
        created=sorted(created.ids.values()),
        linked={each.key for each in looked if each.out_weight > 0 or policy.rule.weightless},
        redirecting=redirecting,
        unsure={each.key: (each.page, each.unsure) for each in looked if each.unsure is not None},
        parked={each.page for each in looked if each.is_parked},
        found=created.waiting,
    )


def _create(
    tx: Tx,
    items: Sequence[Item],
    missing: Collection[str],
    ids: Mapping[str, int],
    last_visits: Mapping[int, discovery.Last],
    policy: Policy,
    now: float,
) -> discovery.Made:
    """Create the pages with the keys in `missing`. `ids`: the pages that exist; `last_visits`: id → last visit."""
    if not missing:
        return discovery.Made({}, 0)
    new: dict[str, New] = {}
    visited_urls = {item.key: item.url for item in items}
    for item in items:
        # The links of a visit that was recorded before are not taken again.
        depth, last_token, outcome = last_visits.get(ids.get(item.key, -1), (0, None, None))
        if item.claimed and last_token == item.token and outcome != RETURNED:
            continue
        # An unknown page that is reported without a claim has depth 0.
        target_depth = depth if item.redirects else depth + 1
        weight = 0.0 if item.leads_on or item.walled else 1.0  # neither writes a link
        if item.key in missing and not item.claimed:
            new.setdefault(item.key, New(item.key, item.url, 0)).depth = 0
        # Add its targets, or improve what earlier items have offered for them.
        siblings = discovery.sibling_counter()
        for key, (url, guess) in item.targets.items():
            if key not in missing:
                continue
            if (new_page := new.get(key)) is None:
                address, before = visited_urls.get(key, url), siblings(url)
                new[key] = New(key, address, target_depth, relevance=guess, in_weight=weight, siblings_before=before)
                continue
            new_page.url = visited_urls.get(key) or cleaner(new_page.url, url)
            new_page.depth = min(new_page.depth, target_depth)
            new_page.in_weight += weight
            if guess is not None and (new_page.relevance is None or new_page.relevance < guess):
                new_page.relevance = guess
    # Give them the factors of their sections, and create them.
    pages = sections.with_factors(tx, new.values(), policy.acting)
    return discovery.create(tx, pages, policy.scope, policy.rule, now)


def _lock(tx: Tx, items: Sequence[Item], named: Named, rule: Rule) -> Accounts:
    """Lock all pages that will be read or written, with their accounts: the visited pages, the ends of their new and
    old links, and the created pages."""
    present = [item for item in items if item.key in named.ids]
    # Read the old links only of pages that may have some: most pages are visited for the first time.
    may_have_links = named.linked | named.redirecting
    linked = [named.ids[item.key] for item in present if item.key in may_have_links and item.touches_links()]
    spelt = adjacency.read_spelt(tx, linked) if linked else {}
    wanted = {named.goals[key] for item in present for key in item.targets if key in named.goals}
    if named.redirecting or named.unsure:
        wanted.update(named.ids[key] for item in present for key in item.targets if key in named.ids)
    wanted.update((named.ids[item.key] for item in present), named.created, *spelt.values())
    return ledgers.lock(tx, wanted, rule, named.created)


def _judged(tx: Tx, items: Sequence[Item], named: Named, policy: Policy) -> Sequence[Verdict]:
    """Return the verdicts on the visits whose pages exist. The pages are locked."""
    # Read the last visits of the pages, and the noise of their hosts' sections.
    present = [(item, named.ids[item.key]) for item in items if item.key in named.ids]
    ids = sorted(page for _, page in present)
    last_visits = [Visit(*row) for row in tx.one("visits/read", ids=ids, few=FEW_VISITS)[0]]
    visit_of = {visit.page: visit for visit in last_visits}
    noise = {visit.host: HostNoise.read(visit.noise) for visit in last_visits if visit.visits <= FEW_VISITS}
    # Judge them in turn: the differences of a second visit count for the next page of its section.
    verdicts: list[Verdict] = []
    for item, page in present:
        visit = visit_of[page]
        verdict = judge(item, visit, policy, noise.get(visit.host))
        if (differences := verdict.shows) is not None:
            noise[visit.host] = noise[visit.host].after(visit.url, differences)
        verdicts.append(verdict)
    return verdicts


def _weigh(tx: Tx, items: Sequence[Item], looked: Sequence[discovery.Looked], rule: Rule) -> None:
    """Raise Heavy if the links of a batch are too many, or their URLs too long."""
    sizes = [item.link_bytes for item in items]
    is_too_long = max(sizes) > BYTES_OF_ONE or sum(sizes) > BYTES_OF_ALL
    touched = {item.key for item in items if item.touches_links()}
    weights = {each.key: (each.page, each.out_weight) for each in looked if each.key in touched}
    # The weight of a page's links bounds their number, unless links may have the weight 0. It needs no statement.
    if not rule.weightless and not is_too_long:
        most_links = sum(weight for _, weight in weights.values()) / rule.intra_host_weight
        if most_links + sum(len(item.targets) for item in items) <= MOST_OF_ONE:
            return
    # Else count the known links.
    linking = {key: page for key, (page, weight) in weights.items() if weight > 0.0 or rule.weightless}
    degrees = dict(tx.one("links/degrees", ids=sorted(linking.values()))[0])
    links = {item.key: len(item.targets) + degrees.get(linking.get(item.key), 0) for item in items}
    if is_too_long or max(links.values()) > MOST_OF_ONE or sum(links.values()) > MOST_OF_ALL:
        raise Heavy(links)


def _offers(items: Sequence[Item], unsure: Mapping[str, tuple[int, str]], scope: Scope) -> dict[int, dict[str, None]]:
    """Return id → other spellings, from links and unclaimed visits, of pages that may take a better address."""
    offers: dict[int, dict[str, None]] = {}
    for item in items:
        spellings = [(key, item.targets[key][0]) for key in unsure.keys() & item.targets.keys()]
        if item.key in unsure and not item.claimed:
            spellings.append((item.key, item.url))
        for key, url in spellings:
            page, reason = unsure[key]
            if url_variants.may_improve(reason, url, scope):
                offers.setdefault(page, {})[url] = None
    return offers


def _give_relevance(verdicts: Sequence[Verdict], goals: Mapping[str, int], ledger: Accounts) -> list[list[object]]:
    """Give fetched pages the reported relevance, gone pages the least one, and unfetched targets the largest guess.
    Return rows [page, relevance]."""
    rows: list[list[object]] = [[v.visit.page, *given] for v in verdicts if v.keep and (given := _relevance(v))]
    if rows:
        ledger.take_relevance(rows)
    return rows + guess(verdicts, goals, ledger)


def guess(verdicts: Sequence[Verdict], goals: Mapping[str, int], ledger: Accounts) -> list[list[object]]:
    """Give link targets that were never fetched the largest guess of their relevance, if that is larger than the known
    one. Return rows [page, relevance]."""
    fetched = {v.visit.page for v in verdicts if v.keep}
    guesses: dict[int, float] = {}
    for verdict in verdicts:
        for key, (_, value) in verdict.item.targets.items() if verdict.links else ():
            if value is not None and key in goals and goals[key] not in fetched:
                guesses[goals[key]] = max(value, guesses.get(goals[key], 0.0))
    if not guesses:
        return []
    places = ledger.at(list(guesses))
    is_larger = (ledger.first_fetched[places] < 0.0) & ~(ledger.relevance[places] >= list(guesses.values()))
    rows: list[list[object]] = [list(each) for each in compress(guesses.items(), is_larger.tolist())]
    ledger.take_relevance(rows)
    return rows


def _give_values(tx: Tx, verdicts: Sequence[Verdict], goals: Mapping[str, int], ledger: Accounts) -> list[list[object]]:
    """Give fetched pages the reported value, and unfetched targets the largest guess. Return rows [page, value] of the
    fetched pages, which the caller writes."""
    values = {v.visit.page: v.item.report.value for v in verdicts if v.keep and isinstance(v.item.report, Fetched)}
    rows: list[list[object]] = [[page, value] for page, value in values.items() if value is not None]
    guesses: dict[int, float] = {}
    for verdict in verdicts:
        for key, value in verdict.item.values.items() if verdict.links else ():
            if key in goals and goals[key] not in values:
                guesses[goals[key]] = max(value, guesses.get(goals[key], 0.0))
    guessed = tx.one("pages/guess_value", rows=[list(each) for each in sorted(guesses.items())])[0] if guesses else []
    if rows or guessed:
        ledger.take_values(rows + guessed)
    return rows


def _relevance(verdict: Verdict) -> tuple[float | None, ...]:
    """Return (relevance,) if a visit changes the relevance of its page, and () if it does not.

    A page that was gone and exists again has an unknown relevance (None).
    """
    report = verdict.item.report
    if isinstance(report, Failed):
        is_gone = verdict.answer.outcome == "gone" and verdict.item.missing
        return (LEAST_RELEVANCE,) if is_gone else ()
    return (report.relevance,) if report.relevance is not None or verdict.visit.state == "gone" else ()
