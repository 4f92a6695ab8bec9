"""Spiders for test_scrapy.py, each run in a process of its own: `python -m tests.acceptance.spiders NAME SETTINGS`.

SETTINGS is a JSON object of Scrapy settings. Each item is printed as a line of JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from scrapy import FormRequest, Request, Spider
from scrapy.crawler import AsyncCrawlerProcess, CrawlerProcess
from scrapy.exceptions import CloseSpider
from scrapy.http import Response, TextResponse
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule

from tests.plugin import PATIENCE, Neo4j

ROOT = Path(__file__).resolve().parents[2]


def crawled(neo4j: Neo4j, proxy: str, *start: str) -> None:
    """Crawl with the add-on and the spider `honest`, in a process of its own, until nothing is left."""
    settings: dict[str, Any] = {
        "ADDONS": {"graphbrain.scrapy.Addon": 500},
        "GRAPHBRAIN_URI": neo4j.uri,
        "GRAPHBRAIN_USER": neo4j.user,
        "GRAPHBRAIN_PASSWORD": neo4j.password,
        "GRAPHBRAIN_CRAWL": "test",
        "GRAPHBRAIN_AUTO_TEND": False,
        "GRAPHBRAIN_LINKS": "all",
        "GRAPHBRAIN_PATIENCE": 5.0,
        "start_urls": start,
        "METAREFRESH_ENABLED": False,
        "ROBOTSTXT_OBEY": False,
        "LOG_LEVEL": "ERROR",
    }
    command = [sys.executable, "-m", "tests.acceptance.spiders", "honest", json.dumps(settings)]
    kept = {k: v for k, v in os.environ.items() if not k.startswith("GRAPHBRAIN_") and "proxy" not in k.lower()}
    environment = {**kept, "http_proxy": f"http://{proxy}"}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr[-2_000:]


class Lines:
    """Prints items."""

    def process_item(self, item: Any) -> Any:
        print(json.dumps(item), flush=True)
        return item


class Links(Spider):
    """Follows every link; an item for every page."""

    name = "links"

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        yield {"url": response.url, "depth": response.meta["depth"], "claim": response.meta["graphbrain_claim"].url}
        yield from response.follow_all(css="a")


class Members(Spider):
    """Logs in, in every process, and reads what members alone may."""

    name = "members"

    async def start(self) -> Any:
        yield Request(self.start_urls[0] + "login", self.log_in, meta={"graphbrain_every_process": True})

    def log_in(self, response: Response) -> Iterator[Any]:
        yield FormRequest(response.urljoin("/session"), self.begin, formdata={"who": "ada"})

    def begin(self, response: Response) -> Iterator[Any]:
        for number in range(12):
            yield Request(response.urljoin(f"/members/{number}"))

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        yield {"url": response.url}


class Honest(Links):
    """Follows every link that Scrapy's own extractor finds, on whatever is text."""

    name = "honest"

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        if isinstance(response, TextResponse):
            for link in LinkExtractor(deny_extensions=()).extract_links(response):
                with suppress(ValueError):  # what no request can be made of
                    yield Request(link.url)


class Careful(Links):
    """Reads pages of different kinds by different methods, sends a form, and stumbles."""

    name = "careful"

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        if response.url.endswith("/stumble"):
            raise RuntimeError("this page is too much for me")
        yield {"url": response.url, "by": "parse"}
        for link in response.css("a::attr(href)").getall():
            if "/thing/" in link:
                seen_on = {"on": [response.url, 1]}
                # As many do: the meta of the page goes on to the next.
                meta = {**response.meta, "colour": "red"}
                yield response.follow(link, self.parse_thing, cb_kwargs=seen_on, meta=meta, headers={"X-Thing": "yes"})
            elif "/odd" in link:
                yield response.follow(link, lambda answer, **_: self.parse_odd(answer))
            else:
                yield response.follow(link)
        for form in ("one", "one", "two"):
            if response.url.endswith("/form"):
                yield FormRequest(response.url, formdata={"q": form}, callback=self.parse_form)

    def parse_thing(self, response: Response, on: list[Any]) -> Iterator[Any]:
        said = response.xpath("string(//p)").get()
        yield {"url": response.url, "by": "thing", "on": on, "colour": response.meta["colour"], "said": said}

    def parse_odd(self, response: Response) -> Iterator[Any]:
        yield {"url": response.url, "by": "odd"}
        yield response.follow("/behind-odd")

    def parse_form(self, response: Response) -> Iterator[Any]:
        yield {"url": response.url, "by": "form", "method": response.request.method if response.request else ""}
        yield from response.follow_all(css="a")


class Rules(CrawlSpider):
    """Scrapy's own way to follow links, whose requests all have callbacks and meta."""

    name = "rules"
    rules = (Rule(LinkExtractor(), callback="parse_page", follow=True),)

    def parse_page(self, response: Response) -> Iterator[Any]:
        yield {"url": response.url, "text": response.meta["link_text"]}


class Closing(Links):
    """Has enough after three pages, in the middle of one."""

    name = "closing"
    seen = 0

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        self.seen += 1
        if self.seen > 3:
            raise CloseSpider("enough")
        yield from super().parse(response)


class Start(Links):
    """Starts with a form, which is no page."""

    name = "start"

    async def start(self) -> Any:
        yield FormRequest(self.start_urls[0], formdata={"user": "me"}, callback=self.parse_login)

    def parse_login(self, response: Response) -> Iterator[Any]:
        yield Request(response.urljoin("/inside"))


def rate(response: Response) -> float:
    """A relevance of the user's own: slow, and wrong for some pages."""
    time.sleep(0.01)
    return 0.75 if "/good" in response.url else 7.0


KINDS = {kind.name: kind for kind in (Links, Honest, Careful, Rules, Closing, Start, Members)}

if __name__ == "__main__":
    settings = {
        "LOG_LEVEL": "INFO",
        "TELNETCONSOLE_ENABLED": False,
        "ITEM_PIPELINES": {Lines: 1},
        "DOWNLOAD_DELAY": 0,
        **json.loads(sys.argv[2]),
    }
    start_urls = settings.pop("start_urls")
    kind = CrawlerProcess if settings.get("TWISTED_REACTOR_ENABLED", True) else AsyncCrawlerProcess
    process = kind(settings)
    process.crawl(KINDS[sys.argv[1]], start_urls=start_urls)
    process.start()
