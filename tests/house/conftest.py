"""Beside the tests that need no server there is room for those that have one of their own."""

from __future__ import annotations

import os

import pytest

from graphbrain import server


@pytest.fixture(scope="package", autouse=True)
def _begin_what_runs_beside(request: pytest.FixtureRequest) -> None:
    wanted = any(item.get_closest_marker("beside") for item in request.session.items)
    if wanted and os.environ.get("TEST_GRAPHBRAIN_NEO4J") != server.NEO4J_LTS_VERSION:
        request.getfixturevalue("long_term_run")
