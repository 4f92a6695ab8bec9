"""Rules for URLs by patterns: intervals and weights."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphbrain.base.errors import SettingsError
from graphbrain.base.urls.url_rules import NO_RULES, check_new, url_rules

PATTERNS = ["/tag/", "/news/", r"\?page=\d+", "(?i)archive", r"/(a|b)/\1", " new ", "^http://a", "$"]
NUMBERS = [0.001, 0.1, 0.25, 1.0, 3.0, 1e6]
RULES = st.lists(st.tuples(st.sampled_from(PATTERNS), st.sampled_from(NUMBERS)), max_size=8)
URLS = st.lists(
    st.sampled_from(["/tag/", "/news/", "?page=12", "Archive", "/a/a", "/a/b", "x", "/", "%20new%20"]), max_size=6
).map(lambda parts: "http://a.example/" + "".join(parts))


@given(RULES, URLS)
def test_weights_multiply_and_the_first_interval_holds(rules: list[tuple[str, float]], url: str) -> None:
    numbers = [number for pattern, number in rules if re.search(pattern.strip(), url)]
    text = "\n".join(f"{pattern.strip()}  {number!r} " for pattern, number in rules)
    assert url_rules("weights", text).product(url) == math.prod(numbers)
    seconds = url_rules("intervals", "; ".join(f"{pattern.strip()} {max(1.0, number)}" for pattern, number in rules))
    assert seconds.first(url) == (max(1.0, numbers[0]) if numbers else None)


def test_no_rule_is_no_rule() -> None:
    assert url_rules("weights", " ;\n; ") == NO_RULES
    assert not NO_RULES
    assert (NO_RULES.product("http://a.example/"), NO_RULES.first("http://a.example/")) == (1.0, None)


@pytest.mark.parametrize("text", ["/tag/", ".1", "/tag/ -1", "/tag/ 0", "/tag/ nan", "/tag/ 1e7", "/tag/ one", "( 2"])
def test_what_is_no_rule_is_refused_and_quoted(text: str) -> None:
    with pytest.raises(SettingsError, match=re.escape(text.split(maxsplit=1)[0])):
        url_rules("weights", text)


def test_patterns_that_can_stop_a_crawl_are_refused() -> None:
    check_new({"weights": "/tag/ .1", "intervals": "/news/ 60", "deny_urls": "(a+)+$"})
    for name in ("weights", "intervals"):
        with pytest.raises(SettingsError, match=name):
            check_new({name: "/tag/ 2; (a+)+$ 3"})


def test_most_rules() -> None:
    with pytest.raises(SettingsError, match="at most 1,000 rules"):
        url_rules("weights", "a 2;" * 1_001)
