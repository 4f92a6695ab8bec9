"""Scores of a real Spark, one driver and two executors on this machine, are those computed in memory."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from graphbrain.base.errors import BadInput, GraphbrainError
from graphbrain.base.numeric.arrays import Floats
from graphbrain.base.numeric.rules import Rule
from graphbrain.base.options.scores import RankOptions, checked
from graphbrain.graph.exports import LinkTable
from graphbrain.scores.accounts import forwards, solve
from graphbrain.scores.accounts.solve import System
from graphbrain.scores.ranking import algorithms
from graphbrain.scores.ranking.algorithms import LinkGraph, Scores, Until
from tests.acceptance.files.spark.conftest import MASTER
from tests.unit.files.spark import dumps

pytest.importorskip("pyspark", reason="needs the extra 'spark'")
pytestmark = [pytest.mark.long, pytest.mark.timeout(3_600)]

from graphbrain.files.spark import runs, steps  # noqa: E402
from graphbrain.files.spark.runs import On  # noqa: E402

PAGES, LINKS = 3_000, 20_000


class Known:
    """A dump, and what it was made from."""

    def __init__(self, folder: Path) -> None:
        self.offsets, self.targets = dumps.generated(PAGES, LINKS, 5)
        chance = np.random.default_rng(6)
        self.relevance = np.where(chance.random(PAGES) < 0.3, np.nan, chance.random(PAGES))
        self.payout = chance.integers(0, 3, PAGES).astype(np.float64)
        self.seed = chance.random(PAGES) < 0.01
        self.hosts = np.sort(chance.integers(0, 40, PAGES)).astype(np.int32)
        weights = solve.link_weights(self.offsets, self.targets, self.hosts, 0.4)
        self.system = System.of(
            self.offsets,
            self.targets,
            alpha=0.6,
            relevance=self.relevance,
            payout=self.payout,
            weights=weights,
        )
        self.settled = self.system.solve(tolerance=1e-14)
        account = Rule().live_pagerank
        table = LinkTable(np.arange(PAGES), self.offsets, self.targets)
        self.weights = weights
        out, self.live = forwards.fixed_point(table, account, weights, 1e-14)
        columns = {
            "is_seed": self.seed,
            "relevance": self.relevance,
            "payout": self.payout,
            **self._accounts(out, account.share),
        }
        self.folder = folder / "dump"
        self.keys = dumps.write(
            self.folder, self.offsets, self.targets, columns, self.hosts, alpha=0.6, intra_host_weight=0.4
        )

    def _accounts(self, out: Floats, share: float) -> dict[str, Floats]:
        """The columns of settled accounts."""
        into = solve.Weighted.of(self.offsets, self.targets, self.weights).turned().counts
        return {
            "hub": self.settled.hub,
            "authority": self.settled.authority,
            "hub_paid": self.settled.hub_paid,
            "authority_paid": self.settled.authority_paid,
            "out_weight": out,
            "in_weight": into,
            "live_pagerank": self.live,
            "live_pagerank_paid": np.where(out > 0, share * self.live / np.maximum(out, 1e-300), np.nan),
            "flow": np.where(self.seed, 10_000.0, 0.0),
            "flow_paid": np.zeros(PAGES),
        }

    def read(self, out: Path) -> dict[str, Floats]:
        """Scores by page, as they were written."""
        from pyarrow import dataset

        table = dataset.dataset(out / "scores", format="parquet").to_table()
        at = {key: place for place, key in enumerate(self.keys.tolist())}
        places = np.array([at[key] for key in table["key"].to_pylist()])
        assert sorted(places.tolist()) == list(range(PAGES))
        found = {}
        for name in table.column_names[1:]:
            found[name] = np.empty(PAGES)
            found[name][places] = table[name].to_numpy()
        return found


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Known:
    return Known(tmp_path_factory.mktemp("web"))


def wish(method: str, **options: Any) -> RankOptions:
    named = {"damping": None, "tolerance": None, "iterations": None, "only_external": False, "content": False}
    return checked(RankOptions(method, **{**named, "trusted": None, **options}))


def executors() -> list[int]:
    """The processes of the executors that this process has started."""
    found = []
    for each in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):  # it has just ended
            if any("CoarseGrainedExecutorBackend" in word for word in each.cmdline()):
                found.append(each.pid)
    return found


def killing(after: int) -> Callable[[int, float], None]:
    """Kill an executor after so many iterations."""

    def progress(number: int, _change: float) -> None:
        if number == after:
            some = executors()
            assert some
            os.kill(some[0], signal.SIGKILL)
            killed.append(some[0])

    killed: list[int] = []
    progress.killed = killed  # type: ignore[attr-defined]
    return progress


def test_pagerank_outlives_an_executor(known: Known, tmp_path: Path) -> None:
    told = wish("pagerank", damping=0.2)
    progress = killing(7)  # after a checkpoint
    manifest = runs.rank(str(known.folder), str(tmp_path / "out"), told, On(MASTER, blocks=3), progress)
    assert progress.killed  # type: ignore[attr-defined]
    wanted = algorithms.pagerank(LinkGraph.of(known.offsets, known.targets), damping=0.2, until=Until(1e-9))
    assert np.abs(known.read(tmp_path / "out")["pagerank"] - wanted.columns["pagerank"]).sum() <= 1e-9
    assert manifest["ranking"]["iterations"] == wanted.iterations and manifest["ranking"]["converged"]
    assert manifest["links"] == len(known.targets)
    assert sorted(path.name for path in (tmp_path / "out").iterdir() if path.suffix != ".crc") == [
        "manifest.json",
        "scores",
    ]


def wanted_scores(known: Known, told: RankOptions) -> Scores:
    """The scores of a method in memory."""
    web, until = LinkGraph.of(known.offsets, known.targets), Until(told.tolerance or 0.0, told.iterations or 1)
    relevance = np.where(np.isnan(known.relevance), 0.5, known.relevance)
    if told.method == "hits":
        return algorithms.hits(web, content=relevance, until=until)
    if told.method == "salsa":
        return algorithms.salsa(web)
    if told.method == "opic":
        return algorithms.opic(web, until=until)
    restart = relevance
    if told.method == "trustrank":
        web = LinkGraph.of(*algorithms.between_hosts(known.offsets, known.targets.astype(np.int32), known.hosts))
        restart = known.seed.astype(np.float64)
    return algorithms.pagerank(web, damping=told.damping or 0.0, restart=restart, until=until, name=told.method)


@pytest.mark.parametrize("method", ["personalised", "trustrank", "hits", "salsa", "opic"])
def test_other_methods(method: str, known: Known, tmp_path: Path) -> None:
    options = {"content": method == "hits", "only_external": method == "trustrank"}
    told = wish(method, **options, iterations=None if method == "salsa" else 3)
    runs.rank(str(known.folder), str(tmp_path / method), told, On(MASTER, blocks=2))
    found, scores = known.read(tmp_path / method), wanted_scores(known, told)
    assert found.keys() == scores.columns.keys()
    for name, column in scores.columns.items():
        assert np.abs(found[name] - column).sum() <= 1e-9, name


def test_live_pagerank(known: Known, tmp_path: Path) -> None:
    manifest = runs.live_pagerank(str(known.folder), str(tmp_path / "live"), On(MASTER, blocks=2))
    assert manifest["converged"] and manifest["error"] <= 1e-7
    (found,) = known.read(tmp_path / "live").values()
    assert np.abs(found - known.live).sum() <= 1e-7 * known.live.sum()


def test_accounts(known: Known, tmp_path: Path) -> None:
    manifest = runs.settle(str(known.folder), str(tmp_path / "settled"), On(MASTER, blocks=2), progress=killing(3))
    assert manifest["converged"] and manifest["error"] <= 1e-7
    found = known.read(tmp_path / "settled")
    for name, wanted in (("hub", known.settled.hub), ("authority", known.settled.authority)):
        assert np.abs(found[name] - wanted).sum() <= 1e-7 * wanted.sum()
    audit = runs.audit(str(known.folder), str(tmp_path / "audit"), On(MASTER, blocks=2))
    assert audit["clean"] and audit["error_bound"] < 1e-9, audit


def test_a_dump_that_is_not_whole_is_refused(known: Known, tmp_path: Path) -> None:
    import json
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(known.folder, copy)
    manifest = json.loads((copy / "manifest.json").read_text("utf-8"))
    manifest["sums"]["links"] += 1
    (copy / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    for source, out, why in (
        (copy, tmp_path / "out", "are not those of its manifest"),
        (tmp_path / "none", tmp_path / "out", "There is no"),
        (known.folder, known.folder, "exists already"),
    ):
        with pytest.raises(BadInput, match=why):
            runs.rank(str(source), str(out), wish("opic"), On(MASTER, blocks=2))
        assert not (tmp_path / "out").exists()


def test_an_error_of_spark_is_one_sentence(known: Known, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is left of the run."""
    monkeypatch.setattr(steps, "walk", _no_step)
    out = tmp_path / "out"
    with pytest.raises(GraphbrainError, match=r"^Spark gave up: AssertionError: no step\. .*--blocks") as raised:
        runs.rank(str(known.folder), str(out), wish("pagerank", damping=0.2), On(MASTER, blocks=2))
    assert "\n" not in str(raised.value) and not out.exists()


def _no_step(*_: Any) -> Any:
    raise AssertionError("no step")


def test_a_running_session_is_on_its_own_master(known: Known, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"in this process already, on local-cluster\[2,1,1024\]: stop that session"):
        runs.rank(str(known.folder), str(tmp_path / "out"), wish("opic"), On("local[1]"))
    with pytest.raises(BadInput, match=r"without spark\.executor\.memory=3g: stop that session first"):
        runs.rank(str(known.folder), str(tmp_path / "out"), wish("opic"), On(None, {"spark.executor.memory": "3g"}))
