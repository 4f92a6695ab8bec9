"""The judges of a crawl. They find violations of the promises from a world and the log of its crawl, without the
brain.

`progress` is in another module. The other judges read the log entry by entry, with the knowledge of an observer
(`watch`) at that time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import inf

from graphbrain_lab.bench.worlds.log import Called, Entry, Happened, Log, LoggedGrant, Reported, own_url
from graphbrain_lab.bench.worlds.progress import progress
from graphbrain_lab.bench.worlds.verdict import WorldFinding
from graphbrain_lab.bench.worlds.watch import PageSeen, WatchedHost, WorldWatch, most_of_ill
from graphbrain_lab.bench.worlds.world import ANSWERED, DAY, HOUR, World

__all__ = ["judge"]

ROUNDING = 0.01
"""The rounding error of stored times, in seconds."""
SOONEST_AGAIN = 30.0
"""The least seconds that a page waits after a failure."""
EMPTY = 3
"""The largest number of empty answers in a row to a caller that calls at the times that its answers name."""
ROBOTS_HOLD, SITEMAPS_HOLD, ROBOTS_AGAIN = 20 * HOUR, HOUR, 15.0
"""The least seconds between two reads of a robots.txt, between two reads of a sitemap, and after a failed read of a
robots.txt."""
MOST_SITEMAPS = 0.25
"""The largest share of a call's claims that are of sitemaps while pages wait. One claim is always allowed."""
WELL_FOR = HOUR
"""Seconds without a failure after which a host counts as well, and its back-off has ended."""


def judge(world: World, log: Log) -> list[WorldFinding]:
    """Return all violations that the judges find, in the order of time."""
    found = list(progress(world, log))
    watch = WorldWatch(world)
    judges = (_Polite(world), _Once(world), _Honest(world), _RobotsFirst(world), _Sitemaps(world), _Obedient(world))
    for entry in log.entries:
        watch.reach(entry)
        for each in judges:
            found += each.before(entry, watch)
        watch.take(entry)
        for each in judges:
            found += each.after(entry, watch)
    found += [WorldFinding("audit", log.ended, text) for text in log.audit]
    return sorted(found, key=lambda finding: finding.at)


@dataclass(slots=True)
class _Judge:
    """A judge. `before` yields violations by the observer's knowledge before an entry, `after` by that with the
    entry."""

    world: World

    def before(self, entry: Entry, watch: WorldWatch) -> Iterator[WorldFinding]:
        if isinstance(entry, Called):
            for grant in entry.grants:
                yield from self.grant(grant, entry, watch)

    def after(self, entry: Entry, watch: WorldWatch) -> Iterator[WorldFinding]:  # noqa: ARG002
        yield from ()

    def grant(self, grant: LoggedGrant, entry: Called, watch: WorldWatch) -> Iterator[WorldFinding]:  # noqa: ARG002
        yield from ()


@dataclass(slots=True)
class _Polite(_Judge):
    """The judge of politeness. No host is claimed earlier than its delay, Retry-After and block allow, nor too often at
    once. Ill hosts have at most a tenth of the claims."""

    def before(self, entry: Entry, watch: WorldWatch) -> Iterator[WorldFinding]:
        yield from _Judge.before(self, entry, watch)
        if isinstance(entry, Called):
            names = [grant.host for grant in entry.grants]
            for name in sorted({name for name in names if names.count(name) > 1}):
                if watch.delay(watch.hosts[name]) > 0:
                    yield WorldFinding("polite", entry.at, f"{name} was claimed {names.count(name)} times in one call.")

    def grant(self, grant: LoggedGrant, entry: Called, watch: WorldWatch) -> Iterator[WorldFinding]:
        # Judge the delay, the wait that the host asked for, and a block.
        host = watch.hosts.setdefault(grant.host, WatchedHost(grant.host))
        passed = entry.clock - host.granted
        if watch.jumped_at < host.granted_at and passed < watch.delay(host) - ROUNDING:
            yield WorldFinding(
                "polite",
                entry.at,
                f"{grant.url}: {grant.host} was claimed {passed:.3f} s after the last time; its delay is "
                f"{watch.delay(host):g} s.",
            )
        if watch.jumped_at < host.asked_at and entry.clock < host.asked_until - ROUNDING:
            yield WorldFinding(
                "polite",
                entry.at,
                f"{grant.url}: {grant.host} asked for a wait of {host.asked_until - entry.clock:.1f} s more.",
            )
        if entry.clock < host.blocked_until - ROUNDING and watch.jumped_at < entry.at - 2 * DAY:
            yield WorldFinding("polite", entry.at, f"{grant.url}: {grant.host} is blocked by hand.")
        # Judge the rules, and the number of claims at once.
        if grant.kind == "page" and (host.denied or host.forbids(grant.url)):
            why = "the scope" if host.denied else "robots.txt"
            yield WorldFinding("polite", entry.at, f"{grant.url}: forbidden by {why}.")
        if 0 < watch.most <= host.out_now(entry.clock):
            yield WorldFinding(
                "polite",
                entry.at,
                f"{grant.url}: {host.out_now(entry.clock)} claims of {grant.host} were out; in_flight is {watch.most}.",
            )

    def after(self, entry: Entry, watch: WorldWatch) -> Iterator[WorldFinding]:
        if not isinstance(entry, Called):
            return
        # Ill hosts may have more than their share only if no other page is due.
        ill = {name for name, host in watch.hosts.items() if host.known_ill()}
        if not ill.intersection(grant.host for grant in entry.grants):
            return
        out = watch.out(entry.clock)
        theirs = sum(out[name] for name in ill)
        if theirs <= most_of_ill(out):
            return
        due = next(_due(watch, entry), None)
        if due is not None:
            yield WorldFinding(
                "polite",
                entry.at,
                f"hosts known to be ill ({', '.join(sorted(ill))}) have {theirs} of the {sum(out.values())} claims "
                f"that are out, while {due.url} of a host that is well is due.",
            )


def _due(watch: WorldWatch, entry: Called) -> Iterator[PageSeen]:
    """Yield unfetched pages of hosts that are well, which could be claimed now."""
    if watch.happened_at > entry.at - WELL_FOR and watch.happened_at > 0:
        return
    for host in watch.hosts.values():
        well = host.answered_at > -inf and not host.run and host.failed_at < entry.at - WELL_FOR
        if well and watch.open(host, entry.clock) and not watch.waits_for_robots(host, entry.clock):
            yield from watch.waiting(host, entry.clock)


@dataclass(slots=True)
class _Once(_Judge):
    """The judge of due times. No page, robots.txt or sitemap is claimed before it is due, or by two workers at once."""

    def grant(self, grant: LoggedGrant, entry: Called, watch: WorldWatch) -> Iterator[WorldFinding]:
        page, url = watch.seen(grant), own_url(grant)
        if page is None:
            if grant.kind == "page" and url in watch.forgotten:
                yield WorldFinding("once", entry.at, f"{url} was claimed, though it was forgotten for ever.")
            return
        if grant.token in page.held:
            yield WorldFinding("once", entry.at, f"{url} was claimed twice by the same token.")
        elif page.is_held(entry.clock):
            left = max(page.held.values()) - entry.clock
            yield WorldFinding("once", entry.at, f"{url} is claimed by another worker for {left:.1f} s more.")
        elif page.outcome is not None and not page.wanted:
            yield from self._early(entry, page, watch)

    def _early(self, entry: Called, page: PageSeen, watch: WorldWatch) -> Iterator[WorldFinding]:
        passed = entry.clock - page.reported
        if watch.jumped_at >= page.reported_at:
            passed = max(passed, entry.at - page.reported_at)
            if watch.skewed_back():
                return
        least = _least_wait(page, watch)
        if passed < least - ROUNDING:
            wait = "never again" if least == inf else f"after {least:.0f} s"
            yield WorldFinding(
                "once",
                entry.at,
                f"{page.url} was claimed {passed:.1f} s after it was reported as {page.outcome} "
                f"({page.fails} times in a row); it is due {wait}.",
            )


def _least_wait(page: PageSeen, watch: WorldWatch) -> float:
    """Return the least number of seconds after its last report until a page or a file is due again."""
    if page.kind != "page" and page.outcome == "moved":
        return 0.0  # the next claim is of its target
    if page.kind == "robots":
        return ROBOTS_HOLD if page.outcome in ("fetched", "missing") else ROBOTS_AGAIN
    if page.kind == "sitemap":
        return SITEMAPS_HOLD
    if page.outcome == "fetched":
        if watch.order != "optimal":
            return inf
        return float(watch.settings.get("revisit_seconds", DAY))
    if page.outcome in ("missing", "moved"):
        return DAY
    return page.retry_after or SOONEST_AGAIN


@dataclass(slots=True)
class _Honest(_Judge):
    """The judge of answers. The times that answers name have claims, and after `finished` no page of a well host is
    left."""

    streaks: dict[str, int] = field(default_factory=dict)
    finished_at: float | None = None
    ill_then: set[str] = field(default_factory=set)
    """Hosts without a good answer since they failed, or whose robots.txt was not known, at the last answer
    `finished`."""

    def before(self, entry: Entry, watch: WorldWatch) -> Iterator[WorldFinding]:
        yield from _Judge.before(self, entry, watch)
        if isinstance(entry, Happened) and entry.what not in ("death", "birth"):
            self.finished_at = None
            self.streaks.clear()
        elif isinstance(entry, Reported):
            self.streaks.clear()  # a report may change the time of the next claim
            if entry.accepted and _brings_more(entry, watch):
                self.finished_at = None
        elif isinstance(entry, Called):
            yield from self._called(entry, watch)

    def _called(self, entry: Called, watch: WorldWatch) -> Iterator[WorldFinding]:
        # Judge empty answers at times that earlier answers named.
        if entry.grants:
            self.streaks = {entry.crawler: 0}
            return
        if entry.as_told:
            count = self.streaks[entry.crawler] = self.streaks.get(entry.crawler, 0) + 1
            if count == EMPTY + 1 and not entry.paused:
                yield WorldFinding(
                    "honest",
                    entry.at,
                    f"{entry.crawler} called at the time named to it, and got no claim {count} times in a row.",
                )
        # Judge the end of the crawl, and answers that name no time.
        if entry.finished:
            self.finished_at = entry.at
            self.ill_then = {
                name for name, host in watch.hosts.items() if host.run or watch.waits_for_robots(host, entry.clock)
            }
            yield from self._over(entry, watch)
        elif (
            entry.ready is None
            and not entry.paused
            and not any(each.is_held(entry.clock) for each in (*watch.pages.values(), *watch.files.values()))
        ):
            yield WorldFinding(
                "honest", entry.at, "no page is claimed, the crawl is not finished, and no time was named."
            )

    def _over(self, entry: Called, watch: WorldWatch) -> Iterator[WorldFinding]:
        """Yield a violation if pages of a well host are left, although the answer was `finished`."""
        for host in watch.hosts.values():
            if host.run or watch.robots_fails(host):
                continue
            left = [page.url for page in watch.waiting(host, entry.clock) if not page.attempts]
            if left and host.blocked_until <= entry.clock + DAY:
                yield WorldFinding(
                    "honest",
                    entry.at,
                    f"finished was answered, but {len(left)} pages of {host.name} were never fetched, as {left[0]}.",
                )
                return

    def grant(self, grant: LoggedGrant, entry: Called, watch: WorldWatch) -> Iterator[WorldFinding]:
        page, host = watch.seen(grant), watch.hosts.get(grant.host)
        if grant.kind != "page":
            return  # robots.txt and sitemaps become due again, also after a crawl
        if self.finished_at is None or page is None or host is None or host.run or grant.host in self.ill_then:
            return
        if page.fetched or page.alias:
            return
        if page.fails >= int(self.world.settings.get("max_errors", 5)):
            return
        yield WorldFinding(
            "honest",
            entry.at,
            f"{grant.url} was claimed after finished was answered at {self.finished_at:.0f} s; it was tried "
            f"{page.attempts} times, and its host is well.",
        )


@dataclass(slots=True)
class _RobotsFirst(_Judge):
    """The judge of robots.txt. A caller that asks for them gets no page of a host whose robots.txt was never read."""

    def grant(self, grant: LoggedGrant, entry: Called, watch: WorldWatch) -> Iterator[WorldFinding]:
        host = watch.hosts.get(grant.host)
        if grant.kind == "page" and "robots" in entry.kinds and (host is None or host.robots.rules is None):
            yield WorldFinding(
                "robots", entry.at, f"{grant.url} was claimed, but the robots.txt of {grant.host} was never read."
            )


@dataclass(slots=True)
class _Sitemaps(_Judge):
    """The judge of sitemaps. While pages wait, at most a quarter of a call's claims, or one, are of sitemaps."""

    def after(self, entry: Entry, watch: WorldWatch) -> Iterator[WorldFinding]:
        if not isinstance(entry, Called):
            return
        sitemaps = sum(grant.kind == "sitemap" for grant in entry.grants)
        if sitemaps > max(1.0, MOST_SITEMAPS * entry.asked) and (due := next(_due(watch, entry), None)) is not None:
            yield WorldFinding(
                "sitemaps", entry.at, f"{sitemaps} of {entry.asked} claims are of sitemaps, while {due.url} is due."
            )


@dataclass(slots=True)
class _Obedient(_Judge):
    """The judge of orders by hand. A paused brain gives no claims, no parked page is claimed, and the answers to `link`
    and `unlink` are true."""

    def before(self, entry: Entry, watch: WorldWatch) -> Iterator[WorldFinding]:
        yield from _Judge.before(self, entry, watch)
        if isinstance(entry, Called) and watch.knows_pause(entry):
            if entry.paused != watch.paused or (watch.paused and (entry.grants or entry.finished)):
                yield WorldFinding(
                    "obedient",
                    entry.at,
                    f"paused is {watch.paused}, but the answer has paused = {entry.paused}, "
                    f"finished = {entry.finished}, and {len(entry.grants)} claims.",
                )
        elif isinstance(entry, Happened) and entry.what in ("link", "unlink"):
            yield from self._linked(entry, watch)
        elif isinstance(entry, Happened) and (entry.what, entry.done) in (
            ("pause", watch.paused),
            ("resume", not watch.paused),
        ):
            yield WorldFinding("obedient", entry.at, f"{entry.what} answered {entry.done}.")

    def _linked(self, entry: Happened, watch: WorldWatch) -> Iterator[WorldFinding]:
        source = watch.pages.get(entry.target)
        links = set[str]() if source is None else source.links
        if watch.unsure.isdisjoint({entry.target, entry.text, *links}):
            is_change = (entry.text not in links) == (entry.what == "link")
            if entry.done != is_change:
                yield WorldFinding(
                    "obedient", entry.at, f"{entry.what} of {entry.target} and {entry.text} answered {entry.done}."
                )

    def grant(self, grant: LoggedGrant, entry: Called, watch: WorldWatch) -> Iterator[WorldFinding]:
        page = watch.seen(grant)
        if page is not None and page.parked:
            yield WorldFinding("obedient", entry.at, f"{grant.url} was claimed, though it is parked by hand.")


def _brings_more(entry: Reported, watch: WorldWatch) -> bool:
    """Return whether a report may make more pages claimable: it names unknown pages, or a robots.txt or a sitemap was
    read."""
    if entry.kind != "page":
        return entry.outcome in ANSWERED
    return any(link not in watch.pages for link in (*entry.links, *([entry.target] if entry.target else [])))
