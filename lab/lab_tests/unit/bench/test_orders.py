"""Simulated orders, against what a few lines of plain Python say, and against the solvers of the house."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from graphbrain.base.errors import BadInput
from graphbrain.base.numeric.methods import Factor, factors
from graphbrain.base.settings import Settings
from graphbrain.scores.accounts.solve import System
from graphbrain.scores.ranking import algorithms
from graphbrain_lab.bench import order, orders
from graphbrain_lab.bench.orders import BenchOrder, BenchWeb, Crawl, crawled
from graphbrain_lab.recording import Recording


def a_recording(seed: int, pages: int = 300) -> Recording:
    dice = np.random.default_rng(seed)
    sources = np.repeat(np.arange(pages), dice.integers(0, 9, pages))
    return Recording.of(sources, (dice.random(len(sources)) ** 2 * pages).astype(np.int64), pages=pages, name="random")


def a_web(seed: int) -> BenchWeb:
    recording = a_recording(seed)
    first = int(np.argmax(np.diff(recording.offsets)))
    return BenchWeb.of(recording, [first])


def links_of(web: BenchWeb, page: int) -> list[int]:
    found: list[int] = web.targets[web.offsets[page] : web.offsets[page + 1]].tolist()
    return found


def by_reach(web: BenchWeb) -> set[int]:
    reached, to_do = set(web.seeds.tolist()), deque(web.seeds.tolist())
    while to_do:
        for page in links_of(web, to_do.popleft()):
            if page not in reached:
                reached.add(page)
                to_do.append(page)
    return reached


@pytest.fixture(params=[1, 2, 3])
def web(request: pytest.FixtureRequest) -> BenchWeb:
    return a_web(request.param)


def test_a_web_is_what_its_seeds_reach(web: BenchWeb) -> None:
    assert by_reach(web) == set(range(len(web)))
    assert len(web) > 100


def test_every_order_fetches_each_page_once_and_only_what_it_knows(web: BenchWeb) -> None:
    final = orders.PageRank(change=orders.EXACT)(web.whole())
    for each in orders.orders(final, {"mixed": {"flow": Factor(0.5), "authority": Factor(0.5, 2.0)}}):
        found = crawled(web, each).tolist()
        assert sorted(found) == list(range(len(web)))
        known = set(web.seeds.tolist())
        for page in found:
            assert page in known, each.name
            known.update(links_of(web, page))


def test_breadth_first_is_the_plain_queue(web: BenchWeb) -> None:
    queue, seen, found = deque(web.seeds.tolist()), set(web.seeds.tolist()), []
    while queue:
        page = queue.popleft()
        found.append(page)
        for target in links_of(web, page):
            if target not in seen:
                seen.add(target)
                queue.append(target)
    depth = dict.fromkeys(web.seeds.tolist(), 0)
    for page in found:
        for target in links_of(web, page):
            depth.setdefault(target, depth[page] + 1)
    order_of = [depth[page] for page in crawled(web, BenchOrder("breadth first", orders.First)).tolist()]
    assert order_of == sorted(order_of)


def test_values_of_the_whole_web_are_those_of_the_solvers(web: BenchWeb) -> None:
    whole, targets = web.whole(), web.targets
    rank = algorithms.pagerank(algorithms.LinkGraph.of(web.offsets, targets, 1), damping=0.85)
    ours = orders.PageRank(change=1e-12)(whole)
    theirs = rank.columns["pagerank"]
    nothing = np.full(len(web), np.nan)
    system = System.of(web.offsets, targets, alpha=0.15, relevance=nothing, payout=np.ones(len(web)))
    goal = system.solve(tolerance=1e-12).authority
    assert orders.Authority(change=1e-12)(whole) == pytest.approx(goal, rel=1e-8)
    assert ours.sum() == pytest.approx(1.0)
    assert ours == pytest.approx(theirs / theirs.sum(), rel=1e-6)


def test_flow_is_spent_once_and_none_is_lost_but_what_leaves(web: BenchWeb) -> None:
    value, crawl = orders.OnePass(first=1.0, passed=0.85), Crawl(web)
    flow = value(crawl)
    paid = np.zeros(len(web))
    while len(waiting := crawl.frontier()):
        some = waiting[np.argsort(-flow[waiting], kind="stable")[:7]]
        paid[some] = 0.85 * flow[some] * (crawl.out[some] > 0)
        crawl.fetch(some)
        flow = value(crawl)
    assert flow.sum() == pytest.approx(len(web) + paid.sum(), rel=1e-12)


def test_what_is_made_up_without_end_waits_behind_a_sites_own_pages() -> None:
    """A tree of pages beside one of the same shape whose paths repeat, and beside a calendar."""
    urls, links = _trap()
    sources = np.repeat(np.arange(len(urls)), [len(ends) for ends in links])
    targets = np.array([end for ends in links for end in ends])
    web = BenchWeb.of(Recording.of(sources, targets, pages=len(urls), urls=urls, name="trap"), [0])
    for value, many in (
        ("flow^.2 authority plain_path novelty^.6", 500),
        ("flow^.3 authority^.7 plain_path", 400),
        (Settings().value, 250),
    ):
        blend = factors(value)
        assert blend is not None
        make = partial(orders.Blend, blend)
        first = [urls[page].split("/")[3][:1] for page in crawled(web, BenchOrder(value, make)).tolist()[:700]]
        assert first.count("p") > many, value


def test_new_pages_of_a_folder_are_counted_as_their_finder_names_them(web: BenchWeb) -> None:
    crawl = Crawl(web)
    known, wanted = set(web.seeds.tolist()), np.zeros(len(web))
    while len(waiting := crawl.frontier()):
        some = waiting[:7]
        crawl.fetch(some)
        for page in some.tolist():
            met: Counter[int] = Counter()
            for end in web.targets[web.offsets[page] : web.offsets[page + 1]].tolist():
                if end not in known:
                    known.add(end)
                    wanted[end] = met[int(web.folders[end])]
                    met[int(web.folders[end])] += 1
    assert crawl.siblings_before.tolist() == wanted.tolist()
    assert wanted.max() > 1


def test_what_a_sitemap_names_is_known_from_the_beginning_each_folders_first_pages_first(web: BenchWeb) -> None:
    listed = np.random.default_rng(5).permutation(len(web))
    crawl = Crawl(replace(web, listed=listed))
    assert crawl.known.all() and crawl.depth.tolist() == [0.0 if page in web.seeds else 1.0 for page in range(len(web))]
    met: Counter[int] = Counter()
    for page in listed.tolist():
        if page not in web.seeds:
            assert crawl.siblings_before[page] == met[int(web.folders[page])]
            met[int(web.folders[page])] += 1
    make = partial(orders.Blend, {"novelty": Factor()})
    found = crawled(crawl.web, BenchOrder("a list", make))
    assert sorted(found.tolist()) == list(range(len(web)))


def _trap() -> tuple[list[str], list[list[int]]]:
    root = "http://a.org/"

    def led_to(path: str) -> list[str]:
        kind, _, rest = path.partition("/")
        if kind == "x":
            return ["", *(f"{path}/{step}" for step in "abc")]
        if kind == "cal":
            month, _, day = rest.partition("-")
            months = ["", f"cal/{int(month) - 1}", f"cal/{int(month) + 1}"]
            return months if day else [*months, *(f"cal/{month}-{number}" for number in range(1, 29))]
        number = int(path[1:] or 0)
        return ["", "x/1", "cal/2000", *(f"p{3 * number + child}" for child in (1, 2, 3))]

    numbers, to_do, links = {"": 0}, deque([""]), []
    while to_do:
        path = to_do.popleft()
        ends = led_to(path) if len(numbers) < 8000 else []
        for end in ends:
            if end not in numbers:
                numbers[end] = len(numbers)
                to_do.append(end)
        links.append([numbers[end] for end in ends])
    return [root + path for path in numbers], links


def test_a_curve_tells_shares_and_their_mean() -> None:
    shares = np.array([0.5, 0.25, 0.125, 0.125])
    curve = order.Curve("one", np.cumsum(shares), np.cumsum(shares[::-1]), 4)
    assert curve.area == pytest.approx((0.5 + 0.75 + 0.875 + 1.0) / 4)
    assert curve.at(0.5) == 0.75
    assert curve.row(curve.area)["of_omniscient"] == 1.0


def test_lanes_lose_next_to_nothing(web: BenchWeb) -> None:
    curves, _ = order.simulated(web, ["flow^.85 authority^.15"])
    area = {curve.name: curve.area for curve in curves}
    assert abs(area["flow^.85 authority^.15"] - area["flow^.85 authority^.15, in lanes"]) < 0.005
    assert max(area.values()) == area["omniscient"]


def test_what_cannot_be_simulated_is_refused() -> None:
    with pytest.raises(BadInput, match="cannot be simulated"):
        order.simulated(a_web(1), ["own"])
    lonely = Recording.of([0], [1], pages=3, name="lonely")
    with pytest.raises(BadInput, match="Nothing is reached"):
        order.web_of(lonely, [2])


def test_hosts_share_the_pages() -> None:
    spread = order.spread_over(a_recording(1), 7)
    hosts = [url.split("/")[2] for url in spread.urls]
    assert len(set(hosts)) == 7
    assert hosts == sorted(hosts)
