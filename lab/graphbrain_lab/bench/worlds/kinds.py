"""Draws of robots.txt and sitemaps of a world, and of crawlers that claim them.

The dice are separate, so that all other parts of a world are the same with and without these.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from dataclasses import replace

from graphbrain.base.model import Kind
from graphbrain_lab.bench.worlds.world import (
    GUESSED,
    HOUR,
    MINUTE,
    Crawler,
    Phase,
    Rules,
    World,
    WorldFile,
    WorldHost,
    WorldPage,
)

__all__ = ["KINDS", "with_kinds"]

KINDS: tuple[Kind, ...] = ("page", "robots", "sitemap")
SHARE = 0.5
"""The share of the worlds that have the kinds."""
ANSWERS = ("well", "late", "later", "forgotten", "elsewhere", "none")
WEIGHTS = (5, 3, 2, 1, 1, 2)
"""The weights of `ANSWERS`, the kinds of robots.txt: well; ill at first; ill or missing later; 404 at first; a
redirect; 404."""
ILL_ANSWERS = (("refused", 503), ("silent", None), ("broken", 500))
MANY = (20, 40)
"""The least and the largest number of sitemaps of a host that has many."""


def with_kinds(world: World) -> World:
    """Return the world, in half of all cases with robots.txt and sitemaps, and crawlers that claim them."""
    dice = random.Random(f"kinds {world.seed}")
    if dice.random() >= SHARE:
        return world
    hosts = tuple(_with_files(dice, host) for host in world.hosts)
    hosts = tuple(_led(dice, host, hosts) for host in hosts)
    crawlers = tuple(replace(crawler, kinds=KINDS) for crawler in world.crawlers)
    if dice.random() < 0.3:
        crawlers = (*crawlers, Crawler("pages", dice.randint(1, 4)))
    return replace(world, hosts=hosts, crawlers=crawlers)


def _with_files(dice: random.Random, host: WorldHost) -> WorldHost:
    """Return the host with a robots.txt and sitemaps. Some of its pages are then only in sitemaps."""
    # Draw the sitemaps. Without a robots.txt only one at the usual path can be found.
    kind = dice.choices(ANSWERS, WEIGHTS)[0]
    slow = max(phase.seconds for page in host.pages for phase in page.phases)
    sitemaps, hidden, named = _sitemaps(dice, host, slow) if dice.random() < 0.7 else ((), set[str](), [])
    if kind in ("none", "elsewhere"):
        named = [GUESSED]
        sitemaps = tuple(replace(each, path=GUESSED) for each in sitemaps[:1] if not each.is_index)
        hidden &= {url for each in sitemaps for url in each.lists}
    host = replace(host, pages=tuple(_unlinked(page, hidden) for page in host.pages), sitemaps=sitemaps, robots=None)
    if kind == "none":
        return host
    # Draw the robots.txt.
    behind = [page.path for page in host.pages[1:]]
    forbids = dice.sample(behind, 1) if behind and dice.random() < 0.2 else []
    named = [] if named == [GUESSED] else named
    rules = Rules(tuple(forbids), host.crawl_delay, tuple(host.url(path) for path in named))
    return replace(host, robots=WorldFile("/robots.txt", _answers(dice, kind, slow), rules.as_text()))


def _answers(dice: random.Random, kind: str, slow: float) -> tuple[Phase, ...]:
    """Return the answers of a robots.txt. `slow`: the longest fetch of a page. These fetches take at most as long."""
    well = Phase(0.0, "fetched", min(slow, dice.choice([0.2, 0.5, 1.0])))
    if kind == "elsewhere":
        return (Phase(0.0, "moved", min(slow, 0.2), 301),)  # `_led` adds the target
    if kind == "well":
        return (well,)
    if kind == "forgotten":
        return (Phase(0.0, "missing", min(slow, 0.2), 404), replace(well, since=dice.choice([MINUTE, 20 * HOUR])))
    phases, at = ([], 0.0) if kind == "late" else ([well], dice.choice([10.0, 20 * HOUR, 21 * HOUR]))
    for outcome, status in dice.sample(ILL_ANSWERS, dice.randint(1, 3)):
        wait = dice.choice([None, None, 60.0]) if outcome == "refused" else None
        phases.append(Phase(at, outcome, min(slow, dice.choice([0.2, 10.0])), status, wait))
        at += dice.choice([30.0, 10 * MINUTE, HOUR, 3 * HOUR])
    end = well if dice.random() < 0.8 else Phase(0.0, "missing", min(slow, 0.2), 404)
    return (*phases, replace(end, since=at))


def _led(dice: random.Random, host: WorldHost, hosts: Sequence[WorldHost]) -> WorldHost:
    """Return the host with a target for a robots.txt that redirects: another host's that does not redirect, or
    itself."""
    if host.robots is None or host.robots.phases[0].outcome != "moved":
        return host
    others = [each for each in hosts if each.robots is None or each.robots.phases[0].outcome != "moved"]
    target = dice.choice(others) if others and dice.random() < 0.8 else host
    phase = replace(host.robots.phases[0], target=target.url("/robots.txt"))
    return replace(
        host,
        robots=replace(host.robots, phases=(phase,)),
        crawl_delay=max(host.crawl_delay, target.crawl_delay),
    )


def _sitemaps(dice: random.Random, host: WorldHost, slow: float) -> tuple[tuple[WorldFile, ...], set[str], list[str]]:
    """Return sitemaps, the URLs of pages that only sitemaps name, and the paths of the sitemaps that robots.txt
    names."""
    # Choose pages for them, and their paths.
    behind = [host.url(page.path) for page in host.pages[1:]]
    hidden = set(dice.sample(behind, dice.randint(0, len(behind) // 2)))
    listed = [url for url in behind if url in hidden or dice.random() < 0.3]
    count = dice.randint(*MANY) if dice.random() < 0.1 else dice.choice([1, 1, 2, 3])
    paths = [f"/sitemap{number}.xml" for number in range(1, count)]
    paths = [GUESSED if dice.random() < 0.5 else "/sitemap0.xml", *paths]
    files = [
        WorldFile(path, _sitemap_answers(dice, slow), lists=tuple(listed[number::count]))
        for number, path in enumerate(paths)
    ]
    # An index may list them.
    if count == 1 or dice.random() < 0.5:
        return tuple(files), hidden, paths
    lists = tuple(host.url(path) for path in (*paths, "/index.xml"))
    index = WorldFile("/index.xml", (Phase(0.0, "fetched", min(slow, 0.5)),), lists=lists, is_index=True)
    return (index, *files), hidden, ["/index.xml"]


def _sitemap_answers(dice: random.Random, slow: float) -> tuple[Phase, ...]:
    well = Phase(0.0, "fetched", min(slow, dice.choice([0.2, 1.0])))
    if dice.random() < 0.75:
        return (well,)
    outcome, status = dice.choice([("missing", 404), ("missing", 404), *ILL_ANSWERS])
    ill = Phase(0.0, outcome, min(slow, dice.choice([0.2, 10.0])), status)
    return (ill,) if dice.random() < 0.6 else (ill, replace(well, since=dice.choice([2 * MINUTE, 6 * HOUR])))


def _unlinked(page: WorldPage, hidden: Collection[str]) -> WorldPage:
    return replace(page, links=tuple(link for link in page.links if link not in hidden))
