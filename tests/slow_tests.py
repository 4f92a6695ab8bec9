"""The tests that take longer than a third of a second on a quiet machine, which `pytest` leaves out: `slow_tests.txt`
names them.

They are measured, not judged: a run of all of them with `--junitxml` has their seconds.

    pytest -m 'not (long or browser or peers or long_term or nightly)' --junitxml=FILE
    python -m tests.slow_tests FILE [--factor 2]    write the list anew; the machine was slower by that factor

`KEPT` are not on the list, however long they take: they hold what the product promises first. Nor are tests that
`contract/statement_tests.txt` names, which commit or repeat statements that few tests do. Of a test that
`long_variants.txt` names, since one of its variants takes more than half a second, a landing runs the first variant,
and the nightly all.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

__all__ = ["FILE", "KEPT", "STATEMENTS", "VARIANTS", "long_variants", "slow_tests"]

FILE = Path(__file__).with_name("slow_tests.txt")
VARIANTS = Path(__file__).with_name("long_variants.txt")
STATEMENTS = Path(__file__).parent / "contract" / "statement_tests.txt"
LONGEST = 0.3
"""Seconds of a test that is not slow, with its fixtures."""
LONGEST_VARIANT = 0.5
"""Seconds of a variant that is run at each landing, beside the first of its test."""
KEPT = {
    "tests/contract/": "what holds of the source and the docs",
    "tests/acceptance/test_readme.py": "the commands of the README",
    "tests/integration/graph/test_contracts.py": "each statement, run once and twice (its tests of plans are slow)",
    "tests/integration/frontier/claims/test_killed_holders.py": "what a killed crawler held",
    "tests/integration/frontier/claims/test_idempotency.py": "claims whose answer was lost",
}
"""File, or folder → what its tests hold."""


@cache
def slow_tests() -> frozenset[str]:
    """Return the names of slow tests, each `FILE::NAME`, without parameters."""
    return frozenset(FILE.read_text(encoding="utf-8").split())


@cache
def long_variants() -> frozenset[str]:
    """Return the names of slow tests whose variants, but for the first, are left to the nightly."""
    return frozenset(VARIANTS.read_text(encoding="utf-8").split())


def measured(report: Path) -> dict[str, list[float]]:
    """Return the name of each test of a JUnit report → the seconds that it took with each of its parameters."""
    seconds: dict[str, list[float]] = defaultdict(list)
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        name = f"{case.attrib['classname'].replace('.', '/')}.py::{case.attrib['name'].partition('[')[0]}"
        seconds[name].append(float(case.attrib["time"]))
    return seconds


def main() -> None:
    """Write the lists."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("report", type=Path)
    arguments.add_argument("--factor", type=float, default=1.0)
    given = arguments.parse_args()
    named = frozenset(STATEMENTS.read_text(encoding="utf-8").split())
    slow = {
        name: seconds
        for name, seconds in measured(given.report).items()
        if max(seconds) > LONGEST * given.factor and not name.startswith(tuple(KEPT)) and name not in named
    }
    FILE.write_text("".join(f"{name}\n" for name in sorted(slow)), encoding="utf-8")
    several = [
        name for name, seconds in slow.items() if len(seconds) > 1 and max(seconds) > LONGEST_VARIANT * given.factor
    ]
    VARIANTS.write_text("".join(f"{name}\n" for name in sorted(several)), encoding="utf-8")


if __name__ == "__main__":
    main()
