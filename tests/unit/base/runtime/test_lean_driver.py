"""The driver does not import pandas in graphbrain's own processes, and everybody else can."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HEAVY = ("pandas", "pyarrow")
STUB = """
import sys
sys.asked = [*getattr(sys, "asked", []), __name__]
raise ImportError
"""
SEES = """
import sys
sys.asked = []
{first}
import neo4j
by_driver = list(sys.asked)
for name in ("pandas", "pyarrow"):
    try:
        __import__(name)
    except ImportError:
        pass
print(by_driver, sys.asked[len(by_driver):])
"""


def asked(folder: Path, first: str) -> str:
    """Who is imported by the driver, and who by a program afterwards, where `first` comes before both."""
    for name in HEAVY:
        (folder / f"{name}.py").write_text(STUB)
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    program = [sys.executable, "-c", SEES.format(first=first)]
    done = subprocess.run(program, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]


def test_graphbrains_own_processes_start_without_them(tmp_path: Path) -> None:
    both = "['pandas', 'pyarrow']"
    assert asked(tmp_path, "") == f"{both} {both}", "else this module is of no use any more"
    lean = "from graphbrain.base.runtime.lean_driver import lean_driver; lean_driver(); lean_driver()"
    assert asked(tmp_path, lean) == f"[] {both}"
    command = "from graphbrain.cli.app import main\ntry: main(['--version'])\nexcept SystemExit: pass"
    assert asked(tmp_path, command) == f"[] {both}"
