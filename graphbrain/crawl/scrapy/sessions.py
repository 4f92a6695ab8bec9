"""A detector of sessions that end during a crawl.

A crawl with a session gets pages that other visitors do not get. After the session has ended, a site answers with
something else, often with the status 200, and that is not the content of the page. So an answer that may be a sign of
the end waits before anything reads or archives it, until later answers of its host show what it is. A sign is

* the status 401, or 403 for a page whose last visit had 200;
* a temporary redirect to a login: to an address that is named like one, or that has a field for a password, on a site
  whose pages have none. An address to which `ENOUGH` pages lead is looked at once;
* a field for a password in a page that had none at its last visit, and is not named like a login, if the text is equal
  or near (simhash) to that of two other pages of the crawl. Fields in different texts are a login box, as in the header
  of a public site.

The session has ended when `ENOUGH` different pages among the last `LAST` answers of a host show a sign. An answer that
waits is passed on after `LAST` later answers. When no other answer comes, as at the end of a crawl, a page that came
without a sign is asked for again: in this process, or else at its last visit by any. The session has ended if the page
shows a sign now. Else the answers are passed on.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, Self
from weakref import WeakKeyDictionary

from scrapy import Request
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.http import Response
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred
from twisted.internet.task import deferLater

from graphbrain.base.errors import BadInput
from graphbrain.base.runtime.newest import Newest
from graphbrain.base.urls.logins import names_login
from graphbrain.base.urls.normalization import resolved
from graphbrain.base.urls.walls import bare
from graphbrain.content.report_semantics import TEMPORARY
from graphbrain.crawl.scrapy.documents import as_page, asks_for_password, true_coding
from graphbrain.crawl.scrapy.requests import CLAIM, EVERY
from graphbrain.crawl.scrapy.visits import ScrapyVisit, header, location
from graphbrain.schedule.fingerprints import distance, simhash, visible_text

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from graphbrain import Claim, Page

__all__ = ["WITHOUT_SESSION", "Sessions", "Sign", "SignedOut"]

LAST, ENOUGH = 10, 3
"""The session of a host has ended when `ENOUGH` of its `LAST` last answers, of different pages, are signs of that."""
NEAR = 3
"""Most bits in which the simhashes of two near texts differ."""
OTHERS = 2
"""Least number of other pages with the same text that make a page with a field for a password a sign."""
MOST_TEXTS = 1_000
"""Most texts and most addresses with a field for a password that are remembered for each host."""
MOST_HOSTS = 1_000
"""Most hosts for which the time of their last page is remembered."""
REST = 10.0
"""Seconds. If no page of another host was begun for so long, pages are left only at hosts whose session has ended."""
QUIET = 2.0
"""Seconds. A host is quiet after these and three times the time between its last two answers."""
WITHOUT_SESSION = "dont_merge_cookies"
"""The key in the meta of a request that is sent without cookies, and whose answer is no sign."""
NUMBER = "_graphbrain_session"
"""The key in a request's meta under which the number of its session is kept."""


# ---------------------------------------------------------------- the answers of a host


@dataclass(frozen=True, slots=True)
class Sign:
    """A possible sign in one answer that the session has ended.

    Attributes:
        kind: `401`, `403`, `login` (a redirect to an address that is named like a login), `led` (a redirect to another
            address) or `form` (a field for a password); empty for an answer that is no sign.
        address: The target of the redirect, or the page with the form. Of an answer that is no sign, the page; empty
            if it was not brought.
        text: The simhash of the text of a page with a form.
    """

    kind: str = ""
    address: str = ""
    text: int = 0


@dataclass(slots=True)
class _HostAnswers:
    """The last answers of one host.

    Attributes:
        number: The number of its answers.
        last: (page, sign) of each of the last answers.
        waiting: (number of the answer, function that passes it on or gives its page back) of each answer that waits.
        texts: Page → the simhash of its text, for pages with a field for a password.
        places: Address, without its query → whether it has a field for a password; None while it is looked at.
        plain: The number of answers without a sign, less that of pages with a field for a password.
        good: The last page that came without a sign; empty without one.
        is_asked: True while that page is asked for again.
        at: The time of the last answer, in monotonic seconds.
        pace: Seconds between the last two answers.
    """

    number: int = 0
    last: deque[tuple[str, Sign]] = field(default_factory=lambda: deque(maxlen=LAST))
    waiting: deque[tuple[int, Callable[[bool], None]]] = field(default_factory=deque)
    texts: Newest[str, int] = field(default_factory=lambda: Newest(MOST_TEXTS))
    places: Newest[str, bool | None] = field(default_factory=lambda: Newest(MOST_TEXTS))
    plain: int = 0
    good: str = ""
    is_asked: bool = False
    at: float = 0.0
    pace: float = 0.0

    def note(self, page: str, sign: Sign, now: float) -> None:
        """Add an answer that came at the time `now`."""
        self.pace, self.at = (now - self.at if self.number else 0.0), now
        self.number += 1
        self.last.append((page, sign))
        self.plain += not sign.kind
        self.good = self.good if sign.kind else sign.address or self.good
        if sign.kind == "form":
            self.plain -= 1
            self.texts[page] = sign.text
            self.places[bare(sign.address)] = True

    def signs(self) -> dict[str, Sign]:
        """Return page → sign for those of the last answers that show the end of the session."""
        return {page: sign for page, sign in self.last if self._shows(page, sign)}

    def _shows(self, page: str, sign: Sign) -> bool:
        if sign.kind == "led":
            return bool(self.places.get(bare(sign.address))) and self.plain >= 0
        if sign.kind == "form":
            return self.near(page, sign) >= OTHERS
        return bool(sign.kind)

    def near(self, page: str, sign: Sign) -> int:
        """Return the number of other pages with a field for a password whose text is near to that of a page."""
        return sum(distance(text, sign.text) <= NEAR for other, text in self.texts.items() if other != page)

    def is_suspect(self, sign: Sign) -> bool:
        """Return whether an answer must wait. One with a redirect to an address that is no login need not."""
        return bool(sign.kind) and (sign.kind != "led" or self.places.get(bare(sign.address)) is not False)

    def must_look_at(self, sign: Sign) -> bool:
        """Return whether it is to be found out whether the address of a sign is a login."""
        target = bare(sign.address)
        leading = {page for page, other in self.last if other.kind == "led" and bare(other.address) == target}
        return sign.kind == "led" and target not in self.places and len(leading) >= ENOUGH

    def settle(self, up_to: int, good: bool) -> None:
        """End the wait of the answers up to a number: pass them on if `good`, else give their pages back."""
        while self.waiting and self.waiting[0][0] <= up_to:
            self.waiting.popleft()[1](good)


_SAID = {
    "401": "have the status 401",
    "403": "have the status 403, and had 200 before",
    **dict.fromkeys(("login", "led"), "lead to a login"),
    "form": "show the same form for a password",
}


class WithSession(Protocol):
    """A crawl with a session, as the detector sees it."""

    crawler: Crawler

    def session_ended(self, host: str, why: str) -> None:
        """Take the end of the session at a host. `why`: a clause."""

    def visit_of(self, request: Request) -> ScrapyVisit | None:
        """Return the visit that a request belongs to; None for a request without a claim."""

    async def page_of(self, url: str) -> Page | None:
        """Return what the brain knows of a page; None if it knows nothing."""

    async def good_page_of(self, host: str) -> str:
        """Return a page of a host that came at its last visit, without a field for a password; empty if none is
        known."""

    async def shown(self, request: Request, response: Response) -> Response:
        """Return a page as its reader sees it."""

    def holds(self, url: str) -> bool | None:
        """Return whether a URL is in the scope; None for a text that is no URL of a page."""


class Sessions:
    """The sessions of one process at the hosts that it crawls. Only the thread of the event loop uses it.

    Args:
        crawl: The crawl.
        delay: The least seconds between two answers of a host.
        clock: Monotonic seconds.
    """

    def __init__(self, crawl: WithSession, delay: float = 1.0, clock: Callable[[], float] = time.monotonic) -> None:
        self.crawl, self.delay, self._clock = crawl, delay, clock
        self.ended: dict[str, str] = {}
        """Host whose session has ended → the reason."""
        self.number = 0
        """The number of times that the session was renewed."""
        self.withheld = 0
        """The number of answers that were not passed on, because the session had ended."""
        self._hosts: dict[str, _HostAnswers] = {}
        self._last_start: Newest[str, float] = Newest(MOST_HOSTS)
        """Host → the time at which the fetch of its last page began."""

    def begins(self, host: str) -> bool:
        """Return whether a page of a host may be fetched: not after its session has ended. Note the time."""
        if host in self.ended:
            return False
        self._last_start[host] = self._clock()
        return True

    def only_ended(self) -> bool:
        """Return whether a session has ended, and no page of a host with a session was begun in the last `REST`
        seconds."""
        now = self._clock()
        with_session = (at for host, at in self._last_start.items() if host not in self.ended)
        return bool(self.ended) and all(now > at + REST for at in with_session)

    def take(self, host: str, page: str, sign: Sign, settle: Callable[[bool], None]) -> None:
        """Take an answer of a page, and find whether the session of its host has ended.

        Args:
            host: The host.
            page: The URL of the page.
            sign: The sign in the answer.
            settle: Is called once, now or later: with True to pass the answer on, with False to give its page back.
        """
        if host in self.ended:
            self._count(settle)(not sign.kind)
            return
        # Pass an answer on at once, unless later answers may show that it is one without the session.
        seen = self._hosts.setdefault(host, _HostAnswers())
        seen.note(page, sign, self._clock())
        if seen.is_suspect(sign):
            seen.waiting.append((seen.number, self._count(settle)))
        else:
            settle(True)
        self._judge(host, seen)

    def begins_look(self, host: str, sign: Sign) -> bool:
        """Return whether the address to which an answer leads is to be looked at now. Note that this has begun."""
        seen = self._hosts.get(host)
        if seen is None or host in self.ended or not seen.must_look_at(sign):
            return False
        seen.places[bare(sign.address)] = None
        return True

    async def look(self, host: str, sign: Sign) -> None:
        """Find out whether the address to which answers of a host lead is a login. It is asked for if it is in the
        scope."""
        is_login = bool(self.crawl.holds(sign.address)) and _sign_of(await self.answer_at(sign.address)).kind == "form"
        if (seen := self._hosts.get(host)) is not None and host not in self.ended:
            seen.places[bare(sign.address)] = is_login
            self._judge(host, seen)

    async def answer_at(self, url: str) -> Response | None:
        """Return the answer at a URL, which is part of no visit, after the delay of a host; None if there is none."""
        from twisted.internet import reactor

        engine = self.crawl.crawler.engine
        request = Request(url, meta={EVERY: True, "dont_redirect": True}, dont_filter=True)
        if engine is None:
            return None
        try:
            await maybe_deferred_to_future(deferLater(reactor, self.delay))
            return await self.crawl.shown(request, await engine.download_async(request))
        except Exception:  # noqa: BLE001  # robots.txt forbids it, or an error of a middleware or of the network
            return None

    def _judge(self, host: str, seen: _HostAnswers) -> None:
        """End the session of a host if its last answers have enough signs. Otherwise pass on the answers before
        these."""
        if len(signs := seen.signs()) >= ENOUGH:
            self._end(host, seen, signs)
        else:
            seen.settle(seen.number - LAST, good=True)

    def _end(self, host: str, seen: _HostAnswers, signs: dict[str, Sign]) -> None:
        self.ended[host] = _reason(signs, len(seen.last))
        seen.settle(seen.number, good=False)
        self.crawl.session_ended(host, self.ended[host])

    def quiet(self, under_way: Callable[[str], int], starved: bool = False) -> list[str]:
        """Return the hosts of which no other answer will show what the waiting ones are.

        Args:
            under_way: Returns the number of pages of a host that are being fetched, or whose answers wait.
            starved: True if no page can be fetched before others are reported.
        """
        hosts = []
        for host, seen in list(self._hosts.items()):
            pace = max(self.delay, min(seen.pace, 60.0))
            quiet = starved or self._clock() > seen.at + QUIET + 3 * pace
            busy = seen.is_asked or any(is_login is None for is_login in seen.places.values())
            if seen.waiting and quiet and not busy and under_way(host) <= len(seen.waiting):
                hosts.append(host)
        return hosts

    async def check(self, host: str) -> None:
        """Pass on the waiting answers of a quiet host, unless a page that came before shows that the session has
        ended."""
        seen = self._hosts[host]
        number, seen.is_asked = seen.number, True
        good = seen.good or await self.crawl.good_page_of(host)
        sign = _sign_of(await self.answer_at(good)) if good else Sign()
        seen.is_asked = False
        if self._hosts.get(host) is not seen or host in self.ended:
            return
        # A page of an earlier run may have got a login box since then: its text must be near to that of one that waits.
        if sign.kind and (seen.good or sign.kind != "form" or seen.near(good, sign)):
            seen.note(good, sign, self._clock())
            self._end(host, seen, {page: sign for page, sign in seen.last if sign.kind})
        else:
            seen.settle(number, good=True)

    def let_go(self) -> None:
        """Give back the pages of all answers that wait."""
        for seen in self._hosts.values():
            seen.settle(seen.number, good=False)

    def renewed(self) -> None:
        """Start a new session. Answers to requests of the old session are no signs of the end of the new one."""
        self.let_go()
        self.number += 1
        self.ended.clear()
        self._hosts.clear()

    def _count(self, settle: Callable[[bool], None]) -> Callable[[bool], None]:
        def counted(good: bool) -> None:
            self.withheld += not good
            settle(good)

        return counted


def _reason(signs: dict[str, Sign], of: int) -> str:
    """Return the reason why the session has ended, as a clause. `of`: the number of answers that were compared."""
    kinds = [sign.kind for sign in signs.values()]
    kind = max(dict.fromkeys(kinds), key=kinds.count)
    pages = ", ".join([page for page, sign in signs.items() if sign.kind == kind][:ENOUGH])
    return f"{len(signs)} of its last {of} pages {_SAID[kind]} ({pages})"


def _sign_of(response: Response | None) -> Sign:
    """Return the sign in an answer that is not packed; None for no answer."""
    if response is None:
        return Sign()
    if response.status in (401, 403):
        return Sign(str(response.status))
    if response.status in TEMPORARY:
        return _sign_of_redirect(response)
    if not 200 <= response.status < 300:
        return Sign()
    sign = _sign_of_form(response)
    return sign if sign.kind else Sign("", response.url)


def _sign_of_form(response: Response) -> Sign:
    # Parse only pages that may have a field for a password: all answers come here, and are parsed again later.
    if b"password" not in response.body.replace(b"\0", b"").lower() or not asks_for_password(as_page(response)):
        return Sign()
    text = visible_text(response.body, header(response.headers.get("Content-Type")))
    return Sign("form", response.url, simhash(text or "") or 0)


def _sign_of_redirect(response: Response) -> Sign:
    try:
        target = resolved(response.url, location(response) or "#")
    except BadInput:
        return Sign()
    return Sign("login" if names_login(target) else "led", target)


# ---------------------------------------------------------------- the middleware of Scrapy's downloader

_SESSIONS: WeakKeyDictionary[Crawler, Sessions] = WeakKeyDictionary()
"""Crawler → the sessions that its middleware watches."""


class SignedOut:
    """A downloader middleware that lets answers of claimed pages wait, before anything reads or archives them."""

    PLACE = 950
    """The order of the middleware among those of the project."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        try:
            self._unpacking: HttpCompressionMiddleware | None = HttpCompressionMiddleware.from_crawler(crawler)
        except NotConfigured:
            self._unpacking = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make a middleware. Scrapy calls this."""
        return cls(crawler)

    @staticmethod
    def watch(crawler: Crawler, sessions: Sessions) -> None:
        """Let the middleware of a crawler use these sessions."""
        _SESSIONS[crawler] = sessions

    def process_request(self, request: Request) -> None:
        """Note the number of the session in which a request is sent. Scrapy calls this with every request."""
        if (sessions := _SESSIONS.get(self._crawler)) is not None:
            request.meta[NUMBER] = sessions.number

    async def process_response(self, request: Request, response: Response) -> Response:
        """Return an answer when it is known to be that of the page, else raise IgnoreRequest. Scrapy calls this with
        every answer, before it is unpacked."""
        sessions, claim = _SESSIONS.get(self._crawler), request.meta.get(CLAIM)
        if sessions is None or claim is None or claim.kind != "page" or request.meta.get(WITHOUT_SESSION):
            return response
        # Wait for later answers of the host, if the request was sent in this session.
        sign = await self._sign(sessions, request, claim, response)
        waiting: Deferred[bool] = Deferred()
        if request.meta.get(NUMBER) == sessions.number:
            sessions.take(claim.host, claim.url, sign, waiting.callback)
        else:
            waiting.callback(not sign.kind)
        if sessions.begins_look(claim.host, sign):
            await sessions.look(claim.host, sign)
        if await maybe_deferred_to_future(waiting):
            return response
        if (visit := sessions.crawl.visit_of(request)) is not None:
            visit.broken_off = True  # the page is given back
        raise IgnoreRequest("The session has ended.")

    async def _sign(self, sessions: Sessions, request: Request, claim: Claim, response: Response) -> Sign:
        """Return the sign in the answer of a claimed page."""
        crawl = sessions.crawl
        sign = _sign_of(await crawl.shown(request, self._unpacked(response)))
        # The status 403 is a sign after 200. A field for a password is one where the page had none at its last visit.
        last = await crawl.page_of(claim.url) if sign.kind in ("403", "form") else None
        if sign.kind == "403" and (last is None or last.status != 200):
            sign = _sign_of_form(self._unpacked(response))
        if sign.kind == "form" and (names_login(claim.url) or (last is not None and last.password_field)):
            return Sign()
        return sign

    def _unpacked(self, response: Response) -> Response:
        """Return an unpacked copy of an answer. Its body is empty if that fails: Scrapy reports the error later."""
        page = true_coding(response.copy())
        if self._unpacking is None or "Content-Encoding" not in page.headers:
            return page
        try:
            unpacked = self._unpacking.process_response(Request(response.url), page)
        except Exception:  # noqa: BLE001  # each way of packing raises its own errors
            return page.replace(body=b"")
        return unpacked if isinstance(unpacked, Response) else page
