"""Scrapy: a scheduler and middlewares that hand a spider's scheduling to the brain.

`ADDONS = {"graphbrain.scrapy.Addon": 500}` is all that a project sets. `prefetch` claims ahead and reports behind, in
threads, because an event loop cannot wait for a database; `requests` turns claims into requests and back; `documents`
reads pages; `repairs` mends answers; `private` refuses addresses to which no public site may lead; `sessions` finds the
end of a session.
May touch: Scrapy. Knows of graphbrain: `Brain` and its words.
"""

from graphbrain.crawl.scrapy.addon import Addon
from graphbrain.crawl.scrapy.documents import Document, as_page, asks_for_password, links_of, true_coding
from graphbrain.crawl.scrapy.prefetch import Report, Witness
from graphbrain.crawl.scrapy.private import PrivateAddress, PrivateAddresses, guarded
from graphbrain.crawl.scrapy.requests import CLAIM, EVERY, Reader, ScrapyOptions, ending_of
from graphbrain.crawl.scrapy.scheduler import SIGNED_OUT, DownloaderMiddleware, Scheduler, SpiderMiddleware
from graphbrain.crawl.scrapy.sessions import WITHOUT_SESSION
from graphbrain.crawl.scrapy.visits import ScrapyVisit, header, location

__all__ = [
    "CLAIM",
    "EVERY",
    "SIGNED_OUT",
    "WITHOUT_SESSION",
    "Addon",
    "Document",
    "DownloaderMiddleware",
    "PrivateAddress",
    "PrivateAddresses",
    "Reader",
    "Report",
    "Scheduler",
    "ScrapyOptions",
    "ScrapyVisit",
    "SpiderMiddleware",
    "Witness",
    "as_page",
    "asks_for_password",
    "ending_of",
    "guarded",
    "header",
    "links_of",
    "location",
    "true_coding",
]
