"""The precision experiment on a small crawl: what it measures is what the scores are, for both engines."""

from __future__ import annotations

import csv
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from graphbrain import Brain, Fetched
from graphbrain.base.errors import BadInput
from graphbrain.base.numeric.arrays import Floats
from graphbrain.graph.connection import Graph
from graphbrain.graph.exports import LinkTable
from graphbrain.scores.accounts import settlement
from graphbrain_lab.bench.compare import shares
from graphbrain_lab.bench.precision import PrecisionRun, PrecisionTrial, measure, run_trial, write_points, write_scores
from graphbrain_lab.recording import Recording
from tests.integration.conftest import Going, crowd, rounds
from tests.plugin import Neo4j
from tests.reference.exported import export
from tests.reference.linear import solve

MakeBrain = Callable[..., Brain]


def recording(pages: int = 60) -> Recording:
    dice = np.random.default_rng(3)
    sources = np.repeat(np.arange(pages), 6)
    targets = (dice.random(len(sources)) ** 2 * pages).astype(int)
    return Recording.of(sources, targets, pages=pages, name="a small web")


def last(run: PrecisionRun, side: str) -> float:
    return [point.distance.l1 for point in run.points if point.side == side and point.rounds is None][-1]


def test_the_exact_engine_is_measured_against_the_linear_system(make_brain: MakeBrain, neo4j: Neo4j) -> None:
    run = run_trial(make_brain(), PrecisionTrial("exact", 1e-6), recording(), points=3, rounds=8, workers=0)
    there = export(neo4j)
    hub, authority = (shares(scores) for scores in solve(there.web))
    by_url = dict(zip(there.urls, zip(hub, authority, strict=True), strict=True))
    goal = np.array([by_url[url] for url in list(run.named())])
    assert np.allclose(run.exact["hub"], goal[:, 0], rtol=1e-8)
    assert np.allclose(run.exact["authority"], goal[:, 1], rtol=1e-8)
    live = np.abs(run.live["hub"] - goal[:, 0]).sum()
    assert last(run, "hub") == pytest.approx(live, abs=1e-9)
    rounds = [point.distance.l1 for point in run.points if point.rounds]
    assert len(rounds) == 16
    assert rounds[-1] < rounds[0] / 5
    h, a = matrices(recording(), most=0.85)
    hub = np.ones(recording().pages)
    for number in range(8):
        authority = 1 + a @ hub
        hub = 1 + h @ authority
        at = [point.one_step for point in run.points if point.rounds == number + 1]
        steps = residual(hub, 1 + h @ (1 + a @ hub)), residual(authority, 1 + a @ (1 + h @ authority))
        assert at == pytest.approx(steps, rel=1e-6)
    assert all(point.one_step_exact < 1e-10 for point in run.points)


def test_the_classic_engine_is_measured_against_its_walk(make_brain: MakeBrain) -> None:
    run = run_trial(make_brain(), PrecisionTrial("classic", 0.0), recording(), points=2, rounds=200, workers=0)
    ends = [point for point in run.points if point.rounds == 200]
    assert all(point.distance.l1 < 2e-2 for point in ends)
    assert 0.0 < last(run, "authority") <= 2.0
    places = [recording().index[url] for url in list(run.named())]
    h, a = (matrix[np.ix_(places, places)] for matrix in matrices(recording()))
    for end, matrix in zip(ends, (h @ a, a @ h), strict=True):
        live, exact = run.more[end.side], run.exact[end.side]
        assert end.one_step == pytest.approx(residual(live, matrix @ live), rel=1e-6)
        assert end.one_step_exact == pytest.approx(residual(exact, matrix @ exact), rel=1e-6)


def matrices(recording: Recording, most: float = 1.0) -> tuple[Floats, Floats]:
    """H and A of opic-precision.py, dense; `most`: what is passed on at most, 1 − α with the exact engine."""
    sources, targets = recording.distinct
    out, into = (np.bincount(ends, minlength=recording.pages) for ends in (sources, targets))
    h, a = np.zeros((2, recording.pages, recording.pages))
    a[targets, sources] = np.minimum(1.0 / (out[sources] + 1), most / out[sources])
    h[sources, targets] = np.minimum(1.0 / (into[targets] + 1), most / into[targets])
    return h, a


def residual(before: Floats, after: Floats) -> float:
    """What opic-precision.py prints, of scores before and after a round."""
    return float(np.linalg.norm(after / after.sum() - before / before.sum(), ord=np.inf))


def test_files_and_pictures(make_brain: MakeBrain, tmp_path: Path) -> None:
    from graphbrain_lab.bench.precision_plot import draw

    run = run_trial(make_brain(), PrecisionTrial("exact", 0.03), recording(), points=2, rounds=3)
    for more in (False, True):
        write_points(tmp_path / "points.csv", run, more=more)
        write_scores(tmp_path / "scores.csv", run, more=more)
    with (tmp_path / "points.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * len(run.points) == 2 * 2 * (2 + 3)
    assert {"l1", "top", "tau", "one_step", "rounds"} <= set(rows[0])
    with (tmp_path / "scores.csv").open(encoding="utf-8") as file:
        scores = list(csv.DictReader(file))
    assert sum(float(row["authority_exact"]) for row in scores) == pytest.approx(2 * 1.0)
    drawn = draw(run, tmp_path / "exact-0.03")
    assert [path.name for path in drawn] == ["exact-0.03.png", "exact-0.03.svg"]
    assert all(path.stat().st_size > 10_000 for path in drawn)
    for write in (draw, lambda run, path: write_points(path / "points.csv", run)):
        with pytest.raises(BadInput, match="cannot be written"):
            write(run, tmp_path / "nowhere" / "exact")


def test_nothing_to_measure_is_a_sentence(make_brain: MakeBrain) -> None:
    with pytest.raises(BadInput, match="Nothing of"):
        run_trial(make_brain(), PrecisionTrial("exact", 0.03), Recording.of([], []))


def test_stopped_it_measures_what_is_fetched(make_brain: MakeBrain) -> None:
    stop = threading.Event()
    halfway = run_trial(
        make_brain(),
        PrecisionTrial("exact", 0.03),
        recording(),
        points=2,
        rounds=3,
        progress=lambda *_: stop.set(),
        stop=stop,
    )
    assert {point.fetched for point in halfway.points} == {30}
    assert len(halfway.points) == 2 * (1 + 3)
    assert halfway.live.keys() == halfway.more.keys() == {"hub", "authority"}
    assert run_trial(make_brain(), PrecisionTrial("exact", 0.03), recording(), stop=stop).points == []


# ---------------------------------------------------------------- a brain as it stands


def fetch_forty(brain: Brain) -> None:
    """Forty of sixty pages of four hosts; all are linked to."""
    dice = np.random.default_rng(4)
    pages = [f"http://h{n % 4}.org/{n}" for n in range(60)]
    for n in range(40):
        brain.report([Fetched(pages[n], [pages[n + 20], *(pages[m] for m in dice.integers(0, 60, 5) if m != n)])])


def standing(ask: Callable[..., list[list[object]]]) -> list[list[object]]:
    """All that stands in the database."""
    return ask("MATCH (n) OPTIONAL MATCH (n)-[r]->(m) RETURN id(n), properties(n), id(m), properties(r) ORDER BY 1, 3")


@pytest.mark.parametrize(
    "settings",
    [{}, {"intra_host_weight": 0.0, "alpha": 0.3, "payout": "fetched"}, {"engine": "classic"}],
    ids=["exact", "bent", "classic"],
)
def test_a_brain_is_measured_as_it_stands_and_not_touched(
    make_brain: MakeBrain, neo4j: Neo4j, ask: Callable[..., list[list[object]]], settings: dict[str, object]
) -> None:
    brain = make_brain(**settings)
    fetch_forty(brain)
    brain.tend(None)
    before = standing(ask)
    run = measure(brain, rounds=20)
    assert standing(ask) == before
    assert (run.trial.engine, len(run.points)) == (brain.settings.engine, 2 * (1 + 20))
    assert {(point.fetched, point.pages) for point in run.points} == {(40, 60)}
    assert list(run.named()) == [page.url for page in sorted(brain.dump_pages(), key=lambda page: page.id)]
    if brain.settings.engine == "exact":
        there = export(neo4j, brain.settings.intra_host_weight)
        by_url = dict(zip(there.urls, solve(there.web, brain.settings.alpha)[1], strict=True))
        goal = shares(np.array([by_url[url] for url in run.named()]))
        assert np.allclose(run.exact["authority"], goal, rtol=1e-8)
    live = np.array([brain.page(url).authority_score for url in run.named()])
    assert np.allclose(run.live["authority"], shares(live))
    assert last(run, "authority") == pytest.approx(np.abs(shares(live) - run.exact["authority"]).sum())
    assert last(run, "authority") < 0.2


def test_history_and_cash_are_what_a_classic_brain_may_tell(make_brain: MakeBrain) -> None:
    brain = make_brain(engine="classic", score="history_and_cash", root_share=0.2, relevance_rule="polynomial")
    fetch_forty(brain)
    brain.tend(None)
    run = measure(brain, rounds=2)
    live = np.array([brain.page(url).hub_score for url in run.named()])
    assert np.allclose(run.live["hub"], shares(live))


def test_a_brain_is_measured_beside_a_crawl(brain: Brain, second: Brain) -> None:
    """Pages that come and go while it is read are no reason to fail."""
    brain.report([Fetched(f"http://h.org/{n}", [f"http://h.org/{m}" for m in range(30)]) for n in range(20)])

    def crawl(going: Going) -> None:
        number = 0
        while going():
            number += 1
            second.report([Fetched(f"http://new.org/{number}", [f"http://h.org/{number % 30}", "http://x.org/"])])
            second.forget(f"http://h.org/{number % 30}")

    with crowd(crawl) as going:
        for _ in rounds(going, 2.0):
            run = measure(brain, rounds=1)
            assert len(list(run.named())) == run.points[0].pages
            assert all(np.isfinite(point.distance.l1) for point in run.points)


def test_pages_that_have_gone_are_left_out(brain: Brain, monkeypatch: pytest.MonkeyPatch) -> None:
    brain.report([Fetched("http://a.org/", [f"http://h.org/{n}" for n in range(9)])])
    brain.tend(None)
    read = settlement.exported

    def late(graph: Graph, table: LinkTable) -> settlement.Exported:
        brain.forget("http://h.org/3")
        return read(graph, table)

    monkeypatch.setattr(settlement, "exported", late)
    run = measure(brain, rounds=1)
    assert (run.points[0].pages, list(run.named()).count("")) == (10, 1)
    assert last(run, "authority") < 0.2


def test_an_empty_brain_cannot_be_measured(brain: Brain) -> None:
    with pytest.raises(BadInput, match="no pages yet"):
        measure(brain)
