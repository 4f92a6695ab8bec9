"""The knowledge of an observer from the log of a crawl, entry by entry: pages, claims, failures, and the hosts that may
be claimed.

The observer knows only the answers of the brain. All times are by the brain's clock, except those named `at`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Any

from graphbrain.base.model import Kind
from graphbrain_lab.bench.worlds.log import Called, Entry, Happened, LoggedGrant, Reported, Returned, own_url
from graphbrain_lab.bench.worlds.world import ANSWERED, GUESSED, NONE, Event, Rules, World

__all__ = ["KNOWN_ILL", "PageSeen", "RobotsSeen", "WatchedHost", "WorldWatch", "most_of_ill"]

ILL_SHARE = 0.1
"""The largest share of all claims in flight that ill hosts may have together."""
KNOWN_ILL = 8
"""The number of attempts in a row without a good answer that proves that a host is ill, unless all were in flight
together."""
ROUNDS = 4
"""The least number of attempts in sequence, each made after the report of the last, that prove an illness."""
LONGEST_BLOCK = 86_400.0
TAKEN_UP = 1.0
"""Seconds within which other Brain objects read a change of the settings, and a pause."""
MOST_REDIRECTS = 5
"""The number of redirects in a row of a robots.txt that are followed. After one more all pages are allowed."""


def most_of_ill(out: Mapping[str, int]) -> float:
    """Return the number of claims that ill hosts may have together. `out`: the claims under way by host."""
    return max(1.0, ILL_SHARE * sum(out.values()))


@dataclass(slots=True)
class RobotsSeen:
    """The robots.txt of a host, by the reported answers. `rules`: the present ones; None if it was never read."""

    rules: Rules | None = None
    redirects: int = 0

    def take(self, entry: Reported) -> bool:
        """Take an accepted report into account. Return True if the rules are known by it."""
        self.redirects = self.redirects + 1 if entry.outcome == "moved" else 0
        if entry.outcome == "fetched":
            self.rules = Rules.read(entry.text)
        elif entry.outcome == "missing" or self.redirects > MOST_REDIRECTS:
            self.rules, self.redirects = Rules(), 0
        else:
            return False
        return True

    def set(self, text: str) -> None:
        """Take a text that was set by hand into account. An empty text makes the rules unknown."""
        self.rules = Rules.read(text) if text else None

    def sitemaps(self, host: str) -> tuple[str, ...]:
        """Return the URLs of the sitemaps that it names. Without any, return the guessed one."""
        named = () if self.rules is None else self.rules.sitemaps
        return named or (f"http://{host}{GUESSED}",)


@dataclass(slots=True)
class PageSeen:
    """A page, a robots.txt or a sitemap.

    Attributes:
        found_at: The time at which it was found, by the true clock.
        held: Token → the end of the lease, for each claim in flight.
        outcome: The outcome of its last accepted report. `reported`, `reported_at` and `retry_after` are of this
            report. fails: The number of attempts in a row that brought no page. brought: True if it was fetched, or
            answered that it has moved. It then counts for its host's budget. alias: True if its last answer was that it
            has moved. parked: True if it was parked by hand, and not asked for since. links: The URLs that it links to,
            by its last content and by hand. wanted: True if it was requested by hand, hinted, or retried after its last
            report. ill: True if it failed before and after another page of its host was well.
    """

    url: str
    host: str
    found_at: float
    held: dict[str, float] = field(default_factory=dict)
    outcome: str | None = None
    reported: float = -inf
    reported_at: float = -inf
    retry_after: float = 0.0
    fails: int = 0
    attempts: int = 0
    fetched: int = 0
    brought: bool = False
    alias: bool = False
    wanted: bool = False
    ill: bool = False
    kind: Kind = "page"
    parked: bool = False
    links: set[str] = field(default_factory=set)

    def is_held(self, clock: float) -> bool:
        """Return whether a claim of it is in flight, and has not lapsed."""
        return any(until > clock for until in self.held.values())


@dataclass(slots=True)
class WatchedHost:
    """A host.

    Attributes:
        granted: The time of its last claim.
        asked_until: The end of the wait that it asked for.
        run: (claimed, reported) of each attempt since its last good answer.
        suspect: The attempts among these whose pages are not known to be ill themselves.
    """

    name: str
    granted: float = -inf
    granted_at: float = -inf
    asked_until: float = -inf
    asked_at: float = -inf
    blocked_until: float = -inf
    robots: RobotsSeen = field(default_factory=RobotsSeen)
    denied: bool = False
    run: list[tuple[float, float]] = field(default_factory=list)
    suspect: list[tuple[float, float]] = field(default_factory=list)
    answered_at: float = -inf
    failed_at: float = -inf
    out: dict[tuple[str, str], float] = field(default_factory=dict)
    first_visits: set[str] = field(default_factory=set)

    @property
    def crawl_delay(self) -> float:
        """Return the Crawl-delay of its robots.txt in seconds."""
        return 0.0 if self.robots.rules is None else self.robots.rules.delay

    def forbids(self, url: str) -> bool:
        """Return whether its robots.txt forbids a page."""
        return self.robots.rules is not None and not self.robots.rules.allow(url)

    def rounds(self) -> int:
        """Return the number of attempts in sequence since its last good answer: each was made after the report of the
        last."""
        return _rounds(self.run)

    def known_ill(self) -> bool:
        """Return whether its failures prove that it is ill. Failures of ill pages prove nothing."""
        return len(self.suspect) >= KNOWN_ILL and _rounds(self.suspect) >= ROUNDS

    def out_now(self, clock: float) -> int:
        """Return the number of its claims in flight."""
        return sum(until > clock for until in self.out.values())


def _rounds(run: Iterable[tuple[float, float]]) -> int:
    count, known = 0, -inf
    for claimed, reported in run:
        if claimed >= known:
            count, known = count + 1, reported
    return count


@dataclass(slots=True)
class WorldWatch:
    """The knowledge at a time of the log. `jumped_at`: the last jump of the brain's clock, by the true clock."""

    world: World
    pages: dict[str, PageSeen] = field(default_factory=dict)
    files: dict[str, PageSeen] = field(default_factory=dict)
    """robots.txt and sitemaps, by their URLs before redirects."""
    hosts: dict[str, WatchedHost] = field(default_factory=dict)
    claimed: dict[tuple[str, str], float] = field(default_factory=dict)
    """(URL, token) → the time of the claim, by the true clock."""
    jumped_at: float = -inf
    back_at: float = -inf
    """The last jump back, by the true clock."""
    happened_at: float = -inf
    """The last action by hand or jump, by the true clock."""
    budget: int = 0
    settings: dict[str, Any] = field(default_factory=dict)
    before: dict[str, Any] = field(default_factory=dict)
    """The settings before the last change, which happened at `set_at`."""
    set_at: float = -inf
    paused: bool = False
    paused_at: float = -inf
    """The last pause or the last end of a pause."""
    unsure: set[str] = field(default_factory=set)
    """Pages that have moved, pages to which others have moved, and pages that were missing: the ends of their links
    are not known from a log."""
    at: float = 0.0
    clock: float = 0.0
    forgotten: set[str] = field(default_factory=set)
    listed: set[tuple[str, str]] = field(default_factory=set)
    """Pairs of an index and a sitemap that it lists."""

    def __post_init__(self) -> None:
        self.hosts = {host.name: WatchedHost(host.name) for host in self.world.hosts}
        self.budget = int(self.world.settings.get("pages_per_host", 0))
        self.settings = self.before = dict(self.world.settings)

    # ------------------------------------------------------------ conclusions

    def delay(self, host: WatchedHost) -> float:
        """Return the least number of seconds between two claims of a host."""
        return max(min(float(each.get("delay_seconds", 1.0)) for each in self._valid()), min(host.crawl_delay, 300.0))

    @property
    def most(self) -> int:
        """Return the largest number of claims of one host at the same time; 0 for no limit."""
        limits = [int(each.get("in_flight", 0)) for each in self._valid()]
        return max(limits) if all(limits) else 0

    def _valid(self) -> tuple[dict[str, Any], ...]:
        """Return the present settings, and those before a change that other Brain objects may not have read yet."""
        return (self.settings,) if self.at >= self.set_at + TAKEN_UP else (self.settings, self.before)

    @property
    def order(self) -> str:
        """Return the order in which the brain visits pages."""
        return str(self.settings.get("order", "optimal"))

    def knows_pause(self, entry: Called) -> bool:
        """Return whether the Brain object of a call must know whether the brain is paused."""
        return not entry.apart or entry.at >= self.paused_at + TAKEN_UP

    def out(self, clock: float) -> dict[str, int]:
        """Return host → the number of its claims in flight."""
        return {name: host.out_now(clock) for name, host in self.hosts.items()}

    def has_room(self, page: PageSeen) -> bool:
        """Return whether its host's budget admits its first visit."""
        taken = self.hosts[page.host].first_visits
        return not self.budget or page.url in taken or len(taken) < self.budget

    def open(self, host: WatchedHost, clock: float) -> bool:
        """Return whether a page of the host may be claimed, apart from the host's health."""
        return (
            not host.denied
            and max(host.asked_until, host.blocked_until) <= clock
            and host.granted + self.delay(host) <= clock
            and not (0 < self.most <= host.out_now(clock))
        )

    def waiting(self, host: WatchedHost, clock: float) -> Iterator[PageSeen]:
        """Yield the host's unattempted pages that could be claimed if their host could be."""
        if host.denied:
            return
        for page in self.pages.values():
            if page.host != host.name or page.attempts or page.parked or page.is_held(clock) or host.forbids(page.url):
                continue
            if self.has_room(page):
                yield page

    def waits_for_robots(self, host: WatchedHost, clock: float) -> bool:
        """Return whether pages of the host may wait for its robots.txt, because it is unknown or claimed."""
        robots = self.files.get(f"http://{host.name}/robots.txt")
        return self.world.asks and (host.robots.rules is None or (robots is not None and robots.is_held(clock)))

    def robots_fails(self, host: WatchedHost) -> bool:
        """Return whether pages of the host wait for a robots.txt that failed last, perhaps on another host."""
        robots = self.files.get(f"http://{host.name}/robots.txt")
        return self.world.asks and host.robots.rules is None and robots is not None and robots.fails > 0

    def seen(self, of: LoggedGrant | Reported | Returned) -> PageSeen | None:
        """Return the known page, robots.txt or sitemap of a claim or a report, else None."""
        return (self.pages if of.kind == "page" else self.files).get(own_url(of))

    def skewed_back(self) -> bool:
        """Return whether the clock has jumped back within the last days. The brain may then have times in the future,
        which count as now."""
        return self.back_at > self.at - 40 * 86_400.0

    # ------------------------------------------------------------ entries

    def take(self, entry: Entry) -> None:
        """Take one more entry of the log into account."""
        self.reach(entry)
        match entry:
            case Called():
                self._called(entry)
            case Reported():
                self._reported(entry)
            case Returned():
                self._end(entry)
            case Happened():
                self._happened(entry)

    def reach(self, entry: Entry) -> None:
        """Note the time of the next entry."""
        self.at, self.clock = entry.at, entry.clock

    def _find(self, url: str) -> PageSeen | None:
        """Return the page with this URL. A new page counts as found now. Return None if it was forgotten for ever."""
        if url in self.forgotten:
            return None
        page = self.pages.get(url)
        if page is None:
            host = url.split("/")[2]
            if host not in self.hosts:
                self.hosts[host] = WatchedHost(host)
            page = self.pages[url] = PageSeen(url, host, self.at)
        return page

    def _called(self, entry: Called) -> None:
        for grant in entry.grants:
            host = self.hosts.setdefault(grant.host, WatchedHost(grant.host))
            host.granted, host.granted_at = entry.clock, entry.at
            host.out[own_url(grant), grant.token] = grant.until
            self.claimed[own_url(grant), grant.token] = entry.at
            page = self._find(grant.url) if grant.kind == "page" else self._met_file(grant)
            if page is not None:
                page.held[grant.token] = grant.until
                if grant.kind == "page":
                    host.first_visits.add(page.url)

    def _met_file(self, grant: LoggedGrant) -> PageSeen:
        home = grant.home
        if home not in self.files:
            self.files[home] = PageSeen(home, home.split("/")[2], self.at, kind=grant.kind)
        return self.files[home]

    def _end(self, of: Reported | Returned) -> None:
        self.hosts[of.host].out.pop((own_url(of), of.token), None)
        page = self.seen(of)
        if page is not None:
            page.held.pop(of.token, None)
            if of.kind == "page" and not page.brought and not page.held:
                self.hosts[of.host].first_visits.discard(of.url)

    def _reported(self, entry: Reported) -> None:
        # Note the state of the page.
        page = self.seen(entry)
        if page is not None and entry.accepted:
            host = self.hosts[entry.host]
            page.ill = entry.outcome not in ANSWERED and (
                page.ill or (page.fails > 0 and page.reported_at < host.answered_at)
            )
            self._visited(page, entry)
        self._end(entry)
        if not entry.accepted:
            return
        # Find the pages that the answer names.
        if entry.kind == "robots":
            self._obey(entry)
        elif entry.outcome == "fetched":
            if page is not None and entry.kind == "page":
                page.links = set(entry.links) - self.forgotten - {entry.url}
            for link in entry.links:
                listed = self._find(link)
                if listed is not None and entry.kind == "sitemap":
                    listed.wanted |= not listed.fetched  # a sitemap hints at its pages
            listed_anew = [url for url in entry.sitemaps if (entry.home, url) not in self.listed]
            self.listed.update((entry.home, url) for url in listed_anew)
            self._want_sitemaps(listed_anew)
        elif entry.outcome == "moved" and entry.target and entry.kind == "page":
            self._find(entry.target)
        # Note the state of the host.
        self._met(self.hosts[entry.host], entry)

    def _obey(self, entry: Reported) -> None:
        """Note the rules of a robots.txt that was reported."""
        host = self.hosts[own_url(entry).split("/")[2]]
        before = host.robots.sitemaps(host.name)
        host.robots.take(entry)
        self._want_sitemaps(set(host.robots.sitemaps(host.name)).difference(before))

    def _want_sitemaps(self, urls: Iterable[str]) -> None:
        """Mark sitemaps that are named anew as wanted. A dead one is then tried at once."""
        for url in urls:
            if url in self.files:
                self.files[url].wanted = True

    def _visited(self, page: PageSeen, entry: Reported) -> None:
        page.outcome, page.reported, page.reported_at = entry.outcome, entry.clock, entry.at
        page.retry_after = min(entry.retry_after or 0.0, LONGEST_BLOCK)
        page.wanted = page.parked = False
        page.attempts += 1
        if entry.outcome in ("moved", "missing"):
            self.unsure.update({page.url, entry.target or page.url})
        if entry.kind != "page" and entry.outcome == "moved":
            return  # the next claim is of its target
        if entry.outcome in ("fetched", "moved"):
            page.fails = 0
            page.brought, page.alias = True, entry.outcome == "moved"
            if entry.kind == "page":
                self.hosts[entry.host].first_visits.add(page.url)
            page.fetched += entry.outcome == "fetched"
        else:
            page.fails += 1

    def _met(self, host: WatchedHost, entry: Reported) -> None:
        if entry.outcome in ANSWERED:
            host.run, host.suspect, host.answered_at = [], [], entry.at
        elif entry.outcome not in NONE:
            # Rounds of failures are counted by the true clock, because the brain's clock can jump.
            attempt = self.claimed.get((own_url(entry), entry.token), entry.at), entry.at
            page = self.seen(entry)
            host.run.append(attempt)
            host.suspect += [] if page is not None and page.ill else [attempt]
            host.failed_at = entry.at
        if entry.outcome == "refused" and entry.retry_after:
            host.asked_until = max(host.asked_until, entry.clock + min(entry.retry_after, LONGEST_BLOCK))
            host.asked_at = entry.at

    def _happened(self, entry: Happened) -> None:
        if entry.what not in ("death", "birth"):
            self.happened_at = entry.at
        if entry.what == "jump":
            self._jumped(entry)
        elif entry.what == "death":
            pass  # its leases lapse
        elif entry.what in ("forget", "forget_for_ever"):
            page = self.pages.pop(entry.target, None)
            for each in self.pages.values():
                each.links.discard(entry.target)
            if page is not None:
                self.hosts[page.host].first_visits.discard(entry.target)
            if entry.what == "forget_for_ever":
                self.forgotten.add(entry.target)
            self._free_aliases()
        elif entry.what in ("hint", "crawl_now", "seed"):
            if entry.what != "hint" and entry.target in self.forgotten:
                return
            page = self._find(entry.target)
            if page is not None:
                page.wanted, page.parked = True, page.parked and entry.what == "hint"
        elif entry.what in ("retry", "retry_page"):
            for page in self.pages.values():
                if entry.target in (page.host, page.url):
                    page.wanted, page.parked = True, False
        elif entry.what in ("park", "link", "unlink"):
            self._corrected(entry)
        elif entry.what in ("pause", "resume"):
            self.paused, self.paused_at = entry.what == "pause", entry.at
        elif entry.what == "set":
            changed = Event(0.0, "set", value=entry.value, text=entry.text).setting()
            self.before, self.settings, self.set_at = self.settings, {**self.settings, **changed}, entry.at
        else:
            self._managed(entry)

    def _corrected(self, entry: Happened) -> None:
        """Note a page that was parked, or a link that was made or removed."""
        if entry.what == "unlink":
            if (source := self.pages.get(entry.target)) is not None:
                source.links.discard(entry.text)
        elif (page := self._find(entry.target)) is not None:
            if entry.what == "park":
                page.parked = True
            else:
                self._find(entry.text)
                page.links.add(entry.text)

    def _jumped(self, entry: Happened) -> None:
        """Correct the times that are in the future after a jump back.

        A claim counts as made now, so that its lease ends at most one lease from now. A lease that had lapsed before
        the jump stays lapsed, because the page may have been claimed again.
        """
        self.jumped_at = entry.at
        if entry.value < 0:
            self.back_at = entry.at
            longest = entry.clock + float(self.world.settings.get("lease_seconds", 300.0))
            before = entry.clock - entry.value
            for page in (*self.pages.values(), *self.files.values()):
                page.held = {token: min(until, longest) for token, until in page.held.items() if until > before}
            for host in self.hosts.values():
                host.out = {claim: min(until, longest) for claim, until in host.out.items() if until > before}
                # A wait that began in that future counts from now.
                host.asked_until = min(host.asked_until, max(entry.clock, host.asked_until + entry.value))

    def _free_aliases(self) -> None:
        """Mark aliases as wanted. When the target of an alias is forgotten, the alias becomes a page that waits."""
        for page in self.pages.values():
            page.wanted |= page.outcome == "moved"

    def _managed(self, entry: Happened) -> None:
        if entry.what == "convert":
            return  # pages, leases and links stay
        if entry.what == "budget":
            self.budget = int(entry.value)
            return
        # Every other order changes one host.
        host = self.hosts.setdefault(entry.target, WatchedHost(entry.target))
        if entry.what == "block":
            host.blocked_until = entry.clock + entry.value
        elif entry.what == "unblock":
            host.blocked_until = host.asked_until = -inf
        elif entry.what in ("deny_host", "allow_host"):
            host.denied = entry.what == "deny_host"
        elif entry.what == "robots":
            before = host.robots.sitemaps(host.name)
            host.robots.set(entry.text)
            self._want_sitemaps(set(host.robots.sitemaps(host.name)).difference(before))
            if (robots := self.files.get(f"http://{host.name}/robots.txt")) is not None:
                robots.wanted = True  # a text counts as read, and without one the file is read anew
