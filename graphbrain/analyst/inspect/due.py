"""The times of the next visits of fetched pages, if they can be predicted.

A page with an interval, set for it or for a pattern of URLs, comes back after that. Under an order with revisits, any
other page comes back when its visit is worth as much as the visits that the crawl makes now.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from graphbrain.base.model import Page
from graphbrain.base.numeric.arrays import Floats
from graphbrain.base.numeric.methods import METHODS
from graphbrain.base.numeric.rules import Rule
from graphbrain.frontier.policy import Policy
from graphbrain.schedule import lanes
from graphbrain.schedule.value import DAY

__all__ = ["dated"]


def dated(pages: Sequence[Page], policy: Policy, price: float | None) -> list[Page]:
    """Return the pages with `comes_back` and `due`. `price`: the value of a visit at the present pace; None if no
    visits are made."""
    rule, schedule = policy.rule, policy.schedule
    days: dict[int, float | None] = {
        index: page.interval or schedule.interval_of(page.url)
        for index, page in enumerate(pages)
        if page.fetched is not None and page.state == "known"
    }
    if rule.revisits and price is not None:
        places = [index for index, fixed in days.items() if fixed is None]
        days.update(zip(places, _paced([pages[index] for index in places], policy, price), strict=True))
    return [_dated(_real(page, rule), days.get(index)) for index, page in enumerate(pages)]


def _real(page: Page, rule: Rule) -> Page:
    """Return the page without its provisional score, unless the order uses this score and the final one is missing."""
    if page.provisional is None:
        return page
    waits = rule.value in METHODS and lanes.property_of(rule.value) not in page.scores
    return page if waits else replace(page, provisional=None)


def _dated(page: Page, days: float | None) -> Page:
    if days is None or page.fetched is None:
        return page
    return replace(page, comes_back=days, due=max(page.not_before or 0.0, page.fetched + days * DAY))


def _paced(pages: Sequence[Page], policy: Policy, price: float) -> list[float | None]:
    """Return the days between visits that the order gives these pages; None for more than a hundred years."""
    value = _worth(pages, policy.rule)
    shape, scale = policy.schedule.first_belief([page.host for page in pages], value)
    learned = np.array([page.rate is not None for page in pages], dtype=bool)
    shape[learned] = [page.rate_shape for page in pages if page.rate is not None]
    scale[learned] = [page.rate_scale for page in pages if page.rate is not None]
    days = policy.schedule.comes_back(value, shape, scale, price)
    return [None if np.isnan(each) else each for each in days.tolist()]


def _worth(pages: Sequence[Page], rule: Rule) -> Floats:
    """Return the values of pages for the order."""
    if rule.standing_value in ("authority", "hub"):
        scores = [page.score(rule.standing_value) for page in pages]
    else:
        name = lanes.property_of(rule.value)
        stored = [page.value if rule.value == "own" else page.scores.get(name) for page in pages]
        scores = [lanes.scored(rule, each, page.provisional) for page, each in zip(pages, stored, strict=True)]
    relevance = [np.nan if page.relevance is None else page.relevance for page in pages]
    weight = np.array([page.url_weight or 1.0 for page in pages])
    return lanes.weighed(rule, np.array(scores, dtype=np.float64), np.array(relevance, dtype=np.float64), weight)
