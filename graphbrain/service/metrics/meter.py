"""A brain's meter: it samples the graph, observes this process, and exposes both for Prometheus."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from graphbrain import Brain
from graphbrain.brain.observe import Observer, together
from graphbrain.brain.workers import WorkerPool
from graphbrain.service.metrics import families
from graphbrain.service.metrics.sampling import Sample, Sampler

__all__ = ["Meter"]


class _Collected(Collector):
    """The collector that Prometheus' registry reads at each scrape."""

    def __init__(self, collect: Callable[[], Iterator[Metric]]) -> None:
        self._collect = collect

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics at a scrape."""
        return self._collect()

    def describe(self) -> list[Metric]:
        """Return no metrics, because none are known before the first sample."""
        return []


class Meter:
    """Metrics of a brain from `start` to `close`; also a context manager. Thread-safe.

    Args:
        brain: The brain to sample and to observe.
        pool: Worker processes whose observations are added to those of this process; it must have been made with
            `observe=True`.
    """

    def __init__(self, brain: Brain, pool: WorkerPool | None = None, sampler: Sampler | None = None) -> None:
        self._pool, self._observer = pool, Observer()
        self._sampler = sampler or Sampler(brain)
        self._observer.observe(brain)
        self.registry = CollectorRegistry()
        self.registry.register(_Collected(self._collect))
        ProcessCollector(registry=self.registry)

    def __enter__(self) -> Meter:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> Meter:
        """Begin to sample, and return at once."""
        self._sampler.start()
        return self

    def close(self) -> None:
        """End the sampling. The brain stays open."""
        self._sampler.stop()

    @property
    def sample(self) -> Sample:
        """The latest sample of the brain's figures."""
        return self._sampler.latest

    def on_sample(self, listener: Callable[[Sample], None]) -> None:
        """Call `listener` with each sample from now on, in the sampler's thread."""
        self._sampler.listener = listener

    def exposition(self, accept: str = "") -> tuple[bytes, str]:
        """Return the answer of `/metrics` and its Content-Type for a request's Accept header. Reads no database."""
        encode, content_type = choose_encoder(accept)
        return encode(self.registry), content_type

    def _measurements(self) -> Mapping[str, Any]:
        own = self._observer.observations()
        return own if self._pool is None else together([own, self._pool.observed])

    def _collect(self) -> Iterator[Metric]:
        yield from families.of_sample(self._sampler.latest)
        yield from families.of_observed(self._measurements())
        if self._pool is not None:
            pool = self._pool
            yield from families.of_workers(families.CrewFigures(pool.workers, len(pool.pids), pool.restarts))
