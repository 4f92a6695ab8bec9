"""The verbs that read: one page and the payments behind its score, the best pages, links, paths, searches, dumps,
figures, the audit."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from graphbrain.analyst import frames
from graphbrain.analyst.inspect import audit as audits
from graphbrain.analyst.inspect import clicks, copies, due, figures, scan, sections
from graphbrain.analyst.inspect.audit import Audit
from graphbrain.analyst.inspect.finding import Flows, outlook
from graphbrain.analyst.inspect.pages import ForwardSums, View
from graphbrain.analyst.inspect.scan import Progress, Wanted
from graphbrain.base.errors import BadInput, NoScore, UnknownPage
from graphbrain.base.model import RESOURCE_KINDS, STATES, KnownLink, LinkedPage, Page, Payments
from graphbrain.base.numeric.bounds import LARGEST, Bounds
from graphbrain.base.numeric.methods import CASH, FORWARD, OWN, SCORES, UNINDEXED, method_of
from graphbrain.base.options.pages import MOST_BEST, PageFilter
from graphbrain.base.options.verbs import EVERYBODY, PAGE, READERS, verb
from graphbrain.brain.session import whole
from graphbrain.brain.topic import Topic
from graphbrain.graph.connection import Tx
from graphbrain.scores.ranking import store

__all__ = ["Looking"]

SIDES = ("hub", "authority")
NO_SCORE = {409: "No page carries this score yet."}
LIMIT = {"bounds": Bounds(0, LARGEST), "example": 100, "help": "End after this number (all)"}
WHICH: Mapping[str, Any] = {
    "regex": {"help": "Only pages in whose URL this is found", "metavar": "RE", "example": "/news/"},
    "host": {"help": "Only pages of this host", "metavar": "HOST", "example": "a.example"},
    "state": {"help": "Only pages of this state", "words": STATES, "example": "known"},
    "fetched": {"help": "Only pages that were, or never were, fetched", "off": "unfetched", "example": True},
}
"""The options by which pages are selected."""
BY = {
    "help": f"The score: authority, hub, relevance, value, a live score ({', '.join(FORWARD)}), a batch score "
    f"({', '.join(SCORES)}), or cash, the amount that waits on both sides",
    "words": (*SIDES, CASH, *UNINDEXED),
    "by_room": True,
    "metavar": "SCORE",
    "example": "authority",
}
BEGINNING = 60.0
"""A crawl that began within this many seconds after the full hour counts as if it had begun at the full hour."""


COUNTED = ("visits", "links", "found", "left")
"""The columns of brain/pace that `stats` shows."""
DONE = (
    *("pages", "links", "claims", "pushes", "payments", "retries"),
    *(f"{kind}_claims" for kind in RESOURCE_KINDS),
    *("found", "left"),
)
"""Counts of all workers, in the order of brain/totals."""


class Looking(Topic):
    """The verbs that read. They read the settings first, since another process may have changed the engine."""

    @verb(READERS, "", reads=True, url=PAGE)
    def page(self, url: str) -> Page:
        """Return everything about one page, named by URL or key. Raises UnknownPage."""
        self._session.refresh()
        key = self._names.key(url)
        stored = self._session.graph.read(
            lambda tx: self._session.engine.looks.page(tx, key, self._session.policy.rule), "pages/get"
        )
        if stored is None:
            raise UnknownPage(f"{url} is not in the graph.")
        near = self._session.graph.read(lambda tx: clicks.of_page(tx, key), "clicks/of_page")
        counts = self._session.policy.rule.harvests
        section = self._session.graph.read(
            lambda tx: sections.of_page(tx, stored, self._session.book, counts=counts), "sections/read"
        )
        copy = self._session.graph.read(lambda tx: copies.of_page(tx, stored, self._names.key_of), "sections/evidence")
        return replace(self._dates()([stored])[0], clicks=near, section=section, expected_copy=copy)

    def _dates(self) -> Callable[[Sequence[Page]], list[Page]]:
        """Return a function that adds to pages the times of their next visits, by the present settings and pace."""
        policy = self._session.policy
        price = self._session.graph.read(self._pace, "brain/pace")["price"] if policy.rule.revisits else None
        return lambda pages: due.dated(pages, policy, price)

    def _pace(self, tx: Tx) -> dict[str, Any]:
        """Return the pace of the crawl in the last full hour: visits, links, pages that came into the frontier and
        pages that left it; and the price of visits.

        Each count is given per hour, and as it was counted in `seconds`. If the crawl began later than that hour, the
        pace is that since its beginning; `so_far` is True if that is less than an hour.
        """
        now = self._session.now()
        hour = int(now // 3600)
        last_hour, this_hour, began, has_earlier, price = tx.one("brain/pace", hour=hour)
        counts, seconds = last_hour, 3600.0
        # The pace of a crawl that began within the last full hour, or later, is that since its beginning.
        if not last_hour[0] or not (has_earlier or began <= (hour - 1) * 3600 + BEGINNING):
            counts = [last + this for last, this in zip(last_hour, this_hour, strict=True)]
            seconds = 0.0 if began is None else max(1.0, now - began)
        per_hour = [count * 3600 / seconds if seconds else 0.0 for count in counts]
        pace = {f"{name}_an_hour": value for name, value in zip(COUNTED, per_hour, strict=True)}
        pace |= dict(zip(COUNTED, counts, strict=True))
        return {**pace, "seconds": seconds, "so_far": seconds < 3600, "price": price}

    @verb(READERS, "", reads=True, url=PAGE, n={"bounds": Bounds(0, MOST_BEST), "example": 5})
    def payments(self, url: str, n: int = 5) -> Payments:
        """Explain the scores of a page: return the `n` largest payers and payees of both its sides.

        The classic engine does not record who paid whom: there are none. Raises UnknownPage.
        """
        key, most = self._names.key_in_graph(url), _count(n) or 0
        self._session.refresh()
        if not self._session.engine.settles:
            return Payments((), (), (), ())
        return scan.payments(self._session.graph, key, most, self._session.settings.intra_host_weight)

    @verb(READERS, reads=True, url=PAGE, way={"words": ("out", "in"), "example": "out"}, limit=LIMIT)
    def links(self, url: str, way: str = "out", limit: int | None = None) -> Iterator[LinkedPage]:
        """Return the pages a page links to (`way` "out"), or those that link to it ("in"), the best `limit` of them
        first.

        Best is by authority for the targets of links and by hub for their sources: the amounts that the links pay. They
        are read as the iterator proceeds. Raises UnknownPage.
        """
        if way not in ("out", "in"):
            raise BadInput(f"links go 'out' or 'in', not {way!r}.")
        return scan.ends(self._session.graph, self._names.key_in_graph(url), way, _count(limit), self._view())

    @verb(READERS, "path", reads=True, url=PAGE, other={**PAGE, "example": "https://b.example/"})
    def path(self, url: str, other: str | None = None) -> list[LinkedPage]:
        """Return a shortest way along links and redirects from one page to another; with one page, from any seed to it.

        Both ends are in it; it is empty when there is none of at most 1000 links. Raises UnknownPage.
        """
        if other is None:
            return scan.path(self._session.graph, None, self._names.key_in_graph(url), self._view())
        return scan.path(
            self._session.graph, self._names.key_in_graph(url), self._names.key_in_graph(other), self._view()
        )

    @verb(
        READERS,
        reads=True,
        also=NO_SCORE,
        **WHICH,
        text={"example": "news"},
        min_score={"metavar": "X", "by_room": True, "example": 2.0},
        by=BY,
        limit=LIMIT,
    )
    def find(
        self,
        text: str = "",
        *,
        regex: str | None = None,
        host: str | None = None,
        state: str | None = None,
        fetched: bool | None = None,
        min_score: float | None = None,
        by: str | None = None,
        limit: int | None = None,
    ) -> Iterator[Page]:
        """Return the pages that fit all that is given. With `by` and `limit` they are the best ones without
        aliases, best first.

        The best by authority or hub of all pages have an index. From a `min_score` of 32 by authority or hub on an
        index is used and the best come first; a `host` has an index, too. Otherwise every page is read, in the order of
        the store, as the iterator proceeds. Under the classic engine, whose scores are shares, every `min_score` reads
        every page.

        Args:
            text: Only pages whose URL contains this.
            regex: A regular expression found in the URL.
            host: The host of the page.
            state: The state of the page.
            fetched: Whether it was fetched.
            min_score: Only pages of at least this score.
            by: The score: authority, hub, a batch score (pagerank, hits_hub, …), relevance or value, as far as they are
                known, or cash; None: authority, for `min_score` alone.
            limit: The most pages, 10,000 of the best; None: all.

        Raises:
            BadInput: An argument is wrong.
            NoScore: No page has that score.
        """
        scan.check_score(by or "authority", CASH)
        if by == CASH and min_score is not None:
            raise BadInput("min_score is for scores; cash is none.")
        which = PageFilter(regex=regex, state=state, fetched=fetched)
        score = "authority" if by in (None, CASH) else by
        wanted = Wanted.of(which, self._names.host_or_none(host), text, score, min_score)
        most = _count(limit)
        if score in UNINDEXED and not store.carried(self._session.graph, score):
            raise _not_carried(score)
        view = self._view()
        if by is not None and most is not None and (view is not None or wanted.rank() is None):
            return iter(self._of_highest_score(wanted, view, most, by))
        at_once = scan.PAGES_AT_ONCE if most is None else max(1, min(most, scan.PAGES_AT_ONCE))
        return islice(self._fitting(wanted, view, at_once), most)

    def _fitting(self, wanted: Wanted, view: View | None, at_once: int = scan.PAGES_AT_ONCE) -> Iterator[Page]:
        return scan.wanted_pages(self._session.graph, wanted, lambda *_: None, at_once, view, self._dates())

    def _of_highest_score(self, wanted: Wanted, view: View | None, most: int, by: str) -> Sequence[Page]:
        """Return the pages of highest score among those that are wanted. Raise BadInput for too many."""
        if most > MOST_BEST:
            raise BadInput(f"The best pages are at most {MOST_BEST:,}; leave out by, or take a smaller limit.")
        if wanted == Wanted(by=wanted.by):
            looks, rule = self._session.engine.looks, self._session.policy.rule
            top = self._session.graph.read(lambda tx: looks.top(tx, most, by, rule), "pages/top")
            return self._dates()(top)
        fitting = (page for page in self._fitting(wanted, view) if page.state != "alias" or wanted.state == "alias")
        scored = (page for page in fitting if page.score(by) is not None)
        return heapq.nlargest(most, scored, key=lambda page: page.score(by) or 0.0)

    @verb(READERS, reads=True, **WHICH)
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
        which = PageFilter(regex=regex, host=host, state=state, fetched=fetched)
        wanted = Wanted.of(which, self._names.host_or_none(which.host))
        pages = scan.wanted_pages(self._session.graph, wanted, progress, view=self._view(), finish=self._dates())
        return self._with_clicks(pages)

    def _with_clicks(self, pages: Iterator[Page]) -> Iterator[Page]:
        """Yield the pages with their clicks from a seed. Every link is read first."""
        near = clicks.clicks(self._session.graph)
        for page in pages:
            yield replace(page, clicks=near.of(page.id))

    @verb(
        READERS,
        reads=True,
        **WHICH,
        between_hosts={"help": "Only links to another host", "example": False},
    )
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
        which = PageFilter(regex=regex, host=host, state=state, fetched=fetched)
        wanted = Wanted.of(which, self._names.host_or_none(which.host))
        return scan.links(self._session.graph, wanted, between_hosts, progress)

    def frame(self, table: str, kind: str = "arrow") -> Any:
        """Return all `pages`, `links` or `hosts` as a table in memory: `arrow`, `pandas` or `polars`.

        It needs the extra `tables`. Larger crawls are for `graphbrain dump tables`. Raises BadInput.
        """
        return frames.frame(self._session.graph, table, kind)

    def quick_figures(self, waiting: int | None = None, since: Mapping[str, int] | None = None) -> dict[str, Any]:
        """Return the figures of `stats` that need no read of pages.

        Args:
            waiting: The number of pages in the frontier, for the estimate of the frontier's end; None if not known.
            since: The figure `done` at the time when `waiting` was counted. Pages that came into the frontier since
                then are added, and pages that left it are subtracted. None: `waiting` was counted now.
        """
        # Read the counters, with those of this process.
        self._session.counters.write()
        stored, sizes, totals, pace = self._session.graph.read(self._quick, "figures")
        self._session.take_up(stored)
        done = dict(zip(DONE, totals, strict=True))
        # Estimate the end of the frontier from its present size and the flows of pages.
        if waiting is not None and since is not None:
            waiting = max(0, waiting + done["found"] - since["found"] - (done["left"] - since["left"]))
        flows = Flows(pace["visits"], pace["found"], pace["left"], pace["seconds"])
        return {
            "crawl": self._session.settings.crawl,
            "engine": self._session.settings.engine,
            **dict(zip(("known_pages", "links"), sizes[:2], strict=True)),
            "paused": self._session.stored.get("paused"),
            "pace": pace,
            "frontier": None if waiting is None else outlook(waiting, flows).as_dict(),
            "done": done,
            "client": dict(self._session.graph.counts),
        }

    def _quick(self, tx: Tx) -> tuple[Any, list[int], list[int], dict[str, Any]]:
        """Return the properties of the brain, its sizes, the sums of all counters, and the pace."""
        return tx.one("brain/read")[0], tx.one("brain/sizes"), tx.one("brain/totals"), self._pace(tx)

    @verb(EVERYBODY, "", reads=True)
    def stats(self) -> dict[str, Any]:
        """Return the counts of what there is, by state, and of what was done. Reads every page: for people, not for
        loops.

        `pages` and `hosts` are those inside the scope, `outside_pages` those outside that links name. `states` counts
        both.
        """
        session = self._session
        session.refresh()
        pushed = [forward for forward in session.policy.rule.forwards if forward.pushed]

        def read(tx: Tx) -> tuple[list[Any], float | None, list[ForwardSums], int, int]:
            states = tx.records("brain/states", now=session.now())
            error = session.engine.looks.error_bound(tx, session.policy.rule)
            sums = [ForwardSums.of(tx, one) for one in pushed]
            return states, error, sums, tx.one("brain/led_outside")[0], figures.hosts_inside(tx)

        states, error, forwards, led_outside, hosts = session.graph.read(read, "stats", slow=True)
        # The outlook counts pages that wait for their first visit, without failed ones that wait for another attempt.
        totals = self.quick_figures(sum(row.pages - row.retries for row in states if row.state == "frontier"))
        all_pages, outside = sum(row.pages for row in states), sum(row.beyond for row in states)
        del totals["known_pages"]
        sums_of = {
            "pages": all_pages - outside,
            "outside_pages": outside,
            "links": totals.pop("links"),
            "hosts": hosts,
            "waiting": sum(row.waiting for row in states),
            "leased": sum(row.leased for row in states),
            "lapsed": sum(row.lapsed for row in states),
            "retries": sum(row.retries for row in states),
            "states": {row.state: row.pages for row in states},
            "scores": {side: _sum_and_mean(sum(getattr(row, side) for row in states), all_pages) for side in SIDES},
            "aliases_outside": led_outside,
            "error_bound": error,
            **audits.forward_errors(forwards),
        }
        return {"crawl": totals.pop("crawl"), "engine": totals.pop("engine"), **sums_of, **totals}

    def scan_figures(self, stop: Callable[[], bool] = lambda: False) -> tuple[figures.Scanned, float | None]:
        """Return the figures that metrics sample at intervals, and the error bound; None for no bound.

        Reads every page, in parts. `stop` is asked between two parts. Raises figures.ScanStopped if it returns True.
        """
        session = self._session
        session.refresh()
        policy = session.policy
        scanned = figures.scanned(session.graph, session.now(), policy.schedule.prior, policy.manners.dead_after, stop)
        if stop():
            raise figures.ScanStopped
        bound = session.graph.read(
            lambda tx: session.engine.looks.error_bound(tx, policy.rule),
            "audit/waiting",
            patient=False,
            slow=True,
        )
        return scanned, bound

    @verb(READERS, long=True, sample={"bounds": Bounds(1, LARGEST), "example": 1_000})
    def audit(self, sample: int | None = 1000, progress: Progress = lambda *_: None) -> Audit:
        """Recompute accounts from their neighbours and check leases, queues and marks; `sample` None: every page."""
        self._session.refresh()
        check = self._session.engine.check
        return audits.run(
            self._session.graph,
            check,
            lambda: self._session.policy,
            self._session.finder,
            sample,
            progress,
            self._session.now,
        )

    def _view(self) -> View | None:
        """Return the view that converts stored scores for display; None if scores are shown as stored."""
        self._session.refresh()
        return self._session.graph.read(
            lambda tx: self._session.engine.looks.view(tx, self._session.policy.rule), "view"
        )


def _not_carried(by: str) -> NoScore:
    """Return the error for a score that no page has."""
    if by in OWN:
        return NoScore(f"No page has a {by} yet; it comes with reports and their links, or by set_page.")
    if by == "flow":
        return NoScore("No page has a flow yet; it comes with reports, while value names it or reach is set.")
    if by == "live_pagerank":
        return NoScore(
            "No page has a live PageRank; it is kept while value names it or keep_live_pagerank is set "
            "('graphbrain change keep_live_pagerank=yes')."
        )
    return NoScore(f"No page has a score {by!r} yet; run 'graphbrain rank {method_of(by)}' first.")


def _count(number: int | None) -> int | None:
    """Return the argument. Raise BadInput unless it is None or a whole number of at least 0."""
    if number is not None and (not whole(number) or number < 0):
        raise BadInput(f"Give a whole number, 0 or more, not {number!r}.")
    return number


def _sum_and_mean(total: float, pages: int) -> dict[str, float | None]:
    return {"sum": total, "mean": total / pages if pages else None}
