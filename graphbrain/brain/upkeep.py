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
"""Payments of a push batch: claims wait for locks on the pages they want, so batches are short."""
OWN_TEND_SHARE = 0.5
"""The largest part of a report's time that a brain used alone spends on upkeep after it."""
OWED = 0.1
"""Seconds of upkeep that are owed before they are spent: each time begins with a look at what is to be done."""
FIT_EVERY, FIT_ANYWAY = 3_600.0, 86_400.0
FITS_AGAIN = 2.0
"""Seconds between two looks at the priors, seconds after which they are fitted anyway, and the factor by which the
revisits must have grown for a new fit."""
BOUND_EVERY, BOUND_SHARE = 60.0, 0.05
"""Workers look at the error bound, which reads all pages, once in BOUND_EVERY seconds, and use at most BOUND_SHARE of
their time for the look and the pass that may follow."""
BOUND_ROUNDS = 3
"""The most rounds in which the pushes that a settling pass has left are made, and the bound is looked at again."""
FREE_SHARE = 0.8
"""The part of the free memory that a settling pass may take."""


class Upkeep:
    """The verb `tend`, and its automatic calls."""

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
        """The time of the last look at the bound, by a steady clock; its duration; and the amounts that `_there`
        returned."""

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
        """Do the upkeep, as `Brain.tend` describes. `unless_tended`: not if a worker tends for all."""
        if seconds is not None and (not number(seconds) or math.isnan(seconds)):
            raise BadInput(f"seconds must be a number, or None, not {seconds!r:.80}.")
        started, session, whole = time.monotonic(), self._session, seconds is None
        work = self._look(batch)
        if unless_tended and work.tended:
            return Tended()

        def over() -> bool:
            return stop() or (seconds is not None and time.monotonic() - started > seconds)

        if for_everybody:
            session.counters.write_now_and_then(tending=True)
        self._backfill.rescale_if_due()
        if passes:
            self._fit_priors_if_due()
        self._backfill.go_on(until=over)
        done, work = self._correct(work, batch, over, whole=whole)
        if pages is not None:
            return done + self._push_named([self._names.key(page) for page in pages], started)
        if passes and (whole or for_everybody) and (work.push is not None or session.settling_until):
            passed = self._settling.settle(if_cheaper=True, stop=stop)
            done += Tended(passed.sides, passed.payments)
        error = None
        for _ in range(BOUND_ROUNDS):
            pushed, settled = self._push_on(work, batch, over, for_everybody, pushes)
            done += pushed
            if not (settled and passes and (whole or (for_everybody and self._bound_is_due()))):
                break
            passed, error = self._keep_bound(stop)
            done += Tended(passed.sides, passed.payments)
            if not passed.sides or not whole:  # workers come again
                break
            work = self._look(batch)
        near = error is None or error <= session.settings.settled_bound
        return replace(done, seconds=time.monotonic() - started, settled=settled, error_bound=error, near=near)

    def _look(self, batch: int) -> Outstanding:
        """Ask what is to be done, with the next batch to push, of so many payments."""
        return outstanding.for_upkeep(self._session, self._pushing.wanted(batch))

    def _correct(
        self, work: Outstanding, batch: int, over: Callable[[], bool], *, whole: bool
    ) -> tuple[Tended, Outstanding]:
        """Do all that was found but pushes, and what follows from it, until the time is over. Return what was done, and
        what is left."""
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
            # Sweeps and depths go on to their end, however little time there is: a page must not keep a lapsed lease.
            goes_on = swept or released or work.deepened
            more = work.news or work.linked or (learned and (whole or len(work.unlearned) == sections.AT_ONCE))
            if not goes_on and (over() or not more):
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
        """Push until nothing is left to push, the time is over, or so many pushes are made. Return also whether nothing
        is left. `work`: as it was found; None: it has to be asked for."""
        done = Tended()
        while not over() and (most is None or done.pushes < most):
            work = work or self._look(batch)
            if self._session.settling_until > self._session.now():  # pushes would only delay the pass
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
        looked, took, there = self._bound_looked
        return time.monotonic() - looked > max(BOUND_EVERY, took / BOUND_SHARE) and there != self._there()

    def _there(self) -> list[int]:
        """Return the numbers of pages, links and hosts, and of this process's pushes: where none of them changes, the
        bound does not."""
        return [*self._session.graph.read(lambda tx: tx.one("brain/sizes"), "brain/sizes"), self._pushing.pushes]

    def _keep_bound(self, stop: Callable[[], bool]) -> tuple[Settled, float | None]:
        """Make a settling pass if the error bound is above `settled_bound` and the graph fits in memory. Return the
        bound, too."""
        session = self._session
        began, rule, there = time.monotonic(), session.policy.rule, self._there()

        def look() -> float | None:
            return session.graph.read(lambda tx: session.engine.looks.error_bound(tx, rule), "audit/waiting")

        passed, error = Settled(), look()
        if error is not None and 0.0 < session.settings.settled_bound < error and not stop():
            free = memory.free_bytes()
            if free is None or settlement.bytes_for(there[0], there[1], rule) <= FREE_SHARE * free:
                passed = self._settling.settle(stop=stop)
                error = look()
        passed = self._keep_forwards(passed, there, stop)
        self._bound_looked = (began, time.monotonic() - began, there)
        return passed, error

    def _keep_forwards(self, passed: Settled, there: Sequence[int], stop: Callable[[], bool]) -> Settled:
        """Bring accounts that go forward to their fixed points where their error bounds are above `settled_bound`, and
        the graph fits in memory. Return the sum of this and the work before."""
        session, rule, most = self._session, self._session.policy.rule, self._session.settings.settled_bound
        for account in rule.forwards:
            if not (account.settles and most) or stop():
                continue
            sums = session.graph.read(bound(ForwardSums.of, account), "audit/forward")
            if sums.error is None or sums.error <= most:
                continue
            free = memory.free_bytes()
            if free is None or settlement.bytes_for(there[0], there[1], rule) <= FREE_SHARE * free:
                brought = self._settling.bring(account, most, PUSH_PAYMENTS, stop)
                passed = replace(
                    passed, sides=passed.sides + brought.sides, payments=passed.payments + brought.payments
                )
        return passed

    def _push_named(self, keys: Sequence[str], started: float) -> Tended:
        done = self._pushing.push_named(keys)
        return Tended(
            sum(pushed.pushes for pushed in done),
            sum(pushed.payments for pushed in done),
            seconds=time.monotonic() - started,
        )

    def _fit_priors_if_due(self) -> None:
        """Learn the priors of other pages from first revisits, at intervals and by one process only."""
        session = self._session
        now = session.now()
        tried, seen = session.stored.get("prior_tried") or 0.0, session.stored.get("prior_seen") or 0
        if not session.policy.rule.revisits or now < tried + FIT_EVERY:
            return
        # Note the attempt first, so that other processes do not fit, too.
        session.graph.write(lambda tx: tx.do("brain/note", notes={"prior_tried": now}), "brain/note")
        fitted = priors.fit(session.graph, session.policy.rule, random.Random(now))
        if fitted is None or (fitted[2] < FITS_AGAIN * seen and now < tried + FIT_ANYWAY):
            session.refresh()
            return
        # Keep the new priors. Where they differ enough, pages get new lanes.
        crawl, hosts, count = fitted
        settings = priors.properties(crawl, hosts, count)
        before, own = priors.read_priors(session.stored)
        moved = priors.differs(crawl, before) or any(
            priors.differs(hosts.get(host, crawl), own.get(host, before)) for host in {*hosts, *own}
        )
        remark = {"remarking": ""} if moved else {}
        session.graph.write(lambda tx: tx.do("brain/change", settings={**settings, **remark}), "brain/change")
        session.refresh()

    def _learn_sections(self, work: Outstanding, over: Callable[[], bool], *, whole: bool) -> bool:
        """Learn from first visits, and move the pages of sections that have risen. Return whether there were any. A few
        visits of a host wait for more, unless the `whole` upkeep is wanted."""
        session = self._session
        most, acting = session.settings.sections_per_host, session.policy.acting
        if not most:
            return False
        before = math.inf if whole else session.now() - sections.LEARNED_AFTER
        hosts = sections.hosts_to_learn(work.unlearned, before)
        if hosts:
            ids = [page for pages in hosts.values() for page in pages]
            learn = bound(sections.learn, ids, most, self._names.key_of, compares=acting is not None)
            session.graph.write(learn, "sections/learn")
        for host in hosts:
            session.book.forget(host)
        if acting is not None:
            self._raise_pages(work.rising, acting.book, over)
        return bool(hosts or (acting is not None and work.rising))

    def _raise_pages(self, hosts: Iterable[str], book: section_factors.Book, over: Callable[[], bool]) -> None:
        """Let pages whose sections have risen wait with the higher factor, and choose some that try the sections that
        are held down."""
        session = self._session
        for host in hosts:
            held_down = session.graph.read(bound(sections.held_down, host, book), "sections/held")
            for some in _parts(held_down.rising):
                if over():
                    return
                session.perform("sections/raise", sections.raise_some, some)
            for some in _parts(held_down.chosen):
                session.graph.write(bound(sections.choose, some), "sections/choose")
            session.graph.write(bound(sections.raised, host, held_down), "sections/raised")

    def _look_at_in_links(self, work: Outstanding) -> None:
        """Move links to aliases, and to pages whose canonicals links follow, on to where these lead, and back; park or
        forget orphans; let in those that are linked again."""
        session = self._session
        unsettled = session.graph.read(bound(canonicals.unsettled, work.linked), "canonicals/off")
        for page in unsettled:
            session.exhaust("canonicals/settle", canonicals.settle, page)
        if unsettled:
            return  # links of other pages are to be moved now
        at_work = {*work.aliases}
        for page in (*work.aliases, *work.named):
            done = session.perform("links/move", aliases.move_links, page)
            at_work |= set() if done else {page}
        if others := sorted(set(work.linked).difference(at_work)):
            for key in session.perform("pages/park", orphans.judge, others):
                session.exhaust("pages/retry", aliases.free_those_of, key)
                session.exhaust("forget", orphans.forget, key)

    def after_report(self, spent: float, stop: Callable[[], bool] = lambda: False) -> None:
        """Do upkeep in proportion to the time that reports take, unless a worker does it for all."""
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
    """Yield id → number in parts, one for each transaction."""
    ids = sorted(pages)
    for start in range(0, len(ids), PASS_BATCH):
        yield {page: pages[page] for page in ids[start : start + PASS_BATCH]}


class Tending:
    """Upkeep after reports in a background thread, for callers without a thread of their own. Thread-safe."""

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
        """Stop between two transactions, and end."""
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
            # The next report raises the error.
            with contextlib.suppress(GraphbrainError):
                self._upkeep.after_report(spent, lambda: self._closed)
