"""Dumps as files: JSON lines, CSV, and the node and edge files that `graphbrain replay` reads.

A file is written under another name, and renamed when it is complete. So there is never a part of a dump under its
name. A file whose name ends with `.gz` is gzipped.
"""

from __future__ import annotations

import csv
import difflib
import gzip
import io
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from graphbrain.base.errors import BadInput
from graphbrain.base.model import KnownLink, Page
from graphbrain.terminal.tables import defused

__all__ = ["SHORT", "Layout", "opened", "write_links", "write_pages"]

SHORT = (
    *("url", "state", "status", "title", "authority_score", "hub_score", "in_links", "out_links", "depth"),
    *("first_fetched", "fetched", "changed", "visits", "error", "redirects_to"),
)
"""The columns of a page that are written by default."""
TIMES = frozenset(
    {
        *("discovered", "first_fetched", "fetched", "changed", "failed", "failing_since", "not_before", "hinted"),
        *("in_sitemap", "recheck_at", "waiting_since", "claimed", "lease_until", "due", "since"),
    }
)
"""Fields that are times, in epoch seconds."""


@contextmanager
def opened(path: Path | None) -> Iterator[TextIO]:
    """Yield stdout, or a text file that is renamed to `path` at the end of the block, unless the block raises.

    Raises:
        BadInput: The file cannot be written.
    """
    if path is None:
        yield sys.stdout
        return
    # A pipe or a device is written directly.
    part = path.with_name(path.name + ".part") if path.is_file() or not path.exists() else path
    try:
        with _text(part, path.suffix == ".gz") as out:
            yield out
        if part != path:
            part.replace(path)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise BadInput(f"{path} cannot be written ({error.strerror or error}).") from None
    finally:
        if part != path:
            part.unlink(missing_ok=True)


def _text(path: Path, zipped: bool) -> TextIO:
    if zipped:
        return io.TextIOWrapper(gzip.open(path, "wb", compresslevel=6), encoding="utf-8", newline="\n")
    return path.open("w", encoding="utf-8", newline="\n")


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of a record in their order, and the form of its times: dates (ISO 8601, UTC) or epoch seconds."""

    columns: Sequence[str]
    dates: bool

    @classmethod
    def of(cls, kind: type[Page | KnownLink], form: str, columns: str | None, raw: bool | None) -> Layout:
        """Return the layout for the given options.

        Args:
            columns: Names between commas, or "all". None: all in the form "json", otherwise `SHORT` of a page.
            raw: True for epoch seconds, False for dates. None: epoch seconds in the form "json", otherwise dates.
            form: "json" (JSON lines for programs, as other commands print them), or another form.

        Raises:
            BadInput: No such column.
        """
        every, whole = kind.columns(), form == "json"
        few = SHORT if kind is Page and not whole else every
        wanted = few if columns is None else every if columns.strip() == "all" else _named(columns, every)
        return cls(wanted, not (whole if raw is None else raw))

    def record(self, item: Page | KnownLink) -> dict[str, Any]:
        """Return the fields of an item that are written."""
        facts = item.as_dict()
        return {name: _date(facts[name]) if self.dates and name in TIMES else facts[name] for name in self.columns}


def _named(columns: str, available: Sequence[str]) -> list[str]:
    wanted = [name for name in columns.replace(",", " ").split() if name]
    for name in wanted:
        if name not in available:
            near = difflib.get_close_matches(name, available, 1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(available)}"
            raise BadInput(f"There is no column {name!r:.80}: {hint}")
    if not wanted:
        raise BadInput("Name columns between commas, or 'all'.")
    return wanted


def _date(value: Any) -> Any:
    if not isinstance(value, float):
        return value
    try:
        return f"{datetime.fromtimestamp(value, UTC):%Y-%m-%dT%H:%M:%SZ}"
    except (OverflowError, ValueError, OSError):
        return value


def write_pages(
    pages: Iterable[Page], form: str, out: TextIO, *, columns: str | None = None, raw: bool | None = None
) -> int:
    """Write pages, and return their number.

    Args:
        form: `jsonl`, `json` (JSON lines for programs), `csv`, or `nodes`: id, 1 if fetched else 0, and URL, between
            tabs.
        columns: As for `Layout.of`.
        raw: As for `Layout.of`.
    """
    if form == "nodes":
        return _lines((f"{p.id}\t{int(p.first_fetched is not None)}\t{p.url}\n" for p in pages), out)
    return _records(pages, Layout.of(Page, form, columns, raw), form, out)


def write_links(
    links: Iterable[KnownLink], form: str, out: TextIO, *, columns: str | None = None, raw: bool | None = None
) -> int:
    """Write links, and return their number.

    Args:
        form: `jsonl`, `json` (JSON lines for programs), `csv`, or `edges`: the ids of source and target, between tabs.
        columns: As for `Layout.of`.
        raw: As for `Layout.of`.
    """
    if form == "edges":
        return _lines((f"{link.source_id}\t{link.target_id}\n" for link in links), out)
    return _records(links, Layout.of(KnownLink, form, columns, raw), form, out)


def _records(items: Iterable[Page | KnownLink], layout: Layout, form: str, out: TextIO) -> int:
    if form in ("json", "jsonl"):
        return _lines((json.dumps(layout.record(item)) + "\n" for item in items), out)
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(layout.columns)
    count = 0
    for item in items:
        writer.writerow(_cell(value) for value in layout.record(item).values())
        count += 1
    return count


def _lines(lines: Iterable[str], out: TextIO) -> int:
    count = 0
    for line in lines:
        out.write(line)
        count += 1
    return count


def _cell(value: Any) -> Any:
    """Return a JSON value as a cell of CSV: null is empty, and no text is a formula for a spreadsheet."""
    if isinstance(value, list | tuple):
        value = " ".join(map(str, value))
    if isinstance(value, str):
        return defused(value)
    return "" if value is None else str(value).lower() if isinstance(value, bool) else value
