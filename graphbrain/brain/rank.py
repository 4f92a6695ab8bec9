"""Batch scores: the verb `rank` exports the links, computes the scores in memory, and writes them to the pages."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import fields, replace
from typing import Any

import numpy as np

from graphbrain.base.errors import BadInput, GraphbrainError, UnknownPage
from graphbrain.base.numeric.arrays import Floats, Ints
from graphbrain.base.numeric.methods import DAMPING, METHODS, TOLERANCE
from graphbrain.base.options.scores import BY_METHOD, RANGES, RankDue, RankOptions, RankRun, checked, checked_every
from graphbrain.base.options.verbs import OPERATORS, READERS, verb, within
from graphbrain.base.work import Ranking
from graphbrain.brain.exclusive_lock import Hold
from graphbrain.brain.topic import Topic
from graphbrain.frontier import discovery
from graphbrain.graph import exports
from graphbrain.graph.connection import Tx
from graphbrain.graph.exports import LinkTable
from graphbrain.scores.ranking import algorithms, store
from graphbrain.scores.ranking.algorithms import LinkGraph, Scores, Until

__all__ = [
    "UNKNOWN_RELEVANCE",
    "Scoring",
    "cores",
    "for_later",
    "rank_if_due",
    "ranking",
]

UNKNOWN_RELEVANCE = 0.5
HELD_SECONDS = 120.0
"""A ranking loses its exclusive right this many seconds after it last renewed it."""

RankProgress = Callable[[str, int, int], None]
"""Called with the name of the step, its progress, and its total; 0 if they are not known."""


def cores() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


_ANEW = ("iterations",)
"""Options that a ranking does not take over from the last ranking by the same method."""


class Scoring(Topic):
    """The verbs that compute batch scores, one method at a time."""

    @verb(
        OPERATORS,
        long=True,
        method={"words": tuple(METHODS), "by_room": True, "example": "pagerank"},
        damping=within(RANGES["damping"], DAMPING),
        tolerance=within(RANGES["tolerance"], TOLERANCE),
        iterations=within(RANGES["iterations"], 100),
        only_external={"example": False},
        content={"example": False},
        trusted={"flag": "trust", "metavar": "URL", "by_room": True, "example": None},
        top=within(RANGES["top"], 10),
        write={"example": True},
        warm={"example": False},
    )
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
        lanes; if that is broken off, `tend` continues it. `converged` of the answer is True if `tolerance` was reached.

        Args:
            method: hits, pagerank, personalised (restart by relevance), trustrank (restart at the seeds, or at the URLs
                `trusted`), salsa, opic.
            damping: Share of readers who follow a link, of pagerank and its kin; .85 by default.
            tolerance: Acceptable error of all scores together; 1e-9 by default.
            iterations: Most iterations; 10,000 by default.
            only_external: Leave out links inside a host.
            content: Weigh authorities by their relevance (hits).
            trusted: A trusted page, instead of the seeds, at which trustrank restarts.
            top: Number of best pages in the answer.
            write: Write the scores to the pages.
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
        return self._ranked(options, progress)

    def _ranked(self, options: RankRun, progress: RankProgress) -> Ranking:
        options = checked(options)
        method, top = options.method, options.top
        clock, started = time.monotonic(), self._session.now()
        # Read the links, and make of them what the method needs.
        table = exports.links(self._session.graph, lambda done, of: progress("reading links", done, of))
        restart = self._restart(options, table)
        web = self._web(options, table, progress)
        first = self._first(options, table, restart) if options.warm else None
        # Iterate to the scores.
        scores = _compute(options, web, restart, first, progress)
        ranked = ranking(options, scores, web.pages, web.links, started)
        # Write them, and let pages move to their lanes if the order uses them.
        if options.write:
            self._write(ranked, table, scores, for_later(options, *_passed(options, web, scores, restart)), progress)
            self._session.refresh()
            if method == self._session.settings.value:
                self._backfill.finish()
            ranked = replace(ranked, finished=self._session.now(), complete=True)
        best = {name: self._best(table, column, top) for name, column in scores.columns.items()}
        return replace(ranked, best=best, seconds=time.monotonic() - clock)

    @verb(READERS, "rankings", reads=True)
    def rankings(self) -> list[Ranking]:
        """Return the batch scores that the pages have, and how they were computed; the latest first."""
        return [_stored(facts) for facts in store.stored(self._session.graph)]

    def _restart(self, options: RankOptions, table: LinkTable) -> Floats | None:
        """Return a weight for each page: the weight of restarts there, or of its authority; None for equal weights."""
        if options.method == "personalised" or options.content:
            relevance = exports.terms(self._session.graph, table).relevance
            return np.where(np.isnan(relevance), UNKNOWN_RELEVANCE, relevance)
        if options.method != "trustrank":
            return None
        weights = np.zeros(table.pages)
        trusted = table.at(np.array(self._trusted(options), dtype=np.int64))
        weights[trusted[trusted >= 0]] = 1.0
        if not weights.any():
            raise BadInput("There are no seeds to trust; name the trusted pages, with --trust or trusted=.")
        return weights

    def _first(self, options: RankOptions, table: LinkTable, restart: Floats | None) -> Floats | None:
        """Return the scores with which the iteration begins: the stored scores, and for a page without one its share of
        restarts. None if no page has a score."""
        if options.method == "salsa":
            return None
        column = exports.column(self._session.graph, table, METHODS[options.method][0])
        unknown = np.isnan(column)
        if unknown.all():
            return None
        start = algorithms.distribution(np.ones(table.pages) if restart is None or options.content else restart)
        return np.where(unknown, (1.0 - (options.damping or DAMPING)) * start, column)

    def _trusted(self, options: RankOptions) -> list[int]:
        if options.trusted is None:
            return store.seeds(self._session.graph)
        keys = {self._names.key(url): url for url in options.trusted}
        ids = self._session.graph.read(lambda tx: discovery.find(tx, keys), "pages/find")
        for key, url in keys.items():
            if key not in ids:
                raise UnknownPage(f"{url} is not in the graph.")
        return list(ids.values())

    def _web(self, options: RankOptions, table: LinkTable, progress: RankProgress) -> LinkGraph:
        """Return the links that count for these options, in both directions."""
        offsets, targets = table.offsets, table.targets
        if options.only_external:
            progress("reading hosts", 0, 0)
            offsets, targets = algorithms.between_hosts(
                offsets, targets, exports.terms(self._session.graph, table).hosts
            )
        progress("turning links", 0, 0)
        return LinkGraph.of(offsets, targets, cores())

    def _write(
        self,
        ranked: Ranking,
        table: LinkTable,
        scores: Scores,
        later: Mapping[str, Any],
        progress: RankProgress,
    ) -> None:
        """Write the scores to the pages, and the record of the ranking with the facts of `for_later`."""
        facts = {
            name: value
            for name, value in ranked.as_dict().items()
            if name not in ("best", "seconds") and value is not None
        }
        store.write(
            self._session.graph,
            ranked.method,
            table.ids,
            scores.columns,
            {**facts, **later, "token": uuid.uuid4().hex},
            self._session.now,
            lambda done, of: progress("writing scores", done, of),
        )

    def _best(self, table: LinkTable, column: Floats, top: int) -> tuple[tuple[str, float], ...]:
        """Return URL and score of the pages with the highest scores above 0; among equal scores the oldest page."""
        best = _highest(column, top)
        ids = table.ids[best]
        named = exports.urls(self._session.graph, ids)
        rows = zip(ids.tolist(), column[best].tolist(), strict=True)
        return tuple((named[page], score) for page, score in rows if page in named)


def rank_if_due(brain: Scoring, due: RankDue, progress: RankProgress = lambda *_: None) -> Ranking | None:
    """Score all pages again, if the scores of this method are old and no other process is scoring them.

    `graphbrain work --rank` uses it to keep scores fresh, with any number of workers. The ranking takes the parameters
    of the last ranking by this method, and begins with its scores. If the process that ranks dies, another process
    begins within two minutes, or within ten if it was writing.

    Returns:
        The ranking; None if there was nothing to do.

    Raises:
        BadInput: The method is unknown, or the age is out of range.
    """
    method, every = due.method, checked_every(due).every

    def take(tx: Tx, token: str, now: float, until: float) -> bool:
        return store.take(tx, method, token, now, until, float(every))

    # Take the exclusive right, if the scores are old.
    hold = Hold(brain._session.graph, brain._session.now, HELD_SECONDS, take, "scores/take")
    if not hold.take():
        return None
    last = next((facts for facts in store.stored(brain._session.graph) if facts["method"] == method), {})

    def report_progress(what: str, done: int, of: int) -> None:
        if not hold.keep():
            raise GraphbrainError(f"Another process has begun to rank by {method!r}; its scores will hold.")
        progress(what, done, of)

    # Rank with the options of the last ranking, and release the right.
    try:
        options = {name: last[name] for name in BY_METHOD[method] if name in last and name not in _ANEW}
        return brain._ranked(RankRun(method, **options, top=0, warm=True), report_progress)
    finally:
        with suppress(GraphbrainError):  # a right that cannot be released lapses
            brain._session.graph.write(lambda tx: store.release(tx, hold.token), "scores/release")


def _compute(
    options: RankOptions, web: LinkGraph, weights: Floats | None, first: Floats | None, progress: RankProgress
) -> Scores:
    """Compute the scores. `weights`: the result of `_restart`; `first`: the result of `_first`."""

    def report_iteration(iteration: int, change: float) -> None:
        progress(f"iteration {iteration}, change {change:.1e}", 0, 0)

    if options.method == "salsa":
        return algorithms.salsa(web)
    until = Until(options.tolerance or 0.0, options.iterations or 1, report_iteration)
    if options.method == "hits":
        return algorithms.hits(web, content=weights, until=until, first=first)
    if options.method == "opic":
        return algorithms.opic(web, until=until, first=first)
    damping = options.damping or 0.0
    return algorithms.pagerank(web, damping=damping, restart=weights, until=until, name=options.method, first=first)


def for_later(options: RankOptions, passed: float, brought: float = 0.0) -> dict[str, Any]:
    """Return the facts that the next ranking needs, and that provisional scores of new pages need (`lanes.passed_on`).

    `flow` is the share of a page's score that it passes along its links. For HITS it is the factor of one step from
    authorities to hubs and back: a = Lᵀ·L·a·flow, where the scores of each side have the sum 1. `base` is the amount
    that each page gets without links, if the mean score is 1.

    Args:
        options: The method and its options, checked.
        passed: The sum over all pages of the score that they pass on; for HITS, of their number of links times hub.
        brought: For HITS, the sum over all pages of their number of in-links times weighted authority.
    """
    facts = {"trusted": options.trusted}
    if options.method == "salsa":
        return facts
    if options.method == "hits":
        product = passed * brought
        return {**facts, "flow": 1.0 / product if product > 0.0 else 0.0}
    base = 0.0 if options.method == "trustrank" else 1.0 - passed
    return {**facts, "flow": 1.0 if options.damping is None else options.damping, "base": base}


def _passed(options: RankOptions, web: LinkGraph, scores: Scores, weights: Floats | None) -> tuple[float, float]:
    """Return the sums that are the arguments of `for_later`."""
    score = scores.columns[METHODS[options.method][0]]
    if options.method == "salsa":
        return 0.0, 0.0
    if options.method == "hits":
        authority = scores.columns["hits_authority"]
        counted = authority if weights is None else weights * authority
        return float(web.forward.counts @ score), float(web.backward.counts @ counted)
    return float(algorithms.follows(web.forward.counts, options.damping) @ score), 0.0


def ranking(options: RankOptions, scores: Scores, pages: int, links: int, started: float) -> Ranking:
    """Return the record of a ranking that began at `started` (epoch seconds)."""
    # Name the pages at which the reader restarts.
    restart = {"personalised": "relevance", "trustrank": "seeds"}.get(options.method)
    if options.trusted is not None:
        restart = f"{len(set(options.trusted))} pages" if len(options.trusted) > 1 else options.trusted[0]
    return Ranking(
        method=options.method,
        damping=options.damping,
        tolerance=options.tolerance,
        only_external=options.only_external,
        content=options.content,
        restart=restart,
        pages=pages,
        links=links,
        iterations=scores.iterations,
        residual=scores.residual,
        error=scores.error if np.isfinite(scores.error) else None,
        converged=scores.converged,
        started=started,
        eigenvalue=scores.eigenvalue,
    )


def _stored(facts: Mapping[str, Any]) -> Ranking:
    """Return a ranking from the properties of its node. A node has no properties with the value None."""
    absent = {"damping": None, "tolerance": None, "restart": None, "error": None}
    names = {field.name for field in fields(Ranking)}
    stored = Ranking(**{**absent, **{name: value for name, value in facts.items() if name in names}})
    return stored if stored.finished is None else replace(stored, seconds=stored.finished - stored.started)


def _highest(column: Floats, count: int) -> Ints:
    """Return the indices of the `count` highest values above 0, highest first; of equal values the lowest index
    first."""
    if not count or not len(column):
        return np.empty(0, dtype=np.int64)
    bar = np.partition(column, -count)[-count] if count < len(column) else 0.0
    places = np.flatnonzero((column >= bar) & (column > 0.0))
    return places[np.argsort(-column[places], kind="stable")][:count]
