"""Sections of hosts, learned from first visits, and their effect on the pages that wait.

A report only notes that a page's first visit has to be learned from, with a sketch of its text. Upkeep learns from such
pages: they are locked by id, then the sites of their hosts by name, and the result is computed from the locked state.
So two processes that learn from the same pages do it once, one after the other. `Book` is a process's short memory of
sections; it may be old, and decides only how soon a page is fetched. A page waits with the factor that its section had
when it was found (`harvest`). A page whose section has fallen is put back when its turn comes (`put_back`); one whose
section has risen is moved by upkeep (`raise_some`). Upkeep also chooses, of each section that is held down, some pages
to try it; a share of the claims takes these, of the section that was longest untried first (`tries`). Statements:
sections/*, brain/relearned, pages/ids_from.
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
from graphbrain.frontier.section_factors import Acting, Book
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
"""Pages that one transaction learns from."""
FEWEST_VISITS, MOST_AWAITED = 8, 50
LEARNED_AFTER = 10.0
"""A host is learned when so many of its first visits wait for it (of a larger one as many as its sections are learned
anew for, but no more than the second number), or when one has waited for so many seconds."""
FEWEST_TRIES = 4
"""So many pages are chosen to try a section, if it has as many; of many the square root of their number."""
TRIES_LOOKED_AT, PUT_OFF = 50, 600.0
"""So many pages that were chosen are read at least; those of hosts that are not ready, which hide others, come so many
seconds later."""
CLAIMED = -1.0
"""The value on a page that was claimed to try its section, until its visit is learned from."""


# ---------------------------------------------------------------------- learning


def hosts_to_learn(unlearned: Iterable[Sequence[Any]], before: float) -> dict[str, list[int]]:
    """Host → pages whose first visits have still to be learned from.

    Each time a host is learned, all that is known of it is written again. So a host is left out that has few such
    visits, unless one was made before `before`.

    Args:
        unlearned: First visits: [id, host, when it was, for how many the host waits; None: as few as most hosts].
        before: Epoch seconds.
    """
    pages_of: dict[str, list[int]] = {}
    enough: dict[str, int] = {}
    for page, host, at, few in unlearned:
        pages_of.setdefault(host, []).append(page)
        enough[host] = 0 if at <= before else enough.get(host, few or FEWEST_VISITS)
    return {host: ids for host, ids in pages_of.items() if len(ids) >= enough[host]}


def learn(tx: Tx, ids: Iterable[int], most: int, key_of: Callable[[str], str | None], *, compares: bool = False) -> int:
    """Learn at most `most` sections of each host from the first visits of these pages. Return the number of pages.

    `key_of`: of a URL the key of its page, None where it has none. `compares`: learn, too, which pages are expected to
    equal others.
    """
    rows = tx.one("sections/visits", ids=sorted(ids))[0]
    if not rows:
        return 0
    visits_of: dict[str, list[Sequence[Any]]] = {}
    for *row, host in rows:
        visits_of.setdefault(host, []).append(row)
    copies = _copies(tx, rows, key_of)
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
    """Return the first visit of a page, as sections/visits has read it. `copies`: the ids of pages that are copies."""
    page, url, state, fetched, _, sketch, at, _ = row
    brings = fetched and state in ("known", "outside") and page not in copies
    return FirstVisit(url, _sketch(sketch), brings, at, _hash(sketch), _links(sketch))


def note_old(tx: Tx, policy: Policy, revision: int) -> int:
    """Note that the next pages that were visited before sections were learned have to be learned from. Return how many
    pages were read, 0 when there are no more. Raise BegunAnew."""
    before = brain_state.stored(tx, revision, lock=False).get("relearning")
    if before is None:
        return 0
    ids, last = tx.one("pages/ids_from", after=before, limit=AT_ONCE)
    if ids and policy.sections:
        tx.one("sections/old", ids=sorted(ids))
    tx.do("brain/relearned", before=before, after=last if len(ids) == AT_ONCE else None, revision=policy.rule.revision)
    return max(len(ids), 1)


def _hash(text: str | None) -> str | None:
    """The hash by which a page is learned from that was visited before anything was: see sections/old."""
    return text[1:] if text is not None and text.startswith("=") else None


def _links(text: str | None) -> tuple[int, int] | None:
    """Return how many links of a page without a text led to pages that were not known, and how many it had."""
    if text is None or not text.startswith("+"):
        return None
    new, _, links = text[1:].partition("/")
    return int(new), int(links)


def _learns_after(site: Site) -> int | None:
    """Return how many first visits are learned from next, at once: as many as make its sections be learned anew. None:
    as few as of most hosts."""
    wanted = min(MOST_AWAITED, math.ceil((GROWN - 1.0) * site.learned_at))
    return wanted if wanted > FEWEST_VISITS else None


def _sketch(text: str | None) -> tuple[list[int], int] | None:
    if text is None or text[0] in "=+":
        return None
    keys = shingles.read(text)
    return None if keys is None else (keys.keys.tolist(), keys.count)


def _copies(tx: Tx, rows: Sequence[Sequence[object]], key_of: Callable[[str], str | None]) -> set[object]:
    """Return those of the pages that name another page as their canonical which was fetched, and does not name them."""
    named = {row[0]: (key_of(str(row[1])), key_of(str(row[4]))) for row in rows if row[4] is not None}
    wanted = sorted({other for own, other in named.values() if other is not None and other != own})
    if not wanted:
        return set()
    there = {
        key: None if canonical is None else key_of(canonical)
        for key, canonical in tx.one("sections/canonicals", keys=wanted)[0]
    }
    return {
        page
        for page, (own, other) in named.items()
        if own != other and other in there and (there[other] is None or there[other] != own)
    }


def _chooses_anew(before: Site, after: Site, tries: int, remaining: int) -> bool:
    """Return whether other pages must be chosen that try sections.

    They must be if half of the chosen pages have been tried and a section is held down that was not, or if none waited
    at the last choice. `tries`, `remaining`: before these visits, and after.
    """
    if tries and not remaining:
        return after.sections.holds_down
    if after.learned_at == before.learned_at:
        return False
    patterns = after.sections.held_down
    return bool(patterns) and (not remaining or not patterns <= before.sections.held_down)


def _may_rise(before: Sections, after: Sections) -> bool:
    """Return whether some pages may count for more now: not if none counted for less before, or if nothing has
    changed."""
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
    """A page that was never fetched, and the factor it waits with."""

    page: int
    url: str
    host: str
    harvest: float


def put_back(
    tx: Tx, pages: Sequence[Waiting], acting: Acting, now: float, learned: Mapping[str, int] | None = None
) -> set[int]:
    """Let those of these pages, best first, wait with the factors of their sections whose sections have fallen. Return
    their ids. `learned`: how often their hosts were learned from, if that is known.

    A page that is expected to equal one under a plainer URL leaves the first visit to that. Of pages of one name the
    first is taken, and the others are echoes of it.
    """
    sections_of = acting.book.of(tx, {page.host for page in pages}, learned=learned)
    together = {
        host: _Together(sections_of[host], acting.book.out(host)) for host in sections_of if sections_of[host].acts
    }
    if not together:
        return set()
    acts = [page for page in pages if page.host in together]
    fallen = _beside_plainer(tx, acts, sections_of, acting)
    for page in acts:
        if page.page not in fallen and (factor := together[page.host].factor(page.url)) < page.harvest:
            fallen[page.page] = factor
    return set(_wait_with(tx, fallen, acting.rule, now, fall=True)) if fallen else set()


def _beside_plainer(
    tx: Tx, pages: Iterable[Waiting], sections_of: Mapping[str, Sections], acting: Acting
) -> dict[int, float]:
    """Return those of these pages that count for less, as the page that each is expected to equal waits, too, or was
    fetched: id → factor."""
    named = [
        (page, key, factor)
        for page in pages
        for url, factor in sections_of[page.host].plainer(page.url)
        if factor < page.harvest and (key := acting.key_of(url)) is not None
    ]
    there = set(tx.one("sections/there", keys=sorted({key for _, key, _ in named}))[0]) if named else set()
    fallen: dict[int, float] = {}
    for page, key, factor in named:
        if key in there:
            fallen[page.page] = min(factor, fallen.get(page.page, factor))
    return fallen


class _Together:
    """The sections of a host for pages that are claimed together. `out`: the names of pages that are being fetched."""

    def __init__(self, sections: Sections, out: Container[int | None]) -> None:
        self._sections, self._out, self._names = sections, out, set[int | None]()

    def factor(self, url: str) -> float:
        """Return the factor of the next page, which is an echo if a page of its name is out, or was before it here."""
        name = name_of(url)
        echo = name in self._out or name in self._names or self._sections.is_echo(url)
        self._names.add(name)
        return self._sections.factor(url, echo=echo)


def _wait_with(tx: Tx, factors: Mapping[int, float], rule: Rule, now: float, *, fall: bool) -> list[int]:
    """Let these pages (id → factor) that were never fetched wait with lower factors (`fall`), or with higher ones.
    Return the pages that do. Pages that a caller has chosen do not fall: seeds, and pages that are wanted at once."""
    ledger = ledgers.of(rule).lock_present(tx, factors, rule)
    places = ledger.at([page for page in factors if ledger.holds([page])])
    moved: dict[int, float] = {}
    for row in places.tolist():
        page, before = int(ledger.ids[row]), float(ledger.harvest[row])
        further = factors[page] < before if fall else factors[page] > before
        chosen = ledger.is_seed[row] or ledger.lane[row] == ASKED
        if further and ledger.first_fetched[row] < 0.0 and not (fall and chosen):
            moved[page] = factors[page]
    if moved:
        ledger.take_harvest(moved)
        ledger.write(tx, now)
    return list(moved)


def with_factors(tx: Tx, pages: Iterable[New], acting: Acting | None) -> list[New]:
    """Return these pages, which may have to be created, with the factors of their sections."""
    given = list(pages)
    if acting is None or not given:
        return given
    sections_of = acting.book.of(tx, {host_of(page.url) for page in given})
    if not any(sections.acts for sections in sections_of.values()):
        return given
    return [replace(page, harvest=sections_of[host_of(page.url)].factor(page.url)) for page in given]


@dataclass(frozen=True, slots=True)
class HeldSections:
    """The pages of a host that wait with factors below 1.

    `times`: how often the host had been learned from. `rising`: id → factor of those that wait with lower factors than
    those of their sections. `chosen`: id → when its section was last tried, of those that are to try it. `tries`: after
    so many tries others are to be chosen.
    """

    times: int
    rising: Mapping[int, float]
    chosen: Mapping[int, float]
    tries: int


def held_down(tx: Tx, host: str, book: Book) -> HeldSections:
    """Return the pages of a host that wait with factors below 1, by reading all of them."""
    times: int = tx.one("sections/times", host=host)[0]
    sections = book.of(tx, [host], fresh=True)[host]
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
    wanted = {pattern: _tries_of(len(pages)) for pattern, pages in waiting.items()}
    best = {
        page: sections.by_pattern[pattern].tried_at
        for pattern, pages in waiting.items()
        for _, _, page in heapq.nsmallest(wanted[pattern] - chosen[pattern], pages)
    }
    return HeldSections(times, rising, best, math.ceil(sum(wanted.values()) / 2))


def _tries_of(pages: int) -> int:
    """Return how many pages of a section are chosen to try it, of so many: with more, all are read less often."""
    return min(pages, max(FEWEST_TRIES, math.isqrt(pages)))


def raise_some(tx: Tx, factors: Mapping[int, float], policy: Policy, now: float) -> int:
    """Raise the factors of these waiting pages (id → factor). Return the number of pages that were raised."""
    return len(_wait_with(tx, factors, policy.rule, now, fall=False))


def choose(tx: Tx, chosen: Mapping[int, float]) -> None:
    """Let these pages (id → when its section was last tried) try their sections, if they still wait."""
    tx.do("sections/choose", rows=sorted([page, at] for page, at in chosen.items()))


def raised(tx: Tx, host: str, sections: HeldSections) -> None:
    """Note that the pages of a host wait, and were chosen, by its present sections, if nothing was learned
    meanwhile."""
    tx.do("sections/raised", host=host, learned=sections.times, tries=sections.tries)


# ---------------------------------------------------------------------- trying sections that are held down


class Tries:
    """Pages that were chosen to try sections that are held down, as they were read without a lock.

    `since`: id → since when it waits: the section first that was longest untried, one page of each, then the second of
    each, …; those that cannot be claimed now at the end.
    """

    def __init__(self, rows: Sequence[Sequence[Any]], found: Mapping[str, Sections], n: int, full: bool) -> None:
        self._rows, self._full, self._n = rows, full, n
        sections = {row[0]: found[row[2]].of(row[1]) for row in rows}
        self._section = {row[0]: (row[2], sections[row[0]].leaf.pattern) for row in rows}
        self._tried_at = {row[0]: max(row[3], sections[row[0]].tried_at) for row in rows}
        self._ready = [row[0] for row in rows if row[5] and row[6]]
        in_order = sorted(self._ready, key=lambda page: self._tried_at[page])
        turns: Counter[tuple[str, str]] = Counter()
        place: dict[int, tuple[int, float]] = {}
        for page in in_order:
            place[page] = turns[self._section[page]], self._tried_at[page]
            turns[self._section[page]] += 1
        since = {row[0]: float(row[4]) for row in rows}
        first = sorted(in_order, key=lambda page: place[page])
        self.since = {page: since[page] for page in (*first, *sorted(since.keys() - place.keys()))}

    def after(self, granted: Container[object], now: float) -> list[list[Any]]:
        """Return when each is to try its section next, where that has changed, once some were claimed (as of
        sections/tried). Where those of hosts that are not ready hide others, they come later."""
        tried = {self._section[page] for page in self.since if page in granted}
        hides = self._full and len(self._ready) < self._n
        rows: list[list[Any]] = []
        for page, _, _, at, _, waits, is_ready in self._rows:
            later = now if self._section[page] in tried else self._tried_at[page]
            if hides and not is_ready:
                later = now + random.uniform(0.5, 1.5) * PUT_OFF
            if page in granted or not waits:
                rows.append([page, CLAIMED if page in granted else None])
            elif later > at:
                rows.append([page, later])
        return rows


def tries(tx: Tx, acting: Acting, n: int, now: float) -> Tries:
    """Pages for `n` claims that try sections which are held down."""
    looked_at = max(TRIES_LOOKED_AT, 2 * n)
    rows = tx.one("sections/tries", now=now, limit=looked_at)[0]
    sections_of = acting.book.of(tx, {row[2] for row in rows}) if rows else {}
    return Tries(rows, sections_of, n, len(rows) == looked_at)
