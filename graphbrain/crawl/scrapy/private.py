"""Addresses to which a public site must not lead a crawl: private, loopback and link-local ones, and those of metadata.

Each request is judged by the address to which its host's name resolves when it is sent: of pages, robots.txt, sitemaps,
requisites and scripts, and each redirect. The connection takes that address from the same cache. A name that the user
has named may be private, if it is when it is met first; so a public name that changes its address later is refused.
Behind a proxy, which resolves names itself, hosts that are written as addresses are judged.
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

NAT64 = IPv6Network("64:ff9b::/96")
_Address = IPv4Address | IPv6Address


class PrivateAddress(IgnoreRequest):
    """A request would go to a private address that the user has not named."""


def is_private(text: str) -> bool:
    """Return whether an address is none of the public internet, or holds one that is not: IPv4 in IPv6, 6to4, Teredo,
    NAT64. Raise ValueError for what is no address."""
    address = ip_address(text.strip("[]").partition("%")[0])
    return any(not each.is_global or each.is_multicast for each in (address, *_embedded(address)))


def _embedded(address: _Address) -> Iterable[_Address]:
    """Yield the IPv4 addresses that an IPv6 address holds."""
    if isinstance(address, IPv6Address):
        if address in NAT64:
            yield IPv4Address(int(address) & 0xFFFF_FFFF)
        yield from (inner for inner in (address.ipv4_mapped, address.sixtofour, *(address.teredo or ())) if inner)


class PrivateAddresses:
    """The judgement of one crawl.

    Args:
        named: Hosts, without ports, that the user has named.
    """

    def __init__(self, named: Iterable[str] = ()) -> None:
        self._named = {host.lower() for host in named}
        """Hosts that may be private, and have not been met."""
        self._allowed = set[str]()
        self._proxies = set[str]()

    def check_connection(self, name: str, address: str) -> None:
        """Raise PrivateAddress if no connection may be made to this host at this address. Proxies may be anywhere."""
        if name not in self._proxies:
            self.check(name, address)

    def check(self, host: str, address: str) -> None:
        """Raise PrivateAddress if a request for this host must not go to this address."""
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
        try:
            name = _spelled(host)
            ip_address(name.strip("[]"))
        except (BadInput, ValueError):
            if not proxy:
                self.check(host, await _resolved(host))
        else:
            self.check(host, name)


def _spelled(host: str) -> str:
    return host_text(f"[{host}]" if ":" in host and not host.startswith("[") else host)


async def _resolved(host: str) -> str:
    """Return the address of a host; empty if it has none, which the download will find."""
    from twisted.internet import reactor

    try:
        address: str = await maybe_deferred_to_future(reactor.resolve(host))  # type: ignore[arg-type]
    except (DNSLookupError, OSError, ValueError):
        return ""
    return address


def guarded(addresses: PrivateAddresses) -> type[CachingThreadedResolver]:
    """Return a resolver for connections that judges again: a name may have got a private address since the request was
    judged."""

    class Guarded(CachingThreadedResolver):
        def getHostByName(self, name: str, timeout: Sequence[int] = ()) -> Deferred[str]:  # noqa: N802  # Twisted's name
            """Return the address of a host. Twisted calls this."""
            return super().getHostByName(name, timeout).addCallback(self._checked, name)

        @staticmethod
        def _checked(address: str, name: str) -> str:
            addresses.check_connection(name, address)
            return address

    return Guarded


class PublicOnly:
    """Refuses requests to private addresses, but for hosts of the spider's `start_urls` and of `allow_hosts`."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self._addresses: PrivateAddresses | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Called by Scrapy to make it."""
        return cls(crawler)

    async def process_request(self, request: Request) -> None:
        """Called by Scrapy with every request."""
        if self._addresses is None:  # there is a spider now
            urls = getattr(self.crawler.spider, "start_urls", None) or ()
            hosts = str(self.crawler.settings.get("GRAPHBRAIN_ALLOW_HOSTS") or "").replace(",", " ").split()
            self._addresses = PrivateAddresses([*(urlsplit(url).hostname or "" for url in urls), *hosts])
        await self._addresses.check_request(request)
