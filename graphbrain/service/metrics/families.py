"""The metrics, each with its name, help and labels, by Prometheus' naming: base units, and no unbounded label.

Labels are states, outcomes, verbs, statements and kinds of errors, never a URL, a host or a caller.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from graphbrain.analyst.inspect.figures import COUNTS, Counted, Quick
from graphbrain.base.model import OUTCOMES, STATES
from graphbrain.base.runtime.timings import BOUNDS, Observations
from graphbrain.service.metrics.sampling import Sample

__all__ = ["CrewFigures", "of_observed", "of_sample", "of_workers"]

COUNTERS = {
    "visits": ("graphbrain_visits", "Visits that were reported and accepted, failed ones among them."),
    "links": ("graphbrain_reported_links", "Links in the reports of these visits."),
    "claims": ("graphbrain_claims", "Pages claimed by crawlers."),
    "pushes": ("graphbrain_pushes", "Sides of pages whose cash was passed on."),
    "payments": ("graphbrain_payments", "Payments made by pushes."),
    "retries": ("graphbrain_retries", "Transactions that were run again, by all who use the brain."),
    "lapsed": ("graphbrain_leases_lapsed", "Leases that have lapsed, and were taken back, of all kinds."),
    "found": ("graphbrain_found_pages", "New pages that reports have found and that wait to be fetched."),
    "left": ("graphbrain_left_pages", "Pages that waited, and that reports have fetched or found missing."),
}
"""Count of a worker → the counter's name and help."""


@dataclass(frozen=True, slots=True)
class CrewFigures:
    """Worker processes: the intended number, the running number, and the number of restarts."""

    wanted: int
    running: int
    restarts: int


def of_sample(sample: Sample) -> Iterator[Metric]:
    """Yield the metrics of the graph, which are the same in every process that samples it."""
    # When the last samples were taken, and how long they took.
    yield _gauge("up", "1 if the graph answered at the last sample, else 0.", float(sample.quick is not None))
    moments = GaugeMetricFamily(
        "graphbrain_sample_timestamp_seconds",
        "When the figures were last sampled: quick ones, and those that every page is read for.",
        labels=["sample"],
    )
    took = GaugeMetricFamily(
        "graphbrain_sample_duration_seconds", "How long the last sample has taken.", labels=["sample"]
    )
    for kind, at, seconds in (("quick", sample.at, sample.took), ("scan", sample.scanned_at, sample.scan_took)):
        if at is not None:
            moments.add_metric([kind], at)
            took.add_metric([kind], seconds)
    yield from (moments, took)
    # The figures of these samples, where the graph has answered.
    if sample.quick is None:
        return
    yield from _of_quick(sample)
    if sample.scanned is not None:
        yield from _of_scan(sample)


def _of_quick(sample: Sample) -> Iterator[Metric]:
    quick, counted = sample.quick, sample.counted
    assert quick is not None
    assert counted is not None
    # Sizes, leases and processes.
    yield _gauge("known_pages", "Pages in the graph, in any state, those outside the scope included.", quick.pages)
    yield _gauge("links", "Links in the graph.", quick.links)
    yield _gauge(
        "leases", "Pages that crawlers hold, those with a lapsed lease not among them.", quick.leases - quick.lapsed
    )
    yield _gauge("leases_overdue", "Leases that have lapsed and were not taken back yet.", quick.lapsed)
    yield _gauge("tending_processes", "Processes that report that they keep the accounts for all.", quick.tending)
    yield _gauge("active_processes", "Processes that have counted something in the last minute.", quick.active)
    # Counters of all workers, and reports by outcome.
    for name, count in zip(COUNTS, counted.counts, strict=True):
        yield CounterMetricFamily(*COUNTERS[name], value=count)
    reports = CounterMetricFamily("graphbrain_reports", "Reports of pages by what became of them.", labels=["outcome"])
    for outcome, count in zip(OUTCOMES, counted.reports, strict=True):
        reports.add_metric([outcome], count)
    yield reports
    yield from _of_kinds(quick, counted)


def _of_kinds(quick: Quick, counted: Counted) -> Iterator[Metric]:
    """Yield what the metrics of pages have, for each kind of claims.

    These are families of their own: the names and labels of the others are promised, and their sums are of pages.
    """
    # Declare the families.
    leases = GaugeMetricFamily(
        "graphbrain_leases_by_kind",
        "Claims that crawlers hold, those with a lapsed lease not among them, by kind.",
        labels=["kind"],
    )
    claims = CounterMetricFamily("graphbrain_claims_by_kind", "Claims made by crawlers, by kind.", labels=["kind"])
    lapsed = CounterMetricFamily(
        "graphbrain_leases_lapsed_by_kind", "Leases that have lapsed, and were taken back, by kind.", labels=["kind"]
    )
    reports = CounterMetricFamily(
        "graphbrain_reports_by_kind", "Reports by kind and by what became of them.", labels=["kind", "outcome"]
    )
    # Add the counts of each kind.
    for kind, counts in counted.by_kind.items():
        leases.add_metric([kind], quick.leases - quick.lapsed if kind == "page" else quick.held.get(kind, 0))
        claims.add_metric([kind], counts.claims)
        lapsed.add_metric([kind], counts.lapsed)
        for outcome, count in zip(OUTCOMES, counts.reports, strict=True):
            reports.add_metric([kind, outcome], count)
    yield from (leases, claims, lapsed, reports)


def _of_scan(sample: Sample) -> Iterator[Metric]:
    scanned = sample.scanned
    assert scanned is not None
    # Pages by state, and those that wait.
    pages = GaugeMetricFamily("graphbrain_pages", "Pages by state; sampled.", labels=["state"])
    for state in STATES:
        pages.add_metric([state], scanned.states.get(state, 0))
    yield pages
    inside = sum(scanned.states.values()) - scanned.outside
    yield _gauge("scope_pages", "Pages inside the scope; sampled.", inside)
    yield _gauge("outside_pages", "Pages outside the scope, which links name; sampled.", scanned.outside)
    yield _gauge("waiting_pages", "Pages that wait to be claimed; sampled.", scanned.waiting)
    yield _gauge("ready_pages", "Waiting pages whose host is not known to be waited for; sampled.", scanned.ready)
    yield _gauge("retry_pages", "Failed pages that will be tried again; sampled.", scanned.retries)
    # Cash, and the error of scores that follows from it.
    cash = GaugeMetricFamily(
        "graphbrain_cash", "Cash on pages that was not passed on yet, by side; sampled.", labels=["side"]
    )
    cash.add_metric(["hub"], scanned.hub_cash)
    cash.add_metric(["authority"], scanned.authority_cash)
    yield cash
    if sample.error_bound is not None:
        yield _gauge("error_bound_ratio", "What the scores are off at most, relative; sampled.", sample.error_bound)
    # Freshness of fetched pages, and the state of hosts.
    if scanned.fresh is not None and scanned.age is not None:
        yield _gauge("fresh_ratio", "Share of fetched pages believed to be unchanged since; sampled.", scanned.fresh)
        yield _gauge("copy_age_seconds", "Mean time since fetched pages were visited; sampled.", scanned.age)
    yield _gauge("hosts", "Hosts that have a page inside the scope; sampled.", scanned.hosts)
    yield _gauge("hosts_blocked", "Hosts that are blocked or backed off for a while; sampled.", scanned.blocked)
    yield _gauge("hosts_slowed", "Hosts asked less often since they answered 429 or 503; sampled.", scanned.slowed)
    yield _gauge("hosts_silent", "Hosts that do not answer and are only probed; sampled.", scanned.silent)


def of_observed(observed: Mapping[str, Any]) -> Iterator[Metric]:
    """Yield the metrics of these processes."""
    # Durations of verbs and statements; errors and retries by their kinds.
    yield _histogram("verb", "How long the verbs of the brain took in these processes.", observed["verbs"])
    yield _histogram(
        "statement", "How long statements, and commits, took as seen by these processes.", observed["statements"]
    )
    errors = CounterMetricFamily(
        "graphbrain_verb_errors", "Verbs that have raised an error, by its kind.", labels=["verb", "error"]
    )
    for both, count in sorted(observed["errors"].items()):
        errors.add_metric(both.split(" ", 1), count)
    yield errors
    retries = CounterMetricFamily(
        "graphbrain_transaction_retries", "Transactions of these processes run again, by reason.", labels=["reason"]
    )
    for reason, count in sorted(observed["retries"].items()):
        retries.add_metric([reason], count)
    yield retries


def of_workers(crew: CrewFigures) -> Iterator[Metric]:
    """Yield the metrics of the worker processes of `graphbrain work`."""
    yield _gauge("workers_wanted", "Worker processes that are to run here.", crew.wanted)
    yield _gauge("workers", "Worker processes that run here.", crew.running)
    yield CounterMetricFamily(
        "graphbrain_worker_restarts", "Worker processes that have died and were started again.", value=crew.restarts
    )


def _gauge(name: str, text: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"graphbrain_{name}", text, value=value)


def _histogram(what: str, text: str, durations: Observations) -> HistogramMetricFamily:
    family = HistogramMetricFamily(f"graphbrain_{what}_duration_seconds", text, labels=[what])
    for name, seen in sorted(durations.items()):
        buckets, below = [], 0.0
        for bound, count in zip((*map(str, BOUNDS), "+Inf"), seen[:-1], strict=True):
            below += count
            buckets.append((bound, below))
        family.add_metric([name], buckets, sum_value=seen[-1])
    return family
