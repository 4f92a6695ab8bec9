"""What the acceptance tests of benches that need an empty server have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from click.testing import CliRunner, Result

from graphbrain.cli.app import cli
from tests.plugin import Neo4j, emptied

__all__ = ["benched"]


@contextmanager
def benched(neo4j: Neo4j, monkeypatch: pytest.MonkeyPatch, what: str) -> Iterator[Callable[..., Result]]:
    """A function: words → what `graphbrain bench WHAT` did on the server, which is emptied."""
    emptied(neo4j).close()
    for name in ("uri", "user", "password"):
        monkeypatch.setenv(f"GRAPHBRAIN_{name.upper()}", getattr(neo4j, name))
    monkeypatch.setenv("GRAPHBRAIN_CRAWL", "test")

    def run(*words: object) -> Result:
        return CliRunner().invoke(cli, ["bench", what, *map(str, words)], catch_exceptions=False, standalone_mode=False)

    yield run
    emptied(neo4j).close()
