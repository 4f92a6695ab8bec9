"""Each statement's header is its contract: held against its text and against who sends it."""

from __future__ import annotations

import ast
import re
from dataclasses import fields
from fnmatch import filter as filter_names
from fnmatch import fnmatch
from functools import cache
from typing import Any

import pytest

from graphbrain.analyst.dictionary import NODES, PAGE
from graphbrain.frontier.corrections.edits import Seeded
from graphbrain.frontier.hosts import politeness
from graphbrain.frontier.reports.outcomes import Visit
from graphbrain.graph import schema
from graphbrain.graph.statements import FOLDER, GIVEN, Statement, names, path, statement
from graphbrain.scores.accounts.classic_ledger import ClassicLedger
from graphbrain.scores.accounts.exact_ledger import Ledger
from tests.contract.source import ROOT, bare_cypher, imported, literals, modules, tree
from tests.contract.test_rooms import PLACE, room

NAMES = names()
FOLDERS = sorted({name.split("/")[0] for name in NAMES})
TYPES = {"LIST", "MAP", "INTEGER", "FLOAT", "STRING", "BOOLEAN"}
WRITES = re.compile(r"\b(CREATE|DROP|MERGE|SET|DELETE|REMOVE|CALL db\.create\w+)\b")
NOT_SAFE_TWICE = re.compile(r"\b(timestamp|rand|randomUUID|datetime|localdatetime|date|time|localtime)\s*\(", re.I)


def body(name: str) -> str:
    """The text that is sent, without strings, comments and quoted names."""
    return bare_cypher(statement(name).text)


def header(name: str) -> list[str]:
    lines = path(name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line.startswith("//")]


def test_there_are_statements_and_they_are_all_found() -> None:
    assert len(NAMES) > 60
    assert {path.suffix for path in FOLDER.rglob("*") if path.is_file()} == {".cypher"}
    assert {path.name for path in FOLDER.iterdir()} <= PLACE.keys()


def test_the_header_is_complete() -> None:
    for name in NAMES:
        stated = statement(name)
        assert re.match(r"[A-Z].*[.?]$|[A-Z].*[.?:]", stated.sentence), f"{name}: a sentence comes first"
        assert stated.mode in ("read", "write"), name
        assert stated.rows in ("none", "one", "many"), name
        assert stated.locks, name
        assert stated.retry.split()[0] in ("safe", "once"), name


def test_each_param_and_column_has_a_type_and_a_meaning() -> None:
    for name in NAMES:
        for line in header(name):
            words = line[2:].split()
            if words and words[0] in ("param", "column"):
                assert len(words) >= 4, (name, line)
                assert words[2] in TYPES, (name, line)


def test_declared_params_are_those_it_uses() -> None:
    for name in NAMES:
        stated = statement(name)
        assert len(set(stated.params)) == len(stated.params), name
        used = [used.removeprefix("given.") for used in re.findall(r"\$(given\.\w+|\w+)", body(name))]
        assert set(used) == set(stated.params), name
        assert GIVEN not in stated.params, name


def test_no_list_is_a_param_by_itself() -> None:
    """It would be planned anew for each length."""
    for name in NAMES:
        lists = {
            line[2:].split()[1] for line in header(name) if line[2:].split()[:1] == ["param"] and "LIST" in line.split()
        }
        assert set(re.findall(r"\$given\.(\w+)", body(name))) == lists, name
        assert lists.isdisjoint(re.findall(r"\$(\w+)", body(name))), name


BLOCK = re.compile(r"CALL \(\) \{\n  UNWIND .*?\n\}\n", re.DOTALL)


def test_no_block_has_the_name_of_a_property() -> None:
    """The planner takes `$given.lane` for a read of lanes, and has all rows collected before the next block."""
    for name in NAMES:
        written = set(re.findall(r"\b\w+\.(\w+) = ", body(name)))
        if len(BLOCK.findall(body(name))) > 2:
            assert written.isdisjoint(statement(name).params), name


def test_a_block_writes_the_columns_that_its_header_names() -> None:
    """In their order: `// param lanes LIST [ids, lane]` is `SET p.lane = $lanes[1][i]`."""
    for name in ("accounts/write", "classic/write"):
        texts = re.sub(r"\n//\s+(?!param|column|rows|locks|mode|retry)", " ", "\n".join(header(name)))
        blocks = BLOCK.findall(body(name))
        for param, columns in re.findall(r"param\s+(\w+)\s+LIST\s+\[ids, (.+?)\]", texts):
            named = [column.split()[0] for column in columns.split(",")]
            (block,) = (each for each in blocks if f"$given.{param}[0]" in each)
            found = re.findall(rf"p\.(\w+) = \$given\.{param}\[(\d)\]\[i\]", block)
            assert [int(number) for _, number in found] == list(range(1, len(named) + 1)), (name, param)
            assert [column for column, _ in found] == named, (name, param)


def test_a_file_holds_one_statement() -> None:
    for name in NAMES:
        assert ";" not in body(name), name
        assert body(name).strip(), name


def test_it_writes_if_and_only_if_it_says_so() -> None:
    for name in NAMES:
        assert bool(WRITES.search(body(name))) == (statement(name).mode == "write"), name


def test_it_declares_columns_if_and_only_if_rows_come() -> None:
    """That these are the columns that come is seen on a live server: tests/integration/graph/test_contracts.py."""
    for name in NAMES:
        assert bool(statement(name).columns) == (statement(name).rows != "none"), name


LOCK = re.compile(r"\bSET (\w+):[A-Z]")
SET = re.compile(r"\bSET (.*?)(?=\b(?:WITH|RETURN|MATCH|UNWIND|SET)\b|$)", re.DOTALL)
OF_ITSELF = re.compile(r"\b(\w+)\.\w+ = [^,]*?\b\1\.")
HARMLESS = re.compile(r"\b(id|count)\(\w+\)")


def read_before_it_is_held(text: str) -> set[str]:
    """The names of nodes that a statement locks and also reads, or reads in what it sets without having locked them."""
    locked = [(match[1], text[match.end() :]) for match in LOCK.finditer(text)]
    looked_at = {name for name, rest in locked if re.search(rf"\b{name}\b", HARMLESS.sub("", rest))}
    counted = {name for clause in SET.findall(text) for name in OF_ITSELF.findall(clause)}
    return looked_at if locked else counted


def test_what_it_locks_it_looks_at_anew() -> None:
    """Else the database may read it before it locks it: see cypher/scores/accounts/lock.cypher."""
    for name in NAMES:
        if "held already" not in statement(name).locks:
            assert read_before_it_is_held(body(name)) == set(), name


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("MATCH (p:Page) SET p:Page WITH p RETURN p.key", {"p"}),
        ("MATCH (p:Page) SET p:Page WITH id(p) AS i, p {.key} AS m RETURN m", {"p"}),
        (
            "MATCH (p:Page) SET p:Page WITH collect(id(p)) AS held UNWIND held AS i MATCH (q) WHERE id(q) = i RETURN q",
            set(),
        ),
        ("MERGE (c:Hour) SET c.seen = $now, c.pages = c.pages + 1", {"c"}),
        ("MERGE (a:Hour) SET a:Hour WITH count(a) AS held MATCH (c:Hour) SET c.pages = c.pages + 1", set()),
        ("MATCH (p) SET p.key = $key, p.lane = 1", set()),
    ],
)
def test_the_search_for_what_is_read_too_soon(text: str, found: set[str]) -> None:
    assert read_before_it_is_held(text) == found


def test_time_and_chance_come_as_params() -> None:
    for name in NAMES:
        assert bool(NOT_SAFE_TWICE.search(body(name))) == (name == "brain/clock"), name


# ---------------------------------------------------------------- who sends them


def _template(node: ast.JoinedStr) -> tuple[str, str]:
    """The text before and after the one hole of an f-string."""
    parts = [part.value if isinstance(part, ast.Constant) else None for part in node.values]
    hole = parts.index(None)
    return "".join(map(str, parts[:hole])), "".join(map(str, parts[hole + 1 :]))


LABEL_AT = {"read": 1, "write": 1, "_run": 1, "perform": 0, "perform_once": 0, "exhaust": 0, "Hold": 4, "_Step": 0}
LABEL_AT |= {"_guarded": 2, "_for_claims": 2, "_take": 4, "_perform": 3, "_set": 0}
"""Function → the place of the transaction's name among its arguments."""


def _labels(module: str) -> set[int]:
    """The string constants that name a transaction, not a statement: read(work, LABEL) and the like."""
    found = set()
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute | ast.Name):
            place = LABEL_AT.get(node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id)
            if place is not None and len(node.args) > place:
                found.update(id(part) for part in ast.walk(node.args[place]))
    return found


@cache
def _named(module: str) -> frozenset[str]:
    """The names of statements that a module writes out, whole or as an f-string with one hole."""
    labels = _labels(module)
    strings = [node for node in ast.walk(tree(module)) if isinstance(node, ast.JoinedStr)]
    parts = {id(part) for node in strings for part in node.values if len(node.values) > 1}
    words = {str(node.value) for node in literals(module)}
    found = {
        str(node.value)
        for node in literals(module)
        if id(node) not in labels | parts and re.fullmatch(rf"({'|'.join(FOLDERS)})/\w+", str(node.value))
    }
    for node in strings:
        if id(node) not in labels:
            before, after = _template(node) if len(node.values) > 1 else ("", "")
            if before.split("/")[0] in FOLDERS and "/" in before:
                found |= {name for w in words if (name := f"{before}{w}{after}") in NAMES}
    return frozenset(found)


def _sent(module: str) -> set[str]:
    """The first argument of each `one`, `records`, `many` and `do`, where it is written out."""
    return {
        str(node.args[0].value)
        for node in ast.walk(tree(module))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("one", "records", "many", "do")
        and node.args
        and isinstance(node.args[0], ast.Constant)
    }


@pytest.mark.parametrize(("name", "made"), [("visits/read", Visit), ("pages/seeded", Seeded)])
def test_what_is_made_of_a_row_has_the_names_that_the_header_gives(name: str, made: type[Any]) -> None:
    assert statement(name).fields == tuple(field.name for field in fields(made))


def test_the_data_model_has_every_label_and_every_property_of_pages() -> None:
    """Users write Cypher of their own: what statements write is explained."""
    model = (ROOT / "docs/reference/data-model.md").read_text(encoding="utf-8")
    explained = {*NODES, *re.findall(r"^\| `:(\w+)`", model, re.MULTILINE)}
    bodies = {name: body(name) for name in names()}
    assert set(re.findall(r"\(\w*:([A-Z]\w+)", "\n".join(bodies.values()))) <= explained
    assigned = {
        name
        for text in bodies.values()
        if "(p:Page)" in text
        for part in re.findall(r"\bSET\b(.*?)(?=\n[A-Z}]|\Z)", text, re.DOTALL)
        for name in re.findall(r"\bp\.(\w+) =", part)
    }
    assert assigned and assigned <= set(PAGE)


def test_every_statement_is_sent_by_somebody() -> None:
    """Those of the schema are sent by their folders."""
    used = frozenset().union(*(_named(module) for module in modules()))
    assert set(NAMES) - used == set(names(schema.STEP))


def test_every_statement_that_is_sent_exists() -> None:
    for module in sorted(modules()):
        assert (_sent(module) | _named(module)) - set(NAMES) == set(), module


def test_a_module_says_which_statements_it_sends() -> None:
    """`Statements: pages/*, links/out.` ends the docstring of a noun that sends some."""
    for module in sorted(modules()):
        sent = _named(module)
        words = (ast.get_docstring(tree(module)) or "").replace("\n", " ")
        said = re.search(r"Statements?: (.+?)\.?$", words)
        if not sent or PLACE[room(module)] >= PLACE["brain"]:
            continue
        assert said, f"{module}: its docstring does not end with 'Statements: …'"
        patterns = said[1].split(", ")
        assert not {name for name in sent if not any(fnmatch(name, each) for each in patterns)}, module
        through_ledger = {"accounts/*"} if LEDGERS & imported(module) else set()
        assert not {each for each in patterns if not filter_names(sent, each)} - through_ledger, module


LEDGERS = {
    "scores.accounts.ledger",
    "scores.accounts.ledgers",
    "scores.accounts.exact_ledger",
    "scores.accounts.classic_ledger",
}
"""Modules through which others lock accounts."""


# ---------------------------------------------------------------- rows that are read by their places

# The classic ledger reads its mark of new pages from a property of the exact one.
BY_PLACE = {
    "hosts/lock": (*politeness.COLUMNS, *politeness.FAILING_COLUMNS),
    "hosts/read": (*politeness.COLUMNS, *politeness.FAILING_COLUMNS),
    "accounts/lock": Ledger.columns,
    "classic/lock": [{"newborn": "hub_paid"}.get(name, name) for name in ClassicLedger.columns],
}


def test_columns_come_in_the_order_in_which_they_are_read() -> None:
    for name in BY_PLACE:
        row = re.search(r"collect\(\[(.+?)\]\) AS rows", body(name), re.DOTALL)
        assert row is not None, name
        values = re.sub(r"WHEN m\.failing.+? THEN", "", row[1])
        assert re.findall(r"\b[hm]\.(\w+)", values) == list(BY_PLACE[name]), name


# ---------------------------------------------------------------- the parser itself


def test_the_name_is_sent_but_not_the_header() -> None:
    sent = statement("claims/heads").text
    assert sent.startswith("/* graphbrain claims/heads */ CALL")
    assert "param" not in sent
    assert "//" not in sent


def test_a_name_that_is_no_file() -> None:
    with pytest.raises(FileNotFoundError):
        statement("claims/no_such_statement")


@pytest.mark.parametrize("name", ["claims/heads", "brain/clock", "pages/create"])
def test_a_statement_is_read_once(name: str) -> None:
    assert statement(name) is statement(name)
    assert isinstance(statement(name), Statement)


def test_names_of_one_folder() -> None:
    assert names("claims/")
    assert all(name.startswith("claims/") for name in names("claims/"))


def test_bare_cypher_skips_strings_comments_and_quoted_names() -> None:
    text = 'MATCH (n) // $a\nWHERE n.x = \'$b\' AND n.y = "$c\\"$d" /* $e\n$f */ AND n.`$g` = $h'
    assert re.findall(r"\$(\w+)", bare_cypher(text)) == ["h"]
