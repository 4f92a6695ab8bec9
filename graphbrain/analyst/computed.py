"""Answers to questions for which Cypher would be slow, in near-linear time: islands, link farms, near duplicates,
clicks, sections.

Statements: brain/read, looks/*, sections/pages, sections/unfetched.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from graphbrain.analyst.inspect.clicks import clicks
from graphbrain.analyst.inspect.copies import KeyOf, lessons
from graphbrain.analyst.inspect.sections import Census
from graphbrain.analyst.standing import StandingColumns, marks
from graphbrain.base.errors import BadInput
from graphbrain.base.numeric.arrays import Ints
from graphbrain.base.records import ExpectedCopy
from graphbrain.base.urls.normalization import Rules
from graphbrain.graph import exports
from graphbrain.graph.connection import Graph, Tx, bound, intact
from graphbrain.schedule.sections.site import Sections

__all__ = [
    "Answer",
    "click_depth",
    "deep_pages",
    "deep_sum",
    "expected_copies",
    "groups_of",
    "islands",
    "link_farms",
    "near_duplicates",
    "near_sum",
    "orphan_sum",
    "orphans",
    "section_sum",
    "sections",
    "soft_missing",
    "soft_missing_pages",
]

Answer = tuple[tuple[str, ...], list[list[Any]]]
Words = NDArray[np.uint64]

WAYS = ("LINKS", "LEADS_TO", "REDIRECTS_TO")
"""The types of relations that lead from one page to another."""
SHOWN = 5
"""The number of members of a group that are listed."""
SHARE = 0.02
"""Two hosts belong together if each gives the other at least this share of the links that it has from other hosts.

So at most 1 / SHARE hosts that link among themselves evenly can form a group.
"""
MOST_BITS = 7
MOST_SOFT_BITS = 16
MOST_SAID = 200
"""The most texts of a host's missing pages with which its pages are compared. One error page has many variants."""
NEXT = 64
"""The number of following hashes with which a hash is compared within a bucket. It keeps time linear for full
buckets."""
DETAILS = 10_000
WAITING = 5_000
"""The number of waiting pages of a host that are examined at once."""
SITES = 1_000
"""The number of hosts whose sections are read at once."""


def islands(graph: Graph, limit: int, least: int) -> Answer:
    """Return groups of pages that no link or redirect connects to others (weakly connected components), the largest
    first."""
    table = exports.links(graph.anywhere, types=WAYS)
    columns = ("pages", "links", "such_as")
    if not table.pages:
        return columns, []
    # Find the connected components. The direction of links does not count.
    ones = np.ones(table.links, dtype=np.int8)
    matrix = sparse.csr_array((ones, table.targets, table.offsets), shape=(table.pages, table.pages))
    _, labels = connected_components(matrix, directed=True, connection="weak")
    sizes = np.bincount(labels)
    links = np.bincount(labels, weights=np.diff(table.offsets)).astype(np.int64)
    # Take the largest components, and a few pages of each.
    order = np.argsort(-sizes, kind="stable")
    order = order[sizes[order] >= least][: max(limit, 0)]
    members = {int(label): table.ids[labels == label][:SHOWN] for label in order}
    urls = exports.urls(graph.anywhere, np.concatenate([np.empty(0, dtype=np.int64), *members.values()]))
    return columns, [
        [int(sizes[label]), int(links[label]), [urls[page] for page in some.tolist() if page in urls]]
        for label, some in members.items()
    ]


def orphans(graph: Graph, seeds: bool, host: str, limit: int) -> Answer:
    """Return the pages that no page links or redirects to, and the pages of circles to which nothing else leads.

    Pages that hints named come first.
    """
    rows = [row for row in _orphans(graph, seeds) if not host or row.host == host]
    rows.sort(key=lambda row: (not row.hinted_by, row.url))
    return ("state", "hinted_by", "discovered", "url"), [
        [row.state, row.hinted_by or None, datetime.fromtimestamp(int(row.discovered), UTC), row.url]
        for row in rows[: max(limit, 0)]
    ]


def orphan_sum(graph: Graph) -> tuple[int, float]:
    """Return the number of the pages that `orphans` would return without a limit, and their authority."""
    rows = _orphans(graph, seeds=False)
    return len(rows), sum(row.authority for row in rows)


def _orphans(graph: Graph, seeds: bool) -> list[Any]:
    """Return rows of looks/orphans for the pages of strongly connected components to which nothing else leads.

    Components with a seed are left out, because the crawl began there. With `seeds`, a seed that is a component by
    itself is listed.
    """
    # Find the components.
    table = exports.links(graph.anywhere, types=WAYS)
    ones, shape = np.ones(table.links, dtype=np.int8), (table.pages, table.pages)
    matrix = sparse.csr_array((ones, table.targets, table.offsets), shape=shape)
    count, labels = (
        connected_components(matrix, directed=True, connection="strong") if table.pages else (0, np.empty(0, int))
    )
    # Keep the pages of components that no link of another one leads to.
    sources, targets = np.repeat(labels, np.diff(table.offsets)), labels[table.targets]
    entered = np.zeros(count, dtype=bool)
    entered[targets[sources != targets]] = True
    sizes = np.bincount(labels, minlength=count)
    ids = table.ids[~entered[labels]]
    rows = [row for part in _in_parts(graph, "looks/orphans", ids, DETAILS) for row in part]
    # Leave out the components in which the crawl began.
    label_of = dict(zip(ids.tolist(), labels[~entered[labels]].tolist(), strict=True))
    with_seed = {label_of[row.id] for row in rows if row.is_seed}
    wanted = {label for label in label_of.values() if label not in with_seed or (seeds and sizes[label] == 1)}
    return [row for row in rows if row.is_listed and label_of[row.id] in wanted]


def click_depth(graph: Graph) -> Answer:
    """Return the pages by clicks from a seed, with the numbers of fetched and failing ones, and their scores.

    The last row has the pages without clicks.
    """
    near, pages = clicks(graph), marks(graph)
    at = near.at(pages.ids)
    rows: list[list[Any]] = []
    outside = ~pages.inside
    for depth in sorted(set(at.tolist()), key=lambda each: (each < 0, each)):
        here = at == depth
        counts = [int(what[here].sum()) for what in (here, pages.visited, pages.failing, outside)]
        score = pages.authority[here]
        best = [round(float(score.mean()), 3), round(float(score.max()), 3)]
        rows.append([None if depth < 0 else depth, *counts, *best])
    return ("clicks", "pages", "fetched", "failing", "outside", "authority", "best"), rows


def deep_pages(graph: Graph, least: int, times: float, limit: int) -> Answer:
    """Return pages inside the scope that are `least` clicks or more from a seed, the best first.

    Their authority is at least `times` the mean of the pages inside the scope.
    """
    deep, at, pages = _deep(graph, least, times)
    best = deep[np.argsort(-pages.authority[deep], kind="stable")][:limit]
    row_of = {row.id: row for rows in _in_parts(graph, "looks/pages", pages.ids[best], DETAILS) for row in rows}
    rows = [
        [int(at[index]), float(pages.authority[index]), row_of[page].state, row_of[page].url]
        for index, page in zip(best.tolist(), pages.ids[best].tolist(), strict=True)
        if page in row_of
    ]
    return ("clicks", "authority", "state", "url"), rows


def deep_sum(graph: Graph, least: int, times: float) -> tuple[int, float]:
    """Return the number of the pages that `deep_pages` would return without a limit, and their authority."""
    deep, _, pages = _deep(graph, least, times)
    return len(deep), float(pages.authority[deep].sum())


def _deep(graph: Graph, least: int, times: float) -> tuple[Ints, Ints, StandingColumns]:
    """Return the places of the pages of `deep_pages`, the clicks to all pages, and all pages."""
    near, pages = clicks(graph), marks(graph)
    at = near.at(pages.ids)
    mean = float(pages.authority[pages.inside].mean()) if pages.inside.any() else 0.0
    deep = np.flatnonzero((at >= least) & pages.inside & (pages.authority >= times * mean))
    return deep, at, pages


def soft_missing_pages(graph: Graph, bits: int, limit: int) -> Answer:
    """Return fetched pages whose text is like an error page (404, 410) of their host, the most alike first.

    Two texts are alike if their simhashes differ in at most `bits` bits.
    """
    if not 0 <= bits <= MOST_SOFT_BITS:
        raise BadInput(f"bits must be 0 to {MOST_SOFT_BITS}, not {bits}.")
    # Return the nearest ones with their authority.
    distances = soft_missing(graph, bits)
    order = sorted(distances, key=lambda page: (distances[page], page))
    wanted = np.array(order[: max(limit, 0)], dtype=np.int64)
    rows = [row for part in _in_parts(graph, "looks/pages", wanted, DETAILS) for row in part]
    answer = [[distances[row.id], row.authority, row.url] for row in rows]
    return ("bits", "authority", "url"), sorted(answer, key=lambda row: (row[0], -row[1], row[2]))


def soft_missing(graph: Graph, bits: int) -> dict[int, int]:
    """Return the ids of the pages of `soft_missing_pages`, each with the bits in which its text differs."""
    # Read the simhashes of error texts and of other texts, by host.
    texts: defaultdict[str, dict[int, int]] = defaultdict(dict)
    error_texts: defaultdict[str, set[int]] = defaultdict(set)
    for rows in exports.over_all(graph.anywhere, "looks/missing", lambda _, row: row[0]):
        for page, host, text, error_text in rows:
            if error_text is not None:
                error_texts[host].add(error_text)
            else:
                texts[host][page] = text
    # Find for each page the distance to the nearest error text of its host.
    distances: dict[int, int] = {}
    for host, hashes in error_texts.items():
        words = np.array(list(texts[host].values()), dtype=np.int64).view(np.uint64)
        nearest = np.full(len(words), 65, dtype=np.int64)
        for error_text in np.array(sorted(hashes), dtype=np.int64).view(np.uint64)[:MOST_SAID]:
            nearest = np.minimum(nearest, _set_bits(words ^ error_text))
        near = zip(texts[host], nearest.tolist(), strict=True)
        distances |= {page: distance for page, distance in near if distance <= bits}
    return distances


def link_farms(graph: Graph, least: int, limit: int) -> Answer:
    """Return groups of hosts that mostly link among themselves.

    Two hosts belong together if each gives the other at least the `SHARE` of the links that the other has from other
    hosts. A farm is a connected component of such pairs. Time is linear in the links.
    """
    columns = ("hosts", "pages", "inside", "density", "authority", "such_as")
    table = exports.links(graph.anywhere, types=WAYS[:1])
    names, host, authority = _hosts(graph, table)
    if not len(names):
        return columns, []
    # Count the links between each two hosts.
    source = np.repeat(host, np.diff(table.offsets))
    target = host[table.targets]
    between = (source != target) & (source >= 0) & (target >= 0)
    shape = (len(names), len(names))
    ones = np.ones(int(between.sum()))
    links = sparse.coo_array((ones, (source[between], target[between])), shape=shape).tocsr()
    # Connect hosts that give each other enough links. The components are the farms.
    incoming = np.asarray(links.sum(axis=0)).ravel()
    pairs = sparse.coo_array(links)
    enough = pairs.data / np.maximum(incoming, 1.0)[pairs.col] >= SHARE
    gives = sparse.coo_array((np.ones(int(enough.sum())), (pairs.row[enough], pairs.col[enough])), shape=shape).tocsr()
    _, label = connected_components(gives.minimum(gives.T), directed=False)
    # Sum up the links inside each farm, the links to it, its pages and their authority.
    sizes = np.bincount(label)
    within = label[pairs.row] == label[pairs.col]
    inside = np.bincount(label[pairs.col[within]], weights=pairs.data[within], minlength=len(sizes))
    linked_pairs = np.bincount(label[pairs.col[within]], minlength=len(sizes))
    pages = np.bincount(label[host[host >= 0]], minlength=len(sizes))
    score = np.bincount(label[host[host >= 0]], weights=authority[host >= 0], minlength=len(sizes))
    share = inside / np.maximum(np.bincount(label, weights=incoming), 1.0)
    # Return the farms whose links come mostly from inside first.
    farms = [farm for farm in np.flatnonzero(sizes >= max(least, 2)).tolist() if inside[farm]]
    farms.sort(key=lambda farm: (-share[farm], -sizes[farm], farm))
    return columns, [
        [
            int(sizes[farm]),
            int(pages[farm]),
            round(float(share[farm]), 3),
            round(float(linked_pairs[farm] / (sizes[farm] * (sizes[farm] - 1))), 3),
            round(float(score[farm] / max(1, pages[farm])), 3),
            sorted(names[host_index] for host_index in np.flatnonzero(label == farm).tolist())[:SHOWN],
        ]
        for farm in farms[: max(limit, 0)]
    ]


def _hosts(graph: Graph, table: exports.LinkTable) -> tuple[list[str], Ints, NDArray[np.float64]]:
    """Return the names of hosts, and for each page of a table the place of its host in them (−1: the page was deleted)
    and its authority."""
    numbers: dict[str, int] = {}
    host = np.full(table.pages, -1, dtype=np.int64)
    authority = np.zeros(table.pages)
    for rows in exports.over_all(graph.anywhere, "looks/page_hosts", lambda _, row: row[0]):
        for name, ids, scores in rows:
            places = table.at(np.array(ids, dtype=np.int64))
            is_page = places >= 0
            host[places[is_page]] = numbers.setdefault(name, len(numbers))
            authority[places[is_page]] = np.array(scores)[is_page]
    return list(numbers), host, authority


def near_duplicates(graph: Graph, bits: int, limit: int) -> Answer:
    """Return groups of fetched pages whose simhashes differ in few bits (`groups_of`), the largest first."""
    # Choose the largest groups, and read their pages.
    columns = ("pages", "hosts", "bits", "authority", "urls")
    ids, words, labels, sizes = _near(graph, bits)
    order = np.argsort(-sizes, kind="stable")
    groups = {int(group): np.flatnonzero(labels == group) for group in order[sizes[order] > 1][: max(limit, 0)]}
    wanted = np.concatenate([np.empty(0, dtype=np.int64), *(ids[places] for places in groups.values())])
    row_of = {row.id: row for rows in _in_parts(graph, "looks/pages", wanted, DETAILS) for row in rows}
    # Describe each group: the best page comes first.
    answer = []
    for places in groups.values():
        rows = [row_of[page] for page in ids[places].tolist() if page in row_of]
        rows.sort(key=lambda row: (-row.authority, row.url))
        distance = int(_set_bits(words[places] ^ words[places[0]]).max())
        hosts, authority = len({row.host for row in rows}), sum(row.authority for row in rows)
        answer.append([len(rows), hosts, distance, authority, [row.url for row in rows[:SHOWN]]])
    return columns, answer


def near_sum(graph: Graph, bits: int) -> tuple[int, float]:
    """Return the number of the pages in all groups of `near_duplicates` without the best page of each, and their
    authority."""
    ids, _, labels, sizes = _near(graph, bits)
    places = np.flatnonzero(sizes[labels] > 1)
    group_of = dict(zip(ids[places].tolist(), labels[places].tolist(), strict=True))
    groups: dict[int, list[float]] = {}
    for rows in _in_parts(graph, "looks/pages", ids[places], DETAILS):
        for page, _, _, authority, _ in rows:
            groups.setdefault(group_of[page], []).append(authority)
    worse = [sum(scores) - max(scores) for scores in groups.values()]
    return sum(len(scores) - 1 for scores in groups.values()), sum(worse)


def _near(graph: Graph, bits: int) -> tuple[Ints, Words, Ints, Ints]:
    """Return the ids, simhashes and groups of all fetched pages, and the size of each group. Raise BadInput."""
    if not 0 <= bits <= MOST_BITS:
        raise BadInput(f"bits must be 0 to {MOST_BITS}, not {bits}.")
    pages: list[int] = []
    hashes: list[int] = []
    for rows in exports.over_all(graph.anywhere, "looks/simhashes", lambda _, row: row[0]):
        pages += [row[0] for row in rows]
        hashes += [row[1] for row in rows]
    words = np.array(hashes, dtype=np.int64).view(np.uint64)
    labels = groups_of(words, bits)
    return np.array(pages, dtype=np.int64), words, labels, np.bincount(labels)


def sections(graph: Graph, host: str, harvest: float, limit: int) -> Answer:
    """Return sections of hosts, first those with the most waiting pages that are expected to bring nothing."""
    # Count the pages of all sections, and choose the poor ones.
    poorest = [
        (name, section, census.authority[section.pattern])
        for name, census in _censuses(graph, host).items()
        for section in census.sections()
        if section.harvest <= harvest
    ]
    poorest.sort(key=lambda each: (-each[1].waste, -each[1].pages, each[0], each[1].pattern))
    # Return a row for each.
    columns = ("waste", "waiting", "pages", "fetched", "copies", "visits", "harvest", "factor")
    return (*columns, "authority", "host", "section", "example"), [
        [
            round(section.waste, 1),
            *(getattr(section, name) for name in ("waiting", "pages", "fetched", "copies")),
            round(section.visits, 1),
            round(section.harvest, 3),
            section.factor,
            authority,
            name,
            section.pattern or "(all)",
            section.example,
        ]
        for name, section, authority in poorest[: max(limit, 0)]
    ]


def section_sum(graph: Graph, harvest: float) -> tuple[int, float]:
    """Return the number and the authority of the pages that answer and brought at most this, in sections with at most
    this harvest."""
    poor = [
        authority
        for census in _censuses(graph, "").values()
        for section in census.sections()
        if section.harvest <= harvest
        for brought, authority in census.answering[section.pattern]
        if brought <= harvest
    ]
    return len(poor), sum(poor)


def _censuses(graph: Graph, host: str) -> dict[str, Census]:
    """Return host → its pages counted by sections: of this host, or without one of all hosts with learned sections."""
    sites = _sites(graph, host)
    if host:
        census = Census(sites.get(host, Sections()))
        census.add(graph.anywhere.read(bound(Tx.many, "sections/pages", host=host), "sections/pages"))
        return {host: census}
    censuses = {name: Census(site) for name, site in sites.items()}
    for rows in exports.over_all(graph.anywhere, "looks/sections", lambda _, row: row[0]):
        for name, pages in rows:
            if name in censuses:  # the upkeep may have added sections of another host in the meantime
                censuses[name].add(pages)
    return censuses


def expected_copies(graph: Graph, host: str, limit: int) -> Answer:
    """Return waiting pages that are expected to equal a fetched page, host by host."""
    stored = graph.read(lambda tx: tx.one("brain/read")[0], "brain/read") or {}
    key_of = _keys_by(Rules(hash_bang=bool(stored.get("hash_bang"))))
    rows: list[list[Any]] = []
    for name in sorted(_sites(graph, host)):
        if len(rows) >= limit:
            break
        copies = _copies_of(graph, name, key_of, limit - len(rows))
        rows += [[url, copy.url, copy.rule, copy.compared, copy.equal, round(copy.expected, 3)] for url, copy in copies]
    return ("url", "equals", "differs_by", "compared", "equal", "expected"), rows


def _copies_of(graph: Graph, host: str, key_of: KeyOf, most: int) -> list[tuple[str, ExpectedCopy]]:
    """Return up to `most` waiting pages of a host that are expected to equal another, each with that page."""
    learned = graph.read(lambda tx: lessons(tx, host, key_of), "sections/evidence")
    copies: list[tuple[str, ExpectedCopy]] = []
    if learned is None or learned.says_nothing:
        return copies
    after: int | None = 0
    while after is not None and len(copies) < most:

        def read(tx: Tx, after: int = after) -> tuple[int | None, dict[str, ExpectedCopy]]:
            last, urls = tx.one("sections/unfetched", host=host, after=after, limit=WAITING)
            return last, learned.expected(tx, urls)

        after, some = graph.read(read, "sections/unfetched")
        copies += some.items()
    return copies[:most]


def _keys_by(rules: Rules) -> KeyOf:
    """Return a function that computes the keys of URLs by these rules, None for a URL that is refused."""

    def key_of(url: str) -> str | None:
        try:
            return rules.page(url)[1]
        except BadInput:
            return None

    return key_of


def _sites(graph: Graph, host: str) -> dict[str, Sections]:
    """Return the learned sections of a host, or of all hosts."""
    sites: dict[str, Sections] = {}
    after: str | None = ""
    while after is not None:
        after, rows = graph.anywhere.read(
            bound(Tx.one, "looks/sites", host=host, after=after, limit=SITES), "looks/sites"
        )
        sites |= {name: Sections.read(text) for name, text in rows}
    return sites


def groups_of(words: Words, bits: int) -> Ints:
    """Return the number of its group for each hash. Two hashes are in one group if a chain of hashes connects them in
    which neighbours differ in at most `bits` bits.

    The method is that of Manku, Jain, Das Sarma, "Detecting near-duplicates for web crawling", WWW 2007, section 3. A
    hash is divided into bits + 3 blocks. Two hashes that differ in at most `bits` bits agree in at least three blocks.
    So hashes are sorted by each combination of three blocks, and compared with their neighbours that agree in these.
    This takes C(bits + 3, 3) sorts. Equal hashes are merged before.
    """
    unique, inverse = np.unique(words, return_inverse=True)
    count = len(unique)
    rows, columns = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    for mask in _masks(bits) if bits else ():
        # Hashes that agree in these blocks are neighbours in this order. Compare each with the next ones.
        key = unique & mask
        order = np.argsort(key, kind="stable")
        key, hashes = key[order], unique[order]
        near = np.arange(count)
        for step in range(1, NEXT + 1):
            near = near[near + step < count]
            near = near[key[near] == key[near + step]]
            if not len(near):
                break
            like = near[_set_bits(hashes[near] ^ hashes[near + step]) <= bits]
            rows.append(order[like])
            columns.append(order[like + step])
    # Connect the pairs to groups.
    row, column = np.concatenate(rows), np.concatenate(columns)
    joined = sparse.coo_array((np.ones(len(row), dtype=np.int8), (row, column)), shape=(count, count))
    labels = connected_components(joined, directed=False)[1] if count else np.empty(0, dtype=np.int64)
    return np.asarray(labels[inverse.ravel()], dtype=np.int64)


def _masks(bits: int) -> Iterator[np.uint64]:
    """Yield a mask for each combination of three of bits + 3 blocks."""
    edges = [round(64 * block / (bits + 3)) for block in range(bits + 4)]
    blocks = [(1 << end) - (1 << start) for start, end in pairwise(edges)]
    for three in combinations(blocks, 3):
        yield np.uint64(sum(three))


def _set_bits(words: Words) -> NDArray[np.int64]:
    """Return the number of bits that are 1 in each word."""
    octets = np.ascontiguousarray(words).view(np.uint8).reshape(len(words), 8)
    return np.asarray(_OF_OCTET[octets].sum(axis=1), dtype=np.int64)


_OF_OCTET = np.array([bin(octet).count("1") for octet in range(256)], dtype=np.int64)


def _in_parts(graph: Graph, name: str, ids: Ints, size: int) -> Iterator[list[Any]]:
    """Yield the rows of a statement for these pages, `size` pages at a time, with the names of its header."""
    for first in range(0, len(ids), size):
        part = ids[first : first + size].tolist()
        yield graph.anywhere.read(bound(_of_pages, name, part), name)


def _of_pages(tx: Tx, name: str, ids: list[int]) -> list[Any]:
    rows = tx.records(name, ids=ids)
    for row in rows:
        intact(*row)
    return rows
