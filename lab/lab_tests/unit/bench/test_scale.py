"""The webs of `bench scale`, the comparison of sizes, and what is refused before any work."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from graphbrain.base.errors import BadInput
from graphbrain_lab.bench import crawl, scale
from graphbrain_lab.bench.scale import Sized


def sized(pages: int, **costs: float) -> Sized:
    every = {**dict.fromkeys(scale.UNITS, 2.0), **costs}
    return Sized(pages, 10 * pages, {"import": 1.0}, every, {"0": 0}, 1.0, 2, 3.0, 4.0)


def test_what_grows_beyond_the_allowance_is_named() -> None:
    first = sized(1_000)
    assert scale.beyond(first, sized(3_000)) == {}
    assert scale.beyond(first, sized(3_000, disk=2.0 * scale.ALLOWED, dump=0.1)) == {}
    assert scale.beyond(first, sized(3_000, settle=3.0, disk=2.0)) == {"settle": 1.5}


def test_a_web_has_ten_links_a_page_and_pages_that_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crawl, "PART_PAGES", 300)
    parts = list(crawl.web_parts(1_000, 10, 10))
    assert len(parts) == 4
    sources, targets = (np.concatenate(side) for side in zip(*parts, strict=True))
    assert np.bincount(sources, minlength=1_000).tolist() == [0 if page % 10 == 0 else 10 for page in range(1_000)]
    assert targets.min() >= 0 and targets.max() < 1_000
    inside = (sources // 100 == targets // 100).mean()
    assert 0.5 < inside < 0.65  # half, and by chance a tenth of the others
    crawl.write_web(tmp_path / "web.tsv", parts)
    rows = [tuple(map(int, line.split("\t"))) for line in (tmp_path / "web.tsv").read_text("utf-8").splitlines()]
    assert rows == list(zip(sources.tolist(), targets.tolist(), strict=True))


def test_a_web_of_no_round_size_stays_within_it() -> None:
    ((sources, targets),) = crawl.web_parts(1_050, 10)
    assert len(sources) == 10_500 and targets.max() < 1_050


def test_refusals_come_first(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    with pytest.raises(BadInput, match="1,000 pages at least, not with 999"):
        next(scale.run([5_000, 999], tmp_path / "neo4j"))
    (tmp_path / "neo4j-scale-2000").mkdir()
    with pytest.raises(BadInput, match="neo4j-scale-2000 exists already; remove it"):
        next(scale.run([2_000], tmp_path / "neo4j"))
    assert (tmp_path / "neo4j-scale-2000").is_dir()
