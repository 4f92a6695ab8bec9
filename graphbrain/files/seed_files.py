"""URLs in files of common kinds: a list, CSV or TSV with a column of URLs, JSON lines, CDX or CDXJ.

The first lines of a file decide its kind. A file of another kind is refused, with the command that reads it.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice

from graphbrain.base.errors import BadInput

__all__ = ["urls_in"]

SAMPLE = 50
"""The number of lines by which a table without names of columns is recognized."""
COLUMNS = ("url", "uri", "loc", "link", "href", "address", "page", "target")
"""Names of a column of URLs. The first of these names that a file has is used."""
_CDXJ = re.compile(r"\S+ \d{14} \{")
_CDX = re.compile(r"\S+ \d{14} (https?://\S+) ")
_CDX_HEAD = "CDX "
_BINARY = re.compile(r"[\x00-\x08\x0e-\x1f]")


def urls_in(lines: Iterable[str], *, plain: bool = False) -> Iterator[str]:
    """Return the URLs of a file in their order. Blank lines, and lines that begin with #, are left out.

    Args:
        lines: The lines of the file.
        plain: Take each line as a URL, without a check of the file's kind.

    Raises:
        BadInput: The file is of another kind, or a line has no URL.
    """
    # Read a sample of the lines, and put it back before the others.
    numbered = enumerate(lines, 1)
    filled = ((number, line) for number, line in numbered if line.strip() and not line.lstrip().startswith("#"))
    sample = list(islice(filled, SAMPLE))
    every = chain(sample, filled)
    texts = ((number, line.strip()) for number, line in every)
    if plain or not sample:
        return (line for _, line in texts)
    # Choose the kind by the first line.
    first = sample[0][1].strip()
    _refuse(first)
    if first.startswith("{"):
        return _present(_from_json(number, line) for number, line in texts)
    if _CDXJ.match(first):
        return _present(_from_json(number, line[line.find("{") :]) for number, line in texts)
    if first.startswith(_CDX_HEAD) or _CDX.match(first):
        return (_from_cdx(number, line) for number, line in texts if not line.startswith(_CDX_HEAD))
    if (mark := _separator(first)) is not None:
        return _from_table(every, mark)
    _no_table([line.strip() for _, line in sample])
    return (line for _, line in texts)


def _refuse(first: str) -> None:
    """Raise BadInput if a file with this first line is no list of URLs."""
    if first.startswith("<"):
        raise BadInput("It is XML: 'graphbrain hint FILE' takes sitemaps and feeds.")
    if first.startswith("["):
        raise BadInput("It is a JSON array: write an object with a 'url' on each line.")
    if first.startswith("WARC/"):
        raise BadInput("It is a WARC file: take the URLs of its index, as CDXJ.")
    if _BINARY.search(first):
        raise BadInput("It is no text in UTF-8: unpack it first, if it is packed, or write it as CSV in UTF-8.")


def _separator(first: str) -> str | None:
    """Return the separator of columns in a first line that names a column of URLs; None for any other line."""
    if "://" in first:
        return None
    for mark in ("\t", ",", ";"):
        if _column(_names(first, mark)) is not None:
            return mark
    return None


def _names(line: str, mark: str) -> list[str]:
    return [name.strip().lower() for name in next(csv.reader([line], delimiter=mark))]


def _column(names: list[str]) -> int | None:
    """Return the place of the column of URLs: one of `COLUMNS`, else the first whose name has the word url."""
    for name in COLUMNS:
        if name in names:
            return names.index(name)
    if len(names) == 1:
        return None
    return next((column for column, name in enumerate(names) if "url" in re.split(r"[\W_]+", name)), None)


def _from_table(lines: Iterator[tuple[int, str]], mark: str) -> Iterator[str]:
    names = _names(next(lines)[1], mark)
    column = _column(names)
    assert column is not None
    number, line = 0, ""

    def texts() -> Iterator[str]:
        nonlocal number, line
        for number, line in lines:  # noqa: B007  # the error message has them
            yield line

    # A row may have several lines, because a quoted field may contain ends of lines.
    for row in csv.reader(texts(), delimiter=mark):
        if len(row) <= column or not row[column].strip():
            raise BadInput(f"Line {number} has no {names[column]!r}: {line.strip()[:80]!r}.")
        yield row[column].strip()


def _no_table(lines: list[str]) -> None:
    """Raise BadInput for a table without names of columns. Each whole line would be read as a URL."""
    for mark, called in (("\t", "tabs"), (",", "commas"), (";", "semicolons")):
        widths = {len(next(csv.reader([line], delimiter=mark))) for line in lines}
        if len(widths) == 1 and widths != {1}:
            raise BadInput(
                f"Its lines have columns between {called}: begin it with a line that names them, one of them 'url', or "
                "give --plain if each line is a URL."
            )


def _present(urls: Iterable[str | None]) -> Iterator[str]:
    return (url for url in urls if url is not None)


def _from_cdx(number: int, line: str) -> str:
    matched = _CDX.match(line)
    if matched is None:
        raise BadInput(f"Line {number} is none of CDX, as the first one is: {line[:80]!r}.")
    return matched[1]


def _from_json(number: int, line: str) -> str | None:
    """Return the URL in a line; None for a record of a WARC file's index that has no URL."""
    try:
        item = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"Line {number} is no JSON: {error}.") from None
    url = item if isinstance(item, str) else item.get("url") if isinstance(item, dict) else None
    if url is None and isinstance(item, dict) and "offset" in item:  # as 'warcio index' writes it
        url = item.get("warc-target-uri")
        if url is None:
            return None
    if not isinstance(url, str) or not url.strip():
        raise BadInput(f"Line {number} has no 'url': {line[:80]!r}.")
    return url.strip()
