"""Tables for both who read them: what a program gets can be taken apart again, what a person gets fits the terminal."""

from __future__ import annotations

import io
import sys
import unicodedata
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from graphbrain.terminal import tables
from graphbrain.terminal.tables import AnswerTable, Cell, Sheet, Table, Title, defused, out, plain, visible, write

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
                found += chr(int("".join(next(parts) for _ in range({"x": 2, "u": 4, "U": 8}[kind])), 16))
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


VISIBLE = {*range(0x0600, 0x0606), 0x06DD, 0x070F, 0x0890, 0x0891, 0x08E2, 0x110BD, 0x110CD}
"""Format characters that are drawn: signs around numbers."""


def unseen(text: str) -> list[str]:
    """Characters that cannot be seen, or turn the direction of reading."""
    return [c for c in text if unicodedata.category(c) in ("Cf", "Zl", "Zp") and ord(c) not in VISIBLE]


def test_whatever_cannot_be_seen_is_shown_by_its_number() -> None:
    every = [chr(code) for code in range(sys.maxunicode + 1)]
    hidden = unseen("".join(every))
    assert len(hidden) > 100 and not unseen(visible("".join(hidden))) and not unseen(plain("".join(hidden)))
    assert visible("a\u202eb\u200b\U000e0041") == "a\\u202eb\\u200b\\U000e0041"
    for same in ("Größe", "日本語", "עברית", "\u2764\ufe0f", "nbsp\u00a0"):
        assert visible(same) == plain(same) == same


@pytest.mark.parametrize(
    "text", ["=1+1", " =1", "\u200b=1+1", "\ufeff=", "\u2060\t@x", "＝1+1", "＋1", "－1", "＠x", "﹦1", "-2+3"]
)
def test_no_text_of_a_csv_file_is_a_formula(text: str) -> None:
    assert defused(text) == f"'{text}"


def test_other_texts_of_a_csv_file_stay() -> None:
    for text in ("", "a=1", "\u200b", "http://a.example/?=", "１", "≠"):
        assert defused(text) == text


@given(st.lists(st.tuples(st.text(), st.integers() | st.none(), st.text(), st.text()), min_size=1, max_size=5))
def test_a_person_gets_what_fits_and_does_nothing_to_the_terminal(rows: list[tuple[Any, ...]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "80")
        text = printed(Table(("word", "number", "remark", "url"), rows, ("word", "number"), "remark"), person=True)
    assert not [letter for letter in text if letter != "\n" and (ord(letter) < 32 or 127 <= ord(letter) < 160)]
    assert not unseen(text)
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


def test_the_columns_of_an_answer_share_the_width_and_narrow_ones_keep_theirs() -> None:
    words = "word " * 12
    rows = [(LONG, 404, "short one", f"{words}a"), (f"{LONG}?b", 7, "short two", f"{words}c")]
    head, *lines = shown(AnswerTable(("on", "status", "short", "text"), rows))
    assert head.split() == ["on", "status", "short", "text"]
    first, status, short, second = (head.index(name) for name in ("on", "status", "short", "text"))
    assert (status - first - 2, 80 - second) == (30, 29) and all(len(line) <= 80 for line in lines)
    assert lines[0][status:].split()[:2] == ["404", "short"] and short - status == len("status") + 2
    assert lines[1].endswith(" c") and lines[1][:status].rstrip().endswith(".html?b")


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("columns", [("on", "status", "broken"), ("on", "names", "broken")])
def test_where_an_answer_has_two_urls_both_are_whole(width: int, columns: tuple[str, ...]) -> None:
    """Side by side where they fit, else one below the other; and each row is apart from the next."""
    for length in range(0, 100, 7):
        urls = [f"http://a.example/{'x' * length}{n}" for n in range(6)]
        rows = [(urls[n], urls[n + 1] if "names" in columns else 404, urls[n + 3]) for n in range(2)]
        lines = shown(AnswerTable(columns, rows), width)
        assert all(len(line) <= width for line in lines)
        flowing = "".join(line.removeprefix(name).strip() for line in lines for name in (line.split(" ")[0],))
        whole = "".join(line.strip() for line in lines)
        assert all(url in whole or url in flowing for row in rows for url in row if isinstance(url, str)), lines
        assert "…" not in whole


def test_urls_that_would_look_alike_are_cut_where_they_differ() -> None:
    urls = [f"http://shop.example/{'deep/' * 10}product-{n}/{'details/' * 10}it.html" for n in range(3)]
    rows = [("word " * 9, urls[0]), ("word " * 8, urls[1]), ("word " * 9, urls[2]), ("word " * 9, urls[0])]
    lines = shown(AnswerTable(("text", "broken"), rows))
    cut = [line.split()[-1] for line in lines[1:]]
    assert len(set(cut)) == 3 and cut[0] == cut[3], "the same text is cut in the same way"
    assert all(f"t-{n % 3}/" in line and len(line) <= 80 for n, line in enumerate(lines[1:]))


def test_a_long_text_that_all_rows_of_an_answer_share_stands_above_them() -> None:
    rows = [(1, "same", LONG), (2, "same", LONG)]
    assert shown(AnswerTable(("n", "word", "paid"), rows)) == [f"paid: {LONG}", "n  word", "1  same", "2  same"]
    assert shown(AnswerTable(("paid",), [(LONG,), (LONG,)]))[0] == "paid", "something is left"
    text = printed(AnswerTable(("n", "word", "paid"), rows), person=False)
    assert taken_apart(text)[1] == ["1", "same", LONG], "a program gets it in each row"


def test_a_single_row_of_an_answer_is_read_vertically() -> None:
    row = (1, None, ["http://a.example/", "http://b.example/"])
    assert shown(AnswerTable(("steps", "error", "chain"), [row])) == [
        "steps  1",
        "error  –",
        "chain  http://a.example/",
        "       http://b.example/",
    ]
    folded = shown(AnswerTable(("url", "urls"), [(LONG, [LONG[:90], "http://b.example/"])]))
    assert "".join(line[6:] for line in folded if "urls" not in line).startswith(LONG), "nothing is cut"
    assert [line[:9] for line in folded[-3:]] == ["urls  htt", "        h", "      htt"]


def test_the_items_of_a_list_have_a_line_each_and_are_cut_each() -> None:
    urls = [f"{LONG}?{letter}" for letter in "abc"]
    lines = shown(AnswerTable(("n", "urls"), [(1, urls), (2, urls[:1])]))
    assert [line[:3] for line in lines] == ["n  ", "1  ", "   ", "   ", "2  "]
    assert [line[-6:] for line in lines[1:]] == ["html?a", "html?b", "html?c", "html?a"]
    assert {len(line) for line in lines[1:]} == {80}
    assert shown(AnswerTable(("path",), [(["a", "b"],), (["a", "c"],)])) == ["path", "a", "  b", "a", "  c"]
    assert printed(AnswerTable(("path",), [(["a", "b"],)]), person=False) == "path\na, b\n"


def test_the_rows_of_an_answer_stand_below_each_other_where_columns_would_have_no_room() -> None:
    rows = [(n, *[LONG] * 3, LONG[:30]) for n in (1, 2)]
    rows[1] = (2, *[f"{LONG}?"] * 4)
    lines = shown(AnswerTable(("n", "a", "b", "c", "d"), rows), 40)
    assert lines[0] == "n  1" and "" in lines and "n  2" in lines and all(len(line) <= 40 for line in lines)


@given(
    st.lists(st.tuples(st.text(), st.integers() | st.none(), st.lists(st.text()), st.text()), max_size=5),
    st.integers(20, 100),
)
def test_an_answer_fits_whatever_it_is(rows: list[tuple[Any, ...]], width: int) -> None:
    lines = shown(AnswerTable(("word", "number", "list", "url"), rows), width)
    long = [line for line in lines if cell_len(line) > max(width, 30) and line.isascii() and ": " not in line]
    assert not long


def test_a_person_reads_times_to_the_minute() -> None:
    at = datetime(2026, 11, 26, 1, 47, 43, tzinfo=timezone(timedelta(hours=1)))
    assert shown(AnswerTable(("at", "n"), [(at, 1), (at, 2)]))[1].split() == ["2026-11-26", "00:47", "1"]
    assert printed(AnswerTable(("at",), [(at,)]), person=False) == "at\n2026-11-26T00:47:43.000Z\n"


@pytest.mark.parametrize("width", [12, 20, 30, 60])
def test_a_url_that_is_too_long_keeps_its_host_and_its_tail(width: int) -> None:
    short = tables.shorten(LONG, width)
    assert len(short) == width and short.startswith("http:/") and LONG.endswith(short.split("…")[1])
    assert tables.shorten("http://a.example/", 60) == "http://a.example/"
