"""The house of the Python side: sizes, docstrings, clocks, and what may not stand in the tree."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

from tests.contract.source import ROOT, functions, literals, modules, tree
from tests.contract.test_rooms import PLACE, room

MODULES = sorted(modules())
CLOCKS = {"graph.server.lifecycle", "graph.server.prepare", "terminal.show"}
"""Modules of these rooms that have a clock of their own."""
MOST_LINES, LONGEST_FUNCTION = 700, 60

_CYPHER = re.compile(r"\b(MATCH|MERGE|UNWIND|RETURN|DETACH DELETE|SET \w+\.|YIELD)\b|\bCREATE (CONSTRAINT|INDEX|\()")
# Cypher that Python may hold, and why.
NO_STATEMENTS = {
    ("graph.server.lifecycle", "RETURN 1"): "asks a server that has just started whether it answers",
    (
        "demo.show",
        "MATCH p = (:Page {host: 'links.example'})-[:LINKS]->() RETURN p",
    ): "printed for the user to paste into Neo4j Browser",
    (
        "crawl.requisites",
        "CREATE INDEX IF NOT EXISTS waiting ON requisite (host, taken) WHERE done = 0",
    ): "SQL, of a file of SQLite",
    ("crawl.captures", "CREATE INDEX by_record ON payload (url, date)"): "SQL, of a file of SQLite",
    ("crawl.captures", "CREATE INDEX by_digest ON payload (digest)"): "SQL, of a file of SQLite",
    ("crawl.captures", "CREATE INDEX by_url ON capture (url, date)"): "SQL, of a file of SQLite",
}


def test_a_module_says_what_it_is() -> None:
    assert not [name for name in MODULES if not ast.get_docstring(tree(name))]


def test_a_module_fits_in_a_head() -> None:
    """Docstrings do not count, as in functions: what is public has long ones."""
    sizes = {
        name: path.read_text(encoding="utf-8").count("\n") - sum(map(_described, ast.walk(tree(name))))
        for name, path in modules().items()
    }
    assert not {name: lines for name, lines in sizes.items() if lines > MOST_LINES}


def _lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The lines of a function without its docstring."""
    return (node.end_lineno or 0) - node.lineno + 1 - _described(node)


def _described(node: ast.AST) -> int:
    """The lines of a docstring."""
    if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return 0
    first = node.body[0] if node.body else None
    return first.end_lineno - first.lineno + 1 if ast.get_docstring(node) and first and first.end_lineno else 0


def test_a_function_fits_on_a_screen() -> None:
    sizes = {called: _lines(node) for name in MODULES for called, node in functions(name)}
    assert not {called: lines for called, lines in sizes.items() if lines > LONGEST_FUNCTION}


def test_cypher_stands_in_files_not_in_python() -> None:
    found = {
        (name, node.value) for name in MODULES for node in literals(name) if _CYPHER.search(str(node.value))
    } - NO_STATEMENTS.keys()
    assert not found


def test_the_search_for_cypher_finds_it() -> None:
    for text in ("MATCH (n) ", "x RETURN n", "SET p.a = 1", "CREATE INDEX y"):
        assert _CYPHER.search(text)
    for name, text in NO_STATEMENTS:
        assert text in {node.value for node in literals(name)}, "an excuse is left over"


def test_the_clock_is_handed_in() -> None:
    """Up to the brain nobody asks this machine for the time of day; a monotonic clock only measures."""
    asked = [
        f"{name}: {ast.unparse(node.func)}, line {node.lineno}"
        for name in MODULES
        if PLACE[room(name)] <= PLACE["brain"] and name not in CLOCKS
        for node in ast.walk(tree(name))
        if isinstance(node, ast.Call)
        and re.fullmatch(
            r"time\.(time|time_ns|localtime|gmtime|ctime)|(datetime\.)?(datetime|date)\.(now|utcnow|today)",
            ast.unparse(node.func),
        )
    ]
    assert not asked


def _texts() -> list[Path]:
    """The files that belong to the project: those that git knows or would add."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode == 0:
        paths = [ROOT / line for line in listed.stdout.splitlines()]
    else:  # an unpacked archive
        paths = [
            path for folder in ("graphbrain", "cypher", "tests", "lab", "docker") for path in (ROOT / folder).rglob("*")
        ]
    return sorted(path for path in paths if path.is_file() and b"\0" not in path.read_bytes()[:4096])


def _lines_with(pattern: re.Pattern[str]) -> list[str]:
    return [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:120]}"
        for path in _texts()
        for number, line in enumerate(path.read_text("utf-8", "replace").splitlines(), start=1)
        if pattern.search(line)
    ]


def test_no_path_of_a_machine_stands_in_the_tree() -> None:
    places = "|".join(("work", "tmp", "home", "root", "Users", "opt"))
    assert not _lines_with(re.compile(rf"""["'\s=(]/({places})/\w"""))


def test_no_address_of_a_package_registry_stands_in_the_tree() -> None:
    """Registries are used through their ordinary clients, which know where they are.

    But for the one that jgo falls back to when the user's Maven settings name no other.
    """
    known = (
        r"py" r"pi\.org",
        r"files\.python" r"hosted",
        r"repo1?\.maven" r"\.",
        r"npm" r"js\.",
        r"ghcr\.io",
    )
    found = _lines_with(re.compile(rf"https?://[^\s\"']*({'|'.join(known)})"))
    allowed = ("graphbrain/graph/server/jars.py:", "tests/unit/graph/server/test_lifecycle.py:")
    assert [line for line in found if not line.startswith(allowed)] == []
    assert sum(line.startswith("graphbrain/graph/server/jars.py:") for line in found) <= 1


def test_nothing_of_the_graph_is_mocked() -> None:
    named = "unittest" + ".mock"
    pattern = re.compile(rf"{re.escape(named)}|from unittest import mock|\bMagic" r"Mock\b|\bmocker\b")
    assert not [line for line in _lines_with(pattern) if line.startswith("tests/") and "test_source" not in line]
