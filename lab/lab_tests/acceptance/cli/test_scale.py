"""`graphbrain bench scale` on webs of some thousand pages: table, JSON lines, a plot, and nothing left behind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from graphbrain.cli.app import cli
from graphbrain_lab.bench import scale

pytest.importorskip("pyarrow")


def bench(*words: object) -> tuple[int, str, str]:
    done = CliRunner().invoke(cli, ["bench", "scale", *map(str, words)], catch_exceptions=False)
    return done.exit_code, done.stdout, done.stderr


@pytest.mark.long
@pytest.mark.nightly
@pytest.mark.timeout(3_600)
def test_sizes_are_measured_and_compared(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "costs.png"
    given = ["--data", tmp_path / "brain", "--memory", 700, "--size", 2_000, "--size", 1_000]
    code, out, _ = bench(*given, "--json", "--plot", picture)
    assert code == 0
    first, second, compared = map(json.loads, out.splitlines())
    for pages, sized in ((1_000, first), (2_000, second)):
        assert 0.97 * pages <= sized["pages"] <= pages  # a page that waits and has no in-link is not in the web
        assert 7 * pages < sized["links"] <= 9 * pages
        assert sized["costs"].keys() == scale.UNITS.keys()
        assert all(cost > 0 for cost in sized["costs"].values())
        assert sized["seconds"].keys() == {"import", "settle", "dump"}
        assert 0 < sized["server_mb"] < 4_000 and sized["disk_mb"] > 1
        assert 640 <= sized["memory_mb"] <= 700
    times = {name: second["costs"][name] / first["costs"][name] for name in scale.UNITS}
    assert compared["beyond"] == pytest.approx({name: ratio for name, ratio in times.items() if ratio > 1.3})
    assert (compared["pages"], compared["against"]) == (second["pages"], first["pages"])
    assert picture.stat().st_size > 10_000
    assert sorted(path.name for path in tmp_path.iterdir()) == ["costs.png"]


def test_words_that_have_no_use(tmp_path: Path) -> None:
    assert bench("--pages", 5)[0] == 2
    assert bench(tmp_path)[0] == 2
