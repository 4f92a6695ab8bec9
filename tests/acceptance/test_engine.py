"""`graphbrain engine`: from one engine to the other on the command line, also when it is killed on the way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from graphbrain import Brain, Fetched
from tests.plugin import PATIENCE, Neo4j, eventually

ROOT = Path(__file__).resolve().parents[2]
PAGES = 3_000
Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(neo4j: Neo4j) -> Iterator[Start]:
    """Start a command on the brain."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("GRAPHBRAIN_")}
    connection = {"GRAPHBRAIN_URI": neo4j.uri, "GRAPHBRAIN_USER": neo4j.user, "GRAPHBRAIN_PASSWORD": neo4j.password}
    known = {**kept, **connection, "GRAPHBRAIN_CRAWL": "test", "COLUMNS": "80", "PYTHONPATH": str(ROOT)}
    started: list[subprocess.Popen[str]] = []

    def run(*arguments: str, env: Mapping[str, str] = MappingProxyType({})) -> subprocess.Popen[str]:
        started.append(
            subprocess.Popen(
                [sys.executable, "-m", "graphbrain", *arguments],
                env={**known, **env},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
        return started[-1]

    yield run
    for process in started:
        process.kill()
        process.wait()


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=PATIENCE)
    return process.returncode, out, err


@pytest.fixture
def filled(brain: Brain) -> Brain:
    pages = [f"http://h{n % 50}.example/{n}" for n in range(PAGES)]
    for first in range(0, PAGES, 1000):
        brain.report([Fetched(pages[first], pages[first : first + 1000])])
    return brain


@pytest.mark.nightly
@pytest.mark.long
def test_killed_on_the_way_it_is_run_again(filled: Brain, start: Start) -> None:
    code, out, _ = ended(start("engine", "--json"))
    assert (code, json.loads(out)) == (0, {"engine": "exact", "changed": False})
    struck = start("engine", "classic")
    eventually(
        lambda: filled.graph.read(lambda tx: tx.one("brain/read")[0], "a test").get("converted_until"),
        "pages that are converted",
        struck,
    )
    struck.send_signal(signal.SIGKILL)
    struck.wait()
    code, out, err = ended(start("engine"))
    assert (code, "to_classic" in out, "graphbrain engine classic" in err) == (0, True, True)
    code, _, err = ended(start("top"))
    assert (code, "being converted" in err) == (1, True)
    code, out, err = ended(start("engine", "classic", "--json"))
    assert (code, json.loads(out)) == (0, {"engine": "classic", "changed": True}), err
    audit = filled.audit(None)
    assert audit.ok, audit.findings
    assert audit.figures["total_cash"] == pytest.approx(2 * (PAGES + 1))
    eventually(lambda: filled.tend(0.5, batch=500).pushes > 0, "pushes under the classic engine")
    code, out, _ = ended(start("engine", "exact"))
    assert (code, out.split()) == (0, ["name", "value", "engine", "exact"])
    audit = filled.audit(None)
    assert audit.ok, audit.findings
    assert audit.figures["error_bound"] < 1e-6, "settled by the command"


@pytest.mark.long
def test_whatever_engine_is_exported_it_converts_to_the_one_that_is_named(brain: Brain, start: Start) -> None:
    """Others refuse a brain of another engine, and say how to convert it; that must then be possible."""
    brain.seed(["http://a.example/"])
    brain.change(payout="trusted")
    code, _, err = ended(start("change", "engine=classic"))
    assert (code, "graphbrain engine classic" in err) == (1, True)
    for exported, other in (("classic", "exact"), ("exact", "classic")):
        env = {"GRAPHBRAIN_ENGINE": exported, "GRAPHBRAIN_EPS": "0.2"}
        code, _, err = ended(start("stats", env=env))
        assert (code, f"graphbrain engine {exported}" in err) == (1, True)
        code, out, _ = ended(start("engine", env=env))
        assert (code, out.split()) == (0, ["name", "value", "engine", other])
        code, out, err = ended(start("engine", exported, env=env))
        assert (code, out.split()) == (0, ["name", "value", "engine", exported]), err
        assert ("payout=trusted comes back with 'graphbrain engine exact'" in err) == (exported == "classic")
    brain.session.refresh()
    assert (brain.settings.payout, brain.settings.eps) == ("trusted", 0.03)


def test_an_unknown_engine_is_refused(brain: Brain, start: Start) -> None:  # noqa: ARG001
    code, _, err = ended(start("engine", "steam"))
    assert code == 2
    assert "steam" in err
