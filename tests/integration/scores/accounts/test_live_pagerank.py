"""Live PageRank: kept up by reports and pushes, it is PageRank of the known graph within the bound that is told."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import neo4j as driver
import numpy as np
import pytest

from graphbrain import Brain, Fetched
from graphbrain.base.errors import BadInput
from graphbrain.base.settings import ENGINES
from graphbrain.files.importer import run
from tests.integration.conftest import HandClock, sound
from tests.integration.scores.accounts.forwarding import convert_and_settle, crawl_on
from tests.verbs import top_of

MakeBrain = Callable[..., Brain]
A, B, C, D = (f"http://{letter}.org/" for letter in "abcd")
VALUE = "live_pagerank plain_path novelty>.25^.1"


def ranks(brain: Brain, *urls: str) -> list[float | None]:
    return [brain.page(url).live_pagerank for url in urls]


def shares(brain: Brain) -> dict[str, tuple[float, float]]:
    """URL → (share of live PageRank, PageRank)."""
    brain.rank("pagerank", tolerance=1e-10)
    pages = list(brain.dump_pages())
    total = sum(page.live_pagerank for page in pages)
    return {page.url: (page.live_pagerank / total, page.scores["pagerank"]) for page in pages}


def assert_is_pagerank(brain: Brain, most: float) -> None:
    """All shares together are off by at most the bound, which is at most so much."""
    bound = brain.audit(None).figures["live_pagerank_error"]
    assert bound == brain.stats()["live_pagerank_error"]
    assert bound <= most
    error = sum(abs(live - rank) for live, rank in shares(brain).values())
    assert error <= bound + 1e-9


def test_each_page_is_paid_one_and_a_page_that_is_read_passes_it_on(make_brain: MakeBrain) -> None:
    brain = make_brain(value=VALUE)
    brain.seed([A])
    assert ranks(brain, A) == [1.0]
    brain.report([Fetched(A, [B, C])])
    assert ranks(brain, A, B, C) == pytest.approx([1.0, 1.425, 1.425])
    assert brain.page(A).live_pagerank_paid == pytest.approx(0.425)
    brain.report([Fetched(B, [A, D])])
    each = 0.85 * 1.425 / 2
    assert ranks(brain, A, B, C, D) == pytest.approx([1.0 + each, 1.425, 1.425, 1.0 + each])
    sound(brain)


@pytest.mark.parametrize("engine", ENGINES)
def test_it_is_pagerank_after_any_crawl(make_brain: MakeBrain, clock: HandClock, engine: str) -> None:
    """Pages are read again with other links, redirect, fail, are forgotten; seeds come late; engines are converted."""
    brain, dice = make_brain(engine=engine, value=VALUE), random.Random(3)
    web = [f"http://{'abc'[n % 3]}.org/{n}" for n in range(40)]
    brain.seed(web[:2])
    for number in range(5):
        crawl_on(brain, clock, dice, web)
        if number == 3:
            sound(brain)
            brain.seed([web[7]])
            brain.forget(web[3])
            brain.link(web[8], web[9])
    assert_is_pagerank(brain, 10.0)
    assert brain.tend(None).settled
    assert_is_pagerank(brain, 0.02)
    convert_and_settle(brain, engine, web, lambda: assert_is_pagerank(brain, 0.02))


@pytest.mark.parametrize("engine", ENGINES)
def test_a_brain_has_none_until_it_is_to_keep_it(make_brain: MakeBrain, clock: HandClock, engine: str) -> None:
    brain = make_brain(engine=engine, value="authority")
    brain.seed([A])
    brain.report([Fetched(A, [B, D])])
    clock.pass_(1.0)
    brain.report([Fetched(B, [A, C])])
    assert ranks(brain, A, B, C, D) == [None] * 4
    assert (brain.settings.value, brain.stats()["live_pagerank_error"]) == ("authority", None)
    with pytest.raises(BadInput, match="keep_live_pagerank"):
        top_of(brain, 3, by="live_pagerank")
    brain.change(keep_live_pagerank=True)
    assert ranks(brain, A, B, C, D) == [1.0] * 4
    assert brain.tend(None).settled
    assert_is_pagerank(brain, 0.02)
    sound(brain)
    best = [page.live_pagerank for page in top_of(brain, 4, by="live_pagerank")]
    assert best == sorted(filter(None, ranks(brain, A, B, C, D)), reverse=True)
    before = ranks(brain, A, B, C, D)
    brain.change(keep_live_pagerank=False)
    brain.tend(None)
    assert ranks(brain, A, B, C, D) == before
    assert brain.stats()["live_pagerank_error"] is None
    clock.pass_(1.0)
    brain.report([Fetched(A, [C])])  # what was passed on goes with the links, and nothing else does
    sound(brain)
    brain.change(value=VALUE)
    assert brain.tend(None).settled
    assert_is_pagerank(brain, 0.02)
    sound(brain)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_order_follows_it(make_brain: MakeBrain, engine: str) -> None:
    """The page that got more after it was read lifts the page behind it."""
    brain = make_brain(engine=engine, value="live_pagerank^10", order="best_first", delay_seconds=0.0)
    brain.seed([A])
    brain.report([Fetched(B, [C]), Fetched(D, ["http://e.org/"])])
    brain.report([Fetched(f"http://f.org/{n}", [B]) for n in range(3)])
    before = brain.page(C).lane
    assert brain.tend(None).settled
    assert brain.page(C).lane < before
    assert next(iter(brain.next_urls(1))).url == C
    sound(brain)


def test_pages_of_too_many_links_are_left_alone(make_brain: MakeBrain) -> None:
    brain = make_brain(value=VALUE, max_payees=2)
    brain.seed([A])
    brain.report([Fetched(B, [C, D, "http://e.org/"])])
    brain.report([Fetched(f"http://f.org/{n}", [B]) for n in range(5)])
    before = ranks(brain, C)
    assert brain.tend(None).settled
    assert ranks(brain, C) == before
    sound(brain)
    brain.unlink(B, D)
    assert brain.tend(None).settled
    assert_is_pagerank(brain, 0.02)
    sound(brain)


def test_links_inside_a_host_may_weigh_less(make_brain: MakeBrain, clock: HandClock) -> None:
    brain, dice = make_brain(value=VALUE, intra_host_weight=0.25), random.Random(1)
    web = [f"http://{'ab'[n % 2]}.org/{n}" for n in range(20)]
    brain.seed(web[:3])
    for _ in range(4):
        brain.report([Fetched(url, dice.sample(web, 4)) for url in dice.sample(web, 5)])
        clock.pass_(1.0)
    brain.change(intra_host_weight=0.5)
    brain.tend(None)
    sound(brain)
    brain.change(intra_host_weight=1.0)
    assert brain.tend(None).settled
    assert_is_pagerank(brain, 0.02)
    sound(brain)


def test_an_audit_tells_of_what_nobody_has_passed_on(make_brain: MakeBrain, raw: driver.Driver) -> None:
    brain = make_brain(value=VALUE)
    brain.seed([A])
    brain.report([Fetched(A, [B, C])])
    raw.execute_query("MATCH (p:Page {url: $url}) SET p.live_pagerank = 2.0", url=C)
    found = brain.audit(None)
    assert found.figures["wrong"]["live_pagerank"] >= 2  # the page, and the sum
    raw.execute_query("MATCH (p:Page {url: $url}) SET p.live_pagerank = 1.425", url=C)
    sound(brain)
    raw.execute_query("MATCH (p:Page {url: $url}) SET p.live_pagerank_priority = 3", url=A)
    assert brain.audit(None).figures["wrong"]["marks"] >= 1
    raw.execute_query("MATCH (p:Page {url: $url}) REMOVE p.live_pagerank_priority", url=A)


@pytest.mark.parametrize("settle", [True, False])
def test_an_import_begins_with_it(make_brain: MakeBrain, tmp_path: Path, settle: bool) -> None:
    dice, web = random.Random(7), [f"http://{'abc'[n % 3]}.org/{n}" for n in range(60)]
    visits = [{"url": web[n], "links": [web[n + 1], *dice.sample(web, 3)]} for n in range(40)]
    file = tmp_path / "visits.jsonl"
    file.write_text("".join(f"{json.dumps(visit)}\n" for visit in visits))
    brain = make_brain(value=VALUE)
    run(brain, [file], batches=True, settle=settle)
    sound(brain)
    assert_is_pagerank(brain, 0.02 if settle else 100.0)
    assert brain.tend(None).settled
    assert_is_pagerank(brain, 0.02)
    sound(brain)


def test_shares_do_not_depend_on_how_many_pushes_there_were(make_brain: MakeBrain) -> None:
    """By hand: a star of four, whose middle is read last."""
    brain = make_brain(value=VALUE)
    leaves = [f"http://leaf.org/{n}" for n in range(4)]
    brain.seed([A])
    brain.report([Fetched(leaf, [A]) for leaf in leaves])
    brain.report([Fetched(A, leaves)])
    brain.tend(None)
    system = np.eye(5)
    system[0, 1:] = -0.85
    system[1:, 0] = -0.85 / 4
    due = np.linalg.solve(system, np.ones(5))
    assert ranks(brain, A, *leaves) == pytest.approx(due.tolist(), rel=0.02)
