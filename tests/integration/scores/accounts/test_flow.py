"""Flow, the one-pass cash of OPIC, spent by reports: whatever becomes of links, it is what in-links have passed on."""

from __future__ import annotations

import random
from collections.abc import Callable

import neo4j as driver
import pytest

from graphbrain import Brain, Failed, Fetched
from graphbrain.base.numeric.rules import SEED_FLOW
from tests.integration.conftest import HandClock, sound

MakeBrain = Callable[..., Brain]
A, B, C, D, E = (f"http://{letter}.org/" for letter in "abcde")


def flows(brain: Brain, *urls: str) -> list[float]:
    """In seeds' first flows."""
    return [brain.page(url).flow / SEED_FLOW for url in urls]


def test_a_page_that_is_read_passes_on_what_it_has(brain: Brain) -> None:
    brain.seed([A])
    brain.report([Fetched(A, [B, C])])
    assert flows(brain, A, B, C) == pytest.approx([1.0, 0.425, 0.425])
    assert brain.page(A).flow_paid == pytest.approx(0.425 * SEED_FLOW)
    brain.report([Fetched(B, [C, D])])
    each = 0.85 * 0.425 / 2
    assert flows(brain, A, B, C, D) == pytest.approx([1.0, 0.425, 0.425 + each, each])
    sound(brain)


def test_pages_of_one_report_pass_on_what_they_had_before_it(brain: Brain) -> None:
    brain.seed([A, B])
    brain.report([Fetched(A, [B]), Fetched(B, [C])])
    assert flows(brain, A, B, C) == pytest.approx([1.0, 1.85, 0.85])
    sound(brain)


def test_a_page_that_is_read_again_pays_the_difference(brain: Brain, clock: HandClock) -> None:
    brain.seed([A])
    brain.report([Fetched(A, [B, C])])
    clock.pass_(1.0)
    brain.report([Fetched(A, [C, D, E])])
    third = 0.85 / 3
    assert flows(brain, B, C, D, E) == pytest.approx([0.0, third, third, third])
    clock.pass_(1.0)
    brain.report([Fetched(A, [])])
    assert flows(brain, C, D, E) == [0.0, 0.0, 0.0]
    sound(brain)


def test_seeds_begin_with_flow_and_whoever_is_one_no_more_loses_it(brain: Brain, clock: HandClock) -> None:
    brain.seed([A])
    brain.report([Fetched(A, [B, C])])
    brain.seed([A, B])
    assert flows(brain, A, B) == pytest.approx([1.0, 1.425])
    sound(brain)
    brain.seed([D])
    clock.pass_(1.0)
    brain.report([Fetched(D, status=301, redirected_to=E)])  # which is a seed by that
    assert flows(brain, D, E) == [1.0, 1.0]
    sound(brain)
    clock.pass_(1.0)
    brain.report([Fetched(D, [])])
    brain.tend(None)
    assert (brain.page(E).is_seed, flows(brain, D, E)) == (False, [1.0, 0.0])
    sound(brain)


def test_links_by_hand_and_forgotten_pages_take_their_part_along(brain: Brain) -> None:
    brain.seed([A])
    brain.report([Fetched(A, [B, C])])
    brain.link(A, D)
    assert flows(brain, B, D) == pytest.approx([0.425, 0.425])
    brain.unlink(A, B)
    assert flows(brain, B) == [0.0]
    sound(brain)
    brain.forget(A)
    assert flows(brain, C, D) == [0.0, 0.0]
    sound(brain)


def test_a_redirect_brings_its_in_links_flow_to_its_target(brain: Brain, clock: HandClock) -> None:
    brain.seed([A])
    brain.report([Fetched(A, [B])])
    clock.pass_(1.0)
    brain.report([Fetched(B, status=301, redirected_to=C)])
    assert flows(brain, B, C) == pytest.approx([0.85, 0.0])
    brain.tend(None)
    assert flows(brain, B, C) == pytest.approx([0.0, 0.85])
    sound(brain)


@pytest.mark.parametrize("engine", ["exact", "classic"])
def test_flow_is_kept_through_churn_conversion_and_weights(
    make_brain: MakeBrain, clock: HandClock, engine: str
) -> None:
    brain, dice = make_brain(engine=engine, intra_host_weight=0.25), random.Random(1)
    web = [f"http://{'ab'[n % 2]}.org/{n}" for n in range(20)]
    brain.seed(web[:10])
    for _ in range(6):
        batch = dice.sample(web, 5)
        brain.report([Fetched(url, dice.sample(web, 4)) for url in batch[:4]])
        brain.report([Failed(batch[4], status=404)])
        clock.pass_(1.0)
    sound(brain)
    brain.change(intra_host_weight=0.5)
    brain.tend(None)
    sound(brain)
    before = {url: brain.page(url).flow for url in web}
    brain.convert_engine("classic" if engine == "exact" else "exact")
    assert {url: brain.page(url).flow for url in web} == before
    sound(brain)
    assert max(before.values()) > 1.5 * SEED_FLOW


def test_nothing_is_passed_on_where_no_value_asks_for_it(make_brain: MakeBrain) -> None:
    brain = make_brain(value="authority")
    brain.seed([A, B])
    brain.report([Fetched(A, [B, C])])
    assert flows(brain, A, B, C) == [1.0, 1.0, 0.0]
    brain.change(value="flow in_links")
    brain.report([Fetched(B, [C])])
    assert flows(brain, B, C) == pytest.approx([1.0, 0.85])
    sound(brain)


def test_an_audit_tells_of_flow_that_nobody_has_passed_on(brain: Brain, raw: driver.Driver) -> None:
    brain.seed([A])
    brain.report([Fetched(A, [B, C])])
    for page, told in ((C, 4251.0), (B, 4249.0)):
        raw.execute_query("MATCH (p:Page {url: $url}) SET p.flow = $flow", url=page, flow=told)
    found = brain.audit(None)
    assert found.figures["wrong"]["flow"] >= 2
    for page in (B, C):
        raw.execute_query("MATCH (p:Page {url: $url}) SET p.flow = 4250.0", url=page)
    sound(brain)


def test_the_best_new_page_comes_first(make_brain: MakeBrain) -> None:
    """B has a whole page's flow, and C and D half of one each, whatever else they have in common."""
    for order in ("optimal", "best_first"):
        brain = make_brain(order=order, delay_seconds=0.0, value="flow")
        brain.seed([A, E])
        brain.report([Fetched(E, [C, D]), Fetched(A, [B])])
        assert next(iter(brain.next_urls(1))).url == B
