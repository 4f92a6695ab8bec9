"""Requests and answers of the service, made from the declarations of verbs (`graphbrain.base.options.verbs`)."""

from __future__ import annotations

import typing
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, reduce
from math import inf
from operator import or_
from typing import Annotated, Any, Literal

from fastapi import Query as InQuery
from pydantic import BaseModel, ConfigDict, Field, create_model, model_validator
from pydantic.config import JsonDict

from graphbrain.base.model import KINDS, Page
from graphbrain.base.numeric.bounds import Bounds
from graphbrain.base.options.verbs import NEEDED, Option, Verb
from graphbrain.base.settings import CHOICES, LARGEST, LONGEST, LONGEST_NAME, RANGES, VALUES, Kind, Settings
from graphbrain.service import answers

__all__ = ["Body", "Query", "answer_of", "asked_by", "line_of", "request_of", "title"]


def _ends(bounds: Bounds) -> JsonDict:
    """Return the keywords of a JSON schema for the bounds of a number."""
    document: JsonDict = {"exclusiveMinimum" if bounds.above else "minimum": bounds.least}
    if bounds.most != inf:
        document["exclusiveMaximum" if bounds.below else "maximum"] = bounds.most
    return document


def _of_settings(*kinds: Kind) -> JsonDict:
    """Return the part of a schema for settings of these kinds and their values."""
    properties: JsonDict = {name: _of_setting(name, default) for name, default in Settings.names(*kinds).items()}
    return {"properties": properties, "additionalProperties": False}


def _of_setting(name: str, default: bool | float | str) -> JsonDict:
    if isinstance(default, bool):
        return {"type": "boolean"}
    if isinstance(default, (int, float)):
        bounds = RANGES[name]
        bounds = replace(bounds, below=bounds.below or bounds.most == LARGEST)
        steps: JsonDict = {"multipleOf": 1 / 1024} if name == "intra_host_weight" else {}
        return {"type": "integer" if isinstance(default, int) else "number", **_ends(bounds), **steps}
    if name == "value":
        return {"enum": [*VALUES, default]}
    if name in CHOICES:
        return {"enum": list(CHOICES[name])}
    return {"type": "string", "maxLength": LONGEST.get(name, LONGEST_NAME)}


_SHAPES: Mapping[str, JsonDict] = {
    "kinds": {"items": {"type": "string", "enum": [*KINDS]}, "contains": {"const": "page"}},
    "item": {"items": {"description": "What is none of this kind is refused by itself; the others are taken."}},
    "shared settings": {"minProperties": 1} | _of_settings("shared"),
    "settings": _of_settings("fixed", "shared"),
}
"""The part of a schema for what an argument is."""


class Body(BaseModel):
    """The body of a request: no names but those there are, each in its own type."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _whole(cls, given: Any) -> Any:
        """JSON has one kind of numbers: 5.0 is the whole number 5."""
        if not isinstance(given, dict):
            return given
        return {
            name: int(each) if isinstance(each, float) and each.is_integer() else each for name, each in given.items()
        }


class Query(BaseModel):
    """The query of a request."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


def title(name: str) -> str:
    """Return the name of the schema of a verb's request."""
    return "".join(part.capitalize() for part in name.split("_"))


@cache
def request_of(verb: Verb) -> type[BaseModel]:
    """Return the model of a verb's body or query.

    A value that the brain checks is not checked here: the document describes it, and the error message is the brain's.
    """
    fields: dict[str, Any] = {name: (_type(each), _field(each)) for name, each in verb.arguments.items()}
    base = Query if verb.reads else Body
    return create_model(title(verb.name), __base__=base, __module__=__name__, __doc__=verb.meaning, **fields)


def asked_by(verb: Verb) -> tuple[str, Any] | None:
    """Return the name and the annotation of the parameter of a route that takes the request of a verb; None for a verb
    that reads and takes nothing."""
    if not verb.reads:
        return "body", request_of(verb)
    return ("query", Annotated[request_of(verb), InQuery()]) if verb.parameters else None


def _type(option: Option) -> Any:
    kind: Any = Literal[option.words] if option.words and not option.by_room else option.kind
    if typing.get_origin(kind) is Mapping:
        kind = dict[typing.get_args(kind)]  # type: ignore[misc]
    if option.is_a == "item":
        kind = Any
    kind = list[kind] if option.many else kind
    return reduce(or_, (kind, None)) if option.optional else kind


def _field(option: Option) -> Any:
    # A range is checked here, or only described if the brain checks it.
    bounds, document = option.bounds, dict(_SHAPES.get(option.is_a, {}))
    checks: dict[str, Any] = {}
    if bounds is not None and option.by_room:
        document |= _ends(bounds)
    elif bounds is not None:
        checks = {"gt" if bounds.above else "ge": bounds.least}
        checks |= {} if bounds.most == inf else {"lt" if bounds.below else "le": bounds.most}
    # Words that the brain checks, and lists that must not be empty, are described.
    if option.words and option.by_room:
        document["enum"] = list(option.words)
    if option.many and not option.is_a:
        document["minItems"] = 1
    default = {NEEDED: ..., ...: None, (): []}.get(option.default, option.default)
    return Field(
        default,
        description=option.help.rstrip(".") or None,
        examples=None if option.example is ... else [option.example],
        json_schema_extra=document or None,
        **checks,
    )


def line_of(verb: Verb) -> Any:
    """Return the type of each line of a verb's answer; None for an answer of another form."""
    return answers.PageAnswer if verb.lines is Page else verb.lines


@cache
def answer_of(verb: Verb) -> Any:
    """Return the type of a verb's answer; None for an answer of lines."""
    if verb.lines:
        return None
    if verb.long:
        return answers.JobAnswer
    if verb.name in answers.BY_HAND:
        return answers.BY_HAND[verb.name]
    if verb.field == "done":
        return answers.Done
    kind = list[answers.PageAnswer] if verb.answer == list[Page] else verb.answer  # type: ignore[valid-type]
    if not verb.field:
        return kind
    fields: dict[str, Any] = {verb.field: (kind, ...)}
    return create_model(f"{title(verb.name)}Answer", __doc__=verb.meaning, **fields)
