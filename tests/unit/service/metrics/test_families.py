"""The metrics as Prometheus reads them: names, types, units, bounded labels, and what is left out."""

from __future__ import annotations

from dataclasses import replace

from prometheus_client.parser import text_string_to_metric_families

from graphbrain.base.model import KINDS, OUTCOMES, STATES
from graphbrain.base.runtime.timings import BOUNDS
from tests.unit.service.metrics.exposed import SAMPLE, exposed

READ = {family.name: family for family in text_string_to_metric_families(exposed())}
LABELS = {"kind", "state", "side", "outcome", "verb", "statement", "error", "reason", "sample", "le"}


def value(name: str, **labels: str) -> float:
    """The only sample of this name and with these labels."""
    (found,) = [
        sample.value
        for family in READ.values()
        for sample in family.samples
        if sample.name == name and sample.labels == labels
    ]
    return found


def test_names_are_prometheus_own_way() -> None:
    """prometheus.io/docs/practices/naming: a prefix, base units at the end, _total for what only grows."""
    assert len(READ) > 30
    for name, family in READ.items():
        assert name.startswith("graphbrain_"), name
        assert family.documentation.endswith("."), name
        assert family.type in {"gauge", "counter", "histogram"}, name
        assert not name.endswith(("_total", "_count", "_sum", "_ms", "_percent")), name
        assert ("duration" in name) <= name.endswith("_seconds"), name
        assert (family.type == "histogram") <= name.endswith("_duration_seconds"), name
        for sample in family.samples:
            assert (family.type == "counter") == sample.name.endswith("_total"), sample.name
            assert sample.labels.keys() <= LABELS, sample


def test_the_figures_are_where_they_belong() -> None:
    assert value("graphbrain_up") == 1
    assert value("graphbrain_known_pages") == 100
    assert value("graphbrain_leases") == 5
    assert value("graphbrain_leases_overdue") == 2
    assert value("graphbrain_visits_total") == 10
    assert value("graphbrain_claims_total") == 30
    assert value("graphbrain_retries_total") == 60
    assert value("graphbrain_leases_lapsed_total") == 70
    assert (value("graphbrain_found_pages_total"), value("graphbrain_left_pages_total")) == (80, 90)
    assert [value("graphbrain_reports_total", outcome=each) for each in OUTCOMES] == [*range(len(OUTCOMES))]
    assert {state: value("graphbrain_pages", state=state) for state in STATES} == {
        **dict.fromkeys(STATES, 0.0),
        "known": 60.0,
        "frontier": 40.0,
    }
    assert value("graphbrain_cash", side="authority") == 2.5
    assert value("graphbrain_error_bound_ratio") == 0.25
    assert value("graphbrain_fresh_ratio") == 0.75
    assert value("graphbrain_hosts_blocked") == 1
    assert value("graphbrain_sample_timestamp_seconds", sample="scan") == 990
    assert value("graphbrain_verb_errors_total", verb="report", error="GraphUnavailable") == 2
    assert value("graphbrain_transaction_retries_total", reason="DeadlockDetected") == 4
    assert value("graphbrain_workers") == 1
    assert value("graphbrain_workers_wanted") == 2
    assert value("graphbrain_worker_restarts_total") == 3


def test_each_kind_has_its_counts_and_pages_keep_those_they_had() -> None:
    kinds = {"page": 5, "robots": 0, "sitemap": 4, "link": 0}
    assert {kind: value("graphbrain_leases_by_kind", kind=kind) for kind in KINDS} == kinds
    claims = [value("graphbrain_claims_by_kind_total", kind=kind) for kind in KINDS]
    assert claims == [value("graphbrain_claims_total"), 10, 20, 30]
    lapsed = [value("graphbrain_leases_lapsed_by_kind_total", kind=kind) for kind in KINDS]
    assert lapsed == [64, 1, 2, 3]
    assert sum(lapsed) == value("graphbrain_leases_lapsed_total")
    for place, outcome in enumerate(OUTCOMES):
        found = [value("graphbrain_reports_by_kind_total", kind=kind, outcome=outcome) for kind in KINDS]
        assert found == [value("graphbrain_reports_total", outcome=outcome), place + 1, place + 2, place + 3]


def test_a_histogram_counts_upwards_to_all() -> None:
    buckets = {
        sample.labels["le"]: sample.value
        for sample in READ["graphbrain_verb_duration_seconds"].samples
        if sample.name.endswith("_bucket")
    }
    assert [*map(float, buckets)] == [*BOUNDS, float("inf")]
    assert [*buckets.values()] == [float(bound >= 0.025) for bound in BOUNDS] + [2.0]
    assert value("graphbrain_verb_duration_seconds_count", verb="report") == 2
    assert abs(value("graphbrain_verb_duration_seconds_sum", verb="report") - 99.02) < 1e-9


def test_what_is_not_known_is_left_out() -> None:
    away = exposed(replace(SAMPLE, quick=None, counted=None))
    assert "graphbrain_up 0.0" in away
    assert "graphbrain_pages" not in away
    assert "graphbrain_claims_total" not in away
    assert 'graphbrain_sample_timestamp_seconds{sample="quick"} 1000.0' in away  # since when
    early = exposed(replace(SAMPLE, scanned=None, error_bound=None, scanned_at=None))
    assert "graphbrain_known_pages 100.0" in early
    assert "graphbrain_waiting_pages" not in early
    classic = exposed(replace(SAMPLE, error_bound=None))
    assert "graphbrain_error_bound_ratio" not in classic
    assert "graphbrain_fresh_ratio" in classic
