"""`Brain`, which combines the verbs of all topics.

Each call is one transaction, or several in a row, each safe to run again. Any thread and any process may make any call.
Pushes of cash, which follow from reports, are the work of `tend`. Processes of `graphbrain work` do it; without them
the brain does some of it after each report, so that a single script needs no call of `tend`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Self

from graphbrain.base.errors import GraphbrainError
from graphbrain.base.model import (
    Answer,
    AnyReport,
    Claim,
    Claims,
    Seen,
)
from graphbrain.base.numeric.bounds import Bounds
from graphbrain.base.numeric.methods import SETTLED_TO
from graphbrain.base.options.scores import SHARE
from graphbrain.base.options.verbs import (
    CRAWLERS,
    EVERYBODY,
    ITEMS,
    OPERATORS,
    URL,
    Verb,
    verb,
    verbs_of,
    within,
)
from graphbrain.base.settings import Settings
from graphbrain.base.work import Settled, Tended
from graphbrain.brain import open as opening
from graphbrain.brain.analyse import Asking
from graphbrain.brain.backfill import Backfill, Progress
from graphbrain.brain.claim import LONGEST_LEASE, MOST, Claiming
from graphbrain.brain.convert import Converting
from graphbrain.brain.discover import Discovering
from graphbrain.brain.edit import Editing
from graphbrain.brain.engines import AccountEngine
from graphbrain.brain.hosts import Hosting
from graphbrain.brain.lapses import Lapses
from graphbrain.brain.links import LinkChecks
from graphbrain.brain.names import Names
from graphbrain.brain.note import Noting
from graphbrain.brain.push import Pushing
from graphbrain.brain.rank import Scoring
from graphbrain.brain.report import Reporting
from graphbrain.brain.session import Session
from graphbrain.brain.settle import Settling
from graphbrain.brain.sitemaps import SitemapFinding
from graphbrain.brain.upkeep import PUSH_PAYMENTS, Upkeep
from graphbrain.frontier.policy import Policy
from graphbrain.graph.connection import Clock, Graph
from graphbrain.schedule.value import Estimator

__all__ = ["VERBS", "Brain", "Combined"]

LONGEST_TEND = 60.0
"""The most seconds of upkeep that the service does in one request."""
_CLAIM = {"url": URL, "key": "7bd6b5f6c1b84d1aa6aa4a1e3f5d9f10", "token": "0199d2f07c3a7bd2b1a4c0e5d6f70819"}
_CLAIMS = {**ITEMS, "example": [_CLAIM]}
_VISITS = {**ITEMS, "example": [{"url": URL, "links": ["https://a.example/b"], "status": 200}]}
_HOW_MANY = {"bounds": Bounds(1, MOST), "example": 2}
_WORKER = {"example": "w1"}
_WAIT = {"bounds": Bounds(0), "example": 0}
_KINDS = {"is_a": "kinds", "example": ["page", "robots", "sitemap"]}


class Combined:
    """The verbs `next_urls` and `report` of one brain for callers without a thread that can wait, such as an event
    loop."""

    def __init__(self, claiming: Claiming, reporting: Reporting) -> None:
        self.next_urls = claiming.soon
        self.report = reporting.soon
        self.alone = reporting.alone


class Brain(Asking, Scoring, Discovering, Noting, LinkChecks, Editing, Hosting, Converting):
    """One crawl's brain. Open it with `Brain.open`; close it, or use it as a context manager.

    Attributes:
        session: The graph, settings, policy and clock that all verbs use.
        combined: Claims and reports for callers without a thread to wait in.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        names, backfill, lapses = Names(session), Backfill(session), Lapses(session)
        super().__init__(session, names, backfill)
        session.graph.on_outdated = backfill.overtaken
        pushing, self._settling = Pushing(session), Settling(session)
        self._upkeep = Upkeep(session, names, backfill, lapses, pushing, self._settling)
        self._finding = SitemapFinding(session)
        self._claiming = Claiming(session, lapses, backfill, self._finding)
        self._reporting = Reporting(session, self._upkeep, self._finding)
        self.combined = Combined(self._claiming, self._reporting)

    @classmethod
    def open(
        cls,
        *,
        create: bool = True,
        canonical: Callable[[str], str] | None = None,
        detector: Callable[[Seen, Seen], bool] | None = None,
        clock: Clock | None = None,
        estimator: Estimator | None = None,
        as_it_is: bool = False,
        **settings: Any,
    ) -> Self:
        """Open the brain of a database. Make one when the database is empty and `create` is true.

        Args:
            create: Make a brain in an empty database.
            canonical: The user's own last step of keys (`url.normal`).
            detector: The user's own decision whether a page has changed, from what was seen of it at its last change
                and now. It must depend on nothing else: it may be called twice, and while pages are locked.
            clock: Epoch seconds, for tests only.
            estimator: The user's own way to learn how often pages change (`schedule.value.Estimator`).
            as_it_is: The brain keeps its engine and its shared settings, whatever is given.
            settings: Fields of `Settings`, which take precedence over `GRAPHBRAIN_…` variables. A brain without pages
                takes the shared ones among them. With `change_settings=True` they change those of a brain with pages,
                for all.

        Raises:
            GraphUnavailable: The database does not answer.
            GraphRefused: The database refuses the connection or a statement.
            SchemaMismatch: The database has another version's data, or other data than a brain.
            SettingsError: A setting is wrong, a fixed one is not the brain's, or a shared one is not that of a brain
                with pages.
        """
        given = Settings.read(canonical=canonical, detector=detector, **settings)
        session = opening.session(given, create=create, clock=clock, estimator=estimator, as_it_is=as_it_is)
        try:
            brain = cls(session)
            if not as_it_is:
                from_environment = {name for name in given.given if settings.get(name) is None}
                if changes := opening.changes(session, given, from_environment):
                    brain.change(**changes)
        except BaseException:
            session.graph.close()
            raise
        return brain

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Write the counters and end the connection. Claims are held until they lapse: give them back first."""
        self._claiming.close()
        self._reporting.close()
        with contextlib.suppress(GraphbrainError):
            self.session.counters.write()
        self.graph.close()

    @property
    def graph(self) -> Graph:
        """The connection to the database."""
        return self.session.graph

    @property
    def settings(self) -> Settings:
        """The settings now in force, as last read."""
        return self.session.settings

    @property
    def policy(self) -> Policy:
        """The consequences of the settings for pages, hosts and accounts."""
        return self.session.policy

    @property
    def engine(self) -> AccountEngine:
        """The engine that keeps the accounts. Raises BeingConverted while the brain is between two engines."""
        return self.session.engine

    @verb(EVERYBODY, "now", reads=True)
    def now(self) -> float:
        """Return epoch seconds by the server's clock."""
        return self.session.now()

    # ------------------------------------------------------------ crawlers

    @verb(CRAWLERS, "answers", wakes=True, repeats=True, items="reports", reports=_VISITS)
    def report(self, reports: Sequence[AnyReport]) -> list[Answer]:
        """Record visits. Of each page all is recorded, or nothing.

        When a visit is refused for its values, or could not be read, its claim ends: the page has failed, and waits as
        such. The result of a claim of another kind is reported as a `Resource`: the rules of a robots.txt hold from
        then on.

        Returns:
            One answer for each visit, in their order.
        """
        return self._reporting.report(reports)

    @verb(
        CRAWLERS,
        "",
        repeats=True,
        local=("key", "notes"),
        n=_HOW_MANY,
        worker=_WORKER,
        wait=_WAIT,
        now_only={"example": False},
        kinds=_KINDS,
    )
    def next_urls(
        self,
        n: int = 100,
        *,
        worker: str | None = None,
        wait: float = 0.0,
        key: str | None = None,
        now_only: bool = False,
        kinds: Iterable[str] | None = None,
        notes: bool = False,
    ) -> Claims:
        """Claim up to `n` pages, best first.

        Fewer than `n` may come at once. Pages that other callers got first are replaced only where a fifth of the
        claims would be missing. Where very many pages of hosts that are not ready are in the way, a quarter is enough.
        Where they are before all others, a call may take a second to move them out of the way.

        Args:
            n: The number of pages, 1 to 10,000.
            worker: The name under which they are claimed; None: that of the settings.
            wait: Seconds to wait for the first of them.
            key: An idempotency key, a new one for each call. A second call with it, after a lost answer, returns the
                claims of the first that are still held, and makes no others.
            now_only: Claim only pages that `crawl_now` has named and that have not been visited since.
            kinds: `("page", "robots")` also claims each robots.txt that is not known, or is 20 hours old, before the
                pages it is about. `sitemap` claims sitemaps, too, and `link` the status of URLs outside the scope that
                `check_links` has asked for. `finished` and `next_ready` include these then.
            notes: Read the notes on the claimed pages in the same transaction (`Claims.notes`).

        Returns:
            The claims; when there are fewer than `n`, also when the next will be ready and whether the crawl is
            finished.

        Raises:
            BadInput: An argument is out of range.
        """
        return self._claiming.next_urls(
            n, worker=worker, wait=wait, key=key, now_only=now_only, kinds=kinds, notes=notes
        )

    @verb(
        CRAWLERS, "claims", repeats=True, items="claims", claims=_CLAIMS, seconds=within(Bounds(0, LONGEST_LEASE), 300)
    )
    def renew(self, claims: Iterable[Claim], seconds: float | None = None) -> list[Claim | None]:
        """Hold claims for `seconds` from now (the lease's length by default).

        Returns:
            The claims with their new end; None for each that is lost.

        Raises:
            BadInput: `seconds` is more than a week: the pages of a crawler that dies would be out of reach for so long.
        """
        return self._claiming.renew(claims, seconds)

    @verb(CRAWLERS, "claims", wakes=True, repeats=True, items="claims", claims=_CLAIMS)
    def give_back(self, claims: Iterable[Claim]) -> list[bool]:
        """Return claims unfetched: their pages wait again where they were. False for each that was lost before."""
        return self._claiming.give_back(claims)

    # ------------------------------------------------------------ upkeep

    @verb(
        OPERATORS,
        "",
        local=("batch", "for_everybody", "passes", "pushes"),
        seconds={"bounds": Bounds(0, LONGEST_TEND), "optional": False, "example": 1.0},
        pages={"is_a": "page", "example": None},
    )
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
    ) -> Tended:
        """Do the upkeep for at most `seconds`: lapsed leases, retries, depths, and pushes of cash.

        First it continues what a change of settings has left to be done. The classic engine is settled when all cash
        was spent `passes` times over (a setting) since the last change. Where the error bound is above `settled_bound`
        after the pushes, a settling pass follows, if the graph fits in this process's memory: in a call that tends
        until all is settled, and in workers once a minute at most.

        Args:
            seconds: The time limit; None: until settled.
            pages: Push the sides of these pages (URLs or keys) on which more than `eps` waits, instead of the most
                urgent.
            batch: Payments of one transaction; short ones let claims through.
            for_everybody: Note for the other users of this brain that it is tended, as `graphbrain work` does.
            passes: Make a settling pass first where that is cheaper: in workers, and in a call that tends until all is
                settled.
            pushes: End with the transaction in which this number of pushes is reached.
            stop: Asked between transactions; True ends the call.

        Raises:
            BeingConverted: The brain is between two engines.
        """
        return self._upkeep.tend(
            seconds,
            pages=pages,
            batch=batch,
            for_everybody=for_everybody,
            passes=passes,
            pushes=pushes,
            stop=stop,
        )

    @verb(
        OPERATORS,
        long=True,
        tolerance={"bounds": SHARE, "example": 1e-6},
        if_cheaper={"example": False},
    )
    def settle(
        self,
        *,
        tolerance: float = SETTLED_TO,
        if_cheaper: bool = False,
        progress: Callable[[str, int, int], None] = lambda *_: None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Settled:
        """Bring all accounts to their fixed point at once, beside all other work.

        Pages that change meanwhile are left to pushes. Nothing is done while another pass is under way.

        Args:
            tolerance: Relative error of the scores that is left, where nothing changes meanwhile.
            if_cheaper: Do nothing where pushes are cheaper; `tend` calls it so.
            progress: Called with the step (export, solve, write), how far it is, and of how much.
            stop: Asked between transactions. True ends the pass; what is written by then stays and is right.

        Raises:
            BadInput: The brain has the classic engine.
        """
        self.session.refresh()
        return self._settling.settle(tolerance=tolerance, if_cheaper=if_cheaper, progress=progress, stop=stop)

    @verb(OPERATORS, long=True)
    def clear(self, progress: Progress = lambda *_: None) -> None:
        """Delete all pages, links, hosts and counters. The brain and its settings stay.

        `progress` is called with the number of deleted links, pages and hosts, and of all.
        """
        self._delete_all(progress)
        self._finding.forget()


VERBS: Mapping[str, Verb] = verbs_of(Brain)
"""The verbs of the brain by name."""
