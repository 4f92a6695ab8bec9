"""Sitemaps without a graph: whatever is answered in whatever order, and what is learned of their dates."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as draw

from graphbrain.claims.sitemap_state import (
    AGAIN,
    DEAD_FAILURES,
    LATEST,
    LINE,
    SOONEST,
    Evidence,
    SitemapState,
    Trust,
    key_of,
    weigh,
)
from graphbrain.corrections.change_hints import beta
from graphbrain.hosts.resource import MOST_REDIRECTS, Said
from graphbrain.hosts.robots import sitemaps_of
from graphbrain.model import kind_of

DAY, NOW = 86_400.0, 1_700_000_000.0
URL = "https://a.org/maps/s.xml"


def sitemap(**properties: object) -> SitemapState:
    """One that nobody has asked for."""
    return SitemapState(key_of(URL), URL, "a.org", due_at=NOW, **properties)  # type: ignore[arg-type]


SAID = draw.one_of(
    draw.builds(lambda n: Said("lists", f"{n}"), draw.integers(0, 3)),
    draw.sampled_from([Said("same"), Said("fails"), Said("gone")]),
    draw.builds(lambda n: Said("leads", url=f"https://b.org/{n}", host="b.org"), draw.integers(0, 3)),
)


@given(draw.lists(draw.tuples(SAID, draw.floats(0.0, 9 * DAY)), max_size=60), draw.booleans())
def test_whatever_is_answered(answers: list[tuple[Said, float]], guessed: bool) -> None:
    one, now, hops, mark, read = sitemap(guessed=guessed), NOW, 0, None, False
    for said, later in answers:
        if one.dead_at is not None:
            assert one.waits_in() is None and one.due_at is None
            assert guessed or (one.failures or 0) >= DEAD_FAILURES
            break
        assert one.due_at is not None and one.waits_in() == f"{AGAIN if read or one.failing_since else LINE} {one.host}"
        now = max(now, one.due_at) + later
        one.take("t", "w", now + 1.0, None)
        assert one.waits_in() is None
        outcome = one.hear(said, now)
        one.let_go(outcome)
        hops = hops + 1 if said.what == "leads" and hops < MOST_REDIRECTS else 0
        assert (one.redirects or 0) == hops and (one.url == one.home) == (hops == 0) == (one.host == "a.org")
        assert (outcome == "alias") == (hops > 0)
        if said.what in ("lists", "same"):
            changed = said.what == "lists" and said.text != mark
            assert outcome == ("new" if not read else "changed" if changed else "same")
            mark, read = said.text or mark, True
            assert one.due_at is not None and SOONEST <= one.due_at - now <= LATEST + 1e-3
        if one.due_at is not None:
            assert one.due_at >= now


def test_which_urls_it_may_list() -> None:
    own = sitemap()
    assert own.lists("https://a.org/maps/1") and own.lists("http://a.org/maps/deep/2")
    assert not own.lists("https://a.org/1") and not own.lists("https://a.org/mapsother/1")
    assert not own.lists("https://b.org/maps/1")
    own.name(["b.org"], NOW)
    assert own.lists("https://b.org/1") and not own.lists("https://a.org/1")
    own.unname("b.org", NOW)
    assert not own.lists("https://b.org/1") and own.dead_at == NOW
    own.name(["a.org"], NOW + 1.0)
    assert own.lists("https://a.org/1") and own.dead_at is None and own.due_at == NOW + 1.0
    assert kind_of(own.key) == "sitemap"


@given(draw.booleans(), draw.floats(0.0, 1.0), draw.floats(0.0, 1.0))
def test_each_visit_is_counted_once(changed: bool, chance: float, true: float) -> None:
    found = weigh(changed, chance, true)
    assert found.announced + found.untrue == pytest.approx(1.0)
    assert found.announced + found.missed == pytest.approx(1.0 if changed else 0.0)
    assert min(found.announced, found.untrue, found.missed) >= 0.0


@pytest.mark.parametrize(
    ("true_share", "changes_a_day", "within"), [(1.0, 0.1, 0.02), (0.5, 0.1, 0.05), (0.0, 0.1, 0.05), (0.0, 0.5, 0.16)]
)
def test_the_share_of_true_dates_is_found(true_share: float, changes_a_day: float, within: float) -> None:
    """Pages are visited a day after a date. A true one comes after a change, another one at any time."""
    dice, one, first = random.Random(7), sitemap(), Trust()
    chance = 1.0 - 2.718281828**-changes_a_day
    for _ in range(2_000):
        true = dice.random() < true_share
        changed = true or dice.random() < chance
        one.learn(weigh(changed, chance, one.trust(first).true))
    learned = one.trust(first).true
    assert learned == pytest.approx(true_share, abs=within)
    if true_share == 0.0:  # a date says next to nothing then
        assert beta(changes_a_day, one.trust(first)) < 0.1 * beta(changes_a_day, first)


def test_evidence_adds_up() -> None:
    one = sitemap()
    assert one.trust(Trust(0.6, 0.4)) == Trust(0.6, 0.4)
    one.learn(Evidence(3.0, 1.0, 1.0) + Evidence(missed=1.0))
    assert (one.announced, one.untrue, one.missed) == (3.0, 1.0, 2.0)
    assert one.trust(Trust(0.6, 0.4)) == Trust(0.6, 0.3)


def test_the_text_of_robots_txt() -> None:
    text = "Sitemap: /a.xml\r\n# Sitemap: /no\nUser-agent: x\nSITEMAP :/b.xml\nsitemap:\nDisallow: /\n"
    text += "Sitemap: /a.xml # again"
    assert sitemaps_of(text) == ["/a.xml", "/b.xml"]
