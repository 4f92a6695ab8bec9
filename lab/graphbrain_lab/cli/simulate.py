"""The command that tries policies of revisiting out: simulate. It needs no server."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphbrain.cli.common import Number, as_json

if TYPE_CHECKING:
    from graphbrain_lab.simulate.histories import History
    from graphbrain_lab.simulate.simulation import Budget, SimulationOutcome

__all__ = ["COMMANDS"]

FIRST_DAYS = 3


class _At(click.ParamType[tuple[int, float]]):
    """A day and its visits, as DAY=VISITS."""

    name = "DAY=VISITS"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, float]:
        day, _, visits = str(value).partition("=")
        try:
            return int(day), float(visits)
        except ValueError:
            self.fail(f"{value!r} is not DAY=VISITS, as 30=500.", param, ctx)


class _Shape(click.ParamType[tuple[float, float]]):
    """The shape and the scale of a distribution, as SHAPE,SCALE."""

    name = "SHAPE,SCALE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[float, float]:
        shape, _, scale = str(value).partition(",")
        try:
            pair = float(shape), float(scale)
        except ValueError:
            pair = (0.0, 0.0)
        if not (0 < pair[0] < 1e9 and 0 < pair[1] < 1e9):
            self.fail(f"{value!r} is not SHAPE,SCALE, two positive numbers as 0.5,5.", param, ctx)
        return pair


@click.command()
@click.argument("history", required=False, type=click.Path(path_type=Path), metavar="[HISTORY]")
@click.option("--pages", type=click.IntRange(2, 1_000_000), help="Invented pages (2000).")
@click.option("--days", type=click.IntRange(2, 10_000), default=90, help="How long (90).")
@click.option("--budget", type=Number(0, min_open=True), help="Visits a day (a tenth of the pages).")
@click.option("--at", "changes", type=_At(), multiple=True, help="Another budget from DAY on; repeatable.")
@click.option("--policy", "names", multiple=True, metavar="NAME", help="Repeatable; 'all' for all, see below.")
@click.option("--from", "start", type=click.IntRange(0), help="Figures count from this day (half way).")
@click.option("--hosts", type=click.IntRange(1), help="Hosts of the invented pages, by Zipf's law (1).")
@click.option("--host-cap", type=Number(0, min_open=True), help="Most visits a day of one host.")
@click.option("--correlation", type=Number(-1, 1), help="Of ln value with ln rate, when invented (0).")
@click.option("--forgetting", type=Number(0, 1), help="Evidence kept at each visit (.98).")
@click.option("--prior", type=_Shape(), help="First belief on a page's changes; else it is fitted.")
@click.option("--reserve", type=Number(0, 1), help="Part of 'lanes' for the longest unseen (.01).")
@click.option("--seed", type=click.IntRange(0), default=1, help="Of all that is invented (1).")
@click.option("--plot", type=click.Path(path_type=Path), metavar="FILE", help="Draw freshness over time.")
@as_json
def simulate(**options: Any) -> None:
    """Compare revisit policies on invented or recorded changes.

    HISTORY is a table of changes with the columns epoch and document, tabs between them, as Open Terms Archive's;
    its last days are taken. Freshness is the share of value whose copy is up to date.

    Policies: lanes (graphbrain's own), gamma (the same, sorted exactly), gamma-mean, interval, equal-interval,
    large-numbers, naive-floor, naive (rates estimated in other ways), nutch, proportional, round-robin, and with the
    true rates optimal and known-lanes. The share in percent is of 'optimal', which is always run.
    """
    _simulate(**options)


def _simulate(
    history: Path | None,
    days: int,
    budget: float | None,
    changes: tuple[tuple[int, float], ...],
    names: tuple[str, ...],
    start: int | None,
    host_cap: float | None,
    prior: tuple[float, float] | None,
    seed: int,
    plot: Path | None,
    as_json: bool,
    forgetting: float | None,
    reserve: float | None,
    **invented: Any,
) -> None:
    """Check the options, run the policies one after another, and print the results."""
    from graphbrain.schedule.change_rate import Prior
    from graphbrain.terminal import show
    from graphbrain_lab.bench import plots
    from graphbrain_lab.simulate.simulation import Budget, run

    # Check the options.
    chosen = _chosen(names)
    start = days // 2 if start is None else start
    if start >= days:
        raise click.UsageError(f"--from {start} is not before the end on day {days}.")
    if plot is not None:
        plots.check(plot)
    # Run the policies.
    crawl = _history(history, days, seed, invented)
    spent = Budget(budget or crawl.pages / 10.0, tuple(sorted(changes)))
    spent.check(days)
    outcomes: list[SimulationOutcome] = []
    with show.task_bar() as bar:
        for name in chosen:
            outcomes.append(
                run(
                    crawl,
                    name,
                    spent,
                    host_cap=host_cap,
                    forgetting=forgetting,
                    reserve=reserve,
                    prior=None if prior is None else Prior(*prior),
                    progress=partial(bar, name),
                )
            )
    # Print and draw.
    rows = list(_figures(crawl, outcomes, spent, start, host_cap))
    if as_json:
        show.json_lines(rows)
    else:
        _print(crawl, rows, spent, start, host_cap)
    if plot is not None:
        marks = [(day, f"{visits:g} a day") for day, visits in spent.changes]
        title = f"{crawl.name}, {spent.daily:g} visits a day"
        plots.freshness_over_time(plot, {one.policy: one.freshness for one in outcomes}, title, marks)
        show.say(f"graphbrain: drawn to {plot}.")


def _chosen(names: tuple[str, ...]) -> list[str]:
    from graphbrain_lab.simulate.policies import DEFAULT, POLICIES

    wanted = list(POLICIES) if "all" in names else list(names or DEFAULT)
    unknown = [name for name in wanted if name not in POLICIES]
    if unknown:
        raise click.UsageError(f"There is no policy {unknown[0]!r}; there are {', '.join(POLICIES)}.")
    return list(dict.fromkeys(["optimal", *wanted]))


def _history(path: Path | None, days: int, seed: int, invented: dict[str, Any]) -> History:
    from graphbrain_lab.simulate import histories

    given = {name: value for name, value in invented.items() if value is not None}
    if path is None:
        return histories.synthetic(given.pop("pages", 2000), days, seed=seed, **given)
    if given:
        raise click.UsageError(f"--{min(given)} is for invented pages; {path.name} has its own.")
    return histories.recorded(path, days, seed=seed)


def _figures(
    history: History, outcomes: Sequence[SimulationOutcome], budget: Budget, start: int, host_cap: float | None
) -> Iterator[dict[str, Any]]:
    """Return one row for each policy, as --json prints it."""
    from graphbrain_lab.simulate import simulation

    # The bound is that for the budget of the last day.
    days = range(start, len(outcomes[0].freshness))
    best = outcomes[0]
    daily = budget.on(days[-1])
    bound = (
        simulation.optimum(history, daily)
        if host_cap is None
        else simulation.constrained_optimum(history, daily, host_cap)
    )
    for one in outcomes:
        yield {
            "policy": one.policy,
            "freshness": _shown(one.freshness[start:].mean()),
            "share": _shown(simulation.share_of(one, best, days)),
            "optimum": _shown(bound),
            "visits": _shown(one.visits[start:].mean()),
            "found": _shown(one.found[start:].mean()),
            "longest": one.longest,
            "unseen": one.unseen,
            "host_most": one.host_most,
            "segments": list(_segments(one, best, budget)),
            "by_day": [round(float(fresh), 5) for fresh in one.freshness],
        }


def _shown(number: float) -> float:
    """Return a number without the digits that depend on the processor."""
    return float(f"{number:.9g}")


def _segments(one: SimulationOutcome, best: SimulationOutcome, budget: Budget) -> Iterator[dict[str, Any]]:
    """Yield figures for each change of the budget: the share of the first days, of the rest, and the days until it has
    recovered."""
    from graphbrain_lab.simulate import simulation

    starts = [day for day, _ in budget.changes]
    for start, end in zip(starts, [*starts, len(one.freshness)][1:], strict=True):
        first = min(start + FIRST_DAYS, end)
        yield {
            "day": start,
            "budget": budget.on(start),
            "first_days": simulation.share_of(one, best, range(start, first)),
            "rest": simulation.share_of(one, best, range(first, end)) if first < end else None,
            "recovered": simulation.recovery(one, best, start, end),
        }


def _print(
    history: History, rows: Sequence[dict[str, Any]], budget: Budget, start: int, host_cap: float | None
) -> None:
    from graphbrain.terminal import show

    # Print the history and the budget.
    bound = f"{rows[0]['optimum']:.4f}"
    show.out(
        show.sheet(
            [
                ("history", f"{history.name}: {history.pages:,} pages, {len(history.moments):,} changes"),
                ("visits a day", f"{budget.daily:g}" + "".join(f", from day {day} {n:g}" for day, n in budget.changes)),
                ("figures", f"from day {start} to {len(rows[0]['by_day'])}"),
                ("by formula", f"{bound} at best with these rates" + (" under the cap" if host_cap else "")),
            ]
        ),
        "",
    )
    show.out(
        show.rows_table(
            ("freshness", "share %", "found/day", "longest", "unseen", "host/day", "policy"),
            [
                (
                    show.Cell(row["freshness"], f"{row['freshness']:.4f}"),
                    show.Cell(100 * row["share"], f"{100 * row['share']:.1f}"),
                    show.Cell(row["found"], f"{row['found']:,.0f}"),
                    show.Cell(row["longest"], f"{row['longest']:.0f} d"),
                    row["unseen"],
                    row["host_most"],
                    row["policy"],
                )
                for row in rows
            ],
        )
    )
    if budget.changes:
        show.out("", _recoveries(rows))


def _percent(share: float | None) -> Any:
    from graphbrain.terminal import show

    return show.Cell(None if share is None else 100 * share, "–" if share is None else f"{100 * share:.1f}")


def _recoveries(rows: Sequence[dict[str, Any]]) -> Any:
    from graphbrain.terminal import show

    lines = [
        (
            part["day"],
            show.Cell(part["budget"], f"{part['budget']:g}"),
            _percent(part["first_days"]),
            _percent(part["rest"]),
            show.Cell(part["recovered"], "–" if part["recovered"] is None else f"{part['recovered']} d"),
            row["policy"],
        )
        for segment in range(len(rows[0]["segments"]))
        for row in rows
        for part in [row["segments"][segment]]
    ]
    return show.rows_table(("day", "visits", "first 3 days %", "then %", "recovered after", "policy"), lines)


COMMANDS = (simulate,)
