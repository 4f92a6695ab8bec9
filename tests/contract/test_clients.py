"""The clients follow from the declarations of the verbs."""

from __future__ import annotations

import ast

from tests.contract.clients import ASYNCHRONOUS, made


def test_the_clients_are_made_from_the_declarations() -> None:
    for path, text in made().items():
        assert path.read_text(encoding="utf-8") == text, "run: python -m tests.contract.clients --write"


def test_nothing_asynchronous_is_left() -> None:
    kinds = (ast.AsyncFunctionDef, ast.AsyncFor, ast.AsyncWith, ast.Await)
    for path, text in made().items():
        if path != ASYNCHRONOUS:
            nodes = list(ast.walk(ast.parse(text)))
            names = {node.id for node in nodes if isinstance(node, ast.Name)}
            assert not [node for node in nodes if isinstance(node, kinds)]
            assert not [name for name in names if "sync" in name.lower()]
