"""`graphbrain crawl` of a web that is made up where Scrapy would download it, to see what its memory does.

    python -m tests.acceptance.made_up_web FILE PAGES [OPTION OF graphbrain crawl]...

Everything but the downloader's handler is that of a crawl. The web has `PAGES` pages on four hosts, of ten links each.
At each 500th page a line goes to FILE: the number of pages, the anonymous memory of the process in kB, and the number
of objects of Scrapy's and graphbrain's classes. The cache of URLs is made smaller, so that it is full after some
hundred pages, and not after some ten thousand.
"""

from __future__ import annotations

import gc
import random
import sys
from pathlib import Path

from scrapy import Request
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.http import HtmlResponse, Response, TextResponse
from scrapy.settings import default_settings

from graphbrain.base.urls import normalization
from graphbrain.cli.app import main
from graphbrain.schedule.sections import shapes

EVERY, HOSTS, LINKS, REMEMBERED = 500, 4, 10, 2_000
LONG = 60.0
"""Seconds for which no other thread runs."""
SYLLABLES = [f"{a}{b}{c}" for a in "bdfglm" for b in "aeiou" for c in ("n", "rk", "st", "ll", "p", "nd")]


def anonymous_kb() -> int:
    """The memory of this process that no file holds: the part that can be a leak."""
    with Path("/proc/self/smaps_rollup").open(encoding="utf-8") as rollup:
        return next(int(line.split()[1]) for line in rollup if line.startswith("Anonymous:"))


def page_objects() -> int:
    """The objects that a page may leave, but for the shapes of URLs, whose cache is bounded and still fills here.

    No other thread runs meanwhile: the list of objects refers to the buffer that a thread of the driver is reading
    into, and a buffer that is referred to cannot grow (BufferError).
    """
    gc.collect()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(LONG)
    try:
        modules = (str(type(thing).__module__) for thing in gc.get_objects())
        return sum(name.startswith(("scrapy.", "graphbrain.")) and name != shapes.__name__ for name in modules)
    finally:
        sys.setswitchinterval(interval)


def url(page: int) -> str:
    return f"http://host-{page % HOSTS}.example/section-{page % 50}/page-{page}.html"


def html(page: int, pages: int) -> bytes:
    """A page that links to two that no other page leads to, and to eight others, rather to the first ones."""
    dice = random.Random(page)
    targets = [2 * page + 1, 2 * page + 2, *(int(dice.random() ** 2 * pages) for _ in range(LINKS - 2))]
    links = "".join(f'<li><a href="{url(target)}">page {target}</a>' for target in targets if target < pages)
    text = "".join(f"<p>{' '.join(dice.choices(SYLLABLES, k=15))}.</p>" for _ in range(3))
    return f"<!doctype html><title>{page}</title><h1>{page}</h1>{text}<ul>{links}</ul>".encode()


class MadeUp(BaseDownloadHandler):
    """Answers each request itself."""

    made = 0

    async def download_request(self, request: Request) -> Response:
        path = request.url.split("/", 3)[3]
        if path == "robots.txt":
            return TextResponse(request.url, body=b"User-agent: *\nDisallow: /private/\n")
        if not path.startswith("section-"):
            return Response(request.url, 404)
        MadeUp.made += 1
        if MadeUp.made % EVERY == 0:
            with FILE.open("a", encoding="utf-8") as file:
                file.write(f"{MadeUp.made} {anonymous_kb()} {page_objects()}\n")
        page = int(path.removesuffix(".html").rpartition("-")[2])
        return HtmlResponse(request.url, headers={"Content-Type": "text/html; charset=utf-8"}, body=html(page, PAGES))


if __name__ == "__main__":
    FILE, PAGES = Path(sys.argv[1]), int(sys.argv[2])
    default_settings.DOWNLOAD_HANDLERS_BASE["http"] = MadeUp
    normalization.REMEMBERED = REMEMBERED
    main(["crawl", *(url(page) for page in range(HOSTS)), *sys.argv[3:]])
