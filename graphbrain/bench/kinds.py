"""The measures of `graphbrain bench KIND` by name, and the recording that they need."""

from __future__ import annotations

from pathlib import Path

from graphbrain.bench import accounts, crawl, resources, revisit, scores
from graphbrain.brain.brain import Brain
from graphbrain.errors import BadInput
from graphbrain.simulate.on_graph import SimulatedClock
from graphbrain.terminal import show

__all__ = ["clock_of", "run"]


def clock_of(kind: str) -> SimulatedClock | None:
    """Return the clock of the brain that a measure needs, or None for the server's."""
    return SimulatedClock() if kind == "revisit" else None


def run(
    brain: Brain,
    kind: str,
    file: Path | None,
    *,
    clock: SimulatedClock | None = None,
    json: bool = False,
    pages: int | None = None,
    workers: int | None = None,
    seconds: float | None = None,
    delay: float = 0.0,
    days: int = 365,
    hosts: int | None = None,
    redis: str | None = None,
    data: Path | None = None,
) -> None:
    """Measure `kind` (see `graphbrain bench --help`) and print the figures.

    Args:
        brain: The brain to measure.
        kind: The measure.
        file: A recorded crawl.
        clock: The brain's clock, if it is a simulated one.
        data: The local server's directory, for an import by Neo4j's own tool.
    """
    if clock is not None:
        figures = revisit.revisit(brain, clock, file, days)
    elif kind == "claim":
        figures = crawl.claim(brain, pages or 1_000_000, delay=delay)
    elif kind == "ingest":
        figures = [crawl.ingest(brain, crawl.recording_of(file), pages)]
    elif kind == "settle":
        figures = accounts.settle(brain, crawl.recording_of(file), pages, 1 if workers is None else workers)
    elif kind == "grow":
        figures = accounts.grow(brain, crawl.recording_of(file), pages)
    elif kind == "import":
        figures = crawl.bulk(brain, file, data, pages)
    elif kind == "service":
        from graphbrain.bench import service

        clients = "" if file is None else str(file)
        if not (clients.isdecimal() and 0 < int(clients) <= 10_000):
            raise BadInput(f"'bench service' needs a number of clients, as 60, not {clients!r:.80}.")
        figures = service.service(brain, int(clients), seconds or 20.0)
    elif kind == "resources":
        figures = resources.resources(brain, hosts or resources.HOSTS)
    elif kind == "scrapy":
        from graphbrain.bench import scrapy_pair

        crawl.empty(brain)
        figures = [scrapy_pair.scrapy_pair(brain, file, pages or scrapy_pair.PAGES, data, redis)]
    else:
        recording = crawl.recording_of(file)
        if brain.graph.read(lambda tx: tx.one("brain/sizes")[0], "brain/sizes") == 0:
            crawl.ingest(brain, recording, pages)
        figures = scores.rank(brain, recording) if kind == "rank" else crawl.push(brain, workers or 4, seconds or 20.0)
    if json:
        show.json_lines(figures)
    else:
        for one in figures:
            show.out(show.figures_sheet(one))
