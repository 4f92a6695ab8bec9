"""Samples of a brain, taken by a thread at intervals, so that a scrape does not read the database.

Cheap figures are read every few seconds. Figures for which every page must be read are sampled once a minute at most,
and more rarely if that takes long: the reading takes about `SCAN_SHARE` of the time, by the quickest of the last few
scans, because one scan can be slow by chance. A sample is never older than `SCAN_ANYWAY` and the scan itself. A brain
that has `OUTGROWN` times the pages of the last scan is scanned at once, because a crawl that begins soon has other
figures.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

from graphbrain import Brain
from graphbrain.analyst.inspect import figures
from graphbrain.analyst.inspect.figures import Counted, Quick, Scanned
from graphbrain.base.errors import GraphbrainError

__all__ = ["Sample", "Sampler"]

QUICK_EVERY, SCAN_EVERY = 10.0, 60.0
SCAN_SHARE, SCAN_ANYWAY = 0.02, 600.0
OUTGROWN = 2
"""A brain that has so many times the pages of the last scan is scanned anew. All such scans of a brain that grows read
no more pages than two scans of the whole."""
SCANS = 3
"""The number of last scans that determine the duration of one."""
HOURS_KEPT = 2
"""Counters of earlier hours than these no longer change, and are read with the scan only."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Sample:
    """The last sample: `at` and `scanned_at` in epoch seconds by this machine's clock; None: not yet, or not now.

    `error_bound` is None if it is unknown, as under the classic engine.
    """

    quick: Quick | None = None
    counted: Counted | None = None
    at: float | None = None
    took: float = 0.0
    scanned: Scanned | None = None
    error_bound: float | None = None
    scanned_at: float | None = None
    scan_took: float = 0.0


class Sampler:
    """A thread that samples a brain from `start` to `stop`; `latest` is the last sample."""

    def __init__(self, brain: Brain, every: float = QUICK_EVERY, scan_every: float = SCAN_EVERY) -> None:
        self.latest = Sample()
        self.listener: Callable[[Sample], None] = lambda _: None
        """Called with each sample of what costs nothing."""
        self._brain, self._every, self._scan_every = brain, every, scan_every
        self._before: tuple[int, Counted] | None = None
        self._takes: deque[float] = deque(maxlen=SCANS)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sample_for_ever, name="graphbrain metrics", daemon=True)

    def start(self) -> None:
        """Begin to sample, and return at once."""
        self._thread.start()

    def stop(self, seconds: float = 10.0) -> None:
        """End the thread. It is not waited for longer than these seconds, if it waits for the database."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join(seconds)

    def _sample_for_ever(self) -> None:
        scan_at = 0.0
        while not self._stop.is_set():
            began = time.monotonic()
            if self.look() and (time.monotonic() >= scan_at or self.outgrown()):
                self.scan()
                scan_at = time.monotonic() + self.rest(self.latest.scan_took)
            self._stop.wait(max(0.1, self._every - (time.monotonic() - began)))

    def rest(self, took: float) -> float:
        """Return the seconds until the next scan, after one that took `took` seconds."""
        self._takes.append(took)
        return max(self._scan_every, min(min(self._takes) / SCAN_SHARE, SCAN_ANYWAY))

    def outgrown(self) -> bool:
        """Return whether the brain has `OUTGROWN` times the pages of the last scan, or more."""
        quick, scanned = self.latest.quick, self.latest.scanned
        if quick is None or scanned is None:
            return False
        return quick.pages >= OUTGROWN * max(1, sum(scanned.states.values()))

    def look(self) -> bool:
        """Sample the cheap figures. Return False if they could not be read."""
        began = time.monotonic()
        try:
            now = self._brain.now()
            quick, counted = figures.quick(self._brain.graph, now), self._counted(int(now // 3600))
        except GraphbrainError as error:
            log.warning("The brain cannot be sampled: %s", error)
            self.latest = replace(self.latest, quick=None, counted=None)
            return False
        took = time.monotonic() - began
        self.latest = replace(self.latest, quick=quick, counted=counted, at=time.time(), took=took)
        self.listener(self.latest)
        return True

    def _counted(self, hour: int) -> Counted:
        """Return the counts since the brain was made. After a deletion of the brain they begin anew with the next
        scan."""
        first = hour - HOURS_KEPT + 1
        if self._before is None or self._before[0] != first:
            self._before = first, figures.counted(self._brain.graph, 0, first - 1)
        return self._before[1] + figures.counted(self._brain.graph, first, hour)

    def scan(self) -> None:
        """Sample the figures for which every page must be read."""
        # Read every page; without an answer the figures are unknown.
        began, self._before = time.monotonic(), None
        try:
            scanned, bound = self._brain.scan_figures(self._stop.is_set)
        except figures.ScanStopped:
            return
        except GraphbrainError as error:
            log.warning("The brain's pages cannot be sampled: %s", error)
            self.latest = replace(self.latest, scanned=None, scan_took=time.monotonic() - began)
            return
        self.latest = replace(
            self.latest,
            scanned=scanned,
            error_bound=bound,
            scanned_at=time.time(),
            scan_took=time.monotonic() - began,
        )
