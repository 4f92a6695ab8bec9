"""Batch scores against numbers worked out by others, dense algebra and networkx."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Mapping, Sequence

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphbrain.base.numeric import csr
from graphbrain.base.numeric.arrays import Floats
from graphbrain.scores.ranking import algorithms
from graphbrain.scores.ranking.algorithms import LinkGraph, Until
from tests.reference.ancestors import TOY, random_opic

G5 = {0: [1, 4], 1: [2, 4], 2: [3, 4], 3: [0, 4]}
"""Aduana's test web, numbered from 0. The content score of page i is i/5."""
CONTENT = np.arange(5) / 5
STRICT = Until(1e-13)


def web_of(links: Mapping[int, Sequence[int]], pages: int = 0, threads: int = 1) -> LinkGraph:
    pages = max([pages, *(page + 1 for page in links), *(target + 1 for row in links.values() for target in row)])
    rows = [list(links.get(page, ())) for page in range(pages)]
    offsets = np.cumsum([0, *map(len, rows)])
    return LinkGraph.of(offsets, np.array([target for row in rows for target in row], dtype=np.int32), threads)


def dense(web: LinkGraph) -> Floats:
    matrix = np.zeros((web.pages, web.pages))
    for page in range(web.pages):
        matrix[page, web.forward.targets[web.forward.offsets[page] : web.forward.offsets[page + 1]]] = 1.0
    return matrix


def graph_of(web: LinkGraph) -> networkx.DiGraph:
    graph = networkx.from_numpy_array(dense(web), create_using=networkx.DiGraph)
    assert graph.number_of_nodes() == web.pages
    return graph


def some_web(pages: int = 200, most: int = 12, seed: int = 1) -> LinkGraph:
    """A third of the pages without links, popular pages, and a few that stand alone."""
    dice = np.random.default_rng(seed)
    links = {}
    for page in range(pages - 5):
        if page % 3:
            ends = (dice.random(dice.integers(1, most)) ** 3 * (pages - 5)).astype(int)
            links[page] = sorted(set(ends.tolist()) - {page})
    return web_of(links, pages)


@st.composite
def webs(draw: st.DrawFn) -> LinkGraph:
    """Webs of one to eight pages with any links."""
    pages = draw(st.integers(1, 8))
    pairs = [(a, b) for a in range(pages) for b in range(pages) if a != b]
    links = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return web_of({a: sorted(y for x, y in links if x == a) for a, _ in links}, pages)


# ---------------------------------------------------------------- what Aduana's own tests expect (T1 to T4)


def test_hits_of_aduanas_web() -> None:
    got = algorithms.hits(web_of(G5), until=STRICT)
    assert got.columns["hits_hub"] == pytest.approx([0.25, 0.25, 0.25, 0.25, 0], abs=1e-9)
    assert got.columns["hits_authority"] == pytest.approx([0.125, 0.125, 0.125, 0.125, 0.5], abs=1e-9)


def test_pagerank_of_aduanas_web() -> None:
    got = algorithms.pagerank(web_of(G5), until=STRICT)
    assert got.columns["pagerank"] == pytest.approx([0.15936255] * 4 + [0.3625498], abs=1e-8)


def test_a_reader_who_follows_no_link_is_where_he_starts() -> None:
    got = algorithms.pagerank(web_of(G5), damping=0.0, restart=CONTENT, name="personalised")
    assert got.columns["personalised"] == pytest.approx([0, 0.1, 0.2, 0.3, 0.4], abs=1e-15)
    assert got.iterations == 1
    assert got.converged


def test_personalised_pagerank_of_aduanas_web() -> None:
    got = algorithms.pagerank(web_of(G5), damping=0.5, restart=CONTENT, until=STRICT)
    wanted = [0.06386554621848739, 0.08739495798319329, 0.1647058823529412, 0.25546218487394956, 0.4285714285714286]
    assert got.columns["pagerank"] == pytest.approx(wanted, abs=1e-12)


def test_opic_of_the_web_in_its_introduction() -> None:
    """crawl-frontier's "OPIC details": 1→2, 2→4, 3→1,2,4 and a virtual page, by the power method."""
    got = algorithms.opic(web_of({0: [1], 1: [3], 2: [0, 1, 3]}), until=STRICT)
    assert got.columns["opic"] == pytest.approx([0.19801978, 0.29702981, 0.15841572, 0.34653469], abs=2e-7)


FIRST_RUN = [0.198500025862, 0.298524016644, 0.157148867939, 0.345827089555]
"""What that text shows of a thousand steps in random order, from dice that nobody knows."""


def test_opic_is_where_random_orders_end() -> None:
    """The text's own run cannot be had again, but its limit can be told: it is off by 1.5e-3, and that is what
    a thousand steps are off. What is still to be spent is as much as there was, so it goes like one over the steps."""
    limit = algorithms.opic(web_of({0: [1], 1: [3], 2: [0, 1, 3]}), until=STRICT).columns["opic"]
    assert limit == pytest.approx(np.array([20, 30, 16, 35]) / 101, abs=1e-9)

    def off(steps: int, seed: int) -> float:
        return float(np.max(np.abs(random_opic(TOY, steps, random.Random(seed)) - limit)))

    theirs, runs = float(np.max(np.abs(FIRST_RUN - limit))), sorted(off(1_000, seed) for seed in range(40))
    assert theirs == pytest.approx(1.5e-3, abs=1e-4)
    assert runs[0] < theirs < runs[-1] < 6e-3
    assert off(200_000, 1) < 1e-4


def test_the_power_method_on_the_disturbed_web_in_its_introduction() -> None:
    """L + 1e-5 has the eigenvalue .0588 and the vector (.0553, .0032, .9985, .0002), by the rows that HITS goes by."""
    web = web_of({0: [1], 1: [3], 2: [0, 1, 3]})
    vector, value = np.full(4, 0.5), 0.0
    for _ in range(300):
        vector = web.forward.sums(vector) + 1e-5 * vector.sum()
        value = float(np.linalg.norm(vector))
        vector /= value
    assert vector == pytest.approx([0.0553, 0.0032, 0.9985, 0.0002], abs=5e-5)
    assert value == pytest.approx(0.0588, abs=5e-5)


def test_hits_of_the_web_in_its_introduction() -> None:
    """The same text, scaled to sum 1."""
    got = algorithms.hits(web_of({0: [1], 1: [3], 2: [0, 1, 3]}), until=STRICT)
    hub, authority = np.array([0.32505758, 0.32505758, 0.88807383, 0]), np.array([0.4597, 0.62796303, 0, 0.62796303])
    assert got.columns["hits_hub"] == pytest.approx(hub / hub.sum(), abs=1e-6)
    assert got.columns["hits_authority"] == pytest.approx(authority / authority.sum(), abs=1e-5)


# ---------------------------------------------------------------- against dense algebra


def stationary(chain: Floats) -> Floats:
    """x = x·chain with sum 1, by a dense solve."""
    pages = len(chain)
    system = np.vstack([chain.T - np.eye(pages), np.ones(pages)])
    return np.linalg.lstsq(system, np.concatenate([np.zeros(pages), [1.0]]), rcond=None)[0]


@settings(max_examples=100)
@given(webs(), st.sampled_from([0.0, 0.5, 0.85, 0.99]), st.integers(0, 7))
def test_pagerank_is_the_stationary_distribution(web: LinkGraph, damping: float, trusted: int) -> None:
    restart = np.zeros(web.pages)
    restart[trusted % web.pages] = 3.0
    got = algorithms.pagerank(web, damping=damping, restart=restart, until=Until(1e-12, 10_000))
    links, jump = dense(web), np.ones((web.pages, 1)) * restart / 3.0
    counts = links.sum(axis=1, keepdims=True)
    follow = np.where(counts > 0, links / np.maximum(counts, 1), jump)
    assert got.columns["pagerank"] == pytest.approx(stationary(damping * follow + (1 - damping) * jump), abs=1e-9)
    assert got.converged or (damping == 0.99 and got.error < 1e-11)  # where rounding allows no more


@settings(max_examples=100)
@given(webs())
def test_opic_is_the_stationary_distribution_with_the_virtual_page(web: LinkGraph) -> None:
    pages = web.pages
    links = np.zeros((pages + 1, pages + 1))
    links[:pages, :pages] = dense(web)
    links[:pages, pages] = links[pages, :pages] = 1.0
    whole = stationary(links / links.sum(axis=1, keepdims=True))[:pages]
    assert algorithms.opic(web, until=STRICT).columns["opic"] == pytest.approx(whole / whole.sum(), abs=1e-9)


@settings(max_examples=100)
@given(webs())
def test_salsa_is_the_limit_of_its_chains(web: LinkGraph) -> None:
    """Readers who start on any page that can be a hub (or an authority), back and forth a thousand times."""
    links = dense(web)
    out, back = links / np.maximum(links.sum(1, keepdims=True), 1), links.T / np.maximum(links.sum(0)[:, None], 1)
    got = algorithms.salsa(web)
    for name, chain, can in (
        ("salsa_hub", out @ back, links.sum(1) > 0),
        ("salsa_authority", back @ out, links.sum(0) > 0),
    ):
        limit = can / max(can.sum(), 1) @ np.linalg.matrix_power(chain, 5_000)
        assert got.columns[name] == pytest.approx(limit, abs=1e-9)


@settings(max_examples=150)
@given(webs(), st.lists(st.sampled_from([0.0, 0.0, 0.3, 1.0]), min_size=8, max_size=8))
def test_hits_is_the_limit_from_equal_scores(web: LinkGraph, content: list[float]) -> None:
    """By eigenvectors: equal scores, thrown onto the space of the largest eigenvalue of L·S·Lᵀ."""
    weights = np.array(content[: web.pages])
    links = dense(web)
    got = algorithms.hits(web, content=weights, until=Until(1e-12, 200_000))
    if not np.any(weights[links.sum(0) > 0] > 0):
        weights = np.ones(web.pages)
    values, vectors = np.linalg.eigh(links @ np.diag(weights) @ links.T)
    top = vectors[:, values > values[-1] * (1 - 1e-9)]
    hub = top @ (top.T @ np.ones(web.pages)) if links.any() else np.zeros(web.pages)
    authority = links.T @ hub
    assert got.columns["hits_hub"] == pytest.approx(hub / max(hub.sum(), 1e-300), abs=1e-8)
    assert got.columns["hits_authority"] == pytest.approx(authority / max(authority.sum(), 1e-300), abs=1e-8)


# ---------------------------------------------------------------- against networkx


@pytest.mark.parametrize("damping", [0.5, 0.85, 0.99])
def test_pagerank_agrees_with_networkx(damping: float) -> None:
    web = some_web()
    dice = np.random.default_rng(3).random(web.pages)
    graph = graph_of(web)
    for restart in (None, dice):
        start = None if restart is None else dict(enumerate(restart.tolist()))
        theirs = networkx.pagerank(graph, alpha=damping, personalization=start, tol=1e-15, max_iter=10_000)
        ours = algorithms.pagerank(web, damping=damping, restart=restart, until=Until(1e-12, 10_000))
        assert ours.columns["pagerank"] == pytest.approx([theirs[page] for page in range(web.pages)], abs=1e-12)


def test_hits_agrees_with_networkx() -> None:
    web = some_web()
    hub, authority = networkx.hits(graph_of(web), tol=1e-14)
    ours = algorithms.hits(web, until=STRICT)
    assert ours.columns["hits_hub"] == pytest.approx([hub[page] for page in range(web.pages)], abs=1e-10)
    assert ours.columns["hits_authority"] == pytest.approx([authority[page] for page in range(web.pages)], abs=1e-10)


# ---------------------------------------------------------------- what went wrong in Aduana


def test_the_stop_does_not_depend_on_the_number_of_pages() -> None:
    """The same web a hundred times over: as many iterations, a hundredth of each score, no larger error."""
    links = {a: [(a * 7 + 1) % 50, (a * a) % 50] for a in range(50)}
    copies = {a + 50 * c: [b + 50 * c for b in row if b != a] for c in range(100) for a, row in links.items()}
    one = algorithms.pagerank(web_of({a: copies[a] for a in range(50)}, 50), until=Until(1e-6))
    many = algorithms.pagerank(web_of(copies, 5_000), until=Until(1e-6))
    assert many.iterations == one.iterations
    assert many.columns["pagerank"][:50] * 100 == pytest.approx(one.columns["pagerank"], abs=1e-12)


@pytest.mark.parametrize("tolerance", [1e-3, 1e-6, 1e-9])
def test_the_error_that_is_named_is_a_bound(tolerance: float) -> None:
    web = some_web()
    for score in (
        lambda until: algorithms.pagerank(web, until=until),
        lambda until: algorithms.pagerank(web, damping=0.99, until=until),
        lambda until: algorithms.opic(web, until=until),
        lambda until: algorithms.hits(web, until=until),
    ):
        rough, exact = score(Until(tolerance, 10_000)), score(Until(1e-14, 10_000))
        for name in rough.columns:
            apart = float(np.abs(rough.columns[name] - exact.columns[name]).sum())
            assert apart <= rough.error + 1e-12
            assert rough.error <= tolerance
            assert apart > tolerance * 1e-5, "more was done than was asked for"


def test_constant_degrees_do_not_end_hits_too_soon() -> None:
    """Ten links everywhere: the first step moves no hub, and Aduana called in-degree the authority."""
    dice = np.random.default_rng(4)
    web = web_of({a: (dice.permutation(99)[:10] * 1).tolist() for a in range(100)}, 100)
    got = algorithms.hits(web, until=STRICT)
    values, vectors = np.linalg.eigh(dense(web).T @ dense(web))
    top = np.abs(vectors[:, -1])
    assert values[-1] > values[-2] * 1.1
    assert got.columns["hits_authority"] == pytest.approx(top / top.sum(), abs=1e-10)
    assert got.iterations > 5


def test_no_content_at_all_is_no_content_scores() -> None:
    web = some_web()
    plain = algorithms.hits(web)
    for content in (np.zeros(web.pages), np.where(web.backward.counts > 0, 0.0, 1.0), np.ones(web.pages)):
        got = algorithms.hits(web, content=content)
        for name, column in plain.columns.items():
            assert got.columns[name] == pytest.approx(column, abs=1e-12)
    restart = algorithms.pagerank(web, restart=np.zeros(web.pages))
    assert restart.columns["pagerank"] == pytest.approx(algorithms.pagerank(web).columns["pagerank"], abs=1e-15)


def test_communities_of_equal_weight_share_by_size() -> None:
    """Two pairs and a triangle fan: {0→1}, {2→3} are weaker than 4→5,6,7; then two equal fans."""
    got = algorithms.hits(web_of({0: [1], 2: [3], 4: [5, 6, 7]}), until=STRICT).columns["hits_hub"]
    assert got == pytest.approx([0, 0, 0, 0, 1, 0, 0, 0], abs=1e-12)
    assert not np.any((got > 0) & (got < 1e-200)), "numbers so small are slow"
    equal = algorithms.hits(web_of({0: [1, 2], 3: [4, 5]}), until=STRICT).columns
    assert equal["hits_hub"].tolist() == [0.5, 0, 0, 0.5, 0, 0]
    assert equal["hits_authority"].tolist() == [0, 0.25, 0.25, 0, 0.25, 0.25]


def test_too_few_iterations_are_no_error_but_are_told() -> None:
    told: list[tuple[int, float]] = []
    got = algorithms.pagerank(some_web(), until=Until(1e-12, 5, lambda *told_: told.append(told_)))
    assert got.iterations == len(told) == 5
    assert got.residual == told[-1][1] > 0
    assert got.error > 1e-12
    assert not got.converged
    assert not algorithms.hits(some_web(), until=Until(1e-12, 2)).converged
    assert abs(got.columns["pagerank"].sum() - 1.0) < 1e-14


def test_a_tolerance_below_rounding_ends_all_the_same_and_is_not_said_to_be_reached() -> None:
    for score in (algorithms.pagerank, algorithms.opic, algorithms.hits):
        got = score(some_web(), until=Until(1e-30, 5_000))  # type: ignore[operator]
        assert not got.converged
        assert 1e-30 < got.error < 1e-9
        assert got.iterations < 1_000


@pytest.mark.parametrize(("damping", "reached"), [(0.999, True), (0.9999, True), (0.99999, False), (0.999999, False)])
def test_a_damping_near_1_says_whether_the_tolerance_was_reached(damping: float, reached: bool) -> None:
    got = algorithms.pagerank(some_web(), damping=damping, until=Until(1e-9, 5_000_000))
    assert got.converged == reached == (got.error <= 1e-9)
    assert got.error == pytest.approx(got.residual * damping / (1 - damping))


def test_what_is_at_its_limit_after_a_few_steps_has_converged() -> None:
    for links in ({0: [1]}, {0: [1, 2], 1: [2]}, {0: [1], 1: [0]}, {0: [1, 2, 3], 4: [5]}):
        for score in (algorithms.pagerank, algorithms.opic, algorithms.hits):
            assert score(web_of(links)).converged  # type: ignore[operator]


@pytest.mark.parametrize("pages", [0, 1, 3])
def test_webs_without_links(pages: int) -> None:
    web = LinkGraph.of(np.zeros(pages + 1, dtype=np.int64), np.empty(0, dtype=np.int32))
    equal, nothing = [1.0 / pages] * pages if pages else [], [0.0] * pages
    for got, wanted in (
        (algorithms.pagerank(web), equal),
        (algorithms.opic(web), equal),
        (algorithms.hits(web), nothing),
        (algorithms.salsa(web), nothing),
    ):
        assert got.converged
        for column in got.columns.values():
            assert column == pytest.approx(wanted)


# ---------------------------------------------------------------- rows, hosts, memory


def test_blocks_and_threads_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = some_web(300, 40)
    monkeypatch.setattr(csr, "BLOCK", 17)  # smaller than the longest row
    parts = LinkGraph.of(whole.forward.offsets, whole.forward.targets, threads=3)
    values = np.random.default_rng(1).random(whole.pages)
    for one, other in ((whole.forward, parts.forward), (whole.backward, parts.backward)):
        assert np.array_equal(one.targets, other.targets)
        assert other.sums(values) == pytest.approx(one.sums(values), rel=1e-14)
    assert whole.forward.sums(values) == pytest.approx(dense(whole) @ values)
    assert whole.backward.sums(values) == pytest.approx(dense(whole).T @ values)


@pytest.mark.parametrize("block", [1, 7, 1 << 20])
def test_only_links_between_hosts(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Aduana kept the links of a page that has none to another host."""
    monkeypatch.setattr(csr, "BLOCK", block)
    web = web_of({0: [1, 2, 3], 1: [0, 4], 4: [3], 5: [4, 0]})
    hosts = np.array([0, 0, 0, 1, 2, 2], dtype=np.int32)
    offsets, targets = algorithms.between_hosts(web.forward.offsets, web.forward.targets, hosts)
    assert offsets.tolist() == [0, 1, 2, 2, 2, 3, 4]
    assert targets.tolist() == [3, 4, 3, 0]
    alone = algorithms.between_hosts(web.forward.offsets, web.forward.targets, np.zeros(6, dtype=np.int32))
    assert alone[0].tolist() == [0] * 7


@pytest.mark.parametrize(
    ("score", "most"), [(algorithms.pagerank, 7.0), (algorithms.hits, 7.0), (algorithms.salsa, 30.0)]
)
def test_memory_is_what_the_module_says(score: object, most: float) -> None:
    """Bytes a link beside the rows that were given, on a web with a hundred links a page."""
    pages, links = 20_000, 2_000_000
    targets = np.random.default_rng(1).integers(0, pages, links).astype(np.int32)
    offsets = np.arange(0, links + 1, links // pages)
    tracemalloc.start()
    try:
        score(LinkGraph.of(offsets, targets))  # type: ignore[operator]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    blocks, vectors = 2 * 8 * csr.BLOCK, 10 * 8 * pages
    assert (peak - blocks - vectors) / links < most


# ---------------------------------------------------------------- from the last scores


def test_scores_of_an_earlier_time_are_a_better_beginning() -> None:
    """Those of a web a little smaller; the limit is the same whatever it begins with, and it is there sooner."""
    dice = random.Random(3)
    links = {page: [dice.randrange(60 if page % 2 else 400) for _ in range(10)] for page in range(400)}
    web, before = web_of(links), web_of({**links, 7: links[7][:5]}, 400)
    for name, method in (("pagerank", algorithms.pagerank), ("opic", algorithms.opic), ("hits_hub", algorithms.hits)):
        cold = method(web)
        warm = method(web, first=method(before).columns[name])
        assert np.abs(warm.columns[name] - cold.columns[name]).sum() < 3e-9
        assert warm.iterations < cold.iterations, name


def test_a_community_that_was_worth_nothing_can_become_the_best() -> None:
    """Hubs that were 0 would stay so: HITS does not go by the last scores alone."""
    web = web_of({0: [1, 2], 3: [1], **{page: list(range(8, 12)) for page in range(4, 8)}})
    first = np.zeros(12)
    first[[0, 3]] = 0.6, 0.4
    cold, warm = algorithms.hits(web), algorithms.hits(web, first=first)
    np.testing.assert_allclose(warm.columns["hits_hub"], cold.columns["hits_hub"], atol=1e-8)
