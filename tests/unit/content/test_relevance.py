"""Text relevance: a topic from words or pages, and what the example crawler makes of it."""

from __future__ import annotations

import random
import subprocess
import sys

import numpy as np
import pytest

from graphbrain.base.errors import BadInput
from graphbrain.content.relevance import TopicRelevance, guess
from graphbrain.demo.crawler import HtmlPage
from graphbrain.demo.pages import TOPICS, build, render


def text_of(html: bytes) -> str:
    return " ".join(HtmlPage("http://h.example/").read(html, "text/html; charset=utf-8").text)


def test_it_is_the_cosine_of_word_vectors() -> None:
    """By hand: 'owl owl nest' is (1 + ln 2, 1) against a topic of two words, of which it has one."""
    topic = TopicRelevance.from_words("owl heron", half=0.25)
    cosine = (1 + np.log(2)) / np.hypot(1 + np.log(2), 1) / np.sqrt(2)
    assert topic("The owl, an OWL: nest") == pytest.approx(cosine / (cosine + 0.25), abs=1e-12)


def test_nothing_in_common_is_0_and_the_topic_itself_the_most() -> None:
    topic = TopicRelevance.from_words(["owl", "heron"])
    assert topic("trains and tunnels") == topic("") == topic("the of and") == 0.0
    assert topic("heron owl") == pytest.approx(1 / 1.1)


def test_example_pages_weigh_the_same_however_long() -> None:
    long, short = "owl nest " * 50, "bread oven"
    topic = TopicRelevance.from_pages([long, short])
    assert topic("owl nest") == pytest.approx(topic("bread oven"), abs=1e-12)


@pytest.mark.parametrize("name", sorted(TOPICS))
@pytest.mark.parametrize("by", ["words", "pages"])
def test_pages_of_a_topic_are_told_from_the_others(name: str, by: str) -> None:
    """On the demo's web: of a page of the topic and one of another, the first is nearer in 95 of 100 cases."""
    web = [page for page in build(7, 300).values() if page.kind == "page" and page.topic]
    about = {page.url: text_of(render(page)) for page in web}
    own = [page.url for page in web if page.topic == name]
    if by == "words":
        topic = TopicRelevance.from_words(TOPICS[name][0])
    else:
        topic = TopicRelevance.from_pages([about[url] for url in random.Random(1).sample(own, 3)])
    inside = np.array([topic(about[url]) for url in own])
    outside = np.array([topic(about[page.url]) for page in web if page.topic != name])
    assert (inside[:, None] > outside[None, :]).mean() > 0.95
    assert outside.min() >= 0.0 and inside.max() < 1.0


@pytest.mark.parametrize("words", ["", "  ", "the and", "a", []])
def test_a_topic_of_nothing_is_refused(words: str) -> None:
    with pytest.raises(BadInput, match="at least one word"):
        TopicRelevance.from_words(words)
    with pytest.raises(BadInput, match="at least one word"):
        TopicRelevance.from_pages(words)


@pytest.mark.parametrize("half", [0.0, 1.0, -1.0, float("nan")])
def test_an_impossible_half_is_refused(half: float) -> None:
    with pytest.raises(BadInput, match="half must"):
        TopicRelevance.from_words("owl", half)


def test_a_guess_is_between_what_the_link_and_its_page_say() -> None:
    assert guess(0.0, 0.0) == 0.0
    assert (guess(None, 1.0), guess(1.0, None)) == (None, 0.5)
    assert guess(1.0, 0.0) < guess(0.0, 1.0) < guess(1.0, 1.0) < 1.0


def test_texts_of_links_and_pages() -> None:
    html = (
        b"<title>T</title><style>no</style><p>one <a href=x>two <b>th</b>ree</a> four<script>no()</script><a href=y>5"
    )
    page = HtmlPage("http://h.example/").read(html, "text/html; charset=utf-8")
    assert page.links == ["http://h.example/x", "http://h.example/y"]
    assert page.anchors == ["two three", "5"]
    assert "".join(page.text) == "Tone two three four5"


def test_without_scikit_learn_it_is_one_sentence() -> None:
    program = (
        "import sys; sys.modules['sklearn'] = None\n"
        "from graphbrain.cli.app import main; main(['demo', '--topic', 'owl'])"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout) == (1, "")
    assert f"{sys.executable} -m pip install 'scikit-learn>=" in ran.stderr
    assert "Traceback" not in ran.stderr and len(ran.stderr.splitlines()) == 1
