"""The precision of live scores: the scores of a brain, at one moment or during a replayed crawl, are compared with
exact ones.

This is the precision experiment of crawl-frontier's documentation ("OPIC vs power method", 2015), corrected. The
reference is the solution for the links that the brain has at that moment: of the linear system of
`scores.accounts.solve` for the exact engine, and of the classic walk with its virtual page for the classic one. The
measure of the original's script is given, too: the change of the scores by one round of the walk. At the end the same
graph is frozen and scored from nothing by more and more rounds in memory. This shows the result of the engine if the
crawl stopped.

A brain that is only measured is only read, range by range, while other transactions run: first the links, then the
accounts. Changes in between count as error. Pages that are deleted in between are left out. Memory: at most 30 bytes a
link (44 if links differ in weight) and 250 bytes a page, and that of matplotlib. Statements: brain/sizes,
brain/states.
"""

from __future__ import annotations

import csv
import dataclasses
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphbrain.base.errors import BadInput
from graphbrain.base.numeric.arrays import Floats, Ints
from graphbrain.base.numeric.rules import Rule
from graphbrain.brain.brain import Brain
from graphbrain.graph import exports
from graphbrain.graph.exports import LinkTable, ScoreTerms
from graphbrain.scores.accounts import settlement, solve
from graphbrain.scores.accounts.classic_algebra import authority_share, hub_share
from graphbrain.scores.accounts.classic_ledger import read_virtual
from graphbrain_lab.bench import compare
from graphbrain_lab.recording import Recording
from graphbrain_lab.replay import replay

__all__ = ["Point", "PrecisionRun", "PrecisionTrial", "measure", "run_trial", "write_points", "write_scores"]

TOLERANCE = 1e-12
SIDES = ("hub", "authority")
URLS_AT_ONCE = 100_000
CATCH_UP_BATCH, CLASSIC_BATCH = 20_000, 400_000
"""The payments of a transaction while no other process needs the pages. The classic engine spends all cash many times.
In a large graph its transactions have a quarter of all links as payments, at most `CLASSIC_BATCH`, so that a page is
written once for many payments."""


@dataclass(frozen=True, slots=True)
class PrecisionTrial:
    """One engine with one value of its parameter: `eps` of the exact engine, or the `window` of the classic one (in
    units of the total cash; 0: none)."""

    engine: str
    knob: float

    @property
    def name(self) -> str:
        """Return the parameter's name and value."""
        return f"exact, eps {self.knob:g}" if self.engine == "exact" else f"classic, window {self.knob:g}"

    def settings(self) -> dict[str, Any]:
        """Return the settings of the brain for it."""
        return {"engine": self.engine, ("eps" if self.engine == "exact" else "window"): self.knob}


@dataclass(frozen=True, slots=True)
class Point:
    """The scores of one side at one moment. `rounds` is None for live scores, else the number of rounds on the frozen
    graph.

    `one_step` is the L∞ one-step residual of opic-precision.py in crawl-frontier's documentation (2015), ‖s −
    norm(M·s)‖∞ of shares s that sum to 1, where norm divides by the sum, and M is one whole round, to the other side
    and back. For classic hubs M is H·A, for authorities A·H, with A[j,i] = 1/(outdegree(i) + 1) and H[i,j] =
    1/(indegree(j) + 1) of each link i→j, by relevance where it is known, without the payments to the virtual page. For
    the exact engine it is a round of its linear system with payouts: hub ← b + M·hub as in `scores.accounts.solve`.
    `one_step_exact` is this residual of the exact scores. With the exact engine it is only rounding, with the classic
    one the payments of the omitted virtual page.
    """

    trial: str
    side: str
    fetched: int
    pages: int
    links: int
    rounds: int | None
    distance: compare.Distance
    one_step: float
    one_step_exact: float

    def row(self) -> dict[str, Any]:
        """Return the values as one flat row."""
        flat = {name: getattr(self, name) for name in ("trial", "side", "fetched", "pages", "links", "rounds")}
        steps = {"one_step": self.one_step, "one_step_exact": self.one_step_exact}
        return {**flat, **dataclasses.asdict(self.distance), **steps}


@dataclass(slots=True)
class PrecisionRun:
    """The points of a trial, and the last scores by page: shares, live, exact and after more rounds, of both sides.

    `named` yields the URLs of these pages in their order, read from the brain on demand. `when` describes the moment of
    the live scores.
    """

    trial: PrecisionTrial
    when: str = "after the crawl"
    points: list[Point] = field(default_factory=list)
    named: Callable[[], Iterator[str]] = lambda: iter(())
    live: dict[str, Floats] = field(default_factory=dict)
    exact: dict[str, Floats] = field(default_factory=dict)
    more: dict[str, Floats] = field(default_factory=dict)


def run_trial(
    brain: Brain,
    trial: PrecisionTrial,
    recording: Recording,
    *,
    points: int = 5,
    pages: int | None = None,
    rounds: int = 10,
    workers: int = 0,
    catch_up: bool = False,
    progress: Callable[[str, int, int], None] = lambda *_: None,
    stop: threading.Event | None = None,
) -> PrecisionRun:
    """Replay a recording into the emptied `brain` under a trial's settings, and measure.

    The brain keeps the trial's settings.

    Args:
        brain: The brain, which is empty.
        trial: The engine and its parameter.
        recording: The crawl.
        points: The number of measures on the way.
        pages: Replay only the first of the recording's pages.
        rounds: The number of rounds on the frozen graph at the end.
        workers: Processes that tend beside it; without any the brain tends itself, as for a single script.
        catch_up: Before each measure push until no push is worth it, to measure the parameter and not the lag.
        progress: Is called with the name of a step, its progress and its total.
        stop: Ends the replay when it is set. The pages fetched by then are measured. Without any there is no point.

    Raises:
        BadInput: No page could be fetched.
    """
    # Prepare the brain.
    stop = stop or threading.Event()
    brain.clear()
    brain.remake(delay_seconds=0.0, **trial.settings())
    total = min(pages or recording.pages, recording.pages)
    run, seeds = PrecisionRun(trial), list(recording.seeds())
    # Replay part by part, and measure after each.
    fetched = 0
    for part in np.linspace(0, total, points + 1).astype(int)[1:].tolist():
        limit = max(1, part - fetched)
        done = replay(brain, recording, seeds=seeds, workers=workers, limit=limit, settle=False, stop=stop)
        fetched += done.pages
        if not fetched:
            break
        if catch_up:
            brain.tend(None, batch=_batch(brain), passes=False, stop=stop.is_set)
        measured = _Measured.of(brain, trial)
        run.points += measured.points(fetched)
        progress(trial.name, fetched, total)
        if done.complete or stop.is_set():
            break
    # Add the rounds on the frozen graph.
    if not run.points:
        if stop.is_set():
            return run
        raise BadInput(f"Nothing of {recording.name} was fetched, so there is nothing to measure.")
    measured.finish(run, fetched, rounds)
    return run


def measure(
    brain: Brain, *, rounds: int = 10, progress: Callable[[str, int, int], None] = lambda *_: None
) -> PrecisionRun:
    """Measure the brain as it is, while other processes run, and change nothing in it.

    Args:
        brain: The brain.
        rounds: The number of rounds on the frozen graph.
        progress: Is called with the name of a step, its progress and its total.

    Raises:
        BadInput: There is no page.
        BeingConverted: The brain is between two engines.
    """
    # Read the settings, the links and the scores.
    brain.engine  # noqa: B018  # raises BeingConverted
    settings = brain.settings
    trial = PrecisionTrial(settings.engine, settings.eps if settings.engine == "exact" else settings.window)
    states = brain.graph.read(lambda tx: tx.many("brain/states", now=brain.now()), "brain/states")
    fetched = sum(pages for state, pages, *_ in states if state == "known")
    measured = _Measured.of(brain, trial, progress)
    if not measured.kept.any():
        raise BadInput("The brain has no pages yet, so there is nothing to measure.")
    # Compare the live scores with the exact ones.
    run = PrecisionRun(trial, "as they are")
    progress("comparing", 0, 0)
    run.points += measured.points(fetched)
    measured.finish(run, fetched, rounds, progress)
    return run


def _urls(brain: Brain, ids: Ints) -> Iterator[str]:
    """Yield the URLs of pages in their order, without those of deleted pages."""
    for start in range(0, len(ids), URLS_AT_ONCE):
        part = ids[start : start + URLS_AT_ONCE]
        named = exports.urls(brain.graph, part)
        yield from (named.get(page, "") for page in part.tolist())


def _batch(brain: Brain) -> int:
    """Return the number of payments in a transaction."""
    if brain.settings.engine == "exact":
        return CATCH_UP_BATCH
    links: int = brain.graph.read(lambda tx: tx.one("brain/sizes")[1], "brain/sizes")
    return max(CATCH_UP_BATCH, min(CLASSIC_BATCH, links // 4))


@dataclass(slots=True)
class _Measured:
    """The brain's links and scores at one moment, the exact scores, and the pages that still exist."""

    brain: Brain
    trial: PrecisionTrial
    table: LinkTable
    live: dict[str, Floats]
    exact: dict[str, Floats]
    walk: solve.System | solve.Flow
    kept: NDArray[np.bool_]
    floor: dict[str, float] = field(default_factory=dict)

    @classmethod
    def of(
        cls, brain: Brain, trial: PrecisionTrial, progress: Callable[[str, int, int], None] = lambda *_: None
    ) -> _Measured:
        # Read the links and the accounts.
        rule = brain.policy.rule
        table = exports.links(brain.graph, lambda done, of: progress("reading links", done, of))
        progress("reading accounts", 0, 0)
        accounts, terms = settlement.exported(brain.graph, table), exports.terms(brain.graph, table)
        kept = ~np.isnan(accounts.hub_history)

        def show_round(number: int, _: float) -> None:
            progress(f"solving, round {number}", 0, 0)

        # Solve for the exact scores, and take the live ones of the engine.
        walk: solve.System | solve.Flow
        if trial.engine == "exact":
            walk = settlement.system(table, terms, rule)
            found = walk.solve(tolerance=TOLERANCE, progress=show_round)
            exact = {"hub": found.hub, "authority": found.authority}
            live = {"hub": accounts.hub_score, "authority": accounts.authority_score}
        else:
            walk = _flow(table, terms, rule)
            exact = dict(zip(SIDES, walk.rest(TOLERANCE, progress=show_round), strict=True))
            live = {"hub": accounts.hub_history, "authority": accounts.authority_history}
            if rule.classic.score != "history":
                virtual = brain.graph.read(read_virtual, "classic/read_virtual")
                live["hub"] = accounts.hub_score + virtual.hub_offsets(table.ids)
                live["authority"] = accounts.authority_score + virtual.authority_offsets(table.ids)
        # Pages that were deleted have no score.
        for side in SIDES:
            live[side] = np.where(kept, live[side], 0.0)
        return cls(brain, trial, table, live, exact, walk, kept)

    def points(self, fetched: int, rounds: int | None = None, scores: dict[str, Floats] | None = None) -> list[Point]:
        """Return the points of both sides: the scores (by default the live ones) against the exact ones."""
        found = self.live if scores is None else scores
        self.floor = self.floor or self._one_step(self.exact)
        residuals = self._one_step(found)
        return [
            Point(
                self.trial.name,
                side,
                fetched,
                self.table.pages,
                self.table.links,
                rounds,
                compare.compare(found[side][self.kept], self.exact[side][self.kept]),
                residuals[side],
                self.floor[side],
            )
            for side in SIDES
        ]

    def _one_step(self, scores: dict[str, Floats]) -> dict[str, float]:
        """Return the change of the shares by one round: `Point.one_step` of both sides."""
        after = dict(zip(SIDES, self.walk.there_and_back(scores["hub"], scores["authority"]), strict=True))
        return {side: float(np.abs(compare.shares(after[side]) - compare.shares(scores[side])).max()) for side in SIDES}

    def finish(
        self,
        run: PrecisionRun,
        fetched: int,
        rounds: int,
        progress: Callable[[str, int, int], None] = lambda *_: None,
    ) -> None:
        """Add points for rounds from nothing on the frozen graph, and the scores of the last moment, to the run."""
        # Each round gives two points.
        number, last = 0, self.live

        def watch(hub: Floats, authority: Floats) -> None:
            nonlocal number, last
            number, last = number + 1, {"hub": hub.copy(), "authority": authority.copy()}
            run.points += self.points(fetched, number, last)
            progress("rounds from nothing", number, rounds)

        if isinstance(self.walk, solve.System):
            for hub, authority in islice(self.walk.rounds(), rounds):
                watch(hub, authority)
        else:
            self.walk.spend_all(rounds, watch)
        # Keep the last scores.
        for name, scores in (("live", self.live), ("exact", self.exact), ("more", last)):
            setattr(run, name, {side: compare.shares(column) for side, column in scores.items()})
        run.named = partial(_urls, self.brain, self.table.ids)


def _flow(table: LinkTable, terms: ScoreTerms, rule: Rule) -> solve.Flow:
    """Return the classic walk by the settings of a brain."""
    options = rule.classic
    return solve.Flow(
        table.offsets,
        table.targets,
        lambda out: hub_share(out, options.root_share),
        lambda into: authority_share(into, terms.relevance, options.relevance_rule, options.root_share),
        solve.link_weights(table.offsets, table.targets, terms.hosts, rule.intra_host_weight),
    )


def write_points(path: Path, run: PrecisionRun, *, more: bool = False) -> None:
    """Write all points of a run as CSV; `more` appends them to the file.

    Raises:
        BadInput: The file cannot be written.
    """
    rows = [point.row() for point in run.points]
    _write(path, list(rows[0]), (list(row.values()) for row in rows), more)


def write_scores(path: Path, run: PrecisionRun, *, more: bool = False) -> None:
    """Write the last scores of each page as CSV; `more` appends them to the file.

    Raises:
        BadInput: The file cannot be written.
    """
    columns = [f"{side}_{what}" for side in SIDES for what in ("live", "exact", "more")]
    _write(path, ["trial", "url", *columns], _score_rows(run), more)


def _write(path: Path, head: Sequence[str], rows: Iterable[Sequence[Any]], more: bool) -> None:
    try:
        with path.open("a" if more else "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            if not more:
                writer.writerow(head)
            writer.writerows(rows)
    except OSError as error:
        raise BadInput(f"{path} cannot be written ({error.strerror or error}).") from None


def _score_rows(run: PrecisionRun) -> Iterator[list[Any]]:
    columns = [getattr(run, what)[side] for side in SIDES for what in ("live", "exact", "more")]
    for url, *values in zip(run.named(), *columns, strict=True):
        yield [run.trial.name, url, *(f"{value:.9g}" for value in values)]
