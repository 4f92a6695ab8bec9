"""Batch scores of recorded crawls against networkx, page by page: by all links, and by those between hosts only.

cnr-2000 was recorded without URLs: its hosts are those that replays and imports make up.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import networkx
import numpy as np
import pytest

from graphbrain import Brain
from graphbrain.base.numeric.arrays import Floats, Ints
from graphbrain.base.urls.normalization import spell
from graphbrain.brain import rank
from graphbrain.files import importer
from graphbrain.scores.ranking import algorithms
from graphbrain.scores.ranking.algorithms import LinkGraph
from tests.plugin import Neo4j
from tests.recordings import Recordings, web_of
from tests.reference.exported import export

pytestmark = pytest.mark.data

CRAWLS = ("hollins.dat.gz", "gr0.California.gz", "cnr-2000.edges.tsv.gz")
PART = 10_000
"""Pages that are taken of a crawl."""
DAMPINGS = (0.5, 0.85, 0.95)
WITHIN = 1e-6
Scores = dict[Any, float]


@dataclass(frozen=True)
class Crawl:
    """A recorded web twice: as graphbrain holds it, and for networkx."""

    web: LinkGraph
    graph: networkx.DiGraph


@cache
def part(file: Path) -> tuple[list[str], Ints, Ints]:
    """The URLs of the first pages, and the links between them."""
    web = web_of(file)
    sources, targets = np.repeat(np.arange(web.pages), np.diff(web.offsets)), web.targets
    inside = (sources < PART) & (targets < PART)
    return [spell(url) for url in web.urls[:PART]], sources[inside].astype(np.int64), targets[inside].astype(np.int64)


@cache
def crawl(file: Path, external: bool = False) -> Crawl:
    urls, sources, targets = part(file)
    names = [urlsplit(url).hostname for url in urls]
    offsets, ends = np.searchsorted(sources, np.arange(len(urls) + 1)), targets.astype(np.int32)
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(len(urls)))
    graph.add_edges_from(zip(sources.tolist(), targets.tolist(), strict=True))
    if external:
        graph.remove_edges_from([(a, b) for a, b in graph.edges if names[a] == names[b]])
        assert 0 < graph.number_of_edges() < len(sources)
        hosts = np.unique(np.array(names), return_inverse=True)[1].astype(np.int32)
        offsets, ends = algorithms.between_hosts(offsets, ends, hosts)
    return Crawl(LinkGraph.of(offsets, ends, threads=2), graph)


@pytest.fixture(params=[(name, external) for name in CRAWLS for external in (False, True)], ids=str)
def recorded(request: pytest.FixtureRequest, data_dir: Recordings) -> Crawl:
    """Each crawl, with all links and with those between hosts."""
    name, external = request.param
    return crawl(data_dir / name, external)


def agree(got: Floats, theirs: Scores) -> None:
    wanted = np.array([theirs[page] for page in range(len(got))])
    assert wanted.sum() == pytest.approx(1.0)
    assert float(np.abs(got - wanted).sum()) < WITHIN


def relevances(pages: int) -> Floats:
    """A random relevance of each page; a tenth of them have none at all."""
    dice = np.random.default_rng(5)
    return np.where(dice.random(pages) < 0.1, 0.0, dice.random(pages))


# ---------------------------------------------------------------- what networkx says


def walk(graph: networkx.DiGraph, damping: float, weights: Scores | None = None) -> Scores:
    found: Scores = networkx.pagerank(graph, damping, weights, tol=1e-14, max_iter=5_000)
    return found


def opic(graph: networkx.DiGraph) -> Scores:
    """With the virtual page as a page of its own, which every page links to and which links to every page."""
    graph = graph.copy()
    graph.add_edges_from([edge for page in list(graph) for edge in ((page, "virtual"), ("virtual", page))])
    whole = networkx.pagerank(graph, 1 - 1e-9, tol=1e-14, max_iter=20_000)
    rest = 1.0 - whole.pop("virtual")
    return {page: score / rest for page, score in whole.items()}


def hits(graph: networkx.DiGraph, content: Scores | None = None) -> tuple[Scores, Scores]:
    """Where an authority counts by its content s, h = L·S·a, hubs are those of the web whose links weigh √s; and
    a = Lᵀh without any weight."""
    if content is None:
        hub, authority = networkx.hits(graph, tol=1e-12)
        return hub, authority
    heavy = graph.copy()
    for _, target, link in heavy.edges(data=True):
        link["weight"] = content[target] ** 0.5
    hub, _ = networkx.hits(heavy, tol=1e-12)
    authority = {page: sum(hub[source] for source in graph.predecessors(page)) for page in graph}
    total = sum(authority.values())
    return hub, {page: score / total for page, score in authority.items()}


def salsa(graph: networkx.DiGraph) -> tuple[Scores, Scores]:
    """Community by community, as networkx finds them in the graph of hubs and authorities."""
    both = networkx.Graph([(("hub", a), ("authority", b)) for a, b in graph.edges])
    wanted = {"hub": dict.fromkeys(graph, 0.0), "authority": dict.fromkeys(graph, 0.0)}
    can = {side: sum(1 for kind, _ in both if kind == side) for side in wanted}
    for community in networkx.connected_components(both):
        for side in wanted:
            members = [node for node in community if node[0] == side]
            links = sum(both.degree(node) for node in members)
            for node in members:
                wanted[side][node[1]] = len(members) / can[side] * both.degree(node) / links
    return wanted["hub"], wanted["authority"]


# ---------------------------------------------------------------- and what graphbrain says of the same


@pytest.mark.parametrize("damping", DAMPINGS)
def test_pagerank_and_its_kin_of_a_recorded_crawl(recorded: Crawl, damping: float) -> None:
    """From anywhere, by relevance, and from trusted pages only."""
    pages = recorded.web.pages
    trusted = np.where(np.arange(pages) % 1000 == 0, 1.0, 0.0)
    for weights in (None, relevances(pages), trusted):
        start = None if weights is None else dict(enumerate(weights.tolist()))
        got = algorithms.pagerank(recorded.web, damping=damping, restart=weights).columns["pagerank"]
        agree(got, walk(recorded.graph, damping, start))


@pytest.mark.parametrize("content", [False, True], ids=["links alone", "content"])
def test_hits_of_a_recorded_crawl(recorded: Crawl, content: bool) -> None:
    told = relevances(recorded.web.pages) if content else None
    hub, authority = hits(recorded.graph, None if told is None else dict(enumerate(told.tolist())))
    got = algorithms.hits(recorded.web, content=told).columns
    agree(got["hits_hub"], hub)
    agree(got["hits_authority"], authority)


def test_opic_of_a_recorded_crawl(recorded: Crawl) -> None:
    agree(algorithms.opic(recorded.web).columns["opic"], opic(recorded.graph))


def test_salsa_of_a_recorded_crawl(recorded: Crawl) -> None:
    hub, authority = salsa(recorded.graph)
    got = algorithms.salsa(recorded.web).columns
    agree(got["salsa_hub"], hub)
    agree(got["salsa_authority"], authority)


# ---------------------------------------------------------------- the whole way: a file, a brain, its graph, and back


def test_scores_of_an_imported_crawl_stand_in_the_graph(brain: Brain, neo4j: Neo4j, data_dir: Recordings) -> None:
    """hollins is imported, ranked by each method, and read back by Cypher. What networkx is told comes from the
    recording; the relevances are those that were told to the brain."""
    file = data_dir / CRAWLS[0]
    urls, sources, targets = part(file)
    trusted = urls[5::500]
    done = importer.run(brain, [file], seeds=trusted, batches=True)
    assert (done.pages, done.links, done.refused) == (len(urls), len(sources), 0)
    relevance = dict.fromkeys(range(len(urls)), 0.5)
    linked = np.argsort(-np.bincount(targets), kind="stable")[:60].tolist()
    for page, told in zip(linked, relevances(len(linked)).tolist(), strict=True):
        brain.set_page(urls[page], relevance=told)
        relevance[page] = told

    for external in (False, True):
        graph = crawl(file, external).graph
        wanted: dict[str, Scores] = {
            "pagerank": walk(graph, 0.85),
            "personalised": walk(graph, 0.85, relevance),
            "trustrank": walk(graph, 0.85, {page: float(url in trusted) for page, url in enumerate(urls)}),
            "opic": opic(graph),
        }
        wanted["hits_hub"], wanted["hits_authority"] = hits(graph)
        wanted["salsa_hub"], wanted["salsa_authority"] = salsa(graph)
        for method in rank.METHODS:
            ranked = brain.rank(method, only_external=external)
            assert (ranked.converged, ranked.pages, ranked.links) == (True, len(urls), graph.number_of_edges())
        stand_in_the_graph(neo4j, urls, wanted)
        brain.rank("hits", content=True, only_external=external)
        hub, authority = hits(graph, relevance)
        assert sum(abs(hub[page] - wanted["hits_hub"][page]) for page in graph) > 1e3 * WITHIN
        stand_in_the_graph(neo4j, urls, {"hits_hub": hub, "hits_authority": authority})


def stand_in_the_graph(neo4j: Neo4j, urls: list[str], wanted: dict[str, Scores]) -> None:
    found = export(neo4j)
    number = {spell(url): place for url, place in found.number.items()}
    assert len(number) == len(urls)
    order = [number[url] for url in urls]
    for name, theirs in wanted.items():
        agree(found.column(name)[order], theirs)
