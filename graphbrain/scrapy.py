"""The Scrapy add-on, by the short name that users import. `graphbrain.crawl.scrapy` has the code."""

from graphbrain.crawl.scrapy import Addon, DownloaderMiddleware, Scheduler, SpiderMiddleware

__all__ = ["Addon", "DownloaderMiddleware", "Scheduler", "SpiderMiddleware"]
