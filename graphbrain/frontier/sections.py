"""Sections of hosts, learned from first visits, and their effect on waiting pages.

A report marks a page whose first visit has not been learned from, with a sketch of its text. Upkeep learns from marked
pages: it locks the pages by id, then the sites of their hosts by name, and computes the result from the locked state.
So if two processes learn from the same pages, only the first one finds them marked. `Book` caches sections in a
process; the cache may be old, since it decides only how soon a page is fetched.

A page waits with the factor that its section had when the page was found (`harvest`). If the section has fallen, the
page is put back when a claim reads it (`put_back`); if the section has risen, upkeep moves the page (`raise_some`). A
section is held down while its factor is below 1. Upkeep chooses some pages of each such section to try it. A share of
the claims takes chosen pages, first those of the section whose last try is oldest (`tries`). Statements: sections/*,
brain/relearned, pages/ids_from.
"""

from __future__ import annotations

import heapq
import math
import random
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from graphbrain.base.numeric.rules import Rule
from graphbrain.base.urls.normalization import host_of
from graphbrain.frontier.discovery import New
from graphbrain.frontier.expected import compared
from graphbrain.frontier.policy import Policy
from graphbrain.frontier.section_factors import NOTHING, Acting, Book
from graphbrain.graph import brain_state
from graphbrain.graph.connection import Tx
from graphbrain.schedule import shingles
from graphbrain.schedule.lanes import ASKED
from graphbrain.schedule.sections.shapes import name_of
from graphbrain.schedule.sections.site import GROWN, FirstVisit, Sections, Site
from graphbrain.scores.accounts import ledgers

__all__ = [
    "AT_ONCE",
    "LEARNED_AFTER",
    "HeldSections",
    "Tries",
    "Waiting",
    "choose",
    "held_down",
    "hosts_to_learn",
    "learn",
    "note_old",
    "put_back",
    "raise_some",
    "raised",
    "tries",
    "with_factors",
]

AT_ONCE = 200
"""The most pages from which one transaction learns."""
FEWEST_VISITS, MOST_AWAITED = 8, 50
LEARNED_AFTER = 10.0
"""The sections of a host are learned when a number of first visits waits for it, or when one visit has waited for
`LEARNED_AFTER` seconds. The number is at least `FEWEST_VISITS`, grows with the host, and is at most `MOST_AWAITED`."""
FEWEST_TRIES = 4
"""The least number of pages that are chosen to try a section, if it has as many. Of many pages, the square root of
their number is chosen."""
TRIES_LOOKED_AT, PUT_OFF = 50, 600.0
"""The least number of chosen pages that a claim reads; and the seconds by which pages of hosts that are not ready are
put off if they hide other pages."""
CLAIMED = -1.0
"""The mark of a page that was claimed to try its section, until sections are learned from its visit."""


# ---------------------------------------------------------------------- learning


def hosts_to_learn(unlearned: Iterable[Sequence[Any]], before: float) -> dict[str, list[int]]:
    """Return host → marked pages from whose first visits the host's sections are learned now.

    Learning writes all that is stored of a host again. So a host with few marked pages is left out, unless one of them
    was visited before `before`.

    Args:
        unlearned: First visits: [id, host, time of the visit, number of visits that the host waits for or None].
        before: Epoch seconds.
    """
    pages_of: dict[str, list[int]] = {}
    least_of: dict[str, int] = {}
    for page, host, at, awaited in unlearned:
        pages_of.setdefault(host, []).append(page)
        least_of[host] = 0 if at <= before else least_of.get(host, awaited or FEWEST_VISITS)
    return {host: ids for host, ids in pages_of.items() if len(ids) >= least_of[host]}


def learn(tx: Tx, ids: Iterable[int], most: int, key_of: Callable[[str], str | None], *, compares: bool = False) -> int:
    """Learn at most `most` sections of each host from the first visits of these pages. Return the number of pages.

    Args:
        tx: The transaction.
        ids: The ids of the pages.
        most: The most sections of a host.
        key_of: Returns the key of the page of a URL; None if the URL names no page.
        compares: Learn expected copies, too.
    """
    # Lock and read the pages that are still marked.
    rows = tx.one("sections/visits", ids=sorted(ids))[0]
    if not rows:
        return 0
    visits_of: dict[str, list[Sequence[Any]]] = {}
    for *row, host in rows:
        visits_of.setdefault(host, []).append(row)
    copies = _copies(tx, rows, key_of)
    # Lock the sites of their hosts, learn the sections of each, and decide whether pages must move or be chosen.
    sites: list[list[Any]] = []
    pages: list[list[Any]] = []
    for host, sample, evidence, text, learned, tries in tx.one("sections/lock", hosts=sorted(visits_of))[0]:
        site = Site.unknown() if sample is None else Site.read(sample, evidence, text)
        after, shares = site.after([_first_visit(row, copies) for row in visits_of[host]], most)
        if compares:
            after = compared(tx, after, key_of)
        remaining = max(0, tries - sum(tried for *_, tried in visits_of[host]))
        rises = _chooses_anew(site, after, tries, remaining) or _may_rise(site.sections, after.sections)
        texts = after.known.text(), after.evidence(), after.sections.text()
        sites.append([host, *texts, learned + 1, rises, remaining, _learns_after(after)])
        pages += [[row[0], share, echo or None] for row, (share, echo) in zip(visits_of[host], shares, strict=True)]
    tx.do("sections/learned", sites=sites, rows=pages)
    return len(rows)


def _first_visit(row: Sequence[Any], copies: Container[object]) -> FirstVisit:
    """Return the first visit of a page from its row of sections/visits. `copies`: the ids of pages that are copies."""
    page, url, state, fetched, _, sketch, at, _ = row
    has_content = fetched and state in ("known", "outside") and page not in copies
    return FirstVisit(url, _sketch(sketch), has_content, at, _hash(sketch), _links(sketch))


def note_old(tx: Tx, policy: Policy, revision: int) -> int:
    """Mark the next pages that were visited before the crawl learned sections. Return the number of pages that were
    read; 0 at the end. Raise BegunAnew if the settings have another revision."""
    before = brain_state.stored(tx, revision, lock=False).get("relearning")
    if before is None:
        return 0
    ids, last = tx.one("pages/ids_from", after=before, limit=AT_ONCE)
    if ids and policy.sections:
        tx.one("sections/old", ids=sorted(ids))
    tx.do("brain/relearned", before=before, after=last if len(ids) == AT_ONCE else None, revision=policy.rule.revision)
    return max(len(ids), 1)


def _hash(text: str | None) -> str | None:
    """Return the hash of a page that was visited before the crawl learned sections (see sections/old); else None."""
    return text[1:] if text is not None and text.startswith("=") else None


def _links(text: str | None) -> tuple[int, int] | None:
    """Return the number of links to new pages, and of all links, of a page without a text; else None."""
    if text is None or not text.startswith("+"):
        return None
    new, _, links = text[1:].partition("/")
    return int(new), int(links)


def _learns_after(site: Site) -> int | None:
    """Return the number of first visits that a host waits for: as many as its sections need to be learned again, at
    most `MOST_AWAITED`. None for `FEWEST_VISITS`."""
    awaited = min(MOST_AWAITED, math.ceil((GROWN - 1.0) * site.learned_at))
    return awaited if awaited > FEWEST_VISITS else None


def _sketch(text: str | None) -> tuple[list[int], int] | None:
    if text is None or text[0] in "=+":
        return None
    keys = shingles.read(text)
    return None if keys is None else (keys.keys.tolist(), keys.count)


def _copies(tx: Tx, rows: Sequence[Sequence[object]], key_of: Callable[[str], str | None]) -> set[object]:
    """Return the ids of pages that are copies by their canonicals: the canonical names another page, which was fetched
    and does not name them in turn."""
    # Page → its key, and the key that its canonical names.
    keys_of = {
        page: (key_of(str(url)), key_of(str(canonical)))
        for page, url, _, _, canonical, *_ in rows
        if canonical is not None
    }
    others = sorted({other for own, other in keys_of.values() if other is not None and other != own})
    if not others:
        return set()
    # The fetched pages among the others, and the keys that their canonicals name.
    canonical_of = {
        key: None if canonical is None else key_of(canonical)
        for key, canonical in tx.one("sections/canonicals", keys=others)[0]
    }
    return {
        page
        for page, (own, other) in keys_of.items()
        if own != other and other in canonical_of and (canonical_of[other] is None or canonical_of[other] != own)
    }


def _chooses_anew(before: Site, after: Site, tries: int, remaining: int) -> bool:
    """Return whether upkeep must choose other pages that try sections.

    It must after the tries that were planned at the last choice, and if another section is held down than before.
    `tries`, `remaining`: the number of planned tries before these visits, and after them.
    """
    if tries and not remaining:
        return after.sections.holds_down
    if after.learned_at == before.learned_at:
        return False
    patterns = after.sections.held_down
    return bool(patterns) and (not remaining or not patterns <= before.sections.held_down)


def _may_rise(before: Sections, after: Sections) -> bool:
    """Return whether the factors of some pages may have risen. They have not if no section was held down before, or if
    nothing has changed."""
    if before is after or not before.acts:
        return False
    if before.copies.may_rise_to(after.copies):
        return True
    lower = {pattern: section.factor for pattern, section in before.by_pattern.items() if section.held_down}
    return any(
        (section := after.by_pattern.get(pattern)) is None or section.factor > factor
        for pattern, factor in lower.items()
    )


# ---------------------------------------------------------------------- acting


@dataclass(frozen=True, slots=True)
class Waiting:
    """A page that was never fetched, and the factor with which it waits."""

    page: int
    url: str
    host: str
    harvest: float


def put_back(
    tx: Tx, pages: Sequence[Waiting], acting: Acting, now: float, learned: Mapping[str, int] | None = None
) -> set[int]:
    """Give pages whose sections have fallen the lower factors. Return their ids.

    A page that is expected to equal a page with a plainer URL gets a lower factor while that waits or after it was
    fetched. Of several pages of one name the first is no echo, and the others are.

    Args:
        tx: The transaction.
        pages: The pages, best first.
        acting: The use of sections.
        now: Epoch seconds.
        learned: Host → the number of times that its sections were learned, if that is known.
    """
    # Read the sections of the hosts, and skip hosts whose sections have no effect.
    sections_of = acting.book.of(tx, {page.host for page in pages}, learned=learned)
    batch_of = {
        host: _Together(sections, acting.book.out(host))
        for host, sections in sections_of.items()
        if sections is not NOTHING and sections.acts
    }
    if not batch_of:
        return set()
    candidates = [page for page in pages if page.host in batch_of]
    # Find the pages with lower factors, by expected copies and by sections.
    factor_of = _beside_plainer(tx, candidates, sections_of, acting)
    for page in candidates:
        if page.page not in factor_of and (factor := batch_of[page.host].factor(page.url)) < page.harvest:
            factor_of[page.page] = factor
    return set(_wait_with(tx, factor_of, acting.rule, now, fall=True)) if factor_of else set()


def _beside_plainer(
    tx: Tx, pages: Iterable[Waiting], sections_of: Mapping[str, Sections], acting: Acting
) -> dict[int, float]:
    """Return id → lower factor of pages that are expected to equal another page, which was fetched or waits for its
    first visit."""
    originals = [
        (page, key, factor)
        for page in pages
        for url, factor in sections_of[page.host].plainer(page.url)
        if factor < page.harvest and (key := acting.key_of(url)) is not None
    ]
    present = set(tx.one("sections/there", keys=sorted({key for _, key, _ in originals}))[0]) if originals else set()
    factor_of: dict[int, float] = {}
    for page, key, factor in originals:
        if key in present:
            factor_of[page.page] = min(factor, factor_of.get(page.page, factor))
    return factor_of


class _Together:
    """The sections of a host, for pages that are claimed together. `out`: the names of pages that are claimed now."""

    def __init__(self, sections: Sections, out: Container[int | None]) -> None:
        self._sections, self._out, self._names = sections, out, set[int | None]()

    def factor(self, url: str) -> float:
        """Return the factor of the next page. It is an echo if a page of its name is claimed now, or came before it."""
        name = name_of(url)
        is_echo = name in self._out or name in self._names or self._sections.is_echo(url)
        self._names.add(name)
        return self._sections.factor(url, echo=is_echo)


def _wait_with(tx: Tx, factors: Mapping[int, float], rule: Rule, now: float, *, fall: bool) -> list[int]:
    """Give unfetched pages these factors (id → factor), if they are lower (`fall`) or higher than before. Return the
    pages that have changed. Seeds, and pages that must be visited at once, do not fall, since a caller has chosen
    them."""
    ledger = ledgers.of(rule).lock_present(tx, factors, rule)
    indices = ledger.at([page for page in factors if ledger.holds([page])])
    changed: dict[int, float] = {}
    for index in indices.tolist():
        page, before = int(ledger.ids[index]), float(ledger.harvest[index])
        is_change = factors[page] < before if fall else factors[page] > before
        is_chosen = ledger.is_seed[index] or ledger.lane[index] == ASKED
        if is_change and ledger.first_fetched[index] < 0.0 and not (fall and is_chosen):
            changed[page] = factors[page]
    if changed:
        ledger.take_harvest(changed)
        ledger.write(tx, now)
    return list(changed)


def with_factors(tx: Tx, pages: Iterable[New], acting: Acting | None) -> list[New]:
    """Return these new pages with the factors of their sections."""
    new = list(pages)
    if acting is None or not new:
        return new
    sections_of = acting.book.of(tx, {host_of(page.url) for page in new})
    if not any(sections is not NOTHING and sections.acts for sections in sections_of.values()):
        return new
    return [replace(page, harvest=sections_of[host_of(page.url)].factor(page.url)) for page in new]


@dataclass(frozen=True, slots=True)
class HeldSections:
    """The pages of a host that wait with factors below 1.

    Attributes:
        times: The number of times that sections of the host had been learned.
        rising: Id → new factor of pages that wait with lower factors than their sections have.
        chosen: Id → time of the section's last try, of pages that are chosen to try it.
        tries: The number of tries after which other pages are chosen.
    """

    times: int
    rising: Mapping[int, float]
    chosen: Mapping[int, float]
    tries: int


def held_down(tx: Tx, host: str, book: Book) -> HeldSections:
    """Return the pages of a host that wait with factors below 1. Reads all of these pages."""
    times: int = tx.one("sections/times", host=host)[0]
    sections = book.of(tx, [host], fresh=True)[host]
    # Find the pages whose sections have risen, and the waiting pages of each section that is held down.
    rising: dict[int, float] = {}
    waiting: dict[str, list[tuple[int, float, int]]] = {}
    chosen: Counter[str] = Counter()
    for page, url, harvest, is_waiting, lane, since, is_chosen in tx.many("sections/held", host=host):
        section, factor = sections.of(url), sections.factor(url)
        if factor > harvest:
            rising[page] = factor
        if section.held_down and is_waiting:
            waiting.setdefault(section.leaf.pattern, []).append((lane, since, page))
            chosen[section.leaf.pattern] += is_chosen
    # Choose the best pages of each section, until enough are chosen.
    tries_of = {pattern: _tries_of(len(pages)) for pattern, pages in waiting.items()}
    best = {
        page: sections.by_pattern[pattern].tried_at
        for pattern, pages in waiting.items()
        for _, _, page in heapq.nsmallest(tries_of[pattern] - chosen[pattern], pages)
    }
    return HeldSections(times, rising, best, math.ceil(sum(tries_of.values()) / 2))


def _tries_of(pages: int) -> int:
    """Return the number of pages that are chosen to try a section with this number of waiting pages. The more are
    chosen at once, the less often all pages of the host are read."""
    return min(pages, max(FEWEST_TRIES, math.isqrt(pages)))


def raise_some(tx: Tx, factors: Mapping[int, float], policy: Policy, now: float) -> int:
    """Raise the factors of these waiting pages (id → factor). Return the number of pages that were raised."""
    return len(_wait_with(tx, factors, policy.rule, now, fall=False))


def choose(tx: Tx, chosen: Mapping[int, float]) -> None:
    """Choose these pages (id → time of its section's last try) to try their sections, if they still wait."""
    tx.do("sections/choose", rows=sorted([page, at] for page, at in chosen.items()))


def raised(tx: Tx, host: str, sections: HeldSections) -> None:
    """Note that all pages of a host wait, and were chosen, by its present sections, unless sections were learned
    meanwhile."""
    tx.do("sections/raised", host=host, learned=sections.times, tries=sections.tries)


# ---------------------------------------------------------------------- trying sections that are held down


class Tries:
    """Pages that were chosen to try sections that are held down, from a read without locks.

    `since`: id → the time since which it waits, in the order of claims. First comes one page of each section, the
    section with the oldest try first; then the second page of each section, and so on. Pages that cannot be claimed now
    come last.
    """

    def __init__(self, rows: Sequence[Sequence[Any]], sections_of: Mapping[str, Sections], n: int, full: bool) -> None:
        """Order the pages.

        Args:
            rows: The rows of sections/tries: [id, url, host, try time, waits since, waits now, host is ready].
            sections_of: Host → its sections.
            n: The number of claims.
            full: True if there may be more rows than were read.
        """
        self._rows, self._full, self._n = rows, full, n
        self._section: dict[int, tuple[str, str]] = {}
        self._tried_at: dict[int, float] = {}
        self._ready: list[int] = []
        since: dict[int, float] = {}
        for page, url, host, at, waits_since, is_waiting, is_ready in rows:
            section = sections_of[host].of(url)
            self._section[page] = host, section.leaf.pattern
            self._tried_at[page] = max(at, section.tried_at)
            since[page] = float(waits_since)
            if is_waiting and is_ready:
                self._ready.append(page)
        # Sections take turns, the one with the oldest try first.
        turns: Counter[tuple[str, str]] = Counter()
        turn_of: dict[int, tuple[int, float]] = {}
        for page in sorted(self._ready, key=lambda page: self._tried_at[page]):
            turn_of[page] = turns[self._section[page]], self._tried_at[page]
            turns[self._section[page]] += 1
        in_order = sorted(turn_of, key=lambda page: turn_of[page])
        self.since = {page: since[page] for page in (*in_order, *sorted(since.keys() - turn_of.keys()))}

    def after(self, granted: Container[object], now: float) -> list[list[Any]]:
        """Return the rows of sections/tried after some pages were claimed: the changed times of the next tries. If
        pages of hosts that are not ready hide other pages, they are put off."""
        tried = {self._section[page] for page in self.since if page in granted}
        is_hiding = self._full and len(self._ready) < self._n
        rows: list[list[Any]] = []
        for page, _, _, at, _, is_waiting, is_ready in self._rows:
            next_at = now if self._section[page] in tried else self._tried_at[page]
            if is_hiding and not is_ready:
                next_at = now + random.uniform(0.5, 1.5) * PUT_OFF
            if page in granted or not is_waiting:
                rows.append([page, CLAIMED if page in granted else None])
            elif next_at > at:
                rows.append([page, next_at])
        return rows


def tries(tx: Tx, acting: Acting, n: int, now: float) -> Tries:
    """Return chosen pages for `n` claims that try sections which are held down."""
    limit = max(TRIES_LOOKED_AT, 2 * n)
    rows = tx.one("sections/tries", now=now, limit=limit)[0]
    sections_of = acting.book.of(tx, {host for _, _, host, *_ in rows}) if rows else {}
    return Tries(rows, sections_of, n, len(rows) == limit)
