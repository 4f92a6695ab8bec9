"""The claims of a crawl that was killed, returned by the next one.

A running crawl holds a lock on a file in `crawls` of the data directory, whose name has that of its worker and that of
the brain. The system ends the lock with the process. So a crawl that can take another's lock knows that it has ended,
and returns its claims; else they would lapse after minutes. The name of a worker has the host, the process, the boot
and the namespace of process ids, so that a lock of another machine, which a file system may not keep, is not judged.

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

_NAMED = re.compile(r"(.{1,100})-(\d+)-([0-9a-f]{8})-(\d+)-([0-9a-f]{6})")


class Worker(NamedTuple):
    """The parts of a worker's name. `boot`: the beginning of the machine's boot id; `space`: its namespace of ids."""

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
        parts = _NAMED.fullmatch(text)
        return None if parts is None else cls(parts[1], int(parts[2]), parts[3], int(parts[4]), parts[5])

    def shares_locks(self, other: Worker) -> bool:
        """Return True if both see the same locks: one that this process can take, the other has given up."""
        return self.boot == other.boot or self.host == other.host

    def sees_end_of(self, other: Worker) -> bool:
        """Return whether the other process has ended, as far as this one can see."""
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
    """Return a short name of a brain, for the names of files."""
    return blake2b(f"{uri} {database} {crawl}".encode(), digest_size=4).hexdigest()


@contextmanager
def holding(folder: Path, mark: str, worker: Worker) -> Iterator[None]:
    """Hold the lock of a crawl. Without a folder that can be written, its claims lapse as others do."""
    lock = None
    with suppress(OSError, NotImplementedError):
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{worker}.{mark}.lock"
        while lock is None or not path.exists():  # one that was taken for ended before it was locked is made again
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
    """Yield each crawl of a brain that has ended. Its lock is held meanwhile, so that no other process yields it, too;
    its file is removed when the caller asks for the next one."""
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
    """Return the claims of crawls that have ended, and the number of these claims."""
    return sum(_return_all(brain, str(other)) for other in ended(folder, mark, own))


def _return_all(brain: Brain, worker: str) -> int:
    now = brain.now()
    query = bound(Tx.many, "claims/of_worker", worker=worker, now=now)
    rows = brain.graph.read(query, "claims/of_worker")
    return sum(brain.give_back([Claim(url, key, token, now, "", 0) for url, key, token in rows]))


def held_by_ended(brain: Brain, own: Worker) -> Iterator[tuple[int, Any]]:
    """Yield (pages, when the first lapses) of each crawl that has ended and whose claims cannot be returned."""
    leases = brain.ask("leases")
    at = {name: leases.columns.index(name) for name in ("worker", "pages", "first_lapses")}
    for row in leases.rows:
        other = Worker.of(str(row[at["worker"]]))
        if other is not None and other != own and own.sees_end_of(other):
            yield int(row[at["pages"]]), row[at["first_lapses"]]
