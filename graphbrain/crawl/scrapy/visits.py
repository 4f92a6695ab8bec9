"""A visit of a claimed page or resource by Scrapy, and the report that is made of it."""

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

__all__ = ["PERMANENT", "ScrapyVisit", "error_text", "fault_of", "header", "location", "names_page"]

PERMANENT = (301, 308)
REDIRECTS = (*PERMANENT, *TEMPORARY)
SILENT = (
    *(CannotResolveHostError, DownloadConnectionRefusedError, DownloadTimeoutError, DownloadFailedError, TunnelError),
    *(ConnectError, ConnectionClosed, ResponseFailed, OSError),
)
"""The exceptions that mean that a host gave no answer."""
NOT_UNDERSTOOD = (DownloadCancelledError, ResponseDataLossError, StopDownload)
"""The exceptions that mean that an answer was too long, or broke off, or that its download was stopped on purpose."""


@dataclass(eq=False, slots=True)
class ScrapyVisit:
    """One claimed page until Scrapy has finished all requests that it led to.

    Attributes:
        number: The number of the visit in this process.
        claim: The claim.
        requests: The requests of the visit that are not finished.
        absent: Those of them that Scrapy did not have at the last check.
        links: URL → (text of the link, the spider's own guess of its relevance).
        notes: URL of a link → the note on its page.
        fingerprints: The fingerprints of the requests of the visit that are no links.
        response: The last answer of the page.
        moved_by: (status, target) of the first redirect, if the chain is reported and not followed.
        led_by: (status, target) of the first redirect, if the chain of redirects is too long or leads to no page.
        redirect_error: The error of a redirect to a URL that names no page; empty without one.
        redirect_error_status: The status of that redirect.
        error: The first error of a request, a middleware or a callback.
        fault: The fault to report if there is no answer.
        broken_off: True if the page is to be given back.
        dropped: True if a middleware refused to send the request.
    """

    number: int
    claim: Claim
    requests: set[Request] = field(default_factory=set)
    absent: set[Request] = field(default_factory=set)
    links: dict[str, tuple[str | None, float | None]] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    fingerprints: set[bytes] = field(default_factory=set)
    response: Response | None = None
    moved_by: tuple[int, str] | None = None
    led_by: tuple[int, str] | None = None
    redirect_error: str = ""
    redirect_error_status: int | None = None
    error: str = ""
    fault: Fault = "not_sent"
    broken_off: bool = False
    dropped: bool = False

    def unfetched(self, error: Exception) -> None:
        """Note an error because of which the page has no answer."""
        if not self.error and not isinstance(error, CloseSpider):
            self.fault, self.dropped = fault_of(error), isinstance(error, IgnoreRequest)
        self.raised(error)

    def raised(self, error: Exception) -> None:
        """Note the error of a callback or a middleware. CloseSpider is no fault of the page: it gives the page back."""
        if isinstance(error, CloseSpider):
            self.broken_off = True
        elif not self.error:
            self.error = error_text(error)

    def result(self, reader: Reader) -> Fetched | Failed | None:
        """Return the report of the visit; None gives the page back."""
        if self.broken_off:
            return None
        if self.claim.kind != "page":
            return self._resource().as_report()
        if (report := self._first_step() or self._unfollowed()) is not None:
            return report
        if self.response is None:
            error = self.error or "a middleware dropped the request, or its answer"
            return Failed(self.claim.url, self.claim, error=error, fault=self.fault)
        return self._answered(self.response, reader)

    def _first_step(self) -> Fetched | None:
        """Return the report of a page whose temporary redirects lead to no page: it names the first of them.

        None if they lead to a page, or if there are none. The target of the first redirect becomes a page, whose own
        visit shows how it fails or where it leads.
        """
        response = self.response
        if response is None:
            first = None if self.error else self.led_by
        elif 200 <= response.status < 300 or response.status in (429, 503) or response.request is None:
            first = None
        else:
            first = first_step(response.request)
        return first and self._leading(first)

    def _leading(self, first: tuple[int, str]) -> Fetched:
        """Return the report of a page that leads to another one, by a redirect or a refresh (status 200)."""
        status, target = first
        if status == 200:
            return Fetched(self.claim.url, (target,), self.claim, status, led_to=(target,))
        return Fetched(self.claim.url, (), self.claim, status, redirected_to=target)

    def _unfollowed(self) -> Fetched | Failed | None:
        """Return the report of a redirect that cannot be followed, or is not; None if there was none."""
        url, claim = self.claim.url, self.claim
        if self.redirect_error and (self.response is None or self.response.status in REDIRECTS):
            return Failed(url, claim, self.redirect_error_status, error=self.redirect_error)
        return self.moved_by and self._leading(self.moved_by)

    def _answered(self, response: Response, reader: Reader) -> Fetched | Failed:
        """Return the report of a page with an answer."""
        url, claim, status, seconds = self.claim.url, self.claim, response.status, latency(response)
        if status in REDIRECTS and (target := location(response)):
            return Fetched(url, (), claim, status, redirected_to=_led_on(response, target), seconds=seconds)
        # A callback that has made links has read the page. An error on a body that is no text is no fault of the page.
        failed_on_text = bool(self.error) and isinstance(response, TextResponse)
        if failed_on_text and not self.links:
            return Failed(url, claim, status, error=self.error, seconds=seconds)
        # Leave the validators out if a callback failed: the next visit then gets the whole page, changed or not.
        fields: dict[str, Any] = {"seconds": seconds}
        if not failed_on_text:
            fields["etag"] = header(response.headers.get("ETag"))
            fields["last_modified"] = header(response.headers.get("Last-Modified"))
        if status == 304:
            return Fetched(url, (), claim, status, not_modified=True, **fields)
        # A status like 404 is a failure, unless the spider has made links of the answer.
        if not 200 <= status < 300:
            if not self.links or status in (429, 503):
                body = response.body if status in (404, 410) else None  # by it soft 404 pages are recognised
                return Failed(url, claim, status, retry_after=_wait(response), seconds=seconds, body=body)
            return Fetched(url, [*self.links], claim, status, response.body, **fields)
        relevance, links = reader.read(response, self.links)
        # The content behind temporary redirects belongs to the address to which they lead.
        if (redirects := led(response)) is not None:
            first_status, chain = redirects
            links = [*links, *(chain[:1] if first_status == 200 else ())]  # the target of a refresh is a link, too
            return Fetched(url, links, claim, first_status, relevance=relevance, seconds=seconds, led_to=chain)
        facts, refresh = reader.facts(response)
        fields |= facts
        return Fetched(url, [*links, *refresh], claim, status, response.body, relevance=relevance, **fields)

    def _resource(self) -> Resource:
        """Return the result of a visit of a robots.txt, a sitemap, or a link that is checked."""
        url, claim, response = self.claim.url, self.claim, self.response
        if response is None:
            return Resource(url, claim, error=self.error or "a middleware dropped the request", fault=self.fault)
        # Report the target of the answer, the wait that it asks for, and its body unless a link is checked.
        status = response.status
        target = location(response) if 300 <= status < 400 else None
        return Resource(
            url,
            claim,
            status,
            response.body if 200 <= status < 300 and claim.kind != "link" else None,
            redirected_to=_led_on(response, target) if target else None,
            retry_after=_wait(response),
            seconds=latency(response),
            etag=header(response.headers.get("ETag")),
            last_modified=header(response.headers.get("Last-Modified")),
        )


def _wait(response: Response) -> float | None:
    """Return the seconds that `Retry-After` asks for, by the server's clock if the answer has a date."""
    now = retry_after.moment(header(response.headers.get("Date"))) or time.time()
    return retry_after.seconds(response.headers.get("Retry-After"), now)


def fault_of(error: Exception) -> Fault:
    """Return the fault to report for a request without an answer.

    An error before a request is sent, as by middlewares for robots.txt or foreign domains, is `not_sent`: it is no
    evidence of a fault of the host.
    """
    cause = error if isinstance(error, ResponseFailed) else error.__cause__
    if isinstance(cause, ResponseFailed):
        # The host is silent if the connection ended before the headers. It is not if something came that is no HTTP.
        reasons = [failure.value for failure in cause.reasons or ()]
        garbled = any(isinstance(reason, ParseError | ValueError) for reason in reasons)
        return "silent" if isinstance(cause, ResponseNeverReceived) and not garbled else "not_understood"
    if isinstance(error, NOT_UNDERSTOOD):
        return "not_understood"
    return "silent" if isinstance(error, SILENT) else "not_sent"


def error_text(error: Exception) -> str:
    """Return the text of an error for a report: at most 200 characters."""
    cause = error if isinstance(error, ResponseFailed) else error.__cause__
    reasons = (cause.reasons or ()) if isinstance(cause, ResponseFailed) else ()
    # The text of ResponseFailed itself lists its reasons as Python objects.
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
    """Return the URL to which a redirect leads. A target that is no URL stays as it is: the brain's answer names the
    fault."""
    try:
        return resolved(response.url, target)
    except BadInput:
        return target


def location(response: Response) -> str | None:
    """Return the header `Location`, if any, read as UTF-8. If it is not UTF-8, bytes beyond ASCII are escaped."""
    value = response.headers.get("Location")
    if not value:
        return None
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return "".join(chr(byte) if byte < 128 else f"%{byte:02X}" for byte in value)


def header(value: bytes | None) -> str | None:
    """Return the value of a header as text; None for an empty or missing one."""
    return value.decode("latin-1") if value else None
