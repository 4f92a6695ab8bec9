"""Benchmarks of batch scores on this machine: an iteration in memory, and links read and scores written a second."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from graphbrain.brain.brain import Brain
from graphbrain.brain.rank import cores
from graphbrain.scores.ranking import algorithms
from graphbrain.scores.ranking.algorithms import LinkGraph, Scores, Until
from graphbrain_lab.bench.crawl import LARGE_PAGES, large_web, profile, shares
from graphbrain_lab.recording import Recording

__all__ = ["rank"]


def rank(brain: Brain, recording: Recording) -> list[dict[str, Any]]:
    """Measure an iteration of PageRank and HITS in memory, then the speed at which links are read and scores are
    written.

    The iterations run on a generated web of a million pages with ten links each, half of them inside the host, and on
    the recording; then `rank("pagerank")` runs on the brain. Reading includes the conversion of pairs into rows.
    """
    figures = []
    for name, web in (("a generated web", _large_web()), (recording.name, _recorded_web(recording))):
        figures += [_iterations(name, web, algorithms.pagerank), _iterations(name, web, algorithms.hits)]
    return [*figures, _round_trip(brain)]


def _recorded_web(recording: Recording) -> LinkGraph:
    sources, targets = recording.distinct
    offsets = np.searchsorted(sources, np.arange(recording.pages + 1))
    return LinkGraph.of(offsets, targets.astype(np.int32), cores())


def _large_web() -> LinkGraph:
    sources, targets = large_web()
    offsets = np.searchsorted(sources, np.arange(LARGE_PAGES + 1))
    return LinkGraph.of(offsets, targets.astype(np.int32), cores())


def _iterations(name: str, web: LinkGraph, method: Callable[..., Scores]) -> dict[str, Any]:
    laps, cpu = [time.perf_counter()], time.process_time()
    done = method(web, until=Until(progress=lambda *_: laps.append(time.perf_counter())))
    # The first lap is the start; the difference of two laps is one iteration.
    each, cpu = np.diff(laps), time.process_time() - cpu
    return {
        "measure": f"rank: {method.__name__}",
        "web": name,
        "pages": web.pages,
        "links": web.links,
        "iterations": done.iterations,
        "error": done.error,
        "seconds": round(float(each.sum()), 3),
        "iteration_seconds": round(float(np.median(each)), 4),
        "iteration_seconds_best": round(float(each.min()), 4),
        "iteration_seconds_of_cpu": round(cpu / done.iterations, 4),
        "links_per_second": round(web.links / float(np.median(each))),
    }


def _round_trip(brain: Brain) -> dict[str, Any]:
    began = time.perf_counter()
    last: dict[str, float] = {}

    def note(text: str, _done: int, _of: int) -> None:
        last[text.split()[0]] = time.perf_counter()

    with profile(brain) as spent:
        done = brain.rank("pagerank", top=0, progress=note)
    return {
        "measure": "rank: read and write",
        "pages": done.pages,
        "links": done.links,
        "seconds": round(done.seconds, 2),
        "links_read_per_second": round(done.links / (last["turning"] - began)),
        "pages_written_per_second": round(done.pages / (last["writing"] - last["iteration"])),
        "statement_seconds": shares(spent),
    }
