"""The making of Java's cache of Neo4j (see `java_cache`): an extra server is started, gets the schema, and stops."""

from __future__ import annotations

import shutil
import time
from contextlib import closing
from pathlib import Path

from graphbrain.base.errors import ServerFailed
from graphbrain.graph import schema
from graphbrain.graph.connection import Graph
from graphbrain.graph.server import installation, java_cache, lifecycle
from graphbrain.graph.server.jars import Say, find_java, jars

__all__ = ["prime"]

MEMORY_MB = 640
WRITING_SECONDS = 240.0


def prime(version: str = lifecycle.NEO4J_VERSION, java: str | None = None, *, say: Say) -> tuple[Path | None, bool]:
    """Make Java's cache for a version of Neo4j, unless it exists. Fetch Neo4j if needed.

    If another process is making the cache, wait for that. `java` is as for `server.start`.

    Returns:
        (file of the cache or None if there can be none, whether it was made now).

    Raises:
        ServerFailed: The server cannot be fetched or started.
    """
    # Find the file for this Neo4j and this Java.
    installation.check_version(version, f"{lifecycle.NEO4J_VERSION} or {lifecycle.NEO4J_LTS_VERSION}")
    program = find_java(java, version)
    class_path = jars(version, lifecycle.BROWSER_VERSION, say=say)
    file = java_cache.file_for(program, class_path)
    if file is None or file.exists():
        return file, False
    # Run a server once, so that Java writes the file at its end.
    say("Java learns Neo4j, so that it starts in half the time; this is done once…")
    try:
        with java_cache.being_made(file, lambda: say("Another process is preparing it…")) as part:
            if part is None:
                return file, False
            _learn(file.with_suffix(".server"), version, program, part)
    except OSError as error:
        raise ServerFailed(
            f"Java's cache cannot be written in {file.parent} ({error.strerror or error}): make room, or set "
            f"{java_cache.VARIABLE}=off."
        ) from error
    return file, True


def _learn(home: Path, version: str, java: str, part: Path) -> None:
    """Start a server, let it do the work of a restart after an import, and stop it. Java writes the file at its end."""
    lifecycle.stop(home, 5)  # a killed process may have left one
    shutil.rmtree(home, ignore_errors=True)
    try:
        running = lifecycle.start(home, version=version, java=java, memory=MEMORY_MB, say=lambda _: None, learns=part)
        with closing(Graph(running.uri, running.user, running.password, "neo4j")) as graph:
            schema.apply(graph, time.time())
        lifecycle.stop(home, WRITING_SECONDS)
        if not part.exists():
            raise ServerFailed(f"Java has written no cache: {' '.join(lifecycle.logs(home, 3))}")
    finally:
        lifecycle.stop(home, 0)
        shutil.rmtree(home, ignore_errors=True)
