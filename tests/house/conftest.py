"""Beside the tests that need no server there is room for those that have one of their own."""

from __future__ import annotations

import pytest

from tests.long_term import is_this_run


@pytest.fixture(scope="package", autouse=True)
def _begin_what_runs_beside(request: pytest.FixtureRequest) -> None:
    wanted = any(item.get_closest_marker("beside") for item in request.session.items)
    if wanted and not is_this_run():
        request.getfixturevalue("long_term_run")
