"""One run of Scrapy in this process: its settings, its limits, and its end.

`run` blocks the main thread with the event loop. After Ctrl-C, SIGTERM or a limit the run waits at most `GRACE` seconds
for requests under way, then cancels them and gives their pages back. A second Ctrl-C cancels them at once. After a
signal and the end of the time, calls of the database are tried again for at most `GRACE` seconds, too.
"""

from __future__ import annotations

import logging
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from scrapy import signals
from scrapy.crawler import CrawlerProcess
from scrapy.logformatter import LogFormatter
from scrapy.utils.asyncio import create_looping_call
from scrapy.utils.defer import deferred_from_coro

from graphbrain.base.errors import BadInput
from graphbrain.crawl.conditions import Conditions
from graphbrain.crawl.downloading import HttpDownloads
from graphbrain.crawl.redirects import Redirects
from graphbrain.crawl.scrapy import SIGNED_OUT, guarded
from graphbrain.crawl.secrets import middlewares
from graphbrain.crawl.spider import CrawlScheduler, PageSpider, Running

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

__all__ = ["Ended", "ScrapyRun"]

GRACE = 10.0
"""Seconds for which an ending run waits for answers, and tries to write what it has."""
LOOK = 0.5
"""Seconds between two checks of limits."""
TIMEOUT = 60
MOST_BYTES = 64 << 20
"""Most bytes of one page that are downloaded."""
Reason = Literal["finished", "max_pages", "max_time", "interrupted", "failed", "nothing", "signed_out"]
OBEYS_ROBOTS: Mapping[str, Any] = {"ROBOTSTXT_OBEY": True}
"""The setting by which requests without a claim, such as those for requisites, obey robots.txt, too."""

OWN = {Redirects: Redirects.PLACE, Conditions: Conditions.PLACE}
"""The middlewares of every run."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of a run.

    Attributes:
        reason: The cause of the end.
        when: The time at which a page can be claimed again, as a clause.
        why: The reason why no page was claimed, as a clause.
        counts: The counters of the add-on.
        seconds: The time since the brain was opened.
    """

    reason: Reason
    when: str = ""
    why: str = ""
    counts: Mapping[str, int] | None = None
    seconds: float = 0.0


class ScrapyRun:
    """One run of Scrapy. A process can have only one, since a reactor cannot be started again.

    Args:
        running: The order, the watch and the sinks of the run.
        agent: The user agent.
        say: Is called with sentences for the user.
        looked: Is called twice a second in the event loop.
    """

    def __init__(
        self,
        running: Running,
        agent: str,
        say: Callable[[str], None],
        looked: Callable[[], None] = lambda: None,
    ) -> None:
        self._running, self._agent = running, agent
        self._say, self._looked = say, looked
        self._reason: Reason | None = None
        self._closed_as = ""
        self._interrupts = 0
        self._give_up_at: float | None = None
        self._crawler: Crawler | None = None
        self._looks: Any = None
        self._began = time.monotonic()

    def run(self) -> Ended:
        """Crawl until nothing is left, a limit is reached, or the run is interrupted."""
        with self._logging():
            process = CrawlerProcess(self._settings())
            self._crawler = process.create_crawler(PageSpider)
            self._crawler.signals.connect(self._opened, signals.spider_opened)
            self._crawler.signals.connect(self._closed, signals.spider_closed)
            process.crawl(self._crawler, run=self._running)
            with self._interruptible():
                process.start(install_signal_handlers=False)
        return self._ended()

    def _ended(self) -> Ended:
        scheduler, crawler = self._running.scheduler, self._crawler
        stats = {} if crawler is None or crawler.stats is None else crawler.stats.get_stats()
        counts = {
            str(name).removeprefix("graphbrain/"): int(count)
            for name, count in stats.items()
            if str(name).startswith("graphbrain/")
        }
        when = scheduler.ended.when() if scheduler is not None and scheduler.ended is not None else ""
        if self._reason is None:
            by_reason: dict[str, Reason] = {"graphbrain_failed": "failed", "graphbrain_nothing": "nothing"}
            by_reason[SIGNED_OUT] = "signed_out"
            self._reason = by_reason.get(self._closed_as, "finished")
        why = scheduler.why_nothing if scheduler is not None else ""
        return Ended(self._reason, when, why, counts, time.monotonic() - self._began)

    # ---------------------------------------------------------------- Scrapy

    def _middlewares(self) -> dict[Any, int | None]:
        """Return the downloader middlewares of the run, each with its place."""
        steps: dict[Any, int | None] = {**middlewares(), **OWN}
        if self._running.archive is not None:
            from graphbrain.crawl.archive import ArchiveStep

            steps[ArchiveStep] = ArchiveStep.PLACE
        if self._running.renderer is not None:
            from graphbrain.crawl.render_step import Rendering

            steps[Rendering] = Rendering.PLACE
        return steps

    def _settings(self) -> dict[str, Any]:
        """Return the settings of Scrapy for this run."""
        order = self._running.order
        settings: dict[str, Any] = {
            "ADDONS": {"graphbrain.scrapy.Addon": 500},
            "SCHEDULER": CrawlScheduler,
            "USER_AGENT": self._agent,
            # Downloads: the brain keeps the delay of each host.
            "CONCURRENT_REQUESTS": order.concurrency,
            "CONCURRENT_REQUESTS_PER_DOMAIN": order.concurrency,
            "CONCURRENT_ITEMS": 1,  # Scrapy makes so many tasks for each page, and the spider has no items
            "DOWNLOAD_DELAY": 0,
            "DOWNLOAD_HANDLERS": dict.fromkeys(("http", "https"), HttpDownloads),
            "DOWNLOAD_TIMEOUT": TIMEOUT,
            "DOWNLOAD_MAXSIZE": MOST_BYTES,
            "DOWNLOAD_FAIL_ON_DATALOSS": False,  # `HttpDownloads` raises, after it has archived the part that came
            "DOWNLOAD_WARNSIZE": 0,
            "HTTPERROR_ALLOW_ALL": True,
            "METAREFRESH_ENABLED": False,
            # The log: `graphbrain crawl` prints its own progress.
            "TELNETCONSOLE_ENABLED": False,
            "EXTENSIONS": {"scrapy.extensions.logstats.LogStats": None},
            "LOG_ENABLED": False,
            "LOG_INSTALL_ROOT_HANDLER": False,
            "LOG_FORMATTER": CrawlLog,
            # The middlewares and the add-on.
            "DOWNLOADER_MIDDLEWARES": self._middlewares(),
            "GRAPHBRAIN_LINKS": "all",
            "GRAPHBRAIN_SESSION": order.has_session,
            "GRAPHBRAIN_FOLLOW_LOGOUT": order.follow_logout,
            "GRAPHBRAIN_KINDS": ["page", "robots", "link", *(["sitemap"] if order.sitemaps else [])],
            **OBEYS_ROBOTS,
        }
        if self._running.addresses is not None:
            settings["TWISTED_DNS_RESOLVER"] = guarded(self._running.addresses)
        if order.topic is not None:
            settings["GRAPHBRAIN_TOPIC"] = order.topic
        return settings

    def _opened(self) -> None:
        self._began = time.monotonic()
        self._looks = create_looping_call(self._look)
        self._looks.start(LOOK, now=False)
        if self._running.requisites is not None and self._crawler is not None:
            self._running.requisites.start(self._crawler, self._running.fail)
        self._start_rendering()
        if self._running.login is not None and (scheduler := self._running.scheduler) is not None:
            deferred_from_coro(scheduler.watch_step(self._log_in(scheduler)))

    async def _log_in(self, scheduler: CrawlScheduler) -> None:
        """Log in before the first page, or end the run."""
        if why := await scheduler.log_in():
            self._say(f"The login has failed: {why}.")
            self._close("signed_out")

    def _start_rendering(self) -> None:
        running = self._running
        if running.renderer is None or self._crawler is None:
            return
        from graphbrain.crawl.supplies import Supplies

        running.renderer.start(
            Supplies(self._crawler, running.watch, running.reaches, running.order.render_from, running.requisites)
        )

    async def _closed(self, reason: str) -> None:
        self._closed_as = reason
        if self._running.requisites is not None:
            self._running.requisites.stop()
        self._stop_looking()
        await self._close_browser()

    async def _close_browser(self) -> None:
        if self._running.renderer is not None:
            await self._running.renderer.close()

    def _stop_looking(self) -> None:
        if self._looks is not None and self._looks.running:
            self._looks.stop()

    def _look(self) -> None:
        """Report sites that block, and end the run if a limit is reached. Called twice a second."""
        running = self._running
        for sentence in running.watch.blocking():
            self._say(sentence)
        self._looked()
        # If the run is ending, wait at most `GRACE` seconds for its answers.
        if self._give_up_at is not None:
            if time.monotonic() > self._give_up_at:
                self._let_go()
            return
        # End the run after an error, at a limit, or when only pages are left that it has fetched before.
        scheduler, order = running.scheduler, running.order
        if running.failure:
            self._say(running.failure)
            self._close("failed")
        elif scheduler is not None and scheduler.full() and not self._waits_for_requisites():
            self._close("max_pages")
        elif order.max_time is not None and time.monotonic() - self._began >= order.max_time:
            self._close("max_time")
        elif running.again is not None and running.again.over() and not self._waits_for_requisites():
            self._close("finished")

    def _waits_for_requisites(self) -> bool:
        return self._running.requisites is not None and self._running.requisites.busy()

    def _close(self, reason: Reason) -> None:
        """Close the spider, with this reason unless there is an earlier one. Its requests under way may finish."""
        if self._running.requisites is not None:
            self._running.requisites.stop()
        self._reason = self._reason or reason
        if reason in ("max_time", "interrupted"):
            self._running.brain.graph.hurry(GRACE)
        self._give_up_at = time.monotonic() + GRACE
        engine = None if self._crawler is None else self._crawler.engine
        if engine is not None and engine.running:
            deferred_from_coro(engine.close_spider_async(reason=reason))

    def _let_go(self) -> None:
        """Cancel the requests under way, so that the run ends. Their pages are given back."""
        self._give_up_at = None
        if self._running.scheduler is not None:
            self._running.scheduler.let_go()
        self._running.downloads.let_go()
        deferred_from_coro(self._close_browser())

    # ---------------------------------------------------------------- Ctrl-C

    @contextmanager
    def _interruptible(self) -> Iterator[None]:
        before = {number: signal.signal(number, self._interrupted) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _interrupted(self, *_: object) -> None:
        """Let the event loop handle a signal, because it may arrive between any two instructions."""
        self._interrupts += 1
        _reactor().callFromThread(self._heed, self._interrupts)

    def _heed(self, times: int) -> None:
        """End the run after the first signal; cancel its requests after the second one."""
        if times == 1:
            self._say("Ending: pages that are on their way are waited for; Ctrl-C again gives them back at once.")
            self._close("interrupted")
        elif times == 2:
            self._let_go()

    # ---------------------------------------------------------------- messages of Scrapy and the add-on

    @contextmanager
    def _logging(self) -> Iterator[None]:
        """Show warnings to the user, and write the log to the order's file, until the block ends."""
        # Open the log file.
        order, root = self._running.order, logging.getLogger()
        handlers: list[logging.Handler] = [_Said(self._say)]
        if order.log is not None:
            try:
                file = logging.FileHandler(order.log, encoding="utf-8")
            except OSError as error:
                raise BadInput(f"--log {order.log} cannot be written ({error.strerror or error}).") from None
            file.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
            handlers.append(file)
        # Add the handlers to the root logger, and remove them at the end.
        earlier_level = root.level
        root.setLevel(logging.WARNING if order.log is None else logging.INFO)
        for handler in handlers:
            root.addHandler(handler)
        try:
            yield
        finally:
            root.setLevel(earlier_level)
            for handler in handlers:
                root.removeHandler(handler)
                handler.close()


class CrawlLog(LogFormatter):
    """The formats of Scrapy's messages. A request without an answer is no warning: the watch reports silent hosts."""

    def download_error(self, *args: Any, **named: Any) -> Any:
        """Return the message on a failed request, at the level INFO. Scrapy calls this."""
        return {**super().download_error(*args, **named), "level": logging.INFO}


class _Said(logging.Handler):
    """A handler that prints each warning and error once, in one line. Only the log file gets tracebacks."""

    MOST = 1_000

    def __init__(self, say: Callable[[str], None]) -> None:
        super().__init__(logging.WARNING)
        self._say_it, self._printed = say, set[str]()

    def emit(self, record: logging.LogRecord) -> None:
        """Print a record's text, unless it was printed before."""
        text = record.getMessage().split("\n", 1)[0]
        if record.exc_info and record.exc_info[1] is not None:
            error = record.exc_info[1]
            text = f"{text} ({type(error).__name__}: {error}; --log FILE keeps all of it)"
        if text not in self._printed and len(self._printed) < self.MOST:
            self._printed.add(text)
            self._say_it(text)


def _reactor() -> Any:
    """Return Twisted's event loop. Scrapy installs it when it creates a crawler, so it cannot be imported before."""
    from twisted.internet import reactor

    return reactor
