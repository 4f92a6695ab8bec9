"""A visit: a claimed page until Scrapy has finished all requests that it led to."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from scrapy import Request
from scrapy.core.downloader.handlers.http11 import TunnelError
from scrapy.exceptions import (
    CannotResolveHostError,
    CloseSpider,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    IgnoreRequest,
    ResponseDataLossError,
    StopDownload,
)
from scrapy.http import Response, TextResponse
from twisted.internet.error import ConnectError, ConnectionClosed
from twisted.web._newclient import ParseError
from twisted.web.client import ResponseFailed, ResponseNeverReceived

from graphbrain import Claim, Failed, Fetched
from graphbrain.base.errors import BadInput
from graphbrain.base.model import Fault, Resource
from graphbrain.base.urls.normalization import address, resolved
from graphbrain.content import retry_after
from graphbrain.content.report_semantics import TEMPORARY
from graphbrain.crawl.scrapy.requests import Reader, first_step, latency, led

__all__ = ["PERMANENT", "ScrapyVisit", "fault_of", "header", "location", "names_page", "said"]

PERMANENT = (301, 308)
REDIRECTS = (*PERMANENT, *TEMPORARY)
SILENT = (
    *(CannotResolveHostError, DownloadConnectionRefusedError, DownloadTimeoutError, DownloadFailedError, TunnelError),
    *(ConnectError, ConnectionClosed, ResponseFailed, OSError),
)
"""The exceptions where a host gave no answer."""
NOT_UNDERSTOOD = (DownloadCancelledError, ResponseDataLossError, StopDownload)
"""The exceptions where an answer was too long, or broke off, or was not to be read to its end."""


@dataclass(eq=False, slots=True)
class ScrapyVisit:
    """One claimed page until Scrapy has finished all requests that it led to."""

    number: int
    claim: Claim
    requests: set[Request] = field(default_factory=set)
    ended: set[Request] = field(default_factory=set)
    """Those that Scrapy seemed to have done with at the last look."""
    links: dict[str, tuple[str | None, float | None]] = field(default_factory=dict)
    """URL → the text of the link, and the spider's own guess of its relevance."""
    notes: dict[str, str] = field(default_factory=dict)
    fingerprints: set[bytes] = field(default_factory=set)
    response: Response | None = None
    moved_to: str = ""
    moved_by: int = PERMANENT[0]
    """the status of that redirect"""
    led_by: tuple[int, str] | None = None
    """its first redirect, where as many for now came after it as are followed, or one that cannot be"""
    lost: str = ""
    """the error of a redirect to what is no page, and its status"""
    lost_by: int | None = None
    error: str = ""
    fault: Fault = "not_sent"
    """whose fault it is that there is no answer to be reported"""
    broken_off: bool = False
    dropped: bool = False
    """has a middleware refused to send the request?"""

    def unfetched(self, error: Exception) -> None:
        """The request, or a middleware in the place of the server, has raised this."""
        if not self.error and not isinstance(error, CloseSpider):
            self.fault, self.dropped = fault_of(error), isinstance(error, IgnoreRequest)
        self.raised(error)

    def raised(self, error: Exception) -> None:
        """A callback or a middleware has raised this; CloseSpider is no fault of the page."""
        if isinstance(error, CloseSpider):
            self.broken_off = True
        elif not self.error:
            self.error = said(error)

    def result(self, reader: Reader) -> Fetched | Failed | None:
        """Return the report of the visit; None gives the page back."""
        url, claim, response = self.claim.url, self.claim, self.response
        if self.broken_off:
            return None
        if claim.kind != "page":
            return self._resource().as_report()
        if (first := self._first_step()) is not None:
            return first
        if self.lost and (response is None or response.status in REDIRECTS):
            return Failed(url, claim, self.lost_by, error=self.lost)
        if self.moved_to:
            return Fetched(url, (), claim, self.moved_by, redirected_to=self.moved_to)
        if response is None:
            error = self.error or "a middleware dropped the request, or its answer"
            return Failed(url, claim, error=error, fault=self.fault)
        status, head, took = response.status, response.headers, latency(response)
        if status in REDIRECTS and (target := location(response)):
            return Fetched(url, (), claim, status, redirected_to=_led_on(response, target), seconds=took)
        # A spider that has made requests of it has read the page; one that raises on what is not text never could.
        if self.error and not self.links and isinstance(response, TextResponse):
            return Failed(url, claim, status, error=self.error, seconds=took)
        # Without them, a page that was read in part is read in full the next time, changed or not.
        partly = bool(self.error) and isinstance(response, TextResponse)
        etag, modified = (None if partly else header(head.get(name)) for name in ("ETag", "Last-Modified"))
        fields: dict[str, Any] = {"etag": etag, "last_modified": modified, "seconds": took}
        if status == 304:
            return Fetched(url, (), claim, status, not_modified=True, **fields)
        good = 200 <= status < 300
        if not good and (not self.links or status in (429, 503)):
            now = retry_after.moment(header(head.get("Date"))) or time.time()  # a date is by the server's clock
            wait = retry_after.seconds(head.get("Retry-After"), now)
            body = response.body if status in (404, 410) else None  # other pages may look like it
            return Failed(url, claim, status, retry_after=wait, seconds=took, body=body)
        near, links = reader.read(response, self.links) if good else (None, [*self.links])
        if (elsewhere := led(response)) is not None and good:  # the content is that of another address
            status, chain = elsewhere
            links = [*links, *(chain[:1] if status == 200 else ())]  # a refresh is a link, too
            return Fetched(url, links, claim, status, relevance=near, seconds=took, led_to=chain)
        if good:
            facts, more = reader.facts(response)
            fields, links = fields | facts, [*links, *more]
        return Fetched(url, links, claim, status, response.body, relevance=near, **fields)

    def _first_step(self) -> Fetched | None:
        """Return the report of a page whose temporary redirects end in no page, by the first of them; None where they
        end in one, or there are none. Its target is a page that is claimed, too, and that fails itself, or leads on."""
        response = self.response
        if response is None:
            first = None if self.error else self.led_by
        elif 200 <= response.status < 300 or response.status in (429, 503) or response.request is None:
            first = None
        else:
            first = first_step(response.request)
        return first and Fetched(self.claim.url, (), self.claim, first[0], redirected_to=first[1])

    def _resource(self) -> Resource:
        """Return the result of a claim that is not of a page."""
        url, claim, response = self.claim.url, self.claim, self.response
        if response is None:
            return Resource(url, claim, error=self.error or "a middleware dropped the request", fault=self.fault)
        # An answer: where it leads, when to try again, and its body unless it is a link to check.
        head, status = response.headers, response.status
        target = location(response) if 300 <= status < 400 else None
        now = retry_after.moment(header(head.get("Date"))) or time.time()
        return Resource(
            url,
            claim,
            status,
            response.body if 200 <= status < 300 and claim.kind != "link" else None,
            redirected_to=_led_on(response, target) if target else None,
            retry_after=retry_after.seconds(head.get("Retry-After"), now),
            seconds=latency(response),
            etag=header(head.get("ETag")),
            last_modified=header(head.get("Last-Modified")),
        )


def fault_of(error: Exception) -> Fault:
    """Return whose fault it is that a request brought no answer. An error before it is sent, as by middlewares for
    robots.txt or foreign domains, is no evidence on the host."""
    cause = error if isinstance(error, ResponseFailed) else error.__cause__
    if isinstance(cause, ResponseFailed):
        # Its head has come, or what came is no head of HTTP: else all reasons are that the connection ended.
        reasons = [failure.value for failure in cause.reasons or ()]
        garbled = any(isinstance(reason, ParseError | ValueError) for reason in reasons)
        return "silent" if isinstance(cause, ResponseNeverReceived) and not garbled else "not_understood"
    if isinstance(error, NOT_UNDERSTOOD):
        return "not_understood"
    return "silent" if isinstance(error, SILENT) else "not_sent"


def said(error: Exception) -> str:
    """Return the text of a report on a request without an answer, or on an error in the crawler's own code."""
    cause = error if isinstance(error, ResponseFailed) else error.__cause__
    reasons = (cause.reasons or ()) if isinstance(cause, ResponseFailed) else ()
    # The text of a failed response lists its reasons as Python objects.
    text = "; ".join(dict.fromkeys(reason.getErrorMessage() for reason in reasons)) or str(error)
    return f"{type(error).__name__}: {text}"[:200]


def names_page(response: Response, target: str) -> bool:
    """Return whether a redirect to this target leads to a page of the web."""
    try:
        address(resolved(response.url, target))
    except BadInput:
        return False
    return True


def _led_on(response: Response, target: str) -> str:
    """Return the URL to which a redirect leads, or its text if that is no URL: the brain's answer names the fault."""
    try:
        return resolved(response.url, target)
    except BadInput:
        return target


def location(response: Response) -> str | None:
    """Return the reference to which an answer leads, if any. Letters are UTF-8, and other bytes stay what they are."""
    value = response.headers.get("Location")
    if not value:
        return None
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return "".join(chr(byte) if byte < 128 else f"%{byte:02X}" for byte in value)


def header(value: bytes | None) -> str | None:
    """The value of a header as text."""
    return value.decode("latin-1") if value else None
