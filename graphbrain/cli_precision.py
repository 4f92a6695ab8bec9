"""`graphbrain precision`: how right the live scores are, as a table, CSV files and pictures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphbrain.cli_common import App, as_json, connection, pass_app
from graphbrain.errors import BadInput

if TYPE_CHECKING:
    from graphbrain.precision import Point, Run, Trial

__all__ = ["COMMANDS"]


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
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
@click.option("--yes", is_flag=True, help="Empty the brain without asking.")
@as_json
@connection
@pass_app
def precision(app: App, /, file: Path, nodes: Path | None, out: Path, yes: bool, as_json: bool, **options: Any) -> None:
    """Hold live scores against exact ones over a crawl.

    FILE is a recorded crawl as for 'replay'. It is crawled once for each engine and setting into an emptied brain;
    now and then the scores are compared with the solution for the links known at that moment, and at the end with
    rounds from nothing on the frozen graph. Writes points.csv, scores.csv and a picture (PNG, SVG) for each run.
    """
    from graphbrain import precision as experiment
    from graphbrain import records, show

    trials = _trials(options.pop("engine"), options.pop("eps"), options.pop("window"))
    recording = records.read(file, nodes=nodes)
    runs: list[Run] = []
    with app.brain() as brain:
        if (count := brain.stats()["pages"]) and not yes:
            click.confirm(f"This empties the brain of its {count:,} pages. Go on?", abort=True, err=True)
        with show.task_bar() as bar:
            for trial in trials:
                runs.append(experiment.run_trial(brain, trial, recording, progress=bar, **options))
    out.mkdir(parents=True, exist_ok=True)
    experiment.write_points(out / "points.csv", runs)
    experiment.write_scores(out / "scores.csv", runs)
    _print(runs, as_json)
    for path in _pictures(runs, out):
        show.say(f"Drawn: {path}")


def _trials(engine: str, eps: tuple[float, ...], window: tuple[float, ...]) -> list[Trial]:
    from graphbrain.precision import Trial

    if any(not 0 < value <= 1 for value in eps) or any(value < 0 for value in window):
        raise BadInput("eps must be above 0, at most 1, and a window 0 or more.")
    exact = [Trial("exact", value) for value in eps or (0.1, 0.03, 0.01)]
    classic = [Trial("classic", value) for value in window or (4.0, 16.0, 0.0)]
    return {"exact": exact, "classic": classic, "both": exact + classic}[engine]


def _print(runs: list[Run], as_json: bool) -> None:
    from graphbrain import show

    if as_json:
        show.json_lines(point.row() for run in runs for point in run.points)
        return
    head = ("run", "side", "fetched", "rounds", "L1", "largest", "top 1 %", "tau")
    show.out(show.rows_table(head, [_cells(point) for run in runs for point in run.points]))


def _cells(point: Point) -> list[str]:
    far = point.distance
    rounds = "live" if point.rounds is None else str(point.rounds)
    knob = point.trial.rpartition(", ")[2]  # it tells the engine, too: with both, a line would not fit in 80 columns
    return [
        knob, point.side, f"{point.fetched:,}", rounds,
        f"{far.l1:.2e}", f"{far.largest:.1e}", f"{far.top:.3f}", f"{far.tau:.3f}",
    ]  # fmt: skip


def _pictures(runs: list[Run], out: Path) -> list[Path]:
    """Pictures, or a sentence where matplotlib is missing: the figures are worth having without."""
    from graphbrain import precision_plot, show

    drawn: list[Path] = []
    try:
        for run in runs:
            name = "".join(c if c.isalnum() or c == "." else "-" for c in run.trial.name).replace("--", "-")
            drawn += precision_plot.draw(run, out / name)
    except BadInput as error:
        show.say(str(error))
    return drawn


COMMANDS = (precision,)
