"""Tables and sheets, with one layout for a person at a terminal and one for a program behind a pipe.

On a terminal a table is aligned and fits the width. Columns without any value are left out. If the last column, mostly
a URL, has too little room, dispensable columns are left out, too. A URL that is still too long keeps its host and its
tail. In an answer any column may be a URL: the wide columns share the width. If an answer has several URLs and they do
not fit, its rows are printed one below the other with whole URLs.

The tables of rich are not used, because rich needs all rows before it prints the first, and neither leaves out columns
nor keeps both ends of a URL. The widths of characters, the folding of text and the terminal's width are from rich.

Anywhere else a table is tab-separated: a header line, then whole values, without padding or colours. There a number is
written as in Python, a time in UTC by ISO 8601, and None as an empty field. Backslashes are escaped. So are characters
that control a terminal, end a line, are invisible, or change the direction of reading: `\\\\`, `\\t`,
`\\n`, `\\r`, `\\xNN`, `\\uNNNN`.
"""

from __future__ import annotations

import csv
import io
import os
import re
import sys
import time
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from itertools import zip_longest
from typing import Any

from rich.cells import cell_len, set_cell_size
from rich.console import Console, RenderableType
from rich.text import Text

from graphbrain.base.urls.masking import masked

__all__ = [
    "AnswerTable",
    "Cell",
    "Sheet",
    "Table",
    "Title",
    "csv_line",
    "defused",
    "flat",
    "number",
    "on_terminal",
    "out",
    "plain",
    "prose",
    "shorten",
    "visible",
    "write",
]

BLOCK_ROWS, BLOCK_SECONDS = 100, 0.5
"""The size of a block of rows on a terminal: a block ends after this many rows, or after this many seconds."""
GAP = 2
LEAST_LAST = 40
"""Characters that the last column has, if its values are so long, before dispensable columns have any."""
WIDEST = 40
"""Characters of any other column."""
LEAST_SHARE = 12
"""The least number of characters for each wide column of an answer; otherwise its rows are printed one below the
other."""
LONG_TEXT = 24
"""A text of more characters is long. Every URL is long."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A value with different forms for a program and for a person."""

    value: Any
    shown: str


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under a header. `rows` may be an iterator: each block of rows is written as soon as it is complete.

    Attributes:
        spare: Columns that a narrow terminal leaves out, the last of them first.
        remark: The column that a terminal prints on a separate line beneath its row.
    """

    columns: Sequence[str]
    rows: Iterable[Sequence[Any]]
    spare: Sequence[str] = ()
    remark: str | None = None


@dataclass(frozen=True, slots=True)
class AnswerTable(Table):
    """Complete rows, any column of which may hold URLs or lists of them.

    For a person, a single row is printed as names and values. The items of a list are printed below each other. A long
    text that all rows share is printed once, above the table.
    """


@dataclass(frozen=True, slots=True)
class Sheet:
    """Names and values, one pair a line. A program gets `values` instead, with the names of `--json`."""

    pairs: Sequence[tuple[str, Any]]
    values: Mapping[str, Any] | None = None


class Title(str):
    """Words above a table, printed only for a person. A program finds them in a column of the table."""

    __slots__ = ()


def on_terminal() -> bool:
    """Return True if stdout is a terminal."""
    return bool(sys.stdout.isatty())


def out(*things: RenderableType | Table | Sheet, person: bool | None = None) -> None:
    """Print tables, sheets and texts on stdout. `person` overrides the detection of a terminal."""
    person = on_terminal() if person is None else person
    for thing in things:
        if isinstance(thing, Table):
            write(thing, person)
        elif isinstance(thing, Sheet):
            sys.stdout.write("".join(_person_sheet(thing) if person else _program_sheet(thing)))
        elif isinstance(thing, Title):
            sys.stdout.write(f"{_bold(thing)}\n" if person else "")
        elif isinstance(thing, str):
            sys.stdout.write(f"{thing}\n")
        else:
            console = Console(highlight=False)
            with console.capture() as got:
                console.print(thing)
            sys.stdout.write("".join(line.rstrip() + "\n" for line in got.get().splitlines()))


def prose(*things: RenderableType | Table | Sheet) -> None:
    """Print text in the form for a person, also if stdout is no terminal."""
    out(*things, person=True)


def write(table: Table, person: bool | None = None) -> int:
    """Print a table as its rows come, and return their number. On a terminal nothing is printed if there are none."""
    if not (on_terminal() if person is None else person):
        return _write_plain(table)
    return _write_answer(table) if isinstance(table, AnswerTable) else _Screen(table, _width()).write()


# ---------------------------------------------------------------------- for a program

_UNSEEN = (
    *(0x00AD, 0x034F, 0x061C, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), *range(0x200B, 0x2010)),
    *(*range(0x2028, 0x202F), *range(0x2060, 0x2070), 0x3164, 0xFEFF, 0xFFA0, *range(0xFFF0, 0xFFFC)),
    *(*range(0x13430, 0x13440), *range(0x1BCA0, 0x1BCA4), *range(0x1D173, 0x1D17B), *range(0xE0000, 0xE1000)),
)
"""Unicode's default ignorable characters and controls of format and direction, except variation selectors of emoji."""
_ESCAPES = {
    code: f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
    for code in (*range(32), *range(127, 160), *_UNSEEN)
} | {ord("\\"): "\\\\", ord("\t"): "\\t", ord("\n"): "\\n", ord("\r"): "\\r"}
_NOTHING = dict.fromkeys((*range(32), *range(127, 160), *_UNSEEN))
_CONTROL = {code: text for code, text in _ESCAPES.items() if code != ord("\\")}


def plain(value: Any) -> str:
    """Return a value as a field of a tab-separated line."""
    if isinstance(value, Cell):
        value = value.value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if isinstance(value, list | tuple | set | frozenset):
        value = ", ".join(map(str, value))
    return masked(str(value)).translate(_ESCAPES)


def defused(text: str) -> str:
    """Return a text as a field of a CSV file. A text that a spreadsheet would read as a formula gets an apostrophe.

    Spreadsheets skip invisible characters, and some read the wide forms of `=`, `+`, `-` and `@` as these signs.
    """
    begins = text.translate(_NOTHING).lstrip()[:1]
    risky = unicodedata.normalize("NFKC", begins) in ("=", "+", "-", "@") or text.startswith(("\t", "\r"))
    return f"'{text}" if risky else text


def csv_line(row: Sequence[Any]) -> str:
    """Return a row as a line of comma-separated values. A spreadsheet reads no text in it as a formula."""
    line = io.StringIO()
    cells = [plain(cell) if isinstance(cell, int | float) else defused(plain(cell)) for cell in row]
    csv.writer(line, lineterminator="\n").writerow(cells)
    return line.getvalue()


def _write_plain(table: Table) -> int:
    count = 0
    sys.stdout.write("\t".join(table.columns) + "\n")
    for count, row in enumerate(table.rows, 1):  # noqa: B007  # it is what is returned
        sys.stdout.write("\t".join(map(plain, row)) + "\n")
    return count


def _program_sheet(sheet: Sheet) -> Iterator[str]:
    yield "name\tvalue\n"
    for name, value in sheet.pairs if sheet.values is None else named(sheet.values):
        yield f"{plain(name)}\t{plain(value)}\n"


def named(figures: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each figure with its name in JSON. Names of a group begin with the group's name and a dot."""
    for name, value in figures.items():
        if isinstance(value, Mapping):
            yield from named(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", value


def flat(figures: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each figure with its name in words. Names of a group begin with the group's name."""
    for name, value in figures.items():
        words = f"{before}{name.replace('_', ' ')}"
        if isinstance(value, Mapping):
            yield from flat(value, f"{words}: ")
        else:
            yield words, value


# ---------------------------------------------------------------------- for a person


def number(value: Any) -> str:
    """Return a value for a person: grouped thousands, floats with their significant digits, times in UTC to the minute,
    None as a dash."""
    if isinstance(value, Cell):
        return value.shown
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        if value.is_integer() and abs(value) < 1e15:
            return f"{int(value):,}"
        return f"{value:,.3f}" if abs(value) >= 0.01 else f"{value:.3g}"
    if isinstance(value, datetime):
        return f"{value.astimezone(UTC):%Y-%m-%d %H:%M}"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return str(value)


def visible(text: str) -> str:
    """Return a text with escapes for control and invisible characters, so that they do nothing to a terminal."""
    return masked(text).translate(_CONTROL)


def shorten(url: str, width: int) -> str:
    """Return `url` in at most `width` characters: scheme and host, an ellipsis, the tail."""
    if len(url) <= width:
        return url
    if width < 12:
        return url[: width - 1] + "…"
    host_end = url.find("/", url.find("://") + 3) + 1 or len(url)
    head = min(host_end, width * 2 // 3)
    return url[:head] + "…" + url[len(url) - (width - head - 1) :]


def _ended(text: str, room: int) -> str:
    """Return a text in at most `room` cells. One that is cut ends in an ellipsis."""
    return text if cell_len(text) <= room else f"{set_cell_size(text, room - 1)}…"


def _width() -> int:
    return Console().width


def _bold(text: str) -> str:
    """Return a text in bold, if the terminal has styles."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") in (None, "dumb") or not on_terminal():
        return text
    return f"\x1b[1m{text}\x1b[0m"


def _person_sheet(sheet: Sheet) -> Iterator[str]:
    pairs = [(name, visible(number(value))) for name, value in sheet.pairs]
    names_width = max([0, *(cell_len(name) for name, _ in pairs)])
    room = max(20, _width() - names_width - GAP)
    for name, value in pairs:
        head = _bold(name) + " " * (names_width - cell_len(name) + GAP)
        for line in _folded(value, room):
            yield f"{head}{line}".rstrip() + "\n"
            head = " " * (names_width + GAP)


def _folded(text: str, room: int) -> list[str]:
    """Return a text in lines of at most this width, broken between words if possible."""
    lines = Text(text).wrap(Console(width=room), room, overflow="fold")
    return [line.plain.rstrip() for line in lines] or [""]


_NUMERIC = re.compile(r"[-–+]?[\d.,]+(e[-+]?\d+)?[ %a-z]*|–|")


def _beneath(remark: str, width: int) -> list[str]:
    return [] if remark in ("–", "") else _folded(remark, max(20, width - 4))


@dataclass(slots=True)
class _Screen:
    """The layout of a table for a terminal, block by block. Each block may widen columns, and add some to the table.

    Attributes:
        widths: Columns that have had a value → their widths.
        text_columns: Columns that have had a value other than a number.
        last_width: The width of the longest value of the last column.
        shown: The columns before the last one in the latest header.
    """

    table: Table
    width: int
    widths: dict[int, int] = field(default_factory=dict)
    text_columns: set[int] = field(default_factory=set)
    last_width: int = 0
    shown: list[int] | None = None
    count: int = 0

    def write(self) -> int:
        """Print the table, and return the number of rows."""
        block: list[Sequence[Any]] = []
        began = time.monotonic()
        for row in self.table.rows:
            block.append(row)
            if len(block) == BLOCK_ROWS or time.monotonic() - began > BLOCK_SECONDS:
                self.lay_out(block)
                block, began = [], time.monotonic()
        self.lay_out(block)
        return self.count

    def lay_out(self, block: Sequence[Sequence[Any]]) -> None:
        """Print some rows, under a header if they are the first or have other columns than those before."""
        if not block:
            return
        names = list(self.table.columns)
        remark, last = None if self.table.remark is None else names.index(self.table.remark), len(names) - 1
        # Measure the columns of these rows.
        self.count += len(block)
        cells = [[visible(number(cell)) for cell in row] for row in block]
        for row in cells:
            for column, cell in enumerate(row):
                if not _NUMERIC.fullmatch(cell):
                    self.text_columns.add(column)
                if column not in (remark, last) and cell not in ("–", ""):
                    self.widths[column] = max(self.widths.get(column, 0), cell_len(cell), cell_len(names[column]))
        self.last_width = max([self.last_width, cell_len(names[last]), *(cell_len(row[last]) for row in cells)])
        # Print a header if the columns are not those of the rows before.
        columns = self._fitting()
        if columns != self.shown:
            self.shown = columns
            sys.stdout.write(_bold(self._line(names)) + "\n")
        # Print the rows, and beneath each its remark.
        room = max(20, self._room(columns))
        lines = [self._line([*row[:last], shorten(row[last], room)]) for row in cells]
        if remark is not None:
            lines = [
                "\n".join([line, *(f"    {part}" for part in _beneath(row[remark], self.width))])
                for line, row in zip(lines, cells, strict=True)
            ]
        sys.stdout.write("".join(f"{line}\n" for line in lines))

    def _fitting(self) -> list[int]:
        """Return the columns with a value, without dispensable ones if the last column has too little room."""
        columns = sorted(self.widths)
        for name in reversed(self.table.spare):
            column = list(self.table.columns).index(name)
            if self._room(columns) < min(self.last_width, LEAST_LAST) and column in columns:
                columns.remove(column)
        return columns

    def _room(self, columns: Sequence[int]) -> int:
        """Return the width that these columns leave to the last one, negative if they need more than there is."""
        return self.width - sum(min(WIDEST, self.widths[column]) + GAP for column in columns)

    def _line(self, row: Sequence[str]) -> str:
        parts = []
        for column in self.shown or ():
            width = min(WIDEST, self.widths[column])
            parts.append(_aligned(_ended(row[column], width), width, column in self.text_columns))
        end = row[-1] if len(row) - 1 in self.text_columns else row[-1].rjust(self.last_width)
        return (" " * GAP).join([*parts, end]).rstrip()


def _aligned(cell: str, width: int, is_text: bool) -> str:
    """Return a cell in its width: a text at the left, a number at the right."""
    gap = " " * (width - cell_len(cell))
    return cell + gap if is_text else gap + cell


# ---------------------------------------------------------------------- an answer, for a person

_Lines = list[str]
"""The content of a cell, line by line."""


def _write_answer(table: AnswerTable) -> int:
    """Print an answer on a terminal, and return the number of rows."""
    rows = [[_lines(cell) for cell in row] for row in table.rows]
    width = _width()
    if len(rows) == 1:
        sys.stdout.write("".join(_upright(table.columns, rows[0], width)))
    elif rows:
        sys.stdout.write("".join(_laid_out(table.columns, rows, width)))
    return len(rows)


def _lines(cell: Any) -> _Lines:
    """Return a value, or the items of a list, one a line."""
    items = cell if isinstance(cell, list | tuple) and cell else [cell]
    return [visible(number(item)) for item in items]


def _upright(columns: Sequence[str], row: Sequence[_Lines], width: int) -> Iterator[str]:
    """Yield a row as names and values. If an item of a list takes several lines, all but the first are indented."""
    names_width = max(map(cell_len, columns))
    for name, items in zip(columns, row, strict=True):
        head = _bold(name) + " " * (names_width - cell_len(name) + GAP)
        indent = GAP if len(items) > 1 else 0
        for item in items:
            first, *more = _folded(item, max(20, width - names_width - GAP - indent))
            for line in (first, *(" " * indent + part for part in more)):
                yield f"{head}{line}".rstrip() + "\n"
                head = " " * (names_width + GAP)


@dataclass(eq=False)
class _Column:
    """A column of an answer.

    Attributes:
        cells: The lines of its cell in each row.
        width: The width that it has on the terminal.
    """

    name: str
    cells: list[_Lines]
    width: int = 0

    @cached_property
    def lines(self) -> list[str]:
        return [line for cell in self.cells for line in cell]

    @cached_property
    def needed(self) -> int:
        """Return the width of its longest line."""
        return max(map(cell_len, [self.name, *self.lines]))

    @cached_property
    def is_text(self) -> bool:
        return not all(map(_NUMERIC.fullmatch, self.lines))

    @property
    def is_empty(self) -> bool:
        return all(cell in (["–"], [""]) for cell in self.cells)

    @property
    def is_shared(self) -> bool:
        """Return True if all rows have the same long text."""
        return _long(self.cells[0]) and all(cell == self.cells[0] for cell in self.cells)

    def shown(self) -> list[_Lines]:
        """Return the cells with their lines cut to the width."""
        cuts = _cuts(self.lines, self.width)
        return [[cuts[line] for line in cell] for cell in self.cells]


def _laid_out(names: Sequence[str], rows: Sequence[Sequence[_Lines]], width: int) -> Iterator[str]:
    """Yield rows under a header, below the texts that they share. If a column has too little room, yield them one below
    the other."""
    columns = [_Column(name, [row[at] for row in rows]) for at, name in enumerate(names)]
    columns = [column for column in columns if not column.is_empty] or columns
    # A text that all rows share is printed once, above them. At least one column stays in the table.
    shared = [column for column in columns if column.is_shared]
    shared = shared if len(shared) < len(columns) else shared[:-1]
    for column in shared:
        yield f"{_bold(column.name)}: {column.cells[0][0]}\n"
    first, *more = (column for column in columns if column not in shared)
    columns = [_Column(first.name, [_indented(cell) for cell in first.cells]), *more]
    # Without room the rows are printed one below the other. If two URLs are cut, neither can be used.
    _share_width(columns, width - GAP * (len(columns) - 1))
    narrow = any(column.width < min(column.needed, LEAST_SHARE) for column in columns)
    urls = [column for column in columns if any("://" in line for line in column.lines)]
    if narrow or (len(urls) > 1 and any(column.needed > column.width for column in urls)):
        names = [column.name for column in columns]
        for number, row in enumerate(zip(*(column.cells for column in columns), strict=True)):
            yield "\n" if number else ""
            yield from _upright(names, row, width)
        return
    # With room they are printed side by side.
    yield _bold(_side_by_side([_cut(column.name, column.width) for column in columns], columns)) + "\n"
    for row in zip(*(column.shown() for column in columns), strict=True):
        for line in zip_longest(*row, fillvalue=""):
            yield _side_by_side(line, columns) + "\n"


def _long(cell: _Lines) -> bool:
    return len(cell) == 1 and ("://" in cell[0] or cell_len(cell[0]) > LONG_TEXT)


def _indented(cell: _Lines) -> _Lines:
    """Return the lines of a cell of the first column. All but the first are indented, so that the start of a row
    shows."""
    return [cell[0], *(" " * GAP + line for line in cell[1:])]


def _share_width(columns: Sequence[_Column], room: int) -> None:
    """Set the width of each column: the width it needs, but at most an equal part of what narrower columns leave."""
    for done, column in enumerate(sorted(columns, key=lambda column: column.needed)):
        column.width = max(1, min(column.needed, room // (len(columns) - done)))
        room -= column.width


def _side_by_side(cells: Sequence[str], columns: Sequence[_Column]) -> str:
    parts = [_aligned(cell, column.width, column.is_text) for cell, column in zip(cells, columns, strict=True)]
    return (" " * GAP).join(parts).rstrip()


def _cuts(texts: Iterable[str], room: int) -> dict[str, str]:
    """Return each text of a column → its shown form. Texts that would look alike are cut where they begin to
    differ."""
    cuts = {text: _cut(text, room) for text in dict.fromkeys(texts)}
    texts_of_cut: dict[str, list[str]] = {}
    for text, cut in cuts.items():
        texts_of_cut.setdefault(cut, []).append(text)
    for alike in texts_of_cut.values():
        if len(alike) > 1:
            first, last = min(alike), max(alike)
            differ = next((at for at, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
            cuts |= {text: _from(text, differ, room) for text in alike}
    return cuts


def _from(text: str, start: int, room: int) -> str:
    """Return the beginning of a text, and its continuation from a place in it."""
    head, tail = room // 3, start - 4
    return _ended(f"{text[:head]}…{text[tail:]}" if tail > head else text, room)


def _cut(text: str, room: int) -> str:
    """Return a text cut to the room: a URL keeps its tail, any other text its beginning."""
    return _ended(shorten(text, room) if "://" in text else text, room)
