"""The progress of a crawl on stderr: a table that is redrawn on a terminal, one line a minute elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from graphbrain.base.errors import GraphbrainError
from graphbrain.brain.brain import Brain
from graphbrain.crawl.closing import seconds_of
from graphbrain.crawl.spider import Running
from graphbrain.crawl.watching import rest_after
from graphbrain.terminal.show import counted

__all__ = ["CrawlFigures", "Say", "line", "shown"]

EVERY = 60.0
"""Seconds between two lines without a terminal."""
LEAST_REST = 3.0
"""The least seconds between two reads of the brain's figures."""
Say = Callable[[str], None]


class CrawlFigures:
    """The brain's figures of its frontier, which a thread reads.

    A count of all pages takes minutes in a brain of ten million, so it is made rarely. Between two counts the numbers
    of reports show how many pages have been added and visited since.

    Args:
        running: The run.
        for_lines: Read the figures only before each line, once a minute.
    """

    def __init__(self, running: Running, *, for_lines: bool = False) -> None:
        self._running, self._over = running, threading.Event()
        self._first, self._rest = (EVERY - LEAST_REST, EVERY) if for_lines else (0.5, LEAST_REST)
        self.stats: Mapping[str, Any] = {}
        self._counted: Mapping[str, Any] = {}
        self._count_at = 0.0
        self._thread = threading.Thread(target=self._ask, name="graphbrain figures", daemon=True)

    def __enter__(self) -> CrawlFigures:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join(5.0)

    def _ask(self) -> None:
        pause = self._first
        while not self._over.wait(pause):
            with suppress(GraphbrainError):  # the crawl itself reports lasting errors
                self.stats = self._read(self._running.brain)
            pause = self._rest

    def _read(self, brain: Brain) -> Mapping[str, Any]:
        """Return the figures. Count all pages if the last count is old enough."""
        began = time.monotonic()
        if (counted := self._counted) and began < self._count_at:
            return brain.quick_figures(counted["frontier"]["waiting"], since=counted["done"])
        try:
            self._counted = brain.stats()
        finally:
            ended = time.monotonic()
            self._count_at = ended + rest_after(ended - began, LEAST_REST)
        return self._counted

    def waiting(self) -> int | None:
        """Return the number of pages that wait for their first visit; None if it is not known yet."""
        return self.stats["frontier"]["waiting"] if self.stats else None

    def time_left(self) -> str:
        """Return the expected time until the end of the crawl, in words; empty if it cannot be predicted."""
        if not self.stats:
            return ""
        frontier = self.stats["frontier"]
        if frontier["end"] == "ends" and frontier["hours"] is not None:
            return f"some {seconds_of(frontier['hours'] * 3600)} left"
        return "still growing" if frontier["end"] == "never" else ""


def line(running: Running, figures: CrawlFigures, seconds: float) -> str:
    """Return the progress in one line. `seconds`: since the start of the run."""
    watch, waiting = running.watch, figures.waiting()
    parts = [counted(watch.fetched, "page"), f"{watch.rate():.1f}/s"]
    failed = watch.failures().total()
    parts += [f"{failed:,} failed"] if failed else []
    parts += [f"{waiting:,} wait"] if waiting is not None else []
    parts += [figures.time_left() or seconds_of(seconds)]
    return " · ".join(parts)


@contextmanager
def shown(running: Running) -> Iterator[tuple[Say, Callable[[], None]]]:
    """Show progress until the block ends.

    Yield (function that prints a sentence, function that the caller calls twice a second).
    """
    console = Console(stderr=True, highlight=False)
    began = time.monotonic()
    with CrawlFigures(running, for_lines=not console.is_terminal) as figures:
        # On a terminal, let rich redraw a table.
        if console.is_terminal:
            with Live(
                get_renderable=lambda: _table(running, figures, time.monotonic() - began, console.width),
                console=console,
                refresh_per_second=4,
                transient=True,
            ):
                yield lambda text: console.print(f"graphbrain: {text}", markup=False, soft_wrap=True), _nothing
            return
        # Elsewhere, print a line each minute.
        next_at = began + EVERY

        def print_when_due() -> None:
            nonlocal next_at
            if time.monotonic() >= next_at:
                next_at += EVERY
                _plain(line(running, figures, time.monotonic() - began))

        yield _plain, print_when_due


def _nothing() -> None:
    """Do nothing: rich redraws the terminal in its own thread."""


def _plain(text: str) -> None:
    print(f"graphbrain: {text}", file=sys.stderr, flush=True)


def _table(running: Running, figures: CrawlFigures, seconds: float, width: int) -> Table:
    watch = running.watch
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(no_wrap=True, overflow="ellipsis", max_width=max(20, width - 12))
    table.add_row("crawl", Text(f"{line(running, figures, seconds)}", style="bold"))
    if failures := watch.failures():
        kinds = " · ".join(f"{kind} ×{count:,}" for kind, count in failures.most_common(6))
        table.add_row("failed", kinds)
    if slow := watch.slow():
        table.add_row("slow", " · ".join(f"{name} {took:.1f} s" for name, took in slow))
    if watch.last_url:
        table.add_row("last", Text(watch.last_url))
    return table
