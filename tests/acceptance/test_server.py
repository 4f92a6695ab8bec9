"""The local server for real: started, found, stopped, killed, started twice at once, and refused.

Each start costs seconds, so the tests go through a server's life in few of them.
"""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import neo4j
import psutil
import pytest

from graphbrain.base.errors import GraphUnavailable, ServerFailed
from graphbrain.graph.connection import Graph, Tx
from graphbrain.graph.server import installation, lifecycle, prepare
from tests.plugin import PATIENCE, eventually

pytestmark = pytest.mark.long  # all of them: each goes on with the server that the one before has left
MEMORY = 768  # MB: heap 512, page cache 256
START = """
import sys; from pathlib import Path; from graphbrain.graph.server import lifecycle
print(lifecycle.start(Path(sys.argv[1]), memory=768).pid)
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One data directory for all tests, with a space in its name; stopped at the end."""
    path = tmp_path_factory.mktemp("server") / "data directory"
    yield path
    lifecycle.stop(path, timeout=20)


def _query(running: lifecycle.Server, text: str) -> list[list[object]]:
    auth = (running.user, running.password)
    with neo4j.GraphDatabase.driver(running.uri, auth=auth) as driver:
        return [record.values() for record in driver.execute_query(text, database_="neo4j").records]


def _in_two_processes(home: Path) -> list[int]:
    both = [
        subprocess.Popen(
            [sys.executable, "-c", START, str(home)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        for _ in range(2)
    ]
    told = [one.communicate(timeout=PATIENCE) for one in both]
    assert [one.returncode for one in both] == [0, 0], told
    return [int(out) for out, _ in told]


def test_two_starts_at_once_give_one_server_which_is_used_and_stopped(home: Path) -> None:
    with socket.socket() as other:  # the usual port is taken, by us or by a Neo4j of the user's
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            other.bind(("127.0.0.1", installation.USUAL_BOLT_PORT))
            other.listen()
        except OSError:
            pass
        pids = _in_two_processes(home)
    assert pids[0] == pids[1]
    running = lifecycle.find(home)
    assert running is not None and running.pid == pids[0]
    assert running.bolt_port != installation.USUAL_BOLT_PORT
    assert running.data == home and running.version == lifecycle.NEO4J_VERSION

    assert lifecycle.start(home, say=lambda text: pytest.fail(text)) == running  # at once
    now = lifecycle.status(home)
    assert (now.running, now.pid, now.data_version) == (True, running.pid, lifecycle.NEO4J_VERSION)
    assert now.memory and now.memory > 1e8 and now.disk > 1e6
    assert now.since is not None and abs(now.since - time.time()) < 2 * PATIENCE

    _query(running, "CREATE (:Kept)")
    kernel = "CALL dbms.components() YIELD name, versions WHERE name = 'Neo4j Kernel' RETURN versions"
    assert _query(running, kernel) == [[[lifecycle.NEO4J_VERSION]]]
    assert urllib.request.urlopen(running.browser, timeout=PATIENCE).status == 200

    _is_private(running)
    assert any("Started." in line for line in lifecycle.logs(home))
    assert lifecycle.stop(home) is True
    assert _is_gone(running.pid)
    assert lifecycle.find(home) is None and lifecycle.stop(home) is False
    assert any("Stopped." in line for line in lifecycle.logs(home))


def _is_gone(pid: int) -> bool:
    """Whether the process has ended; whoever adopted it may not have taken note of it yet."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def _is_private(running: lifecycle.Server) -> None:
    """Loopback only; the password in one file, for the user only, and on no command line."""
    process = psutil.Process(running.pid)
    listening = [c.laddr.ip for c in process.net_connections("tcp") if c.status == "LISTEN"]
    assert len(listening) == 2 and all(ip in ("127.0.0.1", "::ffff:127.0.0.1") for ip in listening)
    assert not process.net_connections("udp")
    assert running.password not in " ".join(process.cmdline())
    file = running.data / "password"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    texts = [p for p in running.data.rglob("*") if p.is_file() and p.suffix in (".args", ".conf")]
    assert texts and not any(running.password in p.read_text() for p in texts)
    assert os.getsid(running.pid) == running.pid  # Ctrl-C in the starter's terminal passes by


def test_a_killed_server_starts_again_with_its_data_and_ports(home: Path) -> None:
    before = installation.read_state(home)
    running = lifecycle.start(home, memory=MEMORY, say=lambda _: None)
    assert (running.bolt_port, running.http_port) == (before["bolt_port"], before["http_port"])
    os.kill(running.pid, signal.SIGKILL)
    psutil.Process(running.pid).wait(PATIENCE)
    assert lifecycle.find(home) is None and lifecycle.status(home).running is False
    # Somebody takes its port meanwhile: another one is found.
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("127.0.0.1", running.bolt_port))
        other.listen()
        with pytest.raises(ServerFailed, match="is taken"):
            lifecycle.start(home, bolt_port=running.bolt_port, say=lambda _: None)
        again = lifecycle.start(home, memory=MEMORY, say=lambda _: None)
    assert again.bolt_port != running.bolt_port
    assert _query(again, "MATCH (k:Kept) RETURN count(k)") == [[1]]


def test_beside_a_running_server_another_is_refused_with_its_reason(home: Path, tmp_path: Path) -> None:
    """A wrong setting ends it early and cheaply: what is tried is how an end is reported."""
    (tmp_path / "extra.conf").write_text("server.nonsense=1\n")
    with pytest.raises(ServerFailed, match=r"server\.nonsense"):
        lifecycle.start(tmp_path, memory=MEMORY, say=lambda _: None)
    assert lifecycle.find(tmp_path) is None
    assert lifecycle.find(home) is not None  # untouched


def test_a_read_of_the_whole_graph_outlasts_the_limit_of_a_transaction(tmp_path: Path) -> None:
    """Another one is ended by it, with a sentence that names the limit."""
    (tmp_path / "extra.conf").write_text("db.transaction.timeout=1s\ndb.transaction.monitor.check.interval=200ms\n")
    running = lifecycle.start(tmp_path, memory=MEMORY, say=lambda _: None)
    graph = Graph(running.uri, running.user, running.password, "neo4j", limit_seconds=1.0)

    def count(tx: Tx) -> int:
        until = "datetime.realtime().epochMillis - $began < 4000"
        began = tx.ask("began", "RETURN datetime.realtime().epochMillis", {})[1][0][0]
        text = f"UNWIND range(1, 1000000000) AS i WITH i WHERE NOT {until} RETURN i LIMIT 1"
        return len(tx.ask("count", text, {"began": began})[1])

    try:
        with pytest.raises(GraphUnavailable, match=r"^Neo4j at .* ended count, .*db\.transaction\.timeout"):
            graph.read(count, "count", patient=False)
        assert graph.read(count, "count", patient=False, slow=True) == 1
        assert graph.anywhere.read(count, "count", patient=False, slow=True) == 1
    finally:
        graph.close()
        lifecycle.stop(tmp_path, timeout=20)


def test_who_makes_javas_cache_leaves_nothing_behind(tmp_path: Path) -> None:
    """A maker is killed amid its work: the next one ends what it has left. That is stopped, and cleans up."""
    cache = tmp_path / "graphbrain"

    def begin() -> tuple[subprocess.Popen[bytes], int]:
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "XDG_CACHE_HOME": str(tmp_path)}
        maker = subprocess.Popen([sys.executable, "-m", "graphbrain", "server", "prepare"], env=env)
        return maker, eventually(lambda: _learner(cache, set(seen)), "its server", maker) or 0

    seen: list[int] = []
    maker, pid = begin()
    seen.append(pid)
    maker.kill()
    maker.wait(PATIENCE)
    assert not _is_gone(pid)
    again, other = begin()
    assert _is_gone(pid)
    again.send_signal(signal.SIGINT)
    assert again.wait(PATIENCE) == 130
    assert _is_gone(other)
    assert not list(cache.glob("java-*"))  # it can be tried again


def _learner(cache: Path, seen: set[int]) -> int | None:
    """The process of a maker's server, once it runs; not one of those that were seen."""
    for home in cache.glob("java-*.server"):
        pid = installation.read_state(home).get("pid")
        if isinstance(pid, int) and pid not in seen:
            return pid
    return None


@pytest.mark.nightly
@pytest.mark.skipif(sys.platform != "linux", reason="only here a process says what it has mapped")
def test_the_server_starts_with_what_java_has_learnt(home: Path) -> None:
    file, _ = prepare.prime(say=lambda _: None)
    assert file is not None and file.stat().st_size > 1e7
    assert prepare.prime(say=lambda text: pytest.fail(text)) == (file, False)
    lifecycle.stop(home)
    running = lifecycle.start(home, memory=MEMORY, say=lambda _: None)
    assert any(Path(part.path) == file for part in psutil.Process(running.pid).memory_maps())
    assert not [line for line in lifecycle.logs(home) if "[aot" in line]
    assert _query(running, "MATCH (k:Kept) RETURN count(k)") == [[1]]
