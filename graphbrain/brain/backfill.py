"""Backfills: changes of all pages or hosts after a change of settings. Any process of the brain can continue one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import suppress

from graphbrain.brain import outstanding
from graphbrain.brain.session import PASS_BATCH, Session
from graphbrain.frontier import sections
from graphbrain.frontier.claims import taking
from graphbrain.frontier.corrections import put_right, requeue
from graphbrain.frontier.hosts import admin, clock_ahead, politeness
from graphbrain.frontier.hosts.state import HostState
from graphbrain.graph import brain_state
from graphbrain.graph.connection import Tx, bound
from graphbrain.scores.accounts import payout_policy

__all__ = ["Backfill", "Progress"]

Progress = Callable[[int, int], None]
"""Called with the number of finished pages, and the number of all pages."""
Step = Callable[[Tx, float, int], int]
"""One transaction of a backfill: (tx, now, revision of the settings) → number of finished pages, 0 at the end. Raises
BegunAnew if the settings have another revision."""
LOOK_EVERY = 600.0
"""Seconds between two measurements of the mean payout, each of which reads every page."""


def _unseen(_done: int, _total: int) -> None:
    """Ignore the progress of a backfill."""


class Backfill:
    """Runs the backfills that `change` begins and `tend` continues."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def overtaken(self) -> None:
        """Read the settings again after a transaction has found them changed. While link weights are recomputed, help
        with that: no other transaction can write."""
        self._session.refresh()
        if self._session.closed:
            deadline = time.monotonic() + self._session.graph.limit_seconds
            self.reweigh(until=lambda: time.monotonic() > deadline)

    def finish(self, progress: Progress = _unseen) -> None:
        """Finish the backfills that the brain notes, and then judge the pages of hosts whose robots.txt has changed."""
        self.go_on(progress)
        while names := outstanding.for_upkeep(self._session).news:
            self.obey_all(names)

    def go_on(self, progress: Progress = _unseen, until: Callable[[], bool] = lambda: False) -> None:
        """Continue the backfills that the brain notes. Link weights are always finished; the others stop after the
        batch after which `until` returns True."""

        def remark(tx: Tx, now: float, revision: int) -> int:
            return requeue.remark_next(tx, now, self._session.policy, revision)

        def relearn(tx: Tx, _now: float, revision: int) -> int:
            return sections.note_old(tx, self._session.policy, revision)

        self.reweigh(progress)
        self.repay(progress, until)
        self._run("remarking", remark, "settings", progress, until)
        self._run("relearning", relearn, "sections", progress, until)
        self.put_right(progress, until)

    def put_right(self, progress: Progress = _unseen, until: Callable[[], bool] = lambda: False) -> None:
        """Apply changed settings to hosts, and correct times of hosts and pages that a clock wrote while it was ahead.

        Hosts come first, so that no host waits for a wrong time. They come again after all pages: only then is it known
        when the first page of each host may be visited.
        """
        session = self._session

        def review(tx: Tx, now: float, revision: int) -> int:
            def look(hosts: list[HostState]) -> None:
                taking.review_queues(tx, session.finder, hosts, now)

            times_right = session.stored.get("putting_right") is None
            return admin.review(tx, now, session.policy.manners, revision, look if times_right else None)

        def right(tx: Tx, now: float, revision: int) -> int:
            spans = clock_ahead.Spans(session.settings.lease_seconds, session.settings.park_after_seconds)
            return put_right.go_on(tx, now, session.policy, spans, revision)

        # Apply settings to hosts, correct the times of pages and hosts, and compute the queues of hosts again.
        self._run("reviewing_hosts", review, "hosts", progress, until)
        self._run("putting_right", right, "the clock", progress, until)
        if session.stored.get("putting_right") is None:
            self._run("reviewing_hosts", review, "hosts", progress, until)

    def count_budgets(self) -> None:
        """Count the first visits of each host from now on. Return when all earlier transactions have ended: only then
        can a budget be used."""
        self._session.refresh()
        if self._session.stored.get("all_count_budgets"):
            return
        if not self._session.stored.get("counts_budgets"):
            self._session.graph.write(
                lambda tx: tx.do("brain/change", settings={"counts_budgets": True}), "brain/change"
            )
        self._session.wait_for_older("budgets", notice="no budget is changed yet: try again")
        self._session.graph.write(lambda tx: tx.do("brain/note", notes={"all_count_budgets": True}), "brain/note")
        self._session.refresh()

    def obey_all(self, names: Iterable[str], until: Callable[[], bool] = lambda: False) -> None:
        """Judge the pages of these hosts, whose robots.txt has changed, after a process has left this undone. Judge at
        least one host; stop after the host after which `until` returns True."""
        for name in names:
            self.obey(name)
            if until():
                return

    def obey(self, name: str) -> tuple[int, int]:
        """Apply the present robots.txt of a host to its pages. Return the number of pages that went outside, and the
        number of those that came back."""

        def look(tx: Tx) -> tuple[admin.RobotsTexts, list[int]]:
            rules = politeness.read(tx, [name], self._session.policy.manners)[name].robots()
            return rules, tx.one("hosts/pages", name=name)[0]

        taken_out = let_in = 0
        rules, ids = self._session.graph.read(look, "hosts/pages")
        for start in range(0, len(ids), PASS_BATCH):
            out, back = self._session.perform("remark", requeue.remark, ids[start : start + PASS_BATCH])
            taken_out += out
            let_in += back
        self._session.graph.write(
            lambda tx: admin.no_news(tx, name, rules, self._session.policy.manners, self._session.now()), "hosts/write"
        )
        return taken_out, let_in

    def reweigh(self, progress: Progress = _unseen, until: Callable[[], bool] = lambda: False) -> None:
        """Recompute the weights of all links by the settings."""
        self._run("reweighing", payout_policy.reweigh, "link weights", progress, until)

    def repay(self, progress: Progress = _unseen, until: Callable[[], bool] = lambda: False) -> None:
        """Recompute the payouts of all pages by the settings."""
        self._run("repaying", payout_policy.repay, "payouts", progress, until)

    def _run(self, noted: str, step: Step, name: str, progress: Progress, until: Callable[[], bool]) -> None:
        """Continue a backfill, if the brain has the property `noted`: to its end, or to the step after which `until`
        returns True."""
        if self._session.stored.get(noted) is None:
            return

        def go_on(tx: Tx, revision: int) -> int:
            return step(tx, self._session.now(), revision)

        # The total is for the progress only: pages may be created and deleted meanwhile.
        total = self._session.graph.read(lambda tx: tx.one("brain/sizes")[0], "brain/sizes")
        done, is_over = 0, False
        while self._session.stored.get(noted) is not None and not is_over:
            # A step works by the settings of one revision. If they change, the backfill begins anew.
            revision = self._session.wait_for_older(name)
            with suppress(brain_state.BegunAnew):
                while finished := self._session.graph.write(bound(go_on, revision), name):
                    done += finished
                    progress(min(done, total), total)
                    if is_over := until():
                        break
            self._session.refresh()

    def rescale_if_due(self) -> None:
        """Scale payouts so that their mean is 1, if the crawl has grown by a quarter since the last time, or if a
        measurement finds the mean off by as much. New seeds of a crawl that trusts seeds have such an effect."""
        if self._session.policy.rule.payout == "uniform" or self._session.policy.rule.repaying:
            return
        pages = self._session.graph.read(lambda tx: tx.one("brain/sizes")[0], "brain/sizes")
        if pages and (
            pages >= payout_policy.GROWN * self._session.stored.get("payout_pages", 0) or self._payouts_are_off()
        ):
            self._session.graph.write(payout_policy.rescale, "payouts")
            self._session.refresh()

    def _payouts_are_off(self) -> bool:
        """Return whether the mean payout is off. One process measures it, at intervals of `LOOK_EVERY`; between two
        measurements the result is False."""
        now = self._session.now()
        if now < (self._session.stored.get("payout_looked") or 0.0) + LOOK_EVERY:
            return False
        self._session.graph.write(lambda tx: tx.do("brain/note", notes={"payout_looked": now}), "brain/note")
        return self._session.graph.read(lambda tx: payout_policy.off(tx, self._session.policy.rule), "pages/shares")
