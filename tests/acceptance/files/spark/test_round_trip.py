"""A brain is dumped, scored on a real Spark, and the scores are written back, beside a crawler and a worker."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graphbrain import Brain, Fetched
from graphbrain.analyst import frames
from graphbrain.base.numeric.arrays import Floats
from graphbrain.base.options.scores import RankOptions, checked
from graphbrain.brain import bring
from graphbrain.graph import exports
from graphbrain.scores.accounts import forwards, settlement, solve
from graphbrain.scores.ranking import algorithms
from graphbrain.scores.ranking.algorithms import LinkGraph, Until
from tests.acceptance.files.spark.conftest import MASTER

pytest.importorskip("pyspark", reason="needs the extra 'spark'")
pytestmark = [pytest.mark.long, pytest.mark.timeout(3_600)]

from graphbrain.files.spark import runs  # noqa: E402
from graphbrain.files.spark.runs import On  # noqa: E402

PAGES = 400
ON = On(MASTER, blocks=3)


def urls(numbers: Any) -> list[str]:
    return [f"http://h{number % 5}.org/{number}" for number in numbers]


def visit(chance: np.random.Generator, number: int) -> Fetched:
    links = urls((PAGES * chance.random(6) ** 2).astype(int))
    return Fetched(urls([number])[0], links, relevance=float(chance.random()))


@dataclass
class Beside:
    """What was reported beside the runs: the links of each page's last report."""

    last: dict[str, set[str]] = field(default_factory=dict)
    pushes: int = 0
    errors: list[BaseException] = field(default_factory=list)


@contextmanager
def crawling(brain: Brain) -> Iterator[Beside]:
    """One thread that reports and one that pushes, until the end of the block."""
    over, beside = threading.Event(), Beside()

    def until_over(work: Callable[[], None]) -> threading.Thread:
        def run() -> None:
            try:
                while not over.is_set():
                    work()
                    over.wait(0.2)
            except BaseException as error:  # noqa: BLE001  # the test shows it
                beside.errors.append(error)

        return threading.Thread(target=run)

    chance = np.random.default_rng(8)

    def report() -> None:
        item = visit(chance, int(chance.integers(0, PAGES + 20)))
        (answer,) = brain.report([item])
        assert answer.accepted
        beside.last[item.url] = {str(link) for link in item.links} - {item.url}

    def push() -> None:
        beside.pushes += brain.tend(0.2, passes=False).pushes

    threads = [until_over(report), until_over(push)]
    for thread in threads:
        thread.start()
    try:
        yield beside
    finally:
        over.set()
        for thread in threads:
            thread.join()


class Wanted:
    """The scores of a brain as it is, computed in memory, by key."""

    def __init__(self, brain: Brain) -> None:
        table = exports.links(brain.graph)
        keys = {page.url: page.key for page in brain.dump_pages()}
        names = exports.urls(brain.graph, table.ids)
        self.keys = [keys[names[int(page)]] for page in table.ids]
        rule, terms = brain.policy.rule, exports.terms(brain.graph, table)
        system = settlement.system(table, terms, rule)
        settled = system.solve(tolerance=1e-13)
        self.accounts = {"hub": settled.hub, "authority": settled.authority}
        ranked = algorithms.pagerank(LinkGraph.of(table.offsets, table.targets), until=Until(1e-9, 300))
        self.pagerank = dict(ranked.columns)
        weights = solve.link_weights(table.offsets, table.targets, terms.hosts, rule.intra_host_weight)
        _, live = forwards.fixed_point(table, rule.live_pagerank, weights, 1e-14)
        self.live = {"live_pagerank": live}

    def distance(self, wanted: dict[str, Floats], folder: Path) -> float:
        """The largest L1 distance of a column of the files, relative to its sum."""
        from pyarrow import dataset

        table = dataset.dataset(folder / "scores", format="parquet").to_table().to_pydict()
        assert sorted(table["key"]) == sorted(self.keys)
        place = {key: number for number, key in enumerate(table["key"])}
        order = [place[key] for key in self.keys]
        assert table.keys() - {"key"} == wanted.keys()
        return max(
            float(np.abs(np.array(table[name])[order] - column).sum() / column.sum()) for name, column in wanted.items()
        )


def test_there_and_back_beside_a_crawl(make_brain: Callable[..., Brain], tmp_path: Path) -> None:
    brain = make_brain(intra_host_weight=0.25, alpha=0.3, eps=0.05, keep_live_pagerank=True)
    chance = np.random.default_rng(7)
    for number in range(0, PAGES, 2):
        brain.report([visit(chance, number)])
    for url, payout in zip(urls([0, 2, 4]), (0.0, 3.0, 0.5), strict=True):
        brain.set_page(url, payout=payout)
    wanted = Wanted(brain)
    dump = tmp_path / "dump"
    frames.dump(brain.graph, dump, brain.now)
    places = {name: tmp_path / name for name in ("pagerank", "settled", "live", "audit")}
    with crawling(brain) as beside:
        runs.rank(str(dump), str(places["pagerank"]), checked(RankOptions("pagerank")), ON)
        settled = runs.settle(str(dump), str(places["settled"]), ON)
        runs.live_pagerank(str(dump), str(places["live"]), ON)
        audit = runs.audit(str(dump), str(places["audit"]), ON)
        scores, written = bring.rank(brain, str(places["pagerank"]))
        done = bring.settle(brain, str(places["settled"]))
        bring.rank(brain, str(places["live"]))
    assert not beside.errors and beside.last
    assert wanted.distance(wanted.pagerank, places["pagerank"]) <= 1e-9
    assert settled["error"] <= 1e-7 and wanted.distance(wanted.accounts, places["settled"]) <= 1e-7
    assert wanted.distance(wanted.live, places["live"]) <= 1e-7
    assert audit["clean"], audit
    assert scores == written == len(wanted.keys) and done.pages and done.sides
    assert not brain.audit(None).findings
    for url, links in beside.last.items():
        assert {page.url for page in brain.links(url)} == links
    rule = brain.policy.rule
    brain.change(eps=1e-4)
    assert brain.tend(None, passes=False).settled
    bound = brain.graph.read(lambda tx: brain.engine.looks.error_bound(tx, rule), "audit/waiting")
    assert bound is not None and bound < 0.02
    assert not brain.audit(None).findings
