"""The tests that take longer than a third of a second on a quiet machine, which `pytest` leaves out: `slow_tests.txt`
names them.

They are measured, not judged: a run of all of them with `--junitxml` has their seconds.

    pytest -m 'not (long or browser or peers or long_term or nightly)' --junitxml=FILE
    python -m tests.slow_tests FILE [--factor 2]    write the list anew; the machine was slower by that factor

`KEPT` are not on the list, however long they take: they hold what the product promises first.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

__all__ = ["FILE", "KEPT", "slow_tests"]

FILE = Path(__file__).with_name("slow_tests.txt")
LONGEST = 0.3
"""Seconds of a test that is not slow, with its fixtures."""
KEPT = {
    "tests/contract/": "what holds of the source and the docs",
    "tests/acceptance/test_readme.py": "the commands of the README",
    "tests/integration/graph/test_contracts.py": "each statement, run once and twice",
    "tests/integration/frontier/claims/test_killed_holders.py": "what a killed crawler held",
    "tests/integration/frontier/claims/test_idempotency.py": "claims whose answer was lost",
}
"""File, or folder → what its tests hold."""


@cache
def slow_tests() -> frozenset[str]:
    """Return the names of slow tests, each `FILE::NAME`, without parameters."""
    return frozenset(FILE.read_text(encoding="utf-8").split())


def measured(report: Path) -> dict[str, float]:
    """Return the name of each test of a JUnit report → the most seconds that it took with any parameters."""
    longest: dict[str, float] = defaultdict(float)
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        name = f"{case.attrib['classname'].replace('.', '/')}.py::{case.attrib['name'].partition('[')[0]}"
        longest[name] = max(longest[name], float(case.attrib["time"]))
    return longest


def main() -> None:
    """Write the list."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("report", type=Path)
    arguments.add_argument("--factor", type=float, default=1.0)
    given = arguments.parse_args()
    names = [
        name
        for name, seconds in measured(given.report).items()
        if seconds > LONGEST * given.factor and not name.startswith(tuple(KEPT))
    ]
    FILE.write_text("".join(f"{name}\n" for name in sorted(names)), encoding="utf-8")


if __name__ == "__main__":
    main()
