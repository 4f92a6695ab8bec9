"""`graphbrain bench traps` as a user meets it: crawls of small generated sites on a real graph, by processes."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from click.testing import Result

from graphbrain.base.errors import GraphbrainError
from lab_tests.benching import benched
from tests.plugin import Neo4j, emptied, eventually

Bench = Callable[..., Result]
SMALL = ("--pages", 90, "--order", "optimal", "--seed", 1)


@pytest.fixture
def bench(neo4j: Neo4j, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    """A function: words → what `graphbrain bench traps` did on the server, which is emptied."""
    with benched(neo4j, monkeypatch, "traps") as run:
        yield run


def lines(done: Result, measure: str) -> list[dict[str, Any]]:
    return [row for row in map(json.loads, done.stdout.splitlines()) if row["measure"] == measure]


def test_a_trap_and_a_look_alike_by_one_process_and_by_two(bench: Bench, neo4j: Neo4j) -> None:
    words = ("--shape", "growing-query", "--shape", "gallery", "--value", "live_pagerank plain_path")
    done = bench(*SMALL, *words, "--processes", 1, "--processes", 2, "--json")
    assert done.return_value == 0, done.output
    crawls = lines(done, "crawl")
    assert [(row["shape"], row["processes"]) for row in crawls] == [
        ("growing-query", 1),
        ("growing-query", 2),
        ("gallery", 1),
        ("gallery", 2),
    ]
    for row in crawls:
        assert (row["fetched"], row["wanted"]) == (30, 30)
        assert 0 < row["real"] <= 30
    for trap in lines(done, "trap"):
        assert trap["waited"][0] >= 10
        assert trap["mean"] == trap["least"] == pytest.approx(trap["real"][0] / 30, abs=1e-3)
        assert trap["good"] is (trap["real"][0] >= 27)
    for look_alike in lines(done, "look-alike"):
        assert (look_alike["real"], look_alike["waited"]) == ([30], [0])
        assert 0 < look_alike["mean"] < 1
        assert look_alike["good"] is None, "without harvest nothing is asked"
    with neo4j.open(crawl="test") as brain:
        assert brain.stats()["pages"] == 0, "it leaves an empty brain"


def test_it_exits_1_only_where_it_judges(bench: Bench) -> None:
    """Breadth first is caught by a query that grows."""
    words = ("--pages", 90, "--seed", 1, "--order", "breadth_first", "--shape", "growing-query", "--processes", 1)
    for more, exits in ((), 0), (("--judge",), 1):
        done = bench(*words, *more)
        assert done.return_value == exits, done.output
        head, row = (line.split("\t") for line in done.stdout.splitlines())
        assert dict(zip(head, row, strict=True))["good"] == "no"
        assert "0 of 1 lines that something is asked of are good enough" in done.stderr


def test_a_brain_that_holds_pages_is_not_emptied_unasked(bench: Bench, neo4j: Neo4j) -> None:
    with emptied(neo4j) as brain:
        brain.seed(["http://a.example/"])
    with pytest.raises(GraphbrainError, match="--yes lets 'traps' delete them"):
        bench(*SMALL)
    with neo4j.open(crawl="test") as brain:
        assert brain.stats()["pages"] == 1


def test_a_site_that_is_too_small(bench: Bench) -> None:
    with pytest.raises(GraphbrainError, match="at least 60 real pages, not 20"):
        bench("--pages", 20)


def test_ctrl_c_prints_what_is_measured(bench: Bench) -> None:  # noqa: ARG001  # it names the server
    command = [sys.executable, "-m", "graphbrain", "bench", "traps", "--pages", "60", "--processes", "1", "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    first = eventually(process.stdout.readline, "a crawl", process)
    process.send_signal(signal.SIGINT)
    rest, said = process.communicate()
    assert (process.returncode, "interrupted before" in said, "Traceback" in said) == (130, True, False), said
    told = [json.loads(line) for line in (first + rest).splitlines()]
    crawls, rows = ([row for row in told if (row["measure"] == "crawl") is each] for each in (True, False))
    assert len(crawls) == len(rows) >= 1
    assert {row["shape"] for row in crawls} == {row["shape"] for row in rows}
