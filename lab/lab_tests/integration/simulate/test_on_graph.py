"""The schedule of the graph against the simulator's: the same choices, page by page."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

import numpy as np

from graphbrain import Brain
from graphbrain.base.numeric.arrays import Floats, Ints
from graphbrain.schedule.change_rate import Prior
from graphbrain_lab.simulate import histories
from graphbrain_lab.simulate.on_graph import OnGraph, SimulatedClock
from graphbrain_lab.simulate.policies import LaneByLane, RevisitPolicy, Setting
from graphbrain_lab.simulate.simulation import Budget, run
from tests.integration.conftest import START, HandClock

MakeBrain = Callable[..., Brain]
assert SimulatedClock().at == START


def scramble_ids(brain: Brain) -> None:
    """The ids of pages that have gone are given to new ones, a while after, in whatever order they went."""
    gone = [f"http://gone.org/{n}" for n in range(200)]
    brain.seed(gone)
    for url in random.Random(3).sample(gone, len(gone)):
        brain.forget(url)
    time.sleep(1.5)


def test_the_graph_chooses_what_the_simulator_chooses(make_brain: MakeBrain, clock: HandClock) -> None:
    history = histories.synthetic(60, 25, seed=5)
    brain = make_brain()
    scramble_ids(brain)
    chosen: dict[str, list[list[int]]] = {"lanes": [], "graph": []}

    def watched(name: str, policy: RevisitPolicy) -> RevisitPolicy:
        choose = policy.choose

        def look(now: float, count: int, room: Ints | None) -> Ints:
            found = choose(now, count, room)
            chosen[name].append(sorted(found.tolist()))
            return found

        policy.choose = look  # type: ignore[method-assign]
        return policy

    def beliefs_of(policy: RevisitPolicy) -> tuple[Floats, Floats]:
        if isinstance(policy, LaneByLane):
            return policy.shape, policy.scale
        assert isinstance(policy, OnGraph)
        pages = [brain.page(url) for url in policy.urls]
        first = policy.prior
        shape = np.array([first.shape if page.rate_shape is None else page.rate_shape for page in pages])
        scale = np.array([first.scale if page.rate_scale is None else page.rate_scale for page in pages])
        return shape, scale

    policies: dict[str, RevisitPolicy] = {}

    def make(name: str) -> Callable[[Setting], RevisitPolicy]:
        def made(setting: Setting) -> RevisitPolicy:
            policy = LaneByLane(setting) if name == "lanes" else OnGraph(setting, brain, clock)  # type: ignore[arg-type]
            policies[name] = watched(name, policy)
            return policies[name]

        return made

    outcomes = {
        name: run(history, name, Budget(12.0), make=make(name), steps=2, prior=Prior(0.5, 5.0), reserve=0.05)
        for name in chosen
    }
    assert chosen["graph"] == chosen["lanes"]
    assert outcomes["graph"].freshness.tolist() == outcomes["lanes"].freshness.tolist()
    for graph, lanes in zip(beliefs_of(policies["graph"]), beliefs_of(policies["lanes"]), strict=True):
        assert np.allclose(graph, lanes, rtol=1e-6)
