"""A process that crawls generated sites: each line of stdin orders a turn, and a line of stdout has its results.

A turn claims some pages of the brain, looks them up on the site, reports them, and does all upkeep, at the time that
the order names. So neither the times of a crawl nor its upkeep depend on the load of the machine, and a crawl by one
process is the same each time. The process ends with its stdin.
"""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from graphbrain.base.errors import GraphbrainError
from graphbrain.base.model import Fetched, Link
from graphbrain.base.urls.normalization import normal
from graphbrain.brain.brain import Brain
from graphbrain_lab.bench.traps.reader import visit
from graphbrain_lab.bench.traps.shapes import site_of
from graphbrain_lab.bench.traps.site import TrapSite
from graphbrain_lab.simulate.on_graph import SimulatedClock

__all__ = ["main"]

PAUSE = 0.05
"""Seconds that a claim waits for a page."""


class _Member:
    """The state of the process: its clock, and its brain, which it opens anew for each crawl."""

    def __init__(self) -> None:
        self._crawl: int | None = None
        self._brain: Brain | None = None
        self._clock = SimulatedClock()

    def turn(self, order: Mapping[str, Any]) -> list[tuple[str, bool, list[str]]]:
        """Return for each fetched page its URL, whether it is real, and the made-up pages that it names."""
        self._clock.at = max(self._clock.at, order["at"])
        site, brain = _site(order["shape"], order["seed"], order["pages"]), self._opened(order)
        reports = [visit(site, claim) for claim in brain.next_urls(order["count"], wait=PAUSE)]
        brain.report(reports)
        brain.tend(None, passes=False)
        return [
            (report.url, report.url in site.nodes, _made_up(site, report) if isinstance(report, Fetched) else [])
            for report in reports
        ]

    def close(self) -> None:
        if self._brain is not None:
            self._brain.close()

    def _opened(self, order: Mapping[str, Any]) -> Brain:
        if self._brain is None or self._crawl != order["crawl"]:
            self.close()
            self._brain = Brain.open(**order["connect"], as_it_is=True, auto_tend=False, clock=self._clock)
            self._crawl = order["crawl"]
        return self._brain


@lru_cache(1)
def _site(shape: str, seed: int, pages: int) -> TrapSite:
    return site_of(shape, seed, pages)


def _made_up(site: TrapSite, report: Fetched) -> list[str]:
    urls = {normal(link.url if isinstance(link, Link) else link) for link in report.links}
    return sorted(urls - site.nodes.keys())


def main() -> int:
    """Take turns until stdin ends. Return the exit code."""
    # Ctrl-C reaches the whole group: the process that orders turns handles it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    member = _Member()
    for line in sys.stdin:
        try:
            answer: dict[str, Any] = {"met": member.turn(json.loads(line))}
        except GraphbrainError as error:
            answer = {"error": str(error)}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
    member.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
