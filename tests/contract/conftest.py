"""Beside the tests that need no server there is room for those that have one of their own."""

from __future__ import annotations

import pytest

from tests import long_term


@pytest.fixture(scope="package", autouse=True)
def _begin_what_runs_beside(request: pytest.FixtureRequest) -> None:
    long_term.begin(request)
