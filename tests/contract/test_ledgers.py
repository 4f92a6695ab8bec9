"""Only scores/accounts/ writes the arrays of a ledger: everybody else calls what a ledger offers."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.contract.rooms import folder
from tests.contract.source import modules, tree

LEDGERS = {"Accounts", "Ledger", "ClassicLedger", "Marks"}
"""The classes whose arrays these are."""
MAKERS = {"lock", "lock_present"}
"""What gives somebody a ledger: `ledgers.lock(…)`, `ledgers.of(rule).lock_present(…)`, `Ledger.lock(…)`."""
IN_PLACE = {"fill", "itemset", "partition", "put", "resize", "setfield", "sort", "byteswap", "setflags"}
"""Methods of an array that change it."""
INTO_THE_FIRST = {"at", "copyto", "place", "put", "put_along_axis", "putmask", "setattr", "fill_diagonal"}
"""Functions that change what they are given first: np.add.at, np.copyto, setattr …"""


def written(module: ast.Module) -> list[str]:
    """Where a module writes into a ledger, or lets go of what its arrays are: `line: source` of each."""
    found: set[tuple[int, str]] = set()
    for scope in ast.walk(module):
        if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef | ast.Module):
            names = _ledgers(scope)
            found |= {(node.lineno, ast.unparse(node)) for node in _writes(scope, names, _arrays(scope, names))}
    return [f"{line}: {source}" for line, source in sorted(found)]


def _own(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function, nested ones included; of a module without its functions."""
    for child in ast.iter_child_nodes(scope):
        if isinstance(scope, ast.Module) and isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        yield child
        yield from ast.walk(child)


def _ledgers(scope: ast.AST) -> set[str]:
    """The names by which a function knows ledgers: by annotation, by what has made them, or by that very word."""
    names = {"ledger"}
    for node in _own(scope):
        if isinstance(node, ast.arg | ast.AnnAssign) and node.annotation is not None:
            words = {part.id for part in ast.walk(node.annotation) if isinstance(part, ast.Name)}
            words |= {part.attr for part in ast.walk(node.annotation) if isinstance(part, ast.Attribute)}
            if words & LEDGERS:
                names.add(node.arg if isinstance(node, ast.arg) else ast.unparse(node.target))
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            made = node.value.func
            if (isinstance(made, ast.Attribute) and made.attr in MAKERS and "politeness" not in ast.unparse(made)) or (
                isinstance(made, ast.Name) and made.id in LEDGERS
            ):
                names.update(ast.unparse(target) for target in node.targets)
    return names


def _arrays(scope: ast.AST, ledgers: set[str]) -> set[str]:
    """Other names of a ledger's arrays: `depth = ledger.depth`, also `a, b = ledger.x, ledger.y`."""
    names = set()
    for node in _own(scope):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                pairs = [(target, node.value)]
                if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                    pairs = list(zip(target.elts, node.value.elts, strict=False))
                names |= {ast.unparse(name) for name, value in pairs if _is_array(value, ledgers, set())}
    return names


def _is_array(node: ast.AST, ledgers: set[str], arrays: set[str]) -> bool:
    """Is this a ledger's array, or a slice of one?"""
    while isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "getattr":
        return ast.unparse(node.args[0]) in ledgers
    if isinstance(node, ast.Attribute):
        return ast.unparse(node.value) in ledgers or (node.attr == "ledger") or _is_array(node.value, ledgers, arrays)
    return isinstance(node, ast.Name) and node.id in arrays


def _writes(scope: ast.AST, ledgers: set[str], arrays: set[str]) -> Iterator[ast.stmt | ast.Call]:
    for node in _own(scope):
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Delete):
            targets = node.targets if isinstance(node, ast.Assign | ast.Delete) else [node.target]
            each = [part for target in targets for part in getattr(target, "elts", [target])]
            renamed = {id(part) for part in each if isinstance(part, ast.Name) and not isinstance(node, ast.AugAssign)}
            if any(_is_array(part, ledgers, arrays) for part in each if id(part) not in renamed):
                yield node
        elif isinstance(node, ast.Call):
            args = [*node.args[:1]] if _last(node.func) in INTO_THE_FIRST else []
            args += [word.value for word in node.keywords if word.arg == "out"]
            if isinstance(node.func, ast.Attribute) and node.func.attr in IN_PLACE:
                args.append(node.func.value)
            if any(_is_array(arg, ledgers, arrays) or ast.unparse(arg) in ledgers for arg in args):
                yield node


def _last(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else ast.unparse(function)


def test_only_accounts_writes_into_a_ledger() -> None:
    wrong = [
        f"{name}:{each}" for name in modules() if folder(name) != "scores.accounts" for each in written(tree(name))
    ]
    assert not wrong, "\n".join(["These belong into an operation of the ledger:", *wrong])


WRITING = (
    "ledger.depth[place] = 1",
    "ledger.lane[a], page.since = lanes.ASKED, 1.0",
    "ledger.is_seed |= seeds",
    "ledger.relevance = new",
    "ledger.hub_cash[:] += 1",
    "del ledger.depth",
    "self.ledger.depth[0] = 1",
    "np.add.at(ledger.hub_cash, places, 1.0)",
    "np.copyto(ledger.depth, other)",
    "np.maximum(a, b, out=ledger.depth)",
    "ledger.depth.fill(0)",
    "ledger.depth[2:].sort()",
    "setattr(ledger, 'depth', new)",
    "getattr(ledger, f'{side}_cash')[0] = 1",
    "depth = ledger.depth\ndepth[0] = 1",
    "hub, depth = ledger.hub_cash, ledger.depth\ndepth += 1",
    "mine = ledgers.lock(tx, ids, rule)\nmine.depth[0] = 1",
    "mine = ledgers.of(rule).lock_present(tx, ids, rule)\nmine.depth[0] = 1",
    "mine: Ledger = given\nmine.depth[0] = 1",
    "def work(accounts: Ledger | None) -> None:\n    accounts.depth[0] = 1",
    "def work(all: ledgers.Accounts) -> None:\n    def part():\n        all.depth[0] = 1",
)
HARMLESS = (
    "ledger.wait_in({1: 2})",
    "page.depth = int(ledger.depth[0])",
    "depth = ledger.depth.copy()\ndepth[0] = 1",
    "depths[page] = ledger.depth[0]",
    "ledger = ledgers.lock(tx, ids, rule)",
    "depth = ledger.depth\ndepth = 3",
    "met = politeness.lock(tx, names, manners)\nmet[name].in_flight = 0",
)


def test_the_search_for_writes_finds_them_and_nothing_else() -> None:
    assert not [text for text in WRITING if not written(ast.parse(text))]
    assert not [text for text in HARMLESS if written(ast.parse(text))]
