"""The memory that this process uses, and that it may still use by the limits of the system and its control group."""

from __future__ import annotations

from pathlib import Path

__all__ = ["free_bytes", "peak_bytes"]

ROOT = Path("/")


def free_bytes(root: Path = ROOT) -> int | None:
    """Return the bytes available without swapping; None if the system does not report them, because it is no Linux."""
    amounts = [amount for amount in (_available(root), *_free_of_groups(root)) if amount is not None]
    return max(0, min(amounts)) if amounts else None


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


def _free_of_groups(root: Path) -> list[int | None]:
    """Return the free bytes of this process's control group and of all groups that contain it.

    These are groups of version 2, and of version 1 as a container sees it.
    """
    # Version 1.
    groups = root / "sys/fs/cgroup"
    free = [_free(groups / "memory", "memory.limit_in_bytes", "memory.usage_in_bytes")]
    # Version 2.
    try:
        group = next(
            line.split(":", 2)[2] for line in (root / "proc/self/cgroup").read_text().splitlines() if "::" in line
        )
    except (OSError, StopIteration, IndexError):
        group = "/"
    parts = [part for part in group.split("/") if part and part != ".."]
    for depth in range(len(parts) + 1):
        free.append(_free(groups.joinpath(*parts[:depth]), "memory.max", "memory.current"))
    return free


def _free(group: Path, most: str, now: str) -> int | None:
    """Return the free bytes of a control group; None without a limit. `most`, `now`: the names of its files."""
    try:
        # Do not count caches of files, which the system releases when memory is needed.
        used = int((group / now).read_text())
        for line in (group / "memory.stat").read_text().splitlines():
            if line.startswith("inactive_file "):
                used -= int(line.split()[1])
        return int((group / most).read_text()) - used
    except (OSError, ValueError, IndexError):  # the group does not exist, or its limit is "max"
        return None
