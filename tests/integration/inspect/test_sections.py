"""Sections as people see them: of a page, what is expected of it and why, and what it waits with."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from graphbrain import Brain, Fetched
from tests.integration.frontier.test_sections import HOME, MakeBrain, Site, learn_that_copies_bring_nothing

Ask = Callable[..., list[list[object]]]
ACTING = {"value": "authority harvest", "order": "best_first"}


def test_a_page_says_its_section_and_why_it_brings_little(make_brain: MakeBrain) -> None:
    brain, site = make_brain(**ACTING), Site()
    learn_that_copies_bring_nothing(brain, site)
    brain.report([Fetched(HOME, [site.url(number, copy) for number in range(20, 30) for copy in (True, False)])])
    listed = {section.pattern: section for section in brain.sections("s.example")}
    for url in (site.url(25, True), site.url(25, False), site.url(3, True), HOME):
        page = brain.page(url)
        found = page.section
        assert found is not None
        assert found.counts
        of_host = listed[found.pattern]
        assert (found.harvest, found.around, found.visits, found.factor) == (
            of_host.harvest,
            of_host.around,
            of_host.visits,
            of_host.factor,
        )
        assert found.harvest == pytest.approx((found.brought + 2 * found.around) / (found.visits + 2), abs=1e-5)
    waiting, other, copy = (brain.page(url) for url in (site.url(25, True), site.url(25, False), site.url(3, True)))
    assert waiting.section is not None
    assert waiting.harvest == waiting.section.factor < 1.0
    assert (other.harvest, waiting.brought) == (1.0, None)
    assert copy.harvest is None, "it waits for no first visit"
    assert copy.brought is not None


def test_the_sections_of_fetched_pages_are_those_they_were_counted_in(brain: Brain) -> None:
    """Each is counted in one section, and says the same of itself."""
    site = Site()
    learn_that_copies_bring_nothing(brain, site)
    counted = {section.pattern: section.fetched for section in brain.sections("s.example")}
    told: dict[str, int] = dict.fromkeys(counted, 0)
    for number in range(20):
        for copy in (False, True):
            found = brain.page(site.url(number, copy)).section
            assert found is not None
            told[found.pattern] += 1
    assert told == counted


def test_a_host_that_nothing_was_learned_of_is_one_section(brain: Brain) -> None:
    brain.seed([HOME])
    page = brain.page(HOME)
    assert page.section is not None
    assert (page.section.pattern, page.section.visits, page.section.factor) == ("", 0.0, 1.0)
    assert not page.section.counts
    assert page.harvest == 1.0
    assert brain.top(1)[0].section is None
    assert "section" not in page.as_dict()
    assert page.in_full()["section"] == page.section.as_dict()


def test_a_page_of_a_fallen_section_still_waits_with_what_it_had(make_brain: MakeBrain, ask: Ask) -> None:
    """It is put back when its turn comes; until then the page shows both factors."""
    brain, site = make_brain(**ACTING), Site()
    brain.report([Fetched(HOME, [site.url(number, True) for number in range(20, 30)])])
    learn_that_copies_bring_nothing(brain, site)
    brain.report([site.fetched(number, False) for number in range(20, 30)])
    brain.tend(None)
    page = brain.page(site.url(25, True))
    stored = ask("MATCH (p:Page {url: $url}) RETURN coalesce(p.harvest, 1.0)", url=site.url(25, True))
    assert [[page.harvest]] == stored == [[1.0]]
    assert page.section is not None
    assert page.section.factor < 1.0
    assert len(brain.next_urls(1)) == 1
    assert brain.page(site.url(25, True)).harvest == page.section.factor
