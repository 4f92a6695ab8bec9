"""Recorded crawls: every format, every way a file can be wrong, and naive second opinions."""

from __future__ import annotations

import gzip
import time
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphbrain.base.errors import BadInput
from graphbrain.base.urls.normalization import spell
from graphbrain.files.harvest import generated_url
from graphbrain_lab.recording import Recording, read
from tests.recordings import REAL, Recordings

HOLLINS = "3 4 1\n1 http://a.org/ \n2 http://b.org/x \n3 http://b.org/y \n1 2\n1 3\n3 3\n3 1\n"
GR0 = "n 0 http://a.org/\nn 1 http://b.org/x y\nn 2 http://c.org/\ne 0 1\ne 2 0\n"
EDGES = "# from to\n10\t20\n10\t10\n\n20\t10\n10\t20\n30 10\n"
NODES = "10\t1\thttp://a.org/\n20\t1\thttp://b.org/\n30\t0\thttp://c.org/\n40\t1\thttp://d.org/\n"

edge_lists = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=60)


def put(path: Path, text: str, *, zipped: bool = False) -> Path:
    path.write_bytes(gzip.compress(text.encode()) if zipped else text.encode())
    return path


def links(recording: Recording) -> dict[str, list[str]]:
    return {recording.urls[i]: recording.links_of(i) for i in range(recording.pages)}


@pytest.mark.parametrize("zipped", [False, True])
def test_hollins(tmp_path: Path, zipped: bool) -> None:
    recording = read(put(tmp_path / "crawl", HOLLINS, zipped=zipped))
    assert links(recording) == {
        "http://a.org/": ["http://b.org/x", "http://b.org/y"],
        "http://b.org/x": [],
        "http://b.org/y": ["http://b.org/y", "http://a.org/"],
    }
    assert recording.ids.tolist() == [1, 2, 3]
    assert (recording.links, len(recording.distinct[0])) == (4, 3)


@pytest.mark.parametrize("zipped", [False, True])
def test_gr0(tmp_path: Path, zipped: bool) -> None:
    recording = read(put(tmp_path / "crawl.txt", GR0, zipped=zipped))
    assert links(recording) == {
        "http://a.org/": ["http://b.org/x%20y"],
        "http://b.org/x%20y": [],
        "http://c.org/": ["http://a.org/"],
    }


@pytest.mark.parametrize("zipped", [False, True])
def test_edge_list_without_nodes(tmp_path: Path, zipped: bool) -> None:
    recording = read(put(tmp_path / "crawl.tsv", EDGES, zipped=zipped))
    assert recording.ids.tolist() == [10, 20, 30], "only ids that occur are pages"
    assert recording.urls == [generated_url(10), generated_url(20), generated_url(30)]
    assert links(recording)[generated_url(10)] == [generated_url(i) for i in (20, 10, 20)]
    assert (recording.links, len(recording.distinct[0])) == (5, 3)
    assert recording.crawled.all()


def test_edge_list_with_counts(tmp_path: Path) -> None:
    recording = read(put(tmp_path / "crawl", "0 1 3\n1 0 1\n"))
    assert (recording.pages, recording.links) == (2, 2)


@pytest.mark.parametrize("given", [False, True], ids=["beside", "given"])
def test_edge_list_with_nodes(tmp_path: Path, given: bool) -> None:
    edges = put(tmp_path / "x.edges.tsv", EDGES)
    nodes = put(tmp_path / ("n.tsv" if given else "x.nodes.tsv"), NODES, zipped=True)
    recording = read(edges, nodes=nodes if given else None)
    assert recording.urls == ["http://a.org/", "http://b.org/", "http://c.org/", "http://d.org/"]
    assert recording.crawled.tolist() == [True, True, False, True]
    assert recording.links_of(3) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "crawl is empty"),
        ("# only a comment\n", "crawl is empty"),
        ("0 1\n1 2\n2 x\n", "crawl, line 3: expected 'src dst'.* found '2 x'"),
        ("0 1\n\n1 2\n2\n", "crawl, line 4: .* found '2'"),
        ("0 1\n1 2 3\n", "crawl, line 2: .* found '1 2 3'"),
        ("0 1\n1 -2\n", "crawl, line 2: .* found '1 -2'"),
        ("0 1\n1 2.5\n", "crawl, line 2: .* found '1 2.5'"),
        ("0 1\n1 99999999999999999999\n", "crawl, line 2"),
        ("hello\nworld\n", "crawl, line 1: .* found 'hello'"),
        ("0\n1\n", "crawl, line 1: .* found '0'"),
        (NODES, "crawl is a node file"),
        ("n 0 http://a.org/\nn x http://b.org/\n", "crawl, line 2: expected 'n id url'"),
        ("n 0 http://a.org/\nq\n", "crawl, line 2"),
        ("n 0 http://a.org/\ne 0\n", "crawl, line 2"),
        ("n 0 http://a.org/\n\ne 0 5\n", "crawl, line 3: there is no page 5"),
        ("n 0 http://a.org/\nn 0 http://b.org/\n", "crawl, line 2: the page 0 occurs twice"),
        ("e 0 1\n", "there are links and no pages"),
        (HOLLINS.replace("2 http://b.org/x \n", "2 \n"), "crawl, line 3: expected 'id url'"),
        (HOLLINS.replace("3 1\n", "3 9\n"), "crawl, line 8: there is no page 9"),
        (HOLLINS.replace("3 1\n", "3 1 1\n"), "crawl, line 8"),
        (HOLLINS.replace("3 1\n", ""), "announces 4 links and holds 3"),
        ("3 4 1\n1 http://a.org/\n2 http://b.org/\n3\n", "line 4: expected 'id url'"),
        (HOLLINS[:40], "announces 3 pages and ends before"),
        ("9 4 1\n1 http://a.org/\n", "announces 9 pages"),
    ],
)
def test_wrong_files_are_named_with_their_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        read(put(tmp_path / "crawl", text))


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ("10\t1\thttp://a.org/\n20\t2\thttp://b.org/\n", "n.tsv, line 2: expected 'id<TAB>crawled"),
        ("10\t1\thttp://a.org/\n20\t1\n", "n.tsv, line 2"),
        ("10\t1\thttp://a.org/\n20\t1\thttp://b.org/\n", "crawl, line 7: there is no page 30"),
    ],
)
def test_wrong_node_files(tmp_path: Path, nodes: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        read(put(tmp_path / "crawl", EDGES), nodes=put(tmp_path / "n.tsv", nodes))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        read(tmp_path / "nowhere")
    with pytest.raises(BadInput, match="cannot be read"):
        read(tmp_path)
    cut = tmp_path / "cut.gz"
    cut.write_bytes(gzip.compress(HOLLINS.encode() * 100)[:60])
    with pytest.raises(BadInput, match="damaged or shortened gzip"):
        read(cut)
    with pytest.raises(BadInput, match="takes no node file"):
        read(put(tmp_path / "crawl", GR0), nodes=put(tmp_path / "nodes", NODES))


def test_urls_that_cannot_be_used_get_stand_ins(tmp_path: Path) -> None:
    text = (
        "n 0 http://a.org/\nn 1 http://?no-host\nn 2 http://A.org\nn 3 http://a.org/?b=1\n"
        "n 4 http://a.org/?b=1&utm_source=x\nn 5 http://a.org/?recorded=2\ne 1 2\n"
    )
    recording = read(put(tmp_path / "crawl", text))
    assert recording.urls[:2] == ["http://a.org/", generated_url(1)]
    assert recording.urls[3:] == [
        "http://a.org/?b=1",
        "http://a.org/?b=1&recorded=4",
        "http://a.org/?recorded=2",
    ]
    assert recording.urls[2] not in (*recording.urls[:2], *recording.urls[3:])
    assert recording.stand_ins == 3
    assert [spell(url) for url in recording.urls] == recording.urls
    assert links(recording)[generated_url(1)] == [recording.urls[2]]


def test_generated_urls_are_canonical_and_several_to_a_host() -> None:
    urls = [generated_url(i) for i in (0, 7, 99, 100, 12_345_678, 10**18)]
    assert [spell(url) for url in urls] == urls
    hosts = [url.split("/")[2] for url in urls]
    assert hosts[0] == hosts[1] == hosts[2] != hosts[3]


def test_find() -> None:
    recording = Recording.of([5], [9], urls=["http://a.org/", "http://b.org/"])
    assert recording.find(9) == recording.find("9") == recording.find("HTTP://B.org:80") == 1
    for unknown in (6, "10", "http://c.org/", "9" * 30, "nonsense"):
        with pytest.raises(BadInput):
            recording.find(unknown)


@given(edge_lists, st.booleans())
def test_csr_is_what_a_dictionary_would_be(edges: list[tuple[int, int]], every_id_is_a_page: bool) -> None:
    pages = 13 if every_id_is_a_page else None
    recording = Recording.of([a for a, _ in edges], [b for _, b in edges], pages=pages)
    ids = range(13) if every_id_is_a_page else sorted({page for edge in edges for page in edge})
    assert recording.ids.tolist() == list(ids)
    naive: dict[int, list[int]] = {i: [] for i in ids}
    for a, b in edges:
        naive[a].append(b)
    assert links(recording) == {generated_url(i): [generated_url(j) for j in out] for i, out in naive.items()}
    distinct = {(a, b) for a, b in edges if a != b}
    first, second = recording.distinct
    assert list(zip(recording.ids[first], recording.ids[second], strict=True)) == sorted(distinct)
    assert len(recording.distinct[0]) == len(distinct)


@settings(deadline=None)  # the first call imports scipy
@given(edge_lists, st.sets(st.integers(0, 12), min_size=1))
def test_seeds_reach_all_and_are_the_fewest(edges: list[tuple[int, int]], others: set[int]) -> None:
    recording = Recording.of([a for a, _ in edges], [b for _, b in edges], pages=13)
    web = nx.DiGraph((a, b) for a, b in edges if a != b)
    web.add_nodes_from(range(13))
    seeds = recording.seeds()
    assert recording.reachable(seeds).all()
    without_in_links = {page for page in web if not web.in_degree(page)}
    assert without_in_links <= set(seeds)
    parts = nx.condensation(web)
    assert len(seeds) == sum(not parts.in_degree(part) for part in parts), "one for each root part"
    reached = set().union(*(nx.descendants(web, page) | {page} for page in others))
    assert set(np.flatnonzero(recording.reachable(others))) == reached


def test_an_unreached_cycle_gets_one_seed() -> None:
    # 0 → 1; 2 ⇄ 3 → 1; 4 links to itself only; 5 ⇄ 6 is reached from 0.
    recording = Recording.of([0, 2, 3, 3, 4, 0, 5, 6], [1, 3, 2, 1, 4, 5, 6, 5])
    assert recording.seeds() == [0, 2, 4]


def test_an_empty_recording() -> None:
    recording = Recording.of([], [])
    assert (recording.pages, recording.links, recording.seeds()) == (0, 0, [])
    assert recording.reachable([]).tolist() == []


@pytest.mark.data
@pytest.mark.parametrize("name", REAL)
def test_recorded_crawls(data_dir: Recordings, name: str) -> None:
    facts = data_dir.facts[name]
    began = time.perf_counter()
    recording = read(data_dir / name)
    seeds = recording.seeds()
    reached = recording.reachable(seeds)
    assert time.perf_counter() - began < 20
    assert (recording.pages, recording.links) == (facts.pages, facts.recorded)
    assert (len(recording.distinct[0]), recording.stand_ins) == (facts.distinct, facts.stand_ins)
    assert reached.all()
    assert len(set(recording.urls)) == facts.pages
    assert all(spell(url) == url for url in recording.urls[::17])


@pytest.mark.data
def test_what_the_data_says_of_itself(data_dir: Recordings) -> None:
    cnr, facts = read(data_dir / "cnr-2000.edges.tsv.gz"), data_dir.facts["cnr-2000.edges.tsv.gz"]
    assert facts.reaches_all is not None and cnr.reachable([cnr.find(facts.reaches_all)]).all()
    assert int((cnr.sources == cnr.targets).sum()) == facts.selfish
    numpy_doc, facts = read(data_dir / "numpy-doc.edges.tsv.gz"), data_dir.facts["numpy-doc.edges.tsv.gz"]
    assert int((~numpy_doc.crawled).sum()) == facts.unfetched
    assert not np.diff(numpy_doc.offsets)[~numpy_doc.crawled].any()
    hollins, facts = read(data_dir / "hollins.dat.gz"), data_dir.facts["hollins.dat.gz"]
    assert int((np.diff(hollins.offsets) == 0).sum()) == facts.dangling
    assert len(hollins.seeds()) == facts.roots


@pytest.mark.data
def test_a_recorded_crawl_has_the_shape_of_the_web(data_dir: Recordings) -> None:
    """A few pages have much of the links, most links stay on their host, and there are cycles; made as recorded."""
    for name in (name for name, facts in data_dir.facts.items() if facts.pages < 10_000):
        recording = read(data_dir / name)
        links_in = np.sort(np.bincount(recording.targets, minlength=recording.pages))[::-1]
        assert links_in[0] > 10 * links_in.mean(), name
        assert links_in[: len(links_in) // 100 + 1].sum() > 0.05 * links_in.sum(), name
        back = {*zip(recording.targets[:100_000].tolist(), recording.sources[:100_000].tolist(), strict=True)}
        assert any(
            a != b and (a, b) in back
            for a, b in zip(recording.sources.tolist(), recording.targets.tolist(), strict=True)
        )
    hollins = read(data_dir / "hollins.dat.gz")
    hosts = [url.split("/")[2] for url in hollins.urls]
    inside = sum(hosts[a] == hosts[b] for a, b in zip(hollins.sources.tolist(), hollins.targets.tolist(), strict=True))
    assert 0.5 < inside / hollins.links < 1
