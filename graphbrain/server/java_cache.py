"""What Java has learnt of Neo4j, kept: its ahead-of-time cache (JEP 483), with which a server starts in half the time.

Java reads, checks and links some 25,000 classes at each start of the server. From version 25 on it can write what it
has made of them into a file when it ends, and map that file the next time: 170 MB in the user's cache, one for a build
of Java and a list of jars. Java checks both, and does without a file that does not fit; so nothing here can do harm.

The file is made where somebody asks for it: by `graphbrain server prepare` (`graphbrain.server.prepare`), which starts
a server of its own for it.
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

from graphbrain.server.jars import file_lock

__all__ = ["VARIABLE", "being_made", "file_for", "learning", "options"]

VARIABLE = "GRAPHBRAIN_JAVA_CACHE"
OLDEST_JAVA = 25  # 24 needs two runs to make one
UNUSED_SECONDS = 90 * 86_400
MINUTES = 5
"""A server that learns ends by itself after so long, should its maker have been killed."""

# Java's own profiles are left out: with them it compiles for its best more eagerly, beside the work, and on two cores
# an import's indexes take a second longer. The adapters it would keep with them are not found again, and it says so.
_UNLOCK = ("-XX:+UnlockDiagnosticVMOptions", "-XX:-AOTAdapterCaching")
_USE = ("-XX:-AOTReplayTraining",)
_LIBRARY = "libjvm.dylib" if sys.platform == "darwin" else "libjvm.so"


def file_for(java: str, class_path: Sequence[Path]) -> Path | None:
    """Where the cache of this Java and these jars is, or would be; None where there can be none."""
    if os.environ.get(VARIABLE, "").lower() in ("0", "off", "no", "false"):
        return None
    build = _build(java)
    if build is None:
        return None
    jars = "\n".join(f"{path} {path.stat().st_mtime_ns}" for path in class_path)
    name = hashlib.sha256(f"{build}\n{jars}".encode()).hexdigest()[:16]
    return Path(platformdirs.user_cache_dir("graphbrain")) / f"java-{name}.aot"


def _build(java: str) -> str | None:
    """What tells this Java from another; None if it keeps no cache, or cannot be told."""
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
    """Java's options to use the cache: none if there is none."""
    file = file_for(java, class_path)
    if file is None or not file.exists():
        return []
    with suppress(OSError):
        os.utime(file)  # it is used
    return [*_UNLOCK, *_USE, f"-XX:AOTCache={file}"]


def learning(file: Path) -> list[str]:
    """Java's options to write the cache into this file when it ends."""
    return [*_UNLOCK, f"-XX:SelfDestructTimer={MINUTES}", f"-XX:AOTCacheOutput={file}"]


# ---------------------------------------------------------------- making


@contextmanager
def being_made(file: Path, say: Callable[[], None] = lambda: None) -> Iterator[Path | None]:
    """The name under which to make it: it is taken over at the end, if it is there. None: it is there already, maybe
    since somebody else, who was waited for, has made it; `say` is called when there is somebody to wait for."""
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
    """Remove caches that nobody has used for long: of a Java or a Neo4j that is gone."""
    now = newest.stat().st_mtime
    for other in newest.parent.glob("java-*.*"):
        with suppress(OSError):
            if other.stat().st_mtime < now - UNUSED_SECONDS:
                other.unlink()
