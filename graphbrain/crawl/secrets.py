"""Cookies and headers that a user gives. The crawl sends them to hosts of the scope, and to no other.

The middlewares add them to a request just before it is sent, after every step that stores, copies or logs requests. So
no note of the brain, no log and no archive contains them. A redirect copies the headers of its request, so they are
removed here from a request that leaves the scope.
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
    """Return (name, value) of a header from its text, 'Name: value'. Raise BadInput, whose text omits the value."""
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
    """Return the cookies of a file in Netscape's format that have not expired.

    Add-ons of browsers, curl and wget write such files: with the first line of the format or without it, and with flags
    in any case. A cookie is for all subdomains if its domain begins with a dot, or has the flag for it.

    Raises:
        BadInput: The file cannot be read, has another format, or has no cookie that is valid.
    """
    # Read the file.
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeError:
        raise BadInput(f"--cookies {file} is no cookies.txt in Netscape's format.") from None
    except OSError as error:
        raise BadInput(f"--cookies {file} cannot be read ({error.strerror or error}).") from None
    # Parse its lines. Some programs write cookies for HTTP only like comments.
    cookies: list[Cookie] = []
    for number, line in enumerate(text.replace("\r", "\n").split("\n"), 1):
        entry = line.removeprefix("#HttpOnly_")
        if entry.strip() and not entry.startswith("#"):
            try:
                cookies.append(_cookie(entry.split("\t")))
            except ValueError as error:
                raise BadInput(
                    f"--cookies {file} is no cookies.txt in Netscape's format: its line {number} {error}."
                ) from None
    if not cookies:
        raise BadInput(f"--cookies {file} has no cookies: export them while you are logged in.")
    if not (valid := [cookie for cookie in cookies if not cookie.is_expired()]):
        raise BadInput(f"All cookies of --cookies {file} have expired: export them while you are logged in.")
    return valid


def _cookie(fields: Sequence[str]) -> Cookie:
    """Return a cookie from the fields of its line. Raise ValueError, whose text omits the value of the cookie."""
    # Check the fields, and convert the flags and the time.
    if len(fields) != 7:
        raise ValueError(f"has {len(fields)} fields between tabs, not 7")
    domain, with_subdomains, path, secure, expires, name, value = fields
    flags = {"true": True, "false": False}
    if with_subdomains.lower() not in flags or secure.lower() not in flags:
        raise ValueError("has a flag that is neither TRUE nor FALSE")
    try:
        until = int(float(expires or 0))  # curl and wget write 0 for a cookie that ends with its session
    except (ValueError, OverflowError):
        raise ValueError("has no time of its end") from None
    # A domain with a dot includes its subdomains.
    dotted = domain.startswith(".") or flags[with_subdomains.lower()]
    domain = f"{'.' * dotted}{domain.strip().lstrip('.').lower()}"
    if not domain.strip("."):
        raise ValueError("has no domain")
    # A cookie without a name has its value as the name.
    return Cookie(
        version=0, name=name or value, value=value if name else None, port=None, port_specified=False, domain=domain,
        domain_specified=dotted, domain_initial_dot=dotted, path=path or "/", path_specified=False,
        secure=flags[secure.lower()], expires=until or None, discard=not until, comment=None, comment_url=None, rest={},
    )  # fmt: skip


def check_reach(order: CrawlOrder, cookies: Sequence[Cookie], login: LoginForm | None, brain: Brain) -> None:
    """Raise BadInput if no cookie is for a host in the scope, or if the login is outside the scope."""
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
    """Return whether cookies of a domain are sent to a host of the scope, or to a subdomain of it."""
    return f".{host}".endswith(f".{domain}") or domain.endswith(f".{host}")


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (", …" if len(names) > 3 else "")


MOST_COOKIES = 180
"""Most cookies of one domain, as in browsers. RFC 6265, section 6.1, asks for at least 50."""
MOST_DOMAINS = 3_000
"""Most domains whose cookies are kept: those that were the last to set one."""


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
    """A policy of cookies that limits their number. It removes the oldest ones of a domain, and the oldest domain.

    It accepts the cookies that Scrapy's policy accepts. It does not remove cookies that were added to `jar` without it,
    such as those of the user.
    """

    def __init__(self) -> None:
        super().__init__()
        self.jar = CookieJar(self)
        self._set: dict[str, dict[tuple[str, str], None]] = {}
        """Domain → (path, name) of its cookies. Domains and cookies are sorted by the time at which they were set."""

    def set_ok(self, cookie: Cookie, request: Any) -> bool:
        """Return whether a cookie is accepted, and make room for it. The jar calls this before it sets a cookie."""
        if not super().set_ok(cookie, request):
            return False
        # Move the domain and the cookie to the end of their orders.
        cookies = self._set[cookie.domain] = self._set.pop(cookie.domain, {})
        cookies.pop((cookie.path, cookie.name), None)
        cookies[cookie.path, cookie.name] = None
        # Remove what exceeds the limits.
        if len(cookies) > MOST_COOKIES:
            self._remove(cookie.domain, [oldest := next(iter(cookies))])
            del cookies[oldest]
        if len(self._set) > MOST_DOMAINS:
            domain = next(iter(self._set))
            self._remove(domain, self._set.pop(domain))
        return True

    def _remove(self, domain: str, places: Iterable[tuple[str, str]]) -> None:
        for path, name in places:
            with suppress(KeyError):  # it has expired
                self.jar.clear(domain, path, name)


class GivenCookies(CookiesMiddleware):
    """Scrapy's middleware of cookies, with those of the order, in a jar of limited size."""

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self.jars[None] = LimitedCookies().jar

    def process_request(self, request: Request) -> None:  # type: ignore[override]
        """Add cookies to a request. The first call adds those of the order to the jar. Scrapy calls this with each
        request."""
        run: Running = self.crawler.spider.run  # type: ignore[union-attr]
        jar = self.jars[None]
        for cookie in run.cookies:
            jar.set_cookie(cookie)
        run.cookies = ()
        super().process_request(request)


def withheld(headers: Sequence[tuple[str, str]]) -> frozenset[str]:
    """Return the names, in lower case, of headers that must not be written to any file."""
    return frozenset({"cookie", "authorization", "proxy-authorization", *(name.lower() for name, _ in headers)})


def middlewares() -> dict[Any, int | None]:
    """Return the downloader middlewares with their places: cookies replace Scrapy's, headers come after them."""
    return {CookiesMiddleware: None, GivenCookies: 700, Secrets: 710}
