"""The shrinking of a world that fails, step by step, to a smaller world that fails before the same judge."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from graphbrain_lab.bench.worlds.world import Crawler, Rules, World, WorldFile, WorldHost, WorldPage

__all__ = ["candidates", "shrink"]

T = TypeVar("T")
MOST_TRIES = 60


def shrink(
    world: World,
    fails: Callable[[World], bool],
    *,
    tries: int = MOST_TRIES,
    stop: Callable[[], bool] = lambda: False,
    say: Callable[[World, int], None] = lambda *_: None,
) -> World:
    """Return the smallest failing world that `tries` attempts find. `fails` returns True for a failing world. `say` is
    called with each smaller failing world."""
    remaining = tries
    shrunk = True
    while shrunk:
        shrunk = False
        for smaller in candidates(world):
            if remaining <= 0 or stop():
                return world
            remaining -= 1
            if fails(smaller):
                world, shrunk = smaller, True
                say(world, remaining)
                break
    return world


def candidates(world: World) -> Iterator[World]:
    """Yield worlds that are a step smaller, the largest steps first."""
    # Leave out whole parts.
    yield from _hosts(world)
    if world.events:
        yield replace(world, events=())
    if world.jumps:
        yield replace(world, jumps=())
    if world.line:
        yield replace(world, line=())
    # Leave out some events, lost answers of transactions, kinds and crawlers, and half of the time.
    for part in _without(world.events):
        yield replace(world, events=part)
    if world.hops:
        yield replace(world, hops=0.0)
    if world.asks:
        yield _without_kinds(world)
    yield from _crawlers(world)
    if world.days > 0.25:
        yield replace(world, days=world.days / 2)
    # Make hosts and settings simpler.
    for number, host in enumerate(world.hosts):
        for smaller in _host(host):
            yield _tidied(replace(world, hosts=(*world.hosts[:number], smaller, *world.hosts[number + 1 :])))
    for setting, plain in (("order", "best_first"), ("in_flight", 0), ("pages_per_host", 0), ("delay_seconds", 1.0)):
        if world.settings.get(setting, plain) != plain:
            yield replace(world, settings={**world.settings, setting: plain})


def _hosts(world: World) -> Iterator[World]:
    """Yield the world without each half of its hosts, without each quarter and so on, down to each single host."""
    for part in _without(world.hosts):
        if part:
            yield _tidied(replace(world, hosts=tuple(part)))


def _without(parts: Sequence[T]) -> Iterator[tuple[T, ...]]:
    """Yield all parts without each half of them, without each quarter and so on, down to each single part."""
    size = len(parts) // 2
    while size >= 1:
        for start in range(0, len(parts), size):
            yield (*parts[:start], *parts[start + size :])
        size //= 2
    if len(parts) == 1:
        yield ()


def _tidied(world: World) -> World:
    """Return the world without references to hosts or pages that it no longer has."""
    urls = {url for _, _, url in world.pages()}
    names = {host.name for host in world.hosts}
    known_urls = urls | world.sitemaps().keys() | {host.url("/robots.txt") for host in world.hosts}
    hosts = tuple(_pointing(host, known_urls) for host in world.hosts)
    return replace(
        world,
        hosts=hosts,
        seeds=tuple(seed for seed in world.seeds if seed in urls) or (hosts[0].url(hosts[0].pages[0].path),),
        goals=tuple(replace(goal, urls=tuple(url for url in goal.urls if url in urls)) for goal in world.goals),
        events=tuple(event for event in world.events if event.target in urls | names | {""}),
    )


def _pointing(host: WorldHost, known_urls: set[str]) -> WorldHost:
    """Return the host without references to unknown URLs."""
    return replace(
        host,
        pages=tuple(_linking(page, known_urls) for page in host.pages),
        robots=None if host.robots is None else _naming(host.robots, known_urls),
        sitemaps=tuple(
            replace(each, lists=tuple(url for url in each.lists if url in known_urls)) for each in host.sitemaps
        ),
    )


def _linking(page: WorldPage, urls: set[str]) -> WorldPage:
    return replace(page, links=tuple(link for link in page.links if link in urls))


def _naming(robots: WorldFile, known_urls: set[str]) -> WorldFile | None:
    if any(phase.outcome == "moved" and phase.target not in known_urls for phase in robots.phases):
        return None
    rules = Rules.read(robots.text)
    shortened = replace(rules, sitemaps=tuple(url for url in rules.sitemaps if url in known_urls))
    return replace(robots, text=shortened.as_text()) if shortened != rules else robots


def _without_kinds(world: World) -> World:
    """Return the world without robots.txt and sitemaps. Its crawlers claim only pages."""
    return replace(
        world,
        hosts=tuple(replace(host, robots=None, sitemaps=()) for host in world.hosts),
        crawlers=tuple(replace(crawler, kinds=("page",)) for crawler in world.crawlers),
    )


def _crawlers(world: World) -> Iterator[World]:
    if len(world.crawlers) > 1:
        total = sum(crawler.places for crawler in world.crawlers)
        for part in _without(world.crawlers):
            if part:
                each = -(-total // len(part))
                yield replace(world, crawlers=tuple(replace(crawler, places=each, away=()) for crawler in part))
    plain = tuple(Crawler(crawler.name, crawler.places, kinds=crawler.kinds) for crawler in world.crawlers)
    if plain != world.crawlers:
        yield replace(world, crawlers=plain)


def _host(host: WorldHost) -> Iterator[WorldHost]:
    if host.windows:
        for windows in _without(host.windows):
            yield replace(host, windows=windows)
    for pages in _without(host.pages[1:]):
        yield replace(host, pages=(host.pages[0], *pages))
    if host.robots is not None:
        yield replace(host, robots=None)
        if len(host.robots.phases) > 1:
            yield replace(host, robots=replace(host.robots, phases=(replace(host.robots.phases[-1], since=0.0),)))
    for sitemaps in _without(host.sitemaps):
        yield replace(host, sitemaps=sitemaps)
    if host.crawl_delay and host.robots is None:
        yield replace(host, crawl_delay=0.0)
