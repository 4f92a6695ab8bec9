"""The memory that this process has taken, and that it may still take, by the system and its control group."""

from __future__ import annotations

from pathlib import Path

__all__ = ["free_bytes", "peak_bytes"]

ROOT = Path("/")


def free_bytes(root: Path = ROOT) -> int | None:
    """Return the bytes available without swapping, or None if the system does not report them (it is no Linux)."""
    amounts = [_available(root), *_left_of_groups(root)]
    readable = [each for each in amounts if each is not None]
    return max(0, min(readable)) if readable else None


def peak_bytes() -> int:
    """Return the largest resident memory of this process so far, in bytes."""
    import resource  # there is none on Windows
    import sys

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _available(root: Path) -> int | None:
    try:
        for line in (root / "proc/meminfo").read_text().splitlines():
            name, _, value = line.partition(":")
            if name == "MemAvailable":
                return int(value.split()[0]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return None


def _left_of_groups(root: Path) -> list[int | None]:
    """Return the rest of this process's control group and of its parents (version 2, and 1 as a container sees it)."""
    groups = root / "sys/fs/cgroup"
    remaining = [_free(groups / "memory", "memory.limit_in_bytes", "memory.usage_in_bytes")]
    try:
        own = next(
            line.split(":", 2)[2] for line in (root / "proc/self/cgroup").read_text().splitlines() if "::" in line
        )
    except (OSError, StopIteration, IndexError):
        own = "/"
    parts = [part for part in own.split("/") if part and part != ".."]
    for depth in range(len(parts) + 1):
        remaining.append(_free(groups.joinpath(*parts[:depth]), "memory.max", "memory.current"))
    return remaining


def _free(group: Path, most: str, now: str) -> int | None:
    try:
        # File caches count as used, and are released on demand.
        used = int((group / now).read_text())
        for line in (group / "memory.stat").read_text().splitlines():
            if line.startswith("inactive_file "):
                used -= int(line.split()[1])
        return int((group / most).read_text()) - used
    except (OSError, ValueError, IndexError):  # there is none, or it has no limit ("max")
        return None
