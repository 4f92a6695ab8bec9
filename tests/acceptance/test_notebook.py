"""The notebook of the examples, run from its first cell to its last on a small crawl."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.integration.analyst.webs import crawl, hostile
from tests.plugin import PATIENCE, Neo4j, emptied

NOTEBOOK = Path(__file__).parents[2] / "docs" / "examples" / "notebook" / "crawl.ipynb"


def shown(cell: Any) -> dict[str, str]:
    """What a cell's last line shows: MIME type → text."""
    return next((dict(each["data"]) for each in cell["outputs"] if each["output_type"] == "execute_result"), {})


def test_the_notebook_runs_and_shows_the_crawl(neo4j: Neo4j, monkeypatch: pytest.MonkeyPatch) -> None:
    nbformat = pytest.importorskip("nbformat", reason="nbclient is not installed")
    client = pytest.importorskip("nbclient", reason="nbclient is not installed")
    pytest.importorskip("neo4j_viz", reason="neo4j-viz is not installed")
    monkeypatch.setenv("GRAPHBRAIN_URI", neo4j.uri)
    monkeypatch.setenv("GRAPHBRAIN_USER", neo4j.user)
    monkeypatch.setenv("GRAPHBRAIN_PASSWORD", neo4j.password)
    monkeypatch.setenv("GRAPHBRAIN_CRAWL", "test")
    with emptied(neo4j, delay_seconds=0.0) as brain:
        crawl(brain)
        hostile(brain)
        before, hosts_in_all = brain.stats(), len(list(brain.hosts()))
        notebook = nbformat.read(NOTEBOOK, as_version=4)
        assert not any(cell.get("outputs") for cell in notebook.cells), "the notebook is kept without what it showed"
        client.NotebookClient(notebook, timeout=PATIENCE, kernel_name="python3").execute()
        assert {**brain.stats(), "pace": None} == {**before, "pace": None}
    cells = [shown(cell) for cell in notebook.cells if cell["cell_type"] == "code"]
    in_all = before["pages"] + before["outside_pages"]
    assert cells[0]["text/plain"] == f"({in_all}, {before['links']}, {hosts_in_all})"
    assert "http://a.example/" in cells[3]["text/plain"] and "frontier" in cells[1]["text/plain"]
    hosts, best = (each["text/html"] for each in cells if "text/html" in each and "<script" in each["text/html"])
    assert json.dumps("b.example") in hosts and "http://a.example/two" in best
    # What a page says is text in the picture, too.
    assert "<script>alert(2)" not in best and "<img src=x" not in best
