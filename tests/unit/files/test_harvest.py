"""Files become arrays: what is read, what is folded, what is left out and said; depths and starts."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graphbrain.base.errors import BadInput
from graphbrain.base.model import Failed
from graphbrain.base.urls.normalization import Rules
from graphbrain.files.harvest import Harvest, TextBuffer, generated_url, read
from graphbrain.files.reader import BLOCK_BYTES
from graphbrain.files.rows import depths, starts

NOW = 1_700_000_000.0


def harvest(*files: Path, max_links: int = 5_000, **more: Any) -> Harvest:
    return read(files, rules=Rules(), max_links=max_links, now=NOW, **more)


def put(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def links(found: Harvest) -> set[tuple[str, str]]:
    """All links by URL."""
    sources = np.repeat(np.arange(found.pages), np.diff(found.offsets)).tolist()
    pairs = [(found.urls[a], found.urls[b]) for a, b in zip(sources, found.targets.tolist(), strict=True)]
    assert len(set(pairs)) == len(pairs)
    return set(pairs)


def test_a_page_whose_only_link_is_to_itself_was_fetched(tmp_path: Path) -> None:
    found = harvest(put(tmp_path / "e", "1 1\n2 3\n4 4\n4 2\n3 5\n"))
    assert found.ids is not None
    assert dict(zip(found.ids.tolist(), found.fetched.tolist(), strict=True)) == {
        1: True,
        2: True,
        3: True,
        4: True,
        5: False,
    }
    assert found.links == 3
    nodes = put(tmp_path / "n", "1 http://a.org/\n2 http://b.org/\n3 http://A.org/#x\n")
    found = harvest(nodes, put(tmp_path / "e2", "1 3\n"))  # two records of one page
    assert list(zip(found.urls, found.fetched.tolist(), strict=True)) == [
        ("http://a.org/", True),
        ("http://b.org/", False),
    ]


def test_an_edge_list_alone_has_generated_urls(tmp_path: Path) -> None:
    found = harvest(put(tmp_path / "e", "# a comment\n7 3\n7\t3\n7 7\n7 9\n"))
    assert list(found.urls) == [generated_url(i) for i in (3, 7, 9)]
    assert links(found) == {(generated_url(7), generated_url(3)), (generated_url(7), generated_url(9))}
    assert found.fetched.tolist() == [False, True, False]
    assert harvest(tmp_path / "e", fetched=True).fetched.all()
    assert found.left_out.refused == 0


def test_the_count_of_hrefs_is_dropped_and_gzip_is_read(tmp_path: Path) -> None:
    path = tmp_path / "e.gz"
    path.write_bytes(gzip.compress(b"0\t1\t4\n1\t0\t1\n"))
    assert harvest(path).links == 2
    path.write_bytes(path.read_bytes()[:-6])
    with pytest.raises(BadInput, match="damaged"):
        harvest(path)


def test_bad_lines_are_counted_named_and_left_out(tmp_path: Path) -> None:
    found = harvest(put(tmp_path / "e", "source target\n0 1\n1 2\n3\n-1 2\n" + "bad\n" * 10))
    assert found.links == 2
    assert found.left_out.refused == 13
    assert len(found.left_out.first) == 5
    assert "e, line 1" in found.left_out.first[0]
    assert "'source target'" in found.left_out.first[0]


def test_pages_with_urls_beside_it(tmp_path: Path) -> None:
    put(tmp_path / "x.nodes.tsv", "5\t1\thttp://A.org\n2\t0\thttp://b.org/?utm_source=x\n3\t1\thttp://c.org/\n")
    found = harvest(put(tmp_path / "x.edges.tsv", "5 2\n5 3\n3 99\n"))
    assert list(found.urls) == ["http://a.org/", "http://b.org/?utm_source=x", "http://c.org/"]
    assert found.fetched.tolist() == [True, False, True], "what the file says holds"
    assert links(found) == {("http://a.org/", "http://b.org/?utm_source=x"), ("http://a.org/", "http://c.org/")}
    assert found.left_out.first == ["the link 3 → 99: there is no page 99"]


def test_two_spellings_are_one_page_and_a_bad_url_is_none(tmp_path: Path) -> None:
    nodes = put(
        tmp_path / "n", "0\thttp://a.org\n1\thttp://A.org/#top\n2\tftp://b.org/\n3\thttp://c.org/\n3\thttp://d.org/\n"
    )
    found = harvest(nodes, put(tmp_path / "e", "0 3\n1 3\n3 1\n0 1\n2 3\n"))
    assert set(found.urls) == {"http://a.org/", "http://c.org/"}
    assert links(found) == {("http://a.org/", "http://c.org/"), ("http://c.org/", "http://a.org/")}
    assert found.left_out.refused == 3, "ftp, the second page 3, and the link of page 2"
    assert any("not http" in why for why in found.left_out.first)
    assert any("page 3 occurs twice" in why for why in found.left_out.first)


def test_a_hosts_graph(tmp_path: Path) -> None:
    put(tmp_path / "cc-vertices.txt", "0\torg.example\n1\torg.example.www\n2\tcom.other\n")
    found = harvest(put(tmp_path / "cc-edges.txt", "0\t1\n1\t2\n"))
    assert list(found.urls) == ["http://example.org/", "http://www.example.org/", "http://other.com/"]
    assert found.links == 2


def test_links_over_the_limit_are_the_last_ones(tmp_path: Path) -> None:
    text = "".join(f"0 {target}\n" for target in (9, 0, 9, 8, 1, 7, 2)) + "1 9\n1 8\n1 8\n"
    found = harvest(put(tmp_path / "e", text), max_links=3)
    kept = {target for source, target in links(found) if source == generated_url(0)}
    assert kept == {generated_url(i) for i in (9, 8, 1)}
    assert found.left_out.over == 2
    assert found.links == 5


def test_json_lines_are_visits(tmp_path: Path) -> None:
    visits = [
        {"url": "http://a.org", "links": ["http://b.org/", {"url": "http://c.org/", "relevance": 0.9}, "ftp://x/"]},
        {"url": "http://b.org/", "links": [{"url": "http://c.org/", "relevance": 0.4}], "relevance": 0.25, "hash": "h"},
        {"url": "http://b.org/", "links": [], "fetched": NOW},
        {"url": "http://d.org/", "status": 404},
        {"url": "http://e.org/", "status": 301, "redirected_to": "http://a.org/"},
    ]
    visits[1]["fetched"] = NOW - 50
    text = "".join(json.dumps(visit) + "\n" for visit in visits) + 'not json\n[1]\n{"url": "mailto:x"}\n'
    found = harvest(put(tmp_path / "j", text))
    assert list(found.urls) == ["http://a.org/", "http://b.org/", "http://c.org/"]
    assert found.fetched.tolist() == [True, True, False]
    assert found.relevance[1:].tolist() == [0.25, 0.9]
    assert found.at[1] == NOW - 50
    assert found.details == {1: ("h", None, None)}
    assert [report.url for report in found.later] == ["http://b.org/", "http://d.org/", "http://e.org/"]
    assert isinstance(found.later[1], Failed)
    assert found.left_out.refused == 4


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("<html>\n", "begins with '<html>'"),
        ("0 x/y\n1 ^^\n", "Nothing in"),
        ("{}\n{\n", "Nothing in"),
    ],
)
def test_nothing_to_import_is_one_sentence(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        harvest(put(tmp_path / "f", text))


def test_json_and_numbers_do_not_mix(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="one or the other"):
        harvest(put(tmp_path / "e", "0 1\n"), put(tmp_path / "j", '{"url": "http://a.org/"}\n'))
    with pytest.raises(BadInput, match="cannot be read"):
        harvest(tmp_path / "none")


def test_lines_across_blocks(tmp_path: Path) -> None:
    """A file of more than one block, in which a line is cut."""
    pairs = [(n, n + 1) for n in range(BLOCK_BYTES // 14)]
    found = harvest(put(tmp_path / "e", "".join(f"{a}\t{b}\n" for a, b in pairs)))
    assert (tmp_path / "e").stat().st_size > BLOCK_BYTES
    assert found.left_out.refused == 0
    assert (found.targets == np.arange(1, len(pairs) + 1)).all()


def test_texts() -> None:
    texts = TextBuffer(["a", "", "é€", "x" * 99])
    assert list(texts) == ["a", "", "é€", "x" * 99]
    assert texts[1:3] == ["", "é€"]
    with pytest.raises(IndexError):
        texts[4]


@pytest.mark.parametrize("seed", range(20))
def test_every_page_is_reached_from_the_starts_by_a_shortest_way(seed: int) -> None:
    """Depths are those of one breadth-first pass a root; without any of the starts, a page is not reached."""
    dice = random.Random(seed)
    pages = dice.randrange(1, 60)
    edges = {(dice.randrange(pages), dice.randrange(pages)) for _ in range(dice.randrange(1, 80))}
    a, b = np.array(sorted(edge for edge in edges if edge[0] != edge[1]) or np.empty((0, 2)), np.int64).T
    offsets = np.concatenate([[0], np.cumsum(np.bincount(a, minlength=pages))]).astype(np.int64)
    found = starts(offsets, b, np.zeros(pages, bool))
    assert all((depths(offsets, b, [p for p in found if p != without]) < 0).any() for without in found)
    depth = depths(offsets, b, found)
    assert (depth[found] == 0).all()
    assert (depth >= 0).all()
    out = {page: set(b[offsets[page] : offsets[page + 1]].tolist()) for page in range(pages)}
    for page in range(pages):
        finders = [depth[p] + 1 for p in range(pages) if page in out[p]]
        assert depth[page] == (0 if page in found else min(finders))
    one = dice.randrange(pages)
    reached = depths(offsets, b, [one]) >= 0
    rest = starts(offsets, b, reached)
    assert (depths(offsets, b, [one, *rest]) >= 0).all()


def test_users_in_urls_are_left_out_and_counted(tmp_path: Path) -> None:
    lines = [{"url": "http://u:p@a.org/", "links": ["http://:@b.org/", "http://a.org/2"]}, {"url": "http://a.org/2"}]
    found = harvest(put(tmp_path / "v.jsonl", "".join(f"{json.dumps(line)}\n" for line in lines)))
    assert set(found.urls) == {"http://a.org/", "http://b.org/", "http://a.org/2"} and found.left_out.users == 2
    nodes = put(tmp_path / "n", "1 http://u:p@a.org/\n2 http://b.org/\n")
    found = harvest(nodes, put(tmp_path / "e", "1 2\n"))
    assert list(found.urls) == ["http://a.org/", "http://b.org/"] and found.left_out.users == 1
