"""Java's ahead-of-time cache of Neo4j's classes (JEP 483), with which a server starts in half the time.

Java reads, checks and links some 25,000 classes at each start of the server. From version 25 on it can write the result
into a file when it ends, and map that file at the next start: 170 MB in the user's cache for each build of Java and
list of jars. Java checks both, and ignores a file that does not fit, so the file can do no harm.

`graphbrain server prepare` (`graphbrain.graph.server.prepare`) makes the file on request, and starts a server of its
own for it.
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
OLDEST_JAVA = 25  # 24 needs two runs to make one
UNUSED_SECONDS = 90 * 86_400
MINUTES = 5
"""The time after which a training server ends by itself, in case the process that started it was killed."""

# Java's own profiles are left out: with them it compiles more eagerly, beside the work, and on two cores an import's
# indexes take a second longer. The adapters that it would store with them are not found again, and it prints a warning.
_UNLOCK = ("-XX:+UnlockDiagnosticVMOptions", "-XX:-AOTAdapterCaching")
_USE = ("-XX:-AOTReplayTraining",)
_LIBRARY = "libjvm.dylib" if sys.platform == "darwin" else "libjvm.so"


def file_for(java: str, class_path: Sequence[Path]) -> Path | None:
    """Return the place of the cache of this Java and these jars, which may not exist yet; None if there can be none."""
    if os.environ.get(VARIABLE, "").lower() in ("0", "off", "no", "false"):
        return None
    build = _build(java)
    if build is None:
        return None
    jars = "\n".join(f"{path} {path.stat().st_mtime_ns}" for path in class_path)
    name = hashlib.sha256(f"{build}\n{jars}".encode()).hexdigest()[:16]
    return Path(platformdirs.user_cache_dir("graphbrain")) / f"java-{name}.aot"


def _build(java: str) -> str | None:
    """Return a text that identifies the build of Java, or None if it has no cache or cannot be identified."""
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
        os.utime(file)  # it is in use
    return [*_UNLOCK, *_USE, f"-XX:AOTCache={file}"]


def learning(file: Path) -> list[str]:
    """Return Java's options to write the cache into this file when it ends."""
    return [*_UNLOCK, f"-XX:SelfDestructTimer={MINUTES}", f"-XX:AOTCacheOutput={file}"]


# ---------------------------------------------------------------- making


@contextmanager
def being_made(file: Path, say: Callable[[], None] = lambda: None) -> Iterator[Path | None]:
    """Yield the name under which to make the file, which is moved to its place at the end if it exists.

    None: the file exists already, perhaps made by another process in the meantime. `say` is called before a wait for
    another process.
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
    """Remove caches that have not been used for long: of a Java or a Neo4j that is no longer installed."""
    now = newest.stat().st_mtime
    for other in newest.parent.glob("java-*.*"):
        with suppress(OSError):
            if other.stat().st_mtime < now - UNUSED_SECONDS:
                other.unlink()
