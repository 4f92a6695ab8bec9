"""Visits, recorded: their effect on change rates, on the places where their pages wait, and the end of their leases.

The last locks of a report are those of the hosts. Statements: visits/write, pages/respell.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from graphbrain.base.model import FOR_EVER, Failed, Fetched
from graphbrain.content.scope import Scope
from graphbrain.frontier import url_variants
from graphbrain.frontier.discovery import APART
from graphbrain.frontier.hosts import health, politeness
from graphbrain.frontier.hosts.politeness import HostEffects
from graphbrain.frontier.hosts.state import SHARED_QUEUE, HostState, PolitenessPolicy, retry_queue
from graphbrain.frontier.policy import Policy
from graphbrain.frontier.reports import facts
from graphbrain.frontier.reports.outcomes import Verdict, Visit, respells
from graphbrain.graph.connection import Tx
from graphbrain.schedule import fingerprints, lanes
from graphbrain.schedule.value import DAY
from graphbrain.scores.accounts.ledgers import Accounts

__all__ = [
    "Concluded",
    "Plan",
    "blamed",
    "conclude",
    "learn",
    "outside",
    "state_changes",
    "to_learn",
    "turns",
    "write",
]

Rows = Sequence[object]
"""The rows of a block of visits/write: internal ids, or [id, values …] each."""

FAILING = "failing"
EARLIEST = 631_152_000.0
"""The year 1990. A visit before is none that a rate of change could be learned from."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The times at which fetched pages come back: since when each waits that does, and from when on it may be visited.

    Beside them what was learned of their rates of change.
    """

    coming: Sequence[Verdict] = ()
    """The visits whose pages come back."""
    since: dict[int, float] = field(default_factory=dict)
    ripe_at: dict[int, float] = field(default_factory=dict)
    beliefs: list[list[object]] = field(default_factory=list)
    """[page, shape, scale] of what is believed of the rates of pages, where that is news"""
    first_again: list[list[object]] = field(default_factory=list)
    """[page, days, whether it had changed, or None] of pages that were visited for the second time"""


@dataclass(frozen=True, slots=True)
class Concluded:
    """The effect of the hosts on a batch of visits: the queues that their pages wait in, by the hosts' names, the hosts
    that had to be locked, as they are now, and the failures of pages."""

    queues: Mapping[str, str]
    hosts: Mapping[str, HostState]
    failures: Mapping[int, Failure]


@dataclass(frozen=True, slots=True)
class Failure:
    """The failure of a page, judged by its host's health (`graphbrain.frontier.hosts.health`).

    `errors`: failures in a row that it is to blame for; `refusals`: the refusals in a row; `since`: the time since
    which it has been failing; `parks`: it is given up, though the server did not report it missing; `waits_for_host`:
    it waits for nothing but its host.
    """

    errors: int
    refusals: int
    since: float
    parks: bool
    waits_for_host: bool


def outside(verdicts: Sequence[Verdict], ledger: Accounts, scope: Scope) -> set[int]:
    """Pages that were fetched and are outside the scope, by their depth as it is now."""
    fetched = [v.visit for v in _fetched(verdicts)]
    depths = ledger.depths_of([visit.page for visit in fetched])
    return {
        visit.page
        for visit, depth in zip(fetched, depths, strict=True)
        if not scope.holds(visit.url, visit.host, depth)
    }


def learn(
    tx: Tx, verdicts: Sequence[Verdict], beyond: Collection[int], ledger: Accounts, policy: Policy, now: float
) -> Plan:
    """Learn change rates from visits, and return where their pages wait to be fetched again.

    A page waits in a lane by value and by what is believed; or, with an interval, wanted at once from its end on. Pages
    that are `beyond` the scope do not wait.
    """
    seen = _fetched(verdicts)
    if not seen:
        return Plan()
    # Learn the rates, and read the values, of all fetched pages at once.
    places = dict(zip((v.visit.page for v in seen), ledger.at([v.visit.page for v in seen]).tolist(), strict=True))
    value, plan = ledger.weighed(tx, now), Plan()
    beliefs = _believe(seen, {page: float(value[index]) for page, index in places.items()}, policy, plan)
    by_worth, wanted = [], dict[int, int]()
    for verdict in seen:
        # An interval goes before the value; a page that waits no longer leaves the lane of those asked for.
        page, index = verdict.visit.page, places[verdict.visit.page]
        interval = verdict.visit.interval or policy.schedule.interval_of(verdict.visit.url)
        waits = page not in beyond and verdict.answer.outcome != "alias"
        if waits and interval:
            wanted[page] = lanes.ASKED
            plan.since[page] = verdict.item.at + interval * DAY
        elif waits and policy.rule.revisits:
            by_worth.append(page)
            plan.since[page] = verdict.item.at
        if page not in plan.since and ledger.lane[index] == lanes.ASKED:
            wanted[page] = int(lanes.frontier_lane(value[index]))
    if by_worth:
        # Others wait in the lane of their value and rate.
        shape, scale = np.array([beliefs[page] for page in by_worth]).T
        classes = lanes.revisit_lane(value[[places[page] for page in by_worth]], shape, scale)
        wanted |= zip(by_worth, classes.tolist(), strict=True)
    ledger.wait_in(wanted)
    ripe_at = policy.schedule.ripe_at(ledger.lane[[places[page] for page in plan.since]], list(plan.since.values()))
    plan.ripe_at.update(zip(plan.since, ripe_at.tolist(), strict=True))
    return replace(plan, coming=[v for v in seen if v.visit.page in plan.since])


def _believe(
    seen: Sequence[Verdict], value: Mapping[int, float], policy: Policy, plan: Plan
) -> dict[int, tuple[float, float]]:
    """Page → (shape, scale) of what is believed of its rate after this visit, in the `plan` where it is news."""
    schedule = policy.schedule
    ids = np.array([v.visit.page for v in seen])
    names, values = [v.visit.host for v in seen], np.array([value[page] for page in ids.tolist()])
    stored = np.array([(v.visit.rate_shape, v.visit.rate_scale) for v in seen], dtype=np.float64)
    days = np.array([np.nan if v.visit.fetched is None else (v.item.at - v.visit.fetched) / DAY for v in seen])
    changed = np.array([v.answer.outcome == "changed" for v in seen])
    # A first visit, or one without a comparison, is no evidence.
    is_evidence = np.array([_is_evidence(v) for v in seen]) & (days > 0.0)
    before = np.isnan(stored[:, 0])
    # Begin with the prior of the host, and update it by what was seen.
    first = np.column_stack(schedule.first_belief(names, values))
    belief = np.where(before[:, None], first, stored)
    if is_evidence.any():
        hosts_told = [name for name, tells in zip(names, is_evidence.tolist(), strict=True) if tells]
        shape, scale = schedule.after_visit(
            hosts_told,
            stored[is_evidence, 0],
            stored[is_evidence, 1],
            days[is_evidence],
            changed[is_evidence],
            values[is_evidence],
        )
        belief[is_evidence] = np.column_stack([shape, scale])
        plan.beliefs.extend(map(list, zip(ids[is_evidence].tolist(), shape.tolist(), scale.tolist(), strict=True)))
    # First revisits are kept apart: the priors are fitted to them.
    if (news := is_evidence & before).any():
        facts = zip(ids[news].tolist(), days[news].tolist(), changed[news].tolist(), strict=True)
        plan.first_again.extend([page, after, has_changed or None] for page, after, has_changed in facts)
    return {page: (shape, scale) for page, (shape, scale) in zip(ids.tolist(), belief.tolist(), strict=True)}


def _is_evidence(verdict: Verdict) -> bool:
    """Return whether the visit shows if the page has changed since the last one. It does not when the last one is dated
    before there was a web: the time between them is an error of some clock."""
    report, visit = verdict.item.report, verdict.visit
    if visit.first_fetched is None or not isinstance(report, Fetched) or verdict.answer.outcome == "alias":
        return False
    if verdict.item.walled or (visit.fetched or 0.0) < EARLIEST:
        return False
    compared = verdict.item.completeness != "some" and verdict.change.compares(visit.seen, verdict.item.seen)
    return report.not_modified or report.changed is not None or visit.state == "alias" or compared


def conclude(tx: Tx, verdicts: Sequence[Verdict], plan: Plan, policy: Policy, now: float) -> Concluded:
    """End the leases of the visits that count for their hosts, and find who is to blame for what failed: the
    transaction's last locks."""
    kept = [v for v in verdicts if v.keep]
    ripe_at = politeness.earliest((v.visit.host, plan.ripe_at.get(v.visit.page, now)) for v in plan.coming if v.own)
    failures: dict[int, Failure] = {}

    def retrying(locked: Mapping[str, HostState]) -> set[str]:
        failures.update((v.visit.page, _failure(v, locked.get(v.visit.host), policy, now)) for v in _failed(kept))
        return {v.visit.host for v in _failed(kept) if failures[v.visit.page].waits_for_host and _comes_back(v, policy)}

    concluded = politeness.conclude_and_hold(tx, _ends(kept, policy.manners), ripe_at, policy.manners, now, retrying)
    return Concluded(*concluded, failures)


def _failure(verdict: Verdict, host: HostState | None, policy: Policy, now: float) -> Failure:
    """Judge a failed visit: who is to blame, and the consequences. `host`: as it is after the batch, if it is
    locked."""
    item, visit = verdict.item, verdict.visit
    speaks_of_host = item.kind in ("refused", "broken", "silent")
    ill = speaks_of_host and host is not None and host.ill()
    own_fault = host is not None and host.is_own_fault(item.request(visit))
    # What failed while its host was ill is as if it had not failed before.
    spared = speaks_of_host and host is not None and not (visit.known_ill or host.is_evidence(visit.failed_before))
    since = item.at if spared or visit.failing_since is None else visit.failing_since
    # A host may refuse any page once.
    first = (spared or visit.failed_before is None) and item.kind != "refused"
    counts = not item.unsent and (not speaks_of_host or (not ill and (first or own_fault)))
    errors = (0 if spared else visit.errors) + (counts and not respells(item, visit))
    refusals = (0 if spared else visit.refusals) + (item.kind == "refused")
    given_up = item.unsent or (counts and errors >= policy.max_errors)
    parks = not item.missing and given_up and now - since >= policy.park_after
    return Failure(errors, refusals, since, parks, ill and not parks)


def blamed(verdicts: Sequence[Verdict], failures: Mapping[int, Failure]) -> list[Verdict]:
    """Return the same verdicts, with a remark in the answers to those whose pages are given up."""

    def parks(verdict: Verdict) -> bool:
        failure = failures.get(verdict.visit.page)
        return verdict.keep and failure is not None and failure.parks and verdict.visit.state != "alias"

    return [replace(v, answer=replace(v.answer, outcome="gone")) if parks(v) else v for v in verdicts]


def _failed(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """The visits that count and have failed."""
    return [v for v in verdicts if v.keep and isinstance(v.item.report, Failed)]


def write(
    tx: Tx,
    verdicts: Sequence[Verdict],
    plan: Plan,
    concluded: Concluded,
    beyond: Collection[int],
    now: float,
    policy: Policy,
    **given: Rows,
) -> None:
    """Record the visits on their pages: the content, the place where each waits, as its host requires, and the end of
    its lease. `beyond`: the pages outside the scope; `given`: further blocks of visits/write."""
    fetched, failed = _fetched(verdicts), _failed(verdicts)
    own = [v for v in fetched if v.own]
    busy = [v.visit.page for v in own if _is_busy(v.visit)]
    fails = [v.visit.page for v in failed]
    back = [v.visit.page for v in fetched if v.visit.state in ("parked", "gone") and v.answer.outcome != "alias"]
    # Without validators a page is fetched in full: its links are gone, or were never seen.
    full = [v.visit for v in failed if v.hollow or v.vanished]
    blocks: dict[str, Rows] = {
        "fetches": [_fetched_row(v, beyond) for v in fetched],
        "content": [row for v in fetched if (row := _content(v))],
        "validators": [row for v in fetched if (row := _validators(v))]
        + [[visit.page, None, None] for visit in full if (visit.etag, visit.last_modified) != (None, None)],
        "well": busy,
        "failing": [_failed_row(v, concluded, policy, now) for v in failed],
        # A request that was not sent is no attempt: the server's last answer stays.
        "failures": [[v.visit.page, v.item.report.status, v.item.at] for v in failed if not v.item.unsent],
        "causes": [[v.visit.page, _error(v), v.item.fault] for v in failed if not (v.item.unsent and _fails(v.visit))],
        "released": [v.visit.page for v in (*own, *failed) if v.answer.outcome != "slowed"],
        "slowed": [v.visit.page for v in failed if v.answer.outcome == "slowed"],
        "uncounted": busy + fails,
        "waits": [
            [v.visit.page, concluded.queues[v.visit.host] if v.own else None, plan.since[v.visit.page]]
            for v in plan.coming
        ],
        "recheck": [[page, None] for page in back]
        + [[v.visit.page, _look_at(v, concluded, now)] for v in failed if _is_looked_at(v)],
        "beliefs": plan.beliefs,
        "first_again": plan.first_again,
        "state_changes": state_changes(verdicts, beyond, concluded.failures),
        **facts.of_visits(verdicts),
        **given,
    }
    if sent := {name: rows for name, rows in blocks.items() if rows}:
        tx.do("visits/write", **sent)
    moved = [(v, v.item.spelling) for v in failed if v.item.spelling is not None and respells(v.item, v.visit)]
    if moved:
        rows = [url_variants.row_of(v.visit.page, url, v.visit.respelt + 1) for v, url in moved]
        tx.do("pages/respell", rows=rows, now=now)


def to_learn(verdicts: Sequence[Verdict], created_keys: Callable[[], Container[str]]) -> list[list[object]]:
    """Return the block of the first visits among these from which something can be learned of the sections of their
    hosts. Of visits at the same time the one that is reported first is the first.

    `created_keys`: returns the keys of the pages that these visits are the first to name. It is called where a visit
    has no sketch of a text.
    """
    first = [v for v in verdicts if v.keep and v.visit.first_fetched is None and _teaches(v)]
    created = created_keys() if any(v.item.seen.shingles is None for v in first) else ()
    return [[v.visit.page, v.item.at + APART * number, _shown(v, created)] for number, v in enumerate(first)]


def _shown(verdict: Verdict, created: Container[str]) -> str | None:
    """Return what a first visit shows of its page's content: a sketch of its text, else how many of its links lead to
    pages that were not known, as `+new/all`."""
    if verdict.item.seen.shingles is not None or not verdict.targets or verdict.answer.outcome == "alias":
        return verdict.item.seen.shingles
    return f"+{sum(key in created for key in verdict.targets)}/{len(verdict.targets)}"


def _teaches(verdict: Verdict) -> bool:
    """Return whether a first visit shows the yield of its section: by a text, links, a canonical, a redirect, or
    because the page is missing. A page that could not be fetched, though it may be there, shows nothing."""
    item = verdict.item
    if not isinstance(item.report, Fetched):
        return item.missing and not verdict.visit.errors
    alias, named = verdict.answer.outcome == "alias", bool(item.facts) and item.facts[1] is not None
    return not item.walled and (item.seen.shingles is not None or alias or named or bool(verdict.targets))


def _error(verdict: Verdict) -> str:
    report = verdict.item.report
    assert isinstance(report, Failed)
    return (report.error or (f"HTTP {report.status}" if report.status else "no answer"))[:200]


def _fails(visit: Visit) -> bool:
    """Return whether the last visit of the page failed."""
    return (visit.failed or 0.0) > (visit.fetched or 0.0)


def _fetched(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """The visits that count and have brought their pages."""
    return [v for v in verdicts if v.keep and isinstance(v.item.report, Fetched)]


def _ends(kept: Sequence[Verdict], manners: PolitenessPolicy) -> dict[str, HostEffects]:
    """Return the effects of visits on their hosts."""
    ends: dict[str, HostEffects] = {}
    for verdict in kept:
        visit, report, own = verdict.visit, verdict.item.report, verdict.own
        end = ends.setdefault(visit.host, HostEffects())
        first = isinstance(report, Fetched) and visit.first_fetched is None
        if (shown := verdict.shows) is not None:
            end.differences.append((visit.url, shown))
        if own and visit.counted:
            end.claims += 1
            end.claims_at.update([] if visit.counted_at is None else [visit.counted_at])
            end.successes.update([verdict.item.token] if isinstance(report, Fetched) else ())
        # A claim is charged with its page's first visit when it is made, and keeps the charge if one came of it.
        if own and visit.charged and visit.first_fetched is None and not first:
            end.spent -= 1
        elif first and not visit.charged and manners.counting:
            end.spent += 1
        kind = verdict.item.kind
        if kind == "well":
            end.well(verdict.item.asked_at, verdict.item.at)
            if visit.failing_since is not None and (spared_at := visit.spared_at) is not None:
                end.spared_at = max(end.spared_at or 0.0, spared_at)
        elif kind == "none":
            end.inconclusive = True
        else:
            end.failures.append(verdict.item.request(visit))
        end.unasked |= kind not in ("none", "silent") and not verdict.item.claimed
        end.seconds = report.seconds if report.seconds is not None else end.seconds
        end.address = verdict.item.address or end.address
    return ends


def _is_busy(visit: Visit) -> bool:
    """Return whether it is in a queue, a count, or the order of retries, or has left other traces that go with a
    visit."""
    failed = visit.failing_since is not None
    return visit.lease is None or visit.counted or failed or visit.respelt > 0


def _fetched_row(verdict: Verdict, beyond: Collection[int]) -> list[object]:
    item, visit, report = verdict.item, verdict.visit, verdict.item.report
    assert isinstance(report, Fetched)
    status = 304 if report.not_modified else report.status
    state = _state(verdict, beyond)
    return [visit.page, state, status, item.at, visit.visits + 1, item.token, verdict.answer.outcome]


def _state(verdict: Verdict, beyond: Collection[int] = ()) -> str:
    """The state that a visit which counts leaves its page in; `beyond`: of pages outside the scope."""
    item, visit, outcome = verdict.item, verdict.visit, verdict.answer.outcome
    if isinstance(item.report, Failed):
        after_failing = "gone" if item.missing else "parked"
        return after_failing if outcome == "gone" and visit.state != "gone" else visit.state
    if outcome == "alias":
        return "alias"
    return "outside" if visit.page in beyond else "known"


def turns(verdict: Verdict) -> bool:
    """Return whether an accepted visit makes its page a fetched page that exists, or ends that."""
    before = verdict.visit.first_fetched is not None and verdict.visit.state not in ("alias", "gone")
    is_fetched = verdict.visit.first_fetched is not None or isinstance(verdict.item.report, Fetched)
    return before != (is_fetched and _state(verdict) not in ("alias", "gone"))


def left_frontier(verdicts: Iterable[Verdict], beyond: Collection[int]) -> int:
    """Return how many pages waited to be fetched, and do so no more after these visits."""
    return sum(v.keep and v.visit.state == "frontier" and _state(v, beyond) != "frontier" for v in verdicts)


def state_changes(
    verdicts: Sequence[Verdict], beyond: Collection[int], failures: Mapping[int, Failure]
) -> list[list[object]]:
    """[id, what it was before, when] of pages that visits put into another state, or made fail, or ended that; a first
    fetch has a time of its own."""
    rows: list[list[object]] = []
    for v in verdicts:
        visit = v.visit
        # Since its last fetch it has failed, whatever has been forgiven since. An alias that was asked for again waits
        # as a page, and is one only if the visit shows it.
        freed = visit.last_outcome == "alias" and visit.state in ("frontier", "known")
        before = "alias" if freed else visit.state
        before = _or_failing(before, visit.turned is not None and visit.turned > (visit.fetched or 0.0))
        failure = failures.get(visit.page)
        away = visit.first_fetched is not None and failure is not None
        if failure is not None and before != FAILING:  # a failure that does not concern its page changes nothing
            refused = v.item.kind == "refused" or failure.waits_for_host
            away = away and not (refused or v.item.unsent or respells(v.item, visit))
        after = _or_failing(_state(v, beyond), away)
        if v.keep and after != before and (before, after) != ("frontier", "known"):
            rows.append([visit.page, before, v.item.at])
    return rows


def _or_failing(state: str, fails: bool) -> str:
    return FAILING if fails and state in ("known", "alias", "outside") else state


def _content(verdict: Verdict) -> list[object] | None:
    """Return the content to write, as of visits/write; None where the visit found what was known before.

    The hashes are those of the page as it was when it last changed, so that small steps add up to a change; what it
    did not have then is filled in. What is kept of its blocks is of this visit: of these no step is small.
    """
    item, visit, outcome = verdict.item, verdict.visit, verdict.answer.outcome
    old, new = visit.seen, item.seen
    blocks = fingerprints.following(old, new) if outcome != "alias" else old.blocks
    if outcome not in ("new", "changed"):
        new = fingerprints.unchanged(old, new)
    before = (visit.first_fetched is not None, old.body_hash, old.text_hash, old.simhash, old.blocks)
    if outcome != "changed" and before == (True, new.body_hash, new.text_hash, new.simhash, blocks):
        return None
    changed = item.at if outcome in ("new", "changed") else visit.changed
    changes = visit.changes + (outcome == "changed")
    first = visit.first_fetched or item.at
    return [visit.page, first, changed, changes or None, new.body_hash, new.text_hash, new.simhash, blocks]


def _validators(verdict: Verdict) -> list[object] | None:
    """Return the validators to send along next time, None where they stay; a 304 need not name those that do."""
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


def _comes_back(verdict: Verdict, policy: Policy) -> bool:
    """Return whether the page waits again after a failed visit. A page that was fetched before does only if it did
    before."""
    again = verdict.item.claimed or policy.rule.revisits
    return verdict.visit.state == "frontier" or (verdict.visit.state == "known" and again)


def _failed_row(verdict: Verdict, concluded: Concluded, policy: Policy, now: float) -> list[object]:
    """State and retry time of a page whose fetch failed."""
    item, visit, failure = verdict.item, verdict.visit, concluded.failures[verdict.visit.page]
    not_before, queue, outcome = None, None, verdict.answer.outcome
    if outcome != "gone" and _comes_back(verdict, policy):
        if respells(item, visit):
            queue = SHARED_QUEUE  # in the shared queue: it may have got another host
        elif failure.waits_for_host:
            queue = retry_queue(visit.host)
        else:
            not_before = now + _page_wait(verdict, failure, concluded.hosts, policy, now)
    return [
        visit.page, _state(verdict), failure.errors, not_before, queue, item.token, outcome, failure.refusals or None,
        failure.since, item.at if queue is not None else None,
    ]  # fmt: skip


def _page_wait(
    verdict: Verdict, failure: Failure, locked: Mapping[str, HostState], policy: Policy, now: float
) -> float:
    """Seconds after which a page is tried again that failed while its host is not ill."""
    item = verdict.item
    retry_after = min(item.retry_after or 0.0, policy.manners.longest_block)
    if item.missing:
        return max(retry_after, health.missing_wait(failure.errors))
    wait = health.page_wait(now - failure.since)
    if item.kind != "refused":
        return max(retry_after, wait)
    if failure.errors == 0:  # it may be its host: it waits behind the other pages of that
        wait = health.SOONEST
    # Most servers that ask once for a second mean it.
    if item.retry_after is not None and failure.refusals == 1:
        wait = min(wait, item.retry_after)
    blocked_until = locked[verdict.visit.host].blocked_until
    # Where a host is blocked until an operator lifts it, the page waits in its queue.
    return max(retry_after, wait, blocked_until - now if blocked_until < FOR_EVER else 0.0)


def _is_looked_at(verdict: Verdict) -> bool:
    """Return whether the page is parked because it failed, or was gone before, so that a look at it has just failed."""
    if verdict.visit.state in ("parked", "gone"):
        return True
    return verdict.answer.outcome == "gone" and not verdict.item.missing and verdict.visit.state != "alias"


def _look_at(verdict: Verdict, concluded: Concluded, now: float) -> float | None:
    """Return when a page that was given up is looked at again; None: when a hint names it."""
    if _state(verdict) == "gone":
        return None
    return now + health.look_wait(now - concluded.failures[verdict.visit.page].since)
