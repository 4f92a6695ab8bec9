"""A brain behind a desk: threads claim ahead and report behind, for crawlers that must not wait.

An event loop cannot wait for a database. It asks the desk, which answers at once: `take` returns a claim that was made
before, `done` takes a finished visit. One thread claims and renews, another writes. A claim is held until it is
reported or given back: a visit whose report could not be written yet is renewed like any other.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from graphbrain import Answer, Brain, Claim, Claims, Failed, Fetched
from graphbrain.base.errors import BadInput, GraphbrainError, GraphTooSmall
from graphbrain.base.model import PAGES, SeedAnswer
from graphbrain.base.urls.walls import ASKED
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
"""Seconds until the brain is asked again after it had fewer pages to claim than were wanted."""
MOST_UNWRITTEN = 200
"""Reports that may wait to be written before no more pages are claimed."""
GATHERED, ENOUGH = 1.0, 100
"""Visits are reported together, those of so many seconds or so many of them, as long as claims bring as many pages as
are wanted: a transaction for each would take twice the time."""
TOGETHER = 0.02
"""The same where claims do not: a report may bring the pages that are missing, but visits that end together are still
reported together."""
ASKED_AT_ONCE = 4
"""Pages are claimed when a part of all that may be fetched at once is wanted, one in so many, or a little later."""
RETRY_PATIENCE = 10.0
"""Seconds for which the end is put off for a page that is to be tried again, unless `patience` is given."""
WALL_ADVICE = (
    "A request with meta 'graphbrain_every_process' is sent by each process, before it is handed pages: 'Sessions' in "
    "the documentation has a spider."
)
"""The advice in the log on a login to which pages lead."""
MOST_SAID = 10
"""Start pages of a batch that the log names because they will not be fetched."""
MOST_WALLED = 1_000
"""Hosts that the log names because their pages lead to a login."""
COUNTED_AS = {"robots": "robots", "sitemap": "sitemaps", "link": "links"}
"""Kind of claim → the name under which its reports are counted."""
RENEWALS = 3
"""Renewals within the length of a lease."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PageToFetch:
    """A page to fetch now; `note` is what was noted on it, empty if nothing."""

    claim: Claim
    note: str = ""


@dataclass(frozen=True, slots=True)
class FinishedVisit:
    """A finished visit, and what is to be reported of it; None gives the claim back.

    `notes`: texts on the pages that it links to, by their URLs; they are written before the report.
    """

    claim: Claim
    result: Fetched | Failed | None
    notes: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Work:
    """One batch of work of the writing thread."""

    seeds: dict[str, str]
    visited: list[FinishedVisit]
    robots: dict[str, bytes]


Report = Fetched | Failed


class Witness:
    """Is called with each batch of visits, by the thread that writes. A batch may be reported twice."""

    def before(self, reports: Sequence[Report]) -> None:
        """These visits are about to be reported."""

    def after(self, reports: Sequence[Report], answers: Sequence[Answer]) -> None:
        """Note that these visits were reported. Return the answer of each."""


class Desk:
    """Claims ahead, reports behind. All methods but `open` and `close` answer at once, and belong to one thread.

    `patience`: the crawl counts as over, too, when the next page is further away than so many seconds, or only ill
    hosts are left and there was no well answer for so long. None: when one that waits for its host, or that others
    hold, is further away than the length of a lease, one that has failed than `RETRY_PATIENCE`. `waits_for_hosts`: a
    host that has failed is waited for as long as `health.crawl_patience` allows; if not, for `RETRY_PATIENCE`.
    `now_only`: claim only pages that were asked for by hand. `agent`: the product token by which each robots.txt is
    read; None: the brain's. `witness`: is called with all visits that are reported. `wall_advice`: the advice in the
    log on a login to which pages lead. `kinds`: the kinds of claims that are asked for; reports of other kinds than
    pages are not shown to the witness, and not counted among the pages.
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
        self.brain, self._now_only, self._agent = brain, now_only, agent
        self._waits_for_hosts, self._wall_advice = waits_for_hosts, wall_advice
        self._kinds = tuple(kinds)
        self._began = self._last_well = time.monotonic()
        self._witness = witness or Witness()
        self.failure: GraphbrainError | None = None
        """The error at which the threads have ended; nothing is claimed or written any more."""
        self.counts = {"claimed": 0, "reported": 0, "refused": 0, "failed": 0, "given_back": 0, "seeded": 0, "lost": 0}
        self.counts |= {"userinfo_dropped": 0, "forbidden": 0, **dict.fromkeys(COUNTED_AS.values(), 0)}
        self.seeds_sent = self.unmet = 0
        """Start pages that were asked for, and that will not be fetched."""
        self.ended: Claims | None = None
        """The answer after which the crawl counts as over."""
        self._patience = patience
        self._lock = threading.Lock()
        self._ready: deque[PageToFetch] = deque()
        self._leased: dict[tuple[str, str], Claim] = {}
        self._out = 0
        self._unwritten: deque[FinishedVisit] = deque()
        self._seeds: dict[str, str] = {}
        self._robots: dict[str, bytes] = {}
        self._writing = 0
        self._gathering_since = 0.0
        self._hungry = True
        """True if the last call claimed fewer pages than were requested."""
        self._wanted, self._most, self._worth = 0, 0, 1
        self._happened = 0
        self._over = self._paused = False
        self.starved = False
        """True if the last call claimed nothing, and no page waits for its host: reports alone can bring more."""
        self._walled: set[str] = set()
        self._stop_claiming, self._stop_writing = threading.Event(), threading.Event()
        self._claim_now, self._write_now = threading.Event(), threading.Event()
        self._not_before = self._due_at = 0.0
        """By a steady clock: when `want` may let pages be asked for again; and when the next page can be claimed, if
        that is known and soon: a report brings none before, as a rule."""
        self._renew_at = 0.0
        self._claimer = threading.Thread(target=self._claim_for_ever, name="graphbrain claims", daemon=True)
        self._writer = threading.Thread(target=self._write_for_ever, name="graphbrain reports", daemon=True)

    # ---------------------------------------------------------------- what the event loop asks

    def open(self) -> None:
        """Start both threads of the desk."""
        self._claimer.start()
        self._writer.start()

    def want(self, pages: int, most: int, worth: int = 1) -> None:
        """Set how many pages could be fetched now: so many are kept at hand, as long as no more than `most` claims are
        held, those included whose visits are not written yet. Fewer than `worth` are not asked for."""
        with self._lock:
            self._wanted, self._most, self._worth = pages, most, worth
            short = self._missing() > 0
        if short and time.monotonic() >= self._not_before:
            self._claim_now.set()

    def _missing(self) -> int:
        """Return how many pages are to be asked for now. The caller holds the lock."""
        missing = self._wanted - len(self._ready)
        return 0 if missing < self._worth else min(missing, self._most - len(self._leased))

    def take(self) -> PageToFetch | None:
        """A page to fetch now, held until it comes back by `done`; None when there is none at hand."""
        now = self.brain.now()
        with self._lock:
            while self._ready:
                page = self._ready.popleft()
                # It is renewed in time, unless this process or its database was stopped.
                if (claim := self._leased.get(_of(page.claim))) is not None and claim.until > now:
                    self._out += 1
                    return PageToFetch(claim, page.note)
                self._leased.pop(_of(page.claim), None)
                self.counts["lost"] += 1
        return None

    def done(self, visited: FinishedVisit) -> None:
        """A page that was taken: it will be reported, or given back, as soon as can be."""
        with self._lock:
            self._out -= 1
            if not self._unwritten:
                self._gathering_since = time.monotonic()
            self._unwritten.append(visited)
            self._stir()
            alone = len(self._unwritten) == 1 or len(self._unwritten) >= ENOUGH or self._hungry
        if alone:
            self._write_now.set()

    def seed(self, url: str, note: str = "") -> None:
        """A URL where the crawl begins, and what is to be noted on it."""
        with self._lock:
            self._seeds[url] = self._seeds.get(url) or note
            self._stir()
        self._write_now.set()

    def obey(self, origin: str, text: bytes) -> None:
        """The robots.txt of an origin, for all who use the brain; written before any visit that ends after this."""
        with self._lock:
            self._robots[origin] = text
            self._stir()
        self._write_now.set()

    @property
    def ready(self) -> bool:
        """True if a claimed page is ready to be requested."""
        return bool(self._ready)

    @property
    def over(self) -> bool:
        """True if no process has anything left to fetch, and this one has nothing to write."""
        with self._lock:
            return self.failure is not None or (self._over and not self._busy())

    def why_nothing(self) -> str:
        """Return the reason why this process could claim no page until the crawl counted as over; empty if it claimed
        one. Waits for the database."""
        if self.ended is None or self.failure is not None or self.counts["claimed"]:
            return ""
        try:
            return self.ended.why(self.brain.stats())
        except GraphbrainError as error:
            return str(error).rstrip(".")

    def when(self) -> str:
        """Return, as a clause, when the next page can be claimed after the crawl counted as over, and the reason; empty
        if that is not known."""
        if self.ended is None or self.failure is not None:
            return ""
        if self._now_only and self.ended.finished:
            return "all pages that were asked for by 'graphbrain now' have been visited"
        return self.ended.when()

    def robots_of(self, scheme: str, name: str) -> str | None:
        """Return the robots.txt of an origin as the brain knows it, empty where there is none; None: not known, because
        the host is new or the database is away. Waits for the database."""
        try:
            host = self.brain.host(name)
            own = host.robots_https_at if scheme == "https" else host.robots_http_at
            if own is None and host.robots_at is None:
                return None
            return self.brain.robots(f"{scheme}://{name}") or ""
        except GraphbrainError:
            return None

    def status_of(self, url: str) -> int | None:
        """Return the status of a page's last visit; None: it has none, or the database is away. Waits for the
        database."""
        try:
            return self.brain.page(url).status
        except GraphbrainError:
            return None

    def _stir(self) -> None:
        """Something has happened after which the crawl may go on. The lock is held."""
        self._happened += 1
        self._over = self.starved = False

    def _busy(self) -> bool:
        waits = self._unwritten or self._seeds or self._robots
        return bool(self._ready or self._out or waits or self._writing)

    # ---------------------------------------------------------------- the end

    def close(self, unfinished: Iterable[Claim] = ()) -> int:
        """Give back what is at hand and `unfinished`, and write all that waits. Waits for the database, up to its
        `limit_seconds` for each of both. Returns how many visits could not be written: they lapse."""
        limit = self.brain.settings.limit_seconds
        self._stop_claiming.set()
        self._claim_now.set()
        if self._claimer.ident is not None:
            self._claimer.join(limit + 5.0)
        with self._lock:
            back = [*unfinished, *(page.claim for page in self._ready)]
            self._ready.clear()
            self._unwritten.extend(FinishedVisit(claim, None) for claim in back)
        self._stop_writing.set()
        self._write_now.set()
        if self._writer.ident is not None:
            self._writer.join(limit + 5.0)
        with self._lock:
            return len(self._unwritten) + self._writing

    # ---------------------------------------------------------------- the thread that claims and renews

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """Let the crawl end at an error that ends one of the threads: it would wait for the thread for ever."""
        try:
            yield
        except Exception as error:  # noqa: BLE001  # it is logged, and ends the crawl
            with self._lock:
                self.failure = unexpected(error)

    def _claim_for_ever(self) -> None:
        with self._failing():
            self._claim_until_stopped()

    def _claim_until_stopped(self) -> None:
        while not self._stop_claiming.is_set() and self.failure is None:
            self._not_before = math.inf  # pages that are wanted during a call wait for the next one
            try:
                pause = self._claim()
            except GraphbrainError as error:
                pause = self._trouble(error)
            self._not_before = time.monotonic() + pause
            renew_in = max(0.0, self._renew_at - time.monotonic())
            self._claim_now.wait(min(pause or LONGEST_PAUSE, max(renew_in, SHORTEST_PAUSE)))
            self._claim_now.clear()

    def _claim(self) -> float:
        """Renew what is due, claim what is wanted. Return the seconds for which asking again would be of no use, or for
        which pages that are wanted can wait to be claimed together."""
        self._renew()
        # Find how many pages can be taken, or why none may be asked for yet.
        with self._lock:
            free = self._missing()
            if not self._leased and not self.seeds_sent and (self._seeds or self._writing):
                return 0.0  # the start pages are asked for once they are known
            if free <= 0 or len(self._unwritten) + self._writing >= MOST_UNWRITTEN:
                return 0.0
            if (rest := self._due_at - time.monotonic()) > 0.0:
                return rest
            idle, happened = not self._busy(), self._happened
        began = time.monotonic()
        claims = self.brain.next_urls(min(free, 1_000), now_only=self._now_only, kinds=self._kinds, notes=True)
        ended = time.monotonic()
        pause, self._due_at = min(ended - began, SHORTEST_PAUSE), 0.0
        # Fewer than wanted: hand finished visits in soon, and wait until more can be ready.
        self._hungry = len(claims) < free
        if self._hungry:
            self._write_now.set()
            wait = LONGEST_PAUSE if claims.next_ready is None else claims.next_ready - self.brain.now()
            pause = max(SHORTEST_PAUSE, min(wait, LONGEST_PAUSE))
            self._due_at = ended + pause if wait < LONGEST_PAUSE else 0.0
        # Nothing: the crawl is over if nothing is under way and nothing will come soon.
        if not claims:
            far = self._is_far(claims)
            self._say_paused(claims.paused)
            with self._lock:
                if happened == self._happened:
                    self.starved = claims.next_because not in ("host", "probe")
                    self._over, self.ended = idle and (claims.finished or far), claims
            return pause
        with self._lock:
            self._ready.extend(PageToFetch(claim, claims.notes.get(claim.key, "")) for claim in claims)
            self._leased.update((_of(claim), claim) for claim in claims)
            self.counts["claimed"] += sum(claim.kind == "page" for claim in claims)
            self._stir()
        return pause

    def _say_paused(self, paused: bool) -> None:
        """Log, once each time, that the brain is paused."""
        if paused and not self._paused:
            log.warning("The brain is paused: no pages can be claimed until 'graphbrain resume'.")
        self._paused = paused

    def _is_far(self, claims: Claims) -> bool:
        """Return whether the next page comes too late to wait for it."""

        def beyond(at: float | None, seconds: float) -> bool:
            return at is not None and at > self.brain.now() + seconds

        # The next probe of a host that fails is always near: so the time without any well answer counts.
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
        """Hold all that is held for longer, a few times within the length of a lease."""
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

    def _trouble(self, error: GraphbrainError) -> float:
        """Wait and try again if that can help; give up if not."""
        if error.try_again or isinstance(error, GraphTooSmall):  # others may have the memory now
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
            last = self._stop_writing.is_set()
            # Gather finished visits for a while, so that they are reported together.
            if not last and (more := self._gathering()):
                self._write_now.wait(more)
                self._write_now.clear()
                continue
            work = self._next_work()
            if work is None:
                if last:
                    return
                self._write_now.wait(LONGEST_PAUSE)
                self._write_now.clear()
                continue
            if not self._write_through(work):
                return
            # Their claims have ended: others may be made.
            with self._lock:
                self._writing = 0
                for visited in work.visited:
                    self._leased.pop(_of(visited.claim), None)
                self._stir()
            self._not_before = 0.0
            self._claim_now.set()

    def _gathering(self) -> float:
        """Seconds for which reports may still be gathered; 0: what there is is to be written now."""
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
        """Write until it is written; False when that is hopeless, or the desk is to be closed and it failed."""
        while True:
            try:
                self._write(work)
                return True
            except GraphbrainError as error:
                pause = self._trouble(error)
                if self.failure is not None or self._stop_writing.is_set():
                    return False
                self._stop_writing.wait(pause)

    def _write(self, work: _Work) -> None:
        """Rules and notes first, then what makes their pages. All of it may be written twice."""
        # Report robots.txt first, and notes before the pages that they are on.
        for origin, text in work.robots.items():
            self._obey(origin, text)
        results = [visited.result for visited in work.visited if visited.result is not None]
        back = [visited.claim for visited in work.visited if visited.result is None]
        texts = {url: text for url, text in work.seeds.items() if text}
        for visited in work.visited:
            texts.update(visited.notes)
        if texts:
            self._say(self.brain.note(texts).items())
        # Report pages and resources, and return what was not fetched.
        pages = [result for result in results if result.claim is None or result.claim.kind == "page"]
        if others := [result for result in results if result.claim is not None and result.claim.kind != "page"]:
            self._report_resources(others)
        if pages:
            self._report(pages)
        if back:
            self.counts["given_back"] += sum(self.brain.give_back(back))
        if work.seeds:
            answer = self.brain.seed(work.seeds)
            self.counts["seeded"] += answer.created
            self._note_seeds(answer, len(work.seeds))

    def _obey(self, origin: str, text: bytes) -> None:
        """Hand a robots.txt in; one that is no text forbids nothing."""
        try:
            answer = self.brain.set_robots(origin, text, agent=self._agent)
        except BadInput:
            answer = self.brain.set_robots(origin, b"", agent=self._agent)
        self.counts["forbidden"] += answer.taken_out

    def _note_seeds(self, answer: SeedAnswer, count: int) -> None:
        """Log the reason for start pages that will not be fetched, or had been given up."""
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
            self._say(answer.links_refused)
            self.counts["userinfo_dropped"] += answer.userinfo_dropped
            if answer.accepted and ASKED in answer.reason:
                self._say_wall(result, answer.reason)
            if not answer.accepted:
                self.counts["refused"] += 1
                log.warning("The visit of %s was refused: %s.", result.url, answer.reason)

    def _say_wall(self, result: Fetched | Failed, why: str) -> None:
        """Log, once for each host, that its pages may lead to a login."""
        host = "" if result.claim is None else result.claim.host
        if host not in self._walled and len(self._walled) < MOST_WALLED:
            self._walled.add(host)
            log.warning("%s: %s. %s", result.url, why, self._wall_advice)

    def _say(self, messages: Iterable[tuple[str, str]]) -> None:
        for url, reason in messages:
            log.debug("%s: %s.", url, reason)


def unexpected(error: Exception) -> GraphbrainError:
    """Log an error that a crawl does not know, and return the one with which it ends."""
    log.info("This has ended the crawl:", exc_info=error)
    if isinstance(error, GraphbrainError):
        return error
    return GraphbrainError(
        f"The crawl cannot go on ({type(error).__name__}: {error}). The log has the details; the pages that it held "
        "come again when their leases lapse."
    )


def _of(claim: Claim) -> tuple[str, str]:
    """Return what distinguishes a claim from a later one of the same page."""
    return claim.key, claim.token
