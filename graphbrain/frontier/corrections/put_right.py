"""A pass over all pages and resources that corrects times which the server's clock wrote while it was ahead.

The rules are those of `graphbrain.frontier.hosts.clock_ahead`. The progress is stored on the brain, so that any process
can continue the pass. Another pass corrects hosts (`frontier.hosts.admin.review`). It ends sooner, because a crawl
waits for it. Statements: pages/ahead, pages/times, pages/put_right, resources/ahead, brain/lock, brain/note.
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
"""The properties of the brain when all pages are corrected. Hosts are reviewed once more, with the corrected times of
their pages."""
NO_TIME: Mapping[str, Any] = {"clock_seen": None, "putting_right": None}
"""The properties of the brain of an empty graph."""
LOOKS = ("prior_tried", "payout_looked")
"""The properties of the brain with the times of periodic checks."""
LOOKED_AT = 2_000
AFTER_PAGES = "g"
"""A text between the keys of pages, which are hex digits, and those of resources, which begin with a kind."""


def begun(stored: Mapping[str, Any], now: float) -> dict[str, Any]:
    """Return the changed properties of the brain when the passes begin."""
    checks = {name: now for name in LOOKS if clock_ahead.is_ahead(stored.get(name), now)}
    return {**BEGIN, **checks, "clock_seen": now}


def go_on(tx: Tx, now: float, policy: Policy, spans: clock_ahead.Spans, revision: int) -> int:
    """Correct the next pages or resources in the order of their keys. Return the number that was read, 0 at the end.

    The brain is locked last. Two processes that work on the same pages write the same. Raises BegunAnew.
    """
    before = brain_state.stored(tx, revision, lock=False).get("putting_right")
    if before is None:
        return 0
    are_pages = before < AFTER_PAGES
    # Read the next ones, and correct those with a time in the future.
    ahead, last, count = tx.one(
        "pages/ahead" if are_pages else "resources/ahead", after=before, limit=LOOKED_AT, now=now
    )
    if ahead and are_pages:
        _put_right(tx, sorted(ahead), policy, spans, now)
    elif ahead:
        resources.put_right(tx, ahead, policy.manners, spans.lease, now)
    # Continue with the resources after the last page, and end after the last resource.
    if count < LOOKED_AT:
        last = AFTER_PAGES if are_pages else None
    tx.one("brain/lock")
    tx.do("brain/note", notes=ENDED if last is None else {"putting_right": last})
    return max(int(count), 1)


def _put_right(tx: Tx, ids: list[int], policy: Policy, spans: clock_ahead.Spans, now: float) -> None:
    """Write the corrected times of pages, and note on their hosts when the first of these may be visited."""
    # Correct the times, and find from when on the pages that wait may be visited.
    rows, ripe_times, retry_times = [], [], []
    for page, host, queue, times in tx.one("pages/times", ids=ids)[0]:
        changed = clock_ahead.of_page(times, now, spans)
        if changed:
            rows.append([page, changed])
        if changed and queue is not None:
            since = changed.get("waiting_since", times["waiting_since"])
            ripe_at = float(policy.schedule.ripe_at(times["lane"], since))
            if queue == retry_queue(host):
                untried = changed.get("untried_since", times["untried_since"])
                retry_times.append((host, ripe_at if untried is None else max(ripe_at, untried + health.SOONEST)))
            else:
                ripe_times.append((host, ripe_at))
    # Lock all hosts at once, in the order of their names, and note these times.
    if names := {host for host, _ in (*ripe_times, *retry_times)}:
        politeness.lock(tx, names, policy.manners)
    if ripe_times:
        politeness.queues(tx, politeness.earliest(ripe_times), policy.manners, now)
    if retry_times:
        politeness.file_retries(tx, politeness.earliest(retry_times), policy.manners, now)
    if rows:
        tx.do("pages/put_right", rows=rows)
