"""Metrics for Prometheus: samples of the graph, and observations of this process and its workers.

`meter.Meter` samples a brain in a thread and observes its calls; its `exposition` is the content of `/metrics`, which
`serving` serves here and a service serves itself.
May touch: prometheus_client, a thread, a port. Knows of graphbrain: `Brain`, its figures and its observer.
"""

__all__ = [
    "meter",
    "sampling",
    "serving",
]
