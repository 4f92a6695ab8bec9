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


@pytest.mark.parametrize("text", ["", "AAAA", "2:", "2:AAAA", "!", "2:AQAAAAEAAAACAAAA", "2:AgAAAAIAAAABAAAA"])
def test_what_is_no_sketch_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="shingles must be"):
        shingles.read(text)


@pytest.mark.parametrize("text", ["AQAAAAEAAAA=", "1:AQAAAAEAAAA=", "3:AQAAAAEAAAA="])
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
