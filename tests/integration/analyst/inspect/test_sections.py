"""Sections as people see them: of a page, what is expected of it and why, and what it waits with."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from graphbrain import Brain, Fetched
from graphbrain.analyst import computed, summary
from graphbrain.analyst.questions import ask
from tests.integration.frontier.test_sections import HOME, MakeBrain, Site, learn_that_copies_bring_nothing
from tests.verbs import top_of

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
    assert page.section.counts, "the default value names harvest"
    assert page.harvest == 1.0
    assert top_of(brain, 1)[0].section is None
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
    assert page.expected_copy is not None
    assert brain.page(site.url(25, True)).harvest == page.section.factor * page.expected_copy.factor


# ---------------------------------------------------------------------- of all hosts


def test_the_question_counts_as_sections_does_and_begins_with_the_most_wasteful(brain: Brain) -> None:
    site = Site()
    learn_that_copies_bring_nothing(brain, site)
    brain.report([Fetched(HOME, [site.url(number, True) for number in range(20)])])
    brain.report([site.fetched(number, False) for number in range(20, 40)])
    brain.report([Fetched(HOME, [site.url(number, True) for number in range(60)])])
    brain.tend(None)
    brain.seed(["http://other.example/"])
    found = ask(brain.graph, "sections")
    assert set(found.column("host")) == {"s.example"}, "of the other nothing was learned"
    of_host = {section.pattern: section for section in brain.sections("s.example")}
    assert {row[found.columns.index("section")] for row in found.rows} == set(of_host)
    for row in found.rows:
        told = dict(zip(found.columns, row, strict=True))
        section = of_host[told["section"]]
        for name in ("pages", "fetched", "waiting", "copies", "factor", "example"):
            assert told[name] == getattr(section, name), name
        assert told["harvest"] == pytest.approx(section.harvest, abs=1e-3)
        assert told["waste"] == pytest.approx(section.waiting * (1 - section.harvest), abs=0.06)
    wastes = found.column("waste")
    assert wastes == sorted(wastes, reverse=True)
    assert wastes[0] > 15
    assert ask(brain.graph, "sections", host="s.example").rows == found.rows
    assert max(ask(brain.graph, "sections", harvest=0.5).column("harvest")) <= 0.5
    assert ask(brain.graph, "sections", host="other.example").column("section") == ["(all)"]


@pytest.mark.parametrize("at_once", [1, 2, 3, 1000])
def test_sections_of_many_hosts_are_read_in_parts(brain: Brain, monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    monkeypatch.setattr(computed, "SITES", at_once)
    hosts = [f"h{number}.example" for number in range(3)]
    brain.report([Fetched(f"http://{host}/", body=b"<p>" + b"word " * 30) for host in hosts])
    brain.tend(None)
    assert sorted(ask(brain.graph, "sections").column("host")) == hosts


def test_the_summary_names_what_is_held_down_and_nothing_where_nothing_is(brain: Brain) -> None:
    title = "Sections that are expected to bring little"
    site = Site()
    brain.report([site.fetched(number, False) for number in range(20)])
    brain.tend(None)
    assert title not in summary.page(brain.graph, brain.now())
    learn_that_copies_bring_nothing(brain, site)
    brain.report([Fetched(HOME, [site.url(number, True) for number in range(20, 40)])])
    brain.report([site.fetched(number, False) for number in range(20, 40)])
    brain.tend(None)
    html = summary.page(brain.graph, brain.now())
    assert title in html
    [poor] = [row for row in ask(brain.graph, "sections", harvest=0.5).rows if row[0] >= 1.0]
    assert f"<td>{poor[-2]}</td>" in html or f'<td class="long">{poor[-2]}</td>' in html
