"""The first judge: every page that is well for long enough must be claimed within the promised time.

The promise (docs/explanation/promises.md): where the crawlers can fetch twice the number of pages that the hosts allow,
a page that is well is claimed within

    10 · n · d  +  2 minutes for each nine pages of its host that are ill (a day at most)  +  the time of their fetches
                +  a minute for each of them that refuses without a Retry-After

after it was found. n is the number of pages of its host. d is the host's least interval: the longest of its delay, its
Crawl-delay, its longest fetch divided by `in_flight`, and the time between two requests that it bears. These times do
not count:

* the time in which its host answers no page as it should, or the crawlers' line is down, and as long again afterwards,
  a day at most, and two minutes: waits shrink only with the first answer;
* the time in which its host is ill while other ill hosts have their tenth of the claims, or their one;
* the wait that a 429 or 503 has asked for;
* the time in which the page is ill itself, and three times as long afterwards, and five minutes; or a day, if it
  answered that it does not exist or has moved: waits grow by no more than that. An outage next to it counts as its
  illness, and so does the time by which a clock was behind that is set right meanwhile;
* the time in which it must not be fetched (robots.txt, scope, a block, a full budget), no crawler runs, or the clock is
  wrong, and the time for which a crawler holds it, or a place of its host, and does not report.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import ceil

from graphbrain.bench.worlds.drawing import places_needed
from graphbrain.bench.worlds.log import Called, Entry, Happened, Log, Reported, Returned
from graphbrain.bench.worlds.verdict import WorldFinding
from graphbrain.bench.worlds.watch import WorldWatch, most_of_ill
from graphbrain.bench.worlds.world import DAY, FOR_EVER, MINUTE, NONE, PASSING, Window, World, WorldHost, WorldPage

__all__ = ["allowance", "can_keep_up", "counted", "pace_of", "progress"]

SLACK = 10.0
"""The factor of the promise: times its host's pages by its delay."""
ILL_PAGES, FOR_ILL = 9, 2 * MINUTE
AFTER_WINDOW, AFTER_PAGE, AGAIN, AHEAD = 2 * MINUTE, 5 * MINUTE, 3.0, 1.25
LONGEST_BLOCK = DAY
NOTICED = 5 * MINUTE
"""Seconds after which upkeep has seen that a lease lapsed."""
Span = tuple[float, float]


def can_keep_up(world: World) -> bool:
    """Return whether the crawlers that always run can fetch twice the number of pages that the hosts allow."""
    places = sum(crawler.places / crawler.speed for crawler in world.crawlers if not crawler.away)
    return places >= 2 * places_needed(world)


def pace_of(world: World, host: WorldHost) -> float:
    """Return d: the least seconds between two requests of a host."""
    most = int(world.settings.get("in_flight", 0))
    return max(
        world.delay,
        host.crawl_delay,
        _longest(world, *host.pages) / most if most else 0.0,
        60.0 / host.rate if host.rate else 0.0,
    )


def allowance(world: World, host: WorldHost) -> float:
    """Return the counted seconds within which a page of this host must be claimed."""
    ill = [page for page in host.pages if page.ill()]
    return (
        SLACK * len(host.pages) * pace_of(world, host)
        + min(DAY, FOR_ILL * ceil(len(ill) / ILL_PAGES))
        + sum(_longest(world, page) for page in ill)
        + MINUTE
        * sum(any(phase.outcome == "refused" and not phase.retry_after for phase in page.phases) for page in ill)
    )


def _longest(world: World, *pages: WorldPage) -> float:
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
    """URL → times at which it was found; more than one if it was forgotten between."""
    forgotten: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    good: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    """URL → times of the claims that brought the page."""

    def spans(self, host: str, url: str) -> list[Span]:
        """Return the spans that do not count for this page."""
        return [*self.all, *self.of_host[host], *self.of_page[url]]


def progress(world: World, log: Log) -> Iterator[WorldFinding]:
    """Yield a finding for each page that was not claimed in time."""
    times = _times(world, log)
    yield from _goals(world, log, times)
    if not can_keep_up(world) or not log.entries:
        return
    last_budget = min([_budget(world), *(int(e.value) for e in world.events if e.what == "budget")])
    for host, page, url in world.pages():
        if last_budget and len(host.pages) + 1 > last_budget:
            continue
        spans = times.spans(host.name, url) + list(_own_illness(page, [*world.line, *host.windows], world.jumps))
        allowed = allowance(world, host)
        for found in times.found[url]:
            deadline = counted(found, allowed, spans)
            gone = any(found <= at <= deadline for at in times.forgotten[url])
            if deadline > log.ended or gone or any(found <= at <= deadline for at in times.good[url]):
                continue
            late = min((at for at in times.good[url] if at > deadline), default=None)
            yield WorldFinding(
                "progress",
                deadline,
                f"{url} was found at {found:.0f} s and is well, but was not claimed by {deadline:.0f} s "
                f"({allowed:.0f} s that count; n = {len(host.pages)}, d = {pace_of(world, host):g} s); "
                + (f"it was at {late:.0f} s." if late is not None else f"nor by the end at {log.ended:.0f} s."),
            )


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
    """Yield the times in which a page is not well, each with as long afterwards as its wait may have grown by then.

    An outage next to the page's illness prolongs it, because no visit could show that the page was well. If a clock
    that was
    behind is set right, the illness is longer by that time.
    """
    ends = [*(phase.since for phase in page.phases[1:]), FOR_EVER]
    ill = [
        (phase.since, end, True, DAY if phase.outcome in ("missing", "moved") else 0.0)
        for phase, end in zip(page.phases, ends, strict=True)
        if phase.outcome != "fetched"
    ]
    ill += [(each.start, each.end, False, DAY if each.kind == "maintenance_301" else 0.0) for each in outages]
    merged: list[tuple[float, float, bool, float]] = []
    for start, end, own, days in sorted(ill):
        if merged and start <= merged[-1][1]:
            before = merged.pop()
            start, end, own, days = before[0], max(before[1], end), before[2] or own, max(before[3], days)
        merged.append((start, end, own, days))
    for start, end, own, days in merged:
        ahead = max(0.0, sum(by for at, by in jumps if start <= at <= end))
        if own and end >= FOR_EVER:
            yield start, FOR_EVER
        elif own or ahead:
            yield start, end + AGAIN * (end - start) + AHEAD * ahead + max(AFTER_PAGE, days)


def _times(world: World, log: Log) -> _Times:
    times = _Times()
    for window in world.line:
        times.all.append(_with_after(window.start, window.end))
    for host in world.hosts:
        for window in host.windows:
            start, end = _with_after(window.start, window.end)
            if window.kind == "maintenance_301":
                end = window.end + AGAIN * min(window.length, DAY) + DAY
            times.of_host[host.name].append((start, end))
    _no_crawler(world, times)
    _jumps(world, times)
    reading = _Reading(world, times)
    for entry in log.entries:
        reading.read(entry)
    reading.end()
    _crowds(world, log, times)
    return times


def _crowds(world: World, log: Log, times: _Times) -> None:
    """Add the times in which an ill host must wait because other ill hosts have all the claims that they may have."""
    watch, rounds = WorldWatch(world), int(world.settings.get("dead_after", 3))
    ill, since = set[str](), dict[str, float]()
    for entry in log.entries:
        watch.take(entry)
        if isinstance(entry, Reported):
            still_ill = watch.hosts[entry.host].rounds() >= rounds
            (ill.add if still_ill else ill.discard)(entry.host)
        out = watch.out(entry.clock) if ill else {}
        most, theirs = most_of_ill(out), sum(out[name] for name in ill)
        waiting = {name for name in ill if theirs - out[name] >= most}
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

    A clock that jumps back meanwhile finds that answer in the future: the wait then counts from the jump.
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
        claimed: (URL, token) → the time of the claim, its end by the true clock, and whether its host was on probation:
            after a failed attempt a host may be asked for one page at a time.
        failures: Host → the times of its failures.
        shut: (reason, host) → the time since which the host must not be asked.
    """

    world: World
    times: _Times
    known: set[str] = field(default_factory=set)
    for_ever: set[str] = field(default_factory=set)
    claimed: dict[tuple[str, str], tuple[float, float, bool]] = field(default_factory=dict)
    failed: dict[str, bool] = field(default_factory=dict)
    failures: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    shut: dict[tuple[str, str], float] = field(default_factory=dict)

    def find(self, url: str, at: float) -> None:
        if url not in self.known and url not in self.for_ever:
            self.known.add(url)
            self.times.found[url].append(at)

    def read(self, entry: Entry) -> None:
        match entry:
            case Called():
                for grant in entry.grants:
                    self.find(grant.url, entry.at)
                    until = entry.at + grant.until - entry.clock
                    self.claimed[grant.url, grant.token] = (entry.at, until, self.failed.get(grant.host, False))
            case Reported():
                self._reported(entry)
            case Returned():
                start, *_ = self.claimed.pop((entry.url, entry.token), (entry.at,))
                self.times.of_page[entry.url].append((start, entry.at))
            case Happened():
                self._happened(entry)

    def _reported(self, entry: Reported) -> None:
        if not entry.accepted:
            return
        at, *_ = self.claimed.pop((entry.url, entry.token), (entry.at,))
        if entry.outcome not in NONE:
            self.failed[entry.host] = entry.outcome in PASSING
            if entry.outcome in PASSING:
                self.failures[entry.host].append(entry.at)
        if entry.outcome == "fetched":
            self.times.good[entry.url].append(at)
            for link in entry.links:
                self.find(link, entry.at)
        elif entry.outcome == "moved" and entry.target:
            self.find(entry.target, entry.at)
        elif entry.outcome == "refused" and entry.retry_after:
            until = _asked_until(self.world, entry.at, min(entry.retry_after, LONGEST_BLOCK))
            self.times.of_host[entry.host].append((entry.at, until))

    def _happened(self, entry: Happened) -> None:
        what, target = entry.what, entry.target
        if what in ("seed", "hint", "crawl_now"):
            self.find(target, entry.at)
        elif what in ("forget", "forget_for_ever"):
            self.known.discard(target)
            self.times.forgotten[target].append(entry.at)
            if what == "forget_for_ever":
                self.for_ever.add(target)
        elif what == "block":
            self.times.of_host[target].append((entry.at, entry.at + entry.value))
        elif what in ("deny_host", "allow_host", "robots"):
            reason = "robots" if what == "robots" else "scope", target
            if what == "deny_host" or "Disallow: /" in entry.text:
                self.shut.setdefault(reason, entry.at)
            elif reason in self.shut:
                self.times.of_host[target].append((self.shut.pop(reason), entry.at))

    def end(self) -> None:
        """Add the spans that the log leaves open: hosts that are still shut, and claims without a report."""
        for (_, host), at in self.shut.items():
            self.times.of_host[host].append((at, FOR_EVER))
        for (url, _), (start, until, probation) in self.claimed.items():
            span = start, until + NOTICED
            self.times.of_page[url].append(span)
            host = url.split("/")[2]
            # On probation a host has one place. An earlier claim that is still out takes it.
            probation |= any(start <= at <= until for at in self.failures[host])
            if probation or self.world.settings.get("in_flight"):
                self.times.of_host[host].append(span)


def spans_of(world: World, log: Log, host: str, url: str) -> Sequence[Span]:
    """Return the times that do not count for a page, for the examination of a finding."""
    return sorted(_times(world, log).spans(host, url))
