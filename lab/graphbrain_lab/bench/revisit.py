"""The freshness that the real brain keeps on a web of recorded changes, in simulated time, beside other policies."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import Any

from graphbrain.brain.brain import Brain
from graphbrain.terminal import show
from graphbrain_lab.bench import crawl
from graphbrain_lab.simulate import histories
from graphbrain_lab.simulate.on_graph import OnGraph, SimulatedClock
from graphbrain_lab.simulate.simulation import Budget, SimulationOutcome, run, share_of

__all__ = ["revisit"]

EVERY = (100.0, 20.0, 5.0)
"""Budgets: each page once in this number of days, on average."""
FORGETTING = 0.95
OTHERS = ("optimal", "lanes", "naive", "nutch", "round-robin")
INVENTED_PAGES = 300


def revisit(brain: Brain, clock: SimulatedClock, file: Path | None, days: int) -> list[dict[str, Any]]:
    """Return figures of the second half of the `days`: a row for each budget and policy; `graph` is the brain itself.

    `file` is a record of changes as for `simulate`; without it some are invented.
    """
    # All policies see the same history.
    history = histories.synthetic(INVENTED_PAGES, days) if file is None else histories.recorded(file, days)
    crawl.empty(brain)
    rows = []
    for every in EVERY:
        budget = Budget(history.pages / every)
        # Run the policies with this budget. The first one is the yardstick.
        outcomes: list[tuple[SimulationOutcome, float]] = []
        for name in (*OTHERS, "graph"):
            began = time.monotonic()
            with show.task_bar() as bar:
                outcome = run(
                    history,
                    name,
                    budget,
                    make=None if name != "graph" else lambda setting: OnGraph(setting, _emptied(brain), clock),
                    forgetting=FORGETTING,
                    progress=partial(bar, name),
                )
            outcomes.append((outcome, time.monotonic() - began))
        rows += [_row(every, one, outcomes[0][0], days, seconds) for one, seconds in outcomes]
    return rows


def _emptied(brain: Brain) -> Brain:
    brain.clear()
    return brain


def _row(every: float, one: SimulationOutcome, best: SimulationOutcome, days: int, seconds: float) -> dict[str, Any]:
    half = range(days // 2, days)
    return {
        "bench": "revisit",
        "days_a_visit": every,
        "policy": one.policy,
        "freshness": float(one.freshness[days // 2 :].mean()),
        "share_of_known_rates": share_of(one, best, half),
        "visits": int(one.visits.sum()),
        "longest": one.longest,
        "unseen": one.unseen,
        "seconds": seconds,
    }
