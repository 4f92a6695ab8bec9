"""Orders over many recordings: where crawls begin, what counts, and what the means are made of."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from graphbrain.base.errors import BadInput
from graphbrain_lab.bench import many
from graphbrain_lab.bench.many import Measured
from graphbrain_lab.bench.order import Curve
from graphbrain_lab.recording import Recording


def a_site(pages: int = 200) -> Recording:
    """Its home page has the shortest URL; each page leads home and on, and the last ones lead nowhere."""
    urls = ["http://a.example/", *(f"http://a.example/page/{n:04d}" for n in range(1, pages))]
    sources = [page for page in range(pages - 20) for _ in range(3)]
    targets = [end for page in range(pages - 20) for end in (0, page + 1, (7 * page) % pages)]
    return Recording.of(sources, targets, pages=pages, urls=urls, name="site")


def test_crawls_begin_at_the_home_page_and_at_others_that_reach_as_much() -> None:
    site = a_site()
    seeds = many.begin(site, 4)
    assert seeds[0] == 0 and len(set(seeds)) == 4
    assert all(site.reachable([seed]).sum() >= 0.9 * site.pages for seed in seeds)
    assert many.begin(site, 4) == seeds
    assert many.begin(site, 2) == seeds[:2]


def test_where_nothing_leads_anywhere_no_crawl_begins() -> None:
    assert many.begin(Recording.of([], [], pages=3, name="dust"), 2) == []


def test_pages_that_were_never_crawled_may_be_left_out() -> None:
    site = a_site()
    crawled = np.arange(site.pages) % 10 != 9
    own = many.restricted(dataclasses.replace(site, crawled=crawled))
    assert own.urls == [url for url, was in zip(site.urls, crawled, strict=True) if was]
    assert own.ids.tolist() == np.flatnonzero(crawled).tolist()
    sources, targets = site.distinct
    assert own.links == int((crawled[sources] & crawled[targets]).sum())
    assert many.restricted(site) is site


def a_crawl(name: str, pages: int, **areas: float) -> Measured:
    curves = [Curve(order, np.full(pages, area), np.full(pages, area), pages) for order, area in areas.items()]
    return Measured(name, "http://a.example/", pages, 3 * pages, curves)


def test_the_mean_is_over_webs_and_small_ones_do_not_count() -> None:
    opic, rank = "OPIC of 2003", "PageRank, d 0.85"
    crawls = [
        a_crawl("one", 1000, **{"omniscient": 0.8, opic: 0.6, rank: 0.72, "mine": 0.76}),
        a_crawl("one", 1000, **{"omniscient": 0.8, opic: 0.6, rank: 0.72, "mine": 0.68}),
        a_crawl("two", 3000, **{"omniscient": 0.5, opic: 0.5, rank: 0.4, "mine": 0.45}),
        a_crawl("small", 499, **{"omniscient": 0.5, opic: 0.5, rank: 0.5, "mine": 0.01}),
    ]
    rows = {row["order"]: row for row in many.summary(crawls)}
    mine = rows["mine"]
    assert (mine["webs"], mine["crawls"]) == (2, 3)
    assert (mine["mean"], mine["least"]) == (0.9, 0.85)
    assert mine["wins"] == {rank: 2, opic: 1}
    assert mine["below"] == {rank: 0.0, opic: 0.1}
    assert mine["low"] <= mine["mean"] <= mine["high"]
    # 1 % of a thousand pages is not looked at.
    assert mine["early"]["0.01"] == {"mean": -0.05, "least": -0.05}
    assert mine["early"]["0.02"] == {"mean": pytest.approx(0.0633, abs=1e-4), "least": -0.05}
    assert many.web_row(crawls[-1])["counted"] is False
    assert many.summary(crawls[-1:]) == []


def test_the_interval_holds_the_mean_of_most_others() -> None:
    """Of webs drawn from one kind, nine intervals in ten at least hold the kind's mean."""
    dice, held = np.random.default_rng(3), 0
    for _ in range(60):
        low, high = many._interval(dice.normal(0.9, 0.05, 12))
        held += low <= 0.9 <= high
    assert held >= 50


def test_a_directory_holds_recordings_and_other_files(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a.edges").write_text("0 1\n1 0\n1 2\n")
    (tmp_path / "b.edges.tsv").write_text("0\t1\n1\t2\n")
    (tmp_path / "b.nodes.tsv").write_text(
        "0\t1\thttp://b.example/\n1\t1\thttp://b.example/1\n2\t0\thttp://c.example/\n"
    )
    (tmp_path / "README.md").write_text("What this is.\n")
    passed: list[str] = []
    found = list(many.recordings(tmp_path, True, lambda path, _: passed.append(path.name)))
    assert [(recording.pages, recording.urls[0]) for recording in found] == [
        (2, "http://b.example/"),
        (3, "http://host-0000.example/page-0"),
    ]
    assert passed == ["README.md"]
    with pytest.raises(BadInput, match="holds no recorded crawl"):
        list(many.recordings(tmp_path / "deep" / "nothing", False))
