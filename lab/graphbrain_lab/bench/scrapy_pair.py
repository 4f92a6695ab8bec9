"""Scrapy without and with a brain, and optionally with scrapy-redis: the same spider on the same web, in turns.

On a busy machine the CPU time of the client, and of the database if it runs here, is more reliable than the wall time.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from graphbrain.base.errors import BadInput, GraphbrainError
from graphbrain.brain.brain import Brain
from graphbrain.brain.workers import send_order, spawned
from graphbrain.graph.server import lifecycle
from graphbrain_lab.bench.scrapy_spider import CONCURRENCY

__all__ = ["PAGES", "scrapy_pair"]

ROUNDS = 3
PAGES = 600


def scrapy_pair(
    brain: Brain, folder: Path | None, pages: int, data: Path | None, redis: str | None = None
) -> dict[str, Any]:
    """Return the milliseconds for a page of plain Scrapy and of Scrapy with this brain: the medians of three rounds, in
    turns.

    The brain is cleared after each crawl.

    Args:
        brain: The brain.
        folder: The files of the web, with an index.html; None: a generated web.
        pages: The number of pages of a generated web.
        data: The local server's directory. Its CPU time is measured if the brain is on this server.
        redis: The URL of a Redis with which scrapy-redis is measured, too; the spider's keys in it are deleted after
            each crawl.
    """
    # Find the server, and the settings of the crawls with a brain.
    if folder is not None and not (folder / "index.html").is_file():
        raise BadInput(f"{folder} is no directory with an index.html.")
    found = lifecycle.find(data)
    here = found is not None and found.uri == brain.graph.uri
    server = lifecycle.status(data).pid if here else None
    connection = {name: getattr(brain.graph, name) for name in ("uri", "user", "password", "database")}
    settings = {
        **connection, "crawl": brain.settings.crawl, "delay_seconds": 0, "allow_hosts": "127.0.0.1",
        "change_settings": True,
    }  # fmt: skip
    # Crawl in turns.
    runs: dict[str, list[Mapping[str, Any]]] = {"plain": [], "brain": []}
    with _web(folder, pages) as port:
        for _ in range(ROUNDS):
            order = {"what": "crawl", "port": port, "brain": None, "redis": None, "server": server}
            runs["plain"].append(_crawled(order))
            runs["brain"].append(_crawled({**order, "brain": settings}))
            brain.clear()
            if redis is not None:
                runs.setdefault("redis", []).append(_crawled({**order, "redis": redis}))
    # Compare the medians.
    figures: dict[str, Any] = {"bench": "scrapy", "web": "a generated web" if folder is None else str(folder)}
    figures |= {"concurrency": CONCURRENCY, "rounds": ROUNDS}
    for who, crawls in runs.items():
        figures[f"pages_{who}"] = crawls[0]["pages"]
        for what in ("wall", "client", "database"):
            if what != "database" or (who == "brain" and server is not None):
                figures[f"{what}_ms_{who}"] = statistics.median(1000 * one[what] / one["pages"] for one in crawls)
    for what in ("client", "wall"):
        figures[f"{what}_ratio"] = figures[f"{what}_ms_plain"] / figures[f"{what}_ms_brain"]
        if redis is not None:
            figures[f"{what}_ratio_redis"] = figures[f"{what}_ms_plain"] / figures[f"{what}_ms_redis"]
    return figures


def _crawled(order: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result of a crawl in a separate process.

    Raises:
        GraphbrainError: The crawl did not finish.
    """
    process = spawned("graphbrain_lab.bench.scrapy_spider")
    send_order(process, order)
    out, _ = process.communicate()
    figures = json.loads(out.splitlines()[-1]) if process.returncode == 0 and out else {}
    if figures.get("reason") != "finished" or not figures["pages"]:
        raise GraphbrainError("Scrapy has not crawled the web to its end; its messages above have the reason.")
    return dict(figures)


@contextmanager
def _web(folder: Path | None, pages: int) -> Iterator[int]:
    """Run the web in a separate process, and yield its port."""
    process = spawned("graphbrain_lab.bench.scrapy_spider")
    try:
        send_order(process, {"what": "serve", "folder": None if folder is None else str(folder), "pages": pages})
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())["port"]
    finally:
        process.kill()
        process.communicate()
