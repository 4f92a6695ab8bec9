"""Worlds are drawn by their seed alone, survive JSON, behave as they say, and shrink to what matters."""

from __future__ import annotations

import json
import operator
import sys
from dataclasses import make_dataclass, replace
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner

from graphbrain.base.errors import BadInput
from graphbrain.base.model import Claim, Failed, Fetched, Resource
from graphbrain.base.settings import ORDERS, Settings
from graphbrain.cli.app import cli
from graphbrain_lab.bench.worlds import NAMED, World, draw, from_json, named, to_json
from graphbrain_lab.bench.worlds.drawing import LARGE, places_needed
from graphbrain_lab.bench.worlds.kinds import KINDS, with_kinds
from graphbrain_lab.bench.worlds.operators import with_operators
from graphbrain_lab.bench.worlds.progress import can_keep_up
from graphbrain_lab.bench.worlds.shrink import candidates, shrink
from graphbrain_lab.bench.worlds.web import Met, WorldWeb
from graphbrain_lab.bench.worlds.world import (
    ANSWERED,
    DAY,
    HOUR,
    ILL,
    NONE,
    PASSING,
    WINDOWS,
    Event,
    Phase,
    Rules,
    Window,
    WorldFile,
    WorldHost,
    WorldPage,
)

SEEDS = range(60)
crawl = sys.modules["graphbrain_lab.bench.worlds.crawl"]
"""The module; the package offers its function by the same name."""


def test_a_seed_draws_one_world() -> None:
    assert draw(7) == draw(7) != draw(8)
    assert len(draw(7, 3).hosts) == 3
    given = draw(7, order="optimal")
    assert given == replace(draw(7), settings={**draw(7).settings, "order": "optimal"})


def test_worlds_differ_in_everything_that_may_go_wrong() -> None:
    worlds = [draw(seed) for seed in SEEDS]
    outcomes = {phase.outcome for world in worlds for _, page, _ in world.pages() for phase in page.phases}
    assert outcomes == {*ANSWERED, *ILL}
    windows = {w.kind for world in worlds for host in world.hosts for w in host.windows}
    assert windows | {w.kind for world in worlds for w in world.line} == set(WINDOWS)
    events = {event.what for world in worlds for event in world.events}
    assert events == {
        *("forget", "forget_for_ever", "hint", "crawl_now", "seed", "retry", "block", "robots", "budget"),
        *("deny_host", "allow_host", "park", "retry_page", "link", "unlink", "set", "convert", "pause", "resume"),
    }
    assert {world.order for world in worlds} == set(ORDERS)
    assert any(by < 0 for world in worlds for _, by in world.jumps)
    assert any(by > 0 for world in worlds for _, by in world.jumps)
    assert any(world.hops for world in worlds)
    for habit in ("drops", "late", "returns", "loses", "away", "apart"):
        assert any(getattr(crawler, habit) for world in worlds for crawler in world.crawlers), habit
    assert any(host.rate for world in worlds for host in world.hosts)
    assert any(host.crawl_delay for world in worlds for host in world.hosts)
    keep_up = sum(map(can_keep_up, worlds))
    assert len(worlds) / 2 < keep_up < len(worlds), "progress is promised in most worlds, not in all"


@pytest.mark.parametrize("seed", SEEDS)
def test_a_world_is_whole(seed: int) -> None:
    world = draw(seed)
    urls = [url for _, _, url in world.pages()]
    assert len(urls) == len(set(urls))
    Settings.read(environ={}, **world.settings)
    assert set(world.seeds) <= set(urls)
    for _, page, _ in world.pages():
        assert page.phases[0].since == 0.0
        assert all(before.since < after.since for before, after in pairwise(page.phases))
        assert all(phase.target for phase in page.phases if phase.outcome == "moved")
    assert all(window.start < window.end for host in world.hosts for window in host.windows)
    assert [event.at for event in world.events] == sorted(event.at for event in world.events)
    assert all(crawler.places > 0 for crawler in world.crawlers)


@pytest.mark.parametrize("seed", SEEDS)
def test_json_keeps_a_world(seed: int) -> None:
    assert from_json(to_json(draw(seed))) == draw(seed)


def test_json_keeps_named_worlds() -> None:
    assert [from_json(to_json(world)) for world in named(["all"])] == named(["all"])


def test_json_of_a_world_without_kinds() -> None:
    """As it was printed before worlds had robots.txt and sitemaps."""
    world = next(draw(seed) for seed in SEEDS if not draw(seed).asks)
    read = json.loads(to_json(world))
    for host in read["hosts"]:
        assert (host.pop("robots"), host.pop("sitemaps")) == (None, [])
    for crawler in read["crawlers"]:
        assert crawler.pop("kinds") == ["page"]
    assert from_json(json.dumps(read)) == world


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", '{"seed": 1}', to_json(draw(1))[:-1]])
def test_what_is_no_world_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="no world"):
        from_json(text)


# ---------------------------------------------------------------- robots.txt and sitemaps


def test_half_of_the_worlds_have_the_kinds() -> None:
    worlds = [draw(seed) for seed in SEEDS]
    asking = [world for world in worlds if world.asks]
    assert len(SEEDS) / 3 < len(asking) < 2 * len(SEEDS) / 3
    assert not any(host.files() for world in worlds if not world.asks for host in world.hosts)
    assert {crawler.kinds for world in asking for crawler in world.crawlers} == {KINDS, ("page",)}
    hosts = [host for world in asking for host in world.hosts]
    robots = [host.robots for host in hosts if host.robots is not None]
    assert len(robots) < len(hosts), "some have none"
    outcomes = {tuple(phase.outcome for phase in each.phases) for each in robots}
    assert {("fetched",), ("moved",), ("missing", "fetched"), ("silent", "broken", "refused", "fetched")} <= outcomes
    rules = [Rules.read(each.text) for each in robots]
    assert any(each.forbids for each in rules) and any(each.delay for each in rules)
    sitemaps = [each for host in hosts for each in host.sitemaps]
    assert any(url.endswith("/index.xml") for each in sitemaps if each.is_index for url in each.lists), "a loop"
    assert {each.phases[-1].outcome for each in sitemaps} == {"fetched", "missing", "refused", "broken", "silent"}
    assert max(len(host.sitemaps) for host in hosts) > 20
    linked = {link for world in asking for _, page, _ in world.pages() for link in page.links}
    listed = {url for each in sitemaps for url in each.lists}
    assert listed - linked and listed & linked


@pytest.mark.parametrize("seed", SEEDS)
def test_the_kinds_change_nothing_else(seed: int) -> None:
    """But for links to pages that sitemaps alone list, and the longer Crawl-delay of a redirected robots.txt."""
    plain = draw(seed, kinds=False)
    world = with_kinds(plain)
    assert draw(seed) == with_operators(world) and not plain.asks
    hosts = tuple(
        replace(host, robots=None, sitemaps=(), pages=before.pages, crawl_delay=before.crawl_delay)
        for host, before in zip(world.hosts, plain.hosts, strict=True)
    )
    crawlers = tuple(replace(each, kinds=("page",)) for each in world.crawlers if each.name != "pages")
    assert replace(world, hosts=hosts, crawlers=crawlers) == plain
    for (_, page, _), (_, before, _) in zip(world.pages(), plain.pages(), strict=True):
        assert replace(before, links=page.links) == page and set(page.links) <= set(before.links)
    urls = world.sitemaps().keys() | {url for _, _, url in world.pages()}
    for host in world.hosts:
        longest = max(phase.seconds for page in host.pages for phase in page.phases)
        assert all(phase.seconds <= longest for each in host.files() for phase in each.phases)
        assert all(each.lists == tuple(url for url in each.lists if url in urls) for each in host.sitemaps)


def test_half_of_the_worlds_have_operators() -> None:
    plain = [with_kinds(draw(seed, kinds=False)) for seed in SEEDS]
    with_them = [with_operators(world) for world in plain]
    assert len(SEEDS) / 3 < sum(map(operator.ne, plain, with_them)) < 2 * len(SEEDS) / 3
    for before, after in zip(plain, with_them, strict=True):
        crawlers = tuple(replace(each, apart=False) for each in after.crawlers)
        events = tuple(each for each in after.events if each in before.events)
        same = replace(after, crawlers=crawlers, events=events, settings=before.settings)
        assert same == before, "they change nothing else"
        settings = {**before.settings, **after.settings}
        for each in after.events:
            Settings.read(environ={}, **(settings | each.setting() if each.what == "set" else settings))


def test_rules_are_read_as_they_are_written() -> None:
    rules = Rules(("/7", "/private"), 3.0, ("http://a.example/s.xml",))
    assert Rules.read(rules.as_text()) == rules
    assert [rules.allow(f"http://a.example{path}") for path in ("/", "/7", "/70", "/private/x", "/8")] == [
        *(True, False, False, False, True)
    ]
    assert Rules.read("").allow("http://a.example/7")


def test_a_web_serves_files() -> None:
    text = Rules(("/7",), 0.0, ("http://a.example/index.xml",)).as_text()
    host = WorldHost(
        "a.example",
        (PAGE,),
        windows=(Window("maintenance_301", 50.0, 60.0, Phase(0.0, "moved", target="http://a.example/maintenance")),),
        robots=WorldFile("/robots.txt", (Phase(0.0, "refused", status=503), Phase(5.0, "fetched")), text),
        sitemaps=(
            WorldFile("/index.xml", (Phase(0.0, "fetched"),), lists=("http://a.example/s.xml",), is_index=True),
            WorldFile("/s.xml", (Phase(0.0, "fetched"),), lists=("http://a.example/9",)),
        ),
    )
    web = WorldWeb(world_of(host))
    assert web.ask("http://a.example/robots.txt", 4.0, "robots").phase.status == 503
    robots = web.ask("http://a.example/robots.txt", 5.0, "robots")
    assert (robots.text, robots.body) == (text, text.encode())
    index, pages = (web.ask(f"http://a.example/{name}.xml", 0.0, "sitemap") for name in ("index", "s"))
    assert (index.sitemaps, index.links, pages.links) == (("http://a.example/s.xml",), (), ("http://a.example/9",))
    assert index.body is not None and b"<sitemap><loc>http://a.example/s.xml</loc>" in index.body
    assert pages.body is not None and b"<url><loc>http://a.example/9</loc>" in pages.body
    assert web.ask("http://a.example/s.xml", 55.0, "sitemap").phase.target == "http://a.example/maintenance"
    moved = web.ask("http://a.example/maintenance", 55.0, "sitemap")
    assert (moved.phase.outcome, moved.phase.status) == ("missing", 200), "a page is no sitemap"
    assert web.ask("http://a.example/maintenance", 55.0, "robots").text == ""
    bare = WorldWeb(world_of(WorldHost("a.example", (PAGE,), windows=host.windows)))
    assert bare.ask("http://a.example/robots.txt", 0.0, "robots").phase.status == 404
    assert bare.ask("http://a.example/sitemap.xml", 55.0, "sitemap").phase.outcome == "moved"


@pytest.mark.parametrize("outcome", [*PASSING, *ANSWERED])
def test_a_report_of_a_file(outcome: str) -> None:
    status = None if outcome == "silent" else {"fetched": 200, "moved": 301, "missing": 404}.get(outcome, 503)
    phase = Phase(0.0, outcome, status=status, target="http://a.example/2" if outcome == "moved" else None)
    claim = Claim("http://a.example/robots.txt", "robots:http://a.example", "t", 1.0, "a.example", 0)
    item = crawl._item(crawl._Held(claim, Met(phase, body=b"text")), 1.0)
    assert isinstance(item, Resource) and (item.claim, item.status) == (claim, status)
    assert (item.redirected_to, item.fault) == (phase.target, "silent" if outcome == "silent" else None)
    assert crawl._home(claim) == "http://a.example/robots.txt"
    assert crawl._home(replace(claim, key="sitemap:http://a.example/s.xml")) == "http://a.example/s.xml"
    assert crawl._home(replace(claim, key="0" * 32)) == ""


def test_a_large_world() -> None:
    world = draw(1, large=True)
    assert LARGE[0] <= len(world.hosts) <= LARGE[1]


def test_names() -> None:
    assert [world.name for world in named(["all"])] == list(NAMED)
    assert all(goal.urls for world in named(["all"]) for goal in world.goals)
    with pytest.raises(BadInput, match="no world 'nobody'; there are hanging-6"):
        named(["nobody"])


# ---------------------------------------------------------------- servers

PAGE = WorldPage("/", (Phase(0.0, "fetched"), Phase(10.0, "broken", status=500)), ("http://a.example/1",), HOUR)


def world_of(host: WorldHost, **more: object) -> World:
    return replace(draw(1, 1), hosts=(host,), line=(), **more)  # type: ignore[arg-type]


def test_a_page_changes_with_time() -> None:
    web = WorldWeb(world_of(WorldHost("a.example", (PAGE,))))
    assert web.ask("http://a.example/", 9.9).links == PAGE.links
    assert web.ask("http://a.example/", 10.0).phase.status == 500
    assert web.ask("http://a.example/none", 0.0).phase.status == 404
    well = WorldWeb(world_of(WorldHost("a.example", (replace(PAGE, phases=PAGE.phases[:1]),))))
    assert well.ask("http://a.example/", 1.0).content == well.ask("http://a.example/", HOUR - 1).content
    assert well.ask("http://a.example/", 1.0).content != well.ask("http://a.example/", HOUR).content


def test_a_window_goes_over_its_pages_and_the_line_over_all() -> None:
    refused, silent = Phase(0.0, "refused", status=503), Phase(0.0, "silent", status=None)
    dropped = WorldPage("/dropped", (Phase(0.0, "not_sent", status=None),))
    host = WorldHost("a.example", (PAGE, dropped), windows=(Window("maintenance_503", 2.0, 4.0, refused),))
    web = WorldWeb(replace(world_of(host), line=(Window("line", 3.0, 3.5, silent),)))
    assert [web.ask("http://a.example/", at).phase.outcome for at in (1.9, 2.0, 3.0, 3.5, 4.0)] == [
        *("fetched", "refused", "silent", "refused", "fetched")
    ]
    assert web.ask("http://a.example/dropped", 3.0).phase.outcome == "not_sent", "nothing was sent"


def test_a_host_bears_only_so_many_requests_a_minute() -> None:
    web = WorldWeb(world_of(WorldHost("a.example", (replace(PAGE, phases=PAGE.phases[:1]),), rate=2.0)))
    asked = [web.ask("http://a.example/", at).phase.outcome for at in (0.0, 1.0, 2.0, 100.0)]
    assert asked == ["fetched", "fetched", "refused", "fetched"]


def test_maintenance_leads_to_a_page_that_is_there() -> None:
    moved = Phase(0.0, "moved", status=301, target="http://a.example/maintenance")
    web = WorldWeb(world_of(WorldHost("a.example", (PAGE,), windows=(Window("maintenance_301", 0.0, 5.0, moved),))))
    assert web.ask("http://a.example/", 1.0).phase.target == "http://a.example/maintenance"
    assert web.ask("http://a.example/maintenance", 1.0).phase.outcome == "fetched"


def test_places_that_are_needed() -> None:
    slow = WorldPage("/", (Phase(0.0, "fetched", 6.0),))
    world = replace(world_of(WorldHost("a.example", (slow,))), settings={"delay_seconds": 2.0})
    assert places_needed(world) == 3.0
    assert places_needed(replace(world, settings={"delay_seconds": 2.0, "in_flight": 1})) == 1.0
    assert places_needed(replace(world, settings={"delay_seconds": 0.0})) == float("inf")


@pytest.mark.parametrize("outcome", [*ILL, *ANSWERED])
def test_a_report_says_what_was_met(monkeypatch: pytest.MonkeyPatch, outcome: str) -> None:
    """And whose fault it is, by a graphbrain whose `Failed` can say so."""
    faulty = make_dataclass("Faulty", [("fault", str | None, None)], bases=(Failed,), frozen=True)
    monkeypatch.setattr(crawl, "Failed", faulty)
    monkeypatch.setattr(crawl, "HAS_FAULT", True)
    status = None if outcome in ("silent", *NONE) else {"fetched": 200, "moved": 301}.get(outcome, 500)
    phase = Phase(0.0, outcome, status=status, target="http://a.example/2" if outcome == "moved" else None)
    claim = Claim("http://a.example/", "0" * 32, "t", 1.0, "a.example", 0)
    item = crawl._item(crawl._Held(claim, Met(phase, ("http://a.example/1",), "body")), 1.0)
    assert item.claim is claim
    if isinstance(item, Fetched):
        assert outcome in ("fetched", "moved")
        assert (item.redirected_to, bool(item.links)) == (phase.target, outcome == "fetched")
    else:
        assert outcome in (*ILL, "missing")
        assert (item.status, getattr(item, "fault", "")) == (status, outcome if status is None else None)


# ---------------------------------------------------------------- shrinking


def test_each_step_is_smaller() -> None:
    for seed in SEEDS:
        world = draw(seed, 4)
        for smaller in candidates(world):
            assert smaller != world
            urls = {url for _, _, url in smaller.pages()}
            assert set(smaller.seeds) <= urls
            assert smaller.hosts
            assert smaller.crawlers


def test_what_does_not_matter_goes() -> None:
    """The fault is of one page that refuses, and nothing else."""
    world = draw(12, 10)
    bad = next(url for _, page, url in world.pages() if page.phases[0].outcome == "refused")

    def fails(smaller: World) -> bool:
        return any(url == bad for _, _, url in smaller.pages())

    shrunk = shrink(world, fails, tries=2_000)
    assert fails(shrunk)
    assert len(shrunk.hosts) == 1
    assert len(shrunk.hosts[0].pages) <= 2
    assert not (shrunk.events or shrunk.jumps or shrunk.line or shrunk.hops)
    assert len(shrunk.crawlers) == 1
    assert shrunk.crawlers[0].drops == shrunk.crawlers[0].loses == 0.0


def test_a_file_that_matters_stays() -> None:
    world = next(world for seed in SEEDS if (world := draw(seed)).asks and world.hosts[3].sitemaps)
    file = world.hosts[3].sitemaps[-1]

    def fails(smaller: World) -> bool:
        return smaller.asks and any(each.path == file.path for host in smaller.hosts for each in host.sitemaps)

    shrunk = shrink(world, fails, tries=2_000)
    assert [len(host.sitemaps) for host in shrunk.hosts] == [1]
    assert len(shrunk.crawlers) == 1 and shrunk.crawlers[0].kinds == KINDS
    assert not shrink(world, lambda _: True, tries=2_000).asks, "what does not matter goes"


def test_shrinking_leaves_no_name_of_what_is_gone() -> None:
    for seed in range(20):
        for smaller in candidates(draw(seed, 4)):
            names = smaller.sitemaps().keys() | {host.url("/robots.txt") for host in smaller.hosts}
            for host in smaller.hosts if len(smaller.hosts) < 4 else ():
                robots = host.robots
                assert robots is None or set(Rules.read(robots.text).sitemaps) <= names
                assert robots is None or all(phase.target in (None, *names) for phase in robots.phases)


def test_an_event_that_matters_stays() -> None:
    event = Event(5.0, "forget", draw(3).hosts[4].url("/"))
    world = replace(draw(3), events=(*draw(3).events, event))
    shrunk = shrink(world, lambda smaller: event in smaller.events, tries=2_000)
    assert shrunk.events == (event,)
    assert [host.name for host in shrunk.hosts] == [world.hosts[4].name]


def test_shrinking_ends() -> None:
    tried: list[World] = []
    shrink(draw(3), lambda world: bool(tried.append(world)), tries=5)
    assert len(tried) == 5
    assert shrink(draw(3), lambda _: True, stop=lambda: True) == draw(3)


def test_a_goal_shrinks_with_its_pages() -> None:
    shrunk = shrink(named(["refusing-2"])[0], lambda world: bool(world.goals[0].urls), tries=500)
    assert len(shrunk.goals[0].urls) == 1
    assert shrunk.goals[0].at > DAY


# ---------------------------------------------------------------- the command line


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--pages", "3"], "No such option"),
        (["--seed", "x"], "'x' is not a valid integer"),
        (["--seed", "1", "--seed", "2", "--worlds", "2"], "counts on from one --seed"),
        (["--named", "all", "--seed", "1"], "is not drawn"),
        (["FILE", "--seed", "1"], "not both"),
    ],
)
def test_a_wrong_command_line(tmp_path: Path, words: list[str], said: str) -> None:
    file = tmp_path / "world"
    done = CliRunner().invoke(cli, ["bench", "worlds", *(str(file) if word == "FILE" else word for word in words)])
    assert (done.exit_code, said in done.output) == (2, True), done.output
