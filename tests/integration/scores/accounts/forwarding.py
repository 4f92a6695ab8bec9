"""What is done to a graph before an account that goes forward (flow, live PageRank) must be right."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from graphbrain import Brain, Failed, Fetched
from tests.integration.conftest import HandClock, sound


def crawl_on(brain: Brain, clock: HandClock, dice: random.Random, web: Sequence[str]) -> None:
    """Pages are read, again with other links; one fails, one redirects; a little is passed on."""
    batch = dice.sample(web, 6)
    brain.report([Fetched(url, dice.sample(web, 4)) for url in batch[:4]])
    brain.report([Failed(batch[4], status=404), Fetched(batch[5], status=301, redirected_to=dice.choice(web[:6]))])
    brain.tend(0.01, batch=5)
    clock.pass_(1.0)


def convert_and_settle(brain: Brain, engine: str, web: Sequence[str], assert_right: Callable[[], None]) -> None:
    """Give the brain, which has this engine, the other one; the account is right again after a report."""
    brain.convert_engine("classic" if engine == "exact" else "exact")
    sound(brain)
    brain.report([Fetched(web[0], web[20:24])])
    assert brain.tend(None).settled
    assert_right()
    sound(brain)
