"""`graphbrain bench worlds`: worlds drawn by seeds, crawled in simulated time, and what they show of the promises."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphbrain.cli.common import App
from graphbrain.errors import BadInput, GraphbrainError

if TYPE_CHECKING:
    from graphbrain.bench.worlds import World, WorldOutcome

__all__ = ["OPTIONS", "OWN_OPTIONS", "run"]

OWN_OPTIONS = frozenset({"--worlds", "--minutes", "--order", "--large", "--named", "--shrink", "--yes"})
OPTIONS = OWN_OPTIONS | {"--seed", "--hosts"}
WORLDS, HOSTS, TRIES = 30, 10, 60
SHOWN = 5
"""So many findings of one judge are shown of a world."""


def run(
    app: App,
    file: Path | None,
    as_json: bool,
    *,
    seeds: Sequence[str] = (),
    count: int | None = None,
    hosts: int = HOSTS,
    minutes: float | None = None,
    order: str | None = None,
    large: bool = False,
    named: Sequence[str] = (),
    shrink: bool = True,
    yes: bool = False,
) -> int:
    """Try them; 1 when any has failed, 130 when it was interrupted."""
    from graphbrain.bench import worlds
    from graphbrain.ingest.replay import stoppable
    from graphbrain.simulate.on_graph import SimulatedClock
    from graphbrain.terminal import show

    tried = list(_worlds(file, seeds, count, hosts, order, large, named))
    clock, stop, failed, done = SimulatedClock(), threading.Event(), 0, 0
    with app.brain(auto_tend=False, as_it_is=True) as brain:
        if (pages := brain.stats()["pages"]) and not yes:
            raise GraphbrainError(f"The brain holds {show.counted(pages, 'page')}; --yes lets the worlds delete them.")
    with app.brain(auto_tend=False, as_it_is=True, clock=clock) as brain, stoppable(stop), show.share_bar() as bar:

        def says(world: World, share: float, attempts: int) -> None:
            bar(f"{_name(world)} ({done + 1} of {len(tried)}): {attempts:,} attempts", share)

        for outcome in worlds.run(
            tried,
            brain,
            clock,
            seconds=float("inf") if minutes is None else 60 * minutes,
            stop=stop.is_set,
            says=says,
            shrinking=TRIES if shrink else 0,
        ):
            done += 1
            failed += not outcome.ok
            _tell(outcome, as_json)
        brain.clear()
    if stop.is_set():
        show.say(f"graphbrain: interrupted after {show.counted(done, 'world')}, of which {failed} failed.")
        return 130
    left = len(tried) - done
    show.say(
        f"graphbrain: {show.counted(done, 'world')}, {failed} failed"
        + (f"; time was up before {left} more." if left else ".")
    )
    return 1 if failed else 0


def _worlds(
    file: Path | None,
    seeds: Sequence[str],
    count: int | None,
    hosts: int,
    order: str | None,
    large: bool,
    named: Sequence[str],
) -> Iterable[World]:
    """The worlds that are asked for: of a file, by their names, or drawn."""
    from graphbrain.bench import worlds

    if file is not None:
        if seeds or named or count:
            raise click.UsageError("Give a FILE, or options that draw worlds, not both.")
        return _of_file(file, worlds.from_json)
    if named:
        if seeds or count:
            raise click.UsageError("--named: a world that has a name is not drawn.")
        return worlds.named(named)
    first = [_number(seed) for seed in seeds] or [1]
    if len(first) == 1:
        drawn: Iterable[int] = itertools.islice(itertools.count(first[0]), count or (1 if seeds else WORLDS))
    elif count:
        raise click.UsageError("--worlds counts on from one --seed.")
    else:
        drawn = first
    return [worlds.draw(seed, hosts, order, large=large) for seed in drawn]


def _number(seed: str) -> int:
    if not seed.isdecimal():
        raise click.UsageError(f"--seed: of a world it is a whole number, not {seed!r:.80}.")
    return int(seed)


def _of_file(file: Path, read: Callable[[str], World]) -> Iterator[World]:
    """The worlds of a file: of each line that begins as one does, so that what was printed can be read."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{file} cannot be read: {error}.") from None
    worlds = [read(line) for line in text.splitlines() if line.startswith("{")]
    if not worlds:
        raise BadInput(f"{file} holds no world; give what 'graphbrain bench worlds' has printed.")
    yield from worlds


def _name(world: World) -> str:
    return world.name or f"world {world.seed}"


def _tell(outcome: WorldOutcome, as_json: bool) -> None:
    from graphbrain.bench.worlds import to_json
    from graphbrain.terminal import show

    log = outcome.log
    if as_json:
        show.json_lines([_figures(outcome)])
        return
    how = "ok" if outcome.ok else "FAILED"
    cut = " (cut: this machine took too long)" if log.cut else ""
    show.out(
        f"{how:6}  {_name(outcome.world)}: {outcome.world.size()}; {log.attempts} attempts in {log.calls} calls, "
        f"{log.seconds:.0f} s{cut}"
    )
    for finding in _some(outcome.findings):
        show.out(f"        {finding}")
    if not outcome.ok:
        show.out(f"        Again: graphbrain bench worlds {_again(outcome.world)}")
    if outcome.shrunk is not None:
        show.out(f"        Shrunk to {outcome.shrunk.size()}, which fails alike:")
        for finding in _some(outcome.shrunk_findings):
            show.out(f"        {finding}")
        show.out("        Again: graphbrain bench worlds FILE, where FILE has this line:", to_json(outcome.shrunk))


def _again(world: World) -> str:
    """The options by which a world is tried again."""
    from graphbrain.bench.worlds import draw

    if world.name:
        return f"--named {world.name}"
    hosts, order = len(world.hosts), world.order
    of_order = draw(world.seed, hosts).order != order
    large = draw(world.seed, hosts, order) != world
    return (
        f"--seed {world.seed}"
        + (" --large" if large else "" if hosts == HOSTS else f" --hosts {hosts}")
        + (f" --order {order}" if of_order else "")
    )


def _some(findings: Sequence[Any]) -> Iterator[str]:
    """The first findings of each judge, and how many more there are."""
    count: dict[str, int] = {}
    for finding in findings:
        count[finding.judge] = count.get(finding.judge, 0) + 1
        if count[finding.judge] <= SHOWN:
            yield str(finding)
    yield from (f"{judge}: {number - SHOWN} more" for judge, number in count.items() if number > SHOWN)


def _figures(outcome: WorldOutcome) -> dict[str, Any]:
    log = outcome.log
    return {
        "world": _name(outcome.world),
        "ok": outcome.ok,
        "findings": [{"judge": f.judge, "at": f.at, "text": f.text} for f in outcome.findings],
        "attempts": log.attempts,
        "calls": log.calls,
        "seconds": round(log.seconds, 1),
        "cut": log.cut,
        "states": log.states,
        "shrunk": outcome.shrunk,
    }
