"""The spider of `graphbrain crawl`, the scheduler that keeps its limits, and the reader of its pages.

`PageReader` reads the links of a page and reports them to the brain. No request of Scrapy is made for a link.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from http.cookiejar import Cookie
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeGuard

from scrapy import Request, Spider
from scrapy.http import HtmlResponse, Response
from scrapy.linkextractors import IGNORED_EXTENSIONS
from scrapy.utils.defer import deferred_from_coro

from graphbrain import Answer, Brain, Failed, Fetched, Link
from graphbrain.base.errors import BadInput
from graphbrain.base.urls.normalization import address, host_of
from graphbrain.base.urls.walls import bare
from graphbrain.crawl.downloading import Downloads
from graphbrain.crawl.gone import with_gone
from graphbrain.crawl.login import MOST_LOGINS, Login
from graphbrain.crawl.order import hosts_named
from graphbrain.crawl.returns import Returns
from graphbrain.crawl.scrapy import (
    Document,
    PrivateAddresses,
    Reader,
    Report,
    Scheduler,
    ScrapyOptions,
    ScrapyVisit,
    Witness,
    as_page,
    asks_for_password,
    ending_of,
    links_of,
)
from graphbrain.crawl.watching import CrawlWatch

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from graphbrain.crawl.again import Again
    from graphbrain.crawl.browser import Renderer
    from graphbrain.crawl.order import CrawlOrder
    from graphbrain.crawl.requisites import Requisites

__all__ = [
    "CrawlScheduler",
    "PageSpider",
    "RunMiddleware",
    "Running",
    "Sink",
]

DOCUMENTS = frozenset({"pdf", "doc", "docx", "odt", "ppt", "pptx", "odp", "xls", "xlsx", "ods", "odg", "rtf"})
SKIPPED = frozenset(IGNORED_EXTENSIONS) - DOCUMENTS | {"gz", "xz", "zst", "deb", "iso", "woff", "woff2", "avif"}
"""Endings of files that are no pages. The crawl does not follow links to them."""
NOT_FOLLOWED = "not followed"
"""The flag of a page whose links are not read."""
SCRIPTS = frozenset({"module", "text/javascript", "application/javascript"})
"""The types of scripts that browsers run."""


class Sink(Protocol):
    """A receiver of a crawl's results, beside the brain."""

    def recover(self, brain: Brain) -> int:
        """Complete the work that a killed process did not finish. Return the number of its parts."""

    def finished(self, visit: ScrapyVisit, report: Fetched) -> None:
        """Take a page that was fetched and read. The thread of the event loop calls this."""

    def before(self, reports: Sequence[Report]) -> None:
        """Take visits that will be reported next."""

    def after(self, reports: Sequence[Report], answers: Sequence[Answer]) -> None:
        """Take visits that were reported, and the brain's answers."""


class Archived(Protocol):
    """The archive of a run."""

    def keep(self, request: Request, response: Response) -> None:
        """Write an answer as the server sent it."""

    def holds(self, request: Request, etag: str | None, modified: str | None) -> bool:
        """Return whether the archive has the content to which a 304 with these validators refers."""


class Lines(Protocol):
    """The file of JSON lines that a run writes."""

    def holds(self, url: str, etag: str | None, modified: str | None) -> bool:
        """Return whether the file has the content to which a 304 with these validators refers."""


class Running:
    """The state that the parts of one run share: its order, its brain, its watch, and the receivers of results."""

    def __init__(
        self,
        order: CrawlOrder,
        brain: Brain,
        watch: CrawlWatch,
        sinks: Sequence[Sink] = (),
        cookies: Iterable[Cookie] = (),
        login: Login | None = None,
    ) -> None:
        # Given by the command.
        self.order, self.brain, self.watch, self.login = order, brain, watch, login
        self.sinks, self.cookies = sinks, tuple(cookies)
        # Set by the parts that the order asks for.
        self.scheduler: CrawlScheduler | None = None
        self.archive: Archived | None = None
        self.lines: Lines | None = None
        self.failure = ""
        """The reason why the run cannot continue, although the brain could."""
        self.requisites: Requisites | None = None
        self.again: Again | None = None
        """The detector of the end; None for a crawl that revisits its pages for ever."""
        self.renderer: Renderer | None = None
        self.downloads, self.returns = Downloads(), Returns()
        self.addresses = None if order.allow_private else PrivateAddresses(hosts_named(order, brain.settings))

    def fail(self, why: str) -> None:
        """Let the run end, with this reason unless there is an earlier one."""
        self.failure = self.failure or why

    @property
    def signed_out(self) -> bool:
        """True if the session of a host has ended, and was not renewed."""
        return (
            self.scheduler is not None and self.scheduler.sessions is not None and bool(self.scheduler.sessions.ended)
        )

    def reaches(self, url: str) -> bool:
        """Return whether a URL's host is in the scope."""
        try:
            return self.brain.policy.scope.holds_host(host_of(address(url)))
        except BadInput:
            return False

    def renders(self, response: Response) -> TypeGuard[HtmlResponse]:
        """Return whether the scripts of an answer are run: not if it has failed, or is no page in the scope."""
        is_page = isinstance(response, HtmlResponse) and bool(response.body)
        return self.renderer is not None and is_page and response.status // 100 == 2 and self.reaches(response.url)

    def visit_of(self, request: Request) -> ScrapyVisit | None:
        """Return the visit that a request belongs to; None for a request without a claim."""
        return None if self.scheduler is None else self.scheduler.visit_of(request)


class RunMiddleware:
    """The base class of downloader middlewares that read the run's order, its scope or its visits."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the middleware. Scrapy calls this."""
        return cls(crawler)

    @property
    def run(self) -> Running:
        """The run of the crawler's spider. Scrapy makes middlewares before the spider."""
        run: Running = self._crawler.spider.run  # type: ignore[union-attr]
        return run


class PageSpider(Spider):
    """A spider that starts with the order's URLs. All other requests come from claims."""

    name = "graphbrain"

    def __init__(self, run: Running, **named: Any) -> None:
        super().__init__(**named)
        self.run = run

    async def start(self) -> AsyncIterator[Any]:
        """Yield the start requests. Scrapy calls this."""
        for url in self.run.order.bare_urls():
            yield Request(url)

    def parse(self, response: Response) -> Iterator[Any]:  # noqa: ARG002
        """Make no requests: the reader reads the links when the visit ends. Scrapy calls this with each page."""
        return iter(())


class CrawlScheduler(Scheduler):
    """A scheduler that keeps the order's limit of pages, and never ends a crawl that revisits its pages."""

    WAITS_FOR_HOSTS = True
    WALL_ADVICE = "--cookies, --header or --login can bring a session."
    SESSION_ADVICE = "bring a new session by --cookies, --header or --login."

    def __init__(self, crawler: Any) -> None:
        super().__init__(crawler)
        self.why_nothing = ""
        """The reason why no page was claimed."""
        self.pages = 0
        """The number of pages that this run has fetched, including those that are not reported yet."""
        self.logging_in = self.run.login is not None

    @property
    def run(self) -> Running:
        """The run to which the scheduler belongs."""
        run: Running = self.crawler.spider.run  # type: ignore[union-attr]
        return run

    def open_brain(self, options: ScrapyOptions) -> Brain:  # noqa: ARG002
        """Return the brain of the run, which the command has opened."""
        return self.run.brain

    def close_brain(self, brain: Brain) -> None:
        """Leave the brain open: the command reads its figures later, and closes it."""

    def make_reader(self, options: ScrapyOptions, agent: str) -> Reader:
        """Return the reader of pages. The brain is open."""
        return PageReader(options, agent, self.run.order, self.run.watch)

    def make_witness(self, brain: Brain) -> Witness:
        """Return the observer of reports, after the sinks have completed earlier work. The brain is open."""
        self.run.scheduler = self
        for sink in self.run.sinks:
            sink.recover(brain)
        return _Reported(self.run)

    async def shown(self, request: Request, response: Response) -> Response:
        """Return a page after its scripts, with `--render`. If they fail the page is as it came: the middleware that
        renders it takes the error."""
        renderer, page = self.run.renderer, response
        with suppress(Exception):
            if renderer is not None and self.run.renders(page := as_page(response)):
                page, _ = await renderer.once(request, page)
        return page

    async def log_in(self) -> str:
        """Log in, and start a new session. Return the reason of a failure, as a clause; empty after a success."""
        assert self.run.login is not None
        self.logging_in = True
        why = await self.run.login.log_in(self.crawler)
        if not why and self.sessions is not None:
            self.sessions.renewed()
        self.logging_in = False
        return why

    def session_ended(self, host: str, why: str) -> None:
        """Log in again if that is allowed. Else give the pages of the host back from now on."""
        self.run.watch.leave(host)
        if self.run.login is None or self.logging_in:
            super().session_ended(host, why)
        elif self.run.login.may_renew():
            deferred_from_coro(self.watch_step(self._renew(host, why)))
        else:
            super().session_ended(host, f"{why}, after {MOST_LOGINS} logins within an hour")

    async def _renew(self, host: str, why: str) -> None:
        if failed := await self.log_in():
            super().session_ended(host, f"{why}, and the login has failed: {failed}")

    def fetched_nothing(self, why: str) -> None:
        """Keep the reason, which the command prints at the end."""
        self.why_nothing = why

    @property
    def room(self) -> int:
        """The number of further pages that may be requested now: the order's limit less those fetched and under way."""
        most = self.run.order.max_pages
        return super().room if most is None else most - self.pages - self.under_way

    def has_pending_requests(self) -> bool:
        """Return whether the run continues. Scrapy calls this."""
        if super().has_pending_requests():
            return True
        if self.run.requisites is not None and self.run.requisites.busy():
            return True
        return self.run.order.revisit

    def full(self) -> bool:
        """Return whether the number of fetched pages has reached the order's limit."""
        most = self.run.order.max_pages
        return most is not None and self.pages >= most

    def finished(self, visit: ScrapyVisit, result: Report | None) -> None:
        """Count the result of a visit, and pass its page on to the sinks."""
        self._note_answer(visit, result)
        if isinstance(result, Fetched):
            self.run.returns.note(visit, result)
        if isinstance(result, Fetched) and result.redirected_to is None:
            self.pages += 1
            for sink in self.run.sinks:
                sink.finished(visit, result)

    def finished_resource(self, visit: ScrapyVisit, result: Report | None) -> None:
        """Count a robots.txt because of which the pages of its host wait: without an answer, or with 429 or 503."""
        if visit.claim.kind != "robots" or not isinstance(result, Failed):
            return
        if result.fault == "silent":
            self.run.watch.silent(visit.claim.host, result.error)
        elif result.status in (429, 503):
            self.run.watch.answered(visit.claim.host, result.status, None, 0)

    def _note_answer(self, visit: ScrapyVisit, result: Report | None) -> None:
        """Count the answer of a visit in the watch."""
        watch, host, response = self.run.watch, visit.claim.host, visit.response
        if result is None:
            return
        if isinstance(result, Fetched) and result.redirected_to:
            watch.answered(host, result.status or 301, result.seconds, 0, address=bare(result.redirected_to))
        elif response is not None:
            form, size = asks_for_password(response), len(response.body)
            watch.answered(host, response.status, result.seconds, size, address=bare(response.url), form=form)
        elif isinstance(result, Failed) and result.fault == "silent":
            watch.silent(host, result.error or "")


class _Reported(Witness):
    """An observer that passes reports on to the sinks. The thread that writes calls it."""

    def __init__(self, run: Running) -> None:
        self._run = run

    def before(self, reports: Sequence[Report]) -> None:
        for sink in self._run.sinks:
            sink.before(reports)

    def after(self, reports: Sequence[Report], answers: Sequence[Answer]) -> None:
        if self._run.brain is not None:
            answers = with_gone(self._run.brain, reports, answers)
            answers = self._run.returns.as_new(reports, answers)
            self._run.returns.claim_again(self._run.brain)
        self._run.watch.reported(reports, answers)
        for sink in self._run.sinks:
            sink.after(reports, answers)


# ---------------------------------------------------------------- reading


class PageReader(Reader):
    """A reader that takes all links of a page, except those that the order leaves out."""

    def __init__(self, options: ScrapyOptions, agent: str, order: CrawlOrder, watch: CrawlWatch) -> None:
        super().__init__(options, agent)
        self._obeys, self._all_files, self._watch = not order.follow_all, order.all_files, watch
        self._renders = order.render

    def read(
        self, response: Response, followed: Mapping[str, tuple[str | None, float | None]]
    ) -> tuple[float | None, list[str | Link]]:
        """Return (relevance of the page or None if it is not known, its links). `followed` is empty: this spider makes
        no requests."""
        relevance = self.relevance(response)
        links: list[str | Link] = [*followed]
        if not isinstance(response, HtmlResponse):
            return relevance, links
        # Count the pages whose links are not read, with the option that would read them.
        if self._obeys and self.stated(response).forbids("nofollow"):
            self._watch.leave_out(response.url, "nofollow pages (--follow-all)")
            response.flags.append(NOT_FOLLOWED)
            return relevance, links
        targets = links_of(response)
        if not targets and not self._renders and "rendered" not in response.flags and makes_links(response):
            self._watch.leave_out(response.url, "pages without a link that run scripts (--render)")
        # Take the links, and count those that are not followed, with the option that would follow them.
        for url, (text, rel) in targets.items():
            if self.leaves_out(url):
                self._watch.leave_out(url, "links that log out or delete (--follow-logout)")
                continue
            if not self._all_files and ending_of(url) in SKIPPED:
                self._watch.leave_out(url, "links to other files (--all-files)")
                continue
            guess = None if relevance is None else self.relevance_of_link(relevance, text or None)
            links.append(Link(url, guess, anchor=text or None, rel=rel or None) if text or rel or guess else url)
        return relevance, links


def makes_links(response: HtmlResponse) -> bool:
    """Return whether a page has scripts: these may make links."""
    scripts = Document.of(response).elements("script")
    return any((node.get("type") or "module").lower() in SCRIPTS for node, _ in scripts)
