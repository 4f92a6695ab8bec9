"""The settling pass: it brings all accounts to their fixed point at once, while other work continues."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from graphbrain.base.errors import BadInput, GraphTooSmall, GraphUnavailable
from graphbrain.base.numeric.methods import SETTLED_TO
from graphbrain.base.numeric.rules import Forward, Rule
from graphbrain.base.work import Settled
from graphbrain.brain.exclusive_lock import Hold
from graphbrain.brain.session import PASS_BATCH, Session
from graphbrain.frontier.corrections import edits
from graphbrain.graph.connection import Graph, Tx
from graphbrain.scores.accounts import forwards, pushes, settlement
from graphbrain.scores.accounts.partition import Batch, ShardTurns
from graphbrain.scores.accounts.settlement import Goal

__all__ = ["Settling"]

PASS_SECONDS = 120.0
"""A settling pass lapses this many seconds after it last renewed its right."""

SettleProgress = Callable[[str, int, int], None]
"""Called with the name of the step (export, solve, write), its progress, and its total."""
FindGoal = Callable[[Graph, Rule, float, SettleProgress], Goal]
"""Returns the goal of a pass. `settlement.find_goal` computes it; `bring` reads it from a file."""


class Settling:
    """The verb that makes settling passes, one at a time among all users of the brain."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def settle(
        self,
        tolerance: float = SETTLED_TO,
        if_cheaper: bool = False,
        progress: SettleProgress = lambda *_: None,
        stop: Callable[[], bool] = lambda: False,
        find: FindGoal | None = None,
    ) -> Settled:
        """Make a settling pass, by the settings as they were last read. `find` returns its goal; the default is
        `settlement.find_goal`. Raises BadInput under the classic engine."""
        session, started = self._session, time.monotonic()
        hold = Hold(session.graph, session.now, PASS_SECONDS, _begin, "brain/settle_begin")
        if not session.engine.settles:
            if if_cheaper:
                return Settled()
            raise BadInput("The classic engine has no settling pass: tend moves its cash for as long as you like.")
        if (if_cheaper and not self._pass_pays()) or not hold.take():
            return Settled()

        try:
            return self._make_pass(hold, started, tolerance, progress, stop, find or settlement.find_goal)
        except GraphUnavailable:
            raise  # the right cannot be given up without the server; it lapses
        except BaseException:
            hold.lapse()
            raise

    def bring(self, account: Forward, tolerance: float, payments: int, stop: Callable[[], bool]) -> Settled:
        """Bring a forward account to its fixed point, in batches of `payments` payments. It works under both engines,
        and while other processes do the same."""
        session, started = self._session, time.monotonic()
        goal = forwards.find_goal(session.graph, session.policy.rule, account, tolerance)
        done = self.bring_to(account, forwards.batches(goal, payments), stop)
        return Settled(
            goal.table.pages,
            goal.table.links,
            sides=done.pushes,
            payments=done.payments,
            left=done.lost,
            seconds=time.monotonic() - started,
        )

    def bring_to(
        self, account: Forward, batches: Iterable[Mapping[int, float]], stop: Callable[[], bool]
    ) -> pushes.Pushed:
        """Give pages these scores batch by batch (id → score), and pass the differences on along links."""
        done = pushes.Pushed()
        for goals in batches:
            if stop():
                break
            done += self._bring(account.name, goals)
        self._session.counters.add(pushes=done.pushes, payments=done.payments)
        return done

    def _bring(self, name: str, goals: Mapping[int, float]) -> pushes.Pushed:
        session = self._session

        def work(tx: Tx) -> pushes.Pushed:
            return pushes.bring(tx, name, goals, session.policy.rule, session.now())

        try:
            return session.graph.write(work, "settle")
        except GraphTooSmall:
            if len(goals) == 1:  # a single page that does not fit waits for a push
                return pushes.Pushed(lost=1)
            pages = list(goals)
            parts = (pages[: len(pages) // 2], pages[len(pages) // 2 :])
            return sum((self._bring(name, {page: goals[page] for page in part}) for part in parts), pushes.Pushed())

    def _make_pass(
        self,
        hold: Hold,
        started: float,
        tolerance: float,
        progress: SettleProgress,
        stop: Callable[[], bool],
        find: FindGoal,
    ) -> Settled:
        def report(what: str, done: int, of: int) -> None:
            hold.keep()
            progress(what, done, of)

        # Find the scores at which no cash is left to spread.
        session = self._session
        goal = find(session.graph, session.policy.rule, tolerance, report)
        # Write them batch by batch, while the exclusive right lasts.
        sum_ = settlement.Sum(goal.table)
        for step in self._settle_all(goal, hold.token, lambda: stop() or not hold.keep()):
            sum_.add(step)
            progress("write", sum_.pages, goal.table.pages)
        # Mark the pages that still have cash to push.
        unmarked = sum_.unmarked()
        for start in range(0, len(unmarked), PASS_BATCH):
            session.perform("remark", edits.remark, unmarked[start : start + PASS_BATCH])
        # End the pass, so that pushes continue.
        now = session.now()
        session.graph.write(lambda tx: tx.do("brain/settle_end", token=hold.token, now=now), "brain/settle_end")
        session.counters.add(pushes=sum_.sides, payments=sum_.payments)
        return Settled(
            goal.table.pages,
            goal.table.links,
            goal.rounds,
            goal.residual,
            sum_.sides,
            sum_.payments,
            sum_.left,
            time.monotonic() - started,
        )

    def _settle_all(self, goal: Goal, token: str, stopped: Callable[[], bool]) -> Iterator[settlement.SettlingStep]:
        """Settle batch by batch, and yield the result of each, until all shards are done or the pass ends. A shard has
        one batch under way at a time."""
        pace, turns = settlement.Pace(), ShardTurns(goal.shards)
        batches = [settlement.batches(goal, shard, pace) for shard in goal.shards]
        running: dict[Future[settlement.SettlingStep | None], int] = {}

        def settle_next(shard: Iterator[Batch]) -> settlement.SettlingStep | None:
            # Settle the next batch of a shard; None at its end, and if the pass ends.
            batch = None if stopped() else next(shard, None)
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

            def start_batches() -> None:
                while len(running) < settlement.AT_ONCE and (number := turns.take()) is not None:
                    running[pool.submit(settle_next, batches[number])] = number

            start_batches()
            while running:
                # A shard with more batches takes another turn.
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    number, step = running.pop(future), future.result()
                    (turns.back if step else turns.through)(number)
                    start_batches()
                    if step:
                        yield step

    def _settle_batch(self, goal: Goal, batch: Batch, token: str, *, again: bool = False) -> settlement.SettlingStep:
        attempts = int(again)

        def work(tx: Tx) -> settlement.SettlingStep:
            nonlocal attempts
            attempts += 1
            again = goal.blind or attempts > 1
            return settlement.settle(tx, goal, batch, self._session.policy.rule, token, again=again)

        try:
            return self._session.graph.write(work, "settle")
        except GraphTooSmall:
            pages = batch.pages
            if len(pages) == 1:
                return settlement.SettlingStep(1, left=1)
            middle = len(pages) // 2
            parts = (Batch(part, part) for part in (pages[:middle], pages[middle:]))  # `again` reads their neighbours
            return settlement.together(*(self._settle_batch(goal, part, token, again=True) for part in parts))

    def _pass_pays(self) -> bool:
        """Return whether a settling pass is cheaper than pushes. True, too, if a pass has lapsed before its end."""
        if self._session.settling_until:
            return self._session.settling_until < self._session.now()
        return self._session.graph.read(
            lambda tx: settlement.worth_it(tx, self._session.policy.rule.eps), "cash/marked"
        )


def _begin(tx: Tx, token: str, now: float, until: float) -> bool:
    return bool(tx.one("brain/settle_begin", token=token, now=now, until=until)[0])
