"""The border between Scrapy and the brain: settings, requests as pages with notes, and the facts of pages.

A request becomes a page when a GET of its URL, and a note in JSON with the names of its callbacks, its arguments and
its headers, can make it again, in any process that runs the same spider.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from parsel import Selector
from scrapy import Request, Spider
from scrapy.http import HtmlResponse, Response
from scrapy.linkextractors import IGNORED_EXTENSIONS
from scrapy.spiders import CrawlSpider
from scrapy.utils.misc import load_object

from graphbrain import Claim, Fetched, Link
from graphbrain.base.errors import BadInput, SettingsError
from graphbrain.base.model import KINDS, PAGES, Seen, number
from graphbrain.base.settings import Settings, unknown, variable_of
from graphbrain.base.urls.logins import leads_out
from graphbrain.base.urls.normalization import key_of, spell, without_user
from graphbrain.content.pagefacts import HEADERS, PageFacts
from graphbrain.content.relevance import TopicRelevance, guess
from graphbrain.crawl.scrapy.documents import Document, is_markup, links_of, media_type
from graphbrain.schedule import fingerprints

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

__all__ = [
    "CLAIM",
    "EVERY",
    "Reader",
    "ScrapyOptions",
    "asks_for_robots",
    "by_rules",
    "ending_of",
    "express",
    "hashed",
    "latency",
    "led",
    "plain_meta",
    "request_for",
    "resource_request",
    "unread",
    "userless",
]

CLAIM = "graphbrain_claim"
"""The key of the claim in a request's meta, for the spider to read."""
AGAIN = "graphbrain_again"
"""Marks a request that was made of an answer of the same URL, for its cookie."""
EVERY = "graphbrain_every_process"
"""A request with this in its meta is sent by each process that makes it, and is no page of the brain: a login."""
OWN = (
    *("canonical", "relevance", "topic", "links", "patience", "start", "now_only", "kinds", "allow_private"),
    *("session", "follow_logout"),
)
"""Settings of the add-on that are none of the brain's."""
LONGEST_NOTE = 30_000
"""Characters of a note; a request that needs more stays with its process."""
PASSING = {
    *("depth", "download_latency", "download_slot", "is_start_request", "redirect_reasons", "redirect_times"),
    *("redirect_ttl", "redirect_urls", "retry_times", "graphbrain_relevance", AGAIN, CLAIM),
}
"""Meta that describes the course of a request, and is not needed to make it again."""
MOST_OF_SITEMAP = 52_428_800
"""Bytes of a sitemap that are read: the 50 MB of sitemaps.org."""
MOST_LEFT = 100_000
"""Links that would end the session which are counted once each."""
IGNORED = frozenset(IGNORED_EXTENSIONS)
"""Endings of files that Scrapy's extractor of links leaves out, too."""
_ENDING = re.compile(r"\.([A-Za-z0-9]{1,5})$")
WORDS = "//text()[not(parent::script or parent::style or parent::noscript)]"

log = logging.getLogger(__name__)

Rate = Callable[[Response], float | None]


@dataclass(frozen=True)
class ScrapyOptions:
    """The GRAPHBRAIN_… settings of a Scrapy project. `brain`: those that are handed to `Brain.open`.

    `every_link`: all links of a page count, not only those that the spider follows. `patience`: see `Desk`.
    `every_start`: the requests of `start()` are sent by every process, and are no pages of the brain. `now_only`: only
    pages that were asked for by hand are fetched. `kinds`: the kinds of claims that are asked for.
    `session`: the requests have a session, whose end is looked for. `follow_logout`: links that end it are followed.
    """

    brain: dict[str, Any] = field(default_factory=dict)
    canonical: Callable[[str], str] | None = None
    rate: Rate | None = None
    topic: TopicRelevance | None = None
    every_link: bool = False
    patience: float | None = None
    every_start: bool = False
    now_only: bool = False
    kinds: frozenset[str] = PAGES
    session: bool = False
    follow_logout: bool = False

    @classmethod
    def of(cls, settings: BaseSettings) -> ScrapyOptions:
        """Read them. Raises SettingsError for what is unknown or impossible."""
        given = {
            str(name).removeprefix("GRAPHBRAIN_").lower(): settings[name]
            for name in settings
            if str(name).startswith("GRAPHBRAIN_") and settings[name] is not None
        }
        # Take out the settings of the add-on; the others are the brain's.
        own = {name: given.pop(name, None) for name in OWN}
        wrong = sorted(set(given) - set(Settings.names()))
        if wrong:
            raise SettingsError(unknown(wrong[0], [*own, *Settings.names()], variable_of))
        # Check values that exclude each other, or that are words.
        if own["topic"] is not None and own["relevance"] is not None:
            raise SettingsError("Give GRAPHBRAIN_TOPIC or GRAPHBRAIN_RELEVANCE, not both.")
        if own["links"] not in (None, "followed", "all"):
            raise SettingsError(f"GRAPHBRAIN_LINKS must be 'followed' or 'all', not {own['links']!r}.")
        if own["start"] not in (None, "once", "every"):
            raise SettingsError(f"GRAPHBRAIN_START must be 'once' or 'every', not {own['start']!r}.")
        return cls(
            given,
            _function("GRAPHBRAIN_CANONICAL", own["canonical"]),
            _function("GRAPHBRAIN_RELEVANCE", own["relevance"]),
            None if own["topic"] is None else _topic(own["topic"]),
            own["links"] == "all",
            None if own["patience"] is None else _seconds(own["patience"]),
            own["start"] == "every",
            own["now_only"] is not None and settings.getbool("GRAPHBRAIN_NOW_ONLY"),
            PAGES if own["kinds"] is None else _kinds(settings),
            own["session"] is not None and settings.getbool("GRAPHBRAIN_SESSION"),
            own["follow_logout"] is not None and settings.getbool("GRAPHBRAIN_FOLLOW_LOGOUT"),
        )


def _function(name: str, given: Any) -> Callable[[Any], Any] | None:
    """A function, or the path of one."""
    if given is None:
        return None
    try:
        function: Any = load_object(given)
    except (ImportError, NameError, ValueError, TypeError) as error:
        raise SettingsError(f"{name} names nothing that can be imported ({error}).") from None
    if not callable(function):
        raise SettingsError(f"{name} must be a function or the path of one, not {given!r}.")
    return function  # type: ignore[no-any-return]


def _topic(given: Any) -> TopicRelevance:
    """A topic from text with words, or from a list of files that hold pages about it."""
    try:
        if isinstance(given, str):
            return TopicRelevance.from_words(given)
        pages = [Path(name).read_text(encoding="utf-8", errors="replace") for name in given]
    except BadInput as error:
        raise SettingsError(f"GRAPHBRAIN_TOPIC: {error}") from None
    except (OSError, TypeError) as error:
        raise SettingsError(f"GRAPHBRAIN_TOPIC must be words, or a list of files: {error}.") from None
    try:
        return TopicRelevance.from_pages(_words(Selector(page)) for page in pages)
    except BadInput as error:
        raise SettingsError(f"GRAPHBRAIN_TOPIC: {error}") from None


def asks_for_robots(settings: BaseSettings) -> bool:
    """Return True if robots.txt are to be claimed from the brain."""
    return "robots" in _named_kinds(settings)


def _named_kinds(settings: BaseSettings) -> list[str]:
    return [str(kind).strip() for kind in settings.getlist("GRAPHBRAIN_KINDS")]


def _kinds(settings: BaseSettings) -> frozenset[str]:
    kinds = frozenset(_named_kinds(settings))
    if "page" not in kinds or not kinds <= set(KINDS):
        given = settings["GRAPHBRAIN_KINDS"]
        raise SettingsError(
            f"GRAPHBRAIN_KINDS must name 'page', and may name 'robots', 'sitemap' and 'link', not {given!r:.80}."
        )
    return kinds


def _seconds(given: Any) -> float:
    try:
        seconds = float(given)
    except (TypeError, ValueError):
        seconds = -1.0
    if not seconds >= 0:
        raise SettingsError(f"GRAPHBRAIN_PATIENCE must be seconds, 0 or more, not {given!r}.")
    return seconds


class Reader:
    """Reads the relevance of a page and of its links from its text. Used in one thread."""

    def __init__(self, options: ScrapyOptions, agent: str = "") -> None:
        self._options = options
        self._agent = agent
        self._left_links = set[int]()

    @property
    def left_out(self) -> int:
        """The number of links, of as many as are remembered, that are left out because they would end the session."""
        return len(self._left_links)

    def leaves_out(self, url: str) -> bool:
        """Return whether a link is left out because it would end the session, and count it, once."""
        if not self._options.session or self._options.follow_logout or not leads_out(url):
            return False
        if len(self._left_links) < MOST_LEFT:
            self._left_links.add(hash(url))
        return True

    def read(
        self, response: Response, followed: Mapping[str, tuple[str | None, float | None]]
    ) -> tuple[float | None, list[str | Link]]:
        """Relevance of the page, None if it is not known, and its links; a spider's own guess goes over ours.

        `followed`: URL → (text of the link, the spider's guess), None for what is not known.
        """
        near = self.near(response)
        read = self._links(response)
        texts = {url: text for url, (text, _) in read.items()}
        anchors = {_key(url): text for url, text in texts.items()} if self._options.topic is not None else {}
        every = read if self._options.every_link else ()
        urls = [url for url in every if ending_of(url) not in IGNORED and not self.leaves_out(url)]
        links: list[str | Link] = []
        for url in dict.fromkeys([*urls, *followed]):
            text, given = followed.get(url, (None, None))
            guess = self._share("graphbrain_relevance", given, url)
            if guess is None and near is not None:  # else nothing can be guessed: no text need be looked for
                guess = self.nearness(near, text or (anchors.get(_key(url)) if anchors else None))
            words, rel = read.get(url.partition("#")[0]) or ("", "")
            words = text or words
            bare = guess is None and not words and not rel
            links.append(url if bare else Link(url, guess, anchor=words or None, rel=rel or None))
        return near, links

    def _links(self, response: Response) -> dict[str, tuple[str, str]]:
        """Return (text, rel) of each link of a page by its URL."""
        if isinstance(response, HtmlResponse):
            try:
                return links_of(response)
            except Exception:
                log.debug("The links of %s cannot be read.", response.url, exc_info=True)
        return {}

    def facts(self, response: Response) -> tuple[dict[str, Any], list[str]]:
        """Return the facts of a page, for later questions; and its link by a refresh, where all links count."""
        headers = {name: _values(response, name) for name in HEADERS}
        page = PageFacts(response.url, headers, self._agent)
        if isinstance(response, HtmlResponse):
            try:
                Document.of(response).state(page)
            except Exception:
                log.debug("No facts of %s can be read.", response.url, exc_info=True)
        kind = media_type(_values(response, "content-type"))
        facts = page.arguments() | {"size": len(response.body), "content_type": kind}
        refresh = page.refresh()
        facts |= {"led_to": (refresh[1],)} if refresh and refresh[0] == 0 else {}
        return facts, [refresh[1]] if refresh and self._options.every_link else []

    def near(self, response: Response) -> float | None:
        """Return the relevance of the page; None if it is not known, as where the user's function fails."""
        if self._options.rate is not None:
            try:
                return self._share("GRAPHBRAIN_RELEVANCE", self._options.rate(response), response.url)
            except Exception:
                log.exception("GRAPHBRAIN_RELEVANCE failed for %s.", response.url)
        elif self._options.topic is not None and is_markup(response):
            return self._options.topic(_words(response.selector))
        return None

    def _share(self, name: str, given: Any, url: str) -> float | None:
        """A relevance that the user has given; None when it is none."""
        if given is None:
            return None
        if number(given) and 0 <= given <= 1:
            return float(given)
        log.error("%s must be from 0 to 1, not %r, for %s.", name, given, url)
        return None

    def nearness(self, near: float | None, text: str | None) -> float | None:
        """A guess how near the target of a link is, from its page's relevance and its text."""
        return guess(near, self._options.topic(text) if self._options.topic is not None and text else None)


def led(response: Response) -> tuple[int, tuple[str, ...]] | None:
    """The status of the temporary redirect by which Scrapy came to an answer, and the URLs through which it led; None
    where there was none. A refresh that it has followed has the status 200."""
    meta = {} if response.request is None else response.request.meta
    urls, reasons = meta.get("redirect_urls"), meta.get("redirect_reasons")
    if not urls or not reasons:
        return None
    status = reasons[0] if isinstance(reasons[0], int) else 200
    return status, (*urls[1:], response.url)


def first_step(request: Request) -> tuple[int, str] | None:
    """Return the status and the target of the first redirect by which Scrapy came to this request; None without one."""
    reasons, urls = request.meta.get("redirect_reasons"), request.meta.get("redirect_urls")
    if not reasons or not urls or not isinstance(reasons[0], int):
        return None
    return reasons[0], [*urls[1:], request.url][0]


def _values(response: Response, name: str) -> list[str]:
    """The values of a header."""
    return [value.decode("latin-1") for value in response.headers.getlist(name)]


def hashed(report: Fetched, change: fingerprints.ChangeTest) -> Fetched:
    """Return the report with the hashes of its body in place of the body: those by which changes are found."""
    seen = fingerprints.take(Seen(), report.body, report.content_type, change, report.url)
    hashes = {name: getattr(seen, name) for name in ("body_hash", "text_hash", "simhash", "blocks", "shingles")}
    return replace(report, body=None, **hashes)


def latency(response: Response) -> float | None:
    """Return the seconds that the fetch took, as Scrapy has measured it; None for an answer from a cache."""
    seconds = None if response.request is None else response.request.meta.get("download_latency")
    return float(seconds) if number(seconds) else None


def ending_of(url: str) -> str:
    """Return the ending of a file's name; empty for none, and for a text that is no URL, which the brain will
    refuse."""
    try:
        ending = _ENDING.search(urlsplit(url).path)
    except ValueError:
        return ""
    return ending[1].lower() if ending else ""


def _words(page: Selector) -> str:
    return " ".join(page.xpath(WORDS).getall())


def _key(url: str) -> str:
    """Return one name for all variants of a URL, or the text itself if it is no URL of a page."""
    try:
        return key_of(spell(url))
    except BadInput:
        return url


def userless(request: Request) -> Request:
    """The request of the same URL without a user and a password: Scrapy would look them up as a part of the host."""
    url = without_user(request.url)
    return request if url == request.url else request.replace(url=url)


def plain_meta(meta: Mapping[Any, Any], mark: str = "") -> dict[Any, Any]:
    """Meta without the tie to a visit."""
    return {key: value for key, value in meta.items() if key not in (mark, AGAIN, CLAIM)}


def express(request: Request, spider: Spider | None) -> str | None:
    """The note with which a request's URL makes it again: empty if the URL alone does; None if none can."""
    if request.method != "GET" or request.body or request.cookies or "cookiejar" in request.meta:
        return None
    if request.meta.get(EVERY):
        return None
    if not request.url.startswith(("http://", "https://")):
        return None
    if _bare(request, spider):
        return ""
    callback, errback = _name(request.callback, spider), _name(request.errback, spider)
    if callback is None or errback is None:
        return None
    headers = {
        name.decode("latin-1"): [value.decode("latin-1") for value in values]
        for name, values in request.headers.items()
        if name != b"Referer"  # Scrapy's own, made from where the link was met first
    }
    meta = {key: value for key, value in request.meta.items() if key not in PASSING and not str(key).startswith("_")}
    parts = {
        "callback": "" if callback == "parse" else callback,
        "errback": errback,
        "cb_kwargs": request.cb_kwargs,
        "meta": meta,
        "headers": headers,
    }
    note = {name: part for name, part in parts.items() if part}
    if not note:
        return ""
    try:
        text = json.dumps(note, ensure_ascii=False, separators=(",", ":"))
        same = json.loads(text) == note
    except (TypeError, ValueError):
        return None
    return text if same and len(text) <= LONGEST_NOTE else None


def _bare(request: Request, spider: Spider | None) -> bool:
    """Return whether the URL alone is enough to make the request again, as for nearly every link."""
    if request.errback is not None or request.cb_kwargs:
        return False
    if request.callback is not None and (spider is None or request.callback != spider.parse):
        return False
    return PASSING.issuperset(request.meta) and all(name == b"Referer" for name in request.headers)


def _name(method: Any, spider: Spider | None) -> str | None:
    """The name of a spider's own method, empty for None; None for any other function."""
    if method is None:
        return ""
    name = getattr(method, "__name__", "")
    own = spider is not None and getattr(method, "__self__", None) is spider
    return name if own and getattr(spider, name, None) == method else None


def by_rules(claim: Claim, spider: Spider | None) -> dict[str, Any]:
    """The note that a CrawlSpider's rules make of a page that none of its own pages has led to: one that a hint has
    named, or another spider. Empty for what is no CrawlSpider, one of its `start_urls`, or a page that no rule takes:
    these go to the default callback."""
    if not isinstance(spider, CrawlSpider) or claim.url in (spider.start_urls or ()):
        return {}
    for index, rule in enumerate(spider.rules):
        if rule.link_extractor.matches(claim.url):
            return {"callback": "_callback", "errback": "_errback", "meta": {"rule": index, "link_text": ""}}
    return {}


def unread(claim: Claim, note: str, spider: Spider | None) -> str:
    """Return the reason why no callback of the spider's own will get this page; empty if one will."""
    if json.loads(note or "{}").get("callback") or spider is None:
        return ""
    if isinstance(spider, CrawlSpider):
        if claim.url in (spider.start_urls or ()) or by_rules(claim, spider):
            return ""
        return "no rule of this spider takes it, so its links are followed by the rules, and no callback gets it"
    missing = all(getattr(type(spider), name) is getattr(Spider, name) for name in ("parse", "_parse"))
    return "it names no callback, and this spider has no parse()" if missing else ""


def resource_request(claim: Claim, callback: Callable[[Response], None]) -> Request:
    """Return the request for a claimed robots.txt or sitemap, or for the check of a link.

    No middleware of Scrapy follows, repeats, caches or drops it: a redirect is the brain's next claim, and the brain
    has decided that it may be fetched.
    """
    meta: dict[str, Any] = {CLAIM: claim, "handle_httpstatus_all": True, "dont_obey_robotstxt": True}
    meta |= dict.fromkeys(("dont_redirect", "dont_retry", "dont_cache", "allow_offsite"), True)
    if claim.kind == "sitemap":
        meta |= {"download_maxsize": MOST_OF_SITEMAP, "download_warnsize": 0}
    method = claim.method or "GET"
    return Request(claim.url, callback, method, headers=_conditions(claim), meta=meta, dont_filter=True)


def _conditions(claim: Claim) -> dict[str, str]:
    """Return the headers that ask for what has changed since the last visit."""
    both = {"If-None-Match": claim.etag, "If-Modified-Since": claim.last_modified}
    return {name: value for name, value in both.items() if value}


def request_for(claim: Claim, note: str, spider: Spider | None) -> Request:
    """The request for a claimed page. Raises BadInput when its note asks for what the spider does not have."""
    parts = json.loads(note) if note else by_rules(claim, spider)
    methods: dict[str, Any] = {}
    for role in ("callback", "errback"):
        if name := parts.get(role):
            methods[role] = getattr(spider, name, None)
            if not callable(methods[role]):
                raise BadInput(f"{claim.url} is to be given to {name}(), which this spider does not have.")
    given = parts.get("headers", {})
    headers = given | {name: value for name, value in _conditions(claim).items() if name not in given}
    meta = {**parts.get("meta", {}), "depth": claim.depth, CLAIM: claim}
    return Request(claim.url, headers=headers, cb_kwargs=parts.get("cb_kwargs"), meta=meta, **methods)
