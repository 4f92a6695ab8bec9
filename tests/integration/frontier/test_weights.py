"""Weights by patterns of URLs: they decide which pages come first, under every order by value."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from graphbrain import Brain, Fetched
from graphbrain.base.errors import SettingsError
from tests.integration.conftest import HandClock
from tests.plugin import Neo4j

MakeBrain = Callable[..., Brain]
Ask = Callable[..., list[list[object]]]

A = "http://a.example/"
WEIGHTS = ("", "/tag/ .1; /news/ 3", "/news/ .01; /tag/ 100; /\\d*5$ 7", "/tag/ .1; /tag/ .1")


@pytest.mark.parametrize("engine", ["exact", "classic"])
def test_new_pages_come_by_their_weights_and_a_change_moves_them(make_brain: MakeBrain, engine: str) -> None:
    brain = make_brain(engine=engine, weights="/tag/ .1; /news/ 3")
    brain.report([Fetched(A, [f"{A}{kind}/{n}" for n in range(3) for kind in ("tag", "page", "news")])])
    claims = brain.next_urls(9)
    kinds = [claim.url.split("/")[3] for claim in claims]
    assert kinds == ["news"] * 3 + ["page"] * 3 + ["tag"] * 3
    assert [brain.page(f"{A}{kind}/1").url_weight for kind in ("tag", "page", "news")] == [0.1, None, 3.0]
    brain.give_back(claims)
    brain.change(weights="/tag/ 5")
    kinds = [claim.url.split("/")[3] for claim in brain.next_urls(9)]
    assert kinds[:3] == ["tag"] * 3
    assert brain.page(f"{A}news/1").url_weight is None


def test_revisits_come_by_their_weights(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(weights="/tag/ .001", revisit_seconds=1.0, frontier_reserve=0.0, oldest_reserve=0.0)
    urls = [f"{A}{kind}/{n}" for kind in ("tag", "news") for n in range(5)]
    brain.seed(urls)
    brain.report([Fetched(claim.url, (), claim, body=b"x") for claim in brain.next_urls(99)])
    clock.pass_(86_400.0)
    first = [claim.url for claim in brain.next_urls(5)]
    assert first and all("/news/" in url for url in first)


def test_weights_that_cannot_be_read_are_refused_and_nothing_changes(brain: Brain) -> None:
    for weights in ("/tag/", "/tag/ 0", "( 2", "(a+)+$ 2"):
        with pytest.raises(SettingsError, match="weights"):
            brain.change(weights=weights)
    assert brain.settings.weights == ""


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("engine", ["exact", "classic"])
def test_each_page_has_the_weight_of_its_url_whatever_happens(
    make_brain: MakeBrain, neo4j: Neo4j, clock: HandClock, seed: int, engine: str
) -> None:
    """Two Brain objects, weights that change, visits, new addresses and values; the audit compares each page."""
    dice = random.Random(seed)
    brain = make_brain(engine=engine, weights=dice.choice(WEIGHTS), revisit_seconds=60.0)
    with neo4j.open(crawl="test", auto_tend=False, clock=clock, as_it_is=True) as other:
        urls = [f"{A}{kind}/{n}" for kind in ("tag", "page", "news") for n in range(8)]
        brain.seed(urls[:3])
        for _ in range(12):
            one = dice.choice([brain, other])
            claims = one.next_urls(dice.randint(1, 5))
            visits = [Fetched(c.url, dice.sample(urls, 6), c, body=str(dice.random())) for c in claims]
            one.report(visits[:4])
            one.give_back(claims[4:])
            if dice.random() < 0.4:
                brain.change(weights=dice.choice(WEIGHTS))
            if dice.random() < 0.3:
                dice.choice([brain, other]).set_page(dice.choice(urls[:3]), relevance=dice.random())
            clock.pass_(dice.choice([0.0, 90.0]))
        assert brain.audit(None).ok, brain.audit(None).findings


def test_the_audit_sees_a_wrong_weight(brain: Brain, ask: Ask) -> None:
    brain.change(weights="/tag/ .1")
    brain.seed([f"{A}tag/1", f"{A}news/1"])
    ask("MATCH (p:Page {url: $url}) SET p.url_weight = 2.0", url=f"{A}news/1")
    audit = brain.audit(None)
    assert not audit.ok
    assert any("url_weight 2, by the setting weights 1" in each for each in audit.findings)
    ask("MATCH (p:Page {url: $url}) REMOVE p.url_weight", url=f"{A}news/1")
