"""A replay reads out of a file what an import reads, and where an import leaves a line out, it names the line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from graphbrain.base.errors import BadInput
from graphbrain.base.urls.normalization import spell
from graphbrain.files.reader import Source
from graphbrain.files.rows import depths, starts
from graphbrain_lab import recording
from graphbrain_lab.recording import Recording
from tests.recordings import Recordings, web_of
from tests.unit.files.test_formats import FORMATS, HOLLINS, NODES, ODD, harvest, links


def replayed(path: Path) -> set[tuple[str, str]]:
    """The links of a recording, by URL."""
    read = recording.read(path)
    sources, targets = read.distinct
    return {(read.urls[a], read.urls[b]) for a, b in zip(sources.tolist(), targets.tolist(), strict=True)}


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("name", FORMATS)
def test_odd_files(name: str, odd: str, tmp_path: Path) -> None:
    path = tmp_path / "odd.edges.tsv"
    path.write_bytes(ODD[odd](FORMATS[name]))
    if name == "nodes":
        (tmp_path / "odd.nodes.tsv").write_bytes(ODD[odd](NODES))
    assert replayed(path) == links(harvest(path))
    assert recording.read(path).pages == 3


@pytest.mark.parametrize("most", [1, 7, 64])
def test_blocks_of_any_size(most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Source.blocks, "__defaults__", (most,))
    (tmp_path / "nodes.nodes.tsv").write_text(NODES, encoding="utf-8")
    for name, text in FORMATS.items():
        path = tmp_path / f"{name}.edges.tsv"
        path.write_text(text, encoding="utf-8")
        assert replayed(path) == links(harvest(path)), name
        path.write_text(text + "1 2\n1 2 3\n1 x\n", encoding="utf-8")
        bad = text.count("\n") + 1 + (name in ("edges", "nodes", "hollins"))
        with pytest.raises(BadInput, match=rf"line {bad}: "):
            recording.read(path)


@pytest.mark.parametrize(
    "text",
    [
        HOLLINS.replace("a.org/", "a.org/x y"),
        "0 1 # tail\n1 2#http://a.org/\n2 0\n",
        "0 1 4 # tail\n1 2 4#http://a.org/\n2 0 4\n",
        *(f"7 {big}\n{big} 8\n{big} {big - 1}\n7 {big}\n7 0{big}\n" for big in (2**31 - 1, 2**32, 2**63 - 1)),
    ],
)
def test_a_space_a_comment_and_large_ids(text: str, tmp_path: Path) -> None:
    path = tmp_path / "e"
    path.write_text(text, encoding="utf-8")
    assert replayed(path) == links(harvest(path))


@pytest.mark.parametrize("line", ["-1 2", "1 2.0", "1 nan", "1 2 1e3", f"1 {2**63}", "1", "1 2 3 4", "a title"])
def test_what_an_import_leaves_out_is_an_error(line: str, tmp_path: Path) -> None:
    path = tmp_path / "e"
    path.write_text(f"1 2\n{line}\n2 1\n", encoding="utf-8")
    with pytest.raises(BadInput, match="e, line 2"):
        recording.read(path)


@pytest.mark.parametrize("name", ["hollins.dat.gz", "gr0.California.gz", "numpy-doc.edges.tsv.gz"])
def test_recorded_crawls(name: str, data_dir: Recordings) -> None:
    found, recorded = web_of(data_dir / name), recording.read(data_dir / name)
    spelt = found.left_out.refused + recorded.pages - found.pages
    assert spelt <= 2 * recorded.stand_ins + found.left_out.refused
    if recorded.stand_ins == 0:
        assert [spell(url) for url in found.urls] == list(recorded.urls)
        assert (found.targets == recorded.distinct[1]).all()


@pytest.mark.parametrize("seed", range(20))
def test_the_starts_of_an_import_are_the_seeds_of_a_replay(seed: int) -> None:
    dice = np.random.default_rng(seed)
    pages = int(dice.integers(1, 60))
    recorded = Recording.of(*dice.integers(0, pages, (2, int(dice.integers(1, 80)))), pages=pages)
    sources, targets = recorded.distinct
    offsets = np.concatenate([[0], np.cumsum(np.bincount(sources, minlength=pages))]).astype(np.int64)
    assert starts(offsets, targets, np.zeros(pages, bool)) == recorded.seeds()
    one = int(dice.integers(pages))
    assert ((depths(offsets, targets, [one]) >= 0) == recorded.reachable([one])).all()
