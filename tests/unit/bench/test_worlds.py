"""Worlds are drawn by their seed alone, survive JSON, behave as they say, and shrink to what matters."""

from __future__ import annotations

import sys
from dataclasses import make_dataclass, replace
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner

from graphbrain.bench.worlds import NAMED, World, draw, from_json, named, to_json
from graphbrain.bench.worlds.drawing import LARGE, places_needed
from graphbrain.bench.worlds.progress import can_keep_up
from graphbrain.bench.worlds.shrink import candidates, shrink
from graphbrain.bench.worlds.web import Met, WorldWeb
from graphbrain.bench.worlds.world import (
    ANSWERED,
    DAY,
    HOUR,
    ILL,
    NONE,
    WINDOWS,
    Event,
    Phase,
    Window,
    WorldHost,
    WorldPage,
)
from graphbrain.cli.app import cli
from graphbrain.errors import BadInput
from graphbrain.model import Claim, Failed, Fetched
from graphbrain.settings import ORDERS, Settings

SEEDS = range(60)
crawl = sys.modules["graphbrain.bench.worlds.crawl"]
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
        *("deny_host", "allow_host"),
    }
    assert {world.order for world in worlds} == set(ORDERS)
    assert any(by < 0 for world in worlds for _, by in world.jumps)
    assert any(by > 0 for world in worlds for _, by in world.jumps)
    assert any(world.hops for world in worlds)
    for habit in ("drops", "late", "returns", "loses", "away"):
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


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", '{"seed": 1}', to_json(draw(1))[:-1]])
def test_what_is_no_world_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="no world"):
        from_json(text)


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
        (["--pages", "3"], "--pages: 'worlds' has no use for it"),
        (["--seed", "x"], "a whole number, not 'x'"),
        (["--seed", "1", "--seed", "2", "--worlds", "2"], "counts on from one --seed"),
        (["--named", "all", "--seed", "1"], "is not drawn"),
        (["FILE", "--seed", "1"], "not both"),
    ],
)
def test_a_wrong_command_line(tmp_path: Path, words: list[str], said: str) -> None:
    file = tmp_path / "world"
    done = CliRunner().invoke(cli, ["bench", "worlds", *(str(file) if word == "FILE" else word for word in words)])
    assert (done.exit_code, said in done.output) == (2, True), done.output
