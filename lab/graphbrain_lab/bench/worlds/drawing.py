"""Drawing worlds by a seed: the same seed, number of hosts and order draw the same world."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from graphbrain.base.settings import ORDERS
from graphbrain_lab.bench.worlds.kinds import with_kinds
from graphbrain_lab.bench.worlds.operators import with_operators
from graphbrain_lab.bench.worlds.world import (
    DAY,
    FOR_EVER,
    HOUR,
    MINUTE,
    Crawler,
    Event,
    Phase,
    Window,
    World,
    WorldHost,
    WorldPage,
)

__all__ = ["LARGE", "draw", "places_needed"]

LARGE = (100, 300)
"""The least and the largest number of hosts of a large world."""
REDIRECTS = (301, 308)
BROKEN = (500, 502, 504, 408, 425)
REFUSED = (429, 503)
MISSING = (404, 404, 410, 403)
KINDS = ("plain", "spotted", "ill_first", "windowed", "dead", "overloaded", "chained")
WEIGHTS = (3, 3, 3, 4, 1, 1, 2)
ILL_KINDS = ("refused", "refused", "broken", "missing", "silent", "silent", "not_understood", "not_sent", "flips")


def draw(seed: int, hosts: int = 10, order: str | None = None, *, large: bool = False, kinds: bool = True) -> World:
    """Return the world of this seed.

    Args:
        seed: The seed of the dice.
        hosts: The number of hosts.
        order: The order of the brain. None: it is drawn.
        large: Draw 100 to 300 hosts with few pages each.
        kinds: Give half of all worlds robots.txt and sitemaps that are claimed, and half of all worlds operators.
    """
    # Draw the hosts, with their pages.
    dice = random.Random(f"world {seed}")
    if large:
        hosts = dice.randint(*LARGE)
    days = dice.choice([1.0, 2.0, 3.0, 5.0]) if not large else 0.5
    settings = _settings(dice, order, days)
    drawn = [_Drawn(dice, f"h{number}.example", days, large, settings) for number in range(hosts)]
    made = tuple(_host(each, drawn) for each in drawn)
    world = World(
        seed=seed,
        days=days,
        hosts=made,
        crawlers=(),
        seeds=_seeds(dice, made),
        settings=settings,
        line=_line(dice, days),
        jumps=_jumps(dice, days),
        hops=dice.choice([0.0, 0.0, 0.0, 0.1]),
    )
    # Draw the events and the crawlers, which depend on the rest of the world.
    world = _without_orphans(replace(world, events=_events(dice, world)))
    world = replace(world, crawlers=_crawlers(dice, world))
    return with_operators(with_kinds(world)) if kinds else world


def _without_orphans(world: World) -> World:
    """Return the world. If pages may become orphans, its setting keeps them in the queues, because a log does not show
    that a page was parked."""
    forgets = any(event.what.startswith("forget") for event in world.events)
    if forgets or any(window.kind == "maintenance_301" for host in world.hosts for window in host.windows):
        return replace(world, settings={**world.settings, "orphans": "keep"})
    return world


def _settings(dice: random.Random, order: str | None, days: float) -> dict[str, Any]:
    drawn = dice.choice(ORDERS)  # drawn also if `order` is given, so that the rest of the world is the same
    return {
        "order": order or drawn,
        "delay_seconds": dice.choice([0.5, 1.0, 1.0, 2.0, 5.0]),
        "in_flight": dice.choice([0, 0, 0, 1, 4]),
        "lease_seconds": dice.choice([300.0, 300.0, 600.0]),
        "revisit_seconds": dice.choice([DAY, 5 * DAY, 30 * DAY]) if days <= 2 else 30 * DAY,
        "pages_per_host": dice.choice([0, 0, 0, 0, 12]),
        "orphans": dice.choice(["keep", "keep", "park"]),
    }


@dataclass(slots=True)
class _Drawn:
    """A host that is being drawn."""

    dice: random.Random
    name: str
    days: float
    large: bool
    settings: dict[str, Any]

    def url(self, number: int) -> str:
        return f"http://{self.name}/{number}" if number else f"http://{self.name}/"


def _host(drawn: _Drawn, others: Sequence[_Drawn]) -> WorldHost:
    dice = drawn.dice
    # Draw the kind of the host and of each page.
    kind = dice.choices(KINDS, WEIGHTS)[0]
    most = 12 if drawn.large else 60 if dice.random() < 0.15 else 25
    count = dice.randint(1, 4) if dice.random() < 0.15 else dice.randint(6, most)
    ill = _ill_pages(dice, kind, count)
    phases = {number: _phases(drawn, kind, number, number in ill) for number in range(count)}
    ways = _ways(dice, count, kind, ill)
    beyond = [other.url(0) for other in others if other is not drawn and dice.random() < 0.2]
    # Put the pages together.
    pages = tuple(
        WorldPage(
            "/" if number == 0 else f"/{number}",
            phases[number],
            tuple(drawn.url(way) for way in ways[number]) + (tuple(beyond) if number == 0 else ()),
            dice.choice([0.0, 0.0, DAY / 2, 5 * DAY]),
        )
        for number in range(count)
    )
    return WorldHost(
        drawn.name,
        pages,
        windows=_windows(drawn, kind),
        rate=dice.choice([6.0, 12.0, 30.0]) if kind == "overloaded" else 0.0,
        crawl_delay=dice.choice([3.0, 10.0]) if dice.random() < 0.1 else 0.0,
    )


def _ill_pages(dice: random.Random, kind: str, count: int) -> set[int]:
    """Return the numbers of the pages that are not well. The first page names the others, and is mostly well."""
    behind = range(1, count)
    if kind == "spotted":
        return {number for number in behind if dice.random() < 0.25}
    if kind == "ill_first":
        return set(behind[: dice.choice([2, 3, 6, 9, 14])])
    return {number for number in behind if dice.random() < 0.03}


def _phases(drawn: _Drawn, kind: str, number: int, ill: bool) -> tuple[Phase, ...]:
    dice = drawn.dice
    if kind == "dead":
        return (_silent(dice),)
    if kind == "chained" and number and dice.random() < 0.5:
        # Redirect to the page before, which makes chains that end at the first page, or to the next page, which makes
        # rings.
        target = number - 1 if dice.random() < 0.8 else number + 1
        return (Phase(0.0, "moved", 0.2, dice.choice(REDIRECTS), target=drawn.url(target)),)
    if not ill:
        return (_well(dice),)
    outcome = dice.choice(ILL_KINDS)
    if outcome != "flips":
        return (_phase(dice, outcome),)
    return _flips(dice, drawn.days)


def _well(dice: random.Random) -> Phase:
    return Phase(0.0, "fetched", dice.choice([0.2, 0.3, 0.5, 0.5, 1.0, 1.0, 8.0]))


def _silent(dice: random.Random) -> Phase:
    return Phase(0.0, "silent", dice.choice([0.1, 10.0, 30.0, 60.0]), None)


def _phase(dice: random.Random, outcome: str, since: float = 0.0) -> Phase:
    """Return the answer of an ill page."""
    if outcome == "silent":
        return replace(_silent(dice), since=since)
    if outcome == "refused":
        return Phase(since, outcome, 0.3, dice.choice(REFUSED), dice.choice([None, None, 1.0, 30.0, 120.0]))
    if outcome in ("not_sent", "not_understood"):
        return Phase(since, outcome, 0.0 if outcome == "not_sent" else 0.3, None)
    return Phase(since, outcome, 0.3, dice.choice(BROKEN if outcome == "broken" else MISSING))


def _flips(dice: random.Random, days: float) -> tuple[Phase, ...]:
    """Return answers that alternate between ill and well, up to four of them."""
    at, phases, well = 0.0, list[Phase](), dice.random() < 0.4
    for _ in range(dice.randint(2, 4)):
        now = replace(_well(dice), since=at) if well else _phase(dice, dice.choice(ILL_KINDS[:-1]), at)
        phases.append(now)
        at += dice.choice([2 * MINUTE, HOUR, 6 * HOUR, days * DAY / 3])
        well = not well
    return tuple(phases)


def _ways(dice: random.Random, count: int, kind: str, ill: set[int]) -> list[list[int]]:
    """Return for each page the pages of its host that it links to. The first page names all others, or half of them, of
    which one names the other half."""
    behind = list(range(1, count))
    if kind != "ill_first":
        dice.shuffle(behind)
    if count > 8 and dice.random() < 0.3:
        middle = len(behind) // 2
        hub = next((number for number in behind[:middle] if number not in ill), None)
        if hub is not None:
            ways = [behind[:middle]] + [[] for _ in range(count - 1)]
            ways[hub] = behind[middle:]
            return ways
    return [behind] + [dice.sample(range(count), min(count, dice.choice([0, 0, 1, 3]))) for _ in range(count - 1)]


def _windows(drawn: _Drawn, kind: str) -> tuple[Window, ...]:
    dice = drawn.dice
    if kind != "windowed":
        return ()
    found, at = [], dice.choice([0.0, 5.0, 20.0, HOUR])
    for _ in range(dice.randint(1, 3)):
        what = dice.choice(["outage", "dns", "broken", "broken", "maintenance_503", "maintenance_301"])
        length = dice.choice([2 * MINUTE, 20 * MINUTE, 3 * HOUR, 3 * HOUR, 10 * HOUR])
        if dice.random() < 0.1:
            length = FOR_EVER
        found.append(Window(what, at, at + length, _weather(dice, drawn, what)))
        at += length + dice.choice([5 * MINUTE, 2 * HOUR, DAY])
    return tuple(window for window in found if window.start < drawn.days * DAY)


def _weather(dice: random.Random, drawn: _Drawn, what: str) -> Phase:
    """Return the answer of all pages of a host in a window of this kind."""
    if what == "maintenance_503":
        return Phase(0.0, "refused", 0.1, 503, dice.choice([None, 60.0, 600.0, 3600.0]))
    if what == "maintenance_301":
        return Phase(0.0, "moved", 0.1, dice.choice([301, 308]), target=f"http://{drawn.name}/maintenance")
    if what == "broken":
        return Phase(0.0, "broken", 0.3, dice.choice([500, 502, 504]))
    return Phase(0.0, "silent", dice.choice([0.05, 5.0, 30.0]) if what == "outage" else 0.05, None)


def _seeds(dice: random.Random, hosts: Sequence[WorldHost]) -> tuple[str, ...]:
    """Return the first page of most hosts, and all pages of some hosts."""
    seeds = [host.url("/") for host in hosts if dice.random() < 0.9] or [hosts[0].url("/")]
    for host in hosts:
        if dice.random() < 0.15:
            seeds += [host.url(page.path) for page in host.pages]
    return tuple(dict.fromkeys(seeds))


def _line(dice: random.Random, days: float) -> tuple[Window, ...]:
    if dice.random() < 0.75:
        return ()
    start = dice.choice([10.0, 60.0, HOUR, days * DAY / 2])
    phase = Phase(0.0, "silent", dice.choice([0.05, 10.0]), None)
    return (Window("line", start, start + dice.choice([2 * MINUTE, 30 * MINUTE, 6 * HOUR]), phase),)


def _jumps(dice: random.Random, days: float) -> tuple[tuple[float, float], ...]:
    """Return the jumps of the clock: ahead and back again, back for ever, or ahead for ever."""
    if dice.random() < 0.75:
        return ()
    at = dice.choice([20.0, 2 * MINUTE, HOUR, days * DAY / 2])
    by = dice.choice([90.0, HOUR, DAY, 10 * DAY])
    kind = dice.choice(["for_a_while", "for_a_while", "back", "ahead"])
    if kind == "for_a_while":
        return ((at, by), (at + dice.choice([MINUTE, 10 * MINUTE]), -by))
    return ((at, -by if kind == "back" else by),)


def _events(dice: random.Random, world: World) -> tuple[Event, ...]:
    count = dice.choice([0, 0, 2, 5])
    found: list[Event] = []
    pages = [url for _, _, url in world.pages()]
    # Draw actions by hand. Some are taken back later.
    for _ in range(count):
        at = round(dice.choice([dice.uniform(5, 300), dice.uniform(0, world.days * DAY)]), 1)
        host = dice.choice(world.hosts)
        what = dice.choice(
            [
                "forget",
                "forget",
                "forget_for_ever",
                "hint",
                "hint",
                "crawl_now",
                "seed",
                "retry",
                "block",
                "robots",
                "scope",
            ]
        )
        if what == "robots":
            until = at + dice.choice([10 * MINUTE, 5 * HOUR])
            found.append(Event(at, "robots", host.name, text="User-agent: *\nDisallow: /"))
            found.append(Event(until, "robots", host.name, text=_robots(host)))
        elif what == "scope":
            found.append(Event(at, "deny_host", host.name))
            found.append(Event(at + dice.choice([10 * MINUTE, 5 * HOUR]), "allow_host", host.name))
        elif what in ("retry", "block"):
            found.append(Event(at, what, host.name, dice.choice([MINUTE, HOUR]) if what == "block" else 0.0))
        else:
            found.append(Event(at, what, dice.choice(pages)))
    # The budget may change.
    if world.settings["pages_per_host"]:
        found.append(Event(round(dice.uniform(HOUR, world.days * DAY), 1), "budget", value=dice.choice([20.0, 100.0])))
    return tuple(sorted((event for event in found if event.at < world.days * DAY), key=lambda event: event.at))


def _robots(host: WorldHost) -> str:
    """Return the robots.txt of a host that forbids nothing."""
    return f"User-agent: graphbrain\nCrawl-delay: {host.crawl_delay:g}" if host.crawl_delay else ""


def _crawlers(dice: random.Random, world: World) -> tuple[Crawler, ...]:
    """Return one to three crawlers. Mostly they have twice as many places as the delays of hosts allow them to use."""
    # Draw the places.
    count = dice.choice([1, 1, 2, 3])
    enough = dice.random() < 0.75
    speeds = [dice.choice([1.0, 1.0, 0.5, 2.0]) for _ in range(count)]
    each = max(2, math.ceil(2 * places_needed(world) * max(speeds) / count)) if enough else dice.randint(1, 6)
    # Draw their faults.
    return tuple(
        Crawler(
            f"c{number}",
            each,
            speed,
            drops=dice.choice([0.0, 0.0, 0.0, 0.05]),
            late=dice.choice([0.0, 0.0, 0.0, 0.05]),
            returns=dice.choice([0.0, 0.0, 0.0, 0.1]),
            loses=dice.choice([0.0, 0.0, 0.1]),
            keyed=dice.random() < 0.7,
            together=dice.random() < 0.7,
            away=_away(dice, world.days) if count > 1 else (),
        )
        for number, speed in enumerate(speeds)
    )


def _away(dice: random.Random, days: float) -> tuple[tuple[float, float], ...]:
    if dice.random() < 0.8:
        return ()
    start = round(dice.choice([dice.uniform(1, 120), dice.uniform(0, days * DAY)]), 1)
    return ((start, start + dice.choice([MINUTE, HOUR, DAY])),)


def places_needed(world: World) -> float:
    """Return the number of concurrent fetches if each host is claimed as fast as its delay allows.

    Each fetch takes as long as the host's slowest page, file or window does. The number is infinite if a host has no
    delay.
    """
    needed = 0.0
    for host in world.hosts:
        served = [*host.pages, *(host.files() if world.asks else ())]
        phases = [phase for each in served for phase in each.phases]
        windows = [window.phase for window in (*host.windows, *world.line)]
        longest = max(phase.seconds for phase in (*phases, *windows))
        delay = max(world.delay, host.crawl_delay)
        most = int(world.settings.get("in_flight", 0))
        if not delay:
            return math.inf
        needed += min(longest / delay, most) if most else longest / delay
    return needed
