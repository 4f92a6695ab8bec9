"""Sessions that end within a crawl: by which answers that is found, and by which links it is brought about.

A crawl with a session gets pages that other visitors do not get. When the session has ended, a site answers with
something else, often with status 200: that is no content of the page. So an answer that may be a sign of it waits,
before anything else reads or archives it, until the later answers of its host show what it is. A sign is

* the status 401, or 403 for a page whose last visit brought 200;
* a temporary redirect to a login: to an address that is named as one, or that has shown a field for a password;
* a field for a password in a page that is not named as a login, with a text equal or near (simhash) to that of two
  other pages of the run. Fields in texts that differ are a login box, as in the header of a public site.

Signs of `ENOUGH` different pages among the last `LAST` answers of a host are the end of the session. An answer that has
not become a part of it by then is passed on; so is one for which no other comes.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self
from weakref import WeakKeyDictionary

from scrapy import Request
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.http import HtmlResponse, Response
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred

from graphbrain.base.errors import BadInput
from graphbrain.base.runtime.newest import Newest
from graphbrain.base.urls.logins import names_login
from graphbrain.base.urls.normalization import resolved
from graphbrain.base.urls.walls import bare
from graphbrain.content.report_semantics import TEMPORARY
from graphbrain.crawl.scrapy.documents import Document, as_page, true_coding
from graphbrain.crawl.scrapy.requests import CLAIM
from graphbrain.crawl.scrapy.visits import ScrapyVisit, header, location
from graphbrain.schedule.fingerprints import distance, simhash, visible_text

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from graphbrain import Claim

__all__ = ["WITHOUT_SESSION", "Sessions", "Sign", "SignedOut"]

LAST, ENOUGH = 10, 3
"""The session of a host has ended when so many of its last answers, of different pages, are signs of it."""
NEAR = 3
"""Bits by which the simhashes of two near texts may differ."""
OTHERS = 2
"""Other pages that have the text of a page with a field for a password, for it to be a sign."""
MOST_TEXTS = 1_000
"""Texts with a field for a password, and places that have one, that are remembered of each host."""
MOST_HOSTS = 1_000
"""Hosts of which it is remembered when one of their pages was begun."""
REST = 10.0
"""Seconds without a page of any other host after which only hosts are left whose session has ended."""
QUIET = 2.0
"""Seconds, beside three times the pace of its answers, after which a host counts as quiet."""
WITHOUT_SESSION = "dont_merge_cookies"
"""The key in a request's meta by which it is sent, and answered, without cookies."""
NUMBER = "_graphbrain_session"
"""The key in a request's meta of the session in which it was sent."""


# ---------------------------------------------------------------- what the answers of a host show


@dataclass(frozen=True, slots=True)
class Sign:
    """A possible sign of a session's end, in one answer.

    `kind`: 401, 403, `login` (a redirect to what is named as one), `led` (a redirect elsewhere) or `form`; empty for
    nothing. `address`: where it is from or leads to, without the query. `text`: the simhash of a text that has a field
    for a password.
    """

    kind: str = ""
    address: str = ""
    text: int = 0


@dataclass(slots=True)
class _HostAnswers:
    """The answers of one host. `waiting`: number of the answer, and what is called with its end."""

    number: int = 0
    last: deque[tuple[str, Sign]] = field(default_factory=lambda: deque(maxlen=LAST))
    waiting: deque[tuple[int, Callable[[bool], None]]] = field(default_factory=deque)
    texts: Newest[str, int] = field(default_factory=lambda: Newest(MOST_TEXTS))
    places: Newest[str, bool] = field(default_factory=lambda: Newest(MOST_TEXTS))
    at: float = 0.0
    pace: float = 0.0

    def note(self, page: str, sign: Sign, now: float) -> None:
        """Take one more answer of the host, at this time."""
        self.pace, self.at = (now - self.at if self.number else 0.0), now
        self.number += 1
        self.last.append((page, sign))
        if sign.kind == "form":
            self.texts[page] = sign.text
            self.places[sign.address] = True

    def signs(self) -> dict[str, Sign]:
        """Return the pages among the last answers that show the end of the session, and what shows it."""
        return {page: sign for page, sign in self.last if self._shows(page, sign)}

    def _shows(self, page: str, sign: Sign) -> bool:
        if sign.kind == "led":
            return sign.address in self.places
        if sign.kind == "form":
            near = (distance(text, sign.text) <= NEAR for other, text in self.texts.items() if other != page)
            return sum(near) >= OTHERS
        return bool(sign.kind)

    def is_suspect(self, sign: Sign) -> bool:
        """Return whether an answer with this may become a sign: a redirect to what is no login may not."""
        return bool(sign.kind) and (sign.kind != "led" or sign.address in self.places)

    def settle(self, up_to: int, good: bool) -> None:
        """End the wait of the answers up to this number."""
        while self.waiting and self.waiting[0][0] <= up_to:
            self.waiting.popleft()[1](good)


_SAID = {
    "401": "have the status 401",
    "403": "have the status 403, and had 200 before",
    **dict.fromkeys(("login", "led"), "lead to a login"),
    "form": "show the same form for a password",
}


class Sessions:
    """The sessions of a process at the hosts that it crawls. All of it belongs to the thread of the event loop.

    Args:
        on_end: Called with a host whose session has ended, and with the reason.
        visit_of: Returns the visit that a request belongs to.
        status_of: Returns the status of a page's last visit.
        delay: The least seconds between two answers of a host.
        clock: Monotonic seconds.
    """

    def __init__(
        self,
        on_end: Callable[[str, str], None],
        visit_of: Callable[[Request], ScrapyVisit | None],
        status_of: Callable[[str], Awaitable[int | None]],
        delay: float = 1.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._on_end, self.visit_of, self.status_of = on_end, visit_of, status_of
        self._delay, self._clock = delay, clock
        self.ended: dict[str, str] = {}
        """Host whose session has ended → the reason."""
        self.number = 0
        """Sessions that have been renewed."""
        self.withheld = 0
        """Answers that have waited, and are none of their pages."""
        self._hosts: dict[str, _HostAnswers] = {}
        self._begun: Newest[str, float] = Newest(MOST_HOSTS)
        """Host → when one of its pages was begun."""

    def begins(self, host: str) -> bool:
        """Return whether a page of this host is to be fetched, which begins then."""
        if host in self.ended:
            return False
        self._begun[host] = self._clock()
        return True

    def only_ended(self) -> bool:
        """Return whether a session has ended, and no page of a host whose session goes on was begun lately."""
        now = self._clock()
        return bool(self.ended) and all(now > at + REST for host, at in self._begun.items() if host not in self.ended)

    def take(self, host: str, page: str, sign: Sign, settle: Callable[[bool], None]) -> None:
        """Take an answer of a page. `settle` is called, now or later: with True when it is passed on, with False when
        its page is given back."""
        if host in self.ended:
            self._count(settle)(not sign.kind)
            return
        seen = self._hosts.setdefault(host, _HostAnswers())
        seen.note(page, sign, self._clock())
        if seen.is_suspect(sign):
            seen.waiting.append((seen.number, self._count(settle)))
        else:
            settle(True)
        if len(signs := seen.signs()) >= ENOUGH:
            self.ended[host] = _reason(signs, len(seen.last))
            seen.settle(seen.number, good=False)
            self._on_end(host, self.ended[host])
        else:
            seen.settle(seen.number - LAST, good=True)

    def pass_quiet(self, under_way: Callable[[str], int], starved: bool = False) -> None:
        """Pass on the waiting answers of hosts of which no other answer comes.

        Args:
            under_way: Returns the number of pages of a host that are being fetched, or whose answers wait.
            starved: No page can be fetched before others are reported.
        """
        for host, seen in list(self._hosts.items()):
            pace = max(self._delay, min(seen.pace, 60.0))
            quiet = starved or self._clock() > seen.at + QUIET + 3 * pace
            if seen.waiting and quiet and under_way(host) <= len(seen.waiting):
                seen.settle(seen.number, good=True)

    def let_go(self) -> None:
        """Give back all pages whose answers wait."""
        for seen in self._hosts.values():
            seen.settle(seen.number, good=False)

    def renewed(self) -> None:
        """Begin anew, in a new session. Answers to what was sent in the old one are not taken for its signs."""
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
    """Return, as a clause, why the session has ended."""
    kinds = [sign.kind for sign in signs.values()]
    kind = max(dict.fromkeys(kinds), key=kinds.count)
    pages = ", ".join([page for page, sign in signs.items() if sign.kind == kind][:ENOUGH])
    return f"{len(signs)} of its last {of} pages {_SAID[kind]} ({pages})"


# ---------------------------------------------------------------- the step of Scrapy's downloader

_SESSIONS: WeakKeyDictionary[Crawler, Sessions] = WeakKeyDictionary()
"""Crawler → the sessions that its middleware watches."""


class SignedOut:
    """A downloader middleware that holds back the answers of claimed pages, before anything reads or archives them."""

    PLACE = 950

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        try:
            self._unpacking: HttpCompressionMiddleware | None = HttpCompressionMiddleware.from_crawler(crawler)
        except NotConfigured:
            self._unpacking = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Called by Scrapy to make it."""
        return cls(crawler)

    @staticmethod
    def watch(crawler: Crawler, sessions: Sessions) -> None:
        """Let the middleware of a crawler use these."""
        _SESSIONS[crawler] = sessions

    def process_request(self, request: Request) -> None:
        """Note the session in which a request is sent. Called by Scrapy with every request."""
        if (sessions := _SESSIONS.get(self._crawler)) is not None:
            request.meta[NUMBER] = sessions.number

    async def process_response(self, request: Request, response: Response) -> Response:
        """Wait until it is known what the answer is. Called by Scrapy with every answer, before it is unpacked."""
        sessions, claim = _SESSIONS.get(self._crawler), request.meta.get(CLAIM)
        if sessions is None or claim is None or claim.kind != "page" or request.meta.get(WITHOUT_SESSION):
            return response
        sign = await self._sign(sessions, claim, response)
        waiting: Deferred[bool] = Deferred()
        if request.meta.get(NUMBER) == sessions.number:
            sessions.take(claim.host, claim.url, sign, waiting.callback)
        else:
            waiting.callback(not sign.kind)
        if await maybe_deferred_to_future(waiting):
            return response
        if (visit := sessions.visit_of(request)) is not None:
            visit.broken_off = True  # its page is given back
        raise IgnoreRequest("The session has ended.")

    async def _sign(self, sessions: Sessions, claim: Claim, response: Response) -> Sign:
        if response.status == 401:
            return Sign("401")
        if response.status in TEMPORARY:
            return self._redirect(response)
        if response.status == 403 and await sessions.status_of(claim.url) == 200:
            return Sign("403")
        good = 200 <= response.status < 300 or response.status == 403
        return Sign() if not good or names_login(claim.url) else self._form(response)

    def _redirect(self, response: Response) -> Sign:
        """Return the sign of a temporary redirect."""
        try:
            target = resolved(response.url, location(response) or "#")
        except BadInput:
            return Sign()
        return Sign("login" if names_login(target) else "led", bare(target))

    def _form(self, response: Response) -> Sign:
        """Return the sign of a page with a field for a password."""
        page = self._unpacked(response)
        if b"password" not in page.body.lower() or not isinstance(page := as_page(page), HtmlResponse):
            return Sign()
        if not Document.of(page).has_password_field():
            return Sign()
        text = visible_text(page.body, header(page.headers.get("Content-Type")))
        return Sign("form", bare(response.url), simhash(text or "") or 0)

    def _unpacked(self, response: Response) -> Response:
        """Return a copy of an answer, unpacked; empty where that fails, as it will fail later, with a reason."""
        page = true_coding(response.copy())
        if self._unpacking is None or "Content-Encoding" not in page.headers:
            return page
        try:
            unpacked = self._unpacking.process_response(Request(response.url), page)
        except Exception:  # noqa: BLE001  # each packing has its own
            return page.replace(body=b"")
        return unpacked if isinstance(unpacked, Response) else page
