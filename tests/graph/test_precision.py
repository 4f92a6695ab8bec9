"""The precision experiment on a small crawl: what it measures is what the scores are, for both engines."""

from __future__ import annotations

import csv
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from graphbrain import Brain
from graphbrain.errors import BadInput
from graphbrain.measures import shares
from graphbrain.opichits import Floats
from graphbrain.precision import Run, Trial, run_trial, write_points, write_scores
from graphbrain.recording import Recording
from tests.conftest import Neo4j
from tests.reference.exported import export
from tests.reference.linear import solve

MakeBrain = Callable[..., Brain]


def recording(pages: int = 60) -> Recording:
    dice = np.random.default_rng(3)
    sources = np.repeat(np.arange(pages), 6)
    targets = (dice.random(len(sources)) ** 2 * pages).astype(int)
    return Recording.of(sources, targets, pages=pages, name="a small web")


def last(run: Run, side: str) -> float:
    return [point.distance.l1 for point in run.points if point.side == side and point.rounds is None][-1]


def test_the_exact_engine_is_measured_against_the_linear_system(make_brain: MakeBrain, neo4j: Neo4j) -> None:
    run = run_trial(make_brain(), Trial("exact", 1e-6), recording(), points=3, rounds=8, workers=0)
    there = export(neo4j)
    hub, authority = (shares(scores) for scores in solve(there.web))
    by_url = dict(zip(there.urls, zip(hub, authority, strict=True), strict=True))
    goal = np.array([by_url[url] for url in run.urls])
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
    run = run_trial(make_brain(), Trial("classic", 0.0), recording(), points=2, rounds=200, workers=0)
    ends = [point for point in run.points if point.rounds == 200]
    assert all(point.distance.l1 < 2e-2 for point in ends)
    assert 0.0 < last(run, "authority") <= 2.0
    places = [recording().index[url] for url in run.urls]
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
    from graphbrain.precision_plot import draw

    run = run_trial(make_brain(), Trial("exact", 0.03), recording(), points=2, rounds=3)
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
        run_trial(make_brain(), Trial("exact", 0.03), Recording.of([], []))


def test_stopped_it_measures_what_is_fetched(make_brain: MakeBrain) -> None:
    stop = threading.Event()
    halfway = run_trial(
        make_brain(), Trial("exact", 0.03), recording(), points=2, rounds=3, progress=lambda *_: stop.set(), stop=stop
    )
    assert {point.fetched for point in halfway.points} == {30}
    assert len(halfway.points) == 2 * (1 + 3)
    assert halfway.live.keys() == halfway.more.keys() == {"hub", "authority"}
    assert run_trial(make_brain(), Trial("exact", 0.03), recording(), stop=stop).points == []
