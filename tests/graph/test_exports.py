"""The whole graph as arrays, against the same graph read with the bare driver."""

from __future__ import annotations

import numpy as np

from graphbrain import Brain, Fetched, exports
from graphbrain.exports import LinkTable, _Range, _table
from tests.conftest import Neo4j
from tests.reference.exported import export


def web(brain: Brain, pages: int = 60) -> None:
    dice = np.random.default_rng(5)
    urls = [f"http://h{n % 7}.org/{n}" for n in range(pages)]
    brain.report(
        [Fetched(url, [urls[n] for n in dice.integers(0, pages, 9)], body_hash="x") for url in urls[: pages // 2]]
    )
    brain.set_relevance(urls[0], 0.25)
    brain.set_payout(urls[1], 3.0)


def urls_of(brain: Brain, table: LinkTable) -> list[str]:
    keys = brain.graph.read(lambda tx: tx.one("pages/ids_from", after="", limit=10_000)[0], "pages/ids_from")
    rows = brain.graph.read(lambda tx: tx.one("pages/scope", ids=keys)[0], "pages/scope")
    named = {row[0]: row[1] for row in rows}
    return [named[page] for page in table.ids.tolist()]


def test_links_terms_and_accounts_are_what_stands_in_the_graph(brain: Brain, neo4j: Neo4j) -> None:
    web(brain)
    brain.tend(0.2)
    table, seen = exports.links(brain.graph), []
    urls = urls_of(brain, table)
    there = export(neo4j)  # by the bare driver
    sources = np.repeat(np.arange(table.pages), np.diff(table.offsets))
    assert {(urls[a], urls[b]) for a, b in zip(sources, table.targets, strict=True)} == there.links
    assert table.links == len(there.links)

    terms = exports.terms(brain.graph, table)
    hosts = terms.hosts
    for number in range(7):
        assert len({hosts[i] for i, url in enumerate(urls) if url.startswith(f"http://h{number}.")}) == 1
    assert len(set(hosts.tolist())) == 7

    accounts = exports.accounts(brain.graph, table)
    place = [there.number[url] for url in urls]
    assert np.array_equal(accounts.hub_score, there.hub[place])
    assert np.array_equal(accounts.authority_score, there.authority[place])
    assert terms.relevance[urls.index("http://h0.org/0")] == 0.25
    assert terms.payout[urls.index("http://h1.org/1")] == 3.0
    assert np.isnan(terms.relevance).sum() == (terms.payout == 1.0).sum() == table.pages - 1
    exports.links(brain.graph, lambda done, of: seen.append((done, of)))
    assert seen[-1][0] == seen[-1][1] > 0


def test_an_empty_graph_is_an_empty_table(brain: Brain) -> None:
    table = exports.links(brain.graph)
    assert table.pages == table.links == 0
    assert table.at(np.array([5])).tolist() == [-1]
    assert len(exports.terms(brain.graph, table).hosts) == len(exports.accounts(brain.graph, table).hub_history) == 0


def test_ranges_and_pages_that_come_meanwhile(brain: Brain, monkeypatch: object) -> None:
    web(brain)
    whole = exports.links(brain.graph)
    monkeypatch.setattr(exports, "RANGE", 7)  # type: ignore[attr-defined]
    parts = exports.links(brain.graph)
    assert np.array_equal(parts.ids, whole.ids)
    assert np.array_equal(parts.offsets, whole.offsets)
    assert np.array_equal(parts.targets, whole.targets)
    brain.forget("http://h0.org/0")
    accounts = exports.accounts(brain.graph, whole)
    assert np.isnan(accounts.hub_score).sum() == 1
    assert (exports.terms(brain.graph, whole).hosts == -1).sum() == 1


def test_links_to_pages_that_came_meanwhile_are_left_out() -> None:
    """Ranges as they are read: in each the pages it has, and links to any, in no order."""
    pages = [[3, 5, 6], [], [11], [24, 25]]
    links = {3: [25, 6, 7], 5: [], 6: [3, 2**32 - 1], 11: [8], 24: [3, 11, 25, 40], 25: [24]}
    ranges = [
        _Range.of(np.array(ids, dtype=np.int64), np.array([p << 32 | q for p in ids for q in links[p]], dtype=np.int64))
        for ids in pages
    ]
    table = _table(ranges)
    assert ranges == []
    assert table.ids.tolist() == [3, 5, 6, 11, 24, 25]
    assert table.targets.dtype == np.int32
    rows = [table.targets[a:b].tolist() for a, b in zip(table.offsets, table.offsets[1:], strict=False)]
    assert rows == [[2, 5], [], [0], [], [0, 3, 5], [4]]
