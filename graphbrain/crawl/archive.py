"""The capture of Scrapy's answers as WARC records, before a middleware unpacks them.

Facts that Twisted does not keep are rebuilt: the order of headers and the case of their names, the reason phrase, and
the framing of the body (a transfer coding is taken off, the content coding stays). Headers given by the user, cookies
and logins are withheld.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.http import Headers, Response
from scrapy.utils.httpobj import urlparse_cached

from graphbrain import __version__
from graphbrain.crawl.scrapy import EVERY
from graphbrain.crawl.secrets import withheld
from graphbrain.crawl.spider import RunMiddleware
from graphbrain.crawl.warc import Archive, Exchange

if TYPE_CHECKING:
    from graphbrain.crawl.order import CrawlOrder

__all__ = ["Archiving", "info_of"]

REBUILT = (
    "the order of headers and the case of their names, reason phrases and the Host header are rebuilt; a transfer "
    "coding is taken off, the content coding is kept; Cookie, Authorization and headers given by the user are withheld"
)


def info_of(order: CrawlOrder, agent: str, scope: str) -> dict[str, str]:
    """Return the fields of a warcinfo record."""
    info = {
        "software": f"graphbrain/{__version__}",
        "format": "WARC File Format 1.1",
        "conformsTo": "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
        "robots": "obey",
        "http-header-user-agent": agent,
        "description": REBUILT,
        "graphbrain-scope": scope,
        "graphbrain-nofollow": "ignore" if order.follow_all else "obey",
    }
    if order.has_session:
        info["graphbrain-withheld"] = "Set-Cookie"
    return {name: " ".join(value.split()) for name, value in info.items() if value}


class Archiving(RunMiddleware):
    """A downloader middleware that writes each exchange of this crawl."""

    PLACE = 905

    def process_response(self, request: Request, response: Response) -> Response:
        """Write the exchange, and return the answer unchanged. Scrapy calls this with each answer."""
        run = self.run
        visit = run.visit_of(request)
        if request.meta.get(EVERY):
            return response  # a login: its form has the password
        if visit is not None and visit.claim.kind == "link":
            return response  # the check of a link that leaves the scope is no part of the site
        if run.archive is not None and not run.failure:
            try:
                run.archive.write(_exchange(run.order, request, response))
            except OSError as error:
                run.fail(f"the archive cannot be written ({error.strerror or error}); make room, and go on.")
        if run.failure and visit is not None:
            visit.broken_off = True  # it is given back: what is not archived does not count as fetched
        return response


def _exchange(order: CrawlOrder, request: Request, response: Response) -> Exchange:
    hidden = withheld(order.headers)
    netloc = urlparse_cached(request).netloc.rpartition("@")[2]
    sent = [("Host", netloc), *_pairs(request.headers, hidden)]
    got = list(_pairs(response.headers, frozenset({"set-cookie"}) if order.has_session else frozenset()))
    ip = None if response.ip_address is None else str(response.ip_address)
    return Exchange(
        request.url.partition("#")[0], request.method, sent, request.body, response.status,
        response.protocol or "HTTP/1.1", got, response.body, datetime.now(UTC), ip,
    )  # fmt: skip


def _pairs(headers: Headers, without: frozenset[str]) -> Iterator[tuple[str, str]]:
    for name, values in headers.items():
        text = name.decode("latin-1")
        if text.lower() not in without:
            yield from ((text, _line(value)) for value in values)


def _line(value: Any) -> str:
    return " ".join(value.decode("latin-1").split("\n")).replace("\r", " ")


def archive_of(order: CrawlOrder, agent: str, scope: str) -> Archive:
    """Return the archive of an order, which names its folder."""
    assert order.warc is not None
    return Archive(order.warc, info_of(order, agent, scope), order.warc_size)
