"""What happens to pages, told to the ledgers of both engines: which columns change, and of whom."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, cast

import numpy as np
import pytest

from graphbrain.base.errors import BadInput
from graphbrain.base.numeric.rules import Rule
from graphbrain.graph.connection import Again
from graphbrain.scores.accounts import ledgers
from graphbrain.scores.accounts.ledgers import Accounts

IDS = (3, 5, 8)
FIRST = {"depth": 4, "relevance": -1, "first_fetched": -1, "lane": 1000, "in_weight": 2}


def locked(rule: Rule) -> Accounts:
    """A ledger as a lock statement would give it."""
    kind = ledgers.of(rule)
    return kind([[page, *(FIRST.get(name, 0) for name in kind.columns)] for page in IDS], rule)


def both(**settings: Any) -> Iterator[Accounts]:
    for engine in ("exact", "classic"):
        yield locked(Rule(engine=engine, **settings))


NONE_KNOWN = [math.nan] * 3
OPERATIONS: list[tuple[Callable[[Accounts], object], str, list[float]]] = [
    (lambda ledger: ledger.lower({8: 2, 3: 4, 5: 9}), "depth", [4, 4, 2]),
    (lambda ledger: ledger.become_seeds([5, 5]), "is_seed", [0, 1, 0]),
    (lambda ledger: (ledger.become_seeds(IDS), ledger.cease_as_seeds({8})), "is_seed", [1, 1, 0]),
    (lambda ledger: ledger.note_first_fetch({5: 77.5}), "first_fetched", [-1, 77.5, -1]),
    (lambda ledger: ledger.take_relevance([[8, 0.25], [3, 1.0]]), "relevance", [1.0, math.nan, 0.25]),
    (lambda ledger: (ledger.take_relevance([[8, 0.25]]), ledger.take_relevance([[8, None]])), "relevance", NONE_KNOWN),
    (lambda ledger: ledger.wait_in({5: 0, 3: 12}), "lane", [12, 0, 1000]),
    (lambda ledger: ledger.relink([3, 3], [5, 8], 1), "out_weight", [2, 0, 0]),
    (lambda ledger: ledger.relink([3, 3], [5, 8], -1), "in_weight", [2, 1, 1]),
    (lambda ledger: ledger.reweigh([3], [5], 0.5), "in_weight", [2, 2.5, 2]),
]
NOTHING: list[Callable[[Accounts], object]] = [
    lambda ledger: ledger.lower({}),
    lambda ledger: ledger.become_seeds([]),
    lambda ledger: ledger.note_first_fetch({}),
    lambda ledger: ledger.take_relevance([]),
    lambda ledger: ledger.wait_in({}),
]
STRANGER: list[Callable[[Accounts], object]] = [
    lambda ledger: ledger.deepened([4]),
    lambda ledger: ledger.lower({4: 1}),
    lambda ledger: ledger.become_seeds([4]),
    lambda ledger: ledger.note_first_fetch({4: 1.0}),
    lambda ledger: ledger.take_relevance([[4, 1.0]]),
    lambda ledger: ledger.wait_in({4: 1}),
    lambda ledger: ledger.depth_of(4),
    lambda ledger: ledger.may_link([4]),
]


def columns(ledger: Accounts) -> dict[str, list[float]]:
    return {name: getattr(ledger, name).tolist() for name in (*ledger.columns, "is_seed")}


def test_an_operation_changes_its_column_of_the_pages_it_names() -> None:
    for number, (operation, column, expected) in enumerate(OPERATIONS):
        for ledger in both():
            operation(ledger)
            np.testing.assert_array_equal(columns(ledger)[column], expected, err_msg=f"{ledger.engine} {number}")


def test_nobody_named_nothing_changed() -> None:
    for operation in NOTHING:
        for ledger in both():
            before = columns(ledger)
            operation(ledger)
            np.testing.assert_equal(columns(ledger), before)


def test_a_page_that_is_not_locked_is_not_touched() -> None:
    for operation in STRANGER:
        for ledger in both():
            with pytest.raises(Again):
                operation(ledger)


def test_who_is_less_deep_is_told() -> None:
    for ledger in both():
        assert ledger.lower({8: 2, 3: 4, 5: 9}) == [8]
        assert (ledger.lower({8: 2}), ledger.depth_of(8), ledger.depth_of(3)) == ([], 2, 4)


def test_links_there_may_be() -> None:
    """Where links inside a host weigh nothing, no weight says that there are none."""
    for ledger in both():
        assert (ledger.may_link([5, 3]), ledger.may_be_linked([5, 3])) == ([False] * 2, [True] * 2)
        ledger.in_weight[1] = 0.0
        assert ledger.may_be_linked([5, 3]) == [False, True]
    for ledger in both(intra_host_weight=0.0):
        ledger.in_weight[:] = 0.0
        assert (ledger.may_link([5, 3]), ledger.may_be_linked([5])) == ([True] * 2, [True])


def test_the_crawlers_own_values_count_where_the_order_goes_by_them() -> None:
    for value, expected in (("own", [0.0, 7.0, 0.0]), ("authority", [])):
        for ledger in both(value=value):
            ledger._values = np.zeros(3 if value == "own" else 0)
            ledger.take_values([[5, 7.0]])
            assert ledger._values.tolist() == expected


def test_the_classic_engine_pays_all_pages_alike() -> None:
    _, classic = both()
    before = columns(classic)
    with pytest.raises(BadInput):
        classic.set_payouts(cast(Any, None), {3: 2.5})
    np.testing.assert_equal(columns(classic), before)
