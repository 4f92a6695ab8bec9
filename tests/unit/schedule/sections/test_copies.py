"""Which pages are expected to equal another, by what pages that differ in one way alone have been."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphbrain.schedule.sections.copies import (
    LEAST_PAIRS,
    Content,
    CopyRule,
    CopyTrial,
    Expectations,
    UrlForm,
    rules_of,
    same,
)
from graphbrain.schedule.sections.tree import CountedVisit

H = "http://s.example/"


def form(url: str) -> UrlForm:
    found = UrlForm.of(url)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("rule", "url", "reduced"),
    [
        (CopyRule("argument", "sort"), "a?sort=x&p=2", "a?p=2"),
        (CopyRule("argument", "sort"), "a?p=2", "a?p=2"),
        (CopyRule("argument", ";kx"), "x/7;kx=ab;w=1?p=2", "x/7;w=1?p=2"),
        (CopyRule("argument", "kx"), "x;kx=ab/7?kx=1", "x;kx=ab/7"),
        (CopyRule("ending", ".amp"), "x/7.html.amp?p=2", "x/7.html?p=2"),
        (CopyRule("ending", ".amp"), "x/7.html", "x/7.html"),
        (CopyRule("step", "print"), "x/print/7", "x/7"),
        (CopyRule("swap", "article", "print"), "article/7", "print/7"),
        (CopyRule("token"), "0123456789abc/x/7", "x/7"),
        (CopyRule("repeats"), "a/b/a/b/7", "a/b/7"),
        (CopyRule("repeats"), "/a///7/", "a/7/"),
        (CopyRule("repeats"), "seen/http://b.example/7", "seen/http://b.example/7"),
        (CopyRule("case"), "A/Seven", "a/seven"),
        (CopyRule("index"), "a/index.html", "a/"),
        (CopyRule("slash"), "a/b/", "a/b"),
        (CopyRule("slash"), "", ""),
    ],
)
def test_a_rule_leaves_out_what_it_is_about(rule: CopyRule, url: str, reduced: str) -> None:
    assert rule.reduced(form(H + url)).url == H + reduced
    assert str(rule)


def test_rules_of_hosts_and_schemes() -> None:
    assert CopyRule("scheme").reduced(form("http://a.example/x")).url == "https://a.example/x"
    assert CopyRule("www").reduced(form("http://www.a.example/x")).url == "http://a.example/x"


@given(st.text(max_size=60), st.text(max_size=40))
def test_any_text_has_rules_whose_reductions_are_settled(path: str, query: str) -> None:
    found = UrlForm.of(f"http://h.example/{path}?{query}")
    if found is None:
        return
    for rule in rules_of(found):
        once = rule.reduced(found)
        assert once.url
        if rule.what not in ("step", "swap", "repeats"):  # a step may be there twice
            assert rule.reduced(once) in (once, rule.reduced(rule.reduced(once)))


def content(url: str, text: str | None, **more: object) -> Content:
    return Content(url, url, alias=False, text_hash=text, body_hash=text, **more)  # type: ignore[arg-type]


def test_texts_of_two_versions_show_neither() -> None:
    one = content("a", "text1:1", simhash=0)
    assert same(one, content("b", "text2:1", simhash=-1)) is None
    assert same(one, content("b", "text1:2", simhash=-1)) is False
    assert same(one, replace(content("b", "text2:1"), body_hash="text1:1")) is True


def test_what_makes_two_pages_the_same() -> None:
    one = content("a", "1")
    assert same(one, content("b", "1")) is True
    assert same(one, content("b", "2")) is False
    assert same(one, content("b", None)) is None
    assert same(one, content("b", "2", canonical="a")) is True
    assert same(content("a", None), content("b", None, canonical="a")) is True
    assert same(content("a", "1", canonical="c"), content("b", "2", canonical="c")) is True
    near: dict[str, Any] = {"simhash": 0b111, "text_hash": "2"}
    assert same(content("a", "1", simhash=0, brought=1.0), replace(content("b", None), **near, brought=0.0)) is True
    assert same(content("a", "1", simhash=0, brought=1.0), replace(content("b", None), **near, brought=0.9)) is False
    assert same(content("a", "1", simhash=0, brought=0.0), content("b", "2", simhash=-1)) is False
    to_a = Content("b", "b", alias=True, redirects_to="a")
    assert same(one, to_a) is True
    assert same(content("c", "1"), to_a) is False
    assert same(Content("d", "d", alias=True), to_a) is False


# ---------------------------------------------------------------------- generated sites


def learned(urls: dict[str, str], section: str = "") -> Expectations:
    """What is learned of visits of these URLs (URL → text)."""
    trial = CopyTrial([CountedVisit(url, 1.0, 1.0) for url in urls], lambda url, _: section or url.split("/")[3])
    wanted = trial.wanted()
    assert set(urls) <= set(wanted)
    return trial.learned({url: content(url, urls[url]) for url in wanted if url in urls}, lambda _: ())


WAYS = {
    "argument": lambda n: f"{H}a/{n}?view=full",
    "session": lambda n: f"{H}a/{n}?sid={n * 7919:012d}",
    "step": lambda n: f"{H}print/a/{n}",
    "swap": lambda n: f"{H}b/{n}",
    "token": lambda n: f"{H}s{n * 7919:010d}x/a/{n}",
    "case": lambda n: f"{H}A/{n}",
    "index": lambda n: f"{H}a/{n}/index.html",
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seed", range(3))
def test_copies_are_expected_where_copies_were_and_only_there(way: str, seed: int) -> None:
    dice = random.Random(f"{way} {seed}")
    base = f"{H}a/{{}}/" if way == "index" else f"{H}a/{{}}"
    for copies in (True, False):
        urls: dict[str, str] = {}
        numbers = dice.sample(range(1000, 9999), 30)
        for number in numbers[:12]:
            both = [(base.format(number), str(number)), (WAYS[way](number), str(number if copies else -number))]
            dice.shuffle(both)
            urls |= dict(both)
        urls |= {base.format(number): str(number) for number in numbers[12:20]}
        known = learned(urls, "all")
        assert known.says_nothing is not copies
        for number in numbers[12:20]:
            found = known.candidates(WAYS[way](number), "all")
            assert bool(found) is copies, (way, number, found)
            if copies:
                assert base.format(number) in [equal.url for equal, _ in found]
                assert all(equal.expected >= 0.75 and equal.compared >= LEAST_PAIRS for equal, _ in found)


def test_an_argument_that_changes_pages_in_one_section_and_not_in_another() -> None:
    urls = {f"{H}{kind}/{n}": f"{kind} {n}" for kind in ("same", "list") for n in range(20)}
    urls |= {f"{H}same/{n}?page=2": f"same {n}" for n in range(10)}
    urls |= {f"{H}list/{n}?page=2": f"list {n} more" for n in range(10)}
    known = learned(urls)
    assert known.candidates(f"{H}same/15?page=2", "same")
    assert not known.candidates(f"{H}list/15?page=2", "list")


def test_little_is_no_lesson() -> None:
    urls = {f"{H}a/{n}{argument}": str(n) for n in range(2) for argument in ("", "?x=1")}
    assert learned(urls, "all").says_nothing


def test_a_page_is_no_copy_of_itself() -> None:
    urls = {f"{H}a/{n}{argument}": str(n) for n in range(20) for argument in ("", "?x=1")}
    known = learned(urls, "all")
    for url in (f"{H}a/99", f"{H}a/99?y=2"):
        assert not [equal for equal, _ in known.candidates(url, "all") if equal.url == url]


def test_a_site_of_the_longest_urls_is_learned_of_in_bounds() -> None:
    urls = {
        f"{H}{'/'.join(str(n + k) + 'w' * 40 for k in range(20))}?{'&'.join(f'a{k}=1' for k in range(50))}": "x"
        for n in range(1000)
    }
    trial = CopyTrial([CountedVisit(url, 1.0, 1.0) for url in urls], lambda *_: "")
    assert len(trial.wanted()) <= 3_000
