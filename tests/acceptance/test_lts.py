"""Every statement, its plan, and everybody at once, again on the long-term Neo4j: what users of older servers have."""

from __future__ import annotations

import pytest

from graphbrain.server import lifecycle
from tests.long_term import LIMIT_SECONDS, LongTermRun, is_this_run


@pytest.mark.slow
@pytest.mark.beside
@pytest.mark.timeout(LIMIT_SECONDS + 60)
def test_the_statements_and_the_churn_pass_on_the_long_term_neo4j(request: pytest.FixtureRequest) -> None:
    if is_this_run():
        pytest.skip(f"this run is on Neo4j {lifecycle.NEO4J_LTS_VERSION} already")
    run: LongTermRun = request.getfixturevalue("long_term_run")
    code, output = run.end()
    assert code == 0, output[-10_000:]
    assert " passed" in output
