"""The declaration of an option follows from the field of a dataclass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from graphbrain.base.numeric.bounds import LARGEST, Bounds
from graphbrain.base.options.declare import declared, given, options_of


@dataclass(frozen=True, slots=True)
class Kinds:
    share: float | None = declared(None, "A share", instead=".5", bounds=Bounds(0, 1, above=True, below=True))
    count: int = declared(7, "A count", bounds=Bounds(1))
    names: Sequence[str] | None = declared(None, "Names")
    wanted: bool | None = declared(None, "Wanted", off="unwanted")
    plain: bool = declared(False, "Plain")


@dataclass(frozen=True, slots=True)
class More(Kinds):
    text: str = declared("", "A text")


def test_type_and_default_are_those_of_the_field() -> None:
    found = options_of(Kinds)
    assert [(each.name, each.kind, each.default, each.optional, each.many) for each in found.values()] == [
        ("share", float, None, True, False),
        ("count", int, 7, False, False),
        ("names", str, None, True, True),
        ("wanted", bool, None, True, False),
        ("plain", bool, False, False, False),
    ]
    assert list(options_of(More)) == [*found, "text"]


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("share", (None, 0.5), (0.0, 1.0, float("nan"), "much", True)),
        ("count", (1, 10**30), (None, 0, 1.0, True, "1")),
    ],
)
def test_a_value_fits_its_kind_and_bounds(name: str, good: tuple[object, ...], bad: tuple[object, ...]) -> None:
    option = options_of(Kinds)[name]
    assert all(option.fits(value) for value in good)
    assert not any(option.fits(value) for value in bad)


def test_the_sentence_has_the_default_where_it_needs_a_word() -> None:
    assert [each.sentence for each in options_of(More).values()] == [
        "A share (.5).",
        "A count (7).",
        "Names.",
        "Wanted.",
        "Plain.",
        "A text.",
    ]


def test_the_values_of_an_instance_are_arguments() -> None:
    assert given(More(share=0.1, text="a")) == {
        "share": 0.1,
        "count": 7,
        "names": None,
        "wanted": None,
        "plain": False,
        "text": "a",
    }


def test_bounds_in_words() -> None:
    assert [str(each) for each in (Bounds(1), Bounds(0, LARGEST), Bounds(1, LARGEST), Bounds(0, 1, True, True))] == [
        "1 or more",
        "0 or more",
        "at least 1",
        "between 0 and 1",
    ]
    assert [str(each) for each in (Bounds(0, 1, True), Bounds(0, 1, below=True), Bounds(0, 0.99))] == [
        "above 0, at most 1",
        "from 0 to below 1",
        "from 0 to .99",
    ]
