"""One Neo4j for the run, an empty brain for each test.

The server is `TEST_GRAPHBRAIN_URI` (with `TEST_GRAPHBRAIN_USER` and `TEST_GRAPHBRAIN_PASSWORD`) if set; else one that
graphbrain starts from its jars, of version `TEST_GRAPHBRAIN_NEO4J` if set; else a container where Docker answers.
It is emptied: a database that holds anything but a brain named `test` is refused. Recorded crawls are made small, by a
seed (tests/recordings.py); real ones are used, too, if they are in `TEST_GRAPHBRAIN_DATA`, or in `shared/data` beside
the checkout.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as examples

from graphbrain import Brain
from graphbrain.accounts import exact_ledger
from graphbrain.errors import ServerFailed
from graphbrain.server import lifecycle
from tests.long_term import LongTermRun
from tests.recordings import REAL, Recordings, folders, made

_OF_JAVA = ("GRAPHBRAIN_JAVA", "GRAPHBRAIN_JAVA_CACHE")
for _name in [name for name in os.environ if name.startswith("GRAPHBRAIN_") and name not in _OF_JAVA]:
    del os.environ[_name]

# No example is too slow: on a machine that does other work, too, any may be.
examples.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
examples.load_profile("patient")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What runs beside other tests is waited for at the end."""
    items.sort(key=lambda item: item.get_closest_marker("beside") is not None)


@pytest.fixture(scope="session")
def long_term_run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LongTermRun]:
    """The run on the long-term Neo4j, begun when it is first asked for."""
    run = LongTermRun(tmp_path_factory.mktemp("long-term") / "output")
    yield run
    run.kill()


@dataclass(frozen=True)
class Neo4j:
    """The server under test. `data`: its folder when graphbrain started it, so that tests may kill it."""

    uri: str
    user: str
    password: str
    data: Path | None = None
    version: str | None = None

    def open(self, **settings: object) -> Brain:
        """The brain in it, with the given settings."""
        return Brain.open(uri=self.uri, user=self.user, password=self.password, **settings)  # type: ignore[arg-type]


@pytest.fixture(scope="session")
def neo4j() -> Iterator[Neo4j]:
    given = os.environ.get("TEST_GRAPHBRAIN_URI")
    if given:
        user = os.environ.get("TEST_GRAPHBRAIN_USER", "neo4j")
        yield Neo4j(given, user, os.environ.get("TEST_GRAPHBRAIN_PASSWORD", ""))
        return
    version = os.environ.get("TEST_GRAPHBRAIN_NEO4J") or lifecycle.NEO4J_VERSION
    with tempfile.TemporaryDirectory(prefix="graphbrain-test-") as folder:
        data = Path(folder) / "neo4j"
        try:
            running = lifecycle.start(data, version=version, memory=2048)
        except ServerFailed as error:
            yield from _container(str(error))
            return
        try:
            yield Neo4j(running.uri, running.user, running.password, data, version)
        finally:
            lifecycle.stop(data)


def _container(why: str) -> Iterator[Neo4j]:
    """Neo4j in Docker, when the local server could not be started."""
    try:
        from testcontainers.neo4j import Neo4jContainer

        container = Neo4jContainer("neo4j:2026.09-community")
        container.start()
    except Exception as error:  # noqa: BLE001  # whatever Docker says, the run must fail with both reasons
        pytest.fail(f"no Neo4j to test on: {why}; and no container either: {error}")
    try:
        yield Neo4j(container.get_connection_url(), container.username, container.password)
    finally:
        container.stop()


def emptied(neo4j: Neo4j, **settings: object) -> Brain:
    """An empty brain named `test`, with the default settings but for those given."""
    brain = neo4j.open(crawl="test", auto_tend=False)
    brain.clear()
    brain.remake(**settings)
    return brain


@pytest.fixture
def brain(neo4j: Neo4j) -> Iterator[Brain]:
    """An empty brain without delays that does not tend by itself."""
    with emptied(neo4j, delay_seconds=0.0) as brain:
        yield brain


@pytest.fixture
def make_brain(neo4j: Neo4j) -> Iterator[object]:
    """A function: settings → an empty brain made with them."""
    opened: list[Brain] = []

    def make(**settings: object) -> Brain:
        opened.append(emptied(neo4j, **{"delay_seconds": 0.0, **settings}))
        return opened[-1]

    yield make
    for brain in opened:
        brain.close()


@pytest.fixture
def unspent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports leave all cash where it is, so that what other steps do to it can be told one by one."""
    monkeypatch.setattr(exact_ledger, "ROUNDS", 0)


@pytest.fixture(scope="session", params=folders().items(), ids=lambda named: named[0])
def data_dir(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Recordings:
    """Where recorded crawls are: those that are made here, and the real ones where they lie on this machine."""
    _, real = request.param
    return made(tmp_path_factory.mktemp("recordings")) if real is None else Recordings(real, REAL)
