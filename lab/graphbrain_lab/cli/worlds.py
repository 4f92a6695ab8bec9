"""`graphbrain bench worlds`: crawls of drawn worlds in simulated time, and the promises that they break."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphbrain.base.errors import BadInput
from graphbrain.base.numeric.methods import ORDERS
from graphbrain.cli.common import App, Number, as_json, connection, pass_app
from graphbrain_lab.cli.common import FILE, emptied, seed_numbers

if TYPE_CHECKING:
    from graphbrain_lab.bench.worlds import World, WorldOutcome

__all__ = ["worlds"]

WORLDS, HOSTS, TRIES = 30, 10, 60
SHOWN = 5
"""The number of findings of one judge that are shown for a world."""


@click.command()
@click.argument("file", required=False, type=FILE)
@click.option("--seed", "seeds", multiple=True, type=click.IntRange(0), help="Draw world N; repeatable.")
@click.option("--worlds", "count", type=click.IntRange(1), help="Draw so many, from --seed on (30).")
@click.option("--hosts", type=click.IntRange(1), default=HOSTS, help="Hosts of a world (10).")
@click.option("--large", is_flag=True, help="100 to 300 hosts.")
@click.option("--order", type=click.Choice(ORDERS), help="Of all crawls (a world's own).")
@click.option("--named", multiple=True, metavar="NAME", help="A world with a name, or all; repeatable.")
@click.option("--minutes", type=Number(0), help="Begin no other world after so long.")
@click.option("--shrink/--no-shrink", default=True, help="Make a world that fails smaller (--shrink).")
@click.option("--yes", is_flag=True, help="Empty the brain without asking.")
@as_json
@connection
@pass_app
def worlds(
    app: App,
    file: Path | None,
    seeds: Sequence[int],
    count: int | None,
    hosts: int,
    large: bool,
    order: str | None,
    named: Sequence[str],
    minutes: float | None,
    shrink: bool,
    yes: bool,
    as_json: bool,
) -> int:
    """Look for broken promises in worlds that misbehave.

    Worlds are drawn by --seed, with servers, crawlers and clocks that misbehave. They are crawled in simulated time,
    and the claims are compared with what docs/explanation/promises.md promises. A world that breaks a promise is made
    smaller and printed; FILE is one that was printed. It empties the brain. Exits 1 when a promise was broken.
    """
    from graphbrain.terminal import show
    from graphbrain_lab.bench import worlds as trials
    from graphbrain_lab.replay import stoppable
    from graphbrain_lab.simulate.on_graph import SimulatedClock

    # Try the worlds, and print each outcome.
    tried = list(_worlds(file, seeds, count, hosts, order, large, named))
    clock, stop, failed, done = SimulatedClock(), threading.Event(), 0, 0
    with emptied(app, "the worlds", yes, clock=clock) as brain, stoppable(stop), show.share_bar() as bar:

        def on_progress(world: World, share: float, attempts: int) -> None:
            bar(f"{_name(world)} ({done + 1} of {len(tried)}): {attempts:,} attempts", share)

        for outcome in trials.run(
            tried,
            brain,
            clock,
            seconds=float("inf") if minutes is None else 60 * minutes,
            stop=stop.is_set,
            progress=on_progress,
            shrinking=TRIES if shrink else 0,
        ):
            done += 1
            failed += not outcome.ok
            _print(outcome, as_json)
        brain.clear()
    # Print the number of worlds that failed.
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
    seeds: Sequence[int],
    count: int | None,
    hosts: int,
    order: str | None,
    large: bool,
    named: Sequence[str],
) -> Iterable[World]:
    """Return the worlds of a file, the worlds with names, or drawn worlds."""
    from graphbrain_lab.bench import worlds

    if file is not None:
        if seeds or named or count:
            raise click.UsageError("Give a FILE, or options that draw worlds, not both.")
        return _of_file(file, worlds.from_json)
    if named:
        if seeds or count:
            raise click.UsageError("--named: a world that has a name is not drawn.")
        return worlds.named(named)
    numbers = seed_numbers(seeds, count, WORLDS, "--worlds")
    return [worlds.draw(seed, hosts, order, large=large) for seed in numbers]


def _of_file(file: Path, read: Callable[[str], World]) -> Iterator[World]:
    """Yield the worlds of a file, which may be the output of the command: lines without a world are skipped."""
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


def _print(outcome: WorldOutcome, as_json: bool) -> None:
    from graphbrain.terminal import show
    from graphbrain_lab.bench.worlds import to_json

    log = outcome.log
    if as_json:
        show.json_lines([_figures(outcome)])
        return
    # Print the verdict, the size of the world, and the findings.
    how = "ok" if outcome.ok else "FAILED"
    cut = " (cut: this machine took too long)" if log.cut else ""
    show.out(
        f"{how:6}  {_name(outcome.world)}: {outcome.world.size()}; {log.attempts} attempts in {log.calls} calls, "
        f"{log.seconds:.0f} s{cut}"
    )
    for finding in _some(outcome.findings):
        show.out(f"        {finding}")
    # Print the command that runs the world again, and a smaller world that fails alike.
    if not outcome.ok:
        show.out(f"        Again: graphbrain bench worlds {_again(outcome.world)}")
    if outcome.shrunk is not None:
        show.out(f"        Shrunk to {outcome.shrunk.size()}, which fails alike:")
        for finding in _some(outcome.shrunk_findings):
            show.out(f"        {finding}")
        show.out("        Again: graphbrain bench worlds FILE, where FILE has this line:", to_json(outcome.shrunk))


def _again(world: World) -> str:
    """Return the options for another trial of a world."""
    from graphbrain_lab.bench.worlds import draw

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
    """Yield the first findings of each judge, and the number of the others."""
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
