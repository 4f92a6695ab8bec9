"""The overview has the figures of the graph, and reads no page for them."""

from __future__ import annotations

import pytest

from graphbrain import Brain
from graphbrain.base.errors import BadInput, UnknownHost
from graphbrain.service.console.minutes import Minutes
from graphbrain.service.console.watch import host, overview
from graphbrain.service.metrics.sampling import Sample, Sampler

EVERY_PAGE = {
    "brain/states",
    "audit/waiting",
    "figures/pages",
    "watching/hosts",
    "brain/led_outside",
    "exports/last_id",
}
"""Statements that read every page."""


def test_figures_are_those_of_the_graph_at_rest(crawled: Brain) -> None:
    assert crawled.next_urls(2, worker="w")
    sampler = Sampler(crawled)
    assert sampler.look()
    sampler.scan()
    told = overview(crawled, sampler.latest, Minutes())
    stats, scanned = crawled.stats(), told["scanned"]
    for name in ("links", "leased", "paused", "done"):
        assert told["stats"][name] == stats[name], name
    for name in ("waiting", "end"):
        assert told["stats"]["frontier"][name] == stats["frontier"][name], name
    assert stats["leased"] == 2 and told["lapsed"] == stats["lapsed"] == 0
    for name in ("states", "waiting", "retries", "hosts", "error_bound"):
        assert scanned[name] == stats[name], name
    assert sum(scanned["states"].values()) - scanned["outside"] == stats["pages"]
    assert scanned["outside"] == stats["outside_pages"] > 0
    assert sum(pages for _, pages, _ in told["workers"]) == 2
    assert sum(pages for _, pages in told["hours"]) == stats["done"]["pages"]
    assert abs(scanned["as_of"] - crawled.now()) < 3_600.0


def test_no_page_is_read_for_it(crawled: Brain) -> None:
    sent: list[str] = []
    with crawled.graph.trace(lambda name, _rows, _took: sent.append(name)):
        told = overview(crawled, Sample(), Minutes())
        assert not EVERY_PAGE.intersection(sent) and "brain/sizes" in sent
        assert told["scanned"] is None and told["stats"]["frontier"] is None, "not counted yet"
        crawled.stats()
    assert EVERY_PAGE.intersection(sent), "the trace sees what is sent"


def test_a_host_is_looked_up_by_its_name_alone(crawled: Brain) -> None:
    """The pages of a host are read once, by its view; its resources and its size are not asked for."""
    sent: list[str] = []
    with crawled.graph.trace(lambda name, _rows, _took: sent.append(name)):
        seen = host(crawled, "A.example:80")
    assert set(sent) == {"hosts/known", "watching/host", "COMMIT"}
    assert sum(pages for _, pages, *_ in seen["states"]) == crawled.host("a.example").pages
    for name, error in (("nowhere.example", UnknownHost), ("no host", BadInput)):
        with pytest.raises(error):
            host(crawled, name)
