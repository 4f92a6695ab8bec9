"""The parser of statement files, on files of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from graphbrain.graph import statements
from graphbrain.graph.statements import Statement

GOOD = """\
// Find a page.
// It takes two lines to say.
//
// param   key   STRING  its key; the rest
//                       goes on here
// param   limit INTEGER at most this many
// column  page  MAP     its properties
// rows    many
// locks   none
// mode    read
// retry   safe   reads only
MATCH (p:Page {key: $key}) // not a header
RETURN p AS page LIMIT $limit;
"""


@pytest.fixture
def put(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, str], None]]:
    """Name and text → a statement file in a folder that holds nothing else."""
    monkeypatch.setattr(statements, "FOLDER", tmp_path)
    statements.statement.cache_clear()

    def write(name: str, text: str) -> None:
        path = tmp_path / ("" if name.startswith("analyst/") else "graph") / f"{name}.cypher"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        statements._files.cache_clear()

    yield write
    statements.statement.cache_clear()


def test_a_header_is_a_contract(put: Callable[[str, str], None]) -> None:
    put("pages/find", GOOD)
    assert statements.statement("pages/find") == Statement(
        name="pages/find",
        text="/* graphbrain pages/find */ MATCH (p:Page {key: $key}) // not a header\nRETURN p AS page LIMIT $limit",
        sentence="Find a page. It takes two lines to say.",
        params=("key", "limit"),
        lists=frozenset(),
        columns=("page",),
        rows="many",
        locks="none",
        mode="read",
        retry="safe   reads only",
    )


def test_lists_are_sent_in_a_map(put: Callable[[str, str], None]) -> None:
    put(
        "pages/some",
        GOOD.replace("// param   key   STRING", "// param   keys  LIST").replace(
            "MATCH (p:Page {key: $key}) // not a header",
            "UNWIND $keys AS key\nMATCH (p:Page {key: key}) WHERE $keys <> []",
        ),
    )
    stated = statements.statement("pages/some")
    assert (stated.params, stated.lists) == (("keys", "limit"), {"keys"})
    assert stated.text.endswith(
        "UNWIND $given.keys AS key\nMATCH (p:Page {key: key}) WHERE $given.keys <> []\nRETURN p AS page LIMIT $limit"
    )
    sent = stated.arguments({"keys": ["a"], "limit": 1})
    assert sent == {"given": {"keys": ["a"]}, "limit": 1}
    assert repr(sent) == "{'limit': 1, 'given': <keys>}"
    assert stated.arguments({"limit": 1}) == {"given": {}, "limit": 1}


@pytest.mark.parametrize(
    "broken",
    [
        GOOD.replace("// Find a page.\n// It takes two lines to say.\n", ""),
        GOOD.replace("// mode    read\n", ""),
        GOOD.replace("mode    read", "mode    rw"),
        GOOD.replace("rows    many", "rows    some"),
        "MATCH (n) RETURN n",
    ],
    ids=["no sentence", "no mode", "bad mode", "bad rows", "no header"],
)
def test_a_bad_header_is_refused(put: Callable[[str, str], None], broken: str) -> None:
    put("pages/bad", broken)
    with pytest.raises(ValueError, match="pages/bad"):
        statements.statement("pages/bad")


def test_names_are_paths_and_the_analysts_questions_are_none(
    put: Callable[[str, str], None],
) -> None:
    for name in ("b/two", "a/one", "analyst/question"):
        put(name, GOOD)
    assert statements.names() == ("a/one", "b/two")
    assert statements.names("b/") == ("b/two",)


@pytest.mark.usefixtures("put")
def test_there_is_no_such_statement() -> None:
    with pytest.raises(FileNotFoundError):
        statements.statement("a/none")
