"""The order of a crawl: what its user asks for, and the settings of the brain that follow from it.

The scope becomes a list of patterns in `allow_urls`, some for each start URL. So a later crawl can find whether the
brain's scope includes its own, and can add its patterns. `allow_hosts` gets the hosts, so that lists of hosts show them
as in scope.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from graphbrain.base.errors import BadInput, SettingsError
from graphbrain.base.numeric.bounds import Bounds
from graphbrain.base.options.verbs import declared
from graphbrain.base.settings import Settings, added
from graphbrain.base.urls.hostnames import HostList, is_loopback
from graphbrain.base.urls.normalization import address, host_of
from graphbrain.base.urls.patterns import check, patterns_in, scoped, text_of
from graphbrain.content.scope import Scope
from graphbrain.frontier.hosts.robots import product

__all__ = ["SCOPES", "CrawlOrder", "added_to", "hosts_named", "is_local", "refusal", "shared"]

SCOPES = ("host", "domain", "prefix")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?!\d)")
"""The beginning of a URL with a scheme. `a.example:8080` has none: it is a host and a port."""
DEFAULT_AGENT = "graphbrain"
"""The default of the brain's `user_agent`. It names no contact."""

IMPERSONAL = frozenset({
    "accept", "cache-control", "dnt", "from", "origin", "pragma", "priority", "referer", "save-data",
    "upgrade-insecure-requests", "viewport-width",
})  # fmt: skip
"""Headers that do not name the user to a site; nor do those that begin with `Accept-` or `Sec-`."""


@dataclass(frozen=True, slots=True)
class CrawlOrder:
    """The order of one `graphbrain crawl`, whose options are these fields. For one that is None or empty the brain's
    own setting holds.

    Attributes:
        urls: The URLs at which the crawl begins. Without URLs it continues an earlier crawl.
        scope: What belongs to a URL's site (host).
        include: Only URLs in which this is found; repeatable.
        exclude: No URLs in which this is found; repeatable.
        add: Add the URLs' scope to that of a brain which has pages.
        anew: Empty the brain, and crawl in the scope of this command line alone.
        max_pages: End after so many pages.
        max_depth: Fetch no page more than N clicks from a URL.
        max_time: End after so long: 90s, 30m, 1h, 2d.
        concurrency: Requests at the same time.
        delay: Least time between two pages of a host (1).
        user_agent: The whole User-Agent; it should name a contact.
        no_contact: Crawl without an address for the owners of sites.
        follow_all: Follow links that a page's meta or X-Robots-Tag forbids to follow.
        all_files: Fetch linked images, archives, audio, video and programs, too.
        sitemaps: Crawl what the sites' sitemaps list, too.
        revisit: Go on for ever, and come back to pages when they may have changed.
        topic: Fetch pages about this first (needs .[relevance]).
        jsonl: Write a line of JSON for each page.
        text: With --jsonl: the visible text of each page, too.
        cookies: Cookies for hosts of the scope, from a Netscape cookies.txt.
        headers: Headers that are sent to hosts of the scope only, by name and value.
        login: Log in by the form that FILE describes.
        follow_logout: With a session: follow links that log out or delete, too.
        warc: Write WARC files into this directory.
        requisites: With --warc: the styles, scripts, images of pages, too.
        warc_size: Finish a WARC file at this size.
        wacz: With --warc: pack its files into this one at the end (needs .[wacz]).
        wacz_size: Pack no more bytes of WARC files.
        render: Let a browser run the scripts of pages (needs .[render] and Chromium).
        browser: The browser of --render (Chromium or Chrome on the PATH).
        render_from: Rendered pages get scripts from here, too; repeatable.
        allow_private: Follow links and redirects to private and local addresses, too.
        log: Write what Scrapy logs to this file.
    """

    urls: tuple[str, ...] = ()
    scope: str | None = declared(None, words=SCOPES)
    include: tuple[str, ...] = declared((), metavar="REGEX")
    exclude: tuple[str, ...] = declared((), metavar="REGEX")
    add: bool = False
    anew: bool = False
    max_pages: int | None = declared(None, bounds=Bounds(1), metavar="N")
    max_depth: int | None = declared(None, bounds=Bounds(1), metavar="N")
    max_time: float | None = declared(None, is_a="time", bounds=Bounds(1), metavar="TIME")
    concurrency: int = declared(16, bounds=Bounds(1, 1_000), metavar="N")
    delay: float | None = declared(None, bounds=Bounds(0), metavar="SECONDS")
    user_agent: str | None = declared(None, metavar="TEXT")
    no_contact: bool = False
    follow_all: bool = False
    all_files: bool = False
    sitemaps: bool = True
    revisit: bool = False
    topic: str | None = declared(None, metavar="WORDS")
    jsonl: Path | None = declared(None, is_a="file")
    text: bool = False
    cookies: Path | None = None
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    login: Path | None = declared(None, metavar="FILE")
    follow_logout: bool = False
    warc: Path | None = declared(None, is_a="folder")
    requisites: bool = True
    warc_size: int = declared(1_000_000_000, is_a="size", bounds=Bounds(1_000))
    wacz: Path | None = declared(None, is_a="file")
    wacz_size: int = declared(10_000_000_000, is_a="size", bounds=Bounds(1))
    render: bool = False
    browser: Path | None = None
    render_from: tuple[str, ...] = declared((), metavar="HOST")
    allow_private: bool = False
    log: Path | None = declared(None, is_a="file")

    @property
    def has_session(self) -> bool:
        """True if the crawl sends cookies, or a header that may name its user, or logs in."""
        names = (name.lower() for name, _ in self.headers)
        named = any(name not in IMPERSONAL and not name.startswith(("accept-", "sec-")) for name in names)
        return self.cookies is not None or named or self.login is not None

    @property
    def names_scope(self) -> bool:
        """True if the order limits the scope further than its start URLs do."""
        return self.scope is not None or bool(self.include or self.exclude)

    def checked(self) -> CrawlOrder:
        """Check the options, and return the order itself.

        Raises:
            SettingsError: A pattern is no regular expression, or an option needs another one.
            BadInput: A text is no URL.
        """
        # Check the regular expressions.
        for name, patterns in (("include", self.include), ("exclude", self.exclude)):
            for pattern in patterns:
                check(f"--{name}", text_of([pattern]))
        # Check options that need another one, or exclude it.
        if self.text and self.jsonl is None:
            raise SettingsError("--text is for --jsonl: name its file.")
        if self.wacz is not None and self.warc is None:
            raise SettingsError("--wacz is made of the files of --warc: name their directory, too.")
        if not self.render and (self.browser is not None or self.render_from):
            raise SettingsError("--browser and --render-from are for --render: give it, too.")
        if self.follow_logout and not self.has_session:
            raise SettingsError("--follow-logout is for a session: give --cookies, --header or --login, too.")
        if not self.urls and (self.names_scope or self.add or self.anew):
            raise SettingsError("--scope, --include, --exclude, --add and --anew need the URLs that they are for.")
        if self.add and self.anew:
            raise SettingsError("Give --add, which keeps the brain's pages, or --anew, which deletes them.")
        self.bare_urls()  # raises BadInput for a text that is no URL
        return self

    def bare_urls(self) -> list[str]:
        """Return the start URLs as addresses. Raise BadInput for a text that is no URL."""
        bare = []
        for url in self.urls:
            try:
                bare.append(address(url if _SCHEME.match(url := url.strip()) else f"http://{url}"))
            except BadInput as error:
                raise BadInput(f"{url!r} is no URL to begin with: {str(error).rstrip('.')}.") from None
        return bare


# ---------------------------------------------------------------- scope


def shared(order: CrawlOrder) -> dict[str, Any]:
    """Return the shared settings of a new brain for this order.

    They include all settings of the scope, also those that limit nothing, and the others that the order names.
    """
    settings: dict[str, Any] = manners(order)
    if order.urls:
        settings |= {
            "allow_hosts": " ".join(dict.fromkeys(_hosts(order))),
            "allow_urls": text_of(_alternatives(order)),
            "deny_urls": text_of(order.exclude),
            "max_depth": order.max_depth or 0,
        }
    return settings


def manners(order: CrawlOrder) -> dict[str, Any]:
    """Return the shared settings that the order names, except hosts and patterns of its scope."""
    settings = {"delay_seconds": order.delay, "user_agent": order.user_agent, "max_depth": order.max_depth}
    return {name: value for name, value in settings.items() if value is not None}


def kept(brain: Settings, order: CrawlOrder) -> dict[str, Any]:
    """Return the shared settings of an empty brain that are not the defaults and that the order does not change.

    An empty brain has such settings after `graphbrain clear`, which keeps them, and after `graphbrain init`.
    """
    ours = shared(order)
    return {
        name: getattr(brain, name)
        for name, default in brain.names("shared").items()
        if name not in ours and getattr(brain, name) != default
    }


def added_to(brain: Settings, order: CrawlOrder) -> dict[str, Any]:
    """Return the changes of settings that add the order's hosts, patterns and exclusions to a brain's scope.

    An empty `allow_hosts` or `allow_urls` of the brain limits nothing, and stays empty.
    """
    new, changes = shared(order), dict[str, Any]()
    if brain.allow_hosts:
        changes["allow_hosts"] = added("allow_hosts", brain.allow_hosts, new["allow_hosts"])
    if brain.allow_urls:
        changes["allow_urls"] = added("allow_urls", brain.allow_urls, new["allow_urls"])
    if new["deny_urls"]:
        changes["deny_urls"] = added("deny_urls", brain.deny_urls, new["deny_urls"])
    return {name: value for name, value in changes.items() if value != getattr(brain, name)}


def refusal(brain: Settings, order: CrawlOrder) -> str:
    """Return the reason why a brain with pages cannot carry out this order, and the remedy; empty if it can.

    A start URL must be in the brain's scope. A scope that the order names must be a part of the brain's. The brain's
    own settings hold for all options that the order does not name.
    """
    scope, ways = Scope.of(brain), "add it to this brain with --add, give it a brain of its own with --data DIR, or "
    ways += "empty this one with --anew"
    # The start URLs must be in the brain's scope.
    for url in order.bare_urls():
        if not scope.holds(url, host_of(url), 0):
            return f"{url} is outside the scope of this brain ({_scope_in_words(brain)}): {ways}."
    # The scope that the order names must be a part of the brain's scope.
    if order.names_scope:
        settings = shared(order)
        for name in ("allow_urls", "deny_urls"):
            patterns, brains = settings[name], getattr(brain, name)
            if not {*patterns_in(patterns)} <= {*patterns_in(brains)}:
                brains_in_words = f"{brains!r:.60}" if brains else "empty"
                return (
                    f"This brain has another scope ({name} is {brains_in_words}, and not {patterns!r:.60}): leave out "
                    f"--scope, --include and --exclude to keep it, or {ways}."
                )
    # The delay, the user agent and the depth that the order names must be the brain's, because all crawls share them.
    for name, value in manners(order).items():
        if value != getattr(brain, name):
            option = {"delay_seconds": "--delay", "user_agent": "--user-agent", "max_depth": "--max-depth"}[name]
            return (
                f"This brain has another {name} ({getattr(brain, name)!r:.60}, not {value!r:.60}): leave out {option} "
                f"to keep it, or change it for all who use the brain with 'graphbrain change \"{name}={value}\"'."
            )
    return ""


def _scope_in_words(brain: Settings) -> str:
    """Return the first setting that limits the scope of a brain, as a text."""
    names = ("allow_hosts", "allow_urls", "deny_hosts", "deny_urls")
    limits = [f"{name} {getattr(brain, name)!r:.60}" for name in names if getattr(brain, name)]
    return limits[0] if limits else "all hosts"


def hosts_named(order: CrawlOrder, brain: Settings) -> set[str]:
    """Return the hosts, without ports, that the user has named: those of the start URLs, of the scope and of
    --render-from."""
    given = HostList.of(" ".join([*map(host_of, order.bare_urls()), *order.render_from, brain.allow_hosts, "*"]))
    return {*given.anyway, *(host for host, _ in given.at_port)} - {""}


def _hosts(order: CrawlOrder) -> list[str]:
    urls = order.bare_urls()
    return [_domain(host_of(url)) if order.scope == "domain" else host_of(url) for url in urls]


def _alternatives(order: CrawlOrder) -> list[str]:
    """Return patterns for `allow_urls`: for each start URL its host, domain or prefix.

    With `include`, a URL there must also match one of its expressions, or be the start URL itself.
    """
    patterns = []
    for url in order.bare_urls():
        parts = urlsplit(url)
        if order.scope == "domain":
            prefix = rf"(?:[^/?#]*\.)?{re.escape(_domain(host_of(url)))}(?::\d+)?/"
        else:
            prefix = re.escape(parts.netloc) + "/"
        if order.scope == "prefix":
            prefix += re.escape(parts.path[1 : parts.path.rfind("/") + 1])
        if not order.include:
            patterns.append(f"^https?://{prefix}")
            continue
        patterns += [f"^(?=https?://{prefix})(?=.*?{scoped(pattern)})" for pattern in order.include]
        patterns.append(f"^{re.escape(url)}$")
    return patterns


def _domain(host: str) -> str:
    """Return the registrable domain of a host, by the Public Suffix List in tldextract.

    It is the last two labels if the suffix is not listed, and the address itself for an IP address.
    """
    name = host if host.startswith("[") else host.partition(":")[0]
    if _is_address(name):
        return name
    return _suffixes()(name).top_domain_under_public_suffix or ".".join(name.split(".")[-2:])


@cache
def _suffixes() -> Any:
    import tldextract

    return tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)


# ---------------------------------------------------------------- the user agent


def is_local(urls: Sequence[str]) -> bool:
    """Return whether all URLs are on this machine. Then the user agent needs no contact."""
    hosts = [urlsplit(url).hostname or "" for url in urls]
    return bool(hosts) and all(is_loopback(host) or host.endswith(".localhost") for host in hosts)


def _is_address(host: str) -> bool:
    try:
        ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


def agent_for(contact: str, version: str) -> str:
    """Return the user agent with a contact. Raise BadInput for a text that is no contact."""
    contact = contact.strip()
    if not re.fullmatch(r"[^\s()<>]+@[^\s()<>]+|https?://[^\s()<>]+", contact):
        raise BadInput(f"{contact!r} is no contact: give an address such as you@example.org, or a URL of yours.")
    return f"{DEFAULT_AGENT}/{version} (+{contact})"


def lacks_contact(agent: str) -> bool:
    """Return whether a user agent has no contact to which the owner of a site could write."""
    return "@" not in agent and "http" not in agent


def token(agent: str) -> str:
    """Return the product token by which robots.txt is read. Raise BadInput for a user agent without one."""
    name = product(agent)
    if not name:
        raise BadInput(f"The user agent {agent!r} has no name for robots.txt: begin it with one, as in 'mybot/1.0'.")
    return name


def as_given(options: Mapping[str, Any]) -> CrawlOrder:
    """Return a checked order with these options; one that is None has its default."""
    return CrawlOrder(**{name: value for name, value in options.items() if value is not None}).checked()
