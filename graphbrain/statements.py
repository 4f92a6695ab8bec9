"""Every Cypher statement is one file in `cypher/`; its header is its contract.

A file opens with `//` lines: one sentence, then `param NAME TYPE meaning`, `column NAME TYPE meaning`,
`rows none|one|many`, `locks …`, `mode read|write`, `retry …`. The name of a statement is its path without the
ending: `claims/take`. The header is not sent, but the name is, as a comment, so that `SHOW TRANSACTIONS` tells
which statement a transaction is in. `cypher/` lies beside the package in a checkout and inside it in a wheel.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

__all__ = ["FOLDER", "Statement", "link_types", "names", "property_names", "statement"]


def _folder() -> Path:
    inside = Path(__file__).parent / "cypher"
    return inside if inside.is_dir() else Path(__file__).parent.parent / "cypher"


FOLDER = _folder()


@dataclass(frozen=True)
class Statement:
    """One statement: its name, the text that is sent, and the contract its header states."""

    name: str
    text: str
    sentence: str
    params: tuple[str, ...]
    columns: tuple[str, ...]
    rows: str
    locks: str
    mode: str
    retry: str


def names(under: str = "") -> tuple[str, ...]:
    """The names of all statements (or of those in one folder), sorted. Questions for analysts are none."""
    found = (path.relative_to(FOLDER).with_suffix("").as_posix() for path in FOLDER.rglob("*.cypher"))
    return tuple(sorted(name for name in found if name.startswith(under) and not name.startswith("analyst/")))


@cache
def statement(name: str) -> Statement:
    """The statement of that name. Raises FileNotFoundError when there is no such file, ValueError on a bad header."""
    lines = (FOLDER / f"{name}.cypher").read_text(encoding="utf-8").splitlines()
    header = []
    for line in lines:
        if not line.startswith("//"):
            break
        header.append(line[2:].strip())
    body = "\n".join(lines[len(header) :]).strip().rstrip(";")
    return _parse(name, header, body)


def property_names() -> list[str]:
    """Every name that may be a property's in some statement: `p.url`, `p {.url}`, `{url: …}`; sorted."""
    return _found(r"(?<![\w)])[a-z]\w*\.([a-z]\w*)\b(?!\s*\()|[{,]\s*\.([a-z]\w*)|[{,]\s*([a-z]\w*):")


def link_types() -> list[str]:
    """Every kind of link that some statement names, sorted."""
    return _found(r"\[\w*:([A-Z_]+)")


@cache
def _found(pattern: str) -> list[str]:
    quoted = re.compile(r"'[^']*'|/\*.*?\*/")
    texts = (quoted.sub("", statement(name).text) for name in names())
    return sorted({word for text in texts for found in re.finditer(pattern, text) for word in found.groups() if word})


def _parse(name: str, header: list[str], body: str) -> Statement:
    fields: dict[str, list[str]] = {}
    sentence: list[str] = []
    for line in header:
        word, _, rest = line.partition(" ")
        if word in ("param", "column", "rows", "locks", "mode", "retry"):
            fields.setdefault(word, []).append(rest.strip())
        elif not fields and line:
            sentence.append(line)
    one = {key: (fields.get(key) or [""])[0] for key in ("rows", "locks", "mode", "retry")}
    if not sentence or one["mode"] not in ("read", "write") or one["rows"] not in ("none", "one", "many"):
        raise ValueError(f"cypher/{name}.cypher: the header lacks its sentence, mode or rows")
    return Statement(
        name=name,
        text=f"/* graphbrain {name} */ {body}",
        sentence=" ".join(sentence),
        params=tuple(re.split(r"\s+", line)[0] for line in fields.get("param", ())),
        columns=tuple(re.split(r"\s+", line)[0] for line in fields.get("column", ())),
        **one,
    )
