"""A middleware that writes Scrapy's answers as WARC records, before another middleware unpacks them.

Twisted does not keep the order of headers, the case of their names, and the reason phrase: they are rebuilt. The
transfer coding of a body is removed, and its content coding stays. Headers that the user gives, cookies and logins are
not written.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.http import Headers, Response
from scrapy.utils.httpobj import urlparse_cached

from graphbrain import __version__
from graphbrain.crawl.downloading import CUT_OFF
from graphbrain.crawl.scrapy import EVERY
from graphbrain.crawl.secrets import withheld
from graphbrain.crawl.spider import RunMiddleware
from graphbrain.crawl.warc import Archive, Exchange

if TYPE_CHECKING:
    from graphbrain.crawl.order import CrawlOrder
    from graphbrain.crawl.spider import Running

__all__ = ["Archiving", "archive_of", "info_of"]

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


class Archiving:
    """The archive of a run, as its parts use it."""

    def __init__(self, run: Running, archive: Archive) -> None:
        self._run, self._archive = run, archive

    def keep(self, request: Request, response: Response) -> None:
        """Write a request and its answer, as the server sent it. The run ends if they cannot be written."""
        run = self._run
        visit = run.visit_of(request)
        if request.meta.get(EVERY):
            return  # a login: its form has the password
        if visit is not None and visit.claim.kind == "link":
            return  # the target of a link that is checked is no part of the site
        if not run.failure:
            with self._failing():
                self._archive.write(_exchange(run.order, request, response))
        if run.failure and visit is not None:
            visit.broken_off = True  # a page that is not archived is given back

    def holds(self, request: Request, etag: str | None, modified: str | None) -> bool:
        """Return whether the archive has the content to which a 304 with these validators refers."""
        with self._failing():
            return self._archive.holds(_url(request), etag, modified)
        return False

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """Let the run end, with the reason, after an error of the archive within the block."""
        try:
            yield
        except OSError as error:
            self._run.fail(f"the archive cannot be written ({error.strerror or error}); make room, and go on.")


class ArchiveStep(RunMiddleware):
    """A downloader middleware that archives each answer, except those that show the end of a session."""

    PLACE = 905
    """Nearer to the network than all middlewares that change an answer. Only `SignedOut` (950) is nearer."""

    def process_response(self, request: Request, response: Response) -> Response:
        """Archive an answer, and return it unchanged. Scrapy calls this with each answer."""
        if self.run.archive is not None:
            self.run.archive.keep(request, response)
        return response


def _url(request: Request) -> str:
    return request.url.partition("#")[0]


def _exchange(order: CrawlOrder, request: Request, response: Response) -> Exchange:
    hidden = withheld(order.headers)
    netloc = urlparse_cached(request).netloc.rpartition("@")[2]
    sent = [("Host", netloc), *_pairs(request.headers, hidden)]
    got = list(_pairs(response.headers, frozenset({"set-cookie"}) if order.has_session else frozenset()))
    ip = None if response.ip_address is None else str(response.ip_address)
    return Exchange(
        _url(request), request.method, sent, request.body, response.status,
        response.protocol or "HTTP/1.1", got, response.body, datetime.now(UTC), ip,
        "disconnect" if CUT_OFF in response.flags else "",
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
    return Archive(order.warc, info_of(order, agent, scope), order.warc_size, order.bare_urls())
