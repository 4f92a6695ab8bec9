"""The declaration of a verb: a decorator of the method of `Brain`, beside its signature and its docstring.

From it follow the path of the service with its place in the OpenAPI document (`service.plain`), the methods of both
clients (`tests.contract.clients` writes them), plain commands (`cli.plain`), what is observed (`brain.observe`), and
the tables of docs/reference.
"""

from __future__ import annotations

import dataclasses
import inspect
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import EllipsisType, NoneType, UnionType
from typing import Any, Literal, TypeVar

from graphbrain.base.numeric.bounds import Bounds

__all__ = [
    "CRAWLERS",
    "EVERYBODY",
    "HOST",
    "ITEMS",
    "NEEDED",
    "OPERATORS",
    "PAGE",
    "PAGES",
    "READERS",
    "ROLES",
    "URL",
    "Option",
    "Role",
    "Verb",
    "declared",
    "meanings",
    "options_of",
    "verb",
    "verbs_of",
    "within",
]

F = TypeVar("F", bound=Callable[..., Any])
Facts = Mapping[str, Any]
Role = Literal["crawler", "analyst", "operator"]
ROLES: tuple[Role, ...] = typing.get_args(Role)
"""A crawler claims and reports, an analyst reads, an operator may do everything."""
CRAWLERS: tuple[Role, ...] = ("crawler", "operator")
READERS: tuple[Role, ...] = ("analyst", "operator")
OPERATORS: tuple[Role, ...] = ("operator",)
EVERYBODY = ROLES
NEEDED: Any = dataclasses.MISSING
"""The default of an argument that must be given."""
_DECLARED = "__verb__"
_CALLBACKS = ("progress", "stop")
_LACKING: Any = object()
URL = "https://a.example/"
"""The URL of a page in examples."""
PAGE: Facts = {"example": URL}
"""An argument that is a page's URL or key."""
PAGES: Facts = {"is_a": "page", "example": [URL]}
HOST: Facts = {"example": "a.example"}
"""An argument that is a host's name, or an origin."""
ITEMS: Facts = {"is_a": "item", "example": [URL]}
"""An argument whose items are read and refused one by one."""


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
        is_a: What it is: for the OpenAPI document page, item, kinds or settings; for the command line file, folder,
            time or size; "": nothing of these.
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
        default = self.default
        if default in (None, False, "", (), ..., NEEDED):
            return f"{self.help}."
        shown = "yes" if default is True else f"{default / 1e9:g}G" if self.is_a == "size" else default
        return f"{self.help} ({shown})."


@dataclass(frozen=True, eq=False)
class Verb:
    """A verb of the brain: what is declared of it beside its method's signature and docstring.

    Attributes:
        method: The method of `Brain`.
        roles: The roles of the service that may use it.
        field: The name of the answer in the service's JSON; "": the answer is the JSON object itself.
        reads: True if it changes nothing: a GET request with a query; otherwise a POST request with a JSON object.
        long: True if it takes long: the service does it as a job.
        wakes: True if pages may be claimable after it: the service asks again for callers that wait.
        repeats: True if a request that is sent twice counts once, and is answered soon.
        items: The argument whose items the service counts; "": none.
        also: Statuses that the service answers beside those of all verbs, each with its meaning.
        facts: Argument → attributes of its `Option`.
        local: The arguments that only `Brain` has.
    """

    method: Callable[..., Any]
    roles: tuple[Role, ...]
    field: str = "done"
    reads: bool = False
    long: bool = False
    wakes: bool = False
    repeats: bool = False
    items: str = ""
    also: Mapping[int, str] = dataclasses.field(default_factory=dict)
    facts: Mapping[str, Facts] = dataclasses.field(default_factory=dict)
    local: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Its name, which is also its path and its operation's id."""
        return self.method.__name__

    @cached_property
    def meaning(self) -> str:
        """The docstring before its sections, without what it raises."""
        docstring = inspect.getdoc(self.method) or ""
        before = docstring.partition("\n\nArgs:")[0].partition("\n\nReturns:")[0].partition("\n\nRaises:")[0]
        return before.partition(" Raises ")[0].partition("\nRaises ")[0]

    @cached_property
    def answer(self) -> Any:
        """The type of its answer."""
        return typing.get_type_hints(self.method).get("return")

    @cached_property
    def lines(self) -> Any:
        """The type of each item, where the answer is read item by item; otherwise None."""
        return typing.get_args(self.answer)[0] if typing.get_origin(self.answer) is Iterator else None

    @cached_property
    def signature(self) -> inspect.Signature:
        """The signature of its method."""
        return inspect.signature(self.method)

    @cached_property
    def parameters(self) -> dict[str, inspect.Parameter]:
        """The parameters that callers of the service have, by name."""
        every = self.signature.parameters
        return {name: each for name, each in every.items() if name not in ("self", *_CALLBACKS, *self.local)}

    @cached_property
    def callbacks(self) -> list[str]:
        """The names of the functions that it calls meanwhile."""
        return [name for name in self.signature.parameters if name in _CALLBACKS]

    @cached_property
    def arguments(self) -> dict[str, Option]:
        """The arguments that callers of the service have, by name, each with all that is declared of it."""
        hints, documented = typing.get_type_hints(self.method), meanings(self.method)
        return {
            name: _option(parameter, hints[name], self.facts.get(name, {}), documented.get(name, "").removesuffix("."))
            for name, parameter in self.parameters.items()
        }

    def call(self, brain: Any, given: Mapping[str, Any], **callbacks: Any) -> Any:
        """Call the verb of a brain by the arguments that were given, each by its name."""
        first: list[Any] = []
        named: dict[str, Any] = {}
        for name, parameter in self.signature.parameters.items():
            value = callbacks.get(name, given.get(name, _LACKING))
            if value is _LACKING:
                continue
            if parameter.kind is parameter.VAR_POSITIONAL:
                first += value
            elif parameter.kind is parameter.VAR_KEYWORD:
                named |= value
            elif parameter.kind is parameter.POSITIONAL_ONLY:
                first.append(value)
            else:
                named[name] = value
        return getattr(brain, self.name)(*first, **named)


def verb(
    roles: tuple[Role, ...],
    field: str = "done",
    *,
    reads: bool = False,
    long: bool = False,
    wakes: bool = False,
    repeats: bool = False,
    items: str = "",
    also: Mapping[int, str] | None = None,
    local: tuple[str, ...] = (),
    **facts: Facts,
) -> Callable[[F], F]:
    """Return the decorator that declares a method a verb. The arguments are those of `Verb`; `facts`: attributes of
    `Option` for the method's arguments."""

    def declare(method: F) -> F:
        declared = Verb(method, roles, field, reads, long, wakes, repeats, items, also or {}, facts, local)
        setattr(method, _DECLARED, declared)
        return method

    return declare


def declared(default: Any, **facts: Any) -> Any:
    """Return a field of a dataclass that is an option; `facts`: attributes of `Option`."""
    return dataclasses.field(default=default, metadata=facts)


def options_of(kind: type) -> dict[str, Option]:
    """Return name → option of each field of a dataclass. The meanings are those in its docstring."""
    hints, documented = typing.get_type_hints(kind), meanings(kind, "Attributes")
    options = {}
    for each in dataclasses.fields(kind):
        parameter = inspect.Parameter(each.name, inspect.Parameter.KEYWORD_ONLY, default=each.default)
        meaning = documented.get(each.name, "").removesuffix(".")
        options[each.name] = _option(parameter, hints[each.name], each.metadata, meaning)
    return options


def within(bounds: Bounds, example: Any, **facts: Any) -> Facts:
    """Return an argument that is a number within its bounds, which the brain checks."""
    return {"bounds": bounds, "by_room": True, "example": example, **facts}


def verbs_of(kind: type) -> dict[str, Verb]:
    """Return name → verb of a class and its bases, in the order of their methods."""
    methods = [method for base in reversed(kind.__mro__) for method in vars(base).values()]
    verbs: list[Verb] = [getattr(method, _DECLARED) for method in methods if hasattr(method, _DECLARED)]
    return {verb.name: verb for verb in verbs}


def _option(parameter: inspect.Parameter, hint: Any, facts: Facts, meaning: str) -> Option:
    """Return the argument that a parameter describes by its name, type and default."""
    parts = [part for part in _parts(hint) if part not in (EllipsisType, bytes)]
    optional = NoneType in parts
    (first, *_) = [part for part in parts if part is not NoneType]
    many = typing.get_origin(first) is not None and typing.get_origin(first).__name__ in (
        "Iterable",
        "Sequence",
        "list",
        "tuple",
    )
    # A list has the kind of its items.
    kind = _plain_of(typing.get_args(first)[0]) if many else first
    default = NEEDED if parameter.default is parameter.empty else parameter.default
    if parameter.kind is parameter.VAR_POSITIONAL:
        kind, many = first, True
    if parameter.kind is parameter.VAR_KEYWORD:
        kind = dict[str, Any]
    given = {"kind": kind, "default": default, "optional": optional, "many": many, "help": meaning, **facts}
    return Option(parameter.name, **given)


def _parts(hint: Any) -> tuple[Any, ...]:
    return typing.get_args(hint) if typing.get_origin(hint) in (typing.Union, UnionType) else (hint,)


def _plain_of(hint: Any) -> Any:
    """Return the plain type of an item that may be given in several."""
    return str if str in _parts(hint) else hint


def meanings(documented: object, section: str = "Args") -> dict[str, str]:
    """Return name → its meaning, from a section of a docstring."""
    section = (inspect.getdoc(documented) or "").partition(f"\n\n{section}:\n")[2].partition("\n\n")[0]
    by_name: dict[str, str] = {}
    name = ""
    for line in section.splitlines():
        if not line.startswith(" " * 5) and ": " in line:
            name, _, by_name[name] = line.strip().partition(": ")
        elif name:
            by_name[name] += " " + line.strip()
    return by_name
