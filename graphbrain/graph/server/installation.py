"""The contents of the local server's data directory, and the files that are written there before a start.

Pure rules come first (memory, configuration, ports), then the files: the mark that the directory is graphbrain's, the
version that wrote its data, the password, and the state of the last start. Each file is written as a whole or not at
all. graphbrain.graph.server.lifecycle starts and inspects processes.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import socket
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from graphbrain.base.errors import ServerFailed

USUAL_BOLT_PORT, USUAL_HTTP_PORT = 7687, 7474
LEAST_MEMORY_MB = 640
LEAST_FREE_BYTES = 500_000_000
OLDEST = (5, 26)
MARK = "neo4j-version"
STATE = "server.json"
_OPENS = ("java.nio", "java.io", "sun.nio.ch", "java.util.concurrent")
"""Packages of Java to which Neo4j needs reflective access."""

# ---------------------------------------------------------------- memory


def memory_sizes(total: int) -> tuple[int, int]:
    """Return (heap, page cache) in MB out of `total` MB: half and half, the heap from 512 to 8192.

    Beyond 8 GB a heap only makes pauses longer, while the page cache continues to save reads. The Java process needs
    some 400 MB beside them.

    Raises:
        ServerFailed: `total` is too small.
    """
    if total < LEAST_MEMORY_MB:
        raise ServerFailed(f"Neo4j needs at least {LEAST_MEMORY_MB} MB of memory, not {total}.")
    heap = min(8192, max(512, total // 2))
    return heap, total - heap


def default_memory() -> int:
    """Return the MB for heap and page cache together: half of the machine, at least 640, at most 32 GB."""
    return min(32_768, max(LEAST_MEMORY_MB, machine_memory() // 2))


def machine_memory() -> int:
    """Return the machine's memory in MB, or the control group's limit (a container's) if that is less."""
    physical = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min([physical, *_group_limits(Path("/"))]) >> 20


def _group_limits(root: Path) -> list[int]:
    """Return the memory limits in bytes of this process's control group and of all groups that contain it."""
    # Find the group.
    group = ""
    with suppress(OSError):
        for line in (root / "proc/self/cgroup").read_text().splitlines():
            number, controllers, path = line.split(":", 2)
            if number == "0" or "memory" in controllers.split(","):
                group = path.strip("/")
    # List the files with limits, of version 2 and version 1 of control groups.
    tree = root / "sys/fs/cgroup"
    parts = group.split("/") if group else []
    limit_files = []
    for depth in range(len(parts) + 1):
        limit_files.append(tree.joinpath(*parts[:depth], "memory.max"))
        limit_files.append((tree / "memory").joinpath(*parts[:depth], "memory.limit_in_bytes"))
    # Read them.
    limits = []
    for limit_file in limit_files:
        with suppress(OSError, ValueError):  # the file is missing, or it contains "max"
            limits.append(int(limit_file.read_text()))
    return limits


# ---------------------------------------------------------------- configuration


def configuration(
    version: str,
    ports: tuple[int, int],
    sizes: tuple[int, int],
    extra: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Return Neo4j's settings.

    Args:
        version: The version of Neo4j.
        ports: The (bolt, http) ports.
        sizes: (heap, page cache) in MB.
        extra: The user's settings. They replace those of graphbrain, because Neo4j refuses a setting that occurs twice.
    """
    bolt, http = (f"127.0.0.1:{port}" for port in ports)
    heap, page_cache = (f"{size}m" for size in sizes)
    ours = {
        # Only this machine reaches the server.
        "server.default_listen_address": "127.0.0.1",
        "server.default_advertised_address": "127.0.0.1",
        "server.bolt.listen_address": bolt,
        "server.bolt.advertised_address": bolt,
        "server.http.listen_address": http,
        "server.http.advertised_address": http,
        "server.https.enabled": "false",
        "server.memory.heap.initial_size": heap,
        "server.memory.heap.max_size": heap,
        "server.memory.pagecache.size": page_cache,
        # A transaction that waits longer for a lock gets an error, and is run again.
        "db.lock.acquisition.timeout": "10s",
        "db.transaction.timeout": "120s",
        # Keep plans for long. Those of graphbrain's statements do not depend on the amount of data, and to make one
        # takes up to a fifth of a second.
        "dbms.cypher.min_replan_interval": "10m",
        # Make log files smaller. Each of the two databases preallocates one: with 256 MB each they would take 512 MB at
        # the start. db.tx_log.preallocate stays on: without it a server whose disk was full cannot start.
        "db.tx_log.rotation.size": "64m",
        "db.tx_log.rotation.retention_policy": "256M size",
        "dbms.usage_report.enabled": "false",
        "client.allow_telemetry": "false",
    }
    # Skip the quiet period of a stop, which takes ten seconds. Neo4j refuses a setting that it does not know, so each
    # version gets the name that it knows.
    quiet_period = "internal.dbms.bolt.netty_server_shutdown_quiet_period"
    if version_numbers(version) >= (2026, 9):
        ours[f"{quiet_period}_duration"] = "0s"
        # Do not search the network for other servers, and do not trust the headers of a proxy.
        ours["server.fleet_discovery.enabled"] = "false"
        ours["dbms.fleet_manager.enabled"] = "false"
        ours["server.http.x_forward.enabled"] = "false"
    elif version_numbers(version) < (2025,):
        ours[quiet_period] = "0"
    return ours | dict(extra or {})


def configuration_text(settings: Mapping[str, str]) -> str:
    """Return the text of neo4j.conf with these settings."""
    head = "# Written at every start of graphbrain's server. Yours go into ../extra.conf.\n"
    return head + "".join(f"{name}={value}\n" for name, value in settings.items())


def extra_configuration(home: Path) -> dict[str, str]:
    """Return the settings of the user's `extra.conf`, if there is one.

    Raises:
        ServerFailed: A line is no setting.
    """
    settings: dict[str, str] = {}
    with suppress(FileNotFoundError):
        for line in (home / "extra.conf").read_text("utf-8").splitlines():
            name, is_setting, value = line.strip().partition("=")
            if not name or name.startswith("#"):
                continue
            if not is_setting:
                raise ServerFailed(f"{home / 'extra.conf'} has a line that is no setting: {line!r}.")
            settings[name.strip()] = value.strip()
    return settings


def check_version(version: str, examples: str) -> None:
    """Check that graphbrain can use a version of Neo4j.

    Raises:
        ServerFailed: The text is no version, or the version is too old.
    """
    if not re.fullmatch(r"\d{1,4}(\.\d{1,4}){1,3}", version):
        raise ServerFailed(f"{version!r} is no version of Neo4j; name one as in {examples}.")
    if version_numbers(version) < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise ServerFailed(f"Neo4j {version} is too old: {oldest} and later can be used, as {examples}.")


def configured_memory(home: Path) -> tuple[int, int] | None:
    """Return (heap, page cache) in MB of the last start, or None if its configuration does not have them."""
    with suppress(OSError):
        text = (home / "conf" / "neo4j.conf").read_text("utf-8")
        names = ("heap.max_size", "pagecache.size")
        sizes = [re.search(rf"^server\.memory\.{re.escape(name)}=(\d+)m$", text, re.MULTILINE) for name in names]
        if sizes[0] and sizes[1]:
            return int(sizes[0][1]), int(sizes[1][1])
    return None


def tool_options(class_path: list[Path], heap: int) -> list[str]:
    """Return Java's options for one of Neo4j's own tools. `heap`: in MB.

    On two cores the import tool takes 13 s of CPU time with the parallel collector, and 14 s with G1.
    """
    opens = (f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENS)
    memory = (f"-Xmx{heap}m", "-XX:+UseParallelGC")
    return [*memory, *opens, "--enable-native-access=ALL-UNNAMED", "-cp", joined(class_path)]


def java_options(home: Path, version: str, class_path: list[Path], settings: Mapping[str, str]) -> list[str]:
    """Return Java's options for the server: memory, the options of Neo4j's own launcher, and the class path.

    The garbage collector is not that of the launcher, G1, which uses the same cores as the work. On two cores, after a
    start, claims take a fifth longer with it than with the parallel collector, which stops all threads for some 9 ms
    now and then. The data of a transaction is garbage when it has ended. With half of the heap for new objects, and not
    a third, most transactions end before their data counts as old. So all threads stop a third less often: in a
    settling pass of cnr-2000 13 times instead of 20, after which 1 MB stays in the heap instead of 100 to 200.
    """
    # Memory, and the collector.
    heap = settings["server.memory.heap.max_size"]
    args = [
        f"-Xms{settings.get('server.memory.heap.initial_size', heap)}",
        f"-Xmx{heap}",
        "-XX:+UseParallelGC",
        "-XX:NewRatio=1",
        # The options of Neo4j's launcher.
        "-XX:-OmitStackTraceInFastThrow",
        "-XX:+DisableExplicitGC",
        "-Djdk.nio.maxCachedBufferSize=1024",
        "-Dio.netty.tryReflectionSetAccessible=true",
        "-Dlog4j2.disable.jmx=true",
        "-Dfile.encoding=UTF-8",
        *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENS),
        "--enable-native-access=ALL-UNNAMED",
    ]
    if version_numbers(version) >= (2025,):
        args.append("-Dorg.neo4j.shaded.lucene9.vectorization.upperJavaFeatureVersion=25")
    # Put the jars first: Java's cache of them (graphbrain.graph.server.java_cache) is valid only if no path precedes
    # them.
    return [*args, "-cp", joined([*class_path, home / "plugins" / "*"])]


def joined(class_path: list[Path]) -> str:
    """Return a class path as Java reads it."""
    return os.pathsep.join(str(path) for path in class_path)


# ---------------------------------------------------------------- ports


def choose_ports(bolt: int | None, http: int | None, last: Mapping[str, Any]) -> tuple[int, int]:
    """Return the (bolt, http) ports: the given one, or else that of the last start, the usual one, or any free one.

    Raises:
        ServerFailed: Another program uses a given port.
    """
    with ExitStack() as sockets:  # keep both sockets open until both ports are chosen, so that they differ
        chosen = [
            _choose(sockets, bolt, last.get("bolt_port"), USUAL_BOLT_PORT),
            _choose(sockets, http, last.get("http_port"), USUAL_HTTP_PORT),
        ]
    return chosen[0], chosen[1]


def _choose(sockets: ExitStack, given: int | None, last: Any, usual: int) -> int:
    if given:
        if not _hold(sockets, given):
            raise ServerFailed(f"Port {given} is taken by another program; name another port.")
        return given
    for port in (last, usual):
        if isinstance(port, int) and _hold(sockets, port):
            return port
    return _hold(sockets, 0)


def _hold(sockets: ExitStack, port: int) -> int:
    """Bind the port (0: any) until `sockets` ends. Return the port, or 0 if it is taken or impossible."""
    mine = sockets.enter_context(socket.socket())
    # Without this option the port of a server that was just stopped counts as taken for a minute (TIME_WAIT).
    mine.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    with suppress(OSError, OverflowError):
        mine.bind(("127.0.0.1", port))
        # With it some systems also allow the bind if another process listens on all addresses: try to connect.
        with socket.socket() as probe:
            probe.settimeout(1)
            if port and probe.connect_ex(("127.0.0.1", port)) == 0:
                return 0
        mine.listen()  # with the option above, other processes could bind the port otherwise
        return int(mine.getsockname()[1])
    return 0


# ---------------------------------------------------------------- the directory


def refuse_foreign(home: Path) -> None:
    """Check that a directory is new, empty or of a server of graphbrain.

    Raises:
        ServerFailed: It contains other files.
    """
    if not home.exists() or (home / MARK).exists():
        return
    if not home.is_dir():
        raise ServerFailed(f"The data directory {home} is a file; name a directory.")
    if {path.name for path in home.iterdir()} - {"start.lock", "extra.conf", f"{MARK}.part"}:
        raise ServerFailed(
            f"{home} is not empty and is not a data directory of graphbrain's server; "
            "name another one, with GRAPHBRAIN_DATA for example."
        )


def refuse_newer(home: Path, version: str) -> None:
    """Check that no newer Neo4j than `version` wrote the data: it could not be converted back.

    Raises:
        ServerFailed: A newer Neo4j wrote the data.
    """
    wrote = data_version(home)
    if wrote and version_numbers(wrote) > version_numbers(version):
        raise ServerFailed(
            f"The data in {home} was written by Neo4j {wrote}, which is newer than {version}: "
            "update graphbrain, or name another data directory."
        )


def make_home(home: Path) -> None:
    """Make the directory (for the user only) and check the free space.

    Raises:
        ServerFailed: There is too little space.
        OSError: The directory cannot be made.
    """
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not os.access(home, os.W_OK | os.X_OK):
        raise ServerFailed(
            f"The data directory {home} is not writable; change its rights, or name another one with GRAPHBRAIN_DATA."
        )
    free = free_bytes(home)
    if free < LEAST_FREE_BYTES:
        raise ServerFailed(
            f"Only {free // 1_000_000} MB are free on the disk of {home}; Neo4j is not started "
            f"with less than {LEAST_FREE_BYTES // 1_000_000} MB: make room."
        )


def free_bytes(home: Path) -> int:
    """Return the free bytes on the disk of the directory."""
    return shutil.disk_usage(home).free


def mark_home(home: Path, version: str) -> None:
    """Mark the directory as graphbrain's and make the folders in it. The caller holds the start lock."""
    if not data_version(home):
        write_version(home, version)  # first: without this mark, `refuse_foreign` refuses the folders
    for name in ("conf", "data", "logs", "run", "plugins", "import"):
        (home / name).mkdir(exist_ok=True)


def data_version(home: Path) -> str | None:
    """Return the version of Neo4j that last wrote the data, or None if none has."""
    with suppress(OSError):
        return (home / MARK).read_text("utf-8").strip() or None
    return None


def version_numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of a version for comparison: (2026, 9, 0) for 2026.09.0."""
    return tuple(int(number) for number in re.findall(r"\d+", version))


def disk_used(home: Path) -> int:
    """Return the bytes in all files of the directory."""
    total = 0
    for folder, _, names in os.walk(home):
        for name in names:
            with suppress(OSError):  # the file was deleted in the meantime
                # Count blocks and not the length, because Neo4j's files have holes.
                total += (Path(folder) / name).lstat().st_blocks * 512
    return total


# ---------------------------------------------------------------- the new database of an import

NEW_STORE = "graphbrain-new"
_FOLDERS = ("databases", "transactions")


def drop_new_store(home: Path) -> None:
    """Delete the new database of an import that was not completed."""
    (home / "data" / NEW_STORE).unlink(missing_ok=True)
    for folder in _FOLDERS:
        shutil.rmtree(home / "data" / folder / NEW_STORE, ignore_errors=True)


def mark_new_store(home: Path) -> None:
    """Mark the new database as complete. The next start replaces the old one by it."""
    write_private(home / "data" / NEW_STORE, "whole\n")


def take_new_store(home: Path) -> None:
    """Replace the old database by a new one that is complete. The server must not run.

    If this is interrupted, the next call completes it: the old folder is deleted before the new one is moved, and the
    mark is removed last.
    """
    mark = home / "data" / NEW_STORE
    if not mark.exists():
        return
    for folder in _FOLDERS:
        new = home / "data" / folder / NEW_STORE
        if new.exists():
            old = new.with_name("neo4j")
            if old.exists():
                shutil.rmtree(old)
            new.replace(old)
    mark.unlink()


# ---------------------------------------------------------------- its files


def read_state(home: Path) -> dict[str, Any]:
    """Return the content of server.json; empty if the file is missing or damaged."""
    with suppress(OSError, ValueError):
        state = json.loads((home / STATE).read_text("utf-8"))
        if isinstance(state, dict):
            return state
    return {}


def write_state(home: Path, state: Mapping[str, Any]) -> None:
    """Write the state to server.json."""
    write_private(home / STATE, json.dumps(state, indent=1) + "\n")


def write_version(home: Path, version: str) -> None:
    """Record the version of Neo4j that wrote the data."""
    if data_version(home) != version:
        write_private(home / MARK, version + "\n")


def password(home: Path) -> str:
    """Return the server's password.

    Raises:
        ServerFailed: Its file is lost or not readable.
    """
    file = home / "password"
    try:
        return file.read_text("utf-8").strip()
    except OSError as error:
        raise ServerFailed(f"The password cannot be read from {file} ({error.strerror}); put the file back.") from error


def make_password(home: Path) -> None:
    """Make a password, unless there is one already."""
    if not (home / "password").exists():
        write_private(home / "password", secrets.token_hex(24) + "\n")


def write_private(path: Path, text: str) -> None:
    """Write a file as a whole or not at all. It has the mode 600 from its creation on."""
    part = path.with_name(f"{path.name}.part")
    part.unlink(missing_ok=True)
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
    part.replace(path)


def write_arguments(path: Path, args: list[str]) -> None:
    """Write a file of arguments for Java, readable by the user only."""
    write_private(path, quoted(args))


def quoted(args: list[str]) -> str:
    """Return arguments as a text for Java and Neo4j's tools: one a line, in quotes because paths may have spaces."""
    return "".join('"' + a.replace("\\", "\\\\").replace('"', '\\"') + '"\n' for a in args)


# ---------------------------------------------------------------- the reason of a failed start, from its log

DISK_FULL = "the disk is full; make room and start again"
PORT_TAKEN = "a port is taken by another program"
_REASONS = (
    (
        r"Address already in use|BindException|PortBindException",
        PORT_TAKEN,
    ),
    (r"No space left on device|Disk quota exceeded", DISK_FULL),
    (
        r"OutOfMemoryError|Could not reserve enough space|insufficient memory for the Java|"
        r"Cannot allocate memory|[Ii]nvalid memory configuration|exceeds physical memory",
        "there is not enough memory; free some, or give it less with `memory`",
    ),
    (r"UnsupportedClassVersionError|class file version", "the Java is too old for it"),
    (
        r"newer version of neo4j|UnsupportedLogVersion|UnsupportedFormatVersion|"
        r"Unknown store version|StoreVersionMismatch|UnableToMigrate|UpgradeNotAllowed",
        "the data was written by a version it cannot read",
    ),
    (r"FileLockException|Lock file has been locked|store_lock", "another process uses its data"),
    (r"AccessDeniedException|Permission denied", "it may not write to its data directory"),
)


def reason(text: str) -> str | None:
    """Return the reason of a failed start that a log shows, in words for a user; None if it shows no known one."""
    wrong = "Unrecognized setting|Error evaluating value for setting|declared multiple times"
    setting = re.search(f"(.*(?:{wrong}).*)", text)
    if setting:
        return f"a setting is wrong (look at extra.conf): {setting[1].strip()}"
    return next((words for pattern, words in _REASONS if re.search(pattern, text)), None)
