"""Plots are sound XML whatever is drawn, and hold their numbers."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

from graphbrain.analyst import plots

EVIL = "\"><script>alert(1)</script>&'\u202e\x1b[31m"


def drawn(svg: str) -> ElementTree.Element:
    """The picture as a tree; it must be well-formed."""
    return ElementTree.fromstring(svg)  # our own


@pytest.mark.parametrize("count", [0, 1, 40])
def test_any_number_of_anything_is_drawn(count: int) -> None:
    names = [f"{EVIL}{place}" for place in range(count)]
    values = [float(place**3) for place in range(count)]
    links = np.triu(np.ones((count, count)), 1) * 7
    for svg in (
        plots.bars("b", EVIL, list(zip(names, values, strict=True))),
        plots.columns("c", EVIL, names, [("all", values), ("part", [value / 2 for value in values])], EVIL),
        plots.columns("l", EVIL, names, [("all", values)], logs=True),
        plots.curve("k", EVIL, [(0.0, 0.0), (1.0, 1.0)], EVIL, EVIL),
        plots.network("n", EVIL, list(zip(names, values, strict=True)), links),
    ):
        picture = drawn(svg)
        assert "script" not in {each.tag for each in picture.iter()}
        assert "\u202e" not in svg and "\x1b" not in svg and "nan" not in svg


def test_columns_are_as_high_as_their_values() -> None:
    svg = drawn(plots.columns("c", "t", ["a", "b"], [("all", [10.0, 5.0])]))
    heights = [float(each.get("height", 0)) for each in svg.iter("rect") if each.get("class") == "bar"]
    assert heights[0] == pytest.approx(2 * heights[1], rel=0.01)


def test_a_picture_is_the_same_each_time() -> None:
    nodes, links = [("a", 1.0), ("b", 2.0), ("c", 3.0)], np.ones((3, 3))
    assert plots.network("n", "t", nodes, links) == plots.network("n", "t", nodes, links)


@pytest.mark.parametrize(
    ("value", "shown"), [(0, "0"), (7, "7"), (2.5, "2.5"), (950, "950"), (1200, "1.2k"), (3e6, "3M"), (4.56e9, "4.6G")]
)
def test_a_number_in_few_characters(value: float, shown: str) -> None:
    assert plots.short(value) == shown
