"""One process of `graphbrain bench scrapy`: the web that is crawled, or its crawl by Scrapy, plain or with a brain.

An order is read from stdin, a line of JSON; the result is written to stdout, a line of JSON.
"""

from __future__ import annotations

import asyncio
import json
import mimetypes
import os
import random
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self

__all__ = ["CONCURRENCY", "generated", "of_directory"]

CONCURRENCY = 16
LINKS, WORDS, VOCABULARY = 60, 1_500, 4_000
"""A generated page's links and words, and the size of the vocabulary."""
Pages = dict[str, tuple[str, bytes]]
"""Path → content type and body."""


def generated(pages: int) -> Pages:
    """Return a web of this number of pages, which are all reachable from `/`. They are like pages of documentation, of
    some 20 kB each."""
    dice = random.Random(1)
    words = ["".join(dice.choices("abcdefghijklmnoprstuvwy", k=dice.randint(2, 10))) for _ in range(VOCABULARY)]
    web: Pages = {}
    for number in range(pages):
        # Link to the next two pages, so that all are reached, and to popular pages.
        ahead = [other for other in (2 * number + 1, 2 * number + 2) if other < pages]
        targets = [*ahead, *(int(dice.random() ** 2 * pages) for _ in range(LINKS - len(ahead)))]
        # Write some words before each link.
        parts = [
            f"<p>{' '.join(dice.choices(words, k=WORDS // LINKS))} "
            f'<a class="reference internal" href="/{target or ""}">{" ".join(dice.choices(words, k=3))}</a></p>'
            for target in targets
        ]
        body = f"<!DOCTYPE html><html><head><title>{number}</title></head><body>{''.join(parts)}</body></html>"
        web[f"/{number or ''}"] = "text/html; charset=utf-8", body.encode()
    return web


def of_directory(folder: Path) -> Pages:
    """Return the files of a directory by their paths; `/` is its index.html."""
    web = {
        f"/{file.relative_to(folder).as_posix()}": (
            mimetypes.guess_type(file.name)[0] or "application/octet-stream",
            file.read_bytes(),
        )
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }
    if "/index.html" in web:
        web["/"] = web["/index.html"]
    return web


class _Web(asyncio.Protocol):
    """A server that answers GET requests from memory, one after another on each connection."""

    def __init__(self, answers: Mapping[str, bytes]) -> None:
        self._answers, self._come = answers, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the connection. asyncio calls this method."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer complete requests. asyncio calls this method."""
        self._come += data
        while b"\r\n\r\n" in self._come:
            head, self._come = self._come.split(b"\r\n\r\n", 1)
            path = head.split(b" ", 2)[1].decode("latin-1").partition("?")[0]
            self._transport.write(self._answers.get(path, b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"))


async def _serve(pages: Pages) -> None:
    """Write the port to stdout, and serve until stdin ends."""
    answers = {
        path: b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n" % (kind.encode(), len(body)) + body
        for path, (kind, body) in pages.items()
    }
    server = await asyncio.get_running_loop().create_server(lambda: _Web(answers), "127.0.0.1", 0)
    print(json.dumps({"port": server.sockets[0].getsockname()[1]}), flush=True)
    await asyncio.to_thread(sys.stdin.read)
    server.close()


def _crawl(port: int, brain: Mapping[str, Any] | None, redis: str | None, server: int | None) -> dict[str, Any]:
    """Crawl all of the web, and return figures of the time between the opening and the closing of the spider.

    Args:
        port: The port of the web.
        brain: The GRAPHBRAIN_… settings. None: without a brain; without `redis`, too, the crawl is plain Scrapy.
        redis: The URL for scrapy-redis.
        server: The id of Neo4j's process, if it runs on this machine.
    """
    from scrapy import Spider, signals
    from scrapy.crawler import Crawler, CrawlerProcess
    from scrapy.http import HtmlResponse, Response
    from scrapy.linkextractors import LinkExtractor

    # The figures are differences of clocks between the signals of the spider.
    def clocks() -> tuple[float, float, float]:
        return time.monotonic(), time.process_time(), _cpu_of(server)

    figures: dict[str, Any] = {"pages": 0, "failures": 0}

    class Pages(Spider):
        """A spider that follows every link of every page."""

        name = "pages"
        start_urls = [f"http://127.0.0.1:{port}/"]  # noqa: RUF012
        allowed_domains = ("127.0.0.1",)
        extractor = LinkExtractor(deny_extensions=[])

        @classmethod
        def from_crawler(cls, crawler: Crawler, *args: Any, **named: Any) -> Self:
            """Make the spider. Scrapy calls this method."""
            spider = super().from_crawler(crawler, *args, **named)
            crawler.signals.connect(spider.begun, signals.spider_opened)
            crawler.signals.connect(spider.ended, signals.spider_closed)
            return spider

        def begun(self) -> None:
            self.began = clocks()

        def ended(self, reason: str) -> None:
            wall, client, database = (now - then for now, then in zip(clocks(), self.began, strict=True))
            figures.update(wall=wall, client=client, database=database, reason=reason)

        def parse(self, response: Response) -> Iterator[Any]:
            """Follow all links. Scrapy calls this method with each page."""
            figures["pages"] += 1
            yield {"url": response.url}
            if isinstance(response, HtmlResponse):
                yield from response.follow_all(self.extractor.extract_links(response))

    # Run the spider.
    process = CrawlerProcess(_settings(brain, redis))
    process.crawl(Pages)
    process.start()
    return figures


def _settings(brain: Mapping[str, Any] | None, redis: str | None) -> dict[str, Any]:
    """Return the settings of Scrapy for this crawl."""
    settings: dict[str, Any] = {
        "CONCURRENT_REQUESTS": CONCURRENCY,
        "CONCURRENT_REQUESTS_PER_DOMAIN": CONCURRENCY,
        "DOWNLOAD_DELAY": 0,
        "ROBOTSTXT_OBEY": False,
        "TELNETCONSOLE_ENABLED": False,
        "LOG_LEVEL": "WARNING",
    }
    if brain is not None:
        settings |= {f"GRAPHBRAIN_{name.upper()}": value for name, value in brain.items()}
        settings["ADDONS"] = {"graphbrain.scrapy.Addon": 500}
    if redis is not None:
        settings |= {
            "REDIS_URL": redis,
            "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
            "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
        }
    return settings


def _cpu_of(process: int | None) -> float:
    """Return the CPU seconds that a process has used, and 0 if unknown."""
    if process is None:
        return 0.0
    try:
        fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Execute the order from stdin."""
    order = json.loads(sys.stdin.readline())
    if order["what"] == "serve":
        folder = order["folder"]
        asyncio.run(_serve(generated(order["pages"]) if folder is None else of_directory(Path(folder))))
    else:
        print(json.dumps(_crawl(order["port"], order["brain"], order["redis"], order["server"])), flush=True)


if __name__ == "__main__":
    main()
