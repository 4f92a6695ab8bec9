"""The scope: the hosts, URL patterns and depth of pages that may be fetched. A page outside is known, has an account,
and is never claimed."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

from graphbrain.base.settings import URL_LISTS, Settings
from graphbrain.base.urls.hostnames import HostList
from graphbrain.base.urls.patterns import Patterns, check, patterns_in

__all__ = ["Scope"]


@dataclass(frozen=True, slots=True)
class Scope:
    """The scope, compiled from the settings `allow_hosts`, `deny_hosts`, `allow_urls`, `deny_urls` and `max_depth`."""

    allow_hosts: HostList | None
    deny_hosts: HostList | None
    allow_urls: Patterns | None
    deny_urls: Patterns | None
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
            _patterns("allow_urls", settings.allow_urls),
            _patterns("deny_urls", settings.deny_urls),
            settings.max_depth,
        )

    @classmethod
    def of_new(cls, settings: Settings, given: Container[str]) -> Scope:
        """Return the scope of these settings, after a check of those that `given` names as new.

        Raises:
            SettingsError: A pattern is no regular expression, or a new one takes too long.
        """
        scope = cls.of(settings)
        for name in URL_LISTS:
            if name in given:
                check(name, getattr(settings, name))
        return scope

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
        return not self.why_not(url, host, depth)

    def why_not(self, url: str, host: str, depth: int) -> str:
        """Return the name of the setting that forbids this page; empty if none does."""
        if self.max_depth and depth > self.max_depth:
            return "max_depth"
        if self.allow_hosts is not None and not self.allow_hosts.holds(host):
            return "allow_hosts"
        if self.deny_hosts is not None and self.deny_hosts.holds(host):
            return "deny_hosts"
        if self.allow_urls is not None and not self.allow_urls.hold(url):
            return "allow_urls"
        return "deny_urls" if self.deny_urls is not None and self.deny_urls.hold(url) else ""


def _hosts(text: str) -> HostList | None:
    return HostList.of(text) if text.strip() else None


def _patterns(name: str, text: str) -> Patterns | None:
    listed = patterns_in(text)
    return Patterns(name, listed) if listed else None
