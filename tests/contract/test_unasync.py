"""The two clients have one source."""

from __future__ import annotations

import ast

from tests.contract.unasync import TARGET, made


def test_the_client_that_waits_is_made_from_the_other() -> None:
    assert TARGET.read_text(encoding="utf-8") == made(), "run: python -m tests.contract.unasync --write"


def test_nothing_asynchronous_is_left() -> None:
    kinds = (ast.AsyncFunctionDef, ast.AsyncFor, ast.AsyncWith, ast.Await)
    names = {node.id for node in ast.walk(ast.parse(made())) if isinstance(node, ast.Name)}
    assert not [node for node in ast.walk(ast.parse(made())) if isinstance(node, kinds)]
    assert not [name for name in names if "sync" in name.lower()]
