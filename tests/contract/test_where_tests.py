"""Each module has its tests where a reader looks for them, or a line that names the file."""

from __future__ import annotations

from tests.contract import where_tests


def test_the_tests_of_each_module_are_found() -> None:
    assert not where_tests.faults(), "run: python -m tests.contract.where_tests --write, and look at the difference"


def test_a_module_without_tests_is_seen() -> None:
    known = where_tests.recorded()
    name = next(iter(known))
    del known[name]
    assert where_tests.unrecorded(known) == [name]
