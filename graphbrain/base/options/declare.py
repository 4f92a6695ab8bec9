"""An option of a verb: name, type, default, range and help text."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from graphbrain.base.model import number
from graphbrain.base.numeric.bounds import Bounds

__all__ = ["NEEDED", "Option", "is_whole"]

NEEDED: Any = dataclasses.MISSING
"""The default of an argument that must be given."""


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a verb.

    Attributes:
        name: Its name in Python and JSON.
        kind: The type of its value: bool, int, float or str, or of each of its values.
        default: The value where none is given; `...`: what is not given stays as it is; `NEEDED`: it must be given.
        optional: True if None is a value.
        many: True if it is a list of values of its kind.
        help: Its meaning, one sentence without the full stop.
        bounds: The range of a number.
        words: The values of a text, if they are few.
        by_room: True if the room that executes the verb checks the value, and its error message is the better one.
        flag: The option of the command line, without dashes, where it is not the name.
        off: The opposite option of the command line, for True or False or None, where it is not `not-` and the name.
        metavar: The name of the value in `--help`.
        example: A value for the OpenAPI document; `...`: none.
        is_a: What it is, for the OpenAPI document: pages, items, kinds or settings; "": nothing of these.
    """

    name: str
    kind: Any
    default: Any
    optional: bool
    many: bool
    help: str
    bounds: Bounds | None = None
    words: tuple[str, ...] = ()
    by_room: bool = False
    flag: str = ""
    off: str = ""
    metavar: str | None = None
    example: Any = ...
    is_a: str = ""

    @property
    def sentence(self) -> str:
        """Its meaning and its default, as in "At most this number (10000)."."""
        shown = "" if isinstance(self.default, bool) or self.default in (None, "", (), ...) else f" ({self.default})"
        return f"{self.help}{shown}."

    def fits(self, value: Any) -> bool:
        """Return whether a number is of its kind and within its bounds, or None where that is a value."""
        if value is None:
            return self.optional
        of_kind = is_whole(value) if self.kind is int else number(value)
        return of_kind and (self.bounds is None or self.bounds.hold(value))


def is_whole(value: object) -> bool:
    """Return whether a value is a whole number."""
    return isinstance(value, int) and not isinstance(value, bool)
