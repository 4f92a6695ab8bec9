"""Sketches of texts: bounded, the same for the same text, and a fair sample of it."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphbrain.base.errors import BadInput
from graphbrain.base.model import Seen
from graphbrain.schedule import blocks, fingerprints, shingles
from graphbrain.schedule.words import EDGE, Words, masked


def sketched(texts: Iterable[str]) -> shingles.Sketch | None:
    return shingles.sketch(masked(Words.of(EDGE.join(texts))))


@given(st.lists(st.text(max_size=60), max_size=20))
def test_a_sketch_is_bounded_and_read_again(texts: list[str]) -> None:
    made = sketched(texts)
    if made is None:
        assert blocks.cut(texts) is None
        return
    assert len(made.text()) <= shingles.LONGEST
    again = shingles.read(made.text())
    assert again is not None
    assert (again.keys.tolist(), again.count) == (made.keys.tolist(), made.count)


def test_the_order_of_blocks_does_not_matter_and_words_within_do() -> None:
    products = [
        f"the {colour} chair of {wood}" for colour in ("red", "blue", "green") for wood in ("oak", "elm", "ash")
    ]
    one = sketched(products)
    other = sketched(reversed(products))
    joined = sketched([" ".join(products)])
    assert one is not None
    assert other is not None
    assert joined is not None
    assert one.text() == other.text()
    assert set(one.keys.tolist()) < set(joined.keys.tolist())


@pytest.mark.parametrize("text", ["", "AAAA", "3:", "3:AAAA", "!", "3:AQAAAAEAAAACAAAA", "3:AgAAAAIAAAABAAAA"])
def test_what_is_no_sketch_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="shingles must be"):
        shingles.read(text)


@pytest.mark.parametrize("text", ["AQAAAAEAAAA=", "1:AQAAAAEAAAA=", "4:AQAAAAEAAAA="])
def test_one_of_another_version_is_none(text: str) -> None:
    assert shingles.read(text) is None


def test_it_is_taken_where_the_text_is() -> None:
    body = b"<html><p>some words of this page<p>and some more of them</html>"
    taken = fingerprints.take(Seen(), body, None, fingerprints.ChangeTest(sketches=True))
    assert taken.shingles is not None
    shingles.read(taken.shingles)
    assert taken.blocks == fingerprints.text_blocks(body)
    for change in (fingerprints.ChangeTest(), fingerprints.ChangeTest("body", sketches=True)):
        assert fingerprints.take(Seen(), body, None, change).shingles is None
    by_text = fingerprints.take(Seen(), body, None, fingerprints.ChangeTest("text", sketches=True))
    assert by_text.shingles == taken.shingles
    assert by_text.blocks is None


def test_a_row_of_numbers_is_a_shingle_and_numbers_of_links_are_none() -> None:
    table = "".join(f"<p>{name} {{}}</p>" for name in ("births", "deaths", "schools", "ships", "roads", "cattle"))
    words = "<p>all the tables of this yearbook are made of numbers that nobody has read, and of these words"

    def keys(body: str, url: str = "") -> set[int]:
        made = fingerprints.take(Seen(), body.encode(), "text/html", fingerprints.ChangeTest(sketches=True), url)
        assert made.shingles is not None
        read = shingles.read(made.shingles)
        assert read is not None
        return set(read.keys.tolist())

    one, other = (keys(f"<html>{table.format(*range(n, n + 6))}{words}") for n in (1000, 2000))
    assert len(one - other) == len(other - one) == 6
    dated = [keys(f"<html>{table}{words}<p>made on 2026-03-{day} 12:{day}:00 for you") for day in (11, 12)]
    assert len(dated[0] - dated[1]) == 1
    named = [keys(f"<html>{table}{words}<a href=/>{number}</a>") for number in (4711, 4712)]
    assert named[0] == named[1]


def test_words_of_the_address_are_no_text_of_the_page() -> None:
    text = "<html><p>we could not find {0} here, so would you like to search for {0}, or to read on about other things?"

    def keys(name: str, url: str) -> set[int]:
        change = fingerprints.ChangeTest(sketches=True)
        made = fingerprints.take(Seen(), text.format(name).encode(), "text/html", change, url)
        assert made.shingles is not None
        read = shingles.read(made.shingles)
        assert read is not None
        return set(read.keys.tolist())

    one, other = (
        keys(name.replace("-", " "), f"http://a.example/{name}?q={name}") for name in ("red-shoes", "old-hat")
    )
    assert one == other
    assert one < keys("red shoes", "http://a.example/")
