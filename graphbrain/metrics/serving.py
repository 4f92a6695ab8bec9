"""A port for Prometheus, by the short name that users import. `graphbrain.service.metrics.serving` has the code."""

from graphbrain.service.metrics.serving import served

__all__ = ["served"]
