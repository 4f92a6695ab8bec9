"""A brain's meter for Prometheus, by the short name that users import. `graphbrain.service.metrics.meter` has the
code."""

from graphbrain.service.metrics.meter import Meter

__all__ = ["Meter"]
