"""Upkeep: pushes of cash, lapsed leases, retries, depths. By whoever uses the brain, or by workers for everybody."""

from __future__ import annotations

import math
import random
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import astuple, replace
from typing import Any

from graphbrain import memory
from graphbrain.accounts import pushes, settlement
from graphbrain.accounts.partition import Batch, Turns
from graphbrain.accounts.settlement import SETTLED_TO, Goal
from graphbrain.brain import engines
from graphbrain.brain.backfill import Passing
from graphbrain.brain.session import COUNT_EVERY, PASS_BATCH
from graphbrain.errors import BadInput, GraphTooSmall, GraphUnavailable
from graphbrain.frontier import aliases, claims, discovery, edits, orphans
from graphbrain.graph.connection import Tx
from graphbrain.hosts.politeness import Manners
from graphbrain.model import Settled, Tended, number
from graphbrain.rules import Rule
from graphbrain.schedule import priors

__all__ = ["Tending"]

PUSH_PAYMENTS = 5_000
"""Payments of a push batch: claims wait for locks on the pages they want, so batches are short."""
LOOKED_AT_ONCE = 100
SWEEP_EVERY = 1.0
OWN_TEND_SHARE = 0.5
"""A brain used alone spends at most this share of a report's time on tending after it."""
FIT_EVERY, FIT_ANYWAY = 3_600.0, 86_400.0
FITS_AGAIN = 2.0
"""Priors are looked at once in so many seconds, and fitted anew to so many times the re-visits, or after a day."""
BOUND_EVERY, BOUND_SHARE = 60.0, 0.05
"""Workers look at the error bound, which reads all pages, once in so many seconds, and for that, and the pass that may
follow, use at most this share of their time."""
BOUND_ROUNDS = 3
"""So often at most what a settling pass has left to pushes is pushed, and the bound looked at again."""
FREE_SHARE = 0.8
"""A settling pass may take this part of the memory that is free."""
PASS_SECONDS = 120.0
"""A settling pass that has not been heard of for so long is dead."""


class Tending(Passing):
    """The verb `tend`, and what calls it unasked."""

    def tend(
        self,
        seconds: float | None = 1.0,
        *,
        pages: Iterable[str] | None = None,
        batch: int = PUSH_PAYMENTS,
        for_everybody: bool = False,
        passes: bool = True,
        stop: Callable[[], bool] = lambda: False,
    ) -> Tended:
        """Upkeep for at most `seconds` (None: until settled): lapsed leases, retries, depths, and pushes of cash.

        First it goes on with what a change of settings has left to be done. The classic engine is settled when all
        cash was spent `passes` times over (a setting) since the last change. Where the error bound is above
        `settled_bound` then, who tends until all is settled, and workers once a minute at most, make a settling pass,
        if the graph fits in this process's memory.

        `pages`: push both sides of these (URLs or keys) instead of the most urgent. `batch`: payments of one
        transaction; short ones let claims through. `for_everybody`: tell the other users of this brain that it is
        tended, as `graphbrain work` does. `passes`: workers, and whoever tends until all is settled, make a settling
        pass first where that is cheaper. `stop` is asked between transactions.

        Raises BeingConverted between two engines.
        """
        if seconds is not None and (not number(seconds) or math.isnan(seconds)):
            raise BadInput(f"seconds must be a number, or None, not {seconds!r:.80}.")
        started = time.monotonic()
        self._reread()
        engines.of(self.policy.rule)
        if for_everybody:
            self._count_now_and_then(tending=True)

        def over() -> bool:
            return stop() or (seconds is not None and time.monotonic() - started > seconds)

        self._rescale_if_due()
        if passes:
            self._fit_priors_if_due()
        self._finish_passes(until=over)
        done = Tended(swept=self._sweep(), released=self._release_due())
        self._pass_depths_on()
        self._look_at_in_links(over)
        if pages is not None:
            return done + self._push_named([self._key(page) for page in pages], started)
        if passes and (seconds is None or for_everybody):
            passed = self._settle(if_cheaper=True, stop=stop)
            done += Tended(passed.sides, passed.payments)
        bound = None
        for _ in range(BOUND_ROUNDS):
            pushed, settled = self._push_on(batch, over, for_everybody)
            done += pushed
            if not (settled and passes and (seconds is None or (for_everybody and self._bound_is_due()))):
                break
            passed, bound = self._keep_bound(stop)
            done += Tended(passed.sides, passed.payments)
            if not passed.sides or seconds is not None:  # workers come again
                break
        near = bound is None or bound <= self.settings.settled_bound
        return replace(done, seconds=time.monotonic() - started, settled=settled, error_bound=bound, near=near)

    def _push_on(self, batch: int, over: Callable[[], bool], for_everybody: bool) -> tuple[Tended, bool]:
        """Push until nothing is left to push or it is over; and whether nothing is left."""
        done, settled = Tended(), False
        while not settled and not over():
            if self._settling_until > self.now():  # pushes would only be in the way of the pass
                time.sleep(0.2)
                self._reread()
                continue
            pushed, settled = self._push(batch)
            done += Tended(pushed.pushes, pushed.payments)
            self._count_now_and_then(tending=for_everybody)
        return done, settled

    def _bound_is_due(self) -> bool:
        looked, took, there = self._bound_looked
        return time.monotonic() - looked > max(BOUND_EVERY, took / BOUND_SHARE) and there != self._there()

    def _there(self) -> list[int]:
        """How much there is, and what this process has pushed: where neither changes, the bound does not."""
        return [*self.graph.read(lambda tx: tx.one("brain/sizes"), "brain/sizes"), self._pushes_made]

    def _keep_bound(self, stop: Callable[[], bool]) -> tuple[Settled, float | None]:
        """Make a settling pass if the error bound is above `settled_bound` and the graph fits in memory; and the bound
        then."""
        began, rule, there = time.monotonic(), self.policy.rule, self._there()

        def look() -> float | None:
            return self.graph.read(lambda tx: self.engine.looks.error_bound(tx, rule), "audit/waiting")

        passed, bound = Settled(), look()
        if bound is not None and 0.0 < self.settings.settled_bound < bound and not stop():
            free = memory.free_bytes()
            if free is None or settlement.bytes_for(there[0], there[1], rule) <= FREE_SHARE * free:
                passed = self._settle(stop=stop)
                bound = look()
        self._bound_looked = (began, time.monotonic() - began, there)
        return passed, bound

    def _push(self, batch: int) -> tuple[pushes.Pushed, bool]:
        """One batch of pushes; and whether there was nothing left to push."""
        spread, rule = self._spread["cash"], self.policy.rule
        work = self.graph.read(lambda tx: self.engine.cash.candidates(tx, batch, spread.times, rule), "cash/candidates")
        if work is None:
            return pushes.Pushed(), True
        pushed = self._spend(work)
        spread.saw(pushed.pushes + pushed.lost, pushed.lost)
        return pushed, False

    def _spend(self, work: Any) -> pushes.Pushed:
        try:
            pushed = self.graph.write(
                lambda tx: self.engine.cash.spend(tx, work, self._push_rule(), self.now()), "cash/push"
            )
        except GraphTooSmall:
            if not self.engine.settles:  # the classic engine's batches are of payments
                raise
            parts = pushes.halves(work)
            if len(parts) == 1:  # a side is pushed whole, or not at all
                many = self.graph.read(lambda tx: pushes.payees(tx, work), "cash/push")
                self._most_payees = min(self._most_payees, max(1, many - 1))
                return self._spend(work)
            done = [self._spend(part) for part in parts]
            return pushes.Pushed(*(sum(each) for each in zip(*map(astuple, done), strict=True)))
        self._pushes_made += pushed.pushes
        self._counts["pushes"] += pushed.pushes
        self._counts["payments"] += pushed.payments
        return pushed

    def _push_rule(self) -> Rule:
        """The rule, but that no side is pushed for which the server was found to have too little memory."""
        rule = self.policy.rule
        return rule if rule.max_payees <= self._most_payees else replace(rule, max_payees=self._most_payees)

    def settle(
        self,
        *,
        tolerance: float = SETTLED_TO,
        if_cheaper: bool = False,
        progress: Callable[[str, int, int], None] = lambda *_: None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Settled:
        """Bring all accounts to their fixed point at once, beside whatever else runs (DESIGN §5.1, "settling pass").

        Pages that change meanwhile are left to pushes. `tolerance`: the error bound that is left, where
        nothing changes meanwhile. `if_cheaper`: do nothing where pushes are cheaper; so `tend` does it by itself.
        `progress`: called with what is being done (export, solve, write), how far it is, and of how much. `stop` is
        asked between transactions; what is written by then stays and is right. Nothing is done either while another
        pass is under way. Raises BadInput under the classic engine.
        """
        self._reread()
        return self._settle(tolerance, if_cheaper, progress, stop)

    def _settle(
        self,
        tolerance: float = SETTLED_TO,
        if_cheaper: bool = False,
        progress: Callable[[str, int, int], None] = lambda *_: None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Settled:
        """`settle`, where the settings have been read just now."""
        started, hold = time.monotonic(), _Hold(self)
        if not self.engine.settles:
            if if_cheaper:
                return Settled()
            raise BadInput("The classic engine has no settling pass: tend moves its cash for as long as you like.")
        if (if_cheaper and not self._pass_pays()) or not hold.take():
            return Settled()

        try:
            return self._make_pass(hold, started, tolerance, progress, stop)
        except GraphUnavailable:
            raise  # it would be in vain to say anything to it
        except BaseException:
            hold.lapse()
            raise

    def _make_pass(
        self,
        hold: _Hold,
        started: float,
        tolerance: float,
        progress: Callable[[str, int, int], None],
        stop: Callable[[], bool],
    ) -> Settled:
        def report(what: str, done: int, of: int) -> None:
            hold.keep()
            progress(what, done, of)

        goal = settlement.find_goal(self.graph, self.policy.rule, tolerance, report)
        tally = settlement.Tally(goal.table)
        for step in self._settle_all(goal, hold.token, lambda: stop() or not hold.keep()):
            tally.add(step)
            progress("write", tally.pages, goal.table.pages)
        self._in_parts(tally.unmarked(), edits.remark)
        hold.end()
        self._counts["pushes"] += tally.sides
        self._counts["payments"] += tally.payments
        return Settled(
            goal.table.pages,
            goal.table.links,
            goal.rounds,
            goal.residual,
            tally.sides,
            tally.payments,
            tally.left,
            time.monotonic() - started,
        )

    def _settle_all(self, goal: Goal, token: str, stopped: Callable[[], bool]) -> Iterator[settlement.Step]:
        """Settle batch by batch, a lane's next one when its last is done, until all is done or the pass overtaken."""
        pace, turns = settlement.Pace(), Turns(goal.lanes)
        batches = [settlement.batches(goal, lane, pace) for lane in goal.lanes]
        going: dict[Future[settlement.Step | None], int] = {}

        def next_of(lane: Iterator[Batch]) -> settlement.Step | None:
            batch = None if stopped() else next(lane, None)
            if batch is None:
                return None
            began = time.monotonic()
            try:
                step = self._settle_batch(goal, batch, token)
            except settlement.Overtaken:
                return None
            pace.took(time.monotonic() - began, step.awaited)
            return step

        with ThreadPoolExecutor(settlement.AT_ONCE) as pool:

            def go_on() -> None:
                while len(going) < settlement.AT_ONCE and (number := turns.take()) is not None:
                    going[pool.submit(next_of, batches[number])] = number

            go_on()
            while going:
                for future in wait(going, return_when=FIRST_COMPLETED).done:
                    number, step = going.pop(future), future.result()
                    (turns.back if step else turns.through)(number)
                    go_on()
                    if step:
                        yield step

    def _settle_batch(self, goal: Goal, batch: Batch, token: str, *, again: bool = False) -> settlement.Step:
        attempts = int(again)

        def work(tx: Tx) -> settlement.Step:
            nonlocal attempts
            attempts += 1
            return settlement.settle(tx, goal, batch, self.policy.rule, token, again=attempts > 1)

        try:
            return self.graph.write(work, "settle")
        except GraphTooSmall:
            pages = batch.pages
            if len(pages) == 1:
                return settlement.Step(1, left=1)
            middle = len(pages) // 2
            parts = (Batch(part, part) for part in (pages[:middle], pages[middle:]))  # neighbours are read anew
            return settlement.together(*(self._settle_batch(goal, part, token, again=True) for part in parts))

    def _pass_pays(self) -> bool:
        """Is a settling pass cheaper than pushes, or has one died and left its marks?"""
        if self._settling_until:
            return self._settling_until < self.now()
        return self.graph.read(lambda tx: settlement.worth_it(tx, self.policy.rule.eps), "cash/marked")

    def _push_named(self, keys: Sequence[str], started: float) -> Tended:
        ids = sorted(self.graph.read(lambda tx: discovery.find(tx, keys), "pages/find").values())
        done = [self._spend(work) for work in self.engine.cash.named(ids)]
        return Tended(
            sum(pushed.pushes for pushed in done),
            sum(pushed.payments for pushed in done),
            seconds=time.monotonic() - started,
        )

    def _fit_priors_if_due(self) -> None:
        """Learn from first re-visits what to expect of other pages; once in a while, and by one process only."""
        now = self.now()
        tried, seen = self._stored.get("prior_tried") or 0.0, self._stored.get("prior_seen") or 0
        if not self.policy.rule.revisits or now < tried + FIT_EVERY:
            return
        self.graph.write(lambda tx: tx.do("brain/note", notes={"prior_tried": now}), "brain/note")
        found = priors.fit(self.graph, self.policy.rule, random.Random(now))
        if found is None or (found[2] < FITS_AGAIN * seen and now < tried + FIT_ANYWAY):
            self._reread()
            return
        crawl, hosts, count = found
        settings = priors.properties(crawl, hosts, count)
        before, own = priors.read_priors(self._stored)
        moved = priors.differs(crawl, before) or any(
            priors.differs(hosts.get(host, crawl), own.get(host, before)) for host in {*hosts, *own}
        )
        remark = {"remarking": ""} if moved else {}
        self.graph.write(lambda tx: tx.do("brain/change", settings={**settings, **remark}), "brain/change")
        self._reread()

    def _sweep(self) -> int:
        """End lapsed leases."""

        def sweep(tx: Tx, ids: Sequence[int], manners: Manners, now: float) -> int:
            return claims.sweep(tx, ids, self.policy.rule.revisits, manners, now)

        swept = self._in_batches(claims.lapsed, sweep, "claims/sweep")
        self._counts["lapsed"] += swept
        return swept

    def _release_due(self) -> int:
        """Let failed pages wait again when their time has come."""
        return self._in_batches(claims.due, claims.retry, "claims/retry")

    def _in_batches(
        self,
        look: Callable[[Tx, float, int], list[int]],
        act: Callable[[Tx, Sequence[int], Manners, float], int],
        name: str,
    ) -> int:
        total = 0
        while ids := self.graph.read(lambda tx: look(tx, self.now(), PASS_BATCH), name):
            done = self.graph.write(
                lambda tx, i=ids: act(tx, i, self.policy.manners, self.now()),  # type: ignore[misc]
                name,
            )
            total += done
            if not done or len(ids) < PASS_BATCH:
                break
        return total

    def _pass_depths_on(self) -> None:
        """Tell the pages behind those that became less deep, one step of the way at a time."""
        while ids := self.graph.read(lambda tx: tx.one("pages/deepened", limit=100)[0], "pages/deepened"):
            self.graph.write(
                lambda tx, i=ids: edits.deepen(tx, i, self.policy, self.now()),  # type: ignore[misc]
                "pages/deepen",
            )

    def _look_at_in_links(self, over: Callable[[], bool]) -> None:
        """Move links to aliases on to where these lead, and back; park or forget orphans; let in those that are linked
        again."""
        while True:
            ids, moved, named = self.graph.read(
                lambda tx: tx.one("pages/to_look_at", now=self.now(), limit=LOOKED_AT_ONCE), "pages/to_look_at"
            )
            at_work = set(moved)
            for page in (*moved, *named):
                done = self.graph.write(
                    lambda tx, p=page: aliases.settle(tx, p, self.policy, self.now()),  # type: ignore[misc]
                    "links/move",
                )
                at_work |= set() if done else {page}
            others = sorted(set(ids).difference(at_work))
            if others:
                forgotten = self.graph.write(
                    lambda tx, i=others: orphans.judge(tx, i, self.policy, self.now()),  # type: ignore[misc]
                    "pages/park",
                )
                for key in forgotten:
                    self._free_aliases_of(key)
                    while not self.graph.write(
                        lambda tx, k=key: orphans.forget(tx, k, self.policy, self.now()),  # type: ignore[misc]
                        "forget",
                    ):
                        pass
            if not ids or over():
                return

    def _sweep_now_and_then(self) -> None:
        with self._lock:
            if time.monotonic() - self._swept_at < SWEEP_EVERY:
                return
            self._swept_at = time.monotonic()
        self.graph.keep_time()
        lapsed, due, stored = self.graph.read(self._news, "claims/lapsed")
        if lapsed:
            self._sweep()
        if due:
            self._release_due()
        self._take_up(stored)

    def _news(self, tx: Tx) -> tuple[bool, bool, Mapping[str, Any] | None]:
        """Have leases lapsed, are failed pages due, and what stands on the brain?"""
        now = self.now()
        return bool(claims.lapsed(tx, now, 1)), bool(claims.due(tx, now, 1)), tx.one("brain/read")[0]

    def _after_report(self, spent: float) -> None:
        """Tend in proportion to the work that reports make, unless a worker does it for everybody."""
        self._count_now_and_then()
        if not self.settings.auto_tend:
            return
        now = time.monotonic()
        looked_at, tended = self._tended_by_others
        if now - looked_at > COUNT_EVERY or not looked_at:
            tended = self.graph.read(
                lambda tx: tx.one("brain/tended_by", hour=int(self.now() // 3600), now=self.now())[0],
                "brain/tended_by",
            )
            self._tended_by_others = (now, tended)
        if tended:
            return
        self._owed = min(self._owed + spent * OWN_TEND_SHARE, 5.0)
        if self._owed >= 0.05:
            budget, self._owed = self._owed, 0.0
            self.tend(budget)


class _Hold:
    """The right to the settling pass, kept for as long as the pass lives."""

    def __init__(self, brain: Tending) -> None:
        self._brain = brain
        self.token = uuid.uuid4().hex
        self._until = 0.0

    def take(self) -> bool:
        """Take it, or hold it longer; False when somebody else has it."""
        now = self._brain.now()
        self._until = now + PASS_SECONDS
        return self._write(now)

    def lapse(self) -> None:
        """The pass has failed half-way: somebody else may make another at once."""
        now = self._brain.now()
        self._until = now - 1.0
        self._write(now)

    def _write(self, now: float) -> bool:
        return self._brain.graph.write(
            lambda tx: bool(tx.one("brain/settle_begin", token=self.token, now=now, until=self._until)[0]),
            "brain/settle_begin",
        )

    def keep(self) -> bool:
        """Hold it longer if that is needed; False when it was lost."""
        return self._brain.now() < self._until - PASS_SECONDS / 2 or self.take()

    def end(self) -> None:
        """Let it go: all is written."""
        now = self._brain.now()
        self._brain.graph.write(lambda tx: tx.do("brain/settle_end", token=self.token, now=now), "brain/settle_end")
