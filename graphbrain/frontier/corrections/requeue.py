"""The places where pages wait, decided anew: after a change of the scope, the order, or the worth of a page.

State, queue, lane and marks of a page follow from the settings and from the page's properties, so one function brings
them all in line. It runs as a backfill of all pages after a change of settings (noted on the brain, so that any process
continues it), and on single pages after a correction. Statements: brain/remarked, pages/ids_from, pages/pardon,
pages/wanted, pages/stand, pages/recheck, pages/unlinked_mark, links/unalias, visits/places, claims/held,
accounts/*.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from graphbrain.base.model import ROBOTS, SCOPE
from graphbrain.frontier.discovery import look_again
from graphbrain.frontier.hosts import health, politeness
from graphbrain.frontier.policy import Policy
from graphbrain.frontier.reports import canonicals
from graphbrain.graph import brain_state
from graphbrain.graph.connection import Tx
from graphbrain.schedule import lanes
from graphbrain.schedule.value import DAY
from graphbrain.scores.accounts import ledgers
from graphbrain.scores.accounts.ledgers import Accounts

__all__ = ["ask", "remark", "remark_next"]

BATCH = 500


@dataclass(slots=True)
class _Waiting:
    """A page, and where it waits."""

    page: int
    url: str
    host: str
    state: str
    fetched: float | None
    queue: str | None
    lane: int
    waiting_since: float
    busy: bool
    rate_shape: float | None
    rate_scale: float | None
    interval: float | None
    because: str | None
    parked_because: str | None
    failed: float | None
    failing_since: float | None
    errors: int
    missing: bool
    not_before: float | None = None
    """when it is tried again, if that was found here"""
    came_back: bool = False
    """was it outside the scope until now?"""

    def place(self) -> tuple[str, str | None, float, str | None, float | None]:
        """Return the properties to write."""
        return self.state, self.queue, self.waiting_since, self.because, self.not_before

    def wait(self, now: float) -> None:
        """It has come back into the scope: if it failed before it left, the wait that followed goes on."""
        if self.failed is None or self.failing_since is None:
            return
        failing = self.failed - self.failing_since
        again = self.failed + (health.missing_wait(self.errors) if self.missing else health.page_wait(failing))
        if again > now:
            self.not_before, self.busy = again, True

    def is_looked_at(self) -> bool:
        """Return whether it is an alias, or parked because it failed."""
        return self.state == "alias" or (self.state == "parked" and self.parked_because is None)

    def moved_back_to(self, fetched: float) -> float:
        """Since when it waits to be visited again: earlier than it was fetched, if hints have moved it back.

        Where it did not wait to be visited again (in another lane, or outside the scope), its time is of before.
        """
        waits_again = not (self.came_back or self.lane == lanes.ASKED or lanes.is_frontier([self.lane])[0])
        return self.waiting_since if waits_again else fetched

    def is_asked_for(self, now: float) -> bool:
        """Return whether it must be visited at once, whatever its value."""
        return self.lane == lanes.ASKED and self.waiting_since <= now


def _look_at(page: _Waiting, now: float) -> float:
    """Return the latest time at which an alias or a parked page is looked at, if none is known yet."""
    if page.state == "alias":
        return (page.fetched or 0.0) + DAY
    return now + random.uniform(0.0, health.FIRST_LOOK)


def remark_next(tx: Tx, now: float, policy: Policy, revision: int) -> int:
    """Bring the next pages in line with the settings that hold now. Return their number, 0 when the backfill has ended.

    The brain is locked last, as in all writes of the classic engine's accounts. Two processes that work on the same
    pages do the same; one that comes after a new change of settings advances nothing. Raises BegunAnew.
    """
    before = brain_state.stored(tx, revision, lock=False).get("remarking")
    if before is None:
        return 0
    ids, last = tx.one("pages/ids_from", after=before, limit=BATCH)
    remark(tx, ids, policy, now)
    tx.do("pages/unlinked_mark", ids=ids, now=now)
    canonicals.note_again(tx, ids, policy, now)
    after = last if len(ids) == BATCH else None
    tx.do("brain/remarked", before=before, after=after, revision=policy.rule.revision)
    return max(len(ids), 1)


def remark(tx: Tx, ids: Sequence[int], policy: Policy, now: float) -> tuple[int, int]:
    """Bring state, queue, lane and marks of the pages among these that still exist in line with the settings. Return
    how many leave the scope, and how many enter it.

    A page that is leased, or waits for a retry, gets no queue now: it is given one when it comes back.
    """
    ledger = ledgers.of(policy.rule).lock_present(tx, ids, policy.rule)
    pages = [_Waiting(*row) for row in tx.one("visits/places", ids=ledger.ids.tolist())[0]]
    before = {page.page: page.place() for page in pages}
    _rescope(tx, pages, ledger, policy, now)
    read = [page.page for page in pages if page.fetched is not None]
    ledger.may_pass_on(read, [page.page for page in pages if page.state == "alias"])
    _into_lanes(tx, [page for page in pages if page.state == "known"], ledger, policy, now)
    ledger.write(tx, now, all_marks=True)
    # Also of those that stay in their queue, and may be visited at another time.
    waiting = [page for page in pages if page.queue is not None and before[page.page] != page.place()]
    filing = politeness.queues(
        tx, politeness.earliest((page.host, page.waiting_since) for page in waiting), policy.manners, now
    )
    rows = []
    for page in pages:
        page.queue = filing[page.host] if page.queue == "" else page.queue
        if before[page.page] != page.place():
            rows.append([page.page, *page.place()])
    if rows:
        tx.do("pages/stand", rows=rows)
    moves = [(before[page.page][0] == "outside", page.state == "outside") for page in pages]
    return moves.count((False, True)), moves.count((True, False))


def _rescope(tx: Tx, pages: Sequence[_Waiting], ledger: Accounts, policy: Policy, now: float) -> None:
    """Put pages outside, or let them come back, by scope and robots.txt; queue '' means that one has still to be
    found."""
    barred = _barred(tx, pages, ledger, policy)
    if looked_at := [page for page in pages if page.is_looked_at()]:
        rows = [[page.page, _look_at(page, now), barred.get(page.page) == SCOPE] for page in looked_at]
        tx.do("pages/recheck", rows=rows)
    for page in pages:
        because = barred.get(page.page)
        if page.state == "outside":
            page.because = because
        if page.state == "outside" and because is None:
            page.state = "frontier" if page.fetched is None else "known"
            page.came_back = True
            page.wait(now)
            page.queue = "" if page.state == "frontier" and not page.busy else None
        elif page.state in ("frontier", "known") and because is not None:
            page.state, page.queue, page.because = "outside", None, because


def _barred(tx: Tx, pages: Sequence[_Waiting], ledger: Accounts, policy: Policy) -> dict[int, str]:
    """Return those of the pages that may not be fetched, and why: scope or robots.txt."""
    depths = dict(zip(ledger.ids.tolist(), ledger.depth.tolist(), strict=True))
    hosts = politeness.read(tx, {page.host for page in pages}, policy.manners)
    politeness.rules(tx, hosts.values())
    because: dict[int, str] = {}
    for page in pages:
        if not policy.scope.holds(page.url, page.host, int(depths[page.page])):
            because[page.page] = SCOPE
        elif page.host in hosts and not hosts[page.host].allows(page.url):
            because[page.page] = ROBOTS
    return because


def _into_lanes(tx: Tx, pages: Sequence[_Waiting], ledger: Accounts, policy: Policy, now: float) -> None:
    """Let fetched pages wait in the lane of their value and belief, or for the end of their interval; or nowhere."""
    if not pages:
        return
    # What is believed of a page's rate: its own belief, or the prior of its host.
    schedule, value = policy.schedule, ledger.weighed(tx, now)[ledger.at([page.page for page in pages])]
    shape, scale = schedule.first_belief([page.host for page in pages], value)
    has_rate = np.array([page.rate_shape is not None for page in pages])
    shape[has_rate] = [page.rate_shape for page in pages if page.rate_shape is not None]
    scale[has_rate] = [page.rate_scale for page in pages if page.rate_scale is not None]
    by_worth = lanes.revisit_lane(value, shape, scale)
    wanted: dict[int, int] = {}
    for page, lane in zip(pages, by_worth.tolist(), strict=True):
        if page.is_asked_for(now):
            page.queue = (page.queue or "") if not page.busy else None
            continue
        # An interval goes before the value.
        interval = page.interval or schedule.interval_of(page.url)
        since = page.fetched or 0.0
        if interval:
            wanted[page.page], page.waiting_since = lanes.ASKED, since + interval * DAY
        elif policy.rule.revisits:
            wanted[page.page], page.waiting_since = lane, min(since, page.moved_back_to(since))
        waits = interval or policy.rule.revisits
        page.queue = (page.queue or "") if waits and not page.busy else None
    ledger.wait_in(wanted)


def ask(tx: Tx, ids: Sequence[int], policy: Policy, now: float) -> list[int]:
    """Let pages be fetched at once, whatever they are worth and whatever became of them; those that can be.

    Not those that scope or robots.txt forbid, or leased ones: the latter are being fetched. All that will be fetched
    carry a mark until they are visited, by which `next_urls(now_only=True)` finds them.
    """
    # Lock the pages, and leave out those that are leased or that robots.txt forbids.
    ledger = ledgers.of(policy.rule).lock_present(tx, ids, policy.rule)
    pages = [_Waiting(*row) for row in tx.one("visits/places", ids=ledger.ids.tolist())[0]]
    leased = {row.id for row in tx.records("claims/held", ids=ledger.ids.tolist()) if row.lease is not None}
    barred = _barred(tx, pages, ledger, policy)
    wanted = [page for page in pages if page.page not in leased and page.page not in barred]
    tx.do("pages/wanted", rows=_in_turns([page for page in pages if page.page not in barred], now))
    if not wanted:
        return sorted(leased)
    # An alias waits as a page again.
    if aliases := [page.page for page in wanted if page.state == "alias"]:
        tx.do("links/unalias", ids=aliases)
        look_again(tx, aliases, now)
    ledger.wait_in({page.page: lanes.ASKED for page in wanted})
    ledger.write(tx, now)
    # Put them into the queues of their hosts, without what failures had put off.
    filing = politeness.queues(tx, dict.fromkeys((page.host for page in wanted), now), policy.manners, now)
    rows = [
        [page.page, "frontier" if page.fetched is None else "known", filing[page.host], now, None, None]
        for page in wanted
    ]
    tx.do("pages/stand", rows=rows)
    tx.do("pages/pardon", ids=[page.page for page in wanted if page.busy or page.state in ("parked", "gone")])
    return sorted(leased.union(page.page for page in wanted))


def _in_turns(pages: Sequence[_Waiting], now: float) -> list[list[object]]:
    """Return [id, since when it is asked for]: a second later for each other page of its host, so that hosts take
    turns."""
    count: Counter[str] = Counter()
    rows: list[list[object]] = []
    for page in pages:
        rows.append([page.page, now + count[page.host]])
        count[page.host] += 1
    return rows
