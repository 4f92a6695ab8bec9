"""A crawler to copy: the standard library fetches, lxml reads, graphbrain decides.

    python crawler.py http://a.example/ http://b.example/

This crawls these hosts. Started again without a URL, it continues. Two processes of it share the work.

One loop claims as many pages as threads are free, and reports their results in batches of any size. The brain chooses
the next pages, keeps the delays of hosts, gives each page to one process only, and lets another process claim a page if
this one dies. The robots.txt and the sitemaps of hosts are claims, too: the crawler fetches them, and the brain reads
and obeys them. Temporary redirects of pages are followed. A permanent one is reported, so that the page becomes an
alias of its target. With a `judge` (TopicRelevance, or any function of a text) the crawler follows a topic: pages are
reported with their relevance, and links with a guess. A judge that raises does not end the crawl.

Add your own use of the pages. The crawler's name is the brain's `user_agent`: set it to your crawler's name and a
way to reach you.
"""

from __future__ import annotations

import argparse
import codecs
import logging
import sys
import threading
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import replace
from http.client import HTTPException, HTTPResponse, InvalidURL, RemoteDisconnected
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urldefrag, urlsplit
from urllib.request import (
    BaseHandler,
    HTTPErrorProcessor,
    HTTPRedirectHandler,
    OpenerDirector,
    Request,
    build_opener,
)

from lxml import etree
from w3lib.encoding import html_to_unicode

from graphbrain import Answer, Brain, Claim, Claims, Failed, Fetched, GraphbrainError, Link, Resource
from graphbrain.base.urls.normalization import resolved, without_user
from graphbrain.content import retry_after
from graphbrain.errors import BadInput
from graphbrain.frontier.hosts.robots import product
from graphbrain.model import Fault
from graphbrain.pagefacts import HEADERS, PageFacts
from graphbrain.relevance import guess

__all__ = ["FollowedRedirects", "HtmlPage", "TemporaryRedirects", "crawl", "fetch", "main"]

LARGEST = 2_000_000  # bytes that are read of a page or a robots.txt
LARGEST_SITEMAP = 52_428_800  # bytes that are read of a sitemap: the limit of sitemaps.org
TIMEOUT = 10.0  # seconds of silence after which a fetch has failed
LONGEST = 60.0  # seconds after which it has failed, even if data still comes: less than a lease
MOST_REDIRECTS = 5  # temporary redirects that are followed, one after another
# encodings that can be unpacked, and zlib's parameter for each
UNPACKED = {"identity": 0, "gzip": 47, "x-gzip": 47, "deflate": 47}
KINDS = ("page", "robots", "sitemap")  # the kinds of claims

log = logging.getLogger("crawler")

Judge = Callable[[str], float | None]
"""The relevance of a text to the topic, 0 to 1; None: unknown."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command, and return its exit code."""
    parser = argparse.ArgumentParser(description="Crawl the hosts of these URLs; without any, go on.")
    parser.add_argument("urls", nargs="*", metavar="URL")
    parser.add_argument("--threads", type=int, default=8, help="fetches at the same time (8)")
    parser.add_argument("--limit", type=int, default=sys.maxsize, help="end after so many pages")
    parser.add_argument("--patience", type=float, default=30, help="end when the next page is further away (30 s)")
    parser.add_argument("--now-only", action="store_true", help="only the pages that 'graphbrain now' has asked for")
    given = parser.parse_args(arguments)
    if strange := [url for url in given.urls if not url.startswith(("http://", "https://"))]:
        parser.error(f"give URLs, as in http://a.example/, not {strange[0]!r}")
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    hosts = sorted({urlsplit(url).netloc.rpartition("@")[2] for url in given.urls})
    try:
        # The scope belongs to the brain: if a crawl exists already, another scope is refused.
        with Brain.open(allow_hosts=" ".join(hosts) or None) as brain:
            answer = brain.seed(given.urls)
            for url, why in (*answer.refused, *answer.remarks):
                log.warning("%s: %s", url, why)
            visits = crawl(
                brain, threads=given.threads, limit=given.limit, patience=given.patience, now_only=given.now_only
            )
            stats = brain.stats()
            log.info("%s pages known, %s of them fetched", stats["pages"], stats["states"].get("known", 0))
            if given.urls and not visits:
                print("crawler: nothing was fetched.", file=sys.stderr)
                return 1
    except GraphbrainError as error:
        print(f"crawler: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("crawler: stopped; its claims are given back.", file=sys.stderr)
        return 130
    return 0


def crawl(
    brain: Brain,
    *,
    threads: int = 8,
    limit: int = sys.maxsize,
    patience: float = float("inf"),
    handlers: Sequence[BaseHandler] = (),
    judge: Judge | None = None,
    robots: bool = True,
    stop: threading.Event | None = None,
    now_only: bool = False,
    on_page: Callable[[Fetched | Failed, Answer], None] = lambda *_: None,
) -> int:
    """Crawl until nothing is left to fetch, `limit` pages are reported, or `stop` is set. Return the number of pages
    that were reported.

    Ctrl-C ends it with KeyboardInterrupt, after the claims have been given back.

    Args:
        brain: The open brain.
        threads: The number of concurrent fetches.
        limit: The largest number of pages. A robots.txt or a sitemap does not count.
        patience: Also end if the next claim is further away than this number of seconds. A retry after an error can be
            minutes or days away. If only hosts that do not answer have pages left, the seconds count from the last
            answer of another host.
        handlers: Handlers of urllib, for a proxy or cookies.
        judge: The relevance of a text.
        robots: Fetch robots.txt and sitemaps, too; otherwise the brain uses the robots.txt that it has.
        stop: Ends the crawl when it is set.
        now_only: Fetch only the pages that were named to `crawl_now`.
        on_page: Is called after each report of a page.
    """
    # Prepare one opener of connections for all threads.
    opener = build_opener(TemporaryRedirects, FollowedRedirects, *handlers)
    opener.addheaders = [("User-Agent", brain.settings.user_agent)]
    judge = judge and _forgiving(judge)
    kinds = KINDS if robots else KINDS[:1]
    stop = stop or threading.Event()
    fetches, reported, paused, last_good = dict[Future[Fetched | Failed], Claim](), 0, False, time.monotonic()

    with ThreadPoolExecutor(threads, "fetch") as pool:
        try:
            while not stop.is_set():
                # Claim only what can be fetched at once, because a claim permits a request now and not later. Each
                # claim may be of a page, and at most `limit` pages may be claimed.
                pages = reported + sum(claim.kind == "page" for claim in fetches.values())
                free, pause = min(threads - len(fetches), limit - pages), 0 if fetches else 1
                claims = brain.next_urls(free, wait=pause, now_only=now_only, kinds=kinds) if free > 0 else Claims(())
                paused = _paused(claims, announced=paused)
                fetches |= {pool.submit(fetch, opener, claim, judge): claim for claim in claims}
                # End if no fetch runs, and none can begin within the limit and the patience.
                if not fetches and reported >= limit:
                    return reported
                since_good = time.monotonic() - last_good
                if not fetches and (claims.finished or _is_far(claims, brain.now() + patience, since_good)):
                    log.info("Nothing more can be fetched now: %s.", claims.why(brain.stats()))
                    return reported
                # Report the fetches that have ended.
                done = wait(fetches, timeout=0.2, return_when=FIRST_COMPLETED).done
                results = [future.result() for future in done]
                for result, answer in zip(results, brain.report(results), strict=True):
                    status = result.status or getattr(result, "error", None)
                    log.info("%s %s %s, %s links", answer.outcome or answer.reason, status, answer.url, answer.links)
                    last_good = last_good if isinstance(result, Failed) else time.monotonic()
                    if result.claim is not None and result.claim.kind == "page":
                        reported += 1
                        on_page(result, answer)
                fetches = {future: claim for future, claim in fetches.items() if future not in done}
            brain.give_back(fetches.values())
            return reported
        except BaseException as error:  # Ctrl-C, or an error of the caller's functions
            if not getattr(error, "try_again", False):  # otherwise the brain cannot be reached: the leases lapse
                brain.give_back(fetches.values())
            raise


def _is_far(claims: Claims, latest: float, waited: float) -> bool:
    """Return True if no page can be claimed until `latest` (epoch seconds).

    `waited`: seconds since the last good answer. They shorten the wait for a probe: the next probe of a host that does
    not answer is always near, so that the crawl would never end.
    """
    if claims.next_ready is None:
        return False
    is_far = claims.next_ready > latest - (waited if claims.next_because == "probe" else 0.0)
    return is_far and (claims.next_unfailed is None or claims.next_unfailed > latest)


def _paused(claims: Claims, *, announced: bool) -> bool:
    """Return True if the brain is paused, and log the first time."""
    if claims.paused and not announced:
        log.info("Nothing can be claimed: %s.", claims.why({}))
    return claims.paused


def _forgiving(judge: Judge) -> Judge:
    """Return a judge that returns None (unknown) if `judge` raises, and logs the first exception."""
    first = threading.Lock()  # the first failure acquires it, and logs

    def ask(text: str) -> float | None:
        try:
            return judge(text)
        except Exception as error:  # noqa: BLE001  # any of the caller's
            if first.acquire(blocking=False):
                log.warning("The judge failed, so nothing is known of such texts: %r", error)
            return None

    return ask


def fetch(opener: OpenerDirector, claim: Claim, judge: Judge | None = None) -> Fetched | Failed:
    """Fetch the claimed URL and return the report. No answer of a server makes this function raise."""
    # Send the validators of the last visit with the request.
    conditions = {"If-None-Match": claim.etag, "If-Modified-Since": claim.last_modified}
    headers = {name: value for name, value in conditions.items() if value}
    request, began, response = Request(claim.url, headers=headers), time.monotonic(), None
    request.led_to = []  # type: ignore[attr-defined]  # FollowedRedirects adds each redirect
    # A redirect of a robots.txt or a sitemap is not followed: its target becomes a claim, and its host has a delay.
    request.follows = (302, 303, 307) if claim.kind == "page" else ()  # type: ignore[attr-defined]
    agent = product(dict(opener.addheaders).get("User-Agent", ""))
    # Report the answer or the failure.
    result: Fetched | Failed
    try:
        with opener.open(request, timeout=TIMEOUT) as response:
            if claim.kind == "page":
                result = _result(claim, response, judge, getattr(request, "led_to", ()), agent)
            else:
                result = _resource(claim, response)
    except HTTPError as error:  # redirects in a circle, or to a URL of another scheme
        led = _first_step(claim, getattr(request, "led_to", ()))
        result = led or Failed(claim.url, claim, error.code, error=" ".join(str(error).split()))
    except (OSError, HTTPException, ValueError) as error:
        result = _unread(claim, error, response is not None)
    return replace(result, seconds=time.monotonic() - began)


def _unread(claim: Claim, error: Exception, answered: bool) -> Failed:
    """Return the failure of a claim without a status. `answered`: the headers of an answer have come, so the host is
    not silent."""
    fault: Fault = "silent"
    if answered or (isinstance(error, HTTPException) and not isinstance(error, InvalidURL | RemoteDisconnected)):
        fault = "not_understood"  # an answer that breaks off, has too many headers, or is no HTTP
    elif isinstance(error, InvalidURL | ValueError):
        fault = "not_sent"  # urllib cannot request such a URL
    return Failed(claim.url, claim, error=f"{type(error).__name__}: {error}", fault=fault)


def _result(
    claim: Claim, response: HTTPResponse, judge: Judge | None, led: Sequence[tuple[int, str]], agent: str
) -> Fetched | Failed:
    """Return the report of a page. `led`: the status and the target of each redirect that was followed."""
    # Some answers have no page: a redirect to an error, an unchanged page, a permanent redirect, or an error.
    url, status, head = claim.url, response.status, response.headers
    if led and not 200 <= status < 300 and status not in (429, 503) and (first := _first_step(claim, led)):
        return first
    stamps: dict[str, Any] = {"etag": head["ETag"], "last_modified": head["Last-Modified"]}
    stamps["content_type"] = head["Content-Type"]
    if status == 304:
        return Fetched(url, (), claim, status, not_modified=True, **stamps)
    if status in (301, 308) and (place := _location(response)):
        with suppress(BadInput):  # a bad URL is reported as it is, and the brain's answer names the fault
            place = resolved(url, place)
        return Fetched(url, (), claim, status, redirected_to=place)
    if not 200 <= status < 300:
        return _failed(claim, response)
    # Read the page, and what it states about itself.
    body = _read(response, LARGEST)
    page = HtmlPage(response.url, {name: head.get_all(name, []) for name in HEADERS}, agent)
    if "html" in (head["Content-Type"] or "html").lower():  # the header may be missing or wrong
        page.read(body, head["Content-Type"])
    relevance = judge and judge(" ".join(page.text))
    facts: dict[str, Any]
    if led:  # after a redirect the content belongs to another address
        status, stamps, facts = led[0][0], {}, {"led_to": [url for _, url in led]}
    else:
        facts = {**page.facts.arguments(), "size": len(body), "led_to": page.leads_at_once()}
    # Report its links, unless it forbids to follow them.
    links = [
        Link(link, guess(relevance, judge(text)) if judge else None, anchor=text, rel=rel)
        for link, text, rel in zip(page.links, page.anchors, page.rels, strict=True)
        if not page.facts.forbids("nofollow")
    ]
    return Fetched(url, links, claim, status, body, relevance=relevance, **stamps, **facts)


def _resource(claim: Claim, response: HTTPResponse) -> Fetched | Failed:
    """Return the report of a robots.txt or a sitemap, whose body the brain reads."""
    status, head, body = response.status, response.headers, None
    if status >= 400:
        return _failed(claim, response)
    if status < 300:
        body = _read(response, LARGEST_SITEMAP if claim.kind == "sitemap" else LARGEST)
    leads = _location(response) if status >= 300 else None
    etag, modified = head["ETag"], head["Last-Modified"]
    return Resource(claim.url, claim, status, body, redirected_to=leads, etag=etag, last_modified=modified).as_report()


def _location(response: HTTPResponse) -> str | None:
    """Return the target of a redirect. Browsers read the header as UTF-8, and so does this function."""
    header = response.headers["Location"]
    return header and header.encode("latin-1", "replace").decode("utf-8", "replace")


def _first_step(claim: Claim, led: Sequence[tuple[int, str]]) -> Fetched | None:
    """Return the first temporary redirect of a page as its report; None without any redirect.

    This is the report of a page whose redirects end in an error. The target is claimed as another page, and gets the
    next redirect or the error.
    """
    return Fetched(claim.url, (), claim, led[0][0], redirected_to=led[0][1]) if led else None


def _failed(claim: Claim, response: HTTPResponse) -> Failed:
    now = retry_after.moment(response.headers["Date"]) or time.time()  # a date refers to the server's clock
    wait = retry_after.seconds(response.headers["Retry-After"], now)
    body = _read(response, LARGEST) if response.status in (404, 410) else None  # to recognise it under a status of 200
    return Failed(claim.url, claim, response.status, retry_after=wait, body=body)


def _read(response: HTTPResponse, most: int) -> bytes:
    """Return the body up to `most` bytes. Some servers pack it although the request did not allow that: unpack it.

    Raises:
        TimeoutError: The body has not ended after `LONGEST` seconds.
        ValueError: The body cannot be unpacked.
    """
    body, end = bytearray(), time.monotonic() + LONGEST
    packed = (response.headers["Content-Encoding"] or "identity").strip().lower()
    if packed not in UNPACKED:
        raise ValueError(f"the page is packed by {packed[:20]}, which was not asked for")
    unpack = zlib.decompressobj(UNPACKED[packed]) if UNPACKED[packed] else None
    while len(body) < most and (more := response.read1(most - len(body))):
        try:
            body += more if unpack is None else unpack.decompress(more, most - len(body))
        except zlib.error as error:
            raise ValueError(f"the page cannot be unpacked: {error}") from None
        if time.monotonic() > end:
            raise TimeoutError(f"the page has not ended after {LONGEST:.0f} seconds")
    return bytes(body)


class HtmlPage:
    """The parser of a page: its absolute links in their order, the text and the rel of each, all its text, and its
    facts.

    A broken page is read as in browsers. libxml2 parses it in time proportional to its length.
    """

    def __init__(self, url: str, headers: Mapping[str, Sequence[str]] | None = None, agent: str = "") -> None:
        self.facts, self.links = PageFacts(url, headers, agent), list[str]()
        self.anchors, self.text = list[str](), list[str]()
        self.rels = list[str | None]()
        self.in_link, self.alt = False, ""
        self.aside = 0  # the number of open templates, whose content is no part of the page
        self.silent = False

    def read(self, html: bytes, content_type: str | None) -> HtmlPage:
        """Parse a page with this Content-Type header. A byte order mark overrides its charset, which overrides
        `<meta>`."""
        try:
            _, text = html_to_unicode(content_type, html, default_encoding="cp1252", auto_detect_fun=_utf_8)
        except (LookupError, ValueError):  # hex and similar codecs do not return text
            text = html.decode("cp1252", "replace")
        parser = etree.HTMLParser(target=self, encoding="utf-8", huge_tree=True)
        with suppress(etree.LxmlError):  # it is empty
            parser.feed(text.encode("utf-8", "replace"))
            parser.close()
        if refresh := self.facts.refresh():
            self._add(refresh[1], None)
        return self

    def leads_at_once(self) -> list[str]:
        """Return the targets of a refresh in 0 seconds."""
        refresh = self.facts.refresh()
        return [refresh[1]] if refresh and refresh[0] == 0 else []

    def start(self, tag: str, attrs: Mapping[str, str]) -> None:
        """Process the start of an element. The parser calls this method and those below."""
        self.silent = tag in ("script", "style")
        self.aside += tag == "template"
        self.facts.start(tag, attrs)
        if (href := attrs.get("href")) and tag in ("a", "area") and not self.aside:
            href = href.strip()
            with suppress(BadInput):  # a bad URL is reported as it is, and the brain's answer names the fault
                href = resolved(self.facts.base, href)
            self._add(href, attrs.get("rel"))
            self.in_link, self.alt = tag == "a", ""
        elif tag == "img" and self.in_link:
            self.alt += f" {attrs.get('alt') or ''}"

    def _add(self, link: str, rel: str | None) -> None:
        self.links.append(link)
        self.anchors.append("")
        self.rels.append(rel)

    def end(self, tag: str) -> None:
        self.silent = False
        self.aside -= tag == "template"
        self.facts.end(tag)
        if tag == "a" and self.in_link:
            # The text of a link without text is that of its images.
            self.anchors[-1] = self.anchors[-1] if self.anchors[-1].strip() else self.alt.strip()
            self.in_link = False

    def data(self, data: str) -> None:
        self.facts.data(data)
        if not self.silent:
            self.text.append(data)
            if self.in_link:
                self.anchors[-1] += data

    def close(self) -> None:
        """Process the end of the page, which needs no result."""


def _utf_8(html: bytes) -> str | None:
    """Return the encoding of a page that names none, if it is UTF-8."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(html)  # the text may be cut in the middle of a letter
    except UnicodeDecodeError:
        return None
    return "utf-8"


class FollowedRedirects(HTTPRedirectHandler):
    """A redirect handler that follows at most five redirects, and adds the status and target of each to the request's
    `led_to`."""

    max_redirections = MOST_REDIRECTS

    def redirect_request(self, req: Request, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Request | None:
        # urllib would look up a user name as a part of the host, and send the fragment to a proxy: remove both.
        newurl = without_user(urldefrag(newurl).url)
        request = super().redirect_request(req, fp, code, msg, headers, newurl)
        if request is not None:
            led = request.led_to = getattr(req, "led_to", [])  # type: ignore[attr-defined]
            led.append((code, newurl))
        return request


class TemporaryRedirects(HTTPErrorProcessor):
    """A processor of answers that follows temporary redirects, and any redirects after them. No status raises an
    exception."""

    def http_response(self, request: Request, response: HTTPResponse) -> Any:
        # `unverifiable` marks a request that urllib makes for a redirect.
        followed = (301, 302, 303, 307, 308) if request.unverifiable else getattr(request, "follows", (302, 303, 307))
        if response.status in followed:
            return super().http_response(request, response)
        return response

    https_response = http_response


if __name__ == "__main__":
    sys.exit(main())
