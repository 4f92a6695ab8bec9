"""Run the console of a crawl in a process beside it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

__all__ = ["console_beside"]

PATIENCE = 30.0
"""Seconds in which the console must end after it was asked to."""
NAMES = ("uri", "user", "password", "database", "crawl")


@contextmanager
def console_beside(connection: Mapping[str, Any], environ: Mapping[str, str]) -> Iterator[None]:
    """Show the console within the block. It ends with this process, however that ends: its stdin ends then.

    A console that cannot start says so on stderr; the crawl goes on without it.

    Args:
        connection: Where the brain is, as arguments of `Brain.open`.
        environ: The environment of this process.
    """
    given = {f"GRAPHBRAIN_{name.upper()}": str(connection[name]) for name in NAMES if connection.get(name)}
    process = subprocess.Popen(
        [sys.executable, "-m", "graphbrain", "console", "--while-stdin"],
        stdin=subprocess.PIPE,
        stdout=sys.stderr,
        env={**environ, **given},
        start_new_session=True,  # Ctrl-C ends the crawl in order, and the console after it
    )
    try:
        yield
    finally:
        assert process.stdin is not None
        process.stdin.close()
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
