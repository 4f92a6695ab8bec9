"""Where the tests of a module are: `tests/unit/ROOM/test_NAME.py` or the same below integration or acceptance; those
of the laboratory are below `lab/lab_tests`.

A module without such a file has a line in `tested_by.txt`: its name, and the file whose tests reach it. A test of that
file imports the module, or imports it through others.

    python -m tests.contract.where_tests            print what is missing or stale
    python -m tests.contract.where_tests --write    add the nearest test of a module that has none, and drop stale lines
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections import deque
from functools import cache
from pathlib import Path

from tests.contract.rooms import TOP
from tests.contract.source import ROOT, imported, modules

__all__ = ["RECORDED", "faults", "mirrored", "recorded", "unrecorded"]

RECORDED = Path(__file__).with_name("tested_by.txt")
KINDS = ("unit", "integration", "acceptance")
LAB_TESTS = Path("lab", "lab_tests")
WITHOUT = {
    "lab.bench.traps.member": "a process of its own, which test_traps.py starts",
    "lab.commands": "a table; tests/contract/test_start.py compares it with the commands",
}
"""Modules that no test can import in a useful way, and why."""


def mirrored(module: str) -> list[str]:
    """Return the files in which a reader looks first for the tests of a module."""
    *rooms, name = module.split(".")
    tests, rooms = (LAB_TESTS, rooms[1:]) if rooms[:1] == ["lab"] else (Path("tests"), rooms)
    paths = [Path(tests, kind, *rooms, f"test_{name}.py") for kind in KINDS]
    return [path.as_posix() for path in paths if (ROOT / path).exists()]


def recorded() -> dict[str, str]:
    """Return module → file of its tests, as it is recorded."""
    lines = RECORDED.read_text(encoding="utf-8").splitlines() if RECORDED.exists() else []
    return dict(line.split(" ", 1) for line in lines if line)  # type: ignore[misc]


@cache
def _tests() -> dict[str, frozenset[str]]:
    """File of tests → the modules that it imports, itself or through helpers of the tests."""
    folders = [*(ROOT / "tests" / kind for kind in KINDS), ROOT / LAB_TESTS]
    files = sorted(path for folder in folders for path in folder.rglob("test_*.py"))
    return {path.relative_to(ROOT).as_posix(): _imports(path, frozenset()) for path in files}


@cache
def _imports(path: Path, seen: frozenset[Path]) -> frozenset[str]:
    return frozenset().union(*(_named(name, seen | {path}) for name in _imported_names(path)))


@cache
def _imported_names(path: Path) -> list[str]:
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return [f"{node.module}.{alias.name}" for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names]


def _named(dotted: str, seen: frozenset[Path]) -> frozenset[str]:
    first, _, rest = dotted.partition(".")
    if first in ("graphbrain", "graphbrain_lab"):
        whole = rest if first == "graphbrain" else f"lab.{rest}"
        return frozenset({whole if whole in modules() else whole.rpartition(".")[0] or "__init__"})
    base = ROOT / "lab" if first == "lab_tests" else ROOT
    helper = base / (dotted.replace(".", "/") + ".py")
    helper = helper if helper.exists() else base / (dotted.rpartition(".")[0].replace(".", "/") + ".py")
    inside = first in ("tests", "lab_tests") and helper.exists() and helper not in seen
    return _imports(helper, seen) if inside else frozenset()


@cache
def _others(module: str) -> frozenset[str]:
    return frozenset(imported(module)) if module in modules() else frozenset()


@cache
def _distances(test: str) -> dict[str, int]:
    """Return each module that a file of tests reaches, and through how many imports."""
    found = dict.fromkeys(_tests()[test], 1)
    queue = deque(found)
    while queue:
        module = queue.popleft()
        for other in _others(module):
            if other not in found:
                found[other] = found[module] + 1
                queue.append(other)
    return found


def faults() -> list[str]:
    """Return what is missing or stale in the record, one sentence each."""
    known = recorded()
    found = [f"{name} has no tests/*/{name.replace('.', '/')} and no line" for name in unrecorded(known)]
    for name, test in known.items():
        if name not in modules() or mirrored(name):
            found.append(f"{name} needs no line")
        elif _is_lab(test) != _is_lab(name):
            found.append(f"{test} is not run where {name} is installed alone")
        elif test not in _tests() or name not in _distances(test):
            found.append(f"{test} does not reach {name}")
    return found


def _is_lab(name: str) -> bool:
    """Return whether a module or a file of tests belongs to the laboratory."""
    return name.startswith("lab")


def unrecorded(known: dict[str, str]) -> list[str]:
    """Modules that need a line and have none. A package's `__init__` needs none, nor does a package as a program."""
    return sorted(
        name
        for name, path in modules().items()
        if path.name not in ("__init__.py", "__main__.py") and name not in known and not mirrored(name)
        if name not in (*WITHOUT, *TOP)
    )


def _write() -> None:
    distances = {test: _distances(test) for test in _tests()}
    known = {
        name: test
        for name, test in recorded().items()
        if name in modules()
        and not mirrored(name)
        and name in distances.get(test, ())
        and _is_lab(test) == _is_lab(name)
    }
    for name in unrecorded(known):
        room = name.partition(".")[0]
        reaching = [test for test, found in distances.items() if name in found and _is_lab(test) == _is_lab(name)]
        if reaching:
            known[name] = min(
                reaching,
                key=lambda test: (distances[test][name], f"/{room}/" not in test, len(_tests()[test]), test),
            )
    RECORDED.write_text("".join(f"{name} {known[name]}\n" for name in sorted(known)), encoding="utf-8")


def main() -> int:
    """Print the faults, or write the record; exit 1 if a fault is left."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write tests/contract/tested_by.txt anew")
    if parser.parse_args().write:
        _write()
    found = faults()
    print(*found, sep="\n", end="\n" if found else "")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
