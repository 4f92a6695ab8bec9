"""What begins with an underscore is its own folder's: nobody else reaches for it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.contract.rooms import folder
from tests.contract.source import ROOT, modules, tree

OF_OTHERS = {
    ("crawl.scrapy.documents", "_baseurl_cache"): "Scrapy's: what is done with it is left out where it is not there",
    ("crawl.scrapy.scheduler", "_slot"): "Scrapy's: what is done with it is left out where it is not there",
    ("schedule.sections.copies", "_replace"): "a method of each NamedTuple, which is documented",
    ("service.client.sending", "_request"): "httpx's: its public property raises where there is no request",
    ("files.spark.session", "_jvm"): "PySpark's: it offers no other way to files at the addresses that Spark reads",
    ("files.spark.session", "_jsc"): "PySpark's: the settings of these files",
    ("files.spark.session", "_gateway"): "PySpark's: its Java would outlive the session",
    (
        "base.runtime.lean_driver",
        "_initializing",
    ): "importlib's: where it is not there the driver imports what it likes",
}
"""Private names of others than us, by who uses them, and why."""
TOOLS = {
    "tests/witness.py": "watches every transaction, from inside the door",
    "tests/acceptance/test_cluster.py": "renews drivers and records time as a change of the leader does",
    "tests/acceptance/test_older_copy.py": "takes the bookmarks away to show what they are for",
}
"""Files of the tests that may look into a room that is not theirs, and why."""


def private(name: str) -> bool:
    """Is it a name that its room keeps to itself?"""
    return name.startswith("_") and not name.endswith("__") and name.strip("_") != ""


def made(module: ast.Module) -> Iterator[str]:
    """The private names that a module gives to something: functions, classes, variables, attributes of `self`."""
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and _self(node.value):
            yield node.attr
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            yield from (ast.literal_eval(node.value) if node.targets[0].id == "__slots__" else [node.targets[0].id])


def used(module: ast.Module) -> Iterator[tuple[int, str]]:
    """The private names that a module takes from something: attributes, imports, and what tests replace; with lines."""
    for node in ast.walk(module):
        if isinstance(node, ast.Attribute) and private(node.attr):
            yield node.lineno, node.attr
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("graphbrain"):
            yield from ((node.lineno, alias.name) for alias in node.names if private(alias.name))
        elif isinstance(node, ast.Call) and _last(node.func) in ("getattr", "setattr"):
            words = [word.value for word in node.args[:2] if isinstance(word, ast.Constant)]
            names = [str(word).rpartition(".")[2] for word in words]
            yield from ((node.lineno, name) for name in names if private(name))


def _last(node: ast.expr) -> str:
    """The last word of a dotted name."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in ("self", "cls")


def reached(where: str, module: ast.Module, own: set[str]) -> set[str]:
    """What a module takes of others, `own` being the names that its room has made."""
    taken = {(line, name) for line, name in used(module) if name not in own and (where, name) not in OF_OTHERS}
    return {f"{where}:{line}: {name}" for line, name in taken}


@cache
def kept(of: str) -> frozenset[str]:
    """The private names of a folder."""
    return frozenset(name for each in modules() if folder(each) == of for name in made(tree(each)) if private(name))


def folder_of(test: Path) -> str:
    """The folder of the package whose tests a file has: of tests/unit/frontier/hosts it is `frontier.hosts`."""
    parts = test.relative_to(ROOT).parts
    return "lab" if parts[0] == "lab" else ".".join(parts[2:-1])


def test_no_room_reaches_for_what_another_keeps_to_itself() -> None:
    wrong = [each for name in sorted(modules()) for each in sorted(reached(name, tree(name), set(kept(folder(name)))))]
    assert not wrong, "\n".join(wrong)


def test_a_test_reaches_only_into_its_own_room() -> None:
    """So nobody outside goes by what is private of a brain and its session."""
    wrong = []
    for path in sorted([*(ROOT / "tests").rglob("*.py"), *(ROOT / "lab" / "lab_tests").rglob("*.py")]):
        where = path.relative_to(ROOT).as_posix()
        module = ast.parse(path.read_text(encoding="utf-8"))
        if where not in TOOLS:
            wrong += sorted(reached(where, module, set(made(module)) | kept(folder_of(path))))
    assert not wrong, "\n".join(wrong)


def test_no_excuse_is_left_over() -> None:
    assert not {(name, word) for name, word in OF_OTHERS if word not in {each for _, each in used(tree(name))}}
    assert all((ROOT / name).exists() for name in TOOLS)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("brain._stored", {"_stored"}),
        ("self.brain._key(url)", {"_key"}),
        ("class Leaping(Brain):\n    def f(self):\n        self._report()", {"_report"}),
        ("from graphbrain.brain.session import _secret", {"_secret"}),
        ("patch.setattr(brain, '_reread', stopped)", {"_reread"}),
        ("patch.setattr('graphbrain.brain.session._x', 2)", {"_x"}),
        ("class A:\n    def __init__(self):\n        self._a = 1\n\nA()._a", set()),
        ("x.__class__.__name__, _, __", set()),
    ],
)
def test_the_search_for_what_is_private(text: str, found: set[str]) -> None:
    module = ast.parse(text)
    assert {each.rpartition(" ")[2] for each in reached("here", module, set(made(module)))} == found
