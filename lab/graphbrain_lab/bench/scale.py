"""Benchmark of size: the costs of one server with more and more pages.

For each size a web of ten links a page is generated, a local server is started on an empty directory, and the brain is
measured from the import to the dump. A cost is that of one page, one link or one call, so that it is the same for all
sizes if it does not depend on the size. Costs are compared with those of the smallest size.
"""

from __future__ import annotations

import dataclasses
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from graphbrain.analyst import frames, questions
from graphbrain.base.errors import BadInput
from graphbrain.base.model import Fetched
from graphbrain.base.runtime.memory import peak_bytes
from graphbrain.brain.brain import Brain
from graphbrain.files import importer
from graphbrain.files.harvest import generated_url
from graphbrain.graph.server import lifecycle
from graphbrain_lab.bench import crawl

__all__ = ["ALLOWED", "LEAST_PAGES", "SIZES", "UNITS", "Sized", "beyond", "run"]

SIZES = (1_000_000, 3_000_000, 10_000_000)
LEAST_PAGES = 1_000
"""The least size. A tenth of the pages waits to be claimed, and must be enough for the calls."""
LINKS_EACH, WAITING = 10, 10
"""The links of a page; and the number of pages of which one has none, and waits for its first visit."""
ALLOWED = 1.3
"""The largest ratio of a cost to that of the smallest size that counts as the same."""
INGESTED, REPORTED_AT_ONCE = 2_000, 200
CLAIM_ROUNDS, DELAYS = 100, (0.0, 1.0)
ASKED = 3
"""The number of times a question is asked; the median counts."""
OF_ONE = ("next-pages",)
OF_ALL = ("states", "top-authorities", "linking-hosts")
"""Questions whose answers do not depend on the size, and questions that read every page or link."""
UNITS = {
    "import": "µs a link",
    "settle": "µs a link",
    "ingest": "ms a page",
    **{f"claim, delay {delay:g} s": "ms for 100 pages" for delay in DELAYS},
    **dict.fromkeys(("page", "links", "top", *OF_ONE), "ms"),
    **dict.fromkeys(OF_ALL, "s for a million pages"),
    "dump": "µs a page",
    "dump size": "bytes a page",
    "disk": "bytes a page",
    "memory of this process": "bytes a page",
}
"""The unit of each cost."""

Progress = Callable[[str, int, int], None]
"""Is called with the name of a step, its progress and its total (0: unknown)."""


@dataclass(frozen=True)
class Sized:
    """The figures of one size.

    Attributes:
        pages: The number of pages that were imported.
        links: The number of links that were imported.
        seconds: The time of each long step.
        costs: The name of a cost in UNITS → its value.
        short_claims: Calls that got less than they asked for, by delay.
        server_mb: Resident memory of the server after the questions.
        memory_mb: The memory that the server was given for heap and page cache.
        process_mb: The largest resident memory of this process so far.
        disk_mb: The server's directory after a clean stop.
    """

    pages: int
    links: int
    seconds: Mapping[str, float]
    costs: Mapping[str, float]
    short_claims: Mapping[str, int]
    server_mb: float
    memory_mb: int
    process_mb: float
    disk_mb: float

    def figures(self) -> dict[str, Any]:
        """Return all figures under their names."""
        return {"measure": "scale", **dataclasses.asdict(self)}


def beyond(first: Sized, other: Sized) -> dict[str, float]:
    """Return the costs that are more than ALLOWED times those of the first size, and the ratio of each."""
    times = {name: other.costs[name] / first.costs[name] for name in other.costs}
    return {name: ratio for name, ratio in times.items() if ratio > ALLOWED}


def run(
    sizes: Sequence[int], beside: Path, memory: int | None = None, progress: Progress = lambda *_: None
) -> Iterator[Sized]:
    """Measure sizes in ascending order, each on a separate server, whose directory is removed afterwards.

    Args:
        sizes: Numbers of pages.
        beside: Directories are made beside this one, with the size in their names.
        memory: MB for heap and page cache together; None: half of the machine's.
        progress: Is called at each step.

    Raises:
        BadInput: A size is too small, a directory exists, or pyarrow is missing.
        ServerFailed: The server cannot be started.
    """
    # Refuse what would fail after hours.
    frames.needed()  # so that the dump does not fail after hours
    wanted = sorted(set(sizes))
    if wanted[0] < LEAST_PAGES:
        raise BadInput(f"The costs are measured with {LEAST_PAGES:,} pages at least, not with {wanted[0]:,}.")
    folders = [beside.with_name(f"{beside.name}-scale-{pages}") for pages in wanted]
    if there := [folder for folder in folders if folder.exists()]:
        raise BadInput(f"{there[0]} exists already; remove it, or name another place with --data.")
    # Measure each size.
    for pages, folder in zip(wanted, folders, strict=True):
        try:
            yield _measured(pages, folder, memory, _steps(progress, pages))
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _steps(progress: Progress, pages: int) -> Callable[[str], None]:
    return lambda what: progress(f"{pages:,} pages: {what}", 0, 0)


def _measured(pages: int, folder: Path, memory: int | None, step: Callable[[str], None]) -> Sized:
    # Generate the web, and start a server.
    home, web = folder / "server", folder / "web.tsv"
    folder.mkdir(parents=True)
    step("generate")
    crawl.write_web(web, crawl.web_parts(pages, LINKS_EACH, WAITING))
    with ExitStack() as stack:
        stack.callback(lifecycle.stop, home)
        step("start")
        server = lifecycle.start(home, memory=memory)
        login: dict[str, Any] = {
            "uri": server.uri,
            "user": server.user,
            "password": server.password,
            "database": "neo4j",
        }
        # Measure the steps with a brain.
        with Brain.open(**login, crawl="scale", auto_tend=False, delay_seconds=0.0) as brain:
            costs, seconds, links, stored = _loaded(brain, web, home, step)
            step("ingest")
            costs["ingest"] = _ingest(brain, pages)
            short = {}
            for delay in DELAYS:
                step(f"claim, delay {delay:g} s")
                brain.change(delay_seconds=delay)
                costs[f"claim, delay {delay:g} s"], short[f"{delay:g}"] = _claim(brain, pages)
            step("ask")
            costs |= _ask(brain, stored)
            server_mb, given = _server(home)
            step("dump")
            began = time.perf_counter()
            frames.dump(brain.graph, folder / "dump", brain.now)
            seconds["dump"] = time.perf_counter() - began
            costs["dump"] = 1e6 * seconds["dump"] / stored
        size = sum(path.stat().st_size for path in (folder / "dump").rglob("*") if path.is_file())
        costs["dump size"] = size / stored
    # Measure the disk and memory at the end.
    disk, peak = lifecycle.status(home).disk, peak_bytes()
    costs |= {"disk": disk / stored, "memory of this process": peak / stored}
    return Sized(
        stored,
        links,
        {name: round(value, 2) for name, value in seconds.items()},
        {name: costs[name] for name in UNITS},
        short,
        round(server_mb, 1),
        given,
        round(peak / 1e6, 1),
        round(disk / 1e6, 1),
    )


def _loaded(
    brain: Brain, web: Path, home: Path, step: Callable[[str], None]
) -> tuple[dict[str, float], dict[str, float], int, int]:
    """Import the web and settle it. Return costs, seconds, and the numbers of links and pages."""
    step("import")
    began = time.perf_counter()
    done = importer.run(brain, [web], data=home, settle=False, say=lambda *_: None)
    imported = time.perf_counter() - began
    web.unlink()
    step("settle")
    began = time.perf_counter()
    brain.settle()
    settled = time.perf_counter() - began
    costs = {"import": 1e6 * imported / done.links, "settle": 1e6 * settled / done.links}
    return costs, {"import": imported, "settle": settled}, done.links, done.pages


def _ingest(brain: Brain, pages: int) -> float:
    """Report new pages with links to known ones, and return the milliseconds of each. The first half warms up."""
    count = min(INGESTED, pages // 10)
    dice = np.random.default_rng(2)
    sources = np.repeat(np.arange(pages, pages + 2 * count), LINKS_EACH)
    targets = crawl.drawn(dice, sources, dice.permutation(pages)).reshape(-1, LINKS_EACH).tolist()
    reports = [
        Fetched(generated_url(pages + number), [generated_url(target) for target in links], body_hash="x")
        for number, links in enumerate(targets)
    ]
    for half in (reports[:count], reports[count:]):
        began = time.perf_counter()
        for start in range(0, count, REPORTED_AT_ONCE):
            brain.report(half[start : start + REPORTED_AT_ONCE])
        seconds = time.perf_counter() - began
    return 1_000 * seconds / count


def _claim(brain: Brain, pages: int) -> tuple[float, int]:
    """Claim and report, and return the median milliseconds of a claim and the number of short calls."""
    waiting = pages // WAITING
    rounds = max(1, min(CLAIM_ROUNDS, waiting // 400))
    crawl.rounds(brain, max(1, rounds // 2))  # this call warms up the caches
    figures = crawl.rounds(brain, rounds)
    return float(figures["next_ms_p50"]), int(figures["short_calls"])


def _ask(brain: Brain, pages: int) -> dict[str, float]:
    """Return the time of each question: milliseconds, or seconds for a million pages."""
    url = generated_url(pages // 2)
    once: dict[str, Callable[[], object]] = {
        "page": lambda: brain.page(url),
        "links": lambda: list(brain.links(url, "out", 100)),
        "top": lambda: list(brain.find(by="authority", limit=10)),
    }
    once |= {name: _asking(brain, name) for name in OF_ONE}
    costs = {name: 1_000 * _median(ask) for name, ask in once.items()}
    return costs | {name: 1e6 / pages * _median(_asking(brain, name)) for name in OF_ALL}


def _asking(brain: Brain, name: str) -> Callable[[], object]:
    return lambda: questions.ask(brain.graph, name)


def _median(ask: Callable[[], object]) -> float:
    laps = []
    for _ in range(ASKED):
        began = time.perf_counter()
        ask()
        laps.append(time.perf_counter() - began)
    return median(laps)


def _server(home: Path) -> tuple[float, int]:
    """Return the resident memory of the server, and the memory that it was given, in MB."""
    status = lifecycle.status(home)
    return (status.memory or 0) / 1e6, (status.heap or 0) + (status.page_cache or 0)
