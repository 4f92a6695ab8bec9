"""Cookies and headers that a user gives: sent to hosts of the scope, and to no other.

They are put on a request just before it is sent, after every step that keeps, copies or logs requests: no note of the
brain, no log and no archive has them. A redirect copies the headers of its request, so a request that leaves the scope
loses them here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from http.cookiejar import Cookie, DefaultCookiePolicy
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.downloadermiddlewares.cookies import CookiesMiddleware
from scrapy.http.cookies import CookieJar

from graphbrain.base.errors import BadInput
from graphbrain.base.urls.normalization import host_of
from graphbrain.crawl.order import CrawlOrder, hosts_named
from graphbrain.crawl.scrapy import WITHOUT_SESSION
from graphbrain.crawl.spider import RunMiddleware, Running

if TYPE_CHECKING:
    from graphbrain import Brain
    from graphbrain.crawl.login import LoginForm

__all__ = [
    "GivenCookies",
    "LimitedCookies",
    "Secrets",
    "check_reach",
    "cookies_of",
    "header_of",
    "middlewares",
    "withheld",
]

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


def cookies_of(file: Path) -> list[Cookie]:
    """Return the cookies of a file in Netscape's format, as browsers' add-ons, curl and wget write it: with its first
    line or without, and with flags in any case. A domain with a dot, or with the flag for it, has all its subdomains.

    Cookies that end with a session are included. Raise BadInput.
    """
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeError:
        raise BadInput(f"--cookies {file} is no cookies.txt in Netscape's format.") from None
    except OSError as error:
        raise BadInput(f"--cookies {file} cannot be read ({error.strerror or error}).") from None
    cookies: list[Cookie] = []
    # Some programs mark cookies for HTTP only as if they were comments.
    for number, line in enumerate(text.replace("\r", "\n").split("\n"), 1):
        bare = line.removeprefix("#HttpOnly_")
        if bare.strip() and not bare.startswith("#"):
            try:
                cookies.append(_cookie(bare.split("\t")))
            except ValueError as error:
                raise BadInput(
                    f"--cookies {file} is no cookies.txt in Netscape's format: its line {number} {error}."
                ) from None
    if all(cookie.is_expired() for cookie in cookies):
        raise BadInput(f"--cookies {file} has no cookie that has not expired.")
    return cookies


def _cookie(fields: Sequence[str]) -> Cookie:
    """Return a cookie from the fields of its line. Raise ValueError, whose text does not repeat the value."""
    if len(fields) != 7:
        raise ValueError(f"has {len(fields)} fields between tabs, not 7")
    domain, wide, path, secure, expires, name, value = fields
    flags = {"true": True, "false": False}
    if wide.lower() not in flags or secure.lower() not in flags:
        raise ValueError("has a flag that is neither TRUE nor FALSE")
    try:
        until = int(float(expires or 0))
    except (ValueError, OverflowError):
        raise ValueError("has no time of its end") from None
    dotted = domain.startswith(".") or flags[wide.lower()]
    domain = f"{'.' * dotted}{domain.strip().lstrip('.').lower()}"
    if not domain.strip("."):
        raise ValueError("has no domain")
    # curl and wget write 0 for a cookie that ends with its session.
    return Cookie(
        0, name or value, value if name else None, None, False, domain, dotted, dotted, path or "/", False,
        flags[secure.lower()], until or None, not until, None, None, {},
    )  # fmt: skip


def check_reach(order: CrawlOrder, cookies: Sequence[Cookie], login: LoginForm | None, brain: Brain) -> None:
    """Raise BadInput for cookies of which none is for a host in the scope, and for a login outside it."""
    hosts = sorted(hosts_named(order, brain.settings))
    domains = sorted({cookie.domain.lstrip(".") for cookie in cookies})
    if hosts and domains and not any(_fits(domain, host) for domain in domains for host in hosts):
        raise BadInput(
            f"--cookies {order.cookies} has no cookie for {_few(hosts)}: its cookies are for {_few(domains)}. "
            "Export them while the site to be crawled is open."
        )
    if login is not None and not brain.policy.scope.holds_host(host_of(login.url)):
        raise BadInput(f"--login {order.login}: {login.url} is on no host in the scope, to which cookies are sent.")


def _fits(domain: str, host: str) -> bool:
    """Return whether a host of the scope, or a host below it, has the cookies of a domain."""
    return f".{host}".endswith(f".{domain}") or domain.endswith(f".{host}")


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (", …" if len(names) > 3 else "")


MOST_COOKIES = 180
"""Cookies kept of a domain, as browsers do. RFC 6265 §6.1 wants at least 50."""
MOST_DOMAINS = 3_000
"""Domains whose cookies are kept: those that have set one last."""


class Secrets(RunMiddleware):
    """A downloader middleware that adds the user's headers to requests in scope, and removes them from all others."""

    def process_request(self, request: Request) -> None:
        """Add or remove the user's headers. Scrapy calls this with each request, before it is sent."""
        run = self.run
        inside = run.reaches(request.url) and not request.meta.get(WITHOUT_SESSION)
        for name, value in run.order.headers:
            if inside:
                request.headers[name] = value
            else:
                request.headers.pop(name, None)
        if not inside:
            request.headers.pop("Cookie", None)


class LimitedCookies(DefaultCookiePolicy):
    """A policy that accepts what Scrapy's does, and removes the oldest cookies of a domain and of all domains.

    Cookies that are put into `jar` without the policy, as those of the user, are not removed.
    """

    def __init__(self) -> None:
        super().__init__()
        self.jar = CookieJar(self)
        self._set: dict[str, dict[tuple[str, str], None]] = {}
        """Domain → path and name of its cookies. Both come in the order in which they were set last."""

    def set_ok(self, cookie: Cookie, request: Any) -> bool:
        """Return whether the cookie is accepted, and make room for it. The jar calls this before it sets a cookie."""
        if not super().set_ok(cookie, request):
            return False
        there = self._set[cookie.domain] = self._set.pop(cookie.domain, {})
        there.pop((cookie.path, cookie.name), None)
        there[cookie.path, cookie.name] = None
        if len(there) > MOST_COOKIES:
            self._remove(cookie.domain, [oldest := next(iter(there))])
            del there[oldest]
        if len(self._set) > MOST_DOMAINS:
            domain = next(iter(self._set))
            self._remove(domain, self._set.pop(domain))
        return True

    def _remove(self, domain: str, places: Iterable[tuple[str, str]]) -> None:
        for path, name in places:
            with suppress(KeyError):  # it has expired
                self.jar.clear(domain, path, name)


class GivenCookies(CookiesMiddleware):
    """Scrapy's cookies, which begin with those of the order, in a jar of limited size."""

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self.jars[None] = LimitedCookies().jar

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
