"""The effects of visits on change rates, on the lanes and queues of their pages, and on leases and hosts.

The hosts are the last locks of a report. Statements: visits/write, pages/respell.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress

import numpy as np

from graphbrain.base.model import FOR_EVER, PARTS, Failed, Fetched
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
from graphbrain.schedule import fingerprints, lanes, parts
from graphbrain.schedule.value import DAY
from graphbrain.scores.accounts.ledgers import Accounts

__all__ = ["Written", "record", "turns"]

Rows = Sequence[object]
"""The rows of a block of visits/write. Each row is an internal id or [id, values …]."""

FAILING = "failing"
EARLIEST = 631_152_000.0
"""The year 1990, in epoch seconds. A visit with an earlier time shows nothing about change rates."""


@dataclass(frozen=True, slots=True)
class Written:
    """Visits that were written: the verdicts on them, and the number of pages that left the frontier by them."""

    verdicts: Sequence[Verdict]
    departures: int


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of revisits after a batch of visits.

    Attributes:
        coming: The visits whose pages wait for a revisit.
        since: Page → the time since which it waits (epoch seconds).
        ripe_at: Page → the time from which it is due.
        beliefs: Rows [page, shape, scale] of beliefs on change rates that have changed.
        first_again: Rows [page, days since the first visit, True or None] of pages with their second visit; True if the
            page had changed.
    """

    coming: Sequence[Verdict] = ()
    since: dict[int, float] = field(default_factory=dict)
    ripe_at: dict[int, float] = field(default_factory=dict)
    beliefs: list[list[object]] = field(default_factory=list)
    first_again: list[list[object]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Concluded:
    """The effects of hosts on a batch of visits.

    Attributes:
        queues: Name of a host → the queue in which its pages wait.
        hosts: The locked hosts, as they are after the batch.
        failures: Page → its failure.
    """

    queues: Mapping[str, str]
    hosts: Mapping[str, HostState]
    failures: Mapping[int, Failure]


@dataclass(frozen=True, slots=True)
class Failure:
    """The failure of a page, judged by its host's health (`graphbrain.frontier.hosts.health`).

    Attributes:
        errors: The number of failures in a row that are faults of the page.
        refusals: The number of refusals in a row.
        since: The time since which the page has been failing.
        parks: True if the page is parked, though the server did not report it missing.
        waits_for_host: True if the page waits only until its host is well.
    """

    errors: int
    refusals: int
    since: float
    parks: bool
    waits_for_host: bool


def record(
    tx: Tx,
    verdicts: Sequence[Verdict],
    created_keys: Callable[[], Container[str]],
    ledger: Accounts,
    policy: Policy,
    now: float,
    **given: Rows,
) -> Written:
    """Write visits and the accounts of all locked pages. The hosts are locked last.

    `created_keys`: returns the keys of the pages that the visits have created; `given`: further blocks of
    visits/write.
    """
    # Compute the lanes of the pages from their new worth.
    beyond = _outside(verdicts, ledger, policy.scope)
    plan = _learn(tx, verdicts, beyond, ledger, policy, now)
    ledger.write(tx, now)
    # Lock the hosts, and judge the failures by them.
    concluded = _conclude(tx, verdicts, plan, policy, now)
    final = _blamed(verdicts, concluded.failures) if concluded.failures else verdicts
    # Write the visits.
    if policy.sections:
        given["to_learn"] = _to_learn(final, created_keys)
    _write(tx, final, plan, concluded, beyond, now, policy, given)
    departures = sum(v.keep and v.visit.state == "frontier" and _state(v, beyond) != "frontier" for v in final)
    return Written(final, departures)


def _outside(verdicts: Sequence[Verdict], ledger: Accounts, scope: Scope) -> set[int]:
    """Return the fetched pages that are outside the scope by their present depths."""
    fetched = [v.visit for v in _fetched(verdicts)]
    depths = ledger.depths_of([visit.page for visit in fetched])
    return {
        visit.page
        for visit, depth in zip(fetched, depths, strict=True)
        if not scope.holds(visit.url, visit.host, depth)
    }


def _learn(
    tx: Tx, verdicts: Sequence[Verdict], beyond: Collection[int], ledger: Accounts, policy: Policy, now: float
) -> Plan:
    """Learn change rates from visits, and put their pages into lanes. Return the plan of their revisits.

    A page waits in the lane of its value and belief. A page with an interval waits in the first lane, and is due when
    the interval is over. Pages in `beyond` are outside the scope and do not wait.
    """
    fetched = _fetched(verdicts)
    if not fetched:
        return Plan()
    # Learn the rates, and read the values, of all fetched pages at once.
    pages = [v.visit.page for v in fetched]
    index_of = dict(zip(pages, ledger.at(pages).tolist(), strict=True))
    value, plan = ledger.weighed(tx, now), Plan()
    beliefs = _believe(fetched, {page: float(value[index]) for page, index in index_of.items()}, policy, plan)
    # A page waits by its interval, or else by its worth. A page that does not wait leaves the first lane.
    by_worth, lane_of = [], dict[int, int]()
    for verdict in fetched:
        page, index = verdict.visit.page, index_of[verdict.visit.page]
        interval = verdict.visit.interval or policy.schedule.interval_of(verdict.visit.url)
        is_waiting = page not in beyond and verdict.answer.outcome != "alias"
        if is_waiting and interval:
            lane_of[page] = lanes.ASKED
            plan.since[page] = verdict.item.at + interval * DAY
        elif is_waiting and policy.rule.revisits:
            by_worth.append(page)
            plan.since[page] = verdict.item.at
        if page not in plan.since and ledger.lane[index] == lanes.ASKED:
            lane_of[page] = int(lanes.frontier_lane(value[index]))
    # Compute the lanes of the pages that wait by their worth.
    if by_worth:
        shape, scale = np.array([beliefs[page] for page in by_worth]).T
        numbers = lanes.revisit_lane(value[[index_of[page] for page in by_worth]], shape, scale)
        lane_of |= zip(by_worth, numbers.tolist(), strict=True)
    ledger.wait_in(lane_of)
    # Find the times from which they are due.
    ripe_at = policy.schedule.ripe_at(ledger.lane[[index_of[page] for page in plan.since]], list(plan.since.values()))
    plan.ripe_at.update(zip(plan.since, ripe_at.tolist(), strict=True))
    return replace(plan, coming=[v for v in fetched if v.visit.page in plan.since])


def _believe(
    fetched: Sequence[Verdict], value: Mapping[int, float], policy: Policy, plan: Plan
) -> dict[int, tuple[float, float]]:
    """Return page → (shape, scale), the belief on its rate after this visit. Add changed beliefs to `plan`."""
    schedule = policy.schedule
    # The facts of the visits, by column.
    ids = np.array([v.visit.page for v in fetched])
    hosts, values = [v.visit.host for v in fetched], np.array([value[page] for page in ids.tolist()])
    stored = np.array([(v.visit.rate_shape, v.visit.rate_scale) for v in fetched], dtype=np.float64)
    days = np.array([np.nan if v.visit.fetched is None else (v.item.at - v.visit.fetched) / DAY for v in fetched])
    changed = np.array([v.answer.outcome == "changed" for v in fetched])
    # A first visit, or one without a comparison, is no evidence.
    is_evidence = np.array([_is_evidence(v) for v in fetched]) & (days > 0.0)
    has_no_belief = np.isnan(stored[:, 0])
    # Begin with the prior of the host, and update it by the evidence.
    prior = np.column_stack(schedule.first_belief(hosts, values))
    belief = np.where(has_no_belief[:, None], prior, stored)
    if is_evidence.any():
        hosts_of_evidence = list(compress(hosts, is_evidence.tolist()))
        shape, scale = schedule.after_visit(
            hosts_of_evidence,
            stored[is_evidence, 0],
            stored[is_evidence, 1],
            days[is_evidence],
            changed[is_evidence],
            values[is_evidence],
        )
        belief[is_evidence] = np.column_stack([shape, scale])
        plan.beliefs.extend(map(list, zip(ids[is_evidence].tolist(), shape.tolist(), scale.tolist(), strict=True)))
    # First revisits are stored by themselves, since the priors are fitted to them.
    if (is_first := is_evidence & has_no_belief).any():
        rows = zip(ids[is_first].tolist(), days[is_first].tolist(), changed[is_first].tolist(), strict=True)
        plan.first_again.extend([page, after, has_changed or None] for page, after, has_changed in rows)
    return {page: (shape, scale) for page, (shape, scale) in zip(ids.tolist(), belief.tolist(), strict=True)}


def _is_evidence(verdict: Verdict) -> bool:
    """Return whether the visit shows if the page has changed since its last visit. It does not if the time of the last
    visit is before 1990: such a time is an error of a clock."""
    report, visit = verdict.item.report, verdict.visit
    if visit.first_fetched is None or not isinstance(report, Fetched) or verdict.answer.outcome == "alias":
        return False
    if verdict.item.walled or (visit.fetched or 0.0) < EARLIEST:
        return False
    compared = verdict.item.completeness != "some" and verdict.change.compares(visit.seen, verdict.item.seen)
    return report.not_modified or report.changed is not None or visit.state == "alias" or compared


def _conclude(tx: Tx, verdicts: Sequence[Verdict], plan: Plan, policy: Policy, now: float) -> Concluded:
    """Lock the hosts, the last locks of the transaction; apply the visits to them, and judge the failures of pages by
    their health."""
    accepted = [v for v in verdicts if v.keep]
    ripe_at = politeness.earliest((v.visit.host, plan.ripe_at.get(v.visit.page, now)) for v in plan.coming if v.own)
    failures: dict[int, Failure] = {}

    def retrying(locked: Mapping[str, HostState]) -> set[str]:
        # Return the hosts for which failed pages wait, after judging all failures by the locked hosts.
        failed = _failed(accepted)
        failures.update((v.visit.page, _failure(v, locked.get(v.visit.host), policy, now)) for v in failed)
        return {v.visit.host for v in failed if failures[v.visit.page].waits_for_host and _comes_back(v, policy)}

    effects = _ends(accepted, policy.manners)
    concluded = politeness.conclude_and_hold(tx, effects, ripe_at, policy.manners, now, retrying)
    return Concluded(*concluded, failures)


def _failure(verdict: Verdict, host: HostState | None, policy: Policy, now: float) -> Failure:
    """Judge whether a failed visit is a fault of its page or of its host, and return the consequences. `host`: the host
    after the batch, if it is locked."""
    item, visit = verdict.item, verdict.visit
    may_be_host = item.kind in ("refused", "broken", "silent")
    is_ill = may_be_host and host is not None and host.ill()
    is_own_fault = host is not None and host.is_own_fault(item.request(visit))
    # Forget the page's earlier failures if they happened while the host was ill.
    forgets = may_be_host and host is not None and not (visit.known_ill or host.is_evidence(visit.failed_before))
    since = item.at if forgets or visit.failing_since is None else visit.failing_since
    # A first failure counts against the page, unless it is a refusal: a host may refuse any page once.
    is_first = (forgets or visit.failed_before is None) and item.kind != "refused"
    counts = not item.unsent and (not may_be_host or (not is_ill and (is_first or is_own_fault)))
    errors = (0 if forgets else visit.errors) + (counts and not respells(item, visit))
    refusals = (0 if forgets else visit.refusals) + (item.kind == "refused")
    # Park the page after enough errors and enough time.
    is_given_up = item.unsent or (counts and errors >= policy.max_errors)
    parks = not item.missing and is_given_up and now - since >= policy.park_after
    return Failure(errors, refusals, since, parks, is_ill and not parks)


def _blamed(verdicts: Sequence[Verdict], failures: Mapping[int, Failure]) -> list[Verdict]:
    """Return the verdicts; the outcome of a visit whose page is parked becomes `gone`."""

    def parks(verdict: Verdict) -> bool:
        failure = failures.get(verdict.visit.page)
        return verdict.keep and failure is not None and failure.parks and verdict.visit.state != "alias"

    return [replace(v, answer=replace(v.answer, outcome="gone")) if parks(v) else v for v in verdicts]


def _failed(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """Return the accepted visits that have failed."""
    return [v for v in verdicts if v.keep and isinstance(v.item.report, Failed)]


def _write(
    tx: Tx,
    verdicts: Sequence[Verdict],
    plan: Plan,
    concluded: Concluded,
    beyond: Collection[int],
    now: float,
    policy: Policy,
    given: Mapping[str, Rows],
) -> None:
    """Record the visits on their pages: their content, the queue in which each waits, and the end of its lease.
    `beyond`: the pages outside the scope; `given`: further blocks of visits/write."""
    fetched, failed = _fetched(verdicts), _failed(verdicts)
    own = [v for v in fetched if v.own]
    busy = [v.visit.page for v in own if _is_busy(v.visit)]
    failed_pages = [v.visit.page for v in failed]
    returned = [v.visit.page for v in fetched if v.visit.state in ("parked", "gone") and v.answer.outcome != "alias"]
    # A page whose links are not stored loses its validators, so that the next visit fetches it in full.
    full = [v.visit for v in failed if v.hollow or v.vanished]
    # Collect the rows of all blocks, and write them in one statement.
    blocks: dict[str, Rows] = {
        "fetches": [_fetched_row(v, beyond) for v in fetched],
        "content": [row for v in fetched if (row := _content(v))],
        "validators": [row for v in fetched if (row := _validators(v))]
        + [[visit.page, None, None] for visit in full if (visit.etag, visit.last_modified) != (None, None)],
        "well": busy,
        "failing": [_failed_row(v, concluded, policy, now) for v in failed],
        # A request that was not sent has no answer: the server's last answer stays.
        "failures": [[v.visit.page, v.item.report.status, v.item.at] for v in failed if not v.item.unsent],
        "causes": [[v.visit.page, _error(v), v.item.fault] for v in failed if not (v.item.unsent and _fails(v.visit))],
        "released": [v.visit.page for v in (*own, *failed) if v.answer.outcome != "slowed"],
        "slowed": [v.visit.page for v in failed if v.answer.outcome == "slowed"],
        "uncounted": busy + failed_pages,
        "waits": [
            [v.visit.page, concluded.queues[v.visit.host] if v.own else None, plan.since[v.visit.page]]
            for v in plan.coming
        ],
        "recheck": [[page, None] for page in returned]
        + [[v.visit.page, _look_at(v, concluded, now)] for v in failed if _is_looked_at(v)],
        "beliefs": plan.beliefs,
        "first_again": plan.first_again,
        "state_changes": _state_changes(verdicts, beyond, concluded.failures),
        **facts.of_visits(verdicts),
        **given,
    }
    if filled := {name: rows for name, rows in blocks.items() if rows}:
        tx.do("visits/write", **filled)
    # Pages that redirect to another spelling of their URL take that as their address.
    respelled = [(v, v.item.spelling) for v in failed if v.item.spelling is not None and respells(v.item, v.visit)]
    if respelled:
        rows = [url_variants.row_of(v.visit.page, url, v.visit.respelt + 1, policy.rule) for v, url in respelled]
        tx.do("pages/respell", rows=rows, now=now)


def _to_learn(verdicts: Sequence[Verdict], created_keys: Callable[[], Container[str]]) -> list[list[object]]:
    """Return the block of first visits from which sections can be learned, in the order of the reports.

    `created_keys`: returns the keys of the pages that these visits have created. It is called only if a visit has no
    sketch of a text.
    """
    first = [v for v in verdicts if v.keep and v.visit.first_fetched is None and _teaches(v)]
    created = created_keys() if any(v.item.seen.shingles is None for v in first) else ()
    return [[v.visit.page, v.item.at + APART * number, _shown(v, created)] for number, v in enumerate(first)]


def _shown(verdict: Verdict, created: Container[str]) -> str | None:
    """Return the yield of a first visit: a sketch of its text; without a text, the number of its links to created pages
    and of all its links, as `+new/all`."""
    if verdict.item.seen.shingles is not None or not verdict.targets or verdict.answer.outcome == "alias":
        return verdict.item.seen.shingles
    return f"+{sum(key in created for key in verdict.targets)}/{len(verdict.targets)}"


def _teaches(verdict: Verdict) -> bool:
    """Return whether a first visit shows the yield of its section: it has a text, links, a canonical or a redirect, or
    the page is missing. Any other failure shows nothing."""
    item = verdict.item
    if not isinstance(item.report, Fetched):
        return item.missing and not verdict.visit.errors
    is_alias, has_canonical = verdict.answer.outcome == "alias", bool(item.facts) and item.facts[1] is not None
    return not item.walled and (item.seen.shingles is not None or is_alias or has_canonical or bool(verdict.targets))


def _error(verdict: Verdict) -> str:
    report = verdict.item.report
    assert isinstance(report, Failed)
    return (report.error or (f"HTTP {report.status}" if report.status else "no answer"))[:200]


def _fails(visit: Visit) -> bool:
    """Return whether the last visit of the page failed."""
    return (visit.failed or 0.0) > (visit.fetched or 0.0)


def _fetched(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Return the accepted visits that have fetched their pages."""
    return [v for v in verdicts if v.keep and isinstance(v.item.report, Fetched)]


def _ends(accepted: Sequence[Verdict], manners: PolitenessPolicy) -> dict[str, HostEffects]:
    """Return the effects of accepted visits on their hosts."""
    effects_of: dict[str, HostEffects] = {}
    for verdict in accepted:
        visit, report, own = verdict.visit, verdict.item.report, verdict.own
        effects = effects_of.setdefault(visit.host, HostEffects())
        is_first = isinstance(report, Fetched) and visit.first_fetched is None
        if (differences := verdict.shows) is not None:
            effects.differences.append((visit.url, differences))
        # The claim ends.
        if own and visit.counted:
            effects.claims += 1
            effects.claims_at.update([] if visit.counted_at is None else [visit.counted_at])
            effects.successes.update([verdict.item.token] if isinstance(report, Fetched) else ())
        # The claim was charged to the budget in advance. Take the charge back unless the visit was the first fetch.
        if own and visit.charged and visit.first_fetched is None and not is_first:
            effects.spent -= 1
        elif is_first and not visit.charged and manners.counting:
            effects.spent += 1
        # The visit is evidence on the health of the host.
        kind = verdict.item.kind
        if kind == "well":
            effects.well(verdict.item.asked_at, verdict.item.at)
            if visit.failing_since is not None and (spared_at := visit.spared_at) is not None:
                effects.spared_at = max(effects.spared_at or 0.0, spared_at)
        elif kind == "none":
            effects.inconclusive = True
        else:
            effects.failures.append(verdict.item.request(visit))
        effects.unasked |= kind not in ("none", "silent") and not verdict.item.claimed
        effects.seconds = report.seconds if report.seconds is not None else effects.seconds
        effects.address = verdict.item.address or effects.address
    return effects_of


def _is_busy(visit: Visit) -> bool:
    """Return whether a successful visit must remove properties of the page: those of a queue, a count, a failure or a
    respelling."""
    is_failing = visit.failing_since is not None
    return visit.lease is None or visit.counted or is_failing or visit.respelt > 0


def _fetched_row(verdict: Verdict, beyond: Collection[int]) -> list[object]:
    item, visit, report = verdict.item, verdict.visit, verdict.item.report
    assert isinstance(report, Fetched)
    status = 304 if report.not_modified else report.status
    state = _state(verdict, beyond)
    return [visit.page, state, status, item.at, visit.visits + 1, item.token, verdict.answer.outcome]


def _state(verdict: Verdict, beyond: Collection[int] = ()) -> str:
    """Return the state of the page after an accepted visit. `beyond`: the pages outside the scope."""
    item, visit, outcome = verdict.item, verdict.visit, verdict.answer.outcome
    if isinstance(item.report, Failed):
        state = "gone" if item.missing else "parked"
        return state if outcome == "gone" and visit.state != "gone" else visit.state
    if outcome == "alias":
        return "alias"
    return "outside" if visit.page in beyond else "known"


def turns(verdict: Verdict) -> bool:
    """Return whether an accepted visit changes its page from or to a fetched page that exists and is no alias."""
    was_page = verdict.visit.first_fetched is not None and verdict.visit.state not in ("alias", "gone")
    is_fetched = verdict.visit.first_fetched is not None or isinstance(verdict.item.report, Fetched)
    return was_page != (is_fetched and _state(verdict) not in ("alias", "gone"))


def _state_changes(
    verdicts: Sequence[Verdict], beyond: Collection[int], failures: Mapping[int, Failure]
) -> list[list[object]]:
    """Return rows [id, state before, time of the visit] of pages whose state changes by a visit. `failing` counts as a
    state. A first fetch is left out, since the page stores its time elsewhere."""
    rows: list[list[object]] = []
    for v in verdicts:
        visit = v.visit
        # The state before the visit. An alias that waits for another visit as a page was still an alias.
        is_freed_alias = visit.last_outcome == "alias" and visit.state in ("frontier", "known")
        before = "alias" if is_freed_alias else visit.state
        before = _or_failing(before, visit.turned is not None and visit.turned > (visit.fetched or 0.0))
        # The state after it. A failure that is no fault of the page does not make it `failing`.
        failure = failures.get(visit.page)
        fails = visit.first_fetched is not None and failure is not None
        if failure is not None and before != FAILING:
            is_host_fault = v.item.kind == "refused" or failure.waits_for_host
            fails = fails and not (is_host_fault or v.item.unsent or respells(v.item, visit))
        after = _or_failing(_state(v, beyond), fails)
        if v.keep and after != before and (before, after) != ("frontier", "known"):
            rows.append([visit.page, before, v.item.at])
    return rows


def _or_failing(state: str, fails: bool) -> str:
    return FAILING if fails and state in ("known", "alias", "outside") else state


def _content(verdict: Verdict) -> list[object] | None:
    """Return the row of content for visits/write; None if the visit found the stored content.

    The stored hashes are those of the last change, so that several small changes add up to a change; missing hashes are
    added. The stored blocks are those of this visit.
    """
    item, visit, outcome = verdict.item, verdict.visit, verdict.answer.outcome
    old, new = visit.seen, item.seen
    blocks = fingerprints.following(old, new) if outcome != "alias" else old.blocks
    page_parts = parts.following(old.parts, new.parts)
    if outcome != "new" and PARTS[0] not in verdict.answer.changed_in:
        new = fingerprints.unchanged(old, new)
    # Write nothing if all of them are stored.
    stored = (visit.first_fetched is not None, old.body_hash, old.text_hash, old.simhash, old.blocks, old.parts)
    if outcome != "changed" and stored == (True, new.body_hash, new.text_hash, new.simhash, blocks, page_parts):
        return None
    changed = item.at if outcome in ("new", "changed") else visit.changed
    changes = visit.changes + (outcome == "changed")
    first = visit.first_fetched or item.at
    changed_in = list(verdict.answer.changed_in if outcome == "changed" else visit.changed_in or ())
    hashes = [new.body_hash, new.text_hash, new.simhash]
    return [visit.page, first, changed, changes or None, *hashes, blocks, page_parts, changed_in or None]


def _validators(verdict: Verdict) -> list[object] | None:
    """Return the row of validators for the next request; None if they stay. A 304 without validators keeps the stored
    ones."""
    report, visit = verdict.item.report, verdict.visit
    assert isinstance(report, Fetched)
    etag, modified = report.etag, report.last_modified
    if verdict.answer.outcome == "alias":
        etag = modified = None  # with validators of a redirect, the server could answer 304 and hide a new page
    elif report.not_modified:
        etag, modified = etag or visit.etag, modified or visit.last_modified
    if (etag, modified) == (visit.etag, visit.last_modified):
        return None
    return [visit.page, etag, modified]


def _comes_back(verdict: Verdict, policy: Policy) -> bool:
    """Return whether the page waits again after a failed visit. A fetched page does if it was claimed, or if the order
    has revisits."""
    has_revisits = verdict.item.claimed or policy.rule.revisits
    return verdict.visit.state == "frontier" or (verdict.visit.state == "known" and has_revisits)


def _failed_row(verdict: Verdict, concluded: Concluded, policy: Policy, now: float) -> list[object]:
    """Return the row of the block `failing` of visits/write: the state, and the queue or the time of the next try."""
    item, visit, failure = verdict.item, verdict.visit, concluded.failures[verdict.visit.page]
    not_before, queue, outcome = None, None, verdict.answer.outcome
    if outcome != "gone" and _comes_back(verdict, policy):
        if respells(item, visit):
            queue = SHARED_QUEUE  # not the queue of its host: the other spelling may have another host
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
    """Return the seconds before the next attempt at a page that failed while its host is not ill."""
    item = verdict.item
    retry_after = min(item.retry_after or 0.0, policy.manners.longest_block)
    if item.missing:
        return max(retry_after, health.missing_wait(failure.errors))
    wait = health.page_wait(now - failure.since)
    if item.kind != "refused":
        return max(retry_after, wait)
    # A refusal without errors of the page may concern the host. A first Retry-After is taken literally.
    if failure.errors == 0:
        wait = health.SOONEST
    if item.retry_after is not None and failure.refusals == 1:
        wait = min(wait, item.retry_after)
    # Wait for the end of a back-off of the host. A block without end does not count, since an operator lifts it.
    blocked_until = locked[verdict.visit.host].blocked_until
    return max(retry_after, wait, blocked_until - now if blocked_until < FOR_EVER else 0.0)


def _is_looked_at(verdict: Verdict) -> bool:
    """Return whether a failed visit must set the time of the next recheck: its page becomes parked, or was parked or
    gone before."""
    if verdict.visit.state in ("parked", "gone"):
        return True
    return verdict.answer.outcome == "gone" and not verdict.item.missing and verdict.visit.state != "alias"


def _look_at(verdict: Verdict, concluded: Concluded, now: float) -> float | None:
    """Return the time of the next recheck of a parked page; None for a gone page, which only a hint brings back."""
    if _state(verdict) == "gone":
        return None
    return now + health.look_wait(now - concluded.failures[verdict.visit.page].since)
