"""The whole graph as arrays, against the same graph read with the bare driver."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

from graphbrain import Brain, Fetched
from graphbrain.graph import exports
from graphbrain.graph.connection import ID_BITS, LARGEST_ID
from graphbrain.graph.exports import LinkTable, _Range, _table
from graphbrain.graph.statements import statement
from graphbrain.scores.accounts import settlement
from graphbrain.scores.accounts.adjacency import unpacked
from tests.plugin import Neo4j
from tests.reference.exported import export

A, B, NOBODY = "http://a.org/", "http://b.org/", 10**12


def web(brain: Brain, pages: int = 60) -> None:
    dice = np.random.default_rng(5)
    urls = [f"http://h{n % 7}.org/{n}" for n in range(pages)]
    brain.report(
        [Fetched(url, [urls[n] for n in dice.integers(0, pages, 9)], body_hash="x") for url in urls[: pages // 2]]
    )
    brain.set_page(urls[0], relevance=0.25)
    brain.set_page(urls[1], payout=3.0)


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

    accounts = settlement.exported(brain.graph, table)
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
    assert len(exports.terms(brain.graph, table).hosts) == len(settlement.exported(brain.graph, table).hub_history) == 0


def test_ranges_and_pages_that_come_meanwhile(brain: Brain, monkeypatch: object) -> None:
    web(brain)
    whole = exports.links(brain.graph)
    monkeypatch.setattr(exports, "RANGE", 7)  # type: ignore[attr-defined]
    parts = exports.links(brain.graph)
    assert np.array_equal(parts.ids, whole.ids)
    assert np.array_equal(parts.offsets, whole.offsets)
    assert np.array_equal(parts.targets, whole.targets)
    brain.forget("http://h0.org/0")
    accounts = settlement.exported(brain.graph, whole)
    assert np.isnan(accounts.hub_score).sum() == 1
    assert (exports.terms(brain.graph, whole).hosts == -1).sum() == 1


def test_links_to_pages_that_came_meanwhile_are_left_out() -> None:
    """Ranges as they are read: in each the pages it has, and links to any, in no order."""
    pages = [[3, 5, 6], [], [11], [24, 25]]
    links = {3: [25, 6, 7], 5: [], 6: [3, 2**32 - 1], 11: [8], 24: [3, 11, 25, 40], 25: [24]}
    ranges = [_read(ids[0] if ids else 0, ids, links) for ids in pages]
    table = _table(ranges)
    assert ranges == []
    assert table.ids.tolist() == [3, 5, 6, 11, 24, 25]
    assert table.targets.dtype == np.int32
    rows = [table.targets[a:b].tolist() for a, b in zip(table.offsets, table.offsets[1:], strict=False)]
    assert rows == [[2, 5], [], [0], [], [0, 3, 5], [4]]


def _read(first: int, ids: list[int], links: dict[int, list[int]]) -> _Range:
    packed = [(p - first) << ID_BITS | q for p in ids for q in links[p]]
    return _Range.of(first, np.array(ids, dtype=np.int64), np.array(packed, dtype=np.int64))


def test_the_largest_ids_of_links_that_are_sent_packed_come_out_again() -> None:
    pages = np.array([7, 2**31, 2**32 + 5, LARGEST_ID], dtype=np.int64)
    ours, theirs = [0, 1, 1, 2, 3], [2**35, 7, LARGEST_ID, 2**32, 2**31]
    far = np.concatenate([pages, np.zeros(65_532, dtype=np.int64), pages[:1]])[:65_536]
    packed = [place << ID_BITS | other for place, other in zip(ours, theirs, strict=True)] + [65_535 << ID_BITS | 3]
    found = unpacked(far, packed)
    assert found[0].tolist() == [7, 2**31, 2**31, 2**32 + 5, LARGEST_ID, 0]
    assert found[1].tolist() == [*theirs, 3]


@pytest.mark.parametrize("far", [2**31 - 3, 2**31 + 5, 2**32 - 2, 2**35, LARGEST_ID - 20_000])
def test_ids_may_be_as_large_as_neo4j_makes_them(far: int) -> None:
    """Two of them do not fit in one number: it overflowed, or held another page's id."""
    pages = [[3, 5], [far, far + 7, far + 19_999]]
    links = {3: [far, 5], 5: [far + 7], far: [3, far + 19_999], far + 7: [], far + 19_999: [far, far + 7, 5]}
    table = _table([_read(ids[0], ids, links) for ids in pages])
    ids = table.ids.tolist()
    rows = [table.targets[a:b].tolist() for a, b in zip(table.offsets, table.offsets[1:], strict=False)]
    assert {page: sorted(ids[place] for place in row) for page, row in zip(ids, rows, strict=True)} == {
        page: sorted(targets) for page, targets in links.items()
    }


def test_links_are_packed_without_an_overflow(brain: Brain, ask: Callable[..., list[list[object]]]) -> None:
    """The statements as they are, of pages whose ids are as far away as can be: the largest stands for each read."""
    brain.report([Fetched(A, [B])])
    (row,) = ask("MATCH (p:Page) RETURN max(id(p)), min(id(p))")
    assert isinstance(row[0], int)
    shift = LARGEST_ID - row[0]
    for name, given in (
        ("links/packed_out", {"ids": [NOBODY] * 65_534 + [row[1], row[0]]}),
        ("links/packed_in", {"ids": [NOBODY] * 65_534 + [row[1], row[0]]}),
        ("exports/links", {"first": row[0] - 20_000, "last": row[0]}),
    ):
        text = re.sub(r"\bcollect\((.*) \+ id\((\w)\)\)", rf"collect(\1 + id(\2) + {shift})", statement(name).text)
        assert str(shift) in text
        (found,) = ask(text, **statement(name).arguments(given))
        numbers = np.array(found[-1], dtype=np.int64)
        assert ((numbers & LARGEST_ID) <= LARGEST_ID).all()
        assert set((numbers & LARGEST_ID).tolist()) <= {row[0] + shift, row[1] + shift}
        assert (numbers > 0).all()
        assert len(numbers) == 1
