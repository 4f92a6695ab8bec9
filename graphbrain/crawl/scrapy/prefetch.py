"""A desk between an event loop and the brain: two threads claim pages in advance and write reports later.

An event loop must not wait for a database. The methods of the desk return at once: `take` returns a page that a thread
has claimed before, and `done` puts a finished visit into a queue. One thread claims pages and renews leases, the other
one writes. A claim is renewed until it is reported or given back, also while its report waits to be written.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from graphbrain import Answer, Brain, Claim, Claims, Failed, Fetched, Page
from graphbrain.base.errors import BadInput, GraphbrainError, GraphTooSmall
from graphbrain.base.model import PAGES, SeedAnswer
from graphbrain.base.urls.normalization import address, host_of
from graphbrain.base.urls.walls import ASKED
from graphbrain.frontier.hosts import admin
from graphbrain.frontier.hosts.health import crawl_patience, kind_of

__all__ = [
    "ASKED_AT_ONCE",
    "MOST_UNWRITTEN",
    "WALL_ADVICE",
    "Desk",
    "FinishedVisit",
    "PageToFetch",
    "Report",
    "Witness",
    "unexpected",
]

SHORTEST_PAUSE, LONGEST_PAUSE = 0.05, 1.0
"""Least and most seconds between two claims, when the last one returned fewer pages than were wanted."""
MOST_UNWRITTEN = 200
"""Number of reports that wait to be written at which the desk claims no more pages."""
GATHERED, ENOUGH = 1.0, 100
"""While claims return all pages that are wanted, visits are reported in batches: after so many seconds, or when there
are so many of them. One transaction for each visit would take twice the time."""
TOGETHER = 0.02
"""Seconds for which visits are gathered while claims return too few pages: a report may bring the missing ones."""
ASKED_AT_ONCE = 4
"""The desk claims when at least 1/`ASKED_AT_ONCE` of all pages that may be fetched at once are missing, or a little
later."""
RETRY_PATIENCE = 10.0
"""Seconds for which the crawl waits for a page that is to be tried again, unless `patience` is given."""
MOST_LOOKED = 100
"""Most pages of a host that are read to find one that came without a field for a password."""
LONGEST_TURN = 120.0
"""Most seconds for which a step of a redirect waits for its host."""
WALL_ADVICE = (
    "A request with meta 'graphbrain_every_process' is sent by each process, before it is handed pages: 'Sessions' in "
    "the documentation has a spider."
)
"""The advice in the log on a login to which pages lead."""
MOST_SAID = 10
"""Most start pages of a batch that the log names because they will not be fetched."""
MOST_WALLED = 1_000
"""Most hosts that the log names because their pages lead to a login."""
COUNTED_AS = {"robots": "robots", "sitemap": "sitemaps", "link": "links"}
"""Kind of claim → the name under which its reports are counted."""
RENEWALS = 3
"""Number of times that a claim is renewed within `lease_seconds`."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PageToFetch:
    """A page to fetch now, with the note that was written on it: empty if there is none."""

    claim: Claim
    note: str = ""


@dataclass(frozen=True, slots=True)
class FinishedVisit:
    """A finished visit and its report.

    Attributes:
        claim: The claim of the page.
        result: The report; None gives the claim back.
        notes: URL of a page that it links to → the note on that page. Notes are written before the report.
    """

    claim: Claim
    result: Fetched | Failed | None
    notes: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Work:
    """One batch for the thread that writes: start pages with their notes, visits, and robots.txt by origin."""

    seeds: dict[str, str]
    visited: list[FinishedVisit]
    robots: dict[str, bytes]


Report = Fetched | Failed


class Witness:
    """An observer of reports. The thread that writes calls it with each batch of visits; a batch may come twice."""

    def before(self, reports: Sequence[Report]) -> None:
        """Note that these visits will be reported next."""

    def after(self, reports: Sequence[Report], answers: Sequence[Answer]) -> None:
        """Note that these visits were reported, and the brain's answer to each."""


class Desk:
    """A queue of claimed pages and a queue of reports, each with a thread that talks to the brain.

    One thread, that of the event loop, calls all methods. All return at once, except `close` and those whose docstring
    names a wait for the database.

    Args:
        brain: The open brain.
        patience: Seconds. The crawl counts as over when the next page can be claimed only later than that, or when only
            ill hosts are left and no host has answered well for so long. None: the limit is the length of a lease for
            pages that wait for their host or that others have claimed, and `RETRY_PATIENCE` for pages that have failed.
        now_only: Claim only pages that were asked for by `graphbrain now`.
        agent: The product token by which each robots.txt is read; None: the brain's.
        witness: The observer of the reports of pages.
        waits_for_hosts: Wait for a host that has failed as long as `health.crawl_patience` allows, and not only for
            `RETRY_PATIENCE`.
        wall_advice: The advice in the log on a login to which pages lead.
        kinds: The kinds of claims to ask for. Only pages are shown to the witness and counted as pages.
    """

    def __init__(
        self,
        brain: Brain,
        patience: float | None = None,
        *,
        now_only: bool = False,
        agent: str | None = None,
        witness: Witness | None = None,
        waits_for_hosts: bool = False,
        wall_advice: str = WALL_ADVICE,
        kinds: Collection[str] = PAGES,
    ) -> None:
        # The options.
        self.brain, self._patience, self._now_only, self._agent = brain, patience, now_only, agent
        self._witness = witness or Witness()
        self._waits_for_hosts, self._wall_advice = waits_for_hosts, wall_advice
        self._kinds = tuple(kinds)
        # The results, for the crawl to read.
        self.failure: GraphbrainError | None = None
        """The error that has ended the threads. After it nothing is claimed or written."""
        self.counts = {"claimed": 0, "reported": 0, "refused": 0, "failed": 0, "given_back": 0, "seeded": 0, "lost": 0}
        self.counts |= {"userinfo_dropped": 0, "forbidden": 0, **dict.fromkeys(COUNTED_AS.values(), 0)}
        self.seeds_sent = self.unmet = 0
        """Numbers of start pages: of those that were sent to the brain, and of those that will not be fetched."""
        self.ended: Claims | None = None
        """The brain's answer after which the crawl counts as over."""
        self.starved = False
        """True if the last call claimed nothing, and no page waits for its host. Only a report can bring more pages."""
        # Claimed pages: how many are wanted, those at hand, and all whose leases are renewed.
        self._lock = threading.Lock()
        self._wanted, self._most, self._worth = 0, 0, 1
        self._ready: deque[PageToFetch] = deque()
        self._leased: dict[tuple[str, str], Claim] = {}
        self._out = 0
        """The number of pages that the event loop is fetching."""
        self._hungry = True
        """True if the last call claimed fewer pages than were requested."""
        self._not_before = self._due_at = self._renew_at = 0.0
        """Monotonic times: when `want` may wake the thread that claims; when the next page can be claimed, 0 if that is
        not known or not soon; and when leases are to be renewed."""
        # What waits to be written.
        self._unwritten: deque[FinishedVisit] = deque()
        self._seeds: dict[str, str] = {}
        self._robots: dict[str, bytes] = {}
        self._writing = 0
        """The number of visits, start pages and robots.txt that are being written."""
        self._gathering_since = 0.0
        # The end of the crawl.
        self._began = self._last_well = time.monotonic()
        self._events = 0
        """The number of events after which the crawl may go on."""
        self._over = self._paused = False
        self._walled: set[str] = set()
        # The threads.
        self._stop_claiming, self._stop_writing = threading.Event(), threading.Event()
        self._claim_now, self._write_now = threading.Event(), threading.Event()
        self._claimer = threading.Thread(target=self._claim_for_ever, name="graphbrain claims", daemon=True)
        self._writer = threading.Thread(target=self._write_for_ever, name="graphbrain reports", daemon=True)

    # ---------------------------------------------------------------- calls of the event loop

    def open(self) -> None:
        """Start both threads of the desk."""
        self._claimer.start()
        self._writer.start()

    def want(self, pages: int, most: int, worth: int = 1) -> None:
        """Set how many claimed pages the desk keeps at hand.

        Args:
            pages: The number of pages that could be fetched now.
            most: The limit of all claims, including those whose reports are not written yet.
            worth: The least number of missing pages for which the brain is asked.
        """
        with self._lock:
            self._wanted, self._most, self._worth = pages, most, worth
            short = self._missing() > 0
        if short and time.monotonic() >= self._not_before:
            self._claim_now.set()

    def _missing(self) -> int:
        """Return how many pages are to be claimed now. The caller holds the lock."""
        missing = self._wanted - len(self._ready)
        return 0 if missing < self._worth else min(missing, self._most - len(self._leased))

    def take(self) -> PageToFetch | None:
        """Return a page to fetch now, or None if none is at hand. Its lease is renewed until `done` takes it back."""
        now = self.brain.now()
        with self._lock:
            while self._ready:
                page = self._ready.popleft()
                # A lease lapses here only if this process or its database was stopped.
                if (claim := self._leased.get(_of(page.claim))) is not None and claim.until > now:
                    self._out += 1
                    return PageToFetch(claim, page.note)
                self._leased.pop(_of(page.claim), None)
                self.counts["lost"] += 1
        return None

    def done(self, visited: FinishedVisit) -> None:
        """Queue the visit of a page that `take` returned, to be reported or given back soon."""
        with self._lock:
            self._out -= 1
            if not self._unwritten:
                self._gathering_since = time.monotonic()
            self._unwritten.append(visited)
            self._note_event()
            # The first visit of a batch starts the time of gathering.
            wakes_writer = len(self._unwritten) == 1 or len(self._unwritten) >= ENOUGH or self._hungry
        if wakes_writer:
            self._write_now.set()

    def seed(self, url: str, note: str = "") -> None:
        """Queue a start page of the crawl, with a note on it."""
        with self._lock:
            self._seeds[url] = self._seeds.get(url) or note
            self._note_event()
        self._write_now.set()

    def obey(self, origin: str, text: bytes) -> None:
        """Queue the robots.txt of an origin. It is written before any visit that ends later. All workers obey it."""
        with self._lock:
            self._robots[origin] = text
            self._note_event()
        self._write_now.set()

    @property
    def ready(self) -> bool:
        """True if a claimed page is ready to be requested."""
        return bool(self._ready)

    @property
    def over(self) -> bool:
        """True if no process has pages left to fetch and this one has nothing to write, or if a thread has failed."""
        with self._lock:
            return self.failure is not None or (self._over and not self._busy())

    def why_nothing(self) -> str:
        """Return the reason why this process claimed no page before the crawl counted as over. Empty if it claimed one.
        The call waits for the database."""
        if self.ended is None or self.failure is not None or self.counts["claimed"]:
            return ""
        try:
            return self.ended.why(self.brain.stats())
        except GraphbrainError as error:
            return str(error).rstrip(".")

    def when(self) -> str:
        """Return a clause: when the next page can be claimed after the crawl has ended, and why. Empty if not known."""
        if self.ended is None or self.failure is not None:
            return ""
        if self._now_only and self.ended.finished:
            return "all pages that were asked for by 'graphbrain now' have been visited"
        return self.ended.when()

    def robots_of(self, scheme: str, name: str) -> str | None:
        """Return the text of an origin's robots.txt from the brain, empty if the origin has none. None if the brain
        does not know it, or if the database fails. The call waits for the database."""
        try:
            host = self.brain.host(name)
            read_at = host.robots_https_at if scheme == "https" else host.robots_http_at
            if read_at is None and host.robots_at is None:
                return None
            return self.brain.robots(f"{scheme}://{name}") or ""
        except GraphbrainError:
            return None

    def turn(self, url: str) -> float | None:
        """Take the turn of a host for a step of a redirect. Return 0 if it may be sent now, or the seconds after
        which to ask again. None if the step is not to be followed: robots.txt forbids it, its turn comes too late, or
        the database fails. The call waits for the database."""
        brain = self.brain
        try:
            name = host_of(url := address(url))
            return brain.graph.write(
                lambda tx: admin.turn(tx, name, url, LONGEST_TURN, brain.policy.manners, brain.now()), "hosts/turn"
            )
        except GraphbrainError:
            return None

    def page_of(self, url: str) -> Page | None:
        """Return what the brain knows of a page; None if it knows nothing, or if the database fails. The call waits for
        the database."""
        try:
            return self.brain.page(url)
        except GraphbrainError:
            return None

    def good_page_of(self, host: str) -> str:
        """Return a page of a host that came at its last visit, without a field for a password; empty if the brain knows
        none, or if the database fails. The call waits for the database."""
        with suppress(GraphbrainError):
            for page in self.brain.find(host=host, state="known", limit=MOST_LOOKED):
                if page.status == 200 and not page.password_field and not page.led_to:
                    return page.url
        return ""

    def _note_event(self) -> None:
        """Note an event after which the crawl may go on. The caller holds the lock."""
        self._events += 1
        self._over = self.starved = False

    def _busy(self) -> bool:
        waits = self._unwritten or self._seeds or self._robots
        return bool(self._ready or self._out or waits or self._writing)

    # ---------------------------------------------------------------- the end

    def close(self, unfinished: Iterable[Claim] = ()) -> int:
        """Give back all unused claims, write all that waits, and end both threads.

        The call waits for the database, up to its limit for a call, for each thread.

        Args:
            unfinished: Claims of pages that `take` returned and that will not be visited.

        Returns:
            The number of visits that could not be written. Their leases lapse.
        """
        # End the thread that claims, and give back what it has claimed.
        limit = self.brain.graph.limit_seconds
        self._stop_claiming.set()
        self._claim_now.set()
        if self._claimer.ident is not None:
            self._claimer.join(limit + 5.0)
        with self._lock:
            unused = [*unfinished, *(page.claim for page in self._ready)]
            self._ready.clear()
            self._unwritten.extend(FinishedVisit(claim, None) for claim in unused)
        # End the thread that writes, after it has written all.
        self._stop_writing.set()
        self._write_now.set()
        if self._writer.ident is not None:
            self._writer.join(limit + 5.0)
        with self._lock:
            return len(self._unwritten) + self._writing

    # ---------------------------------------------------------------- the thread that claims and renews

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """Record an error that ends a thread, so that the crawl ends, too, and does not wait for that thread."""
        try:
            yield
        except Exception as error:  # noqa: BLE001  # any error is logged, and ends the crawl
            with self._lock:
                self.failure = unexpected(error)

    def _claim_for_ever(self) -> None:
        with self._failing():
            self._claim_until_stopped()

    def _claim_until_stopped(self) -> None:
        while not self._stop_claiming.is_set() and self.failure is None:
            self._not_before = math.inf  # `want` does not wake this thread while it calls the brain
            try:
                pause = self._claim()
            except GraphbrainError as error:
                pause = self._pause_or_fail(error)
            # Wait until a claim can bring pages or a lease needs renewal, unless another thread wakes this one.
            self._not_before = time.monotonic() + pause
            renew_in = max(0.0, self._renew_at - time.monotonic())
            self._claim_now.wait(min(pause or LONGEST_PAUSE, max(renew_in, SHORTEST_PAUSE)))
            self._claim_now.clear()

    def _claim(self) -> float:
        """Renew leases and claim the pages that are missing. Return the seconds until the next claim makes sense."""
        self._renew()
        # Find how many pages are missing, or why none can be claimed yet.
        with self._lock:
            missing = self._missing()
            if not self._leased and not self.seeds_sent and (self._seeds or self._writing):
                return 0.0  # the start pages are not written yet
            if missing <= 0 or len(self._unwritten) + self._writing >= MOST_UNWRITTEN:
                return 0.0
            if (wait := self._due_at - time.monotonic()) > 0.0:
                return wait
            idle, events = not self._busy(), self._events
        # Claim them, and find how long to wait before the next claim.
        began = time.monotonic()
        claims = self.brain.next_urls(min(missing, 1_000), now_only=self._now_only, kinds=self._kinds, notes=True)
        ended = time.monotonic()
        self._hungry = len(claims) < missing
        if self._hungry:
            pause = self._pause_for_more(claims, ended)
        else:
            pause, self._due_at = min(ended - began, SHORTEST_PAUSE), 0.0
        # Keep the claims for the event loop, or find whether the crawl is over.
        is_far = not claims and self._is_far(claims)
        with self._lock:
            if claims:
                self._ready.extend(PageToFetch(claim, claims.notes.get(claim.key, "")) for claim in claims)
                self._leased.update((_of(claim), claim) for claim in claims)
                self.counts["claimed"] += sum(claim.kind == "page" for claim in claims)
                self._note_event()
            elif events == self._events:  # nothing has happened during the call
                self.starved = claims.next_because not in ("host", "probe")
                self._over, self.ended = idle and (claims.finished or is_far), claims
        self._log_pause(claims.paused and not claims)
        return pause

    def _pause_for_more(self, claims: Claims, now: float) -> float:
        """Let the other thread write at once, for reports may bring pages. Return the seconds to wait for more."""
        self._write_now.set()
        wait = LONGEST_PAUSE if claims.next_ready is None else claims.next_ready - self.brain.now()
        pause = max(SHORTEST_PAUSE, min(wait, LONGEST_PAUSE))
        self._due_at = now + pause if wait < LONGEST_PAUSE else 0.0
        return pause

    def _log_pause(self, paused: bool) -> None:
        """Log, once each time, that the brain is paused."""
        if paused and not self._paused:
            log.warning("The brain is paused: no pages can be claimed until 'graphbrain resume'.")
        self._paused = paused

    def _is_far(self, claims: Claims) -> bool:
        """Return whether the next page can be claimed only after the patience of this crawl has run out."""

        def beyond(at: float | None, seconds: float) -> bool:
            return at is not None and at > self.brain.now() + seconds

        # The next probe of an ill host is always near, so the time since the last well answer counts as waited, too.
        waited = time.monotonic() - self._last_well if claims.next_because == "probe" else 0.0
        regular, lease = claims.next_unfailed, self.brain.settings.lease_seconds
        if self._patience is not None:
            is_far = beyond(claims.next_ready, self._patience - waited)
            return is_far and (regular is None or beyond(regular, self._patience))
        patience = RETRY_PATIENCE
        if self._waits_for_hosts and claims.next_because == "probe":
            patience = max(patience, crawl_patience(self._last_well - self._began) - waited)
        return beyond(claims.next_ready, patience) and (regular is None or beyond(regular, lease))

    def _renew(self) -> None:
        """Renew all leases, `RENEWALS` times within the length of a lease."""
        if time.monotonic() < self._renew_at:
            return
        with self._lock:
            claims = list(self._leased.values())
        renewed = self.brain.renew(claims)
        with self._lock:
            for before, after in zip(claims, renewed, strict=True):
                if _of(before) not in self._leased:
                    continue  # it was reported meanwhile
                if after is None:
                    del self._leased[_of(before)]
                else:
                    self._leased[_of(before)] = after
        self._renew_at = time.monotonic() + min(self.brain.settings.lease_seconds / RENEWALS, 60.0)

    def _pause_or_fail(self, error: GraphbrainError) -> float:
        """Return the seconds until a call that failed is tried again. Record an error that no retry can help."""
        if error.try_again or isinstance(error, GraphTooSmall):  # other transactions may use the memory now
            log.warning("%s It is tried again.", error)
            return LONGEST_PAUSE
        with self._lock:
            self.failure = error
        return LONGEST_PAUSE

    # ---------------------------------------------------------------- the thread that writes

    def _write_for_ever(self) -> None:
        with self._failing():
            self._write_until_stopped()

    def _write_until_stopped(self) -> None:
        while self.failure is None:
            closing = self._stop_writing.is_set()
            # Gather finished visits for a while, so that they are reported together.
            if not closing and (seconds := self._gathering()):
                self._write_now.wait(seconds)
                self._write_now.clear()
                continue
            # Take the next batch, or wait for one.
            work = self._next_work()
            if work is None:
                if closing:
                    return
                self._write_now.wait(LONGEST_PAUSE)
                self._write_now.clear()
                continue
            if not self._write_through(work):
                return
            # Drop the claims of the batch, and let the other thread claim as many pages.
            with self._lock:
                self._writing = 0
                for visited in work.visited:
                    self._leased.pop(_of(visited.claim), None)
                self._note_event()
            self._not_before = 0.0
            self._claim_now.set()

    def _gathering(self) -> float:
        """Return the seconds for which more visits are gathered; 0 if the batch is to be written now."""
        with self._lock:
            if self._seeds or self._robots or not 0 < len(self._unwritten) < ENOUGH:
                return 0.0
            seconds = TOGETHER if self._hungry else GATHERED
            return max(0.0, self._gathering_since + seconds - time.monotonic())

    def _next_work(self) -> _Work | None:
        with self._lock:
            visited = [self._unwritten.popleft() for _ in range(min(len(self._unwritten), MOST_UNWRITTEN))]
            seeds, self._seeds = self._seeds, {}
            robots, self._robots = self._robots, {}
            self._writing = len(visited) + len(seeds) + len(robots)
        return _Work(seeds, visited, robots) if self._writing else None

    def _write_through(self, work: _Work) -> bool:
        """Write a batch, and try again after errors. Return False after an error that no retry can help, and after any
        error while the desk closes."""
        while True:
            try:
                self._write(work)
                return True
            except GraphbrainError as error:
                pause = self._pause_or_fail(error)
                if self.failure is not None or self._stop_writing.is_set():
                    return False
                self._stop_writing.wait(pause)

    def _write(self, work: _Work) -> None:
        """Write a batch. After an error all of it may be written twice."""
        # Write robots.txt and notes before the reports and start pages that create the pages which they are about.
        for origin, text in work.robots.items():
            self._set_robots(origin, text)
        notes = {url: note for url, note in work.seeds.items() if note}
        for visited in work.visited:
            notes.update(visited.notes)
        if notes:
            self._log_refused(self.brain.note(notes).items())
        # Report the visits.
        results = [visited.result for visited in work.visited if visited.result is not None]
        pages = [result for result in results if result.claim is None or result.claim.kind == "page"]
        if resources := [result for result in results if result.claim is not None and result.claim.kind != "page"]:
            self._report_resources(resources)
        if pages:
            self._report(pages)
        # Give back the claims that were not visited, and add the start pages.
        if unvisited := [visited.claim for visited in work.visited if visited.result is None]:
            self.counts["given_back"] += sum(self.brain.give_back(unvisited))
        if work.seeds:
            answer = self.brain.seed(work.seeds)
            self.counts["seeded"] += answer.created
            self._note_seeds(answer, len(work.seeds))

    def _set_robots(self, origin: str, text: bytes) -> None:
        """Write a robots.txt. One that is not a text is written as empty: it forbids nothing."""
        try:
            answer = self.brain.set_robots(origin, text, agent=self._agent)
        except BadInput:
            answer = self.brain.set_robots(origin, b"", agent=self._agent)
        self.counts["forbidden"] += answer.taken_out

    def _note_seeds(self, answer: SeedAnswer, count: int) -> None:
        """Count start pages, and log why some will not be fetched or had been given up."""
        self.seeds_sent += count
        self.unmet += answer.outside + len(answer.refused)
        remarks = [*answer.refused, *answer.remarks]
        for url, why in remarks[:MOST_SAID]:
            log.warning("Start page %s: %s.", url, why)
        if len(remarks) > MOST_SAID:
            log.warning(
                "And %d more start pages are outside the scope, were given up, or are refused.",
                len(remarks) - MOST_SAID,
            )

    def _report_resources(self, results: list[Report]) -> None:
        """Report robots.txt, sitemaps and checks of links. The rules come before the pages that they may forbid."""
        answers = self.brain.report(results)
        self._note_well(results)
        for result, answer in zip(results, answers, strict=True):
            assert result.claim is not None
            self.counts[COUNTED_AS[result.claim.kind]] += answer.accepted
            if not answer.accepted:
                self.counts["refused"] += 1
                log.warning("The answer of %s was refused: %s.", result.url, answer.reason)
            elif answer.reason:
                log.info("%s: %s.", result.url, answer.reason)

    def _note_well(self, results: Sequence[Report]) -> None:
        if any(kind_of(result.status, getattr(result, "fault", None)) == "well" for result in results):
            self._last_well = time.monotonic()

    def _report(self, results: list[Report]) -> None:
        self._witness.before(results)
        answers = self.brain.report(results)
        self._witness.after(results, answers)
        self._note_well(results)
        for result, answer in zip(results, answers, strict=True):
            self.counts["reported"] += answer.accepted
            self.counts["failed"] += answer.accepted and isinstance(result, Failed)
            self._log_refused(answer.links_refused)
            self.counts["userinfo_dropped"] += answer.userinfo_dropped
            if answer.accepted and ASKED in answer.reason:
                self._log_wall(result, answer.reason)
            if not answer.accepted:
                self.counts["refused"] += 1
                log.warning("The visit of %s was refused: %s.", result.url, answer.reason)

    def _log_wall(self, result: Fetched | Failed, why: str) -> None:
        """Log, once for each host, that its pages may lead to a login."""
        host = "" if result.claim is None else result.claim.host
        if host not in self._walled and len(self._walled) < MOST_WALLED:
            self._walled.add(host)
            log.warning("%s: %s. %s", result.url, why, self._wall_advice)

    def _log_refused(self, reasons: Iterable[tuple[str, str]]) -> None:
        """Log the URLs of notes and links that the brain has refused, each with the reason."""
        for url, reason in reasons:
            log.debug("%s: %s.", url, reason)


def unexpected(error: Exception) -> GraphbrainError:
    """Log an error that the crawl does not expect, and return the error with which the crawl ends."""
    log.info("This has ended the crawl:", exc_info=error)
    if isinstance(error, GraphbrainError):
        return error
    return GraphbrainError(
        f"The crawl cannot go on ({type(error).__name__}: {error}). The log has the details; the pages that it held "
        "come again when their leases lapse."
    )


def _of(claim: Claim) -> tuple[str, str]:
    """Return the key and the token, which distinguish a claim from a later one of the same page."""
    return claim.key, claim.token
