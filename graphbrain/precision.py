"""How right the live scores are: a crawl is replayed, and now and then its scores are held against the exact ones.

What the precision experiment of crawl-frontier's documentation did ("OPIC vs power method", 2015), made right. The
reference is the solution for the very links the brain has at that moment: of the linear system of DESIGN §5.1 for the
exact engine, of the classic walk with its virtual page for the classic one, there the one-step residual (largest
change of a share by one application of the walk) is given, too. At the end the same graph is frozen and scored from
nothing by more and more rounds in memory: what the engine would reach if the crawl stood still.
Statements: brain/sizes.
"""

from __future__ import annotations

import csv
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from graphbrain import exports, fixedpoint, measures, settling
from graphbrain.brain import Brain
from graphbrain.classic import authority_share, hub_share
from graphbrain.errors import BadInput
from graphbrain.exports import LinkTable, Terms
from graphbrain.opichits import Floats
from graphbrain.recording import Recording
from graphbrain.replay import replay

__all__ = ["Point", "Run", "Trial", "run_trial", "write_points", "write_scores"]

TOLERANCE = 1e-12
CATCH_UP_BATCH, CLASSIC_BATCH = 20_000, 400_000
"""Payments of a transaction while nobody else needs the pages. The classic engine has to spend all cash many times
over: in a large graph up to `CLASSIC_BATCH`, a quarter of all links, for then most pages are written once for many
payments."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One engine with one choice of its knob: eps of the exact engine, the window (times the total cash, 0: none) of
    the classic one."""

    engine: str
    knob: float

    @property
    def name(self) -> str:
        """What the knob is called, and its value."""
        return f"exact, eps {self.knob:g}" if self.engine == "exact" else f"classic, window {self.knob:g}"

    def settings(self) -> dict[str, Any]:
        """Settings of the brain for it."""
        return {"engine": self.engine, ("eps" if self.engine == "exact" else "window"): self.knob}


@dataclass(frozen=True, slots=True)
class Point:
    """One side's scores at one moment: `rounds` is None for live scores, else the rounds made on the frozen graph."""

    trial: str
    side: str
    fetched: int
    pages: int
    links: int
    rounds: int | None
    distance: measures.Distance
    one_step: float

    def row(self) -> dict[str, Any]:
        """As one flat row."""
        flat = {name: getattr(self, name) for name in ("trial", "side", "fetched", "pages", "links", "rounds")}
        return {**flat, **dataclasses.asdict(self.distance), "one_step": self.one_step}


@dataclass(slots=True)
class Run:
    """A trial's points, and the last scores by page: shares, live, exact and after more rounds, of both sides."""

    trial: Trial
    points: list[Point] = field(default_factory=list)
    urls: list[str] = field(default_factory=list)
    live: dict[str, Floats] = field(default_factory=dict)
    exact: dict[str, Floats] = field(default_factory=dict)
    more: dict[str, Floats] = field(default_factory=dict)


def run_trial(
    brain: Brain,
    trial: Trial,
    recording: Recording,
    *,
    points: int = 5,
    pages: int | None = None,
    rounds: int = 10,
    workers: int = 0,
    catch_up: bool = False,
    progress: Callable[[str, int, int], None] = lambda *_: None,
    stop: Callable[[], bool] = lambda: False,
) -> Run:
    """Replay `recording` (its first `pages`) into the emptied `brain` under a trial's settings, and measure.

    `points`: how often on the way. `rounds`: on the frozen graph at the end. `workers`: processes that tend beside
    it; without any the brain tends itself, as it does for a single script. `catch_up`: before each measure push until
    nothing is worth it, so that what is measured is the knob and not the lag. Raises BadInput when nothing was fetched.
    """
    brain.clear()
    brain.remake(delay_seconds=0.0, **trial.settings())
    total = min(pages or recording.pages, recording.pages)
    run, seeds = Run(trial), list(recording.seeds())
    fetched = 0
    for part in np.linspace(0, total, points + 1).astype(int)[1:].tolist():
        if stop():
            break
        done = replay(brain, recording, seeds=seeds, workers=workers, limit=max(1, part - fetched), settle=False)
        fetched += done.pages
        if catch_up:
            brain.tend(None, batch=_batch(brain), passes=False, stop=stop)
        measured = _Measured.of(brain, trial)
        run.points += measured.points(fetched)
        progress(trial.name, fetched, total)
        if done.complete or done.interrupted:
            break
    if not run.points:
        raise BadInput(f"Nothing of {recording.name} was fetched, so there is nothing to measure.")
    measured.finish(run, fetched, rounds)
    named = exports.urls(brain.graph, measured.table.ids)
    run.urls = [named.get(page, "") for page in measured.table.ids.tolist()]
    return run


def _batch(brain: Brain) -> int:
    """How many payments to make in a transaction."""
    if brain.settings.engine == "exact":
        return CATCH_UP_BATCH
    links: int = brain.graph.read(lambda tx: tx.one("brain/sizes")[1], "brain/sizes")
    return max(CATCH_UP_BATCH, min(CLASSIC_BATCH, links // 4))


@dataclass(slots=True)
class _Measured:
    """The brain's links and scores at one moment, and what the scores should be."""

    trial: Trial
    table: LinkTable
    live: dict[str, Floats]
    exact: dict[str, Floats]
    walk: fixedpoint.System | fixedpoint.Flow

    @classmethod
    def of(cls, brain: Brain, trial: Trial) -> _Measured:
        table = exports.links(brain.graph)
        accounts, terms = exports.accounts(brain.graph, table), exports.terms(brain.graph, table)
        walk: fixedpoint.System | fixedpoint.Flow
        if trial.engine == "exact":
            walk = settling.system(table, terms, brain.policy.rule)
            found = walk.solve(tolerance=TOLERANCE)
            exact = {"hub": found.hub, "authority": found.authority}
            live = {"hub": accounts.hub_score, "authority": accounts.authority_score}
        else:
            walk = _flow(table, terms)
            exact = dict(zip(("hub", "authority"), walk.rest(TOLERANCE), strict=True))
            live = {"hub": accounts.hub_history, "authority": accounts.authority_history}
        return cls(trial, table, live, exact, walk)

    def points(self, fetched: int, rounds: int | None = None, scores: dict[str, Floats] | None = None) -> list[Point]:
        """Both sides' scores (the live ones unless given) against the exact ones."""
        found = self.live if scores is None else scores
        residuals = self._one_step(found)
        return [
            Point(
                self.trial.name,
                side,
                fetched,
                self.table.pages,
                self.table.links,
                rounds,
                measures.compare(found[side], self.exact[side]),
                residuals[side],
            )
            for side in ("hub", "authority")
        ]

    def _one_step(self, scores: dict[str, Floats]) -> dict[str, float]:
        """The largest change of a share when the walk (or the linear system) is applied once."""
        if isinstance(self.walk, fixedpoint.System):
            hub, authority = self.walk.hub(scores["authority"]), self.walk.authority(scores["hub"])
        else:
            hub, authority = self.walk.step(measures.shares(scores["hub"]), measures.shares(scores["authority"]))
        return {
            side: float(np.abs(measures.shares(after) - measures.shares(scores[side])).max())
            for side, after in (("hub", hub), ("authority", authority))
        }

    def finish(self, run: Run, fetched: int, rounds: int) -> None:
        """More rounds from fresh scores on the frozen graph; and the curves of the last moment."""
        seen: list[dict[str, Floats]] = []

        def watch(hub: Floats, authority: Floats) -> None:
            seen.append({"hub": hub.copy(), "authority": authority.copy()})

        if isinstance(self.walk, fixedpoint.System):
            for hub, authority in islice(self.walk.rounds(), rounds):
                watch(hub, authority)
        else:
            self.walk.spend_all(rounds, watch)
        for number, scores in enumerate(seen, start=1):
            run.points += self.points(fetched, number, scores)
        for name, scores in (("live", self.live), ("exact", self.exact), ("more", seen[-1] if seen else self.live)):
            setattr(run, name, {side: measures.shares(column) for side, column in scores.items()})


def _flow(table: LinkTable, terms: Terms) -> fixedpoint.Flow:
    out = np.diff(table.offsets).astype(np.float64)
    into = np.bincount(table.targets, minlength=table.pages).astype(np.float64)
    backward = authority_share(into, terms.relevance, "rational", 0.0)
    return fixedpoint.Flow(table.offsets, table.targets, hub_share(out, 0.0), backward)


def write_points(path: Path, runs: Sequence[Run]) -> None:
    """All points of all runs as CSV."""
    rows = [point.row() for run in runs for point in run.points]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def write_scores(path: Path, runs: Sequence[Run]) -> None:
    """The last scores of each page as CSV, a row for each page and trial."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        columns = [f"{side}_{what}" for side in ("hub", "authority") for what in ("live", "exact", "more")]
        writer.writerow(["trial", "url", *columns])
        for run in runs:
            writer.writerows(_score_rows(run))


def _score_rows(run: Run) -> Iterator[list[Any]]:
    columns = [getattr(run, what)[side] for side in ("hub", "authority") for what in ("live", "exact", "more")]
    for url, *values in zip(run.urls, *columns, strict=True):
        yield [run.trial.name, url, *(f"{value:.9g}" for value in values)]
