"""Scrapy: one entry in a project's settings, and its spiders fetch what they claim from the brain.

    ADDONS = {"graphbrain.scrapy.Addon": 500}

The add-on sets the scheduler and two middlewares, which only work together, and three that repair answers: a false
label gzip, a page of an unusual type and its base, a page that wants a cookie. The scheduler returns claimed pages; the
spider middleware takes the requests that callbacks make as the links of their page; and a *visit* is what lies between:
all requests that a claimed page has led to before it was let go. It ends, and is reported, when Scrapy has done with
the last of them: items have gone through their pipelines by then. So whatever is killed, a page comes again whose visit
has not ended.

A request that a URL and a note of JSON can express becomes a page of the graph; any other (a form, a callback that is
no method of the spider) is fetched by this process as a part of the visit that led to it.
`prefetch` talks to the database; nothing here waits for it.
"""

from __future__ import annotations

import heapq
import itertools
import logging
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from scrapy import Request, Spider, signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.exceptions import IgnoreRequest, StopDownload
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.asyncio import create_looping_call, run_in_thread
from scrapy.utils.defer import deferred_from_coro
from twisted.python.failure import Failure

from graphbrain import Brain, Claim, Claims, Failed, Fetched
from graphbrain.base.errors import BadInput, GraphbrainError, SettingsError
from graphbrain.base.runtime.newest import Newest
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
from graphbrain.crawl.scrapy.private import PublicOnly
from graphbrain.crawl.scrapy.repairs import CookieWalls, Pages, TrueCodings
from graphbrain.crawl.scrapy.requests import (
    CLAIM,
    EVERY,
    Reader,
    ScrapyOptions,
    asks_for_robots,
    express,
    first_step,
    hashed,
    plain_meta,
    request_for,
    resource_request,
    unread,
    userless,
)
from graphbrain.crawl.scrapy.sessions import WITHOUT_SESSION, Sessions, SignedOut
from graphbrain.crawl.scrapy.visits import PERMANENT, ScrapyVisit, location, names_page, said
from graphbrain.frontier.hosts.robots import Robots, parsed, product, readable

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings
    from twisted.internet.defer import Deferred

__all__ = [
    "Addon",
    "DownloaderMiddleware",
    "Scheduler",
    "SpiderMiddleware",
    "UnclaimedRobots",
]

MARK = "_graphbrain"
"""The key in a request's meta of the number of the visit that it belongs to."""
OWN = -1
"""In place of that number: the request is its process's own, and so is where a redirect leads it."""
TICK = 0.1
"""Seconds between two looks at which requests Scrapy has done with."""
ASK_EVERY = 5
"""Ticks after which even a single page is asked for, though others are being fetched."""
MOST_KNOWN = 10_000
"""Patterns of pages that are remembered."""
MOST_RULES = 1_000
"""Origins whose robots.txt is kept here."""
RULES_KEPT = 300.0
"""Seconds for which a robots.txt of the brain is kept."""
MOST_REDIRECTS = 5
FAILED = "graphbrain_failed"
"""The reason with which a spider is closed whose brain cannot be used."""
NOTHING = "graphbrain_nothing"
"""The reason with which a spider is closed of whose start pages none may be fetched."""
SIGNED_OUT = "graphbrain_signed_out"
"""The reason with which a spider is closed when only hosts are left whose session has ended."""

log = logging.getLogger(__name__)


class Addon:
    """Sets what a project needs: `ADDONS = {"graphbrain.scrapy.Addon": 500}`.

    The base of a page is the one that browsers find, for `response.follow` and `response.urljoin`, too: Scrapy would
    miss a late `<base>`, and raise at one that names no URL.

    Scrapy's own retries are switched off, for the brain has its own, which last; `RETRY_ENABLED = True` in the project
    brings them back. Of redirects for now it follows five one after another, where Scrapy has 20, each after
    `delay_seconds`; those for good, and those that lead out of the scope, are reported.
    """

    def update_settings(self, settings: BaseSettings) -> None:
        """Called by Scrapy when it reads the settings."""
        settings.set("SCHEDULER", Scheduler, "addon")
        settings.set("RETRY_ENABLED", False, "addon")
        settings.set("REDIRECT_MAX_TIMES", MOST_REDIRECTS, "addon")
        # Next to the engine: what others drop or handle never comes here.
        settings["SPIDER_MIDDLEWARES"].setdefault(SpiderMiddleware, 10)
        settings["DOWNLOADER_MIDDLEWARES"].setdefault(DownloaderMiddleware, 10)
        # Before a body is unpacked (590); and after that, before other middlewares read it (580).
        repairs = {TrueCodings: 595, Pages: 585, CookieWalls: CookieWalls.PLACE}
        for middleware, priority in (repairs | {AnswerNotes: 999}).items():
            settings["DOWNLOADER_MIDDLEWARES"].setdefault(middleware, priority)
        if not settings.getbool("GRAPHBRAIN_ALLOW_PRIVATE", True):
            settings["DOWNLOADER_MIDDLEWARES"].setdefault(PublicOnly, 900)  # behind that of proxies (750)
        if settings.getbool("GRAPHBRAIN_SESSION"):
            settings["DOWNLOADER_MIDDLEWARES"].setdefault(SignedOut, SignedOut.PLACE)
        if asks_for_robots(settings):
            settings["DOWNLOADER_MIDDLEWARES"][RobotsTxtMiddleware] = None
            settings["DOWNLOADER_MIDDLEWARES"].setdefault(UnclaimedRobots, 100)  # its place in Scrapy's own list


class Scheduler(BaseScheduler):
    """Requests for the pages that the brain claims, and reports of them. See docs/reference/scrapy.md."""

    WAITS_FOR_HOSTS = False
    """Does the crawl wait for hosts that have failed, as `Desk` has it?"""
    WALL_ADVICE = WALL_ADVICE
    """The advice in the log on a login to which pages lead."""
    SESSION_ADVICE = "start the spider again with a new session: its pages wait."
    """The advice in the log when a session has ended."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self._desk: Desk | None = None
        self._reader = Reader(ScrapyOptions())
        self._rules = Rules()
        self._visits: dict[int, ScrapyVisit] = {}
        self._numbers = itertools.count(1)
        self._waiting: list[tuple[int, int, Request]] = []
        """This process's own requests, best first; each with its number, so that no two compare equal."""
        self._later: list[tuple[float, int, Request]] = []
        """Targets of redirects that are followed, each with the time at which it may be sent."""
        self._fingerprints: set[bytes] = set()
        self._ticks = create_looping_call(self._tick)
        self._ticked = 0
        self._most = crawler.settings.getint("CONCURRENT_REQUESTS") or 100
        self._failure: GraphbrainError | None = None
        self._reason = FAILED
        self._every_start = False
        self._held_up = False
        """True if no page is fetched until this process's own first requests are answered, such as those of a login."""
        self._first: set[Request] = set()
        """These requests, and those that came of them."""
        self._first_gone: set[Request] = set()
        self._logged: set[tuple[str, str]] = set()
        self._agent = product(crawler.settings.get("ROBOTSTXT_USER_AGENT") or crawler.settings["USER_AGENT"]) or None
        """By whose rules Scrapy reads robots.txt."""
        self._rules_of: Newest[str, tuple[Robots, float]] = Newest(MOST_RULES)
        """The robots.txt of the brain by origin, and until when they are kept here, for requests that are no claims."""
        self._robots: Newest[str, Robots] = Newest(MOST_RULES)
        """Origin → the robots.txt that was set."""
        self._own = 0
        """Requests of a start that this process fetched itself."""
        self._closing = False
        self._ended: Claims | None = None
        self.sessions: Sessions | None = None
        """None for a crawl without a session."""
        self.logging_in = False
        """True while no page is fetched because a session is being made."""
        _SCHEDULERS[crawler] = self

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Called by Scrapy to make it."""
        return cls(crawler)

    # ---------------------------------------------------------------- for schedulers that build on this one

    def open_brain(self, options: ScrapyOptions) -> Brain:
        """Return the brain of the crawl, open. Called in a thread."""
        return Brain.open(canonical=options.canonical, **options.brain)

    def close_brain(self, brain: Brain) -> None:
        """Close the brain of the crawl, for which nothing is left to be written. Called in a thread."""
        brain.close()

    def make_reader(self, options: ScrapyOptions, agent: str) -> Reader:
        """Return the reader of pages. `agent`: the product token of the brain's user agent. Called in a thread."""
        return Reader(options, agent)

    def make_witness(self, brain: Brain) -> Witness | None:  # noqa: ARG002
        """Return what is called with each visit that is reported to this brain; None: nothing is."""
        return None

    def finished(self, visit: ScrapyVisit, result: Fetched | Failed | None) -> None:
        """A visit has ended, and this will be reported of it; None: its page is given back."""

    def finished_resource(self, visit: ScrapyVisit, result: Fetched | Failed | None) -> None:
        """The same of a visit of what is no page: a robots.txt, a sitemap, a link that is checked."""

    def fetched_nothing(self, why: str) -> None:
        """Log the reason why no page was claimed until the crawl counted as over."""
        log.warning("No page was fetched: %s.", why)

    @property
    def room(self) -> int:
        """The number of pages that may be requested beside those under way, as far as this crawl has a limit."""
        return self._most

    @property
    def under_way(self) -> int:
        """The number of claimed pages that are being fetched or read."""
        return sum(visit.claim.kind == "page" for visit in self._visits.values())

    @property
    def ended(self) -> Claims | None:
        """The answer of the brain after which the crawl counted as over; None until then."""
        return self._ended if self._desk is None else self._desk.ended

    def session_ended(self, host: str, why: str) -> None:
        """The session of a host has ended: from now on its pages are given back. `why`: a clause."""
        log.error("The session at %s has ended: %s. Nothing of that is stored; %s", host, why, self.SESSION_ADVICE)

    def let_go(self) -> None:
        """Give back all pages that have not been answered, when their requests end, which are to be cancelled now."""
        if self.sessions is not None:
            self.sessions.let_go()
        for visit in self._visits.values():
            visit.broken_off |= visit.response is None

    # ---------------------------------------------------------------- what the engine asks

    def open(self, spider: Spider) -> Deferred[None]:
        """Open the brain, in a thread. When that fails the spider is closed, with a sentence in the log."""
        return deferred_from_coro(self._open(spider))

    async def _open(self, spider: Spider) -> None:
        try:
            for kind, middleware in (
                (SpiderMiddleware, self.crawler.get_spider_middleware(SpiderMiddleware)),
                (DownloaderMiddleware, self.crawler.get_downloader_middleware(DownloaderMiddleware)),
            ):
                if middleware is None:
                    raise SettingsError(
                        f"The scheduler needs {kind.__name__}: set ADDONS = {{'graphbrain.scrapy.Addon': 500}}."
                    )
            options = ScrapyOptions.of(self.crawler.settings)
            brain = await run_in_thread(self.open_brain, options)
            self._reader = await run_in_thread(self.make_reader, options, product(brain.settings.user_agent))
            self._every_start = options.every_start
            self._rules = Rules(options.canonical, hash_bang=brain.settings.hash_bang)
            witness = self.make_witness(brain)
        except GraphbrainError as error:
            # Raising it would end in tracebacks: an engine that is half open cannot be closed.
            self._failure = error
            self._ticks.start(TICK, now=False)
            return
        if options.every_link and getattr(spider, "allowed_domains", None) and not brain.settings.allow_hosts:
            log.warning("GRAPHBRAIN_LINKS is 'all': set GRAPHBRAIN_ALLOW_HOSTS too, or pages outside will be claimed.")
        agent = product(brain.settings.user_agent)
        if "robots" in options.kinds and self._agent not in (None, agent):
            log.warning(
                "The brain reads robots.txt for %r, its user_agent, and not for %r: set GRAPHBRAIN_USER_AGENT.",
                agent,
                self._agent,
            )
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
        if options.session:
            self.sessions = Sessions(self.session_ended, self.visit_of, self._status_of, brain.settings.delay_seconds)
            SignedOut.watch(self.crawler, self.sessions)
        if "link" in options.kinds:
            self.crawler.signals.connect(_read_no_body, signals.headers_received)
        self._desk.open()
        self._ticks.start(TICK, now=False)

    def close(self, reason: str) -> Deferred[None]:  # noqa: ARG002
        """Report what has ended, give back everything else, close the brain, in a thread."""
        return deferred_from_coro(self._close())

    async def _close(self) -> None:
        desk, self._closing = self._desk, True
        if self._ticks.running:
            self._ticks.stop()
        if desk is None:
            return
        # Visits with requests that will not be made were broken off.
        waiting = {request for _, _, request in (*self._waiting, *self._later)}
        for visit in list(self._visits.values()):
            visit.broken_off |= not waiting.isdisjoint(visit.requests)
            self._end(visit)
        why, when = await run_in_thread(desk.why_nothing), desk.when()
        lost = await run_in_thread(desk.close)
        await run_in_thread(self.close_brain, desk.brain)
        self._count(desk)
        if why:
            self.fetched_nothing(why)
        elif when:
            log.info("Nothing more is fetched now; %s.", when)
        self._ended = desk.ended
        if lost:
            log.error("%d visits could not be reported; their pages come again when their leases lapse.", lost)
        self._desk = None

    def has_pending_requests(self) -> bool:
        """Return whether work is left in this process or, until `GRAPHBRAIN_PATIENCE` runs out, in another."""
        if self._desk is None:
            return self._failure is not None  # until it is closed for that reason
        if self._waiting or self._visits or self._held_up or self.logging_in or not self._desk.over:
            return True
        if self._failure is None and self._desk.unmet == self._desk.seeds_sent > 0 and not self._own:
            self._failure, self._reason = GraphbrainError(self._nothing(self._desk)), NOTHING
        return self._failure is not None  # until it is closed for that reason

    def _nothing(self, desk: Desk) -> str:
        few = "The start page is" if desk.seeds_sent == 1 else f"All {desk.seeds_sent} start pages are"
        return (
            f"{few} outside the scope of this brain, or refused, so nothing was crawled of what was asked for: the "
            "lines above have the reasons. 'graphbrain settings allow_hosts' shows the scope."
        )

    def next_request(self) -> Request | None:
        """A request to be sent now; None when there is none at hand."""
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
        """Take a request in: of a start, of a visit, or one that a middleware puts in the place of another."""
        if self._desk is None or self._desk.failure is not None:
            return False
        visit = self._visits.get(request.meta.get(MARK, 0))
        if visit is not None:
            request = userless(request)
            if not self._moved(visit, request):
                visit.requests.add(request)
                if CLAIM in request.meta and request.meta.get("redirect_urls"):
                    delay = self._desk.brain.settings.delay_seconds
                    heapq.heappush(self._later, (time.monotonic() + delay, next(self._numbers), request))
                else:
                    self._push(request)
            return True
        own = request.meta.get(MARK) == OWN
        request = _unmarked(request)
        # Every spider's start has dont_filter: it begins a crawl, which may have begun before.
        start = request.meta.get("is_start_request")
        again = (request.dont_filter and not start) or (start and self._every_start)
        if not again and not own and (note := express(request, self.crawler.spider)) is not None:
            self._desk.seed(request.url, note)
            return True
        request = userless(request)
        if self._is_repeated(request, self._fingerprints):
            return False
        self._own += 1
        if (again and start) or request.meta.get(EVERY):
            self._held_up = True
        if self._held_up:
            self._first.add(request)
        request.meta[MARK] = OWN
        self._push(request)
        return True

    # ---------------------------------------------------------------- visits

    def _begin(self, page: PageToFetch) -> Request | None:
        """The request for a claimed page; None when this spider cannot make it."""
        visit = ScrapyVisit(next(self._numbers), page.claim)
        self._visits[visit.number] = visit
        try:
            request = self._request(page)
        except BadInput as error:
            self._say_once(page.claim, str(error).rstrip("."))
            visit.error = str(error)
            self._end(visit)
            return None
        request.meta[MARK] = visit.number
        visit.requests.add(request)
        return request

    def _request(self, page: PageToFetch) -> Request:
        if page.claim.kind != "page":
            return resource_request(page.claim, _read_by_brain)
        request = request_for(page.claim, page.note, self.crawler.spider)
        if why := unread(page.claim, page.note, self.crawler.spider):
            self._say_once(page.claim, why)
        if self._reader.leaves_out(page.claim.url):
            request.meta[WITHOUT_SESSION] = True  # a page of the brain since an earlier crawl
        return request

    def _say_once(self, claim: Claim, why: str) -> None:
        """Log this of a page, once for all pages of its host and folder."""
        pattern = f"{claim.host}/{urlsplit(claim.url).path.strip('/').partition('/')[0]}"
        if (pattern, why) not in self._logged and len(self._logged) < MOST_KNOWN:
            self._logged.add((pattern, why))
            log.warning("%s: %s. It is logged once for all pages under %s.", claim.url, why, pattern)

    def _moved(self, visit: ScrapyVisit, request: Request) -> bool:
        """Return whether this is the target of a redirect of the claimed page that is not followed: a permanent one,
        whose target is a page of its own, or a variant of the same URL, and waits for its turn; or one that leads out
        of the scope."""
        reasons = request.meta.get("redirect_reasons", ())
        if CLAIM not in request.meta or not reasons:
            return False
        if request.meta.get("redirect_ttl") == 0 and isinstance(reasons[0], int):
            visit.led_by = first_step(request)  # this one is the last that is followed
        for_good = len(reasons) == 1 and reasons[0] in PERMANENT
        if not isinstance(reasons[0], int) or not (for_good or self._leaves_scope(visit.claim, request)):
            return False
        visit.moved_to, visit.moved_by = [*request.meta["redirect_urls"][1:], request.url][0], reasons[0]
        return True

    def _leaves_scope(self, claim: Claim, request: Request) -> bool:
        """Return whether a redirect leads out of the scope."""
        assert self._desk is not None
        try:
            url = address(request.url)
        except BadInput:
            return False  # the brain's answer names the fault
        return not self._desk.brain.policy.scope.holds(url, host_of(url), claim.depth)

    def came_from(self, visit: ScrapyVisit, request: Request) -> Request | None:
        """Take a request that a callback made: as a link of its page, then None; or it belongs to the visit."""
        request = _unmarked(request)
        spider = self.crawler.spider
        if request.method == "GET" and self._reader.leaves_out(request.url):
            return None
        note = None if request.dont_filter else express(request, spider)
        if note is None:
            if self._is_repeated(request, visit.fingerprints):
                return None
            request.meta[MARK] = visit.number
            return request
        # As the engine does it: others may refuse what is scheduled (allowed_domains does), or count it.
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
        """Set the robots.txt that Scrapy has asked for. One that is missing forbids nothing; after an error of the
        server nothing is known."""
        if self._desk is None or response.status >= 500 or response.status == 429:
            return
        text = response.body if 200 <= response.status < 300 else b""
        if text:
            with suppress(BadInput):
                self._robots[origin] = parsed(readable(text))
        self._desk.obey(origin, text)

    async def allows(self, url: str) -> bool | None:
        """Return whether the robots.txt that the brain has of this URL's origin allows it; None if it has none."""
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
        """True if a robots.txt that was set forbids this page, so that it is claimed no more."""
        rules = self._robots.get("://".join(urlsplit(url)[:2]))
        return rules is not None and not rules.allows(url, self._agent_of_rules)

    def visit_of(self, request: Request | None) -> ScrapyVisit | None:
        """The visit that a request belongs to."""
        return None if request is None else self._visits.get(request.meta.get(MARK, 0))

    def _is_repeated(self, request: Request, before: set[bytes]) -> bool:
        """Return whether the same request was seen before, and note it."""
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
        except Exception as error:  # noqa: BLE001  # it is logged, and ends the crawl
            self._failure, result = unexpected(error), None
        self._desk.done(FinishedVisit(visit.claim, result, visit.notes))

    def _result(self, visit: ScrapyVisit, brain: Brain) -> Fetched | Failed | None:
        """Return the report of a visit; the crawler's own code may be in it, and may raise.

        It is made here and not in the thread that writes: that would compete for Python's lock with the callbacks, and
        both together would take a tenth longer.
        """
        try:
            if visit.dropped and self._forbids(visit.claim.url):
                return None  # claimed before its robots.txt was known
            result = visit.result(self._reader)
            if isinstance(result, Fetched) and visit.claim.kind == "page":
                return hashed(result, brain.policy.change)
            return result
        except Exception as error:
            log.exception("The visit of %s cannot be reported.", visit.claim.url)
            fault = visit.fault if visit.response is None else "not_understood"
            return Failed(visit.claim.url, visit.claim, error=said(error), fault=fault)

    # ---------------------------------------------------------------- ten times a second

    def _tick(self) -> None:
        desk, engine = self._desk, self.crawler.engine
        if engine is None or self._closing:
            return
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
        # End visits, take up requests that wait for their time, and ask for more pages.
        self._end_visits()
        while self._later and self._later[0][0] <= time.monotonic():
            self._push(heapq.heappop(self._later)[2])
        self._ticked += 1
        idle = not (desk.ready or self._waiting or engine.downloader.active)
        self._want(desk, at_once=idle or self._ticked % ASK_EVERY == 0)
        self._count(desk)
        if desk.ready or self._waiting or not self.has_pending_requests():
            self._nudge()

    def _look_at_sessions(self, sessions: Sessions, engine: Any) -> None:
        """Pass on answers for which no others come, and end the crawl when only hosts without a session are left."""
        if getattr(getattr(engine, "_slot", None), "closing", None) is not None or self._failure is not None:
            sessions.let_go()
            return
        starved = self._desk is not None and self._desk.starved
        sessions.pass_quiet(lambda host: sum(visit.claim.host == host for visit in self._visits.values()), starved)
        busy = self.logging_in or any(visit.claim.kind == "page" for visit in self._visits.values())
        if engine.running and not busy and sessions.only_ended():
            self._closing = True
            deferred_from_coro(engine.close_spider_async(reason=SIGNED_OUT))

    async def _status_of(self, url: str) -> int | None:
        return None if self._desk is None else await run_in_thread(self._desk.status_of, url)

    def _end_visits(self) -> None:
        """End the visits all of whose requests Scrapy has finished, at two looks: between them a request may pass from
        one part of Scrapy to another."""
        engine = self.crawler.engine
        assert engine is not None
        slot = engine.scraper.slot
        busy = {request for _, _, request in (*self._waiting, *self._later)} | engine.downloader.active
        if slot is not None:
            busy |= slot.active | {request for _, request, _ in slot.queue}
        if self._held_up:
            ended = self._first - busy
            self._first -= ended & self._first_gone
            self._first_gone = ended & self._first
            self._held_up = bool(self._first)
        # A visit ends when Scrapy has none of its requests at two looks.
        for visit in list(self._visits.values()):
            ended = visit.requests - busy
            visit.requests -= ended & visit.ended
            visit.ended = ended & visit.requests
            if not visit.requests:
                self._end(visit)

    def _want(self, desk: Desk, at_once: bool = False) -> None:
        """Ask for as many pages as can be fetched at once: a claim means that its host may be asked now. Those whose
        visits are not ended or reported yet do not count: they make no requests."""
        engine = self.crawler.engine
        held_up = self._held_up or self.logging_in
        if engine is None or engine.paused or self._closing or held_up or engine.needs_backout():
            desk.want(0, 0)
            return
        desk.want(
            max(0, min(self._most - len(engine.downloader.active) - len(self._waiting), self.room)),
            self._most + MOST_UNWRITTEN,
            1 if at_once else max(1, self._most // ASKED_AT_ONCE),
        )

    def _nudge(self) -> None:
        """Wake the engine. It wakes by itself, too, every five seconds; so this may fail."""
        slot = getattr(self.crawler.engine, "_slot", None)
        nextcall = getattr(slot, "nextcall", None)
        if nextcall is not None and getattr(slot, "closing", None) is None:
            nextcall.schedule()

    def _count(self, desk: Desk) -> None:
        more = {"left_out": self._reader.left_out}
        more |= {"withheld": self.sessions.withheld} if self.sessions is not None else {}
        for name, count in (desk.counts | more).items():
            if count:
                self.crawler.stats.set_value(f"graphbrain/{name}", count)


_SCHEDULERS: WeakKeyDictionary[Crawler, Scheduler] = WeakKeyDictionary()
"""Each crawler's scheduler, for its middlewares."""


class _Middleware:
    """The base class of the middlewares."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Called by Scrapy to make it."""
        return cls(crawler)

    def _visit(self, request: Request | None) -> ScrapyVisit | None:
        scheduler = _SCHEDULERS.get(self.crawler)
        return None if scheduler is None else scheduler.visit_of(request)


class DownloaderMiddleware(_Middleware):
    """Notes why a page could not be fetched, and sets the robots.txt that Scrapy's own middleware has read."""

    def process_response(self, request: Request, response: Response) -> Response:
        """Called by Scrapy with every answer, after all others."""
        scheduler = _SCHEDULERS.get(self.crawler)
        if scheduler is not None and request.callback is NO_CALLBACK and request.meta.get("dont_obey_robotstxt"):
            scheme, host, path = urlsplit(request.meta.get("redirect_urls", [request.url])[0])[:3]
            if path == "/robots.txt":
                scheduler.obey(f"{scheme}://{host}", response)
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Called by Scrapy when no other middleware has made a response, or another request, of it."""
        visit = self._visit(request)
        if visit is not None and CLAIM in request.meta:
            visit.unfetched(exception)


class UnclaimedRobots(RobotsTxtMiddleware):
    """Obeys robots.txt for requests that are no claims, such as redirects, forms and media. It is in the place of
    Scrapy's own where the brain schedules robots.txt: claimed URLs are allowed, and rules that the brain knows are not
    fetched again."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._parsers = Newest(MOST_KNOWN)  # Scrapy keeps those of all hosts

    async def process_request(self, request: Request, spider: Spider | None = None) -> None:  # noqa: ARG002  # Scrapy's
        """Called by Scrapy with every request."""
        if request.meta.get("dont_obey_robotstxt") or (CLAIM in request.meta and not request.meta.get("redirect_urls")):
            return
        scheduler = _SCHEDULERS.get(self.crawler)
        allowed = None if scheduler is None else await scheduler.allows(request.url)
        if allowed is None:  # the brain does not know the rules: Scrapy fetches them, and they are set
            await super().process_request(request)
        elif not allowed:
            self.crawler.stats.inc_value("robotstxt/forbidden")
            raise IgnoreRequest("Forbidden by robots.txt")


class AnswerNotes(_Middleware):
    """Notes that there was an answer, whatever other middlewares make of it; and a redirect to what is no page of the
    web, such as mailto: Scrapy's own middleware raises on some of these."""

    def process_response(self, request: Request, response: Response) -> Response:
        """Called by Scrapy with every answer, before all others."""
        visit = self._visit(request)
        if visit is None:
            return response
        visit.fault = "not_understood"
        target = location(response) if response.status in {*PERMANENT, *TEMPORARY} else None
        if target and CLAIM in request.meta and not names_page(response, target):
            visit.led_by, visit.lost_by = first_step(request), response.status
            visit.lost = f"redirects to {target}: that is no page of the web"
        return response


class SpiderMiddleware(_Middleware):
    """Notes what answer a page gave, and takes the requests that came of it."""

    def process_spider_input(self, response: Response) -> None:
        """Called by Scrapy with every answer, before other middlewares."""
        request = response.request
        visit = self._visit(request)
        as_page(response)  # another middleware may have put it in the place of the one that was seen before
        if visit is not None and request is not None and (CLAIM in request.meta or request.url == visit.claim.url):
            visit.response, visit.error = response, ""

    def process_spider_exception(self, response: Response, exception: Exception) -> None:
        """Called by Scrapy with an exception of a callback, when no other middleware has handled it."""
        if (visit := self._visit(response.request)) is not None:
            visit.raised(exception)

    async def process_spider_output(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Called by Scrapy with what a callback makes."""
        visit, scheduler = self._visit(response.request), _SCHEDULERS.get(self.crawler)
        try:
            async for output in result:
                if isinstance(output, Request) and visit is not None and scheduler is not None:
                    request = scheduler.came_from(visit, output)
                    if request is not None:
                        yield request
                else:
                    yield _unmarked(output) if isinstance(output, Request) else output
        except Exception as error:
            if visit is not None:
                visit.raised(error)
            raise


def _read_by_brain(response: Response) -> None:
    """The callback of what is no page, from which no items and no requests come."""


def _read_no_body(request: Request) -> None:
    """End the download of a link that is checked by GET, once its status is known. Scrapy calls this with each head."""
    claim = request.meta.get(CLAIM)
    if claim is not None and claim.kind == "link":
        raise StopDownload(fail=False)


def _unmarked(request: Request) -> Request:
    """The request without what ties it to a visit: spiders like to hand on the meta of a response."""
    if MARK not in request.meta and CLAIM not in request.meta:
        return request
    return request.replace(meta=plain_meta(request.meta, MARK))
