"""An exposition with everything in it, of figures that are made up."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from graphbrain.analyst.inspect.figures import Counted, KindCounts, Quick, Scanned
from graphbrain.base.model import OUTCOMES, RESOURCE_KINDS, Kind
from graphbrain.base.runtime.timings import Timings
from graphbrain.service.metrics import families
from graphbrain.service.metrics.sampling import Sample

RESOURCES: dict[Kind, KindCounts] = {
    kind: KindCounts(10 * place, place, tuple(range(place, place + len(OUTCOMES))))
    for place, kind in enumerate(RESOURCE_KINDS, 1)
}
SAMPLE = Sample(
    Quick(pages=100, links=300, leases=7, lapsed=2, tending=1, active=3, held={"sitemap": 4}),
    Counted((10, 20, 30, 40, 50, 60, 70, 80, 90), tuple(range(len(OUTCOMES))), RESOURCES),
    at=1_000.0,
    took=0.01,
    scanned=Scanned(
        {"known": 60, "frontier": 40}, waiting=50, ready=45, retries=3, hub_cash=1.5, authority_cash=2.5, fresh=0.75,
        age=3_600.0, blocked=1, slowed=2, silent=3,
    ),
    error_bound=0.25,
    scanned_at=990.0,
    scan_took=0.5,
)  # fmt: skip


class _All(Collector):
    def __init__(self, sample: Sample) -> None:
        timings = Timings()
        timings.saw("report", 0.02)
        timings.saw("report", 99.0)
        self.sample = sample
        self.told = {
            "verbs": timings.observations(),
            "statements": timings.observations(),
            "errors": {"report GraphUnavailable": 2},
            "retries": {"DeadlockDetected": 4},
        }

    def collect(self) -> Iterator[Metric]:
        yield from families.of_sample(self.sample)
        yield from families.of_observed(self.told)
        yield from families.of_workers(families.CrewFigures(2, 1, 3))


def exposed(sample: Sample = SAMPLE) -> str:
    """What Prometheus would read."""
    registry = CollectorRegistry()
    registry.register(_All(sample))
    return generate_latest(registry).decode()
