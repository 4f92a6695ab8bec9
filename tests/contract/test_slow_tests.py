"""The list of slow tests names tests that there are, and none that is kept."""

from __future__ import annotations

import ast
from functools import cache

from tests.contract.source import ROOT
from tests.slow_tests import FILE, KEPT, VARIANTS, long_variants, slow_tests


@cache
def functions(file: str) -> set[str]:
    """Return the names of the tests of a file."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_each_slow_test_is_there() -> None:
    stale = [name for name in sorted(slow_tests()) if name.partition("::")[2] not in functions(name.partition("::")[0])]
    assert not stale


def test_the_list_is_sorted_and_names_nothing_that_is_kept() -> None:
    lines = FILE.read_text(encoding="utf-8").splitlines()
    assert lines == sorted(set(lines))
    assert not [line for line in lines if line.startswith(tuple(KEPT))]
    assert all((ROOT / file).exists() for file in KEPT)


def test_tests_whose_variants_are_left_to_the_nightly_are_slow() -> None:
    lines = VARIANTS.read_text(encoding="utf-8").splitlines()
    assert lines == sorted(set(lines))
    assert long_variants() <= slow_tests()
