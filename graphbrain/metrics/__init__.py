"""Metrics for Prometheus: what the graph tells now and then, and what this process and its workers have done.

`meter.Meter` samples a brain in a thread and observes what is done with it; its `exposition` is what `/metrics` serves,
here by `serving`, in a service by whoever has one.
May touch: prometheus_client, a thread, a port. Knows of graphbrain: `Brain`, its figures and its observer.
"""

__all__ = ["meter", "sampling", "serving"]
