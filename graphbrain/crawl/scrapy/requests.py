"""Conversions between Scrapy and the brain: settings, requests as pages with notes, and the facts of pages.

A request becomes a page if any process with the same spider can make it again by a GET of its URL and a note. The note
is JSON with the names of the callbacks, their arguments and the headers.
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
from weakref import WeakKeyDictionary

from parsel import Selector
from scrapy import Request, Spider
from scrapy.exceptions import StopDownload
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
from graphbrain.content.report_semantics import CONTENT
from graphbrain.crawl.scrapy.documents import Document, asks_for_password, is_markup, links_of, media_type
from graphbrain.schedule import fingerprints

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

__all__ = [
    "CLAIM",
    "EVERY",
    "MARK",
    "Reader",
    "ScrapyOptions",
    "asks_for_robots",
    "by_rules",
    "ending_of",
    "express",
    "hashed",
    "latency",
    "led",
    "read_no_body",
    "request_for",
    "resource_request",
    "unmarked",
    "unread",
    "userless",
]

CLAIM = "graphbrain_claim"
"""The key in a request's meta under which a spider finds the claim."""
AGAIN = "graphbrain_again"
"""The key in the meta of a request that repeats another one, with a new cookie."""
MARK = "_graphbrain"
"""The key in a request's meta under which the scheduler keeps the number of its visit."""
EVERY = "graphbrain_every_process"
"""The key in the meta of a request that each process sends and that is no page of the brain, such as a login."""
OWN = (
    *("canonical", "relevance", "topic", "links", "patience", "start", "now_only", "kinds", "allow_private"),
    *("session", "follow_logout"),
)
"""The settings of the add-on that are not settings of the brain."""
LONGEST_NOTE = 30_000
"""Most characters of a note. Only the process that made it sends a request that needs more."""
PASSING = {
    *("depth", "download_latency", "download_slot", "is_start_request", "redirect_reasons", "redirect_times"),
    *("redirect_ttl", "redirect_urls", "retry_times", "graphbrain_relevance", AGAIN, CLAIM),
}
"""Keys of meta that describe what has happened to a request, and that are not needed to make it again."""
MOST_OF_SITEMAP = 52_428_800
"""Most bytes of a sitemap that are read: the 50 MB of sitemaps.org."""
MOST_LEFT = 100_000
"""Most links that would end the session and are remembered, so that each is counted once."""
IGNORED = frozenset(IGNORED_EXTENSIONS)
"""Endings of files whose links are left out, as by Scrapy's own link extractor."""
_ENDING = re.compile(r"\.([A-Za-z0-9]{1,5})$")
WORDS = "//text()[not(parent::script or parent::style or parent::noscript)]"
"""The XPath of the text that a page shows."""

log = logging.getLogger(__name__)

Rate = Callable[[Response], float | None]


@dataclass(frozen=True)
class ScrapyOptions:
    """The GRAPHBRAIN_… settings of a Scrapy project.

    Attributes:
        brain: The settings of the brain, by name, for `Brain.open`.
        canonical: The user's function from a URL to its canonical form.
        rate: The user's function from a response to its relevance.
        topic: The topic by which the relevance of pages is found, instead of `rate`.
        every_link: True if all links of a page are reported, and not only those that the spider follows.
        patience: Seconds, as `Desk` has it.
        every_start: True if every process sends the requests of `start()`, which are no pages of the brain then.
        now_only: True if only pages are claimed that were asked for by `graphbrain now`.
        kinds: The kinds of claims to ask for.
        session: True if the requests have a session, whose end is to be found.
        follow_logout: True if links that end the session are followed.
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
        """Read the settings of a project. Raises SettingsError for an unknown setting and for an impossible value."""
        # Split the settings of the add-on from those of the brain.
        of_brain = {
            str(name).removeprefix("GRAPHBRAIN_").lower(): settings[name]
            for name in settings
            if str(name).startswith("GRAPHBRAIN_") and settings[name] is not None
        }
        own = {name: of_brain.pop(name, None) for name in OWN}
        unknown_names = sorted(set(of_brain) - set(Settings.names()))
        if unknown_names:
            raise SettingsError(unknown(unknown_names[0], [*own, *Settings.names()], variable_of))
        # Check values that exclude each other, or that are words.
        if own["topic"] is not None and own["relevance"] is not None:
            raise SettingsError("Give GRAPHBRAIN_TOPIC or GRAPHBRAIN_RELEVANCE, not both.")
        if own["links"] not in (None, "followed", "all"):
            raise SettingsError(f"GRAPHBRAIN_LINKS must be 'followed' or 'all', not {own['links']!r}.")
        if own["start"] not in (None, "once", "every"):
            raise SettingsError(f"GRAPHBRAIN_START must be 'once' or 'every', not {own['start']!r}.")
        return cls(
            brain=of_brain,
            canonical=_function("GRAPHBRAIN_CANONICAL", own["canonical"]),
            rate=_function("GRAPHBRAIN_RELEVANCE", own["relevance"]),
            topic=None if own["topic"] is None else _topic(own["topic"]),
            every_link=own["links"] == "all",
            patience=None if own["patience"] is None else _seconds(own["patience"]),
            every_start=own["start"] == "every",
            now_only=own["now_only"] is not None and settings.getbool("GRAPHBRAIN_NOW_ONLY"),
            kinds=PAGES if own["kinds"] is None else _kinds(settings),
            session=own["session"] is not None and settings.getbool("GRAPHBRAIN_SESSION"),
            follow_logout=own["follow_logout"] is not None and settings.getbool("GRAPHBRAIN_FOLLOW_LOGOUT"),
        )


def _function(name: str, value: Any) -> Callable[[Any], Any] | None:
    """Return the function that a setting names or is; None without a value."""
    if value is None:
        return None
    try:
        function: Any = load_object(value)
    except (ImportError, NameError, ValueError, TypeError) as error:
        raise SettingsError(f"{name} names nothing that can be imported ({error}).") from None
    if not callable(function):
        raise SettingsError(f"{name} must be a function or the path of one, not {value!r}.")
    return function  # type: ignore[no-any-return]


def _topic(words_or_files: Any) -> TopicRelevance:
    """Return a topic from a text with words, or from a list of files with pages about it."""
    try:
        if isinstance(words_or_files, str):
            return TopicRelevance.from_words(words_or_files)
        pages = [Path(name).read_text(encoding="utf-8", errors="replace") for name in words_or_files]
    except BadInput as error:
        raise SettingsError(f"GRAPHBRAIN_TOPIC: {error}") from None
    except (OSError, TypeError) as error:
        raise SettingsError(f"GRAPHBRAIN_TOPIC must be words, or a list of files: {error}.") from None
    try:
        return TopicRelevance.from_pages(_words(Selector(page)) for page in pages)
    except BadInput as error:
        raise SettingsError(f"GRAPHBRAIN_TOPIC: {error}") from None


def asks_for_robots(settings: BaseSettings) -> bool:
    """Return whether the crawl claims robots.txt from the brain."""
    return "robots" in _named_kinds(settings)


def _named_kinds(settings: BaseSettings) -> list[str]:
    return [str(kind).strip() for kind in settings.getlist("GRAPHBRAIN_KINDS")]


def _kinds(settings: BaseSettings) -> frozenset[str]:
    kinds = frozenset(_named_kinds(settings))
    if "page" not in kinds or not kinds <= set(KINDS):
        value = settings["GRAPHBRAIN_KINDS"]
        raise SettingsError(
            f"GRAPHBRAIN_KINDS must name 'page', and may name 'robots', 'sitemap' and 'link', not {value!r:.80}."
        )
    return kinds


def _seconds(value: Any) -> float:
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        seconds = -1.0
    if not seconds >= 0:
        raise SettingsError(f"GRAPHBRAIN_PATIENCE must be seconds, 0 or more, not {value!r}.")
    return seconds


class Reader:
    """A reader of a page's links, facts and relevance. One thread uses it."""

    def __init__(self, options: ScrapyOptions, agent: str = "") -> None:
        self._options = options
        self._agent = agent
        self._logout_links = set[int]()
        self._stated = WeakKeyDictionary[Response, PageFacts]()

    @property
    def left_out(self) -> int:
        """The number of links that were left out because they would end the session, at most `MOST_LEFT`."""
        return len(self._logout_links)

    def leaves_out(self, url: str) -> bool:
        """Return whether a link is left out because it would end the session. Count each such link once."""
        if not self._options.session or self._options.follow_logout or not leads_out(url):
            return False
        if len(self._logout_links) < MOST_LEFT:
            self._logout_links.add(hash(url))
        return True

    def read(
        self, response: Response, followed: Mapping[str, tuple[str | None, float | None]]
    ) -> tuple[float | None, list[str | Link]]:
        """Return the relevance of a page and its links. The spider's own guesses take precedence.

        Args:
            response: The page.
            followed: The links that the spider follows: URL → (text of the link, the spider's guess of the relevance of
                its target). None for what is not known.

        Returns:
            (relevance from 0 to 1 or None if it is not known, links).
        """
        relevance = self.relevance(response)
        in_page = self._links(response)
        # Find the texts of links by key: the spider may write a URL in another form than the page.
        texts = {_key(url): text for url, (text, _) in in_page.items()} if self._options.topic is not None else {}
        reported = in_page if self._options.every_link else ()
        urls = [url for url in reported if ending_of(url) not in IGNORED and not self.leaves_out(url)]
        links: list[str | Link] = []
        for url in dict.fromkeys([*urls, *followed]):
            # Guess the relevance of the target, if the spider has not.
            spiders_text, spiders_guess = followed.get(url, (None, None))
            guess = self._share("graphbrain_relevance", spiders_guess, url)
            if guess is None and relevance is not None:
                guess = self.relevance_of_link(relevance, spiders_text or (texts.get(_key(url)) if texts else None))
            # Report a link without text, rel and guess as its URL alone.
            text, rel = in_page.get(url.partition("#")[0]) or ("", "")
            text = spiders_text or text
            is_plain = guess is None and not text and not rel
            links.append(url if is_plain else Link(url, guess, anchor=text or None, rel=rel or None))
        return relevance, links

    def _links(self, response: Response) -> dict[str, tuple[str, str]]:
        """Return URL → (text, rel) for the links of a page; none if they cannot be read."""
        if isinstance(response, HtmlResponse):
            try:
                return links_of(response)
            except Exception:
                log.debug("The links of %s cannot be read.", response.url, exc_info=True)
        return {}

    def facts(self, response: Response) -> tuple[dict[str, Any], list[str]]:
        """Return the facts of a page by name, and the target of its refresh if all links are reported."""
        page, kind = self.stated(response), media_type(_values(response, "content-type"))
        facts = page.arguments() | {"size": len(response.body), "content_type": kind}
        facts |= {"password_field": True} if asks_for_password(response) else {}
        refresh = page.refresh()
        facts |= {"led_to": (refresh[1],)} if refresh and refresh[0] == 0 else {}
        return facts, [refresh[1]] if refresh and self._options.every_link else []

    def stated(self, response: Response) -> PageFacts:
        """Return what a page states about itself, in its headers and its elements."""
        if response not in self._stated:
            headers = {name: _values(response, name) for name in HEADERS}
            self._stated[response] = page = PageFacts(response.url, headers, self._agent)
            if isinstance(response, HtmlResponse):
                try:
                    Document.of(response).state(page)
                except Exception:
                    log.debug("No facts of %s can be read.", response.url, exc_info=True)
        return self._stated[response]

    def relevance(self, response: Response) -> float | None:
        """Return the relevance of a page; None if it is not known, as after an error of the user's function."""
        if self._options.rate is not None:
            try:
                return self._share("GRAPHBRAIN_RELEVANCE", self._options.rate(response), response.url)
            except Exception:
                log.exception("GRAPHBRAIN_RELEVANCE failed for %s.", response.url)
        elif self._options.topic is not None and is_markup(response):
            return self._options.topic(_words(response.selector))
        return None

    def _share(self, name: str, value: Any, url: str) -> float | None:
        """Return a relevance from the user's code; None, with a line in the log, if it is not from 0 to 1."""
        if value is None:
            return None
        if number(value) and 0 <= value <= 1:
            return float(value)
        log.error("%s must be from 0 to 1, not %r, for %s.", name, value, url)
        return None

    def relevance_of_link(self, relevance: float | None, text: str | None) -> float | None:
        """Return a guess of the relevance of a link's target, from the relevance of its page and its text."""
        return guess(relevance, self._options.topic(text) if self._options.topic is not None and text else None)


def led(response: Response) -> tuple[int, tuple[str, ...]] | None:
    """Return the redirects that Scrapy has followed to an answer.

    Returns:
        (status of the first redirect, the URLs to which the redirects led); None without a redirect. The status of a
        refresh is 200.
    """
    meta = {} if response.request is None else response.request.meta
    urls, reasons = meta.get("redirect_urls"), meta.get("redirect_reasons")
    if not urls or not reasons:
        return None
    status = reasons[0] if isinstance(reasons[0], int) else 200
    return status, (*urls[1:], response.url)


def first_step(request: Request) -> tuple[int, str] | None:
    """Return (status, target) of the first redirect that Scrapy has followed to a request; None without one. The status
    of a refresh is 200."""
    reasons, urls = request.meta.get("redirect_reasons"), request.meta.get("redirect_urls")
    if not reasons or not urls:
        return None
    return reasons[0] if isinstance(reasons[0], int) else 200, [*urls[1:], request.url][0]


def _values(response: Response, name: str) -> list[str]:
    """Return the values of a header as texts."""
    return [value.decode("latin-1") for value in response.headers.getlist(name)]


def hashed(report: Fetched, change: fingerprints.ChangeTest) -> Fetched:
    """Return a report in which hashes take the place of the body. The brain finds changes of the page by them."""
    seen = fingerprints.take(Seen(), report.body, report.content_type, change, report.url)
    hashes = {name: getattr(seen, name) for name in (*CONTENT, "words") if name != "body"}
    return replace(report, body=None, **hashes)


def latency(response: Response) -> float | None:
    """Return the seconds that the fetch took, as Scrapy measured them; None for an answer from a cache."""
    seconds = None if response.request is None else response.request.meta.get("download_latency")
    return float(seconds) if number(seconds) else None


def ending_of(url: str) -> str:
    """Return the ending of the file name in a URL, in lower case. Empty if there is none, and for a text that is no
    URL: the brain will refuse that."""
    try:
        ending = _ENDING.search(urlsplit(url).path)
    except ValueError:
        return ""
    return ending[1].lower() if ending else ""


def _words(page: Selector) -> str:
    return " ".join(page.xpath(WORDS).getall())


def _key(url: str) -> str:
    """Return the key of a URL, which all its variants share; the text itself if it is no URL of a page."""
    try:
        return key_of(spell(url))
    except BadInput:
        return url


def userless(request: Request) -> Request:
    """Return a request without user and password in its URL: Scrapy would take them for a part of the host name."""
    url = without_user(request.url)
    return request if url == request.url else request.replace(url=url)


def unmarked(request: Request) -> Request:
    """Return a request without the mark of a visit: spiders often copy the meta of a response into new requests."""
    marks = {MARK, AGAIN, CLAIM}
    if marks.isdisjoint(request.meta):
        return request
    return request.replace(meta={key: value for key, value in request.meta.items() if key not in marks})


def express(request: Request, spider: Spider | None) -> str | None:
    """Return the note with which a request can be made again from its URL.

    Empty if the URL alone is enough; None if no note can express the request.
    """
    if request.method != "GET" or request.body or request.cookies or "cookiejar" in request.meta:
        return None
    if request.meta.get(EVERY) or not request.url.startswith(("http://", "https://")):
        return None
    # Nearly all links need no note.
    if _needs_no_note(request, spider):
        return ""
    # Collect what the URL does not express.
    callback, errback = _name(request.callback, spider), _name(request.errback, spider)
    if callback is None or errback is None:
        return None
    parts = {
        "callback": "" if callback == "parse" else callback,
        "errback": errback,
        "cb_kwargs": request.cb_kwargs,
        "meta": {key: value for key, value in request.meta.items() if _is_lasting(key)},
        "headers": {
            name.decode("latin-1"): [value.decode("latin-1") for value in values]
            for name, values in request.headers.items()
            if name != b"Referer"  # Scrapy adds the page on which the spider saw the link first
        },
    }
    note = {name: part for name, part in parts.items() if part}
    if not note:
        return ""
    # Check that JSON can hold it.
    try:
        text = json.dumps(note, ensure_ascii=False, separators=(",", ":"))
        is_equal = json.loads(text) == note
    except (TypeError, ValueError):
        return None
    return text if is_equal and len(text) <= LONGEST_NOTE else None


def _is_lasting(key: Any) -> bool:
    """Return whether an entry of meta is needed to make a request again."""
    return key not in PASSING and not str(key).startswith("_")


def _needs_no_note(request: Request, spider: Spider | None) -> bool:
    """Return whether the URL alone is enough to make a request again."""
    if request.errback is not None or request.cb_kwargs:
        return False
    if request.callback is not None and (spider is None or request.callback != spider.parse):
        return False
    return PASSING.issuperset(request.meta) and all(name == b"Referer" for name in request.headers)


def _name(method: Any, spider: Spider | None) -> str | None:
    """Return the name of a spider's method; empty for None; None for any other function."""
    if method is None:
        return ""
    name = getattr(method, "__name__", "")
    is_method = spider is not None and getattr(method, "__self__", None) is spider
    return name if is_method and getattr(spider, name, None) == method else None


def by_rules(claim: Claim, spider: Spider | None) -> dict[str, Any]:
    """Return the note for a page that no page of a CrawlSpider has linked to, such as one from a hint.

    The note names the first rule that takes the page. It is empty, and the page goes to the default callback, if the
    spider is no CrawlSpider, if the page is one of its `start_urls`, or if no rule takes the page.
    """
    if not isinstance(spider, CrawlSpider) or claim.url in (spider.start_urls or ()):
        return {}
    for index, rule in enumerate(spider.rules):
        if rule.link_extractor.matches(claim.url):
            return {"callback": "_callback", "errback": "_errback", "meta": {"rule": index, "link_text": ""}}
    return {}


def unread(claim: Claim, note: str, spider: Spider | None) -> str:
    """Return the reason why no callback of the spider will get a page; empty if one will."""
    if json.loads(note or "{}").get("callback") or spider is None:
        return ""
    if isinstance(spider, CrawlSpider):
        if claim.url in (spider.start_urls or ()) or by_rules(claim, spider):
            return ""
        return "no rule of this spider takes it, so its links are followed by the rules, and no callback gets it"
    missing = all(getattr(type(spider), name) is getattr(Spider, name) for name in ("parse", "_parse"))
    return "it names no callback, and this spider has no parse()" if missing else ""


def resource_request(claim: Claim) -> Request:
    """Return the request for a claimed robots.txt or sitemap, or for the check of a link.

    No middleware of Scrapy redirects, retries, caches or drops the request: the brain has decided that it may be sent,
    and the target of a redirect becomes another claim.
    """
    meta: dict[str, Any] = {CLAIM: claim, "handle_httpstatus_all": True, "dont_obey_robotstxt": True}
    meta |= dict.fromkeys(("dont_redirect", "dont_retry", "dont_cache", "allow_offsite"), True)
    if claim.kind == "sitemap":
        meta |= {"download_maxsize": MOST_OF_SITEMAP, "download_warnsize": 0}
    method = claim.method or "GET"
    return Request(claim.url, read_by_brain, method, headers=_conditions(claim), meta=meta, dont_filter=True)


def read_by_brain(response: Response) -> None:
    """Make no items and no requests: the callback of a robots.txt, of a sitemap and of a link that is checked."""


def read_no_body(request: Request) -> None:
    """Stop the download of a link that is checked by GET. Scrapy calls this when it has the headers of an answer."""
    claim = request.meta.get(CLAIM)
    if claim is not None and claim.kind == "link":
        raise StopDownload(fail=False)


def _conditions(claim: Claim) -> dict[str, str]:
    """Return the headers of a conditional request: the server sends the page only if it has changed."""
    headers = {"If-None-Match": claim.etag, "If-Modified-Since": claim.last_modified}
    return {name: value for name, value in headers.items() if value}


def request_for(claim: Claim, note: str, spider: Spider | None) -> Request:
    """Return the request for a claimed page. Raises BadInput if its note names a method that the spider lacks."""
    parts = json.loads(note) if note else by_rules(claim, spider)
    methods: dict[str, Any] = {}
    for role in ("callback", "errback"):
        if name := parts.get(role):
            methods[role] = getattr(spider, name, None)
            if not callable(methods[role]):
                raise BadInput(f"{claim.url} is to be given to {name}(), which this spider does not have.")
    noted = parts.get("headers", {})
    headers = noted | {name: value for name, value in _conditions(claim).items() if name not in noted}
    meta = {**parts.get("meta", {}), "depth": claim.depth, CLAIM: claim}
    return Request(claim.url, headers=headers, cb_kwargs=parts.get("cb_kwargs"), meta=meta, **methods)
