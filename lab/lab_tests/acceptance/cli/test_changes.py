"""`graphbrain bench changes` as a user meets it: a table, JSON lines, and what it refuses. It needs no server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from graphbrain.cli.app import cli
from graphbrain_lab.bench.drawn_pages import EDITS
from tests.documents import ROOT


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    words = (ROOT / "LICENSE").read_text(encoding="utf-8").replace("<", " ").split()  # a text that does not change
    for number in range(6):
        part = words[number * 200 : number * 200 + 200]
        rows = "".join(f"<li>{' '.join(part[n : n + 20])}</li>" for n in range(0, 200, 20))
        (tmp_path / f"{number}.html").write_text(
            f"<html><body><h1>{part[0]}</h1><ul>{rows}</ul></body></html>", "utf-8"
        )
    return tmp_path


def test_shares_by_method(pages: Path) -> None:
    done = CliRunner().invoke(cli, ["bench", "changes", str(pages), "--other", str(pages), "--json"])
    assert done.exit_code == 0, done.output
    rows = {(row["method"], row["what"]): row["share"] for row in map(json.loads, done.stdout.splitlines())}
    for edit in ("paragraph of 20 words", "price", "row removed", "paragraph of 20 words, and noise"):
        assert rows["blocks", edit] == rows["text", edit] == 1
    assert rows["blocks", "noise, later"] == 0
    assert rows["text", "noise, later"] == 1
    assert rows["simhash", "release: no word"] == 0


def test_shares_of_drawn_pages() -> None:
    done = CliRunner().invoke(cli, ["bench", "changes", "--seeds", "7", "8", "--json"])
    assert done.exit_code == 0, done.output
    rows = {(row["what"], row["words_from"]): row["share"] for row in map(json.loads, done.stdout.splitlines())
            if row["method"] == "blocks"}  # fmt: skip
    for what, length in rows:
        if what in EDITS:
            assert rows[what, length] == 1, (what, length)
    assert rows["noise, advertisement: visit 5 and later", 0] == 0


def test_what_it_cannot_use(pages: Path) -> None:
    for words in (
        [],
        [str(pages / "0.html")],
        [str(pages), "--seconds", "3"],
        [str(pages / "none")],
        [str(pages), "--seeds", "1", "2"],
    ):
        assert CliRunner().invoke(cli, ["bench", "changes", *words]).exit_code == 2
    (pages / "empty").mkdir()
    done = CliRunner().invoke(cli, ["bench", "changes", str(pages / "empty")], standalone_mode=False)
    assert done.exception is not None
    assert "at least 2 are needed" in str(done.exception)
