"""Single changes of the product, drawn by a seed: which of them the default tests of the changed module catch.

    python -m tests.mutants SEED COUNT [--only NUMBER …]

Run it in a copy of the checkout, which it changes and restores, with a Neo4j in TEST_GRAPHBRAIN_URI and what else
`pytest` needs. It changes a comparison, a sum, `and`, a constant or what is returned, or leaves out a statement, and
runs the tests of the module's file and then those of its room, up to the first that fails. It prints a line a change.
"""

from __future__ import annotations

import argparse
import ast
import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.contract.source import ROOT, modules
from tests.contract.where_tests import mirrored, recorded

ROOMS = ("frontier.claims", "frontier.reports", "frontier.hosts", "scores.accounts", "brain")
SECONDS = 150
"""After which the tests of a change are ended: it is counted as caught if it makes them run for ever, and shown."""
SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


@dataclass(frozen=True)
class Change:
    """The `number`-th change that a module allows."""

    module: str
    number: int
    line: int
    what: str


def places(tree: ast.Module) -> Iterator[tuple[int, str, ast.AST, ast.AST, str]]:
    """Yield line, what is changed, a node, its field's new value and the field, in functions, without docstrings."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for node in (each for statement in function.body for each in ast.walk(statement)):
            yield from _of(node)


def _of(node: ast.AST) -> Iterator[tuple[int, str, ast.AST, ast.AST, str]]:
    line = getattr(node, "lineno", 0)
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in SWAPS:
        made: ast.AST = ast.Compare(node.left, [SWAPS[type(node.ops[0])]()], node.comparators)  # type: ignore[list-item]
        yield line, "comparison", node, made, ""
    elif isinstance(node, ast.BinOp | ast.BoolOp | ast.AugAssign) and type(node.op) in SWAPS:
        yield line, "operator", node, SWAPS[type(node.op)](), "op"
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
        other = not node.value if isinstance(node.value, bool) else node.value + 1
        yield line, "constant", node, ast.Constant(other), ""
    elif isinstance(node, ast.Return) and node.value is not None and not isinstance(node.value, ast.Constant):
        yield line, "return", node, ast.Return(ast.Constant(None)), ""
    elif isinstance(node, ast.Expr | ast.AugAssign) and not isinstance(getattr(node, "value", None), ast.Constant):
        yield line, "statement", node, ast.Pass(), ""


class _Replacing(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self._old, self._new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self._new if node is self._old else super().visit(node)


def changed(source: str, number: int) -> str:
    """Return the source with one change."""
    tree = ast.parse(source)
    _, _, node, new, field = list(places(tree))[number]
    if field:
        setattr(node, field, new)
    else:
        tree = _Replacing(node, new).visit(tree)
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def drawn(seed: int, count: int) -> list[Change]:
    """Return so many changes of the rooms."""
    found = [
        Change(name, number, line, what)
        for name, path in sorted(modules().items())
        if name.startswith(tuple(f"{room}." for room in ROOMS))
        for number, (line, what, *_) in enumerate(places(ast.parse(path.read_text(encoding="utf-8"))))
    ]
    return random.Random(seed).sample(found, count)


def tests_of(module: str) -> list[str]:
    """Return the files of tests of a module, the nearest first."""
    room = module.rpartition(".")[0].replace(".", "/")
    files = [*mirrored(module), *filter(None, [recorded().get(module)])]
    files += sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob(f"tests/unit/{room}/test_*.py"))
    files += sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob(f"tests/integration/{room}/test_*.py"))
    return list(dict.fromkeys(files))


def caught(change: Change) -> str:
    """Return the first test that fails; empty if none does."""
    path = modules()[change.module]
    source = path.read_text(encoding="utf-8")
    path.write_text(changed(source, change.number), encoding="utf-8")
    command = [sys.executable, "-B", "-m", "pytest", "-x", "-q", "--tb=line", "-p", "no:cacheprovider", "-n", "0"]
    try:
        ran = subprocess.run(
            [*command, *tests_of(change.module)], cwd=ROOT, capture_output=True, text=True, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        return "the tests did not end"
    finally:
        path.write_text(source, encoding="utf-8")
    if ran.returncode == 0:
        return ""
    failed = [line for line in ran.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return failed[0].split(" - ")[0] if failed else f"exit {ran.returncode}"


def main() -> None:
    """Print each change and what caught it, and the share."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seed", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--only", type=int, nargs="*")
    given = parser.parse_args()
    done = []
    for number, change in enumerate(drawn(given.seed, given.count)):
        if given.only is None or number in given.only:
            done.append(caught(change))
            where = Path(modules()[change.module]).relative_to(ROOT)
            print(f"{number} {where}:{change.line} {change.what}: {done[-1] or 'SURVIVES'}", flush=True)
    print(f"{sum(map(bool, done))} of {len(done)} are caught")


if __name__ == "__main__":
    main()
