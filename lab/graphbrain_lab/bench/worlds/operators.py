"""Draws of operators who work beside the crawlers, and of crawlers with a Brain object of their own.

The dice are separate, so that all other parts of a world are the same with and without these.
"""

from __future__ import annotations

import random
from dataclasses import replace

from graphbrain.base.numeric.methods import ORDERS
from graphbrain_lab.bench.worlds.world import DAY, HOUR, MINUTE, Event, World

__all__ = ["with_operators"]

SHARE = 0.5
"""The share of the worlds that have operators."""
ACTS = ("pause", "park", "park", "link", "link", "unlink", "retry_page", "set", "set", "convert")


def with_operators(world: World) -> World:
    """Return the world, in half of all cases with acts of operators, and with crawlers that share no Brain object."""
    dice = random.Random(f"operators {world.seed}")
    if dice.random() >= SHARE:
        return world
    events = [event for _ in range(dice.choice([1, 3, 6])) for event in _act(dice, world)]
    events = [event for event in events if event.at < world.days * DAY]
    # A log does not show that an orphan was parked.
    settings = {**world.settings, "orphans": "keep"} if any(e.what == "unlink" for e in events) else world.settings
    return replace(
        world,
        settings=settings,
        events=tuple(sorted((*world.events, *events), key=lambda event: event.at)),
        crawlers=tuple(replace(crawler, apart=dice.random() < 0.4) for crawler in world.crawlers),
    )


def _act(dice: random.Random, world: World) -> list[Event]:
    """Return an act, and in most cases another one later that takes it back."""
    at = round(dice.choice([dice.uniform(1, 300), dice.uniform(0, world.days * DAY)]), 1)
    later = at + dice.choice([0.5, 30.0, 10 * MINUTE, 5 * HOUR])
    pages = [(page, url) for _, page, url in world.pages()]
    (page, url), (_, other), what = dice.choice(pages), dice.choice(pages), dice.choice(ACTS)
    if what == "pause":
        return [Event(at, "pause"), Event(later, "resume")]
    if what == "park":
        return [Event(at, "park", url), Event(later, dice.choice(["retry_page", "crawl_now", "seed", "hint"]), url)]
    if what == "retry_page":
        return [Event(at, what, url)]
    if what == "unlink" and page.links:
        other = dice.choice(page.links)
    if what in ("link", "unlink"):
        back = "unlink" if what == "link" else "link"
        return [Event(at, what, url, text=other), Event(later, back, url, text=other)]
    if what == "convert":
        return [Event(at, what, text="classic"), Event(later, what, text=dice.choice(["exact", "classic"]))]
    name = dice.choice(["delay_seconds", "in_flight", "order"])
    if name == "order":
        return [Event(at, "set", text=f"order={dice.choice(ORDERS)}")]
    # The crawlers have places for the delay that the world begins with.
    value = world.delay * dice.choice([1, 2, 5]) if name == "delay_seconds" else dice.choice([0, 1, 4])
    return [Event(at, "set", value=float(value), text=name)]
