"""Scores that were computed from a dump are brought into a brain that has gone on since."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graphbrain import Brain, Fetched
from graphbrain.analyst import frames
from graphbrain.analyst.results import Results
from graphbrain.base.errors import BadInput
from graphbrain.base.numeric.arrays import Floats
from graphbrain.brain import bring
from graphbrain.graph import exports
from graphbrain.scores.accounts import forwards, settlement
from graphbrain.scores.ranking import algorithms
from graphbrain.scores.ranking.algorithms import LinkGraph
from tests.integration.conftest import HandClock

arrow = pytest.importorskip("pyarrow")

PAGES = 60


def urls(numbers: Any) -> list[str]:
    return [f"http://h{number % 4}.org/{number}" for number in numbers]


def crawl(brain: Brain, chance: np.random.Generator, count: int) -> None:
    """Report pages with random links."""
    for url in urls(chance.integers(0, PAGES, count)):
        brain.report([Fetched(url, urls(chance.integers(0, PAGES, 5)), relevance=float(chance.random()))])


def write(folder: Path, brain: Brain, kind: str, columns: dict[str, Floats], ids: Any, more: dict[str, Any]) -> str:
    """What a run on Spark leaves: scores by key in two files, in another order than that of the graph."""
    from pyarrow import parquet

    names = exports.urls(brain.graph, ids)
    keys = {page.url: page.key for page in brain.dump_pages()}
    order = np.random.default_rng(1).permutation(len(ids))
    table = arrow.table(
        {"key": [keys[names[int(ids[place])]] for place in order], **{name: columns[name][order] for name in columns}}
    )
    (folder / "scores").mkdir(parents=True)
    parquet.write_table(table.slice(0, 7), folder / "scores/part-0.parquet")
    parquet.write_table(table.slice(7), folder / "scores/part-1.parquet")
    manifest = {"version": 1, "kind": kind, "columns": list(columns), "pages": len(ids), **more}
    (folder / "manifest.json").write_text(json.dumps({**manifest, **frames.identity(brain.graph)}), "utf-8")
    return str(folder)


def accounts(brain: Brain, folder: Path) -> str:
    """The fixed point of all accounts, as files."""
    table = exports.links(brain.graph)
    system = settlement.system(table, exports.terms(brain.graph, table), brain.policy.rule)
    found = system.solve(tolerance=1e-12)
    columns = {"hub": found.hub, "authority": found.authority}
    return write(folder, brain, "settle", columns, table.ids, {"links": table.links, "iterations": 9, "residual": 1e-9})


def bound(brain: Brain) -> float:
    rule = brain.policy.rule
    error = brain.graph.read(lambda tx: brain.engine.looks.error_bound(tx, rule), "audit/waiting")
    assert error is not None
    return error


@pytest.mark.parametrize("made", [{}, {"intra_host_weight": 0.25}])
def test_accounts_are_settled_from_files(
    make_brain: Callable[..., Brain], tmp_path: Path, made: dict[str, Any]
) -> None:
    brain = make_brain(**made, eps=0.5)
    chance = np.random.default_rng(2)
    crawl(brain, chance, 50)
    folder = accounts(brain, tmp_path / "a")
    before = bound(brain)
    done = bring.settle(brain, folder)
    assert done.sides and not done.left
    assert bound(brain) < 1e-6 < before
    assert not brain.audit(None).findings

    crawl(brain, chance, 20)  # the files are old now: pages and links have come, links have gone
    brain.report([Fetched("http://h0.org/new", urls(range(10)))])
    done = bring.settle(brain, folder)
    assert not brain.audit(None).findings
    brain.change(eps=1e-4)
    assert brain.tend(None, passes=False).settled
    assert bound(brain) < 0.02 and not brain.audit(None).findings


def test_batch_scores_from_files(brain: Brain, tmp_path: Path, clock: HandClock) -> None:
    crawl(brain, np.random.default_rng(3), 30)
    table = exports.links(brain.graph)
    wanted = algorithms.pagerank(LinkGraph.of(table.offsets, table.targets)).columns
    started = brain.now()
    told = {"method": "pagerank", "damping": 0.85, "tolerance": 1e-9, "only_external": False, "content": False}
    told |= {"restart": None, "pages": table.pages, "links": table.links, "iterations": 5, "residual": 1e-9}
    told |= {"error": 1e-9, "converged": True, "started": started, "eigenvalue": None}
    more = {"links": table.links, "ranking": told, "later": {"trusted": None, "flow": 0.85, "base": 0.2}}
    folder = write(tmp_path / "r", brain, "rank", wanted, table.ids, more)
    clock.pass_(10.0)
    brain.report([Fetched("http://h0.org/new", urls(range(3)))])
    assert bring.rank(brain, folder) == (table.pages, table.pages)
    kept = brain.rankings()
    assert [(each.method, each.complete, each.started) for each in kept] == [("pagerank", True, started)]
    assert exports.column(brain.graph, table, "pagerank").tolist() == wanted["pagerank"].tolist()
    now = exports.links(brain.graph)
    assert np.isnan(exports.column(brain.graph, now, "pagerank")).sum() == now.pages - table.pages == 1


def test_live_pagerank_from_files(make_brain: Callable[..., Brain], tmp_path: Path) -> None:
    brain = make_brain(keep_live_pagerank=True)
    crawl(brain, np.random.default_rng(4), 40)
    account = brain.policy.rule.live_pagerank
    table = exports.links(brain.graph)
    _, scores = forwards.fixed_point(table, account, None, 1e-14)
    folder = write(tmp_path / "l", brain, "live_pagerank", {"live_pagerank": scores}, table.ids, {"links": table.links})
    assert bring.rank(brain, folder) == (table.pages, table.pages)
    found = exports.column(brain.graph, table, "live_pagerank")
    assert np.abs(found - scores).sum() <= 1e-6 * scores.sum()
    assert not brain.audit(None).findings


def test_what_is_of_another_brain_is_refused(make_brain: Callable[..., Brain], tmp_path: Path) -> None:
    brain = make_brain()
    crawl(brain, np.random.default_rng(5), 10)
    folder = accounts(brain, tmp_path / "a")
    with pytest.raises(BadInput, match="graphbrain settle --from"):
        bring.rank(brain, folder)
    manifest = json.loads((tmp_path / "a/manifest.json").read_text("utf-8"))

    def refused(why: str, **changed: Any) -> None:
        (tmp_path / "a/manifest.json").write_text(json.dumps({**manifest, **changed}), "utf-8")
        with pytest.raises(BadInput, match=why):
            bring.settle(brain, folder)

    refused("another brain", brain={**manifest["brain"], "created": 1.0})
    refused("setting alpha was 0.5", settings={**manifest["settings"], "alpha": 0.5})
    refused("scores of .* pages, not of", pages=manifest["pages"] + 1)
    refused("no scores that this version", version=2)
    with pytest.raises(BadInput, match="There is no manifest"):
        Results.open(str(tmp_path))
    (tmp_path / "a/manifest.json").write_text(json.dumps(manifest), "utf-8")
    brain.change(alpha=0.3)
    with pytest.raises(BadInput, match="dump the brain"):
        bring.settle(brain, folder)
    assert not brain.audit(None).findings
