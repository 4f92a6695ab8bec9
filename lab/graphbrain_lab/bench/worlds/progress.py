"""The first judge: every page that is well for long enough must be claimed within the promised time.

The promise (docs/explanation/promises.md): if the crawlers can fetch twice the number of pages that the hosts allow, a
page that is well is claimed within

    10 · n · d  +  2 minutes for each nine pages of its host that are ill (a day at most)  +  the time of their fetches
                +  a minute for each of them that refuses without a Retry-After

after it was found. n is the number of pages of its host, plus one for a robots.txt that is claimed. d is the host's
least interval: the longest of its delay, its Crawl-delay, its longest fetch divided by `in_flight`, and the interval of
its rate limit. These times do not count:

* the time of an outage of its host or of the crawlers' line, the same time again afterwards (a day at most), and two
  minutes, because waits shrink only with the first answer;
* the time in which its host is ill while other ill hosts have all claims that ill hosts may have;
* the wait that a 429 or 503 has asked for;
* the time in which the page itself is ill, three times as long afterwards, and five minutes; or a day, if it answered
  that it does not exist or has moved, because waits grow by no more than that. An outage next to the illness counts as
  illness, and so does the time by which a clock is set forward meanwhile;
* the time in which crawlers that ask for robots.txt have not read that of its host, or read it again before pages;
* the time in which it must not be fetched (robots.txt, scope, a block, a full budget, a pause, parked by hand), no
  crawler runs, or the clock is wrong, and the time for which a crawler holds it, or a place of its host, without a
  report.

A robots.txt that is well is read within the same time after the first page of its host was found; if it redirects,
within the sum of the times of both hosts. The time in which it fails does not count, nor the same time again. A sitemap
is read within that time plus two minutes, where n counts sitemaps, too. Its time begins when the robots.txt that names
it was read, if a crawler has asked for sitemaps before, and else when one claims a page of that host. The waits after
its failures do not count.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import ceil

from graphbrain_lab.bench.worlds.drawing import places_needed
from graphbrain_lab.bench.worlds.log import Called, Entry, Happened, Log, LoggedGrant, Reported, Returned, own_url
from graphbrain_lab.bench.worlds.verdict import WorldFinding
from graphbrain_lab.bench.worlds.watch import RobotsSeen, WorldWatch, most_of_ill
from graphbrain_lab.bench.worlds.world import (
    DAY,
    FOR_EVER,
    GUESSED,
    HOUR,
    ILL,
    MINUTE,
    NONE,
    PASSING,
    Window,
    World,
    WorldFile,
    WorldHost,
    WorldPage,
)

__all__ = ["allowance", "can_keep_up", "counted", "pace_of", "progress"]

SLACK = 10.0
"""The factor of n · d in the promise."""
ILL_PAGES, FOR_ILL = 9, 2 * MINUTE
AFTER_WINDOW, AFTER_PAGE, AGAIN, AHEAD = 2 * MINUTE, 5 * MINUTE, 3.0, 1.25
LONGEST_BLOCK = DAY
NOTICED = 5 * MINUTE
"""Seconds until upkeep notices that a lease has lapsed, or that changed rules allow a page."""
LOOKED_FOR = MINUTE
"""Seconds between two look-ups of the sitemaps of a host."""
FULL = MINUTE
"""Seconds until the sitemaps of a host are looked up again that had all claims that it may have."""
RENEWING = MINUTE
"""The largest number of seconds for which pages wait for a known robots.txt that is read again."""
FIRST_AGAIN, LAST_AGAIN = HOUR, 14 * DAY
"""The first and the longest wait, in seconds, of a sitemap that failed. Each failure doubles the wait."""
Span = tuple[float, float]


def can_keep_up(world: World) -> bool:
    """Return whether the crawlers that always run can fetch twice the number of pages that the hosts allow."""
    places = sum(crawler.places / crawler.speed for crawler in world.crawlers if not crawler.away)
    limits = world.of_all_times("in_flight", 0)
    fastest = {
        "delay_seconds": min(world.of_all_times("delay_seconds", 1.0)),
        "in_flight": max(limits) if all(limits) else 0,
    }
    return places >= 2 * places_needed(replace(world, settings={**world.settings, **fastest}))


def _slowest(world: World) -> World:
    """Return the world with its least pace of all times as its settings."""
    limits = [each for each in world.of_all_times("in_flight", 0) if each]
    slowest = {"delay_seconds": max(world.of_all_times("delay_seconds", 1.0)), "in_flight": min(limits, default=0)}
    return replace(world, settings={**world.settings, **slowest})


def pace_of(world: World, host: WorldHost) -> float:
    """Return d, the least number of seconds between two requests of a host."""
    most = int(world.settings.get("in_flight", 0))
    return max(
        world.delay,
        host.crawl_delay,
        _longest(world, *_served(world, host)) / most if most else 0.0,
        60.0 / host.rate if host.rate else 0.0,
    )


def allowance(world: World, host: WorldHost) -> float:
    """Return the counted seconds within which a page of this host must be claimed."""
    ill = [page for page in _served(world, host) if page.ill()]
    return (
        SLACK * (len(host.pages) + world.asks) * pace_of(world, host)
        + min(DAY, FOR_ILL * ceil(len(ill) / ILL_PAGES))
        + sum(_longest(world, page) for page in ill)
        + MINUTE
        * sum(any(phase.outcome == "refused" and not phase.retry_after for phase in page.phases) for page in ill)
    )


def _served(world: World, host: WorldHost) -> tuple[WorldPage | WorldFile, ...]:
    """Return the pages and files of a host that crawlers claim."""
    return (*host.pages, *(host.files() if world.asks else ()))


def _longest(world: World, *pages: WorldPage | WorldFile) -> float:
    """Return the seconds of the longest fetch of these pages."""
    speed = max(crawler.speed for crawler in world.crawlers)
    return speed * max(phase.seconds for page in pages for phase in page.phases)


@dataclass(slots=True)
class _Times:
    """Spans of time that do not count: for all pages, by host, and by page."""

    all: list[Span] = field(default_factory=list)
    of_host: dict[str, list[Span]] = field(default_factory=lambda: defaultdict(list))
    of_page: dict[str, list[Span]] = field(default_factory=lambda: defaultdict(list))
    found: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    """URL → the times at which it was found. There are several if it was forgotten in between."""
    forgotten: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    good: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    """URL → times of the claims that brought the page, the robots.txt or the sitemap."""
    before_rules: dict[str, list[Span]] = field(default_factory=lambda: defaultdict(list))
    """Host → times in which pages and sitemaps wait for its robots.txt."""

    def spans(self, host: str, url: str, *, of_robots: bool = False) -> list[Span]:
        """Return the spans that do not count for this page or sitemap; or for the robots.txt itself."""
        return [*self.all, *self.of_host[host], *self.of_page[url], *([] if of_robots else self.before_rules[host])]


def progress(world: World, log: Log) -> Iterator[WorldFinding]:
    """Yield a finding for each page that was not claimed in time."""
    # Goals hold in any case, the promise only if the crawlers can keep up.
    keeps_up, world = can_keep_up(world), _slowest(world)
    times = _times(world, log)
    yield from _goals(world, log, times)
    if not keeps_up or not log.entries:
        return
    last_budget = min([_budget(world), *(int(e.value) for e in world.events if e.what == "budget")])
    # Judge the pages.
    for host, page, url in world.pages():
        if last_budget and len(host.pages) + 1 > last_budget:
            continue
        spans = times.spans(host.name, url) + list(_own_illness(page, [*world.line, *host.windows], world.jumps))
        yield from _late(_Due(url, "claimed", allowance(world, host), spans, world, host), times, log)
    # Judge the robots.txt and the sitemaps.
    if world.asks:
        for duty in (*_robots_due(world, times), *_sitemaps_due(world, times)):
            yield from _late(duty, times, log)


@dataclass(frozen=True, slots=True)
class _Due:
    """A page or file that must be claimed or read within `allowed` seconds after it was found. The times in `spans` do
    not count. `done`: the word for that in a finding."""

    url: str
    done: str
    allowed: float
    spans: list[Span]
    world: World
    host: WorldHost


def _late(duty: _Due, times: _Times, log: Log) -> Iterator[WorldFinding]:
    """Yield a finding for each time at which a page or file was found, but was not claimed or read in time."""
    good = times.good[duty.url]
    for found in times.found[duty.url]:
        deadline = counted(found, duty.allowed, duty.spans)
        gone = any(found <= at <= deadline for at in times.forgotten[duty.url])
        if deadline > log.ended or gone or any(found <= at <= deadline for at in good):
            continue
        late = min((at for at in good if at > deadline), default=None)
        yield WorldFinding(
            "progress",
            deadline,
            f"{duty.url} was found at {found:.0f} s and is well, but was not {duty.done} by {deadline:.0f} s "
            f"({duty.allowed:.0f} s that count; n = {len(duty.host.pages) + duty.world.asks}, "
            f"d = {pace_of(duty.world, duty.host):g} s); "
            + (f"it was at {late:.0f} s." if late is not None else f"nor by the end at {log.ended:.0f} s."),
        )


def _robots_due(world: World, times: _Times) -> Iterator[_Due]:
    """Yield the robots.txt that must be read. Yield none if some crawlers do not ask for robots.txt, because these can
    claim the pages without a read."""
    if any("robots" not in crawler.kinds for crawler in world.crawlers):
        return
    hosts = {host.url("/robots.txt"): host for host in world.hosts}
    for url, host in hosts.items():
        if any(times.forgotten[host.url(page.path)] for page in host.pages):
            continue
        served = [each for each in (host, hosts.get(_target(host))) if each is not None]
        spans = [span for each in served for span in times.spans(each.name, url, of_robots=True)]
        spans += [span for each in served if each.robots is not None for span in _failing(each.robots)]
        allowed = sum(allowance(world, each) for each in served)
        yield _Due(url, "read", allowed, spans, world, host)


def _target(host: WorldHost) -> str:
    """Return the URL to which the robots.txt of a host redirects, or an empty text."""
    return "" if host.robots is None else host.robots.phases[0].target or ""


def _failing(robots: WorldFile) -> Iterator[Span]:
    """Yield the times in which a robots.txt fails, each with the longest wait of its host afterwards."""
    ends = [*(phase.since for phase in robots.phases[1:]), FOR_EVER]
    merged: list[Span] = []
    for phase, end in zip(robots.phases, ends, strict=True):
        if phase.outcome in ILL:
            start = merged.pop()[0] if merged and merged[-1][1] == phase.since else phase.since
            merged.append((start, end))
    yield from (_with_after(start, end) for start, end in merged)


def _sitemaps_due(world: World, times: _Times) -> Iterator[_Due]:
    """Yield the sitemaps that are well in the end. There are none if an event sets a robots.txt, because its text names
    other sitemaps."""
    by_hand = any(event.what == "robots" for event in world.events)
    for url, (host, file) in world.sitemaps().items():
        last = file.phases[-1]
        if last.outcome == "fetched" and not by_hand:
            spans = [*times.spans(host.name, url), (0.0, last.since)]
            others = SLACK * len(host.sitemaps) * pace_of(world, host)
            yield _Due(url, "read", allowance(world, host) + others + LOOKED_FOR + FULL, spans, world, host)


def _goals(world: World, log: Log, times: _Times) -> Iterator[WorldFinding]:
    for goal in world.goals:
        late = [url for url in goal.urls if not any(at <= goal.at for at in times.good[url])]
        if late and log.ended >= goal.at:
            yield WorldFinding(
                "progress",
                goal.at,
                f"{len(late)} of {len(goal.urls)} good pages were not claimed by {goal.at:.0f} s, as {late[0]}.",
            )


def _budget(world: World) -> int:
    return int(world.settings.get("pages_per_host", 0)) or 10**9


def counted(start: float, seconds: float, spans: Iterable[Span]) -> float:
    """Return the moment at which `seconds` have passed since `start`, without the seconds within the spans."""
    at = start
    for begin, end in sorted(spans):
        if end <= at:
            continue
        if begin - at >= seconds:
            break
        seconds -= max(0.0, begin - at)
        at = max(at, end)
    return at + seconds


def _own_illness(page: WorldPage, outages: Sequence[Window], jumps: Iterable[tuple[float, float]]) -> Iterator[Span]:
    """Yield the times in which a page is not well, each with the longest wait that the page may have afterwards.

    An outage next to the page's illness prolongs the illness, because no visit could show that the page was well. If
    the clock is set forward in the illness, the illness is longer by that time.
    """
    # Each span is (start, end, whether the page itself is ill, the least wait afterwards).
    ends = [*(phase.since for phase in page.phases[1:]), FOR_EVER]
    ill = [
        (phase.since, end, True, DAY if phase.outcome in ("missing", "moved") else 0.0)
        for phase, end in zip(page.phases, ends, strict=True)
        if phase.outcome != "fetched"
    ]
    ill += [(each.start, each.end, False, DAY if each.kind == "maintenance_301" else 0.0) for each in outages]
    # Merge those that touch.
    merged: list[tuple[float, float, bool, float]] = []
    for start, end, own, days in sorted(ill):
        if merged and start <= merged[-1][1]:
            before = merged.pop()
            start, end, own, days = before[0], max(before[1], end), before[2] or own, max(before[3], days)
        merged.append((start, end, own, days))
    # Add the waits.
    for start, end, own, days in merged:
        ahead = max(0.0, sum(by for at, by in jumps if start <= at <= end))
        if own and end >= FOR_EVER:
            yield start, FOR_EVER
        elif own or ahead:
            yield start, end + AGAIN * (end - start) + AHEAD * ahead + max(AFTER_PAGE, days)


def _times(world: World, log: Log) -> _Times:
    times = _Times()
    # Add the times in which nothing can be fetched at all, because the line is cut.
    for window in world.line:
        times.all.append(_with_after(window.start, window.end))
    # Add the times in which one host cannot be fetched, and after a permanent redirect the wait for the next visit.
    for host in world.hosts:
        for window in host.windows:
            start, end = _with_after(window.start, window.end)
            if window.kind == "maintenance_301":
                end = window.end + AGAIN * min(window.length, DAY) + DAY
            times.of_host[host.name].append((start, end))
    # Add the times that follow from crawlers, from clocks, and from reports.
    _no_crawler(world, times)
    _jumps(world, times)
    reading = _Reading(world, times)
    for entry in log.entries:
        reading.read(entry)
    reading.end()
    _crowds(world, log, times)
    return times


def _crowds(world: World, log: Log, times: _Times) -> None:
    """Add the times in which an ill host must wait, because other ill hosts have all claims that ill hosts may have."""
    watch, rounds = WorldWatch(world), int(world.settings.get("dead_after", 3))
    ill, since = set[str](), dict[str, float]()
    for entry in log.entries:
        watch.take(entry)
        if isinstance(entry, Reported):
            still_ill = watch.hosts[entry.host].rounds() >= rounds
            (ill.add if still_ill else ill.discard)(entry.host)
        # A host must wait while the other ill hosts have as many claims as ill hosts may have.
        out = watch.out(entry.clock) if ill else {}
        most, theirs = most_of_ill(out), sum(out[name] for name in ill)
        waiting = {name for name in ill if theirs - out[name] >= most}
        # Close the times that ended with this entry, and open the new ones.
        for name in since.keys() - waiting:
            times.of_host[name].append((since.pop(name), entry.at))
        for name in waiting - since.keys():
            since[name] = entry.at
    for name, at in since.items():
        times.of_host[name].append((at, log.ended))


def _with_after(start: float, end: float) -> Span:
    return start, end + min(end - start, DAY) + AFTER_WINDOW


def _no_crawler(world: World, times: _Times) -> None:
    if all(crawler.away for crawler in world.crawlers):
        moments = sorted({at for crawler in world.crawlers for span in crawler.away for at in span})
        for start, end in pairwise(moments):
            if all(crawler.is_away(start) for crawler in world.crawlers):
                times.all.append((start, end))


def _jumps(world: World, times: _Times) -> None:
    """Add the times in which a clock was ahead until it was set right."""
    for (start, by), (end, back) in pairwise(world.jumps):
        if by > 0 > back:
            times.all.append((start, end))


def _asked_until(world: World, at: float, seconds: float) -> float:
    """Return the end of the wait that a host asked for.

    If the clock jumps back in the meantime, the answer seems to be in the future. The wait then counts from the jump.
    """
    until = at + seconds
    for moment, by in world.jumps:
        if by < 0 and at <= moment < until:
            until = moment + seconds
    return until


@dataclass(slots=True)
class _Reading:
    """The state of a pass over a log.

    Attributes:
        claimed: (URL, token) → the time of the claim, its end by the true clock, the host of the claim, and whether the
            host was on probation: after a failed attempt it may have one claim at a time.
        failures: Host → the times of its failures.
        shut: Host → the time since which it is outside the scope.
    """

    world: World
    times: _Times
    known: set[str] = field(default_factory=set)
    for_ever: set[str] = field(default_factory=set)
    claimed: dict[tuple[str, str], tuple[float, float, str, bool]] = field(default_factory=dict)
    failed: dict[str, bool] = field(default_factory=dict)
    failures: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    shut: dict[str, float] = field(default_factory=dict)
    robots: dict[str, RobotsSeen] = field(default_factory=lambda: defaultdict(RobotsSeen))
    unread: dict[str, float] = field(default_factory=dict)
    """Host → the time since which its pages wait for its robots.txt."""
    forbidden: dict[str, float] = field(default_factory=dict)
    """URL → the time since which a robots.txt forbids the page."""
    parked: dict[str, float] = field(default_factory=dict)
    """URL → the time since which the page is parked by hand."""
    paused: float | None = None
    """The time since which the brain is paused."""
    wanted: bool = False
    """True once a crawler has asked for sitemaps."""
    looked: dict[str, float] = field(default_factory=dict)
    """Host → the time of the last look-up of its sitemaps, by the brain's clock."""
    named: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Host → the sitemaps that the last look-up found."""
    failing: Counter[str] = field(default_factory=Counter)
    """Sitemap → its failures in a row."""

    def __post_init__(self) -> None:
        if self.world.asks:
            self.unread = {host.name: 0.0 for host in self.world.hosts}

    def find(self, url: str, at: float) -> None:
        if url not in self.known and url not in self.for_ever:
            self.known.add(url)
            self.times.found[url].append(at)
        robots = "/".join(url.split("/")[:3]) + "/robots.txt"
        if self.world.asks and robots not in self.known:  # the robots.txt is claimed before the first page
            self.known.add(robots)
            self.times.found[robots].append(at)

    def read(self, entry: Entry) -> None:
        match entry:
            case Called():
                self.wanted |= "sitemap" in entry.kinds
                for grant in entry.grants:
                    self._granted(grant, entry)
            case Reported():
                self._reported(entry)
            case Returned():
                start, *_ = self.claimed.pop((own_url(entry), entry.token), (entry.at,))
                self.times.of_page[own_url(entry)].append((start, entry.at))
                if entry.kind == "robots":
                    self._renewed(entry.home, start, entry.at)
            case Happened():
                self._happened(entry)

    def _granted(self, grant: LoggedGrant, entry: Called) -> None:
        until = entry.at + grant.until - entry.clock
        self.claimed[own_url(grant), grant.token] = (entry.at, until, grant.host, self.failed.get(grant.host, False))
        if grant.kind != "page":
            return
        self.find(grant.url, entry.at)
        if "sitemap" in entry.kinds and not 0.0 <= entry.clock - self.looked.get(grant.host, -FOR_EVER) < LOOKED_FOR:
            self._look_for_sitemaps(grant.host, entry)

    def _look_for_sitemaps(self, host: str, entry: Called | Reported) -> None:
        """Find the sitemaps of a host, after a read of its robots.txt or a claim of one of its pages."""
        self.looked[host] = entry.clock
        named = self.robots[host].sitemaps(host)
        before = self.named.get(host, ())
        for url in set(named).difference(before):
            self.find(url, entry.at)
        for url in set(before).difference(named):
            self.times.of_page[url].append((entry.at, FOR_EVER))  # a sitemap that nothing names is not claimed
        self.named[host] = named

    def _renewed(self, robots: str, start: float, end: float) -> None:
        """Note that pages wait for a claim of a robots.txt, although its rules are known."""
        host = robots.split("/")[2]
        self.times.before_rules[host].append((start, min(end, start + RENEWING)))

    def _reported(self, entry: Reported) -> None:
        if not entry.accepted:
            return
        url = own_url(entry)
        self._unpark(url, entry.at)
        at, *_ = self.claimed.pop((url, entry.token), (entry.at,))
        # Note the health and the waits of the host.
        if entry.outcome not in NONE:
            self.failed[entry.host] = entry.outcome in PASSING
            if entry.outcome in PASSING:
                self.failures[entry.host].append(entry.at)
        if entry.outcome == "refused" and entry.retry_after:
            until = _asked_until(self.world, entry.at, min(entry.retry_after, LONGEST_BLOCK))
            self.times.of_host[entry.host].append((entry.at, until))
        # Note the pages that the answer brings.
        if entry.kind == "robots":
            self._robots_reported(entry, at)
        elif entry.outcome == "fetched":
            self.times.good[url].append(at)
            for link in (*entry.links, *entry.sitemaps):
                self.find(link, entry.at)
        elif entry.kind == "page" and entry.outcome == "moved" and entry.target:
            self.find(entry.target, entry.at)
        if entry.kind == "sitemap":
            self._sitemap_reported(entry)

    def _robots_reported(self, entry: Reported, claimed: float) -> None:
        host = own_url(entry).split("/")[2]
        self._renewed(entry.home, claimed, entry.at)
        if self.robots[host].take(entry):
            self.times.good[own_url(entry)].append(claimed)
            if host in self.unread:
                self.times.before_rules[host].append((self.unread.pop(host), entry.at))
            self._obeyed(host, entry.at, NOTICED)
            self.known.add(own_url(entry))
            if self.wanted:
                self._look_for_sitemaps(host, entry)

    def _sitemap_reported(self, entry: Reported) -> None:
        """Note the wait of a sitemap that failed."""
        if entry.outcome == "fetched":
            del self.failing[entry.home]
        elif entry.outcome == "missing" and entry.home.endswith(GUESSED):
            # A guessed sitemap that is missing is not tried again.
            self.times.of_page[entry.home].append((entry.at, FOR_EVER))
        elif entry.outcome != "moved":
            self.failing[entry.home] += 1
            wait = min(FIRST_AGAIN * 2.0 ** min(self.failing[entry.home] - 1, 20), LAST_AGAIN)
            self.times.of_page[entry.home].append((entry.at, entry.at + wait))

    def _obeyed(self, name: str, at: float, seen_after: float = 0.0) -> None:
        """Note the pages of a host that its robots.txt forbids from now on. Pages that it allows again can be claimed
        within `seen_after` seconds."""
        rules = self.robots[name].rules
        for host in self.world.hosts:
            for page in host.pages if host.name == name else ():
                url = host.url(page.path)
                if rules is not None and not rules.allow(url):
                    self.forbidden.setdefault(url, at)
                elif url in self.forbidden:
                    self.times.of_page[url].append((self.forbidden.pop(url), at + seen_after))

    def _happened(self, entry: Happened) -> None:
        what, target = entry.what, entry.target
        if what in ("seed", "crawl_now", "retry_page", "forget", "forget_for_ever"):
            self._unpark(target, entry.at)
        if what in ("seed", "hint", "crawl_now"):
            self.find(target, entry.at)
        elif what == "link":
            self.find(target, entry.at)
            self.find(entry.text, entry.at)
        elif what == "park":
            self.parked.setdefault(target, entry.at)
        elif what == "retry":
            for url in [url for url in self.parked if url.split("/")[2] == target]:
                self._unpark(url, entry.at)
        elif what == "pause" and self.paused is None:
            self.paused = entry.at
        elif what == "resume" and self.paused is not None:
            self.times.all.append((self.paused, entry.at))
            self.paused = None
        elif what in ("forget", "forget_for_ever"):
            self.known.discard(target)
            self.times.forgotten[target].append(entry.at)
            if what == "forget_for_ever":
                self.for_ever.add(target)
        elif what == "block":
            self.times.of_host[target].append((entry.at, entry.at + entry.value))
        elif what == "deny_host":
            self.shut.setdefault(target, entry.at)
        elif what == "allow_host" and target in self.shut:
            self.times.of_host[target].append((self.shut.pop(target), entry.at))
        elif what == "robots":
            self._robots_set(target, entry)

    def _unpark(self, url: str, at: float) -> None:
        if url in self.parked:
            self.times.of_page[url].append((self.parked.pop(url), at))

    def _robots_set(self, host: str, entry: Happened) -> None:
        self.robots[host].set(entry.text)
        if entry.text:
            self.times.good[f"http://{host}/robots.txt"].append(entry.at)
        if not entry.text and self.world.asks:
            self.unread.setdefault(host, entry.at)
        elif host in self.unread:
            self.times.before_rules[host].append((self.unread.pop(host), entry.at))
        self._obeyed(host, entry.at)

    def end(self) -> None:
        """Add the spans that are open at the end: of hosts that are still shut, and of claims without a report."""
        for host, at in self.shut.items():
            self.times.of_host[host].append((at, FOR_EVER))
        for host, at in self.unread.items():
            self.times.before_rules[host].append((at, FOR_EVER))
        for url, at in (*self.forbidden.items(), *self.parked.items()):
            self.times.of_page[url].append((at, FOR_EVER))
        if self.paused is not None:
            self.times.all.append((self.paused, FOR_EVER))
        for (url, _), (start, until, host, probation) in self.claimed.items():
            span = start, until + NOTICED
            self.times.of_page[url].append(span)
            if url.endswith("/robots.txt"):
                self._renewed(url, *span)
            # On probation a host has one place, and an earlier claim without a report takes it.
            probation |= any(start <= at <= until for at in self.failures[host])
            if probation or self.world.settings.get("in_flight"):
                self.times.of_host[host].append(span)


def spans_of(world: World, log: Log, host: str, url: str) -> Sequence[Span]:
    """Return the times that do not count for a page. This helps to examine a finding."""
    return sorted(_times(world, log).spans(host, url))
