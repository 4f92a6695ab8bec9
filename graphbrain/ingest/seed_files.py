"""URLs in files of the kinds that people have: a list, CSV or TSV with a column of URLs, JSON lines, or CDXJ.

The kind is known by how the file begins. What is none of these is refused, with the command that takes it.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice

from graphbrain.errors import BadInput

__all__ = ["urls_in"]

SAMPLE = 50
"""Lines by which the kind is known."""
COLUMNS = ("url", "uri", "loc", "link", "href", "address", "page", "target")
"""Names of a column of URLs, the first that is there counts."""
_CDXJ = re.compile(r"\S+ \d{14} \{")
_BINARY = re.compile(r"[\x00-\x08\x0e-\x1f]")


def urls_in(lines: Iterable[str], *, plain: bool = False) -> Iterator[str]:
    """The URLs of a file in their order. `plain`: one a line, whatever it looks like.

    Blank lines, and those that begin with #, are left out. Raises BadInput for a file of another kind, and for a line
    without a URL.
    """
    found = ((number, line.strip()) for number, line in enumerate(lines, 1))
    wanted = ((number, line) for number, line in found if line and not line.startswith("#"))
    sample = list(islice(wanted, SAMPLE))
    every = chain(sample, wanted)
    if plain or not sample:
        return (line for _, line in every)
    first = sample[0][1]
    _refuse(first)
    if first.startswith("{"):
        return (_from_json(number, line) for number, line in every)
    if _CDXJ.match(first):
        return (_from_json(number, line[line.find("{") :]) for number, line in every)
    if (mark := _separator(first)) is not None:
        return _from_table(every, mark)
    _no_table([line for _, line in sample])
    return (line for _, line in every)


def _refuse(first: str) -> None:
    """What is no list of URLs, by its first line."""
    if first.startswith("<"):
        raise BadInput("It is XML: 'graphbrain hint FILE' takes sitemaps and feeds.")
    if first.startswith("["):
        raise BadInput("It is a JSON array: write an object with a 'url' on each line.")
    if first.startswith("WARC/"):
        raise BadInput("It is a WARC file: take the URLs of its index, as CDXJ.")
    if _BINARY.search(first):
        raise BadInput("It is no text: unpack it first, if it is packed.")


def _separator(first: str) -> str | None:
    """What separates the columns of a table whose first line names one for URLs; None for what is no such line."""
    if "://" in first:
        return None
    for mark in ("\t", ",", ";"):
        if set(COLUMNS).intersection(_names(first, mark)):
            return mark
    return None


def _names(line: str, mark: str) -> list[str]:
    return [name.strip().lower() for name in next(csv.reader([line], delimiter=mark))]


def _from_table(lines: Iterator[tuple[int, str]], mark: str) -> Iterator[str]:
    names = _names(next(lines)[1], mark)
    column = names.index(next(name for name in COLUMNS if name in names))
    for number, line in lines:
        row = next(csv.reader([line], delimiter=mark))
        if len(row) <= column or not row[column].strip():
            raise BadInput(f"Line {number} has no {names[column]!r}: {line[:80]!r}.")
        yield row[column].strip()


def _no_table(lines: list[str]) -> None:
    """A table without names of its columns would be taken for URLs that go on with them."""
    for mark, called in (("\t", "tabs"), (",", "commas"), (";", "semicolons")):
        counts = {line.count(mark) for line in lines}
        if len(counts) == 1 and counts != {0}:
            raise BadInput(
                f"Its lines have columns between {called}: begin it with a line that names them, one of them 'url', or "
                "say --plain if each line is a URL."
            )


def _from_json(number: int, line: str) -> str:
    try:
        item = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"Line {number} is no JSON: {error}.") from None
    url = item if isinstance(item, str) else item.get("url") if isinstance(item, dict) else None
    if not isinstance(url, str) or not url.strip():
        raise BadInput(f"Line {number} has no 'url': {line[:80]!r}.")
    return url.strip()
