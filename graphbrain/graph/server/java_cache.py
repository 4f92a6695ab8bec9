"""Java's ahead-of-time cache of Neo4j's classes (JEP 483), with which a server starts in half the time.

Java reads, checks and links some 25,000 classes at each start of the server. From version 25 on it can write the result
into a file when it ends, and map that file at the next start. The file has 170 MB, in the user's cache, for each build
of Java and list of jars. Java checks both, and ignores a file that does not fit, so the file can do no harm.

`graphbrain server prepare` (`graphbrain.graph.server.prepare`) makes the file on request. It starts an extra server for
that.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import platformdirs

from graphbrain.graph.server.jars import file_lock

__all__ = ["VARIABLE", "being_made", "file_for", "learning", "options"]

VARIABLE = "GRAPHBRAIN_JAVA_CACHE"
OLDEST_JAVA = 25  # Java 24 needs two runs to make the file
UNUSED_SECONDS = 90 * 86_400
MINUTES = 5
"""The minutes after which an extra server ends itself, in case the process that started it was killed."""

# Leave Java's own profiles out. With them Java compiles more code at the start, and on two cores the indexes of an
# import take a second longer. Leave the adapters out, too: without the profiles Java does not find them, and warns.
_UNLOCK = ("-XX:+UnlockDiagnosticVMOptions", "-XX:-AOTAdapterCaching")
_USE = ("-XX:-AOTReplayTraining",)
_LIBRARY = "libjvm.dylib" if sys.platform == "darwin" else "libjvm.so"


def file_for(java: str, class_path: Sequence[Path]) -> Path | None:
    """Return the file of the cache for a Java and its jars, which may not exist yet; None if there can be none."""
    if os.environ.get(VARIABLE, "").lower() in ("0", "off", "no", "false"):
        return None
    build = _build(java)
    if build is None:
        return None
    jars = "\n".join(f"{path} {path.stat().st_mtime_ns}" for path in class_path)
    name = hashlib.sha256(f"{build}\n{jars}".encode()).hexdigest()[:16]
    return Path(platformdirs.user_cache_dir("graphbrain")) / f"java-{name}.aot"


def _build(java: str) -> str | None:
    """Return a text that identifies the build of a Java, or None if it can make no cache or cannot be identified."""
    program = shutil.which(java)
    if program is None:
        return None
    home = Path(program).resolve().parent.parent
    try:
        release = (home / "release").read_text("utf-8", "replace")
        machine = (home / "lib" / "server" / _LIBRARY).stat().st_size
    except OSError:
        return None
    version = re.search(r'JAVA_VERSION="(\d+)', release)
    if not version or int(version[1]) < OLDEST_JAVA or "openj9" in release.lower():
        return None
    return f"{release}\n{machine}"


def options(java: str, class_path: Sequence[Path]) -> list[str]:
    """Return Java's options to use the cache, or no options if there is no cache."""
    file = file_for(java, class_path)
    if file is None or not file.exists():
        return []
    with suppress(OSError):
        os.utime(file)  # `_prune` removes files that were not used for long
    return [*_UNLOCK, *_USE, f"-XX:AOTCache={file}"]


def learning(file: Path) -> list[str]:
    """Return Java's options to write the cache into a file when it ends."""
    return [*_UNLOCK, f"-XX:SelfDestructTimer={MINUTES}", f"-XX:AOTCacheOutput={file}"]


# ---------------------------------------------------------------- making


@contextmanager
def being_made(file: Path, say: Callable[[], None] = lambda: None) -> Iterator[Path | None]:
    """Yield a temporary file for the cache, which is moved to its place when the block ends.

    Yield None if the file exists already, perhaps because another process has made it in the meantime. `say` is called
    before a wait for another process.
    """
    with file_lock(file.parent / "java.lock", say):
        if file.exists():
            yield None
            return
        part = file.with_suffix(".part")
        try:
            yield part
            part.replace(file)
        finally:
            part.unlink(missing_ok=True)
            Path(f"{part}.config").unlink(missing_ok=True)
        _prune(file)


def _prune(newest: Path) -> None:
    """Remove caches that were not used for `UNUSED_SECONDS`: their Java or Neo4j is probably not installed any more."""
    now = newest.stat().st_mtime
    for other in newest.parent.glob("java-*.*"):
        with suppress(OSError):
            if other.stat().st_mtime < now - UNUSED_SECONDS:
                other.unlink()
