"""The local server, started for a person who watches: what is fetched, and how far it is, on stderr."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphbrain.graph.server.lifecycle import Server

__all__ = ["started"]


def started(data: Path | None, **options: Any) -> Server:
    """The data directory's server, started if it does not run. `options`: those of `lifecycle.start`. Raises
    ServerFailed."""
    from graphbrain.graph.server import lifecycle
    from graphbrain.terminal import show

    with show.timed_line() as line:

        def show_step(text: str) -> None:
            show.say(text)
            if text.startswith("Starting"):
                line("Java starts Neo4j (5 to 90 s)")

        def fetched(done: int, total: int) -> None:
            line("fetching Neo4j", f": {done / 1e6:.0f} of {total / 1e6:.0f} MB")

        line("looking for Neo4j's files and for Java")
        server = lifecycle.start(data, say=show_step, progress=fetched, **options)
    for name, port, usual in server.unusual_ports():
        show.say(f"graphbrain: {name} use port {port}, not {usual}: the last start did, or that one is taken.")
    return server
