"""The share of a web's importance that a crawl has fetched over time: a live brain beside orders simulated in memory.

The curve of an order is the share of the whole recording's PageRank (or authority) on the pages fetched so far, by
their number; its *area* is the mean over the crawl. A live brain has three curves: by its exact value (a), by the lanes
of that value (b), and as it runs, with batches of claims, leases, politeness, and scores that lag behind (c). All are
over the pages that the seeds reach. Memory: 60 bytes a link and 300 bytes a page, and the recording's own.
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from graphbrain.base.errors import BadInput
from graphbrain.base.model import Hint
from graphbrain.base.numeric.arrays import Floats, Ints
from graphbrain.base.numeric.methods import Factor, factors
from graphbrain.brain.brain import Brain
from graphbrain_lab.bench import crawl as measures
from graphbrain_lab.bench import orders
from graphbrain_lab.bench.orders import BenchWeb
from graphbrain_lab.recording import Recording
from graphbrain_lab.replay import ReplayProgress, replay

__all__ = ["AT", "Curve", "Live", "draw", "live", "simulated", "spread_over", "web_of"]

AT = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
"""The parts of a crawl at which its shares are shown."""
POINTS = 200
"""The number of points of a curve."""


@dataclass(frozen=True)
class Curve:
    """The importance that an order has fetched: shares of all PageRank and authority, a value after each page.

    If a crawl ends early, the shares stay the same for the rest of the pages.
    """

    name: str
    pagerank: Floats
    authority: Floats
    fetched: int

    @property
    def area(self) -> float:
        """Return the mean share of PageRank over the crawl."""
        return float(self.pagerank.mean())

    @property
    def authority_area(self) -> float:
        """Return the mean share of authority over the crawl."""
        return float(self.authority.mean())

    def at(self, part: float) -> float:
        """Return the share of PageRank once this part of the pages is fetched."""
        return float(self.pagerank[max(0, int(len(self.pagerank) * part) - 1)])

    def row(self, best: float) -> dict[str, Any]:
        """Return one row of figures; `best` is the area of the omniscient order."""
        places = np.unique(np.linspace(0, len(self.pagerank) - 1, POINTS).astype(int))
        return {
            "measure": "order",
            "order": self.name,
            "pages": len(self.pagerank),
            "fetched": self.fetched,
            "area": round(self.area, 4),
            "of_omniscient": round(self.area / best, 4),
            "authority_area": round(self.authority_area, 4),
            "at": {f"{part:g}": round(self.at(part), 4) for part in AT},
            "curve": {
                "pages": (places + 1).tolist(),
                "pagerank": np.round(self.pagerank[places], 5).tolist(),
                "authority": np.round(self.authority[places], 5).tolist(),
            },
        }


@dataclass(frozen=True)
class Live:
    """The way in which the brain is driven.

    Attributes:
        workers: The number of other processes that tend.
        pushes_per_page: The number of pushes for each reported page; no other process tends then.
        batch: Pages claimed at a time. None: 1 % of the web, so that values change as often as in simulated orders.
        delay: Seconds between two claims of a host.
        order: The setting `order`.
        reach: The setting `reach`.
    """

    workers: int = 1
    pushes_per_page: float | None = None
    batch: int | None = None
    delay: float = 0.0
    order: str = "best_first"
    reach: float = 0.0


def web_of(recording: Recording, seeds: Sequence[int], sitemap: bool = False) -> BenchWeb:
    """Return the web that is reached from some pages of a recording. `sitemap`: it names all pages, sorted by URL.

    Raises:
        BadInput: The web is a single page.
    """
    web = BenchWeb.of(recording, seeds)
    if sitemap:
        by_url = sorted(range(len(web)), key=lambda page: recording.urls[int(web.pages[page])])
        web = dataclasses.replace(web, listed=np.array(by_url, dtype=np.int64))
    if len(web) < 2:
        raise BadInput(f"Nothing is reached from these seeds of {recording.name}: name others with --seed.")
    return web


def spread_over(recording: Recording, hosts: int) -> Recording:
    """Return the recording with URLs on this number of hosts. Neighbouring ids are mostly on the same host."""
    ids = recording.ids.tolist()
    urls = [f"http://host-{place * hosts // len(ids):06d}.example/page-{page}" for place, page in enumerate(ids)]
    return dataclasses.replace(recording, urls=urls)


class _Shares:
    """The share of each page in all PageRank and authority of a web."""

    def __init__(self, web: BenchWeb) -> None:
        whole = web.whole()
        self.pagerank = _share(orders.PageRank(change=orders.EXACT)(whole))
        self.authority = _share(orders.Authority(change=orders.EXACT)(whole))

    def curve(self, name: str, order: Ints) -> Curve:
        """Return the curve of pages fetched in this order."""
        return Curve(name, _summed(self.pagerank, order), _summed(self.authority, order), len(order))


def simulated(
    web: BenchWeb,
    values: Sequence[str],
    reach: float = 0.0,
    progress: Callable[[str, int, int], None] = lambda *_: None,
    stop: Callable[[], bool] = lambda: False,
) -> tuple[list[Curve], _Shares]:
    """Return the curves of the reference orders, and of these values exact and in lanes; and the shares for a live
    brain.

    There are fewer curves if `stop` returns True. `values` and `reach` are values of the settings.
    """
    progress("final scores", 0, 0)
    shares, done = _Shares(web), []
    for order in orders.orders(shares.pagerank, {name: _factors(name) for name in values}, reach):
        found = orders.crawled(web, order, partial(progress, order.name), stop)
        if stop():
            break
        done.append(shares.curve(order.name, found))
    return done, shares


def live(
    brain: Brain,
    recording: Recording,
    web: BenchWeb,
    shares: _Shares,
    value: str,
    how: Live,
    progress: Callable[[str, int, int], None] = lambda *_: None,
    stop: threading.Event | None = None,
) -> Curve:
    """Return the curve of a real brain with this value. The brain must be empty, and has the crawl afterwards.

    Raises:
        BadInput: The brain has pages.
    """
    # Prepare the brain, and the page numbers of the web.
    measures.empty(brain)
    stop, name = stop or threading.Event(), f"{value}, live"
    brain.remake(order=how.order, delay_seconds=how.delay, value=value, reach=how.reach)
    number = np.full(recording.pages, -1, dtype=np.int64)
    number[web.pages] = np.arange(len(web))
    fetched: list[int] = []
    due_pushes = 0.0

    # Collect the pages in the order of their reports, and push for them.
    def on_report(pages: Sequence[int]) -> None:
        nonlocal due_pushes
        fetched.extend(number[list(pages)].tolist())
        due_pushes += len(pages) * (how.pushes_per_page or 0.0)
        if (count := int(due_pushes)) >= 1:
            due_pushes -= brain.tend(None, passes=False, pushes=count, batch=count, stop=stop.is_set).pushes
            due_pushes = max(due_pushes, 0.0)

    def on_step(step: ReplayProgress) -> None:
        progress(name, step.pages, step.total)

    # Crawl the web with the brain.
    brain.hint(Hint(recording.urls[page], 0.0, "sitemap") for page in web.pages[web.listed].tolist())
    replay(
        brain,
        recording,
        seeds=web.pages[web.seeds].tolist(),
        workers=0 if how.pushes_per_page is not None else how.workers,
        batch=how.batch or max(1, round(len(web) / orders.STEPS)),
        settle=False,
        progress=on_step,
        stop=stop,
        reported=on_report,
    )
    return shares.curve(name, np.array(fetched, dtype=np.int64))


def draw(curves: Sequence[Curve], title: str, path: Path) -> None:
    """Draw curves into a file.

    Raises:
        BadInput: matplotlib is missing, or the file cannot be written.
    """
    from graphbrain_lab.bench import plots

    plots.shares_over_crawl(path, {curve.name: (curve.pagerank, curve.authority) for curve in curves}, title, POINTS)


def _factors(value: str) -> Mapping[str, Factor]:
    found = factors(value)
    if found is None:
        raise BadInput(
            f"The order by {value} cannot be simulated: name a value of live scores, as in 'flow authority'."
        )
    return found


def _share(values: Floats) -> Floats:
    return np.asarray(values / values.sum())


def _summed(shares: Floats, order: Ints) -> Floats:
    summed = np.cumsum(shares[order])
    rest = len(shares) - len(order)
    return np.concatenate([summed, np.full(rest, summed[-1] if len(summed) else 0.0)])
