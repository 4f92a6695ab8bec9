"""What Java has learnt of Neo4j, kept: its ahead-of-time cache (JEP 483), with which a server starts in half the time.

Java reads, checks and links some 25,000 classes at each start of the server. From version 25 on it can write what it
has made of them into a file when it ends, and map that file the next time: 170 MB in the user's cache, one for a build
of Java and a list of jars. Java checks both, and does without a file that does not fit; so nothing here can do harm.

The file is made by `graphbrain.priming`, which starts a server of its own for it. Whoever starts a server and finds no
file begins that in the background, at the lowest priority. Beside the file stands a note while it is being made, locked
by who makes it; with words in it, it says why that failed, and nobody tries again by himself.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import platformdirs

__all__ = ["VARIABLE", "being_made", "beside", "file_for", "learning", "options"]

VARIABLE = "GRAPHBRAIN_JAVA_CACHE"
OLDEST_JAVA = 25  # 24 needs two runs to make one
LEAST_MEMORY_MB = 3000
"""A smaller machine needs what it has for the server that was asked for."""
UNUSED_SECONDS = 90 * 86_400
MINUTES = 5
"""A server that learns ends by itself after so long, should its maker have been killed."""

# Java's own profiles are left out: with them it compiles for its best more eagerly, beside the work, and on two cores
# an import's indexes take a second longer. The adapters it would keep with them are not found again, and it says so.
_UNLOCK = ("-XX:+UnlockDiagnosticVMOptions", "-XX:-AOTAdapterCaching")
_USE = ("-XX:-AOTReplayTraining",)
_LIBRARY = "libjvm.dylib" if sys.platform == "darwin" else "libjvm.so"

_begun: list[subprocess.Popen[bytes]] = []
"""Makers that this process has begun: kept, or Python would complain that they are still at work."""


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


def beside(java: str, version: str, class_path: Sequence[Path], memory: int) -> None:
    """Begin to make the cache in the background if there is none, and nobody has tried in vain.

    `memory`: the machine's, in MB.
    """
    file = file_for(java, class_path)
    if file is None or file.exists() or memory < LEAST_MEMORY_MB or not sys.executable:
        return
    with suppress(OSError):
        if _note(file).exists() and _note(file).stat().st_size:
            return
        maker = subprocess.Popen(
            [sys.executable, "-m", "graphbrain.priming", version, java],
            cwd=file.parent,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        _begun[:] = [one for one in _begun if one.poll() is None] + [maker]


@contextmanager
def being_made(file: Path, wait: bool) -> Iterator[Path | None]:
    """The name under which to make it: it is taken over at the end, if it is there. None: it is there already, or
    (unless `wait`) somebody is making it."""
    import fcntl

    file.parent.mkdir(parents=True, exist_ok=True)
    with _note(file).open("a") as note:
        try:
            fcntl.flock(note, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield None
            return
        if file.exists():
            yield None
            return
        part = file.with_suffix(".part")
        note.truncate(0)
        try:
            yield part
            part.replace(file)
        except Exception as error:
            note.write(f"{type(error).__name__}: {error}\n")
            raise
        finally:
            part.unlink(missing_ok=True)
            Path(f"{part}.config").unlink(missing_ok=True)
        _note(file).unlink(missing_ok=True)
        _prune(file)


def _note(file: Path) -> Path:
    return file.with_suffix(".making")


def _prune(newest: Path) -> None:
    """Remove caches that nobody has used for long: of a Java or a Neo4j that is gone."""
    now = newest.stat().st_mtime
    for other in newest.parent.glob("java-*.*"):
        with suppress(OSError):
            if other.stat().st_mtime < now - UNUSED_SECONDS:
                other.unlink()
