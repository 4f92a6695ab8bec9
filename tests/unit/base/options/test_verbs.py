"""The declaration of an option follows from the signature and the docstring of its verb."""

from __future__ import annotations

from collections.abc import Sequence

from graphbrain.base.numeric.bounds import LARGEST, Bounds
from graphbrain.base.options.verbs import READERS, verb, verbs_of, within


class Brainlike:
    """A class with one verb."""

    @verb(
        READERS,
        share=within(Bounds(0, 1, above=True, below=True), 0.5),
        count={"bounds": Bounds(1)},
        wanted={"off": "unwanted"},
    )
    def look(
        self,
        share: float | None = None,
        count: int = 7,
        names: Sequence[str] | None = None,
        wanted: bool | None = None,
        plain: bool = False,
        text: str = "",
    ) -> None:
        """Look.

        Args:
            share: A share.
            count: A count.
            names: Names
                of many.
            wanted: Wanted.
            plain: Plain.
            text: A text.
        """


OPTIONS = verbs_of(Brainlike)["look"].arguments


def test_type_and_default_are_those_of_the_signature() -> None:
    found = [(each.name, each.kind, each.default, each.optional, each.many) for each in OPTIONS.values()]
    assert found == [
        ("share", float, None, True, False),
        ("count", int, 7, False, False),
        ("names", str, None, True, True),
        ("wanted", bool, None, True, False),
        ("plain", bool, False, False, False),
        ("text", str, "", False, False),
    ]


def test_the_sentence_has_the_default_where_it_needs_a_word() -> None:
    assert [each.sentence for each in OPTIONS.values()] == [
        "A share.",
        "A count (7).",
        "Names of many.",
        "Wanted.",
        "Plain.",
        "A text.",
    ]


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
