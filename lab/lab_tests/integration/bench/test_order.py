"""A live brain beside the simulated orders: its curve is of the pages it has fetched, and near what was simulated."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from graphbrain import Brain
from graphbrain.base.errors import BadInput
from graphbrain.base.settings import Settings
from graphbrain_lab.bench import order
from graphbrain_lab.bench.order import Curve, Live
from graphbrain_lab.recording import Recording

VALUE = Settings().value


@pytest.fixture(scope="module")
def recording() -> Recording:
    """Pages that each lead to the next, and to some popular ones."""
    dice = np.random.default_rng(7)
    sources = np.concatenate([np.arange(149), np.repeat(np.arange(150), 3)])
    targets = np.concatenate([np.arange(1, 150), (dice.random(450) ** 2 * 150).astype(np.int64)])
    return Recording.of(sources, targets, pages=150, name="small")


def test_a_brain_without_lag_is_about_as_good_as_its_order(
    make_brain: Callable[..., Brain], recording: Recording
) -> None:
    web = order.web_of(recording, [0])
    curves, shares = order.simulated(web, [VALUE])
    exact = next(curve for curve in curves if curve.name == VALUE)
    for way in ("best_first", "optimal"):
        brain = make_brain()
        how = Live(workers=0, pushes_per_page=5, batch=10, order=way)
        found = order.live(brain, recording, web, shares, VALUE, how)
        assert found.fetched == len(web)
        assert found.pagerank[-1] == pytest.approx(1.0)
        assert abs(found.area - exact.area) < 0.05
        assert brain.stats()["done"]["pushes"] > 0
        assert (brain.settings.value, brain.settings.order) == (VALUE, way)


def test_a_sitemap_tells_the_live_brain_too(make_brain: Callable[..., Brain], recording: Recording) -> None:
    web = order.web_of(recording, [0], sitemap=True)
    curves, shares = order.simulated(web, [VALUE])
    exact = next(curve for curve in curves if curve.name == VALUE)
    brain = make_brain()
    found = order.live(brain, recording, web, shares, VALUE, Live(workers=0, pushes_per_page=5, batch=10))
    assert found.fetched == len(web)
    assert abs(found.area - exact.area) < 0.05
    assert sum(page.hinted_by == "sitemap" for page in brain.dump_pages()) == len(web)


def test_what_is_fetched_when_it_is_stopped_is_told(make_brain: Callable[..., Brain], recording: Recording) -> None:
    web = order.web_of(recording, [0])
    _, shares = order.simulated(web, [], stop=lambda: True)
    stop = threading.Event()

    def after_some(_what: str, done: int, _of: int) -> None:
        if done >= 50:
            stop.set()

    found = order.live(make_brain(), recording, web, shares, VALUE, Live(0, None, 10), after_some, stop)
    assert 50 <= found.fetched < 100
    assert found.pagerank[-1] < 1.0
    assert found.at(1.0) == found.pagerank[-1]


def test_a_brain_with_pages_is_left_alone(brain: Brain, recording: Recording) -> None:
    brain.seed(["http://a.org/"])
    web = order.web_of(recording, [0])
    _, shares = order.simulated(web, [], stop=lambda: True)
    with pytest.raises(BadInput, match="needs an empty brain"):
        order.live(brain, recording, web, shares, VALUE, Live())


def test_curves_are_drawn(recording: Recording, tmp_path: Path) -> None:
    curves = [Curve(name, np.linspace(0.1, 1.0, 400), np.linspace(0.1, 1.0, 400), 400) for name in "ab"]
    order.draw(curves, recording.name, tmp_path / "order.png")
    assert (tmp_path / "order.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads(json.dumps(curves[0].row(0.5)))["of_omniscient"] == pytest.approx(curves[0].area / 0.5, abs=1e-3)
