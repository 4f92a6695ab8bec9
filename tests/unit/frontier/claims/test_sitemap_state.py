"""Sitemaps without a graph: whatever is answered in whatever order, and what is learned of their dates."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as draw

from graphbrain.base.model import kind_of
from graphbrain.frontier.claims.sitemap_state import (
    AGAIN,
    DEAD_FAILURES,
    LATEST,
    LEAST_TRUE,
    LINE,
    MOST_RECALL,
    MOST_TRUE,
    SOONEST,
    Evidence,
    SitemapState,
    Trust,
    key_of,
    weigh,
)
from graphbrain.frontier.corrections.change_hints import beta
from graphbrain.frontier.hosts.resource import MOST_REDIRECTS, Said
from graphbrain.frontier.hosts.robots import sitemaps_of

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


def learned(true_share: float, chance: float, visits: int, seed: int) -> Trust:
    """What is learned of a sitemap's dates by so many visits. A page with a true date has changed, another one has
    changed by chance."""
    dice, one = random.Random(seed), sitemap()
    changes = sum(dice.random() < true_share or dice.random() < chance for _ in range(visits))
    one.learn(Evidence(visits, changes, visits * chance))
    return one.trust(Trust())


@pytest.mark.parametrize("changes_a_day", [0.1, 0.5, 1.0, 2.0])
@pytest.mark.parametrize("true_share", [0.0, 0.25, 0.5, 0.75, 1.0])
def test_the_share_of_true_dates_is_found_however_often_pages_change(true_share: float, changes_a_day: float) -> None:
    """The mean of 20 runs is not biased: the rest is left to the prior, to chance, and to shares being 0 or more."""
    chance = 1.0 - math.exp(-changes_a_day)
    within = 0.02 if chance < 0.7 else 0.05
    found = [learned(true_share, chance, 2_000, seed).true for seed in range(20)]
    assert sum(found) / len(found) == pytest.approx(true_share, abs=within), found


def test_a_date_of_a_sitemap_that_lies_says_next_to_nothing() -> None:
    assert beta(0.5, learned(0.0, 0.39, 2_000, 1)) < 0.1 * beta(0.5, Trust())


@given(draw.booleans(), draw.floats(0.0, 1.0))
def test_one_visit_moves_little(changed: bool, chance: float) -> None:
    """By a fifth at most, and for a change by less the more likely it was in any case."""
    one, first = sitemap(), Trust()
    one.learn(weigh(changed, chance))
    moved = one.trust(first).true - first.true
    assert -1e-9 <= (moved if changed else -moved) <= 1.0 / 5.0 + 1e-9
    assert not changed or moved <= (1.0 - chance) / 6.0 + 1e-9


@given(draw.floats(0, 1e6), draw.floats(0, 1e6), draw.floats(0, 1e6), draw.floats(0, 1e6))
def test_what_is_learned_has_bounds(dated: float, changes: float, by_chance: float, missed: float) -> None:
    """Also where counts disagree, as after rounding."""
    one = sitemap()
    one.learn(Evidence(dated, min(changes, dated), min(by_chance, dated), missed))
    found = one.trust(Trust())
    assert 0.0 < found.recall <= MOST_RECALL and 0.0 < found.false < math.inf
    assert LEAST_TRUE - 1e-9 <= found.true <= MOST_TRUE + 1e-9
    assert 0.0 < beta(0.5, found) < math.inf


def test_evidence_adds_up_and_fades() -> None:
    one = sitemap()
    assert one.trust(Trust(0.6, 0.4)).recall == pytest.approx(0.6)
    assert one.trust(Trust(0.6, 0.4)).false == pytest.approx(0.4)
    one.learn(Evidence(3.0, 2.0, 1.0) + Evidence(missed=1.0))
    assert (one.dated, one.dated_changes, one.by_chance, one.missed) == (3.0, 2.0, 1.0, 1.0)
    assert one.trust(Trust(0.6, 0.4)).true == pytest.approx((5 * 0.6 + 1.0) / (5 + 2.0))
    one.learn(weigh(True, 0.25))
    assert one.evidence == Evidence(4.0, 3.0, 1.25, 1.0)
    assert one.evidence.faded().dated == pytest.approx(3.92)


def test_the_text_of_robots_txt() -> None:
    text = "Sitemap: /a.xml\r\n# Sitemap: /no\nUser-agent: x\nSITEMAP :/b.xml\nsitemap:\nDisallow: /\n"
    text += "Sitemap: /a.xml # again"
    assert sitemaps_of(text) == ["/a.xml", "/b.xml"]


def test_days_that_a_clock_skipped_are_not_days_without_a_change() -> None:
    """It was read while the clock was 100 days ahead, once before that and once after it was right."""
    skipped = 100 * DAY
    one = sitemap(discovered=NOW)
    one.hear(Said("lists", "mark"), NOW)
    one.hear(Said("same"), NOW + skipped)
    assert one.wait() == LATEST
    one.put_right(NOW + DAY, 600.0)
    assert one.fetched == NOW + DAY
    assert one.due_at is not None and one.due_at - NOW < 4 * DAY
    one.hear(Said("same"), NOW + 5 * DAY)
    assert one.wait() < 10 * DAY
