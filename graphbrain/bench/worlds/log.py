"""What a crawl of a world leaves behind: each call, each report and each event, in their order; nothing of the brain.

`at` is seconds of the world by the true clock; `clock` what the brain's clock showed then, as seconds since it began.
"""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Called", "Entry", "Happened", "Log", "LoggedGrant", "Reported", "Returned"]


@dataclass(frozen=True, slots=True)
class LoggedGrant:
    """A claim as its crawler got it: until when it is held, by the brain's clock. `lost`: the answer that brought it
    never arrived, so nobody will report it."""

    url: str
    host: str
    token: str
    until: float
    lost: bool = False


@dataclass(frozen=True, slots=True)
class Called:
    """A call of `next_urls` for so many pages (`asked`), and its answer. `ready`: its next_ready, by the brain's clock.
    `as_told`: was it made at the moment that the caller's last answer named, or later?"""

    at: float
    clock: float
    crawler: str
    asked: int
    grants: tuple[LoggedGrant, ...] = ()
    ready: float | None = None
    finished: bool = False
    as_told: bool = False


@dataclass(frozen=True, slots=True)
class Reported:
    """A report, and whether it was accepted. `outcome`: what the attempt met, of `world.ANSWERED`, PASSING or NONE."""

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


@dataclass(frozen=True, slots=True)
class Returned:
    """A claim that was given back."""

    at: float
    clock: float
    crawler: str
    url: str
    host: str
    token: str


@dataclass(frozen=True, slots=True)
class Happened:
    """An event of the world (`world.Event.what`), a `jump` of the clock, or a `death` of a crawler."""

    at: float
    clock: float
    what: str
    target: str = ""
    value: float = 0.0
    text: str = ""


Entry = Called | Reported | Returned | Happened


@dataclass(slots=True)
class Log:
    """All of it. `ended`: when the crawl was left, by the true clock. `cut`: was that before its days were over, for
    this machine's time was up? `audit`: what the audit found. `states`: how many pages of each state there were."""

    entries: list[Entry] = field(default_factory=list)
    ended: float = 0.0
    cut: bool = False
    audit: tuple[str, ...] = ()
    states: dict[str, int] = field(default_factory=dict)
    attempts: int = 0
    calls: int = 0
    seconds: float = 0.0
