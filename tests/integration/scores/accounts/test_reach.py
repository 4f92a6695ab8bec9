"""Reach: flow that a page passes on again whenever it gets more, until all of it is where the links take it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import neo4j as driver
import numpy as np
import pytest

from graphbrain import Brain, Fetched
from graphbrain.base.numeric.rules import FLOW_EPS, SEED_FLOW
from graphbrain.base.settings import ENGINES
from graphbrain.files.importer import run
from tests.integration.conftest import HandClock, sound
from tests.integration.scores.accounts.forwarding import convert_and_settle, crawl_on

MakeBrain = Callable[..., Brain]
A, B, C, D = (f"http://{letter}.org/" for letter in "abcd")
REACH = 0.8


def flows(brain: Brain, *urls: str) -> list[float]:
    """In seeds' first flows."""
    return [brain.page(url).flow / SEED_FLOW for url in urls]


def waiting(raw: driver.Driver) -> set[str]:
    """The pages with a mark."""
    found = raw.execute_query("MATCH (p:Page) WHERE p.flow_priority IS NOT NULL RETURN p.url AS url")
    return {row["url"] for row in found.records}


def solved(raw: driver.Driver) -> dict[str, tuple[float, float, str]]:
    """URL → (flow there should be, flow there is, state): s = first + Σ in-links REACH · s / out-links, in plain numpy,
    where aliases, and what was never read, pass none on."""
    rows = raw.execute_query(
        "MATCH (p:Page) RETURN p.url AS url, p.flow AS flow, p.is_seed AS seed, p.state AS state, "
        "p.first_fetched IS NOT NULL AND p.state <> 'alias' AS passes, [(p)-[:LINKS]->(q) | q.url] AS ends"
    ).records
    place = {row["url"]: n for n, row in enumerate(rows)}
    first = np.array([SEED_FLOW if row["seed"] else 0.0 for row in rows])
    system = np.eye(len(rows))
    for n, row in enumerate(rows):
        for end in row["ends"] if row["passes"] else ():
            system[place[end], n] -= REACH / len(row["ends"])
    due = np.linalg.solve(system, first)
    stored = [row["flow"] if row["flow"] is not None else start for row, start in zip(rows, first, strict=True)]
    return {row["url"]: (due[n], stored[n], row["state"]) for n, row in enumerate(rows)}


def assert_solved(brain: Brain, raw: driver.Driver) -> None:
    """The frontier's flow is right, within the bound that an audit tells."""
    bound = brain.audit(None).figures["frontier_flow_error"]
    assert bound == brain.stats()["frontier_flow_error"]
    frontier = [(due, got) for due, got, state in solved(raw).values() if state == "frontier"]
    error = sum(abs(due - got) for due, got in frontier)
    assert error <= bound * sum(got for _, got in frontier) + 1e-6
    assert bound < 5 * FLOW_EPS
    assert all(got == pytest.approx(due, rel=4 * FLOW_EPS, abs=1e-3) for due, got, _ in solved(raw).values())


def test_what_a_page_gets_after_it_was_read_goes_on(make_brain: MakeBrain, raw: driver.Driver) -> None:
    brain = make_brain(reach=REACH)
    brain.seed([A])
    brain.report([Fetched(A, [B]), Fetched(B, [C])])
    # B was read with A, before it had any; so it has a mark, and is pushed.
    assert flows(brain, A, B, C) == pytest.approx([1.0, REACH, 0.0])
    assert waiting(raw) == {B}
    sound(brain)
    done = brain.tend(None)
    assert done.settled
    assert flows(brain, A, B, C) == pytest.approx([1.0, REACH, REACH**2])
    assert waiting(raw) == set()
    sound(brain)


def test_on_a_circle_it_goes_round_until_little_is_missing(make_brain: MakeBrain, raw: driver.Driver) -> None:
    brain = make_brain(reach=REACH)
    brain.seed([A])
    brain.report([Fetched(A, [B]), Fetched(B, [C]), Fetched(C, [B, D])])
    assert brain.tend(None).settled
    assert_solved(brain, raw)
    # When nothing leads to the circle any more, its flow runs dry, and that comes to an end.
    brain.unlink(A, B)
    assert brain.tend(None).settled
    assert flows(brain, B, C, D) == pytest.approx([0.0, 0.0, 0.0], abs=1e-9)
    assert waiting(raw) == set()
    sound(brain)


@pytest.mark.parametrize("engine", ENGINES)
def test_it_is_right_after_any_crawl(make_brain: MakeBrain, clock: HandClock, raw: driver.Driver, engine: str) -> None:
    """Pages are read again with other links, redirect, fail, are forgotten; seeds come late; engines are converted."""
    brain, dice = make_brain(engine=engine, reach=REACH), random.Random(3)
    web = [f"http://{'abc'[n % 3]}.org/{n}" for n in range(40)]
    brain.seed(web[:2])
    for number in range(8):
        crawl_on(brain, clock, dice, web)
        sound(brain)
        if number == 4:
            brain.seed([web[7]])
            brain.forget(web[3])
    assert brain.tend(None).settled
    sound(brain)
    assert_solved(brain, raw)
    convert_and_settle(brain, engine, web, lambda: assert_solved(brain, raw))


@pytest.mark.parametrize("engine", ENGINES)
def test_it_may_be_set_later_and_taken_back(
    make_brain: MakeBrain, clock: HandClock, raw: driver.Driver, engine: str
) -> None:
    brain = make_brain(engine=engine, value="authority")
    brain.seed([A])
    brain.report([Fetched(A, [B, D])])
    clock.pass_(1.0)
    brain.report([Fetched(B, [A, C]), Fetched(D, status=301, redirected_to=C)])
    assert flows(brain, A, B, C, D) == [1.0, 0.0, 0.0, 0.0]
    brain.change(reach=REACH)
    assert waiting(raw) == {A}
    assert brain.tend(None).settled
    assert_solved(brain, raw)
    sound(brain)
    before = flows(brain, A, B, C, D)
    assert min(before[:3]) > 0.2
    brain.change(reach=REACH / 2)
    assert waiting(raw)
    brain.change(reach=0.0)
    assert waiting(raw) == set()
    brain.tend(None)
    assert flows(brain, A, B, C, D) == before
    assert brain.stats()["frontier_flow_error"] is None
    sound(brain)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_order_follows_it(make_brain: MakeBrain, engine: str) -> None:
    """The page that got flow after it was read lifts the page behind it."""
    brain = make_brain(engine=engine, reach=REACH, value="flow^10", order="best_first", delay_seconds=0.0)
    brain.seed([A])
    brain.report([Fetched(B, [C]), Fetched(D, ["http://e.org/"])])
    brain.link(A, B)
    brain.report([Fetched(A, [B])])
    before = brain.page(C).lane
    assert brain.tend(None).settled
    assert flows(brain, C) == pytest.approx([REACH**2])
    assert brain.page(C).lane < before
    assert next(iter(brain.next_urls(1))).url == C
    sound(brain)


def test_pages_of_too_many_links_are_left_alone(make_brain: MakeBrain, raw: driver.Driver) -> None:
    brain = make_brain(reach=REACH, max_payees=2)
    brain.seed([A])
    brain.report([Fetched(A, [B]), Fetched(B, [C, D, "http://e.org/"])])
    assert brain.tend(None).settled
    assert flows(brain, C) == [0.0]
    assert waiting(raw) == set()
    sound(brain)
    brain.unlink(B, D)
    assert waiting(raw) == {B}
    assert brain.tend(None).settled
    assert flows(brain, C) == pytest.approx([REACH**2 / 2])
    sound(brain)


def test_a_push_of_named_pages_passes_on_what_they_have(make_brain: MakeBrain, raw: driver.Driver) -> None:
    for engine in ENGINES:
        brain = make_brain(engine=engine, reach=REACH)
        brain.seed([A])
        brain.report([Fetched(A, [B]), Fetched(B, [C])])
        brain.tend(pages=[B])
        assert flows(brain, C) == pytest.approx([REACH**2])
        assert waiting(raw) == set()
        sound(brain)


@pytest.mark.parametrize("settle", [True, False])
def test_an_import_begins_with_it(make_brain: MakeBrain, raw: driver.Driver, tmp_path: Path, settle: bool) -> None:
    dice, web = random.Random(7), [f"http://{'abc'[n % 3]}.org/{n}" for n in range(60)]
    visits = [{"url": web[n], "links": [web[n + 1], *dice.sample(web, 3)]} for n in range(40)]
    file = tmp_path / "visits.jsonl"
    file.write_text("".join(f"{json.dumps(visit)}\n" for visit in visits))
    brain = make_brain(reach=REACH)
    run(brain, [file], batches=True, settle=settle)
    sound(brain)
    assert bool(waiting(raw)) != settle
    assert brain.tend(None).settled
    assert_solved(brain, raw)
    sound(brain)
