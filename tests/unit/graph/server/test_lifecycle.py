"""The local server's rules and files, without a server: memory, configuration, ports, password,
what a data directory may hold, what the log says of an end, and how jars are verified."""

from __future__ import annotations

import hashlib
import http.server
import os
import re
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from graphbrain.base.errors import ServerFailed
from graphbrain.graph.server import installation, jars, lifecycle, prepare
from tests.plugin import eventually

LATEST = lifecycle.NEO4J_VERSION


@contextmanager
def listening(port: int = 0, address: str = "127.0.0.1") -> Iterator[int]:
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind((address, port))
        other.listen()
        yield other.getsockname()[1]


# ---------------------------------------------------------------- memory


@pytest.mark.parametrize(
    ("total", "sizes"),
    [
        (640, (512, 128)),
        (768, (512, 256)),
        (2000, (1000, 1000)),
        (16_384, (8192, 8192)),
        (32_768, (8192, 24_576)),
    ],
)
def test_memory_is_halved_within_bounds(total: int, sizes: tuple[int, int]) -> None:
    assert installation.memory_sizes(total) == sizes


def test_too_little_memory_is_refused() -> None:
    with pytest.raises(ServerFailed, match="at least 640 MB"):
        installation.memory_sizes(639)


def test_default_memory_fits_the_machine() -> None:
    machine = installation.machine_memory()
    assert 100 < machine < 10**8
    assert installation.default_memory() <= max(640, machine // 2)


def test_limits_of_control_groups_are_found(tmp_path: Path) -> None:
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text("0::/outer/inner\n")
    inner = tmp_path / "sys/fs/cgroup/outer/inner"
    inner.mkdir(parents=True)
    (inner / "memory.max").write_text("max\n")
    (inner.parent / "memory.max").write_text("2147483648\n")
    assert installation._group_limits(tmp_path) == [2147483648]


# ---------------------------------------------------------------- configuration


def test_the_configuration_is_for_loopback_only() -> None:
    text = installation.configuration_text(installation.configuration(LATEST, (7687, 7474), (512, 256)))
    lines = text.splitlines()
    addresses = [line for line in lines if "_address=" in line]
    assert len(addresses) == 6 and all("=127.0.0.1" in line for line in addresses)
    for line in (
        "server.bolt.listen_address=127.0.0.1:7687",
        "server.http.listen_address=127.0.0.1:7474",
        "server.memory.heap.initial_size=512m",
        "server.memory.heap.max_size=512m",
        "server.memory.pagecache.size=256m",
        "db.lock.acquisition.timeout=10s",
        "db.transaction.timeout=120s",
        "dbms.usage_report.enabled=false",
        "client.allow_telemetry=false",
    ):
        assert line in lines
    assert "preallocate" not in text


def test_each_version_gets_the_settings_it_knows() -> None:
    new = installation.configuration(LATEST, (1, 2), (512, 256))
    old = installation.configuration(lifecycle.NEO4J_LTS_VERSION, (1, 2), (512, 256))
    quiet = "internal.dbms.bolt.netty_server_shutdown_quiet_period"
    assert f"{quiet}_duration" in new and quiet not in new
    assert quiet in old and f"{quiet}_duration" not in old
    assert not any("fleet" in name for name in old)


def test_the_users_settings_replace_ours(tmp_path: Path) -> None:
    (tmp_path / "extra.conf").write_text("# mine\n\n db.transaction.timeout = 5s\nserver.memory.heap.max_size=1g\n")
    extra = installation.extra_configuration(tmp_path)
    settings = installation.configuration(LATEST, (1, 2), (512, 256), extra)
    text = installation.configuration_text(settings)
    assert text.count("db.transaction.timeout=") == 1  # Neo4j refuses a setting that stands twice
    assert "db.transaction.timeout=5s\n" in text
    assert "-Xmx1g" in installation.java_options(tmp_path, LATEST, [], settings)


def test_a_line_of_extra_conf_that_is_no_setting_is_refused(tmp_path: Path) -> None:
    (tmp_path / "extra.conf").write_text("nonsense\n")
    with pytest.raises(ServerFailed, match="nonsense"):
        installation.extra_configuration(tmp_path)


# ---------------------------------------------------------------- ports


def test_last_ports_are_used_again_and_taken_ones_are_not() -> None:
    with listening() as taken, listening() as was_free:
        pass
    last = {"bolt_port": was_free, "http_port": taken}
    assert installation.choose_ports(None, None, last) == (was_free, taken)
    with listening(taken):
        bolt, http = installation.choose_ports(None, None, last)
    assert bolt == was_free and http not in (taken, bolt, 0)


@pytest.mark.parametrize("address", ["127.0.0.1", "0.0.0.0"])
def test_a_given_port_that_is_taken_is_refused(address: str) -> None:
    with listening(address=address) as taken:
        with pytest.raises(ServerFailed, match=f"Port {taken} is taken"):
            installation.choose_ports(taken, None, {})


def test_the_two_ports_differ_even_when_the_last_ones_did_not() -> None:
    with listening() as port:
        pass
    bolt, http = installation.choose_ports(None, None, {"bolt_port": port, "http_port": port})
    assert bolt == port != http


@pytest.mark.parametrize("nonsense", [-1, 70_000, "7687", None, 1.5])
def test_nonsense_for_a_last_port_does_no_harm(nonsense: object) -> None:
    last = {"bolt_port": nonsense, "http_port": nonsense}
    assert all(0 < port < 65_536 for port in installation.choose_ports(None, None, last))


# ---------------------------------------------------------------- the directory


def test_a_foreign_directory_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(ServerFailed, match="is not empty and is not a data directory"):
        lifecycle.start(tmp_path, say=lambda _: None)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_file_for_a_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(ServerFailed, match="is a file"):
        lifecycle.start(tmp_path / "file", say=lambda _: None)
    with pytest.raises(ServerFailed, match="cannot be used"):
        lifecycle.start(tmp_path / "file" / "below", say=lambda _: None)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_without_rights_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(ServerFailed, match=r"cannot be used|not writable"):
        lifecycle.start(tmp_path / "data", say=lambda _: None)


@pytest.mark.parametrize("version", ["foo", "", "5", "2026.09.0; rm", "../x", "4.4.40", "5.25.9"])
def test_what_is_no_version_of_neo4j_is_refused_before_anything_is_done(tmp_path: Path, version: str) -> None:
    for start in (lambda: lifecycle.start(tmp_path / "x", version=version), lambda: prepare.prime(version, say=print)):
        with pytest.raises(ServerFailed, match=r"as (in )?2026\S+ or 5\.26") as refused:
            start()
        assert "\n" not in str(refused.value)
    assert not (tmp_path / "x").exists()


def test_a_home_that_cannot_be_written_is_said_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ServerFailed, match=r"cannot be used \(Not a directory\).*GRAPHBRAIN_DATA"):
        lifecycle.start(tmp_path / "file" / "data")
    monkeypatch.setenv("HOME", str(tmp_path / "file"))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    with pytest.raises(ServerFailed, match=r"cannot be used \(Not a directory\).*XDG_CACHE_HOME"):
        lifecycle.start(tmp_path / "data")


def test_memory_that_was_asked_for_is_remembered(tmp_path: Path) -> None:
    assert lifecycle.status(tmp_path).memory_set is None
    installation.write_state(tmp_path, {"memory": 700, "pid": 1})
    assert lifecycle.status(tmp_path).memory_set == 700
    told: list[str] = []
    lifecycle._remember(tmp_path, installation.read_state(tmp_path), 900, told.append)
    assert lifecycle.status(tmp_path).memory_set == 900 and "900 MB" in told[0] and "next start" in told[0]
    lifecycle._remember(tmp_path, installation.read_state(tmp_path), 900, told.append)
    lifecycle._remember(tmp_path, installation.read_state(tmp_path), None, told.append)
    assert len(told) == 1, "nothing is said of what stays"
    lifecycle._remember(tmp_path, installation.read_state(tmp_path), 0, told.append)
    assert lifecycle.status(tmp_path).memory_set is None and "half" in told[1]
    installation.write_state(tmp_path, {"memory": "nonsense"})
    assert lifecycle.status(tmp_path).memory_set is None


def test_a_newer_versions_data_is_refused(tmp_path: Path) -> None:
    installation.write_version(tmp_path, "2031.01.0")
    with pytest.raises(ServerFailed, match=r"written by Neo4j 2031\.01\.0, which is newer"):
        lifecycle.start(tmp_path, say=lambda _: None)
    installation.refuse_newer(tmp_path, "2031.01.1")
    installation.write_version(tmp_path, "5.26.12")
    installation.refuse_newer(tmp_path, "2026.09.0")


def test_a_full_disk_is_refused_before_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "LEAST_FREE_BYTES", 1 << 60)
    with pytest.raises(ServerFailed, match="MB are free"):
        lifecycle.start(tmp_path / "data", say=lambda _: None)


def test_the_default_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GRAPHBRAIN_DATA", str(tmp_path))
    assert lifecycle.default_data_dir() == tmp_path
    monkeypatch.delenv("GRAPHBRAIN_DATA")
    assert lifecycle.default_data_dir().parts[-2:] == ("graphbrain", "neo4j")


# ---------------------------------------------------------------- its files


def test_the_password_is_random_private_and_kept(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        installation.make_password(tmp_path)
    finally:
        os.umask(before)
    file = tmp_path / "password"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    word = installation.password(tmp_path)
    assert len(word) >= 24
    installation.make_password(tmp_path)
    assert installation.password(tmp_path) == word
    file.unlink()
    with pytest.raises(ServerFailed, match="put the file back"):
        installation.password(tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"pid": "x", "bolt_port": 1, "http_port": 2, "version": "1"}',
        '{"pid": 1}',
        '{"pid": -5, "bolt_port": 1, "http_port": 2, "version": "1"}',
        '{"pid": 99999999, "bolt_port": 1, "http_port": 2, "version": "1"}',
        '{"pid": 1, "bolt_port": 1, "http_port": 2, "version": "1"}',  # another program
        '{"pid": OURS, "bolt_port": 1, "http_port": 2, "version": "1"}',
    ],
)
def test_a_stale_or_damaged_state_means_no_server(tmp_path: Path, text: str) -> None:
    (tmp_path / "server.json").write_text(text.replace("OURS", str(os.getpid())))
    assert lifecycle.find(tmp_path) is None
    assert lifecycle.stop(tmp_path) is False
    assert lifecycle.status(tmp_path).running is False


def test_nothing_runs_where_nothing_is(tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere"
    assert lifecycle.find(nowhere) is None
    assert lifecycle.status(nowhere) == lifecycle.Status(False, nowhere)
    assert list(lifecycle.logs(nowhere)) == []
    assert not nowhere.exists()


def test_the_last_lines_of_the_log(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    lifecycle.log_file(tmp_path).write_bytes(b"one\ntwo\xff\nthree")
    assert list(lifecycle.logs(tmp_path, 2)) == ["two\N{REPLACEMENT CHARACTER}", "three"]


# ---------------------------------------------------------------- why a server ended


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("Caused by: java.net.BindException: Address already in use", "a port is taken"),
        ("java.io.IOException: No space left on device", "disk is full"),
        ("Error occurred during initialization of VM\nCould not reserve enough space", "memory"),
        ("java.lang.UnsupportedClassVersionError: x (class file version 65.0)", "Java is too old"),
        ("Unrecognized setting. No declared setting with name: nonsense.", "nonsense"),
        ("RuntimeException: originates from an newer version of neo4j, which", "version it cannot"),
        ("org.neo4j.kernel.internal.locker.FileLockException: Lock file", "another process"),
    ],
)
def test_the_reason_is_fished_from_the_log(tmp_path: Path, line: str, words: str) -> None:
    (tmp_path / "logs").mkdir()
    lifecycle.log_file(tmp_path).write_text(f"INFO  Starting...\n{line}\nINFO  Stopped.\n")
    error = lifecycle._why_it_ended(tmp_path, 99999999)
    assert words in str(error) and "console.log" in str(error)


def test_an_unknown_reason_is_said_to_be_one(tmp_path: Path) -> None:
    assert "only its log knows" in str(lifecycle._why_it_ended(tmp_path, 99999999))


# ---------------------------------------------------------------- Java and jars


def test_a_java_that_is_none_or_too_old_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ServerFailed, match="cannot be run as Java"):
        jars.find_java(str(tmp_path / "java"), LATEST)
    old = tmp_path / "bin" / "java"
    old.parent.mkdir()
    old.write_text("#!/bin/sh\necho 'openjdk version \"17.0.15\" 2025-04-15' >&2\n")
    old.chmod(0o755)
    with pytest.raises(ServerFailed, match=r"is Java 17, and Neo4j 2026\.09\.0 needs 21"):
        jars.find_java(str(old), LATEST)
    assert jars.find_java(str(tmp_path), lifecycle.NEO4J_LTS_VERSION) == str(old)  # a Java home


def test_a_missing_extra_is_said_in_one_sentence() -> None:
    with pytest.raises(ServerFailed, match=rf"{re.escape(sys.executable)} -m pip install .*'jgo.*psutil\S* "):
        jars._local_extra("no_such_module_of_graphbrain")


@pytest.mark.parametrize("version", [lifecycle.NEO4J_VERSION, lifecycle.NEO4J_LTS_VERSION])
def test_the_pinned_versions_have_their_lock_files(version: str, tmp_path: Path) -> None:
    found = jars._read_lock(version, lifecycle.BROWSER_VERSION, tmp_path)
    assert len(found) > 200
    assert found[0].path == f"org/neo4j/neo4j/{version}/neo4j-{version}.jar"
    assert len({jar.path for jar in found}) == len(found)
    assert all(len(jar.sha256) == 64 and jar.size > 0 for jar in found)
    native = [jar.path for jar in found if jar.coordinate.endswith("linux-x86_64")]
    assert native and all(path.endswith("-linux-x86_64.jar") for path in native)


class _Repository(http.server.BaseHTTPRequestHandler):
    files: dict[str, bytes] = {}  # noqa: RUF012  (each test sets its own)
    asked: list[str] = []  # noqa: RUF012

    def do_GET(self) -> None:
        self.asked.append(self.path)
        body = self.files.get(self.path.lstrip("/"))
        self.send_response(200 if body is not None else 404)
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[type[_Repository]]:
    """A Maven repository on loopback, with empty places for the user's copy and cache."""
    handler = type("Repository", (_Repository,), {"files": {}, "asked": []})
    web = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=web.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    url = f"http://127.0.0.1:{web.server_address[1]}"
    monkeypatch.setattr(jars, "remote_repository", lambda: url)
    monkeypatch.setattr(jars, "local_repository", lambda: tmp_path / "m2")
    monkeypatch.setattr(jars.platformdirs, "user_cache_dir", lambda _: str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    yield handler
    web.shutdown()
    web.server_close()
    thread.join()


def _locked(tmp_path: Path, files: dict[str, bytes]) -> list[jars.Jar]:
    wanted = [jars.Jar(hashlib.sha256(body).hexdigest(), len(body), coordinate) for coordinate, body in files.items()]
    text = jars._lock_text(wanted, "0.0.1", "9")
    jars._write(jars._lock_path("0.0.1", tmp_path / "cache"), text)
    return wanted


CONTENT = {"g:neo4j:0.0.1": b"first" * 50_000, "g:neo4j-browser:9": b"second", "a.b:c:1:osx": b"3"}


def _fetch() -> tuple[list[Path], list[str]]:
    said: list[str] = []
    return jars.jars("0.0.1", "9", say=said.append, progress=lambda *_: None), said


def test_jars_are_fetched_once_and_only_what_is_missing_or_damaged(
    tmp_path: Path, repository: type[_Repository]
) -> None:
    wanted = _locked(tmp_path, CONTENT)
    repository.files = {jar.path: CONTENT[jar.coordinate] for jar in wanted}
    paths, said = _fetch()
    assert [path.read_bytes() for path in paths] == list(CONTENT.values())
    assert len(said) == 2 and len(repository.asked) == 3
    assert _fetch() == (paths, [])
    paths[0].write_bytes(paths[0].read_bytes()[:1000])  # what an interrupted jgo leaves
    paths[1].write_bytes(b"secund")  # the right size
    assert _fetch()[0] == paths
    assert [path.read_bytes() for path in paths] == list(CONTENT.values())
    assert len(repository.asked) == 5
    assert not list((tmp_path / "m2").rglob("*.part"))


def test_a_wrong_jar_is_never_put_in_place(
    tmp_path: Path, repository: type[_Repository], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jars.tenacity.nap.time, "sleep", lambda _: None)
    wanted = _locked(tmp_path, CONTENT)
    repository.files = {jar.path: CONTENT[jar.coordinate] for jar in wanted}
    repository.files[wanted[2].path] = b"x"
    with pytest.raises(ServerFailed, match="wrong checksum"):
        _fetch()
    assert not (tmp_path / "m2" / wanted[2].path).exists()
    del repository.files[wanted[2].path]
    with pytest.raises(ServerFailed, match="404"):
        _fetch()
    repository.files[wanted[2].path] = CONTENT["a.b:c:1:osx"]
    assert len(_fetch()[0]) == 3


def test_without_a_network_the_error_says_what_to_do(
    tmp_path: Path, repository: type[_Repository], monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = _locked(tmp_path, CONTENT)
    with listening() as closed:
        pass
    monkeypatch.setattr(jars, "remote_repository", lambda: f"http://127.0.0.1:{closed}")
    monkeypatch.setattr(jars.tenacity.nap.time, "sleep", lambda _: None)
    with pytest.raises(ServerFailed, match=r"connect this machine to the network .* GRAPHBRAIN_URI"):
        _fetch()
    assert repository.asked == [] and not (tmp_path / "m2" / wanted[0].path).exists()


def test_a_jar_without_a_lock_is_checked_against_the_published_sum(
    repository: type[_Repository], monkeypatch: pytest.MonkeyPatch
) -> None:
    unknown = [jars.Jar("", 0, coordinate) for coordinate in CONTENT]
    monkeypatch.setattr(jars, "_resolve", lambda *_: unknown)
    monkeypatch.setattr(jars.tenacity.nap.time, "sleep", lambda _: None)
    for jar in unknown:
        body = CONTENT[jar.coordinate]
        repository.files[jar.path] = body
        repository.files[f"{jar.path}.sha1"] = hashlib.sha1(body).hexdigest().encode()
    repository.files[f"{unknown[0].path}.sha1"] = b"0" * 40 + b"  name"
    with pytest.raises(ServerFailed, match="wrong checksum"):
        _fetch()
    right = hashlib.sha1(CONTENT[unknown[0].coordinate]).hexdigest()
    repository.files[f"{unknown[0].path}.sha1"] = f"{right}  name\n".encode()
    paths, _ = _fetch()
    asked = len(repository.asked)
    assert _fetch() == (paths, [])  # from now on by the lock file in the cache
    assert len(repository.asked) == asked


def test_the_users_mirror_is_respected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert jars.remote_repository() == "https://repo1.maven.org/maven2"
    (tmp_path / ".m2").mkdir()
    (tmp_path / ".m2" / "settings.xml").write_text(
        '<settings xmlns="http://maven.apache.org/SETTINGS/1.0.0"><mirrors><mirror>'
        "<id>m</id><mirrorOf>central</mirrorOf><url>https://mirror.example/maven/</url>"
        "</mirror></mirrors></settings>"
    )
    assert jars.remote_repository() == "https://mirror.example/maven"


def test_a_file_lock_keeps_the_second_out_until_the_first_is_done(tmp_path: Path) -> None:
    order: list[str] = []
    waits = threading.Event()

    def second() -> None:
        with jars.file_lock(tmp_path / "lock", say=waits.set):
            order.append("second")

    with jars.file_lock(tmp_path / "lock", say=lambda: order.append("said")):
        thread = threading.Thread(target=second)
        thread.start()
        assert waits.wait(10)
        order.append("first")
    thread.join(10)
    assert order == ["first", "second"]


def test_the_end_of_a_server_that_another_process_has_stopped_is_taken_note_of(tmp_path: Path) -> None:
    """Else it is a zombie for as long as the process lives that has started it."""
    child = subprocess.Popen(["true"])
    lifecycle._children[child.pid] = child
    eventually(lambda: lifecycle.find(tmp_path) is None and child.pid not in lifecycle._children, "its end")
    assert child.returncode == 0
