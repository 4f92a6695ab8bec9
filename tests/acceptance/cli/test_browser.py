"""`graphbrain browser` says what it serves, in lines that fit a terminal, and how it is ended."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is no signal that could be sent")
def test_it_says_what_ends_it_and_does() -> None:
    words = ["browser", "--uri", "bolt://localhost:7687", "--origin", "http://localhost:7474"]
    with subprocess.Popen(
        [sys.executable, "-m", "graphbrain", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as command:
        assert command.stdout is not None and command.stderr is not None
        assert command.stderr.readline() == "Ctrl-C ends it.\n"
        command.send_signal(signal.SIGINT)
        lines = command.stdout.read().splitlines()
    assert command.returncode == 0 and lines[0] == "browser   http://localhost:7474/browser/"
    assert len(lines) == 10 and all(len(line) <= 80 for line in lines)
