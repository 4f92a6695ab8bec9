"""The fixtures of the product's integration tests."""

from tests.integration.conftest import ask, brain, clock, late_report, make_brain, raw, second

__all__ = ["ask", "brain", "clock", "late_report", "make_brain", "raw", "second"]
