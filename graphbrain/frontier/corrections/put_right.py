"""A pass over all pages and resources, after the server's clock was ahead: times that it wrote are put right
(`graphbrain.frontier.hosts.clock_ahead`).

The progress of the pass is stored on the brain, so any process continues it. Hosts have a pass of their own
(`frontier.hosts.admin.review`), which ends sooner: a crawl waits for them. Statements: pages/ahead, pages/times,
pages/put_right, resources/ahead, brain/lock, brain/note.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphbrain.frontier.claims import resources
from graphbrain.frontier.hosts import clock_ahead, health, politeness
from graphbrain.frontier.hosts.state import retry_queue
from graphbrain.frontier.policy import Policy
from graphbrain.graph import brain_state
from graphbrain.graph.connection import Tx

__all__ = ["LOOKS", "NO_TIME", "begun", "go_on"]

BEGIN: Mapping[str, Any] = {"putting_right": "", "reviewing_hosts": ""}
"""The properties of the brain when both passes begin."""
ENDED: Mapping[str, Any] = {"putting_right": None, "reviewing_hosts": ""}
"""The properties of the brain when all pages are put right. Hosts are reviewed once more, by the times of their
pages."""
NO_TIME: Mapping[str, Any] = {"clock_seen": None, "putting_right": None}
"""The properties of the brain of an empty graph."""
LOOKS = ("prior_tried", "payout_looked")
"""Properties of the brain with the times of the last looks that are made at intervals."""
LOOKED_AT = 2_000
AFTER_PAGES = "g"
"""Comes after the keys of all pages, which are hex digits, and before those of resources, which begin with a kind."""


def begun(stored: Mapping[str, Any], now: float) -> dict[str, Any]:
    """Return the notes for the brain when its clock was found to have been ahead."""
    looked = {name: now for name in LOOKS if clock_ahead.is_ahead(stored.get(name), now)}
    return {**BEGIN, **looked, "clock_seen": now}


def go_on(tx: Tx, now: float, policy: Policy, spans: clock_ahead.Spans, revision: int) -> int:
    """Put the next pages or resources by key right, pages first. Return how many were read, 0 when the pass has ended.

    The brain is locked last. Two who work on the same pages do the same. Raises BegunAnew.
    """
    before = brain_state.stored(tx, revision, lock=False).get("putting_right")
    if before is None:
        return 0
    are_pages = before < AFTER_PAGES
    # Read the next ones, and put right those with a time in the future.
    ahead, last, seen = tx.one(
        "pages/ahead" if are_pages else "resources/ahead", after=before, limit=LOOKED_AT, now=now
    )
    if ahead and are_pages:
        _put_right(tx, sorted(ahead), policy, spans, now)
    elif ahead:
        resources.put_right(tx, ahead, policy.manners, spans.lease, now)
    # Pages come first, then resources; after these the pass has ended.
    if seen < LOOKED_AT:
        last = AFTER_PAGES if are_pages else None
    tx.one("brain/lock")
    tx.do("brain/note", notes=ENDED if last is None else {"putting_right": last})
    return max(int(seen), 1)


def _put_right(tx: Tx, ids: list[int], policy: Policy, spans: clock_ahead.Spans, now: float) -> None:
    """Write the times of these pages anew, and let their hosts be looked at when the first of them may be visited."""
    rows, moments, retries = [], [], []
    for page, host, queue, times in tx.one("pages/times", ids=ids)[0]:
        changed = clock_ahead.of_page(times, now, spans)
        if changed:
            rows.append([page, changed])
        if changed and queue is not None:
            since = changed.get("waiting_since", times["waiting_since"])
            ripe_at = float(policy.schedule.ripe_at(times["lane"], since))
            if queue == retry_queue(host):
                untried = changed.get("untried_since", times["untried_since"])
                retries.append((host, ripe_at if untried is None else max(ripe_at, untried + health.SOONEST)))
            else:
                moments.append((host, ripe_at))
    if names := {host for host, _ in (*moments, *retries)}:
        politeness.lock(tx, names, policy.manners)  # all of them at once, in order
    if moments:
        politeness.queues(tx, politeness.earliest(moments), policy.manners, now)
    if retries:
        politeness.file_retries(tx, politeness.earliest(retries), policy.manners, now)
    if rows:
        tx.do("pages/put_right", rows=rows)
