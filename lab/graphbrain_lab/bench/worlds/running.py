"""Trials of worlds: the crawl of a world, its judgement, and the shrinking of a world that fails."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from graphbrain.brain.brain import Brain
from graphbrain_lab.bench.worlds.crawl import crawl
from graphbrain_lab.bench.worlds.judges import judge
from graphbrain_lab.bench.worlds.log import Log, Reported
from graphbrain_lab.bench.worlds.shrink import shrink
from graphbrain_lab.bench.worlds.verdict import WorldFinding
from graphbrain_lab.bench.worlds.world import DAY, World
from graphbrain_lab.simulate.on_graph import SimulatedClock

__all__ = ["WorldOutcome", "run", "try_world"]

LIMIT, FOR_HOST = 300.0, 6.0
"""The largest number of seconds of this machine for one world, and for each host of a large one. A crawl that is cut is
judged by its log so far."""

LEAST_SHRINKING, SHRINKING = 120.0, 6.0
"""The seconds for which a failing world is shrunk: at least the first, or the second times its own crawl's seconds."""


@dataclass(slots=True)
class WorldOutcome:
    """A world, the log of its crawl, and the findings. If it failed and was shrunk, also the smallest world that fails
    in the same way."""

    world: World
    log: Log
    findings: list[WorldFinding] = field(default_factory=list)
    shrunk: World | None = None
    shrunk_findings: list[WorldFinding] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Return True if every promise was kept."""
        return not self.findings


_Progress = Callable[[World, float, int], None]


def try_world(
    world: World,
    brain: Brain,
    clock: SimulatedClock,
    *,
    stop: Callable[[], bool] = lambda: False,
    progress: _Progress = lambda *_: None,
    limit: float = LIMIT,
) -> WorldOutcome:
    """Crawl a world with a brain, which is emptied first, and judge the crawl."""
    brain.clear()
    log = crawl(
        world,
        brain,
        clock,
        stop=stop,
        progress=lambda at, attempts: progress(world, min(1.0, at / (world.days * DAY)), attempts),
        limit=limit,
        enough=_reached(world),
    )
    return WorldOutcome(world, log, judge(world, log))


def _reached(world: World) -> Callable[[Log], bool]:
    """Return a function that returns True when all pages of a world's goals are fetched. The crawl can then end."""
    left = {url for goal in world.goals for url in goal.urls}
    if not left:
        return lambda _: False
    seen = 0

    def reached(log: Log) -> bool:
        nonlocal seen
        left.difference_update(
            entry.url for entry in log.entries[seen:] if isinstance(entry, Reported) and entry.outcome == "fetched"
        )
        seen = len(log.entries)
        return not left

    return reached


def run(
    worlds: Iterable[World],
    brain: Brain,
    clock: SimulatedClock,
    *,
    seconds: float = float("inf"),
    stop: Callable[[], bool] = lambda: False,
    progress: _Progress = lambda *_: None,
    shrinking: int = 0,
) -> Iterator[WorldOutcome]:
    """Try worlds one after another for `seconds`, and yield the outcomes. `shrinking`: the number of tries to make a
    failing world smaller."""
    until = time.monotonic() + seconds
    for world in worlds:
        if stop() or time.monotonic() > until:
            return
        outcome = try_world(
            world, brain, clock, stop=stop, progress=progress, limit=max(LIMIT, FOR_HOST * len(world.hosts))
        )
        if stop():
            return
        if not outcome.ok and shrinking:
            _shrink(outcome, brain, clock, stop, progress, shrinking)
        yield outcome


def _shrink(
    outcome: WorldOutcome,
    brain: Brain,
    clock: SimulatedClock,
    stop: Callable[[], bool],
    progress: _Progress,
    tries: int,
) -> None:
    # A smaller world counts if it fails before the same judge.
    judges = {outcome.findings[0].judge}
    until = time.monotonic() + max(LEAST_SHRINKING, SHRINKING * outcome.log.seconds)
    limit = max(10.0, 1.5 * outcome.log.seconds)
    found: list[WorldFinding] = []

    def fails(smaller: World) -> bool:
        tried = try_world(smaller, brain, clock, stop=stop, progress=progress, limit=limit)
        same = [finding for finding in tried.findings if finding.judge in judges]
        if same:
            found[:] = tried.findings
        return bool(same)

    # Shrink for a limited time.
    shrunk = shrink(outcome.world, fails, tries=tries, stop=lambda: stop() or time.monotonic() > until)
    if shrunk is not outcome.world:
        outcome.shrunk, outcome.shrunk_findings = shrunk, found
