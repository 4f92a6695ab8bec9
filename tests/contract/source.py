"""The source of the product and of the laboratory as data, for the tests that hold its rules.

A module is named without the package's name: `frontier.claims.taking`. One of the laboratory begins with `lab`:
`lab.bench.order` is `graphbrain_lab.bench.order`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "graphbrain"
LABORATORY = ROOT / "lab" / "graphbrain_lab"


@cache
def modules() -> dict[str, Path]:
    """Name of a module → its file; the product's package itself is `__init__`, the laboratory's is `lab`."""
    found = {}
    for package, prefix in ((PACKAGE, ""), (LABORATORY, "lab.")):
        for path in sorted(package.rglob("*.py")):
            name = prefix + path.relative_to(package).with_suffix("").as_posix().replace("/", ".")
            found[name.removesuffix(".__init__")] = path
    return found


@cache
def tree(name: str) -> ast.Module:
    """A module's syntax tree."""
    return ast.parse(modules()[name].read_text(encoding="utf-8"))


def imported(name: str, *, at_once: bool = False) -> set[str]:
    """The modules of the package that a module imports, anywhere in it, also inside functions; `at_once`: those alone
    that it imports when it is imported itself."""
    found = set()
    late = _late(tree(name)) if at_once else set()
    for node in ast.walk(tree(name)):
        if id(node) in late:
            continue
        if isinstance(node, ast.Import):
            found.update(_own(alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{name}: relative imports hide where things come from"
            for alias in node.names:
                whole = _own(f"{node.module}.{alias.name}")
                found.add(whole if whole in modules() else _own(node.module or ""))
    return (found if at_once else found | _on_use(name)) - {""}


def _on_use(name: str) -> set[str]:
    """Return the modules that a table of commands names, which are imported when they are used."""
    if name == "lab.commands":
        (table,) = (node.value for node in tree(name).body if ast.unparse(node).startswith("COMMANDS"))
        return {f"lab.cli.{module}" for module, _ in ast.literal_eval(table).values()}
    if name != "cli.commands":
        return set()
    calls = [node for node in ast.walk(tree(name)) if isinstance(node, ast.Call)]
    return {
        f"cli.{call.args[0].value}"
        for call in calls
        if ast.unparse(call.func) == "Entry" and isinstance(call.args[0], ast.Constant)
    }


def _late(module: ast.Module) -> set[int]:
    """The nodes inside functions, and below an `if` of the module, such as TYPE_CHECKING."""
    functions = [node for node in ast.walk(module) if isinstance(node, ast.FunctionDef)]
    choices = [node for node in module.body if isinstance(node, ast.If)]
    return {id(each) for node in (*functions, *choices) for each in ast.walk(node)}


def _own(dotted: str) -> str:
    """`graphbrain.x` → `x`, `graphbrain` → `__init__`, `graphbrain_lab.x` → `lab.x`, anything else → ''."""
    first, _, rest = dotted.partition(".")
    if first == "graphbrain_lab":
        return f"lab.{rest}" if rest else "lab"
    return (rest or "__init__") if first == "graphbrain" else ""


def outside(name: str) -> set[str]:
    """The top-level packages of others that a module imports."""
    found = set()
    for node in ast.walk(tree(name)):
        if isinstance(node, ast.Import):
            found.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or "").split(".")[0])
    return found - {"graphbrain", "graphbrain_lab"}


def functions(name: str) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """All functions and methods of a module, also nested ones."""
    for node in ast.walk(tree(name)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{name}.{node.name}", node


def literals(name: str) -> list[ast.Constant]:
    """The string constants of a module, parts of f-strings included, docstrings and bare strings left out."""
    bare = {id(node.value) for node in ast.walk(tree(name)) if isinstance(node, ast.Expr)}
    return [
        node
        for node in ast.walk(tree(name))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in bare
    ]


_SKIP = re.compile(
    r"""//[^\n]* | /\*.*?\*/ | '(?:\\.|[^'\\])*' | "(?:\\.|[^"\\])*" | `(?:``|[^`])*`""",
    re.S | re.X,
)


def bare_cypher(text: str) -> str:
    """Cypher without its strings, comments and quoted names: what is left means what it says."""
    return _SKIP.sub(" ", text)
