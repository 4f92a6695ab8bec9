"""Upkeep: pushes of cash, lapsed leases, retries, depths. Any process of the brain does it, or workers do it for
all."""

from __future__ import annotations

import contextlib
import math
import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from graphbrain.analyst.inspect.pages import ForwardSums
from graphbrain.base.errors import BadInput, GraphbrainError
from graphbrain.base.model import number
from graphbrain.base.runtime import memory
from graphbrain.base.work import Settled, Tended
from graphbrain.brain import outstanding
from graphbrain.brain.backfill import Backfill
from graphbrain.brain.lapses import Lapses
from graphbrain.brain.names import Names
from graphbrain.brain.outstanding import Outstanding
from graphbrain.brain.push import Pushing
from graphbrain.brain.session import PASS_BATCH, Session
from graphbrain.brain.settle import Settling
from graphbrain.frontier import section_factors, sections
from graphbrain.frontier.corrections import aliases, edits, orphans
from graphbrain.frontier.reports import canonicals
from graphbrain.graph.connection import bound
from graphbrain.schedule import priors
from graphbrain.scores.accounts import settlement

__all__ = ["PUSH_PAYMENTS", "Tending", "Upkeep"]

PUSH_PAYMENTS = 5_000
"""The payments of a push batch. A batch is short, since claims wait for locks on the pages that it pushes."""
OWN_TEND_SHARE = 0.5
"""Seconds of upkeep that a brain without workers does for each second of reports."""
OWED = 0.1
"""Seconds of upkeep after reports are collected up to this sum, since each upkeep begins with a read of the outstanding
work."""
FIT_EVERY, FIT_ANYWAY = 3_600.0, 86_400.0
FITS_AGAIN = 2.0
"""Seconds between two attempts to fit the priors; seconds after which they are fitted in any case; and the factor by
which the number of revisits must have grown for a fit before."""
BOUND_EVERY, BOUND_SHARE = 60.0, 0.05
"""The least seconds between two computations of the error bound by a worker, each of which reads all pages; and the
largest share of a worker's time for the computation and the settling pass that may follow."""
BOUND_ROUNDS = 3
"""The most rounds of pushes and settling passes until the error bound is small enough."""
FREE_SHARE = 0.8
"""The largest share of the free memory that a settling pass may use."""


class Upkeep:
    """The verb `tend`, and the upkeep that follows reports."""

    def __init__(
        self,
        session: Session,
        names: Names,
        backfill: Backfill,
        lapses: Lapses,
        pushing: Pushing,
        settling: Settling,
    ) -> None:
        self._session, self._names, self._backfill = session, names, backfill
        self._lapses, self._pushing, self._settling = lapses, pushing, settling
        self._owed = 0.0
        self._bound_looked: tuple[float, float, list[int]] = (-math.inf, 0.0, [])
        """The time (monotonic clock) and the duration of the last computation of the error bound, and the numbers that
        `_there` returned then."""

    def tend(
        self,
        seconds: float | None = 1.0,
        *,
        pages: Iterable[str] | None = None,
        batch: int = PUSH_PAYMENTS,
        for_everybody: bool = False,
        passes: bool = True,
        pushes: int | None = None,
        stop: Callable[[], bool] = lambda: False,
        unless_tended: bool = False,
    ) -> Tended:
        """Do the upkeep, as `Brain.tend` describes. `unless_tended`: do nothing if a worker tends for all."""
        if seconds is not None and (not number(seconds) or math.isnan(seconds)):
            raise BadInput(f"seconds must be a number, or None, not {seconds!r:.80}.")
        started, session, whole = time.monotonic(), self._session, seconds is None
        # Read the outstanding work.
        work = self._look(batch)
        if unless_tended and work.tended:
            return Tended()

        def over() -> bool:
            return stop() or (seconds is not None and time.monotonic() - started > seconds)

        # Continue backfills, and do all outstanding work but pushes.
        if for_everybody:
            session.counters.write_now_and_then(tending=True)
        self._backfill.rescale_if_due()
        if passes:
            self._fit_priors_if_due()
        self._backfill.go_on(until=over)
        done, work = self._correct(work, batch, over, whole=whole)
        # Push the pages that the caller names, or make a settling pass if it is cheaper than pushes.
        if pages is not None:
            return done + self._push_named([self._names.key(page) for page in pages], started)
        if passes and (whole or for_everybody) and (work.push is not None or session.settling_until):
            settled_pass = self._settling.settle(if_cheaper=True, stop=stop)
            done += Tended(settled_pass.sides, settled_pass.payments)
        # Push until nothing is left, and settle again while the error bound is too large.
        error = None
        for _ in range(BOUND_ROUNDS):
            pushed, settled = self._push_on(work, batch, over, for_everybody, pushes)
            done += pushed
            if not (settled and passes and (whole or (for_everybody and self._bound_is_due()))):
                break
            settled_pass, error = self._keep_bound(stop)
            done += Tended(settled_pass.sides, settled_pass.payments)
            if not settled_pass.sides or not whole:  # a worker continues with its next call
                break
            work = self._look(batch)
        near = error is None or error <= session.settings.settled_bound
        return replace(done, seconds=time.monotonic() - started, settled=settled, error_bound=error, near=near)

    def _look(self, batch: int) -> Outstanding:
        """Read the outstanding work, with the next batch to push, of at most `batch` payments."""
        return outstanding.for_upkeep(self._session, self._pushing.wanted(batch))

    def _correct(
        self, work: Outstanding, batch: int, over: Callable[[], bool], *, whole: bool
    ) -> tuple[Tended, Outstanding]:
        """Do all outstanding work except pushes, and the work that follows from it, until `over` returns True. Return
        the finished work, and the outstanding work after it."""
        done = Tended()
        while True:
            swept, released = self._lapses.end(work)
            done += Tended(swept=swept, released=released)
            self._backfill.obey_all(work.news, over)
            if work.deepened:
                self._session.perform("pages/deepen", edits.deepen, work.deepened)
            if work.linked:
                self._look_at_in_links(work)
            learned = self._learn_sections(work, over, whole=whole)
            # Sweeps and depths are finished even if the time is over: a page must not keep a lapsed lease.
            must_continue = swept or released or work.deepened
            may_continue = work.news or work.linked or (learned and (whole or len(work.unlearned) == sections.AT_ONCE))
            if not must_continue and (over() or not may_continue):
                return done, work
            work = self._look(batch)

    def _push_on(
        self,
        work: Outstanding | None,
        batch: int,
        over: Callable[[], bool],
        for_everybody: bool,
        most: int | None = None,
    ) -> tuple[Tended, bool]:
        """Push until nothing is left to push, `over` returns True, or `most` pushes are made. Return the pushes, and
        True if nothing is left. `work`: the outstanding work; None: read it."""
        done = Tended()
        while not over() and (most is None or done.pushes < most):
            work = work or self._look(batch)
            if self._session.settling_until > self._session.now():  # pushes would delay the settling pass
                time.sleep(0.2)
            elif work.push is None:
                return done, True
            else:
                pushed = self._pushing.push(work.push)
                done += Tended(pushed.pushes, pushed.payments)
                self._session.counters.write_now_and_then(tending=for_everybody)
            work = None
        return done, False

    def _bound_is_due(self) -> bool:
        looked_at, duration, numbers = self._bound_looked
        return time.monotonic() - looked_at > max(BOUND_EVERY, duration / BOUND_SHARE) and numbers != self._there()

    def _there(self) -> list[int]:
        """Return the numbers of pages, links and hosts, and of this process's pushes. While they stay the same, the
        error bound does, too."""
        return [*self._session.graph.read(lambda tx: tx.one("brain/sizes"), "brain/sizes"), self._pushing.pushes]

    def _keep_bound(self, stop: Callable[[], bool]) -> tuple[Settled, float | None]:
        """Make a settling pass if the error bound is above `settled_bound` and the graph fits in memory. Return the
        result of the pass, and the error bound after it."""
        session = self._session
        began, rule, numbers = time.monotonic(), session.policy.rule, self._there()

        def error_bound() -> float | None:
            return session.graph.read(lambda tx: session.engine.looks.error_bound(tx, rule), "audit/waiting")

        settled, error = Settled(), error_bound()
        is_too_large = error is not None and 0.0 < session.settings.settled_bound < error
        if is_too_large and not stop() and self._fits_in_memory(numbers):
            settled = self._settling.settle(stop=stop)
            error = error_bound()
        settled = self._keep_forwards(settled, numbers, stop)
        self._bound_looked = (began, time.monotonic() - began, numbers)
        return settled, error

    def _fits_in_memory(self, numbers: Sequence[int]) -> bool:
        """Return whether a graph with these numbers of pages and links fits in the free memory of this machine."""
        pages, links, *_ = numbers
        free = memory.free_bytes()
        return free is None or settlement.bytes_for(pages, links, self._session.policy.rule) <= FREE_SHARE * free

    def _keep_forwards(self, settled: Settled, numbers: Sequence[int], stop: Callable[[], bool]) -> Settled:
        """Bring forward accounts to their fixed points if their error bounds are above `settled_bound` and the graph
        fits in memory. Return `settled` with this work added."""
        session, most = self._session, self._session.settings.settled_bound
        for account in session.policy.rule.forwards:
            if not (account.settles and most) or stop():
                continue
            sums = session.graph.read(bound(ForwardSums.of, account), "audit/forward")
            if sums.error is None or sums.error <= most:
                continue
            if self._fits_in_memory(numbers):
                work = self._settling.bring(account, most, PUSH_PAYMENTS, stop)
                settled = replace(settled, sides=settled.sides + work.sides, payments=settled.payments + work.payments)
        return settled

    def _push_named(self, keys: Sequence[str], started: float) -> Tended:
        done = self._pushing.push_named(keys)
        return Tended(
            sum(pushed.pushes for pushed in done),
            sum(pushed.payments for pushed in done),
            seconds=time.monotonic() - started,
        )

    def _fit_priors_if_due(self) -> None:
        """Fit the priors to first revisits, at intervals and by one process only."""
        session = self._session
        now = session.now()
        tried_at, last_count = session.stored.get("prior_tried") or 0.0, session.stored.get("prior_seen") or 0
        if not session.policy.rule.revisits or now < tried_at + FIT_EVERY:
            return
        # Note the attempt first, so that other processes do not fit, too.
        session.graph.write(lambda tx: tx.do("brain/note", notes={"prior_tried": now}), "brain/note")
        crawl, hosts, count = priors.fit(session.graph, session.policy.rule, random.Random(now)) or (None, {}, 0)
        if crawl is None or (count < FITS_AGAIN * last_count and now < tried_at + FIT_ANYWAY):
            session.refresh()
            return
        # Store the new priors. If they differ enough from the old ones, let all pages move to new lanes.
        settings = priors.properties(crawl, hosts, count)
        old_crawl, old_hosts = priors.read_priors(session.stored)
        is_different = priors.differs(crawl, old_crawl) or any(
            priors.differs(hosts.get(host, crawl), old_hosts.get(host, old_crawl)) for host in {*hosts, *old_hosts}
        )
        remark = {"remarking": ""} if is_different else {}
        session.graph.write(lambda tx: tx.do("brain/change", settings={**settings, **remark}), "brain/change")
        session.refresh()

    def _learn_sections(self, work: Outstanding, over: Callable[[], bool], *, whole: bool) -> bool:
        """Learn sections from first visits, and move the pages of sections whose factors have risen. Return True if
        there was such work. A host with few new visits waits for more of them, unless `whole` is set."""
        session = self._session
        most, acting = session.settings.sections_per_host, session.policy.acting
        if not most:
            return False
        # Learn from the first visits.
        before = math.inf if whole else session.now() - sections.LEARNED_AFTER
        hosts = sections.hosts_to_learn(work.unlearned, before)
        if hosts:
            ids = [page for pages in hosts.values() for page in pages]
            learn = bound(sections.learn, ids, most, self._names.key_of, compares=acting is not None)
            session.graph.write(learn, "sections/learn")
        # This process reads the sections of these hosts again; then pages move.
        for host in hosts:
            session.book.forget(host)
        if acting is not None:
            self._raise_pages(work.rising, acting.book, over)
        return bool(hosts or (acting is not None and work.rising))

    def _raise_pages(self, hosts: Iterable[str], book: section_factors.Book, over: Callable[[], bool]) -> None:
        """Give pages the higher factors of sections that have risen, and choose pages that try the sections that are
        held down."""
        session = self._session
        for host in hosts:
            held_down = session.graph.read(bound(sections.held_down, host, book), "sections/held")
            for part in _parts(held_down.rising):
                if over():
                    return
                session.perform("sections/raise", sections.raise_some, part)
            for part in _parts(held_down.chosen):
                session.graph.write(bound(sections.choose, part), "sections/choose")
            session.graph.write(bound(sections.raised, host, held_down), "sections/raised")

    def _look_at_in_links(self, work: Outstanding) -> None:
        """Correct the in-links of pages whose in-links have changed. Links to an alias, or to a page whose canonical is
        followed, move to its target, or back. Orphans are parked or forgotten; linked pages return."""
        session = self._session
        unsettled = session.graph.read(bound(canonicals.unsettled, work.linked), "canonicals/off")
        for page in unsettled:
            session.exhaust("canonicals/settle", canonicals.settle, page)
        if unsettled:
            return  # the new relations change which links must move: the caller reads the outstanding work again
        at_work = {*work.aliases}
        for page in (*work.aliases, *work.named):
            done = session.perform("links/move", aliases.move_links, page)
            at_work |= set() if done else {page}
        if others := sorted(set(work.linked).difference(at_work)):
            for key in session.perform("pages/park", orphans.judge, others):
                session.exhaust("pages/retry", aliases.free_those_of, key)
                session.exhaust("forget", orphans.forget, key)

    def after_report(self, spent: float, stop: Callable[[], bool] = lambda: False) -> None:
        """Do upkeep in proportion to the time that reports take, unless a worker tends for all. `spent`: seconds of
        reports."""
        self._session.counters.write_now_and_then()
        if not self._session.settings.auto_tend:
            return
        if time.monotonic() < self._session.tended_until:
            return
        self._owed = min(self._owed + spent * OWN_TEND_SHARE, 5.0)
        if self._owed >= OWED:
            budget, self._owed = self._owed, 0.0
            self.tend(budget, stop=stop, unless_tended=True)


def _parts(pages: Mapping[int, float]) -> Iterator[dict[int, float]]:
    """Yield parts of these pages (id → number), one part for each transaction."""
    ids = sorted(pages)
    for start in range(0, len(ids), PASS_BATCH):
        yield {page: pages[page] for page in ids[start : start + PASS_BATCH]}


class Tending:
    """Does upkeep after reports in a background thread, for callers without a thread that can wait. Thread-safe."""

    def __init__(self, upkeep: Upkeep) -> None:
        self._upkeep = upkeep
        self._lock = threading.Lock()
        self._owed, self._closed = 0.0, False
        self._comes = threading.Event()
        self._thread: threading.Thread | None = None

    def owe(self, spent: float) -> None:
        """Add the seconds that reports have taken."""
        with self._lock:
            self._owed += spent
            if self._thread is None and not self._closed:
                self._thread = threading.Thread(target=self._tend, name="graphbrain-tend", daemon=True)
                self._thread.start()
        self._comes.set()

    def close(self) -> None:
        """Stop the thread after its present transaction."""
        with self._lock:
            self._closed, thread = True, self._thread
        self._comes.set()
        if thread is not None:
            thread.join()

    def _tend(self) -> None:
        while self._comes.wait() and not self._closed:
            self._comes.clear()
            with self._lock:
                spent, self._owed = self._owed, 0.0
            # An error is ignored here, since the next report raises it.
            with contextlib.suppress(GraphbrainError):
                self._upkeep.after_report(spent, lambda: self._closed)
