"""The scope: the hosts, URL patterns and depth of pages that may be fetched. A page outside is known, has an account,
and is never claimed."""

from __future__ import annotations

import re
from dataclasses import dataclass

from graphbrain.base.errors import SettingsError
from graphbrain.base.settings import Settings
from graphbrain.base.urls.hostnames import HostList

__all__ = ["Scope"]


@dataclass(frozen=True, slots=True)
class Scope:
    """The scope, compiled from the settings `allow_hosts`, `deny_hosts`, `allow_urls`, `deny_urls` and `max_depth`."""

    allow_hosts: HostList | None
    deny_hosts: HostList | None
    allow_urls: re.Pattern[str] | None
    deny_urls: re.Pattern[str] | None
    max_depth: int

    @classmethod
    def of(cls, settings: Settings) -> Scope:
        """Return the scope of these settings.

        Raises:
            SettingsError: A pattern is no regular expression.
        """
        return cls(
            _hosts(settings.allow_hosts),
            _hosts(settings.deny_hosts),
            _pattern("allow_urls", settings.allow_urls),
            _pattern("deny_urls", settings.deny_urls),
            settings.max_depth,
        )

    @property
    def boundless(self) -> bool:
        """Return True if every page is inside."""
        return self == Scope(None, None, None, None, 0)

    @property
    def by_url(self) -> bool:
        """Return True if the scope depends on the spelling of a URL."""
        return self.allow_urls is not None or self.deny_urls is not None

    def holds_host(self, host: str) -> bool:
        """Return True if the lists of hosts allow pages of this host."""
        if self.allow_hosts is not None and not self.allow_hosts.holds(host):
            return False
        return self.deny_hosts is None or not self.deny_hosts.holds(host)

    def holds(self, url: str, host: str, depth: int) -> bool:
        """Return True if this page may be fetched."""
        if self.max_depth and depth > self.max_depth:
            return False
        by_host = self.allow_hosts is not None or self.deny_hosts is not None
        if by_host and not self.holds_host(host):
            return False
        if self.allow_urls is not None and not self.allow_urls.search(url):
            return False
        return self.deny_urls is None or not self.deny_urls.search(url)


def _hosts(text: str) -> HostList | None:
    return HostList.of(text) if text.strip() else None


def _pattern(name: str, text: str) -> re.Pattern[str] | None:
    try:
        return re.compile(text) if text else None
    except re.error as error:
        raise SettingsError(f"{name} is not a regular expression ({error}): {text!r}.") from None
