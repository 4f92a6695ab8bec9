"""The steps by blocks give the scores of the methods in memory, however the web is cut."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from graphbrain.base.numeric.arrays import Floats
from graphbrain.base.numeric.rules import Rule
from graphbrain.base.options.scores import RankOptions, checked
from graphbrain.files.spark import ranks, steps
from graphbrain.files.spark.blocks import BITS, Links, block_of, pack, place_of, unpack
from graphbrain.graph.exports import LinkTable
from graphbrain.scores.accounts import forwards, solve
from graphbrain.scores.accounts.solve import System
from graphbrain.scores.ranking import algorithms
from graphbrain.scores.ranking.algorithms import LinkGraph, Scores, Until
from tests.unit.files.spark.local import Local, cut


@some.composite
def webs(draw: Any) -> tuple[np.ndarray, np.ndarray]:
    """Rows of a web of up to 30 pages, with pages without links, links to oneself, and islands."""
    pages = draw(some.integers(0, 30))
    if not pages:
        return np.zeros(1, np.int64), np.empty(0, np.int32)
    rows = [sorted(draw(some.sets(some.integers(0, pages - 1), max_size=6))) for _ in range(pages)]
    offsets = np.cumsum([0, *map(len, rows)])
    return offsets, np.array([target for row in rows for target in row], dtype=np.int32)


def wish(method: str, **options: Any) -> RankOptions:
    named = {"damping": None, "tolerance": None, "iterations": None, "only_external": False, "content": False}
    return checked(RankOptions(method, **{**named, "trusted": None, **options}))


def in_memory(told: RankOptions, web: LinkGraph, weights: Floats | None) -> Scores:
    until = Until(told.tolerance or 0.0, told.iterations or 1)
    if told.method == "hits":
        return algorithms.hits(web, content=weights, until=until)
    if told.method == "opic":
        return algorithms.opic(web, until=until)
    return algorithms.pagerank(web, damping=told.damping or 0.0, restart=weights, until=until, name=told.method)


@settings(deadline=None, max_examples=60)
@given(webs(), some.integers(1, 7), some.sampled_from(["pagerank", "personalised", "trustrank", "hits", "opic"]))
@pytest.mark.parametrize("content", [False, True])
def test_ranks_are_those_in_memory(content: bool, rows: Any, blocks: int, method: str) -> None:
    if content and method != "hits":
        return
    offsets, targets = rows
    pages = len(offsets) - 1
    weights = None
    terms: dict[str, Floats] = {}
    if content or method in ("personalised", "trustrank"):
        weights = np.random.default_rng(pages).integers(0, 3, pages) / 2.0
        terms = {"content" if content else "restart": weights}
    told = wish(method, iterations=20, content=content)
    web = LinkGraph.of(offsets, targets)
    wanted = in_memory(told, web, weights)
    engine = Local(cut(offsets, targets, blocks, terms))
    found = ranks.rank(engine, told)
    assert (found.pages, found.links) == (web.pages, web.links)
    assert found.iterations == wanted.iterations and found.converged == wanted.converged
    assert found.residual == pytest.approx(wanted.residual, abs=1e-12)
    for name, column in found.columns.items():
        assert np.abs(engine.column(column) - wanted.columns[name]).sum() <= 1e-12
    if wanted.eigenvalue is not None:
        assert found.eigenvalue == pytest.approx(wanted.eigenvalue, abs=1e-9)


@settings(deadline=None, max_examples=60)
@given(webs(), some.integers(1, 7))
def test_communities_are_those_of_the_whole_web(rows: Any, blocks: int) -> None:
    offsets, targets = rows
    web = LinkGraph.of(offsets, targets)
    wanted = algorithms.salsa(web)
    engine = Local(cut(offsets, targets, blocks))
    ranks.rank(engine, wish("salsa"))
    for side, counts in (("hub", "out"), ("authority", "into")):
        labels, links = engine.column(side), engine.column(counts)
        _, of = np.unique(labels, return_inverse=True)
        members = np.bincount(of[links > 0], minlength=of.max(initial=-1) + 1)
        each = algorithms.salsa_each(
            members, np.bincount(of, weights=links, minlength=len(members)), int(members.sum())
        )
        assert np.abs(links * each[of] - wanted.columns[f"salsa_{side}"]).sum() <= 1e-12


@settings(deadline=None, max_examples=40)
@given(webs(), some.integers(1, 7), some.sampled_from([0.0, 0.15, 0.5]), some.sampled_from([0.0, 0.3, 1.0]))
def test_accounts_are_those_in_memory(rows: Any, blocks: int, alpha: float, inside: float) -> None:
    offsets, targets = rows
    pages = len(offsets) - 1
    chance = np.random.default_rng(pages)
    relevance = np.where(chance.random(pages) < 0.3, np.nan, chance.random(pages))
    payout = chance.integers(0, 3, pages).astype(np.float64)
    hosts = chance.integers(0, 3, pages).astype(np.int32)
    weights = solve.link_weights(offsets, targets, hosts, inside)
    wanted = System.of(offsets, targets, alpha=alpha, relevance=relevance, payout=payout, weights=weights).solve(
        tolerance=1e-13
    )
    engine = Local(cut(offsets, targets, blocks, {"relevance": relevance, "payout": payout}, weights))
    found = ranks.settle(engine, Rule(alpha=alpha), 1e-7)
    if pages and payout.any():
        assert found.converged
    for name, scores in (("hub", wanted.hub), ("authority", wanted.authority)):
        assert np.abs(engine.column(name) - scores).sum() <= 1e-7 * scores.sum() + 1e-12


@settings(deadline=None, max_examples=40)
@given(webs(), some.integers(1, 7))
def test_live_pagerank_is_that_in_memory(rows: Any, blocks: int) -> None:
    offsets, targets = rows
    account = Rule().live_pagerank
    table = LinkTable(np.arange(len(offsets) - 1), offsets, targets)
    _, wanted = forwards.fixed_point(table, account, None, 1e-14)
    engine = Local(cut(offsets, targets, blocks))
    found = ranks.live_pagerank(engine, account, 1e-9)
    assert np.abs(engine.column(found.columns["live_pagerank"]) - wanted).sum() <= 1e-9 * wanted.sum()
    assert found.converged or not len(wanted)


def test_a_message_that_is_missing_is_no_zero() -> None:
    offsets, targets = np.array([0, 2, 3, 4]), np.array([1, 2, 2, 0])
    blocks = cut(offsets, targets, 3)
    with pytest.raises(ValueError, match="1 messages of 2"):
        blocks[2].receive("ahead", {0: np.ones(1)})
    with pytest.raises(KeyError):
        blocks[0].receive("back", {1: np.ones(1)})


def test_links_given_twice_count_once() -> None:
    page = 1 << BITS
    links, targets = Links.of(np.array([1, 0, 1, 1]), np.array([page, page, page, 2]))
    assert targets.tolist() == [2, page]
    assert links.sources.tolist() == [1, 0, 1]
    assert [(block, columns.start, columns.stop) for block, columns in links.by_block()] == [(0, 0, 1), (1, 1, 2)]
    assert (block_of(targets).tolist(), place_of(targets).tolist()) == ([0, 1], [2, 0])


def test_arrays_are_packed_whole() -> None:
    read = unpack(pack({"some": np.arange(3), "none": np.empty(0)}))
    assert {name: (array.dtype.kind, array.tolist()) for name, array in read.items()} == {
        "some": ("i", [0, 1, 2]),
        "none": ("f", []),
    }


def test_an_audit_finds_what_is_off() -> None:
    offsets, targets = np.array([0, 1, 2]), np.array([1, 0])
    terms = {
        **dict.fromkeys(("hub_paid", "authority_paid", "live_pagerank_paid"), np.array([0.5, 0.25])),
        "flow_paid": np.zeros(2),
        "authority": np.array([1.25, 1.5]),
        "hub": np.array([1.25, 1.5]),
        "in_weight": np.ones(2),
        "out_weight": np.ones(2),
        "live_pagerank": np.array([1.25, 1.5]),
        "flow": np.zeros(2),
        "payout": np.ones(2),
        "relevance": np.full(2, np.nan),
        "seed": np.zeros(2),
    }
    for name, page in ((None, 0), *((name, 1) for name in steps.AUDITED)):
        here = {key: column.copy() for key, column in terms.items()}
        if name is not None:
            here[name][page] += 0.125
        engine = Local(cut(offsets, targets, 2, here))
        sums = ranks.audit(engine, Rule())
        assert {key: sums[key] for key in steps.AUDITED} == {key: float(key == name) for key in steps.AUDITED}
