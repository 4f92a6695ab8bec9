"""The locks of running crawls, by which the next crawl finds the claims of a killed one and gives them back.

A running crawl holds a lock on a file in `crawls` of the data directory. The name of the file has the name of the
worker and a mark of the brain. The system releases the lock when the process ends. So a crawl that can take the lock of
another one knows that it has ended, and gives its claims back; otherwise they lapse after minutes. The name of a worker
has the host, the process id, the boot id and the namespace of process ids. By these the locks of other machines are
skipped, because a file system may not share locks between machines.

Statements: claims/of_worker.
"""

from __future__ import annotations

import os
import re
import socket
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from filelock import FileLock, Timeout

from graphbrain import Brain, Claim
from graphbrain.graph.connection import Tx, bound

__all__ = ["Worker", "brain_mark", "ended", "held_by_ended", "holding", "returned"]

_NAME = re.compile(r"(?P<host>.{1,100})-(?P<pid>\d+)-(?P<boot>[0-9a-f]{8})-(?P<space>\d+)-(?P<part>[0-9a-f]{6})")


class Worker(NamedTuple):
    """The parts of a worker's name.

    Attributes:
        host: The name of the machine.
        pid: The process id.
        boot: The beginning of the machine's boot id.
        space: The namespace of process ids.
        part: Random letters, so that no two names are equal.
    """

    host: str
    pid: int
    boot: str
    space: int
    part: str

    def __str__(self) -> str:
        return f"{self.host}-{self.pid}-{self.boot}-{self.space}-{self.part}"

    @classmethod
    def here(cls) -> Worker:
        """Return a new name for this process."""
        boot, space = "0" * 8, "0"
        with suppress(OSError):
            boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")[:8]
        with suppress(OSError):
            space = "".join(re.findall(r"\d+", str(Path("/proc/self/ns/pid").readlink()))) or "0"
        return cls(socket.gethostname()[:100] or "host", os.getpid(), boot, int(space), uuid.uuid4().hex[:6])

    @classmethod
    def of(cls, text: str) -> Worker | None:
        """Return the parts of a name; None if it is no name of a crawl."""
        name = _NAME.fullmatch(text)
        if name is None:
            return None
        return cls(name["host"], int(name["pid"]), name["boot"], int(name["space"]), name["part"])

    def shares_locks(self, other: Worker) -> bool:
        """Return whether both are on one machine: then the other has ended if this process can take its lock."""
        return self.boot == other.boot or self.host == other.host

    def sees_end_of(self, other: Worker) -> bool:
        """Return whether the other process has certainly ended: by its process id, or by a new boot of its machine."""
        if (self.boot, self.space) != (other.boot, other.space):
            return self.host == other.host and self.boot != other.boot
        try:
            os.kill(other.pid, 0)
        except ProcessLookupError:
            return True
        except OSError:
            return False
        return False


def brain_mark(uri: str, database: str, crawl: str) -> str:
    """Return a short mark of a brain, for the names of files."""
    return blake2b(f"{uri} {database} {crawl}".encode(), digest_size=4).hexdigest()


@contextmanager
def holding(folder: Path, mark: str, worker: Worker) -> Iterator[None]:
    """Hold the lock of a crawl until the block ends. If the folder cannot be written, there is no lock: after a kill,
    the claims of the crawl lapse only when their leases end."""
    lock = None
    with suppress(OSError, NotImplementedError):
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{worker}.{mark}.lock"
        while lock is None or not path.exists():  # another crawl may remove the file before it is locked
            lock = FileLock(path, fallback_to_soft=False)
            lock.acquire()
    try:
        yield
    finally:
        if lock is not None:
            with suppress(OSError):
                path.unlink(missing_ok=True)
            lock.release()


def ended(folder: Path, mark: str, own: Worker) -> Iterator[Worker]:
    """Yield each crawl of a brain that has ended.

    The generator holds the lock of the crawl until the caller takes the next one, so that no other process yields the
    same crawl. Then it removes the file.
    """
    for path in sorted(folder.glob(f"*.{mark}.lock")):
        other = Worker.of(path.name.removesuffix(f".{mark}.lock"))
        if other is None or other == own or not own.shares_locks(other):
            continue
        lock = FileLock(path, fallback_to_soft=False)
        try:
            lock.acquire(blocking=False)
        except (Timeout, OSError, NotImplementedError):
            continue
        try:
            yield other
            with suppress(OSError):
                path.unlink(missing_ok=True)
        finally:
            lock.release()


def returned(brain: Brain, folder: Path, mark: str, own: Worker) -> int:
    """Give the claims of ended crawls back. Return the number of these claims."""
    return sum(_return_all(brain, str(other)) for other in ended(folder, mark, own))


def _return_all(brain: Brain, worker: str) -> int:
    now = brain.now()
    query = bound(Tx.many, "claims/of_worker", worker=worker, now=now)
    rows = brain.graph.read(query, "claims/of_worker")
    return sum(brain.give_back([Claim(url, key, token, now, "", 0) for url, key, token in rows]))


def held_by_ended(brain: Brain, own: Worker) -> Iterator[tuple[int, Any]]:
    """Yield (number of claims, time at which the first lapses) of each crawl that has ended and still has claims."""
    leases = brain.ask("leases")
    for row in leases.rows:
        lease = dict(zip(leases.columns, row, strict=True))
        other = Worker.of(str(lease["worker"]))
        if other is not None and other != own and own.sees_end_of(other):
            yield int(lease["pages"]), lease["first_lapses"]
