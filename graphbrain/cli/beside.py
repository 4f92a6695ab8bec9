"""The console of a crawl, in a process of its own beside another command."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

__all__ = ["console_beside"]

ENDS_WITHIN = 30.0
"""Seconds that the console has to end in."""


@contextlib.contextmanager
def console_beside(connection: Mapping[str, Any], data: Path | None) -> Iterator[None]:
    """Run `graphbrain console` until the end of the block, and print its address on stderr.

    The console ends with this process, even if that is killed: its standard input ends then.

    Args:
        connection: Arguments of `Brain.open`. The console gets them by its environment, which no other user can read.
        data: The directory of the local server; None: the usual one.
    """
    import subprocess  # loaded by each command otherwise

    given = {f"GRAPHBRAIN_{name.upper()}": str(value) for name, value in connection.items()}
    given |= {} if data is None else {"GRAPHBRAIN_DATA": str(data)}
    command = [sys.executable, "-m", "graphbrain", "console", "--until-eof"]
    # A session of its own: Ctrl-C is for the command, which ends the console at its own end.
    process = subprocess.Popen(
        command, env={**os.environ, **given}, stdin=subprocess.PIPE, stdout=sys.stderr, start_new_session=True
    )
    try:
        yield
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(ENDS_WITHIN)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
