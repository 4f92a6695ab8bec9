"""Free memory, as Linux and its control groups tell of it."""

from __future__ import annotations

from pathlib import Path

from graphbrain.base.runtime.memory import free_bytes


def put(root: Path, **files: str) -> None:
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_the_least_of_system_and_groups_counts(tmp_path: Path) -> None:
    assert free_bytes(tmp_path) is None
    put(tmp_path, proc__meminfo="MemTotal: 100 kB\nMemAvailable:   64 kB\n")
    assert free_bytes(tmp_path) == 64 * 1024
    put(tmp_path, proc__self__cgroup="0::/a/b\n")
    group = "sys__fs__cgroup__a__"
    put(tmp_path, **{f"{group}memory_dot_max": "50000", f"{group}memory_dot_current": "30000"})
    put(tmp_path, **{f"{group}memory_dot_stat": "anon 1\ninactive_file 5000\n"})
    assert free_bytes(tmp_path) == 25_000
    put(tmp_path, **{f"{group}b__memory_dot_max": "max", f"{group}b__memory_dot_current": "30000"})
    put(tmp_path, **{f"{group}b__memory_dot_stat": ""})
    assert free_bytes(tmp_path) == 25_000
    put(tmp_path, **{f"{group}b__memory_dot_max": "29000"})
    assert free_bytes(tmp_path) == 0
    put(tmp_path, proc__self__cgroup="junk", proc__meminfo="MemAvailable: x\n")
    assert free_bytes(tmp_path) is None


def test_this_machine_says_something_or_nothing() -> None:
    free = free_bytes()
    assert free is None or free > 1 << 20
