"""The definition of a world: hosts and pages that change in time, crawlers, and events. All values can be written as
JSON.

All times are seconds since the world began, by the true clock. The brain's clock differs from it by the `jumps`.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from graphbrain.base.errors import BadInput
from graphbrain.base.model import Kind

__all__ = [
    "ANSWERED",
    "DAY",
    "FOR_EVER",
    "GUESSED",
    "HOUR",
    "ILL",
    "MINUTE",
    "NONE",
    "PASSING",
    "WINDOWS",
    "Crawler",
    "Event",
    "Phase",
    "Rules",
    "Window",
    "World",
    "WorldFile",
    "WorldGoal",
    "WorldHost",
    "WorldPage",
    "from_json",
    "to_json",
]

MINUTE, HOUR, DAY = 60.0, 3_600.0, 86_400.0
FOR_EVER = 1e12
ANSWERED = ("fetched", "moved", "missing")
"""Outcomes of an attempt after which its host is well: 2xx, 3xx, and the 4xx that concern the page."""
PASSING = ("refused", "broken", "silent")
"""Outcomes that may be a fault of the host or of the page: 429 and 503; other 5xx, 408 and the like; no answer."""
NONE = ("not_sent", "not_understood")
"""Outcomes that the crawler causes: no request was sent, or the answer was not understood."""
ILL = (*PASSING, *NONE)
GUESSED = "/sitemap.xml"
"""The path of the sitemap that is tried if robots.txt names none."""
WINDOWS = ("outage", "dns", "broken", "maintenance_503", "maintenance_301", "line")
"""The kinds of windows. `line`: the crawlers' line is down. The others are of a host."""


@dataclass(frozen=True, slots=True)
class Phase:
    """The answer of a page from `since` on.

    Attributes:
        outcome: One of `ANSWERED`, `PASSING` or `NONE`.
        seconds: The length of a fetch.
        retry_after: The wait that a 429 or 503 asks for, in seconds.
        target: The URL to which it has `moved`.
    """

    since: float
    outcome: str
    seconds: float = 0.3
    status: int | None = 200
    retry_after: float | None = None
    target: str | None = None


@dataclass(frozen=True, slots=True)
class _Served:
    """A path of a host, and its answers in time."""

    path: str
    phases: tuple[Phase, ...]

    def phase(self, at: float) -> Phase:
        """Return its answer at a time."""
        return [phase for phase in self.phases if phase.since <= at][-1]


@dataclass(frozen=True, slots=True)
class WorldFile(_Served):
    """A robots.txt or a sitemap.

    Attributes:
        text: The text of a robots.txt.
        lists: The URLs of the pages or, for an index, of the sitemaps that it lists.
        is_index: True if it lists sitemaps.
    """

    text: str = ""
    lists: tuple[str, ...] = ()
    is_index: bool = False

    def ill(self) -> bool:
        """Return whether it has an answer of `ILL` at any time."""
        return any(phase.outcome in ILL for phase in self.phases)


@dataclass(frozen=True, slots=True)
class Rules:
    """The meaning of a robots.txt with one group: the paths that it forbids, its Crawl-delay and its sitemaps."""

    forbids: tuple[str, ...] = ()
    delay: float = 0.0
    sitemaps: tuple[str, ...] = ()

    @classmethod
    def read(cls, text: str) -> Rules:
        """Return the rules of a text."""
        lines = [line.partition(": ")[::2] for line in text.splitlines()]

        def values(name: str) -> tuple[str, ...]:
            return tuple(value for each, value in lines if each == name)

        return cls(values("Disallow"), float(next(iter(values("Crawl-delay")), 0.0)), values("Sitemap"))

    def as_text(self) -> str:
        """Return a text that means the same."""
        lines = ["User-agent: *", *(f"Disallow: {path}" for path in self.forbids)]
        lines += [f"Crawl-delay: {self.delay:g}"] if self.delay else []
        return "\n".join([*lines, *(f"Sitemap: {url}" for url in self.sitemaps)])

    def allow(self, url: str) -> bool:
        """Return whether a URL of the host may be fetched."""
        path = "/" + url.split("/", 3)[3]
        return not path.startswith(self.forbids)


@dataclass(frozen=True, slots=True)
class WorldPage(_Served):
    """A page: its path, its answers in time, the URLs that it links to, and the interval of its changes."""

    links: tuple[str, ...] = ()
    changes_every: float = 0.0
    """Seconds between two changes of its content; 0: never."""

    def ill(self) -> bool:
        """Return whether it has an answer other than `fetched` at any time."""
        return any(phase.outcome != "fetched" for phase in self.phases)


@dataclass(frozen=True, slots=True)
class Window:
    """A time in which all pages of a host have the same answer. `kind`: one of `WINDOWS`."""

    kind: str
    start: float
    end: float
    phase: Phase

    @property
    def length(self) -> float:
        """Return the length of the window in seconds."""
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class WorldHost:
    """A host.

    Attributes:
        rate: Requests a minute above which it answers 429; 0: no limit.
        crawl_delay: The seconds of Crawl-delay in its robots.txt, which is set by hand at the beginning, or served. 0:
            none.
        robots: The robots.txt that it serves; None: it answers 404.
        sitemaps: The sitemaps that it serves.
    """

    name: str
    pages: tuple[WorldPage, ...]
    windows: tuple[Window, ...] = ()
    rate: float = 0.0
    crawl_delay: float = 0.0
    robots: WorldFile | None = None
    sitemaps: tuple[WorldFile, ...] = ()

    def files(self) -> tuple[WorldFile, ...]:
        """Return its robots.txt and its sitemaps."""
        return (*(() if self.robots is None else (self.robots,)), *self.sitemaps)

    def url(self, path: str) -> str:
        """Return the URL of a path of this host."""
        return f"http://{self.name}{path}"


@dataclass(frozen=True, slots=True)
class Crawler:
    """A crawler.

    Attributes:
        places: The largest number of concurrent fetches.
        speed: The length of its fetches, as a multiple of the usual length.
        drops: Share of its claims without a report: they lapse.
        late: Share of its claims that are reported too late.
        returns: Share of its claims that are given back.
        loses: Share of its calls whose answers are lost. It reports again, and calls `next_urls` again with the same
            key.
        keyed: True if its calls have keys. Otherwise the claims in a lost answer lapse.
        together: True if it reports fetches that end at the same time by one call.
        away: Times in which it does not run. The claims that it has when such a time begins lapse.
        kinds: The kinds of claims that it asks for.
        apart: True if it has a Brain object of its own. The others share that of the operators.
    """

    name: str
    places: int
    speed: float = 1.0
    drops: float = 0.0
    late: float = 0.0
    returns: float = 0.0
    loses: float = 0.0
    keyed: bool = True
    together: bool = True
    away: tuple[tuple[float, float], ...] = ()
    kinds: tuple[Kind, ...] = ("page",)
    apart: bool = False

    def is_away(self, at: float) -> bool:
        """Return whether it does not run at a time."""
        return any(start <= at < end for start, end in self.away)


@dataclass(frozen=True, slots=True)
class Event:
    """An action by hand, or a fact that becomes known, at a time. It is a verb and its object.

    `forget`, `forget_for_ever`, `hint`, `crawl_now`, `seed`, `park`, `retry_page`: of a URL. `link`, `unlink`: of a
    URL, and the URL `text`. `retry`, `unblock`, `allow_host`, `deny_host`: of a host. `block`: of a host, for `value`
    seconds. `robots`: the text for a host (empty: it has none). `pause`, `resume`: of the brain. `convert`: to the
    engine `text`. `set`: the setting `text` becomes `value`, or what `text` gives after an equals sign. `budget`:
    `value` pages a host.
    """

    at: float
    what: str
    target: str = ""
    value: float = 0.0
    text: str = ""

    def setting(self) -> dict[str, Any]:
        """Return the setting that a `set` changes, with its value."""
        name, is_text, text = self.text.partition("=")
        return {name: text if is_text else float(self.value) if name == "delay_seconds" else int(self.value)}


@dataclass(frozen=True, slots=True)
class WorldGoal:
    """Pages that must be fetched by a time, independent of the promise."""

    at: float
    urls: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class World:
    """A whole world.

    Attributes:
        settings: The settings of its brain.
        line: Windows in which the crawlers' line is down.
        jumps: Times at which the brain's clock jumps, each with the seconds of the jump.
        hops: Share of the transactions whose answer is lost, so that they run again.
    """

    seed: int
    days: float
    hosts: tuple[WorldHost, ...]
    crawlers: tuple[Crawler, ...]
    seeds: tuple[str, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)
    line: tuple[Window, ...] = ()
    jumps: tuple[tuple[float, float], ...] = ()
    events: tuple[Event, ...] = ()
    hops: float = 0.0
    goals: tuple[WorldGoal, ...] = ()
    name: str = ""

    @property
    def delay(self) -> float:
        """Return the least seconds between two claims of a host."""
        return float(self.settings.get("delay_seconds", 1.0))

    @property
    def order(self) -> str:
        """Return the order in which the brain visits pages."""
        return str(self.settings.get("order", "optimal"))

    def of_all_times(self, name: str, default: float) -> list[float]:
        """Return the values that a setting has in the course of the world."""
        later = [event.setting() for event in self.events if event.what == "set"]
        return [
            settings.get(name, default)
            for settings in (self.settings, *later)
            if settings is self.settings or name in settings
        ]

    def pages(self) -> Iterator[tuple[WorldHost, WorldPage, str]]:
        """Yield all pages, with their hosts and URLs."""
        for host in self.hosts:
            for page in host.pages:
                yield host, page, host.url(page.path)

    @property
    def asks(self) -> bool:
        """Return True if a crawler claims robots.txt and sitemaps."""
        return any("robots" in crawler.kinds for crawler in self.crawlers)

    def sitemaps(self) -> dict[str, tuple[WorldHost, WorldFile]]:
        """Return all sitemaps, with their hosts, by URL."""
        return {host.url(file.path): (host, file) for host in self.hosts for file in host.sitemaps}

    def size(self) -> str:
        """Return the size of the world, in words."""
        pages = sum(len(host.pages) for host in self.hosts)
        files = sum(len(host.files()) for host in self.hosts)
        windows = sum(len(host.windows) for host in self.hosts) + len(self.line)
        return (
            f"{len(self.hosts)} hosts, {pages} pages, "
            + (f"{files} robots.txt and sitemaps, " if self.asks else "")
            + f"{windows} windows, {len(self.events)} events, "
            f"{len(self.jumps)} jumps, {len(self.crawlers)} crawlers, {self.days:g} days, {self.order}"
        )

    def skew(self, at: float) -> float:
        """Return the seconds by which the brain's clock is ahead at a time."""
        return sum(by for moment, by in self.jumps if moment <= at)


def to_json(world: World) -> str:
    """Return the world as one line of JSON."""
    return json.dumps(dataclasses.asdict(world), separators=(",", ":"))


def from_json(text: str) -> World:
    """Return the world in a line of JSON. Raise BadInput if there is none."""
    try:
        read = json.loads(text)
        return _world(read)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise BadInput(f"That is no world, as 'graphbrain bench worlds' prints one: {error}.") from None


def _world(read: Mapping[str, Any]) -> World:
    return World(
        **{
            **read,
            "hosts": tuple(_host(each) for each in read["hosts"]),
            "crawlers": tuple(
                Crawler(
                    **{
                        **each,
                        "away": tuple((a, b) for a, b in each["away"]),
                        "kinds": tuple(each.get("kinds", ("page",))),
                    }
                )
                for each in read["crawlers"]
            ),
            "seeds": tuple(read["seeds"]),
            "line": tuple(_window(each) for each in read["line"]),
            "jumps": tuple((at, by) for at, by in read["jumps"]),
            "goals": tuple(WorldGoal(each["at"], tuple(each["urls"])) for each in read["goals"]),
            "events": tuple(Event(**each) for each in read["events"]),
        }
    )


def _host(read: Mapping[str, Any]) -> WorldHost:
    robots = read.get("robots")
    more = {
        "pages": tuple(WorldPage(**_served(each, "links")) for each in read["pages"]),
        "windows": tuple(_window(each) for each in read["windows"]),
        "robots": None if robots is None else WorldFile(**_served(robots, "lists")),
        "sitemaps": tuple(WorldFile(**_served(each, "lists")) for each in read.get("sitemaps", ())),
    }
    return WorldHost(**{**read, **more})


def _served(read: Mapping[str, Any], urls: str) -> dict[str, Any]:
    """Return the values of a page or a file. `urls`: the name of its list of URLs."""
    return {**read, "phases": tuple(Phase(**phase) for phase in read["phases"]), urls: tuple(read[urls])}


def _window(read: Mapping[str, Any]) -> Window:
    return Window(**{**read, "phase": Phase(**read["phase"])})
