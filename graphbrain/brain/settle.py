"""The settling pass: all accounts are brought to their fixed point at once, beside all other work."""

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
"""A settling pass that has not renewed its hold for so long is dead."""

SettleProgress = Callable[[str, int, int], None]
"""Called with the step (export, solve, write), how far it is, and of how much."""
FindGoal = Callable[[Graph, Rule, float, SettleProgress], Goal]
"""Returns the goal of a pass: as `settlement.find_goal`, or from a file."""


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
        """Make a pass, by the settings as they were last read. Raises BadInput under the classic engine. `find` returns
        its goal, from arguments as of `settlement.find_goal`, which is the default."""
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
            raise  # the server cannot take the note that the pass has failed
        except BaseException:
            hold.lapse()
            raise

    def bring(self, account: Forward, tolerance: float, payments: int, stop: Callable[[], bool]) -> Settled:
        """Bring an account that goes forward to its fixed point, in batches of so many payments; under both engines,
        and beside other processes that do the same."""
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
        """Let pages pass on the amounts due for these scores, batch by batch (id → score)."""
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
            if len(goals) == 1:  # it is left to a process with more memory
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
        # Write them batch by batch, while the hold lasts.
        sum_ = settlement.Sum(goal.table)
        for step in self._settle_all(goal, hold.token, lambda: stop() or not hold.keep()):
            sum_.add(step)
            progress("write", sum_.pages, goal.table.pages)
        # Mark the pages that have to be pushed after all.
        unmarked = sum_.unmarked()
        for start in range(0, len(unmarked), PASS_BATCH):
            session.perform("remark", edits.remark, unmarked[start : start + PASS_BATCH])
        # End the pass, so that pushes go on.
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
        """Settle batch by batch, a shard's next one when its last is done, until all is done or the pass overtaken."""
        pace, turns = settlement.Pace(), ShardTurns(goal.shards)
        batches = [settlement.batches(goal, shard, pace) for shard in goal.shards]
        going: dict[Future[settlement.SettlingStep | None], int] = {}

        def next_of(shard: Iterator[Batch]) -> settlement.SettlingStep | None:
            # The next batch of a shard; none if the pass ends.
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

            def go_on() -> None:
                while len(going) < settlement.AT_ONCE and (number := turns.take()) is not None:
                    going[pool.submit(next_of, batches[number])] = number

            go_on()
            while going:
                # A shard that has more comes back into the turns.
                for future in wait(going, return_when=FIRST_COMPLETED).done:
                    number, step = going.pop(future), future.result()
                    (turns.back if step else turns.through)(number)
                    go_on()
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
            parts = (Batch(part, part) for part in (pages[:middle], pages[middle:]))  # neighbours are read anew
            return settlement.together(*(self._settle_batch(goal, part, token, again=True) for part in parts))

    def _pass_pays(self) -> bool:
        """Return whether a settling pass is cheaper than pushes, or whether one has died and left its marks."""
        if self._session.settling_until:
            return self._session.settling_until < self._session.now()
        return self._session.graph.read(
            lambda tx: settlement.worth_it(tx, self._session.policy.rule.eps), "cash/marked"
        )


def _begin(tx: Tx, token: str, now: float, until: float) -> bool:
    return bool(tx.one("brain/settle_begin", token=token, now=now, until=until)[0])
