"""The last look at the findings: what its file keeps, and what is new since then."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from graphbrain.analyst.last_look import Look, News
from graphbrain.base.errors import BadInput
from graphbrain.base.records import Finding

BRAIN = {"name": "docs", "created": 1.5}


def finding(title: str, count: int) -> Finding:
    return Finding(title, "page", "thin-and-huge-pages", {"thin": 1024, "share": 0.5, "harmless": False}, count, 0.25)


def test_a_file_keeps_what_was_found(tmp_path: Path) -> None:
    file, look = tmp_path / "look.json", Look(BRAIN, 1_700_000_000.25, [finding("Thin pages", 3)])
    assert Look.read(file) is None
    file.write_text(look.text())
    assert Look.read(file) == look


@pytest.mark.parametrize(
    "kept",
    [
        "",
        "[]",
        '{"brain": {}, "at": 1}',
        '{"brain": {}, "at": 1, "findings": [{"title": "Thin pages"}]}',
        '{"brain": 3, "at": 1, "findings": []}',
        json.dumps({"brain": {}, "at": 1, "findings": [finding("x", 1).as_dict() | {"count": "many"}]}),
    ],
)
def test_another_file_is_refused_by_its_name(tmp_path: Path, kept: str) -> None:
    file = tmp_path / "look.json"
    file.write_text(kept)
    with pytest.raises(BadInput, match=r"look\.json keeps no look"):
        Look.read(file)
    with pytest.raises(BadInput, match="cannot be read"):
        Look.read(tmp_path)


def test_what_is_more_fewer_new_and_no_longer_found() -> None:
    before = Look(BRAIN, 7.0, [finding("More", 3), finding("Fewer", 1_005), finding("Same", 2), finding("Gone", 9)])
    now = Look(BRAIN, 9.0, [finding("More", 1_234), finding("New", 1), finding("Fewer", 4), finding("Same", 2)])
    news = News.of(now, before)
    assert news.since == 7.0
    assert {each.title: (each.count, news.count_before(each), news.change(each)) for each in news.findings} == {
        "More": (1_234, 3, "1,231 more"),
        "New": (1, 0, "1 more"),
        "Fewer": (4, 1_005, "1,001 fewer"),
        "Same": (2, 2, ""),
        "Gone": (0, 9, "9 fewer"),
    }
    first = News.of(now, None)
    assert [first.count_before(each) for each in first.findings] == [None] * 4
    assert {first.change(each) for each in first.findings} == {""}


def test_a_look_at_another_brain_is_refused() -> None:
    with pytest.raises(BadInput, match=r"another brain \(docs\)"):
        News.of(Look({**BRAIN, "created": 2.5}, 9.0, []), Look(BRAIN, 7.0, []))
