"""Batch scores of real crawls against networkx, page by page."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import networkx
import numpy as np
import pytest

from graphbrain import ranking
from graphbrain.opichits import Floats
from graphbrain.ranking import Web
from graphbrain.records import read

pytestmark = pytest.mark.data

CRAWLS = ("hollins.dat.gz", "gr0.California.gz")
WITHIN = 1e-6


@cache
def crawl(file: Path) -> tuple[Web, networkx.DiGraph]:
    recording = read(file)
    sources, targets = recording.distinct
    offsets = np.searchsorted(sources, np.arange(recording.pages + 1))
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(recording.pages))
    graph.add_edges_from(zip(sources.tolist(), targets.tolist(), strict=True))
    return Web.of(offsets, targets.astype(np.int32), threads=2), graph


def agree(got: Floats, theirs: dict[int, float]) -> None:
    wanted = np.array([theirs[page] for page in range(len(got))])
    assert float(np.abs(got - wanted).sum()) < WITHIN


@pytest.mark.parametrize("name", CRAWLS)
@pytest.mark.parametrize("damping", [0.5, 0.85, 0.95])
def test_pagerank_of_a_real_crawl(name: str, damping: float, data_dir: Path) -> None:
    web, graph = crawl(data_dir / name)
    restart = np.random.default_rng(1).random(web.pages)
    trusted = np.where(np.arange(web.pages) % 1000 == 0, 1.0, 0.0)
    for weights in (None, restart, trusted):
        start = None if weights is None else dict(enumerate(weights.tolist()))
        theirs = networkx.pagerank(graph, damping, start, tol=1e-14, max_iter=5_000)
        agree(ranking.pagerank(web, damping=damping, restart=weights).columns["pagerank"], theirs)


@pytest.mark.parametrize("name", CRAWLS)
def test_hits_of_a_real_crawl(name: str, data_dir: Path) -> None:
    web, graph = crawl(data_dir / name)
    hub, authority = networkx.hits(graph, tol=1e-12)
    got = ranking.hits(web).columns
    agree(got["hits_hub"], hub)
    agree(got["hits_authority"], authority)


@pytest.mark.parametrize("name", CRAWLS)
def test_opic_of_a_real_crawl(name: str, data_dir: Path) -> None:
    """With the virtual page as a page of its own, which every page links to and which links to every page."""
    web, graph = crawl(data_dir / name)
    graph = graph.copy()
    graph.add_edges_from([edge for page in range(web.pages) for edge in ((page, "virtual"), ("virtual", page))])
    whole = networkx.pagerank(graph, 1 - 1e-9, tol=1e-14, max_iter=20_000)
    rest = 1.0 - whole.pop("virtual")
    agree(ranking.opic(web).columns["opic"], {page: score / rest for page, score in whole.items()})


@pytest.mark.parametrize("name", CRAWLS)
def test_salsa_of_a_real_crawl(name: str, data_dir: Path) -> None:
    """Community by community, as networkx finds them in the graph of hubs and authorities."""
    web, graph = crawl(data_dir / name)
    both = networkx.Graph([(("hub", a), ("authority", b)) for a, b in graph.edges])
    wanted = {"hub": dict.fromkeys(graph, 0.0), "authority": dict.fromkeys(graph, 0.0)}
    can = {side: sum(1 for kind, _ in both if kind == side) for side in wanted}
    for community in networkx.connected_components(both):
        for side in wanted:
            members = [node for node in community if node[0] == side]
            links = sum(both.degree(node) for node in members)
            for node in members:
                wanted[side][node[1]] = len(members) / can[side] * both.degree(node) / links
    got = ranking.salsa(web).columns
    agree(got["salsa_hub"], wanted["hub"])
    agree(got["salsa_authority"], wanted["authority"])
