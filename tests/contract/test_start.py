"""The command line starts without the packages that only some commands need."""

from __future__ import annotations

import subprocess
import sys

HEAVY = (
    *("numpy", "scipy", "neo4j", "rich", "idna", "lxml", "fastapi", "httpx", "scrapy", "email"),
    *("importlib.metadata", "subprocess", "asyncio", "graphbrain.settings", "graphbrain.brain.brain"),
)
"""What takes a part of the start that a user of `--help` notices."""


def test_the_command_line_loads_nothing_heavy() -> None:
    code = f"import sys, graphbrain.cli.app; print(*(name for name in {HEAVY!r} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
