"""Dumps as files: JSON lines, CSV, and the node and edge files that `graphbrain replay` reads.

A file is whole or not there: it is written under another name and gets its own when it is complete. A name that ends
with `.gz` is gzipped.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from graphbrain.errors import BadInput
from graphbrain.model import KnownLink, Page
from graphbrain.tables import defused

__all__ = ["opened", "write_links", "write_pages"]


@contextmanager
def opened(path: Path | None) -> Iterator[TextIO]:
    """Where a dump goes: stdout, or the file of that name once the block has ended well. Raises BadInput."""
    if path is None:
        yield sys.stdout
        return
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


def write_pages(pages: Iterable[Page], form: str, out: TextIO) -> int:
    """Write pages as `jsonl`, `csv` or `nodes`; how many. `nodes` has id, fetched 1 or 0, and URL, by tabs."""
    if form == "nodes":
        return _lines((f"{p.id}\t{int(p.first_fetched is not None)}\t{p.url}\n" for p in pages), out)
    return _records(pages, Page, form, out)


def write_links(links: Iterable[KnownLink], form: str, out: TextIO) -> int:
    """Write links as `jsonl`, `csv` or `edges`; how many. `edges` has the ids of source and target, by a tab."""
    if form == "edges":
        return _lines((f"{link.source_id}\t{link.target_id}\n" for link in links), out)
    return _records(links, KnownLink, form, out)


def _records(items: Iterable[Page | KnownLink], kind: type[Page | KnownLink], form: str, out: TextIO) -> int:
    if form == "jsonl":
        return _lines((json.dumps(item.as_dict()) + "\n" for item in items), out)
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(kind.columns())
    count = 0
    for item in items:
        writer.writerow(_cell(value) for value in item.as_dict().values())
        count += 1
    return count


def _lines(lines: Iterable[str], out: TextIO) -> int:
    count = 0
    for line in lines:
        out.write(line)
        count += 1
    return count


def _cell(value: Any) -> Any:
    """A value of JSON in a cell of CSV: nothing for null, true and false in JSON's words, no text that is a formula."""
    if isinstance(value, list | tuple):
        value = " ".join(map(str, value))
    if isinstance(value, str):
        return defused(value)
    return "" if value is None else str(value).lower() if isinstance(value, bool) else value
