"""A reader of the Cypher statements. Each is one file in `cypher/`, and its header is its contract.

A file begins with `//` lines: one sentence, then `param NAME TYPE meaning`, `column NAME TYPE meaning`, `rows
none|one|many`, `locks …`, `mode read|write`, `reads any`, `retry …`. Without `reads any` the leader of a cluster
answers a read statement. With it a follower may answer, which can lag behind (`Graph.anywhere`). If a column is a list
of rows, its meaning begins with the names of a row's values, `[id, url, is_seed]`. `Statement.record` has these names
as its fields, and the columns for a statement of many rows. The file is in the folder of the room that sends the
statement. The name of a statement is the rest of the path without the ending: `claims/take` is
`cypher/frontier/claims/take.cypher`. The header is not sent. The name is sent as a comment, so that `SHOW TRANSACTIONS`
shows the statement of a transaction. `cypher/` is beside the package in a checkout and inside it in a wheel.

Lists are sent in one map, `$rows` as `$given.rows`. If a list itself is a parameter, Neo4j makes a plan for each order
of magnitude of its length (1, 10, 100, …). Before, it planned a statement with three lists dozens of times, for up to a
fifth of a second each, and again whenever plans were dropped, although all plans were the same. The length of a list in
a map does not count.
"""

from __future__ import annotations

import re
from collections import namedtuple
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

__all__ = ["FOLDER", "Statement", "link_types", "names", "path", "property_names", "statement"]


def _folder() -> Path:
    inside = Path(__file__).parents[1] / "cypher"
    return inside if inside.is_dir() else Path(__file__).parents[2] / "cypher"


FOLDER = _folder()
GIVEN = "given"
"""The parameter that holds the lists of a statement."""


class _Given(dict[str, Any]):
    """The lists among the parameters of a statement, with a short `repr`.

    The driver formats all parameters for its log, even if there is no log. For long lists this took longer than to send
    them.
    """

    def __repr__(self) -> str:
        return f"<{', '.join(sorted(self))}>"


@dataclass(frozen=True)
class Statement:
    """One statement and the contract in its header.

    Attributes:
        name: The name, as `claims/take`.
        text: The text that is sent.
        sentence: The sentence in the header.
        params: The names of the parameters.
        lists: The names of the parameters that are lists.
        columns: The names of the columns.
        rows: The number of its rows: "none", "one" or "many".
        locks: The locks that it takes, in words.
        mode: "read" or "write".
        retry: The reason why it may run again, in words.
        reads: The member of a cluster that may run it: "leader" or "any".
        fields: The names of the values of a row, in the first column that is a list of rows.
    """

    name: str
    text: str
    sentence: str
    params: tuple[str, ...]
    lists: frozenset[str]
    columns: tuple[str, ...]
    rows: str
    locks: str
    mode: str
    retry: str
    reads: str = "leader"
    fields: tuple[str, ...] = ()

    @cached_property
    def record(self) -> Any:
        """The class of a row: a named tuple. `record._make(row)` makes one from a list.

        Raises:
            ValueError: The header does not name the values of a row.
        """
        names = self.columns if self.rows == "many" else self.fields
        if not names:
            raise ValueError(f"cypher/{self.name}.cypher: no column names the values of its rows")
        return namedtuple("Record", names)

    def arguments(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters as they are sent: all lists in one map."""
        if not self.lists:
            return dict(given)
        lists = _Given({name: given[name] for name in self.lists & given.keys()})
        return {name: value for name, value in given.items() if name not in self.lists} | {GIVEN: lists}


def names(under: str = "") -> tuple[str, ...]:
    """Return the sorted names of all statements, or of those in one folder, without the questions for analysts."""
    return tuple(sorted(name for name in _files(FOLDER) if name.startswith(under)))


def path(name: str) -> Path:
    """Return the file of a statement.

    Raises:
        FileNotFoundError: There is none of this name.
    """
    if (file := _files(FOLDER).get(name)) is None:
        raise FileNotFoundError(f"There is no statement {name!r} in {FOLDER}.")
    return file


@cache
def _files(folder: Path) -> dict[str, Path]:
    """Return name → file of every statement: a folder for each room, and in it one for each noun."""
    files: dict[str, Path] = {}
    for file in sorted(folder.glob("*/*/*.cypher")):
        name = f"{file.parent.name}/{file.stem}"
        if name in files:
            raise ValueError(f"{files[name]} and {file} have the same name.")
        files[name] = file
    return files


@cache
def statement(name: str) -> Statement:
    """Return the statement of that name.

    Raises:
        FileNotFoundError: There is no such file.
        ValueError: The header breaks the contract.
    """
    lines = path(name).read_text(encoding="utf-8").splitlines()
    header = []
    for line in lines:
        if not line.startswith("//"):
            break
        header.append(line[2:].strip())
    body = "\n".join(lines[len(header) :]).strip().rstrip(";")
    return _parse(name, header, body)


def property_names() -> list[str]:
    """Return all names that may be names of properties in a statement (`p.url`, `p {.url}`, `{url: …}`), sorted."""
    return _words(r"(?<![\w)$])[a-z]\w*\.([a-z]\w*)\b(?!\s*\()|[{,]\s*\.([a-z]\w*)|[{,]\s*([a-z]\w*):")


def link_types() -> list[str]:
    """Return all types of relationships that statements name, sorted."""
    return _words(r"\[\w*:([A-Z_]+)")


@cache
def _words(pattern: str) -> list[str]:
    """Return the sorted words that the groups of a pattern match in statements, outside strings and comments."""
    quoted = re.compile(r"'[^']*'|/\*.*?\*/")
    texts = (quoted.sub("", statement(name).text) for name in names())
    return sorted({word for text in texts for match in re.finditer(pattern, text) for word in match.groups() if word})


def _parse(name: str, header: list[str], body: str) -> Statement:
    """Return the statement with this header and this body. Raise ValueError if the header breaks the contract."""
    # Sort the lines of the header by their first words. Those before the first such word are the sentence.
    entries: dict[str, list[str]] = {}
    sentence: list[str] = []
    for line in header:
        word, _, rest = line.partition(" ")
        if word in ("param", "column", "rows", "locks", "mode", "reads", "retry"):
            entries.setdefault(word, []).append(rest.strip())
        elif not entries and line:
            sentence.append(line)
    # Check what each header must have.
    single = {word: (entries.get(word) or [""])[0] for word in ("rows", "locks", "mode", "retry")}
    if not sentence or single["mode"] not in ("read", "write") or single["rows"] not in ("none", "one", "many"):
        raise ValueError(f"cypher/{name}.cypher: the header lacks its sentence, mode or rows")
    reads = (entries.get("reads") or ["leader"])[0]
    if reads not in ("leader", "any") or (reads == "any" and single["mode"] == "write"):
        raise ValueError(f"cypher/{name}.cypher: reads is 'any', of a statement that only reads, or is left out")
    # Find the parameters that are lists, and read them from the map.
    params = [re.split(r"\s+", line) for line in entries.get("param", ())]
    lists = frozenset(param for param, kind, *_ in params if kind == "LIST")
    if lists:
        body = re.sub(rf"\$({'|'.join(sorted(lists))})\b", rf"${GIVEN}.\1", body)
    return Statement(
        name=name,
        text=f"/* graphbrain {name} */ {body}",
        sentence=" ".join(sentence),
        params=tuple(param for param, *_ in params),
        lists=lists,
        columns=tuple(re.split(r"\s+", line)[0] for line in entries.get("column", ())),
        reads=reads,
        fields=_fields(header),
        **single,
    )


def _fields(header: list[str]) -> tuple[str, ...]:
    """Return the names of the values of a row, in the first column that is a list of rows; empty if they have none."""
    rows = re.search(r"^column +\w+ +LIST +\[([^\][]*)\]", "\n".join(header), re.MULTILINE)
    names = re.split(r",\s*", rows[1]) if rows else []
    return tuple(names) if all(re.fullmatch(r"[a-z]\w*", name) for name in names) else ()
