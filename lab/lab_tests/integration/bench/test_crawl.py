"""The benchmarks on a small recorded crawl: they run, and what they count is what is there. No time is looked at."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from graphbrain import Brain
from graphbrain.base.errors import BadInput
from graphbrain_lab import recording
from graphbrain_lab.bench import accounts, crawl, scores

PAGES = 150


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A recorded crawl in which each page leads to the next, and to some popular ones."""
    dice = np.random.default_rng(7)
    links = [(page, page + 1) for page in range(PAGES - 1)]
    links += [(page, int(dice.random() ** 2 * PAGES)) for page in range(PAGES) for _ in range(4)]
    path = tmp_path / "small.edges"
    path.write_text("".join(f"{a} {b}\n" for a, b in links), encoding="utf-8")
    return path


@pytest.mark.parametrize("writers", [0, 1])
def test_settle(brain: Brain, file: Path, writers: int) -> None:
    (found,) = accounts.settle(brain, recording.read(file), None, writers)
    assert (found["pages"], found["writers"]) == (PAGES, writers)
    links = len(recording.read(file).distinct[0])
    assert found["links"] == links if not writers else found["links"] <= links
    assert 0.0 < found["residual"] <= 1e-7
    assert found["rounds"] > 1
    assert found["payments"] > 0
    assert abs(found["gap"]) < 1e-6
    assert found["error_bound_after"] < (0.5 if writers else 1e-3)
    assert bool(found["writers_reports"]) == bool(writers)
    assert {"export", "solve"} <= set(found["seconds_of"])
    assert found["statement_seconds"]


def test_grow(brain: Brain, file: Path) -> None:
    brain.change(eps=0.001)
    steps = accounts.grow(brain, recording.read(file), None)
    assert [step["fetched"] for step in steps] == [PAGES * 6 // 10 + number for number in range(1, 6)]
    for step in steps:
        assert step["payments"] > 0
        # In so small a web what is learned of the sections of one page is as much as all accounts.
        assert 0 < step["writes_of_full"] < 2
        assert step["payments_of_full"] == pytest.approx(
            step["payments"] / (2 * step["links"] * step["full_rounds"]), abs=1e-4
        )
        assert 0.0 < step["l1_hub"] < 0.05
        assert 0.0 < step["l1_authority"] < 0.05
        assert step["top_authority"] > 0.5
    assert steps[0]["links"] < steps[-1]["links"] <= len(recording.read(file).distinct[0])


def test_rank(brain: Brain, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (crawl, scores):
        monkeypatch.setattr(module, "LARGE_PAGES", 1_000)
    monkeypatch.setattr(crawl, "LARGE_LINKS", 10_000)
    monkeypatch.setattr(crawl, "WARM_UP_PAGES", 10)
    crawl.filled(brain, recording.read(file), None)
    found = scores.rank(brain, recording.read(file))
    assert [one["measure"] for one in found] == ["rank: pagerank", "rank: hits"] * 2 + ["rank: read and write"]
    links = len(recording.read(file).distinct[0])
    assert [(one["pages"], one["links"]) for one in found] == [(1_000, 10_000)] * 2 + [(PAGES, links)] * 3
    assert all(one["iterations"] > 1 and 0.0 <= one["error"] < 1e-3 for one in found[:4])
    (ranking,) = brain.rankings()
    assert ranking.method == "pagerank"


def test_a_measure_without_a_file_imports_a_web_of_its_own(
    brain: Brain, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """And holds that against the live ingest of its first pages."""
    monkeypatch.setattr(crawl, "LARGE_PAGES", 300)
    monkeypatch.setattr(crawl, "LARGE_LINKS", 3_000)
    monkeypatch.setattr(crawl, "WARM_UP_PAGES", 10)
    sources, targets = crawl.large_web()
    links = set(zip(sources.tolist(), targets.tolist(), strict=True))
    imported, live_, times = crawl.bulk(brain, None, tmp_path, 40)
    assert (imported["way"], imported["pages"], live_["pages"]) == ("batches", 300, 40)
    assert imported["links"] == sum(source != target for source, target in links)
    assert times["times_as_fast_as_ingest"] == round(imported["links_per_second"] / live_["links_per_second"], 2)


def test_claims_are_measured_where_there_are_pages_to_claim(brain: Brain) -> None:
    with pytest.raises(BadInput, match="--pages 10000"):
        crawl.claim(brain, crawl.LEAST_PAGES - 1)
    assert brain.stats()["pages"] == 0
