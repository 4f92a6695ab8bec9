"""Moves of pages to other queues and lanes, after a change of the scope, the order, or the value of a page.

State, queue, lane and marks of a page follow from the settings and from the page's properties, so one function,
`remark`, computes all of them. It runs for all pages as a backfill after a change of settings, whose progress is stored
on the brain so that any process continues it, and for single pages after a correction. Statements: brain/remarked,
pages/ids_from, pages/pardon, pages/wanted, pages/stand, pages/recheck, pages/unlinked_mark, links/unalias,
visits/places, claims/held, accounts/*.
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
    """A locked page, with the properties that decide where it waits.

    Attributes:
        busy: True if it is claimed, or waits for a retry.
        because: The reason why it is outside the scope.
        not_before: The time of the next try, if it was computed here.
        came_back: True if it was outside the scope until now.
    """

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
    came_back: bool = False

    def place(self) -> tuple[str, str | None, float, str | None, float | None]:
        """Return the properties to write."""
        return self.state, self.queue, self.waiting_since, self.because, self.not_before

    def wait(self, now: float) -> None:
        """Continue the wait after a failure, for a page that failed before it left the scope and has come back."""
        if self.failed is None or self.failing_since is None:
            return
        failing = self.failed - self.failing_since
        retry_at = self.failed + (health.missing_wait(self.errors) if self.missing else health.page_wait(failing))
        if retry_at > now:
            self.not_before, self.busy = retry_at, True

    def is_looked_at(self) -> bool:
        """Return whether it is an alias, or parked because it failed."""
        return self.state == "alias" or (self.state == "parked" and self.parked_because is None)

    def moved_back_to(self, fetched: float) -> float:
        """Return the time since which it waits for a revisit. Hints may have made it earlier than `fetched`.

        It is `fetched` for a page that did not wait for a revisit until now, because of its lane or of the scope.
        """
        waits_again = not (self.came_back or self.lane == lanes.ASKED or lanes.is_frontier([self.lane])[0])
        return self.waiting_since if waits_again else fetched

    def is_asked_for(self, now: float) -> bool:
        """Return whether its immediate fetch was requested."""
        return self.lane == lanes.ASKED and self.waiting_since <= now


def _look_at(page: _Waiting, now: float) -> float:
    """Return the time at which an alias or a parked page is looked at again, if it has none yet."""
    if page.state == "alias":
        return (page.fetched or 0.0) + DAY
    return now + random.uniform(0.0, health.FIRST_LOOK)


def remark_next(tx: Tx, now: float, policy: Policy, revision: int) -> int:
    """Bring the next pages in line with the present settings. Return their number, 0 when the backfill has ended.

    The brain is locked last, as in all writes of the classic engine's accounts. Two processes that work on the same
    pages write the same. A process with outdated settings does not change the progress. Raises BegunAnew.
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
    """Bring state, queue, lane and marks of pages in line with the settings. Pages that were deleted are skipped.

    A page that is claimed, or waits for a retry, gets no queue now: it gets one when its claim or its wait ends.

    Returns:
        (number of pages that leave the scope, number of pages that enter it).
    """
    # Lock the pages. Decide which are outside, and in which lanes the others wait.
    ledger = ledgers.of(policy.rule).lock_present(tx, ids, policy.rule)
    pages = [_Waiting(*row) for row in tx.one("visits/places", ids=ledger.ids.tolist())[0]]
    before = {page.page: page.place() for page in pages}
    ledger.take_url_weights({page.page: policy.rule.weights.product(page.url) for page in pages})
    _rescope(tx, pages, ledger, policy, now)
    fetched = [page.page for page in pages if page.fetched is not None]
    ledger.may_pass_on(fetched, [page.page for page in pages if page.state == "alias"])
    _into_lanes(tx, [page for page in pages if page.state == "known"], ledger, policy, now)
    ledger.write(tx, now, all_marks=True)
    # Find the queues, under the locks of hosts, also for pages that wait in the same queue since another time.
    waiting = [page for page in pages if page.queue is not None and before[page.page] != page.place()]
    queue_of = politeness.queues(
        tx, politeness.earliest((page.host, page.waiting_since) for page in waiting), policy.manners, now
    )
    # Write the pages that have changed.
    rows = []
    for page in pages:
        page.queue = queue_of[page.host] if page.queue == "" else page.queue
        if before[page.page] != page.place():
            rows.append([page.page, *page.place()])
    if rows:
        tx.do("pages/stand", rows=rows)
    # Count those that have left or entered the scope.
    moves = [(before[page.page][0] == "outside", page.state == "outside") for page in pages]
    return moves.count((False, True)), moves.count((True, False))


def _rescope(tx: Tx, pages: Sequence[_Waiting], ledger: Accounts, policy: Policy, now: float) -> None:
    """Move pages out of the scope, or back into it, by the settings and robots.txt. The queue '' is found later."""
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
    """Return page → the reason, scope or robots.txt, for those pages that may not be fetched."""
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
    """Let fetched pages wait in the lanes of their values and change rates, or for the end of their intervals.

    They wait nowhere if the order visits no page again.
    """
    if not pages:
        return
    # Find the lane of each page by its value and its belief about the change rate, or the prior of its host.
    schedule, value = policy.schedule, ledger.weighed(tx, now)[ledger.at([page.page for page in pages])]
    shape, scale = schedule.first_belief([page.host for page in pages], value)
    has_rate = np.array([page.rate_shape is not None for page in pages])
    shape[has_rate] = [page.rate_shape for page in pages if page.rate_shape is not None]
    scale[has_rate] = [page.rate_scale for page in pages if page.rate_scale is not None]
    by_value = lanes.revisit_lane(value, shape, scale)
    lane_of: dict[int, int] = {}
    for page, lane in zip(pages, by_value.tolist(), strict=True):
        # A page whose immediate fetch was requested keeps its lane.
        if page.is_asked_for(now):
            page.queue = (page.queue or "") if not page.busy else None
            continue
        # An interval takes precedence over the value.
        interval = page.interval or schedule.interval_of(page.url)
        since = page.fetched or 0.0
        if interval:
            lane_of[page.page], page.waiting_since = lanes.ASKED, since + interval * DAY
        elif policy.rule.revisits:
            lane_of[page.page], page.waiting_since = lane, min(since, page.moved_back_to(since))
        waits = interval or policy.rule.revisits
        page.queue = (page.queue or "") if waits and not page.busy else None
    ledger.wait_in(lane_of)


def ask(tx: Tx, ids: Sequence[int], policy: Policy, now: float) -> list[int]:
    """Let pages be fetched at once, also if they were given up or have a low value. Return those that will be fetched.

    Pages that scope or robots.txt forbid are skipped. Claimed pages are being fetched already. All pages that will be
    fetched get a mark until they are visited, by which `next_urls(now_only=True)` finds them.
    """
    # Lock the pages, and leave out those that are claimed, or that scope or robots.txt forbid.
    ledger = ledgers.of(policy.rule).lock_present(tx, ids, policy.rule)
    pages = [_Waiting(*row) for row in tx.one("visits/places", ids=ledger.ids.tolist())[0]]
    leased = {row.id for row in tx.records("claims/held", ids=ledger.ids.tolist()) if row.lease is not None}
    barred = _barred(tx, pages, ledger, policy)
    wanted = [page for page in pages if page.page not in leased and page.page not in barred]
    tx.do("pages/wanted", rows=_in_turns([page for page in pages if page.page not in barred], now))
    if not wanted:
        return sorted(leased)
    # Let them wait in the lane of requested pages. An alias becomes an ordinary page.
    if aliases := [page.page for page in wanted if page.state == "alias"]:
        tx.do("links/unalias", ids=aliases)
        look_again(tx, aliases, now)
    ledger.wait_in({page.page: lanes.ASKED for page in wanted})
    ledger.write(tx, now)
    # Put them into the queues of their hosts, and remove the waits that failures had caused.
    queue_of = politeness.queues(tx, dict.fromkeys((page.host for page in wanted), now), policy.manners, now)
    rows = [
        [page.page, "frontier" if page.fetched is None else "known", queue_of[page.host], now, None, None]
        for page in wanted
    ]
    tx.do("pages/stand", rows=rows)
    tx.do("pages/pardon", ids=[page.page for page in wanted if page.busy or page.state in ("parked", "gone")])
    return sorted(leased.union(page.page for page in wanted))


def _in_turns(pages: Sequence[_Waiting], now: float) -> list[list[object]]:
    """Return [id, time of the request] of pages. The times of pages of one host differ by a second, so that hosts take
    turns."""
    count: Counter[str] = Counter()
    rows: list[list[object]] = []
    for page in pages:
        rows.append([page.page, now + count[page.host]])
        count[page.host] += 1
    return rows
