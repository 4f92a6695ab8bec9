"""The whole: a crawler's verbs over the nouns. Only this module combines the topics.

Each call is one transaction, or a row of them, each safe to run again. Every call may be made from any thread and any
process. A report's later effects, the spreading of cash, are the work of `tend`: by `graphbrain work` processes where
there are any, and otherwise by the brain itself, a little after each report, so that a single script need not care.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Self

from graphbrain.analyst.inspect import figures
from graphbrain.analyst.inspect.audit import Audit
from graphbrain.base.errors import GraphbrainError
from graphbrain.base.model import (
    Answer,
    AnyReport,
    Claim,
    Claims,
    KnownLink,
    LinkedPage,
    Page,
    Payments,
    Seen,
)
from graphbrain.base.numeric.bounds import LARGEST, Bounds
from graphbrain.base.numeric.methods import SETTLED_TO
from graphbrain.base.options.pages import MOST_TOP, FindOptions, LinkFilter, PageFilter, TopOptions
from graphbrain.base.options.scores import RankRun, SettleOptions
from graphbrain.base.options.upkeep import TendOptions
from graphbrain.base.options.verbs import (
    CRAWLERS,
    EVERYBODY,
    ITEMS,
    OPERATORS,
    PAGE,
    READERS,
    URL,
    verb,
    within,
)
from graphbrain.base.settings import Settings
from graphbrain.base.work import Ranking, Settled, Tended
from graphbrain.brain import open as opening
from graphbrain.brain.analyse import Analysing, Asking
from graphbrain.brain.backfill import Backfill, Progress
from graphbrain.brain.claim import LONGEST_LEASE, MOST, Claiming
from graphbrain.brain.convert import Converting
from graphbrain.brain.discover import Discovering
from graphbrain.brain.edit import Editing
from graphbrain.brain.engines import AccountEngine
from graphbrain.brain.hosts import Hosting
from graphbrain.brain.lapses import Lapses
from graphbrain.brain.links import LinkChecks
from graphbrain.brain.look import Looking
from graphbrain.brain.names import Names
from graphbrain.brain.note import Noting
from graphbrain.brain.push import Pushing
from graphbrain.brain.rank import RankProgress, Scoring
from graphbrain.brain.report import Reporting
from graphbrain.brain.session import Session
from graphbrain.brain.settle import Settling
from graphbrain.brain.sitemaps import SitemapFinding
from graphbrain.brain.upkeep import PUSH_PAYMENTS, Upkeep
from graphbrain.frontier.policy import Policy
from graphbrain.graph.connection import Clock, Graph
from graphbrain.schedule.value import Estimator

__all__ = ["Brain", "Combined"]

LONGEST_TEND = 60.0
"""The most seconds of upkeep that the service does in one request."""
NO_SCORE = {409: "No page carries this score yet."}
_CLAIM = {"url": URL, "key": "7bd6b5f6c1b84d1aa6aa4a1e3f5d9f10", "token": "0199d2f07c3a7bd2b1a4c0e5d6f70819"}
_CLAIMS = {**ITEMS, "example": [_CLAIM]}
_VISITS = {**ITEMS, "example": [{"url": URL, "links": ["https://a.example/b"], "status": 200}]}
_HOW_MANY = {"bounds": Bounds(1, MOST), "example": 2}
_WORKER = {"is_a": "worker", "example": "w1"}
_WAIT = {"bounds": Bounds(0), "example": 0}
_KINDS = {"is_a": "kinds", "example": ["page", "robots", "sitemap"]}
_LIMIT = {"bounds": Bounds(0, LARGEST), "example": 100}


class Combined:
    """The verbs `next_urls` and `report` of one brain for callers without a thread to wait in, such as an event
    loop."""

    def __init__(self, claiming: Claiming, reporting: Reporting) -> None:
        self.next_urls = claiming.soon
        self.report = reporting.soon
        self.alone = reporting.alone


class Brain(Discovering, Noting, LinkChecks, Editing, Hosting, Converting, Asking):
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
        self._looking = Looking(session, names)
        self._scoring = Scoring(session, names, backfill)
        self._analysing = Analysing(session, self._looking, names)

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
        CRAWLERS, "claims", repeats=True, items="claims", claims=_CLAIMS, seconds=within(0, LONGEST_LEASE, example=300)
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
        options=TendOptions,
        local=("batch", "for_everybody", "passes", "pushes"),
        seconds={"bounds": Bounds(0, LONGEST_TEND), "optional": False},
        pages={"is_a": "page"},
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

    @verb(OPERATORS, long=True, options=SettleOptions)
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
            tolerance: The error bound that is left, where nothing changes meanwhile.
            if_cheaper: Do nothing where pushes are cheaper; `tend` calls it so.
            progress: Called with the step (export, solve, write), how far it is, and of how much.
            stop: Asked between transactions. True ends the pass; what is written by then stays and is right.

        Raises:
            BadInput: The brain has the classic engine.
        """
        self.session.refresh()
        return self._settling.settle(tolerance=tolerance, if_cheaper=if_cheaper, progress=progress, stop=stop)

    # ------------------------------------------------------------ looking

    @verb(READERS, "", reads=True, url=PAGE)
    def page(self, url: str) -> Page:
        """Return everything about one page, named by URL or key. Raises UnknownPage."""
        return self._looking.page(url)

    @verb(READERS, "pages", reads=True, also=NO_SCORE, options=TopOptions)
    def top(self, n: int = 10, by: str = "authority") -> list[Page]:
        """Return the `n` pages of highest score, best first.

        Only authority and hub have an index: by the others every page is read.

        Args:
            n: The number of pages.
            by: authority, hub, a batch score (pagerank, hits_hub, …), or relevance or value, as far as they are known.

        Raises:
            BadInput: `by` is no score, or no page has it.
        """
        return self._looking.top(n, by)

    @verb(READERS, "", reads=True, url=PAGE, n={"bounds": Bounds(0, MOST_TOP), "example": 5})
    def payments(self, url: str, n: int = 5) -> Payments:
        """Explain the scores of a page: return the `n` largest payers and payees of both its sides.

        The classic engine does not record who paid whom: there are none. Raises UnknownPage.
        """
        return self._looking.payments(url, n)

    @verb(READERS, reads=True, url=PAGE, way={"words": ("out", "in"), "example": "out"}, limit=_LIMIT)
    def links(self, url: str, way: str = "out", limit: int | None = None) -> Iterator[LinkedPage]:
        """Return the pages a page links to (`way` "out"), or those that link to it ("in"), the best `limit` of them
        first.

        Best is by authority for the targets of links and by hub for their sources: the amounts that the links pay. They
        are read as the iterator proceeds. Raises UnknownPage.
        """
        return self._looking.links(url, way, limit)

    @verb(READERS, "path", reads=True, url=PAGE, other={**PAGE, "example": "https://b.example/"})
    def path(self, url: str, other: str | None = None) -> list[LinkedPage]:
        """Return a shortest way along links and redirects from one page to another; with one page, from any seed to it.

        Both ends are in it; it is empty when there is none of at most 1000 links. Raises UnknownPage.
        """
        return self._looking.path(url, other)

    @verb(READERS, reads=True, also=NO_SCORE, options=FindOptions, host={"is_a": "host"})
    def find(
        self,
        text: str = "",
        *,
        regex: str | None = None,
        host: str | None = None,
        state: str | None = None,
        fetched: bool | None = None,
        min_score: float | None = None,
        by: str = "authority",
        limit: int | None = None,
    ) -> Iterator[Page]:
        """Return the pages that fit all that is given. They are read as the iterator proceeds.

        From a `min_score` of 32 by authority or hub on an index is used and the best come first; a `host` has an index,
        too. Otherwise every page is read, in the order of the store. Under the classic engine, whose scores are shares,
        every `min_score` reads every page.

        Args:
            text: A part of the URL.
            regex: A regular expression found in the URL.
            host: The host of the page.
            state: The state of the page.
            fetched: Whether it was fetched.
            min_score: The least score.
            by: The score: authority, hub, a batch score (pagerank, hits_hub, …), relevance or value.
            limit: The most pages.

        Raises:
            BadInput: An argument is wrong, or no page has that score.
        """
        which = FindOptions(
            text=text, regex=regex, host=host, state=state, fetched=fetched, min_score=min_score, by=by, limit=limit
        )
        return self._looking.find(which)

    @verb(READERS, reads=True, options=PageFilter, host={"is_a": "host"})
    def dump_pages(
        self,
        *,
        regex: str | None = None,
        host: str | None = None,
        state: str | None = None,
        fetched: bool | None = None,
        progress: Progress = lambda *_: None,
    ) -> Iterator[Page]:
        """Return all pages that fit, in the order of the store, read in small parts: memory stays bounded.

        Pages that come or go meanwhile may be in it or not. `progress` is called with the number of finished ids, and
        of all.
        """
        return self._looking.dump_pages(PageFilter(regex=regex, host=host, state=state, fetched=fetched), progress)

    @verb(READERS, reads=True, options=LinkFilter, host={"is_a": "host"})
    def dump_links(
        self,
        *,
        regex: str | None = None,
        host: str | None = None,
        state: str | None = None,
        fetched: bool | None = None,
        between_hosts: bool = False,
        progress: Progress = lambda *_: None,
    ) -> Iterator[KnownLink]:
        """Return all links of the pages that fit, like `dump_pages`; `between_hosts`: only those to another host."""
        which = LinkFilter(regex=regex, host=host, state=state, fetched=fetched, between_hosts=between_hosts)
        return self._looking.dump_links(which, progress)

    def frame(self, table: str, kind: str = "arrow") -> Any:
        """Return all `pages`, `links` or `hosts` as a table in memory: `arrow`, `pandas` or `polars`.

        It needs the extra `tables`. Larger crawls are for `graphbrain dump tables`. Raises BadInput.
        """
        return self._looking.frame(table, kind)

    @verb(EVERYBODY, "", reads=True)
    def stats(self) -> dict[str, Any]:
        """Return the counts of what there is, by state, and of what was done. Reads every page: for people, not for
        loops."""
        return self._looking.stats()

    def quick_figures(self, waiting: int | None = None, since: Mapping[str, int] | None = None) -> dict[str, Any]:
        """Return those figures of `stats` for which no page is read.

        Args:
            waiting: The number of pages in the frontier, from which its end is estimated; None: not known.
            since: `done` of the figures at which `waiting` was counted: the pages that reports brought into the
                frontier since then are added, and those that they took out of it subtracted. None: it was counted now.
        """
        return self._looking.quick_figures(waiting, since)

    def scan_figures(self, stop: Callable[[], bool] = lambda: False) -> tuple[figures.Scanned, float | None]:
        """Return what metrics sample at intervals, and the error bound, None where there is none.

        Reads every page, in parts; `stop` is asked between them. Raises figures.Stopped.
        """
        return self._looking.scan_figures(stop)

    @verb(READERS, long=True, sample={"bounds": Bounds(1, LARGEST), "example": 1_000})
    def audit(self, sample: int | None = 1000, progress: Progress = lambda *_: None) -> Audit:
        """Recompute accounts from their neighbours and check leases, queues and marks; `sample` None: every page."""
        return self._looking.audit(sample, progress)

    # ------------------------------------------------------------ batch scores

    @verb(OPERATORS, long=True, options=RankRun)
    def rank(
        self,
        method: str,
        *,
        damping: float | None = None,
        tolerance: float | None = None,
        iterations: int | None = None,
        only_external: bool = False,
        content: bool = False,
        trusted: Iterable[str] | None = None,
        top: int = 10,
        write: bool = True,
        warm: bool = False,
        progress: RankProgress = lambda *_: None,
    ) -> Ranking:
        """Score all pages by `method` and write the scores back to them.

        Reports go on meanwhile; pages they bring are left out. An interruption while it writes leaves scores that are
        partly old, and `rankings` reports it. Where the order uses these scores (the setting `value`), pages change
        lanes; if that is broken off, `tend` continues it.

        Args:
            method: hits, pagerank, personalised (restart by relevance), trustrank (restart at the seeds, or at the URLs
                `trusted`), salsa, opic.
            damping: Of pagerank and its kin; .85 by default.
            tolerance: The acceptable error, in sum over all pages; 1e-9 by default. `converged` of the answer is True
                if it was reached.
            iterations: The most iterations; 10,000 by default.
            only_external: Leave out links inside a host.
            content: Relevance weighs the authorities of hits.
            trusted: The URLs at which trustrank restarts.
            top: The number of best pages in the answer.
            write: False: only compute.
            warm: Begin with the scores that the pages have, which takes fewer iterations where little has changed.
            progress: Called with the step, how far it is, and of how much.

        Raises:
            BadInput: The method is unknown, or does not take an argument.
            UnknownPage: A page of `trusted` is not in the graph.
        """
        options = RankRun(
            method=method,
            damping=damping,
            tolerance=tolerance,
            iterations=iterations,
            only_external=only_external,
            content=content,
            trusted=None if trusted is None else trusted if isinstance(trusted, str) else tuple(trusted),
            top=top,
            write=write,
            warm=warm,
        )
        return self._scoring.rank(options, progress)

    @verb(READERS, "rankings", reads=True)
    def rankings(self) -> list[Ranking]:
        """Return the batch scores that the pages have, and how they were computed; the latest first."""
        return self._scoring.rankings()

    # ------------------------------------------------------------ corrections

    @verb(OPERATORS, long=True)
    def clear(self, progress: Progress = lambda *_: None) -> None:
        """Delete all pages, links, hosts and counters. The brain and its settings stay.

        `progress` is called with the number of deleted links, pages and hosts, and of all.
        """
        self._delete_all(progress)
        self._finding.forget()

    # ------------------------------------------------------------ hosts

    # ------------------------------------------------------------ another engine
