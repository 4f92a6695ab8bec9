"""Which default tests commit each statement of `cypher/`, and which repeat it: `statement_tests.txt`.

A line is a statement, the number of tests that commit it and one of them, and the number of those that repeat it and
one of them; `-` for none. A test commits a statement if a call of `Graph` with it has come to its end, and repeats it
if the attempt that had run it was followed by another: the answer of its commit was lost, or it was overtaken. What a
test does in other processes is not seen. A statement that reads needs no repetition. `statement_exceptions.txt` has
those that lack what they need, and why.

Tests with the fixture `answers_lost` repeat what they write.

This module is a plugin that records a run. Each process writes its part below PARTS:

    pytest -p tests.contract.statement_tests
    python -m tests.contract.statement_tests          print what is missing or stale
    python -m tests.contract.statement_tests --write  make the record of the parts, and remove them
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from graphbrain.graph.connection import Anywhere, Graph, Tx
from graphbrain.graph.statements import names, statement
from tests.contract.source import ROOT
from tests.contract.test_slow_tests import functions
from tests.slow_tests import slow_tests

RECORDED = Path(__file__).with_name("statement_tests.txt")
EXCEPTIONS = Path(__file__).with_name("statement_exceptions.txt")
PARTS = Path(tempfile.gettempdir(), "graphbrain-statement-tests")
NONE = "0 -"
WAYS = ("commits", "repeats")


# ---------------------------------------------------------------- the plugin


class Open(threading.local):
    """The statements of the attempts that a thread is in: a test may begin one within another."""

    def __init__(self) -> None:
        self.attempts: list[set[str]] = []


class Recorder:
    """Which tests commit and which repeat each statement."""

    def __init__(self) -> None:
        self.found: dict[str, dict[str, list[str]]] = {way: defaultdict(list) for way in WAYS}
        self.test = ""
        self.failed: set[str] = set()
        self._open = Open()
        self._seen: dict[str, tuple[set[str], ...]] = defaultdict(lambda: (set(), set()))
        self._lock = threading.Lock()

    def call(self, call: Callable[..., Any], work: Callable[[Tx], Any], name: str, more: dict[str, Any]) -> Any:
        """Make a call of `Graph`, and note what it has committed."""
        attempts: list[set[str]] = []

        def attempt(tx: Tx) -> Any:
            attempts.append(set())
            self._open.attempts.append(attempts[-1])
            try:
                return work(tx)
            finally:
                self._open.attempts.pop()

        result = call(attempt, name, **more)
        with self._lock:
            for seen, statements in zip(
                self._seen[self.test], (attempts[-1], set[str]().union(*attempts[:-1])), strict=True
            ):
                seen |= statements
        return result

    def sends(self, name: str) -> None:
        """A statement is sent."""
        if self._open.attempts:
            self._open.attempts[-1].add(name)

    def keep(self) -> None:
        """The test is over: what it has shown counts."""
        for way, statements in zip(WAYS, self._seen.pop(self.test, ()), strict=False):
            for name in statements:
                self.found[way][name].append(self.test)


recorder = Recorder()


def pytest_configure() -> None:
    """Record from now on."""

    def recorded(of: type, method: str) -> None:
        call = getattr(of, method)

        def made(self: Any, work: Callable[[Tx], Any], name: str, **more: Any) -> Any:
            return recorder.call(lambda *given, **how: call(self, *given, **how), work, name, more)

        setattr(of, method, made)

    many = Tx.many

    def noted(self: Tx, name: str, /, **given: Any) -> list[list[Any]]:
        recorder.sends(name)
        return many(self, name, **given)

    for of, method in ((Graph, "read"), (Graph, "write"), (Anywhere, "read")):
        recorded(of, method)
    Tx.many = noted  # type: ignore[method-assign]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """What is sent meanwhile, also by fixtures, is this test's; that of a test that fails counts for nothing."""
    recorder.test = item.nodeid
    result = yield
    if item.nodeid not in recorder.failed:
        recorder.keep()
    return result


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Remember the tests that have failed or were skipped."""
    if not report.passed:
        recorder.failed.add(report.nodeid)


def pytest_sessionfinish() -> None:
    """Write what this process has seen."""
    PARTS.mkdir(exist_ok=True)
    (PARTS / f"{os.getpid()}.json").write_text(json.dumps(recorder.found), encoding="utf-8")


# ---------------------------------------------------------------- the record


def recorded() -> dict[str, tuple[str, str]]:
    """Return statement → the tests that commit it and those that repeat it, each a number and one name."""
    lines = RECORDED.read_text(encoding="utf-8").splitlines()
    found = [line.split(" ") for line in lines]
    return {name: (f"{commits} {one}", f"{repeats} {other}") for name, commits, one, repeats, other in found}


def exceptions() -> dict[str, str]:
    """Return "statement way" → the reason why no default test does that to it."""
    lines = EXCEPTIONS.read_text(encoding="utf-8").splitlines()
    return {f"{name} {way}": why for name, way, why in (line.split(" ", 2) for line in lines)}


def lacking(known: dict[str, tuple[str, str]]) -> set[str]:
    """Return "statement way" of each that it needs and no default test does."""
    return {
        f"{name} {way}"
        for name, found in known.items()
        for way, text in zip(WAYS, found, strict=True)
        if text == NONE and (way == "commits" or _is_repeated(name))
    }


def _is_repeated(name: str) -> bool:
    """Return whether a statement needs tests that repeat it. `tests/integration/graph/test_contracts.py` applies the
    schema twice."""
    return statement(name).mode == "write" and not name.startswith("schema_")


def faults() -> list[str]:
    """Return what is missing or stale in the record, one sentence each."""
    known, excepted = recorded(), exceptions()
    found = [f"{name} has no line" for name in names() if name not in known]
    found += [f"{name} is no statement" for name in known if name not in names()]
    found += [f"no default test {each.replace(' ', ': ')}" for each in sorted(lacking(known) - excepted.keys())]
    found += [f"{each} is an exception no more" for each in sorted(excepted.keys() - lacking(known))]
    named = {text.partition(" ")[2] for texts in known.values() for text in texts if text != NONE}
    return found + [f"{test} is no default test" for test in sorted(named) if not _is_default(test)]


def _is_default(test: str) -> bool:
    file, _, name = test.partition("::")
    return (ROOT / file).exists() and name in functions(file) and test not in slow_tests()


def write() -> None:
    """Make the record of the parts, and remove them."""
    tests: dict[str, dict[str, list[str]]] = {way: defaultdict(list) for way in WAYS}
    for part in PARTS.glob("*.json"):
        for way, found in json.loads(part.read_text(encoding="utf-8")).items():
            for name, seen in found.items():
                tests[way][name] += seen

    def text(seen: list[str]) -> str:
        return f"{len(set(seen))} {min(each.partition('[')[0] for each in seen)}" if seen else NONE

    lines = [" ".join([name, *(text(tests[way][name]) for way in WAYS)]) for name in names()]
    RECORDED.write_text("\n".join([*lines, ""]), encoding="utf-8")
    shutil.rmtree(PARTS)


def main() -> int:
    """Print the faults, or write the record; exit 1 if a fault is left."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write tests/contract/statement_tests.txt anew")
    if parser.parse_args().write:
        write()
    found = faults()
    print(*found, sep="\n", end="\n" if found else "")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
