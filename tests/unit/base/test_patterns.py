"""Lists of patterns: each is judged alone, and one that could take long is refused before it is taken."""

from __future__ import annotations

import json
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphbrain.base.errors import SettingsError
from graphbrain.base.urls import patterns
from graphbrain.base.urls.normalization import LONGEST
from graphbrain.base.urls.patterns import MOST_SECONDS, Patterns, check, patterns_in, scoped, searched, text_of

ATOMS = st.sampled_from(["a", "b", "/", r"\w", r"\d", ".", "[ab-]", "[^/]", "(a)", "(?:ab)", r"\.", "^", "$", r"\b"])
PIECES = st.tuples(ATOMS, st.sampled_from(["", "", "*", "+", "?", "*?", "+?", "{2}"])).map("".join)
BODIES = st.lists(PIECES, min_size=1, max_size=5).map("".join)
FLAGS = st.sampled_from(["", "", "(?i)", "(?s)", "(?ix)"])
WHOLE = st.tuples(FLAGS, BODIES).map("".join)
URLS = st.lists(st.text("abAB1/.-", max_size=12), min_size=1, max_size=8)


def compiled(pattern: str) -> re.Pattern[str] | None:
    try:
        return re.compile(pattern)
    except re.error:
        return None


@given(st.lists(WHOLE, min_size=1, max_size=4), URLS)
def test_each_pattern_of_a_list_is_judged_alone(patterns: list[str], urls: list[str]) -> None:
    """Whatever their flags, groups and order: a URL is held if one of them is found in it."""
    each = [one for one in patterns if compiled(one)]
    there = Patterns("deny_urls", patterns_in(text_of(each)))
    for url in urls:
        assert there.hold(url) == any(re.search(one, url) is not None for one in each), (each, url)


@given(WHOLE, URLS)
def test_a_pattern_within_another_is_found_where_it_is_found_alone(pattern: str, urls: list[str]) -> None:
    if (alone := compiled(pattern)) is None:
        return
    within = re.compile(f"^(?=)(?=.*?{scoped(pattern)})", re.DOTALL)
    shorter = re.compile(searched(pattern))
    for url in urls:
        assert (within.search(url) is None) == (alone.search(url) is None) == (shorter.search(url) is None)


@given(st.lists(st.text(min_size=1), max_size=4))
def test_a_list_is_read_as_it_was_written(patterns: list[str]) -> None:
    assert patterns_in(text_of(patterns)) == tuple(dict.fromkeys(patterns))
    assert patterns_in(json.dumps(patterns)) == tuple(dict.fromkeys(patterns))


@pytest.mark.parametrize("text", ["[?&](print|sort)=", "[1]", "[", '["a", 1]', "a|b"])
def test_a_text_that_is_no_list_is_one_pattern(text: str) -> None:
    assert patterns_in(text) == (text,)


LETTER = st.sampled_from(["a", r"\w", "[a-z]", "[^/]", "(?:a|b)", r"\d"])
PUMPS = st.one_of(
    st.tuples(LETTER, st.sampled_from(["+", "*", "{1,30}"])).map(lambda x: f"({x[0]}{x[1]})+"),
    LETTER.map(lambda x: f"(?:{x}|{x}{x})*"),
    st.sampled_from([r"\W", "[^a-z]", r"[^\w/]"]).map(lambda x: f"({x}+)+"),
    LETTER.map(lambda x: f"(?:{x}+{x}+)+"),
    st.sampled_from(["a?" * 30 + "a" * 30, "/.*/.*/.*/", "(?:.*,){5}"]),
)


@given(st.sampled_from(["", "^", "x", "(?i)", r"^https?://a\.example/"]), PUMPS, st.sampled_from(["=$", "!#", r"\.z$"]))
def test_a_pattern_of_which_a_url_could_stop_a_crawl_is_refused(before: str, pump: str, end: str) -> None:
    """An error names the pattern, and the trial itself stops nothing for long."""
    began = time.thread_time()
    with pytest.raises(SettingsError, match="deny_urls") as refused:
        check("deny_urls", text_of(["/fine/", before + pump + end]))
    assert time.thread_time() - began < 60 * MOST_SECONDS
    assert repr(before + pump + end) in str(refused.value)


def test_patterns_that_take_too_long_together_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of them may be set alone, and a thousand ordinary ones together."""
    check("deny_urls", text_of(f"/section-{number}/" for number in range(1_000)))
    dear = [f"a[^/]{{0,80}}{last}=" for last in "bcdefgh"]
    monkeypatch.setattr(patterns, "MOST_TOGETHER", sum(map(patterns.share_of_time, dear)) / 2)
    for pattern in dear:
        check("deny_urls", pattern)
    with pytest.raises(SettingsError, match="patterns that together take longer"):
        check("deny_urls", text_of(dear))


ORDINARY = [
    *(r"[?&](print|sort)=", "(?i)logout", ".*logout.*", r"^.*\.pdf$", r"(/[^/]+)/[^/]+\1/[^/]+\1/", r"/(\w)\1\d"),
    *(r"^https?://a\.example/", "(?P<k>docs|Docs)/", r"\.(jpg|png|gif)$", r"/\d{4}/\d{2}/", r"[\w-]+\.html$"),
    *(r"^https?://(?:[^/?#]*\.)?a\.example(?::\d+)?/", r"/[^/]*/edit", "/calendar/", "(?:/[^/?#]+){12,}"),
]


@pytest.mark.parametrize("pattern", ORDINARY)
def test_ordinary_patterns_are_taken(pattern: str) -> None:
    check("deny_urls", pattern)
    search = Patterns("deny_urls", [pattern])
    for letter in "a/.-0?&=":
        url = f"http://a.example/{letter * LONGEST}"[:LONGEST]
        began = time.thread_time()
        search.hold(url)
        assert time.thread_time() - began < 5 * MOST_SECONDS
