"""The default tests commit each statement and repeat it, but for exceptions that are listed, and get fewer."""

from __future__ import annotations

from tests.contract import statement_tests

MOST_EXCEPTIONS = 28


def test_each_statement_is_committed_and_repeated_by_a_default_test() -> None:
    assert not statement_tests.faults(), "see tests/contract/statement_tests.py for how the record is made"


def test_the_exceptions_have_a_reason_and_get_fewer() -> None:
    excepted = statement_tests.exceptions()
    assert list(excepted) == sorted(excepted) and all(excepted.values())
    assert len(excepted) <= MOST_EXCEPTIONS


def test_a_statement_that_no_test_repeats_is_seen() -> None:
    known = {"claims/take": ("3 tests/a.py::test_a", statement_tests.NONE)}
    assert statement_tests.lacking(known) == {"claims/take repeats"}
