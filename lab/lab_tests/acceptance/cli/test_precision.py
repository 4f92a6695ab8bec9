"""`graphbrain precision` as a user meets it: what it asks, what it leaves however it ends."""

from __future__ import annotations

import csv
import json
import re
import signal
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from graphbrain import Brain
from tests.acceptance.cli.test_cli import LONG, Run, alone, connected, on_terminal, one_sentence, run, started
from tests.plugin import eventually

__all__ = ["connected", "run"]  # fixtures

ONE = ("--engine", "exact", "--eps", "0.03", "--points", "1", "--rounds", "2")
PICTURES = ["exact-eps-0.03.png", "exact-eps-0.03.svg"]


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A recorded crawl of sixty pages."""
    dice = np.random.default_rng(5)
    pairs = np.stack([np.repeat(np.arange(60), 5), (dice.random(300) ** 2 * 60).astype(int)], axis=1)
    path = tmp_path / "small.edges"
    path.write_text("".join(f"{a} {b}\n" for a, b in pairs), encoding="utf-8")
    return path


def trials(path: Path) -> list[str]:
    """The trials of a CSV file, in their order."""
    with path.open(encoding="utf-8") as file:
        return list(dict.fromkeys(row["trial"] for row in csv.DictReader(file)))


def test_a_table_files_and_pictures(run: Run, small: Path, tmp_path: Path) -> None:
    out = tmp_path / "new" / "folder"
    done = run("precision", small, *ONE, "--window", "0.25", "--engine", "both", "--out", out, "--yes")
    assert done.returncode == 0, done.stderr
    head, *rows = (line.split("\t") for line in done.stdout.splitlines())
    assert head == ["run", "side", "fetched", "round", "L1", "largest", "top 1%", "tau", "1 step"]
    assert len(rows) == 2 * 2 * (1 + 2)
    assert all(re.fullmatch(r"(eps|window) [\d.]+", row[0]) for row in rows)
    assert all(float(row[place]) >= 0 for row in rows for place in (4, 5, 6, 8))
    assert trials(out / "points.csv") == trials(out / "scores.csv") == ["exact, eps 0.03", "classic, window 0.25"]
    assert {*PICTURES, "points.csv", "scores.csv"} < {path.name for path in out.iterdir()}


def test_it_asks_before_anything_is_lost(run: Run, brain: Brain, small: Path, tmp_path: Path) -> None:
    brain.remake(delay_seconds=0.0, max_links=77)
    asked = run("precision", small, *ONE, "--out", tmp_path / "out", input="n\n")
    assert "The brain loses its own delay_seconds, max_links. Go on?" in asked.stderr
    brain.seed(["http://a.example/"])
    asked = run("precision", small, *ONE, "--out", tmp_path / "out", input="n\n")
    assert asked.returncode == 1
    assert "its 1 page and its own delay_seconds" in asked.stderr
    assert brain.stats()["pages"] == 1
    assert run("precision", small, *ONE, "--out", tmp_path / "out", "--json", input="y\n").returncode == 0
    brain.tend(0)
    assert (brain.settings.max_links, brain.settings.eps) == (5_000, 0.03)


@pytest.mark.parametrize(
    "make", [lambda path: path.write_text("x"), lambda path: (path / "out/points.csv").mkdir(parents=True)]
)
def test_where_nothing_can_be_written_nothing_is_begun(
    make: Callable[[Path], object], small: Path, tmp_path: Path
) -> None:
    make(tmp_path / "it")
    # There is no server either: that it would say next.
    done = alone("precision", small, "--out", tmp_path / "it" / "out", GRAPHBRAIN_DATA=str(tmp_path / "none"))
    one_sentence(done, "Nothing can be written into", "--out")


def test_ctrl_c_keeps_what_is_done(connected: dict[str, str], small: Path, tmp_path: Path) -> None:
    many = [word for number in range(1, 100) for word in ("--eps", number / 100)]
    out = tmp_path / "out"
    arguments = ("precision", small, "--engine", "exact", *many, "--points", 2, "--rounds", 1, "--out", out, "--yes")
    with started(connected, *arguments, "--json") as process:
        eventually((out / "exact-eps-0.01.svg").exists, "the first picture", process)
        process.send_signal(signal.SIGINT)
        printed, said = process.communicate(timeout=LONG)
    assert process.returncode == 130, said
    assert "Traceback" not in said
    assert "interrupted" in said
    found = trials(out / "points.csv")
    assert 1 <= len(found) < 99
    assert found == list(dict.fromkeys(json.loads(line)["trial"] for line in printed.splitlines()))
    assert found == trials(out / "scores.csv")


def test_the_brain_as_it_stands(run: Run, connected: dict[str, str], brain: Brain, small: Path, tmp_path: Path) -> None:
    """No question is asked, for nothing is lost."""
    one_sentence(run("precision", "--out", tmp_path / "none"), "no pages yet")
    assert run("replay", small).returncode == 0
    brain.change(eps=0.1)
    pages = brain.stats()["pages"]
    code, seen = on_terminal(connected, "precision", "--rounds", "2", "--out", tmp_path)
    assert (code, "Go on?" in seen) == (0, False)
    assert [line.split()[:4] for line in seen.splitlines()[1:3]] == [
        ["eps", "0.1", "hub", f"{pages}"],
        ["eps", "0.1", "authority", f"{pages}"],
    ]
    assert all(len(line) <= 80 for line in seen.splitlines())
    assert {"exact-eps-0.1.png", "points.csv", "scores.csv"} < {path.name for path in tmp_path.iterdir()}
    assert len((tmp_path / "scores.csv").read_text().splitlines()) == 1 + pages
    wrong = run("precision", "--eps", "0.1", "--catch-up")
    assert wrong.returncode == 2
    assert "--eps, --catch-up: that is for a FILE" in wrong.stderr
