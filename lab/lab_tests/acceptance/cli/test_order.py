"""`graphbrain bench order` as a user meets it, in memory: table, JSON lines, a picture, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from graphbrain.base.settings import Settings
from graphbrain.cli.app import cli
from graphbrain_lab.bench.order import AT

DEFAULT = Settings().value


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A recorded crawl of sixty pages."""
    path = tmp_path / "small.edges"
    path.write_text("".join(f"{a} {b}\n" for a in range(60) for b in (a + 1, a * a % 61)), encoding="utf-8")
    return path


def bench(*words: object) -> Result:
    return CliRunner().invoke(cli, ["bench", *map(str, words)], catch_exceptions=False)


def test_a_table_json_and_a_picture(small: Path, tmp_path: Path) -> None:
    picture = tmp_path / "order.png"
    done = bench("order", small, "--no-live", "--seed", "0", "--plot", picture)
    assert done.exit_code == 0, done.output
    head, *rows = (line.split("\t") for line in done.stdout.splitlines())
    assert head == ["area", "of best", "auth.", "1%", "2%", "5%", "10%", "20%", "30%", "50%", "order"]
    names = [row[-1] for row in rows]
    assert names[0] == "omniscient"
    assert {"breadth first", "OPIC of 2003", "authority, in lanes", DEFAULT, f"{DEFAULT}, in lanes"} < set(names)
    assert all(0.0 <= float(cell) <= 1.0 for row in rows for cell in row[:-1])
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "61 of 61 pages" in done.stderr

    told = [json.loads(line) for line in bench("order", small, "--no-live", "--json").stdout.splitlines()]
    assert [row["order"] for row in told] == names
    assert all(row["fetched"] == 61 and list(row["at"]) == [f"{part:g}" for part in AT] for row in told)
    assert all(row["curve"]["pagerank"][-1] == pytest.approx(1.0, abs=1e-4) for row in told)


def test_with_reach_flow_goes_on(small: Path) -> None:
    done = bench("order", small, "--no-live", "--seed", "0", "--value", "flow", "--reach", ".85", "--json")
    curves = {row["order"]: row["curve"] for row in map(json.loads, done.stdout.splitlines())}
    assert curves["flow"] == curves["reach, d 0.85"]


def test_with_a_sitemap_all_pages_are_known_at_once(small: Path) -> None:
    told = [bench("order", small, "--no-live", "--seed", "0", "--json", *more).stdout for more in ([], ["--sitemap"])]
    without, told_of_all = ({row["order"]: row for row in map(json.loads, text.splitlines())} for text in told)
    assert told_of_all["omniscient"]["area"] > without["omniscient"]["area"]


def test_several_values(small: Path) -> None:
    done = bench("order", small, "--no-live", "--value", "in_links", "--value", "flow in_links^.5", "--json")
    names = [json.loads(line)["order"] for line in done.stdout.splitlines()]
    assert {"in_links", "flow in_links^.5", "flow in_links^.5, in lanes"} < set(names)
    assert DEFAULT not in names


def test_a_directory_of_recordings(small: Path, tmp_path: Path) -> None:
    web = "".join(f"{a} {b}\n" for a in range(600) for b in (a + 1, a * a % 601, 0))
    (tmp_path / "large.edges").write_text(web, encoding="utf-8")
    (tmp_path / "README.md").write_text("What this is.\n", encoding="utf-8")
    done = bench("order", tmp_path, "--no-live", "--value", "in_links", "--seeds-each", 1)
    assert done.exit_code == 0, done.output
    assert "README.md is passed over" in done.stderr
    assert f"Not counted, for fewer than 500 pages are reached: {small.name}" in done.stderr
    told = bench("order", tmp_path, "--no-live", "--value", "in_links", "--seeds-each", 1, "--json").stdout
    rows = [json.loads(line) for line in told.splitlines()]
    assert [row["counted"] for row in rows if row["measure"] == "order of one web"] == [True, False]
    means = {row["order"]: row for row in rows if row["measure"] == "order of many webs"}
    assert means["omniscient"]["mean"] == 1.0
    assert means["in_links"]["webs"] == 1
    assert means["in_links"]["mean"] == pytest.approx(means["back-link count"]["mean"], abs=0.002)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["order"], "Missing argument 'FILE'"),
        (["order", "small", "--days", "30"], "No such option"),
        (["claim", "--seed", "1"], "No such option"),
        (["ingest", "small", "--no-live"], "No such option"),
    ],
)
def test_what_it_has_no_use_for_is_refused(small: Path, words: list[str], said: str) -> None:
    done = bench(*(small if word == "small" else word for word in words))
    assert (done.exit_code, said in done.output) == (2, True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--value", "own"], "products of live scores"),
        (["--reach", "1"], r"from 0 to \.99, not 1"),
        (["--seed", "99"], "no page with the id 99"),
        (["--plot", "order.gif"], "ends in .png"),
    ],
)
def test_what_cannot_be_is_said_before_any_work(small: Path, words: list[str], said: str) -> None:
    from graphbrain.base.errors import GraphbrainError

    with pytest.raises(GraphbrainError, match=said):
        bench("order", small, "--no-live", *words)
