"""A guard against requests to private addresses: private, loopback and link-local ones, and those of cloud metadata.

A public site must not lead a crawl to them. The guard checks every request (pages, robots.txt, sitemaps, requisites,
scripts, redirects) by the address to which the name of its host resolves when the request is sent. The connection takes
the address from the same cache. A host that the user has named may be private, if it is private at its first request: a
public name that gets a private address later is refused. Behind a proxy, which resolves names itself, the guard checks
only hosts that are written as addresses.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.exceptions import IgnoreRequest
from scrapy.resolver import CachingThreadedResolver
from scrapy.utils.defer import maybe_deferred_to_future
from scrapy.utils.httpobj import urlparse_cached
from twisted.internet.defer import Deferred
from twisted.internet.error import DNSLookupError

from graphbrain.base.errors import BadInput
from graphbrain.base.urls.hostnames import host_text

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

__all__ = ["PrivateAddress", "PrivateAddresses", "PublicOnly", "guarded", "is_private"]

GLOBAL = IPv6Network("2000::/3")
"""The only IPv6 addresses that are assigned as public ones."""
NAT64, MAPPED = IPv6Network("64:ff9b::/96"), IPv6Network("::ffff:0:0/96")
"""Others, which are public if the IPv4 address in them is."""
METADATA = IPv4Address("168.63.129.16")
"""The public address at which Azure's machines find the service that configures them."""


class PrivateAddress(IgnoreRequest):
    """An error for a request to a private address that the user has not named."""


def is_private(text: str) -> bool:
    """Return whether an address, or an IPv4 address within it (mapped, 6to4, Teredo, NAT64), is not public.

    Raises ValueError for a text that is no address.
    """
    address = ip_address(text.strip("[]").partition("%")[0])
    if isinstance(address, IPv6Address):
        if address in NAT64 or address in MAPPED:
            return _is_private(IPv4Address(int(address) & 0xFFFF_FFFF))
        inner = filter(None, (address.sixtofour, *(address.teredo or ())))
        return address not in GLOBAL or any(map(_is_private, (address, *inner)))
    return _is_private(address)


def _is_private(address: IPv4Address | IPv6Address) -> bool:
    return not address.is_global or address.is_multicast or address == METADATA


class PrivateAddresses:
    """The rules by which one crawl refuses private addresses.

    Args:
        named: The hosts, without ports, that the user has named and that may be private.
        proxies: The URLs of proxies, which may be private, too.
    """

    def __init__(self, named: Iterable[str] = (), proxies: Iterable[str] = ()) -> None:
        self._named = {host.lower() for host in named}
        """Hosts that may be private, and that no request has gone to yet."""
        self._allowed = set[str]()
        self._proxies = {urlsplit(proxy).hostname or "" for proxy in proxies}

    def check_connection(self, name: str, address: str) -> None:
        """Raise PrivateAddress if no connection may be made to a host at this address. A proxy may be private."""
        if name not in self._proxies:
            self.check(name, address)

    def check(self, host: str, address: str) -> None:
        """Raise PrivateAddress if a request for a host must not go to this address."""
        name = _spelled(host)
        try:
            private = is_private(address)
        except ValueError:
            return
        if private and name in self._named:
            self._allowed.add(name)
        self._named.discard(name)
        if private and name not in self._allowed:
            what = "is a private address" if name.strip("[]") == address.strip("[]") else f"is at {address}"
            raise PrivateAddress(f"{host} {what}, where no public site may lead (--allow-private)")

    async def check_request(self, request: Request) -> None:
        """Raise PrivateAddress if a request must not be sent."""
        host, proxy = urlparse_cached(request).hostname or "", request.meta.get("proxy")
        if proxy:
            self._proxies.add(urlsplit(proxy).hostname or "")
        if not self.check_spelling(host) and not proxy:
            self.check(host, await _resolved(host))

    def check_spelling(self, host: str) -> bool:
        """Return whether a host is written as an address. Raise PrivateAddress if no request may go there."""
        try:
            name = _spelled(host)
            ip_address(name.strip("[]"))
        except (BadInput, ValueError):
            return False
        self.check(host, name)
        return True


def _spelled(host: str) -> str:
    return host_text(f"[{host}]" if ":" in host and not host.startswith("[") else host)


async def _resolved(host: str) -> str:
    """Return the address of a host. Empty if it has none: the download will then fail."""
    from twisted.internet import reactor

    try:
        address: str = await maybe_deferred_to_future(reactor.resolve(host))  # type: ignore[arg-type]
    except (DNSLookupError, OSError, ValueError):
        return ""
    return address


def guarded(addresses: PrivateAddresses) -> type[CachingThreadedResolver]:
    """Return a class of resolvers that check addresses again for each connection: a name may get a private address
    after its request was checked."""

    class Guarded(CachingThreadedResolver):
        def getHostByName(self, name: str, timeout: Sequence[int] = ()) -> Deferred[str]:  # noqa: N802  # Twisted's name
            """Return the address of a host, or fail with PrivateAddress. Twisted calls this."""
            return super().getHostByName(name, timeout).addCallback(self._checked, name)

        @staticmethod
        def _checked(address: str, name: str) -> str:
            addresses.check_connection(name, address)
            return address

    return Guarded


class PublicOnly:
    """A middleware that refuses requests to private addresses, except hosts of `start_urls` and of `allow_hosts`."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self._addresses: PrivateAddresses | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make a middleware. Scrapy calls this."""
        return cls(crawler)

    async def process_request(self, request: Request) -> None:
        """Raise PrivateAddress if a request must not be sent. Scrapy calls this with every request."""
        if self._addresses is None:  # the crawler has no spider before the first request
            urls = getattr(self.crawler.spider, "start_urls", None) or ()
            hosts = str(self.crawler.settings.get("GRAPHBRAIN_ALLOW_HOSTS") or "").replace(",", " ").split()
            self._addresses = PrivateAddresses([*(urlsplit(url).hostname or "" for url in urls), *hosts])
        await self._addresses.check_request(request)
