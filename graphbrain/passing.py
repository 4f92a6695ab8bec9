"""Passes over pages and hosts that a change of settings has left on the brain: whoever comes next goes on with them."""

from __future__ import annotations

import time
from collections.abc import Callable

from graphbrain import bending, hosts, manners, ordering
from graphbrain.core import PASS_BATCH, Core
from graphbrain.errors import GraphUnavailable
from graphbrain.graph import Tx

__all__ = ["Passing", "Progress"]

Progress = Callable[[int, int], None]
"""Told how many of how many pages are done."""
OLDER_PAUSE = 0.02
NEWS_BATCH = 10


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

    def _finish_passes(self, progress: Progress = _unseen, until: Callable[[], bool] = lambda: False) -> None:
        """Go on with the passes that stand on the brain, to their end; where that can wait, to the batch after which
        `until`."""
        if self._closed:
            self._reweigh(progress)
        if self.policy.rule.repaying:
            self._run_pass(bending.repay, "payouts", progress, until)
        if self._stored.get("remarking") is not None:
            self._run_pass(lambda tx, now: ordering.remark_next(tx, self.policy, now), "settings", progress, until)
        if self._stored.get("reviewing_hosts") is not None:
            self._run_pass(lambda tx, now: manners.review(tx, now, self.policy.manners), "hosts", progress, until)
        self._obey_all(until)

    def _count_budgets(self) -> None:
        """From now on first visits are counted; all has ended that began before, so a budget can be used."""
        self._reread()
        if not self._stored.get("counts_budgets"):
            self.graph.write(lambda tx: tx.do("brain/change", settings={"counts_budgets": True}), "brain/change")
            self._reread()
            self._wait_for_older("budgets")

    def _obey_all(self, until: Callable[[], bool] = lambda: False) -> None:
        """Judge the pages of hosts whose robots.txt has changed, where whoever changed it has not."""
        while names := self.graph.read(lambda tx: tx.one("hosts/news", limit=NEWS_BATCH)[0], "hosts/news"):
            for name in names:
                self._obey(name)
                if until():
                    return

    def _obey(self, name: str) -> tuple[int, int]:
        """Take the pages of a host out, and let them in, as its robots.txt now says; how many of each."""

        def look(tx: Tx) -> tuple[str | None, list[int]]:
            mark = hosts.read(tx, [name], self.policy.manners)[name].stored["robots_mark"]
            return mark, tx.one("hosts/pages", name=name)[0]

        taken_out = let_in = 0
        mark, ids = self.graph.read(look, "hosts/pages")
        for start in range(0, len(ids), PASS_BATCH):
            out, back = self.graph.write(
                lambda tx, i=ids[start : start + PASS_BATCH]: ordering.remark(tx, i, self.policy, self.now()),  # type: ignore[misc]
                "remark",
            )
            taken_out += out
            let_in += back
        self.graph.write(lambda tx: manners.no_news(tx, name, mark, self.policy.manners, self.now()), "hosts/write")
        return taken_out, let_in

    def _reweigh(self, progress: Progress = _unseen, until: Callable[[], bool] = lambda: False) -> None:
        self._run_pass(bending.reweigh, "link weights", progress, until)

    def _run_pass(
        self, step: Callable[[Tx, float], int], name: str, progress: Progress, until: Callable[[], bool]
    ) -> None:
        self._wait_for_older(name)
        total = self.graph.read(lambda tx: tx.one("brain/sizes")[0], "brain/sizes")
        done = 0
        while more := self.graph.write(lambda tx: step(tx, self.now()), name):
            done += more
            progress(min(done, total), total)
            if until():
                break
        self._reread()

    def _wait_for_older(self, name: str) -> None:
        """Wait until all transactions have ended that may go by what stood on the brain before.

        One of them can have created pages, and links of theirs, that a pass cannot see until it commits.
        Raises GraphUnavailable when one does not end.
        """
        deadline = time.monotonic() + self.graph.limit_seconds
        older = self._running()
        while older := older & self._running():
            if time.monotonic() > deadline:
                raise GraphUnavailable(
                    f"A transaction that began before the change of {name} does not end; the change is noted, and "
                    "'graphbrain tend' will finish it."
                )
            time.sleep(OLDER_PAUSE)

    def _running(self) -> set[str]:
        """The transactions of graphbrain that run now, by the server that writes."""
        return set(self.graph.write(lambda tx: tx.one("brain/transactions")[0], "brain/transactions"))

    def _rescale_if_grown(self) -> None:
        """Payouts are scaled so that their mean is 1: when the crawl has grown by a quarter, anew."""
        if self.policy.rule.payout == "uniform" or self.policy.rule.repaying:
            return
        pages = self.graph.read(lambda tx: tx.one("brain/sizes")[0], "brain/sizes")
        if pages and pages >= bending.GROWN * self._scaled_for:
            self.graph.write(bending.rescale, "payouts")
            self._reread()
