"""How right the live scores are: a crawl is replayed, and now and then its scores are held against the exact ones.

What the precision experiment of crawl-frontier's documentation did ("OPIC vs power method", 2015), made right. The
reference is the solution for the very links the brain has at that moment: of the linear system of DESIGN §5.1 for the
exact engine, of the classic walk with its virtual page for the classic one. Beside it stands the measure of the
original's own script, how much one round of the walk changes the scores. At the end the same graph is frozen and
scored from nothing by more and more rounds in memory: what the engine would reach if the crawl stood still.
Statements: brain/sizes.
"""

from __future__ import annotations

import csv
import dataclasses
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
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
SIDES = ("hub", "authority")
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
    """One side's scores at one moment: `rounds` is None for live scores, else the rounds made on the frozen graph.

    `one_step`: the L∞ one-step residual of opic-precision.py in crawl-frontier's documentation (2015), ‖s − norm(M·s)‖∞
    of shares s that sum to 1, where norm divides by the sum, and M is one whole round, to the other side and back: of
    classic hubs H·A, of authorities A·H, with A[j,i] = 1/(outdegree(i) + 1) and H[i,j] = 1/(indegree(j) + 1) of each
    link i→j, by relevance where it is known, and what goes to the virtual page left out. Of the exact engine it is a
    round of its linear system, payouts and all: hub ← b + M·hub as in `fixedpoint`. `one_step_exact`: the same of the
    exact scores. It is rounding with the exact engine; with the classic one it is what the left out virtual page pays.
    """

    trial: str
    side: str
    fetched: int
    pages: int
    links: int
    rounds: int | None
    distance: measures.Distance
    one_step: float
    one_step_exact: float

    def row(self) -> dict[str, Any]:
        """As one flat row."""
        flat = {name: getattr(self, name) for name in ("trial", "side", "fetched", "pages", "links", "rounds")}
        steps = {"one_step": self.one_step, "one_step_exact": self.one_step_exact}
        return {**flat, **dataclasses.asdict(self.distance), **steps}


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
    stop: threading.Event | None = None,
) -> Run:
    """Replay `recording` (its first `pages`) into the emptied `brain` under a trial's settings, and measure.

    `points`: how often on the way. `rounds`: on the frozen graph at the end. `workers`: processes that tend beside
    it; without any the brain tends itself, as it does for a single script. `catch_up`: before each measure push until
    nothing is worth it, so that what is measured is the knob and not the lag. `stop`: when it is set, what is fetched
    by then is measured, and that is the end; without any point, where that is nothing. The brain's settings are the
    trial's from then on. Raises BadInput when nothing could be fetched.
    """
    stop = stop or threading.Event()
    brain.clear()
    brain.remake(delay_seconds=0.0, **trial.settings())
    total = min(pages or recording.pages, recording.pages)
    run, seeds = Run(trial), list(recording.seeds())
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
    if not run.points:
        if stop.is_set():
            return run
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
            exact = dict(zip(SIDES, walk.rest(TOLERANCE), strict=True))
            live = {"hub": accounts.hub_history, "authority": accounts.authority_history}
        return cls(trial, table, live, exact, walk)

    def points(self, fetched: int, rounds: int | None = None, scores: dict[str, Floats] | None = None) -> list[Point]:
        """Both sides' scores (the live ones unless given) against the exact ones."""
        found = self.live if scores is None else scores
        residuals, floor = self._one_step(found), self._one_step(self.exact)
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
                floor[side],
            )
            for side in SIDES
        ]

    def _one_step(self, scores: dict[str, Floats]) -> dict[str, float]:
        """How much one round changes the shares: `Point.one_step` of both sides."""
        after = dict(zip(SIDES, self.walk.there_and_back(scores["hub"], scores["authority"]), strict=True))
        return {
            side: float(np.abs(measures.shares(after[side]) - measures.shares(scores[side])).max()) for side in SIDES
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


def write_points(path: Path, run: Run, *, more: bool = False) -> None:
    """All points of a run as CSV; `more`: below what stands there. Raises BadInput where that cannot be."""
    rows = [point.row() for point in run.points]
    _write(path, list(rows[0]), (list(row.values()) for row in rows), more)


def write_scores(path: Path, run: Run, *, more: bool = False) -> None:
    """The last scores of each page as CSV; `more`: below what stands there. Raises BadInput where that cannot be."""
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


def _score_rows(run: Run) -> Iterator[list[Any]]:
    columns = [getattr(run, what)[side] for side in SIDES for what in ("live", "exact", "more")]
    for url, *values in zip(run.urls, *columns, strict=True):
        yield [run.trial.name, url, *(f"{value:.9g}" for value in values)]
