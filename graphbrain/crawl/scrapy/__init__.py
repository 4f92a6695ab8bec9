"""Scrapy: a scheduler and middlewares that hand a spider's scheduling to the brain.

`ADDONS = {"graphbrain.scrapy.Addon": 500}` is all that a project sets. `prefetch` claims ahead and reports behind, in
threads, because an event loop cannot wait for a database; `requests` turns claims into requests and back.
May touch: Scrapy. Knows of graphbrain: `Brain` and its words.
"""

from graphbrain.crawl.scrapy.prefetch import Report, Witness
from graphbrain.crawl.scrapy.requests import CLAIM, Reader, ScrapyOptions
from graphbrain.crawl.scrapy.scheduler import Addon, DownloaderMiddleware, Scheduler, SpiderMiddleware
from graphbrain.crawl.scrapy.visits import ScrapyVisit

__all__ = [
    "CLAIM",
    "Addon",
    "DownloaderMiddleware",
    "Reader",
    "Report",
    "Scheduler",
    "ScrapyOptions",
    "ScrapyVisit",
    "SpiderMiddleware",
    "Witness",
]
