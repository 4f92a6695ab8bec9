"""Passes over pages and hosts that a change of settings has left on the brain: whoever comes next goes on with them."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress

from graphbrain.accounts import payout_policy
from graphbrain.brain.session import PASS_BATCH, Core
from graphbrain.errors import GraphUnavailable
from graphbrain.frontier import aliases, requeue
from graphbrain.graph import brain_state
from graphbrain.graph.connection import Tx
from graphbrain.hosts import admin, politeness

__all__ = ["Passing", "Progress"]

Progress = Callable[[int, int], None]
"""Told how many of how many pages are done."""
Step = Callable[[Tx, float, int], int]
"""Of a pass, at a time, for a revision of the settings: how many are done, 0 when it has ended. Raises BegunAnew."""
OLDER_PAUSE = 0.02
NEWS_BATCH = 10
LOOK_EVERY = 600.0
"""So many seconds lie between two looks at what all pages are paid, which read every page."""


def _unseen(_done: int, _total: int) -> None:
    """Nobody watches."""


class Passing(Core):
    """What `change` begins, and `tend` goes on with if need be."""

    def _overtaken(self) -> None:
        """While links are being weighed anew, help: nothing else can be written anyway."""
        super()._overtaken()
        if self._closed:
            deadline = time.monotonic() + self.graph.limit_seconds
            self._reweigh(until=lambda: time.monotonic() > deadline)

    def _free_aliases_of(self, key: str) -> None:
        """Let the aliases of a page that is about to be forgotten wait to be fetched again."""
        while self.graph.write(lambda tx: aliases.free_those_of(tx, key, self.policy, self.now()), "pages/retry"):
            pass

    def _finish_passes(self, progress: Progress = _unseen, until: Callable[[], bool] = lambda: False) -> None:
        """Go on with the passes that stand on the brain, to their end; where that can wait, to the batch after which
        `until`."""

        def remark(tx: Tx, now: float, revision: int) -> int:
            return requeue.remark_next(tx, now, self.policy, revision)

        def review(tx: Tx, now: float, revision: int) -> int:
            return admin.review(tx, now, self.policy.manners, revision)

        self._reweigh(progress)
        self._repay(progress, until)
        self._run_pass("remarking", remark, "settings", progress, until)
        self._run_pass("reviewing_hosts", review, "hosts", progress, until)
        self._obey_all(until)

    def _count_budgets(self) -> None:
        """From now on first visits are counted; all has ended that began before, so a budget can be used."""
        self._reread()
        if self._stored.get("all_count_budgets"):
            return
        if not self._stored.get("counts_budgets"):
            self.graph.write(lambda tx: tx.do("brain/change", settings={"counts_budgets": True}), "brain/change")
        self._wait_for_older("budgets", left="no budget is changed yet: try again")
        self.graph.write(lambda tx: tx.do("brain/note", notes={"all_count_budgets": True}), "brain/note")
        self._reread()

    def _obey_all(self, until: Callable[[], bool] = lambda: False) -> None:
        """Judge the pages of hosts whose robots.txt has changed, where whoever changed it has not."""
        while names := self.graph.read(lambda tx: tx.one("hosts/news", limit=NEWS_BATCH)[0], "hosts/news"):
            for name in names:
                self._obey(name)
                if until():
                    return

    def _obey(self, name: str) -> tuple[int, int]:
        """Take the pages of a host out, and let them in, as its robots.txt now says; how many of each."""

        def look(tx: Tx) -> tuple[admin.Told, list[int]]:
            told = politeness.read(tx, [name], self.policy.manners)[name].robots()
            return told, tx.one("hosts/pages", name=name)[0]

        taken_out = let_in = 0
        told, ids = self.graph.read(look, "hosts/pages")
        for start in range(0, len(ids), PASS_BATCH):
            out, back = self.graph.write(
                lambda tx, i=ids[start : start + PASS_BATCH]: requeue.remark(tx, i, self.policy, self.now()),  # type: ignore[misc]
                "remark",
            )
            taken_out += out
            let_in += back
        self.graph.write(lambda tx: admin.no_news(tx, name, told, self.policy.manners, self.now()), "hosts/write")
        return taken_out, let_in

    def _reweigh(self, progress: Progress = _unseen, until: Callable[[], bool] = lambda: False) -> None:
        self._run_pass("reweighing", payout_policy.reweigh, "link weights", progress, until)

    def _repay(self, progress: Progress = _unseen, until: Callable[[], bool] = lambda: False) -> None:
        self._run_pass("repaying", payout_policy.repay, "payouts", progress, until)

    def _run_pass(self, noted: str, step: Step, name: str, progress: Progress, until: Callable[[], bool]) -> None:
        """Go on with the pass that is noted on the brain, if it is: to its end, or to the step after which `until`."""
        if self._stored.get(noted) is None:
            return
        total = self.graph.read(lambda tx: tx.one("brain/sizes")[0], "brain/sizes")
        done, over = 0, False
        while self._stored.get(noted) is not None and not over:
            revision = self._wait_for_older(name)
            with suppress(brain_state.BegunAnew):
                while more := self.graph.write(lambda tx, r=revision: step(tx, self.now(), r), name):  # type: ignore[misc]
                    done += more
                    progress(min(done, total), total)
                    if over := until():
                        break
            self._reread()

    def _wait_for_older(
        self, name: str, left: str = "the change is noted, and 'graphbrain tend' will finish it"
    ) -> int:
        """Wait until all transactions have ended that may go by what stood on the brain before; the revision they then
        go by: that of the settings as they were last read here. `left`: what becomes of the change if one does not.

        One of them can have created pages, and links of theirs, that a pass cannot see until it commits.
        Raises GraphUnavailable when one does not end.
        """
        revision = int(self._stored["revision"])
        deadline = time.monotonic() + self.graph.limit_seconds
        older = self._running()
        while older := older & self._running():
            if time.monotonic() > deadline:
                raise GraphUnavailable(f"A transaction that began before the change of {name} does not end; {left}.")
            time.sleep(OLDER_PAUSE)
        return revision

    def _note_import(self, since: float | None) -> None:
        """Note that files are being imported since then, or that this is over (None).

        In between nobody writes accounts, so no page can come or be reported: whoever tries waits, until his time is
        over. On return nobody is at it any more who has not known. Raises GraphUnavailable where somebody stays.
        """
        noted = brain_state.nobody_imports(self._stored) if since is None else since
        self.graph.write(lambda tx: tx.do("brain/change", settings={"importing": noted}), "brain/change")
        self._reread()
        if since is not None:
            self._wait_for_older("the brain for an import", "import again")

    def _running(self) -> set[str]:
        """The transactions of graphbrain that run now, by the server that writes."""
        return set(self.graph.write(lambda tx: tx.one("brain/transactions")[0], "brain/transactions"))

    def _rescale_if_due(self) -> None:
        """Payouts are scaled so that their mean is 1: anew when the crawl has grown by a quarter, and when a look now
        and then finds the mean off by as much, as where seeds have come to a crawl that trusts them."""
        if self.policy.rule.payout == "uniform" or self.policy.rule.repaying:
            return
        pages = self.graph.read(lambda tx: tx.one("brain/sizes")[0], "brain/sizes")
        if pages and (pages >= payout_policy.GROWN * self._scaled_for or self._payouts_are_off()):
            self.graph.write(payout_policy.rescale, "payouts")
            self._reread()

    def _payouts_are_off(self) -> bool:
        """Looked at once in a while, and by one process only: False between two looks."""
        now = self.now()
        if now < (self._stored.get("payout_looked") or 0.0) + LOOK_EVERY:
            return False
        self.graph.write(lambda tx: tx.do("brain/note", notes={"payout_looked": now}), "brain/note")
        return self.graph.read(lambda tx: payout_policy.off(tx, self.policy.rule), "pages/shares")
