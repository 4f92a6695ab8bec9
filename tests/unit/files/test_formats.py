"""Odd files of every format: `import` reads the same out of them, and so whatever is beside a line."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graphbrain.base.errors import BadInput
from graphbrain.base.urls.normalization import Rules
from graphbrain.files.formats import BOM, ids_of, is_id, table
from graphbrain.files.harvest import Harvest, generated_url, read
from graphbrain.files.reader import Source

HOLLINS = "3 3 1\n1 http://a.org/ \n2 http://b.org/x \n3 http://b.org/y \n1 2\n1 3\n3 1\n"
GR0 = "n 0 http://a.org/\nn 1 http://b.org/x y\nn 2 http://c.org/\ne 0 1\ne 2 0\n"
EDGES = "10\t20\n20\t10\n30 10\n"
COUNTED = "10\t20\t3\n20\t10\t1\n30 10 2\n"
NODES = "10\t1\thttp://a.org/#x\n20\t1\thttp://b.org/\n30\t0\thttp://c.org/\n"
FORMATS = {"hollins": HOLLINS, "gr0": GR0, "edges": EDGES, "counted": COUNTED, "nodes": EDGES}

Make = Callable[[str], bytes]
ODD: dict[str, Make] = {
    "plain": str.encode,
    "crlf": lambda text: text.replace("\n", "\r\n").encode(),
    "bom": lambda text: BOM + text.encode(),
    "packed": lambda text: gzip.compress(BOM + text.encode()),
    "no end of line": lambda text: text.rstrip().encode(),
    "begins with a comment": lambda text: b"# pages\n#\n" + text.encode(),
    "begins with a blank line": lambda text: b"\n \t\n" + text.encode(),
    "blank lines and comments": lambda text: text.replace("\n", "\n\n # no\n").encode(),
    "all of it": lambda text: BOM + ("#\n\n" + text.replace("\n", "\n\n#\n")).replace("\n", "\r\n").encode(),
}


def harvest(*files: Path, **more: Any) -> Harvest:
    return read(files, rules=Rules(), max_links=5_000, now=1.7e9, **more)


def links(found: Harvest) -> set[tuple[str, str]]:
    sources = np.repeat(np.arange(found.pages), np.diff(found.offsets)).tolist()
    return {(found.urls[a], found.urls[b]) for a, b in zip(sources, found.targets.tolist(), strict=True)}


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("name", FORMATS)
def test_odd_files_are_read_as_plain_ones(name: str, odd: str, tmp_path: Path) -> None:
    plain, path = tmp_path / "plain.edges.tsv", tmp_path / "odd.edges.tsv"
    plain.write_text(FORMATS[name], encoding="utf-8")
    path.write_bytes(ODD[odd](FORMATS[name]))
    if name == "nodes":
        (tmp_path / "plain.nodes.tsv").write_text(NODES, encoding="utf-8")
        (tmp_path / "odd.nodes.tsv").write_bytes(ODD[odd](NODES))
    found = harvest(path)
    assert found.left_out.first == []
    assert links(found) == links(harvest(plain))
    assert len(links(found)) == 2 + (name != "gr0")
    assert found.pages == 3


@pytest.mark.parametrize("most", [1, 7, 64])
def test_blocks_of_any_size_are_read_alike(most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Source.blocks, "__defaults__", (most,))
    (tmp_path / "nodes.nodes.tsv").write_text(NODES, encoding="utf-8")
    for name, text in FORMATS.items():
        path = tmp_path / f"{name}.edges.tsv"
        path.write_text(text, encoding="utf-8")
        found = harvest(path)
        assert found.left_out.first == [], name
        assert len(links(found)) == 2 + (name != "gr0"), name


def test_a_first_url_with_a_space(tmp_path: Path) -> None:
    path = tmp_path / "h"
    path.write_text(HOLLINS.replace("a.org/", "a.org/x y"), encoding="utf-8")
    assert "http://a.org/x%20y" in harvest(path).urls


def test_a_title_before_the_header_is_left_out_and_named(tmp_path: Path) -> None:
    path = tmp_path / "h"
    path.write_text("the college's web\n" + HOLLINS, encoding="utf-8")
    found = harvest(path)
    assert len(links(found)) == 3
    assert found.left_out.first == ["h, line 1: not a line of this file's kind: \"the college's web\""]


@pytest.mark.parametrize("beside", ["", "bad\n", "0 1 2 3\n"], ids=["alone", "beside words", "beside numbers"])
@pytest.mark.parametrize("count", ["", " 4"])
def test_a_comment_behind_a_link(beside: str, count: str, tmp_path: Path) -> None:
    """Numpy reads a block of numbers whole; one bad line, and it is read line by line."""
    path = tmp_path / "e"
    path.write_text(f"0 1{count} # tail\n1 2{count}#http://a.org/\n2 0{count}\n" + beside, encoding="utf-8")
    found = harvest(path)
    assert len(links(found)) == 3
    assert found.left_out.refused == bool(beside)


MOST = 2**63 - 1


@pytest.mark.parametrize("beside", ["", "bad\n"], ids=["alone", "beside words"])
@pytest.mark.parametrize("big", [2**31 - 1, 2**31, 2**32, 10**18, MOST])
def test_large_ids(big: int, beside: str, tmp_path: Path) -> None:
    path = tmp_path / "e"
    path.write_text(f"7 {big}\n{big} 8\n{big} {big - 1} 1\n7 {big}\n7 0{big}\n{beside}".replace(" 1\n", "\n"))
    found = harvest(path)
    here = {(generated_url(7), generated_url(big)), (generated_url(big), generated_url(8))}
    assert links(found) == here | {(generated_url(big), generated_url(big - 1))}
    assert found.left_out.refused == bool(beside)
    assert found.urls[found.find(str(big), Rules())] == generated_url(big)


@pytest.mark.parametrize("beside", ["", "bad\n"], ids=["alone", "beside words"])
@pytest.mark.parametrize(
    "line",
    [
        *("-1 2", "1 -2", "-0 1", "+1 2", "1 2 -3", "1 2.0", "1 2 2.5", "1 2 1e3", "1 nan", "0x1 2", "1_0 2", "1,2"),
        *(f"1 {MOST + 1}", f"{10**19} 1", f"{10**20} 1", "1", "1 2 3 4"),
    ],
)
def test_what_is_no_link(line: str, beside: str, tmp_path: Path) -> None:
    path = tmp_path / "e"
    path.write_text(f"1 2\n{line}\n2 1\n{beside}", encoding="utf-8")
    found = harvest(path)
    assert links(found) == {(generated_url(1), generated_url(2)), (generated_url(2), generated_url(1))}
    assert found.left_out.first[0] == f"e, line 2: not a line of this file's kind: {line!r}"
    assert found.left_out.refused == 1 + bool(beside)


def test_a_table_takes_what_its_lines_take() -> None:
    for text in (
        b"1 2\n",
        b"1 2 3",
        b"+1 2\n",
        b"1 2 # -3\n",
        b"-0 1",
        b"9223372036854775808 1\n",
        b"007 8\n",
        b"1.0 2",
    ):
        found, ids = table(text), ids_of(text)
        assert (None if found is None else found.tolist()) == (None if ids is None else [ids]), text
    assert table(b"# nothing\n\n").shape == (0, 2)  # type: ignore[union-attr]
    assert table(b"1 2\n1 2 3\n") is None
    assert is_id(b"0" * 30 + b"7")
    assert not is_id(b"")
    assert not is_id("١".encode())


@pytest.mark.parametrize("deep", [900, 3_000, 100_000])
@pytest.mark.parametrize("around", ["{}", '{{"url": "http://c.org/", "links": {}}}', '{{"url": {0}, "status": {0}}}'])
def test_what_is_nested_too_deep_is_refused_and_named(deep: int, around: str, tmp_path: Path) -> None:
    path = tmp_path / "j"
    whole = around.format("[" * deep + "]" * deep)
    path.write_text(f'\ufeff{{"url": "http://a.org/", "links": ["http://b.org/"]}}\n{"[" * deep}\n{whole}\n', "utf-8")
    found = harvest(path)
    assert list(found.urls) == ["http://a.org/", "http://b.org/"]
    assert [why[:9] for why in found.left_out.first] == ["j, line 2", "j, line 3"]
    assert all(len(why) < 300 for why in found.left_out.first)


def test_a_page_is_found_by_the_id_of_another_spelling(tmp_path: Path) -> None:
    nodes, edges = tmp_path / "n", tmp_path / "e"
    nodes.write_text("4 http://z.org/\n5 ftp://no/\n7 http://a.org/\n8 http://A.org/#top\n9 http://b.org/\n", "utf-8")
    edges.write_text("8 9\n", encoding="utf-8")
    found = harvest(nodes, edges)
    assert [found.urls[found.find(what, Rules())] for what in ("7", "8", "9", "http://a.org")] == [
        "http://a.org/",
        "http://a.org/",
        "http://b.org/",
        "http://a.org/",
    ]
    for none in ("5", "6", "99999999999999999999"):
        with pytest.raises(BadInput, match="has no page"):
            found.find(none, Rules())
