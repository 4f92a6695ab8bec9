"""A host's sections: a bounded tree of tests on the shape of URLs, learned from what visits brought.

A node asks a test; a URL goes on by the answer, and a leaf is a section. A leaf is split by the test that predicts best
what its visits brought, if the two parts differ by more than chance among so many tests would have it: by the gain of
the marginal likelihood of beta distributions over that of one, less the logarithm of the number of tests (minimum
description length; Buntine, "Learning classification trees", 1992); more is asked where pages may be held down by it
than where they are freed. What does not differ is not split, or stays together when the tree is learned anew. Learning
is a pure function of the visits, so two who learn the same agree.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, count
from math import lgamma, log
from typing import Any

import numpy as np

from graphbrain.base.numeric.arrays import Flags, Floats, Ints
from graphbrain.schedule.sections.harvest import ENOUGH, PRIOR, posterior
from graphbrain.schedule.sections.shapes import LONGEST_QUESTION, Shape, ShapeQuestion, read_question, shape_of

__all__ = ["DEEPEST", "LONGEST_PATTERN", "CountedVisit", "Leaf", "Tree", "TreeNode", "learn", "read"]

DEEPEST = 8
"""Tests on the way to a section, at most."""
LONGEST_PATTERN = DEEPEST * (LONGEST_QUESTION + 2)
LEAST_VISITS = 1.5
"""Visits, as far as they count, of each part of a section that is split."""
MOST_TESTS = 600
"""Tests that are tried, those that the most visits have first."""
LASTS = 0.95
"""The weight of a visit is multiplied by it at each later one of its section: what a section brings may be exhausted
(discounted bounds; Garivier and Moulines, "On upper-confidence bound policies for switching bandit problems", ALT
2011)."""
EVIDENCE = 2.0
"""Nats beyond the number of tests that a split of a section that counts in full must gain: it may hold pages down. That
of a section which is held down frees pages, and need only be likelier than none."""
HALF = 0.5
"""The parameter of the beta distribution of what visits bring (Jeffreys)."""
Path = tuple[tuple[ShapeQuestion, bool], ...]
"""Questions from the root to a leaf, each with its answer."""


@dataclass(frozen=True, slots=True)
class CountedVisit:
    """A visit that is evidence on the yield of its section.

    Attributes:
        url: The page's URL.
        brought: What the page brought, 0 to 1.
        weight: The weight of the visit, 0 to 1.
        echo: The URL was an echo of one that had been fetched.
        at: The time of the visit, in epoch seconds.
    """

    url: str
    brought: float
    weight: float
    echo: bool = False
    at: float = 0.0

    @property
    def shape(self) -> Shape:
        """The shape of the URL, as it was then."""
        return shape_of(self.url, echo=self.echo)


@dataclass(frozen=True, slots=True)
class TreeNode:
    """A test; a URL goes to `yes` or `no`."""

    test: ShapeQuestion
    yes: TreeNode | Leaf
    no: TreeNode | Leaf


@dataclass(frozen=True, slots=True)
class Leaf:
    """A section. `pattern`: its tests in the order of the tree, `!` before those whose answer is no; empty where a host
    is one section. `mean`: what a fetch is expected to bring; `brought`, `visits`: what those that count brought in
    sum, and how many there were; `parent`: what the section around it is expected to bring; `last`: when the last of
    its visits was (epoch seconds), where the tree was just learned."""

    pattern: str
    mean: float = PRIOR
    brought: float = 0.0
    visits: float = 0.0
    parent: float = PRIOR
    last: float = 0.0
    count: float = 0.0


@dataclass(frozen=True, slots=True)
class Tree:
    """The sections of a host."""

    root: TreeNode | Leaf

    def section_of(self, url: str, *, echo: bool = False) -> Leaf:
        """Return the section that a URL is in; each is in exactly one."""
        return self.of_shape(shape_of(url, echo=echo))

    def of_shape(self, shape: Shape) -> Leaf:
        """Return the section of URLs of this shape."""
        node = self.root
        while isinstance(node, TreeNode):
            node = node.yes if node.test.holds(shape) else node.no
        return node

    def leaves(self) -> Iterator[Leaf]:
        """Yield the sections, in the order of the tree."""
        waiting: list[TreeNode | Leaf] = [self.root]
        while waiting:
            node = waiting.pop()
            if isinstance(node, Leaf):
                yield node
            else:
                waiting += [node.no, node.yes]

    def plain(self) -> Any:
        """Return the tree in the form of JSON: [test, yes, no] or [mean, brought, visits, parent]."""
        return _plain(self.root)


ONE = Tree(Leaf(""))
"""All pages of a host are one section."""


def read(plain: Any) -> Tree:
    """Return the tree that `Tree.plain` has written. Raise ValueError where it is none."""
    return Tree(_read(plain, ()))


def learn(visits: Sequence[CountedVisit], most: int) -> Tree:
    """Return the sections of a host by these visits, at most `most` (1 or more)."""
    if not visits:
        return ONE
    return _Learning(visits).tree(most)


class _Learning:
    """The visits as columns, and of each test which of them it holds for."""

    def __init__(self, visits: Sequence[CountedVisit]) -> None:
        self._visits = visits
        self._weight = np.array([visit.weight for visit in visits])
        self._brought = self._weight * np.array([visit.brought for visit in visits])
        self._at = np.array([visit.at for visit in visits])

    @cached_property
    def _tests(self) -> list[ShapeQuestion]:
        return _common(self._shapes)

    @cached_property
    def _shapes(self) -> list[Shape]:
        return [visit.shape for visit in self._visits]

    @cached_property
    def _yes(self) -> tuple[Ints, Ints]:
        """The answers that are yes: two columns, of visits and of tests."""
        columns = {test: column for column, test in enumerate(self._tests)}
        tests = [[columns[test] for test in shape.tests if test in columns] for shape in self._shapes]
        visits = np.repeat(np.arange(len(tests)), [len(row) for row in tests])
        return visits, np.fromiter(chain.from_iterable(tests), dtype=np.int64, count=len(visits))

    def _holds(self, test: ShapeQuestion) -> Flags:
        """Return a flag for each visit: the test holds for it."""
        visits, tests = self._yes
        holds: Flags = np.zeros(len(self._visits), dtype=bool)
        holds[visits[tests == self._tests.index(test)]] = True
        return holds

    def tree(self, most: int) -> Tree:
        """The best split of any section first, until there are `most` or no split is worth it."""
        everything = np.ones(len(self._weight), dtype=bool)
        splits: dict[Path, ShapeQuestion] = {}
        number = count()
        waiting: list[tuple[float, int, Path, ShapeQuestion, Flags]] = []

        def look(path: Path, inside: Flags) -> None:
            if len(path) < DEEPEST and (best := self._best(inside)) is not None:
                gain, test = best
                heapq.heappush(waiting, (-gain, next(number), path, self._tests[test], inside))

        look((), everything)
        while waiting and len(splits) + 1 < most:
            _, _, path, test, inside = heapq.heappop(waiting)
            splits[path] = test
            yes = self._holds(test)
            look((*path, (test, True)), inside & yes)
            look((*path, (test, False)), inside & ~yes)
        return Tree(self._built(splits, (), everything, PRIOR))

    def _built(self, splits: Mapping[Path, ShapeQuestion], path: Path, inside: Flags, parent: float) -> TreeNode | Leaf:
        lately = LASTS ** np.arange(int(inside.sum()))[::-1]
        brought, visits = float(lately @ self._brought[inside]), float(lately @ self._weight[inside])
        mean = posterior(brought, visits, parent)
        if path not in splits:
            last, count = float(self._at[inside].max(initial=0.0)), float(self._weight[inside].sum())
            return Leaf(_pattern(path), mean, brought, visits, parent, last, count)
        test = splits[path]
        yes = self._holds(test)
        return TreeNode(
            test,
            self._built(splits, (*path, (test, True)), inside & yes, mean),
            self._built(splits, (*path, (test, False)), inside & ~yes, mean),
        )

    def _best(self, inside: Flags) -> tuple[float, int] | None:
        """Return the test that predicts best what these visits brought, and its gain in nats beyond chance."""
        weight, brought = self._weight[inside], self._brought[inside]
        all_weight, all_brought = weight.sum(keepdims=True), brought.sum(keepdims=True)
        counts_in_full = all_brought >= ENOUGH * all_weight
        asked = EVIDENCE if counts_in_full else 0.0
        # The tests of URLs cost most. Most sections need none: no two parts of them differ enough.
        if _greatest_gain(weight, brought) <= asked or not self._tests:
            return None
        visits, tests = self._yes
        visits, tests = visits[inside[visits]], tests[inside[visits]]
        yes_weight, yes_brought = (
            np.bincount(tests, column[visits], len(self._tests)).astype(np.float64)
            for column in (self._weight, self._brought)
        )
        no_weight, no_brought = all_weight - yes_weight, all_brought - yes_brought
        possible = np.flatnonzero((yes_weight >= LEAST_VISITS) & (no_weight >= LEAST_VISITS))
        if not len(possible):
            return None
        whole = _evidence(all_brought, all_weight)
        chance = log(len(possible)) + asked
        yes = _evidence(yes_brought[possible], yes_weight[possible])
        gains = yes + _evidence(no_brought[possible], no_weight[possible]) - whole - chance
        # Of tests that part the visits alike the first one, which is about the earliest step of the path.
        best = int(np.flatnonzero(gains >= gains.max() - 1e-9)[0])
        return (float(gains[best]), int(possible[best])) if gains[best] > 0.0 else None


def _greatest_gain(weight: Floats, brought: Floats) -> float:
    """Return the gain of the best split of these visits into any two parts, at least 0. Chance is not counted.

    The evidence of a part is a convex function of its sums (the logarithm of a moment of a beta distribution). So the
    best parts are the visits that brought less than some share, and the others.
    """
    # A small weight may be stored as 0, rounded.
    share = np.divide(brought, weight, out=np.zeros(len(weight)), where=weight > 0)
    order = np.argsort(share)
    ends = np.flatnonzero(np.diff(share[order]) > 1e-12)
    all_weight, all_brought = weight.sum(keepdims=True), brought.sum(keepdims=True)
    if not len(ends):
        return 0.0
    part_weight, part_brought = np.cumsum(weight[order])[ends], np.cumsum(brought[order])[ends]
    parts = _evidence(part_brought, part_weight) + _evidence(all_brought - part_brought, all_weight - part_weight)
    return max(0.0, float((parts - _evidence(all_brought, all_weight)).max()))


def _common(shapes: Sequence[Shape]) -> list[ShapeQuestion]:
    """Return the tests that part these shapes, in an order that does not depend on that of the shapes."""
    times = Counter(chain.from_iterable(shape.tests for shape in shapes))
    useful = [test for test, visits in times.items() if LEAST_VISITS <= visits <= len(shapes) - LEAST_VISITS]
    useful.sort(key=lambda test: (-times[test], test))
    return sorted(useful[:MOST_TESTS], key=_rank)


_ORDER = ("argument", "step", "last", "value", "kind", "echo", "repeats", "arguments", "steps")


def _rank(test: ShapeQuestion) -> tuple[int, ShapeQuestion]:
    """Return a key by which, of equivalent tests, the most informative to a reader comes first."""
    return _ORDER.index(test.what), test


def _evidence(brought: Floats, weight: Floats) -> Floats:
    """Return the logarithms of the marginal likelihoods of parts whose visits brought so much in sum."""
    brought = np.clip(brought, 0.0, weight)
    both = _lgamma(brought + HALF) + _lgamma(weight - brought + HALF)
    return both - _lgamma(weight + 2 * HALF) - _NONE


def _lgamma(values: Floats) -> Floats:
    return np.array([lgamma(value) for value in values.tolist()])  # scipy's would load scipy with each brain


_NONE = 2 * lgamma(HALF) - lgamma(2 * HALF)


def _pattern(path: Path) -> str:
    return " ".join(("" if answer else "!") + str(test) for test, answer in path)


def _plain(node: TreeNode | Leaf) -> Any:
    if isinstance(node, Leaf):
        return [round(node.mean, 6), round(node.brought, 6), round(node.visits, 6), round(node.parent, 6)]
    return [str(node.test), _plain(node.yes), _plain(node.no)]


def _read(plain: Any, path: Path) -> TreeNode | Leaf:
    try:
        if isinstance(plain[0], str):
            if len(path) == DEEPEST:
                raise ValueError("a tree that is too deep")
            test = read_question(plain[0])
            return TreeNode(test, _read(plain[1], (*path, (test, True))), _read(plain[2], (*path, (test, False))))
        mean, brought, visits, parent = map(float, plain)
        return Leaf(_pattern(path), mean, brought, visits, parent)
    except (TypeError, IndexError, KeyError) as error:
        raise ValueError(f"not a tree of sections: {error}") from None
