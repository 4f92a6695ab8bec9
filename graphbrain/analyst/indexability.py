"""Indexability of pages: whether search engines can index them, with the reasons; and faults of sitemaps.

The first reason counts, in the order of `REASONS`. Pages that agree in all that decides are read as one group, so that
each group is judged once. Statements: looks/indexing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphbrain.analyst import computed
from graphbrain.base.numeric.arrays import Floats, Ints
from graphbrain.graph import exports
from graphbrain.graph.connection import Graph, Tx, bound

__all__ = ["INDEXABLE", "SOFT_BITS", "faulty_sum", "pages", "reasons", "shares", "sitemap_entries"]

INDEXABLE = "indexable"
WAITING, ROBOTS, OUTSIDE = "not fetched yet", "blocked by robots.txt", "outside the scope"
SILENT, BROKEN, MISSING = "no answer", "5xx", "4xx"
MOVED, LED, OTHER_TYPE = "permanent redirect", "temporary redirect", "not HTML or PDF"
NOINDEX, CANONICAL, SOFT = "noindex", "canonical to another", "soft 404"
REASONS = (WAITING, ROBOTS, OUTSIDE, SILENT, BROKEN, MISSING, MOVED, LED, OTHER_TYPE, NOINDEX, CANONICAL, SOFT)
"""The reasons why a page cannot be indexed. The first one of a page counts."""
NO_FAULTS = frozenset({INDEXABLE, WAITING, OUTSIDE})
UNLISTED, FALSE_DATE = "no sitemap lists it", "its date is wrong"
TYPES = ("text/html", "application/xhtml+xml", "application/pdf")
SOFT_BITS = 3
"""A soft 404 differs from an error page of its host in at most so many bits, as in soft-missing-pages."""


@dataclass(frozen=True, slots=True)
class Standing:
    """The facts of a page that decide whether it can be indexed; `fails`: its last visit brought no page."""

    state: str
    outside_because: str | None
    fails: bool
    status: int | None
    fetched: bool
    leads: bool
    content_type: str | None
    noindex: bool
    names_another: bool

    def reasons(self, *, soft: bool) -> tuple[str, ...]:
        """Return all reasons, in order. `soft`: its text is like an error page of its host."""
        outside, status = self.state == "outside", self.status or 0
        moved = status in (301, 308) if self.fails else self.state == "alias"
        led = status in (302, 303, 307) if self.fails else self.leads and not moved
        holds = {
            WAITING: self.state in ("frontier", "parked") and not self.fails and not self.fetched,
            ROBOTS: outside and self.outside_because == "robots",
            OUTSIDE: outside and self.outside_because != "robots",
            SILENT: self.fails and status < 400 and not moved and not led,
            BROKEN: self.fails and status >= 500,
            MISSING: self.fails and 400 <= status < 500,
            MOVED: moved,
            LED: led,
            OTHER_TYPE: self.content_type is not None and self.content_type not in TYPES,
            NOINDEX: self.noindex,
            CANONICAL: self.names_another,
            SOFT: soft,
        }
        return tuple(reason for reason in REASONS if holds[reason])


@dataclass(frozen=True, slots=True)
class Group:
    """Pages of a host that agree in all reasons, in being named by a sitemap, and in having a false date there."""

    host: str
    reasons: tuple[str, ...]
    in_sitemap: bool
    has_false_date: bool
    ids: Ints
    authority: Floats

    @property
    def first(self) -> str:
        return self.reasons[0] if self.reasons else INDEXABLE


def reasons(stored: dict[str, Any], *, soft: bool) -> tuple[str, ...]:
    """Return the reasons of a page from its properties."""
    return Standing(
        stored["state"],
        stored.get("outside_because"),
        stored.get("failed", 0.0) > stored.get("fetched", 0.0),
        stored.get("status"),
        stored.get("first_fetched") is not None,
        stored.get("led_to") is not None or stored.get("led_by") is not None,
        stored.get("content_type"),
        stored.get("noindex") is True,
        stored.get("canonical") not in (None, stored["url"]),
    ).reasons(soft=soft)


def _groups(graph: Graph, host: str) -> Iterator[Group]:
    """Yield all pages of a host, or of all hosts, in groups."""
    soft = np.array(sorted(computed.soft_missing(graph, SOFT_BITS)), dtype=np.int64)
    rows = graph.anywhere.read(bound(Tx.one, "looks/indexing", host=host), "looks/indexing", slow=True)[0]
    for name, *standing, in_sitemap, has_false_date, ids, authorities in rows:
        pages, scores = np.array(ids, dtype=np.int64), np.array(authorities, dtype=np.float64)
        alike = np.isin(pages, soft)
        for is_soft in (False, True):
            if (some := alike == is_soft).any():
                why = Standing(*standing).reasons(soft=is_soft)
                yield Group(name, why, in_sitemap, has_false_date, pages[some], scores[some])


def pages(graph: Graph, host: str, reason: str, limit: int) -> computed.Answer:
    """Return the pages that cannot be indexed, the best first. `reason`: only those with this first reason."""
    rows_of = [
        ((group.first, list(group.reasons[1:])), group)
        for group in _groups(graph, host)
        if (group.first == reason if reason else group.first not in NO_FAULTS)
    ]
    return ("reason", "also", "authority", "url"), _best(graph, rows_of, limit)


def shares(graph: Graph, host: str) -> computed.Answer:
    """Return the number of pages of each first reason, their share of the pages inside the scope, and their
    authority."""
    counts: defaultdict[str, int] = defaultdict(int)
    scores: defaultdict[str, float] = defaultdict(float)
    for group in _groups(graph, host):
        counts[group.first] += len(group.ids)
        scores[group.first] += float(group.authority.sum())
    inside = sum(counts.values()) - counts[OUTSIDE]
    return ("reason", "pages", "share", "authority"), [
        [reason, counts[reason], None if reason == OUTSIDE else round(counts[reason] / inside, 4), scores[reason]]
        for reason in (INDEXABLE, *REASONS)
        if counts[reason]
    ]


def sitemap_entries(graph: Graph, host: str, problem: str, limit: int) -> computed.Answer:
    """Return the faults of sitemaps, the best pages first. `problem`: only this one."""
    rows_of = [((each,), group) for each, group in _sitemap_faults(list(_groups(graph, host))) if problem in ("", each)]
    return ("problem", "authority", "url"), _best(graph, rows_of, limit)


def faulty_sum(graph: Graph) -> tuple[tuple[int, float], tuple[int, float]]:
    """Return the number of rows that `pages` and `sitemap_entries` would return without a limit, and their
    authority."""
    groups = list(_groups(graph, ""))
    faulty = [group for group in groups if group.first not in NO_FAULTS]
    return _sum(faulty), _sum([group for _, group in _sitemap_faults(groups)])


def _sum(groups: list[Group]) -> tuple[int, float]:
    return sum(len(group.ids) for group in groups), float(sum(group.authority.sum() for group in groups))


def _sitemap_faults(groups: list[Group]) -> Iterator[tuple[str, Group]]:
    """Yield each fault of sitemaps with the pages that have it."""
    hosts = {group.host for group in groups if group.in_sitemap}
    for group in groups:
        if group.in_sitemap and group.reasons and group.first != WAITING:
            yield group.first, group
        if group.in_sitemap and group.has_false_date:
            yield FALSE_DATE, group
        if not group.in_sitemap and not group.reasons and group.host in hosts:
            yield UNLISTED, group


def _best(graph: Graph, rows_of: list[tuple[tuple[Any, ...], Group]], limit: int) -> list[list[Any]]:
    """Return rows of the pages of groups with the highest authority: the columns of the group, authority, URL."""
    if not rows_of:
        return []
    authority = np.concatenate([group.authority for _, group in rows_of])
    ids = np.concatenate([group.ids for _, group in rows_of])
    places = np.repeat(np.arange(len(rows_of)), [len(group.ids) for _, group in rows_of])
    order = np.argsort(-authority, kind="stable")[: max(limit, 0)]
    urls = exports.urls(graph.anywhere, np.unique(ids[order]))
    rows = [
        [*rows_of[places[index]][0], float(authority[index]), urls[int(ids[index])]]
        for index in order.tolist()
        if int(ids[index]) in urls
    ]
    return sorted(rows, key=lambda row: (-row[-2], row[-1]))
