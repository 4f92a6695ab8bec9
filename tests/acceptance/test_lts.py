"""Every statement, its plan, and everybody at once, again on the long-term Neo4j: what users of older servers have."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from graphbrain.graph.server import lifecycle

ROOT = Path(__file__).resolve().parents[2]
# Whether statements are understood, how they are planned, what is locked. The rest of the tests is of our own code;
# TEST_GRAPHBRAIN_NEO4J=VERSION pytest tests/integration runs all of it.
PARTS = ("graph/test_contracts.py",)
MORE_PARTS = ("graph/test_schema.py", "frontier/claims/test_claiming_plans.py", "scores/accounts/test_churn.py")
LIMIT_SECONDS = 3_000


@pytest.mark.long_term
@pytest.mark.timeout(LIMIT_SECONDS + 60)
@pytest.mark.parametrize("parts", [PARTS, pytest.param(MORE_PARTS, marks=pytest.mark.nightly)], ids=["few", "more"])
def test_they_pass_on_the_long_term_neo4j(capfd: pytest.CaptureFixture[str], parts: tuple[str, ...]) -> None:
    """In a process of its own, which starts that server; what it prints is seen, with what it skips."""
    ours = ("TEST_GRAPHBRAIN_URI", "PYTEST_XDIST")
    environ = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    paths = [f"tests/integration/{part}" for part in parts]
    with capfd.disabled():
        ran = subprocess.run(
            [sys.executable, "-m", "pytest", *paths, "-q", "-p", "no:cacheprovider", "-m", "not long_term"],
            cwd=ROOT,
            env={**environ, "TEST_GRAPHBRAIN_NEO4J": lifecycle.NEO4J_LTS_VERSION},
            stdin=subprocess.DEVNULL,
            timeout=LIMIT_SECONDS,
        )
    assert ran.returncode == 0
