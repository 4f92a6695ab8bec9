"""What may be fetched: hosts, URL patterns, depth. A page outside is known, with its account, and never handed out."""

from __future__ import annotations

import re
from dataclasses import dataclass

from graphbrain.errors import SettingsError
from graphbrain.settings import Settings

__all__ = ["Scope"]


@dataclass(frozen=True, slots=True)
class Scope:
    """Compiled from the settings `allow_hosts`, `deny_hosts`, `allow_urls`, `deny_urls` and `max_depth`."""

    allow_hosts: frozenset[str]
    deny_hosts: frozenset[str]
    allow_urls: re.Pattern[str] | None
    deny_urls: re.Pattern[str] | None
    max_depth: int

    @classmethod
    def of(cls, settings: Settings) -> Scope:
        """Raises SettingsError on a pattern that is no regular expression."""
        return cls(
            frozenset(settings.allow_hosts.lower().split()),
            frozenset(settings.deny_hosts.lower().split()),
            _pattern("allow_urls", settings.allow_urls),
            _pattern("deny_urls", settings.deny_urls),
            settings.max_depth,
        )

    @property
    def boundless(self) -> bool:
        """Is every page inside?"""
        return self == Scope(frozenset(), frozenset(), None, None, 0)

    @property
    def by_url(self) -> bool:
        """Does it depend on how a URL is written?"""
        return self.allow_urls is not None or self.deny_urls is not None

    def holds(self, url: str, host: str, depth: int) -> bool:
        """May this page be fetched?"""
        if self.max_depth and depth > self.max_depth:
            return False
        if self.allow_hosts and not _among(host, self.allow_hosts):
            return False
        if self.deny_hosts and _among(host, self.deny_hosts):
            return False
        if self.allow_urls is not None and not self.allow_urls.search(url):
            return False
        return self.deny_urls is None or not self.deny_urls.search(url)


def _among(host: str, names: frozenset[str]) -> bool:
    """Is the host, or a domain above it, among these? A port does not matter unless it is named."""
    if host in names:
        return True
    parts = host.rsplit(":", 1)[0].split(".")
    return any(".".join(parts[n:]) in names for n in range(len(parts)))


def _pattern(name: str, text: str) -> re.Pattern[str] | None:
    try:
        return re.compile(text) if text else None
    except re.error as error:
        raise SettingsError(f"{name} is not a regular expression ({error}): {text!r}.") from None
