"""Worlds drawn by seeds, and worlds with names, keep what docs/explanation/promises.md promises.

`graphbrain bench worlds` runs others; with `--seed N --hosts 4`, or `--named NAME`, one that has failed here. In half
of the worlds it has robots.txt and sitemaps beside the pages; `--hosts 1` where a world of all kinds has failed.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from graphbrain import Brain
from graphbrain.base.errors import GraphbrainError
from graphbrain_lab.bench.worlds import NAMED, World, WorldGoal, draw, from_json, named, to_json, try_world
from graphbrain_lab.bench.worlds.world import Crawler, Phase, WorldHost, WorldPage
from graphbrain_lab.simulate.on_graph import SimulatedClock
from lab_tests.benching import benched
from tests.plugin import Neo4j, emptied, eventually

SEEDS = [*range(1, 7), *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(7, 31))]
HOSTS = 4
OF_ALL_KINDS = (3, 4, 21)
"""Seeds whose worlds of one host have robots.txt and sitemaps that are claimed."""
Ground = tuple[Brain, SimulatedClock]


@pytest.fixture
def ground(neo4j: Neo4j) -> Iterator[Ground]:
    """An empty brain, and its clock."""
    emptied(neo4j).close()
    clock = SimulatedClock()
    with neo4j.open(crawl="test", auto_tend=False, clock=clock) as brain:
        yield brain, clock
        brain.clear()


def kept(world: World, ground: Ground) -> None:
    """Every promise is."""
    outcome = try_world(world, *ground)
    told = "\n".join(str(finding) for finding in outcome.findings[:20])
    assert outcome.ok, f"{world.size()}\n{told}"
    assert not outcome.log.cut
    assert outcome.log.attempts > 0


@pytest.mark.long
@pytest.mark.parametrize("seed", SEEDS)
def test_a_drawn_world(ground: Ground, seed: int) -> None:
    kept(draw(seed, HOSTS, kinds=False), ground)


@pytest.mark.long
@pytest.mark.parametrize("seed", OF_ALL_KINDS)
def test_a_drawn_world_of_all_kinds(ground: Ground, seed: int) -> None:
    world = draw(seed, 1)
    assert world.asks
    kept(world, ground)


@pytest.mark.long
@pytest.mark.parametrize("name", NAMED)
def test_a_named_world(ground: Ground, name: str) -> None:
    kept(named([name])[0], ground)


# ---------------------------------------------------------------- the command


def plain() -> World:
    """A world in which nothing is ill."""
    well = (Phase(0.0, "fetched"),)
    urls = tuple(f"http://a.example/{number}" for number in range(8))
    pages = (WorldPage("/", well, urls), *(WorldPage(f"/{number}", well) for number in range(8)))
    seeds, settings = ("http://a.example/",), {"delay_seconds": 1.0}
    return World(
        1, 0.5, (WorldHost("a.example", pages),), (Crawler("c0", 4),), seeds, settings, goals=(WorldGoal(99.0, urls),)
    )


@pytest.fixture
def bench(neo4j: Neo4j, monkeypatch: pytest.MonkeyPatch) -> Iterator[object]:
    """A function: words → what `graphbrain bench worlds` did on the server, which is emptied."""
    with benched(neo4j, monkeypatch, "worlds") as run:
        yield run


def test_a_world_that_keeps_all_promises(bench: object, tmp_path: Path) -> None:
    assert callable(bench)
    file = tmp_path / "world.json"
    file.write_text(to_json(plain()), encoding="utf-8")
    done = bench(file)
    assert (done.return_value, "1 world, 0 failed." in done.stderr) == (0, True), done.output
    assert done.stdout.startswith("ok")
    told = json.loads(bench(file, "--json").stdout)
    assert (told["ok"], told["findings"], told["attempts"]) == (True, [], 9)


def test_a_world_that_fails_is_shrunk_and_can_be_tried_again(bench: object, tmp_path: Path) -> None:
    """A goal that nobody can reach."""
    assert callable(bench)
    file = tmp_path / "world.json"
    urls = plain().goals[0].urls
    file.write_text(to_json(replace(plain(), goals=(WorldGoal(1.5, urls),))), encoding="utf-8")
    done = bench(file)
    assert (done.return_value, "1 world, 1 failed." in done.stderr) == (1, True), done.output
    assert "of 8 good pages were not claimed" in done.stdout
    shrunk = next(line for line in done.stdout.splitlines() if line.startswith("{"))
    assert len(from_json(shrunk).hosts[0].pages) < 4
    again = tmp_path / "again.json"
    again.write_text(done.stdout, encoding="utf-8")
    assert bench(again, "--no-shrink").return_value == 1


def test_a_brain_that_holds_pages_is_not_emptied_unasked(bench: object, neo4j: Neo4j) -> None:
    assert callable(bench)
    with emptied(neo4j) as brain:
        brain.seed(["http://a.example/"])
    with pytest.raises(GraphbrainError, match="--yes lets the worlds delete them"):
        bench("--named", "not-sent")
    with neo4j.open(crawl="test") as brain:
        assert brain.stats()["pages"] == 1


def test_ctrl_c_ends_it_in_order(bench: object, neo4j: Neo4j, tmp_path: Path) -> None:
    assert callable(bench)
    file = tmp_path / "worlds"
    file.write_text("\n".join([to_json(plain())] * 500), encoding="utf-8")
    command = [sys.executable, "-m", "graphbrain", "bench", "worlds", str(file)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    with neo4j.open(crawl="test") as brain:
        eventually(lambda: brain.stats()["pages"] > 4, "a crawl", process)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate()
        assert (process.returncode, "interrupted after" in said, "Traceback" in said) == (130, True, False), said
        assert brain.stats()["pages"] == 0, "it leaves an empty brain"
