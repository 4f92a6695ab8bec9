"""The tests that ask what a server's version can change, run on the long-term Neo4j by a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from graphbrain.server import lifecycle

ROOT = Path(__file__).resolve().parents[1]
LIMIT_SECONDS = 900
# Whether statements are understood, how they are planned, what is locked. The rest of those tests is of our own code;
# TEST_GRAPHBRAIN_NEO4J=VERSION pytest tests/integration runs all of it.
PARTS = ("graph/test_contracts.py", "frontier/test_claiming_plans.py", "graph/test_schema.py", "accounts/test_churn.py")


def is_this_run() -> bool:
    """Is this very run on the long-term Neo4j?"""
    return os.environ.get("TEST_GRAPHBRAIN_NEO4J") == lifecycle.NEO4J_LTS_VERSION


def begin(request: pytest.FixtureRequest) -> None:
    """Begin it, if it is wanted in this session and has not begun yet."""
    wanted = any(item.get_closest_marker("beside") for item in request.session.items)
    if wanted and not is_this_run():
        request.getfixturevalue("long_term_run")


class LongTermRun:
    """One run of them, from its beginning to `end` or `kill`. `output`: the file that gets what it prints."""

    def __init__(self, output: Path) -> None:
        environ = {name: value for name, value in os.environ.items() if not name.startswith("TEST_GRAPHBRAIN_URI")}
        parts = [f"tests/integration/{part}" for part in PARTS]
        self._output = output
        with output.open("wb") as file:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "pytest", *parts, "-q", "-p", "no:cacheprovider", "-m", "not slow"],
                cwd=ROOT,
                env={**environ, "TEST_GRAPHBRAIN_NEO4J": lifecycle.NEO4J_LTS_VERSION},
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
            )

    def end(self) -> tuple[int, str]:
        """Wait for it; its exit code and what it printed."""
        code = self._process.wait(LIMIT_SECONDS)
        return code, self._output.read_text(encoding="utf-8", errors="replace")

    def kill(self) -> None:
        """Interrupt it, if it still runs, as Ctrl-C does: it stops its server."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(60)
