"""The log of a crawl of a world: each call, each report and each event, in their order. It has no data of the brain
except its answers.

`at` is the time by the true clock, in seconds since the world began. `clock` is the time by the brain's clock then, in
the same unit.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from graphbrain.base.model import Kind

__all__ = ["Called", "Entry", "Happened", "Log", "LoggedGrant", "Reported", "Returned", "own_url"]


@dataclass(frozen=True, slots=True)
class LoggedGrant:
    """A claim in the answer to a crawler.

    Attributes:
        until: The end of its lease, by the brain's clock.
        lost: True if the answer with it was lost, so that the crawler does not report it.
        home: The URL of a robots.txt or a sitemap before redirects; empty for a page.
    """

    url: str
    host: str
    token: str
    until: float
    lost: bool = False
    kind: Kind = "page"
    home: str = ""


@dataclass(frozen=True, slots=True)
class Called:
    """A call of `next_urls`, and its answer.

    Attributes:
        asked: The number of pages wanted.
        ready: The answer's `next_ready`, by the brain's clock.
        as_told: True if the call was made at the time that the caller's last answer named, or later.
        kinds: The kinds of claims that it asked for.
        paused: The answer's `paused`.
        apart: True if the crawler has a Brain object of its own.
    """

    at: float
    clock: float
    crawler: str
    asked: int
    grants: tuple[LoggedGrant, ...] = ()
    ready: float | None = None
    finished: bool = False
    as_told: bool = False
    kinds: tuple[Kind, ...] = ("page",)
    paused: bool = False
    apart: bool = False


@dataclass(frozen=True, slots=True)
class Reported:
    """A report, and whether it was accepted.

    Attributes:
        outcome: One of `world.ANSWERED`, `PASSING` or `NONE`.
        links: The URLs of the pages that a page links to, or a sitemap lists.
        home: The URL of a robots.txt or a sitemap before redirects; empty for a page.
        text: The text of a robots.txt.
        sitemaps: The URLs of the sitemaps that an index lists.
    """

    at: float
    clock: float
    crawler: str
    url: str
    host: str
    token: str
    outcome: str
    status: int | None = None
    retry_after: float | None = None
    target: str | None = None
    links: tuple[str, ...] = ()
    accepted: bool = True
    answer: str | None = None
    kind: Kind = "page"
    home: str = ""
    text: str = ""
    sitemaps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Returned:
    """A claim that was given back."""

    at: float
    clock: float
    crawler: str
    url: str
    host: str
    token: str
    kind: Kind = "page"
    home: str = ""


@dataclass(frozen=True, slots=True)
class Happened:
    """An event of the world (`world.Event.what`), a `jump` of the clock, or a `death` of a crawler.

    `done`: the brain's answer to `link`, `unlink`, `pause` and `resume`: True if that changed anything.
    """

    at: float
    clock: float
    what: str
    target: str = ""
    value: float = 0.0
    text: str = ""
    done: bool = True


Entry = Called | Reported | Returned | Happened


def own_url(of: LoggedGrant | Reported | Returned) -> str:
    """Return the URL of a page, or that of a robots.txt or a sitemap before redirects."""
    return of.home or of.url


@dataclass(slots=True)
class Log:
    """The whole log.

    Attributes:
        ended: The end of the crawl, by the true clock.
        cut: True if the crawl ended early, at the limit of this machine's time.
        audit: The findings of the audit.
        states: The number of pages of each state.
    """

    entries: list[Entry] = field(default_factory=list)
    ended: float = 0.0
    cut: bool = False
    audit: tuple[str, ...] = ()
    states: dict[str, int] = field(default_factory=dict)
    attempts: int = 0
    calls: int = 0
    seconds: float = 0.0
