"""Worlds with names. Each has shown a fault, and has bounds for the fetches of its pages."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from graphbrain.base.errors import BadInput
from graphbrain_lab.bench.worlds.kinds import KINDS
from graphbrain_lab.bench.worlds.world import (
    DAY,
    FOR_EVER,
    HOUR,
    MINUTE,
    Crawler,
    Phase,
    Rules,
    Window,
    World,
    WorldFile,
    WorldGoal,
    WorldHost,
    WorldPage,
)

__all__ = ["NAMED", "named"]

WELL = Phase(0.0, "fetched", 0.3)
HOST = "a.example"


def named(names: Iterable[str]) -> list[World]:
    """Return the worlds of these names, or all for the name `all`. Raise BadInput for an unknown name."""
    wanted = list(names)
    if "all" in wanted:
        wanted = list(NAMED)
    for name in wanted:
        if name not in NAMED:
            raise BadInput(f"There is no world {name!r:.80}; there are {', '.join(NAMED)}, and all.")
    return [NAMED[name](name) for name in wanted]


def _refused(status: int, wait: float | None = None) -> Phase:
    return Phase(0.0, "refused", 0.3, status, wait)


def _site(name: str, ill: Sequence[Phase], good: int, **more: Any) -> tuple[WorldHost, tuple[str, ...]]:
    """Return a host whose first page links to ill pages and then to good ones, and the URLs of the good ones."""
    urls = tuple(f"http://{name}/{number}" for number in range(good))
    bad = [WorldPage(f"/bad{number}", (phase,)) for number, phase in enumerate(ill)]
    home = WorldPage("/", (WELL,), tuple(f"http://{name}{page.path}" for page in bad) + urls)
    pages = (home, *bad, *(WorldPage(f"/{number}", (WELL,)) for number in range(good)))
    return WorldHost(name, pages, **more), urls


def _alone(
    name: str,
    ill: Sequence[Phase],
    good: int,
    within: float,
    *,
    order: str = "optimal",
    places: int = 10,
    days: float = 1.0,
    settings: Mapping[str, Any] | None = None,
    **more: Any,
) -> World:
    """Return a world of one host and one crawler. Its good pages must be fetched `within` so many seconds."""
    host, urls = _site(HOST, ill, good, **more)
    return World(
        seed=1,
        days=days,
        hosts=(host,),
        crawlers=(Crawler("c0", places),),
        seeds=(f"http://{HOST}/",),
        settings={"order": order, "delay_seconds": 1.0, **(settings or {})},
        goals=(WorldGoal(within, urls),),
        name=name,
    )


def _hanging(bad: int, order: str, places: int) -> Callable[[str], World]:
    """Return the maker of a world in which pages without an answer come first. Its 60 good pages have two hours."""
    silent = Phase(0.0, "silent", 10.0, None)
    return lambda name: _alone(name, [silent] * bad, 60, 2 * HOUR, order=order, places=places)


def _refusing(bad: int, status: int, order: str) -> Callable[[str], World]:
    """Return the maker of a world in which pages that always answer 429 or 503 come first. Its 20 good pages have two
    days."""
    return lambda name: _alone(name, [_refused(status)] * bad, 20, 2 * DAY, order=order, places=4, days=2.1)


def _one_refuses(status: int, order: str, wait: float | None) -> Callable[[str], World]:
    """Return the maker of a world with one page that always answers 429 or 503. Its 50 other pages have a week."""
    return lambda name: _alone(name, [_refused(status, wait)], 50, 7 * DAY, order=order, places=10, days=7.1)


def _evening(order: str, status: int) -> Callable[[str], World]:
    """Return the maker of a world whose site answers 5xx for three hours. Its four pages have two months."""
    window = Window("broken", 0.5, 3 * HOUR, Phase(0.0, "broken", 0.3, status))
    return lambda name: _alone(name, (), 4, 60 * DAY, order=order, days=60.1, windows=(window,))


def _clock_ahead(name: str) -> World:
    """Return a world whose clock is a day ahead for a minute. All pages must be fetched a minute later."""
    sites = [_site(f"h{number}.example", (), 80) for number in range(4)]
    urls = tuple(url for _, each in sites for url in each)
    return World(
        seed=1,
        days=0.5,
        hosts=tuple(host for host, _ in sites),
        crawlers=(Crawler("c0", 8),),
        seeds=tuple(host.url("/") for host, _ in sites),
        settings={"delay_seconds": 1.0},
        jumps=((0.5, DAY), (60.5, -DAY)),
        goals=(WorldGoal(120.0, urls),),
        name=name,
    )


def _dead_hosts(dead: int) -> Callable[[str], World]:
    """Return a function that makes a world with `dead` dead hosts, 20 live hosts, and a crawler with 16 places. The 800
    live pages must be fetched within five minutes."""

    def world(name: str) -> World:
        # A dead host answers nothing within a minute; a live page answers after half a second.
        silent = Phase(0.0, "silent", 60.0, None)
        hosts = [
            WorldHost(f"dead{n}.example", tuple(WorldPage(f"/{i}", (silent,)) for i in range(100))) for n in range(dead)
        ]
        well = Phase(0.0, "fetched", 0.5)
        hosts += [
            WorldHost(f"live{n}.example", tuple(WorldPage(f"/{i}", (well,)) for i in range(40))) for n in range(20)
        ]
        urls = [host.url(page.path) for host in hosts for page in host.pages]
        random.Random(3).shuffle(urls)
        return World(
            seed=1,
            days=0.1,
            hosts=tuple(hosts),
            crawlers=(Crawler("c0", 16),),
            seeds=tuple(urls),
            settings={"delay_seconds": 1.0, "lease_seconds": 600.0},
            goals=(WorldGoal(300.0, tuple(url for url in urls if "live" in url)),),
            name=name,
        )

    return world


def _head_of_line(name: str) -> World:
    """Return a world of one host with 1,500 waiting pages and 100 hosts with one page each. The latter have ten
    seconds."""
    big = WorldHost("big.example", tuple(WorldPage(f"/{number}", (WELL,)) for number in range(1_500)))
    small = [WorldHost(f"h{number}.example", (WorldPage("/", (WELL,)),)) for number in range(100)]
    urls = tuple(host.url("/") for host in small)
    return World(
        seed=1,
        days=0.01,
        hosts=(big, *small),
        crawlers=(Crawler("c0", 100),),
        seeds=(*(big.url(page.path) for page in big.pages), *urls),
        settings={"delay_seconds": 5.0},
        goals=(WorldGoal(10.0, urls),),
        name=name,
    )


def _burst(name: str) -> World:
    """Return a world in which sixteen answers 429 come in one second, and are reported one by one. They are one
    overload of the host, not sixteen."""
    window = Window("maintenance_503", 0.0, 1.0, _refused(429))
    pages = tuple(WorldPage(f"/{number}", (WELL,)) for number in range(16))
    host = WorldHost(HOST, pages, windows=(window,))
    urls = tuple(host.url(page.path) for page in pages)
    return World(
        seed=1,
        days=1.0,
        hosts=(host,),
        crawlers=(Crawler("c0", 16, together=False),),
        seeds=urls,
        settings={"delay_seconds": 0.0},
        goals=(WorldGoal(HOUR + MINUTE, urls),),
        name=name,
    )


def _not_sent(name: str) -> World:
    """Return a world in which fifteen pages come first that the crawler's middleware drops. Its 12 good pages have a
    minute."""
    dropped = Phase(0.0, "not_sent", 0.0, None)
    return _alone(name, [dropped] * 15, 12, MINUTE, places=8, settings={"delay_seconds": 0.2})


def _not_understood(name: str) -> World:
    """Pages that are no HTTP, or never end, come first; 12 good ones within 150 seconds."""
    odd = [Phase(0.0, "not_understood", 0.3, None)] * 6 + [Phase(0.0, "silent", 15.0, None)] * 4
    return _alone(name, odd, 12, 150.0, places=4, settings={"delay_seconds": 0.05})


def _dead_for_ever(name: str) -> World:
    """A host that has not answered for days does not keep a crawl from being finished."""
    host, urls = _site(HOST, (), 10)
    dead = WorldHost("dead.example", tuple(WorldPage(f"/{n}", (WELL,)) for n in range(5)), windows=(_for_ever(),))
    return World(
        seed=1,
        days=4.0,
        hosts=(host, dead),
        crawlers=(Crawler("c0", 40),),
        seeds=(host.url("/"), *(dead.url(page.path) for page in dead.pages)),
        settings={"order": "best_first"},
        goals=(WorldGoal(MINUTE, urls),),
        name=name,
    )


def _for_ever() -> Window:
    return Window("outage", 0.0, FOR_EVER, Phase(0.0, "silent", 1.0, None))


def _robots_fails(name: str) -> World:
    """Return a world whose robots.txt answers 503, then not at all, then 500, for ten minutes. Its 10 pages have about
    as long again."""
    fails = (_refused(503), Phase(120.0, "silent", 5.0, None), Phase(360.0, "broken", 0.3, 500))
    robots = WorldFile("/robots.txt", (*fails, replace(WELL, since=600.0)), Rules(forbids=("/bad",)).as_text())
    world = _alone(name, [WELL], 10, 1_350.0, robots=robots)
    return replace(world, crawlers=(replace(world.crawlers[0], kinds=KINDS),))


def _many_sitemaps(name: str) -> World:
    """Return a world of one host with 100 sitemaps, most of them dead. Its 30 linked pages have twice the time that
    they take alone."""
    listed = f"http://{HOST}/listed"
    dead = tuple(WorldFile(f"/dead{number}.xml", (Phase(0.0, "missing", 0.3, 404),)) for number in range(99))
    sitemaps = (*dead, WorldFile("/well.xml", (WELL,), lists=(listed,)))
    rules = Rules(sitemaps=tuple(f"http://{HOST}{each.path}" for each in sitemaps))
    robots = WorldFile("/robots.txt", (WELL,), rules.as_text())
    world = _alone(name, (), 30, 320.0, settings={"delay_seconds": 5.0}, robots=robots, sitemaps=sitemaps)
    (host,) = world.hosts
    return replace(
        world,
        hosts=(replace(host, pages=(*host.pages, WorldPage("/listed", (WELL,)))),),
        crawlers=(replace(world.crawlers[0], kinds=KINDS),),
        goals=(*world.goals, WorldGoal(1_000.0, (listed,))),
    )


NAMED: Mapping[str, Callable[[str], World]] = {
    "hanging-6": _hanging(6, "best_first", 10),
    "hanging-8-one-place": _hanging(8, "optimal", 1),
    "hanging-20": _hanging(20, "optimal", 10),
    "refusing-2": _refusing(2, 429, "optimal"),
    "refusing-6-429": _refusing(6, 429, "optimal"),
    "refusing-6-503": _refusing(6, 503, "best_first"),
    "one-refuses": _one_refuses(503, "optimal", None),
    "one-refuses-best-first": _one_refuses(503, "best_first", None),
    "one-refuses-for-a-second": _one_refuses(503, "optimal", 1.0),
    "one-refuses-for-30-seconds": _one_refuses(429, "optimal", 30.0),
    "burst": _burst,
    "evening-of-500": _evening("optimal", 500),
    "evening-of-502": _evening("breadth_first", 502),
    "clock-ahead": _clock_ahead,
    "dead-host": _dead_hosts(1),
    "dead-hosts": _dead_hosts(3),
    "dead-for-ever": _dead_for_ever,
    "head-of-line": _head_of_line,
    "not-sent": _not_sent,
    "not-understood": _not_understood,
    "robots-fails": _robots_fails,
    "many-sitemaps": _many_sitemaps,
}
"""Name → the maker of the world, which gets the name."""
