"""Tables for both who read them: what a program gets can be taken apart again, what a person gets fits the terminal."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from graphbrain import tables
from graphbrain.tables import Cell, Sheet, Table, Title, out, write

LONG = "http://www.example.org/" + "a-very-long-path/" * 20 + "page.html"


def printed(*things: Any, person: bool) -> str:
    """What is printed for a person, or for a program."""
    before, sys.stdout = sys.stdout, io.StringIO()
    try:
        out(*things, person=person)
        return sys.stdout.getvalue()
    finally:
        sys.stdout = before


def taken_apart(text: str) -> list[list[str]]:
    """The fields of tab-separated lines, as anybody would read them."""
    escapes = {"\\": "\\", "t": "\t", "n": "\n", "r": "\r"}

    def plain(field: str) -> str:
        found, parts = "", iter(field)
        for letter in parts:
            if letter != "\\":
                found += letter
            elif (kind := next(parts)) in escapes:
                found += escapes[kind]
            else:
                found += chr(int("".join(next(parts) for _ in range({"x": 2, "u": 4}[kind])), 16))
        return found

    return [[plain(field) for field in line.split("\t")] for line in text.split("\n")[:-1]]


@given(st.lists(st.tuples(st.text(), st.text(), st.text()), max_size=5))
def test_a_program_gets_whole_values_and_can_take_them_apart(rows: list[tuple[str, ...]]) -> None:
    text = printed(Table(("a", "b", "c"), rows), person=False)
    assert len(text.splitlines()) == len(rows) + 1, "no value ends a line, by whatever rule"
    assert taken_apart(text) == [["a", "b", "c"], *map(list, rows)]


def test_a_program_gets_numbers_and_times_as_they_are() -> None:
    row = (1234567, 0.1 + 0.2, None, True, Cell(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), "long ago"), Cell(7, "7 MB"))
    fields = taken_apart(printed(Table(tuple("abcdef"), [row]), person=False))[1]
    assert fields == ["1234567", "0.30000000000000004", "", "true", "2026-01-02T03:04:05.000Z", "7"]
    sheet = Sheet([("size", Cell(7, "7 MB"))])
    assert printed(sheet, person=False) == "name\tvalue\nsize\t7\n"
    assert printed(sheet, person=True) == "size  7 MB\n"
    assert printed(Sheet([("size", "about 7")], {"a": {"b_c": 7}}), person=False) == "name\tvalue\na.b_c\t7\n"
    assert printed(Title("above"), person=False) == ""
    assert printed(Table(("a",), []), person=False) == "a\n", "a header, so that it can be read as any other"
    assert printed(Table(("a",), []), person=True) == ""


@given(st.lists(st.tuples(st.text(), st.integers() | st.none(), st.text(), st.text()), min_size=1, max_size=5))
def test_a_person_gets_what_fits_and_does_nothing_to_the_terminal(rows: list[tuple[Any, ...]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "80")
        text = printed(Table(("word", "number", "remark", "url"), rows, ("word", "number"), "remark"), person=True)
    assert not [letter for letter in text if letter != "\n" and (ord(letter) < 32 or 127 <= ord(letter) < 160)]
    ascii_lines = [line for line in text.split("\n") if line.isascii()]
    assert not [line for line in ascii_lines if len(line) > 80]


def shown(table: Table, columns: int = 80) -> list[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(columns))
        return printed(table, person=True).splitlines()


def test_a_terminal_shows_the_url_rather_than_columns() -> None:
    names = ("hub", "silent", "state", "url")
    rows: Sequence[Sequence[Any]] = [(1.5, None, "known", LONG), (12.25, None, "frontier", "http://b.example/")]
    head, first, second = shown(Table(names, rows, ("hub",)))
    assert head.split() == ["hub", "state", "url"], "nothing is silent"
    assert len(first) == 80 and first.endswith("page.html") and "http://www.example.org/…" in first
    assert second.split() == ["12.250", "frontier", "http://b.example/"]
    narrow = shown(Table(names, rows, ("hub",)), 50)
    assert narrow[0].split() == ["state", "url"] and len(narrow[1]) == 50
    assert shown(Table(names, [(1.5, None, "known", "http://b.example/")], ("hub",)), 50)[0].split()[0] == "hub"


def test_columns_that_get_values_later_get_a_header_then(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "BLOCK_ROWS", 2)
    rows = [(1, None, "a"), (2, None, "b"), (3, "x", "c"), (4, None, "d"), (5, None, "e")]
    assert [line.split() for line in shown(Table(("n", "word", "url"), rows))] == [
        ["n", "url"], ["1", "a"], ["2", "b"], ["n", "word", "url"], ["3", "x", "c"], ["4", "–", "d"], ["5", "–", "e"],
    ]  # fmt: skip


def test_a_remark_stands_beneath_its_row() -> None:
    table = Table(("outcome", "reason", "url"), [("new", None, "a"), ("refused", "word " * 30, "b")], remark="reason")
    lines = shown(table)
    assert [line.split() for line in lines[:3]] == [["outcome", "url"], ["new", "a"], ["refused", "b"]]
    assert len(lines) == 5 and all(line.startswith("    word") and len(line) <= 80 for line in lines[3:])
    assert printed(table, person=False).splitlines()[2].split("\t") == ["refused", "word " * 30, "b"]


def test_numbers_stand_under_each_other_and_words_begin_together() -> None:
    assert shown(Table(("name", "n", "weight"), [("a", 5, 10), ("bcd", 1234, 2)])) == [
        "name      n  weight",
        "a         5      10",
        "bcd   1,234       2",
    ]


def test_wide_letters_take_two_places() -> None:
    lines = shown(Table(("word", "url"), [("漢字", "a"), ("abcd", "b")]))
    assert [cell_len(line) for line in lines] == [9, 7, 7]


def test_a_sheet_folds_its_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    lines = printed(Sheet([("name", "word " * 20), ("url", LONG[:70])]), person=True).splitlines()
    assert all(len(line) <= 40 for line in lines)
    assert "".join(line[6:] for line in lines if not line.startswith("name")).endswith(LONG[60:70])


def test_rows_are_written_as_they_come() -> None:
    told: list[str] = []

    def rows() -> Any:
        for n in range(3):
            told.append(sys.stdout.getvalue())  # type: ignore[attr-defined]
            yield (n,)

    before, sys.stdout = sys.stdout, io.StringIO()
    try:
        assert write(Table(("n",), rows()), person=False) == 3
    finally:
        sys.stdout = before
    assert told == ["n\n", "n\n0\n", "n\n0\n1\n"]


@pytest.mark.parametrize("width", [12, 20, 30, 60])
def test_a_url_that_is_too_long_keeps_its_host_and_its_tail(width: int) -> None:
    short = tables.shorten(LONG, width)
    assert len(short) == width and short.startswith("http:/") and LONG.endswith(short.split("…")[1])
    assert tables.shorten("http://a.example/", 60) == "http://a.example/"
