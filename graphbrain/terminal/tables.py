"""Tables and sheets, each laid out once for both readers: a person at a terminal, and a program behind a pipe.

On a terminal a table is aligned and fits the width. Columns without any value are left out. If the last column, mostly
a URL, has too little room, so are dispensable columns. A URL that is still too long keeps its host and its tail. An
answer, of which any column may be a URL, shares the width among its wide columns. If it has several URLs and they do
not fit, its rows are printed one below the other with their URLs whole.

Anywhere else a table is tab-separated: a header line, then whole values, without padding or colours. There a number is
written as in Python, a time in UTC by ISO 8601, and None as an empty field. A backslash, characters that control a
terminal or end a line, and characters that are invisible or change the direction of reading are escaped: `\\\\`, `\\t`,
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
"""Characters for the last column, if its values are that long, before dispensable columns are shown."""
WIDEST = 40
"""Characters of any other column."""
LEAST_SHARE = 12
"""The least number of characters for each wide column of an answer; otherwise its rows are printed one below the
other."""
LONG_TEXT = 24
"""A text of more characters is long, as is every URL."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A value with different forms for a program and for a person."""

    value: Any
    shown: str


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under a header. They may come one by one, and are written as they come.

    Attributes:
        spare: Columns that a narrow terminal leaves out, the last of them first.
        remark: The column that a terminal prints on a line of its own beneath its row.
    """

    columns: Sequence[str]
    rows: Iterable[Sequence[Any]]
    spare: Sequence[str] = ()
    remark: str | None = None


@dataclass(frozen=True, slots=True)
class AnswerTable(Table):
    """Complete rows, any column of which may hold URLs or lists of them.

    For a person a single row is printed vertically, the items of a list below each other, and a long text that all rows
    share in a line above them.
    """


@dataclass(frozen=True, slots=True)
class Sheet:
    """Names and values, one pair a line. `values` replaces them for a program, by the names of `--json`."""

    pairs: Sequence[tuple[str, Any]]
    values: Mapping[str, Any] | None = None


class Title(str):
    """Words above a table, for a person alone; a program gets them in a column of the table."""

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
    """Print text for a person, wherever stdout leads."""
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
    """Return a text as a field of a CSV file, with an apostrophe before one that a spreadsheet would read as a formula.

    Spreadsheets skip invisible characters, and some read wide forms of the signs as these.
    """
    begins = text.translate(_NOTHING).lstrip()[:1]
    risky = unicodedata.normalize("NFKC", begins) in ("=", "+", "-", "@") or text.startswith(("\t", "\r"))
    return f"'{text}" if risky else text


def csv_line(row: Sequence[Any]) -> str:
    """Return a row as a line of comma-separated values, in which no text is a formula."""
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
    """Yield all figures by their names as in JSON, those of a group after its name and a dot."""
    for name, value in figures.items():
        if isinstance(value, Mapping):
            yield from named(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", value


def flat(figures: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield all figures in words, those of a group after its name."""
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
    """Return a text whose control and invisible characters are shown, so that they do nothing to a terminal."""
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
    """Return a text that ends in an ellipsis if it is too long."""
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
    """The layout of a table for a terminal, block by block; its knowledge of the columns grows."""

    table: Table
    width: int
    wide: dict[int, int] = field(default_factory=dict)
    """Columns that have had a value, with their widths."""
    words: set[int] = field(default_factory=set)
    """Columns that have had a value other than a number."""
    needed: int = 0
    """The width that the last column would need."""
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
        self.count += len(block)
        cells = [[visible(number(cell)) for cell in row] for row in block]
        remark, last = self._place(self.table.remark), len(self.table.columns) - 1
        for row in cells:
            for column, cell in enumerate(row):
                if not _NUMERIC.fullmatch(cell):
                    self.words.add(column)
                if column in (remark, last) or cell in ("–", ""):
                    continue
                self.wide[column] = max(self.wide.get(column, 0), cell_len(cell), cell_len(self.table.columns[column]))
        self.needed = max([self.needed, cell_len(self.table.columns[last]), *(cell_len(row[last]) for row in cells)])
        room = self._choose(last)
        lines = [self._line([*row[:last], shorten(row[last], room)], last) for row in cells]
        if remark is not None:
            lines = [
                "\n".join([line, *(f"    {part}" for part in _beneath(row[remark], self.width))])
                for line, row in zip(lines, cells, strict=True)
            ]
        sys.stdout.write("".join(f"{line}\n" for line in lines))

    def _place(self, name: str | None) -> int | None:
        return None if name is None else list(self.table.columns).index(name)

    def _choose(self, last: int) -> int:
        """Choose the columns, print the header if they are new, and return the room for the last column."""
        places = sorted(self.wide)
        room = self._room(places)
        for name in reversed(self.table.spare):
            column = list(self.table.columns).index(name)
            if room < min(self.needed, LEAST_LAST) and column in places:
                places.remove(column)
                room = self._room(places)
        if places != self.shown:
            self.shown = places
            header = self._line(list(self.table.columns), last)
            sys.stdout.write(_bold(header) + "\n")
        return max(20, room)

    def _room(self, places: Sequence[int]) -> int:
        """Return the room that these columns leave to the last one, negative if they need more than there is."""
        return self.width - sum(min(WIDEST, self.wide[column]) + GAP for column in places)

    def _line(self, row: Sequence[str], last: int) -> str:
        parts = []
        for column in self.shown or ():
            wide = min(WIDEST, self.wide[column])
            cell = _ended(row[column], wide)
            gap = " " * (wide - cell_len(cell))
            parts.append(cell + gap if column in self.words else gap + cell)
        end = row[last] if last in self.words else row[last].rjust(self.needed)
        return (" " * GAP).join([*parts, end]).rstrip()


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
    """Yield a row as names and values. The continuation of a folded item of a list is indented."""
    names_width = max(map(cell_len, columns))
    for name, items in zip(columns, row, strict=True):
        head = _bold(name) + " " * (names_width - cell_len(name) + GAP)
        indent = GAP if len(items) > 1 else 0
        for item in items:
            first, *more = _folded(item, max(20, width - names_width - GAP - indent))
            for line in (first, *(" " * indent + part for part in more)):
                yield f"{head}{line}".rstrip() + "\n"
                head = " " * (names_width + GAP)


def _laid_out(columns: Sequence[str], rows: Sequence[Sequence[_Lines]], width: int) -> Iterator[str]:
    """Yield rows under a header, below the texts that they share; one below the other if a column would have too little
    room."""
    every = range(len(columns))
    places = [column for column in every if any(row[column] not in (["–"], [""]) for row in rows)] or [*every]
    shared = [
        column for column in places if _long(rows[0][column]) and all(row[column] == rows[0][column] for row in rows)
    ]
    shared = shared if len(shared) < len(places) else shared[:-1]
    for column in shared:
        yield f"{_bold(columns[column])}: {rows[0][column][0]}\n"
    places = [column for column in places if column not in shared]
    rows = [[_indented(cell) if at == places[0] else cell for at, cell in enumerate(row)] for row in rows]
    needed = [
        max(cell_len(line) for line in (columns[at], *(line for row in rows for line in row[at]))) for at in places
    ]
    wide = _shares(needed, width - GAP * (len(places) - 1))
    narrow = any(has < min(need, LEAST_SHARE) for need, has in zip(needed, wide, strict=True))
    urls = [at for at, column in enumerate(places) if any("://" in line for row in rows for line in row[column])]
    # Of two URLs that are cut, neither can be used.
    if narrow or (len(urls) > 1 and any(needed[at] > wide[at] for at in urls)):
        for row in rows:
            yield from _upright([columns[at] for at in places], [row[at] for at in places], width)
            yield "\n" if row is not rows[-1] else ""
        return
    words = [any(not _NUMERIC.fullmatch(line) for row in rows for line in row[at]) for at in places]
    heads = [_cut(columns[at], room) for at, room in zip(places, wide, strict=True)]
    yield _bold(_side_by_side(heads, wide, words)) + "\n"
    cuts = [_cuts((line for row in rows for line in row[at]), room) for at, room in zip(places, wide, strict=True)]
    for row in rows:
        cells = ([cut[line] for line in row[at]] for at, cut in zip(places, cuts, strict=True))
        for line in zip_longest(*cells, fillvalue=""):
            yield _side_by_side(line, wide, words) + "\n"


def _long(cell: _Lines) -> bool:
    return len(cell) == 1 and ("://" in cell[0] or cell_len(cell[0]) > LONG_TEXT)


def _indented(cell: _Lines) -> _Lines:
    """Return the lines of a cell of the first column: the indent of all but one shows the start of a row."""
    return [cell[0], *(" " * GAP + line for line in cell[1:])]


def _shares(needed: Sequence[int], room: int) -> list[int]:
    """Return the width of each column: the width it needs, up to an equal part of the room that narrower ones leave."""
    wide = [0] * len(needed)
    for done, column in enumerate(sorted(range(len(needed)), key=needed.__getitem__)):
        wide[column] = max(1, min(needed[column], room // (len(needed) - done)))
        room -= wide[column]
    return wide


def _side_by_side(cells: Sequence[str], wide: Sequence[int], words: Sequence[bool]) -> str:
    parts = []
    for cell, room, word in zip(cells, wide, words, strict=True):
        gap = " " * (room - cell_len(cell))
        parts.append(cell + gap if word else gap + cell)
    return (" " * GAP).join(parts).rstrip()


def _cuts(texts: Iterable[str], room: int) -> dict[str, str]:
    """Return the shown form of the texts of a column. Texts that would look alike are cut where they begin to
    differ."""
    cuts = {text: _cut(text, room) for text in dict.fromkeys(texts)}
    alike: dict[str, list[str]] = {}
    for text, cut in cuts.items():
        alike.setdefault(cut, []).append(text)
    for those in alike.values():
        first, last = min(those), max(those)
        if first != last:
            differ = next((at for at, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
            cuts |= {text: _from(text, differ, room) for text in those}
    return cuts


def _from(text: str, start: int, room: int) -> str:
    """Return the beginning of a text, and its continuation from a place in it."""
    head, tail = room // 3, start - 4
    return _ended(f"{text[:head]}…{text[tail:]}" if tail > head else text, room)


def _cut(text: str, room: int) -> str:
    """Return a text cut to the room: a URL keeps its tail, any other text its beginning."""
    return _ended(shorten(text, room) if "://" in text else text, room)
