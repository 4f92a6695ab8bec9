"""The questions of an analyst. Each is a file that runs unchanged in Neo4j Browser, and by its name from `ask`.

A file of `cypher/analyst/` begins with `//` lines: a title, an explanation of the answer, and lines that begin with a
word: `group`; `param` with the meaning of a parameter; `cost`, the part of the graph that is read; `computed`, for a
question that Python answers. Then come `:param` lines with the default of each parameter, and one statement of plain
Cypher that only reads.
Statements: brain/read, looks/waiting.
"""

from __future__ import annotations

import ast
import difflib
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from itertools import takewhile
from pathlib import Path
from types import MappingProxyType
from typing import Any

from graphbrain.analyst import computed, indexability
from graphbrain.analyst.moving import moving
from graphbrain.base.errors import BadInput, UnknownQuestion
from graphbrain.base.records import Asked
from graphbrain.base.settings import Settings
from graphbrain.base.urls.masking import masked_values
from graphbrain.base.urls.normalization import host_of
from graphbrain.content.scope import Scope
from graphbrain.graph.connection import Graph
from graphbrain.graph.statements import FOLDER

__all__ = ["ALL", "GROUPS", "Asked", "Param", "Question", "ask", "beginning", "question", "questions"]

GROUPS = ("Progress", "Planning", "Changes", "Errors", "Structure", "Scores", "Hosts", "Content")
"""The topics of questions, in the order of a guide."""
_WORDS = ("group", "param", "cost", "computed")
_ROWS = ("limit", "newest", "each")
"""Parameters that limit the number of rows, or of pages in a row."""
_PARTS = ("each",)
"""Parameters that Cypher uses as the index of a list."""
_LONGEST_PART = 2**31 - 1
"""The largest index of a list in Cypher."""
ALL = 2**53
"""A limit that cuts nothing."""
_TRUTH = {"true": True, "yes": True, "false": False, "no": False}
_COMPUTED: Mapping[str, Callable[..., computed.Answer]] = {
    "click_depth": computed.click_depth,
    "deep_pages": computed.deep_pages,
    "expected_copies": computed.expected_copies,
    "soft_missing_pages": computed.soft_missing_pages,
    "indexability": indexability.pages,
    "indexability_shares": indexability.shares,
    "sitemap_entries": indexability.sitemap_entries,
    "islands": computed.islands,
    "link_farms": computed.link_farms,
    "near_duplicates": computed.near_duplicates,
    "orphans": computed.orphans,
    "sections": computed.sections,
}

Value = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter of a question. A value of the type of `default` can replace the default."""

    name: str
    default: Value
    meaning: str

    def take(self, given: object) -> Value:
        """Return a value or its text in this parameter's type. Raise BadInput if it has another type."""
        value = self._checked(given)
        if self.name in _PARTS and isinstance(value, int):
            value = min(value, _LONGEST_PART)
        if self.name in _ROWS and isinstance(value, int) and value < 0:
            raise BadInput(f"{self.name} must be 0 or more, not {value}.")
        return value

    def _checked(self, given: object) -> Value:
        kind = type(self.default)
        if self.name in _ROWS and isinstance(given, str) and given.strip().lower() == "all":
            return ALL
        if type(given) is kind or (kind is float and type(given) is int):
            return kind(given)
        try:
            if not isinstance(given, str):
                raise ValueError
            return _TRUTH[given.lower()] if kind is bool else kind(given)
        except (ValueError, KeyError):
            words = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
            raise BadInput(f"{self.name} must be {words[kind]}, not {given!r:.80}.") from None


@dataclass(frozen=True, slots=True)
class Question:
    """One question: its name, its texts for the analyst, and its statement.

    Attributes:
        reading: The explanation of the answer.
        cypher: The statement, with its parameters; empty if Python answers.
    """

    name: str
    title: str
    reading: str
    group: str
    cost: str
    params: tuple[Param, ...]
    cypher: str
    computed: str

    def steps(self, given: Mapping[str, object] = MappingProxyType({})) -> tuple[str, ...]:
        """Return the texts to run in Neo4j Browser, one after the other.

        These are a line for each parameter that is a text, and the statement with the values of all others. They are
        separate, because Browser shows no answer to a query that is run together with lines that set parameters.

        Args:
            given: Values of parameters; other parameters have their default.

        Returns:
            Empty for a question that Python answers.

        Raises:
            BadInput: An unknown parameter, or a value of another type.
        """
        if not self.cypher:
            return ()
        values = self.values(given)
        texts = tuple(f":param {name} => {_literal(text)}" for name, text in values.items() if isinstance(text, str))
        others = {name: value for name, value in values.items() if not isinstance(value, str)}
        return (*texts, re.sub(r"\$(\w+)", lambda m: _literal(others[m[1]]) if m[1] in others else m[0], self.cypher))

    def values(self, given: Mapping[str, object]) -> dict[str, Value]:
        """Return all parameters, with the given values in place of defaults. Raise BadInput."""
        param_of = {param.name: param for param in self.params}
        if unknown := sorted(given.keys() - param_of.keys()):
            takes = f"takes {', '.join(param_of)}" if param_of else "takes none"
            raise BadInput(f"{self.name} has no parameter {unknown[0]!r:.80}; it {takes}.")
        return {name: param.take(given[name]) if name in given else param.default for name, param in param_of.items()}

    def since(self, day: datetime, now: float) -> dict[str, Value]:
        """Return the value of `days` with which the answer goes back to the beginning of `day`. Raise BadInput if the
        question has no such parameter."""
        param = next((param for param in self.params if param.name == "days"), None)
        if param is None:
            raise BadInput(f"{self.name} cannot be asked since a day; it has no parameter days.")
        days = (now - beginning(day, now)) / 86_400
        return {"days": math.ceil(days) if isinstance(param.default, int) else days}

    def as_dict(self) -> dict[str, Any]:
        """Return its name, title, group, cost and parameters."""
        described = {p.name: {"default": p.default, "meaning": p.meaning} for p in self.params}
        return {"name": self.name, "group": self.group, "title": self.title, "reading": self.reading} | {
            "cost": self.cost or None,
            "params": described,
        }


def beginning(day: datetime, now: float) -> float:
    """Return the epoch seconds at which a day begins. Raise BadInput for one in the future."""
    start = day.timestamp()
    if start > now:
        raise BadInput("since must not be in the future.")
    return start


def _literal(value: Value) -> str:
    """Return a value as a literal of Cypher."""
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    return str(value).lower() if isinstance(value, bool) else repr(value)


def ask(graph: Graph, name: str, **given: object) -> Asked:
    """Return the answer to a question, read in a transaction that cannot write.

    Args:
        graph: The brain's graph.
        name: The question's name.
        given: Values of its parameters. `limit` may be 'all'.

    Raises:
        BadInput: No such question or parameter, or a value of another type.
        GraphRefused: Neo4j refused the statement.
        GraphUnavailable: Neo4j does not answer.
    """
    # Read one row more than the limit, so that the answer shows whether there are more.
    chosen = question(name)
    values = chosen.values(given)
    limit = values.get("limit")
    if isinstance(limit, int):
        values["limit"] = limit + 1
    if chosen.computed:
        columns, rows = _COMPUTED[chosen.computed](graph, **values)
    else:
        named = f"analyst/{chosen.name}"
        answer = graph.anywhere.read(lambda tx: tx.ask(named, chosen.cypher, values), named, patient=False, slow=True)
        columns, rows = tuple(answer[0]), answer[1]
    # Complete the answer, and add a note about its limits.
    shown = [[masked_values(cell) for cell in row] for row in rows]
    if chosen.name in _FINISHED:
        shown = _FINISHED[chosen.name](graph, shown)
    note = _young(graph, str(values.get("host", ""))) if chosen.name in _OF_WHOLE_CRAWLS else ""
    if chosen.group == "Scores":
        note = moving(graph)
    if isinstance(limit, int) and len(shown) > limit:
        return Asked(columns, shown[:limit], True, note)
    return Asked(columns, shown, note=note)


def _young(graph: Graph, host: str) -> str:
    """Return the note on an answer that is only right for a finished crawl. It is empty if no page waits for its first
    visit."""
    waiting = graph.anywhere.read(lambda tx: tx.one("looks/waiting", host="")[0], "looks/waiting", slow=True)
    if not waiting:
        return ""
    here = graph.anywhere.read(lambda tx: tx.one("looks/waiting", host=host)[0], "looks/waiting") if host else waiting
    of_host = f", {here:,} of them of {host}" if host else ""
    return f"The crawl is too young to be sure: {waiting:,} pages wait for a first visit{of_host}, and may change this."


def _outside(graph: Graph, rows: list[list[Any]]) -> list[list[Any]]:
    """Correct the problem of canonical targets that are not in the graph because they are outside the scope."""
    stored = graph.read(lambda tx: tx.one("brain/read")[0], "brain/read") or {}
    names = ("allow_hosts", "deny_hosts", "allow_urls", "deny_urls")
    scope = Scope.of(Settings(**{name: stored[name] for name in names}))
    for row in rows:
        if row[0] == "is not in the graph" and not scope.holds(row[2], host_of(row[2]), 0):
            row[0] = "is outside the scope"
    return sorted(rows, key=lambda row: (row[0] is None, row[0] or "", row[3]))


def question(name: str) -> Question:
    """Return the question of that name. Raise UnknownQuestion with similar names if there is none."""
    by_name = {each.name: each for each in questions()}
    wanted = name.replace("_", "-").lower()
    if wanted in by_name:
        return by_name[wanted]
    parts = [part for part in re.split(r"\W+", wanted) if len(part) > 2]
    near = [each for each in by_name if any(part in each for part in parts)]
    near = difflib.get_close_matches(wanted, by_name, 1, 0.7) or near
    hint = f"did you mean {' or '.join(near[:3])}?" if near else "'graphbrain ask' lists them."
    raise UnknownQuestion(f"There is no question {name!r:.80}; {hint}")


@cache
def questions() -> tuple[Question, ...]:
    """Return all questions, by group and name."""
    parsed = [_parsed(file) for file in (FOLDER / "analyst").glob("*.cypher")]
    return tuple(sorted(parsed, key=lambda each: (GROUPS.index(each.group), each.name)))


def _parsed(file: Path) -> Question:
    """Return the question of a file. Raise ValueError if the file is no valid question."""
    # Read the comments: a title, facts, meanings of parameters, and prose.
    lines = file.read_text(encoding="utf-8").splitlines()
    head = [line[2:].strip() for line in takewhile(lambda line: line.startswith("//"), lines)]
    parts = [line.split(maxsplit=1) for line in head if line.split(maxsplit=1)[:1] and line.split()[0] in _WORDS]
    facts = {word: rest for word, rest in parts if word != "param"}
    meanings = dict(rest.split(maxsplit=1) for word, rest in parts if word == "param")
    prose = [line for line in head[1:] if line and line.split()[0] not in _WORDS]
    # Read the defaults of parameters, and compare them with the meanings.
    texts = dict(re.findall(r"^:param (\w+) => (.+);$", "\n".join(lines), re.MULTILINE))
    if texts.keys() != meanings.keys() or facts.get("group") not in GROUPS:
        raise ValueError(f"{file}: its parameters do not agree, or its group is none")
    defaults = {name: ast.literal_eval(text.capitalize() if text in _TRUTH else text) for name, text in texts.items()}
    return Question(
        name=file.stem,
        title=head[0],
        reading=" ".join(prose),
        group=facts["group"],
        cost=facts.get("cost", ""),
        params=tuple(Param(name, default, meanings[name]) for name, default in defaults.items()),
        cypher="\n".join(line for line in lines if not line.startswith(("//", ":param"))).strip(),
        computed=facts.get("computed", ""),
    )


_FINISHED: Mapping[str, Callable[[Graph, list[list[Any]]], list[list[Any]]]] = {"canonical-conflicts": _outside}
"""Question → the function that completes its answer with facts that Cypher cannot read."""
_OF_WHOLE_CRAWLS = frozenset({"indexability-shares", "orphans", "sitemap-coverage", "sitemap-entries"})
"""Questions whose answer is right only once all pages are fetched."""
