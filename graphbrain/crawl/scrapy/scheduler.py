"""A Scrapy scheduler whose requests are claims of the brain, with the middlewares that it needs.

    ADDONS = {"graphbrain.scrapy.Addon": 500}

The add-on sets the scheduler and two middlewares, which only work together, and three that repair answers: a false
label gzip, a page of an unusual type and its base, a page that needs a cookie. The scheduler returns requests for
claimed pages. The spider middleware takes the requests that callbacks make as links of their page. A *visit* is a
claimed page with all requests that it leads to. It ends, and is reported, when Scrapy has finished the last of these
requests and items have gone through their pipelines. If the process is killed before, the page is claimed again later.

A request that a URL and a note in JSON can express becomes a page of the graph. This process fetches any other request,
such as a form or one whose callback is no method of the spider, as a part of the visit that led to it.
`prefetch` calls the database; nothing here waits for it.
"""

from __future__ import annotations

import heapq
import itertools
import logging
import time
from collections.abc import AsyncIterator, Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from scrapy import Request, Spider, signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.asyncio import create_looping_call, run_in_thread
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from twisted.internet.task import deferLater
from twisted.python.failure import Failure

from graphbrain import Brain, Claim, Claims, Failed, Fetched, Page
from graphbrain.base.errors import BadInput, GraphbrainError, SettingsError
from graphbrain.base.runtime.newest import Newest
from graphbrain.base.settings import Settings
from graphbrain.base.urls.normalization import Rules, address, host_of
from graphbrain.content.report_semantics import TEMPORARY
from graphbrain.crawl.scrapy.documents import as_page
from graphbrain.crawl.scrapy.prefetch import (
    ASKED_AT_ONCE,
    MOST_UNWRITTEN,
    WALL_ADVICE,
    Desk,
    FinishedVisit,
    PageToFetch,
    Witness,
    unexpected,
)
from graphbrain.crawl.scrapy.requests import (
    CLAIM,
    EVERY,
    MARK,
    Reader,
    ScrapyOptions,
    express,
    first_step,
    hashed,
    read_no_body,
    request_for,
    resource_request,
    unmarked,
    unread,
    userless,
)
from graphbrain.crawl.scrapy.sessions import WITHOUT_SESSION, Sessions, SignedOut
from graphbrain.crawl.scrapy.visits import PERMANENT, ScrapyVisit, error_text, location, names_page
from graphbrain.frontier.hosts.robots import Robots, parsed, product, readable

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from twisted.internet.defer import Deferred

__all__ = ["AnswerNotes", "DownloaderMiddleware", "Scheduler", "SpiderMiddleware", "UnclaimedRobots"]

OWN = -1
"""The value of `MARK` for requests that belong to no visit: only this process fetches them."""
TICK = 0.1
"""Seconds between two checks of which requests Scrapy has finished."""
ASK_EVERY = 5
"""Number of ticks after which even a single missing page is claimed while others are being fetched."""
MOST_KNOWN = 10_000
"""Most messages, and most parsers of robots.txt, that are kept in memory."""
MOST_RULES = 1_000
"""Most origins whose robots.txt is kept in memory."""
RULES_KEPT = 300.0
"""Seconds for which a robots.txt of the brain is kept in memory."""
FAILED = "graphbrain_failed"
"""The reason for closing a spider whose brain cannot be used."""
NOTHING = "graphbrain_nothing"
"""The reason for closing a spider none of whose start pages may be fetched."""
SIGNED_OUT = "graphbrain_signed_out"
"""The reason for closing a spider when pages are left only at hosts whose session has ended."""

log = logging.getLogger(__name__)


class Scheduler(BaseScheduler):
    """A scheduler that makes requests for claimed pages and reports the visits. See docs/reference/scrapy.md.

    Attributes:
        WAITS_FOR_HOSTS: True if the crawl waits for hosts that have failed: `waits_for_hosts` of `Desk`.
        WALL_ADVICE: The advice in the log on a login to which pages lead.
        SESSION_ADVICE: The advice in the log when a session has ended.
        sessions: The sessions of the crawl; None for a crawl without one.
        logging_in: True while no page is fetched because a new session is being made.
        _waiting: A heap of (priority × −1, number, request). The number keeps the heap from comparing requests.
        _steps: Targets of redirects that wait for their hosts.
        _own: The number of start requests that only this process fetches.
        _held_up: True while no page is fetched, because the first requests are not finished.
        _first: The requests before the first page, and those that they led to.
        _first_absent: Those of them that Scrapy did not have at the last check.
        _agent: The product token by which Scrapy reads robots.txt.
        _rules_of: Origin → (its robots.txt in the brain, the time at which it is read again), for requests without a
            claim.
        _robots: Origin → the robots.txt that this process has sent to the brain.
    """

    WAITS_FOR_HOSTS = False
    WALL_ADVICE = WALL_ADVICE
    SESSION_ADVICE = "start the spider again with a new session: its pages wait."

    def __init__(self, crawler: Crawler) -> None:
        # The crawl and its options, which `open` reads.
        self.crawler = crawler
        self._most = crawler.settings.getint("CONCURRENT_REQUESTS") or 100
        self._desk: Desk | None = None
        self._reader = Reader(ScrapyOptions())
        self._rules = Rules()
        self._every_start = False
        # Visits, and the requests that wait to be sent.
        self._visits: dict[int, ScrapyVisit] = {}
        self._numbers = itertools.count(1)
        self._waiting: list[tuple[int, int, Request]] = []
        self._steps: set[Request] = set()
        self._fingerprints: set[bytes] = set()
        self._own = 0
        # The requests before the first page, such as those of a login, and the session.
        self._held_up = False
        self._first: set[Request] = set()
        self._first_absent: set[Request] = set()
        self.sessions: Sessions | None = None
        self.logging_in = False
        # robots.txt.
        self._agent = product(crawler.settings.get("ROBOTSTXT_USER_AGENT") or crawler.settings["USER_AGENT"]) or None
        self._rules_of: Newest[str, tuple[Robots, float]] = Newest(MOST_RULES)
        self._robots: Newest[str, Robots] = Newest(MOST_RULES)
        # Ticks, and the end of the crawl.
        self._ticks = create_looping_call(self._tick)
        self._tick_count = 0
        self._failure: GraphbrainError | None = None
        self._reason = FAILED
        self._closing = False
        self._ended: Claims | None = None
        self._logged: set[tuple[str, str]] = set()
        _SCHEDULERS[crawler] = self

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make a scheduler. Scrapy calls this."""
        return cls(crawler)

    # ---------------------------------------------------------------- for schedulers that build on this one

    def open_brain(self, options: ScrapyOptions) -> Brain:
        """Open the brain of the crawl. This runs in a thread."""
        return Brain.open(canonical=options.canonical, **options.brain)

    def close_brain(self, brain: Brain) -> None:
        """Close the brain of the crawl, after all was written. This runs in a thread."""
        brain.close()

    def make_reader(self, options: ScrapyOptions, agent: str) -> Reader:
        """Return the reader of pages. `agent`: the product token of the brain's user agent. This runs in a thread."""
        return Reader(options, agent)

    def make_witness(self, brain: Brain) -> Witness | None:  # noqa: ARG002
        """Return an observer of the reports to this brain, or None."""
        return None

    def finished(self, visit: ScrapyVisit, result: Fetched | Failed | None) -> None:
        """Note the end of a page's visit, before `result` is reported. None: the page is given back."""

    def finished_resource(self, visit: ScrapyVisit, result: Fetched | Failed | None) -> None:
        """Note the end of a visit of a robots.txt, of a sitemap, or of a link that is checked, as `finished` does."""

    def fetched_nothing(self, why: str) -> None:
        """Log the reason why no page was claimed before the crawl ended."""
        log.warning("No page was fetched: %s.", why)

    @property
    def room(self) -> int:
        """The number of further pages that may be requested now. A crawl with a limit of pages returns less."""
        return self._most

    @property
    def under_way(self) -> int:
        """The number of claimed pages that are being fetched or read."""
        return sum(visit.claim.kind == "page" for visit in self._visits.values())

    @property
    def ended(self) -> Claims | None:
        """The brain's answer after which the crawl counted as over; None until then."""
        return self._ended if self._desk is None else self._desk.ended

    def session_ended(self, host: str, why: str) -> None:
        """Log that the session of a host has ended. From then on its pages are given back. `why`: a clause."""
        log.error("The session at %s has ended: %s. Nothing of that is stored; %s", host, why, self.SESSION_ADVICE)

    def let_go(self) -> None:
        """Mark all pages without an answer, to be given back when their requests end. The caller cancels these
        requests."""
        if self.sessions is not None:
            self.sessions.let_go()
        for visit in self._visits.values():
            visit.broken_off |= visit.response is None

    # ---------------------------------------------------------------- calls of Scrapy's engine

    def open(self, spider: Spider) -> Deferred[None]:
        """Open the brain, in a thread. After a failure the spider is closed, with a sentence in the log."""
        return deferred_from_coro(self._open(spider))

    async def _open(self, spider: Spider) -> None:
        # Open the brain, and make what depends on its settings.
        try:
            self._check_middlewares()
            options = ScrapyOptions.of(self.crawler.settings)
            brain = await run_in_thread(self.open_brain, options)
            self._reader = await run_in_thread(self.make_reader, options, product(brain.settings.user_agent))
            self._every_start = options.every_start
            self._rules = Rules(options.canonical, hash_bang=brain.settings.hash_bang)
            witness = self.make_witness(brain)
        except GraphbrainError as error:
            # The next tick closes the spider. Raised here, the error would end in tracebacks: Scrapy cannot close an
            # engine that is half open.
            self._failure = error
            self._ticks.start(TICK, now=False)
            return
        self._warn_of_settings(spider, options, brain.settings)
        # Start the threads that claim and report.
        self._desk = Desk(
            brain,
            options.patience,
            now_only=options.now_only,
            agent=self._agent,
            witness=witness,
            waits_for_hosts=self.WAITS_FOR_HOSTS,
            wall_advice=self.WALL_ADVICE,
            kinds=options.kinds,
        )
        self._desk.open()
        # Watch the session, and the heads of links that are checked.
        if options.session:
            self.sessions = Sessions(self, brain.settings.delay_seconds)
            SignedOut.watch(self.crawler, self.sessions)
        if "link" in options.kinds:
            self.crawler.signals.connect(read_no_body, signals.headers_received)
        self._ticks.start(TICK, now=False)

    def _check_middlewares(self) -> None:
        """Raise SettingsError if a middleware is missing that the scheduler needs."""
        for kind, middleware in (
            (SpiderMiddleware, self.crawler.get_spider_middleware(SpiderMiddleware)),
            (DownloaderMiddleware, self.crawler.get_downloader_middleware(DownloaderMiddleware)),
        ):
            if middleware is None:
                raise SettingsError(
                    f"The scheduler needs {kind.__name__}: set ADDONS = {{'graphbrain.scrapy.Addon': 500}}."
                )

    def _warn_of_settings(self, spider: Spider, options: ScrapyOptions, settings: Settings) -> None:
        """Log settings of Scrapy and of the brain that do not fit together."""
        if options.every_link and getattr(spider, "allowed_domains", None) and not settings.allow_hosts:
            log.warning("GRAPHBRAIN_LINKS is 'all': set GRAPHBRAIN_ALLOW_HOSTS too, or pages outside will be claimed.")
        agent = product(settings.user_agent)
        if "robots" in options.kinds and self._agent not in (None, agent):
            log.warning(
                "The brain reads robots.txt for %r, its user_agent, and not for %r: set GRAPHBRAIN_USER_AGENT.",
                agent,
                self._agent,
            )

    def close(self, reason: str) -> Deferred[None]:  # noqa: ARG002
        """Report the visits that have ended, give back all other pages, and close the brain, in a thread."""
        return deferred_from_coro(self._close())

    async def _close(self) -> None:
        desk, self._closing = self._desk, True
        if self._ticks.running:
            self._ticks.stop()
        if desk is None:
            return
        # End all visits. Give a page back if one of its requests was not sent.
        unsent = {request for _, _, request in self._waiting} | self._steps
        for visit in list(self._visits.values()):
            visit.broken_off |= not unsent.isdisjoint(visit.requests)
            self._end(visit)
        # Write what waits, and close the brain.
        why, when = await run_in_thread(desk.why_nothing), desk.when()
        lost_visits = await run_in_thread(desk.close)
        await run_in_thread(self.close_brain, desk.brain)
        # Log how the crawl ended.
        self._count(desk)
        if why:
            self.fetched_nothing(why)
        elif when:
            log.info("Nothing more is fetched now; %s.", when)
        self._ended = desk.ended
        if lost_visits:
            log.error("%d visits could not be reported; their pages come again when their leases lapse.", lost_visits)
        self._desk = None

    def has_pending_requests(self) -> bool:
        """Return whether work is left in this process or, until `GRAPHBRAIN_PATIENCE` runs out, in another."""
        if self._desk is None:
            return self._failure is not None  # a tick closes the spider, with the reason
        if self._waiting or self._visits or self._held_up or self.logging_in or not self._desk.over:
            return True
        if self._failure is None and self._desk.unmet == self._desk.seeds_sent > 0 and not self._own:
            self._failure, self._reason = GraphbrainError(self._no_start_page(self._desk)), NOTHING
        return self._failure is not None  # a tick closes the spider, with the reason

    def _no_start_page(self, desk: Desk) -> str:
        """Return the message for a crawl none of whose start pages may be fetched."""
        pages = "The start page is" if desk.seeds_sent == 1 else f"All {desk.seeds_sent} start pages are"
        return (
            f"{pages} outside the scope of this brain, or refused, so nothing was crawled of what was asked for: the "
            "lines above have the reasons. 'graphbrain settings allow_hosts' shows the scope."
        )

    def next_request(self) -> Request | None:
        """Return a request to be sent now, or None if none is at hand."""
        if self._desk is None:
            return None
        self._want(self._desk)
        if self._waiting:
            return heapq.heappop(self._waiting)[2]
        if self._held_up or self.logging_in:
            return None
        while self.room > 0 and (page := self._desk.take()) is not None:
            is_page = page.claim.kind == "page"
            if self.sessions is not None and is_page and not self.sessions.begins(page.claim.host):
                self._desk.done(FinishedVisit(page.claim, None))
                continue
            if (request := self._begin(page)) is not None:
                return request
        return None

    def enqueue_request(self, request: Request) -> bool:
        """Take a start request, a request of a visit, or one that a middleware sends in place of another.

        Returns:
            False if the request is not sent: it is a duplicate, or the brain cannot be used.
        """
        desk = self._desk
        if desk is None or desk.failure is not None:
            return False
        visit = self._visits.get(request.meta.get(MARK, 0))
        if visit is not None:
            self._add_to_visit(desk, visit, userless(request))
            return True
        # Make a start page of a request that a URL and a note express. A spider's start requests have dont_filter, too:
        # for them it does not mean that this process sends them again.
        is_own = request.meta.get(MARK) == OWN
        request = unmarked(request)
        is_start = request.meta.get("is_start_request")
        by_every_process = bool(is_start and self._every_start)
        is_unfiltered = request.dont_filter and not is_start
        if not (is_own or by_every_process or is_unfiltered):
            note = express(request, self.crawler.spider)
            if note is not None:
                desk.seed(request.url, note)
                return True
        # Let only this process send any other request.
        request = userless(request)
        if self._is_repeated(request, self._fingerprints):
            return False
        self._own += 1
        if by_every_process or request.meta.get(EVERY):
            self._held_up = True
        if self._held_up:
            self._first.add(request)
        request.meta[MARK] = OWN
        self._push(request)
        return True

    # ---------------------------------------------------------------- visits

    def _add_to_visit(self, desk: Desk, visit: ScrapyVisit, request: Request) -> None:
        """Queue a request of a visit. The target of a redirect waits for its host; some are not followed."""
        if self._ends_at_redirect(visit, request):
            return
        visit.requests.add(request)
        if CLAIM in request.meta and request.meta.get("redirect_urls"):
            self._steps.add(request)
            deferred_from_coro(self.watch_step(self._wait_for_turn(desk, visit, request)))
        else:
            self._push(request)

    async def watch_step(self, step: Coroutine[Any, Any, None]) -> None:
        """Take a step for which no call waits. An error of it ends the crawl, because visits would wait for the step
        for ever."""
        try:
            await step
        except Exception as error:  # noqa: BLE001  # any error is logged, and ends the crawl
            self._failure = unexpected(error)

    async def _wait_for_turn(self, desk: Desk, visit: ScrapyVisit, request: Request) -> None:
        """Queue a step of a redirect when its host may be asked. If that is too late, or forbidden, the redirect is
        reported and not followed."""
        from twisted.internet import reactor

        wait = await run_in_thread(desk.turn, request.url)
        while wait:
            await maybe_deferred_to_future(deferLater(reactor, wait))
            wait = None if self._closing else await run_in_thread(desk.turn, request.url)
        if wait is None:
            visit.led_by = first_step(request)
        else:
            self._push(request)
            self._nudge()
        self._steps.discard(request)

    def _begin(self, page: PageToFetch) -> Request | None:
        """Begin the visit of a claimed page. Return its request, or None if this spider cannot make it."""
        visit = ScrapyVisit(next(self._numbers), page.claim)
        self._visits[visit.number] = visit
        try:
            request = self._request(page)
        except BadInput as error:
            self._log_once(page.claim, str(error).rstrip("."))
            visit.error = str(error)
            self._end(visit)
            return None
        request.meta[MARK] = visit.number
        visit.requests.add(request)
        return request

    def _request(self, page: PageToFetch) -> Request:
        if page.claim.kind != "page":
            return resource_request(page.claim)
        request = request_for(page.claim, page.note, self.crawler.spider)
        if why := unread(page.claim, page.note, self.crawler.spider):
            self._log_once(page.claim, why)
        if self._reader.leaves_out(page.claim.url):
            request.meta[WITHOUT_SESSION] = True  # an earlier crawl has found this page, which would end the session
        return request

    def _log_once(self, claim: Claim, why: str) -> None:
        """Log a reason, once for all pages of the same host and first folder."""
        pattern = f"{claim.host}/{urlsplit(claim.url).path.strip('/').partition('/')[0]}"
        if (pattern, why) not in self._logged and len(self._logged) < MOST_KNOWN:
            self._logged.add((pattern, why))
            log.warning("%s: %s. It is logged once for all pages under %s.", claim.url, why, pattern)

    def _ends_at_redirect(self, visit: ScrapyVisit, request: Request) -> bool:
        """Return whether a request is the target of a redirect of the claimed page that is reported and not followed.

        These are permanent redirects, because the target is claimed as a page itself, and redirects and refreshes out
        of the scope.
        """
        reasons = request.meta.get("redirect_reasons", ())
        if CLAIM not in request.meta or not reasons:
            return False
        if request.meta.get("redirect_ttl") == 0:
            visit.led_by = first_step(request)  # Scrapy follows no further redirect
        is_permanent = len(reasons) == 1 and reasons[0] in PERMANENT
        if not is_permanent and self.holds(request.url, visit.claim.depth) is not False:
            return False
        visit.moved_by = first_step(request)
        return True

    def came_from(self, visit: ScrapyVisit, request: Request) -> Request | None:
        """Take a request that a callback made. Return None if it becomes a link of the page, or is dropped; return the
        request if Scrapy sends it as a part of the visit."""
        request = unmarked(request)
        spider = self.crawler.spider
        if request.method == "GET" and self._reader.leaves_out(request.url):
            return None
        # Add a request that no URL and no note express to the visit.
        note = None if request.dont_filter else express(request, spider)
        if note is None:
            if self._is_repeated(request, visit.fingerprints):
                return None
            request.meta[MARK] = visit.number
            return request
        # Send the signal that the engine sends for a scheduled request: receivers count it, or refuse it, as the one
        # for `allowed_domains` does.
        answers = self.crawler.signals.send_catch_log(
            signals.request_scheduled, request=request, spider=spider, dont_log=IgnoreRequest
        )
        if not any(isinstance(answer, Failure) and isinstance(answer.value, IgnoreRequest) for _, answer in answers):
            visit.links.setdefault(
                request.url, (request.meta.get("link_text"), request.meta.get("graphbrain_relevance"))
            )
            if note:
                visit.notes.setdefault(request.url, note)
        return None

    def obey(self, origin: str, response: Response) -> None:
        """Set the robots.txt of an origin from the answer that Scrapy got. A missing one forbids nothing. An answer
        with an error of the server sets nothing."""
        if self._desk is None or response.status >= 500 or response.status == 429:
            return
        text = response.body if 200 <= response.status < 300 else b""
        if text:
            with suppress(BadInput):
                self._robots[origin] = parsed(readable(text))
        self._desk.obey(origin, text)

    async def allows(self, url: str) -> bool | None:
        """Return whether the robots.txt of a URL's origin allows it; None if the brain does not know the robots.txt."""
        scheme, name = urlsplit(url)[:2]
        origin, now = f"{scheme}://{name}", time.monotonic()
        rules, until = self._rules_of.get(origin, (None, 0.0))
        if now >= until and self._desk is not None:
            text = await run_in_thread(self._desk.robots_of, scheme, name)
            rules = None if text is None else parsed(text)
            if rules is not None:
                self._rules_of[origin] = rules, now + RULES_KEPT
        return None if rules is None else rules.allows(url, self._agent_of_rules)

    @property
    def _agent_of_rules(self) -> str:
        """The product token by which this process reads robots.txt."""
        return self._agent or product(self._desk.brain.settings.user_agent if self._desk is not None else "")

    def _forbids(self, url: str) -> bool:
        """Return whether a robots.txt that this process has set forbids this page. It is not claimed again then."""
        rules = self._robots.get("://".join(urlsplit(url)[:2]))
        return rules is not None and not rules.allows(url, self._agent_of_rules)

    def visit_of(self, request: Request | None) -> ScrapyVisit | None:
        """Return the visit that a request belongs to, if any."""
        return None if request is None else self._visits.get(request.meta.get(MARK, 0))

    def _is_repeated(self, request: Request, before: set[bytes]) -> bool:
        """Return whether a request with the same fingerprint came before. Add the fingerprint to `before`."""
        if request.dont_filter:
            return False
        assert self.crawler.request_fingerprinter is not None
        fingerprint = self.crawler.request_fingerprinter.fingerprint(request)
        if fingerprint in before:
            log.debug("Filtered duplicate request: %s", request)
            return True
        before.add(fingerprint)
        return False

    def _push(self, request: Request) -> None:
        heapq.heappush(self._waiting, (-request.priority, next(self._numbers), request))

    def _end(self, visit: ScrapyVisit) -> None:
        assert self._desk is not None
        del self._visits[visit.number]
        result = self._result(visit, self._desk.brain)
        try:
            (self.finished if visit.claim.kind == "page" else self.finished_resource)(visit, result)
        except Exception as error:  # noqa: BLE001  # any error is logged, and ends the crawl
            self._failure, result = unexpected(error), None
        self._desk.done(FinishedVisit(visit.claim, result, visit.notes))

    def _result(self, visit: ScrapyVisit, brain: Brain) -> Fetched | Failed | None:
        """Return the report of a visit; None gives the page back. An error in the user's functions becomes a failure.

        The report is made in this thread and not in the one that writes: that one would compete with callbacks for
        Python's interpreter lock, and both together would take a tenth longer.
        """
        try:
            if visit.dropped and self._forbids(visit.claim.url):
                return None  # the page was claimed before its robots.txt was known
            result = visit.result(self._reader)
            if isinstance(result, Fetched) and visit.claim.kind == "page":
                return hashed(result, brain.policy.change)
            return result
        except Exception as error:
            log.exception("The visit of %s cannot be reported.", visit.claim.url)
            fault = visit.fault if visit.response is None else "not_understood"
            return Failed(visit.claim.url, visit.claim, error=error_text(error), fault=fault)

    # ---------------------------------------------------------------- ten times a second

    def _tick(self) -> None:
        desk, engine = self._desk, self.crawler.engine
        if engine is None or self._closing:
            return
        # Close the spider after a failure, or when only hosts without a session are left.
        if desk is not None and desk.failure is not None:
            self._failure = desk.failure
        if self.sessions is not None:
            self._look_at_sessions(self.sessions, engine)
        if self._failure is not None and engine.running:
            log.error("%s", self._failure)
            self._closing = True
            deferred_from_coro(engine.close_spider_async(reason=self._reason))
        if desk is None or self._closing:
            return
        # End visits, and ask for more pages.
        self._end_visits()
        self._tick_count += 1
        idle = not (desk.ready or self._waiting or engine.downloader.active)
        self._want(desk, at_once=idle or self._tick_count % ASK_EVERY == 0)
        self._count(desk)
        # Wake the engine if there is a request for it, or if the crawl is over.
        if desk.ready or self._waiting or not self.has_pending_requests():
            self._nudge()

    def _look_at_sessions(self, sessions: Sessions, engine: Any) -> None:
        """Pass on answers that waited for later ones in vain. Close the spider when pages are left only at hosts whose
        session has ended."""
        if getattr(getattr(engine, "_slot", None), "closing", None) is not None or self._failure is not None:
            sessions.let_go()
            return
        starved = self._desk is not None and self._desk.starved
        for host in sessions.quiet(lambda host: sum(v.claim.host == host for v in self._visits.values()), starved):
            deferred_from_coro(self.watch_step(sessions.check(host)))
        if engine.running and not self.logging_in and not self.under_way and sessions.only_ended():
            self._closing = True
            deferred_from_coro(engine.close_spider_async(reason=SIGNED_OUT))

    async def page_of(self, url: str) -> Page | None:
        """Return what the brain knows of a page; None if it knows nothing, or if the database fails."""
        return None if self._desk is None else await run_in_thread(self._desk.page_of, url)

    async def good_page_of(self, host: str) -> str:
        """Return a page of a host that came at its last visit, without a field for a password; empty if the brain knows
        none, or if the database fails."""
        return "" if self._desk is None else await run_in_thread(self._desk.good_page_of, host)

    async def shown(self, request: Request, response: Response) -> Response:  # noqa: ARG002
        """Return a page as its reader sees it. A crawl with a browser returns it after its scripts."""
        return response

    def holds(self, url: str, depth: int = 0) -> bool | None:
        """Return whether a URL is in the scope; None for a text that is no URL of a page."""
        assert self._desk is not None
        with suppress(BadInput):
            url = address(url)
            return self._desk.brain.policy.scope.holds(url, host_of(url), depth)
        return None

    def _end_visits(self) -> None:
        """End the visits whose requests Scrapy has finished.

        A request is finished when Scrapy does not have it at two checks in a row: at one check it may be on its way
        from one part of Scrapy to another.
        """
        # Find the requests that Scrapy has.
        engine = self.crawler.engine
        assert engine is not None
        slot = engine.scraper.slot
        busy = {request for _, _, request in self._waiting} | self._steps | engine.downloader.active
        if slot is not None:
            busy |= slot.active | {request for _, request, _ in slot.queue}
        # Let pages be fetched when the first requests are finished.
        if self._held_up:
            absent = self._first - busy
            self._first -= absent & self._first_absent
            self._first_absent = absent & self._first
            self._held_up = bool(self._first)
        # End the visits without other requests.
        for visit in list(self._visits.values()):
            absent = visit.requests - busy
            visit.requests -= absent & visit.absent
            visit.absent = absent & visit.requests
            if not visit.requests:
                self._end(visit)

    def _want(self, desk: Desk, at_once: bool = False) -> None:
        """Ask for as many pages as Scrapy could request now: the host of a claimed page may be asked at once.

        Pages whose answers are being read or reported make no requests and do not count.
        """
        engine, held_up = self.crawler.engine, self._held_up or self.logging_in
        if engine is None or engine.paused or self._closing or held_up or engine.needs_backout():
            desk.want(0, 0)
            return
        desk.want(
            max(0, min(self._most - len(engine.downloader.active) - len(self._waiting), self.room)),
            self._most + MOST_UNWRITTEN,
            1 if at_once else max(1, self._most // ASKED_AT_ONCE),
        )

    def _nudge(self) -> None:
        """Wake the engine. If this fails, nothing is lost: the engine wakes itself every five seconds."""
        slot = getattr(self.crawler.engine, "_slot", None)
        nextcall = getattr(slot, "nextcall", None)
        if nextcall is not None and getattr(slot, "closing", None) is None:
            nextcall.schedule()

    def _count(self, desk: Desk) -> None:
        withheld = 0 if self.sessions is None else self.sessions.withheld
        for name, count in (desk.counts | {"left_out": self._reader.left_out, "withheld": withheld}).items():
            if count:
                self.crawler.stats.set_value(f"graphbrain/{name}", count)


_SCHEDULERS: WeakKeyDictionary[Crawler, Scheduler] = WeakKeyDictionary()
"""Crawler → its scheduler, for the middlewares."""


class _Middleware:
    """The base class of the middlewares."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make a middleware. Scrapy calls this."""
        return cls(crawler)

    def _visit(self, request: Request | None) -> ScrapyVisit | None:
        scheduler = _SCHEDULERS.get(self.crawler)
        return None if scheduler is None else scheduler.visit_of(request)


class DownloaderMiddleware(_Middleware):
    """A middleware that notes why a page was not fetched, and sends the robots.txt that Scrapy reads to the brain."""

    def process_response(self, request: Request, response: Response) -> Response:
        """Pass on the answer to a request for robots.txt. Scrapy calls this with every answer, after all other
        middlewares."""
        scheduler = _SCHEDULERS.get(self.crawler)
        if scheduler is not None and request.callback is NO_CALLBACK and request.meta.get("dont_obey_robotstxt"):
            scheme, host, path = urlsplit(request.meta.get("redirect_urls", [request.url])[0])[:3]
            if path == "/robots.txt":
                scheduler.obey(f"{scheme}://{host}", response)
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Note the error of a claimed page. A redirect whose target a middleware refuses, as by robots.txt, is reported
        and not followed. Scrapy calls this when no other middleware has handled the error."""
        visit = self._visit(request)
        if visit is None or CLAIM not in request.meta:
            return
        if isinstance(exception, IgnoreRequest) and (first := first_step(request)) is not None:
            visit.led_by = first
        else:
            visit.unfetched(exception)


class UnclaimedRobots(RobotsTxtMiddleware):
    """A middleware that obeys robots.txt for requests without a claim, such as redirects, forms and media.

    It replaces Scrapy's own middleware in a crawl that claims robots.txt from the brain. A claimed URL is allowed, and
    a robots.txt that the brain knows is not fetched again.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._parsers = Newest(MOST_KNOWN)  # Scrapy keeps those of all hosts

    async def process_request(self, request: Request, spider: Spider | None = None) -> None:  # noqa: ARG002  # Scrapy's
        """Raise IgnoreRequest for a request that robots.txt forbids. Scrapy calls this with every request."""
        if request.meta.get("dont_obey_robotstxt") or (CLAIM in request.meta and not request.meta.get("redirect_urls")):
            return
        scheduler = _SCHEDULERS.get(self.crawler)
        allowed = None if scheduler is None else await scheduler.allows(request.url)
        if allowed is None:  # the brain does not know the robots.txt: Scrapy fetches it
            await super().process_request(request)
        elif not allowed:
            self.crawler.stats.inc_value("robotstxt/forbidden")
            raise IgnoreRequest("Forbidden by robots.txt")


class AnswerNotes(_Middleware):
    """A middleware that notes each answer before other middlewares change or drop it.

    It also notes redirects to URLs that name no page of the web, such as mailto: Scrapy's middleware raises errors for
    some of these.
    """

    def process_response(self, request: Request, response: Response) -> Response:
        """Note an answer. Scrapy calls this with every answer, before all other middlewares."""
        visit = self._visit(request)
        if visit is None:
            return response
        visit.fault = "not_understood"
        target = location(response) if response.status in {*PERMANENT, *TEMPORARY} else None
        if target and CLAIM in request.meta and not names_page(response, target):
            visit.led_by, visit.redirect_error_status = first_step(request), response.status
            visit.redirect_error = f"redirects to {target}: that is no page of the web"
        return response


class SpiderMiddleware(_Middleware):
    """A middleware that notes the answer of a visit, and takes the requests that callbacks make from it."""

    def process_spider_input(self, response: Response) -> None:
        """Note the answer of a claimed page. Scrapy calls this with every answer, before other middlewares."""
        request = response.request
        visit = self._visit(request)
        as_page(response)  # another middleware may have replaced the response after its base was set
        if visit is not None and request is not None and (CLAIM in request.meta or request.url == visit.claim.url):
            visit.response, visit.error = response, ""

    def process_spider_exception(self, response: Response, exception: Exception) -> None:
        """Note the exception of a callback. Scrapy calls this when no other middleware has handled it."""
        if (visit := self._visit(response.request)) is not None:
            visit.raised(exception)

    async def process_spider_output(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Yield the items of a callback, and those requests that are not links. Scrapy calls this with all output."""
        visit, scheduler = self._visit(response.request), _SCHEDULERS.get(self.crawler)
        try:
            async for output in result:
                if isinstance(output, Request) and visit is not None and scheduler is not None:
                    request = scheduler.came_from(visit, output)
                    if request is not None:
                        yield request
                else:
                    yield unmarked(output) if isinstance(output, Request) else output
        except Exception as error:
            if visit is not None:
                visit.raised(error)
            raise
