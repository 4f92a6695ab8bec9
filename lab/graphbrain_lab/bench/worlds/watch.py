"""An observer's knowledge from the log of a crawl, entry by entry: pages found, claims, failures, hosts that may be
asked.

It takes nothing from the brain but its answers. All times are the brain's, except those named `at`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import inf

from graphbrain.base.model import Kind
from graphbrain_lab.bench.worlds.log import Called, Entry, Happened, LoggedGrant, Reported, Returned, own_url
from graphbrain_lab.bench.worlds.world import ANSWERED, GUESSED, NONE, Rules, World

__all__ = ["KNOWN_ILL", "PageSeen", "RobotsSeen", "WatchedHost", "WorldWatch", "most_of_ill"]

ILL_SHARE = 0.1
"""The share of all claims under way that ill hosts may have together."""
KNOWN_ILL = 8
"""Attempts in a row without a good answer after which a host is known to be ill, unless all were under way together."""
ROUNDS = 4
"""The least number of attempts, each made after the report of the one before, that prove an illness."""
LONGEST_BLOCK = 86_400.0
MOST_REDIRECTS = 5
"""Redirects in a row of a robots.txt that are followed. After a further one all is allowed."""


def most_of_ill(out: Mapping[str, int]) -> float:
    """Return the number of claims that ill hosts may have together. `out`: the claims under way by host."""
    return max(1.0, ILL_SHARE * sum(out.values()))


@dataclass(slots=True)
class RobotsSeen:
    """The robots.txt of a host, by the answers that were reported. `rules`: those that hold; None: it was never
    read."""

    rules: Rules | None = None
    redirects: int = 0

    def take(self, entry: Reported) -> bool:
        """Take an accepted report into account. Return whether it shows the rules."""
        self.redirects = self.redirects + 1 if entry.outcome == "moved" else 0
        if entry.outcome == "fetched":
            self.rules = Rules.read(entry.text)
        elif entry.outcome == "missing" or self.redirects > MOST_REDIRECTS:
            self.rules, self.redirects = Rules(), 0
        else:
            return False
        return True

    def set(self, text: str) -> None:
        """Take a text into account that was set by hand. An empty one: what was known is forgotten."""
        self.rules = Rules.read(text) if text else None

    def sitemaps(self, host: str) -> tuple[str, ...]:
        """Return the URLs of the sitemaps that it names, or of the one that is tried where it names none."""
        named = () if self.rules is None else self.rules.sitemaps
        return named or (f"http://{host}{GUESSED}",)


@dataclass(slots=True)
class PageSeen:
    """A page, a robots.txt or a sitemap.

    Attributes:
        found_at: The time at which it was found, by the true clock.
        held: Token → end of the lease, of claims under way.
        outcome: Of its last accepted report, as are `reported`, `reported_at` and `retry_after`.
        fails: Number of attempts in a row that brought no page.
        brought: It was fetched, or answered that it has moved. Then it counts for its host's budget.
        alias: Its last answer was that it has moved.
        wanted: It was asked for by hand, hinted, or let wait again since.
        ill: It failed before and after another page of its host was well.
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
    """It was fetched, or answered that it has moved."""
    alias: bool = False
    """Its last answer was that it has moved."""
    wanted: bool = False
    ill: bool = False
    """It failed before and after another page of its host was well."""
    kind: Kind = "page"

    def is_held(self, clock: float) -> bool:
        """Return whether a claim of it is under way that has not lapsed."""
        return any(until > clock for until in self.held.values())


@dataclass(slots=True)
class WatchedHost:
    """A host.

    Attributes:
        granted: The time of its last claim.
        asked_until: The end of the wait that it asked for.
        run: (claimed, reported) of the attempts since its last good answer.
        suspect: Those of them whose pages had not been found to be ill themselves.
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
        """The Crawl-delay of its robots.txt."""
        return 0.0 if self.robots.rules is None else self.robots.rules.delay

    def forbids(self, url: str) -> bool:
        """Return whether its robots.txt forbids a page."""
        return self.robots.rules is not None and not self.robots.rules.allow(url)

    def rounds(self) -> int:
        """Return the number of attempts since its last good answer that were each made after the report of the one
        before."""
        return _rounds(self.run)

    def known_ill(self) -> bool:
        """Return whether its failures prove that it is ill. Failures of pages while it was well prove nothing."""
        return len(self.suspect) >= KNOWN_ILL and _rounds(self.suspect) >= ROUNDS

    def out_now(self, clock: float) -> int:
        """Return the number of its claims under way."""
        return sum(until > clock for until in self.out.values())


def _rounds(run: Iterable[tuple[float, float]]) -> int:
    count, known = 0, -inf
    for claimed, reported in run:
        if claimed >= known:
            count, known = count + 1, reported
    return count


@dataclass(slots=True)
class WorldWatch:
    """The knowledge at a moment of the log. `jumped_at`: the last jump of the brain's clock, by the true clock."""

    world: World
    pages: dict[str, PageSeen] = field(default_factory=dict)
    files: dict[str, PageSeen] = field(default_factory=dict)
    """robots.txt and sitemaps, by their URL before redirects"""
    hosts: dict[str, WatchedHost] = field(default_factory=dict)
    claimed: dict[tuple[str, str], float] = field(default_factory=dict)
    """(URL, token) → the time of the claim, by the true clock."""
    jumped_at: float = -inf
    back_at: float = -inf
    """The last jump back, by the true clock."""
    happened_at: float = -inf
    """The last action by hand or jump, by the true clock."""
    budget: int = 0
    at: float = 0.0
    clock: float = 0.0
    forgotten: set[str] = field(default_factory=set)
    listed: set[tuple[str, str]] = field(default_factory=set)
    """(index, sitemap) that it lists"""

    def __post_init__(self) -> None:
        self.hosts = {host.name: WatchedHost(host.name) for host in self.world.hosts}
        self.budget = int(self.world.settings.get("pages_per_host", 0))

    # ------------------------------------------------------------ what follows from it

    def delay(self, host: WatchedHost) -> float:
        """Return the least seconds between two claims of a host."""
        return max(self.world.delay, min(host.crawl_delay, 300.0))

    @property
    def most(self) -> int:
        """Claims of one host at the same time; 0: no limit."""
        return int(self.world.settings.get("in_flight", 0))

    def out(self, clock: float) -> dict[str, int]:
        """Return the number of claims under way by host."""
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
        """Yield the host's pages that were never attempted and that only their host keeps from being claimed."""
        if host.denied:
            return
        for page in self.pages.values():
            if page.host != host.name or page.attempts or page.is_held(clock) or host.forbids(page.url):
                continue
            if self.has_room(page):
                yield page

    def waits_for_robots(self, host: WatchedHost, clock: float) -> bool:
        """Return whether pages of the host may wait for its robots.txt: it is not known, or is being read."""
        robots = self.files.get(f"http://{host.name}/robots.txt")
        return self.world.asks and (host.robots.rules is None or (robots is not None and robots.is_held(clock)))

    def robots_fails(self, host: WatchedHost) -> bool:
        """Return whether pages of the host wait for a robots.txt that failed last, perhaps on another host."""
        robots = self.files.get(f"http://{host.name}/robots.txt")
        return self.world.asks and host.robots.rules is None and robots is not None and robots.fails > 0

    def seen(self, of: LoggedGrant | Reported | Returned) -> PageSeen | None:
        """Return the page, the robots.txt or the sitemap that a claim or a report is of, if it was met."""
        return (self.pages if of.kind == "page" else self.files).get(own_url(of))

    def skewed_back(self) -> bool:
        """Return whether the clock has jumped back within the last days. Times stored in the future count as now."""
        return self.back_at > self.at - 40 * 86_400.0

    # ------------------------------------------------------------ going on

    def take(self, entry: Entry) -> None:
        """Take one more entry of the log into account."""
        self.at, self.clock = entry.at, entry.clock
        match entry:
            case Called():
                self._called(entry)
            case Reported():
                self._reported(entry)
            case Returned():
                self._end(entry)
            case Happened():
                self._happened(entry)

    def _find(self, url: str) -> PageSeen | None:
        """Return a page that was found; None if it was forgotten for ever."""
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
        if entry.kind == "robots":
            self._obey(entry)
        elif entry.outcome == "fetched":
            for link in entry.links:
                listed = self._find(link)
                if listed is not None and entry.kind == "sitemap":
                    listed.wanted |= not listed.fetched  # what a sitemap lists is hinted at
            listed_anew = [url for url in entry.sitemaps if (entry.home, url) not in self.listed]
            self.listed.update((entry.home, url) for url in listed_anew)
            self._want_sitemaps(listed_anew)
        elif entry.outcome == "moved" and entry.target and entry.kind == "page":
            self._find(entry.target)
        self._met(self.hosts[entry.host], entry)

    def _obey(self, entry: Reported) -> None:
        """Note the rules of a robots.txt that was reported."""
        host = self.hosts[own_url(entry).split("/")[2]]
        before = host.robots.sitemaps(host.name)
        host.robots.take(entry)
        self._want_sitemaps(set(host.robots.sitemaps(host.name)).difference(before))

    def _want_sitemaps(self, urls: Iterable[str]) -> None:
        """Mark sitemaps as wanted that are named anew: one that was dead is tried at once then."""
        for url in urls:
            if url in self.files:
                self.files[url].wanted = True

    def _visited(self, page: PageSeen, entry: Reported) -> None:
        page.outcome, page.reported, page.reported_at = entry.outcome, entry.clock, entry.at
        page.retry_after = min(entry.retry_after or 0.0, LONGEST_BLOCK)
        page.wanted = False
        page.attempts += 1
        if entry.kind != "page" and entry.outcome == "moved":
            return  # the next claim is of its target, and shows whether it can be had
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
            # By the true clock: that of the brain can jump.
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
            pass  # what it held lapses
        elif entry.what in ("forget", "forget_for_ever"):
            page = self.pages.pop(entry.target, None)
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
                page.wanted = True
        elif entry.what == "retry":
            for page in self.pages.values():
                page.wanted |= page.host == entry.target
        else:
            self._managed(entry)

    def _jumped(self, entry: Happened) -> None:
        """Correct the times that a jump back puts into the future.

        A claim counts as made now, so its lease ends no later than one lease from now. A lease that had lapsed in that
        future stays lapsed: the page may have been claimed again.
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
                # A wait that was asked for in the future counts from now.
                host.asked_until = min(host.asked_until, max(entry.clock, host.asked_until + entry.value))

    def _free_aliases(self) -> None:
        """Mark aliases as wanted: when the target of an alias is forgotten, the alias waits to be fetched as a page."""
        for page in self.pages.values():
            page.wanted |= page.outcome == "moved"

    def _managed(self, entry: Happened) -> None:
        if entry.what == "budget":
            self.budget = int(entry.value)
            return
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
                robots.wanted = True  # a text that is set counts as read; without one it is read anew
