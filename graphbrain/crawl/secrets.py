"""Cookies and headers that a user gives: sent to hosts of the scope, and to no other.

They are put on a request just before it is sent, after every step that keeps, copies or logs requests: no note of the
brain, no log and no archive has them. A redirect copies the headers of its request, so a request that leaves the scope
loses them here.
"""

from __future__ import annotations

from collections.abc import Sequence
from http.cookiejar import LoadError, MozillaCookieJar
from pathlib import Path
from typing import Any

from scrapy import Request
from scrapy.downloadermiddlewares.cookies import CookiesMiddleware

from graphbrain.crawl.spider import RunMiddleware, Running
from graphbrain.errors import BadInput

__all__ = ["GivenCookies", "Secrets", "cookies_of", "header_of", "middlewares", "withheld"]

OWN = ("host", "content-length", "transfer-encoding", "connection", "user-agent", "cookie", "accept-encoding")
"""Headers that users cannot give: most belong to the connection."""


def header_of(text: str) -> tuple[str, str]:
    """Return a header from its text, 'Name: value'. Raise BadInput, which does not repeat the value."""
    name, colon, value = text.partition(":")
    name, value = name.strip(), value.strip()
    if not colon or not name.isascii() or not name.replace("-", "").replace("_", "").isalnum():
        raise BadInput("--header wants 'Name: value'.")
    if name.lower() in OWN:
        instead = {"user-agent": "--user-agent", "cookie": "--cookies FILE"}.get(name.lower(), "nothing")
        raise BadInput(f"--header cannot set {name}: use {instead}.")
    if not value.isprintable():
        raise BadInput(f"--header {name}: its value has characters that no header has.")
    try:
        value.encode("latin-1")
    except UnicodeError:
        raise BadInput(f"--header {name}: its value has characters that no header has.") from None
    return name, value


def cookies_of(file: Path) -> MozillaCookieJar:
    """Return the cookies of a file in Netscape's format, as browsers' add-ons, curl and wget write it.

    Cookies that end with a session are included. Raise BadInput.
    """
    jar = MozillaCookieJar()
    try:
        jar.load(str(file), ignore_discard=True, ignore_expires=True)
    except (LoadError, UnicodeError):
        raise BadInput(f"--cookies {file} is no cookies.txt in Netscape's format.") from None
    except OSError as error:
        raise BadInput(f"--cookies {file} cannot be read ({error.strerror or error}).") from None
    for cookie in jar:
        if not int(cookie.expires or 0):  # curl and wget write 0 for one that ends with its session
            cookie.expires, cookie.discard = None, True
    if all(cookie.is_expired() for cookie in jar):
        raise BadInput(f"--cookies {file} has no cookie that has not expired.")
    return jar


class Secrets(RunMiddleware):
    """A downloader middleware that adds the user's headers to requests in scope, and removes them from all others."""

    def process_request(self, request: Request) -> None:
        """Add or remove the user's headers. Scrapy calls this with each request, before it is sent."""
        run = self.run
        inside = run.reaches(request.url)
        for name, value in run.order.headers:
            if inside:
                request.headers[name] = value
            else:
                request.headers.pop(name, None)
        if not inside:
            request.headers.pop("Cookie", None)


class GivenCookies(CookiesMiddleware):
    """Scrapy's cookies, which begin with those of the order."""

    def process_request(self, request: Request) -> None:  # type: ignore[override]
        """Add the order's cookies to the jar first. Scrapy calls this with each request."""
        run: Running = self.crawler.spider.run  # type: ignore[union-attr]
        jar = self.jars[None]
        for cookie in run.cookies:
            jar.set_cookie(cookie)
        run.cookies = ()
        super().process_request(request)


def withheld(headers: Sequence[tuple[str, str]]) -> frozenset[str]:
    """Return the names, in lower case, of headers that are written nowhere."""
    return frozenset({"cookie", "authorization", "proxy-authorization", *(name.lower() for name, _ in headers)})


def middlewares() -> dict[Any, int | None]:
    """Return the places among the downloader middlewares: cookies in place of Scrapy's, headers behind them."""
    return {CookiesMiddleware: None, GivenCookies: 700, Secrets: 710}
