"""The declaration of an option: name, type, default, range and help text, as a field of a frozen dataclass."""

from __future__ import annotations

import dataclasses
import typing
from dataclasses import dataclass
from types import NoneType
from typing import Any

from graphbrain.base.model import number
from graphbrain.base.numeric.bounds import Bounds

__all__ = ["NEEDED", "Option", "declared", "given", "is_whole", "options_of"]

_KEY = "option"
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
        instead: The value that is used in place of None, as text; "" if there is none.
        bounds: The range of a number.
        words: The values of a text, if they are few.
        by_room: True if the room that executes the verb checks the value, and its error message is the better one.
        flag: The option of the command line, without dashes, where it is not the name.
        off: The opposite option of the command line, for True or False or None.
        metavar: The name of the value in `--help`.
        example: A value for the OpenAPI document; `...`: none.
        is_a: What a text names, for the OpenAPI document: a page, a host, a worker, …; "": nothing of these.
    """

    name: str
    kind: Any
    default: Any
    optional: bool
    many: bool
    help: str
    instead: str = ""
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
        shown = self.instead or _plain(self.default)
        return f"{self.help} ({shown})." if shown else f"{self.help}."

    def fits(self, value: Any) -> bool:
        """Return whether a number is of its kind and within its bounds, or None where that is a value."""
        if value is None:
            return self.optional
        of_kind = is_whole(value) if self.kind is int else number(value)
        return of_kind and (self.bounds is None or self.bounds.hold(value))


def is_whole(value: object) -> bool:
    """Return whether a value is a whole number."""
    return isinstance(value, int) and not isinstance(value, bool)


def _plain(default: Any) -> str:
    """Return a default for a person; "" for those that need no word."""
    return str(default) if not isinstance(default, bool) and default not in (None, "", (), ...) else ""


def declared(default: Any, help: str, **attributes: Any) -> Any:
    """Return a field of an option class. `attributes`: those of `Option`, but for what the field itself has."""
    return dataclasses.field(default=default, metadata={_KEY: {"help": help, **attributes}})


def options_of(kind: type) -> dict[str, Option]:
    """Return name → option, in the order of the class."""
    if kind not in _KNOWN:
        hints = typing.get_type_hints(kind)
        _KNOWN[kind] = {each.name: _option(each, hints[each.name]) for each in dataclasses.fields(kind)}
    return _KNOWN[kind]


_KNOWN: dict[type, dict[str, Option]] = {}


def _option(field: dataclasses.Field[Any], hint: Any) -> Option:
    parts = typing.get_args(hint)
    optional = NoneType in parts
    one = next(part for part in parts if part is not NoneType) if optional else hint
    many = typing.get_origin(one) is not None
    kind = typing.get_args(one)[0] if many else one
    default = None if field.default is dataclasses.MISSING else field.default
    return Option(field.name, kind, default, optional, many, **field.metadata[_KEY])


def given(options: Any) -> dict[str, Any]:
    """Return the values of an instance of an option class by name, as the arguments of its verb."""
    return {name: getattr(options, name) for name in options_of(type(options))}
