"""Lanes: pages of like value and belief wait in one queue, so that its oldest is its best.

The crawl value of a page grows with the time it was not seen, so no stored number orders all pages for long. But pages
of like (w, a/b, a) grow alike: in a lane of those the page that has waited longest is worth most, and an index on
(lane, waiting since) gives the best of all by its lanes' heads alone. Nothing is stored that depends on the budget.

A lane's number is made of four fields, high to low: how little its pages are worth at best (`promise`), the classes
of value and rate, √2 wide, and of shape. The promise is the crawl value at an age of `DISCOVERY` days, so in ascending
order the best lanes come first. An unfetched page has no rate: it is worth w·DISCOVERY whenever it is fetched. So the
lanes of the frontier are together, before all others, and the first page in them is the best: one look finds it,
however many lanes there are. So they may be many: a lane of the frontier is 2^(1/4096) wide, and its order is that of
the values. A page of the frontier moves only when its value has changed by `STEADY`, for each move costs two writes of
the index; then it moves to the lane of its value. Lane 0 is for pages that are wanted at once, whatever they are worth.

Under the orders that never come back, lanes are simpler: one for each depth, or those of the frontier alone.
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
    "frontier_value",
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
"""The lane of pages that must be visited at once: asked for by hand, or due by an interval of their own."""
DISCOVERY = 20.0
"""Depth of discovery, in days: an unfetched page is worth w times this. More: new pages first; less: fresh copies."""

PER_OCTAVE = 2
"""Classes for each factor of two in value or rate."""
VALUE_CLASSES, RATE_CLASSES, PROMISES = 128, 64, 512
VALUE_OF_ONE, RATE_OF_ONE, PROMISE_OF_ONE = 48, 40, 256
SHAPE_EDGES = (0.4, 0.7, 1.1, 2.0, 4.0)
SHAPES = (0.25, 0.53, 0.88, 1.5, 2.8, 6.0)
"""The representatives of the classes of shape: below .4, .4 to .7, …, 4 and above."""
FRONTIER = 7
"""In the field of shapes: the page was never fetched."""
FINE_FIRST = 1 << 11
"""Above the lanes of breadth-first order, one for each depth."""
FINE_PER_OCTAVE, FINE_OCTAVES = 1 << 12, 128
FINE_OF_ONE = FINE_PER_OCTAVE * FINE_OCTAVES // 2
"""Values from 2⁻⁶⁴ to 2⁶⁴."""
FINE_CLASSES = FINE_PER_OCTAVE * FINE_OCTAVES
FRONTIER_END = FINE_FIRST + 8 * FINE_CLASSES
"""The lanes of the frontier are below it; the first of pages that are visited again is at 10⁷ at least, whatever it
is worth."""
STEADY = FINE_PER_OCTAVE // 16
"""So many lanes a value may be off (4.4 %) before its page moves."""
Stretch = tuple[int, int]
"""[first lane, the lane after the last)"""
NEVER = -1e9


@dataclass(frozen=True, slots=True)
class Lanes:
    """The fields of lane numbers: whether of the frontier, and the middle of their classes of value, shape and
    scale."""

    frontier: np.ndarray
    value: Floats
    shape: Floats
    scale: Floats


def revisit_lane(value: ArrayLike, shape: ArrayLike, scale: ArrayLike) -> Ints:
    """Return the lane of fetched pages of value w and belief Gamma(a, b); ascending is best first.

    Values and rates beyond the grid (2⁻²⁴ to 2⁴⁰, and once in 2²⁰ days to 2¹² times a day) count as its ends, value 0
    among them: such pages wait in the last lanes.
    """
    w, a, b = (np.asarray(each, dtype=np.float64) for each in (value, shape, scale))
    values = _class(w, VALUE_OF_ONE, VALUE_CLASSES)
    rates = _class(a / b, RATE_OF_ONE, RATE_CLASSES)
    shapes = np.searchsorted(SHAPE_EDGES, a, side="right").astype(np.int64)
    return _promising(values, rates, shapes)


def _promising(values: Ints, rates: Ints, shapes: Ints) -> Ints:
    """Return the lane numbers of these classes."""
    middle = np.asarray(SHAPES)[shapes]
    promised = expected_value(
        _middle(values, VALUE_OF_ONE), middle, middle / _middle(rates, RATE_OF_ONE), np.float64(DISCOVERY)
    )
    return _packed(promised, values, rates, shapes)


def frontier_lane(value: ArrayLike) -> Ints:
    """Return the lane of pages that were never fetched, ascending is best first; `value`: as good as it is known."""
    values = _class(np.asarray(value, dtype=np.float64), FINE_OF_ONE, FINE_CLASSES, FINE_PER_OCTAVE)
    return np.asarray(FINE_FIRST + (FINE_CLASSES - 1 - values) * 8 + FRONTIER, dtype=np.int64)


def _steady(stored: Ints, fresh: Ints) -> Ints:
    """Return the lanes of pages of the frontier that are in `stored` lanes and would be in `fresh` ones by their
    values."""
    near = (np.abs(stored - fresh) < 8 * STEADY) & (stored >= FINE_FIRST)
    return np.where(near, stored, fresh)


def stretch(lane: int) -> Stretch:
    """Return the lanes [first, end) with this one whose pages come in the order of the index best first: all of the
    frontier, or this alone."""
    return (ASKED + 1, FRONTIER_END) if ASKED < lane < FRONTIER_END else (lane, lane + 1)


def is_frontier(lane: ArrayLike) -> Flags:
    """Return whether these lanes are of pages that were never fetched."""
    return np.asarray(np.asarray(lane, dtype=np.int64) % 8 == FRONTIER)


def frontier_value(value: ArrayLike, discovery: float = DISCOVERY) -> Floats:
    """Return the worth of fetching a page for the first time, w·K, in the currency of crawl values."""
    return np.asarray(value, dtype=np.float64) * discovery


def read_lanes(lane: ArrayLike) -> Lanes:
    """Return the classes that lane numbers were made of."""
    numbers = np.asarray(lane, dtype=np.int64)
    shapes, frontier = numbers % 8, is_frontier(numbers)
    values, rates = numbers // (8 * RATE_CLASSES) % VALUE_CLASSES, numbers // 8 % RATE_CLASSES
    fine = FINE_CLASSES - 1 - (numbers - FINE_FIRST) // 8
    value = np.where(frontier, _middle(fine, FINE_OF_ONE, FINE_PER_OCTAVE), _middle(values, VALUE_OF_ONE))
    shape = np.asarray(SHAPES)[np.minimum(shapes, len(SHAPES) - 1)]
    return Lanes(frontier, value, shape, shape / _middle(rates, RATE_OF_ONE))


def head_value(
    lane: ArrayLike, age: ArrayLike, discovery: float = DISCOVERY, freshness: float = 1.0, change: float = 0.0
) -> Floats:
    """Return the worth of the first page of each lane, by the lane's number alone: `age` days since it was last seen.

    `freshness`, `change`: the worth of a page of value 1 for being up to date, and for each change that is found. Good
    to a class's width; a caller that has read the pages themselves takes `change_rate.expected_value` of them.
    """
    numbers = np.asarray(lane, dtype=np.int64)
    lanes = read_lanes(numbers)
    seen = expected_value(freshness * lanes.value, lanes.shape, lanes.scale, age, change * lanes.value)
    worth = np.where(lanes.frontier, frontier_value(lanes.value, discovery), seen)
    return np.where(numbers == ASKED, np.inf, worth)


def property_of(value: str) -> str:
    """Return the property of pages that holds this value, if it is no live score."""
    return METHODS[value][-1] if value in METHODS else "value"


def scored(rule: Rule, stored: float | None, provisional: float | None = None) -> float:
    """Return the worth of a page by its property; None: it has none, but of a batch score maybe a `provisional` one."""
    if rule.value == "own":
        return 1.0 if stored is None else stored
    if stored is not None:
        return stored * rule.value_scale
    return rule.value_base if provisional is None else provisional


def passed_on(rule: Rule, own: float, links: Sequence[tuple[float, float]]) -> float:
    """Return the amount that a page which was just read gives each page it links to, by one step of the order's method.

    `own`: its value; `links`: of each link the value of the page it leads to, and how many links to that are known. A
    reader of PageRank and its kin follows each link alike. A hub of HITS is worth what it leads to, in sum, and each of
    its links as much as the hub; a hub of SALSA gives each link what the other links of its community have.
    """
    if not links:
        return 0.0
    if rule.value == "hits":
        return rule.value_flow * sum(value for value, _ in links)
    if rule.value == "salsa":
        return sum(value for value, _ in links) / max(1.0, sum(count for _, count in links))
    return rule.value_flow * own / (len(links) + (1.0 if rule.value == "opic" else 0.0))


def first_given(rule: Rule) -> float:
    """Return the worth of a page without known links to it, beside the amounts that linking pages give."""
    return 0.0 if rule.value in ("hits", "salsa") else rule.value_base


@dataclass(frozen=True, slots=True)
class PageColumns:
    """The facts of pages beside their accounts, by column: the weight of the links that lead to them, clicks from a
    seed, steps of their paths that were there before, new pages of their folders that the pages which brought them
    named before them, whether they are seeds, their relevance (unknown: nan), and the factors of their sections."""

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
    """Return the worth of new pages: a product of powers of scores, each not below its floor, and of the numbers before
    them. `in_links` counts one link more than there is.

    `harvest` is what a fetch of the page's section is expected to bring, by steps of two (`schedule.sections.harvest`),
    `nearness` 1/(1 + clicks from a seed), `plain_path` 1/(1 + steps of the path, and names of arguments, that were in
    the URL before), and `novelty` 1/(1 + new pages of the folder that the page which brought this one named before
    it): of pages that are much alike some come first, and show what the others lead to. A crawl can be caught in pages
    that a server invents without end: if each of them is worth a little more than the site's own pages, the site's own
    never get their turn. `flow`, `nearness` and `plain_path` each keep it out of some.
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
    """Return the worth of pages that are made just now, before relevance: their scores, alike on both sides, or the
    value where no property has one yet."""
    if rule.blend:
        flow, live_pagerank = (forward.first(page_columns.is_seed) for forward in rule.forwards)
        return blended(rule.blend, score, flow, live_pagerank, page_columns)
    return score if rule.value in ("authority", "hub") else np.full(len(score), scored(rule, None))


def revalued(lane: ArrayLike, value: ArrayLike) -> Ints:
    """Return the lane of fetched pages in this `lane` when they get this `value`: the belief in its number is kept.

    Pages whose value stays in its class stay; so do those that are wanted at once.
    """
    numbers = np.array(lane, dtype=np.int64)
    classes = _class(np.asarray(value, dtype=np.float64), VALUE_OF_ONE, VALUE_CLASSES)
    shapes = numbers % 8
    moved = (numbers // (8 * RATE_CLASSES) % VALUE_CLASSES != classes) & (numbers != ASKED) & (shapes < len(SHAPES))
    if moved.any():
        numbers[moved] = _promising(classes[moved], numbers[moved] // 8 % RATE_CLASSES, shapes[moved])
    return numbers


def weighed(rule: Rule, value: Floats, relevance: Floats) -> Floats:
    """Return the worth of pages to the schedule: their value, times twice the relevance (unknown: ½) if it counts."""
    if not rule.value_by_relevance:
        return np.maximum(value, 0.0)
    return np.maximum(value, 0.0) * clip_relevance(relevance) * 2.0


def lane_of(
    rule: Rule,
    value: Floats,
    relevance: Floats,
    depth: Floats,
    fetched: Flags,
    stored: Ints | None = None,
    steady: bool = True,
) -> Ints:
    """Return the lane of each page by the brain's order: where it waits, or would if it did; of one that was never
    fetched, it may be a lane of about its value, if it is there, and is to be `steady` (`STEADY`).

    `value`: before relevance. `stored`: the lanes of the pages, which hold the belief on their rates; None for pages
        that are made just now. A fetched page keeps its lane under the orders that never come back.
    """
    if rule.order == "breadth_first":
        fresh = depth.astype(np.int64) + 1
    else:
        fresh = frontier_lane(weighed(rule, value, relevance))
    if stored is None:
        return fresh
    if steady and rule.order != "breadth_first":
        fresh = _steady(stored, fresh)
    seen = revalued(stored, weighed(rule, value, relevance)) if rule.revisits else stored
    return np.where(stored == ASKED, ASKED, np.where(fetched, seen, fresh))


def _class(x: Floats, of_one: int, count: int, per_octave: int = PER_OCTAVE) -> Ints:
    logs = np.log2(x, out=np.full(x.shape, NEVER), where=x > 0.0)
    places: Ints = np.clip(np.floor(per_octave * logs) + of_one, 0, count - 1).astype(np.int64)
    return places


def _middle(bucket: Ints, of_one: int, per_octave: int = PER_OCTAVE) -> Floats:
    """Return the geometric middle of a class."""
    return np.asarray(np.exp2((bucket - of_one + 0.5) / per_octave), dtype=np.float64)


def _packed(promised: Floats, values: Ints, rates: Ints, shapes: Ints) -> Ints:
    """Return one number of the four fields; a promise a factor of √2 lower comes one later."""
    steps = np.floor(-PER_OCTAVE * np.log2(np.maximum(promised, 1e-300))) + PROMISE_OF_ONE
    promise = np.clip(steps, 0, PROMISES - 1).astype(np.int64)
    return np.asarray(((promise * VALUE_CLASSES + values) * RATE_CLASSES + rates) * 8 + shapes, dtype=np.int64)
