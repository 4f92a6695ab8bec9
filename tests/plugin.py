"""One Neo4j for the run, an empty brain for each test.

The server is `TEST_GRAPHBRAIN_URI` (with `TEST_GRAPHBRAIN_USER` and `TEST_GRAPHBRAIN_PASSWORD`) if set; else one that
graphbrain starts from its jars, of version `TEST_GRAPHBRAIN_NEO4J` if set; else a container where Docker answers.
It is emptied: a database that holds anything but a brain named `test` is refused. Recorded crawls are made small, by a
seed (tests/recordings.py); real ones are used, too, if they are in `TEST_GRAPHBRAIN_DATA`, or in `shared/data` beside
the checkout.

A test waits for a state, with `eventually`, and not for seconds: the machine may be busy. When the run ends, no process
that it has started may be left.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import psutil
import pytest
from hypothesis import HealthCheck
from hypothesis import settings as examples

from graphbrain import Brain
from graphbrain.base.errors import ServerFailed
from graphbrain.graph.server import lifecycle
from graphbrain.scores.accounts import exact_ledger, ledger
from tests.recordings import REAL, Recordings, folders, made
from tests.slow_tests import long_variants, slow_tests

_OF_JAVA = ("GRAPHBRAIN_JAVA", "GRAPHBRAIN_JAVA_CACHE")
for _name in [name for name in os.environ if name.startswith("GRAPHBRAIN_") and name not in _OF_JAVA]:
    del os.environ[_name]

# A shell has what it runs in the background ignore Ctrl-C, and so would all processes that tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# No example is too slow: on a machine that does other work, too, any may be.
examples.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
examples.load_profile("patient")


T = TypeVar("T")
WHOLE = {"tests", "lab/lab_tests"}
"""The tests of the product, and those of the laboratory."""
WORKERS = 2
"""Processes that run all tests."""
MEMORY_MB = 2048
"""Of their servers together."""
SHARED_MEMORY_MB = 3072
"""Free memory from which on the stores of the servers are kept in memory."""
PATIENCE = 300.0
"""Seconds within which a test wants a state that a quiet machine reaches in some seconds: a busy one stands still for a
while."""


def eventually(
    look: Callable[[], T], what: str, by: subprocess.Popen[str] | subprocess.Popen[bytes] | None = None
) -> T:
    """What `look` finds, as soon as that is something; the test fails when it never comes, or when the process that it
    is to come from has ended without it. `what`: what is waited for, as a failure tells it."""
    until = time.monotonic() + PATIENCE
    while not (found := look()):
        ended = by is not None and by.poll() is not None
        if ended and (found := look()):  # it came with the end
            break
        assert not ended, f"{what} did not come: the process has ended with {by and by.returncode}"
        assert time.monotonic() < until, f"{what} did not come within {PATIENCE:.0f} s"
        time.sleep(0.01)
    return found


# ---------------------------------------------------------------- what is not run, and what must not be left

_APART = ("slow", "long", "browser", "peers", "long_term", "nightly")
_MARK = "TEST_GRAPHBRAIN_RUN"
"""In the environment of every process that this run starts, also of those that live in a session of their own."""
_IS_WORKER = "PYTEST_XDIST_WORKER" in os.environ
if not _IS_WORKER:
    os.environ[_MARK] = f"{os.getpid()}/{time.time_ns()}"
_deselected: Counter[str] = Counter()
_left: list[str] = []


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """All tests of the product or the laboratory, and all of those that are marked, are run by two processes with a
    Neo4j each, where pytest-xdist is there and no server is given.

    One waits for the other half of the time, else: for the server, or for what goes by real time. `-n 0`: by one.
    """
    asked = config.option
    many = asked.markexpr.startswith("not ") or {"slow", "long", "nightly"} & {*re.findall(r"\w+", asked.markexpr)}
    some = not many or asked.keyword or asked.collectonly or asked.usepdb
    whole = {path.rstrip("/") for path in config.args} <= WHOLE and not some
    if whole and not _IS_WORKER and not _given() and getattr(asked, "numprocesses", 0) is None:
        asked.numprocesses, asked.dist, asked.loadscopereorder = WORKERS, "loadfile", False


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that were measured to be slow, before pytest selects by marks, and their later variants."""
    met = set[str]()
    for item in items:
        name = item.nodeid.partition("[")[0]
        if name in slow_tests():
            item.add_marker("slow")
        if name in met and name in long_variants():
            item.add_marker("nightly")
        met.add(name)


def pytest_deselected(items: list[pytest.Item]) -> None:
    """Remember what is left out unless it is asked for."""
    _deselected.update(name for item in items for name in _APART if item.get_closest_marker(name) is not None)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over what a worker process has left out: each sees all tests."""
    _deselected.update(Counter(getattr(node, "workeroutput", {}).get("deselected", {})) - _deselected)


def _ours(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        alive = process.pid != os.getpid() and process.status() != psutil.STATUS_ZOMBIE
        return alive and process.environ().get(_MARK) == os.environ[_MARK]
    return False


def _told(process: psutil.Process) -> str:
    with suppress(psutil.Error):
        return f"{process.pid}: {' '.join(process.cmdline())[:200]}"
    return f"{process.pid}"


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """The run has failed if processes that it has started are still there; they are ended."""
    if _IS_WORKER:
        session.config.workeroutput["deselected"] = dict(_deselected)  # type: ignore[attr-defined]
        return
    seconds = 5.0 if session.exitstatus == pytest.ExitCode.INTERRUPTED else 60.0
    _, left = psutil.wait_procs(filter(_ours, psutil.process_iter()), timeout=seconds)
    _left.extend(map(_told, left))
    for process in left:
        with suppress(psutil.Error):
            process.kill()
    if left and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say what was left out and how to run it, and what was left running."""
    for name, count in sorted(_deselected.items()):
        meaning = next(line for line in config.getini("markers") if line.startswith(f"{name}:"))
        terminalreporter.line(f"NOT RUN [{count}] {meaning}")
        terminalreporter.line(f"  run by: pytest -m {name}")
    if folders().keys() == {"made"}:
        terminalreporter.line("NOT RUN on real recorded crawls, only on made ones: none lie in")
        terminalreporter.line("  TEST_GRAPHBRAIN_DATA or ../shared/data")
    for process in _left:
        terminalreporter.line(f"LEFT RUNNING {process}", red=True)


# ---------------------------------------------------------------- the server and its brain


def _given() -> str | None:
    """The address of the server to test on, where there is one."""
    return os.environ.get("TEST_GRAPHBRAIN_URI")


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


def own_ports() -> list[int]:
    """Two ports that nobody takes while the server is down: neither those that servers have unless told otherwise, nor
    those that the system gives to whoever asks for any."""
    dice, found = random.Random(os.getpid()), list[int]()
    while len(found) < 2:
        port = dice.randrange(15_000, 30_000)
        with suppress(OSError), socket.socket() as tried:
            tried.bind(("127.0.0.1", port))
            found.append(port)
    return found


@pytest.fixture(scope="session")
def neo4j() -> Iterator[Neo4j]:
    given = _given()
    if given:
        user = os.environ.get("TEST_GRAPHBRAIN_USER", "neo4j")
        yield Neo4j(given, user, os.environ.get("TEST_GRAPHBRAIN_PASSWORD", ""))
        return
    version = os.environ.get("TEST_GRAPHBRAIN_NEO4J") or lifecycle.NEO4J_VERSION
    with tempfile.TemporaryDirectory(prefix="graphbrain-test-", dir=_in_memory()) as folder:
        data = Path(folder) / "neo4j"
        try:
            bolt, http = own_ports()
            memory = MEMORY_MB // (WORKERS if _IS_WORKER else 1)
            running = lifecycle.start(data, version=version, memory=memory, bolt_port=bolt, http_port=http)
        except ServerFailed as error:
            yield from _container(str(error))
            return
        try:
            yield Neo4j(running.uri, running.user, running.password, data, version)
        finally:
            lifecycle.stop(data)


def _in_memory() -> str | None:
    """A folder in memory with room for the servers, where there is one: commits wait for no disk there."""
    folder = Path("/dev/shm")
    with suppress(OSError):
        if os.access(folder, os.W_OK) and shutil.disk_usage(folder).free >= SHARED_MEMORY_MB * 2**20:
            return str(folder)
    return None


def _container(why: str) -> Iterator[Neo4j]:
    """Neo4j in Docker, when the local server could not be started."""
    try:
        kind, image, variables = container_facts()
        container = kind(image)
        for name, value in variables.items():
            container.with_env(name, value)
        container.start()
    except Exception as error:  # noqa: BLE001  # whatever Docker says, the run must fail with both reasons
        pytest.fail(f"no Neo4j to test on: {why}; and no container either: {error}")
    try:
        yield Neo4j(container.get_connection_url(), container.username, container.password)
    finally:
        container.stop()


def container_facts() -> tuple[type[Any], str, dict[str, str]]:
    """The class, the image and the variables of a container with the Neo4j of docker/compose.yml, and its settings but
    for sizes and ports."""
    import yaml
    from testcontainers.community.neo4j import Neo4jContainer

    compose = Path(__file__).resolve().parents[1] / "docker" / "compose.yml"
    service = yaml.safe_load(compose.read_text(encoding="utf-8"))["services"]["neo4j"]
    given = {name: value for name, value in service["environment"].items() if name.startswith("NEO4J_")}
    return Neo4jContainer, service["image"], {name: value for name, value in given.items() if "$" not in value}


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
    monkeypatch.setattr(ledger.Accounts, "pass_on", lambda *_: None)


@pytest.fixture(scope="session")
def made_data(tmp_path_factory: pytest.TempPathFactory) -> Recordings:
    """Recorded crawls that are made here."""
    return made(tmp_path_factory.mktemp("recordings"))


@pytest.fixture(scope="session", params=folders().items(), ids=lambda named: named[0])
def data_dir(request: pytest.FixtureRequest) -> Recordings:
    """Where recorded crawls are: those that are made here, and the real ones where they lie on this machine."""
    _, real = request.param
    return request.getfixturevalue("made_data") if real is None else Recordings(real, REAL)
