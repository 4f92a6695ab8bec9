"""The recording of visits: reports are checked, combined or split into transactions that fit in memory, and recorded.

Reports that come at the same time are combined (`combine`): one transaction records all of them, each page once. A
report that fails in such a transaction, or is too large for it, is recorded by itself.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from graphbrain.base.errors import GraphTooSmall, GraphUnavailable
from graphbrain.base.model import OUTCOMES, Answer, AnyReport, kind_of
from graphbrain.brain.combine import Combiner, Ticket
from graphbrain.brain.session import Session
from graphbrain.brain.sitemaps import SitemapFinding, Sitemaps
from graphbrain.brain.upkeep import Tending, Upkeep
from graphbrain.content import input_checks
from graphbrain.frontier.claims import resources
from graphbrain.frontier.reports import large_visits, report
from graphbrain.frontier.reports.outcomes import Item
from graphbrain.frontier.reports.report import Done
from graphbrain.frontier.reports.report_intake import TWICE, Intake, named, refused

__all__ = ["Reporting"]

BATCH_PAGES, BATCH_LINKS, BATCH_BYTES = 200, 10_000, report.BYTES_OF_ONE
"""The most pages, links, and bytes of the links' URLs in one transaction. A larger report is split."""
READ = ("new", "changed", "same")
"""The outcomes of a robots.txt that was read."""
ALONE = 100
"""The least number of pages, or the corresponding number of links, of a report that is not combined with others."""
LANES = 2
"""The number of batches that are recorded at the same time: one waits for the server while Python works on the
other."""
HEAVY_OF_ONE = report.MOST_OF_ALL // 8
"""If a batch is too heavy, its reports with more links than this are recorded by themselves."""


@dataclass(slots=True)
class _Call:
    """One call: the answers to refused items, by number, and the items to record, each with its number."""

    answers: list[Answer | None]
    checked: list[tuple[int, Item]] = field(default_factory=list)
    resources: list[tuple[int, resources.ResourceVisit]] = field(default_factory=list)
    """The visits of resources that are no pages, with their numbers."""
    size: float = 0.0
    """Its part of a batch, in pages."""

    def finish(self, done: Iterable[Done], session: Session) -> list[Answer]:
        """Return all answers after everything was recorded, and count them. `done`: the results of the pages."""
        # Refused pages have their answers already; resources are counted when they are recorded.
        resource_numbers = {number for number, _ in self.resources}
        refusals = [a for number, a in enumerate(self.answers) if a is not None and number not in resource_numbers]
        # Visits that an earlier report had recorded are not counted again.
        numbers = {item.key: number for number, item in self.checked}
        fresh: list[Answer] = []
        for key, answer, is_repeated in done:
            self.answers[numbers[key]] = answer
            if not is_repeated:
                fresh.append(answer)
        session.counters.add(pages=sum(each.accepted for each in fresh), links=sum(each.links for each in fresh))
        session.counters.answered(answer.outcome or OUTCOMES[-1] for answer in (*refusals, *fresh))
        return [answer for answer in self.answers if answer is not None]


@dataclass(frozen=True, slots=True)
class _Alone:
    """The answer to a call that must be recorded by itself."""

    call: _Call


_Make = Callable[[], _Call]
_Ticket = Ticket[_Make, "list[Answer] | _Alone"]


class Reporting:
    """The verb that records visits. A brain without workers does its upkeep after reports."""

    def __init__(self, session: Session, upkeep: Upkeep, finding: SitemapFinding) -> None:
        self._session, self._upkeep, self._finding = session, upkeep, finding
        self._combiner: Combiner[_Make, list[Answer] | _Alone] = Combiner(
            self._answer, "reports", most=BATCH_PAGES, alone=ALONE, lanes=LANES
        )
        self._tending = Tending(upkeep)
        self._sitemaps = Sitemaps(session)
        self._seconds = 0.0
        """The seconds that the last round took, divided by its number of calls."""

    def report(self, items: Sequence[AnyReport]) -> list[Answer]:
        """Record visits, as `Brain.report` describes."""
        started = time.monotonic()
        call = self._taken_in(list(items))  # in this thread, since it may run the caller's functions
        answers = self.alone(self._combiner.do(lambda: call, threading.get_ident(), call.size))
        self._upkeep.after_report(time.monotonic() - started)
        return answers

    def soon(
        self, make: Callable[[], Sequence[AnyReport]], pages: int, links: int, owner: Hashable
    ) -> Future[list[Answer] | _Alone] | None:
        """Record visits without waiting for the answer.

        Args:
            make: Returns the reports.
            pages, links: About how many pages and links the reports have.
            owner: The owner of the call; owners take turns.

        Returns:
            The future of the answers; None if the reports are so large that the caller must call `report` in a thread.
            If the result is `_Alone`, the caller must call `alone` with it in a thread.
        """
        size = _size(pages, links)
        if size >= ALONE:
            return None
        future = self._combiner.submit(lambda: self._taken_in(list(make())), owner, size)
        future.add_done_callback(lambda _: self._tending.owe(self._seconds))
        return future

    def alone(self, answers: list[Answer] | _Alone) -> list[Answer]:
        """Record a call that must be recorded by itself, and return its answers. Return other answers unchanged."""
        return self._by_itself(answers.call) if isinstance(answers, _Alone) else answers

    def close(self) -> None:
        """End the threads in the background."""
        self._combiner.close()
        self._tending.close()

    def _taken_in(self, items: Sequence[AnyReport]) -> _Call:
        """Check the items of a call. Return the call with the visits to record and the answers to refused items."""
        session = self._session
        intake = Intake(session.rules, session.settings.max_links, session.now(), session.policy.change)
        call = _Call([None] * len(items))
        pages: dict[int, Any] = {}
        repeated: set[str] = set()
        # A report is of a page, or of a resource (robots.txt, sitemap, link) by its claim.
        for number, item in enumerate(items):
            claim = input_checks.claim_of(item)
            if claim is None or claim.kind == "page":
                pages[number] = item
            elif claim.key in repeated:
                call.answers[number] = Answer(named(item), False, TWICE)
            else:
                repeated.add(claim.key)
                call.resources.append((number, resources.visited(item, claim, session.now())))
        # Pages are checked together. A refused page gets its answer now.
        for number, checked in zip(pages, intake.all(list(pages.values())), strict=True):
            if isinstance(checked, Answer):
                call.answers[number] = checked
            else:
                call.checked.append((number, checked))
        # Links and entries of sitemaps make the size by which calls are combined.
        entries = sum(1 + one.entries for _, one in call.resources)
        call.size = _size(len(call.checked) + entries, sum(len(item.targets) for _, item in call.checked))
        return call

    def _answer(self, tickets: Sequence[_Ticket]) -> None:
        """Record the calls of one round, and answer them."""
        # Check their items; an error of a caller's function fails its own call only.
        started = time.monotonic()
        calls: dict[_Ticket, _Call] = {}
        for ticket in tickets:
            try:
                calls[ticket] = ticket.request()
            except Exception as error:  # noqa: BLE001  # the caller's code may raise any error
                ticket.fail(error)
        # Record resources first, and then pages.
        if any(call.resources for call in calls.values()):
            self._record_resources(calls.values())
        if len(calls) == 1:
            ((ticket, call),) = calls.items()
            ticket.answer(self._by_itself(call))
        else:
            self._together(calls)
        self._seconds = (time.monotonic() - started) / max(1, len(tickets))

    def _record_resources(self, calls: Iterable[_Call]) -> None:
        """Record the visits of resources of these calls. A resource that several calls report is recorded for each."""
        remaining = [(call, number, visit) for call in calls for number, visit in call.resources]
        session = self._session
        while remaining:
            # A batch has each resource at most once.
            batch: dict[str, tuple[_Call, int, resources.ResourceVisit]] = {}
            later: list[tuple[_Call, int, resources.ResourceVisit]] = []
            for call, number, visit in remaining:
                if visit.key in batch or len(batch) == BATCH_PAGES:
                    later.append((call, number, visit))
                else:
                    batch[visit.key] = (call, number, visit)
            remaining = later
            # Write the entries of sitemaps before the claims end, and then the visits.
            visits = [visit for _, _, visit in batch.values()]
            self._sitemaps.write(visits)
            answers, repeated = session.perform("resources/record", resources.record, visits)
            # Search for sitemaps that a robots.txt names, and answer.
            self._finding.of_robots(key for key, answer in answers.items() if answer.outcome in READ)
            for call, number, visit in batch.values():
                answer = call.answers[number] = answers[visit.key]
                if visit.key not in repeated:
                    session.counters.answered([answer.outcome or OUTCOMES[-1]], kind_of(visit.key))

    def _by_itself(self, call: _Call) -> list[Answer]:
        """Record one call in batches, and return its answers."""
        done: list[Done] = []
        for batch in _batches(call.checked):
            done += self._record([item for _, item in batch])
        return call.finish(done, self._session)

    def _together(self, calls: Mapping[_Ticket, _Call]) -> None:
        """Record these calls together, in as few transactions as possible, and answer them. A page that several calls
        report is recorded for each of them."""
        remaining = {ticket: [item for _, item in call.checked] for ticket, call in calls.items()}
        done: dict[_Ticket, list[Done]] = {ticket: [] for ticket in calls}
        while remaining:
            # A transaction takes each page once. Further reports of the same page wait for the next one.
            batch: dict[str, tuple[_Ticket, Item]] = {}
            later: dict[_Ticket, list[Item]] = {}
            for ticket, items in remaining.items():
                for item in items:
                    if item.key in batch:
                        later.setdefault(ticket, []).append(item)
                    else:
                        batch[item.key] = (ticket, item)
            # Record the batch. Some calls may have to be recorded by themselves.
            recorded, alone = self._record_some(list(batch.values()))
            for ticket, result in recorded:
                done[ticket].append(result)
            # Answer the calls that are done, and those that must be recorded by themselves.
            for ticket in remaining:
                if ticket in alone:
                    later.pop(ticket, None)
                    ticket.answer(_Alone(calls[ticket]))
                elif ticket not in later:
                    ticket.answer(calls[ticket].finish(done[ticket], self._session))
            remaining = later

    def _record_some(self, visits: Sequence[tuple[_Ticket, Item]]) -> tuple[list[tuple[_Ticket, Done]], set[_Ticket]]:
        """Record visits of several calls in one transaction. Return the results, and the calls that must be recorded by
        themselves, because they are too heavy or fail."""
        if not visits:
            return [], set()
        try:
            done = self._record_at_once([item for _, item in visits])
            return [(ticket, result) for (ticket, _), result in zip(visits, done, strict=True)], set()
        except report.Heavy as heavy:
            alone = _heavy_calls(visits, heavy.links)
        except GraphUnavailable:
            raise
        except Exception:  # noqa: BLE001  # the call that fails is found by halves, and its caller gets the error
            return self._by_halves(visits)
        # Record the other calls without the heavy ones.
        recorded, more_alone = self._record_some([visit for visit in visits if visit[0] not in alone])
        return recorded, alone | more_alone

    def _by_halves(self, visits: Sequence[tuple[_Ticket, Item]]) -> tuple[list[tuple[_Ticket, Done]], set[_Ticket]]:
        """Record the calls of visits that failed together in two halves. A call that fails by itself is returned, to be
        recorded by itself: its caller gets the error then."""
        tickets = list(dict.fromkeys(ticket for ticket, _ in visits))
        if len(tickets) == 1:
            return [], set(tickets)
        first = set(tickets[: len(tickets) // 2])
        recorded, alone = self._record_some([visit for visit in visits if visit[0] in first])
        others, others_alone = self._record_some([visit for visit in visits if visit[0] not in first])
        return [*recorded, *others], alone | others_alone

    def _record(self, items: Sequence[Item]) -> list[Done]:
        """Record visits in one transaction, or in several if their pages have too many links."""
        try:
            return self._record_at_once(items)
        except report.Heavy as heavy:
            links = heavy.links
        except GraphTooSmall:
            links = {item.key: len(item.targets) for item in items}
        answers: list[Done] = []
        for batch in _batches([*enumerate(items)], links):
            answers += self._record_apart([item for _, item in batch], links)
        return answers

    def _record_apart(self, items: Sequence[Item], links: Mapping[str, int]) -> list[Done]:
        """Record visits of pages with many links (key → number of links). A page whose links do not fit in the server's
        memory is refused."""
        # Write most links of a large page first, in transactions of their own.
        try:
            for item in items:
                if links[item.key] > report.MOST_OF_ONE or item.link_bytes > report.BYTES_OF_ONE:
                    large_visits.write_most(self._session.perform, item)
            return self._record_at_once(items, heavy=True)
        # Try half of the items at a time; refuse a single item that does not fit.
        except GraphTooSmall as error:
            if len(items) > 1:
                middle = len(items) // 2
                return [*self._record_apart(items[:middle], links), *self._record_apart(items[middle:], links)]
            (item,) = items
            reason = f"its {links[item.key]:,} links are more than Neo4j's memory holds ({error})"
            failure = refused(item, reason)
            if failure is None:
                return [(item.key, Answer(item.report.url, False, reason), False)]
            return self._record_at_once([failure])

    def _record_at_once(self, items: Sequence[Item], *, heavy: bool = False) -> list[Done]:
        """Record visits in one transaction. Raises Heavy if they have too many links, unless they may be `heavy`."""
        recorded = self._session.perform("report", report.record, items, heavy)
        self._session.counters.add(**recorded.counts)
        return recorded.results


def _heavy_calls(visits: Iterable[tuple[_Ticket, Item]], links_of: Mapping[str, int]) -> set[_Ticket]:
    """Return the calls that have too many links for a transaction with others; at least the call with most links.
    `links_of`: the number of links of each page, by its key."""
    links: Counter[_Ticket] = Counter()
    for ticket, item in visits:
        links[ticket] += links_of.get(item.key, 0)
    return {ticket for ticket, count in links.items() if count > HEAVY_OF_ONE} or {max(links, key=links.__getitem__)}


def _size(pages: int, links: int) -> float:
    """Return the part of a batch that these pages and links take, in pages."""
    return max(pages, links * BATCH_PAGES / BATCH_LINKS)


def _batches(
    items: Sequence[tuple[int, Item]], known_links: Mapping[str, int] | None = None
) -> Iterator[list[tuple[int, Item]]]:
    """Yield batches of at most BATCH_PAGES items, BATCH_LINKS links and BATCH_BYTES of URLs. A larger item is a batch
    by itself.

    `known_links`: the number of reported and known links of each page, by its key; None: count the reported links.
    """
    batch: list[tuple[int, Item]] = []
    links = size = 0
    for numbered in items:
        _, item = numbered
        item_links = len(item.targets) if known_links is None else known_links[item.key]
        is_full = len(batch) == BATCH_PAGES or links + item_links > BATCH_LINKS or size + item.link_bytes > BATCH_BYTES
        if batch and is_full:
            yield batch
            batch, links, size = [], 0, 0
        batch.append(numbered)
        links += item_links
        size += item.link_bytes
    if batch:
        yield batch
