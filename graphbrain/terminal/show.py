"""The output of the command line: sentences, JSON lines, plain tables, and progress on stderr.

Only results are written to stdout. `tables` lays out tables for a terminal and for a pipe. `graphbrain.cli.sheets` has
the sheets of single commands. Progress is drawn on stderr, and only on a terminal. All output uses `sys.stdout.write`,
so that a reader that has closed the pipe (`| head`) causes one BrokenPipeError at one place.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

from graphbrain.base.records import plain
from graphbrain.terminal.tables import (
    AnswerTable,
    Cell,
    Sheet,
    Table,
    Title,
    flat,
    on_terminal,
    out,
    prose,
    shorten,
    write,
)

__all__ = [
    "AnswerTable",
    "Cell",
    "Line",
    "Sheet",
    "Table",
    "Title",
    "answer",
    "bar",
    "counted",
    "figures_sheet",
    "json_lines",
    "on_terminal",
    "out",
    "progress_bar",
    "prose",
    "rows_table",
    "say",
    "share_bar",
    "sheet",
    "shorten",
    "status_line",
    "task_bar",
    "timed_line",
    "write",
]


def say(text: str) -> None:
    """Write a sentence for the person at the terminal on stderr. Data is never written there."""
    print(text, file=sys.stderr, flush=True)


def counted(count: int, noun: str) -> str:
    """Return a number with its noun: '1 page', '2,000 pages'."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def json_lines(items: Iterable[Any]) -> None:
    """Print each item as one line of JSON on stdout."""
    for item in items:
        sys.stdout.write(json.dumps(item, default=plain) + "\n")
    sys.stdout.flush()


def answer(items: Any, shown: Any, as_json: bool, nothing: str = "") -> None:
    """Print the answer of a command on stdout.

    Args:
        items: One record, or several: with `as_json` each is a line of JSON.
        shown: The form without `as_json`: a table, a sheet, a text, or several of them; or a function that makes it of
            the items.
        as_json: True if the command was called with `--json`.
        nothing: The sentence on stderr if a table has no rows.
    """
    if as_json:
        is_one = isinstance(items, Mapping) or hasattr(items, "as_dict") or dataclasses.is_dataclass(items)
        json_lines([items] if is_one else items)
        return
    form = shown(items) if callable(shown) else shown
    if isinstance(form, Table):
        if not write(form) and nothing:
            say(nothing)
    else:
        out(*([form] if isinstance(form, Sheet | str) else form))


# ---------------------------------------------------------------------- tables


def rows_table(headers: Sequence[str], rows: Iterable[Sequence[Any]], spare: Sequence[str] = ()) -> Table:
    """Return a table whose first columns are words or numbers and whose last one is a URL or the longest text."""
    return Table(headers, rows, spare)


def sheet(pairs: Iterable[tuple[str, Any]], values: Mapping[str, Any] | None = None) -> Sheet:
    """Return a sheet of names and values, one pair a line; long values wrap. A program gets `values` instead."""
    return Sheet(list(pairs), values)


def figures_sheet(figures: Mapping[str, Any]) -> Sheet:
    """Return a sheet of all figures. The name of a figure in a group begins with the group's name."""
    return sheet(flat(figures), figures)


# ---------------------------------------------------------------------- progress, on stderr


def progress_bar(*columns: Any) -> Progress:
    """Return progress bars of these columns on stderr, if that is a terminal."""
    console = Console(stderr=True)
    return Progress(*columns, console=console, disable=not console.is_terminal, transient=True)


@contextmanager
def bar(doing: str, shown: bool = True) -> Iterator[Callable[[int, int], None]]:
    """Show a bar beside a word for the work. Call the result with the number done and the total. `shown`: False shows
    nothing."""
    if not shown:
        yield lambda *_: None
        return
    with progress_bar(TextColumn(doing), BarColumn(), MofNCompleteColumn()) as drawn:
        task = drawn.add_task("", total=None)
        yield lambda done, total: drawn.update(task, completed=done, total=total)


@contextmanager
def share_bar() -> Iterator[Callable[[str, float], None]]:
    """Show a bar for several steps in turn. Call the result with the step's name and its finished share, 0 to 1."""
    with progress_bar(TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()) as bar:
        task = bar.add_task("", total=1.0)
        yield lambda what, share: bar.update(task, description=what, completed=share, total=(share and 1.0) or None)


@contextmanager
def task_bar() -> Iterator[Callable[[str, int, int], None]]:
    """Show a bar for the present work. Call the result with its name, its progress, and its total (0: unknown)."""
    with progress_bar(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()) as bar:
        task = bar.add_task("", total=None)
        yield lambda what, done, of: bar.update(task, description=what, completed=done, total=of or None)


@contextmanager
def status_line() -> Iterator[Callable[[str], None]]:
    """Show one line that changes."""
    with progress_bar(SpinnerColumn(), TextColumn("{task.description}")) as bar:
        task = bar.add_task("")
        yield lambda text: bar.update(task, description=text)


class Line(Protocol):
    """A function that shows the present work and its progress on one line. An empty work clears the line."""

    def __call__(self, doing: str, detail: str = "", /) -> None: ...


@contextmanager
def timed_line() -> Iterator[Line]:
    """Show one line with the present work and its seconds, which advance by themselves."""
    with progress_bar(SpinnerColumn(), TextColumn("{task.description}"), TextColumn("{task.fields[spent]}")) as bar:
        task = bar.add_task("", visible=False, spent="")
        now, since, over = ("", ""), time.monotonic(), threading.Event()

        def report(doing: str, detail: str = "", /) -> None:
            nonlocal now, since
            if doing != now[0]:
                since = time.monotonic()
            now = doing, detail
            draw()

        def draw() -> None:
            doing, detail = now
            spent = f"{time.monotonic() - since:.0f} s"
            bar.update(task, description=f"{doing}{detail}", spent=spent, visible=bool(doing))

        # A thread draws the line twice a second, so that the seconds advance between two reports.
        def draw_on() -> None:
            while not over.wait(0.5):
                draw()

        thread = threading.Thread(target=draw_on, daemon=True)
        thread.start()
        try:
            yield report
        finally:
            over.set()
            thread.join()
