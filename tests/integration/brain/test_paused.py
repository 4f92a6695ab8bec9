"""A brain that is paused hands out nothing, and takes all else."""

from __future__ import annotations

from graphbrain import Brain, Fetched
from tests.integration.conftest import HandClock

A, C = "http://a.org/", "http://c.org/"


def test_a_paused_brain_hands_nothing_to_anybody(brain: Brain, second: Brain, clock: HandClock) -> None:
    brain.seed([A, C])
    held = brain.next_urls(1, key="a")
    assert brain.pause() and not brain.pause()
    assert brain.stats()["paused"] is not None
    for now_only in (False, True):
        none = brain.next_urls(5, now_only=now_only)
        assert list(none) == [] and none.paused and not none.finished and "resume" in none.why(brain.stats())
    assert list(brain.next_urls(1, key="a")) == list(held), "what was handed out is told again"
    second._claiming._looked_at -= 2.0  # as a second later
    assert second.next_urls(5).paused
    assert brain.report([Fetched(held[0].url, ["http://new.org/"], claim=held[0])])[0].outcome == "new"
    assert second.resume() and not second.resume()
    brain._claiming._looked_at -= 2.0
    clock.pass_(1.0)
    assert {claim.host for claim in brain.next_urls(5)} == {"a.org", "c.org", "new.org"} - {held[0].host}
