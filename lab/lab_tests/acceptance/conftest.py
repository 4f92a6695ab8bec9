"""The fixtures of the product's acceptance tests."""

from tests.acceptance.conftest import chromium, given, spiders

__all__ = ["chromium", "given", "spiders"]
