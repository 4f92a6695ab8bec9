"""Copies before they are fetched: what `page` and a question say of pages that wait."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from graphbrain import Brain, Fetched
from graphbrain.analyst import computed
from graphbrain.analyst.questions import ask
from tests.integration.frontier.test_sections import HOME, MakeBrain, Site, learn_that_copies_bring_nothing

Ask = Callable[..., list[list[object]]]


def test_a_page_and_the_question_name_the_page_that_a_copy_equals(
    brain: Brain, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(computed, "WAITING", 7)
    site = Site()
    learn_that_copies_bring_nothing(brain, site)
    brain.report([site.fetched(number, False) for number in range(20, 40)])
    brain.report([Fetched(HOME, [site.url(number, copy) for number in range(20, 60) for copy in (False, True)])])
    brain.tend(None)
    answer = ask(brain.graph, "expected-copies", host="s.example")
    told = dict(zip(answer.column("url"), answer.column("equals"), strict=True))
    assert told == {site.url(number, True): site.url(number, False) for number in range(20, 40)}
    assert ask(brain.graph, "expected-copies").rows == answer.rows
    assert ask(brain.graph, "expected-copies", limit=5).rows == answer.rows[:5]
    for url, equals in told.items():
        found = brain.page(url).expected_copy
        assert found is not None
        assert (found.url, found.rule, found.compared, found.equal) == (equals, "/article or /print", 20, 20)
        assert found.expected > 0.9
        assert found.because
    assert brain.page(site.url(50, True)).expected_copy is None, "that article was not fetched"
    assert brain.page(site.url(3, True)).expected_copy is None, "it was fetched itself"


def test_pages_that_differ_are_expected_to_equal_nothing(brain: Brain) -> None:
    """An argument by which each page shows something else is no copy, however many were fetched."""
    site = Site()
    pages = [Fetched(f"{HOME}list?page={number}", body=site.body(number)) for number in range(40)]
    brain.report([*pages, Fetched(f"{HOME}list", body=site.body(60))])
    brain.report([Fetched(HOME, [f"{HOME}list?page={number}" for number in range(60)])])
    brain.tend(None)
    assert not ask(brain.graph, "expected-copies").rows
    assert brain.page(f"{HOME}list?page=50").expected_copy is None


def test_redirects_and_canonicals_teach_without_texts(brain: Brain) -> None:
    urls = [f"{HOME}a/{number}" for number in range(12)]
    brain.report([Fetched(url, canonical=url) for url in urls])
    brain.report([Fetched(f"{url}?ref=x", canonical=url) for url in urls[:5]])
    brain.report([Fetched(f"{url}?go=y", status=301, redirected_to=url) for url in urls[:5]])
    brain.report([Fetched(HOME, [f"{url}{argument}" for url in urls[5:] for argument in ("?ref=x", "?go=y")])])
    brain.tend(None)
    for argument in ("?ref=x", "?go=y"):
        found = brain.page(f"{urls[8]}{argument}").expected_copy
        assert found is not None, argument
        assert (found.url, found.rule) == (urls[8], argument.split("=")[0])


def test_hosts_come_by_name_and_those_of_which_nothing_was_learned_are_left_out(make_brain: MakeBrain) -> None:
    brain, site = make_brain(sections_per_host=0), Site()
    brain.report([site.fetched(number, copy) for number in range(20) for copy in (False, True)])
    brain.report([site.fetched(30, False), Fetched(HOME, [site.url(30, True)])])
    brain.tend(None)
    assert not ask(brain.graph, "expected-copies").rows
    assert brain.page(site.url(30, True)).expected_copy is None
