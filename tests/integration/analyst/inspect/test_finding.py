"""How fast pages are found, and when the frontier will be done: as reports are counted."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from graphbrain import Brain, Failed, Fetched
from graphbrain.base.errors import GraphUnavailable
from graphbrain.crawl import showing
from graphbrain.crawl.spider import Running
from tests.integration.conftest import HandClock
from tests.plugin import eventually

MakeBrain = Callable[..., Brain]
Ask = Callable[..., list[list[object]]]
A = "http://a.org/"


def test_pages_that_come_into_the_frontier_and_leave_it_are_counted(make_brain: MakeBrain, ask: Ask) -> None:
    """Whatever reports do, what was counted is what the frontier has gained."""
    brain = make_brain(delay_seconds=0.0, deny_hosts="out.org", max_errors=1, park_after_seconds=0.0)
    brain.seed([A])

    def frontier() -> int:
        return ask("MATCH (p:Page {state: 'frontier'}) RETURN count(p)")[0][0]  # type: ignore[return-value]

    before, known = frontier(), brain.stats()
    claims = {claim.url: claim for claim in brain.next_urls(10)}
    leaves = [f"http://a.org/{number}" for number in range(20)]
    brain.report([Fetched(A, [*leaves, "http://out.org/x"], claims[A])])
    claims = {claim.url: claim for claim in brain.next_urls(30)}
    told = [
        Fetched(leaves[0], [*leaves, "http://a.org/new"], claims[leaves[0]]),
        Fetched(leaves[1], claim=claims[leaves[1]], status=301, redirected_to="http://a.org/target"),
        Failed(leaves[2], claims[leaves[2]], 404),
        Failed(leaves[3], claims[leaves[3]], 500),
        Fetched("http://a.org/unasked", [leaves[0]]),
    ]
    brain.report(told)
    brain.report(told)  # is told again, and counts once
    brain.report([Fetched(leaves[0], ["http://a.org/later"])])  # a later visit finds, too
    pace = brain.stats()["pace"]
    assert pace["found"] - pace["left"] == frontier() - before
    # leaves, new, target, unasked, later; A, leaves 0, 1, 2, 3 (given up), unasked
    assert (pace["found"], pace["left"]) == (24, 6)
    moved_on = brain.quick_figures(known["frontier"]["waiting"], since=known["done"])
    assert moved_on["frontier"]["waiting"] == frontier()


def test_the_frontier_is_done_at_the_pace_it_goes(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(delay_seconds=0.0, order="best_first")
    urls = [f"http://p.org/{number}" for number in range(301)]
    brain.report([Fetched(urls[0], urls[1:])])
    first = brain.stats()["frontier"]
    assert (first["waiting"], first["end"]) == (300, "unknown")
    clock.at = (clock.at // 3600 + 1) * 3600 + 0.0
    clock.pass_(7200.0)
    brain.session.counters.write()
    for _ in range(10):
        brain.report([Fetched(claim.url, [], claim) for claim in brain.next_urls(10)])
        clock.pass_(60.0)
        brain.session.counters.write()
    found = brain.stats()["frontier"]
    assert (found["waiting"], found["end"], found["found_per_visit"]) == (200, "ends", 0.0)
    assert found["hours"] == pytest.approx(200 / (100 / 600.0) / 3600.0, rel=0.15)
    while claims := brain.next_urls(100):
        brain.report([Fetched(claim.url, [], claim) for claim in claims])
    assert (brain.stats()["frontier"]["end"], brain.stats()["frontier"]["hours"]) == ("done", 0.0)


def test_the_progress_of_a_crawl_follows_between_two_counts_of_all_pages(
    make_brain: MakeBrain, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pages that wait are counted once here, and never again."""
    brain = make_brain(delay_seconds=0.0)
    brain.report([Fetched(A, [f"{A}{number}" for number in range(5)])])
    monkeypatch.setattr(showing, "LEAST_REST", 0.05)
    monkeypatch.setattr(showing, "rest_after", lambda *_: 1e9)
    with showing.CrawlFigures(cast(Running, SimpleNamespace(brain=brain))) as figures:
        eventually(lambda: figures.waiting() == 5, "the first count")
        brain.report([Fetched(f"{A}{number}", [f"{A}{number}/more", f"{A}{number}/others"]) for number in range(3)])
        eventually(lambda: figures.waiting() == 8, "three are fetched, and six are found")


def test_the_progress_of_a_crawl_outlives_a_count_that_fails(
    make_brain: MakeBrain, monkeypatch: pytest.MonkeyPatch
) -> None:
    brain = make_brain(delay_seconds=0.0)
    brain.report([Fetched(A, [f"{A}{number}" for number in range(5)])])
    count, failures = brain.stats, [GraphUnavailable("It fails once.")]

    def stats() -> dict[str, Any]:
        if failures:
            raise failures.pop()
        return count()

    monkeypatch.setattr(brain, "stats", stats)
    monkeypatch.setattr(showing, "LEAST_REST", 0.05)
    monkeypatch.setattr(showing, "rest_after", lambda *_: 1e9)
    with showing.CrawlFigures(cast(Running, SimpleNamespace(brain=brain))) as figures:
        eventually(lambda: figures.waiting() == 5, "a count after the one that failed")
