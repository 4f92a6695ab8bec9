"""Recording visits: reports are checked, split into transactions that fit in memory, and recorded."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from graphbrain.brain.names import Names
from graphbrain.brain.session import Session
from graphbrain.brain.upkeep import Upkeep
from graphbrain.errors import GraphTooSmall
from graphbrain.frontier import dense, report
from graphbrain.frontier.validate import Intake, refused
from graphbrain.frontier.verdicts import Item
from graphbrain.graph.connection import Tx
from graphbrain.model import OUTCOMES, Answer, Failed, Fetched, Unusable

__all__ = ["Reporting"]

_Done = tuple[str, Answer, bool]
"""Of a visit: the key of its page, the answer, and whether it was recorded before and is told again."""
BATCH_PAGES, BATCH_LINKS, BATCH_BYTES = 200, 10_000, report.BYTES_OF_ONE
"""A report is split into transactions of at most so many pages, links, and bytes of the URLs of these."""


class Reporting:
    """Takes reports of visits; a brain used alone tends itself after them."""

    def __init__(self, session: Session, names: Names, upkeep: Upkeep) -> None:
        self._session, self._names, self._upkeep = session, names, upkeep

    def report(self, items: Sequence[Fetched | Failed | Unusable]) -> list[Answer]:
        """Record visits, as `Brain.report` says."""
        items = list(items)
        if not self._session.was_moved:
            return self._report(items)
        answers: dict[int, Answer] = {}
        for part in self._names.rounds([getattr(item, "claim", None) for item in items]):
            now = [_claimed_at(items[number], key) for number, key in part.items()]
            answers |= dict(zip(part, self._report(now), strict=True))
        return [answers[number] for number in range(len(items))]

    def _report(self, items: Sequence[Fetched | Failed | Unusable]) -> list[Answer]:
        session, started = self._session, time.monotonic()
        intake = Intake(session.rules, session.settings.max_links, session.now(), session.policy.change)
        answers: list[Answer | None] = [None] * len(items)
        counted: list[Answer] = []
        checked: list[tuple[int, Item]] = []
        for number, made in enumerate(intake.all(items)):
            if isinstance(made, Answer):
                answers[number] = made
                counted.append(made)
            else:
                checked.append((number, made))
        for batch in _batches(checked):
            numbers = {item.key: number for number, item in batch}
            for key, answer, again in self._record([item for _, item in batch]):
                answers[numbers[key]] = answer
                if not again:
                    counted.append(answer)
                    session.counters.add(pages=answer.accepted, links=answer.links)
        session.counters.answered(answer.outcome or OUTCOMES[-1] for answer in counted)
        self._upkeep.after_report(time.monotonic() - started)
        return [answer for answer in answers if answer is not None]

    def _record(self, items: Sequence[Item]) -> list[_Done]:
        """Record visits in one transaction, or in several where their pages have too many links for that."""
        try:
            return self._record_at_once(items)
        except report.Heavy as heavy:
            links = heavy.links
        except GraphTooSmall:
            links = {item.key: len(item.targets) for item in items}
        answers: list[_Done] = []
        for batch in _batches([*enumerate(items)], links):
            answers += self._record_apart([item for _, item in batch], links)
        return answers

    def _record_apart(self, items: Sequence[Item], links: Mapping[str, int]) -> list[_Done]:
        """The same of visits with so many links; where memory is too small for some page, it alone is refused."""
        try:
            for item in items:
                if links[item.key] > report.MOST_OF_ONE or item.link_bytes > report.BYTES_OF_ONE:
                    self._part(item)
            return self._record_at_once(items, heavy=True)
        except GraphTooSmall as error:
            if len(items) > 1:
                middle = len(items) // 2
                return [*self._record_apart(items[:middle], links), *self._record_apart(items[middle:], links)]
            (item,) = items
            why = f"its {links[item.key]:,} links are more than Neo4j's memory holds ({error})"
            failure = refused(item, why)
            if failure is None:
                return [(item.key, Answer(item.report.url, False, why), False)]
            return self._record_at_once([failure])

    def _record_at_once(self, items: Sequence[Item], *, heavy: bool = False) -> list[_Done]:
        session, attempts = self._session, 0

        def record(tx: Tx) -> report.Recorded:
            nonlocal attempts
            attempts += 1
            return report.record(tx, items, session.policy, session.now(), heavy=heavy)

        done = session.graph.write(record, "report")
        session.counters.add(pushes=done.pushes, payments=done.payments)
        # A later attempt finds what the one before has recorded, whose answer was lost.
        again = done.again if attempts == 1 else frozenset()
        return [(item.key, answer, item.key in again) for item, answer in zip(items, done.answers, strict=True)]

    def _part(self, item: Item) -> None:
        """Let most of a page's links come and go before its visit is recorded."""
        session = self._session
        keys = session.graph.read(lambda tx: dense.missing(tx, item, session.policy), "report")
        for part in dense.parts(item, keys):
            session.perform("report", dense.add, item, part)
        session.exhaust("report", dense.remove, item)


def _claimed_at(item: Fetched | Failed | Unusable, key: str | None) -> Fetched | Failed | Unusable:
    """The report of a claim whose page has this key now."""
    claim = item.claim
    if claim is None or key is None or claim.key == key:
        return item
    return replace(item, claim=replace(claim, key=key))


def _batches(
    items: Sequence[tuple[int, Item]], known: Mapping[str, int] | None = None
) -> Iterator[list[tuple[int, Item]]]:
    """Whole pages, up to BATCH_PAGES of them, and about BATCH_LINKS links and BATCH_BYTES; `known`: how many links each
    page has, by its key, if not those alone that are told."""
    batch: list[tuple[int, Item]] = []
    links = size = 0
    for numbered in items:
        item = numbered[1]
        more = len(item.targets) if known is None else known[item.key]
        long = item.link_bytes
        if batch and (len(batch) == BATCH_PAGES or links + more > BATCH_LINKS or size + long > BATCH_BYTES):
            yield batch
            batch, links, size = [], 0, 0
        batch.append(numbered)
        links += more
        size += long
    if batch:
        yield batch
