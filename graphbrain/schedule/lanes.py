"""Lanes: pages of like value and belief wait in one queue, so that its oldest is its best.

The crawl value of a page grows with the time since its last visit, so no stored number orders all pages for long. But
the crawl values of pages of like (w, a/b, a) grow alike. In a lane of such pages, the page that has waited longest is
worth most. So an index on (lane, waiting since) gives the best page of all by the first page of each lane. No stored
value depends on the budget.

A lane's number has four fields, from high to low: the promise, the classes of value and of rate, each √2 wide, and the
class of shape. The promise falls with the crawl value at an age of `DISCOVERY` days, so in ascending order the best
lanes come first. An unfetched page has no rate: its first visit is worth w·DISCOVERY at any time. So the lanes of the
frontier form one range before all others, the first page of the range is the best, and one look finds it, however many
lanes there are. Therefore these lanes are narrow: each is 2^(1/4096) wide, and their order is the order of values. A
move of a page costs two writes of the index, so a page of the frontier moves only when its value has changed by
`STEADY`. Lane 0 holds the pages that must be visited at once, whatever they are worth.

The orders without revisits have simpler lanes: one for each depth, or those of the frontier alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from graphbrain.base.numeric.arrays import Flags, Floats, Ints
from graphbrain.base.numeric.methods import METHODS, Factor
from graphbrain.base.numeric.rules import Rule, clip_relevance, known_flow
from graphbrain.schedule.change_rate import expected_value

__all__ = [
    "ASKED",
    "DISCOVERY",
    "FRONTIER_END",
    "Lanes",
    "PageColumns",
    "Stretch",
    "blended",
    "first_given",
    "first_value",
    "frontier_lane",
    "head_value",
    "is_frontier",
    "lane_of",
    "passed_on",
    "property_of",
    "read_lanes",
    "revalued",
    "revisit_lane",
    "scored",
    "stretch",
    "weighed",
]

ASKED = 0
"""The lane of pages that must be visited at once: an operator asked for them, or their interval is over."""
DISCOVERY = 20.0
"""K, in days: a first visit is worth w·K. A larger K prefers new pages; a smaller K prefers fresh copies."""

PER_OCTAVE = 2
"""Classes for each factor of two in value or rate."""
VALUE_CLASSES, RATE_CLASSES, PROMISES = 128, 64, 512
VALUE_OF_ONE, RATE_OF_ONE, PROMISE_OF_ONE = 48, 40, 256
SHAPE_EDGES = (0.4, 0.7, 1.1, 2.0, 4.0)
SHAPES = (0.25, 0.53, 0.88, 1.5, 2.8, 6.0)
"""The representatives of the classes of shape: below .4, .4 to .7, …, 4 and above."""
FRONTIER = 7
"""The value of the field of shapes for pages that were never fetched."""
FINE_FIRST = 1 << 11
"""The first lane of the frontier. The lanes of breadth-first order, one for each depth, are below it."""
FINE_PER_OCTAVE, FINE_OCTAVES = 1 << 12, 128
FINE_OF_ONE = FINE_PER_OCTAVE * FINE_OCTAVES // 2
"""The class of the value 1. The classes reach from 2⁻⁶⁴ to 2⁶⁴."""
FINE_CLASSES = FINE_PER_OCTAVE * FINE_OCTAVES
FRONTIER_END = FINE_FIRST + 8 * FINE_CLASSES
"""The end of the lanes of the frontier. The lanes of fetched pages begin at 10⁷ or later, so they are all above it."""
STEADY = FINE_PER_OCTAVE // 16
"""The number of lanes (4.4 % of a value) by which a page may be off the lane of its value before it moves."""
Stretch = tuple[int, int]
"""A range of lanes: the first lane, and the lane after the last one."""
NEVER = -1e9


@dataclass(frozen=True, slots=True)
class Lanes:
    """The fields of lane numbers, as arrays.

    Attributes:
        frontier: True for lanes of pages that were never fetched.
        value, shape, scale: The middles of the classes.
    """

    frontier: np.ndarray
    value: Floats
    shape: Floats
    scale: Floats


def revisit_lane(value: ArrayLike, shape: ArrayLike, scale: ArrayLike) -> Ints:
    """Return the lane of fetched pages of value w and belief Gamma(a, b); ascending is best first.

    Values outside 2⁻²⁴ to 2⁴⁰, and rates outside 2⁻²⁰ to 2¹² changes a day, count as the nearest end of the grid. So
    pages of value 0 wait in the last lanes.
    """
    w, a, b = (np.asarray(each, dtype=np.float64) for each in (value, shape, scale))
    values = _class(w, VALUE_OF_ONE, VALUE_CLASSES)
    rates = _class(a / b, RATE_OF_ONE, RATE_CLASSES)
    shapes = np.searchsorted(SHAPE_EDGES, a, side="right").astype(np.int64)
    return _promising(values, rates, shapes)


def _promising(values: Ints, rates: Ints, shapes: Ints) -> Ints:
    """Return the lane numbers of these classes of value, rate and shape."""
    shape = np.asarray(SHAPES)[shapes]
    scale = shape / _middle(rates, RATE_OF_ONE)
    crawl_value = expected_value(_middle(values, VALUE_OF_ONE), shape, scale, np.float64(DISCOVERY))
    return _packed(crawl_value, values, rates, shapes)


def frontier_lane(value: ArrayLike) -> Ints:
    """Return the lane of pages of these values that were never fetched; ascending is best first."""
    values = _class(np.asarray(value, dtype=np.float64), FINE_OF_ONE, FINE_CLASSES, FINE_PER_OCTAVE)
    return np.asarray(FINE_FIRST + (FINE_CLASSES - 1 - values) * 8 + FRONTIER, dtype=np.int64)


def stretch(lane: int) -> Stretch:
    """Return the range of lanes around this one in which the index has the pages best first: all lanes of the frontier,
    or this lane alone."""
    return (ASKED + 1, FRONTIER_END) if ASKED < lane < FRONTIER_END else (lane, lane + 1)


def is_frontier(lane: ArrayLike) -> Flags:
    """Return whether these lanes hold pages that were never fetched."""
    return np.asarray(np.asarray(lane, dtype=np.int64) % 8 == FRONTIER)


def read_lanes(lane: ArrayLike) -> Lanes:
    """Return the fields of these lane numbers."""
    numbers = np.asarray(lane, dtype=np.int64)
    shapes, frontier = numbers % 8, is_frontier(numbers)
    values, rates = numbers // (8 * RATE_CLASSES) % VALUE_CLASSES, numbers // 8 % RATE_CLASSES
    frontier_values = FINE_CLASSES - 1 - (numbers - FINE_FIRST) // 8
    value = np.where(frontier, _middle(frontier_values, FINE_OF_ONE, FINE_PER_OCTAVE), _middle(values, VALUE_OF_ONE))
    shape = np.asarray(SHAPES)[np.minimum(shapes, len(SHAPES) - 1)]
    return Lanes(frontier, value, shape, shape / _middle(rates, RATE_OF_ONE))


def head_value(
    lane: ArrayLike, age: ArrayLike, discovery: float = DISCOVERY, freshness: float = 1.0, change: float = 0.0
) -> Floats:
    """Return the worth of a visit to the first page of each lane, from the lane's number and its age alone.

    The result is as exact as the classes are narrow. A caller that has read the page itself can compute
    `change_rate.expected_value` of it.

    Args:
        lane: The numbers of the lanes.
        age: The days since the last visit of the first page of each lane.
        discovery: K, in days.
        freshness, change: The worth of a page of value 1 that is up to date, and of each change that a visit finds.
    """
    numbers = np.asarray(lane, dtype=np.int64)
    lanes = read_lanes(numbers)
    revisit_value = expected_value(freshness * lanes.value, lanes.shape, lanes.scale, age, change * lanes.value)
    # The worth of the first visit of a page is w·K, in the unit of crawl values.
    worth = np.where(lanes.frontier, lanes.value * discovery, revisit_value)
    return np.where(numbers == ASKED, np.inf, worth)


def property_of(value: str) -> str:
    """Return the property of pages that holds this batch score, or the user's own value. `value`: the setting."""
    return METHODS[value][-1] if value in METHODS else "value"


def scored(rule: Rule, stored: float | None, provisional: float | None = None) -> float:
    """Return the worth of a page by its `stored` property. A page without a batch score (None) has the worth of its
    `provisional` score, or else the base."""
    if rule.value == "own":
        return 1.0 if stored is None else stored
    if stored is not None:
        return stored * rule.value_scale
    return rule.value_base if provisional is None else provisional


def passed_on(rule: Rule, own: float, links: Sequence[tuple[float, float]]) -> float:
    """Return the amount that a page which was just read gives to each page it links to: one step of the order's method.

    PageRank and similar methods divide the page's value among its links. HITS gives each link the sum of the values of
    all pages that the page links to. SALSA gives each link the mean value of an in-link of these pages.

    Args:
        rule: The rule, with the method.
        own: The value of the page.
        links: For each link, the value of the linked page and the number of known links to it.
    """
    if not links:
        return 0.0
    if rule.value == "hits":
        return rule.value_flow * sum(value for value, _ in links)
    if rule.value == "salsa":
        return sum(value for value, _ in links) / max(1.0, sum(count for _, count in links))
    return rule.value_flow * own / (len(links) + (1.0 if rule.value == "opic" else 0.0))


def first_given(rule: Rule) -> float:
    """Return the worth of a page before any linking page gives it an amount."""
    return 0.0 if rule.value in ("hits", "salsa") else rule.value_base


@dataclass(frozen=True, slots=True)
class PageColumns:
    """The facts of pages beside their accounts, by column.

    Attributes:
        in_weight: The weight of the links to the page.
        depth: Clicks from a seed.
        path_repeats: Steps of the path that occur earlier in the path.
        siblings_before: New pages of the same folder that the page's finder named before it.
        is_seed: True for seeds.
        relevance: The relevance; nan if it is unknown.
        harvest: The factor of the page's section.
    """

    in_weight: Floats
    depth: Floats
    path_repeats: Floats
    siblings_before: Floats
    is_seed: Flags
    relevance: Floats
    harvest: Floats


def blended(
    blend: Mapping[str, Factor], authority: Floats, flow: Floats, live_pagerank: Floats, page_columns: PageColumns
) -> Floats:
    """Return the worth of new pages: the product of `times`·max(score, `floor`)^`power` over the factors of the blend.

    The scores beside the live scores are:

    * `harvest`: the expected harvest of the page's section, in powers of two (`schedule.sections.harvest`)
    * `in_links`: 1 + the weight of the known links to the page
    * `nearness`: 1/(1 + clicks from a seed)
    * `plain_path`: 1/(1 + steps of the path, and names of arguments, that occur earlier in the URL)
    * `novelty`: 1/(1 + new pages of the folder that the finder named before). Of like pages, a few come first and show
      what the others lead to.

    A server can invent pages without end. If each of them is worth a little more than the site's other pages, a crawl
    never reaches the others. `flow`, `nearness` and `plain_path` each protect against some of these traps.
    """
    scores = {
        "authority": authority,
        "flow": known_flow(flow),
        "harvest": page_columns.harvest,
        "live_pagerank": live_pagerank,
        "in_links": 1.0 + np.maximum(page_columns.in_weight, 0.0),
        "nearness": 1.0 / (1.0 + page_columns.depth),
        "novelty": 1.0 / (1.0 + page_columns.siblings_before),
        "plain_path": 1.0 / (1.0 + page_columns.path_repeats),
    }
    product = np.ones(len(authority))
    for name, factor in blend.items():
        product *= factor.times * np.maximum(scores[name], factor.floor) ** factor.power
    return product


def first_value(rule: Rule, score: Floats, page_columns: PageColumns) -> Floats:
    """Return the worth of pages that are just created, before relevance. `score`: their live score, the same for hub
    and authority. A page has no batch score yet."""
    if rule.blend:
        flow, live_pagerank = (forward.first(page_columns.is_seed) for forward in rule.forwards)
        return blended(rule.blend, score, flow, live_pagerank, page_columns)
    return score if rule.value in ("authority", "hub") else np.full(len(score), scored(rule, None))


def revalued(lane: ArrayLike, value: ArrayLike) -> Ints:
    """Return the lanes of fetched pages of these lanes for a new `value`. The belief that the number holds is kept.

    Pages whose value stays in its class keep their lane, and so do pages that must be visited at once.
    """
    numbers = np.array(lane, dtype=np.int64)
    values = _class(np.asarray(value, dtype=np.float64), VALUE_OF_ONE, VALUE_CLASSES)
    old_values = numbers // (8 * RATE_CLASSES) % VALUE_CLASSES
    shapes = numbers % 8
    is_moved = (old_values != values) & (numbers != ASKED) & (shapes < len(SHAPES))
    if is_moved.any():
        numbers[is_moved] = _promising(values[is_moved], numbers[is_moved] // 8 % RATE_CLASSES, shapes[is_moved])
    return numbers


def weighed(rule: Rule, value: Floats, relevance: Floats, weight: Floats) -> Floats:
    """Return the worth of pages to the schedule: their value, at least 0, times their weight by patterns of URLs, times
    twice their relevance if the rule counts relevance. An unknown relevance counts as ½."""
    worth = np.maximum(value, 0.0) * weight
    return worth * clip_relevance(relevance) * 2.0 if rule.value_by_relevance else worth


def lane_of(
    rule: Rule,
    value: Floats,
    relevance: Floats,
    weight: Floats,
    depth: Floats,
    fetched: Flags,
    stored: Ints | None = None,
    steady: bool = True,
) -> Ints:
    """Return the lane of each page by the brain's order, also for pages that do not wait now. A fetched page keeps its
    lane under the orders without revisits.

    Args:
        rule: The rule, with the order.
        value: The values before relevance and weights.
        relevance: The relevance of each page; nan if it is unknown.
        weight: The factor of each page by patterns of URLs.
        depth: Clicks from a seed.
        fetched: True for pages that were fetched.
        stored: The lanes of the pages, which hold the belief on their rates; None for pages that are just created.
        steady: True if an unfetched page keeps a lane that is near to the lane of its value (`STEADY`).
    """
    # Compute the lanes in which the pages wait until their first visit.
    if rule.order == "breadth_first":
        fresh = depth.astype(np.int64) + 1
    else:
        fresh = frontier_lane(weighed(rule, value, relevance, weight))
    if stored is None:
        return fresh
    if steady and rule.order != "breadth_first":
        is_near = (np.abs(stored - fresh) < 8 * STEADY) & (stored >= FINE_FIRST)
        fresh = np.where(is_near, stored, fresh)
    # The lanes of fetched pages; pages that must be visited at once keep theirs.
    revisit = revalued(stored, weighed(rule, value, relevance, weight)) if rule.revisits else stored
    return np.where(stored == ASKED, ASKED, np.where(fetched, revisit, fresh))


def _class(x: Floats, of_one: int, count: int, per_octave: int = PER_OCTAVE) -> Ints:
    logs = np.log2(x, out=np.full(x.shape, NEVER), where=x > 0.0)
    places: Ints = np.clip(np.floor(per_octave * logs) + of_one, 0, count - 1).astype(np.int64)
    return places


def _middle(bucket: Ints, of_one: int, per_octave: int = PER_OCTAVE) -> Floats:
    """Return the geometric middle of a class."""
    return np.asarray(np.exp2((bucket - of_one + 0.5) / per_octave), dtype=np.float64)


def _packed(crawl_value: Floats, values: Ints, rates: Ints, shapes: Ints) -> Ints:
    """Return the number that holds the four fields. The field `promise` grows by 1 when the crawl value falls by √2."""
    steps = np.floor(-PER_OCTAVE * np.log2(np.maximum(crawl_value, 1e-300))) + PROMISE_OF_ONE
    promise = np.clip(steps, 0, PROMISES - 1).astype(np.int64)
    return np.asarray(((promise * VALUE_CLASSES + values) * RATE_CLASSES + rates) * 8 + shapes, dtype=np.int64)
