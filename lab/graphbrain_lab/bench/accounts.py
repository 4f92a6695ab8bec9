"""Benchmarks of the accounts: a settling pass from nothing, and the cost of following a growing crawl by pushes.

`settle` reports links without pushes. Then one pass brings all accounts to their fixed point, alone or beside threads
that report. `grow` begins with exact scores. The crawl grows by a hundredth at a time, and pushes follow. Their work is
compared with that of a full recomputation that writes its result, and their scores with the exact ones.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from graphbrain.base.model import Fetched
from graphbrain.base.numeric.arrays import Floats
from graphbrain.brain.brain import Brain
from graphbrain.graph import exports
from graphbrain.graph.exports import LinkTable
from graphbrain.scores.accounts import settlement
from graphbrain_lab.bench import compare, crawl
from graphbrain_lab.recording import Recording

__all__ = ["grow", "settle"]

WRITER_BATCH = 20
COARSE = 1e-2
"""The L1 error at which a recomputation in memory ends."""


def settle(brain: Brain, recording: Recording, pages: int | None, writers: int) -> list[dict[str, Any]]:
    """Report `pages` of a recording in crawl order, then settle from nothing beside `writers`, the number of threads
    that report."""
    # Report the pages.
    crawl.empty(brain)
    order = crawl.crawl_order(recording, pages)
    crawl.report_all(brain, recording, order)
    # Settle, and measure the time of each phase.
    waits: list[float] = []
    with crawl.profile(brain) as spent, _writers(brain, recording, order, writers, waits):
        phases: dict[str, float] = {}
        done = brain.settle(progress=_clocking(phases))
    audit = brain.audit(10_000)
    return [
        {
            "measure": "settle",
            "recording": recording.name,
            "writers": writers,
            "pages": done.pages,
            "links": done.links,
            "rounds": done.rounds,
            "residual": done.residual,
            "payments": done.payments,
            "left_to_pushes": done.left,
            "seconds": round(done.seconds, 2),
            "seconds_of": {what: round(seconds, 2) for what, seconds in phases.items()},
            "writers_reports": len(waits),
            "writers_longest_wait": round(max(waits, default=0.0), 2),
            "error_bound_after": audit.figures["error_bound"],
            "gap": audit.figures["gap"],
            "statement_seconds": crawl.shares(spent),
        }
    ]


def _clocking(phases: dict[str, float]) -> Callable[[str, int, int], None]:
    """Return a progress callback that adds up the seconds between its calls."""
    last = time.perf_counter()

    def note(what: str, _done: int, _of: int) -> None:
        nonlocal last
        now = time.perf_counter()
        phases[what] = phases.get(what, 0.0) + now - last
        last = now

    return note


@contextmanager
def _writers(brain: Brain, recording: Recording, order: list[int], count: int, waits: list[float]) -> Iterator[None]:
    """Run threads that report pages again, each time without one of their links. Add the seconds of calls to
    `waits`."""
    over = threading.Event()

    def write(number: int) -> None:
        dice = np.random.default_rng(number)
        while not over.is_set():
            batch = [_changed(recording, order[int(n)], dice) for n in dice.integers(0, len(order), WRITER_BATCH)]
            began = time.perf_counter()
            brain.report(list({item.url: item for item in batch}.values()))
            waits.append(time.perf_counter() - began)

    # Start the threads, and stop them at the end of the block.
    threads = [threading.Thread(target=write, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


def _changed(recording: Recording, page: int, dice: np.random.Generator) -> Fetched:
    links = list(recording.links_of(page))
    if links:
        del links[int(dice.integers(0, len(links)))]
    return Fetched(recording.urls[page], links, body_hash=f"changed-{dice.integers(0, 1 << 30)}")


def grow(
    brain: Brain, recording: Recording, pages: int | None, start: float = 0.6, steps: int = 5
) -> list[dict[str, Any]]:
    """Report a part `start` of the pages, settle, then grow by 1 % of all at a time, with pushes after each step.

    The payments of pushes during reports are counted. The writes and the time of reports are not. The writes of a step
    include those of upkeep for the sections of its pages.
    """
    # Settle the first part: this is the work of a full recomputation.
    crawl.empty(brain)
    order = crawl.crawl_order(recording, pages)
    first, step = int(len(order) * start), max(1, len(order) // 100)
    crawl.report_all(brain, recording, order[:first])
    with _work(brain) as full:
        done = brain.settle(tolerance=1e-10)
    full |= {"seconds": done.seconds, "payments": done.payments}
    # Report the other pages step by step.
    figures = []
    for number in range(steps):
        begin = first + number * step
        before = brain.stats()["done"]["payments"]
        crawl.report_all(brain, recording, order[begin : begin + step])
        with _work(brain) as spent:
            tended = brain.tend(None, passes=False)
        spent |= {"seconds": tended.seconds, "payments": brain.stats()["done"]["payments"] - before}
        figures.append(_step(brain, full, spent, begin + step))
    return figures


@contextmanager
def _work(brain: Brain) -> Iterator[dict[str, float]]:
    """Count the properties written within the block."""
    spent: dict[str, float] = {}
    before = brain.graph.counts["properties written"]
    with brain.graph.trace(lambda *_: None):
        yield spent
    spent["writes"] = brain.graph.counts["properties written"] - before


def _step(brain: Brain, full: dict[str, float], spent: dict[str, float], fetched: int) -> dict[str, Any]:
    """Return the work of one step as shares of a full recomputation, and its error."""
    # Compare the scores with the exact ones.
    table = exports.links(brain.graph)
    accounts = settlement.exported(brain.graph, table)
    exact, rounds = _exact(brain, table)
    far = compare.compare(accounts.authority_score, exact["authority"])
    near = compare.compare(accounts.hub_score, exact["hub"])
    return {
        "measure": "grow",
        "fetched": fetched,
        "pages": table.pages,
        "links": table.links,
        "eps": brain.settings.eps,
        "payments": spent["payments"],
        "writes": spent["writes"],
        "seconds": round(spent["seconds"], 2),
        "payments_of_full": round(spent["payments"] / (2 * table.links * rounds), 4),
        "writes_of_full": round(spent["writes"] / full["writes"], 4),
        "seconds_of_full": round(spent["seconds"] / full["seconds"], 4),
        "full_rounds": rounds,
        "l1_authority": far.l1,
        "l1_hub": near.l1,
        "top_authority": far.top,
        "top_hub": near.top,
    }


def _exact(brain: Brain, table: LinkTable) -> tuple[dict[str, Floats], int]:
    """Return the exact scores, and the number of rounds after which the power method is within COARSE of them."""
    system = settlement.system(table, exports.terms(brain.graph, table), brain.policy.rule)
    found = system.solve(tolerance=1e-12)
    goal = compare.shares(found.authority)
    scores = (compare.shares(authority) for _, authority in system.rounds())
    enough = next(n for n, share in enumerate(scores, start=1) if np.abs(share - goal).sum() <= COARSE)
    return {"hub": found.hub, "authority": found.authority}, enough
