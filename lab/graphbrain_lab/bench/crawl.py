"""Benchmarks of this machine: the speed of a brain's intake of links, of its pushes, and of its claims.

Each measure runs on an empty brain or (`push`, `rank`) on the result of an ingest, through the calls that users make,
and lists the statements that took the time. Figures of one run can be compared, figures of
different machines cannot.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from graphbrain.base.errors import BadInput
from graphbrain.base.model import Fetched
from graphbrain.base.numeric.arrays import Ints
from graphbrain.base.urls.normalization import key_of
from graphbrain.brain.brain import Brain
from graphbrain.brain.workers import WorkerPool
from graphbrain.files import importer
from graphbrain.frontier import discovery
from graphbrain.frontier.claims.tuning import ENOUGH
from graphbrain.frontier.discovery import New
from graphbrain.graph.server import lifecycle, prepare
from graphbrain.terminal import show
from graphbrain_lab.recording import Recording

__all__ = [
    "bulk",
    "claim",
    "crawl_order",
    "drawn",
    "empty",
    "fill",
    "filled",
    "ingest",
    "profile",
    "push",
    "recording_of",
    "report_all",
    "rounds",
    "shares",
    "web_parts",
    "write_web",
]

BATCH = 200
WARM_UP_PAGES, WARM_UPS, WARM_UP_ROUNDS = 30_000, 5, 150
LARGE_BATCH = 50_000
LARGE_PAGES, LARGE_LINKS = 1_000_000, 10_000_000
PART_PAGES = 100_000
"""The number of pages whose links are drawn at once, so that a web of any size takes little memory."""
LIVE_PAGES = 60_000
"""The number of pages of the large web for which the ingest is measured and compared with the import."""
SHORT_BATCH = 5_000
CLAIMS, REST = 100, 0.5
"""The pages that a call asks for; and the seconds of rest after a call that got too few."""
HOSTS = 20_000
LEAST_PAGES = 10_000
"""The least number of waiting pages for which claims are measured: a tenth of them must last, warm-up included."""


def recording_of(file: Path | None) -> Recording:
    """Return the recording in a file, or a generated web of 20,000 pages if there is none."""
    if file is not None:
        from graphbrain_lab.recording import read

        return read(file)
    dice = np.random.default_rng(1)
    count = 20_000
    sources = np.repeat(np.arange(count), dice.integers(1, 20, count))
    targets = (dice.random(len(sources)) ** 3 * count).astype(np.int64)
    return Recording.of(sources, targets, pages=count, name="a generated web")


def web_parts(pages: int, links_each: int, waiting: int = 0) -> Iterator[tuple[Ints, Ints]]:
    """Yield sources, ascending, and targets of the links of a generated web, part by part.

    Its hosts have a hundred pages each. Half of the links are inside a host, the others lead to popular pages.

    Args:
        pages: The number of pages.
        links_each: The number of links of a page.
        waiting: Every page whose number is a multiple of this has no links. 0: all pages have links.
    """
    dice = np.random.default_rng(1)
    popular = dice.permutation(pages)
    for start in range(0, pages, PART_PAGES):
        part = np.arange(start, min(pages, start + PART_PAGES))
        sources = np.repeat(part[part % waiting > 0] if waiting else part, links_each)
        yield sources, drawn(dice, sources, popular)


def drawn(dice: np.random.Generator, sources: Ints, popular: Ints) -> Ints:
    """Return a random target for each link: a page of the same host, or one of `popular`, of which the first are drawn
    most often."""
    size = len(sources)
    inside = sources // 100 * 100 + dice.integers(0, 100, size)
    inside = np.minimum(inside, max(len(popular), sources.max(initial=0) + 1) - 1)  # the last host may be smaller
    there = popular[(dice.random(size) ** 2.5 * len(popular)).astype(np.int64)]
    return np.where(dice.random(size) < 0.5, inside, there)


def large_web() -> tuple[Ints, Ints]:
    """Return the sources, ascending, and targets of all links of a large generated web."""
    sources, targets = zip(*web_parts(LARGE_PAGES, LARGE_LINKS // LARGE_PAGES), strict=True)
    return np.concatenate(sources), np.concatenate(targets)


def write_web(path: Path, parts: Iterable[tuple[Ints, Ints]]) -> None:
    """Write links as an edge list."""
    with path.open("w", encoding="utf-8") as file:
        for sources, targets in parts:
            file.writelines(f"{a}\t{b}\n" for a, b in zip(sources.tolist(), targets.tolist(), strict=True))


def _large_file(folder: Path) -> Path:
    """Write the links of `large_web` as an edge list, and return the file."""
    path = folder / "a generated web of ten million links.tsv"
    write_web(path, web_parts(LARGE_PAGES, LARGE_LINKS // LARGE_PAGES))
    return path


def _in_crawl_order(recording: Recording) -> Iterator[int]:
    """Yield pages in the order in which a breadth-first crawl finds them."""
    seen = np.zeros(recording.pages, dtype=bool)
    order = list(recording.seeds())
    seen[order] = True
    for page in order:
        yield page
        found = recording.targets[recording.offsets[page] : recording.offsets[page + 1]]
        for target in found[~seen[found]].tolist():
            if not seen[target]:
                seen[target] = True
                order.append(target)


def crawl_order(recording: Recording, most: int | None) -> list[int]:
    """Return the first pages, all or `most`, in the order in which a breadth-first crawl finds them."""
    return [page for page, _ in zip(_in_crawl_order(recording), range(most or recording.pages), strict=False)]


def report_all(brain: Brain, recording: Recording, order: Sequence[int]) -> list[tuple[int, float]]:
    """Report these pages in batches. Return for each batch the accepted links, and the seconds in `report`."""
    laps: list[tuple[int, float]] = []
    for start in range(0, len(order), BATCH):
        batch = [
            Fetched(recording.urls[page], recording.links_of(page), body_hash="recorded")
            for page in order[start : start + BATCH]
        ]
        began = time.perf_counter()
        answers = brain.report(batch)
        laps.append((sum(answer.links for answer in answers), time.perf_counter() - began))
    return laps


@contextmanager
def profile(brain: Brain) -> Iterator[dict[str, list[float]]]:
    """Yield statement → [runs, seconds] within the block."""
    spent: dict[str, list[float]] = defaultdict(lambda: [0, 0.0])

    def note(name: str, _rows: int, ms: float) -> None:
        spent[name][0] += 1
        spent[name][1] += ms / 1000

    with brain.graph.trace(note):
        yield spent


def shares(spent: dict[str, list[float]]) -> dict[str, float]:
    """Return the ten statements that took longest, in seconds."""
    longest = sorted(spent.items(), key=lambda item: -item[1][1])[:10]
    return {name: round(seconds, 2) for name, (_, seconds) in longest}


def empty(brain: Brain) -> None:
    """Raise BadInput if the brain has a page."""
    if brain.graph.read(lambda tx: tx.one("brain/sizes")[0], "brain/sizes"):
        raise BadInput("A benchmark needs an empty brain; 'graphbrain clear --yes' empties this one.")


def filled(brain: Brain, recording: Recording, most: int | None) -> None:
    """Ingest a recorded crawl, or its first pages, if the brain is empty."""
    if brain.graph.read(lambda tx: tx.one("brain/sizes")[0], "brain/sizes") == 0:
        ingest(brain, recording, most)


def ingest(brain: Brain, recording: Recording, most: int | None = None) -> dict[str, Any]:
    """Seed and report a recorded crawl in crawl order, in batches of 200 pages, and settle both ends of each link.

    The links per second are the distinct links that the brain keeps, divided by the time in `report`. Before that, some
    pages are reported and cleared, until Java has compiled its code: a server that has just been started is half as
    fast (`links_per_second_first`). The preparation of the recording is not counted.
    """
    empty(brain)
    first = _ingest(brain, recording, min(WARM_UP_PAGES, most or WARM_UP_PAGES))
    brain.clear()
    return _ingest(brain, recording, most) | {"links_per_second_first": first["links_per_second"]}


def _ingest(brain: Brain, recording: Recording, most: int | None) -> dict[str, Any]:
    order = crawl_order(recording, most)
    brain.seed([recording.urls[page] for page in recording.seeds()])
    with profile(brain) as spent:
        laps = report_all(brain, recording, order)
    # Each lap has the links and the seconds of one call.
    links, seconds = (sum(column) for column in zip(*laps, strict=True))
    return {
        "measure": "ingest",
        "recording": recording.name,
        "pages": len(order),
        "links": links,
        "seconds": round(seconds, 2),
        "links_per_second": round(links / seconds),
        "pages_per_second": round(len(order) / seconds),
        "retries": brain.graph.counts["retries"],
        "statement_seconds": shares(spent),
    }


def bulk(brain: Brain, file: Path | None, data: Path | None, most: int | None) -> list[dict[str, Any]]:
    """Import a recorded crawl, then ingest it live (or its first `most` pages), and compare.

    Without a file, a web of ten million links is generated and imported, and its first pages are ingested live. The
    time of the import is from the first byte read to the last index online. The import comes first, as in use. The time
    of the ingest is that in `report`, on a warm server. Neither settles. The last figure is the ratio of their links
    per second. Java's cache of Neo4j is prepared before, as on any server that was prepared.
    """
    empty(brain)
    if file is None:
        with TemporaryDirectory() as folder:
            return bulk(brain, _large_file(Path(folder)), data, most or LIVE_PAGES)
    if running := importer.local_server(brain, data):
        prepare.prime(running.version, lifecycle.java_of(running), say=show.say)
    imported = importer.run(brain, [file], data=data, fetched=True, settle=False, batches=False)
    brain.clear()
    live = ingest(brain, recording_of(file), most)
    figures = {"measure": "import", **imported.as_dict()}
    times = round(imported.links_per_second / live["links_per_second"], 2)
    return [figures, live, {"measure": "import", "times_as_fast_as_ingest": times}]


def push(brain: Brain, workers: int, seconds: float) -> list[dict[str, Any]]:
    """Push the waiting cash: first in this process alone with large batches, then by workers with batches that are
    short enough for claims beside them."""
    # Push alone.
    with profile(brain) as spent:
        began = time.perf_counter()
        alone = brain.tend(seconds, batch=LARGE_BATCH)
        passed = time.perf_counter() - began
    figures = [
        {
            "measure": "push",
            "workers": 1,
            "batch": LARGE_BATCH,
            "pushes": alone.pushes,
            "payments": alone.payments,
            "seconds": round(passed, 2),
            "payments_per_second": round(alone.payments / passed),
            "settled": alone.settled,
            "statement_seconds": shares(spent),
        }
    ]
    # Push with workers.
    with WorkerPool.beside(brain, workers, batch=SHORT_BATCH) as pool:
        # Processes need a moment to start; their work before it is not counted.
        deadline = time.monotonic() + 15
        while pool.totals.payments == 0 and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(1.0)
        before, began = pool.totals, time.perf_counter()
        time.sleep(seconds)
        after, passed = pool.totals, time.perf_counter() - began
    figures.append(
        {
            "measure": "push",
            "workers": workers,
            "batch": SHORT_BATCH,
            "pushes": after.pushes - before.pushes,
            "payments": after.payments - before.payments,
            "seconds": round(passed, 2),
            "payments_per_second": round((after.payments - before.payments) / passed),
            "settled": after.settled,
        }
    )
    return figures


def claim(brain: Brain, most: int, calls: int = 300, delay: float = 0.0) -> list[dict[str, Any]]:
    """Claim and report 100 pages repeatedly, with a tenth of `most` new pages waiting, and with all of them.

    There are 20,000 hosts, of sizes by Zipf's law, and the reported pages have no links. If all hosts with pages wait,
    a call gets few pages. Such calls are `short_calls`: the bench waits after them, and their times do not count. Five
    times up to 150 rounds at the smaller size are not counted, because a server that was just started compiles its
    code. The first rounds at each size are not counted either, because the new data is being written to the disk. The
    last figure is the ratio of the times at both sizes.

    Args:
        brain: An empty brain.
        most: The number of waiting pages.
        calls: The largest number of measured calls.
        delay: Seconds between claims of one host.

    Raises:
        BadInput: `most` is too small for the calls.
    """
    if most < LEAST_PAGES:
        raise BadInput(f"Claims are measured with {LEAST_PAGES:,} pages at least: give --pages {LEAST_PAGES}, or more.")
    empty(brain)
    brain.remake(delay_seconds=delay)
    # Measure at both sizes, after rounds that warm up.
    figures = []
    for waiting, warm_ups in ((most // 10, WARM_UPS + 1), (most, 1)):
        for _ in range(warm_ups):
            fill(brain, waiting)
            rounds(brain, min(WARM_UP_ROUNDS, waiting // 1000))
        figures.append(rounds(brain, min(calls, waiting // 400)) | {"waiting": waiting, "delay": delay})
    # Compare.
    small, large = figures
    ratio = {name: round(large[name] / small[name], 3) for name in ("next_ms_p50", "next_ms_p99", "round_ms_p50")}
    return [*figures, {"measure": "claim", "times_of_all_against_a_tenth": ratio}]


def fill(brain: Brain, wanted: int) -> None:
    """Create frontier pages of mixed value until this number exists."""
    there = brain.graph.read(lambda tx: tx.one("brain/sizes")[0], "brain/sizes")
    new_there = brain.stats()["states"].get("frontier", 0)
    dice = np.random.default_rng(there)
    shares = 1.0 / np.arange(1, HOSTS + 1)
    shares /= shares.sum()
    # Draw hosts by Zipf's law, and values.
    for start in range(there, there + wanted - new_there, 2_000):
        hosts = dice.choice(HOSTS, 2_000, p=shares).tolist()
        urls = [f"http://host-{host:05d}.example/{n}" for n, host in enumerate(hosts, start)]
        values = dice.random(len(urls)) ** 4
        new = [New(key_of(url), url, 1, relevance=float(v)) for url, v in zip(urls, values, strict=True)]
        brain.graph.write(_creating(brain, new), "bench")


def _creating(brain: Brain, new: Sequence[New]) -> Callable[[Any], object]:
    policy = brain.policy
    return lambda tx: discovery.create(tx, new, policy.scope, policy.rule, brain.now())


def rounds(brain: Brain, count: int) -> dict[str, Any]:
    """Claim and report 100 pages `count` times. Return the times of the calls that got enough pages. If no call got
    enough, return the times of all calls."""
    # The seconds of the calls that got enough (True), and of the others.
    seconds: dict[bool, list[float]] = {True: [], False: []}
    whole: list[float] = []
    done = 0
    with profile(brain) as spent:
        while len(whole) < count:
            began = time.perf_counter()
            claims = brain.next_urls(CLAIMS)
            full = len(claims) >= ENOUGH * CLAIMS
            seconds[full].append(time.perf_counter() - began)
            brain.report([Fetched(c.url, (), c, body_hash="x") for c in claims])
            whole.append(time.perf_counter() - began)
            done += len(claims)
            if not full:
                time.sleep(REST)
    # Summarise the times.
    p50, p99, longest = (1000 * float(np.quantile(seconds[True] or seconds[False], q)) for q in (0.5, 0.99, 1.0))
    return {
        "measure": "claim",
        "claimed": done,
        "urls_per_second": round(done / sum(whole)),
        "short_calls": len(seconds[False]),
        "next_ms_p50": round(p50, 2),
        "next_ms_p99": round(p99, 2),
        "next_ms_max": round(longest, 2),
        "round_ms_p50": round(1000 * float(np.quantile(whole, 0.5)), 2),
        "statement_seconds": shares(spent),
    }
