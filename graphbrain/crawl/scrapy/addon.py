"""The add-on of a Scrapy project, which sets the scheduler and the middlewares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware

from graphbrain.crawl.scrapy.private import PublicOnly
from graphbrain.crawl.scrapy.repairs import CookieWalls, Pages, TrueCodings
from graphbrain.crawl.scrapy.requests import asks_for_robots
from graphbrain.crawl.scrapy.scheduler import (
    AnswerNotes,
    DownloaderMiddleware,
    Scheduler,
    SpiderMiddleware,
    UnclaimedRobots,
)
from graphbrain.crawl.scrapy.sessions import SignedOut

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

__all__ = ["Addon"]

MOST_REDIRECTS = 5


class Addon:
    """The add-on of a Scrapy project: `ADDONS = {"graphbrain.scrapy.Addon": 500}`.

    It sets the scheduler and the middlewares. `response.follow` and `response.urljoin` then use the base URL that
    browsers find: Scrapy alone would miss a late `<base>`, and raise an error at one that names no URL.

    In a crawl that claims robots.txt, `ROBOTSTXT_OBEY` is True unless the project sets it. The add-on switches Scrapy's
    own retries off, because the brain schedules retries that outlive the process. `RETRY_ENABLED = True` in the project
    brings them back. It follows at most five temporary redirects in a row, where Scrapy follows 20. Each step waits
    until its host may be asked, and counts for the delay of that host. A permanent redirect is reported and not
    followed, and so is one that leads out of the scope or to a page that robots.txt forbids.
    """

    def update_settings(self, settings: BaseSettings) -> None:
        """Change the settings of the project. Scrapy calls this when it reads them."""
        settings.set("SCHEDULER", Scheduler, "addon")
        settings.set("RETRY_ENABLED", False, "addon")
        settings.set("REDIRECT_MAX_TIMES", MOST_REDIRECTS, "addon")
        # Next to the engine: these two see only what other middlewares neither drop nor handle.
        settings["SPIDER_MIDDLEWARES"].setdefault(SpiderMiddleware, 10)
        settings["DOWNLOADER_MIDDLEWARES"].setdefault(DownloaderMiddleware, 10)
        # `TrueCodings` sees a body before Scrapy unpacks it (590), `Pages` after that and before others (580).
        repairs = {TrueCodings: 595, Pages: 585, CookieWalls: CookieWalls.PLACE}
        for middleware, priority in (repairs | {AnswerNotes: 999}).items():
            settings["DOWNLOADER_MIDDLEWARES"].setdefault(middleware, priority)
        if not settings.getbool("GRAPHBRAIN_ALLOW_PRIVATE", True):
            settings["DOWNLOADER_MIDDLEWARES"].setdefault(PublicOnly, 900)  # after a proxy was chosen (750)
        if settings.getbool("GRAPHBRAIN_SESSION"):
            settings["DOWNLOADER_MIDDLEWARES"].setdefault(SignedOut, SignedOut.PLACE)
        if asks_for_robots(settings):
            settings.set("ROBOTSTXT_OBEY", True, "addon")
            settings["DOWNLOADER_MIDDLEWARES"][RobotsTxtMiddleware] = None
            settings["DOWNLOADER_MIDDLEWARES"].setdefault(UnclaimedRobots, 100)  # where Scrapy has its own
