"""Every statement, its plan, and everybody at once, again on the long-term Neo4j: what users of older servers have."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from graphbrain import server

ROOT = Path(__file__).resolve().parents[2]
LIMIT_SECONDS = 900
# What a server's version can change: whether statements are understood, how they are planned, what is locked. The rest
# of the graph ring is our own code; TEST_GRAPHBRAIN_NEO4J=VERSION pytest tests/graph runs all of it.
PARTS = ("contracts", "claiming_plans", "schema", "churn")


@pytest.mark.slow
@pytest.mark.timeout(LIMIT_SECONDS + 60)
def test_the_statements_and_the_churn_pass_on_the_long_term_neo4j() -> None:
    version = server.NEO4J_LTS_VERSION
    if os.environ.get("TEST_GRAPHBRAIN_NEO4J") == version:
        pytest.skip(f"this run is on Neo4j {version} already")
    environ = {name: value for name, value in os.environ.items() if not name.startswith("TEST_GRAPHBRAIN_URI")}
    parts = [f"tests/graph/test_{part}.py" for part in PARTS]
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *parts, "-q", "-p", "no:cacheprovider", "-m", "not slow"],
        cwd=ROOT,
        env={**environ, "TEST_GRAPHBRAIN_NEO4J": version},
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
    )
    assert ran.returncode == 0, ran.stdout[-8000:] + ran.stderr[-2000:]
    assert " passed" in ran.stdout
