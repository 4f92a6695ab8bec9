"""`graphbrain precision`: how right the live scores are, as a table, CSV files and pictures."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphbrain.base.errors import BadInput, GraphbrainError
from graphbrain.cli.common import App, as_json, connection, pass_app

if TYPE_CHECKING:
    from graphbrain.brain.brain import Brain
    from graphbrain_lab.bench.precision import Point, PrecisionRun, PrecisionTrial

__all__ = ["COMMANDS"]

POINTS, SCORES = "points.csv", "scores.csv"
OF_FILES = ("engine", "eps", "window", "nodes", "pages", "points", "workers", "catch_up", "yes")
"""Options that apply only to a recorded crawl."""


@click.command()
@click.argument("file", metavar="[FILE]", type=click.Path(path_type=Path), required=False)
@click.option("--engine", type=click.Choice(["exact", "classic", "both"]), default="both", help="Which (both).")
@click.option("--eps", multiple=True, type=float, help="Of the exact engine; repeatable (.1, .03, .01).")
@click.option("--window", multiple=True, type=float, help="Of the classic one, 0: none; repeatable (4, 16, 0).")
@click.option("--nodes", type=click.Path(path_type=Path), help="The node file of an edge list.")
@click.option("--pages", type=click.IntRange(1), help="Fetch so many (all).")
@click.option("--points", type=click.IntRange(1), default=5, help="Measure so often on the way (5).")
@click.option("--rounds", type=click.IntRange(1), default=10, help="On the frozen graph (10).")
@click.option("--workers", type=click.IntRange(0), default=0, help="Processes that tend beside it (0).")
@click.option("--catch-up", is_flag=True, help="Push what is worth it before each measure.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=Path("precision"), help="Where to.")
@click.option("--yes", is_flag=True, help="Empty the brain, and give it other settings, without asking.")
@as_json
@connection
@pass_app
@click.pass_context
def precision(
    context: click.Context,
    app: App,
    /,
    file: Path | None,
    nodes: Path | None,
    out: Path,
    yes: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """Compare live scores with exact ones.

    Without FILE the brain is only read, whatever crawls beside it, and its scores are compared with the solution for
    the links it has now; then with rounds from nothing on the frozen graph.

    FILE is a recorded crawl as for 'replay'. It is crawled once for each engine and setting into an emptied brain;
    now and then the scores are compared as above. Ctrl-C measures what is fetched, and ends it there. All the brain's
    settings are the last run's afterwards.

    Writes points.csv, scores.csv and a picture (PNG, SVG), after each run.
    """
    if file is None:
        given = {name: context.get_parameter_source(name) for name in OF_FILES}
        if own := [name for name, source in given.items() if source is click.core.ParameterSource.COMMANDLINE]:
            names = ", ".join(f"--{name.replace('_', '-')}" for name in own)
            raise click.UsageError(f"{names}: that is for a FILE; without one the brain is measured as it is now.")
        return _as_it_stands(app, out, as_json, options["rounds"])
    return _over_a_crawl(app, file, nodes, out, yes, as_json, **options)


def _as_it_stands(app: App, out: Path, as_json: bool, rounds: int) -> int:
    from graphbrain.terminal import show
    from graphbrain_lab.bench import precision as experiment

    _try(out)
    draws = _draws()
    with app.brain(auto_tend=False) as brain:
        with show.task_bar() as bar:
            run = experiment.measure(brain, rounds=rounds, progress=bar)
            bar("writing", 0, 0)
            _write(run, out, more=False)
            drawn = _draw(run, out) if draws else []
    _print(run.points, as_json)
    for path in drawn:
        show.say(f"Drawn: {path}")
    return 0


def _over_a_crawl(app: App, file: Path, nodes: Path | None, out: Path, yes: bool, as_json: bool, **options: Any) -> int:
    from graphbrain.terminal import show
    from graphbrain_lab.bench import precision as experiment
    from graphbrain_lab.recording import read
    from graphbrain_lab.replay import stoppable

    # Check everything that could fail after hours.
    trials = _trials(options.pop("engine"), options.pop("eps"), options.pop("window"))
    _try(out)
    draws = _draws()
    recording = read(file, nodes=nodes)
    stop = threading.Event()
    # Run the trials, and write the files after each.
    points: list[Point] = []
    drawn: list[Path] = []
    try:
        with app.brain() as brain, stoppable(stop):
            _ask(brain, yes)
            with show.task_bar() as bar:
                for trial in trials:
                    run = experiment.run_trial(brain, trial, recording, progress=bar, stop=stop, **options)
                    if run.points:
                        _write(run, out, more=bool(points))
                        points += run.points
                        drawn += _draw(run, out) if draws else []
                    if stop.is_set():
                        break
    finally:
        # Print the results of hours, also after an error.
        if points:
            _print(points, as_json)
        for path in drawn:
            show.say(f"Drawn: {path}")
    if stop.is_set():
        show.say(f"graphbrain: interrupted; what was measured until then is in {out}.")
        return 130
    return 0


def _try(out: Path) -> None:
    """Raise BadInput if the files cannot be written. This is called before any work is done for them."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name in (POINTS, SCORES):
            (out / name).open("a").close()
    except OSError as error:
        why = error.strerror or error
        raise BadInput(f"Nothing can be written into {out} ({why}): name another directory with --out.") from None


def _draws() -> bool:
    """Return whether pictures can be drawn, and report the reason if not. The figures are useful without them."""
    from graphbrain.terminal import show
    from graphbrain_lab.bench import plots

    try:
        plots.needed()
    except BadInput as error:
        show.say(str(error))
        return False
    return True


def _ask(brain: Brain, yes: bool) -> None:
    """Ask before pages or settings are lost."""
    from graphbrain.base.settings import Settings
    from graphbrain.terminal import show

    count = brain.quick_figures()["known_pages"]
    usual = {**Settings.names("shared", "fixed"), "crawl": brain.settings.crawl}
    own = sorted(name for name, value in usual.items() if getattr(brain.settings, name) != value)
    lost = [f"its {show.counted(count, 'page')}"] if count else []
    lost += [f"its own {', '.join(own)}"] if own else []
    if lost and not yes and not click.confirm(f"The brain loses {' and '.join(lost)}. Go on?", err=True):
        raise GraphbrainError("Nothing was done; confirm with --yes.")


def _trials(engine: str, eps: tuple[float, ...], window: tuple[float, ...]) -> list[PrecisionTrial]:
    from graphbrain_lab.bench.precision import PrecisionTrial

    if any(not 0 < value <= 1 for value in eps) or any(value < 0 for value in window):
        raise BadInput("eps must be above 0, at most 1, and a window 0 or more.")
    exact = [PrecisionTrial("exact", value) for value in eps or (0.1, 0.03, 0.01)]
    classic = [PrecisionTrial("classic", value) for value in window or (4.0, 16.0, 0.0)]
    return {"exact": exact, "classic": classic, "both": exact + classic}[engine]


def _print(points: list[Point], as_json: bool) -> None:
    from graphbrain.terminal import show

    if as_json:
        show.json_lines(point.row() for point in points)
        return
    head = ("run", "side", "fetched", "round", "L1", "largest", "top 1%", "tau", "1 step")
    show.out(show.rows_table(head, [_cells(point) for point in points]))


def _cells(point: Point) -> list[Any]:
    from graphbrain.terminal.show import Cell

    far = point.distance
    rounds = "live" if point.rounds is None else str(point.rounds)
    # The setting also names the engine. With both, a line would not fit in 80 columns.
    knob = point.trial.rpartition(", ")[2]
    return [
        knob, point.side, point.fetched, rounds,
        Cell(far.l1, f"{far.l1:.1e}"), Cell(far.largest, f"{far.largest:.1e}"), Cell(far.top, f"{far.top:.3f}"),
        Cell(far.tau, f"{far.tau:.3f}"), Cell(point.one_step, f"{point.one_step:.1e}"),
    ]  # fmt: skip


def _write(run: PrecisionRun, out: Path, more: bool) -> None:
    from graphbrain_lab.bench import precision as experiment

    experiment.write_points(out / POINTS, run, more=more)
    experiment.write_scores(out / SCORES, run, more=more)


def _draw(run: PrecisionRun, out: Path) -> list[Path]:
    from graphbrain_lab.bench import precision_plot

    name = "".join(c if c.isalnum() or c == "." else "-" for c in run.trial.name).replace("--", "-")
    return precision_plot.draw(run, out / name)


COMMANDS = (precision,)
