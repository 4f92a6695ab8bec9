"""A brain with the clock in the test's hand, as in all other rooms."""

from tests.integration.conftest import brain

__all__ = ["brain"]
